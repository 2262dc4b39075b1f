#include "pool_loops.h"

#include <math.h>

/* The part of a window along one dimension that lies in the input. */
typedef struct Span {
    int64_t begin, end, step;
} Span;

static Span window_span(const TsrNnWindow *w, int d, int64_t o) {
    int64_t begin = o * w->stride[d] - w->pad[d], step = w->dilation[d], reach = (w->kernel[d] - 1) * step;
    int64_t end = reach < w->in[d] - begin ? begin + reach + 1 : w->in[d];
    if (begin < 0) begin = (step - -begin % step) % step;
    return (Span){begin, end, step};
}

static Span adaptive_span(const TsrNnWindow *w, int d, int64_t o) {
    int64_t begin = o / w->out[d] * w->in[d] + (o % w->out[d]) * w->in[d] / w->out[d];
    return (Span){begin, 1 + ((o + 1) * w->in[d] - 1) / w->out[d], 1};
}

static Span span_of(const TsrPool *p, int d, int64_t o) {
    return p->adaptive ? adaptive_span(p->w, d, o) : window_span(p->w, d, o);
}

/* What a maximum begins with, and is where a dilated window has no place in the input. */
#define MAX_PLANE(NAME, T, LEAST, IS_NAN) \
    static void max_plane_##NAME(const TsrPool *p, int64_t plane) { \
        const TsrNnWindow *w = p->w; \
        const T *in = (const T *)(const void *)p->in + plane * tsr_nn_volume(w->in); \
        int64_t base = plane * tsr_nn_volume(w->out), at = 0; \
        T *out = (T *)(void *)p->out + base; \
        for (int64_t od = 0; od < w->out[NN_D]; od++) { \
            Span sd = span_of(p, NN_D, od); \
            for (int64_t oh = 0; oh < w->out[NN_H]; oh++) { \
                Span sh = span_of(p, NN_H, oh); \
                for (int64_t ow = 0; ow < w->out[NN_W]; ow++, at++) { \
                    if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) return; \
                    Span sw = span_of(p, NN_W, ow); \
                    int64_t best_at = (sd.begin * w->in[NN_H] + sh.begin) * w->in[NN_W] + sw.begin; \
                    T best = LEAST; \
                    for (int64_t z = sd.begin; z < sd.end; z += sd.step) \
                        for (int64_t y = sh.begin; y < sh.end; y += sh.step) { \
                            const T *row = in + (z * w->in[NN_H] + y) * w->in[NN_W]; \
                            for (int64_t x = sw.begin; x < sw.end; x += sw.step) { \
                                T v = row[x]; \
                                if (v > best || (IS_NAN)) { \
                                    best = v; \
                                    best_at = row + x - in; \
                                } \
                            } \
                        } \
                    out[at] = best; \
                    if (p->index != NULL) p->index[base + at] = best_at; \
                } \
            } \
        } \
    }

MAX_PLANE(float, float, -INFINITY, v != v)
MAX_PLANE(double, double, -(double)INFINITY, v != v)
MAX_PLANE(int64, int64_t, p->least, false)

/* What a window's sum is divided by. */
static int64_t divisor_of(const TsrPool *p, int64_t od, int64_t oh, int64_t ow, Span sd, Span sh, Span sw) {
    const TsrNnWindow *w = p->w;
    const int64_t o[] = {od, oh, ow};
    int64_t inside = (sd.end - sd.begin) * (sh.end - sh.begin) * (sw.end - sw.begin);
    uint64_t padded = 1; /* wraps, as PyTorch's does */
    if (p->divisor != 0) return p->divisor;
    if (p->adaptive || !p->count_pad) return inside;
    for (int d = 0; d < NN_DIMS; d++) {
        int64_t begin = o[d] * w->stride[d] - w->pad[d];
        padded *= (uint64_t)(TSR_MIN(begin + w->kernel[d], w->in[d] + w->pad[d]) - begin);
    }
    return (int64_t)padded;
}

static int64_t int_quotient(uint64_t sum, int64_t by) {
    return by == 0 ? 0 : by == -1 ? (int64_t)-sum : (int64_t)sum / by;
}
#define QUOTIENT(sum, by) ((sum) / (by))

#define AVG_PLANE(NAME, T, SUM, DIVIDE) \
    static void avg_plane_##NAME(const TsrPool *p, int64_t plane) { \
        const TsrNnWindow *w = p->w; \
        const T *in = (const T *)(const void *)p->in + plane * tsr_nn_volume(w->in); \
        T *out = (T *)(void *)p->out + plane * tsr_nn_volume(w->out); \
        for (int64_t od = 0; od < w->out[NN_D]; od++) { \
            Span sd = span_of(p, NN_D, od); \
            for (int64_t oh = 0; oh < w->out[NN_H]; oh++) { \
                Span sh = span_of(p, NN_H, oh); \
                for (int64_t ow = 0; ow < w->out[NN_W]; ow++) { \
                    if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) return; \
                    Span sw = span_of(p, NN_W, ow); \
                    SUM sum = 0; \
                    for (int64_t z = sd.begin; z < sd.end; z++) \
                        for (int64_t y = sh.begin; y < sh.end; y++) \
                            for (int64_t x = sw.begin; x < sw.end; x++) \
                                sum += (SUM)in[(z * w->in[NN_H] + y) * w->in[NN_W] + x]; \
                    bool empty = sd.begin >= sd.end || sh.begin >= sh.end || sw.begin >= sw.end; \
                    *out++ = empty ? 0 : DIVIDE(sum, (T)divisor_of(p, od, oh, ow, sd, sh, sw)); \
                } \
            } \
        } \
    }

AVG_PLANE(float, float, float, QUOTIENT)
AVG_PLANE(double, double, double, QUOTIENT)
AVG_PLANE(int64, int64_t, uint64_t, int_quotient)

/* Adaptive averages of volumes of half floats: each partial sum is rounded, and each of the three quotients. */
static void avg_volume_half(const TsrPool *p, int64_t plane) {
    const TsrNnWindow *w = p->w;
    const float *in = (const float *)(const void *)p->in + plane * tsr_nn_volume(w->in);
    float *out = (float *)(void *)p->out + plane * tsr_nn_volume(w->out);
    for (int64_t i = 0; i < tsr_nn_volume(w->out) && tsr_interrupt_flag == 0; i++) {
        Span sd = adaptive_span(w, NN_D, i / (w->out[NN_H] * w->out[NN_W])),
             sh = adaptive_span(w, NN_H, i / w->out[NN_W] % w->out[NN_H]),
             sw = adaptive_span(w, NN_W, i % w->out[NN_W]);
        float sum = 0;
        for (int64_t z = sd.begin; z < sd.end; z++)
            for (int64_t y = sh.begin; y < sh.end; y++)
                for (int64_t x = sw.begin; x < sw.end; x++)
                    sum = p->round(sum + in[(z * w->in[NN_H] + y) * w->in[NN_W] + x]);
        out[i] = p->round(p->round(p->round(sum / (float)(sd.end - sd.begin)) / (float)(sh.end - sh.begin)) /
                          (float)(sw.end - sw.begin));
    }
}

/* Steps that cover a distance; a stride may be as large as numbers get. */
static int64_t steps_over(int64_t distance, int64_t stride) { return distance > 0 ? (distance - 1) / stride + 1 : 0; }

/* Values alone, of evenly spaced windows: an output row at a time, folded one place of the window after another, in the
 * order in which the loops above meet them, so that every element has the same bits. FOLD(a, v): the accumulated a with
 * v. */
enum { ROW_PIECE = 1 << 16 };
#define FOLD_ROW(NAME, T, FOLD) \
    TSR_CLONES static void NAME##_row(T *acc, const T *in, int64_t n, int64_t stride) { \
        if (stride == 1) \
            for (int64_t i = 0; i < n; i++) acc[i] = FOLD(acc[i], in[i]); \
        else if (stride == 2) \
            for (int64_t i = 0; i < n; i++) acc[i] = FOLD(acc[i], in[2 * i]); \
        else \
            for (int64_t i = 0; i < n; i++) acc[i] = FOLD(acc[i], in[stride * i]); \
    } \
    static void NAME##_window_row(const TsrPool *p, T *acc, const T *plane, Span sd, Span sh) { \
        const TsrNnWindow *w = p->w; \
        int64_t stride = w->stride[NN_W]; \
        for (int64_t z = sd.begin; z < sd.end; z += sd.step) \
            for (int64_t y = sh.begin; y < sh.end; y += sh.step) \
                for (int64_t k = 0; k < w->kernel[NN_W]; k++) { \
                    if (TSR_UNLIKELY(tsr_interrupt_flag != 0)) return; \
                    int64_t x = k * w->dilation[NN_W] - w->pad[NN_W], first = steps_over(-x, stride); \
                    int64_t last = TSR_MIN(steps_over(w->in[NN_W] - x, stride), w->out[NN_W]); \
                    const T *row = plane + (z * w->in[NN_H] + y) * w->in[NN_W]; \
                    for (int64_t i = first; i < last && tsr_interrupt_flag == 0; \
                         i += ROW_PIECE) /* pieces of a long row, between looks for an interrupt */ \
                        NAME##_row(acc + i, row + x + i * stride, TSR_MIN(last - i, (int64_t)ROW_PIECE), stride); \
                } \
    }

#define MAX_OF_FLOATS(a, v) ((v) > (a) || (v) != (v) ? (v) : (a))
#define MAX_OF_INTS(a, v) ((v) > (a) ? (v) : (a))
#define SUM_OF(a, v) ((a) + (v))
FOLD_ROW(max_float, float, MAX_OF_FLOATS)
FOLD_ROW(max_double, double, MAX_OF_FLOATS)
FOLD_ROW(max_int64, int64_t, MAX_OF_INTS)
FOLD_ROW(sum_float, float, SUM_OF)
FOLD_ROW(sum_double, double, SUM_OF)

#define MAX_VALUES(NAME, T, LEAST) \
    static void max_values_##NAME(const TsrPool *p, int64_t plane) { \
        const TsrNnWindow *w = p->w; \
        const T *in = (const T *)(const void *)p->in + plane * tsr_nn_volume(w->in); \
        T *out = (T *)(void *)p->out + plane * tsr_nn_volume(w->out); \
        for (int64_t od = 0; od < w->out[NN_D]; od++) \
            for (int64_t oh = 0; oh < w->out[NN_H]; oh++, out += w->out[NN_W]) { \
                TSR_IN_PIECES(i, w->out[NN_W]) out[i] = LEAST; \
                max_##NAME##_window_row(p, out, in, window_span(w, NN_D, od), window_span(w, NN_H, oh)); \
            } \
    }
MAX_VALUES(float, float, -INFINITY)
MAX_VALUES(double, double, -(double)INFINITY)
MAX_VALUES(int64, int64_t, p->least)

/* Whether all windows of a row have the same width. */
static bool same_widths(const TsrNnWindow *w) {
    return w->pad[NN_W] == 0 &&
           window_span(w, NN_W, w->out[NN_W] - 1).end - (w->out[NN_W] - 1) * w->stride[NN_W] == w->kernel[NN_W];
}

#define AVG_VALUES(NAME, T) \
    TSR_CLONES static void divide_##NAME(T *acc, int64_t n, T by) { \
        for (int64_t i = 0; i < n; i++) acc[i] /= by; \
    } \
    static void avg_values_##NAME(const TsrPool *p, int64_t plane) { \
        bool same = same_widths(p->w); \
        const TsrNnWindow *w = p->w; \
        const T *in = (const T *)(const void *)p->in + plane * tsr_nn_volume(w->in); \
        T *out = (T *)(void *)p->out + plane * tsr_nn_volume(w->out); \
        for (int64_t od = 0; od < w->out[NN_D]; od++) \
            for (int64_t oh = 0; oh < w->out[NN_H]; oh++, out += w->out[NN_W]) { \
                Span sd = window_span(w, NN_D, od), sh = window_span(w, NN_H, oh); \
                TSR_IN_PIECES(i, w->out[NN_W]) out[i] = 0; \
                sum_##NAME##_window_row(p, out, in, sd, sh); \
                if (same && sd.begin < sd.end && sh.begin < sh.end) \
                    divide_##NAME(out, w->out[NN_W], (T)divisor_of(p, od, oh, 0, sd, sh, window_span(w, NN_W, 0))); \
                else \
                    for (int64_t ow = 0; ow < w->out[NN_W] && !tsr_interrupted_at(ow); ow++) { \
                        Span sw = window_span(w, NN_W, ow); \
                        bool empty = sd.begin >= sd.end || sh.begin >= sh.end || sw.begin >= sw.end; \
                        out[ow] = empty ? 0 : out[ow] / (T)divisor_of(p, od, oh, ow, sd, sh, sw); \
                    } \
            } \
    }
AVG_VALUES(float, float)
AVG_VALUES(double, double)

/* Channels last: the elements of a place, one a channel, are folded together, in the order of the loops above. `row`:
 * of the output, over all samples. */
#define LAST_LOOPS(p, row, T) \
    const TsrNnWindow *w = p->w; \
    int64_t c = p->channels, od = row / w->out[NN_H] % w->out[NN_D], oh = row % w->out[NN_H], \
            sample = row / (w->out[NN_H] * w->out[NN_D]); \
    const T *in = (const T *)(const void *)p->in + sample * tsr_nn_volume(w->in) * c; \
    Span sd = span_of(p, NN_D, od), sh = span_of(p, NN_H, oh)
#define PLACES(z, y, x) \
    for (int64_t z = sd.begin; z < sd.end; z += sd.step) \
        for (int64_t y = sh.begin; y < sh.end; y += sh.step) \
            for (int64_t x = sw.begin; x < sw.end && tsr_interrupt_flag == 0; x += sw.step)

#define CHANNELS_LAST(NAME, T) \
    TSR_CLONES static void fill_##NAME(T *acc, int64_t *at, int64_t n, T value, int64_t place) { \
        for (int64_t i = 0; i < n; i++) acc[i] = value; \
        for (int64_t i = 0; at != NULL && i < n; i++) at[i] = place; \
    } \
    TSR_CLONES static void note_##NAME(T *acc, int64_t *at, const T *in, int64_t n, int64_t place) { \
        for (int64_t i = 0; i < n; i++) { \
            bool better = in[i] > acc[i] || in[i] != in[i]; \
            acc[i] = better ? in[i] : acc[i]; \
            at[i] = better ? place : at[i]; \
        } \
    } \
    static void max_last_##NAME(const TsrPool *p, int64_t row) { \
        LAST_LOOPS(p, row, T); \
        for (int64_t ow = 0; ow < w->out[NN_W] && tsr_interrupt_flag == 0; ow++) { \
            Span sw = span_of(p, NN_W, ow); \
            int64_t base = (row * w->out[NN_W] + ow) * c, *at = p->index != NULL ? p->index + base : NULL; \
            T *acc = (T *)(void *)p->out + base; \
            fill_##NAME(acc, at, c, -(T)INFINITY, (sd.begin * w->in[NN_H] + sh.begin) * w->in[NN_W] + sw.begin); \
            PLACES(z, y, x) \
            { \
                int64_t place = (z * w->in[NN_H] + y) * w->in[NN_W] + x; \
                if (at != NULL) note_##NAME(acc, at, in + place * c, c, place); \
                else max_##NAME##_row(acc, in + place * c, c, 1); \
            } \
        } \
    } \
    static void avg_last_##NAME(const TsrPool *p, int64_t row) { \
        LAST_LOOPS(p, row, T); \
        for (int64_t ow = 0; ow < w->out[NN_W] && tsr_interrupt_flag == 0; ow++) { \
            Span sw = span_of(p, NN_W, ow); \
            T *acc = (T *)(void *)p->out + (row * w->out[NN_W] + ow) * c; \
            fill_##NAME(acc, NULL, c, 0, 0); \
            PLACES(z, y, x) \
            sum_##NAME##_row(acc, in + ((z * w->in[NN_H] + y) * w->in[NN_W] + x) * c, c, 1); \
            if (sd.begin < sd.end && sh.begin < sh.end && sw.begin < sw.end) \
                divide_##NAME(acc, c, (T)divisor_of(p, od, oh, ow, sd, sh, sw)); \
        } \
    }
CHANNELS_LAST(float, float)
CHANNELS_LAST(double, double)

typedef void (*PlaneFn)(const TsrPool *p, int64_t plane);
typedef struct Job {
    const TsrPool *planes;
    PlaneFn fn;
} Job;

static void run_planes(int64_t begin, int64_t end, void *user) {
    const Job *job = user;
    for (int64_t i = begin; i < end && tsr_interrupt_flag == 0; i++) job->fn(job->planes, i);
}

static PlaneFn choose(TsrDtype d, PlaneFn f32, PlaneFn f64, PlaneFn i64) {
    return d == TSR_FLOAT32 ? f32 : d == TSR_FLOAT64 ? f64 : i64;
}

TsrStatus tsr_pool_into(TsrTensor *out, TsrTensor *index, const TsrTensor *in, const TsrNnWindow *w, TsrPool planes,
                        bool maximum) {
    if (tsr_is_meta(in) || out->numel == 0) return TSR_OK;
    planes.w = w;
    planes.in = tsr_data(in);
    planes.out = tsr_data(out);
    planes.index = index != NULL ? tsr_data(index) : NULL;
    /* A window much wider than the input is mostly padding, which the rows would walk through. */
    bool by_rows = !planes.adaptive && w->kernel[NN_W] / 2 <= w->in[NN_W];
    Job job = {&planes, maximum ? choose(in->dtype, max_plane_float, max_plane_double, max_plane_int64)
                                : choose(in->dtype, avg_plane_float, avg_plane_double, avg_plane_int64)};
    if (by_rows && maximum && index == NULL)
        job.fn = choose(in->dtype, max_values_float, max_values_double, max_values_int64);
    if (planes.round != NULL) job.fn = avg_volume_half;
    if (by_rows && !maximum) job.fn = choose(in->dtype, avg_values_float, avg_values_double, avg_plane_int64);
    double volume =
        (double)tsr_nn_volume(w->out) * (double)w->kernel[NN_D] * (double)w->kernel[NN_H] * (double)w->kernel[NN_W];
    if (planes.channels == 0)
        return tsr_parallel_for(out->numel / tsr_nn_volume(w->out), tsr_grain((int64_t)TSR_MIN(volume, TSR_CHUNK_WORK)),
                                run_planes, &job);
    job.fn = maximum ? choose(in->dtype, max_last_float, max_last_double, NULL)
                     : choose(in->dtype, avg_last_float, avg_last_double, NULL);
    int64_t rows = out->sizes[0] * w->out[NN_D] * w->out[NN_H];
    return tsr_parallel_for(rows,
                            tsr_grain((int64_t)TSR_MIN(volume * (double)out->numel / (double)rows, TSR_CHUNK_WORK)),
                            run_planes, &job);
}
