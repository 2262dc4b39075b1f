/* Distances between rows: cdist, pdist. */
#include <math.h>
#include <string.h>

#include "matmul.h"
#include "core/kernels/pointwise/table.h"
#include "core/kernels/move/move.h"
#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/op/shared.h"
#include "core/tensor/loan.h"
#include "core/tensor/owned.h"
#include "core/parallel.h"

typedef enum DistanceKind { UNEQUAL, ABSOLUTE, SQUARE, LARGEST, POWER, LARGEST_NUMBER /* nan aside */ } DistanceKind;

static DistanceKind kind_of(double p) {
    return p == 0 ? UNEQUAL : p == 1 ? ABSOLUTE : p == 2 ? SQUARE : isinf(p) ? LARGEST : POWER;
}

/* From rows of x to rows of y. */
typedef struct Distances {
    char *out;
    const char *x, *y;
    char *strips; /* y's rows of a batch, a vector of them side by side: as many vectors as they have numbers, then
                     those of the next few rows */
    int64_t rows, others, width; /* rows of x and y in a batch, numbers in each */
    int64_t step;                /* of pdist: numbers from one row to the next */
    double p;
} Distances;

static int64_t strips_of(const Distances *j, int64_t lanes) { return (j->others + lanes - 1) / lanes; }

#define INLINE static inline __attribute__((always_inline)) /* into the clones, once for each kind */
enum { ABREAST = 4 };                                       /* strips, whose chains of additions overlap */

#define NAME(x) f32_##x
#define T float
#define I int32_t
#define DTYPE TSR_FLOAT32
#define SQRT sqrtf
#define POW powf
#define BY_HALVES true
#include "core/kernels/matrix/distance.inc"
#define NAME(x) f64_##x
#define T double
#define I int64_t
#define DTYPE TSR_FLOAT64
#define SQRT sqrt
#define POW pow
#define BY_HALVES false
#include "core/kernels/matrix/distance.inc"

/* ---- cdist ---- */

static TsrStatus check_cdist(const TsrTensor *a, const TsrTensor *b, double p) {
    int da = tsr_ndim(a), db = tsr_ndim(b);
    if (da < 2) return tsr_error(TSR_RUNTIME_ERROR, "cdist only supports at least 2D tensors, X1 got: %dD", da);
    if (db < 2) return tsr_error(TSR_RUNTIME_ERROR, "cdist only supports at least 2D tensors, X2 got: %dD", db);
    if (a->sizes[da - 1] != b->sizes[db - 1])
        return tsr_error(TSR_RUNTIME_ERROR, "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
                         (long long)a->sizes[da - 1], (long long)b->sizes[db - 1]);
    if (!tsr_dtype_is_float(a->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "cdist only supports floating-point dtypes, X1 got: %s",
                         tsr_dtype_scalar_name(a->dtype));
    if (!tsr_dtype_is_float(b->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "cdist only supports floating-point dtypes, X2 got: %s",
                         tsr_dtype_scalar_name(b->dtype));
    if (p < 0 || isnan(p)) return tsr_error(TSR_RUNTIME_ERROR, "cdist only supports non-negative p values");
    return TSR_OK;
}

/* What the loop over pairs computes in; PyTorch asks only where there are pairs. */
static TsrStatus check_pairs(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype != TSR_FLOAT32 && a->dtype != TSR_FLOAT64) return tsr_not_implemented("cdist", a->dtype);
    if (a->dtype == b->dtype) return TSR_OK;
    return tsr_unexpected_dtype(a->dtype, b->dtype);
}

/* Room for the distances, made by `make_new`: tsr_zeros_new gives those between rows without elements. */
static TsrStatus distances_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b,
                               TsrStatus (*make_new)(TsrTensor **, int, const int64_t *, TsrDtype, TsrDevice)) {
    int n = tsr_ndim(a);
    int64_t sizes[TSR_MAX_DIMS];
    memcpy(sizes, a->sizes, sizeof(int64_t) * (size_t)n);
    sizes[n - 1] = b->sizes[n - 2];
    return make_new(out, n, sizes, a->dtype, a->device);
}

/* sqrt(|x|^2 - 2 x.y + |y|^2) as one product of widened matrices: less exact and much faster, as PyTorch's
 * _euclidean_dist. */
static TsrStatus euclidean(TsrTensor **out, const TsrTensor *x, const TsrTensor *y) {
    TSR_OWNED xs = NULL;
    TSR_OWNED ys = NULL;
    TSR_OWNED xn = NULL;
    TSR_OWNED yn = NULL;
    TSR_OWNED xo = NULL;
    TSR_OWNED yo = NULL;
    TSR_OWNED x2 = NULL;
    TSR_OWNED xc = NULL;
    TSR_OWNED yc = NULL;
    TSR_OWNED yt = NULL;
    TSR_OWNED product = NULL;
    TSR_OWNED clamped = NULL;
    int64_t last = -1;
    TSR_TRY(tsr_invoke_new(&xs, 1, "pow", "ti", x, (int64_t)2));
    TSR_TRY(tsr_invoke_new(&ys, 1, "pow", "ti", y, (int64_t)2));
    TSR_TRY(tsr_invoke_new(&xn, 1, "sum", "tIb", xs, 1, &last, 1));
    TSR_TRY(tsr_invoke_new(&yn, 1, "sum", "tIb", ys, 1, &last, 1));
    TSR_TRY(tsr_invoke_new(&xo, 1, "ones_like", "t", xn));
    TSR_TRY(tsr_invoke_new(&yo, 1, "ones_like", "t", yn));
    TSR_TRY(tsr_invoke_new(&x2, 1, "mul", "ti", x, (int64_t)-2));
    TSR_TRY(tsr_invoke_new(&xc, 1, "cat", "Ti", 3, (TsrTensor *[]){x2, xn, xo}, last));
    TSR_TRY(tsr_invoke_new(&yc, 1, "cat", "Ti", 3, (TsrTensor *[]){(TsrTensor *)y, yo, yn}, last));
    TSR_TRY(tsr_tensor_new_transpose(&yt, yc, -2, -1));
    TSR_TRY(tsr_matmul_new(&product, xc, yt));
    TSR_TRY(tsr_invoke_new(&clamped, 1, "clamp_min", "ti", product, (int64_t)0));
    return tsr_invoke_new(out, 1, "sqrt", "t", clamped);
}

/* The rows of y, batch by batch, as Distances wants them. */
static TsrStatus strips_new(TsrTensor **out, const TsrTensor *y, Distances *j) {
    int64_t size = (int64_t)tsr_itemsize(y), lanes = 32 / size, per_batch = strips_of(j, lanes), row = j->width * size,
            n;
    int64_t batches = j->others * j->width == 0 ? 0 : y->numel / (j->others * j->width);
    if (tsr_mul_overflows(batches * per_batch, lanes * j->width, &n))
        return tsr_error(TSR_RUNTIME_ERROR, "cdist: the rows take too much memory");
    TSR_TRY(tsr_zeros_new(out, 1, &n, y->dtype, y->device));
    j->strips = tsr_data(*out);
    for (int64_t i = 0; i < batches * per_batch && !tsr_interrupted_at(i); i++) {
        int64_t first = i % per_batch * lanes;
        tsr_kernel_transpose(j->strips + i * lanes * row, lanes * size,
                             j->y + (i / per_batch * j->others + first) * row, row, TSR_MIN(lanes, j->others - first),
                             j->width, (size_t)size);
    }
    return TSR_OK;
}

static TsrStatus add_rows(TsrDeviceWork *w, const TsrTensor *t, bool out) {
    const int n = tsr_ndim(t);
    const int64_t rows = t->sizes[n - 2], width = t->sizes[n - 1],
                  sizes[3] = {rows * width > 0 ? t->numel / (rows * width) : 0, rows, width},
                  strides[3] = {rows * width, width, 1};
    return tsr_device_work_add_as(w, t, (TsrGeometry){3, sizes, strides, t->offset}, out);
}

/* From rows of a, (..., rows, width), to those of b, into r, (..., rows, others), on a device; all are dense. */
static TsrStatus distances_there(TsrTensor *r, const TsrTensor *a, const TsrTensor *b, double p) {
    const TsrDeviceDistance how = {p};
    TsrDeviceWork w = {.what = TSR_P_DISTANCE, .params = &how, .nparams = sizeof how};
    TSR_TRY(add_rows(&w, r, true));
    TSR_TRY(add_rows(&w, a, false));
    TSR_TRY(add_rows(&w, b, false));
    return tsr_device_work(r->device.type, &w);
}

static TsrStatus cdist_direct(TsrTensor **out, const TsrTensor *a, const TsrTensor *b, double p) {
    TSR_OWNED r = NULL;
    TSR_OWNED strips = NULL;
    int n = tsr_ndim(a);
    TSR_TRY(check_pairs(a, b));
    TSR_TRY(distances_new(&r, a, b, tsr_tensor_new));
    if (tsr_on_device(r)) {
        if (r->numel > 0)
            TSR_TRY(a->sizes[n - 1] > 0 ? distances_there(r, a, b, p) : tsr_tensor_fill(r, tsr_scalar_int(0)));
    } else if (!tsr_is_meta(r)) {
        Distances j = {.out = tsr_data(r),
                       .x = tsr_data(a),
                       .y = tsr_data(b),
                       .rows = a->sizes[n - 2],
                       .others = b->sizes[n - 2],
                       .width = a->sizes[n - 1],
                       .p = p};
        if (kind_of(p) != POWER) TSR_TRY(strips_new(&strips, b, &j));
        TSR_TRY(tsr_parallel_for(r->numel / j.others, tsr_grain(j.others * TSR_MAX(j.width / 4, (int64_t)1)),
                                 a->dtype == TSR_FLOAT64 ? f64_cdist : f32_cdist, &j));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus expand_rows(TsrTensor **out, const TsrTensor *t, const int64_t *batch, int nbatch) {
    TSR_OWNED wide = NULL;
    int64_t sizes[TSR_MAX_DIMS + 2];
    memcpy(sizes, batch, sizeof(int64_t) * (size_t)nbatch);
    sizes[nbatch] = t->sizes[tsr_ndim(t) - 2], sizes[nbatch + 1] = t->sizes[tsr_ndim(t) - 1];
    TSR_TRY(tsr_tensor_new_expand(&wide, t, nbatch + 2, sizes));
    return tsr_tensor_new_contiguous(out, wide, TSR_CONTIGUOUS);
}

static TsrStatus cdist_mode(int *mode, const char *text) {
    static const char *const names[] = {"use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist",
                                        "donot_use_mm_for_euclid_dist"};
    for (*mode = 0; *mode < 3; (*mode)++)
        if (strcmp(text, names[*mode]) == 0) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "%s is not a valid value for compute_mode", text);
}

TsrStatus op_cdist(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t, *y = c->arg[1].t;
    double p = c->arg[2].f;
    TsrTensor *r = NULL;
    TSR_OWNED a = NULL;
    TSR_OWNED b = NULL;
    int mode, nbatch;
    TSR_TRY(cdist_mode(&mode, c->arg[3].str));
    TSR_TRY(check_cdist(x, y, p));
    int64_t batch[TSR_MAX_DIMS];
    nbatch = tsr_ndim(x) - 2;
    memcpy(batch, x->sizes, sizeof(int64_t) * (size_t)nbatch);
    TSR_TRY(tsr_layout_broadcast(batch, &nbatch, y->sizes, tsr_ndim(y) - 2));
    TSR_TRY(expand_rows(&a, x, batch, nbatch));
    TSR_TRY(expand_rows(&b, y, batch, nbatch));
    bool large = a->sizes[nbatch] > 25 || b->sizes[nbatch] > 25;
    bool empty = a->numel == 0 || b->numel == 0;
    if (empty) return tsr_finish_move(c, distances_new(&r, a, b, tsr_zeros_new), r);
    if (p == 2 && (mode == 1 || (mode == 0 && large))) return tsr_finish_move(c, euclidean(&r, a, b), r);
    return tsr_finish_move(c, cdist_direct(&r, a, b, p), r);
}

/* ---- pdist ---- */

/* Rows that zeros fill up to whole vectors. */
static TsrStatus padded_new(TsrTensor **out, const TsrTensor *x) {
    TSR_OWNED wide = NULL;
    TSR_OWNED place = NULL;
    int64_t lanes = 32 / (int64_t)tsr_itemsize(x), sizes[2] = {x->sizes[0], (x->sizes[1] + lanes - 1) / lanes * lanes};
    TSR_TRY(tsr_zeros_new(&wide, 2, sizes, x->dtype, x->device));
    TSR_TRY(tsr_tensor_new_narrow(&place, wide, 1, 0, x->sizes[1]));
    TSR_TRY(tsr_tensor_copy(place, x));
    *out = tsr_owned_take(&wide);
    return TSR_OK;
}

/* The part above the diagonal of all distances. */
static TsrStatus pdist_there(TsrOpCall *c, const TsrTensor *x, double p) {
    const int64_t sizes[2] = {x->sizes[0], x->sizes[0]};
    TsrScope s = {0};
    TsrTensor *ones = MAKE(&s, tsr_tensor_new, 2, sizes, TSR_BOOL, x->device),
              *rows = MAKE(&s, tsr_tensor_new_contiguous, x, TSR_CONTIGUOUS),
              *all = MAKE(&s, cdist_direct, rows, rows, p);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(ones, tsr_scalar_bool(true));
    TsrTensor *above = CALL(&s, "triu", "ti", ones, (int64_t)1);
    return tsr_scope_return(c, &s, CALL(&s, "masked_select", "tt", all, above));
}

TsrStatus op_pdist(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    double p = c->arg[1].f;
    TSR_OWNED a = NULL;
    TSR_OWNED r = NULL;
    if (tsr_ndim(x) != 2) return tsr_error(TSR_RUNTIME_ERROR, "pdist only supports 2D tensors, got: %dD", tsr_ndim(x));
    if (!tsr_dtype_is_float(x->dtype)) return tsr_error(TSR_RUNTIME_ERROR, "pdist only supports floating-point dtypes");
    if (p < 0 || isnan(p)) return tsr_error(TSR_RUNTIME_ERROR, "pdist only supports non-negative p values");
    if (x->dtype != TSR_FLOAT32 && x->dtype != TSR_FLOAT64 && x->sizes[0] > 1 && x->sizes[1] > 0)
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"pdist\" not implemented for '%s'",
                         tsr_dtype_scalar_name(x->dtype));
    int64_t n = x->sizes[0], pairs = n <= 1 ? 0 : n * (n - 1) / 2;
    if (tsr_on_device(x) && pairs > 0) return pdist_there(c, x, p);
    TSR_TRY(tsr_tensor_new(&r, 1, &pairs, x->dtype, x->device));
    if (!tsr_is_meta(r) && pairs > 0 && x->sizes[1] == 0) TSR_TRY(tsr_tensor_fill(r, tsr_scalar_int(0)));
    else if (!tsr_is_meta(r) && pairs > 0) {
        TSR_TRY(padded_new(&a, x));
        Distances j = {
            .out = tsr_data(r), .x = tsr_data(a), .rows = n, .width = x->sizes[1], .step = a->sizes[1], .p = p};
        TSR_TRY(tsr_parallel_for(n - 1, tsr_grain(n * TSR_MAX(j.width / 4, (int64_t)1)),
                                 x->dtype == TSR_FLOAT64 ? f64_pdist : f32_pdist, &j));
    }
    return tsr_return_move(c, tsr_owned_take(&r));
}
