/* Functions of torch that are not operators: settings, seeds, questions about values. */
#include "functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "torch/cuda/cuda.h"
#include "torch/bind/bind.h"
#include "core/ops/nn/attention.h"
#include "core/print.h"
#include "lang/types/dict.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "torch/tensor/storage.h"
#include "lang/types/str.h"
#include "torch/tensor/tensor.h"
#include "types.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)
/* Parses into v[] by names given as a list of literals; the first `needed` are required, `positional` may be
 * positional. */
#define PARSE(v, function_name, positional, needed, ...) \
    static const char *const names_[] = {__VA_ARGS__}; \
    Value v[TSR_COUNTOF(names_)]; \
    TSR_TRY(args_parse_python(v, args, \
                              &(ArgSpec){function_name, names_, (int)TSR_COUNTOF(names_), 0, positional, needed}))

/* ---- questions ---- */

FN(is_tensor) {
    PARSE(v, "is_tensor", 1, 1, "obj");
    TsrTensor *t = NULL;
    TSR_TRY(bind_tensor_of(&t, v[0]));
    *out = value_bool(t != NULL);
    return TSR_OK;
}

FN(is_storage) {
    PARSE(v, "is_storage", 1, 1, "obj");
    *out = value_bool(value_is_storage(v[0]));
    return TSR_OK;
}

FN(typename) {
    PARSE(v, "typename", 1, 1, "obj");
    if (v[0].tag == V_TENSOR) return str_new_format(out, "torch.%sTensor", tsr_dtype_scalar_name(v[0].t->dtype));
    return str_new_c(out, type_full_name(value_type(v[0])));
}

/* The device that from_dlpack is asked for, None: that of the tensor. */
static TsrStatus dlpack_device(TsrDevice *out, Value wanted, const TsrTensor *t) {
    bool ok = wanted.tag != V_INT;
    *out = t->device;
    if (wanted.tag == V_UNBOUND || wanted.tag == V_NONE) return TSR_OK;
    if (ok) TSR_TRY(device_from_value(out, &ok, wanted));
    return ok ? TSR_OK
              : tsr_error(TSR_ASSERTION_ERROR, "from_dlpack: unsupported device type: <class '%s'>",
                          type_full_name(value_type(wanted)));
}

/* The tensor on another device, by its method. */
static TsrStatus tensor_on_device(Value *out, Value tensor, TsrDevice device) {
    Value to, values[] = {tensor, VALUE_NONE};
    TSR_TRY(device_new(&values[1], device));
    TsrStatus status = bind_new_method(&to, "to");
    if (status == TSR_OK) {
        status = value_call_n(out, to, 2, values);
        value_release(to);
    }
    value_release(values[1]);
    return status;
}

FN(from_dlpack) {
    PARSE(v, "from_dlpack", 1, 1, "ext_tensor", "device", "copy");
    TsrTensor *t = NULL, *alias;
    TsrDevice device;
    TSR_TRY(bind_tensor_of(&t, v[0]));
    if (t == NULL)
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '__dlpack__'", value_type_name(v[0]));
    if (tsr_is_sparse(t))
        return tsr_error(TSR_BUFFER_ERROR, "Can't export tensors with layout other than torch.strided");
    if ((t->flags & TSR_FLAG_CONJ) != 0)
        return tsr_error(TSR_BUFFER_ERROR, "Can't export tensors with the conjugate bit set");
    TSR_TRY(dlpack_device(&device, v[1], t));
    if (device.type != t->device.type || device.index != t->device.index) return tensor_on_device(out, v[0], device);
    if (v[2].tag == V_BOOL && v[2].b) {
        TSR_TRY(tsr_tensor_new_clone(&alias, t, TSR_PRESERVE));
    } else {
        TSR_TRY(tsr_tensor_new_over(&alias, t->storage, tsr_tensor_geometry(t), t->dtype));
        tsr_trace(TSR_TRACE_VIEW, "from_dlpack", NULL, 0, alias, t);
    }
    *out = value_tensor_move(alias);
    return TSR_OK;
}

FN(broadcast_tensors) {
    const Value *items = args->values;
    const int64_t count = args->count;
    int64_t all[TSR_MAX_DIMS];
    int rank = 0;
    if (args->keyword_count > 0)
        return tsr_error(TSR_TYPE_ERROR, "broadcast_tensors() got an unexpected keyword argument '%s'",
                         args->names[0]->data);
    for (int64_t i = 0; i < count; i++) {
        TsrTensor *t = NULL;
        TSR_TRY(bind_tensor_of(&t, items[i]));
        if (t == NULL)
            return tsr_error(TSR_TYPE_ERROR, "expected Tensor as element %d in argument 0, but got %s", (int)i,
                             value_type_name(items[i]));
        TSR_TRY(tsr_layout_broadcast(all, &rank, t->sizes, tsr_ndim(t)));
    }
    Value result;
    TSR_TRY(tuple_new_raw(&result, count));
    TsrStatus s = TSR_OK;
    for (int64_t i = 0; i < count && s == TSR_OK; i++) {
        TsrTensor *t = NULL, *wide = NULL;
        s = bind_tensor_of(&t, items[i]);
        bool fits = s == TSR_OK && tsr_ndim(t) == rank && memcmp(t->sizes, all, sizeof *all * (size_t)rank) == 0;
        if (fits) wide = tsr_tensor_retain(t); /* that very tensor, no view of it */
        else if (s == TSR_OK) s = tsr_tensor_new_expand(&wide, t, rank, all);
        if (s == TSR_OK) value_as_tuple(result)->items[i] = value_tensor_move(wide);
    }
    gc_track(result.o);
    return value_end_move(out, s, result);
}

/* ---- settings ---- */

FN(get_default_dtype) {
    (void)args;
    *out = dtype_value(tsr_default_dtype());
    return TSR_OK;
}

FN(set_default_dtype) {
    PARSE(v, "set_default_dtype", 1, 1, "d");
    v[0] = dtype_object(v[0]);
    if (!value_is_obj(v[0], &dtype_type))
        return tsr_error(TSR_TYPE_ERROR,
                         "invalid dtype object: only floating-point types are supported as the default type");
    TsrDtype d = ((DtypeObj *)v[0].o)->dtype;
    if (!tsr_dtype_is_float(d))
        return tsr_error(TSR_TYPE_ERROR, "only floating-point types are supported as the default type");
    *out = VALUE_NONE;
    return tsr_set_default_dtype(d);
}

static TsrStatus profile_options(TsrPrintOptions *o, Value profile) {
    if (profile.tag == V_UNBOUND || !value_is_str(profile)) return TSR_OK;
    static const struct {
        const char *name;
        int precision;
        double threshold;
        int64_t edge;
    } profiles[] = {{"default", 4, 1000, 3}, {"short", 2, 1000, 2}, {"full", 4, INFINITY, 3}};
    for (size_t i = 0; i < TSR_COUNTOF(profiles); i++)
        if (str_equal_c(value_as_str(profile), profiles[i].name)) {
            o->precision = profiles[i].precision;
            o->threshold = profiles[i].threshold;
            o->edgeitems = profiles[i].edge;
            o->linewidth = 80;
        }
    return TSR_OK;
}

/* A class such as torch.DoubleTensor, or its name. */
/* Where tensors go by the class that set_default_tensor_type was given; set_default_device is asked first. */
static TsrDevice type_device = {TSR_CPU, -1};

/* torch.FloatTensor for "torch.FloatTensor"; other values are themselves. */
static TsrStatus class_by_name(Value *out, Value t) {
    if (!value_is_str(t)) {
        *out = value_retain(t);
        return TSR_OK;
    }
    const Str *name = value_as_str(t);
    const char *dot = strrchr(name->data, '.');
    char module[64];
    snprintf(module, sizeof module, "%.*s", (int)(dot != NULL ? dot - name->data : (ptrdiff_t)name->size), name->data);
    if (strcmp(module, "torch") != 0 && strcmp(module, "torch.cuda") != 0)
        return tsr_error(TSR_MODULE_NOT_FOUND_ERROR, "No module named '%s'", module);
    Value found, last = VALUE_NONE;
    TSR_TRY(namespace_module(&found, module));
    TsrStatus status = str_new_c(&last, dot != NULL ? dot + 1 : name->data);
    if (status == TSR_OK) status = value_getattr(out, found, value_as_str(last));
    value_release(last);
    value_release(found);
    return status;
}

static TsrStatus use_tensor_class(Value class) {
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) {
        bool host = class.tag == V_OBJ && class.o == &float_tensor_types[d].obj;
        bool cuda = class.tag == V_OBJ && class.o == &cuda_tensor_types[d].obj;
        if (!host && !cuda) continue;
        if (!tsr_dtype_is_float((TsrDtype)d))
            return tsr_error(TSR_TYPE_ERROR, "only floating-point types are supported as the default type");
        TsrDevice next = cuda ? (TsrDevice){TSR_CUDA, -1} : TSR_DEVICE_CPU;
        if (tsr_device_equal(device_default, type_device)) device_default = next;
        type_device = next;
        return tsr_set_default_dtype((TsrDtype)d);
    }
    return tsr_error(TSR_TYPE_ERROR,
                     "invalid type object: only floating-point types are supported as the default type");
}

FN(set_default_tensor_type) {
    PARSE(v, "set_default_tensor_type", 1, 1, "t");
    Value class;
    *out = VALUE_NONE;
    TSR_TRY(class_by_name(&class, v[0]));
    TsrStatus status = use_tensor_class(class);
    value_release(class);
    return status;
}

/* Numbers too small to be normal count as 0 while this is on; of this thread and those it starts. */
FN(set_flush_denormal) {
    PARSE(v, "set_flush_denormal", 1, 1, "mode");
    if (v[0].tag != V_BOOL)
        return tsr_error(TSR_TYPE_ERROR, "flush_denormal expects a bool, but got %s", value_type_name(v[0]));
#if defined(__SSE2__)
    unsigned mask = 0x8040; /* flush to zero, denormals are zero */
    _mm_setcsr(v[0].b ? _mm_getcsr() | mask : _mm_getcsr() & ~mask);
    *out = VALUE_TRUE;
#else
    *out = VALUE_FALSE;
#endif
    return TSR_OK;
}

static bool is_given(Value v) { return v.tag != V_UNBOUND && v.tag != V_NONE; }

FN(set_printoptions) {
    PARSE(v, "set_printoptions", 6, 0, "precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode");
    TsrPrintOptions o = *tsr_print_options();
    TSR_TRY(profile_options(&o, v[4]));
    int64_t n = 0;
    if (is_given(v[0])) {
        TSR_TRY(value_to_index(&n, v[0]));
        o.precision = (int)TSR_MAX(TSR_MIN(n, 200), 0);
    }
    if (is_given(v[1])) TSR_TRY(value_to_double(&o.threshold, v[1]));
    if (is_given(v[2])) TSR_TRY(value_to_index(&o.edgeitems, v[2]));
    if (is_given(v[3])) TSR_TRY(value_to_index(&o.linewidth, v[3]));
    bool sci = false;
    if (is_given(v[5])) TSR_TRY(value_truth(&sci, v[5]));
    o.sci_mode = is_given(v[5]) ? sci : -1;
    *tsr_print_options() = o;
    *out = VALUE_NONE;
    return TSR_OK;
}

FN(get_num_threads) {
    (void)args;
    *out = value_int(tsr_num_threads());
    return TSR_OK;
}

FN(set_num_threads) {
    PARSE(v, "set_num_threads", 1, 1, "n");
    if (v[0].tag != V_INT)
        return tsr_error(TSR_RUNTIME_ERROR, "set_num_threads expects an int, but got %s", value_type_name(v[0]));
    if (v[0].i <= 0) return tsr_error(TSR_RUNTIME_ERROR, "set_num_threads expects a positive integer");
    tsr_set_num_threads((int)TSR_MIN(v[0].i, 1024));
    *out = VALUE_NONE;
    return TSR_OK;
}

static bool deterministic, warn_only, warn_always; /* kept for who asks: results are always the same */

FN(use_deterministic) {
    PARSE(v, "use_deterministic_algorithms", 1, 1, "mode", "warn_only");
    bool mode, only = false;
    *out = VALUE_NONE;
    TSR_TRY(value_truth(&mode, v[0]));
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_truth(&only, v[1]));
    deterministic = mode;
    warn_only = mode && only;
    return TSR_OK;
}
FN(is_warn_only) {
    (void)args;
    *out = value_bool(warn_only);
    return TSR_OK;
}

/* The number of a mode; an error where there is none such. */
static TsrStatus debug_mode_of(int64_t *out, Value v) {
    static const char *const names[] = {"default", "warn", "error"};
    if (v.tag == V_BOOL || v.tag == V_INT) {
        *out = v.tag == V_BOOL ? v.b : v.i;
        return *out >= 0 && *out < (int64_t)TSR_COUNTOF(names)
                   ? TSR_OK
                   : tsr_error(TSR_RUNTIME_ERROR, "invalid value of debug_mode, expected 0, 1, or 2, but got %lld",
                               (long long)*out);
    }
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "debug_mode must be str or int, but got <class '%s'>",
                         type_full_name(value_type(v)));
    for (*out = 0; *out < (int64_t)TSR_COUNTOF(names); ++*out)
        if (str_equal_c(value_as_str(v), names[*out])) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got %s",
                     value_as_str(v)->data);
}

FN(set_debug_mode) {
    PARSE(v, "set_deterministic_debug_mode", 1, 1, "debug_mode");
    int64_t mode;
    *out = VALUE_NONE;
    TSR_TRY(debug_mode_of(&mode, v[0]));
    deterministic = mode > 0;
    warn_only = mode == 1;
    return TSR_OK;
}
FN(get_debug_mode) {
    (void)args;
    *out = value_int(!deterministic ? 0 : warn_only ? 1 : 2);
    return TSR_OK;
}
FN(are_deterministic) {
    (void)args;
    *out = value_bool(deterministic);
    return TSR_OK;
}
FN(set_warn_always) {
    PARSE(v, "set_warn_always", 1, 1, "b");
    *out = VALUE_NONE;
    return value_truth(&warn_always, v[0]);
}
FN(is_warn_always) {
    (void)args;
    *out = value_bool(warn_always);
    return TSR_OK;
}
FN(none) {
    (void)args;
    *out = VALUE_NONE;
    return TSR_OK;
}
FN(yes) {
    (void)args;
    *out = VALUE_TRUE;
    return TSR_OK;
}
FN(no) {
    (void)args;
    *out = value_bool(false);
    return TSR_OK;
}
FN(zero) {
    (void)args;
    *out = value_int(0);
    return TSR_OK;
}
FN(one) {
    (void)args;
    *out = value_int(1);
    return TSR_OK;
}
static const char *const precisions[] = {"highest", "high", "medium"};
static size_t precision_told; /* kept for who asks */

FN(precision) {
    (void)args;
    return str_new_c(out, precisions[precision_told]);
}
FN(set_precision) {
    PARSE(v, "set_float32_matmul_precision", 1, 1, "precision");
    *out = VALUE_NONE;
    if (!value_is_str(v[0]))
        return tsr_error(TSR_RUNTIME_ERROR, "set_float32_matmul_precision expects a str, but got %s",
                         value_type_name(v[0]));
    for (size_t i = 0; i < TSR_COUNTOF(precisions); i++) {
        if (!str_equal_c(value_as_str(v[0]), precisions[i])) continue;
        precision_told = i;
        return TSR_OK;
    }
    fprintf(stderr,
            "UserWarning: %s is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.\n",
            value_as_str(v[0])->data);
    return TSR_OK;
}

FN(get_default_device) {
    (void)args;
    bool by_class = tsr_device_equal(device_default, type_device);
    return device_new(out, by_class ? TSR_DEVICE_CPU : device_default);
}

FN(set_default_device) {
    PARSE(v, "set_default_device", 1, 1, "device");
    Value device = VALUE_NONE;
    CallArgs one = {.values = v, .count = 1};
    if (v[0].tag != V_NONE) TSR_TRY(device_type.construct(&device, &device_type, &one));
    device_default = device.tag == V_NONE ? type_device : ((DeviceObj *)device.o)->device;
    value_release(device);
    *out = VALUE_NONE;
    return TSR_OK;
}

/* ---- random streams ---- */

FN(manual_seed) {
    PARSE(v, "manual_seed", 1, 1, "seed");
    Value whole;
    CallArgs one = {.values = v, .count = 1};
    TSR_TRY(int_type.construct(&whole, &int_type, &one));
    uint64_t seed;
    int64_t small;
    bool fits = int_fits_int64(whole, &small);
    if (fits) seed = (uint64_t)small;
    bool ok = fits || int_fits_uint64(whole, &seed);
    value_release(whole);
    if (!ok) return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
    tsr_rng_seed(tsr_rng_default(), seed);
    for (int i = 0; i < torch_cuda_device_count(); i++) tsr_rng_seed(tsr_rng_of_device(i), seed);
    return generator_default(out);
}

FN(seed) {
    (void)args;
    return int_new_uint64(out, tsr_rng_seed_from_system(tsr_rng_default()));
}

FN(initial_seed) {
    (void)args;
    return int_new_uint64(out, tsr_rng_initial_seed(tsr_rng_default()));
}

FN(get_rng_state) {
    (void)args;
    return rng_state_value(out, tsr_rng_default());
}

FN(set_rng_state) {
    PARSE(v, "set_rng_state", 1, 1, "new_state");
    *out = VALUE_NONE;
    return rng_state_set(tsr_rng_default(), v[0]);
}

/* fork_rng(): a block after which the stream goes on as if nothing had been drawn in it. The state is kept from
 * __enter__ to __exit__ only. */
typedef struct Fork {
    Obj obj;
    bool enabled;
    Value state;
} Fork;

FN(fork_enter) {
    Fork *f = (Fork *)args->values[0].o;
    *out = VALUE_NONE;
    return f->enabled && f->state.tag == V_UNBOUND ? rng_state_value(&f->state, tsr_rng_default()) : TSR_OK;
}

FN(fork_exit) {
    Fork *f = (Fork *)args->values[0].o;
    Value state = f->state;
    f->state = VALUE_UNBOUND;
    *out = VALUE_NONE;
    if (state.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = rng_state_set(tsr_rng_default(), state);
    value_release(state);
    return status;
}

static void fork_destroy(Obj *self) {
    value_release(((Fork *)self)->state);
    obj_free(self, sizeof(Fork));
}

static const Method fork_methods[] = {
    {"__enter__", fn_fork_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Remembers the state of the stream."},
    {"__exit__", fn_fork_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Goes back to it."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};
static Type fork_type = {.obj = TYPE_HEADER,
                         .name = "_GeneratorContextManager",
                         .module = "contextlib",
                         .destroy = fork_destroy,
                         .methods = fork_methods};

FN(fork_rng) {
    PARSE(v, "fork_rng", 5, 0, "devices", "enabled", "_caller", "_devices_kw", "device_type");
    bool enabled = true;
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_truth(&enabled, v[1]));
    Fork *f = obj_new(&fork_type, sizeof *f);
    if (f == NULL) return TSR_MEMORY_ERROR;
    f->enabled = enabled;
    f->state = VALUE_UNBOUND;
    *out = value_obj_move(f);
    return TSR_OK;
}

#define END \
    { NULL, NULL, 0, 0, 0, NULL, NULL }

const Method torch_functions[] = {
    {"is_tensor", fn_is_tensor, ARGS_ANY, 0, 0, "(obj)", "Whether it is a tensor."},
    {"is_storage", fn_is_storage, ARGS_ANY, 0, 0, "(obj)", "Whether it is a storage."},
    {"typename", fn_typename, ARGS_ANY, 0, 0, "(obj)",
     "The name of its type; torch.FloatTensor and so on for tensors."},
    {"broadcast_tensors", fn_broadcast_tensors, ARGS_ANY, 0, -1, "(*tensors)",
     "Views of the tensors, all of the shape they broadcast to."},
    {"from_dlpack", fn_from_dlpack, ARGS_ANY, 0, 0, "(ext_tensor)", "Another tensor over the same memory."},
    {"get_default_dtype", fn_get_default_dtype, ARGS_NONE, 0, 0, "()", "The dtype of new float tensors."},
    {"set_default_dtype", fn_set_default_dtype, ARGS_ANY, 0, 0, "(d)", "Sets the dtype of new float tensors."},
    {"set_default_tensor_type", fn_set_default_tensor_type, ARGS_ANY, 0, 0, "(t)",
     "Sets the dtype of new float tensors, and where they go, by a class such as torch.cuda.DoubleTensor."},
    {"set_printoptions", fn_set_printoptions, ARGS_ANY, 0, 0,
     "(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None)",
     "How tensors print."},
    {"get_num_threads", fn_get_num_threads, ARGS_NONE, 0, 0, "()", "How many threads work on a large operation."},
    {"set_num_threads", fn_set_num_threads, ARGS_ANY, 0, 0, "(n)", "Sets how many threads work on a large operation."},
    {"get_num_interop_threads", fn_one, ARGS_NONE, 0, 0, "()", "1: operations run one after the other."},
    {"set_num_interop_threads", fn_none, ARGS_ONE, 1, 1, "(n)", "Has no effect."},
    {"use_deterministic_algorithms", fn_use_deterministic, ARGS_ANY, 0, 0, "(mode, warn_only=False)",
     "Has no effect: results are always the same."},
    {"are_deterministic_algorithms_enabled", fn_are_deterministic, ARGS_NONE, 0, 0, "()",
     "What use_deterministic_algorithms was told."},
    {"set_warn_always", fn_set_warn_always, ARGS_ANY, 0, 0, "(b)", "Has no effect."},
    {"is_warn_always_enabled", fn_is_warn_always, ARGS_NONE, 0, 0, "()", "What set_warn_always was told."},
    {"set_flush_denormal", fn_set_flush_denormal, ARGS_ANY, 0, 0, "(mode)",
     "Whether numbers too small to be normal count as 0."},
    {"compiled_with_cxx11_abi", fn_yes, ARGS_NONE, 0, 0, "()", "True."},
    {"get_float32_matmul_precision", fn_precision, ARGS_NONE, 0, 0, "()",
     "What set_float32_matmul_precision was told."},
    {"set_float32_matmul_precision", fn_set_precision, ARGS_ANY, 0, 0, "(precision)",
     "Has no effect: 'highest', 'high' and 'medium' multiply alike."},
    {"get_default_device", fn_get_default_device, ARGS_NONE, 0, 0, "()", "Where new tensors are made."},
    {"set_default_device", fn_set_default_device, ARGS_ANY, 0, 0, "(device)",
     "Where new tensors are made: 'cpu', 'meta'; None is the cpu."},
    {"is_anomaly_enabled", fn_no, ARGS_NONE, 0, 0, "()", "False: there is no autograd."},
    {"is_autocast_ipu_enabled", fn_no, ARGS_NONE, 0, 0, "()", "False: dtypes are the ones asked for."},
    {"is_autocast_xla_enabled", fn_no, ARGS_NONE, 0, 0, "()", "False: dtypes are the ones asked for."},
    {"is_anomaly_check_nan_enabled", fn_yes, ARGS_NONE, 0, 0, "()", "True."},
    {"is_vulkan_available", fn_no, ARGS_NONE, 0, 0, "()", "False."},
    {"is_deterministic_algorithms_warn_only_enabled", fn_is_warn_only, ARGS_NONE, 0, 0, "()",
     "What use_deterministic_algorithms was told."},
    {"get_deterministic_debug_mode", fn_get_debug_mode, ARGS_NONE, 0, 0, "()",
     "What set_deterministic_debug_mode was told."},
    {"set_deterministic_debug_mode", fn_set_debug_mode, ARGS_ANY, 0, 0, "(debug_mode)",
     "Has no effect: results are always the same."},
    END,
};
const Method torch_random_functions[] = {
    {"manual_seed", fn_manual_seed, ARGS_ANY, 0, 0, "(seed)",
     "Starts the random stream that belongs to the seed, PyTorch's."},
    {"seed", fn_seed, ARGS_NONE, 0, 0, "()", "Starts a random stream that nobody can foresee; returns its seed."},
    {"initial_seed", fn_initial_seed, ARGS_NONE, 0, 0, "()", "The seed of the stream."},
    {"get_rng_state", fn_get_rng_state, ARGS_NONE, 0, 0, "()", "The state of the stream, a uint8 tensor."},
    {"set_rng_state", fn_set_rng_state, ARGS_ANY, 0, 0, "(new_state)", "Goes back to a state that get_rng_state gave."},
    {"thread_safe_generator", fn_none, ARGS_NONE, 0, 0, "()", "None: no thread draws from a stream of its own."},
    END,
};
const Method torch_fork_functions[] = {
    {"fork_rng", fn_fork_rng, ARGS_ANY, 0, 0, "(devices=None, enabled=True, device_type=None)",
     "A block after which the random stream goes on as if nothing had been drawn in it."},
    END,
};
const Method torch_built_functions[] = {
    {"is_built", fn_yes, ARGS_NONE, 0, 0, "()", "True: the plugin for CUDA is part of every build."},
    END,
};
const Method torch_onnx_functions[] = {
    {"is_in_onnx_export", fn_no, ARGS_NONE, 0, 0, "()", "False: nothing is exported."},
    END,
};
#ifdef __wasm__ /* the page goes without, for its size */
#define fn_attended fn_none
#else
FN(attended) {
    const TsrTensor *of[3];
    for (int i = 0; i < 3; i++) {
        TsrTensor *t;
        TSR_TRY(bind_tensor_of(&t, args->values[i]));
        of[i] = t;
    }
    TsrScalar factor;
    bool ok, causal;
    TSR_TRY(bind_scalar(&factor, &ok, args->values[3]));
    TSR_TRY(value_truth(&causal, args->values[4]));
    TsrTensor *result;
    TSR_TRY(tsr_attention_new(&result, of, tsr_scalar_to_double(factor), causal));
    *out = result != NULL ? value_tensor_move(result) : VALUE_NONE;
    return TSR_OK;
}
#endif
const Method torch_state_functions[] = {
    {"_are_functorch_transforms_active", fn_no, ARGS_NONE, 0, 0, "()", "False: no transform is active."},
    {"_attended", fn_attended, ARGS_RANGE, 5, 5, "(query, key, value, factor, is_causal)",
     "Attention in PyTorch's blocks, or None where there is no kernel for it."},
    {"_get_tracing_state", fn_none, ARGS_NONE, 0, 0, "()", "None: nothing is traced."},
    END,
};
const Method torch_absent_functions[] = {
    {"is_available", fn_no, ARGS_NONE, 0, 0, "()", "False."},
    {"is_built", fn_no, ARGS_NONE, 0, 0, "()", "False."},
    {"device_count", fn_zero, ARGS_NONE, 0, 0, "()", "0."},
    {"version", fn_none, ARGS_NONE, 0, 0, "()", "None."},
    END,
};
