/* view.c: the functions that return views (view.h). Each copies self's geometry into a Shape, changes it, and makes the
 * view with tsr_tensor_new_view; no element is touched, and the new geometry reaches no element that self's did not.
 * Checks, their order and their texts are PyTorch's. */
#include "core/view.h"

#include <stdio.h>
#include <string.h>

#include "inference.h"
#include "tensor_impl.h"

/* The geometry under construction; starts as self's. */
typedef struct Shape {
    int ndim;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], offset;
} Shape;

/* start + count * step. A tensor without elements may have any strides: what 64 bits do not hold wraps, as in PyTorch.
 */
static int64_t moved(int64_t start, int64_t count, int64_t step) {
    return (int64_t)((uint64_t)start + (uint64_t)count * (uint64_t)step);
}

/* Starts *g as t's geometry. */
static void shape_of(Shape *g, const TsrTensor *t) {
    g->ndim = tsr_ndim(t);
    g->offset = t->offset;
    for (int i = 0; i < g->ndim; i++) {
        g->sizes[i] = t->sizes[i];
        g->strides[i] = t->strides[i];
    }
}

/* The view of self with geometry g; `origin` is the operator's name. */
static TsrStatus new_from(TsrTensor **out, const TsrTensor *self, const Shape *g, const char *origin) {
    return tsr_tensor_new_view(out, self, &(TsrGeometry){g->ndim, g->sizes, g->strides, g->offset}, origin);
}

static TsrStatus zero_dim(const char *name) {
    return tsr_error(TSR_INDEX_ERROR, "%s() cannot be applied to a 0-dim tensor.", name);
}

bool tsr_is_same_view(const TsrTensor *a, const TsrTensor *b) {
    size_t bytes = (size_t)tsr_ndim(a) * sizeof *a->sizes;
    if (a == b) return true;
    if (a->storage != b->storage || a->offset != b->offset || tsr_itemsize(a) != tsr_itemsize(b) ||
        tsr_ndim(a) != tsr_ndim(b))
        return false;
    return bytes == 0 || (memcmp(a->sizes, b->sizes, bytes) == 0 && memcmp(a->strides, b->strides, bytes) == 0);
}

bool tsr_overlaps_elsewhere(const TsrTensor *a, const TsrTensor *b) {
    if (a->storage != b->storage || tsr_is_meta(a) || tsr_is_same_view(a, b)) return false;
    TsrFootprint ga = tsr_tensor_footprint(a), gb = tsr_tensor_footprint(b);
    bool known;
    return tsr_layout_overlap(&ga, &gb, NULL, NULL, &known) || !known;
}

TsrStatus tsr_tensor_new_alias(TsrTensor **out, const TsrTensor *self) {
    TsrGeometry g = tsr_tensor_geometry(self);
    return tsr_tensor_new_view(out, self, &g, "alias");
}

TsrStatus tsr_tensor_new_select(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t index) {
    Shape g;
    if (tsr_ndim(self) == 0) return zero_dim("select");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t size = self->sizes[dim];
    if (index < -size || index >= size)
        return tsr_error(TSR_INDEX_ERROR, "select(): index %lld out of range for tensor of size %s at dimension %lld",
                         (long long)index, tsr_layout_text(tsr_ndim(self), self->sizes), (long long)dim);
    shape_of(&g, self);
    g.offset = moved(g.offset, index < 0 ? index + size : index, g.strides[dim]);
    g.ndim--;
    for (int i = (int)dim; i < g.ndim; i++) {
        g.sizes[i] = g.sizes[i + 1];
        g.strides[i] = g.strides[i + 1];
    }
    return new_from(out, self, &g, "select");
}

TsrStatus tsr_tensor_new_narrow(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t length) {
    Shape g;
    if (tsr_ndim(self) == 0) return tsr_error(TSR_RUNTIME_ERROR, "narrow() cannot be applied to a 0-dim tensor.");
    if (length < 0) return tsr_error(TSR_RUNTIME_ERROR, "narrow(): length must be non-negative.");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t size = self->sizes[dim];
    if (start < -size || start > size)
        return tsr_error(TSR_INDEX_ERROR, "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                         (long long)-size, (long long)size, (long long)start);
    if (start < 0) start += size;
    if (start > size - length)
        return tsr_error(TSR_RUNTIME_ERROR, "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                         (long long)start, (long long)length, (long long)size);
    shape_of(&g, self);
    g.sizes[dim] = length;
    g.offset = moved(g.offset, start, g.strides[dim]);
    return new_from(out, self, &g, "narrow");
}

/* The stride of a step that goes past int64, over one element at most, comes round as PyTorch's does. */
static TsrStatus check_wrapped_stride(const Shape *g, int64_t dim) {
    TSR_TRY(tsr_layout_check_symbolic(1, &g->strides[dim]));
    return g->strides[dim] < 0 ? tsr_refuse_negative_strides(g->ndim, g->strides) : TSR_OK;
}

TsrStatus tsr_tensor_new_slice(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t start, int64_t end,
                               int64_t step) {
    Shape g;
    if (tsr_ndim(self) == 0) return tsr_error(TSR_RUNTIME_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    if (step <= 0) return tsr_error(TSR_RUNTIME_ERROR, "slice step must be positive");
    int64_t size = self->sizes[dim];
    if (start < 0) start += size;
    if (end < 0) end += size;
    start = start < 0 ? 0 : TSR_MIN(start, size);
    end = end < start ? start : TSR_MIN(end, size);
    shape_of(&g, self);
    g.offset = moved(g.offset, start, g.strides[dim]);
    g.sizes[dim] = (end - start) / step + ((end - start) % step != 0);
    if (tsr_mul_overflows(g.strides[dim], step, &g.strides[dim])) TSR_TRY(check_wrapped_stride(&g, dim));
    return new_from(out, self, &g, "slice");
}

TsrStatus tsr_tensor_new_transpose(TsrTensor **out, const TsrTensor *self, int64_t dim0, int64_t dim1) {
    Shape g;
    TSR_TRY(tsr_wrap_dim(&dim0, tsr_ndim(self)));
    TSR_TRY(tsr_wrap_dim(&dim1, tsr_ndim(self)));
    shape_of(&g, self);
    if (dim0 != dim1) {
        g.sizes[dim0] = self->sizes[dim1];
        g.sizes[dim1] = self->sizes[dim0];
        g.strides[dim0] = self->strides[dim1];
        g.strides[dim1] = self->strides[dim0];
    }
    return new_from(out, self, &g, "transpose");
}

TsrStatus tsr_tensor_new_permute(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims) {
    Shape g;
    bool seen[TSR_MAX_DIMS] = {false};
    if (n != tsr_ndim(self))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            "ordering of "
            "dimensions i.e. input.dim() = %d is not equal to len(dims) = %d",
            tsr_ndim(self), n);
    g.ndim = n;
    g.offset = self->offset;
    for (int i = 0; i < n; i++) {
        int64_t d = dims[i];
        TSR_TRY(tsr_wrap_dim(&d, n));
        if (seen[d]) return tsr_error(TSR_RUNTIME_ERROR, "permute(): duplicate dims are not allowed.");
        seen[d] = true;
        g.sizes[i] = self->sizes[d];
        g.strides[i] = self->strides[d];
    }
    return new_from(out, self, &g, "permute");
}

TsrStatus tsr_tensor_new_unsqueeze(TsrTensor **out, const TsrTensor *self, int64_t dim) {
    Shape g;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self) + 1));
    if (tsr_ndim(self) == TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", TSR_MAX_DIMS + 1, TSR_MAX_DIMS);
    shape_of(&g, self);
    int64_t stride = dim < g.ndim ? moved(0, g.sizes[dim], g.strides[dim]) : 1;
    for (int i = g.ndim; i > dim; i--) {
        g.sizes[i] = g.sizes[i - 1];
        g.strides[i] = g.strides[i - 1];
    }
    g.ndim++;
    g.sizes[dim] = 1;
    g.strides[dim] = stride;
    return new_from(out, self, &g, "unsqueeze");
}

TsrStatus tsr_tensor_new_squeeze(TsrTensor **out, const TsrTensor *self, int n, const int64_t *dims) {
    Shape g = {.offset = self->offset};
    bool named[TSR_MAX_DIMS] = {false};
    if (n < -1) return tsr_layout_check_ndim(n);
    for (int i = 0; i < n; i++) {
        int64_t d = dims[i];
        TSR_TRY(tsr_wrap_dim(&d, tsr_ndim(self)));
        if (named[d])
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)d);
        named[d] = true;
    }
    for (int i = 0; i < tsr_ndim(self); i++) {
        if ((n < 0 || named[i]) && self->sizes[i] == 1) continue;
        g.sizes[g.ndim] = self->sizes[i];
        g.strides[g.ndim++] = self->strides[i];
    }
    return new_from(out, self, &g, "squeeze");
}

const char *tsr_old_type_text(char *out, size_t room, const TsrTensor *t) {
    static const TsrDtype old[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_UINT8,
                                   TSR_INT8,    TSR_INT16,   TSR_INT32,   TSR_INT64};
    const char *name = tsr_dtype_scalar_name(t->dtype);
    for (size_t i = 0; i < TSR_COUNTOF(old) && t->device.type == TSR_CPU; i++) {
        if (old[i] != t->dtype) continue;
        snprintf(out, room, "torch.%sTensor", name);
        return out;
    }
    snprintf(out, room, "%s%sType",
             t->device.type == TSR_CPU    ? "CPU"
             : t->device.type == TSR_META ? "Meta"
                                          : "CUDA",
             name);
    return out;
}

static TsrStatus too_few_sizes(const TsrTensor *self, int ndim, const int64_t *sizes) {
    char type[64];
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "expand(%s{%s}, size=%s): the number of sizes provided (%d) must be greater or equal to the number of "
        "dimensions in "
        "the tensor (%d)",
        tsr_old_type_text(type, sizeof type, self), tsr_layout_text(tsr_ndim(self), self->sizes),
        tsr_layout_text(ndim, sizes), ndim, tsr_ndim(self));
}

TsrStatus tsr_tensor_new_expand(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes) {
    Shape g = {.ndim = ndim, .offset = self->offset};
    int64_t numel;
    if (ndim < tsr_ndim(self)) return too_few_sizes(self, ndim, sizes);
    TSR_TRY(tsr_layout_check_ndim(ndim));
    TSR_TRY(tsr_layout_expand(g.sizes, g.strides, ndim, sizes, tsr_tensor_geometry(self)));
    TSR_TRY(tsr_layout_numel_there(&numel, ndim, g.sizes));
    return new_from(out, self, &g, "expand");
}

TsrStatus tsr_tensor_new_reshaped_view(TsrTensor **out, const TsrTensor *self, int ndim, const int64_t *sizes) {
    Shape g = {.ndim = ndim, .offset = self->offset};
    TSR_TRY(tsr_layout_check_ndim(ndim));
    TSR_TRY(tsr_layout_infer_size(g.sizes, ndim, sizes, self->numel));
    if (!tsr_layout_view_strides(g.strides, ndim, g.sizes, tsr_tensor_geometry(self)))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead.");
    return new_from(out, self, &g, "view");
}

/* --- another dtype --- */

static TsrStatus indivisible(const char *what, int64_t ratio, const TsrTensor *self, TsrDtype dtype, int64_t got) {
    return tsr_error(
        TSR_RUNTIME_ERROR, "self.%s must be divisible by %lld to view %s as %s (different element sizes), but got %lld",
        what, (long long)ratio, tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(dtype), (long long)got);
}

static TsrStatus check_last_stride(const TsrTensor *self, TsrDtype dtype) {
    int64_t last = self->strides[tsr_ndim(self) - 1];
    if (last == 1) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %lld",
                     tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(dtype), (long long)last);
}

/* Smaller elements: each splits into `ratio`. */
static TsrStatus split_elements(Shape *g, const TsrTensor *self, TsrDtype dtype, int64_t ratio) {
    TSR_TRY(check_last_stride(self, dtype));
    for (int i = 0; i + 1 < g->ndim; i++) g->strides[i] = moved(0, ratio, g->strides[i]);
    g->sizes[g->ndim - 1] = moved(0, ratio, g->sizes[g->ndim - 1]);
    g->offset = moved(0, ratio, g->offset);
    return TSR_OK;
}

/* Larger elements: `ratio` of them join into one, so the last dimension, the other strides and the offset must divide.
 */
static TsrStatus join_elements(Shape *g, const TsrTensor *self, TsrDtype dtype, int64_t ratio) {
    int last = g->ndim - 1;
    if (g->sizes[last] % ratio != 0) return indivisible("size(-1)", ratio, self, dtype, g->sizes[last]);
    if (g->offset % ratio != 0) return indivisible("storage_offset()", ratio, self, dtype, g->offset);
    TSR_TRY(check_last_stride(self, dtype));
    for (int i = 0; i < last; i++) {
        if (g->strides[i] % ratio != 0) {
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "self.stride(%d) must be divisible by %lld to view %s as %s (different element sizes), but got %lld", i,
                (long long)ratio, tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(dtype),
                (long long)g->strides[i]);
        }
        g->strides[i] /= ratio;
    }
    g->sizes[last] /= ratio;
    g->offset /= ratio;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_view_dtype(TsrTensor **out, const TsrTensor *self, TsrDtype dtype) {
    Shape g;
    TsrTensor *t = NULL;
    int64_t from = (int64_t)tsr_itemsize(self), to = (int64_t)tsr_dtype_size(dtype);
    TSR_TRY(tsr_dtype_check(dtype));
    if (!tsr_dtype_is_pod(dtype) || !tsr_dtype_is_pod(self->dtype)) {
        if (dtype != self->dtype)
            return tsr_error(TSR_RUNTIME_ERROR, "a tensor of %s elements cannot be viewed as %s",
                             tsr_dtype_name(self->dtype), tsr_dtype_name(dtype));
    }
    if (self->flags & TSR_FLAG_CONJ)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.");
    if (self->flags & TSR_FLAG_NEG)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.Tensor.view is not supported for tensors with negative bit set when converting to a different "
            "dtype.");
    shape_of(&g, self);
    if (from != to && g.ndim == 0)
        return tsr_error(TSR_RUNTIME_ERROR, "self.dim() cannot be 0 to view %s as %s (different element sizes)",
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(dtype));
    if (from > to) TSR_TRY(split_elements(&g, self, dtype, from / to));
    if (from < to) TSR_TRY(join_elements(&g, self, dtype, to / from));
    TSR_TRY(new_from(&t, self, &g, "view"));
    t->dtype = dtype;
    tsr_tensor_unlink_base(t); /* no differentiable view in PyTorch's eyes: `_base` is None, and its mode is today's */
    TsrStatus status = tsr_tensor_follow_mode(t);
    if (status == TSR_OK) *out = t;
    else tsr_tensor_free(t);
    return status;
}

/* --- windows --- */

TsrStatus tsr_tensor_new_diagonal(TsrTensor **out, const TsrTensor *self, int64_t offset, int64_t dim1, int64_t dim2) {
    Shape g = {.offset = self->offset};
    int64_t given1 = dim1, given2 = dim2;
    TSR_TRY(tsr_wrap_dim(&dim1, tsr_ndim(self)));
    TSR_TRY(tsr_wrap_dim(&dim2, tsr_ndim(self)));
    if (dim1 == dim2)
        return tsr_error(TSR_RUNTIME_ERROR, "diagonal dimensions cannot be identical %lld, %lld", (long long)given1,
                         (long long)given2);
    int64_t s1 = self->sizes[dim1], s2 = self->sizes[dim2];
    int64_t length =
        offset >= 0 ? TSR_MIN(s1, offset > s2 ? 0 : s2 - offset) : TSR_MIN(offset < -s1 ? 0 : s1 + offset, s2);
    if (length < 0) length = 0;
    if (length > 0)
        g.offset =
            offset >= 0 ? moved(g.offset, offset, self->strides[dim2]) : moved(g.offset, -offset, self->strides[dim1]);
    for (int i = 0; i < tsr_ndim(self); i++) {
        if (i == dim1 || i == dim2) continue;
        g.sizes[g.ndim] = self->sizes[i];
        g.strides[g.ndim++] = self->strides[i];
    }
    g.sizes[g.ndim] = length;
    g.strides[g.ndim++] = moved(self->strides[dim1], 1, self->strides[dim2]);
    return new_from(out, self, &g, "diagonal");
}

TsrStatus tsr_tensor_new_unfold(TsrTensor **out, const TsrTensor *self, int64_t dim, int64_t size, int64_t step) {
    Shape g;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    shape_of(&g, self);
    int64_t most = g.ndim == 0 ? 1 : g.sizes[dim], stride = g.ndim == 0 ? 1 : g.strides[dim];
    if (size < 0) return tsr_error(TSR_RUNTIME_ERROR, "size is %lld but must be >= 0", (long long)size);
    if (size > most)
        return tsr_error(TSR_RUNTIME_ERROR, "maximum size for tensor at dimension %lld is %lld but size is %lld",
                         (long long)dim, (long long)most, (long long)size);
    if (step <= 0) return tsr_error(TSR_RUNTIME_ERROR, "step is %lld but must be > 0", (long long)step);
    if (g.ndim == TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", TSR_MAX_DIMS + 1, TSR_MAX_DIMS);
    if (g.ndim > 0) {
        g.sizes[dim] = (most - size) / step + 1;
        if (tsr_mul_overflows(stride, step, &g.strides[dim])) g.strides[dim] = INT64_MAX;
    }
    g.sizes[g.ndim] = size;
    g.strides[g.ndim++] = stride;
    return new_from(out, self, &g, "unfold");
}

TsrStatus tsr_tensor_new_as_strided(TsrTensor **out, const TsrTensor *self, TsrGeometry g) {
    TsrTensor *checked = NULL;
    TSR_TRY(tsr_tensor_new_over(&checked, self->storage, g, self->dtype));
    tsr_tensor_free(checked);
    return tsr_tensor_new_view(out, self, &g, "as_strided");
}

/* --- complex numbers --- */

/* Real or imaginary parts: strides double, as each complex element is two real ones. */
static TsrStatus new_part(TsrTensor **out, const TsrTensor *self, bool imaginary, const char *origin) {
    Shape g;
    TsrTensor *t = NULL;
    shape_of(&g, self);
    for (int i = 0; i < g.ndim; i++) g.strides[i] = moved(0, 2, g.strides[i]);
    g.offset = moved(imaginary ? 1 : 0, 2, g.offset);
    TSR_TRY(new_from(&t, self, &g, origin));
    t->dtype = tsr_dtype_real_of(self->dtype);
    bool conj = self->flags & TSR_FLAG_CONJ, neg = self->flags & TSR_FLAG_NEG;
    t->flags &= (uint8_t) ~(TSR_FLAG_CONJ | TSR_FLAG_NEG);
    if (neg != (imaginary && conj)) t->flags |= TSR_FLAG_NEG;
    *out = t;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_real(TsrTensor **out, const TsrTensor *self) {
    if (tsr_dtype_is_complex(self->dtype)) return new_part(out, self, false, "real");
    *out = tsr_tensor_retain((TsrTensor *)self);
    return TSR_OK;
}

TsrStatus tsr_tensor_new_imag(TsrTensor **out, const TsrTensor *self) {
    if (!tsr_dtype_is_complex(self->dtype))
        return tsr_error(TSR_TYPE_ERROR, "imag is not implemented for tensors with non-complex dtypes.");
    return new_part(out, self, true, "imag");
}

TsrStatus tsr_tensor_new_conj(TsrTensor **out, const TsrTensor *self) {
    TsrTensor *t = NULL;
    if (!tsr_dtype_is_complex(self->dtype)) {
        *out = tsr_tensor_retain((TsrTensor *)self);
        return TSR_OK;
    }
    TsrGeometry g = tsr_tensor_geometry(self);
    TSR_TRY(tsr_tensor_new_view(&t, self, &g, "conj"));
    t->flags ^= TSR_FLAG_CONJ;
    *out = t;
    return TSR_OK;
}
