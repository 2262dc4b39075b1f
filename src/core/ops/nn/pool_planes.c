/* pool_planes.c: pools of planes, each element of the output by its window of the input, or a row of the output by one
 * place of its windows after another (pool_planes.inc). */
#include "pool_loops.h"

#include <math.h>

#include "pool_spans.h"

static Span window_span(const TsrNnWindow *w, int d, int64_t o) {
    return even_span(o, w->kernel[d], w->stride[d], w->pad[d], w->dilation[d], w->in[d]);
}

static Span adaptive_span(const TsrNnWindow *w, int d, int64_t o) { return shared_span(o, w->out[d], w->in[d]); }

static Span span_of(const TsrPool *p, int d, int64_t o) {
    return p->adaptive ? adaptive_span(p->w, d, o) : window_span(p->w, d, o);
}

/* What a window's sum is divided by. */
static int64_t divisor_of(const TsrPool *p, int64_t od, int64_t oh, int64_t ow, Span sd, Span sh, Span sw) {
    const TsrNnWindow *w = p->w;
    const int64_t o[] = {od, oh, ow};
    int64_t inside = (sd.end - sd.begin) * (sh.end - sh.begin) * (sw.end - sw.begin);
    uint64_t padded = 1; /* wraps, as PyTorch's does */
    if (p->divisor != 0) return p->divisor;
    if (p->adaptive || !p->count_pad) return inside;
    for (int d = 0; d < NN_DIMS; d++) padded *= padded_span(o[d], w->kernel[d], w->stride[d], w->pad[d], w->in[d]);
    return (int64_t)padded;
}

static int64_t int_quotient(uint64_t sum, int64_t by) {
    return by == 0 ? 0 : by == -1 ? (int64_t)-sum : (int64_t)sum / by;
}
#define QUOTIENT(sum, by) ((sum) / (by))

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

enum { ROW_PIECE = 1 << 16 };

/* What a maximum becomes. */
#define OR_NAN(v, a) ((v) > (a) || (v) != (v))
#define ABOVE(v, a) ((v) > (a))

/* Whether all windows of a row have the same width. */
static bool same_widths(const TsrNnWindow *w) {
    return w->pad[NN_W] == 0 &&
           window_span(w, NN_W, w->out[NN_W] - 1).end - (w->out[NN_W] - 1) * w->stride[NN_W] == w->kernel[NN_W];
}

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

#define T float
#define NAME(x) x##_float
#define SUM float
#define LEAST -INFINITY
#define BEATS OR_NAN
#define DIVIDE QUOTIENT
#define FLOATS
#include "pool_planes.inc"

#define T double
#define NAME(x) x##_double
#define SUM double
#define LEAST -(double)INFINITY
#define BEATS OR_NAN
#define DIVIDE QUOTIENT
#define FLOATS
#include "pool_planes.inc"

#define T int64_t
#define NAME(x) x##_int64
#define SUM uint64_t
#define LEAST p->least
#define BEATS ABOVE
#define DIVIDE int_quotient
#include "pool_planes.inc"

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
