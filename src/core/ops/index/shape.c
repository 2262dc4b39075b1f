/* shape.c: copies laid out anew: repeat and tile, repeat_interleave, diagonals, triangles, unravel_index.
 *
 * None needs a loop of its own over elements: repeat sees its result as (r0, s0, r1, s1, ...) and copies self into it,
 * expanded along the r's; repeat_interleave by a number copies a view with one more dimension of stride 0; diag_embed
 * copies onto a diagonal of zeros; unravel_index is one division and one remainder for all dimensions, broadcast. tril
 * and triu copy, then clear rows from the band on; in place, where memory may be shared between elements, they clear
 * one by one. */
#include <string.h>

#include "core/tensor/tensor_impl.h"
#include "core/engine/places.h"
#include "core/kernels/move/combine.h"
#include "core/mem.h"
#include "core/op/out.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

/* ---- repeat ---- */

/* The result seen as (r0, s0, r1, s1, ...) takes self, broadcast along the r's. */
static TsrStatus repeat_copy(TsrTensor *t, const TsrTensor *self, int n, const int64_t *repeats) {
    int pad = n - tsr_ndim(self), k = 0;
    int64_t sizes[TSR_MAX_DIMS], to[TSR_MAX_DIMS], from[TSR_MAX_DIMS];
    for (int d = 0; d < n; d++) {
        int64_t size = d < pad ? 1 : self->sizes[d - pad], stride = d < pad ? 0 : self->strides[d - pad];
        if (repeats[d] != 1) {
            sizes[k] = repeats[d];
            to[k] = t->strides[d] * size;
            from[k++] = 0;
        }
        sizes[k] = size;
        to[k] = t->strides[d];
        from[k++] = stride;
        if (k >= TSR_MAX_DIMS - 1) return tsr_error(TSR_RUNTIME_ERROR, "repeat: too many dimensions");
    }
    TsrTensor *dst, *src;
    TSR_TRY(tsr_tensor_new_view(&dst, t, &(TsrGeometry){k, sizes, to, t->offset}, NULL));
    TsrStatus status = tsr_tensor_new_view(&src, self, &(TsrGeometry){k, sizes, from, self->offset}, NULL);
    if (status == TSR_OK) {
        status = tsr_tensor_copy(dst, src);
        tsr_tensor_free(src);
    }
    tsr_tensor_free(dst);
    return status;
}

static TsrStatus repeat_new(TsrTensor **out, const TsrTensor *self, int n, const int64_t *repeats) {
    int64_t sizes[TSR_MAX_DIMS];
    int pad = n - tsr_ndim(self);
    bool wraps = false;
    for (int d = 0; d < n; d++)
        wraps = tsr_mul_overflows(d < pad ? 1 : self->sizes[d - pad], repeats[d], &sizes[d]) || wraps;
    if (wraps) return tsr_refuse_wrapped("repeat", n, sizes);
    TSR_TRY(tsr_tensor_new(out, n, sizes, self->dtype, self->device));
    if ((*out)->numel == 0 || tsr_is_meta(self)) return TSR_OK;
    TsrStatus status = repeat_copy(*out, self, n, repeats);
    return tsr_owned_keep(out, status);
}

TsrStatus op_repeat(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    if (c->arg[1].n < tsr_ndim(self))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
    if (c->arg[1].n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "repeat: too many dimensions");
    return tsr_finish_move(c, repeat_new(&t, self, c->arg[1].n, c->arg[1].ints), t);
}

TsrStatus op_tile(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    int64_t repeats[TSR_MAX_DIMS];
    int n = c->arg[1].n, missing = TSR_MAX(0, tsr_ndim(self) - n);
    if (n + missing > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "tile: too many dimensions");
    for (int d = 0; d < missing; d++) repeats[d] = 1;
    for (int d = 0; d < n; d++) repeats[missing + d] = c->arg[1].ints[d];
    return tsr_finish_move(c, repeat_new(&t, self, n + missing, repeats), t);
}

/* ---- repeat_interleave ---- */

enum { UNKNOWN_SIZE = INT32_MIN };

static TsrStatus spread_new(TsrTensor **out, const TsrTensor *repeats, int64_t output_size);

/* For repeats on a device: their sum has to be known to the host in any case, so they are spread there. */
static TsrStatus spread_there(TsrTensor **out, const TsrTensor *repeats, int64_t output_size) {
    TSR_OWNED counts = NULL;
    TSR_OWNED positions = NULL;
    TSR_TRY(tsr_new_there(&counts, repeats, TSR_DEVICE_CPU));
    TSR_TRY(spread_new(&positions, counts, output_size));
    return tsr_new_there(out, positions, repeats->device);
}

/* Position i, repeats[i] times; int64. output_size may be UNKNOWN_SIZE. */
static TsrStatus spread_new(TsrTensor **out, const TsrTensor *repeats, int64_t output_size) {
    if (repeats->dtype != TSR_INT64 && repeats->dtype != TSR_INT32 && repeats->dtype != TSR_INT16 &&
        repeats->dtype != TSR_INT8 && repeats->dtype != TSR_UINT8)
        return tsr_not_implemented("repeat_interleave_cpu", repeats->dtype);
    if (tsr_ndim(repeats) != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "repeat_interleave only accept 1D vector as repeat");
    if (repeats->numel == 0) /* PyTorch does not come to look at output_size */
        return tsr_tensor_new(out, 1, &(int64_t){0}, TSR_INT64, repeats->device);
    if (tsr_on_device(repeats)) return spread_there(out, repeats, output_size);
    TsrTensor *counts;
    TSR_TRY(tsr_dense_new(&counts, repeats, TSR_INT64));
    const int64_t *n = tsr_data(counts);
    int64_t total = 0;
    TsrStatus status =
        output_size == UNKNOWN_SIZE || output_size >= 0
            ? TSR_OK
            : tsr_error(TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: [%lld]",
                        (long long)output_size, (long long)output_size);
    bool negative = false, wraps = false;
    for (int64_t i = 0; i < counts->numel; i++) {
        negative = negative || n[i] < 0;
        wraps = tsr_add_overflows(total, n[i], &total) || wraps;
    }
    if (status == TSR_OK && output_size >= 0 && output_size != total)
        status = tsr_error(TSR_RUNTIME_ERROR, "allocated size does not match required size");
    if (status == TSR_OK && negative) status = tsr_error(TSR_RUNTIME_ERROR, "repeats can not be negative");
    if (status == TSR_OK && wraps && total < 0) status = tsr_refuse_wrapped("repeat_interleave", 1, &total);
    if (status == TSR_OK) status = tsr_tensor_new(out, 1, &total, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK && wraps) {
        tsr_tensor_reset(out);
        status = tsr_error(TSR_RUNTIME_ERROR, "repeats can not be negative");
    }
    if (status == TSR_OK) {
        int64_t *p = tsr_data(*out);
        /* Elements written between two looks for an interrupt. */
        enum { PIECE = 1 << 16 };
        for (int64_t i = 0; i < counts->numel && !tsr_interrupted_at(i); i++)
            for (int64_t left = n[i]; left > 0 && tsr_interrupt_flag == 0; left -= PIECE)
                for (int64_t k = TSR_MIN(left, (int64_t)PIECE); k > 0; k--) *p++ = i;
        status = tsr_interrupt_check();
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    tsr_tensor_free(counts);
    return status;
}

/* Without elements the result's size is known only from repeats (one number) or output_size. */
static TsrStatus interleave_meta(TsrOpCall *c, const TsrTensor *input, int64_t dim, int64_t size) {
    TsrTensor *t = NULL;
    int64_t sizes[TSR_MAX_DIMS];
    if (size < 0) return tsr_error(TSR_RUNTIME_ERROR, "cannot repeat_interleave a meta tensor without output_size");
    for (int d = 0; d < tsr_ndim(input); d++) sizes[d] = d == dim ? size : input->sizes[d];
    return tsr_finish_move(c, tsr_tensor_new(&t, tsr_ndim(input), sizes, input->dtype, input->device), t);
}

TsrStatus op_repeat_interleave_counts(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TSR_OWNED positions = NULL;
    if (tsr_is_meta(c->arg[0].t))
        return interleave_meta(c, c->arg[0].t, 0, tsr_arg_given(&c->arg[1]) ? c->arg[1].i : UNKNOWN_SIZE);
    TSR_TRY(spread_new(&positions, c->arg[0].t, tsr_arg_given(&c->arg[1]) ? c->arg[1].i : UNKNOWN_SIZE));
    return tsr_finish_move(c, tsr_tensor_new_cast(&t, positions, c->arg[0].t->dtype), t);
}

/* One count for each of `size` positions along `dim`, which an error quotes as it was given: repeats itself, or its one
 * element expanded. */
static TsrStatus counts_new(TsrTensor **out, const TsrTensor *repeats, int64_t dim, int64_t size) {
    if (repeats->numel == 1) {
        TSR_OWNED one = NULL;
        TSR_TRY(tsr_at_least_1d_new(&one, repeats));
        return tsr_tensor_new_expand(out, one, 1, &size);
    }
    if (repeats->sizes[0] != size)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "repeats must have the same size as input along dim, but got repeats.size(0) = %lld and input.size(%lld) "
            "= %lld",
            (long long)repeats->sizes[0], (long long)dim, (long long)size);
    *out = tsr_tensor_retain((TsrTensor *)repeats);
    return TSR_OK;
}

static TsrStatus interleave(TsrOpCall *c, const TsrTensor *repeats, const TsrArg *dim_arg, int64_t output_size) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    TSR_OWNED input = NULL;
    TSR_OWNED counts = NULL;
    TSR_OWNED positions = NULL;
    int64_t dim = tsr_arg_given(dim_arg) ? dim_arg->i : 0, minus = -1;
    if (tsr_ndim(repeats) > 1) return tsr_error(TSR_RUNTIME_ERROR, "repeats must be 0-dim or 1-dim tensor");
    if (tsr_arg_given(dim_arg) && tsr_ndim(self) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    if (tsr_arg_given(dim_arg)) input = tsr_tensor_retain(self);
    else TSR_TRY(tsr_tensor_new_reshape(&input, self, 1, &minus));
    const int64_t said = dim;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(input)));
    int64_t size = input->sizes[dim];
    if (tsr_is_meta(input)) {
        if (output_size < 0 && !tsr_is_meta(repeats) && repeats->numel == 1 &&
            tsr_mul_overflows(tsr_scalar_to_int(tsr_tensor_get(repeats, 0)), size, &output_size))
            output_size = UNKNOWN_SIZE;
        return interleave_meta(c, input, dim, output_size);
    }
    TSR_TRY(counts_new(&counts, repeats, said, size));
    TSR_TRY(spread_new(&positions, counts, output_size));
    return tsr_finish_move(c, tsr_invoke_new(&t, 1, "index_select", "tit", input, dim, positions), t);
}

/* A conjugate or negative view gives one. */
TsrStatus op_repeat_interleave_tensor(TsrOpCall *c) {
    TSR_OWNED plain = NULL;
    TSR_OWNED counts = NULL;
    TsrTensor *self = c->arg[0].t;
    unsigned lazy = self->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG);
    TSR_TRY(tsr_tensor_new_alias(&plain, self));
    TSR_TRY(tsr_tensor_new_resolved(&counts, c->arg[1].t));
    plain->flags &= ~lazy;
    c->arg[0].t = plain;
    TsrStatus status = interleave(c, counts, &c->arg[2], tsr_arg_given(&c->arg[3]) ? c->arg[3].i : UNKNOWN_SIZE);
    c->arg[0].t = self;
    if (status == TSR_OK) c->ret[0].t->flags |= lazy;
    return status;
}

static TsrStatus check_output_size(const TsrOpCall *c) {
    const TsrTensor *self = c->arg[0].t;
    int64_t dim = tsr_arg_given(&c->arg[2]) ? c->arg[2].i : 0, expected;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    bool flat = !tsr_arg_given(&c->arg[2]) || tsr_ndim(self) == 0;
    if (!tsr_arg_given(&c->arg[3]) ||
        tsr_mul_overflows(flat ? self->numel : self->sizes[dim], c->arg[1].i, &expected) || expected == c->arg[3].i)
        return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "repeat_interleave: Invalid output_size, expected %lld but got %lld",
                     (long long)expected, (long long)c->arg[3].i);
}

/* Each element along `dim`, or of all in row-major order, n times in a row: a copy of self with one more dimension of
 * stride 0. */
static TsrStatus repeat_each(TsrOpCall *c, bool has_dim, int64_t dim, int64_t n) {
    const TsrTensor *self = c->arg[0].t;
    int64_t sizes[TSR_MAX_DIMS], minus = -1;
    TsrScope s = {0};
    TsrTensor *input = has_dim ? (TsrTensor *)self : MAKE(&s, tsr_tensor_new_reshape, self, 1, &minus);
    TsrTensor *each = MAKE(&s, tsr_tensor_new_unsqueeze, input, dim + 1);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    int ndim = tsr_ndim(each);
    memcpy(sizes, each->sizes, sizeof *sizes * (size_t)ndim);
    sizes[dim + 1] = n;
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_expand, each, ndim, sizes),
              *copy = MAKE(&s, tsr_tensor_new_clone, wide, TSR_CONTIGUOUS);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    sizes[dim] *= n; /* the copy has as many elements */
    memmove(sizes + dim + 1, sizes + dim + 2, sizeof *sizes * (size_t)(ndim - dim - 2));
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_reshape, copy, ndim - 1, sizes));
}

TsrStatus op_repeat_interleave_int(TsrOpCall *c) {
    int64_t dim = tsr_arg_given(&c->arg[2]) ? c->arg[2].i : 0;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(c->arg[0].t)));
    if (c->arg[1].i < 0) return tsr_error(TSR_RUNTIME_ERROR, "Repeats must be non-negative");
    if (tsr_arg_given(&c->arg[2]) && tsr_ndim(c->arg[0].t) == 0) /* PyTorch adds a dimension after this one */
        return tsr_error(TSR_INDEX_ERROR, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
    TSR_TRY(check_output_size(c));
    return repeat_each(c, tsr_arg_given(&c->arg[2]), dim, c->arg[1].i);
}

/* ---- diagonals ---- */

static TsrStatus diag_embed_new(TsrTensor **out, const TsrTensor *self, int64_t offset, int64_t dim1, int64_t dim2) {
    int n = tsr_ndim(self) + 1, k = 0;
    int64_t sizes[TSR_MAX_DIMS], given1 = dim1, given2 = dim2;
    TSR_TRY(tsr_wrap_dim(&dim1, n));
    TSR_TRY(tsr_wrap_dim(&dim2, n));
    if (dim1 == dim2)
        return tsr_error(TSR_RUNTIME_ERROR, "diagonal dimensions cannot be identical %lld, %lld", (long long)given1,
                         (long long)given2);
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "diag_embed: too many dimensions");
    int64_t last = self->sizes[n - 2], side;
    if (offset == INT64_MIN || tsr_add_overflows(last, offset < 0 ? -offset : offset, &side))
        return tsr_error(TSR_RUNTIME_ERROR, "diag_embed: the result's size overflows");
    for (int d = 0; d < n; d++) sizes[d] = d == dim1 || d == dim2 ? side : self->sizes[k++];
    TSR_TRY(tsr_zeros_new(out, n, sizes, self->dtype, self->device));
    TsrTensor *diagonal = NULL;
    TsrStatus status = tsr_tensor_new_diagonal(&diagonal, *out, offset, dim1, dim2);
    if (status == TSR_OK && !tsr_is_meta(self)) status = tsr_tensor_copy(diagonal, self);
    tsr_tensor_free(diagonal);
    return tsr_owned_keep(out, status);
}

TsrStatus op_diag_embed(TsrOpCall *c) {
    TsrTensor *t = NULL;
    return tsr_finish_move(c, diag_embed_new(&t, c->arg[0].t, c->arg[1].i, c->arg[2].i, c->arg[3].i), t);
}

TsrStatus op_diag(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    TSR_OWNED view = NULL;
    int ndim = tsr_ndim(self);
    if (ndim != 1 && ndim != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "%sSupports 1D or 2D tensors. Got %dD",
                         c->out[0] != NULL ? "" : "diag(): ", ndim);
    if (ndim == 1 && c->out[0] != NULL && !tsr_can_cast(self->dtype, c->out[0]->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "diag: result type %s can't be cast to the desired out= type %s",
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(c->out[0]->dtype));
    if (ndim == 1) return tsr_finish_move(c, diag_embed_new(&t, self, c->arg[1].i, 0, 1), t);
    TSR_TRY(tsr_tensor_new_diagonal(&view, self, c->arg[1].i, 0, 1));
    return tsr_finish_move(c, tsr_tensor_new_clone(&t, view, TSR_CONTIGUOUS), t);
}

TsrStatus op_diagflat(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TSR_OWNED flat = NULL;
    int64_t minus = -1;
    TSR_TRY(tsr_tensor_new_reshape(&flat, c->arg[0].t, 1, &minus));
    return tsr_finish_move(c, diag_embed_new(&t, flat, c->arg[1].i, 0, 1), t);
}

static bool is_small_float(TsrDtype d) { return d == TSR_FLOAT16 || d == TSR_BFLOAT16; }

#define DIAGONAL(name, T) \
    static double name(const TsrTensor *self, int64_t n) { \
        const T *p = tsr_data(self); \
        int64_t step = self->strides[0] + self->strides[1]; \
        double sum = 0; \
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) sum += (double)p[i * step]; \
        return sum; \
    }
DIAGONAL(diagonal_float, float)
DIAGONAL(diagonal_double, double)

static TsrStatus sum_diagonal(TsrScalar *sum, const TsrTensor *self) {
    int64_t n = TSR_MIN(self->sizes[0], self->sizes[1]);
    double re = 0, im = 0;
    uint64_t whole = 0;
    bool integral = tsr_dtype_is_integral(self->dtype), complex = tsr_dtype_is_complex(self->dtype);
    if (self->dtype == TSR_FLOAT32 || self->dtype == TSR_FLOAT64) {
        *sum = tsr_scalar_float(self->dtype == TSR_FLOAT32 ? diagonal_float(self, n) : diagonal_double(self, n));
        return tsr_interrupt_check();
    }
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) {
        TsrScalar s = tsr_tensor_get(self, i * self->sizes[1] + i);
        if (integral) whole += (uint64_t)tsr_scalar_to_int(s);
        else
            re = is_small_float(self->dtype) ? (double)(float)(re + tsr_scalar_to_double(s))
                                             : re + tsr_scalar_to_double(s);
        if (complex) im += s.c.im;
    }
    *sum = integral ? tsr_scalar_int((int64_t)whole) : complex ? tsr_scalar_complex(re, im) : tsr_scalar_float(re);
    return tsr_interrupt_check();
}

/* The diagonal's sum, as PyTorch has it on a device. */
static TsrStatus trace_there(TsrOpCall *c, const TsrTensor *self) {
    TsrScope s = {0};
    TsrTensor *diagonal = MAKE(&s, tsr_tensor_new_diagonal, self, 0, 0, 1);
    return tsr_scope_return(c, &s, CALL(&s, "sum", "t", diagonal));
}

TsrStatus op_trace(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_COMPLEX, self->dtype, "trace"));
    if (tsr_ndim(self) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "trace: expected a matrix, but got tensor with dim %d", tsr_ndim(self));
    if (tsr_on_device(self)) return trace_there(c, self);
    TsrDtype dtype = tsr_dtype_is_integral(self->dtype) ? TSR_INT64 : self->dtype;
    TSR_TRY(tsr_tensor_new(&t, 0, NULL, dtype, self->device));
    if (tsr_is_meta(self)) return tsr_return_move(c, t);
    TsrScalar sum;
    TsrStatus status = sum_diagonal(&sum, self);
    if (status == TSR_OK) tsr_scalar_store(sum, dtype, tsr_data(t));
    return tsr_finish_move(c, status, t);
}

/* ---- triangles ---- */

typedef struct Triangle {
    char *p;
    int64_t rows, columns, k;
    size_t item;
    bool upper;
} Triangle;

static void clear_rows(int64_t begin, int64_t end, void *user) {
    const Triangle *q = user;
    for (int64_t r = begin; r < end; r++) {
        /* The first column above the diagonal band of this row. */
        int64_t edge = TSR_MAX(0, TSR_MIN(q->columns, r % q->rows + q->k + (q->upper ? 0 : 1)));
        char *row = q->p + (size_t)(r * q->columns) * q->item;
        if (q->upper) memset(row, 0, (size_t)edge * q->item);
        else memset(row + (size_t)edge * q->item, 0, (size_t)(q->columns - edge) * q->item);
    }
}

/* Whether the matrices of a batch lie as PyTorch wants them to clear them where they stand: it asks from four
 * dimensions on, and not of the first one where that is of one element or repeated. Others it copies back from a dense
 * copy. */
static bool follow_one_another(const TsrTensor *t) {
    int n = tsr_ndim(t);
    if (n <= 3) return true;
    int64_t step = t->sizes[n - 2] * t->sizes[n - 1];
    for (int d = n - 3; d >= 0; step *= t->sizes[d--])
        if (t->strides[d] != step && (d > 0 || (t->strides[0] != 0 && t->sizes[0] != 1))) return false;
    return true;
}

/* In place, of memory of any strides, which elements may share. */
static TsrStatus clear_where_it_stands(TsrTensor *t, int64_t k, bool upper) {
    int n = tsr_ndim(t);
    size_t item = tsr_itemsize(t);
    int64_t rows = t->sizes[n - 2], columns = t->sizes[n - 1];
    for (int64_t r = 0; r < t->numel / columns; r++) {
        int64_t at = r % rows * t->strides[n - 2], rest = r / rows;
        for (int d = n - 3; d >= 0; rest /= t->sizes[d--]) at += rest % t->sizes[d] * t->strides[d];
        int64_t edge = TSR_MAX(0, TSR_MIN(columns, r % rows + k + (upper ? 0 : 1)));
        for (int64_t j = upper ? 0 : edge; j < (upper ? edge : columns); j++)
            memset((char *)tsr_data(t) + (at + j * t->strides[n - 1]) * (int64_t)item, 0, item);
        if (tsr_interrupted_at(r)) TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus clear_there(TsrTensor *t, int64_t k, bool upper) {
    const TsrDeviceTriangle which = {k, upper};
    TsrDeviceWork work = {.what = TSR_P_TRIANGLE, .params = &which, .nparams = sizeof which};
    TSR_TRY(tsr_device_work_add(&work, t, true));
    return tsr_device_work(t->device.type, &work);
}

static TsrStatus triangle(TsrOpCall *c, const char *name, bool upper) {
    TsrTensor *self = c->arg[0].t, *t;
    int n = tsr_ndim(self);
    if (n < 2) return tsr_error(TSR_RUNTIME_ERROR, "%s: input tensor must have at least 2 dimensions", name);
    TSR_TRY(tsr_check_out_fits(c, 0, self->dtype));
    if (self->numel > 0) TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BIT(COMPLEX32), self->dtype, name));
    bool dense = tsr_is_contiguous(self, TSR_CONTIGUOUS);
    if (c->inplace && !dense && !follow_one_another(self)) TSR_TRY(tsr_check_no_internal_overlap(self));
    else if (c->inplace && self->numel > 0 && !tsr_is_meta(self) && !tsr_on_device(self) && !dense) {
        TSR_TRY(clear_where_it_stands(
            c->out[0], TSR_MAX(-self->sizes[n - 2] - 1, TSR_MIN(self->sizes[n - 1] + 1, c->arg[1].i)), upper));
        return tsr_return_move(c, tsr_tensor_retain(c->out[0]));
    }
    TSR_TRY(tsr_edit_dense_new(&t, c, self));
    if (t->numel == 0 || tsr_is_meta(self)) return tsr_return_move(c, t);
    int64_t rows = t->sizes[n - 2], columns = t->sizes[n - 1];
    int64_t k = TSR_MAX(-rows - 1, TSR_MIN(columns + 1, c->arg[1].i));
    if (tsr_on_device(t)) return tsr_finish_move(c, clear_there(t, k, upper), t);
    Triangle q = {tsr_data(t), rows, columns, k, tsr_itemsize(t), upper};
    return tsr_finish_move(c, tsr_parallel_for(t->numel / columns, tsr_grain(columns / 2), clear_rows, &q), t);
}

TsrStatus op_tril(TsrOpCall *c) { return triangle(c, "tril", false); }
TsrStatus op_triu(TsrOpCall *c) { return triangle(c, "triu", true); }

/* ---- unravel_index ---- */

/* "(2, -1)", "(-1,)": as Python shows the tuple. */
static TsrStatus refuse_shape(const char *why, int n, const int64_t *shape) {
    const char *list = tsr_layout_text(n, shape);
    int inside = (int)strcspn(list + 1, "]");
    return tsr_error(TSR_VALUE_ERROR, "'shape' cannot have %s, but got (%.*s%s)", why, inside, list + 1,
                     n == 1 ? "," : "");
}

static TsrStatus check_unraveled(const TsrTensor *index, int n, const int64_t *shape) {
    for (int d = 0; d < n; d++)
        if (shape[d] < 0) return refuse_shape("negative values", n, shape);
    for (int d = 0; d < n && index->numel > 0; d++)
        if (shape[d] == 0) return refuse_shape("zero dimensions when 'indices' is non-empty", n, shape);
    return TSR_OK;
}

/* Row-major strides of a shape, and its sizes, as int64 tensors. Strides wrap, as PyTorch's product does. */
static TsrStatus steps_and_sizes_new(TsrTensor **steps, TsrTensor **sizes, int64_t n, const int64_t *shape,
                                     TsrDevice device) {
    TsrDevice at = device.type == TSR_META ? device : TSR_DEVICE_CPU;
    TSR_OWNED all_steps = NULL;
    TSR_OWNED all_sizes = NULL;
    TSR_TRY(tsr_tensor_new(&all_steps, 1, &n, TSR_INT64, at));
    TSR_TRY(tsr_tensor_new(&all_sizes, 1, &n, TSR_INT64, at));
    uint64_t step = 1;
    for (int64_t d = n - 1; d >= 0 && !tsr_is_meta(all_steps); d--) {
        ((int64_t *)tsr_data(all_steps))[d] = (int64_t)step;
        ((int64_t *)tsr_data(all_sizes))[d] = shape[d];
        step *= (uint64_t)shape[d];
    }
    TSR_TRY(tsr_new_there(steps, all_steps, device));
    return tsr_new_there(sizes, all_sizes, device);
}

/* (index // stride) % size for all dimensions side by side, then split: the results are views of one tensor, as in
 * PyTorch. */
TsrStatus op_unravel_index(TsrOpCall *c) {
    TsrTensor *index = c->arg[0].t, *part[TSR_MAX_DIMS];
    int n = c->arg[1].n;
    const int64_t *shape = c->arg[1].ints;
    if (!tsr_dtype_is_integral(index->dtype))
        return tsr_error(TSR_TYPE_ERROR, "expected 'indices' to be integer dtype, but got torch.%s",
                         tsr_dtype_name(index->dtype));
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "unravel_index: too many dimensions");
    TSR_TRY(check_unraveled(index, n, shape));
    if (n == 0) {
        TsrDtype divided;
        TSR_TRY(tsr_promote(&divided, index->dtype, TSR_INT64));
        return tsr_return_list_move(c, part, 0);
    }
    TSR_OWNED steps = NULL;
    TSR_OWNED sizes = NULL;
    TSR_OWNED column = NULL;
    TSR_OWNED quotient = NULL;
    TSR_OWNED all = NULL;
    TSR_TRY(steps_and_sizes_new(&steps, &sizes, n, shape, index->device));
    TSR_TRY(tsr_tensor_new_unsqueeze(&column, index, -1));
    TSR_TRY(tsr_invoke_new(&quotient, 1, "floor_divide", "tt", column, steps));
    TSR_TRY(tsr_invoke_new(&all, 1, "remainder", "tt", quotient, sizes));
    for (int d = 0; d < n; d++) {
        TsrStatus status = tsr_tensor_new_select(&part[d], all, -1, d);
        if (status == TSR_OK) continue;
        tsr_free_all(part, d);
        return status;
    }
    return tsr_return_list_move(c, part, n);
}
