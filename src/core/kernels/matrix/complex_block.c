/* complex_block.c: chooses the kernel of products of complex64 (complex_block.simd.c) for this CPU. */
#include "complex_block.h"

#include "core/kernels/simd.h"

TSR_CHOOSE_VECTORS(TsrComplexBlockFn, tsr_complex_block_kernel)
