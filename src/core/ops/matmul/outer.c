/* outer.c: products of a column and a row: outer, and addr, which adds them to a matrix. Both are pointwise, by
 * broadcasting; addr rounds as PyTorch's loop over a row does. */
#include <string.h>

#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "summand.h"

static TsrStatus check_vector(const char *op, const char *name, const TsrTensor *t) {
    if (tsr_ndim(t) == 1) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: Expected 1-D argument %s, but got %d-D", op, name, tsr_ndim(t));
}

static TsrStatus outer_new(TsrTensor **out, const TsrTensor *x, const TsrTensor *y) {
    TSR_OWNED column = NULL;
    TSR_TRY(tsr_tensor_new_unsqueeze(&column, x, 1));
    return tsr_invoke_new(out, 1, "mul", "tt", column, y);
}

/* An out= as the one loop over a column, a row and what is added to them refuses it. */
static TsrStatus check_rows_and_columns(const TsrOpCall *c, int n, const TsrTensor *const *in) {
    TsrIterSpec spec = {.nout = c->out[0] != NULL, .out = {c->out[0]}, .nin = n};
    memcpy(spec.in, in, sizeof *in * (size_t)n);
    spec.flags = TSR_ITER_PROMOTE | TSR_ITER_CHECK_CAST;
    return tsr_iter_check(&spec);
}

TsrStatus op_outer(TsrOpCall *c) {
    TsrTensor *r = NULL;
    TSR_OWNED column = NULL;
    TSR_TRY(check_vector("outer", "self", c->arg[0].t));
    TSR_TRY(check_vector("outer", "vec2", c->arg[1].t));
    TSR_TRY(tsr_tensor_new_reshape(&column, c->arg[0].t, 2, (int64_t[]){c->arg[0].t->sizes[0], 1}));
    TSR_TRY(check_rows_and_columns(c, 2, (const TsrTensor *const[]){column, c->arg[1].t}));
    return tsr_finish_move(c, tsr_invoke_new(&r, 1, "mul", "tt", column, c->arg[1].t), r);
}

/* self over (n, m): in place, as it is. */
static TsrStatus addr_summand_new(TsrTensor **out, const TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *x = c->arg[1].t, *y = c->arg[2].t;
    int64_t sizes[] = {x->sizes[0], y->sizes[0]};
    if (!c->inplace) return tsr_tensor_new_expand(out, self, 2, sizes);
    if (tsr_ndim(self) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "2D tensor expected, got %dD tensor for input", tsr_ndim(self));
    if (memcmp(self->sizes, sizes, sizeof sizes) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "size mismatch, input: %s, v1: %s, v2: %s", tsr_sizes_text(self),
                         tsr_sizes_text(x), tsr_sizes_text(y));
    *out = tsr_tensor_retain(self);
    return TSR_OK;
}

static TsrStatus check_addr_scalar(TsrDtype d, TsrScalar s, const char *name) {
    if (s.kind == TSR_SCALAR_BOOL && d != TSR_BOOL)
        return tsr_error(TSR_RUNTIME_ERROR, "Boolean %s only supported for Boolean results.", name);
    bool floating = s.kind == TSR_SCALAR_FLOAT || s.kind == TSR_SCALAR_COMPLEX;
    if (floating && (tsr_dtype_is_integral(d) || d == TSR_BOOL))
        return tsr_error(TSR_RUNTIME_ERROR,
                         "For integral input tensors, argument %s must not be a floating point number.", name);
    return TSR_OK;
}

static TsrStatus addr_bool(TsrTensor **out, const TsrTensor *self, const TsrTensor *product, bool beta, bool alpha) {
    TSR_OWNED right = NULL;
    TSR_TRY(tsr_invoke_new(&right, 1, "logical_and", "tt", product, product));
    if (!alpha) TSR_TRY(tsr_tensor_fill(right, tsr_scalar_bool(false)));
    if (!beta) {
        *out = tsr_owned_take(&right);
        return TSR_OK;
    }
    return tsr_invoke_new(out, 1, "logical_or", "tt", self, right);
}

static bool is_fused_addr(TsrDtype common, const TsrTensor *self, const TsrTensor *x, const TsrTensor *y) {
    return (common == TSR_FLOAT32 || common == TSR_FLOAT64) && self->dtype == common && x->dtype == common &&
           y->dtype == common;
}

/* beta self + alpha x y, x a column, the product rounded before beta self is added to it. */
static TsrStatus addr_to_product_new(TsrTensor **out, TsrTensor *self, TsrTensor *x, TsrTensor *y, TsrScalar beta,
                                     TsrScalar alpha) {
    TSR_OWNED scaled = NULL;
    TSR_OWNED product = NULL;
    TSR_OWNED one_more = NULL;
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "ts", x, alpha));
    TSR_TRY(tsr_invoke_new(&product, 1, "mul", "tt", scaled, y));
    TSR_TRY(tsr_tensor_new_scalar(&one_more, tsr_scalar_float(1), product->dtype));
    return tsr_invoke_new(out, 1, "addcmul", "ttts", product, one_more, self, beta);
}

/* The same, beta self rounded before the product is added to it. */
static TsrStatus addr_to_summand_new(TsrTensor **out, TsrTensor *self, TsrTensor *x, TsrTensor *y, TsrScalar beta,
                                     TsrScalar alpha) {
    TSR_OWNED weighted = NULL;
    if (tsr_scalar_to_double(beta) != 1) TSR_TRY(tsr_invoke_new(&weighted, 1, "mul", "ts", self, beta));
    return tsr_invoke_new(out, 1, "addcmul", "ttts", weighted != NULL ? weighted : self, x, y, alpha);
}

/* The second way where PyTorch's loop takes pairs of vectors of 32 bytes of a row, the first one in the rest of it. */
static TsrStatus fused_addr_new(TsrTensor **out, TsrTensor *self, TsrTensor *x, TsrTensor *y, TsrScalar beta,
                                TsrScalar alpha) {
    enum { BLOCK_BYTES = 64 };
    const int64_t block = BLOCK_BYTES / (int64_t)tsr_itemsize(y), n = y->sizes[0];
    const bool dense = y->strides[0] == 1 && self->strides[1] == 1;
    const int64_t whole = dense ? n / block * block : 0;
    if (whole == 0 && (tsr_is_contiguous(self, TSR_CONTIGUOUS) || !tsr_is_dense(self)))
        return addr_to_product_new(out, self, x, y, beta, alpha);
    TSR_OWNED r = NULL;
    TSR_OWNED last = NULL;
    TSR_OWNED from = NULL;
    TSR_OWNED to = NULL;
    TSR_OWNED rest = NULL;
    if (whole > 0) TSR_TRY(addr_to_summand_new(&r, self, x, y, beta, alpha));
    else TSR_TRY(tsr_tensor_new_like(&r, self, TSR_DTYPE_NONE, TSR_PRESERVE)); /* laid out as self is */
    if (whole < n && !tsr_is_meta(r)) {
        TSR_TRY(tsr_tensor_new_slice(&last, y, 0, whole, n, 1));
        TSR_TRY(tsr_tensor_new_slice(&from, self, 1, whole, n, 1));
        TSR_TRY(tsr_tensor_new_slice(&to, r, 1, whole, n, 1));
        TSR_TRY(addr_to_product_new(&rest, from, x, last, beta, alpha));
        TSR_TRY(tsr_tensor_copy(to, rest));
    }
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

static TsrScalar real_scalar(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX ? tsr_scalar_float(s.c.re) : s; }

/* beta * self + alpha * product of x and y, step by step, each in the common dtype. */
static TsrStatus addr_in_steps(TsrTensor **out, const TsrOpCall *c, TsrDtype common, TsrScalar beta, TsrScalar alpha) {
    TsrTensor *self = c->arg[0].t;
    const bool half = common == TSR_FLOAT16 || common == TSR_BFLOAT16;
    TSR_OWNED first = NULL;
    TSR_OWNED scaled = NULL;
    TSR_OWNED product = NULL;
    TSR_OWNED weighted = NULL;
    TSR_OWNED same = NULL; /* a half weighted by a number is in the loop's dtype, and stays in it */
    TSR_OWNED cast = NULL; /* beta weights numbers of the common dtype: none wraps, and inf gives complex ones a nan */
    if (half) alpha = rounded_scalar(alpha, common), beta = rounded_scalar(beta, common);
    TSR_TRY(tsr_tensor_new_cast(&first, c->arg[1].t, common));
    TSR_TRY(tsr_invoke_new(&scaled, 1, "mul", "ts", first, alpha));
    TSR_TRY(outer_new(&product, scaled, c->arg[2].t));
    if (is_zero(beta)) return tsr_tensor_new_cast(out, product, common); /* nan and inf of self do not get through */
    if (!half) TSR_TRY(tsr_tensor_new_cast(&cast, self, common));
    TSR_TRY(tsr_invoke_new(&weighted, 1, "mul", "ts", cast != NULL ? cast : self, beta));
    TSR_TRY(tsr_tensor_new_cast(&same, weighted, common));
    return tsr_invoke_new(out, 1, "add", "tt", same, product);
}

TsrStatus op_addr(TsrOpCall *c) {
    TsrTensor *self = c->arg[0].t, *x = c->arg[1].t, *y = c->arg[2].t, *r = NULL;
    TsrScalar beta = c->arg[3].s, alpha = c->arg[4].s;
    char element[16];
    TSR_TRY(check_vector("addr", "vec1", x));
    TSR_TRY(check_vector("addr", "vec2", y));
    TSR_OWNED product = NULL;
    TSR_OWNED column = NULL;
    TSR_OWNED wide = NULL;
    TSR_TRY(addr_summand_new(&wide, c));
    TSR_TRY(tsr_tensor_new_reshape(&column, x, 2, (int64_t[]){x->sizes[0], 1}));
    TSR_TRY(check_rows_and_columns(c, 3, (const TsrTensor *const[]){wide, column, y}));
    TsrDtype common;
    TSR_TRY(tsr_result_type(&common, (TsrTensor *const[]){self, x, y}, 3));
    TSR_TRY(check_addr_scalar(common, beta, "beta"));
    TSR_TRY(check_addr_scalar(common, alpha, "alpha"));
    if (common == TSR_BOOL) {
        TSR_TRY(outer_new(&product, x, y));
        return tsr_finish_move(c, addr_bool(&r, wide, product, tsr_scalar_to_bool(beta), tsr_scalar_to_bool(alpha)), r);
    }
    TSR_TRY(tsr_require(TSR_BITS_USUAL | TSR_BITS_COMPLEX, common, "addr_cpu"));
    TSR_TRY(tsr_scalar_store_checked(beta, common, element));
    TSR_TRY(tsr_scalar_store_checked(alpha, common, element));
    if (!tsr_dtype_is_complex(common)) beta = real_scalar(beta), alpha = real_scalar(alpha);
    if (is_fused_addr(common, self, x, y) &&
        !is_zero(beta)) /* in one pass, and with one rounding fewer, as PyTorch's */
        return tsr_finish_move(c, fused_addr_new(&r, wide, column, y, beta, alpha), r);
    return tsr_finish_move(c, addr_in_steps(&r, c, common, beta, alpha), r);
}
