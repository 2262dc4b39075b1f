/* layout.h and overlap.c: pure geometry. Overlap is compared with counting addresses one by one. */
#include "suite.h"

#include <string.h>

#include "core/layout.h"

static uint32_t random_below(uint32_t n) {
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * n) >> 32);
}

START_TEST(contiguous_strides_count_empty_dimensions_as_one) {
    int64_t strides[3];
    tsr_layout_contiguous_strides(strides, 3, (int64_t[]){2, 0, 4});
    ck_assert_int_eq(strides[0], 4);
    ck_assert_int_eq(strides[1], 4);
    ck_assert_int_eq(strides[2], 1);
}
END_TEST

START_TEST(numel_refuses_negative_sizes_and_overflow) {
    int64_t n;
    ck_assert_int_eq(tsr_layout_numel(&n, 2, (int64_t[]){2, 3}), TSR_OK);
    ck_assert_int_eq(n, 6);
    ck_assert_int_eq(tsr_layout_numel(&n, 1, (int64_t[]){-1}), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "Trying to create tensor with negative dimension -1: [-1]");
    int64_t huge[] = {INT64_C(1) << 40, INT64_C(1) << 40, 0};
    ck_assert_int_eq(tsr_layout_numel(&n, 3, huge), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "Storage size calculation overflowed with sizes=[1099511627776, 1099511627776, 0]");
}
END_TEST

START_TEST(view_strides_of_a_transpose) {
    int64_t sizes[] = {3, 2}, strides[] = {1, 3}, out[3];
    ck_assert(!tsr_layout_view_strides(out, 1, (int64_t[]){6}, (TsrGeometry){2, sizes, strides, 0}));
    ck_assert_int_eq(tsr_layout_unmergeable_dim(1, (int64_t[]){6}, (TsrGeometry){2, sizes, strides, 0}), 0);
    ck_assert(tsr_layout_view_strides(out, 3, (int64_t[]){3, 1, 2}, (TsrGeometry){2, sizes, strides, 0}));
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[2], 3);
}
END_TEST

START_TEST(infer_size_fills_one_gap) {
    int64_t out[3];
    ck_assert_int_eq(tsr_layout_infer_size(out, 2, (int64_t[]){-1, 3}, 6), TSR_OK);
    ck_assert_int_eq(out[0], 2);
    ck_assert_int_eq(tsr_layout_infer_size(out, 2, (int64_t[]){-1, 4}, 6), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "shape '[-1, 4]' is invalid for input of size 6");
    ck_assert_int_eq(tsr_layout_infer_size(out, 2, (int64_t[]){-1, -1}, 6), TSR_RUNTIME_ERROR);
    ck_assert_int_eq(tsr_layout_infer_size(out, 2, (int64_t[]){-1, 0}, 0), TSR_RUNTIME_ERROR);
}
END_TEST

START_TEST(dense_strides_follow_the_order_of_gapped_ones) {
    int64_t out[3];
    tsr_layout_dense_strides_like(out, 3, (int64_t[]){2, 3, 4}, (int64_t[]){1, 20, 4});
    ck_assert_int_eq(out[0], 1);
    ck_assert_int_eq(out[2], 2);
    ck_assert_int_eq(out[1], 8);
}
END_TEST

START_TEST(channels_last_is_told_from_row_major) {
    int64_t sizes[] = {2, 3, 4, 5}, strides[4];
    tsr_layout_channels_last_strides(strides, 4, sizes);
    ck_assert(tsr_layout_is_channels_last(4, sizes, strides));
    ck_assert(tsr_layout_is_channels_last_strides(4, sizes, strides));
    ck_assert(!tsr_layout_is_contiguous(4, sizes, strides));
    ck_assert(tsr_layout_is_non_overlapping_and_dense(4, sizes, strides));
    tsr_layout_contiguous_strides(strides, 4, sizes);
    ck_assert(!tsr_layout_is_channels_last_strides(4, sizes, strides));
}
END_TEST

START_TEST(broadcast_names_the_dimension) {
    int64_t shape[64] = {2, 1};
    int n = 2;
    ck_assert_int_eq(tsr_layout_broadcast(shape, &n, (int64_t[]){4, 1, 3}, 3), TSR_OK);
    ck_assert_int_eq(n, 3);
    ck_assert_int_eq(shape[1], 2);
    ck_assert_int_eq(tsr_layout_broadcast(shape, &n, (int64_t[]){5, 1, 1}, 3), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "The size of tensor a (4) must match the size of tensor b (5) at non-singleton dimension 0");
}
END_TEST

/* --- overlap against brute force --- */

enum { SPAN = 4096 };
typedef struct Random {
    int64_t sizes[4], strides[4];
    TsrFootprint g;
} Random;

static void random_geometry(Random *r, int64_t itemsize) {
    r->g.at.ndim = (int)random_below(5);
    for (int i = 0; i < r->g.at.ndim; i++) {
        r->sizes[i] = 1 + random_below(4);
        r->strides[i] = random_below(3) == 0 ? random_below(40) : random_below(9);
    }
    r->g.at.sizes = r->sizes;
    r->g.at.strides = r->strides;
    r->g.at.offset = random_below(60);
    r->g.itemsize = itemsize;
}

/* Counts how often each byte is an element's first; marks all bytes. Returns whether an element repeats. */
static bool mark(const TsrFootprint *g, unsigned char *bytes) {
    static unsigned char starts[SPAN];
    int64_t index[4] = {0};
    bool repeats = false;
    memset(starts, 0, sizeof starts);
    for (;;) {
        int64_t at = g->at.offset;
        for (int i = 0; i < g->at.ndim; i++) at += index[i] * g->at.strides[i];
        at *= g->itemsize;
        repeats |= starts[at]++ != 0;
        memset(bytes + at, 1, (size_t)g->itemsize);
        int d = g->at.ndim - 1;
        for (; d >= 0 && ++index[d] == g->at.sizes[d]; d--) index[d] = 0;
        if (d < 0) return repeats;
    }
}

static int64_t address(const TsrFootprint *g, const int64_t *index) {
    int64_t at = g->at.offset;
    for (int i = 0; i < g->at.ndim; i++) {
        ck_assert(index[i] >= 0 && index[i] < g->at.sizes[i]);
        at += index[i] * g->at.strides[i];
    }
    return at * g->itemsize;
}

START_TEST(overlap_agrees_with_brute_force) {
    static const int64_t itemsizes[] = {1, 2, 4, 8};
    for (int round = 0; round < 20000; round++) {
        static unsigned char first[SPAN], second[SPAN];
        Random a, b;
        int64_t ia[4], ib[4];
        bool known, want = false;
        random_geometry(&a, itemsizes[random_below(4)]);
        random_geometry(&b, random_below(2) ? a.g.itemsize : itemsizes[random_below(4)]);
        memset(first, 0, sizeof first);
        memset(second, 0, sizeof second);
        ck_assert_int_eq(mark(&a.g, first), tsr_layout_has_internal_overlap(&a.g.at));
        mark(&b.g, second);
        for (int i = 0; i < SPAN; i++) want |= first[i] && second[i];
        ck_assert_int_eq(tsr_layout_overlap(&a.g, &b.g, ia, ib, &known), want);
        ck_assert(known);
        if (!want) continue;
        int64_t x = address(&a.g, ia), y = address(&b.g, ib);
        ck_assert(x < y + b.g.itemsize && y < x + a.g.itemsize);
    }
}
END_TEST

START_TEST(interleaved_views_do_not_overlap) {
    int64_t n = INT64_C(1) << 40, two = 2;
    TsrFootprint even = {{1, &n, &two, 0}, 4}, odd = {{1, &n, &two, 1}, 4};
    bool known;
    ck_assert(!tsr_layout_overlap(&even, &odd, NULL, NULL, &known));
    ck_assert(known);
}
END_TEST

START_TEST(hostile_geometry_ends) {
    int64_t sizes[10], strides[10];
    for (int i = 0; i < 10; i++) {
        sizes[i] = 100003;
        strides[i] = 1000000007 + 2 * i * i + i;
    }
    TsrFootprint a = {{10, sizes, strides, 0}, 4}, b = {{10, sizes, strides, 1}, 4};
    bool known = true;
    (void)tsr_layout_overlap(&a, &b, NULL, NULL, &known);
    ck_assert_msg(!known, "the search is bounded: it gives up here");
    ck_assert_msg(tsr_layout_has_internal_overlap(&a.at), "what is not known counts as overlap");
}
END_TEST

TEST_SUITE(layout, contiguous_strides_count_empty_dimensions_as_one, numel_refuses_negative_sizes_and_overflow,
           view_strides_of_a_transpose, infer_size_fills_one_gap, dense_strides_follow_the_order_of_gapped_ones,
           channels_last_is_told_from_row_major, broadcast_names_the_dimension, overlap_agrees_with_brute_force,
           interleaved_views_do_not_overlap, hostile_geometry_ends)
