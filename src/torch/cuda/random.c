/* random.c: the random streams of CUDA devices: each has a generator of its own, that of operators whose tensors are
 * there. Without a driver a seed is put aside, as PyTorch does, until there is one. */
#include "cuda_impl.h"

#include "core/rng.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

/* Streams are there before the devices: a seed given early counts. */
enum { MOST_DEVICES = 16 };
int torch_cuda_device_count(void) { return MOST_DEVICES; }

/* int(seed), whatever number that is: its lowest 64 bits. */
static TsrStatus seed_argument(uint64_t *out, Value seed) {
    Value whole, low, mask;
    TSR_TRY(int_type.construct(&whole, &int_type, &(CallArgs){.values = &seed, .count = 1}));
    TsrStatus status = int_new_uint64(&mask, UINT64_MAX);
    if (status == TSR_OK) {
        status = value_binary(&low, OP_AND, whole, mask);
        value_release(mask);
    }
    value_release(whole);
    TSR_TRY(status);
    if (!int_fits_uint64(low, out)) *out = 0;
    if (low.tag == V_INT) *out = (uint64_t)low.i;
    value_release(low);
    return TSR_OK;
}

FN(manual_seed) {
    PARSE(v, "manual_seed", 1, 1, "seed");
    const TsrBackend *b = cuda_find_backend();
    uint64_t seed;
    *out = VALUE_NONE;
    TSR_TRY(seed_argument(&seed, v[0]));
    tsr_rng_seed(tsr_rng_of_device(b != NULL ? b->current() : 0), seed);
    return TSR_OK;
}

FN(manual_seed_all) {
    PARSE(v, "manual_seed_all", 1, 1, "seed");
    uint64_t seed;
    *out = VALUE_NONE;
    TSR_TRY(seed_argument(&seed, v[0]));
    for (int i = 0; i < MOST_DEVICES; i++) tsr_rng_seed(tsr_rng_of_device(i), seed);
    return TSR_OK;
}

FN(initial_seed) {
    (void)args;
    const TsrBackend *b;
    TSR_TRY(cuda_need_backend(&b));
    return int_new_uint64(out, tsr_rng_initial_seed(tsr_rng_of_device(b->current())));
}

/* `begins`: CUDA is in use from then on. */
static TsrStatus generator_at(TsrGenerator **out, Value device, bool begins) {
    const TsrBackend *b;
    int index;
    TSR_TRY(begins ? cuda_need_backend(&b) : tsr_backend_get(&b, TSR_CUDA));
    TSR_TRY(cuda_index_of(&index, b, device));
    *out = tsr_rng_of_device(index);
    return TSR_OK;
}

FN(get_rng_state) {
    PARSE(v, "get_rng_state", 1, 0, "device");
    TsrGenerator *g;
    TSR_TRY(generator_at(&g, v[0], true));
    return rng_state_value(out, g);
}

FN(set_rng_state) {
    PARSE(v, "set_rng_state", 2, 1, "new_state", "device");
    TsrGenerator *g;
    *out = VALUE_NONE;
    if (cuda_find_backend() == NULL) return TSR_OK; /* put aside until there is one: never */
    TSR_TRY(generator_at(&g, v[1], false));
    return rng_state_set(g, v[0]);
}

/* The generators of all devices; none without one. */
TsrStatus cuda_generators(Value *out, const CallArgs *args) {
    (void)args;
    const TsrBackend *b = cuda_find_backend();
    Value all[MOST_DEVICES];
    int made = 0;
    TsrStatus status = TSR_OK;
    for (int i = 0; b != NULL && i < TSR_MIN(b->device_count(), MOST_DEVICES) && status == TSR_OK; i++) {
        status = torch_generator_new(&all[i], tsr_rng_of_device(i));
        made += status == TSR_OK;
    }
    if (status == TSR_OK) status = tuple_new(out, all, made);
    values_release(all, made);
    return status;
}

const Method cuda_random_functions[] = {
    {"manual_seed", fn_manual_seed, ARGS_ANY, 0, 0, "(seed)", "The seed of the GPU's own stream."},
    {"manual_seed_all", fn_manual_seed_all, ARGS_ANY, 0, 0, "(seed)", "The seed of all GPUs' streams."},
    {"initial_seed", fn_initial_seed, ARGS_NONE, 0, 0, "()", "The seed that the GPU's stream started with."},
    {"get_rng_state", fn_get_rng_state, ARGS_ANY, 0, 0, "(device='cuda')",
     "The state of the GPU's stream: its seed and how many words were drawn, 16 bytes."},
    {"set_rng_state", fn_set_rng_state, ARGS_ANY, 0, 0, "(new_state, device='cuda')", "Goes back to such a state."},
    {"_generators", cuda_generators, ARGS_NONE, 0, 0, "()", NULL},
    END,
};
