/* random.h: what the random operators share: which generator draws, and drawing element by element. */
#ifndef CORE_OPS_RANDOM_RANDOM_H
#define CORE_OPS_RANDOM_RANDOM_H

#include "core/backend.h"
#include "core/op.h"
#include "core/rng.h"

/* The generator of an argument, or the default one, at the beginning of an operator. Lent. */
TsrGenerator *tsr_random_generator(const TsrArg *a);
/* float16, bfloat16, float32, float64: what PyTorch's continuous distributions are made for. */
bool tsr_random_is_drawable(TsrDtype d);
/* Fills t, in the order of its memory and on one thread, by a loop that may read up to two inputs (NULL: none), which
 * broadcast to t. Refuses a t that overlaps itself; a meta tensor stays as it is. */
TsrStatus tsr_random_draw(TsrTensor *t, const TsrTensor *input, const TsrTensor *input2, TsrLoop loop,
                          const void *params, const char *name);

/* Fills `out`, which lies on a device, and what is not NULL beside it, as TsrDraw says, by the device's kernel; inputs
 * broadcast to it. Declines (engine/device.h) what there is none for, with nothing drawn. */
TsrStatus tsr_random_work(TsrTensor *out, TsrTensor *out2, const TsrTensor *input, const TsrTensor *input2,
                          TsrDeviceRandom what, TsrGenerator *g);
/* Columns of self, weights of a device in one or two dimensions and not empty, drawn with replacement into `out`. */
TsrStatus tsr_random_choose(TsrTensor *out, const TsrTensor *self, TsrGenerator *g);
/* A permutation of 0 to n - 1 into t, one dimension of a device: as torch.randperm has it there. */
TsrStatus tsr_random_permutation(TsrTensor *t, TsrGenerator *g);
/* "NAME_cpu" not implemented for 'Int', with cuda in place of cpu for a t on a device. */
TsrStatus tsr_random_refuse(const TsrTensor *t, const char *name, TsrDtype dtype);

/* Fill t as uniform_, normal_ and random_(from, to) do, with their refusals. */
TsrStatus tsr_random_fill_uniform(TsrTensor *t, double from, double to, TsrGenerator *g);
TsrStatus tsr_random_fill_normal(TsrTensor *t, double mean, double std, TsrGenerator *g);
TsrStatus tsr_random_fill_range(TsrTensor *t, int64_t from, int64_t to, TsrGenerator *g);
TsrStatus tsr_random_check_std(double std); /* "normal expects std >= 0.0, but found std ..." */
int tsr_random_mantissa_digits(TsrDtype d); /* of a float dtype: it has every whole number of so many bits */

/* What a loop needs that draws by probabilities or rates read from another tensor. */
typedef struct TsrChances {
    TsrGenerator *g;
    TsrDtype dtype, from;
    bool *bad; /* a probability outside [0, 1] */
} TsrChances;

/* Ones with probability p, else zeros. RuntimeError unless p is in [0, 1]. */
TsrStatus tsr_random_bernoulli(TsrTensor *t, double p, TsrGenerator *g);
/* Exponentially distributed with rate 1. */
TsrStatus tsr_random_exponential(TsrTensor *t, TsrGenerator *g);

#endif
