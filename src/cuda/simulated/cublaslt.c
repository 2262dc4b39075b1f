/* cublaslt.c: NVIDIA's library for products of matrices, for the simulated device: what cublaslt.def lists, by plain
 * loops in double precision, put into the stream as a kernel is. It refuses what the real one would: layouts whose
 * columns overlap, batches of other lengths, addresses with less alignment than was promised. */
#include "cuda/kernels/cublaslt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, NO_MEMORY = 3, INVALID = 7, NOT_SUPPORTED = 15 };

struct LtProductBody {
    int compute, scale;
    int32_t reads[2];
};
struct LtLayoutBody {
    int type;
    uint64_t rows, columns;
    int64_t leading, step;
    int32_t batch;
};
struct LtWishBody {
    uint32_t aligned[4];
};

EXPORT int cublasLtCreate(LtHandle *handle) {
    static char one;
    *handle = (LtHandle)(void *)&one;
    return SUCCESS;
}

#define NEW(out, ...) \
    do { \
        *(out) = malloc(sizeof **(out)); \
        if (*(out) == NULL) return NO_MEMORY; \
        __VA_ARGS__; \
        return SUCCESS; \
    } while (0)

EXPORT int cublasLtMatmulDescCreate(LtProduct *product, int compute, int scale) {
    NEW(product, **product = (struct LtProductBody){.compute = compute, .scale = scale});
}

EXPORT int cublasLtMatmulDescSetAttribute(LtProduct p, int attribute, const void *value, size_t size) {
    if (size != 4 || (attribute != LT_READS_A && attribute != LT_READS_B)) return INVALID;
    memcpy(&p->reads[attribute == LT_READS_B], value, size);
    return SUCCESS;
}

EXPORT int cublasLtMatmulDescDestroy(LtProduct product) { return free(product), SUCCESS; }

EXPORT int cublasLtMatrixLayoutCreate(LtLayout *layout, int type, uint64_t rows, uint64_t columns, int64_t leading) {
    NEW(layout, **layout = (struct LtLayoutBody){type, rows, columns, leading, 0, 1});
}

EXPORT int cublasLtMatrixLayoutSetAttribute(LtLayout l, int attribute, const void *value, size_t size) {
    if (attribute == LT_BATCH && size == 4) return memcpy(&l->batch, value, size), SUCCESS;
    if (attribute == LT_BATCH_STEP && size == 8) return memcpy(&l->step, value, size), SUCCESS;
    return INVALID;
}

EXPORT int cublasLtMatrixLayoutDestroy(LtLayout layout) { return free(layout), SUCCESS; }

EXPORT int cublasLtMatmulPreferenceCreate(LtWish *wish) {
    NEW(wish, **wish = (struct LtWishBody){{256, 256, 256, 256}});
}

EXPORT int cublasLtMatmulPreferenceSetAttribute(LtWish w, int attribute, const void *value, size_t size) {
    if (attribute == LT_MOST_WORKSPACE) return size == 8 ? SUCCESS : INVALID;
    if (attribute < LT_ALIGNED_A || attribute > LT_ALIGNED_D || size != 4) return INVALID;
    return memcpy(&w->aligned[attribute - LT_ALIGNED_A], value, size), SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceDestroy(LtWish wish) { return free(wish), SUCCESS; }

/* ---- one product ---- */

/* Of a factor as it is read. */
static uint64_t rows_of(const struct LtLayoutBody *l, int reads) { return reads == LT_AS_IS ? l->rows : l->columns; }
static uint64_t columns_of(const struct LtLayoutBody *l, int reads) { return reads == LT_AS_IS ? l->columns : l->rows; }

static bool is_whole(const struct LtLayoutBody *l) { return l->leading > 0 && (uint64_t)l->leading >= l->rows; }

static bool fit(LtProduct p, LtLayout a, LtLayout b, LtLayout d) {
    return is_whole(a) && is_whole(b) && is_whole(d) && a->batch == d->batch && b->batch == d->batch &&
           a->type == d->type && b->type == d->type && rows_of(a, p->reads[0]) == d->rows &&
           columns_of(b, p->reads[1]) == d->columns && columns_of(a, p->reads[0]) == rows_of(b, p->reads[1]);
}

/* The alignments that were promised go along in the algorithm. */
EXPORT int cublasLtMatmulAlgoGetHeuristic(LtHandle handle, LtProduct p, LtLayout a, LtLayout b, LtLayout c, LtLayout d,
                                          LtWish wish, int wanted, LtChoice *choices, int *found) {
    *found = 0;
    if (handle == NULL || c != d || wanted < 1 || !fit(p, a, b, d)) return NOT_SUPPORTED;
    memset(choices, 0, sizeof *choices);
    for (int i = 0; i < 4; i++) choices->algorithm.words[i] = wish->aligned[i];
    choices->workspace = 512; /* some, so that it is made and freed */
    *found = 1;
    return SUCCESS;
}

typedef struct Args {
    struct LtProductBody product;
    struct LtLayoutBody a, b, d;
    uint64_t a_data, b_data, d_data;
    _Alignas(16) char alpha[16], beta[16];
} Args;

static double complex factor(const struct LtLayoutBody *l, int reads, uint64_t address, int64_t batch, uint64_t row,
                             uint64_t column) {
    uint64_t down = reads == LT_AS_IS ? row : column, across = reads == LT_AS_IS ? column : row;
    double complex x = read_number(l->type, here((const void *)(uintptr_t)address),
                                   batch * l->step + (int64_t)across * l->leading + (int64_t)down);
    return reads == LT_CONJUGATE ? conj(x) : x;
}

static void multiply_one(const Args *g, int64_t batch, uint64_t row, uint64_t column) {
    double complex sum = 0, alpha = read_number(g->product.scale, g->alpha, 0),
                   beta = read_number(g->product.scale, g->beta, 0);
    uint64_t depth = columns_of(&g->a, g->product.reads[0]);
    void *out = here((const void *)(uintptr_t)g->d_data);
    int64_t at = batch * g->d.step + (int64_t)column * g->d.leading + (int64_t)row;
    for (uint64_t k = 0; k < depth; k++)
        sum += factor(&g->a, g->product.reads[0], g->a_data, batch, row, k) *
               factor(&g->b, g->product.reads[1], g->b_data, batch, k, column);
    sum *= alpha;
    write_number(g->d.type, out, at, beta != 0 ? sum + beta * read_number(g->d.type, out, at) : sum);
}

static void multiply_all(Simulated *simulated, const void *args) {
    const Args *g = args;
    (void)simulated;
    for (int64_t batch = 0; batch < g->d.batch; batch++)
        for (uint64_t column = 0; column < g->d.columns; column++)
            for (uint64_t row = 0; row < g->d.rows; row++) multiply_one(g, batch, row, column);
}

EXPORT int cublasLtMatmul(LtHandle handle, LtProduct p, const void *alpha, uint64_t a_data, LtLayout a, uint64_t b_data,
                          LtLayout b, const void *beta, uint64_t c_data, LtLayout c, uint64_t d_data, LtLayout d,
                          const LtAlgorithm *algorithm, uint64_t workspace, size_t workspace_size, CuStream stream) {
    static struct CuFunctionBody function = {multiply_all, sizeof(Args), 1};
    const uint64_t data[4] = {a_data, b_data, c_data, d_data};
    Args args = {*p, *a, *b, *d, a_data, b_data, d_data, {0}, {0}};
    size_t scale = p->scale == LT_F32 ? 4 : p->scale == LT_C64 ? 16 : 8;
    if (handle == NULL || c != d || c_data != d_data || workspace == 0 || workspace_size != 512) return INVALID;
    for (int i = 0; i < 4; i++)
        if (algorithm->words[i] == 0 || data[i] % algorithm->words[i] != 0) return INVALID;
    memcpy(args.alpha, alpha, scale);
    memcpy(args.beta, beta, scale);
    return cuLaunchKernel(&function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&args}, NULL);
}
