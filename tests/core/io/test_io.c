/* Readers and writers of files: round trips, and bytes that lie. Nothing may be left behind by a refusal. */
#include "io_attempt.h"

#include <unistd.h>

#include "core/table.h"

/* What NumPy's header needs; the rest of the bytes follow. Static buffer, *size its length. */
static char *npy(size_t *size, const char *header, const void *data, size_t nbytes) {
    static char file[4096];
    size_t n = strlen(header);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)(n & 255);
    file[9] = (char)(n >> 8);
    memcpy(file + 10, header, n);
    if (nbytes > 0) memcpy(file + 10 + n, data, nbytes);
    *size = 10 + n + nbytes;
    return file;
}

static void refused(const char *format, const char *text, const char *message) {
    TsrItems items;
    ck_assert_int_eq(read_bytes(&items, format, text, strlen(text)), TSR_VALUE_ERROR);
    ck_assert_str_eq(tsr_error_message(), message);
}

static void write_text(TsrText *out, const char *format, TsrTensor *t) {
    TsrItem item = {NULL, t};
    TsrSink sink = {.fd = -1, .name = "test"};
    ck_assert_int_eq(tsr_write(&sink, &(TsrItems){.items = &item, .n = 1, .single = true},
                               &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = format}),
                     TSR_OK);
    *out = sink.text;
}

static const int64_t shapes[][3] = {{2, 3, 4}, {0, 3, 1}, {1, 1, 1}};

static void round_trip(const char *format, TsrDtype dtype, int ndim, const int64_t *sizes) {
    TsrTensor *t;
    TsrText text;
    TsrItems items;
    ck_assert_int_eq(tsr_tensor_new(&t, ndim, sizes, dtype, TSR_DEVICE_CPU), TSR_OK);
    size_t nbytes = (size_t)t->numel * tsr_itemsize(t);
    for (size_t i = 0; i < nbytes; i++)
        ((unsigned char *)tsr_data(t))[i] = dtype == TSR_BOOL ? i & 1 : (unsigned char)(i * 37);
    write_text(&text, format, t);
    ck_assert_int_eq(read_bytes(&items, format, text.data, text.length), TSR_OK);
    const TsrTensor *back = items.items[0].tensor;
    ck_assert_int_eq(back->dtype, dtype);
    ck_assert_int_eq(tsr_ndim(back), ndim);
    for (int d = 0; d < ndim; d++) ck_assert_int_eq(back->sizes[d], sizes[d]);
    if (nbytes > 0) ck_assert_mem_eq(tsr_data(back), tsr_data(t), nbytes);
    for (size_t n = 0; n < text.length; n++) /* in protocol buffers every beginning that ends a field is a message */
        if (attempt(format, text.data, n)) ck_assert_str_eq(format, "pb");
    tsr_items_free(&items);
    tsr_text_free(&text);
    tsr_tensor_free(t);
}

START_TEST(every_dtype_survives_npy_and_pb) {
    static const TsrDtype dtypes[] = {TSR_BOOL,    TSR_UINT8,   TSR_UINT16,    TSR_UINT32,    TSR_UINT64,
                                      TSR_INT8,    TSR_INT16,   TSR_INT32,     TSR_INT64,     TSR_FLOAT16,
                                      TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_COMPLEX128};
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++)
        for (size_t s = 0; s < TSR_COUNTOF(shapes); s++)
            for (int ndim = 0; ndim <= 3; ndim += 3) {
                round_trip("npy", dtypes[i], ndim, shapes[s]);
                round_trip("pb", dtypes[i], ndim, shapes[s]);
            }
}
END_TEST

START_TEST(npy_byte_order_and_column_order) {
    TsrItems items;
    size_t size;
    const char *file =
        npy(&size, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }", "\0\1\0\2\0\3\0\4\0\5\1\0", 12);
    ck_assert_int_eq(read_bytes(&items, "npy", file, size), TSR_OK);
    const TsrTensor *t = items.items[0].tensor;
    ck_assert_int_eq(t->strides[0], 1);
    ck_assert_int_eq(t->strides[1], 2);
    const int64_t wanted[] = {1, 3, 5, 2, 4, 256};
    for (int i = 0; i < 6; i++) ck_assert_int_eq(tsr_tensor_get(t, i).i, wanted[i]);
    tsr_items_free(&items);
}
END_TEST

START_TEST(npy_headers_that_lie) {
    static const char *const headers[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807, 9223372036854775807), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8'), ('b', '<f8')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8', (9223372036854775807, 2))], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8'), ('a', '<f8')], 'fortran_order': False, 'shape': (0,), }",
        "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', [('b', '<f8')])], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [('a', '<f8'], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, }",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1",
        "{",
        "",
    };
    for (size_t i = 0; i < TSR_COUNTOF(headers); i++) {
        size_t size;
        const char *file = npy(&size, headers[i], "12345678", 8);
        ck_assert_msg(!attempt("npy", file, size), "%s", headers[i]);
    }
}
END_TEST

START_TEST(npy_any_byte_of_the_header_changed) {
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
    for (size_t at = 0; at < 10 + sizeof header - 1; at++)
        for (int value = 0; value < 256; value++) {
            size_t size;
            char *file = npy(&size, header, "12345678", 8);
            file[at] = (char)value;
            attempt("npy", file, size);
        }
}
END_TEST

START_TEST(csv_damage_names_line_and_column) {
    refused("csv", "1,2\n3\n", "test: line 2 has 1 field, the first row has 2");
    refused("csv", "1,2\n3,x\n", "test: line 2, column 2: 'x' is not a number");
    refused("csv", "", "test: it holds no rows");
    refused("csv", "1,2\n3,\xff\xfe\n", "test: line 2, column 2: '\\xff\\xfe' is not a number");
    ck_assert(!attempt("csv", "1,\0,3\n", 6));
    ck_assert(attempt("csv", "1,nan\n-inf,inf\n", 15));
    size_t n = 1 << 20; /* one long line, and then short ones: never rows times columns of memory */
    char *line = malloc(n + 1);
    for (size_t i = 0; i < n; i++) line[i] = i % 2 == 0 ? '1' : ' ';
    for (size_t i = n / 2; i < n; i++) line[i] = i % 2 == 0 ? '1' : '\n';
    ck_assert(!attempt("csv", line, n));
    free(line);
}
END_TEST

/* A line end in quotes ends no row, wherever the blocks that are read side by side begin. */
START_TEST(csv_quotes_over_lines) {
    TsrText text = {0};
    TsrItems items;
    enum { ROWS = 40000 };
    ck_assert_int_eq(tsr_text_puts(&text, "n,\"a \"\"note\"\"\nof two lines\",m\n"), TSR_OK);
    for (int i = 0; i < ROWS; i++)
        ck_assert_int_eq(tsr_text_printf(&text, i % 3 == 0 ? "%d,\"x\n\"\"%d,\n\n\",7\n" : "%d,5\" pipe %d,7\n", i, i),
                         TSR_OK);
    TsrLoadOptions options = {
        .size = sizeof(TsrLoadOptions), .format = "csv", .dtype = TSR_DTYPE_NONE, .header = -1, .columns = "m,n"};
    ck_assert_int_eq(tsr_load_bytes(&items, "test", text.data, text.length, &options), TSR_OK);
    const TsrTensor *t = items.items[0].tensor;
    const double *cells = tsr_data(t);
    ck_assert_int_eq(t->sizes[0], ROWS);
    for (int i = 0; i < ROWS; i++) ck_assert(cells[2 * i] == 7 && cells[2 * i + 1] == i);
    ck_assert_str_eq(tsr_column_name(t, 1), "n");
    tsr_items_free(&items);
    ck_assert_int_eq(tsr_text_puts(&text, "x,,7\n"), TSR_OK);
    ck_assert_int_eq(tsr_load_bytes(&items, "test", text.data, text.length, &options), TSR_VALUE_ERROR);
    ck_assert_str_eq(tsr_error_message(),
                     "test: line 80005, column 1: 'x' is not a number"); /* 13334 rows have 4 lines */
    tsr_text_free(&text);
}
END_TEST

/* Numbers that are a list, and the note about that. */
static void listed(const char *text, size_t n, const char *notes) {
    TsrItems items;
    ck_assert_int_eq(read_bytes(&items, "json", text, strlen(text)), TSR_OK);
    ck_assert_int_eq(items.tree.root->kind, TSR_NODE_LIST);
    ck_assert_uint_eq(items.tree.root->n, n);
    ck_assert_str_eq(items.notes.data != NULL ? items.notes.data : "", notes);
    tsr_items_free(&items);
}

START_TEST(json_that_is_no_tensor_is_a_list) {
    listed("[[], 1]", 2,
           "test: line 1, column 6: a number beside arrays does not make a tensor: a list, not a tensor\n");
    listed("[1,\n [2]]", 2,
           "test: line 2, column 2: numbers at different depths do not make a tensor: a list, not a tensor\n");
    listed("[[1, 2], [3]]", 2,
           "test: line 1, column 13: this array has 1 element, those before it 2: a list, not a tensor\n");
    listed("[[1], \"a\", {\"b\": 2}]", 3, "");
}
END_TEST

START_TEST(json_damage) {
    refused("json", "[1, 2,]", "test: line 1, column 7: a value was expected after ,");
    refused("json", "{\"a\": 1, \"a\": 2}", "test: line 1, column 14: the key is there twice");
    static const char *const bad[] = {"",        "[",      "[1",    "[1,",       "[01]",           "[1.]",  "[.5]",
                                      "[+1]",    "[1e]",   "[nan]", "[Inf]",     "[tru]",          "{",     "{\"a\"",
                                      "{\"a\":", "{a: 1}", "[1] 2", "[\"1\", ]", "[1, \"\\ud8\"]", "[\xff]"};
    for (size_t i = 0; i < TSR_COUNTOF(bad); i++) ck_assert_msg(!attempt("json", bad[i], strlen(bad[i])), "%s", bad[i]);
    size_t n = 1 << 20;
    char *deep = malloc(n);
    memset(deep, '[', n);
    ck_assert(!attempt("json", deep, n));
    free(deep);
}
END_TEST

/* Objects of which some lack a key are a table, objects beside arrays a list. */
START_TEST(json_lines_that_differ) {
    static const char *const tables[] = {"{\"a\": 1}\n{\"a\": 1, \"b\": 2}\n", "{\"a\": 1, \"b\": 2}\n{\"b\": 1}\n"};
    static const char *const lists[] = {"{\"a\": 1}\n[2]\n", "[2]\n{\"a\": 1}\n"};
    for (int i = 0; i < 2; i++) {
        TsrItems table, list;
        ck_assert_int_eq(read_bytes(&table, "jsonl", tables[i], strlen(tables[i])), TSR_OK);
        ck_assert_ptr_nonnull(table.table);
        ck_assert_int_eq(table.table->n, 2);
        tsr_items_free(&table);
        ck_assert_int_eq(read_bytes(&list, "jsonl", lists[i], strlen(lists[i])), TSR_OK);
        ck_assert_int_eq(list.tree.root->kind, TSR_NODE_LIST);
        ck_assert_uint_eq(list.tree.root->n, 2);
        tsr_items_free(&list);
    }
}
END_TEST

START_TEST(json_lines_damage) {
    refused("jsonl", "[1, 2]\n[3, \n", "test: line 3, column 1: the text ends inside an array");
    refused("jsonl", "1\n[3] 4\n", "test: line 2, column 5: more text behind the value of this line");
    refused("jsonl", "[1] [2]\n", "test: line 1, column 5: more text behind the value of this line");
    refused("jsonl", "{\"a\": 1, \"a\": 2}\n", "test: line 1, column 14: the key is there twice");
    ck_assert(attempt("jsonl", "\n{\"a\": 1}\r\n\n{\"a\": null}", 23));
}
END_TEST

START_TEST(a_failed_save_keeps_the_old_file) {
    char folder[] = "/tmp/tsr-io-XXXXXX", path[64], text[8] = "";
    TsrTensor *t;
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.npy", folder);
    FILE *f = fopen(path, "w");
    fputs("old", f);
    fclose(f);
    ck_assert_int_eq(tsr_tensor_new(&t, 1, (int64_t[]){2}, TSR_BFLOAT16, TSR_DEVICE_CPU), TSR_OK);
    TsrItem item = {NULL, t};
    ck_assert_int_eq(tsr_save(&(TsrItems){.items = &item, .n = 1, .single = true}, path,
                              &(TsrSaveOptions){.size = sizeof(TsrSaveOptions)}),
                     TSR_VALUE_ERROR);
    f = fopen(path, "r");
    ck_assert_int_eq(fread(text, 1, 7, f), 3);
    fclose(f);
    ck_assert_str_eq(text, "old");
    tsr_tensor_free(t);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left in it */
}
END_TEST

START_TEST(allocations_that_fail_while_reading) {
    static const char *const texts[][2] = {{"csv", "a,\"b\nc\"\n1,2\n3,4\n"},
                                           {"json", "{\"a\": [1, 2], \"b\": [[true]]}"},
                                           {"jsonl", "{\"a\": 1, \"b\": [2]}\n{\"b\": [2.5], \"a\": 3}\n"},
                                           {"pb", "\x08\x01\x12\x04\x12\x02\x08\x02\x2a\x04\0\0\0\0"}};
    for (size_t i = 0; i < TSR_COUNTOF(texts); i++)
        attempt_without_memory(texts[i][0], texts[i][1], i == 3 ? 14 : strlen(texts[i][1]));
}
END_TEST

TEST_SUITE(io, every_dtype_survives_npy_and_pb, npy_byte_order_and_column_order, npy_headers_that_lie,
           npy_any_byte_of_the_header_changed, csv_damage_names_line_and_column, csv_quotes_over_lines, json_damage,
           json_that_is_no_tensor_is_a_list, json_lines_that_differ, json_lines_damage,
           a_failed_save_keeps_the_old_file, allocations_that_fail_while_reading)
