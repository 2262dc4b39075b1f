/* devices.c: which CUDA devices there are, which is current and for how long, and what they are. Without a driver each
 * name answers as PyTorch does without one: with none of something, or with its error. */
#include "cuda_impl.h"

#include <stdio.h>

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

const TsrBackend *cuda_find_backend(void) {
    const TsrBackend *b;
    if (tsr_backend_get(&b, TSR_CUDA) == TSR_OK) return b;
    tsr_error_clear();
    return NULL;
}

static bool begun; /* something was asked that PyTorch starts CUDA for */

TsrStatus cuda_need_backend(const TsrBackend **out) {
    *out = cuda_find_backend();
    begun = true;
    return *out != NULL ? TSR_OK : tsr_device_missing((TsrDevice){TSR_CUDA, 0});
}

TsrStatus torch_cuda_no_driver(void) {
    return tsr_error(TSR_ACCELERATOR_ERROR,
                     "CUDA error: CUDA driver version is insufficient for CUDA runtime version\n"
                     "Search for `cudaErrorInsufficientDriver' in "
                     "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html for more information.\n"
                     "Device-side assertions were explicitly omitted for this error check; the error probably arose "
                     "while initializing the DSA handlers.");
}

TsrStatus cuda_device_argument(TsrDevice *out, Value v) {
    bool ok;
    char text[16];
    *out = (TsrDevice){TSR_CUDA, -1};
    if (v.tag == V_UNBOUND || v.tag == V_NONE || (v.tag == V_INT && v.i < 0)) return TSR_OK;
    TSR_TRY(device_from_value(out, &ok, v));
    if (!ok) {
        Value shown;
        TSR_TRY(value_new_str(&shown, v));
        TsrStatus status =
            tsr_error(TSR_VALUE_ERROR, "Expected a torch.device with a specified index or an integer, but got:%s",
                      value_as_str(shown)->data);
        value_release(shown);
        return status;
    }
    if (out->type != TSR_CUDA)
        return tsr_error(TSR_VALUE_ERROR, "Expected a cuda device, but got: %s", tsr_device_format(*out, text));
    return TSR_OK;
}

TsrStatus cuda_index_of(int *out, const TsrBackend *b, Value v) {
    TsrDevice d;
    TSR_TRY(cuda_device_argument(&d, v));
    *out = b->current();
    if (d.index < 0) return TSR_OK;
    TSR_TRY(tsr_device_resolve(&d));
    *out = d.index;
    return TSR_OK;
}

TsrStatus cuda_is_available(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(cuda_find_backend() != NULL);
    return TSR_OK;
}

void cuda_begin(void) { begun = true; }

bool cuda_is_begun(void) {
    const TsrBackend *b = cuda_find_backend();
    return b != NULL && (begun || b->used());
}

FN(is_initialized) {
    (void)args;
    *out = value_bool(cuda_is_begun());
    return TSR_OK;
}

TsrStatus cuda_device_count(Value *out, const CallArgs *args) {
    (void)args;
    const TsrBackend *b = cuda_find_backend();
    *out = value_int(b != NULL ? b->device_count() : 0);
    return TSR_OK;
}

FN(init) {
    (void)args;
    const TsrBackend *b;
    *out = VALUE_NONE;
    return cuda_need_backend(&b);
}

TsrStatus cuda_current_device(Value *out, const CallArgs *args) {
    (void)args;
    const TsrBackend *b;
    TSR_TRY(cuda_need_backend(&b));
    *out = value_int(b->current());
    return TSR_OK;
}

static TsrStatus set_device(Value *out, const CallArgs *args) {
    PARSE(v, "set_device", 1, 1, "device");
    const TsrBackend *b;
    TsrDevice d;
    *out = VALUE_NONE;
    TSR_TRY(cuda_device_argument(&d, v[0]));
    if (v[0].tag == V_INT && v[0].i < 0) return TSR_OK;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(tsr_device_resolve(&d));
    return b->set_current(d.index);
}

TsrStatus cuda_synchronize(Value *out, const CallArgs *args) {
    PARSE(v, "synchronize", 1, 0, "device");
    const TsrBackend *b;
    int index;
    *out = VALUE_NONE;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    return b->synchronize(index);
}

FN(can_device_access_peer) {
    PARSE(v, "can_device_access_peer", 2, 2, "device", "peer_device");
    const TsrBackend *b;
    int index, peer;
    bool can;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_checked_index(&index, b, v[0], "Invalid device id"));
    TSR_TRY(cuda_checked_index(&peer, b, v[1], "Invalid peer device id"));
    TSR_TRY(b->can_access_peer(&can, index, peer));
    *out = value_bool(can);
    return TSR_OK;
}

FN(index) {
    PARSE(v, "_index", 1, 0, "device");
    const TsrBackend *b;
    int index;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(cuda_index_of(&index, b, v[0]));
    *out = value_int(index);
    return TSR_OK;
}

/* A warning for each call in which the host waits for a device. */
static void warn_of_wait(void) { fputs("UserWarning: called a synchronizing CUDA operation\n", stderr); }

FN(set_sync_debug_mode) {
    int64_t mode;
    *out = VALUE_NONE;
    TSR_TRY(value_to_index(&mode, args->values[0]));
    tsr_sync_hook = warn_of_wait;
    tsr_sync_debug_mode = (int)mode;
    return TSR_OK;
}

FN(get_sync_debug_mode) {
    (void)args;
    const TsrBackend *b;
    *out = value_int(tsr_sync_debug_mode);
    return cuda_need_backend(&b);
}

/* There are no graphs. */
FN(is_current_stream_capturing) {
    (void)args;
    *out = VALUE_FALSE;
    return cuda_find_backend() != NULL ? TSR_OK : torch_cuda_no_driver();
}

const Method cuda_device_functions[] = {
    {"is_current_stream_capturing", fn_is_current_stream_capturing, ARGS_NONE, 0, 0, "()",
     "Whether work is being recorded instead of done: it never is."},
    {"_set_sync_debug_mode", fn_set_sync_debug_mode, ARGS_ONE, 1, 1, "(mode)", NULL},
    {"get_sync_debug_mode", fn_get_sync_debug_mode, ARGS_NONE, 0, 0, "()",
     "What becomes of calls that wait for the GPU: 0 nothing, 1 a warning, 2 an error."},
    {"_index", fn_index, ARGS_ANY, 0, 0, "(device=None)", NULL},
    {"is_available", cuda_is_available, ARGS_NONE, 0, 0, "()", "Whether a driver and a GPU are there."},
    {"device_count", cuda_device_count, ARGS_NONE, 0, 0, "()", "How many GPUs are there."},
    {"init", fn_init, ARGS_NONE, 0, 0, "()", "Nothing is left to start; an error without a GPU."},
    {"is_initialized", fn_is_initialized, ARGS_NONE, 0, 0, "()", "Whether there is a GPU in use."},
    {"current_device", cuda_current_device, ARGS_NONE, 0, 0, "()", "The index of the device that 'cuda' means."},
    {"set_device", set_device, ARGS_ANY, 0, 0, "(device)", "Makes a device the one that 'cuda' means."},
    {"can_device_access_peer", fn_can_device_access_peer, ARGS_ANY, 0, 0, "(device, peer_device)",
     "Whether one device reaches the other's memory by itself."},
    {"synchronize", cuda_synchronize, ARGS_ANY, 0, 0, "(device=None)", "Waits for the GPU; an error without one."},
    END,
};

/* ---- with torch.cuda.device(...) ---- */

/* An index of -1 changes nothing; NO_INDEX is that of a device that nobody named, where there is none. */
enum { NO_INDEX = -2 };
typedef struct ContextObj {
    Obj obj;
    int index, before;
} ContextObj;

static TsrStatus context_new(Value *out, Type *type, int index) {
    ContextObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->index = index;
    o->before = -1;
    *out = value_obj_move(o);
    return TSR_OK;
}

/* None and "cuda" are the current device at the time of the call. */
static TsrStatus device_context_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "device.__init__", 1, 1, "device");
    TsrDevice d;
    TSR_TRY(cuda_device_argument(&d, v[0]));
    const TsrBackend *b = cuda_find_backend();
    if (d.index >= 0 || v[0].tag == V_INT) return context_new(out, type, d.index);
    return context_new(out, type, b != NULL ? b->current() : NO_INDEX);
}

static TsrStatus device_of_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "device_of.__init__", 1, 1, "obj");
    const TsrTensor *t = v[0].tag == V_TENSOR ? v[0].t : NULL;
    return context_new(out, type, t != NULL && t->device.type == TSR_CUDA ? t->device.index : -1);
}

static TsrStatus device_index_construct(Value *out, Type *type, const CallArgs *args) {
    PARSE(v, "device_index.__init__", 1, 1, "device");
    int64_t index = -1;
    TsrDevice named;
    if (value_is_str(v[0]) || value_is_obj(v[0], &device_type)) {
        TSR_TRY(cuda_device_argument(&named, v[0]));
        index = named.index;
    } else if (v[0].tag != V_NONE) {
        TSR_TRY(value_to_index(&index, v[0]));
    }
    return context_new(out, type, (int)TSR_MIN(TSR_MAX(index, -1), INT8_MAX));
}

FN(context_enter) {
    ContextObj *o = (ContextObj *)args->values[0].o;
    const TsrBackend *b;
    TsrDevice d = {TSR_CUDA, (int8_t)o->index};
    *out = VALUE_NONE;
    if (o->index == NO_INDEX) return tsr_error(TSR_RUNTIME_ERROR, "invalid argument to exchangeDevice");
    if (o->index < 0) return TSR_OK;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(tsr_device_resolve(&d));
    o->before = b->current();
    return b->set_current(o->index);
}

FN(context_exit) {
    ContextObj *o = (ContextObj *)args->values[0].o;
    const TsrBackend *b = cuda_find_backend();
    *out = VALUE_FALSE;
    if (o->before < 0 || b == NULL) return TSR_OK;
    int before = o->before;
    o->before = -1;
    return b->set_current(before);
}

static void context_destroy(Obj *self) { obj_free(self, sizeof(ContextObj)); }

static TsrStatus get_index(Value *out, Value self) {
    int index = ((ContextObj *)self.o)->index;
    *out = index == NO_INDEX ? VALUE_NONE : value_int(index);
    return TSR_OK;
}

static const Method context_methods[] = {
    {"__enter__", fn_context_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Makes it the current device."},
    {"__exit__", fn_context_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)",
     "Gives the one before back."},
    END,
};
static const Getter context_getters[] = {{"idx", get_index, NULL, "the device's index, or -1"},
                                         {NULL, NULL, NULL, NULL}};
#define CONTEXT(shown, room, make) \
    { \
        .obj = TYPE_HEADER, .name = shown, .module = room, .construct = make, .destroy = context_destroy, \
        .methods = context_methods, .getters = context_getters \
    }
Type cuda_device_context_type = CONTEXT("device", "torch.cuda", device_context_construct);
Type cuda_device_of_type = CONTEXT("device_of", "torch.cuda", device_of_construct);
Type accelerator_device_index_type = CONTEXT("device_index", "torch.accelerator", device_index_construct);
