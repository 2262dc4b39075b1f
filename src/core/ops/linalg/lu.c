/* lu.c: operators on the LU and LDL factorizations: factors, solve, inverse, determinant.
 *
 * All begin with la.c's factorization P A = L U of a column-major copy, packed in one matrix with LAPACK's pivots (from
 * 1). X of X A = B is solved as the transposed equation, which costs no copy: a column-major matrix read row by row is
 * its transpose. Determinants are the product of the diagonal with the pivots' sign. Batches of A and B are broadcast;
 * a matrix that is expanded over a batch is factored once, and its info expanded again. LDL is LAPACK's sytrf, of
 * complex matrices in both its forms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "la.h"
#include "core/engine/places.h"
#include "core/tensor/loan.h"
#include "core/op/compose.h"
#include "core/op/out.h"
#include "core/op/shared.h"

/* ---- factorizations ---- */

/* `others`: what comes after the first result. */
static TsrStatus check_lu_input(const TsrOpCall *c, bool pivot, TsrDtype others) {
    const TsrTensor *a = c->arg[0].t;
    if (tsr_ndim(a) < 2) {
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(a));
    }
    TSR_TRY(tsr_la_outs(c, a->dtype, others));
    if (a->numel == 0) return TSR_OK;
    TSR_TRY(tsr_la_need_kernel("lu_cpu", a));
    return pivot ? TSR_OK
                 : tsr_error(TSR_RUNTIME_ERROR, "linalg.lu_factor: LU without pivoting is not implemented on the CPU");
}

static TsrStatus check_lu_info(const TsrTensor *info, const char *fn) {
    TSR_OWNED here = NULL;
    if (tsr_is_meta(info)) return TSR_OK;
    TSR_TRY(tsr_new_there(&here, info, TSR_DEVICE_CPU));
    for (int64_t b = 0; b < info->numel; b++) {
        int e = ((const int *)tsr_data(here))[b];
        char batch[64] = ": ";
        if (e == 0) continue;
        if (tsr_ndim(info) > 0) snprintf(batch, sizeof batch, ": (Batch element %lld): ", (long long)b);
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "%s%sU[%d,%d] is zero and using it on lu_solve would result in a division by zero. If you still want to "
            "perform the factorization, consider calling "
            "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)",
            fn, batch, e, e);
    }
    return TSR_OK;
}

static TsrStatus lu_factor(TsrOpCall *c, bool pivot, const char *check, bool with_info) {
    TsrTensor *lu, *pivots, *info;
    TSR_TRY(check_lu_input(c, pivot, TSR_INT32));
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &info, c->arg[0].t));
    TsrStatus s = check != NULL ? check_lu_info(info, check) : TSR_OK;
    if (s != TSR_OK || !with_info) {
        tsr_tensor_free(info);
        if (s == TSR_OK) return tsr_return_move2(c, lu, pivots);
        tsr_tensor_free(lu);
        tsr_tensor_free(pivots);
        return s;
    }
    tsr_return_move2(c, lu, pivots);
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = info};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_lu_factor(TsrOpCall *c) { return lu_factor(c, c->arg[1].b, "torch.linalg.lu_factor", false); }
TsrStatus op_lu_factor_ex(TsrOpCall *c) {
    return lu_factor(c, c->arg[1].b, c->arg[2].b ? "torch.linalg.lu_factor_ex" : NULL, true);
}
/* Never checks: what torch.lu is made of. */
TsrStatus op_lu(TsrOpCall *c) { return lu_factor(c, c->arg[1].b, NULL, true); }

/* rows[i]: which row of the input row i of the product P^T A is. */
static void apply_pivots(int64_t *rows, int64_t m, const int *pivots, int64_t k) {
    for (int64_t i = 0; i < m; i++) rows[i] = i;
    for (int64_t i = 0; i < k; i++) {
        int64_t other = pivots[i] - 1, row = rows[i];
        if (other < 0 || other >= m) continue;
        rows[i] = rows[other];
        rows[other] = row;
    }
}

/* `pivots` is contiguous. */
static TsrStatus check_pivots(const TsrTensor *pivots, int64_t m) {
    for (int64_t i = 0; i < pivots->numel; i++) {
        int pivot = ((const int *)tsr_data(pivots))[i];
        if (pivot < 1 || pivot > m)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the "
                "result of lu_factor?");
    }
    return TSR_OK;
}

TsrStatus tsr_la_pivot_rows_new(TsrTensor **out, const TsrTensor *pivots, int64_t m, bool back) {
    TSR_OWNED rows = NULL;
    TSR_OWNED here = NULL;
    TSR_OWNED order = NULL;
    int64_t k = pivots->sizes[tsr_ndim(pivots) - 1], sizes[TSR_MAX_DIMS];
    memcpy(sizes, pivots->sizes, sizeof(int64_t) * (size_t)tsr_ndim(pivots));
    sizes[tsr_ndim(pivots) - 1] = m;
    TSR_TRY(tsr_new_there(&here, pivots, TSR_DEVICE_CPU));
    TSR_TRY(check_pivots(here, m));
    TSR_TRY(tsr_tensor_new(&rows, tsr_ndim(pivots), sizes, TSR_INT64, TSR_DEVICE_CPU));
    for (int64_t b = 0; b * m < rows->numel && !tsr_interrupted_at(b); b++)
        apply_pivots((int64_t *)tsr_data(rows) + b * m, m, (const int *)tsr_data(here) + b * k, k);
    TSR_TRY(tsr_interrupt_check());
    if (back) TSR_TRY(tsr_invoke_new(&order, 1, "argsort", "t", rows));
    *out = tsr_owned_take(back ? &order : &rows);
    return TSR_OK;
}

/* permutation_new on a device. */
static TsrStatus permutation_new_there(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots) {
    TsrScope s = {0};
    int64_t m = tsr_la_rows(lu), sizes[TSR_MAX_DIMS], dim = tsr_ndim(lu) - 2;
    memcpy(sizes, lu->sizes, sizeof(int64_t) * (size_t)tsr_ndim(lu));
    sizes[dim + 1] = m;
    TsrTensor *p = MAKE(&s, tsr_tensor_new, tsr_ndim(lu), sizes, lu->dtype, lu->device),
              *rows = MAKE(&s, tsr_la_pivot_rows_new, pivots, m, false),
              *line = MAKE(&s, tsr_tensor_new_unsqueeze, rows, -2), *at = MAKE(&s, tsr_new_there, line, lu->device);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(p, tsr_scalar_int(0));
    TsrTensor *ones = CALL(&s, "scatter", "tits", p, dim, at, tsr_scalar_int(1));
    return tsr_scope_end_new(out, &s, ones);
}

static TsrStatus permutation_new(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots) {
    TSR_OWNED p = NULL;
    TSR_OWNED scratch = NULL;
    int64_t m = tsr_la_rows(lu), k = TSR_MIN(m, tsr_la_cols(lu)), sizes[TSR_MAX_DIMS];
    memcpy(sizes, lu->sizes, sizeof(int64_t) * (size_t)tsr_ndim(lu));
    sizes[tsr_ndim(lu) - 1] = m;
    TSR_TRY(tsr_tensor_new(&p, tsr_ndim(lu), sizes, lu->dtype, lu->device));
    TSR_TRY(tsr_la_new_scratch(&scratch, m, sizeof(int64_t)));
    if (!tsr_is_meta(p)) TSR_TRY(check_pivots(pivots, m));
    if (!tsr_is_meta(p) && p->numel > 0) {
        int64_t *rows = tsr_data(scratch);
        size_t item = tsr_itemsize(p);
        memset(tsr_data(p), 0, (size_t)p->numel * item);
        for (int64_t b = 0; b < tsr_la_batches(lu) && !tsr_interrupted_at(b); b++) {
            apply_pivots(rows, m, (const int *)tsr_data(pivots) + b * k, k);
            for (int64_t i = 0; i < m; i++)
                tsr_scalar_store(tsr_scalar_int(1), p->dtype,
                                 (char *)tsr_data(p) + (size_t)((b * m + rows[i]) * m + i) * item);
        }
    }
    *out = tsr_owned_take(&p);
    return TSR_OK;
}

/* L (unit lower) or U, row-major, from the packed factorization. */
static TsrStatus triangle_new(TsrTensor **out, const TsrTensor *lu, bool upper) {
    TSR_OWNED part = NULL;
    TSR_OWNED r = NULL;
    int64_t k = TSR_MIN(tsr_la_rows(lu), tsr_la_cols(lu));
    TSR_TRY(tsr_tensor_new_narrow(&part, lu, upper ? -2 : -1, 0, k));
    TSR_TRY(tsr_invoke_new(&r, 1, upper ? "triu" : "tril", "t", part));
    if (!tsr_is_contiguous(r, TSR_CONTIGUOUS)) {
        TsrTensor *plain;
        TSR_TRY(tsr_tensor_new_clone(&plain, r, TSR_CONTIGUOUS));
        tsr_owned_put_move(&r, plain);
    }
    if (!upper && !tsr_is_meta(r)) {
        TSR_OWNED diagonal = NULL;
        TSR_TRY(tsr_tensor_new_diagonal(&diagonal, r, 0, -2, -1));
        TSR_TRY(tsr_tensor_fill(diagonal, tsr_scalar_int(1)));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus empty_like_of(TsrTensor **out, const TsrTensor *t) {
    return tsr_tensor_new(out, 1, (int64_t[]){0}, t->dtype, t->device);
}

static TsrStatus lu_unpack(TsrOpCall *c, const TsrTensor *lu, const TsrTensor *pivots, bool data, bool perm) {
    TSR_OWNED p = NULL;
    TSR_OWNED l = NULL;
    TSR_OWNED u = NULL;
    TsrStatus (*make)(TsrTensor **, const TsrTensor *, const TsrTensor *) =
        tsr_on_device(lu) && lu->numel > 0 ? permutation_new_there : permutation_new;
    TSR_TRY(data ? triangle_new(&l, lu, false) : empty_like_of(&l, lu));
    TSR_TRY(data ? triangle_new(&u, lu, true) : empty_like_of(&u, lu));
    if (perm && lu->numel > 0)
        TSR_TRY(tsr_require(TSR_BITS_MOST | TSR_BITS_UINT, lu->dtype, "scatter_gather_scalar_cpu"));
    TSR_TRY(perm ? make(&p, lu, pivots) : empty_like_of(&p, lu));
    tsr_return_move2(c, tsr_owned_take(&p), tsr_owned_take(&l));
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_owned_take(&u)};
    c->nret = 3;
    return TSR_OK;
}

TsrStatus op_linalg_lu(TsrOpCall *c) {
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED info = NULL;
    if (tsr_ndim(c->arg[0].t) < 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "linalg.lu: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(c->arg[0].t));
    TSR_TRY(check_lu_input(c, c->arg[1].b, c->arg[0].t->dtype));
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &info, c->arg[0].t));
    return lu_unpack(c, lu, pivots, true, c->arg[1].b);
}

TsrStatus op_lu_unpack(TsrOpCall *c) {
    const TsrTensor *lu = c->arg[0].t, *pivots = c->arg[1].t;
    TSR_OWNED plain = NULL;
    if (tsr_ndim(lu) < 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: %s instead",
                         tsr_sizes_text(lu));
    if (c->arg[3].b && pivots->dtype != TSR_INT32)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor");
    int n = tsr_ndim(lu) - 1;
    int64_t want[TSR_MAX_DIMS], k = TSR_MIN(tsr_la_rows(lu), tsr_la_cols(lu));
    memcpy(want, lu->sizes, sizeof(int64_t) * (size_t)n);
    want[n - 1] = k;
    if (c->arg[3].b && (tsr_ndim(pivots) != n || memcmp(pivots->sizes, want, sizeof(int64_t) * (size_t)n) != 0)) {
        return tsr_error(TSR_VALUE_ERROR, "Expected LU_pivots to have shape %s but got %s instead.",
                         tsr_layout_text(n, want), tsr_sizes_text(pivots));
    }
    TSR_TRY(tsr_tensor_new_contiguous(&plain, pivots, TSR_CONTIGUOUS));
    return lu_unpack(c, lu, plain, c->arg[2].b, c->arg[3].b);
}

/* ---- solving ---- */

static TsrStatus check_solve_shapes(const char *fn, const TsrTensor *a, const TsrTensor *b, bool left) {
    int64_t n = tsr_la_rows(a), have = left ? tsr_la_rows(b) : tsr_la_cols(b);
    if (n == have) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s: Incompatible shapes of A and B for the equation %s (%lldx%lld and %lldx%lld)", fn,
                     left ? "AX = B" : "XA = B", (long long)n, (long long)tsr_la_cols(a), (long long)tsr_la_rows(b),
                     (long long)tsr_la_cols(b));
}

/* A column-major X^T becomes the row-major X that it is. */
static TsrStatus transpose_geometry(TsrTensor *x) {
    int d = tsr_ndim(x);
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)d);
    sizes[d - 2] = tsr_la_cols(x), sizes[d - 1] = tsr_la_rows(x);
    tsr_la_strides(strides, d, sizes, false);
    return tsr_tensor_set_geometry(x, (TsrGeometry){d, sizes, strides, 0});
}

/* X of op(A) X = B (or X op(A) = B) from a factorization whose batch is already B's; column-major when left, else
 * row-major. */
static TsrStatus solve_factored(TsrTensor **out, const TsrTensor *lu, const TsrTensor *pivots, const TsrTensor *b,
                                bool left, bool adjoint) {
    TSR_OWNED bt = NULL;
    TSR_OWNED x = NULL;
    bool is_complex = tsr_dtype_is_complex(b->dtype);
    TsrLaBatch batch = tsr_la_batch(lu);
    if (left) {
        TSR_TRY(tsr_la_new_copy_expanded(&x, b, &batch));
        TSR_TRY(tsr_la_lu_solve(x, lu, pivots, !adjoint ? 'N' : is_complex ? 'C' : 'T'));
        *out = tsr_owned_take(&x);
        return TSR_OK;
    }
    /* X A = B is A^H X^H = B^H; with the adjoint it is A X^H = B^H. What is found is X^H: X conjugated, row by row. */
    TSR_TRY(tsr_la_new_mt(&bt, b, true));
    TSR_TRY(tsr_la_new_copy_expanded(&x, bt, &batch));
    TSR_TRY(tsr_la_lu_solve(x, lu, pivots, adjoint ? 'N' : is_complex ? 'C' : 'T'));
    TSR_TRY(transpose_geometry(x));
    if (is_complex && x->numel > 0) x->flags ^= TSR_FLAG_CONJ;
    *out = tsr_owned_take(&x);
    return TSR_OK;
}

/* Whether B is a (batch of) vectors beside the matrices of A. */
static bool vector_case(const TsrTensor *a, const TsrTensor *b) {
    int db = tsr_ndim(b);
    return db == 1 || (tsr_ndim(a) - 1 == db && memcmp(a->sizes, b->sizes, sizeof(int64_t) * (size_t)db) == 0);
}

/* c: the call whose outs take the solution and the codes; NULL. */
static TsrStatus check_solve(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b, bool left, const char *fn) {
    TSR_TRY(tsr_la_check_float(a, fn));
    if (a->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: Expected A and B to have the same dtype, but found A of type %s and B of type %s instead",
                         fn, tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    TSR_TRY(tsr_la_check_square(a, fn, "A"));
    if (c != NULL) TSR_TRY(tsr_la_outs(c, a->dtype, TSR_INT32));
    TSR_TRY(tsr_la_need_kernel("lu_cpu", a));
    if (left || !vector_case(a, b)) return TSR_OK;
    const int64_t n = tsr_la_rows(a);
    if (n != 1) /* the vector stands as a column */
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s: Incompatible shapes of A and B for the equation XA = B (%lldx%lld and %lldx1)", fn,
                         (long long)n, (long long)n, (long long)b->sizes[tsr_ndim(b) - 1]);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                     "linalg.solve is equivalent to B / A.squeeze(-1)",
                     fn);
}

/* X for matrices B. */
static TsrStatus solve_matrices_new(TsrTensor **x, TsrTensor **info, const TsrTensor *a, const TsrTensor *b,
                                    bool left) {
    TSR_OWNED wide = NULL;
    TSR_OWNED lu = NULL;
    TSR_OWNED pivots = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED r = NULL;
    TsrLaBatch batch;
    int64_t sizes[TSR_MAX_DIMS + 2];
    TSR_TRY(tsr_la_broadcast_batch(&batch, b, a));
    memcpy(sizes, batch.sizes, sizeof(int64_t) * (size_t)batch.n);
    sizes[batch.n] = sizes[batch.n + 1] = tsr_la_rows(a);
    TSR_TRY(tsr_tensor_new_expand(&wide, a, batch.n + 2, sizes));
    TSR_TRY(tsr_la_new_lu_factor(&lu, &pivots, &e, wide));
    TSR_TRY(solve_factored(&r, lu, pivots, b, left, false));
    *info = tsr_owned_take(&e);
    *x = tsr_owned_take(&r);
    return TSR_OK;
}

/* *info has the batch of the factored matrices. */
/* Takes info back from the batch that a was broadcast to: one number for each matrix of a itself. */
static TsrStatus info_new_of_matrices(TsrTensor **out, const TsrTensor *info, const TsrTensor *a) {
    TSR_OWNED made = NULL;
    TSR_OWNED view = NULL;
    TSR_TRY(tsr_tensor_new(&made, tsr_ndim(a) - 2, a->sizes, info->dtype, info->device));
    TSR_TRY(tsr_tensor_new_alias(&view, info));
    for (int d = -1; info->numel > 0 && d < tsr_ndim(made); d += tsr_ndim(view) == tsr_ndim(made)) {
        TsrTensor *next = NULL;
        if (d < 0 && tsr_ndim(view) > tsr_ndim(made)) TSR_TRY(tsr_tensor_new_select(&next, view, 0, 0));
        else if (d >= 0 && view->sizes[d] != made->sizes[d]) TSR_TRY(tsr_tensor_new_narrow(&next, view, d, 0, 1));
        if (next != NULL) tsr_owned_put_move(&view, next);
    }
    if (!tsr_is_meta(made))
        TSR_TRY(info->numel > 0 ? tsr_tensor_copy(made, view) : tsr_tensor_fill(made, tsr_scalar_int(0)));
    *out = tsr_owned_take(&made);
    return TSR_OK;
}

static TsrStatus solve_new(TsrTensor **x, TsrTensor **info, const TsrTensor *a, const TsrTensor *b, bool left,
                           const char *fn) {
    bool vector = vector_case(a, b);
    TSR_OWNED column = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED r = NULL;
    if (vector) TSR_TRY(tsr_tensor_new_unsqueeze(&column, b, -1));
    const TsrTensor *rhs = vector ? column : b;
    TSR_TRY(tsr_la_check_matrix(rhs, fn, "B"));
    TSR_TRY(check_solve_shapes(fn, a, rhs, left));
    TSR_TRY(solve_matrices_new(&r, &e, a, rhs, left));
    if (vector) {
        int d = tsr_ndim(r) - 1;
        int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS];
        memcpy(sizes, r->sizes, sizeof(int64_t) * (size_t)d);
        tsr_la_strides(strides, d, sizes, left);
        TSR_TRY(tsr_la_restride(&r, d, sizes, strides));
    }
    TSR_TRY(info_new_of_matrices(info, e, a));
    *x = tsr_owned_take(&r);
    return TSR_OK;
}

/* linalg.solve and linalg.solve_ex: A, B, left. */
static TsrStatus solve_call(TsrTensor **x, TsrTensor **info, const TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    TSR_TRY(check_solve(c, a, b, c->arg[2].b, "linalg.solve"));
    return solve_new(x, info, a, b, c->arg[2].b, "linalg.solve");
}

TsrStatus op_linalg_solve(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(solve_call(&x, &info, c));
    TSR_TRY(tsr_la_check_info(info, "torch.linalg.solve", TSR_LA_SINGULAR_SOLVE));
    return tsr_return_move(c, tsr_owned_take(&x));
}

TsrStatus op_linalg_solve_ex(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(solve_call(&x, &info, c));
    if (c->arg[3].b) TSR_TRY(tsr_la_check_info(info, "torch.linalg.solve_ex", TSR_LA_SINGULAR_SOLVE));
    return tsr_return_move2(c, tsr_owned_take(&x), tsr_owned_take(&info));
}

static TsrStatus lu_solve(TsrTensor **out, const TsrOpCall *c, const TsrTensor *lu, const TsrTensor *pivots,
                          const TsrTensor *b, bool left, bool adjoint) {
    TSR_TRY(tsr_la_check_float(lu, "torch.linalg.lu_solve"));
    if (lu->dtype != b->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type %s and B of type %s "
            "instead",
            tsr_dtype_scalar_name(lu->dtype), tsr_dtype_scalar_name(b->dtype));
    if (pivots->dtype != TSR_INT32)
        return tsr_error(TSR_RUNTIME_ERROR, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32");
    TSR_TRY(tsr_la_check_square(lu, "torch.linalg.lu_solve", "A"));
    TSR_TRY(tsr_la_check_matrix(b, "linalg.lu_solve", "B"));
    TSR_TRY(check_solve_shapes("linalg.lu_solve", lu, b, left));
    int dp = tsr_ndim(pivots);
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){-1}, dp));
    if (pivots->sizes[dp - 1] != tsr_la_cols(lu))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix");
    if (dp != tsr_ndim(lu) - 1 || memcmp(pivots->sizes, lu->sizes, sizeof(int64_t) * (size_t)dp) != 0) {
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape %s "
            "instead",
            tsr_layout_text(dp, pivots->sizes));
    }
    TSR_TRY(tsr_check_out_fits(c, 0, lu->dtype));
    TSR_OWNED lub = NULL;
    TSR_OWNED pwide = NULL;
    TSR_OWNED pb = NULL;
    TsrLaBatch batch;
    TSR_TRY(tsr_la_broadcast_batch(&batch, lu, b));
    TSR_TRY(tsr_la_new_copy_expanded(&lub, lu, &batch));
    batch.sizes[batch.n] = tsr_la_cols(lu);
    TSR_TRY(tsr_tensor_new_expand(&pwide, pivots, batch.n + 1, batch.sizes));
    TSR_TRY(tsr_tensor_new_contiguous(&pb, pwide, TSR_CONTIGUOUS));
    TSR_OWNED here = NULL;
    if (!tsr_is_meta(pb)) TSR_TRY(tsr_new_there(&here, pb, TSR_DEVICE_CPU));
    for (int64_t k = 0; here != NULL && k < here->numel; k++) {
        const int pivot = ((const int *)tsr_data(here))[k];
        if (pivot < 1 || pivot > tsr_la_cols(lu))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "Pivots given to lu_solve must all be %s. Did you properly pass the result of lu_factor?",
                             pivot < 1 ? "greater or equal to 1" : "smaller or equal to LU.size(-2)");
    }
    if (lu->numel > 0 && b->numel > 0) TSR_TRY(tsr_la_not_implemented("linalg.lu_solve_cpu", lu->dtype));
    return solve_factored(out, lub, pb, b, left, adjoint);
}

TsrStatus op_linalg_lu_solve(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, lu_solve(&r, c, c->arg[0].t, c->arg[1].t, c->arg[2].t, c->arg[3].b, c->arg[4].b), r);
}

TsrStatus op_lu_solve(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, lu_solve(&r, c, c->arg[1].t, c->arg[2].t, c->arg[0].t, true, false), r);
}

/* ---- inverse ---- */

static TsrStatus inverse(TsrTensor **x, TsrTensor **info, const TsrTensor *a, const char *fn) {
    TSR_TRY(tsr_la_check_square(a, fn, "A"));
    TSR_TRY(tsr_la_check_float_high(a, fn));
    return tsr_la_new_inverse(x, info, a);
}

TsrStatus op_linalg_inv(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(inverse(&x, &info, c->arg[0].t, "linalg.inv"));
    TSR_TRY(tsr_la_check_info(info, "linalg.inv", TSR_LA_SINGULAR_INVERSE));
    return tsr_return_move(c, tsr_owned_take(&x));
}

TsrStatus op_linalg_inv_ex(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(inverse(&x, &info, c->arg[0].t, "linalg.inv"));
    if (c->arg[1].b) TSR_TRY(tsr_la_check_info(info, "linalg.inv_ex", TSR_LA_SINGULAR_INVERSE));
    return tsr_return_move2(c, tsr_owned_take(&x), tsr_owned_take(&info));
}

static int64_t product(const int64_t *sizes, int from, int to) {
    int64_t p = 1;
    for (int i = from; i < to; i++) p *= sizes[i];
    return p;
}

TsrStatus op_tensorinv(TsrOpCall *c) {
    const TsrTensor *a = c->arg[0].t;
    int64_t ind = c->arg[1].i, sizes[TSR_MAX_DIMS];
    int d = tsr_ndim(a), n = 0;
    TSR_OWNED square = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_check_out_fits(c, 0, a->dtype));
    if (ind <= 0)
        return tsr_error(TSR_RUNTIME_ERROR, "Expected a strictly positive integer for 'ind', but got %lld",
                         (long long)ind);
    if (ind > d) return tsr_error(TSR_RUNTIME_ERROR, "ArrayRef: invalid slice, N = %lld; size = %d", (long long)ind, d);
    int split = (int)ind;
    int64_t rows = product(a->sizes, 0, split), cols = product(a->sizes, split, d);
    if (rows != cols)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got %lld "
            "!= %lld",
            (long long)cols, (long long)rows);
    for (int i = split; i < d; i++) sizes[n++] = a->sizes[i];
    for (int i = 0; i < split; i++) sizes[n++] = a->sizes[i];
    TSR_TRY(tsr_tensor_new_reshape(&square, a, 2, (int64_t[]){rows, cols}));
    TSR_TRY(inverse(&x, &info, square, "linalg.inv"));
    TSR_TRY(tsr_la_check_info(info, "linalg.tensorinv", TSR_LA_SINGULAR_INVERSE));
    return tsr_finish_move(c, tsr_tensor_new_reshape(&r, x, n, sizes), r);
}

static TsrStatus move_dims_last(TsrTensor **out, const TsrTensor *a, const TsrArg *dims) {
    if (!tsr_arg_given(dims)) {
        *out = tsr_tensor_retain((TsrTensor *)a);
        return TSR_OK;
    }
    bool moved[TSR_MAX_DIMS] = {false};
    int64_t order[TSR_MAX_DIMS], wrapped[TSR_MAX_DIMS];
    int n = 0, d = tsr_ndim(a);
    for (int i = 0; i < dims->n && i < TSR_MAX_DIMS; i++) {
        wrapped[i] = dims->ints[i];
        TSR_TRY(tsr_wrap_dim(&wrapped[i], d));
        if (moved[wrapped[i]])
            return tsr_error(TSR_RUNTIME_ERROR, "movedim: repeated dim in `source` (%s)",
                             tsr_layout_text(dims->n, dims->ints));
        moved[wrapped[i]] = true;
    }
    for (int i = 0; i < d; i++)
        if (!moved[i]) order[n++] = i;
    for (int i = 0; i < dims->n && n < d; i++) order[n++] = wrapped[i];
    return tsr_tensor_new_permute(out, a, d, order);
}

TsrStatus op_tensorsolve(TsrOpCall *c) {
    const TsrTensor *b = c->arg[1].t;
    TSR_OWNED a = NULL;
    TSR_OWNED square = NULL;
    TSR_OWNED flat = NULL;
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TsrTensor *r = NULL;
    TSR_TRY(tsr_check_out_fits(c, 0, c->arg[0].t->dtype));
    TSR_TRY(move_dims_last(&a, c->arg[0].t, &c->arg[2]));
    int split = TSR_MIN(tsr_ndim(b), tsr_ndim(a)), rest = tsr_ndim(a) - split;
    int64_t cols = product(a->sizes, split, tsr_ndim(a));
    if (cols != b->numel)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
                         "prod(self.shape[:other.ndim]), but got %lld != %lld",
                         (long long)cols, (long long)b->numel);
    TSR_TRY(tsr_tensor_new_reshape(&square, a, 2, (int64_t[]){cols, cols}));
    TSR_TRY(tsr_tensor_new_reshape(&flat, b, 1, (int64_t[]){b->numel}));
    TSR_TRY(check_solve(NULL, square, flat, true, "linalg.solve"));
    TSR_TRY(solve_new(&x, &info, square, flat, true, "linalg.solve"));
    TSR_TRY(tsr_la_check_info(info, "torch.linalg.solve", TSR_LA_SINGULAR_SOLVE));
    return tsr_finish_move(c, tsr_tensor_new_reshape(&r, x, rest, a->sizes + split), r);
}

/* ---- determinants ---- */

/* c: the call whose out= is of a's dtype; NULL. */
static TsrStatus factor_for_det(TsrTensor **lu, TsrTensor **pivots, const TsrOpCall *c, const TsrTensor *a,
                                const char *fn) {
    TSR_OWNED at = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(tsr_la_check_square(a, fn, "A"));
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
    TSR_TRY(tsr_la_check_square(a, fn, "A"));
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

/* ---- LDL ---- */

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
    TSR_TRY(tsr_la_check_square(a, "torch.linalg.ldl_factor_ex", "A"));
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
            l.lwork = tsr_la_lwork(&l.job, query);
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
    TSR_TRY(tsr_la_check_square(ld, "torch.linalg.ldl_solve", "A"));
    TSR_TRY(tsr_la_check_float(ld, "torch.linalg.ldl_solve"));
    int64_t dim = -2;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(b)));
    if (ld->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected b and A to have the same dtype, but found b of type %s and A of type %s instead.",
                         tsr_dtype_scalar_name(b->dtype), tsr_dtype_scalar_name(ld->dtype));
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
    return TSR_OK;
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
    TSR_TRY(tsr_la_broadcast_batch(&batch, ld, b));
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
