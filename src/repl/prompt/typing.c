/* While a statement is typed: the indentation of its next line, and colours.
 *
 * A line is painted in two steps: each of its bytes is given a style, by the tokens of the statement so far and by its
 * brackets, then runs of one style are written out. */
#include "typing.h"

#include <ctype.h>
#include <string.h>

#include "core/mem.h"
#include "lang/syntax/lexer.h"
#include "line.h"
#include "magic.h"

/* ---- indentation ---- */

static bool is_word(const char *text, Token t, const char *word) {
    return (size_t)(t.end - t.begin) == strlen(word) && memcmp(text + t.begin, word, strlen(word)) == 0;
}

static bool leaves_block(const char *text, Token first) {
    static const char *const words[] = {"return", "pass", "break", "continue", "raise"};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (is_word(text, first, words[i])) return true;
    return false;
}

/* The blanks at the beginning of the last line that has something else. */
static int last_indent(const char *text, size_t length) {
    while (length > 0 && isspace((unsigned char)text[length - 1])) length--;
    size_t begin = length;
    while (begin > 0 && text[begin - 1] != '\n') begin--;
    return (int)strspn(text + begin, " ");
}

/* The last statement's first token, and its last one before the line end. */
typedef struct Ends {
    Token first, last;
    bool begins; /* the next token is a first one */
    int level;   /* open brackets at the end */
} Ends;

static void take_token(Ends *ends, Token t) {
    ends->level = t.level;
    if (t.kind == T_NEWLINE) ends->begins = true;
    else if (t.kind != T_INDENT && t.kind != T_DEDENT) {
        if (ends->begins) ends->first = t;
        ends->last = t;
        ends->begins = false;
    }
}

int typing_indent(const char *text, size_t length) {
    Lexer lexer;
    Ends ends = {.begins = true};
    lexer_init_text(&lexer, text, 0, length, 1);
    for (Token t = lexer_next(&lexer); t.kind != T_END && t.kind != T_ERROR; t = lexer_next(&lexer))
        take_token(&ends, t);
    if (lexer.continued_end || ends.last.end == 0) return 0;
    int indent = last_indent(text, length);
    if (ends.level > 0) return text[ends.last.begin] == ',' ? indent : indent + TYPING_INDENT;
    if (ends.begins && is_word(text, ends.last, ":")) return indent + TYPING_INDENT;
    return ends.begins && leaves_block(text, ends.first) && indent >= TYPING_INDENT ? indent - TYPING_INDENT : indent;
}

/* ---- colours ---- */

enum { PLAIN, KEYWORD, STRING, NUMBER, COMMENT, MATCH, STRAY, STYLES };
static const char *const codes[STYLES] = {
    [PLAIN] = "",          [KEYWORD] = "\033[35m", [STRING] = "\033[32m", [NUMBER] = "\033[36m",
    [COMMENT] = "\033[2m", [MATCH] = "\033[1;4m",  [STRAY] = "\033[31m",
};

/* The statement so far, of which the bytes from `begin` on are the line. */
typedef struct Canvas {
    const char *text;
    size_t begin, length;
    char style[TYPING_MAX_LINE];
} Canvas;

static void set_style(Canvas *c, size_t begin, size_t end, char style) {
    if (end > c->length) end = c->length;
    for (size_t i = begin < c->begin ? c->begin : begin; i < end; i++) c->style[i - c->begin] = style;
}

static char style_of(const char *text, Token t) {
    if (t.kind == T_STRING) return STRING;
    if (t.kind == T_NUMBER) return NUMBER;
    return lexer_is_keyword(text + t.begin, (size_t)(t.end - t.begin)) ? KEYWORD : PLAIN;
}

/* Between two tokens only blanks, line ends and comments stand; behind the last one perhaps a text that is not closed
 * yet. */
static void paint_gap(Canvas *c, size_t begin, size_t end) {
    const char *sign = memchr(c->text + begin, '#', end - begin);
    if (sign != NULL) set_style(c, (size_t)(sign - c->text), end, COMMENT);
}

static void paint_rest(Canvas *c, size_t begin) {
    while (begin < c->length && isspace((unsigned char)c->text[begin])) begin++;
    size_t quote = begin + strspn(c->text + begin, "rRbBfFuU");
    bool is_text = quote < c->length && (c->text[quote] == '"' || c->text[quote] == '\'');
    if (is_text) set_style(c, begin, c->length, STRING);
    else paint_gap(c, begin, c->length);
}

/* The brackets that are open, by where they stand. */
typedef struct Open {
    int32_t at[LEXER_MAX_BRACKETS + 1];
    int count;
} Open;

static bool beside(const Canvas *c, int32_t at, size_t point) {
    return point != LINE_NO_CURSOR && ((size_t)at == c->begin + point || (size_t)at + 1 == c->begin + point);
}

static void take_bracket(Canvas *c, Open *open, Token t, size_t point) {
    char sign = c->text[t.begin];
    if (t.end - t.begin != 1) return;
    if (strchr("([{", sign) != NULL && open->count <= LEXER_MAX_BRACKETS) open->at[open->count++] = t.begin;
    if (strchr(")]}", sign) == NULL || open->count == 0) return;
    int32_t mate = open->at[--open->count];
    if (!beside(c, mate, point) && !beside(c, t.begin, point)) return;
    set_style(c, (size_t)mate, (size_t)mate + 1, MATCH);
    set_style(c, (size_t)t.begin, (size_t)t.begin + 1, MATCH);
}

static void paint_tokens(Canvas *c, size_t point) {
    Lexer lexer;
    Open open = {.count = 0};
    size_t at = 0;
    lexer_init_text(&lexer, c->text, 0, c->length, 1);
    Token t = lexer_next(&lexer);
    for (; t.kind != T_END && t.kind != T_ERROR; t = lexer_next(&lexer)) {
        if ((size_t)t.begin > at) paint_gap(c, at, (size_t)t.begin);
        set_style(c, (size_t)t.begin, (size_t)t.end, style_of(c->text, t));
        take_bracket(c, &open, t, point);
        if ((size_t)t.end > at) at = (size_t)t.end;
    }
    paint_rest(c, at);
    if (t.kind == T_ERROR && at < c->length && strchr(")]}", c->text[at]) != NULL) set_style(c, at, at + 1, STRAY);
}

static TsrStatus put_run(TsrText *out, const char *text, size_t length, char style) {
    if (style == PLAIN) return tsr_text_append(out, text, length);
    TSR_TRY(tsr_text_puts(out, codes[(int)style]));
    TSR_TRY(tsr_text_append(out, text, length));
    return tsr_text_puts(out, "\033[0m");
}

static TsrStatus put_line(TsrText *out, const Canvas *c) {
    const char *line = c->text + c->begin;
    size_t length = c->length - c->begin, end;
    for (size_t i = 0; i < length; i = end) {
        for (end = i + 1; end < length && c->style[end] == c->style[i]; end++) {}
        TSR_TRY(put_run(out, line + i, end - i, c->style[i]));
    }
    return TSR_OK;
}

TsrStatus typing_paint(TsrText *out, const char *before, size_t before_length, const char *line, size_t point) {
    TsrText text = {0};
    size_t length = strlen(line);
    if (length > TYPING_MAX_LINE) return tsr_text_puts(out, line);
    TsrStatus status = before_length > 0 ? tsr_text_append(&text, before, before_length) : TSR_OK;
    if (status == TSR_OK) status = tsr_text_append(&text, line, length);
    if (status == TSR_OK && length > 0) {
        Canvas c = {.text = text.data, .begin = before_length, .length = text.length};
        paint_tokens(&c, point);
        status = put_line(out, &c);
    }
    tsr_text_free(&text);
    return status;
}

/* ---- at the prompt ---- */

static const TsrText *above;

void typing_follow(const TsrText *statement) {
    above = statement;
    line_indent_next(statement->length > 0 ? typing_indent(statement->data, statement->length) : 0, TYPING_INDENT);
}

TsrStatus typing_paint_line(TsrText *out, const char *typed, size_t point) {
    if (above->length == 0 && magic_is(typed, strlen(typed))) return tsr_text_puts(out, typed);
    return typing_paint(out, above->data, above->length, typed, point);
}
