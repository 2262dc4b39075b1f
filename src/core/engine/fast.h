/* fast.h: operators on plain tensors without the operator table or an iterator.
 *
 * Plain: dense cpu tensors, contiguous, no lazy bits, of one dtype and one shape, or one of them 0-d or a number that
 * does not change the dtype. Results are those of the operator of the table, bit for bit; anything else, and every
 * error, is left to it: the functions then return false and have done nothing. When they return true *status is what
 * the operator returned and *out (the caller's) its result.
 *
 * `dying` says which operands the caller lets go right after (their one reference is the caller's): when such a tensor
 * owns its memory alone, the result is written over it and is the same tensor, retained. */
#ifndef CORE_ENGINE_FAST_H
#define CORE_ENGINE_FAST_H

#include "core/kernels/pointwise/table.h"
#include "core/tensor.h"

/* The operators that have a fast way. */
typedef enum TsrFastOp {
    TSR_FAST_ADD,
    TSR_FAST_SUB,
    TSR_FAST_MUL,
    TSR_FAST_DIV,
    TSR_FAST_AND,
    TSR_FAST_OR,
    TSR_FAST_XOR,
    TSR_FAST_EQ,
    TSR_FAST_NE,
    TSR_FAST_LT,
    TSR_FAST_LE,
    TSR_FAST_GT,
    TSR_FAST_GE,
    TSR_FAST_POW, /* by a number */
    TSR_FAST_NEG, /* unary */
    TSR_FAST_COUNT
} TsrFastOp;
/* The kernel that makes x ** exponent in one step, for x of dtype d; TSR_K_NONE where there is none. Of bfloat16 those
 * are not among them that PyTorch rounds step by step. */
TsrKernel tsr_power_kernel(double exponent, TsrDtype d);

/* Bits of `dying`. */
enum { TSR_DYING_LEFT = 1, TSR_DYING_RIGHT = 2 };

/* a op b, of one shape or one of them 0-d. */
bool tsr_fast_binary_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrTensor *b, unsigned dying);
/* a op n, or n op a when `reversed`. */
bool tsr_fast_number_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrScalar n, bool reversed,
                         unsigned dying);
/* op a; `dying`: TSR_DYING_LEFT or 0. */
bool tsr_fast_unary_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, unsigned dying);
/* a op= b; the version is bumped. */
bool tsr_fast_inplace(TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrTensor *b);
bool tsr_fast_inplace_number(TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrScalar n);
/* Whether the result of an operator may be written over `t`, of which the caller holds the one reference: t owns the
 * whole of its memory alone, nothing links to it, and its storage has not been shown by id, so that nobody can notice.
 */
bool tsr_fast_reusable(const TsrTensor *t);

#endif
