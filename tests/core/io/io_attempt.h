/* io_attempt.h: what the suites of readers share: bytes read as a format, damaged and cut off. */
#ifndef TEST_IO_ATTEMPT_H
#define TEST_IO_ATTEMPT_H

#include "suite.h"

#include <stdlib.h>
#include <string.h>

#include "core/io.h"
#include "core/mem.h"

static bool read_opaque; /* pt: what is not known is let through */

static inline TsrStatus read_bytes(TsrItems *items, const char *format, const char *data, size_t size) {
    return tsr_load_bytes(items, "test", data, size,
                          &(TsrLoadOptions){.size = sizeof(TsrLoadOptions),
                                            .format = format,
                                            .ndim = -1,
                                            .dtype = TSR_DTYPE_NONE,
                                            .header = -1,
                                            .opaque = read_opaque});
}

/* Reads an exact copy (so that a sanitizer sees a read past its end) and demands all or nothing. */
static inline bool attempt(const char *format, const char *data, size_t size) {
    TsrItems items;
    int64_t blocks = tsr_mem_live_blocks();
    char *copy = malloc(size > 0 ? size : 1);
    if (size > 0) memcpy(copy, data, size);
    bool fine = read_bytes(&items, format, copy, size) == TSR_OK;
    if (!fine) {
        ck_assert_int_eq(items.n, 0);
        ck_assert_str_ne(tsr_error_message(), "");
    }
    tsr_items_free(&items);
    tsr_error_clear();
    free(copy);
    ck_assert_int_le(tsr_mem_live_blocks(), blocks + 16);
    return fine;
}

/* Reads it with each allocation failing in turn. */
static inline void attempt_without_memory(const char *format, const char *data, size_t size) {
    for (int64_t n = 1;; n++) {
        TsrItems items;
        tsr_mem_fail_at(n);
        TsrStatus status = read_bytes(&items, format, data, size);
        int64_t made = tsr_mem_fail_at(0);
        if (status == TSR_OK) tsr_items_free(&items);
        else
            ck_assert_msg(status == TSR_MEMORY_ERROR || status == TSR_RUNTIME_ERROR, "failure %lld: %s", (long long)n,
                          tsr_error_message());
        if (made < n) {
            ck_assert_int_eq(status, TSR_OK);
            break;
        }
    }
}

/* The same while it is written, from what `data` holds, into memory. */
static inline void attempt_write_without_memory(const char *format, const char *data, size_t size) {
    TsrItems items;
    ck_assert_int_eq(read_bytes(&items, format, data, size), TSR_OK);
    for (int64_t n = 1;; n++) {
        TsrSink sink = {.fd = -1, .name = "test"};
        tsr_mem_fail_at(n);
        TsrStatus status =
            tsr_write(&sink, &items, &(TsrSaveOptions){.size = sizeof(TsrSaveOptions), .format = format});
        int64_t made = tsr_mem_fail_at(0);
        tsr_text_free(&sink.text);
        if (status != TSR_OK)
            ck_assert_msg(status == TSR_MEMORY_ERROR || status == TSR_RUNTIME_ERROR, "failure %lld: %s", (long long)n,
                          tsr_error_message());
        if (made < n) {
            ck_assert_int_eq(status, TSR_OK);
            break;
        }
    }
    tsr_items_free(&items);
}

#endif
