/* fast.c: arithmetic and comparisons of plain tensors without the operator table and the iterator (fast.h). For small
 * tensors those cost more than the elements do.
 *
 * A row says which kernel and dtypes an operator has here. After the checks the operation is one Flat: pointers and
 * byte strides for one inner loop, run in this thread or in chunks. The kernels are those of the operator table, so
 * results are the same bit for bit; while there is a trace nothing is done here, so that it sees every step. */
#include "fast.h"

#include <string.h>

#include "core/iter.h"
#include "core/kernels/pointwise/table.h"
#include "core/tensor/inference.h"

/* Elements from which an operation is split over threads: below two chunks' work (parallel.h) there is nothing to
 * split. */
enum { PARALLEL = 2 * TSR_CHUNK_WORK };

#define BIT(d) (1u << TSR_##d)
#define INTS (BIT(UINT8) | BIT(INT8) | BIT(INT16) | BIT(INT32) | BIT(INT64))
#define FLOATS (BIT(FLOAT32) | BIT(FLOAT64))
#define HALVES (BIT(FLOAT16) | BIT(BFLOAT16)) /* only where both operands are: a number is not rounded first */

/* What each operator is called, computes with and accepts. */
static const struct Row {
    const char *name, *inplace;
    TsrKernel kernel;
    uint32_t dtypes;
    bool compares;
} rows[TSR_FAST_COUNT] = {
    [TSR_FAST_ADD] = {"add", "add_", TSR_K_add, INTS | FLOATS | HALVES, false},
    [TSR_FAST_SUB] = {"sub", "sub_", TSR_K_sub, INTS | FLOATS | HALVES, false},
    [TSR_FAST_MUL] = {"mul", "mul_", TSR_K_mul, INTS | FLOATS | HALVES, false},
    [TSR_FAST_DIV] = {"div", "div_", TSR_K_div, FLOATS | HALVES, false},
    [TSR_FAST_AND] = {"bitwise_and", "bitwise_and_", TSR_K_bitwise_and, INTS | BIT(BOOL), false},
    [TSR_FAST_OR] = {"bitwise_or", "bitwise_or_", TSR_K_bitwise_or, INTS | BIT(BOOL), false},
    [TSR_FAST_XOR] = {"bitwise_xor", "bitwise_xor_", TSR_K_bitwise_xor, INTS | BIT(BOOL), false},
    [TSR_FAST_EQ] = {"eq", NULL, TSR_K_eq, INTS | FLOATS, true},
    [TSR_FAST_NE] = {"ne", NULL, TSR_K_ne, INTS | FLOATS, true},
    [TSR_FAST_LT] = {"lt", NULL, TSR_K_lt, INTS | FLOATS, true},
    [TSR_FAST_LE] = {"le", NULL, TSR_K_le, INTS | FLOATS, true},
    [TSR_FAST_GT] = {"gt", NULL, TSR_K_gt, INTS | FLOATS, true},
    [TSR_FAST_GE] = {"ge", NULL, TSR_K_ge, INTS | FLOATS, true},
    [TSR_FAST_POW] = {"pow", "pow_", TSR_K_square, FLOATS, false},
    [TSR_FAST_NEG] = {"neg", NULL, TSR_K_neg, INTS | FLOATS, false},
};

/* Whether t is a contiguous cpu tensor of one of these dtypes whose storage holds all its elements. */
static bool is_plain(const TsrTensor *t, uint32_t dtypes) {
    if (t->device.type != TSR_CPU || t->layout != TSR_STRIDED || (t->flags & ~TSR_FLAGS_OF_INFERENCE) != 0 ||
        !(dtypes >> t->dtype & 1) || t->storage == NULL)
        return false;
    if (TSR_UNLIKELY(tsr_memory_lost != 0)) return false; /* the operator table checks which tensors lost bytes */
    if (TSR_UNLIKELY(t->numel == 0)) return false;        /* the iterator knows how empty results lie */
    int64_t next = 1;
    for (int d = t->ndim_ - 1; d >= 0; d--) {
        if (t->strides[d] != next) return false; /* so do not come here: sizes of 1 with other strides */
        next *= t->sizes[d];
    }
    return (uint64_t)(t->offset + t->numel) * tsr_dtypes[t->dtype].itemsize <= t->storage->nbytes;
}

/* Equal sizes; no broadcasting. */
static bool same_shape(const TsrTensor *a, const TsrTensor *b) {
    if (a->ndim_ != b->ndim_) return false;
    for (int d = 0; d < a->ndim_; d++)
        if (a->sizes[d] != b->sizes[d]) return false;
    return true;
}

/* Whether a fresh result like t would lie as it does: a dimension of one element can have any stride. */
static bool lies_as_fresh(const TsrTensor *t) {
    int64_t step = 1;
    bool ones = false, dense = true;
    for (int d = t->ndim_ - 1; d >= 0; step *= t->sizes[d--]) {
        ones = ones || t->sizes[d] == 1;
        dense = dense && t->strides[d] == step;
    }
    return dense || !ones;
}

bool tsr_fast_reusable(const TsrTensor *t) {
    const TsrStorage *s = t->storage;
    return lies_as_fresh(t) && t->refcount == 1 && t->weakcount == 1 && t->flags == tsr_fresh_flags &&
           t->base == NULL && t->offset == 0 && s->refcount == 1 && s->allocator != NULL && !s->readonly &&
           s->id == 0 && s->version.value == 0 && t->version == &s->version &&
           s->nbytes == (uint64_t)t->numel * tsr_dtypes[t->dtype].itemsize;
}

/* One flat operation: operand k starts at data[k], steps stride[k] bytes. */
typedef struct Flat {
    TsrLoop loop, second; /* `second` (or NULL) runs in place over the result of the first, with operand 2 */
    const void *params;
    char *data[3];
    int64_t stride[3];
} Flat;

static void run_flat(int64_t begin, int64_t end, void *user) {
    const Flat *f = user;
    char *at[3] = {f->data[0] + begin * f->stride[0], f->data[1] + begin * f->stride[1],
                   f->data[2] + begin * f->stride[2]};
    f->loop(at, f->stride, end - begin, f->params);
    if (f->second == NULL) return;
    char *again[3] = {at[0], at[0], at[2]};
    const int64_t stride[3] = {f->stride[0], f->stride[0], f->stride[2]};
    f->second(again, stride, end - begin, NULL);
}

/* Elements of a block when two loops go over one result: 4096 doubles are 32 KiB, which stays in cache between the
 * loops. */
enum { BLOCK = 4096 };
static void run_blocks(int64_t begin, int64_t end, void *user) {
    for (; begin < end; begin += BLOCK) run_flat(begin, TSR_MIN(begin + BLOCK, end), user);
}

static TsrStatus run(const Flat *f, int64_t n) {
    TsrRangeFn fn = f->second != NULL ? run_blocks : run_flat;
    if (TSR_LIKELY(n <= PARALLEL)) {
        if (n > 0) fn(0, n, (void *)f);
        return TSR_UNLIKELY(tsr_interrupt_own.fault != 0) ? tsr_interrupt_check() : TSR_OK;
    }
    return tsr_parallel_for(n, tsr_grain(1), fn, (void *)f);
}

/* Where the result goes: over a dying operand of its dtype and shape, or fresh. */
static TsrStatus place(TsrTensor **out, const struct Row *row, TsrTensor *shape, TsrTensor *over) {
    if (over != NULL && !row->compares && tsr_fast_reusable(over)) {
        *out = tsr_tensor_retain(over);
        return TSR_OK;
    }
    return tsr_tensor_new(out, shape->ndim_, shape->sizes, row->compares ? TSR_BOOL : shape->dtype, TSR_DEVICE_CPU);
}

/* Runs f into a result of `shape`'s shape. Always true: what failed is in *status. */
static bool finish(TsrTensor **out, TsrStatus *status, const struct Row *row, Flat *f, TsrTensor *shape,
                   TsrTensor *over) {
    TsrTensor *result;
    *status = place(&result, row, shape, over);
    if (*status != TSR_OK) return true;
    f->data[0] = tsr_data(result);
    f->stride[0] = row->compares ? 1 : (int64_t)tsr_dtypes[shape->dtype].itemsize;
    *status = run(f, shape->numel);
    if (*status != TSR_OK) {
        tsr_tensor_free(result);
        return true;
    }
    result->origin = row->name;
    *out = result;
    return true;
}

bool tsr_fast_binary_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrTensor *b, unsigned dying) {
    const struct Row *row = &rows[op];
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) || a->dtype != b->dtype || !is_plain(a, row->dtypes) ||
        !is_plain(b, row->dtypes))
        return false;
    if ((HALVES >> a->dtype & 1) && a->ndim_ != b->ndim_) return false;
    bool left = b->ndim_ == 0 && a->ndim_ != 0, right = a->ndim_ == 0 && b->ndim_ != 0; /* which side has the shape */
    if (!left && !right && !same_shape(a, b)) return false;
    int64_t size = (int64_t)tsr_dtypes[a->dtype].itemsize;
    Flat f = {.loop = tsr_kernel(row->kernel, a->dtype),
              .data = {NULL, tsr_data(a), tsr_data(b)},
              .stride = {0, right ? 0 : size, left ? 0 : size}};
    TsrTensor *over = (dying & TSR_DYING_LEFT) && !right ? a : (dying & TSR_DYING_RIGHT) && !left ? b : NULL;
    if (over == a && a == b) over = NULL;
    else if (over == a && !tsr_fast_reusable(a) && (dying & TSR_DYING_RIGHT) && !left) over = b;
    return finish(out, status, row, &f, right ? b : a, over);
}

/* Writes the number in the tensor's dtype to `value`. False when it would change the result's dtype, or when a half
 * float must not round it first. */
static bool fits(char *value, TsrScalar n, TsrDtype d, TsrFastOp op) {
    if ((n.kind == TSR_SCALAR_BOOL && op == TSR_FAST_SUB) || (HALVES >> d & 1)) return false;
    if (d == TSR_BOOL && n.kind != TSR_SCALAR_BOOL) return false; /* bools & 1 are int64 */
    if (n.kind == TSR_SCALAR_COMPLEX || n.kind == TSR_SCALAR_UINT || (n.kind == TSR_SCALAR_FLOAT && !(FLOATS >> d & 1)))
        return false;
    tsr_scalar_store(n, d, value);
    return true;
}

/* PyTorch takes the roots of float16 by pow, whose root of -inf is inf and of -0 is 0. */
TsrKernel tsr_power_kernel(double exponent, TsrDtype d) {
    const bool brain = d == TSR_BFLOAT16, half = d == TSR_FLOAT16;
    if (exponent == 2) return TSR_K_square;
    if (exponent == 3) return brain ? TSR_K_NONE : TSR_K_cube;
    if (tsr_dtype_is_integral(d)) return TSR_K_NONE;
    if (exponent == -2) return d == TSR_FLOAT32 || d == TSR_FLOAT64 ? TSR_K_rsquare : TSR_K_NONE;
    if (exponent == -0.5) return brain || half ? TSR_K_NONE : TSR_K_rsqrt;
    return exponent == 0.5 && !half ? TSR_K_sqrt : exponent == -1 ? TSR_K_reciprocal : TSR_K_NONE;
}

static bool power_kernel(TsrKernel *k, TsrScalar e, TsrDtype d) {
    const bool real = e.kind == TSR_SCALAR_FLOAT || e.kind == TSR_SCALAR_INT;
    *k = real ? tsr_power_kernel(tsr_scalar_to_double(e), d) : TSR_K_NONE;
    return *k != TSR_K_NONE;
}

bool tsr_fast_number_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrScalar n, bool reversed,
                         unsigned dying) {
    const struct Row *row = &rows[op];
    TsrKernel k = row->kernel;
    _Alignas(16) char value[16] = {0};
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) || !is_plain(a, row->dtypes)) return false;
    if (op == TSR_FAST_POW ? reversed || !power_kernel(&k, n, a->dtype) : !fits(value, n, a->dtype, op)) return false;
    int64_t size = (int64_t)tsr_dtypes[a->dtype].itemsize;
    Flat f = {.data = {NULL, tsr_data(a), value}, .stride = {0, size, 0}};
    if (reversed && op == TSR_FAST_DIV) { /* as PyTorch: the reciprocal, then a product */
        f.loop = tsr_kernel(TSR_K_reciprocal, a->dtype);
        f.second = tsr_kernel(TSR_K_mul, a->dtype);
    } else {
        f.loop = tsr_kernel(k, a->dtype);
        if (reversed) {
            f.data[2] = f.data[1];
            f.data[1] = value;
            f.stride[1] = 0;
            f.stride[2] = size;
        }
    }
    return finish(out, status, row, &f, a, (dying & (reversed ? TSR_DYING_RIGHT : TSR_DYING_LEFT)) ? a : NULL);
}

bool tsr_fast_unary_new(TsrTensor **out, TsrStatus *status, TsrFastOp op, TsrTensor *a, unsigned dying) {
    const struct Row *row = &rows[op];
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) || !is_plain(a, row->dtypes)) return false;
    Flat f = {.loop = tsr_kernel(row->kernel, a->dtype),
              .data = {NULL, tsr_data(a), NULL},
              .stride = {0, (int64_t)tsr_dtypes[a->dtype].itemsize, 0}};
    return finish(out, status, row, &f, a, (dying & TSR_DYING_LEFT) ? a : NULL);
}

/* Runs f over a itself and counts the write. */
static bool finish_inplace(TsrStatus *status, const struct Row *row, Flat *f, TsrTensor *a) {
    f->data[0] = f->data[1] = tsr_data(a);
    f->stride[0] = f->stride[1];
    *status = run(f, a->numel);
    if (*status == TSR_OK) *status = tsr_tensor_written(a, row->inplace);
    return true;
}

bool tsr_fast_inplace(TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrTensor *b) {
    const struct Row *row = &rows[op];
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) || row->compares || a->dtype != b->dtype || !is_plain(a, row->dtypes) ||
        !is_plain(b, row->dtypes))
        return false;
    if (a->storage->readonly || (a != b && a->storage == b->storage) || (b->ndim_ != 0 && !same_shape(a, b)))
        return false;
    if ((HALVES >> a->dtype & 1) && a->ndim_ != b->ndim_) return false;
    int64_t size = (int64_t)tsr_dtypes[a->dtype].itemsize;
    Flat f = {.loop = tsr_kernel(row->kernel, a->dtype),
              .data = {NULL, NULL, tsr_data(b)},
              .stride = {0, size, b->ndim_ == 0 && a->ndim_ != 0 ? 0 : size}};
    return finish_inplace(status, row, &f, a);
}

bool tsr_fast_inplace_number(TsrStatus *status, TsrFastOp op, TsrTensor *a, TsrScalar n) {
    const struct Row *row = &rows[op];
    _Alignas(16) char value[16] = {0};
    if (TSR_UNLIKELY(tsr_trace_hook != NULL) || row->compares || op == TSR_FAST_POW || !is_plain(a, row->dtypes) ||
        a->storage->readonly)
        return false;
    if (!fits(value, n, a->dtype, op)) return false;
    Flat f = {.loop = tsr_kernel(row->kernel, a->dtype),
              .data = {NULL, NULL, value},
              .stride = {0, (int64_t)tsr_dtypes[a->dtype].itemsize, 0}};
    return finish_inplace(status, row, &f, a);
}
