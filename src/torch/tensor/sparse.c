/* torch.sparse_coo_tensor and its family: rows of the operator table whose parts may be sequences of the language. */
#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "core/engine/places.h"
#include "core/ops/sparse/sparse.h"
#include "core/tensor/loan.h"
#include "tensor_from.h"
#include "torch/functions.h"

/* A part as a tensor of a device: itself, converted, or made from a sequence. */
static TsrStatus part_new(TsrTensor **out, const TsrArg *a, TsrDtype dtype, TsrDevice device) {
    Value data = *(const Value *)a->any;
    TsrTensor *t = NULL, *there;
    TSR_TRY(bind_tensor_of(&t, data));
    if (t == NULL) return tensor_new_from_data(out, data, dtype, device);
    if (tsr_is_sparse(t) || !tsr_is_defined(t))
        return tsr_error(TSR_RUNTIME_ERROR, "expected a strided tensor for a part of a sparse tensor");
    TSR_TRY(tsr_tensor_check(t, false));
    TSR_TRY(tsr_new_there(&there, t, tsr_is_meta(t) ? t->device : device));
    TsrStatus status = tsr_tensor_new_cast(out, there, dtype == TSR_DTYPE_NONE ? t->dtype : dtype);
    tsr_tensor_free(there);
    return status;
}

/* Where all parts go: to the device that the option at arg[at] names, or to that of the values. */
static TsrStatus device_at(TsrDevice *device, const TsrOpCall *c, int at, const TsrArg *values) {
    TsrTensor *t = NULL;
    *device = TSR_DEVICE_CPU;
    if (tsr_arg_given(&c->arg[at])) {
        *device = c->arg[at].device;
        return tsr_device_resolve(device);
    }
    TSR_TRY(bind_tensor_of(&t, *(const Value *)values->any));
    if (tsr_on_device(t)) *device = t->device;
    return TSR_OK;
}

/* The options follow at arg[at]: dtype, device, pin_memory... */
static TsrDtype dtype_at(const TsrOpCall *c, int at) {
    return tsr_arg_given(&c->arg[at]) ? c->arg[at].dtype : TSR_DTYPE_NONE;
}
static bool flag_at(const TsrOpCall *c, int at) { return tsr_arg_given(&c->arg[at]) && c->arg[at].b; }

/* What check_invariants=None means: torch.sparse.check_sparse_tensor_invariants sets it. */
static bool checks_enabled;
static bool checks_at(const TsrOpCall *c, int at) { return tsr_arg_given(&c->arg[at]) ? c->arg[at].b : checks_enabled; }

/* Ends a row: the tensor is returned once it holds what check_invariants asks. */
static TsrStatus finish_checked(TsrOpCall *c, TsrStatus status, TsrTensor *t, bool check, bool pin) {
    TsrTensor *pinned = NULL;
    TSR_TRY(status);
    status = check ? tsr_sparse_check(t) : TSR_OK;
    if (!pin || status != TSR_OK) return tsr_finish_move(c, status, t);
    status = tsr_invoke_new(&pinned, 1, "pin_memory", "t", t);
    tsr_tensor_free(t);
    return tsr_finish_move(c, status, pinned);
}

static TsrStatus coo_row(TsrOpCall *c, int at, int n, const int64_t *sizes) {
    TsrTensor *indices, *values, *t = NULL;
    TsrDevice device;
    if (flag_at(c, at + 3)) return bind_refuse_grad();
    TSR_TRY(device_at(&device, c, at + 1, &c->arg[1]));
    TSR_TRY(part_new(&indices, &c->arg[0], TSR_INT64, device));
    TsrStatus status = part_new(&values, &c->arg[1], dtype_at(c, at), device);
    if (status == TSR_OK) {
        status = tsr_sparse_coo_new(&t, indices, values, n, sizes, flag_at(c, at + 5));
        if (status == TSR_OK && tsr_arg_given(&c->arg[at + 5]) && !c->arg[at + 5].b)
            t->flags = (uint8_t)(t->flags & ~TSR_FLAG_COALESCED);
        tsr_tensor_free(values);
    }
    tsr_tensor_free(indices);
    return finish_checked(c, status, t, checks_at(c, at + 4), flag_at(c, at + 2));
}

static TsrStatus row_coo(TsrOpCall *c) { return coo_row(c, 2, -1, NULL); }
static TsrStatus row_coo_sized(TsrOpCall *c) { return coo_row(c, 3, c->arg[2].n, c->arg[2].ints); }

static TsrStatus row_coo_empty(TsrOpCall *c) {
    TsrTensor *t = NULL;
    if (flag_at(c, 4)) return bind_refuse_grad();
    TsrDtype dtype = dtype_at(c, 1);
    TsrDevice device = tsr_arg_given(&c->arg[2]) ? c->arg[2].device : TSR_DEVICE_CPU;
    return tsr_finish_move(c,
                           tsr_sparse_zeros_new(&t, TSR_SPARSE_COO, c->arg[0].n, c->arg[0].ints,
                                                dtype != TSR_DTYPE_NONE ? dtype : tsr_default_dtype(), device),
                           t);
}

static const char *layout_name(uint8_t layout) {
    static const char *const names[] = {
        [TSR_STRIDED] = "Strided",      [TSR_SPARSE_COO] = "Sparse",    [TSR_SPARSE_CSR] = "SparseCsr",
        [TSR_SPARSE_CSC] = "SparseCsc", [TSR_SPARSE_BSR] = "SparseBsr", [TSR_SPARSE_BSC] = "SparseBsc"};
    return names[layout];
}

/* dtype, layout, device, pin_memory, requires_grad and check_invariants stand from `at` on. */
static TsrStatus compressed_row(TsrOpCall *c, uint8_t layout, int at, int n, const int64_t *sizes) {
    TsrTensor *t = NULL;
    if (flag_at(c, at + 4)) return bind_refuse_grad();
    if (tsr_arg_given(&c->arg[at + 1]) && c->arg[at + 1].layout != layout)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: layout must be %s but got %s", c->schema->base, layout_name(layout),
                         layout_name(c->arg[at + 1].layout));
    TsrTensor *parts[3] = {NULL, NULL, NULL};
    TsrDevice device;
    TsrStatus status = device_at(&device, c, at + 2, &c->arg[2]);
    for (int i = 0; i < 3 && status == TSR_OK; i++)
        status = part_new(&parts[i], &c->arg[i], i == 2 ? dtype_at(c, at) : TSR_DTYPE_NONE, device);
    for (int i = 0; i < 2 && status == TSR_OK; i++) {
        bool list = ((const Value *)c->arg[i].any)->tag != V_TENSOR;
        TsrTensor *whole;
        if (!list || parts[i]->dtype == TSR_INT64) continue;
        status = tsr_tensor_new_cast(&whole, parts[i], TSR_INT64); /* an empty list is no list of floats here */
        if (status != TSR_OK) break;
        tsr_tensor_free(parts[i]);
        parts[i] = whole;
    }
    if (status == TSR_OK)
        status = tsr_sparse_compressed_new(&t, n, sizes, tsr_compressed_parts(layout, parts[0], parts[1], parts[2]));
    for (int i = 0; i < 3; i++) tsr_tensor_free(parts[i]);
    return finish_checked(c, status, t, checks_at(c, at + 5), flag_at(c, at + 3));
}

#define LAYOUT(name, layout) \
    static TsrStatus row_##name(TsrOpCall *c) { return compressed_row(c, layout, 3, -1, NULL); } \
    static TsrStatus row_##name##_sized(TsrOpCall *c) { \
        return compressed_row(c, layout, 4, c->arg[3].n, c->arg[3].ints); \
    }
LAYOUT(csr, TSR_SPARSE_CSR)
LAYOUT(csc, TSR_SPARSE_CSC)
LAYOUT(bsr, TSR_SPARSE_BSR)
LAYOUT(bsc, TSR_SPARSE_BSC)

static TsrStatus compressed_any(TsrOpCall *c, int at, int n, const int64_t *sizes) {
    const TsrArg *layout = &c->arg[at + 1];
    if (!tsr_arg_given(layout))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "sparse_compressed_tensor expected sparse compressed tensor layout but got none");
    if (layout->layout < TSR_SPARSE_CSR)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "sparse_compressed_tensor expected sparse compressed tensor layout but got %s",
                         layout_name(layout->layout));
    return compressed_row(c, layout->layout, at, n, sizes);
}

static TsrStatus row_compressed(TsrOpCall *c) { return compressed_any(c, 3, -1, NULL); }
static TsrStatus row_compressed_sized(TsrOpCall *c) { return compressed_any(c, 4, c->arg[3].n, c->arg[3].ints); }

#define ROW(function, text, what, ex, shown) \
    { \
        .fn = function, .schema = text, .forms = TSR_FN, \
        .flags = TSR_OP_CONJ | TSR_OP_SPARSE | TSR_OP_UNCHECKED | TSR_OP_DEVICE, .alias = TSR_FRESH, \
        .category = "sparse", .summary = what, .example = ex, .output = shown \
    }
#define OPTIONS \
    "ScalarType? dtype=None, Device? device=None, bool pin_memory=False, bool requires_grad=False, bool? " \
    "check_invariants=None"
#define LAYOUT_OPTIONS \
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool pin_memory=False, bool " \
    "requires_grad=False, bool? check_invariants=None"
#define COMPRESSED(name, first, second, ex, shown) \
    ROW(row_##name##_sized, \
        "sparse_" #name "_tensor(Any " first ", Any " second ", Any values, int[] size, *, " LAYOUT_OPTIONS \
        ") -> Tensor", \
        "A tensor in the layout sparse_" #name ".", NULL, NULL) \
    , ROW(row_##name, \
          "sparse_" #name "_tensor(Any " first ", Any " second ", Any values, *, " LAYOUT_OPTIONS ") -> Tensor", \
          "A tensor in the layout sparse_" #name ", as large as its indices need.", ex, shown)

static const TsrOp rows[] = {
    ROW(row_coo, "sparse_coo_tensor(Any indices, Any values, *, " OPTIONS ", bool? is_coalesced=None) -> Tensor",
        "A tensor of values at positions, as large as the positions need.",
        "sparse_coo_tensor([[0, 1]], [3, 4]).to_dense()", "tensor([3, 4])"),
    ROW(row_coo_sized,
        "sparse_coo_tensor(Any indices, Any values, int[] size, *, " OPTIONS ", bool? is_coalesced=None) -> Tensor",
        "A tensor of values at positions.", NULL, NULL),
    ROW(row_coo_empty, "sparse_coo_tensor(int[] size, *, " OPTIONS ") -> Tensor", "A sparse tensor of zeros.", NULL,
        NULL),
    COMPRESSED(csr, "crow_indices", "col_indices", "torch.sparse_csr_tensor([0, 1, 2], [1, 0], [3, 4]).to_dense()",
               "tensor([[0, 3],\n        [4, 0]])"),
    COMPRESSED(csc, "ccol_indices", "row_indices", "torch.sparse_csc_tensor([0, 1, 2], [1, 0], [3, 4]).to_dense()",
               "tensor([[0, 4],\n        [3, 0]])"),
    COMPRESSED(bsr, "crow_indices", "col_indices",
               "torch.sparse_bsr_tensor([0, 1], [0], torch.ones(1, 2, 2)).to_dense()",
               "tensor([[1., 1.],\n        [1., 1.]])"),
    COMPRESSED(bsc, "ccol_indices", "row_indices",
               "torch.sparse_bsc_tensor([0, 1], [0], torch.ones(1, 2, 2)).to_dense()",
               "tensor([[1., 1.],\n        [1., 1.]])"),
    ROW(row_compressed_sized,
        "sparse_compressed_tensor(Any compressed_indices, Any plain_indices, Any values, int[] size, *, " LAYOUT_OPTIONS
        ") -> Tensor",
        "A tensor in a compressed sparse layout.", NULL, NULL),
    ROW(row_compressed,
        "sparse_compressed_tensor(Any compressed_indices, Any plain_indices, Any values, *, " LAYOUT_OPTIONS
        ") -> Tensor",
        "A tensor in a compressed sparse layout, as large as its indices need.",
        "torch.sparse_compressed_tensor([0, 1, 2], [1, 0], [3, 4], layout=torch.sparse_csr).to_dense()",
        "tensor([[0, 3],\n        [4, 0]])"),
};

TsrStatus torch_sparse_register(void) { return tsr_op_register(rows, (int)TSR_COUNTOF(rows)); }

/* ---- check_sparse_tensor_invariants: a switch, and a block in which it has another position ---- */

typedef struct Checks {
    Obj obj;
    bool state, active, before;
} Checks;

static TsrStatus checks_is_enabled(Value *out, const CallArgs *args) {
    return (void)args, *out = value_bool(checks_enabled), TSR_OK;
}
static TsrStatus checks_enable(Value *out, const CallArgs *args) {
    return (void)args, checks_enabled = true, *out = VALUE_NONE, TSR_OK;
}
static TsrStatus checks_disable(Value *out, const CallArgs *args) {
    return (void)args, checks_enabled = false, *out = VALUE_NONE, TSR_OK;
}

static TsrStatus checks_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"enable"};
    Value v[1];
    bool state = true;
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"check_sparse_tensor_invariants.__init__", names, 1, 0, 1, 0}));
    if (v[0].tag != V_UNBOUND) TSR_TRY(value_truth(&state, v[0]));
    Checks *c = obj_new(type, sizeof *c);
    if (c == NULL) return TSR_MEMORY_ERROR;
    c->state = state;
    c->active = false;
    *out = value_obj_move(c);
    return TSR_OK;
}

static void checks_destroy(Obj *self) { obj_free(self, sizeof(Checks)); }

static TsrStatus checks_enter(Value *out, const CallArgs *args) {
    Checks *c = (Checks *)args->values[0].o;
    if (c->active)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "This context manager instance is already activated. Use a different context manager instance for context "
            "nesting.");
    c->active = true;
    c->before = checks_enabled;
    checks_enabled = c->state;
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus checks_exit(Value *out, const CallArgs *args) {
    Checks *c = (Checks *)args->values[0].o;
    if (!c->active) return tsr_error(TSR_ASSERTION_ERROR, "saved_state should not be None on exit");
    c->active = false;
    checks_enabled = c->before;
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method checks_methods[] = {
    {"is_enabled", checks_is_enabled, ARGS_NONE | METHOD_STATIC, 0, 0, "()",
     "Whether sparse tensors are checked when they are made."},
    {"enable", checks_enable, ARGS_NONE | METHOD_STATIC, 0, 0, "()", "From now on they are."},
    {"disable", checks_disable, ARGS_NONE | METHOD_STATIC, 0, 0, "()", "From now on they are not."},
    {"__enter__", checks_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Sets the switch."},
    {"__exit__", checks_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Sets it back."},
    {0},
};

static Type checks_type = {.obj = TYPE_HEADER,
                           .name = "check_sparse_tensor_invariants",
                           .module = "torch.sparse",
                           .doc = "Whether constructors check the parts of sparse tensors.",
                           .construct = checks_construct,
                           .destroy = checks_destroy,
                           .methods = checks_methods};

TsrStatus torch_sparse_fill(Module *module) {
    return module_add(module, "check_sparse_tensor_invariants", value_lent(&checks_type));
}
