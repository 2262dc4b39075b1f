/* reduce.h: reductions on the device, alone or at the end of a chain of passes (chain.h). */
#ifndef CUDA_REDUCE_H
#define CUDA_REDUCE_H

#include "cuda/launch.h"

/* The same struct as the kernel's text has. */
#define alignas _Alignas
#include "cuda/device/reduce_args.h"
#undef alignas

TsrStatus cuda_reduce(const TsrDeviceReduce *reduce);
/* The text of the kernel that does it, or, with `parts`, that merges what several blocks left; false: there is none. */
bool cuda_reduce_source(CudaSource *out, const TsrDeviceReduce *reduce, bool parts);

/* ---- for chains ---- */

/* What a reduction's kernel is made for. */
typedef struct CudaReduceKey {
    uint8_t kind, dtype, out[2];
    uint8_t nreduced, nkept; /* dimensions */
    uint8_t vec, outputs;    /* neighbouring inputs that a thread reads at once, and results that it makes */
    uint8_t parts;           /* it merges what several blocks left */
    uint8_t chained;         /* inputs are made by a chain's passes, whose text stands before */
} CudaReduceKey;

/* A reduction that is ready to be launched: its kernels are made, and its memory is there. */
typedef struct CudaReduction {
    int index;
    CudaReduceKey key;
    ReduceArgs args;
    CuFunction read,
        merge; /* the kernel over the inputs; that over the parts, or NULL: no result is shared by blocks */
    unsigned blocks, blocks_y, threads;
    size_t parts_bytes; /* how large args.parts is */
} CudaReduction;

/* How a reduction that there is a kernel for is shared among threads; its kernels and its memory are still missing. */
void cuda_reduce_plan(CudaReduction *out, const TsrDeviceReduce *reduce);
/* The text of a reduction's kernel, after cuda_source_begin and what a chain needs. `complex_numbers`: complex.cuh
 * stands there too. */
void cuda_reduce_write(CudaSource *s, const CudaReduceKey *key, bool complex_numbers);
/* Threads of a block at most. */
int cuda_reduce_threads(const CudaReduceKey *key);

#endif
