/* bag.c: bags of rows (bag.h): the text of the kernel, device/nn/bag.cuh for a dtype and a way to fold. */
#include "bag.h"

#include "cuda/device/nn/bag_args.h"
#include "cuda/errors.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t dtype, fold;
} Key;

static void write_bag(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_bag_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s Real;\n#define FOLD %d\n", cuda_memory_type(key->dtype),
                    key->dtype == TSR_FLOAT64 ? "double" : "float", key->fold);
    cuda_source_part(s, CUDA_PART_bag);
}

static bool make_key(Key *key, const TsrDeviceWork *w) {
    const TsrDeviceBag *p = w->params;
    const TsrDtype d = w->t[0].at.dtype;
    *key = (Key){.dtype = d, .fold = (uint8_t)p->fold};
    return d == TSR_FLOAT32 || d == TSR_FLOAT64 || d == TSR_FLOAT16 || d == TSR_BFLOAT16;
}

bool cuda_bag_source(CudaSource *out, const TsrDeviceWork *w) {
    Key key;
    if (!make_key(&key, w)) return false;
    write_bag(out, &key);
    return true;
}

TsrStatus cuda_bag(const TsrDeviceWork *w) {
    const TsrDeviceBag *p = w->params;
    const TsrDeviceTensor *table = &w->t[w->nout], *positions = table + 1, *starts = table + 2;
    Key key;
    if (!make_key(&key, w)) return TSR_NOT_IMPLEMENTED_ERROR;
    BagArgs a = {.out = w->t[0].at.data,
                 .from = w->nout > 1 ? w->t[1].at.data : 0,
                 .table = table->at.data,
                 .positions = positions->at.data,
                 .starts = starts->at.data,
                 .factors = w->nin > 3 ? table[3].at.data : 0,
                 .bags = w->t[0].sizes[1],
                 .columns = w->t[0].sizes[0],
                 .rows = table->sizes[1],
                 .n = positions->sizes[0],
                 .pitch = table->at.strides[1],
                 .step = table->at.strides[0],
                 .padding = p->padding,
                 .found = CUDA_FOUND_INDEX + TSR_WRONG_ROW};
    return cuda_run_reporting(w, (CudaText){&key, sizeof key, "tsr_bag", write_bag}, (uint64_t)(a.bags * a.columns),
                              THREADS, &a, &a.errors, &a.launch);
}
