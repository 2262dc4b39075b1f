/* conv.c: chooses the convolution kernels (conv.simd.c) for this CPU. Without fused multiply-add there are none, and
 * the caller uses another way. */
#include "conv.h"

#include "core/kernels/simd.h"

static TsrConvKernels tsr_conv_kernels_base(void) { return (TsrConvKernels){0}; }
#ifdef TSR_HAVE_X86
TsrConvKernels tsr_conv_kernels_avx2(void);
TsrConvKernels tsr_conv_kernels_avx512(void);
#endif

TsrConvKernels tsr_conv_kernels(void) { return TSR_FOR_ISA(tsr_conv_kernels)(); }
