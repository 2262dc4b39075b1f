/* permute.c: permutations on a device (random.h).
 *
 * A permutation is the order of random keys, of so many bits that they are all different with a probability of 0.9; the
 * few that are equal are shuffled among themselves (as PyTorch does; https://osf.io/af2hy/ has the number of bits). */
#include <math.h>

#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "random.h"

static int bits_of_keys(double n) { return (int)fmin(64, ceil(log2(n - (6 * n * n + 1) / (12 * log(0.9))))); }

/* Keys, and all but their lowest bits are the same for all. */
static TsrStatus keys_new(TsrTensor **out, const TsrTensor *t, int bits, TsrGenerator *g) {
    TSR_OWNED keys = NULL;
    const bool wide = bits > 32;
    const int64_t least = wide ? INT64_MIN : INT32_MIN, most = wide ? INT64_MAX : INT32_MAX;
    TSR_TRY(tsr_tensor_new(&keys, 1, t->sizes, wide ? TSR_INT64 : TSR_INT32, t->device));
    TSR_TRY(tsr_random_fill_range(keys, least, most, g));
    if (bits == 32 || bits == 64) {
        *out = tsr_owned_take(&keys);
        return TSR_OK;
    }
    return tsr_invoke_new(out, 1, "bitwise_and", "ts", keys, tsr_scalar_int((INT64_C(1) << bits) - 1));
}

static TsrStatus shuffle(TsrTensor *places, const TsrTensor *keys, TsrGenerator *g) {
    TsrDeviceWork w = {.what = TSR_P_SHUFFLE};
    TsrDeviceRandom what = {.draw = TSR_DRAW_WORDS};
    TSR_TRY(tsr_device_work_add(&w, places, true));
    TSR_TRY(tsr_device_work_add(&w, keys, false));
    tsr_rng_position(g, &what.seed, &what.offset);
    w.params = &what;
    w.nparams = sizeof what;
    TSR_TRY(tsr_device_work(places->device.type, &w));
    tsr_rng_take(g, (uint64_t)places->numel);
    return TSR_OK;
}

TsrStatus tsr_random_permutation(TsrTensor *t, TsrGenerator *g) {
    TSR_OWNED keys = NULL;
    TsrTensor *sorted[2] = {NULL, NULL};
    TSR_TRY(keys_new(&keys, t, bits_of_keys((double)t->numel), g));
    TSR_TRY(tsr_invoke_new(sorted, 2, "sort", "tib", keys, (int64_t)-1, 0));
    TsrStatus status = shuffle(sorted[1], sorted[0], g);
    if (status == TSR_OK) status = tsr_tensor_copy(t, sorted[1]);
    tsr_tensor_free(sorted[0]);
    tsr_tensor_free(sorted[1]);
    return status;
}
