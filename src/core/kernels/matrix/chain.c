/* chain.c: chooses the kernels of products (chain.simd.c, double_chain.simd.c) for this CPU. */
#include "chain.h"

#include "core/kernels/simd.h"

TSR_CHOOSE_VECTORS(TsrChainFn, tsr_chain_kernel)
TSR_CHOOSE_VECTORS(TsrDoubleChainFn, tsr_double_chain_kernel)
