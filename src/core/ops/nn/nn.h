/* nn.h: what the neural-network operators share: windows over 1 to 3 spatial dimensions, treated as 3 with ones in
 * front. */
#ifndef CORE_OPS_NN_NN_H
#define CORE_OPS_NN_NN_H

#include "core/engine/device.h"
#include "core/op.h"

/* The spatial dimensions, outermost first: those of fewer dimensions use the last ones. */
enum { NN_D, NN_H, NN_W, NN_DIMS };

/* A window of an operator over (N, C, spatial...) or (C, spatial...). Sizes in elements. */
typedef struct TsrNnWindow {
    int n; /* spatial dimensions, 1 to 3 */
    int64_t kernel[NN_DIMS], stride[NN_DIMS], pad[NN_DIMS], dilation[NN_DIMS];
    int64_t in[NN_DIMS], out[NN_DIMS];
} TsrNnWindow;

/* An int[n] argument of operator `fn`, of the n spatial dimensions. */
typedef struct TsrNnInts {
    const TsrArg *arg;
    const char *fn, *name; /* as messages name them */
    int n;
    int64_t front;        /* for the dimensions in front of the n */
    const int64_t *empty; /* the three that stand in for an empty list; NULL: it has to be there */
} TsrNnInts;

/* Reads it (one number counts for all) into the last n of out's three.
 * RuntimeError "FN: NAME must be a single int or a tuple of n ints", or for a number of more than 32 bits. */
TsrStatus tsr_nn_window_ints(int64_t *out, TsrNnInts q);
TsrStatus tsr_nn_any_ints(int64_t *out, TsrNnInts q); /* the same, of 64 bits */
/* Sizes of the last n dimensions into the last n of the three, 1 in front. */
void tsr_nn_spatial(int64_t *out, const TsrTensor *t, int n);
static inline int64_t tsr_nn_volume(const int64_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/* The input as one of the dtypes that kernels are made for (float32, float64, int64, complex as themselves; halves as
 * float32 and complex64, small ints as int64), dense in that order. *out is the caller's. */
TsrStatus tsr_nn_new_computable(TsrTensor **out, const TsrTensor *t, TsrMemoryFormat format);
TsrDtype tsr_nn_computable(TsrDtype d);
/* Gives *slot the dtype wanted, and the order channels last when `like` has it (NULL: as it is); on failure it holds
 * what it did, or the same in that dtype. */
TsrStatus tsr_nn_restore(TsrTensor **slot, TsrDtype dtype, const TsrTensor *like);
/* Whether an (N, C, spatial...) tensor of n spatial dimensions suggests channels last; one dimension counts as two of
 * height 1. */
bool tsr_nn_is_channels_last(const TsrTensor *t, int n);
/* `t` (of 4 or 5 dimensions) with just the strides of channels last, also where dimensions of size 1 would allow
 * others: itself or a copy. */
TsrStatus tsr_nn_new_channels_last(TsrTensor **out, TsrTensor *t);
/* *slot with the strides of channels last; a result over lines as that over planes of height 1 would be placed. */
TsrStatus tsr_nn_place_last(TsrTensor **slot);
TsrStatus tsr_nn_place_lines(TsrTensor **slot, const TsrTensor *like);
/* Sizes of the output: the input's with the last n replaced by those of the three. Returns how many there are. */
int tsr_nn_output_sizes(int64_t *sizes, const TsrTensor *t, int n, const int64_t *out);
/* The batch of planes that PyTorch's own kernels see: a batch dimension for a `single` sample, a height of 1 for n = 1;
 * `back` takes them away again. */
TsrStatus tsr_nn_planes_new(TsrTensor **out, TsrTensor *t, int n, bool single, bool back);

/* ---- on a device ---- */

/* The next operand of work with images: t, of n spatial dimensions, as (batch, channels, depth, height, width). */
TsrStatus tsr_nn_work_add(TsrDeviceWork *work, const TsrTensor *t, int n, bool out);
TsrDeviceWindow tsr_nn_device_window(const TsrNnWindow *w);

#endif
