/* fill.c: matrices that are written without arithmetic (la.h): zeros outside a triangle, the identity. */
#include <string.h>

#include "la.h"
#include "core/tensor/loan.h"
#include "there.h"

TsrStatus tsr_la_keep_triangle(TsrTensor *a, bool upper) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), batches = tsr_la_batches(a);
    size_t item = tsr_itemsize(a);
    if (tsr_on_device(a)) return tsr_la_keep_triangle_there(a, upper);
    for (int64_t b = 0; b < batches; b++)
        for (int64_t j = 0; j < n && !tsr_interrupted_at(b * n + j); j++) {
            char *column = tsr_la_matrix(a, b) + (size_t)(j * m) * item;
            int64_t from = upper ? TSR_MIN(j + 1, m) : 0, to = upper ? m : TSR_MIN(j, m);
            if (to > from) memset(column + (size_t)from * item, 0, (size_t)(to - from) * item);
        }
    return TSR_OK;
}

TsrStatus tsr_la_set_identity(TsrTensor *a) {
    int64_t m = tsr_la_rows(a), n = tsr_la_cols(a), batches = tsr_la_batches(a);
    size_t item = tsr_itemsize(a), bytes = (size_t)(m * n) * item;
    char one[16];
    if (a->numel == 0) return TSR_OK;
    if (tsr_on_device(a)) return tsr_la_set_identity_there(a);
    memset(tsr_data(a), 0, bytes);
    tsr_scalar_store(tsr_scalar_int(1), a->dtype, one);
    for (int64_t k = 0; k < TSR_MIN(m, n); k++) memcpy(tsr_la_matrix(a, 0) + (size_t)(k * m + k) * item, one, item);
    for (int64_t b = 1; b < batches && !tsr_interrupted_at(b); b++)
        memcpy(tsr_la_matrix(a, b), tsr_la_matrix(a, 0), bytes);
    return TSR_OK;
}
