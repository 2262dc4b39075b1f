/* Tensors of random numbers: rand, randn, randint and their likes, randperm, normal of tensors. */
#include "core/op/shared.h"
#include "core/ops/create/create.h"
#include "core/tensor/owned.h"
#include "random.h"

#include <string.h>

enum { BLOCK = 512 };

/* ---- factories ---- */

/* A fresh tensor of those sizes, laid out as an out= of them is: PyTorch draws for dense memory in another order than
 * for what has gaps. */
static TsrStatus drawn_new(TsrTensor **out, const TsrOpCall *c, int ndim, const int64_t *sizes, TsrDtype dtype,
                           TsrDevice device) {
    const TsrTensor *given = c->out[0];
    bool same =
        given != NULL && tsr_ndim(given) == ndim && memcmp(given->sizes, sizes, sizeof *sizes * (size_t)ndim) == 0;
    bool shared = false;
    for (int d = 0; same && d < ndim; d++) shared |= given->strides[d] == 0;
    if (!same || shared || tsr_is_contiguous(given, TSR_CONTIGUOUS))
        return tsr_tensor_new(out, ndim, sizes, dtype, device);
    return tsr_tensor_new_strided(out, ndim, sizes, given->strides, dtype, device);
}

/* The result of a factory whose options stand at arg[at]: fresh, of out's dtype where out= is given and no dtype is. */
static TsrStatus factory_new(TsrTensor **out, TsrOpCall *c, const TsrArg *size, int at, TsrDtype usual) {
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, at, TSR_DEVICE_CPU));
    for (int i = 0; i < size->n && c->out[0] != NULL; i++)
        if (size->ints[i] < 0) return tsr_error(TSR_RUNTIME_ERROR, "numel: integer multiplication overflow");
    return drawn_new(out, c, size->n, size->ints, o.dtype != TSR_DTYPE_NONE ? o.dtype : usual, o.device);
}

/* rand(size, *, generator, dtype, layout, device) */
TsrStatus op_rand(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(factory_new(&t, c, &c->arg[0], 2, tsr_default_dtype()));
    return tsr_finish_move(c, tsr_random_fill_uniform(t, 0, 1, tsr_random_generator(&c->arg[1])), t);
}

TsrStatus op_randn(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(factory_new(&t, c, &c->arg[0], 2, tsr_default_dtype()));
    return tsr_finish_move(c, tsr_random_fill_normal(t, 0, 1, tsr_random_generator(&c->arg[1])), t);
}

static TsrStatus make_randint(TsrOpCall *c, int64_t low, int64_t high, const TsrArg *rest) {
    TsrTensor *t;
    TSR_TRY(factory_new(&t, c, &rest[0], (int)(rest - c->arg) + 2, TSR_INT64));
    return tsr_finish_move(c, tsr_random_fill_range(t, low, high, tsr_random_generator(&rest[1])), t);
}

TsrStatus op_randint(TsrOpCall *c) { return make_randint(c, 0, c->arg[0].i, c->arg + 1); }
TsrStatus op_randint_low(TsrOpCall *c) { return make_randint(c, c->arg[0].i, c->arg[1].i, c->arg + 2); }

/* normal(mean, std, size, *, generator, dtype, layout, device) */
TsrStatus op_normal_size(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(tsr_random_check_std(c->arg[1].f));
    TSR_TRY(factory_new(&t, c, &c->arg[2], 4, tsr_default_dtype()));
    return tsr_finish_move(c, tsr_random_fill_normal(t, c->arg[0].f, c->arg[1].f, tsr_random_generator(&c->arg[3])), t);
}

/* X_like(self, ..., *, generator, dtype, layout, device, memory_format): rest points at generator. */
static TsrStatus like_new(TsrTensor **out, TsrOpCall *c, const TsrArg *rest) {
    const TsrTensor *self = c->arg[0].t;
    TsrMemoryFormat format = tsr_arg_given(&rest[4]) ? rest[4].format : TSR_PRESERVE;
    TsrOptions o;
    TSR_TRY(tsr_create_options(&o, c, (int)(rest - c->arg) + 1, self->device));
    if (tsr_device_equal(o.device, self->device)) return tsr_tensor_new_like(out, self, o.dtype, format);
    TSR_OWNED shape = NULL;
    TSR_TRY(tsr_tensor_new_like(&shape, self, o.dtype, format));
    return tsr_tensor_new_strided(out, tsr_ndim(self), self->sizes, shape->strides, shape->dtype, o.device);
}

TsrStatus op_rand_like(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(like_new(&t, c, &c->arg[1]));
    return tsr_finish_move(c, tsr_random_fill_uniform(t, 0, 1, tsr_random_generator(&c->arg[1])), t);
}

TsrStatus op_randn_like(TsrOpCall *c) {
    TsrTensor *t;
    TSR_TRY(like_new(&t, c, &c->arg[1]));
    return tsr_finish_move(c, tsr_random_fill_normal(t, 0, 1, tsr_random_generator(&c->arg[1])), t);
}

static TsrStatus make_randint_like(TsrOpCall *c, int64_t low, int64_t high, const TsrArg *rest) {
    TsrTensor *t;
    TSR_TRY(like_new(&t, c, rest));
    return tsr_finish_move(c, tsr_random_fill_range(t, low, high, tsr_random_generator(rest)), t);
}

TsrStatus op_randint_like(TsrOpCall *c) { return make_randint_like(c, 0, c->arg[1].i, c->arg + 2); }
TsrStatus op_randint_like_low(TsrOpCall *c) { return make_randint_like(c, c->arg[1].i, c->arg[2].i, c->arg + 3); }

TsrStatus op_randint_like_tensor(TsrOpCall *c) {
    const TsrTensor *bound = c->arg[1].t;
    TsrScalar high;
    uint8_t cell[16];
    if (tsr_ndim(bound) != 0 || tsr_on_device(bound))
        return tsr_error(TSR_RUNTIME_ERROR, "high must be a scalar tensor and on CPU");
    TSR_TRY(tsr_tensor_item(&high, bound));
    TSR_TRY(tsr_scalar_store_checked(high, TSR_INT64, cell));
    return make_randint_like(c, 0, tsr_scalar_to_int(high), c->arg + 2);
}

/* ---- randperm ---- */

/* The Fisher-Yates shuffle PyTorch does, on elements of one size. */
#define SHUFFLE(T) \
    do { \
        T *r = p; \
        for (int64_t i = 0; i < n - 1; i++) { \
            if ((i & 511) == 0) tsr_rng_words(g, words, TSR_MIN(n - 1 - i, 512)); \
            int64_t z = i + (int64_t)(words[i & 511] % (uint32_t)(n - i)); \
            T t = r[i]; \
            r[i] = r[z]; \
            r[z] = t; \
            if ((i & 0xFFFFF) == 0 && tsr_interrupt_flag != 0) return tsr_interrupt_raise(); \
        } \
    } while (0)

static TsrStatus shuffle(void *p, int64_t n, size_t item, TsrGenerator *g) {
    uint32_t words[512];
    if (n >= (int64_t)UINT32_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "randperm of more than 2^32 - 2 elements is not supported");
    switch (item) {
    case 1: SHUFFLE(uint8_t); break;
    case 2: SHUFFLE(uint16_t); break;
    case 4: SHUFFLE(uint32_t); break;
    default: SHUFFLE(uint64_t); break;
    }
    return TSR_OK;
}

static TsrStatus check_permutation_dtype(const TsrTensor *t, int64_t n) {
    const TsrDtype d = t->dtype;
    if (tsr_on_device(t) && d == TSR_BFLOAT16) return tsr_not_implemented("randperm_out_cuda", d);
    TSR_TRY(tsr_require(TSR_BITS_USUAL, d, tsr_on_device(t) ? "arange_cuda" : "randperm"));
    if (d == TSR_FLOAT16 || d == TSR_FLOAT32) {
        int64_t limit = ((int64_t)1 << tsr_random_mantissa_digits(d)) + 1;
        if (n > limit)
            return tsr_error(TSR_RUNTIME_ERROR, "n cannot be greater than %lld for %s type.", (long long)limit,
                             tsr_dtype_scalar_name(d));
    }
    if (n > 0 && tsr_dtype_is_integral(d)) {
        uint8_t cell[16];
        return tsr_scalar_store_checked(tsr_scalar_int(n), d, cell);
    }
    return TSR_OK;
}

/* A fresh tensor without gaps in the place of *slot, which is freed, on failure too. */
static TsrStatus make_dense(TsrTensor **slot) {
    TsrTensor *dense;
    if (tsr_is_contiguous(*slot, TSR_CONTIGUOUS)) return TSR_OK;
    TsrStatus status = tsr_tensor_new_like(&dense, *slot, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    tsr_tensor_free(*slot);
    if (status == TSR_OK) *slot = dense;
    return status;
}

/* randperm(n, *, generator, dtype, layout, device) */
TsrStatus op_randperm(TsrOpCall *c) {
    int64_t n = c->arg[0].i;
    TsrArg size = {.kind = TSR_ARG_INTS, .n = 1, .ints = &n};
    TsrTensor *t;
    if (c->out[0] != NULL && n < 0)
        return tsr_error(TSR_RUNTIME_ERROR, "n must be non-negative, got%lld", (long long)n);
    TSR_TRY(factory_new(&t, c, &size, 2, TSR_INT64));
    TSR_TRY(make_dense(&t)); /* an out= may have gaps */
    TsrStatus status = check_permutation_dtype(t, n);
    if (status == TSR_OK && n > 0 && tsr_on_device(t)) {
        status = tsr_random_permutation(t, tsr_random_generator(&c->arg[1]));
    } else if (status == TSR_OK && n > 0 && !tsr_is_meta(t)) {
        char *p = tsr_data(t);
        for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i += BLOCK) {
            int64_t block[BLOCK], m = TSR_MIN(n - i, BLOCK);
            for (int64_t k = 0; k < m; k++) block[k] = i + k;
            size_t item = tsr_itemsize(t);
            tsr_convert(t->dtype, p + (size_t)i * item, (int64_t)item, TSR_INT64, (const char *)block, 8, m);
        }
        status = shuffle(p, n, tsr_itemsize(t), tsr_random_generator(&c->arg[1]));
    }
    return tsr_finish_move(c, status, t);
}

/* ---- normal with tensors ---- */

static TsrStatus check_std_tensor(const TsrTensor *std) {
    if (tsr_dtype_is_complex(std->dtype))
        return tsr_error(TSR_RUNTIME_ERROR, "normal expects standard deviation to be non-complex");
    if (std->numel == 0 || tsr_is_meta(std)) return TSR_OK;
    if (tsr_in(TSR_BITS_UINT | TSR_BITS_FLOAT8, std->dtype)) return tsr_not_implemented("min_all", std->dtype);
    TSR_OWNED least = NULL;
    TSR_TRY(tsr_invoke_new(&least, 1, "min", "t", std));
    TsrScalar value;
    TSR_TRY(tsr_tensor_item(&value, least));
    return tsr_scalar_to_double(value) >= 0 ? TSR_OK
                                            : tsr_error(TSR_RUNTIME_ERROR, "normal expects all elements of std >= 0.0");
}

/* t = t * std + mean; either may be NULL. */
static TsrStatus scale_shift(TsrTensor *t, TsrTensor *std, TsrTensor *mean) {
    TsrTensor *done = NULL;
    if (std != NULL) {
        TSR_TRY(tsr_invoke_new(&done, 1, "mul", "!ttt", t, t, std));
        tsr_tensor_free(done);
    }
    if (mean != NULL) {
        TSR_TRY(tsr_invoke_new(&done, 1, "add", "!ttt", t, t, mean));
        tsr_tensor_free(done);
    }
    return TSR_OK;
}

TsrStatus op_normal_tensor_float(TsrOpCall *c) {
    TsrTensor *mean = c->arg[0].t, *t;
    const TsrTensor *out = c->out[0]; /* which is broadcast against the means */
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_TRY(tsr_random_check_std(c->arg[1].f));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, mean->sizes, tsr_ndim(mean)));
    if (out != NULL) TSR_TRY(tsr_layout_broadcast(shape, &ndim, out->sizes, tsr_ndim(out)));
    TSR_TRY(drawn_new(&t, c, ndim, shape, out != NULL ? out->dtype : mean->dtype, mean->device));
    TsrStatus status = tsr_random_fill_normal(t, 0, c->arg[1].f, tsr_random_generator(&c->arg[2]));
    if (status == TSR_OK) status = scale_shift(t, NULL, mean);
    return tsr_finish_move(c, status, t);
}

TsrStatus op_normal_float_tensor(TsrOpCall *c) {
    TsrTensor *std = c->arg[1].t, *t, *mean;
    char unused[16];
    TsrDtype d = c->out[0] != NULL ? c->out[0]->dtype : std->dtype;
    TSR_TRY(check_std_tensor(std));
    if (tsr_dtype_is_integral(d)) TSR_TRY(tsr_scalar_store_checked(tsr_scalar_float(c->arg[0].f), d, unused));
    TSR_TRY(drawn_new(&t, c, tsr_ndim(std), std->sizes, d, std->device));
    TsrStatus status = tsr_random_fill_normal(t, 0, 1, tsr_random_generator(&c->arg[2]));
    if (status == TSR_OK) status = tsr_tensor_new_scalar(&mean, tsr_scalar_float(c->arg[0].f), t->dtype);
    if (status == TSR_OK) {
        status = scale_shift(t, std, mean);
        tsr_tensor_free(mean);
    }
    return tsr_finish_move(c, status, t);
}

TsrStatus op_normal_tensor_tensor(TsrOpCall *c) {
    TsrTensor *mean = c->arg[0].t, *std = c->arg[1].t, *t;
    int64_t shape[TSR_MAX_DIMS];
    int ndim = 0;
    TSR_TRY(check_std_tensor(std));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, mean->sizes, tsr_ndim(mean)));
    TSR_TRY(tsr_layout_broadcast(shape, &ndim, std->sizes, tsr_ndim(std)));
    TSR_TRY(drawn_new(&t, c, ndim, shape, c->out[0] != NULL ? c->out[0]->dtype : mean->dtype, mean->device));
    TsrStatus status = tsr_random_fill_normal(t, 0, 1, tsr_random_generator(&c->arg[2]));
    if (status == TSR_OK) status = scale_shift(t, std, mean);
    return tsr_finish_move(c, status, t);
}
