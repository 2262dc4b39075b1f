/* cusparse.c: sparse matrices times dense ones by NVIDIA's cuSPARSE, found beside the driver at the first product that
 * is large enough (sparse.h). It trusts the columns that it is given, so that a kernel of our own copies them first,
 * and reports those outside. */
#include "cusparse.h"

#include <pthread.h>

#include "cuda/kernels/matmul.h"
#include "cuda/library.h"
#include "cuda/memory.h"
#include "cuda/stream.h"
#include "sparse.h"

#define FUNCTIONS "cuda/kernels/sparse/cusparse.def"
#define TABLE sparse
#define LIBRARY cuda_libcusparse
#define STEM "cusparse"
#include "cuda/library_table.inc"

/* ONE ROW A DTYPE that it multiplies: the element's type and that of sums. */
static const struct Type {
    int element, sums;
    bool known;
} types[TSR_DTYPE_COUNT] = {
    [TSR_FLOAT32] = {SPARSE_F32, SPARSE_F32, true},   [TSR_FLOAT64] = {SPARSE_F64, SPARSE_F64, true},
    [TSR_FLOAT16] = {SPARSE_F16, SPARSE_F32, true},   [TSR_BFLOAT16] = {SPARSE_BF16, SPARSE_F32, true},
    [TSR_COMPLEX64] = {SPARSE_C32, SPARSE_C32, true}, [TSR_COMPLEX128] = {SPARSE_C64, SPARSE_C64, true},
};

/* One and zero of each type of sums. */
static const float one_f32[2] = {1, 0}, zero_f32[2];
static const double one_f64[2] = {1, 0}, zero_f64[2];
static bool is_wide(int sums) { return sums == SPARSE_F64 || sums == SPARSE_C64; }
static const void *one(int sums) { return is_wide(sums) ? (const void *)one_f64 : one_f32; }
static const void *zero(int sums) { return is_wide(sums) ? (const void *)zero_f64 : zero_f32; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static SparseHandle handles[CUDA_MAX_DEVICES];

/* A product: its three matrices as the library knows them. */
typedef struct Product {
    SparseMatrix a;
    SparseDense b, out;
    int sums;
} Product;

static void *pointer(TsrAddress address) { return (void *)(uintptr_t)address; }

static void end(Product *p) {
    if (p->a != NULL) (void)sparse.matrix_free(p->a);
    if (p->b != NULL) (void)sparse.dense_free(p->b);
    if (p->out != NULL) (void)sparse.dense_free(p->out);
}

static bool begin(Product *p, const TsrDeviceWork *w, TsrAddress places) {
    const TsrDeviceTensor *out = &w->t[0], *values = &w->t[3], *dense = &w->t[4];
    const struct Type *type = &types[out->at.dtype];
    const int64_t rows = out->sizes[1], columns = out->sizes[0], depth = dense->sizes[1];
    *p = (Product){.sums = type->sums};
    return sparse.matrix_new(&p->a, rows, depth, values->sizes[0], pointer(w->t[1].at.data), pointer(places),
                             pointer(values->at.data), SPARSE_INT64, SPARSE_INT64, SPARSE_FROM_ZERO,
                             type->element) == 0 &&
           sparse.dense_new(&p->b, depth, columns, columns, pointer(dense->at.data), type->element, SPARSE_BY_ROWS) ==
               0 &&
           sparse.dense_new(&p->out, rows, columns, columns, pointer(out->at.data), type->element, SPARSE_BY_ROWS) == 0;
}

/* The lock is held. NULL: the library refuses. */
static SparseHandle handle_of(int index) {
    CuStream stream;
    if (handles[index] == NULL && sparse.create(&handles[index]) != 0) handles[index] = NULL;
    if (handles[index] == NULL || cuda_stream(&stream, index, cuda_current_stream(index)) != TSR_OK) return NULL;
    return sparse.stream(handles[index], stream) == 0 ? handles[index] : NULL;
}

/* The lock is held, and what the product needs was put into the stream. The work area is the stream's. */
static TsrStatus multiply(SparseHandle handle, const Product *p, int index) {
    size_t bytes = 0;
    TsrDataPtr work;
    if (sparse.room(handle, SPARSE_AS_IS, SPARSE_AS_IS, one(p->sums), p->a, p->b, zero(p->sums), p->out, p->sums,
                    SPARSE_SAME_DIGITS, &bytes) != 0)
        return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_scratch(&work, index, TSR_MAX(bytes, (size_t)1)));
    int refused = sparse.multiply(handle, SPARSE_AS_IS, SPARSE_AS_IS, one(p->sums), p->a, p->b, zero(p->sums), p->out,
                                  p->sums, SPARSE_SAME_DIGITS, work.data);
    cuda_scratch_free(&work);
    if (refused == 0) return TSR_OK;
    return cuda_host->error(TSR_ACCELERATOR_ERROR, "CUDA error: cuSPARSE refused a product that it had made room for");
}

static bool are_aligned(const TsrDeviceWork *w) {
    for (int k = 0; k < 5; k++)
        if (w->t[k].at.data % 16 != 0) return false;
    return true;
}

/* The library refuses more entries than the matrix has places, which an uncoalesced one may have, and prints so. */
static bool takes(const TsrDeviceWork *w) {
    const double entries = (double)w->t[3].sizes[0], rows = (double)w->t[0].sizes[1], depth = (double)w->t[4].sizes[1];
    return types[w->t[0].at.dtype].known && entries > 0 && entries <= rows * depth && are_aligned(w);
}

TsrStatus cuda_cusparse(const TsrDeviceWork *w) {
    const int64_t entries = w->t[3].sizes[0];
    Product p = {0};
    TsrDataPtr places;
    if (!takes(w) || !cuda_library_is_worth((double)entries * (double)w->t[0].sizes[0]) ||
        !cuda_library_has(&cuda_libcusparse))
        return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_enter(w->index));
    TSR_TRY(cuda_scratch(&places, w->index, (size_t)entries * sizeof(int64_t)));
    TsrStatus status = cuda_copy_places((TsrAddress)(uintptr_t)places.data, w);
    pthread_mutex_lock(&lock);
    SparseHandle handle = status == TSR_OK ? handle_of(w->index) : NULL;
    bool made = handle != NULL && begin(&p, w, (TsrAddress)(uintptr_t)places.data);
    if (status == TSR_OK) status = made ? multiply(handle, &p, w->index) : TSR_NOT_IMPLEMENTED_ERROR;
    end(&p);
    pthread_mutex_unlock(&lock);
    cuda_scratch_free(&places);
    return status;
}
