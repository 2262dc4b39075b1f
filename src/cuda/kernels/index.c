/* index.c: reading and writing by positions (index.h): a thread an element, by device/index.cuh.
 *
 * What is moved as it is goes by its size alone, in pieces of up to 16 bytes where a position stands for a run of
 * neighbours. Sums of integers, and extremes, of 4 and 8 bytes are joined by atomic operations, whose order does not
 * show. All else is joined in the order of the walk, as the host does it: the places that elements go to are sorted,
 * stably, and a thread joins those that go to the same one. PyTorch adds floats up in any order unless it is told to be
 * deterministic. */
#include "index.h"

#include <string.h>

#include "core/kernels/move/combine.h"
#include "cuda/errors.h"
#include "sort.h"
#include "walk.h"

#include "cuda/device/index_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t what, combine, dtype, item;
    uint8_t operands;
    WalkKind walk, slices;
} Key;

/* ---- the text ---- */

static const char *const joins[TSR_COMBINE_COUNT] = {
    [TSR_COMBINE_ADD] = "atomic_add", [TSR_COMBINE_MAX] = "atomic_max", [TSR_COMBINE_MIN] = "atomic_min"};

static const char *const folds[TSR_COMBINE_COUNT] = {
    [TSR_COMBINE_ADD] = "Add", [TSR_COMBINE_MUL] = "Multiply", [TSR_COMBINE_MAX] = "Most", [TSR_COMBINE_MIN] = "Least"};

static bool joins_atomically(TsrDtype d, unsigned combine) {
    bool whole = d == TSR_INT32 || d == TSR_INT64 || d == TSR_UINT32 || d == TSR_UINT64;
    return whole && joins[combine] != NULL;
}

static const char *item_type(const Key *key) {
    bool moved = key->what == TSR_P_PICK || key->combine == TSR_COMBINE_SET, folds = key->slices.ndim > 0;
    bool adds = !moved && !folds && key->combine == TSR_COMBINE_ADD; /* two's complement: the sign does not matter */
    return moved || adds ? cuda_moved_type(key->item) : cuda_memory_type(key->dtype);
}

static void write_index(CudaSource *s, const void *what) {
    const Key *key = what;
    bool pick = key->what == TSR_P_PICK, set = !pick && key->combine == TSR_COMBINE_SET, fold = key->slices.ndim > 0;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_walk_args);
    cuda_source_part(s, CUDA_PART_index_args);
    cuda_walk_source(s, (WalkKind){key->walk.ndim, key->walk.wide || key->slices.wide});
    cuda_source_add(s, "#define NSLICES %d\n", key->slices.ndim);
    cuda_source_add(s, "#define OPERANDS %d\ntypedef %s Item;\n#define PICK %d\n#define SET %d\n", key->operands,
                    item_type(key), pick, set);
    if (fold && cuda_is_complex(key->dtype)) cuda_source_part(s, CUDA_PART_complex);
    cuda_source_add(s, "#define JOIN %d\n#define FOLD %d\n#define COMPLEX %d\n", !pick && !set && !fold, fold,
                    cuda_is_complex(key->dtype));
    if (!pick && !set) cuda_source_add(s, "#define JOINED %s\n", (fold ? folds : joins)[key->combine]);
    cuda_source_part(s, CUDA_PART_index);
}

/* ---- the plan ---- */

/* What is joined in order. */
static bool folds_in_order(const TsrDeviceWork *w) {
    const TsrDevicePlaces *p = w->params;
    return w->what == TSR_P_PLACE && p->combine != TSR_COMBINE_SET && !joins_atomically(w->t[0].at.dtype, p->combine);
}

static bool can_index(const TsrDeviceWork *w) {
    const TsrDevicePlaces *p = w->params;
    if (w->nout != 1 || w->nin != 1 + p->n || p->n < 1 || p->n > TSR_DEVICE_PLACES) return false;
    if (w->t[0].at.dtype != w->t[1].at.dtype || cuda_itemsize(w->t[0].at.dtype) == 0) return false;
    for (int k = 0; k < p->n; k++)
        if (w->t[2 + k].at.dtype != TSR_INT64) return false;
    const TsrDtype dtype = w->t[0].at.dtype;
    if (!folds_in_order(w)) return true;
    if (!cuda_is_complex(dtype)) return p->combine < TSR_COMBINE_COUNT;
    return p->combine < TSR_COMBINE_MAX;
}

/* Only the dimensions of t that are indexed, by positions that differ along them, or only the others. */
static void keep_dims(TsrDeviceTensor *out, const TsrDeviceTensor *t, int count, bool indexed) {
    memcpy(out, t, (size_t)count * sizeof *out);
    for (int k = 0; k < count; k++) out[k].ndim = 0;
    for (int d = 0; d < t[0].ndim; d++) {
        bool differs = false;
        for (int k = 2; k < count; k++) differs = differs || t[k].at.strides[d] != 0;
        for (int k = 0; k < count && differs == indexed; k++) {
            int to = out[k].ndim++;
            out[k].sizes[to] = t[k].sizes[d];
            out[k].at.strides[to] = t[k].at.strides[d];
        }
    }
}

/* What is joined in order: the indexed dimensions are one walk, the others a second one. */
static void split(IndexArgs *a, Key *key, const TsrDeviceTensor *t, int count) {
    TsrDeviceTensor some[TSR_DEVICE_OPERANDS];
    keep_dims(some, t, count, true);
    key->walk = cuda_walk(&a->walk, some, count);
    a->most = 1;
    for (int d = 0; d < some[1].ndim; d++)
        a->most += (uint64_t)(TSR_MAX(some[1].sizes[d] - 1, (int64_t)0) * some[1].at.strides[d]);
    for (int k = 0; k < count - 2; k++) a->most += (uint64_t)(TSR_MAX(a->size[k] - 1, (int64_t)0) * a->step[k]);
    keep_dims(some, t, count, false);
    key->slices = cuda_walk(&a->slices, some, 2);
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
    if (folds_in_order(w)) split(a, key, t, count);
    else key->walk = cuda_walk(&a->walk, t, count);
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

/* Each family's kernels are made before the first launch, so that nothing is done by half. */
static TsrStatus fold(const TsrDeviceWork *w, IndexArgs *a, const Key *key) {
    CuFunction keys_of, fold;
    CudaKeys keys;
    int bytes = 0;
    for (uint64_t most = a->most; most != 0; most >>= 8) bytes++;
    TSR_TRY(cuda_kernel(&keys_of, w->index, key, sizeof *key, "tsr_place_keys", write_index, key));
    TSR_TRY(cuda_kernel(&fold, w->index, key, sizeof *key, "tsr_fold", write_index, key));
    TSR_TRY(cuda_errors_begin(&a->errors, &a->launch, w->index));
    TSR_TRY(cuda_keys_begin(&keys, w->index, a->walk.n));
    a->keys = keys.keys[0];
    a->order = keys.order[0];
    TsrStatus status = cuda_launch(keys_of, w->index, cuda_blocks(w->index, a->walk.n, THREADS), 1, THREADS, a);
    if (status == TSR_OK) status = cuda_keys_sort(&keys, bytes);
    a->keys = keys.keys[0];
    a->order = keys.order[0];
    unsigned blocks = cuda_blocks(w->index, a->walk.n * a->slices.n, THREADS);
    if (status == TSR_OK) status = cuda_launch(fold, w->index, blocks, 1, THREADS, a);
    cuda_keys_end(&keys);
    return status;
}

static TsrStatus run(const TsrDeviceWork *w, const char *name) {
    IndexArgs a;
    Key key;
    CuFunction f;
    if (!can_index(w)) return TSR_NOT_IMPLEMENTED_ERROR;
    fill(&a, &key, w);
    if (a.walk.n == 0 || (key.slices.ndim > 0 && a.slices.n == 0)) return TSR_OK;
    if (key.slices.ndim > 0) {
        TSR_TRY(fold(w, &a, &key));
        tell_uses(w);
        return TSR_OK;
    }
    TSR_TRY(cuda_kernel(&f, w->index, &key, sizeof key, name, write_index, &key));
    TSR_TRY(cuda_errors_begin(&a.errors, &a.launch, w->index));
    TSR_TRY(cuda_launch(f, w->index, cuda_blocks(w->index, a.walk.n, THREADS), 1, THREADS, &a));
    tell_uses(w);
    return TSR_OK;
}

TsrStatus cuda_pick(const TsrDeviceWork *w) { return run(w, "tsr_pick"); }
TsrStatus cuda_place(const TsrDeviceWork *w) { return run(w, "tsr_place"); }
