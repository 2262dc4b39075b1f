/* Every row of the operator table, called with random arguments of the kinds its schema names: it must answer or
 * fail with an error, leave nothing behind, and hand out only tensors that fit their storage. TSR_TEST_OP=NAME
 * picks one operator, TSR_TEST_ROUNDS how often each is called, TSR_TEST_SEED another stream. Then again with failing
 * allocations. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/op.h"
#include "core/op/compose.h"
#include "core/rng.h"

static uint64_t state = 88172645463325252u;

static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

static int64_t random_int(void) {
    static const int64_t odd[] = {INT64_MAX, INT64_MIN, 1 << 30, -(1 << 30), INT64_C(1) << 40, 1000};
    if (below(40) == 0) return odd[below(TSR_COUNTOF(odd))];
    return (int64_t)below(8) - 2;
}

static double random_float(void) {
    static const double odd[] = {0, -0.0, 1e300, -1e300, 1e-300, 0.0 / 0.0, 1.0 / 0.0};
    if (below(20) == 0) return odd[below(TSR_COUNTOF(odd))];
    return (double)below(2000) / 500 - 2;
}

static TsrScalar random_scalar(void) {
    switch (below(8)) {
    case 0: return tsr_scalar_bool(below(2));
    case 1: return tsr_scalar_complex(random_float(), random_float());
    case 2:
    case 3: return tsr_scalar_int(random_int());
    default: return tsr_scalar_float(random_float());
    }
}

static const TsrDtype dtypes[] = {TSR_FLOAT32,     TSR_FLOAT32,    TSR_FLOAT64,   TSR_INT64,   TSR_INT64,
                                  TSR_BOOL,        TSR_UINT8,      TSR_INT32,     TSR_FLOAT16, TSR_BFLOAT16,
                                  TSR_COMPLEX64,   TSR_COMPLEX128, TSR_INT8,      TSR_UINT16,  TSR_UINT64,
                                  TSR_FLOAT8_E5M2, TSR_COMPLEX32,  TSR_BCOMPLEX32};

static TsrTensor *base_tensor(void) {
    int64_t sizes[5];
    int ndim = (int)below(5);
    TsrTensor *t = NULL;
    for (int i = 0; i < ndim; i++) sizes[i] = below(12) == 0 ? 0 : 1 + below(4);
    TsrDevice device = getenv("TSR_TEST_NO_META") == NULL && below(15) == 0 ? TSR_DEVICE_META : TSR_DEVICE_CPU;
    if (tsr_tensor_new(&t, ndim, sizes, dtypes[below(TSR_COUNTOF(dtypes))], device) != TSR_OK) return NULL;
    for (int64_t i = 0; i < t->numel && tsr_data(t) != NULL; i++) {
        TsrScalar s = below(2) ? tsr_scalar_int((int64_t)below(6) - 1) : random_scalar();
        tsr_scalar_store(s, t->dtype, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    }
    return t;
}

/* Contiguous, or some view. */
static TsrTensor *random_tensor(void) {
    TsrTensor *t = base_tensor(), *v = NULL;
    if (t == NULL || below(2) == 0) return t;
    TsrStatus status = TSR_OK;
    int64_t sizes[6] = {2};
    switch (below(6)) {
    case 0: status = tsr_tensor_new_transpose(&v, t, 0, -1); break;
    case 1: status = tsr_tensor_new_slice(&v, t, -1, 0, 5, 2); break;
    case 2:
        if (tsr_ndim(t) > 0) memcpy(sizes + 1, t->sizes, (size_t)tsr_ndim(t) * sizeof *sizes);
        status = tsr_tensor_new_expand(&v, t, tsr_ndim(t) + 1, sizes);
        break;
    case 3: status = tsr_tensor_new_conj(&v, t); break;
    case 4: status = tsr_tensor_new_narrow(&v, t, 0, 1, 1); break;
    default:
        status = tsr_dtype_is_complex(t->dtype) ? tsr_tensor_new_imag(&v, t) : tsr_tensor_new_unsqueeze(&v, t, 0);
        break;
    }
    if (status != TSR_OK) return t;
    tsr_tensor_free(t);
    return v;
}

typedef struct Made {
    TsrTensor *tensors[64];
    int n;
    void *blocks[64];
    int nblocks;
} Made;

static TsrTensor *keep(Made *m, TsrTensor *t) {
    if (t != NULL) m->tensors[m->n++] = t;
    return t;
}

/* Mostly tensors that were made before in this call, so that shapes and dtypes often agree. */
static TsrTensor *argument_tensor(Made *m) {
    if (m->n > 0 && below(3) == 0) return m->tensors[below((uint32_t)m->n)];
    if (m->n > 0 && below(2) == 0) {
        TsrTensor *like = m->tensors[below((uint32_t)m->n)], *t = NULL;
        if (tsr_tensor_new_clone(&t, like, TSR_PRESERVE) == TSR_OK) return keep(m, t);
    }
    TsrTensor *t = random_tensor();
    return t == NULL ? (m->n > 0 ? m->tensors[0] : NULL) : keep(m, t);
}

static void *block(Made *m, size_t bytes) {
    void *p = calloc(1, bytes + 8);
    m->blocks[m->nblocks++] = p;
    return p;
}

static bool fill_argument(Made *m, TsrArg *a, const TsrParam *p) {
    static const char *const words[] = {"mean", "sum", "none", "reflect", "floor", "trunc", "amax",   "prod",
                                        "fro",  "nuc", "xyz",  "L",       "ij",    "ortho", "linear", "left"};
    int n = p->fixed > 0 ? p->fixed : (int)below(4);
    if (p->has_default && below(2) == 0) {
        *a = p->value;
        return true;
    }
    if (p->optional && below(3) == 0) {
        a->kind = TSR_ARG_NONE;
        return true;
    }
    *a = (TsrArg){.kind = p->type, .n = n};
    switch (p->type) {
    case TSR_ARG_TENSOR: return (a->t = argument_tensor(m)) != NULL;
    case TSR_ARG_TENSORS:
        a->tensors = block(m, sizeof(TsrTensor *) * (size_t)n);
        for (int i = 0; i < n; i++)
            if ((a->tensors[i] = argument_tensor(m)) == NULL) return false;
        return true;
    case TSR_ARG_SCALAR: a->s = random_scalar(); return true;
    case TSR_ARG_SCALARS:
        a->scalars = block(m, sizeof(TsrScalar) * (size_t)n);
        for (int i = 0; i < n; i++) a->scalars[i] = random_scalar();
        return true;
    case TSR_ARG_INT: a->i = random_int(); return true;
    case TSR_ARG_INTS:
        a->ints = block(m, sizeof(int64_t) * (size_t)n);
        for (int i = 0; i < n; i++) a->ints[i] = random_int();
        return true;
    case TSR_ARG_FLOAT: a->f = random_float(); return true;
    case TSR_ARG_FLOATS:
        a->floats = block(m, sizeof(double) * (size_t)n);
        for (int i = 0; i < n; i++) a->floats[i] = random_float();
        return true;
    case TSR_ARG_BOOL: a->b = below(2); return true;
    case TSR_ARG_BOOLS:
        a->bools = block(m, (size_t)n);
        for (int i = 0; i < n; i++) a->bools[i] = below(2);
        return true;
    case TSR_ARG_STR: a->str = words[below(TSR_COUNTOF(words))]; return true;
    case TSR_ARG_DTYPE: a->dtype = dtypes[below(TSR_COUNTOF(dtypes))]; return true;
    case TSR_ARG_LAYOUT: a->layout = TSR_STRIDED; return true;
    case TSR_ARG_DEVICE: a->device = below(4) == 0 ? TSR_DEVICE_META : TSR_DEVICE_CPU; return true;
    case TSR_ARG_MEMORY_FORMAT: a->format = (TsrMemoryFormat)below(4); return true;
    case TSR_ARG_GENERATOR: a->any = tsr_rng_default(); return true;
    default: return false;
    }
}

static void check_tensor_result(const TsrTensor *t) {
    if (t == NULL || !tsr_is_defined(t) || tsr_is_sparse(t)) return;
    ck_assert(t->dtype < TSR_DTYPE_COUNT);
    ck_assert_ptr_nonnull(t->storage);
    int64_t numel = 1;
    for (int i = 0; i < tsr_ndim(t); i++) {
        ck_assert_int_ge(t->sizes[i], 0);
        ck_assert_int_ge(t->strides[i], 0);
        numel *= t->sizes[i];
    }
    ck_assert_int_eq(numel, t->numel);
    ck_assert_int_eq(tsr_tensor_check(t, false), TSR_OK);
}

static void check_results(const TsrOpCall *c) {
    for (int k = 0; k < c->nret; k++) {
        if (c->ret[k].kind == TSR_ARG_TENSOR) check_tensor_result(c->ret[k].t);
        for (int i = 0; c->ret[k].kind == TSR_ARG_TENSORS && i < c->ret[k].n; i++)
            check_tensor_result(c->ret[k].tensors[i]);
    }
}

static void set_outputs(Made *m, TsrOpCall *c) {
    unsigned forms = c->op->forms;
    bool self_first = c->nargs > 0 && c->arg[0].kind == TSR_ARG_TENSOR;
    if (self_first && ((forms & TSR_INPLACE_ONLY) || ((forms & TSR_INPLACE) && below(3) == 0))) {
        c->out[0] = c->arg[0].t;
        c->inplace = true;
    } else if ((forms & TSR_OUT) && below(3) == 0) {
        for (int k = 0; k < c->schema->nreturns; k++) c->out[k] = argument_tensor(m);
    }
}

/* `fail_at` > 0: that allocation of the operator itself fails. Returns how many allocations it tried, -1 if it never
 * ran. */
static int64_t one_call(const TsrOp *op, const TsrSchema *schema, int64_t fail_at) {
    int64_t tried = -1;
    TsrArg args[TSR_MAX_ARGS];
    Made made = {.n = 0};
    TsrOpCall call = {.op = op, .schema = schema, .arg = args, .nargs = schema->nparams};
    bool ready = true;
    for (int i = 0; i < schema->nparams && ready; i++) ready = fill_argument(&made, &args[i], &schema->params[i]);
    if (ready) {
        set_outputs(&made, &call);
        tsr_error_clear();
        if (fail_at > 0) tsr_mem_fail_at(fail_at);
        TsrStatus status = tsr_op_run(&call);
        tried = fail_at > 0 ? tsr_mem_fail_at(0) : 0;
        if (status == TSR_OK) {
            check_results(&call);
            tsr_op_release_returns(&call);
        } else {
            ck_assert_msg(tsr_error_kind() == status, "%s: failed without an error set", op->schema);
        }
    }
    for (int i = 0; i < made.n; i++) tsr_tensor_free(made.tensors[i]);
    for (int i = 0; i < made.nblocks; i++) free(made.blocks[i]);
    return tried;
}

START_TEST(a_scope_keeps_every_step) {
    enum { STEPS = 100 };
    int64_t live = tsr_memory_live(), sizes[1] = {1};
    TsrTensor *step[STEPS];
    TsrScope s = {0};
    for (int i = 0; i < STEPS; i++) step[i] = MAKE(&s, tsr_tensor_new, 1, sizes, TSR_INT64, TSR_DEVICE_CPU);
    ck_assert_int_eq(s.status, TSR_OK);
    for (int i = 0; i < STEPS; i++) ck_assert_int_eq(tsr_tensor_refcount(step[i]), 1);
    ck_assert_int_eq(tsr_scope_end(&s), TSR_OK);
    ck_assert_int_eq(tsr_memory_live(), live);
}
END_TEST

START_TEST(columns_of_a_row_agree) {
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        for (int k = 0; k < set->n; k++) {
            const TsrOp *row = set->ops[k];
            bool rules = row->out_rule != TSR_RULE_CASTABLE || row->out_overlap != TSR_OVERLAP_ANY;
            ck_assert_msg(!rules || row->forms & TSR_OUT, "%s says what an out= may be, and has none", row->schema);
        }
    }
}
END_TEST

START_TEST(every_operator_survives_random_calls) {
    const char *only = getenv("TSR_TEST_OP"), *rounds_text = getenv("TSR_TEST_ROUNDS"), *seed = getenv("TSR_TEST_SEED");
    int rounds = rounds_text != NULL ? atoi(rounds_text) : 25;
    if (seed != NULL) state ^= (uint64_t)atoll(seed) * 0x9E3779B97F4A7C15u;
    tsr_set_memory_limit((size_t)256 << 20);
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        if (only != NULL ? strcmp(only, set->name) != 0 : !test_is_sampled(i)) continue;
        if (getenv("TSR_TEST_VERBOSE") != NULL) fprintf(stderr, "%s\n", set->name);
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            ck_assert_msg(tsr_op_schema(&schema, set->ops[k]) == TSR_OK, "%s: %s", set->ops[k]->schema,
                          tsr_error_message());
            int64_t live = tsr_memory_live();
            for (int r = 0; r < rounds; r++) (void)one_call(set->ops[k], schema, 0);
            ck_assert_msg(tsr_memory_live() == live, "%s leaves %lld bytes behind", set->ops[k]->schema,
                          (long long)(tsr_memory_live() - live));
        }
    }
}
END_TEST

/* The same call again and again, each time with a later allocation failing. */
START_TEST(every_operator_survives_failing_allocations) {
    const char *only = getenv("TSR_TEST_OP"), *rounds_text = getenv("TSR_TEST_ROUNDS"), *seed = getenv("TSR_TEST_SEED");
    int rounds = rounds_text != NULL ? atoi(rounds_text) : 3;
    enum { MOST = 60 };
    if (seed != NULL) state ^= (uint64_t)atoll(seed) * 0x9E3779B97F4A7C15u;
    tsr_set_memory_limit((size_t)64 << 20);
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        if (only != NULL ? strcmp(only, set->name) != 0 : !test_is_sampled(i)) continue;
        if (getenv("TSR_TEST_VERBOSE") != NULL) fprintf(stderr, "%s\n", set->name);
        for (int r = 0; r < rounds * set->n; r++) {
            const TsrSchema *schema;
            ck_assert_int_eq(tsr_op_schema(&schema, set->ops[r % set->n]), TSR_OK);
            (void)one_call(set->ops[r % set->n], schema, 0);
            uint64_t start = state;
            for (int64_t n = 1; n <= MOST; n++) {
                int64_t live = tsr_memory_live();
                state = start;
                int64_t tried = one_call(set->ops[r % set->n], schema, n);
                ck_assert_msg(tsr_memory_live() == live, "%s leaves %lld bytes behind when allocation %lld fails",
                              set->ops[r % set->n]->schema, (long long)(tsr_memory_live() - live), (long long)n);
                if (tried < n) break;
            }
        }
    }
}
END_TEST

/* An operator of two lists gets both resolved, and its caller's lists back. */
static TsrStatus first_of_both(TsrOpCall *c) {
    for (int i = 0; i < 2; i++) ck_assert_int_eq(c->arg[i].tensors[0]->flags & TSR_FLAG_CONJ, 0);
    return tsr_return_move2(c, tsr_tensor_retain(c->arg[0].tensors[0]), tsr_tensor_retain(c->arg[1].tensors[0]));
}

START_TEST(lazy_tensors_are_resolved_in_every_list) {
    static const TsrOp op = {
        .schema = "first_of_both(Tensor[] a, Tensor[] b) -> (Tensor, Tensor)", .fn = first_of_both, .forms = TSR_FN};
    static TsrParam params[] = {{.name = "a", .type = TSR_ARG_TENSORS}, {.name = "b", .type = TSR_ARG_TENSORS}};
    static const TsrSchema schema = {
        .name = "first_of_both", .base = "first_of_both", .params = params, .nparams = 2, .nreturns = 2};
    TsrTensor *x, *lazy;
    ck_assert_int_eq(tsr_tensor_new_scalar(&x, tsr_scalar_complex(1, 2), TSR_COMPLEX64), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_conj(&lazy, x), TSR_OK);
    TsrTensor *lists[2][1] = {{lazy}, {lazy}};
    TsrArg args[2] = {{.kind = TSR_ARG_TENSORS, .n = 1, .tensors = lists[0]},
                      {.kind = TSR_ARG_TENSORS, .n = 1, .tensors = lists[1]}};
    TsrOpCall call = {.op = &op, .schema = &schema, .arg = args, .nargs = 2};
    ck_assert_int_eq(tsr_op_run(&call), TSR_OK);
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_eq(args[i].tensors, lists[i]);
        ck_assert_double_eq(tsr_tensor_get(call.ret[i].t, 0).c.im, -2);
    }
    tsr_op_release_returns(&call);
    ck_assert_int_eq(tsr_tensor_refcount(lazy), 1);
    tsr_tensor_free(lazy);
    tsr_tensor_free(x);
}
END_TEST

/* An x86 of 32 bits has one set of registers for MMX's vectors of 8 bytes and for the numbers that functions return:
 * who leaves vectors there turns the next number into nan. */
START_TEST(numbers_are_returned_after_a_sum_of_complex_ones) {
    TsrTensor *x, *sum;
    int64_t n = 3;
    ck_assert_int_eq(tsr_tensor_new(&x, 1, &n, TSR_COMPLEX64, TSR_DEVICE_CPU), TSR_OK);
    memcpy(tsr_data(x), (const float[]){1, 2, 1, 2, 1, 2}, 24);
    ck_assert_int_eq(tsr_invoke_new(&sum, 1, "sum", "t", x), TSR_OK);
    ck_assert_double_eq(strtod("1.5", NULL), 1.5);
    ck_assert_double_eq(tsr_tensor_get(sum, 0).c.im, 6);
    tsr_tensor_free(x);
    tsr_tensor_free(sum);
}
END_TEST

TEST_SUITE(ops, lazy_tensors_are_resolved_in_every_list, numbers_are_returned_after_a_sum_of_complex_ones,
           a_scope_keeps_every_step, columns_of_a_row_agree, every_operator_survives_random_calls,
           every_operator_survives_failing_allocations)
