/* matrix.c: factorizations of matrices (matrix.h): of small ones by device/linalg/matrix.cuh, a block a matrix. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

#include "cuda/device/linalg/matrix_args.h"

/* As device/linalg/matrix.cuh has them. A matrix is one block's work, so that beyond MOST rows or columns, or
 * JACOBI_MOST columns, it is cuSOLVER's, or goes over the host, whose LAPACK uses all of a processor; a guess, which no
 * GPU has tried. */
enum { THREADS = 256, BESIDE = 32, WARPS = 8, MOST = 1024, JACOBI_MOST = 256, MOST_GROUPS = 65535 };

static const char *real_type(TsrDtype d) {
    switch (d) {
    case TSR_FLOAT32:
    case TSR_COMPLEX64: return "float";
    case TSR_FLOAT64:
    case TSR_COMPLEX128: return "double";
    default: return NULL;
    }
}

bool cuda_matrix_source(CudaSource *s, TsrDtype dtype) {
    if (real_type(dtype) == NULL) return false;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_complex);
    cuda_source_part(s, CUDA_PART_matrix_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s F;\n", cuda_memory_type(dtype), real_type(dtype));
    cuda_source_part(s, CUDA_PART_matrix);
    cuda_source_part(s, CUDA_PART_jacobi);
    return true;
}

static void write_matrix(CudaSource *s, const void *what) { (void)cuda_matrix_source(s, *(const TsrDtype *)what); }

/* ONE ROW A PRIMITIVE: its kernel, and which operand is what (-1: none). */
static const struct Row {
    const char *name;
    int8_t a, x, pivots, info, tau;
} rows[TSR_PRIMITIVES] = {
    [TSR_P_LU] = {"tsr_lu", 0, -1, 1, 2, -1},
    [TSR_P_CHOLESKY] = {"tsr_cholesky", 0, -1, -1, 1, -1},
    [TSR_P_TRIANGULAR] = {"tsr_triangular", 1, 0, 2, -1, -1},
    [TSR_P_QR] = {"tsr_qr", 0, -1, -1, -1, 1},
    [TSR_P_Q] = {"tsr_q", 0, -1, -1, -1, 1},
    [TSR_P_REFLECT] = {"tsr_reflect", 1, 0, -1, -1, 2},
    [TSR_P_SVD] = {"tsr_svd", 3, 0, 2, 1, 4},
    [TSR_P_EIGH] = {"tsr_eigh", 2, 0, -1, 1, 3},
};

static uint64_t address(const TsrDeviceWork *w, int k) { return k >= 0 && k < w->nout + w->nin ? w->t[k].at.data : 0; }

static void plan(MatrixArgs *a, const TsrDeviceWork *w, const struct Row *row) {
    const TsrDeviceMatrixWork *p = w->params;
    const TsrDeviceTensor *matrix = &w->t[row->a];
    memset(a, 0, sizeof *a);
    a->a = matrix->at.data, a->x = address(w, row->x), a->pivots = address(w, row->pivots);
    a->info = address(w, row->info), a->tau = address(w, row->tau);
    a->batch = matrix->sizes[2], a->rows = (int32_t)matrix->sizes[1], a->columns = (int32_t)matrix->sizes[0];
    if (row->x >= 0) a->x_rows = (int32_t)w->t[row->x].sizes[1], a->x_columns = (int32_t)w->t[row->x].sizes[0];
    if (row->tau >= 0) a->reflectors = (int32_t)w->t[row->tau].sizes[0];
    a->upper = p->upper, a->transposed = p->transposed, a->conjugate = p->conjugate;
    a->vectors = p->vectors;
    a->unit = p->unit, a->right = p->right, a->pivoted = p->pivoted;
}

static bool has_kernel(const TsrDeviceWork *w, const struct Row *row) {
    const bool jacobi = w->what == TSR_P_SVD || w->what == TSR_P_EIGH;
    for (int d = 0; d < 2; d++) {
        if (w->t[row->a].sizes[d] > (jacobi && d == 0 ? JACOBI_MOST : MOST)) return false;
        if (row->x >= 0 && w->t[row->x].sizes[d] > INT32_MAX / MOST) return false;
    }
    return real_type(w->t[row->a].at.dtype) != NULL;
}

/* Blocks that share one matrix's right-hand sides. */
static unsigned groups(const MatrixArgs *a, TsrPrimitive what) {
    const int64_t columns = a->right ? a->x_rows : a->x_columns, each = what == TSR_P_REFLECT ? WARPS : BESIDE;
    if (what != TSR_P_TRIANGULAR && what != TSR_P_REFLECT) return 1;
    return (unsigned)TSR_MAX(TSR_MIN((columns + each - 1) / each, (int64_t)MOST_GROUPS), (int64_t)1);
}

/* Few matrices of which each is large enough to keep more than one block busy are the library's too, where there is
 * one; FEW and WIDE are guesses, which no GPU has tried. It depends on the sizes alone, so that a factorization has the
 * same digits whenever it is computed. $TSR_CUDA_BLAS=always takes the library for all, for tests. */
enum { FEW = 8, WIDE = 256 };
static bool is_large(const TsrDeviceWork *w, const struct Row *row) {
    const TsrDeviceTensor *a = &w->t[row->a];
    const char *blas = getenv("TSR_CUDA_BLAS");
    if (blas != NULL && strcmp(blas, "always") == 0) return true;
    return a->sizes[2] <= FEW && TSR_MIN(a->sizes[0], a->sizes[1]) > WIDE;
}

TsrStatus cuda_matrix(const TsrDeviceWork *w) {
    const struct Row *row = &rows[w->what];
    const TsrDtype dtype = w->t[row->a].at.dtype;
    MatrixArgs a;
    if (is_large(w, row) || !has_kernel(w, row)) {
        bool touched;
        TsrStatus status = cuda_cusolver(w, &touched);
        if (status != TSR_NOT_IMPLEMENTED_ERROR || touched || !has_kernel(w, row)) return status;
    }
    plan(&a, w, row);
    const unsigned blocks = cuda_blocks(w->index, (uint64_t)a.batch, 1);
    return cuda_run_blocks(w, (CudaText){&dtype, sizeof dtype, row->name, write_matrix}, blocks, groups(&a, w->what),
                           THREADS, &a);
}
