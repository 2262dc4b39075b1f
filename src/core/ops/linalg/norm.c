/* norm.c: norms of vectors and matrices, and condition numbers.
 *
 * A vector norm is a reduction of |x| ** p, a row by one thread, with many partial sums in double for the squares of
 * the 2-norm, long rows in chunks that the threads take and that depend on the length alone. Matrix norms move the two
 * dimensions last: 'fro' is the vector norm of both, 1 and inf are extremes of sums, 2 and 'nuc' are of singular
 * values. A condition number is the quotient of two singular values, or the product of the norms of a matrix and its
 * inverse. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la.h"
#include "core/element/halffloat.h"
#include "core/engine/device.h"
#include "core/kernels/turn.inc"
#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/ops/reduce/reduce.h"
#include "core/tensor/loan.h"

/* The sum of the squares of n reals, in double, in many partial sums; a complex number counts as two. A float's square
 * is exact in double, so there a fused multiplication changes no bit, and it halves the time. */
#define SUM_OF_SQUARES(name, T, CLONES) \
    CLONES static double name(const T *x, int64_t n) { \
        double s[32] = {0}, total = 0; \
        int64_t i = 0; \
        for (; i + 32 <= n; i += 32) \
            for (int k = 0; k < 32; k++) s[k] += (double)x[i + k] * (double)x[i + k]; \
        for (; i < n; i++) s[0] += (double)x[i] * (double)x[i]; \
        for (int k = 0; k < 32; k++) total += s[k]; \
        return total; \
    }
SUM_OF_SQUARES(squares_float, float, TSR_CLONES_FUSED)
SUM_OF_SQUARES(squares_double, double, TSR_CLONES)

/* Elements of a row that are summed in one go; a longer one is summed in chunks of that many. */
enum { SHORT_ROW = 1 << 15 };

#define T float
#define R float
#define NAME(x) f32_##x
#define SIZE(v) fabsf(v)
#define POW powf
#define FMA fmaf
#define SQRT sqrtf
#define LANES 8
#define V TurnedFloats
#define TURN turn_floats
#define TAKE(x, n) \
    ((V){(x)[0], (x)[n], (x)[2 * (n)], (x)[3 * (n)], (x)[4 * (n)], (x)[5 * (n)], (x)[6 * (n)], (x)[7 * (n)]})
#define SQUARES(x, n) squares_float(x, n)
#include "core/kernels/reduce/norm.inc"
#define T double
#define R double
#define NAME(x) f64_##x
#define SIZE(v) fabs(v)
#define POW pow
#define FMA fma
#define SQRT sqrt
#define LANES 4
#define V TurnedDoubles
#define TURN turn_doubles
#define TAKE(x, n) ((V){(x)[0], (x)[n], (x)[2 * (n)], (x)[3 * (n)]})
#define SQUARES(x, n) squares_double(x, n)
#include "core/kernels/reduce/norm.inc"
#define T TsrComplexFloat
#define R float
#define NAME(x) c64_##x
#define SIZE(v) hypotf(crealf(v), cimagf(v))
#define POW powf
#define SQUARES(x, n) squares_float((const float *)(x), 2 * (n))
#include "core/kernels/reduce/norm.inc"
#define T TsrComplexDouble
#define R double
#define NAME(x) c128_##x
#define SIZE(v) hypot(creal(v), cimag(v))
#define POW pow
#define SQUARES(x, n) squares_double((const double *)(x), 2 * (n))
#include "core/kernels/reduce/norm.inc"

/* bfloat16 is widened where it is added up: squares of its numbers are exact in float. Short rows in the order of
 * float32's, long ones in floats of 16 terms each and those in double. norm() of 10**6 numbers, one thread on Zen 3: by
 * a tensor of floats 261 us, and so 145. */
#define T TsrBfloat16
#define R float
#define NAME(x) bf16_##x
#define FMA fmaf
#define LANES 8
#define WIDE tsr_bfloat16_widen
#include "core/kernels/reduce/norm_dense.inc"
#undef T
#undef R
#undef NAME
#undef FMA
#undef LANES
TSR_CLONES static float squares_of_short_row(const TsrBfloat16 *x, int64_t n) { return bf16_fold_dense(x, n); }

TSR_CLONES static double squares_of_long_row(const TsrBfloat16 *x, int64_t n) {
    enum { SUMS = 32, TERMS = 16 };
    double total = 0;
    int64_t i = 0;
    for (; i + SUMS * TERMS <= n; i += SUMS * TERMS) {
        float s[SUMS] = {0};
        for (int t = 0; t < TERMS; t++)
            for (int k = 0; k < SUMS; k++) {
                const float v = tsr_bfloat16_widen(x[i + t * SUMS + k]);
                s[k] += v * v;
            }
        for (int half = SUMS / 2; half > 0; half /= 2)
            for (int k = 0; k < half; k++) s[k] += s[k + half];
        total += (double)s[0];
    }
    return total + (double)squares_of_short_row(x + i, n - i);
}

static double bfloat16_norm_part(const TsrBfloat16 *x, int64_t n) {
    if (n == 1) return (double)fabsf(tsr_bfloat16_widen(x[0]));
    return n <= SHORT_ROW ? (double)squares_of_short_row(x, n) : squares_of_long_row(x, n);
}

static double combine(double a, double b, double p) {
    if (!isinf(p)) return a + b;
    if (a != a) return a;
    return b != b ? b : p > 0 ? (a > b ? a : b) : (a < b ? a : b);
}

static double norm_part(TsrDtype d, const void *x, int64_t n, double p, bool dense) {
    switch (d) {
    case TSR_FLOAT32: return f32_norm_part(x, n, p, dense);
    case TSR_FLOAT64: return f64_norm_part(x, n, p, dense);
    case TSR_BFLOAT16: return bfloat16_norm_part(x, n); /* of p == 2 alone (norm_input) */
    case TSR_COMPLEX64: return c64_norm_part(x, n, p, dense);
    case TSR_COMPLEX128: return c128_norm_part(x, n, p, dense);
    default: return NAN; /* op_norm lets no others in */
    }
}

static double norm_end(TsrDtype d, double sum, int64_t n, double p) {
    if (n == 1 || p == 0 || p == 1 || isinf(p)) return sum;
    if (p == 2) return sqrt(sum);
    return d == TSR_FLOAT32 || d == TSR_COMPLEX64 ? powf((float)sum, 1 / (float)p) : pow(sum, 1 / p);
}

typedef struct NormJob {
    TsrDtype dtype, out_dtype;
    const char *x;
    char *out;
    int64_t width; /* elements a row */
    double p;
    bool dense;    /* a row lies in x as it does here, densely */
    double *parts; /* of one long row */
} NormJob;

enum { CHUNK = SHORT_ROW };

/* Rows of up to SHORTEST numbers are summed side by side: norm(dim=1) of (100000, 10) floats, one thread on Zen 3, row
 * by row and so: 1.74 ms and 0.70; on Zen 5 0.53 ms, and 0.14 since blocks of rows are turned (turn.inc). Returns the
 * first row that is left. */
enum { SHORTEST = 32 };
static int64_t norm_short_rows(const NormJob *j, int64_t begin, int64_t end) {
    bool real = j->dtype == TSR_FLOAT32 || j->dtype == TSR_FLOAT64;
    if (!real || j->out_dtype != j->dtype || j->p != 2 || !j->dense || j->width < 2 || j->width > SHORTEST)
        return begin;
    if (j->dtype == TSR_FLOAT32)
        for (; begin + 8 <= end; begin += 8)
            f32_short_rows((float *)(void *)j->out + begin, (const float *)(const void *)j->x + begin * j->width,
                           j->width);
    else
        for (; begin + 4 <= end; begin += 4)
            f64_short_rows((double *)(void *)j->out + begin, (const double *)(const void *)j->x + begin * j->width,
                           j->width);
    return begin;
}

static void norm_rows(int64_t begin, int64_t end, void *user) {
    const NormJob *j = user;
    size_t item = tsr_dtype_size(j->dtype);
    for (int64_t i = norm_short_rows(j, begin, end); i < end; i++) {
        double v =
            norm_end(j->dtype, norm_part(j->dtype, j->x + (size_t)(i * j->width) * item, j->width, j->p, j->dense),
                     j->width, j->p);
        if (j->out_dtype == TSR_FLOAT32) ((float *)(void *)j->out)[i] = (float)v;
        else if (j->out_dtype == TSR_FLOAT64) ((double *)(void *)j->out)[i] = v;
        else if (j->out_dtype == TSR_BFLOAT16) ((TsrBfloat16 *)(void *)j->out)[i] = tsr_bfloat16_round((float)v);
        else tsr_scalar_store(tsr_scalar_float(v), j->out_dtype, j->out + (size_t)i * tsr_dtype_size(j->out_dtype));
    }
}

static void norm_chunks(int64_t begin, int64_t end, void *user) {
    const NormJob *j = user;
    size_t item = tsr_dtype_size(j->dtype);
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i++)
        j->parts[i] = norm_part(j->dtype, j->x + (size_t)(i * CHUNK) * item, TSR_MIN(CHUNK, j->width - i * CHUNK), j->p,
                                j->dense);
}

static TsrStatus norm_long_row(NormJob *j) {
    TSR_OWNED parts = NULL;
    int64_t n = (j->width + CHUNK - 1) / CHUNK;
    TSR_TRY(tsr_la_new_scratch(&parts, n, sizeof(double)));
    j->parts = tsr_data(parts);
    TSR_TRY(tsr_parallel_for(n, 4, norm_chunks, j));
    double sum = j->parts[0];
    for (int64_t i = 1; i < n; i++) sum = combine(sum, j->parts[i], j->p);
    tsr_scalar_store(tsr_scalar_float(norm_end(j->dtype, sum, j->width, j->p)), j->out_dtype, j->out);
    return TSR_OK;
}

/* Columns of a dense matrix of floats: rows are added up as they lie, each column in the order of `fold`. norm(dim=0)
 * of 1000 by 1000 took 690 us and takes 59 (one thread, Zen 5). */
enum { COLUMNS = 256 };

typedef struct ColumnsJob {
    TsrDtype dtype;
    const char *x;
    char *out;
    int64_t rows, columns;
} ColumnsJob;

#define COLUMN_NORMS(T) \
    TSR_CLONES static void column_norms_##T(const ColumnsJob *j, int64_t first, int64_t n) { \
        const T *x = (const T *)(const void *)j->x + first; \
        T sum[COLUMNS] = {0}, *out = (T *)(void *)j->out + first; \
        for (int64_t i = 0; i < j->rows && !tsr_interrupted_at(i); i++, x += j->columns) \
            for (int64_t k = 0; k < n; k++) sum[k] += x[k] * x[k]; \
        for (int64_t k = 0; k < n; k++) out[k] = (T)sqrt((double)sum[k]); \
    }
COLUMN_NORMS(float)
COLUMN_NORMS(double)

static void norm_columns(int64_t begin, int64_t end, void *user) {
    const ColumnsJob *j = user;
    for (int64_t b = begin; b < end; b++)
        (j->dtype == TSR_FLOAT32 ? column_norms_float : column_norms_double)(
            j, b * COLUMNS, TSR_MIN((int64_t)COLUMNS, j->columns - b * COLUMNS));
}

/* Whether x is a matrix of which whole columns are reduced, few enough that each is summed in one go. */
static bool reduces_columns(const TsrTensor *x, const bool *reduced, TsrDtype out, int64_t width) {
    bool kept = false, first = true;
    for (int d = 0; d < tsr_ndim(x); d++) {
        kept = kept || !reduced[d];
        first = first && !(kept && reduced[d]);
    }
    return kept && first && (x->dtype == TSR_FLOAT32 || x->dtype == TSR_FLOAT64) && out == x->dtype && width > 1 &&
           width <= SHORT_ROW && x->numel / width >= 8 && tsr_is_contiguous(x, TSR_CONTIGUOUS);
}

/* The dimensions that are reduced, marked; none given: all. */
static TsrStatus mark_dims(bool *reduced, const TsrTensor *x, int n, const int64_t *dims) {
    int d = tsr_ndim(x);
    for (int i = 0; i < TSR_MAX_DIMS; i++) reduced[i] = n == 0;
    for (int i = 0; i < n; i++) {
        int64_t k = dims[i];
        TSR_TRY(tsr_wrap_dim(&k, d));
        if (reduced[k])
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)k);
        reduced[k] = true;
    }
    return TSR_OK;
}

static TsrStatus check_norm_dtype(const TsrTensor *x, TsrDtype dtype, const char *fn) {
    TsrDtype common;
    if (dtype == TSR_DTYPE_NONE) return TSR_OK;
    if (!tsr_dtype_is_float(dtype) && !tsr_dtype_is_complex(dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: dtype should be floating point or complex, but got %s", fn,
                         tsr_dtype_scalar_name(dtype));
    if (tsr_dtype_is_complex(x->dtype) != tsr_dtype_is_complex(dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "%s: dtype should be %s for %s inputs, but got %s", fn,
                         tsr_dtype_is_complex(x->dtype) ? "complex" : "real",
                         tsr_dtype_is_complex(x->dtype) ? "complex" : "real", tsr_dtype_scalar_name(dtype));
    TSR_TRY(tsr_promote(&common, x->dtype, dtype));
    if (common != dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s: the dtype of the input (%s) should be convertible without narrowing to the specified dtype (%s)", fn,
            tsr_dtype_scalar_name(x->dtype), tsr_dtype_scalar_name(dtype));
    return TSR_OK;
}

static bool lacks_identity(double p) { return p < 0 || isinf(p); }

static TsrStatus check_identity(const TsrTensor *x, double p, int n, const int64_t *dims, const bool *reduced) {
    if (x->numel != 0 || !lacks_identity(p)) return TSR_OK;
    char text[32];
    if (isinf(p)) snprintf(text, sizeof text, p > 0 ? "inf" : "-inf");
    else snprintf(text, sizeof text, "%g", p);
    if (n == 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.vector_norm cannot compute the %s norm on an empty tensor because the operation does not have an "
            "identity",
            text);
    for (int i = 0; i < n; i++) {
        int64_t k = dims[i] < 0 ? dims[i] + tsr_ndim(x) : dims[i];
        if (reduced[k] && tsr_ndim(x) > 0 && x->sizes[k] == 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "linalg.vector_norm cannot compute the %s norm on the dimension %lldbecause this dimension is empty "
                "and the operation does not have an identity",
                text, (long long)dims[i]);
    }
    return TSR_OK;
}

/* The reduced dimensions in the order in which PyTorch adds up, the innermost last. Returns how many there are. */
static int reduced_order(int64_t *order, const TsrTensor *x, const bool *reduced) {
    int perm[TSR_MAX_DIMS], n = 0;
    for (int i = tsr_ndim(x) - 1; i >= 0; i--)
        if (reduced[i]) perm[n++] = i;
    tsr_layout_order_dims(perm, n, tsr_compare_dims_of, x);
    for (int k = 0; k < n; k++) order[n - 1 - k] = perm[k];
    return n;
}

/* Whether the reduced dimensions of x, as they lie, are one run of neighbours. */
static bool reduces_neighbours(const TsrTensor *x, const bool *reduced) {
    int64_t order[TSR_MAX_DIMS], step = 1;
    for (int k = reduced_order(order, x, reduced) - 1; k >= 0; k--) {
        int64_t d = order[k];
        if (x->sizes[d] == 1) continue;
        if (x->strides[d] != step) return false;
        step *= x->sizes[d];
    }
    return true;
}

/* A contiguous tensor of a type the kernels know for this p, the reduced dimensions last. */
static TsrStatus norm_input(TsrTensor **out, const TsrTensor *x, const bool *reduced, TsrDtype dtype, double p) {
    TSR_OWNED cast = NULL;
    TSR_OWNED moved = NULL;
    int64_t order[TSR_MAX_DIMS];
    int n = 0, d = tsr_ndim(x);
    TsrBlasType t;
    bool stays = dtype == TSR_BFLOAT16 && x->dtype == dtype && p == 2 && reduces_neighbours(x, reduced);
    if (!stays && !tsr_blas_type(&t, dtype)) dtype = tsr_dtype_is_complex(dtype) ? TSR_COMPLEX64 : TSR_FLOAT32;
    TSR_TRY(tsr_tensor_new_cast(&cast, x, dtype));
    for (int i = 0; i < d; i++)
        if (!reduced[i]) order[n++] = i;
    reduced_order(order + n, x, reduced);
    TSR_TRY(tsr_tensor_new_permute(&moved, cast, d, order));
    return tsr_tensor_new_contiguous(out, moved, TSR_CONTIGUOUS);
}

/* What a norm is taken over, and how: dim=, keepdim= and dtype= of the call. */
typedef struct Over {
    int n; /* 0: all dimensions */
    const int64_t *dims;
    bool keepdim;
    TsrDtype dtype;        /* TSR_DTYPE_NONE: the tensor's */
    const TsrOpCall *call; /* whose out= is looked at before the kernel is looked for; or NULL */
} Over;

static TsrStatus vector_norm(TsrTensor **out, const TsrTensor *x, double p, Over over);

/* Of 8-bit floats there are norms of one element and of none. */
static TsrStatus norm_of_small_new(TsrTensor **out, const TsrTensor *x, double p, Over over, const bool *reduced) {
    TSR_OWNED wide = NULL;
    TSR_OWNED norm = NULL;
    int64_t width = 1;
    if (over.call != NULL && x->numel > 0) TSR_TRY(tsr_check_out_fits(over.call, 0, x->dtype));
    for (int i = 0; i < tsr_ndim(x); i++) width *= reduced[i] ? x->sizes[i] : 1;
    if (x->numel > 0 && (width > 1 || (tsr_ndim(x) == 0 && over.n > 0)))
        return tsr_la_not_implemented("norm_cpu", x->dtype);
    TSR_TRY(tsr_tensor_new_cast(&wide, x, TSR_FLOAT32));
    TSR_TRY(vector_norm(&norm, wide, p, over));
    return tsr_tensor_new_cast(out, norm, x->dtype);
}

/* On a device: by other operators, as a sum of powers or an extreme. */
static TsrStatus vector_norm_there(TsrTensor **out, const TsrTensor *x, double p, const bool *reduced, bool keepdim,
                                   TsrDtype dtype) {
    TsrScope s = {0};
    int64_t dims[TSR_MAX_DIMS];
    int n = 0;
    for (int d = 0; d < tsr_ndim(x); d++)
        if (reduced[d]) dims[n++] = d;
    TsrTensor *wide = MAKE(&s, tsr_tensor_new_cast, x, tsr_dtype_size(dtype) < 4 ? TSR_FLOAT32 : dtype);
    TsrTensor *size = CALL(&s, "abs", "t", wide), *r;
    if (isinf(p)) {
        r = CALL(&s, p > 0 ? "amax" : "amin", "tIb", size, n, dims, keepdim);
    } else {
        TsrTensor *power = p == 0   ? CALL(&s, "ne", "ts", size, tsr_scalar_int(0))
                           : p == 1 ? size
                                    : CALL(&s, "pow", "ts", size, tsr_scalar_float(p));
        r = CALL(&s, "sum", "tIb", power, n, dims, keepdim);
        if (p == 2) r = CALL(&s, "sqrt", "t", r);
        else if (p != 0 && p != 1) r = CALL(&s, "pow", "ts", r, tsr_scalar_float(1 / p));
    }
    TsrTensor *cast = MAKE(&s, tsr_tensor_new_cast, r, tsr_dtype_real_of(dtype));
    return tsr_scope_end_new(out, &s, cast);
}

/* PyTorch raises the number of a 0-d tensor to the power and takes the root of it where a dimension is named. */
static void through_power(TsrTensor *r, double p) {
    double v = tsr_scalar_to_double(tsr_tensor_get(r, 0));
    bool wide = r->dtype == TSR_FLOAT64;
    if (p == 0 || p == 1 || isinf(p)) return;
    if (p == 2) v = wide ? sqrt(v * v) : (double)sqrtf((float)v * (float)v);
    else v = wide ? pow(pow(v, p), 1 / p) : (double)powf(powf((float)v, (float)p), 1 / (float)p);
    tsr_scalar_store(tsr_scalar_float(v), r->dtype, tsr_data(r));
}

static TsrStatus vector_norm(TsrTensor **out, const TsrTensor *x, double p, Over over) {
    TsrDtype dtype = over.dtype;
    static const char fn[] = "linalg.vector_norm";
    bool reduced[TSR_MAX_DIMS];
    TSR_OWNED r = NULL;
    TSR_OWNED in = NULL;
    TSR_TRY(tsr_la_check_float(x, fn));
    if (x->numel > 0 || !lacks_identity(p)) TSR_TRY(check_norm_dtype(x, dtype, fn));
    if (over.n > 0) TSR_TRY(tsr_check_dim_set(tsr_ndim(x)));
    TSR_TRY(mark_dims(reduced, x, over.n, over.dims));
    if (tsr_dtype_size(x->dtype) == 1 && (dtype == TSR_DTYPE_NONE || dtype == x->dtype)) {
        over.dtype = TSR_DTYPE_NONE;
        return norm_of_small_new(out, x, p, over, reduced);
    }
    TSR_TRY(check_identity(x, p, over.n, over.dims, reduced));
    TSR_TRY(check_norm_dtype(x, dtype, fn));
    if (dtype == TSR_DTYPE_NONE) dtype = x->dtype;
    if (tsr_on_device(x)) return vector_norm_there(out, x, p, reduced, over.keepdim, dtype);
    int64_t sizes[TSR_MAX_DIMS], width = 1;
    int rank = 0;
    for (int i = 0; i < tsr_ndim(x); i++) {
        if (reduced[i]) width *= x->sizes[i];
        if (!reduced[i] || over.keepdim) sizes[rank++] = reduced[i] ? 1 : x->sizes[i];
    }
    TSR_TRY(tsr_tensor_new(&r, rank, sizes, tsr_dtype_real_of(dtype), x->device));
    if (!tsr_is_meta(r) && p == 2 && reduces_columns(x, reduced, r->dtype, width)) {
        ColumnsJob job = {x->dtype, tsr_data(x), tsr_data(r), width, r->numel};
        TSR_TRY(tsr_parallel_for((r->numel + COLUMNS - 1) / COLUMNS, tsr_grain(width * COLUMNS), norm_columns, &job));
    } else if (!tsr_is_meta(r) && r->numel > 0) {
        TSR_TRY(norm_input(&in, x, reduced, dtype, p));
        NormJob job = {in->dtype, r->dtype, tsr_data(in), tsr_data(r), width, p, reduces_neighbours(x, reduced), NULL};
        if (r->numel == 1 && width > 4 * CHUNK) TSR_TRY(norm_long_row(&job));
        else TSR_TRY(tsr_parallel_for(r->numel, tsr_grain(width / 2), norm_rows, &job));
        if (tsr_ndim(x) == 0 && over.n > 0) through_power(r, p);
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* dim=, keepdim= and dtype= as the last three arguments; without dim, `all`, of n. */
static Over over_of(const TsrOpCall *c, int n, const int64_t *all) {
    const TsrArg *dim = &c->arg[2], *dtype = &c->arg[4];
    bool given = tsr_arg_given(dim);
    return (Over){given ? dim->n : n, given ? dim->ints : all, c->arg[3].b,
                  tsr_arg_given(dtype) ? dtype->dtype : TSR_DTYPE_NONE, NULL};
}

/* ---- matrix norms ---- */

typedef enum MatrixNorm {
    NORM_FRO,
    NORM_NUC,
    NORM_SPECTRAL,
    NORM_SPECTRAL_LEAST,
    NORM_ROWS,
    NORM_ROWS_LEAST,
    NORM_COLUMNS,
    NORM_COLUMNS_LEAST
} MatrixNorm;

static bool matrix_order(MatrixNorm *out, double ord) {
    if (ord == 2) *out = NORM_SPECTRAL;
    else if (ord == -2) *out = NORM_SPECTRAL_LEAST;
    else if (ord == 1) *out = NORM_COLUMNS;
    else if (ord == -1) *out = NORM_COLUMNS_LEAST;
    else if (isinf(ord)) *out = ord > 0 ? NORM_ROWS : NORM_ROWS_LEAST;
    else return false;
    return true;
}

static TsrStatus matrix_order_text(MatrixNorm *out, const char *ord) {
    if (strcmp(ord, "fro") == 0) *out = NORM_FRO;
    else if (strcmp(ord, "nuc") == 0) *out = NORM_NUC;
    else return tsr_error(TSR_RUNTIME_ERROR, "linalg.matrix_norm: Order %s not supported.", ord);
    return TSR_OK;
}

static TsrStatus matrix_order_number(MatrixNorm *out, TsrScalar ord) {
    double v = tsr_scalar_to_double(ord);
    if (matrix_order(out, v)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "linalg.matrix_norm: Order %g not supported.", v);
}

/* The matrix dimensions moved last, in the order given. */
static TsrStatus matrices_last(TsrTensor **out, const TsrTensor *x, int64_t d0, int64_t d1) {
    int64_t order[TSR_MAX_DIMS];
    int n = 0;
    for (int i = 0; i < tsr_ndim(x); i++)
        if (i != d0 && i != d1) order[n++] = i;
    order[n++] = d0, order[n++] = d1;
    return tsr_tensor_new_permute(out, x, n, order);
}

static TsrStatus reduce_last(TsrTensor **out, const TsrTensor *x, const char *op) {
    int64_t last = -1;
    return tsr_invoke_new(out, 1, op, "tI", x, 1, &last);
}

static bool is_of_singular_values(MatrixNorm ord) {
    return ord == NORM_NUC || ord == NORM_SPECTRAL || ord == NORM_SPECTRAL_LEAST;
}

static TsrStatus matrix_norm_moved(TsrTensor **out, const TsrTensor *m, MatrixNorm ord) {
    TSR_OWNED s = NULL;
    TSR_OWNED sizes = NULL;
    if (is_of_singular_values(ord)) {
        TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, m, 'N'));
        if (ord == NORM_NUC) return reduce_last(out, s, "sum");
        if (s->sizes[tsr_ndim(s) - 1] == 0 && ord == NORM_SPECTRAL) {
            TSR_TRY(tsr_la_new_vector(out, m, -1, s->dtype));
            return tsr_tensor_fill(*out, tsr_scalar_int(0));
        }
        return reduce_last(out, s, ord == NORM_SPECTRAL ? "amax" : "amin");
    }
    bool rows = ord == NORM_ROWS || ord == NORM_ROWS_LEAST, least = ord == NORM_ROWS_LEAST || ord == NORM_COLUMNS_LEAST;
    int64_t dim = rows ? -1 : -2;
    if (tsr_dtype_size(m->dtype) == 1) {
        TSR_TRY(vector_norm(&s, m, 1, (Over){1, &dim, false, TSR_DTYPE_NONE, NULL}));
    } else {
        TSR_TRY(tsr_invoke_new(&sizes, 1, "abs", "t", m));
        TSR_TRY(tsr_invoke_new(&s, 1, "sum", "tI", sizes, 1, &dim));
    }
    if (s->sizes[tsr_ndim(s) - 1] == 0 && !least) {
        TSR_TRY(tsr_la_new_vector(out, m, -1, s->dtype));
        return tsr_tensor_fill(*out, tsr_scalar_int(0));
    }
    return reduce_last(out, s, least ? "amin" : "amax");
}

static void format_dims(char *text, size_t room, int n, const int64_t *dims) {
    size_t at = 0;
    text[0] = '\0';
    for (int i = 0; i < n && at + 24 < room; i++)
        at += (size_t)snprintf(text + at, room - at, i ? " %lld" : "%lld", (long long)dims[i]);
}

/* The two dimensions of matrices, from 0 on. */
static TsrStatus matrix_dims(int64_t dims[2], Over over, int ndim) {
    static const char fn[] = "linalg.matrix_norm";
    if (over.n != 2) {
        char text[256];
        format_dims(text, sizeof text, over.n, over.dims);
        return tsr_error(TSR_RUNTIME_ERROR, "%s: dim must be a 2-tuple. Got %s", fn, text);
    }
    for (int i = 0; i < 2; i++) {
        dims[i] = over.dims[i];
        TSR_TRY(tsr_wrap_dim(&dims[i], ndim));
    }
    if (dims[0] != dims[1]) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: dims must be different. Got (%lld, %lld)", fn, (long long)dims[0],
                     (long long)dims[1]);
}

static TsrStatus matrix_norm(TsrTensor **out, const TsrTensor *x, MatrixNorm ord, Over over) {
    static const char fn[] = "linalg.matrix_norm";
    TSR_OWNED cast = NULL;
    TSR_OWNED moved = NULL;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_la_check_matrix(x, fn, "A"));
    TSR_TRY(is_of_singular_values(ord) ? tsr_la_check_float_high(x, fn) : tsr_la_check_float(x, fn));
    int64_t dims[2];
    TSR_TRY(matrix_dims(dims, over, tsr_ndim(x)));
    const int64_t d0 = dims[0], d1 = dims[1];
    TSR_TRY(check_norm_dtype(x, over.dtype, fn));
    if (ord == NORM_FRO) return vector_norm(out, x, 2, (Over){2, (int64_t[]){d0, d1}, over.keepdim, over.dtype, NULL});
    TSR_TRY(tsr_tensor_new_cast(&cast, x, over.dtype == TSR_DTYPE_NONE ? x->dtype : over.dtype));
    TSR_TRY(matrices_last(&moved, cast, d0, d1));
    TSR_TRY(matrix_norm_moved(&r, moved, ord));
    if (over.keepdim) {
        for (int k = 0; k < 2; k++) {
            TsrTensor *wide;
            TSR_TRY(tsr_tensor_new_unsqueeze(&wide, r, k == 0 ? TSR_MIN(d0, d1) : TSR_MAX(d0, d1)));
            tsr_owned_put_move(&r, wide);
        }
        if (is_of_singular_values(ord)) { /* PyTorch unsqueezes at the end and permutes: the strides of the two are 1 */
            int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
            int d = tsr_ndim(r);
            memcpy(sizes, r->sizes, sizeof(int64_t) * (size_t)d);
            memcpy(strides, r->strides, sizeof(int64_t) * (size_t)d);
            strides[d0] = strides[d1] = 1;
            TSR_TRY(tsr_tensor_set_geometry(r, (TsrGeometry){d, sizes, strides, r->offset}));
        }
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus check_order(const TsrArg *order, const char *fn) {
    if (!tsr_arg_given(order) || order->s.kind != TSR_SCALAR_COMPLEX) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: Expected a non-complex scalar as the order of norm.", fn);
}

TsrStatus op_vector_norm(TsrOpCall *c) { /* ord, dim, keepdim, dtype */
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_float(c->arg[0].t, "linalg.vector_norm"));
    TSR_TRY(check_order(&c->arg[1], "linalg.vector_norm"));
    Over over = over_of(c, 0, NULL);
    over.call = c;
    return tsr_finish_move(c, vector_norm(&r, c->arg[0].t, tsr_scalar_to_double(c->arg[1].s), over), r);
}

TsrStatus op_matrix_norm(TsrOpCall *c) {
    TsrTensor *r = NULL;
    MatrixNorm ord = NORM_FRO;
    if (c->arg[1].kind == TSR_ARG_SCALAR) TSR_TRY(check_order(&c->arg[1], "linalg.matrix_norm"));
    TSR_TRY(c->arg[1].kind == TSR_ARG_STR ? matrix_order_text(&ord, c->arg[1].str)
                                          : matrix_order_number(&ord, c->arg[1].s));
    return tsr_finish_move(c, matrix_norm(&r, c->arg[0].t, ord, over_of(c, 0, NULL)), r);
}

/* linalg.norm: a vector norm for one dimension or none, a matrix norm for two. */
TsrStatus op_linalg_norm(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    TsrArg *ord = &c->arg[1], *dim = &c->arg[2];
    bool given = tsr_arg_given(dim);
    TsrTensor *r = NULL;
    MatrixNorm kind = NORM_FRO;
    int d = tsr_ndim(x);
    int64_t both[2] = {-2, -1};
    if (given && dim->n != 1 && dim->n != 2) {
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got %s",
                         tsr_layout_text(dim->n, dim->ints));
    }
    if (ord->kind == TSR_ARG_STR) {
        if (!given && d != 1 && d != 2)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.",
                             d);
        TSR_TRY(matrix_order_text(&kind, ord->str));
        return tsr_finish_move(c, matrix_norm(&r, x, kind, over_of(c, 2, both)), r);
    }
    if (tsr_arg_given(ord)) {
        if (!given && d != 1 && d != 2)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.",
                             d);
        if (given ? dim->n == 2 : d == 2) {
            TSR_TRY(check_order(ord, "linalg.matrix_norm"));
            TSR_TRY(matrix_order_number(&kind, ord->s));
            return tsr_finish_move(c, matrix_norm(&r, x, kind, over_of(c, 2, both)), r);
        }
    }
    TSR_TRY(check_order(ord, "linalg.vector_norm"));
    double p = tsr_arg_given(ord) ? tsr_scalar_to_double(ord->s) : 2;
    return tsr_finish_move(c, vector_norm(&r, x, p, over_of(c, 0, NULL)), r);
}

/* torch.norm with a number (or None: 2) for p. */
TsrStatus op_norm(TsrOpCall *c) {
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_float(c->arg[0].t, "linalg.vector_norm"));
    TSR_TRY(check_order(&c->arg[1], "linalg.vector_norm"));
    if (tsr_in(TSR_BITS_FLOAT8, c->arg[0].t->dtype)) TSR_TRY(tsr_check_out_dtype(c, 0, c->arg[0].t->dtype));
    double p = tsr_arg_given(&c->arg[1]) ? tsr_scalar_to_double(c->arg[1].s) : 2;
    return tsr_finish_move(c, vector_norm(&r, c->arg[0].t, p, over_of(c, 0, NULL)), r);
}

/* torch.norm with 'fro' or 'nuc'. */
TsrStatus op_norm_text(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    TsrTensor *r = NULL;
    TsrArg *dim = &c->arg[2];
    MatrixNorm kind = NORM_FRO;
    bool given = tsr_arg_given(dim), fro = strcmp(c->arg[1].str, "fro") == 0;
    if (fro && tsr_in(TSR_BITS_FLOAT8, x->dtype)) TSR_TRY(tsr_check_out_dtype(c, 0, x->dtype));
    if (fro && (!given || dim->n <= 2)) return tsr_finish_move(c, vector_norm(&r, x, 2, over_of(c, 0, NULL)), r);
    int64_t all[TSR_MAX_DIMS];
    for (int i = 0; i < tsr_ndim(x); i++) all[i] = i;
    TSR_TRY(matrix_order_text(&kind, c->arg[1].str));
    TSR_TRY(tsr_la_check_matrix(x, "linalg.matrix_norm", "A"));
    TSR_TRY(is_of_singular_values(kind) ? tsr_la_check_float_high(x, "linalg.matrix_norm")
                                        : tsr_la_check_float(x, "linalg.matrix_norm"));
    const Over over = over_of(c, tsr_ndim(x), all);
    int64_t dims[2];
    TSR_TRY(matrix_dims(dims, over, tsr_ndim(x)));
    TsrDtype real = tsr_dtype_real_of(x->dtype);
    if (c->out[0] != NULL && c->out[0]->dtype != real && !tsr_arg_given(&c->arg[4]))
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.matrix_norm expected out tensor dtype %s but got: %s",
                         tsr_dtype_scalar_name(real), tsr_dtype_scalar_name(c->out[0]->dtype));
    return tsr_finish_move(c, matrix_norm(&r, x, kind, over), r);
}

/* ---- condition numbers ---- */

static TsrStatus cond_spectral(TsrTensor **out, const TsrTensor *a, bool inverse) {
    TSR_OWNED s = NULL;
    TSR_OWNED first = NULL;
    TSR_OWNED last = NULL;
    TSR_TRY(tsr_la_new_svd(NULL, &s, NULL, a, 'N'));
    TSR_TRY(tsr_tensor_new_select(&first, s, -1, 0));
    TSR_TRY(tsr_tensor_new_select(&last, s, -1, -1));
    return tsr_invoke_new(out, 1, "div", "tt", inverse ? last : first, inverse ? first : last);
}

/* On a device: the inverse, and inf in the place of those that there are none of. */
static TsrStatus inverse_or_inf_there(TsrTensor **slot, const TsrTensor *info) {
    TsrScope s = {0};
    TsrTensor *failed = CALL(&s, "ne", "ts", info, tsr_scalar_int(0)),
              *column = MAKE(&s, tsr_tensor_new_unsqueeze, failed, -1),
              *matrix = MAKE(&s, tsr_tensor_new_unsqueeze, column, -1),
              *filled = CALL(&s, "masked_fill", "tts", *slot, matrix, tsr_scalar_float(INFINITY));
    if (s.status == TSR_OK) tsr_owned_put_move(slot, tsr_tensor_retain(filled));
    return tsr_scope_end(&s);
}

static TsrStatus cond_inverse(TsrTensor **out, const TsrTensor *a, MatrixNorm ord) {
    TSR_OWNED inverse = NULL;
    TSR_OWNED info = NULL;
    TSR_OWNED n1 = NULL;
    TSR_OWNED n2 = NULL;
    Over over = {2, (int64_t[]){-2, -1}, false, TSR_DTYPE_NONE, NULL};
    TSR_TRY(tsr_la_new_inverse(&inverse, &info, a));
    const bool here = !tsr_is_meta(info) && !tsr_on_device(info);
    if (tsr_on_device(info)) TSR_TRY(inverse_or_inf_there(&inverse, info));
    for (int64_t b = 0; b < info->numel && here; b++) {
        if (((const int *)tsr_data(info))[b] == 0) continue;
        TSR_IN_PIECES(k, tsr_la_rows(a) * tsr_la_cols(a))
        tsr_scalar_store(tsr_scalar_float(INFINITY), a->dtype, tsr_la_matrix(inverse, b) + (size_t)k * tsr_itemsize(a));
    }
    TSR_TRY(matrix_norm(&n1, a, ord, over));
    TSR_TRY(matrix_norm(&n2, inverse, ord, over));
    return tsr_invoke_new(out, 1, "mul", "tt", n1, n2);
}

static TsrStatus cond(TsrTensor **out, const TsrTensor *a, MatrixNorm ord, const char *text) {
    char fn[64];
    if (ord != NORM_SPECTRAL && ord != NORM_SPECTRAL_LEAST) {
        snprintf(fn, sizeof fn, "linalg.cond(ord=%s)", text);
        TSR_TRY(tsr_la_check_square(a, fn));
    }
    if (a->numel == 0) {
        TSR_TRY(tsr_la_new_vector(out, a, -1, tsr_dtype_real_of(a->dtype)));
        return tsr_is_meta(*out) ? TSR_OK : tsr_tensor_fill(*out, tsr_scalar_int(0));
    }
    bool spectral = ord == NORM_SPECTRAL || ord == NORM_SPECTRAL_LEAST;
    if (spectral) TSR_TRY(tsr_la_check_float(a, "linalg.svd"));
    TSR_TRY(spectral ? tsr_la_not_implemented("linalg_svd_cpu", a->dtype) : tsr_la_check_float_high(a, "linalg.inv"));
    if (spectral) return cond_spectral(out, a, ord == NORM_SPECTRAL_LEAST);
    return cond_inverse(out, a, ord);
}

TsrStatus op_cond(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TsrTensor *r = NULL;
    MatrixNorm ord = NORM_SPECTRAL;
    char text[32] = "2";
    if (tsr_ndim(a) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.cond: The input tensor must have at least 2 dimensions.");
    if (tsr_arg_given(&c->arg[1])) {
        double p = tsr_scalar_to_double(c->arg[1].s);
        if (c->arg[1].s.kind == TSR_SCALAR_INT) snprintf(text, sizeof text, "%lld", (long long)c->arg[1].s.i);
        else snprintf(text, sizeof text, "%g", p);
        if (!matrix_order(&ord, p)) return tsr_error(TSR_VALUE_ERROR, "linalg.cond got an invalid norm type: %s", text);
    }
    return tsr_finish_move(c, cond(&r, a, ord, text), r);
}

TsrStatus op_cond_text(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TsrTensor *r = NULL;
    const char *p = c->arg[1].str;
    bool fro = strcmp(p, "fro") == 0;
    if (tsr_ndim(a) < 2)
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.cond: The input tensor must have at least 2 dimensions.");
    if (!fro && strcmp(p, "nuc") != 0) return tsr_error(TSR_VALUE_ERROR, "linalg.cond got an invalid norm type: %s", p);
    return tsr_finish_move(c, cond(&r, a, fro ? NORM_FRO : NORM_NUC, p), r);
}
