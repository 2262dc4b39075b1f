/* json_cells.c: the cells of objects of JSON (cells.h). A reader found them to be sound; what is looked for here is
 * where values stand, and the end of the text bounds all of it, as the file may have been changed since. */
#include "cells.h"
#include "core/io/json/json_text.h"

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static const char *behind_space(const char *p, const char *end) {
    while (p < end && is_space(*p)) p++;
    return p;
}

static const char *behind_string(const char *p, const char *end) {
    for (p++; p < end && *p != '"'; p++) p += *p == '\\';
    return p < end ? p + 1 : end;
}

/* Behind a value: a string, a list or an object with all in it, or a word. */
static const char *behind_value(const char *p, const char *end) {
    int64_t depth = 0;
    do {
        if (p >= end) return end;
        if (*p == '"') p = behind_string(p, end);
        else if (*p == '[' || *p == '{') depth++, p++;
        else if (*p == ']' || *p == '}') depth--, p++;
        else if (depth > 0) p++;
        else
            while (p < end && !is_space(*p) && strchr(",]}", *p) == NULL) p++;
    } while (depth > 0);
    return p;
}

const char *tsr_json_row_end(const TsrSource *source, const char *p) { return behind_value(p, source->end); }

const char *tsr_json_row(const TsrSource *source, const char *p) {
    while (p < source->end && (is_space(*p) || *p == ',')) p++;
    return p < source->end && *p == '{' ? p : NULL;
}

/* ---- members ---- */

typedef struct Member {
    const char *key, *key_end; /* with its quotes */
    const char *value, *value_end;
} Member;

/* The member at *p, which moves behind it and the comma. False: there is none. */
static bool next_member(Member *m, const char **p, const char *end) {
    const char *q = behind_space(*p, end);
    if (q == end || *q != '"') return false;
    m->key = q;
    m->key_end = q = behind_string(q, end);
    q = behind_space(q, end);
    if (q == end || *q != ':') return false;
    m->value = behind_space(q + 1, end);
    m->value_end = q = behind_value(m->value, end);
    q = behind_space(q, end);
    *p = q < end && *q == ',' ? q + 1 : q;
    return m->value < m->value_end;
}

/* Whether a string's text, decoded where it has escapes, is `text`. */
static bool is_text(const char *string, const char *string_end, const char *text, size_t n) {
    size_t length = (size_t)(string_end - string);
    if (length < 2) return false;
    if (memchr(string, '\\', length) == NULL) return length == n + 2 && memcmp(string + 1, text, n) == 0;
    TsrInput in = {.name = "", .data = string, .size = length};
    TsrJson j = {.in = &in, .start = string, .p = string, .end = string_end, .loose = true, .where = ""};
    TsrText decoded = {0};
    bool same = tsr_json_string(&j, &decoded, "a string") == TSR_OK && decoded.length == n &&
                (n == 0 || memcmp(decoded.data, text, n) == 0);
    tsr_text_free(&decoded);
    tsr_error_clear();
    return same;
}

static bool find_from(Member *m, TsrCells *c, const char *name, size_t n) {
    while (next_member(m, &c->p, c->end))
        if (is_text(m->key, m->key_end, name, n)) return true;
    return false;
}

bool tsr_json_find_cell(TsrCellText *out, TsrCells *c, const char *name) {
    Member m;
    if (name == NULL || c->begin == c->end) return false;
    if (c->p == c->begin) c->p++;
    bool found = find_from(&m, c, name, strlen(name));
    if (!found) c->p = c->begin + 1;
    if (!found && !find_from(&m, c, name, strlen(name))) return false;
    *out = (TsrCellText){m.value, m.value_end, m.value, m.value_end, m.value_end};
    return true;
}

int64_t tsr_json_members(const TsrCells *c) {
    Member m;
    int64_t n = 0;
    if (c->source == NULL || c->row < 0 || c->end == NULL || c->begin == c->end) return -1;
    for (const char *p = c->begin + 1; next_member(&m, &p, c->end);) n++;
    return n;
}

void tsr_json_style(const char **colon, const char **comma, const TsrSource *source) {
    Member m;
    const char *p = source->begin < source->end ? tsr_json_row(source, source->begin) : NULL;
    const char *end = p != NULL ? tsr_json_row_end(source, p) : NULL;
    if (p++ == NULL || !next_member(&m, &p, end)) return;
    if (m.value == m.key_end + 1) *colon = ":";
    const char *behind = p;
    if (next_member(&m, &p, end) && m.key == behind) *comma = ",";
    tsr_source_forgive(source);
}

/* ---- what a text says ---- */

static bool is_word(const TsrCellText *cell, const char *word) {
    size_t n = strlen(word);
    return (size_t)(cell->text_end - cell->text) == n && memcmp(cell->text, word, n) == 0;
}

static bool says_time(const TsrCellText *cell, const TsrCellValue *v) {
    TsrTimeStyle style = *v->style;
    int64_t time;
    return cell->text_end - cell->text >= 2 &&
           tsr_time_parse(&time, cell->text + 1, cell->text_end - 1, &style, false) && time == v->value.i;
}

bool tsr_json_cell_says(const TsrCellText *cell, const TsrCellValue *v) {
    if (v->nothing || is_word(cell, "null")) return v->nothing && is_word(cell, "null");
    if (*cell->text == '"') {
        if (v->kind == TSR_COLUMN_TIMES) return says_time(cell, v);
        if (v->kind != TSR_COLUMN_TEXT || v->value.i < 0 || v->value.i >= v->words->n) return false;
        size_t begin = v->words->begin[v->value.i];
        return is_text(cell->text, cell->text_end, v->words->bytes + begin, v->words->begin[v->value.i + 1] - begin);
    }
    if (v->kind != TSR_COLUMN_NUMBERS) return false;
    if (v->value.kind == TSR_SCALAR_BOOL) return is_word(cell, v->value.b ? "true" : "false");
    return tsr_number_says(cell->text, cell->text_end, v->value, v->dtype);
}
