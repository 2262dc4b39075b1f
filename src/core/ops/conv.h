/* conv.h: what the two ways of computing a convolution share: by matrix products of columns (op_nn_conv.c, conv_columns.c) and directly (conv_direct.c). */
#ifndef TSR_OPS_CONV_H
#define TSR_OPS_CONV_H

#include "nn.h"

typedef struct Conv {
    TsrNnWindow w;               /* of the plain convolution: in is the larger side */
    int64_t batch, groups, channels, filters; /* channels of the image side, filters of the column side; both in all groups */
    size_t item;
    bool transposed;             /* from the column side to the image side */
    bool half;                   /* transposed, of half floats: rounded after every addition */
} Conv;

/* A line of an image, read at x0, x0 + stride, …: `width` elements to `to`, zeros where that is left of the image or right of its in_w elements. */
void tsr_conv_copy_line(char *to, const char *image, int64_t in_w, int64_t width, int64_t x0, int64_t stride, size_t item);

/* One sample's `channels` planes of `image` into columns for the output positions [begin, end), or columns added back into the image, as numbers of
 * `dtype`; TSR_FLOAT16: floats that are rounded to half precision after every addition. */
void tsr_conv_columns(char *columns, char *image, int64_t channels, const Conv *k, int64_t begin, int64_t end, bool to_columns, TsrDtype dtype);

/* out (batch, filters, k->w.out) = the convolution of in (batch, channels, k->w.in) with weight (filters, channels / groups, k->w.kernel), plus bias
 * (filters; may be NULL); all contiguous float32, out no part of the others. Every output is summed in oneDNN's order, so that PyTorch's digits come
 * out: chains of fused multiplications and additions, added up; the bias after the first. *done tells whether it was computed at all: the CPU has the
 * instructions and what is kept of an image at a time stays small. Errors: memory, interrupts. */
TsrStatus tsr_conv_direct(bool *done, float *out, const float *in, const float *weight, const float *bias, const Conv *k);

#endif
