/* pack.h: the file of kernels that came with tsr, as make_pack.c writes it and pack.c reads it: a header, the list of
 * contents in the order of their keys, and the images. Numbers are in the machine's own order. */
#ifndef CUDA_PACK_H
#define CUDA_PACK_H

#include "compile.h"

#define CUDA_PACK_MAGIC "tsrpack1"
typedef struct CudaPackHeader {
    char magic[8];
    uint64_t count;
} CudaPackHeader;
typedef struct CudaPackEntry {
    CudaHash key, content; /* hashes of the kernel's text and of its image */
    uint64_t offset, size; /* where the image lies in the file */
} CudaPackEntry;

/* Below 0, 0 or above: by the upper half, then by the lower one. */
static inline int cuda_hash_order(CudaHash a, CudaHash b) {
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

/* Whether there is such a file. */
bool cuda_pack_exists(void);
/* The image of a kernel's text: PTX, zero-terminated, which the driver compiles. False: there is none, or not whole.
 * *out is the caller's. */
bool cuda_pack_read(CudaImage *out, const char *text);

#endif
