/* bag.h: what embedding_bag does with the rows of its table that a bag picks. */
#ifndef CORE_KERNELS_MOVE_BAG_H
#define CORE_KERNELS_MOVE_BAG_H

#include "core/dtype.h"

/* The rows of a bag: row[i] of the table for each index[i], i in [0, n), but for those whose index is `padding`. */
typedef struct TsrBag {
    const void *table;
    int64_t pitch, step; /* in elements, from row to row and from column to column */
    int64_t cols;
    const int64_t *row, *index; /* the same, unless the table has been put together for the bags */
    int64_t n, padding;
    int64_t known;     /* how many of row[] there are, n or more: what other bags pick next is fetched early */
    const void *scale; /* n numbers, each row's; NULL */
    bool fused;        /* a row times its number and the sum of that are rounded once, not each */
} TsrBag;

typedef struct TsrBagKernels {
    /* The rows one after the other onto sum, which is dense. */
    void (*add)(void *sum, const TsrBag *bag);
    /* The greatest of each column, and the index it came from; both are left as they are by an empty bag. A nan is not
     * larger. */
    void (*keep_larger)(void *most, int64_t *where, const TsrBag *bag);
    void (*divide)(void *sum, int64_t n, double count);
} TsrBagKernels;

/* Of float32 or float64. An interrupt ends them early. */
const TsrBagKernels *tsr_bag_kernels(TsrDtype dtype);

#endif
