/* What check_invariants=True asks of a sparse tensor: that its parts fit each other and its positions lie inside, in
 * order. */
#include "core/engine/places.h"
#include "core/tensor/owned.h"
#include "sparse.h"

/* How the errors of a compressed layout call its parts. */
typedef struct Names {
    const char *compressed, *plain, *lines, *line_word, *others;
} Names;

static bool by_rows(const TsrTensor *t) { return t->layout == TSR_SPARSE_CSR || t->layout == TSR_SPARSE_BSR; }
static int block_dims(const TsrTensor *t) { return t->layout == TSR_SPARSE_BSR || t->layout == TSR_SPARSE_BSC ? 2 : 0; }

static Names names_of(const TsrTensor *t) {
    if (by_rows(t)) return (Names){"crow_indices", "col_indices", "nrows", "rows", "ncols"};
    return (Names){"ccol_indices", "row_indices", "ncols", "columns", "nrows"};
}

/* Index numbers in row-major order, on the host. */
static TsrStatus numbers_new(TsrTensor **out, TsrTensor *indices) {
    TSR_OWNED there = NULL;
    TSR_TRY(tsr_dense_new(&there, indices, TSR_INT64));
    return tsr_new_there(out, there, TSR_DEVICE_CPU);
}

/* ---- COO ---- */

static TsrStatus check_positions(const TsrTensor *t, const int64_t *p, int64_t nnz) {
    for (int64_t d = 0; d < t->sparse->indices->sizes[0]; d++, p += nnz) {
        int64_t low = 0, high = -1;
        TSR_IN_PIECES(i, nnz) {
            low = TSR_MIN(low, p[i]);
            high = TSR_MAX(high, p[i]);
        }
        if (low < 0)
            return tsr_error(TSR_RUNTIME_ERROR, "found negative index %lld for dim %lld", (long long)low, (long long)d);
        if (high >= t->sizes[d])
            return tsr_error(TSR_RUNTIME_ERROR,
                             "size is inconsistent with indices: for dim %lld, size is %lld but found index %lld",
                             (long long)d, (long long)t->sizes[d], (long long)high);
    }
    return TSR_OK;
}

/* Whether column i of the positions comes after column i - 1. */
static bool comes_after(const int64_t *p, int64_t dims, int64_t nnz, int64_t i) {
    for (int64_t d = 0; d < dims; d++)
        if (p[d * nnz + i] != p[d * nnz + i - 1]) return p[d * nnz + i] > p[d * nnz + i - 1];
    return false;
}

static TsrStatus check_coo(const TsrTensor *t) {
    TsrTensor *indices;
    TSR_TRY(numbers_new(&indices, t->sparse->indices));
    const int64_t *p = tsr_data(indices);
    int64_t nnz = indices->sizes[1];
    TsrStatus status = check_positions(t, p, nnz);
    for (int64_t i = 1; i < nnz && status == TSR_OK && (t->flags & TSR_FLAG_COALESCED) != 0 && !tsr_interrupted_at(i);
         i++)
        if (!comes_after(p, indices->sizes[0], nnz, i))
            status = tsr_error(TSR_RUNTIME_ERROR,
                               "cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor");
    tsr_tensor_free(indices);
    return status != TSR_OK ? status : tsr_interrupt_check();
}

/* ---- compressed layouts ---- */

static TsrStatus check_shapes(const TsrTensor *t, const Names *names, int batch, int blocks) {
    const TsrSparse *sp = t->sparse;
    int dense = tsr_ndim(sp->values) - batch - blocks - 1, at = by_rows(t) ? batch : batch + 1;
    if (dense < 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "values must have dimensionality > sum of batch and block dimensionalities (=%d + %d) but got %d", batch,
            blocks, tsr_ndim(sp->values));
    if (tsr_ndim(t) != batch + 2 + dense)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "tensor dimensionality must be sum of batch, base, and dense dimensionalities (=%d + 2 + %d) but got %d",
            batch, dense, tsr_ndim(t));
    for (int d = 0; d < blocks; d++) {
        int64_t size = t->sizes[batch + d], block = sp->values->sizes[batch + 1 + d];
        if (block <= 0 || size % block != 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "tensor shape[%d] (=%lld) must be divisible with blocksize[%d] (=%lld) as defined by values shape",
                batch + d, (long long)size, d, (long long)block);
    }
    int64_t lines = blocks > 0 ? t->sizes[at] / sp->values->sizes[batch + 1 + (at - batch)] : t->sizes[at];
    int64_t counts = sp->indices->sizes[batch], entries = sp->plain_indices->sizes[batch],
            nnz = sp->values->sizes[batch];
    if (counts != lines + 1)
        return tsr_error(TSR_RUNTIME_ERROR, "%s.shape[-1] must be equal to the number of %s + 1 (=%lld), but got %lld",
                         names->compressed, names->line_word, (long long)(lines + 1), (long long)counts);
    if (entries != nnz)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "%s.shape[-1] must be equal to nnz (=%lld) as defined by values.shape[%d], but got %lld",
                         names->plain, (long long)nnz, batch, (long long)entries);
    return TSR_OK;
}

static TsrStatus check_index_types(const TsrSparse *sp, const Names *names) {
    TsrDtype a = sp->indices->dtype, b = sp->plain_indices->dtype;
    if (a != b)
        return tsr_error(TSR_RUNTIME_ERROR, "%s and %s must have the same dtype, bot got %s and %s, respectively",
                         names->compressed, names->plain, tsr_dtype_scalar_name(a), tsr_dtype_scalar_name(b));
    if (a != TSR_INT32 && a != TSR_INT64)
        return tsr_error(TSR_RUNTIME_ERROR, "%s and %s dtype must be Int or Long, but got %s", names->compressed,
                         names->plain, tsr_dtype_scalar_name(a));
    return TSR_OK;
}

/* One batch: `counts` has lines + 1 numbers, `plain` nnz of them, each to lie below `others`. */
static TsrStatus check_lines(const Names *names, const int64_t *counts, int64_t lines, const int64_t *plain,
                             int64_t nnz, int64_t others) {
    const char *c = names->compressed, *p = names->plain;
    TSR_IN_PIECES(i, nnz)
    if (plain[i] < 0 || plain[i] >= others)
        return tsr_error(TSR_RUNTIME_ERROR, "`0 <= %s < %s` is not satisfied.", p, names->others);
    if (counts[0] != 0) return tsr_error(TSR_RUNTIME_ERROR, "`%s[..., 0] == 0` is not satisfied.", c);
    if (counts[lines] != nnz) return tsr_error(TSR_RUNTIME_ERROR, "`%s[..., -1] == nnz` is not satisfied.", c);
    TSR_IN_PIECES(i, lines)
    if (counts[i] > counts[i + 1] || counts[i + 1] - counts[i] > others)
        return tsr_error(TSR_RUNTIME_ERROR, "`0 <= %s[..., 1:] - %s[..., :-1] <= %s` is not satisfied.", c, c,
                         names->others);
    TSR_TRY(tsr_interrupt_check()); /* below, the counts are used */
    for (int64_t i = 0; i < lines && !tsr_interrupted_at(i); i++)
        for (int64_t k = counts[i] + 1; k < counts[i + 1]; k++)
            if (plain[k] <= plain[k - 1])
                return tsr_error(
                    TSR_RUNTIME_ERROR,
                    "`%s[..., %s[..., i - 1]:%s[..., i]] for all i = 1, ..., %s are sorted and distinct along the "
                    "last dimension values` is not satisfied.",
                    p, c, c, names->lines);
    return tsr_interrupt_check();
}

static TsrStatus check_compressed(const TsrTensor *t) {
    const TsrSparse *sp = t->sparse;
    Names names = names_of(t);
    int batch = tsr_ndim(sp->indices) - 1, blocks = block_dims(t);
    TSR_TRY(check_shapes(t, &names, batch, blocks));
    TSR_TRY(check_index_types(sp, &names));
    int other = by_rows(t) ? 1 : 0;
    int64_t others = t->sizes[batch + other] / (blocks > 0 ? sp->values->sizes[batch + 1 + other] : 1);
    int64_t lines = sp->indices->sizes[batch] - 1, nnz = sp->plain_indices->sizes[batch];
    TsrTensor *counts, *plain;
    TSR_TRY(numbers_new(&counts, sp->indices));
    TsrStatus status = numbers_new(&plain, sp->plain_indices);
    if (status == TSR_OK) {
        int64_t batches = counts->numel / (lines + 1);
        const int64_t *c = tsr_data(counts), *p = tsr_data(plain);
        for (int64_t b = 0; b < batches && status == TSR_OK; b++)
            status = check_lines(&names, c + b * (lines + 1), lines, p + b * nnz, nnz, others);
        tsr_tensor_free(plain);
    }
    tsr_tensor_free(counts);
    return status;
}

TsrStatus tsr_sparse_check(const TsrTensor *t) {
    if (tsr_is_meta(t)) return TSR_OK;
    return t->layout == TSR_SPARSE_COO ? check_coo(t) : check_compressed(t);
}
