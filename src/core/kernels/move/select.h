/* select.h: inner loops over byte masks and positions: counting, compressing, filling, picking. Mask bytes are 0 or 1.
 */
#ifndef CORE_KERNELS_MOVE_SELECT_H
#define CORE_KERNELS_MOVE_SELECT_H

#include "core/base.h"

typedef struct TsrSixteen {
    uint64_t a, b;
} TsrSixteen; /* an item of 16 bytes, only ever copied */

int64_t tsr_kernel_count_bytes(const uint8_t *mask, int64_t n); /* how many are not 0 */
/* Positions of the `total` set bytes of the mask, which stand at linear index `start` and on, as coordinates in
 * `sizes`: coordinate d of the k-th goes to out[k + d * column]. 1 <= ndim <= TSR_KERNEL_DIMS. */
enum { TSR_KERNEL_DIMS = 128 };
void tsr_kernel_positions(const uint8_t *mask, int64_t n, int64_t total, int64_t start, int64_t *out, int64_t column,
                          int ndim, const int64_t *sizes);
/* Copies the `total` items whose mask byte is set, one after another; itemsize 1, 2, 4, 8 or 16 bytes. */
void tsr_kernel_compress(const uint8_t *mask, int64_t n, int64_t total, const void *src, void *dst, size_t itemsize);
/* dst[i] = *value where mask[i]. */
void tsr_kernel_fill_masked(const uint8_t *mask, int64_t n, void *dst, const void *value, size_t itemsize);
/* Whether all n positions are in [0, size). */
bool tsr_kernel_in_range(const int64_t *index, int64_t n, int64_t size);
/* dst[i] = src[index[i]], all dense; positions are trusted. */
void tsr_kernel_pick(void *dst, const void *src, const int64_t *index, int64_t n, size_t itemsize);
/* The least and the greatest of n >= 1 values. */
void tsr_kernel_range(const int64_t *p, int64_t n, int64_t *least, int64_t *most);

#endif
