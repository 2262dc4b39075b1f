/* reduce.h: the driver of reductions, and how their arguments are read. For ops/ only. */
#ifndef CORE_OPS_REDUCE_REDUCE_H
#define CORE_OPS_REDUCE_REDUCE_H

#include "core/engine/fuse.h"
#include "core/kernels/reduce/reduce.h"
#include "core/op.h"

/* One reduction: outputs are fresh, row-major. */
typedef struct TsrReduction {
    TsrReduceKind kind;
    const TsrTensor *in; /* lent; its dtype is the reducer's */
    uint64_t dims;       /* bit d: dimension d is reduced */
    bool keepdim;
    const TsrReduceParams *params;
    TsrDtype out[2]; /* what finish writes; TSR_DTYPE_NONE: nothing (out[k] is NULL there) */
} TsrReduction;

/* *values and *more (may be NULL when out[1] is TSR_DTYPE_NONE) are the caller's. */
TsrStatus tsr_reduce_new(TsrTensor **values, TsrTensor **more, const TsrReduction *r);

/* The reduction of `count` elements of `dtype` that are made as they are needed: fill(user, begin, end, to) writes
 * those of [begin, end) to `to`, in any thread. As tsr_reduce_new of all of them in one contiguous tensor, to the bit;
 * out is as for the reducer's finish. */
TsrStatus tsr_reduce_made(TsrTensor *out, TsrReduceKind kind, TsrDtype dtype, int64_t count, TsrFillFn fill,
                          void *user);
enum { TSR_REDUCE_MADE_LEAST = 1 << 17 }; /* of count */

/* The mask of a dim argument: None, or an empty list when `empty_is_all`, means all; "dim 0 appears multiple times in
 * the list of dims", after each is seen to be in range. In turn: each is seen whole before the next. */
TsrStatus tsr_dims_mask(uint64_t *mask, const TsrArg *dim, int ndim, bool empty_is_all);
TsrStatus tsr_dims_mask_in_turn(uint64_t *mask, const TsrArg *dim, int ndim, bool empty_is_all);
uint64_t tsr_all_dims(int ndim);
/* Sets of dimensions are masks: of a tensor of more than these, none or all. */
enum { TSR_DIM_SET = 64 };
bool tsr_dims_have(uint64_t dims, int d);
/* RuntimeError "only tensors with up to 64 dims are supported". */
TsrStatus tsr_check_dim_set(int ndim);
/* The set of a list of dimensions, in turn. */
TsrStatus tsr_dim_set(uint64_t *set, int n, const int64_t *dims, int ndim);
/* How many elements go into one result. */
int64_t tsr_reduced_count(const TsrTensor *t, uint64_t dims);
/* IndexError "NAME(): Expected reduction dim 0 to have non-zero size." when a reduced dimension is empty though results
 * are not. */
TsrStatus tsr_check_nonempty(const char *name, const TsrTensor *t, uint64_t dims);

#endif
