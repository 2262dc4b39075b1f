/* kernels.h: modules and launches of the simulated device. */
#ifndef CUDA_SIMULATED_KERNELS_H
#define CUDA_SIMULATED_KERNELS_H

#include <stdbool.h>
#include <stddef.h>

typedef void *CuModule; /* the loader's handle of its shared library, which stays loaded */
typedef struct CuFunctionBody *CuFunction;

/* What the driver hands to a kernel (kernels.c). */
typedef struct Simulated Simulated;
/* A kernel: what runs its whole grid, how many bytes its arguments have, and the threads of a block at most. */
struct CuFunctionBody {
    void (*run)(Simulated *simulated, const void *args);
    size_t args;
    unsigned threads;
};

/* A launch that waits in its stream; made with a copy of the arguments, freed by launch_free. */
typedef struct Launch Launch;
/* NULL: no memory. */
Launch *launch_new(CuFunction function, unsigned blocks, unsigned blocks_y, unsigned threads, const void *args);
/* Runs all threads of the grid; `order`: which of 4 orders they begin in. One launch at a time. */
void launch_run(const Launch *launch, unsigned order);
void launch_free(Launch *launch);

/* Whether this is the one that $TSR_SIM_FAIL asked to fail (libcuda.c). */
bool simulated_fails(const char *what);

#endif
