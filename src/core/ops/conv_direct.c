/* Convolution without columns. The part of the image under a strip of the output is copied between zeros, a plane for each phase of the stride; there,
 * every tap of the kernel reads the same positions shifted by a constant, whatever the stride, the padding and the dilation, and the result is a sum of
 * shifted planes (kernels/conv.h), in which a position is line * pitch + column. */
#include "conv.h"

#include "alloc.h"
#include "iter.h"
#include "kernels/conv.h"

#include <string.h>

enum { STRIP_BYTES = 1 << 18, STRIP_POSITIONS = 1024, MOST_BYTES = 1 << 24, LEAST_ITEMS = 8 };

typedef struct Direct {
    const Conv *k;
    const float *in, *bias, *given; /* given: the weight as it came */
    float *out;
    TsrConvFn run;
    TsrDataPtr weight, places;      /* (groups, blocks, terms, TSR_CONV_FILTERS) floats; of each term the int64_t place in a filter, then in a strip */
    int64_t channels, filters, taps, terms; /* of a group; terms = channels * taps */
    int64_t width, chain;           /* channels that a tap takes together, terms in a chain */
    bool bias_first;
    int64_t blocks, share, shares;  /* of TSR_CONV_FILTERS filters in a group; how many of them an item of work does, and how many such items there are */
    int64_t rows, cols, down, across; /* of the output in a strip, and how many strips */
    int64_t phases[NN_DIMS], lines, pitch, plane; /* planes of a channel and tap plane; lines and columns of one; floats of a channel */
} Direct;

/* ---- geometry ---- */

static int64_t shift(const TsrNnWindow *w, int d) { return (w->kernel[d] - 1) * w->dilation[d] / w->stride[d]; }

static int64_t strip_floats(const Direct *j) { return j->channels * j->plane + TSR_CONV_SLACK; }

/* Sets the strip's size and what follows from it. False: too large to count or to keep. */
static bool set_strip(Direct *j, int64_t rows, int64_t cols) {
    const TsrNnWindow *w = &j->k->w;
    double floats = (double)j->channels * (double)w->kernel[NN_D];
    j->rows = rows, j->cols = cols;
    j->lines = rows + shift(w, NN_H), j->pitch = cols + shift(w, NN_W);
    for (int d = NN_H; d <= NN_W; d++) j->phases[d] = TSR_MIN(w->stride[d], (w->kernel[d] - 1) * w->dilation[d] + 1);
    floats *= (double)j->phases[NN_H] * (double)j->phases[NN_W] * (double)j->lines * (double)j->pitch;
    if (floats * sizeof(float) > MOST_BYTES) return false;
    j->plane = w->kernel[NN_D] * j->phases[NN_H] * j->phases[NN_W] * j->lines * j->pitch;
    return true;
}

/* Lines first, then columns are taken fewer at a time, until a strip stays in the caches. */
static bool choose_strip(Direct *j) {
    const TsrNnWindow *w = &j->k->w;
    int64_t rows = w->out[NN_H], cols = w->out[NN_W];
    while (!set_strip(j, rows, cols) || j->rows * j->pitch > STRIP_POSITIONS || strip_floats(j) * (int64_t)sizeof(float) > STRIP_BYTES) {
        if (rows > 1) rows = (rows + 1) / 2;
        else if (cols > 96) cols = (cols + 1) / 2;
        else break;
    }
    j->down = (w->out[NN_H] + rows - 1) / rows;
    j->rows = (w->out[NN_H] + j->down - 1) / j->down;
    j->across = (w->out[NN_W] + cols - 1) / cols;
    return set_strip(j, j->rows, cols);
}

static void choose_shares(Direct *j) {
    int64_t items = j->k->batch * j->k->groups * j->k->w.out[NN_D] * j->down * j->across;
    j->shares = TSR_MIN(j->blocks, (LEAST_ITEMS + items - 1) / items);
    j->share = (j->blocks + j->shares - 1) / j->shares;
    j->shares = (j->blocks + j->share - 1) / j->share;
}

/* oneDNN's order: blocks of 16 channels; of as many as divide the channels and the filters where there are groups. What it has no such kernel for, among
 * it padding that a whole kernel fits in, is one chain, channel by channel, as a product of matrices. */
static void choose_order(Direct *j) {
    const TsrNnWindow *w = &j->k->w;
    bool grouped = j->k->groups > 1, wide_padding = false;
    for (int d = 0; d < NN_DIMS; d++) wide_padding |= w->pad[d] > (w->kernel[d] - 1) * w->dilation[d];
    j->width = 16;
    while (grouped && j->width >= 4 && (j->channels % j->width != 0 || j->filters % j->width != 0)) j->width /= 2;
    bool one_chain = wide_padding || j->width < 4;
    if (one_chain) j->width = 1;
    j->chain = one_chain ? j->terms : j->width * j->taps;
    j->bias_first = grouped && !wide_padding && j->channels == 1 && (j->filters == 1 || (j->filters % 8 == 0 && j->k->groups < 8));
}

static bool plan(Direct *j, const Conv *k) {
    *j = (Direct){.k = k, .run = tsr_conv_kernel(), .channels = k->channels / k->groups, .filters = k->filters / k->groups, .taps = tsr_nn_volume(k->w.kernel)};
    if (j->run == NULL || !choose_strip(j)) return false;
    j->terms = j->channels * j->taps;
    choose_order(j);
    j->blocks = (j->filters + TSR_CONV_FILTERS - 1) / TSR_CONV_FILTERS;
    choose_shares(j);
    return true;
}

/* ---- terms: blocks of channels, in them taps, and of a tap the channels ---- */

static int64_t tap_offset(const Direct *j, int64_t tap) {
    const TsrNnWindow *w = &j->k->w;
    int64_t x = tap % w->kernel[NN_W] * w->dilation[NN_W], y = tap / w->kernel[NN_W] % w->kernel[NN_H] * w->dilation[NN_H], z = tap / w->kernel[NN_W] / w->kernel[NN_H];
    int64_t phase = (z * j->phases[NN_H] + y % w->stride[NN_H]) * j->phases[NN_W] + x % w->stride[NN_W];
    return (phase * j->lines + y / w->stride[NN_H]) * j->pitch + x / w->stride[NN_W];
}

static void set_terms(const Direct *j) {
    int64_t *weight = j->places.data, *image = weight + j->terms, n = 0;
    for (int64_t first = 0; first < j->channels; first += j->width)
        for (int64_t tap = 0; tap < j->taps; tap++) {
            int64_t offset = tap_offset(j, tap);
            for (int64_t c = first; c < TSR_MIN(first + j->width, j->channels); c++, n++) {
                weight[n] = c * j->taps + tap;
                image[n] = c * j->plane + offset;
            }
        }
}

/* The weights of some blocks of filters, term by term; filters that there are not weigh nothing. */
static void pack_blocks(int64_t begin, int64_t end, void *user) {
    const Direct *j = user;
    const int64_t *place = j->places.data;
    for (int64_t b = begin; b < end; b++) {
        float *to = (float *)j->weight.data + b * j->terms * TSR_CONV_FILTERS;
        int64_t first = b % j->blocks * TSR_CONV_FILTERS, there = TSR_MIN(j->filters - first, (int64_t)TSR_CONV_FILTERS);
        const float *from = j->given + (b / j->blocks * j->filters + first) * j->terms;
        for (int64_t f = 0; f < TSR_CONV_FILTERS; f++)
            for (int64_t t = 0; t < j->terms; t++) to[t * TSR_CONV_FILTERS + f] = f < there ? from[f * j->terms + place[t]] : 0;
    }
}

/* ---- strips ---- */

typedef struct Strip { int64_t sample, group, z, row, col, rows, cols; } Strip; /* z, row, col: where it begins in the output */

static Strip strip_at(const Direct *j, int64_t index) {
    const int64_t *out = j->k->w.out;
    Strip s = {.col = index % j->across * j->cols, .row = index / j->across % j->down * j->rows};
    index /= j->across * j->down;
    s.z = index % out[NN_D], index /= out[NN_D];
    s.group = index % j->k->groups, s.sample = index / j->k->groups;
    s.rows = TSR_MIN(j->rows, out[NN_H] - s.row), s.cols = TSR_MIN(j->cols, out[NN_W] - s.col);
    return s;
}

/* One plane: the lines of image plane z (outside the image: zeros) from y0 and x0 on, in steps of the stride. */
static void fill_plane(float *to, const Direct *j, const float *image, int64_t z, int64_t y0, int64_t x0) {
    const TsrNnWindow *w = &j->k->w;
    for (int64_t line = 0; line < j->lines; line++, to += j->pitch) {
        int64_t y = y0 + line * w->stride[NN_H];
        if (z < 0 || z >= w->in[NN_D] || y < 0 || y >= w->in[NN_H]) memset(to, 0, (size_t)j->pitch * sizeof *to);
        else tsr_conv_copy_line((char *)to, (const char *)(image + (z * w->in[NN_H] + y) * w->in[NN_W]), w->in[NN_W], j->pitch, x0, w->stride[NN_W], sizeof *to);
    }
}

static void fill_strip(float *to, const Direct *j, const Strip *s) {
    const TsrNnWindow *w = &j->k->w;
    int64_t area = tsr_nn_volume(w->in), y0 = s->row * w->stride[NN_H] - w->pad[NN_H], x0 = s->col * w->stride[NN_W] - w->pad[NN_W];
    const float *image = j->in + (s->sample * j->k->channels + s->group * j->channels) * area;
    for (int64_t c = 0; c < j->channels; c++, image += area)
        for (int64_t kd = 0; kd < w->kernel[NN_D]; kd++)
            for (int64_t y = 0; y < j->phases[NN_H]; y++)
                for (int64_t x = 0; x < j->phases[NN_W]; x++, to += j->lines * j->pitch)
                    fill_plane(to, j, image, s->z * w->stride[NN_D] - w->pad[NN_D] + kd * w->dilation[NN_D], y0 + y, x0 + x);
    memset(to, 0, TSR_CONV_SLACK * sizeof *to);
}

/* The sums of one block of filters over the strip. */
static void sum_strip(float *sums, int64_t pitch, const float *strip, const Direct *j, const Strip *s, int64_t block) {
    const int64_t *offset = (const int64_t *)j->places.data + j->terms, first = s->group * j->filters + block * TSR_CONV_FILTERS;
    const float *weight = (const float *)j->weight.data + (s->group * j->blocks + block) * j->terms * TSR_CONV_FILTERS;
    for (int64_t t = 0; t < j->terms; t += j->chain) {
        TsrConvTerms terms = {weight + t * TSR_CONV_FILTERS, offset + t, TSR_MIN(j->chain, j->terms - t), j->filters == 1 ? 1 : TSR_CONV_FILTERS, {0}, {0}};
        for (int f = 0; f < TSR_CONV_FILTERS; f++) {
            float bias = j->bias != NULL && block * TSR_CONV_FILTERS + f < j->filters ? j->bias[first + f] : -0.0f;
            terms.start[f] = j->bias_first && j->bias != NULL ? bias : 0;
            terms.bias[f] = j->bias_first ? -0.0f : bias;
        }
        j->run(sums, pitch, strip, &terms, (s->rows - 1) * j->pitch + s->cols, t > 0);
    }
}

static void store_sums(const Direct *j, const Strip *s, int64_t block, const float *sums, int64_t pitch) {
    const int64_t *out = j->k->w.out;
    for (int64_t f = 0; f < TSR_CONV_FILTERS && block * TSR_CONV_FILTERS + f < j->filters; f++) {
        int64_t filter = s->group * j->filters + block * TSR_CONV_FILTERS + f;
        float *to = j->out + (((s->sample * j->k->filters + filter) * out[NN_D] + s->z) * out[NN_H] + s->row) * out[NN_W] + s->col;
        for (int64_t r = 0; r < s->rows; r++) memcpy(to + r * out[NN_W], sums + f * pitch + r * j->pitch, (size_t)s->cols * sizeof *to);
    }
}

/* Items of work: a strip and a share of the filters each. */
static void run_items(int64_t begin, int64_t end, void *user) {
    const Direct *j = user;
    int64_t pitch = j->rows * j->pitch + TSR_CONV_SLACK, filled = -1;
    TsrDataPtr memory;
    TsrStatus status = tsr_allocate(&memory, TSR_DEVICE_CPU, (size_t)(strip_floats(j) + TSR_CONV_FILTERS * pitch) * sizeof(float));
    if (status != TSR_OK) {
        tsr_parallel_fail(status);
        return;
    }
    float *strip = memory.data, *sums = strip + strip_floats(j);
    for (int64_t i = begin; i < end; i++) {
        Strip s = strip_at(j, i / j->shares);
        if (filled != i / j->shares) fill_strip(strip, j, &s);
        filled = i / j->shares;
        for (int64_t b = i % j->shares * j->share; b < TSR_MIN((i % j->shares + 1) * j->share, j->blocks) && tsr_interrupt_flag == 0; b++) {
            sum_strip(sums, pitch, strip, j, &s, b);
            store_sums(j, &s, b, sums, pitch);
        }
    }
    tsr_dataptr_release(&memory);
}

static TsrStatus run_planned(Direct *j) {
    const Conv *k = j->k;
    set_terms(j);
    TSR_TRY(tsr_parallel_for(k->groups * j->blocks, tsr_grain(j->terms * TSR_CONV_FILTERS), pack_blocks, j));
    return tsr_parallel_for(k->batch * k->groups * k->w.out[NN_D] * j->down * j->across * j->shares, 1, run_items, j);
}

TsrStatus tsr_conv_direct(bool *done, float *out, const float *in, const float *weight, const float *bias, const Conv *k) {
    Direct j;
    size_t floats;
    *done = plan(&j, k);
    if (!*done) return TSR_OK;
    j.out = out, j.in = in, j.given = weight, j.bias = bias;
    if (tsr_mul_size_overflows((size_t)(k->groups * j.blocks), (size_t)j.terms * TSR_CONV_FILTERS * sizeof(float), &floats)) return tsr_error_no_memory(SIZE_MAX);
    TSR_TRY(tsr_allocate(&j.weight, TSR_DEVICE_CPU, floats));
    TsrStatus status = tsr_allocate(&j.places, TSR_DEVICE_CPU, 2 * (size_t)j.terms * sizeof(int64_t));
    if (status == TSR_OK) {
        status = run_planned(&j);
        tsr_dataptr_release(&j.places);
    }
    tsr_dataptr_release(&j.weight);
    return status;
}
