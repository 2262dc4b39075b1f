/* thc.c: what THC has beyond TH's names: devices, their memory, and what THCState held. */
#include "th_impl.h"

#include "core/backend.h"
#include "core/rng.h"
#include "lang/types/dict.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "torch/holders.h"

static TsrStatus thc_get_device(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "getDevice"));
    *out = value_int(t->device.type == TSR_CUDA ? t->device.index : -1);
    return TSR_OK;
}

/* Found through cuda_missing, so there is a backend. */
static TsrStatus cuda_backend(const TsrBackend **lent) { return tsr_backend_get(lent, TSR_CUDA); }

static TsrStatus thc_set_device(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    int64_t index;
    TSR_TRY(cuda_backend(&b));
    TSR_TRY(value_to_index(&index, args->values[0]));
    if (index < 0 || index >= b->device_count()) return th_fail("setDevice: there is no device %lld", (long long)index);
    *out = VALUE_NONE;
    return b->set_current((int)index);
}

static TsrStatus thc_synchronize(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    (void)args;
    *out = VALUE_NONE;
    TSR_TRY(cuda_backend(&b));
    return b->synchronize(b->current());
}

static TsrStatus thc_mem_get_info(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    TsrDeviceFacts facts;
    size_t left;
    (void)args;
    TSR_TRY(cuda_backend(&b));
    TSR_TRY(b->facts(&facts, b->current()));
    TSR_TRY(b->free_memory(&left, b->current()));
    Value pair[] = {value_int((int64_t)left), value_int((int64_t)facts.memory)};
    return tuple_new(out, pair, 2);
}

/* What THCState held, as we hold it. */
static TsrStatus thc_state(Value *out, const CallArgs *args) {
    const TsrBackend *b;
    Value d, seed;
    (void)args;
    TSR_TRY(cuda_backend(&b));
    int index = b->current();
    TSR_TRY(dict_new(&d));
    Dict *dict = value_as_dict(d);
    TsrStatus status = dict_set_c(dict, "device", value_int(index));
    if (status == TSR_OK) status = dict_set_c(dict, "devices", value_int(b->device_count()));
    if (status == TSR_OK) status = dict_set_c(dict, "stream", value_int(b->streams->current(index)));
    if (status == TSR_OK) status = holders_put_text(dict, "allocator", tsr_allocator_active(TSR_CUDA)->name);
    if (status == TSR_OK) status = int_new_uint64(&seed, tsr_rng_initial_seed(tsr_rng_of_device(index)));
    if (status == TSR_OK) status = dict_set_c_move(dict, "seed", seed);
    return value_end_move(out, status, d);
}

const Method thc_device_functions[] = {
    {"getDevice", thc_get_device, ARGS_RANGE, 1, 1, "(t)", "The index of its device, -1 on the host."},
    {"setDevice", thc_set_device, ARGS_RANGE, 1, 1, "(index)", "Makes a device the one of new tensors."},
    {"synchronize", thc_synchronize, ARGS_RANGE, 0, 0, "()", "Waits for all work on the device."},
    {"memGetInfo", thc_mem_get_info, ARGS_RANGE, 0, 0, "()", "Bytes that the device has left, and has in all."},
    {"state", thc_state, ARGS_RANGE, 0, 0, "()", "What THCState held: device, stream, allocator, seed."},
    {0},
};
