/* cusparse.c: NVIDIA's library for sparse matrices, for the simulated device: what cusparse.def lists, by plain loops
 * in double precision, put into the stream as a kernel is. It refuses what the real one would: sizes that do not fit,
 * types that do not belong together, a missing work area, addresses that are not aligned; and it runs into memory that
 * is not the matrix's where a column is not one of it. */
#include "cuda/kernels/sparse/cusparse.h"

#include <complex.h>
#include <stdbool.h>
#include <stdlib.h>

#include "numbers.h"

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, NO_MEMORY = 2, INVALID_VALUE = 3, NOT_SUPPORTED = 10 };

struct SparseHandleBody {
    CuStream stream;
};
struct SparseMatrixBody {
    int64_t rows, columns, entries;
    void *starts, *places, *values;
    int type;
};
struct SparseDenseBody {
    int64_t rows, columns, leading;
    void *values;
    int type;
};

EXPORT int cusparseCreate(SparseHandle *handle) {
    static struct SparseHandleBody handles[8];
    static int n;
    if (n == 8) return NO_MEMORY;
    *handle = &handles[n++];
    return SUCCESS;
}

EXPORT int cusparseSetStream(SparseHandle handle, CuStream stream) { return handle->stream = stream, SUCCESS; }

static bool is_aligned(const void *address) { return address != NULL && (uintptr_t)address % 16 == 0; }

EXPORT int cusparseCreateCsr(SparseMatrix *matrix, int64_t rows, int64_t columns, int64_t entries, void *starts,
                             void *places, void *values, int starts_type, int places_type, int base, int type) {
    if (entries > rows * columns) abort(); /* the real one prints what is wrong, whoever reads it */
    if (rows < 0 || columns < 0 || entries < 0 || !is_aligned(starts) || !is_aligned(places) || !is_aligned(values) ||
        starts_type != SPARSE_INT64 || places_type != SPARSE_INT64 || base != SPARSE_FROM_ZERO)
        return INVALID_VALUE;
    *matrix = malloc(sizeof **matrix);
    if (*matrix == NULL) return NO_MEMORY;
    **matrix = (struct SparseMatrixBody){rows, columns, entries, starts, places, values, type};
    return SUCCESS;
}

EXPORT int cusparseDestroySpMat(SparseMatrix matrix) { return free(matrix), SUCCESS; }

EXPORT int cusparseCreateDnMat(SparseDense *dense, int64_t rows, int64_t columns, int64_t leading, void *values,
                               int type, int order) {
    if (rows < 0 || columns < 0 || order != SPARSE_BY_ROWS || leading < columns || !is_aligned(values))
        return INVALID_VALUE;
    *dense = malloc(sizeof **dense);
    if (*dense == NULL) return NO_MEMORY;
    **dense = (struct SparseDenseBody){rows, columns, leading, values, type};
    return SUCCESS;
}

EXPORT int cusparseDestroyDnMat(SparseDense dense) { return free(dense), SUCCESS; }

static bool belong(int type, int sums) {
    return type == SPARSE_F16 || type == SPARSE_BF16 ? sums == SPARSE_F32 : sums == type;
}

enum { WORK_BYTES = 256 /* some, so that it is made and freed */ };
static int check(SparseHandle handle, int reads_a, int reads_b, SparseMatrix a, SparseDense b, SparseDense c, int sums,
                 int way) {
    if (handle == NULL || a->columns != b->rows || a->rows != c->rows || b->columns != c->columns) return INVALID_VALUE;
    bool taken = reads_a == SPARSE_AS_IS && reads_b == SPARSE_AS_IS && way == SPARSE_SAME_DIGITS &&
                 a->type == b->type && a->type == c->type && belong(a->type, sums);
    return taken ? SUCCESS : NOT_SUPPORTED;
}

EXPORT int cusparseSpMM_bufferSize(SparseHandle handle, int reads_a, int reads_b, const void *alpha, SparseMatrix a,
                                   SparseDense b, const void *beta, SparseDense c, int sums, int way, size_t *bytes) {
    *bytes = WORK_BYTES;
    return alpha == NULL || beta == NULL ? INVALID_VALUE : check(handle, reads_a, reads_b, a, b, c, sums, way);
}

typedef struct Args {
    struct SparseMatrixBody a;
    struct SparseDenseBody b, c;
    double complex alpha, beta;
} Args;

static void multiply_row(const Args *g, int64_t row) {
    const int64_t *starts = here(g->a.starts), *places = here(g->a.places);
    char *out = here(g->c.values);
    for (int64_t column = 0; column < g->c.columns; column++) {
        const int64_t to = row * g->c.leading + column;
        double complex sum = 0;
        for (int64_t i = starts[row]; i < starts[row + 1]; i++)
            sum += read_number(g->a.type, here(g->a.values), i) *
                   read_number(g->b.type, here(g->b.values), places[i] * g->b.leading + column);
        sum *= g->alpha;
        if (g->beta != 0) sum += g->beta * read_number(g->c.type, out, to);
        write_number(g->c.type, out, to, sum);
    }
}

static void multiply(Simulated *simulated, const void *args) {
    const Args *g = args;
    (void)simulated;
    for (int64_t row = 0; row < g->c.rows; row++) multiply_row(g, row);
}

EXPORT int cusparseSpMM(SparseHandle handle, int reads_a, int reads_b, const void *alpha, SparseMatrix a, SparseDense b,
                        const void *beta, SparseDense c, int sums, int way, void *work) {
    static struct CuFunctionBody function = {multiply, sizeof(Args), 1};
    const int wrong = check(handle, reads_a, reads_b, a, b, c, sums, way);
    if (wrong != SUCCESS || work == NULL) return wrong != SUCCESS ? wrong : INVALID_VALUE;
    Args args = {*a, *b, *c, read_number(sums, alpha, 0), read_number(sums, beta, 0)};
    return cuLaunchKernel(&function, 1, 1, 1, 1, 1, 1, 0, handle->stream, (void *[]){&args}, NULL);
}
