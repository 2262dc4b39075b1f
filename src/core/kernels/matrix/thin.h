/* thin.h: products of a few rows with a large matrix of half floats, as a layer of a network makes them for a few
 * words. The large one is read once, from where it lies, and widened a block at a time: to widen it in memory first
 * takes longer than the product. Sums are float32, chains of TSR_THIN_DEPTH fused multiplications and additions each,
 * which are added one after the other; of a single row with columns of neighbours, in eight lanes. */
#ifndef CORE_KERNELS_MATRIX_THIN_H
#define CORE_KERNELS_MATRIX_THIN_H

#include "core/base.h"

/* Terms of a chain; columns that are packed at a time; rows that a product may have. One thread on Zen 3, m by 768 with
 * 768 by 3072 of bfloat16 and float16, either side's neighbours: all widened first and then OpenBLAS 0.3.21 takes 2 to
 * 4 times as long with m of 2, 1.5 to 2 with 16, 1.1 to 1.6 with 64; for m of 1 see one_row. */
enum { TSR_THIN_DEPTH = 256, TSR_THIN_COLS = 64, TSR_THIN_ROWS = 64 };

/* c (m, n) = a (m, k) @ b (k, n), or added to c. b is bfloat16 or float16, its strides in elements: rows or columns are
 * neighbours. a is packed: for every TSR_THIN_DEPTH terms (m, terms) floats. c's columns are neighbours, its rows c_rs
 * floats apart. */
typedef struct TsrThin {
    int64_t m, n, k;
    const float *a;
    const uint16_t *b;
    bool bfloat; /* or float16 */
    int64_t b_rs, b_cs;
    float *c;
    int64_t c_rs;
    bool add;
} TsrThin;

/* Computes columns [begin, end) of c; leaves some when interrupted. */
typedef void (*TsrThinFn)(const TsrThin *thin, int64_t begin, int64_t end);

/* As this CPU has it; NULL where it has no fused multiplication and addition. */
TsrThinFn tsr_thin_kernel(void);

/* lanes[l] += x[i] * y[i] for l = i % TSR_HALF_LANES, one after the other, product and sum rounded each: n is a
 * multiple of TSR_HALF_LANES; bfloat16 or float16. */
enum { TSR_HALF_LANES = 64 };
typedef void (*TsrHalfLanesFn)(float *lanes, const uint16_t *x, const uint16_t *y, int64_t n, bool bfloat);

/* As this CPU has it; NULL where it has no instructions for halves. */
TsrHalfLanesFn tsr_half_lanes_kernel(void);

#endif
