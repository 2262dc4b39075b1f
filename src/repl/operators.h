/* operators.h: the operators of the language, as the tree, the evaluator and the values name them. */
#ifndef REPL_OPERATORS_H
#define REPL_OPERATORS_H

#include <stdbool.h>

typedef enum UnaryOp { OP_NOT, OP_NEG, OP_POS, OP_INVERT } UnaryOp;
typedef enum BinaryOp {
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_MATMUL,
    OP_DIV,
    OP_FLOORDIV,
    OP_MOD,
    OP_POW,
    OP_LSHIFT,
    OP_RSHIFT,
    OP_AND,
    OP_OR,
    OP_XOR
} BinaryOp;
typedef enum CompareOp { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_IS, CMP_IS_NOT, CMP_IN, CMP_NOT_IN } CompareOp;

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
