/* view.c: view operators: O(1), the same storage under another geometry.
 *
 * Each `make_` yields the view by a function of core/tensor/view.c; from it a macro makes the plain form, the in-place
 * form (which takes over the geometry) and NAME_copy (which clones the view). NAME_scatter copies self and overwrites
 * the same view of the copy: it calls the same `make_` with the source left out. */
#include <string.h>

#include "core/backend.h"
#include "core/op/shared.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"
#include "core/ops/reduce/reduce.h"
#include "core/tensor/tensor_impl.h"

typedef TsrStatus (*Maker)(TsrOpCall *c, TsrTensor **out);

static TsrStatus run_view(TsrOpCall *c, Maker make) {
    TsrTensor *t = NULL;
    TsrStatus status = make(c, &t);
    return tsr_finish_move(c, status, t);
}

static TsrStatus run_inplace(TsrOpCall *c, Maker make) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    TSR_TRY(make(c, &t));
    TsrStatus status = TSR_OK;
    if (t != self) status = tsr_tensor_set_geometry(self, tsr_tensor_geometry(t));
    tsr_tensor_free(t);
    return status != TSR_OK ? status : tsr_return_move(c, tsr_tensor_retain(self));
}

static TsrStatus run_copy(TsrOpCall *c, Maker make) {
    TsrTensor *copy = NULL;
    TSR_OWNED t = NULL;
    TSR_TRY(make(c, &t));
    return tsr_finish_move(c, tsr_tensor_new_clone(&copy, t, TSR_CONTIGUOUS), copy);
}

/* A copy need not be a view of the conjugate: that of the numbers themselves. */
static TsrStatus run_copy_resolved(TsrOpCall *c, Maker make) {
    TSR_OWNED plain = NULL;
    TsrTensor *given = c->arg[0].t;
    TSR_TRY(tsr_tensor_new_resolved(&plain, given));
    c->arg[0].t = plain;
    TsrStatus status = run_copy(c, make);
    c->arg[0].t = given;
    return status;
}

#define VIEW(name) \
    TsrStatus op_##name(TsrOpCall *c) { return run_view(c, make_##name); }
#define INPLACE(name) \
    TsrStatus op_##name##_inplace(TsrOpCall *c) { return run_inplace(c, make_##name); }
#define COPY(name) \
    TsrStatus op_##name##_copy(TsrOpCall *c) { return run_copy(c, make_##name); }

#define SELF (c->arg[0].t)

static TsrStatus renamed(TsrStatus status, TsrTensor **out, const char *origin) {
    if (status == TSR_OK && (*out)->base != NULL) (*out)->origin = origin;
    return status;
}

/* --- shapes --- */

/* A reshape that had to copy is a tensor of its own. */
static TsrStatus own_if_copied(TsrStatus status, TsrTensor *const *t, const TsrTensor *self) {
    if (status == TSR_OK && (*t)->storage != self->storage) tsr_tensor_unlink_base(*t);
    return status;
}

static TsrStatus make_view_size(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_reshaped_view(out, SELF, c->arg[1].n, c->arg[1].ints);
}
static TsrStatus make_view_dtype(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_view_dtype(out, SELF, c->arg[1].dtype);
}
static TsrStatus make_view_as(TsrOpCall *c, TsrTensor **out) {
    const TsrTensor *other = c->arg[1].t;
    return renamed(tsr_tensor_new_reshaped_view(out, SELF, tsr_ndim(other), other->sizes), out, "view_as");
}
static TsrStatus make_reshape(TsrOpCall *c, TsrTensor **out) {
    return renamed(tsr_tensor_new_reshape(out, SELF, c->arg[1].n, c->arg[1].ints), out, "reshape");
}
static TsrStatus make_reshape_as(TsrOpCall *c, TsrTensor **out) {
    const TsrTensor *other = c->arg[1].t;
    TSR_TRY(own_if_copied(tsr_tensor_new_reshape(out, SELF, tsr_ndim(other), other->sizes), out, SELF));
    if ((*out)->base != NULL) (*out)->origin = "reshape_as";
    return TSR_OK;
}
static TsrStatus make_expand(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_expand(out, SELF, c->arg[1].n, c->arg[1].ints);
}
static TsrStatus make_broadcast_to(TsrOpCall *c, TsrTensor **out) {
    return renamed(make_expand(c, out), out, "broadcast_to");
}
static TsrStatus make_expand_as(TsrOpCall *c, TsrTensor **out) {
    const TsrTensor *other = c->arg[1].t;
    return renamed(tsr_tensor_new_expand(out, SELF, tsr_ndim(other), other->sizes), out, "expand_as");
}

VIEW(view_size)
VIEW(view_dtype)
TsrStatus op_view_dtype_copy(TsrOpCall *c) { return run_copy_resolved(c, make_view_dtype); }

TsrStatus op_view_size_copy(TsrOpCall *c) {
    TsrTensor *copy = NULL;
    TSR_OWNED t = NULL;
    TSR_TRY(make_reshape(c, &t));
    return tsr_finish_move(c, tsr_tensor_new_clone(&copy, t, TSR_CONTIGUOUS), copy);
}

VIEW(view_as)
VIEW(reshape_as)
VIEW(expand)
COPY(expand)
VIEW(expand_as)
VIEW(broadcast_to)

TsrStatus op_reshape(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrStatus status = own_if_copied(make_reshape(c, &t), &t, SELF);
    return tsr_finish_move(c, status, t);
}

static TsrStatus make_flatten(TsrOpCall *c, TsrTensor **out) {
    int64_t start = c->arg[1].i, end = c->arg[2].i, shape[TSR_MAX_DIMS], one = 1;
    int ndim = tsr_ndim(SELF), n = 0;
    TSR_TRY(tsr_wrap_dim(&start, ndim));
    TSR_TRY(tsr_wrap_dim(&end, ndim));
    if (start > end)
        return tsr_error(TSR_RUNTIME_ERROR, "flatten() has invalid args: start_dim cannot come after end_dim");
    if (ndim == 0) return tsr_tensor_new_reshape(out, SELF, 1, &one);
    if (start == end) {
        *out = tsr_tensor_retain(SELF);
        return TSR_OK;
    }
    for (int i = 0; i < ndim; i++) {
        if (i > start && i <= end) shape[n - 1] *= SELF->sizes[i];
        else shape[n++] = SELF->sizes[i];
    }
    return tsr_tensor_new_reshape(out, SELF, n, shape);
}

TsrStatus op_flatten(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TsrStatus status = own_if_copied(make_flatten(c, &t), &t, SELF);
    if (status == TSR_OK && t != SELF) t->origin = "flatten";
    return tsr_finish_move(c, status, t);
}

TsrStatus op_ravel(TsrOpCall *c) {
    TsrTensor *whole = NULL, *t = NULL;
    int64_t all = -1;
    if (SELF->numel == 0) all = 0;
    TSR_TRY(tsr_tensor_new_contiguous(&whole, SELF, TSR_CONTIGUOUS));
    TsrStatus status = tsr_tensor_new_reshaped_view(&t, whole, 1, &all); /* of the copy, where one was made */
    tsr_tensor_free(whole);
    if (status == TSR_OK) t->origin = "ravel";
    return tsr_finish_move(c, status, t);
}

static TsrStatus unflatten_mismatch(TsrOpCall *c, int64_t dim) {
    const TsrArg *sizes = &c->arg[2];
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "unflatten: Provided sizes %s don't multiply up to the size of dim %lld (%lld) in the input tensor",
        tsr_layout_text(sizes->n, sizes->ints), (long long)dim, (long long)SELF->sizes[dim]);
}

static TsrStatus make_unflatten(TsrOpCall *c, TsrTensor **out) {
    int64_t dim = c->arg[1].i, part[TSR_MAX_DIMS], shape[2 * TSR_MAX_DIMS];
    int n = c->arg[2].n, ndim = tsr_ndim(SELF), k = 0;
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "unflatten: sizes must be non-empty");
    TSR_TRY(tsr_wrap_dim(&dim, ndim));
    if (ndim == 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "unflatten got an unexpected error:\nDimension specified as %lld but tensor has no dimensions",
                         (long long)dim);
    if (n > TSR_MAX_DIMS || n + ndim - 1 > TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", n + ndim - 1, TSR_MAX_DIMS);
    if (tsr_layout_infer_size(part, n, c->arg[2].ints, SELF->sizes[dim]) != TSR_OK) {
        char text[600];
        if (strstr(tsr_error_message(), "is invalid for input") != NULL) return unflatten_mismatch(c, dim);
        strncpy(text, tsr_error_message(), sizeof text - 1);
        text[sizeof text - 1] = '\0';
        return tsr_error(TSR_RUNTIME_ERROR, "unflatten got an unexpected error:\n%s", text);
    }
    for (int i = 0; i < ndim; i++) {
        if (i != dim) shape[k++] = SELF->sizes[i];
        for (int j = 0; i == dim && j < n; j++) shape[k++] = part[j];
    }
    return renamed(tsr_tensor_new_reshaped_view(out, SELF, k, shape), out, "unflatten");
}
VIEW(unflatten)

/* --- orders of dimensions --- */

static TsrStatus make_transpose(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_transpose(out, SELF, c->arg[1].i, c->arg[2].i);
}
static TsrStatus make_permute(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_permute(out, SELF, c->arg[1].n, c->arg[1].ints);
}

static TsrStatus make_t(TsrOpCall *c, TsrTensor **out) {
    int ndim = tsr_ndim(SELF);
    if (ndim > 2)
        return tsr_error(TSR_RUNTIME_ERROR, "%s() expects a tensor with <= 2 dimensions, but self is %dD",
                         c->schema->base[1] == '_' && c->schema->base[2] == '\0' ? "t_" : "t", ndim);
    return renamed(tsr_tensor_new_transpose(out, SELF, 0, ndim < 2 ? 0 : 1), out, "t");
}

VIEW(transpose)
INPLACE(transpose)
COPY(transpose)
VIEW(permute)
COPY(permute)
VIEW(t)
INPLACE(t)
COPY(t)

static TsrStatus make_T(TsrOpCall *c, TsrTensor **out) {
    int64_t dims[TSR_MAX_DIMS];
    int ndim = tsr_ndim(SELF);
    for (int i = 0; i < ndim; i++) dims[i] = ndim - 1 - i;
    return renamed(tsr_tensor_new_permute(out, SELF, ndim, dims), out, "T");
}
VIEW(T)

/* The last two dimensions swapped, conjugated when asked; a 0-d tensor stays as it is. */
static TsrStatus matrix_transpose(TsrTensor **out, TsrTensor *self, bool conjugate, const char *origin) {
    TsrTensor *t = NULL;
    if (tsr_ndim(self) == 0 && !conjugate) {
        *out = tsr_tensor_retain(self);
        return TSR_OK;
    }
    if (tsr_ndim(self) == 0) return renamed(tsr_tensor_new_conj(out, self), out, origin);
    TSR_TRY(tsr_tensor_new_transpose(&t, self, -2, -1));
    if (conjugate && tsr_dtype_is_complex(self->dtype)) t->flags ^= TSR_FLAG_CONJ;
    t->origin = origin;
    *out = t;
    return TSR_OK;
}

static TsrStatus one_dim(const char *what) {
    return tsr_error(TSR_RUNTIME_ERROR,
                     "tensor.%s is only supported on matrices or batches of matrices. Got 1-D tensor.", what);
}

static TsrStatus make_mT(TsrOpCall *c, TsrTensor **out) {
    return tsr_ndim(SELF) == 1 ? one_dim("mT") : matrix_transpose(out, SELF, false, "mT");
}
static TsrStatus make_mH(TsrOpCall *c, TsrTensor **out) {
    return tsr_ndim(SELF) == 1 ? one_dim("mH") : matrix_transpose(out, SELF, true, "mH");
}
static TsrStatus make_adjoint(TsrOpCall *c, TsrTensor **out) {
    return tsr_ndim(SELF) == 1 ? one_dim("adjoint()") : matrix_transpose(out, SELF, true, "adjoint");
}

static TsrStatus make_H(TsrOpCall *c, TsrTensor **out) {
    int ndim = tsr_ndim(SELF);
    if (ndim != 0 && ndim != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.%s",
                         ndim, ndim > 2 ? " For batches of matrices, consider using tensor.mH" : "");
    return matrix_transpose(out, SELF, true, "H");
}
VIEW(mT)
VIEW(mH)
VIEW(H)
VIEW(adjoint)

static TsrStatus wrap_dims(int64_t *out, const TsrArg *dims, int ndim) {
    for (int i = 0; i < dims->n; i++) {
        out[i] = dims->ints[i];
        TSR_TRY(tsr_wrap_dim(&out[i], ndim));
    }
    return TSR_OK;
}

static bool repeats(const int64_t *dims, int n) {
    for (int i = 0; i < n; i++)
        for (int k = i + 1; k < n; k++)
            if (dims[i] == dims[k]) return true;
    return false;
}

static TsrStatus check_movedim(const TsrArg *source, const TsrArg *destination) {
    if (source->n == destination->n && source->n <= TSR_MAX_DIMS) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "movedim: Invalid source or destination dims: source (%s dims) should contain the same number of dims as "
        "destination (%s dims)",
        tsr_layout_text(source->n, source->ints), tsr_layout_text(destination->n, destination->ints));
}

static TsrStatus movedim(TsrTensor **out, TsrTensor *self, const TsrArg *source, const TsrArg *destination) {
    int64_t from[TSR_MAX_DIMS], to[TSR_MAX_DIMS], order[TSR_MAX_DIMS];
    bool used[TSR_MAX_DIMS] = {false};
    int n = source->n, ndim = tsr_ndim(self);
    TSR_TRY(check_movedim(source, destination));
    TSR_TRY(wrap_dims(from, source, ndim));
    TSR_TRY(wrap_dims(to, destination, ndim));
    if (repeats(from, n))
        return tsr_error(TSR_RUNTIME_ERROR, "movedim: repeated dim in `source` (%s)", tsr_layout_text(n, source->ints));
    if (repeats(to, n))
        return tsr_error(TSR_RUNTIME_ERROR, "movedim: repeated dim in `destination` (%s)",
                         tsr_layout_text(n, destination->ints));
    if (ndim == 0) return tsr_tensor_new_alias(out, self);
    for (int i = 0; i < ndim; i++) order[i] = -1;
    for (int i = 0; i < n; i++) {
        order[to[i]] = from[i];
        used[from[i]] = true;
    }
    for (int i = 0, next = 0; i < ndim; i++) {
        if (order[i] >= 0) continue;
        while (used[next]) next++;
        order[i] = next++;
    }
    return tsr_tensor_new_permute(out, self, ndim, order);
}

static TsrStatus make_movedim(TsrOpCall *c, TsrTensor **out) {
    return renamed(movedim(out, SELF, &c->arg[1], &c->arg[2]), out, "movedim");
}
static TsrStatus make_movedim_int(TsrOpCall *c, TsrTensor **out) {
    TsrArg source = {.kind = TSR_ARG_INTS, .n = 1, .ints = &c->arg[1].i},
           destination = {.kind = TSR_ARG_INTS, .n = 1, .ints = &c->arg[2].i};
    return renamed(movedim(out, SELF, &source, &destination), out, "movedim");
}
VIEW(movedim)
VIEW(movedim_int)

static TsrStatus make_unsqueeze(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_unsqueeze(out, SELF, c->arg[1].i);
}
static TsrStatus make_squeeze(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_squeeze(out, SELF, -1, NULL); }
static TsrStatus make_squeeze_dim(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_squeeze(out, SELF, 1, &c->arg[1].i);
}
static TsrStatus make_squeeze_dims(TsrOpCall *c, TsrTensor **out) {
    TSR_TRY(tsr_check_dim_set(tsr_ndim(SELF)));
    return tsr_tensor_new_squeeze(out, SELF, c->arg[1].n, c->arg[1].ints);
}
VIEW(unsqueeze)
INPLACE(unsqueeze)
COPY(unsqueeze)
VIEW(squeeze)
INPLACE(squeeze)
COPY(squeeze)
VIEW(squeeze_dim)
INPLACE(squeeze_dim)
COPY(squeeze_dim)
VIEW(squeeze_dims)
INPLACE(squeeze_dims)
COPY(squeeze_dims)

/* --- parts --- */

static TsrStatus make_select(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_select(out, SELF, c->arg[1].i, c->arg[2].i);
}
static TsrStatus make_narrow(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_narrow(out, SELF, c->arg[1].i, c->arg[2].i, c->arg[3].i);
}

static TsrStatus make_narrow_tensor(TsrOpCall *c, TsrTensor **out) {
    const TsrTensor *start = c->arg[2].t;
    TsrScalar s;
    if (tsr_ndim(start) != 0 || !tsr_dtype_is_integral(start->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "start must be an 0-dim integral Tensor.");
    TSR_TRY(tsr_tensor_item(&s, start));
    return tsr_tensor_new_narrow(out, SELF, c->arg[1].i, tsr_scalar_to_int(s), c->arg[3].i);
}

static TsrStatus make_slice(TsrOpCall *c, TsrTensor **out) {
    int64_t start = tsr_arg_given(&c->arg[2]) ? c->arg[2].i : 0,
            end = tsr_arg_given(&c->arg[3]) ? c->arg[3].i : INT64_MAX;
    if (tsr_ndim(SELF) == 0) return tsr_error(TSR_INDEX_ERROR, "slice() cannot be applied to a 0-dim tensor.");
    return tsr_tensor_new_slice(out, SELF, c->arg[1].i, start, end, c->arg[4].i);
}

static TsrStatus make_diagonal(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_diagonal(out, SELF, c->arg[1].i, c->arg[2].i, c->arg[3].i);
}
static TsrStatus make_unfold(TsrOpCall *c, TsrTensor **out) {
    return tsr_tensor_new_unfold(out, SELF, c->arg[1].i, c->arg[2].i, c->arg[3].i);
}

static TsrStatus as_strided(TsrTensor **out, const TsrTensor *self, const TsrArg *size, const TsrArg *stride,
                            const TsrArg *offset) {
    if (size->n != stride->n) return tsr_error(TSR_RUNTIME_ERROR, "mismatch in length of strides and shape");
    return tsr_tensor_new_as_strided(
        out, self, (TsrGeometry){size->n, size->ints, stride->ints, tsr_arg_given(offset) ? offset->i : self->offset});
}

/* as_strided_ counts elements before it looks at the storage. */
static TsrStatus check_countable(const TsrArg *size, const TsrArg *stride, const TsrArg *offset) {
    bool negative = false, allowed = size->n == stride->n && !(tsr_arg_given(offset) && offset->i < 0);
    for (int i = 0; i < size->n; i++) negative |= size->ints[i] < 0;
    for (int i = 0; i < stride->n; i++) allowed &= stride->ints[i] >= 0;
    return negative && allowed ? tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow") : TSR_OK;
}

static TsrStatus make_as_strided(TsrOpCall *c, TsrTensor **out) {
    return as_strided(out, SELF, &c->arg[1], &c->arg[2], &c->arg[3]);
}

TsrStatus op_as_strided_inplace(TsrOpCall *c) {
    TSR_TRY(check_countable(&c->arg[1], &c->arg[2], &c->arg[3]));
    return run_inplace(c, make_as_strided);
}
VIEW(select)
COPY(select)
VIEW(narrow)
VIEW(narrow_tensor)
COPY(slice)
VIEW(diagonal)
COPY(diagonal)
VIEW(unfold)
COPY(unfold)
VIEW(as_strided)
TsrStatus op_as_strided_copy(TsrOpCall *c) {
    bool lazy = (SELF->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) != 0;
    return (c->out[0] != NULL || lazy ? run_copy_resolved : run_copy)(c, make_as_strided);
}

TsrStatus op_narrow_copy(TsrOpCall *c) {
    int64_t dim = c->arg[1].i, start = c->arg[2].i, length = c->arg[3].i;
    int ndim = tsr_ndim(SELF);
    if (ndim == 0) return run_copy(c, make_narrow);
    if (dim >= ndim) return tsr_untrue("dim < static_cast<int64_t>(self_sizes.size())");
    TSR_TRY(tsr_wrap_dim(&dim, ndim));
    int64_t size = SELF->sizes[dim];
    if (length >= 0 || start < -size || start > size) {
        if (length < 0) c->arg[3].i = 0; /* so that the start is what is complained of */
        return run_copy(c, make_narrow);
    }
    return tsr_error(TSR_RUNTIME_ERROR, "start (%lld) + length (%lld) exceeds dimension size (%lld).",
                     (long long)(start < 0 ? start + size : start), (long long)length, (long long)size);
}

/* --- complex numbers --- */

static TsrStatus make_real(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_real(out, SELF); }
static TsrStatus make_imag(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_imag(out, SELF); }
static TsrStatus make_conj(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_conj(out, SELF); }

static TsrStatus make_view_as_real(TsrOpCall *c, TsrTensor **out) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int n = tsr_ndim(SELF);
    if (!tsr_dtype_is_complex(SELF->dtype))
        return tsr_error(TSR_TYPE_ERROR, "view_as_real is only supported for complex tensors");
    if (SELF->flags & TSR_FLAG_CONJ)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "view_as_real doesn't work on unresolved conjugated tensors.  To resolve the conjugate tensor so you can "
            "view it as "
            "real, use self.resolve_conj(); however, be warned that the resulting tensor will NOT alias the original.");
    if (n == TSR_MAX_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d, the most is %d", n + 1, TSR_MAX_DIMS);
    for (int i = 0; i < n; i++) {
        sizes[i] = SELF->sizes[i];
        strides[i] = (int64_t)(2 * (uint64_t)SELF->strides[i]); /* without elements they may be any: it wraps */
    }
    sizes[n] = 2;
    strides[n] = 1;
    TSR_TRY(tsr_tensor_new_view(out, SELF, &(TsrGeometry){n + 1, sizes, strides, 2 * SELF->offset}, "view_as_real"));
    (*out)->dtype = tsr_dtype_real_of(SELF->dtype);
    return TSR_OK;
}

static TsrStatus check_pairs(const TsrTensor *self) {
    int n = tsr_ndim(self);
    if (tsr_dtype_is_complex(self->dtype))
        return tsr_error(TSR_TYPE_ERROR, "view_as_complex is not supported for complex tensors");
    if (self->dtype != TSR_FLOAT16 && self->dtype != TSR_FLOAT32 && self->dtype != TSR_FLOAT64)
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: %s",
            tsr_dtype_scalar_name(self->dtype));
    if (n == 0) return tsr_error(TSR_RUNTIME_ERROR, "Input tensor must have one or more dimensions");
    if (self->sizes[n - 1] != 2) return tsr_error(TSR_RUNTIME_ERROR, "Tensor must have a last dimension of size 2");
    if (self->strides[n - 1] != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "Tensor must have a last dimension with stride 1");
    for (int i = 0; i < n - 1; i++)
        if (self->sizes[i] != 1 && self->strides[i] % 2 != 0)
            return tsr_error(TSR_RUNTIME_ERROR, "Tensor must have a stride divisible by 2 for all but last dimension");
    if (self->offset % 2 != 0) return tsr_error(TSR_RUNTIME_ERROR, "Tensor must have a storage_offset divisible by 2");
    return TSR_OK;
}

static TsrStatus make_view_as_complex(TsrOpCall *c, TsrTensor **out) {
    int64_t strides[TSR_MAX_DIMS];
    TSR_TRY(check_pairs(SELF));
    int n = tsr_ndim(SELF) - 1;
    for (int i = 0; i < n; i++) strides[i] = SELF->strides[i] / 2;
    TSR_TRY(
        tsr_tensor_new_view(out, SELF, &(TsrGeometry){n, SELF->sizes, strides, SELF->offset / 2}, "view_as_complex"));
    (*out)->dtype = SELF->dtype == TSR_FLOAT16   ? TSR_COMPLEX32
                    : SELF->dtype == TSR_FLOAT32 ? TSR_COMPLEX64
                                                 : TSR_COMPLEX128;
    return TSR_OK;
}
VIEW(real)
VIEW(imag)
VIEW(conj)
VIEW(view_as_real)
TsrStatus op_view_as_real_copy(TsrOpCall *c) { return run_copy_resolved(c, make_view_as_real); }
VIEW(view_as_complex)
COPY(view_as_complex)

static TsrStatus resolve(TsrOpCall *c, unsigned flag) {
    TsrTensor *t = NULL;
    if ((SELF->flags & flag) == 0) return tsr_return_move(c, tsr_tensor_retain(SELF));
    TsrStatus status = tsr_tensor_new_clone(&t, SELF, TSR_PRESERVE);
    return tsr_finish_move(c, status, t);
}
TsrStatus op_resolve_conj(TsrOpCall *c) { return resolve(c, TSR_FLAG_CONJ); }
TsrStatus op_resolve_neg(TsrOpCall *c) { return resolve(c, TSR_FLAG_NEG); }

TsrStatus op_positive(TsrOpCall *c) {
    if (SELF->dtype == TSR_BOOL)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "The `+` operator, on a bool tensor is not supported.");
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* --- the same elements under another tensor --- */

static TsrStatus make_alias(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_alias(out, SELF); }
static TsrStatus make_detach(TsrOpCall *c, TsrTensor **out) {
    TSR_TRY(SELF->flags & TSR_FLAG_INFERENCE ? tsr_tensor_new_data(out, SELF) : tsr_tensor_new_alias(out, SELF));
    tsr_tensor_unlink_base(*out);
    (*out)->origin = "detach";
    return TSR_OK;
}
static TsrStatus make_data(TsrOpCall *c, TsrTensor **out) { return tsr_tensor_new_data(out, SELF); }
COPY(alias)
VIEW(detach)
COPY(detach)
VIEW(data)

TsrStatus op_detach_inplace(TsrOpCall *c) {
    if (SELF->base != NULL)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
            "training, and "
            "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot "
            "be called on these gradients. "
            "To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as "
            "the solution.");
    return tsr_return_move(c, tsr_tensor_retain(SELF));
}

/* --- at least so many dimensions --- */

static TsrStatus at_least(TsrTensor **out, TsrTensor *self, int n) {
    TSR_OWNED row = NULL;
    int ndim = tsr_ndim(self);
    if (ndim >= n) {
        *out = tsr_tensor_retain(self);
        return TSR_OK;
    }
    if (ndim == 0) return tsr_tensor_new_reshape(out, self, n, (int64_t[]){1, 1, 1});
    if (ndim == 2) return tsr_tensor_new_unsqueeze(out, self, -1);
    if (n == 2) return tsr_tensor_new_unsqueeze(out, self, 0);
    TSR_TRY(tsr_tensor_new_unsqueeze(&row, self, 0));
    return tsr_tensor_new_unsqueeze(out, row, -1);
}

static TsrStatus at_least_all(TsrOpCall *c, int dims) {
    TsrTensor **list;
    int n = c->arg[0].n;
    TSR_TRY(tsr_list_new(&list, n));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i++) status = at_least(&list[i], c->arg[0].tensors[i], dims);
    return tsr_return_made_list_move(c, status, list, n);
}

#define AT_LEAST(n) \
    static TsrStatus make_atleast_##n(TsrOpCall *c, TsrTensor **out) { return at_least(out, SELF, n); } \
    TsrStatus op_atleast_##n##d(TsrOpCall *c) { return run_view(c, make_atleast_##n); } \
    TsrStatus op_atleast_##n##d_all(TsrOpCall *c) { return at_least_all(c, n); }
AT_LEAST(1)
AT_LEAST(2)
AT_LEAST(3)

/* --- scatter: a copy of self with one view of it overwritten --- */

/* The whole storage is copied, so that strides, gaps and offset stay; a tensor with a stride of 0 is cloned. */
static TsrStatus new_same_strides(TsrTensor **out, const TsrTensor *self) {
    const TsrStorage *old = self->storage;
    TsrStorage *storage = NULL;
    bool whole = tsr_dtype_is_pod(self->dtype) &&
                 tsr_layout_internal_status(tsr_ndim(self), self->sizes, self->strides) != TSR_OVERLAP_FULL;
    if (!whole) return tsr_tensor_new_clone(out, self, TSR_PRESERVE);
    TSR_TRY(tsr_storage_new(&storage, self->device, old->nbytes, self->dtype));
    TsrStatus status = TSR_OK;
    if (old->nbytes > 0 && tsr_storage_data(old) != NULL)
        status = tsr_device_copy(tsr_storage_data(storage), storage->ptr.device, tsr_storage_data(old), old->ptr.device,
                                 old->nbytes);
    if (status == TSR_OK) status = tsr_tensor_new_over(out, storage, tsr_tensor_geometry(self), self->dtype);
    if (status == TSR_OK) (*out)->flags |= self->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG);
    tsr_storage_free(storage);
    return status;
}

static TsrStatus check_scatter_sizes(const TsrTensor *src, const TsrTensor *slice) {
    int n = tsr_ndim(src);
    if (n == tsr_ndim(slice) && (n == 0 || memcmp(src->sizes, slice->sizes, (size_t)n * sizeof(int64_t)) == 0))
        return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "expected src to have a size equal to the slice of self. src size = %s, slice size = %s",
                     tsr_layout_text(n, src->sizes), tsr_sizes_text(slice));
}

/* `make` reads a call whose src argument has been left out: args are self, then what the view operator takes. */
static TsrStatus scatter(TsrOpCall *c, Maker make) {
    TsrTensor *copy = NULL, *slice = NULL;
    TsrArg args[TSR_MAX_ARGS];
    TsrOpCall view = {.op = c->op, .schema = c->schema, .arg = args, .nargs = c->nargs - 1};
    TSR_OWNED plain = NULL;
    if ((SELF->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) != 0) TSR_TRY(tsr_tensor_new_resolved(&plain, SELF));
    TSR_TRY(new_same_strides(&copy, plain != NULL ? plain : SELF));
    args[0] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = copy};
    for (int i = 2; i < c->nargs; i++) args[i - 1] = c->arg[i];
    TsrStatus status = make(&view, &slice);
    if (status == TSR_OK) status = check_scatter_sizes(c->arg[1].t, slice);
    if (status == TSR_OK) status = tsr_tensor_copy(slice, c->arg[1].t);
    tsr_tensor_free(slice);
    if (status == TSR_OK) return tsr_return_move(c, copy);
    tsr_tensor_free(copy);
    return status;
}
TsrStatus op_select_scatter(TsrOpCall *c) { return scatter(c, make_select); }
TsrStatus op_slice_scatter(TsrOpCall *c) { return scatter(c, make_slice); }
TsrStatus op_diagonal_scatter(TsrOpCall *c) { return scatter(c, make_diagonal); }
TsrStatus op_as_strided_scatter(TsrOpCall *c) { return scatter(c, make_as_strided); }
