/* Products of matrices of which one at least is sparse. */
#include "core/mem.h"
#include "core/kernels/pointwise/table.h"
#include "core/kernels/move/move.h"
#include "sparse.h"
#include "there.h"
#include "core/op/sparse.h"

#define SELF (c->arg[0].t)

static TsrStatus mm_shapes(const TsrTensor *a, const TsrTensor *b) {
    bool both = tsr_is_sparse(a) && tsr_is_sparse(b);
    if (tsr_is_sparse(a) && tsr_is_coo(a) && a->sparse->sparse_dim != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", a->sparse->sparse_dim);
    if (tsr_ndim(a) != 2 || tsr_ndim(b) != 2) {
        const TsrTensor *odd = tsr_ndim(a) != 2 ? a : b;
        if (tsr_ndim(odd) < 2)
            return tsr_error(TSR_INDEX_ERROR, "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
        return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", tsr_ndim(odd));
    }
    if (tsr_is_sparse(b) && b->sparse->sparse_dim != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "addmm: matrices expected, got %dD tensor", b->sparse->sparse_dim);
    if (a->sizes[1] != b->sizes[0]) {
        if (!both && tsr_is_coo(a))
            return tsr_error(TSR_RUNTIME_ERROR, "addmm: Argument #3 (dense): Expected dim 0 size %lld, got %lld",
                             (long long)a->sizes[1], (long long)b->sizes[0]);
        return tsr_error(TSR_RUNTIME_ERROR, "%s: mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                         both && tsr_is_coo(a) ? "_sparse_sparse_matmul" : "addmm", (long long)a->sizes[0],
                         (long long)a->sizes[1], (long long)b->sizes[0], (long long)b->sizes[1]);
    }
    if (a->dtype == b->dtype) return TSR_OK;
    if (both)
        return tsr_error(TSR_RUNTIME_ERROR, "mat1 dtype %s does not match mat2 dtype %s",
                         tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    return tsr_unexpected_dtype(a->dtype, b->dtype);
}

/* Entries of a sparse matrix that add multiples of rows of a dense one, for some columns of the result. */
typedef struct Multiples {
    TsrDtype dtype;
    int64_t nnz, columns;
    const int64_t *row, *col;
    const char *value, *dense;
    char *out;
    bool fused; /* products and sums */
} Multiples;

static void add_multiples(int64_t begin, int64_t end, void *user) {
    /* Columns at a time: a stripe of the result stays in cache while all multiples are added to it. */
    enum { STRIPE = 512 };
    _Alignas(TSR_LINE) char product[STRIPE * 8];
    const Multiples *m = user;
    int64_t item = (int64_t)tsr_dtype_size(m->dtype), dense[] = {item, item, item}, number[] = {item, item, 0};
    TsrLoop axpy = tsr_kernel(TSR_K_axpy, m->dtype), mul = tsr_kernel(TSR_K_mul, m->dtype),
            add = tsr_kernel(TSR_K_add, m->dtype);
    for (int64_t first = begin; first < end; first += STRIPE) {
        int64_t n = TSR_MIN(end - first, (int64_t)STRIPE);
        for (int64_t i = 0; i < m->nnz && !tsr_interrupted_at(i); i++) {
            char *out = m->out + (m->row[i] * m->columns + first) * item,
                 *from = (char *)(uintptr_t)m->dense + (m->col[i] * m->columns + first) * item;
            char *value = (char *)(uintptr_t)m->value + i * item;
            if (m->fused) {
                axpy((char *[]){out, out, from}, dense, n, value);
            } else {
                mul((char *[]){product, from, value}, number, n, NULL);
                add((char *[]){out, out, product}, dense, n, NULL);
            }
        }
    }
}

/* COO (m, k) times dense (k, n) of floats: each entry adds its multiple of a row. */
static TsrStatus floats_times_dense(TsrTensor **out, TsrTensor *a, TsrTensor *b, bool fused) {
    TsrScope s = {0};
    int64_t shape[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *whole = MAKE(&s, tsr_tensor_new_cast, a->sparse->indices, TSR_INT64),
              *indices = MAKE(&s, tsr_tensor_new_contiguous, whole, TSR_CONTIGUOUS);
    TsrTensor *values = MAKE(&s, tsr_tensor_new_contiguous, a->sparse->values, TSR_CONTIGUOUS),
              *dense = MAKE(&s, tsr_tensor_new_contiguous, b, TSR_CONTIGUOUS);
    TsrTensor *result = MAKE(&s, tsr_zeros_new, 2, shape, a->dtype, a->device);
    if (s.status == TSR_OK && result->numel > 0 && values->numel > 0) {
        const int64_t *at = tsr_data(indices);
        Multiples m = {a->dtype,         values->numel,   shape[1],         at,   at + values->numel,
                       tsr_data(values), tsr_data(dense), tsr_data(result), fused};
        s.status = tsr_parallel_for(shape[1], TSR_MAX(tsr_grain(values->numel / 4), 64), add_multiples, &m);
    }
    return tsr_scope_end_new(out, &s, result);
}

/* The same of any dtype; fused: as PyTorch multiplies COO tensors, but not compressed ones. */
static TsrStatus coo_times_dense(TsrTensor **out, TsrTensor *a, TsrTensor *b, bool fused) {
    TsrScope s = {0};
    int64_t shape[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *flat = MAKE(&s, tsr_sparse_flat_new, a); /* for its check of positions */
    if (flat != NULL && tsr_sparse_has_product_there(a))
        return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_coo_times_there_new, a, b, fused));
    if (flat != NULL && tsr_in(TSR_BIT(FLOAT32) | TSR_BIT(FLOAT64), a->dtype))
        return tsr_scope_end_new(out, &s, MAKE(&s, floats_times_dense, a, b, fused));
    TsrTensor *rows = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, (int64_t)0, (int64_t)0),
              *cols = MAKE(&s, tsr_tensor_new_select, a->sparse->indices, (int64_t)0, (int64_t)1);
    TsrTensor *picked = CALL(&s, "index_select", "tit", b, (int64_t)0, cols);
    TsrTensor *column = MAKE(&s, tsr_tensor_new_unsqueeze, a->sparse->values, (int64_t)1);
    TsrTensor *product = CALL(&s, "mul", "tt", picked, column);
    TsrTensor *zeros = MAKE(&s, tsr_zeros_new, 2, shape, a->dtype, a->device);
    return tsr_scope_end_new(out, &s, tsr_sparse_add_at(&s, zeros, rows, product));
}

/* Every pair (entry of a, entry of b in the row that a's column names): pairs (2, n), indices (2, n). */
static TsrStatus pair_entries(TsrTensor **out, TsrTensor **indices, TsrEntries a, TsrEntries b, int64_t depth) {
    const int64_t *row_of_b = b.at, *column_of_a = a.at + a.n;
    int64_t *start = NULL, total = 0, room;
    if (tsr_add_overflows(depth, 1, &room) || (start = tsr_calloc((size_t)room, sizeof *start)) == NULL)
        return tsr_error_no_memory(SIZE_MAX);
    TSR_IN_PIECES(k, b.n) start[row_of_b[k] + 1]++;
    TSR_IN_PIECES(r, depth) start[r + 1] += start[r];
    TSR_IN_PIECES(i, a.n) total += start[column_of_a[i] + 1] - start[column_of_a[i]];
    int64_t shape[2] = {2, total};
    TsrStatus status = tsr_interrupt_check();
    if (status == TSR_OK) status = tsr_tensor_new(out, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) {
        status = tsr_tensor_new(indices, 2, shape, TSR_INT64, TSR_DEVICE_CPU);
        if (status != TSR_OK) tsr_tensor_reset(out);
    }
    if (status == TSR_OK) {
        int64_t *p = tsr_data(*out), *x = tsr_data(*indices), n = 0;
        for (int64_t i = 0; i < a.n; i++)
            for (int64_t k = start[column_of_a[i]]; k < start[column_of_a[i] + 1]; k++, n++) {
                p[n] = i;
                p[total + n] = k;
                x[n] = a.at[i];
                x[total + n] = b.at[b.n + k];
            }
    }
    tsr_free(start);
    return status;
}

/* Of each pair the row of the first and the column of the second. */
static TsrStatus pair_indices_there_new(TsrTensor **out, TsrTensor *pairs, TsrTensor *ia, TsrTensor *ib) {
    TsrScope s = {0};
    TsrTensor *pa = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)0),
              *pb = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)1),
              *row = MAKE(&s, tsr_tensor_new_select, ia, (int64_t)0, (int64_t)0),
              *column = MAKE(&s, tsr_tensor_new_select, ib, (int64_t)0, (int64_t)1);
    TsrTensor *lines[2] = {CALL(&s, "index_select", "tit", row, (int64_t)0, pa),
                           CALL(&s, "index_select", "tit", column, (int64_t)0, pb)};
    return tsr_scope_end_new(out, &s, CALL(&s, "stack", "T", 2, lines));
}

/* pair_entries of the indices of two matrices, wherever they lie. */
static TsrStatus pairs_new(TsrTensor **out, TsrTensor **indices, TsrTensor *a, TsrTensor *b, int64_t depth) {
    if (!tsr_on_device(a))
        return pair_entries(out, indices, (TsrEntries){tsr_data(a), a->sizes[1]},
                            (TsrEntries){tsr_data(b), b->sizes[1]}, depth);
    TSR_TRY(tsr_sparse_pairs_there_new(out, a, b, depth));
    TsrStatus status = pair_indices_there_new(indices, *out, a, b);
    if (status != TSR_OK) tsr_tensor_reset(out);
    return status;
}

static TsrStatus coo_times_coo(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    TsrScope s = {0};
    int64_t sizes[2] = {a->sizes[0], b->sizes[1]};
    TsrTensor *x = MAKE(&s, tsr_sparse_coalesce_new, a), *y = MAKE(&s, tsr_sparse_coalesce_new, b), *indices = NULL;
    TsrTensor *checked = MAKE(&s, tsr_sparse_flat_new, x);
    checked = MAKE(&s, tsr_sparse_flat_new, y);
    (void)checked;
    TsrTensor *ia = s.status == TSR_OK ? MAKE(&s, tsr_dense_new, x->sparse->indices, TSR_INT64) : NULL,
              *ib = s.status == TSR_OK ? MAKE(&s, tsr_dense_new, y->sparse->indices, TSR_INT64) : NULL;
    TsrTensor *pairs = s.status == TSR_OK ? MAKE(&s, pairs_new, &indices, ia, ib, y->sizes[0]) : NULL;
    TsrTensor *pa = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)0),
              *pb = MAKE(&s, tsr_tensor_new_select, pairs, (int64_t)0, (int64_t)1);
    TsrTensor *va = s.status == TSR_OK ? CALL(&s, "index_select", "tit", x->sparse->values, (int64_t)0, pa) : NULL;
    TsrTensor *vb = s.status == TSR_OK ? CALL(&s, "index_select", "tit", y->sparse->values, (int64_t)0, pb) : NULL;
    TsrTensor *values = CALL(&s, "mul", "tt", va, vb);
    TsrTensor *loose = MAKE(&s, tsr_sparse_new, 2, sizes, tsr_coo_parts(indices, values, false));
    tsr_tensor_free(indices);
    return tsr_scope_end_new(out, &s, MAKE(&s, tsr_sparse_coalesce_new, loose));
}

/* CSR times dense on a device, whose kernel reads rows as they lie. */
static TsrStatus csr_times_dense(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    TsrScope s = {0};
    TsrTensor *counts = MAKE(&s, tsr_compressed_counts_new, a),
              *columns = MAKE(&s, tsr_dense_new, a->sparse->plain_indices, TSR_INT64);
    return tsr_scope_end_new(out, &s,
                             MAKE(&s, tsr_sparse_times_there_new, counts, columns, a->sparse->values, b, false));
}

static TsrStatus mm_new(TsrTensor **out, TsrTensor *a, TsrTensor *b) {
    if (!tsr_is_sparse(a) && !tsr_is_sparse(b)) return tsr_invoke_new(out, 1, "mm", "tt", a, b);
    TSR_TRY(mm_shapes(a, b));
    if (a->layout == TSR_SPARSE_CSR && !tsr_is_sparse(b) && tsr_sparse_has_product_there(a))
        return csr_times_dense(out, a, b);
    TsrScope s = {0};
    TsrTensor *x = tsr_is_sparse(a) ? MAKE(&s, tsr_sparse_to_coo_new, a) : a,
              *y = tsr_is_sparse(b) ? MAKE(&s, tsr_sparse_to_coo_new, b) : b, *result;
    if (s.status == TSR_OK && tsr_is_sparse(a) && tsr_is_sparse(b)) {
        result = tsr_sparse_as_layout(&s, MAKE(&s, coo_times_coo, x, y), a);
    } else if (tsr_is_sparse(a)) {
        result = MAKE(&s, coo_times_dense, x, y, tsr_is_coo(a));
    } else {
        TsrTensor *yt = MAKE(&s, tsr_sparse_transpose_new, y, (int64_t)0, (int64_t)1),
                  *xt = MAKE(&s, tsr_tensor_new_transpose, x, (int64_t)0, (int64_t)1);
        TsrTensor *product = MAKE(&s, coo_times_dense, yt, xt, tsr_is_coo(b)),
                  *turned = MAKE(&s, tsr_tensor_new_transpose, product, (int64_t)0, (int64_t)1);
        result = MAKE(&s, tsr_tensor_new_contiguous, turned, TSR_CONTIGUOUS);
    }
    return tsr_scope_end_new(out, &s, result);
}

TsrStatus sp_mm(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, mm_new(&result, SELF, c->arg[1].t), result);
}

TsrStatus op_sparse_mm(TsrOpCall *c) { return sp_mm(c); }

TsrStatus sp_mv(TsrOpCall *c) {
    TsrTensor *vector = c->arg[1].t;
    if (tsr_ndim(SELF) != 2 || tsr_ndim(vector) != 1 || tsr_is_sparse(vector))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: %d Tensor Dim: %d",
                         tsr_ndim(SELF), tsr_ndim(vector));
    if (SELF->sizes[1] != vector->sizes[0])
        return tsr_error(TSR_RUNTIME_ERROR, "mv: expected self.size(-1) == vec.size(-1)");
    TsrScope s = {0};
    TsrTensor *column = MAKE(&s, tsr_tensor_new_unsqueeze, vector, (int64_t)1),
              *product = MAKE(&s, mm_new, SELF, column);
    return tsr_scope_return(c, &s, MAKE(&s, tsr_tensor_new_select, product, (int64_t)1, (int64_t)0));
}

static TsrStatus product(TsrOpCall *c, const char *name) {
    TsrTensor *other = c->arg[1].t;
    if (tsr_ndim(SELF) == 2 && tsr_ndim(other) == 1) return sp_mv(c);
    if (tsr_ndim(SELF) == 2 && tsr_ndim(other) == 2) return sp_mm(c);
    if (tsr_ndim(SELF) != 3 || tsr_ndim(other) != 3)
        return tsr_refuse_backend(name, tsr_is_sparse(SELF) ? SELF : other);
    TsrScope s = {0};
    TsrTensor *a = MAKE(&s, tsr_sparse_to_dense_new, SELF), *b = MAKE(&s, tsr_sparse_to_dense_new, other);
    return tsr_scope_return(c, &s, CALL(&s, "bmm", "tt", a, b));
}

TsrStatus sp_matmul(TsrOpCall *c) { return product(c, "matmul"); }
TsrStatus sp_bmm(TsrOpCall *c) { return product(c, "bmm"); }

TsrStatus sp_rmatmul(TsrOpCall *c) {
    TsrTensor *result = NULL;
    return tsr_finish_move(c, tsr_invoke_new(&result, 1, "matmul", "tt", c->arg[1].t, SELF), result);
}

TsrStatus sp_addmm(TsrOpCall *c) {
    TsrTensor *a = c->arg[1].t, *b = c->arg[2].t;
    if (tsr_is_sparse(SELF) || (tsr_is_coo(a) && tsr_is_sparse(b)))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "addmm_sparse_dense: expected either 'mat1' to have sparse layout and 'mat2' to have strided layout, got "
            "'mat1' with layout %s and 'mat2' with layout %s",
            tsr_layout_name(a->layout), tsr_layout_name(b->layout));
    TsrScope s = {0};
    TsrTensor *product = MAKE(&s, mm_new, a, b);
    TsrTensor *scaled = CALL(&s, "mul", "ts", product, c->arg[4].s), *start = CALL(&s, "mul", "ts", SELF, c->arg[3].s);
    return tsr_scope_return(c, &s, CALL(&s, "add", "tt", start, scaled));
}

TsrStatus op_sparse_addmm(TsrOpCall *c) {
    if (tsr_is_sparse(SELF) || tsr_is_sparse(c->arg[1].t) || tsr_is_sparse(c->arg[2].t)) return sp_addmm(c);
    TsrTensor *t = NULL;
    return tsr_finish_move(
        c, tsr_invoke_new(&t, 1, "addmm", "tttss", SELF, c->arg[1].t, c->arg[2].t, c->arg[3].s, c->arg[4].s), t);
}
