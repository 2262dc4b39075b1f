/* search.c: searches by halves, by device/search.cuh (search.h). */
#include "search.h"

#include "cuda/launch.h"

#include "cuda/device/search_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t bounds, result;
} Key;

void cuda_search_source(CudaSource *s, TsrDtype bounds, TsrDtype result) {
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_search_args);
    cuda_source_add(s, "typedef %s T;\ntypedef %s Place;\n", cuda_memory_type(bounds), cuda_memory_type(result));
    cuda_source_part(s, CUDA_PART_search);
}

static void write_search(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_search_source(s, key->bounds, key->result);
}

TsrStatus cuda_search(const TsrDeviceWork *w) {
    const TsrDeviceSearch *p = w->params;
    const TsrDeviceTensor *out = &w->t[0], *bounds = &w->t[1], *values = &w->t[2];
    Key key = {bounds->at.dtype, out->at.dtype};
    SearchArgs a = {.bounds = bounds->at.data,
                    .values = values->at.data,
                    .sorter = w->nin > 2 ? w->t[3].at.data : 0,
                    .out = out->at.data,
                    .n = 1,
                    .size = (uint64_t)bounds->sizes[0],
                    .each = bounds->ndim > 1 ? (uint64_t)values->sizes[0] : 0,
                    .right = p->right};
    if (key.bounds != values->at.dtype || (key.bounds != TSR_FLOAT64 && key.bounds != TSR_INT64) ||
        (key.result != TSR_INT32 && key.result != TSR_INT64))
        return TSR_NOT_IMPLEMENTED_ERROR;
    for (int d = 0; d < values->ndim; d++) a.n *= (uint64_t)values->sizes[d];
    return cuda_run(w, (CudaText){&key, sizeof key, "tsr_search", write_search}, a.n, THREADS, &a);
}
