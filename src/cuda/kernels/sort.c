/* sort.c: sorts by device/sort.cuh (sort.h): lines of up to SHORT elements each by one block, several to a block where
 * they are shorter; longer ones all together, by digits. */
#include "sort.h"

#include <string.h>

#include "cuda/memory.h"
#include "scan.h"

#include "cuda/device/sort_args.h"

enum { THREADS = 256, ROUNDS = 16, SHORT = 2 * THREADS, TILE = THREADS * ROUNDS, DIGITS = 256 };

/* ---- the text ---- */

static bool has_order(TsrDtype d) {
    return cuda_memory_type(d) != NULL && cuda_itemsize(d) <= 8 && !cuda_is_complex(d);
}

static void write_sort(CudaSource *s, const void *what) {
    const uint8_t *dtype = what;
    cuda_source_begin(s, THREADS);
    cuda_source_add(s, "#define BLOCK_THREADS %d\n#define ROUNDS %d\n", THREADS, ROUNDS);
    cuda_source_part(s, CUDA_PART_group);
    cuda_source_part(s, CUDA_PART_sort_args);
    cuda_source_add(s, "typedef %s E;\n", cuda_memory_type(*dtype));
    cuda_source_add(s, "typedef %s Key;\n", cuda_itemsize(*dtype) == 8 ? "uint64_t" : "uint32_t");
    cuda_source_part(s, CUDA_PART_sort);
}

bool cuda_sort_source(CudaSource *out, TsrDtype dtype) {
    if (!has_order(dtype)) return false;
    write_sort(out, &(uint8_t){dtype});
    return true;
}

static TsrStatus kernel_of(CuFunction *f, int index, TsrDtype dtype, const char *name) {
    uint8_t key = dtype;
    return cuda_kernel(f, index, &key, sizeof key, name, write_sort, &key);
}

/* ---- by digits ---- */

static unsigned tiles_of(uint64_t n) { return (unsigned)((n + TILE - 1) / TILE); }

/* Scratch for n keys, and the kernels that sort those of a dtype. */
static TsrStatus begin(CudaKeys *k, int index, uint64_t n, TsrDtype dtype) {
    uint64_t size = cuda_itemsize(dtype) == 8 ? 8 : 4, counts = (uint64_t)tiles_of(n) * DIGITS * 4;
    memset(k, 0, sizeof *k);
    k->index = index;
    k->n = n;
    TSR_TRY(kernel_of(&k->count, index, dtype, "tsr_sort_counts"));
    TSR_TRY(kernel_of(&k->pass, index, dtype, "tsr_sort_pass"));
    TSR_TRY(cuda_scratch(&k->scratch, index, (size_t)(n * 2 * (size + 4) + counts)));
    k->keys[0] = (uint64_t)(uintptr_t)k->scratch.data;
    k->keys[1] = k->keys[0] + n * size;
    k->order[0] = k->keys[1] + n * size;
    k->order[1] = k->order[0] + n * 4;
    k->counts = k->order[1] + n * 4;
    return TSR_OK;
}

static void swap(uint64_t pair[2]) {
    uint64_t first = pair[0];
    pair[0] = pair[1];
    pair[1] = first;
}

/* One pass, after which the two buffers have changed places. */
static TsrStatus pass(CudaKeys *k, SortArgs *a) {
    unsigned tiles = tiles_of(k->n);
    memcpy(a->keys, k->keys, sizeof a->keys);
    memcpy(a->order, k->order, sizeof a->order);
    TSR_TRY(cuda_launch(k->count, k->index, tiles, 1, THREADS, a));
    TSR_TRY(cuda_scan_counts(k->index, k->counts, (uint64_t)tiles * DIGITS));
    TSR_TRY(cuda_launch(k->pass, k->index, tiles, 1, THREADS, a));
    swap(k->keys);
    swap(k->order);
    return TSR_OK;
}

static int bytes_of(uint64_t most) {
    int bytes = 0;
    for (; most != 0; most >>= 8) bytes++;
    return bytes;
}

/* By the keys' bytes, then by the numbers of the lines. */
static TsrStatus by_digits(CudaKeys *k, SortArgs *a, int bytes) {
    a->n = k->n;
    a->counts = k->counts;
    for (int b = 0; b < bytes; b++) {
        a->shift = (uint32_t)(8 * b);
        TSR_TRY(pass(k, a));
    }
    a->by_line = 1;
    for (int b = 0; b < bytes_of(a->lines - 1); b++) {
        a->shift = (uint32_t)(8 * b);
        TSR_TRY(pass(k, a));
    }
    return TSR_OK;
}

TsrStatus cuda_keys_begin(CudaKeys *out, int index, uint64_t n) {
    if (n > UINT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_scan_counts(index, 0, 0));
    return begin(out, index, n, TSR_UINT64);
}

TsrStatus cuda_keys_sort(CudaKeys *keys, int bytes) {
    SortArgs a = {.size = keys->n, .lines = 1};
    return by_digits(keys, &a, bytes);
}

void cuda_keys_end(CudaKeys *keys) { cuda_scratch_free(&keys->scratch); }

/* ---- lines ---- */

/* Float8 is ordered by the keys of float32. */
static int key_bytes(TsrDtype d) { return cuda_is_float8(d) ? 4 : (int)cuda_itemsize(d); }

static TsrStatus sort_short(const TsrDeviceWork *w, SortArgs *a, TsrDtype dtype) {
    CuFunction f;
    TSR_TRY(kernel_of(&f, w->index, dtype, "tsr_sort_short"));
    for (a->padded = 1; a->padded < a->size;) a->padded *= 2;
    uint64_t lines = SHORT / a->padded, blocks = (a->lines + lines - 1) / lines;
    if (blocks > INT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR; /* more than a grid has */
    return cuda_launch(f, w->index, (unsigned)blocks, 1, THREADS, a);
}

static TsrStatus sort_long(const TsrDeviceWork *w, SortArgs *a, TsrDtype dtype) {
    CuFunction keys, finish;
    CudaKeys k;
    unsigned blocks = cuda_blocks(w->index, a->n, THREADS);
    if (a->n > UINT32_MAX) return TSR_NOT_IMPLEMENTED_ERROR; /* numbers of elements have 32 bits */
    TSR_TRY(cuda_scan_counts(w->index, 0, 0));
    TSR_TRY(kernel_of(&keys, w->index, dtype, "tsr_sort_keys"));
    TSR_TRY(kernel_of(&finish, w->index, dtype, "tsr_sort_finish"));
    TSR_TRY(begin(&k, w->index, a->n, dtype));
    a->keys[0] = k.keys[0];
    a->order[0] = k.order[0];
    TsrStatus status = cuda_launch(keys, w->index, blocks, 1, THREADS, a);
    if (status == TSR_OK) status = by_digits(&k, a, key_bytes(dtype));
    a->order[0] = k.order[0];
    if (status == TSR_OK) status = cuda_launch(finish, w->index, blocks, 1, THREADS, a);
    cuda_keys_end(&k);
    return status;
}

TsrStatus cuda_sort(const TsrDeviceWork *w) {
    const TsrDeviceSort *p = w->params;
    const TsrDeviceTensor *in = &w->t[2];
    TsrDtype dtype = in->at.dtype;
    if (w->nout != 2 || w->nin != 1 || w->dim != 0 || !has_order(dtype)) return TSR_NOT_IMPLEMENTED_ERROR;
    SortArgs a = {.in = in->at.data,
                  .values = w->t[0].at.data,
                  .places = w->t[1].at.data,
                  .size = in->ndim > 0 ? (uint64_t)in->sizes[0] : 1,
                  .lines = 1,
                  .descending = p->descending};
    for (int d = 1; d < in->ndim; d++) a.lines *= (uint64_t)in->sizes[d];
    a.n = a.size * a.lines;
    if (a.n == 0) return TSR_OK;
    TSR_TRY(a.size <= SHORT ? sort_short(w, &a, dtype) : sort_long(w, &a, dtype));
    for (int k = 0; k < 3; k++) cuda_operand_uses(&w->t[k].at, w->index, w->t[k].ndim, w->t[k].sizes, k < w->nout);
    return TSR_OK;
}
