/* Breaks lines of help at the width of the terminal: between words, and in code only after a comma inside brackets.
 * The continuation is indented as far as the line it belongs to. */
#include "fold.h"

#include <limits.h>
#include <string.h>

#include "core/base.h"

enum { DEEPEST = 40 }; /* a signature that opens its bracket further right goes on at the left */

typedef enum LineKind { PROSE, SIGNATURE, EXAMPLE } LineKind;

/* Whether the blank at line[i] is a place to break code: outside the innermost brackets at best, so `depth` counts. */
static bool breaks_code(const char *line, size_t i, int depth) {
    return i > 0 && ((depth > 0 && line[i - 1] == ',') || strncmp(line + i, " -> ", 4) == 0);
}

/* Where a line of at most `room` bytes can end, a blank behind it: the last such place in the fewest brackets, but
 * rather deep than in the first half; else the first one further right, else `length`. */
static size_t find_break(const char *line, size_t length, size_t room, LineKind kind, int depth) {
    size_t best = length;
    int best_depth = INT_MAX;
    char quote = '\0';
    for (size_t i = 0; i < length && (i <= room || best == length); i++) {
        char c = line[i];
        bool place = c == ' ' && quote == '\0' && (kind == PROSE || breaks_code(line, i, depth));
        if (place && depth <= best_depth) {
            best = i;
            best_depth = kind != PROSE && 2 * i > room ? depth : INT_MAX;
        }
        if (quote != '\0') quote = c == quote ? '\0' : quote;
        else if (kind != PROSE && (c == '"' || c == '\'')) quote = c;
        else depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    return best;
}

static int brackets_open(const char *line, size_t length) {
    int depth = 0;
    for (size_t i = 0; i < length; i++)
        depth += (line[i] == '(' || line[i] == '[') - (line[i] == ')' || line[i] == ']');
    return depth;
}

/* What a line of this kind goes on with: blanks, and in an example its second prompt. */
static size_t indent_of(const char *line, size_t length, LineKind kind, size_t width) {
    if (kind != SIGNATURE) return 4;
    const char *open = memchr(line, '(', length);
    return open != NULL && (size_t)(open - line) < TSR_MIN((size_t)DEEPEST, 2 * width / 3) ? (size_t)(open - line) + 1
                                                                                           : 4;
}

static TsrStatus fold_line(TsrText *out, const char *line, size_t length, LineKind kind, size_t width) {
    size_t indent = indent_of(line, length, kind, width),
           taken = kind == PROSE ? 4 : 0; /* the blanks before prose are no place to break */
    const char *prompt = kind == EXAMPLE ? "...     " : "";
    size_t room = width;
    int depth = 0;
    while (length > room) {
        size_t n = taken + find_break(line + taken, length - taken, room - taken, kind, depth);
        if (n >= length) break;
        depth += brackets_open(line, n);
        TSR_TRY(tsr_text_printf(out, "%.*s\n%*s%s", (int)n, line, (int)indent, "", prompt));
        line += n + 1;
        length -= n + 1;
        room = width - indent - strlen(prompt);
        taken = 0;
    }
    return tsr_text_append(out, line, length);
}

TsrStatus fold_page(TsrText *out, const char *page, size_t width) {
    bool example = false;
    while (*page != '\0') {
        size_t length = strcspn(page, "\n");
        bool prompt = strncmp(page, "    >>> ", 8) == 0;
        example = length > 0 && (prompt || example);
        if (length <= width || (example && !prompt)) TSR_TRY(tsr_text_append(out, page, length));
        else TSR_TRY(fold_line(out, page, length, prompt ? EXAMPLE : page[0] == ' ' ? PROSE : SIGNATURE, width));
        page += length;
        if (*page == '\n') page++;
        TSR_TRY(tsr_text_putc(out, '\n'));
    }
    return TSR_OK;
}
