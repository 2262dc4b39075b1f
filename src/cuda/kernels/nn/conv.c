/* conv.c: convolutions (conv.h): what the kernel needs to know of the operands, which of the two kernels of
 * device/nn/conv.cuh makes one, and its text. */
#include "conv.h"

#include <string.h>

#include "cuda/device/nn/conv_args.h"

/* As device/nn/conv.cuh has them. With fewer rows than DIRECT_ROWS most of a tile would be empty; the number is a
 * guess: no GPU has run it. */
enum { THREADS = 256, TILE = 64, DIRECT_ROWS = 12 };

typedef struct Key {
    uint8_t in, out, transposed, direct, wide;
} Key;

static TsrDtype sums_of(TsrDtype d) {
    if (d == TSR_FLOAT64) return d;
    return d == TSR_FLOAT32 || d == TSR_FLOAT16 || d == TSR_BFLOAT16 ? TSR_FLOAT32 : TSR_INT64;
}

static void write_conv(CudaSource *s, const void *what) {
    const Key *key = what;
    const TsrDtype sums = sums_of(key->in);
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_conv_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s O;\n", cuda_memory_type(key->in), cuda_memory_type(key->out));
    cuda_source_add(s, "typedef %s B;\ntypedef %s A;\n", cuda_memory_type(sums),
                    sums == TSR_INT64 ? "uint64_t" : cuda_memory_type(sums));
    cuda_source_add(s, "typedef uint%d_t Index;\n", key->wide ? 64 : 32);
    cuda_source_add(s, "#define TRANSPOSED %d\n#define DIRECT %d\n", key->transposed, key->direct);
    cuda_source_part(s, CUDA_PART_conv);
}

/* What the kernel keeps in 32 bits: everything along one dimension, with all that a window adds to it. */
static bool fits(const TsrDeviceWork *w, const TsrDeviceWindow *window) {
    for (int d = 0; d < 3; d++) {
        const double most = (double)TSR_MAX(w->t[0].sizes[d], w->t[1].sizes[d]), stride = (double)window->stride[d],
                     reach = (double)window->kernel[d] * (double)window->dilation[d];
        if (most * stride + reach + (double)window->pad[d] >= INT32_MAX) return false;
    }
    return true;
}

static void place_images(ConvArgs *a, const TsrDeviceTensor *out, const TsrDeviceTensor *in) {
    a->out_batch = out->at.strides[4], a->out_channel = out->at.strides[3];
    a->in_batch = in->at.strides[4], a->in_channel = in->at.strides[3];
    for (int d = 0; d < 3; d++) {
        a->out_size[d] = (int32_t)out->sizes[d], a->in_size[d] = (int32_t)in->sizes[d];
        a->out_at[d] = out->at.strides[d], a->in_at[d] = in->at.strides[d];
    }
}

static void place_weight(ConvArgs *a, const TsrDeviceConv *p, const TsrDeviceTensor *weight) {
    const int64_t volume = weight->sizes[0] * weight->sizes[1] * weight->sizes[2], second = weight->sizes[3] * volume;
    const int64_t filters = weight->sizes[4] / p->groups;
    a->weight_group = filters * second;
    a->weight_row = p->transposed ? volume : second;
    a->weight_channel = p->transposed ? second : volume;
    a->depth = a->channels * volume;
    for (int d = 0; d < 3; d++) {
        a->kernel[d] = (int32_t)p->window.kernel[d], a->stride[d] = (int32_t)p->window.stride[d];
        a->pad[d] = (int32_t)p->window.pad[d], a->dilation[d] = (int32_t)p->window.dilation[d];
    }
}

static bool plan(ConvArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDeviceConv *p = w->params;
    const TsrDeviceTensor *out = &w->t[0], *in = &w->t[1], *weight = &w->t[2];
    const TsrDtype d = in->at.dtype;
    if (cuda_is_complex(d) || cuda_memory_type(d) == NULL || d == TSR_BOOL || !fits(w, &p->window)) return false;
    memset(a, 0, sizeof *a);
    a->out = out->at.data, a->in = in->at.data, a->weight = weight->at.data;
    a->bias = w->nin == 3 ? w->t[3].at.data : 0;
    a->rows = out->sizes[3] / p->groups;
    a->channels = in->sizes[3] / p->groups;
    a->columns = (uint64_t)(out->sizes[0] * out->sizes[1] * out->sizes[2] * out->sizes[4]);
    a->tiles = (a->rows + TILE - 1) / TILE;
    place_images(a, out, in);
    place_weight(a, p, weight);
    *key = (Key){d, out->at.dtype, p->transposed, a->rows < DIRECT_ROWS, a->columns >> 30 != 0};
    return a->depth < INT32_MAX / 2 && p->groups <= 65535;
}

bool cuda_conv_source(CudaSource *out, const TsrDeviceWork *w) {
    ConvArgs a;
    Key key;
    if (!plan(&a, &key, w)) return false;
    write_conv(out, &key);
    return true;
}

TsrStatus cuda_conv(const TsrDeviceWork *w) {
    const TsrDeviceConv *p = w->params;
    ConvArgs a;
    Key key;
    if (!plan(&a, &key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    uint64_t blocks =
        key.direct ? cuda_blocks(w->index, a.columns, THREADS) : (a.columns + TILE - 1) / TILE * (uint64_t)a.tiles;
    if (blocks > INT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_run_blocks(w, (CudaText){&key, sizeof key, "tsr_conv", write_conv}, (unsigned)blocks,
                           (unsigned)p->groups, THREADS, &a);
}
