/* pool.c: pools (pool.h): what the kernel needs to know of the operands, and its text, device/nn/pool.cuh for a dtype.
 */
#include "pool.h"

#include <string.h>

#include "cuda/device/nn/pool_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t dtype, maximum, wide;
} Key;

static const char *wide_type(TsrDtype d) {
    if (d == TSR_FLOAT64) return "double";
    return d == TSR_FLOAT32 || d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? "float" : "int64_t";
}

static void write_pool(CudaSource *s, const void *what) {
    const Key *key = what;
    const char *wide = wide_type(key->dtype);
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_pool_spans);
    cuda_source_part(s, CUDA_PART_pool_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s A;\n", cuda_memory_type(key->dtype), wide);
    cuda_source_add(s, "typedef %s S;\n", strcmp(wide, "int64_t") == 0 ? "uint64_t" : wide);
    cuda_source_add(s, "typedef uint%d_t Index;\n#define MAXIMUM %d\n", key->wide ? 64 : 32, key->maximum);
    cuda_source_part(s, CUDA_PART_pool);
}

static void copy3(int64_t *to, const int64_t *from) { memcpy(to, from, 3 * sizeof *to); }

static void place_images(PoolArgs *a, const TsrDeviceTensor *out, const TsrDeviceTensor *index,
                         const TsrDeviceTensor *in) {
    a->out = out->at.data, a->in = in->at.data, a->index = index != NULL ? index->at.data : 0;
    a->out_batch = out->at.strides[4], a->out_channel = out->at.strides[3];
    a->in_batch = in->at.strides[4], a->in_channel = in->at.strides[3];
    copy3(a->out_at, out->at.strides);
    copy3(a->in_at, in->at.strides);
    copy3(a->out_size, out->sizes);
    copy3(a->in_size, in->sizes);
    a->channels = out->sizes[3];
    a->last = out->sizes[0] > 1 && out->at.strides[0] > out->at.strides[3];
    a->n = (uint64_t)out->sizes[4] * (uint64_t)out->sizes[3];
    for (int d = 0; d < 3; d++) a->n *= (uint64_t)out->sizes[d];
    if (index == NULL) return;
    a->index_batch = index->at.strides[4], a->index_channel = index->at.strides[3];
    copy3(a->index_at, index->at.strides);
}

static bool plan(PoolArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDevicePool *p = w->params;
    const TsrDeviceTensor *in = &w->t[w->nout];
    if (cuda_is_complex(in->at.dtype) || cuda_memory_type(in->at.dtype) == NULL) return false;
    memset(a, 0, sizeof *a);
    place_images(a, &w->t[0], w->nout == 2 ? &w->t[1] : NULL, in);
    copy3(a->kernel, p->window.kernel);
    copy3(a->stride, p->window.stride);
    copy3(a->pad, p->window.pad);
    copy3(a->dilation, p->window.dilation);
    a->divisor = p->divisor, a->least = p->least;
    a->adaptive = p->adaptive, a->count_pad = p->count_pad, a->rounds = p->rounds;
    *key = (Key){in->at.dtype, p->maximum, a->n >> 30 != 0};
    return true;
}

bool cuda_pool_source(CudaSource *out, const TsrDeviceWork *w) {
    PoolArgs a;
    Key key;
    if (!plan(&a, &key, w)) return false;
    write_pool(out, &key);
    return true;
}

TsrStatus cuda_pool(const TsrDeviceWork *w) {
    PoolArgs a;
    Key key;
    if (!plan(&a, &key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_run(w, (CudaText){&key, sizeof key, "tsr_pool", write_pool}, a.n, THREADS, &a);
}
