/* layout.c: the arithmetic of sizes and strides (layout.h): numbers of elements, strides of the memory formats,
 * broadcasting, expand, and views of another shape.
 *
 * Nothing here sees a tensor. Rules and error texts are c10's and ATen's, also where they are odd: a size of 0 counts
 * as 1 in row-major strides but as 0 in channels-last ones, and an empty tensor is contiguous whatever its strides.
 * Overlap of views is in overlap.c. */
#include "core/layout.h"

#include <stdio.h>
#include <string.h>

const char *tsr_layout_text(int ndim, const int64_t *sizes) {
    enum {
        ROOM = (TSR_MAX_DIMS + 2) * 22
    }; /* for each dimension, and one that was added, at most 20 characters and ", "; and brackets */
    static _Thread_local char buffers[4][ROOM];
    static _Thread_local int next;
    char *text = buffers[next = (next + 1) % 4];
    int used = snprintf(text, ROOM, "[");
    for (int i = 0; i < ndim && used < ROOM; i++)
        used += snprintf(text + used, (size_t)(ROOM - used), i > 0 ? ", %lld" : "%lld", (long long)sizes[i]);
    if (used < ROOM) snprintf(text + used, (size_t)(ROOM - used), "]");
    return text;
}

TsrStatus tsr_layout_check_ndim(int ndim) {
    if (TSR_LIKELY(tsr_layout_is_ndim(ndim))) return TSR_OK;
    if (ndim < 0) return tsr_error(TSR_RUNTIME_ERROR, "a negative number of dimensions: %d", ndim);
    return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", ndim, TSR_MAX_DIMS);
}

TsrStatus tsr_layout_check_symbolic(int n, const int64_t *numbers) {
    for (int i = 0; i < n; i++)
        if (numbers[i] < -((int64_t)1 << 62))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "IntArrayRef contains an int that cannot be represented as a SymInt: %lld",
                             (long long)numbers[i]);
    return TSR_OK;
}

/* The product of sizes, which are refused where one is negative; *wraps: it does not fit, even where a size is 0. */
static TsrStatus count_elements(int64_t *numel, bool *wraps, int ndim, const int64_t *sizes) {
    int64_t product = 1;
    TSR_TRY(tsr_layout_check_ndim(ndim));
    for (int i = 0; i < ndim; i++)
        if (TSR_UNLIKELY(sizes[i] < 0))
            return tsr_error(TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: %s",
                             (long long)sizes[i], tsr_layout_text(ndim, sizes));
    bool zero = false;
    *wraps = false;
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] == 0) zero = true;
        else if (tsr_mul_overflows(product, sizes[i], &product)) *wraps = true;
    }
    *numel = zero ? 0 : product;
    return TSR_OK;
}

TsrStatus tsr_layout_numel(int64_t *numel, int ndim, const int64_t *sizes) {
    int64_t product;
    bool wraps;
    TSR_TRY(count_elements(&product, &wraps, ndim, sizes));
    if (TSR_UNLIKELY(wraps))
        return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s",
                         tsr_layout_text(ndim, sizes));
    *numel = product;
    return TSR_OK;
}

TsrStatus tsr_layout_numel_there(int64_t *numel, int ndim, const int64_t *sizes) {
    int64_t product;
    bool wraps;
    TSR_TRY(count_elements(&product, &wraps, ndim, sizes));
    if (TSR_UNLIKELY(wraps)) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    *numel = product;
    return TSR_OK;
}

void tsr_layout_contiguous_strides(int64_t *strides, int ndim, const int64_t *sizes) {
    int64_t step = 1;
    if (!tsr_layout_is_ndim(ndim)) return;
    for (int i = ndim - 1; i >= 0; i--) {
        strides[i] = step;
        if (sizes[i] > 1) step = tsr_layout_times(step, sizes[i]);
    }
}

/* The dimensions from the innermost out, in the two channels-last formats. */
static const int order_2d[4] = {1, 3, 2, 0};
static const int order_3d[5] = {1, 4, 3, 2, 0};
static const int *channels_last_order(int ndim) { return ndim == 4 ? order_2d : ndim == 5 ? order_3d : NULL; }

void tsr_layout_channels_last_strides(int64_t *strides, int ndim, const int64_t *sizes) {
    const int *order = channels_last_order(ndim);
    if (order == NULL) {
        tsr_layout_contiguous_strides(strides, ndim, sizes);
        return;
    }
    int64_t step = 1;
    for (int k = 0; k < ndim; k++) {
        strides[order[k]] = step;
        step = tsr_layout_times(step, sizes[order[k]]); /* a size of 0 counts, unlike in row-major strides */
    }
}

/* Whether the shape has no elements. */
static bool any_zero(int ndim, const int64_t *sizes) {
    for (int i = 0; i < ndim; i++)
        if (sizes[i] == 0) return true;
    return false;
}

bool tsr_layout_is_contiguous(int ndim, const int64_t *sizes, const int64_t *strides) {
    int64_t step = 1;
    if (!tsr_layout_is_ndim(ndim)) return false;
    if (any_zero(ndim, sizes)) return true;
    for (int i = ndim - 1; i >= 0; i--) {
        if (sizes[i] == 1) continue;
        if (strides[i] != step) return false;
        step *= sizes[i];
    }
    return true;
}

bool tsr_layout_is_channels_last(int ndim, const int64_t *sizes, const int64_t *strides) {
    const int *order = channels_last_order(ndim);
    int64_t step = 1;
    if (order == NULL) return false;
    for (int k = 0; k < ndim; k++) {
        int d = order[k];
        if (sizes[d] == 1) continue;
        if (strides[d] != step) return false;
        step = tsr_layout_times(step, sizes[d]);
    }
    return true;
}

/* ATen's is_channels_last_strides: strides must not fall along the order N < ... < C. Strides that row-major layout
 * would satisfy as well do not count as channels last. */
bool tsr_layout_is_channels_last_strides(int ndim, const int64_t *sizes, const int64_t *strides) {
    const int *order = channels_last_order(ndim);
    int64_t least = 0;
    if (order == NULL || strides[1] == 0) return false;
    for (int k = 0; k < ndim; k++) {
        int d = order[k];
        if (sizes[d] == 0 || strides[d] < least) return false;
        if (d == 0 && least == strides[1]) return false;
        least = strides[d];
        if (sizes[d] > 1) least = tsr_layout_times(least, sizes[d]);
    }
    return true;
}

/* Dimensions by rising stride, those of size below 2 last; stable. */
static void order_by_stride(int *perm, int ndim, const int64_t *sizes, const int64_t *strides) {
    for (int i = 0; i < ndim; i++) {
        int k = i;
        for (; k > 0; k--) {
            int before = perm[k - 1];
            bool small_i = sizes[i] < 2, small_b = sizes[before] < 2;
            bool earlier = small_i ? false : small_b || strides[i] < strides[before];
            if (!earlier) break;
            perm[k] = before;
        }
        perm[k] = i;
    }
}

bool tsr_layout_is_non_overlapping_and_dense(int ndim, const int64_t *sizes, const int64_t *strides) {
    int perm[TSR_MAX_DIMS];
    int64_t step = 1;
    if (!tsr_layout_is_ndim(ndim)) return false;
    if (any_zero(ndim, sizes)) return true;
    if (ndim == 1) return sizes[0] < 2 || strides[0] == 1;
    order_by_stride(perm, ndim, sizes, strides);
    for (int k = 0; k < ndim; k++) {
        int d = perm[k];
        if (sizes[d] < 2) return true;
        if (strides[d] != step) return false;
        step *= sizes[d];
    }
    return true;
}

/* TsrCompareDims over a TsrGeometry. */
static int compare_dims(const void *user, int inner, int outer) {
    const TsrGeometry *g = user;
    return tsr_layout_compare_dims(g->sizes[inner], g->strides[inner], g->sizes[outer], g->strides[outer]);
}

void tsr_layout_dense_strides_like(int64_t *out, int ndim, const int64_t *sizes, const int64_t *strides) {
    int perm[TSR_MAX_DIMS];
    if (!tsr_layout_is_ndim(ndim)) return;
    for (int i = 0; i < ndim; i++) perm[i] = ndim - 1 - i;
    tsr_layout_order_dims(perm, ndim, compare_dims, &(TsrGeometry){ndim, sizes, strides, 0});
    int64_t step = 1;
    for (int k = 0; k < ndim; k++) {
        out[perm[k]] = step;
        if (sizes[perm[k]] > 1) step = tsr_layout_times(step, sizes[perm[k]]);
    }
}

/* --- broadcasting --- */

TsrStatus tsr_layout_broadcast(int64_t *out, int *out_ndim, const int64_t *b, int b_ndim) {
    int na = *out_ndim, n = TSR_MAX(na, b_ndim);
    int64_t result[TSR_MAX_DIMS];
    TSR_TRY(tsr_layout_check_ndim(na));
    TSR_TRY(tsr_layout_check_ndim(b_ndim));
    for (int i = n - 1; i >= 0; i--) {
        int ia = i - (n - na), ib = i - (n - b_ndim);
        int64_t sa = ia >= 0 ? out[ia] : 1, sb = ib >= 0 ? b[ib] : 1;
        if (TSR_UNLIKELY(sa != sb && sa != 1 && sb != 1)) {
            TsrStatus status = tsr_error(
                TSR_RUNTIME_ERROR,
                "The size of tensor a (%lld) must match the size of tensor b (%lld) at non-singleton dimension %d",
                (long long)sa, (long long)sb, i);
            tsr_error_shapes(na, out, b_ndim, b, i);
            return status;
        }
        result[i] = sa == 1 ? sb : sa;
    }
    memcpy(out, result, (size_t)n * sizeof *out);
    *out_ndim = n;
    return TSR_OK;
}

static TsrStatus expand_mismatch(int64_t wanted_size, int64_t size, int d, int out_ndim, const int64_t *wanted,
                                 TsrGeometry g) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "The expanded size of the tensor (%lld) must match the existing size (%lld) at non-singleton dimension %d.  "
        "Target sizes: %s.  Tensor sizes: %s",
        (long long)wanted_size, (long long)size, d, tsr_layout_text(out_ndim, wanted),
        tsr_layout_text(g.ndim, g.sizes));
}

TsrStatus tsr_layout_expand(int64_t *out_sizes, int64_t *out_strides, int out_ndim, const int64_t *wanted,
                            TsrGeometry g) {
    bool negative = false;
    TSR_TRY(tsr_layout_check_ndim(out_ndim));
    TSR_TRY(tsr_layout_check_ndim(g.ndim));
    if (out_ndim < g.ndim)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "the number of sizes provided (%d) must be greater or equal to the number of dimensions (%d)",
                         out_ndim, g.ndim);
    for (int i = 0; i < out_ndim && g.ndim == 0; i++)
        if (wanted[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    for (int i = out_ndim - 1; i >= 0; i--) {
        int d = i - (out_ndim - g.ndim);
        int64_t size = d >= 0 ? g.sizes[d] : 1, target = wanted[i];
        int64_t stride = d >= 0             ? g.strides[d]
                         : i + 1 < out_ndim ? tsr_layout_times(out_sizes[i + 1], out_strides[i + 1])
                                            : 1;
        if (target == -1) {
            if (d < 0)
                return tsr_error(
                    TSR_RUNTIME_ERROR,
                    "The expanded size of the tensor (%lld) isn't allowed in a leading, non-existing dimension %d",
                    (long long)target, i);
            target = size;
        }
        if (size != target) {
            if (size != 1) return expand_mismatch(target, size, i, out_ndim, wanted, g);
            size = target;
            stride = 0;
        }
        negative |= size < 0;
        out_sizes[i] = size;
        out_strides[i] = g.ndim == 0 ? 0 : stride;
    }
    return negative ? tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow") : TSR_OK;
}

static TsrStatus invalid_shape(int n, const int64_t *wanted, int64_t numel) {
    return tsr_error(TSR_RUNTIME_ERROR, "shape '%s' is invalid for input of size %lld", tsr_layout_text(n, wanted),
                     (long long)numel);
}

/* Strides of a view that has no elements: row-major, sizes of 0 counting as 1. They wrap, as PyTorch's do. */
static void empty_strides(int64_t *strides, int ndim, const int64_t *sizes) {
    for (int i = ndim - 1; i >= 0; i--)
        strides[i] = i == ndim - 1 ? 1 : tsr_layout_times(TSR_MAX(sizes[i + 1], 1), strides[i + 1]);
}

/* The checks of a shape with a size of 0 whose other sizes overflow: PyTorch looks for strides that wrapped to negative
 * ones, then multiplies all sizes without sign, each with an error of its own. */
static TsrStatus check_empty(int ndim, const int64_t *sizes) {
    int64_t strides[TSR_MAX_DIMS];
    uint64_t product = 1;
    empty_strides(strides, ndim, sizes);
    for (int i = 0; i < ndim; i++)
        if (strides[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "Stride calculation overflowed");
    for (int i = 0; i < ndim; i++)
        if (__builtin_mul_overflow(product, (uint64_t)sizes[i], &product))
            return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    return TSR_OK;
}

TsrStatus tsr_layout_infer_size(int64_t *out_sizes, int out_ndim, const int64_t *wanted, int64_t numel) {
    int inferred = -1;
    int64_t product = 1;
    bool zero = false, overflow = false;
    TSR_TRY(tsr_layout_check_ndim(out_ndim));
    for (int i = 0; i < out_ndim; i++) {
        if (wanted[i] == -1) {
            if (inferred >= 0) return tsr_error(TSR_RUNTIME_ERROR, "only one dimension can be inferred");
            inferred = i;
        } else if (wanted[i] < 0) {
            return tsr_error(TSR_RUNTIME_ERROR, "invalid shape dimension %lld at index %d of shape %s",
                             (long long)wanted[i], i, tsr_layout_text(out_ndim, wanted));
        } else if (wanted[i] == 0) {
            zero = true;
        } else if (tsr_mul_overflows(product, wanted[i], &product)) {
            overflow = true;
        }
    }
    if (zero) product = 0;
    else if (overflow) return invalid_shape(out_ndim, wanted, numel);
    bool fits = product == numel || (inferred >= 0 && product > 0 && numel % product == 0);
    if (!fits) return invalid_shape(out_ndim, wanted, numel);
    if (inferred >= 0 && product == 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be any "
            "value and is ambiguous",
            tsr_layout_text(out_ndim, wanted));
    for (int i = 0; i < out_ndim; i++) out_sizes[i] = i == inferred ? numel / product : wanted[i];
    return overflow ? check_empty(out_ndim, wanted) : TSR_OK;
}

/* --- views of another shape --- */

/* ATen's computeStride. Walks the old dimensions from the last: those that lie back to back in memory form one run, and
 * each run is cut into the new sizes. Fails where a run's length is no product of new sizes; *bad is then the run's
 * first old dimension, else -1. */
static bool view_strides(int64_t *new_strides, int new_ndim, const int64_t *new_sizes, TsrGeometry g, int *bad) {
    int v = new_ndim - 1;
    int64_t base = g.strides[g.ndim - 1], run = 1, cut = 1;
    for (int d = g.ndim - 1; d >= 0; d--) {
        run *= g.sizes[d];
        bool ends = d == 0 || (g.sizes[d - 1] != 1 && g.strides[d - 1] != run * base);
        if (!ends) continue;
        while (v >= 0 && (cut < run || new_sizes[v] == 1)) {
            new_strides[v] = cut * base;
            cut *= new_sizes[v];
            v--;
        }
        if (cut != run) {
            *bad = d;
            return false;
        }
        if (d > 0) base = g.strides[d - 1];
        run = cut = 1;
    }
    *bad = -1;
    return v == -1;
}

bool tsr_layout_view_strides(int64_t *new_strides, int new_ndim, const int64_t *new_sizes, TsrGeometry g) {
    int bad;
    if (!tsr_layout_is_ndim(new_ndim) || !tsr_layout_is_ndim(g.ndim)) return false;
    if (g.ndim == 0) {
        for (int i = 0; i < new_ndim; i++) new_strides[i] = 1;
        return true;
    }
    if (any_zero(g.ndim, g.sizes)) {
        if (g.ndim == new_ndim && memcmp(g.sizes, new_sizes, (size_t)g.ndim * sizeof *g.sizes) == 0)
            memcpy(new_strides, g.strides, (size_t)g.ndim * sizeof *g.strides);
        else empty_strides(new_strides, new_ndim, new_sizes);
        return true;
    }
    return view_strides(new_strides, new_ndim, new_sizes, g, &bad);
}

int tsr_layout_unmergeable_dim(int new_ndim, const int64_t *new_sizes, TsrGeometry g) {
    int64_t scratch[TSR_MAX_DIMS];
    int bad;
    if (!tsr_layout_is_ndim(new_ndim) || !tsr_layout_is_ndim(g.ndim)) return -1;
    if (g.ndim == 0 || any_zero(g.ndim, g.sizes)) return -1;
    if (view_strides(scratch, new_ndim, new_sizes, g, &bad) || bad < 1) return -1;
    return bad - 1;
}
