/* cusolver.c: factorizations by NVIDIA's cuSOLVER, found beside the driver at the first matrix that is large enough
 * (matrix.h). Matrices of a batch are factored one after the other. */
#include "cusolver.h"

#include <pthread.h>
#include <string.h>

#include "cuda/kernels/map.h"
#include "cuda/kernels/triangle.h"
#include "cuda/library.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "core/kernels/pointwise/table.h"
#include "matrix.h"

#define FUNCTIONS "cuda/kernels/linalg/cusolver.def"
#define TABLE solver
#define LIBRARY cuda_libcusolver
#define STEM "cusolver"
#include "cuda/library_table.inc"

/* ONE ROW A DTYPE that it takes: the element's type and that of values, and the place of its functions by type. */
static const struct Type {
    int element, real, place;
    bool known;
} types[TSR_DTYPE_COUNT] = {
    [TSR_FLOAT32] = {SOLVER_F32, SOLVER_F32, 0, true},
    [TSR_FLOAT64] = {SOLVER_F64, SOLVER_F64, 1, true},
    [TSR_COMPLEX64] = {SOLVER_C32, SOLVER_F32, 2, true},
    [TSR_COMPLEX128] = {SOLVER_C64, SOLVER_F64, 3, true},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    SolverHandle handle;
    SolverParams params;
} made[CUDA_MAX_DEVICES];

/* One piece of work: its operands, matrix by matrix. */
typedef struct Job {
    const TsrDeviceWork *w;
    const TsrDeviceMatrixWork *how;
    SolverHandle handle;
    SolverParams params;
    struct Type type;
    int64_t batch, m, n; /* of the matrices that are taken apart */
    TsrDataPtr work, info, pivots;
    void *host_work;
    size_t bytes, host_bytes;
    int elements;
} Job;

/* Operand k of matrix i: a matrix, or the numbers that belong to it. */
static void *matrix_at(const Job *j, int k, int64_t i) {
    const TsrDeviceTensor *t = &j->w->t[k];
    return (void *)(uintptr_t)(t->at.data + (TsrAddress)(i * t->at.strides[2]));
}
static void *numbers_at(const Job *j, int k, int64_t i) {
    const TsrDeviceTensor *t = &j->w->t[k];
    return (void *)(uintptr_t)(t->at.data + (TsrAddress)(i * t->sizes[0]) * cuda_itemsize(t->at.dtype));
}

static int *info_at(const Job *j, int64_t i) {
    const int k = j->w->what == TSR_P_LU ? 2 : j->w->what == TSR_P_CHOLESKY ? 1 : -1;
    return (k < 0 ? (int *)j->info.data : (int *)(uintptr_t)j->w->t[k].at.data) + i;
}

static int64_t *pivots_at(const Job *j, int64_t i) { return (int64_t *)j->pivots.data + i * TSR_MIN(j->m, j->n); }

/* ---- one matrix: how much room it needs, and its factorization; 0 for success ---- */

static int triangle(const Job *j) { return j->how->upper ? SOLVER_UPPER : SOLVER_LOWER; }

static int cholesky(Job *j, int64_t i, bool run) {
    const int type = j->type.element;
    void *a = matrix_at(j, 0, i);
    if (!run)
        return solver.cholesky_room(j->handle, j->params, triangle(j), j->n, type, a, j->n, type, &j->bytes,
                                    &j->host_bytes);
    return solver.cholesky(j->handle, j->params, triangle(j), j->n, type, a, j->n, type, j->work.data, j->bytes,
                           j->host_work, j->host_bytes, info_at(j, i));
}

static int lu(Job *j, int64_t i, bool run) {
    const int type = j->type.element;
    void *a = matrix_at(j, 0, i);
    if (!run) return solver.lu_room(j->handle, j->params, j->m, j->n, type, a, j->m, type, &j->bytes, &j->host_bytes);
    return solver.lu(j->handle, j->params, j->m, j->n, type, a, j->m, pivots_at(j, i), type, j->work.data, j->bytes,
                     j->host_work, j->host_bytes, info_at(j, i));
}

static int qr(Job *j, int64_t i, bool run) {
    const int type = j->type.element;
    void *a = matrix_at(j, 0, i), *tau = numbers_at(j, 1, i);
    if (!run)
        return solver.qr_room(j->handle, j->params, j->m, j->n, type, a, j->m, type, tau, type, &j->bytes,
                              &j->host_bytes);
    return solver.qr(j->handle, j->params, j->m, j->n, type, a, j->m, type, tau, type, j->work.data, j->bytes,
                     j->host_work, j->host_bytes, info_at(j, i));
}

static int eigh(Job *j, int64_t i, bool run) {
    const int type = j->type.element, real = j->type.real, vectors = j->how->vectors ? SOLVER_VECTORS : SOLVER_VALUES;
    void *a = matrix_at(j, 2, i), *values = numbers_at(j, 1, i);
    if (!run)
        return solver.eigh_room(j->handle, j->params, vectors, triangle(j), j->n, type, a, j->n, real, values, type,
                                &j->bytes, &j->host_bytes);
    return solver.eigh(j->handle, j->params, vectors, triangle(j), j->n, type, a, j->n, real, values, type,
                       j->work.data, j->bytes, j->host_work, j->host_bytes, info_at(j, i));
}

static int svd(Job *j, int64_t i, bool run) {
    const signed char job = j->how->vectors ? 'S' : 'N';
    const int type = j->type.element, real = j->type.real;
    void *a = matrix_at(j, 3, i), *u = matrix_at(j, 0, i), *s = numbers_at(j, 1, i), *v = matrix_at(j, 4, i);
    if (!run)
        return solver.svd_room(j->handle, j->params, job, job, j->m, j->n, type, a, j->m, real, s, type, u, j->m, type,
                               v, j->n, type, &j->bytes, &j->host_bytes);
    return solver.svd(j->handle, j->params, job, job, j->m, j->n, type, a, j->m, real, s, type, u, j->m, type, v, j->n,
                      type, j->work.data, j->bytes, j->host_work, j->host_bytes, info_at(j, i));
}

static int q(Job *j, int64_t i, bool run) {
    const int m = (int)j->m, n = (int)j->n, k = (int)j->w->t[1].sizes[0];
    int (*const rooms[])(SolverHandle, int, int, int, const void *, int, const void *,
                         int *) = {solver.q_room_s, solver.q_room_d, solver.q_room_c, solver.q_room_z};
    int (*const runs[])(SolverHandle, int, int, int, void *, int, const void *, void *, int,
                        int *) = {solver.q_s, solver.q_d, solver.q_c, solver.q_z};
    void *a = matrix_at(j, 0, i), *tau = numbers_at(j, 1, i);
    if (!run) return rooms[j->type.place](j->handle, m, n, k, a, m, tau, &j->elements);
    return runs[j->type.place](j->handle, m, n, k, a, m, tau, j->work.data, j->elements, info_at(j, i));
}

static int reflect(Job *j, int64_t i, bool run) {
    const TsrDeviceTensor *x = &j->w->t[0];
    const int m = (int)x->sizes[1], n = (int)x->sizes[0], k = (int)j->w->t[2].sizes[0], lda = (int)j->m;
    const int side = j->how->right ? SOLVER_RIGHT : SOLVER_LEFT,
              adjoint = cuda_is_complex(x->at.dtype) ? SOLVER_CONJUGATE : SOLVER_TRANSPOSED,
              reads = j->how->transposed ? adjoint : SOLVER_AS_IS;
    int (*const rooms[])(SolverHandle, int, int, int, int, int, const void *, int, const void *, const void *, int,
                         int *) = {solver.reflect_room_s, solver.reflect_room_d, solver.reflect_room_c,
                                   solver.reflect_room_z};
    int (*const runs[])(SolverHandle, int, int, int, int, int, const void *, int, const void *, void *, int, void *,
                        int, int *) = {solver.reflect_s, solver.reflect_d, solver.reflect_c, solver.reflect_z};
    void *a = matrix_at(j, 1, i), *tau = numbers_at(j, 2, i), *to = matrix_at(j, 0, i);
    if (!run) return rooms[j->type.place](j->handle, side, reads, m, n, k, a, lda, tau, to, m, &j->elements);
    return runs[j->type.place](j->handle, side, reads, m, n, k, a, lda, tau, to, m, j->work.data, j->elements,
                               info_at(j, i));
}

/* ONE ROW A PRIMITIVE: its function, the operand that is taken apart, and whether it may fail to converge. */
static const struct Row {
    int (*each)(Job *j, int64_t i, bool run);
    int8_t a;
    bool converges;
} rows[TSR_PRIMITIVES] = {
    [TSR_P_LU] = {lu, 0, false},    [TSR_P_CHOLESKY] = {cholesky, 0, false}, [TSR_P_QR] = {qr, 0, false},
    [TSR_P_Q] = {q, 0, false},      [TSR_P_REFLECT] = {reflect, 1, false},   [TSR_P_SVD] = {svd, 3, true},
    [TSR_P_EIGH] = {eigh, 2, true},
};

/* ---- what is made of the results ---- */

static TsrDeviceOperand dense(TsrAddress data, TsrDtype dtype, int64_t down, int64_t across, int64_t apart) {
    return (TsrDeviceOperand){.data = data, .dtype = dtype, .compute = dtype, .strides = {down, across, apart}};
}

/* A pass over (batch, columns, rows) elements of `from`, which go to `to`. */
static TsrStatus pass(const Job *j, uint16_t kernel, const int64_t sizes[3], TsrDeviceOperand to,
                      TsrDeviceOperand from) {
    TsrDeviceMap map = {.index = j->w->index,
                        .kernel = kernel,
                        .dtype = to.dtype,
                        .common = to.dtype,
                        .nout = 1,
                        .noperands = 2,
                        .ndim = 3,
                        .numel = sizes[0] * sizes[1] * sizes[2],
                        .operand = {to, from}};
    map.operand[1].compute = to.dtype;
    memcpy(map.sizes, sizes, 3 * sizeof *sizes);
    return map.numel > 0 ? cuda_map(&map) : TSR_OK;
}

static TsrStatus narrow_pivots(const Job *j) {
    const int64_t k = TSR_MIN(j->m, j->n), sizes[3] = {k * j->batch, 1, 1};
    const TsrAddress from = (TsrAddress)(uintptr_t)j->pivots.data;
    return pass(j, TSR_MAP_COPY, sizes, dense(j->w->t[1].at.data, TSR_INT32, 4, 0, 0), dense(from, TSR_INT64, 8, 0, 0));
}

/* The other triangle becomes 0: in column-major matrices it is that of the transposed one. */
static TsrStatus keep_triangle(const Job *j) {
    const TsrDeviceTriangle how = {.upper = !j->how->upper};
    TsrDeviceWork w = {.index = j->w->index, .what = TSR_P_TRIANGLE, .nout = 1, .params = &how, .nparams = sizeof how};
    w.t[0] = j->w->t[0];
    return cuda_triangle(&w);
}

/* V of its conjugate transpose. */
static TsrStatus turn_vectors(const Job *j) {
    const TsrDeviceTensor *v = &j->w->t[2];
    const TsrDtype dtype = v->at.dtype;
    const int64_t n = j->n, item = (int64_t)cuda_itemsize(dtype), sizes[3] = {n, n, j->batch};
    if (!j->how->vectors) return TSR_OK;
    return pass(j, cuda_is_complex(dtype) ? TSR_K_conj : TSR_MAP_COPY, sizes,
                dense(v->at.data, dtype, item, n * item, n * n * item),
                dense(j->w->t[4].at.data, dtype, n * item, item, n * n * item));
}

/* The vectors are where the matrix was. */
static TsrStatus copy_vectors(const Job *j) {
    const TsrDtype dtype = j->w->t[0].at.dtype;
    const int64_t all = j->n * j->n * j->batch, item = (int64_t)cuda_itemsize(dtype), sizes[3] = {all, 1, 1};
    if (!j->how->vectors) return TSR_OK;
    return pass(j, TSR_MAP_COPY, sizes, dense(j->w->t[0].at.data, dtype, item, 0, 0),
                dense(j->w->t[2].at.data, dtype, item, 0, 0));
}

static TsrStatus finish(const Job *j) {
    switch ((int)j->w->what) {
    case TSR_P_LU: return narrow_pivots(j);
    case TSR_P_CHOLESKY: return keep_triangle(j);
    case TSR_P_SVD: return turn_vectors(j);
    case TSR_P_EIGH: return copy_vectors(j);
    default: return TSR_OK;
    }
}

/* Whether all iterations ended; the host waits. Where one did not, its LAPACK tries, and says what is wrong. */
static TsrStatus check_convergence(const Job *j) {
    int info[64];
    const TsrDevice here = TSR_DEVICE_CPU, there = {TSR_CUDA, (int8_t)j->w->index};
    for (int64_t i = 0; i < j->batch; i += (int64_t)TSR_COUNTOF(info)) {
        const size_t n = (size_t)TSR_MIN(j->batch - i, (int64_t)TSR_COUNTOF(info));
        TSR_TRY(cuda_copy((TsrAddress)(uintptr_t)info, here, (TsrAddress)(uintptr_t)((int *)j->info.data + i), there,
                          n * sizeof *info, TSR_COPY_WAIT));
        for (size_t k = 0; k < n; k++)
            if (info[k] != 0) return TSR_NOT_IMPLEMENTED_ERROR;
    }
    return TSR_OK;
}

/* ---- all of a batch ---- */

/* The lock is held. */
static bool has_handle(Job *j) {
    const int index = j->w->index;
    CuStream stream;
    if (made[index].handle == NULL && solver.create(&made[index].handle) != 0) made[index].handle = NULL;
    if (made[index].handle != NULL && made[index].params == NULL && solver.params_new(&made[index].params) != 0)
        made[index].params = NULL;
    j->handle = made[index].handle;
    j->params = made[index].params;
    return j->handle != NULL && j->params != NULL &&
           cuda_stream(&stream, index, cuda_current_stream(index)) == TSR_OK && solver.stream(j->handle, stream) == 0;
}

/* Memory of the device is the stream's: freed at once, it is given to what comes later in the stream. */
static TsrStatus make_room(Job *j) {
    const size_t elements = (size_t)j->elements * cuda_itemsize(j->w->t[0].at.dtype);
    const size_t pivots = j->w->what == TSR_P_LU ? (size_t)(j->batch * TSR_MIN(j->m, j->n)) * sizeof(int64_t) : 1;
    j->host_work = cuda_host->malloc(TSR_MAX(j->host_bytes, (size_t)1));
    if (j->host_work == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for cuSOLVER's work");
    TSR_TRY(cuda_scratch(&j->work, j->w->index, TSR_MAX(TSR_MAX(j->bytes, elements), (size_t)1)));
    TSR_TRY(cuda_scratch(&j->info, j->w->index, (size_t)j->batch * sizeof(int)));
    return cuda_scratch(&j->pivots, j->w->index, pivots);
}

static void free_room(Job *j) {
    cuda_host->free(j->host_work);
    if (j->work.data != NULL) cuda_scratch_free(&j->work);
    if (j->info.data != NULL) cuda_scratch_free(&j->info);
    if (j->pivots.data != NULL) cuda_scratch_free(&j->pivots);
}

static TsrStatus run(Job *j, const struct Row *row) {
    TSR_TRY(make_room(j));
    for (int64_t i = 0; i < j->batch; i++) {
        TSR_TRY(cuda_host->interrupt_check());
        if (row->each(j, i, true) != 0)
            return cuda_host->error(TSR_ACCELERATOR_ERROR,
                                    "CUDA error: cuSOLVER refused a matrix it had made room for");
    }
    TSR_TRY(finish(j));
    return row->converges ? check_convergence(j) : TSR_OK;
}

TsrStatus cuda_cusolver(const TsrDeviceWork *w, bool *touched) {
    const struct Row *row = &rows[w->what];
    *touched = false;
    if (row->each == NULL) return TSR_NOT_IMPLEMENTED_ERROR;
    const TsrDeviceTensor *a = &w->t[row->a];
    Job j = {.w = w, .how = w->params, .type = types[a->at.dtype], .batch = a->sizes[2], .m = a->sizes[1]};
    j.n = a->sizes[0];
    if (!j.type.known || j.m > INT32_MAX || j.n > INT32_MAX || !cuda_library_has(&cuda_libcusolver))
        return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_enter(w->index));
    pthread_mutex_lock(&lock);
    TsrStatus status = has_handle(&j) && row->each(&j, 0, false) == 0 ? TSR_OK : TSR_NOT_IMPLEMENTED_ERROR;
    *touched = status == TSR_OK;
    if (status == TSR_OK) status = run(&j, row);
    free_room(&j);
    pthread_mutex_unlock(&lock);
    if (status == TSR_OK) cuda_work_uses(w);
    return status;
}
