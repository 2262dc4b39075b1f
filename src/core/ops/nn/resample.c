/* Resampling: new elements along some dimensions, each an element of the old ones or a weighted sum of several:
 * interpolate's loops. */
#include <math.h>
#include <string.h>

#include "core/element/halffloat.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "resample_there.h"

/* `places` new elements of `inner` values each, for every `volume` old ones. Tap k of element i: x[at[k * places + i]],
 * times weight[k * places + i]. */
typedef struct Resample {
    const char *x;
    char *out;
    const int64_t *at;
    const void *weight; /* NULL: copies */
    int64_t taps, places, volume, inner;
    size_t item;
    bool wide; /* doubles, not floats */
} Resample;

/* The first product is fused with the second one's rounded value, and the sum goes on fused. */
#define T float
#define NAME(x) x##_float
#define FMA __builtin_fmaf
#include "resample_sum.inc"

#define T double
#define NAME(x) x##_double
#define FMA __builtin_fma
#include "resample_sum.inc"

#define PICK(T) \
    case sizeof(T): \
        for (int64_t i = 0; i < n; i++) ((T *)(void *)out)[i] = ((const T *)(const void *)x)[at[i]]; \
        return

static void copy_places(const Resample *r, int64_t outside, int64_t first, int64_t n) {
    size_t bytes = r->item * (size_t)r->inner;
    const char *x = r->x + (size_t)(outside * r->volume) * bytes;
    char *out = r->out + (size_t)(outside * r->places + first) * bytes;
    const int64_t *at = r->at + first;
    switch (bytes) {
        PICK(uint8_t);
        PICK(uint16_t);
        PICK(uint32_t);
        PICK(uint64_t);
    default: break;
    }
    for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i++)
        memcpy(out + (size_t)i * bytes, x + (size_t)at[i] * bytes, bytes);
}

/* Places that one call of a loop computes: a look for an interrupt between pieces. */
enum { PIECE = 1 << 12 };

/* Elements begin to end, counted over all outside. */
static void run_resample(int64_t begin, int64_t end, void *user) {
    const Resample *r = user;
    for (int64_t i = begin, n; i < end && tsr_interrupt_flag == 0; i += n) {
        int64_t first = i % r->places;
        n = TSR_MIN(TSR_MIN(end - i, r->places - first), (int64_t)PIECE);
        (r->weight == NULL ? copy_places : r->wide ? sum_double : sum_float)(r, i / r->places, first, n);
    }
}

/* Each place must be an element of the volume: PyTorch's error. */
static TsrStatus check_places(const TsrTensor *at, int64_t volume) {
    const int64_t *place = tsr_data(at);
    for (int64_t i = 0; i < at->numel; i++)
        if (place[i] < 0 || place[i] >= volume) return tsr_error(TSR_INDEX_ERROR, "index out of range in self");
    return TSR_OK;
}

/* Dimensions dim ... become those of `size`. */
static TsrStatus resample_sizes(int64_t *sizes, Resample *r, const TsrTensor *x, const TsrArg *dim,
                                const TsrArg *size) {
    int64_t d = dim->i, total;
    TSR_TRY(tsr_wrap_own_dim(&d, tsr_ndim(x)));
    if (d + size->n > tsr_ndim(x))
        return tsr_error(TSR_RUNTIME_ERROR, "resample: %d sizes for a %dD tensor from dimension %lld on", size->n,
                         tsr_ndim(x), (long long)d);
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)tsr_ndim(x));
    memcpy(sizes + d, size->ints, sizeof(int64_t) * (size_t)size->n);
    TSR_TRY(tsr_layout_numel(&total, tsr_ndim(x), sizes));
    TSR_TRY(tsr_layout_numel(&r->places, size->n, size->ints));
    TSR_TRY(tsr_layout_numel(&r->volume, size->n, x->sizes + d));
    return tsr_layout_numel(&r->inner, tsr_ndim(x) - (int)d - size->n, x->sizes + d + size->n);
}

/* A row of flat positions in the old dimensions for each tap, and of weights: several rows, or one without. */
static TsrStatus check_taps(const Resample *r, const TsrTensor *x, const TsrTensor *at, const TsrTensor *weight) {
    bool number = x->dtype == TSR_FLOAT32 || x->dtype == TSR_FLOAT64;
    bool shape =
        tsr_ndim(at) == 2 && at->sizes[1] == r->places && (weight != NULL ? at->sizes[0] >= 2 : at->sizes[0] == 1);
    if (weight != NULL)
        shape = shape && tsr_ndim(weight) == 2 && memcmp(at->sizes, weight->sizes, 2 * sizeof(int64_t)) == 0;
    if (!shape) return tsr_error(TSR_RUNTIME_ERROR, "resample: positions and weights of wrong shapes");
    if (at->dtype == TSR_INT64 && (weight == NULL || (number && weight->dtype == x->dtype))) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "resample: positions or weights of wrong dtypes");
}

static TsrStatus resample_into(TsrTensor *out, const TsrTensor *self, const TsrTensor *positions,
                               const TsrTensor *weights, Resample r) {
    TSR_OWNED x = NULL;
    TSR_OWNED at = NULL;
    TSR_OWNED weight = NULL;
    TSR_TRY(tsr_tensor_new_contiguous(&x, self, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_contiguous(&at, positions, TSR_CONTIGUOUS));
    if (weights != NULL) TSR_TRY(tsr_tensor_new_contiguous(&weight, weights, TSR_CONTIGUOUS));
    TSR_TRY(check_places(at, r.volume));
    r.x = tsr_data(x);
    r.out = tsr_data(out);
    r.at = tsr_data(at);
    r.weight = weight != NULL ? tsr_data(weight) : NULL;
    r.taps = at->sizes[0];
    r.item = tsr_itemsize(x);
    r.wide = x->dtype == TSR_FLOAT64;
    return tsr_parallel_for(out->numel / r.inner, tsr_grain(TSR_MIN(r.inner, TSR_CHUNK_WORK) * r.taps), run_resample,
                            &r);
}

TsrStatus op_resample(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t, *at = c->arg[3].t, *weight = tsr_arg_given(&c->arg[4]) ? c->arg[4].t : NULL;
    int64_t sizes[TSR_MAX_DIMS];
    Resample r = {0};
    TSR_OWNED out = NULL;
    TSR_TRY(resample_sizes(sizes, &r, x, &c->arg[1], &c->arg[2]));
    TSR_TRY(check_taps(&r, x, at, weight));
    TSR_TRY(tsr_tensor_new(&out, tsr_ndim(x), sizes, x->dtype, x->device));
    if (out->numel > 0 && tsr_on_device(out)) {
        const TsrTaps taps = {out->numel / (r.places * r.inner), r.volume, r.places, r.inner, at, weight};
        TSR_TRY(tsr_resample_there(out, x, &taps));
    } else if (out->numel > 0 && !tsr_is_meta(out)) {
        TSR_TRY(resample_into(out, x, at, weight, r));
    }
    return tsr_return_move(c, tsr_owned_take(&out));
}

/* ---- places and weights along one dimension ---- */

/* For each of `size` new elements, one, two or four of the n old ones, row after row in `at` and `weight`; step: how
 * far apart they are in the old ones' positions. */
typedef struct Places {
    int64_t n, size, *at;
    double step;
    bool aligned, exact, plane,
        fused; /* plane: nearest in planes, whose sides of the old size stay as they are, and
           of twice the size repeat each, at any step; the corners' middles coincide; nearest-exact; one rounding less,
           as PyTorch compiles planes and cubics but not lines */
    void *weight;
} Places;

static void nearest_places(const Places *p) {
    for (int64_t i = 0; i < p->size && !tsr_interrupted_at(i); i++) {
        float at = ((float)i + (p->exact ? 0.5f : 0)) * (float)p->step;
        p->at[i] = TSR_MIN(tsr_double_to_int64(floorf(at)), p->n - 1);
        if (p->plane && p->size == p->n) p->at[i] = i;
        if (p->plane && p->size == 2 * p->n) p->at[i] = i / 2;
    }
}

/* Keys' kernel with -0.75, its last steps not fused. */
#define T float
#define NAME(x) x##_float
#define FMA __builtin_fmaf
#define FLOOR floorf
#include "resample_places.inc"

#define T double
#define NAME(x) x##_double
#define FMA __builtin_fma
#define FLOOR floor
#include "resample_places.inc"

TsrStatus op_resample_places(TsrOpCall *c) {
    const char *mode = c->arg[3].str;
    bool linear = strcmp(mode, "linear") == 0 || strcmp(mode, "line") == 0, cubic = strcmp(mode, "cubic") == 0,
         wide = c->arg[5].dtype == TSR_FLOAT64;
    Places p = {.n = c->arg[0].i,
                .size = c->arg[1].i,
                .step = c->arg[2].f,
                .aligned = c->arg[4].b,
                .exact = strcmp(mode, "nearest-exact") == 0,
                .plane = strcmp(mode, "nearest-plane") == 0,
                .fused = strcmp(mode, "line") != 0};
    TSR_OWNED at = NULL;
    TSR_OWNED weight = NULL;
    if (p.n < 1 || p.size < 0 || (!wide && c->arg[5].dtype != TSR_FLOAT32))
        return tsr_error(TSR_RUNTIME_ERROR, "resample: wrong sizes or dtype");
    int64_t sizes[2] = {cubic ? 4 : linear ? 2 : 1, p.size};
    TSR_TRY(tsr_tensor_new(&at, 2, sizes, TSR_INT64, TSR_DEVICE_CPU));
    TSR_TRY(tsr_tensor_new(&weight, 2, sizes, c->arg[5].dtype, TSR_DEVICE_CPU));
    p.at = tsr_data(at);
    p.weight = tsr_data(weight);
    if (cubic) (wide ? cubic_places_double : cubic_places_float)(&p);
    else if (linear) (wide ? linear_places_double : linear_places_float)(&p);
    else nearest_places(&p);
    if (!cubic && !linear) TSR_TRY(tsr_tensor_fill(weight, tsr_scalar_int(1)));
    TSR_TRY(tsr_interrupt_check());
    return tsr_return_move2(c, tsr_owned_take(&at), tsr_owned_take(&weight));
}
