/* conv.c: chooses the convolution kernels for this CPU (conv.h). Without fused multiply-add there are none, and the
 * caller uses another way. */
#include "conv.h"

#include "core/kernels/simd.h"

#ifdef TSR_HAVE_X86
TsrConvKernels tsr_conv_kernels_avx2(void);
TsrConvKernels tsr_conv_kernels_avx512(void);
#endif

TsrConvKernels tsr_conv_kernels(void) {
#ifdef TSR_HAVE_X86
    switch (tsr_isa()) {
    case TSR_ISA_AVX512: return tsr_conv_kernels_avx512();
    case TSR_ISA_AVX2: return tsr_conv_kernels_avx2();
    default: break;
    }
#endif
    return (TsrConvKernels){NULL, NULL};
}
