/* Random numbers: PyTorch's CPU streams. Elements are drawn in the order of memory (the iterator's order), one by one,
 * except where PyTorch draws in bulk: contiguous normals of 16 and more. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/engine/turn.h"
#include "core/tensor/loan.h"
#include "core/kernels/random/random.h"
#include "core/op/out.h"
#include "core/op/shared.h"
#include "core/tensor/inference.h"
#include "core/tensor/owned.h"
#include "random.h"
#include "core/tensor/tensor_impl.h"

/* Numbers drawn into a buffer on the stack before they are converted. */
enum { BLOCK = 512 };

/* What a loop needs: the generator, the distribution's parameters, the element type. */
typedef struct Draw {
    TsrGenerator *g;
    TsrDtype dtype;
    double a, b;
    uint64_t range;
    int64_t base;
} Draw;

TsrGenerator *tsr_random_generator(const TsrArg *a) {
    tsr_turn_take();
    TsrGenerator *g = a->kind == TSR_ARG_GENERATOR && a->any != NULL ? a->any : tsr_rng_default();
    tsr_rng_begin(g, 0);
    return g;
}

TsrStatus tsr_random_refuse(const TsrTensor *t, const char *name, TsrDtype dtype) {
    char there[64];
    const char *cpu = strstr(name, "cpu");
    if (!tsr_on_device(t) || cpu == NULL) return tsr_not_implemented(name, dtype);
    snprintf(there, sizeof there, "%.*scuda%s", (int)(cpu - name), name, cpu + 3);
    return tsr_not_implemented(there, dtype);
}

TsrStatus tsr_random_draw(TsrTensor *t, const TsrTensor *input, const TsrTensor *input2, TsrLoop loop,
                          const void *params, const char *name) {
    if (t->numel == 0) return TSR_OK;
    TSR_TRY(tsr_check_no_internal_overlap(t));
    if (tsr_is_meta(t)) return TSR_OK;
    TsrIterSpec spec = {.nout = 1,
                        .out = {t},
                        .nin = input2 != NULL ? 2 : input != NULL,
                        .in = {input, input2},
                        .flags = TSR_ITER_SERIAL | TSR_ITER_NO_RESIZE | TSR_ITER_NO_OVERLAP_CHECK,
                        .name = name};
    TsrDtype own[1] = {t->dtype};
    spec.out_dtype = own;
    TsrIter it;
    TSR_TRY(tsr_iter_begin(&it, &spec));
    TsrStatus status = tsr_iter_run(&it, loop, params);
    TsrTensor *done = NULL;
    status = tsr_iter_end_move(&it, status, &done);
    if (status == TSR_OK) tsr_tensor_free(done);
    return status;
}

/* A loop that fills a block with `expr` (of a C type) and converts it to the element type. */
#define DRAW_LOOP(name, C, id, expr) \
    static void name(char *const *data, const int64_t *strides, int64_t n, const void *params) { \
        const Draw *d = params; \
        TsrGenerator *g = d->g; \
        C block[BLOCK]; \
        for (int64_t i = 0; i < n; i += BLOCK) { \
            int64_t m = TSR_MIN(n - i, BLOCK); \
            for (int64_t k = 0; k < m; k++) block[k] = (expr); \
            tsr_convert(d->dtype, data[0] + i * strides[0], strides[0], id, (const char *)block, sizeof(C), m); \
        } \
    }

static double log_ratio(double u, double p) { return ceil(log(u) / log1p(-p)); }

DRAW_LOOP(normal_loop, double, TSR_FLOAT64, fma(tsr_rng_normal_double(g), d->b, d->a))
DRAW_LOOP(log_normal_loop, double, TSR_FLOAT64, exp(fma(tsr_rng_normal_double(g), d->b, d->a)))
DRAW_LOOP(cauchy_loop, double, TSR_FLOAT64,
          fma(d->b, tan(3.14159265358979323846 * (tsr_rng_uniform_double(g) - 0.5)), d->a))
DRAW_LOOP(exponential_loop, double, TSR_FLOAT64, -1.0 / d->a * log1p(-tsr_rng_uniform_double(g)))
DRAW_LOOP(geometric_loop, double, TSR_FLOAT64, log_ratio(tsr_rng_uniform_double(g), d->a))
DRAW_LOOP(bernoulli_loop, bool, TSR_BOOL, tsr_rng_uniform_double(g) < d->a)
DRAW_LOOP(words64_loop, int64_t, TSR_INT64, (int64_t)tsr_rng_u64(g))
DRAW_LOOP(range64_loop, int64_t, TSR_INT64, (int64_t)(tsr_rng_u64(g) % d->range + (uint64_t)d->base))
DRAW_LOOP(modulo64_loop, int64_t, TSR_INT64, (int64_t)(tsr_rng_u64(g) % d->range))
DRAW_LOOP(modulo32_loop, int64_t, TSR_INT64, (int64_t)(tsr_rng_u32(g) % d->range))

static void range32_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Draw *d = params;
    uint32_t words[BLOCK];
    int64_t block[BLOCK];
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = TSR_MIN(n - i, BLOCK);
        char *dst = data[0] + i * strides[0];
        tsr_rng_words(d->g, words, m);
        if (d->dtype == TSR_INT64 && strides[0] == 8) {
            tsr_kernel_modulo((int64_t *)(void *)dst, words, m, (uint32_t)d->range, d->base);
        } else {
            tsr_kernel_modulo(block, words, m, (uint32_t)d->range, d->base);
            tsr_convert(d->dtype, dst, strides[0], TSR_INT64, (const char *)block, 8, m);
        }
    }
}

/* Fills t by a loop, or on its device as `draw` says. */
static TsrStatus run_draw(TsrTensor *t, TsrDraw draw, TsrLoop loop, const Draw *d, const char *name) {
    if (!tsr_on_device(t)) return tsr_random_draw(t, NULL, NULL, loop, d, name);
    bool wide = loop == words64_loop || loop == range64_loop || loop == modulo64_loop;
    return tsr_random_work(
        t, NULL, NULL, NULL,
        (TsrDeviceRandom){
            .draw = draw, .bits = wide ? 64 : 32, .a = d->a, .b = d->b, .range = d->range, .base = d->base},
        d->g);
}

/* ---- uniform ---- */

static void uniform_double_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Draw *d = params;
    for (int64_t i = 0; i < n; i++) {
        double v = fma(tsr_rng_uniform_double(d->g), d->b - d->a, d->a);
        *(double *)(void *)(data[0] + i * strides[0]) = v == d->b ? d->a : v;
    }
}

/* 0 to 1 in place over contiguous floats: the words are drawn where the numbers go. */
static void uniform_unit_loop(char *const *data, int64_t n, const Draw *d) {
    float *dst = (float *)(void *)data[0];
    for (int64_t i = 0; i < n; i += 8 * TSR_MT_WORDS) {
        int64_t m = TSR_MIN(n - i, 8 * TSR_MT_WORDS);
        uint32_t *words = (uint32_t *)(void *)(dst + i);
        tsr_rng_words(d->g, words, m);
        tsr_kernel_uniform_float(dst + i, words, m);
    }
}

static void uniform_float_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Draw *d = params;
    if (strides[0] == 4 && d->a == 0 && d->b == 1) {
        uniform_unit_loop(data, n, d);
        return;
    }
    float from = (float)d->a, to = (float)d->b;
    for (int64_t i = 0; i < n; i++) {
        float v = fmaf(tsr_rng_uniform_float(d->g), to - from, from);
        *(float *)(void *)(data[0] + i * strides[0]) = v == to ? from : v;
    }
}

/* Half and bfloat16: drawn as float; one that rounds up to the end becomes the start. */
static void uniform_half_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const Draw *d = params;
    float from = (float)d->a, to = (float)d->b, rounded_to, rounded_from;
    uint16_t ends[2];
    float pair[2] = {from, to}, back[2];
    tsr_convert(d->dtype, (char *)ends, 2, TSR_FLOAT32, (const char *)pair, 4, 2);
    tsr_convert(TSR_FLOAT32, (char *)back, 4, d->dtype, (const char *)ends, 2, 2);
    rounded_from = back[0];
    rounded_to = back[1];
    for (int64_t i = 0; i < n; i++) {
        float v = fmaf(tsr_rng_uniform_float(d->g), to - from, from), r;
        uint16_t bits;
        tsr_convert(d->dtype, (char *)&bits, 2, TSR_FLOAT32, (const char *)&v, 4, 1);
        tsr_convert(TSR_FLOAT32, (char *)&r, 4, d->dtype, (const char *)&bits, 2, 1);
        if (r == rounded_to) tsr_convert(d->dtype, (char *)&bits, 2, TSR_FLOAT32, (const char *)&rounded_from, 4, 1);
        memcpy(data[0] + i * strides[0], &bits, 2);
    }
}

bool tsr_random_is_drawable(TsrDtype d) {
    return d == TSR_FLOAT16 || d == TSR_BFLOAT16 || d == TSR_FLOAT32 || d == TSR_FLOAT64;
}

/* A number as C++ streams print it: six significant digits. */
#define NUM "%g"

static TsrStatus check_uniform(const TsrTensor *t, double from, double to) {
    if (!tsr_random_is_drawable(t->dtype)) return tsr_not_implemented("check_uniform_bounds", t->dtype);
    double max = tsr_dtypes[t->dtype].limits.high;
    if (!(from >= -max && from <= max))
        return tsr_error(TSR_RUNTIME_ERROR, "from is out of bounds for %s", tsr_dtype_c_name(t->dtype));
    if (!(to >= -max && to <= max))
        return tsr_error(TSR_RUNTIME_ERROR, "to is out of bounds for %s", tsr_dtype_c_name(t->dtype));
    if (!(from <= to))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "uniform_ expects to return a [from, to) range, but found from=" NUM " > to=" NUM, from, to);
    if (!(to - from <= max))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "uniform_ expects to-from <= std::numeric_limits<%s>::max(), but found to=" NUM
                         " and from=" NUM " which result in to-from to exceed the limit",
                         tsr_dtype_scalar_name(t->dtype), to, from);
    return TSR_OK;
}

/* A view of complex t as pairs of reals; others retained. */
static TsrStatus real_view_new(TsrTensor **out, TsrTensor *t) {
    if (!tsr_dtype_is_complex(t->dtype)) {
        *out = tsr_tensor_retain(t);
        return TSR_OK;
    }
    int ndim = tsr_ndim(t);
    int64_t sizes[TSR_MAX_DIMS + 1], strides[TSR_MAX_DIMS + 1];
    for (int d = 0; d < ndim; d++) {
        sizes[d] = t->sizes[d];
        strides[d] = t->strides[d] * 2;
    }
    sizes[ndim] = 2;
    strides[ndim] = 1;
    return tsr_tensor_new_over(out, t->storage, (TsrGeometry){ndim + 1, sizes, strides, t->offset * 2},
                               tsr_dtype_real_of(t->dtype));
}

TsrStatus tsr_random_fill_uniform(TsrTensor *t, double from, double to, TsrGenerator *g) {
    if (tsr_dtype_is_complex(t->dtype) && t->numel == 0) return TSR_OK;
    TsrTensor *real;
    TSR_TRY(real_view_new(&real, t));
    TsrStatus status = check_uniform(real, from, to);
    if (status == TSR_OK) {
        Draw d = {.g = g, .dtype = real->dtype, .a = from, .b = to};
        TsrLoop loop = real->dtype == TSR_FLOAT32   ? uniform_float_loop
                       : real->dtype == TSR_FLOAT64 ? uniform_double_loop
                                                    : uniform_half_loop;
        status = run_draw(real, TSR_DRAW_UNIFORM, loop, &d, "uniform_");
    }
    tsr_tensor_free(real);
    return status;
}

/* ---- normal ---- */

/* Box-Muller in double precision on 16 uniforms, as PyTorch's scalar path. */
static void normal_block_double(double *d, double mean, double std) {
    for (int k = 0; k < 8; k++) {
        double radius = sqrt(-2 * log(1 - d[k])), theta = 2.0f * 3.14159265358979323846 * d[k + 8];
        d[k] = fma(radius * cos(theta), std, mean);
        d[k + 8] = fma(radius * sin(theta), std, mean);
    }
}

static TsrStatus bulk_normal_double(double *p, int64_t n, const Draw *d) {
    for (int64_t i = 0; i < n; i++) p[i] = tsr_rng_uniform_double(d->g);
    for (int64_t i = 0; i + 16 <= n; i += 16) {
        normal_block_double(p + i, d->a, d->b);
        TSR_TRY(tsr_interrupt_check_at(i));
    }
    if (n % 16 == 0) return TSR_OK;
    p += n - 16; /* the last 16 are drawn again, as PyTorch does */
    for (int k = 0; k < 16; k++) p[k] = tsr_rng_uniform_double(d->g);
    normal_block_double(p, d->a, d->b);
    return TSR_OK;
}

typedef struct NormalJob {
    float *p;
    float mean, std;
} NormalJob;

static void normal_range(int64_t begin, int64_t end, void *user) {
    const NormalJob *j = user;
    tsr_kernel_normal_blocks(j->p + begin * 16, (end - begin) * 16, j->mean, j->std);
}

static TsrStatus bulk_normal_float(float *p, int64_t n, const Draw *d) {
    /* Numbers drawn between two looks for an interrupt. */
    enum { SLICE = 1 << 20 };
    NormalJob job = {p, (float)d->a, (float)d->b};
    for (int64_t i = 0; i < n; i += SLICE) {
        char *at[1] = {(char *)(p + i)};
        uniform_unit_loop(at, TSR_MIN(n - i, SLICE), d);
        TSR_TRY(tsr_interrupt_check());
    }
    TSR_TRY(tsr_parallel_for(n / 16, tsr_grain(16), normal_range, &job));
    if (n % 16 == 0) return TSR_OK;
    char *at[1] = {(char *)(p + n - 16)};
    uniform_unit_loop(at, 16, d);
    tsr_kernel_normal_blocks(p + n - 16, 16, job.mean, job.std);
    return TSR_OK;
}

static void bulk_normal_half(char *p, int64_t n, const Draw *d) {
    float block[16];
    char *at[1] = {(char *)block};
    for (int64_t i = 0; i < n; i += 16) {
        uniform_unit_loop(at, 16, d);
        tsr_kernel_normal_blocks(block, 16, (float)d->a, (float)d->b);
        int64_t first = TSR_MIN(i, n - 16);
        tsr_convert(d->dtype, p + first * 2, 2, TSR_FLOAT32, (const char *)block, 4, 16);
    }
}

static TsrStatus fill_normal_real(TsrTensor *t, const Draw *d) {
    if (t->numel == 0) return TSR_OK;
    if (!tsr_random_is_drawable(t->dtype)) return tsr_random_refuse(t, "normal_kernel_cpu", t->dtype);
    if (tsr_is_meta(t)) return TSR_OK;
    if (t->numel < 16 || !tsr_is_contiguous(t, TSR_CONTIGUOUS) || tsr_on_device(t))
        return run_draw(t, TSR_DRAW_NORMAL, normal_loop, d, "normal_");
    void *p = tsr_data(t);
    if (t->dtype == TSR_FLOAT32) return bulk_normal_float(p, t->numel, d);
    if (t->dtype == TSR_FLOAT64) return bulk_normal_double(p, t->numel, d);
    bulk_normal_half(p, t->numel, d);
    return TSR_OK;
}

TsrStatus tsr_random_check_std(double std) {
    return std >= 0 ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "normal expects std >= 0.0, but found std " NUM, std);
}

TsrStatus tsr_random_fill_normal(TsrTensor *t, double mean, double std, TsrGenerator *g) {
    TSR_TRY(tsr_random_check_std(std));
    if (t->numel == 0) return TSR_OK;
    bool complex = tsr_dtype_is_complex(t->dtype);
    TSR_OWNED real = NULL;
    TSR_TRY(real_view_new(&real, t));
    Draw d = {.g = g, .dtype = real->dtype, .a = mean, .b = complex ? std / sqrt(2) : std};
    return fill_normal_real(real, &d);
}

/* ---- integers ---- */

int tsr_random_mantissa_digits(TsrDtype d) {
    return d == TSR_FLOAT16 ? 11 : d == TSR_BFLOAT16 ? 8 : d == TSR_FLOAT32 ? 24 : 53;
}

static int64_t through(TsrDtype d, int64_t v) {
    uint64_t cell = 0;
    int64_t back;
    tsr_convert(d, (char *)&cell, 8, TSR_INT64, (const char *)&v, 8, 1);
    tsr_convert(TSR_INT64, (char *)&back, 8, d, (const char *)&cell, 8, 1);
    return back;
}

static int log2_of(int64_t v) {
    int n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    while (u >>= 1) n++;
    return n;
}

/* Moves the bounds to values that the float type has, so that rounding never leaves [from, to). */
static void round_bounds(TsrDtype d, int64_t *from, int64_t *to) {
    int digits = tsr_random_mantissa_digits(d);
    int64_t above = (int64_t)((uint64_t)*from + 1), up = through(d, above);
    if (up < *from) *from = (int64_t)((uint64_t)up + (1ull << TSR_MAX(log2_of(above) - digits + 1, 0)));
    if (to == NULL) return;
    int64_t below = (int64_t)((uint64_t)*to - 1), down = through(d, below);
    if (down >= *to) *to = (int64_t)((uint64_t)down - (1ull << TSR_MAX(log2_of(below) - digits + 1, 0)));
}

static void integer_limits(TsrDtype d, int64_t *min, int64_t *max) {
    int bits = (int)tsr_dtype_size(d) * 8;
    *min = 0;
    if (d == TSR_BOOL) *max = 1;
    else if (tsr_dtype_kind(d) == TSR_KIND_UINT) *max = bits == 64 ? INT64_MAX : (int64_t)((1ull << bits) - 1);
    else {
        *max = (int64_t)((1ull << (bits - 1)) - 1);
        *min = -*max - 1;
    }
}

static TsrStatus check_range(TsrDtype d, int64_t from, int64_t last) {
    const char *bad = NULL;
    if (tsr_random_is_drawable(d)) {
        double max = tsr_dtypes[d].limits.high;
        if ((double)from < -max || (double)from > max) bad = "from";
        else if ((double)last < -max || (double)last > max) bad = "to - 1";
    } else if (d == TSR_BOOL || tsr_dtype_is_integral(d)) {
        int64_t min, max;
        integer_limits(d, &min, &max);
        if (from < min || from > max) bad = "from";
        else if (last < min || last > max) bad = "to - 1";
    } else {
        return tsr_error(TSR_RUNTIME_ERROR,
                         "check_random_bounds handles only integral, floating-point and boolean types");
    }
    return bad == NULL ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "%s is out of bounds for %s", bad, tsr_dtype_c_name(d));
}

static TsrStatus run_range(TsrTensor *t, uint64_t range, int64_t from, TsrGenerator *g) {
    Draw d = {.g = g, .dtype = t->dtype, .range = range, .base = from};
    return run_draw(t, TSR_DRAW_WORDS, range >= 1u << 28 ? range64_loop : range32_loop, &d, "random_");
}

TsrStatus tsr_random_fill_range(TsrTensor *t, int64_t from, int64_t to, TsrGenerator *g) {
    if (from >= to)
        return tsr_error(TSR_RUNTIME_ERROR, "random_ expects 'from' to be less than 'to', but got from=%lld >= to=%lld",
                         (long long)from, (long long)to);
    if (tsr_dtype_is_float(t->dtype)) {
        if (!tsr_random_is_drawable(t->dtype)) return tsr_not_implemented("random_update_from_to", t->dtype);
        round_bounds(t->dtype, &from, &to);
        if (from >= to)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=%lld >= "
                "to=%lld",
                (long long)from, (long long)to);
    }
    TSR_TRY(check_range(t->dtype, from, to - 1));
    return run_range(t, (uint64_t)to - (uint64_t)from, from, g);
}

static TsrStatus fill_random_from(TsrTensor *t, int64_t from, TsrGenerator *g) {
    if (from == INT64_MIN) {
        if (t->dtype != TSR_INT64 && t->dtype != TSR_FLOAT64 && t->dtype != TSR_FLOAT32 && t->dtype != TSR_BFLOAT16)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "random_full_64_bits_range_kernel_%s handles only int64, double, float and bfloat16",
                             tsr_on_device(t) ? "cuda" : "cpu");
        Draw d = {.g = g, .dtype = t->dtype};
        return run_draw(t, TSR_DRAW_WORDS, words64_loop, &d, "random_");
    }
    int64_t last, least;
    if (tsr_dtype_is_float(t->dtype) && !tsr_random_is_drawable(t->dtype))
        return tsr_not_implemented("random_from_to_range_calc", t->dtype);
    if (tsr_random_is_drawable(t->dtype)) {
        last = (int64_t)1 << tsr_random_mantissa_digits(t->dtype);
        round_bounds(t->dtype, &from, NULL);
        if (from >= last)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but "
                "got from=%lld > to_inc=%lld",
                (long long)from, (long long)last);
    } else if (t->dtype == TSR_BOOL || tsr_dtype_is_integral(t->dtype)) {
        integer_limits(t->dtype, &least, &last);
        if (t->dtype == TSR_UINT64) last = -1; /* its greatest value, seen as int64 */
    } else {
        return tsr_error(TSR_RUNTIME_ERROR,
                         "random_from_to_impl handles only integral, floating-point and boolean types");
    }
    TSR_TRY(check_range(t->dtype, from, last));
    return run_range(t, (uint64_t)last - (uint64_t)from + 1, from, g);
}

static TsrStatus fill_random(TsrTensor *t, TsrGenerator *g) {
    if (t->numel == 0) return TSR_OK;
    TSR_TRY(tsr_check_out_overlap(t, NULL));
    if (!tsr_in(TSR_BITS_USUAL | TSR_BIT(BOOL), t->dtype)) return tsr_random_refuse(t, "random_kernel_cpu", t->dtype);
    Draw d = {.g = g, .dtype = t->dtype};
    int64_t least, last;
    if (tsr_random_is_drawable(t->dtype)) d.range = ((uint64_t)1 << tsr_random_mantissa_digits(t->dtype)) + 1;
    else {
        integer_limits(t->dtype, &least, &last);
        d.range = (uint64_t)last + 1;
    }
    bool wide = t->dtype == TSR_FLOAT64 || t->dtype == TSR_INT64;
    return run_draw(t, TSR_DRAW_WORDS, wide ? modulo64_loop : modulo32_loop, &d, "random_");
}

/* ---- the in-place operators ---- */

/* Ends an operator that wrote self: returns it. Where the dispatcher did not name an output, the write is counted here.
 */
static TsrStatus wrote(TsrOpCall *c, TsrStatus status, TsrTensor *self) {
    TSR_TRY(status);
    if (c->out[0] == NULL) TSR_TRY(tsr_tensor_written(self, c->schema->base));
    return tsr_return_move(c, tsr_tensor_retain(self));
}

static TsrTensor *self_of(TsrOpCall *c) { return c->out[0] != NULL ? c->out[0] : c->arg[0].t; }

TsrStatus op_uniform_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    return wrote(c, tsr_random_fill_uniform(t, c->arg[1].f, c->arg[2].f, tsr_random_generator(&c->arg[3])), t);
}

TsrStatus op_normal_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    return wrote(c, tsr_random_fill_normal(t, c->arg[1].f, c->arg[2].f, tsr_random_generator(&c->arg[3])), t);
}

static TsrStatus simple_float(TsrOpCall *c, TsrDraw draw, TsrLoop loop, Draw d, const char *kernel) {
    TsrTensor *t = self_of(c);
    if (t->numel == 0) return wrote(c, TSR_OK, t);
    TSR_TRY(tsr_check_out_overlap(t, NULL));
    if (!tsr_random_is_drawable(t->dtype)) return tsr_random_refuse(t, kernel, t->dtype);
    d.dtype = t->dtype;
    return wrote(c, run_draw(t, draw, loop, &d, c->schema->base), t);
}

TsrStatus op_log_normal_(TsrOpCall *c) {
    double std = c->arg[2].f;
    if (!(std > 0)) return tsr_error(TSR_RUNTIME_ERROR, "log_normal_ expects std > 0.0, but found std=" NUM, std);
    return simple_float(c, TSR_DRAW_LOG_NORMAL, log_normal_loop,
                        (Draw){.g = tsr_random_generator(&c->arg[3]), .a = c->arg[1].f, .b = std}, "log_normal_cpu");
}

TsrStatus op_cauchy_(TsrOpCall *c) {
    double sigma = c->arg[2].f;
    if (!(sigma > 0)) return tsr_error(TSR_RUNTIME_ERROR, "cauchy_ expects sigma > 0.0, but found sigma=" NUM, sigma);
    if (!tsr_dtype_is_float(self_of(c)->dtype))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you "
            "specified %s",
            tsr_dtype_c_name(self_of(c)->dtype));
    return simple_float(c, TSR_DRAW_CAUCHY, cauchy_loop,
                        (Draw){.g = tsr_random_generator(&c->arg[3]), .a = c->arg[1].f, .b = sigma}, "cauchy_cpu");
}

TsrStatus tsr_random_exponential(TsrTensor *t, TsrGenerator *g) {
    Draw d = {.g = g, .dtype = t->dtype, .a = 1};
    return run_draw(t, TSR_DRAW_EXPONENTIAL, exponential_loop, &d, "exponential_");
}

TsrStatus op_exponential_(TsrOpCall *c) {
    double lambda = c->arg[1].f;
    if (!(lambda > 0))
        return tsr_error(TSR_RUNTIME_ERROR, "exponential_ expects lambda > 0.0, but found lambda=" NUM, lambda);
    TSR_TRY(tsr_check_out_overlap(self_of(c), NULL));
    if (self_of(c)->numel > 0 && !tsr_dtype_is_float(self_of(c)->dtype))
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but "
            "you specified %s",
            tsr_dtype_scalar_name(self_of(c)->dtype));
    return simple_float(c, TSR_DRAW_EXPONENTIAL, exponential_loop,
                        (Draw){.g = tsr_random_generator(&c->arg[2]), .a = lambda}, "exponential_cpu");
}

TsrStatus op_geometric_(TsrOpCall *c) {
    double p = c->arg[1].f;
    TsrTensor *t = self_of(c);
    if (!(0 < p && p < 1))
        return tsr_error(TSR_RUNTIME_ERROR, "geometric_ expects p to be in (0, 1), but got p=" NUM, p);
    if (t->numel == 0) return wrote(c, TSR_OK, t);
    TSR_TRY(tsr_check_out_overlap(t, NULL));
    if (!tsr_in(TSR_BITS_USUAL, t->dtype)) return tsr_random_refuse(t, "geometric_cpu", t->dtype);
    Draw d = {.g = tsr_random_generator(&c->arg[2]), .dtype = t->dtype, .a = p};
    return wrote(c, run_draw(t, TSR_DRAW_GEOMETRIC, geometric_loop, &d, "geometric_"), t);
}

TsrStatus op_random_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    return wrote(c, fill_random(t, tsr_random_generator(&c->arg[1])), t);
}

TsrStatus op_random_to_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    TSR_TRY(tsr_check_no_internal_overlap(t));
    return wrote(c, tsr_random_fill_range(t, 0, c->arg[1].i, tsr_random_generator(&c->arg[2])), t);
}

TsrStatus op_random_from_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    TSR_TRY(tsr_check_no_internal_overlap(t));
    TsrGenerator *g = tsr_random_generator(&c->arg[3]);
    if (tsr_arg_given(&c->arg[2])) return wrote(c, tsr_random_fill_range(t, c->arg[1].i, c->arg[2].i, g), t);
    return wrote(c, fill_random_from(t, c->arg[1].i, g), t);
}

/* ---- bernoulli ---- */

TsrStatus tsr_random_bernoulli(TsrTensor *t, double p, TsrGenerator *g) {
    if (!(0 <= p && p <= 1))
        return tsr_error(TSR_RUNTIME_ERROR, "bernoulli_ expects p to be in [0, 1], but got p=" NUM, p);
    if (t->numel == 0) return TSR_OK;
    TSR_TRY(tsr_check_no_internal_overlap(t));
    if (!tsr_in(TSR_BITS_USUAL | TSR_BIT(BOOL), t->dtype))
        return tsr_random_refuse(t, "bernoulli_scalar_cpu_", t->dtype);
    Draw d = {.g = g, .dtype = t->dtype, .a = p};
    return run_draw(t, TSR_DRAW_BERNOULLI, bernoulli_loop, &d, "bernoulli_");
}

/* Doubles are compared with doubles, all others with floats. */
static void draw_hits(bool *hit, const double *p, int64_t n, const TsrChances *q) {
    uint32_t words[BLOCK];
    float drawn[BLOCK];
    if (q->from == TSR_FLOAT64) {
        for (int64_t k = 0; k < n; k++) hit[k] = tsr_rng_uniform_double(q->g) < p[k];
        return;
    }
    tsr_rng_words(q->g, words, n);
    tsr_kernel_uniform_float(drawn, words, n);
    for (int64_t k = 0; k < n; k++) hit[k] = drawn[k] < (float)p[k];
}

static void chances_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    const TsrChances *q = params;
    double p[BLOCK];
    bool hit[BLOCK];
    for (int64_t i = 0; i < n && !*q->bad; i += BLOCK) {
        int64_t m = TSR_MIN(n - i, (int64_t)BLOCK), good = 0;
        tsr_convert(TSR_FLOAT64, (char *)p, sizeof *p, q->from, data[1] + i * strides[1], strides[1], m);
        while (good < m && p[good] >= 0 && p[good] <= 1) good++;
        draw_hits(hit, p, good, q);
        tsr_convert(q->dtype, data[0] + i * strides[0], strides[0], TSR_BOOL, (const char *)hit, 1, good);
        *q->bad = good < m;
    }
}

/* `wide` has the sizes of t. */
static TsrStatus draw_chances(TsrTensor *t, const TsrTensor *wide, TsrGenerator *g) {
    if (tsr_on_device(t) && !tsr_dtype_is_float(wide->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "expected probabilities tensor to have floating type, got %s",
                         tsr_dtype_scalar_name(wide->dtype));
    if (!tsr_random_is_drawable(wide->dtype)) return tsr_random_refuse(t, "bernoulli_tensor_cpu_p_", wide->dtype);
    if (tsr_on_device(t)) return tsr_random_work(t, NULL, wide, NULL, (TsrDeviceRandom){.draw = TSR_DRAW_CHANCES}, g);
    bool bad = false;
    TsrChances q = {g, t->dtype, wide->dtype, &bad};
    if (!tsr_is_meta(t)) TSR_TRY(tsr_random_draw(t, wide, NULL, chances_loop, &q, "bernoulli_"));
    return bad ? tsr_untrue("p_in >= 0 && p_in <= 1") : TSR_OK;
}

static TsrStatus fill_bernoulli_tensor(TsrTensor *t, const TsrTensor *p, TsrGenerator *g) {
    if (t->numel == 0) return TSR_OK;
    TSR_TRY(tsr_check_no_internal_overlap(t));
    if (!tsr_in(TSR_BITS_USUAL | TSR_BIT(BOOL), t->dtype))
        return tsr_random_refuse(t, "bernoulli_tensor_cpu_self_", t->dtype);
    TSR_OWNED wide = NULL;
    TSR_TRY(tsr_tensor_new_expand(&wide, p, tsr_ndim(t), t->sizes));
    return draw_chances(t, wide, g);
}

TsrStatus op_bernoulli_scalar_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    return wrote(c, tsr_random_bernoulli(t, c->arg[1].f, tsr_random_generator(&c->arg[2])), t);
}

TsrStatus op_bernoulli_tensor_(TsrOpCall *c) {
    TsrTensor *t = self_of(c);
    return wrote(c, fill_bernoulli_tensor(t, c->arg[1].t, tsr_random_generator(&c->arg[2])), t);
}

TsrStatus op_bernoulli(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *t;
    if (c->out[0] != NULL && tsr_same_sizes(c->out[0], self)) /* another is resized first */
        TSR_TRY(tsr_check_no_internal_overlap(c->out[0]));
    TSR_TRY(tsr_tensor_new_like(&t, self, c->out[0] != NULL ? c->out[0]->dtype : TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    return tsr_finish_move(c, fill_bernoulli_tensor(t, self, tsr_random_generator(&c->arg[1])), t);
}

TsrStatus op_bernoulli_p(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new_like(&t, c->arg[0].t, TSR_DTYPE_NONE, TSR_CONTIGUOUS));
    return tsr_finish_move(c, tsr_random_bernoulli(t, c->arg[1].f, tsr_random_generator(&c->arg[2])), t);
}
