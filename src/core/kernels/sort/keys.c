/* keys.c: the functions of keys.h, each of which calls the best table of loops for this CPU (keys.simd.c). */
#include "core/dtype.h"
#include "keys_table.h"

static const TsrKeysTable *table(void) { return TSR_FOR_ISA(tsr_keys_table); }

void tsr_kernel_keys32(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys) {
    table()->keys32(dtype, src, stride, n, keys);
}
void tsr_kernel_keys64(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys) {
    table()->keys64(dtype, src, stride, n, keys);
}
int64_t tsr_kernel_first_below32(const uint32_t *keys, int64_t n, uint32_t mask, uint32_t limit) {
    return table()->first_below32(keys, n, mask, limit);
}
int64_t tsr_kernel_first_below64(const uint64_t *keys, int64_t n, uint64_t mask, uint64_t limit) {
    return table()->first_below64(keys, n, mask, limit);
}

uint64_t tsr_kernel_nan_key(TsrDtype dtype) {
    if (!tsr_dtype_is_float(dtype)) return UINT64_MAX;
    return UINT64_MAX >> (64 - tsr_kernel_key_bits(dtype));
}
