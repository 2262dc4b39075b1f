/* mode.c: %mode. Rows and columns are written in the language (table_slots.tsr); the rest are formats of files. */
#include "mode.h"

#include <stdio.h>
#include <string.h>

#include "core/io.h"
#include "lang/modules/builtin.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "torch/files/json.h"
#include "torch/tables/tables.h"

typedef enum Mode { MODE_TORCH, MODE_GRID, MODE_BOX, MODE_MARKDOWN, MODE_CSV, MODE_JSON } Mode;
static const char *const names[] = {"torch", "grid", "box", "markdown", "csv", "json"};
static Mode mode;

TsrStatus mode_set(const char *name) {
    if (name[0] == '\0') {
        fprintf(builtin_stdout(), "%s\n", names[mode]);
        return TSR_OK;
    }
    for (size_t i = 0; i < TSR_COUNTOF(names); i++) {
        if (strcmp(names[i], name) != 0) continue;
        mode = (Mode)i;
        return TSR_OK;
    }
    tsr_error(TSR_VALUE_ERROR, "there is no mode '%.40s'", name);
    tsr_error_hint("torch, grid, box, markdown, csv and json are those there are");
    return TSR_VALUE_ERROR;
}

static TsrStatus show_lines(TsrText *out, bool *shown, Value v) {
    Value callee, text, arguments[2] = {v, value_bool(mode == MODE_BOX)};
    TSR_TRY(prelude_get(&callee, "table slots", "in_lines"));
    TsrStatus status = value_call_n(&text, callee, 2, arguments);
    value_release(callee);
    TSR_TRY(status);
    *shown = value_is_str(text);
    if (*shown) status = value_str(out, text);
    value_release(text);
    return status;
}

/* A table, or a tensor of one or two dimensions. */
static TsrStatus show_format(TsrText *out, bool *shown, Value v) {
    TsrItems items = {0};
    TsrSink sink = {.fd = -1, .name = "<stdout>"};
    TsrSaveOptions options = tsr_save_options();
    TsrStatus status = TSR_OK;
    bool tensor = v.tag == V_TENSOR && !tsr_is_sparse(v.t) && tsr_ndim(v.t) >= 1 && tsr_ndim(v.t) <= 2;
    if (!tensor && !value_is_table(v)) return TSR_OK;
    options.format = names[mode];
    if (tensor) status = tsr_items_single_move(&items, tsr_tensor_retain(v.t));
    else status = table_new_columns(&items.table, v);
    if (status == TSR_OK) status = tsr_write(&sink, &items, &options);
    size_t n = sink.text.length;
    if (n > 0 && sink.text.data[n - 1] == '\n') n--;
    if (status == TSR_OK) status = tsr_text_append(out, sink.text.data != NULL ? sink.text.data : "", n);
    tsr_text_free(&sink.text);
    tsr_items_free(&items);
    *shown = status == TSR_OK;
    return status;
}

TsrStatus mode_show(TsrText *out, bool *shown, Value v) {
    *shown = false;
    switch (mode) {
    case MODE_TORCH: return TSR_OK;
    case MODE_GRID:
    case MODE_BOX: return show_lines(out, shown, v);
    case MODE_MARKDOWN:
    case MODE_CSV: return show_format(out, shown, v);
    case MODE_JSON:
        if (v.tag != V_TENSOR && !value_is_table(v)) return TSR_OK;
        *shown = true;
        return json_write(out, v, &(JsonStyle){0});
    }
    return TSR_OK;
}
