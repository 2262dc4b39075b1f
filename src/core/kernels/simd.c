/* simd.c: finds the instruction set to use (simd.h): the best that the CPU has, or less if TSR_ISA in the environment
 * says so, which tests use to compare the builds. Also chooses the conversion between dtypes. */
#include "simd.h"

#include <stdlib.h>
#include <string.h>

TsrIsa tsr_cpu_isa(void) {
    TsrIsa best = TSR_ISA_BASE;
#ifdef TSR_HAVE_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        best = TSR_ISA_AVX2; /* f16c comes with every avx2; clang has no name for it */
    if (best == TSR_ISA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        best = TSR_ISA_AVX512;
#endif
    return best;
}

static TsrIsa detect(void) {
    TsrIsa best = tsr_cpu_isa();
    const char *limit = getenv("TSR_ISA");
    if (limit != NULL && strcmp(limit, "base") == 0) return TSR_ISA_BASE;
    if (limit != NULL && strcmp(limit, "avx2") == 0 && best == TSR_ISA_AVX512) return TSR_ISA_AVX2;
    return best;
}

TsrIsa tsr_isa(void) {
    static int known; /* 1 more than it */
    return (TsrIsa)(TSR_CHOOSE_ONCE(known, (int)detect() + 1) - 1);
}

void tsr_convert(TsrDtype to, char *dst, int64_t dst_stride, TsrDtype from, const char *src, int64_t src_stride,
                 int64_t n) {
    static TsrConvertFn known;
    int64_t size = (int64_t)tsr_dtypes[to].itemsize;
    if (n <= 0 || !tsr_dtype_is_pod(to) || !tsr_dtype_is_pod(from)) return;
    if (to == from && dst_stride == size && src_stride == size && to != TSR_BOOL) {
        memmove(dst, src, (size_t)(n * size));
        return;
    }
    TSR_CHOOSE_ONCE(known, TSR_FOR_ISA(tsr_convert))(to, dst, dst_stride, from, src, src_stride, n);
}
