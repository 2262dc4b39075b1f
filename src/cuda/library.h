/* library.h: finds NVIDIA's libraries beside the driver: the toolkit's, or those of Python's wheels. */
#ifndef CUDA_LIBRARY_H
#define CUDA_LIBRARY_H

#include <stdbool.h>

#include "driver.h"

/* A library and the table of what is called of it: a pointer for each symbol, in their order. */
typedef struct CudaLibrary {
    const char *stem, *const *symbols;
    size_t n;
    void *functions; /* `size` bytes, filled when all symbols were found */
    size_t size;
    int state; /* 0: not looked for yet; 1: there; -1: not there; -2: there, but not all symbols are */
} CudaLibrary;
/* Whether it is there and has all symbols; looked for at the first call, for ever. Any thread may ask. By its stem
 * ("nvrtc", "cublasLt", "cufft", "cusparse", "cusolver"), of CUDA 13, where the driver is for that, or else 12, from
 * the first of: the path in the variable $TSR_CUDA_<STEM>, $TSR_CUDA_PATH and $CUDA_PATH, the loader, /usr/local/cuda*,
 * the wheels in the active Python environment
 * ($VIRTUAL_ENV, $CONDA_PREFIX, ~/.local and /usr) and ~/.local/share/tsr/cuda. With the simulated driver it is the
 * simulated one's: NVRTC's functions, and with $TSR_SIM_LIBRARIES=1 those of other libraries. */
bool cuda_library_has(CudaLibrary *library);

/* The libraries of which functions are called, as library_table.inc lists them. */
extern CudaLibrary cuda_libnvrtc, cuda_libcublaslt, cuda_libcufft, cuda_libcusparse, cuda_libcusolver;

/* The path of a file that lies beside the plugin. False: it is longer than `room` bytes, or nobody knows where. */
bool cuda_path_beside(char *path, size_t room, const char *name);

#endif
