/* pairs.c: finds the kernel of products of bfloat16 (pairs.simd.c) where this CPU has the instruction. */
#include "pairs.h"

#include "core/kernels/simd.h"

#ifdef TSR_HAVE_X86
const TsrPairKernel *tsr_pair_kernel_avx512(void);
#endif

const TsrPairKernel *tsr_pair_kernel(void) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() == TSR_ISA_AVX512 && __builtin_cpu_supports("avx512bf16")) return tsr_pair_kernel_avx512();
#endif
    return NULL;
}
