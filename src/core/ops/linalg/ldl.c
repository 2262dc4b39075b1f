/* ldl.c: the LDL factorization of symmetric and Hermitian matrices: LAPACK's sytrf, of complex matrices in both its
 * forms. */
#include <string.h>

#include "la.h"
#include "core/op/shared.h"
#include "core/op/out.h"

/* One matrix, factored or solved with. */
typedef struct Ldl {
    TsrLaJob job;
    bool hermitian;
    int n, nrhs, lwork, info;
    void *a, *x, *work;
    int *pivots;
} Ldl;

static void sytrf(void *context) {
    Ldl *l = context;
    const TsrBlas *blas = l->job.blas;
    (l->hermitian ? blas->hetrf : blas->sytrf)[l->job.t]("L", &l->n, l->a, &l->n, l->pivots, l->work, &l->lwork,
                                                         &l->info, 1);
}

static void sytrs(void *context) {
    Ldl *l = context;
    const TsrBlas *blas = l->job.blas;
    (l->hermitian ? blas->hetrs : blas->sytrs)[l->job.t]("L", &l->n, &l->nrhs, l->a, &l->n, l->pivots, l->x, &l->n,
                                                         &l->info, 1);
}

static TsrStatus ldl_factor(TsrTensor **ld, TsrTensor **pivots, TsrTensor **info, const TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    const bool hermitian = c->arg[1].b;
    TSR_OWNED f = NULL;
    TSR_OWNED p = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED work = NULL;
    TSR_TRY(tsr_la_check_square(a, "torch.linalg.ldl_factor_ex"));
    TSR_TRY(tsr_la_check_float(a, "torch.linalg.ldl_factor_ex"));
    TSR_TRY(tsr_la_outs(c, a->dtype, TSR_INT32));
    TSR_TRY(tsr_la_need_kernel(tsr_dtype_is_float8(a->dtype) ? "tril" : "ldl_factor_kernel_cpu", a));
    TSR_TRY(tsr_la_new_copy(&f, a));
    TSR_TRY(tsr_la_new_vector(&p, a, tsr_la_cols(a), TSR_INT32));
    TSR_TRY(tsr_la_new_vector(&e, a, -1, TSR_INT32));
    if (!tsr_is_meta(f)) {
        if (e->numel > 0) memset(tsr_data(e), 0, (size_t)e->numel * 4);
        if (f->numel > 0) {
            double query[4] = {0};
            Ldl l = {.hermitian = hermitian, .a = tsr_data(f), .pivots = tsr_data(p), .work = query, .lwork = -1};
            TSR_TRY(tsr_la_begin(&l.job, f->dtype));
            tsr_la_widen(tsr_la_rows(f), tsr_la_cols(f));
            TSR_TRY(tsr_blas_int(&l.n, tsr_la_rows(f)));
            sytrf(&l);
            l.lwork = tsr_la_work_size(l.job.t, query);
            TSR_TRY(tsr_la_new_scratch(&work, l.lwork, l.job.item));
            l.work = tsr_data(work);
            for (int64_t b = 0; b < tsr_la_batches(f); b++) {
                l.a = tsr_la_matrix(f, b), l.pivots = (int *)tsr_data(p) + b * l.n;
                TSR_TRY(tsr_la_apart((int64_t[]){l.n, l.n, l.n}, sytrf, &l, sizeof l, (TsrTensor *[]){f, p, work}, 3));
                ((int *)tsr_data(e))[b] = l.info;
            }
            TSR_TRY(tsr_la_keep_triangle(f, false));
        }
    }
    *ld = tsr_owned_take(&f);
    *pivots = tsr_owned_take(&p);
    *info = tsr_owned_take(&e);
    return TSR_OK;
}

static TsrStatus check_ldl_info(const TsrTensor *info, const char *fn) {
    for (int64_t b = 0; b < info->numel && !tsr_is_meta(info); b++) {
        int e = ((const int *)tsr_data(info))[b];
        if (e != 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "false INTERNAL ASSERT FAILED at "
                "\"/__w/pytorch/pytorch/aten/src/ATen/native/BatchLinearAlgebra.cpp\":1677, please report a bug to "
                "PyTorch. %s: Unknown error code: %d.",
                fn, e);
    }
    return TSR_OK;
}

TsrStatus op_ldl_factor(TsrOpCall *c) {
    TSR_OWNED ld = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(ldl_factor(&ld, &pivots, &info, c));
    TSR_TRY(check_ldl_info(info, "torch.linalg.ldl_factor"));
    return tsr_return_move2(c, tsr_owned_take(&ld), tsr_owned_take(&pivots));
}

TsrStatus op_ldl_factor_ex(TsrOpCall *c) {
    TSR_OWNED ld = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(ldl_factor(&ld, &pivots, &info, c));
    if (c->arg[2].b) TSR_TRY(check_ldl_info(info, "torch.linalg.ldl_factor_ex"));
    tsr_return_move2(c, tsr_owned_take(&ld), tsr_owned_take(&pivots));
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_owned_take(&info)};
    c->nret = 3;
    return TSR_OK;
}

static TsrStatus check_ldl_solve(const TsrTensor *ld, const TsrTensor *pivots, const TsrTensor *b) {
    TSR_TRY(tsr_la_check_square(ld, "torch.linalg.ldl_solve"));
    TSR_TRY(tsr_la_check_float(ld, "torch.linalg.ldl_solve"));
    int64_t dim = -2;
    if (ld->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected b and A to have the same dtype, but found b of type %s and A of type %s instead.",
                         tsr_dtype_scalar_name(b->dtype), tsr_dtype_scalar_name(ld->dtype));
    TSR_TRY(tsr_wrap_own_dim(&dim, tsr_ndim(b)));
    if (tsr_la_rows(ld) != tsr_la_rows(b))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is %lld by %lld but each b matrix "
            "is %lld by %lld",
            (long long)tsr_la_cols(ld), (long long)tsr_la_cols(ld), (long long)tsr_la_rows(b),
            (long long)tsr_la_cols(b));
    int dp = tsr_ndim(pivots);
    if (dp != tsr_ndim(ld) - 1 || memcmp(pivots->sizes, ld->sizes, sizeof(int64_t) * (size_t)dp) != 0) {
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with "
            "shape %s instead",
            tsr_layout_text(dp, pivots->sizes));
    }
    if (!tsr_dtype_is_integral(pivots->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "torch.linalg.ldl_solve: Expected pivots to be integers. Got %s",
                         tsr_dtype_scalar_name(pivots->dtype));
    return pivots->numel > 0 ? tsr_require(TSR_BITS_INT, pivots->dtype, "abs_cpu") : TSR_OK;
}

static TsrStatus check_ldl_pivots(const TsrTensor *p, int64_t n) {
    static const char said[] =
        "Pivots given to ldl_solve must all satisfy |pivot| %s. Did you properly pass the result of ldl_factor?";
    const int *v = tsr_data(p);
    for (int64_t k = 0; k < p->numel; k++)
        if (v[k] == 0) return tsr_error(TSR_RUNTIME_ERROR, said, ">= 1");
    for (int64_t k = 0; k < p->numel; k++)
        if (v[k] > n || v[k] < -n) return tsr_error(TSR_RUNTIME_ERROR, said, "<= LD.size(-2)");
    return TSR_OK;
}

TsrStatus op_ldl_solve(TsrOpCall *c) {
    const TsrTensor *ld = c->arg[0].t, *pivots = c->arg[1].t, *b = c->arg[2].t;
    TSR_TRY(check_ldl_solve(ld, pivots, b));
    TSR_TRY(tsr_check_out_fits(c, 0, ld->dtype));
    TSR_OWNED x = NULL;
    TSR_OWNED f = NULL;
    TSR_OWNED p32 = NULL;
    TSR_OWNED pwide = NULL;
    TSR_OWNED p = NULL;
    TsrLaBatch batch;
    TSR_TRY(tsr_la_broadcast_batch(&batch, b, ld));
    TSR_TRY(tsr_la_new_copy_expanded(&x, b, &batch));
    TSR_TRY(tsr_la_new_copy_expanded(&f, ld, &batch));
    TSR_TRY(tsr_tensor_new_cast(&p32, pivots, TSR_INT32));
    batch.sizes[batch.n] = tsr_la_cols(ld);
    TSR_TRY(tsr_tensor_new_expand(&pwide, p32, batch.n + 1, batch.sizes));
    TSR_TRY(tsr_tensor_new_clone(&p, pwide, TSR_CONTIGUOUS));
    if (tsr_is_meta(x)) return tsr_return_move(c, tsr_owned_take(&x));
    TSR_TRY(check_ldl_pivots(p, tsr_la_cols(ld)));
    if (x->numel == 0) return tsr_return_move(c, tsr_owned_take(&x));
    TSR_TRY(tsr_la_not_implemented("ldl_solve_kernel_cpu", x->dtype));
    Ldl l = {.hermitian = c->arg[3].b};
    TSR_TRY(tsr_la_begin(&l.job, x->dtype));
    tsr_la_widen(tsr_la_rows(x), tsr_la_rows(x));
    TSR_TRY(tsr_blas_int(&l.n, tsr_la_rows(x)));
    TSR_TRY(tsr_blas_int(&l.nrhs, tsr_la_cols(x)));
    for (int64_t i = 0; i < tsr_la_batches(x); i++) {
        l.a = tsr_la_matrix(f, i), l.pivots = (int *)tsr_data(p) + i * l.n, l.x = tsr_la_matrix(x, i);
        TSR_TRY(tsr_la_apart((int64_t[]){l.n, l.n, l.nrhs}, sytrs, &l, sizeof l, (TsrTensor *[]){f, p, x}, 3));
    }
    return tsr_return_move(c, tsr_owned_take(&x));
}
