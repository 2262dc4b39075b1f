/* copy.c (view.h): elements from any geometry to any other arrive as one by one, and no byte between them is touched.
 */
#include "suite.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "core/some_tensors.h"

/* --- the plain way: a buffer as it has to be afterwards --- */

/* A copy of all bytes of t's storage; the caller's. */
static char *kept_bytes(const TsrTensor *t) {
    char *bytes = tsr_malloc(t->storage->nbytes);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, tsr_storage_data(t->storage), t->storage->nbytes);
    return bytes;
}

/* The place of the i-th element in row-major order, in elements of its storage. */
static int64_t place(const TsrTensor *t, int64_t i) {
    int64_t at = t->offset;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        at += i % t->sizes[d] * t->strides[d];
        i /= t->sizes[d];
    }
    return at;
}

/* What the memory of an element of t has to hold for t to have that value there. */
static void store_seen(const TsrTensor *t, TsrScalar value, char *to) {
    if (t->flags & TSR_FLAG_CONJ) {
        double im = value.kind == TSR_SCALAR_COMPLEX ? value.c.im : 0;
        value = tsr_scalar_complex(tsr_scalar_to_double(value), -im);
    }
    if (t->flags & TSR_FLAG_NEG) value = tsr_scalar_float(-tsr_scalar_to_double(value));
    tsr_scalar_store(value, t->dtype, to);
}

static void expect_copy(char *bytes, const TsrTensor *dst, const TsrTensor *src) {
    int64_t item = (int64_t)tsr_itemsize(dst);
    for (int64_t i = 0; i < dst->numel; i++) store_seen(dst, tsr_tensor_get(src, i), bytes + place(dst, i) * item);
}

static void check_bytes(const char *want, const TsrTensor *t, const char *what, int round) {
    const char *got = tsr_storage_data(t->storage);
    for (size_t i = 0; i < t->storage->nbytes; i++)
        if (got[i] != want[i])
            ck_abort_msg("%s %d: byte %zu of %" PRIu64 " is %d, not %d (%s)", what, round, i, t->storage->nbytes,
                         got[i], want[i], tsr_dtype_name(t->dtype));
}

/* --- any geometry --- */

static TsrDtype some_dtype(void) {
    static const TsrDtype dtypes[] = {TSR_UINT8,   TSR_INT16,   TSR_BFLOAT16,  TSR_FLOAT32,
                                      TSR_FLOAT64, TSR_INT64,   TSR_COMPLEX64, TSR_COMPLEX128,
                                      TSR_BOOL,    TSR_FLOAT16, TSR_INT32,     TSR_COMPLEX32};
    return dtypes[below(TSR_COUNTOF(dtypes))];
}

/* Shapes that meet each way of copying: a few elements, blocks, blocks of two or three layers, bands of short lines,
 * long lines. */
static int some_shape(int64_t *shape) {
    switch (below(10)) {
    case 0: return shape[0] = 1 + below(3), shape[1] = 8 + below(90), shape[2] = 4 + below(120), 3;
    case 1: return shape[0] = 4 + below(60), shape[1] = 8 + below(60), shape[2] = 2 + below(2), 3;
    case 2: return shape[0] = 300 + below(900), shape[1] = 2 + below(6), 2;
    case 3: return shape[0] = 1 + below(40000), 1;
    case 4: return shape[0] = 2, shape[1] = 1000 + below(200), shape[2] = 8 + below(30), 3;
    default: {
        int ndim = (int)below(6);
        for (int d = 0; d < ndim; d++) shape[d] = 1 + below(5);
        return ndim;
    }
    }
}

/* Sometimes a lazily conjugated or negated view of it; takes t. */
static TsrTensor *flagged_move(TsrTensor *t) {
    TsrTensor *v = NULL, *im = NULL;
    if (!tsr_dtype_is_complex(t->dtype) || below(2) == 0) return t;
    ck_assert_int_eq(tsr_tensor_new_conj(&v, t), TSR_OK);
    tsr_tensor_free(t);
    if (below(2) == 0) return v;
    ck_assert_int_eq(tsr_tensor_new_imag(&im, v), TSR_OK);
    tsr_tensor_free(v);
    return im;
}

START_TEST(copies_agree_with_one_by_one) {
    for (int round = 0; round < 1200; round++) {
        int64_t shape[8];
        int ndim = some_shape(shape);
        tsr_set_num_threads(1 + (int)below(3));
        TsrDtype d = some_dtype();
        TsrTensor *src = flagged_move(new_strided_tensor(ndim, shape, d)),
                  *dst = flagged_move(new_strided_tensor(ndim, shape, below(2) ? d : some_dtype()));
        char *want = kept_bytes(dst);
        expect_copy(want, dst, src);
        ck_assert_int_eq(tsr_tensor_copy(dst, src), TSR_OK);
        check_bytes(want, dst, "copy", round);
        tsr_free(want);
        tsr_tensor_free(src), tsr_tensor_free(dst);
    }
}
END_TEST

START_TEST(broadcast_copies_agree_with_one_by_one) {
    for (int round = 0; round < 600; round++) {
        int64_t shape[8], sizes[8];
        int ndim = some_shape(shape), drop = ndim > 0 ? (int)below((uint32_t)ndim + 1) : 0;
        for (int d = drop; d < ndim; d++) sizes[d - drop] = below(3) == 0 ? 1 : shape[d];
        TsrTensor *src = new_strided_tensor(ndim - drop, sizes, some_dtype()), *wide = NULL,
                  *dst = new_strided_tensor(ndim, shape, below(2) ? src->dtype : some_dtype());
        char *want = kept_bytes(dst);
        ck_assert_int_eq(tsr_tensor_new_expand(&wide, src, ndim, shape), TSR_OK);
        expect_copy(want, dst, wide);
        ck_assert_int_eq(tsr_tensor_copy(dst, src), TSR_OK);
        check_bytes(want, dst, "broadcast", round);
        tsr_free(want);
        tsr_tensor_free(src), tsr_tensor_free(dst), tsr_tensor_free(wide);
    }
}
END_TEST

/* As flip(): the source is read from its ends. */
START_TEST(flipped_copies_agree_with_one_by_one) {
    for (int round = 0; round < 400; round++) {
        int64_t shape[8];
        int ndim = some_shape(shape);
        uint64_t dims = ndim > 0 ? 1 + below((1u << ndim) - 1) : 0;
        TsrDtype d = some_dtype();
        TsrTensor *src = new_strided_tensor(ndim, shape, d), *dst = new_strided_tensor(ndim, shape, d);
        char *want = kept_bytes(dst);
        for (int64_t i = 0; i < dst->numel; i++) {
            int64_t from = 0, rest = i, step = 1;
            for (int k = ndim - 1; k >= 0; k--) {
                int64_t index = rest % shape[k];
                from += (dims >> k & 1 ? shape[k] - 1 - index : index) * step;
                rest /= shape[k];
                step *= shape[k];
            }
            tsr_scalar_store(tsr_tensor_get(src, from), d, want + place(dst, i) * (int64_t)tsr_itemsize(dst));
        }
        ck_assert_int_eq(tsr_tensor_copy_flipped(dst, src, dims), TSR_OK);
        check_bytes(want, dst, "flipped", round);
        tsr_free(want);
        tsr_tensor_free(src), tsr_tensor_free(dst);
    }
}
END_TEST

START_TEST(fills_write_every_element_and_nothing_else) {
    for (int round = 0; round < 500; round++) {
        int64_t shape[8];
        int ndim = some_shape(shape);
        TsrTensor *t = flagged_move(new_strided_tensor(ndim, shape, some_dtype()));
        char *want = kept_bytes(t);
        TsrScalar value = tsr_dtype_is_complex(t->dtype) ? tsr_scalar_complex(3, 5) : tsr_scalar_int(1);
        for (int64_t i = 0; i < t->numel; i++) store_seen(t, value, want + place(t, i) * (int64_t)tsr_itemsize(t));
        ck_assert_int_eq(tsr_tensor_fill(t, value), TSR_OK);
        check_bytes(want, t, "fill", round);
        tsr_free(want);
        tsr_tensor_free(t);
    }
}
END_TEST

/* Blocks of a large transposed copy go past the caches when whole lines are written. */
START_TEST(large_copies_are_right) {
    static const struct {
        int64_t rows, columns;
        TsrDtype dtype;
    } cases[] = {{2048, 1024, TSR_FLOAT32},
                 {1100, 1040, TSR_FLOAT32},
                 {1031, 1025, TSR_INT64},
                 {4096, 1024, TSR_UINT8},
                 {2100, 1024, TSR_INT64}}; /* more than TSR_STREAMED bytes */
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++)
        for (int threads = 1; threads <= 2; threads++) {
            int64_t sizes[] = {cases[i].rows, cases[i].columns}, wrong = 0;
            tsr_set_num_threads(threads);
            TsrTensor *a = new_tensor(2, sizes, cases[i].dtype), *turned = NULL, *copy = NULL, *dense = NULL;
            ck_assert_int_eq(tsr_tensor_new_transpose(&turned, a, 0, 1), TSR_OK);
            ck_assert_int_eq(tsr_tensor_new_clone(&copy, turned, TSR_CONTIGUOUS), TSR_OK);
            ck_assert_int_eq(tsr_tensor_new_clone(&dense, a, TSR_CONTIGUOUS), TSR_OK);
            for (int64_t k = 0; k < a->numel; k++)
                wrong += at(copy, k) != at(a, k % sizes[0] * sizes[1] + k / sizes[0]);
            ck_assert_int_eq(wrong, 0);
            ck_assert_mem_eq(tsr_data(a), tsr_data(dense), (size_t)a->numel * tsr_itemsize(a));
            TsrTensor *all[] = {a, turned, copy, dense};
            for (size_t k = 0; k < TSR_COUNTOF(all); k++) tsr_tensor_free(all[k]);
        }
}
END_TEST

/* Lines whose addresses follow one another closely in other pages are copied from the end. */
START_TEST(lines_a_little_further_in_a_page_are_copied_whole) {
    int64_t n = 30000;
    for (int64_t ahead = 0; ahead < 700; ahead += 29)
        for (int64_t length = 500; length < 9000; length = length * 3 + 17) {
            TsrTensor *whole = new_tensor(1, &n, TSR_UINT8), *to = NULL, *from = NULL;
            ck_assert_int_eq(tsr_tensor_new_narrow(&from, whole, 0, 5, length), TSR_OK);
            ck_assert_int_eq(tsr_tensor_new_narrow(&to, whole, 0, 5 + 3 * 4096 + ahead, length), TSR_OK);
            char *want = kept_bytes(whole);
            memcpy(want + 5 + 3 * 4096 + ahead, want + 5, (size_t)length);
            ck_assert_int_eq(tsr_tensor_copy(to, from), TSR_OK);
            check_bytes(want, whole, "line", (int)ahead);
            tsr_free(want);
            tsr_tensor_free(whole), tsr_tensor_free(to), tsr_tensor_free(from);
        }
}
END_TEST

/* --- overlap: PyTorch's answers --- */

enum { BUFFER = 96 };
typedef struct CopyCase {
    struct {
        int ndim;
        int64_t sizes[4], strides[4], offset;
    } out, in;
    bool accepted;
    float buffer[BUFFER];
} CopyCase;

START_TEST(overlapping_copies_go_in_pytorch_s_order) {
    static const CopyCase cases[] = {
#define STRIDES(...)
#define OVERLAP(...)
#define COPY(...) {__VA_ARGS__},
#include "engine_cases.def"
    };
    for (size_t k = 0; k < TSR_COUNTOF(cases); k++) {
        const CopyCase *c = &cases[k];
        int64_t n = BUFFER;
        TsrTensor *whole = new_tensor(1, &n, TSR_FLOAT32), *out = NULL, *in = NULL;
        float *buffer = tsr_data(whole);
        for (int i = 0; i < BUFFER; i++) buffer[i] = (float)i;
        TsrGeometry g = {c->out.ndim, c->out.sizes, c->out.strides, c->out.offset},
                    h = {c->in.ndim, c->in.sizes, c->in.strides, c->in.offset};
        ck_assert_int_eq(tsr_tensor_new_as_strided(&out, whole, g), TSR_OK);
        ck_assert_int_eq(tsr_tensor_new_as_strided(&in, whole, h), TSR_OK);
        TsrStatus status = tsr_tensor_copy(out, in);
        ck_assert_msg((status == TSR_OK) == c->accepted, "case %zu: status %d", k, (int)status);
        for (int i = 0; i < BUFFER; i++)
            ck_assert_msg(buffer[i] == (c->accepted ? c->buffer[i] : (float)i), "case %zu: element %d is %g", k, i,
                          (double)buffer[i]);
        tsr_tensor_free(whole), tsr_tensor_free(out), tsr_tensor_free(in);
    }
}
END_TEST

START_TEST(a_copy_onto_itself_does_nothing) {
    int64_t sizes[] = {3, 4};
    TsrTensor *x = new_tensor(2, sizes, TSR_FLOAT32), *y = NULL, *wide = NULL;
    ck_assert_int_eq(tsr_tensor_new_alias(&y, x), TSR_OK);
    ck_assert_int_eq(tsr_tensor_copy(y, x), TSR_OK);
    tsr_tensor_free(y);
    ck_assert_int_eq(tsr_tensor_new_select(&y, x, 0, 0), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_expand(&wide, y, 2, sizes), TSR_OK);
    ck_assert_int_eq(tsr_tensor_copy(wide, wide), TSR_OK); /* as in PyTorch, although it overlaps itself */
    ck_assert_int_eq(tsr_tensor_copy(wide, x), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "more than one element of the written-to tensor"));
    tsr_tensor_free(x), tsr_tensor_free(y), tsr_tensor_free(wide);
}
END_TEST

START_TEST(what_does_not_fit_is_refused) {
    TsrTensor *x = new_tensor(2, (int64_t[]){2, 3}, TSR_FLOAT32), *y = new_tensor(1, (int64_t[]){4}, TSR_FLOAT32),
              *row = new_tensor(1, (int64_t[]){3}, TSR_FLOAT32), *words = NULL;
    ck_assert_int_eq(tsr_tensor_copy(x, y), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
    ck_assert_int_eq(tsr_tensor_copy(row, x), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "output with shape [3] doesn't match the broadcast shape [2, 3]");
    TsrTensor *column = new_tensor(2, (int64_t[]){2, 1}, TSR_FLOAT32);
    ck_assert_int_eq(tsr_tensor_copy(column, x), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "output with shape [2, 1] doesn't match the broadcast shape [2, 3]");
    tsr_tensor_free(column);
    ck_assert_int_eq(tsr_tensor_new(&words, 1, (int64_t[]){3}, TSR_STRING, TSR_DEVICE_CPU), TSR_OK);
    ck_assert_int_eq(tsr_tensor_copy(row, words), TSR_TYPE_ERROR);
    ck_assert_int_eq(tsr_tensor_copy(words, row), TSR_TYPE_ERROR);
    ck_assert_int_eq(tsr_tensor_fill(words, tsr_scalar_int(0)), TSR_TYPE_ERROR);
    tsr_tensor_free(x), tsr_tensor_free(y), tsr_tensor_free(row), tsr_tensor_free(words);
}
END_TEST

START_TEST(memory_that_is_only_read_stays) {
    TsrTensor *x = new_tensor(1, (int64_t[]){3}, TSR_FLOAT32), *y = new_tensor(1, (int64_t[]){3}, TSR_FLOAT32);
    char *before = kept_bytes(x);
    x->storage->readonly = true;
    ck_assert_int_eq(tsr_tensor_copy(x, y), TSR_RUNTIME_ERROR);
    ck_assert_ptr_nonnull(strstr(tsr_error_message(), "read-only"));
    ck_assert_int_eq(tsr_tensor_fill(x, tsr_scalar_int(100)), TSR_RUNTIME_ERROR);
    ck_assert_mem_eq(tsr_data(x), before, 3 * sizeof(float));
    ck_assert_int_eq(tsr_tensor_copy(y, x), TSR_OK);
    tsr_free(before), tsr_tensor_free(x), tsr_tensor_free(y);
}
END_TEST

/* Elements with constructors are assigned one by one, whatever the geometries. */
START_TEST(words_are_copied_one_by_one) {
    TsrTensor *x = NULL, *turned = NULL, *y = NULL;
    ck_assert_int_eq(tsr_tensor_new(&x, 2, (int64_t[]){2, 3}, TSR_STRING, TSR_DEVICE_CPU), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new(&y, 2, (int64_t[]){3, 2}, TSR_STRING, TSR_DEVICE_CPU), TSR_OK);
    for (int i = 0; i < 6; i++) {
        TsrString *word = &((TsrString *)tsr_data(x))[i];
        *word = (TsrString){.data = tsr_calloc(1, 2), .length = 1};
        ck_assert_ptr_nonnull(word->data);
        word->data[0] = (char)('a' + i);
    }
    ck_assert_int_eq(tsr_tensor_new_transpose(&turned, x, 0, 1), TSR_OK);
    ck_assert_int_eq(tsr_tensor_copy(y, turned), TSR_OK);
    for (int i = 0; i < 6; i++) ck_assert_int_eq(((TsrString *)tsr_data(y))[i].data[0], "adbecf"[i]);
    tsr_tensor_free(x), tsr_tensor_free(turned), tsr_tensor_free(y);
}
END_TEST

/* --- fresh tensors --- */

START_TEST(clones_have_a_storage_of_their_own) {
    int64_t sizes[] = {2, 3, 4, 5};
    TsrTensor *x = new_tensor(4, sizes, TSR_FLOAT32), *t = NULL, *kept = NULL, *dense = NULL, *last = NULL;
    ck_assert_int_eq(tsr_tensor_new_transpose(&t, x, 0, 2), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_clone(&kept, t, TSR_PRESERVE), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_clone(&dense, t, TSR_CONTIGUOUS), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_clone(&last, t, TSR_CHANNELS_LAST), TSR_OK);
    for (int d = 0; d < 4; d++) ck_assert_int_eq(kept->strides[d], t->strides[d]);
    ck_assert(tsr_is_contiguous(dense, TSR_CONTIGUOUS) && tsr_is_contiguous(last, TSR_CHANNELS_LAST));
    TsrTensor *copies[] = {kept, dense, last};
    for (size_t k = 0; k < TSR_COUNTOF(copies); k++) {
        ck_assert_ptr_ne(copies[k]->storage, x->storage);
        ck_assert_ptr_null(copies[k]->base);
        ck_assert_int_eq(tsr_tensor_refcount(copies[k]), 1);
        for (int64_t i = 0; i < t->numel; i++) ck_assert_double_eq(at(copies[k], i), at(t, i));
        tsr_tensor_free(copies[k]);
    }
    tsr_tensor_free(x), tsr_tensor_free(t);
}
END_TEST

START_TEST(nothing_is_copied_without_need) {
    int64_t sizes[] = {3, 4}, other[] = {2, -1};
    TsrTensor *x = new_tensor(2, sizes, TSR_FLOAT32), *t = NULL, *r = NULL;
    ck_assert_int_eq(tsr_tensor_new_transpose(&t, x, 0, 1), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_contiguous(&r, x, TSR_CONTIGUOUS), TSR_OK);
    ck_assert_ptr_eq(r, x);
    ck_assert_int_eq(tsr_tensor_refcount(x), 2);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_contiguous(&r, t, TSR_PRESERVE), TSR_OK);
    ck_assert_ptr_eq(r, t);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_contiguous(&r, t, TSR_CONTIGUOUS), TSR_OK);
    ck_assert_ptr_ne(r->storage, t->storage);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_cast(&r, t, TSR_FLOAT32), TSR_OK);
    ck_assert_ptr_eq(r, t);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_cast(&r, t, TSR_FLOAT64), TSR_OK);
    ck_assert(r->dtype == TSR_FLOAT64 && r->strides[0] == 1 && r->strides[1] == 4 && at(r, 5) == at(t, 5));
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_resolved(&r, t), TSR_OK);
    ck_assert_ptr_eq(r, t);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_reshape(&r, x, 2, other), TSR_OK);
    ck_assert(r->storage == x->storage && r->sizes[1] == 6);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_reshape(&r, t, 2, other), TSR_OK);
    ck_assert(r->storage != x->storage && r->sizes[1] == 6);
    ck_assert_int_eq(tsr_storage_refcount(r->storage), 1);
    for (int64_t i = 0; i < 12; i++) ck_assert_double_eq(at(r, i), at(t, i));
    tsr_tensor_free(r), tsr_tensor_free(x), tsr_tensor_free(t);
}
END_TEST

START_TEST(conjugate_views_resolve) {
    TsrTensor *z, *c, *im, *r;
    ck_assert_int_eq(tsr_tensor_new_scalar(&z, tsr_scalar_complex(1, 2), TSR_COMPLEX64), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_conj(&c, z), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_imag(&im, c), TSR_OK);
    ck_assert(at(im, 0) == -2);
    ck_assert(im->flags & TSR_FLAG_NEG);
    ck_assert_int_eq(tsr_tensor_new_resolved(&r, c), TSR_OK);
    ck_assert_int_eq(r->flags, 0);
    ck_assert(tsr_tensor_get(r, 0).c.im == -2);
    tsr_tensor_free(r);
    ck_assert_int_eq(tsr_tensor_new_resolved(&r, im), TSR_OK);
    ck_assert_int_eq(r->flags, 0);
    ck_assert_double_eq(*(float *)tsr_data(r), -2);
    ck_assert_int_eq(tsr_tensor_fill(c, tsr_scalar_complex(3, 4)), TSR_OK);
    ck_assert(tsr_tensor_get(z, 0).c.im == -4);
    tsr_tensor_free(z), tsr_tensor_free(c), tsr_tensor_free(im), tsr_tensor_free(r);
}
END_TEST

/* A negated view of integers does not come by itself; who sets the flag gets two's complement. */
START_TEST(negated_integers_wrap) {
    int64_t n = 3;
    TsrTensor *x = new_tensor(1, &n, TSR_INT8), *r = NULL;
    int8_t *p = tsr_data(x);
    p[0] = 5, p[1] = -128, p[2] = 0;
    x->flags |= TSR_FLAG_NEG;
    ck_assert_int_eq(tsr_tensor_new_resolved(&r, x), TSR_OK);
    int8_t *q = tsr_data(r);
    ck_assert(q[0] == -5 && q[1] == -128 && q[2] == 0);
    tsr_tensor_free(x), tsr_tensor_free(r);
}
END_TEST

START_TEST(an_allocation_that_fails_leaves_nothing) {
    int64_t sizes[] = {3, 4}, other[] = {2, 6};
    TsrTensor *x = new_tensor(2, sizes, TSR_FLOAT32), *t = NULL;
    ck_assert_int_eq(tsr_tensor_new_transpose(&t, x, 0, 1), TSR_OK);
    int64_t live = tsr_tensor_live(), bytes = tsr_memory_live();
    for (int way = 0; way < 3; way++)
        for (int64_t n = 1; n < 20; n++) {
            TsrTensor *r = NULL;
            tsr_empty_cache();
            (void)tsr_mem_fail_at(n);
            TsrStatus status = way == 0   ? tsr_tensor_new_clone(&r, t, TSR_CONTIGUOUS)
                               : way == 1 ? tsr_tensor_new_cast(&r, t, TSR_INT64)
                                          : tsr_tensor_new_reshape(&r, t, 2, other);
            (void)tsr_mem_fail_at(0);
            ck_assert((status == TSR_OK) == (r != NULL));
            tsr_tensor_free(r);
            ck_assert_int_eq(tsr_tensor_live(), live);
            ck_assert_int_eq(tsr_memory_live(), bytes);
        }
    tsr_tensor_free(x), tsr_tensor_free(t);
}
END_TEST

TEST_SUITE(copy, copies_agree_with_one_by_one, broadcast_copies_agree_with_one_by_one,
           flipped_copies_agree_with_one_by_one, fills_write_every_element_and_nothing_else, large_copies_are_right,
           lines_a_little_further_in_a_page_are_copied_whole, overlapping_copies_go_in_pytorch_s_order,
           a_copy_onto_itself_does_nothing, what_does_not_fit_is_refused, words_are_copied_one_by_one,
           memory_that_is_only_read_stays, clones_have_a_storage_of_their_own, nothing_is_copied_without_need,
           conjugate_views_resolve, negated_integers_wrap, an_allocation_that_fails_leaves_nothing)
