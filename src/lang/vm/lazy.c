/* Pointwise operators of one expression collected into a chain and computed in one pass. lazy_binary and its siblings
 * append a step when the operand is a plain tensor of a dtype that chains take; lazy_force runs the chain, and any
 * operand that does not fit makes the operators run one by one. */
#include "lazy.h"

#include "core/alloc.h"
#include "core/engine/fast.h"
#include "lang/object/gc.h"

#include <string.h>

static void lazy_destroy(Obj *self) {
    tsr_fuse_release(&((Lazy *)self)->f);
    obj_free(self, sizeof(Lazy));
}

static void lazy_traverse(Obj *self, GcVisit visit, void *context) {
    const TsrFused *f = &((Lazy *)self)->f;
    for (int i = 0; i < f->ninputs; i++)
        if (f->input[i].tensor != NULL)
            gc_visit_value((Value){.tag = V_TENSOR, {.t = (TsrTensor *)(uintptr_t)f->input[i].tensor}}, visit, context);
}

Type lazy_type = {.obj = TYPE_HEADER, .name = "Tensor", .destroy = lazy_destroy, .traverse = lazy_traverse};

/* Functions of one tensor whose kernel is all there is to them on float32 and float64. */
static const struct {
    const char *name;
    TsrKernel kernel;
    int cost;
} functions[] = {
    {"sqrt", TSR_K_sqrt, 2},     {"exp", TSR_K_exp, 8},         {"expm1", TSR_K_expm1, 16},
    {"log", TSR_K_log, 8},       {"log1p", TSR_K_log1p, 16},    {"log2", TSR_K_log2, 8},
    {"log10", TSR_K_log10, 8},   {"sin", TSR_K_sin, 16},        {"cos", TSR_K_cos, 16},
    {"tan", TSR_K_tan, 24},      {"tanh", TSR_K_tanh, 16},      {"reciprocal", TSR_K_reciprocal, 1},
    {"rsqrt", TSR_K_rsqrt, 2},   {"sigmoid", TSR_K_sigmoid, 8}, {"abs", TSR_K_abs, 1},
    {"square", TSR_K_square, 1}, {"floor", TSR_K_floor, 1},     {"ceil", TSR_K_ceil, 1},
    {"trunc", TSR_K_trunc, 1},   {"erf", TSR_K_erf, 24},        {"erfc", TSR_K_erfc, 24},
    {"exp2", TSR_K_exp2, 8},     {"asin", TSR_K_asin, 16},      {"acos", TSR_K_acos, 16},
    {"atan", TSR_K_atan, 16},
};

bool lazy_is_function_name(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(functions); i++)
        if (strcmp(functions[i].name, name) == 0) return true;
    return false;
}

void (*lazy_not_held)(int64_t bytes);
const char *(*lazy_operator_name)(Value f);

/* A trace shows every operator by itself. */
static bool enabled(void) { return tsr_fuse_on && tsr_trace_hook == NULL; }

/* --- operands --- */

static bool is_truth(Value v) { return value_is_lazy(v) && tsr_fuse_is_truth(&((Lazy *)v.o)->f); }

/* Finds, for a step with a number, a tensor that may take part: itself, or the first input of a chain that waits. */
static const TsrTensor *tensor_of(Value v) {
    if (v.tag == V_TENSOR) return tsr_fuse_accepts(v.t) ? v.t : NULL;
    return value_is_lazy(v) && !is_truth(v) ? tsr_fuse_first(&((Lazy *)v.o)->f) : NULL;
}

static bool is_number(Value v) { return v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL; }

/* How many inputs and steps an operand brings along. */
static void count(Value v, int *inputs, int *steps) {
    if (value_is_lazy(v)) {
        *inputs += ((Lazy *)v.o)->f.ninputs;
        *steps += ((Lazy *)v.o)->f.nsteps;
    } else {
        (*inputs)++;
    }
}

/* Adds operand v to f; gives what a step names it by. The inputs of a Lazy move. */
static int add_operand(TsrFused *f, Value v) {
    if (!value_is_lazy(v)) {
        TsrFuseInput *in = &f->input[f->ninputs];
        *in = (TsrFuseInput){.whole = v.tag != V_FLOAT};
        if (v.tag == V_TENSOR) in->tensor = tsr_tensor_retain(v.t);
        else if (v.tag == V_FLOAT) in->number = v.f;
        else in->integer = v.tag == V_BOOL ? v.b : v.i;
        return f->ninputs++;
    }
    TsrFused *from = &((Lazy *)v.o)->f;
    int inputs = f->ninputs, steps = f->nsteps;
    memcpy(&f->input[inputs], from->input, (size_t)from->ninputs * sizeof *from->input);
    for (int s = 0; s < from->nsteps; s++) {
        TsrFuseStep *step = &f->step[steps + s];
        *step = from->step[s];
        for (int k = 0; k < step->nin; k++) step->in[k] += step->in[k] >= 0 ? inputs : -steps;
    }
    f->ninputs += from->ninputs;
    f->nsteps += from->nsteps;
    from->ninputs = from->nsteps = 0;
    return -f->nsteps; /* -1 - (its last step) */
}

static bool has_room(int nvalues, const Value *values) {
    int inputs = 0, steps = 2;
    for (int i = 0; i < nvalues; i++) count(values[i], &inputs, &steps);
    return inputs <= TSR_FUSE_INPUTS && steps <= TSR_FUSE_STEPS;
}

static int add_step(TsrFused *f, TsrKernel kernel, const char *name, int cost, int nin, int a, int b) {
    f->step[f->nsteps] = (TsrFuseStep){.kernel = kernel, .nin = nin, .in = {a, b}, .cost = cost, .name = name};
    return -1 - f->nsteps++;
}

static TsrStatus finish(Value *out, Lazy *lazy, bool last) {
    if (!last) {
        *out = value_obj_move(lazy);
        return TSR_OK;
    }
    TsrTensor *t;
    TsrStatus status = tsr_fuse_run_new(&t, &lazy->f);
    obj_release(lazy);
    if (status == TSR_OK) *out = value_tensor_move(t);
    return status;
}

/* --- operators --- */

/* The kernel of x ** b, of a number b. */
static TsrKernel power_kernel(const TsrTensor *x, Value b) {
    return tsr_power_kernel(b.tag == V_INT ? (double)b.i : b.f, x->dtype);
}

static TsrKernel binary_kernel(BinaryOp op, const char **name) {
    switch (op) {
    case OP_ADD: *name = "add"; return TSR_K_add;
    case OP_SUB: *name = "sub"; return TSR_K_sub;
    case OP_MUL: *name = "mul"; return TSR_K_mul;
    case OP_DIV: *name = "div"; return TSR_K_div;
    case OP_POW: *name = "pow"; return TSR_K_square;
    default: return TSR_K_NONE;
    }
}

/* Two numbers or tensors of them, at least one a tensor, alike. */
static bool are_alike(Value a, Value b) {
    const TsrTensor *x = tensor_of(a), *y = tensor_of(b);
    if ((x == NULL && !is_number(a)) || (y == NULL && !is_number(b)) || (x == NULL && y == NULL)) return false;
    return x == NULL || y == NULL || tsr_fuse_alike(x, y);
}

static bool fits(BinaryOp op, Value a, Value b, bool last) {
    if (last && !value_is_lazy(a) && !value_is_lazy(b)) return false; /* one operator alone */
    if (!are_alike(a, b)) return false;
    const TsrTensor *x = tensor_of(a), *y = tensor_of(b);
    if (op == OP_POW &&
        (x == NULL || b.tag == V_TENSOR || y != NULL || b.tag == V_BOOL || power_kernel(x, b) == TSR_K_NONE))
        return false;
    return has_room(2, (Value[]){a, b});
}

static void tell_not_held(const TsrTensor *like, bool truth) {
    if (lazy_not_held != NULL && tsr_fuse_on && like != NULL)
        lazy_not_held(like->numel * (truth ? 1 : (int64_t)tsr_itemsize(like)));
}

/* A new Lazy without inputs; NULL and the error when memory is short. */
static Lazy *lazy_new(void) {
    Lazy *lazy = obj_new(&lazy_type, sizeof *lazy);
    if (lazy != NULL) lazy->f.ninputs = lazy->f.nsteps = 0;
    return lazy;
}

static void add_truth_step(TsrFused *f, TsrKernel kernel, const char *name, int nin, int a, int b) {
    add_step(f, kernel, name, 1, nin, a, b);
    f->step[f->nsteps - 1].truth = f->step[f->nsteps - 1].of_truths = true;
}

/* Two comparisons, or what was joined of some, joined. */
static TsrStatus join_truths(Value *out, BinaryOp op, Value a, Value b, bool last) {
    const TsrFused *x = &((Lazy *)a.o)->f, *y = &((Lazy *)b.o)->f;
    if (!enabled() || !tsr_fuse_alike(tsr_fuse_first(x), tsr_fuse_first(y)) || !has_room(2, (Value[]){a, b}))
        return TSR_OK;
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    TsrFused *f = &lazy->f;
    int l = add_operand(f, a), r = add_operand(f, b);
    if (op == OP_AND) add_truth_step(f, TSR_K_bitwise_and, "bitwise_and", 2, l, r);
    else if (op == OP_OR) add_truth_step(f, TSR_K_bitwise_or, "bitwise_or", 2, l, r);
    else add_truth_step(f, TSR_K_bitwise_xor, "bitwise_xor", 2, l, r);
    return finish(out, lazy, last);
}

static TsrStatus invert_truth(Value *out, Value v, bool last) {
    if (!enabled() || !has_room(1, &v)) return TSR_OK;
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    int x = add_operand(&lazy->f, v);
    add_truth_step(&lazy->f, TSR_K_bitwise_not, "bitwise_not", 1, x, 0);
    return finish(out, lazy, last);
}

TsrStatus lazy_compare(Value *out, CompareOp op, Value a, Value b, bool last) {
    static const struct {
        const char *name;
        TsrKernel kernel;
    } rows[] = {[CMP_EQ] = {"eq", TSR_K_eq}, [CMP_NE] = {"ne", TSR_K_ne}, [CMP_LT] = {"lt", TSR_K_lt},
                [CMP_LE] = {"le", TSR_K_le}, [CMP_GT] = {"gt", TSR_K_gt}, [CMP_GE] = {"ge", TSR_K_ge}};
    *out = VALUE_UNBOUND;
    if (op > CMP_GE || (last && !value_is_lazy(a) && !value_is_lazy(b)) || !are_alike(a, b) ||
        !has_room(2, (Value[]){a, b}))
        return TSR_OK;
    if (!enabled()) {
        if (!last) tell_not_held(tensor_of(a) != NULL ? tensor_of(a) : tensor_of(b), true);
        return TSR_OK;
    }
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    int x = add_operand(&lazy->f, a), y = add_operand(&lazy->f, b);
    add_step(&lazy->f, rows[op].kernel, rows[op].name, 1, 2, x, y);
    lazy->f.step[lazy->f.nsteps - 1].truth = true;
    return finish(out, lazy, last);
}

TsrStatus lazy_where(Value *out, Value condition, Value a, Value b, bool last) {
    *out = VALUE_UNBOUND;
    if (!is_truth(condition) || !enabled() || !are_alike(a, b) || !has_room(3, (Value[]){condition, a, b}))
        return TSR_OK;
    if (!tsr_fuse_alike(tsr_fuse_first(&((Lazy *)condition.o)->f), tensor_of(a) != NULL ? tensor_of(a) : tensor_of(b)))
        return TSR_OK;
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    int c = add_operand(&lazy->f, condition), x = add_operand(&lazy->f, a), y = add_operand(&lazy->f, b);
    add_step(&lazy->f, TSR_K_where, "where", 1, 3, c, x);
    lazy->f.step[lazy->f.nsteps - 1].in[2] = y;
    return finish(out, lazy, last);
}

/* number / tensor is its reciprocal times the number; 1 changes none. */
static void add_quotient_of_number(TsrFused *f, Value number, Value v) {
    bool one = number.tag == V_FLOAT ? number.f == 1 : number.tag == V_BOOL ? number.b : number.i == 1;
    int y = add_operand(f, v);
    y = add_step(f, TSR_K_reciprocal, one ? "mul" : "reciprocal", 1, 1, y, 0);
    if (one) return;
    int x = add_operand(f, number);
    add_step(f, TSR_K_mul, "mul", 1, 2, y, x);
}

TsrStatus lazy_binary(Value *out, BinaryOp op, Value a, Value b, bool last) {
    const char *name = NULL;
    TsrKernel kernel = binary_kernel(op, &name);
    *out = VALUE_UNBOUND;
    if ((op == OP_AND || op == OP_OR || op == OP_XOR) && is_truth(a) && is_truth(b))
        return join_truths(out, op, a, b, last);
    if (kernel == TSR_K_NONE || !fits(op, a, b, last)) return TSR_OK;
    if (!enabled()) {
        if (!last) tell_not_held(tensor_of(a) != NULL ? tensor_of(a) : tensor_of(b), false);
        return TSR_OK;
    }
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    TsrFused *f = &lazy->f;
    if (op == OP_DIV && is_number(a)) {
        add_quotient_of_number(f, a, b);
    } else if (op == OP_POW) {
        kernel = power_kernel(tensor_of(a), b); /* before a's steps move into f */
        add_step(f, kernel, name, 2, 1, add_operand(f, a), 0);
    } else {
        int x = add_operand(f, a), y = add_operand(f, b);
        add_step(f, kernel, name, 1, 2, x, y);
    }
    return finish(out, lazy, last);
}

/* One operand and one kernel. */
static TsrStatus unary_step(Value *out, TsrKernel kernel, const char *name, int cost, Value v, bool last) {
    *out = VALUE_UNBOUND;
    if (!enabled() && !last) tell_not_held(tensor_of(v), false);
    if (!enabled() || tensor_of(v) == NULL || (last && !value_is_lazy(v))) return TSR_OK;
    if (value_is_lazy(v) && ((Lazy *)v.o)->f.nsteps + 2 > TSR_FUSE_STEPS) return TSR_OK;
    Lazy *lazy = lazy_new();
    if (lazy == NULL) return TSR_MEMORY_ERROR;
    int x = add_operand(&lazy->f, v);
    add_step(&lazy->f, kernel, name, cost, 1, x, 0);
    return finish(out, lazy, last);
}

TsrStatus lazy_unary(Value *out, UnaryOp op, Value v, bool last) {
    *out = VALUE_UNBOUND;
    if (op == OP_INVERT && is_truth(v)) return invert_truth(out, v, last);
    return op == OP_NEG ? unary_step(out, TSR_K_neg, "neg", 1, v, last) : TSR_OK;
}

TsrStatus lazy_call(Value *out, const char *name, Value v, bool last) {
    *out = VALUE_UNBOUND;
    for (size_t i = 0; i < TSR_COUNTOF(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return unary_step(out, functions[i].kernel, functions[i].name, functions[i].cost, v, last);
    return TSR_OK;
}

TsrStatus lazy_sum(Value *slot, bool mean) {
    if (!value_is_lazy(*slot)) return TSR_OK;
    if (mean && is_truth(*slot)) return lazy_force(slot); /* there is none */
    TsrTensor *t;
    TSR_TRY(tsr_fuse_sum_new(&t, &((Lazy *)slot->o)->f, mean));
    value_set_move(slot, value_tensor_move(t));
    return TSR_OK;
}

TsrStatus lazy_force(Value *slot) {
    if (!value_is_lazy(*slot)) return TSR_OK;
    TsrTensor *t;
    TSR_TRY(tsr_fuse_run_new(&t, &((Lazy *)slot->o)->f));
    value_set_move(slot, value_tensor_move(t));
    return TSR_OK;
}
