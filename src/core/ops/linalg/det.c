/* det.c: determinants and their logarithms: the product of the diagonal of LU (lu.c) with the sign of the pivots. */
#include <math.h>

#include "la.h"
#include "core/engine/places.h"
#include "core/tensor/loan.h"
#include "core/op/compose.h"
#include "core/op/out.h"

/* c: the call whose out= is of a's dtype; NULL. */
static TsrStatus factor_for_det(TsrTensor **lu, TsrTensor **pivots, const TsrOpCall *c, const TsrTensor *a,
                                const char *fn) {
    TSR_OWNED at = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(tsr_la_check_square(a, fn));
    TSR_TRY(tsr_la_check_float(a, fn));
    if (c != NULL) TSR_TRY(tsr_check_out_fits(c, 0, a->dtype));
    TSR_TRY(tsr_la_need_kernel("lu_cpu", a));
    bool transposed = tsr_is_contiguous(a, TSR_CONTIGUOUS) && !tsr_dtype_is_complex(a->dtype);
    if (transposed) TSR_TRY(tsr_la_new_mt(&at, a, false));
    return tsr_la_new_lu_factor(lu, pivots, &info, transposed ? at : a);
}

static double pivot_sign(const int *pivots, int64_t n) {
    bool odd = false;
    for (int64_t i = 0; i < n; i++) odd ^= pivots[i] != i + 1;
    return odd ? -1 : 1;
}

/* The signs of the pivots' permutations, a number of lu's dtype for each matrix. */
static TsrStatus signs_new(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots) {
    TSR_OWNED here = NULL;
    TSR_OWNED sign = NULL;
    const int64_t n = tsr_la_rows(lu);
    TSR_TRY(tsr_la_new_vector(&sign, lu, -1, lu->dtype));
    if (tsr_is_meta(sign)) {
        *out = tsr_owned_take(&sign);
        return TSR_OK;
    }
    TSR_TRY(tsr_new_there(&here, pivots, TSR_DEVICE_CPU));
    if (tsr_on_device(sign)) {
        tsr_owned_put_move(&sign, NULL);
        TSR_TRY(tsr_tensor_new(&sign, tsr_ndim(lu) - 2, lu->sizes, lu->dtype, TSR_DEVICE_CPU));
    }
    TSR_IN_PIECES(b, sign->numel)
    tsr_scalar_store(tsr_scalar_float(pivot_sign((const int *)tsr_data(here) + b * n, n)), sign->dtype,
                     (char *)tsr_data(sign) + (size_t)b * tsr_itemsize(sign));
    return tsr_new_there(out, sign, lu->device);
}

static TsrStatus det_new(TsrTensor **out, const TsrOpCall *c, const TsrTensor *a, const char *fn) {
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED diagonal = NULL;
    TSR_OWNED sign = NULL;
    TSR_OWNED prod = NULL;
    TSR_TRY(factor_for_det(&lu, &pivots, c, a, fn));
    int64_t last = -1;
    TsrDtype product; /* of the signs, which are whole numbers there */
    TSR_TRY(tsr_promote(&product, TSR_INT64, a->dtype));
    TSR_TRY(signs_new(&sign, lu, pivots));
    TSR_TRY(tsr_tensor_new_diagonal(&diagonal, lu, 0, -2, -1));
    TSR_TRY(tsr_invoke_new(&prod, 1, "prod", "ti", diagonal, last));
    return tsr_invoke_new(out, 1, "mul", "tt", prod, sign);
}

TsrStatus op_det(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, det_new(&r, c, c->arg[0].t, "linalg.det"), r);
}

static TsrStatus slogdet_there(TsrTensor **sign, TsrTensor **logabs, const TsrTensor *lu, const TsrTensor *pivots) {
    TsrScope s = {0};
    const int64_t last = -1;
    TsrTensor *first = MAKE(&s, signs_new, lu, pivots), *diagonal = MAKE(&s, tsr_tensor_new_diagonal, lu, 0, -2, -1),
              *units = CALL(&s, "sgn", "t", diagonal), *unit = CALL(&s, "prod", "ti", units, last),
              *all = CALL(&s, "mul", "tt", unit, first), *sizes = CALL(&s, "abs", "t", diagonal),
              *logs = CALL(&s, "log", "t", sizes), *sum = CALL(&s, "sum", "tI", logs, 1, &last);
    if (s.status == TSR_OK) *sign = tsr_tensor_retain(all), *logabs = tsr_tensor_retain(sum);
    return tsr_scope_end(&s);
}

static TsrStatus slogdet_new(TsrTensor **sign, TsrTensor **logabs, const TsrTensor *a, const char *fn) {
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED s = NULL;
    TSR_OWNED l = NULL;
    TSR_TRY(tsr_la_check_square(a, fn));
    TSR_TRY(tsr_la_check_float_high(a, fn));
    TSR_TRY(factor_for_det(&lu, &pivots, NULL, a, fn));
    if (tsr_on_device(lu)) return slogdet_there(sign, logabs, lu, pivots);
    TSR_TRY(tsr_la_new_vector(&s, lu, -1, lu->dtype));
    TSR_TRY(tsr_la_new_vector(&l, lu, -1, tsr_dtype_real_of(lu->dtype)));
    TsrBlasType t;
    tsr_blas_type(&t, lu->dtype);
    int64_t n = tsr_la_rows(lu);
    for (int64_t b = 0; b < s->numel && !tsr_is_meta(s) && !tsr_interrupted_at(b); b++) {
        double complex unit = pivot_sign((const int *)tsr_data(pivots) + b * n, n);
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            double complex d = tsr_la_get(t, tsr_la_matrix(lu, b), i * n + i);
            double size = cabs(d);
            unit *= size == 0 ? 0 : cimag(d) == 0 && creal(d) == size ? 1 : d / size;
            sum += log(size);
        }
        tsr_la_set(t, tsr_data(s), b, unit);
        tsr_la_set(tsr_la_real(t), tsr_data(l), b, sum);
    }
    *sign = tsr_owned_take(&s);
    *logabs = tsr_owned_take(&l);
    return TSR_OK;
}

TsrStatus op_slogdet(TsrOpCall *c) {
    TSR_OWNED s = NULL;
    TSR_OWNED l = NULL;
    TSR_TRY(slogdet_new(&s, &l, c->arg[0].t, "linalg.slogdet"));
    TSR_TRY(tsr_check_out_dtype(c, 0, s->dtype));
    TSR_TRY(tsr_check_out_dtype(c, 1, l->dtype));
    return tsr_return_move2(c, tsr_owned_take(&s), tsr_owned_take(&l));
}

TsrStatus op_logdet(TsrOpCall *c) {
    TSR_OWNED s = NULL;
    TSR_OWNED l = NULL;
    TSR_OWNED log_sign = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(slogdet_new(&s, &l, c->arg[0].t, "logdet"));
    if (tsr_dtype_is_complex(s->dtype)) {
        TSR_TRY(tsr_invoke_new(&log_sign, 1, "log", "t", s));
        return tsr_finish_move(c, tsr_invoke_new(&r, 1, "add", "tt", log_sign, l), r);
    }
    if (tsr_on_device(l)) {
        TsrScope scope = {0};
        TsrTensor *negative = CALL(&scope, "eq", "ts", s, tsr_scalar_int(-1)),
                  *log = CALL(&scope, "masked_fill", "tts", l, negative, tsr_scalar_float(NAN));
        return tsr_scope_return(c, &scope, log);
    }
    TsrBlasType t;
    tsr_blas_type(&t, s->dtype);
    const int64_t batches = tsr_is_meta(l) ? 0 : l->numel;
    TSR_IN_PIECES(b, batches)
    if (creal(tsr_la_get(t, tsr_data(s), b)) == -1) tsr_la_set(t, tsr_data(l), b, NAN);
    return tsr_return_move(c, tsr_owned_take(&l));
}
