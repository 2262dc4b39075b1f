/* ops/reduce/survey.h: what a survey tells is what two plain passes over the same doubles tell, for each dtype, in any
 * number of threads, with numbers among them that are not finite. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/ops/reduce/survey.h"
#include "core/parallel.h"
#include "core/scalar.h"
#include "core/tensor/owned.h"

typedef enum Filling { SPREAD, FEW_VALUES, CONSTANT, ODD, ALL_NAN, WITH_OUTLIER, FILLINGS } Filling;

static double number(Filling filling, int64_t i) {
    switch (filling) {
    case SPREAD: return (double)rand() / RAND_MAX * 3 - 1;
    case FEW_VALUES: return rand() % 5 - 2;
    case CONSTANT: return 1024.5;
    case ODD: return i % 7 == 0 ? NAN : i % 5 == 0 ? INFINITY : i % 3 == 0 ? -INFINITY : i % 11 - 5;
    case ALL_NAN: return NAN;
    default: return i == 1 ? 30000 : i % 2 ? -0.0 : 0.25;
    }
}

static TsrTensor *filled_new(TsrDtype d, int64_t n, Filling filling) {
    TsrTensor *t = NULL;
    ck_assert_int_eq(tsr_tensor_new(&t, 1, &n, d, TSR_DEVICE_CPU), TSR_OK);
    for (int64_t i = 0; i < n; i++)
        tsr_scalar_store(tsr_scalar_float(number(filling, i)), d, (char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t));
    return t;
}

static double value_at(const TsrTensor *t, int64_t i) {
    return tsr_scalar_to_double(tsr_scalar_load(t->dtype, (const char *)tsr_data(t) + i * (int64_t)tsr_itemsize(t)));
}

/* By the definitions. */
static TsrSurvey plain_survey(int64_t *bars, const TsrTensor *t) {
    TsrSurvey s = {.low = INFINITY, .high = -INFINITY};
    for (int64_t i = 0; i < t->numel; i++) {
        const double x = value_at(t, i);
        s.nan += isnan(x) ? 1 : 0;
        s.inf += isinf(x) ? 1 : 0;
        if (!isfinite(x)) continue;
        s.finite++;
        s.zeros += x == 0;
        s.low = fmin(s.low, x);
        s.high = fmax(s.high, x);
        s.mean += x;
    }
    s.mean /= (double)s.finite;
    for (int k = 0; k < TSR_SURVEY_BARS; k++) bars[k] = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        const double x = value_at(t, i);
        if (!isfinite(x)) continue;
        s.squares += (x - s.mean) * (x - s.mean);
        int bar = 0;
        while (bar < TSR_SURVEY_BOUNDS && x >= s.low * (1 - (bar + 1) / 8.0) + s.high * ((bar + 1) / 8.0)) bar++;
        bars[bar] += s.low < s.high;
    }
    return s;
}

static void compare(TsrDtype d, int64_t n, Filling filling) {
    TSR_OWNED t = filled_new(d, n, filling);
    int64_t bars[TSR_SURVEY_BARS], expected_bars[TSR_SURVEY_BARS];
    TsrSurvey s, expected = plain_survey(expected_bars, t);
    ck_assert_int_eq(tsr_survey(&s, bars, t), TSR_OK);
    ck_assert_int_eq(s.nan, expected.nan);
    ck_assert_int_eq(s.inf, expected.inf);
    ck_assert_int_eq(s.finite, expected.finite);
    for (int k = 0; k < TSR_SURVEY_BARS; k++) ck_assert_int_eq(bars[k], expected_bars[k]);
    if (s.finite == 0) return;
    ck_assert_int_eq(s.zeros, expected.zeros);
    ck_assert_double_eq(s.low, expected.low);
    ck_assert_double_eq(s.high, expected.high);
    ck_assert_double_le(fabs(s.mean - expected.mean),
                        1e-9 * (expected.high - expected.low) + 1e-14 * fabs(expected.high));
    ck_assert_double_le(fabs(s.squares - expected.squares), 1e-9 * expected.squares);
}

static const TsrDtype dtypes[] = {TSR_FLOAT16, TSR_BFLOAT16, TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT8_E4M3FN};
static const TsrDtype whole_dtypes[] = {TSR_BOOL, TSR_INT8, TSR_UINT16, TSR_INT64};

START_TEST(survey_is_what_the_definitions_say) {
    static const int64_t sizes[] = {1, 2, 7, 100, 2047, 2049, 65536, 200001};
    for (size_t d = 0; d < TSR_COUNTOF(dtypes); d++)
        for (size_t k = 0; k < TSR_COUNTOF(sizes); k++)
            for (int filling = 0; filling < FILLINGS; filling++) compare(dtypes[d], sizes[k], (Filling)filling);
    for (size_t d = 0; d < TSR_COUNTOF(whole_dtypes); d++)
        for (size_t k = 0; k < TSR_COUNTOF(sizes); k++) compare(whole_dtypes[d], sizes[k], FEW_VALUES);
}
END_TEST

START_TEST(survey_does_not_depend_on_threads) {
    TSR_OWNED t = filled_new(TSR_BFLOAT16, 1000003, SPREAD);
    int64_t bars[2][TSR_SURVEY_BARS];
    TsrSurvey s[2];
    for (int k = 0; k < 2; k++) {
        tsr_set_num_threads(k == 0 ? 1 : 3);
        ck_assert_int_eq(tsr_survey(&s[k], bars[k], t), TSR_OK);
    }
    ck_assert_mem_eq(&s[0], &s[1], sizeof s[0]);
    ck_assert_mem_eq(bars[0], bars[1], sizeof bars[0]);
}
END_TEST

START_TEST(survey_that_fails_leaves_nothing) {
    TSR_OWNED t = filled_new(TSR_FLOAT32, 100000, SPREAD);
    int64_t bars[TSR_SURVEY_BARS], before = tsr_mem_live_blocks();
    TsrSurvey s;
    tsr_mem_fail_at(1);
    ck_assert_int_ne(tsr_survey(&s, bars, t), TSR_OK);
    tsr_mem_fail_at(0);
    ck_assert_int_eq(tsr_mem_live_blocks(), before);
}
END_TEST

TEST_SUITE(survey, survey_is_what_the_definitions_say, survey_does_not_depend_on_threads,
           survey_that_fails_leaves_nothing)
