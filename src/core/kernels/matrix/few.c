/* few.c: chooses the kernel of products of few rows of floats (few.simd.c) for this CPU. */
#include "few.h"

#include "core/kernels/simd.h"

static TsrFewFn tsr_few_kernel_base(void) { return NULL; }
#ifdef TSR_HAVE_X86
TsrFewFn tsr_few_kernel_avx2(void);
TsrFewFn tsr_few_kernel_avx512(void);
#endif

TsrFewFn tsr_few_kernel(void) { return TSR_FOR_ISA(tsr_few_kernel)(); }
