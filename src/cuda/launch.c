/* launch.c: the table of kernels that were made, and launches (launch.h). */
#include "launch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "errors.h"
#include "memory.h"
#include "stream.h"

/* A kernel, or that nothing can compile it. */
typedef struct Entry {
    uint64_t hash; /* 0: free */
    char *key;
    size_t nkey;
    CuFunction function; /* NULL: refused, or not there yet */
    enum { READY, MET /* once */, MAKING } state;
    CudaJob *job; /* while it is made beside */
} Entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Entry *entries;
static size_t room, used; /* room: a power of two, at least twice as many as used */

/* Eight bytes at a time: it is asked for at each launch. */
static uint64_t hash_of(const char *key, size_t n) {
    uint64_t h = n, word;
    for (; n > 0; key += TSR_MIN(n, sizeof word), n -= TSR_MIN(n, sizeof word)) {
        word = 0;
        memcpy(&word, key, TSR_MIN(n, sizeof word));
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    return h != 0 ? h : 1;
}

static Entry *find(uint64_t hash, const void *key, size_t nkey) {
    for (size_t i = hash & (room - 1);; i = (i + 1) & (room - 1)) {
        Entry *e = &entries[i];
        if (e->hash == 0 || (e->hash == hash && e->nkey == nkey && memcmp(e->key, key, nkey) == 0)) return e;
    }
}

static TsrStatus no_memory(void) { return cuda_host->error(TSR_MEMORY_ERROR, "no memory for the table of kernels"); }

static TsrStatus grow(void) {
    if (room > 2 * used) return TSR_OK;
    size_t more = room == 0 ? 256 : 2 * room, before = room;
    Entry *old = entries, *fresh = cuda_host->malloc(more * sizeof *fresh);
    if (fresh == NULL) return no_memory();
    memset(fresh, 0, more * sizeof *fresh);
    entries = fresh;
    room = more;
    for (size_t i = 0; i < before; i++)
        if (old[i].hash != 0) *find(old[i].hash, old[i].key, old[i].nkey) = old[i];
    cuda_host->free(old);
    return TSR_OK;
}

/* It is no code for this driver or this GPU. */
static bool refuses_code(CuResult result) {
    switch (result) {
    case CU_INVALID_IMAGE:
    case CU_NO_BINARY:
    case CU_INVALID_PTX:
    case CU_NO_PTX_COMPILER:
    case CU_UNSUPPORTED_PTX: return true;
    default: return false;
    }
}

static TsrStatus load(CuFunction *out, const CudaImage *image, const char *name) {
    CuModule module;
    CuResult result = cuda.module_load(&module, image->bytes);
    if (refuses_code(result)) return cuda_code_was_refused();
    TSR_TRY(cuda_check(result));
    return cuda_check(cuda.module_function(out, module, name));
}

static TsrStatus make(CuFunction *out, int index, const char *name, CudaWriteFn write, const void *what) {
    CudaSource source = {0};
    CudaImage image;
    write(&source, what);
    TsrStatus status = source.failed ? no_memory() : cuda_compile(&image, index, source.text);
    if (status == TSR_SYSTEM_ERROR && getenv("TSR_CUDA_SHOW") != NULL) fputs(source.text, stderr);
    cuda_source_free(&source);
    TSR_TRY(status);
    status = load(out, &image, name);
    cuda_image_free(&image);
    return status;
}

/* The lock is held. */
static TsrStatus kernel(CuFunction *out, int index, const char *key, size_t nkey, const char *name, CudaWriteFn write,
                        const void *what) {
    uint64_t hash = hash_of(key, nkey);
    TSR_TRY(grow());
    Entry *e = find(hash, key, nkey);
    if (e->hash == 0) {
        char *copy = cuda_host->malloc(nkey);
        CuFunction made = NULL;
        if (copy == NULL) return no_memory();
        TsrStatus status = make(&made, index, name, write, what);
        if (status != TSR_OK && status != TSR_NOT_IMPLEMENTED_ERROR) return cuda_host->free(copy), status;
        memcpy(copy, key, nkey);
        *e = (Entry){hash, copy, nkey, made, READY, NULL};
        used++;
    }
    *out = e->function;
    return e->function != NULL ? TSR_OK : TSR_NOT_IMPLEMENTED_ERROR;
}

/* The compiler has done what it can. The lock is held. */
static TsrStatus end_job(Entry *e, const char *name) {
    CudaImage image;
    TsrStatus status = cuda_job_end(&image, e->job);
    e->state = READY;
    e->job = NULL;
    if (status != TSR_OK) return TSR_OK; /* the passes run one by one, as they did */
    status = load(&e->function, &image, name);
    cuda_image_free(&image);
    return status != TSR_NOT_IMPLEMENTED_ERROR ? status : TSR_OK;
}

/* The lock is held. */
static TsrStatus kernel_beside(CuFunction *out, int index, const char *key, size_t nkey, const char *name,
                               CudaWriteFn write, const void *what) {
    uint64_t hash = hash_of(key, nkey);
    TSR_TRY(grow());
    Entry *e = find(hash, key, nkey);
    if (e->hash == 0) {
        char *copy = cuda_host->malloc(nkey);
        if (copy == NULL) return no_memory();
        memcpy(copy, key, nkey);
        *e = (Entry){hash, copy, nkey, NULL, MET, NULL};
        used++;
    } else if (e->state == MET) {
        CudaSource source = {0};
        write(&source, what);
        if (!source.failed) e->job = cuda_job_new(index, source.text);
        cuda_source_free(&source);
        if (e->job != NULL) e->state = MAKING;
    } else if (e->state == MAKING && cuda_job_done(e->job)) {
        TSR_TRY(end_job(e, name));
    }
    *out = e->function;
    return TSR_OK;
}

typedef TsrStatus (*FindFn)(CuFunction *out, int index, const char *key, size_t nkey, const char *name,
                            CudaWriteFn write, const void *what);

/* Keys are of one device and one name of a kernel. */
static TsrStatus find_kernel(FindFn how, CuFunction *out, int index, const void *key, size_t nkey, const char *name,
                             CudaWriteFn write, const void *what) {
    char whole[256];
    if (nkey + 1 + strlen(name) > sizeof whole - 1)
        return cuda_host->error(TSR_SYSTEM_ERROR, "a kernel's key has %zu bytes", nkey);
    whole[0] = (char)index;
    memcpy(whole + 1, key, nkey);
    memcpy(whole + 1 + nkey, name, strlen(name));
    TSR_TRY(cuda_enter(index));
    pthread_mutex_lock(&lock);
    TsrStatus status = how(out, index, whole, nkey + 1 + strlen(name), name, write, what);
    pthread_mutex_unlock(&lock);
    return status;
}

TsrStatus cuda_kernel(CuFunction *out, int index, const void *key, size_t nkey, const char *name, CudaWriteFn write,
                      const void *what) {
    return find_kernel(kernel, out, index, key, nkey, name, write, what);
}

TsrStatus cuda_kernel_beside(CuFunction *out, int index, const void *key, size_t nkey, const char *name,
                             CudaWriteFn write, const void *what) {
    return find_kernel(kernel_beside, out, index, key, nkey, name, write, what);
}

/* Blocks of 256 threads that a multiprocessor is given at most. */
enum { BLOCKS_EACH = 32 };

unsigned cuda_blocks(int index, uint64_t items, unsigned threads) {
    uint64_t blocks = (items + threads - 1) / threads, most = (uint64_t)cuda_multiprocessors(index) * BLOCKS_EACH;
    return (unsigned)TSR_MAX(TSR_MIN(blocks, most), (uint64_t)1);
}

TsrStatus cuda_launch(CuFunction f, int index, unsigned blocks, unsigned blocks_y, unsigned threads, const void *args) {
    CuStream stream;
    void *list[] = {(void *)(uintptr_t)args};
    TSR_TRY(cuda_stream(&stream, index, cuda_current_stream(index)));
    return cuda_check(cuda.launch(f, blocks, blocks_y, 1, threads, 1, 1, 0, stream, list, NULL));
}

void cuda_operand_uses(const TsrDeviceOperand *o, int index, int ndim, const int64_t *sizes, bool writes) {
    int64_t below = 0, above = 0;
    if (o->number) return;
    for (int d = 0; d < ndim; d++) {
        int64_t reach = (sizes[d] - 1) * o->strides[d];
        if (reach < 0) below += reach;
        else above += reach;
    }
    cuda_uses(o->data + (uint64_t)below, (size_t)(above - below) + cuda_itemsize(o->dtype), index, writes);
}

static bool has_elements(const TsrDeviceTensor *t) {
    for (int d = 0; d < t->ndim; d++)
        if (t->sizes[d] == 0) return false;
    return true;
}

void cuda_work_uses(const TsrDeviceWork *w) {
    for (int k = 0; k < w->nout + w->nin; k++)
        if (has_elements(&w->t[k])) cuda_operand_uses(&w->t[k].at, w->index, w->t[k].ndim, w->t[k].sizes, k < w->nout);
}

TsrStatus cuda_run_blocks(const TsrDeviceWork *w, CudaText text, unsigned blocks, unsigned blocks_y, unsigned threads,
                          const void *args) {
    CuFunction f;
    TSR_TRY(cuda_kernel(&f, w->index, text.key, text.nkey, text.name, text.write, text.key));
    TSR_TRY(cuda_launch(f, w->index, blocks, blocks_y, threads, args));
    cuda_work_uses(w);
    return TSR_OK;
}

TsrStatus cuda_run(const TsrDeviceWork *w, CudaText text, uint64_t items, unsigned threads, const void *args) {
    if (items == 0) return TSR_OK;
    return cuda_run_blocks(w, text, cuda_blocks(w->index, items, threads), 1, threads, args);
}

TsrStatus cuda_run_reporting(const TsrDeviceWork *w, CudaText text, uint64_t items, unsigned threads, const void *args,
                             uint64_t *errors, uint64_t *launch) {
    CuFunction f;
    if (items == 0) return TSR_OK;
    TSR_TRY(cuda_kernel(&f, w->index, text.key, text.nkey, text.name, text.write, text.key));
    TSR_TRY(cuda_errors_begin(errors, launch, w->index));
    TSR_TRY(cuda_launch(f, w->index, cuda_blocks(w->index, items, threads), 1, threads, args));
    cuda_work_uses(w);
    return TSR_OK;
}
