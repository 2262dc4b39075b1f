/* compile.h: makes code for a device from a kernel's text. */
#ifndef CUDA_COMPILE_H
#define CUDA_COMPILE_H

#include "driver.h"

/* Bytes by cuda_host->malloc. */
typedef struct CudaImage {
    char *bytes;
    size_t size;
} CudaImage;

/* Code for device `index`: from the cache of this user, else compiled by NVRTC and put there. TSR_NOT_IMPLEMENTED_ERROR
 * without a message when there is no compiler; TSR_SYSTEM_ERROR with its words when it refuses the text. *out is the
 * caller's. */
TsrStatus cuda_compile(CudaImage *out, int index, const char *text);
/* The same for a named architecture ("sm_90"), without the cache. */
TsrStatus cuda_compile_for(CudaImage *out, const char *architecture, const char *text);
void cuda_image_free(CudaImage *image);
/* TsrBackend.missing: the compiler, or what it is no help for. */
void cuda_missing(char *text, size_t room);
/* TSR_NOT_IMPLEMENTED_ERROR, after the driver did not take what the compiler made. */
TsrStatus cuda_code_was_refused(void);

/* ---- beside (beside.c) ---- */

typedef struct CudaJob CudaJob;
/* A thread compiles `text`, which is copied, for device `index`, as cuda_compile does. NULL: memory is short, or there
 * is no thread. */
CudaJob *cuda_job_new(int index, const char *text);
bool cuda_job_done(const CudaJob *job);
/* Ends a job that is done: gives what cuda_compile gave, *out the caller's, and frees the job. */
TsrStatus cuda_job_end(CudaImage *out, CudaJob *job);

/* ---- the cache ($TSR_CUDA_CACHE, else $XDG_CACHE_HOME/tsr/cuda, else ~/.cache/tsr/cuda): a file an image, named by
 * the hash of all that it was made from. A folder or file that is not this user's alone is not used. ---- */

typedef struct CudaHash {
    uint64_t high, low;
} CudaHash;
CudaHash cuda_hash(CudaHash from, const void *bytes, size_t n); /* `from` ({0, 0} at first) and then these bytes */
/* False: there is none, or not whole. *out is the caller's. */
bool cuda_cache_read(CudaImage *out, CudaHash key);
/* Written whole or not at all; failures are nobody's business. The folder keeps below $TSR_CUDA_CACHE_MB megabytes (256
 * when that is not set): the files that were not used for longest go. */
void cuda_cache_write(CudaHash key, const CudaImage *image);

#endif
