/* sort.h: sorting and selecting (key, index) pairs. Keys come from keys.h; smaller keys first.
 *
 * The unstable algorithms are introsort, introselect and heap selection as the GNU C++ library has them, step for
 * step, because PyTorch's answer for equal elements is whatever they leave. An interrupt ends them early, with the
 * pairs in any order. */
#ifndef CORE_KERNELS_SORT_SORT_H
#define CORE_KERNELS_SORT_SORT_H

#include "core/error.h"

/* A key that compares as an unsigned integer, and the position that it came from. */
typedef struct TsrPair {
    uint64_t key;
    int64_t index;
} TsrPair;

/* Stable: equal keys keep their order. `spare` has room for n. */
void tsr_kernel_sort_stable(TsrPair *a, TsrPair *spare, int64_t n);
void tsr_kernel_sort(TsrPair *a, int64_t n); /* std::sort */
/* std::partial_sort over a stream: `start` makes a heap of the first k pairs, each later one that is smaller than
 * heap[0] is offered in its turn, and `finish` leaves the k least in order. */
void tsr_kernel_heap_start(TsrPair *heap, int64_t k);
void tsr_kernel_heap_offer(TsrPair *heap, int64_t k, TsrPair pair); /* pair.key < heap[0].key */
void tsr_kernel_heap_finish(TsrPair *heap, int64_t k);
void tsr_kernel_nth_element(TsrPair *a, int64_t nth, int64_t n); /* std::nth_element */
void tsr_kernel_quick_select(TsrPair *a, int64_t k, int64_t n);  /* Sedgewick's, median of three (kthvalue) */

/* Stable radix sort of words by their upper 32 bits (the lower ones go along). `spare` has room for n. Splits over
 * threads. NULL when interrupted or short of memory (the error is set). Returns where the result is: words or spare. */
uint64_t *tsr_kernel_radix_words(uint64_t *words, uint64_t *spare, int64_t n);

#endif
