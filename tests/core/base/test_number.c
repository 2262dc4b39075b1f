/* number.h: decimal text. Expectations are Python's repr and the C library's exact strtod. */
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"

static uint64_t next_random(uint64_t *state) { /* xorshift64 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

START_TEST(repr_of_known_doubles) {
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {100, "100.0"},
                {1e16, "1e+16"},
                {1e15, "1000000000000000.0"},
                {-0.0, "-0.0"},
                {5e-324, "5e-324"},
                {1e-5, "1e-05"},
                {0.0001, "0.0001"},
                {1.7976931348623157e308, "1.7976931348623157e+308"},
                {9007199254740993.0, "9007199254740992.0"},
                {INFINITY, "inf"},
                {2e-3, "0.002"},
                {9.5367431640625e-07, "9.5367431640625e-07"},
                {2.2250738585072014e-308, "2.2250738585072014e-308"}};
    char buffer[TSR_NUMBER_ROOM];
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++) {
        ck_assert_uint_eq(tsr_format_double(buffer, rows[i].value), strlen(rows[i].text));
        ck_assert_str_eq(buffer, rows[i].text);
    }
}
END_TEST

START_TEST(text_reads_back_as_the_same_double) {
    uint64_t state = 88172645463325252u;
    char buffer[TSR_NUMBER_ROOM];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&state);
        double value, back;
        if (i % 4 == 0) bits &= UINT64_C(0xfff0000000000000); /* powers of two: uneven neighbours */
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        size_t n = tsr_format_double(buffer, value);
        ck_assert_ptr_eq(tsr_parse_double(&back, buffer, buffer + n), buffer + n);
        ck_assert(memcmp(&value, &back, sizeof value) == 0);
        ck_assert(strtod(buffer, NULL) == value);
    }
}
END_TEST

START_TEST(parsing_rounds_as_the_c_library_does) {
    uint64_t state = 1234567;
    char text[64];
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = next_random(&state);
        double value, parsed;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        int n = snprintf(text, sizeof text, "%.*e", (int)(bits % 25), value);
        ck_assert_ptr_eq(tsr_parse_double(&parsed, text, text + n), text + n);
        ck_assert_msg(parsed == strtod(text, NULL), "%s", text);
    }
}
END_TEST

START_TEST(float_text_is_the_shortest_of_float32) {
    char buffer[TSR_NUMBER_ROOM];
    tsr_format_float(buffer, 0.1f);
    ck_assert_str_eq(buffer, "0.1");
    tsr_format_float(buffer, 16777216.0f);
    ck_assert_str_eq(buffer, "16777216.0");
    tsr_format_float(buffer, 1e-45f);
    ck_assert_str_eq(buffer, "1e-45");
}
END_TEST

START_TEST(what_is_no_number_is_refused) {
    double value;
    int64_t whole;
    static const char *const texts[] = {"", "-", ".", "e5", "abc", "+-1"};
    for (size_t i = 0; i < TSR_COUNTOF(texts); i++)
        ck_assert_ptr_null(tsr_parse_double(&value, texts[i], texts[i] + strlen(texts[i])));
    const char *least = "-9223372036854775808", *big = least + 1, *end = least + strlen(least);
    ck_assert_ptr_null(tsr_parse_int64(&whole, big, end));
    ck_assert_ptr_nonnull(tsr_parse_int64(&whole, least, end));
    ck_assert_int_eq(whole, INT64_MIN);
}
END_TEST

TEST_SUITE(number, repr_of_known_doubles, text_reads_back_as_the_same_double, parsing_rounds_as_the_c_library_does,
           float_text_is_the_shortest_of_float32, what_is_no_number_is_refused)
