/* survey.c: the numbers of a tensor at a glance: extremes, mean, spread, and a histogram between the extremes.
 *
 * Each slice of a fixed length is surveyed by itself, in blocks that stay in the first cache, and slices are joined in
 * order (Chan, Golub and LeVeque, 1979), so that results never depend on the threads. A second reading counts how many
 * numbers reach each bound between two bars: comparing a number with seven bounds takes vectors less time than finding
 * its one place takes. */
#include "survey.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>

#include "core/element/halffloat.h"
#include "core/layout.h"
#include "core/loop.h"
#include "core/mem.h"
#include "core/parallel.h"

static bool is_half(TsrDtype d) { return d == TSR_FLOAT16 || d == TSR_BFLOAT16; }
/* What the blocks of others are made of. */
static bool is_wide(TsrDtype d) { return d == TSR_FLOAT32 || d == TSR_FLOAT64; }
static TsrDtype wide_dtype(TsrDtype d) {
    return tsr_dtype_is_float(d) && tsr_dtype_size(d) < 8 ? TSR_FLOAT32 : TSR_FLOAT64;
}

/* A block of a tensor as float32 or float64: x itself, or room filled with it. */
typedef union Block {
    float f32[TSR_SURVEY_BLOCK];
    double f64[TSR_SURVEY_BLOCK];
} Block;

static const void *widened(Block *room, TsrDtype d, const char *x, int64_t n) {
    if (is_wide(d)) return x;
    tsr_convert(wide_dtype(d), (char *)room, (int64_t)tsr_dtype_size(wide_dtype(d)), d, x, (int64_t)tsr_dtype_size(d),
                n);
    return room;
}

/* The finite ones of n floats, packed to `to`; counts them in s, which may be NULL. */
#define PACK(T) \
    for (int64_t i = 0; i < n; i++) { \
        const T v = ((const T *)x)[i]; \
        ((T *)to)[kept] = v; \
        kept += isfinite(v) ? 1 : 0; \
        nan += isnan(v) ? 1 : 0; \
    }
static int64_t pack_finite(TsrSurvey *s, Block *to, TsrDtype wide, const void *x, int64_t n) {
    int64_t kept = 0, nan = 0;
    if (wide == TSR_FLOAT32) PACK(float)
    else PACK(double)
    if (s != NULL) {
        s->nan += nan;
        s->inf += n - kept - nan;
    }
    return kept;
}
#undef PACK

static void survey_floats(TsrSurvey *s, TsrDtype wide, const void *x, int64_t n) {
    if (wide == TSR_FLOAT32) tsr_survey_kernels()->block_f32(s, x, n);
    else tsr_survey_kernels()->block_f64(s, x, n);
}

static void merge(TsrSurvey *s, const TsrSurvey *more) {
    s->nan += more->nan;
    s->inf += more->inf;
    if (more->finite == 0) return;
    if (s->finite == 0) {
        *s = (TsrSurvey){s->nan, s->inf, more->finite, more->zeros, more->low, more->high, more->mean, more->squares};
        return;
    }
    const double n = (double)(s->finite + more->finite), share = (double)more->finite / n, delta = more->mean - s->mean;
    s->squares += more->squares + delta * delta * ((double)s->finite * share);
    s->mean += delta * share;
    s->finite += more->finite;
    s->zeros += more->zeros;
    s->low = TSR_MIN(s->low, more->low);
    s->high = TSR_MAX(s->high, more->high);
}

static void survey_block(TsrSurvey *s, TsrDtype d, const char *x, int64_t n) {
    Block room, packed;
    const void *wide = widened(&room, d, x, n);
    TsrSurvey odd = {0}, block;
    survey_floats(&block, wide_dtype(d), wide, n);
    if (block.finite < 0) {
        n = pack_finite(&odd, &packed, wide_dtype(d), wide, n);
        block = (TsrSurvey){0};
        if (n > 0) survey_floats(&block, wide_dtype(d), &packed, n);
        block.nan = odd.nan;
        block.inf = odd.inf;
    }
    merge(s, &block);
}

/* --- the first reading --- */

typedef struct Survey {
    const TsrTensor *t;
    TsrSurvey *slice; /* one each */
} Survey;

static void survey_slices(int64_t begin, int64_t end, void *user) {
    const Survey *q = user;
    const int64_t item = tsr_itemsize(q->t), last = TSR_MIN(end * TSR_SURVEY_SLICE, q->t->numel);
    for (int64_t i = begin * TSR_SURVEY_SLICE; i < last; i += TSR_SURVEY_BLOCK)
        survey_block(&q->slice[i / TSR_SURVEY_SLICE], q->t->dtype, (const char *)tsr_data(q->t) + i * item,
                     TSR_MIN(last - i, (int64_t)TSR_SURVEY_BLOCK));
}

/* --- the second --- */

typedef struct Bounds {
    double f64[TSR_SURVEY_BOUNDS];
    float f32[TSR_SURVEY_BOUNDS];    /* the least floats that reach them */
    int16_t half[TSR_SURVEY_BOUNDS]; /* the keys of the least half floats that do */
} Bounds;

typedef struct Counting {
    const TsrTensor *t;
    Bounds bounds;
    bool odd; /* some numbers are not finite */
    _Atomic int64_t above[TSR_SURVEY_BOUNDS];
} Counting;

static float least_float(double bound) {
    const float f = (float)bound;
    return (double)f < bound ? nextafterf(f, INFINITY) : f;
}

static double value_of_key(TsrDtype d, int key) {
    const uint16_t bits = (uint16_t)TSR_SURVEY_KEY((int16_t)key);
    return d == TSR_FLOAT16 ? (double)tsr_half_widen((TsrHalf){bits}) : (double)tsr_bfloat16_widen((TsrBfloat16){bits});
}

/* By halving the keys of finite numbers, of which the greatest reaches it. */
static int16_t least_key(TsrDtype d, double bound) {
    const int most = d == TSR_FLOAT16 ? 0x7BFF : 0x7F7F;
    int low = -most - 1, high = most;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (value_of_key(d, middle) >= bound) high = middle;
        else low = middle + 1;
    }
    return (int16_t)low;
}

static void fill_bounds(Bounds *b, TsrDtype d, double low, double high) {
    for (int k = 0; k < TSR_SURVEY_BOUNDS; k++) {
        const double part = (double)(k + 1) / TSR_SURVEY_BARS;
        b->f64[k] = low * (1 - part) + high * part;
        b->f32[k] = least_float(b->f64[k]);
        if (is_half(d)) b->half[k] = least_key(d, b->f64[k]);
    }
}

static void count_floats(int64_t *above, const Bounds *b, TsrDtype d, const void *x, int64_t n) {
    const TsrSurveyKernels *kernels = tsr_survey_kernels();
    if (is_half(d)) kernels->above_half(above, x, n, b->half);
    else if (d == TSR_FLOAT32) kernels->above_f32(above, x, n, b->f32);
    else kernels->above_f64(above, x, n, b->f64);
}

/* A slice block by block, of what has to be made wide; with `odd`, of numbers that no comparison may see, too. */
static void count_blocks(int64_t *above, const Bounds *b, TsrDtype d, const char *x, int64_t n, bool odd) {
    Block room, packed;
    for (int64_t i = 0; i < n; i += TSR_SURVEY_BLOCK) {
        int64_t m = TSR_MIN(n - i, (int64_t)TSR_SURVEY_BLOCK);
        const void *wide = widened(&room, d, x + i * (int64_t)tsr_dtype_size(d), m);
        if (odd) m = pack_finite(NULL, &packed, wide_dtype(d), wide, m);
        count_floats(above, b, wide_dtype(d), odd ? &packed : wide, m);
    }
}

static void count_slices(int64_t begin, int64_t end, void *user) {
    Counting *q = user;
    const TsrDtype d = q->t->dtype;
    const int64_t last = TSR_MIN(end * TSR_SURVEY_SLICE, q->t->numel);
    int64_t above[TSR_SURVEY_BOUNDS] = {0};
    for (int64_t i = begin * TSR_SURVEY_SLICE; i < last; i += TSR_SURVEY_SLICE) {
        const int64_t n = TSR_MIN(last - i, (int64_t)TSR_SURVEY_SLICE);
        const char *x = (const char *)tsr_data(q->t) + i * (int64_t)tsr_dtype_size(d);
        if (q->odd || !(is_wide(d) || is_half(d))) count_blocks(above, &q->bounds, d, x, n, q->odd);
        else count_floats(above, &q->bounds, d, x, n);
    }
    for (int k = 0; k < TSR_SURVEY_BOUNDS; k++) atomic_fetch_add(&q->above[k], above[k]);
}

/* --- both --- */

static TsrStatus count_bars(int64_t *bars, const TsrSurvey *s, const TsrTensor *t, int64_t slices) {
    Counting q = {.t = t, .odd = s->finite < t->numel};
    for (int k = 0; k < TSR_SURVEY_BARS; k++) bars[k] = 0;
    if (s->finite == 0 || !(s->low < s->high)) return TSR_OK;
    fill_bounds(&q.bounds, t->dtype, s->low, s->high);
    TSR_TRY(tsr_parallel_for(slices, 1, count_slices, &q));
    for (int k = 0; k < TSR_SURVEY_BARS; k++)
        bars[k] = (k == 0 ? s->finite : q.above[k - 1]) - (k == TSR_SURVEY_BOUNDS ? 0 : q.above[k]);
    return TSR_OK;
}

TsrStatus tsr_survey(TsrSurvey *s, int64_t *bars, const TsrTensor *t) {
    assert(tsr_is_contiguous(t, TSR_CONTIGUOUS) && !tsr_dtype_is_complex(t->dtype));
    const int64_t slices = (t->numel + TSR_SURVEY_SLICE - 1) / TSR_SURVEY_SLICE;
    Survey q = {t, tsr_calloc((size_t)slices + 1, sizeof *q.slice)};
    *s = (TsrSurvey){0};
    if (q.slice == NULL) return tsr_error_no_memory(((size_t)slices + 1) * sizeof *q.slice);
    TsrStatus status = tsr_parallel_for(slices, 1, survey_slices, &q);
    for (int64_t i = 0; i < slices && status == TSR_OK; i++) merge(s, &q.slice[i]);
    tsr_free(q.slice);
    return status == TSR_OK ? count_bars(bars, s, t, slices) : status;
}
