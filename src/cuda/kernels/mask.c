/* mask.c: masks by device/mask.cuh (mask.h): a block a chunk. */
#include "mask.h"

#include <string.h>

#include "cuda/launch.h"

#include "cuda/device/mask_args.h"

enum { THREADS = 256 };
_Static_assert(TSR_DEVICE_MASK_CHUNK / THREADS == 16, "a thread reads 16 bytes at once");

void cuda_mask_source(CudaSource *s) {
    cuda_source_begin(s, THREADS);
    cuda_source_add(s, "#define BLOCK_THREADS %d\n", THREADS);
    cuda_source_part(s, CUDA_PART_group);
    cuda_source_part(s, CUDA_PART_mask_args);
    cuda_source_add(s, "#define CHUNK %d\n", TSR_DEVICE_MASK_CHUNK);
    cuda_source_part(s, CUDA_PART_mask);
}

static void write_mask(CudaSource *s, const void *what) {
    (void)what;
    cuda_mask_source(s);
}

static TsrStatus run(const TsrDeviceWork *w, const char *name, MaskArgs *a) {
    int64_t chunks = (a->n + TSR_DEVICE_MASK_CHUNK - 1) / TSR_DEVICE_MASK_CHUNK;
    if (a->n == 0 || chunks > INT32_MAX) return a->n == 0 ? TSR_OK : TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_run_blocks(w, (CudaText){"mask", 4, name, write_mask}, (unsigned)chunks, 1, THREADS, a);
}

TsrStatus cuda_true_counts(const TsrDeviceWork *w) {
    MaskArgs a = {.mask = w->t[1].at.data, .out = w->t[0].at.data, .n = w->t[1].sizes[0]};
    return run(w, "tsr_mask_counts", &a);
}

TsrStatus cuda_true_places(const TsrDeviceWork *w) {
    const TsrDeviceShape *p = w->params;
    MaskArgs a = {.mask = w->t[1].at.data,
                  .out = w->t[0].at.data,
                  .ends = w->t[2].at.data,
                  .n = w->t[1].sizes[0],
                  .count = w->t[0].sizes[1],
                  .ndim = p->ndim};
    memcpy(a.sizes, p->sizes, sizeof a.sizes);
    return run(w, "tsr_mask_positions", &a);
}
