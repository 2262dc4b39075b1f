/* torch.special: the iterator around the functions of specfun.c. Values are computed in double and rounded once, but
 * where the steps of PyTorch's float version show. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/kernels/pointwise/bessel.h"
#include "core/kernels/pointwise/table.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "core/kernels/specfun.h"

enum {
    SET_SINGLE = 1,
    SET_HALF = 2,
    SET_NO_INT = 4
}; /* which dtypes: float32 and float64 always, the half types, integers refused */

/* ---- loops ---- */

typedef struct Unary {
    double (*fn)(double);
    float (*fn_f)(float);
} Unary;

static void unary_f64(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Unary *u = params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) = u->fn(*(const double *)(data[1] + i * strides[1]));
}

static void unary_f32(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Unary *u = params;
    for (int64_t i = 0; i < n; i++) {
        float x = *(const float *)(data[1] + i * strides[1]);
        *(float *)(data[0] + i * strides[0]) = u->fn_f != NULL ? u->fn_f(x) : (float)u->fn(x);
    }
}

typedef double (*Binary)(double, double);

static void binary_f64(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    Binary fn = *(const Binary *)params;
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) =
            fn(*(const double *)(data[1] + i * strides[1]), *(const double *)(data[2] + i * strides[2]));
}

static void binary_f32(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    Binary fn = *(const Binary *)params;
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * strides[0]) =
            (float)fn(*(const float *)(data[1] + i * strides[1]), *(const float *)(data[2] + i * strides[2]));
}

/* Loops of a function that the compiler sees, where a call through a pointer would be half of the time. */
#define UNARY_LOOP(name, T, fn) \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params) { \
        (void)params; \
        for (int64_t i = 0; i < n; i++) *(T *)(data[0] + i * strides[0]) = fn(*(const T *)(data[1] + i * strides[1])); \
    }
#define BINARY_LOOP(name, T, fn) \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params) { \
        (void)params; \
        for (int64_t i = 0; i < n; i++) \
            *(T *)(data[0] + i * strides[0]) = \
                fn(*(const T *)(data[1] + i * strides[1]), *(const T *)(data[2] + i * strides[2])); \
    }

/* ---- one call ---- */

typedef struct Loops {
    TsrLoop f32, f64;
    const void *params;
    TsrKernel kernel; /* what a device computes instead; TSR_K_NONE: nothing */
} Loops;

static TsrStatus check_dtype(TsrDtype common, const char *kernel, int set) {
    bool half = common == TSR_FLOAT16 || common == TSR_BFLOAT16;
    if (common == TSR_FLOAT32 || common == TSR_FLOAT64 || (half && (set & SET_HALF))) return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", kernel,
                     tsr_dtype_scalar_name(common));
}

static TsrStatus run(TsrOpCall *c, int nin, TsrTensor *const *in, const char *kernel, int set, Loops loops) {
    TsrIter it;
    TsrIterSpec spec = {.nout = 1, .nin = nin, .out = {c->out[0]}, .name = c->schema->base};
    spec.flags = TSR_ITER_PROMOTE | TSR_ITER_CHECK_CAST | TSR_ITER_COMPUTE_FLOAT |
                 (set & SET_NO_INT ? 0 : TSR_ITER_INT_TO_FLOAT) | (c->inplace ? TSR_ITER_NO_RESIZE : 0);
    for (int i = 0; i < nin; i++) spec.in[i] = in[i];
    TSR_TRY(tsr_iter_begin(&it, &spec));
    TsrStatus s = check_dtype(it.common, kernel, set);
    if (s == TSR_OK)
        s = tsr_iter_run_kernel(&it, it.dtype == TSR_FLOAT64 ? loops.f64 : loops.f32, loops.kernel, loops.params, 0);
    TsrTensor *r = NULL;
    return tsr_finish_move(c, tsr_iter_end_move(&it, s, &r), r);
}

static TsrStatus unary(TsrOpCall *c, const char *kernel, int set, double (*fn)(double), float (*fn_f)(float)) {
    Unary u = {fn, fn_f};
    return run(c, 1, &c->arg[0].t, kernel, set, (Loops){unary_f32, unary_f64, &u, TSR_K_NONE});
}

static TsrStatus operand(TsrTensor **out, const TsrArg *arg) {
    if (arg->kind != TSR_ARG_TENSOR) return tsr_tensor_new_wrapped(out, arg->s);
    *out = tsr_tensor_retain(arg->t);
    return TSR_OK;
}

/* Operands 0 and 1 of the call, retained; a number becomes a 0-d tensor that is weak in promotion. */
static TsrStatus operands(TsrTensor **a, TsrTensor **b, const TsrOpCall *c) {
    TSR_TRY(operand(a, &c->arg[0]));
    return operand(b, &c->arg[1]);
}

static TsrStatus with_operands(TsrOpCall *c, const char *kernel, int set, Loops loops) {
    TSR_OWNED a = NULL;
    TSR_OWNED b = NULL;
    TSR_TRY(operands(&a, &b, c));
    return run(c, 2, (TsrTensor *const[]){a, b}, kernel, set, loops);
}

static TsrStatus binary(TsrOpCall *c, const char *kernel, int set, Binary fn) {
    return with_operands(c, kernel, set, (Loops){binary_f32, binary_f64, &fn, TSR_K_NONE});
}

static TsrStatus bessel(TsrOpCall *c, TsrTensor *x, const char *kernel, int set, TsrBessel fn) {
    return run(c, 1, &x, kernel, set,
               (Loops){tsr_kernel_bessel(fn, TSR_FLOAT32), tsr_kernel_bessel(fn, TSR_FLOAT64), NULL, TSR_K_NONE});
}

#define BESSEL(op, kernel, set, name) \
    TsrStatus op(TsrOpCall *c) { return bessel(c, c->arg[0].t, kernel, set, TSR_BESSEL_##name); }
BESSEL(op_i0, "i0_vml_cpu", SET_HALF, i0)
BESSEL(op_i1, "i1_cpu", SET_HALF, i1)
BESSEL(op_i1e, "i1e_cpu", SET_HALF, i1e)
BESSEL(op_bessel_j0, "bessel_j0_cpu", SET_SINGLE, j0)
BESSEL(op_bessel_j1, "bessel_j1_cpu", SET_SINGLE, j1)
BESSEL(op_bessel_y0, "bessel_y0_cpu", SET_SINGLE, y0)
BESSEL(op_bessel_y1, "bessel_y1_cpu", SET_SINGLE, y1)
BESSEL(op_modified_bessel_i0, "modified_bessel_i0_cpu", SET_SINGLE, i0)
BESSEL(op_modified_bessel_i1, "modified_bessel_i1_cpu", SET_SINGLE, modified_i1)
BESSEL(op_modified_bessel_k0, "modified_bessel_k0_cpu", SET_SINGLE, k0)
BESSEL(op_modified_bessel_k1, "modified_bessel_k1_cpu", SET_SINGLE, k1)
BESSEL(op_scaled_modified_bessel_k0, "scaled_modified_bessel_k0_cpu", SET_SINGLE, k0e)
BESSEL(op_scaled_modified_bessel_k1, "scaled_modified_bessel_k1_cpu", SET_SINGLE, k1e)
BESSEL(op_spherical_bessel_j0, "spherical_bessel_j0_cpu", SET_SINGLE, spherical_j0)
BESSEL(op_airy_ai, "airy_ai_cpu", SET_SINGLE, airy_ai)
BESSEL(op_ndtri, "ndtri_cpu", SET_SINGLE, ndtri)
BESSEL(op_digamma, "digamma", SET_HALF, digamma)
#undef BESSEL

#define UNARY(op, kernel, set, fn) \
    TsrStatus op(TsrOpCall *c) { return unary(c, kernel, set, fn, NULL); }
UNARY(op_erfcx, "erfcx_cpu", SET_SINGLE, tsr_sf_erfcx)
#undef UNARY

/* In float, where the steps round. */
static float log_ndtr_float(float x) {
    float t = x * (float)M_SQRT1_2;
    return x < -1 ? fmaf(-t, t, logf((float)tsr_sf_erfcx(-t) / 2)) : log1pf(-erfcf(t) / 2);
}
TsrStatus op_log_ndtr(TsrOpCall *c) { return unary(c, "log_ndtr_cpu", SET_SINGLE, tsr_sf_log_ndtr, log_ndtr_float); }
TsrStatus op_lgamma(TsrOpCall *c) {
    return run(
        c, 1, &c->arg[0].t, "lgamma_vml_cpu", SET_HALF,
        (Loops){tsr_kernel(TSR_K_lgamma, TSR_FLOAT32), tsr_kernel(TSR_K_lgamma, TSR_FLOAT64), NULL, TSR_K_lgamma});
}

TsrStatus op_igamma(TsrOpCall *c) { return binary(c, "igamma_cpu", SET_HALF | SET_NO_INT, tsr_sf_gammainc); }
TsrStatus op_igammac(TsrOpCall *c) { return binary(c, "igammac_cpu", SET_HALF | SET_NO_INT, tsr_sf_gammaincc); }

/* Up to 1 the series diverges. */
static inline double zeta_or_edge(double s, double q) {
    return s > 1 || s != s ? tsr_sf_zeta(s, q) : s == 1 ? INFINITY : NAN;
}
static inline float zeta_rounded(float s, float q) { return (float)zeta_or_edge(s, q); }
BINARY_LOOP(zeta_f32, float, zeta_rounded)
BINARY_LOOP(zeta_f64, double, zeta_or_edge)
TsrStatus op_zeta(TsrOpCall *c) {
    return with_operands(c, "zeta_cpu", SET_SINGLE, (Loops){zeta_f32, zeta_f64, NULL, TSR_K_NONE});
}

/* In half precision the logarithm is rounded before the product. */
static double half_of(double x) { return tsr_half_to_float(tsr_half_from_float((float)x)); }
static double bfloat16_of(double x) { return tsr_bfloat16_to_float(tsr_bfloat16_from_float((float)x)); }
static double entr_half(double x) { return x > 0 ? -x * half_of(log(x)) : tsr_sf_entr(x); }
static double entr_bfloat16(double x) { return x > 0 ? -x * bfloat16_of(log(x)) : tsr_sf_entr(x); }
static inline float entr_float(float x) { return x > 0 ? -x * logf(x) : (float)tsr_sf_entr(x); }
static inline double entr_double(double x) { return x > 0 ? -x * log(x) : tsr_sf_entr(x); }
UNARY_LOOP(entr_f32, float, entr_float)
UNARY_LOOP(entr_f64, double, entr_double)

TsrStatus op_entr(TsrOpCall *c) {
    TsrDtype d = c->arg[0].t->dtype;
    if (d == TSR_FLOAT16 || d == TSR_BFLOAT16)
        return unary(c, "entr_cpu", SET_HALF, d == TSR_FLOAT16 ? entr_half : entr_bfloat16, NULL);
    return run(c, 1, &c->arg[0].t, "entr_cpu", SET_HALF, (Loops){entr_f32, entr_f64, NULL, TSR_K_NONE});
}

#include "core/kernels/pointwise/bessel_i0.inc"

/* The short series of i0e, each step rounded by `of`. */
static double i0e_steps(double v, double (*of)(double)) {
    double x = fabs(v);
    bool near = x <= 8;
    const double *c = near ? i0_near + 12 : i0_far + 18;
    double y = of(near ? of(x / 2) - 2 : of(32 / x) - 2), b0 = of(c[0]), b1 = 0, b2 = 0;
    for (int i = 1; i < (near ? 18 : 7); i++) {
        b2 = b1;
        b1 = b0;
        b0 = of(of(of(y * b1) - b2) + of(c[i]));
    }
    double sum = of(0.5 * of(b0 - b2));
    return near ? sum : of(sum / sqrtf((float)x));
}

static double i0e_half(double x) { return i0e_steps(x, half_of); }
static double i0e_bfloat16(double x) { return i0e_steps(x, bfloat16_of); }

/* PyTorch's vector loop over half floats, for pairs of 32-byte vectors, works in float; the one for fewer elements
 * rounds every step. */
TsrStatus op_i0e(TsrOpCall *c) {
    /* Half floats in two 32-byte vectors: the least that PyTorch's vector loop takes. */
    enum { VECTORS = 32 };
    TsrDtype d = c->arg[0].t->dtype;
    bool steps = (d == TSR_FLOAT16 || d == TSR_BFLOAT16) && c->arg[0].t->numel < VECTORS;
    if (steps) return unary(c, "i0e_cpu", SET_HALF, d == TSR_FLOAT16 ? i0e_half : i0e_bfloat16, NULL);
    return bessel(c, c->arg[0].t, "i0e_cpu", SET_HALF, TSR_BESSEL_i0e);
}

/* The logarithm is rounded to the dtype before the product. */
static double xlog1py_by(double x, double y, float rounded) { return isnan(y) ? NAN : x == 0 ? 0 : x * rounded; }
static double xlog1py_half(double x, double y) {
    return xlog1py_by(x, y, tsr_half_to_float(tsr_half_from_float((float)log1p(y))));
}
static double xlog1py_bfloat16(double x, double y) {
    return xlog1py_by(x, y, tsr_bfloat16_to_float(tsr_bfloat16_from_float((float)log1p(y))));
}
static inline float xlog1py_float(float x, float y) { return y != y ? NAN : x == 0 ? 0 : x * log1pf(y); }
static inline double xlog1py_double(double x, double y) { return y != y ? NAN : x == 0 ? 0 : x * log1p(y); }
BINARY_LOOP(xlog1py_f32, float, xlog1py_float)
BINARY_LOOP(xlog1py_f64, double, xlog1py_double)

TsrStatus op_xlog1py(TsrOpCall *c) {
    TSR_OWNED a = NULL;
    TSR_OWNED b = NULL;
    TsrDtype common;
    TSR_TRY(operands(&a, &b, c));
    TSR_TRY(tsr_result_type(&common, (TsrTensor *const[]){a, b}, 2));
    if (common == TSR_FLOAT16) return binary(c, "xlog1py_cpu", SET_HALF, xlog1py_half);
    if (common == TSR_BFLOAT16) return binary(c, "xlog1py_cpu", SET_HALF, xlog1py_bfloat16);
    return with_operands(c, "xlog1py_cpu", SET_HALF, (Loops){xlog1py_f32, xlog1py_f64, NULL, TSR_K_NONE});
}

/* (1 + erf(x / sqrt 2)) / 2, each step rounded to the dtype. */
TsrStatus op_ndtr(TsrOpCall *c) {
    TSR_OWNED scaled = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED sum = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_invoke_new(&scaled, 1, "div", "tf", c->arg[0].t, M_SQRT2));
    TSR_TRY(tsr_invoke_new(&e, 1, "erf", "t", scaled));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tf", e, 1.0));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "mul", "tf", sum, 0.5), r);
}

/* ---- polygamma ---- */

static void polygamma_f64(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    for (int64_t i = 0; i < n; i++)
        *(double *)(data[0] + i * strides[0]) =
            tsr_sf_polygamma(*(const int *)params, *(const double *)(data[1] + i * strides[1]));
}

/* In float the factorial is inf from 35 on, and nan where the zeta function is 0 beside it. */
static float factorial_of(int order) { return (float)(order % 2 ? 1 : -1) * expf((float)tsr_sf_lgamma(order + 1.0)); }

static void polygamma_f32(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    int order = *(const int *)params;
    float factorial = factorial_of(order);
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * strides[0]) =
            factorial * (float)tsr_sf_zeta(order + 1.0, *(const float *)(data[1] + i * strides[1]));
}

/* The half types sum the zeta function in float and round it before the factorial: its zeros near the poles show that.
 */
typedef struct HalfPolygamma {
    int order;
    double (*of)(double);
} HalfPolygamma;
static void polygamma_half(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const HalfPolygamma *h = params;
    float factorial = factorial_of(h->order);
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * strides[0]) =
            factorial * (float)h->of(tsr_sf_zeta_f((float)h->order + 1, *(const float *)(data[1] + i * strides[1])));
}

static TsrStatus polygamma(TsrOpCall *c, int64_t n, TsrTensor *x) {
    if (n < 0) return tsr_error(TSR_RUNTIME_ERROR, "polygamma(n, x) does not support negative n.");
    Unary trigamma = {tsr_sf_trigamma, tsr_sf_trigamma_f};
    int order = (int)TSR_MIN(n, 1000000);
    if (n == 0) return bessel(c, x, "digamma", SET_HALF, TSR_BESSEL_digamma);
    if (n == 1) return run(c, 1, &x, "trigamma", SET_HALF, (Loops){unary_f32, unary_f64, &trigamma, TSR_K_NONE});
    HalfPolygamma half = {order, x->dtype == TSR_FLOAT16 ? half_of : bfloat16_of};
    if (x->dtype == TSR_FLOAT16 || x->dtype == TSR_BFLOAT16)
        return run(c, 1, &x, "polygamma", SET_HALF, (Loops){polygamma_half, NULL, &half, TSR_K_NONE});
    return run(c, 1, &x, "polygamma", SET_HALF, (Loops){polygamma_f32, polygamma_f64, &order, TSR_K_NONE});
}

TsrStatus op_polygamma(TsrOpCall *c) { return polygamma(c, c->arg[0].i, c->arg[1].t); }
TsrStatus op_polygamma_method(TsrOpCall *c) { return polygamma(c, c->arg[1].i, c->arg[0].t); }

/* PyTorch's composition, a term for each of the p values of lgamma: its roundings and its row-major result are visible.
 */
TsrStatus op_mvlgamma(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    int64_t p = c->arg[1].i, last = -1;
    if (x->dtype == TSR_BOOL) return tsr_error(TSR_RUNTIME_ERROR, "The input tensor may not be a boolean tensor.");
    if (p < 1) return tsr_error(TSR_RUNTIME_ERROR, "p has to be greater than or equal to 1");
    if (p > 1000000) return tsr_error(TSR_RUNTIME_ERROR, "mvlgamma: p is too large");
    TsrDtype dtype = tsr_dtype_is_integral(x->dtype) ? tsr_default_dtype() : x->dtype;
    if (c->inplace && dtype != x->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "mvlgamma: result type %s can't be cast to the desired output type %s",
                         tsr_dtype_scalar_name(x->dtype), tsr_dtype_scalar_name(dtype));
    TsrScope s = {0};
    if (tsr_is_meta(x)) return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_like, x, dtype, TSR_CONTIGUOUS));
    TsrScalar half = tsr_scalar_float(0.5), constant = tsr_scalar_float((double)(p * (p - 1)) * log(M_PI) * 0.25);
    TsrTensor *shifts = CALL(&s, "arange", "sssd", tsr_scalar_float(-0.5 * (double)p + 0.5), half, half, (int)dtype);
    TsrTensor *there = MAKE(&s, tsr_tensor_new, 1, &p, dtype, x->device); /* arange makes one of the host */
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(there, shifts);
    TsrTensor *columns = MAKE(&s, tsr_tensor_new_unsqueeze, x, -1);
    TsrTensor *places = CALL(&s, "add", "tt", there, columns), *terms = CALL(&s, "lgamma", "t", places);
    TsrTensor *sum = CALL(&s, "sum", "tI", terms, 1, &last);
    return tsr_scope_return(c, &s, CALL(&s, "add", "!tts", sum, sum, constant));
}

/* ---- orthogonal polynomials ---- */

typedef enum OrthogonalKind {
    CHEBYSHEV_T,
    CHEBYSHEV_U,
    CHEBYSHEV_V,
    CHEBYSHEV_W,
    SHIFTED_T,
    SHIFTED_U,
    SHIFTED_V,
    SHIFTED_W,
    HERMITE_H,
    HERMITE_HE,
    LAGUERRE_L,
    LEGENDRE_P
} OrthogonalKind;

/* What the recurrences of a block need to know. The first polynomial is start_by * x + start, the factor of the last
 * one factor_by * x + factor. (-0.0 leaves a -0 as it is.) */
typedef struct Recurrence {
    OrthogonalKind kind;
    double start, start_by, factor, factor_by;
    int grows;         /* the last but one is multiplied by k times this; 0: by 1 */
    int trigonometric; /* above this degree, inside (-1, 1), the closed form is used */
    int special_at;    /* an |x| with a rule of its own; -1: none */
    bool shifted, hermite;
} Recurrence;

#define CHEBYSHEV(kind, start, by, trig, shifted) [kind] = {kind, start, by, -0.0, 2, 0, trig, 1, shifted, false}
static const Recurrence recurrences[] = {
    CHEBYSHEV(CHEBYSHEV_T, -0.0, 1, 6, false),
    CHEBYSHEV(CHEBYSHEV_U, -0.0, 2, 8, false),
    CHEBYSHEV(CHEBYSHEV_V, -1, 2, 8, false),
    CHEBYSHEV(CHEBYSHEV_W, 1, 2, 8, false),
    CHEBYSHEV(SHIFTED_T, -0.0, 1, 6, true),
    CHEBYSHEV(SHIFTED_U, -0.0, 2, 6, true),
    CHEBYSHEV(SHIFTED_V, -1, 2, 6, true),
    CHEBYSHEV(SHIFTED_W, 1, 2, 4, true),
    [HERMITE_H] = {HERMITE_H, -0.0, 2, -0.0, 2, 2, INT32_MAX, -1, false, true},
    [HERMITE_HE] = {HERMITE_HE, -0.0, 1, -0.0, 1, 1, INT32_MAX, -1, false, true},
    [LAGUERRE_L] = {LAGUERRE_L, 1, -1, 1, -1, 1, INT32_MAX, 0, false, false},
    [LEGENDRE_P] = {LEGENDRE_P, -0.0, 1, -0.0, 1, 1, INT32_MAX, 1, false, false},
};
#undef CHEBYSHEV

/* Elements of longer recurrences, and blocks of which most elements would wait for a few long ones, go one by one: a
 * block's step costs about as much as IDLE_AT_MOST of its elements' shares (Zen 3, AVX2, laguerre of 1e6 float32). */
enum { LONGEST_IN_BLOCKS = 512, IDLE_AT_MOST = 8 };

#define HELPER \
    static inline __attribute__((always_inline)) /* into the clones, where a fused multiplication is one instruction \
                                                  */
#define R float
#define NAME(x) f32_##x
#define FN(name) name##f
#define HERMITE_LIMIT 128
#include "core/kernels/matrix/orthogonal.inc"
#define R double
#define NAME(x) f64_##x
#define FN(name) name
#define HERMITE_LIMIT 512
#include "core/kernels/matrix/orthogonal.inc"

#define POLYNOMIAL(name, kind_) \
    TsrStatus op_##name(TsrOpCall *c) { \
        OrthogonalKind kind = kind_; \
        return with_operands(c, #name "_cpu", SET_SINGLE, \
                             (Loops){f32_polynomials, f64_polynomials, &kind, TSR_K_NONE}); \
    }
POLYNOMIAL(chebyshev_polynomial_t, CHEBYSHEV_T)
POLYNOMIAL(chebyshev_polynomial_u, CHEBYSHEV_U)
POLYNOMIAL(chebyshev_polynomial_v, CHEBYSHEV_V)
POLYNOMIAL(chebyshev_polynomial_w, CHEBYSHEV_W)
POLYNOMIAL(shifted_chebyshev_polynomial_t, SHIFTED_T)
POLYNOMIAL(shifted_chebyshev_polynomial_u, SHIFTED_U)
POLYNOMIAL(shifted_chebyshev_polynomial_v, SHIFTED_V)
POLYNOMIAL(shifted_chebyshev_polynomial_w, SHIFTED_W)
POLYNOMIAL(hermite_polynomial_h, HERMITE_H)
POLYNOMIAL(hermite_polynomial_he, HERMITE_HE)
POLYNOMIAL(laguerre_polynomial_l, LAGUERRE_L)
POLYNOMIAL(legendre_polynomial_p, LEGENDRE_P)

/* ---- other names of operators elsewhere ---- */

static TsrStatus softmax_by(TsrOpCall *c, const char *name) {
    TsrTensor *r = NULL;
    if (tsr_arg_given(&c->arg[2]))
        return tsr_finish_move(c, tsr_invoke_new(&r, 1, name, "tid", c->arg[0].t, c->arg[1].i, (int)c->arg[2].dtype),
                               r);
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, name, "ti", c->arg[0].t, c->arg[1].i), r);
}
TsrStatus op_special_softmax(TsrOpCall *c) { return softmax_by(c, "softmax"); }
TsrStatus op_special_log_softmax(TsrOpCall *c) { return softmax_by(c, "log_softmax"); }

TsrStatus op_special_logsumexp(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(
        c, tsr_invoke_new(&r, 1, "logsumexp", "tIb", c->arg[0].t, c->arg[1].n, c->arg[1].ints, (int)c->arg[2].b), r);
}
