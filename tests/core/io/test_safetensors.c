/* safetensors: headers that lie, and what is left of them. The files of other writers are in tests/repl/safetensors.sh.
 */
#include "io_attempt.h"

#include <stdio.h>

/* Length, header, `nbytes` of data: in a static buffer, *size long. */
static char *file_of(size_t *size, const char *header, size_t nbytes) {
    static char file[4096];
    size_t n = strlen(header);
    memset(file, 0, 8);
    file[0] = (char)(n & 255);
    file[1] = (char)(n >> 8);
    memcpy(file + 8, header, n);
    memset(file + 8 + n, 1, nbytes);
    *size = 8 + n + nbytes;
    return file;
}

#define U8(offsets) "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":" offsets "}"
static const char sound[] =
    "{\"__metadata__\":{\"k\":\"v\"},\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},\"b\":{\"shape"
    "\":[1],\"data_offsets\":[8,9],\"dtype\":\"BOOL\"}}  ";

/* One row a header: the bytes of data behind it, and what is wrong. */
static const struct {
    const char *header;
    size_t nbytes;
    const char *message;
} refusals[] = {
    {"{\"a\":" U8("[0,1]") "}", 2, "no tensor has the bytes from 1 to 2 of the data"},
    {"{\"a\":" U8("[1,2]") "}", 2, "no tensor has the bytes from 0 to 1 of the data"},
    {"{\"a\":" U8("[0,1]") "}", 0, "'a': the offsets 0 and 1 are not a part of the 0 bytes of data"},
    {"{\"a\":" U8("[1,0]") "}", 1, "'a': the offsets 1 and 0 are not a part of the 1 bytes of data"},
    {"{\"a\":" U8("[0,1]") ",\"b\":" U8("[2,3]") "}", 3, "no tensor has the bytes from 1 to 2 of the data"},
    {"{\"a\":" U8("[0,1]") ",\"b\":" U8("[0,1]") "}", 1, "tensors overlap at byte 0 of the data"},
    {"{\"a\":" U8("[0,1]") ",\"a\":" U8("[1,2]") "}", 2, "the name 'a' is there twice"},
    {"{\"a\":{\"dtype\":\"I16\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     "'a': its shape needs 2 bytes, its offsets span 1"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296,0],\"data_offsets\":[0,0]}}", 0, "its shape overflows"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387904],\"data_offsets\":[0,0]}}", 0, "its shape overflows"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,0]}}", 0,
     "header, line 1, column 29: a number beyond 64 bits"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,0]}}", 0,
     "header, line 1, column 29: a whole number, not negative, was expected"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1,
     "header, line 1, column 29: a whole number, not negative, was expected"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[01],\"data_offsets\":[0,1]}}", 1,
     "header, line 1, column 29: a whole number, not negative, was expected"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1,
     "header, line 1, column 15: 'F4' has no tensor dtype"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1,
     "header, line 1, column 50: two offsets were expected"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1,
     "header, line 1, column 52: more than two offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 0,
     "header, line 1, column 32: dtype, shape or data_offsets are missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\"}}", 0, "header, line 1, column 28: the key is there twice"},
    {"{\"a\":{\"type\":\"U8\"}}", 0, "header, line 1, column 14: a key that is none of dtype, shape and data_offsets"},
    {"{\"a\":[]}", 0, "header, line 1, column 6: an object was expected"},
    {"{\"a\":" U8("[0,1]") ",}", 1, "header, line 1, column 54: a key in double quotes was expected"},
    {"{\"a\":" U8("[0,1]") "} x", 1, "header, line 1, column 55: more text after the header"},
    {"{\"\xff\":" U8("[0,1]") "}", 1, "header, line 1, column 3: a string that is not UTF-8"},
    {"{\"\\ud83d\":" U8("[0,1]") "}", 1, "header, line 1, column 9: half a surrogate pair"},
    {"{\"\\u0000\":" U8("[0,1]") "}", 1, "header, line 1, column 9: a NUL in a string"},
    {"{\"\\x\":" U8("[0,1]") "}", 1, "header, line 1, column 4: an unknown escape in a string"},
    {"{\"__metadata__\":{\"a\":1}}", 0, "header, line 1, column 22: a text in double quotes was expected"},
    {"{\"__metadata__\":{\"a\":\"\",\"a\":\"\"}}", 0, "the name 'a' is there twice"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "header, line 1, column 35: the key is there twice"},
    {"[]", 0, "header, line 1, column 1: an object was expected"},
    {"", 0, "header, line 1, column 1: an object was expected"},
};

START_TEST(headers_that_lie) {
    for (size_t i = 0; i < TSR_COUNTOF(refusals); i++) {
        char wanted[256];
        TsrItems items;
        size_t size;
        const char *file = file_of(&size, refusals[i].header, refusals[i].nbytes);
        ck_assert_msg(!attempt("safetensors", file, size), "%s", refusals[i].header);
        ck_assert_int_eq(read_bytes(&items, "safetensors", file, size), TSR_VALUE_ERROR);
        snprintf(wanted, sizeof wanted, "test: %s", refusals[i].message);
        ck_assert_str_eq(tsr_error_message(), wanted);
    }
}
END_TEST

START_TEST(lengths_that_lie) {
    static const char *const files[][2] = {
        {"1234567", "test: 7 bytes are too few for a safetensors file"},
        {"\x01\xe1\xf5\x05\0\0\0\0{}", "test: a header of 100000001 bytes is beyond the format's limit of 100000000"},
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}",
         "test: a header of 18446744073709551615 bytes is beyond the format's limit of 100000000"},
        {"\x03\0\0\0\0\0\0\0{}", "test: the header of 3 bytes is cut off: 2 are there"},
    };
    TsrItems items;
    for (size_t i = 0; i < TSR_COUNTOF(files); i++) {
        ck_assert_int_eq(read_bytes(&items, "safetensors", files[i][0], i == 0 ? 7 : 10), TSR_VALUE_ERROR);
        ck_assert_str_eq(tsr_error_message(), files[i][1]);
    }
}
END_TEST

START_TEST(any_byte_changed_any_end_cut_off) {
    size_t size;
    char *file = file_of(&size, sound, 9);
    ck_assert(attempt("safetensors", file, size));
    for (size_t n = 0; n < size; n++) ck_assert(!attempt("safetensors", file, n));
    for (size_t at = 0; at < size; at++)
        for (int value = 0; value < 256; value++) {
            file = file_of(&size, sound, 9);
            file[at] = (char)value;
            attempt("safetensors", file, size);
        }
}
END_TEST

START_TEST(allocations_that_fail) {
    size_t size;
    const char *file = file_of(&size, sound, 9);
    attempt_without_memory("safetensors", file, size);
    attempt_write_without_memory("safetensors", file, size);
}
END_TEST

START_TEST(what_it_says_besides) {
    TsrItems items;
    size_t size;
    const char *file = file_of(&size, sound, 9);
    ck_assert_int_eq(read_bytes(&items, "safetensors", file, size), TSR_OK);
    ck_assert_int_eq(items.nremarks, 1);
    ck_assert_str_eq(items.remarks[0].key, "k");
    ck_assert_str_eq(items.remarks[0].value, "v");
    ck_assert_str_eq(items.items[1].name, "b");
    ck_assert_int_eq(items.items[1].tensor->dtype, TSR_BOOL);
    tsr_items_free(&items);
}
END_TEST

TEST_SUITE(safetensors, headers_that_lie, lengths_that_lie, any_byte_changed_any_end_cut_off, allocations_that_fail,
           what_it_says_besides)
