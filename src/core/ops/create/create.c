/* Factories: tensors made from sizes, values and shapes of others. */
#include <string.h>

#include "create.h"
#include "core/op/compose.h"
#include "core/ops/sparse/sparse.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"

/* The operator at which PyTorch finds that there is no sparse one; NULL: it says so in words of its own. */
static const char *kernel_of(const char *base) {
    static const char *const kernels[][2] = {
        {"arange", "arange.start_out"},
        {"empty_permuted", "as_strided"},
        {"empty_strided", "empty_strided"},
        {"eye", "eye.m_out"},
        {"fftfreq", "arange.start_out"},
        {"linspace", "linspace.out"},
        {"logspace", "logspace.out"},
        {"normal", "normal_"},
        {"rand", "uniform_"},
        {"randint", "random_.from"},
        {"randn", "normal_"},
        {"randperm", "randperm.generator_out"},
        {"range", "range.out"},
        {"rfftfreq", "arange.start_out"},
        {"tril_indices", "tril_indices"},
        {"triu_indices", "triu_indices"},
    };
    const char *like = strstr(base, "_like");
    if (like != NULL && like[5] == '\0') return "empty_strided";
    if (strncmp(base, "new_", 4) == 0) return "fill_.Scalar";
    for (size_t i = 0; i < TSR_COUNTOF(kernels); i++)
        if (strcmp(base, kernels[i][0]) == 0) return kernels[i][1];
    return NULL;
}

static TsrStatus refuse_layout(const TsrOpCall *c, uint8_t layout) {
    const char *kernel = kernel_of(c->schema->base);
    if (layout == TSR_STRIDED) return TSR_OK;
    if (kernel == NULL) return tsr_error(TSR_RUNTIME_ERROR, "full(...) is not implemented for sparse layout");
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Could not run 'aten::%s' with arguments from the '%s' backend.",
                     kernel, layout == TSR_SPARSE_COO ? "SparseCPU" : "SparseCsrCPU");
}

TsrStatus tsr_create_options(TsrOptions *out, const TsrOpCall *c, int at, TsrDevice device) {
    const TsrArg *dtype = &c->arg[at], *layout = &c->arg[at + 1], *where = &c->arg[at + 2];
    if (tsr_arg_given(layout)) TSR_TRY(refuse_layout(c, layout->layout));
    out->dtype = tsr_arg_given(dtype) ? dtype->dtype : TSR_DTYPE_NONE;
    out->device = tsr_arg_given(where) ? where->device : device;
    if (c->out[0] == NULL) return TSR_OK;
    out->dtype = c->out[0]->dtype;
    out->device = c->out[0]->device;
    return TSR_OK;
}

static TsrDtype dtype_or(TsrDtype given, TsrDtype otherwise) { return given != TSR_DTYPE_NONE ? given : otherwise; }

/* Every byte 0: the zero of every POD dtype. */
static TsrStatus zero_dense(TsrTensor *t) {
    if (tsr_is_meta(t) || t->numel == 0) return TSR_OK;
    if (!tsr_dtype_is_pod(t->dtype)) return TSR_OK; /* constructed empty */
    size_t bytes = (size_t)t->numel * tsr_itemsize(t);
    if (t->device.type != TSR_CPU || bytes > 1 << 20)
        return tsr_tensor_fill(t, tsr_scalar_int(0)); /* large ones over the threads */
    memset(tsr_data(t), 0, bytes);
    return TSR_OK;
}

static TsrStatus filled_move(TsrOpCall *c, TsrStatus made, TsrTensor *t, TsrScalar value, bool zero) {
    TSR_TRY(made);
    TsrStatus status = zero ? zero_dense(t) : tsr_tensor_fill(t, value);
    if (status == TSR_OK) return tsr_return_move(c, t);
    tsr_tensor_free(t);
    return status;
}

/* zeros and empty also make sparse tensors, with nothing stored. Their options stand from arg[1] on. */
static bool wants_sparse(const TsrOpCall *c) { return tsr_arg_given(&c->arg[2]) && c->arg[2].layout != TSR_STRIDED; }

static TsrStatus sparse_zeros(TsrOpCall *c, int n, const int64_t *sizes, TsrDtype otherwise, TsrDevice device) {
    TsrTensor *t = NULL;
    TsrDtype dtype = tsr_arg_given(&c->arg[1]) ? c->arg[1].dtype : otherwise;
    if (tsr_arg_given(&c->arg[3])) device = c->arg[3].device;
    return tsr_finish_move(c, tsr_sparse_zeros_new(&t, c->arg[2].layout, n, sizes, dtype, device), t);
}

static TsrStatus new_by_size(TsrTensor **out, const TsrOpCall *c, int size_at, int options_at, TsrDtype otherwise,
                             TsrDevice device) {
    TsrOptions o;
    const TsrArg *size = &c->arg[size_at];
    TSR_TRY(tsr_create_options(&o, c, options_at, device));
    return tsr_tensor_new(out, size->n, size->ints, dtype_or(o.dtype, otherwise), o.device);
}

static TsrStatus restride(TsrTensor *t, TsrMemoryFormat format) {
    int want = format == TSR_CHANNELS_LAST ? 4 : 5;
    if (tsr_ndim(t) != want)
        return tsr_error(TSR_RUNTIME_ERROR, "required rank %d tensor to use channels_last%s format", want,
                         want == 5 ? "_3d" : "");
    int64_t sizes[5], strides[5];
    memcpy(sizes, t->sizes, sizeof(int64_t) * (size_t)want);
    tsr_layout_channels_last_strides(strides, want, sizes);
    return tsr_tensor_set_geometry(t, (TsrGeometry){want, sizes, strides, 0});
}

/* empty(out=): the tensor with those sizes; what its memory holds stays. Only another size is a write, as PyTorch
 * counts them. */
static TsrStatus size_out(TsrOpCall *c) {
    TsrTensor *out = c->out[0];
    for (int i = 0; i < c->arg[0].n; i++)
        if (c->arg[0].ints[i] < 0)
            return tsr_error(TSR_RUNTIME_ERROR, "Trying to create tensor with negative dimension %lld: %s",
                             (long long)c->arg[0].ints[i], tsr_layout_text(c->arg[0].n, c->arg[0].ints));
    bool same = tsr_ndim(out) == c->arg[0].n;
    for (int i = 0; same && i < c->arg[0].n; i++) same = out->sizes[i] == c->arg[0].ints[i];
    if (!same) {
        TSR_TRY(tsr_tensor_resize(out, c->arg[0].n, c->arg[0].ints, TSR_CONTIGUOUS));
        TSR_TRY(tsr_tensor_written(out, "empty"));
    }
    return tsr_return_move(c, tsr_tensor_retain(out));
}

TsrStatus op_empty(TsrOpCall *c) {
    if (wants_sparse(c)) return sparse_zeros(c, c->arg[0].n, c->arg[0].ints, tsr_default_dtype(), TSR_DEVICE_CPU);
    TsrMemoryFormat format = tsr_arg_given(&c->arg[4]) ? c->arg[4].format : TSR_CONTIGUOUS;
    if (c->out[0] != NULL && tsr_arg_given(&c->arg[4]))
        return tsr_error(TSR_RUNTIME_ERROR, "'memory_format' argument is incompatible with 'out' tensor argument");
    if (c->out[0] != NULL) return size_out(c);
    TsrTensor *t;
    TSR_TRY(new_by_size(&t, c, 0, 1, tsr_default_dtype(), TSR_DEVICE_CPU));
    TsrStatus status = format == TSR_PRESERVE     ? tsr_error(TSR_RUNTIME_ERROR, "unsupported memory format Preserve")
                       : format == TSR_CONTIGUOUS ? TSR_OK
                                                  : restride(t, format);
    if (status == TSR_OK) return tsr_return_move(c, t);
    tsr_tensor_free(t);
    return status;
}

static TsrStatus check_sizes(const char *name, const TsrArg *size) {
    for (int i = 0; i < size->n; i++)
        if (size->ints[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "%s: Dimension size must be non-negative.", name);
    return TSR_OK;
}

/* An out= would be resized to them. */
static TsrStatus check_out_sizes(const TsrOpCall *c) {
    const TsrArg *size = &c->arg[0];
    for (int i = 0; i < size->n && c->out[0] != NULL; i++)
        if (size->ints[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    return TSR_OK;
}

TsrStatus op_zeros(TsrOpCall *c) {
    if (wants_sparse(c)) return sparse_zeros(c, c->arg[0].n, c->arg[0].ints, tsr_default_dtype(), TSR_DEVICE_CPU);
    TSR_TRY(check_out_sizes(c));
    TSR_TRY(check_sizes("zeros", &c->arg[0]));
    TsrTensor *t = NULL;
    TsrStatus made = new_by_size(&t, c, 0, 1, tsr_default_dtype(), TSR_DEVICE_CPU);
    return filled_move(c, made, t, tsr_scalar_int(0), true);
}

TsrStatus op_ones(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TSR_TRY(check_out_sizes(c));
    TsrStatus made = new_by_size(&t, c, 0, 1, tsr_default_dtype(), TSR_DEVICE_CPU);
    return filled_move(c, made, t, tsr_scalar_int(1), false);
}

TsrStatus op_full(TsrOpCall *c) {
    TsrTensor *t = NULL;
    TSR_TRY(check_out_sizes(c));
    TsrDtype own = c->arg[1].s.kind == TSR_SCALAR_UINT
                       ? TSR_INT64
                       : tsr_scalar_dtype(c->arg[1].s); /* what is past int64 does not fit */
    if (own == TSR_COMPLEX32) own = TSR_COMPLEX64;
    TsrStatus made = new_by_size(&t, c, 0, 2, own, TSR_DEVICE_CPU);
    return filled_move(c, made, t, c->arg[1].s, false);
}

TsrStatus op_scalar_tensor(TsrOpCall *c) {
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, 1, TSR_DEVICE_CPU));
    TsrTensor *t = NULL;
    TsrStatus made = tsr_tensor_new(&t, 0, NULL, dtype_or(o.dtype, tsr_default_dtype()), o.device);
    return filled_move(c, made, t, c->arg[0].s, false);
}

static TsrStatus check_stride_count(const TsrArg *size, const TsrArg *stride) {
    if (size->n == stride->n) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "dimensionality of sizes (%d) must match dimensionality of strides (%d)",
                     size->n, stride->n);
}

static TsrStatus new_strided(TsrOpCall *c, int size_at, TsrDtype otherwise, TsrDevice device) {
    const TsrArg *size = &c->arg[size_at], *stride = &c->arg[size_at + 1];
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, size_at + 2, device));
    int64_t numel;
    for (int i = 0; i < size->n; i++)
        if (size->ints[i] < 0) return tsr_layout_numel(&numel, size->n, size->ints);
    TSR_TRY(check_stride_count(size, stride));
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new_strided(&t, size->n, size->ints, stride->ints, dtype_or(o.dtype, otherwise), o.device));
    return tsr_return_move(c, t);
}

TsrStatus op_empty_strided(TsrOpCall *c) { return new_strided(c, 0, tsr_default_dtype(), TSR_DEVICE_CPU); }

TsrStatus op_new_empty_strided(TsrOpCall *c) { return new_strided(c, 1, c->arg[0].t->dtype, c->arg[0].t->device); }

TsrStatus op_empty_permuted(TsrOpCall *c) {
    const TsrArg *size = &c->arg[0], *order = &c->arg[1];
    int n = size->n;
    if (n != order->n)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = %d is "
            "not equal to "
            "len(physical_layout) = %d",
            n, order->n);
    if (n > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %d", n);
    int64_t physical[TSR_MAX_DIMS], dense[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    bool seen[TSR_MAX_DIMS] = {false};
    for (int i = 0; i < n; i++) {
        int64_t d = order->ints[i];
        if (d < 0 || d >= n)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Dimension out of range (expected to be between 0 and %d, but got %lld at index %d).  NB: negative "
                "dims not currently supported; file an issue if you want it.",
                n - 1, (long long)d, i);
        if (seen[d]) return tsr_error(TSR_RUNTIME_ERROR, "Duplicate dim not allowed");
        seen[d] = true;
        physical[i] = size->ints[d];
    }
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, 2, TSR_DEVICE_CPU));
    tsr_layout_contiguous_strides(dense, n, physical);
    for (int i = 0; i < n; i++) strides[order->ints[i]] = dense[i];
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new_strided(&t, n, size->ints, strides, dtype_or(o.dtype, tsr_default_dtype()), o.device));
    return tsr_return_move(c, t);
}

static TsrStatus new_like(TsrTensor **out, const TsrOpCall *c, int options_at) {
    const TsrTensor *self = c->arg[0].t;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, options_at, self->device));
    const TsrArg *format = &c->arg[options_at + 3];
    TsrMemoryFormat f = tsr_arg_given(format) ? format->format : TSR_PRESERVE;
    if (f == TSR_CHANNELS_LAST && tsr_ndim(self) != 4)
        return tsr_error(TSR_RUNTIME_ERROR, "required rank 4 tensor to use channels_last format");
    if (f == TSR_CHANNELS_LAST_3D && tsr_ndim(self) != 5)
        return tsr_error(TSR_RUNTIME_ERROR, "required rank 5 tensor to use channels_last_3d format");
    if (tsr_is_sparse(self))
        return tsr_tensor_new(out, tsr_ndim(self), self->sizes, dtype_or(o.dtype, self->dtype), o.device);
    if (tsr_device_equal(o.device, self->device))
        return tsr_tensor_new_like(out, self, dtype_or(o.dtype, self->dtype), f);
    int64_t strides[TSR_MAX_DIMS];
    int n = tsr_ndim(self);
    if (f == TSR_PRESERVE) tsr_layout_dense_strides_like(strides, n, self->sizes, self->strides);
    else if (f == TSR_CONTIGUOUS) tsr_layout_contiguous_strides(strides, n, self->sizes);
    else tsr_layout_channels_last_strides(strides, n, self->sizes);
    return tsr_tensor_new_strided(out, n, self->sizes, strides, dtype_or(o.dtype, self->dtype), o.device);
}

static TsrStatus sparse_zeros_like(TsrOpCall *c) {
    const TsrTensor *self = c->arg[0].t;
    return sparse_zeros(c, tsr_ndim(self), self->sizes, self->dtype, self->device);
}

TsrStatus op_empty_like(TsrOpCall *c) {
    if (wants_sparse(c)) return sparse_zeros_like(c);
    TsrTensor *t;
    TSR_TRY(new_like(&t, c, 1));
    return tsr_return_move(c, t);
}

static TsrStatus filled_like(TsrOpCall *c, int options_at, TsrScalar value, bool zeros) {
    TsrTensor *t = NULL;
    TsrStatus made = new_like(&t, c, options_at);
    return filled_move(c, made, t, value, zeros);
}

TsrStatus op_zeros_like(TsrOpCall *c) {
    if (wants_sparse(c)) return sparse_zeros_like(c);
    return filled_like(c, 1, tsr_scalar_int(0), true);
}
TsrStatus op_ones_like(TsrOpCall *c) { return filled_like(c, 1, tsr_scalar_int(1), false); }
TsrStatus op_full_like(TsrOpCall *c) { return filled_like(c, 2, c->arg[1].s, false); }

static TsrStatus new_for(TsrTensor **out, const TsrOpCall *c, int options_at) {
    return new_by_size(out, c, 1, options_at, c->arg[0].t->dtype, c->arg[0].t->device);
}

TsrStatus op_new_empty(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(new_for(&t, c, 2));
    return tsr_return_move(c, t);
}

static TsrStatus filled_for(TsrOpCall *c, int options_at, TsrScalar value, bool zeros) {
    TsrTensor *t = NULL;
    TsrStatus made = new_for(&t, c, options_at);
    return filled_move(c, made, t, value, zeros);
}
TsrStatus op_new_zeros(TsrOpCall *c) { return filled_for(c, 2, tsr_scalar_int(0), true); }
TsrStatus op_new_ones(TsrOpCall *c) { return filled_for(c, 2, tsr_scalar_int(1), false); }
TsrStatus op_new_full(TsrOpCall *c) { return filled_for(c, 3, c->arg[2].s, false); }

/* ---- eye and triangles ---- */

/* Zeros, then ones: so it is seen where elements share memory. */
static TsrStatus eye_over(TsrTensor *t) {
    TSR_OWNED diagonal = NULL;
    TSR_TRY(tsr_tensor_fill(t, tsr_scalar_int(0)));
    TSR_TRY(tsr_tensor_new_diagonal(&diagonal, t, 0, 0, 1));
    return tsr_tensor_fill(diagonal, tsr_scalar_int(1));
}

static TsrStatus eye_dense(TsrTensor *t) {
    size_t step = (size_t)(t->sizes[1] + 1) * tsr_itemsize(t);
    TSR_TRY(zero_dense(t));
    if (tsr_is_meta(t) || t->numel == 0) return TSR_OK;
    for (int64_t i = 0; i < TSR_MIN(t->sizes[0], t->sizes[1]); i++)
        tsr_scalar_store(tsr_scalar_int(1), t->dtype, (char *)tsr_data(t) + (size_t)i * step);
    return TSR_OK;
}

static bool is_matrix_of(const TsrTensor *t, int64_t n, int64_t m) {
    return t != NULL && tsr_ndim(t) == 2 && t->sizes[0] == n && t->sizes[1] == m;
}

TsrStatus op_eye(TsrOpCall *c) {
    bool square = c->nargs == 4;
    int64_t n = c->arg[0].i, m = square ? n : c->arg[1].i;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, square ? 1 : 2, TSR_DEVICE_CPU));
    if (n < 0) return tsr_error(TSR_RUNTIME_ERROR, "n must be greater or equal to 0, got %lld", (long long)n);
    if (m < 0) return tsr_error(TSR_RUNTIME_ERROR, "m must be greater or equal to 0, got %lld", (long long)m);
    int64_t numel;
    TSR_TRY(tsr_layout_numel_there(&numel, 2, (int64_t[]){n, m}));
    TsrTensor *t, *out = c->out[0];
    TsrDtype d = dtype_or(o.dtype, out != NULL ? out->dtype : tsr_default_dtype());
    if (d == TSR_UINT16 || d == TSR_UINT32 || d == TSR_UINT64 || d == TSR_COMPLEX32)
        return tsr_not_implemented("eye", d);
    if (is_matrix_of(out, n, m)) t = tsr_tensor_retain(out);
    else TSR_TRY(tsr_tensor_new(&t, 2, (int64_t[]){n, m}, d, o.device));
    TsrStatus status = t == out || tsr_on_device(t) ? eye_over(t) : eye_dense(t);
    return tsr_finish_move(c, status, t);
}

static TsrStatus check_triangle(int64_t rows, int64_t cols, TsrDtype d, const char *name) {
    if (rows < 0) return tsr_error(TSR_RUNTIME_ERROR, "row must be non-negative, got%lld", (long long)rows);
    if (cols < 0) return tsr_error(TSR_RUNTIME_ERROR, "col must be non-negative, got%lld", (long long)cols);
    if (d == TSR_INT32 || d == TSR_INT64) return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", name, tsr_dtype_scalar_name(d));
}

/* The columns [first, last) of row r that are in the triangle. */
static void triangle_row(int64_t r, int64_t cols, int64_t offset, bool lower, int64_t *first, int64_t *last) {
    int64_t edge;
    if (tsr_add_overflows(r, offset, &edge)) edge = offset > 0 ? INT64_MAX : INT64_MIN + 1;
    edge = TSR_MIN(edge, INT64_MAX - 1);
    *first = lower ? 0 : TSR_MIN(TSR_MAX(edge, 0), cols);
    *last = lower ? TSR_MAX(TSR_MIN(edge + 1, cols), 0) : cols;
}

/* Elements on and below the diagonal: rows before the triangle, a ramp, then full rows. False when int64 does not hold
 * them. */
static bool count_lower(int64_t *count, int64_t rows, int64_t cols, int64_t offset) {
    int64_t skipped = offset < 0 ? -TSR_MAX(offset, -INT64_MAX) : 0, first, triangle, full;
    *count = 0;
    if (skipped >= rows || cols == 0) return true;
    int64_t n = rows - skipped, start = offset < 0 ? 1 : TSR_MIN(offset, cols) + 1; /* columns of the first row */
    int64_t ramp = TSR_MIN(TSR_MAX(cols - start, 0), n);
    if (start > cols) return !tsr_mul_overflows(n, cols, count);
    int64_t even = ramp % 2 == 0 ? ramp / 2 : ramp, odd = ramp % 2 == 0 ? ramp - 1 : (ramp - 1) / 2;
    return !tsr_mul_overflows(ramp, start, &first) && !tsr_mul_overflows(even, odd, &triangle) &&
           !tsr_mul_overflows(n - ramp, cols, &full) && !tsr_add_overflows(first, triangle, count) &&
           !tsr_add_overflows(*count, full, count);
}

/* The upper triangle is the lower one of the transposed matrix. */
static TsrStatus count_triangle(int64_t *count, int64_t rows, int64_t cols, int64_t offset, bool lower) {
    bool held =
        lower ? count_lower(count, rows, cols, offset) : count_lower(count, cols, rows, -TSR_MAX(offset, -INT64_MAX));
    if (held && *count <= INT64_MAX / 2) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed");
}

/* On a device: where the elements of a matrix of ones are that has lost its other triangle. */
static TsrStatus triangle_there(TsrOpCall *c, TsrDtype dtype, TsrDevice device, bool lower) {
    const int64_t sizes[2] = {c->arg[0].i, c->arg[1].i};
    TsrScope s = {0};
    TsrTensor *ones = MAKE(&s, tsr_tensor_new, 2, sizes, TSR_BOOL, device);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(ones, tsr_scalar_bool(true));
    TsrTensor *kept = CALL(&s, lower ? "tril" : "triu", "ti", ones, c->arg[2].i);
    TsrTensor *places = CALL(&s, "nonzero", "t", kept), *lines = CALL(&s, "t", "t", places);
    TsrTensor *cast = MAKE(&s, tsr_tensor_new_cast, lines, dtype);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_clone, cast, TSR_CONTIGUOUS));
}

static TsrStatus new_triangle(TsrOpCall *c, bool lower) {
    int64_t rows = c->arg[0].i, cols = c->arg[1].i, offset = c->arg[2].i, count = 0, first, last;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, 3, TSR_DEVICE_CPU));
    TsrDtype dtype = dtype_or(o.dtype, TSR_INT64);
    TSR_TRY(check_triangle(rows, cols, dtype, c->schema->base));
    TSR_TRY(count_triangle(&count, rows, cols, offset, lower));
    if (tsr_device_has_backend(o.device)) return triangle_there(c, dtype, o.device, lower);
    TsrTensor *t, *cast = NULL;
    TSR_TRY(tsr_tensor_new(&t, 2, (int64_t[]){2, count}, o.device.type == TSR_META ? dtype : TSR_INT64, o.device));
    if (tsr_is_meta(t)) return tsr_return_move(c, t);
    int64_t *row = tsr_data(t), *column = row + count, *end = column;
    int64_t top = lower && offset < 0 ? -TSR_MAX(offset, -INT64_MAX) : 0; /* the first row with elements */
    for (int64_t r = top; r < rows && row < end && tsr_interrupt_flag == 0; r++) {
        triangle_row(r, cols, offset, lower, &first, &last);
        for (int64_t k = first; k < last; k++) *row++ = r, *column++ = k;
    }
    TsrStatus status = tsr_tensor_new_cast(&cast, t, dtype);
    tsr_tensor_free(t);
    return tsr_finish_move(c, status, cast);
}

TsrStatus op_tril_indices(TsrOpCall *c) { return new_triangle(c, true); }
TsrStatus op_triu_indices(TsrOpCall *c) { return new_triangle(c, false); }
