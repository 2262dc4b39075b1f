/* loss.c: sums in the order of PyTorch's margin losses: one by one. */
#include "core/op/shared.h"
#include "core/tensor/owned.h"

/* Rows that are added up at once, so that one's additions do not wait for another's. */
enum { ABREAST = 8 };

#define SUMS_IN_TURN(T) \
    static void T##_sums_in_turn(int64_t begin, int64_t end, int64_t columns, const T *x, T *out) { \
        T sum[ABREAST] = {0}; \
        for (int64_t k = 0; k < columns; k++) \
            for (int64_t i = begin; i < end; i++) sum[i - begin] += x[i * columns + k]; \
        for (int64_t i = begin; i < end; i++) out[i] = sum[i - begin]; \
    }
SUMS_IN_TURN(float)
SUMS_IN_TURN(double)

/* (self): of each row of a matrix. */
TsrStatus op_sum_in_turn(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    TSR_OWNED values = NULL;
    TSR_OWNED out = NULL;
    TSR_TRY(tsr_require(TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), x->dtype, "margin_loss"));
    if (tsr_ndim(x) != 2) return tsr_error(TSR_RUNTIME_ERROR, "sums are of the rows of a matrix");
    const int64_t rows = x->sizes[0], columns = x->sizes[1];
    TSR_TRY(tsr_tensor_new(&out, 1, x->sizes, x->dtype, x->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    TSR_TRY(tsr_tensor_new_contiguous(&values, x, TSR_CONTIGUOUS));
    for (int64_t i = 0; i < rows; i += ABREAST) {
        const int64_t end = TSR_MIN(i + ABREAST, rows);
        if (x->dtype == TSR_FLOAT32) float_sums_in_turn(i, end, columns, tsr_data(values), tsr_data(out));
        else double_sums_in_turn(i, end, columns, tsr_data(values), tsr_data(out));
        TSR_TRY(tsr_interrupt_check());
    }
    return tsr_return_move(c, tsr_owned_take(&out));
}
