/* ctc.c: the sums of the connectionist temporal classification loss (A. Graves and others, 2006, section 4.1): the
 * probability of every way to spell a sample's labels, one letter or blank a step, by their logarithms. alpha[s] is
 * that of all ways that have come to letter s of the labels with blanks around each. */
#include <math.h>

#include "core/alloc.h"
#include "core/engine/device.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

/* (steps, batch, classes) log_probs; (batch, width) spelled, of each sample 2 * counts + 1 letters. */
typedef struct Ctc {
    const char *log_probs;
    const int64_t *spelled, *steps, *counts;
    char *out;
    int64_t batch, classes, width;
} Ctc;

#define T float
#define EXP expf
#define LOG logf
#define NAME(x) x##_float
#include "ctc.inc"

#define T double
#define EXP exp
#define LOG log
#define NAME(x) x##_double
#include "ctc.inc"

static TsrStatus check_shapes(const TsrTensor *const *t) {
    int64_t batch = tsr_ndim(t[0]) == 3 ? t[0]->sizes[1] : -1;
    bool shapes = batch > 0 && tsr_ndim(t[1]) == 2 && t[1]->sizes[0] == batch && tsr_ndim(t[2]) == 1 &&
                  t[2]->numel == batch && tsr_ndim(t[3]) == 1 && t[3]->numel == batch;
    bool dtypes = t[0]->dtype == TSR_FLOAT32 || t[0]->dtype == TSR_FLOAT64;
    for (int i = 1; i < 4; i++) dtypes = dtypes && t[i]->dtype == TSR_INT64;
    return shapes && dtypes ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "ctc: wrong shapes or dtypes");
}

/* Every letter is a class, every sample's steps and letters are there. */
static TsrStatus check_values(const Ctc *c, int64_t steps) {
    for (int64_t b = 0; b < c->batch; b++)
        if (c->steps[b] < 0 || c->steps[b] > steps || c->counts[b] < 0 || c->counts[b] > (c->width - 1) / 2)
            return tsr_error(TSR_RUNTIME_ERROR, "ctc: wrong lengths");
    for (int64_t i = 0; i < c->batch * c->width; i++)
        if (c->spelled[i] < 0 || c->spelled[i] >= c->classes)
            return tsr_error(TSR_RUNTIME_ERROR, "index %lld is out of bounds for dimension 2 with size %lld",
                             (long long)c->spelled[i], (long long)c->classes);
    return TSR_OK;
}

static TsrStatus losses_into(TsrTensor *out, TsrTensor *const *t) {
    Ctc c = {tsr_data(t[0]), tsr_data(t[1]), tsr_data(t[2]), tsr_data(t[3]),
             tsr_data(out),  t[0]->sizes[1], t[0]->sizes[2], t[1]->sizes[1]};
    int64_t work = 64 * TSR_MAX(t[0]->sizes[0], (int64_t)1) * TSR_MAX(c.width, (int64_t)1);
    TSR_TRY(check_values(&c, t[0]->sizes[0]));
    TSR_TRY(tsr_parallel_for(c.batch, tsr_grain(work), out->dtype == TSR_FLOAT64 ? losses_double : losses_float, &c));
    return tsr_interrupt_check();
}

/* On a device a letter that is no class is found when it is waited for. */
static TsrStatus losses_there(TsrTensor *out, TsrTensor *const *t) {
    TSR_OWNED rows = NULL;
    TsrDeviceWork w = {.what = TSR_P_CTC};
    const int64_t sizes[] = {t[1]->sizes[0], 2, t[1]->sizes[1]};
    if (sizes[2] == 0) return tsr_error(TSR_RUNTIME_ERROR, "ctc: wrong lengths");
    TSR_TRY(tsr_tensor_new(&rows, 3, sizes, out->dtype, out->device));
    TSR_TRY(tsr_device_work_add(&w, out, true));
    TSR_TRY(tsr_device_work_add(&w, rows, true));
    for (int i = 0; i < 4; i++) TSR_TRY(tsr_device_work_add(&w, t[i], false));
    return tsr_device_work(out->device.type, &w);
}

/* (log_probs, spelled, steps, counts) */
TsrStatus op_ctc_losses(TsrOpCall *c) {
    const TsrTensor *given[4];
    TsrTensor *t[4] = {NULL};
    TSR_OWNED out = NULL;
    TsrStatus status = TSR_OK;
    for (int i = 0; i < 4; i++) given[i] = c->arg[i].t;
    TSR_TRY(check_shapes(given));
    TSR_TRY(tsr_tensor_new(&out, 1, &given[0]->sizes[1], given[0]->dtype, given[0]->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    for (int i = 0; i < 4 && status == TSR_OK; i++) status = tsr_tensor_new_contiguous(&t[i], given[i], TSR_CONTIGUOUS);
    if (status == TSR_OK) status = (tsr_on_device(out) ? losses_there : losses_into)(out, t);
    for (int i = 0; i < 4; i++) tsr_tensor_free(t[i]);
    return tsr_finish_move(c, status, tsr_owned_take(&out));
}
