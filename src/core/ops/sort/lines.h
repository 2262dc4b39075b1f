/* lines.h: the lines of a tensor along a dimension as pairs of key and position; for sort, topk, order statistics and
 * quantiles. */
#ifndef CORE_OPS_SORT_LINES_H
#define CORE_OPS_SORT_LINES_H

#include <stdatomic.h>

#include "core/iter.h"
#include "core/kernels/sort/sort.h"
#include "core/op.h"

/* What a line function needs. The work of a line: keys, then pairs, then an algorithm on pairs. */
typedef struct SortLine {
    TsrDtype dtype;
    int64_t k;
    bool flip; /* keys complemented: greatest first */
    bool stable, sorted, ignore_nan;
    _Atomic bool *no_memory;
} SortLine;

/* Pairs for one line, on the caller's stack when short. */
typedef struct SortPairs {
    TsrPair *a, *spare;
    TsrPair local[2 * 64];
} SortPairs;

/* False where memory is short, which *w->no_memory then says. */
bool tsr_pairs_begin(SortPairs *p, int64_t n, bool with_spare, const SortLine *w);
void tsr_pairs_end(SortPairs *p);
void tsr_pairs_load(TsrPair *a, const char *src, int64_t stride, int64_t n, const SortLine *w);
/* Writes the first n pairs to a line of (values, indices, self): the values of self that they stand for, and their
 * indices. */
void tsr_pairs_store(char *const *data, const int64_t *stride, const TsrPair *a, int64_t n, size_t item);
/* Runs a line function over (values, indices, self) along dim; 0-d tensors are taken as one line of one element. */
TsrStatus tsr_sort_lines_run(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, TsrLineFn fn,
                             SortLine *w);

/* The two results, values of like's dtype and indices; and how they are returned from the call, or freed on failure. */
TsrStatus tsr_two_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *like, int ndim, const int64_t *sizes);
TsrStatus tsr_end_two_move(TsrOpCall *c, TsrStatus status, TsrTensor *values, TsrTensor *indices);
TsrStatus tsr_sort_check_outs(const TsrOpCall *c, const TsrTensor *self);

#endif
