/* column_names.c: a column's name is what the file's header says, as a str that no other column has. */
#include "column_names.h"

#include <string.h>

#include "core/io/names.h"
#include "core/io_stream.h"
#include "core/table.h"
#include "core/text.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* A name from a file as str: bytes that are not UTF-8 are shown escaped. */
static TsrStatus new_name(Value *out, const char *name) {
    char shown[440];
    bool fine = tsr_utf8_invalid(name, (int64_t)strlen(name)) < 0;
    return str_new_c(out, fine ? name : tsr_io_quote(shown, name, strlen(name)));
}

static TsrStatus append_name(List *list, TsrNames *names, const char *header) {
    Value name;
    TsrText text = {0};
    TsrStatus status = tsr_names_put(&text, names, header);
    if (status == TSR_OK) status = new_name(&name, text.data != NULL ? text.data : "");
    tsr_text_free(&text);
    return status == TSR_OK ? list_append_move(list, name) : status;
}

TsrStatus tensor_new_column_names(Value *out, const TsrTensor *t) {
    Value list;
    TsrNames names;
    *out = VALUE_NONE;
    if (!tsr_columns_known(t)) return TSR_OK;
    TSR_TRY(list_new(&list, tsr_column_count(t)));
    TsrStatus status = tsr_names_begin(&names, tsr_column_count(t));
    for (int64_t j = 0; j < tsr_column_count(t) && status == TSR_OK; j++)
        status = append_name(value_as_list(list), &names, tsr_column_name(t, j));
    tsr_names_free(&names);
    return value_end_move(out, status, list);
}
