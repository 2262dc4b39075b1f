/* unique, unique_consecutive, bincount, histc, histogram, histogramdd. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/keys.h"
#include "kernels/select.h"
#include "kernels/sort.h"
#include "mem.h"
#include "op_help.h"
#include "owned.h"

/* ---- counting ---- */

/* Counting over parts of the input, each with counters of its own: two sets in turn, so that runs of one value don't wait for their
 * own store. */
typedef struct Counting {
    const int64_t *p;
    int64_t n, part, bins, base; /* base: the least value, which has counter 0 */
    int64_t *counters;           /* 2 * bins a part */
} Counting;

static void count_parts(int64_t begin, int64_t end, void *user) {
    const Counting *c = user;
    for (int64_t k = begin; k < end; k++) {
        int64_t *a = c->counters + k * 2 * c->bins, *b = a + c->bins, i = k * c->part, last = TSR_MIN(i + c->part, c->n);
        const int64_t *p = c->p;
        for (; i + 1 < last && !tsr_interrupted_at(i); i += 2) {
            a[p[i] - c->base]++;
            b[p[i + 1] - c->base]++;
        }
        if (i < last) a[p[i] - c->base]++;
    }
}

/* counts[v - base] for the values of p. Few bins or not, the result is the same. */
static TsrStatus count_values(int64_t *counts, const int64_t *p, int64_t n, int64_t bins, int64_t base) {
    int64_t parts = TSR_MAX(1, TSR_MIN(tsr_num_threads(), n >> 15));
    int64_t *counters = bins <= 1 << 16 && n > 4 * bins ? tsr_calloc((size_t)(parts * 2 * bins), sizeof *counters) : NULL;
    memset(counts, 0, sizeof *counts * (size_t)bins);
    if (counters == NULL) {
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) counts[p[i] - base]++;
        return tsr_interrupt_check();
    }
    Counting c = {p, n, (n + parts - 1) / parts, bins, base, counters};
    TsrStatus status = tsr_parallel_for(parts, 1, count_parts, &c);
    for (int64_t k = 0; k < 2 * parts; k++)
        for (int64_t v = 0; v < bins; v++) counts[v] += counters[k * bins + v];
    tsr_free(counters);
    return status;
}

/* ---- unique ---- */

/* The results of a search for distinct elements or slices; inverse and counts NULL when not asked for. */
typedef struct Distinct {
    int64_t *order;   /* of the input's elements; distinct ones are order[first[k]] */
    int64_t *group;   /* of order[i]: the number of its distinct element */
    int64_t n, count;
} Distinct;

static TsrStatus return_some(TsrOpCall *c, TsrTensor *values, TsrTensor *inverse, TsrTensor *counts) {
    TsrTensor *all[3] = {values, inverse, counts};
    c->nret = 0;
    for (int i = 0; i < 3; i++)
        if (all[i] != NULL) c->ret[c->nret++] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = all[i]};
    return TSR_OK;
}

static TsrStatus scratch_new(void **out, size_t bytes) {
    *out = tsr_malloc(bytes > 0 ? bytes : 1);
    return *out != NULL ? TSR_OK : tsr_error_no_memory(bytes);
}

/* Pairs of the flattened, contiguous input, sorted if asked. *pairs is for tsr_free. */
static TsrStatus flat_pairs(TsrPair **pairs, const TsrTensor *dense, bool sort) {
    int64_t n = dense->numel, item = (int64_t)tsr_itemsize(dense);
    TSR_TRY(scratch_new((void **)pairs, sizeof(TsrPair) * (size_t)n * (sort ? 2 : 1)));
    const char *src = tsr_data(dense);
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i += 256) {
        uint64_t keys[256];
        int64_t m = TSR_MIN(n - i, 256);
        tsr_kernel_keys64(dense->dtype, src + i * item, item, m, keys);
        for (int64_t k = 0; k < m; k++) (*pairs)[i + k] = (TsrPair){keys[k], i + k};
    }
    if (sort) tsr_kernel_sort_stable(*pairs, *pairs + n, n);
    return tsr_interrupt_check();
}

/* Numbers the runs of equal keys; nan equals nothing. */
static TsrStatus number_runs(Distinct *d, const TsrPair *pairs, TsrDtype dtype) {
    uint64_t nan_key = tsr_kernel_nan_key(dtype);
    bool floats = tsr_dtype_is_float(dtype);
    d->count = 0;
    for (int64_t i = 0; i < d->n; i++) {
        bool fresh = i == 0 || pairs[i].key != pairs[i - 1].key || (floats && pairs[i].key == nan_key);
        d->count += fresh;
        d->group[i] = d->count - 1;
        d->order[i] = pairs[i].index;
        if (tsr_interrupted_at(i)) break;
    }
    return tsr_interrupt_check();
}

/* inverse[order[i]] = group[i], and how many there are of each. Either may be NULL. */
static void fill_inverse(const Distinct *d, int64_t *inverse, int64_t *counts) {
    if (inverse != NULL)
        for (int64_t i = 0; i < d->n && tsr_interrupt_flag == 0; i++) inverse[d->order[i]] = d->group[i]; /* a look each: all over fresh pages */
    if (counts == NULL) return;
    memset(counts, 0, sizeof *counts * (size_t)d->count);
    for (int64_t i = 0; i < d->n && !tsr_interrupted_at(i); i++) counts[d->group[i]]++;
}

static TsrStatus inverse_new(TsrTensor **inverse, TsrTensor **counts, const Distinct *d, int ndim, const int64_t *sizes, bool want_inverse, bool want_counts,
                             TsrDevice device) {
    *inverse = *counts = NULL;
    if (want_inverse) TSR_TRY(tsr_tensor_new(inverse, ndim, sizes, TSR_INT64, device));
    TsrStatus status = want_counts ? tsr_tensor_new(counts, 1, &d->count, TSR_INT64, device) : TSR_OK;
    if (status != TSR_OK) {
        tsr_tensor_reset(inverse);
        return status;
    }
    fill_inverse(d, want_inverse ? tsr_data(*inverse) : NULL, want_counts ? tsr_data(*counts) : NULL);
    return TSR_OK;
}

static TsrStatus distinct_begin(Distinct *d, int64_t n) {
    d->n = n;
    TSR_TRY(scratch_new((void **)&d->order, sizeof(int64_t) * (size_t)n * 2));
    d->group = d->order + n;
    return TSR_OK;
}

static TsrStatus unique_values(TsrTensor **out, const TsrTensor *dense, const Distinct *d) {
    TSR_TRY(tsr_tensor_new(out, 1, &d->count, dense->dtype, dense->device));
    size_t item = tsr_itemsize(dense);
    const char *src = tsr_data(dense);
    char *dst = tsr_data(*out);
    for (int64_t i = 0; i < d->n && !tsr_interrupted_at(i); i++)
        if (i == 0 || d->group[i] != d->group[i - 1]) memcpy(dst + (size_t)d->group[i] * item, src + (size_t)d->order[i] * item, item);
    return TSR_OK; /* an interrupt is raised by the caller */
}

/* Integers within a short range: a counter a value gives the distinct ones, their numbers and how many there are. */
typedef struct Ranks {
    const int64_t *p, *rank;
    int64_t base, *inverse;
} Ranks;

static void rank_range(int64_t begin, int64_t end, void *user) {
    const Ranks *r = user;
    for (int64_t i = begin; i < end; i++) r->inverse[i] = r->rank[r->p[i] - r->base];
}

/* values[k]: the k-th value that occurs; returns how many do. */
static int64_t rank_values(const int64_t *counts, int64_t *values, int64_t bins, int64_t base) {
    int64_t found = 0;
    for (int64_t v = 0; v < bins && !tsr_interrupted_at(v); v++)
        if (counts[v] != 0) {
            values[found] = v + base;
            found++;
        }
    return found;
}

static TsrStatus unique_counted(TsrOpCall *c, const TsrTensor *self, const TsrTensor *wide, int64_t base, int64_t bins, bool want_inverse, bool want_counts) {
    const int64_t *p = tsr_data(wide);
    int64_t *counts, *values, found;
    TsrTensor *distinct = NULL, *result = NULL, *inverse = NULL, *totals = NULL;
    TSR_TRY(scratch_new((void **)&counts, sizeof *counts * (size_t)bins * 2));
    values = counts + bins;
    TsrStatus status = count_values(counts, p, wide->numel, bins, base);
    found = rank_values(counts, values, bins, base);
    if (status == TSR_OK) status = tsr_tensor_new(&distinct, 1, &found, TSR_INT64, self->device);
    if (status == TSR_OK) memcpy(tsr_data(distinct), values, sizeof *values * (size_t)found);
    if (status == TSR_OK && want_counts) {
        status = tsr_tensor_new(&totals, 1, &found, TSR_INT64, self->device);
        for (int64_t k = 0; status == TSR_OK && k < found; k++) ((int64_t *)tsr_data(totals))[k] = counts[values[k] - base];
    }
    if (status == TSR_OK && want_inverse) {
        status = tsr_tensor_new(&inverse, tsr_ndim(self), self->sizes, TSR_INT64, self->device);
        for (int64_t k = 0; k < found; k++) counts[values[k] - base] = k; /* from here on: ranks */
        Ranks r = {p, counts, base, inverse != NULL ? tsr_data(inverse) : NULL};
        if (status == TSR_OK) status = tsr_parallel_for(wide->numel, tsr_grain(1), rank_range, &r);
    }
    if (status == TSR_OK) status = tsr_tensor_new_cast(&result, distinct, self->dtype);
    tsr_tensor_free(distinct);
    tsr_free(counts);
    if (status == TSR_OK) return return_some(c, result, inverse, totals);
    tsr_tensor_free(inverse);
    tsr_tensor_free(totals);
    return status;
}

/* *done: the values were few enough to count. */
static TsrStatus try_counting(TsrOpCall *c, const TsrTensor *self, bool want_inverse, bool want_counts, bool *done) {
    TsrTensor *wide;
    int64_t least, most, span;
    *done = false;
    if (self->numel < 1024 || !tsr_in(TSR_BITS_INT | TSR_BIT(UINT16) | TSR_BIT(UINT32) | TSR_BIT(BOOL), self->dtype)) return TSR_OK;
    TSR_TRY(tsr_long_new(&wide, self));
    tsr_kernel_range(tsr_data(wide), wide->numel, &least, &most);
    TsrStatus status = TSR_OK;
    if (!tsr_sub_overflows(most, least, &span) && span < self->numel) {
        status = unique_counted(c, self, wide, least, span + 1, want_inverse, want_counts);
        *done = status == TSR_OK;
    }
    tsr_tensor_free(wide);
    return status;
}

/* Runs of equal elements: count says how many; mark puts the first of each into `to`, and where they are not NULL, its number for each element into inverse, and
 * where it ends into ends. */
typedef struct RunsKernel {
    int64_t (*count)(const void *p, int64_t n);
    void (*mark)(void *to, int64_t *inverse, int64_t *ends, const void *p, int64_t n);
} RunsKernel;

#define RUNS(name, T) \
    TSR_CLONES static int64_t count_##name(const void *from, int64_t n) { \
        const T *p = from; \
        int64_t count = 1; \
        for (int64_t i = 1; i < n && tsr_interrupt_flag == 0;) { \
            int64_t end = TSR_MIN(n, i + 4096); \
            int32_t part = 0; \
            for (; i < end; i++) part += p[i] != p[i - 1]; \
            count += part; \
        } \
        return count; \
    } \
    static void mark_##name(void *to, int64_t *inverse, int64_t *ends, const void *from, int64_t n) { \
        const T *p = from; \
        T *first = to, value = p[0]; \
        for (int64_t i = 0, last = 0; i < n && !tsr_interrupted_at(i); i++) { \
            bool fresh = i > 0 && p[i] != p[i - 1]; \
            last += fresh; \
            value = fresh ? p[i] : value; \
            first[last] = value; \
            if (inverse != NULL) inverse[i] = last; \
            if (ends != NULL) ends[last] = i + 1; \
        } \
    } \
    static const RunsKernel name = {count_##name, mark_##name};
RUNS(runs8, uint8_t)
RUNS(runs16, uint16_t)
RUNS(runs32, uint32_t)
RUNS(runs64, uint64_t)
RUNS(runs_float, float)
RUNS(runs_double, double)

static const RunsKernel *runs_of(TsrDtype d) {
    if (d == TSR_FLOAT32) return &runs_float;
    if (d == TSR_FLOAT64) return &runs_double;
    switch (tsr_dtype_size(d)) {
    case 1: return &runs8;
    case 2: return &runs16;
    case 4: return &runs32;
    default: return &runs64;
    }
}

/* Runs need no pairs. */
static TsrStatus runs(TsrOpCall *c, const TsrTensor *self, bool want_inverse, bool want_counts) {
    TSR_OWNED dense = NULL;
    TSR_OWNED first = NULL;
    TSR_OWNED inverse = NULL;
    TSR_OWNED counts = NULL;
    const RunsKernel *kernel = runs_of(self->dtype);
    TSR_TRY(tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS));
    int64_t n = kernel->count(tsr_data(dense), dense->numel), *ends = NULL;
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_tensor_new(&first, 1, &n, dense->dtype, dense->device));
    if (want_inverse) TSR_TRY(tsr_tensor_new(&inverse, tsr_ndim(self), self->sizes, TSR_INT64, self->device));
    if (want_counts) TSR_TRY(tsr_tensor_new(&counts, 1, &n, TSR_INT64, self->device));
    if (want_counts) ends = tsr_data(counts);
    kernel->mark(tsr_data(first), want_inverse ? tsr_data(inverse) : NULL, ends, tsr_data(dense), dense->numel);
    for (int64_t k = n - 1; k > 0 && want_counts; k--) ends[k] -= ends[k - 1];
    TSR_TRY(tsr_interrupt_check());
    return return_some(c, tsr_owned_take(&first), tsr_owned_take(&inverse), tsr_owned_take(&counts));
}

static bool are_plain_runs(const TsrTensor *self) {
    const uint64_t comparable = TSR_BITS_INT | TSR_BITS_UINT | TSR_BIT(BOOL) | TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64);
    return self->numel > 0 && !tsr_is_meta(self) && tsr_in(comparable, self->dtype);
}

/* Distinct elements of the flattened input: sorted, or runs of equal ones. */
static TsrStatus unique_flat(TsrOpCall *c, TsrTensor *self, bool sort, bool want_inverse, bool want_counts) {
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL), self->dtype, "unique"));
    bool done = false;
    if (sort && !tsr_is_meta(self)) TSR_TRY(try_counting(c, self, want_inverse, want_counts, &done));
    if (done) return TSR_OK;
    TsrTensor *dense, *values, *inverse, *counts;
    if (!sort && are_plain_runs(self)) return runs(c, self, want_inverse, want_counts);
    TsrPair *pairs = NULL;
    Distinct d = {NULL, NULL, 0, 0};
    TSR_TRY(tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS));
    TsrStatus status = flat_pairs(&pairs, dense, sort);
    if (status == TSR_OK) status = distinct_begin(&d, dense->numel);
    if (status == TSR_OK) status = number_runs(&d, pairs, dense->dtype);
    if (status == TSR_OK) status = unique_values(&values, dense, &d);
    if (status == TSR_OK) {
        status = inverse_new(&inverse, &counts, &d, tsr_ndim(self), self->sizes, want_inverse, want_counts, self->device);
        if (status == TSR_OK && (status = tsr_interrupt_check()) != TSR_OK) {
            tsr_tensor_free(inverse);
            tsr_tensor_free(counts);
        }
        if (status != TSR_OK) tsr_tensor_free(values);
    }
    tsr_free(pairs);
    tsr_free(d.order);
    tsr_tensor_free(dense);
    return status == TSR_OK ? return_some(c, values, inverse, counts) : status;
}

/* ---- unique along a dimension ---- */

static int compare_rows(const uint64_t *a, const uint64_t *b, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Merge sort of row numbers by the rows' keys. */
static void sort_rows(int64_t *order, int64_t *spare, int64_t n, const uint64_t *keys, int64_t width) {
    for (int64_t step = 1; step < n && tsr_interrupt_flag == 0; step *= 2) {
        for (int64_t i = 0; i < n; i += 2 * step) {
            int64_t a = i, middle = TSR_MIN(i + step, n), b = middle, end = TSR_MIN(i + 2 * step, n);
            for (int64_t k = i; k < end; k++) {
                if ((k & 0xFF) == 0 && tsr_interrupt_flag != 0) return; /* rows may be long */
                bool left = a < middle && (b >= end || compare_rows(keys + order[b] * width, keys + order[a] * width, width) >= 0);
                spare[k] = order[left ? a++ : b++];
            }
        }
        memcpy(order, spare, sizeof *order * (size_t)n);
    }
}

static TsrStatus distinct_rows(Distinct *d, const TsrTensor *rows, bool sort) {
    int64_t n = rows->sizes[0], width = n > 0 ? rows->numel / n : 0, item = (int64_t)tsr_itemsize(rows);
    uint64_t *keys;
    TSR_TRY(scratch_new((void **)&keys, sizeof *keys * (size_t)rows->numel));
    tsr_kernel_keys64(rows->dtype, tsr_data(rows), item, rows->numel, keys);
    for (int64_t i = 0; i < n; i++) d->order[i] = i;
    if (sort) sort_rows(d->order, d->group, n, keys, width);
    TsrStatus status = tsr_interrupt_check();
    uint64_t nan_key = tsr_kernel_nan_key(rows->dtype);
    d->count = 0;
    for (int64_t i = 0; i < n && status == TSR_OK; i++) {
        const uint64_t *row = keys + d->order[i] * width;
        bool fresh = i == 0 || compare_rows(row, keys + d->order[i - 1] * width, width) != 0;
        for (int64_t k = 0; k < width && !fresh && tsr_dtype_is_float(rows->dtype); k++) fresh = row[k] == nan_key;
        d->count += fresh;
        d->group[i] = d->count - 1;
        if ((i & 0xFF) == 0) status = tsr_interrupt_check();
    }
    tsr_free(keys);
    return status;
}

/* The distinct rows, seen with their dimension moved back to its place. */
static TsrStatus gather_rows(TsrTensor **out, const TsrTensor *rows, const Distinct *d, int64_t dim) {
    int n = tsr_ndim(rows);
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], moved_sizes[TSR_MAX_DIMS], moved_strides[TSR_MAX_DIMS];
    memcpy(sizes, rows->sizes, sizeof *sizes * (size_t)n);
    sizes[0] = d->count;
    tsr_layout_contiguous_strides(strides, n, sizes);
    for (int k = 0; k < n; k++) {
        int from = k < dim ? k + 1 : k == dim ? 0 : k;
        moved_sizes[k] = sizes[from];
        moved_strides[k] = strides[from];
    }
    if (d->n == 0) tsr_layout_contiguous_strides(moved_strides, n, moved_sizes); /* nothing was moved */
    TSR_TRY(tsr_tensor_new_strided(out, n, moved_sizes, moved_strides, rows->dtype, rows->device));
    if ((*out)->numel == 0) return TSR_OK;
    size_t row = (size_t)(rows->numel / rows->sizes[0]) * tsr_itemsize(rows);
    const char *src = tsr_data(rows);
    char *dst = tsr_data(*out);
    for (int64_t i = 0; i < d->n && ((i & 0xFF) != 0 || tsr_interrupt_flag == 0); i++)
        if (i == 0 || d->group[i] != d->group[i - 1]) memcpy(dst + (size_t)d->group[i] * row, src + (size_t)d->order[i] * row, row);
    return TSR_OK;
}

static TsrStatus rows_new(TsrTensor **out, const TsrTensor *self, int64_t dim) {
    TsrTensor *moved;
    int64_t order[TSR_MAX_DIMS];
    int k = 0;
    order[k++] = dim;
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim) order[k++] = d;
    TSR_TRY(tsr_tensor_new_permute(&moved, self, k, order));
    TsrStatus status = tsr_tensor_new_contiguous(out, moved, TSR_CONTIGUOUS);
    tsr_tensor_free(moved);
    return status;
}

static TsrStatus unique_along(TsrOpCall *c, TsrTensor *self, int64_t dim, bool sort, bool want_inverse, bool want_counts) {
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL), self->dtype, "unique_dim"));
    if (tsr_ndim(self) == 0) return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t zeros = 0;
    for (int d = 0; d < tsr_ndim(self); d++) zeros += self->sizes[d] == 0;
    if (self->sizes[dim] == 0 ? zeros != 1 : zeros != 0)
        return tsr_error(TSR_RUNTIME_ERROR, self->sizes[dim] == 0 ? "Number of zero sized dimensions is more than one, so unique cannot be applied "
                                                                  : "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    TsrTensor *rows, *values, *inverse, *counts;
    Distinct d = {NULL, NULL, 0, 0};
    TSR_TRY(rows_new(&rows, self, dim));
    TsrStatus status = distinct_begin(&d, self->sizes[dim]);
    if (status == TSR_OK) status = distinct_rows(&d, rows, sort);
    if (status == TSR_OK) status = gather_rows(&values, rows, &d, dim);
    if (status == TSR_OK) {
        status = inverse_new(&inverse, &counts, &d, 1, &d.n, want_inverse, want_counts, self->device);
        if (status != TSR_OK) tsr_tensor_free(values);
    }
    tsr_free(d.order);
    tsr_tensor_free(rows);
    return status == TSR_OK ? return_some(c, values, inverse, counts) : status;
}

static TsrStatus check_unique_dim(const TsrOpCall *c, const TsrArg *dim) {
    int64_t d = tsr_arg_given(dim) ? dim->i : 0;
    if (tsr_ndim(c->arg[0].t) == 0 && (d < -1 || d > 0)) return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)d);
    return tsr_wrap_dim(&d, tsr_ndim(c->arg[0].t));
}

/* (input, sorted, return_inverse, return_counts, dim) */
TsrStatus op_unique(TsrOpCall *c) {
    TSR_TRY(check_unique_dim(c, &c->arg[4]));
    if (tsr_arg_given(&c->arg[4])) return unique_along(c, c->arg[0].t, c->arg[4].i, true, c->arg[2].b, c->arg[3].b);
    return unique_flat(c, c->arg[0].t, true, c->arg[2].b, c->arg[3].b);
}

/* (input, return_inverse, return_counts, dim) */
TsrStatus op_unique_consecutive(TsrOpCall *c) {
    TSR_TRY(check_unique_dim(c, &c->arg[3]));
    const TsrArg *dim = &c->arg[3];
    bool along = tsr_arg_given(dim) && (tsr_ndim(c->arg[0].t) != 1 || dim->i != 0);
    if (along) return unique_along(c, c->arg[0].t, dim->i, false, c->arg[1].b, c->arg[2].b);
    return unique_flat(c, c->arg[0].t, false, c->arg[1].b, c->arg[2].b);
}

/* ---- bincount ---- */

static TsrStatus bincount_weighted(TsrTensor **out, const int64_t *p, int64_t n, int64_t bins, const TsrTensor *weights) {
    TsrTensor *wide;
    TSR_TRY(tsr_tensor_new_cast(&wide, weights, weights->dtype == TSR_FLOAT32 ? TSR_FLOAT32 : TSR_FLOAT64));
    TsrTensor *dense;
    TsrStatus status = tsr_tensor_new_contiguous(&dense, wide, TSR_CONTIGUOUS);
    tsr_tensor_free(wide);
    TSR_TRY(status);
    status = tsr_zeros_new(out, 1, &bins, dense->dtype, TSR_DEVICE_CPU);
    if (status == TSR_OK && dense->dtype == TSR_FLOAT32) {
        float *o = tsr_data(*out);
        const float *w = tsr_data(dense);
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) o[p[i]] += w[i];
    } else if (status == TSR_OK) {
        double *o = tsr_data(*out);
        const double *w = tsr_data(dense);
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) o[p[i]] += w[i];
    }
    tsr_tensor_free(dense);
    return status;
}

static TsrStatus bincount_plain(TsrTensor **out, const int64_t *p, int64_t n, int64_t bins) {
    TSR_TRY(tsr_tensor_new(out, 1, &bins, TSR_INT64, TSR_DEVICE_CPU));
    TsrStatus status = count_values(tsr_data(*out), p, n, bins, 0);
    return tsr_owned_keep(out, status);
}

static TsrStatus bincount(TsrTensor **out, const TsrTensor *self, const TsrTensor *weights, int64_t minlength) {
    TsrTensor *dense;
    TSR_TRY(tsr_long_new(&dense, self));
    const int64_t *p = tsr_data(dense);
    int64_t least = 0, most = -1;
    if (dense->numel > 0) tsr_kernel_range(p, dense->numel, &least, &most);
    TsrStatus status;
    if (least < 0) status = tsr_error(TSR_RUNTIME_ERROR, "bincount only supports 1-d non-negative integral inputs.");
    else if (most == INT64_MAX) status = tsr_error(TSR_RUNTIME_ERROR, "bincount: the result's size overflows");
    else {
        int64_t bins = TSR_MAX(most + 1, minlength);
        status = weights != NULL ? bincount_weighted(out, p, dense->numel, bins, weights) : bincount_plain(out, p, dense->numel, bins);
    }
    tsr_tensor_free(dense);
    return status;
}

TsrStatus op_bincount(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *weights = tsr_arg_given(&c->arg[1]) ? c->arg[1].t : NULL, *t = NULL;
    int64_t minlength = c->arg[2].i;
    TSR_TRY(tsr_require(TSR_BITS_INT, self->dtype, "bincount_cpu"));
    if (minlength < 0) return tsr_error(TSR_RUNTIME_ERROR, "minlength should be >= 0");
    if (tsr_ndim(self) == 1 && self->numel == 0) return tsr_finish_move(c, tsr_zeros_new(&t, 1, &minlength, TSR_INT64, self->device), t);
    if (tsr_ndim(self) != 1) return tsr_error(TSR_RUNTIME_ERROR, "bincount only supports 1-d non-negative integral inputs.");
    if (weights != NULL && (tsr_ndim(weights) != 1 || weights->numel != self->numel))
        return tsr_error(TSR_RUNTIME_ERROR, "weights should be 1-d and have the same length as input");
    return tsr_finish_move(c, bincount(&t, self, weights, minlength), t);
}

/* ---- histograms ---- */

enum { MAX_HISTOGRAM_DIMS = 32 };
typedef enum Placing { BY_SEARCH, BY_RULE, BY_RULE_AND_LOOK } Placing; /* in given edges; evenly spaced; the same, put right by a look at the edges */

typedef struct Histogram {
    int ndim;
    const double *edges[MAX_HISTOGRAM_DIMS]; /* as doubles */
    int64_t nedges[MAX_HISTOGRAM_DIMS];
    Placing placing;
    TsrDtype dtype;
} Histogram;

/* Rounds to the dtype's precision, as each of PyTorch's steps does. */
static double rounded(TsrDtype d, double v) {
    uint8_t cell[16];
    if (d == TSR_FLOAT64) return v;
    if (d == TSR_FLOAT32) return (float)v;
    tsr_scalar_store(tsr_scalar_float(v), d, cell);
    return tsr_scalar_to_double(tsr_scalar_load(d, cell));
}

/* The first edge above v among [low, high). */
static int64_t upper_bound(const double *e, int64_t low, int64_t high, double v) {
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (v < e[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

/* The bin of v in dimension d; -1 outside. */
static int64_t place(const Histogram *h, int d, double v) {
    const double *e = h->edges[d];
    int64_t n = h->nedges[d], k;
    double left = e[0], right = e[n - 1];
    if (!(v >= left && v <= right)) return -1;
    if (h->placing == BY_SEARCH) {
        k = upper_bound(e, 0, n, v) - 1;
    } else {
        double scaled = rounded(h->dtype, rounded(h->dtype, v - left) * (double)(n - 1));
        k = (int64_t)rounded(h->dtype, scaled / rounded(h->dtype, right - left));
        if (h->placing == BY_RULE_AND_LOOK) k = upper_bound(e, TSR_MAX(0, k - 1), TSR_MIN(k + 2, n), v) - 1;
    }
    return k == n - 1 ? k - 1 : k;
}

/* rows of ndim values each (doubles); sums weights (or ones) into hist. */
static TsrStatus fill_histogram(const Histogram *h, const double *rows, const double *weights, int64_t n, double *hist) {
    for (int64_t i = 0; i < n; i++) {
        if (tsr_interrupted_at(i)) break;
        int64_t at = 0;
        for (int d = 0; d < h->ndim && at >= 0; d++) {
            int64_t k = place(h, d, rows[i * h->ndim + d]);
            at = k < 0 ? -1 : at * (h->nedges[d] - 1) + k;
        }
        if (at >= 0) hist[at] = rounded(h->dtype, hist[at] + (weights != NULL ? weights[i] : 1));
    }
    return tsr_interrupt_check();
}

static TsrStatus doubles_new(TsrTensor **out, const TsrTensor *t) {
    TsrTensor *wide;
    TSR_TRY(tsr_tensor_new_cast(&wide, t, TSR_FLOAT64));
    TsrStatus status = tsr_tensor_new_contiguous(out, wide, TSR_CONTIGUOUS);
    tsr_tensor_free(wide);
    return status;
}

/* Evenly spaced edges in the dtype. */
static TsrStatus even_edges_new(TsrTensor **out, double left, double right, int64_t bins, TsrDtype dtype) {
    if (bins == INT64_MAX) return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=[%lld]", (long long)bins);
    return tsr_invoke_new(out, 1, "linspace", "ssid", tsr_scalar_float(left), tsr_scalar_float(right), bins + 1, (int)dtype);
}

/* Counts `input` (n by ndim, or flat) into edges; hist of `dtype`. */
static TsrStatus count_into(TsrTensor **out, const TsrTensor *input, const TsrTensor *weight, TsrTensor *const *edges, int ndim, Placing placing) {
    Histogram h = {.ndim = ndim, .placing = placing, .dtype = input->dtype};
    TsrTensor *wide_edges[MAX_HISTOGRAM_DIMS] = {NULL}, *rows = NULL, *w = NULL, *hist = NULL;
    int64_t sizes[MAX_HISTOGRAM_DIMS];
    TsrStatus status = TSR_OK;
    for (int d = 0; d < ndim && status == TSR_OK; d++) {
        status = doubles_new(&wide_edges[d], edges[d]);
        if (status != TSR_OK) break;
        h.edges[d] = tsr_data(wide_edges[d]);
        h.nedges[d] = edges[d]->numel;
        sizes[d] = TSR_MAX(0, edges[d]->numel - 1);
    }
    if (status == TSR_OK) status = doubles_new(&rows, input);
    if (status == TSR_OK && weight != NULL) status = doubles_new(&w, weight);
    if (status == TSR_OK) status = tsr_zeros_new(&hist, ndim, sizes, TSR_FLOAT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        if (hist->numel > 0) status = fill_histogram(&h, tsr_data(rows), w != NULL ? tsr_data(w) : NULL, ndim > 0 ? rows->numel / ndim : 0, tsr_data(hist));
        if (status == TSR_OK) status = tsr_tensor_new_cast(out, hist, input->dtype);
    }
    tsr_free_all(wide_edges, ndim);
    tsr_tensor_free(rows);
    tsr_tensor_free(w);
    tsr_tensor_free(hist);
    return status;
}

/* Least and greatest of column d (of ndim) of the input; nan when there is one. */
static void column_range(const TsrTensor *rows, int ndim, int d, double *left, double *right) {
    const double *p = tsr_data(rows);
    *left = INFINITY;
    *right = -INFINITY;
    for (int64_t i = d, k = 0; i < rows->numel && !tsr_interrupted_at(k); i += ndim, k++) {
        if (isnan(p[i])) {
            *left = *right = NAN;
            return;
        }
        *left = *left < p[i] ? *left : p[i];
        *right = *right > p[i] ? *right : p[i];
    }
}

/* ---- histc ---- */

/* Least and greatest of all elements, which are there as doubles too. */
static TsrStatus own_range(const TsrTensor *self, double *left, double *right) {
    TSR_OWNED wide = NULL;
    TSR_TRY(doubles_new(&wide, self));
    column_range(wide, 1, 0, left, right);
    if (isnan(*left)) { /* the sign that PyTorch's search leaves shows in its refusal */
        double only = *(const double *)tsr_data(wide);
        *left = *right = copysign(NAN, self->numel == 1 ? only : self->dtype == TSR_BFLOAT16 ? 1 : -1);
    }
    double most = self->dtype == TSR_FLOAT32 ? FLT_MAX : DBL_MAX; /* where the search starts, for numbers that are all infinite */
    if (*left == INFINITY) *left = most;
    if (*right == -INFINITY) *right = -most;
    return TSR_OK;
}

TsrStatus op_histc(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *edges, *t = NULL;
    int64_t bins = c->arg[1].i, minus = -1;
    double left = tsr_scalar_to_double(c->arg[2].s), right = tsr_scalar_to_double(c->arg[3].s);
    bool found = left == right && self->numel > 0; /* the range is the elements' own */
    if (bins <= 0) return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram(): bins must be > 0, but got %lld for dimension 0", (long long)bins);
    if (found && tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8, self->dtype)) return tsr_not_implemented("aminmax_cpu", self->dtype);
    if (found && tsr_dtype_is_complex(self->dtype)) return tsr_error(TSR_TYPE_ERROR, "aminmax not implemented for %s", tsr_dtype_scalar_name(self->dtype));
    if (tsr_is_meta(self)) found = false;
    if (found) TSR_TRY(own_range(self, &left, &right));
    if (left == right) {
        left -= 1;
        right += 1;
    }
    if (!isfinite(left) || !isfinite(right)) return tsr_error(TSR_RUNTIME_ERROR, "torch.histc: range of [%g, %g] is not finite", left, right);
    if (!(left < right)) return tsr_error(TSR_RUNTIME_ERROR, "torch.histc: max must be larger than min");
    if (tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8 | TSR_BIT(BOOL) | TSR_BIT(COMPLEX32), self->dtype)) return tsr_not_implemented("linspace_cpu", self->dtype);
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, self->dtype, "histogram_cpu"));
    if (c->out[0] != NULL && c->out[0]->dtype != self->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram: input tensor and hist tensor should have the same dtype, but got input %s and hist %s",
                         tsr_dtype_c_name(self->dtype), tsr_dtype_c_name(c->out[0]->dtype));
    if (tsr_is_meta(self)) return tsr_finish_move(c, tsr_tensor_new(&t, 1, &bins, self->dtype, self->device), t);
    TSR_TRY(even_edges_new(&edges, left, right, bins, self->dtype));
    TsrTensor *flat;
    TsrStatus status = tsr_tensor_new_reshape(&flat, self, 1, &minus);
    if (status == TSR_OK) {
        status = count_into(&t, flat, NULL, &edges, 1, BY_RULE);
        tsr_tensor_free(flat);
    }
    tsr_tensor_free(edges);
    return tsr_finish_move(c, status, t);
}

/* ---- histogram, histogramdd ---- */

static TsrStatus check_histogram(const TsrTensor *input, const TsrTensor *weight, bool given_edges) {
    if (given_edges) TSR_TRY(tsr_require(TSR_BITS_FLOAT, input->dtype, "histogram_cpu"));
    else if (!tsr_in(TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), input->dtype)) return tsr_not_implemented("histogramdd", input->dtype);
    if (weight == NULL) return TSR_OK;
    if (weight->dtype != input->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input(%s), and weight(%s)",
                         tsr_dtype_c_name(input->dtype), tsr_dtype_c_name(weight->dtype));
    bool same = tsr_ndim(weight) == tsr_ndim(input) - 1 && memcmp(weight->sizes, input->sizes, sizeof(int64_t) * (size_t)tsr_ndim(weight)) == 0;
    if (same) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input "
                     "with shape %s and weight with shape %s", tsr_sizes_text(input), tsr_sizes_text(weight));
}

static TsrStatus outer_edges(double *left, double *right, const TsrTensor *rows, int ndim, int d, const TsrArg *range) {
    *left = 0;
    *right = 1;
    if (tsr_arg_given(range)) {
        if (range->n != 2 * ndim)
            return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: for a %d-dimensional histogram range should have %d elements, but got %d", ndim, 2 * ndim, range->n);
        *left = range->floats[2 * d];
        *right = range->floats[2 * d + 1];
    } else if (rows->numel > 0) {
        column_range(rows, ndim, d, left, right);
    }
    if (!isfinite(*left) || !isfinite(*right))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: dimension %d's range [%g, %g] is not finite", d, *left, *right);
    if (*left > *right)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: min should not exceed max, but got min %g max %g for dimension %d", *left, *right, d);
    if (*left == *right) {
        *left -= 0.5;
        *right += 0.5;
    }
    return TSR_OK;
}

static TsrStatus make_edges(TsrTensor **edges, const TsrTensor *input, int ndim, const int64_t *bins, const TsrArg *range) {
    TsrTensor *rows;
    for (int d = 0; d < ndim; d++)
        if (bins[d] <= 0) return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram(): bins must be > 0, but got %lld for dimension %d", (long long)bins[d], d);
    TSR_TRY(doubles_new(&rows, input));
    TsrStatus status = TSR_OK;
    for (int d = 0; d < ndim && status == TSR_OK; d++) {
        double left, right;
        status = outer_edges(&left, &right, rows, ndim, d, range);
        if (status == TSR_OK) status = even_edges_new(&edges[d], left, right, bins[d], input->dtype);
    }
    tsr_tensor_free(rows);
    return status;
}

static TsrStatus copy_edges(TsrTensor **edges, const TsrTensor *input, TsrTensor *const *given, int ndim) {
    for (int d = 0; d < ndim; d++) {
        if (tsr_ndim(given[d]) != 1)
            return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: bins tensor should have one dimension, but got %d dimensions in the bins tensor for dimension %d",
                             tsr_ndim(given[d]), d);
        if (given[d]->dtype != input->dtype)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype %s and bins for dimension %d with dtype %s",
                             tsr_dtype_c_name(input->dtype), d, tsr_dtype_c_name(given[d]->dtype));
        if (given[d]->numel == 0)
            return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: bins tensor should have at least 1 element, but got %d elements in the bins tensor for dimension %d", 0, d);
    }
    for (int d = 0; d < ndim; d++) TSR_TRY(tsr_tensor_new_clone(&edges[d], given[d], TSR_CONTIGUOUS));
    return TSR_OK;
}

/* hist /= its sum, then by the width of the bins along each dimension. */
static TsrStatus make_density(TsrTensor **hist, TsrTensor *const *edges, int ndim) {
    TsrTensor *sum, *done;
    TSR_TRY(tsr_invoke_new(&sum, 1, "sum", "t", *hist));
    TsrScalar total = tsr_tensor_get(sum, 0);
    tsr_tensor_free(sum);
    TSR_TRY(tsr_invoke_new(&done, 1, "div", "!tts", *hist, *hist, total));
    tsr_tensor_free(done);
    for (int d = 0; d < ndim; d++) {
        TsrTensor *widths, *shaped;
        int64_t shape[MAX_HISTOGRAM_DIMS];
        for (int k = 0; k < ndim; k++) shape[k] = k == d ? -1 : 1;
        TSR_TRY(tsr_invoke_new(&widths, 1, "diff", "t", edges[d]));
        TsrStatus status = tsr_tensor_new_reshape(&shaped, widths, ndim, shape);
        tsr_tensor_free(widths);
        TSR_TRY(status);
        status = tsr_invoke_new(&done, 1, "div", "!ttt", *hist, *hist, shaped);
        tsr_tensor_free(shaped);
        TSR_TRY(status);
        tsr_tensor_free(done);
    }
    return TSR_OK;
}

/* What the overloads give in different places. */
typedef struct HistogramArgs {
    TsrTensor *input;
    int ndim;
    const int64_t *bins;       /* NULL: edges are given */
    TsrTensor *const *edges;
    const TsrArg *range, *weight, *density;
} HistogramArgs;

static TsrStatus histogram_new(TsrTensor **hist, TsrTensor **edges, const HistogramArgs *a) {
    const TsrTensor *weight = tsr_arg_given(a->weight) ? a->weight->t : NULL;
    TSR_TRY(check_histogram(a->input, weight, a->edges != NULL));
    TSR_TRY(a->bins != NULL ? make_edges(edges, a->input, a->ndim, a->bins, a->range) : copy_edges(edges, a->input, a->edges, a->ndim));
    TSR_TRY(count_into(hist, a->input, weight, edges, a->ndim, a->bins != NULL ? BY_RULE_AND_LOOK : BY_SEARCH));
    if (!a->density->b) return TSR_OK;
    TsrStatus status = make_density(hist, edges, a->ndim);
    if (status != TSR_OK) tsr_tensor_reset(hist);
    return status;
}

static TsrStatus histogram_1d(TsrOpCall *c, HistogramArgs a) {
    TsrTensor *self = c->arg[0].t, *hist = NULL, *edges[1] = {NULL}, *weight = NULL;
    TsrArg flat_weight = *a.weight;
    int64_t shape[2] = {self->numel, 1}, minus = -1;
    TSR_TRY(tsr_tensor_new_reshape(&a.input, self, 2, shape));
    TsrStatus status = TSR_OK;
    if (tsr_arg_given(a.weight)) {
        status = tsr_tensor_new_reshape(&weight, a.weight->t, 1, &minus);
        flat_weight.t = weight;
        a.weight = &flat_weight;
    }
    a.ndim = 1;
    if (status == TSR_OK) status = histogram_new(&hist, edges, &a);
    tsr_tensor_free(weight);
    tsr_tensor_free(a.input);
    if (status == TSR_OK) return tsr_return_move2(c, hist, edges[0]);
    tsr_tensor_free(edges[0]);
    return status;
}

/* (self, bins, *, weight, density) */
TsrStatus op_histogram_edges(TsrOpCall *c) {
    return histogram_1d(c, (HistogramArgs){.edges = &c->arg[1].t, .weight = &c->arg[2], .density = &c->arg[3]});
}

/* (self, bins, *, range, weight, density) */
TsrStatus op_histogram(TsrOpCall *c) {
    const TsrArg *range = &c->arg[2];
    if (tsr_arg_given(range) && range->n != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got %d", range->n);
    return histogram_1d(c, (HistogramArgs){.bins = &c->arg[1].i, .range = range, .weight = &c->arg[3], .density = &c->arg[4]});
}

static TsrStatus histogram_nd(TsrOpCall *c, int n, HistogramArgs a) {
    TsrTensor *self = c->arg[0].t, *hist = NULL, *edges[MAX_HISTOGRAM_DIMS] = {NULL};
    if (tsr_ndim(self) < 2) return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: input tensor should have at least 2 dimensions");
    if (n != self->sizes[tsr_ndim(self) - 1]) return tsr_error(TSR_RUNTIME_ERROR, "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
    if (n > MAX_HISTOGRAM_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "histogramdd: more than %d dimensions", MAX_HISTOGRAM_DIMS);
    a.input = self;
    a.ndim = n;
    TsrStatus status = histogram_new(&hist, edges, &a);
    if (status != TSR_OK) {
        tsr_free_all(edges, n);
        return status;
    }
    TsrArg first = {.kind = TSR_ARG_TENSOR, .t = hist};
    status = tsr_return_list_move(c, edges, n);
    if (status != TSR_OK) {
        tsr_tensor_free(hist);
        return status;
    }
    c->ret[1] = c->ret[0];
    c->ret[0] = first;
    c->nret = 2;
    return TSR_OK;
}

/* (self, bins, range, weight, density) */
TsrStatus op_histogramdd(TsrOpCall *c) {
    return histogram_nd(c, c->arg[1].n, (HistogramArgs){.bins = c->arg[1].ints, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}

TsrStatus op_histogramdd_one(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t bins[MAX_HISTOGRAM_DIMS];
    int n = tsr_ndim(self) < 1 ? 0 : (int)TSR_MIN(self->sizes[tsr_ndim(self) - 1], MAX_HISTOGRAM_DIMS);
    for (int d = 0; d < n; d++) bins[d] = c->arg[1].i;
    return histogram_nd(c, n, (HistogramArgs){.bins = bins, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}

TsrStatus op_histogramdd_edges(TsrOpCall *c) {
    return histogram_nd(c, c->arg[1].n, (HistogramArgs){.edges = c->arg[1].tensors, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}
