/* select.h: inner loops over byte masks: counting, positions, compressing, filling. Mask bytes are 0 or not. */
#ifndef TSR_KERNEL_SELECT_H
#define TSR_KERNEL_SELECT_H

#include "base.h"

int64_t tsr_kernel_count_bytes(const uint8_t *mask, int64_t n);
/* Positions of the nonzero bytes, which stand at linear index `start` and on, as coordinates in `sizes`: coordinate d of the k-th goes to
 * out[k + d * column]. ndim >= 1. */
void tsr_kernel_positions(const uint8_t *mask, int64_t n, int64_t start, int64_t *out, int64_t column, int ndim, const int64_t *sizes);
/* Copies the items whose mask byte is set, one after another; itemsize 1, 2, 4, 8 or 16 bytes. */
void tsr_kernel_compress(const uint8_t *mask, int64_t n, const void *src, void *dst, size_t itemsize);
/* dst[i] = *value where mask[i]. */
void tsr_kernel_fill_masked(const uint8_t *mask, int64_t n, void *dst, const void *value, size_t itemsize);

#endif
