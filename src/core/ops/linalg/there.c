/* there.c: factorizations on a device (there.h): the operands of the primitives as (batch, rows, columns). */
#include "there.h"

#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "la.h"

static TsrStatus add_matrix(TsrDeviceWork *w, const TsrTensor *a, bool out) {
    const int64_t m = tsr_la_rows(a), n = tsr_la_cols(a);
    const int64_t sizes[] = {tsr_la_batches(a), m, n}, strides[] = {m * n, 1, m};
    return tsr_device_work_add_as(w, a, (TsrGeometry){3, sizes, strides, a->offset}, out);
}

/* `a` and up to three more matrices or rows of numbers, the first nout of them outputs. */
static TsrStatus run(TsrPrimitive what, const TsrDeviceMatrixWork *how, int nout, const TsrTensor *const operands[4]) {
    TsrDeviceWork w = {.what = what, .params = how, .nparams = sizeof *how};
    if (operands[0]->numel == 0) return TSR_OK;
    for (int i = 0; i < 4 && operands[i] != NULL; i++) {
        bool matrix = i == 0 || (i == 1 && (what == TSR_P_TRIANGULAR || what == TSR_P_REFLECT));
        TSR_TRY((matrix ? add_matrix : tsr_device_work_add)(&w, operands[i], i < nout));
    }
    return tsr_device_work(operands[0]->device.type, &w);
}

TsrStatus tsr_la_lu_there(TsrTensor *a, TsrTensor *pivots, TsrTensor *info) {
    const TsrDeviceMatrixWork how = {0};
    return run(TSR_P_LU, &how, 3, (const TsrTensor *[4]){a, pivots, info});
}

TsrStatus tsr_la_cholesky_there(TsrTensor *a, TsrTensor *info, bool upper) {
    const TsrDeviceMatrixWork how = {.upper = upper};
    return run(TSR_P_CHOLESKY, &how, 2, (const TsrTensor *[4]){a, info});
}

TsrStatus tsr_la_triangular_there(TsrTensor *x, const TsrTensor *a, TsrDeviceMatrixWork how) {
    return run(TSR_P_TRIANGULAR, &how, 1, (const TsrTensor *[4]){x, a});
}

/* P A = L U: the rows of X are exchanged first, or, of the transposed equation, last. */
TsrStatus tsr_la_lu_solve_there(TsrTensor *x, const TsrTensor *lu, const TsrTensor *pivots, char trans) {
    const bool turned = trans != 'N', conjugate = trans == 'C';
    const TsrDeviceMatrixWork lower = {
        .unit = true, .transposed = turned, .conjugate = conjugate, .pivoted = turned ? 2 : 1};
    const TsrDeviceMatrixWork upper = {.upper = true, .transposed = turned, .conjugate = conjugate};
    const TsrTensor *const with_pivots[4] = {x, lu, pivots}, *const without[4] = {x, lu};
    if (!turned) TSR_TRY(run(TSR_P_TRIANGULAR, &lower, 1, with_pivots));
    TSR_TRY(run(TSR_P_TRIANGULAR, &upper, 1, without));
    return turned ? run(TSR_P_TRIANGULAR, &lower, 1, with_pivots) : TSR_OK;
}

TsrStatus tsr_la_cholesky_solve_there(TsrTensor *x, const TsrTensor *a, bool upper) {
    TsrDeviceMatrixWork how = {.upper = upper, .transposed = upper, .conjugate = upper};
    TSR_TRY(tsr_la_triangular_there(x, a, how));
    how.transposed = how.conjugate = !upper;
    return tsr_la_triangular_there(x, a, how);
}

TsrStatus tsr_la_qr_there(TsrTensor *a, TsrTensor *tau) {
    const TsrDeviceMatrixWork how = {0};
    return run(TSR_P_QR, &how, 2, (const TsrTensor *[4]){a, tau});
}

TsrStatus tsr_la_q_there(TsrTensor *a, const TsrTensor *tau) {
    const TsrDeviceMatrixWork how = {0};
    return run(TSR_P_Q, &how, 1, (const TsrTensor *[4]){a, tau});
}

TsrStatus tsr_la_reflect_there(TsrTensor *x, const TsrTensor *a, const TsrTensor *tau, bool right, bool adjoint) {
    const TsrDeviceMatrixWork how = {.right = right, .transposed = adjoint};
    return run(TSR_P_REFLECT, &how, 1, (const TsrTensor *[4]){x, a, tau});
}

TsrStatus tsr_la_keep_triangle_there(TsrTensor *a, bool upper) {
    TSR_OWNED part = NULL;
    TSR_TRY(tsr_invoke_new(&part, 1, upper ? "triu" : "tril", "t", a));
    return tsr_tensor_copy(a, part);
}

TsrStatus tsr_la_set_identity_there(TsrTensor *a) {
    TSR_OWNED diagonal = NULL;
    TSR_TRY(tsr_tensor_fill(a, tsr_scalar_int(0)));
    TSR_TRY(tsr_tensor_new_diagonal(&diagonal, a, 0, -2, -1));
    return tsr_tensor_fill(diagonal, tsr_scalar_int(1));
}
