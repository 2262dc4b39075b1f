/* conv_check.h: the arguments of a convolution, and the checks that conv.c has them pass. */
#ifndef CORE_OPS_NN_CONV_CHECK_H
#define CORE_OPS_NN_CONV_CHECK_H

#include "conv_loops.h"

/* A call: what is convolved with what, and how. */
typedef struct ConvArgs {
    const TsrTensor *input, *weight, *bias; /* bias: may be NULL */
    int n;                                  /* spatial dimensions */
    int64_t groups;
    bool transposed;
    bool bare; /* knows no complex numbers, and a bias of any dtype */
    TsrNnWindow w;
    int64_t output_padding[NN_DIMS];
} ConvArgs;

/* Before the window is known. Errors: PyTorch's. */
TsrStatus tsr_conv_check_input_rank(const ConvArgs *a); /* the input's dimensions; that all or no tensors are complex */
TsrStatus tsr_conv_check_ranks(const ConvArgs *a);      /* the same, the weight's dimensions, and the groups */
/* With padding='same' the ranks are compared first, in nearly the same words. */
TsrStatus tsr_conv_check_same_ranks(const ConvArgs *a);

/* Numbers of the window, channels, groups and the bias's shape. */
TsrStatus tsr_conv_check_shapes(const ConvArgs *a);
/* Whether the kernel fits into the padded image. */
TsrStatus tsr_conv_check_kernel_fits(const TsrNnWindow *w);
/* Once the kernel is known to fit: what the implementation that PyTorch chooses refuses. */
TsrStatus tsr_conv_check_work(const ConvArgs *a, const Conv *k);
/* A bias that is added in the end, to a result of that dtype. */
TsrStatus tsr_conv_check_added_bias(const ConvArgs *a, TsrDtype dtype);

/* Whether PyTorch hands the convolution of numbers of that dtype to oneDNN, which names types in its own way. */
bool tsr_conv_goes_to_onednn(const ConvArgs *a, TsrDtype dtype);
/* A convolution of no images, or of images without channels: PyTorch multiplies what there is, in whatever dtypes. */
bool tsr_conv_is_without_work(const ConvArgs *a);

#endif
