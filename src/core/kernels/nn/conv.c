/* conv.c: chooses the convolution kernels (conv.simd.c, conv_pairs.simd.c) for this CPU. Without fused multiply-add
 * there are none, and the caller uses another way. */
#include "conv.h"

#include "core/kernels/simd.h"

static TsrConvKernels tsr_conv_kernels_base(void) { return (TsrConvKernels){0}; }
#ifdef TSR_HAVE_X86
TsrConvKernels tsr_conv_kernels_avx2(void);
TsrConvKernels tsr_conv_kernels_avx512(void);
TsrConvKernels tsr_conv_pair_kernels_avx512(void);
#endif

TsrConvKernels tsr_conv_kernels(void) { return TSR_FOR_ISA(tsr_conv_kernels)(); }

TsrConvKernels tsr_conv_pair_kernels(void) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() == TSR_ISA_AVX512 && __builtin_cpu_supports("avx512bf16")) return tsr_conv_pair_kernels_avx512();
#endif
    return (TsrConvKernels){0};
}
