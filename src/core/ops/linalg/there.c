/* there.c: factorizations on a device (there.h): the operands of the primitives as (batch, rows, columns). */
#include "there.h"

#include "core/engine/places.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "la.h"

static TsrStatus add_matrix(TsrDeviceWork *w, const TsrTensor *a, bool out) {
    const int64_t m = tsr_la_rows(a), n = tsr_la_cols(a);
    const int64_t sizes[] = {tsr_la_batches(a), m, n}, strides[] = {m * n, 1, m};
    return tsr_device_work_add_as(w, a, (TsrGeometry){3, sizes, strides, a->offset}, out);
}

/* Which operands are matrices, by their bits; the others are rows of numbers. */
static unsigned matrices_of(TsrPrimitive what) {
    switch ((int)what) {
    case TSR_P_TRIANGULAR:
    case TSR_P_REFLECT: return 3;
    case TSR_P_SVD: return 1 | 4 | 8 | 16;
    case TSR_P_EIGH: return 1 | 4 | 8;
    default: return 1;
    }
}

/* The first nout operands, of at most five, are outputs. */
static TsrStatus run(TsrPrimitive what, const TsrDeviceMatrixWork *how, int nout, const TsrTensor *const operands[5]) {
    TsrDeviceWork w = {.what = what, .params = how, .nparams = sizeof *how};
    if (operands[0]->numel == 0) return TSR_OK;
    for (int i = 0; i < 5 && operands[i] != NULL; i++) {
        bool matrix = matrices_of(what) >> i & 1;
        TSR_TRY((matrix ? add_matrix : tsr_device_work_add)(&w, operands[i], i < nout));
    }
    return tsr_device_work(operands[0]->device.type, &w);
}

TsrStatus tsr_la_lu_there(TsrTensor *a, TsrTensor *pivots, TsrTensor *info) {
    const TsrDeviceMatrixWork how = {0};
    return run(TSR_P_LU, &how, 3, (const TsrTensor *[5]){a, pivots, info});
}

TsrStatus tsr_la_cholesky_there(TsrTensor *a, TsrTensor *info, bool upper) {
    const TsrDeviceMatrixWork how = {.upper = upper};
    return run(TSR_P_CHOLESKY, &how, 2, (const TsrTensor *[5]){a, info});
}

/* A triangle of more than WHOLE rows is solved BLOCK by BLOCK, whose products with the rest are most of the work. Both
 * are guesses: no GPU has tried them; at most the 1024 rows that a backend's kernel takes. */
enum { WHOLE = 1024, BLOCK = 512 };

/* Rows [begin, begin + n) of a matrix, or columns. */
static TsrTensor *rows_of(TsrScope *s, TsrTensor *a, int64_t begin, int64_t n) {
    return MAKE(s, tsr_tensor_new_narrow, a, -2, begin, n);
}
static TsrTensor *columns_of(TsrScope *s, TsrTensor *a, int64_t begin, int64_t n) {
    return MAKE(s, tsr_tensor_new_narrow, a, -1, begin, n);
}

/* One block of `x`, whose products with the rest of its columns of the triangle are then subtracted from the other rows
 * that wait for it: [rest, rest + nrest). */
static TsrStatus solve_block(TsrTensor *x, TsrTensor *triangle, TsrDeviceMatrixWork how, int64_t begin, int64_t n,
                             int64_t rest, int64_t nrest) {
    TsrScope s = {0};
    TsrTensor *own = rows_of(&s, x, begin, n), *columns = columns_of(&s, triangle, begin, n),
              *diagonal = rows_of(&s, columns, begin, n), *a = MAKE(&s, tsr_la_new_copy, diagonal),
              *b = MAKE(&s, tsr_la_new_copy, own);
    if (s.status == TSR_OK) s.status = run(TSR_P_TRIANGULAR, &how, 1, (const TsrTensor *[5]){b, a});
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(own, b);
    if (nrest > 0) {
        TsrTensor *panel = rows_of(&s, columns, rest, nrest), *others = rows_of(&s, x, rest, nrest),
                  *product = CALL(&s, "matmul", "tt", panel, b);
        (void)CALL(&s, "sub", "!ttt", others, others, product);
    }
    return tsr_scope_end(&s);
}

/* X op(A) = B is the transposed equation: all are solved as A X = B, of views. */
static TsrStatus solve_by_blocks(TsrTensor *x, const TsrTensor *a, TsrDeviceMatrixWork how) {
    TsrScope s = {0};
    const bool turned = how.transposed != how.right, lower = how.upper == turned;
    const TsrDeviceMatrixWork block = {.upper = !lower, .unit = how.unit};
    const int64_t n = tsr_la_rows(a);
    TsrTensor *mirrored = MAKE(&s, tsr_la_new_mt, a, how.conjugate),
              *triangle = turned ? mirrored : MAKE(&s, tsr_la_new_mt, mirrored, false),
              *left = how.right ? MAKE(&s, tsr_la_new_mt, x, false) : x;
    for (int64_t done = 0; done < n && s.status == TSR_OK; done += BLOCK) {
        const int64_t size = TSR_MIN(n - done, (int64_t)BLOCK), begin = lower ? done : n - done - size;
        s.status = solve_block(left, triangle, block, begin, size, lower ? begin + size : 0, n - done - size);
    }
    return tsr_scope_end(&s);
}

TsrStatus tsr_la_triangular_there(TsrTensor *x, const TsrTensor *a, TsrDeviceMatrixWork how) {
    if (tsr_la_rows(a) > WHOLE) return solve_by_blocks(x, a, how);
    return run(TSR_P_TRIANGULAR, &how, 1, (const TsrTensor *[5]){x, a});
}

/* Rows of x exchanged as the pivots say, or back. What goes where is found out on the host, from a number a row. */
static TsrStatus exchange(TsrTensor *x, const TsrTensor *pivots, bool back) {
    TsrScope s = {0};
    const int dim = tsr_ndim(x) - 2;
    TsrTensor *rows = MAKE(&s, tsr_la_pivot_rows_new, pivots, tsr_la_rows(x), back),
              *at = MAKE(&s, tsr_new_there, rows, x->device), *column = MAKE(&s, tsr_tensor_new_unsqueeze, at, -1),
              *wide = MAKE(&s, tsr_tensor_new_expand, column, tsr_ndim(x), x->sizes),
              *picked = CALL(&s, "gather", "tit", x, (int64_t)dim, wide);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(x, picked);
    return tsr_scope_end(&s);
}

/* P A = L U: the rows of X are exchanged first, or, of the transposed equation, last. */
static TsrStatus solve_large_lu(TsrTensor *x, const TsrTensor *lu, const TsrTensor *pivots, TsrDeviceMatrixWork lower,
                                TsrDeviceMatrixWork upper) {
    if (!upper.transposed) TSR_TRY(exchange(x, pivots, false));
    TSR_TRY(tsr_la_triangular_there(x, lu, upper.transposed ? upper : lower));
    TSR_TRY(tsr_la_triangular_there(x, lu, upper.transposed ? lower : upper));
    return upper.transposed ? exchange(x, pivots, true) : TSR_OK;
}

TsrStatus tsr_la_lu_solve_there(TsrTensor *x, const TsrTensor *lu, const TsrTensor *pivots, char trans) {
    const bool turned = trans != 'N', conjugate = trans == 'C';
    TsrDeviceMatrixWork lower = {.unit = true, .transposed = turned, .conjugate = conjugate};
    const TsrDeviceMatrixWork upper = {.upper = true, .transposed = turned, .conjugate = conjugate};
    const TsrTensor *const with_pivots[5] = {x, lu, pivots}, *const without[5] = {x, lu};
    if (tsr_la_rows(lu) > WHOLE) return solve_large_lu(x, lu, pivots, lower, upper);
    lower.pivoted = turned ? 2 : 1;
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
    return run(TSR_P_QR, &how, 2, (const TsrTensor *[5]){a, tau});
}

TsrStatus tsr_la_q_there(TsrTensor *a, const TsrTensor *tau) {
    const TsrDeviceMatrixWork how = {0};
    return run(TSR_P_Q, &how, 1, (const TsrTensor *[5]){a, tau});
}

TsrStatus tsr_la_reflect_there(TsrTensor *x, const TsrTensor *a, const TsrTensor *tau, bool right, bool adjoint) {
    const TsrDeviceMatrixWork how = {.right = right, .transposed = adjoint};
    return run(TSR_P_REFLECT, &how, 1, (const TsrTensor *[5]){x, a, tau});
}

/* The first `rows` rows become what op(R) takes to them, R the triangle of the factors f. */
static TsrStatus solve_rows(TsrTensor *x, const TsrTensor *f, int64_t rows, bool adjoint) {
    const TsrDeviceMatrixWork how = {.upper = true, .transposed = adjoint, .conjugate = adjoint};
    TsrScope s = {0};
    TsrTensor *top = MAKE(&s, tsr_tensor_new_narrow, x, -2, 0, rows), *y = MAKE(&s, tsr_la_new_copy, top),
              *above = MAKE(&s, tsr_tensor_new_narrow, f, -2, 0, rows), *r = MAKE(&s, tsr_la_new_copy, above);
    if (s.status == TSR_OK) s.status = tsr_la_triangular_there(y, r, how);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(top, y);
    return tsr_scope_end(&s);
}

/* A = Q R: R X = the adjoint of Q times B. Of a matrix that is wider than high the adjoint is taken apart: X = Q Y, the
 * adjoint of R times Y is B. */
TsrStatus tsr_la_lstsq_there(TsrTensor *x, const TsrTensor *a) {
    TsrScope s = {0};
    const bool wide = tsr_la_rows(a) < tsr_la_cols(a);
    TsrTensor *high = wide ? MAKE(&s, tsr_la_new_mt, a, true) : (TsrTensor *)a, *f = MAKE(&s, tsr_la_new_copy, high);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    const int64_t k = tsr_la_cols(f);
    TsrTensor *tau = MAKE(&s, tsr_la_new_vector, f, k, f->dtype);
    if (s.status == TSR_OK) s.status = tsr_la_qr_there(f, tau);
    if (s.status == TSR_OK && wide) s.status = solve_rows(x, f, k, true);
    if (s.status == TSR_OK) s.status = tsr_la_reflect_there(x, f, tau, false, !wide);
    if (s.status == TSR_OK && !wide) s.status = solve_rows(x, f, k, false);
    return tsr_scope_end(&s);
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

/* ---- values and vectors ---- */

TsrStatus tsr_la_finite_there(bool *finite, const TsrTensor *a) {
    TsrScope s = {0};
    TsrTensor *each = CALL(&s, "isfinite", "t", a), *all = CALL(&s, "all", "t", each),
              *here = MAKE(&s, tsr_new_there, all, TSR_DEVICE_CPU);
    if (s.status == TSR_OK) *finite = *(const bool *)tsr_data(here);
    return tsr_scope_end(&s);
}

/* `count` orthonormal columns, of which the first ones are u's; those of u that are 0 are filled in, too. Q of a QR
 * factorization of u is u again but for the signs, which are the diagonal of R. */
static TsrStatus complete_new(TsrTensor **out, const TsrTensor *u, int64_t count) {
    TsrScope s = {0};
    const int64_t n = tsr_la_cols(u);
    TsrTensor *f = MAKE(&s, tsr_la_new_copy, u), *tau = MAKE(&s, tsr_la_new_vector, u, n, u->dtype),
              *q = MAKE(&s, tsr_la_new_like, u, tsr_la_rows(u), count, u->dtype),
              *first = MAKE(&s, tsr_tensor_new_narrow, q, -1, 0, n);
    if (s.status == TSR_OK) s.status = tsr_la_qr_there(f, tau);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(first, f);
    if (s.status == TSR_OK) s.status = tsr_la_q_there(q, tau);
    TsrTensor *diagonal = MAKE(&s, tsr_tensor_new_diagonal, f, 0, -2, -1), *sign = CALL(&s, "sgn", "t", diagonal),
              *none = CALL(&s, "eq", "ts", sign, tsr_scalar_int(0)),
              *factors = CALL(&s, "masked_fill", "tts", sign, none, tsr_scalar_int(1)),
              *row = MAKE(&s, tsr_tensor_new_unsqueeze, factors, -2), *turned = CALL(&s, "mul", "tt", first, row);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(first, turned);
    return tsr_scope_end_new(out, &s, q);
}

/* Of a matrix that is wider than high the conjugate transpose is taken apart, and the sides change places. */
TsrStatus tsr_la_new_svd_there(TsrTensor **u, TsrTensor **sv, TsrTensor **vh, const TsrTensor *a, bool full) {
    TsrScope s = {0};
    const TsrDeviceMatrixWork how = {.vectors = u != NULL};
    const bool wide = tsr_la_rows(a) < tsr_la_cols(a);
    TsrTensor *high = wide ? MAKE(&s, tsr_la_new_mt, a, true) : (TsrTensor *)a, *x = MAKE(&s, tsr_la_new_copy, high);
    if (s.status != TSR_OK) return tsr_scope_end(&s);
    const int64_t m = tsr_la_rows(x), n = tsr_la_cols(x);
    TsrTensor *left = MAKE(&s, tsr_la_new_like, x, m, n, x->dtype), *v = MAKE(&s, tsr_la_new_like, x, n, n, x->dtype),
              *work = MAKE(&s, tsr_la_new_like, x, n, n, x->dtype),
              *values = MAKE(&s, tsr_la_new_vector, x, n, tsr_dtype_real_of(x->dtype));
    if (s.status == TSR_OK) s.status = run(TSR_P_SVD, &how, 3, (const TsrTensor *[5]){left, values, v, x, work});
    if (u != NULL) {
        TsrTensor *whole = MAKE(&s, complete_new, left, full ? m : n),
                  *turned = MAKE(&s, tsr_la_new_mt, wide ? whole : v, true), *right = MAKE(&s, tsr_la_new_copy, turned);
        if (s.status == TSR_OK) *u = tsr_tensor_retain(wide ? v : whole), *vh = tsr_tensor_retain(right);
    }
    if (s.status == TSR_OK) *sv = tsr_tensor_retain(values);
    return tsr_scope_end(&s);
}

TsrStatus tsr_la_new_eigh_there(TsrTensor **w, TsrTensor **v, const TsrTensor *a, bool upper) {
    TsrScope s = {0};
    const TsrDeviceMatrixWork how = {.vectors = v != NULL, .upper = upper};
    const int64_t n = tsr_la_rows(a);
    TsrTensor *x = MAKE(&s, tsr_la_new_copy, a), *vectors = MAKE(&s, tsr_la_new_like, a, n, n, a->dtype),
              *work = MAKE(&s, tsr_la_new_like, a, n, n, a->dtype),
              *values = MAKE(&s, tsr_la_new_vector, a, n, tsr_dtype_real_of(a->dtype));
    if (s.status == TSR_OK) s.status = run(TSR_P_EIGH, &how, 2, (const TsrTensor *[5]){vectors, values, x, work});
    if (s.status == TSR_OK) *w = tsr_tensor_retain(values);
    if (s.status == TSR_OK && v != NULL) *v = tsr_tensor_retain(vectors);
    return tsr_scope_end(&s);
}
