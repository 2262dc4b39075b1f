/* conv_loops.h: what the ways of computing a convolution share: by matrix products of columns (conv.c,
 * conv_columns.c), directly (conv_direct.c, conv_pairs.c), and without the padding (conv_within.c). */
#ifndef CORE_OPS_NN_CONV_LOOPS_H
#define CORE_OPS_NN_CONV_LOOPS_H

#include "nn.h"

typedef struct Conv {
    TsrNnWindow w; /* of the plain convolution: in is the larger side */
    int64_t batch, groups, channels,
        filters; /* channels of the image side, filters of the column side; both in all groups */
    size_t item;
    bool transposed; /* from the column side to the image side */
    bool onednn;     /* PyTorch gives it to oneDNN as float32, whose kernels there leave the padding alone */
    bool pairs;      /* a channel is a pair of channels of bfloat16 (tsr_conv_pairs) */
    bool half;       /* transposed, of half floats: rounded after every addition */
    bool minds_wild; /* of weights that are nan or inf, and asks tsr_conv_within for them */
} Conv;

/* How a line of an image, `in_w` elements long, is read: `width` elements from x0 on in steps of `stride`; what is left
 * or right of the line is zero. */
typedef struct ConvLine {
    int64_t width, in_w, x0, stride;
} ConvLine;

/* The outputs [*begin, *end) of a line that read inside of it. */
void tsr_conv_read_range(int64_t *begin, int64_t *end, const ConvLine *line);

/* One sample's `channels` planes of `image` and their columns for the output positions [begin, end): (channels, kernel,
 * end - begin). */
typedef struct ConvColumns {
    const Conv *k;
    char *columns, *image;
    int64_t channels, begin, end;
    TsrDtype dtype; /* numbers to add; TSR_FLOAT16: floats that are rounded to half precision after every addition */
} ConvColumns;

void tsr_conv_to_columns(const ConvColumns *c); /* im2col: the columns are written */
/* col2im: they are added up in the image, which holds zeros; of all positions, begin is 0. Errors: memory. */
TsrStatus tsr_conv_from_columns(const ConvColumns *c);

/* out (batch, filters, k->w.out) = the convolution of in (batch, channels, k->w.in) with weight (filters, channels /
 * groups, k->w.kernel), plus bias (filters; may be NULL); all contiguous float32, out no part of the others. Every
 * output is summed in oneDNN's order, so that PyTorch's digits come out: chains of fused multiplications and additions,
 * added up; the bias after the first. *done tells whether it was computed at all: the CPU has the instructions, what is
 * kept of an image at a time stays small, and no weight is wild where k->minds_wild. Errors: memory, interrupts. */
TsrStatus tsr_conv_direct(bool *done, float *out, const float *in, const float *weight, const float *bias,
                          const Conv *k);

/* out (float32) = the convolution of in with weight, contiguous bfloat16, plus bias (float32; may be NULL), by
 * tsr_conv_direct on pairs of channels; *done as there. Errors: memory, interrupts. */
TsrStatus tsr_conv_pairs(bool *done, TsrTensor *out, const TsrTensor *in, const TsrTensor *weight, const float *bias,
                         const Conv *k);

/* Whether the image has padding, narrower than the kernel, which a weight that is nan or inf must not meet. */
bool tsr_conv_minds_wild(const Conv *k);
/* Whether one of n weights is nan or inf. */
bool tsr_conv_is_wild(const float *weight, int64_t n);

/* The same as tsr_conv_direct by plain loops that leave out what lies in the padding. Errors: interrupts. */
TsrStatus tsr_conv_within(float *out, const float *in, const float *weight, const float *bias, const Conv *k);

#endif
