/* blas.h: BLAS and LAPACK by dlopen at first use: nothing is linked, a start costs nothing.
 *
 * The library that $TSR_BLAS names; else OpenBLAS, its OpenMP variant by its path (its number of threads is each
 * calling thread's own), or by the generic name. Where it does not know the processor it is told which kernels fit.
 * What a process shares with it, the core's threads do: large products (gemm.c) and factorizations (blocked.c) are cut
 * up for them, and each piece is one call on one thread. Interfaces have 32-bit ints: callers check sizes with
 * tsr_blas_int. LAPACK is reached by its Fortran symbols (column-major, everything by address, string lengths hidden at
 * the end). */
#ifndef CORE_ENGINE_BLAS_H
#define CORE_ENGINE_BLAS_H

#include "core/scalar.h"

/* The four types that BLAS computes on, as indices of the tables below. */
typedef enum TsrBlasType { TSR_BLAS_S, TSR_BLAS_D, TSR_BLAS_C, TSR_BLAS_Z, TSR_BLAS_TYPES } TsrBlasType;

/* CBLAS's constants: row-major order; as is, transposed, conjugate transposed, conjugated. */
enum { TSR_CBLAS_ROW = 101, TSR_CBLAS_N = 111, TSR_CBLAS_T = 112, TSR_CBLAS_CT = 113, TSR_CBLAS_CN = 114 };

/* The functions of blas.def by name; those of LAPACK one for each type. */
typedef struct TsrBlas {
#define CBLAS(name, returns, args) returns(*name) args;
#define LAPACK_ALL(name, s, d, c, z, args) void(*name[TSR_BLAS_TYPES]) args;
#include "blas.def"
#undef CBLAS
#undef LAPACK_ALL
} TsrBlas;

/* Lent for ever; what this thread calls next runs on tsr_parallel_width() threads. TSR_RUNTIME_ERROR naming the package
 * when there is no library. Thread safe. */
TsrStatus tsr_blas_get(const TsrBlas **lent);
/* What this thread calls next runs on so many threads, until it asks for the table again. */
void tsr_blas_limit(int threads);
int tsr_blas_limited(void); /* what this thread has asked for; 0: nothing yet */
/* A line about the library, or why there is none: "OpenBLAS 0.3.21, SkylakeX kernels, /usr/lib/.../libopenblas.so.0".
 * Loads the library; lent for ever. One thread at a time. */
const char *tsr_blas_about(void);
/* As tsr_blas_get, but NULL and no error when there is none. */
const TsrBlas *tsr_blas_try(void);
/* *out = n when it fits a 32-bit int, else TSR_RUNTIME_ERROR. */
TsrStatus tsr_blas_int(int *out, int64_t n);
/* float32, float64, complex64, complex128 only; false for others. */
bool tsr_blas_type(TsrBlasType *out, TsrDtype d);

#endif
