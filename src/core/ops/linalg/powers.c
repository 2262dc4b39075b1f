/* Powers of matrices, and their exponential. */
#include <math.h>

#include "la.h"
#include "core/engine/device.h"
#include "core/engine/places.h"
#include "core/op/out.h"
#include "core/op/compose.h"
#include "core/mem.h"
#include "core/tensor/loan.h"

static TsrStatus identity_like(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, tsr_ndim(a), a->sizes, a->dtype, a->device));
    if (!tsr_is_meta(r)) TSR_TRY(tsr_la_set_identity(r));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* The square times a: PyTorch has the factors of its cubes in this order. */
static TsrStatus cube(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED square = NULL;
    TSR_TRY(tsr_matmul_new(&square, a, a));
    return tsr_matmul_new(out, square, a);
}

/* Binary powering: the result takes in the squares that n's bits ask for. */
static TsrStatus positive_power(TsrTensor **out, const TsrTensor *a, uint64_t n) {
    TSR_OWNED square = tsr_tensor_retain((TsrTensor *)a);
    TSR_OWNED result = NULL;
    TsrTensor *next;
    if (n == 3) return cube(out, a);
    while (n > 0) {
        if (n & 1) {
            if (result == NULL) {
                result = tsr_tensor_retain(square);
            } else {
                TSR_TRY(tsr_matmul_new(&next, result, square));
                tsr_owned_put_move(&result, next);
            }
        }
        n >>= 1;
        if (n == 0) break;
        TSR_TRY(tsr_matmul_new(&next, square, square));
        tsr_owned_put_move(&square, next);
        TSR_TRY(tsr_interrupt_check());
    }
    if (result == a) return tsr_tensor_new_clone(out, a, TSR_CONTIGUOUS);
    *out = tsr_owned_take(&result);
    return TSR_OK;
}

/* Whether PyTorch's last step is a product; else it copies a square. */
static bool ends_in_product(uint64_t n) { return n == 2 || (n & (n - 1)) != 0; }

/* The last product, or an inverse, goes straight into an out=, which must be of its dtype. */
static TsrStatus check_exact_out(const TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *out = c->out[0];
    if (out == NULL || out->dtype == a->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Expected out tensor to have dtype %s, but got %s instead",
                     tsr_dtype_c_name(a->dtype), tsr_dtype_c_name(out->dtype));
}

TsrStatus op_matrix_power(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    int64_t n = c->arg[1].i;
    TSR_OWNED inverse = NULL;
    TSR_OWNED info = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_power"));
    TSR_TRY(tsr_check_out_fits(c, 0, a->dtype));
    if (n == 0 &&
        (a->dtype == TSR_UINT16 || a->dtype == TSR_UINT32 || a->dtype == TSR_UINT64 || a->dtype == TSR_COMPLEX32))
        return tsr_not_implemented("eye", a->dtype);
    if (n == 0) return tsr_finish_move(c, identity_like(&r, a), r);
    if (n == 2) TSR_TRY(check_exact_out(c));
    if (n > 0) {
        TSR_TRY(positive_power(&r, a, (uint64_t)n));
        return tsr_finish_move(c, ends_in_product((uint64_t)n) ? check_exact_out(c) : TSR_OK, r);
    }
    TSR_TRY(tsr_la_check_float_high(a, "linalg.inv"));
    if (n == -1) TSR_TRY(check_exact_out(c));
    TSR_TRY(tsr_la_new_inverse(&inverse, &info, a));
    TSR_TRY(tsr_la_check_info(info, "linalg.inv", TSR_LA_SINGULAR_INVERSE));
    if (ends_in_product(-(uint64_t)n)) TSR_TRY(check_exact_out(c));
    if (n == -1) return tsr_return_move(c, tsr_owned_take(&inverse));
    return tsr_finish_move(c, positive_power(&r, inverse, -(uint64_t)n), r);
}

/* Optimized Taylor polynomials: P. Bader, S. Blanes, F. Casas, "Computing the Matrix Exponential with an Optimized
 * Taylor Polynomial Approximation", Mathematics 7 (2019) 1174. Degree d needs few products; `theta` is the largest
 * 1-norm for which it is exact to the dtype. */
enum { DEGREES = 6, MAX_POWERS = 5 };
static const double theta_f32[DEGREES] = {1.192092800768788e-07, 5.978858893805233e-04, 5.116619363445086e-02,
                                          5.800524627688768e-01, 1.461661507209034e+00, 3.010066362817634e+00};
static const double theta_f64[DEGREES] = {2.220446049250313e-16, 2.580956802971767e-08, 3.397168839976962e-04,
                                          4.991228871115323e-02, 2.996158913811580e-01, 1.090863719290036e+00};

typedef struct Powers {
    TsrTensor *p[MAX_POWERS];
    int n;
    TsrDtype dtype;
} Powers; /* I, A, A^2, A^3, A^6, each of a batch of matrices */

static void powers_free(Powers *w) {
    for (int i = 0; i < MAX_POWERS; i++) tsr_tensor_free(w->p[i]);
}

static TsrStatus powers_fill(Powers *w, const TsrTensor *a, int n) {
    static const int left[MAX_POWERS] = {0, 0, 1, 1, 3}, right[MAX_POWERS] = {0, 0, 1, 2, 3};
    w->n = n;
    w->dtype = a->dtype;
    TSR_TRY(identity_like(&w->p[0], a));
    w->p[1] = tsr_tensor_retain((TsrTensor *)a);
    for (int i = 2; i < n; i++) TSR_TRY(tsr_matmul_new(&w->p[i], w->p[left[i]], w->p[right[i]]));
    return TSR_OK;
}

/* `v` as an element of dtype holds it. */
static double rounded(TsrDtype dtype, double v) {
    char cell[16];
    tsr_scalar_store(tsr_scalar_float(v), dtype, cell);
    return tsr_scalar_to_double(tsr_scalar_load(dtype, cell));
}

static bool is_half(TsrDtype dtype) { return dtype == TSR_FLOAT16 || dtype == TSR_BFLOAT16; }

/* The i-th coefficient of a table. PyTorch hands its tables of doubles over as memory of the matrix's dtype: for the
 * half types the coefficients are the 16-bit words of the doubles, and so they are here. */
static double coefficient(TsrDtype dtype, const double *table, int i) {
    if (!is_half(dtype)) return dtype == TSR_FLOAT32 || dtype == TSR_COMPLEX64 ? (double)(float)table[i] : table[i];
    return tsr_scalar_to_double(tsr_scalar_load(dtype, (const char *)table + 2 * (size_t)i));
}

#define WEIGHTED_SUM(name, T) \
    static void name(void *out, void *const *p, const double *c, int n, int64_t count) { \
        for (int64_t k = 0; k < count; k++) { \
            T sum = 0; \
            for (int i = 0; i < n; i++) sum += ((const T *)p[i])[k] * (T)c[i]; \
            ((T *)out)[k] = sum; \
        } \
    }
WEIGHTED_SUM(weighted_floats, float)
WEIGHTED_SUM(weighted_doubles, double)

static void weighted_halves(TsrDtype dtype, char *out, void *const *p, const double *c, int n, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum = rounded(
                dtype,
                sum + rounded(dtype, tsr_scalar_to_double(tsr_scalar_load(dtype, (const char *)p[i] + 2 * k)) * c[i]));
        tsr_scalar_store(tsr_scalar_float(sum), dtype, out + 2 * k);
    }
}

/* The same on a device, a pass a step. */
static TsrStatus weighted_there(TsrTensor **out, const Powers *w, int first, const double *c, int n) {
    TsrScope s = {0};
    TsrTensor *sum = NULL;
    for (int i = 0; i < n; i++) {
        TsrTensor *term = CALL(&s, "mul", "tf", w->p[first + i], c[i]);
        sum = i == 0 ? term : CALL(&s, "add", "tt", sum, term);
    }
    return tsr_scope_end_new(out, &s, sum);
}

/* The sum of row `row` of the table of n columns times p[first] ..., rounded at each step. */
static TsrStatus combine(TsrTensor **out, const Powers *w, int first, int n, const double *table, int row) {
    double c[MAX_POWERS];
    void *p[MAX_POWERS];
    TSR_OWNED r = NULL;
    if (tsr_on_device(w->p[0])) {
        for (int i = 0; i < n; i++) c[i] = coefficient(w->dtype, table, row * n + i);
        return weighted_there(out, w, first, c, n);
    }
    TSR_TRY(tsr_tensor_new(&r, 3, w->p[0]->sizes, w->dtype, w->p[0]->device));
    int64_t count = r->numel * (tsr_dtype_is_complex(w->dtype) ? 2 : 1); /* both parts alike */
    for (int i = 0; i < n; i++) c[i] = coefficient(w->dtype, table, row * n + i), p[i] = tsr_data(w->p[first + i]);
    switch (tsr_dtype_real_of(w->dtype)) {
    case TSR_FLOAT32: weighted_floats(tsr_data(r), p, c, n, count); break;
    case TSR_FLOAT64: weighted_doubles(tsr_data(r), p, c, n, count); break;
    case TSR_FLOAT16:
    case TSR_BFLOAT16: weighted_halves(w->dtype, tsr_data(r), p, c, n, count); break;
    default: return tsr_not_implemented("matrix_exp", w->dtype);
    }
    TSR_TRY(tsr_interrupt_check());
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus add_product(TsrTensor **slot, const TsrTensor *x, const TsrTensor *y) { /* *slot += x @ y */
    TSR_OWNED product = NULL;
    TsrTensor *sum;
    TSR_TRY(tsr_matmul_new(&product, x, y));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tt", *slot, product));
    tsr_owned_put_move(slot, sum);
    return TSR_OK;
}

static TsrStatus taylor1(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_TRY(powers_fill(w, a, 2));
    return tsr_invoke_new(out, 1, "add", "tt", w->p[0], w->p[1]);
}

static TsrStatus taylor2(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_OWNED sum = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(tsr_invoke_new(&sum, 1, "add", "tt", w->p[0], w->p[1]));
    return tsr_invoke_new(out, 1, "add", "tts", sum, w->p[2], tsr_scalar_float(0.5));
}

static TsrStatus taylor4(TsrTensor **out, const TsrTensor *a, Powers *w) {
    TSR_OWNED inner = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(combine(&inner, w, 0, 3, (double[]){1.0 / 2, 1.0 / 6, 1.0 / 24}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[3], w->p[2], inner));
    return combine(out, w, 0, 4, (double[]){1, 1, 0, 1}, 0);
}

static TsrStatus taylor8(TsrTensor **out, const TsrTensor *a, Powers *w) {
    const double r = 13.30413469565007072504, x3 = 2.0 / 3, x1 = x3 * ((1 + r) / 88), x2 = x3 * ((1 + r) / 352);
    const double x4 = (-271 + 29 * r) / (315 * x3), x5 = (-11 + 11 * r) / (1260 * x3),
                 x6 = (-99 + 11 * r) / (5040 * x3), x7 = (89 - r) / (5040 * x3 * x3), y2 = (857 - 58 * r) / 630;
    TSR_OWNED c1 = NULL;
    TSR_OWNED c2 = NULL;
    TSR_OWNED c3 = NULL;
    TSR_TRY(powers_fill(w, a, 3));
    TSR_TRY(combine(&c1, w, 1, 2, (double[]){x1, x2}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[3], w->p[2], c1));
    TSR_TRY(combine(&c2, w, 2, 2, (double[]){x3, 1}, 0));
    TSR_TRY(combine(&c3, w, 0, 4, (double[]){x4, x5, x6, x7}, 0));
    TSR_TRY(tsr_matmul_new(&w->p[4], c2, c3));
    return combine(out, w, 0, 5, (double[]){1, 1, y2, 0, 1}, 0);
}

static TsrStatus taylor12(TsrTensor **out, const TsrTensor *a, Powers *w) {
    static const double b[4][4] = {
        {9.0198e-16, 0.46932117595418237389, -0.20099424927047284052, -0.04623946134063071740},
        {5.31597895759871264183, 1.19926790417132231573, 0.01179296240992997031, 0.01108844528519167989},
        {0.18188869982170434744, 0.05502798439925399070, 0.09351590770535414968, 0.00610700528898058230},
        {-2.0861320e-13, -0.13181061013830184015, -0.02027855540589259079, -0.00675951846863086359}};
    TsrTensor *s[4] = {NULL};
    TsrStatus status = powers_fill(w, a, 4);
    for (int i = 0; i < 4 && status == TSR_OK; i++) status = combine(&s[i], w, 0, 4, b[0], i);
    if (status == TSR_OK) status = add_product(&s[2], s[3], s[3]);
    TsrTensor *sum = NULL;
    if (status == TSR_OK) status = tsr_invoke_new(&sum, 1, "add", "tt", s[1], s[2]);
    if (status == TSR_OK) status = add_product(&s[0], sum, s[2]);
    if (status == TSR_OK) *out = tsr_tensor_retain(s[0]);
    for (int i = 0; i < 4; i++) tsr_tensor_free(s[i]);
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus taylor18(TsrTensor **out, const TsrTensor *a, Powers *w) {
    static const double b[5][5] = {
        {0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0},
        {0, 3.97849749499645077844e-01, 1.36783778460411720168e+00, 4.98289622525382669416e-01,
         -6.37898194594723280150e-04},
        {-1.09676396052962061844e+01, 1.68015813878906206114e+00, 5.71779846478865511061e-02,
         -6.98210122488052056106e-03, 3.34975017086070470649e-05},
        {-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02,
         2.95552570429315521194e-02, -1.39180257516060693404e-05},
        {0, 0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05}};
    TsrTensor *s[5] = {NULL}, *sum = NULL;
    TsrStatus status = powers_fill(w, a, 5);
    for (int i = 0; i < 5 && status == TSR_OK; i++) status = combine(&s[i], w, 0, 5, b[0], i);
    if (status == TSR_OK) status = add_product(&s[3], s[0], s[4]);
    if (status == TSR_OK) status = tsr_invoke_new(&sum, 1, "add", "tt", s[2], s[3]);
    if (status == TSR_OK) status = add_product(&s[1], sum, s[3]);
    if (status == TSR_OK) *out = tsr_tensor_retain(s[1]);
    for (int i = 0; i < 5; i++) tsr_tensor_free(s[i]);
    tsr_tensor_free(sum);
    return status;
}

static TsrStatus taylor(TsrTensor **out, const TsrTensor *a, int degree) {
    Powers w = {.n = 0};
    TsrStatus s;
    switch (degree) {
    case 0: s = taylor1(out, a, &w); break;
    case 1: s = taylor2(out, a, &w); break;
    case 2: s = taylor4(out, a, &w); break;
    case 3: s = taylor8(out, a, &w); break;
    case 4: s = taylor12(out, a, &w); break;
    default: s = taylor18(out, a, &w); break;
    }
    powers_free(&w);
    return s;
}

/* The 1-norms of a batch of matrices, as doubles of the host, which waits for them. */
static TsrStatus norms_new(TsrTensor **out, const TsrTensor *a) {
    TSR_OWNED sizes = NULL;
    TSR_OWNED sums = NULL;
    TSR_OWNED norms = NULL;
    TSR_TRY(tsr_invoke_new(&sizes, 1, "abs", "t", a));
    TSR_TRY(tsr_invoke_new(&sums, 1, "sum", "tI", sizes, 1, (int64_t[]){-2}));
    TSR_TRY(tsr_invoke_new(&norms, 1, "amax", "tI", sums, 1, (int64_t[]){-1}));
    TSR_OWNED wide = NULL;
    TSR_TRY(tsr_tensor_new_cast(&wide, norms, TSR_FLOAT64));
    return tsr_new_there(out, wide, TSR_DEVICE_CPU);
}

/* How often the scaled matrix is squared. */
static int squarings_for(TsrDtype real, double norm, double theta) {
    double ratio = rounded(real, norm / theta);
    return norm > theta && isfinite(ratio) ? (int)ceil(rounded(real, log2(ratio))) : 0;
}

/* What is done with a matrix of this norm: the Taylor polynomial of that number, or the last one and squarings for the
 * numbers that follow; -1: nothing. */
static int plan_for(TsrDtype dtype, double norm) {
    const double *theta = dtype == TSR_FLOAT32 || dtype == TSR_COMPLEX64 ? theta_f32 : theta_f64;
    TsrDtype real = tsr_dtype_real_of(dtype);
    int degree = 0;
    if (!isfinite(norm)) return -1;
    while (degree < DEGREES - 1 && norm > rounded(real, theta[degree])) degree++;
    return degree + squarings_for(real, norm, theta[DEGREES - 1]);
}

/* The exponentials of a contiguous batch of matrices with one plan. */
static TsrStatus exp_alike(TsrTensor **out, const TsrTensor *a, int plan) {
    TSR_OWNED scaled = NULL;
    TSR_OWNED r = NULL;
    int squarings = TSR_MAX(plan - (DEGREES - 1), 0);
    if (plan < 0) { /* inf and nan spread over everything */
        TSR_TRY(tsr_tensor_new(out, 3, a->sizes, a->dtype, a->device));
        return tsr_tensor_fill(*out, tsr_scalar_float(NAN));
    }
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "tf", a, ldexp(1, -squarings)));
    TSR_TRY(taylor(&r, scaled, TSR_MIN(plan, DEGREES - 1)));
    for (int k = 0; k < squarings; k++) {
        TsrTensor *next;
        TSR_TRY(tsr_matmul_new(&next, r, r));
        tsr_owned_put_move(&r, next);
        TSR_TRY(tsr_interrupt_check());
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* Exponentials of the matrices `numbers` of a batch, put in their places. */
static TsrStatus exp_some(TsrTensor *out, const TsrTensor *a, const TsrTensor *numbers, int plan) {
    TSR_OWNED which = NULL;
    TSR_OWNED some = NULL;
    TSR_OWNED r = NULL;
    TsrTensor *same;
    if (numbers->numel == a->sizes[0]) {
        TSR_TRY(exp_alike(&r, a, plan));
        return tsr_tensor_copy(out, r);
    }
    TSR_TRY(tsr_new_there(&which, numbers, a->device));
    TSR_TRY(tsr_invoke_new(&some, 1, "index_select", "tit", a, (int64_t)0, which));
    TSR_TRY(exp_alike(&r, some, plan));
    TSR_TRY(tsr_invoke_new(&same, 1, "index_copy", "!ttitt", out, out, (int64_t)0, which, r));
    tsr_tensor_free(same);
    return TSR_OK;
}

enum { DONE = -2 };

/* All matrices with the plan of matrix `first`, whose plans are then DONE. */
static TsrStatus exp_like(TsrTensor *out, const TsrTensor *a, int *plans, int64_t first) {
    TSR_OWNED which = NULL;
    int64_t count = 0, batches = a->sizes[0];
    int plan = plans[first];
    for (int64_t i = first; i < batches; i++) count += plans[i] == plan;
    TSR_TRY(tsr_tensor_new(&which, 1, &count, TSR_INT64, TSR_DEVICE_CPU));
    int64_t *at = tsr_data(which);
    for (int64_t i = first; i < batches; i++) {
        if (plans[i] != plan) continue;
        *at++ = i;
        plans[i] = DONE;
    }
    return exp_some(out, a, which, plan);
}

static TsrStatus exp_all(TsrTensor *out, const TsrTensor *a) {
    int64_t n = tsr_la_rows(a), batches = tsr_la_batches(a);
    TSR_OWNED flat = NULL; /* a view, which PyTorch refuses where there is none */
    TSR_OWNED plain = NULL;
    TSR_OWNED oflat = NULL;
    TSR_OWNED norms = NULL;
    TSR_TRY(tsr_invoke_new(&flat, 1, "view", "tI", a, 3, (int64_t[]){batches, n, n}));
    TSR_TRY(tsr_tensor_new_contiguous(&plain, flat, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_reshaped_view(&oflat, out, 3, (int64_t[]){batches, n, n}));
    TSR_TRY(norms_new(&norms, plain));
    int *plans = tsr_malloc((size_t)batches * sizeof *plans);
    if (plans == NULL) return tsr_error_no_memory((size_t)batches * sizeof *plans);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < batches; i++) plans[i] = plan_for(a->dtype, ((const double *)tsr_data(norms))[i]);
    for (int64_t i = 0; i < batches && status == TSR_OK; i++)
        if (plans[i] != DONE) status = exp_like(oflat, plain, plans, i);
    tsr_free(plans);
    return status;
}

TsrStatus op_matrix_exp(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_la_check_square(a, "linalg.matrix_exp"));
    TSR_TRY(tsr_la_check_float(a, "linalg.matrix_exp"));
    if (a->numel == 0 && tsr_la_rows(a) > 0 && tsr_in(TSR_BITS_FLOAT8, a->dtype))
        return tsr_not_implemented(tsr_la_rows(a) > 1 ? "le_cpu" : "exp_vml_cpu", a->dtype);
    if (tsr_la_rows(a) == 0) TSR_TRY(tsr_tensor_new_clone(&r, a, TSR_PRESERVE));
    else TSR_TRY(tsr_tensor_new(&r, tsr_ndim(a), a->sizes, a->dtype, a->device));
    if (r->numel == 0 || tsr_is_meta(r)) return tsr_return_move(c, tsr_owned_take(&r));
    if (tsr_la_rows(a) == 1) {
        TSR_OWNED e = NULL;
        TSR_TRY(tsr_invoke_new(&e, 1, "exp", "t", a));
        return tsr_return_move(c, tsr_owned_take(&e));
    } else {
        TSR_TRY(exp_all(r, a));
    }
    return tsr_return_move(c, tsr_owned_take(&r));
}
