/* random.c: the random streams of CUDA devices. Without a driver a seed is put aside, as PyTorch does, until there is
 * one. */
#include "cuda_impl.h"

#include "core/rng.h"

#define FN(name) static TsrStatus fn_##name(Value *out, const CallArgs *args)

/* int(seed), whatever number that is. */
static TsrStatus check_seed(Value seed) {
    Value whole;
    TSR_TRY(int_type.construct(&whole, &int_type, &(CallArgs){.values = &seed, .count = 1}));
    value_release(whole);
    return TSR_OK;
}

FN(manual_seed) {
    PARSE(v, "manual_seed", 1, 1, "seed");
    *out = VALUE_NONE;
    return check_seed(v[0]);
}

FN(manual_seed_all) {
    PARSE(v, "manual_seed_all", 1, 1, "seed");
    *out = VALUE_NONE;
    return check_seed(v[0]);
}

const Method cuda_random_functions[] = {
    {"manual_seed", fn_manual_seed, ARGS_ANY, 0, 0, "(seed)", "The seed of the GPU's own stream."},
    {"manual_seed_all", fn_manual_seed_all, ARGS_ANY, 0, 0, "(seed)", "The seed of all GPUs' streams."},
    END,
};
