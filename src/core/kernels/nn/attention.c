/* attention.c: chooses the rows of attention (attention.simd.c) for this CPU. */
#include "attention.h"

#include "core/kernels/simd.h"

static TsrAttentionFn tsr_attention_kernel_base(void) { return NULL; }
#ifdef TSR_HAVE_X86
TsrAttentionFn tsr_attention_kernel_avx2(void);
TsrAttentionFn tsr_attention_kernel_avx512(void);
#endif

TsrAttentionFn tsr_attention_kernel(void) { return TSR_FOR_ISA(tsr_attention_kernel)(); }
