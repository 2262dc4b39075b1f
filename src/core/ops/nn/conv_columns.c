/* Between an image (channels, in...) and columns (channels * kernel, out...): im2col and col2im. */
#include "conv_loops.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/element/halffloat.h"

void tsr_conv_read_range(int64_t *begin, int64_t *end, const ConvLine *l) {
    *begin = l->x0 < 0 ? TSR_MIN((-l->x0 + l->stride - 1) / l->stride, l->width) : 0;
    *end = l->x0 < l->in_w ? TSR_MIN((l->in_w - 1 - l->x0) / l->stride + 1, l->width) : 0;
    *end = TSR_MAX(*begin, *end);
}

static void copy_floats(float *to, const float *from, int64_t begin, int64_t end, int64_t stride) {
    for (int64_t o = begin; o < end; o++) to[o] = from[o * stride];
}

/* The outputs of a line, of `width`, that read inside of the image: the first of them, and past the last. */
typedef struct Inside {
    int64_t width, begin, end;
} Inside;

/* The first output reads at x0. */
static void copy_line(char *to, const char *image, Inside in, int64_t x0, int64_t stride, size_t item) {
    const int64_t width = in.width, begin = in.begin, end = in.end;
    memset(to, 0, (size_t)begin * item);
    if (stride == 1 && end > begin)
        memcpy(to + (size_t)begin * item, image + (size_t)(x0 + begin) * item, (size_t)(end - begin) * item);
    else if (item == sizeof(float))
        copy_floats((float *)(void *)to, (const float *)(const void *)image + x0, begin, end, stride);
    else
        for (int64_t o = begin; o < end; o++)
            memcpy(to + (size_t)o * item, image + (size_t)(x0 + o * stride) * item, item);
    memset(to + (size_t)end * item, 0, (size_t)(width - end) * item);
}

TSR_CLONES static void add_floats(float *restrict to, const float *restrict from, int64_t n) {
    for (int64_t i = 0; i < n; i++) to[i] += from[i];
}

#define ADD(T, ...) \
    for (int64_t o = begin; o < end; o++) { \
        T *to = (T *)(void *)image + x0 + o * stride; \
        const T v = ((const T *)(const void *)from)[o]; \
        __VA_ARGS__; \
    } \
    break

/* The way back: what was read there is added. TSR_FLOAT16: floats that are rounded to half precision after every step,
 * as PyTorch's loop over half floats is. */
static void add_line(const char *from, char *image, Inside in, int64_t x0, int64_t stride, TsrDtype dtype) {
    const int64_t begin = in.begin, end = in.end;
    switch (dtype) {
    case TSR_FLOAT16: ADD(float, *to = tsr_half_widen(tsr_half_round(*to + v)));
    case TSR_FLOAT32: /* of a stride of 1: for others see part_and_convert */
        add_floats((float *)(void *)image + x0 + begin, (const float *)(const void *)from + begin, end - begin);
        break;
    case TSR_FLOAT64: ADD(double, *to += v);
    case TSR_COMPLEX64: ADD(TsrComplexFloat, *to += v);
    case TSR_COMPLEX128: ADD(TsrComplexDouble, *to += v);
    case TSR_INT64: ADD(uint64_t, *to += v); /* that wraps */
    default: break;
    }
}
#undef ADD

/* Where tap `tap` of the kernel reads for output `o`, along dimension d. */
static int64_t place(const TsrNnWindow *w, int d, int64_t o, int64_t tap) {
    return o * w->stride[d] + tap * w->dilation[d] - w->pad[d];
}

/* What is inside of the image of the n outputs from x on, by that of a whole line. */
static Inside inside_from(const Inside *whole, int64_t x, int64_t n) {
    return (Inside){n, TSR_MIN(TSR_MAX(whole->begin - x, 0), n), TSR_MIN(TSR_MAX(whole->end - x, 0), n)};
}

/* The row of columns of one tap in one plane: a line of outputs after the other. */
static void convert_row(const ConvColumns *c, char *row, char *plane, const int64_t tap[NN_DIMS], bool back) {
    const TsrNnWindow *w = &c->k->w;
    const size_t item = c->k->item;
    const int64_t out_w = w->out[NN_W], out_h = w->out[NN_H], stride = w->stride[NN_W];
    const ConvLine reads = {out_w, w->in[NN_W], place(w, NN_W, 0, tap[NN_W]), stride};
    Inside whole = {.width = out_w};
    int64_t x = c->begin % out_w, line = c->begin / out_w % out_h, z = c->begin / out_w / out_h;
    tsr_conv_read_range(&whole.begin, &whole.end, &reads);
    for (int64_t at = c->begin, n; at < c->end; at += n, row += (size_t)n * item, x = 0) {
        const int64_t in_z = place(w, NN_D, z, tap[NN_D]), y = place(w, NN_H, line, tap[NN_H]);
        const bool there = in_z >= 0 && in_z < w->in[NN_D] && y >= 0 && y < w->in[NN_H];
        char *from = plane + (there ? (size_t)((in_z * w->in[NN_H] + y) * w->in[NN_W]) * item : 0);
        n = TSR_MIN(out_w - x, c->end - at);
        if (there && back) add_line(row, from, inside_from(&whole, x, n), reads.x0 + x * stride, stride, c->dtype);
        else if (there) copy_line(row, from, inside_from(&whole, x, n), reads.x0 + x * stride, stride, item);
        else if (!back) memset(row, 0, (size_t)n * item);
        if (++line == out_h) line = 0, z++;
    }
}

/* ---- the way back over a stride ---- */

/* One plane of floats parted by columns: those that a stride of `stride` visits together are neighbours, so that what
 * is added to them lies beside each other too. (stride, height, width) */
typedef struct Parted {
    float *data;
    int64_t stride, height, width;
} Parted;

/* convert_row back to the parted plane. */
static void add_row(const ConvColumns *c, const float *row, const Parted *p, const int64_t tap[NN_DIMS]) {
    const TsrNnWindow *w = &c->k->w;
    const int64_t out_w = w->out[NN_W], out_h = w->out[NN_H], x0 = place(w, NN_W, 0, tap[NN_W]);
    const ConvLine reads = {out_w, w->in[NN_W], x0, p->stride};
    int64_t begin, end, part = (x0 % p->stride + p->stride) % p->stride, first = (x0 - part) / p->stride;
    tsr_conv_read_range(&begin, &end, &reads);
    for (int64_t line = 0; line < w->out[NN_D] * out_h; line++, row += out_w) {
        const int64_t z = place(w, NN_D, line / out_h, tap[NN_D]), y = place(w, NN_H, line % out_h, tap[NN_H]);
        if (z < 0 || z >= w->in[NN_D] || y < 0 || y >= w->in[NN_H] || begin == end) continue;
        float *to = p->data + (part * p->height + z * w->in[NN_H] + y) * p->width;
        add_floats(to + first + begin, row + begin, end - begin);
    }
}

/* The plane as it is to lie. */
static void join_parts(float *plane, const Parted *p, int64_t width) {
    for (int64_t y = 0; y < p->height; y++, plane += width)
        for (int64_t part = 0; part < p->stride; part++) {
            const float *from = p->data + (part * p->height + y) * p->width;
            for (int64_t x = part; x < width; x += p->stride) plane[x] = *from++;
        }
}

/* All channels, whose outputs are whole, by way of one parted plane. */
static void convert_parted(const ConvColumns *c, Parted p) {
    const TsrNnWindow *w = &c->k->w;
    const int64_t taps = tsr_nn_volume(w->kernel), kernel_w = w->kernel[NN_W], kernel_h = w->kernel[NN_H];
    const float *row = (const float *)(const void *)c->columns;
    float *plane = (float *)(void *)c->image;
    for (int64_t i = 0; i < c->channels && tsr_interrupt_flag == 0; i++, plane += tsr_nn_volume(w->in)) {
        memset(p.data, 0, (size_t)(p.stride * p.height * p.width) * sizeof *p.data);
        for (int64_t t = 0; t < taps; t++, row += c->end) {
            const int64_t tap[NN_DIMS] = {t / kernel_w / kernel_h, t / kernel_w % kernel_h, t % kernel_w};
            add_row(c, row, &p, tap);
        }
        join_parts(plane, &p, w->in[NN_W]);
    }
}

static TsrStatus part_and_convert(const ConvColumns *c) {
    const TsrNnWindow *w = &c->k->w;
    Parted p = {NULL, w->stride[NN_W], w->in[NN_D] * w->in[NN_H], w->in[NN_W] / w->stride[NN_W] + 1};
    TsrDataPtr room;
    size_t bytes;
    if (tsr_mul_size_overflows((size_t)(p.stride * p.width), (size_t)p.height * sizeof(float), &bytes))
        return tsr_error_no_memory(SIZE_MAX);
    TSR_TRY(tsr_allocate(&room, TSR_DEVICE_CPU, bytes));
    p.data = room.data;
    convert_parted(c, p);
    tsr_dataptr_release(&room);
    return TSR_OK;
}

static void convert(const ConvColumns *c, bool back) {
    const TsrNnWindow *w = &c->k->w;
    const int64_t taps = tsr_nn_volume(w->kernel), kernel_w = w->kernel[NN_W], kernel_h = w->kernel[NN_H];
    const size_t plane = (size_t)tsr_nn_volume(w->in) * c->k->item, row = (size_t)(c->end - c->begin) * c->k->item;
    for (int64_t i = 0; i < c->channels && tsr_interrupt_flag == 0; i++)
        for (int64_t t = 0; t < taps; t++) {
            const int64_t tap[NN_DIMS] = {t / kernel_w / kernel_h, t / kernel_w % kernel_h, t % kernel_w};
            convert_row(c, c->columns + (size_t)(i * taps + t) * row, c->image + (size_t)i * plane, tap, back);
        }
}

void tsr_conv_to_columns(const ConvColumns *c) { convert(c, false); }
TsrStatus tsr_conv_from_columns(const ConvColumns *c) {
    if (c->dtype == TSR_FLOAT32 && c->k->w.stride[NN_W] > 1) return part_and_convert(c);
    convert(c, true);
    return TSR_OK;
}
