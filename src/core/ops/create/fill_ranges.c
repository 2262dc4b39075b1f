/* The numbers of arange, linspace and logspace, rounded as PyTorch's AVX2 kernels round them: arange goes by
 * vectors of 32 bytes, whose first element is start + step * i and the k-th that plus k * step, each with one
 * fused rounding; what is left after the last pair of vectors is start + step * i alone. */
#include <complex.h>
#include <math.h>
#include <string.h>

#include "create.h"
#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/tensor/owned.h"
#include "core/tensor/loan.h"

typedef struct Ramp {
    TsrTensor *t;
    double start, step, end;
    float start_f, step_f, end_f;
    int64_t start_i, step_i, n;
    double _Complex start_c, step_c, end_c, base_c;
    double base;
    TsrStatus status;
} Ramp;

enum { GRAIN = 2 * TSR_CHUNK_WORK };

/* The same numbers made by the device that the tensor lies on. */
static TsrStatus ramp_there(const Ramp *r, TsrRamp kind) {
    const TsrDeviceRamp params = {.kind = kind,
                                  .step_f = r->step_f,
                                  .start = r->start,
                                  .step = r->step,
                                  .end = r->end,
                                  .base = r->base,
                                  .start_i = r->start_i,
                                  .step_i = r->step_i};
    TsrDeviceWork work = {.what = TSR_P_RAMP, .params = &params, .nparams = sizeof params};
    TSR_TRY(tsr_device_work_add(&work, r->t, true));
    return tsr_device_work(r->t->device.type, &work);
}

/* One part of the complex numbers of linspace on a device. *out is owned. */
static TsrStatus part_there_new(TsrTensor **out, const Ramp *r, bool imaginary) {
    TSR_OWNED part = NULL;
    const double start = imaginary ? cimag(r->start_c) : creal(r->start_c),
                 end = imaginary ? cimag(r->end_c) : creal(r->end_c),
                 step = imaginary ? cimag(r->step_c) : creal(r->step_c);
    TSR_TRY(tsr_tensor_new(&part, 1, &r->n, tsr_dtype_real_of(r->t->dtype), r->t->device));
    const Ramp own = {.t = part, .start = start, .end = end, .step = step, .step_f = (float)step};
    TSR_TRY(ramp_there(&own, TSR_RAMP_LINSPACE));
    *out = tsr_owned_take(&part);
    return TSR_OK;
}

/* Complex numbers are made of their parts; of logspace they are what the base is raised to. */
static TsrStatus complex_there(const Ramp *r, TsrRamp kind) {
    TsrScope s = {0};
    TsrTensor *re = MAKE(&s, part_there_new, r, false), *im = MAKE(&s, part_there_new, r, true),
              *z = CALL(&s, "complex", "tt", re, im);
    if (kind == TSR_RAMP_LOGSPACE) z = CALL(&s, "pow", "st", tsr_scalar_float(r->base), z);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(r->t, z);
    return tsr_scope_end(&s);
}

static TsrStatus space_there(const Ramp *r, TsrRamp kind) {
    return (tsr_dtype_is_complex(r->t->dtype) ? complex_there : ramp_there)(r, kind);
}

static void arange_int64(int64_t begin, int64_t end, void *user) {
    const Ramp *r = user;
    int64_t *p = tsr_data(r->t);
    uint64_t v = (uint64_t)r->start_i + (uint64_t)begin * (uint64_t)r->step_i;
    for (int64_t i = begin; i < end; i++, v += (uint64_t)r->step_i) p[i] = (int64_t)v;
}

#define ARANGE_SMALL_INT(name, type) \
    static void name(int64_t begin, int64_t end, void *user) { \
        const Ramp *r = user; \
        type *p = tsr_data(r->t); \
        for (int64_t i = begin; i < end; i++) p[i] = (type)((uint64_t)r->start_i + (uint64_t)i * (uint64_t)r->step_i); \
    }
ARANGE_SMALL_INT(arange_uint8, uint8_t)
ARANGE_SMALL_INT(arange_int8, int8_t)
ARANGE_SMALL_INT(arange_int16, int16_t)
ARANGE_SMALL_INT(arange_int32, int32_t)

/* body(first, k): element `first + k` of the vector that begins at `first`; alone(i): one by itself. */
#define ARANGE_FLOAT(name, type, lanes, base_expr, lane_expr, alone_expr) \
    static inline __attribute__((always_inline)) void name##_body(int64_t begin, int64_t end, const Ramp *r) { \
        type *p = tsr_data(r->t); \
        int64_t vectors = r->n / (2 * (lanes)) * (2 * (lanes)); \
        int64_t i = begin; \
        for (; i < end && i < vectors; i += (lanes)) { \
            base_expr; \
            for (int k = 0; k < (lanes); k++) p[i + k] = lane_expr; \
        } \
        for (; i < end; i++) p[i] = alone_expr; \
    } \
    static void name##_plain(int64_t begin, int64_t end, void *user) { name##_body(begin, end, user); } \
    FMA_VARIANT(name)

#if defined(__x86_64__)
#define FMA_VARIANT(name) \
    __attribute__((target("fma,avx2"))) static void name##_fma(int64_t begin, int64_t end, void *user) { \
        name##_body(begin, end, user); \
    }
#define PICK(name) (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2") ? name##_fma : name##_plain)
#else
#define FMA_VARIANT(name)
#define PICK(name) name##_plain
#endif

ARANGE_FLOAT(arange_double, double, 4, double base = fma(r->step, (double)i, r->start), fma((double)k, r->step, base),
             fma(r->step, (double)i, r->start))
ARANGE_FLOAT(arange_float, float, 8, double base = (float)fma(r->step, (double)i, r->start),
             (float)fma((double)k, r->step, base), (float)fma(r->step, (double)i, r->start))
ARANGE_FLOAT(arange_half, TsrHalf, 16,
             float base = tsr_half_to_float(tsr_half_from_float(fmaf(r->step_f, (float)i, r->start_f))),
             tsr_half_from_float(fmaf((float)k, r->step_f, base)),
             tsr_half_from_float(fmaf(r->step_f, (float)i, r->start_f)))
ARANGE_FLOAT(arange_bfloat16, TsrBfloat16, 16,
             float base = tsr_bfloat16_to_float(tsr_bfloat16_from_float(fmaf(r->step_f, (float)i, r->start_f))),
             tsr_bfloat16_from_float(fmaf((float)k, r->step_f, base)),
             tsr_bfloat16_from_float(fmaf(r->step_f, (float)i, r->start_f)))

static TsrRangeFn arange_loop(TsrDtype d) {
    switch (d) {
    case TSR_UINT8: return arange_uint8;
    case TSR_INT8: return arange_int8;
    case TSR_INT16: return arange_int16;
    case TSR_INT32: return arange_int32;
    case TSR_INT64: return arange_int64;
    case TSR_FLOAT32: return PICK(arange_float);
    case TSR_FLOAT64: return PICK(arange_double);
    case TSR_FLOAT16: return PICK(arange_half);
    case TSR_BFLOAT16: return PICK(arange_bfloat16);
    default: return NULL;
    }
}

TsrStatus tsr_create_fill_arange(TsrTensor *t, TsrScalar start, TsrScalar step) {
    Ramp r = {.t = t, .start = tsr_scalar_to_double(start), .step = tsr_scalar_to_double(step), .n = t->numel};
    r.start_f = (float)r.start;
    r.step_f = (float)r.step;
    r.start_i = tsr_scalar_to_int(start);
    r.step_i = tsr_scalar_to_int(step);
    TsrRangeFn fill = arange_loop(t->dtype);
    if (fill == NULL) return tsr_not_implemented("arange_cpu", t->dtype);
    if (tsr_on_device(t)) return ramp_there(&r, TSR_RAMP_ARANGE);
    if (t->numel <= GRAIN) { /* the usual small one, without asking the pool */
        if (t->numel > 0) fill(0, t->numel, &r);
        return TSR_OK;
    }
    return tsr_parallel_for(t->numel, GRAIN, fill, &r);
}

/* ---- linspace: from the nearer end, one fused rounding; logspace's exponents, too ---- */

#define FROM_BOTH_ENDS(name, type, up, down) \
    TSR_CLONES static void name(int64_t begin, int64_t end, void *user) { \
        const Ramp *r = user; \
        type *p = tsr_data(r->t); \
        for (int64_t i = begin; i < end; i++) { \
            int64_t left = r->n - i - 1; \
            if (i < r->n / 2) p[i] = up; \
            else p[i] = down; \
        } \
    }
FROM_BOTH_ENDS(linspace_double, double, fma(r->step, (double)i, r->start), fma(-r->step, (double)left, r->end))
FROM_BOTH_ENDS(linspace_float, float, fmaf(r->step_f, (float)i, r->start_f), fmaf(-r->step_f, (float)left, r->end_f))
FROM_BOTH_ENDS(linspace_complex64, float _Complex, (float _Complex)r->start_c + (float _Complex)r->step_c * (float)i,
               (float _Complex)r->end_c - (float _Complex)r->step_c * (float)left)
FROM_BOTH_ENDS(linspace_complex128, double _Complex, r->start_c + r->step_c * (double)i,
               r->end_c - r->step_c * (double)left)

/* Integers and halves: computed in double or float and stored through a scalar. */
static void linspace_other(int64_t begin, int64_t end, void *user) {
    const Ramp *r = user;
    size_t item = tsr_itemsize(r->t);
    bool small = tsr_dtype_is_float(r->t->dtype);
    for (int64_t i = begin; i < end; i++) {
        int64_t left = r->n - i - 1;
        TsrScalar s = small          ? tsr_scalar_float(i < r->n / 2 ? fmaf(r->step_f, (float)i, r->start_f)
                                                                     : fmaf(-r->step_f, (float)left, r->end_f))
                      : i < r->n / 2 ? tsr_scalar_int((int64_t)fma(r->step, (double)i, r->start))
                                     : tsr_scalar_int((int64_t)fma(-r->step, (double)left, r->end));
        tsr_scalar_store(s, r->t->dtype, (char *)tsr_data(r->t) + (size_t)i * item);
    }
}

static double _Complex complex_of(TsrScalar s) {
    return s.kind == TSR_SCALAR_COMPLEX ? CMPLX(s.c.re, s.c.im) : CMPLX(tsr_scalar_to_double(s), 0);
}

/* A value as the dtype would hold it, with PyTorch's overflow check. */
static TsrStatus rounded(TsrScalar *s, TsrDtype dtype) {
    char cell[16];
    TSR_TRY(tsr_scalar_store_checked(*s, dtype, cell));
    *s = tsr_scalar_load(dtype, cell);
    return TSR_OK;
}

static TsrStatus begin_ramp(Ramp *r, TsrTensor *t, TsrScalar start, TsrScalar end) {
    TSR_TRY(rounded(&start, t->dtype));
    TSR_TRY(rounded(&end, t->dtype));
    double gaps = (double)TSR_MAX(t->numel - 1, 1);
    *r = (Ramp){.t = t, .start = tsr_scalar_to_double(start), .end = tsr_scalar_to_double(end), .n = t->numel};
    r->step = (r->end - r->start) / gaps;
    r->start_f = (float)r->start;
    r->end_f = (float)r->end;
    r->step_f = (r->end_f - r->start_f) / (float)gaps;
    if (t->dtype == TSR_FLOAT16) r->step = tsr_half_to_float(tsr_half_from_float(r->step_f));
    if (t->dtype == TSR_BFLOAT16) r->step = tsr_bfloat16_to_float(tsr_bfloat16_from_float(r->step_f));
    r->start_c = complex_of(start);
    r->end_c = complex_of(end);
    r->step_c = (r->end_c - r->start_c) / gaps;
    return TSR_OK;
}

TsrStatus tsr_create_fill_linspace(TsrTensor *t, TsrScalar start, TsrScalar end) {
    Ramp r;
    TSR_TRY(begin_ramp(&r, t, start, end));
    if (tsr_on_device(t)) return space_there(&r, TSR_RAMP_LINSPACE);
    TsrRangeFn loop = t->dtype == TSR_FLOAT32      ? linspace_float
                      : t->dtype == TSR_FLOAT64    ? linspace_double
                      : t->dtype == TSR_COMPLEX64  ? linspace_complex64
                      : t->dtype == TSR_COMPLEX128 ? linspace_complex128
                                                   : linspace_other;
    return tsr_parallel_for(t->numel, GRAIN, loop, &r);
}

/* ---- logspace ---- */

static TsrScalar power_of(const Ramp *r, int64_t i) {
    int64_t left = r->n - i - 1;
    double v = pow(r->base, i < r->n / 2 ? fma(r->step, (double)i, r->start) : fma(-r->step, (double)left, r->end));
    return tsr_scalar_float(v);
}

FROM_BOTH_ENDS(logspace_double, double, pow(r->base, fma(r->step, (double)i, r->start)),
               pow(r->base, fma(-r->step, (double)left, r->end)))
FROM_BOTH_ENDS(logspace_float, float, (float)pow(r->base, fma(r->step, (double)i, r->start)),
               (float)pow(r->base, fma(-r->step, (double)left, r->end)))
FROM_BOTH_ENDS(logspace_complex64, float _Complex,
               cpowf((float _Complex)r->base_c, (float _Complex)r->start_c + (float _Complex)r->step_c * (float)i),
               cpowf((float _Complex)r->base_c, (float _Complex)r->end_c - (float _Complex)r->step_c * (float)left))
FROM_BOTH_ENDS(logspace_complex128, double _Complex, cpow(r->base_c, r->start_c + r->step_c * (double)i),
               cpow(r->base_c, r->end_c - r->step_c * (double)left))

static void logspace_other(int64_t begin, int64_t end, void *user) {
    const Ramp *r = user;
    size_t item = tsr_itemsize(r->t);
    for (int64_t i = begin; i < end; i++)
        tsr_scalar_store(power_of(r, i), r->t->dtype, (char *)tsr_data(r->t) + (size_t)i * item);
}

/* As C++ has it: of a base above 0 by its size and angle. */
static TsrScalar complex_power(double base, double _Complex exponent) {
    const double size = pow(base, creal(exponent)), angle = cimag(exponent) * log(base);
    const double _Complex v = base > 0 ? CMPLX(size * cos(angle), size * sin(angle)) : cpow(base, exponent);
    return tsr_scalar_complex(creal(v), cimag(v));
}

TsrStatus tsr_create_fill_logspace(TsrTensor *t, TsrScalar start, TsrScalar end, double base) {
    Ramp r;
    /* The power of the number as it is given. */
    if (t->numel == 1 && !tsr_dtype_is_complex(t->dtype) && start.kind != TSR_SCALAR_COMPLEX)
        return tsr_tensor_fill(t, tsr_scalar_float(pow(base, tsr_scalar_to_double(start))));
    if (t->numel == 1) return tsr_tensor_fill(t, complex_power(base, complex_of(start)));
    TSR_TRY(begin_ramp(&r, t, start, end));
    if (t->dtype == TSR_FLOAT16 ||
        t->dtype == TSR_BFLOAT16) { /* PyTorch rounds the distance to the dtype, not the step */
        TsrScalar distance = tsr_scalar_float(r.end_f - r.start_f);
        TSR_TRY(rounded(&distance, t->dtype));
        r.step = (float)distance.f / (float)TSR_MAX(r.n - 1, 1);
    }
    r.base = base;
    r.base_c = base;
    if (tsr_on_device(t)) return space_there(&r, TSR_RAMP_LOGSPACE);
    TsrRangeFn loop = t->dtype == TSR_FLOAT32      ? logspace_float
                      : t->dtype == TSR_FLOAT64    ? logspace_double
                      : t->dtype == TSR_COMPLEX64  ? logspace_complex64
                      : t->dtype == TSR_COMPLEX128 ? logspace_complex128
                                                   : logspace_other;
    return tsr_parallel_for(t->numel, GRAIN, loop, &r);
}
