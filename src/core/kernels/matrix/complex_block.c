/* complex_block.c: chooses the kernel of products of complex64 (complex_block.simd.c) for this CPU. */
#include "complex_block.h"

#include "core/kernels/simd.h"

static TsrComplexBlockFn tsr_complex_block_kernel_base(void) { return NULL; }
#ifdef TSR_HAVE_X86
TsrComplexBlockFn tsr_complex_block_kernel_avx2(void);
TsrComplexBlockFn tsr_complex_block_kernel_avx512(void);
#endif

TsrComplexBlockFn tsr_complex_block_kernel(void) { return TSR_FOR_ISA(tsr_complex_block_kernel)(); }
