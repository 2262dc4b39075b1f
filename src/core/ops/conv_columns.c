/* Between an image (channels, in...) and columns (channels * kernel, out...): im2col and col2im. */
#include "conv.h"

#include <string.h>

#include "../error.h"
#include "../halffloat.h"

/* The outputs [*begin, *end) of a line that read inside of it. */
static void read_range(int64_t *begin, int64_t *end, int64_t in_w, int64_t width, int64_t x0, int64_t stride) {
    *begin = x0 < 0 ? TSR_MIN((-x0 + stride - 1) / stride, width) : 0;
    *end = x0 < in_w ? TSR_MIN((in_w - 1 - x0) / stride + 1, width) : 0;
    *end = TSR_MAX(*begin, *end);
}

static void copy_floats(float *to, const float *from, int64_t begin, int64_t end, int64_t stride) {
    for (int64_t o = begin; o < end; o++) to[o] = from[o * stride];
}

void tsr_conv_copy_line(char *to, const char *image, int64_t in_w, int64_t width, int64_t x0, int64_t stride, size_t item) {
    int64_t begin, end;
    read_range(&begin, &end, in_w, width, x0, stride);
    memset(to, 0, (size_t)begin * item);
    if (stride == 1 && end > begin) memcpy(to + (size_t)begin * item, image + (size_t)(x0 + begin) * item, (size_t)(end - begin) * item);
    else if (item == sizeof(float)) copy_floats((float *)(void *)to, (const float *)(const void *)image + x0, begin, end, stride);
    else for (int64_t o = begin; o < end; o++) memcpy(to + (size_t)o * item, image + (size_t)(x0 + o * stride) * item, item);
    memset(to + (size_t)end * item, 0, (size_t)(width - end) * item);
}

#define ADD(T, ...) \
    for (int64_t o = begin; o < end; o++) { \
        T *to = (T *)(void *)image + x0 + o * stride; \
        const T v = ((const T *)(const void *)from)[o]; \
        __VA_ARGS__; \
    } \
    break

/* The way back: what was read there is added. TSR_FLOAT16: floats that are rounded to half precision after every step, as PyTorch's loop over half floats is. */
static void add_line(const char *from, char *image, int64_t in_w, int64_t width, int64_t x0, int64_t stride, TsrDtype dtype) {
    int64_t begin, end;
    read_range(&begin, &end, in_w, width, x0, stride);
    switch (dtype) {
    case TSR_FLOAT16: ADD(float, *to = tsr_half_widen(tsr_half_round(*to + v)));
    case TSR_FLOAT32: ADD(float, *to += v);
    case TSR_FLOAT64: ADD(double, *to += v);
    case TSR_COMPLEX64: ADD(TsrComplexFloat, *to += v);
    case TSR_COMPLEX128: ADD(TsrComplexDouble, *to += v);
    default: ADD(uint64_t, *to += v); /* int64_t that wraps */
    }
}
#undef ADD

void tsr_conv_columns(char *columns, char *image, int64_t channels, const Conv *k, int64_t begin, int64_t end, bool to_columns, TsrDtype dtype) {
    const TsrNnWindow *w = &k->w;
    int64_t out_w = w->out[NN_W], taps = tsr_nn_volume(w->kernel);
    for (int64_t c = 0; c < channels && tsr_interrupt_flag == 0; c++) {
        int64_t tap = 0;
        char *plane = image + (size_t)(c * tsr_nn_volume(w->in)) * k->item;
        for (int64_t kd = 0; kd < w->kernel[NN_D]; kd++)
            for (int64_t kh = 0; kh < w->kernel[NN_H]; kh++)
                for (int64_t kw = 0; kw < w->kernel[NN_W]; kw++, tap++) {
                    char *line = columns + (size_t)((c * taps + tap) * (end - begin)) * k->item;
                    for (int64_t at = begin, n; at < end; at += n, line += (size_t)n * k->item) {
                        int64_t ow = at % out_w, oh = at / out_w % w->out[NN_H], od = at / out_w / w->out[NN_H];
                        int64_t z = od * w->stride[NN_D] - w->pad[NN_D] + kd * w->dilation[NN_D], y = oh * w->stride[NN_H] - w->pad[NN_H] + kh * w->dilation[NN_H];
                        bool inside = z >= 0 && z < w->in[NN_D] && y >= 0 && y < w->in[NN_H];
                        n = TSR_MIN(out_w - ow, end - at);
                        if (!inside && to_columns) memset(line, 0, (size_t)n * k->item);
                        if (!inside) continue;
                        char *from = plane + (size_t)((z * w->in[NN_H] + y) * w->in[NN_W]) * k->item;
                        int64_t x0 = ow * w->stride[NN_W] + kw * w->dilation[NN_W] - w->pad[NN_W];
                        if (to_columns) tsr_conv_copy_line(line, from, w->in[NN_W], n, x0, w->stride[NN_W], k->item);
                        else add_line(line, from, w->in[NN_W], n, x0, w->stride[NN_W], dtype);
                    }
                }
    }
}
