/* caffe2's options, operators whose outputs keep their memory between runs, and the workspace of named blobs; and the
 * namespaces of all of caffe2. */
#include "caffe2_impl.h"
#include "core/base/embed.h"

#include "lang/object/gc.h"
#include "lang/modules/namespace.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "torch/bind/bind.h"
#include "torch/holders.h"
#include "torch/types.h"

/* ---- options ---- */

typedef struct Options {
    Obj obj;
    TsrDtype dtype;
    TsrDevice device;
    bool has_device; /* else where an operator is, or the CPU */
} Options;

static Type options_type;

static void options_destroy(Obj *self) { obj_free(self, sizeof(Options)); }

static TsrStatus options_new(Value *out, TsrDtype dtype, TsrDevice device, bool has_device) {
    Options *o = obj_new(&options_type, sizeof *o);
    if (o == NULL) return mem_error();
    o->dtype = dtype;
    o->device = device;
    o->has_device = has_device;
    *out = value_obj_move(o);
    return TSR_OK;
}

/* What converts to TensorOptions: these, a dtype or a device. */
static TsrStatus read_option(TsrDtype *dtype, TsrDevice *device, Value v) {
    if (value_is_obj(v, &options_type)) {
        const Options *o = (const Options *)v.o;
        *dtype = o->dtype;
        if (o->has_device) *device = o->device;
        return TSR_OK;
    }
    if (value_is_obj(v, &device_type)) return c2_parse_device(device, v);
    if (dtype_from_value(dtype, v)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "expected TensorOptions, a dtype or a device, not %s", value_type_name(v));
}

/* dtype= and device=, or options at values[at]. *device is what it is unless they say. */
static TsrStatus read_options(TsrDtype *dtype, TsrDevice *device, const CallArgs *args, int at, const char *function) {
    static const char *const names[] = {"dtype", "device"};
    TSR_TRY(args_only_keywords(args, function, names, 2));
    Value d = args_keyword(args, "dtype"), on = args_keyword(args, "device");
    *dtype = tsr_default_dtype();
    if (at >= 0 && args->count > at) TSR_TRY(read_option(dtype, device, args->values[at]));
    if (d.tag > V_NONE) TSR_TRY(c2_dtype_argument(dtype, d, "TensorOptions"));
    return on.tag > V_NONE ? c2_parse_device(device, on) : TSR_OK;
}

static TsrStatus options_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDtype dtype;
    TsrDevice device = TSR_DEVICE_CPU;
    (void)type;
    TSR_TRY(read_options(&dtype, &device, args, args->count > 0 ? 0 : -1, "TensorOptions"));
    const Options *from =
        args->count > 0 && value_is_obj(args->values[0], &options_type) ? (const Options *)args->values[0].o : NULL;
    bool given = args_keyword(args, "device").tag > V_NONE ||
                 (args->count > 0 && value_is_obj(args->values[0], &device_type)) || (from != NULL && from->has_device);
    return options_new(out, dtype, device, given);
}

static TsrStatus options_dtype(Value *out, const CallArgs *args) {
    TsrDtype dtype;
    TSR_TRY(c2_dtype_argument(&dtype, args->values[1], "dtype"));
    const Options *from = (const Options *)args->values[0].o;
    return options_new(out, dtype, from->device, from->has_device);
}

static TsrStatus options_device(Value *out, const CallArgs *args) {
    TsrDevice device;
    TSR_TRY(c2_parse_device(&device, args->values[1]));
    return options_new(out, ((Options *)args->values[0].o)->dtype, device, true);
}

static TsrStatus options_repr(TsrText *out, Value self) {
    char device[16];
    const Options *o = (const Options *)self.o;
    return tsr_text_printf(out, "TensorOptions(dtype=%s, device=%s)", tsr_dtype_name(o->dtype),
                           tsr_device_format(o->device, device));
}

static const Method options_methods[] = {
    {"dtype", options_dtype, ARGS_ONE, 1, 1, "(dtype)", "The options with another dtype."},
    {"device", options_device, ARGS_ONE, 1, 1, "(device)", "The options on another device."},
    {0}};
static Type options_type = {.obj = TYPE_HEADER,
                            .name = "TensorOptions",
                            .module = "caffe2",
                            .construct = options_construct,
                            .destroy = options_destroy,
                            .repr = options_repr,
                            .methods = options_methods};

/* caffe2.dtype(float32): the options that begin with it. */
static TsrStatus caffe2_dtype(Value *out, const CallArgs *args) {
    TsrDtype dtype;
    TSR_TRY(c2_dtype_argument(&dtype, args->values[0], "dtype"));
    return options_new(out, dtype, TSR_DEVICE_CPU, false);
}

/* caffe2.device(caffe2.CPU): those that begin with it. */
static TsrStatus caffe2_device(Value *out, const CallArgs *args) {
    TsrDevice device;
    TSR_TRY(c2_parse_device(&device, args->values[0]));
    return options_new(out, tsr_default_dtype(), device, true);
}

static TsrStatus empty(Value *out, int n, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new(&t, n, sizes, dtype, device));
    t->origin = "caffe2.empty";
    return c2_new_move(out, t, t->device);
}

static TsrStatus caffe2_empty(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    TsrDevice device = TSR_DEVICE_CPU;
    TSR_TRY(args_count(args, 0, 1, 2, "empty"));
    TSR_TRY(c2_read_sizes(sizes, &n, &(CallArgs){.values = args->values, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > 1 ? 1 : -1, "empty"));
    return empty(out, n, sizes, dtype, device);
}

/* Gives `slot` a tensor of these sizes and options: the memory it has, when that fits; for another type of device a
 * fresh tensor. */
static TsrStatus reinitialize(Value *slot, int n, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    if (slot->tag == V_UNBOUND || value_is_none(*slot)) {
        Value fresh;
        TSR_TRY(c2_new_move(&fresh, NULL, device));
        value_set_move(slot, fresh);
    }
    C2Tensor *c = as_c2(*slot);
    if (c->device.type != device.type) {
        Value fresh;
        TSR_TRY(empty(&fresh, n, sizes, dtype, device));
        value_set_move(slot, fresh);
        return TSR_OK;
    }
    TSR_TRY(c2_set_sizes(c, n, sizes));
    return c2_lacks_memory(c, dtype) ? c2_allocate(c, dtype) : TSR_OK;
}

/* ReinitializeTensor(t, sizes, options), whose arguments begin at values[at]; on `device` unless the options say. */
static TsrStatus reinitialize_argument(Value *out, const CallArgs *args, int at, TsrDevice device) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    const Value *v = args->values + at;
    TSR_TRY(args_count(args, at, 2, 3, "ReinitializeTensor"));
    if (v[0].tag != V_NONE && !value_is_obj(v[0], &caffe2_tensor_type))
        return tsr_error(TSR_TYPE_ERROR, "ReinitializeTensor(): expected a caffe2 tensor or None, not %s",
                         value_type_name(v[0]));
    TSR_TRY(c2_read_sizes(sizes, &n, &(CallArgs){.values = v + 1, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > at + 2 ? at + 2 : -1, "ReinitializeTensor"));
    *out = value_retain(v[0]);
    TsrStatus status = reinitialize(out, n, sizes, dtype, device);
    if (status != TSR_OK) value_clear(out);
    return status;
}

static TsrStatus caffe2_reinitialize(Value *out, const CallArgs *args) {
    return reinitialize_argument(out, args, 0, TSR_DEVICE_CPU);
}

/* ---- operators: outputs kept between runs ---- */

enum { MAX_OUTPUTS = 64 };
typedef struct Operator {
    GcObj gc;
    TsrDevice device; /* what its Context is in C++: where outputs are made */
    Value outputs[MAX_OUTPUTS];
} Operator;

static void operator_destroy(Obj *self) {
    for (int i = 0; i < MAX_OUTPUTS; i++) value_release(((Operator *)self)->outputs[i]);
    obj_free(self, sizeof(Operator));
}

static void operator_traverse(Obj *self, GcVisit visit, void *context) {
    for (int i = 0; i < MAX_OUTPUTS; i++) gc_visit_value(((Operator *)self)->outputs[i], visit, context);
}

static void operator_clear(Obj *self) {
    for (int i = 0; i < MAX_OUTPUTS; i++) value_clear(&((Operator *)self)->outputs[i]);
}

static TsrStatus operator_construct(Value *out, Type *type, const CallArgs *args) {
    TsrDevice device;
    TSR_TRY(args_count(args, 0, 0, 1, "Operator"));
    TSR_TRY(args_no_keywords(args, "Operator"));
    TSR_TRY(c2_parse_device(&device, args->count > 0 ? args->values[0] : VALUE_NONE));
    Operator *o = obj_new(type, sizeof *o);
    if (o == NULL) return mem_error();
    o->device = device;
    for (int i = 0; i < MAX_OUTPUTS; i++) o->outputs[i] = VALUE_UNBOUND;
    gc_track(o);
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrDevice device_of(const CallArgs *args) { return ((Operator *)args->values[0].o)->device; }

static TsrStatus output_slot(Value **slot, const CallArgs *args) {
    int64_t i;
    TSR_TRY(value_to_index(&i, args->values[1]));
    if (i < 0 || i >= MAX_OUTPUTS)
        return tsr_error(TSR_INDEX_ERROR, "an operator has outputs 0 to %d, not %lld", MAX_OUTPUTS - 1, (long long)i);
    *slot = &((Operator *)args->values[0].o)->outputs[i];
    return TSR_OK;
}

static TsrStatus operator_xoutput(Value *out, const CallArgs *args) {
    int64_t sizes[TSR_MAX_DIMS];
    int n;
    TsrDtype dtype;
    TsrDevice device = device_of(args);
    Value *slot;
    TSR_TRY(args_count(args, 1, 2, 3, "XOutput"));
    TSR_TRY(output_slot(&slot, args));
    TSR_TRY(c2_read_sizes(sizes, &n, &(CallArgs){.values = args->values + 2, .count = 1}, 0));
    TSR_TRY(read_options(&dtype, &device, args, args->count > 3 ? 3 : -1, "XOutput"));
    TSR_TRY(reinitialize(slot, n, sizes, dtype, device));
    *out = value_retain(*slot);
    return TSR_OK;
}

/* Output(i) alone is the old form: an uninitialised tensor for the caller to fill. */
static TsrStatus operator_output(Value *out, const CallArgs *args) {
    Value *slot;
    if (args->count > 2) return operator_xoutput(out, args);
    TSR_TRY(args_count(args, 1, 1, 3, "Output"));
    TSR_TRY(output_slot(&slot, args));
    if (slot->tag == V_UNBOUND) TSR_TRY(c2_new_move(slot, NULL, device_of(args)));
    *out = value_retain(*slot);
    return TSR_OK;
}

static TsrStatus operator_reinitialize(Value *out, const CallArgs *args) {
    return reinitialize_argument(out, args, 1, device_of(args));
}

static const Method operator_methods[] = {
    {"ReinitializeTensor", operator_reinitialize, ARGS_ANY, 2, 3,
     "(t, sizes, options=None, *, dtype=None, device=None)",
     "t with these sizes and options where the operator is, its memory reused when it fits; t may be None."},
    {"XOutput", operator_xoutput, ARGS_ANY, 2, 3, "(i, sizes, *, dtype=None, device=None)",
     "Output i with these sizes and options, its memory reused when it fits."},
    {"Output", operator_output, ARGS_ANY, 1, 3, "(i, sizes=None, *, dtype=None, device=None)",
     "Output i; without sizes an uninitialised tensor."},
    {0},
};
static Type operator_type = {.obj = TYPE_HEADER,
                             .name = "Operator",
                             .module = "caffe2",
                             .flags = TYPE_GC,
                             .construct = operator_construct,
                             .destroy = operator_destroy,
                             .traverse = operator_traverse,
                             .clear = operator_clear,
                             .methods = operator_methods};

/* ---- the workspace ---- */

static Value blobs; /* a dict of caffe2 tensors */

/* The blob that a fed value becomes: the tensor itself, or a copy on the device that was asked for. */
static TsrStatus blob_of(Value *out, Value x, Value device) {
    TsrTensor *t;
    TsrDevice to;
    if (device.tag <= V_NONE && value_is_obj(x, &caffe2_tensor_type)) {
        *out = value_retain(x);
        return TSR_OK;
    }
    TSR_TRY(c2_source_tensor(&t, x, "FeedBlob"));
    if (device.tag <= V_NONE) return c2_new_move(out, tsr_tensor_retain(t), t->device);
    TSR_TRY(c2_parse_device(&to, device));
    return c2_new_copy(out, t, to);
}

static TsrStatus workspace_feed(Value *out, const CallArgs *args) {
    static const char *const names[] = {"name", "arr", "device_option"};
    static const ArgSpec spec = {"workspace.FeedBlob", names, 3, 0, 3, 2};
    Value v[3], c;
    TSR_TRY(args_parse(v, args, 0, &spec));
    if (!value_is_str(v[0]))
        return tsr_error(TSR_TYPE_ERROR, "FeedBlob(): a blob's name is str, not %s", value_type_name(v[0]));
    TSR_TRY(blob_of(&c, v[1], v[2]));
    TsrStatus status = dict_set(value_as_dict(blobs), v[0], c);
    value_release(c);
    *out = VALUE_TRUE;
    return status;
}

static TsrStatus find_blob(Value *out, Value name) {
    Value *found;
    TSR_TRY(dict_find(&found, value_as_dict(blobs), name));
    if (found == NULL) {
        TsrText text = {0};
        TSR_TRY(value_str(&text, name));
        tsr_error(TSR_RUNTIME_ERROR, "Can't find blob: %s", text.data != NULL ? text.data : "");
        tsr_text_free(&text);
        return TSR_RUNTIME_ERROR;
    }
    *out = *found;
    return TSR_OK;
}

static TsrStatus workspace_fetch(Value *out, const CallArgs *args) {
    Value blob;
    TSR_TRY(find_blob(&blob, args->values[0]));
    return c2_to_torch(out, &(CallArgs){.values = &blob, .count = 1});
}

static TsrStatus workspace_blobs(Value *out, const CallArgs *args) {
    (void)args;
    return list_new_iterable(out, blobs);
}

static TsrStatus workspace_reset(Value *out, const CallArgs *args) {
    (void)args;
    dict_clear(value_as_dict(blobs));
    *out = VALUE_TRUE;
    return TSR_OK;
}

static const Method workspace_functions[] = {
    {"FeedBlob", workspace_feed, ARGS_ANY, 2, 3, "(name, arr, device_option=None)",
     "Puts a tensor into the workspace, without a copy; with a device a copy of it there."},
    {"FetchBlob", workspace_fetch, ARGS_ONE, 1, 1, "(name)", "The tensor of a blob, without a copy."},
    {"FetchTorch", workspace_fetch, ARGS_ONE, 1, 1, "(name)", "The tensor of a blob, without a copy."},
    {"Blobs", workspace_blobs, ARGS_NONE, 0, 0, "()", "The names of the blobs."},
    {"ResetWorkspace", workspace_reset, ARGS_NONE, 0, 0, "()", "Forgets every blob."},
    {0},
};

static TsrStatus fill_workspace(Module *m) {
    Value workspace, current;
    TSR_TRY(module_add_functions(m, workspace_functions));
    TSR_TRY(module_new(&workspace, "Workspace", "The workspace there is."));
    TsrStatus status = module_new(&current, "current", "The workspace in use.");
    if (status == TSR_OK) status = module_add(value_as_module(current), "blobs", blobs);
    if (status == TSR_OK) status = module_add_move(value_as_module(workspace), "current", current);
    if (status == TSR_OK) status = module_add(value_as_module(workspace), "current_blobs", blobs);
    if (status == TSR_OK) return module_add_move(m, "Workspace", workspace);
    value_release(workspace);
    return status;
}

PRELUDE_EMBED(prelude_caffe2, "src/systems/prelude/caffe2.tsr");
static const PreludeSource caffe2_source = {"caffe2", "<prelude caffe2>", prelude_caffe2, prelude_caffe2_end, "caffe2"};

static TsrStatus caffe2_missing(Value *out, Module *module, Str *name) {
    (void)module;
    return prelude_get(out, "caffe2", name->data);
}
static TsrStatus caffe2_names(List *out, Module *module) {
    (void)module;
    return prelude_append_names(out, "caffe2");
}

static const Method caffe2_functions[] = {
    {"empty", caffe2_empty, ARGS_ANY, 1, 2, "(sizes, options=None, *, dtype=None, device=None)",
     "A caffe2 tensor with memory, not filled."},
    {"dtype", caffe2_dtype, ARGS_ONE, 1, 1, "(dtype)", "TensorOptions of a dtype."},
    {"device", caffe2_device, ARGS_ONE, 1, 1, "(device)", "TensorOptions of a device."},
    {"ReinitializeTensor", caffe2_reinitialize, ARGS_ANY, 2, 3, "(t, sizes, options=None, *, dtype=None, device=None)",
     "t with these sizes and options, its memory reused when it fits; t may be None."},
    {0},
};

static TsrStatus fill_caffe2(Module *m) {
    Value device;
    TSR_TRY(module_add_functions(m, caffe2_functions));
    TSR_TRY(module_add(m, "Tensor", value_lent(&caffe2_tensor_type)));
    TSR_TRY(module_add(m, "Operator", value_lent(&operator_type)));
    TSR_TRY(module_add(m, "TensorOptions", value_lent(&options_type)));
    TSR_TRY(device_new(&device, TSR_DEVICE_CPU));
    TSR_TRY(module_add_move(m, "CPU", device));
    TSR_TRY(device_new(&device, (TsrDevice){TSR_CUDA, -1}));
    return module_add_move(m, "CUDA", device);
}

TsrStatus ns_caffe2_startup(void) {
    TSR_TRY(dict_new(&blobs));
    prelude_add(&caffe2_source, 1);
    caffe2_tensor_startup();
    holders_register_root("workspace.blobs", &blobs);
    TSR_TRY(namespace_add(&(Namespace){
        .name = "caffe2",
        .doc =
            "Caffe2's tensors around PyTorch's implementation: sizes first, memory with mutable_data, both with empty.",
        .fill = fill_caffe2,
        .missing = caffe2_missing,
        .names = caffe2_names}));
    return namespace_add(&(Namespace){.name = "workspace",
                                      .doc = "Caffe2's workspace: tensors by name, shared with PyTorch without a copy.",
                                      .fill = fill_workspace});
}

void ns_caffe2_shutdown(void) { value_clear(&blobs); }
