/* bessel.simd.c: the functions of bessel.inc and their loops, for one
 * instruction set (with fused operations or without). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "bessel.h"
#include "core/kernels/simd.h"
#include "core/kernels/types.h"
#undef FN /* here it is a function of math.h */

#include "bessel_tables.inc"

/* Elements at a time: some ten arrays of them stay in the first cache. */
enum { BLOCK = 128 };
#define HELPER static inline __attribute__((always_inline))
#include "bessel_both.inc"

/* Operands without gaps are not taken one by one: a vector read where numbers were just stored waits for them. x is a
 * copy, since the output may be the input. */
#define LOOP(name, T, fn) \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params) { \
        const bool gaps[2] = {strides[0] != sizeof(T), strides[1] != sizeof(T)}; \
        (void)params; \
        for (int64_t done = 0; done < n; done += BLOCK) { \
            const int m = (int)TSR_MIN(n - done, (int64_t)BLOCK); \
            const char *from = data[1] + done * strides[1]; \
            char *to = data[0] + done * strides[0]; \
            T x[BLOCK], o[BLOCK]; \
            if (!gaps[1]) memcpy(x, from, (size_t)m * sizeof(T)); \
            for (int i = 0; gaps[1] && i < m; i++) x[i] = *(const T *)(from + i * strides[1]); \
            fn(gaps[0] ? o : (T *)to, x, m); \
            for (int i = 0; gaps[0] && i < m; i++) *(T *)(to + i * strides[0]) = o[i]; \
        } \
    }
#define LOOPS(name) \
    LOOP(name##_float, float, f32_##name) \
    LOOP(name##_double, double, f64_##name)
#define POLYNOMIAL(...)
#define K1(...)
#define K2(...)
#define MORE(...)
#define BESSEL LOOPS
#include "special.def"
#undef BESSEL

#define BESSEL(name) [TSR_K_##name - TSR_BESSEL_FIRST] = {name##_float, name##_double},
static const TsrLoop table[TSR_BESSEL_COUNT][2] = {
#include "special.def"
};

TsrBesselTable SIMD(tsr_kernel_bessel)(void) { return table; }
