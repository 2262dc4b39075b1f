/* Rows added up, or compared: see bag.h. */
#include "bag.h"

#include <string.h>

#include "core/error.h"

#define INLINE static inline __attribute__((always_inline))
enum { BAG_AHEAD = 24 }; /* rows */

#define T float
#define NAME(x) f32_##x
#define FMA __builtin_fmaf
#include "bag.inc"
#define T double
#define NAME(x) f64_##x
#define FMA __builtin_fma
#include "bag.inc"

const TsrBagKernels *tsr_bag_kernels(TsrDtype dtype) { return dtype == TSR_FLOAT32 ? &f32_kernels : &f64_kernels; }
