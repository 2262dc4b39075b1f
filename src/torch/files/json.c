/* Writes a value as JSON into a text: numbers, texts, containers and tensors as nested lists; NaN and infinities in
 * the way that the style asks for. Depth is bounded and interrupts are polled. */
#include "json.h"

#include <math.h>
#include <string.h>

#include "core/io/elements.h"
#include "lang/types/dict.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/tables/tables.h"

static TsrStatus write_text(TsrText *out, const char *text, size_t length) {
    TSR_TRY(tsr_text_putc(out, '"'));
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') TSR_TRY(tsr_text_printf(out, "\\%c", c));
        else if (c == '\n') TSR_TRY(tsr_text_puts(out, "\\n"));
        else if (c == '\t') TSR_TRY(tsr_text_puts(out, "\\t"));
        else if (c < 0x20 || c == 0x7F) TSR_TRY(tsr_text_printf(out, "\\u%04x", c));
        else if (c == 0xED && i + 2 < length && (unsigned char)text[i + 1] >= 0xA0) { /* a lone surrogate */
            TSR_TRY(tsr_text_printf(out, "\\u%04x", 0xD000 | (text[i + 1] & 0x3F) << 6 | (text[i + 2] & 0x3F)));
            i += 2;
        } else TSR_TRY(tsr_text_putc(out, (char)c));
    }
    return tsr_text_putc(out, '"');
}

static TsrStatus write_float(TsrText *out, double d, const JsonStyle *style) {
    char buffer[64];
    bool token = style->nan != NULL && strcmp(style->nan, "token") == 0;
    if (!isfinite(d) && style->nan != NULL && strcmp(style->nan, "error") == 0)
        return tsr_error(TSR_VALUE_ERROR, "JSON has no number for %s", isnan(d) ? "nan" : "inf");
    if (!isfinite(d) && !token && style->nulls != NULL) ++*style->nulls;
    if (!isfinite(d)) return tsr_text_puts(out, !token ? "null" : isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
    if (style->precision > 0) tsr_format_element(buffer, tsr_scalar_float(d), TSR_FLOAT64, style->precision, true);
    else float_repr(d, buffer);
    return tsr_text_puts(out, buffer);
}

/* str(v) or repr(v) as a JSON string. */
static TsrStatus write_shown(TsrText *out, Value v, TsrStatus (*show)(TsrText *, Value)) {
    TsrText text = {0};
    TsrStatus status = show(&text, v);
    if (status == TSR_OK) status = write_text(out, text.data != NULL ? text.data : "", text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus write_items(TsrText *out, Value v, const JsonStyle *style) {
    Value iterator, item;
    TSR_TRY(value_iter(&iterator, v));
    TsrStatus status = tsr_text_putc(out, '[');
    int64_t n = 0;
    for (bool first = true; status == TSR_OK; first = false) {
        if ((status = tsr_interrupt_check_at(n++)) != TSR_OK) break;
        status = value_next(&item, iterator);
        if (status != TSR_OK || item.tag == V_UNBOUND) break;
        if (!first) status = tsr_text_puts(out, ", ");
        if (status == TSR_OK) status = json_write(out, item, style);
        value_release(item);
    }
    value_release(iterator);
    return status == TSR_OK ? tsr_text_putc(out, ']') : status;
}

/* As a string; true, null and numbers by their JSON. */
static TsrStatus write_key(TsrText *out, Value key, const JsonStyle *style) {
    if (key.tag == V_BOOL || key.tag == V_NONE)
        return tsr_text_puts(out, key.tag == V_NONE ? "\"null\"" : key.b ? "\"true\"" : "\"false\"");
    if (style->strict && !value_is_str(key) && !value_is_int(key) && key.tag != V_FLOAT)
        return tsr_error(TSR_TYPE_ERROR, "keys must be str, int, float, bool or None, not %s", value_type_name(key));
    return write_shown(out, key, value_str);
}

static TsrStatus write_dict(TsrText *out, Value v, const JsonStyle *style) {
    const DictEntry *entry;
    bool first = true;
    TSR_TRY(tsr_text_putc(out, '{'));
    for (int64_t position = 0; (entry = dict_next(value_as_dict(v), &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(write_key(out, entry->key, style));
        TSR_TRY(tsr_text_puts(out, ": "));
        TSR_TRY(json_write(out, entry->value, style));
    }
    return tsr_text_putc(out, '}');
}

/* A value with keys() and items of its own, such as the card of inspect(): as a dict. *done false: it is none. */
static TsrStatus write_mapping(TsrText *out, Value v, bool *done, const JsonStyle *style) {
    Value keys = VALUE_UNBOUND, dict = VALUE_UNBOUND;
    Str *name = str_intern_c("keys");
    *done = false;
    if (name == NULL || v.tag != V_OBJ) return name == NULL ? TSR_MEMORY_ERROR : TSR_OK;
    TSR_TRY(value_lookup_attr(&keys, v, name));
    bool is = keys.tag != V_UNBOUND;
    value_release(keys);
    if (!is || v.o->type == &type_type) return TSR_OK;
    *done = true;
    TSR_TRY(value_call_n(&dict, value_lent(&dict_type), 1, &v));
    TsrStatus status = write_dict(out, dict, style);
    value_release(dict);
    return status;
}

static TsrStatus write_tensor(TsrText *out, Value v, const JsonStyle *style) {
    Value list;
    TSR_TRY(value_call_method(&list, v, "tolist", 0, NULL));
    TsrStatus status = json_write(out, list, style);
    value_release(list);
    return status;
}

static TsrStatus write_object(TsrText *out, Value v, const JsonStyle *style) {
    bool done;
    if (value_is_str(v)) return write_text(out, value_as_str(v)->data, (size_t)value_as_str(v)->size);
    if (value_is_int(v)) return value_repr(out, v);
    if (value_is_table(v) || value_is_column(v)) return write_tensor(out, v, style);
    if (value_is_dict(v)) return write_dict(out, v, style);
    if (value_is_list(v) || value_is_tuple(v) || (!style->strict && (value_is_set(v) || value_is_obj(v, &range_type))))
        return write_items(out, v, style);
    TSR_TRY(write_mapping(out, v, &done, style));
    if (done) return TSR_OK;
    return style->strict ? tsr_error(TSR_TYPE_ERROR, "Object of type %s is not JSON serializable", value_type_name(v))
                         : write_shown(out, v, value_repr);
}

TsrStatus json_write(TsrText *out, Value v, const JsonStyle *style) {
    TSR_TRY(recursion_enter(" while writing JSON"));
    TsrStatus status;
    switch (v.tag) {
    case V_NONE: status = tsr_text_puts(out, "null"); break;
    case V_BOOL: status = tsr_text_puts(out, v.b ? "true" : "false"); break;
    case V_INT: status = tsr_text_printf(out, "%lld", (long long)v.i); break;
    case V_FLOAT: status = write_float(out, v.f, style); break;
    case V_TENSOR: status = write_tensor(out, v, style); break;
    default: status = write_object(out, v, style);
    }
    recursion_leave();
    return status;
}
