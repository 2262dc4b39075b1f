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
    ck_assert_int_eq(tsr_layout_numel(&n, 3, (int64_t[]){2, 0, 3}), TSR_OK);
    ck_assert_int_eq(n, 0);
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

/* Of no dimension: one element, seen with any number of dimensions of one, or expanded to all of them. */
START_TEST(one_number_takes_any_shape) {
    int64_t sizes[3], strides[3] = {7, 7, 7};
    TsrGeometry number = {.ndim = 0};
    ck_assert(tsr_layout_view_strides(strides, 2, (int64_t[]){1, 1}, number));
    ck_assert_mem_eq(strides, ((int64_t[]){1, 1, 7}), sizeof strides);
    ck_assert_int_eq(tsr_layout_unmergeable_dim(2, (int64_t[]){1, 1}, number), -1);
    ck_assert_int_eq(tsr_layout_expand(sizes, strides, 2, (int64_t[]){3, 0}, number), TSR_OK);
    ck_assert_mem_eq(sizes, ((int64_t[]){3, 0}), 2 * sizeof *sizes);
    ck_assert_mem_eq(strides, ((int64_t[]){0, 0}), 2 * sizeof *strides);
    ck_assert_int_eq(tsr_layout_expand(sizes, strides, 2, (int64_t[]){-1, 3}, number), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "numel: integer multiplication overflow");
}
END_TEST

/* Without elements the same shape keeps its strides, another one is row-major. */
START_TEST(shapes_without_elements_are_views) {
    int64_t sizes[] = {0, 2, 3}, strides[] = {1, 50, 70}, out[3];
    TsrGeometry g = {3, sizes, strides, 0};
    ck_assert(tsr_layout_view_strides(out, 3, sizes, g));
    ck_assert_mem_eq(out, strides, sizeof out);
    ck_assert(tsr_layout_view_strides(out, 3, (int64_t[]){0, 2, 4}, g));
    ck_assert_mem_eq(out, ((int64_t[]){8, 4, 1}), sizeof out);
    ck_assert_int_eq(tsr_layout_unmergeable_dim(3, (int64_t[]){0, 2, 4}, g), -1);
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

/* --- PyTorch's answers --- */

typedef struct Lie {
    int ndim;
    int64_t sizes[8], strides[8];
} Lie;
typedef struct Shape {
    int ndim;
    int64_t sizes[8];
} Shape;

#define GEOMETRY(...)
#define FRESH(...)
#define VIEW(...)
#define EXPAND(...)
#define BROADCAST(...)
#define INFER(...)

static TsrGeometry geometry_of(const Lie *lie) { return (TsrGeometry){lie->ndim, lie->sizes, lie->strides, 0}; }

static const char *text_of(const Lie *lie) {
    static char text[400];
    snprintf(text, sizeof text, "%s, %s", tsr_layout_text(lie->ndim, lie->sizes),
             tsr_layout_text(lie->ndim, lie->strides));
    return text;
}

static bool same_numbers(int n, const int64_t *a, const int64_t *b) {
    return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

typedef struct GeometryCase {
    Lie lie;
    int contiguous, channels_last, dense, overlap, like_channels_last;
    int64_t like[8];
} GeometryCase;

START_TEST(geometries_are_told_apart_as_in_pytorch) {
    static const GeometryCase cases[] = {
#undef GEOMETRY
#define GEOMETRY(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef GEOMETRY
#define GEOMETRY(...)
    };
    static const TsrOverlap overlaps[] = {TSR_OVERLAP_NO, TSR_OVERLAP_FULL, TSR_OVERLAP_TOO_HARD};
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const GeometryCase *c = &cases[i];
        const int64_t *sizes = c->lie.sizes, *strides = c->lie.strides;
        int n = c->lie.ndim;
        int64_t like[8];
        ck_assert_msg(tsr_layout_is_contiguous(n, sizes, strides) == c->contiguous, "contiguous: %s", text_of(&c->lie));
        ck_assert_msg(tsr_layout_is_channels_last(n, sizes, strides) == c->channels_last, "channels last: %s",
                      text_of(&c->lie));
        ck_assert_msg(tsr_layout_is_non_overlapping_and_dense(n, sizes, strides) == c->dense, "dense: %s",
                      text_of(&c->lie));
        ck_assert_msg(tsr_layout_internal_status(n, sizes, strides) == overlaps[c->overlap], "overlap: %s",
                      text_of(&c->lie));
        ck_assert_msg(tsr_layout_is_channels_last_strides(n, sizes, strides) == c->like_channels_last,
                      "like channels last: %s", text_of(&c->lie));
        if (c->dense) continue; /* empty_like keeps their strides */
        tsr_layout_dense_strides_like(like, n, sizes, strides);
        ck_assert_msg(same_numbers(n, like, c->like), "like: %s: %s", text_of(&c->lie), tsr_layout_text(n, like));
    }
}
END_TEST

typedef struct FreshCase {
    int ndim;
    int64_t sizes[8], row_major[8], channels_last[8];
} FreshCase;

START_TEST(fresh_tensors_have_pytorch_s_strides) {
    static const FreshCase cases[] = {
#undef FRESH
#define FRESH(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef FRESH
#define FRESH(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const FreshCase *c = &cases[i];
        int64_t strides[8];
        tsr_layout_contiguous_strides(strides, c->ndim, c->sizes);
        ck_assert_msg(same_numbers(c->ndim, strides, c->row_major), "%s", tsr_layout_text(c->ndim, c->sizes));
        tsr_layout_channels_last_strides(strides, c->ndim, c->sizes);
        ck_assert_msg(same_numbers(c->ndim, strides, c->channels_last[0] == -1 ? c->row_major : c->channels_last), "%s",
                      tsr_layout_text(c->ndim, c->sizes));
    }
}
END_TEST

typedef struct ViewCase {
    Lie lie;
    Shape sizes;
    int64_t strides[8];
} ViewCase;

START_TEST(views_of_other_shapes_have_pytorch_s_strides) {
    static const ViewCase cases[] = {
#undef VIEW
#define VIEW(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef VIEW
#define VIEW(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const ViewCase *c = &cases[i];
        TsrGeometry g = geometry_of(&c->lie);
        int64_t strides[8];
        bool possible = c->strides[0] != -1;
        ck_assert_msg(tsr_layout_view_strides(strides, c->sizes.ndim, c->sizes.sizes, g) == possible, "%s as %s",
                      text_of(&c->lie), tsr_layout_text(c->sizes.ndim, c->sizes.sizes));
        int bad = tsr_layout_unmergeable_dim(c->sizes.ndim, c->sizes.sizes, g);
        if (!possible) ck_assert_msg(bad >= 0 && bad + 1 < c->lie.ndim, "%s: %d", text_of(&c->lie), bad);
        else
            ck_assert_msg(same_numbers(c->sizes.ndim, strides, c->strides) && bad == -1, "%s as %s", text_of(&c->lie),
                          tsr_layout_text(c->sizes.ndim, c->sizes.sizes));
    }
}
END_TEST

/* The dimensions that a view would have to merge are those whose strides do not continue each other. */
START_TEST(the_dimensions_that_do_not_merge_are_named) {
    int64_t sizes[] = {2, 3, 4}, strides[] = {12, 4, 1}, one = 24;
    ck_assert_int_eq(tsr_layout_unmergeable_dim(1, &one, (TsrGeometry){3, sizes, strides, 0}), -1);
    int64_t other = 25; /* another number of elements is another matter */
    ck_assert_int_eq(tsr_layout_unmergeable_dim(1, &other, (TsrGeometry){3, sizes, strides, 0}), -1);
    strides[0] = 24;
    ck_assert_int_eq(tsr_layout_unmergeable_dim(1, &one, (TsrGeometry){3, sizes, strides, 0}), 0);
    strides[0] = 15, strides[1] = 5;
    ck_assert_int_eq(tsr_layout_unmergeable_dim(1, &one, (TsrGeometry){3, sizes, strides, 0}), 1);
}
END_TEST

typedef struct ExpandCase {
    Lie lie;
    Shape wanted;
    Lie result;
    const char *error;
} ExpandCase;

START_TEST(expanded_geometries_are_pytorch_s) {
    static const ExpandCase cases[] = {
#undef EXPAND
#define EXPAND(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef EXPAND
#define EXPAND(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const ExpandCase *c = &cases[i];
        int64_t sizes[8], strides[8];
        TsrStatus status = tsr_layout_expand(sizes, strides, c->wanted.ndim, c->wanted.sizes, geometry_of(&c->lie));
        ck_assert_msg((status == TSR_OK) == (c->error[0] == '\0'), "%s to %s", text_of(&c->lie),
                      tsr_layout_text(c->wanted.ndim, c->wanted.sizes));
        if (status != TSR_OK) {
            /* of other numbers of dimensions PyTorch begins its error with the call */
            if (c->wanted.ndim >= c->lie.ndim) ck_assert_str_eq(tsr_error_message(), c->error);
            continue;
        }
        ck_assert_msg(same_numbers(c->result.ndim, sizes, c->result.sizes) &&
                          same_numbers(c->result.ndim, strides, c->result.strides),
                      "%s to %s: %s", text_of(&c->lie), tsr_layout_text(c->wanted.ndim, c->wanted.sizes),
                      tsr_layout_text(c->wanted.ndim, strides));
    }
}
END_TEST

typedef struct BroadcastCase {
    Shape a, b, result;
    const char *error;
} BroadcastCase;

START_TEST(shapes_broadcast_as_in_pytorch) {
    static const BroadcastCase cases[] = {
#undef BROADCAST
#define BROADCAST(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef BROADCAST
#define BROADCAST(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const BroadcastCase *c = &cases[i];
        int64_t shape[TSR_MAX_DIMS];
        int n = c->a.ndim;
        memcpy(shape, c->a.sizes, sizeof c->a.sizes);
        TsrStatus status = tsr_layout_broadcast(shape, &n, c->b.sizes, c->b.ndim);
        ck_assert_str_eq(status == TSR_OK ? "" : tsr_error_message(), c->error);
        if (status != TSR_OK) continue;
        ck_assert_int_eq(n, c->result.ndim);
        ck_assert(same_numbers(n, shape, c->result.sizes));
    }
}
END_TEST

typedef struct InferCase {
    int64_t numel;
    Shape wanted, result;
    const char *error;
} InferCase;

START_TEST(missing_sizes_are_inferred_as_in_pytorch) {
    static const InferCase cases[] = {
#undef INFER
#define INFER(...) {__VA_ARGS__},
#include "layout_cases.def"
#undef INFER
#define INFER(...)
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const InferCase *c = &cases[i];
        int64_t sizes[8];
        TsrStatus status = tsr_layout_infer_size(sizes, c->wanted.ndim, c->wanted.sizes, c->numel);
        ck_assert_str_eq(status == TSR_OK ? "" : tsr_error_message(), c->error);
        if (status == TSR_OK) ck_assert(same_numbers(c->wanted.ndim, sizes, c->result.sizes));
    }
}
END_TEST

/* --- numbers of dimensions that no tensor has --- */

START_TEST(absurd_numbers_of_dimensions_are_refused) {
    static int64_t sizes[TSR_MAX_DIMS + 1], strides[TSR_MAX_DIMS + 1], out[TSR_MAX_DIMS + 1], numel;
    static const int bad[] = {-1, TSR_MAX_DIMS + 1, INT32_MIN, INT32_MAX};
    for (int i = 0; i <= TSR_MAX_DIMS; i++) sizes[i] = 1, strides[i] = 7, out[i] = 9;
    ck_assert_int_eq(tsr_layout_check_ndim(0), TSR_OK);
    ck_assert_int_eq(tsr_layout_check_ndim(TSR_MAX_DIMS), TSR_OK);
    for (size_t i = 0; i < TSR_COUNTOF(bad); i++) {
        int n = bad[i], fine = 1;
        ck_assert_int_eq(tsr_layout_check_ndim(n), TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_numel(&numel, n, sizes), TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_broadcast(out, &fine, sizes, n), TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_broadcast(out, &n, sizes, 1), TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_expand(out, strides, n, sizes, (TsrGeometry){1, sizes, strides, 0}),
                         TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_expand(out, strides, 1, sizes, (TsrGeometry){n, sizes, strides, 0}),
                         TSR_RUNTIME_ERROR);
        ck_assert_int_eq(tsr_layout_infer_size(out, n, sizes, 1), TSR_RUNTIME_ERROR);
        ck_assert(!tsr_layout_view_strides(out, n, sizes, (TsrGeometry){1, sizes, strides, 0}));
        ck_assert(!tsr_layout_view_strides(out, 1, sizes, (TsrGeometry){n, sizes, strides, 0}));
        ck_assert_int_eq(tsr_layout_unmergeable_dim(n, sizes, (TsrGeometry){1, sizes, strides, 0}), -1);
        ck_assert(!tsr_layout_is_contiguous(n, sizes, strides));
        ck_assert(!tsr_layout_is_non_overlapping_and_dense(n, sizes, strides));
        tsr_layout_contiguous_strides(out, n, sizes);
        tsr_layout_dense_strides_like(out, n, sizes, strides);
        for (int k = 0; k <= TSR_MAX_DIMS; k++) ck_assert_int_eq(out[k], 9);
    }
    ck_assert_int_eq(tsr_layout_check_ndim(-1), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(), "a negative number of dimensions: -1");
}
END_TEST

START_TEST(texts_of_shapes_take_turns) {
    int64_t many[TSR_MAX_DIMS + 5];
    for (size_t i = 0; i < TSR_COUNTOF(many); i++) many[i] = INT64_MIN;
    ck_assert_str_eq(tsr_layout_text(0, NULL), "[]");
    const char *a = tsr_layout_text(1, (int64_t[]){-3}), *b = tsr_layout_text(2, (int64_t[]){4, 5}),
               *c = tsr_layout_text(3, (int64_t[]){6, 7, 8});
    ck_assert_str_eq(a, "[-3]");
    ck_assert_str_eq(b, "[4, 5]");
    ck_assert_str_eq(c, "[6, 7, 8]");
    const char *long_text = tsr_layout_text((int)TSR_COUNTOF(many), many);
    ck_assert_ptr_nonnull(strstr(long_text, "[-9223372036854775808, "));
    ck_assert_ptr_null(strchr(long_text, ']'));
    ck_assert_str_eq(a, "[-3]"); /* behind it in memory */
    long_text = tsr_layout_text(TSR_MAX_DIMS + 1, many);
    ck_assert_uint_eq(strlen(long_text), (TSR_MAX_DIMS + 1) * (size_t)22);
    ck_assert_int_eq(long_text[strlen(long_text) - 1], ']');
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

TEST_SUITE(layout, one_number_takes_any_shape, shapes_without_elements_are_views,
           contiguous_strides_count_empty_dimensions_as_one, numel_refuses_negative_sizes_and_overflow,
           view_strides_of_a_transpose, infer_size_fills_one_gap, dense_strides_follow_the_order_of_gapped_ones,
           channels_last_is_told_from_row_major, broadcast_names_the_dimension, geometries_are_told_apart_as_in_pytorch,
           fresh_tensors_have_pytorch_s_strides, views_of_other_shapes_have_pytorch_s_strides,
           the_dimensions_that_do_not_merge_are_named, expanded_geometries_are_pytorch_s,
           shapes_broadcast_as_in_pytorch, missing_sizes_are_inferred_as_in_pytorch,
           absurd_numbers_of_dimensions_are_refused, texts_of_shapes_take_turns, overlap_agrees_with_brute_force,
           interleaved_views_do_not_overlap, hostile_geometry_ends)
