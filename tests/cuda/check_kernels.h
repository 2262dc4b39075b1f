/* check_kernels.h: what the families of kernels that have a file of their own share with check_kernels.c. */
#ifndef CHECK_KERNELS_H
#define CHECK_KERNELS_H

#include "cuda/source.h"

/* Compiles a text; not `written`: there should be one. The source is freed. */
void check_compile(const char *what, bool written, CudaSource *source);

/* Says what went wrong, which counts as a kernel that was refused. */
void check_fail(const char *what);

/* Every kernel of a family. */
void check_nn(void);        /* convolutions, pools, samplings, bags, CTC */
void check_libraries(void); /* Fourier transforms, factorizations, distances, sparse matrices; and that NVIDIA's
                               libraries, where they are found, have the functions that are called of them */

#endif
