/* small.c: chooses the loops for linear systems side by side (small.simd.c) for this CPU. */
#include "small.h"

#include "core/kernels/simd.h"

const TsrSmall *tsr_small_base(bool wide);
#ifdef TSR_HAVE_X86
const TsrSmall *tsr_small_avx2(bool wide);
const TsrSmall *tsr_small_avx512(bool wide);
#endif

const TsrSmall *tsr_small(bool wide) { return TSR_FOR_ISA(tsr_small)(wide); }
