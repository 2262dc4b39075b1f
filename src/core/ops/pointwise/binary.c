/* binary.c: comparisons, logic, bits, and other operators on two tensors. */
#include "pointwise.h"

#include "core/tensor/loan.h"
#include "core/tensor/owned.h"

#include <string.h>

#define EVERYTHING (D_INT | D_BARE | D_FLOAT | D_FLOAT8 | D_COMPLEX | D_CHALF | D(BCOMPLEX32) | D_BOOL)
#define ORDERED (D_INT | D_FLOAT | D_BOOL)
#define BINARY(op, kernel, text, ...) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##kernel, text, __VA_ARGS__}; \
        return tsr_pw_call(c, &rules, 2); \
    }

BINARY(eq, eq, "eq_cpu", EVERYTHING, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(ne, ne, "ne_cpu", EVERYTHING, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(lt, lt, "lt_cpu", ORDERED, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(le, le, "le_cpu", ORDERED, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(gt, gt, "gt_cpu", ORDERED, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(ge, ge, "ge_cpu", ORDERED, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(logical_and, logical_and, "logical_and_cpu", ORDERED | D_COMPLEX, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(logical_or, logical_or, "logical_or_cpu", ORDERED | D_COMPLEX, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(logical_xor, logical_xor, "logical_xor_cpu", ORDERED | D_COMPLEX, TSR_ITER_OUT_BOOL, 1, 0, NULL)
BINARY(bitwise_and, bitwise_and, "bitwise_and_cpu", D_INT | D_BARE | D_BOOL, 0, 1, 0, NULL)
BINARY(bitwise_or, bitwise_or, "bitwise_or_cpu", D_INT | D_BARE | D_BOOL, 0, 1, 0, NULL)
BINARY(bitwise_xor, bitwise_xor, "bitwise_xor_cpu", D_INT | D_BARE | D_BOOL, 0, 1, 0, NULL)
BINARY(lshift, lshift, "lshift_cpu", D_INT, 0, 1, 0, NULL)
BINARY(rshift, rshift, "rshift_cpu", D_INT, 0, 1, 0, NULL)
BINARY(gcd, gcd, "gcd_cpu", D_INT, 0, 32, 0, NULL)
BINARY(lcm, lcm, "lcm_cpu", D_INT, 0, 32, 0, NULL)
BINARY(maximum, maximum, "maximum_cpu", D_INT | D_BARE | D_FLOAT | D_BOOL, 0, 1, TSR_TYPE_ERROR,
       "maximum not implemented for complex tensors.")
BINARY(minimum, minimum, "minimum_cpu", D_INT | D_BARE | D_FLOAT | D_BOOL, 0, 1, TSR_TYPE_ERROR,
       "minimum not implemented for complex tensors.")
BINARY(atan2, atan2, "atan2_cpu", D_FLOAT, TSR_ITER_INT_TO_FLOAT, 24, 0, NULL)
BINARY(copysign, copysign, "copysign_cpu", D_FLOAT, TSR_ITER_INT_TO_FLOAT, 1, 0, NULL)
BINARY(hypot, hypot, "hypot_cpu", D_FLOAT, 0, 8, 0, NULL)
BINARY(logaddexp, logaddexp, "logaddexp_cpu", D_FLOAT | D_COMPLEX, 0, 32, 0, NULL)
BINARY(logaddexp2, logaddexp2, "logaddexp2_cpu", D_FLOAT, 0, 32, 0, NULL)

/* The next number of the common dtype: a half beside another dtype is not widened first. */
TsrStatus op_nextafter(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_nextafter, "nextafter_cpu", D_FLOAT, 0, 8, 0, NULL};
    TsrTensor *in[2] = {c->arg[0].t, c->arg[1].t};
    TsrDtype common;
    TSR_TRY(tsr_check_out_overlap(c->out[0], NULL));
    TSR_TRY(tsr_result_type(&common, in, 2));
    TSR_OWNED x = NULL;
    TSR_OWNED y = NULL;
    if (tsr_in(TSR_BITS_HALF, common)) {
        TSR_TRY(tsr_tensor_new_cast(&x, in[0], common));
        TSR_TRY(tsr_tensor_new_cast(&y, in[1], common));
        in[0] = x, in[1] = y;
    }
    return tsr_pw_run(c, &rules, 2, in);
}

TsrStatus op_xlogy(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_xlogy, "xlogy_cpu", D_FLOAT, TSR_ITER_INT_TO_FLOAT, 16, 0, NULL};
    TsrOperands o;
    TsrPw pw;
    TSR_TRY(tsr_operands_take(&o, c, 2, NULL));
    TsrStatus s = tsr_pw_begin(&pw, c, &rules, 2, o.t);
    bool rounds = s == TSR_OK && pw.it.common != pw.it.dtype;
    if (s == TSR_OK)
        s = tsr_pw_finish(&pw, TSR_K_xlogy, rounds ? &pw.it.common : NULL, rounds ? sizeof pw.it.common : 0);
    tsr_operands_release(&o);
    return s;
}

/* fmax and fmin of integers are plain maximum and minimum. */
#define FEXTREME(op, plain) \
    TsrStatus op_##op(TsrOpCall *c) { \
        static const TsrPointwise rules = {TSR_K_##op, #op "_cpu",     D_INT | D_BARE | D_FLOAT | D_BOOL,          0, \
                                           1,          TSR_TYPE_ERROR, #op " not implemented for complex tensors."}; \
        TsrTensor *in[] = {c->arg[0].t, c->arg[1].t}; \
        TsrPw pw; \
        TSR_TRY(tsr_pw_begin(&pw, c, &rules, 2, in)); \
        return tsr_pw_finish(&pw, tsr_dtype_is_float(pw.it.common) ? TSR_K_##op : TSR_K_##plain, NULL, 0); \
    }
FEXTREME(fmax, maximum)
FEXTREME(fmin, minimum)

TsrStatus op_heaviside(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_heaviside,
                                       "heaviside_cpu",
                                       ORDERED,
                                       0,
                                       1,
                                       TSR_NOT_IMPLEMENTED_ERROR,
                                       "heaviside is not yet implemented for complex tensors."};
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t, *out = c->out[0];
    bool complex = tsr_dtype_is_complex(a->dtype) || tsr_dtype_is_complex(b->dtype);
    if (out != NULL && tsr_dtype_is_complex(out->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "heaviside is not yet implemented for complex tensors.");
    if (!complex && (a->dtype != b->dtype || (out != NULL && out->dtype != a->dtype)))
        return tsr_error(TSR_RUNTIME_ERROR, "heaviside is not yet implemented for tensors with different dtypes.");
    return tsr_pw_call(c, &rules, 2);
}

/* Reflected bit operators: the number stands first. */
static TsrStatus reflected(TsrOpCall *c, const TsrPointwise *rules) {
    static const int order[] = {1, 0};
    TsrOperands o;
    TSR_TRY(tsr_operands_take(&o, c, 2, order));
    TsrStatus s = tsr_pw_run(c, rules, 2, o.t);
    tsr_operands_release(&o);
    return s;
}

TsrStatus op_rlshift(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_lshift, "lshift_cpu", D_INT, 0, 1, 0, NULL};
    return reflected(c, &rules);
}

TsrStatus op_rrshift(TsrOpCall *c) {
    static const TsrPointwise rules = {TSR_K_rshift, "rshift_cpu", D_INT, 0, 1, 0, NULL};
    return reflected(c, &rules);
}

/* --- complex from two reals --- */

#define JOIN(name, T, RE, IM) \
    static void name(char *const *data, const int64_t *s, int64_t n, const void *p) { \
        (void)p; \
        for (int64_t i = 0; i < n; i++) { \
            const T x = *(const T *)(data[1] + i * s[1]), y = *(const T *)(data[2] + i * s[2]); \
            T *o = (T *)(data[0] + i * s[0]); \
            o[0] = RE; \
            o[1] = IM; \
        } \
    }
JOIN(complex_float, float, x, y)
JOIN(complex_double, double, x, y)
JOIN(polar_float, float, x *__builtin_cosf(y), x *__builtin_sinf(y))
JOIN(polar_double, double, x *__builtin_cos(y), x *__builtin_sin(y))

static TsrStatus join(TsrOpCall *c, TsrLoop narrow, TsrLoop wide, TsrKernel kernel) {
    TsrTensor *a = c->arg[0].t, *b = c->arg[1].t, *result = NULL;
    const uint32_t allowed = D(FLOAT16) | D(FLOAT32) | D(FLOAT64);
    const char *na = tsr_dtype_scalar_name(a->dtype), *nb = tsr_dtype_scalar_name(b->dtype);
    if (!(allowed >> a->dtype & 1) || !(allowed >> b->dtype & 1))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "Expected both inputs to be Half, Float or Double tensors but got %s and %s", na, nb);
    if (a->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected object of scalar type %s but got scalar type %s for second argument", na, nb);
    TsrDtype out = tsr_dtype_complex_of(a->dtype);
    if (c->out[0] != NULL && c->out[0]->dtype != out)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected object of scalar type %s but got scalar type %s for argument 'out'",
                         tsr_dtype_scalar_name(out), tsr_dtype_scalar_name(c->out[0]->dtype));
    TsrIter it;
    TSR_TRY(
        tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                           .out = {c->out[0]},
                                           .nin = 2,
                                           .in = {a, b},
                                           .out_dtype = &out,
                                           .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT | TSR_ITER_CHECK_CAST}));
    TsrStatus s = tsr_iter_run_kernel(&it, it.dtype == TSR_FLOAT64 ? wide : narrow, kernel, NULL, 0);
    s = tsr_iter_end_move(&it, s, &result);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_complex(TsrOpCall *c) { return join(c, complex_float, complex_double, TSR_K_complex); }
TsrStatus op_polar(TsrOpCall *c) { return join(c, polar_float, polar_double, TSR_K_polar); }

/* --- closeness --- */

/* name(a, b) as an owned tensor; frees a and b that are marked as consumed, also on failure. */
static TsrStatus step(TsrTensor **out, const char *name, TsrTensor *a, bool move_a, TsrTensor *b, bool move_b) {
    TsrStatus s = b != NULL ? tsr_invoke_new(out, 1, name, "tt", a, b) : tsr_invoke_new(out, 1, name, "t", a);
    if (move_a) tsr_tensor_free(a);
    if (move_b) tsr_tensor_free(b);
    return s;
}

static TsrStatus times(TsrTensor **out, TsrTensor *t, double factor) {
    TsrTensor *f;
    TSR_TRY(tsr_tensor_new_wrapped(&f, tsr_scalar_float(factor)));
    return step(out, "mul", t, false, f, true);
}

static TsrStatus plus_move(TsrTensor **out, TsrTensor *t, double term) {
    TsrTensor *f;
    TsrStatus s = tsr_tensor_new_wrapped(&f, tsr_scalar_float(term));
    if (s != TSR_OK) {
        tsr_tensor_free(t);
        return s;
    }
    return step(out, "add", f, true, t, true);
}

/* isfinite(|a - b|) and |a - b| <= atol + |rtol * b| */
static TsrStatus within_tolerance(TsrTensor **out, TsrTensor *a, TsrTensor *b, double rtol, double atol) {
    TsrTensor *allowed, *actual, *finite, *below;
    TSR_TRY(times(&allowed, b, rtol));
    TSR_TRY(step(&allowed, "abs", allowed, true, NULL, false));
    TSR_TRY(plus_move(&allowed, allowed, atol));
    TsrStatus s = step(&actual, "sub", a, false, b, false);
    if (s == TSR_OK) s = step(&actual, "abs", actual, true, NULL, false);
    if (s != TSR_OK) {
        tsr_tensor_free(allowed);
        return s;
    }
    s = step(&finite, "isfinite", actual, false, NULL, false);
    if (s != TSR_OK) {
        tsr_tensor_free(allowed);
        tsr_tensor_free(actual);
        return s;
    }
    s = step(&below, "le", actual, true, allowed, true);
    if (s != TSR_OK) {
        tsr_tensor_free(finite);
        return s;
    }
    return step(out, "logical_and", finite, true, below, true);
}

static TsrStatus both_nan(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    TsrTensor *na, *nb;
    TSR_TRY(step(&na, "isnan", a, false, NULL, false));
    TsrStatus s = step(&nb, "isnan", b, false, NULL, false);
    if (s != TSR_OK) {
        tsr_tensor_free(na);
        return s;
    }
    return step(out, "logical_and", na, true, nb, true);
}

/* *close |= *more in place, consuming the second. */
static TsrStatus merge(TsrTensor **close, TsrStatus s, TsrTensor *more) {
    TsrTensor *merged = NULL;
    if (s == TSR_OK) s = tsr_invoke_new(&merged, 1, "logical_or", "!ttt", *close, *close, more);
    tsr_tensor_free(merged);
    tsr_tensor_free(more);
    if (s != TSR_OK) tsr_tensor_reset(close);
    return s;
}

static TsrStatus is_close(TsrTensor **out, TsrTensor *a, TsrTensor *b, double rtol, double atol, bool equal_nan) {
    if (a->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "%s did not match %s", tsr_dtype_scalar_name(a->dtype),
                         tsr_dtype_scalar_name(b->dtype));
    if (rtol < 0) return tsr_error(TSR_RUNTIME_ERROR, "rtol must be greater than or equal to zero, but got %g", rtol);
    if (atol < 0) return tsr_error(TSR_RUNTIME_ERROR, "atol must be greater than or equal to zero, but got %g", atol);
    TsrTensor *close;
    bool floats = tsr_dtype_is_float(a->dtype) || tsr_dtype_is_complex(a->dtype);
    TSR_TRY(step(&close, "eq", a, false, b, false));
    if (equal_nan && floats) {
        TsrTensor *nan = NULL;
        TsrStatus s = both_nan(&nan, a, b);
        TSR_TRY(merge(&close, s, nan));
    }
    if (rtol == 0 && atol == 0) {
        *out = close;
        return TSR_OK;
    }
    TsrTensor *other, *minuend = NULL, *near = NULL;
    TsrStatus s = tsr_tensor_new_cast(&other, b, floats ? b->dtype : tsr_default_dtype());
    if (s == TSR_OK) {
        s = tsr_tensor_new_cast(&minuend, a,
                                a->dtype == TSR_BOOL ? tsr_default_dtype() : a->dtype); /* bools have no difference */
        if (s == TSR_OK) s = within_tolerance(&near, minuend, other, rtol, atol);
        tsr_tensor_free(minuend);
        tsr_tensor_free(other);
    }
    TSR_TRY(merge(&close, s, near));
    *out = close;
    return TSR_OK;
}

TsrStatus op_isclose(TsrOpCall *c) {
    TsrTensor *result = NULL;
    TsrStatus s = is_close(&result, c->arg[0].t, c->arg[1].t, c->arg[2].f, c->arg[3].f, c->arg[4].b);
    return tsr_finish_move(c, s, result);
}

/* Whether every element of a bool tensor is true; consumes it. */
static TsrStatus all_true_move(bool *all, TsrTensor *mask) {
    TsrTensor *flat = NULL;
    TsrStatus s = tsr_is_meta(mask) ? tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors")
                                    : tsr_tensor_new_contiguous(&flat, mask, TSR_CONTIGUOUS);
    tsr_tensor_free(mask);
    TSR_TRY(s);
    s = tsr_on_host("allclose", flat,
                    (*all = flat->numel == 0 || memchr(tsr_data(flat), 0, (size_t)flat->numel) == NULL, TSR_OK));
    tsr_tensor_free(flat);
    return s;
}

TsrStatus op_allclose(TsrOpCall *c) {
    TsrTensor *mask = NULL;
    bool all = true;
    TSR_TRY(is_close(&mask, c->arg[0].t, c->arg[1].t, c->arg[2].f, c->arg[3].f, c->arg[4].b));
    TSR_TRY(all_true_move(&all, mask));
    return tsr_return_bool(c, all);
}

/* Two dense tensors, by blocks, until one differs. */
typedef struct Comparison {
    TsrLoop loop;
    const char *a, *b;
    int64_t item;
    _Atomic bool differ;
} Comparison;

static void compare_blocks(int64_t begin, int64_t end, void *user) {
    /* Elements compared before the result is looked at: a difference ends the comparison within one block. */
    enum { BLOCK = 4096 };
    Comparison *c = user;
    uint8_t same[BLOCK];
    for (int64_t i = begin; i < end && !c->differ; i += BLOCK) {
        int64_t n = TSR_MIN(end - i, (int64_t)BLOCK);
        c->loop((char *[]){(char *)same, (char *)(uintptr_t)c->a + i * c->item, (char *)(uintptr_t)c->b + i * c->item},
                (int64_t[]){1, c->item, c->item}, n, NULL);
        if (memchr(same, 0, (size_t)n) != NULL) c->differ = true;
    }
}

static TsrStatus check_equal(TsrTensor *a, TsrTensor *b) {
    const unsigned unknown = TSR_BIT(COMPLEX32) | TSR_BITS_FLOAT8;
    TsrDtype common = a->dtype;
    if (tsr_is_same_view(a, b) && !tsr_is_meta(a) && tsr_in(unknown, a->dtype))
        return tsr_not_implemented("equal_notnan_cpu", a->dtype);
    if (a->dtype != b->dtype) TSR_TRY(tsr_result_type(&common, (TsrTensor *[]){a, b}, 2));
    return common == TSR_COMPLEX32 ? tsr_not_implemented("equal_cpu", common) : TSR_OK;
}

static TsrStatus equal_by_mask(bool *equal, TsrTensor *a, TsrTensor *b) {
    TsrTensor *mask = NULL;
    TSR_TRY(tsr_invoke_new(&mask, 1, "eq", "tt", a, b));
    return all_true_move(equal, mask);
}

/* By parts along the first dimension, until one differs. */
static TsrStatus equal_by_parts(bool *equal, TsrTensor *a, TsrTensor *b) {
    /* Elements of a part, whose mask stays in the second cache. */
    enum { PART = 65536 };
    *equal = true;
    if (a->numel <= PART || a->device.type != TSR_CPU || b->device.type != TSR_CPU || tsr_is_sparse(a) ||
        tsr_is_sparse(b))
        return equal_by_mask(equal, a, b);
    int64_t rows = a->sizes[0], step = TSR_MAX(rows / (a->numel / PART + 1), (int64_t)1);
    for (int64_t at = 0; at < rows && *equal; at += step) {
        TSR_OWNED some = NULL;
        TSR_OWNED others = NULL;
        TSR_TRY(tsr_tensor_new_narrow(&some, a, 0, at, TSR_MIN(step, rows - at)));
        TSR_TRY(tsr_tensor_new_narrow(&others, b, 0, at, TSR_MIN(step, rows - at)));
        TSR_TRY(equal_by_mask(equal, some, others));
    }
    return TSR_OK;
}

TsrStatus op_equal(TsrOpCall *c) {
    TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    bool equal = true;
    if (!tsr_same_sizes(a, b)) return tsr_return_bool(c, false);
    TSR_TRY(check_equal(a, b));
    bool exact = !tsr_dtype_is_float(a->dtype) && !tsr_dtype_is_complex(a->dtype) &&
                 tsr_dtype_is_pod(a->dtype); /* no nan, which is not equal to itself */
    if (exact && a->dtype == b->dtype && tsr_is_same_view(a, b) && !tsr_is_meta(a) && !tsr_is_sparse(a))
        return tsr_return_bool(c, true);
    Comparison compared = {tsr_kernel(TSR_K_eq, a->dtype), tsr_data(a), tsr_data(b), (int64_t)tsr_itemsize(a), false};
    bool dense = a->dtype == b->dtype && tsr_is_contiguous(a, TSR_CONTIGUOUS) && tsr_is_contiguous(b, TSR_CONTIGUOUS) &&
                 a->device.type == TSR_CPU && b->device.type == TSR_CPU;
    if (dense && compared.loop != NULL && ((a->flags | b->flags) & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) == 0) {
        TSR_TRY(tsr_parallel_for(a->numel, 4 * tsr_grain(1), compare_blocks, &compared));
        return tsr_return_bool(c, !compared.differ);
    }
    TSR_TRY(equal_by_parts(&equal, a, b));
    return tsr_return_bool(c, equal);
}
