/* operators.h: the operators of the language, as the tree, the evaluator and the values name them. */
#ifndef LANG_SYNTAX_OPERATORS_H
#define LANG_SYNTAX_OPERATORS_H

#include <stdbool.h>

typedef enum UnaryOp { OP_NOT, OP_NEG, OP_POS, OP_INVERT } UnaryOp;
/* Each binary operator: its constant, the name of its method (__add__, __radd__, __iadd__), of its function in the
 * module operator, its sign. */
#define BINARY_OPERATORS(X) \
    X(OP_ADD, add, add, "+") \
    X(OP_SUB, sub, sub, "-") \
    X(OP_MUL, mul, mul, "*") \
    X(OP_MATMUL, matmul, matmul, "@") \
    X(OP_DIV, truediv, truediv, "/") \
    X(OP_FLOORDIV, floordiv, floordiv, "//") \
    X(OP_MOD, mod, mod, "%") \
    X(OP_POW, pow, pow, "**") \
    X(OP_LSHIFT, lshift, lshift, "<<") \
    X(OP_RSHIFT, rshift, rshift, ">>") X(OP_AND, and, and_, "&") X(OP_OR, or, or_, "|") X(OP_XOR, xor, xor, "^")
/* Each comparison that a type may define: its constant, the name of its method and its function, its sign. */
#define COMPARE_OPERATORS(X) \
    X(CMP_EQ, eq, "==") \
    X(CMP_NE, ne, "!=") X(CMP_LT, lt, "<") X(CMP_LE, le, "<=") X(CMP_GT, gt, ">") X(CMP_GE, ge, ">=")

#define CONSTANT(name, ...) name,
typedef enum BinaryOp { BINARY_OPERATORS(CONSTANT) } BinaryOp;
typedef enum CompareOp { COMPARE_OPERATORS(CONSTANT) CMP_IS, CMP_IS_NOT, CMP_IN, CMP_NOT_IN } CompareOp;
#undef CONSTANT

/* Whether `a op b` when a is less than (order < 0), equal to (0) or greater than b; op is one of EQ to GE. */
static inline bool compare_order(CompareOp op, int order) {
    switch (op) {
    case CMP_EQ: return order == 0;
    case CMP_NE: return order != 0;
    case CMP_LT: return order < 0;
    case CMP_LE: return order <= 0;
    case CMP_GT: return order > 0;
    default: return order >= 0;
    }
}

#endif
