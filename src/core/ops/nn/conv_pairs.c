/* Convolution of bfloat16 where the processor multiplies pairs of them and adds up in float32 (AVX512-BF16): image and
 * weight become words of two neighbouring channels, and are convolved by conv_direct.c as if these were floats. */
#include "conv_loops.h"

#include "core/kernels/nn/conv.h"
#include "core/kernels/simd.h"
#include "core/parallel.h"
#include "core/tensor/owned.h"

#ifdef TSR_HAVE_X86

/* (planes, channels, elements) of bfloat16 to words (planes, (channels + 1) / 2, elements). */
typedef struct Pairing {
    uint32_t *to;
    const uint16_t *from;
    int64_t channels, elements;
} Pairing;

#define PAIR_LINES \
    for (int64_t i = 0; i < n; i++) to[i] = low[i] | (uint32_t)high[i] << 16
TSR_CLONES static void pair_long(uint32_t *restrict to, const uint16_t *low, const uint16_t *high, int64_t n) {
    PAIR_LINES;
}

/* A call takes longer than the few taps of a kernel do. */
static inline void pair_lines(uint32_t *to, const uint16_t *low, const uint16_t *high, int64_t n) {
    enum { SHORT = 32 };
    if (n >= SHORT) pair_long(to, low, high, n);
    else PAIR_LINES;
}
#undef PAIR_LINES

/* The last of an odd number of channels stands beside a zero. */
static void pair_channels(int64_t begin, int64_t end, void *user) {
    const Pairing *p = user;
    const int64_t words = (p->channels + 1) / 2, n = p->elements;
    for (int64_t i = begin; i < end; i++) {
        const int64_t channel = i % words * 2;
        const uint16_t *low = p->from + (i / words * p->channels + channel) * n;
        uint32_t *to = p->to + i * n;
        if (channel + 1 < p->channels) pair_lines(to, low, low + n, n);
        else
            for (int64_t e = 0; e < n; e++) to[e] = low[e];
    }
}

/* A tensor of words, to be read as floats, of t (planes, channels, elements). */
static TsrStatus new_words(TsrTensor **out, const TsrTensor *t, int64_t planes, int64_t channels) {
    const int64_t words = planes * ((channels + 1) / 2), elements = t->numel / (planes * channels);
    TSR_OWNED made = NULL;
    TSR_TRY(tsr_tensor_new(&made, 2, (int64_t[]){words, elements}, TSR_FLOAT32, TSR_DEVICE_CPU));
    Pairing p = {tsr_data(made), tsr_data(t), channels, elements};
    TSR_TRY(tsr_parallel_for(words, tsr_grain(elements), pair_channels, &p));
    *out = tsr_owned_take(&made);
    return TSR_OK;
}

/* Whether one of n numbers is nan or inf. */
TSR_CLONES static bool has_wild(const uint16_t *bits, int64_t n) {
    uint16_t wild = 0;
    for (int64_t i = 0; i < n; i++) wild |= (bits[i] & 0x7F80) == 0x7F80;
    return wild != 0;
}

TsrStatus tsr_conv_pairs(bool *done, TsrTensor *out, const TsrTensor *in, const TsrTensor *weight, const float *bias,
                         const Conv *k) {
    TSR_OWNED image = NULL;
    TSR_OWNED words = NULL;
    Conv paired = *k;
    *done = false;
    if (k->groups != 1 || tsr_conv_pair_kernels().by_positions == NULL) return TSR_OK;
    if (tsr_conv_minds_wild(k) && has_wild(tsr_data(weight), weight->numel)) return TSR_OK;
    TSR_TRY(new_words(&image, in, k->batch, k->channels));
    TSR_TRY(new_words(&words, weight, k->filters, k->channels));
    paired.channels = (k->channels + 1) / 2;
    paired.item = sizeof(float);
    paired.pairs = true;
    paired.minds_wild = false;
    return tsr_conv_direct(done, tsr_data(out), tsr_data(image), tsr_data(words), bias, &paired);
}

#else

TsrStatus tsr_conv_pairs(bool *done, TsrTensor *out, const TsrTensor *in, const TsrTensor *weight, const float *bias,
                         const Conv *k) {
    (void)out, (void)in, (void)weight, (void)bias, (void)k;
    *done = false;
    return TSR_OK;
}

#endif
