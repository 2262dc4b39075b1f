/* index.c: reading and writing by positions (index.h): a thread an element, by device/index.cuh.
 *
 * What is moved as it is goes by its size alone, in pieces of up to 16 bytes where a position stands for a run of
 * neighbours. Sums of integers, and extremes, of 4 and 8 bytes are joined by atomic operations, whose order does not
 * show. */
#include "index.h"

#include <string.h>

#include "core/kernels/move/combine.h"
#include "errors.h"
#include "launch.h"
#include "walk.h"

#include "device/index_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t what, combine, dtype, item;
    uint8_t operands;
    WalkKind walk;
} Key;

/* ---- the text ---- */

static const char *const joins[TSR_COMBINE_COUNT] = {
    [TSR_COMBINE_ADD] = "atomic_add", [TSR_COMBINE_MAX] = "atomic_max", [TSR_COMBINE_MIN] = "atomic_min"};

static const char *item_type(const Key *key) {
    bool moved = key->what == TSR_P_PICK || key->combine == TSR_COMBINE_SET;
    bool adds = !moved && key->combine == TSR_COMBINE_ADD; /* two's complement: the sign does not matter */
    return moved || adds ? cuda_moved_type(key->item) : cuda_memory_type(key->dtype);
}

static void write_index(CudaSource *s, const void *what) {
    const Key *key = what;
    bool pick = key->what == TSR_P_PICK, set = !pick && key->combine == TSR_COMBINE_SET;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_walk_args);
    cuda_source_part(s, CUDA_PART_index_args);
    cuda_walk_source(s, key->walk);
    cuda_source_add(s, "#define OPERANDS %d\ntypedef %s Item;\n#define PICK %d\n#define SET %d\n#define JOIN %d\n",
                    key->operands, item_type(key), pick, set, !pick && !set);
    if (!pick && !set) cuda_source_add(s, "#define JOINED %s\n", joins[key->combine]);
    cuda_source_part(s, CUDA_PART_index);
}

/* ---- the plan ---- */

static bool joins_atomically(TsrDtype d, unsigned combine) {
    bool whole = d == TSR_INT32 || d == TSR_INT64 || d == TSR_UINT32 || d == TSR_UINT64;
    return whole && joins[combine] != NULL;
}

static bool can_index(const TsrDeviceWork *w) {
    const TsrDevicePlaces *p = w->params;
    if (w->nout != 1 || w->nin != 1 + p->n || p->n < 1 || p->n > TSR_DEVICE_PLACES) return false;
    if (w->t[0].at.dtype != w->t[1].at.dtype || cuda_itemsize(w->t[0].at.dtype) == 0) return false;
    for (int k = 0; k < p->n; k++)
        if (w->t[2 + k].at.dtype != TSR_INT64) return false;
    return w->what == TSR_P_PICK || p->combine == TSR_COMBINE_SET || joins_atomically(w->t[0].at.dtype, p->combine);
}

/* The operands as the kernel counts them: what lies as the walk goes comes first. */
static void fill(IndexArgs *a, Key *key, const TsrDeviceWork *w) {
    const TsrDevicePlaces *p = w->params;
    TsrDeviceTensor t[TSR_DEVICE_OPERANDS];
    int count = w->nout + w->nin, item = (int)cuda_itemsize(w->t[0].at.dtype);
    memset(a, 0, sizeof *a);
    memset(key, 0, sizeof *key);
    memcpy(t, w->t, (size_t)count * sizeof *t);
    if (w->what == TSR_P_PLACE) t[0] = w->t[1], t[1] = w->t[0];
    for (int k = 0; k < p->n; k++) {
        a->size[k] = p->of[k].size;
        a->step[k] = p->of[k].step;
        a->dim[k] = p->of[k].dim;
    }
    a->found = (uint32_t)CUDA_FOUND_INDEX + (uint32_t)p->wrong;
    a->wraps = p->wraps;
    key->walk = cuda_walk(&a->walk, t, count);
    if (w->what == TSR_P_PICK || p->combine == TSR_COMBINE_SET)
        cuda_walk_widen(&a->walk, &key->walk, count, t, &item, a->step, p->n);
    for (int k = 0; k < count; k++) a->data[k] = t[k].at.data;
    key->what = (uint8_t)w->what;
    key->combine = w->what == TSR_P_PICK ? 0 : p->combine;
    key->dtype = w->what == TSR_P_PICK || p->combine == TSR_COMBINE_SET ? 0 : w->t[0].at.dtype;
    key->item = (uint8_t)item;
    key->operands = (uint8_t)count;
}

bool cuda_index_source(CudaSource *out, const TsrDeviceWork *w) {
    IndexArgs a;
    Key key;
    if (!can_index(w)) return false;
    fill(&a, &key, w);
    write_index(out, &key);
    return true;
}

/* ---- the launch ---- */

/* The bytes that are written by positions are those between the least and the greatest of them. */
static void tell_uses(const TsrDeviceWork *w) {
    const TsrDevicePlaces *p = w->params;
    int indexed = w->what == TSR_P_PICK ? 1 : 0;
    for (int k = 0; k < w->nout + w->nin; k++) {
        TsrDeviceTensor t = w->t[k];
        for (int i = 0; i < p->n && k == indexed && t.ndim < TSR_DEVICE_DIMS; i++, t.ndim++) {
            t.sizes[t.ndim] = p->of[i].size;
            t.at.strides[t.ndim] = p->of[i].step;
        }
        cuda_operand_uses(&t.at, w->index, t.ndim, t.sizes, k == 0);
    }
}

static TsrStatus run(const TsrDeviceWork *w, const char *name) {
    IndexArgs a;
    Key key;
    CuFunction f;
    if (!can_index(w)) return TSR_NOT_IMPLEMENTED_ERROR;
    fill(&a, &key, w);
    if (a.walk.n == 0) return TSR_OK;
    TSR_TRY(cuda_kernel(&f, w->index, &key, sizeof key, name, write_index, &key));
    TSR_TRY(cuda_errors_begin(&a.errors, &a.launch, w->index));
    TSR_TRY(cuda_launch(f, w->index, cuda_blocks(w->index, a.walk.n, THREADS), 1, THREADS, &a));
    tell_uses(w);
    return TSR_OK;
}

TsrStatus cuda_pick(const TsrDeviceWork *w) { return run(w, "tsr_pick"); }
TsrStatus cuda_place(const TsrDeviceWork *w) { return run(w, "tsr_place"); }
