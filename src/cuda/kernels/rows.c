/* rows.c: softmax and normalisation of lines (rows.h): how threads share lines, and the text of the kernel,
 * device/rows.cuh for one kind and its dtype. */
#include "rows.h"

#include <string.h>

#include "cuda/device/rows_args.h"

/* Threads of a block, and those that read neighbouring elements, at least. A line that lies together is kept in shared
 * memory for its second reading up to KEPT_BYTES; blocks for longer ones have more threads, so that all lines that are
 * at work at a time lie in the second cache. No GPU has tried these numbers. */
enum { THREADS = 256, MANY_THREADS = 1024, NEIGHBOURS = 32, KEPT_BYTES = 16384 };

typedef struct Key {
    uint8_t what, log, dtype, statistics, weight, bias;
    uint8_t keeps, many; /* elements of a line; threads */
} Key;

static int threads_of(const Key *key) { return key->many ? MANY_THREADS : THREADS; }
static int kept_of(const Key *key) { return key->keeps ? KEPT_BYTES / (int)cuda_itemsize(key->dtype) : 0; }

static const char *wide_type(const Key *key) { return key->dtype == TSR_FLOAT64 ? "double" : "float"; }

static void write_rows(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, threads_of(key));
    cuda_source_part(s, CUDA_PART_rows_args);
    cuda_source_add(s, "#define BLOCK_THREADS %d\n#define KEPT %d\n", threads_of(key), kept_of(key));
    cuda_source_add(s, "typedef %s E;\ntypedef %s A;\n", cuda_memory_type(key->dtype), wide_type(key));
    cuda_source_add(s, "#define STATISTICS %d\n#define WEIGHT %d\n#define BIAS %d\n", key->statistics, key->weight,
                    key->bias);
    cuda_source_add(s, "#define LINE %s\n",
                    key->what == TSR_P_NORM ? "Norm"
                    : key->log              ? "Softmax<true>"
                                            : "Softmax<false>");
    cuda_source_part(s, CUDA_PART_moments);
    cuda_source_part(s, CUDA_PART_rows);
}

static bool is_float(TsrDtype d) {
    return d == TSR_FLOAT32 || d == TSR_FLOAT64 || d == TSR_FLOAT16 || d == TSR_BFLOAT16;
}

static void share(RowsArgs *a, Key *key) {
    a->along = a->inner == 1;
    key->many = a->along && a->n > KEPT_BYTES / (int64_t)cuda_itemsize(key->dtype);
    key->keeps = a->along && !key->many && a->n >= THREADS;
    uint32_t width = 1, threads = (uint32_t)threads_of(key), most = threads;
    if (!a->along)
        while (most > 1 && threads / most < NEIGHBOURS) most /= 2;
    while (width < most && width < a->n) width *= 2;
    a->width = width;
    a->beside = threads / width;
}

static bool plan_softmax(RowsArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDeviceSoftmax *p = w->params;
    const TsrDeviceTensor *x = &w->t[1];
    if (w->nout != 1 || w->nin != 1 || !is_float(x->at.dtype) || w->t[0].at.dtype != x->at.dtype) return false;
    *a = (RowsArgs){.out = w->t[0].at.data, .in = x->at.data, .lines = 1, .n = 1, .inner = 1};
    for (int d = 0; d < x->ndim; d++) {
        if (d < w->dim) a->inner *= x->sizes[d];
        if (d == w->dim) a->n = x->sizes[d];
        else a->lines *= x->sizes[d];
    }
    *key = (Key){.what = (uint8_t)w->what, .log = p->log, .dtype = x->at.dtype};
    return true;
}

static bool plan_norm(RowsArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDeviceNorm *p = w->params;
    int k = w->nout;
    if (w->nout != 1 + 2 * p->statistics || w->nin != 1 + p->weight + p->bias || !is_float(w->t[0].at.dtype))
        return false;
    *a = (RowsArgs){.out = w->t[0].at.data,
                    .lines = p->rows,
                    .n = p->columns,
                    .inner = 1,
                    .groups = p->groups,
                    .span = p->span,
                    .eps = p->eps};
    if (p->statistics) a->mean = w->t[1].at.data, a->rstd = w->t[2].at.data;
    a->in = w->t[k++].at.data;
    if (p->weight) a->weight = w->t[k++].at.data;
    if (p->bias) a->bias = w->t[k].at.data;
    *key = (Key){.what = (uint8_t)w->what,
                 .dtype = w->t[0].at.dtype,
                 .statistics = p->statistics,
                 .weight = p->weight,
                 .bias = p->bias};
    return true;
}

static bool plan(RowsArgs *a, Key *key, const TsrDeviceWork *w) {
    if (!(w->what == TSR_P_NORM ? plan_norm : plan_softmax)(a, key, w)) return false;
    share(a, key);
    return true;
}

bool cuda_rows_source(CudaSource *out, const TsrDeviceWork *w) {
    RowsArgs a;
    Key key;
    if (!plan(&a, &key, w)) return false;
    write_rows(out, &key);
    return true;
}

TsrStatus cuda_rows(const TsrDeviceWork *w) {
    RowsArgs a;
    Key key;
    if (!plan(&a, &key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    if (a.lines == 0 || (a.n == 0 && w->what == TSR_P_SOFTMAX)) return TSR_OK;
    const unsigned blocks = cuda_blocks(w->index, (uint64_t)a.lines, a.beside);
    return cuda_run_blocks(w, (CudaText){&key, sizeof key, "tsr_rows", write_rows}, blocks, 1,
                           (unsigned)threads_of(&key), &a);
}
