/* matmul.c: products of matrices (matmul.h): which kernel makes one, and its text, device/matmul.cuh for the dtype. */
#include "matmul.h"

#include <stdlib.h>
#include <string.h>

#define alignas _Alignas
#include "cuda/device/matmul_args.h"
#undef alignas

/* As device/matmul.cuh has them. */
enum { THREADS = 256, TILE = 64, MOST_BATCHES = 65535 };

typedef struct Key {
    uint8_t dtype, sums, conj_a, conj_b, vectors;
} Key;

static const char *sums_type(TsrDtype d) { return d == TSR_INT64 ? "uint64_t" : cuda_memory_type(d); }

static void write_matmul(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_matmul_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s A;\n", cuda_memory_type(key->dtype), sums_type(key->sums));
    cuda_source_add(s, "#define CONJ_A %d\n#define CONJ_B %d\n#define VECTORS %d\n", key->conj_a, key->conj_b,
                    key->vectors);
    cuda_source_part(s, CUDA_PART_matmul);
}

static bool make_key(Key *key, const TsrDeviceMatmul *m) {
    if (cuda_memory_type(m->dtype) == NULL || cuda_memory_type(m->sums) == NULL || m->dtype == TSR_BOOL) return false;
    *key = (Key){m->dtype, m->sums, m->a.conj, m->b.conj, m->rows == 1 || m->columns == 1};
    return true;
}

bool cuda_matmul_source(CudaSource *out, const TsrDeviceMatmul *m) {
    Key key;
    if (!make_key(&key, m)) return false;
    write_matmul(out, &key);
    return true;
}

static int64_t tiles(int64_t n) { return (n + TILE - 1) / TILE; }

static void fill(MatmulArgs *a, const TsrDeviceMatmul *m) {
    memset(a, 0, sizeof *a);
    a->rows = m->rows, a->columns = m->columns, a->depth = m->depth, a->batch = m->batch;
    a->across = tiles(m->columns);
    a->adds = m->adds;
    memcpy(a->alpha, m->alpha, sizeof a->alpha);
    memcpy(a->beta, m->beta, sizeof a->beta);
    a->a.data = m->a.data, a->a.row = m->a.row, a->a.column = m->a.column, a->a.batch = m->a.batch;
    a->b.data = m->b.data, a->b.row = m->b.row, a->b.column = m->b.column, a->b.batch = m->b.batch;
    a->out.data = m->out.data, a->out.row = m->out.row, a->out.column = m->out.column, a->out.batch = m->out.batch;
}

static TsrStatus own_kernel(const TsrDeviceMatmul *m) {
    Key key;
    CuFunction f;
    MatmulArgs args;
    if (!make_key(&key, m)) return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_kernel(&f, m->index, &key, sizeof key, "tsr_matmul", write_matmul, &key));
    fill(&args, m);
    unsigned batches = (unsigned)TSR_MIN(m->batch, (int64_t)MOST_BATCHES);
    int64_t blocks = tiles(m->rows) * args.across;
    if (key.vectors) blocks = cuda_blocks(m->index, (uint64_t)(m->rows * m->columns), 1);
    if (blocks > INT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_launch(f, m->index, (unsigned)blocks, batches, THREADS, &args);
}

static void tell_uses(const TsrDeviceMatmul *m, const TsrDeviceMatrix *x, int64_t rows, int64_t columns, bool writes) {
    TsrDeviceOperand o = {.data = x->data, .dtype = m->dtype, .strides = {x->column, x->row, x->batch}};
    if (rows > 0 && columns > 0) cuda_operand_uses(&o, m->index, 3, (int64_t[]){columns, rows, m->batch}, writes);
}

/* SMALL is an estimate: it was not measured on a GPU. */
enum { SMALL = 64 * 64 * 64 };
bool cuda_library_is_worth(double products) {
    const char *blas = getenv("TSR_CUDA_BLAS");
    return (blas != NULL && strcmp(blas, "always") == 0) || products > SMALL;
}

static bool is_large(const TsrDeviceMatmul *m) {
    return cuda_library_is_worth((double)m->rows * (double)m->columns * (double)m->depth * (double)m->batch);
}

TsrStatus cuda_matmul(const TsrDeviceMatmul *m) {
    if (m->rows == 0 || m->columns == 0 || m->batch == 0) return TSR_OK;
    TsrStatus status = is_large(m) ? cuda_blas_matmul(m) : TSR_NOT_IMPLEMENTED_ERROR;
    if (status == TSR_NOT_IMPLEMENTED_ERROR) status = own_kernel(m);
    TSR_TRY(status);
    tell_uses(m, &m->a, m->rows, m->depth, false);
    tell_uses(m, &m->b, m->depth, m->columns, false);
    tell_uses(m, &m->out, m->rows, m->columns, true);
    return TSR_OK;
}
