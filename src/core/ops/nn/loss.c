/* loss.c: sums in the orders of PyTorch's losses: of nll_loss by levels, each of which takes what sixteen of the level
 * below gave; of margin losses one by one. */
#include <string.h>

#include "core/element/halffloat.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

enum { LEVELS = 8, LEVEL_BITS = 4 };

static double in_dtype(double x, TsrDtype d) {
    switch (d) {
    case TSR_FLOAT32: return (double)(float)x;
    case TSR_FLOAT16: return (double)tsr_half_widen(tsr_half_round((float)x));
    case TSR_BFLOAT16: return (double)tsr_bfloat16_widen(tsr_bfloat16_round((float)x));
    default: return x;
    }
}

/* Of n values of dtype d, whose sums are rounded to it. What is not kept is passed over, and no level is emptied there:
 * that is done behind each value whose index ends a group. */
static double sum_by_levels(const double *values, const bool *kept, int64_t n, TsrDtype d) {
    double part[LEVELS] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        if (kept != NULL && !kept[i]) continue;
        part[0] = in_dtype(part[0] + values[i], d);
        for (int k = 0; k + 1 < LEVELS && (i >> LEVEL_BITS * k & ((1 << LEVEL_BITS) - 1)) == 0; k++) {
            part[k + 1] = in_dtype(part[k + 1] + part[k], d);
            part[k] = 0;
        }
    }
    for (int k = 0; k < LEVELS; k++) sum = in_dtype(sum + part[k], d);
    return sum;
}

/* (self, kept): kept tells which elements count; all where it is None. */
TsrStatus op_sum_by_levels(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t, *which = tsr_arg_given(&c->arg[1]) ? c->arg[1].t : NULL;
    TSR_OWNED values = NULL;
    TSR_OWNED kept = NULL;
    TSR_OWNED out = NULL;
    TSR_TRY(tsr_require(TSR_BITS_FLOAT | TSR_BITS_HALF, x->dtype, "nll_loss_out_frame"));
    if (which != NULL && (which->dtype != TSR_BOOL || which->numel != x->numel))
        return tsr_error(TSR_RUNTIME_ERROR, "kept should have a bool for each element");
    TSR_TRY(tsr_tensor_new(&out, 0, NULL, x->dtype, x->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    TSR_TRY(tsr_tensor_new(&values, tsr_ndim(x), x->sizes, TSR_FLOAT64, x->device));
    TSR_TRY(tsr_tensor_copy(values, x));
    if (which != NULL) TSR_TRY(tsr_tensor_new_contiguous(&kept, which, TSR_CONTIGUOUS));
    double sum = sum_by_levels(tsr_data(values), kept != NULL ? tsr_data(kept) : NULL, x->numel, x->dtype);
    tsr_scalar_store(tsr_scalar_float(sum), x->dtype, tsr_data(out));
    return tsr_return_move(c, tsr_owned_take(&out));
}

/* (self): of each row of a matrix. */
TsrStatus op_sum_in_turn(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    TSR_OWNED values = NULL;
    TSR_OWNED out = NULL;
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, x->dtype, "margin_loss"));
    if (tsr_ndim(x) != 2) return tsr_error(TSR_RUNTIME_ERROR, "sums are of the rows of a matrix");
    TSR_TRY(tsr_tensor_new(&out, 1, x->sizes, x->dtype, x->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    TSR_TRY(tsr_tensor_new(&values, 2, x->sizes, TSR_FLOAT64, x->device));
    TSR_TRY(tsr_tensor_copy(values, x));
    const double *p = tsr_data(values);
    for (int64_t i = 0; i < x->sizes[0]; i++) {
        double sum = 0;
        for (int64_t k = 0; k < x->sizes[1]; k++) sum = in_dtype(sum + *p++, x->dtype);
        tsr_scalar_store(tsr_scalar_float(sum), x->dtype, (char *)tsr_data(out) + i * (int64_t)tsr_itemsize(out));
        TSR_TRY(tsr_interrupt_check());
    }
    return tsr_return_move(c, tsr_owned_take(&out));
}
