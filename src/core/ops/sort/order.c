/* order.c: order statistics along a dimension: kthvalue, median, mode, quantile.
 *
 * The median is selected among the keys of a line (kernels/sort/kth.h), of equal ones by their places; kthvalue selects
 * (key, index) pairs as PyTorch's loop does, whose choice of equal ones shows. The mode sorts keys and takes the
 * longest run, with PyTorch's order among nan. Quantiles select the ranks in rising order, each within what the one
 * before it left to its right; many of them sort the line. Ranks are double, the interpolation rounds once. */
#include <math.h>
#include <string.h>

#include "core/kernels/sort/keys.h"
#include "core/kernels/sort/kth.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "lines.h"
#include "there.h"

/* ---- one element a line: kthvalue, median, mode ---- */

/* Results with dim kept as size 1 to run over; the caller may squeeze it away. */
static TsrStatus reduced_new(TsrTensor **values, TsrTensor **indices, const TsrTensor *self, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(self); d++) sizes[d] = d == dim ? 1 : self->sizes[d];
    return tsr_two_new(values, indices, self, tsr_ndim(self), sizes);
}

static TsrStatus squeeze_move(TsrTensor **t, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < tsr_ndim(*t); d++)
        if (d != dim) sizes[n++] = (*t)->sizes[d];
    /* A fresh view would leave a trace of a base: the geometry of the result itself is changed. */
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, n, sizes);
    return tsr_tensor_set_geometry(*t, (TsrGeometry){n, sizes, strides, (*t)->offset});
}

/* ---- medians ---- */

/* A line's keys, whose width is the dtype's. */
typedef struct MedianKeys {
    void *keys, *spare;
    int64_t n;
    bool wide;
} MedianKeys;

static int64_t keys_below(const MedianKeys *m, uint64_t key) {
    return m->wide ? tsr_kernel_below64(m->keys, key, m->n) : tsr_kernel_below32(m->keys, (uint32_t)key, m->n);
}
static int64_t place_of(const MedianKeys *m, uint64_t key, int64_t nth) {
    return m->wide ? tsr_kernel_place64(m->keys, key, nth, m->n)
                   : tsr_kernel_place32(m->keys, (uint32_t)key, nth, m->n);
}

/* Where in the line the median is: nan if there is one that counts, else the element in the middle of the others; of
 * equal ones that with as many before it as its place in a sorted line would have. */
static int64_t median_place(const MedianKeys *m, const SortLine *w) {
    uint64_t nan = tsr_kernel_nan_key(w->dtype);
    int64_t valid = tsr_dtype_is_float(w->dtype) ? keys_below(m, nan) : m->n;
    if (valid == 0 || (valid < m->n && !w->ignore_nan)) return place_of(m, nan, 0);
    int64_t k = (valid - 1) / 2;
    uint64_t key =
        m->wide ? tsr_kernel_kth64(m->keys, m->spare, k, m->n) : tsr_kernel_kth32(m->keys, m->spare, k, m->n);
    return place_of(m, key, k - keys_below(m, key));
}

/* Keys of a line on the stack: two thirds of them are spare. */
enum { LOCAL_KEYS = 1024 };

static void median_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const SortLine *w = params;
    uint64_t local[LOCAL_KEYS];
    size_t size = tsr_dtype_size(w->dtype) > 4 ? sizeof(uint64_t) : sizeof(uint32_t);
    MedianKeys m = {.keys = local, .n = n[2], .wide = size > 4};
    if ((size_t)m.n > sizeof local / size / 3) m.keys = tsr_malloc_array((size_t)m.n, 3 * size);
    if (m.keys == NULL) {
        *w->no_memory = true;
        return;
    }
    m.spare = (char *)m.keys + (size_t)m.n * size;
    if (m.wide) tsr_kernel_keys64(w->dtype, data[2], stride[2], m.n, m.keys);
    else tsr_kernel_keys32(w->dtype, data[2], stride[2], m.n, m.keys);
    TsrPair median = {.index = median_place(&m, w)};
    if (tsr_interrupt_flag == 0) tsr_pairs_store(data, stride, &median, 1, tsr_dtype_size(w->dtype));
    if (m.keys != local) tsr_free(m.keys);
}

/* How an element of each line is found: on the host, line by line, and on a device, all at once. */
typedef struct Statistic {
    TsrLineFn line;
    TsrStatus (*there)(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim, const SortLine *w);
} Statistic;

static TsrStatus select_along(TsrOpCall *c, int64_t dim, bool keepdim, Statistic find, SortLine *w) {
    TsrTensor *self = c->arg[0].t, *values, *indices;
    TSR_TRY(reduced_new(&values, &indices, self, dim));
    TsrStatus status = values->numel == 0 || tsr_is_meta(self) ? TSR_OK
                       : tsr_on_device(self)                   ? find.there(values, indices, self, dim, w)
                                             : tsr_sort_lines_run(values, indices, self, dim, find.line, w);
    if (status == TSR_OK && !keepdim && tsr_ndim(self) > 0) {
        status = squeeze_move(&values, dim);
        if (status == TSR_OK) status = squeeze_move(&indices, dim);
    }
    return tsr_end_two_move(c, status, values, indices);
}

static TsrStatus check_nonempty(const TsrTensor *self, int64_t dim, const char *name) {
    if (tsr_ndim(self) > 0 && self->sizes[dim] == 0)
        return tsr_error(TSR_INDEX_ERROR, "%s(): Expected reduction dim %lld to have non-zero size.", name,
                         (long long)dim);
    return TSR_OK;
}

static void kth_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const SortLine *w = params;
    SortPairs p;
    if (!tsr_pairs_begin(&p, n[2], false, w)) return;
    tsr_pairs_load(p.a, data[2], stride[2], n[2], w);
    tsr_kernel_quick_select(p.a, w->k, n[2]);
    tsr_pairs_store(data, stride, p.a + w->k, 1, tsr_dtype_size(w->dtype));
    tsr_pairs_end(&p);
}

static TsrStatus kth_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim,
                           const SortLine *w) {
    return tsr_kth_there(values, indices, self, dim, w->k);
}

/* An out= that still has dim, of size 1, loses it where it lies. */
static TsrStatus squeeze_out(TsrTensor *out, const TsrTensor *self, int64_t dim) {
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    int n = 0;
    bool kept = out != NULL && tsr_ndim(out) == tsr_ndim(self) && tsr_ndim(self) > 0;
    for (int d = 0; kept && d < tsr_ndim(self); d++) {
        kept = out->sizes[d] == (d == dim ? 1 : self->sizes[d]);
        if (d != dim) sizes[n] = out->sizes[d], strides[n++] = out->strides[d];
    }
    return kept ? tsr_tensor_set_geometry(out, (TsrGeometry){n, sizes, strides, out->offset}) : TSR_OK;
}

TsrStatus op_kthvalue(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t k = c->arg[1].i, dim = c->arg[2].i, size;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "kthvalue"));
    size = tsr_ndim(self) > 0 ? self->sizes[dim] : 1;
    if (k < 1 || k > size)
        return tsr_error(TSR_RUNTIME_ERROR, "kthvalue(): selected number k out of range for dimension %lld",
                         (long long)dim);
    if (c->out[0] != NULL) TSR_TRY(tsr_check_no_overlap(c->out[0], self));
    TSR_TRY(tsr_sort_check_outs(c, self));
    if (tsr_ndim(self) > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "kthvalue_cpu"));
    for (int i = 0; i < 2 && !c->arg[3].b; i++) TSR_TRY(squeeze_out(c->out[i], self, dim));
    SortLine w = {.k = k - 1};
    return select_along(c, dim, c->arg[3].b, (Statistic){kth_line, kth_there}, &w);
}

/* The oldest of the checks of an out=, in words of their own. */
static TsrStatus check_median_outs(const TsrOpCall *c, const TsrTensor *self) {
    char own[48], given[48];
    const TsrTensor *values = c->out[0], *indices = c->out[1];
    if (indices != NULL && indices->dtype != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected tensor for argument #1 'indices' to have scalar type Long; but got %s instead "
                         "(while checking arguments for median)",
                         tsr_old_type_text(own, sizeof own, indices));
    if (values == NULL || values->dtype == self->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type %s "
                     "does not equal %s (while checking arguments for median)",
                     tsr_old_type_text(given, sizeof given, values), tsr_old_type_text(own, sizeof own, self));
}

static TsrStatus median_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim,
                              const SortLine *w) {
    return tsr_median_there(values, indices, self, dim, w->ignore_nan);
}

static TsrStatus median_dim(TsrOpCall *c, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "median"));
    TSR_TRY(check_median_outs(c, self));
    TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "median_out"));
    SortLine w = {.ignore_nan = ignore_nan};
    return select_along(c, dim, c->arg[2].b, (Statistic){median_line, median_there}, &w);
}

TsrStatus op_median_dim(TsrOpCall *c) { return median_dim(c, false); }
TsrStatus op_nanmedian_dim(TsrOpCall *c) { return median_dim(c, true); }

/* The median of no elements: nan, or what a whole number makes of it. */
static TsrStatus of_nothing_new(TsrTensor **out, const TsrTensor *self) {
    TSR_OWNED number = NULL;
    if (tsr_is_meta(self)) return tsr_tensor_new(out, 0, NULL, self->dtype, self->device);
    TSR_TRY(tsr_tensor_new(&number, 0, NULL, self->dtype, TSR_DEVICE_CPU));
    tsr_scalar_store(tsr_scalar_float(NAN), self->dtype, tsr_data(number));
    return tsr_new_there(out, number, self->device);
}

static TsrStatus median_all(TsrOpCall *c, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t, *values = NULL;
    TSR_OWNED flat = NULL;
    TSR_OWNED index = NULL;
    const int64_t minus = -1;
    SortLine w = {.ignore_nan = ignore_nan};
    if (self->numel > 0) TSR_TRY(tsr_require(TSR_BITS_USUAL, self->dtype, "median_cpu"));
    if (self->numel == 0 || tsr_is_meta(self)) return tsr_finish_move(c, of_nothing_new(&values, self), values);
    TSR_TRY(tsr_tensor_new_reshape(&flat, self, 1, &minus));
    TSR_TRY(tsr_two_new(&values, &index, self, 0, NULL));
    TsrStatus status = tsr_on_device(self) ? median_there(values, index, flat, 0, &w)
                                           : tsr_sort_lines_run(values, index, flat, 0, median_line, &w);
    return tsr_finish_move(c, status, values);
}

TsrStatus op_median(TsrOpCall *c) { return median_all(c, false); }
TsrStatus op_nanmedian(TsrOpCall *c) { return median_all(c, true); }

/* What std::sort makes of up to 16 numbers with nan among them, which is neither less nor greater than any: insertion.
 */
static void sort_with_nan(TsrPair *a, int64_t n, uint64_t nan_key) {
    for (int64_t i = 1; i < n; i++) {
        TsrPair x = a[i];
        int64_t to = i;
        if (x.key == nan_key) continue;
        if (a[0].key != nan_key && x.key < a[0].key) to = 0;
        while (to > 0 && a[to - 1].key != nan_key && x.key < a[to - 1].key) to--;
        memmove(a + to + 1, a + to, (size_t)(i - to) * sizeof *a);
        a[to] = x;
    }
}

static bool has_key(const TsrPair *a, int64_t n, uint64_t key) {
    for (int64_t i = 0; i < n; i++)
        if (a[i].key == key) return true;
    return false;
}

static void mode_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const SortLine *w = params;
    SortPairs p;
    if (!tsr_pairs_begin(&p, n[2], false, w)) return;
    tsr_pairs_load(p.a, data[2], stride[2], n[2], w);
    uint64_t nan_key = tsr_kernel_nan_key(w->dtype);
    bool floats = tsr_dtype_is_float(w->dtype);
    if (floats && n[2] <= 16 && has_key(p.a, n[2], nan_key)) sort_with_nan(p.a, n[2], nan_key);
    else tsr_kernel_sort(p.a, n[2]);
    int64_t best = 0, best_count = 0, count = 0;
    for (int64_t i = 0; i < n[2] && !tsr_interrupted_at(i); i++) {
        count++;
        bool ends = i == n[2] - 1 || p.a[i].key != p.a[i + 1].key || (floats && p.a[i].key == nan_key);
        if (!ends) continue;
        if (count > best_count) {
            best = i;
            best_count = count;
        }
        count = 0;
    }
    tsr_pairs_store(data, stride, p.a + best, 1, tsr_dtype_size(w->dtype));
    tsr_pairs_end(&p);
}

static TsrStatus mode_there(TsrTensor *values, TsrTensor *indices, const TsrTensor *self, int64_t dim,
                            const SortLine *w) {
    (void)w;
    return tsr_mode_there(values, indices, self, dim);
}

TsrStatus op_mode(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_sort_check_outs(c, self));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_nonempty(self, dim, "mode"));
    if (tsr_ndim(self) > 0 && self->numel > 0)
        TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BIT(BOOL), self->dtype, "mode_cpu"));
    SortLine w = {0};
    return select_along(c, dim, c->arg[2].b, (Statistic){mode_line, mode_there}, &w);
}

/* ---- quantile ---- */

static TsrStatus interpolation_named(TsrInterpolation *out, const char *name) {
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    for (int i = 0; i < 5; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (TsrInterpolation)i;
            return TSR_OK;
        }
    return tsr_error(TSR_RUNTIME_ERROR,
                     "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got %s",
                     name);
}

enum { FEW_QUANTILES = 16 }; /* for more, lines are sorted */

typedef struct Quantile {
    const char *q;
    int64_t nq, order[FEW_QUANTILES]; /* the numbers of few quantiles by rising q */
    TsrDtype dtype;
    TsrInterpolation how;
    bool ignore_nan;
    _Atomic bool *no_memory;
} Quantile;

/* Where among the n elements of a sorted line the quantile lies; `valid` of them are not nan. */
static double rank_of(const Quantile *p, double q, int64_t n, int64_t valid) {
    double rank;
    if (p->ignore_nan) rank = valid == 0 ? 0 : q * (double)(valid - 1);
    else rank = valid < n ? (double)(n - 1) : q * (double)(n - 1);
    if (p->how == TSR_QUANTILE_LOWER) return floor(rank);
    if (p->how == TSR_QUANTILE_HIGHER) return ceil(rank);
    return p->how == TSR_QUANTILE_NEAREST ? rint(rank) : rank;
}

/* One body for float and double. Ranks are double whatever the dtype; the interpolation rounds once, as PyTorch's does.
 */
#define QUANTILE(name, T, FMA) \
    static T name(const Quantile *p, double rank, T a, T b) { \
        T weight = p->how == TSR_QUANTILE_MIDPOINT ? (T)0.5 : (T)(rank - floor(rank)); \
        if (p->how != TSR_QUANTILE_LINEAR && p->how != TSR_QUANTILE_MIDPOINT) return a; \
        return weight < (T)0.5 ? FMA(weight, b - a, a) : FMA(-(b - a), 1 - weight, b); \
    }
QUANTILE(quantile_float, float, fmaf)
QUANTILE(quantile_double, double, fma)

/* The least of a non-empty run to its front. */
static void least_first(TsrPair *a, int64_t n) {
    int64_t least = 0;
    for (int64_t i = 1; i < n && !tsr_interrupted_at(i); i++)
        if (a[i].key < a[least].key) least = i;
    TsrPair first = a[0];
    a[0] = a[least];
    a[least] = first;
}

static double quantile_at(const Quantile *p, int64_t k) {
    return p->dtype == TSR_FLOAT32 ? (double)((const float *)(const void *)p->q)[k]
                                   : ((const double *)(const void *)p->q)[k];
}

static void by_rising_quantile(Quantile *p) {
    for (int64_t i = 0; i < p->nq && p->nq <= FEW_QUANTILES; i++) {
        int64_t k = i;
        for (; k > 0 && quantile_at(p, p->order[k - 1]) > quantile_at(p, i); k--) p->order[k] = p->order[k - 1];
        p->order[k] = i;
    }
}

/* Elements at the ranks that rising quantiles ask for are put in their places one after the other: what is before one
 * is never looked at again. */
static void quantile_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    const Quantile *p = params;
    SortLine w = {.dtype = p->dtype, .no_memory = p->no_memory};
    SortPairs line;
    bool sorts = p->nq > FEW_QUANTILES;
    if (!tsr_pairs_begin(&line, n[1], sorts, &w)) return;
    tsr_pairs_load(line.a, data[1], stride[1], n[1], &w);
    uint64_t nan_key = tsr_kernel_nan_key(p->dtype);
    int64_t valid = 0, done = sorts ? n[1] - 1 : -1; /* the last place that is filled */
    if (sorts) tsr_kernel_sort_stable(line.a, line.spare, n[1]);
    for (int64_t i = 0; i < n[1] && !tsr_interrupted_at(i); i++) valid += line.a[i].key != nan_key;
    for (int64_t k = 0; k < p->nq && tsr_interrupt_flag == 0; k++) {
        int64_t at = sorts ? k : p->order[k];
        double rank = rank_of(p, quantile_at(p, at), n[1], valid);
        int64_t low = (int64_t)rank, high = (int64_t)ceil(rank);
        if (low > done) tsr_kernel_nth_element(line.a + done + 1, low - done - 1, n[1] - done - 1);
        if (high > TSR_MAX(low, done)) least_first(line.a + high, n[1] - high);
        done = TSR_MAX(done, high);
        if (tsr_interrupt_flag != 0) break;
        const char *a = data[1] + line.a[low].index * stride[1], *b = data[1] + line.a[high].index * stride[1];
        char *out = data[0] + at * stride[0];
        if (p->dtype == TSR_FLOAT32)
            *(float *)(void *)out =
                quantile_float(p, rank, *(const float *)(const void *)a, *(const float *)(const void *)b);
        else
            *(double *)(void *)out =
                quantile_double(p, rank, *(const double *)(const void *)a, *(const double *)(const void *)b);
    }
    tsr_pairs_end(&line);
}

static TsrStatus check_quantile(const TsrOpCall *c, const TsrTensor *self, const TsrTensor *q) {
    if (self->numel == 0) return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor must be non-empty");
    if (tsr_ndim(q) > 1) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q must be a scalar or 1D tensor");
    if (self->dtype != TSR_FLOAT32 && self->dtype != TSR_FLOAT64)
        return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor must be either float or double dtype");
    if (self->dtype != q->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "quantile() q tensor must be same dtype as the input tensor");
    if (c->out[0] != NULL && c->out[0]->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "quantile() out tensor must be same dtype as the input tensor");
    return TSR_OK;
}

static TsrStatus check_probabilities(const TsrTensor *q) {
    const int64_t n = tsr_is_meta(q) ? 0 : q->numel;
    TSR_IN_PIECES(i, n) {
        double v = tsr_scalar_to_double(tsr_tensor_get(q, i));
        if (!(v >= 0 && v <= 1)) return tsr_error(TSR_RUNTIME_ERROR, "quantile() q values must be in the range [0, 1]");
    }
    return TSR_OK;
}

/* The result's geometry: (q, rest...) over memory laid out as (rest..., q). */
static TsrStatus quantile_result_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *q, bool flatten,
                                     int64_t dim, bool keepdim) {
    int64_t sizes[TSR_MAX_DIMS + 1], strides[TSR_MAX_DIMS + 1], rest[TSR_MAX_DIMS + 1] = {0};
    int n = 0;
    for (int d = 0; d < tsr_ndim(self); d++) {
        bool gone = flatten || d == dim;
        if (!gone || keepdim) rest[n++] = gone ? 1 : self->sizes[d];
    }
    if (tsr_ndim(q) == 0) return tsr_tensor_new(out, n, rest, self->dtype, self->device);
    sizes[0] = q->numel;
    strides[0] = 1;
    tsr_layout_contiguous_strides(strides + 1, n, rest);
    for (int d = 0; d < n; d++) {
        sizes[d + 1] = rest[d];
        strides[d + 1] *= TSR_MAX(q->numel, 1);
    }
    return tsr_tensor_new_strided(out, n + 1, sizes, strides, self->dtype, self->device);
}

/* Fills t, which quantile_result_new has made. */
static TsrStatus run_quantile(TsrTensor *t, const TsrTensor *self, const TsrTensor *q, Quantile *p, bool flatten,
                              int64_t dim) {
    TSR_OWNED lines = NULL;
    TSR_OWNED out = NULL;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], minus = -1, step = p->nq;
    _Atomic bool no_memory = false;
    flatten |= tsr_ndim(self) == 0;
    if (flatten) TSR_TRY(tsr_tensor_new_reshape(&lines, self, 1, &minus));
    else TSR_TRY(tsr_tensor_new_alias(&lines, self));
    dim = flatten ? 0 : dim;
    if (lines->sizes[dim] > 1 << 24) return tsr_error(TSR_RUNTIME_ERROR, "quantile() input tensor is too large");
    for (int d = tsr_ndim(lines) - 1; d >= 0; d--) {
        sizes[d] = d == dim ? p->nq : lines->sizes[d];
        strides[d] = d == dim ? 1 : step;
        step *= d == dim ? 1 : sizes[d];
    }
    TSR_TRY(tsr_tensor_new_view(&out, t, &(TsrGeometry){tsr_ndim(lines), sizes, strides, t->offset}, NULL));
    if (tsr_on_device(self)) return tsr_quantile_there(out, lines, dim, q, p->how, p->ignore_nan);
    by_rising_quantile(p);
    p->no_memory = &no_memory;
    TSR_TRY(tsr_lines_run((TsrTensor *[]){out, lines}, 2, dim, quantile_line, p, false));
    return no_memory ? tsr_error_no_memory((size_t)self->numel * tsr_itemsize(self)) : TSR_OK;
}

static TsrStatus quantile(TsrOpCall *c, const TsrTensor *q, bool ignore_nan) {
    TsrTensor *self = c->arg[0].t, *t;
    TSR_OWNED dense_q = NULL;
    bool flatten = !tsr_arg_given(&c->arg[2]), keepdim = c->arg[3].b;
    int64_t dim = flatten ? 0 : c->arg[2].i;
    TsrInterpolation how = TSR_QUANTILE_LINEAR;
    TSR_TRY(interpolation_named(&how, c->arg[4].str));
    TSR_TRY(check_quantile(c, self, q));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    TSR_TRY(check_probabilities(q));
    TSR_TRY(tsr_tensor_new_contiguous(&dense_q, q, TSR_CONTIGUOUS));
    TSR_TRY(quantile_result_new(&t, self, q, flatten, dim, keepdim));
    if (t->numel == 0 || tsr_is_meta(self)) return tsr_return_move(c, t);
    Quantile p = {.q = tsr_data(dense_q), .nq = q->numel, .dtype = self->dtype, .how = how, .ignore_nan = ignore_nan};
    return tsr_finish_move(c, run_quantile(t, self, dense_q, &p, flatten, dim), t);
}

static TsrStatus quantile_number(TsrOpCall *c, bool ignore_nan) {
    double v = c->arg[1].f;
    TSR_OWNED q = NULL;
    if (!(v >= 0 && v <= 1))
        return tsr_error(TSR_RUNTIME_ERROR, "quantile() q must be in the range [0, 1] but got %g", v);
    TSR_TRY(tsr_tensor_new_scalar(&q, tsr_scalar_float(v), c->arg[0].t->dtype));
    return quantile(c, q, ignore_nan);
}

TsrStatus op_quantile(TsrOpCall *c) { return quantile(c, c->arg[1].t, false); }
TsrStatus op_nanquantile(TsrOpCall *c) { return quantile(c, c->arg[1].t, true); }
TsrStatus op_quantile_number(TsrOpCall *c) { return quantile_number(c, false); }
TsrStatus op_nanquantile_number(TsrOpCall *c) { return quantile_number(c, true); }
