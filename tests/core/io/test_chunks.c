/* Tables in pieces (io_chunks.h): together they are what the file is as a whole, however it is cut. */
#include "io_attempt.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "core/io_chunks.h"
#include "core/layout.h"

static char path[64];

static void put_file(const char *bytes, size_t n) {
    snprintf(path, sizeof path, "/tmp/tsr-chunks-%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f != NULL && fwrite(bytes, 1, n, f) == n, "%s", path);
    fclose(f);
}

/* The number of rows, and the sum of all numbers, or of all codes and times. */
typedef struct Sum {
    int64_t rows;
    double total;
} Sum;

static void add_tensor(Sum *sum, const TsrTensor *t) {
    for (int64_t i = 0; i < t->numel; i++) {
        const char *p = (const char *)t->storage->ptr.data + i * (int64_t)tsr_itemsize(t);
        TsrScalar s = tsr_scalar_load(t->dtype, p);
        sum->total += s.kind != TSR_SCALAR_FLOAT ? (double)s.i : isnan(s.f) ? 0.5 : s.f;
    }
}

static void add_items(Sum *sum, const TsrItems *items) {
    if (items->table == NULL) {
        sum->rows += items->items[0].tensor->sizes[0];
        add_tensor(sum, items->items[0].tensor);
        return;
    }
    sum->rows += items->table->rows;
    for (int k = 0; k < items->table->n; k++)
        if (items->table->columns[k].kind != TSR_COLUMN_TEXT) add_tensor(sum, items->table->columns[k].data);
        else
            for (int64_t i = 0; i < items->table->rows; i++) { /* the lengths of the words */
                const TsrWords *w = items->table->columns[k].words;
                int64_t code = ((const int64_t *)tsr_data(items->table->columns[k].data))[i];
                sum->total += (double)(w->begin[code + 1] - w->begin[code]);
            }
}

static TsrStatus sum_of_pieces(Sum *sum, const char *format, int64_t rows) {
    TsrLoadOptions o = tsr_load_options();
    TsrChunks *chunks;
    TsrItems items;
    bool more = true;
    *sum = (Sum){0};
    o.format = format;
    TSR_TRY(tsr_chunks_new(&chunks, path, &o, NULL));
    TsrStatus status = TSR_OK;
    while (status == TSR_OK && more) {
        status = tsr_chunks_next(&items, &more, chunks, rows);
        if (status != TSR_OK || !more) break;
        Sum before = *sum;
        add_items(sum, &items);
        if (rows > 0) ck_assert_int_le(sum->rows - before.rows, rows);
        tsr_items_free(&items);
    }
    tsr_chunks_free(chunks);
    return status;
}

static const struct {
    const char *format, *text;
} tables[] = {
    {"csv", "a,b\n1,2\n3,4\n5,6\n7,8\n"},
    {"csv", "1,2\r\n3,4\r\n\r\n5,6"},
    {"csv", "\xef\xbb\xbfname,n\nRome,1\n\"Ho, Chi\",2\n\"two\nlines\",3\n\"a \"\"b\"\"\",4\nRome,5\n"},
    {"csv", "day,n\n2024-01-31,1\n\n2024-02-01,\n2025-01-01,3\n"},
    {"csv", "name,n\n5\",1\n6\" wide,2\nx,3\n"},
    {"tsv", "a\tb\n1\tx\n2\ty\n3\tx\n"},
    {"jsonl", "{\"a\": 1, \"b\": \"x\"}\n{\"a\": 2, \"b\": \"yy\"}\n\n{\"a\": 3, \"b\": \"x\"}\n"},
};

START_TEST(pieces_are_the_whole) {
    for (size_t i = 0; i < TSR_COUNTOF(tables); i++) {
        TsrItems items;
        Sum whole = {0}, pieces;
        put_file(tables[i].text, strlen(tables[i].text));
        ck_assert_int_eq(read_bytes(&items, tables[i].format, tables[i].text, strlen(tables[i].text)), TSR_OK);
        add_items(&whole, &items);
        tsr_items_free(&items);
        for (int64_t rows = 0; rows < 7; rows++) {
            ck_assert_int_eq(sum_of_pieces(&pieces, tables[i].format, rows), TSR_OK);
            ck_assert_msg(pieces.rows == whole.rows && pieces.total == whole.total, "table %zu by %lld: %lld rows, %g",
                          i, (long long)rows, (long long)pieces.rows, pieces.total);
        }
    }
    unlink(path);
}
END_TEST

/* Every end cut off and every byte changed: no crash, nothing left behind. */
START_TEST(any_byte_changed) {
    static const char changes[] = {'"', '\n', ',', 'x', '\0'};
    for (size_t i = 0; i < TSR_COUNTOF(tables); i++)
        for (size_t at = 0; at < strlen(tables[i].text); at++)
            for (size_t k = 0; k < sizeof changes; k++) {
                char text[256];
                Sum sum;
                snprintf(text, sizeof text, "%s", tables[i].text);
                text[at] = changes[k];
                put_file(text, k == 0 ? at : strlen(tables[i].text));
                (void)sum_of_pieces(&sum, tables[i].format, 1 + (int64_t)(at % 3));
                tsr_error_clear();
            }
    unlink(path);
}
END_TEST

START_TEST(a_column_is_one_thing) {
    static const char text[] = "name,when\nx,2024-01-01\ny,2024-01-02\nz,never\n";
    Sum sum;
    put_file(text, sizeof text - 1);
    ck_assert_int_eq(sum_of_pieces(&sum, "csv", 0), TSR_OK);
    ck_assert_int_eq(sum_of_pieces(&sum, "csv", 2), TSR_VALUE_ERROR);
    ck_assert_msg(strstr(tsr_error_message(), "from line 4 on its column 'when' holds words, before it times") != NULL,
                  "%s", tsr_error_message());
    tsr_error_clear();
    put_file("a\n1\n2\nx\n", 8);
    ck_assert_int_eq(sum_of_pieces(&sum, "csv", 1), TSR_VALUE_ERROR);
    ck_assert_msg(strstr(tsr_error_message(), "line 4, column 1: 'x' is not a number") != NULL, "%s",
                  tsr_error_message());
    tsr_error_clear();
    unlink(path);
}
END_TEST

TEST_SUITE(chunks, pieces_are_the_whole, any_byte_changed, a_column_is_one_thing)
