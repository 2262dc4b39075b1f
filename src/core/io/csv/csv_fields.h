/* csv_fields.h: the fields of a line of text: where records and fields end, and what a field says. For the files
 * csv*.c. */
#ifndef CORE_IO_CSV_CSV_FIELDS_H
#define CORE_IO_CSV_CSV_FIELDS_H

#include <string.h>

#include "core/number.h"
#include "core/text.h"

static inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static inline const char *line_end(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline != NULL ? newline : end;
}

static inline bool blank_line(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p == end;
}

/* Nothing but blank lines. */
static inline bool blank_text(const char *p, size_t n) {
    while (n > 0 && (is_blank(*p) || *p == '\n')) p++, n--;
    return n == 0;
}

/* Behind the quote that closes the one at `begin`; "" in between is a quote of the text. `begin` where none does. */
static inline const char *behind_quotes(const char *begin, const char *end) {
    for (const char *p = begin + 1; p < end; p++) {
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') return p + 1;
        p++;
    }
    return begin;
}

/* Where a field in quotes that opens at p ends, behind them; p when none does: `begin` is its record's. */
static inline const char *behind_field(const char *begin, const char *p, const char *end) {
    static const char around[] = ",;\t | ";
    if (p > begin && memchr(around, p[-1], sizeof around - 1) == NULL) return p;
    const char *behind = behind_quotes(p, end);
    return behind == end || *behind == '\n' || *behind == '\r' || memchr(around, *behind, sizeof around - 1) != NULL
               ? behind
               : p;
}

/* The end of the record that begins here: of its line, unless that is inside quotes. *lines: how many it has. */
static inline const char *record_end(const char *begin, const char *end, int64_t *lines) {
    const char *stop = line_end(begin, end), *p = begin;
    *lines = 1;
    while ((p = memchr(p, '"', (size_t)(stop - p))) != NULL) {
        const char *behind = behind_field(begin, p, end);
        p = behind > p ? behind : p + 1;
        for (; stop < p; ++*lines) stop = line_end(stop + 1, end);
    }
    return stop;
}

/* One field from *p on, trimmed and without quotes; *p moves past its delimiter. *last: no field follows. */
static inline void next_field(const char **p, const char *end, char delimiter, const char **text, const char **text_end,
                              bool *last) {
    const char *begin = *p, *stop;
    while (begin < end && is_blank(*begin) && *begin != delimiter) begin++;
    if (delimiter == ' ') {
        while (begin < end && is_blank(*begin)) begin++;
        stop = begin < end && *begin == '"' ? behind_quotes(begin, end) : begin; /* blanks may stand in them */
        while (stop < end && !is_blank(*stop)) stop++;
        *p = stop;
        while (*p < end && is_blank(**p)) ++*p;
        *last = *p == end;
    } else {
        stop = begin;
        if (begin < end && *begin == '"') stop = behind_quotes(begin, end); /* a delimiter may stand in them */
        while (stop < end && *stop != delimiter) stop++;
        *last = stop == end;
        *p = *last ? end : stop + 1;
    }
    while (stop > begin && is_blank(stop[-1])) stop--;
    if (stop - begin >= 2 && *begin == '"' && stop[-1] == '"') {
        begin++;
        stop--;
    }
    *text = begin;
    *text_end = stop;
}

/* Appends the text of a field of the line that ends at `end`, as next_field gives it: "" in quotes is one quote. */
static inline TsrStatus append_field(TsrText *out, const char *text, const char *text_end, const char *end) {
    bool quoted = text_end < end && *text_end == '"';
    for (const char *p = text; p < text_end; p++) {
        TSR_TRY(tsr_text_putc(out, *p));
        if (quoted && *p == '"' && p + 1 < text_end && p[1] == '"') p++;
    }
    return TSR_OK;
}

/* The delimiter that a first line tells, "sep=;", as spreadsheets write it; 0: it is a row. */
static inline char told_delimiter(const char *line, const char *end) {
    if (end - line == 6 && line[5] == '\r') end--;
    const bool told = end - line == 5 && memcmp(line, "sep=", 4) == 0 && line[4] != '"' && line[4] > ' ';
    return told || (end - line == 5 && memcmp(line, "sep=\t", 5) == 0) ? line[4] : 0;
}

static inline const char *behind_digits(const char *p, const char *end) {
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p;
}

static inline bool is_number(const char *begin, const char *end) {
    double value;
    return begin < end && tsr_parse_double(&value, begin, end) == end;
}

/* true and false, as csv is written and as other programs spell them. */
static inline bool parse_truth(bool *out, const char *begin, const char *end) {
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};
    if (end - begin < 4 || ((*begin | 32) != 't' && (*begin | 32) != 'f')) return false;
    for (size_t i = 0; i < TSR_COUNTOF(words); i++) {
        if ((size_t)(end - begin) != strlen(words[i]) || memcmp(begin, words[i], (size_t)(end - begin)) != 0) continue;
        *out = i % 2 == 1;
        return true;
    }
    return false;
}

/* Whether a cell is one of a list of words. */
static inline bool is_listed(const char *list, const char *begin, const char *end) {
    const char *list_end = list + strlen(list), *text, *text_end;
    for (bool last = false; !last;) {
        next_field(&list, list_end, ',', &text, &text_end, &last);
        if (text_end - text == end - begin && memcmp(text, begin, (size_t)(end - begin)) == 0) return true;
    }
    return false;
}

/* What may separate fields: the first of them that stands outside of quotes does, else blanks. */
static const char csv_candidates[] = ",\t;";

static inline bool has_outside_quotes(const char *line, const char *end, char c) {
    const char *p = line;
    while (p < end && *p != c) {
        const char *behind = *p == '"' ? behind_field(line, p, end) : p;
        p = behind > p ? behind : p + 1;
    }
    return p < end;
}

static inline char detect_delimiter(const char *line, const char *end) {
    for (const char *c = csv_candidates; *c != '\0'; c++)
        if (has_outside_quotes(line, end, *c)) return *c;
    return ' ';
}

#endif
