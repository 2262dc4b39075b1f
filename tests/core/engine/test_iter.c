/* iter.h: the iterator walks over any geometry as the plain formula for addresses does, lays results as PyTorch does,
 * and holds its operands no longer than it should. The loops here are the tests' own, so that no kernel is needed. */
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/iter.h"
#include "core/mem.h"
#include "core/op.h"
#include "core/some_tensors.h"

/* --- walking --- */

/* c = 1000 a + b, of int64: tells every element of either input from its neighbours. */
static void join_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        int64_t a, b, *c = (int64_t *)(void *)(data[0] + i * strides[0]);
        memcpy(&a, data[1] + i * strides[1], sizeof a);
        memcpy(&b, data[2] + i * strides[2], sizeof b);
        *c = 1000 * a + b;
    }
}

/* A random shape: mostly a few small dimensions, at times one that is worked on in tiles, in long lines or by threads.
 */
static int some_shape(int64_t *shape) {
    int ndim = (int)below(6);
    for (int d = 0; d < ndim; d++) shape[d] = 1 + below(4);
    switch (below(12)) {
    case 0: return shape[0] = 17 + below(60), shape[1] = 40 + below(1200), shape[2] = 1 + below(2), 3;
    case 1: return shape[0] = 1 + below(3), shape[1] = 600 + below(600), shape[2] = 16 + below(60), 3;
    case 2: return shape[0] = 1000 + below(3000), shape[1] = 1 + below(40), 2;
    default: return ndim;
    }
}

/* An input that broadcasts to the shape. */
static TsrTensor *some_input(int ndim, const int64_t *shape, TsrDtype d) {
    int64_t sizes[8];
    int drop = ndim > 0 && below(4) == 0 ? 1 + (int)below((uint32_t)ndim) : 0;
    for (int i = drop; i < ndim; i++) sizes[i - drop] = below(6) == 0 ? 1 : shape[i];
    return new_strided_tensor(ndim - drop, sizes, d);
}

static void check_joined(const TsrTensor *c, TsrTensor *a, TsrTensor *b) {
    TsrTensor *wide_a = NULL, *wide_b = NULL;
    int64_t differ = 0;
    ck_assert_int_eq(tsr_tensor_new_expand(&wide_a, a, tsr_ndim(c), c->sizes), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_expand(&wide_b, b, tsr_ndim(c), c->sizes), TSR_OK);
    for (int64_t i = 0; i < c->numel; i++) differ += at(c, i) != 1000 * at(wide_a, i) + at(wide_b, i);
    ck_assert_int_eq(differ, 0);
    tsr_tensor_free(wide_a), tsr_tensor_free(wide_b);
}

static TsrDtype some_dtype(void) {
    static const TsrDtype dtypes[] = {TSR_INT64, TSR_INT64, TSR_INT16, TSR_UINT8, TSR_FLOAT32, TSR_FLOAT64};
    return dtypes[below(TSR_COUNTOF(dtypes))];
}

START_TEST(every_element_meets_its_partners) {
    for (int round = 0; round < 1500; round++) {
        int64_t shape[8];
        int ndim = some_shape(shape);
        tsr_set_num_threads(1 + (int)below(4));
        TsrTensor *a = some_input(ndim, shape, some_dtype()), *b = some_input(ndim, shape, some_dtype()), *c = NULL,
                  *given = NULL;
        TsrIterSpec spec = {.nout = 1, .nin = 2, .in = {a, b}, .has_dtype = true, .dtype = TSR_INT64};
        unsigned way = below(8);
        if (way < 2) spec.flags |= TSR_ITER_SERIAL << way; /* or LINEAR */
        TsrIter it;
        ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
        if (way >= 5) { /* into an output of that shape, laid out otherwise, whose bytes between the elements stay */
            given = new_strided_tensor(it.rank, it.shape, way == 5 ? TSR_INT32 : TSR_INT64);
            tsr_iter_end_move(&it, TSR_RUNTIME_ERROR, NULL);
            spec.out[0] = given;
            spec.flags |= TSR_ITER_NO_RESIZE;
            ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
        }
        TsrStatus status = tsr_iter_run(&it, join_loop, NULL);
        ck_assert_int_eq(tsr_iter_end_move(&it, status, &c), TSR_OK);
        if (given != NULL) ck_assert_ptr_eq(c, given);
        check_joined(c, a, b);
        TsrTensor *all[] = {a, b, c, given};
        for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
    }
}
END_TEST

START_TEST(bytes_between_the_elements_of_an_output_stay) {
    int64_t n = 4000, sizes[] = {40, 25}, turned[] = {1, 80};
    TsrTensor *whole = new_tensor(1, &n, TSR_INT16), *before = NULL, *out = NULL, *in = new_tensor(2, sizes, TSR_INT64),
              *c = NULL;
    ck_assert_int_eq(tsr_tensor_new_clone(&before, whole, TSR_CONTIGUOUS), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_as_strided(&out, whole, (TsrGeometry){2, sizes, turned, 7}), TSR_OK);
    TsrIter it;
    ck_assert_int_eq(
        tsr_iter_begin(
            &it,
            &(TsrIterSpec){.nout = 1, .out = {out}, .nin = 2, .in = {in, in}, .has_dtype = true, .dtype = TSR_INT64}),
        TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, join_loop, NULL), &c), TSR_OK);
    for (int64_t i = 0; i < n; i++) {
        int64_t row = (i - 7) % 80, column = (i - 7) / 80;
        bool written = i >= 7 && row < 40 && column < 25;
        ck_assert_double_eq(at(whole, i),
                            written ? (double)(int16_t)(1001 * (int64_t)at(in, row * 25 + column)) : at(before, i));
    }
    TsrTensor *all[] = {whole, before, out, in, c};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
}
END_TEST

/* A loop over what is there tells an element that was visited twice, or never: at the edges of tiles and of chunks. */
START_TEST(tiles_visit_each_element_once) {
    static const int64_t shapes[][2] = {{16, 128}, {130, 67}, {64, 256}, {301, 257}};
    for (size_t i = 0; i < TSR_COUNTOF(shapes); i++) {
        int64_t rows = shapes[i][0], columns = shapes[i][1], sizes[] = {rows, columns}, turned[] = {1, rows};
        TsrTensor *out = new_tensor(2, sizes, TSR_INT64), *before = NULL, *in = NULL;
        ck_assert_int_eq(tsr_tensor_new_clone(&before, out, TSR_CONTIGUOUS), TSR_OK);
        ck_assert_int_eq(tsr_tensor_new_strided(&in, 2, sizes, turned, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
        for (int64_t k = 0; k < rows * columns; k++) ((int64_t *)tsr_data(in))[k] = k + 1;
        TsrIter it;
        TsrTensor *c = NULL;
        TsrIterSpec spec = {.nout = 1, .out = {out}, .nin = 2, .in = {out, in}, .has_dtype = true, .dtype = TSR_INT64};
        ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
        ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, join_loop, NULL), &c), TSR_OK);
        for (int64_t k = 0; k < rows * columns; k++)
            ck_assert_double_eq(at(out, k), 1000 * at(before, k) + (double)(k / columns + k % columns * rows + 1));
        TsrTensor *all[] = {out, before, in, c};
        for (size_t k = 0; k < TSR_COUNTOF(all); k++) tsr_tensor_free(all[k]);
    }
}
END_TEST

/* Lines that are the same in each row, of which copies lie side by side. */
START_TEST(two_short_lines_go_along_each_row) {
    int64_t sizes[] = {5000, 8}, same[] = {0, 1}, eight = 8;
    TsrTensor *line[2], *rows[2], *c = NULL;
    for (int k = 0; k < 2; k++) {
        line[k] = new_tensor(1, &eight, TSR_INT64);
        ck_assert_int_eq(tsr_tensor_new_as_strided(&rows[k], line[k], (TsrGeometry){2, sizes, same, 0}), TSR_OK);
    }
    TsrTensor *out = new_tensor(2, sizes, TSR_INT64);
    TsrIterSpec spec = {
        .nout = 1, .out = {out}, .nin = 2, .in = {rows[0], rows[1]}, .has_dtype = true, .dtype = TSR_INT64};
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, join_loop, NULL), &c), TSR_OK);
    check_joined(out, rows[0], rows[1]);
    TsrTensor *all[] = {line[0], line[1], rows[0], rows[1], out, c};
    for (size_t k = 0; k < TSR_COUNTOF(all); k++) tsr_tensor_free(all[k]);
}
END_TEST

/* d = 100 (100 a + b) + c, of int64 below 100. */
static void join_three_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        int64_t d = 0;
        for (int k = 1; k < 4; k++) d = 100 * d + *(const int64_t *)(const void *)(data[k] + i * strides[k]);
        *(int64_t *)(void *)(data[0] + i * strides[0]) = d;
    }
}

/* There is room for two of them in cache: the third is read where it lies. */
START_TEST(three_turned_inputs_meet_in_tiles) {
    int64_t sizes[] = {301, 257}, turned[] = {1, 301}, n = 301 * 257;
    TsrTensor *out = new_tensor(2, sizes, TSR_INT64), *in[3], *c = NULL;
    for (int k = 0; k < 3; k++) {
        ck_assert_int_eq(tsr_tensor_new_strided(&in[k], 2, sizes, turned, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
        for (int64_t i = 0; i < n; i++) ((int64_t *)tsr_data(in[k]))[i] = i * (k + 1) % (97 + k);
    }
    TsrIterSpec spec = {
        .nout = 1, .out = {out}, .nin = 3, .in = {in[0], in[1], in[2]}, .has_dtype = true, .dtype = TSR_INT64};
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, join_three_loop, NULL), &c), TSR_OK);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = k / 257 + k % 257 * 301; /* where it lies in the inputs */
        ck_assert_int_eq(((const int64_t *)tsr_data(out))[k], 10000 * (i % 97) + 100 * (i * 2 % 98) + i * 3 % 99);
    }
    TsrTensor *all[] = {out, in[0], in[1], in[2], c};
    for (size_t k = 0; k < TSR_COUNTOF(all); k++) tsr_tensor_free(all[k]);
}
END_TEST

/* --- what is left of the dimensions --- */

typedef struct Merged {
    int ndim;
    int64_t sizes[4], strides[4]; /* of the tensor */
    int left;
    int64_t lines[3], steps[3]; /* of the iterator: innermost first, in elements */
} Merged;

START_TEST(dimensions_that_lie_back_to_back_become_one) {
    static const Merged cases[] = {
        {0, {0}, {0}, 1, {1}, {0}},
        {3, {2, 3, 4}, {12, 4, 1}, 1, {24}, {1}},
        {3, {2, 3, 4}, {24, 4, 1}, 2, {12, 2}, {1, 24}},
        {3, {2, 3, 4}, {12, 4, 2}, 2, {4, 6}, {2, 4}},
        {2, {3, 4}, {1, 3}, 1, {12}, {1}},
        {2, {3, 4}, {1, 6}, 2, {3, 4}, {1, 6}},
        {4, {2, 1, 3, 1}, {6, 50, 2, 9}, 1, {6}, {2}},
        {3, {4, 1, 5}, {10, 0, 1}, 2, {5, 4}, {1, 10}},
        {2, {4, 5}, {0, 1}, 2, {5, 4}, {1, 0}},
        {2, {4, 5}, {0, 0}, 1, {20}, {0}},
        {3, {5, 2, 3}, {2, 1, 10}, 1, {30}, {1}},
        {1, {1}, {7}, 1, {1}, {0}},
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const Merged *m = &cases[i];
        int64_t n = 100;
        TsrTensor *whole = new_tensor(1, &n, TSR_FLOAT32), *t = NULL;
        ck_assert_int_eq(tsr_tensor_new_as_strided(&t, whole, (TsrGeometry){m->ndim, m->sizes, m->strides, 0}), TSR_OK);
        TsrIter it;
        ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nin = 1, .in = {t}}), TSR_OK);
        ck_assert_msg(it.ndim == m->left, "case %zu: %d dimensions", i, it.ndim);
        for (int d = 0; d < it.ndim; d++) {
            ck_assert_msg(it.sizes[d] == m->lines[d], "case %zu: size %d is %d", i, d, (int)it.sizes[d]);
            bool walked = it.sizes[d] > 1;
            ck_assert_msg(!walked || it.strides[0][d] == 4 * m->steps[d], "case %zu: stride %d", i, d);
        }
        ck_assert_int_eq(it.numel, t->numel);
        tsr_iter_end_move(&it, TSR_OK, NULL);
        tsr_tensor_free(t), tsr_tensor_free(whole);
    }
}
END_TEST

/* Memory before shapes before dtypes; nothing is resized. */
START_TEST(checks_alone_come_in_the_order_of_a_run) {
    int64_t two = 2, three = 3, step = 0;
    TsrTensor *a = new_tensor(1, &two, TSR_FLOAT32), *b = new_tensor(1, &three, TSR_FLOAT32), *whole, *shared = NULL;
    whole = new_tensor(1, &two, TSR_INT64);
    ck_assert_int_eq(tsr_tensor_new_as_strided(&shared, whole, (TsrGeometry){1, &two, &step, 0}), TSR_OK);
    const unsigned flags = TSR_ITER_PROMOTE | TSR_ITER_CHECK_CAST;
    const struct {
        TsrTensor *out, *other;
        const char *says;
    } cases[] = {
        {shared, b, "more than one element of the written-to tensor"},
        {whole, b, "must match the size of tensor b"},
        {whole, a, "can't be cast to the desired output type Long"},
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        TsrIterSpec spec = {.nout = 1, .out = {cases[i].out}, .nin = 2, .in = {a, cases[i].other}, .flags = flags};
        ck_assert_int_eq(tsr_iter_check(&spec), TSR_RUNTIME_ERROR);
        ck_assert_ptr_nonnull(strstr(tsr_error_message(), cases[i].says));
    }
    ck_assert_int_eq(tsr_iter_check(&(TsrIterSpec){.nout = 1, .out = {b}, .nin = 1, .in = {a}, .flags = flags}),
                     TSR_OK);
    ck_assert_int_eq(b->sizes[0], three);
    tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(shared), tsr_tensor_free(whole);
}
END_TEST

/* Dimensions merge only where they do in all operands. */
START_TEST(operands_of_different_layouts_keep_dimensions_apart) {
    int64_t sizes[] = {4, 5}, turned[] = {1, 4};
    TsrTensor *a = new_tensor(2, sizes, TSR_INT64), *whole = new_tensor(2, sizes, TSR_INT64), *b = NULL, *c = NULL;
    ck_assert_int_eq(tsr_tensor_new_as_strided(&b, whole, (TsrGeometry){2, sizes, turned, 0}), TSR_OK);
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .nin = 2, .in = {a, b}}), TSR_OK);
    ck_assert_int_eq(it.ndim, 2);
    ck_assert_int_eq(it.strides[1][0], 8);
    ck_assert_int_eq(it.strides[2][0], 32);
    ck_assert_int_eq(it.strides[1][1], 40);
    ck_assert_int_eq(it.strides[2][1], 8);
    ck_assert_int_eq(tsr_iter_end_move(&it, TSR_OK, &c), TSR_OK);
    TsrTensor *all[] = {a, whole, b, c};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
}
END_TEST

/* --- how results lie: PyTorch's answers --- */

typedef struct Lie {
    int ndim;
    int64_t sizes[4], strides[4], offset;
} Lie;
typedef struct StridesCase {
    int nin;
    Lie result, in[3];
} StridesCase;

static TsrTensor *new_lying(const Lie *lie, TsrDtype d) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new_strided(&t, lie->ndim, lie->sizes, lie->strides, d, TSR_DEVICE_CPU), TSR_OK);
    return t;
}

/* A fresh result, or one that is resized, lies as in PyTorch. */
static void check_strides(const StridesCase *c, int number, bool resized) {
    TsrTensor *in[3] = {NULL}, *result = NULL, *out = NULL;
    TsrIterSpec spec = {.nout = 1, .nin = c->nin, .flags = TSR_ITER_PROMOTE};
    for (int i = 0; i < c->nin; i++) spec.in[i] = in[i] = new_lying(&c->in[i], TSR_FLOAT32);
    if (resized) {
        ck_assert_int_eq(tsr_tensor_new(&out, 1, (int64_t[]){0}, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
        spec.out[0] = out;
    }
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, TSR_OK, &result), TSR_OK);
    ck_assert_int_eq(tsr_ndim(result), c->result.ndim);
    for (int d = 0; d < c->result.ndim; d++) {
        ck_assert_int_eq(result->sizes[d], c->result.sizes[d]);
        ck_assert_msg(result->strides[d] == c->result.strides[d], "case %d: stride %d is %d, in PyTorch %d", number, d,
                      (int)result->strides[d], (int)c->result.strides[d]);
    }
    for (int i = 0; i < c->nin; i++) tsr_tensor_free(in[i]);
    tsr_tensor_free(result), tsr_tensor_free(out);
}

START_TEST(results_lie_as_pytorch_s) {
    static const StridesCase cases[] = {
#define STRIDES(...) {__VA_ARGS__},
#define OVERLAP(...)
#define COPY(...)
#include "engine_cases.def"
#undef STRIDES
#undef OVERLAP
#undef COPY
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        check_strides(&cases[i], (int)i, false);
        check_strides(&cases[i], (int)i, true);
    }
}
END_TEST

START_TEST(row_major_order_is_kept_where_it_is_asked_for) {
    int64_t sizes[] = {3, 4}, turned[] = {1, 3};
    TsrTensor *a = NULL, *c = NULL;
    ck_assert_int_eq(tsr_tensor_new_strided(&a, 2, sizes, turned, TSR_FLOAT32, TSR_DEVICE_CPU), TSR_OK);
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .nin = 1, .in = {a}, .flags = TSR_ITER_LINEAR}),
                     TSR_OK);
    ck_assert_int_eq(it.sizes[0], 4);
    ck_assert_int_eq(it.strides[1][0], 12);
    tsr_iter_end_move(&it, TSR_OK, &c);
    tsr_tensor_free(a), tsr_tensor_free(c);
}
END_TEST

/* --- an output that overlaps an input: PyTorch's answers --- */

enum { BUFFER = 96 };
typedef struct OverlapCase {
    Lie out, in;
    bool accepted;
    float buffer[BUFFER];
} OverlapCase;

static void add_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) {
        float a, b;
        memcpy(&a, data[1] + i * strides[1], sizeof a);
        memcpy(&b, data[2] + i * strides[2], sizeof b);
        a += b;
        memcpy(data[0] + i * strides[0], &a, sizeof a);
    }
}

static void check_overlap(const OverlapCase *c, int number) {
    int64_t n = BUFFER;
    TsrTensor *whole = new_tensor(1, &n, TSR_FLOAT32), *out = NULL, *in = NULL, *result = NULL;
    float *buffer = tsr_data(whole);
    for (int i = 0; i < BUFFER; i++) buffer[i] = (float)i;
    TsrGeometry g = {c->out.ndim, c->out.sizes, c->out.strides, c->out.offset},
                h = {c->in.ndim, c->in.sizes, c->in.strides, c->in.offset};
    ck_assert_int_eq(tsr_tensor_new_as_strided(&out, whole, g), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_as_strided(&in, whole, h), TSR_OK);
    TsrIter it;
    TsrStatus status = tsr_iter_begin(
        &it, &(TsrIterSpec){.nout = 1, .out = {out}, .nin = 2, .in = {out, in}, .flags = TSR_ITER_PROMOTE});
    ck_assert_msg((status == TSR_OK) == c->accepted, "case %d: status %d", number, (int)status);
    if (status == TSR_OK) {
        ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, add_loop, NULL), &result), TSR_OK);
        for (int i = 0; i < BUFFER; i++)
            ck_assert_msg(buffer[i] == c->buffer[i], "case %d: element %d is %g, in PyTorch %g", number, i,
                          (double)buffer[i], (double)c->buffer[i]);
    } else {
        ck_assert_ptr_nonnull(strstr(tsr_error_message(), "unsupported operation: "));
    }
    tsr_tensor_free(whole), tsr_tensor_free(out), tsr_tensor_free(in), tsr_tensor_free(result);
}

START_TEST(overlapping_operands_go_in_pytorch_s_order) {
    static const OverlapCase cases[] = {
#define STRIDES(...)
#define COPY(...)
#define OVERLAP(...) {__VA_ARGS__},
#include "engine_cases.def"
#undef STRIDES
#undef OVERLAP
#undef COPY
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) check_overlap(&cases[i], (int)i);
}
END_TEST

START_TEST(overlaps_are_not_looked_for_where_they_do_no_harm) {
    int64_t n = 6, five = 5;
    TsrTensor *whole = new_tensor(1, &n, TSR_INT64), *low = NULL, *high = NULL, *c = NULL;
    ck_assert_int_eq(tsr_tensor_new_narrow(&low, whole, 0, 0, five), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_narrow(&high, whole, 0, 1, five), TSR_OK);
    TsrIterSpec spec = {.nout = 1, .out = {high}, .nin = 1, .in = {low}};
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_RUNTIME_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "unsupported operation: some elements of the input tensor and the written-to tensor refer to a "
                     "single memory location. Please clone() the tensor before performing the operation.");
    spec.flags = TSR_ITER_NO_OVERLAP_CHECK;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
    tsr_iter_end_move(&it, TSR_OK, &c);
    tsr_tensor_free(whole), tsr_tensor_free(low), tsr_tensor_free(high), tsr_tensor_free(c);
}
END_TEST

/* --- dtypes --- */

typedef struct DtypeCase {
    unsigned flags;
    TsrDtype a, b;        /* of two vectors; TSR_DTYPE_NONE: no second one */
    TsrDtype common, out; /* of the operation, of a fresh output */
    TsrDtype reads, writes;
} DtypeCase;

START_TEST(the_loop_sees_the_common_dtype) {
    enum { P = TSR_ITER_PROMOTE, F = P | TSR_ITER_INT_TO_FLOAT, H = P | TSR_ITER_COMPUTE_FLOAT };
    static const DtypeCase cases[] = {
        {0, TSR_INT16, TSR_FLOAT64, TSR_INT16, TSR_INT16, TSR_INT16, TSR_INT16},
        {P, TSR_INT16, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32},
        {P, TSR_UINT8, TSR_INT8, TSR_INT16, TSR_INT16, TSR_INT16, TSR_INT16},
        {P, TSR_FLOAT16, TSR_BFLOAT16, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32},
        {F, TSR_INT32, TSR_INT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32},
        {F, TSR_BOOL, TSR_BOOL, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32},
        {F, TSR_FLOAT64, TSR_INT64, TSR_FLOAT64, TSR_FLOAT64, TSR_FLOAT64, TSR_FLOAT64},
        {F, TSR_COMPLEX64, TSR_DTYPE_NONE, TSR_COMPLEX64, TSR_COMPLEX64, TSR_COMPLEX64, TSR_COMPLEX64},
        {P | TSR_ITER_OUT_BOOL, TSR_INT32, TSR_FLOAT64, TSR_FLOAT64, TSR_BOOL, TSR_FLOAT64, TSR_BOOL},
        {P | TSR_ITER_REAL_OUT, TSR_COMPLEX128, TSR_DTYPE_NONE, TSR_COMPLEX128, TSR_FLOAT64, TSR_COMPLEX128,
         TSR_FLOAT64},
        {P | TSR_ITER_REAL_OUT, TSR_FLOAT32, TSR_DTYPE_NONE, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32, TSR_FLOAT32},
        {H, TSR_FLOAT16, TSR_FLOAT16, TSR_FLOAT16, TSR_FLOAT16, TSR_FLOAT32, TSR_FLOAT32},
        {H, TSR_BFLOAT16, TSR_INT64, TSR_BFLOAT16, TSR_BFLOAT16, TSR_FLOAT32, TSR_FLOAT32},
        {H, TSR_COMPLEX32, TSR_DTYPE_NONE, TSR_COMPLEX32, TSR_COMPLEX32, TSR_COMPLEX64, TSR_COMPLEX64},
        {H, TSR_FLOAT64, TSR_FLOAT16, TSR_FLOAT64, TSR_FLOAT64, TSR_FLOAT64, TSR_FLOAT64},
        {H, TSR_INT8, TSR_INT8, TSR_INT8, TSR_INT8, TSR_INT8, TSR_INT8},
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        const DtypeCase *c = &cases[i];
        int64_t n = 3;
        TsrTensor *a = new_tensor(1, &n, c->a), *b = c->b != TSR_DTYPE_NONE ? new_tensor(1, &n, c->b) : NULL, *r = NULL;
        TsrIter it;
        TsrIterSpec spec = {.nout = 1, .nin = b != NULL ? 2 : 1, .in = {a, b}, .flags = c->flags};
        ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
        ck_assert_msg(it.common == c->common, "case %zu: %s", i, tsr_dtype_name(it.common));
        ck_assert_msg(it.loop_dtype[0] == c->writes, "case %zu writes %s", i, tsr_dtype_name(it.loop_dtype[0]));
        ck_assert_msg(it.loop_dtype[1] == c->reads, "case %zu reads %s", i, tsr_dtype_name(it.loop_dtype[1]));
        if (b != NULL && (c->flags & P)) ck_assert_int_eq(it.loop_dtype[2], c->reads);
        ck_assert_int_eq(tsr_iter_end_move(&it, TSR_OK, &r), TSR_OK);
        ck_assert_msg(r->dtype == c->out, "case %zu gives %s", i, tsr_dtype_name(r->dtype));
        tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(r);
    }
}
END_TEST

/* As where() reads its condition, and frexp() writes its exponents. */
START_TEST(single_operands_may_have_a_dtype_of_their_own) {
    int64_t n = 3;
    static const TsrDtype reads[] = {TSR_BOOL, TSR_DTYPE_NONE}, writes[] = {TSR_DTYPE_NONE, TSR_INT32};
    TsrTensor *a = new_tensor(1, &n, TSR_UINT8), *b = new_tensor(1, &n, TSR_FLOAT64), *r[2] = {NULL};
    TsrIterSpec spec = {
        .nout = 2, .nin = 2, .in = {a, b}, .flags = TSR_ITER_PROMOTE, .in_dtype = reads, .out_dtype = writes};
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
    ck_assert_int_eq(it.loop_dtype[0], TSR_FLOAT64);
    ck_assert_int_eq(it.loop_dtype[1], TSR_INT32);
    ck_assert_int_eq(it.loop_dtype[2], TSR_BOOL);
    ck_assert_int_eq(it.loop_dtype[3], TSR_FLOAT64);
    ck_assert_int_eq(tsr_iter_end_move(&it, TSR_OK, r), TSR_OK);
    ck_assert_int_eq(r[1]->dtype, TSR_INT32);
    TsrTensor *all[] = {a, b, r[0], r[1]};
    for (size_t i = 0; i < TSR_COUNTOF(all); i++) tsr_tensor_free(all[i]);
}
END_TEST

/* half + a float32 number: the number is rounded to half first, unless it is an operand of the operation's own type. */
static double half_plus_tenth(unsigned flags, TsrTensor *out) {
    int64_t n = 600;
    TsrTensor *h = new_tensor(1, &n, TSR_FLOAT16), *tenth = NULL, *r = NULL;
    memset(tsr_data(h), 0, (size_t)n * 2);
    ck_assert_int_eq(tsr_tensor_new_scalar(&tenth, tsr_scalar_float(0.1), TSR_FLOAT32), TSR_OK);
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1,
                                                        .out = {out},
                                                        .nin = 2,
                                                        .in = {h, tenth},
                                                        .flags = TSR_ITER_PROMOTE | TSR_ITER_COMPUTE_FLOAT | flags}),
                     TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, add_loop, NULL), &r), TSR_OK);
    double first = at(r, 0);
    for (int64_t i = 0; i < n; i++) ck_assert_double_eq(at(r, i), first);
    tsr_tensor_free(h), tsr_tensor_free(tenth), tsr_tensor_free(r);
    return first;
}

START_TEST(small_floats_round_once_at_the_end) {
    const double half_tenth = 0.0999755859375; /* torch.tensor(0.1, dtype=torch.half).item() */
    int64_t n = 600;
    TsrTensor *out = new_tensor(1, &n, TSR_FLOAT32);
    ck_assert_double_eq(half_plus_tenth(0, NULL), half_tenth);
    ck_assert_double_eq(half_plus_tenth(0, out), half_tenth);
    /* the sum is rounded to half on its way into an output of float32, too */
    ck_assert_double_eq(half_plus_tenth(TSR_ITER_OPMATH, out), half_tenth);
    tsr_tensor_free(out);
}
END_TEST

/* --- refusals --- */

static void check_refused(TsrIterSpec spec, TsrStatus kind, const char *message) {
    TsrIter it;
    int64_t live = tsr_tensor_live(), bytes = tsr_memory_live();
    int32_t counts[12];
    TsrTensor *held[12];
    int n = 0;
    for (int k = 0; k < spec.nout; k++)
        if (spec.out[k] != NULL) held[n++] = spec.out[k];
    for (int k = 0; k < spec.nin; k++)
        if (spec.in[k] != NULL) held[n++] = (TsrTensor *)(uintptr_t)spec.in[k];
    for (int i = 0; i < n; i++) counts[i] = tsr_tensor_refcount(held[i]);
    ck_assert_int_eq(tsr_iter_begin(&it, &spec), kind);
    ck_assert_str_eq(tsr_error_message(), message);
    for (int i = 0; i < n; i++) ck_assert_int_eq(tsr_tensor_refcount(held[i]), counts[i]);
    ck_assert_int_eq(tsr_tensor_live(), live);
    ck_assert_int_eq(tsr_memory_live(), bytes);
}

START_TEST(what_is_refused_leaves_nothing) {
    TsrTensor *a = new_tensor(2, (int64_t[]){2, 3}, TSR_FLOAT32), *b = new_tensor(2, (int64_t[]){2, 4}, TSR_FLOAT32),
              *i = new_tensor(1, (int64_t[]){3}, TSR_INT64), *wide = NULL;
    ck_assert_int_eq(tsr_tensor_new_expand(&wide, i, 2, (int64_t[]){2, 3}), TSR_OK);
    check_refused((TsrIterSpec){.nout = 1, .nin = 2, .in = {a, b}}, TSR_RUNTIME_ERROR,
                  "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1");
    check_refused((TsrIterSpec){.nout = 1, .out = {i}, .nin = 1, .in = {a}, .flags = TSR_ITER_NO_RESIZE},
                  TSR_RUNTIME_ERROR, "output with shape [3] doesn't match the broadcast shape [2, 3]");
    check_refused((TsrIterSpec){.nout = 1, .out = {i}, .nin = 2, .in = {i, a}}, TSR_RUNTIME_ERROR,
                  "output with shape [3] doesn't match the broadcast shape [2, 3]");
    check_refused((TsrIterSpec){.nout = 2, .nin = 2, .in = {a, i}, .flags = TSR_ITER_SAME_DTYPE}, TSR_RUNTIME_ERROR,
                  "expected scalar type Float but found Long");
    check_refused((TsrIterSpec){.nout = 1,
                                .out = {i},
                                .nin = 1,
                                .in = {i, a},
                                .has_dtype = true,
                                .dtype = TSR_FLOAT32,
                                .flags = TSR_ITER_CHECK_CAST},
                  TSR_RUNTIME_ERROR, "result type Float can't be cast to the desired output type Long");
    check_refused((TsrIterSpec){.nout = 1, .out = {wide}, .nin = 1, .in = {a}}, TSR_RUNTIME_ERROR,
                  "unsupported operation: more than one element of the written-to tensor refers to a single memory "
                  "location. Please clone() the tensor before performing the operation.");
    check_refused((TsrIterSpec){.nout = 0, .nin = 0}, TSR_SYSTEM_ERROR,
                  "an iterator over 0 outputs and 0 inputs: it takes 1 to 8 operands, and of them 4 outputs");
    check_refused((TsrIterSpec){.nout = 1, .nin = 8, .in = {a, a, a, a, a, a, a, a}}, TSR_SYSTEM_ERROR,
                  "an iterator over 1 outputs and 8 inputs: it takes 1 to 8 operands, and of them 4 outputs");
    check_refused((TsrIterSpec){.nout = 1, .nin = 2, .in = {a, NULL}}, TSR_SYSTEM_ERROR,
                  "an iterator without its input 1");
    tsr_tensor_free(a), tsr_tensor_free(b), tsr_tensor_free(wide), tsr_tensor_free(i);
}
END_TEST

START_TEST(eight_operands_are_taken) {
    int64_t n = 5;
    TsrTensor *a = new_tensor(1, &n, TSR_INT64), *r[4] = {NULL};
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 4, .nin = 4, .in = {a, a, a, a}}), TSR_OK);
    ck_assert_int_eq(tsr_tensor_refcount(a), 5);
    ck_assert_int_eq(tsr_iter_end_move(&it, TSR_OK, r), TSR_OK);
    ck_assert_int_eq(tsr_tensor_refcount(a), 1);
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(r[k]->numel, n);
        tsr_tensor_free(r[k]);
    }
    tsr_tensor_free(a);
}
END_TEST

/* --- ownership --- */

START_TEST(operands_are_held_until_the_end) {
    int64_t sizes[] = {2, 3};
    TsrTensor *a = new_tensor(2, sizes, TSR_FLOAT32), *out = new_tensor(2, sizes, TSR_FLOAT32), *r[2] = {NULL};
    int64_t live = tsr_tensor_live(), bytes = tsr_memory_live();
    for (int failed = 0; failed < 2; failed++) {
        TsrIter it;
        ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 2, .out = {out}, .nin = 1, .in = {a}}), TSR_OK);
        ck_assert_int_eq(tsr_tensor_refcount(a), 2);
        ck_assert_int_eq(tsr_tensor_refcount(out), 2);
        ck_assert_int_eq(tsr_tensor_refcount(it.operand[1]), 1);
        ck_assert_int_eq(tsr_tensor_live(), live + 1);
        TsrStatus status = failed ? tsr_error(TSR_VALUE_ERROR, "x") : TSR_OK;
        ck_assert_int_eq(tsr_iter_end_move(&it, status, r), status);
        ck_assert_int_eq(tsr_tensor_refcount(a), 1);
        if (!failed) {
            ck_assert_ptr_eq(r[0], out);
            ck_assert_int_eq(tsr_tensor_refcount(out), 2);
            ck_assert_int_eq(tsr_tensor_refcount(r[1]), 1);
            tsr_tensor_free(r[0]), tsr_tensor_free(r[1]);
            r[0] = r[1] = NULL;
        }
        ck_assert(r[0] == NULL && r[1] == NULL);
        ck_assert_int_eq(tsr_tensor_refcount(out), 1);
        ck_assert_int_eq(tsr_tensor_live(), live);
        ck_assert_int_eq(tsr_memory_live(), bytes);
    }
    tsr_tensor_free(a), tsr_tensor_free(out);
}
END_TEST

START_TEST(an_allocation_that_fails_leaves_nothing) {
    int64_t sizes[] = {2, 1, 2, 1, 2, 1, 2}; /* more dimensions than lie in the struct */
    TsrTensor *a = new_strided_tensor(7, sizes, TSR_FLOAT32);
    int failures = 0;
    for (int64_t n = 1; n < 100; n++) {
        int64_t blocks = tsr_mem_live_blocks(), bytes = tsr_memory_live(), live = tsr_tensor_live();
        TsrTensor *r[3] = {NULL};
        TsrIter it;
        (void)tsr_mem_fail_at(n);
        TsrStatus status = tsr_iter_begin(&it, &(TsrIterSpec){.nout = 3, .nin = 1, .in = {a}});
        (void)tsr_mem_fail_at(0);
        if (status == TSR_OK) {
            tsr_iter_end_move(&it, status, r);
            for (int k = 0; k < 3; k++) tsr_tensor_free(r[k]);
            break;
        }
        failures++;
        ck_assert_int_eq(tsr_tensor_refcount(a), 1);
        ck_assert_int_eq(tsr_tensor_live(), live);
        ck_assert_int_eq(tsr_memory_live(), bytes);
        tsr_empty_cache();
        ck_assert_int_le(tsr_mem_live_blocks(), blocks + 8); /* free structs that are kept */
    }
    ck_assert_int_ge(failures, 3);
    tsr_tensor_free(a);
}
END_TEST

/* --- outputs that are given --- */

START_TEST(an_output_of_another_shape_is_resized) {
    int64_t sizes[] = {2, 3};
    TsrTensor *a = new_tensor(2, sizes, TSR_INT64), *out = NULL, *c = NULL;
    ck_assert_int_eq(tsr_tensor_new(&out, 1, (int64_t[]){0}, TSR_INT64, TSR_DEVICE_CPU), TSR_OK);
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .out = {out}, .nin = 2, .in = {a, a}}), TSR_OK);
    ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, join_loop, NULL), &c), TSR_OK);
    ck_assert_ptr_eq(c, out);
    ck_assert_int_eq(tsr_ndim(out), 2);
    check_joined(out, a, a);
    tsr_tensor_free(a), tsr_tensor_free(out), tsr_tensor_free(c);
}
END_TEST

static const TsrTensor *seen_result;
static int seen_calls;
static void see_broadcast(const TsrTensor *result, const TsrTensor *const *in, int count) {
    seen_calls++;
    seen_result = result;
    ck_assert_int_eq(count, 2);
    ck_assert_ptr_nonnull(in[1]);
}

static void broadcast_pair(TsrTensor *a, TsrTensor *b) {
    TsrTensor *c = NULL;
    TsrIter it;
    ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .nin = 2, .in = {a, b}}), TSR_OK);
    ck_assert(seen_calls == 0 || seen_result == it.operand[0]);
    tsr_iter_end_move(&it, TSR_OK, &c);
    tsr_tensor_free(c);
}

START_TEST(a_result_larger_than_all_inputs_is_told) {
    TsrTensor *row = new_tensor(2, (int64_t[]){1, 4}, TSR_INT64), *column = new_tensor(2, (int64_t[]){3, 1}, TSR_INT64),
              *full = new_tensor(2, (int64_t[]){3, 4}, TSR_INT64);
    tsr_broadcast_hook = see_broadcast;
    broadcast_pair(row, full);
    broadcast_pair(full, column);
    ck_assert_int_eq(seen_calls, 0);
    broadcast_pair(row, column);
    ck_assert_int_eq(seen_calls, 1);
    tsr_broadcast_hook = NULL;
    tsr_tensor_free(row), tsr_tensor_free(column), tsr_tensor_free(full);
}
END_TEST

static void never_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    (void)data, (void)strides, (void)n, (void)params;
    ck_abort_msg("a loop that must not run");
}

START_TEST(nothing_runs_without_elements_or_memory) {
    TsrTensor *meta = NULL, *none = new_tensor(2, (int64_t[]){0, 3}, TSR_FLOAT32), *c = NULL;
    ck_assert_int_eq(tsr_tensor_new(&meta, 1, (int64_t[]){3}, TSR_FLOAT32, (TsrDevice){TSR_META, -1}), TSR_OK);
    TsrTensor *in[] = {meta, none};
    for (int i = 0; i < 2; i++) {
        TsrIter it;
        ck_assert_int_eq(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .nin = 1, .in = {in[i]}}), TSR_OK);
        ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, never_loop, NULL), &c), TSR_OK);
        ck_assert_int_eq(tsr_is_meta(c), i == 0);
        ck_assert_int_eq(c->numel, in[i]->numel);
        tsr_tensor_free(c);
    }
    tsr_tensor_free(meta), tsr_tensor_free(none);
}
END_TEST

/* --- interrupts --- */

static _Atomic int64_t visited;
static void interrupting_loop(char *const *data, const int64_t *strides, int64_t n, const void *params) {
    (void)data, (void)strides, (void)params;
    visited += n;
    tsr_interrupt_request();
}

START_TEST(an_interrupt_ends_a_run) {
    int64_t n = 4000000;
    TsrTensor *a = NULL, *c = NULL;
    ck_assert_int_eq(tsr_tensor_new(&a, 1, &n, TSR_UINT8, TSR_DEVICE_CPU), TSR_OK);
    for (int threads = 1; threads <= 2; threads++)
        for (int serial = 0; serial < 2; serial++) {
            TsrIter it;
            tsr_set_num_threads(threads);
            visited = 0;
            TsrIterSpec spec = {.nout = 1, .nin = 1, .in = {a}, .flags = serial ? TSR_ITER_SERIAL : 0};
            ck_assert_int_eq(tsr_iter_begin(&it, &spec), TSR_OK);
            ck_assert_int_eq(tsr_iter_end_move(&it, tsr_iter_run(&it, interrupting_loop, NULL), &c),
                             TSR_KEYBOARD_INTERRUPT);
            ck_assert_int_gt(visited, 0);
            if (threads == 1) ck_assert_int_lt(visited, n / 2); /* else the caller, who looks, may wait for its turn */
            ck_assert_ptr_null(c);
        }
    tsr_tensor_free(a);
}
END_TEST

/* --- lines along one dimension --- */

/* out[i] = the sum of line[0..i]; where the output's line has one element, the whole sum. */
static void running_sum(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    int64_t sum = *(const int64_t *)params;
    for (int64_t i = 0; i < n[1]; i++) {
        sum += *(const int64_t *)(const void *)(data[1] + i * stride[1]);
        *(int64_t *)(void *)(data[0] + TSR_MIN(i, n[0] - 1) * stride[0]) = sum;
    }
}

/* Whether the line of `in` that begins at `place` has its running sum in `out` at `to`. */
static bool is_summed(const TsrTensor *out, int64_t to, const TsrTensor *in, int64_t place, int64_t dim) {
    bool number = tsr_ndim(in) == 0;
    int64_t n = number ? 1 : in->sizes[dim], m = number ? 1 : out->sizes[dim], sum = 5;
    bool good = true;
    for (int64_t k = 0; k < n; k++) {
        int64_t last = TSR_MIN(k, m - 1);
        sum += ((int64_t *)tsr_data(in))[place + (number ? 0 : k * in->strides[dim])];
        if (m == n || k == n - 1)
            good = good && ((int64_t *)tsr_data(out))[to + (number ? 0 : last * out->strides[dim])] == sum;
    }
    return good;
}

static void check_lines(TsrTensor *out, TsrTensor *in, int64_t dim, bool serial) {
    TsrTensor *operands[] = {out, in};
    int64_t start = 5, index[TSR_MAX_DIMS] = {0}, wrong = 0;
    ck_assert_int_eq(tsr_lines_run(operands, 2, dim, running_sum, &start, serial), TSR_OK);
    for (int64_t i = 0; i < in->numel; i++) {
        int64_t place = 0, to = 0;
        for (int d = 0; d < tsr_ndim(in); d++) {
            place += index[d] * in->strides[d];
            to += index[d] * out->strides[d];
        }
        if (tsr_ndim(in) == 0 || index[dim] == 0) wrong += !is_summed(out, to, in, place, dim);
        for (int d = tsr_ndim(in) - 1; d >= 0 && ++index[d] == in->sizes[d]; d--) index[d] = 0;
    }
    ck_assert_int_eq(wrong, 0);
}

START_TEST(lines_are_walked_in_any_geometry) {
    for (int round = 0; round < 600; round++) {
        int64_t shape[8], reduced[8];
        int ndim = some_shape(shape);
        tsr_set_num_threads(1 + (int)below(3));
        int64_t dim = ndim == 0 ? 0 : (int64_t)below((uint32_t)ndim);
        memcpy(reduced, shape, sizeof shape);
        if (ndim > 0 && below(2)) reduced[dim] = 1;
        TsrTensor *in = new_strided_tensor(ndim, shape, TSR_INT64), *out = new_strided_tensor(ndim, reduced, TSR_INT64);
        check_lines(out, in, dim, below(2) == 0);
        tsr_tensor_free(in), tsr_tensor_free(out);
    }
}
END_TEST

static void never_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    (void)data, (void)stride, (void)n, (void)params;
    ck_abort_msg("a line that must not be walked");
}

static void interrupting_line(char *const *data, const int64_t *stride, const int64_t *n, const void *params) {
    (void)data, (void)stride, (void)n, (void)params;
    visited++;
    tsr_interrupt_request();
}

START_TEST(lines_are_refused_skipped_and_interrupted) {
    TsrTensor *none = new_tensor(2, (int64_t[]){0, 3}, TSR_INT64),
              *many = new_tensor(2, (int64_t[]){70000, 3}, TSR_INT8), *meta = NULL, *nine[9];
    for (int i = 0; i < 9; i++) nine[i] = many;
    ck_assert_int_eq(tsr_tensor_new(&meta, 1, (int64_t[]){3}, TSR_FLOAT32, (TsrDevice){TSR_META, -1}), TSR_OK);
    ck_assert_int_eq(tsr_lines_run(nine, 0, 0, never_line, NULL, false), TSR_SYSTEM_ERROR);
    ck_assert_int_eq(tsr_lines_run(nine, 9, 0, never_line, NULL, false), TSR_SYSTEM_ERROR);
    ck_assert_int_eq(tsr_lines_run(&many, 1, -1, never_line, NULL, false), TSR_SYSTEM_ERROR);
    ck_assert_int_eq(tsr_lines_run(&many, 1, 2, never_line, NULL, false), TSR_SYSTEM_ERROR);
    ck_assert_str_eq(tsr_error_message(), "lines along dimension 2 of 2");
    ck_assert_int_eq(tsr_lines_run(&none, 1, 1, never_line, NULL, false), TSR_OK);
    ck_assert_int_eq(tsr_lines_run(&meta, 1, 0, never_line, NULL, false), TSR_OK);
    for (int threads = 1; threads <= 2; threads++)
        for (int serial = 0; serial < 2; serial++) {
            tsr_set_num_threads(threads);
            visited = 0;
            ck_assert_int_eq(tsr_lines_run(nine, 8, 1, interrupting_line, NULL, serial), TSR_KEYBOARD_INTERRUPT);
            /* Of two threads the one that looks for an interrupt may wait for its turn. */
            if (threads == 1 || serial) ck_assert_int_lt(visited, 35000);
        }
    tsr_tensor_free(none), tsr_tensor_free(many), tsr_tensor_free(meta);
}
END_TEST

TEST_SUITE(iter, every_element_meets_its_partners, bytes_between_the_elements_of_an_output_stay,
           tiles_visit_each_element_once, two_short_lines_go_along_each_row, three_turned_inputs_meet_in_tiles,
           dimensions_that_lie_back_to_back_become_one, checks_alone_come_in_the_order_of_a_run,
           operands_of_different_layouts_keep_dimensions_apart, results_lie_as_pytorch_s,
           row_major_order_is_kept_where_it_is_asked_for, overlapping_operands_go_in_pytorch_s_order,
           overlaps_are_not_looked_for_where_they_do_no_harm, the_loop_sees_the_common_dtype,
           single_operands_may_have_a_dtype_of_their_own, small_floats_round_once_at_the_end,
           what_is_refused_leaves_nothing, eight_operands_are_taken, operands_are_held_until_the_end,
           an_allocation_that_fails_leaves_nothing, an_output_of_another_shape_is_resized,
           a_result_larger_than_all_inputs_is_told, nothing_runs_without_elements_or_memory, an_interrupt_ends_a_run,
           lines_are_walked_in_any_geometry, lines_are_refused_skipped_and_interrupted)
