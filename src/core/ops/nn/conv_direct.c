/* Convolution without columns. The part of the image under a strip of the output is copied between zeros, a plane for
 * each phase of the stride; there, every tap of the kernel reads the same positions shifted by a constant, whatever the
 * stride, the padding and the dilation, and the result is a sum of shifted planes (conv_loops.h), in which a position
 * is line * pitch + column. */
#include "conv_loops.h"

#include "core/alloc.h"
#include "core/iter.h"
#include "core/kernels/nn/conv.h"

#include <string.h>

enum {
    STRIP_BYTES = 1 << 18,
    STRIP_POSITIONS = 1024,
    STRIP_POINTS = 256,
    LEAST_TERMS = 64,
    SHORT_LINE = 64,
    CALL_FROM = 32, /* floats of a line above which memcpy is called: (128, s, s) in groups of one channel on Zen 3, s
                       of 7 to 54, take the same time with 64, a tenth more with 0 */
    MOST_BYTES = 1 << 24,
    LEAST_ITEMS = 8
};

typedef struct Direct {
    const Conv *k;
    const float *in, *bias, *given; /* given: the weight as it came */
    float *out;
    TsrConvKernels run;
    bool by_filters;           /* with the kernel for small images */
    int64_t abreast, beside;   /* filters in a block: TSR_CONV_BLOCK by filters, else TSR_CONV_FILTERS; in a tile */
    TsrDataPtr weight, places; /* (groups, blocks) of chains one after the other, each (abreast / beside, terms of the
                                  chain, beside) floats; of each term the int64_t place in a filter, then in a strip; of
                                  each place the term's number in its chain */
    int64_t channels, filters, taps, terms; /* of a group; terms = channels * taps */
    int64_t width, chain;                   /* channels that a tap takes together, terms in a chain */
    bool bias_first;
    _Atomic bool *wild; /* set where a weight is */
    int64_t blocks, share,
        shares; /* of filters in a group; how many of them an item of work does, and how many such items there are */
    int64_t rows, cols, down, across; /* of the output in a strip, and how many strips */
    int64_t phases[NN_DIMS], lines, pitch,
        plane; /* planes of a channel and tap plane; lines and columns of one; floats of a channel */
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
    while (!set_strip(j, rows, cols) || j->rows * j->pitch > (j->by_filters ? STRIP_POINTS : STRIP_POSITIONS) ||
           strip_floats(j) * (int64_t)sizeof(float) > STRIP_BYTES) {
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

/* oneDNN's order: blocks of 16 channels, or of 8 pairs of them; of as many as divide the channels and the filters where
 * there are groups. What it has no such kernel for, among it padding that a whole kernel fits in, is one chain, channel
 * by channel, as a product of matrices. */
static void choose_order(Direct *j) {
    const TsrNnWindow *w = &j->k->w;
    bool grouped = j->k->groups > 1, wide_padding = false;
    for (int d = 0; d < NN_DIMS; d++) wide_padding |= w->pad[d] > (w->kernel[d] - 1) * w->dilation[d];
    j->width = j->k->pairs ? 8 : 16;
    while (grouped && j->width >= 4 && (j->channels % j->width != 0 || j->filters % j->width != 0)) j->width /= 2;
    bool one_chain = wide_padding || j->width < 4;
    if (one_chain) j->width = 1;
    j->chain = one_chain ? j->terms : j->width * j->taps;
    j->bias_first =
        grouped && !wide_padding && j->channels == 1 && (j->filters == 1 || (j->filters % 8 == 0 && j->k->groups < 8));
}

/* Lines so short that much of a vector of positions falls between them. */
static bool suits_filters(const Direct *j) {
    return j->filters % TSR_CONV_BLOCK == 0 && !j->bias_first && j->terms >= LEAST_TERMS &&
           j->k->w.out[NN_W] <= SHORT_LINE;
}

static bool plan(Direct *j, const Conv *k) {
    *j = (Direct){.k = k,
                  .run = k->pairs ? tsr_conv_pair_kernels() : tsr_conv_kernels(),
                  .channels = k->channels / k->groups,
                  .filters = k->filters / k->groups,
                  .taps = tsr_nn_volume(k->w.kernel)};
    j->terms = j->channels * j->taps;
    choose_order(j);
    j->by_filters = suits_filters(j);
    j->abreast = j->by_filters ? TSR_CONV_BLOCK : TSR_CONV_FILTERS;
    j->beside = j->by_filters ? j->run.beside : TSR_CONV_FILTERS;
    j->blocks = (j->filters + j->abreast - 1) / j->abreast;
    if (j->run.by_positions == NULL || !choose_strip(j)) return false;
    choose_shares(j);
    return true;
}

/* ---- terms: blocks of channels, in them taps, and of a tap the channels ---- */

static int64_t tap_offset(const Direct *j, int64_t tap) {
    const TsrNnWindow *w = &j->k->w;
    int64_t x = tap % w->kernel[NN_W] * w->dilation[NN_W],
            y = tap / w->kernel[NN_W] % w->kernel[NN_H] * w->dilation[NN_H],
            z = tap / w->kernel[NN_W] / w->kernel[NN_H];
    int64_t phase = (z * j->phases[NN_H] + y % w->stride[NN_H]) * j->phases[NN_W] + x % w->stride[NN_W];
    return (phase * j->lines + y / w->stride[NN_H]) * j->pitch + x / w->stride[NN_W];
}

static void set_terms(const Direct *j) {
    int64_t *weight = j->places.data, *image = weight + j->terms, *rank = image + j->terms, n = 0;
    for (int64_t first = 0; first < j->channels; first += j->width)
        for (int64_t tap = 0; tap < j->taps; tap++) {
            int64_t offset = tap_offset(j, tap);
            for (int64_t c = first; c < TSR_MIN(first + j->width, j->channels); c++, n++) {
                weight[n] = c * j->taps + tap;
                rank[weight[n]] = n % j->chain;
                image[n] = c * j->plane + offset;
            }
        }
}

enum { PACK_TERMS = 144, PACK_PITCH = TSR_CONV_BLOCK + 4 }; /* rows that do not share sets of the first cache */

/* TSR_CONV_FILTERS filters' weights, term by term; filters that there are not weigh nothing. */
TSR_CLONES static void pack_filters(float *restrict to, const float *restrict from, int64_t terms, const int64_t *place,
                                    int64_t n, int64_t there) {
    for (int64_t i = 0; i < n && there >= TSR_CONV_FILTERS; i++, to += PACK_PITCH)
        for (int64_t f = 0; f < TSR_CONV_FILTERS; f++) to[f] = from[f * terms + place[i]];
    for (int64_t i = 0; i < n && there < TSR_CONV_FILTERS; i++, to += PACK_PITCH)
        for (int64_t f = 0; f < TSR_CONV_FILTERS; f++) to[f] = f < there ? from[f * terms + place[i]] : 0;
}

/* n rows of `width` numbers out of the tile, one after the other. */
TSR_CLONES static void place_rows(float *restrict to, const float *restrict rows, int64_t n, int64_t width) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < width; k++) to[i * width + k] = rows[i * PACK_PITCH + k];
}

/* The terms [t, t + n) of `chain` ones from `first` on, of one block of filters. */
static void pack_tile(const Direct *j, int64_t block, int64_t first, int64_t chain, int64_t t, int64_t n) {
    const int64_t *place = j->places.data, filter = block % j->blocks * j->abreast;
    float rows[PACK_TERMS * PACK_PITCH], *to = (float *)j->weight.data + (block * j->terms + first) * j->abreast;
    const float *from = j->given + (block / j->blocks * j->filters + filter) * j->terms;
    for (int64_t f = 0; f < j->abreast; f += TSR_CONV_FILTERS)
        pack_filters(rows + f, from + f * j->terms, j->terms, place + t, n, j->filters - filter - f);
    for (int64_t f = 0; f < j->abreast; f += j->beside) {
        float *tile = to + f * chain + (t - first) * j->beside;
        place_rows(tile, rows + f, n, j->beside);
        if (j->k->minds_wild && tsr_conv_is_wild(tile, n * j->beside)) *j->wild = true;
    }
}

/* The chain of terms from `first` on, of one whole block of filters: the terms of a chain are neighbours in a filter,
 * if in another order. */
static void turn_chain(const Direct *j, int64_t block, int64_t first, int64_t chain) {
    const int64_t *rank = (const int64_t *)j->places.data + 2 * j->terms + first;
    const float *from = j->given + block * j->abreast * j->terms + first;
    float *to = (float *)j->weight.data + (block * j->terms + first) * j->abreast;
    for (int64_t f = 0; f < j->abreast; f += j->run.turned)
        j->run.turn(to + f / j->beside * j->beside * chain + f % j->beside, j->beside, from + f * j->terms, j->terms,
                    rank, chain);
    if (j->k->minds_wild && tsr_conv_is_wild(to, chain * j->abreast)) *j->wild = true;
}

/* The weights of some blocks of filters. */
static void pack_blocks(int64_t begin, int64_t end, void *user) {
    const Direct *j = user;
    for (int64_t b = begin; b < end && tsr_interrupt_flag == 0; b++)
        for (int64_t first = 0; first < j->terms; first += j->chain) {
            int64_t chain = TSR_MIN(j->chain, j->terms - first);
            if (j->by_filters) {
                turn_chain(j, b, first, chain);
                continue;
            }
            for (int64_t t = first; t < first + chain; t += PACK_TERMS)
                pack_tile(j, b, first, chain, t, TSR_MIN((int64_t)PACK_TERMS, first + chain - t));
        }
}

/* ---- strips ---- */

typedef struct Strip {
    int64_t sample, group, z, row, col, rows, cols;
} Strip; /* z, row, col: where it begins in the output */

static Strip strip_at(const Direct *j, int64_t index) {
    const int64_t *out = j->k->w.out;
    Strip s = {.col = index % j->across * j->cols, .row = index / j->across % j->down * j->rows};
    index /= j->across * j->down;
    s.z = index % out[NN_D], index /= out[NN_D];
    s.group = index % j->k->groups, s.sample = index / j->k->groups;
    s.rows = TSR_MIN(j->rows, out[NN_H] - s.row), s.cols = TSR_MIN(j->cols, out[NN_W] - s.col);
    return s;
}

/* n floats, by fours of which the last may overlap: lines are short, and a call of memcpy takes as long as ten such
 * steps. */
static inline void copy_short(float *to, const float *from, int64_t n) {
    for (int64_t i = 0; i + 4 < n; i += 4) memcpy(to + i, from + i, 4 * sizeof *to);
    if (n >= 4) memcpy(to + n - 4, from + n - 4, 4 * sizeof *to);
    else if (n > 0) to[0] = from[0], to[n / 2] = from[n / 2], to[n - 1] = from[n - 1];
}

/* `n` numbers of a line of the image, in steps of `stride`. */
static inline void fill_line(float *to, const float *from, int64_t stride, int64_t n) {
    if (stride == 1 && n <= CALL_FROM) copy_short(to, from, n);
    else if (stride == 1) memcpy(to, from, (size_t)n * sizeof *to);
    else
        for (int64_t i = 0; i < n; i++) to[i] = from[i * stride];
}

/* One plane: the lines of image plane z (outside the image: zeros) from y0 and x0 on, in steps of the stride. */
static void fill_plane(float *to, const Direct *j, const float *image, int64_t z, int64_t y0, int64_t x0) {
    const TsrNnWindow *w = &j->k->w;
    const ConvLine reads = {j->pitch, w->in[NN_W], x0, w->stride[NN_W]};
    int64_t begin, end;
    memset(to, 0, (size_t)(j->lines * j->pitch) * sizeof *to);
    tsr_conv_read_range(&begin, &end, &reads);
    if (z < 0 || z >= w->in[NN_D] || begin == end) return;
    image += z * w->in[NN_H] * w->in[NN_W] + x0 + begin * reads.stride;
    for (int64_t line = 0; line < j->lines; line++, to += j->pitch) {
        int64_t y = y0 + line * w->stride[NN_H];
        if (y >= 0 && y < w->in[NN_H]) fill_line(to + begin, image + y * w->in[NN_W], reads.stride, end - begin);
    }
}

static void fill_strip(float *to, const Direct *j, const Strip *s) {
    const TsrNnWindow *w = &j->k->w;
    int64_t area = tsr_nn_volume(w->in), y0 = s->row * w->stride[NN_H] - w->pad[NN_H],
            x0 = s->col * w->stride[NN_W] - w->pad[NN_W];
    const float *image = j->in + (s->sample * j->k->channels + s->group * j->channels) * area;
    for (int64_t c = 0; c < j->channels; c++, image += area)
        for (int64_t kd = 0; kd < w->kernel[NN_D]; kd++)
            for (int64_t y = 0; y < j->phases[NN_H]; y++)
                for (int64_t x = 0; x < j->phases[NN_W]; x++, to += j->lines * j->pitch)
                    fill_plane(to, j, image, s->z * w->stride[NN_D] - w->pad[NN_D] + kd * w->dilation[NN_D], y0 + y,
                               x0 + x);
    memset(to, 0, TSR_CONV_SLACK * sizeof *to);
}

/* The sums of one block of filters over the strip. */
static void sum_strip(float *sums, int64_t pitch, const float *strip, const Direct *j, const Strip *s, int64_t block) {
    const int64_t *offset = (const int64_t *)j->places.data + j->terms,
                  first = s->group * j->filters + block * TSR_CONV_FILTERS;
    const float *weight = (const float *)j->weight.data + (s->group * j->blocks + block) * j->terms * TSR_CONV_FILTERS;
    for (int64_t t = 0; t < j->terms; t += j->chain) {
        TsrConvTerms terms = {weight + t * TSR_CONV_FILTERS,          offset + t, TSR_MIN(j->chain, j->terms - t),
                              j->filters == 1 ? 1 : TSR_CONV_FILTERS, {0},        {0}};
        for (int f = 0; f < TSR_CONV_FILTERS; f++) {
            float bias = j->bias != NULL && block * TSR_CONV_FILTERS + f < j->filters ? j->bias[first + f] : -0.0f;
            terms.start[f] = j->bias_first && j->bias != NULL ? bias : 0;
            terms.bias[f] = j->bias_first ? -0.0f : bias;
        }
        j->run.by_positions(sums, pitch, strip, &terms, (s->rows - 1) * j->pitch + s->cols, t > 0);
    }
}

static void store_sums(const Direct *j, const Strip *s, int64_t block, const float *sums, int64_t pitch) {
    const int64_t *out = j->k->w.out;
    for (int64_t f = 0; f < TSR_CONV_FILTERS && block * TSR_CONV_FILTERS + f < j->filters; f++) {
        int64_t filter = s->group * j->filters + block * TSR_CONV_FILTERS + f;
        float *to = j->out +
                    (((s->sample * j->k->filters + filter) * out[NN_D] + s->z) * out[NN_H] + s->row) * out[NN_W] +
                    s->col;
        for (int64_t r = 0; r < s->rows; r++)
            memcpy(to + r * out[NN_W], sums + f * pitch + r * j->pitch, (size_t)s->cols * sizeof *to);
    }
}

/* The same by filters: sums are (positions, TSR_CONV_BLOCK); at: where the positions are in a plane. */
static void sum_points(float *sums, const int64_t *at, const float *strip, const Direct *j, const Strip *s,
                       int64_t block) {
    const int64_t *offset = (const int64_t *)j->places.data + j->terms;
    const float *weight = (const float *)j->weight.data + (s->group * j->blocks + block) * j->terms * TSR_CONV_BLOCK;
    float bias[TSR_CONV_BLOCK];
    for (int f = 0; f < TSR_CONV_BLOCK; f++)
        bias[f] = j->bias != NULL ? j->bias[s->group * j->filters + block * TSR_CONV_BLOCK + f] : -0.0f;
    for (int64_t t = 0; t < j->terms && tsr_interrupt_flag == 0; t += j->chain) {
        TsrConvPoints terms = {weight + t * TSR_CONV_BLOCK, bias, offset + t, TSR_MIN(j->chain, j->terms - t)};
        j->run.by_filters(sums, strip, at, s->rows * s->cols, &terms, t > 0);
    }
}

static void store_points(const Direct *j, const Strip *s, int64_t block, const float *sums) {
    const int64_t *out = j->k->w.out;
    int64_t plane = tsr_nn_volume(out);
    float *to = j->out +
                ((s->sample * j->k->filters + s->group * j->filters + block * TSR_CONV_BLOCK) * out[NN_D] + s->z) *
                    out[NN_H] * out[NN_W] +
                s->row * out[NN_W] + s->col;
    for (int64_t r = 0; r < s->rows; r++, to += out[NN_W], sums += s->cols * TSR_CONV_BLOCK)
        for (int64_t f = 0; f < TSR_CONV_BLOCK; f++)
            for (int64_t c = 0; c < s->cols; c++) to[f * plane + c] = sums[c * TSR_CONV_BLOCK + f];
}

static void place_points(int64_t *at, const Direct *j, const Strip *s) {
    for (int64_t r = 0; r < s->rows; r++)
        for (int64_t c = 0; c < s->cols; c++) *at++ = r * j->pitch + c;
}

/* What a thread works in: the strip, the sums, and by filters the places of positions. */
typedef struct Room {
    TsrDataPtr memory;
    float *strip, *sums;
    int64_t *at, pitch; /* pitch: of the sums, by positions */
} Room;

static TsrStatus make_room(Room *room, const Direct *j) {
    int64_t points = j->rows * j->cols;
    room->pitch = j->rows * j->pitch + TSR_CONV_SLACK;
    size_t places = j->by_filters ? (size_t)points * sizeof(int64_t) : 0,
           sums = (size_t)(j->by_filters ? points * TSR_CONV_BLOCK : TSR_CONV_FILTERS * room->pitch) * sizeof(float);
    TSR_TRY(tsr_allocate(&room->memory, TSR_DEVICE_CPU, places + sums + (size_t)strip_floats(j) * sizeof(float)));
    room->at = room->memory.data;
    room->sums = (float *)(void *)((char *)room->memory.data + places);
    room->strip = (float *)(void *)((char *)room->sums + sums);
    return TSR_OK;
}

static void run_block(const Room *room, const Direct *j, const Strip *s, int64_t block) {
    if (j->by_filters) {
        sum_points(room->sums, room->at, room->strip, j, s, block);
        store_points(j, s, block, room->sums);
    } else {
        sum_strip(room->sums, room->pitch, room->strip, j, s, block);
        store_sums(j, s, block, room->sums, room->pitch);
    }
}

/* Items of work: a strip and a share of the filters each. */
static void run_items(int64_t begin, int64_t end, void *user) {
    const Direct *j = user;
    int64_t filled = -1;
    Room room;
    TsrStatus status = make_room(&room, j);
    if (status != TSR_OK) {
        tsr_parallel_fail(status);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        Strip s = strip_at(j, i / j->shares);
        if (filled != i / j->shares) fill_strip(room.strip, j, &s);
        if (filled != i / j->shares && j->by_filters) place_points(room.at, j, &s);
        filled = i / j->shares;
        for (int64_t b = i % j->shares * j->share;
             b < TSR_MIN((i % j->shares + 1) * j->share, j->blocks) && tsr_interrupt_flag == 0; b++)
            run_block(&room, j, &s, b);
    }
    tsr_dataptr_release(&room.memory);
}

static TsrStatus run_planned(bool *done, Direct *j) {
    const Conv *k = j->k;
    _Atomic bool wild = false;
    j->wild = &wild;
    set_terms(j);
    TSR_TRY(tsr_parallel_for(k->groups * j->blocks, tsr_grain(j->terms * j->abreast), pack_blocks, j));
    *done = !wild;
    if (wild) return TSR_OK;
    return tsr_parallel_for(k->batch * k->groups * k->w.out[NN_D] * j->down * j->across * j->shares, 1, run_items, j);
}

TsrStatus tsr_conv_direct(bool *done, float *out, const float *in, const float *weight, const float *bias,
                          const Conv *k) {
    Direct j;
    size_t floats;
    *done = plan(&j, k);
    if (!*done) return TSR_OK;
    j.out = out, j.in = in, j.given = weight, j.bias = bias;
    if (tsr_mul_size_overflows((size_t)(k->groups * j.blocks), (size_t)(j.terms * j.abreast) * sizeof(float), &floats))
        return tsr_error_no_memory(SIZE_MAX);
    TSR_TRY(tsr_allocate(&j.weight, TSR_DEVICE_CPU, floats));
    TsrStatus status = tsr_allocate(&j.places, TSR_DEVICE_CPU, 3 * (size_t)j.terms * sizeof(int64_t));
    if (status == TSR_OK) {
        status = run_planned(done, &j);
        tsr_dataptr_release(&j.places);
    }
    tsr_dataptr_release(&j.weight);
    return status;
}
