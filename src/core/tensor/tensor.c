/* tensor.c: the life of a tensor: construction, references, weak links, version counters, checks, single elements, and
 * changes in place (tensor.h).
 *
 * Structs come from a free list of the thread. A struct is freed when both counts are 0: `refcount` owns the storage,
 * `weakcount` (one for all owners together, one for each weak link) keeps the struct and its geometry readable. Every
 * constructor of views ends in new_view, every check of a geometry against a storage in check_geometry, so that no
 * tensor can reach past its storage; a storage that shrinks later is caught by tsr_tensor_check. */
#include "core/tensor.h"

#include "core/backend.h"
#include "core/memory/alloc_impl.h"
#include "core/layout.h"
#include "core/mem.h"
#include "inference.h"
#include "loan.h"
#include "tensor_impl.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const char *tsr_layout_name(uint8_t layout) {
    static const char *const names[] = {"Strided", "Sparse", "SparseCsr", "SparseCsc", "SparseBsr", "SparseBsc"};
    return layout < TSR_COUNTOF(names) ? names[layout] : "Unknown";
}

const char *tsr_backend_name(const TsrTensor *t) {
    if (!tsr_is_defined(t)) return "Undefined";
    if (tsr_is_sparse(t)) return t->layout == TSR_SPARSE_COO ? "SparseCPU" : "SparseCsrCPU";
    return t->device.type == TSR_META ? "Meta" : t->device.type == TSR_CUDA ? "CUDA" : "CPU";
}

TsrStatus tsr_refuse_backend(const char *name, const TsrTensor *t) {
    return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Could not run 'aten::%s' with arguments from the '%s' backend.", name,
                     tsr_backend_name(t));
}

/* --- structs from a free list of the thread --- */

enum { POOL_MOST = 256 };
static _Thread_local struct {
    TsrTensor *head;
    int n;
} pool;                         /* linked through `base` */
static _Atomic int64_t structs; /* taken from the system: the living, the pooled and the shells */
static _Atomic int64_t shells;  /* kept by weak links alone */

/* Frees a struct and counts it out. */
static void give_to_system(TsrTensor *t) {
    structs--;
    tsr_free(t);
}

/* The hook that runs when a thread ends: its free list goes back. */
static void drain(void) {
    while (pool.head != NULL) {
        TsrTensor *t = pool.head;
        pool.head = t->base;
        give_to_system(t);
    }
    pool.n = 0;
}

static TsrTensor *take_from_system(void) {
    tsr_thread_at_end(drain);
    tsr_thread_watch();
    TsrTensor *t = tsr_malloc(sizeof *t);
    if (t != NULL) structs++;
    return t;
}

int64_t tsr_tensor_live(void) { return structs - shells - pool.n; }

static void give_struct(TsrTensor *t) {
#ifndef TSR_DEBUG
    if (TSR_LIKELY(pool.n < POOL_MOST)) {
        if (pool.n == 0) tsr_thread_watch(); /* a thread may only ever free */
        t->base = pool.head;
        pool.head = t;
        pool.n++;
        return;
    }
#endif
    give_to_system(t);
}

uint8_t tsr_fresh_flags;

void tsr_set_inference_mode(bool on) { tsr_fresh_flags = on ? TSR_FLAGS_OF_INFERENCE : 0; }

/* A tensor without a storage; sizes and strides are yet to be written. */
static TsrStatus new_struct(TsrTensor **out, int ndim, TsrDtype dtype, TsrDevice device) {
    TsrTensor *t = pool.head;
    if (TSR_LIKELY(t != NULL)) {
        pool.head = t->base;
        pool.n--;
    } else if ((t = take_from_system()) == NULL) {
        return tsr_error_no_memory(sizeof *t);
    }
    t->sizes = t->dims;
    t->strides = t->dims + TSR_INLINE_DIMS;
    if (TSR_UNLIKELY((unsigned)ndim > TSR_INLINE_DIMS)) {
        if (!tsr_layout_is_ndim(ndim) || (t->sizes = tsr_malloc(2 * (size_t)ndim * sizeof(int64_t))) == NULL) {
            give_struct(t);
            return !tsr_layout_is_ndim(ndim) ? tsr_layout_check_ndim(ndim)
                                             : tsr_error_no_memory(2 * (size_t)ndim * sizeof(int64_t));
        }
        t->strides = t->sizes + ndim;
    }
    atomic_init(&t->refcount, 1); /* nobody else knows of it: no locked store */
    atomic_init(&t->weakcount, 1);
    t->dtype = dtype;
    t->layout = TSR_STRIDED;
    t->flags = tsr_fresh_flags;
    t->ndim_ = (uint8_t)ndim;
    t->device = device;
    t->offset = 0;
    t->storage = NULL;
    t->version = NULL;
    t->sparse = NULL;
    t->base = NULL;
    t->source = NULL;
    t->origin = NULL;
    *out = t;
    return TSR_OK;
}

/* --- version counters --- */

/* Whether t holds a counted reference to its version counter. A tensor that holds the storage in which the counter lies
 * needs none. */
static bool is_counted(const TsrTensor *t) { return t->version != NULL && t->version->home != t->storage; }

/* Makes t count its writes with `with`, as views do. */
static void share_version(TsrTensor *t, const TsrTensor *with) {
    t->version = with->version;
    if (TSR_UNLIKELY(is_counted(t))) t->version->refcount += 1;
}

/* Gives up t's version counter, freeing one on the heap. */
static void drop_version(TsrTensor *t) {
    if (TSR_UNLIKELY(is_counted(t))) tsr_version_free(t->version);
    t->version = NULL;
}

static TsrStatus new_version(TsrVersion **out, int64_t value) {
    TsrVersion *v = tsr_malloc(sizeof *v);
    if (v == NULL) return tsr_error_no_memory(sizeof *v);
    atomic_init(&v->refcount, 1);
    v->value = value;
    v->home = NULL;
    *out = v;
    return TSR_OK;
}

void tsr_tensor_bump(TsrTensor *t, const char *what) {
    if (t->version == NULL) return;
    __atomic_fetch_add((int64_t *)&t->version->value, 1, __ATOMIC_RELAXED);
    tsr_trace(TSR_TRACE_WRITE, what, NULL, 0, t, t->storage);
    if (tsr_write_hook != NULL) tsr_write_hook(t, what);
}

TsrStatus tsr_tensor_written(TsrTensor *t, const char *what) {
    tsr_tensor_bump(t, what);
    if (TSR_LIKELY((t->flags & TSR_FLAG_UNCOUNTED) == 0) || tsr_is_inference_mode()) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to "
                     "get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for "
                     "more details.");
}

TsrStatus tsr_tensor_start_version(TsrTensor *t) {
    TsrVersion *version = NULL;
    TSR_TRY(new_version(&version, 0));
    drop_version(t);
    t->version = version;
    t->flags &= (uint8_t)~TSR_FLAG_UNCOUNTED;
    return TSR_OK;
}

TsrStatus tsr_tensor_follow_mode(TsrTensor *t) {
    TsrStatus status = t->flags & TSR_FLAG_UNCOUNTED && !tsr_is_inference_mode() ? tsr_tensor_start_version(t) : TSR_OK;
    t->flags = (uint8_t)((t->flags & ~TSR_FLAGS_OF_INFERENCE) | tsr_fresh_flags);
    return status;
}

/* --- weak links --- */

void (*tsr_tensor_gone_hook)(TsrTensor *t);

/* A weak link to the root tensor of a view taken of `self`. */
static TsrTensor *link_root(const TsrTensor *self) {
    TsrTensor *root = self->base != NULL ? self->base : (TsrTensor *)self;
    __atomic_fetch_add((int32_t *)&root->weakcount, 1, __ATOMIC_RELAXED);
    return root;
}

/* Frees sizes and strides when they do not lie in the struct. */
static void free_dims(TsrTensor *t) {
    if (TSR_UNLIKELY(t->sizes != t->dims)) tsr_free(t->sizes);
}

/* Gives up one weak count. True when it was the last: the struct is gone. */
static bool free_weak(TsrTensor *t) {
    bool last = __atomic_load_n((int32_t *)&t->weakcount, __ATOMIC_ACQUIRE) == 1 ||
                __atomic_fetch_sub((int32_t *)&t->weakcount, 1, __ATOMIC_ACQ_REL) == 1;
    if (!last) return false;
    free_dims(t);
    give_struct(t);
    return true;
}

TsrTensor *tsr_tensor_weak_new(TsrTensor *t) {
    __atomic_fetch_add((int32_t *)&t->weakcount, 1, __ATOMIC_RELAXED);
    return t;
}

void tsr_tensor_weak_free(TsrTensor *t) {
    if (t != NULL && free_weak(t)) shells--;
}

TsrTensor *tsr_tensor_weak_retain(TsrTensor *t) {
    int32_t n = __atomic_load_n((int32_t *)&t->refcount, __ATOMIC_RELAXED);
    while (n > 0 && !__atomic_compare_exchange_n((int32_t *)&t->refcount, &n, n + 1, false, __ATOMIC_ACQ_REL,
                                                 __ATOMIC_RELAXED)) {}
    return n > 0 ? t : NULL;
}

TsrTensor *tsr_tensor_retain_base(const TsrTensor *t) {
    return t->base == NULL ? NULL : tsr_tensor_weak_retain(t->base);
}

TsrTensor *tsr_tensor_retain_source(const TsrTensor *t) {
    return t->source == NULL ? tsr_tensor_retain_base(t) : tsr_tensor_weak_retain(t->source);
}

/* --- lifetime --- */

TsrTensor *tsr_tensor_retain(TsrTensor *t) {
    if (t != NULL) {
        __atomic_fetch_add((int32_t *)&t->refcount, 1, __ATOMIC_RELAXED);
        tsr_trace(TSR_TRACE_RETAIN, "tensor", NULL, 0, t, NULL);
    }
    return t;
}

static void free_sparse(TsrSparse *sparse) {
    tsr_tensor_free(sparse->indices);
    tsr_tensor_free(sparse->plain_indices);
    tsr_tensor_free(sparse->values);
    tsr_free(sparse);
}

/* The last owner is gone: what the tensor holds goes; the struct stays while weak links need its geometry. */
static void destroy(TsrTensor *t) {
    TsrTensor *base = t->base, *source = t->source;
    if (TSR_UNLIKELY(tsr_tensor_gone_hook != NULL) && t->weakcount > 1) tsr_tensor_gone_hook(t);
    drop_version(t);
    tsr_storage_free(t->storage);
    if (TSR_UNLIKELY(t->sparse != NULL)) free_sparse(t->sparse);
    t->storage = NULL;
    t->sparse = NULL;
    t->base = t->source = NULL;
    tsr_tensor_weak_free(base);
    tsr_tensor_weak_free(source);
    if (!free_weak(t)) shells++;
}

void tsr_tensor_free(TsrTensor *t) {
    if (t == NULL) return;
    tsr_trace(TSR_TRACE_RELEASE, "tensor", NULL, 0, t, NULL);
    bool last = __atomic_load_n((int32_t *)&t->refcount, __ATOMIC_ACQUIRE) == 1;
    if (last) __atomic_store_n((int32_t *)&t->refcount, 0, __ATOMIC_RELAXED);
    else last = __atomic_fetch_sub((int32_t *)&t->refcount, 1, __ATOMIC_ACQ_REL) == 1;
    if (last) destroy(t);
}

void tsr_tensor_reset(TsrTensor **slot) {
    tsr_tensor_free(*slot);
    *slot = NULL;
}

/* The product of sizes of a sparse tensor, which needs no memory for its elements. */
static TsrStatus sparse_numel(int64_t *out, int ndim, const int64_t *sizes) {
    int64_t n = 1;
    bool empty = false;
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
        empty |= sizes[i] == 0;
    }
    for (int i = 0; i < ndim && !empty; i++)
        if (tsr_mul_overflows(n, sizes[i], &n))
            return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    *out = empty ? 0 : n;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_sparse_move(TsrTensor **out, uint8_t layout, int ndim, const int64_t *sizes,
                                     TsrSparse *sparse) {
    int64_t numel = 0;
    TsrTensor *t = NULL;
    TsrStatus status = sparse_numel(&numel, ndim, sizes);
    if (status == TSR_OK) status = new_struct(&t, ndim, sparse->values->dtype, sparse->values->device);
    if (status != TSR_OK) {
        free_sparse(sparse);
        return status;
    }
    for (int i = 0; i < ndim; i++) {
        t->sizes[i] = sizes[i];
        t->strides[i] = 0;
    }
    t->numel = numel;
    t->layout = layout;
    t->sparse = sparse;
    *out = t;
    return TSR_OK;
}

TsrStatus tsr_tensor_set_sparse_move(TsrTensor *t, int ndim, const int64_t *sizes, TsrSparse *sparse) {
    static const int64_t none[TSR_MAX_DIMS];
    TsrStatus status = tsr_tensor_set_geometry(t, (TsrGeometry){ndim, sizes, none, 0});
    if (status != TSR_OK) {
        free_sparse(sparse);
        return status;
    }
    free_sparse(t->sparse);
    t->sparse = sparse;
    return TSR_OK;
}

/* Takes over `storage`, also on failure. */
static TsrStatus attach_move(TsrTensor **out, TsrTensor *t, TsrStatus status, TsrStorage *storage) {
    if (TSR_UNLIKELY(status != TSR_OK)) {
        tsr_tensor_free(t);
        return status;
    }
    t->storage = storage;
    t->version = &storage->version;
    *out = t;
    return TSR_OK;
}

/* PyTorch's error for a geometry whose size in bytes does not fit int64. */
static TsrStatus overflow(TsrGeometry g) {
    const char *a = tsr_layout_text(g.ndim, g.sizes);
    if (g.strides == NULL) return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s", a);
    return tsr_error(TSR_RUNTIME_ERROR, "Storage size calculation overflowed with sizes=%s and strides=%s", a,
                     tsr_layout_text(g.ndim, g.strides));
}

TsrStatus tsr_tensor_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device) {
    int64_t numel, bytes;
    TsrTensor *t = NULL;
    TsrStorage *storage = NULL;
    TSR_TRY(tsr_dtype_check(dtype));
    if (tsr_device_has_backend(device)) TSR_TRY(tsr_device_resolve(&device));
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    if (TSR_UNLIKELY(tsr_mul_overflows(numel, (int64_t)tsr_dtype_size(dtype), &bytes)))
        return overflow((TsrGeometry){ndim, sizes, NULL, 0});
    TSR_TRY(new_struct(&t, ndim, dtype, device));
    if (ndim > 0) memcpy(t->sizes, sizes, (size_t)ndim * sizeof *sizes);
    tsr_layout_contiguous_strides(t->strides, ndim, t->sizes);
    t->numel = numel;
    TsrStatus status = tsr_storage_new(&storage, device, (uint64_t)bytes, dtype);
    return attach_move(out, t, status, storage);
}

/* Bytes that a geometry needs from the storage's start: 0 when it has no element. False on overflow or a
 * negative stride. */
static bool bytes_needed(int64_t *bytes, TsrGeometry g, size_t itemsize) {
    int64_t last = 0, step;
    bool empty = false;
    for (int i = 0; i < g.ndim; i++) {
        if (g.sizes[i] < 0 || g.strides[i] < 0) return false;
        empty = empty || g.sizes[i] == 0;
    }
    *bytes = 0;
    if (empty) return true;
    for (int i = 0; i < g.ndim; i++) {
        if (tsr_mul_overflows(g.sizes[i] - 1, g.strides[i], &step) || tsr_add_overflows(last, step, &last))
            return false;
    }
    if (tsr_add_overflows(last, g.offset, &last) || tsr_add_overflows(last, 1, &last)) return false;
    return !tsr_mul_overflows(last, (int64_t)itemsize, bytes);
}

TsrStatus tsr_tensor_new_strided(TsrTensor **out, int ndim, const int64_t *sizes, const int64_t *strides,
                                 TsrDtype dtype, TsrDevice device) {
    int64_t numel, bytes;
    TsrTensor *t = NULL;
    TsrStorage *storage = NULL;
    TSR_TRY(tsr_dtype_check(dtype));
    if (tsr_device_has_backend(device)) TSR_TRY(tsr_device_resolve(&device));
    TSR_TRY(tsr_layout_numel(&numel, ndim, sizes));
    if (!bytes_needed(&bytes, (TsrGeometry){ndim, sizes, strides, 0}, tsr_dtype_size(dtype)))
        return overflow((TsrGeometry){ndim, sizes, strides, 0});
    TSR_TRY(new_struct(&t, ndim, dtype, device));
    if (ndim > 0) memcpy(t->sizes, sizes, (size_t)ndim * sizeof *sizes);
    if (ndim > 0) memcpy(t->strides, strides, (size_t)ndim * sizeof *strides);
    t->numel = numel;
    TsrStatus status = tsr_storage_new(&storage, device, (uint64_t)bytes, dtype);
    return attach_move(out, t, status, storage);
}

/* Strides for a fresh tensor of like's sizes in the memory format. */
static void strides_like(int64_t *strides, const TsrTensor *like, TsrMemoryFormat format) {
    int ndim = tsr_ndim(like);
    if (format == TSR_CHANNELS_LAST || format == TSR_CHANNELS_LAST_3D) {
        tsr_layout_channels_last_strides(strides, ndim, like->sizes);
    } else if (like->layout != TSR_STRIDED) {
        tsr_layout_contiguous_strides(strides, ndim, like->sizes);
    } else if (tsr_layout_is_non_overlapping_and_dense(ndim, like->sizes, like->strides)) {
        if (ndim > 0) memcpy(strides, like->strides, (size_t)ndim * sizeof *strides);
    } else {
        tsr_layout_dense_strides_like(strides, ndim, like->sizes, like->strides);
    }
}

/* Errors for a memory format that does not go with the number of dimensions. */
static TsrStatus check_format(TsrMemoryFormat format, int ndim) {
    if ((unsigned)format > TSR_CHANNELS_LAST_3D)
        return tsr_error(TSR_RUNTIME_ERROR, "%d is no memory format", (int)format);
    if (format == TSR_CHANNELS_LAST && ndim != 4)
        return tsr_error(TSR_RUNTIME_ERROR, "required rank 4 tensor to use channels_last format");
    if (format == TSR_CHANNELS_LAST_3D && ndim != 5)
        return tsr_error(TSR_RUNTIME_ERROR, "required rank 5 tensor to use channels_last_3d format");
    return TSR_OK;
}

TsrStatus tsr_tensor_new_like(TsrTensor **out, const TsrTensor *like, TsrDtype dtype, TsrMemoryFormat format) {
    int64_t strides[TSR_MAX_DIMS];
    TSR_TRY(check_format(format, tsr_ndim(like)));
    if (dtype == TSR_DTYPE_NONE) dtype = like->dtype;
    if (format == TSR_CONTIGUOUS) return tsr_tensor_new(out, tsr_ndim(like), like->sizes, dtype, like->device);
    strides_like(strides, like, format);
    return tsr_tensor_new_strided(out, tsr_ndim(like), like->sizes, strides, dtype, like->device);
}

static TsrStatus out_of_bounds(const TsrStorage *s, TsrGeometry g, size_t itemsize, int64_t need) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "setStorage: sizes %s, strides %s, storage offset %lld, and itemsize %zu requiring a storage size of %lld "
        "are out of bounds "
        "for storage of size %" PRIu64,
        tsr_layout_text(g.ndim, g.sizes), tsr_layout_text(g.ndim, g.strides), (long long)g.offset, itemsize,
        (long long)need, s->nbytes);
}

static TsrStatus invalid_offset(int64_t offset) {
    return tsr_error(TSR_RUNTIME_ERROR, "Tensor: invalid storage offset %lld", (long long)offset);
}

TsrStatus tsr_refuse_negative_strides(int ndim, const int64_t *strides) {
    return tsr_error(TSR_RUNTIME_ERROR, "as_strided: Negative strides are not supported at the moment, got strides: %s",
                     tsr_layout_text(ndim, strides));
}

/* The one check of a geometry against a storage. */
static TsrStatus check_geometry(int64_t *numel, const TsrStorage *s, TsrGeometry g, TsrDtype dtype) {
    int64_t need;
    TSR_TRY(tsr_dtype_check(dtype));
    TSR_TRY(tsr_layout_check_ndim(g.ndim));
    for (int i = 0; i < g.ndim; i++)
        if (g.strides[i] < 0) return tsr_refuse_negative_strides(g.ndim, g.strides);
    if (g.offset < 0) return invalid_offset(g.offset);
    if (!bytes_needed(&need, g, tsr_dtype_size(dtype))) return overflow(g);
    TSR_TRY(tsr_layout_numel_there(numel, g.ndim, g.sizes));
    if (need > 0 && (uint64_t)need > s->nbytes) return out_of_bounds(s, g, tsr_dtype_size(dtype), need);
    return TSR_OK;
}

bool tsr_storage_holds(const TsrStorage *s, TsrGeometry g, TsrDtype dtype) {
    int64_t need, numel = 1;
    if (!tsr_dtype_is_known(dtype) || !tsr_layout_is_ndim(g.ndim)) return false;
    for (int i = 0; i < g.ndim; i++)
        if (g.sizes[i] != 0 && tsr_mul_overflows(numel, g.sizes[i], &numel)) return false;
    return g.offset >= 0 && bytes_needed(&need, g, tsr_dtype_size(dtype)) && (need <= 0 || (uint64_t)need <= s->nbytes);
}

/* Elements with constructors may be seen only as what they are, and no others as such. */
static TsrStatus check_element(const TsrStorage *s, TsrDtype dtype) {
    bool object = !tsr_dtype_is_pod(dtype);
    if (object ? s->element == dtype : s->element == TSR_DTYPE_NONE) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "a storage of %s elements cannot be viewed as %s",
                     s->element == TSR_DTYPE_NONE ? "plain" : tsr_dtype_name(s->element), tsr_dtype_name(dtype));
}

TsrStatus tsr_tensor_new_over(TsrTensor **out, TsrStorage *storage, TsrGeometry g, TsrDtype dtype) {
    int64_t numel;
    TsrTensor *t = NULL;
    TSR_TRY(check_geometry(&numel, storage, g, dtype));
    TSR_TRY(check_element(storage, dtype));
    TSR_TRY(new_struct(&t, g.ndim, dtype, storage->ptr.device));
    if (g.ndim > 0) memcpy(t->sizes, g.sizes, (size_t)g.ndim * sizeof *g.sizes);
    if (g.ndim > 0) memcpy(t->strides, g.strides, (size_t)g.ndim * sizeof *g.strides);
    t->numel = numel;
    t->offset = g.offset;
    return attach_move(out, t, TSR_OK, tsr_storage_retain(storage));
}

/* Makes a view without reporting it to the trace. */
static TsrStatus new_view(TsrTensor **out, const TsrTensor *self, const TsrGeometry *g, const char *origin) {
    TsrTensor *t = NULL;
    uint64_t numel = 1; /* what is in front of a size of 0 may be larger than int64_t */
    if (TSR_UNLIKELY(self->sparse != NULL)) return tsr_refuse_backend("as_strided", self);
    if (TSR_UNLIKELY(g->offset < 0)) return invalid_offset(g->offset);
    TSR_TRY(new_struct(&t, g->ndim, self->dtype, self->device));
    for (int i = 0; i < g->ndim; i++) {
        t->sizes[i] = g->sizes[i];
        t->strides[i] = g->strides[i];
        numel *= (uint64_t)g->sizes[i];
    }
    t->numel = (int64_t)numel;
    t->offset = g->offset;
    t->flags = self->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG);
    if (TSR_UNLIKELY(self->flags & TSR_FLAG_INFERENCE)) t->flags |= TSR_FLAGS_OF_INFERENCE;
    t->storage = tsr_storage_retain(self->storage);
    share_version(t, self);
    t->base = link_root(self);
    if (self->base != NULL) t->source = tsr_tensor_weak_new((TsrTensor *)self);
    t->origin = origin;
    *out = t;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_view(TsrTensor **out, const TsrTensor *self, const TsrGeometry *g, const char *origin) {
    TSR_TRY(new_view(out, self, g, origin));
    tsr_trace(TSR_TRACE_VIEW, origin, NULL, 0, *out, self);
    return TSR_OK;
}

TsrStatus tsr_refuse_internal_overlap(void) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation.");
}

TsrStatus tsr_check_no_internal_overlap(const TsrTensor *written) {
    for (int d = 0; d < tsr_ndim(written) && written->numel > 0; d++)
        if (written->sizes[d] > 1 && written->strides[d] == 0) return tsr_refuse_internal_overlap();
    return TSR_OK;
}

TsrStatus tsr_refuse_overlap(void) {
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location. "
        "Please clone() the tensor before performing the operation.");
}

void tsr_tensor_unlink_base(TsrTensor *t) {
    tsr_tensor_weak_free(t->base);
    tsr_tensor_weak_free(t->source);
    t->base = t->source = NULL;
}

TsrStatus tsr_tensor_new_base(TsrTensor **out, const TsrTensor *t) {
    const TsrTensor *root = t->base;
    *out = root == NULL ? NULL : tsr_tensor_retain_base(t);
    if (root == NULL || *out != NULL) return TSR_OK;
    TsrTensor *fresh = NULL;
    TsrGeometry whole = tsr_tensor_geometry(root);
    TSR_TRY(tsr_tensor_new_view(&fresh, t, &whole, root->origin));
    tsr_tensor_unlink_base(fresh);
    fresh->dtype = root->dtype;
    fresh->flags = root->flags;
    *out = fresh;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_data(TsrTensor **out, const TsrTensor *self) {
    TsrTensor *t = NULL;
    TsrGeometry same = tsr_tensor_geometry(self);
    bool uncounted = (self->flags & TSR_FLAG_INFERENCE) != 0 && tsr_is_inference_mode();
    TSR_TRY(new_view(&t, self, &same, "data"));
    TsrStatus status = uncounted ? TSR_OK : tsr_tensor_start_version(t);
    if (status != TSR_OK) {
        tsr_tensor_free(t);
        return status;
    }
    tsr_tensor_unlink_base(t);
    tsr_trace(TSR_TRACE_VIEW, "data", NULL, 0, t, self);
    *out = t;
    return TSR_OK;
}

TsrStatus tsr_tensor_new_scalar(TsrTensor **out, TsrScalar value, TsrDtype dtype) {
    TSR_TRY(tsr_tensor_new(out, 0, NULL, dtype, TSR_DEVICE_CPU));
    tsr_scalar_store(value, dtype, tsr_data(*out));
    return TSR_OK;
}

TsrStatus tsr_tensor_new_wrapped(TsrTensor **out, TsrScalar value) {
    TsrDtype dtype = value.kind == TSR_SCALAR_BOOL    ? TSR_BOOL
                     : value.kind == TSR_SCALAR_FLOAT ? TSR_FLOAT64
                     : value.kind == TSR_SCALAR_UINT  ? TSR_UINT64
                     : value.kind == TSR_SCALAR_INT   ? TSR_INT64
                                                      : TSR_COMPLEX128;
    TSR_TRY(tsr_tensor_new_scalar(out, value, dtype));
    (*out)->flags |= TSR_FLAG_WRAPPED_NUMBER;
    return TSR_OK;
}

TsrTensor *tsr_tensor_new_undefined(void) {
    static TsrStorage nothing = {.refcount = 1,
                                 .element = TSR_DTYPE_NONE,
                                 .ptr = {.device = {TSR_CPU, -1}},
                                 .version = {.refcount = 1, .home = &nothing}};
    static int64_t zero[1];
    static TsrTensor undefined = {.refcount = 1,
                                  .weakcount = 1,
                                  .dtype = TSR_FLOAT32,
                                  .flags = TSR_FLAG_UNDEFINED,
                                  .ndim_ = 1,
                                  .device = {TSR_CPU, -1},
                                  .sizes = zero,
                                  .strides = zero,
                                  .storage = &nothing,
                                  .version = &nothing.version};
    return tsr_tensor_retain(&undefined);
}

/* --- reading --- */

bool tsr_is_contiguous(const TsrTensor *t, TsrMemoryFormat format) {
    int ndim = tsr_ndim(t);
    if (format == TSR_CHANNELS_LAST) return ndim == 4 && tsr_layout_is_channels_last(ndim, t->sizes, t->strides);
    if (format == TSR_CHANNELS_LAST_3D) return ndim == 5 && tsr_layout_is_channels_last(ndim, t->sizes, t->strides);
    return tsr_layout_is_contiguous(ndim, t->sizes, t->strides);
}

bool tsr_is_dense(const TsrTensor *t) {
    return tsr_layout_is_non_overlapping_and_dense(tsr_ndim(t), t->sizes, t->strides);
}

void (*tsr_tensor_name_hook)(char *buffer, size_t room, const TsrTensor *t);

static TsrStatus storage_too_small(const TsrTensor *t, int64_t need) {
    char name[200] = "";
    if (tsr_tensor_name_hook != NULL) tsr_tensor_name_hook(name, sizeof name, t);
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "the storage of %s%s%s of shape %s shrank beneath it: it needs %lld bytes, and %" PRIu64 " are there",
        name[0] != '\0' ? name : "this", name[0] != '\0' ? ", a " : " ", t->base != NULL ? "view" : "tensor",
        tsr_layout_text(tsr_ndim(t), t->sizes), (long long)need, t->storage->nbytes);
}

static TsrStatus readonly_write(const TsrTensor *t) {
    return tsr_error(TSR_RUNTIME_ERROR, "this tensor's memory is read-only (%s): clone() it before writing",
                     t->storage->origin != NULL ? t->storage->origin : "read-only");
}

/* The tensors that a sparse one is made of. */
static TsrStatus check_sparse(const TsrSparse *s, bool writing) {
    TSR_TRY(tsr_tensor_check(s->indices, writing));
    if (s->plain_indices != NULL) TSR_TRY(tsr_tensor_check(s->plain_indices, writing));
    return tsr_tensor_check(s->values, writing);
}

TsrStatus tsr_tensor_check(const TsrTensor *t, bool writing) {
    if (TSR_UNLIKELY(t->storage == NULL)) return t->sparse != NULL ? check_sparse(t->sparse, writing) : TSR_OK;
    if (TSR_UNLIKELY(writing && t->storage->readonly)) return readonly_write(t);
    if (t->numel == 0) return TSR_OK;
    int64_t last = t->offset;
    for (int i = 0; i < tsr_ndim(t); i++) last += (t->sizes[i] - 1) * t->strides[i];
    int64_t need = (last + 1) * (int64_t)tsr_dtype_size(t->dtype);
    if (TSR_UNLIKELY((uint64_t)need > t->storage->nbytes)) return storage_too_small(t, need);
    return TSR_UNLIKELY(tsr_memory_lost != 0) ? tsr_memory_check(t->storage->ptr.data, t->storage->nbytes) : TSR_OK;
}

static TsrScalar apply_flags(TsrScalar s, uint8_t flags) {
    if ((flags & TSR_FLAG_CONJ) && s.kind == TSR_SCALAR_COMPLEX) s.c.im = -s.c.im;
    if (flags & TSR_FLAG_NEG) {
        if (s.kind == TSR_SCALAR_COMPLEX) return tsr_scalar_complex(-s.c.re, -s.c.im);
        if (s.kind == TSR_SCALAR_FLOAT) s.f = -s.f;
        if (s.kind == TSR_SCALAR_INT) s.i = (int64_t)(0 - (uint64_t)s.i);
    }
    return s;
}

/* One element from a device; `address` is of its memory. */
static TsrStatus fetch(char *element, const TsrTensor *t, const void *address) {
    size_t size = tsr_dtype_size(t->dtype);
    tsr_trace(TSR_TRACE_COPY, "to the host", "one element", (int64_t)size, t->storage, NULL);
    return tsr_device_copy(element, TSR_DEVICE_CPU, address, t->device, size);
}

/* tsr_tensor_get, and what went wrong on the way from a device, where *out is 0. */
static TsrStatus get_element(TsrScalar *out, const TsrTensor *t, int64_t linear_index) {
    *out = tsr_scalar_int(0);
    if (TSR_UNLIKELY(t->storage == NULL || (uint64_t)linear_index >= (uint64_t)t->numel))
        return TSR_OK; /* sparse, or past the end: no element */
    int64_t at = t->offset, rest = linear_index;
    for (int i = tsr_ndim(t) - 1; i >= 0; i--) {
        int64_t size = t->sizes[i] > 0 ? t->sizes[i] : 1;
        at += rest % size * t->strides[i];
        rest /= size;
    }
    const char *data = t->storage->ptr.data;
    char element[16];
    if (data == NULL) return TSR_OK;
    data += at * (int64_t)tsr_dtype_size(t->dtype);
    if (tsr_on_device(t)) {
        TSR_TRY(fetch(element, t, data));
        data = element;
    }
    TsrScalar s = tsr_scalar_load(t->dtype, data);
    *out = TSR_UNLIKELY(t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) ? apply_flags(s, t->flags) : s;
    return TSR_OK;
}

TsrScalar tsr_tensor_get(const TsrTensor *t, int64_t linear_index) {
    TsrScalar value;
    (void)get_element(&value, t, linear_index);
    return value;
}

TsrStatus tsr_tensor_item(TsrScalar *out, const TsrTensor *t) {
    if (t->numel != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "a Tensor with %lld elements cannot be converted to Scalar",
                         (long long)t->numel);
    if (tsr_is_meta(t)) return tsr_error(TSR_RUNTIME_ERROR, "Tensor.item() cannot be called on meta tensors");
    if (!tsr_dtype_is_pod(t->dtype))
        return tsr_error(TSR_TYPE_ERROR, "an element of dtype %s is not a number", tsr_dtype_name(t->dtype));
    if (TSR_UNLIKELY(tsr_is_sparse(t))) {
        if (t->sparse->values->numel == 1) return tsr_tensor_item(out, t->sparse->values);
        *out = tsr_scalar_int(0);
        return TSR_OK;
    }
    TSR_TRY(tsr_tensor_check(t, false));
    if (tsr_device_has_backend(t->device)) TSR_TRY(tsr_device_will_wait());
    TsrScalar value;
    TSR_TRY(get_element(&value, t, 0));
    *out = value;
    return TSR_OK;
}

TsrStatus tsr_wrap_dim(int64_t *dim, int ndim) {
    int64_t n = ndim > 0 ? ndim : 1;
    if (TSR_UNLIKELY(*dim < -n || *dim >= n))
        return tsr_error(TSR_INDEX_ERROR,
                         "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
                         (long long)-n, (long long)(n - 1), (long long)*dim);
    if (*dim < 0) *dim += n;
    return TSR_OK;
}

TsrStatus tsr_wrap_own_dim(int64_t *dim, int ndim) {
    if (ndim == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as %lld but tensor has no dimensions", (long long)*dim);
    return tsr_wrap_dim(dim, ndim);
}

/* --- changing in place --- */

void (*tsr_rank_hook)(const TsrTensor *t);

/* The undefined tensor is one for all, and stays as it is. */
static TsrStatus refuse_undefined(void) {
    return tsr_error(TSR_RUNTIME_ERROR, "Expected a proper Tensor but got None (or an undefined tensor in C++)");
}

TsrStatus tsr_tensor_set_geometry(TsrTensor *t, TsrGeometry g) {
    int64_t *fresh = t->dims, *old = t->sizes, scratch[2 * TSR_INLINE_DIMS], numel = 1;
    if (TSR_UNLIKELY(!tsr_is_defined(t))) return refuse_undefined();
    TSR_TRY(tsr_layout_check_ndim(g.ndim));
    if (g.ndim > TSR_INLINE_DIMS && (fresh = tsr_malloc(2 * (size_t)g.ndim * sizeof *fresh)) == NULL)
        return tsr_error_no_memory(2 * (size_t)g.ndim * sizeof *fresh);
    if (TSR_UNLIKELY(t->weakcount > 1) && tsr_rank_hook != NULL && g.ndim != tsr_ndim(t)) tsr_rank_hook(t);
    int64_t *to = fresh == t->dims ? scratch : fresh;
    int64_t half = fresh == t->dims ? TSR_INLINE_DIMS : g.ndim;
    for (int i = 0; i < g.ndim; i++) {
        to[i] = g.sizes[i];
        to[half + i] = g.strides[i];
        numel *= g.sizes[i];
    }
    if (fresh == t->dims) memcpy(t->dims, scratch, sizeof scratch);
    if (old != t->dims) tsr_free(old);
    t->sizes = fresh;
    t->strides = fresh + half;
    t->ndim_ = (uint8_t)g.ndim;
    t->numel = numel;
    t->offset = g.offset;
    return TSR_OK;
}

/* Grows the storage so that the geometry fits, as set_ and resize_ do. */
static TsrStatus ensure_storage(TsrStorage *s, TsrGeometry g, TsrDtype dtype) {
    int64_t need;
    if (!bytes_needed(&need, g, tsr_dtype_size(dtype))) return overflow(g);
    return (uint64_t)need > s->nbytes ? tsr_storage_resize(s, (uint64_t)need) : TSR_OK;
}

TsrStatus tsr_tensor_resize(TsrTensor *t, int ndim, const int64_t *sizes, TsrMemoryFormat format) {
    int64_t strides[TSR_MAX_DIMS], numel, bytes;
    if (TSR_UNLIKELY(!tsr_is_defined(t))) return refuse_undefined();
    TSR_TRY(tsr_layout_check_ndim(ndim));
    TSR_TRY(tsr_layout_numel_there(&numel, ndim, sizes));
    bool same = ndim == tsr_ndim(t) && (ndim == 0 || memcmp(sizes, t->sizes, (size_t)ndim * sizeof *sizes) == 0);
    if (same && (format == TSR_CONTIGUOUS || format == TSR_PRESERVE)) return TSR_OK;
    TSR_TRY(check_format(format, ndim));
    if (format == TSR_CHANNELS_LAST || format == TSR_CHANNELS_LAST_3D)
        tsr_layout_channels_last_strides(strides, ndim, sizes);
    else tsr_layout_contiguous_strides(strides, ndim, sizes);
    size_t held = t->storage->capacity;
    if (tsr_mul_overflows(numel, (int64_t)tsr_itemsize(t), &bytes))
        return overflow((TsrGeometry){ndim, sizes, NULL, 0});
    TSR_TRY(ensure_storage(t->storage, (TsrGeometry){ndim, sizes, strides, t->offset}, t->dtype));
    if (held == t->storage->capacity)
        tsr_trace(TSR_TRACE_KEEP, "resize", "it fits", numel * (int64_t)tsr_itemsize(t), t, t->storage);
    return tsr_tensor_set_geometry(t, (TsrGeometry){ndim, sizes, strides, t->offset});
}

static TsrStatus check_same_device(const TsrStorage *held, const TsrStorage *given) {
    char here[16], there[16];
    if (tsr_device_equal(held->ptr.device, given->ptr.device)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Attempted to set the storage of a tensor on device \"%s\" to a storage on different device "
                     "\"%s\".  This is no longer allowed; the devices must match.",
                     tsr_device_format(held->ptr.device, here), tsr_device_format(given->ptr.device, there));
}

TsrStatus tsr_tensor_set_storage(TsrTensor *t, TsrStorage *storage, TsrGeometry g) {
    TSR_TRY(check_same_device(t->storage, storage));
    return tsr_tensor_move_to_storage(t, storage, g);
}

TsrStatus tsr_tensor_move_to_storage(TsrTensor *t, TsrStorage *storage, TsrGeometry g) {
    int64_t numel;
    if (g.offset < 0) return invalid_offset(g.offset);
    TSR_TRY(tsr_layout_numel(&numel, g.ndim, g.sizes));
    TSR_TRY(check_element(storage, t->dtype));
    TSR_TRY(ensure_storage(storage, g, t->dtype));
    TSR_TRY(tsr_tensor_set_geometry(t, g));
    t->device = storage->ptr.device;
    if (storage == t->storage) return TSR_OK;
    /* The counter stays the tensor's own: counted when it was the old storage's, no longer when it is the new one's. */
    if (t->version->home == t->storage) t->version->refcount += 1;
    else if (t->version->home == storage) t->version->refcount -= 1;
    TsrStorage *old = t->storage;
    t->storage = tsr_storage_retain(storage);
    tsr_storage_free(old);
    return TSR_OK;
}
