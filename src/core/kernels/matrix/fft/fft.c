/* fft.c: Fourier transforms of one line, by fft.inc with numbers, and the choice of the loops of several (fft.simd.c)
 * for this CPU. Numbers are compiled for the least processor: where there are fused multiplications, gcc 12 makes them
 * of products and sums that alternate (vfmaddsub), whatever -ffp-contract says, and bits would differ between CPUs. */
#include "fft.h"

#include <string.h>

#include "core/error.h"
#include "core/kernels/simd.h"

const TsrFftCode *tsr_fft_code_base(bool wide);
#ifdef TSR_HAVE_X86
const TsrFftCode *tsr_fft_code_avx2(bool wide);
const TsrFftCode *tsr_fft_code_avx512(bool wide);
#endif

const TsrFftCode *tsr_fft_code(bool wide) { return TSR_FOR_ISA(tsr_fft_code)(wide); }

#define HELPER static inline __attribute__((always_inline))
#define R float
#define S float
#define NAME(x) f32_##x
#include "fft.inc"
#define R double
#define S double
#define NAME(x) f64_##x
#include "fft.inc"

void tsr_fft_line(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    (plan->wish.wide ? f64_start : f32_start)(plan, dst, src, forward, scale, scratch);
}
