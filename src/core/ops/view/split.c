/* split, chunk, unbind and their kin: many views along one dimension, and the forms that copy them. */
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/inference.h"

#define SELF (c->arg[0].t)

/* Where the pieces end along one dimension: piece i is [start, end), as a slice reads them. */
typedef struct Cut {
    int64_t dim, count;
    void (*bounds)(const void *how, int64_t i, int64_t *start, int64_t *end);
    const void *how;
} Cut;

/* What the pieces are, and where they came from as one reads it. */
typedef struct Pieces {
    const char *origin;
    enum { VIEWS, UNSAFE, COPIES } are;
} Pieces;

static TsrStatus finish_piece(TsrTensor **piece, Pieces pieces) {
    TsrTensor *view = *piece, *made = NULL;
    view->origin = pieces.origin;
    if (pieces.are == VIEWS) return TSR_OK;
    TSR_TRY(pieces.are == UNSAFE ? tsr_tensor_new_data(&made, view)
                                 : tsr_tensor_new_clone(&made, view, TSR_CONTIGUOUS));
    tsr_tensor_free(view);
    *piece = made;
    return TSR_OK;
}

static TsrStatus cut_into(TsrOpCall *c, Cut cut, Pieces pieces) {
    TsrTensor **list;
    TSR_TRY(tsr_list_new(&list, cut.count));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < cut.count && status == TSR_OK; i++) {
        int64_t start, end;
        cut.bounds(cut.how, i, &start, &end);
        status = tsr_tensor_new_slice(&list[i], SELF, cut.dim, start, end, 1);
        if (status == TSR_OK) status = finish_piece(&list[i], pieces);
        if (status == TSR_OK) status = tsr_interrupt_check_at(i);
    }
    return tsr_return_made_list_move(c, status, list, cut.count);
}

typedef struct Even {
    int64_t size, total;
} Even;
static void cut_even(const void *how, int64_t i, int64_t *start, int64_t *end) {
    const Even *e = how;
    *start = i * e->size;
    *end = e->size < e->total - *start ? *start + e->size : e->total;
}

static TsrStatus split_even(TsrOpCall *c, int64_t size, int64_t dim, Pieces pieces) {
    if (tsr_ndim(SELF) == 0) return tsr_error(TSR_RUNTIME_ERROR, "split expects at least a 1-dimensional tensor");
    if (size < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "split expects split_size be non-negative, but got split_size=%lld",
                         (long long)size);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    int64_t total = SELF->sizes[dim];
    if (size == 0 && total != 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "split_size can only be 0 if dimension size is 0, but got dimension size of %lld",
                         (long long)total);
    Even even = {size, total};
    int64_t n = size == 0 ? 1 : total / size + (total % size != 0);
    return cut_into(c, (Cut){dim, n > 0 ? n : 1, cut_even, &even}, pieces);
}

typedef struct Sizes {
    const int64_t *sizes;
    int64_t at;
} Sizes; /* at: where the next piece starts */
static void cut_sizes(const void *how, int64_t i, int64_t *start, int64_t *end) {
    Sizes *s = (Sizes *)how;
    *start = s->at;
    *end = s->at += s->sizes[i];
}

static TsrStatus split_sizes(TsrOpCall *c, const TsrArg *sizes, int64_t dim, Pieces pieces) {
    int64_t sum = 0, given = dim;
    if (tsr_ndim(SELF) == 0) return tsr_error(TSR_RUNTIME_ERROR, "split expects at least a 1-dimensional tensor");
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    for (int i = 0; i < sizes->n; i++) {
        if (sizes->ints[i] < 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=%s",
                tsr_layout_text(sizes->n, sizes->ints));
        if (tsr_add_overflows(sum, sizes->ints[i], &sum)) sum = INT64_MAX;
    }
    if (sum != SELF->sizes[dim])
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "split_with_sizes expects split_sizes to sum exactly to %lld (input tensor's size at dimension %lld), "
            "but got split_sizes=%s",
            (long long)SELF->sizes[dim], (long long)given, tsr_layout_text(sizes->n, sizes->ints));
    Sizes how = {sizes->ints, 0};
    return cut_into(c, (Cut){dim, sizes->n, cut_sizes, &how}, pieces);
}

TsrStatus op_split(TsrOpCall *c) { return split_even(c, c->arg[1].i, c->arg[2].i, (Pieces){"split", VIEWS}); }
TsrStatus op_split_sizes(TsrOpCall *c) { return split_sizes(c, &c->arg[1], c->arg[2].i, (Pieces){"split", VIEWS}); }
TsrStatus op_split_with_sizes(TsrOpCall *c) {
    return split_sizes(c, &c->arg[1], c->arg[2].i, (Pieces){"split_with_sizes", VIEWS});
}
TsrStatus op_unsafe_split(TsrOpCall *c) {
    return split_even(c, c->arg[1].i, c->arg[2].i, (Pieces){"unsafe_split", UNSAFE});
}
TsrStatus op_unsafe_split_with_sizes(TsrOpCall *c) {
    return split_sizes(c, &c->arg[1], c->arg[2].i, (Pieces){"unsafe_split_with_sizes", UNSAFE});
}
static TsrStatus split_copies(TsrOpCall *c) { return split_even(c, c->arg[1].i, c->arg[2].i, (Pieces){NULL, COPIES}); }
static TsrStatus split_with_sizes_copies(TsrOpCall *c) {
    return split_sizes(c, &c->arg[1], c->arg[2].i, (Pieces){NULL, COPIES});
}

static void cut_empty(const void *how, int64_t i, int64_t *start, int64_t *end) {
    (void)how;
    (void)i;
    *start = *end = 0;
}

static TsrStatus chunk(TsrOpCall *c, Pieces pieces) {
    int64_t chunks = c->arg[1].i, dim = c->arg[2].i;
    if (tsr_ndim(SELF) == 0) return tsr_error(TSR_RUNTIME_ERROR, "chunk expects at least a 1-dimensional tensor");
    if (chunks <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "chunk expects `chunks` to be greater than 0, got: %lld",
                         (long long)chunks);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    int64_t total = SELF->sizes[dim];
    if (total == 0) return cut_into(c, (Cut){dim, chunks, cut_empty, NULL}, pieces);
    int64_t rounded_up = (int64_t)((uint64_t)total + (uint64_t)chunks - 1); /* wraps around, as PyTorch's does */
    return split_even(c, rounded_up / chunks, dim, pieces);
}
TsrStatus op_chunk(TsrOpCall *c) { return chunk(c, (Pieces){"chunk", VIEWS}); }
TsrStatus op_unsafe_chunk(TsrOpCall *c) { return chunk(c, (Pieces){"unsafe_chunk", UNSAFE}); }

/* tensor_split: pieces of nearly one size, the first ones longer; or cut at indices, as slices read them. */
typedef struct Sections {
    int64_t least, longer;
} Sections;
static void cut_sections(const void *how, int64_t i, int64_t *start, int64_t *end) {
    const Sections *s = how;
    *start = i * s->least + TSR_MIN(i, s->longer);
    *end = *start + s->least + (i < s->longer ? 1 : 0);
}

typedef struct Indices {
    const int64_t *at;
    int n;
} Indices;
static void cut_indices(const void *how, int64_t i, int64_t *start, int64_t *end) {
    const Indices *s = how;
    *start = i == 0 ? 0 : s->at[i - 1];
    *end = i == s->n ? INT64_MAX : s->at[i];
}

static TsrStatus split_sections(TsrOpCall *c, int64_t sections, int64_t dim, const char *origin) {
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    if (sections <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "number of sections must be larger than 0, got %lld", (long long)sections);
    Sections how = {SELF->sizes[dim] / sections, SELF->sizes[dim] % sections};
    return cut_into(c, (Cut){dim, sections, cut_sections, &how}, (Pieces){origin, VIEWS});
}

static TsrStatus split_indices(TsrOpCall *c, const int64_t *at, int n, int64_t dim, const char *origin) {
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    Indices how = {at, n};
    return cut_into(c, (Cut){dim, (int64_t)n + 1, cut_indices, &how}, (Pieces){origin, VIEWS});
}

static TsrStatus check_tensor_split(const TsrTensor *self) {
    if (tsr_ndim(self) > 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
}

TsrStatus op_tensor_split_sections(TsrOpCall *c) {
    TSR_TRY(check_tensor_split(SELF));
    return split_sections(c, c->arg[1].i, c->arg[2].i, "tensor_split");
}

TsrStatus op_tensor_split_indices(TsrOpCall *c) {
    TSR_TRY(check_tensor_split(SELF));
    return split_indices(c, c->arg[1].ints, c->arg[1].n, c->arg[2].i, "tensor_split");
}

static TsrStatus check_split_tensor(const TsrTensor *t) {
    if (tsr_is_meta(t))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta");
    if (t->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "tensor_split expected tensor_indices_or_sections to have dtype of long, but got %s",
                         tsr_dtype_scalar_name(t->dtype));
    if (tsr_ndim(t) > 1)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
            "but got a tensor with %d dims",
            tsr_ndim(t));
    return TSR_OK;
}

TsrStatus op_tensor_split_tensor(TsrOpCall *c) {
    TsrTensor *t = c->arg[1].t;
    TSR_TRY(check_tensor_split(SELF));
    TSR_TRY(check_split_tensor(t));
    if (tsr_ndim(t) == 0)
        return split_sections(c, tsr_scalar_to_int(tsr_tensor_get(t, 0)), c->arg[2].i, "tensor_split");
    int64_t *at = tsr_malloc_array((size_t)t->numel, sizeof *at);
    if (at == NULL) return tsr_error_no_memory((size_t)t->numel * sizeof *at);
    for (int64_t i = 0; i < t->numel; i++) at[i] = tsr_scalar_to_int(tsr_tensor_get(t, i));
    TsrStatus status = tsr_layout_check_symbolic((int)t->numel, at);
    if (status == TSR_OK) status = split_indices(c, at, (int)t->numel, c->arg[2].i, "tensor_split");
    tsr_free(at);
    return status;
}

/* hsplit, vsplit, dsplit: their dimension, the dimensions they need. */
static TsrStatus check_axis_split(const TsrTensor *self, char letter, int need) {
    if (tsr_ndim(self) >= need) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "torch.%csplit requires a tensor with at least %d dimension, but got a tensor with %d dimensions!",
                     letter, need, tsr_ndim(self));
}

static int64_t axis_of(const TsrTensor *self, char letter) {
    return letter == 'v' ? 0 : letter == 'd' ? 2 : tsr_ndim(self) == 1 ? 0 : 1;
}

static TsrStatus axis_sections(TsrOpCall *c, char letter, int need, const char *origin) {
    int64_t sections = c->arg[1].i;
    TSR_TRY(check_axis_split(SELF, letter, need));
    int64_t dim = axis_of(SELF, letter), size = SELF->sizes[dim];
    if (sections == 0 || size % sections != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.%csplit attempted to split along dimension %lld, but the size of the dimension %lld is not "
            "divisible by the split_size %lld!",
            letter, (long long)dim, (long long)size, (long long)sections);
    return split_sections(c, sections, dim, origin);
}

static TsrStatus axis_indices(TsrOpCall *c, char letter, int need, const char *origin) {
    TSR_TRY(check_axis_split(SELF, letter, need));
    return split_indices(c, c->arg[1].ints, c->arg[1].n, axis_of(SELF, letter), origin);
}
TsrStatus op_hsplit_sections(TsrOpCall *c) { return axis_sections(c, 'h', 1, "hsplit"); }
TsrStatus op_vsplit_sections(TsrOpCall *c) { return axis_sections(c, 'v', 2, "vsplit"); }
TsrStatus op_dsplit_sections(TsrOpCall *c) { return axis_sections(c, 'd', 3, "dsplit"); }
TsrStatus op_hsplit_indices(TsrOpCall *c) { return axis_indices(c, 'h', 1, "hsplit"); }
TsrStatus op_vsplit_indices(TsrOpCall *c) { return axis_indices(c, 'v', 2, "vsplit"); }
TsrStatus op_dsplit_indices(TsrOpCall *c) { return axis_indices(c, 'd', 3, "dsplit"); }

static TsrStatus unbind(TsrOpCall *c, Pieces pieces) {
    TsrTensor **list;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(SELF)));
    if (tsr_ndim(SELF) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    int64_t n = SELF->sizes[dim];
    TSR_TRY(tsr_list_new(&list, n));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) {
        status = tsr_tensor_new_select(&list[i], SELF, dim, i);
        if (status == TSR_OK) status = finish_piece(&list[i], pieces);
        if (status == TSR_OK) status = tsr_interrupt_check_at(i);
    }
    return tsr_return_made_list_move(c, status, list, n);
}
TsrStatus op_unbind(TsrOpCall *c) { return unbind(c, (Pieces){"unbind", VIEWS}); }
static TsrStatus unbind_copies(TsrOpCall *c) { return unbind(c, (Pieces){NULL, COPIES}); }

/* --- *_copy(out=): the copies written into a list of tensors --- */

typedef struct Into {
    const char *refusal; /* before " expected an out= argument of size" */
    bool resize;         /* each out= takes the size of its piece, and must have its dtype */
} Into;

/* Conjugate and negative views are not written to, one among many. */
static TsrStatus check_lazy(const TsrOpCall *c, const TsrArg *out) {
    unsigned lazy = 0;
    for (int i = 0; i < out->n; i++) lazy |= out->tensors[i]->flags;
    const char *what = lazy & TSR_FLAG_CONJ ? "conjugate" : lazy & TSR_FLAG_NEG ? "negation" : NULL;
    if (what == NULL) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        " fallback doesn't currently support mutable TensorLists with %s inputs. Please materialize all the "
        "%s input tensor(s) in the mutable TensorList inputs before calling aten::%s",
        what, what, c->schema->base);
}

static TsrStatus put_piece(TsrTensor *out, TsrTensor *piece, bool resize) {
    TSR_TRY(tsr_tensor_check(out, true));
    if (resize) {
        if (out->dtype != piece->dtype)
            return tsr_error(TSR_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead",
                             tsr_dtype_c_name(piece->dtype), tsr_dtype_c_name(out->dtype));
        if (!tsr_same_sizes(out, piece)) TSR_TRY(tsr_tensor_resize(out, tsr_ndim(piece), piece->sizes, TSR_CONTIGUOUS));
    }
    TSR_TRY(tsr_tensor_copy(out, piece));
    return tsr_tensor_written(out, "copy_");
}

/* The pieces that `make` returns go into the call's last argument, when it is given; then the call returns nothing. */
static TsrStatus copies_into(TsrOpCall *c, TsrOpFn make, const Into *how) {
    const TsrArg *out = &c->arg[c->nargs - 1];
    if (tsr_arg_given(out)) TSR_TRY(check_lazy(c, out));
    TSR_TRY(make(c));
    if (!tsr_arg_given(out)) return TSR_OK;
    TsrArg pieces = c->ret[0];
    TsrStatus status = TSR_OK;
    c->nret = 0;
    if (out->n != pieces.n)
        status = tsr_error(TSR_RUNTIME_ERROR, "%s expected an out= argument of size %d, got size %d", how->refusal,
                           pieces.n, out->n);
    for (int i = 0; i < pieces.n && status == TSR_OK; i++)
        status = put_piece(out->tensors[i], pieces.tensors[i], how->resize);
    tsr_list_free(pieces.tensors, pieces.n);
    return status;
}
TsrStatus op_split_copy(TsrOpCall *c) {
    return copies_into(c, split_copies, &(Into){"split_copy_Tensor_out()", false});
}
TsrStatus op_split_with_sizes_copy(TsrOpCall *c) {
    return copies_into(c, split_with_sizes_copies, &(Into){"split_with_sizes_copy_out", true});
}
TsrStatus op_unbind_copy(TsrOpCall *c) { return copies_into(c, unbind_copies, &(Into){"unbind_copy_int_out", true}); }
