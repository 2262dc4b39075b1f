/* shared.h: small checks and allocations that operator functions share.
 * Every check returns TSR_OK or sets PyTorch's error. Nothing here computes. */
#ifndef CORE_OP_SHARED_H
#define CORE_OP_SHARED_H

#include "core/op.h"
#include "core/tensor/loan.h"

/* TSR_NOT_IMPLEMENTED_ERROR "\"kernel\" not implemented for 'Half'". */
TsrStatus tsr_not_implemented(const char *kernel, TsrDtype dtype) __attribute__((cold));
/* TSR_RUNTIME_ERROR "expected scalar type Float but found Double". */
TsrStatus tsr_unexpected_dtype(TsrDtype wanted, TsrDtype found) __attribute__((cold));

/* TSR_RUNTIME_ERROR "Expected CONDITION to be true, but got false. ...": what PyTorch says of a check that it gave no
 * text. */
TsrStatus tsr_untrue(const char *condition) __attribute__((cold));

/* Sets of dtypes, as bit masks over ids: each is the rows of dtype.def that are of its group. */
#define TSR_BIT(id) (1u << (TSR_##id))
#define DTYPE(suffix, ctype, size, kind, group, ...) | (TSR_GROUP_##group == SET) << TSR_##suffix
enum {
#define SET TSR_GROUP_INTEGER
    TSR_BITS_INT = 0
#include "core/dtype.def"
#undef SET
#define SET TSR_GROUP_BARE
    ,
    TSR_BITS_UINT = 0
#include "core/dtype.def"
#undef SET
#define SET TSR_GROUP_HALF
    ,
    TSR_BITS_HALF = 0
#include "core/dtype.def"
#undef SET
#define SET TSR_GROUP_FLOAT
    ,
    TSR_BITS_FLOAT = TSR_BITS_HALF
#include "core/dtype.def"
#undef SET
#define SET TSR_GROUP_COMPLEX
    ,
    TSR_BITS_COMPLEX = 0
#include "core/dtype.def"
#undef SET
#define SET TSR_GROUP_FLOAT8
    ,
    TSR_BITS_FLOAT8 = 0
#include "core/dtype.def"
#undef SET
};
#undef DTYPE
#define TSR_BITS_USUAL (TSR_BITS_INT | TSR_BITS_FLOAT) /* what AT_DISPATCH_ALL_TYPES and the halves are */
#define TSR_BITS_MOST (TSR_BITS_USUAL | TSR_BIT(BOOL) | TSR_BITS_COMPLEX)
static inline bool tsr_in(unsigned mask, TsrDtype d) { return (mask >> d & 1u) != 0; }
/* tsr_not_implemented unless `dtype` is in `mask`. */
static inline TsrStatus tsr_require(unsigned mask, TsrDtype dtype, const char *kernel) {
    return TSR_LIKELY(tsr_in(mask, dtype)) ? TSR_OK : tsr_not_implemented(kernel, dtype);
}

/* tsr_refuse_overlap when they share memory. */
TsrStatus tsr_check_no_overlap(const TsrTensor *written, const TsrTensor *read);
/* out= of a call: that no memory is shared within it, nor with one input; either may be NULL. */
TsrStatus tsr_check_out_overlap(const TsrTensor *out, const TsrTensor *input);

/* The tensor of the first argument when its memory may be reused for the result: the caller lets go of it after the
 * call (call->spent), nobody else refers to it, and there is no out=. The operator may write its result over it and
 * return it. Lent; NULL otherwise. */
TsrTensor *tsr_spare(const TsrOpCall *c);

/* The tensor an operator that edits a copy of self works on: self itself (retained, overlap checked) in the in-place
 * form, else a copy in the given format. *out is owned. */
TsrStatus tsr_edit_new(TsrTensor **out, const TsrOpCall *c, const TsrTensor *self, TsrMemoryFormat format);
/* As tsr_edit_new, always row-major: self itself only when it is; the dispatcher copies a fresh result back into self.
 */
TsrStatus tsr_edit_dense_new(TsrTensor **out, const TsrOpCall *c, const TsrTensor *self);
/* A TsrCompareDims (layout.h) whose `user` is a tensor. */
static inline int tsr_compare_dims_of(const void *user, int inner, int outer) {
    const TsrTensor *t = user;
    return tsr_layout_compare_dims(t->sizes[inner], t->strides[inner], t->sizes[outer], t->strides[outer]);
}
/* The format that the strides suggest: where several fit it is the row-major one. */
TsrMemoryFormat tsr_suggested_format(const TsrTensor *t);
/* The elements in row-major order, as `dtype`; *out is owned, maybe the same object. */
TsrStatus tsr_dense_new(TsrTensor **out, const TsrTensor *t, TsrDtype dtype);
/* A one-dimensional view of a 0-d tensor, others retained; *out is owned. */
TsrStatus tsr_at_least_1d_new(TsrTensor **out, const TsrTensor *t);
/* Result of n owned tensors as a Tensor[]; the array is copied, the references move, also on failure. */
TsrStatus tsr_return_list_move(TsrOpCall *c, TsrTensor **tensors, int n);
/* An array of n NULLs, to be filled for a result that is a Tensor[]; *out is the caller's. */
TsrStatus tsr_list_new(TsrTensor ***out, int64_t n);
void tsr_list_free(TsrTensor **list, int64_t n); /* and what is in it */
/* Ends a function that filled such an array: the call's result on success, freed on failure. */
TsrStatus tsr_return_made_list_move(TsrOpCall *c, TsrStatus status, TsrTensor **list, int64_t n);
/* The error for sizes of which some went past int64 and came round, which is as PyTorch calculates them. */
TsrStatus tsr_refuse_wrapped(const char *name, int n, const int64_t *sizes) __attribute__((cold));
/* Row-major, all zeros. *out is owned. */
TsrStatus tsr_zeros_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device);
/* Frees n references, NULL entries are fine. */
void tsr_free_all(TsrTensor **tensors, int n);
/* Whether both have the same sizes. */
bool tsr_same_sizes(const TsrTensor *a, const TsrTensor *b);
/* "[2, 3]", for messages: in one of four buffers of this thread, which take turns. */
const char *tsr_sizes_text(const TsrTensor *t);
/* int64 positions are all in [0, bound): the first bad one goes to *bad and false is returned. */
bool tsr_positions_valid(const TsrTensor *index, int64_t bound, int64_t *bad);

/* ---- tensors of a device ---- */

/* Whether index tensors may be used on self: each lies on the host or where self does; NULL and undefined ones are
 * skipped. TSR_RUNTIME_ERROR in PyTorch's words. */
TsrStatus tsr_check_index_devices(const TsrTensor *self, int n, TsrTensor *const *indices);
/* Around work that stands for the operator `name` (static) and runs on the host by loan outside of an operator's row:
 * TSR_NOT_IMPLEMENTED_ERROR where tsr_op_fallback says so; then the note of what came over and went back. */
TsrStatus tsr_op_fallback_begin(const char *name);
void tsr_op_fallback_end(const char *name, const TsrLoans *loans);

#endif
