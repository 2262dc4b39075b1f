/* along.h: positions along one dimension: what gather and scatter (core/ops/index/gather.c, core/ops/index/scatter.c)
 * and the index_* operators (core/ops/index/rows.c) share. */
#ifndef CORE_OPS_REDUCE_ALONG_H
#define CORE_OPS_REDUCE_ALONG_H

#include <stdatomic.h>

#include "core/kernels/move/combine.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

/* The first position found to be out of bounds. */
typedef struct AlongBad {
    _Atomic bool found;
    int64_t position;
} AlongBad;

typedef struct AlongLine {
    TsrCombineFn combine;
    int64_t item, size; /* bytes of an element; elements of the indexed dimension */
    AlongBad *bad;
} AlongLine;

/* The size of a dimension, 1 for a tensor without dimensions; and whether a dtype may hold positions. */
static inline int64_t tsr_along_size(const TsrTensor *t, int64_t dim) { return tsr_ndim(t) == 0 ? 1 : t->sizes[dim]; }
static inline bool tsr_is_index_dtype(const TsrTensor *t) { return t->dtype == TSR_INT64 || t->dtype == TSR_INT32; }

/* "index 5 is out of bounds for dimension 0 with size 3", of that kind. Never TSR_OK. */
TsrStatus tsr_along_out_of_bounds(TsrStatus kind, int64_t index, int64_t dim, int64_t size);
/* A view of t cut to index's sizes in all dimensions but dim, so that lines of the two pair up. Both have at least one
 * dimension. */
TsrStatus tsr_along_cut_new(TsrTensor **out, const TsrTensor *t, const TsrTensor *index, int64_t dim, bool cut_dim);
/* Whether both are row-major, lines along dim are not, or have one position each, and every element beside those lines
 * has a position: then positions are best taken in the order of memory, a row of tsr_along_inner of them at a time. */
bool tsr_along_across(const TsrTensor *t, const TsrTensor *index, int64_t dim);
int64_t tsr_along_inner(const TsrTensor *index, int64_t dim);
/* Checks a line of n positions, `step` elements apart; the first bad one is kept in q->bad. */
bool tsr_along_valid(const int64_t *index, int64_t step, int64_t n, const AlongLine *q);
/* Elements by their positions, which are checked already: to[i] = from[index[i * step]], each line with its stride in
 * bytes. */
typedef struct AlongPick {
    char *to;
    const char *from;
    int64_t to_stride, from_stride;
    const int64_t *index;
    int64_t step;
} AlongPick;
void tsr_along_pick(const AlongPick *p, int64_t n, int64_t item); /* n elements of so many bytes */
/* Runs fn over the lines of three operands along dim, and fails when it found a bad position. */
TsrStatus tsr_along_run(TsrTensor *const *operands, int64_t dim, TsrLineFn fn, const AlongLine *q);

/* --- reductions into places: scatter_reduce and index_reduce --- */
typedef struct AlongReduction {
    TsrCombine op;
    bool mean;
} AlongReduction;
bool tsr_along_reduction(AlongReduction *r, const char *name,
                         bool with_sum); /* `name`: what reduce= says; false: no such reduction */
void tsr_along_neutral_store(
    TsrCombine op, TsrDtype d,
    void *cell); /* what an untouched place starts from: 0, 1, the least or the greatest value */
/* t /= counts, floor division for integers; counts of 0 are 1. */
TsrStatus tsr_along_divide_by_counts(TsrTensor *t, TsrTensor *counts);

#endif
