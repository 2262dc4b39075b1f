/* nll_loss.c: the negative log-likelihood of classes. On the host losses are added up in the order of PyTorch's kernel
 * for the CPU: by levels, each of which takes what sixteen of the level below gave. A device adds them as its sum()
 * does. */
#include <string.h>

#include "core/element/halffloat.h"
#include "core/kernels/move/select.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"

enum { LEVELS = 8, LEVEL_BITS = 4 };

/* One call on the host. Steps are in elements. */
typedef struct Nll {
    const void *x, *weight; /* weight: NULL where there is none */
    const int64_t *target;
    void *losses, *scales;  /* of each target: its loss, and its weight where there are weights */
    int64_t count, ignored; /* targets; the one that does not count */
    int64_t inner;          /* targets of a sample */
    int64_t batch_step, class_step;
} Nll;

/* Where the scores of the i-th target begin. */
static inline int64_t place_of(const Nll *q, int64_t i) {
    return q->inner == 1 ? i * q->batch_step : i / q->inner * q->batch_step + i % q->inner;
}

static int64_t kept_of(const Nll *q) {
    int64_t kept = 0;
    for (int64_t i = 0; i < q->count; i++) kept += q->target[i] != q->ignored;
    return kept;
}

#define T float
#define WIDE float
#define WIDEN(x) (x)
#define ROUND(x) ((float)(x))
#define NAME(x) f32_##x
#include "nll_loss.inc"
#define T double
#define WIDE double
#define WIDEN(x) (x)
#define ROUND(x) ((double)(x))
#define NAME(x) f64_##x
#include "nll_loss.inc"
#define T TsrHalf
#define WIDE float
#define WIDEN(x) tsr_half_widen(x)
#define ROUND(x) tsr_half_round(x)
#define NAME(x) f16_##x
#include "nll_loss.inc"
#define T TsrBfloat16
#define WIDE float
#define WIDEN(x) tsr_bfloat16_widen(x)
#define ROUND(x) tsr_bfloat16_round(x)
#define NAME(x) bf16_##x
#include "nll_loss.inc"

static TsrStatus run_losses(Nll *q, TsrDtype dtype) {
    const TsrRangeFn fn = dtype == TSR_FLOAT32   ? f32_losses
                          : dtype == TSR_FLOAT64 ? f64_losses
                          : dtype == TSR_FLOAT16 ? f16_losses
                                                 : bf16_losses;
    return tsr_parallel_for(q->count, tsr_grain(4), fn, q);
}

static void store_total(const Nll *q, TsrTensor *out, bool mean) {
    switch (out->dtype) {
    case TSR_FLOAT32: f32_total(q, tsr_data(out), mean); break;
    case TSR_FLOAT64: f64_total(q, tsr_data(out), mean); break;
    case TSR_FLOAT16: f16_total(q, tsr_data(out), mean); break;
    default: bf16_total(q, tsr_data(out), mean);
    }
}

/* ---- checks, in PyTorch's order and words ---- */

static TsrStatus check_batch(const TsrTensor *x, const TsrTensor *target) {
    const int64_t batch = tsr_ndim(target) > 0 ? target->sizes[0] : 0;
    if (tsr_ndim(x) == 0) return tsr_error(TSR_VALUE_ERROR, "Expected 1 or more dimensions (got 0)");
    if (tsr_ndim(x) == 1 || x->sizes[0] == batch) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "Expected input batch_size (%lld) to match target batch_size (%lld).",
                     (long long)x->sizes[0], (long long)batch);
}

static TsrStatus check_target_dtype(const TsrTensor *target) {
    if (target->dtype == TSR_INT64 || target->dtype == TSR_UINT8) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "expected target dtype to be Long or Byte, but got %s",
                     tsr_dtype_scalar_name(target->dtype));
}

/* Lines of scores, or the scores of one sample. */
static TsrStatus check_lines(const TsrTensor *x, const TsrTensor *target, const TsrTensor *weight, int64_t classes) {
    if (tsr_ndim(target) > 1)
        return tsr_error(TSR_RUNTIME_ERROR, "0D or 1D target tensor expected, multi-target not supported");
    TSR_TRY(check_target_dtype(target));
    if (tsr_ndim(x) == 1 && tsr_ndim(target) == 1 && target->sizes[0] != 1)
        return tsr_error(TSR_VALUE_ERROR, "For 1D input, 1D target must have size 1, but got target size: %lld",
                         (long long)target->sizes[0]);
    if (tsr_ndim(x) == 2 && tsr_ndim(target) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    if (weight != NULL && (tsr_ndim(weight) != 1 || weight->numel != classes))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "weight tensor should be defined either for all %lld classes or no classes but got weight "
                         "tensor of shape: %s",
                         (long long)classes, tsr_sizes_text(weight));
    return TSR_OK;
}

/* Whether the targets' sizes behind the batch are the input's behind the classes. */
static bool same_places(const TsrTensor *x, const TsrTensor *target) {
    const int n = tsr_ndim(x) - 2;
    return tsr_ndim(target) == n + 1 && memcmp(x->sizes + 2, target->sizes + 1, (size_t)n * sizeof *x->sizes) == 0;
}

/* PyTorch has one function for planes, whose words it shares with all that has more dimensions than lines. */
static TsrStatus check_planes(const TsrTensor *x, const TsrTensor *target, const TsrTensor *weight, int64_t classes) {
    const int n = tsr_ndim(x);
    if (n != 4 && !same_places(x, target)) {
        int64_t wanted[TSR_MAX_DIMS] = {x->sizes[0]};
        memcpy(wanted + 1, x->sizes + 2, (size_t)(n - 2) * sizeof *wanted);
        return tsr_error(TSR_RUNTIME_ERROR, "Expected target size %s, got %s", tsr_layout_text(n - 1, wanted),
                         tsr_sizes_text(target));
    }
    if (tsr_ndim(target) != n - 1)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "only batches of spatial targets supported (3D tensors) but got targets of dimension: %d",
                         tsr_ndim(target));
    TSR_TRY(check_target_dtype(target));
    if (weight != NULL && weight->numel != classes)
        return tsr_error(TSR_RUNTIME_ERROR, "weight tensor should be defined either for all or no classes");
    if (!same_places(x, target))
        return tsr_error(TSR_RUNTIME_ERROR, "size mismatch (got input: %s , target: %s", tsr_sizes_text(x),
                         tsr_sizes_text(target));
    return TSR_OK;
}

/* `summed`: whether one number is asked for, which no target at all gives without a look at their dtype. */
static TsrStatus check(const TsrTensor *x, const TsrTensor *target, const TsrTensor *weight, int64_t classes,
                       bool summed) {
    const bool planes = tsr_ndim(x) > 2;
    TSR_TRY((planes ? check_planes : check_lines)(x, target, weight, classes));
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, x->dtype, planes ? "nll_loss2d_forward_out_frame" : "nll_loss_out_frame"));
    if (weight != NULL && weight->dtype != x->dtype) return tsr_unexpected_dtype(x->dtype, weight->dtype);
    if (planes && target->dtype != TSR_INT64 && !(summed && target->numel == 0))
        return tsr_unexpected_dtype(TSR_INT64, target->dtype);
    return TSR_OK;
}

static TsrStatus check_classes(const TsrTensor *target, int64_t classes, int64_t ignored) {
    const int64_t *p = tsr_data(target);
    if (tsr_kernel_in_range(p, target->numel, classes)) return TSR_OK;
    for (int64_t i = 0; i < target->numel; i++)
        if ((p[i] < 0 || p[i] >= classes) && p[i] != ignored)
            return tsr_error(TSR_INDEX_ERROR, "Target %lld is out of bounds.", (long long)p[i]);
    return TSR_OK;
}

/* ---- on the host, and on a device ---- */

/* `out`: a loss for each target, or one number. */
static TsrStatus losses_into(TsrTensor *out, const TsrTensor *x, const TsrTensor *target, const TsrTensor *weight,
                             int64_t ignored, int64_t reduction) {
    TSR_OWNED dense = NULL;
    TSR_OWNED dense_weight = NULL;
    TSR_OWNED losses = NULL;
    TSR_OWNED scales = NULL;
    const bool planes = tsr_ndim(x) > 2;
    if (planes) TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    const TsrTensor *from = planes ? dense : x;
    Nll q = {.x = tsr_data(from), .target = tsr_data(target), .count = target->numel, .ignored = ignored};
    q.inner = planes ? target->numel / TSR_MAX(x->sizes[0], 1) : 1;
    q.class_step = tsr_ndim(x) == 1 ? x->strides[0] : planes ? q.inner : x->strides[1];
    q.batch_step = tsr_ndim(x) == 1 ? 0 : planes ? q.inner * x->sizes[1] : x->strides[0];
    if (reduction != 0) TSR_TRY(tsr_tensor_new(&losses, tsr_ndim(target), target->sizes, x->dtype, x->device));
    q.losses = tsr_data(reduction != 0 ? losses : out);
    if (weight != NULL) {
        TSR_TRY(tsr_tensor_new_contiguous(&dense_weight, weight, TSR_CONTIGUOUS));
        TSR_TRY(tsr_tensor_new(&scales, tsr_ndim(target), target->sizes, x->dtype, x->device));
        q.weight = tsr_data(dense_weight);
        q.scales = tsr_data(scales);
    }
    TSR_TRY(run_losses(&q, x->dtype));
    if (reduction != 0) store_total(&q, out, reduction == 1);
    return TSR_OK;
}

static TsrStatus losses_there(TsrOpCall *c, TsrTensor *x, TsrTensor *target, TsrTensor *weight, int64_t ignored,
                              int64_t reduction) {
    TsrScope s = {0};
    const int64_t classes = tsr_ndim(x) == 1 ? 0 : 1;
    TsrTensor *left_out = CALL(&s, "eq", "ts", target, tsr_scalar_int(ignored));
    TsrTensor *index = CALL(&s, "masked_fill", "tts", target, left_out, tsr_scalar_int(0));
    TsrTensor *row = MAKE(&s, tsr_tensor_new_unsqueeze, index, classes);
    TsrTensor *picked = CALL(&s, "gather", "tit", x, classes, row);
    TsrTensor *score = MAKE(&s, tsr_tensor_new_squeeze, picked, 1, &classes);
    TsrTensor *loss = CALL(&s, "neg", "t", score), *counted;
    if (weight != NULL) {
        TsrTensor *scale = CALL(&s, "take", "tt", weight, index);
        counted = CALL(&s, "masked_fill", "tts", scale, left_out, tsr_scalar_int(0));
        loss = CALL(&s, "mul", "tt", loss, counted);
    } else counted = CALL(&s, "logical_not", "t", left_out);
    loss = CALL(&s, "masked_fill", "tts", loss, left_out, tsr_scalar_int(0));
    if (reduction == 0) return tsr_scope_return(c, &s, loss);
    TsrTensor *total = CALL(&s, "sum", "t", loss);
    if (reduction == 1) {
        TsrTensor *whole = CALL(&s, "sum", "t", counted);
        total = CALL(&s, "div", "tt", total, whole);
    }
    return tsr_scope_return(c, &s, total);
}

/* (self, target, weight, reduction, ignore_index): reduction is 0 none, 1 mean, 2 sum; none of one sample is its sum.
 */
TsrStatus op_nll_loss(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *weight = tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL;
    const int64_t ignored = c->arg[4].i;
    TSR_TRY(check_batch(x, c->arg[1].t));
    const int64_t reduction = tsr_ndim(x) == 1 && c->arg[3].i == 0 ? 2 : c->arg[3].i;
    const int64_t classes = x->sizes[tsr_ndim(x) == 1 ? 0 : 1];
    TSR_TRY(check(x, c->arg[1].t, weight, classes, reduction != 0));
    TSR_OWNED target = NULL;
    TSR_OWNED out = NULL;
    TSR_TRY(tsr_dense_new(&target, c->arg[1].t, TSR_INT64));
    if (!tsr_is_meta(x)) TSR_TRY(tsr_on_host("nll_loss", target, check_classes(target, classes, ignored)));
    if (tsr_on_device(x)) {
        TSR_OWNED one = NULL;
        const int64_t first = 0;
        const bool alone = tsr_ndim(x) == 1 && tsr_ndim(target) == 1;
        if (alone) TSR_TRY(tsr_tensor_new_squeeze(&one, target, 1, &first));
        return losses_there(c, x, alone ? one : target, weight, ignored, reduction);
    }
    const int ndim = reduction == 0 ? tsr_ndim(target) : 0;
    TSR_TRY(tsr_tensor_new(&out, ndim, target->sizes, x->dtype, x->device));
    if (!tsr_is_meta(out)) TSR_TRY(losses_into(out, x, target, weight, ignored, reduction));
    return tsr_return_move(c, tsr_owned_take(&out));
}
