/* print.h: tensors as text, byte for byte as PyTorch prints them, by each of set_printoptions' values. */
#include "suite.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/print.h"
#include "core/some_tensors.h"

typedef struct PrintCase {
    TsrDtype dtype;
    struct {
        int ndim;
        int64_t sizes[4];
    } shape;
    TsrPrintOptions options;
    bool counted; /* the values are 0, 1, 2, ... */
    double values[64];
    const char *text;
} PrintCase;

static TsrTensor *new_values(const PrintCase *c) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, c->shape.ndim, c->shape.sizes, c->dtype, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < t->numel; i++) {
        double value = c->counted ? (double)i : c->values[i];
        tsr_scalar_store(tsr_scalar_float(value), c->dtype, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    }
    return t;
}

START_TEST(texts_are_pytorch_s) {
    static const PrintCase cases[] = {
#define PRINT(...) {__VA_ARGS__},
#include "print_cases.def"
    };
    for (size_t i = 0; i < TSR_COUNTOF(cases); i++) {
        TsrText text = {0};
        TsrTensor *t = new_values(&cases[i]);
        *tsr_print_options() = cases[i].options;
        ck_assert_int_eq(tsr_print_tensor(&text, t, 0), TSR_OK);
        ck_assert_str_eq(text.data, cases[i].text);
        tsr_text_free(&text), tsr_tensor_free(t);
    }
}
END_TEST

/* The same of views: elements are shown in the view's order, whatever the strides. */
START_TEST(views_print_as_their_clones) {
    for (int round = 0; round < 200; round++) {
        int64_t sizes[4];
        int ndim = (int)below(5);
        for (int d = 0; d < ndim; d++) sizes[d] = below(6);
        TsrText text = {0}, clone_text = {0};
        TsrTensor *t = new_strided_tensor(ndim, sizes, below(2) ? TSR_FLOAT32 : TSR_INT64), *clone = NULL;
        ck_assert_int_eq(tsr_tensor_new_clone(&clone, t, TSR_CONTIGUOUS), TSR_OK);
        tsr_print_options()->threshold = below(40);
        tsr_print_options()->edgeitems = 1 + below(3);
        ck_assert_int_eq(tsr_print_tensor(&text, t, 0), TSR_OK);
        ck_assert_int_eq(tsr_print_tensor(&clone_text, clone, 0), TSR_OK);
        ck_assert_str_eq(text.data, clone_text.data);
        tsr_text_free(&text), tsr_text_free(&clone_text);
        tsr_tensor_free(t), tsr_tensor_free(clone);
    }
}
END_TEST

START_TEST(lines_are_indented_and_lazy_signs_applied) {
    TsrTensor *x = new_tensor(2, (int64_t[]){2, 2}, TSR_INT64), *z = NULL, *conj = NULL;
    TsrText text = {0};
    for (int64_t i = 0; i < 4; i++) ((int64_t *)tsr_data(x))[i] = i;
    ck_assert_int_eq(tsr_text_puts(&text, "a: "), TSR_OK);
    ck_assert_int_eq(tsr_print_tensor(&text, x, 3), TSR_OK);
    ck_assert_str_eq(text.data, "a: tensor([[0, 1],\n           [2, 3]])");
    tsr_text_free(&text);
    ck_assert_int_eq(tsr_tensor_new_scalar(&z, tsr_scalar_complex(1, 2), TSR_COMPLEX64), TSR_OK);
    ck_assert_int_eq(tsr_tensor_new_conj(&conj, z), TSR_OK);
    ck_assert_int_eq(tsr_print_tensor(&text, conj, 0), TSR_OK);
    ck_assert_str_eq(text.data, "tensor(1.-2.j)");
    tsr_text_free(&text);
    tsr_tensor_free(x), tsr_tensor_free(z), tsr_tensor_free(conj);
}
END_TEST

START_TEST(a_text_that_cannot_grow_leaves_nothing) {
    int64_t n = 400;
    TsrTensor *x = new_tensor(1, &n, TSR_FLOAT32);
    int failures = 0;
    for (int64_t k = 1; k < 40; k++) {
        TsrText text = {0};
        int64_t blocks = tsr_mem_live_blocks();
        (void)tsr_mem_fail_at(k);
        failures += tsr_print_tensor(&text, x, 0) != TSR_OK;
        (void)tsr_mem_fail_at(0);
        tsr_text_free(&text);
        ck_assert_int_eq(tsr_mem_live_blocks(), blocks);
    }
    ck_assert_int_gt(failures, 0);
    tsr_tensor_free(x);
}
END_TEST

START_TEST(an_interrupt_ends_a_long_text) {
    int64_t n = 20000;
    TsrTensor *x = new_tensor(1, &n, TSR_INT64);
    TsrText text = {0};
    tsr_print_options()->threshold = INFINITY;
    tsr_interrupt_request();
    ck_assert_int_eq(tsr_print_tensor(&text, x, 0), TSR_KEYBOARD_INTERRUPT);
    ck_assert_int_eq(tsr_print_tensor(&text, x, 0), TSR_OK);
    tsr_text_free(&text), tsr_tensor_free(x);
}
END_TEST

TEST_SUITE(print, texts_are_pytorch_s, views_print_as_their_clones, lines_are_indented_and_lazy_signs_applied,
           a_text_that_cannot_grow_leaves_nothing, an_interrupt_ends_a_long_text)
