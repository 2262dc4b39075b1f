/* chain.h: products of matrices without BLAS: small and thin ones of float32, whose operands are read where they lie,
 * what BLAS packs first, and those of float64. Each element is one chain of fused multiplications and additions, as in
 * oneDNN, in MKL's of float64 and, up to TSR_CHAIN_DEPTH terms, in OpenBLAS. */
#ifndef CORE_KERNELS_MATRIX_CHAIN_H
#define CORE_KERNELS_MATRIX_CHAIN_H

#include "core/base.h"

/* c = a @ b by `begin`: with c's own values left out, as what each chain begins with, or added to what it comes to. a
 * is (m, k), b (k, n), c (m, n). Strides in elements, from a row to the next (_rs) and a column to the next (_cs); c's
 * columns are neighbours. c overlaps neither a nor b. k <= TSR_CHAIN_DEPTH. */
typedef enum TsrChainBegin { TSR_CHAIN_NEW, TSR_CHAIN_ONTO, TSR_CHAIN_ADDED } TsrChainBegin;
#define TSR_CHAIN_OF(T) \
    struct { \
        int64_t m, n, k; \
        const T *a, *b; \
        T *c; \
        int64_t a_rs, a_cs, b_rs, b_cs, c_rs; \
        TsrChainBegin begin; \
    }
typedef TSR_CHAIN_OF(float) TsrChain;
/* Of any k, which is more than TSR_CHAIN_DEPTH only where begin is not TSR_CHAIN_ADDED. */
typedef TSR_CHAIN_OF(double) TsrDoubleChain;
enum { TSR_CHAIN_DEPTH = 256 };

typedef void (*TsrChainFn)(const TsrChain *chain);

typedef void (*TsrDoubleChainFn)(const TsrDoubleChain *chain);

/* As this CPU has it; NULL where it has no fused multiplication and addition. An interrupt ends them early. */
TsrChainFn tsr_chain_kernel(void);
TsrDoubleChainFn tsr_double_chain_kernel(void);

/* The same without one, and for any k; begin is TSR_CHAIN_ONTO. An interrupt ends it early. */
void tsr_chain_plain(const TsrChain *chain);

#endif
