/* Elements in other places: flip, roll, rot90, padding, fill_diagonal_. */
#include <stdio.h>
#include <string.h>

#include "core/engine/places.h"
#include "core/kernels/move/move.h"
#include "core/kernels/move/select.h"
#include "core/op/compose.h"
#include "core/ops/reduce/reduce.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"

/* ---- flip ---- */

/* PyTorch moves whole rows of the result for any dtype, single elements only for these. */
static TsrStatus check_flip(const TsrTensor *out, const TsrTensor *self, uint64_t dims) {
    int row = 0;
    for (int d = 0; d < tsr_ndim(self); d++) { /* what repeats one element is the same either way round */
        if (self->sizes[d] < 2 || self->strides[d] == 0) dims &= ~((uint64_t)1 << d);
        if (self->sizes[d] > 1 && out->strides[d] == 1) row = d;
    }
    if (dims == 0 || ((dims >> row & 1) == 0 && self->strides[row] == 1)) return TSR_OK;
    return tsr_in(TSR_BITS_FLOAT8 | TSR_BIT(COMPLEX32), self->dtype) ? tsr_not_implemented("flip_cpu", self->dtype)
                                                                     : TSR_OK;
}

static TsrStatus flip_new(TsrTensor **out, const TsrTensor *self, uint64_t dims) {
    TSR_TRY(tsr_check_dim_set(tsr_ndim(self)));
    TSR_TRY(tsr_tensor_new_like(out, self, TSR_DTYPE_NONE, TSR_PRESERVE));
    TsrStatus status = self->numel > 0 ? check_flip(*out, self, dims) : TSR_OK;
    if (status == TSR_OK) status = tsr_tensor_copy_flipped(*out, self, dims);
    return tsr_owned_keep(out, status);
}

TsrStatus op_flip(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    uint64_t dims;
    TSR_TRY(tsr_dim_set(&dims, c->arg[1].n, c->arg[1].ints, tsr_ndim(self)));
    return tsr_finish_move(c, flip_new(&t, self, dims), t);
}

TsrStatus op_fliplr(TsrOpCall *c) {
    TsrTensor *t = NULL;
    if (tsr_ndim(c->arg[0].t) < 2) return tsr_error(TSR_RUNTIME_ERROR, "Input must be >= 2-d.");
    return tsr_finish_move(c, flip_new(&t, c->arg[0].t, 2), t);
}

TsrStatus op_flipud(TsrOpCall *c) {
    TsrTensor *t = NULL;
    if (tsr_ndim(c->arg[0].t) < 1) return tsr_error(TSR_RUNTIME_ERROR, "Input must be >= 1-d.");
    return tsr_finish_move(c, flip_new(&t, c->arg[0].t, 1), t);
}

/* ---- rot90 ---- */

/* Swaps two dimensions of a fresh tensor. */
static TsrStatus swap_dims(TsrTensor *t, int64_t a, int64_t b) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    memcpy(sizes, t->sizes, sizeof *sizes * (size_t)tsr_ndim(t));
    memcpy(strides, t->strides, sizeof *strides * (size_t)tsr_ndim(t));
    sizes[a] = t->sizes[b];
    sizes[b] = t->sizes[a];
    strides[a] = t->strides[b];
    strides[b] = t->strides[a];
    return tsr_tensor_set_geometry(t, (TsrGeometry){tsr_ndim(t), sizes, strides, t->offset});
}

TsrStatus op_rot90(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    int64_t k = ((c->arg[1].i % 4) + 4) % 4, total = tsr_ndim(self), a, b;
    if (c->arg[2].n != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "expected total rotation dims == 2, but got dims = %d", c->arg[2].n);
    if (total < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "expected total dims >= 2, but got total dims = %lld", (long long)total);
    a = c->arg[2].ints[0];
    b = c->arg[2].ints[1];
    TSR_TRY(tsr_wrap_dim(&a, (int)total));
    TSR_TRY(tsr_wrap_dim(&b, (int)total));
    if (a == b)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "expected rotation dims to be different, but got dim0 = %lld and dim1 = %lld",
                         (long long)c->arg[2].ints[0], (long long)c->arg[2].ints[1]);
    if (k == 0) return tsr_finish_move(c, tsr_tensor_new_clone(&t, self, TSR_CONTIGUOUS), t);
    TSR_TRY(flip_new(&t, self, k == 1 ? 1ull << b : k == 3 ? 1ull << a : 1ull << a | 1ull << b));
    return tsr_finish_move(c, k == 2 ? TSR_OK : swap_dims(t, a, b), t);
}

static TsrStatus formatted_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrMemoryFormat format,
                               const TsrTensor *like) {
    int64_t strides[TSR_MAX_DIMS];
    if (format == TSR_CONTIGUOUS) return tsr_tensor_new(out, ndim, sizes, like->dtype, like->device);
    tsr_layout_channels_last_strides(strides, ndim, sizes);
    return tsr_tensor_new_strided(out, ndim, sizes, strides, like->dtype, like->device);
}

/* ---- roll ---- */

/* Short blocks of a row-major tensor, whose first `head` bytes go to the end. */
typedef struct RollBlocks {
    char *to;
    const char *from;
    int64_t bytes, head;
} RollBlocks;

static void roll_blocks(int64_t begin, int64_t end, void *user) {
    const RollBlocks *j = user;
    for (int64_t i = begin; i < end; i++) {
        char *to = j->to + i * j->bytes;
        const char *from = j->from + i * j->bytes;
        tsr_kernel_copy(to, from + j->head, j->bytes - j->head);
        tsr_kernel_copy(to + j->bytes - j->head, from, j->head);
    }
}

/* One dimension: two pieces change places. The result has self's format, channels last or row-major; with an empty
 * piece, row-major. */
static TsrStatus roll_new(TsrTensor **out, const TsrTensor *self, int64_t shift, int64_t dim) {
    if (self->numel == 0) return tsr_tensor_new_clone(out, self, TSR_PRESERVE);
    int64_t size = self->sizes[dim];
    int64_t start = ((size - shift % size) % size + size) % size;
    TSR_TRY(formatted_new(out, tsr_ndim(self), self->sizes, start == 0 ? TSR_CONTIGUOUS : tsr_suggested_format(self),
                          self));
    if (tsr_is_meta(self)) return TSR_OK;
    int64_t bytes = size * (int64_t)tsr_itemsize(self);
    for (int d = (int)dim + 1; d < tsr_ndim(self); d++) bytes *= self->sizes[d];
    if (!tsr_on_device(self) && tsr_is_contiguous(self, TSR_CONTIGUOUS) && tsr_is_contiguous(*out, TSR_CONTIGUOUS) &&
        bytes <= TSR_CHUNK_BYTES) {
        RollBlocks j = {tsr_data(*out), tsr_data(self), bytes, bytes / size * start};
        return tsr_owned_keep(out, tsr_parallel_for(self->numel * (int64_t)tsr_itemsize(self) / bytes,
                                                    TSR_MAX(TSR_CHUNK_BYTES / bytes, (int64_t)1), roll_blocks, &j));
    }
    TsrScope s = {0};
    TsrTensor *t0 = MAKE(&s, tsr_tensor_new_narrow, *out, dim, 0, size - start),
              *f0 = MAKE(&s, tsr_tensor_new_narrow, self, dim, start, size - start);
    TsrTensor *t1 = MAKE(&s, tsr_tensor_new_narrow, *out, dim, size - start, start),
              *f1 = MAKE(&s, tsr_tensor_new_narrow, self, dim, 0, start);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(t0, f0);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(t1, f1);
    TsrStatus status = tsr_scope_end(&s);
    return tsr_owned_keep(out, status);
}

TsrStatus op_roll(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int ns = c->arg[1].n, nd = c->arg[2].n;
    const int64_t *shifts = c->arg[1].ints, *dims = c->arg[2].ints;
    int64_t minus = -1;
    TsrScope s = {0};
    if (ns == 0) return tsr_error(TSR_RUNTIME_ERROR, "`shifts` required");
    if (nd == 0 && ns == 1 && self->numel == 0 && tsr_ndim(self) == 1)
        return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_clone, self, TSR_PRESERVE));
    if (nd == 0 && ns == 1) {
        TsrTensor *flat = MAKE(&s, tsr_tensor_new_reshape, self, 1, &minus),
                  *rolled = MAKE(&s, roll_new, flat, shifts[0], 0);
        int64_t strides[TSR_MAX_DIMS];
        tsr_layout_contiguous_strides(strides, tsr_ndim(self), self->sizes);
        if (s.status == TSR_OK)
            s.status =
                tsr_tensor_set_geometry(rolled, (TsrGeometry){tsr_ndim(self), self->sizes, strides, rolled->offset});
        return tsr_scope_return(c, &s, rolled);
    }
    if (ns != nd) return tsr_error(TSR_RUNTIME_ERROR, "shifts and dimensions must align. shifts: %d, dims:%d", ns, nd);
    if (tsr_ndim(self) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions",
                         (long long)dims[0]);
    TsrTensor *t = self;
    for (int i = 0; i < nd; i++) {
        int64_t d = dims[i];
        if (s.status == TSR_OK && self->numel > 0)
            s.status = tsr_wrap_dim(&d, tsr_ndim(self)); /* of an empty tensor no dimension is looked at */
        t = MAKE(&s, roll_new, t, shifts[i], d);
    }
    return tsr_scope_return(c, &s, t);
}

/* ---- padding with a constant ---- */

/* Cuts what negative padding takes away. */
static TsrTensor *crop(TsrScope *s, TsrTensor *t, int n, const int64_t *pad) {
    for (int i = 0; i < n / 2; i++) {
        int d = tsr_ndim(t) - 1 - i;
        if (pad[2 * i] < 0) t = MAKE(s, tsr_tensor_new_narrow, t, d, -pad[2 * i], t->sizes[d] + pad[2 * i]);
        if (s->status == TSR_OK && pad[2 * i + 1] != 0 && pad[2 * i + 1] < 0)
            t = MAKE(s, tsr_tensor_new_narrow, t, d, 0, t->sizes[d] + pad[2 * i + 1]);
        if (s->status != TSR_OK) return NULL;
    }
    return t;
}

/* A padded size; one that is too large wraps around, as PyTorch's does. */
static int64_t padded(int64_t size, int64_t before, int64_t after) {
    return (int64_t)((uint64_t)size + (uint64_t)before + (uint64_t)after);
}

static TsrStatus pad_constant(TsrOpCall *c, TsrTensor *self, int n, const int64_t *pad, TsrScalar value) {
    int ndim = tsr_ndim(self);
    if (n % 2 != 0) return tsr_error(TSR_RUNTIME_ERROR, "Length of pad must be even but instead it equals %d", n);
    if (n > 2 * ndim)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is %dwhile "
            "the input has %ddimensions.",
            n, ndim);
    int64_t sizes[TSR_MAX_DIMS];
    memcpy(sizes, self->sizes, sizeof *sizes * (size_t)ndim);
    bool grows = false;
    for (int i = 0; i < n; i++) {
        if (pad[i] == INT64_MIN) return tsr_error(TSR_RUNTIME_ERROR, "pad: the result's size overflows");
        grows |= pad[i] > 0;
    }
    TsrScope s = {0};
    TsrTensor *inner = crop(&s, self, n, pad);
    if (s.status != TSR_OK) return tsr_scope_return(c, &s, NULL);
    if (!grows) return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_clone, inner, TSR_PRESERVE));
    for (int d = ndim - n / 2; d < ndim; d++) {
        int64_t before = pad[2 * (ndim - 1 - d)], after = pad[2 * (ndim - 1 - d) + 1];
        sizes[d] = padded(self->sizes[d], before, after);
        if (sizes[d] < 0)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "The input size %lld, plus negative padding %lld and %lld resulted in a negative output "
                             "size, which is invalid. Check dimension %d of your input.",
                             (long long)self->sizes[d], (long long)before, (long long)after, d);
    }
    TsrTensor *t = MAKE(&s, formatted_new, ndim, sizes, tsr_suggested_format(self), self), *place = t;
    if (s.status == TSR_OK && !tsr_is_meta(self)) s.status = tsr_tensor_fill(t, value);
    for (int i = 0; i < n / 2 && s.status == TSR_OK; i++) {
        int d = ndim - 1 - i;
        if (pad[2 * i] > 0) place = MAKE(&s, tsr_tensor_new_narrow, place, d, pad[2 * i], place->sizes[d] - pad[2 * i]);
        if (s.status == TSR_OK && pad[2 * i + 1] > 0)
            place = MAKE(&s, tsr_tensor_new_narrow, place, d, 0, place->sizes[d] - pad[2 * i + 1]);
    }
    if (s.status == TSR_OK && !tsr_is_meta(self)) s.status = tsr_tensor_copy(place, inner);
    return tsr_scope_return(c, &s, t);
}

TsrStatus op_constant_pad_nd(TsrOpCall *c) {
    return pad_constant(c, c->arg[0].t, c->arg[1].n, c->arg[1].ints, c->arg[2].s);
}

/* ---- padding from the input ---- */

typedef enum PadMode { REFLECT, REPLICATE, CIRCULAR } PadMode;

/* Where position i of the padded dimension comes from. */
static int64_t source_of(PadMode mode, int64_t i, int64_t size) {
    switch (mode) {
    case REFLECT: return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
    case REPLICATE: return i < 0 ? 0 : i >= size ? size - 1 : i;
    default: return ((i % size) + size) % size;
    }
}

/* Negative padding crops; what is wrapped around is what is left then. Where nothing is, PyTorch leaves its memory as
 * it found it: any element will do. */
static int64_t circular_source(int64_t i, int64_t size, int64_t before, int64_t after) {
    int64_t start = TSR_MAX(-before, (int64_t)0), kept = size - start - TSR_MAX(-after, (int64_t)0);
    return kept > 0 ? start + source_of(CIRCULAR, i - start, kept) : TSR_MIN(start, size - 1);
}

/* n positions, those of the input itself from `before` on. */
static void fill_positions(int64_t *p, int64_t n, PadMode mode, int64_t size, int64_t before) {
    int64_t low = TSR_MIN(TSR_MAX(before, (int64_t)0), n), high = TSR_MAX(TSR_MIN(before + size, n), low);
    TSR_IN_PIECES(i, low) p[i] = source_of(mode, i - before, size);
    TSR_IN_PIECES(i, high - low) p[low + i] = low + i - before;
    TSR_IN_PIECES(i, n - high) p[high + i] = source_of(mode, high + i - before, size);
}

static TsrStatus positions_new(TsrTensor **out, PadMode mode, int64_t size, int64_t before, int64_t after,
                               TsrDevice device) {
    int64_t n = size + before + after;
    TSR_OWNED made = NULL;
    if (device.type == TSR_META) return tsr_tensor_new(out, 1, &n, TSR_INT64, device);
    TSR_TRY(tsr_tensor_new(&made, 1, &n, TSR_INT64, TSR_DEVICE_CPU));
    int64_t *p = tsr_data(made);
    if (mode == CIRCULAR) TSR_IN_PIECES(i, n) p[i] = circular_source(i - before, size, before, after);
    else fill_positions(p, n, mode, size, before);
    TSR_TRY(tsr_interrupt_check());
    return tsr_new_there(out, made, device);
}

/* Dimension names from the last: W, H, D. */
static const char *const dim_names[] = {"W", "H", "D"};

static TsrStatus check_output(const TsrTensor *self, int k, const int64_t *pad) {
    char in[128] = "", out[128] = "";
    bool small = false;
    for (int i = k - 1; i >= 0; i--) {
        int64_t size = self->sizes[tsr_ndim(self) - 1 - i], result = padded(size, pad[2 * i], pad[2 * i + 1]);
        small |= result < 1;
        size_t a = strlen(in), b = strlen(out);
        snprintf(in + a, sizeof in - a, "%s%s: %lld", a > 0 ? ", " : "", dim_names[i], (long long)size);
        snprintf(out + b, sizeof out - b, "%s%s: %lld", b > 0 ? " " : "", dim_names[i], (long long)result);
    }
    if (!small) return TSR_OK;
    if (k == 1) return tsr_error(TSR_RUNTIME_ERROR, "input (%s) is too small. Calculated output %s", in, out);
    return tsr_error(TSR_RUNTIME_ERROR, "Calculated output %s must be >= 1 in every dimension (input %s)", out, in);
}

static TsrStatus check_copied(PadMode mode, const TsrTensor *self, int n, const int64_t *pad) {
    int ndim = tsr_ndim(self), k = n / 2;
    bool supported = (n == 2 && (ndim == 2 || ndim == 3)) || (n == 4 && (ndim == 3 || ndim == 4)) ||
                     (n == 6 && (ndim == 4 || ndim == 5));
    if (!supported)
        return tsr_error(
            TSR_NOT_IMPLEMENTED_ERROR,
            "Padding size %d is not supported for %dD input tensor.\nSupported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads "
            "last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)",
            n, ndim);
    for (int d = ndim == k + 2 ? 1 : 0; d < ndim && mode != CIRCULAR; d++)
        if (self->sizes[d] == 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Expected %dD or %dD (batch mode) tensor with possibly 0 batch size and other non-zero dimensions "
                "for input, but got: %s",
                k + 1, k + 2, tsr_sizes_text(self));
    for (int i = 0; i < k; i++) {
        int64_t size = self->sizes[ndim - 1 - i];
        if (mode == REFLECT && (pad[2 * i] >= size || pad[2 * i + 1] >= size))
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "Argument #%d: Padding size should be less than the corresponding input dimension, but got: padding "
                "(%lld, %lld) at dimension %d of input %s",
                4 + 2 * i, (long long)pad[2 * i], (long long)pad[2 * i + 1], ndim - 1 - i, tsr_sizes_text(self));
        if (mode == CIRCULAR && (pad[2 * i] > size || pad[2 * i + 1] > size))
            return tsr_error(TSR_RUNTIME_ERROR, "Padding value causes wrapping around more than once.");
        if (mode == CIRCULAR && padded(size, pad[2 * i], pad[2 * i + 1]) < 0)
            return tsr_error(TSR_RUNTIME_ERROR, "Negative padding value is resulting in an empty dimension");
    }
    return mode == CIRCULAR ? TSR_OK : check_output(self, k, pad);
}

/* Lines of a row-major tensor, padded: which line of a sample each comes from, and in it a head and a tail around what
 * is copied as it is. */
typedef struct PadLines {
    const int64_t *line, *column; /* of the result, where from */
    int64_t lines, from_lines, width, from_width, head, run, item;
    char *to;
    const char *from;
} PadLines;

/* Ends of so few elements are copied one by one: to choose a kernel for them takes longer. */
enum { PAD_FEW = 8 };
#define COPY_FEW(bytes) \
    case bytes: \
        for (int64_t i = begin; i < end; i++) memcpy(to + i * (bytes), from + column[i] * (bytes), (bytes)); \
        return;

static void pad_ends(char *to, const char *from, const int64_t *column, int64_t begin, int64_t end, int64_t item) {
    if (end - begin <= PAD_FEW) switch (item) {
            COPY_FEW(1)
            COPY_FEW(2)
            COPY_FEW(4)
            COPY_FEW(8)
        default: break;
        }
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i += TSR_CHUNK_WORK)
        tsr_kernel_pick(to + i * item, from, column + i, TSR_MIN((int64_t)TSR_CHUNK_WORK, end - i), (size_t)item);
}

static void copy_run(char *to, const char *from, int64_t bytes) {
    for (int64_t i = 0; i < bytes && tsr_interrupt_flag == 0; i += TSR_CHUNK_BYTES)
        memcpy(to + i, from + i, (size_t)TSR_MIN((int64_t)TSR_CHUNK_BYTES, bytes - i));
}

static void pad_lines(int64_t begin, int64_t end, void *user) {
    const PadLines *j = user;
    int64_t sample = begin / j->lines * j->from_lines, line = begin % j->lines;
    for (int64_t i = begin; i < end; i++) {
        const char *from = j->from + (sample + j->line[line]) * j->from_width * j->item;
        char *to = j->to + i * j->width * j->item;
        if (++line == j->lines) line = 0, sample += j->from_lines;
        pad_ends(to, from, j->column, 0, j->head, j->item);
        copy_run(to + j->head * j->item, from + j->column[j->head] * j->item, j->run * j->item);
        pad_ends(to, from, j->column, j->head + j->run, j->width, j->item);
    }
}

/* The lines of a sample: those of one dimension more for each place in an outer one. */
static TsrStatus lines_new(TsrTensor **out, const TsrTensor *outer, int64_t inner, const TsrTensor *lines) {
    int64_t n, count = lines->numel;
    if (tsr_mul_overflows(outer->numel, count, &n))
        return tsr_error(TSR_RUNTIME_ERROR, "pad: the result's size overflows");
    TSR_TRY(tsr_tensor_new(out, 1, &n, TSR_INT64, lines->device));
    int64_t *to = tsr_data(*out);
    const int64_t *high = tsr_data(outer), *low = tsr_data(lines);
    TSR_IN_PIECES(i, n) to[i] = high[i / count] * inner + low[i % count];
    return tsr_owned_keep(out, tsr_interrupt_check());
}

static TsrStatus pad_rows(TsrOpCall *c, TsrTensor *self, int n, const int64_t *pad, PadMode mode) {
    int ndim = tsr_ndim(self), k = n / 2;
    int64_t sizes[TSR_MAX_DIMS], one = 1, inner = 1;
    TsrScope s = {0};
    memcpy(sizes, self->sizes, sizeof *sizes * (size_t)ndim);
    TsrTensor *columns = MAKE(&s, positions_new, mode, sizes[ndim - 1], pad[0], pad[1], self->device),
              *lines = MAKE(&s, tsr_zeros_new, 1, &one, TSR_INT64, self->device);
    for (int i = 1; i < k; i++) {
        TsrTensor *positions =
            MAKE(&s, positions_new, mode, sizes[ndim - 1 - i], pad[2 * i], pad[2 * i + 1], self->device);
        lines = MAKE(&s, lines_new, positions, inner, lines);
        inner *= sizes[ndim - 1 - i];
    }
    for (int i = 0; i < k; i++) sizes[ndim - 1 - i] += pad[2 * i] + pad[2 * i + 1];
    TsrTensor *result = MAKE(&s, tsr_tensor_new, ndim, sizes, self->dtype, self->device);
    if (s.status != TSR_OK || result->numel == 0) return tsr_scope_return(c, &s, result);
    PadLines j = {tsr_data(lines),
                  tsr_data(columns),
                  lines->numel,
                  inner,
                  sizes[ndim - 1],
                  self->sizes[ndim - 1],
                  .item = (int64_t)tsr_itemsize(self),
                  .to = tsr_data(result),
                  .from = tsr_data(self)};
    j.head = TSR_MIN(TSR_MAX(pad[0], (int64_t)0), j.width - 1);
    if (pad[0] >= 0 && pad[1] >= 0) j.run = j.from_width; /* the input is in it as it is */
    while (j.head + j.run < j.width && j.column[j.head + j.run] == j.column[j.head] + j.run) j.run++;
    s.status = tsr_parallel_for(result->numel / j.width, tsr_grain(j.width / 4), pad_lines, &j);
    return tsr_scope_return(c, &s, result);
}

/* No memory holds what is padded so far: the error is of a tensor of that size. One that wrapped around to few elements
 * is refused, too. */
static TsrStatus pad_too_far(TsrOpCall *c, const TsrTensor *self, int n, const int64_t *pad) {
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *t = NULL;
    memcpy(sizes, self->sizes, sizeof *sizes * (size_t)tsr_ndim(self));
    for (int i = 0; i < n / 2; i++) {
        int64_t *size = &sizes[tsr_ndim(self) - 1 - i];
        *size = padded(*size, pad[2 * i], pad[2 * i + 1]);
    }
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(self), sizes, self->dtype, self->device));
    if (tsr_is_meta(t)) return tsr_return_move(c, t);
    tsr_tensor_free(t);
    return tsr_error(TSR_RUNTIME_ERROR, "pad: the result's size overflows");
}

static TsrStatus pad_copied(TsrOpCall *c, TsrTensor *self, int n, const int64_t *pad, PadMode mode) {
    static const char *const kernels[2][3] = {{"reflection_pad1d", "reflection_pad2d", "reflection_pad3d"},
                                              {"replication_pad1d", "replication_pad2d", "replication_pad3d"}};
    TSR_TRY(check_copied(mode, self, n, pad));
    for (int i = 0; i < n; i++) /* so that sizes and pads can be added */
        if (pad[i] > INT64_MAX / 16 || pad[i] < INT64_MIN / 16) return pad_too_far(c, self, n, pad);
    if (mode != CIRCULAR)
        TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_COMPLEX, self->dtype, kernels[mode][n / 2 - 1]));
    if (tsr_is_contiguous(self, TSR_CONTIGUOUS) && self->numel > 0 && !tsr_is_meta(self) && !tsr_on_device(self))
        return pad_rows(c, self, n, pad, mode);
    TsrScope s = {0};
    TsrTensor *t = self;
    for (int i = 0; i < n / 2; i++) {
        int d = tsr_ndim(self) - 1 - i;
        TsrTensor *positions = MAKE(&s, positions_new, mode, self->sizes[d], pad[2 * i], pad[2 * i + 1], self->device);
        t = CALL(&s, "index_select", "tit", t, (int64_t)d, positions);
    }
    TsrMemoryFormat format = tsr_suggested_format(self);
    if (mode != CIRCULAR && n > 2 && format != TSR_CONTIGUOUS) t = MAKE(&s, tsr_tensor_new_clone, t, format);
    return tsr_scope_return(c, &s, t);
}

/* Copies the input and then each border that is wider than 0, as the version of the result tells. */
static TsrStatus pad_circular(TsrOpCall *c, TsrTensor *self, int n, const int64_t *pad) {
    TSR_TRY(pad_copied(c, self, n, pad, CIRCULAR));
    tsr_tensor_bump(c->ret[0].t, "copy_");
    for (int i = 0; i < n; i++)
        if (pad[i] > 0) tsr_tensor_bump(c->ret[0].t, "copy_");
    return TSR_OK;
}

/* nn.functional.pad(input, pad, mode, value) */
TsrStatus op_pad(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int n = c->arg[1].n;
    const int64_t *pad = c->arg[1].ints;
    const char *mode = c->arg[2].str;
    bool has_value = tsr_arg_given(&c->arg[3]), constant = strcmp(mode, "constant") == 0,
         reflect = strcmp(mode, "reflect") == 0, replicate = strcmp(mode, "replicate") == 0;
    if (!constant && !reflect && !replicate && strcmp(mode, "circular") != 0)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Unrecognised padding mode %s", mode);
    if (n % 2 != 0) return tsr_error(TSR_RUNTIME_ERROR, "Padding length must be divisible by 2");
    if (n > 2 * tsr_ndim(self))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Padding length should be less than or equal to two times the input dimension but got padding length %d "
            "and input of dimension %d",
            n, tsr_ndim(self));
    if (constant) return pad_constant(c, self, n, pad, has_value ? tsr_scalar_float(c->arg[3].f) : tsr_scalar_float(0));
    if (has_value && c->arg[3].f != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Padding mode \"%s\" doesn't take in value argument", mode);
    if (reflect) return pad_copied(c, self, n, pad, REFLECT);
    if (replicate) return pad_copied(c, self, n, pad, REPLICATE);
    return pad_circular(c, self, n, pad);
}

/* ---- fill_diagonal_ ---- */

TsrStatus op_fill_diagonal_(TsrOpCall *c) {
    TsrTensor *self = c->out[0] != NULL ? c->out[0] : c->arg[0].t, *diagonal;
    int n = tsr_ndim(self);
    if (n < 2) return tsr_error(TSR_RUNTIME_ERROR, "dimensions must larger than 1");
    for (int d = 1; d < n && n > 2; d++)
        if (self->sizes[d] != self->sizes[0])
            return tsr_error(TSR_RUNTIME_ERROR, "all dimensions of input must be of equal length");
    int64_t step = 0, length = TSR_MIN(self->sizes[0], self->sizes[1]), columns = self->sizes[1];
    for (int d = 0; d < n; d++) step += self->strides[d];
    TSR_TRY(tsr_tensor_new_view(&diagonal, self, &(TsrGeometry){1, &length, &step, self->offset}, NULL));
    TsrStatus status = tsr_tensor_fill(diagonal, c->arg[1].s);
    tsr_tensor_free(diagonal);
    /* Tall matrices: the diagonal starts again below a row left out, counted as PyTorch does: by elements in a row,
     * even where rows do not follow one another in memory. */
    if (status == TSR_OK && n == 2 && c->arg[2].b && self->sizes[0] > columns + 1) {
        int64_t rest = (self->numel + columns) / (columns + 1) - length,
                offset = self->offset + self->strides[0] * (columns + 1);
        status = tsr_tensor_new_as_strided(&diagonal, self, (TsrGeometry){1, &rest, &step, offset});
        if (status == TSR_OK) {
            status = tsr_tensor_fill(diagonal, c->arg[1].s);
            tsr_tensor_free(diagonal);
        }
    }
    TSR_TRY(status);
    if (c->out[0] == NULL) TSR_TRY(tsr_tensor_written(self, "fill_diagonal_"));
    return tsr_return_move(c, tsr_tensor_retain(self));
}
