/* Random calls that are likely to be accepted: see op_calls.h. */
#include "core/op/op_calls.h"
#include "suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "core/rng.h"

const char *const call_layout_names[CALL_LAYOUTS] = {"contiguous", "transposed", "offset", "stepped",
                                                     "expanded",   "empty",      "0-d"};

static uint64_t state;

void calls_seed(uint64_t seed) { state = (seed + 1) * 0x9E3779B97F4A7C15u; }

uint32_t calls_below(uint32_t n) { /* xorshift64* */
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (uint32_t)(((state * 0x2545F4914F6CDD1Du) >> 33) % n);
}

static void swap(int64_t *a, int64_t *b) {
    int64_t t = *a;
    *a = *b;
    *b = t;
}

/* ---- hints ---- */

/* What the elements of a tensor are to be, beyond its dtype. */
typedef enum Values {
    ANY,
    INDEX,    /* int64, 0 or more, below the least size in play */
    BOOLS,    /* dtype bool */
    INT64S,   /* dtype int64 */
    INT32S,   /* dtype int32, 1 or more: LAPACK's pivots */
    POSITIVE, /* above 0 */
    UNIT,     /* in [0, 1] */
    RISING,   /* sorted */
    DEFINITE, /* each matrix of the last two dimensions Hermitian positive definite */
    FLOATS,   /* floating point of any kind, whatever the dtype asked for */
    REAL      /* the real dtype of the dtype asked for */
} Values;

/* `shape`: a letter is a size that stays the same over one call, a digit itself; `*` in front: the call's own batch
 * dimensions; `.`: 0-d, or 0; `=`: 0-d, or the number behind it; empty: as other tensors. For an int, one letter or
 * number; for an int[], as many. For a str, the words to choose from. */
typedef struct Hint {
    const char *op, *param, *shape;
    Values values;
} Hint;
static const Hint hints[] = {
#define HINT(op, param, shape, values) {op, param, shape, values},
#include "core/op/op_hints.def"
#undef HINT
};

static bool name_fits(const char *pattern, const char *name) {
    size_t n = strlen(pattern);
    if (n > 0 && pattern[n - 1] == '*') return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* The longest pattern that fits is the nearest. */
static const Hint *find_hint(const OpCall *c, const TsrParam *p) {
    static const Hint none = {"", "", "", ANY};
    const Hint *best = &none;
    for (size_t i = 0; i < TSR_COUNTOF(hints); i++)
        if (strcmp(hints[i].param, p->name) == 0 && name_fits(hints[i].op, c->schema->name) &&
            strlen(hints[i].op) > strlen(best->op))
            best = &hints[i];
    return best;
}

/* ---- one call in the making ---- */

typedef struct Maker {
    OpCall *call;
    TsrDtype dtype;
    CallLayout layout;
    bool wild;
    int ndim; /* of tensors without a hint */
    int64_t sizes[4];
    int64_t letters[26];
    const TsrTensor *first; /* the first tensor made; NULL before */
} Maker;

static void *block(Maker *m, size_t bytes) {
    OpCall *c = m->call;
    if (c->nblocks == CALL_BLOCKS) return NULL;
    return c->blocks[c->nblocks++] = calloc(1, bytes + 8);
}

char *call_element(const TsrTensor *t, int64_t number) {
    int64_t at = t->offset;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        at += number % t->sizes[d] * t->strides[d];
        number /= t->sizes[d];
    }
    return (char *)t->storage->ptr.data + at * (int64_t)tsr_itemsize(t);
}

/* Sizes of the tensor beneath a view of the layout; *view makes it. */
static TsrStatus make_view(TsrTensor **out, const TsrTensor *base, CallLayout layout, int dim, int ndim,
                           const int64_t *sizes) {
    switch (layout) {
    case LAID_TRANSPOSED: return tsr_tensor_new_transpose(out, base, dim, ndim - 1);
    case LAID_OFFSET:
        return ndim == 0 ? tsr_tensor_new_select(out, base, 0, 1) : tsr_tensor_new_narrow(out, base, 0, 1, sizes[0]);
    case LAID_STEPPED: return tsr_tensor_new_slice(out, base, -1, 0, INT64_MAX, 2);
    case LAID_EXPANDED: return tsr_tensor_new_expand(out, base, ndim, sizes);
    default: return tsr_tensor_new_alias(out, base);
    }
}

TsrTensor *call_tensor(int ndim, const int64_t *sizes, TsrDtype dtype, CallLayout layout) {
    int64_t under[TSR_MAX_DIMS] = {2};
    int dim = ndim > 1 ? (int)calls_below((uint32_t)ndim - 1) : 0, under_dims = ndim;
    memcpy(under, sizes, sizeof *sizes * (size_t)ndim);
    if (layout == LAID_TRANSPOSED && ndim < 2) layout = LAID_STEPPED;
    if (ndim == 0 && layout != LAID_CONTIGUOUS) layout = LAID_OFFSET;
    if (layout == LAID_TRANSPOSED) swap(&under[dim], &under[ndim - 1]);
    if (layout == LAID_OFFSET) {
        under[0] = ndim == 0 ? 2 : under[0] + 1;
        under_dims = TSR_MAX(ndim, 1);
    }
    if (layout == LAID_STEPPED) under[ndim - 1] = TSR_MAX(2 * under[ndim - 1] - 1, 0);
    if (layout == LAID_EXPANDED) under[dim] = TSR_MIN(under[dim], 1);
    TsrTensor *base = NULL, *view = NULL;
    if (tsr_tensor_new(&base, under_dims, under, dtype, TSR_DEVICE_CPU) != TSR_OK) return NULL;
    for (int64_t i = 0; i < base->numel; i++)
        tsr_scalar_store(tsr_scalar_int(dtype == TSR_BOOL ? 1 : 77), dtype, call_element(base, i));
    if (make_view(&view, base, layout, dim, ndim, sizes) != TSR_OK) view = NULL;
    tsr_tensor_free(base);
    return view;
}

/* ---- values ---- */

static double small_number(void) { return ((double)calls_below(33) - 16) / 4; }

static double wild_number(void) {
    static const double odd[] = {0, -0.0, 0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0, 1e30, -1e30, 1e-30, 60000, 0.5, 1};
    return calls_below(3) == 0 ? odd[calls_below(TSR_COUNTOF(odd))] : small_number() * 3;
}

static TsrScalar random_value(const Maker *m, TsrDtype dtype) {
    switch (tsr_dtype_kind(dtype)) {
    case TSR_KIND_BOOL: return tsr_scalar_bool(calls_below(2));
    case TSR_KIND_UINT: return tsr_scalar_int(m->wild && calls_below(8) == 0 ? 255 : calls_below(9));
    case TSR_KIND_INT: return tsr_scalar_int(m->wild && calls_below(8) == 0 ? -128 : (int64_t)calls_below(9) - 4);
    case TSR_KIND_COMPLEX: {
        double re = m->wild ? wild_number() : small_number(), im = m->wild ? wild_number() : small_number();
        return tsr_scalar_complex(re, im);
    }
    default: return tsr_scalar_float(m->wild ? wild_number() : small_number());
    }
}

static int64_t least_size(const Maker *m) {
    int64_t least = 2;
    for (int d = 0; m->first != NULL && d < tsr_ndim(m->first); d++) least = TSR_MIN(least, m->first->sizes[d]);
    return TSR_MAX(least, 1);
}

static TsrScalar value_for(const Maker *m, Values values, TsrDtype dtype, int64_t number) {
    switch (values) {
    case INDEX: return tsr_scalar_int(calls_below((uint32_t)least_size(m)));
    case INT32S: return tsr_scalar_int(1 + calls_below(2));
    case INT64S: return tsr_scalar_int(calls_below(4));
    case POSITIVE:
        return tsr_dtype_is_float(dtype) || tsr_dtype_is_complex(dtype) ? tsr_scalar_float((1 + calls_below(16)) / 4.0)
                                                                        : tsr_scalar_int(1 + calls_below(4));
    case UNIT:
        return tsr_dtype_is_float(dtype) || tsr_dtype_is_complex(dtype) ? tsr_scalar_float(calls_below(9) / 8.0)
                                                                        : tsr_scalar_int(calls_below(2));
    case RISING: return tsr_scalar_int(number);
    default: return random_value(m, dtype);
    }
}

/* Makes each matrix Hermitian with a heavy diagonal. */
static void make_definite(TsrTensor *t) {
    int ndim = tsr_ndim(t);
    if (ndim < 2 || t->sizes[ndim - 1] != t->sizes[ndim - 2]) return;
    int64_t n = t->sizes[ndim - 1];
    for (int64_t i = 0; i < t->numel; i++) {
        int64_t row = i / n % n, col = i % n, across = i - row * n - col + col * n + row;
        TsrScalar s = tsr_scalar_load(t->dtype, call_element(t, across));
        if (row == col) s = tsr_scalar_float(32);
        else if (row < col) continue;
        else if (s.kind == TSR_SCALAR_COMPLEX) s.c.im = -s.c.im;
        tsr_scalar_store(s, t->dtype, call_element(t, i));
    }
}

static void fill(const Maker *m, TsrTensor *t, Values values) {
    for (int64_t i = 0; i < t->numel; i++)
        tsr_scalar_store(value_for(m, values, t->dtype, i), t->dtype, call_element(t, i));
    if (values == DEFINITE) make_definite(t);
}

/* ---- shapes ---- */

static int64_t letter(const Maker *m, char c) {
    return c == '.' ? 0 : c >= '0' && c <= '9' ? c - '0' : m->letters[c - 'a'];
}

/* Of an int with a hint. */
static int64_t hinted_int(const Maker *m, const char *shape) {
    return letter(m, shape[0] == '=' ? shape[1] : shape[0]);
}

/* Of a tensor with a hint. */
static int hinted_shape(const Maker *m, const char *shape, int64_t *sizes) {
    int n = 0;
    if (*shape == '*') {
        for (; n < TSR_MIN(m->ndim, 2); n++) sizes[n] = m->sizes[n];
        shape++;
    }
    for (; *shape != '\0' && *shape != '.' && *shape != '='; shape++) sizes[n++] = letter(m, *shape);
    return n;
}

/* Mostly the call's own shape; else one that broadcasts with it, or another. */
static int free_shape(const Maker *m, int64_t *sizes) {
    int skip = 0;
    uint32_t way = m->first == NULL ? 0 : calls_below(8);
    if (way == 5 && m->ndim > 0) skip = 1;
    for (int d = skip; d < m->ndim; d++) sizes[d - skip] = way == 6 && calls_below(2) ? 1 : m->sizes[d];
    if (way == 7) return 0;
    return m->ndim - skip;
}

static TsrDtype dtype_for(const Maker *m, Values values) {
    static const TsrDtype others[] = {TSR_FLOAT32,   TSR_INT64,   TSR_FLOAT64, TSR_BOOL,
                                      TSR_COMPLEX64, TSR_FLOAT16, TSR_UINT8};
    switch (values) {
    case INDEX:
    case INT64S: return TSR_INT64;
    case INT32S: return TSR_INT32;
    case BOOLS: return TSR_BOOL;
    case FLOATS: return tsr_dtype_is_float(m->dtype) ? m->dtype : TSR_FLOAT32;
    case REAL: return tsr_dtype_real_of(m->dtype);
    default: return m->first != NULL && calls_below(8) == 0 ? others[calls_below(TSR_COUNTOF(others))] : m->dtype;
    }
}

static CallLayout layout_for(const Maker *m) {
    if (m->first == NULL || m->layout == LAID_CONTIGUOUS || calls_below(2) == 0) return m->layout;
    return (CallLayout)calls_below(LAID_EXPANDED + 1);
}

static TsrTensor *make_tensor(Maker *m, const Hint *hint) {
    int64_t sizes[8];
    OpCall *c = m->call;
    if (c->ntensors == CALL_TENSORS) return NULL;
    int ndim = hint->shape[0] != '\0' ? hinted_shape(m, hint->shape, sizes) : free_shape(m, sizes);
    TsrTensor *t = call_tensor(ndim, sizes, dtype_for(m, hint->values), layout_for(m));
    if (t == NULL) return NULL;
    fill(m, t, hint->values);
    if (m->first == NULL) m->first = t;
    return c->tensors[c->ntensors++] = t;
}

/* ---- the other kinds ---- */

static int first_ndim(const Maker *m) { return m->first != NULL ? tsr_ndim(m->first) : m->ndim; }

static bool is_dim(const char *name) {
    return strncmp(name, "dim", 3) == 0 || strncmp(name, "axis", 4) == 0 || strcmp(name, "source") == 0 ||
           strcmp(name, "destination") == 0;
}

static int64_t random_dim(const Maker *m) {
    int n = TSR_MAX(first_ndim(m), 1);
    return (int64_t)calls_below((uint32_t)(2 * n)) - n;
}

static int64_t random_int(const Maker *m, const TsrParam *p, const Hint *hint) {
    if (hint->shape[0] != '\0') return hinted_int(m, hint->shape);
    if (is_dim(p->name)) return random_dim(m);
    return calls_below(4) == 0 ? (int64_t)calls_below(6) - 3 : 1 + calls_below(3);
}

static bool is_shape(const char *name) {
    return strcmp(name, "size") == 0 || strcmp(name, "sizes") == 0 || strcmp(name, "shape") == 0;
}

/* The first tensor's sizes as they are, reversed, or in one dimension. */
static int random_sizes(const Maker *m, int64_t *out) {
    int n = first_ndim(m);
    const int64_t *sizes = m->first != NULL ? m->first->sizes : m->sizes;
    switch (calls_below(4)) {
    case 0: out[0] = -1; return 1;
    case 1:
        for (int d = 0; d < n; d++) out[d] = sizes[n - 1 - d];
        return n;
    default: memcpy(out, sizes, sizeof *out * (size_t)n); return n;
    }
}

/* Some of the dimensions, each once; all of them where an order is asked for. */
static int random_dims(const Maker *m, bool all, int64_t *out) {
    int n = first_ndim(m), taken = 0;
    int64_t order[TSR_MAX_DIMS];
    for (int d = 0; d < n; d++) order[d] = d;
    for (int d = n - 1; d > 0; d--) swap(&order[d], &order[calls_below((uint32_t)d + 1)]);
    for (int d = 0; d < n; d++)
        if (all || calls_below(2)) out[taken++] = calls_below(3) == 0 ? order[d] - n : order[d];
    return taken;
}

static int contiguous_strides(const Maker *m, int64_t *out) {
    int n = first_ndim(m);
    tsr_layout_contiguous_strides(out, n, m->first != NULL ? m->first->sizes : m->sizes);
    return n;
}

/* as_strided and the like want sizes and strides that belong together. */
static bool has_strides(const TsrSchema *schema) {
    for (int i = 0; i < schema->nparams; i++)
        if (strcmp(schema->params[i].name, "stride") == 0) return true;
    return false;
}

static int shape_argument(const Maker *m, int64_t *out) {
    if (m->first != NULL && !has_strides(m->call->schema)) return random_sizes(m, out);
    memcpy(out, m->first != NULL ? m->first->sizes : m->sizes, sizeof *out * (size_t)first_ndim(m));
    return first_ndim(m);
}

static void random_ints(Maker *m, TsrArg *a, const TsrParam *p, const Hint *hint) {
    int64_t *out = a->ints = block(m, sizeof(int64_t) * TSR_MAX_DIMS);
    if (hint->shape[0] != '\0') {
        for (a->n = 0; hint->shape[a->n] != '\0'; a->n++) out[a->n] = letter(m, hint->shape[a->n]);
    } else if (is_shape(p->name)) {
        a->n = shape_argument(m, out);
    } else if (is_dim(p->name)) {
        a->n = random_dims(m, strstr(m->call->schema->name, "permute") != NULL, out);
    } else if (strcmp(p->name, "stride") == 0 && p->fixed == 0) {
        a->n = contiguous_strides(m, out);
    } else {
        a->n = p->fixed > 0 ? p->fixed : (int)calls_below(3) + 1;
        for (int i = 0; i < a->n; i++) out[i] = 1 + calls_below(3);
    }
}

static const char *random_word(const char *words, Maker *m) {
    int n = 1;
    for (const char *p = words; *p != '\0'; p++) n += *p == ' ';
    for (int skip = (int)calls_below((uint32_t)n); skip > 0; skip--) words = strchr(words, ' ') + 1;
    size_t length = strcspn(words, " ");
    char *copy = block(m, length + 1);
    return copy == NULL ? NULL : memcpy(copy, words, length);
}

static TsrScalar random_scalar(const Maker *m) {
    TsrDtypeKind kind = tsr_dtype_kind(m->dtype);
    if (calls_below(6) == 0) return tsr_scalar_float(small_number());
    if (kind == TSR_KIND_COMPLEX && calls_below(2)) return tsr_scalar_complex(small_number(), small_number());
    if (kind == TSR_KIND_FLOAT && calls_below(2)) return tsr_scalar_float(small_number());
    return kind == TSR_KIND_BOOL ? tsr_scalar_bool(calls_below(2)) : tsr_scalar_int(calls_below(5));
}

static bool fill_tensors(Maker *m, TsrArg *a, const TsrParam *p, const Hint *hint) {
    a->n = p->fixed > 0 ? p->fixed : 1 + (int)calls_below(3);
    if (hint->values == RISING)
        a->n = 1 + (int)calls_below(2); /* edges of the bins of a column, places along a dimension */
    a->tensors = block(m, sizeof(TsrTensor *) * (size_t)a->n);
    for (int i = 0; i < a->n; i++)
        if ((a->tensors[i] = make_tensor(m, hint)) == NULL) return false;
    return true;
}

static bool fill_argument(Maker *m, TsrArg *a, const TsrParam *p) {
    const Hint *hint = find_hint(m->call, p);
    static const TsrDtype wanted[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_INT64, TSR_COMPLEX64};
    if ((p->has_default && calls_below(2) == 0) || p->type == TSR_ARG_DEVICE || p->type == TSR_ARG_LAYOUT ||
        p->type == TSR_ARG_MEMORY_FORMAT) {
        *a = p->value;
        if (p->has_default) return true;
    }
    if (p->optional && (calls_below(2) == 0 || p->type == TSR_ARG_DEVICE || p->type == TSR_ARG_LAYOUT ||
                        p->type == TSR_ARG_GENERATOR || p->type == TSR_ARG_DTYPE)) {
        *a = (TsrArg){.kind = TSR_ARG_NONE};
        return true;
    }
    *a = (TsrArg){.kind = p->type};
    switch (p->type) {
    case TSR_ARG_TENSOR: return (a->t = make_tensor(m, hint)) != NULL;
    case TSR_ARG_TENSORS: return fill_tensors(m, a, p, hint);
    case TSR_ARG_SCALAR:
        a->s = hint->shape[0] != '\0' ? tsr_scalar_int(hinted_int(m, hint->shape)) : random_scalar(m);
        return true;
    case TSR_ARG_SCALARS:
        a->n = first_ndim(m);
        a->scalars = block(m, sizeof(TsrScalar) * (size_t)a->n);
        for (int i = 0; i < a->n; i++) a->scalars[i] = random_scalar(m);
        return true;
    case TSR_ARG_INT: a->i = random_int(m, p, hint); return true;
    case TSR_ARG_INTS: random_ints(m, a, p, hint); return true;
    case TSR_ARG_FLOAT: a->f = hint->values == UNIT ? calls_below(5) / 4.0 : small_number(); return true;
    case TSR_ARG_FLOATS:
        a->n = 2;
        a->floats = block(m, 2 * sizeof(double));
        a->floats[1] = 4;
        return true;
    case TSR_ARG_BOOL: a->b = calls_below(2); return true;
    case TSR_ARG_BOOLS:
        a->n = 0;
        a->bools = NULL;
        return true;
    case TSR_ARG_STR:
        return (a->str = random_word(hint->shape[0] >= 'A' ? hint->shape : "mean sum valid same", m)) != NULL;
    case TSR_ARG_DTYPE: a->dtype = wanted[calls_below(TSR_COUNTOF(wanted))]; return true;
    case TSR_ARG_GENERATOR: a->any = tsr_rng_default(); return true;
    default: return false;
    }
}

static bool fill_arguments(Maker *m) {
    const TsrSchema *schema = m->call->schema;
    for (int i = 0; i < schema->nparams; i++)
        if (!fill_argument(m, &m->call->arg[i], &schema->params[i])) return false;
    return true;
}

bool call_begin(OpCall *call, const TsrOp *op, const TsrSchema *schema, TsrDtype dtype, CallLayout layout, bool wild) {
    Maker m = {.call = call, .dtype = dtype, .layout = layout, .wild = wild};
    *call = (OpCall){.op = op, .schema = schema};
    m.ndim = layout == LAID_SCALAR ? 0 : 1 + (int)calls_below(3);
    for (int d = 0; d < m.ndim; d++) m.sizes[d] = 1 + calls_below(4);
    for (int i = 0; i < 26; i++) m.letters[i] = 1 + calls_below(4);
    if (layout == LAID_EMPTY) {
        m.sizes[calls_below((uint32_t)m.ndim)] = 0;
        m.letters["nmkbc"[calls_below(5)] - 'a'] = 0;
    }
    return fill_arguments(&m);
}

bool call_begin_large(OpCall *call, const TsrOp *op, const TsrSchema *schema, TsrDtype dtype) {
    Maker m = {.call = call, .dtype = dtype, .layout = LAID_CONTIGUOUS, .ndim = 2, .sizes = {3, 50001}};
    *call = (OpCall){.op = op, .schema = schema};
    for (int i = 0; i < 26; i++) m.letters[i] = 200;
    return fill_arguments(&m);
}

/* ---- copies ---- */

TsrTensor *call_tensor_copy(const TsrTensor *t, CallCopy how) {
    TsrTensor *copy = NULL;
    TsrStorage *storage = NULL;
    if (how == COPY_CONTIGUOUS) {
        if (tsr_tensor_new(&copy, tsr_ndim(t), t->sizes, t->dtype, TSR_DEVICE_CPU) != TSR_OK) return NULL;
        for (int64_t i = 0; i < t->numel; i++) memcpy(call_element(copy, i), call_element(t, i), tsr_itemsize(t));
        return copy;
    }
    if (tsr_storage_new(&storage, how == COPY_META ? TSR_DEVICE_META : TSR_DEVICE_CPU, t->storage->nbytes,
                        TSR_DTYPE_NONE) != TSR_OK)
        return NULL;
    if (storage->nbytes > 0 && how != COPY_META) memcpy(storage->ptr.data, t->storage->ptr.data, storage->nbytes);
    if (tsr_tensor_new_over(&copy, storage, tsr_tensor_geometry(t), t->dtype) != TSR_OK) copy = NULL;
    tsr_storage_free(storage);
    return copy;
}

static TsrTensor *copy_into(OpCall *copy, const TsrTensor *t, CallCopy how) {
    TsrTensor *made = call_tensor_copy(t, how);
    if (made != NULL) copy->tensors[copy->ntensors++] = made;
    return made;
}

bool call_copy(OpCall *copy, const OpCall *from, CallCopy how) {
    *copy = (OpCall){.op = from->op, .schema = from->schema};
    memcpy(copy->arg, from->arg, sizeof copy->arg);
    for (int i = 0; i < from->schema->nparams; i++) {
        TsrArg *a = &copy->arg[i];
        if (a->kind == TSR_ARG_TENSOR && (a->t = copy_into(copy, a->t, how)) == NULL) return false;
        if (a->kind == TSR_ARG_DEVICE && how == COPY_META) a->device = TSR_DEVICE_META;
        if (a->kind != TSR_ARG_TENSORS || a->n == 0) continue;
        TsrTensor **list = copy->blocks[copy->nblocks++] = calloc((size_t)a->n, sizeof *list);
        for (int k = 0; k < a->n; k++)
            if (a->tensors[k] != NULL && (list[k] = copy_into(copy, a->tensors[k], how)) == NULL) return false;
        a->tensors = list;
    }
    return true;
}

void call_end(OpCall *call) {
    for (int i = 0; i < call->ntensors; i++) tsr_tensor_free(call->tensors[i]);
    for (int i = 0; i < call->nblocks; i++) free(call->blocks[i]);
    call->ntensors = call->nblocks = 0;
}

/* ---- no call may take long ---- */

enum { WATCH_SECONDS = 10 }; /* of processor time, for small tensors */
static const OpCall *watched;
static int stopped; /* calls that took as long */
static bool stopping;

/* The call is interrupted, as by Ctrl-C; one that goes on after that is the end. */
static void time_is_up(int sig) {
    (void)sig;
    fprintf(stderr, stopping ? "goes on after an interrupt:\n" : "takes more than %d s:\n",
            WATCH_SECONDS * test_slowness());
    call_describe(watched);
    if (stopping) abort();
    stopping = true;
    stopped++;
    tsr_interrupt_request();
}

static void watch(const OpCall *call) {
    int seconds = WATCH_SECONDS * test_slowness();
    struct itimerval every = {.it_interval.tv_sec = seconds, .it_value.tv_sec = seconds}, never = {0};
    watched = call;
    stopping = false;
    signal(SIGPROF, time_is_up);
    setitimer(ITIMER_PROF, call != NULL ? &every : &never, NULL);
}

int calls_stopped(void) { return stopped; }

TsrStatus call_run_into(OpCall *call, TsrOpCall *run, TsrTensor *const *out, bool inplace) {
    *run = (TsrOpCall){
        .op = call->op, .schema = call->schema, .arg = call->arg, .nargs = call->schema->nparams, .inplace = inplace};
    if (inplace) run->out[0] = call->arg[0].t;
    for (int k = 0; out != NULL && k < call->schema->nreturns; k++) run->out[k] = out[k];
    tsr_rng_seed(tsr_rng_default(), 1);
    tsr_error_clear();
    watch(call);
    TsrStatus status = tsr_op_run(run);
    watch(NULL);
    return status;
}

TsrStatus call_run(OpCall *call, TsrOpCall *run) {
    return call_run_into(call, run, NULL, (call->op->forms & TSR_INPLACE_ONLY) != 0);
}

/* ---- in words ---- */

static void describe_scalar(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: fprintf(stderr, "%s", s.b ? "True" : "False"); break;
    case TSR_SCALAR_INT: fprintf(stderr, "%lld", (long long)s.i); break;
    case TSR_SCALAR_UINT: fprintf(stderr, "%llu", (unsigned long long)s.u); break;
    case TSR_SCALAR_FLOAT: fprintf(stderr, "%.9g", s.f); break;
    case TSR_SCALAR_COMPLEX: fprintf(stderr, "complex(%.9g, %.9g)", s.c.re, s.c.im); break;
    }
}

static void describe_ints(int n, const int64_t *ints) {
    fprintf(stderr, "[");
    for (int i = 0; i < n; i++) fprintf(stderr, i == 0 ? "%lld" : ", %lld", (long long)ints[i]);
    fprintf(stderr, "]");
}

void call_describe_tensor(const TsrTensor *t) {
    if (t == NULL || !tsr_is_defined(t) || tsr_is_sparse(t)) {
        fprintf(stderr, "%s", t != NULL && tsr_is_sparse(t) ? "sparse" : "undefined");
        return;
    }
    fprintf(stderr, "%s ", tsr_dtype_name(t->dtype));
    describe_ints(tsr_ndim(t), t->sizes);
    fprintf(stderr, " by ");
    describe_ints(tsr_ndim(t), t->strides);
    fprintf(stderr, " at %lld {", (long long)t->offset);
    for (int64_t i = 0; i < TSR_MIN(t->numel, 24) && !tsr_is_meta(t); i++) {
        if (i > 0) fprintf(stderr, ", ");
        describe_scalar(tsr_tensor_get(t, i));
    }
    fprintf(stderr, "}");
}

void call_describe(const OpCall *call) {
    fprintf(stderr, "  %s\n", call->op->schema);
    for (int i = 0; i < call->schema->nparams; i++) {
        const TsrArg *a = &call->arg[i];
        fprintf(stderr, "    %s = ", call->schema->params[i].name);
        switch (a->kind) {
        case TSR_ARG_NONE: fprintf(stderr, "None"); break;
        case TSR_ARG_TENSOR: call_describe_tensor(a->t); break;
        case TSR_ARG_TENSORS:
            for (int k = 0; k < a->n; k++) {
                if (k > 0) fprintf(stderr, "; ");
                call_describe_tensor(a->tensors[k]);
            }
            break;
        case TSR_ARG_SCALAR: describe_scalar(a->s); break;
        case TSR_ARG_INT: fprintf(stderr, "%lld", (long long)a->i); break;
        case TSR_ARG_INTS: describe_ints(a->n, a->ints); break;
        case TSR_ARG_FLOAT: fprintf(stderr, "%.17g", a->f); break;
        case TSR_ARG_BOOL: fprintf(stderr, "%s", a->b ? "True" : "False"); break;
        case TSR_ARG_STR: fprintf(stderr, "'%s'", a->str); break;
        case TSR_ARG_DTYPE:
            fprintf(stderr, "%s", a->dtype == TSR_DTYPE_NONE ? "None" : tsr_dtype_name(a->dtype));
            break;
        default: fprintf(stderr, "..."); break;
        }
        fprintf(stderr, "\n");
    }
}
