/* gemm.h: the matrix product on raw strided matrices: BLAS where it has the type, blocked loops of our own for
 * integers, half precision through float. No tensors; strides count elements. */
#ifndef CORE_ENGINE_GEMM_H
#define CORE_ENGINE_GEMM_H

#include "core/scalar.h"

/* One matrix in memory: element (i, j) at data + (i * rs + j * cs) * itemsize; read as its conjugate when conj. */
typedef struct TsrMat {
    void *data;
    int64_t rows, cols, rs, cs;
    bool conj;
} TsrMat;
/* One vector: element i at data + i * step * itemsize, step not negative; read as its conjugate when conj. */
typedef struct TsrVec {
    const void *data;
    int64_t step;
    bool conj;
} TsrVec;

/* One product: c = beta * c + alpha * a @ b, with a (m, k), b (k, n), c (m, n) of one dtype. */
typedef struct TsrGemm {
    TsrDtype dtype;
    TsrMat a, b, c;
    TsrScalar alpha, beta;
} TsrGemm;

/* Computes it; c must not overlap a or b. beta 0 never reads c; alpha 0 never reads a and b
 * in the types of BLAS, so that nothing of their nan and inf arrives. Integers wrap; float16, bfloat16 and float8 are
 * summed in float32 and rounded once. TSR_NOT_IMPLEMENTED_ERROR for bool, complex32 and the like: "addmm_impl_cpu_" not
 * implemented for 'Bool'. */
TsrStatus tsr_gemm(const TsrGemm *g);

/* As tsr_gemm, for batches of matrices with fewer than TSR_GEMM_SHORT multiplications, which PyTorch sums with a loop
 * of its own: the sum first, then alpha, be it 0, and beta. */
enum { TSR_GEMM_SHORT = 400 };
TsrStatus tsr_gemm_short(const TsrGemm *g);

/* The same for `count` products, of which each one's elements lie so many on from those of the one before. */
typedef struct TsrGemmSteps {
    int64_t a, b, c;
} TsrGemmSteps;
TsrStatus tsr_gemm_short_each(const TsrGemm *first, TsrGemmSteps steps, int64_t count);

/* As tsr_gemm, of float32, alpha 1 and beta 0 or 1; each element of a small product is one chain of fused
 * multiplications and additions, as oneDNN's convolutions are. */
TsrStatus tsr_gemm_chain(const TsrGemm *g);

/* Whether tsr_gemm computes this dtype, and so does whatever multiplies matrices. */
bool tsr_gemm_supports(TsrDtype dtype);
/* Whether it is one that tsr_gemm computes too, in float32, but only the products of two matrices have in PyTorch: mm,
 * addmm, linear. */
bool tsr_dtype_is_float8(TsrDtype dtype);

/* *out (one element of dtype) = sum of x[i] * y[i] over n elements. */
TsrStatus tsr_dot(TsrDtype dtype, int64_t n, TsrVec x, TsrVec y, void *out);

#endif
