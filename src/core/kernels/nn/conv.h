/* conv.h: sums of shifted images, the inner loops of a convolution with stride 1: by positions (TsrConvFn), for images
 * with long lines, and by filters (TsrConvPointsFn), for small ones, of which no position is computed in vain.
 *
 * Of TSR_CONV_FILTERS filters f, or of the first alone, at positions q in [0, n):
 *     s = start[f]; for each term t: s = fma(weight[t * TSR_CONV_FILTERS + f], image[offset[t] + q], s)
 *     sum[f * pitch + q] = onto ? sum[f * pitch + q] + s : s + bias[f]
 * Every position is one chain of fused multiplications and additions in the order of the terms. */
#ifndef CORE_KERNELS_NN_CONV_H
#define CORE_KERNELS_NN_CONV_H

#include "core/base.h"

/* Filters that one call computes, and how many floats past n may be read and written: image and sum need room for so
 * many more, whatever they hold. */
enum { TSR_CONV_FILTERS = 4, TSR_CONV_SLACK = 16 };

typedef struct TsrConvTerms {
    const float *weight;   /* (n, TSR_CONV_FILTERS) */
    const int64_t *offset; /* n; in floats */
    int64_t n;
    int filters;                                           /* 1 or TSR_CONV_FILTERS */
    float start[TSR_CONV_FILTERS], bias[TSR_CONV_FILTERS]; /* -0.0 adds nothing */
} TsrConvTerms;

/* The sums above; `pitch` in floats. Reads and writes up to TSR_CONV_SLACK floats past n. */
typedef void (*TsrConvFn)(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n,
                          bool onto);

/* The same sums of TSR_CONV_BLOCK filters at any positions at[i], i in [0, points): to sum[i * TSR_CONV_BLOCK + f],
 * with start 0. The weights are (TSR_CONV_BLOCK / beside, n, beside): what a tile of `beside` filters reads lies
 * together. */
enum { TSR_CONV_BLOCK = 64 };
typedef struct TsrConvPoints {
    const float *weight, *bias; /* bias: TSR_CONV_BLOCK */
    const int64_t *offset;
    int64_t n;
} TsrConvPoints;

/* `at`: offsets into image, in floats; `onto`: add to sum instead of to the bias. */
typedef void (*TsrConvPointsFn)(float *sum, const float *image, const int64_t *at, int64_t points,
                                const TsrConvPoints *terms, bool onto);

/* Weights of some filters, `line` floats apart, become rows of a term each: of filter f term i, of n, goes to
 * to[at[i] * row + f]. */
typedef void (*TsrConvTurnFn)(float *to, int64_t row, const float *from, int64_t line, const int64_t *at, int64_t n);

/* The two ways, as this CPU has them. */
typedef struct TsrConvKernels {
    TsrConvFn by_positions;
    TsrConvPointsFn by_filters;
    int64_t beside; /* filters of a tile of by_filters */
    TsrConvTurnFn turn;
    int64_t turned; /* how many filters it takes; `beside` is a multiple */
} TsrConvKernels;

/* NULLs where the CPU has no fused multiplication and addition. */
TsrConvKernels tsr_conv_kernels(void);

/* The same where every float of weights and image is a word of two bfloat16, the products of whose halves are added to
 * the sum together; start, bias and sums are floats. NULLs where the CPU has no such instruction. */
TsrConvKernels tsr_conv_pair_kernels(void);

#endif
