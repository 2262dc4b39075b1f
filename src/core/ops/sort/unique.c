/* unique.c: unique and unique_consecutive.
 *
 * Distinct elements are runs of equal keys: the elements become (key, position) pairs, sorted unless the runs are
 * wanted as they come; numbering the runs gives the values, the inverse and the counts. Two shortcuts: integers within
 * a short range are counted, a counter a value (try_counting), and sorted plain numbers are read as runs without pairs
 * (runs.inc). Along a dimension the rows' numbers are merge-sorted by the keys of their elements. */
#include <string.h>

#include "core/engine/places.h"
#include "core/indexing.h"
#include "counting.h"
#include "core/kernels/sort/keys.h"
#include "core/kernels/move/select.h"
#include "core/kernels/sort/sort.h"
#include "core/mem.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "there.h"

/* ---- unique ---- */

/* What a search for distinct elements or slices found. */
typedef struct Distinct {
    int64_t *order; /* of the input's elements; distinct ones are order[first[k]] */
    int64_t *group; /* of order[i]: the number of its distinct element */
    int64_t n, count;
} Distinct;

typedef struct Wanted {
    bool inverse, counts;
} Wanted; /* beside the values */

/* What is returned; what was not wanted is NULL. */
typedef struct Results {
    TsrTensor *values, *inverse, *counts;
} Results;

static TsrStatus return_results_move(TsrOpCall *c, const Results *r, TsrStatus status) {
    TsrTensor *all[3] = {r->values, r->inverse, r->counts};
    if (status != TSR_OK) {
        tsr_free_all(all, 3);
        return status;
    }
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
        for (int64_t i = 0; i < d->n && tsr_interrupt_flag == 0; i++)
            inverse[d->order[i]] = d->group[i]; /* a look each: all over fresh pages */
    if (counts == NULL) return;
    memset(counts, 0, sizeof *counts * (size_t)d->count);
    for (int64_t i = 0; i < d->n && !tsr_interrupted_at(i); i++) counts[d->group[i]]++;
}

static TsrStatus longs_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDevice device) {
    return tsr_tensor_new(out, ndim, sizes, TSR_INT64, device);
}

/* What is wanted beside the values; the inverse has those sizes. */
static TsrStatus add_wanted(Results *r, const Distinct *d, int ndim, const int64_t *sizes, Wanted wanted) {
    TsrDevice device = r->values->device;
    if (wanted.inverse) TSR_TRY(longs_new(&r->inverse, ndim, sizes, device));
    if (wanted.counts) TSR_TRY(longs_new(&r->counts, 1, &d->count, device));
    fill_inverse(d, wanted.inverse ? tsr_data(r->inverse) : NULL, wanted.counts ? tsr_data(r->counts) : NULL);
    return tsr_interrupt_check();
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
        if (i == 0 || d->group[i] != d->group[i - 1])
            memcpy(dst + (size_t)d->group[i] * item, src + (size_t)d->order[i] * item, item);
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

/* Of self, whose elements are those of `wide`, all within [base, base + bins). */
static TsrStatus unique_counted(Results *r, const TsrTensor *self, const TsrTensor *wide, int64_t base, int64_t bins,
                                Wanted wanted) {
    const int64_t *p = tsr_data(wide);
    int64_t *counts, *values, found;
    TsrTensor *distinct = NULL;
    TSR_TRY(scratch_new((void **)&counts, sizeof *counts * (size_t)bins * 2));
    values = counts + bins;
    TsrStatus status = tsr_count_values(counts, p, wide->numel, bins, base);
    found = rank_values(counts, values, bins, base);
    if (status == TSR_OK) status = longs_new(&distinct, 1, &found, self->device);
    if (status == TSR_OK) memcpy(tsr_data(distinct), values, sizeof *values * (size_t)found);
    if (status == TSR_OK && wanted.counts) {
        status = longs_new(&r->counts, 1, &found, self->device);
        for (int64_t k = 0; status == TSR_OK && k < found; k++)
            ((int64_t *)tsr_data(r->counts))[k] = counts[values[k] - base];
    }
    if (status == TSR_OK && wanted.inverse) {
        status = longs_new(&r->inverse, tsr_ndim(self), self->sizes, self->device);
        for (int64_t k = 0; k < found; k++) counts[values[k] - base] = k; /* from here on: ranks */
        Ranks ranks = {p, counts, base, status == TSR_OK ? tsr_data(r->inverse) : NULL};
        if (status == TSR_OK) status = tsr_parallel_for(wide->numel, tsr_grain(1), rank_range, &ranks);
    }
    if (status == TSR_OK) status = tsr_tensor_new_cast(&r->values, distinct, self->dtype);
    tsr_tensor_free(distinct);
    tsr_free(counts);
    return status;
}

/* *done: the values were few enough to count. */
static TsrStatus try_counting(Results *r, const TsrTensor *self, Wanted wanted, bool *done) {
    TsrTensor *wide;
    int64_t least, most, span;
    *done = false;
    if (self->numel < 1024 || !tsr_in(TSR_BITS_INT | TSR_BIT(UINT16) | TSR_BIT(UINT32) | TSR_BIT(BOOL), self->dtype))
        return TSR_OK;
    TSR_TRY(tsr_dense_new(&wide, self, TSR_INT64));
    tsr_kernel_range(tsr_data(wide), wide->numel, &least, &most);
    TsrStatus status = TSR_OK;
    if (!tsr_sub_overflows(most, least, &span) && span < self->numel) {
        status = unique_counted(r, self, wide, least, span + 1, wanted);
        *done = status == TSR_OK;
    }
    tsr_tensor_free(wide);
    return status;
}

/* Runs of equal elements: count says how many; mark puts the first of each into `to`, and where they are not NULL, its
 * number for each element into inverse, and where it begins into starts. Marking goes from the end, so that what stays
 * of a run is its first, without a question. */
typedef struct Runs {
    int64_t count;
    void *to;
    int64_t *inverse, *starts;
} Runs;

typedef struct RunsKernel {
    int64_t (*count)(const void *p, int64_t n);
    void (*mark)(const Runs *r, const void *p, int64_t n);
} RunsKernel;

#define MARK_RUNS(ALSO) \
    for (int64_t left = n - 1; left > 0 && tsr_interrupt_flag == 0;) { \
        for (int64_t i = left, end = TSR_MAX(left - 4096, 0); i > end; i--, left--) { \
            first[run] = p[i]; \
            ALSO run -= p[i] != p[i - 1]; \
        } \
    }
#define NAME(x) x##_8
#define T uint8_t
#include "runs.inc"

#define NAME(x) x##_16
#define T uint16_t
#include "runs.inc"

#define NAME(x) x##_32
#define T uint32_t
#include "runs.inc"

#define NAME(x) x##_64
#define T uint64_t
#include "runs.inc"

#define NAME(x) x##_float
#define T float
#include "runs.inc"

#define NAME(x) x##_double
#define T double
#include "runs.inc"

#undef MARK_RUNS

static const RunsKernel *runs_of(TsrDtype d) {
    if (d == TSR_FLOAT32) return &runs_float;
    if (d == TSR_FLOAT64) return &runs_double;
    switch (tsr_dtype_size(d)) {
    case 1: return &runs_8;
    case 2: return &runs_16;
    case 4: return &runs_32;
    case 8: return &runs_64;
    default: return NULL;
    }
}

/* Runs need no pairs. */
static TsrStatus unique_runs(Results *r, const TsrTensor *self, Wanted wanted) {
    TSR_OWNED dense = NULL;
    const RunsKernel *kernel = runs_of(self->dtype);
    if (kernel == NULL) return tsr_not_implemented("unique", self->dtype);
    TSR_TRY(tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS));
    int64_t n = dense->numel;
    Runs runs = {.count = kernel->count(tsr_data(dense), n)};
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_tensor_new(&r->values, 1, &runs.count, dense->dtype, dense->device));
    if (wanted.inverse) TSR_TRY(longs_new(&r->inverse, tsr_ndim(self), self->sizes, self->device));
    if (wanted.counts) TSR_TRY(longs_new(&r->counts, 1, &runs.count, self->device));
    runs.to = tsr_data(r->values);
    if (wanted.inverse) runs.inverse = tsr_data(r->inverse);
    if (wanted.counts) runs.starts = tsr_data(r->counts);
    kernel->mark(&runs, tsr_data(dense), n);
    for (int64_t k = 0; k < runs.count && wanted.counts; k++)
        runs.starts[k] = (k + 1 < runs.count ? runs.starts[k + 1] : n) - runs.starts[k];
    return tsr_interrupt_check();
}

static bool are_plain_runs(const TsrTensor *self) {
    const uint64_t comparable = TSR_BITS_INT | TSR_BITS_UINT | TSR_BIT(BOOL) | TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64);
    return self->numel > 0 && !tsr_is_meta(self) && tsr_in(comparable, self->dtype);
}

static TsrStatus unique_pairs(Results *r, const TsrTensor *self, bool sort, Wanted wanted) {
    TSR_OWNED dense = NULL;
    TsrPair *pairs = NULL;
    Distinct d = {NULL, NULL, 0, 0};
    TSR_TRY(tsr_tensor_new_contiguous(&dense, self, TSR_CONTIGUOUS));
    TsrStatus status = flat_pairs(&pairs, dense, sort);
    if (status == TSR_OK) status = distinct_begin(&d, dense->numel);
    if (status == TSR_OK) status = number_runs(&d, pairs, dense->dtype);
    if (status == TSR_OK) status = unique_values(&r->values, dense, &d);
    if (status == TSR_OK) status = add_wanted(r, &d, tsr_ndim(self), self->sizes, wanted);
    tsr_free(pairs);
    tsr_free(d.order);
    return status;
}

/* The number of its run for each element: in the order of the input, whose element i of the line was order[i]. */
static TsrTensor *run_numbers(TsrScope *s, TsrTensor *begins, TsrTensor *order, int ndim, const int64_t *sizes) {
    TsrTensor *counted = CALL(s, "cumsum", "ti", begins, (int64_t)0),
              *number = CALL(s, "sub", "ts", counted, tsr_scalar_int(1));
    TsrTensor *inverse = order == NULL ? number : MAKE(s, tsr_tensor_new_like, number, TSR_INT64, TSR_CONTIGUOUS);
    const TsrAlong along = {.index = order};
    if (s->status == TSR_OK && order != NULL) s->status = tsr_place_along(inverse, number, &along, TSR_COMBINE_SET);
    return MAKE(s, tsr_tensor_new_reshape, inverse, ndim, sizes);
}

/* How long the runs are that begin at these of n elements. */
static TsrTensor *run_lengths(TsrScope *s, TsrTensor *starts, int64_t n) {
    TsrTensor *ends = MAKE(s, tsr_tensor_new_like, starts, TSR_INT64, TSR_CONTIGUOUS),
              *before = SLICE(s, ends, 0, 0, -1), *after = SLICE(s, starts, 0, 1, INT64_MAX);
    if (s->status == TSR_OK) s->status = tsr_tensor_fill(ends, tsr_scalar_int(n));
    if (s->status == TSR_OK) s->status = tsr_tensor_copy(before, after);
    return CALL(s, "sub", "tt", ends, starts);
}

/* What was asked for of `lines`, elements or rows in order, of which those that `begins` says are not what stands
 * before them; order: where each was, NULL for the order of the input, whose sizes these are. */
static void distinct_there(TsrScope *s, Results *r, TsrTensor *lines, TsrTensor *begins, TsrTensor *order, int ndim,
                           const int64_t *sizes, Wanted wanted) {
    TsrTensor *found = MAKE(s, tsr_nonzero_new, begins), *starts = MAKE(s, tsr_tensor_new_select, found, 1, 0),
              *values = CALL(s, "index_select", "tit", lines, (int64_t)0, starts);
    TsrTensor *inverse = wanted.inverse ? run_numbers(s, begins, order, ndim, sizes) : NULL,
              *counts = wanted.counts ? run_lengths(s, starts, begins->numel) : NULL;
    if (s->status != TSR_OK) return;
    r->values = tsr_tensor_retain(values);
    if (wanted.inverse) r->inverse = tsr_tensor_retain(inverse);
    if (wanted.counts) r->counts = tsr_tensor_retain(counts);
}

/* unique_flat on a device. */
static TsrStatus unique_there(Results *r, const TsrTensor *self, bool sort, Wanted wanted) {
    TsrTensor *sorted[2] = {NULL};
    int64_t minus = -1;
    TsrScope s = {0};
    TsrTensor *flat = MAKE(&s, tsr_tensor_new_reshape, self, 1, &minus);
    if (s.status == TSR_OK && sort) s.status = tsr_invoke_new(sorted, 2, "sort", "tbib", flat, true, (int64_t)0, false);
    TsrTensor *line = sort ? sorted[0] : flat, *begins = s.status == TSR_OK ? tsr_run_starts(&s, line) : NULL;
    if (s.status == TSR_OK)
        distinct_there(&s, r, line, begins, sort ? sorted[1] : NULL, tsr_ndim(self), self->sizes, wanted);
    tsr_free_all(sorted, 2);
    return tsr_scope_end(&s);
}

/* Distinct elements of the flattened input: sorted, or runs of equal ones. */
static TsrStatus unique_flat(Results *r, const TsrTensor *self, bool sort, Wanted wanted) {
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL), self->dtype, "unique"));
    bool done = false;
    if (tsr_on_device(self)) return unique_there(r, self, sort, wanted);
    if (sort && !tsr_is_meta(self)) TSR_TRY(try_counting(r, self, wanted, &done));
    if (done) return TSR_OK;
    return !sort && are_plain_runs(self) ? unique_runs(r, self, wanted) : unique_pairs(r, self, sort, wanted);
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
                bool left = a < middle &&
                            (b >= end || compare_rows(keys + order[b] * width, keys + order[a] * width, width) >= 0);
                spare[k] = order[left ? a++ : b++];
            }
        }
        memcpy(order, spare, sizeof *order * (size_t)n);
    }
}

/* As std::sort asks it: nan is neither less nor greater than any. */
static bool is_less_row(const uint64_t *a, const uint64_t *b, int64_t n, uint64_t nan_key) {
    for (int64_t i = 0; i < n; i++)
        if (a[i] != b[i] && a[i] != nan_key && b[i] != nan_key) return a[i] < b[i];
    return false;
}

/* What std::sort makes of up to 16 rows with nan among them: insertion. */
static void insert_rows(int64_t *order, int64_t n, const uint64_t *keys, int64_t width, uint64_t nan_key) {
    for (int64_t i = 1; i < n; i++) {
        int64_t row = order[i], k = i;
        bool first = is_less_row(keys + row * width, keys + order[0] * width, width, nan_key);
        while (k > 0 && (first || is_less_row(keys + row * width, keys + order[k - 1] * width, width, nan_key))) {
            order[k] = order[k - 1];
            k--;
        }
        order[k] = row;
    }
}

static bool has_key(const uint64_t *keys, int64_t n, uint64_t key) {
    for (int64_t i = 0; i < n; i++)
        if (keys[i] == key) return true;
    return false;
}

static TsrStatus distinct_rows(Distinct *d, const TsrTensor *rows, bool sort) {
    int64_t n = rows->sizes[0], width = n > 0 ? rows->numel / n : 0, item = (int64_t)tsr_itemsize(rows);
    uint64_t *keys;
    TSR_TRY(scratch_new((void **)&keys, sizeof *keys * (size_t)rows->numel));
    tsr_kernel_keys64(rows->dtype, tsr_data(rows), item, rows->numel, keys);
    for (int64_t i = 0; i < n; i++) d->order[i] = i;
    uint64_t nan_key = tsr_kernel_nan_key(rows->dtype);
    bool few = n <= 16 && tsr_dtype_is_float(rows->dtype) && has_key(keys, rows->numel, nan_key);
    if (sort && few) insert_rows(d->order, n, keys, width, nan_key);
    else if (sort) sort_rows(d->order, d->group, n, keys, width);
    TsrStatus status = tsr_interrupt_check();
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

/* `count` dense rows like `rows`, seen with their dimension moved back to its place. */
static void moved_back(int64_t *sizes, int64_t *strides, const TsrTensor *rows, int64_t count, int64_t dim) {
    int n = tsr_ndim(rows);
    int64_t dense[TSR_MAX_DIMS], steps[TSR_MAX_DIMS];
    memcpy(dense, rows->sizes, sizeof *dense * (size_t)n);
    dense[0] = count;
    tsr_layout_contiguous_strides(steps, n, dense);
    for (int k = 0; k < n; k++) {
        int from = k < dim ? k + 1 : k == dim ? 0 : k;
        sizes[k] = dense[from];
        strides[k] = steps[from];
    }
}

/* The distinct rows, seen with their dimension moved back to its place. */
static TsrStatus gather_rows(TsrTensor **out, const TsrTensor *rows, const Distinct *d, int64_t dim) {
    int n = tsr_ndim(rows);
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    moved_back(sizes, strides, rows, d->count, dim);
    if (d->n == 0) tsr_layout_contiguous_strides(strides, n, sizes); /* nothing was moved */
    TSR_TRY(tsr_tensor_new_strided(out, n, sizes, strides, rows->dtype, rows->device));
    if ((*out)->numel == 0) return TSR_OK;
    size_t row = (size_t)(rows->numel / rows->sizes[0]) * tsr_itemsize(rows);
    const char *src = tsr_data(rows);
    char *dst = tsr_data(*out);
    for (int64_t i = 0; i < d->n && ((i & 0xFF) != 0 || tsr_interrupt_flag == 0); i++)
        if (i == 0 || d->group[i] != d->group[i - 1])
            memcpy(dst + (size_t)d->group[i] * row, src + (size_t)d->order[i] * row, row);
    return TSR_OK;
}

static TsrStatus rows_new(TsrTensor **out, const TsrTensor *self, int64_t dim) {
    TSR_OWNED moved = NULL;
    int64_t order[TSR_MAX_DIMS];
    int k = 0;
    order[k++] = dim;
    for (int d = 0; d < tsr_ndim(self); d++)
        if (d != dim) order[k++] = d;
    TSR_TRY(tsr_tensor_new_permute(&moved, self, k, order));
    return tsr_tensor_new_contiguous(out, moved, TSR_CONTIGUOUS);
}

/* On a device rows are sorted column by column, the last one first, and so only narrow ones. */
enum { MOST_COLUMNS = 64 };

/* The order of the rows of a matrix. *out is owned. */
static TsrStatus row_order_new(TsrTensor **out, TsrTensor *matrix) {
    TSR_OWNED order = NULL;
    for (int64_t k = matrix->sizes[1] - 1; k >= 0; k--) {
        TsrTensor *sorted[2] = {NULL};
        TsrScope s = {0};
        TsrTensor *column = MAKE(&s, tsr_tensor_new_select, matrix, 1, k),
                  *moved = order == NULL ? column : CALL(&s, "index_select", "tit", column, (int64_t)0, order);
        if (s.status == TSR_OK) s.status = tsr_invoke_new(sorted, 2, "sort", "tbib", moved, true, (int64_t)0, false);
        TsrTensor *next = order == NULL ? sorted[1] : CALL(&s, "index_select", "tit", order, (int64_t)0, sorted[1]);
        if (s.status == TSR_OK) tsr_owned_put_move(&order, tsr_tensor_retain(next));
        tsr_free_all(sorted, 2);
        TSR_TRY(tsr_scope_end(&s));
    }
    *out = tsr_owned_take(&order);
    return TSR_OK;
}

/* Which rows are not what stands before them. *out is owned. */
static TsrStatus row_starts_new(TsrTensor **out, TsrTensor *matrix) {
    TsrScope s = {0};
    TsrTensor *begins = MAKE(&s, tsr_tensor_new, 1, matrix->sizes, TSR_BOOL, matrix->device),
              *others = SLICE(&s, begins, 0, 1, INT64_MAX), *after = SLICE(&s, matrix, 0, 1, INT64_MAX),
              *before = SLICE(&s, matrix, 0, 0, -1), *differ = CALL(&s, "ne", "tt", after, before),
              *fresh = CALL(&s, "any", "ti", differ, (int64_t)1);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(begins, tsr_scalar_bool(true));
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(others, fresh);
    return tsr_scope_end_new(out, &s, begins);
}

/* unique_along on a device, where nothing is empty. */
static TsrStatus unique_rows_there(Results *r, const TsrTensor *self, int64_t dim, bool sort, Wanted wanted) {
    const int64_t n = self->sizes[dim], shape[] = {n, self->numel / n};
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    TsrScope s = {0};
    TsrTensor *rows = MAKE(&s, rows_new, self, dim), *matrix = MAKE(&s, tsr_tensor_new_reshape, rows, 2, shape),
              *order = sort ? MAKE(&s, row_order_new, matrix) : NULL,
              *lines = sort ? CALL(&s, "index_select", "tit", matrix, (int64_t)0, order) : matrix,
              *begins = MAKE(&s, row_starts_new, lines);
    if (s.status == TSR_OK) distinct_there(&s, r, lines, begins, order, 1, &n, wanted);
    if (s.status == TSR_OK) {
        moved_back(sizes, strides, rows, r->values->sizes[0], dim);
        s.status = tsr_tensor_set_geometry(r->values, (TsrGeometry){tsr_ndim(rows), sizes, strides, 0});
    }
    return tsr_scope_end(&s);
}

#define ALONG (TSR_BITS_USUAL | TSR_BITS_UINT | TSR_BIT(BOOL)) /* what rows are compared of */

static TsrStatus unique_along(Results *r, const TsrTensor *self, int64_t dim, bool sort, Wanted wanted) {
    TSR_TRY(tsr_require(ALONG, self->dtype, "unique_dim"));
    if (tsr_ndim(self) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)dim);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(self)));
    int64_t zeros = 0;
    for (int d = 0; d < tsr_ndim(self); d++) zeros += self->sizes[d] == 0;
    if (self->sizes[dim] == 0 ? zeros != 1 : zeros != 0)
        return tsr_error(TSR_RUNTIME_ERROR,
                         self->sizes[dim] == 0
                             ? "Number of zero sized dimensions is more than one, so unique cannot be applied "
                             : "There are 0 sized dimensions, and they aren't selected, so unique cannot be applied");
    if (tsr_on_device(self) && tsr_ndim(self) == 1) return unique_there(r, self, sort, wanted);
    if (tsr_on_device(self)) {
        bool narrow = self->numel > 0 && (!sort || self->numel / self->sizes[dim] <= MOST_COLUMNS);
        return narrow ? unique_rows_there(r, self, dim, sort, wanted) : tsr_device_decline();
    }
    TSR_OWNED rows = NULL;
    Distinct d = {NULL, NULL, 0, 0};
    TSR_TRY(rows_new(&rows, self, dim));
    TsrStatus status = distinct_begin(&d, self->sizes[dim]);
    if (status == TSR_OK) status = distinct_rows(&d, rows, sort);
    if (status == TSR_OK) status = gather_rows(&r->values, rows, &d, dim);
    if (status == TSR_OK) status = add_wanted(r, &d, 1, &d.n, wanted);
    tsr_free(d.order);
    return status;
}

static TsrStatus check_unique_dim(const TsrOpCall *c, const TsrArg *dim, bool along) {
    int64_t d = tsr_arg_given(dim) ? dim->i : 0;
    if (along) TSR_TRY(tsr_require(ALONG, c->arg[0].t->dtype, "unique_dim"));
    if (tsr_ndim(c->arg[0].t) == 0 && (d < -1 || d > 0))
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)d);
    return tsr_wrap_dim(&d, tsr_ndim(c->arg[0].t));
}

/* (input, sorted, return_inverse, return_counts, dim) */
TsrStatus op_unique(TsrOpCall *c) {
    Results r = {0};
    Wanted wanted = {c->arg[2].b, c->arg[3].b};
    const TsrArg *dim = &c->arg[4];
    TSR_TRY(check_unique_dim(c, dim, tsr_arg_given(dim)));
    return return_results_move(c, &r,
                               tsr_arg_given(dim) ? unique_along(&r, c->arg[0].t, dim->i, true, wanted)
                                                  : unique_flat(&r, c->arg[0].t, true, wanted));
}

/* (input, return_inverse, return_counts, dim) */
TsrStatus op_unique_consecutive(TsrOpCall *c) {
    Results r = {0};
    Wanted wanted = {c->arg[1].b, c->arg[2].b};
    const TsrArg *dim = &c->arg[3];
    bool along = tsr_arg_given(dim) && (tsr_ndim(c->arg[0].t) != 1 || dim->i != 0);
    TSR_TRY(check_unique_dim(c, dim, along));
    return return_results_move(c, &r,
                               along ? unique_along(&r, c->arg[0].t, dim->i, false, wanted)
                                     : unique_flat(&r, c->arg[0].t, false, wanted));
}
