/* Fusion: a chain computed block by block, several steps to a loop where there is one for them, has the bits of its
 * steps one by one. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/engine/fuse.h"
#include "core/op.h"

static uint64_t state = 0x2545F4914F6CDD1Du;
static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 20) % n);
}

/* Small wholes, so that equality is met, fractions of any size, and what no arithmetic leaves alone. */
static double any_value(void) {
    static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 3e38, -1e308, 1e-45};
    switch (below(8)) {
    case 0: return special[below(TSR_COUNTOF(special))];
    case 1:
    case 2: return (double)((int)below(5) - 2);
    default: return ((double)below(2000001) - 1000000) * 1e-5;
    }
}

typedef struct Operator {
    TsrKernel kernel;
    int nin;
} Operator;
static const Operator arithmetic[] = {{TSR_K_add, 2},        {TSR_K_sub, 2},  {TSR_K_mul, 2}, {TSR_K_div, 2},
                                      {TSR_K_square, 1},     {TSR_K_sqrt, 1}, {TSR_K_neg, 1}, {TSR_K_exp, 1},
                                      {TSR_K_reciprocal, 1}, {TSR_K_abs, 1},  {TSR_K_sin, 1}, {TSR_K_tanh, 1},
                                      {TSR_K_where, 3}};
static const Operator comparisons[] = {{TSR_K_eq, 2}, {TSR_K_ne, 2}, {TSR_K_lt, 2},
                                       {TSR_K_le, 2}, {TSR_K_gt, 2}, {TSR_K_ge, 2}};
static const Operator joins[] = {
    {TSR_K_bitwise_and, 2}, {TSR_K_bitwise_or, 2}, {TSR_K_bitwise_xor, 2}, {TSR_K_bitwise_not, 1}};

typedef struct Chain {
    TsrFused f;
    TsrDtype dtype;
    int64_t n;
    bool full; /* there was no room for all of it */
} Chain;

static int add_input(Chain *c, TsrFuseInput in) {
    if (c->f.ninputs == TSR_FUSE_INPUTS) {
        c->full = true;
        tsr_tensor_free(in.tensor);
        return 0;
    }
    c->f.input[c->f.ninputs] = in;
    return c->f.ninputs++;
}

static int add_tensor(Chain *c) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, 1, &c->n, c->dtype, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < c->n; i++) {
        double value = any_value();
        if (c->dtype == TSR_FLOAT64) ((double *)tsr_data(t))[i] = value;
        else ((float *)tsr_data(t))[i] = (float)value;
    }
    return add_input(c, (TsrFuseInput){.tensor = t});
}

static int add_number(Chain *c) {
    return add_input(c, below(2) ? (TsrFuseInput){.integer = (int64_t)below(7) - 3, .whole = true}
                                 : (TsrFuseInput){.number = any_value()});
}

static bool is_number(const Chain *c, int operand) {
    return operand >= 0 && operand < c->f.ninputs && c->f.input[operand].tensor == NULL;
}

static int add_step(Chain *c, Operator op, const int *in, bool truth, bool of_truths) {
    if (c->f.nsteps == TSR_FUSE_STEPS) {
        c->full = true;
        return 0;
    }
    TsrFuseStep *step = &c->f.step[c->f.nsteps];
    *step = (TsrFuseStep){
        .kernel = op.kernel, .nin = op.nin, .truth = truth, .of_truths = of_truths, .cost = 1, .name = "chain"};
    memcpy(step->in, in, (size_t)op.nin * sizeof *in);
    return -1 - c->f.nsteps++;
}

static int random_truth(Chain *c, int depth);

/* An operand of floats: a tensor, or a number where there may be one, or the result of random steps. */
static int random_floats(Chain *c, int depth, bool number) {
    if (number && below(3) == 0) return add_number(c);
    if (depth == 0 || below(5) == 0) return add_tensor(c);
    Operator op = arithmetic[below(TSR_COUNTOF(arithmetic))];
    int in[3], k = 0;
    if (op.kernel == TSR_K_where) in[k++] = random_truth(c, depth - 1);
    for (bool may = op.nin > 1; k < op.nin; k++) {
        in[k] = random_floats(c, depth - 1, may);
        may &= !is_number(c, in[k]);
    }
    return add_step(c, op, in, false, false);
}

static int random_truth(Chain *c, int depth) {
    int in[2];
    if (depth > 0 && below(2)) {
        Operator join = joins[below(TSR_COUNTOF(joins))];
        for (int k = 0; k < join.nin; k++) in[k] = random_truth(c, depth - 1);
        return add_step(c, join, in, true, true);
    }
    in[0] = random_floats(c, depth, true);
    in[1] = random_floats(c, depth, !is_number(c, in[0]));
    return add_step(c, comparisons[below(TSR_COUNTOF(comparisons))], in, true, false);
}

/* Every step by itself, over all elements; the last one's result, for free(). */
static char *one_by_one(const Chain *c) {
    char *result[TSR_FUSE_STEPS], numbers[TSR_FUSE_INPUTS][8];
    int64_t size = (int64_t)tsr_dtype_size(c->dtype);
    for (int i = 0; i < c->f.ninputs; i++) {
        const TsrFuseInput *in = &c->f.input[i];
        tsr_scalar_store(in->whole ? tsr_scalar_int(in->integer) : tsr_scalar_float(in->number), c->dtype, numbers[i]);
    }
    for (int s = 0; s < c->f.nsteps; s++) {
        const TsrFuseStep *step = &c->f.step[s];
        result[s] = malloc((size_t)(c->n * size));
        char *data[4] = {result[s]};
        int64_t strides[4] = {step->truth ? 1 : size};
        for (int k = 0; k < step->nin; k++) {
            int from = step->in[k];
            bool number = from >= 0 && c->f.input[from].tensor == NULL;
            data[k + 1] = from < 0 ? result[-1 - from] : number ? numbers[from] : tsr_data(c->f.input[from].tensor);
            strides[k + 1] = number ? 0 : from < 0 && c->f.step[-1 - from].truth ? 1 : size;
        }
        tsr_kernel(step->kernel, step->of_truths ? TSR_BOOL : c->dtype)(data, strides, c->n, NULL);
    }
    for (int s = 0; s < c->f.nsteps - 1; s++) free(result[s]);
    return result[c->f.nsteps - 1];
}

/* The same bits, but for which NaN it is: the two of a sum are as good as each other. */
static void check_same(const Chain *c, const char *got, const char *want) {
    bool truth = tsr_fuse_is_truth(&c->f);
    size_t size = truth ? 1 : tsr_dtype_size(c->dtype);
    for (int64_t i = 0; i < c->n; i++) {
        const char *a = got + (size_t)i * size, *b = want + (size_t)i * size;
        if (memcmp(a, b, size) == 0) continue;
        ck_assert_msg(!truth, "truth %lld", (long long)i);
        double x = tsr_scalar_to_double(tsr_scalar_load(c->dtype, a)),
               y = tsr_scalar_to_double(tsr_scalar_load(c->dtype, b));
        ck_assert_msg(isnan(x) && isnan(y), "element %lld of %s: %a, not %a; last steps %d, %d", (long long)i,
                      tsr_dtype_name(c->dtype), x, y, c->f.step[TSR_MAX(c->f.nsteps - 2, 0)].kernel,
                      c->f.step[c->f.nsteps - 1].kernel);
    }
}

typedef struct Filled {
    const Chain *c;
    char *to;
} Filled;

/* In pieces of whole vectors but for the last: SLEEF's sine depends on what else is in a vector. */
static TsrStatus fill_pieces(void *context, TsrFillFn fill, void *plan) {
    const Filled *x = context;
    size_t size = tsr_dtype_size(x->c->dtype);
    for (int64_t begin = 0, end; begin < x->c->n; begin = end) {
        end = begin + 64 * (1 + below(80));
        end = TSR_MIN(end, x->c->n);
        fill(plan, begin, end, x->to + (size_t)begin * size);
    }
    return TSR_OK;
}

static void check_chain(const Chain *c) {
    char *want = one_by_one(c);
    TsrTensor *got = NULL;
    ck_assert_msg(tsr_fuse_run_new(&got, &c->f) == TSR_OK, "%s", tsr_error_message());
    ck_assert_int_eq(got->dtype, tsr_fuse_is_truth(&c->f) ? TSR_BOOL : c->dtype);
    check_same(c, tsr_data(got), want);
    if (!tsr_fuse_is_truth(&c->f)) {
        memset(tsr_data(got), 0x55, (size_t)c->n * tsr_dtype_size(c->dtype));
        ck_assert_int_eq(tsr_fuse_use(&c->f, fill_pieces, &(Filled){c, tsr_data(got)}), TSR_OK);
        check_same(c, tsr_data(got), want);
    }
    tsr_tensor_free(got);
    free(want);
}

/* Each two steps that can follow one another, whichever operand the first one makes; half of them before a where or a
 * root. */
static void check_two(TsrDtype dtype, Operator first, Operator then, int operand, bool truths) {
    Chain c = {.dtype = dtype, .n = TSR_FUSE_LEAST + below(1500)};
    bool chooses = then.kernel == TSR_K_where, compares = truths || (chooses && operand == 0);
    int in[3], made[3];
    for (int k = 0; k < first.nin; k++) made[k] = random_floats(&c, 0, k > 0 && first.nin == 2);
    int result = add_step(&c, first, made, compares, false);
    for (int k = 0; k < then.nin; k++) {
        bool mask = k != operand && (truths || (chooses && k == 0));
        in[k] = k == operand ? result
                : mask       ? random_truth(&c, 0)
                             : random_floats(&c, 0, k == then.nin - 1 && !chooses);
    }
    result = add_step(&c, then, in, truths, truths);
    if (truths && below(2))
        add_step(&c, (Operator){TSR_K_where, 3}, (int[]){result, random_floats(&c, 0, true), add_tensor(&c)}, false,
                 false);
    if (!truths && below(2)) add_step(&c, (Operator){TSR_K_sqrt, 1}, (int[]){result}, false, false);
    ck_assert(!c.full);
    check_chain(&c);
    tsr_fuse_release(&c.f);
}

static void check_all(const Operator *first, size_t nfirst, const Operator *then, size_t nthen, int operand,
                      bool truths) {
    for (size_t f = 0; f < nfirst; f++)
        for (size_t t = 0; t < nthen; t++)
            if (operand < then[t].nin && first[f].kernel != TSR_K_where &&
                (then[t].kernel == TSR_K_where) == (first == comparisons ? !truths : operand == 2))
                for (int d = 0; d < 2; d++)
                    check_two(d == 0 ? TSR_FLOAT32 : TSR_FLOAT64, first[f], then[t], operand, truths);
}

static void check_isa(const char *isa) {
    setenv("TSR_ISA", isa, 1); /* before the first kernel is asked for, in a process of its own */
    for (int i = 0; i < 8; i++) {
        int operand = i % 2;
        check_all(arithmetic, TSR_COUNTOF(arithmetic), arithmetic, TSR_COUNTOF(arithmetic), operand, false);
        check_all(comparisons, TSR_COUNTOF(comparisons), joins, TSR_COUNTOF(joins), operand, true);
    }
    check_all(comparisons, TSR_COUNTOF(comparisons), arithmetic, TSR_COUNTOF(arithmetic), 0, false);
    for (int round = 0; round < 300; round++) {
        if (!test_is_sampled(round)) continue;
        Chain c = {.dtype = below(2) ? TSR_FLOAT32 : TSR_FLOAT64,
                   .n = below(20) == 0 ? 100003 : TSR_FUSE_LEAST + below(3000)};
        if (below(2)) random_truth(&c, 3);
        else random_floats(&c, 4, false);
        if (!c.full && c.f.nsteps > 0) check_chain(&c);
        tsr_fuse_release(&c.f);
    }
}

START_TEST(chains_have_the_bits_of_their_steps) { check_isa("avx512"); }
END_TEST
START_TEST(chains_have_the_bits_of_their_steps_with_avx2) { check_isa("avx2"); }
END_TEST
START_TEST(chains_have_the_bits_of_their_steps_without_either) { check_isa("base"); }
END_TEST

/* A comparison with NaN is false, but for !=; what is equal is neither less nor greater. */
START_TEST(comparisons_choose) {
    static const float x[] = {1, 2, 3, NAN, 2, NAN}, y[] = {2, 2, 2, 2, NAN, NAN};
    static const char *expected[] = {"010000", "101111", "100000",
                                     "110000", "001000", "011000"}; /* eq, ne, lt, le, gt, ge */
    for (size_t k = 0; k < TSR_COUNTOF(comparisons); k++) {
        Chain c = {.dtype = TSR_FLOAT32, .n = TSR_FUSE_LEAST};
        int a = add_tensor(&c), b = add_tensor(&c);
        for (int64_t i = 0; i < c.n; i++) {
            ((float *)tsr_data(c.f.input[a].tensor))[i] = x[i % 6];
            ((float *)tsr_data(c.f.input[b].tensor))[i] = y[i % 6];
        }
        int truth = add_step(&c, comparisons[k], (int[]){a, b}, true, false);
        int yes = add_input(&c, (TsrFuseInput){.integer = 1, .whole = true}),
            no = add_input(&c, (TsrFuseInput){.integer = 0, .whole = true});
        add_step(&c, (Operator){TSR_K_where, 3}, (int[]){truth, yes, no}, false, false);
        TsrTensor *got = NULL;
        ck_assert_int_eq(tsr_fuse_run_new(&got, &c.f), TSR_OK);
        for (int64_t i = 0; i < c.n; i++)
            ck_assert_float_eq(((float *)tsr_data(got))[i], (float)(expected[k][i % 6] - '0'));
        tsr_tensor_free(got);
        tsr_fuse_release(&c.f);
    }
}
END_TEST

TEST_SUITE(fuse, chains_have_the_bits_of_their_steps, chains_have_the_bits_of_their_steps_with_avx2,
           chains_have_the_bits_of_their_steps_without_either, comparisons_choose)
