/* launch.h: kernels by key: made at first use, kept, and put into the current stream. */
#ifndef CUDA_LAUNCH_H
#define CUDA_LAUNCH_H

#include "source.h"

/* Writes the text of the kernel that `what` asks for; the kernel's name is the one that cuda_kernel was given. */
typedef void (*CudaWriteFn)(CudaSource *source, const void *what);

/* The kernel of a device that `key`, nkey bytes without padding, tells from all others; on its first use written by
 * `write` and compiled. TSR_NOT_IMPLEMENTED_ERROR where nothing can compile it. */
TsrStatus cuda_kernel(CuFunction *out, int index, const void *key, size_t nkey, const char *name, CudaWriteFn write,
                      const void *what);
/* As cuda_kernel, but nobody waits: *out is NULL until the kernel is at hand, and for ever when it can't be had. A key
 * that is met for the second time has its kernel compiled beside. */
TsrStatus cuda_kernel_beside(CuFunction *out, int index, const void *key, size_t nkey, const char *name,
                             CudaWriteFn write, const void *what);
/* How many blocks of `threads` threads for `items` pieces of work, of which a thread takes the next one when it is done
 * with one: as many as the device holds a few times over. At least 1. */
unsigned cuda_blocks(int index, uint64_t items, unsigned threads);
/* Into the device's current stream. `args` is the kernel's one argument; copied. */
TsrStatus cuda_launch(CuFunction f, int index, unsigned blocks, unsigned blocks_y, unsigned threads, const void *args);
/* ---- pieces of work that are one launch ---- */

/* A kernel, as cuda_kernel takes it: `key` is also what is written. */
typedef struct CudaText {
    const void *key;
    size_t nkey;
    const char *name;
    CudaWriteFn write;
} CudaText;
/* Makes the kernel, puts it into the current stream of the work's device and tells of all operands, as cuda_work_uses
 * does. */
TsrStatus cuda_run_blocks(const TsrDeviceWork *work, CudaText text, unsigned blocks, unsigned blocks_y,
                          unsigned threads, const void *args);
/* The same with as many blocks as cuda_blocks says for `items`; nothing happens when there are none. */
TsrStatus cuda_run(const TsrDeviceWork *work, CudaText text, uint64_t items, unsigned threads, const void *args);
/* The same for a kernel that reports what it finds wrong: fills in errors and launch, which lie in args. */
TsrStatus cuda_run_reporting(const TsrDeviceWork *work, CudaText text, uint64_t items, unsigned threads,
                             const void *args, uint64_t *errors, uint64_t *launch);

/* Tells of the bytes that an operand spans, for notes of races. sizes: of ndim dimensions, none of them 0. */
void cuda_operand_uses(const TsrDeviceOperand *operand, int index, int ndim, const int64_t *sizes, bool writes);
/* The same for all operands of a piece of work that have elements. */
void cuda_work_uses(const TsrDeviceWork *work);

#endif
