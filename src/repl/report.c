/* Writes the report of an error: frames with their lines, carets under the failing part, hints and shapes. Lines that
 * are wider than the terminal are cut around the carets; the same report can be written as JSON. */
#include "report.h"

#include <ctype.h>
#include <string.h>

enum { MAX_SHOWN = 200, LEFT_OF_PLACE = 80, SAME_FRAMES = 3 };

static const char *colour_of(bool on, const char *code) { return on ? code : ""; }

/* Source text with its control characters blanked. */
static void write_clean(FILE *file, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        fputc(c < 0x20 || c == 0x7F ? ' ' : c, file);
    }
}

/* The stretch of a line that is shown: all of it but blanks at its ends, or a window around `col`. */
static void window(const char *text, size_t length, int col, size_t *from, size_t *to) {
    *from = 0;
    while (*from < length && (text[*from] == ' ' || text[*from] == '\t' || text[*from] == '\f')) (*from)++;
    *to = length;
    while (*to > *from && *to > (size_t)col && (text[*to - 1] == ' ' || text[*to - 1] == '\t')) (*to)--;
    if (*to - *from <= MAX_SHOWN) return;
    if (col > LEFT_OF_PLACE && (size_t)col < length && (size_t)(col - LEFT_OF_PLACE) > *from)
        *from = (size_t)(col - LEFT_OF_PLACE);
    while (*from < *to && (text[*from] & 0xC0) == 0x80) (*from)++;
    if (*to - *from > MAX_SHOWN) *to = *from + MAX_SHOWN;
    while (*to > *from && *to < length && (text[*to] & 0xC0) == 0x80) (*to)--;
}

static bool in_name(unsigned char c) { return c >= 0x80 || c == '_' || isalnum(c); }

/* Where a name stands in a line's code, NULL when it does so nowhere, or in several places; an attribute is none. */
static const char *only_place(const char *code, size_t length, const char *name, size_t n) {
    const char *found = NULL, *end = code + length;
    for (const char *at = code; (at = memmem(at, (size_t)(end - at), name, n)) != NULL; at++) {
        bool whole = (at == code || (!in_name((unsigned char)at[-1]) && at[-1] != '.')) &&
                     (at + n == end || !in_name((unsigned char)at[n]));
        if (whole && found != NULL) return NULL;
        if (whole) found = at;
    }
    return found;
}

void diag_narrow(DiagFrame *f, const char *name, size_t length) {
    size_t size, end_size;
    const char *first = source_line(f->source, f->at.line, &size),
               *last = source_line(f->source, f->at.end_line, &end_size);
    size_t col = (size_t)f->at.col, end = (size_t)f->at.end_col;
    if (first == NULL || last == NULL || col > size || end > end_size) return;
    bool begins = size - col >= length && memcmp(first + col, name, length) == 0 &&
                  (col + length == size || !in_name((unsigned char)first[col + length]));
    bool ends = end >= length && memcmp(last + end - length, name, length) == 0 &&
                (end == length || !in_name((unsigned char)last[end - length - 1]));
    if (begins) f->at = (SourceRange){f->at.line, f->at.col, f->at.line, f->at.col + (int32_t)length};
    else if (ends)
        f->at = (SourceRange){f->at.end_line, f->at.end_col - (int32_t)length, f->at.end_line, f->at.end_col};
    else if (f->at.line == f->at.end_line && col <= end) {
        const char *only = only_place(first + col, end - col, name, length);
        if (only != NULL)
            f->at = (SourceRange){f->at.line, (int32_t)(only - first), f->at.line,
                                  (int32_t)(only - first + (ptrdiff_t)length)};
    }
}

static void write_carets(FILE *file, const DiagFrame *f, size_t from, size_t to, bool colour) {
    int end = f->at.end_line > f->at.line ? (int)to : f->at.end_col;
    int begin = f->at.col < (int)from ? (int)from : f->at.col;
    if (end > (int)to + 1) end = (int)to + 1;
    if (f->at.end_line < f->at.line || begin > (int)to) return;
    int left = source_column_cells(f->source, f->at.line, (int)from);
    int before = source_column_cells(f->source, f->at.line, begin) - left;
    int width = source_column_cells(f->source, f->at.line, end) - left - before;
    if (width < 1) width = 1;
    fprintf(file, "    %*s%s", before, "", colour_of(colour, "\033[1;31m"));
    for (int i = 0; i < width; i++) fputc('^', file);
    fprintf(file, "%s\n", colour_of(colour, "\033[0m"));
}

static void write_place(FILE *file, const DiagFrame *f, bool colour) {
    size_t length, from, to;
    const char *text = f->at.line > 0 ? source_line(f->source, f->at.line, &length) : NULL;
    if (text == NULL) return;
    window(text, length, f->at.col, &from, &to);
    if (from == to) return;
    fputs("    ", file);
    write_clean(file, text + from, to - from);
    fputc('\n', file);
    write_carets(file, f, from, to, colour);
}

static void write_frame(FILE *file, const DiagFrame *f, bool colour) {
    fprintf(file, "  File \"");
    write_clean(file, source_name(f->source), strlen(source_name(f->source)));
    fputc('"', file);
    if (f->at.line > 0) fprintf(file, ", line %d", f->at.line);
    if (f->function != NULL) fprintf(file, ", in %s", f->function);
    fputc('\n', file);
    write_place(file, f, colour);
}

static bool same_frame(const DiagFrame *a, const DiagFrame *b) {
    return a->source == b->source && a->at.line == b->at.line && a->function == b->function;
}

/* Frames that repeat more than three times (recursion) are counted instead. */
static void write_frames(FILE *file, const DiagError *e, int count, bool colour) {
    int repeated = 0;
    for (int i = 0; i < count; i++) {
        repeated = i > 0 && same_frame(&e->frames[i], &e->frames[i - 1]) ? repeated + 1 : 0;
        if (repeated < SAME_FRAMES) write_frame(file, &e->frames[i], colour);
        bool last = i + 1 == count || !same_frame(&e->frames[i + 1], &e->frames[i]);
        if (last && repeated >= SAME_FRAMES) {
            int more = repeated - SAME_FRAMES + 1;
            fprintf(file, "  [Previous line repeated %d more time%s]\n", more, more == 1 ? "" : "s");
        }
    }
}

static void write_indented(FILE *file, const char *lines) {
    for (const char *p = lines; *p != '\0';) {
        size_t n = strcspn(p, "\n");
        fprintf(file, "    %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static void write_traceback(FILE *file, const DiagError *e, bool colour) {
    int shown = e->syntax && e->count > 0 ? e->count - 1 : e->count;
    if (e->count > 0 && (!e->syntax || shown > 0) && !e->brief) fprintf(file, "Traceback (most recent call last):\n");
    write_frames(file, e, shown, colour);
    if (shown < e->count) write_frame(file, &e->frames[shown], colour);
}

/* Whether the one place that is known is the only line of its program. */
static bool is_one_line(const DiagError *e) {
    size_t length;
    return e->count == 1 && e->frames[0].at.line == 1 && source_line(e->frames[0].source, 2, &length) == NULL;
}

void diag_write(FILE *file, const DiagError *e, bool colour) {
    if (e->brief && e->file != NULL) {
        fputs("tsr: ", file);
        write_clean(file, e->file, strlen(e->file));
        fputc('\n', file);
    } else if (e->brief && is_one_line(e)) write_place(file, &e->frames[0], colour);
    else write_traceback(file, e, colour);
    if (e->shapes != NULL) write_indented(file, e->shapes);
    if (e->hint != NULL && e->hint[0] != '\0') {
        fprintf(file, "%s    hint: ", colour_of(colour, "\033[2m"));
        write_clean(file, e->hint, strlen(e->hint));
        fprintf(file, "%s\n", colour_of(colour, "\033[0m"));
    }
    fprintf(file, "%s%s%s\n", colour_of(colour, "\033[1m"), e->line, colour_of(colour, "\033[0m"));
}

/* `text` as a JSON string, quotes included. */
static void write_json_string(FILE *file, const char *text) {
    fputc('"', file);
    for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\') fprintf(file, "\\%c", *p);
        else if (*p == '\n') fputs("\\n", file);
        else if (*p < 0x20 || *p == 0x7F) fprintf(file, "\\u%04x", *p);
        else if (*p == 0xED && p[1] >= 0xA0 && p[1] != '\0' && p[2] != '\0') { /* a lone surrogate */
            fprintf(file, "\\u%04x", 0xD000 | (p[1] & 0x3F) << 6 | (p[2] & 0x3F));
            p += 2;
        } else fputc(*p, file);
    }
    fputc('"', file);
}

static void write_json_place(FILE *file, const DiagFrame *f) {
    if (f == NULL) {
        fputs(", \"file\": null, \"line\": null, \"column\": null, \"end_column\": null", file);
        return;
    }
    fputs(", \"file\": ", file);
    write_json_string(file, source_name(f->source));
    if (f->at.line <= 0) {
        fputs(", \"line\": null, \"column\": null, \"end_column\": null", file);
        return;
    }
    size_t length = 0;
    int end = f->at.end_line > f->at.line && source_line(f->source, f->at.line, &length) != NULL ? (int)length
                                                                                                 : f->at.end_col;
    fprintf(file, ", \"line\": %d, \"column\": %d, \"end_column\": %d", f->at.line,
            source_column_chars(f->source, f->at.line, f->at.col) + 1,
            source_column_chars(f->source, f->at.line, end) + 1);
}

void diag_write_json_note(FILE *file, const char *text) {
    fputs("{\"note\": ", file);
    write_json_string(file, text);
    fputs("}\n", file);
}

void diag_write_json(FILE *file, const DiagError *e) {
    fputs("{\"type\": ", file);
    write_json_string(file, e->type);
    fputs(", \"message\": ", file);
    write_json_string(file, e->message);
    write_json_place(file, e->count > 0 ? &e->frames[e->count - 1] : NULL);
    fputs(", \"hint\": ", file);
    if (e->hint != NULL && e->hint[0] != '\0') write_json_string(file, e->hint);
    else fputs("null", file);
    fputs("}\n", file);
}
