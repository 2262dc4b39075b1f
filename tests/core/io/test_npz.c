/* npz: archives that are cut off or changed. Those of other writers are in tests/repl/npz.sh. */
#include "io_attempt.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/io/packing/zip.h"

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
    ck_assert_int_eq(
        tsr_write(&sink, &items,
                  &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = "npz", .compress = compress}),
        TSR_OK);
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

static const char header[] = "\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }"
                             "                                                           \n";
static const TsrZipPart array[] = {{header, 128}, {"\5\6", 2}};

/* Two arrays behind `at` bytes of anything, which no member has. */
static TsrText archive_at(uint64_t at, int n) {
    TsrSink sink = {.fd = -1, .name = "test"};
    TsrZipWriter w = {.sink = &sink, .at = at};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < n && status == TSR_OK; i++) {
        char name[24];
        snprintf(name, sizeof name, "a%d.npy", i);
        status = tsr_zip_put(&w, name, array, 2);
    }
    ck_assert_int_eq(tsr_zip_finish(&w, status), TSR_OK);
    return sink.text;
}

static void check_arrays(const TsrItems *items, int n) {
    ck_assert_int_eq(items->n, n);
    for (int i = 0; i < n; i++) {
        const unsigned char *data = tsr_data(items->items[i].tensor);
        ck_assert(items->items[i].tensor->numel == 2 && data[0] == 5 && data[1] == 6);
    }
}

/* A hole of 5 GiB before the members: what is beyond 4 GiB is written in 64 bits, and read again; where addresses have
 * 32 bits, there is no room for such a file, which is refused. */
START_TEST(numbers_of_64_bits) {
    static const uint64_t places[] = {0x7fffff00, 0xffffff00, 5ull << 30};
    for (size_t i = 0; i < TSR_COUNTOF(places); i++) {
        char path[] = "/tmp/tsr-large-XXXXXX";
        TsrText text = archive_at(places[i], 4);
        uint64_t end = places[i] + text.length;
        bool has_room = (size_t)end == end;
        TsrItems items;
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        bool fits = ftruncate(fd, (off_t)places[i]) == 0 &&
                    pwrite(fd, text.data, text.length, (off_t)places[i]) == (ssize_t)text.length;
        close(fd);
        TsrStatus status = tsr_load(
            &items, path,
            &(TsrLoadOptions){
                .size = sizeof(TsrLoadOptions), .format = "npz", .ndim = -1, .dtype = TSR_DTYPE_NONE, .header = -1});
        unlink(path);
        tsr_text_free(&text);
        if (!fits) continue; /* a file system without holes */
        ck_assert_msg(status == (has_room ? TSR_OK : TSR_RUNTIME_ERROR), "%s", tsr_error_message());
        if (!has_room) continue;
        check_arrays(&items, 4);
        tsr_items_free(&items);
    }
}
END_TEST

START_TEST(more_members_than_16_bits_count) {
    static const int counts[] = {65534, 65535, 65536};
    for (size_t i = 0; i < TSR_COUNTOF(counts); i++) {
        TsrText text = archive_at(0, counts[i]);
        TsrItems items;
        ck_assert_int_eq(read_bytes(&items, "npz", text.data, text.length), TSR_OK);
        check_arrays(&items, counts[i]);
        tsr_items_free(&items);
        tsr_text_free(&text);
    }
}
END_TEST

/* Behind 64-bit records, too, no end of which may be missing and no byte be wrong without all or nothing. */
START_TEST(damaged_numbers_of_64_bits) {
    TsrText text = archive_at(0, 1), wide = {0};
    size_t end = text.length - 22, directory = end - 46 - 6;
    /* Its own directory, with all numbers moved into 64 bits. */
    unsigned char entry[46 + 6 + 32], record[56] = "PK\6\6\x2c", locator[20] = "PK\6\7", last[22] = "PK\5\6";
    memcpy(entry, text.data + directory, 52);
    memset(entry + 20, 0xff, 8);
    memset(entry + 42, 0xff, 4);
    entry[30] = 32;
    memset(entry + 52, 0, 32);
    entry[52] = 1;
    entry[54] = 28;
    memcpy(entry + 56, text.data + directory + 24, 4);
    memcpy(entry + 64, text.data + directory + 20, 4);
    memset(last + 8, 0xff, 12);
    record[24] = record[32] = 1;
    record[40] = sizeof entry;
    record[48] = (unsigned char)directory;
    record[49] = (unsigned char)(directory >> 8);
    locator[8] = (unsigned char)(directory + sizeof entry);
    locator[9] = (unsigned char)((directory + sizeof entry) >> 8);
    locator[16] = 1;
    ck_assert_int_eq(tsr_text_append(&wide, text.data, directory), TSR_OK);
    ck_assert_int_eq(tsr_text_append(&wide, (char *)entry, sizeof entry), TSR_OK);
    ck_assert_int_eq(tsr_text_append(&wide, (char *)record, sizeof record), TSR_OK);
    ck_assert_int_eq(tsr_text_append(&wide, (char *)locator, sizeof locator), TSR_OK);
    ck_assert_int_eq(tsr_text_append(&wide, (char *)last, sizeof last), TSR_OK);
    ck_assert_msg(attempt("npz", wide.data, wide.length), "read");
    for (size_t n = 0; n < wide.length; n++) ck_assert(!attempt("npz", wide.data, n));
    for (size_t at = directory; at < wide.length; at++)
        for (int bit = 0; bit < 8; bit++) {
            wide.data[at] = (char)(wide.data[at] ^ 1 << bit);
            attempt("npz", wide.data, wide.length);
            wide.data[at] = (char)(wide.data[at] ^ 1 << bit);
        }
    tsr_text_free(&text);
    tsr_text_free(&wide);
}
END_TEST

TEST_SUITE(npz, any_end_cut_off, any_byte_changed, allocations_that_fail, numbers_of_64_bits,
           more_members_than_16_bits_count, damaged_numbers_of_64_bits)
