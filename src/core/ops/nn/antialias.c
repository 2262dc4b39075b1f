/* antialias.c: one dimension resampled with antialias=True: each new element is the sum of what a window covers, which
 * is as wide as the kernel where the dimension grows, and wider where it shrinks. */
#include <math.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "core/op/shared.h"
#include "core/parallel.h"
#include "core/tensor/owned.h"

typedef enum SmoothMode { SMOOTH_LINEAR, SMOOTH_CUBIC, SMOOTH_LANCZOS } SmoothMode;

typedef struct Smooth {
    int64_t n, size, inner; /* elements before and after; inner: those that lie between two of them */
    double step, radius;    /* of the kernel: half its width */
    SmoothMode mode;
    int64_t *first, *count, room; /* of each window; room: of its weights */
    void *weight;
    const char *in;
    char *out;
} Smooth;

#define T float
#define FMA fmaf
#define SIN sinf
#define NAME(x) x##_float
#include "antialias.inc"
#define T double
#define FMA fma
#define SIN sin
#define NAME(x) x##_double
#include "antialias.inc"

static TsrStatus check(Smooth *s, const TsrOpCall *c, const TsrTensor *x) {
    static const char *const modes[] = {"bilinear", "bicubic", "lanczos"};
    int64_t dim = c->arg[1].i;
    if (dim < 0 || dim >= tsr_ndim(x) || (x->dtype != TSR_FLOAT32 && x->dtype != TSR_FLOAT64))
        return tsr_error(TSR_RUNTIME_ERROR, "resample: wrong dimension or dtype");
    *s = (Smooth){.n = x->sizes[dim], .size = c->arg[2].i, .inner = 1, .step = c->arg[3].f, .mode = TSR_COUNTOF(modes)};
    for (size_t m = 0; m < TSR_COUNTOF(modes); m++)
        if (strcmp(c->arg[4].str, modes[m]) == 0) s->mode = (SmoothMode)m;
    if (s->mode == TSR_COUNTOF(modes) || s->n < 1 || s->size < 1 || !(s->step >= 0 && s->step <= (double)s->n * 2 + 2))
        return tsr_error(TSR_RUNTIME_ERROR, "resample: wrong sizes or mode");
    s->radius = (double)s->mode + 1;
    s->room = (int64_t)ceil(s->radius * fmax(s->step, 1)) * 2 + 1;
    for (int d = (int)dim + 1; d < tsr_ndim(x); d++) s->inner *= x->sizes[d];
    return TSR_OK;
}

static TsrStatus run(Smooth *s, const TsrTensor *out) {
    bool twice = out->dtype == TSR_FLOAT64;
    (twice ? windows_double : windows_float)(s);
    TSR_TRY(tsr_interrupt_check());
    if (out->numel == 0) return TSR_OK;
    return tsr_parallel_for(out->numel / s->inner, tsr_grain(s->inner * s->room),
                            twice ? smooth_rows_double : smooth_rows_float, s);
}

/* (self, dim, size, step, mode) */
TsrStatus op_resample_smooth(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t;
    Smooth s;
    TSR_TRY(check(&s, c, x));
    TSR_OWNED dense = NULL;
    TSR_OWNED places = NULL;
    TSR_OWNED weights = NULL;
    TSR_OWNED out = NULL;
    int64_t sizes[TSR_MAX_DIMS];
    memcpy(sizes, x->sizes, sizeof *sizes * (size_t)tsr_ndim(x));
    sizes[c->arg[1].i] = s.size;
    TSR_TRY(tsr_tensor_new(&out, tsr_ndim(x), sizes, x->dtype, x->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new(&places, 2, (int64_t[]){2, s.size}, TSR_INT64, TSR_DEVICE_CPU));
    TSR_TRY(tsr_tensor_new(&weights, 2, (int64_t[]){s.size, s.room}, x->dtype, TSR_DEVICE_CPU));
    s.first = tsr_data(places);
    s.count = s.first + s.size;
    s.weight = tsr_data(weights);
    s.in = tsr_data(dense);
    s.out = tsr_data(out);
    TSR_TRY(run(&s, out));
    return tsr_return_move(c, tsr_owned_take(&out));
}
