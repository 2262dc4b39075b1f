/* matmul.c: products of vectors, matrices and batches of matrices: what PyTorch refuses, the results' sizes, and the
 * ways of torch.matmul; gemm.c computes.
 *
 * matmul_into is the engine: operands of one rank and dtype, (batch..., m, k) and (batch..., k, n), whose strides may
 * be 0 where a batch is expanded. Large matrices go one after the other, each on all threads; many small ones are
 * spread over the pool; many small ones of half floats are widened all at once. Above it torch.matmul is PyTorch's
 * cases: a dot product, a matrix and a vector, leading dimensions folded into one (folds), else expanded batches. addmm
 * and its kin put the summand into the result first and let the product add to it, where the dtype's rounding allows.
 */
#include <string.h>

#include "matmul.h"
#include "core/engine/device.h"
#include "core/engine/gemm_pairs.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/op/out.h"
#include "core/tensor/loan.h"
#include "summand.h"

static const TsrScalar one = {.kind = TSR_SCALAR_INT, .i = 1};
static const TsrScalar zero = {.kind = TSR_SCALAR_INT, .i = 0};

/* ---- the engine ---- */

static TsrMat mat_of(const TsrTensor *t) {
    int d = tsr_ndim(t);
    return (TsrMat){tsr_data(t),       t->sizes[d - 2],   t->sizes[d - 1],
                    t->strides[d - 2], t->strides[d - 1], (t->flags & TSR_FLAG_CONJ) != 0};
}

typedef struct BatchJob {
    const TsrTensor *out, *a, *b;
    TsrScalar alpha, beta;
} BatchJob;

static int64_t batch_offset(const TsrTensor *t, int64_t index, const int64_t *sizes) {
    int64_t offset = 0;
    if (tsr_ndim(t) == 3) return index * t->strides[0] * (int64_t)tsr_itemsize(t);
    for (int d = tsr_ndim(t) - 3; d >= 0; d--) {
        offset += index % sizes[d] * t->strides[d];
        index /= sizes[d];
    }
    return offset * (int64_t)tsr_itemsize(t);
}

/* The i-th product of the batch. */
static TsrGemm product_at(const BatchJob *job, const TsrGemm *first, int64_t i) {
    const int64_t *sizes = job->out->sizes;
    TsrGemm g = *first;
    g.a.data = (char *)g.a.data + batch_offset(job->a, i, sizes);
    g.b.data = (char *)g.b.data + batch_offset(job->b, i, sizes);
    g.c.data = (char *)g.c.data + batch_offset(job->out, i, sizes);
    return g;
}

static TsrStatus run_batch(const BatchJob *job, const TsrGemm *first, bool is_short, int64_t i) {
    const TsrGemm g = product_at(job, first, i);
    return (is_short ? tsr_gemm_short : tsr_gemm)(&g);
}

static TsrStatus run_short(const BatchJob *job, const TsrGemm *first, int64_t begin, int64_t end) {
    const TsrGemm g = product_at(job, first, begin);
    return tsr_gemm_short_each(&g, (TsrGemmSteps){job->a->strides[0], job->b->strides[0], job->out->strides[0]},
                               end - begin);
}

static TsrStatus run_range(const BatchJob *job, int64_t begin, int64_t end) {
    TsrStatus status = TSR_OK;
    TsrGemm first = {job->out->dtype, mat_of(job->a), mat_of(job->b), mat_of(job->out), job->alpha, job->beta};
    int64_t m = first.c.rows, n = first.c.cols, k = first.a.cols;
    bool is_short = tsr_ndim(job->out) > 2 && m < TSR_GEMM_SHORT && n < TSR_GEMM_SHORT && k < TSR_GEMM_SHORT &&
                    m * n * k < TSR_GEMM_SHORT;
    if (is_short && tsr_ndim(job->out) == 3) return run_short(job, &first, begin, end);
    for (int64_t i = begin; i < end && status == TSR_OK && tsr_interrupt_flag == 0; i++)
        status = run_batch(job, &first, is_short, i);
    return status;
}

static void run_batches(int64_t begin, int64_t end, void *user) {
    TsrStatus status = run_range(user, begin, end);
    if (status != TSR_OK) tsr_parallel_fail(status);
}

static TsrStatus matmul_into(TsrTensor *out, const TsrTensor *a, const TsrTensor *b, TsrScalar alpha, TsrScalar beta);

/* ---- on a device ---- */

/* Whether dimension d of the batch goes on where d + 1 ends, so that both are one. */
static bool goes_on(const TsrTensor *t, int d) { return t->strides[d] == t->strides[d + 1] * t->sizes[d + 1]; }

/* The products of `first` and those at the places of the batch's dimensions from `d` on: what lies in one row of equal
 * steps is one piece of work. */
static TsrStatus batches_there(const BatchJob *job, const TsrGemm *first, int d) {
    const TsrTensor *t[3] = {job->a, job->b, job->out};
    int64_t step[3] = {0, 0, 0}, batch = 1;
    TsrGemm g = *first;
    int last = tsr_ndim(job->out) - 3, whole = last;
    while (whole > d && goes_on(t[0], whole - 1) && goes_on(t[1], whole - 1) && goes_on(t[2], whole - 1)) whole--;
    for (int k = 0; k < 3 && last >= d; k++)
        step[k] = t[k]->strides[whole <= d ? last : d] * (int64_t)tsr_itemsize(t[k]);
    if (whole <= d) {
        for (int i = d; i <= last; i++) batch *= job->out->sizes[i];
        return tsr_device_gemm(job->out->device, &g, batch, step);
    }
    for (int64_t i = 0; i < job->out->sizes[d]; i++) {
        TSR_TRY(batches_there(job, &g, d + 1));
        g.a.data = (char *)g.a.data + step[0];
        g.b.data = (char *)g.b.data + step[1];
        g.c.data = (char *)g.c.data + step[2];
    }
    return TSR_OK;
}

/* tsr_gemm, wherever `out` lies, whose memory the product goes to. */
static TsrStatus multiply(const TsrTensor *out, const TsrGemm *g) {
    return tsr_on_device(out) ? tsr_device_gemm(out->device, g, 1, (int64_t[3]){0, 0, 0}) : tsr_gemm(g);
}

/* ---- on the host ---- */

/* Many small products in half precision: all are widened at once, and rounded at once. */
static TsrStatus half_matmul_into(TsrTensor *out, const TsrTensor *a, const TsrTensor *b, TsrScalar alpha,
                                  TsrScalar beta) {
    TSR_OWNED wide_a = NULL;
    TSR_OWNED wide_b = NULL;
    TSR_OWNED wide_out = NULL;
    TSR_TRY(tsr_tensor_new_cast(&wide_a, a, TSR_FLOAT32));
    TSR_TRY(tsr_tensor_new_cast(&wide_b, b, TSR_FLOAT32));
    if (tsr_scalar_to_double(beta) != 0) TSR_TRY(tsr_tensor_new_cast(&wide_out, out, TSR_FLOAT32));
    else TSR_TRY(tsr_tensor_new(&wide_out, tsr_ndim(out), out->sizes, TSR_FLOAT32, out->device));
    TSR_TRY(matmul_into(wide_out, wide_a, wide_b, alpha, beta));
    return tsr_tensor_copy(out, wide_out);
}

/* Multiplications of a matrix up to which the matrices of a batch are spread over the threads; larger ones go one after
 * the other, each on all threads. torch.bmm(a, a) of 32 float matrices, two threads, least of 60 calls in build/tsr by
 * time.perf_counter() (AMD EPYC, Zen 3): 40 by 40 in 101 us spread and 110 in turn, 128 by 128 in 2460 and 2040. */
enum { SMALL_PRODUCT = 1 << 16 };

/* out = beta * out + alpha * a @ b for (batch..., m, n), (batch..., m, k), (batch..., k, n) of the same rank, dtype and
 * batch sizes (strides may be 0 in a and b). One matrix after another, each with BLAS's own threads, when they are
 * large; else spread over the pool. */
static TsrStatus matmul_into(TsrTensor *out, const TsrTensor *a, const TsrTensor *b, TsrScalar alpha, TsrScalar beta) {
    int d = tsr_ndim(out);
    if (out->numel == 0) return TSR_OK;
    if (!tsr_gemm_supports(out->dtype) && !tsr_dtype_is_float8(out->dtype))
        return tsr_gemm(&(TsrGemm){.dtype = out->dtype}); /* says so */
    const TsrGemm each = {out->dtype, mat_of(a), mat_of(b), mat_of(out), alpha, beta};
    BatchJob job = {.out = out, .a = a, .b = b, .alpha = alpha, .beta = beta};
    if (tsr_on_device(out)) return batches_there(&job, &each, 0);
    int64_t batches = out->numel / (out->sizes[d - 2] * out->sizes[d - 1]);
    double work = (double)out->sizes[d - 2] * (double)out->sizes[d - 1] * (double)a->sizes[d - 1];
    if (batches > 1 && work <= SMALL_PRODUCT && !is_zero(alpha) &&
        (out->dtype == TSR_FLOAT16 || out->dtype == TSR_BFLOAT16) && !tsr_gemm_by_pairs(&each))
        return half_matmul_into(out, a, b, alpha, beta);
    double products = tsr_dtype_is_complex(out->dtype) ? 4 * work : work; /* of real numbers */
    if (products * (double)batches < TSR_CHUNK_PRODUCTS) {
        TSR_TRY(run_range(&job, 0, batches));
        return tsr_interrupt_check();
    }
    if (batches == 1 || work > 2e7) {
        for (int64_t i = 0; i < batches; i++) {
            TSR_TRY(run_range(&job, i, i + 1));
            TSR_TRY(tsr_interrupt_check());
        }
        return TSR_OK;
    }
    int64_t grain = (int64_t)(2 * TSR_CHUNK_PRODUCTS / (products + 1)) + 1;
    return tsr_parallel_for(batches, grain, run_batches, &job);
}

/* ---- shape rules ---- */

static TsrStatus same_dtype_mm(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype == b->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "expected m1 and m2 to have the same dtype, but got: %s != %s",
                     tsr_dtype_c_name(a->dtype), tsr_dtype_c_name(b->dtype));
}

static TsrStatus check_mm(const char *op, const TsrTensor *a, const TsrTensor *b) {
    if (tsr_ndim(a) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: self must be a matrix, got %d-D tensor", op, tsr_ndim(a));
    if (tsr_ndim(b) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "%s: mat2 must be a matrix, got %d-D tensor", op, tsr_ndim(b));
    if (a->sizes[1] == b->sizes[0]) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)", op,
                     (long long)a->sizes[0], (long long)a->sizes[1], (long long)b->sizes[0], (long long)b->sizes[1]);
}

static TsrStatus unsupported(const TsrTensor *t, const char *what) {
    if (tsr_gemm_supports(t->dtype) || tsr_is_meta(t) ||
        (tsr_dtype_is_float8(t->dtype) && t->dtype != TSR_FLOAT8_E8M0FNU && strcmp(what, "addmm_impl_cpu_") == 0))
        return TSR_OK;
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", what,
                     tsr_dtype_scalar_name(t->dtype));
}

/* Products with nothing in them are zeros of any dtype. */
static bool is_nothing(const TsrTensor *a, const TsrTensor *b) { return a->numel == 0 || b->numel == 0; }

static bool is_small(int64_t m, int64_t k, int64_t n) { return (double)m * (double)k * (double)n < 400; }

/* The kernel that PyTorch would have asked: its own loops for small products, one gemm a matrix for the others. */
static const char *batch_kernel(const char *small, TsrDtype dtype, int64_t m, int64_t k, int64_t n) {
    if (is_small(m, k, n)) return small;
    return tsr_dtype_is_float8(dtype) || dtype == TSR_COMPLEX32 ? "baddbmm_with_gemm" : "addmm_impl_cpu_";
}

static TsrStatus mm_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    TSR_TRY(check_mm("mm", a, b));
    TSR_TRY(same_dtype_mm(a, b));
    bool nothing = is_nothing(a, b);
    if (!nothing) TSR_TRY(unsupported(a, "addmm_impl_cpu_"));
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 2, (int64_t[]){a->sizes[0], b->sizes[1]}, a->dtype, a->device));
    if (nothing && !tsr_is_meta(r)) TSR_TRY(tsr_tensor_fill(r, zero));
    else if (!tsr_is_meta(r)) TSR_TRY(multiply(r, &(TsrGemm){r->dtype, mat_of(a), mat_of(b), mat_of(r), one, zero}));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus same_dtype_mv(const TsrTensor *mat, const TsrTensor *vec, TsrDtype self) {
    if (mat->dtype == vec->dtype && mat->dtype == self) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "addmv input tensors must have the same dtype, but got %s, %s, and %s",
                     tsr_dtype_scalar_name(self), tsr_dtype_scalar_name(mat->dtype), tsr_dtype_scalar_name(vec->dtype));
}

static TsrStatus check_mv(const TsrTensor *mat, const TsrTensor *vec, int self_ndim, int64_t self_numel,
                          TsrDtype self_dtype) {
    if (tsr_ndim(mat) != 2 || tsr_ndim(vec) != 1 || self_ndim > 1)
        return tsr_error(TSR_RUNTIME_ERROR, "vector + matrix @ vector expected, got %d, %d, %d", self_ndim,
                         tsr_ndim(mat), tsr_ndim(vec));
    bool fits = mat->sizes[1] == vec->sizes[0] && (mat->sizes[0] == self_numel || self_numel == 1);
    if (!fits && self_ndim == 0) return tsr_wrap_own_dim(&(int64_t){0}, 0); /* the words for it ask for its size */
    if (!fits)
        return tsr_error(TSR_RUNTIME_ERROR, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
                         (long long)self_numel, (long long)mat->sizes[0], (long long)mat->sizes[1],
                         (long long)vec->sizes[0]);
    return same_dtype_mv(mat, vec, self_dtype);
}

static TsrStatus check_mv_kernel(const TsrTensor *mat) {
    return mat->numel == 0 ? TSR_OK : unsupported(mat, "addmv_impl_cpu");
}

static TsrMat column_of(const TsrTensor *v) {
    return (TsrMat){tsr_data(v), v->sizes[0], 1, v->strides[0], 1, (v->flags & TSR_FLAG_CONJ) != 0};
}

/* A matrix times a vector. PyTorch has no library for complex64 there, but a loop: ours has its digits, and is taken up
 * to a size above which BLAS is sooner done. */
static TsrStatus multiply_vector(const TsrTensor *out, const TsrGemm *g) {
    enum { OWN_LOOP = 8192 };
    bool own = g->dtype == TSR_COMPLEX64 && g->a.rows * g->a.cols <= OWN_LOOP && !tsr_on_device(out);
    return own ? tsr_gemm_short(g) : multiply(out, g);
}

static TsrStatus mv_new(TsrTensor **out, const TsrTensor *mat, const TsrTensor *vec) {
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){0}, tsr_ndim(mat)));
    TSR_TRY(check_mv(mat, vec, 1, tsr_ndim(mat) > 0 ? mat->sizes[0] : 1, vec->dtype));
    TSR_TRY(check_mv_kernel(mat));
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 1, mat->sizes, mat->dtype, mat->device));
    if (mat->numel == 0 && !tsr_is_meta(r)) TSR_TRY(tsr_tensor_fill(r, zero));
    else if (!tsr_is_meta(r))
        TSR_TRY(multiply_vector(r, &(TsrGemm){r->dtype, mat_of(mat), column_of(vec), column_of(r), one, zero}));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* A product of vectors by a kernel that conjugates its first one (vdot) or none: as PyTorch has it, the conjugates that
 * the vectors are say which kernel it is, in which order it takes them, and whether its result is conjugated. */
typedef struct Dot {
    const TsrTensor *x, *y;
    bool vdot, conj;
} Dot;

static Dot dot_of(const TsrTensor *x, const TsrTensor *y, bool vdot) {
    bool cx = (x->flags & TSR_FLAG_CONJ) != 0, cy = (y->flags & TSR_FLAG_CONJ) != 0;
    if (!tsr_dtype_is_complex(x->dtype)) return (Dot){x, y, false, false};
    if (cx && cy) return vdot ? (Dot){y, x, true, false} : (Dot){x, y, false, true};
    if (cx) return (Dot){x, y, !vdot, false};
    if (cy) return vdot ? (Dot){x, y, false, true} : (Dot){y, x, true, false};
    return (Dot){x, y, vdot, false};
}

static TsrStatus dot_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b, bool conj_a) {
    Dot dot = dot_of(a, b, conj_a);
    const TsrTensor *x = dot.x, *y = dot.y;
    if (tsr_ndim(x) != 1 || tsr_ndim(y) != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "1D tensors expected, but got %dD and %dD tensors", tsr_ndim(x),
                         tsr_ndim(y));
    if (x->dtype != y->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "dot : expected both vectors to have same dtype, but found %s and %s",
                         tsr_dtype_scalar_name(x->dtype), tsr_dtype_scalar_name(y->dtype));
    if (x->numel != y->numel)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of elements, "
            "but got %lld and %lld elements respectively",
            (long long)x->numel, (long long)y->numel, (long long)x->numel, (long long)y->numel);
    TSR_TRY(unsupported(x, dot.vdot ? "vdot" : "dot"));
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 0, NULL, x->dtype, x->device));
    if (tsr_on_device(r)) {
        TsrMat row = {tsr_data(x), 1, x->numel, 0, x->strides[0], dot.vdot};
        TsrMat column = {tsr_data(y), y->sizes[0], 1, y->strides[0], 1, false},
               one_element = {tsr_data(r), 1, 1, 1, 1, false};
        TSR_TRY(multiply(r, &(TsrGemm){r->dtype, row, column, one_element, one, zero}));
    } else if (!tsr_is_meta(r))
        TSR_TRY(tsr_dot(x->dtype, x->numel, (TsrVec){tsr_data(x), x->strides[0], dot.vdot},
                        (TsrVec){tsr_data(y), y->strides[0], false}, tsr_data(r)));
    if (dot.conj) return tsr_tensor_new_conj(out, r);
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus check_bmm(const TsrTensor *a, const TsrTensor *b) {
    if (tsr_ndim(a) != 3) return tsr_error(TSR_RUNTIME_ERROR, "batch1 must be a 3D tensor");
    if (tsr_ndim(b) != 3) return tsr_error(TSR_RUNTIME_ERROR, "batch2 must be a 3D tensor");
    if (a->sizes[0] == b->sizes[0] && a->sizes[2] == b->sizes[1]) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
        (long long)a->sizes[0], (long long)a->sizes[2], (long long)b->sizes[0], (long long)b->sizes[1]);
}

/* Of large products: those that gemm has are looked at as b's dtype, others go matrix by matrix. */
static TsrStatus same_dtype_large_bmm(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype == b->dtype) return TSR_OK;
    if (!tsr_gemm_supports(b->dtype)) return same_dtype_mm(a, b);
    return tsr_unexpected_dtype(b->dtype, a->dtype);
}

static TsrStatus same_dtype_bmm(const TsrTensor *a, const TsrTensor *b) {
    if (a->dtype == b->dtype) return TSR_OK;
    return tsr_unexpected_dtype(a->dtype, b->dtype);
}

static TsrStatus check_bmm_dtypes(const TsrTensor *a, const TsrTensor *b, int64_t m, int64_t k, int64_t n) {
    if (!is_small(m, k, n)) TSR_TRY(same_dtype_large_bmm(a, b));
    TSR_TRY(unsupported(a, batch_kernel("bmm", a->dtype, m, k, n)));
    return same_dtype_bmm(a, b);
}

static TsrStatus bmm_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    TSR_TRY(check_bmm(a, b));
    bool nothing = is_nothing(a, b); /* then PyTorch looks at no element, nor at the dtypes */
    if (!nothing) TSR_TRY(check_bmm_dtypes(a, b, a->sizes[1], a->sizes[2], b->sizes[2]));
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 3, (int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}, b->dtype, a->device));
    if (nothing && !tsr_is_meta(r)) TSR_TRY(tsr_tensor_fill(r, zero));
    else if (!tsr_is_meta(r)) TSR_TRY(matmul_into(r, a, b, one, zero));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* ---- torch.matmul ---- */

/* The step from row to row of all dimensions of t but the last (or but that before it), seen as one dimension; -1 when
 * no single step is. */
static int64_t step_of_all_but(const TsrTensor *t, int left_out) {
    int64_t step = -1, next = -1;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        if (d == left_out || t->sizes[d] == 1) continue;
        if (step < 0) step = t->strides[d];
        else if (t->strides[d] != next) return -1;
        next = t->strides[d] * t->sizes[d];
    }
    return step < 0 ? t->strides[tsr_ndim(t) - 2] : step;
}
static int64_t row_step(const TsrTensor *t) { return step_of_all_but(t, tsr_ndim(t) - 1); }

/* Whether PyTorch folds the leading dimensions of `a` into one and calls mm or mv (which words its errors). */
static bool folds(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) >= 3 && tsr_ndim(b) <= 2 && (a->numel == 0 || row_step(a) >= 0);
}

typedef struct Product {
    int ndim;
    int64_t batch[TSR_MAX_DIMS];
    int64_t m, n, k;
} Product;

/* Whether PyTorch takes vector @ b for the transposes of b's matrices, folded into one, times it: in the words only. */
static bool folds_right(const TsrTensor *a, const TsrTensor *b) {
    int db = tsr_ndim(b);
    return tsr_ndim(a) == 1 && db >= 3 && (b->numel == 0 || step_of_all_but(b, db - 2) >= 0);
}

static TsrStatus check_folded_right(const Product *p, const TsrTensor *a, const TsrTensor *b, int64_t kb) {
    int64_t rows = p->n;
    for (int d = 0; d < tsr_ndim(b) - 2; d++) rows *= b->sizes[d];
    if (p->k != kb)
        return tsr_error(TSR_RUNTIME_ERROR, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
                         (long long)rows, (long long)rows, (long long)kb, (long long)p->k);
    return same_dtype_mv(b, a, a->dtype);
}

static TsrStatus check_batched(Product *p, const TsrTensor *a, const TsrTensor *b) {
    int da = tsr_ndim(a), db = tsr_ndim(b);
    p->m = da == 1 ? 1 : a->sizes[da - 2];
    p->k = a->sizes[da - 1];
    p->n = db == 1 ? 1 : b->sizes[db - 1];
    int64_t kb = db == 1 ? b->sizes[0] : b->sizes[db - 2], folded = 1, batches = 1;
    p->ndim = TSR_MAX(da - 2, 0);
    memcpy(p->batch, a->sizes, sizeof(int64_t) * (size_t)p->ndim);
    if (folds(a, b)) {
        for (int d = 0; d < da - 1; d++) folded *= a->sizes[d];
        if (p->k != kb && db == 1)
            return tsr_error(TSR_RUNTIME_ERROR, "size mismatch, got input (%lld), mat (%lldx%lld), vec (%lld)",
                             (long long)folded, (long long)folded, (long long)p->k, (long long)kb);
        if (p->k != kb)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "mm: mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                             (long long)folded, (long long)p->k, (long long)kb, (long long)p->n);
        return db == 1 ? same_dtype_mv(a, b, b->dtype) : same_dtype_mm(a, b);
    }
    if (folds_right(a, b)) TSR_TRY(check_folded_right(p, a, b, kb));
    TSR_TRY(tsr_layout_broadcast(p->batch, &p->ndim, b->sizes, TSR_MAX(db - 2, 0)));
    for (int d = 0; d < p->ndim; d++) batches *= p->batch[d];
    if (p->k != kb)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
            (long long)batches, (long long)p->k, (long long)batches, (long long)kb);
    return TSR_OK;
}

/* A view of `t` as (batch..., rows, cols); a 1-D operand is a row on the left and a column on the right. */
static TsrStatus as_batch(TsrTensor **out, const TsrTensor *t, const Product *p, bool left) {
    int64_t sizes[TSR_MAX_DIMS + 2], strides[TSR_MAX_DIMS + 2];
    int d = tsr_ndim(t), shift = p->ndim - (d - 2);
    for (int i = 0; i < p->ndim; i++) {
        bool real = i >= shift && d > 2;
        sizes[i] = p->batch[i];
        strides[i] = real && t->sizes[i - shift] != 1 ? t->strides[i - shift] : 0;
    }
    sizes[p->ndim] = left ? p->m : p->k;
    sizes[p->ndim + 1] = left ? p->k : p->n;
    strides[p->ndim] = d == 1 ? (left ? 0 : t->strides[0]) : t->strides[d - 2];
    strides[p->ndim + 1] = d == 1 ? (left ? t->strides[0] : 0) : t->strides[d - 1];
    return tsr_tensor_new_view(out, t, &(TsrGeometry){p->ndim + 2, sizes, strides, t->offset}, "matmul");
}

static TsrStatus batched_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    Product p;
    TSR_TRY(check_batched(&p, a, b));
    bool nothing = is_nothing(a, b);
    if (!nothing && folds(a, b)) TSR_TRY(unsupported(a, tsr_ndim(b) == 1 ? "addmv_impl_cpu" : "addmm_impl_cpu_"));
    else if (!nothing) TSR_TRY(check_bmm_dtypes(a, b, p.m, p.k, p.n));
    TSR_OWNED r = NULL;
    TSR_OWNED ma = NULL;
    TSR_OWNED mb = NULL;
    TSR_OWNED mr = NULL;
    int64_t sizes[TSR_MAX_DIMS + 2];
    int n = p.ndim;
    if (n + 2 > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "matmul: too many dimensions");
    memcpy(sizes, p.batch, sizeof(int64_t) * (size_t)n);
    if (tsr_ndim(a) > 1) sizes[n++] = p.m;
    if (tsr_ndim(b) > 1) sizes[n++] = p.n;
    TSR_TRY(tsr_tensor_new(&r, n, sizes, b->dtype, a->device));
    if (nothing && !tsr_is_meta(r)) {
        TSR_TRY(tsr_tensor_fill(r, zero));
    } else if (r->numel != 0 && !tsr_is_meta(r)) {
        if (folds(a, b)) { /* one product with a tall matrix */
            p.m = a->numel / TSR_MAX(p.k, 1);
            if (p.k == 0) p.m = r->numel / p.n;
            p.ndim = 0;
            int d = tsr_ndim(a);
            int64_t row = p.k == 0 ? 1 : row_step(a);
            TSR_TRY(tsr_tensor_new_view(
                &ma, a, &(TsrGeometry){2, (int64_t[]){p.m, p.k}, (int64_t[]){row, a->strides[d - 1]}, a->offset},
                "matmul"));
        } else {
            TSR_TRY(as_batch(&ma, a, &p, true));
        }
        TSR_TRY(as_batch(&mb, b, &p, false));
        memcpy(sizes, p.batch, sizeof(int64_t) * (size_t)p.ndim);
        sizes[p.ndim] = p.m, sizes[p.ndim + 1] = p.n;
        int64_t strides[TSR_MAX_DIMS];
        tsr_layout_contiguous_strides(strides, p.ndim + 2, sizes);
        TSR_TRY(tsr_tensor_new_view(&mr, r, &(TsrGeometry){p.ndim + 2, sizes, strides, 0}, "matmul"));
        TSR_TRY(matmul_into(mr, ma, mb, one, zero));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus vector_matrix(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    TSR_OWNED row = NULL;
    TSR_OWNED product = NULL;
    TSR_TRY(tsr_tensor_new_unsqueeze(&row, a, 0));
    TSR_TRY(mm_new(&product, row, b));
    return tsr_tensor_set_geometry(product, (TsrGeometry){1, &b->sizes[1], (int64_t[]){1}, 0})
               ? tsr_error_kind()
               : (*out = tsr_owned_take(&product), TSR_OK);
}

static TsrStatus matmul_resolved(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    int da = tsr_ndim(a), db = tsr_ndim(b);
    if (da == 0 || db == 0)
        return tsr_error(TSR_RUNTIME_ERROR, "both arguments to matmul need to be at least 1D, but they are %dD and %dD",
                         da, db);
    if (da == 2 && db == 2) return mm_new(out, a, b);
    if (da == 1 && db == 1) return dot_new(out, a, b, false);
    if (da == 2 && db == 1) return mv_new(out, a, b);
    if (da == 1 && db == 2) return vector_matrix(out, a, b);
    return batched_new(out, a, b);
}

/* Lazy negation is not something BLAS reads: resolved first. */
typedef TsrStatus (*Binary)(TsrTensor **out, const TsrTensor *a, const TsrTensor *b);
static TsrStatus without_neg(Binary fn, TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    if (TSR_LIKELY(((a->flags | b->flags) & TSR_FLAG_NEG) == 0)) return fn(out, a, b);
    TSR_OWNED ra = NULL;
    TSR_OWNED rb = NULL;
    TSR_TRY(tsr_tensor_new_resolved(&ra, a));
    TSR_TRY(tsr_tensor_new_resolved(&rb, b));
    return fn(out, ra, rb);
}

TsrStatus tsr_matmul_new(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    return without_neg(matmul_resolved, out, a, b);
}

/* What is said of an out= of another dtype, before the dtypes of the operands are compared: each operator's own words.
 * Matrices are looked at first whether they fit. */
typedef TsrStatus (*CheckOut)(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b);

static TsrStatus check_dot_out(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b) {
    (void)b;
    if (c->out[0] == NULL || c->out[0]->dtype == a->dtype) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "result dtype %s does not match input dtype %s",
                     tsr_dtype_scalar_name(c->out[0]->dtype), tsr_dtype_scalar_name(a->dtype));
}

static bool fit(const TsrTensor *a, const TsrTensor *b) {
    return a->sizes[tsr_ndim(a) - 1] == b->sizes[TSR_MAX(tsr_ndim(b) - 2, 0)];
}

static TsrStatus check_mm_out(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b) {
    bool matrices = tsr_ndim(a) == 2 && tsr_ndim(b) == 2 && fit(a, b);
    return matrices ? tsr_check_out_dtype(c, 0, a->dtype) : TSR_OK;
}

/* An out= of as many numbers as the result, or of one, is the summand. */
static TsrStatus check_mv_out(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b) {
    const TsrTensor *out = c->out[0];
    if (out == NULL || tsr_ndim(a) == 0) return TSR_OK;
    if (tsr_ndim(out) <= 1 && (out->numel == a->sizes[0] || out->numel == 1))
        return check_mv(a, b, tsr_ndim(out), out->numel, out->dtype);
    TSR_TRY(check_mv(a, b, 1, a->sizes[0], b->dtype));
    return tsr_check_out_dtype(c, 0, a->dtype);
}

static TsrStatus check_bmm_out(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b) {
    bool batches = tsr_ndim(a) == 3 && tsr_ndim(b) == 3 && a->sizes[0] == b->sizes[0] && fit(a, b);
    return batches ? tsr_check_out_dtype(c, 0, b->dtype) : TSR_OK;
}

static TsrStatus check_matmul_out(const TsrOpCall *c, const TsrTensor *a, const TsrTensor *b) {
    int da = tsr_ndim(a), db = tsr_ndim(b);
    if (c->out[0] == NULL || da == 0 || db == 0) return TSR_OK;
    if (da == 1 && db == 1) return check_dot_out(c, a, b);
    if (da == 2 && db == 1) return check_mv_out(c, a, b);
    if (!fit(a, b)) return TSR_OK;
    if (folds(a, b) && db == 1) return same_dtype_mv(a, b, c->out[0]->dtype);
    bool one = db == 2 && (da <= 2 || folds(a, b));
    int64_t shape[TSR_MAX_DIMS];
    int rank = 0;
    if (!one && da > 2 && db > 2) {
        TSR_TRY(tsr_layout_broadcast(shape, &rank, a->sizes, da - 2));
        TSR_TRY(tsr_layout_broadcast(shape, &rank, b->sizes, db - 2));
    }
    return tsr_check_out_dtype(c, 0, one ? a->dtype : b->dtype);
}

static TsrStatus run_binary(TsrOpCall *c, Binary fn, CheckOut check_out) {
    const TsrTensor *a = c->arg[0].t, *b = c->arg[1].t;
    TSR_OWNED r = NULL;
    TSR_TRY(check_out(c, a, b));
    TSR_TRY(without_neg(fn, &r, a, b));
    TSR_TRY(tsr_check_out_dtype(c, 0, r->dtype));
    return tsr_return_move(c, tsr_owned_take(&r));
}
TsrStatus op_matmul(TsrOpCall *c) { return run_binary(c, matmul_resolved, check_matmul_out); }
TsrStatus op_mm(TsrOpCall *c) { return run_binary(c, mm_new, check_mm_out); }
TsrStatus op_mv(TsrOpCall *c) { return run_binary(c, mv_new, check_mv_out); }
TsrStatus op_bmm(TsrOpCall *c) { return run_binary(c, bmm_new, check_bmm_out); }
static TsrStatus plain_dot(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) {
    return dot_new(out, a, b, false);
}
static TsrStatus conj_dot(TsrTensor **out, const TsrTensor *a, const TsrTensor *b) { return dot_new(out, a, b, true); }
TsrStatus op_dot(TsrOpCall *c) { return run_binary(c, plain_dot, check_dot_out); }
TsrStatus op_vdot(TsrOpCall *c) { return run_binary(c, conj_dot, check_dot_out); }

/* other @ self */
TsrStatus op_rmatmul(TsrOpCall *c) {
    TsrTensor *r = NULL;
    return tsr_finish_move(c, without_neg(matmul_resolved, &r, c->arg[1].t, c->arg[0].t), r);
}

/* ---- with a summand: beta * self + alpha * product ---- */

static TsrStatus check_scalar(TsrScalar s, TsrDtype d) {
    char slot[16];
    return tsr_scalar_store_checked(s, d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? TSR_FLOAT32 : d,
                                    slot); /* halves scale in float */
}

/* A fresh row-major tensor of the given sizes; holds self, expanded, when beta asks for it. */
static TsrStatus summand_new(TsrTensor **out, const TsrTensor *self, TsrScalar beta, int ndim, const int64_t *sizes) {
    TSR_OWNED wide = NULL;
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new_expand(&wide, self, ndim, sizes));
    TSR_TRY(tsr_tensor_new(&r, ndim, sizes, self->dtype, self->device));
    if (!is_zero(beta) && !tsr_is_meta(r)) TSR_TRY(tsr_tensor_copy(r, wide));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* beta * self for a product that sums nothing: PyTorch multiplies then, in any dtype that can hold what comes out. */
static TsrStatus summand_alone_new(TsrTensor **out, const TsrTensor *self, TsrScalar beta, int ndim,
                                   const int64_t *sizes) {
    TSR_OWNED r = NULL;
    TSR_OWNED same = NULL;
    TSR_TRY(summand_new(&r, self, beta, ndim, sizes));
    if (self->dtype == TSR_FLOAT16 || self->dtype == TSR_BFLOAT16) beta = rounded_scalar(beta, self->dtype);
    if (!is_zero(beta)) TSR_TRY(tsr_invoke_new(&same, 1, "mul", "!tts", r, r, beta));
    else if (!tsr_is_meta(r)) TSR_TRY(tsr_tensor_fill(r, zero));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrStatus check_inplace(const TsrOpCall *c, const TsrTensor *self, TsrDtype dtype, int ndim,
                               const int64_t *sizes) {
    if (c->inplace && self->dtype != dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Bad in-place call: input tensor dtype %s and output tensor dtype %s should match",
                         tsr_dtype_c_name(self->dtype), tsr_dtype_c_name(dtype));
    if (!c->inplace || (tsr_ndim(self) == ndim && memcmp(self->sizes, sizes, sizeof(int64_t) * (size_t)ndim) == 0))
        return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Bad in-place call: input tensor size %s and output tensor size %s should match",
                     tsr_sizes_text(self), tsr_layout_text(ndim, sizes));
}

static TsrStatus check_addmm_dtypes(const TsrTensor *self, const TsrTensor *a, const TsrTensor *b) {
    if (self->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "self and mat2 must have the same dtype, but got %s and %s",
                         tsr_dtype_scalar_name(self->dtype), tsr_dtype_scalar_name(b->dtype));
    if (a->dtype != b->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "mat1 and mat2 must have the same dtype, but got %s and %s",
                         tsr_dtype_scalar_name(a->dtype), tsr_dtype_scalar_name(b->dtype));
    return TSR_OK;
}

static TsrStatus check_addmm(const TsrTensor *self, const TsrTensor *a, const TsrTensor *b) {
    TSR_TRY(check_addmm_dtypes(self, a, b));
    return check_mm("addmm", a, b);
}

static TsrStatus addmm_new(TsrTensor **out, const TsrTensor *self, const TsrTensor *a, const TsrTensor *b,
                           TsrScalar beta, TsrScalar alpha) {
    const int64_t sizes[2] = {a->sizes[0], b->sizes[1]};
    if (a->sizes[1] == 0) return summand_alone_new(out, self, beta, 2, sizes);
    if (a->sizes[0] > 0 && b->sizes[1] > 0 && unsupported(a, "addmm_impl_cpu_") != TSR_OK) {
        TSR_OWNED wide = NULL; /* whether the summand fits is said first */
        TSR_TRY(tsr_tensor_new_expand(&wide, self, 2, sizes));
        return unsupported(a, "addmm_impl_cpu_");
    }
    TSR_TRY(check_scalar(beta, self->dtype));
    TSR_TRY(check_scalar(alpha, self->dtype));
    TSR_OWNED r = NULL;
    TSR_TRY(summand_new(&r, self, beta, 2, sizes));
    if (!tsr_is_meta(r) && r->numel > 0)
        TSR_TRY(multiply(r, &(TsrGemm){r->dtype, mat_of(a), mat_of(b), mat_of(r), alpha, beta}));
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

TsrStatus op_addmm(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *a = c->arg[1].t, *b = c->arg[2].t, *r = NULL;
    TSR_TRY(check_addmm(self, a, b));
    TSR_TRY(check_inplace(c, self, self->dtype, 2, (int64_t[]){a->sizes[0], b->sizes[1]}));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    return tsr_finish_move(c, addmm_new(&r, self, a, b, c->arg[3].s, c->arg[4].s), r);
}

/* In half precision beta * self is rounded before the sum; so is the product where the matrix is column-major. */
static TsrStatus half_addmv(TsrTensor *r, const TsrTensor *mat, const TsrTensor *vec, TsrScalar beta, TsrScalar alpha) {
    TsrTensor *same = NULL;
    int64_t m = mat->sizes[0];
    TsrGemm g = {r->dtype, mat_of(mat), column_of(vec), column_of(r), rounded_scalar(alpha, r->dtype), zero};
    if (is_zero(beta)) return multiply(r, &g);
    TSR_TRY(tsr_invoke_new(&same, 1, "mul", "!tts", r, r, rounded_scalar(beta, r->dtype)));
    tsr_tensor_free(same);
    if (mat->strides[0] != 1 || mat->strides[1] < TSR_MAX(m, 1)) {
        g.beta = one;
        return multiply(r, &g);
    }
    TSR_OWNED product = NULL;
    TSR_TRY(tsr_tensor_new(&product, 1, &m, r->dtype, r->device));
    g.c = column_of(product);
    TSR_TRY(multiply(r, &g));
    TSR_TRY(tsr_invoke_new(&same, 1, "add", "!ttt", r, r, product));
    tsr_tensor_free(same);
    return TSR_OK;
}

TsrStatus op_addmv(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *mat = c->arg[1].t, *vec = c->arg[2].t;
    TsrScalar beta = c->arg[3].s, alpha = c->arg[4].s;
    TSR_TRY(check_mv(mat, vec, tsr_ndim(self), self->numel, self->dtype));
    TSR_TRY(check_inplace(c, self, self->dtype, 1, mat->sizes));
    TSR_TRY(tsr_check_out_dtype(c, 0, self->dtype));
    TSR_TRY(check_mv_kernel(mat));
    TSR_TRY(check_scalar(beta, self->dtype));
    if (mat->numel > 0) TSR_TRY(check_scalar(alpha, self->dtype));
    TSR_OWNED r = NULL;
    if (mat->numel == 0) { /* the summand in its own shape, or zeros */
        const int ndim = is_zero(beta) ? 1 : tsr_ndim(self);
        TSR_TRY(summand_alone_new(&r, self, rounded_scalar(beta, self->dtype), ndim,
                                  is_zero(beta) ? mat->sizes : self->sizes));
        return tsr_return_move(c, tsr_owned_take(&r));
    }
    TSR_TRY(summand_new(&r, self, beta, 1, mat->sizes));
    bool half = r->dtype == TSR_FLOAT16 || r->dtype == TSR_BFLOAT16;
    bool counted =
        tsr_dtype_is_complex(r->dtype) && is_zero(alpha); /* in complex vectors inf times alpha is nan, not left out */
    if (half && !tsr_is_meta(r)) TSR_TRY(half_addmv(r, mat, vec, beta, alpha));
    TsrGemm g = {r->dtype, mat_of(mat), column_of(vec), column_of(r), alpha, beta};
    if (!half && !tsr_is_meta(r)) TSR_TRY(counted && !tsr_on_device(r) ? tsr_gemm_short(&g) : multiply_vector(r, &g));
    return tsr_return_move(c, tsr_owned_take(&r));
}

/* PyTorch reads the sizes of the sum before it looks at dimensions. */
static TsrStatus check_batches(const TsrTensor *a, const TsrTensor *b) {
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){1}, tsr_ndim(a)));
    return tsr_wrap_own_dim(&(int64_t){2}, tsr_ndim(b));
}

TsrStatus op_baddbmm(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *a = c->arg[1].t, *b = c->arg[2].t;
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){0}, tsr_ndim(a)));
    TSR_TRY(check_batches(a, b));
    TSR_OWNED wide = NULL;
    TSR_TRY(tsr_tensor_new_expand(&wide, self, 3, (int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}));
    if (self->dtype != a->dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "Input dtypes must be the same, got: input %s, batch1: %s, batch2: %s",
                         tsr_dtype_c_name(self->dtype), tsr_dtype_c_name(a->dtype), tsr_dtype_c_name(b->dtype));
    TSR_TRY(check_bmm(a, b));
    TSR_TRY(check_inplace(c, self, b->dtype, 3, (int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}));
    TSR_TRY(tsr_check_out_dtype(c, 0, b->dtype));
    bool empty = a->sizes[0] == 0 || a->sizes[1] == 0 || b->sizes[2] == 0, alone = a->sizes[2] == 0;
    if (!empty && !alone)
        TSR_TRY(unsupported(a, batch_kernel("baddbmm", a->dtype, a->sizes[1], a->sizes[2], b->sizes[2])));
    if (self->dtype != b->dtype && !is_nothing(a, b)) return tsr_unexpected_dtype(a->dtype, b->dtype);
    TSR_OWNED r = NULL;
    TSR_OWNED same = NULL;
    const int64_t sizes[3] = {a->sizes[0], a->sizes[1], b->sizes[2]};
    if (empty) {
        TSR_TRY(tsr_tensor_new(&r, 3, sizes, b->dtype, a->device));
        return tsr_return_move(c, tsr_owned_take(&r));
    }
    TSR_TRY(check_scalar(c->arg[3].s, self->dtype));
    TSR_TRY(check_scalar(c->arg[4].s, self->dtype));
    TSR_TRY((alone ? summand_alone_new : summand_new)(&r, self, c->arg[3].s, 3, sizes));
    if (!tsr_is_meta(r) && !alone) TSR_TRY(matmul_into(r, a, b, c->arg[4].s, c->arg[3].s));
    TSR_TRY(tsr_tensor_new_cast(&same, r, b->dtype));
    return tsr_return_move(c, tsr_owned_take(&same));
}

static TsrStatus check_addbmm(const TsrTensor *self, const TsrTensor *a, const TsrTensor *b) {
    if (tsr_ndim(a) != 3) return tsr_error(TSR_RUNTIME_ERROR, "batch1 must be a 3D tensor");
    if (tsr_ndim(b) != 3) return tsr_error(TSR_RUNTIME_ERROR, "batch2 must be a 3D tensor");
    if (a->sizes[0] != b->sizes[0])
        return tsr_error(TSR_RUNTIME_ERROR, "batch1 and batch2 must have same number of batches, got %lld and %lld",
                         (long long)a->sizes[0], (long long)b->sizes[0]);
    if (a->sizes[2] != b->sizes[1])
        return tsr_error(TSR_RUNTIME_ERROR, "Incompatible matrix sizes for bmm (%lldx%lld and %lldx%lld)",
                         (long long)a->sizes[1], (long long)a->sizes[2], (long long)b->sizes[1],
                         (long long)b->sizes[2]);
    if (a->sizes[0] == 0) return TSR_OK;
    TSR_TRY(check_addmm_dtypes(self, a, b));
    bool nothing = a->sizes[1] == 0 || a->sizes[2] == 0 || b->sizes[2] == 0;
    return nothing ? TSR_OK : unsupported(a, "addmm_impl_cpu_");
}

/* The sum runs over the batch, one product after another, rounding to the dtype after each as PyTorch does. In place,
 * self takes the shape of the product. */
TsrStatus op_addbmm(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *a = c->arg[1].t, *b = c->arg[2].t;
    TsrScalar beta = c->arg[3].s, alpha = c->arg[4].s;
    TSR_TRY(check_batches(a, b));
    TSR_OWNED summand = NULL;
    TSR_TRY(tsr_tensor_new_expand(&summand, self, 2, (int64_t[]){a->sizes[1], b->sizes[2]}));
    TSR_OWNED start = NULL; /* the sum is made in out=, and in its dtype */
    if (c->out[0] != NULL && !c->inplace) TSR_TRY(tsr_tensor_new_cast(&start, self, c->out[0]->dtype));
    if (start != NULL) self = start;
    TSR_TRY(check_addbmm(self, a, b));
    TSR_TRY(check_scalar(beta, self->dtype));
    TSR_TRY(check_scalar(alpha, self->dtype));
    TSR_OWNED r = NULL;
    bool alone = a->sizes[0] == 0 || a->sizes[2] == 0;
    TSR_TRY((alone ? summand_alone_new : summand_new)(&r, self, beta, 2, (int64_t[]){a->sizes[1], b->sizes[2]}));
    if (alone && a->sizes[0] > 1 && r->dtype == TSR_BOOL) /* PyTorch weights the sum by the integer 1 from there on */
        return tsr_error(TSR_RUNTIME_ERROR, "result type Long can't be cast to the desired output type Bool");
    if (tsr_is_meta(r)) return tsr_return_move(c, tsr_owned_take(&r));
    TsrGemm g = {r->dtype, mat_of(a), mat_of(b), mat_of(r), alpha, beta};
    int64_t step_a = a->strides[0] * (int64_t)tsr_itemsize(a), step_b = b->strides[0] * (int64_t)tsr_itemsize(b);
    for (int64_t i = 0; i < a->sizes[0] && !alone && r->numel > 0; i++) {
        TSR_TRY(multiply(r, &g));
        g.a.data = (char *)g.a.data + step_a;
        g.b.data = (char *)g.b.data + step_b;
        g.beta = one;
        TSR_TRY(tsr_interrupt_check());
    }
    if (c->inplace) TSR_TRY(tsr_tensor_resize(self, 2, r->sizes, TSR_CONTIGUOUS));
    return tsr_return_move(c, tsr_owned_take(&r));
}

TsrStatus op_vecdot(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *y = c->arg[1].t, *r = NULL;
    TSR_OWNED product = NULL;
    TSR_OWNED xc = NULL;
    if (!tsr_dtype_is_float(x->dtype) && !tsr_dtype_is_complex(x->dtype))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR,
                         "linalg.vecdot: Expected a floating point or complex tensor as input. Got %s",
                         tsr_dtype_scalar_name(x->dtype));
    if (x->dtype != y->dtype)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type %s and y of type %s instead",
            tsr_dtype_scalar_name(x->dtype), tsr_dtype_scalar_name(y->dtype));
    TSR_TRY(tsr_check_out_dtype(c, 0, x->dtype));
    if (tsr_ndim(x) == 1 && tsr_ndim(y) == 1) return tsr_finish_move(c, without_neg(conj_dot, &r, x, y), r);
    if (tsr_dtype_is_complex(x->dtype)) TSR_TRY(tsr_tensor_new_conj(&xc, x));
    TSR_TRY(tsr_invoke_new(&product, 1, "mul", "tt", xc != NULL ? xc : x, y));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "sum", "tI", product, 1, &c->arg[2].i), r);
}

/* ---- layers ---- */

static TsrStatus linear_sum(TsrTensor **out, const TsrTensor *x, const TsrTensor *weight, const TsrTensor *bias) {
    TSR_OWNED flat = NULL;
    TSR_OWNED product = NULL;
    int d = tsr_ndim(x);
    if (d == 2) TSR_TRY(check_addmm(bias, x, weight));
    if (d == 2) return addmm_new(out, bias, x, weight, one, one);
    int64_t rows = 1, sizes[TSR_MAX_DIMS];
    for (int i = 0; i < d - 1; i++) rows *= x->sizes[i];
    TSR_TRY(tsr_tensor_new_reshape(&flat, x, 2, (int64_t[]){rows, x->sizes[d - 1]}));
    TSR_TRY(check_addmm(bias, flat, weight));
    TSR_TRY(addmm_new(&product, bias, flat, weight, one, one));
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)d);
    sizes[d - 1] = product->sizes[1];
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, d, sizes);
    TSR_TRY(tsr_tensor_set_geometry(product, (TsrGeometry){d, sizes, strides, 0}));
    *out = tsr_owned_take(&product);
    return TSR_OK;
}

/* An out= is compared when the shapes of the product fit. */
static TsrStatus check_linear_out(const TsrOpCall *c, const TsrTensor *x, const TsrTensor *weight,
                                  const TsrTensor *bias) {
    if (c->out[0] == NULL) return TSR_OK;
    if (bias == NULL || tsr_ndim(x) != 2) return check_matmul_out(c, x, weight);
    TSR_TRY(check_addmm(bias, x, weight));
    return tsr_check_out_dtype(c, 0, bias->dtype);
}

/* Whether all dimensions but one have a size of 1. */
static bool is_line(const TsrTensor *t) {
    int wide = 0;
    for (int d = 0; d < tsr_ndim(t); d++) wide += t->sizes[d] != 1;
    return wide == 1;
}

TsrStatus op_linear(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *weight = c->arg[1].t, *bias = tsr_arg_given(&c->arg[2]) ? c->arg[2].t : NULL,
              *r = NULL;
    TSR_OWNED wt = NULL;
    TSR_OWNED product = NULL;
    int d = tsr_ndim(x);
    if (d == 0 || tsr_ndim(weight) == 0)
        return tsr_error(TSR_RUNTIME_ERROR, "both arguments to %s need to be at least 1D, but they are %dD and %dD",
                         c->out[0] != NULL ? "matmul" : "linear", d, tsr_ndim(weight));
    if (tsr_ndim(weight) > 2)
        return tsr_error(TSR_RUNTIME_ERROR, "t() expects a tensor with <= 2 dimensions, but self is %dD",
                         tsr_ndim(weight));
    if (tsr_ndim(weight) == 2) TSR_TRY(tsr_tensor_new_transpose(&wt, weight, 0, 1));
    else wt = tsr_tensor_retain(weight);
    TSR_TRY(check_linear_out(c, x, wt, bias));
    if (bias == NULL) return tsr_finish_move(c, tsr_matmul_new(&r, x, wt), r);
    bool row = tsr_ndim(bias) == 1 || (tsr_ndim(weight) == 2 && is_line(bias));
    bool dense = tsr_is_contiguous(x, TSR_CONTIGUOUS) && tsr_is_contiguous(bias, TSR_CONTIGUOUS);
    bool fused = d == 2 || (c->out[0] == NULL && row && dense);
    if (fused) return tsr_finish_move(c, linear_sum(&r, x, wt, bias), r);
    TSR_TRY(tsr_matmul_new(&product, x, wt));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "add", "!ttt", product, product, bias), r);
}

static TsrStatus bilinear_dtypes_error(const TsrTensor *x, const TsrTensor *y, const TsrTensor *w,
                                       const TsrTensor *bias) {
    return tsr_error(TSR_RUNTIME_ERROR,
                     "All tensors must have the same dtype, got input1: %s, input2: %s, weight: %s%s%s",
                     tsr_dtype_c_name(x->dtype), tsr_dtype_c_name(y->dtype), tsr_dtype_c_name(w->dtype),
                     bias != NULL ? ", bias: " : "", bias != NULL ? tsr_dtype_c_name(bias->dtype) : "");
}

static TsrStatus check_bilinear(const TsrTensor *x, const TsrTensor *y, const TsrTensor *w, const TsrTensor *bias) {
    int d = tsr_ndim(x);
    if (y->dtype != x->dtype || w->dtype != x->dtype || (bias != NULL && bias->dtype != x->dtype))
        return bilinear_dtypes_error(x, y, w, bias);
    if (d != tsr_ndim(y))
        return tsr_error(TSR_RUNTIME_ERROR, "bilinear(): input dimensions do not match: got %d and %d", d, tsr_ndim(y));
    for (int i = 0; i < d - 1; i++)
        if (x->sizes[i] != y->sizes[i])
            return tsr_error(TSR_RUNTIME_ERROR,
                             "bilinear(): input batch dimensions do not match at dim %d: got %lld and %lld", i,
                             (long long)x->sizes[i], (long long)y->sizes[i]);
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){-1}, d));
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){1}, tsr_ndim(w)));
    if (x->sizes[d - 1] != w->sizes[1])
        return tsr_error(TSR_RUNTIME_ERROR,
                         "bilinear(): input1 size does not match weight size: got %lld but expected %lld",
                         (long long)x->sizes[d - 1], (long long)w->sizes[1]);
    TSR_TRY(tsr_wrap_own_dim(&(int64_t){2}, tsr_ndim(w)));
    if (y->sizes[d - 1] != w->sizes[2])
        return tsr_error(TSR_RUNTIME_ERROR,
                         "bilinear(): input2 size does not match weight size: got %lld but expected %lld",
                         (long long)y->sizes[d - 1], (long long)w->sizes[2]);
    if (bias != NULL && tsr_ndim(bias) == 0) return tsr_wrap_own_dim(&(int64_t){0}, 0);
    if (bias != NULL && bias->sizes[0] != w->sizes[0])
        return tsr_error(TSR_RUNTIME_ERROR,
                         "bilinear(): bias size does not match weight size: got %lld but expected %lld",
                         (long long)bias->sizes[0], (long long)w->sizes[0]);
    if (y->sizes[d - 1] == 0 && x->sizes[d - 1] > 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size "
            "-1 can be any value and is ambiguous");
    return tsr_ndim(w) == 3 ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "number of dimensions must match");
}

/* out[b, o] = sum over i, j of x[b, i] w[o, i, j] y[b, j]: one product with w laid out (I, O * J), then one for each
 * row. */
TsrStatus op_bilinear(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *y = c->arg[1].t, *w = c->arg[2].t,
              *bias = tsr_arg_given(&c->arg[3]) ? c->arg[3].t : NULL, *r = NULL;
    TSR_TRY(check_bilinear(x, y, w, bias));
    if (w->numel > 0 && x->numel > 0 && y->numel > 0) TSR_TRY(unsupported(x, "bmm"));
    TSR_OWNED wp = NULL;
    TSR_OWNED wf = NULL;
    TSR_OWNED xf = NULL;
    TSR_OWNED yf = NULL;
    TSR_OWNED xw = NULL;
    TSR_OWNED xw3 = NULL;
    TSR_OWNED flat = NULL;
    int d = tsr_ndim(x);
    int64_t rows = 1, nx = w->sizes[1], ny = w->sizes[2], no = w->sizes[0], sizes[TSR_MAX_DIMS];
    for (int i = 0; i < d - 1; i++) rows *= x->sizes[i];
    TSR_TRY(tsr_tensor_new_permute(&wp, w, 3, (int64_t[]){1, 0, 2}));
    TSR_TRY(tsr_tensor_new_reshape(&wf, wp, 2, (int64_t[]){nx, no * ny}));
    TSR_TRY(tsr_tensor_new_reshape(&xf, x, 2, (int64_t[]){-1, nx}));
    TSR_TRY(tsr_tensor_new_reshape(&yf, y, 3, (int64_t[]){rows, ny, 1}));
    TSR_TRY(tsr_matmul_new(&xw, xf, wf));
    TSR_TRY(tsr_tensor_new_reshape(&xw3, xw, 3, (int64_t[]){rows, no, ny}));
    TSR_TRY(tsr_matmul_new(&flat, xw3, yf));
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)(d - 1));
    sizes[d - 1] = no;
    int64_t strides[TSR_MAX_DIMS];
    tsr_layout_contiguous_strides(strides, d, sizes);
    TSR_TRY(tsr_tensor_set_geometry(flat, (TsrGeometry){d, sizes, strides, 0}));
    if (bias == NULL) return tsr_return_move(c, tsr_owned_take(&flat));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "add", "tt", flat, bias), r);
}
