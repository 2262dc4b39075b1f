/* kth.h: the k-th least of many keys (keys.h), by counting: no comparison is guessed wrong. */
#ifndef CORE_KERNELS_SORT_KTH_H
#define CORE_KERNELS_SORT_KTH_H

#include "core/base.h"

/* The k-th least, from 0, of n > k keys of 32 or 64 bits; `spare` has room for 2 n. An interrupt leaves any key. */
uint32_t tsr_kernel_kth32(const uint32_t *keys, uint32_t *spare, int64_t k, int64_t n);
uint64_t tsr_kernel_kth64(const uint64_t *keys, uint64_t *spare, int64_t k, int64_t n);

/* How many keys are less than `key`. */
int64_t tsr_kernel_below32(const uint32_t *keys, uint32_t key, int64_t n);
int64_t tsr_kernel_below64(const uint64_t *keys, uint64_t key, int64_t n);

/* Where the nth key, from 0, that equals `key` is; -1 where there are not so many. */
int64_t tsr_kernel_place32(const uint32_t *keys, uint32_t key, int64_t nth, int64_t n);
int64_t tsr_kernel_place64(const uint64_t *keys, uint64_t key, int64_t nth, int64_t n);

#endif
