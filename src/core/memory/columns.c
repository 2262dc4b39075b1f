/* columns.c: what a table's file said of its columns, as one heap block (columns.h): the struct, then the arrays of
 * names and of fields, then the names' bytes. */
#include "core/columns.h"

#include <string.h>

#include "core/mem.h"
#include "source.h"

TsrStatus tsr_columns_new(TsrColumns **out, const char *const *names, int64_t n, char delimiter) {
    if (n < 0 || n > INT32_MAX) return tsr_error(TSR_VALUE_ERROR, "a table of %lld columns", (long long)n);
    size_t list = names != NULL ? (size_t)n * sizeof *names : 0, fields = (size_t)n * sizeof(int32_t),
           room = sizeof(TsrColumns) + list + fields;
    for (int64_t i = 0; names != NULL && i < n; i++) room += strlen(names[i]) + 1;
    TsrColumns *c = tsr_malloc(room);
    if (c == NULL) return tsr_error_no_memory(room);
    *c =
        (TsrColumns){.delimiter = delimiter, .n = n, .step = 1, .names = names != NULL ? (const char **)(c + 1) : NULL};
    c->fields = (int32_t *)(void *)((char *)(c + 1) + list);
    for (int64_t i = 0; i < n; i++) c->fields[i] = (int32_t)i;
    char *at = (char *)(c + 1) + list + fields;
    for (int64_t i = 0; names != NULL && i < n; i++) {
        size_t size = strlen(names[i]) + 1;
        c->names[i] = memcpy(at, names[i], size);
        at += size;
    }
    *out = c;
    return TSR_OK;
}

void tsr_columns_free(TsrColumns *columns) {
    if (columns == NULL) return;
    tsr_source_free(columns->source);
    tsr_rows_free(columns->rows);
    tsr_free(columns);
}
