/* format.c: one pass over the text for each question: lessons are short, and nothing has to be kept or freed. */
#include "format.h"

#include <stdio.h>
#include <string.h>

#include "lang/syntax/parser.h"

bool span_starts(Span s, const char *what) {
    size_t n = strlen(what);
    return (size_t)(s.end - s.begin) >= n && memcmp(s.begin, what, n) == 0;
}

static Span trim(Span s) {
    while (s.begin < s.end && (*s.begin == ' ' || *s.begin == '\n' || *s.begin == '\r')) s.begin++;
    while (s.begin < s.end && (s.end[-1] == ' ' || s.end[-1] == '\n' || s.end[-1] == '\r')) s.end--;
    return s;
}

static const char *find(Span s, const char *what) {
    const char *at = memmem(s.begin, (size_t)(s.end - s.begin), what, strlen(what));
    return at != NULL ? at : s.end;
}

bool span_next_line(Span *rest, Span *line) {
    if (span_is_empty(*rest)) return false;
    const char *end = find(*rest, "\n");
    *line = (Span){rest->begin, end};
    if (line->begin < line->end && line->end[-1] == '\r') line->end--;
    rest->begin = end < rest->end ? end + 1 : end;
    return true;
}

Span format_title(Span lesson) {
    Span rest = lesson, line = {0};
    span_next_line(&rest, &line);
    if (span_starts(line, "# ")) line.begin += 2;
    return trim(line);
}

Span format_introduction(Span lesson, Span *rest) {
    Span line, text = lesson;
    span_next_line(&text, &line);
    const char *first = span_starts(text, "## ") ? text.begin : find(text, "\n## ");
    *rest = (Span){first, text.end};
    return trim((Span){text.begin, first});
}

/* ---- comments ---- */

/* The first `<!-- ... -->` of the text, as what stands inside; *rest begins behind it. */
static bool next_comment(Span *rest, Span *inside) {
    const char *begin = find(*rest, "<!-- ");
    if (begin == rest->end) return false;
    inside->begin = begin + strlen("<!-- ");
    inside->end = find((Span){inside->begin, rest->end}, "-->");
    rest->begin = inside->end < rest->end ? inside->end + strlen("-->") : rest->end;
    return true;
}

static bool split_comment(Span inside, Span *key, Span *text) {
    const char *colon = find(inside, ":");
    *key = trim((Span){inside.begin, colon});
    *text = trim((Span){colon < inside.end ? colon + 1 : colon, inside.end});
    return colon < inside.end;
}

static bool is_key(Span key, const char *name) {
    return (size_t)span_length(key) == strlen(name) && span_starts(key, name);
}

bool format_comment(Span *text, const Step *step, const char *wanted, int index) {
    Span rest = step->comments, inside, key;
    while (next_comment(&rest, &inside))
        if (split_comment(inside, &key, text) && is_key(key, wanted) && index-- == 0) return true;
    *text = (Span){rest.end, rest.end};
    return false;
}

bool format_odd_key(Span *key, const Step *step) {
    static const char *const known[] = {"try", "check", "hint", "wrong", "right"};
    Span rest = step->comments, inside, text;
    while (next_comment(&rest, &inside)) {
        bool fine = false;
        split_comment(inside, key, &text);
        for (size_t i = 0; i < TSR_COUNTOF(known); i++) fine |= is_key(*key, known[i]);
        if (!fine) return true;
    }
    return false;
}

/* ---- steps ---- */

static Step read_step(Span text) {
    Step s = {0};
    Span line, rest = text, inside;
    span_next_line(&text, &line);
    s.heading = trim((Span){line.begin + TSR_MIN(3, span_length(line)), line.end});
    const char *first = find(text, "<!-- "), *last = first;
    rest = (Span){first, text.end};
    while (next_comment(&rest, &inside)) last = rest.begin;
    s.body = trim((Span){text.begin, first});
    s.comments = (Span){first, last};
    s.answer = first < last ? trim((Span){last, text.end}) : (Span){text.end, text.end};
    format_comment(&s.task, &s, "try", 0);
    return s;
}

bool format_next_step(Span *rest, Step *step) {
    while (rest->begin < rest->end && *rest->begin == '\n') rest->begin++;
    if (span_is_empty(*rest)) return false;
    const char *end = find(*rest, "\n## ");
    *step = read_step((Span){rest->begin, end});
    rest->begin = end;
    return true;
}

int format_count_steps(Span lesson) {
    Span rest;
    Step step;
    int n = 0;
    format_introduction(lesson, &rest);
    while (format_next_step(&rest, &step)) n++;
    return n;
}

/* ---- code ---- */

static TsrStatus append_line(TsrText *code, Span line) {
    Span plain = {line.begin + (span_length(line) > 3 ? 4 : 3), line.end};
    TSR_TRY(tsr_text_append(code, plain.begin, (size_t)span_length(plain)));
    return tsr_text_putc(code, '\n');
}

TsrStatus format_code(TsrText *code, Span text) {
    Span line;
    while (span_next_line(&text, &line))
        if (span_starts(line, ">>>") || span_starts(line, "...")) TSR_TRY(append_line(code, line));
    return TSR_OK;
}

static size_t end_of_line(Span code, size_t offset) {
    const char *end = find((Span){code.begin + offset, code.end}, "\n");
    return (size_t)(end - code.begin) + (end < code.end);
}

bool format_next_statement(Span *statement, Span code, size_t *offset) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where = {0};
    size_t length = (size_t)span_length(code), begin = *offset;
    if (begin >= length) return false;
    bool fine = source_new(&source, "<lesson>", code.begin, length, 1, NULL) == TSR_OK &&
                parser_new_statement(&ast, source, offset, &where) == TSR_OK;
    bool over = fine && ast == NULL;
    ast_free(ast);
    source_free(source);
    if (!fine) tsr_error_clear();
    if (!fine && *offset <= begin) *offset = end_of_line(code, begin);
    *statement = (Span){code.begin + begin, code.begin + *offset};
    return !over;
}
