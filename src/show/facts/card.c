/* Cards and tables: dicts, lists and strs with a mark, whose repr is a layout for people. The mark is kept beside the
 * object, so that to a program they are plain dicts, lists and strs; column widths are measured before a table is
 * printed. */
#include "card.h"

#include <limits.h>
#include <string.h>

#include "core/layout.h"
#include "core/tensor/inference.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "show/help/screen.h"
#include "torch/types.h"

/* ---- building dicts ---- */

/* Each takes over the value and does nothing once *status is a failure. */
void card_put_move(TsrStatus *status, Value dict, const char *key, Value v) {
    if (*status == TSR_OK) *status = dict_set_c_move(value_as_dict(dict), key, v);
    else value_release(v);
}

void card_put_str(TsrStatus *status, Value dict, const char *key, const char *text) {
    Value v;
    if (*status == TSR_OK) *status = text != NULL ? str_new_c(&v, text) : (v = VALUE_NONE, TSR_OK);
    if (*status == TSR_OK) card_put_move(status, dict, key, v);
}

void card_put_int(TsrStatus *status, Value dict, const char *key, int64_t i) {
    card_put_move(status, dict, key, value_int(i));
}
void card_put_bool(TsrStatus *status, Value dict, const char *key, bool b) {
    card_put_move(status, dict, key, value_bool(b));
}

void card_put_version(TsrStatus *status, Value dict, const TsrTensor *t) {
    if (t->flags & TSR_FLAG_UNCOUNTED) card_put_str(status, dict, "version", "none: made in inference_mode()");
    else card_put_int(status, dict, "version", tsr_tensor_version(t));
}

void card_put_sizes(TsrStatus *status, Value dict, const char *key, int n, const int64_t *items, bool as_size) {
    Value v, parts[TSR_MAX_DIMS];
    if (*status != TSR_OK) return;
    for (int i = 0; i < n; i++) parts[i] = value_int(items[i]);
    *status = as_size ? size_new(&v, items, n) : tuple_new(&v, parts, n);
    if (*status == TSR_OK) card_put_move(status, dict, key, v);
}

/* ---- cards and tables: dicts and lists that show themselves for people ---- */

static Type card_type, table_type, note_type;

void card_mark(Value dict) { dict.o->type = &card_type; }
void table_mark(Value list) { list.o->type = &table_type; }
void note_mark(Value str) { str.o->type = &note_type; }
bool note_is(Value v) { return v.tag == V_OBJ && v.o->type == &note_type; }

enum { MAX_CARD_DEPTH = 16, LIST_WIDTH = 56 /* of many names, so many characters are shown */ };

/* Whether a list whose text began at `start` has room for an item more, with `left` to come; else says how many those
 * are. */
TsrStatus card_has_room(bool *room, TsrText *out, size_t start, int64_t left) {
    *room = out->length - start <= LIST_WIDTH || left == 1;
    return *room ? TSR_OK : tsr_text_printf(out, " and %lld more", (long long)left);
}

/* One entry's text: strings bare, lists of strings with commas. */
TsrStatus card_append_cell(TsrText *out, Value v) {
    const Value *items;
    int64_t count;
    if (value_is_str(v)) return tsr_text_append(out, value_as_str(v)->data, (size_t)value_as_str(v)->size);
    if (v.tag == V_NONE) return tsr_text_putc(out, '-');
    if (value_is_list(v) && value_as_array(v, &items, &count)) {
        size_t start = out->length;
        bool room = true;
        if (count == 0) return tsr_text_putc(out, '-');
        for (int64_t i = 0; i < count; i++) {
            TSR_TRY(card_has_room(&room, out, start, count - i));
            if (!room) break;
            if (i > 0) TSR_TRY(tsr_text_puts(out, ", "));
            TSR_TRY(card_append_cell(out, items[i]));
        }
        return TSR_OK;
    }
    return value_str(out, v);
}

/* An entry a line, the values in one column; a dict within on lines of its own, further in. */
static TsrStatus append_card(TsrText *out, const Dict *dict, int depth) {
    int64_t position = 0, width = 0;
    bool first = true;
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL;)
        if (value_is_str(e->key)) width = TSR_MAX(width, value_as_str(e->key)->length);
    position = 0;
    for (DictEntry *e; (e = dict_next(dict, &position)) != NULL; first = false) {
        if (!first) TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(tsr_text_pad(out, ' ', 2 * (size_t)depth));
        size_t start = out->length;
        TSR_TRY(value_str(out, e->key));
        if (value_is_dict(e->value) && depth < MAX_CARD_DEPTH) {
            TSR_TRY(tsr_text_putc(out, '\n'));
            TSR_TRY(append_card(out, value_as_dict(e->value), depth + 1));
            continue;
        }
        TSR_TRY(tsr_text_pad(out, ' ', TSR_MAX((size_t)width + 2 - (out->length - start), (size_t)2)));
        TSR_TRY(card_append_cell(out, e->value));
    }
    return TSR_OK;
}

TsrStatus card_repr(TsrText *out, Value self) { return append_card(out, value_as_dict(self), 1); }

/* The cells of one row in the columns of the first row. */
static TsrStatus table_cell(TsrText *cell, Value row, Value key) {
    Value *v;
    if (!value_is_dict(row) && row.o->type != &card_type) return value_repr(cell, row);
    TSR_TRY(dict_find(&v, value_as_dict(row), key));
    return v != NULL ? card_append_cell(cell, *v) : TSR_OK;
}

enum { MAX_COLUMNS = 24 };

static TsrStatus measure_columns(const List *list, const Value *keys, int count, int64_t *widths) {
    for (int k = 0; k < count; k++) {
        widths[k] = value_is_str(keys[k]) ? value_as_str(keys[k])->length : 0;
        for (int64_t r = 0; r < list->count; r++) {
            TsrText cell = {0};
            TsrStatus status = table_cell(&cell, list->items[r], keys[k]);
            if (status == TSR_OK)
                widths[k] = TSR_MAX(widths[k], utf8_count(cell.data != NULL ? cell.data : "", (int64_t)cell.length));
            tsr_text_free(&cell);
            TSR_TRY(status);
        }
    }
    return TSR_OK;
}

static TsrStatus append_row(TsrText *out, Value row, const Value *keys, int count, const int64_t *widths) {
    for (int k = 0; k < count; k++) {
        TsrText cell = {0};
        TsrStatus status = row.tag == V_UNBOUND ? value_str(&cell, keys[k]) : table_cell(&cell, row, keys[k]);
        int64_t length = utf8_count(cell.data != NULL ? cell.data : "", (int64_t)cell.length);
        if (status == TSR_OK && k > 0) status = tsr_text_puts(out, "  ");
        if (status == TSR_OK && cell.length > 0) status = tsr_text_append(out, cell.data, cell.length);
        if (status == TSR_OK && k + 1 < count) status = tsr_text_pad(out, ' ', (size_t)(widths[k] - length));
        tsr_text_free(&cell);
        TSR_TRY(status);
    }
    while (out->length > 0 && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    return TSR_OK;
}

static TsrStatus table_repr(TsrText *out, Value self) {
    const List *list = value_as_list(self);
    Value keys[MAX_COLUMNS];
    int64_t widths[MAX_COLUMNS], position = 0;
    int count = 0;
    if (list->count == 0) return tsr_text_puts(out, "[]");
    for (DictEntry *e; count < MAX_COLUMNS && (e = dict_next(value_as_dict(list->items[0]), &position)) != NULL;)
        keys[count++] = e->key;
    TSR_TRY(measure_columns(list, keys, count, widths));
    TSR_TRY(append_row(out, VALUE_UNBOUND, keys, count, widths));
    for (int64_t r = 0; r < list->count; r++) {
        TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(append_row(out, list->items[r], keys, count, widths));
    }
    return TSR_OK;
}

/* ---- notes: their verdicts in colour, and lines broken between words where they are shown ---- */

/* What stands behind "CODE: ": refusals and lost writes, copies, what copies nothing. */
static const char *verdict_colour(const char *line, size_t length) {
    static const struct {
        const char *words, *colour;
    } verdicts[] = {
        {": refused", "\033[31m"},      {": writes into a copy", "\033[31m"}, {": a copy of", "\033[33m"},
        {": a new tensor", "\033[33m"}, {": a view of", "\033[32m"},          {": the same tensor", "\033[32m"},
        {": writes into", "\033[36m"},
    };
    if (length > 0 && line[0] == ' ') return "";
    for (size_t i = 0; i < TSR_COUNTOF(verdicts); i++)
        if (memmem(line, length, verdicts[i].words, strlen(verdicts[i].words)) != NULL) return verdicts[i].colour;
    return "";
}

static bool is_picture_line(const char *line, size_t length) { return memmem(line, length, "\xe2\x94", 2) != NULL; }

/* What goes on is indented by four more. */
static TsrStatus append_wrapped(TsrText *out, const char *line, size_t length, int width) {
    if (is_picture_line(line, length)) return tsr_text_append(out, line, length);
    int indent = (int)TSR_MIN(strspn(line, " "), length) + 4;
    return screen_append_wrapped(out, line, length, width, indent);
}

/* Where there is no window the text as it is; tables and pictures keep their lines. */
static TsrStatus note_repr(TsrText *out, Value self) {
    const Str *text = value_as_str(self);
    int width = screen_line(INT_MAX);
    bool coloured = screen_colours(),
         table = strstr(text->data, "storage #") == text->data || strstr(text->data, " offset  count ") != NULL;
    if ((width == INT_MAX && !coloured) || table) return tsr_text_append(out, text->data, (size_t)text->size);
    for (const char *line = text->data; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        const char *colour = coloured ? verdict_colour(line, n) : "";
        TSR_TRY(tsr_text_puts(out, colour));
        TSR_TRY(append_wrapped(out, line, n, width));
        if (colour[0] != '\0') TSR_TRY(tsr_text_puts(out, "\033[0m"));
        line += n;
        if (*line == '\n') TSR_TRY(tsr_text_putc(out, *line++));
    }
    return TSR_OK;
}

void card_derive(Type *type, Type *from, const char *name, TsrStatus (*repr)(TsrText *, Value)) {
    type_derive(type, from, name, "tsr");
    type->repr = repr;
    type->str = NULL;
}

void card_startup(void) {
    card_derive(&card_type, &dict_type, "card", card_repr);
    card_derive(&table_type, &list_type, "table", table_repr);
    card_derive(&note_type, &str_type, "note", note_repr);
}
