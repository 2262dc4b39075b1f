/* Operators between tensors and numbers: the row that an operator stands for, called directly. */
#include "tensor.h"

#include <string.h>

#include "torch/bind/bind.h"
#include "core/engine/fast.h"
#include "lang/types/numbers.h"

/* The rows behind one operator: with a tensor on the right, with a number on the right, with a number on the left. */
typedef struct Rows {
    const char *name, *other_name;
    bool ready;
    const TsrOp *tensor, *scalar, *left; /* NULL: the number is wrapped as a tensor */
    const TsrSchema *tensor_schema, *scalar_schema, *left_schema;
} Rows;

static Rows binary_rows[] = {
    [OP_ADD] = {.name = "add"},
    [OP_SUB] = {.name = "sub"},
    [OP_MUL] = {.name = "mul"},
    [OP_MATMUL] = {.name = "matmul"},
    [OP_DIV] = {.name = "div"},
    [OP_FLOORDIV] = {.name = "floor_divide"},
    [OP_MOD] = {.name = "remainder"},
    [OP_POW] = {.name = "pow"},
    [OP_LSHIFT] = {.name = "__lshift__", .other_name = "bitwise_left_shift"},
    [OP_RSHIFT] = {.name = "__rshift__", .other_name = "bitwise_right_shift"},
    [OP_AND] = {.name = "bitwise_and"},
    [OP_OR] = {.name = "bitwise_or"},
    [OP_XOR] = {.name = "bitwise_xor"},
};
static Rows compare_rows[] = {[CMP_EQ] = {.name = "eq"}, [CMP_NE] = {.name = "ne"}, [CMP_LT] = {.name = "lt"},
                              [CMP_LE] = {.name = "le"}, [CMP_GT] = {.name = "gt"}, [CMP_GE] = {.name = "ge"}};
static Rows unary_rows[] = {
    [OP_NEG] = {.name = "neg"}, [OP_POS] = {.name = "positive"}, [OP_INVERT] = {.name = "bitwise_not"}};
static Rows reciprocal_row = {.name = "reciprocal"};

static bool rest_has_defaults(const TsrSchema *s, int from) {
    for (int i = from; i < s->nparams; i++)
        if (!s->params[i].has_default) return false;
    return true;
}

static TsrStatus resolve(Rows *r) {
    const TsrOpSet *set = tsr_op_find(r->name);
    if (set == NULL && r->other_name != NULL) set = tsr_op_find(r->other_name);
    for (int i = 0; set != NULL && i < set->n; i++) {
        const TsrSchema *s;
        TSR_TRY(tsr_op_schema(&s, set->ops[i]));
        int tensors = 0;
        if (s->nparams > 0 && s->params[0].type == TSR_ARG_TENSOR) tensors = 1;
        if (s->nparams == 1 && tensors && r->tensor == NULL) r->tensor = set->ops[i], r->tensor_schema = s;
        if (s->nparams < 2 || !rest_has_defaults(s, 2)) continue;
        TsrArgKind a = s->params[0].type, b = s->params[1].type;
        if (a == TSR_ARG_TENSOR && b == TSR_ARG_TENSOR && r->tensor == NULL)
            r->tensor = set->ops[i], r->tensor_schema = s;
        if (a == TSR_ARG_TENSOR && b == TSR_ARG_SCALAR && r->scalar == NULL)
            r->scalar = set->ops[i], r->scalar_schema = s;
        if (a == TSR_ARG_SCALAR && b == TSR_ARG_TENSOR && r->left == NULL) r->left = set->ops[i], r->left_schema = s;
    }
    r->ready = true;
    return r->tensor != NULL ? TSR_OK : tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "operator %s is not available", r->name);
}

static inline TsrStatus need(Rows *r) { return TSR_LIKELY(r->ready && r->tensor != NULL) ? TSR_OK : resolve(r); }

static TsrStatus run_row(Value *out, const TsrOp *op, const TsrSchema *schema, TsrArg a, TsrArg b, bool inplace) {
    TsrOpCall call;
    TsrArg arg[TSR_MAX_ARGS];
    memset(call.out, 0, sizeof call.out);
    arg[0] = a;
    if (schema->nparams > 1) arg[1] = b;
    for (int i = 2; i < schema->nparams; i++) arg[i] = schema->params[i].value;
    call.op = op;
    call.schema = schema;
    call.arg = arg;
    call.nargs = schema->nparams;
    call.inplace = inplace;
    call.spent = false;
    call.nret = 0;
    if (inplace) call.out[0] = a.t;
    TSR_TRY(tsr_op_run(&call));
    return bind_result_move(out, &call);
}

static inline TsrArg tensor_arg(TsrTensor *t) { return (TsrArg){.kind = TSR_ARG_TENSOR, .t = t}; }
static inline TsrArg scalar_arg(TsrScalar s) { return (TsrArg){.kind = TSR_ARG_SCALAR, .s = s}; }

/* tensor op tensor, with one of them made from a number when `wrap` says so (freed afterwards). */
static TsrStatus run_wrapped(Value *out, Rows *r, TsrTensor *t, TsrScalar number, bool number_left, bool inplace) {
    TsrTensor *w;
    TSR_TRY(tsr_tensor_new_wrapped(&w, number));
    TsrStatus s = number_left ? run_row(out, r->tensor, r->tensor_schema, tensor_arg(w), tensor_arg(t), false)
                              : run_row(out, r->tensor, r->tensor_schema, tensor_arg(t), tensor_arg(w), inplace);
    tsr_tensor_free(w);
    return s;
}

/* An operand: a tensor (*t), a number (*n), or neither (*fits false). */
static inline TsrStatus operand(TsrTensor **t, TsrScalar *n, bool *fits, Value v) {
    *fits = true;
    *t = NULL;
    if (TSR_LIKELY(v.tag == V_TENSOR)) {
        *t = v.t;
        return TSR_OK;
    }
    if (v.tag == V_OBJ) {
        TSR_TRY(bind_tensor_of(t, v));
        if (*t != NULL) return TSR_OK;
    }
    return bind_scalar(n, fits, v);
}

static TsrStatus right_number(Value *out, Rows *r, TsrTensor *t, TsrScalar n, bool inplace) {
    if (r->scalar != NULL) return run_row(out, r->scalar, r->scalar_schema, tensor_arg(t), scalar_arg(n), inplace);
    return run_wrapped(out, r, t, n, false, inplace);
}

/* number / tensor is reciprocal() * number in PyTorch, and rounds so. */
static TsrStatus divide_number(Value *out, TsrScalar n, TsrTensor *t) {
    TSR_TRY(need(&reciprocal_row));
    TSR_TRY(need(&binary_rows[OP_MUL]));
    Value inverse;
    TSR_TRY(run_row(&inverse, reciprocal_row.tensor, reciprocal_row.tensor_schema, tensor_arg(t),
                    (TsrArg){.kind = TSR_ARG_NONE}, false));
    TsrStatus s = right_number(out, &binary_rows[OP_MUL], inverse.t, n, false);
    value_release(inverse);
    return s;
}

static TsrStatus left_number(Value *out, Rows *r, BinaryOp op, TsrScalar n, TsrTensor *t) {
    if (op == OP_DIV) return divide_number(out, n, t);
    if (r->left != NULL) return run_row(out, r->left, r->left_schema, scalar_arg(n), tensor_arg(t), false);
    bool commutes = op == OP_ADD || op == OP_MUL || op == OP_AND || op == OP_OR || op == OP_XOR;
    return commutes ? right_number(out, r, t, n, false) : run_wrapped(out, r, t, n, true, false);
}

/* --- plain tensors: past the table --- */

enum { NOT_FAST = TSR_FAST_COUNT };
static const uint8_t fast_binary[] = {
    [OP_ADD] = TSR_FAST_ADD, [OP_SUB] = TSR_FAST_SUB,  [OP_MUL] = TSR_FAST_MUL, [OP_MATMUL] = NOT_FAST,
    [OP_DIV] = TSR_FAST_DIV, [OP_FLOORDIV] = NOT_FAST, [OP_MOD] = NOT_FAST,     [OP_POW] = TSR_FAST_POW,
    [OP_LSHIFT] = NOT_FAST,  [OP_RSHIFT] = NOT_FAST,   [OP_AND] = TSR_FAST_AND, [OP_OR] = TSR_FAST_OR,
    [OP_XOR] = TSR_FAST_XOR};
static const uint8_t fast_compare[] = {[CMP_EQ] = TSR_FAST_EQ, [CMP_NE] = TSR_FAST_NE, [CMP_LT] = TSR_FAST_LT,
                                       [CMP_LE] = TSR_FAST_LE, [CMP_GT] = TSR_FAST_GT, [CMP_GE] = TSR_FAST_GE};

static inline bool plain_number(TsrScalar *n, Value v) {
    if (v.tag == V_INT) *n = tsr_scalar_int(v.i);
    else if (v.tag == V_FLOAT) *n = tsr_scalar_float(v.f);
    else return false;
    return true;
}

/* True when the operation was done, *status with what outcome. */
static inline bool try_fast(Value *out, TsrStatus *status, uint8_t op, Value a, Value b, unsigned dying) {
    TsrTensor *result = NULL;
    TsrScalar n;
    bool done;
    if (op == NOT_FAST) return false;
    if (a.tag == V_TENSOR && b.tag == V_TENSOR)
        done = op != TSR_FAST_POW && tsr_fast_binary_new(&result, status, op, a.t, b.t, dying);
    else if (a.tag == V_TENSOR && plain_number(&n, b))
        done = tsr_fast_number_new(&result, status, op, a.t, n, false, dying);
    else if (b.tag == V_TENSOR && plain_number(&n, a))
        done = tsr_fast_number_new(&result, status, op, b.t, n, true, dying);
    else return false;
    if (done && *status == TSR_OK) *out = value_tensor_move(result);
    return done;
}

TsrStatus tensor_binary(Value *out, BinaryOp op, Value a, Value b) {
    TsrTensor *x, *y;
    unsigned dying = value_dying;
    TsrStatus status;
    value_dying = 0;
    if (TSR_LIKELY(try_fast(out, &status, fast_binary[op], a, b, dying))) return status;
    TsrScalar m = tsr_scalar_int(0), n = tsr_scalar_int(0);
    bool fits;
    *out = VALUE_UNBOUND;
    if (op == OP_MATMUL && (value_is_int(a) || value_is_int(b))) return TSR_OK; /* of any size */
    TSR_TRY(operand(&x, &m, &fits, a));
    if (!fits) return TSR_OK;
    TSR_TRY(operand(&y, &n, &fits, b));
    if (!fits || (op == OP_MATMUL && (x == NULL || y == NULL))) return TSR_OK;
    Rows *r = &binary_rows[op];
    TSR_TRY(need(r));
    if (TSR_LIKELY(x != NULL && y != NULL))
        return run_row(out, r->tensor, r->tensor_schema, tensor_arg(x), tensor_arg(y), false);
    return x != NULL ? right_number(out, r, x, n, false) : left_number(out, r, op, m, y);
}

TsrStatus tensor_inplace(Value *out, BinaryOp op, Value self, Value b) {
    TsrTensor *y;
    TsrScalar n = tsr_scalar_int(0);
    bool fits;
    *out = VALUE_UNBOUND;
    if (op == OP_MATMUL || self.tag != V_TENSOR) return TSR_OK;
    uint8_t fast = fast_binary[op];
    TsrStatus status;
    if (fast != NOT_FAST && fast != TSR_FAST_POW &&
        (b.tag == V_TENSOR ? tsr_fast_inplace(&status, fast, self.t, b.t)
                           : plain_number(&n, b) && tsr_fast_inplace_number(&status, fast, self.t, n))) {
        TSR_TRY(status);
        *out = value_retain(self);
        return TSR_OK;
    }
    TSR_TRY(operand(&y, &n, &fits, b));
    if (!fits) return TSR_OK;
    Rows *r = &binary_rows[op];
    TSR_TRY(need(r));
    if (y != NULL) return run_row(out, r->tensor, r->tensor_schema, tensor_arg(self.t), tensor_arg(y), true);
    return right_number(out, r, self.t, n, true);
}

static CompareOp mirrored(CompareOp op) {
    switch (op) {
    case CMP_LT: return CMP_GT;
    case CMP_LE: return CMP_GE;
    case CMP_GT: return CMP_LT;
    case CMP_GE: return CMP_LE;
    default: return op;
    }
}

TsrStatus tensor_compare(Value *out, CompareOp op, Value a, Value b) {
    TsrTensor *x, *y;
    TsrScalar m = tsr_scalar_int(0), n = tsr_scalar_int(0);
    bool fits;
    *out = VALUE_UNBOUND;
    if (op > CMP_GE) return TSR_OK;
    TsrStatus status;
    if (a.tag == V_TENSOR && try_fast(out, &status, fast_compare[op], a, b, 0)) return status;
    TSR_TRY(operand(&x, &m, &fits, a));
    if (!fits) return TSR_OK;
    TSR_TRY(operand(&y, &n, &fits, b));
    if (!fits) return TSR_OK;
    if (x == NULL) { /* 2 < x is x > 2 */
        x = y;
        y = NULL;
        n = m;
        op = mirrored(op);
    }
    if (x == NULL) return TSR_OK;
    Rows *r = &compare_rows[op];
    TSR_TRY(need(r));
    if (y != NULL) return run_row(out, r->tensor, r->tensor_schema, tensor_arg(x), tensor_arg(y), false);
    return right_number(out, r, x, n, false);
}

TsrStatus tensor_unary(Value *out, UnaryOp op, Value self) {
    *out = VALUE_UNBOUND;
    if (op == OP_NOT) return TSR_OK;
    if (op == OP_INVERT && !tsr_dtype_is_integral(self.t->dtype) && self.t->dtype != TSR_BOOL)
        return tsr_error(TSR_TYPE_ERROR, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
    unsigned dying = value_dying;
    TsrTensor *result;
    TsrStatus status;
    value_dying = 0;
    if (op == OP_NEG && tsr_fast_unary_new(&result, &status, TSR_FAST_NEG, self.t, dying)) {
        if (status == TSR_OK) *out = value_tensor_move(result);
        return status;
    }
    Rows *r = &unary_rows[op];
    TSR_TRY(need(r));
    return run_row(out, r->tensor, r->tensor_schema, tensor_arg(self.t), (TsrArg){.kind = TSR_ARG_NONE}, false);
}
