/* cublas.c: products of matrices by NVIDIA's cuBLASLt, found beside the driver at the first product (matmul.h).
 *
 * It multiplies column-major matrices. A row-major one is the transpose of such a one, so a row-major result is made as
 * the transpose of b times that of a: the factors change places, and so do rows and columns of everything. float32 is
 * multiplied as such (no TF32), halves with sums in float32, as PyTorch does unless told otherwise. */
#include "cublaslt.h"

#include <pthread.h>
#include <string.h>

#include "cuda/library.h"
#include "matmul.h"
#include "cuda/memory.h"
#include "cuda/stream.h"

#define FUNCTIONS "cuda/kernels/cublaslt.def"
#define TABLE lt
#define LIBRARY cuda_libcublaslt
#define STEM "cublasLt"
#include "cuda/library_table.inc"

/* ONE ROW A DTYPE that it multiplies. */
static const struct Type {
    int element, compute, scale;
    bool known;
} types[TSR_DTYPE_COUNT] = {
    [TSR_FLOAT32] = {LT_F32, LT_COMPUTE_F32, LT_F32, true},   [TSR_FLOAT64] = {LT_F64, LT_COMPUTE_F64, LT_F64, true},
    [TSR_FLOAT16] = {LT_F16, LT_COMPUTE_F32, LT_F32, true},   [TSR_BFLOAT16] = {LT_BF16, LT_COMPUTE_F32, LT_F32, true},
    [TSR_COMPLEX64] = {LT_C32, LT_COMPUTE_F32, LT_C32, true}, [TSR_COMPLEX128] = {LT_C64, LT_COMPUTE_F64, LT_C64, true},
};

/* A matrix as the library takes it; strides count elements. */
typedef struct Matrix {
    TsrAddress data;
    int64_t rows, columns, leading, step;
    int reads;
} Matrix;

typedef struct Product {
    int index;
    TsrDtype dtype;
    Matrix a, b, out;
    int64_t batch;
} Product;

/* `rows` by `columns` elements `down` and `across` apart, column-major or as the transpose of such a matrix. False: it
 * is neither. */
static bool describe(Matrix *m, const TsrDeviceMatrix *x, int64_t size, int64_t rows, int64_t columns, int64_t down,
                     int64_t across) {
    *m = (Matrix){x->data, rows, columns, across / size, x->batch / size, LT_AS_IS};
    if (down % size != 0 || across % size != 0 || x->batch % size != 0) return false;
    bool as_is = (rows == 1 || down == size) && (columns == 1 || across / size >= rows);
    bool turned = (columns == 1 || across == size) && (rows == 1 || down / size >= columns);
    if (columns == 1) m->leading = rows;
    if (as_is && !x->conj) return true;
    if (!turned) return false;
    *m = (Matrix){x->data,
                  columns,
                  rows,
                  rows == 1 ? columns : down / size,
                  x->batch / size,
                  x->conj ? LT_CONJUGATE : LT_TRANSPOSED};
    return true;
}

static bool describe_all(Product *p, const TsrDeviceMatmul *m) {
    int64_t size = (int64_t)cuda_itemsize(m->dtype);
    bool by_columns = m->rows == 1 ? m->columns == 1 || m->out.column != size : m->out.row == size;
    *p = (Product){.index = m->index, .dtype = m->dtype, .batch = m->batch};
    bool good = by_columns ? describe(&p->a, &m->a, size, m->rows, m->depth, m->a.row, m->a.column) &&
                                 describe(&p->b, &m->b, size, m->depth, m->columns, m->b.row, m->b.column) &&
                                 describe(&p->out, &m->out, size, m->rows, m->columns, m->out.row, m->out.column)
                           : describe(&p->a, &m->b, size, m->columns, m->depth, m->b.column, m->b.row) &&
                                 describe(&p->b, &m->a, size, m->depth, m->rows, m->a.column, m->a.row) &&
                                 describe(&p->out, &m->out, size, m->columns, m->rows, m->out.column, m->out.row);
    return good && p->out.reads == LT_AS_IS && m->batch <= INT32_MAX;
}

/* What was made for a product, and is kept for the next one that differs in addresses only. */
typedef struct Made {
    Product of; /* with what the addresses are multiples of in their places */
    LtProduct product;
    LtLayout a, b, out;
    LtChoice choice;
} Made;

enum { KEPT = 64 };
/* As much as PyTorch gives it on an H100: its fastest ways share the depth among blocks. */
static const uint64_t most_workspace = 32u << 20;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LtHandle handles[CUDA_MAX_DEVICES];
static Made kept[KEPT];
static unsigned next_kept;

static void forget(Made *made) {
    if (made->product != NULL) (void)lt.product_free(made->product);
    if (made->a != NULL) (void)lt.layout_free(made->a);
    if (made->b != NULL) (void)lt.layout_free(made->b);
    if (made->out != NULL) (void)lt.layout_free(made->out);
    memset(made, 0, sizeof *made);
}

static bool make_layout(LtLayout *out, const Matrix *m, int type, int32_t batch) {
    if (lt.layout_new(out, type, (uint64_t)m->rows, (uint64_t)m->columns, m->leading) != 0) return false;
    return batch == 1 || (lt.layout_set(*out, LT_BATCH, &batch, sizeof batch) == 0 &&
                          lt.layout_set(*out, LT_BATCH_STEP, &m->step, sizeof m->step) == 0);
}

/* What the address is a multiple of, at most 256. */
static TsrAddress alignment(TsrAddress address) { return address % 256 == 0 ? 256 : address & (~address + 1); }

static bool tell_alignments(LtWish wish, const Product *p) {
    static const int attributes[] = {LT_ALIGNED_A, LT_ALIGNED_B, LT_ALIGNED_C, LT_ALIGNED_D};
    const uint32_t bytes[] = {(uint32_t)p->a.data, (uint32_t)p->b.data, (uint32_t)p->out.data, (uint32_t)p->out.data};
    bool good = true;
    for (int i = 0; i < 4; i++) good = good && lt.wish_set(wish, attributes[i], &bytes[i], sizeof bytes[i]) == 0;
    return good;
}

static bool choose(Made *made, LtHandle handle) {
    LtWish wish = NULL;
    int found = 0;
    bool good =
        lt.wish_new(&wish) == 0 && lt.wish_set(wish, LT_MOST_WORKSPACE, &most_workspace, sizeof most_workspace) == 0 &&
        tell_alignments(wish, &made->of) &&
        lt.choose(handle, made->product, made->a, made->b, made->out, made->out, wish, 1, &made->choice, &found) == 0;
    if (wish != NULL) (void)lt.wish_free(wish);
    return good && found == 1 && made->choice.status == 0;
}

static bool make(Made *made, LtHandle handle, const Product *p) {
    const struct Type *type = &types[p->dtype];
    int32_t a = p->a.reads, b = p->b.reads, batch = (int32_t)p->batch;
    memcpy(&made->of, p, sizeof *p);
    return lt.product_new(&made->product, type->compute, type->scale) == 0 &&
           lt.product_set(made->product, LT_READS_A, &a, sizeof a) == 0 &&
           lt.product_set(made->product, LT_READS_B, &b, sizeof b) == 0 &&
           make_layout(&made->a, &p->a, type->element, batch) && make_layout(&made->b, &p->b, type->element, batch) &&
           make_layout(&made->out, &p->out, type->element, batch) && choose(made, handle);
}

/* The lock is held. NULL: the library refuses it. */
static const Made *find(LtHandle handle, const Product *given) {
    Product p;
    memset(&p, 0, sizeof p); /* padding too: it is compared as bytes */
    p.index = given->index, p.dtype = given->dtype, p.batch = given->batch;
    p.a = given->a, p.b = given->b, p.out = given->out;
    p.a.data = alignment(p.a.data), p.b.data = alignment(p.b.data), p.out.data = alignment(p.out.data);
    for (int i = 0; i < KEPT; i++)
        if (kept[i].product != NULL && memcmp(&kept[i].of, &p, sizeof p) == 0) return &kept[i];
    Made *made = &kept[next_kept++ % KEPT];
    forget(made);
    if (make(made, handle, &p)) return made;
    forget(made);
    return NULL;
}

/* The lock is held. The workspace is the stream's: freed at once, it is given to what comes later in the stream. */
static TsrStatus run(const Made *made, LtHandle handle, const Product *p, const TsrDeviceMatmul *m) {
    TsrDataPtr workspace;
    CuStream stream;
    TSR_TRY(cuda_scratch(&workspace, p->index, made->choice.workspace));
    TsrStatus status = cuda_stream(&stream, p->index, cuda_current_stream(p->index));
    if (status == TSR_OK &&
        lt.multiply(handle, made->product, m->alpha, p->a.data, made->a, p->b.data, made->b, m->beta, p->out.data,
                    made->out, p->out.data, made->out, &made->choice.algorithm, (uint64_t)(uintptr_t)workspace.data,
                    made->choice.workspace, stream) != 0)
        status = cuda_host->error(TSR_ACCELERATOR_ERROR, "CUDA error: cublasLtMatmul refused a product it had chosen");
    cuda_scratch_free(&workspace);
    return status;
}

static LtHandle handle_of(int index) {
    if (handles[index] == NULL && lt.create(&handles[index]) != 0) handles[index] = NULL;
    return handles[index];
}

TsrStatus cuda_blas_matmul(const TsrDeviceMatmul *m) {
    Product p;
    if (!types[m->dtype].known || m->depth == 0 || !describe_all(&p, m) || !cuda_library_has(&cuda_libcublaslt))
        return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_enter(m->index));
    pthread_mutex_lock(&lock);
    LtHandle handle = handle_of(m->index);
    const Made *made = handle != NULL ? find(handle, &p) : NULL;
    TsrStatus status = made != NULL ? run(made, handle, &p, m) : TSR_NOT_IMPLEMENTED_ERROR;
    pthread_mutex_unlock(&lock);
    return status;
}
