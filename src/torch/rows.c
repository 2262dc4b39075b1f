/* Rows of the operator table that only the language can do: data from its values, questions about its numbers. */
#include "torch/bind/bind.h"
#include "lang/types/bytes.h"
#include "core/tensor/loan.h"
#include "core/io_stream.h"
#include "core/op/sparse.h"
#include "core/promote.h"
#include "core/tensor/owned.h"
#include "torch/tensor/tensor_from.h"
#include "functions.h"
#include "types.h"

static TsrStatus check_grad(const TsrArg *requires_grad) {
    return tsr_arg_given(requires_grad) && requires_grad->b ? bind_refuse_grad() : TSR_OK;
}

static TsrDtype dtype_arg(const TsrArg *a) { return tsr_arg_given(a) ? a->dtype : TSR_DTYPE_NONE; }
static TsrDevice device_arg(const TsrArg *a, TsrDevice otherwise) { return tsr_arg_given(a) ? a->device : otherwise; }

static TsrDevice device_of_data(Value v) { return v.tag == V_TENSOR ? v.t->device : TSR_DEVICE_CPU; }

static TsrStatus row_tensor(TsrOpCall *c) {
    Value data = *(const Value *)c->arg[0].any;
    TsrTensor *t;
    TSR_TRY(check_grad(&c->arg[3]));
    TSR_TRY(tensor_new_from_data(&t, data, dtype_arg(&c->arg[1]), device_arg(&c->arg[2], device_of_data(data))));
    bool pin = tsr_arg_given(&c->arg[4]) && c->arg[4].b && !tsr_is_meta(t);
    return tsr_finish_move(c, pin ? tsr_tensor_pin(t) : TSR_OK, t);
}

static TsrStatus row_new_tensor(TsrOpCall *c) {
    const TsrTensor *self = c->arg[0].t;
    TsrTensor *t;
    TSR_TRY(check_grad(&c->arg[4]));
    TSR_TRY(tensor_new_from_data(&t, *(const Value *)c->arg[1].any,
                                 tsr_arg_given(&c->arg[2]) ? c->arg[2].dtype : self->dtype,
                                 device_arg(&c->arg[3], self->device)));
    return tsr_return_move(c, t);
}

/* The tensor itself when nothing has to change, else a converted copy. */
static TsrStatus as_is_or_converted(TsrTensor **out, TsrTensor *t, TsrDtype d, TsrDevice device) {
    bool there = device.type == t->device.type && (!tsr_device_has_backend(device) || device.index == t->device.index);
    if ((d == TSR_DTYPE_NONE || d == t->dtype) && there) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    if (there && !tsr_is_sparse(t)) return tsr_tensor_new_cast(out, t, d);
    return tensor_new_from_data(out, (Value){.tag = V_TENSOR, .t = t}, d, device);
}

static TsrStatus row_as_tensor(TsrOpCall *c) {
    Value data = *(const Value *)c->arg[0].any;
    TsrTensor *t = NULL, *made;
    TSR_TRY(bind_tensor_of(&t, data));
    TsrDevice device = device_arg(&c->arg[2], device_of_data(data));
    if (t != NULL) TSR_TRY(as_is_or_converted(&made, t, dtype_arg(&c->arg[1]), device));
    else TSR_TRY(tensor_new_from_data(&made, data, dtype_arg(&c->arg[1]), device));
    return tsr_return_move(c, made);
}

static TsrStatus cannot_alias(const TsrTensor *t, TsrDtype d) {
    return tsr_error(TSR_VALUE_ERROR, "can't alias tensor with dtype '%s' into dtype '%s'.",
                     tsr_dtype_scalar_name(t->dtype), tsr_dtype_scalar_name(d));
}

static TsrStatus asarray_tensor(TsrTensor **out, TsrTensor *t, const TsrOpCall *c) {
    TsrDtype d = dtype_arg(&c->arg[1]);
    bool must_copy = tsr_arg_given(&c->arg[3]) && c->arg[3].b, must_alias = tsr_arg_given(&c->arg[3]) && !c->arg[3].b;
    if (must_alias && d != TSR_DTYPE_NONE && d != t->dtype) return cannot_alias(t, d);
    TsrDevice device = device_arg(&c->arg[2], t->device);
    if (must_copy) return tensor_new_from_data(out, (Value){.tag = V_TENSOR, .t = t}, d, device);
    return as_is_or_converted(out, t, d, device);
}

static TsrStatus row_asarray(TsrOpCall *c) {
    Value data = *(const Value *)c->arg[0].any;
    TsrTensor *t = NULL, *made;
    TSR_TRY(check_grad(&c->arg[4]));
    TSR_TRY(bind_tensor_of(&t, data));
    if (t != NULL) {
        TSR_TRY(asarray_tensor(&made, t, c));
    } else if (value_is_bytes(data) || value_is_bytearray(data)) {
        TSR_OWNED over = NULL;
        TSR_TRY(tensor_new_from_buffer(&over, data, tsr_arg_given(&c->arg[1]) ? c->arg[1].dtype : TSR_UINT8, -1, 0));
        TSR_TRY(as_is_or_converted(&made, over, TSR_DTYPE_NONE, device_arg(&c->arg[2], TSR_DEVICE_CPU)));
    } else {
        if (tsr_arg_given(&c->arg[3]) && !c->arg[3].b)
            return tsr_error(TSR_VALUE_ERROR, "can't alias arbitrary sequence into a tensor.");
        TSR_TRY(tensor_new_from_data(&made, data, dtype_arg(&c->arg[1]), device_arg(&c->arg[2], TSR_DEVICE_CPU)));
    }
    return tsr_return_move(c, made);
}

static TsrStatus row_frombuffer(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(check_grad(&c->arg[4]));
    TSR_TRY(tensor_new_from_buffer(&t, *(const Value *)c->arg[0].any, c->arg[1].dtype, c->arg[2].i, c->arg[3].i));
    return tsr_return_move(c, t);
}

static TsrStatus row_from_file(TsrOpCall *c) {
    TsrStorage *storage;
    TsrTensor *t = NULL;
    TSR_TRY(check_grad(&c->arg[7]));
    if (tsr_arg_given(&c->arg[4]) && c->arg[4].layout != TSR_STRIDED)
        return tsr_error(TSR_RUNTIME_ERROR, "from_file: only strided tensors can be mapped");
    TsrDtype dtype = tsr_arg_given(&c->arg[3]) ? c->arg[3].dtype : tsr_default_dtype();
    int64_t n = tsr_arg_given(&c->arg[2]) ? c->arg[2].i : 0, nbytes, one = 1;
    if (!tsr_dtype_is_pod(dtype))
        return tsr_error(TSR_TYPE_ERROR, "from_file(): no file holds elements of %s", tsr_dtype_name(dtype));
    bool overflows = __builtin_mul_overflow(n, (int64_t)tsr_dtype_size(dtype), &nbytes);
    if (n < 0 || overflows)
        return tsr_error(TSR_RUNTIME_ERROR, "unable to mmap %lld bytes from file <%s>: Cannot allocate memory (12)",
                         (long long)nbytes, c->arg[0].str);
    TSR_TRY(
        tsr_storage_new_from_file(&storage, c->arg[0].str, tsr_arg_given(&c->arg[1]) && c->arg[1].b, (size_t)nbytes));
    TsrStatus status = tsr_tensor_new_over(&t, storage, (TsrGeometry){1, &n, &one, 0}, dtype);
    tsr_storage_free(storage);
    return tsr_finish_move(c, status, t);
}

/* The base that a slice was taken of, over the slice's memory. */
static TsrStatus row_slice_inverse(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *like = c->arg[1].t, *t;
    if (self->storage == NULL || tsr_is_sparse(like))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "Could not run 'aten::slice_inverse' with arguments from the 'SparseCPU' backend.");
    TSR_TRY(tsr_tensor_new_over(&t, self->storage, tsr_tensor_geometry(like), self->dtype));
    t->flags |= self->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG);
    return tsr_return_move(c, t);
}

static TsrStatus return_dtype(TsrOpCall *c, TsrDtype d) {
    c->ret[0] = (TsrArg){.kind = TSR_ARG_DTYPE, .dtype = d};
    c->nret = 1;
    return TSR_OK;
}

/* Numbers take part as wrapped tensors. */
static TsrStatus row_result_type(TsrOpCall *c) {
    TsrTensor *t[2] = {NULL, NULL}, *made[2] = {NULL, NULL};
    TsrStatus s = TSR_OK;
    for (int i = 0; i < 2 && s == TSR_OK; i++) {
        if (c->arg[i].kind == TSR_ARG_TENSOR) {
            t[i] = c->arg[i].t;
            continue;
        }
        s = tsr_tensor_new_wrapped(&made[i], c->arg[i].s);
        t[i] = made[i];
    }
    TsrDtype d = TSR_FLOAT32;
    if (s == TSR_OK) s = tsr_result_type(&d, t, 2);
    tsr_tensor_free(made[0]);
    tsr_tensor_free(made[1]);
    return s == TSR_OK ? return_dtype(c, d) : s;
}

static TsrStatus row_can_cast(TsrOpCall *c) {
    return tsr_return_bool(c, tsr_can_cast(c->arg[0].dtype, c->arg[1].dtype));
}

static TsrStatus row_promote_types(TsrOpCall *c) {
    TsrDtype d = TSR_FLOAT32;
    TSR_TRY(tsr_promote(&d, c->arg[0].dtype, c->arg[1].dtype));
    return return_dtype(c, d);
}

/* Overloads for numbers that only differ from the ones for tensors in how they are listed, and in a positional alpha.
 */
static TsrStatus row_number(TsrOpCall *c) {
    const TsrOpSet *set = tsr_op_find(c->schema->name);
    for (int i = 0; set != NULL && i < set->n; i++) {
        const TsrSchema *s;
        TSR_TRY(tsr_op_schema(&s, set->ops[i]));
        if (s->nparams != c->nargs || s->params[1].type != TSR_ARG_TENSOR) continue;
        TsrTensor *number;
        TSR_TRY(tsr_tensor_new_wrapped(&number, c->arg[1].s));
        TsrOpCall inner = *c;
        TsrArg arg[TSR_MAX_ARGS];
        for (int k = 0; k < c->nargs; k++) arg[k] = c->arg[k];
        arg[1] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = number};
        inner.op = set->ops[i];
        inner.schema = s;
        inner.arg = arg;
        TsrStatus status = inner.op->fn(&inner);
        tsr_tensor_free(number);
        TSR_TRY(status);
        c->ret[0] = inner.ret[0];
        c->nret = inner.nret;
        return TSR_OK;
    }
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "operator %s is not available", c->schema->name);
}

/* Products into another dtype exist on GPUs only. */
static TsrStatus row_out_dtype(TsrOpCall *c) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                     "Could not run 'aten::%s.dtype%s' with arguments from the 'CPU' backend.", c->schema->base,
                     c->out[0] != NULL ? "_out" : "");
}

#define NUMBERS TSR_FN | TSR_METHOD | TSR_INPLACE
#define ANY_TENSOR TSR_OP_CONJ | TSR_OP_SPARSE | TSR_OP_UNCHECKED | TSR_OP_OBJECT
#define FLAGGED(flags_, alias_, function, text, forms_, what, ex, ...) \
    { \
        .fn = function, .schema = text, .forms = forms_, .flags = (flags_), .alias = alias_, .category = "create", \
        .summary = what, .example = ex, .output = __VA_ARGS__ \
    }
#define ROW_OVER(...) FLAGGED(ANY_TENSOR, __VA_ARGS__)
#define ROW(...) ROW_OVER(TSR_FRESH, __VA_ARGS__)
/* The row it calls, without the dispatcher, may know no conjugate views. */
#define NUMBER_ROW(...) FLAGGED(TSR_OP_DEVICE | TSR_OP_SPARSE, TSR_FRESH, row_number, __VA_ARGS__)
static const TsrOp rows[] = {
    FLAGGED(ANY_TENSOR | TSR_OP_DEVICE, TSR_FRESH, row_tensor,
            "tensor(Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False, bool "
            "pin_memory=False) -> Tensor",
            TSR_FN, "A tensor of numbers given as nested lists; always a copy.", "tensor([[1, 2], [3, 4]])",
            "tensor([[1, 2],\n        [3, 4]])"),
    FLAGGED(ANY_TENSOR | TSR_OP_DEVICE, TSR_MAYBE_VIEW, row_as_tensor,
            "as_tensor(Any data, *, ScalarType? dtype=None, Device? device=None) -> Tensor", TSR_FN,
            "The tensor itself when it is one of that dtype, else a new one of the data.", "as_tensor([1, 2])",
            "tensor([1, 2])"),
    FLAGGED(
        ANY_TENSOR | TSR_OP_DEVICE, TSR_MAYBE_VIEW, row_asarray,
        "asarray(Any obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, bool? requires_grad=False) "
        "-> Tensor",
        TSR_FN, "A tensor of the data, over the same memory where that is possible.", "asarray([1, 2])",
        "tensor([1, 2])"),
    ROW_OVER(
        TSR_VIEW, row_frombuffer,
        "frombuffer(Any buffer, *, ScalarType dtype, int count=-1, int offset=0, bool requires_grad=False) -> Tensor",
        TSR_FN, "A tensor over the memory of bytes or a bytearray.", "frombuffer(b'ab', dtype=int8)",
        "tensor([97, 98], dtype=torch.int8)"),
    ROW_OVER(TSR_VIEW, row_from_file,
             "from_file(str filename, bool? shared=None, int? size=0, *, ScalarType? dtype=None, Layout? layout=None, "
             "Device? device=None, bool? pin_memory=False, bool requires_grad=False) -> Tensor",
             TSR_FN, "A tensor over a file, mapped: with shared=True what is written goes to the file.", NULL, NULL),
    ROW_OVER(TSR_VIEW, row_slice_inverse,
             "slice_inverse(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
             TSR_FN | TSR_METHOD, "The tensor like src that a slice was taken of, over the slice's memory.",
             "arange(5)[1:3].slice_inverse(arange(5), 0, 1, 3)", "tensor([0, 1, 2, 3, 4])"),
    FLAGGED(
        ANY_TENSOR | TSR_OP_DEVICE, TSR_FRESH, row_new_tensor,
        "new_tensor(Tensor self, Any data, *, ScalarType? dtype=None, Device? device=None, bool requires_grad=False) "
        "-> Tensor",
        TSR_METHOD, "A tensor of the data in self's dtype; always a copy.", "ones(1).new_tensor([1, 2])",
        "tensor([1., 2.])"),
    FLAGGED(ANY_TENSOR | TSR_OP_MIXED_DEVICES, TSR_FRESH, row_result_type,
            "result_type(Tensor tensor, Tensor other) -> ScalarType", TSR_FN, "The dtype of an operation on both.",
            "result_type(ones(1), 2)", "torch.float32"),
    FLAGGED(ANY_TENSOR | TSR_OP_MIXED_DEVICES, TSR_FRESH, row_result_type,
            "result_type(Scalar scalar, Tensor tensor) -> ScalarType", TSR_FN, "The dtype of an operation on both.",
            NULL, NULL),
    FLAGGED(ANY_TENSOR | TSR_OP_MIXED_DEVICES, TSR_FRESH, row_result_type,
            "result_type(Tensor tensor, Scalar other) -> ScalarType", TSR_FN, "The dtype of an operation on both.",
            NULL, NULL),
    FLAGGED(ANY_TENSOR | TSR_OP_MIXED_DEVICES, TSR_FRESH, row_result_type,
            "result_type(Scalar scalar1, Scalar scalar2) -> ScalarType", TSR_FN, "The dtype of an operation on both.",
            NULL, NULL),
    NUMBER_ROW("div(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", NUMBERS, "The quotient by a number.",
               NULL, NULL, .sparse = sp_div),
    NUMBER_ROW("divide(Tensor self, Scalar other) -> Tensor", NUMBERS, "The quotient by a number.", NULL, NULL,
               .sparse = sp_div),
    NUMBER_ROW("divide(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor", NUMBERS,
               "The quotient by a number.", NULL, NULL, .sparse = sp_div),
    NUMBER_ROW("true_divide(Tensor self, Scalar other) -> Tensor", NUMBERS, "The quotient by a number.", NULL, NULL,
               .sparse = sp_div),
    NUMBER_ROW("floor_divide(Tensor self, Scalar other) -> Tensor", NUMBERS, "The rounded quotient by a number.", NULL,
               NULL, .sparse = sp_floor_divide),
    NUMBER_ROW("multiply(Tensor self, Scalar other) -> Tensor", NUMBERS, "The product with a number.", NULL, NULL,
               .sparse = sp_mul),
    NUMBER_ROW("subtract(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", NUMBERS, "The difference to a number.",
               NULL, NULL, .sparse = sp_sub),
    ROW(row_out_dtype, "mm(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", TSR_FN | TSR_OUT,
        "The matrix product into another dtype, on GPUs.", NULL, NULL),
    ROW(row_out_dtype, "bmm(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", TSR_FN | TSR_OUT,
        "Matrix products into another dtype, on GPUs.", NULL, NULL),
    ROW(row_out_dtype,
        "addmm(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) -> "
        "Tensor",
        TSR_FN | TSR_OUT, "A matrix product with a summand into another dtype, on GPUs.", NULL, NULL),
    ROW(row_out_dtype,
        "baddbmm(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) "
        "-> Tensor",
        TSR_FN | TSR_OUT, "Matrix products with summands into another dtype, on GPUs.", NULL, NULL),
    ROW(row_can_cast, "can_cast(ScalarType from_, ScalarType to) -> bool", TSR_FN,
        "Whether an in-place operation may write the one dtype into the other.", "can_cast(float32, int32)", "False"),
    ROW(row_promote_types, "promote_types(ScalarType type1, ScalarType type2) -> ScalarType", TSR_FN,
        "The smallest dtype that holds both.", "promote_types(int32, float16)", "torch.float16"),
};

TsrStatus torch_rows_register(void) {
    static bool done;
    if (done) return TSR_OK;
    done = true;
    TSR_TRY(torch_sparse_register());
    TSR_TRY(torch_prelude_register());
    return tsr_op_register(rows, (int)TSR_COUNTOF(rows));
}
