/* solve.c: systems of equations and inverses by the LU factorization (lu.c).
 *
 * X of X A = B is solved as the transposed equation, which costs no copy: a column-major matrix read row by row is its
 * transpose. Batches of A and B are broadcast; a matrix that is expanded over a batch is factored once, and its info
 * expanded again. */
#include <string.h>

#include "la.h"
#include "core/engine/places.h"
#include "core/op/out.h"

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
static TsrStatus check_solve(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b, bool left) {
    TSR_TRY(tsr_la_check_float(a, "linalg.solve"));
    if (a->dtype != b->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.solve: Expected A and B to have the same dtype, but found A of type %s and B of type %s instead",
            tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    TSR_TRY(tsr_la_check_square(a, "linalg.solve"));
    if (c != NULL) TSR_TRY(tsr_la_outs(c, a->dtype, TSR_INT32));
    TSR_TRY(tsr_la_need_kernel("lu_cpu", a));
    if (left || !vector_case(a, b)) return TSR_OK;
    const int64_t n = tsr_la_rows(a);
    if (n != 1) /* the vector stands as a column */
        return tsr_error(TSR_RUNTIME_ERROR,
                         "linalg.solve: Incompatible shapes of A and B for the equation XA = B (%lldx%lld and %lldx1)",
                         (long long)n, (long long)n, (long long)b->sizes[tsr_ndim(b) - 1]);
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
        "linalg.solve is equivalent to B / A.squeeze(-1)");
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

static TsrStatus solve_new(TsrTensor **x, TsrTensor **info, const TsrTensor *a, const TsrTensor *b, bool left) {
    bool vector = vector_case(a, b);
    TSR_OWNED column = NULL;
    TSR_OWNED e = NULL;
    TSR_OWNED r = NULL;
    if (vector) TSR_TRY(tsr_tensor_new_unsqueeze(&column, b, -1));
    const TsrTensor *rhs = vector ? column : b;
    TSR_TRY(tsr_la_check_matrix(rhs, "linalg.solve", "B"));
    TSR_TRY(check_solve_shapes("linalg.solve", a, rhs, left));
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
    TSR_TRY(check_solve(c, a, b, c->arg[2].b));
    return solve_new(x, info, a, b, c->arg[2].b);
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
    TSR_TRY(tsr_la_check_square(lu, "torch.linalg.lu_solve"));
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

static TsrStatus inverse(TsrTensor **x, TsrTensor **info, const TsrTensor *a) {
    TSR_TRY(tsr_la_check_square(a, "linalg.inv"));
    TSR_TRY(tsr_la_check_float_high(a, "linalg.inv"));
    return tsr_la_new_inverse(x, info, a);
}

TsrStatus op_linalg_inv(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(inverse(&x, &info, c->arg[0].t));
    TSR_TRY(tsr_la_check_info(info, "linalg.inv", TSR_LA_SINGULAR_INVERSE));
    return tsr_return_move(c, tsr_owned_take(&x));
}

TsrStatus op_linalg_inv_ex(TsrOpCall *c) {
    TSR_OWNED x = NULL;
    TSR_OWNED info = NULL;
    TSR_TRY(inverse(&x, &info, c->arg[0].t));
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
    TSR_TRY(inverse(&x, &info, square));
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
    TSR_TRY(check_solve(NULL, square, flat, true));
    TSR_TRY(solve_new(&x, &info, square, flat, true));
    TSR_TRY(tsr_la_check_info(info, "torch.linalg.solve", TSR_LA_SINGULAR_SOLVE));
    return tsr_finish_move(c, tsr_tensor_new_reshape(&r, x, rest, a->sizes + split), r);
}
