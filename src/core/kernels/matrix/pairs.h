/* pairs.h: products of bfloat16 by the instruction that multiplies pairs of them (AVX512-BF16), twice as many in its
 * time as fused operations on floats. Elements below 2**-126 count as 0 in it, as they do in PyTorch's own. */
#ifndef CORE_KERNELS_MATRIX_PAIRS_H
#define CORE_KERNELS_MATRIX_PAIRS_H

#include "core/base.h"

/* Rows of a and columns of b to a panel, and pairs of terms that a tile adds up at a time: 12 rows of 256 pairs are 12
 * KiB, 32 columns 32 KiB. */
enum { TSR_PAIR_ROWS = 12, TSR_PAIR_COLS = 32, TSR_PAIR_DEPTH = 256 };
/* The most columns to a stripe of b that is not packed: 12 lines of the cache to a row. */
enum { TSR_PAIR_STRIPE = 384 };

/* A matrix of bfloat16 whose terms, `k` of them, are paired along one dimension; strides in elements. */
typedef struct TsrPairSide {
    const uint16_t *data;
    int64_t lines, k;   /* rows of a, or columns of b */
    int64_t line, term; /* how far the next line and the next term are */
} TsrPairSide;

/* What the second cache is to have soon: an element of a line of it, and how many elements further each next one is. */
typedef struct TsrPairAhead {
    const uint16_t *from;
    int64_t step;
} TsrPairAhead;

/* Packed for the tiles: a panel of `width` lines is (k + 1) / 2 times `width` pairs, zeros past the ends. */
typedef struct TsrPairKernel {
    /* Panels [begin, end) of a side, `width` a multiple of 4. */
    void (*pack)(uint32_t *to, const TsrPairSide *side, int64_t width, int64_t begin, int64_t end);
    /* c, at most TSR_PAIR_ROWS by TSR_PAIR_COLS floats in rows c_rs apart, = a @ b, or added to c: `pairs` pairs of a
     * panel of a and of one of b. With each pair a line of the cache is asked for, unless `ahead` is NULL. */
    void (*tile)(float *c, int64_t c_rs, const uint32_t *a, const uint32_t *b, int64_t pairs, int rows, int cols,
                 bool add, const TsrPairAhead *ahead);
    /* Without packing, for few lines of a, the terms of both sides neighbours: columns [begin, end) of c, in rows c_rs
     * apart, = a @ b, or added to c. */
    void (*dots)(float *c, int64_t c_rs, const TsrPairSide *a, const TsrPairSide *b, int64_t begin, int64_t end,
                 bool add);
    /* The same for a right side whose columns are neighbours: `columns` columns, at most TSR_PAIR_STRIPE, from `column`
     * on; the same bits as by tiles. */
    void (*stripe)(float *c, int64_t c_rs, const TsrPairSide *a, const TsrPairSide *b, int64_t column, int64_t columns,
                   bool add);
} TsrPairKernel;

/* NULL where this CPU has no such instruction. */
const TsrPairKernel *tsr_pair_kernel(void);

#endif
