/* scalar.h: one value, its kind, and its way into an element of each dtype and out again. */
#include "suite.h"

#include <math.h>
#include <string.h>

#include "core/dtype.h"
#include "core/scalar.h"

typedef struct Limit {
    TsrDtype dtype;
    int64_t low, high;
} Limit;
static const Limit limits[] = {
    {TSR_UINT8, 0, 255},
    {TSR_INT8, -128, 127},
    {TSR_INT16, -32768, 32767},
    {TSR_UINT16, 0, 65535},
    {TSR_INT32, INT32_MIN, INT32_MAX},
    {TSR_UINT32, 0, UINT32_MAX},
    {TSR_INT64, INT64_MIN, INT64_MAX},
};
static const TsrDtype floats[] = {TSR_FLOAT16, TSR_BFLOAT16,    TSR_FLOAT32,
                                  TSR_FLOAT64, TSR_FLOAT8_E5M2, TSR_FLOAT8_E4M3FN};
static const TsrDtype complexes[] = {TSR_COMPLEX32, TSR_COMPLEX64, TSR_COMPLEX128};

/* Through an element at an odd address, with bytes around it that have to stay. */
static TsrScalar through(TsrScalar s, TsrDtype d) {
    unsigned char bytes[40];
    size_t size = tsr_dtype_size(d);
    memset(bytes, 0xA5, sizeof bytes);
    tsr_scalar_store(s, d, bytes + 9);
    ck_assert_int_eq(bytes[8], 0xA5);
    ck_assert_int_eq(bytes[9 + size], 0xA5);
    return tsr_scalar_load(d, bytes + 9);
}

START_TEST(integers_come_back_and_wrap) {
    for (size_t i = 0; i < TSR_COUNTOF(limits); i++) {
        const Limit *l = &limits[i];
        const int64_t some[] = {l->low, l->high, 0, 1, 100};
        for (size_t k = 0; k < TSR_COUNTOF(some); k++) {
            TsrScalar s = through(tsr_scalar_int(some[k]), l->dtype);
            ck_assert_int_eq(s.kind, TSR_SCALAR_INT);
            ck_assert_int_eq(s.i, some[k]);
        }
        if (l->dtype == TSR_INT64) continue;
        ck_assert_int_eq(through(tsr_scalar_int(l->high + 1), l->dtype).i, l->low);
        ck_assert_int_eq(through(tsr_scalar_int(l->low - 1), l->dtype).i, l->high);
    }
}
END_TEST

START_TEST(checked_stores_refuse_what_does_not_fit) {
    char element[16], before[16];
    memset(element, 7, sizeof element);
    memcpy(before, element, sizeof before);
    for (size_t i = 0; i < TSR_COUNTOF(limits); i++) {
        const Limit *l = &limits[i];
        if (l->dtype == TSR_INT64) continue;
        ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_int(l->high + 1), l->dtype, element), TSR_RUNTIME_ERROR);
        ck_assert_ptr_nonnull(strstr(tsr_error_message(), "without overflow"));
        ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_float(1e30), l->dtype, element), TSR_RUNTIME_ERROR);
        if (l->low < 0)
            ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_int(l->low - 1), l->dtype, element),
                             TSR_RUNTIME_ERROR);
        ck_assert_mem_eq(element, before, sizeof before);
        ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_int(l->high), l->dtype, element), TSR_OK);
        ck_assert_int_eq(tsr_scalar_load(l->dtype, element).i, l->high);
        memcpy(element, before, sizeof before);
    }
    ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_float(1e6), TSR_FLOAT16, element), TSR_RUNTIME_ERROR);
    for (double edge = -65504; edge <= 65504; edge += 131008)
        ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_float(edge), TSR_FLOAT16, element), TSR_OK);
    ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_float(-128), TSR_INT8, element), TSR_OK);
    ck_assert_int_eq(tsr_scalar_load(TSR_INT8, element).i, -128);
    ck_assert_int_eq(tsr_scalar_store_only(tsr_scalar_float(1e6), TSR_FLOAT16, element), TSR_OK);
    ck_assert_double_eq(tsr_scalar_load(TSR_FLOAT16, element).f, INFINITY);
    ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_float(INFINITY), TSR_FLOAT16, element), TSR_OK);
    ck_assert_int_eq(tsr_scalar_store_checked(tsr_scalar_complex(1, 2), TSR_FLOAT32, element), TSR_RUNTIME_ERROR);
}
END_TEST

START_TEST(uint64_above_int64_has_a_kind_of_its_own) {
    TsrScalar s = through(tsr_scalar_int(-1), TSR_UINT64);
    ck_assert_int_eq(s.kind, TSR_SCALAR_UINT);
    ck_assert_uint_eq(s.u, UINT64_MAX);
    ck_assert_double_eq(tsr_scalar_to_double(s), 18446744073709551616.0);
    ck_assert(tsr_scalar_to_bool(s));
    ck_assert_int_eq(through(tsr_scalar_int(5), TSR_UINT64).kind, TSR_SCALAR_INT);
    ck_assert_double_eq(through(s, TSR_FLOAT64).f, 18446744073709551616.0);
    ck_assert_uint_eq(through(s, TSR_UINT64).u, UINT64_MAX);
    ck_assert(!tsr_scalar_to_bool((TsrScalar){.kind = TSR_SCALAR_UINT, .u = 0}));
}
END_TEST

START_TEST(floats_round_and_keep_signs) {
    for (size_t i = 0; i < TSR_COUNTOF(floats); i++) {
        const double exact[] = {0, 1, -1.5, 0.25, 224};
        for (size_t k = 0; k < TSR_COUNTOF(exact); k++) {
            ck_assert_int_eq(through(tsr_scalar_float(exact[k]), floats[i]).kind, TSR_SCALAR_FLOAT);
            ck_assert_double_eq(through(tsr_scalar_float(exact[k]), floats[i]).f, exact[k]);
        }
        ck_assert(signbit(through(tsr_scalar_float(-0.0), floats[i]).f) != 0);
        ck_assert(isnan(through(tsr_scalar_float(NAN), floats[i]).f));
        ck_assert_double_eq(through(tsr_scalar_int(-3), floats[i]).f, -3);
        ck_assert_double_eq(through(tsr_scalar_bool(true), floats[i]).f, 1);
    }
    ck_assert_double_eq(through(tsr_scalar_float(0.1), TSR_FLOAT32).f, (double)0.1f);
    ck_assert_double_eq(through(tsr_scalar_float(1 + 0x1p-11), TSR_FLOAT16).f, 1); /* to even */
    ck_assert_double_eq(through(tsr_scalar_float(1 + 0x3p-11), TSR_FLOAT16).f, 1 + 0x1p-9);
    ck_assert_double_eq(through(tsr_scalar_float(1 + 0x3p-8), TSR_BFLOAT16).f, 1 + 0x1p-6);
}
END_TEST

START_TEST(complex_numbers_have_two_parts) {
    for (size_t i = 0; i < TSR_COUNTOF(complexes); i++) {
        TsrScalar s = through(tsr_scalar_complex(1.5, -0.25), complexes[i]);
        ck_assert_int_eq(s.kind, TSR_SCALAR_COMPLEX);
        ck_assert_double_eq(s.c.re, 1.5);
        ck_assert_double_eq(s.c.im, -0.25);
        s = through(tsr_scalar_float(2), complexes[i]);
        ck_assert_double_eq(s.c.re, 2);
        ck_assert_double_eq(s.c.im, 0);
    }
    ck_assert_double_eq(through(tsr_scalar_complex(3, 4), TSR_FLOAT32).f, 3);
    ck_assert_double_eq(tsr_scalar_to_double(tsr_scalar_complex(3, 4)), 3);
    ck_assert(tsr_scalar_to_bool(tsr_scalar_complex(0, 4)));
    ck_assert(!tsr_scalar_to_bool(tsr_scalar_complex(0, 0)));
}
END_TEST

START_TEST(any_number_but_zero_is_true) {
    static const double odd[] = {1, -1, 0.1, INFINITY};
    for (size_t i = 0; i < TSR_COUNTOF(odd); i++) {
        ck_assert(tsr_scalar_to_bool(tsr_scalar_float(odd[i])));
        TsrScalar s = through(tsr_scalar_float(odd[i]), TSR_BOOL);
        ck_assert_int_eq(s.kind, TSR_SCALAR_BOOL);
        ck_assert(s.b);
    }
    ck_assert(tsr_scalar_to_bool(tsr_scalar_float(NAN)));
    ck_assert(!tsr_scalar_to_bool(tsr_scalar_float(-0.0)));
    ck_assert(!through(tsr_scalar_int(0), TSR_BOOL).b);
    ck_assert(through(tsr_scalar_int(256), TSR_BOOL).b);
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_bool(true)), 1);
}
END_TEST

START_TEST(floats_become_integers_as_the_processor_does) {
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_float(-2.9)), -2);
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_float(2.9)), 2);
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_float(NAN)), INT64_MIN);
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_float(1e30)), INT64_MIN);
    ck_assert_int_eq(tsr_scalar_to_int(tsr_scalar_complex(-7.5, 3)), -7);
    ck_assert_double_eq(tsr_scalar_to_double(tsr_scalar_int(INT64_MIN)), -0x1p63);
}
END_TEST

START_TEST(a_python_number_has_the_default_dtype) {
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_bool(true)), TSR_BOOL);
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_int(1)), TSR_INT64);
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_float(1)), TSR_FLOAT32);
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_complex(1, 1)), TSR_COMPLEX64);
    ck_assert_int_eq(tsr_set_default_dtype(TSR_FLOAT64), TSR_OK);
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_float(1)), TSR_FLOAT64);
    ck_assert_int_eq(tsr_scalar_dtype(tsr_scalar_complex(1, 1)), TSR_COMPLEX128);
    ck_assert_int_eq(tsr_set_default_dtype(TSR_FLOAT32), TSR_OK);
}
END_TEST

TEST_SUITE(scalar, integers_come_back_and_wrap, checked_stores_refuse_what_does_not_fit,
           uint64_above_int64_has_a_kind_of_its_own, floats_round_and_keep_signs, complex_numbers_have_two_parts,
           any_number_but_zero_is_true, floats_become_integers_as_the_processor_does,
           a_python_number_has_the_default_dtype)
