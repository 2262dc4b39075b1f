/* autocast.c: torch.autocast as a block and as a decorator. While it is in force for a device type, the operators of
 * autocast.def get their tensors of that type in another dtype; what they call themselves is left alone. In-place forms
 * and out= are left alone too, as in PyTorch. */
#include "autocast.h"

#include <stdio.h>
#include <string.h>

#include "torch/bind/bind.h"
#include "core/backend.h"
#include "core/op/cast.h"
#include "core/view.h"
#include "lang/object/args.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "types.h"

typedef enum Cast { SAME, LOWER, FULL, WIDEST } Cast;
static const struct {
    const char *name;
    uint8_t cpu, cuda;
} casts[] = {
#define CAST(name, cpu, cuda) {#name, cpu, cuda},
#include "autocast.def"
#undef CAST
};

typedef struct Mode {
    bool enabled;
    TsrDtype dtype;
} Mode;
static Mode modes[] = {[TSR_CPU] = {false, TSR_BFLOAT16}, [TSR_CUDA] = {false, TSR_FLOAT16}};
static bool cache_enabled = true; /* PyTorch may keep a cast weight; here nothing is kept */

/* ---- casting ---- */

/* Whether the row's name, "nn.functional.linear" or "fft.fft", is PyTorch's inner one, linear or fft_fft. */
static bool is_named(const char *row, const char *name) {
    static const char *const prefixes[] = {"nn.functional.", "_C._nn.", "special."};
    for (size_t i = 0; i < TSR_COUNTOF(prefixes); i++)
        if (strncmp(row, prefixes[i], strlen(prefixes[i])) == 0) row += strlen(prefixes[i]);
    for (; *row != '\0' && *name != '\0'; row++, name++)
        if (*row != *name && !(*row == '.' && *name == '_')) return false;
    return *row == *name;
}

/* Padding by reflection and by the edge are operators of their own there. */
static bool pads_from_within(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_STR)
            return strcmp(c->arg[i].str, "reflect") == 0 || strcmp(c->arg[i].str, "replicate") == 0;
    return false;
}

static Cast cast_of(const TsrOpCall *c, uint8_t device) {
    if (is_named(c->schema->name, "pad")) return device == TSR_CPU && pads_from_within(c) ? FULL : SAME;
    for (size_t i = 0; i < TSR_COUNTOF(casts); i++)
        if (is_named(c->schema->name, casts[i].name)) return device == TSR_CPU ? casts[i].cpu : casts[i].cuda;
    return SAME;
}

/* float64 and what is no float stay as they are. */
static bool is_eligible(const TsrTensor *t, uint8_t device) {
    return t != NULL && t->device.type == device && tsr_dtype_is_float(t->dtype) && t->dtype != TSR_FLOAT64;
}

/* Visits each tensor among the arguments; the slot may be changed. */
static TsrStatus each_tensor(TsrOpCall *c, TsrStatus (*visit)(TsrTensor **slot, void *context), void *context) {
    for (int i = 0; i < c->nargs; i++) {
        TsrArg *a = &c->arg[i];
        if (a->kind == TSR_ARG_TENSOR) TSR_TRY(visit(&a->t, context));
        for (int k = 0; a->kind == TSR_ARG_TENSORS && k < a->n; k++)
            TSR_TRY(visit((TsrTensor **)&a->tensors[k], context));
    }
    return TSR_OK;
}

typedef struct Casting {
    uint8_t device;
    TsrDtype to;
    int count;
    TsrTensor **slots[64], *given[64], *made[64];
} Casting;

static TsrStatus take_widest(TsrTensor **slot, void *context) {
    Casting *x = context;
    if (!is_eligible(*slot, x->device) || x->to == TSR_FLOAT32) return TSR_OK;
    if ((*slot)->dtype != TSR_FLOAT32 && (*slot)->dtype != x->to)
        return tsr_error(TSR_RUNTIME_ERROR, "Unexpected floating ScalarType in at::autocast::prioritize");
    x->to = (*slot)->dtype;
    return TSR_OK;
}

static TsrStatus cast_one(TsrTensor **slot, void *context) {
    Casting *x = context;
    TsrTensor *made;
    if (!is_eligible(*slot, x->device) || (*slot)->dtype == x->to || x->count == (int)TSR_COUNTOF(x->slots))
        return TSR_OK;
    TSR_TRY(tsr_invoke_new(&made, 1, "to", "td", *slot, (int)x->to));
    x->slots[x->count] = slot;
    x->given[x->count] = *slot;
    x->made[x->count++] = made;
    *slot = made;
    return TSR_OK;
}

static uint8_t device_of(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        if (a->kind == TSR_ARG_TENSOR && a->t != NULL) return a->t->device.type;
        if (a->kind == TSR_ARG_TENSORS && a->n > 0 && a->tensors[0] != NULL) return a->tensors[0]->device.type;
    }
    return TSR_META;
}

static TsrStatus run_cast(TsrOpCall *c, uint8_t device, Cast cast) {
    Casting x = {.device = device, .to = cast == FULL ? TSR_FLOAT32 : modes[device].dtype};
    bool spent = c->spent;
    TsrStatus status = cast == WIDEST ? each_tensor(c, take_widest, &x) : TSR_OK;
    if (status == TSR_OK) status = each_tensor(c, cast_one, &x);
    if (x.count > 0) c->spent = false;
    if (status == TSR_OK) status = tsr_op_run(c);
    c->spent = spent;
    for (int i = 0; i < x.count; i++) {
        *x.slots[i] = x.given[i];
        tsr_tensor_free(x.made[i]);
    }
    return status;
}

/* Inside of an operator that is cast there is no autocast. */
static TsrStatus run(TsrOpCall *c) {
    uint8_t device = device_of(c);
    bool in_force = device <= TSR_CUDA && modes[device].enabled && !c->inplace && c->out[0] == NULL;
    Cast cast = in_force ? cast_of(c, device) : SAME;
    if (cast == SAME) return tsr_op_run_as_it_is(c);
    tsr_op_cast_hook = NULL;
    TsrStatus status = run_cast(c, device, cast);
    tsr_op_cast_hook = run;
    return status;
}

static void set_mode(uint8_t device, Mode mode) {
    modes[device] = mode;
    tsr_op_cast_hook = modes[TSR_CPU].enabled || modes[TSR_CUDA].enabled ? run : NULL;
}

/* ---- torch.autocast ---- */

static Type cuda_autocast_type, cpu_autocast_type;

typedef struct AutocastObj {
    Obj obj;
    uint8_t device; /* TSR_DEVICE_TYPE_COUNT: one that PyTorch knows, and nothing here is on */
    Mode mode, before;
    bool cache, cache_before;
} AutocastObj;

static bool has_autocast(uint8_t type) { return type != TSR_META && type < TSR_DEVICE_TYPE_COUNT; }

static TsrStatus no_usual_dtype(void) { return tsr_error(TSR_RUNTIME_ERROR, "unsupported scalarType"); }

static void warn(const char *text) { fprintf(stderr, "UserWarning: %s\n", text); }

static TsrStatus check_dtype(bool *enabled, uint8_t device, TsrDtype dtype) {
    const TsrBackend *b;
    if (!*enabled) return TSR_OK;
    if (device == TSR_CUDA && tsr_backend_get(&b, TSR_CUDA) != TSR_OK) {
        tsr_error_clear();
        warn("CUDA is not available or torch_xla is imported. Disabling autocast.");
        *enabled = false;
    } else if (device == TSR_CPU && dtype != TSR_BFLOAT16 && dtype != TSR_FLOAT16) {
        warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
             "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.");
        *enabled = false;
    }
    return TSR_OK;
}

static TsrStatus device_type_of(uint8_t *out, Value v) {
    TsrDevice d;
    TSR_TRY(tsr_device_parse(&d, value_as_str(v)->data));
    *out = d.type;
    return TSR_OK;
}

static TsrStatus autocast_new(Value *out, Type *type, uint8_t device, const Value *v) {
    bool enabled = true, cache = cache_enabled;
    TsrDtype dtype = modes[device].dtype;
    if (v[0].tag != V_UNBOUND && v[0].tag != V_NONE && !dtype_from_value(&dtype, v[0]))
        return tsr_error(TSR_TYPE_ERROR, "autocast(): argument 'dtype' must be a dtype, not %s", value_type_name(v[0]));
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_truth(&enabled, v[1]));
    if (v[2].tag != V_UNBOUND && v[2].tag != V_NONE) TSR_TRY(value_truth(&cache, v[2]));
    TSR_TRY(check_dtype(&enabled, device, dtype));
    AutocastObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->device = device;
    o->mode = (Mode){enabled, dtype};
    o->cache = cache;
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus autocast_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"device_type", "dtype", "enabled", "cache_enabled"};
    Value v[4];
    uint8_t device;
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"autocast.__init__", names, 4, 0, 4, 1}));
    if (!value_is_str(v[0]))
        return tsr_error(TSR_VALUE_ERROR, "Expected `device_type` of type `str`, got: `<class '%s'>`",
                         type_full_name(value_type(v[0])));
    TSR_TRY(device_type_of(&device, v[0]));
    if (!has_autocast(device) && (v[1].tag == V_UNBOUND || v[1].tag == V_NONE)) return no_usual_dtype();
    if (!has_autocast(device))
        return tsr_error(TSR_RUNTIME_ERROR, "User specified an unsupported autocast device_type '%s'",
                         value_as_str(v[0])->data);
    return autocast_new(out, type, device, v + 1);
}

/* torch.cuda.amp.autocast(enabled, dtype, cache_enabled) and torch.cpu.amp's. */
static TsrStatus old_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"enabled", "dtype", "cache_enabled"};
    Value v[3];
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"autocast.__init__", names, 3, 0, 3, 0}));
    uint8_t device = type == &cuda_autocast_type ? TSR_CUDA : TSR_CPU;
    Value usual = dtype_value(device == TSR_CUDA ? TSR_FLOAT16 : TSR_BFLOAT16);
    TsrStatus status = autocast_new(out, type, device, (Value[]){v[1].tag == V_UNBOUND ? usual : v[1], v[0], v[2]});
    value_release(usual);
    return status;
}

static TsrStatus enter(Value *out, const CallArgs *args) {
    AutocastObj *o = (AutocastObj *)args->values[0].o;
    o->before = modes[o->device];
    o->cache_before = cache_enabled;
    set_mode(o->device, o->mode);
    cache_enabled = o->cache;
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus leave(Value *out, const CallArgs *args) {
    const AutocastObj *o = (AutocastObj *)args->values[0].o;
    set_mode(o->device, o->before);
    cache_enabled = o->cache_before;
    *out = VALUE_FALSE;
    return TSR_OK;
}

/* The mode that a call of a decorated function enters, so that functions that call themselves leave it right. */
static TsrStatus clone(Value *out, const CallArgs *args) {
    const AutocastObj *o = (AutocastObj *)args->values[0].o;
    AutocastObj *made = obj_new(o->obj.type, sizeof *made);
    if (made == NULL) return TSR_MEMORY_ERROR;
    made->device = o->device;
    made->mode = o->mode;
    made->cache = o->cache;
    *out = value_obj_move(made);
    return TSR_OK;
}

static TsrStatus autocast_call(Value *out, Value self, const CallArgs *args) {
    static const char *const names[] = {"func"};
    Value v, decorator;
    TSR_TRY(args_parse_python(&v, args, &(ArgSpec){"autocast.__call__", names, 1, 0, 1, 1}));
    TSR_TRY(prelude_get(&decorator, "grad_mode", "function"));
    TsrStatus status = value_call_n(out, decorator, 2, (Value[]){self, v});
    value_release(decorator);
    return status;
}

static void autocast_destroy(Obj *self) { obj_free(self, sizeof(AutocastObj)); }

static TsrStatus get_dtype(Value *out, Value self) {
    *out = dtype_value(((AutocastObj *)self.o)->mode.dtype);
    return TSR_OK;
}
static TsrStatus get_enabled(Value *out, Value self) {
    *out = value_bool(((AutocastObj *)self.o)->mode.enabled);
    return TSR_OK;
}
static TsrStatus get_device(Value *out, Value self) {
    return str_new_c(out, tsr_device_type_name(((AutocastObj *)self.o)->device));
}

static const Method autocast_methods[] = {
    {"__enter__", enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Enters the mode."},
    {"__exit__", leave, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Leaves it."},
    {"clone", clone, ARGS_NONE, 0, 0, "()", "A mode of the same kind, not entered."},
    {0},
};
static const Getter autocast_getters[] = {{"fast_dtype", get_dtype, NULL, "what operators compute in"},
                                          {"_enabled", get_enabled, NULL, "whether it does anything"},
                                          {"device", get_device, NULL, "the type of device that it is for"},
                                          {NULL, NULL, NULL, NULL}};
#define AUTOCAST(room, make) \
    { \
        .obj = TYPE_HEADER, .name = "autocast", .module = room, .construct = make, .destroy = autocast_destroy, \
        .call = autocast_call, .methods = autocast_methods, .getters = autocast_getters \
    }
Type autocast_type = AUTOCAST("torch.amp.autocast_mode", autocast_construct);
static Type cuda_autocast_type = AUTOCAST("torch.cuda.amp.autocast_mode", old_construct);
static Type cpu_autocast_type = AUTOCAST("torch.cpu.amp.autocast_mode", old_construct);

/* ---- questions ---- */

/* The device type of an argument; nothing is cuda. */
static TsrStatus asked_type(uint8_t *out, const CallArgs *args, const char *name) {
    *out = TSR_CUDA;
    TSR_TRY(args_count(args, 0, 0, 1, name));
    if (args->count == 0) return TSR_OK;
    if (!value_is_str(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument 'device_type' (position 1) must be str, not %s", name,
                         value_type_name(args->values[0]));
    return device_type_of(out, args->values[0]);
}

static TsrStatus is_enabled(Value *out, const CallArgs *args) {
    uint8_t type;
    TSR_TRY(asked_type(&type, args, "is_autocast_enabled"));
    *out = value_bool(has_autocast(type) && modes[type].enabled);
    return TSR_OK;
}
static TsrStatus is_cpu_enabled(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(modes[TSR_CPU].enabled);
    return TSR_OK;
}
static TsrStatus is_cache_enabled(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(cache_enabled);
    return TSR_OK;
}
static TsrStatus get_autocast_dtype(Value *out, const CallArgs *args) {
    uint8_t type;
    TSR_TRY(args_count(args, 0, 1, 1, "get_autocast_dtype"));
    TSR_TRY(asked_type(&type, args, "get_autocast_dtype"));
    if (!has_autocast(type)) return no_usual_dtype();
    *out = dtype_value(modes[type].dtype);
    return TSR_OK;
}
static TsrStatus get_gpu_dtype(Value *out, const CallArgs *args) {
    (void)args;
    *out = dtype_value(modes[TSR_CUDA].dtype);
    return TSR_OK;
}
static TsrStatus get_cpu_dtype(Value *out, const CallArgs *args) {
    (void)args;
    *out = dtype_value(modes[TSR_CPU].dtype);
    return TSR_OK;
}

const Method torch_autocast_functions[] = {
    {"is_autocast_enabled", is_enabled, ARGS_ANY, 0, 0, "(device_type='cuda')", "Whether autocast is in force."},
    {"is_autocast_cpu_enabled", is_cpu_enabled, ARGS_NONE, 0, 0, "()", "Whether it is for the CPU."},
    {"is_autocast_cache_enabled", is_cache_enabled, ARGS_NONE, 0, 0, "()", "True unless autocast was told otherwise."},
    {"get_autocast_dtype", get_autocast_dtype, ARGS_ANY, 0, 0, "(device_type)", "What autocast computes in."},
    {"get_autocast_gpu_dtype", get_gpu_dtype, ARGS_NONE, 0, 0, "()", "The same for CUDA devices."},
    {"get_autocast_cpu_dtype", get_cpu_dtype, ARGS_NONE, 0, 0, "()", "The same for the CPU."},
    {0},
};

static TsrStatus is_available(Value *out, const CallArgs *args) {
    uint8_t type;
    TSR_TRY(args_count(args, 0, 1, 1, "is_autocast_available"));
    TSR_TRY(asked_type(&type, args, "is_autocast_available"));
    *out = value_bool(has_autocast(type));
    return TSR_OK;
}

static TsrStatus amp_is_absent(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    (void)args;
    bool absent = tsr_backend_get(&b, TSR_CUDA) != TSR_OK;
    if (absent) tsr_error_clear();
    *out = value_bool(absent);
    return TSR_OK;
}

static const Method amp_functions[] = {
    {"is_autocast_available", is_available, ARGS_ANY, 0, 0, "(device_type)", "Whether autocast knows the device type."},
    {0}};
static const Method common_functions[] = {
    {"amp_definitely_not_available", amp_is_absent, ARGS_NONE, 0, 0, "()", "Whether there is no GPU."}, {0}};

TsrStatus torch_amp_fill(Module *m) {
    TSR_TRY(module_add(m, "autocast", value_lent(&autocast_type)));
    return module_add_functions(m, amp_functions);
}
TsrStatus torch_cuda_amp_fill(Module *m) { return module_add(m, "autocast", value_lent(&cuda_autocast_type)); }
TsrStatus torch_cpu_amp_fill(Module *m) { return module_add(m, "autocast", value_lent(&cpu_autocast_type)); }
TsrStatus torch_amp_common_fill(Module *m) { return module_add_functions(m, common_functions); }
