/* torch.special: the iterator around the kernels of kernels/pointwise/special.def. Values are computed in double and
 * rounded once, but where the steps of PyTorch's float version show. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/kernels/pointwise/special.h"
#include "core/kernels/pointwise/table.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "core/kernels/specfun.h"

enum {
    SET_SINGLE = 1,
    SET_HALF = 2,
    SET_NO_INT = 4
}; /* which dtypes: float32 and float64 always, the half types, integers refused */

/* ---- one call ---- */

typedef struct Loops {
    TsrLoop f32, f64;
    const void *params;
    size_t nparams;
    TsrKernel kernel; /* what a device computes instead */
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
        s = tsr_iter_run_kernel(&it, it.dtype == TSR_FLOAT64 ? loops.f64 : loops.f32, loops.kernel, loops.params,
                                loops.nparams);
    TsrTensor *r = NULL;
    return tsr_finish_move(c, tsr_iter_end_move(&it, s, &r), r);
}

/* The kernel's loops, where there is one for the dtype; `params` are its numbers. */
static Loops loops_of(TsrKernel k, const void *params, size_t nparams) {
    return (Loops){tsr_kernel(k, TSR_FLOAT32), tsr_kernel(k, TSR_FLOAT64), params, nparams, k};
}

static TsrStatus unary(TsrOpCall *c, TsrTensor *x, const char *kernel, int set, TsrKernel k) {
    return run(c, 1, &x, kernel, set, loops_of(k, NULL, 0));
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

#define UNARY(op, kernel, set, name) \
    TsrStatus op(TsrOpCall *c) { return unary(c, c->arg[0].t, kernel, set, TSR_K_##name); }
#define BINARY(op, kernel, set, name) \
    TsrStatus op(TsrOpCall *c) { return with_operands(c, kernel, set, loops_of(TSR_K_##name, NULL, 0)); }
UNARY(op_lgamma, "lgamma_vml_cpu", SET_HALF, lgamma)
UNARY(op_digamma, "digamma", SET_HALF, digamma)
UNARY(op_i0, "i0_vml_cpu", SET_HALF, i0)
UNARY(op_i1, "i1_cpu", SET_HALF, i1)
UNARY(op_i1e, "i1e_cpu", SET_HALF, i1e)
UNARY(op_bessel_j0, "bessel_j0_cpu", SET_SINGLE, j0)
UNARY(op_bessel_j1, "bessel_j1_cpu", SET_SINGLE, j1)
UNARY(op_bessel_y0, "bessel_y0_cpu", SET_SINGLE, y0)
UNARY(op_bessel_y1, "bessel_y1_cpu", SET_SINGLE, y1)
UNARY(op_modified_bessel_i0, "modified_bessel_i0_cpu", SET_SINGLE, i0)
UNARY(op_modified_bessel_i1, "modified_bessel_i1_cpu", SET_SINGLE, modified_i1)
UNARY(op_modified_bessel_k0, "modified_bessel_k0_cpu", SET_SINGLE, k0)
UNARY(op_modified_bessel_k1, "modified_bessel_k1_cpu", SET_SINGLE, k1)
UNARY(op_scaled_modified_bessel_k0, "scaled_modified_bessel_k0_cpu", SET_SINGLE, k0e)
UNARY(op_scaled_modified_bessel_k1, "scaled_modified_bessel_k1_cpu", SET_SINGLE, k1e)
UNARY(op_spherical_bessel_j0, "spherical_bessel_j0_cpu", SET_SINGLE, spherical_j0)
UNARY(op_airy_ai, "airy_ai_cpu", SET_SINGLE, airy_ai)
UNARY(op_ndtri, "ndtri_cpu", SET_SINGLE, ndtri)
UNARY(op_erfcx, "erfcx_cpu", SET_SINGLE, erfcx)
UNARY(op_log_ndtr, "log_ndtr_cpu", SET_SINGLE, log_ndtr)
BINARY(op_igammac, "igammac_cpu", SET_HALF | SET_NO_INT, igammac)
BINARY(op_zeta, "zeta_cpu", SET_SINGLE, zeta)
#undef UNARY
#undef BINARY

/* Floats with gaps, and those that are left after whole blocks, as PyTorch's loop of single numbers has them. */
static void igamma_floats(char *const *data, const int64_t *s, int64_t n, const void *p) {
    enum { BLOCK = 32, SIZE = sizeof(float) };
    bool dense = s[0] == SIZE && (s[1] == SIZE ? s[2] == SIZE || s[2] == 0 : s[1] == 0 && s[2] == SIZE);
    const int64_t whole = dense ? n / BLOCK * BLOCK : 0;
    (void)p;
    for (int64_t i = 0; i < n; i++)
        *(float *)(data[0] + i * s[0]) =
            tsr_sf_gammainc_f(*(const float *)(data[1] + i * s[1]), *(const float *)(data[2] + i * s[2]), i < whole);
}

TsrStatus op_igamma(TsrOpCall *c) {
    Loops loops = loops_of(TSR_K_igamma, NULL, 0);
    loops.f32 = igamma_floats;
    return with_operands(c, "igamma_cpu", SET_HALF | SET_NO_INT, loops);
}

static bool is_half(TsrDtype d) { return d == TSR_FLOAT16 || d == TSR_BFLOAT16; }

/* Of a kernel that takes the half dtype in which it rounds a step. */
static Loops rounding(TsrKernel k, const TsrDtype *d) { return loops_of(k, is_half(*d) ? d : NULL, is_half(*d)); }

TsrStatus op_entr(TsrOpCall *c) {
    return run(c, 1, &c->arg[0].t, "entr_cpu", SET_HALF, rounding(TSR_K_entr, &c->arg[0].t->dtype));
}

/* Half floats in two 32-byte vectors: PyTorch's vector loop takes as many at a time and works in float; its loop for
 * what is left, and for elements with gaps between them, rounds every step. */
enum { HALF_BLOCK = 32 };

static bool has_neighbours(const TsrTensor *t) {
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->strides[d] == 1 && t->sizes[d] > 1) return true;
    return false;
}

/* i0e of whole blocks and of the rest of contiguous halves, each by itself. */
static TsrStatus i0e_in_parts(TsrOpCall *c, TsrTensor *x) {
    TsrScope s = {0};
    const int64_t whole = x->numel / HALF_BLOCK * HALF_BLOCK, flat = x->numel;
    TsrTensor *line = MAKE(&s, tsr_tensor_new_reshape, x, 1, &flat),
              *head = MAKE(&s, tsr_tensor_new_slice, line, 0, 0, whole, 1),
              *tail = MAKE(&s, tsr_tensor_new_slice, line, 0, whole, flat, 1),
              *first = CALL(&s, "special.i0e", "t", head), *last = CALL(&s, "special.i0e", "t", tail),
              *both = CALL(&s, "cat", "Ti", 2, (TsrTensor *[]){first, last}, (int64_t)0),
              *shaped = MAKE(&s, tsr_tensor_new_reshape, both, tsr_ndim(x), x->sizes);
    return tsr_scope_return(c, &s, shaped);
}

TsrStatus op_i0e(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t;
    if (!is_half(x->dtype) || tsr_is_meta(x) || tsr_on_device(x)) return unary(c, x, "i0e_cpu", SET_HALF, TSR_K_i0e);
    if (x->numel < HALF_BLOCK || !has_neighbours(x))
        return run(c, 1, &x, "i0e_cpu", SET_HALF, rounding(TSR_K_i0e_steps, &x->dtype));
    if (x->numel % HALF_BLOCK != 0 && tsr_is_contiguous(x, TSR_CONTIGUOUS)) return i0e_in_parts(c, x);
    return unary(c, x, "i0e_cpu", SET_HALF, TSR_K_i0e);
}

TsrStatus op_xlog1py(TsrOpCall *c) {
    TSR_OWNED a = NULL;
    TSR_OWNED b = NULL;
    TsrDtype common;
    TSR_TRY(operands(&a, &b, c));
    if (tsr_result_type(&common, (TsrTensor *const[]){a, b}, 2) != TSR_OK) common = TSR_FLOAT32; /* run() says so */
    return run(c, 2, (TsrTensor *const[]){a, b}, "xlog1py_cpu", SET_HALF, rounding(TSR_K_xlog1py, &common));
}

/* (1 + erf(x / sqrt 2)) / 2, each step rounded to the dtype. */
TsrStatus op_ndtr(TsrOpCall *c) {
    TSR_OWNED scaled = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED sum = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tf", c->arg[0].t, M_SQRT1_2));
    TSR_TRY(tsr_invoke_new(&e, 1, "erf", "t", scaled));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tf", e, 1.0));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "mul", "tf", sum, 0.5), r);
}

/* ---- polygamma ---- */

/* In float the factorial is inf from 35 on, and nan where the zeta function is 0 beside it. */
static TsrStatus polygamma(TsrOpCall *c, int64_t n, TsrTensor *x) {
    if (n < 0) return tsr_error(TSR_RUNTIME_ERROR, "polygamma(n, x) does not support negative n.");
    if (n == 0) return unary(c, x, "digamma", SET_HALF, TSR_K_digamma);
    if (n == 1) return unary(c, x, "trigamma", SET_HALF, TSR_K_trigamma);
    const int order = (int)n, sign = order % 2 ? 1 : -1; /* PyTorch's is 32 bits wide, too, and comes round */
    const double logarithm = tsr_sf_lgamma(order + 1.0);
    const TsrPolygamma p = {sign * exp(logarithm), (float)sign * expf((float)logarithm), (int)(n + 1), x->dtype};
    return run(c, 1, &x, "polygamma", SET_HALF, loops_of(TSR_K_polygamma, &p, sizeof p));
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
#include "core/kernels/pointwise/orthogonal.inc"
#include "core/kernels/pointwise/orthogonal_blocks.inc"
#define R double
#define NAME(x) f64_##x
#define FN(name) name
#include "core/kernels/pointwise/orthogonal.inc"
#include "core/kernels/pointwise/orthogonal_blocks.inc"

#define POLYNOMIAL(name, kind_) \
    TsrStatus op_##name(TsrOpCall *c) { \
        OrthogonalKind kind = kind_; \
        return with_operands(c, #name "_cpu", SET_SINGLE, \
                             (Loops){f32_polynomials, f64_polynomials, &kind, 0, TSR_K_##name}); \
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
