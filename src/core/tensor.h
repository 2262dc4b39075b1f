/* tensor.h: TensorImpl: geometry over a storage, and its lifetime.
 *
 * sizes, strides and offset count elements; strides are never negative. Up to TSR_INLINE_DIMS
 * dimensions live in the struct. A tensor holds its storage; a view never holds its base: `base` and `source` are
 * weak links (for `_base`, for display) and `origin` the operator's name (for display).
 * A defined tensor's storage is never NULL, except for sparse layouts and the undefined tensor.
 * Fields are read directly inside the core and through the inlines elsewhere; writes only here, in
 * view.c and in tensor.c. Structs come from a free list. Counts are atomic. */
#ifndef TSR_TENSOR_H
#define TSR_TENSOR_H

#include "layout.h"
#include "scalar.h"
#include "storage.h"

TSR_PUBLIC_BEGIN

/* Dimensions whose sizes and strides lie in the struct: images and volumes in batches have no more, so that few tensors
 * need a second block. */
enum { TSR_INLINE_DIMS = 5 };

/* torch.layout. */
typedef enum TsrLayout {
    TSR_STRIDED,
    TSR_SPARSE_COO,
    TSR_SPARSE_CSR,
    TSR_SPARSE_CSC,
    TSR_SPARSE_BSR,
    TSR_SPARSE_BSC
} TsrLayout;
const char *tsr_layout_name(uint8_t layout); /* as PyTorch's errors call it: "Strided", "SparseCsr"; static */
/* torch.memory_format: in which order of dimensions elements are dense. */
typedef enum TsrMemoryFormat { TSR_CONTIGUOUS, TSR_PRESERVE, TSR_CHANNELS_LAST, TSR_CHANNELS_LAST_3D } TsrMemoryFormat;

enum TsrTensorFlags {
    TSR_FLAG_WRAPPED_NUMBER = 1, /* 0-d, made from a Python number: weak in type promotion */
    TSR_FLAG_CONJ = 2,           /* lazily conjugated (complex views) */
    TSR_FLAG_NEG = 4,            /* lazily negated (imag of a conj view) */
    TSR_FLAG_UNDEFINED = 8,
    TSR_FLAG_COALESCED = 16 /* sparse COO */
};

typedef struct TsrTensor TsrTensor;
/* What sparse layouts hold instead of a storage; all references owned by the tensor. */
typedef struct TsrSparse {
    int sparse_dim, dense_dim; /* COO */
    TsrTensor *indices;        /* COO: (sparse_dim, nnz) int64; compressed: crow/ccol_indices */
    TsrTensor *plain_indices;  /* compressed: col/row_indices; NULL for COO */
    TsrTensor *values;
} TsrSparse;

struct TsrTensor {
    TSR_ATOMIC(int32_t) refcount;  /* owning references */
    TSR_ATOMIC(int32_t) weakcount; /* weak links from views, plus one while refcount > 0 */
    TsrDtype dtype;
    uint8_t layout; /* TsrLayout */
    uint8_t flags;
    uint8_t ndim_; /* read by tsr_ndim */
    TsrDevice device;
    int64_t numel;            /* product of sizes */
    int64_t offset;           /* elements from the storage's start */
    int64_t *sizes, *strides; /* into dims, or one heap block when ndim > TSR_INLINE_DIMS */
    TsrStorage *storage;
    TsrVersion *version; /* &storage->version, or a counter of its own */
    TsrSparse *sparse;   /* NULL when strided */
    TsrTensor *base;     /* weak link to the root tensor of a view; NULL otherwise */
    TsrTensor *source;   /* weak link to the view that a view was taken of; NULL when that is the root */
    const char *origin;  /* operator that made it, e.g. "t"; static; NULL when unknown */
    int64_t dims[2 * TSR_INLINE_DIMS];
};

/* PyTorch's key for what computes with t: "CPU", "SparseCPU", "Meta"; static. */
const char *tsr_backend_name(const TsrTensor *t);
/* Sets PyTorch's error for an operator that has no form for the layout of t. Never TSR_OK. */
TsrStatus tsr_refuse_backend(const char *name, const TsrTensor *t);

/* --- lifetime --- */
/* Dense, row-major, uninitialised (non-POD elements are constructed). TSR_RUNTIME_ERROR on negative
 * sizes, overflow or short memory. *out is the caller's. */
TsrStatus tsr_tensor_new(TsrTensor **out, int ndim, const int64_t *sizes, TsrDtype dtype, TsrDevice device);
/* The same with the strides given (in elements, >= 0), over as many elements as they reach. */
TsrStatus tsr_tensor_new_strided(TsrTensor **out, int ndim, const int64_t *sizes, const int64_t *strides,
                                 TsrDtype dtype, TsrDevice device);
/* Same sizes, dtype, device as `like`; strides by memory format (TSR_PRESERVE: like's when non-overlapping and dense,
 * else by its stride order, as empty_like). dtype TSR_DTYPE_NONE: like's. */
TsrStatus tsr_tensor_new_like(TsrTensor **out, const TsrTensor *like, TsrDtype dtype, TsrMemoryFormat format);
/* The one constructor of views: any geometry over an existing storage (retained). Checks that it fits, strides
 * >= 0, no overflow: TSR_RUNTIME_ERROR "setStorage: sizes ..., strides ..., storage offset ..., and itemsize ...
 * requiring a storage size of ... are out of bounds for storage of size ...". */
TsrStatus tsr_tensor_new_over(TsrTensor **out, TsrStorage *storage, TsrGeometry g, TsrDtype dtype);
/* Whether a geometry passes those checks; sets no error. */
bool tsr_storage_holds(const TsrStorage *storage, TsrGeometry g, TsrDtype dtype);
/* A view of `self` with new geometry (same dtype and flags, shares version counter, base is self's root; origin
 * static). Trusted geometry: callers have checked it. Every view comes this way, so the geometry is not copied: that
 * would wait for its fields to be stored (an eighth of a view's life). */
TsrStatus tsr_tensor_new_view(TsrTensor **out, const TsrTensor *self, const TsrGeometry *g, const char *origin);
TsrStatus tsr_tensor_new_scalar(TsrTensor **out, TsrScalar value, TsrDtype dtype); /* 0-d cpu */
/* A Python number as an operand: 0-d, cpu, TSR_FLAG_WRAPPED_NUMBER; float64, int64, uint64, bool or complex128 by kind.
 */
TsrStatus tsr_tensor_new_wrapped(TsrTensor **out, TsrScalar value);
TsrTensor *tsr_tensor_new_undefined(void);  /* a retained reference to the one undefined tensor */
TsrTensor *tsr_tensor_retain(TsrTensor *t); /* NULL is fine */
void tsr_tensor_free(TsrTensor *t);         /* one reference; NULL is fine */
/* Frees what the slot holds and leaves NULL: how a function that fails gives up its *out. */
void tsr_tensor_reset(TsrTensor **slot);
/* Tensors that have an owner, and the freed structs that other threads keep for reuse. */
int64_t tsr_tensor_live(void);
static inline int32_t tsr_tensor_refcount(const TsrTensor *t) { return t->refcount; }
/* A new reference to the root tensor of a view if it still lives, else NULL. */
TsrTensor *tsr_tensor_retain_base(const TsrTensor *t);
/* A new reference to the tensor that a view was taken of, if it still lives, else NULL. */
TsrTensor *tsr_tensor_retain_source(const TsrTensor *t);
/* Weak links: the struct stays readable (refcount, geometry) while one exists, its memory does not. */
TsrTensor *tsr_tensor_weak_new(TsrTensor *t); /* a weak link, for tsr_tensor_weak_free */
static inline bool tsr_tensor_weak_alive(const TsrTensor *t) { return t->refcount > 0; }
TsrTensor *tsr_tensor_weak_retain(TsrTensor *t); /* a new owning reference, NULL when the tensor is gone */
void tsr_tensor_weak_free(TsrTensor *t);
/* Called when the last owner of a tensor with weak links is gone; NULL by default. For reports of where that was. */
extern void (*tsr_tensor_gone_hook)(TsrTensor *t);
/* `_base`: the root tensor while it lives, else a fresh tensor of its geometry over t's storage; NULL in *out for no
 * view. */
TsrStatus tsr_tensor_new_base(TsrTensor **out, const TsrTensor *t);

/* --- reading --- */
static inline int tsr_ndim(const TsrTensor *t) { return t->ndim_; }
static inline TsrGeometry tsr_tensor_geometry(const TsrTensor *t) {
    TsrGeometry g = {t->ndim_, t->sizes, t->strides, t->offset};
    return g;
}
static inline bool tsr_is_meta(const TsrTensor *t) { return t->device.type == TSR_META; }
static inline bool tsr_is_defined(const TsrTensor *t) { return (t->flags & TSR_FLAG_UNDEFINED) == 0; }
static inline bool tsr_is_sparse(const TsrTensor *t) { return t->layout != TSR_STRIDED; }
static inline size_t tsr_itemsize(const TsrTensor *t) { return tsr_dtype_size(t->dtype); }
/* First element's address (NULL on meta). Valid while the storage keeps its size. */
static inline void *tsr_data(const TsrTensor *t) {
    char *p = (char *)t->storage->ptr.data;
    return p == NULL ? NULL : p + t->offset * (int64_t)tsr_dtype_size(t->dtype);
}
/* Whether t is dense in that order of dimensions; of the channels-last formats only for ndim 4 or 5. */
bool tsr_is_contiguous(const TsrTensor *t, TsrMemoryFormat format);
bool tsr_is_dense(const TsrTensor *t); /* contiguous in some order of its dimensions: no gaps, nothing shared */
/* Checks that the storage still covers the view (it may have shrunk) and, when `writing`, that it may be
 * written (read-only, internal overlap is not checked here). Every operator's dispatch calls it. */
TsrStatus tsr_tensor_check(const TsrTensor *t, bool writing);
/* How error messages call a tensor: writes its name, or "" for none, into `buffer`. NULL until a language sets it. */
extern void (*tsr_tensor_name_hook)(char *buffer, size_t room, const TsrTensor *t);
/* Reads one element (linear index in row-major order of the view, conj and neg applied); 0 where there is none. */
TsrScalar tsr_tensor_get(const TsrTensor *t, int64_t linear_index);
/* The value of a one-element tensor; TSR_RUNTIME_ERROR "a Tensor with N elements cannot be converted to Scalar". */
TsrStatus tsr_tensor_item(TsrScalar *out, const TsrTensor *t);
static inline int64_t tsr_tensor_version(const TsrTensor *t) { return t->version ? (int64_t)t->version->value : 0; }
/* Counts one write (and traces it). `what` is the operator's name, static. */
void tsr_tensor_bump(TsrTensor *t, const char *what);
/* A negative `dim` counts from the end. TSR_INDEX_ERROR "Dimension out of range (expected to be in range of [-2, 1],
 * but got 2)". ndim 0 counts as 1. */
TsrStatus tsr_wrap_dim(int64_t *dim, int ndim);
/* The same, but ndim 0 is an error: the tensor has no dimension to name. */
TsrStatus tsr_wrap_own_dim(int64_t *dim, int ndim);

/* --- changing in place: none of these bumps the version counter; TSR_RUNTIME_ERROR for the undefined tensor --- */
/* Trusted: callers have checked that it fits. The arrays may be t's own. TSR_RUNTIME_ERROR past TSR_MAX_DIMS or with
 * memory short. */
TsrStatus tsr_tensor_set_geometry(TsrTensor *t, TsrGeometry g);
/* resize_: row-major (or by format) geometry, growing the storage when needed; contents of the storage stay. */
TsrStatus tsr_tensor_resize(TsrTensor *t, int ndim, const int64_t *sizes, TsrMemoryFormat format);
/* set_: points t at another storage (retained) with the geometry given; checks as tsr_tensor_new_over, growing the
 * storage as PyTorch does. TSR_RUNTIME_ERROR when it lies on another device. */
TsrStatus tsr_tensor_set_storage(TsrTensor *t, TsrStorage *storage, TsrGeometry g);
/* The same, and t goes to the device of the storage: x.data = y. */
TsrStatus tsr_tensor_move_to_storage(TsrTensor *t, TsrStorage *storage, TsrGeometry g);
/* x.data: same storage and geometry, a version counter of its own starting at 0. */
TsrStatus tsr_tensor_new_data(TsrTensor **out, const TsrTensor *self);

TSR_PUBLIC_END

#endif
