#include "paste.h"

#include <string.h>

#include "magic.h"
#include "parser.h"

bool paste_is_prompt(const char *line, const char *prompt) { return strncmp(line, prompt, 3) == 0 && (line[3] == '\0' || strchr(" \r\n", line[3]) != NULL); }

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end != NULL ? end + 1 : line + strlen(line);
}

static const char *skip_blanks(const char *line) { return line + strspn(line, " \t"); }

static bool is_session(const char *text) { return paste_is_prompt(text + strspn(text, " \t\r\n"), ">>>"); }

static int line_number(const char *text, const char *at) {
    int number = 1;
    for (; text < at; text++) number += *text == '\n';
    return number;
}

static void cut(TsrText *text, size_t length) {
    text->length = length;
    if (text->data != NULL) text->data[length] = '\0';
}

static bool add_line(TsrText *piece, const char *line) { return tsr_text_append(piece, line, (size_t)(next_line(line) - line)) == TSR_OK; }

/* The line behind its prompt. */
static const char *unprompted(const char *line) {
    const char *s = skip_blanks(line) + 3;
    return *s == ' ' ? s + 1 : s;
}

/* The statement whose first prompt is at or behind `line`. Returns where it ends, NULL if there is none. */
static const char *take_statement(TsrText *piece, const char **first, const char *line) {
    while (*line != '\0' && !paste_is_prompt(skip_blanks(line), ">>>")) line = next_line(line);
    *first = line;
    for (bool begun = false; *line != '\0' && paste_is_prompt(skip_blanks(line), begun ? "..." : ">>>"); begun = true) {
        if (!add_line(piece, unprompted(line))) return NULL;
        line = next_line(line);
    }
    return line > *first ? line : NULL;
}

/* Whether a magic stands in this line: not one that goes on with what `before` has begun. */
static bool is_magic_line(TsrText *before, const char *line) {
    if (!magic_is(line, (size_t)(next_line(line) - line)) || line != skip_blanks(line)) return false;
    if (before->length == 0) return true;
    size_t length = before->length;
    bool complete = tsr_text_putc(before, '\n') == TSR_OK && parser_need(before->data, before->length) == PARSER_COMPLETE;
    cut(before, length);
    return complete;
}

/* A magic, or the lines before the next one. */
static const char *take_lines(TsrText *piece, const char *line) {
    while (*line != '\0') {
        bool magic = is_magic_line(piece, line), first = piece->length == 0;
        if (magic && !first) break;
        if (!add_line(piece, line)) return NULL;
        line = next_line(line);
        if (magic) break;
    }
    return piece->length > 0 ? line : NULL;
}

bool paste_next(TsrText *piece, int *line, const char *text, size_t *at) {
    const char *first = text + *at;
    cut(piece, 0);
    const char *end = is_session(text) ? take_statement(piece, &first, first) : take_lines(piece, first);
    if (end == NULL) return false;
    *line = line_number(text, first);
    *at = (size_t)(end - text);
    return true;
}
