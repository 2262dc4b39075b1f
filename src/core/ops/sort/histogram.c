/* histogram.c: bincount, histc, histogram, histogramdd.
 *
 * Where the edges are even, the bin of a value is computed, in PyTorch's rounding; where they are given, it is searched
 * for by halves. histc of floats goes block by block: the bins of a block by a loop that becomes vectors, then the
 * counts (count_evenly.inc), where that gives the digits of the plain way. Sums of weights and densities are in the
 * input's dtype, step by step, as PyTorch's. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "counting.h"
#include "core/element/halffloat.h"
#include "core/engine/places.h"
#include "core/kernels/move/select.h"
#include "core/op/out.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

/* ---- bincount ---- */

static TsrStatus bincount_weighted(TsrTensor **out, const int64_t *p, int64_t n, int64_t bins,
                                   const TsrTensor *weights) {
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
    TsrStatus status = tsr_count_values(tsr_data(*out), p, n, bins, 0);
    return tsr_owned_keep(out, status);
}

static TsrStatus no_counts(void) {
    return tsr_error(TSR_RUNTIME_ERROR, "bincount only supports 1-d non-negative integral inputs.");
}

static TsrStatus bincount(TsrTensor **out, const TsrTensor *self, const TsrTensor *weights, int64_t minlength) {
    TsrTensor *dense;
    TSR_TRY(tsr_dense_new(&dense, self, TSR_INT64));
    const int64_t *p = tsr_data(dense);
    int64_t least = 0, most = -1;
    if (dense->numel > 0) tsr_kernel_range(p, dense->numel, &least, &most);
    TsrStatus status;
    if (least < 0) status = no_counts();
    else if (most == INT64_MAX)
        status = tsr_error(TSR_RUNTIME_ERROR, "maximum value of input overflowed, it should be < %lld but got %lld",
                           (long long)INT64_MAX, (long long)INT64_MAX);
    else {
        int64_t bins = TSR_MAX(most + 1, minlength);
        status = weights != NULL ? bincount_weighted(out, p, dense->numel, bins, weights)
                                 : bincount_plain(out, p, dense->numel, bins);
    }
    tsr_tensor_free(dense);
    return status;
}

/* out[positions[i]] += what[i], or 1 where there is no `what`, on a device; out is made, of `bins` zeros. */
static TsrStatus sum_there(TsrTensor **out, const TsrTensor *positions, const TsrTensor *what, int64_t bins) {
    TSR_OWNED one = NULL;
    TsrDtype dtype = what != NULL ? what->dtype : TSR_INT64;
    const TsrAlong along = {.index = positions};
    TSR_TRY(tsr_zeros_new(out, 1, &bins, dtype, positions->device));
    TsrStatus status = tsr_tensor_new(&one, 0, NULL, dtype, positions->device);
    if (status == TSR_OK) status = tsr_tensor_fill(one, tsr_scalar_int(1));
    if (status == TSR_OK) status = tsr_place_along(*out, what != NULL ? what : one, &along, TSR_COMBINE_ADD);
    return tsr_owned_keep(out, status);
}

/* By operators, wherever t is. */
static TsrStatus range_there(int64_t *least, int64_t *most, const TsrTensor *t) {
    TsrScalar low, high;
    TsrScope s = {0};
    TsrTensor *a = CALL(&s, "amin", "t", t), *b = CALL(&s, "amax", "t", t);
    if (s.status == TSR_OK) s.status = tsr_tensor_item(&low, a);
    if (s.status == TSR_OK) s.status = tsr_tensor_item(&high, b);
    if (s.status == TSR_OK) *least = tsr_scalar_to_int(low), *most = tsr_scalar_to_int(high);
    return tsr_scope_end(&s);
}

/* bincount on a device; the range of the elements is waited for. */
static TsrStatus bincount_there(TsrTensor **out, const TsrTensor *self, const TsrTensor *weights, int64_t minlength) {
    TSR_OWNED dense = NULL;
    TSR_OWNED wide = NULL;
    int64_t least = 0, most = 0;
    TSR_TRY(tsr_dense_new(&dense, self, TSR_INT64));
    TSR_TRY(range_there(&least, &most, dense));
    if (least < 0) return no_counts();
    if (most == INT64_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "maximum value of input overflowed, it should be < %lld but got %lld",
                         (long long)INT64_MAX, (long long)INT64_MAX);
    if (weights != NULL)
        TSR_TRY(tsr_tensor_new_cast(&wide, weights, weights->dtype == TSR_FLOAT32 ? TSR_FLOAT32 : TSR_FLOAT64));
    return sum_there(out, dense, wide, TSR_MAX(most + 1, minlength));
}

TsrStatus op_bincount(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *weights = tsr_arg_given(&c->arg[1]) ? c->arg[1].t : NULL, *t = NULL;
    int64_t minlength = c->arg[2].i;
    TSR_TRY(tsr_require(TSR_BITS_INT, self->dtype, "bincount_cpu"));
    if (minlength < 0) return tsr_error(TSR_RUNTIME_ERROR, "minlength should be >= 0");
    if (tsr_ndim(self) == 1 && self->numel == 0)
        return tsr_finish_move(c, tsr_zeros_new(&t, 1, &minlength, TSR_INT64, self->device), t);
    if (tsr_ndim(self) != 1) return no_counts();
    if (weights != NULL && (tsr_ndim(weights) != 1 || weights->numel != self->numel)) {
        int64_t least, most;
        if (!tsr_is_meta(self)) TSR_TRY(range_there(&least, &most, self));
        if (!tsr_is_meta(self) && least < 0) return no_counts();
        return tsr_error(TSR_RUNTIME_ERROR, "weights should be 1-d and have the same length as input");
    }
    return tsr_finish_move(c, (tsr_on_device(self) ? bincount_there : bincount)(&t, self, weights, minlength), t);
}

/* ---- histograms ---- */

enum { MAX_HISTOGRAM_DIMS = 32 };
typedef enum Placing {
    BY_SEARCH,
    BY_RULE,
    BY_RULE_AND_LOOK
} Placing; /* in given edges; evenly spaced; the same, put right by a look at the edges */

typedef struct Histogram {
    int ndim;
    const double *edges[MAX_HISTOGRAM_DIMS]; /* as doubles */
    int64_t nedges[MAX_HISTOGRAM_DIMS];
    Placing placing;
    TsrDtype dtype;
} Histogram;

/* Rounds to the dtype's precision, as each of PyTorch's steps does. */
static inline double rounded(TsrDtype d, double v) {
    if (d == TSR_FLOAT64) return v;
    if (d == TSR_FLOAT32) return (float)v;
    return d == TSR_FLOAT16 ? tsr_half_widen(tsr_half_round((float)v))
                            : tsr_bfloat16_widen(tsr_bfloat16_round((float)v));
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

/* The bin of v in dimension k, -1 outside; every step in dtype d. */
static inline int64_t place(const Histogram *h, int k, double v, TsrDtype d) {
    const double *e = h->edges[k];
    int64_t n = h->nedges[k], bin;
    double left = e[0], right = e[n - 1];
    if (!(v >= left && v <= right)) return -1;
    if (h->placing == BY_SEARCH) {
        bin = upper_bound(e, 0, n, v) - 1;
    } else {
        double scaled = rounded(d, rounded(d, v - left) * (double)(n - 1));
        bin = (int64_t)rounded(d, scaled / rounded(d, right - left));
        if (h->placing == BY_RULE_AND_LOOK) bin = upper_bound(e, TSR_MAX(0, bin - 1), TSR_MIN(bin + 2, n), v) - 1;
    }
    return bin == n - 1 ? bin - 1 : bin;
}

/* rows of ndim values each (doubles); sums weights (or ones) into hist. A loop for each dtype. */
#define FILL(DTYPE) \
    for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) { \
        int64_t at = 0; \
        for (int k = 0; k < h->ndim && at >= 0; k++) { \
            int64_t bin = place(h, k, rows[i * h->ndim + k], DTYPE); \
            at = bin < 0 ? -1 : at * (h->nedges[k] - 1) + bin; \
        } \
        if (at >= 0) hist[at] = rounded(DTYPE, hist[at] + (weights != NULL ? weights[i] : 1)); \
    }
static TsrStatus fill_histogram(const Histogram *h, const double *rows, const double *weights, int64_t n,
                                double *hist) {
    switch (h->dtype) {
    case TSR_FLOAT64: FILL(TSR_FLOAT64) break;
    case TSR_FLOAT32: FILL(TSR_FLOAT32) break;
    case TSR_FLOAT16: FILL(TSR_FLOAT16) break;
    case TSR_BFLOAT16: FILL(TSR_BFLOAT16) break;
    default: return tsr_not_implemented("histogramdd", h->dtype);
    }
    return tsr_interrupt_check();
}
#undef FILL

/* Evenly spaced edges in the dtype. */
static TsrStatus even_edges_new(TsrTensor **out, double left, double right, int64_t bins, TsrDtype dtype) {
    if (bins == INT64_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=[%lld]", (long long)bins);
    return tsr_invoke_new(out, 1, "linspace", "ssid", tsr_scalar_float(left), tsr_scalar_float(right), bins + 1,
                          (int)dtype);
}

/* Counts `input` (n by ndim, or flat) into edges; hist of `dtype`. */
static TsrStatus count_into(TsrTensor **out, const TsrTensor *input, const TsrTensor *weight, TsrTensor *const *edges,
                            int ndim, Placing placing) {
    Histogram h = {.ndim = ndim, .placing = placing, .dtype = input->dtype};
    TsrTensor *wide_edges[MAX_HISTOGRAM_DIMS] = {NULL}, *rows = NULL, *w = NULL, *hist = NULL;
    int64_t sizes[MAX_HISTOGRAM_DIMS];
    TsrStatus status = TSR_OK;
    for (int d = 0; d < ndim && status == TSR_OK; d++) {
        status = tsr_dense_new(&wide_edges[d], edges[d], TSR_FLOAT64);
        if (status != TSR_OK) break;
        h.edges[d] = tsr_data(wide_edges[d]);
        h.nedges[d] = edges[d]->numel;
        sizes[d] = TSR_MAX(0, edges[d]->numel - 1);
    }
    if (status == TSR_OK) status = tsr_dense_new(&rows, input, TSR_FLOAT64);
    if (status == TSR_OK && weight != NULL) status = tsr_dense_new(&w, weight, TSR_FLOAT64);
    if (status == TSR_OK) status = tsr_zeros_new(&hist, ndim, sizes, TSR_FLOAT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        if (hist->numel > 0)
            status = fill_histogram(&h, tsr_data(rows), w != NULL ? tsr_data(w) : NULL,
                                    ndim > 0 ? rows->numel / ndim : 0, tsr_data(hist));
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

/* Counts into bins that are evenly spaced over [left, right], as fill_histogram does by BY_RULE: the places of a block
 * by a loop that becomes vectors, then the counts. What lies outside is counted behind the last bin. */
#define T float
#define NAME(x) x##_float
#include "count_evenly.inc"

#define T double
#define NAME(x) x##_double
#include "count_evenly.inc"

/* Whether count_evenly has the digits of fill_histogram: no step overflows, and the number of bins is a float. */
static bool counts_evenly(const TsrTensor *flat, double left, double right, int64_t bins) {
    bool single = flat->dtype == TSR_FLOAT32;
    double most = single ? FLT_MAX : DBL_MAX;
    return (single || flat->dtype == TSR_FLOAT64) && bins <= 1 << 24 && tsr_is_contiguous(flat, TSR_CONTIGUOUS) &&
           (right / most - left / most) * (double)bins < 0.5;
}

/* Where floats are counted one by one they stay at 2**24. */
static TsrStatus evenly_counted_new(TsrTensor **out, const TsrTensor *flat, const TsrTensor *edges, int64_t bins) {
    int64_t room = bins + 1;
    TSR_OWNED counts = NULL;
    TSR_TRY(tsr_zeros_new(&counts, 1, &room, TSR_INT64, TSR_DEVICE_CPU));
    int64_t *count = tsr_data(counts);
    if (flat->dtype == TSR_FLOAT32) {
        const float *e = tsr_data(edges);
        count_evenly_float(count, bins, tsr_data(flat), flat->numel, e[0], e[bins]);
        for (int64_t i = 0; i < bins; i++) count[i] = TSR_MIN(count[i], (int64_t)1 << 24);
    } else {
        const double *e = tsr_data(edges);
        count_evenly_double(count, bins, tsr_data(flat), flat->numel, e[0], e[bins]);
    }
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_zeros_new(out, 1, &bins, flat->dtype, TSR_DEVICE_CPU));
    tsr_convert(flat->dtype, tsr_data(*out), (int64_t)tsr_itemsize(flat), TSR_INT64, (const char *)count, sizeof *count,
                bins);
    return TSR_OK;
}

/* Least and greatest of all elements. */
static TsrStatus own_range(const TsrTensor *self, double *left, double *right) {
    TsrTensor *both[2];
    TSR_TRY(tsr_invoke_new(both, 2, "aminmax", "t", self));
    TsrScalar ends[2];
    TsrStatus status = tsr_tensor_item(&ends[0], both[0]);
    if (status == TSR_OK) status = tsr_tensor_item(&ends[1], both[1]);
    tsr_free_all(both, 2);
    TSR_TRY(status);
    *left = tsr_scalar_to_double(ends[0]);
    *right = tsr_scalar_to_double(ends[1]);
    if (isnan(*left) && !tsr_on_device(self)) { /* the sign that PyTorch's search leaves shows in its refusal */
        double only = tsr_scalar_to_double(tsr_scalar_load(self->dtype, tsr_data(self)));
        *left = *right = copysign(NAN, self->numel == 1 ? only : self->dtype == TSR_BFLOAT16 ? 1 : -1);
    }
    double most =
        self->dtype == TSR_FLOAT32 ? FLT_MAX : DBL_MAX; /* where the search starts, for numbers that are all infinite */
    if (tsr_in(TSR_BITS_HALF, self->dtype)) return TSR_OK; /* halves start at infinities */
    if (*left == INFINITY) *left = most;
    if (*right == -INFINITY) *right = -most;
    return TSR_OK;
}

/* The number up to which a float that counts by ones goes. */
static int64_t most_counted(TsrDtype d) {
    return d == TSR_FLOAT16 ? 1 << 11 : d == TSR_BFLOAT16 ? 1 << 8 : d == TSR_FLOAT32 ? 1 << 24 : INT64_C(1) << 53;
}

/* The bins by the steps of `place` for even edges, each an operator in the dtype; what lies outside goes to one more.
 */
static TsrStatus histc_there(TsrTensor **out, const TsrTensor *self, double left, double right, int64_t bins) {
    TsrDtype d = self->dtype;
    TsrScalar first = tsr_scalar_float(rounded(d, left)), last = tsr_scalar_float(rounded(d, right)),
              width = tsr_scalar_float(rounded(d, last.f - first.f));
    int64_t minus = -1;
    TsrScope s = {0};
    TsrTensor *flat = MAKE(&s, tsr_tensor_new_reshape, self, 1, &minus), *above = CALL(&s, "sub", "ts", flat, first),
              *scaled = CALL(&s, "mul", "ts", above, tsr_scalar_float((double)bins)),
              *at = CALL(&s, "div", "ts", scaled, width);
    TsrTensor *low = CALL(&s, "ge", "ts", flat, first), *high = CALL(&s, "le", "ts", flat, last),
              *within = CALL(&s, "logical_and", "tt", low, high);
    TsrTensor *whole = MAKE(&s, tsr_tensor_new_cast, at, TSR_INT64),
              *kept = CALL(&s, "clamp_max", "ts", whole, tsr_scalar_int(bins - 1)),
              *place = CALL(&s, "where", "tts", within, kept, tsr_scalar_int(bins));
    TsrTensor *counts = MAKE(&s, sum_there, place, NULL, bins + 1), *those = SLICE(&s, counts, 0, 0, bins),
              *most = CALL(&s, "clamp_max", "ts", those, tsr_scalar_int(most_counted(d))),
              *result = MAKE(&s, tsr_tensor_new_cast, most, d);
    return tsr_scope_end_new(out, &s, result);
}

/* What linspace, which makes the edges, does not count in. */
#define NO_LINSPACE (TSR_BITS_UINT | TSR_BITS_FLOAT8 | TSR_BIT(BOOL) | TSR_BIT(COMPLEX32))

/* That a range can be found among the elements of self, where none is given. */
static TsrStatus check_own_range(const TsrTensor *self) {
    if (tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8, self->dtype)) return tsr_not_implemented("aminmax_cpu", self->dtype);
    if (!tsr_dtype_is_complex(self->dtype)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "aminmax not implemented for %s", tsr_dtype_scalar_name(self->dtype));
}

static TsrStatus check_histc(const TsrOpCall *c, const TsrTensor *self, double left, double right) {
    char edge[16];
    if (!isfinite(left) || !isfinite(right))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histc: range of [%g, %g] is not finite", left, right);
    if (!(left < right)) return tsr_error(TSR_RUNTIME_ERROR, "torch.histc: max must be larger than min");
    if (tsr_in(TSR_BITS_INT, self->dtype)) TSR_TRY(tsr_scalar_store_checked(tsr_scalar_float(left), self->dtype, edge));
    if (tsr_in(TSR_BITS_INT, self->dtype))
        TSR_TRY(tsr_scalar_store_checked(tsr_scalar_float(right), self->dtype, edge));
    if (tsr_in(NO_LINSPACE, self->dtype)) return tsr_not_implemented("linspace_cpu", self->dtype);
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, self->dtype, "histogram_cpu"));
    if (c->out[0] == NULL || c->out[0]->dtype == self->dtype) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "torch.histogram: input tensor and hist tensor should have the same dtype, but got input %s and hist %s",
        tsr_dtype_c_name(self->dtype), tsr_dtype_c_name(c->out[0]->dtype));
}

/* On the host. */
static TsrStatus histc_new(TsrTensor **out, const TsrTensor *self, double left, double right, int64_t bins) {
    const int64_t minus = -1;
    TSR_OWNED edges = NULL;
    TSR_OWNED flat = NULL;
    TSR_TRY(even_edges_new(&edges, left, right, bins, self->dtype));
    TSR_TRY(tsr_tensor_new_reshape(&flat, self, 1, &minus));
    return counts_evenly(flat, left, right, bins) ? evenly_counted_new(out, flat, edges, bins)
                                                  : count_into(out, flat, NULL, &edges, 1, BY_RULE);
}

TsrStatus op_histc(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t = NULL;
    int64_t bins = c->arg[1].i;
    double left = tsr_scalar_to_double(c->arg[2].s), right = tsr_scalar_to_double(c->arg[3].s);
    bool found = left == right && self->numel > 0; /* the range is the elements' own */
    char edge[16];
    TSR_TRY(tsr_check_out_fits(c, 0, self->dtype));
    if (bins <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram(): bins must be > 0, but got %lld for dimension 0",
                         (long long)bins);
    TSR_TRY(tsr_scalar_store_checked(c->arg[2].s, TSR_FLOAT64, edge));
    TSR_TRY(tsr_scalar_store_checked(c->arg[3].s, TSR_FLOAT64, edge));
    if (found) TSR_TRY(check_own_range(self));
    if (found && !tsr_is_meta(self)) TSR_TRY(own_range(self, &left, &right));
    if (left == right) {
        left -= 1;
        right += 1;
    }
    TSR_TRY(check_histc(c, self, left, right));
    TsrStatus status = tsr_is_meta(self)     ? tsr_tensor_new(&t, 1, &bins, self->dtype, self->device)
                       : tsr_on_device(self) ? histc_there(&t, self, left, right, bins)
                                             : histc_new(&t, self, left, right, bins);
    return tsr_finish_move(c, status, t);
}

/* ---- histogram, histogramdd ---- */

static TsrStatus no_edges(int d) {
    return tsr_error(TSR_RUNTIME_ERROR,
                     "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
                     "tensor for dimension %d",
                     d);
}

static TsrStatus check_edges(const TsrTensor *input, TsrTensor *const *given, int ndim) {
    for (int d = 0; d < ndim; d++) {
        if (given[d]->dtype != input->dtype)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with "
                "dtype %s and bins for dimension %d with dtype %s",
                tsr_dtype_c_name(input->dtype), d, tsr_dtype_c_name(given[d]->dtype));
        if (tsr_ndim(given[d]) != 1)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "torch.histogramdd: bins tensor should have one dimension, but got %d dimensions in the bins tensor "
                "for dimension %d",
                tsr_ndim(given[d]), d);
        if (given[d]->numel == 0) return no_edges(d);
    }
    return TSR_OK;
}

static TsrStatus check_weight(const TsrTensor *input, const TsrTensor *weight) {
    if (weight == NULL) return TSR_OK;
    if (weight->dtype != input->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            "dtype, but got input(%s), and weight(%s)",
            tsr_dtype_c_name(input->dtype), tsr_dtype_c_name(weight->dtype));
    const int64_t one = 1;
    const bool number = tsr_ndim(weight) == 0; /* counts as one of one element */
    const int ndim = number ? 1 : tsr_ndim(weight);
    const int64_t *sizes = number ? &one : weight->sizes;
    bool same = ndim == tsr_ndim(input) - 1 && memcmp(sizes, input->sizes, sizeof *sizes * (size_t)ndim) == 0;
    if (same) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding "
        "its innermost dimension, but got input "
        "with shape %s and weight with shape %s",
        tsr_sizes_text(input), tsr_sizes_text(weight));
}

static TsrStatus outer_edges(double *left, double *right, const TsrTensor *rows, int ndim, int d, const TsrArg *range) {
    *left = 0;
    *right = 1;
    if (tsr_arg_given(range)) {
        if (range->n != 2 * ndim)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "torch.histogramdd: for a %d-dimensional histogram range should have %d elements, but got %d", ndim,
                2 * ndim, range->n);
        *left = range->floats[2 * d];
        *right = range->floats[2 * d + 1];
    } else if (rows->numel > 0) {
        column_range(rows, ndim, d, left, right);
    }
    if (!isfinite(*left) || !isfinite(*right))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: dimension %d's range [%g, %g] is not finite", d, *left,
                         *right);
    if (*left > *right)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.histogramdd: min should not exceed max, but got min %g max %g for dimension %d", *left,
                         *right, d);
    if (*left == *right) {
        *left -= 0.5;
        *right += 0.5;
    }
    return TSR_OK;
}

/* The ends of all dimensions are looked at before edges are made between any. */
static TsrStatus make_edges(TsrTensor **edges, const TsrTensor *input, int ndim, const int64_t *bins,
                            const TsrArg *range) {
    const bool ranged = tsr_arg_given(range), counts = input->dtype == TSR_FLOAT32 || input->dtype == TSR_FLOAT64;
    TSR_OWNED rows = NULL;
    double left[MAX_HISTOGRAM_DIMS], right[MAX_HISTOGRAM_DIMS];
    if (!ranged && !counts && input->numel > 0) return tsr_not_implemented("histogramdd", input->dtype);
    TSR_TRY(tsr_dense_new(&rows, input, TSR_FLOAT64));
    for (int d = 0; d < ndim; d++) TSR_TRY(outer_edges(&left[d], &right[d], rows, ndim, d, range));
    for (int d = 0; d < ndim; d++) {
        if (bins[d] < -1) return tsr_error(TSR_RUNTIME_ERROR, "number of steps must be non-negative");
        TSR_TRY(even_edges_new(&edges[d], left[d], right[d], bins[d], input->dtype));
    }
    return TSR_OK;
}

static TsrStatus check_made_edges(const TsrTensor *input, TsrTensor *const *edges, int ndim) {
    for (int d = 0; d < ndim; d++) {
        if (edges[d]->numel == 0) return no_edges(d);
        if (edges[d]->numel == 1)
            return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram(): bins must be > 0, but got 0 for dimension %d", d);
    }
    return tsr_require(TSR_BITS_FLOAT, input->dtype, "histogram_cpu");
}

static TsrStatus copy_edges(TsrTensor **edges, TsrTensor *const *given, int ndim) {
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
    const int64_t *bins; /* NULL: edges are given */
    TsrTensor *const *edges;
    const TsrArg *range, *weight, *density;
} HistogramArgs;

static TsrStatus histogram_new(TsrTensor **hist, TsrTensor **edges, const HistogramArgs *a) {
    const TsrTensor *weight = tsr_arg_given(a->weight) ? a->weight->t : NULL;
    if (a->edges != NULL) TSR_TRY(check_edges(a->input, a->edges, a->ndim));
    TSR_TRY(a->bins != NULL ? make_edges(edges, a->input, a->ndim, a->bins, a->range)
                            : copy_edges(edges, a->edges, a->ndim));
    TSR_TRY(check_weight(a->input, weight));
    TSR_TRY(check_made_edges(a->input, edges, a->ndim));
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
    if (a.bins != NULL && a.bins[0] <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogram(): bins must be > 0, but got %lld for dimension 0",
                         (long long)a.bins[0]);
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
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got %d",
                         range->n);
    return histogram_1d(
        c, (HistogramArgs){.bins = &c->arg[1].i, .range = range, .weight = &c->arg[3], .density = &c->arg[4]});
}

/* The ends that are given, as they are looked at where the bins fit no dimension. */
static TsrStatus check_ends(const TsrTensor *input, int ndim, const TsrArg *range) {
    double left, right;
    if (!tsr_arg_given(range)) return TSR_OK;
    for (int d = 0; d < ndim; d++) TSR_TRY(outer_edges(&left, &right, input, ndim, d, range));
    return TSR_OK;
}

enum { NO_BINS = -1 }; /* of a number, which has no dimension to have them in */

static TsrStatus histogram_nd(TsrOpCall *c, int n, HistogramArgs a) {
    TsrTensor *self = c->arg[0].t, *hist = NULL, *edges[MAX_HISTOGRAM_DIMS] = {NULL};
    if (n == NO_BINS) TSR_TRY(tsr_wrap_own_dim(&(int64_t){-1}, tsr_ndim(self)));
    if (tsr_ndim(self) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "torch.histogramdd: input tensor should have at least 2 dimensions");
    int64_t last = self->sizes[tsr_ndim(self) - 1];
    if (n != last && a.edges != NULL)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.histogramdd: expected %lld sequences of bin edges for a %lld-dimensional histogram but "
                         "got %d",
                         (long long)last, (long long)last, n);
    if (n != last && tsr_arg_given(a.range) && a.range->n != 2 * last)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.histogramdd: for a %lld-dimensional histogram range should have %lld elements, but got "
                         "%d",
                         (long long)last, (long long)(2 * last), a.range->n);
    if (n != last && self->numel > 0 && !tsr_arg_given(a.range) &&
        !tsr_in(TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), self->dtype))
        return tsr_not_implemented("histogramdd", self->dtype);
    if (n != last) {
        TSR_TRY(check_ends(self, (int)last, a.range));
        return tsr_error(TSR_RUNTIME_ERROR,
                         "histogramdd: The size of bins must be equal to the innermost dimension of the input.");
    }
    if (n > MAX_HISTOGRAM_DIMS)
        return tsr_error(TSR_RUNTIME_ERROR, "histogramdd: more than %d dimensions", MAX_HISTOGRAM_DIMS);
    a.input = self;
    a.ndim = n;
    TsrStatus status = histogram_new(&hist, edges, &a);
    for (int d = 0; d < n && status == TSR_OK && a.edges != NULL; d++) { /* the very tensors that were given */
        tsr_tensor_free(edges[d]);
        edges[d] = tsr_tensor_retain(a.edges[d]);
    }
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
    return histogram_nd(
        c, c->arg[1].n,
        (HistogramArgs){.bins = c->arg[1].ints, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}

TsrStatus op_histogramdd_one(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t;
    int64_t bins[MAX_HISTOGRAM_DIMS];
    int n = tsr_ndim(self) < 1 ? NO_BINS : (int)TSR_MIN(self->sizes[tsr_ndim(self) - 1], MAX_HISTOGRAM_DIMS);
    for (int d = 0; d < n; d++) bins[d] = c->arg[1].i;
    return histogram_nd(
        c, n, (HistogramArgs){.bins = bins, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}

TsrStatus op_histogramdd_edges(TsrOpCall *c) {
    return histogram_nd(
        c, c->arg[1].n,
        (HistogramArgs){.edges = c->arg[1].tensors, .range = &c->arg[2], .weight = &c->arg[3], .density = &c->arg[4]});
}
