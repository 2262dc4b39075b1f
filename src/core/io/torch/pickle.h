/* pickle.h: pickles of protocol 2 as torch.save writes them, read and written as trees. Nothing is looked up and
 * nothing called: the names that a file may use are rows of a table (pickle.c), and each makes a node. */
#ifndef CORE_IO_TORCH_PICKLE_H
#define CORE_IO_TORCH_PICKLE_H

#include "core/io_format.h"

/* The storages that a pickle speaks of are elsewhere. */
typedef struct TsrPickleHost {
    /* node->storage (owned by it) of the storage `key`, of `numel` elements of a dtype (TSR_DTYPE_NONE: bytes). */
    TsrStatus (*storage)(TsrNode *node, const char *key, uint64_t numel, void *context);
    void *context;
} TsrPickleHost;

/* tree->root is what the pickle holds that begins at byte *at of `in`; *at is then behind it. With `opaque` what has an
 * unknown name is a node that says so, else it is refused. */
TsrStatus tsr_pickle_read(TsrTree *tree, const TsrInput *in, size_t *at, const TsrPickleHost *host, bool opaque);

/* The class by which a pickle names a storage: that of the dtype, or else UntypedStorage, whose dtype is TSR_DTYPE_NONE
 * and whose elements are bytes. */
typedef struct TsrStorageClass {
    const char *module, *name;
    TsrDtype dtype;
} TsrStorageClass;
const TsrStorageClass *tsr_pickle_storage_class(TsrDtype dtype);

/* How a tensor is written. */
typedef struct TsrPickled {
    size_t key;     /* of its storage */
    uint64_t numel; /* of that, in elements */
    int64_t offset;
    const int64_t *sizes, *strides;
    int ndim;
    uint32_t flags; /* of the tensor as it is written: TSR_FLAG_CONJ, TSR_FLAG_NEG */
} TsrPickled;
typedef TsrStatus TsrPickledTensor(TsrPickled *out, const TsrNode *node, void *context);
/* Appends the pickle of `root`; `tensor` tells of each TENSOR. Uses the nodes' `user`. */
TsrStatus tsr_pickle_write(TsrText *out, TsrTree *tree, TsrPickledTensor *tensor, void *context);

#endif
