/* fold.c: values known before the program runs: constants, and tuples, slices and small arithmetic of them. */
#include "compile_impl.h"

#include "lang/types/bytes.h"
#include "lang/types/numbers.h"

#include <string.h>

static TsrStatus constant_value(Value *out, const Node *node) {
    switch (node->constant.kind) {
    case CONST_NONE: *out = VALUE_NONE; return TSR_OK;
    case CONST_TRUE: *out = VALUE_TRUE; return TSR_OK;
    case CONST_FALSE: *out = VALUE_FALSE; return TSR_OK;
    case CONST_ELLIPSIS: *out = value_retain(VALUE_ELLIPSIS); return TSR_OK;
    case CONST_INT:
        return int_new_digits(out, node->constant.text, (int64_t)strlen(node->constant.text), node->constant.base);
    case CONST_FLOAT: *out = value_float(node->constant.number); return TSR_OK;
    case CONST_IMAGINARY: return complex_new(out, 0.0, node->constant.number);
    case CONST_BYTES: return bytes_new(out, node->constant.text, (int64_t)node->constant.length);
    default: break;
    }
    if (node->constant.length > 64) return str_new(out, node->constant.text, (int64_t)node->constant.length);
    Str *s = str_intern(node->constant.text, (int64_t)node->constant.length);
    if (s == NULL) return TSR_MEMORY_ERROR;
    *out = value_obj_move(obj_retain(s));
    return TSR_OK;
}

static bool is_number(Value v) {
    return v.tag == V_INT || v.tag == V_FLOAT || value_is_complex(v) || value_is_bigint(v);
}

bool fold_items(Compiler *c, Value *out, const NodeList *list) {
    Value *items = tsr_malloc((size_t)list->count * sizeof *items + 1);
    int n = 0;
    while (items != NULL && n < list->count && fold(c, &items[n], list->items[n])) n++;
    bool whole = items != NULL && n == list->count;
    if (whole) {
        TsrStatus status = tuple_new_move(out, items, n);
        if (status != TSR_OK) compile_fail(c, status);
        whole = status == TSR_OK;
    } else {
        values_release(items, n);
    }
    tsr_free(items);
    return whole;
}

static bool fold_slice(Compiler *c, Value *out, const Node *node) {
    const Node *parts[3] = {node->slice.lower, node->slice.upper, node->slice.step};
    Value v[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    bool ok = true;
    for (int i = 0; i < 3 && ok; i++)
        if (parts[i] != NULL) ok = fold(c, &v[i], parts[i]);
    TsrStatus status = ok ? slice_new(out, v[0], v[1], v[2]) : TSR_OK;
    if (status != TSR_OK) compile_fail(c, status);
    values_release(v, 3);
    return ok && status == TSR_OK;
}

/* Numbers only, and only operators whose result is as small as its operands. */
static bool fold_binary(Compiler *c, Value *out, const Node *node) {
    BinaryOp op = node->binary.op;
    if (op != OP_ADD && op != OP_SUB && op != OP_MUL && op != OP_DIV) return false;
    Value l, r;
    if (!fold(c, &l, node->binary.left)) return false;
    if (!fold(c, &r, node->binary.right)) {
        value_release(l);
        return false;
    }
    bool ok = is_number(l) && is_number(r);
    TsrStatus status = ok ? value_binary(out, op, l, r) : TSR_OK;
    if (status != TSR_OK) exc_discard(status);
    value_release(l);
    value_release(r);
    return ok && status == TSR_OK;
}

bool fold(Compiler *c, Value *out, const Node *node) {
    TsrStatus status;
    switch (node->kind) {
    case AST_CONSTANT:
        status = constant_value(out, node);
        if (status != TSR_OK) compile_fail(c, status);
        return status == TSR_OK;
    case AST_TUPLE: return fold_items(c, out, &node->list);
    case AST_SLICE: return fold_slice(c, out, node);
    case AST_BINARY: return fold_binary(c, out, node);
    case AST_UNARY: {
        Value v;
        if (node->unary.op == OP_NOT || !fold(c, &v, node->unary.operand)) return false;
        bool ok = is_number(v);
        status = ok ? value_unary(out, node->unary.op, v) : TSR_OK;
        if (status != TSR_OK) exc_discard(status);
        value_release(v);
        return ok && status == TSR_OK;
    }
    default: return false;
    }
}
