/* tensor.h: the Type of tensors: operators, attributes, methods, iteration, conversion, display.
 *
 * Methods and properties come from the operator table, made when first asked for; what is not an operator (tolist,
 * storages, grad) stands in tables of tensor_methods.c, above it, which gives them to the type at start-up. */
#ifndef TORCH_TENSOR_TENSOR_H
#define TORCH_TENSOR_TENSOR_H

#include "core/op.h"
#include "lang/object/value.h"

extern Type torch_tensor_type; /* torch.Tensor */
extern Type
    float_tensor_types[TSR_DTYPE_COUNT]; /* torch.FloatTensor and its kin, by dtype; name NULL where torch has none */

/* Registers the type, its hooks and what torch_ns needs. */
TsrStatus tensor_type_startup(void);

/* The slots, for the evaluator's fast paths: V_UNBOUND when the operands do not fit. */
TsrStatus tensor_binary(Value *out, BinaryOp op, Value a, Value b);
TsrStatus tensor_inplace(Value *out, BinaryOp op, Value self, Value b);
TsrStatus tensor_compare(Value *out, CompareOp op, Value a, Value b);
TsrStatus tensor_unary(Value *out, UnaryOp op, Value self);

/* torch.Tensor(...), torch.FloatTensor(...): sizes, data or another tensor. */
TsrStatus tensor_construct(Value *out, Type *type, const CallArgs *args);

#endif
