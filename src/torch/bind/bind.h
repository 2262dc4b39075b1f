/* bind.h: calling rows of the operator table from the language, as PyTorch's argument parser would.
 *
 * An OpFunction is the value behind torch.add, x.add, x.add_: all overloads of one name in one form. A call tries
 * the overloads in PyTorch's order, fills a TsrOpCall on the stack (no heap in the common case), runs it and
 * turns the results into values. What does not fit raises PyTorch's TypeError, word for word. */
#ifndef TORCH_BIND_H
#define TORCH_BIND_H

#include "core/op.h"
#include "lang/object/value.h"

typedef enum BindForm {
    BIND_FUNCTION,        /* torch.add(x, y): self is called input */
    BIND_METHOD,          /* x.add(y) */
    BIND_INPLACE,         /* x.add_(y) */
    BIND_INPLACE_FUNCTION /* torch.relu_(x) */
} BindForm;

typedef struct BindParser BindParser;

typedef struct OpFunction {
    Obj obj;
    const TsrOpSet *set;
    const char *name;   /* "add", "add_", "linalg_inv": as errors call it; owned by the program's lifetime */
    uint8_t form;       /* BindForm */
    uint8_t quick;      /* 1 + the TsrFastOp (core/fast.h) that a call with two tensors is; 0: none */
    bool starred;       /* declared with *tensors: f(x, y, z) is f((x, y, z)) */
    bool python;        /* a Python function in PyTorch: CPython's words for missing and surplus arguments */
    bool bound;         /* being called as a value made by x.name: CPython words one error otherwise */
    BindParser *parser; /* the signatures; made at the first call */
} OpFunction;

extern Type op_function_type; /* builtin_function_or_method */
/* The function behind torch.add, Tensor.add or x.add; NULL for other values. Lent. */
OpFunction *bind_function_of(Value v);

/* The function object for a form of the operator, the same one each time; V_UNBOUND when it has no such form.
 * `name` is torch's ("add", "add_", "linalg.inv"). *out is the caller's. */
TsrStatus bind_new_function(Value *out, const char *name);
TsrStatus bind_new_method(Value *out, const char *name);

/* Calls the operator `name` in its function form with positional values, all lent. */
TsrStatus bind_call(Value *out, const char *name, int count, const Value *values);

/* The tensor behind a value; *lent NULL when it is none. Wrappers of tensors (MaybeOwned, caffe2 tensors, TH
 * handles) add themselves here: the hook answers for V_OBJ values, and may fail (a dangling borrow). */
extern TsrStatus (*bind_tensor_hook)(TsrTensor **lent, Value v);
static inline TsrStatus bind_tensor_of(TsrTensor **lent, Value v) {
    *lent = v.tag == V_TENSOR ? v.t : NULL;
    return v.tag == V_OBJ && bind_tensor_hook != NULL ? bind_tensor_hook(lent, v) : TSR_OK;
}

/* Functions that fail as PyTorch's Python code around an operator does, by the operator's name ("Tensor_NAME" for the
 * method); the caller's, V_UNBOUND: none. Set by who has them. */
extern TsrStatus (*bind_refusal)(Value *out, const char *name);

/* A number of the language as a Scalar (bool, int, float, complex, or a 0-d tensor); *ok false: it is none. */
TsrStatus bind_scalar(TsrScalar *out, bool *ok, Value v);
TsrStatus bind_scalar_value(Value *out, TsrScalar s); /* as item() gives it */
/* int arguments: an int or a tensor of one integer, not bool. */
bool bind_is_index(Value v);
/* Sizes given as one sequence or as several ints: the n of them into out, which has room for TSR_MAX_DIMS. `name` for
 * errors. */
TsrStatus bind_sizes(int64_t *out, int *n, const CallArgs *args, const char *function, const char *name);
struct Module;
/* Adds the types of named results to torch.return_types. */
TsrStatus bind_fill_return_types(struct Module *module);
/* A row's result as a value. */
TsrStatus bind_result_move(Value *out, TsrOpCall *call);

/* "requires_grad=True is not supported": raised wherever it is asked for. */
TsrStatus bind_refuse_grad(void);

#endif
