/* search.c: searching in sorted numbers: searchsorted, bucketize, isin.
 *
 * Both sides are brought to double or int64, whichever holds them exactly; each value is then a binary search of its
 * own, split over threads, with comparisons written so that nan goes after all. isin sorts the keys of the elements to
 * look for once and searches each element among them; where they are few it compares with each, as PyTorch does, in the
 * dtype of the comparison. */
#include <math.h>
#include <string.h>

#include "core/engine/places.h"
#include "core/kernels/sort/keys.h"
#include "core/kernels/sort/sort.h"
#include "core/mem.h"
#include "core/op/out.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

/* ---- searchsorted ---- */

typedef struct Search {
    const char *bounds, *values; /* both contiguous, of the same C type: double or int64 */
    const int64_t *sorter;       /* NULL */
    char *out;
    int64_t nbounds, per_row, nrows; /* values per row of bounds; nrows 1: one row for all */
    bool right, integral, narrow;
} Search;

/* The comparisons are written so that nan, as a value, goes after all. */
#define BEFORE(x, v) (q->right ? !((x) > (v)) : !((x) >= (v)))
#define FIND(T) \
    const T *b = (const T *)(const void *)q->bounds + row * q->nbounds; \
    T v = ((const T *)(const void *)q->values)[i]; \
    while (low < high) { \
        int64_t middle = low + (high - low) / 2; \
        T x = b[sorter != NULL ? sorter[middle] : middle]; \
        if (BEFORE(x, v)) low = middle + 1; \
        else high = middle; \
    }

static void store_place(const Search *q, int64_t i, int64_t place) {
    if (q->narrow) ((int32_t *)(void *)q->out)[i] = (int32_t)place;
    else ((int64_t *)(void *)q->out)[i] = place;
}

/* ABREAST values beside each other in one row of bounds, without branches that depend on them, which are guessed wrong
 * half of the time: the steps of one value overlap those of the others. All take the steps that the longest way has; a
 * value that has arrived (low == high) stays. The middles are those of the plain search, so that what is found among
 * bounds out of order is the same too. bucketize of 1e6 floats by 1000 bounds, one thread on Zen 3: 73 ms one by one,
 * 25 so. */
enum { ABREAST = 8 };
#define FIND_TOGETHER(name, T) \
    static void name(const Search *q, int64_t i, int steps) { \
        const T *b = (const T *)(const void *)q->bounds, *v = (const T *)(const void *)q->values + i; \
        int64_t low[ABREAST] = {0}, high[ABREAST]; \
        for (int k = 0; k < ABREAST; k++) high[k] = q->nbounds; \
        for (; steps > 0; steps--) _Pragma("GCC unroll 8") for (int k = 0; k < ABREAST; k++) { \
                int64_t middle = low[k] + (high[k] - low[k]) / 2; \
                T x = b[TSR_MIN(middle, q->nbounds - 1)]; \
                int64_t before = -(int64_t)(BEFORE(x, v[k]) & (low[k] < high[k])); \
                low[k] = (before & (middle + 1)) | (~before & low[k]); \
                high[k] = (before & high[k]) | (~before & middle); \
            } \
        for (int k = 0; k < ABREAST; k++) store_place(q, i + k, low[k]); \
    }
FIND_TOGETHER(find_doubles, double)
FIND_TOGETHER(find_integers, int64_t)

/* Values of one row of bounds in their own order; returns the first one that is left. */
static int64_t search_together(const Search *q, int64_t begin, int64_t end) {
    if (q->sorter != NULL || q->nrows != 1 || q->nbounds == 0) return begin;
    int steps = 64 - __builtin_clzll((unsigned long long)q->nbounds);
    for (; begin + ABREAST <= end && tsr_interrupt_flag == 0; begin += ABREAST)
        (q->integral ? find_integers : find_doubles)(q, begin, steps);
    return begin;
}

static void search_range(int64_t begin, int64_t end, void *user) {
    const Search *q = user;
    for (int64_t i = search_together(q, begin, end); i < end; i++) {
        int64_t row = q->nrows == 1 ? 0 : i / q->per_row, low = 0, high = q->nbounds;
        const int64_t *sorter = q->sorter != NULL ? q->sorter + row * q->nbounds : NULL;
        if (q->integral) {
            FIND(int64_t)
        } else {
            FIND(double)
        }
        store_place(q, i, low);
    }
}

/* Both as contiguous doubles or int64, whichever holds them exactly. */
static TsrStatus dense_as(TsrTensor **out, const TsrTensor *t, TsrDtype common, TsrDtype wide) {
    TSR_OWNED rounded = NULL;
    TSR_TRY(tsr_tensor_new_cast(&rounded, t, common));
    return tsr_dense_new(out, rounded, wide);
}

/* On the device of the bounds. */
static TsrStatus search_there(TsrTensor *t, const TsrTensor *bounds, const TsrTensor *values, const TsrTensor *sorter,
                              bool right) {
    TSR_OWNED order = NULL;
    const TsrDeviceSearch how = {right};
    TsrDeviceWork work = {.what = TSR_P_SEARCH, .params = &how, .nparams = sizeof how};
    if (sorter != NULL) TSR_TRY(tsr_dense_new(&order, sorter, TSR_INT64));
    TSR_TRY(tsr_device_work_add(&work, t, true));
    TSR_TRY(tsr_device_work_add(&work, bounds, false));
    TSR_TRY(tsr_device_work_add(&work, values, false));
    if (sorter != NULL) TSR_TRY(tsr_device_work_add(&work, order, false));
    return tsr_device_work(t->device.type, &work);
}

static TsrStatus search_into(TsrTensor *t, TsrTensor *bounds, TsrTensor *values, const TsrTensor *sorter, bool right) {
    TsrDtype common;
    TsrTensor *both[2] = {bounds, values}, *b, *v, *s = NULL;
    TSR_TRY(tsr_result_type(&common, both, 2));
    if (bounds->dtype == values->dtype) common = bounds->dtype;
    TSR_TRY(tsr_require(TSR_BITS_USUAL, common, "searchsorted_out_cpu"));
    bool integral = tsr_dtype_is_integral(common);
    TsrDtype wide = integral ? TSR_INT64 : TSR_FLOAT64;
    TSR_TRY(dense_as(&b, bounds, common, wide));
    TsrStatus status = dense_as(&v, values, common, wide);
    if (status == TSR_OK && tsr_on_device(t)) {
        status = search_there(t, b, v, sorter, right);
        tsr_tensor_free(v);
    } else if (status == TSR_OK) {
        if (sorter != NULL) status = tsr_dense_new(&s, sorter, TSR_INT64);
        if (status == TSR_OK) {
            int64_t n = b->sizes[tsr_ndim(b) - 1];
            Search q = {.bounds = tsr_data(b),
                        .values = tsr_data(v),
                        .sorter = s != NULL ? tsr_data(s) : NULL,
                        .out = tsr_data(t),
                        .nbounds = n,
                        .nrows = tsr_ndim(b) == 1 ? 1 : 2,
                        .per_row = tsr_ndim(v) > 0 ? TSR_MAX(v->sizes[tsr_ndim(v) - 1], 1) : 1,
                        .right = right,
                        .integral = integral,
                        .narrow = t->dtype == TSR_INT32};
            status = tsr_parallel_for(v->numel, tsr_grain(8), search_range, &q);
            tsr_tensor_free(s);
        }
        tsr_tensor_free(v);
    }
    tsr_tensor_free(b);
    return status;
}

static TsrStatus check_sorter_there(const TsrTensor *sorter, int64_t n) {
    TsrScalar least, most;
    TsrScope s = {0};
    if (sorter->numel == 0) return TSR_OK;
    TsrTensor *low = CALL(&s, "amin", "t", sorter), *high = CALL(&s, "amax", "t", sorter);
    if (s.status == TSR_OK) s.status = tsr_tensor_item(&least, low);
    if (s.status == TSR_OK) s.status = tsr_tensor_item(&most, high);
    if (s.status == TSR_OK && (tsr_scalar_to_int(least) < 0 || tsr_scalar_to_int(most) >= n))
        s.status = tsr_error(TSR_RUNTIME_ERROR, "torch.searchsorted(): sorter index out of range");
    return tsr_scope_end(&s);
}

static TsrStatus check_sorter(const TsrTensor *bounds, const TsrTensor *sorter) {
    if (!tsr_same_sizes(bounds, sorter))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor %sand got "
            "sorter tensor %s",
            tsr_sizes_text(bounds), tsr_sizes_text(sorter));
    if (sorter->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype %s",
                         tsr_dtype_scalar_name(sorter->dtype));
    int64_t n = tsr_ndim(bounds) == 0 ? 1 : bounds->sizes[tsr_ndim(bounds) - 1];
    if (tsr_on_device(sorter)) return check_sorter_there(sorter, n);
    const int64_t places = tsr_is_meta(sorter) ? 0 : sorter->numel;
    TSR_IN_PIECES(i, places) {
        int64_t k = tsr_scalar_to_int(tsr_tensor_get(sorter, i));
        if (k < 0 || k >= n) return tsr_error(TSR_RUNTIME_ERROR, "torch.searchsorted(): sorter index out of range");
    }
    return TSR_OK;
}

static TsrStatus check_search(const TsrTensor *bounds, const TsrTensor *values, const TsrArg *right, const TsrArg *side,
                              const TsrTensor *sorter) {
    if (tsr_arg_given(side)) {
        bool is_right = strcmp(side->str, "right") == 0;
        if (!is_right && strcmp(side->str, "left") != 0)
            return tsr_error(TSR_RUNTIME_ERROR, "torch.searchsorted(): side can only be 'left' or 'right' but got %s",
                             side->str);
        if (right->b && !is_right)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "torch.searchsorted(): side and right can't be set to opposites, got side of %s while right was True",
                side->str);
    }
    if (sorter != NULL) TSR_TRY(check_sorter(bounds, sorter));
    if (!(tsr_ndim(values) > 0 || (tsr_ndim(values) == 0 && values->numel == 1 && tsr_ndim(bounds) == 1)))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we "
            "got boundaries tensor dim(%d) and input "
            "value's dim(%d) numel(%lld)",
            tsr_ndim(bounds), tsr_ndim(values), (long long)values->numel);
    if (tsr_ndim(bounds) == 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
    bool match = tsr_ndim(bounds) == 1 ||
                 (tsr_ndim(bounds) == tsr_ndim(values) &&
                  memcmp(bounds->sizes, values->sizes, sizeof(int64_t) * (size_t)(tsr_ndim(bounds) - 1)) == 0);
    if (!match)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            "tensor and input value tensor must match, "
            "but we got boundaries tensor %s and input value tensor %s",
            tsr_sizes_text(bounds), tsr_sizes_text(values));
    return TSR_OK;
}

static TsrStatus search(TsrOpCall *c, TsrTensor *bounds, TsrTensor *values, bool narrow, bool right,
                        const TsrTensor *sorter) {
    TsrTensor *t;
    TsrDtype dtype = narrow ? TSR_INT32 : TSR_INT64;
    if (c->out[0] != NULL && c->out[0]->dtype != dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) "
            "depending on whether out_int32 flag is True, but we "
            "got output tensor's dtype %s and out_int32 flag is %s",
            tsr_dtype_scalar_name(c->out[0]->dtype), narrow ? "True" : "False");
    if (narrow && bounds->numel > INT32_MAX)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.searchsorted(): the size of boundaries' last dimension should be less than 2147483647, but we got "
            "%lld",
            (long long)bounds->numel);
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(values), values->sizes, dtype, bounds->device));
    return tsr_finish_move(c, t->numel == 0 || tsr_is_meta(t) ? TSR_OK : search_into(t, bounds, values, sorter, right),
                           t);
}

/* (sorted_sequence, self, *, out_int32, right, side, sorter) */
TsrStatus op_searchsorted(TsrOpCall *c) {
    TsrTensor *bounds = c->arg[0].t, *values = c->arg[1].t, *sorter = tsr_arg_given(&c->arg[5]) ? c->arg[5].t : NULL;
    TSR_TRY(check_search(bounds, values, &c->arg[3], &c->arg[4], sorter));
    bool right = c->arg[3].b || (tsr_arg_given(&c->arg[4]) && strcmp(c->arg[4].str, "right") == 0);
    return search(c, bounds, values, c->arg[2].b, right, sorter);
}

/* The number as a tensor that is promoted as one, where `like` lies. */
static TsrStatus number_there(TsrTensor **out, TsrScalar number, const TsrTensor *like) {
    TsrTensor *wrapped;
    TSR_TRY(tsr_tensor_new_wrapped(&wrapped, number));
    if (!tsr_on_device(like)) {
        *out = wrapped;
        return TSR_OK;
    }
    TsrStatus status = tsr_new_there(out, wrapped, like->device);
    if (status == TSR_OK) (*out)->flags |= wrapped->flags;
    tsr_tensor_free(wrapped);
    return status;
}

TsrStatus op_searchsorted_scalar(TsrOpCall *c) {
    TsrArg given = c->arg[1];
    TsrTensor *value;
    TSR_TRY(number_there(&value, given.s, c->arg[0].t));
    c->arg[1] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = value};
    TsrStatus status = op_searchsorted(c);
    c->arg[1] = given;
    tsr_tensor_free(value);
    return status;
}

/* (self, boundaries, *, out_int32, right) */
static TsrStatus bucketize(TsrOpCall *c, TsrTensor *values) {
    TsrTensor *bounds = c->arg[1].t;
    if (tsr_ndim(bounds) != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "boundaries tensor must be 1 dimension, but got dim(%d)", tsr_ndim(bounds));
    return search(c, bounds, values, c->arg[2].b, c->arg[3].b, NULL);
}

TsrStatus op_bucketize(TsrOpCall *c) { return bucketize(c, c->arg[0].t); }

TsrStatus op_bucketize_scalar(TsrOpCall *c) {
    TSR_OWNED value = NULL;
    TSR_TRY(number_there(&value, c->arg[0].s, c->arg[1].t));
    return bucketize(c, value);
}

/* ---- isin ---- */

typedef struct Isin {
    const TsrPair *set; /* sorted by their keys */
    int64_t n;
    const char *elements;
    TsrDtype dtype;
    bool *out, invert;
    uint64_t nan_key;
} Isin;

static bool contains(const TsrPair *set, int64_t n, uint64_t key) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (set[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low < n && set[low].key == key;
}

static void isin_range(int64_t begin, int64_t end, void *user) {
    const Isin *q = user;
    uint64_t keys[256];
    int64_t item = (int64_t)tsr_dtype_size(q->dtype);
    bool floats = tsr_dtype_is_float(q->dtype);
    for (int64_t i = begin; i < end; i += 256) {
        int64_t m = TSR_MIN(end - i, 256);
        tsr_kernel_keys64(q->dtype, q->elements + i * item, item, m, keys);
        for (int64_t k = 0; k < m; k++)
            q->out[i + k] = (!(floats && keys[k] == q->nan_key) && contains(q->set, q->n, keys[k])) != q->invert;
    }
}

/* The keys of dense elements, in order; for tsr_free. */
static TsrStatus sorted_keys_new(TsrPair **out, const TsrTensor *dense) {
    int64_t n = dense->numel, item = (int64_t)tsr_itemsize(dense);
    TsrPair *set = tsr_malloc_array((size_t)TSR_MAX(n, 1), sizeof *set);
    if (set == NULL) return tsr_error_no_memory(sizeof *set * (size_t)n);
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i += 256) {
        uint64_t keys[256];
        int64_t m = TSR_MIN(n - i, 256);
        tsr_kernel_keys64(dense->dtype, (const char *)tsr_data(dense) + i * item, item, m, keys);
        for (int64_t k = 0; k < m; k++) set[i + k] = (TsrPair){keys[k], 0};
    }
    tsr_kernel_sort(set, n);
    *out = set;
    return TSR_OK;
}

/* On a device: what is to be looked for is sorted, each element is searched in it, and compared with what it found.
 * Unsigned numbers that searches have no kernel for are looked for by their bits. */
static TsrStatus isin_there(TsrTensor *t, TsrTensor *elements, TsrTensor *set, TsrDtype dtype, bool invert) {
    TsrTensor *sorted[2] = {NULL}, *done = NULL;
    int64_t minus = -1;
    TsrScope s = {0};
    if (set->numel == 0) return tsr_tensor_fill(t, tsr_scalar_bool(invert));
    if (tsr_in(TSR_BITS_UINT, dtype)) dtype = TSR_INT64;
    TsrTensor *there = MAKE(&s, tsr_new_there, elements, t->device), *e = MAKE(&s, tsr_tensor_new_cast, there, dtype),
              *cast = MAKE(&s, tsr_tensor_new_cast, set, dtype),
              *flat = MAKE(&s, tsr_tensor_new_reshape, cast, 1, &minus);
    if (s.status == TSR_OK) s.status = tsr_invoke_new(sorted, 2, "sort", "t", flat);
    TsrTensor *place = CALL(&s, "searchsorted", "tt", sorted[0], e),
              *kept = CALL(&s, "clamp_max", "ts", place, tsr_scalar_int(set->numel - 1)),
              *found = CALL(&s, "take", "tt", sorted[0], kept);
    if (s.status == TSR_OK) s.status = tsr_invoke_new(&done, 1, invert ? "ne" : "eq", "!ttt", t, e, found);
    tsr_tensor_free(done);
    tsr_free_all(sorted, 2);
    return tsr_scope_end(&s);
}

static TsrStatus isin_into(TsrTensor *t, TsrTensor *elements, TsrTensor *set, TsrDtype dtype, bool invert) {
    TsrTensor *e, *s;
    TsrPair *keys = NULL;
    if (tsr_on_device(t)) return isin_there(t, elements, set, dtype, invert);
    TSR_TRY(dense_as(&e, elements, dtype, dtype));
    TsrStatus status = dense_as(&s, set, dtype, dtype);
    if (status == TSR_OK) {
        status = sorted_keys_new(&keys, s);
        Isin q = {keys, s->numel, tsr_data(e), dtype, tsr_data(t), invert, tsr_kernel_nan_key(dtype)};
        if (status == TSR_OK) status = tsr_parallel_for(e->numel, tsr_grain(32), isin_range, &q);
        tsr_free(keys);
        tsr_tensor_free(s);
    }
    tsr_tensor_free(e);
    return status;
}

static TsrStatus check_isin(const TsrTensor *t) {
    if (t->dtype == TSR_BOOL || tsr_dtype_is_complex(t->dtype))
        if (t->dtype != TSR_COMPLEX32)
            return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Unsupported input type encountered for isin(): %s",
                             tsr_dtype_scalar_name(t->dtype));
    return TSR_OK;
}

/* Few numbers to look for are compared one by one, in the dtype of the comparison and flattened by view(): PyTorch's
 * refusal when that is no view. */
static TsrStatus check_few(const TsrTensor *elements, const TsrTensor *set, TsrDtype dtype) {
    int64_t minus = -1;
    TsrTensor *cast, *flat;
    if ((double)set->numel >= (double)(int64_t)(10.0 * pow((double)elements->numel, 0.145))) return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&cast, set, dtype));
    TsrStatus status = tsr_tensor_new_reshaped_view(&flat, cast, 1, &minus);
    if (status == TSR_OK) tsr_tensor_free(flat);
    tsr_tensor_free(cast);
    return status;
}

static TsrStatus isin(TsrOpCall *c, TsrTensor *elements, TsrTensor *set, bool invert) {
    TsrTensor *t, *both[2] = {elements, set};
    TsrDtype dtype = elements->dtype;
    TSR_TRY(check_isin(elements));
    TSR_TRY(check_isin(set));
    TSR_TRY(tsr_check_out_dtype(c, 0, TSR_BOOL));
    /* PyTorch sorts a large set, where its elements may be equal. */
    bool sorts = (double)set->numel >= 10 * pow((double)elements->numel, 0.145);
    unsigned allowed = sorts ? TSR_BITS_USUAL | TSR_BITS_UINT : TSR_BITS_USUAL;
    if (sorts && c->arg[2].b && (elements->dtype == TSR_COMPLEX32 || set->dtype == TSR_COMPLEX32))
        return tsr_error(TSR_TYPE_ERROR, " Sort does not support complex dtypes on CPU");
    if (sorts && elements->numel > 0) { /* of each list what is in it once, then both joined */
        if (!c->arg[2].b) TSR_TRY(tsr_require(allowed, elements->dtype, "unique"));
        if (!c->arg[2].b) TSR_TRY(tsr_require(allowed, set->dtype, "unique"));
        TSR_TRY(tsr_promote(&dtype, elements->dtype, set->dtype));
    } else if (elements->numel > 0) {
        TSR_TRY(tsr_result_type(&dtype, both, 2));
    }
    if (elements->numel > 0 && set->numel > 0 && !tsr_is_meta(elements) && !tsr_is_meta(set))
        TSR_TRY(check_few(elements, set, dtype));
    const char *kernel = !sorts ? "isin_default_cpu" : c->arg[2].b ? "sorting_kernel_method_name" : "unique";
    if (elements->numel > 0) TSR_TRY(tsr_require(allowed, dtype, kernel));
    TSR_TRY(tsr_tensor_new(&t, tsr_ndim(elements), elements->sizes, TSR_BOOL,
                           tsr_is_meta(set) || tsr_on_device(set) ? set->device : elements->device));
    return tsr_finish_move(c, t->numel == 0 || tsr_is_meta(t) ? TSR_OK : isin_into(t, elements, set, dtype, invert), t);
}

/* (elements, test_elements, *, assume_unique, invert) */
TsrStatus op_isin(TsrOpCall *c) { return isin(c, c->arg[0].t, c->arg[1].t, c->arg[3].b); }

TsrStatus op_isin_scalar(TsrOpCall *c) {
    const TsrTensor *elements = c->arg[0].t;
    TsrTensor *set, *result, *same = NULL;
    TSR_TRY(tsr_tensor_new_wrapped(&set, c->arg[1].s));
    TsrStatus status = check_isin(elements);
    if (status == TSR_OK) status = check_isin(set);
    tsr_tensor_free(set);
    TSR_TRY(status);
    TSR_TRY(tsr_tensor_new(&result, tsr_ndim(elements), elements->sizes, TSR_BOOL, elements->device));
    status = tsr_invoke_new(&same, 1, c->arg[3].b ? "ne" : "eq", "!tts", result, elements, c->arg[1].s);
    tsr_tensor_free(same);
    return tsr_finish_move(c, status, result);
}

TsrStatus op_isin_scalar_first(TsrOpCall *c) {
    TSR_OWNED element = NULL;
    TSR_TRY(tsr_tensor_new_wrapped(&element, c->arg[0].s));
    return isin(c, element, c->arg[1].t, c->arg[3].b);
}
