/* A convolution whose weight has nan or inf: only numbers within the image are multiplied, as oneDNN does, which never
 * reads a padding narrower than the kernel, but where groups have more than one channel. By columns a zero of the
 * padding times inf would be nan. Plain loops, float32: the case is rare.
 */
#include <math.h>
#include <string.h>

#include "conv_loops.h"

enum { PIECE = 4096 }; /* weights between two looks whether one is not finite: a page or four, no more is wasted */

/* Without branches, so that the loop is vectorised: nan and inf have all bits of the exponent set. */
TSR_CLONES static bool has_nan_or_inf(const float *x, int64_t n) {
    uint32_t any = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, x + i, sizeof bits);
        any |= (bits & 0x7F800000u) == 0x7F800000u;
    }
    return any != 0;
}

bool tsr_conv_is_wild(const float *weight, int64_t n) {
    bool wild = false;
    for (int64_t i = 0; i < n && !wild; i += PIECE) wild = has_nan_or_inf(weight + i, TSR_MIN(n - i, (int64_t)PIECE));
    return wild;
}

bool tsr_conv_minds_wild(const Conv *k) {
    bool padded = false, narrow = k->groups == 1 || (k->channels == k->groups && k->filters == k->groups);
    for (int d = 0; d < NN_DIMS; d++) {
        padded |= k->w.pad[d] > 0;
        narrow = narrow && k->w.pad[d] <= k->w.dilation[d] * (k->w.kernel[d] - 1);
    }
    return padded && narrow;
}

typedef struct Within {
    const Conv *k;
    float *out;
    const float *in, *weight, *bias;
} Within;

/* The sum of one window over a channel: `image` and `weight` are that channel's. */
static float sum_window(const Conv *k, const float *image, const float *weight, const int64_t *at, float sum) {
    const TsrNnWindow *w = &k->w;
    int64_t tap = 0, p[NN_DIMS], t[NN_DIMS];
    for (t[0] = 0; t[0] < w->kernel[0]; t[0]++)
        for (t[1] = 0; t[1] < w->kernel[1]; t[1]++)
            for (t[2] = 0; t[2] < w->kernel[2]; t[2]++, tap++) {
                bool within = true;
                for (int d = 0; d < NN_DIMS; d++) {
                    p[d] = at[d] * w->stride[d] - w->pad[d] + t[d] * w->dilation[d];
                    within = within && p[d] >= 0 && p[d] < w->in[d];
                }
                if (within) sum = fmaf(image[(p[0] * w->in[1] + p[1]) * w->in[2] + p[2]], weight[tap], sum);
            }
    return sum;
}

/* Whole planes of the output, one a sample and filter. */
static void sum_planes(int64_t begin, int64_t end, void *user) {
    const Within *j = user;
    const Conv *k = j->k;
    int64_t gc = k->channels / k->groups, gf = k->filters / k->groups, area = tsr_nn_volume(k->w.out),
            plane = tsr_nn_volume(k->w.in), taps = tsr_nn_volume(k->w.kernel);
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i++) {
        int64_t filter = i % k->filters, first = i / k->filters * k->channels + filter / gf * gc;
        for (int64_t o = 0; o < area; o++) {
            int64_t across = o / k->w.out[2],
                    at[NN_DIMS] = {across / k->w.out[1], across % k->w.out[1], o % k->w.out[2]};
            float sum = j->bias != NULL ? j->bias[filter] : 0;
            for (int64_t c = 0; c < gc; c++)
                sum = sum_window(k, j->in + (first + c) * plane, j->weight + (filter * gc + c) * taps, at, sum);
            j->out[i * area + o] = sum;
        }
    }
}

TsrStatus tsr_conv_within(float *out, const float *in, const float *weight, const float *bias, const Conv *k) {
    Within j = {k, out, in, weight, bias};
    return tsr_parallel_for(k->batch * k->filters, 1, sum_planes, &j);
}
