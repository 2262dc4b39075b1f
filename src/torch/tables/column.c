/* column.c: Column, a tensor of one dimension with a meaning: words, times, or numbers some of which are missing. Its
 * items are str, int or None; what else it does is in prelude/column.tsr. */
#include "tables.h"

#include <stdio.h>

#include "core/io_format.h"
#include "core/layout.h"
#include "core/view.h"
#include "lang/object/args.h"
#include "lang/types/sequences.h"
#include "lang/types/numbers.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "tables_impl.h"

TsrStatus tables_call(Value *out, const char *space, const char *function, int count, const Value *values) {
    Value callee, own;
    TSR_TRY(prelude_get(&callee, space, function));
    if (out == NULL) out = &own;
    TsrStatus status = callee.tag != V_UNBOUND
                           ? value_call_n(out, callee, count, values)
                           : tsr_error(TSR_SYSTEM_ERROR, "the prelude lacks %s of %s", function, space);
    value_release(callee);
    if (status == TSR_OK && out == &own) value_release(own);
    return status;
}

TsrStatus column_new_move(Value *out, TsrTableColumn *from) {
    Column *c = obj_new(&column_type, sizeof *c);
    if (c == NULL) return mem_error();
    c->kind = from->kind;
    c->data = value_tensor_move(from->data);
    c->missing = from->missing != NULL ? value_tensor_move(from->missing) : VALUE_NONE;
    c->words = from->words;
    c->list = VALUE_UNBOUND;
    c->unit = from->unit;
    c->style = from->style;
    from->data = from->missing = NULL;
    from->words = NULL;
    *out = value_obj_move(c);
    return TSR_OK;
}

static void column_destroy(Obj *self) {
    Column *c = (Column *)self;
    value_release(c->data);
    value_release(c->missing);
    value_release(c->list);
    tsr_words_free(c->words);
    obj_free(self, sizeof(Column));
}

static void column_traverse(Obj *self, GcVisit visit, void *context) {
    (void)self, (void)visit, (void)context; /* no object of the language that could hold others but the words */
}

/* ---- words ---- */

/* Bytes from a file as str: those that are no UTF-8 are shown escaped. */
TsrStatus tables_new_str(Value *out, const char *text, size_t n) {
    char shown[440];
    if (tsr_utf8_invalid(text, (int64_t)n) < 0) return str_new(out, text, (int64_t)n);
    return str_new_c(out, tsr_io_quote(shown, text, n));
}

static TsrStatus new_word(Value *out, const TsrWords *words, int64_t i) {
    if (i < 0 || i >= words->n) return tsr_error(TSR_INDEX_ERROR, "there is no word %lld", (long long)i);
    return tables_new_str(out, words->bytes + words->begin[i], words->begin[i + 1] - words->begin[i]);
}

static TsrStatus fill_words(Value list, const TsrWords *words) {
    Value word;
    for (int64_t i = 0; i < words->n; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        TSR_TRY(new_word(&word, words, i));
        TSR_TRY(list_append_move(value_as_list(list), word));
    }
    return TSR_OK;
}

static TsrStatus no_words(const Column *c) {
    return c->words != NULL ? TSR_OK
                            : tsr_error(TSR_ATTRIBUTE_ERROR, "a column of %s has no words",
                                        c->kind == TSR_COLUMN_TIMES ? "times" : "numbers");
}

static TsrStatus get_words(Value *out, Value self) {
    Column *c = value_as_column(self);
    TSR_TRY(no_words(c));
    if (c->list.tag == V_UNBOUND) {
        Value list;
        TSR_TRY(list_new(&list, c->words->n));
        TSR_TRY(value_end_move(&c->list, fill_words(list, c->words), list));
    }
    *out = value_retain(c->list);
    return TSR_OK;
}

/* The number of a word, -1 when it is none of the column's. */
static TsrStatus column_code(Value *out, const CallArgs *args) {
    const Column *c = value_as_column(args->values[0]);
    TSR_TRY(no_words(c));
    if (!value_is_str(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "a word is str, not %s", value_type_name(args->values[1]));
    const Str *s = value_as_str(args->values[1]);
    *out = value_int(tsr_words_find(c->words, s->data, (size_t)s->size));
    return TSR_OK;
}

/* For each word how many come before it in the alphabet of Unicode, which UTF-8's bytes are in, too. */
static TsrStatus column_ranks(Value *out, const CallArgs *args) {
    const Column *c = value_as_column(args->values[0]);
    TsrTensor *t;
    TSR_TRY(no_words(c));
    TSR_TRY(tsr_tensor_new(&t, 1, &c->words->n, TSR_INT64, TSR_DEVICE_CPU));
    return value_end_move(out, tsr_words_rank(tsr_data(t), c->words), value_tensor_move(t));
}

/* ---- items ---- */

static int64_t column_rows(const Column *c) { return c->data.t->numel; }

static TsrStatus load_item(TsrScalar *out, Value tensor, int64_t i) {
    TsrTensor *t = tensor.t;
    if (i >= t->numel) return tsr_error(TSR_INDEX_ERROR, "the column has no item %lld", (long long)i);
    TSR_TRY(tsr_tensor_check(t, false));
    *out = tsr_scalar_load(t->dtype, (const char *)t->storage->ptr.data +
                                         (t->offset + i * t->strides[0]) * (int64_t)tsr_itemsize(t));
    return TSR_OK;
}

static TsrStatus scalar_value(Value *out, TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: *out = value_bool(s.b); return TSR_OK;
    case TSR_SCALAR_INT: *out = value_int(s.i); return TSR_OK;
    case TSR_SCALAR_FLOAT: *out = value_float(s.f); return TSR_OK;
    default: return int_new_uint64(out, s.u);
    }
}

/* Item i, checked: a str, a number, or None. */
static TsrStatus column_item(Value *out, const Column *c, int64_t i) {
    TsrScalar s;
    char text[TSR_TIME_ROOM];
    if (c->missing.tag == V_TENSOR) {
        TSR_TRY(load_item(&s, c->missing, i));
        *out = VALUE_NONE;
        if (s.b) return TSR_OK;
    }
    TSR_TRY(load_item(&s, c->data, i));
    if (c->kind == TSR_COLUMN_TEXT) return new_word(out, c->words, s.i);
    if (c->kind == TSR_COLUMN_NUMBERS) return scalar_value(out, s);
    size_t n = tsr_time_format(text, s.i, c->unit, &c->style);
    return str_new(out, text, (int64_t)n);
}

static TsrStatus column_length(int64_t *out, Value self) {
    *out = column_rows(value_as_column(self));
    return TSR_OK;
}

static TsrStatus column_tolist(Value *out, const CallArgs *args) {
    const Column *c = value_as_column(args->values[0]);
    Value list, item;
    TSR_TRY(list_new(&list, column_rows(c)));
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < column_rows(c) && status == TSR_OK; i++) {
        status = tsr_interrupt_check_at(i);
        if (status == TSR_OK) status = column_item(&item, c, i);
        if (status == TSR_OK) status = list_append_move(value_as_list(list), item);
    }
    return value_end_move(out, status, list);
}

static TsrStatus column_iter(Value *out, Value self) {
    Value list;
    TSR_TRY(column_tolist(&list, &(CallArgs){.values = &self, .count = 1}));
    TsrStatus status = value_iter(out, list);
    value_release(list);
    return status;
}

static bool is_plain(const TsrTensor *t) {
    return !tsr_is_sparse(t) && tsr_ndim(t) == 1 && tsr_device_equal(t->device, TSR_DEVICE_CPU) &&
           tsr_dtype_is_pod(t->dtype);
}

/* Whether a column can be made of them: `dtype` is the one that the data must have, if any. */
static TsrStatus check_parts(Value data, Value missing, TsrDtype dtype) {
    if (data.tag != V_TENSOR || !is_plain(data.t) || (dtype != TSR_DTYPE_NONE && data.t->dtype != dtype))
        return tsr_error(TSR_TYPE_ERROR, "a column is made of a tensor of one dimension%s",
                         dtype != TSR_DTYPE_NONE ? " of int64" : "");
    bool masked = missing.tag == V_TENSOR;
    if ((!masked && missing.tag > V_NONE) ||
        (masked && (!is_plain(missing.t) || missing.t->dtype != TSR_BOOL || missing.t->numel != data.t->numel)))
        return tsr_error(TSR_TYPE_ERROR, "what is missing is told by as many truth values");
    return TSR_OK;
}

/* The same meaning for other data, a tensor of one dimension, and what of it is missing, a bool tensor or None. */
static TsrStatus column_with_data(Value *out, const CallArgs *args) {
    const Column *c = value_as_column(args->values[0]);
    Value data = args->values[1], missing = args->count > 2 ? args->values[2] : VALUE_NONE;
    bool masked = missing.tag == V_TENSOR;
    TSR_TRY(check_parts(data, missing, c->kind != TSR_COLUMN_NUMBERS ? TSR_INT64 : TSR_DTYPE_NONE));
    return column_new_move(out, &(TsrTableColumn){.kind = c->kind,
                                                  .data = tsr_tensor_retain(data.t),
                                                  .missing = masked ? tsr_tensor_retain(missing.t) : NULL,
                                                  .words = tsr_words_retain(c->words),
                                                  .unit = c->unit,
                                                  .style = c->style});
}

static TsrStatus column_get_item(Value *out, Value self, Value index) {
    const Column *c = value_as_column(self);
    if (index.tag == V_INT) {
        int64_t n = column_rows(c), i = index.i < 0 ? index.i + n : index.i;
        if (i < 0 || i >= n)
            return tsr_error(TSR_INDEX_ERROR, "index %lld is out of bounds for dimension 0 with size %lld",
                             (long long)index.i, (long long)n);
        return column_item(out, c, i);
    }
    return tables_call(out, "column slots", "get_item", 2, (Value[]){self, index});
}

static TsrStatus column_repr(TsrText *out, Value self) {
    Value text;
    TSR_TRY(tables_call(&text, "column slots", "shown", 1, &self));
    TsrStatus status = value_str(out, text);
    value_release(text);
    return status;
}

static TsrStatus column_contains(bool *out, Value self, Value item) {
    Value found;
    TSR_TRY(tables_call(&found, "column slots", "contains", 2, (Value[]){self, item}));
    TsrStatus status = value_truth(out, found);
    value_release(found);
    return status;
}

static TsrStatus column_compare(Value *out, CompareOp op, Value a, Value b) {
    static const char *const names[] = {
        [CMP_EQ] = "eq", [CMP_NE] = "ne", [CMP_LT] = "lt", [CMP_LE] = "le", [CMP_GT] = "gt", [CMP_GE] = "ge"};
    static const CompareOp turned[] = {[CMP_EQ] = CMP_EQ, [CMP_NE] = CMP_NE, [CMP_LT] = CMP_GT,
                                       [CMP_LE] = CMP_GE, [CMP_GT] = CMP_LT, [CMP_GE] = CMP_LE};
    *out = VALUE_UNBOUND;
    if ((size_t)op >= TSR_COUNTOF(names)) return TSR_OK;
    if (!value_is_column(a)) return column_compare(out, turned[op], b, a);
    return tables_call(out, "column slots", names[op], 2, (Value[]){a, b});
}

static TsrStatus column_binary(Value *out, BinaryOp op, Value a, Value b) {
    const char *name = op == OP_ADD ? "add" : op == OP_SUB ? "sub" : op == OP_MUL ? "mul" : op == OP_DIV ? "div" : NULL;
    *out = VALUE_UNBOUND;
    return name != NULL ? tables_call(out, "column slots", name, 2, (Value[]){a, b}) : TSR_OK;
}

static TsrStatus column_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    TSR_TRY(args_count(args, 0, 1, 1, "Column"));
    return tables_call(out, "column slots", "made", 1, args->values);
}

/* ---- attributes ---- */

static TsrStatus get_codes(Value *out, Value self) {
    TSR_TRY(no_words(value_as_column(self)));
    *out = value_retain(value_as_column(self)->data);
    return TSR_OK;
}
static TsrStatus get_values(Value *out, Value self) {
    *out = value_retain(value_as_column(self)->data);
    return TSR_OK;
}
static TsrStatus get_missing(Value *out, Value self) {
    *out = value_retain(value_as_column(self)->missing);
    return TSR_OK;
}
static TsrStatus get_kind(Value *out, Value self) {
    static const char *const names[] = {"numbers", "text", "times"};
    return str_new_c(out, names[value_as_column(self)->kind]);
}
static TsrStatus get_unit(Value *out, Value self) {
    const Column *c = value_as_column(self);
    if (c->kind != TSR_COLUMN_TIMES) return tsr_error(TSR_ATTRIBUTE_ERROR, "a column that is no times has no unit");
    return str_new_c(out, tsr_time_unit_name(c->unit));
}

#define TIME_PART(name) \
    static TsrStatus get_##name(Value *out, Value self) { \
        if (value_as_column(self)->kind != TSR_COLUMN_TIMES) \
            return tsr_error(TSR_ATTRIBUTE_ERROR, "only a column of times has '" #name "'"); \
        return tables_call(out, "column slots", #name, 1, &self); \
    }
TIME_PART(year)
TIME_PART(month)
TIME_PART(day)
TIME_PART(hour)
TIME_PART(minute)
TIME_PART(second)
TIME_PART(weekday)

static const Getter column_getters[] = {
    {"codes", get_codes, NULL, "The number of each row's word in words, int64."},
    {"words", get_words, NULL, "The words, each once, in the order in which they first came."},
    {"values", get_values, NULL, "The tensor of the column's numbers: codes of words, units of times, integers."},
    {"missing", get_missing, NULL, "Which rows have nothing: a tensor of truth values, or None."},
    {"kind", get_kind, NULL, "'numbers', 'text' or 'times'."},
    {"unit", get_unit, NULL, "What times count since 1970 in UTC: 'D', 's', 'ms', 'us' or 'ns'."},
    {"year", get_year, NULL, "The year of each time, in the zone that it is written in."},
    {"month", get_month, NULL, "The month of each time, from 1."},
    {"day", get_day, NULL, "The day of the month of each time, from 1."},
    {"hour", get_hour, NULL, "The hour of each time."},
    {"minute", get_minute, NULL, "The minute of each time."},
    {"second", get_second, NULL, "The second of each time."},
    {"weekday", get_weekday, NULL, "The day of the week of each time: Monday is 0."},
    {0},
};

/* A time as the column has them, of its text: a date alone is its first moment. */
static TsrStatus column_parse(Value *out, const CallArgs *args) {
    const Column *c = value_as_column(args->values[0]);
    TsrTimeStyle style;
    int64_t value;
    if (!value_is_str(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "a time is str, '2024-01-31' or so, not %s", value_type_name(args->values[1]));
    const Str *s = value_as_str(args->values[1]);
    char shown[440], day[16];
    const char *text = s->data;
    bool part = s->size == 4 || s->size == 7; /* a year or a month: its first day */
    if (part) snprintf(day, sizeof day, "%s%s", text, s->size == 4 ? "-01-01" : "-01");
    if (part) text = day;
    if (!tsr_time_parse(&value, text, text + (part ? 10 : s->size), &style, true))
        return tsr_error(TSR_VALUE_ERROR, "'%s' is no time such as 2024-01-31 or 2024-01-31T08:30:00",
                         tsr_io_quote(shown, s->data, (size_t)s->size));
    bool zoned = style.zone != 0 || c->style.zone == 0;
    TsrTimeUnit unit = tsr_time_unit(&style);
    if (unit == 0 && c->unit != 0) value *= 86400, unit = 1;
    if (!zoned) value -= (int64_t)c->style.zone_offset * 60 * (unit == 0 ? 0 : unit);
    Value parts[4] = {value_int(value), value_int(unit), value_int(c->unit), VALUE_NONE};
    return tables_call(out, "column slots", "in_unit", 3, parts);
}

static TsrStatus column_zone(Value *out, const CallArgs *args) {
    *out = value_int(value_as_column(args->values[0])->style.zone_offset);
    return TSR_OK;
}

static const Method column_methods[] = {
    {"zone", column_zone, ARGS_NONE, 0, 0, "()", "Minutes east of UTC of the zone that times are written in."},
    {"tolist", column_tolist, ARGS_NONE, 0, 0, "()", "Its items: str of words and times, numbers, None."},
    {"code", column_code, ARGS_ONE, 1, 1, "(word)", "The number of a word in words; -1 when it is none of them."},
    {"ranks", column_ranks, ARGS_NONE, 0, 0, "()",
     "For each of the words how many come before it when they are sorted."},
    {"parse", column_parse, ARGS_ONE, 1, 1, "(text)", "What a time is among values."},
    {"with_data", column_with_data, ARGS_RANGE, 1, 2, "(values, missing=None)",
     "A column of the same words or the same unit with other values."},
    {0},
};

static TsrStatus column_lookup(Value *out, Type *type, Str *name) {
    (void)type;
    return prelude_get(out, "Column", name->data);
}

static TsrStatus column_dir(List *names, Value self) {
    (void)self;
    return prelude_append_names(names, "Column");
}

static TsrStatus column_copy(Value *out, Value self, Dict *memo) {
    (void)memo;
    return tables_call(out, "column slots", "copied", 1, &self);
}

Type column_type = {
    .obj = TYPE_HEADER,
    .name = "Column",
    .module = "tsr",
    .doc = "A column of a table that is no plain tensor: words (codes and words), times (values in a unit), or numbers "
           "some of which are missing. Column(['a', 'b', None]) makes one of words.",
    .construct = column_construct,
    .destroy = column_destroy,
    .traverse = column_traverse,
    .repr = column_repr,
    .hash = hash_refused,
    .compare = column_compare,
    .length = column_length,
    .get_item = column_get_item,
    .contains = column_contains,
    .iter = column_iter,
    .binary = column_binary,
    .dir = column_dir,
    .copy = column_copy,
    .lookup = column_lookup,
    .methods = column_methods,
    .getters = column_getters,
};

/* ---- making them ---- */

static TsrStatus add_words(TsrTensor *data, TsrTensor *missing, TsrWordSet *set, const List *items) {
    int64_t *codes = tsr_data(data);
    bool *none = tsr_data(missing);
    for (int64_t i = 0; i < items->count; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        Value v = items->items[i];
        none[i] = value_is_none(v);
        if (!none[i] && !value_is_str(v))
            return tsr_error(TSR_TYPE_ERROR, "words are str or None, item %lld is %s", (long long)i,
                             value_type_name(v));
        const char *text = none[i] ? "" : value_as_str(v)->data;
        size_t n = none[i] ? 0 : (size_t)value_as_str(v)->size;
        TSR_TRY(tsr_word_set_add(&codes[i], set, text, n, tsr_word_hash(text, n)));
    }
    return TSR_OK;
}

static bool any_none(const List *items) {
    for (int64_t i = 0; i < items->count; i++)
        if (value_is_none(items->items[i])) return true;
    return false;
}

TsrStatus column_of_words(Value *out, const CallArgs *args) {
    if (!value_is_list(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "words come in a list");
    const List *items = value_as_list(args->values[0]);
    TsrTableColumn c = {.kind = TSR_COLUMN_TEXT};
    TsrWordSet set = {0};
    TsrStatus status = tsr_tensor_new(&c.data, 1, &items->count, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = tsr_tensor_new(&c.missing, 1, &items->count, TSR_BOOL, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = add_words(c.data, c.missing, &set, items);
    if (status == TSR_OK && !any_none(items)) tsr_tensor_reset(&c.missing);
    if (status == TSR_OK) status = tsr_word_set_new_words(&c.words, &set);
    if (status == TSR_OK) status = column_new_move(out, &c);
    tsr_word_set_free(&set);
    tsr_table_column_clear(&c);
    return status;
}

static int64_t rows_of_all(const List *columns) {
    int64_t rows = 0;
    for (int64_t i = 0; i < columns->count; i++) rows += column_rows(value_as_column(columns->items[i]));
    return rows;
}

/* The codes of one column among the words of all. */
static TsrStatus join_codes(int64_t *to, TsrWordSet *set, const Column *c) {
    const TsrWords *w = c->words;
    int64_t *number = tsr_malloc_array((size_t)TSR_MAX(w->n, 1), sizeof *number);
    if (number == NULL) return tsr_error_no_memory((size_t)w->n * sizeof *number);
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < w->n && status == TSR_OK; i++) {
        const char *word = w->bytes + w->begin[i];
        size_t n = w->begin[i + 1] - w->begin[i];
        status = tsr_word_set_add(&number[i], set, word, n, tsr_word_hash(word, n));
    }
    const TsrTensor *t = c->data.t;
    const int64_t *codes = (const int64_t *)t->storage->ptr.data + t->offset;
    for (int64_t i = 0; i < t->numel && status == TSR_OK; i++) {
        status = tsr_interrupt_check_at(i);
        int64_t code = codes[i * t->strides[0]];
        if (code < 0 || code >= w->n) status = tsr_error(TSR_INDEX_ERROR, "there is no word %lld", (long long)code);
        else to[i] = number[code];
    }
    tsr_free(number);
    return status;
}

TsrStatus column_of_joined(Value *out, const CallArgs *args) {
    if (!value_is_list(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "columns come in a list");
    const List *columns = value_as_list(args->values[0]);
    for (int64_t i = 0; i < columns->count; i++) {
        if (!value_is_column(columns->items[i])) return tsr_error(TSR_TYPE_ERROR, "these are no columns");
        TSR_TRY(no_words(value_as_column(columns->items[i])));
        TSR_TRY(tsr_tensor_check(value_as_column(columns->items[i])->data.t, false));
    }
    int64_t rows = rows_of_all(columns), at = 0;
    TsrTableColumn c = {.kind = TSR_COLUMN_TEXT};
    TsrWordSet set = {0};
    TsrStatus status = tsr_tensor_new(&c.data, 1, &rows, TSR_INT64, TSR_DEVICE_CPU);
    for (int64_t i = 0; i < columns->count && status == TSR_OK; i++) {
        const Column *from = value_as_column(columns->items[i]);
        status = join_codes((int64_t *)tsr_data(c.data) + at, &set, from);
        at += column_rows(from);
    }
    if (status == TSR_OK) status = tsr_word_set_new_words(&c.words, &set);
    if (status == TSR_OK) status = column_new_move(out, &c);
    tsr_word_set_free(&set);
    tsr_table_column_clear(&c);
    return status;
}

/* column_of_times(values, unit, missing): written with T, to the second or as many digits as the unit has. */
TsrStatus column_of_times(Value *out, const CallArgs *args) {
    const Value *v = args->values;
    TsrTableColumn c = {.kind = TSR_COLUMN_TIMES};
    const char *name;
    TSR_TRY(check_parts(v[0], v[2], TSR_INT64));
    TSR_TRY(value_to_cstring(&name, v[1], "times(): argument 'unit'"));
    if (!tsr_time_unit_find(&c.unit, name))
        return tsr_error(TSR_VALUE_ERROR, "a unit of times is D, s, ms, us or ns, not '%s'", name);
    if (c.unit != 0) {
        c.style = (TsrTimeStyle){.separator = 'T', .seconds = true};
        c.style.digits = c.unit == 1000 ? 3 : c.unit == 1000000 ? 6 : c.unit == 1000000000 ? 9 : 0;
        c.style.point = c.style.digits > 0 ? '.' : 0;
    }
    c.data = tsr_tensor_retain(v[0].t);
    c.missing = v[2].tag == V_TENSOR ? tsr_tensor_retain(v[2].t) : NULL;
    TsrStatus status = column_new_move(out, &c);
    tsr_table_column_clear(&c);
    return status;
}

/* column_of_numbers(values, missing) */
TsrStatus column_of_numbers(Value *out, const CallArgs *args) {
    TsrTableColumn c = {.kind = TSR_COLUMN_NUMBERS};
    TSR_TRY(check_parts(args->values[0], args->values[1], TSR_DTYPE_NONE));
    c.data = tsr_tensor_retain(args->values[0].t);
    c.missing = args->values[1].tag == V_TENSOR ? tsr_tensor_retain(args->values[1].t) : NULL;
    TsrStatus status = column_new_move(out, &c);
    tsr_table_column_clear(&c);
    return status;
}
