/* chain.c: chooses the kernels of products (chain.simd.c, double_chain.simd.c) for this CPU. */
#include "chain.h"

#include "core/kernels/simd.h"

static TsrChainFn tsr_chain_kernel_base(void) { return NULL; }
static TsrDoubleChainFn tsr_double_chain_kernel_base(void) { return NULL; }
#ifdef TSR_HAVE_X86
TsrChainFn tsr_chain_kernel_avx2(void);
TsrChainFn tsr_chain_kernel_avx512(void);
TsrDoubleChainFn tsr_double_chain_kernel_avx2(void);
TsrDoubleChainFn tsr_double_chain_kernel_avx512(void);
#endif

TsrChainFn tsr_chain_kernel(void) { return TSR_FOR_ISA(tsr_chain_kernel)(); }
TsrDoubleChainFn tsr_double_chain_kernel(void) { return TSR_FOR_ISA(tsr_double_chain_kernel)(); }
