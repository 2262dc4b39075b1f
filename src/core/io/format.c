/* format.c: the result of reading a file, TsrItems (io_format.h): items, remarks and notes are appended and freed here.
 * Each reader adds its tensors; functions named move take the tensor's reference also when they fail. */
#include "core/io_format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"

void tsr_items_free(TsrItems *items) {
    for (int i = 0; i < items->n; i++) {
        tsr_free(items->items[i].name);
        tsr_tensor_free(items->items[i].tensor);
    }
    for (int i = 0; i < items->nremarks; i++) {
        tsr_free(items->remarks[i].key);
        tsr_free(items->remarks[i].value);
        tsr_free(items->remarks[i].raw);
    }
    tsr_text_free(&items->notes);
    tsr_free(items->items);
    tsr_free(items->remarks);
    tsr_tree_free(&items->tree);
    tsr_table_free(items->table);
    *items = (TsrItems){0};
}

TsrStatus tsr_items_add_move(TsrItems *out, const char *name, size_t name_length, TsrTensor *t) {
    TsrItem *grown = tsr_realloc(out->items, sizeof *grown * (size_t)(out->n + 1));
    if (grown != NULL) out->items = grown;
    char *copy = grown != NULL ? tsr_mem_text(name, name_length) : NULL;
    if (copy == NULL) {
        tsr_tensor_free(t);
        return tsr_error_no_memory(name_length + sizeof *grown);
    }
    out->items[out->n++] = (TsrItem){copy, t};
    return TSR_OK;
}

TsrStatus tsr_items_remark_raw(TsrItems *out, const char *key, const char *value, const char *raw, size_t raw_length) {
    size_t nkey = strlen(key), nvalue = strlen(value);
    TsrRemark *grown = tsr_realloc(out->remarks, sizeof *grown * (size_t)(out->nremarks + 1)), made = {0};
    if (grown != NULL) {
        out->remarks = grown;
        made = (TsrRemark){tsr_mem_text(key, nkey), tsr_mem_text(value, nvalue),
                           raw != NULL ? tsr_mem_text(raw, raw_length) : NULL, raw != NULL ? raw_length : 0};
    }
    if (made.key == NULL || made.value == NULL || (raw != NULL && made.raw == NULL)) {
        tsr_free(made.key);
        tsr_free(made.value);
        tsr_free(made.raw);
        return tsr_error_no_memory(sizeof *grown + nkey + nvalue + raw_length);
    }
    out->remarks[out->nremarks++] = made;
    return TSR_OK;
}

TsrStatus tsr_items_remark(TsrItems *out, const char *key, const char *value) {
    return tsr_items_remark_raw(out, key, value, NULL, 0);
}

TsrStatus tsr_items_note(TsrItems *out, const TsrInput *in, const char *format, ...) {
    char text[512], name[440];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return tsr_text_printf(&out->notes, "%s: %s\n", tsr_io_quote(name, in->name, strlen(in->name)), text);
}

TsrStatus tsr_items_single_move(TsrItems *out, TsrTensor *t) {
    out->items = tsr_malloc(sizeof *out->items);
    if (out->items == NULL) {
        tsr_tensor_free(t);
        return tsr_error_no_memory(sizeof *out->items);
    }
    out->items[0] = (TsrItem){NULL, t};
    out->n = 1;
    out->single = true;
    return TSR_OK;
}

TsrStatus tsr_items_only(TsrTensor **lent, const TsrItems *items, const char *format) {
    if (items->n == 1 && !items->single)
        return tsr_error(TSR_VALUE_ERROR, "%s holds one tensor, without a name; npz holds a dict of them", format);
    if (items->table != NULL)
        return tsr_error(TSR_VALUE_ERROR, "%s holds one tensor, not columns of words or times", format);
    if (items->n != 1) return tsr_error(TSR_VALUE_ERROR, "%s holds one tensor, not %d", format, items->n);
    *lent = items->items[0].tensor;
    if (tsr_is_sparse(*lent))
        return tsr_error(TSR_VALUE_ERROR, "%s holds dense tensors; convert with to_dense()", format);
    return tsr_tensor_check(*lent, false);
}
