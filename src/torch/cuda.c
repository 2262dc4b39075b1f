/* cuda.c: torch.cuda and torch.accelerator: which devices there are, which is current, what memory they have. Without
 * a driver each name answers as PyTorch does without one: with none of something, or with its error. */
#include "cuda.h"

#include "args.h"
#include "core/backend.h"
#include "lang/object/args.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "types.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)
#define PARSE(v, function_name, positional, needed, ...) \
    static const char *const names_[] = {__VA_ARGS__}; \
    Value v[TSR_COUNTOF(names_)]; \
    TSR_TRY(args_parse_python(v, args, \
                              &(ArgSpec){function_name, names_, (int)TSR_COUNTOF(names_), 0, positional, needed}))

/* NULL where there is no device; no error is left then. */
static const TsrBackend *find_backend(void) {
    const TsrBackend *b;
    if (tsr_backend_get(&b, TSR_CUDA) == TSR_OK) return b;
    tsr_error_clear();
    return NULL;
}

static TsrStatus need_backend(const TsrBackend **out) {
    *out = find_backend();
    return *out != NULL ? TSR_OK : tsr_device_missing((TsrDevice){TSR_CUDA, 0});
}

/* The index that an argument means: None and nothing are the current device. */
static TsrStatus index_of(int *out, const TsrBackend *b, Value v) {
    TsrDevice d;
    bool ok;
    char text[16];
    *out = b->current();
    if (v.tag == V_UNBOUND || v.tag == V_NONE) return TSR_OK;
    if (v.tag == V_INT && v.i < 0) return TSR_OK;
    TSR_TRY(device_from_value(&d, &ok, v));
    if (!ok)
        return tsr_error(TSR_VALUE_ERROR, "Expected a torch.device with a specified index or an integer, but got:%s",
                         value_type_name(v));
    if (d.type != TSR_CUDA)
        return tsr_error(TSR_VALUE_ERROR, "Expected a cuda device, but got: %s", tsr_device_format(d, text));
    TSR_TRY(tsr_device_resolve(&d));
    *out = d.index;
    return TSR_OK;
}

FN(available) {
    (void)args;
    *out = value_bool(find_backend() != NULL);
    return TSR_OK;
}

FN(count) {
    (void)args;
    const TsrBackend *b = find_backend();
    *out = value_int(b != NULL ? b->device_count() : 0);
    return TSR_OK;
}

FN(init) {
    (void)args;
    const TsrBackend *b;
    *out = VALUE_NONE;
    return need_backend(&b);
}

FN(current) {
    (void)args;
    const TsrBackend *b;
    TSR_TRY(need_backend(&b));
    *out = value_int(b->current());
    return TSR_OK;
}

FN(set_device) {
    PARSE(v, "set_device", 1, 1, "device");
    const TsrBackend *b;
    int index;
    *out = VALUE_NONE;
    if (v[0].tag == V_INT && v[0].i < 0) return TSR_OK;
    TSR_TRY(need_backend(&b));
    TSR_TRY(index_of(&index, b, v[0]));
    return b->set_current(index);
}

FN(synchronize) {
    PARSE(v, "synchronize", 1, 0, "device");
    const TsrBackend *b;
    int index;
    *out = VALUE_NONE;
    TSR_TRY(need_backend(&b));
    TSR_TRY(index_of(&index, b, v[0]));
    return b->synchronize(index);
}

/* Seeds of GPUs' own streams, which nothing here draws from; the argument is checked as PyTorch does. */
FN(manual_seed) {
    PARSE(v, "manual_seed", 1, 1, "seed");
    Value whole;
    TSR_TRY(int_type.construct(&whole, &int_type, &(CallArgs){.values = v, .count = 1}));
    value_release(whole);
    *out = VALUE_NONE;
    return TSR_OK;
}

/* ---- memory ---- */

static TsrStatus memory_of(TsrDeviceMemory *out, Value device) {
    const TsrBackend *b = find_backend();
    int index;
    *out = (TsrDeviceMemory){0};
    if (b == NULL) return TSR_OK;
    TSR_TRY(index_of(&index, b, device));
    b->memory(out, index);
    return TSR_OK;
}

#define COUNTER(name, field) \
    FN(name) { \
        PARSE(v, #name, 1, 0, "device"); \
        TsrDeviceMemory m; \
        TSR_TRY(memory_of(&m, v[0])); \
        *out = value_int(m.field); \
        return TSR_OK; \
    }
COUNTER(memory_allocated, allocated)
COUNTER(max_memory_allocated, allocated_peak)
COUNTER(memory_reserved, reserved)
COUNTER(max_memory_reserved, reserved_peak)

FN(reset_peak_memory_stats) {
    PARSE(v, "reset_peak_memory_stats", 1, 0, "device");
    const TsrBackend *b;
    int index;
    *out = VALUE_NONE;
    if ((b = find_backend()) == NULL)
        return tsr_error(TSR_RUNTIME_ERROR, "invalid argument to reset_peak_memory_stats");
    TSR_TRY(index_of(&index, b, v[0]));
    b->reset_peaks(index);
    return TSR_OK;
}

FN(empty_cache) {
    (void)args;
    *out = VALUE_NONE;
    for (TsrAllocator *a = tsr_allocator_first(); a != NULL; a = a->next)
        if (a->device == TSR_CUDA && a->empty_cache != NULL) a->empty_cache(a);
    return TSR_OK;
}

FN(mem_get_info) {
    PARSE(v, "mem_get_info", 1, 0, "device");
    const TsrBackend *b;
    TsrDeviceFacts facts;
    size_t unused;
    int index;
    TSR_TRY(need_backend(&b));
    TSR_TRY(index_of(&index, b, v[0]));
    TSR_TRY(b->facts(&facts, index));
    TSR_TRY(b->free_memory(&unused, index));
    Value pair[] = {value_int((int64_t)unused), value_int((int64_t)facts.memory)};
    return tuple_new(out, pair, 2);
}

/* ---- what a device is ---- */

static TsrStatus facts_of(TsrDeviceFacts *out, Value device) {
    const TsrBackend *b;
    int index;
    TSR_TRY(need_backend(&b));
    TSR_TRY(index_of(&index, b, device));
    return b->facts(out, index);
}

FN(get_device_name) {
    PARSE(v, "get_device_name", 1, 0, "device");
    TsrDeviceFacts facts;
    TSR_TRY(facts_of(&facts, v[0]));
    return str_new_c(out, facts.name);
}

FN(get_device_capability) {
    PARSE(v, "get_device_capability", 1, 0, "device");
    TsrDeviceFacts facts;
    TSR_TRY(facts_of(&facts, v[0]));
    Value pair[] = {value_int(facts.major), value_int(facts.minor)};
    return tuple_new(out, pair, 2);
}

FN(current_accelerator) {
    (void)args;
    *out = VALUE_NONE;
    return find_backend() != NULL ? device_new(out, (TsrDevice){TSR_CUDA, -1}) : TSR_OK;
}

#define END \
    { NULL, NULL, 0, 0, 0, NULL, NULL }

const Method torch_accelerator_functions[] = {
    {"is_available", fn_available, ARGS_NONE, 0, 0, "()", "Whether there is a device beside the CPU."},
    {"device_count", fn_count, ARGS_NONE, 0, 0, "()", "How many there are."},
    {"current_accelerator", fn_current_accelerator, ARGS_ANY, 0, 0, "(check_available=False)", "The device, or None."},
    {"synchronize", fn_synchronize, ARGS_ANY, 0, 0, "(device=None)", "Waits for it; an error without one."},
    END,
};

const Method torch_cuda_functions[] = {
    {"is_available", fn_available, ARGS_NONE, 0, 0, "()", "Whether a driver and a GPU are there."},
    {"device_count", fn_count, ARGS_NONE, 0, 0, "()", "How many GPUs are there."},
    {"init", fn_init, ARGS_NONE, 0, 0, "()", "Nothing is left to start; an error without a GPU."},
    {"is_initialized", fn_available, ARGS_NONE, 0, 0, "()", "Whether there is a GPU in use."},
    {"current_device", fn_current, ARGS_NONE, 0, 0, "()", "The index of the device that 'cuda' means."},
    {"set_device", fn_set_device, ARGS_ANY, 0, 0, "(device)", "Makes a device the one that 'cuda' means."},
    {"get_device_name", fn_get_device_name, ARGS_ANY, 0, 0, "(device=None)", "Its maker's name for it."},
    {"get_device_capability", fn_get_device_capability, ARGS_ANY, 0, 0, "(device=None)",
     "Its compute capability, two numbers."},
    {"synchronize", fn_synchronize, ARGS_ANY, 0, 0, "(device=None)", "Waits for the GPU; an error without one."},
    {"manual_seed", fn_manual_seed, ARGS_ANY, 0, 0, "(seed)", "The seed of the GPU's own stream."},
    {"manual_seed_all", fn_manual_seed, ARGS_ANY, 0, 0, "(seed)", "The seed of all GPUs' streams."},
    {"memory_allocated", fn_memory_allocated, ARGS_ANY, 0, 0, "(device=None)",
     "Bytes given to tensors on the GPU; 0 without one."},
    {"max_memory_allocated", fn_max_memory_allocated, ARGS_ANY, 0, 0, "(device=None)",
     "The most that there were at a time."},
    {"memory_reserved", fn_memory_reserved, ARGS_ANY, 0, 0, "(device=None)",
     "Bytes taken from the GPU: those, and blocks kept."},
    {"max_memory_reserved", fn_max_memory_reserved, ARGS_ANY, 0, 0, "(device=None)",
     "The most that were taken at a time."},
    {"reset_peak_memory_stats", fn_reset_peak_memory_stats, ARGS_ANY, 0, 0, "(device=None)",
     "The most at a time is counted from now on."},
    {"mem_get_info", fn_mem_get_info, ARGS_ANY, 0, 0, "(device=None)", "Bytes that the GPU has left, and has in all."},
    {"empty_cache", fn_empty_cache, ARGS_NONE, 0, 0, "()", "Gives kept memory back to the GPU."},
    END,
};
