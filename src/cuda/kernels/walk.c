/* walk.c: sizes and strides side by side, made as few as they can be (walk.h). */
#include "walk.h"

#include <string.h>

void cuda_division(uint32_t *magic, uint32_t *shift, uint64_t size) {
    unsigned bits = 0;
    if (size >> 31 != 0) return;
    while ((UINT64_C(1) << bits) < size) bits++;
    *shift = bits;
    *magic = (uint32_t)(((UINT64_C(1) << 32) * ((UINT64_C(1) << bits) - size)) / size + 1);
}

/* After a change of w's sizes: what follows from them. */
static void finish(Walk *w, WalkKind *kind) {
    w->n = 1;
    for (int d = 0; d < kind->ndim; d++) {
        w->n *= w->sizes[d];
        cuda_division(&w->magic[d], &w->shift[d], w->sizes[d]);
    }
    kind->wide = w->n >> 31 != 0;
}

static bool continues(const Walk *w, int d, int count, const TsrDeviceTensor *t, int from) {
    for (int k = 0; k < count; k++)
        if (t[k].at.strides[from] != w->strides[k][d] * (int64_t)w->sizes[d]) return false;
    return true;
}

WalkKind cuda_walk(Walk *w, const TsrDeviceTensor *t, int count) {
    WalkKind kind = {0};
    memset(w, 0, sizeof *w);
    for (int d = 0; d < t[0].ndim; d++) {
        if (t[0].sizes[d] == 1) continue;
        if (kind.ndim > 0 && continues(w, kind.ndim - 1, count, t, d)) {
            w->sizes[kind.ndim - 1] *= (uint64_t)t[0].sizes[d];
            continue;
        }
        w->sizes[kind.ndim] = (uint64_t)t[0].sizes[d];
        for (int k = 0; k < count; k++) w->strides[k][kind.ndim] = t[k].at.strides[d];
        kind.ndim++;
    }
    if (kind.ndim == 0) w->sizes[kind.ndim++] = 1;
    finish(w, &kind);
    return kind;
}

static bool can_widen(const Walk *w, WalkKind kind, int count, const TsrDeviceTensor *t, int item, const int64_t *also,
                      int nalso) {
    bool can = item < 16 && w->sizes[0] % 2 == 0;
    for (int k = 0; k < count; k++) can = can && w->strides[k][0] == (k < 2 ? item : 0);
    for (int k = 0; k < 2 && can; k++) {
        can = t[k].at.data % (uint64_t)(2 * item) == 0;
        for (int d = 1; d < kind.ndim; d++) can = can && w->strides[k][d] % (2 * item) == 0;
    }
    for (int k = 0; k < nalso; k++) can = can && also[k] % (2 * item) == 0;
    return can;
}

void cuda_walk_widen(Walk *w, WalkKind *kind, int count, const TsrDeviceTensor *t, int *item, const int64_t *also,
                     int nalso) {
    while (can_widen(w, *kind, count, t, *item, also, nalso)) {
        *item *= 2;
        w->sizes[0] /= 2;
        w->strides[0][0] = w->strides[1][0] = *item;
    }
    finish(w, kind);
}

void cuda_walk_source(CudaSource *s, WalkKind kind) {
    cuda_source_add(s, "#define NDIM %d\n#define WIDE %d\n", kind.ndim, kind.wide);
    cuda_source_part(s, CUDA_PART_walk);
}

const char *cuda_moved_type(int item) {
    switch (item) {
    case 1: return "uint8_t";
    case 2: return "uint16_t";
    case 4: return "uint32_t";
    case 8: return "uint64_t";
    default: return "Pack<uint64_t, 2>";
    }
}
