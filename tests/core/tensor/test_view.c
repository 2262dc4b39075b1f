/* view.h: a view is geometry over the storage of its base. Each is compared with the plain formula for the address of
 * each of its elements, over bases of several strides. */
#include "suite.h"

#include <string.h>

#include "core/op.h"
#include "core/tensor.h"
#include "core/view.h"

enum { BASES = 4 };

/* 3 by 4 by 5 numbers that tell their place in storage: contiguous, turned, every second, and from an offset. */
static TsrTensor *base(int kind) {
    TsrTensor *flat, *t;
    int64_t n = 300, sizes[] = {3, 4, 5};
    static const int64_t strides[BASES][3] = {{20, 5, 1}, {1, 3, 12}, {80, 20, 2}, {20, 5, 1}};
    ck_assert_int_eq(tsr_tensor_new(&flat, 1, &n, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < n; i++) ((int64_t *)tsr_data(flat))[i] = i;
    TsrGeometry g = {3, sizes, strides[kind], kind == 3 ? 17 : 0};
    ck_assert_int_eq(tsr_tensor_new_as_strided(&t, flat, g), TSR_OK);
    tsr_tensor_free(flat);
    return t;
}

/* Where an element lies, by the definition of strides; -1 out of range. */
static int64_t place(const TsrTensor *t, const int64_t *index) {
    int64_t at = t->offset;
    for (int d = 0; d < tsr_ndim(t); d++) {
        if (index[d] < 0 || index[d] >= t->sizes[d]) return -1;
        at += index[d] * t->strides[d];
    }
    return at;
}

static bool next(const TsrTensor *t, int64_t *index) {
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        if (++index[d] < t->sizes[d]) return true;
        index[d] = 0;
    }
    return false;
}

/* The index in the base of the element of the view at `index`. */
typedef void (*Origin)(int64_t *of_base, const int64_t *index);

static void check_moved(TsrTensor *a, TsrTensor *v, int ndim, const int64_t *sizes, Origin origin) {
    ck_assert_int_eq(tsr_ndim(v), ndim);
    int64_t numel = 1, index[TSR_MAX_DIMS] = {0}, from[TSR_MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        ck_assert_int_eq(v->sizes[d], sizes[d]);
        numel *= sizes[d];
    }
    ck_assert_int_eq(v->numel, numel);
    ck_assert_ptr_eq(v->storage, a->storage);
    ck_assert_ptr_eq(v->version, a->version);
    ck_assert_int_eq(v->dtype, a->dtype);
    ck_assert_int_eq(tsr_tensor_check(v, false), TSR_OK);
    if (numel > 0) do {
            memset(from, 0, sizeof from);
            origin(from, index);
            ck_assert_int_eq(place(v, index), place(a, from));
        } while (next(v, index));
    tsr_tensor_free(v);
}

#define SIZES(...) \
    TSR_COUNTOF(((int64_t[]){__VA_ARGS__})), (int64_t[]) { __VA_ARGS__ }
/* The view that `make` (writes to &v) gives of each base, against base index o of view index i. */
#define VIEW(name, make, sizes, ...) \
    static void origin_##name(int64_t *o, const int64_t *i) { \
        (void)i; \
        __VA_ARGS__; \
    } \
    START_TEST(name) { \
        for (int kind = 0; kind < BASES; kind++) { \
            TsrTensor *a = base(kind), *v = NULL; \
            int32_t count = tsr_storage_refcount(a->storage); \
            ck_assert_int_eq(make, TSR_OK); \
            ck_assert_int_eq(tsr_storage_refcount(a->storage), count + 1); \
            check_moved(a, v, sizes, origin_##name); \
            ck_assert_int_eq(tsr_storage_refcount(a->storage), count); \
            tsr_tensor_free(a); \
        } \
    } \
    END_TEST

VIEW(alias_is_all, tsr_tensor_new_alias(&v, a), SIZES(3, 4, 5), o[0] = i[0], o[1] = i[1], o[2] = i[2])
VIEW(select_drops_the_dimension, tsr_tensor_new_select(&v, a, 1, 2), SIZES(3, 5), o[0] = i[0], o[1] = 2, o[2] = i[1])
VIEW(select_counts_from_the_end, tsr_tensor_new_select(&v, a, -1, -2), SIZES(3, 4), o[0] = i[0], o[1] = i[1], o[2] = 3)
VIEW(select_takes_the_first, tsr_tensor_new_select(&v, a, 1, 0), SIZES(3, 5), o[0] = i[0], o[1] = 0, o[2] = i[1])
VIEW(select_takes_the_first_from_the_end, tsr_tensor_new_select(&v, a, 1, -4), SIZES(3, 5), o[0] = i[0], o[1] = 0,
     o[2] = i[1])
VIEW(narrow_moves_the_start, tsr_tensor_new_narrow(&v, a, 2, 1, 3), SIZES(3, 4, 3), o[0] = i[0], o[1] = i[1],
     o[2] = i[2] + 1)
VIEW(narrow_of_nothing, tsr_tensor_new_narrow(&v, a, 0, 3, 0), SIZES(0, 4, 5), o[0] = i[0])
VIEW(narrow_from_the_first, tsr_tensor_new_narrow(&v, a, 1, 0, 2), SIZES(3, 2, 5), o[0] = i[0], o[1] = i[1],
     o[2] = i[2])
VIEW(narrow_counts_from_the_end, tsr_tensor_new_narrow(&v, a, 1, -1, 1), SIZES(3, 1, 5), o[0] = i[0], o[1] = 3,
     o[2] = i[2])
VIEW(slice_from_the_first, tsr_tensor_new_slice(&v, a, 1, 0, 3, 1), SIZES(3, 3, 5), o[0] = i[0], o[1] = i[1],
     o[2] = i[2])
VIEW(diagonal_below_all_is_empty, tsr_tensor_new_diagonal(&v, a, -9, 1, 2), SIZES(3, 0), o[0] = i[0])
VIEW(slice_steps, tsr_tensor_new_slice(&v, a, 2, 1, 5, 3), SIZES(3, 4, 2), o[0] = i[0], o[1] = i[1],
     o[2] = 1 + 3 * i[2])
VIEW(slice_clamps_both_ends, tsr_tensor_new_slice(&v, a, 1, -100, 100, 2), SIZES(3, 2, 5), o[0] = i[0], o[1] = 2 * i[1],
     o[2] = i[2])
VIEW(slice_counts_from_the_end, tsr_tensor_new_slice(&v, a, 1, -3, -1, 1), SIZES(3, 2, 5), o[0] = i[0], o[1] = 1 + i[1],
     o[2] = i[2])
VIEW(slice_backwards_is_empty, tsr_tensor_new_slice(&v, a, 0, 2, 1, 1), SIZES(0, 4, 5), o[0] = i[0])
VIEW(slice_to_the_first_is_empty, tsr_tensor_new_slice(&v, a, 1, 0, 0, 1), SIZES(3, 0, 5), o[0] = i[0])
VIEW(transpose_exchanges_two, tsr_tensor_new_transpose(&v, a, 0, -1), SIZES(5, 4, 3), o[0] = i[2], o[1] = i[1],
     o[2] = i[0])
VIEW(permute_takes_dims_in_order, tsr_tensor_new_permute(&v, a, 3, (int64_t[]){2, 0, -2}), SIZES(5, 3, 4), o[2] = i[0],
     o[0] = i[1], o[1] = i[2])
VIEW(unsqueeze_adds_one_in_front, tsr_tensor_new_unsqueeze(&v, a, 0), SIZES(1, 3, 4, 5), o[0] = i[1], o[1] = i[2],
     o[2] = i[3])
VIEW(unsqueeze_adds_one_at_the_end, tsr_tensor_new_unsqueeze(&v, a, -1), SIZES(3, 4, 5, 1), o[0] = i[0], o[1] = i[1],
     o[2] = i[2])
VIEW(squeeze_leaves_what_is_not_one, tsr_tensor_new_squeeze(&v, a, 2, (int64_t[]){0, 1}), SIZES(3, 4, 5), o[0] = i[0],
     o[1] = i[1], o[2] = i[2])
VIEW(squeeze_of_all_leaves_what_is_not_one, tsr_tensor_new_squeeze(&v, a, -1, NULL), SIZES(3, 4, 5), o[0] = i[0],
     o[1] = i[1], o[2] = i[2])
VIEW(expand_adds_dimensions_in_front, tsr_tensor_new_expand(&v, a, 4, (int64_t[]){2, -1, 4, 5}), SIZES(2, 3, 4, 5),
     o[0] = i[1], o[1] = i[2], o[2] = i[3])
VIEW(diagonal_goes_last, tsr_tensor_new_diagonal(&v, a, 1, 0, 2), SIZES(4, 3), o[1] = i[0], o[0] = i[1],
     o[2] = i[1] + 1)
VIEW(diagonal_below, tsr_tensor_new_diagonal(&v, a, -2, 1, 2), SIZES(3, 2), o[0] = i[0], o[1] = i[1] + 2, o[2] = i[1])
VIEW(diagonal_beyond_is_empty, tsr_tensor_new_diagonal(&v, a, 9, 1, 2), SIZES(3, 0), o[0] = i[0])
VIEW(diagonal_ends_with_the_second_dimension, tsr_tensor_new_diagonal(&v, a, 3, 0, 2), SIZES(4, 2), o[0] = i[1],
     o[1] = i[0], o[2] = i[1] + 3)
VIEW(diagonal_ends_with_the_first_dimension, tsr_tensor_new_diagonal(&v, a, -1, 0, 2), SIZES(4, 2), o[0] = i[1] + 1,
     o[1] = i[0], o[2] = i[1])
VIEW(unfold_overlaps, tsr_tensor_new_unfold(&v, a, 2, 3, 2), SIZES(3, 4, 2, 3), o[0] = i[0], o[1] = i[1],
     o[2] = 2 * i[2] + i[3])
VIEW(unfold_takes_all, tsr_tensor_new_unfold(&v, a, 1, 4, 7), SIZES(3, 1, 5, 4), o[0] = i[0], o[1] = i[3], o[2] = i[2])
VIEW(unfold_of_nothing, tsr_tensor_new_unfold(&v, a, 1, 0, 2), SIZES(3, 3, 5, 0), o[0] = i[0])
VIEW(splitting_a_dimension_is_a_view, tsr_tensor_new_reshaped_view(&v, a, 4, (int64_t[]){3, 2, -1, 5}),
     SIZES(3, 2, 2, 5), o[0] = i[0], o[1] = 2 * i[1] + i[2], o[2] = i[3])

static int64_t value(const TsrTensor *t, int64_t i) { return tsr_scalar_to_int(tsr_tensor_get(t, i)); }

START_TEST(ones_are_squeezed_and_expanded) {
    TsrTensor *a = base(1), *v, *w;
    ck_assert_int_eq(tsr_tensor_new_narrow(&v, a, 1, 2, 1), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_squeeze(&w, v, 1, (int64_t[]){1}), TSR_OK);
    ck_assert_int_eq(tsr_ndim(w), 2);
    ck_assert_int_eq(value(w, 1), place(v, (int64_t[]){0, 0, 1}));
    tsr_tensor_free(w);
    ck_assert_int_eq(tsr_tensor_new_squeeze(&w, v, -1, NULL), TSR_OK);
    ck_assert_int_eq(tsr_ndim(w), 2);
    ck_assert_int_eq(w->strides[1], v->strides[2]);
    tsr_tensor_free(w);
    ck_assert_int_eq(tsr_tensor_new_squeeze(&w, v, 0, NULL), TSR_OK); /* no dimension is named */
    ck_assert_int_eq(tsr_ndim(w), 3);
    tsr_tensor_free(w);
    ck_assert_int_eq(tsr_tensor_new_expand(&w, v, 3, (int64_t[]){3, 6, 5}), TSR_OK);
    ck_assert_int_eq(w->strides[1], 0);
    ck_assert_int_eq(w->strides[2], v->strides[2]);
    for (int64_t k = 0; k < 6; k++) ck_assert_int_eq(place(w, (int64_t[]){2, k, 4}), place(v, (int64_t[]){2, 0, 4}));
    tsr_tensor_free(w), tsr_tensor_free(v), tsr_tensor_free(a);
}
END_TEST

/* As PyTorch has it: that of the dimension behind times its size. */
START_TEST(a_dimension_of_one_has_a_stride) {
    TsrTensor *a = base(2), *v;
    ck_assert_int_eq(tsr_tensor_new_unsqueeze(&v, a, 1), TSR_OK);
    ck_assert_mem_eq(v->strides, ((int64_t[]){80, 80, 20, 2}), 4 * sizeof *v->strides);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_unsqueeze(&v, a, 2), TSR_OK);
    ck_assert_mem_eq(v->strides, ((int64_t[]){80, 20, 10, 2}), 4 * sizeof *v->strides);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_unsqueeze(&v, a, 3), TSR_OK);
    ck_assert_mem_eq(v->strides, ((int64_t[]){80, 20, 2, 1}), 4 * sizeof *v->strides);
    tsr_tensor_free(v), tsr_tensor_free(a);
}
END_TEST

START_TEST(merging_is_a_view_only_where_strides_allow) {
    for (int kind = 0; kind < BASES; kind++) {
        TsrTensor *a = base(kind), *v = NULL, *r = NULL;
        bool merges = kind == 0 || kind == 3;
        TsrStatus status = tsr_tensor_new_reshaped_view(&v, a, 2, (int64_t[]){3, 20});
        ck_assert_int_eq(status, merges ? TSR_OK : TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_tensor_new_reshape(&r, a, 2, (int64_t[]){3, 20}), TSR_OK);
        ck_assert_int_eq(r->storage == a->storage, merges);
        int64_t index[3] = {0};
        for (int64_t i = 0; i < 60; i++, next(a, index)) { /* the same elements in row-major order */
            ck_assert_int_eq(value(r, i), place(a, index));
            if (v != NULL) ck_assert_int_eq(value(v, i), place(a, index));
        }
        tsr_tensor_free(v), tsr_tensor_free(r), tsr_tensor_free(a);
    }
}
END_TEST

#define REFUSES(kind, call) \
    do { \
        v = NULL; \
        ck_assert_int_eq(call, kind); \
        ck_assert_ptr_null(v); \
    } while (0)
START_TEST(what_is_out_of_range_is_refused) {
    TsrTensor *a = base(0), *v;
    int32_t count = tsr_storage_refcount(a->storage);
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_select(&v, a, 0, 3));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_select(&v, a, 0, -4));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_select(&v, a, 3, 0));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_narrow(&v, a, 0, 4, 0));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_narrow(&v, a, 0, -4, 0));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_narrow(&v, a, 0, 2, 2));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_narrow(&v, a, 0, 0, -1));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_slice(&v, a, 0, 0, 3, 0));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_slice(&v, a, 0, 0, 3, -1));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_transpose(&v, a, 0, 3));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_permute(&v, a, 3, (int64_t[]){0, 1, 1}));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_permute(&v, a, 2, (int64_t[]){0, 1}));
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_unsqueeze(&v, a, 4));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_expand(&v, a, 3, (int64_t[]){3, 4, 6}));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_expand(&v, a, 2, (int64_t[]){4, 5}));
    ck_assert_str_eq(tsr_error_message(), "expand(torch.LongTensor{[3, 4, 5]}, size=[4, 5]): the number of sizes "
                                          "provided (2) must be greater or equal to the number of dimensions in the "
                                          "tensor (3)");
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_diagonal(&v, a, 0, 1, 1));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_unfold(&v, a, 2, 6, 1));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_unfold(&v, a, 2, 2, 0));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_reshaped_view(&v, a, 2, (int64_t[]){7, 9}));
    ck_assert_int_eq(tsr_storage_refcount(a->storage), count);
    tsr_tensor_free(a);
}
END_TEST

/* Its dimensions but the first and the last have one element. */
START_TEST(the_most_dimensions_are_kept) {
    TsrTensor *flat = base(0), *a, *v;
    int64_t sizes[TSR_MAX_DIMS], strides[TSR_MAX_DIMS], reversed[TSR_MAX_DIMS], index[TSR_MAX_DIMS] = {0};
    enum { LAST = TSR_MAX_DIMS - 1 };
    for (int d = 0; d <= LAST; d++) sizes[d] = 1, strides[d] = 10 + d, reversed[d] = LAST - d;
    sizes[0] = 2, sizes[LAST] = 3;
    ck_assert_int_eq(tsr_tensor_new_as_strided(&a, flat, (TsrGeometry){TSR_MAX_DIMS, sizes, strides, 5}), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_select(&v, a, 0, 1), TSR_OK);
    ck_assert_int_eq(tsr_ndim(v), LAST);
    ck_assert_int_eq(v->offset, 15);
    ck_assert_int_eq(v->strides[LAST - 1], 10 + LAST);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_narrow(&v, a, -1, 1, 2), TSR_OK);
    index[0] = index[LAST] = 1;
    ck_assert_int_eq(place(v, index), 5 + 10 + 2 * (10 + LAST));
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_permute(&v, a, TSR_MAX_DIMS, reversed), TSR_OK);
    ck_assert_int_eq(place(v, index), place(a, index));
    ck_assert_int_eq(v->sizes[0], 3);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_squeeze(&v, a, -1, NULL), TSR_OK);
    ck_assert_int_eq(tsr_ndim(v), 2);
    ck_assert_int_eq(place(v, (int64_t[]){1, 1}), place(a, index));
    tsr_tensor_free(v);
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_unsqueeze(&v, a, 0));
    ck_assert_str_eq(tsr_error_message(), "too many dimensions: 129, the most is 128");
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_unfold(&v, a, 0, 1, 1));
    ck_assert_str_eq(tsr_error_message(), "too many dimensions: 129, the most is 128");
    tsr_tensor_free(a), tsr_tensor_free(flat);
}
END_TEST

/* A tensor without dimensions has one element, which counts as one dimension of it where a window is taken. */
START_TEST(views_of_no_dimension) {
    TsrTensor *a, *v;
    ck_assert_int_eq(tsr_tensor_new(&a, 0, NULL, TSR_INT32, TSR_DEVICE_CPU), TSR_OK);
    REFUSES(TSR_INDEX_ERROR, tsr_tensor_new_select(&v, a, 0, 0));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_narrow(&v, a, 0, 0, 1));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_slice(&v, a, 0, 0, 1, 1));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_view_dtype(&v, a, TSR_INT16));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_view_dtype(&v, a, TSR_INT64));
    ck_assert_int_eq(tsr_tensor_new_view_dtype(&v, a, TSR_FLOAT32), TSR_OK);
    ck_assert_int_eq(v->dtype, TSR_FLOAT32);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_unfold(&v, a, 0, 1, 1), TSR_OK);
    ck_assert_int_eq(tsr_ndim(v), 1);
    ck_assert_int_eq(v->sizes[0], 1);
    ck_assert_int_eq(v->strides[0], 1);
    tsr_tensor_free(v);
    ck_assert_int_eq(tsr_tensor_new_unsqueeze(&v, a, -1), TSR_OK);
    ck_assert_int_eq(v->strides[0], 1);
    tsr_tensor_free(v), tsr_tensor_free(a);
}
END_TEST

START_TEST(parts_of_complex_numbers_are_views) {
    TsrTensor *c, *re, *im, *conj, *back;
    int64_t n = 3;
    ck_assert_int_eq(tsr_tensor_new(&c, 1, &n, TSR_COMPLEX64, TSR_DEVICE_CPU), TSR_OK);
    for (int i = 0; i < 6; i++) ((float *)tsr_data(c))[i] = (float)(i + 1);
    ck_assert_int_eq(tsr_tensor_new_real(&re, c), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_imag(&im, c), TSR_OK);
    ck_assert_int_eq(re->dtype, TSR_FLOAT32);
    for (int64_t i = 0; i < 3; i++) {
        ck_assert_double_eq(tsr_tensor_get(re, i).f, (double)(2 * i + 1));
        ck_assert_double_eq(tsr_tensor_get(im, i).f, (double)(2 * i + 2));
    }
    ck_assert_int_eq(tsr_tensor_new_conj(&conj, c), TSR_OK);
    ck_assert_ptr_eq(conj->storage, c->storage);
    ck_assert_double_eq(tsr_tensor_get(conj, 1).c.im, -4);
    ck_assert_int_eq(tsr_tensor_new_conj(&back, conj), TSR_OK);
    ck_assert_double_eq(tsr_tensor_get(back, 1).c.im, 4);
    tsr_tensor_free(back);
    ck_assert_int_eq(tsr_tensor_new_imag(&back, conj), TSR_OK);
    ck_assert_double_eq(tsr_tensor_get(back, 2).f, -6);
    tsr_tensor_free(back), tsr_tensor_free(re), tsr_tensor_free(im), tsr_tensor_free(conj), tsr_tensor_free(c);
}
END_TEST

START_TEST(the_same_view_is_told_from_others) {
    TsrTensor *a = base(0), *b = base(0), *alias, *part, *turned, *shorter;
    ck_assert_int_eq(tsr_tensor_new_alias(&alias, a), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_narrow(&part, a, 0, 1, 2), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_transpose(&turned, a, 0, 1), TSR_OK);
    ck_assert(tsr_is_same_view(a, a) && tsr_is_same_view(a, alias));
    ck_assert(!tsr_is_same_view(a, b) && !tsr_is_same_view(a, part) && !tsr_is_same_view(a, turned));
    ck_assert_int_eq(tsr_tensor_new_narrow(&shorter, a, 2, 0, 4), TSR_OK); /* the last size alone is another */
    ck_assert(!tsr_is_same_view(a, shorter));
    tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(alias), tsr_tensor_free(part), tsr_tensor_free(turned);
    tsr_tensor_free(shorter);
}
END_TEST

START_TEST(what_overlaps_elsewhere_is_told) {
    TsrTensor *a = base(0), *b = base(0), *alias, *front, *back;
    ck_assert_int_eq(tsr_tensor_new_alias(&alias, a), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_narrow(&front, a, 0, 0, 2), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_narrow(&back, a, 0, 1, 2), TSR_OK);
    ck_assert(tsr_overlaps_elsewhere(front, back) && tsr_overlaps_elsewhere(a, back));
    ck_assert(!tsr_overlaps_elsewhere(a, alias) && !tsr_overlaps_elsewhere(a, b)); /* at the same places; nowhere */
    tsr_tensor_free(front);
    ck_assert_int_eq(tsr_tensor_new_narrow(&front, a, 0, 0, 1), TSR_OK);
    ck_assert(!tsr_overlaps_elsewhere(front, back));
    tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(alias), tsr_tensor_free(front), tsr_tensor_free(back);
}
END_TEST

START_TEST(bytes_are_seen_as_another_dtype) {
    TsrTensor *a = base(3), *v, *wide;
    ck_assert_int_eq(tsr_tensor_new_view_dtype(&v, a, TSR_INT16), TSR_OK);
    ck_assert_int_eq(v->sizes[2], 20);
    ck_assert_int_eq(v->strides[0], 80);
    ck_assert_int_eq(v->strides[2], 1);
    ck_assert_int_eq(v->offset, 68);
    ck_assert_int_eq(value(v, 0), 17);
    ck_assert_int_eq(value(v, 4), 18);
    ck_assert_int_eq(tsr_tensor_new_view_dtype(&wide, v, TSR_INT64), TSR_OK);
    ck_assert_int_eq(wide->sizes[2], 5);
    ck_assert_int_eq(wide->offset, 17);
    ck_assert_int_eq(value(wide, 59), 76);
    tsr_tensor_free(wide), tsr_tensor_free(v), tsr_tensor_free(a);
    a = base(1); /* elements of the same size: whatever the strides are */
    ck_assert_int_eq(tsr_tensor_new_view_dtype(&v, a, TSR_FLOAT64), TSR_OK);
    ck_assert_mem_eq(v->strides, a->strides, 3 * sizeof *a->strides);
    ck_assert_int_eq(v->offset, a->offset);
    tsr_tensor_free(v);
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_view_dtype(&v, a, TSR_INT32));
    REFUSES(TSR_RUNTIME_ERROR, tsr_tensor_new_view_dtype(&v, a, TSR_COMPLEX128));
    tsr_tensor_free(a);
}
END_TEST

TEST_SUITE(view, select_takes_the_first, select_takes_the_first_from_the_end, slice_to_the_first_is_empty,
           diagonal_ends_with_the_second_dimension, diagonal_ends_with_the_first_dimension, unfold_takes_all,
           unfold_of_nothing, squeeze_of_all_leaves_what_is_not_one, the_most_dimensions_are_kept,
           views_of_no_dimension, what_overlaps_elsewhere_is_told, a_dimension_of_one_has_a_stride,
           narrow_from_the_first, narrow_counts_from_the_end, slice_from_the_first, diagonal_below_all_is_empty,
           the_same_view_is_told_from_others, alias_is_all, select_drops_the_dimension, select_counts_from_the_end,
           narrow_moves_the_start, narrow_of_nothing, slice_steps, slice_clamps_both_ends, slice_counts_from_the_end,
           slice_backwards_is_empty, transpose_exchanges_two, permute_takes_dims_in_order, unsqueeze_adds_one_in_front,
           unsqueeze_adds_one_at_the_end, squeeze_leaves_what_is_not_one, expand_adds_dimensions_in_front,
           diagonal_goes_last, diagonal_below, diagonal_beyond_is_empty, unfold_overlaps,
           splitting_a_dimension_is_a_view, ones_are_squeezed_and_expanded, merging_is_a_view_only_where_strides_allow,
           what_is_out_of_range_is_refused, parts_of_complex_numbers_are_views, bytes_are_seen_as_another_dtype)
