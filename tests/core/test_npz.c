/* npz: archives that are cut off or changed. Those of other writers are in tests/cli/npz.sh. */
#include "io_attempt.h"

/* An archive of two small tensors, in memory; the caller's to free. */
static TsrText archive(bool compress) {
    static const int64_t sizes[] = {2, 3};
    TsrItems items = {0};
    TsrSink sink = {.fd = -1, .name = "test"};
    for (int i = 0; i < 2; i++) {
        TsrTensor *t;
        ck_assert_int_eq(tsr_tensor_new(&t, 2, sizes, i == 0 ? TSR_FLOAT32 : TSR_BOOL, TSR_DEVICE_CPU), TSR_OK);
        memset(tsr_data(t), 1, (size_t)t->numel * tsr_itemsize(t));
        ck_assert_int_eq(tsr_items_add_move(&items, i == 0 ? "a" : "b", 1, t), TSR_OK);
    }
    ck_assert_int_eq(tsr_write(&sink, &items, &(TsrSaveOptions){.format = "npz", .compress = compress}), TSR_OK);
    tsr_items_free(&items);
    return sink.text;
}

START_TEST(any_end_cut_off) {
    for (int compress = 0; compress < 2; compress++) {
        TsrText text = archive(compress);
        ck_assert(attempt("npz", text.data, text.length));
        for (size_t n = 0; n < text.length; n++) ck_assert(!attempt("npz", text.data, n));
        tsr_text_free(&text);
    }
}
END_TEST

START_TEST(any_byte_changed) {
    static const unsigned char changes[] = {1, 0x80, 0xff, 0x42};
    for (int compress = 0; compress < 2; compress++) {
        TsrText text = archive(compress);
        for (size_t at = 0; at < text.length; at++)
            for (size_t i = 0; i < TSR_COUNTOF(changes); i++) {
                text.data[at] = (char)(text.data[at] ^ changes[i]);
                attempt("npz", text.data, text.length);
                text.data[at] = (char)(text.data[at] ^ changes[i]);
            }
        tsr_text_free(&text);
    }
}
END_TEST

START_TEST(allocations_that_fail) {
    for (int compress = 0; compress < 2; compress++) {
        TsrText text = archive(compress);
        attempt_without_memory("npz", text.data, text.length);
        attempt_write_without_memory("npz", text.data, text.length);
        tsr_text_free(&text);
    }
}
END_TEST

TEST_SUITE(npz, any_end_cut_off, any_byte_changed, allocations_that_fail)
