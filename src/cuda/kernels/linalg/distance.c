/* distance.c: distances between rows by device/linalg/distance.cuh (distance.h). */
#include "distance.h"

#include <math.h>

#include "cuda/launch.h"

#include "cuda/device/linalg/distance_args.h"

/* As device/linalg/distance.cuh has them. */
enum { THREADS = 256, TILE = 32 };
typedef enum Kind { UNEQUAL, ABSOLUTE, SQUARE, LARGEST, POWER } Kind;

typedef struct Key {
    uint8_t dtype, kind;
} Key;

static Key key_of(TsrDtype dtype, double p) {
    return (Key){dtype, p == 0 ? UNEQUAL : p == 1 ? ABSOLUTE : p == 2 ? SQUARE : isinf(p) ? LARGEST : POWER};
}

static void write_distance(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_distance_args);
    cuda_source_add(s, "typedef %s T;\n#define KIND %d\n", cuda_memory_type(key->dtype), key->kind);
    cuda_source_part(s, CUDA_PART_distance);
}

bool cuda_distance_source(CudaSource *out, TsrDtype dtype, double p) {
    const Key key = key_of(dtype, p);
    if (dtype != TSR_FLOAT32 && dtype != TSR_FLOAT64) return false;
    write_distance(out, &key);
    return true;
}

static int64_t tiles(int64_t n) { return (n + TILE - 1) / TILE; }

TsrStatus cuda_distance(const TsrDeviceWork *w) {
    const TsrDeviceDistance *how = w->params;
    const TsrDeviceTensor *out = &w->t[0];
    const TsrDtype dtype = out->at.dtype;
    const Key key = key_of(dtype, how->p);
    const DistanceArgs a = {.out = out->at.data,
                            .left = w->t[1].at.data,
                            .right = w->t[2].at.data,
                            .batch = out->sizes[2],
                            .rows = out->sizes[1],
                            .others = out->sizes[0],
                            .width = w->t[1].sizes[0],
                            .down = tiles(out->sizes[1]),
                            .across = tiles(out->sizes[0]),
                            .p = how->p};
    if (dtype != TSR_FLOAT32 && dtype != TSR_FLOAT64) return TSR_NOT_IMPLEMENTED_ERROR;
    const uint64_t items = (uint64_t)(a.batch * a.down * a.across) * THREADS;
    return cuda_run(w, (CudaText){&key, sizeof key, "tsr_distance", write_distance}, items, THREADS, &a);
}
