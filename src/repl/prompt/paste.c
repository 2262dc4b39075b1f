/* Splits pasted text into the pieces that would be typed one after another: magics, statements, and the inputs of a
 * recorded session without their prompts. */
#include "paste.h"

#include <string.h>

#include "magic.h"
#include "lang/syntax/parser.h"

static bool ends_prompt(const char *c) { return *c == '\0' || strchr(" \r\n", *c) != NULL; }

bool paste_is_prompt(const char *line, const char *prompt) {
    return strncmp(line, prompt, 3) == 0 && ends_prompt(line + 3);
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end != NULL ? end + 1 : line + strlen(line);
}

static const char *skip_blanks(const char *line) { return line + strspn(line, " \t"); }

/* The length of the prompt that a statement begins with, blanks before it included, 0 if there is none: ">>>", or "In
 * [1]:". */
static size_t first_prompt(const char *line) {
    const char *s = skip_blanks(line);
    if (paste_is_prompt(s, ">>>")) return (size_t)(s - line) + 3;
    if (strncmp(s, "In [", 4) != 0) return 0;
    s += 4 + strspn(s + 4, "0123456789");
    return strncmp(s, "]:", 2) == 0 && ends_prompt(s + 2) ? (size_t)(s - line) + 2 : 0;
}

/* The same of the lines behind it: "...", or "...:". */
static size_t next_prompt(const char *line) {
    const char *s = skip_blanks(line);
    if (strncmp(s, "...", 3) != 0) return 0;
    s += 3 + (s[3] == ':');
    return ends_prompt(s) ? (size_t)(s - line) : 0;
}

static void cut(TsrText *text, size_t length) {
    text->length = length;
    if (text->data != NULL) text->data[length] = '\0';
}

static bool add_line(TsrText *piece, const char *line) {
    return tsr_text_append(piece, line, (size_t)(next_line(line) - line)) == TSR_OK;
}

/* The next statement of a session. Returns where it ends, NULL if there is none; *first is where it begins. */
static const char *take_statement(TsrText *piece, const char **first, const char *line) {
    size_t prompt;
    while (*line != '\0' && first_prompt(line) == 0) line = next_line(line);
    *first = line;
    for (; *line != '\0' && (prompt = line == *first ? first_prompt(line) : next_prompt(line)) > 0;
         line = next_line(line))
        if (!add_line(piece, line + prompt + (line[prompt] == ' '))) return NULL;
    return line > *first ? line : NULL;
}

/* Whether a magic stands in this line: not one that goes on with what `before` has begun. */
static bool is_magic_line(TsrText *before, const char *line) {
    if (!magic_is(line, (size_t)(next_line(line) - line)) || line != skip_blanks(line)) return false;
    if (before->length == 0) return true;
    size_t length = before->length;
    bool complete =
        tsr_text_putc(before, '\n') == TSR_OK && parser_need(before->data, before->length) == PARSER_COMPLETE;
    cut(before, length);
    return complete;
}

/* A magic, with the lines behind it where it takes them, or the lines before the next one. */
static const char *take_lines(TsrText *piece, const char *line) {
    while (*line != '\0') {
        bool magic = is_magic_line(piece, line), first = piece->length == 0;
        if (magic && !first) break;
        if (!add_line(piece, line)) return NULL;
        line = next_line(line);
        if (magic && !magic_takes_lines(piece->data)) break;
    }
    return piece->length > 0 ? line : NULL;
}

/* Behind a string in three quotes that begins here; the end of the text where it is left open; NULL: none begins. */
static const char *behind_string(const char *s) {
    if (strncmp(s, "\"\"\"", 3) != 0 && strncmp(s, "'''", 3) != 0) return NULL;
    char quotes[4] = {s[0], s[0], s[0], '\0'};
    const char *end = strstr(s + 3, quotes);
    return end != NULL ? end + 3 : s + strlen(s);
}

/* Whether a prompt stands at the beginning of a line outside of strings, where no program can have it. */
static bool has_prompt(const char *text) {
    bool begins = true;
    for (const char *s = text; *s != '\0'; begins = *s++ == '\n') {
        const char *end = behind_string(s);
        if (begins && first_prompt(s) > 0) return true;
        if (end != NULL) s = end - 1;
    }
    return false;
}

/* A docstring alone, with prompts in it. */
static bool is_docstring(const char *text) {
    const char *begin = text + strspn(text, " \t\r\n"), *end = behind_string(begin);
    if (end == NULL || end[strspn(end, " \t\r\n")] != '\0') return false;
    for (const char *line = next_line(begin); *line != '\0' && line < end; line = next_line(line))
        if (first_prompt(line) > 0) return true;
    return false;
}

Paste paste_begin(const char *text) {
    return (Paste){.text = text, .line = 1, .session = has_prompt(text) || is_docstring(text)};
}

static int lines_between(const char *from, const char *to) {
    int count = 0;
    for (; from < to; from++) count += *from == '\n';
    return count;
}

bool paste_next(Paste *paste, TsrText *piece, int *line) {
    const char *begin = paste->text + paste->at, *first = begin;
    cut(piece, 0);
    const char *end = paste->session ? take_statement(piece, &first, begin) : take_lines(piece, begin);
    if (end == NULL) return false;
    *line = paste->line + lines_between(begin, first);
    paste->line = *line + lines_between(first, end);
    paste->at = (size_t)(end - paste->text);
    return true;
}
