/* layout.h: pure integer geometry: contiguity, broadcasting, view strides, overlap. Sees no tensor and
 * no memory. All arrays hold `ndim` int64_t; sizes and strides in elements. */
#ifndef TSR_LAYOUT_H
#define TSR_LAYOUT_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* Dimensions of a tensor at most: as deep as lists may nest in PyTorch. Sets of dimensions, and so reductions, take 64,
 * as they do there. */
enum { TSR_MAX_DIMS = 128 };

/* Where the elements of a tensor lie in its storage; the arrays are lent. Where a function has no use for `offset`, it
 * looks at none. */
typedef struct TsrGeometry {
    int ndim;
    const int64_t *sizes, *strides;
    int64_t offset; /* of the first element, from the storage's start */
} TsrGeometry;

/* Whether a tensor may have so many dimensions. */
static inline bool tsr_layout_is_ndim(int ndim) { return (unsigned)ndim <= TSR_MAX_DIMS; }
/* A product of sizes, strides and bytes that wraps: sizes may be yet to be refused, and beside a size of 0, and in a
 * dimension of size 1, a stride may be any. */
static inline int64_t tsr_layout_times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }
/* TSR_RUNTIME_ERROR unless a tensor may have so many dimensions. The functions below that return a status refuse
 * others, too; those that return whether something holds say false, and those that return nothing write nothing. */
TsrStatus tsr_layout_check_ndim(int ndim);
/* Product of sizes; TSR_RUNTIME_ERROR for a negative size ("Trying to create tensor with negative dimension -1: [-1]")
 * or an overflow, even where another size is 0. */
TsrStatus tsr_layout_numel(int64_t *numel, int ndim, const int64_t *sizes);
/* The same in PyTorch's words for a tensor that is there and gets these sizes: it counts elements before bytes. */
TsrStatus tsr_layout_numel_there(int64_t *numel, int ndim, const int64_t *sizes);
/* TSR_RUNTIME_ERROR for a number in the least quarter of int64, which PyTorch keeps for sizes that are symbols. */
TsrStatus tsr_layout_check_symbolic(int n, const int64_t *numbers);
/* Row-major strides as PyTorch gives them (a size of 0 counts as 1). */
void tsr_layout_contiguous_strides(int64_t *strides, int ndim, const int64_t *sizes);
/* Channels-last strides for ndim 4 (NHWC) or 5 (NDHWC). */
void tsr_layout_channels_last_strides(int64_t *strides, int ndim, const int64_t *sizes);
bool tsr_layout_is_contiguous(int ndim, const int64_t *sizes, const int64_t *strides);
bool tsr_layout_is_channels_last(int ndim, const int64_t *sizes,
                                 const int64_t *strides); /* contiguous in that format */
/* PyTorch's suggest_memory_format test for strides "like" channels last (ambiguous ones count as contiguous). */
bool tsr_layout_is_channels_last_strides(int ndim, const int64_t *sizes, const int64_t *strides);
/* Some permutation of the dimensions is contiguous. */
bool tsr_layout_is_non_overlapping_and_dense(int ndim, const int64_t *sizes, const int64_t *strides);
/* Compares two dimensions by stride for tsr_layout_order_dims: below 0 when `inner` has the smaller stride, above 0
 * when it has the larger one, or the same stride and the larger size; 0 when one of them is expanded (stride 0). */
static inline int tsr_layout_compare_dims(int64_t size_inner, int64_t stride_inner, int64_t size_outer,
                                          int64_t stride_outer) {
    if (stride_inner == 0 || stride_outer == 0) return 0;
    if (stride_inner != stride_outer) return stride_inner < stride_outer ? -1 : 1;
    return size_inner > size_outer;
}
/* Compares two dimensions, of which `inner` comes first (further in) now. Negative: the order is right; positive: they
 * change places; 0: undecided. */
typedef int (*TsrCompareDims)(const void *user, int inner, int outer);
/* Orders perm[0..n), innermost first, as PyTorch does everywhere (TensorIterator's reorder_dimensions): an insertion
 * sort that moves only on clear evidence and steps over what is undecided. Inline, so that the comparison is, too. */
static inline void tsr_layout_order_dims(int *perm, int n, TsrCompareDims compare, const void *user) {
    for (int i = 1; i < n; i++) {
        int at = i;
        for (int j = i - 1; j >= 0; j--) {
            int order = compare(user, perm[j], perm[at]);
            if (order < 0) break;
            if (order == 0) continue;
            int swap = perm[j];
            perm[j] = perm[at];
            perm[at] = swap;
            at = j;
        }
    }
}
/* Strides for a fresh tensor "like" a possibly gapped or overlapping one, in its stride order (at::infer_dense_strides,
 * empty_like preserve). */
void tsr_layout_dense_strides_like(int64_t *out, int ndim, const int64_t *sizes, const int64_t *strides);

/* Broadcasts b's shape into out (which holds a's, *out_ndim dims, room for TSR_MAX_DIMS). TSR_RUNTIME_ERROR "The size
 * of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0". */
TsrStatus tsr_layout_broadcast(int64_t *out, int *out_ndim, const int64_t *b, int b_ndim);
/* expand: sizes may hold -1; out arrays of out_ndim. PyTorch's errors ("The expanded size of the tensor (4) must match
 * the existing size (3) at non-singleton dimension 0.  Target sizes: [4].  Tensor sizes: [3]"). */
TsrStatus tsr_layout_expand(int64_t *out_sizes, int64_t *out_strides, int out_ndim, const int64_t *wanted,
                            TsrGeometry g);
/* Replaces one -1 in `sizes` by what numel needs: "shape '[5]' is invalid for input of size 4", "only one dimension can
 * be inferred", "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size -1 can
 * be any value and is ambiguous". */
TsrStatus tsr_layout_infer_size(int64_t *out_sizes, int out_ndim, const int64_t *wanted, int64_t numel);
/* Strides that view `g` as new_sizes without copying; false when there are none. */
bool tsr_layout_view_strides(int64_t *new_strides, int new_ndim, const int64_t *new_sizes, TsrGeometry g);
/* The first pair of adjacent dimensions (d, d+1) that would have to merge and cannot, for explain(); -1 if none. */
int tsr_layout_unmergeable_dim(int new_ndim, const int64_t *new_sizes, TsrGeometry g);

/* --- overlap: exact, by a bounded search for solutions of a linear Diophantine equation, as NumPy's mem_overlap.c does
 * --- */
/* The bytes that a view reaches. */
typedef struct TsrFootprint {
    TsrGeometry at;
    int64_t itemsize; /* bytes */
} TsrFootprint;
/* Whether two indices of one view reach the same element; true also where the search gave up. */
bool tsr_layout_has_internal_overlap(const TsrGeometry *g);
/* Whether two views of one storage share a byte; ia and ib (each of its ndim, may be NULL) receive the indices of one
 * common element. *known is false where the search gave up. */
bool tsr_layout_overlap(const TsrFootprint *a, const TsrFootprint *b, int64_t *ia, int64_t *ib, bool *known);
/* PyTorch's cheaper classification, which decides its refusals (at::get_overlap_status). */
typedef enum TsrOverlap { TSR_OVERLAP_FULL, TSR_OVERLAP_PARTIAL, TSR_OVERLAP_NO, TSR_OVERLAP_TOO_HARD } TsrOverlap;

/* Of two views of one storage. */
TsrOverlap tsr_layout_overlap_status(const TsrFootprint *a, const TsrFootprint *b);
/* Of one view with itself (at::has_internal_overlap): NO, FULL for a certain overlap (a stride of 0), TOO_HARD. */
TsrOverlap tsr_layout_internal_status(int ndim, const int64_t *sizes, const int64_t *strides);

/* "[2, 3]", for messages: in one of four buffers of this thread, which take turns; a list of more numbers than a tensor
 * has dimensions is cut off. */
const char *tsr_layout_text(int ndim, const int64_t *sizes);

TSR_PUBLIC_END

#endif
