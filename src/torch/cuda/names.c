/* names.c: which names torch.cuda and torch.accelerator have that are written in C; the others are in the language. */
#include "cuda_impl.h"

#include <string.h>

#include "lang/object/exc.h"
#include "torch/bind/bind.h"
#include "torch/tensor/tensor.h"

static TsrStatus current_accelerator(Value *out, const CallArgs *args) {
    PARSE(v, "current_accelerator", 1, 0, "check_available");
    bool check = false;
    if (v[0].tag != V_UNBOUND) TSR_TRY(value_truth(&check, v[0]));
    *out = VALUE_NONE;
    return !check || cuda_find_backend() != NULL ? device_new(out, (TsrDevice){TSR_CUDA, -1}) : TSR_OK;
}

static TsrStatus empty_host_cache(Value *out, const CallArgs *args) {
    (void)args;
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL; a = a->next)
        if (strcmp(a->name, "pinned") == 0 && a->empty_cache != NULL) a->empty_cache(a);
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method accelerator_functions[] = {
    {"is_available", cuda_is_available, ARGS_NONE, 0, 0, "()", "Whether there is a device beside the CPU."},
    {"device_count", cuda_device_count, ARGS_NONE, 0, 0, "()", "How many there are."},
    {"current_accelerator", current_accelerator, ARGS_ANY, 0, 0, "(check_available=False)",
     "The device type that this build serves; with check_available None where there is no device."},
    {"current_device_index", cuda_current_device, ARGS_NONE, 0, 0, "()", "The index of the current one."},
    {"current_device_idx", cuda_current_device, ARGS_NONE, 0, 0, "()", "The same."},
    {"current_stream", accelerator_current_stream, ARGS_ANY, 0, 0, "(device=None)", "Its current stream."},
    {"set_stream", cuda_set_stream, ARGS_ANY, 0, 0, "(stream)", "Makes a stream and its device the current ones."},
    {"empty_cache", cuda_empty_cache, ARGS_NONE, 0, 0, "()", "Gives kept memory back to the device."},
    {"empty_host_cache", empty_host_cache, ARGS_NONE, 0, 0, "()", "Gives kept pinned memory back to the system."},
    {"get_memory_info", cuda_mem_get_info, ARGS_ANY, 0, 0, "(device=None)", "Bytes that are left, and in all."},
    END,
};

/* ---- torch.cuda.FloatTensor and the others ---- */

/* What torch.FloatTensor(...) makes, on the current device. */
static TsrStatus cuda_tensor_construct(Value *out, Type *type, const CallArgs *args) {
    const TsrBackend *b;
    Value made;
    TSR_TRY(cuda_need_backend(&b));
    TSR_TRY(tensor_construct(&made, &float_tensor_types[type - cuda_tensor_types], args));
    TsrStatus status = bind_call(out, "cuda", 1, &made);
    value_release(made);
    return status;
}

static TsrStatus is_cuda_tensor(bool *out, Type *type, Value v) {
    *out = v.tag == V_TENSOR && v.t->device.type == TSR_CUDA && v.t->dtype == (TsrDtype)(type - cuda_tensor_types);
    return TSR_OK;
}

Type cuda_tensor_types[TSR_DTYPE_COUNT];

static TsrStatus add_tensor_types(Module *m) {
    static const TsrDtype absent[] = {TSR_COMPLEX64, TSR_COMPLEX128};
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) {
        const char *name = float_tensor_types[d].name;
        if (name == NULL || d == absent[0] || d == absent[1]) continue;
        cuda_tensor_types[d] = (Type){.obj = TYPE_HEADER,
                                      .name = name,
                                      .module = "torch.cuda",
                                      .base = &torch_tensor_type,
                                      .construct = cuda_tensor_construct,
                                      .instance_check = is_cuda_tensor};
        TSR_TRY(module_add(m, name, value_lent(&cuda_tensor_types[d])));
    }
    return TSR_OK;
}

typedef struct NamedType {
    const char *name;
    Type *type;
} NamedType;

static TsrStatus add_types(Module *m, const NamedType *types, size_t count) {
    for (size_t i = 0; i < count; i++) TSR_TRY(module_add(m, types[i].name, value_lent(types[i].type)));
    return TSR_OK;
}

TsrStatus torch_cuda_fill(Module *m) {
    const NamedType types[] = {{"device", &cuda_device_context_type},
                               {"device_of", &cuda_device_of_type},
                               {"Stream", &cuda_stream_type},
                               {"ExternalStream", &cuda_external_stream_type},
                               {"Event", &cuda_event_type},
                               {"StreamContext", &cuda_stream_context_type},
                               {"stream", &cuda_stream_context_type},
                               {"AcceleratorError", EXC_TYPE(TSR_ACCELERATOR_ERROR)},
                               {"OutOfMemoryError", EXC_TYPE(TSR_OUT_OF_MEMORY_ERROR)}};
    const Method *const tables[] = {cuda_device_functions, cuda_property_functions, cuda_memory_functions,
                                    cuda_stream_functions, cuda_random_functions,   cuda_nvtx_functions};
    TSR_TRY(add_types(m, types, TSR_COUNTOF(types)));
    TSR_TRY(add_tensor_types(m));
    Value generators;
    TSR_TRY(cuda_generators(&generators, NULL));
    TSR_TRY(module_add_move(m, "default_generators", generators));
    TSR_TRY(module_add(m, "has_half", VALUE_TRUE));
    TSR_TRY(module_add(m, "has_magma", VALUE_TRUE));
    for (size_t i = 0; i < TSR_COUNTOF(tables); i++) TSR_TRY(module_add_functions(m, tables[i]));
    return TSR_OK;
}

TsrStatus torch_cuda_memory_fill(Module *m) { return module_add_functions(m, cuda_memory_functions); }
TsrStatus torch_cuda_random_fill(Module *m) { return module_add_functions(m, cuda_random_functions); }

TsrStatus torch_cuda_streams_fill(Module *m) {
    const NamedType types[] = {
        {"Stream", &cuda_stream_type}, {"ExternalStream", &cuda_external_stream_type}, {"Event", &cuda_event_type}};
    return add_types(m, types, TSR_COUNTOF(types));
}

TsrStatus torch_accelerator_fill(Module *m) {
    const NamedType types[] = {{"device_index", &accelerator_device_index_type}};
    TSR_TRY(add_types(m, types, TSR_COUNTOF(types)));
    return module_add_functions(m, accelerator_functions);
}
