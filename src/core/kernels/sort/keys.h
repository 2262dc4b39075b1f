/* keys.h: elements as unsigned integers in the same order, so that one sort serves all dtypes. nan is the greatest, -0
 * equals 0. */
#ifndef CORE_KERNELS_SORT_KEYS_H
#define CORE_KERNELS_SORT_KEYS_H

#include "core/dtype.h"

/* keys[i] for the n elements at src, src + stride, ... (bytes). bool, integers and real floats; a key of a b-bit dtype
 * is below 2^b. */
void tsr_kernel_keys64(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys);
/* The same in 32 bits, for dtypes of up to 4 bytes. */
void tsr_kernel_keys32(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys);
/* The first i with (keys[i] ^ mask) < limit; n when there is none. */
int64_t tsr_kernel_first_below32(const uint32_t *keys, int64_t n, uint32_t mask, uint32_t limit);
int64_t tsr_kernel_first_below64(const uint64_t *keys, int64_t n, uint64_t mask, uint64_t limit);
/* The key of nan in a float dtype; keys of other values are smaller. UINT64_MAX for dtypes without one (no key of
 * theirs equals nan). */
uint64_t tsr_kernel_nan_key(TsrDtype dtype);
static inline int tsr_kernel_key_bits(TsrDtype dtype) { return (int)tsr_dtype_size(dtype) * 8; }

#endif
