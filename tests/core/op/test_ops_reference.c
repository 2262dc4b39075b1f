/* Pointwise operators and reductions against the slow reference, for every dtype and layout; and that answers do not
 * depend on the number of threads. TSR_TEST_OP, TSR_TEST_SEED, TSR_TEST_ROUNDS as in test_ops_properties.c. */
#include "core/op/slow_reference.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int failures, compared;

static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_BFLOAT16, TSR_INT64,     TSR_INT32,
                                  TSR_INT16,   TSR_INT8,    TSR_UINT8,   TSR_BOOL,     TSR_COMPLEX64, TSR_COMPLEX128};

/* ---- numbers ---- */

static int mantissa_bits(TsrDtype dtype) {
    switch (tsr_dtype_real_of(dtype)) {
    case TSR_FLOAT64: return 52;
    case TSR_FLOAT16: return 10;
    case TSR_BFLOAT16: return 7;
    default: return 23;
    }
}

static long double greatest(TsrDtype dtype) {
    switch (tsr_dtype_real_of(dtype)) {
    case TSR_FLOAT64: return 0x1.fffffffffffffp1023L;
    case TSR_FLOAT16: return 65504;
    case TSR_BFLOAT16: return 0x1.fep127L;
    default: return 0x1.fffffep127L;
    }
}

static long double real_value(TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: return s.b;
    case TSR_SCALAR_INT: return (long double)s.i;
    case TSR_SCALAR_UINT: return (long double)s.u;
    case TSR_SCALAR_FLOAT: return s.f;
    default: return s.c.re;
    }
}

static long double element(const TsrTensor *t, int64_t i) {
    return real_value(tsr_scalar_load(t->dtype, call_element(t, i)));
}

/* In an integer dtype: modulo its range; bool: whether it is not 0. */
static long double wrapped(long double x, TsrDtype dtype) {
    char bytes[16];
    tsr_scalar_store(tsr_scalar_int((int64_t)x), dtype, bytes);
    return real_value(tsr_scalar_load(dtype, bytes));
}

/* `scale`: the size of the numbers that the answer was made of. */
static bool agrees(long double got, long double want, TsrDtype dtype, double units, long double scale) {
    if (got == want) return true;
    if (!tsr_dtype_is_float(dtype) && !tsr_dtype_is_complex(dtype))
        return !(fabsl(want) < 0x1p62L) || got == wrapped(want, dtype);
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
    if (isinf(want) || fabsl(want) > greatest(dtype)) return fabsl(got) >= greatest(dtype) && (got > 0) == (want > 0);
    if (isinf(got)) return fabsl(want) >= greatest(dtype) * (1 - ldexpl(1, -mantissa_bits(dtype)));
    long double room = ldexpl(fmaxl(fabsl(want), units >= 16 ? fmaxl(scale, 1) : 0), -mantissa_bits(dtype));
    long double least = tsr_dtype_real_of(dtype) == TSR_FLOAT16   ? 0x1p-24L
                        : tsr_dtype_real_of(dtype) == TSR_FLOAT64 ? 0x1p-1022L
                                                                  : 0x1p-126L; /* subnormal numbers may become 0 */
    return fabsl(got - want) <= fmaxl(units, 0.5) * room + least;
}

static void differs(const OpCall *call, int64_t i, long double got, long double want) {
    failures++;
    fprintf(stderr, "%s: element %lld is %.20Lg, should be %.20Lg\n", call->schema->name, (long long)i, got, want);
    call_describe(call);
}

/* ---- pointwise ---- */

/* The row-major number, in an operand, of what broadcasts to element `number` of `whole`. */
static int64_t broadcast_number(const TsrTensor *operand, const TsrTensor *whole, int64_t number) {
    int64_t at = 0, step = 1;
    for (int d = tsr_ndim(whole) - 1, o = tsr_ndim(operand) - 1; o >= 0; d--, o--) {
        int64_t place = number % whole->sizes[d];
        number /= whole->sizes[d];
        if (operand->sizes[o] != 1) at += place * step;
        step *= operand->sizes[o];
    }
    return at;
}

static long double operand(const OpCall *call, int which, const TsrTensor *whole, int64_t i) {
    const TsrArg *a = &call->arg[which];
    return a->kind == TSR_ARG_SCALAR ? real_value(a->s) : element(a->t, broadcast_number(a->t, whole, i));
}

static bool check_pointwise(const OpCall *call, const SlowOp *slow, const TsrTensor *r) {
    for (int64_t i = 0; i < r->numel; i++) {
        long double x = operand(call, 0, r, i),
                    want = slow->kind == SLOW_UNARY ? slow->unary(x) : slow->binary(x, operand(call, 1, r, i));
        long double got = element(r, i);
        compared++;
        if (agrees(got, want, r->dtype, slow->units, 0)) continue;
        differs(call, i, got, want);
        return false;
    }
    return true;
}

static bool check_complex(const OpCall *call, const SlowOp *slow, const TsrTensor *r) {
    for (int64_t i = 0; i < r->numel; i++) {
        TsrScalar x = tsr_scalar_load(call->arg[0].t->dtype, call_element(call->arg[0].t, i)),
                  got = tsr_scalar_load(r->dtype, call_element(r, i));
        double re = x.c.re, im = x.c.im, got_im = got.kind == TSR_SCALAR_COMPLEX ? got.c.im : 0;
        slow->pair(&re, &im);
        compared++;
        if (agrees(real_value(got), re, r->dtype, TSR_MAX(slow->units, 16), hypot(re, im)) &&
            agrees(got_im, im, r->dtype, TSR_MAX(slow->units, 16), hypot(re, im)))
            continue;
        differs(call, i, real_value(got), re);
        return false;
    }
    return true;
}

/* ---- reductions ---- */

enum { MOST_ELEMENTS = 4096 };

/* Which dimensions the call reduces, one bit each. */
static unsigned reduced_dims(const OpCall *call, const TsrTensor *x) {
    unsigned all = (1u << tsr_ndim(x)) - 1;
    for (int i = 0; i < call->schema->nparams; i++) {
        const TsrArg *a = &call->arg[i];
        if (strcmp(call->schema->params[i].name, "dim") != 0 || tsr_ndim(x) == 0) continue;
        if (a->kind == TSR_ARG_INT) return 1u << (a->i < 0 ? a->i + tsr_ndim(x) : a->i);
        unsigned bits = 0;
        for (int k = 0; a->kind == TSR_ARG_INTS && k < a->n; k++)
            bits |= 1u << (a->ints[k] < 0 ? a->ints[k] + tsr_ndim(x) : a->ints[k]);
        bool elements = strcmp(call->schema->name, "any") == 0 ||
                        strcmp(call->schema->name, "all") == 0; /* to whom an empty list says: none */
        return bits != 0 || (elements && a->kind == TSR_ARG_INTS) ? bits : all;
    }
    return all;
}

/* The elements of x that belong to element `number` of the result, in row-major order. */
static int64_t gather(long double *values, const TsrTensor *x, unsigned dims, int64_t number) {
    int64_t n = 0;
    for (int64_t i = 0; i < x->numel; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = tsr_ndim(x) - 1; d >= 0; d--) {
            if ((dims >> d & 1) == 0) {
                at += rest % x->sizes[d] * step;
                step *= x->sizes[d];
            }
            rest /= x->sizes[d];
        }
        if (at == number) values[n++] = element(x, i);
    }
    return n;
}

static bool is_product(const SlowOp *slow) { return strcmp(slow->name, "prod") == 0; }

static bool check_reduction(const OpCall *call, const SlowOp *slow, const TsrTensor *r) {
    const TsrTensor *x = call->arg[0].t;
    long double values[MOST_ELEMENTS], scale = 0;
    unsigned dims = reduced_dims(call, x);
    for (int64_t i = 0; i < x->numel; i++) scale = fmaxl(scale, fabsl(element(x, i)));
    for (int64_t i = 0; i < r->numel; i++) {
        int64_t n = gather(values, x, dims, i);
        if (is_product(slow) && powl(scale, n) > greatest(r->dtype))
            continue; /* overflows on the way, in one order or another */
        long double want = slow->reduce(values, n), got = element(r, i);
        compared++;
        if (agrees(got, want, r->dtype, slow->units, scale)) continue;
        differs(call, i, got, want);
        return false;
    }
    return true;
}

/* ---- calls ---- */

static bool has_tensors(const TsrSchema *schema, int n) {
    int tensors = 0;
    for (int i = 0; i < schema->nparams; i++) tensors += schema->params[i].type == TSR_ARG_TENSOR;
    return tensors == n;
}

/* Whether the reference speaks of this call: real operands of one dtype, everything else at its default. */
static bool is_covered(OpCall *call, const SlowOp *slow) {
    const TsrSchema *schema = call->schema;
    bool complex = call->arg[0].kind == TSR_ARG_TENSOR && tsr_dtype_is_complex(call->arg[0].t->dtype);
    if (slow->kind == SLOW_BINARY) {
        if (schema->nparams < 2 || call->arg[0].kind != TSR_ARG_TENSOR) return false;
        if (call->arg[1].kind == TSR_ARG_TENSOR
                ? call->arg[1].t->dtype != call->arg[0].t->dtype
                : call->arg[1].kind != TSR_ARG_SCALAR || call->arg[1].s.kind == TSR_SCALAR_COMPLEX)
            return false;
    } else if (!has_tensors(schema, 1) || call->arg[0].kind != TSR_ARG_TENSOR) {
        return false;
    }
    for (int i = slow->kind == SLOW_BINARY ? 2 : 1; i < schema->nparams; i++) {
        const TsrParam *p = &schema->params[i];
        if (strcmp(p->name, "dim") == 0 || strcmp(p->name, "keepdim") == 0) continue;
        if (!p->has_default) return false;
        call->arg[i] = p->value;
    }
    return complex == (slow->kind == SLOW_COMPLEX);
}

/* Numbers at the ends of the range are for what is defined there to the last places. */
static bool is_exact_enough(const SlowOp *slow) {
    return slow->kind != SLOW_COMPLEX && (slow->kind == SLOW_REDUCE ? slow->units == 0 : slow->units < 16);
}

static void check_one(const SlowOp *slow, const TsrOp *op, const TsrSchema *schema, TsrDtype dtype, CallLayout layout,
                      bool wild) {
    OpCall call;
    TsrOpCall run;
    if (call_begin(&call, op, schema, dtype, layout, wild && is_exact_enough(slow)) && is_covered(&call, slow) &&
        call_run(&call, &run) == TSR_OK) {
        const TsrTensor *r = run.ret[0].t;
        if (slow->kind == SLOW_REDUCE) (void)check_reduction(&call, slow, r);
        else if (slow->kind == SLOW_COMPLEX) (void)check_complex(&call, slow, r);
        else (void)check_pointwise(&call, slow, r);
        tsr_op_release_returns(&run);
    }
    call_end(&call);
}

/* One round of all dtypes and layouts; stops at the first difference of a row. */
static void check_slow_op(const SlowOp *slow, int rounds) {
    const TsrOpSet *set = tsr_op_find(slow->name);
    ck_assert_msg(set != NULL, "the reference knows %s, the table does not", slow->name);
    int before = compared;
    for (int k = 0; k < set->n; k++) {
        const TsrSchema *schema;
        int failed = failures;
        ck_assert_int_eq(tsr_op_schema(&schema, set->ops[k]), TSR_OK);
        for (int i = 0; i < (int)TSR_COUNTOF(dtypes) * CALL_LAYOUTS * rounds && failures == failed; i++)
            check_one(slow, set->ops[k], schema, dtypes[i % (int)TSR_COUNTOF(dtypes)],
                      (CallLayout)(i / (int)TSR_COUNTOF(dtypes) % CALL_LAYOUTS), calls_below(3) == 0);
    }
    ck_assert_msg(compared > before, "%s: no call was compared", slow->name);
}

static int rounds_wanted(int unset) {
    const char *rounds = getenv("TSR_TEST_ROUNDS");
    return rounds != NULL ? atoi(rounds) : unset;
}

static void begin(void) {
    const char *seed = getenv("TSR_TEST_SEED");
    calls_seed(seed != NULL ? (uint64_t)atoll(seed) : 0);
    tsr_set_memory_limit((size_t)256 << 20);
    failures = 0;
}

/* The reference computes in long double; under valgrind, which emulates it, that is a double. */
static bool long_double_is_longer(void) {
    volatile long double one = 1, sum = one + 0x1p-60L;
    return sum != one;
}

START_TEST(operators_agree_with_the_slow_reference) {
    const char *only = getenv("TSR_TEST_OP");
    if (!long_double_is_longer()) return;
    begin();
    tsr_set_num_threads(1); /* small tensors */
    for (int i = 0; i < slow_op_count; i++)
        if (only == NULL || strcmp(only, slow_ops[i].name) == 0) check_slow_op(&slow_ops[i], rounds_wanted(2));
    ck_assert_msg(failures == 0, "%d operators differ, listed above", failures);
}
END_TEST

/* ---- threads ---- */

static bool same_bytes(const TsrTensor *a, const TsrTensor *b) {
    if (a == NULL || b == NULL || !tsr_is_defined(a) || tsr_is_sparse(a)) return true;
    if (a->dtype != b->dtype || a->numel != b->numel) return false;
    for (int64_t i = 0; i < a->numel; i++)
        if (memcmp(call_element(a, i), call_element(b, i), tsr_itemsize(a)) != 0) return false;
    return true;
}

static void check_threads(const TsrOp *op, const TsrSchema *schema, TsrDtype dtype) {
    OpCall call;
    TsrOpCall one, two;
    if (call_begin_large(&call, op, schema, dtype)) {
        tsr_set_num_threads(1);
        if (call_run(&call, &one) == TSR_OK) {
            tsr_set_num_threads(2);
            if (call_run(&call, &two) == TSR_OK) {
                for (int k = 0; k < one.nret; k++)
                    if (one.ret[k].kind == TSR_ARG_TENSOR && !same_bytes(one.ret[k].t, two.ret[k].t)) {
                        failures++;
                        fprintf(stderr, "%s: two threads give another answer than one\n", op->schema);
                        call_describe(&call);
                    }
                tsr_op_release_returns(&two);
            }
            tsr_op_release_returns(&one);
        }
    }
    call_end(&call);
}

/* One operator in how many is tried: all in a long run, a handful where each takes a minute. */
static int threads_stride(void) { return getenv("TSR_TEST_ROUNDS") != NULL ? 1 : 6 * test_sample(); }

/* Large tensors, so that loops are split; elements that are not set cannot be compared, what is drawn at random begins
 * at the same seed. */
static bool is_threaded(const TsrOp *op, const char *name) {
    return strstr(name, "empty") == NULL && strcmp(op->category, "view") != 0 && strcmp(op->category, "linalg") != 0 &&
           strcmp(op->category, "sparse") != 0 && (op->forms & TSR_INPLACE_ONLY) == 0;
}

START_TEST(answers_do_not_depend_on_the_number_of_threads) {
    const char *only = getenv("TSR_TEST_OP");
    begin();
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        if ((only != NULL && strcmp(only, set->name) != 0) || (only == NULL && i % threads_stride() != 0)) continue;
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            ck_assert_int_eq(tsr_op_schema(&schema, set->ops[k]), TSR_OK);
            if (is_threaded(set->ops[k], set->name)) check_threads(set->ops[k], schema, dtypes[calls_below(5)]);
        }
    }
    ck_assert_msg(failures == 0, "%d operators depend on threads, listed above", failures);
}
END_TEST

TEST_SUITE(ops_reference, operators_agree_with_the_slow_reference, answers_do_not_depend_on_the_number_of_threads)
