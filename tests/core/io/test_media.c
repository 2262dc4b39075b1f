/* Files of models, pictures, sound and records: cut off or changed at any byte, and read with each allocation failing.
 * The files are tests/oracle/make_gguf.py's, make_media.py's and make_records.py's; what they hold is asked in
 * tests/repl. */
#include "io_attempt.h"

#include <stdio.h>

static const struct {
    const char *format, *path;
    bool ends; /* nothing may be missing */
} files[] = {
    {"gguf", "tests/data/gguf/plain.gguf", false},       {"png", "tests/data/media/rgb.png", true},
    {"png", "tests/data/media/palette.png", true},       {"png", "tests/data/media/interlaced.png", true},
    {"png", "tests/data/media/wide.png", true},          {"ppm", "tests/data/media/rgb.ppm", true},
    {"ppm", "tests/data/media/plain.ppm", false},        {"pgm", "tests/data/media/wide.pgm", true},
    {"wav", "tests/data/media/stereo.wav", true},        {"wav", "tests/data/media/triples.wav", false},
    {"wav", "tests/data/media/float.wav", true},         {"idx", "tests/data/media/numbers.idx", true},
    {"idx", "tests/data/media/digits.idx3-ubyte", true}, {"npy", "tests/data/npy/mixed.npy", true},
    {"npy", "tests/data/npy/numbers.npy", true},         {"pt", "tests/data/pt/quantised_old.pt", true},
};

static TsrText content(const char *path) {
    TsrText text = {0};
    char block[4096];
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "%s", path);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        ck_assert_int_eq(tsr_text_append(&text, block, n), TSR_OK);
    fclose(f);
    return text;
}

/* What a table of many columns leaves in the lists of structs for reuse is there from the first reading on. */
static TsrText prepared(size_t i) {
    TsrText text = content(files[i].path);
    TsrItems items;
    ck_assert_int_eq(read_bytes(&items, files[i].format, text.data, text.length), TSR_OK);
    tsr_items_free(&items);
    return text;
}

START_TEST(any_end_cut_off) {
    for (size_t i = 0; i < TSR_COUNTOF(files); i++) {
        TsrText text = prepared(i);
        ck_assert_msg(attempt(files[i].format, text.data, text.length), "%s", files[i].path);
        for (size_t n = 0; n < text.length; n++) {
            bool fine = attempt(files[i].format, text.data, n);
            if (files[i].ends) ck_assert_msg(!fine, "%s, %zu bytes", files[i].path, n);
        }
        tsr_text_free(&text);
    }
}
END_TEST

START_TEST(any_byte_changed) {
    static const unsigned char changes[] = {1, 0x80, 0xff, 0x42};
    for (size_t i = 0; i < TSR_COUNTOF(files); i++) {
        TsrText text = prepared(i);
        for (size_t at = 0; at < text.length; at++)
            for (size_t k = 0; k < TSR_COUNTOF(changes); k++) {
                text.data[at] = (char)(text.data[at] ^ changes[k]);
                attempt(files[i].format, text.data, text.length);
                text.data[at] = (char)(text.data[at] ^ changes[k]);
            }
        tsr_text_free(&text);
    }
}
END_TEST

START_TEST(allocations_that_fail) {
    for (size_t i = 0; i < TSR_COUNTOF(files); i++) {
        TsrText text = prepared(i);
        attempt_without_memory(files[i].format, text.data, text.length);
        if (strcmp(files[i].path, "tests/data/media/interlaced.png") != 0)
            attempt_write_without_memory(files[i].format, text.data, text.length);
        tsr_text_free(&text);
    }
}
END_TEST

TEST_SUITE(media, any_end_cut_off, any_byte_changed, allocations_that_fail)
