/* keys_base.c: the loops that turn elements into sortable unsigned keys (keys.inc) for any CPU, and the functions of
 * keys.h, each of which calls the best table for this CPU. */
#include "core/kernels/simd.h"
#include "keys.inc"

static const TsrKeysTable *table(void) {
#ifdef TSR_HAVE_X86
    switch (tsr_isa()) {
    case TSR_ISA_AVX512: return &tsr_keys_table_avx512;
    case TSR_ISA_AVX2: return &tsr_keys_table_avx2;
    default: break;
    }
#endif
    return &tsr_keys_table_base;
}

void tsr_kernel_keys32(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys) {
    table()->keys32(dtype, src, stride, n, keys);
}
void tsr_kernel_keys64(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys) {
    table()->keys64(dtype, src, stride, n, keys);
}
int64_t tsr_kernel_first_below(const uint64_t *keys, int64_t n, uint64_t mask, uint64_t limit) {
    return table()->first_below(keys, n, mask, limit);
}

uint64_t tsr_kernel_nan_key(TsrDtype dtype) {
    if (!tsr_dtype_is_float(dtype)) return UINT64_MAX;
    return UINT64_MAX >> (64 - tsr_kernel_key_bits(dtype));
}
