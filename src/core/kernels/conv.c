#include "kernels/conv.h"

#include "kernels/simd.h"

#ifdef TSR_HAVE_X86
void tsr_conv_avx2(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n, bool onto);
void tsr_conv_avx512(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n, bool onto);
#endif

TsrConvFn tsr_conv_kernel(void) {
#ifdef TSR_HAVE_X86
    switch (tsr_isa()) {
    case TSR_ISA_AVX512: return tsr_conv_avx512;
    case TSR_ISA_AVX2: return tsr_conv_avx2;
    default: break;
    }
#endif
    return NULL;
}
