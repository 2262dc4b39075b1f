/* device.c: random numbers of tensors on a device (random.h): its kernels draw by themselves, from the seed and the
 * offset of the generator, which then moves on by what they used. */

#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/tensor/tensor_impl.h"
#include "random.h"

/* The operands in the order of the iterator, in which PyTorch deals numbers out. */
static TsrStatus describe(TsrDeviceWork *w, uint8_t *type, const TsrIter *it) {
    TsrDeviceMap m;
    TsrDevice device;
    TSR_TRY(tsr_device_map_of(&m, &device, it));
    *w =
        (TsrDeviceWork){.index = device.index, .what = TSR_P_RANDOM, .nout = it->nout, .nin = it->noperands - it->nout};
    for (int k = 0; k < it->noperands; k++) {
        w->t[k].at = m.operand[k];
        w->t[k].ndim = m.ndim;
        for (int d = 0; d < m.ndim; d++) w->t[k].sizes[d] = m.sizes[d];
    }
    *type = device.type;
    return TSR_OK;
}

static TsrStatus work(const TsrIter *it, TsrDeviceRandom *what, TsrGenerator *g) {
    TsrDeviceWork w;
    uint8_t type;
    uint64_t used = 0;
    TSR_TRY(describe(&w, &type, it));
    what->used = &used;
    tsr_rng_position(g, &what->seed, &what->offset);
    w.params = what;
    w.nparams = sizeof *what;
    TSR_TRY(tsr_device_work(type, &w));
    tsr_rng_take(g, used);
    return TSR_OK;
}

TsrStatus tsr_random_work(TsrTensor *out, TsrTensor *out2, const TsrTensor *input, const TsrTensor *input2,
                          TsrDeviceRandom what, TsrGenerator *g) {
    if (out->numel == 0) return TSR_OK;
    TSR_TRY(tsr_check_no_internal_overlap(out));
    TsrDtype own[2] = {out->dtype, out2 != NULL ? out2->dtype : TSR_DTYPE_NONE};
    TsrDtype read[2] = {input != NULL ? input->dtype : TSR_DTYPE_NONE, input2 != NULL ? input2->dtype : TSR_DTYPE_NONE};
    TsrIterSpec spec = {.nout = out2 != NULL ? 2 : 1,
                        .out = {out, out2},
                        .nin = (input != NULL) + (input2 != NULL),
                        .in = {input, input2},
                        .flags = TSR_ITER_NO_RESIZE | TSR_ITER_NO_OVERLAP_CHECK,
                        .out_dtype = own,
                        .in_dtype = read,
                        .name = "random"};
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &spec));
    TsrStatus status = work(&it, &what, g);
    TsrTensor *done[2] = {NULL, NULL};
    status = tsr_iter_end_move(&it, status, done);
    if (status == TSR_OK) tsr_tensor_free(done[0]);
    if (status == TSR_OK) tsr_tensor_free(done[1]);
    return status;
}

/* ---- choices ---- */

/* The primitive's number, its output and its inputs, of which the second may be NULL. */
static TsrStatus choice_work(TsrPrimitive what, const TsrTensor *out, const TsrTensor *a, const TsrTensor *b,
                             TsrDeviceRandom *how) {
    TsrDeviceWork w = {.what = what, .params = how, .nparams = sizeof *how};
    TSR_TRY(tsr_device_work_add(&w, out, true));
    TSR_TRY(tsr_device_work_add(&w, a, false));
    if (b != NULL) TSR_TRY(tsr_device_work_add(&w, b, false));
    return tsr_device_work(out->device.type, &w);
}

TsrStatus tsr_random_choose(TsrTensor *out, const TsrTensor *self, TsrGenerator *g) {
    TsrScope s = {0};
    uint64_t used = 0;
    TsrDeviceRandom how = {.draw = TSR_DRAW_UNIFORM, .used = &used};
    TsrTensor *weights = MAKE(&s, tsr_tensor_new_contiguous, self, TSR_CONTIGUOUS),
              *shares = MAKE(&s, tsr_tensor_new_like, weights, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    if (s.status == TSR_OK) s.status = choice_work(TSR_P_SHARES, shares, weights, NULL, &how);
    TsrTensor *sums = CALL(&s, "cumsum", "ti", shares, (int64_t)-1);
    tsr_rng_position(g, &how.seed, &how.offset);
    if (s.status == TSR_OK) s.status = choice_work(TSR_P_CHOOSE, out, sums, shares, &how);
    if (s.status == TSR_OK) tsr_rng_take(g, used);
    return tsr_scope_end(&s);
}
