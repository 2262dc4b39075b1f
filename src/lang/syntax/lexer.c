/* The lexer: one call makes one token. It keeps the stacks of indentations and of open brackets, so that it can tell a
 * line that ends a statement from one that goes on, and makes INDENT and DEDENT as Python does. Errors are tokens,
 * too: the parser words them with their place. */
#include "lexer.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "unichar.h"

enum { TAB_WIDTH = 8, END = -1 };

static const char *const texts[TOKEN_KIND_COUNT] = {
#define OPERATOR(name, text) [T_##name] = text,
#include "token.def"
#define KEYWORD(name, text) [K_##name] = text,
#include "token.def"
};

const char *token_text(TokenKind kind) { return kind < TOKEN_KIND_COUNT ? texts[kind] : NULL; }

void lexer_init_text(Lexer *x, const char *text, size_t begin, size_t end, int line) {
    memset(x, 0, offsetof(Lexer, indents));
    x->text = text;
    x->pos = x->line_start = (int32_t)begin;
    x->length = (int32_t)end;
    x->line = x->first_line = line;
    x->at_line_start = true;
    x->indents[0] = x->alt_indents[0] = 0;
    x->stop = LEXER_GOING;
    x->last = T_NEWLINE;
    x->error_kind = TSR_OK;
    x->message[0] = '\0';
}

void lexer_init(Lexer *x, const Source *source, size_t begin, size_t end) {
    lexer_init_text(x, source_text(source, NULL), begin, end, source_line_at(source, begin));
}

void lexer_resume(Lexer *x, const char *text, size_t end) {
    x->text = text;
    x->length = (int32_t)end;
    x->stop = LEXER_GOING;
    x->continued_end = x->quiet_error = false;
}

void lexer_init_expression(Lexer *x, const Source *source, size_t begin, size_t end, int line) {
    lexer_init(x, source, source_line_offset(source, line), end);
    x->pos = (int32_t)begin;
    x->at_line_start = false;
    x->wrap = 1;
}

/* ---- characters ---- */

static int peek_at(const Lexer *x, int ahead) {
    int32_t i = x->pos + ahead;
    return i < x->length ? (unsigned char)x->text[i] : END;
}
static int peek(const Lexer *x) { return peek_at(x, 0); }

static bool is_line_end(int c) { return c == '\n' || c == '\r'; }

/* Steps over a line end (\n, \r or \r\n). */
static void take_line_end(Lexer *x) {
    if (x->text[x->pos] == '\r' && peek_at(x, 1) == '\n') x->pos++;
    x->pos++;
    x->line++;
    x->line_start = x->pos;
}

static bool is_name_char(int c) { return c >= 128 || isalnum(c) || c == '_'; }
static bool is_name_start(int c) { return c >= 128 || (c != END && isalpha(c)) || c == '_'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }

/* ---- errors ---- */

static Token make(Lexer *x, TokenKind kind, int32_t begin, int32_t line, int32_t line_start) {
    Token t = {.kind = (uint8_t)kind, .level = (int16_t)x->level, .begin = begin, .end = x->pos};
    t.at = (SourceRange){line, begin - line_start, x->line, x->pos - x->line_start};
    x->last = kind;
    return t;
}

static Token make_here(Lexer *x, TokenKind kind, int32_t begin) { return make(x, kind, begin, x->line, x->line_start); }

static Token fail_at(Lexer *x, TsrStatus kind, SourceRange at, const char *format, ...) TSR_PRINTF(4, 5);
static Token fail_at(Lexer *x, TsrStatus kind, SourceRange at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(x->message, sizeof x->message, format, args);
    va_end(args);
    x->stop = LEXER_FAILED;
    x->error_kind = kind;
    x->quiet_error = kind != TSR_SYNTAX_ERROR;
    x->error_at = at;
    Token t = make_here(x, T_ERROR, x->pos);
    t.at = at;
    return t;
}

static SourceRange from(const Lexer *x, int32_t begin) {
    int32_t end = x->pos > begin ? x->pos : begin + 1;
    return (SourceRange){x->line, begin - x->line_start, x->line, end - x->line_start};
}

/* ---- names ---- */

static const struct {
    uint8_t kind, length;
} keywords[] = {
#define KEYWORD(name, text) {K_##name, sizeof(text) - 1},
#include "token.def"
};

static TokenKind name_kind(const char *text, int32_t length) {
    for (size_t i = 0; i < TSR_COUNTOF(keywords); i++)
        if (keywords[i].length == length && texts[keywords[i].kind][0] == text[0] &&
            memcmp(texts[keywords[i].kind], text, (size_t)length) == 0)
            return keywords[i].kind;
    return T_NAME;
}

bool lexer_is_keyword(const char *text, size_t length) {
    return length <= INT32_MAX && name_kind(text, (int32_t)length) != T_NAME;
}

static Token bad_character(Lexer *x, utf8proc_int32_t c, int32_t begin, utf8proc_ssize_t size) {
    x->pos = begin + (int32_t)size;
    if (!unichar_is_printable((uint32_t)c))
        return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin), "invalid non-printable character U+%04X", (unsigned)c);
    return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin), "invalid character '%.*s' (U+%04X)", (int)size, x->text + begin,
                   (unsigned)c);
}

static Token name(Lexer *x, int32_t begin) {
    bool ascii = true;
    while (is_name_char(peek(x))) ascii &= peek(x) < 128, x->pos++;
    if (ascii) return make_here(x, name_kind(x->text + begin, x->pos - begin), begin);
    int32_t end = x->pos;
    for (int32_t i = begin; i < end;) {
        utf8proc_int32_t c = 0;
        utf8proc_ssize_t size = utf8proc_iterate((const utf8proc_uint8_t *)x->text + i, end - i, &c);
        if (size <= 0) size = 1;
        if (!(i == begin ? unichar_starts_name((uint32_t)c) : unichar_continues_name((uint32_t)c)))
            return bad_character(x, c, i, size);
        i += (int32_t)size;
    }
    return make_here(x, T_NAME, begin);
}

/* ---- numbers ---- */

static Token bad_number(Lexer *x, const char *kind) {
    return fail_at(x, TSR_SYNTAX_ERROR, from(x, x->pos > x->line_start ? x->pos - 1 : x->pos), "invalid %s literal",
                   kind);
}

/* A literal may run straight into one of these keywords, into no other name. (Of those with i CPython looks no
 * further.) */
static bool keyword_follows(const Lexer *x) {
    static const char *const may[] = {"and", "else", "for", "if", "in", "is", "or", "not"};
    for (size_t i = 0; i < TSR_COUNTOF(may); i++) {
        size_t n = strlen(may[i]);
        bool there = (size_t)(x->length - x->pos) >= n && memcmp(x->text + x->pos, may[i], n) == 0;
        if (there && (may[i][0] == 'i' || !is_name_char(peek_at(x, (int)n)))) return true;
    }
    return false;
}

static Token number_end(Lexer *x, int32_t begin, const char *kind) {
    if (peek(x) < 128 && is_name_char(peek(x)) && !keyword_follows(x)) return bad_number(x, kind);
    return make_here(x, T_NUMBER, begin);
}

static bool is_digit_of(int c, int base) { return base == 16 ? c != END && isxdigit(c) : c >= '0' && c < '0' + base; }

static Token prefixed_number(Lexer *x, int32_t begin, int base, const char *kind) {
    x->pos += 2;
    do {
        if (peek(x) == '_') x->pos++;
        int c = peek(x);
        if (!is_digit_of(c, base)) {
            if (base != 16 && is_digit(c))
                return fail_at(x, TSR_SYNTAX_ERROR, from(x, x->pos), "invalid digit '%c' in %s literal", c, kind);
            return bad_number(x, kind);
        }
        while (is_digit_of(peek(x), base)) x->pos++;
    } while (peek(x) == '_');
    if (base != 16 && is_digit(peek(x)))
        return fail_at(x, TSR_SYNTAX_ERROR, from(x, x->pos), "invalid digit '%c' in %s literal", peek(x), kind);
    return number_end(x, begin, kind);
}

/* Digits with single underscores between them. False when an underscore has no digit after it. */
static bool digits(Lexer *x) {
    for (;;) {
        while (is_digit(peek(x))) x->pos++;
        if (peek(x) != '_') return true;
        x->pos++;
        if (!is_digit(peek(x))) return false;
    }
}

/* From the point, exponent or j on; `whole` says that only those make a number with leading zeros legal. */
static Token number_tail(Lexer *x, int32_t begin, bool zeros, int32_t zeros_end) {
    bool real = false;
    if (peek(x) == '.') {
        x->pos++;
        real = true;
        if (is_digit(peek(x)) && !digits(x)) return bad_number(x, "decimal");
    }
    if (peek(x) == 'e' || peek(x) == 'E') {
        bool sign = peek_at(x, 1) == '+' || peek_at(x, 1) == '-';
        if (is_digit(peek_at(x, sign ? 2 : 1))) {
            x->pos += sign ? 2 : 1;
            real = true;
            if (!digits(x)) return bad_number(x, "decimal");
        } else if (sign) {
            x->pos += 2;
            return bad_number(x, "decimal");
        } else {
            return number_end(x, begin, "decimal");
        }
    }
    if (peek(x) == 'j' || peek(x) == 'J') {
        x->pos++;
        return number_end(x, begin, "imaginary");
    }
    if (zeros && !real) {
        SourceRange at = {x->line, begin - x->line_start, x->line, zeros_end - x->line_start};
        return fail_at(
            x, TSR_SYNTAX_ERROR, at,
            "leading zeros in decimal integer literals are not permitted; use an 0o prefix for octal integers");
    }
    return number_end(x, begin, "decimal");
}

static Token number(Lexer *x, int32_t begin) {
    int second = peek(x) == '0' ? peek_at(x, 1) : END;
    if (second == 'x' || second == 'X') return prefixed_number(x, begin, 16, "hexadecimal");
    if (second == 'o' || second == 'O') return prefixed_number(x, begin, 8, "octal");
    if (second == 'b' || second == 'B') return prefixed_number(x, begin, 2, "binary");
    bool leading = peek(x) == '0';
    if (peek(x) != '.' && !digits(x)) return bad_number(x, "decimal");
    int32_t zeros_end = begin;
    while (zeros_end < x->pos && (x->text[zeros_end] == '0' || x->text[zeros_end] == '_')) zeros_end++;
    return number_tail(x, begin, leading && zeros_end < x->pos, zeros_end);
}

/* ---- strings ---- */

/* How many prefix letters (r b f u and their pairs) stand before a quote at the current place; -1 if this is no string.
 */
static int string_prefix(const Lexer *x) {
    bool b = false, u = false, r = false, f = false;
    for (int n = 0;; n++) {
        int c = peek_at(x, n);
        if (c == '\'' || c == '"') return n;
        c = c == END ? END : tolower(c);
        if (c == 'b' && !(b || u || f)) b = true;
        else if (c == 'u' && !(b || u || r || f)) u = true;
        else if (c == 'r' && !(r || u)) r = true;
        else if (c == 'f' && !(f || b || u)) f = true;
        else return -1;
    }
}

static Token unterminated(Lexer *x, int32_t begin, int32_t line, int32_t line_start, bool triple) {
    SourceRange at = {line, begin - line_start, line, begin - line_start + 1};
    int last = x->line;
    if (triple && x->pos >= x->length && x->pos == x->line_start && x->line > line)
        last--; /* the text ended with its line */
    return fail_at(x, TSR_SYNTAX_ERROR, at, "unterminated %sstring literal (detected at line %d)",
                   triple ? "triple-quoted " : "", last - x->first_line + 1);
}

static Token string(Lexer *x, int32_t begin, int prefix) {
    int32_t line = x->line, line_start = x->line_start;
    x->pos += prefix;
    int quote = peek(x), need = 1, run = 0;
    x->pos++;
    if (peek(x) == quote) {
        if (peek_at(x, 1) != quote) {
            x->pos++;
            return make(x, T_STRING, begin, line, line_start);
        }
        x->pos += 2;
        need = 3;
    }
    while (run < need) {
        int c = peek(x);
        if (c == END && need == 3) x->continued_end = true;
        if (c == END || (is_line_end(c) && need == 1)) return unterminated(x, begin, line, line_start, need == 3);
        run = c == quote ? run + 1 : 0;
        if (c == '\\') {
            x->pos++;
            c = peek(x);
            if (c == END) continue;
        }
        if (is_line_end(c)) take_line_end(x);
        else x->pos++;
    }
    return make(x, T_STRING, begin, line, line_start);
}

/* ---- indentation ---- */

static Token inconsistent(Lexer *x) {
    return fail_at(x, TSR_TAB_ERROR, from(x, x->line_start), "inconsistent use of tabs and spaces in indentation");
}

/* Compares the indentation of a line with the open ones. Sets `pending`; false when it failed with *error. */
static bool indent_to(Lexer *x, int col, int alt, Token *error) {
    if (col == x->indents[x->indent]) {
        if (alt == x->alt_indents[x->indent]) return true;
        *error = inconsistent(x);
        return false;
    }
    if (col > x->indents[x->indent]) {
        if (x->indent + 1 >= LEXER_MAX_INDENTS) {
            *error = fail_at(x, TSR_INDENTATION_ERROR, from(x, x->line_start), "too many levels of indentation");
            return false;
        }
        if (alt <= x->alt_indents[x->indent]) {
            *error = inconsistent(x);
            return false;
        }
        x->pending++;
        x->indents[++x->indent] = col;
        x->alt_indents[x->indent] = alt;
        return true;
    }
    while (x->indent > 0 && col < x->indents[x->indent]) x->pending--, x->indent--;
    if (col != x->indents[x->indent]) {
        *error = fail_at(x, TSR_INDENTATION_ERROR, from(x, x->line_start),
                         "unindent does not match any outer indentation level");
        return false;
    }
    if (alt == x->alt_indents[x->indent]) return true;
    *error = inconsistent(x);
    return false;
}

/* ---- operators and brackets ---- */

static Token open_bracket(Lexer *x, int32_t begin, TokenKind kind) {
    if (x->level >= LEXER_MAX_BRACKETS)
        return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin), "too many nested parentheses");
    x->brackets[x->level++] = (Bracket){x->text[begin], x->line, begin - x->line_start, begin};
    return make_here(x, kind, begin);
}

static Token close_bracket(Lexer *x, int32_t begin, TokenKind kind) {
    char close = x->text[begin];
    if (x->level == 0) return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin), "unmatched '%c'", close);
    const Bracket *b = &x->brackets[--x->level];
    char wanted = b->open == '(' ? ')' : b->open == '[' ? ']' : '}';
    if (close == wanted) return make_here(x, kind, begin);
    const char *text = "closing parenthesis '%c' does not match opening parenthesis '%c'";
    if (b->line == x->line) return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin), text, close, b->open);
    return fail_at(x, TSR_SYNTAX_ERROR, from(x, begin),
                   "closing parenthesis '%c' does not match opening parenthesis '%c' on line %d", close, b->open,
                   b->line - x->first_line + 1);
}

static TokenKind operator_at(const Lexer *x) {
    int32_t left = x->length - x->pos;
    for (int kind = T_ELLIPSIS; kind < K_FALSE; kind++) {
        if (texts[kind][0] != x->text[x->pos]) continue; /* nearly always */
        int32_t n = (int32_t)strlen(texts[kind]);
        if (n <= left && memcmp(texts[kind], x->text + x->pos, (size_t)n) == 0) return (TokenKind)kind;
    }
    return T_BAD;
}

static Token operator(Lexer *x, int32_t begin) {
    TokenKind kind = operator_at(x);
    x->pos += kind == T_BAD ? 1 : (int32_t)strlen(texts[kind]);
    switch (kind) {
    case T_LPAR:
    case T_LSQB:
    case T_LBRACE: return open_bracket(x, begin, kind);
    case T_RPAR:
    case T_RSQB:
    case T_RBRACE: return close_bracket(x, begin, kind);
    case T_BAD:
        if (x->text[begin] < ' ' || x->text[begin] == 127) return bad_character(x, x->text[begin], begin, 1);
        return make_here(x, T_BAD, begin);
    default: return make_here(x, kind, begin);
    }
}

/* ---- the whole ---- */

static Token at_end(Lexer *x) {
    if (x->wrap == 2) { /* the closing bracket of an f-string's expression */
        x->wrap = 3;
        x->level = 0;
        return make_here(x, T_RPAR, x->pos);
    }
    if (x->level > 0) {
        x->stop = LEXER_END_IN_BRACKETS;
        return make_here(x, T_ERROR, x->pos);
    }
    if (x->last != T_NEWLINE && x->last != T_DEDENT) return make_here(x, T_NEWLINE, x->pos);
    if (x->indent > 0) {
        x->indent--;
        return make_here(x, T_DEDENT, x->pos);
    }
    x->stop = LEXER_ENDED;
    return make_here(x, T_END, x->pos);
}

static Token code(Lexer *x) {
    int32_t begin = x->pos;
    int c = peek(x);
    int prefix = string_prefix(x);
    if (prefix >= 0) return string(x, begin, prefix);
    if (is_name_start(c)) return name(x, begin);
    if (is_digit(c) || (c == '.' && is_digit(peek_at(x, 1)))) return number(x, begin);
    return operator(x, begin);
}

/* A backslash joins the next line to this one. False when it failed with *error. */
static bool join_line(Lexer *x, Token *error) {
    x->pos++;
    if (!is_line_end(peek(x)) && peek(x) != END) {
        *error =
            fail_at(x, TSR_SYNTAX_ERROR, from(x, x->pos), "unexpected character after line continuation character");
        x->quiet_error = true;
        return false;
    }
    if (peek(x) != END) take_line_end(x);
    if (peek(x) != END) return true;
    *error = fail_at(x, TSR_SYNTAX_ERROR, from(x, x->pos), "unexpected EOF while parsing");
    x->continued_end = x->quiet_error = true;
    if (x->level > 0) x->stop = LEXER_END_IN_BRACKETS;
    return false;
}

/* Reads the white space that begins a line. False when it failed with *error; *blank is set for a line without code. */
static bool line_start(Lexer *x, bool *blank, Token *error) {
    int col = 0, alt = 0, joined = -1;
    x->at_line_start = false;
    for (;; x->pos++) {
        int c = peek(x);
        if (c == ' ') col++, alt++;
        else if (c == '\t') col = (col / TAB_WIDTH + 1) * TAB_WIDTH, alt++;
        else if (c == '\f') col = alt = 0;
        else if (c == '\\') { /* the line goes on: its first part sets the column */ joined = joined < 0 ? col : joined;
            if (!join_line(x, error)) return false;
            x->pos--;
        } else break;
    }
    int c = peek(x);
    *blank = c == '#' || c == END || is_line_end(c);
    if (*blank || x->level > 0) return true;
    return indent_to(x, joined >= 0 ? joined : col, joined >= 0 ? joined : alt, error);
}

static void skip_blanks(Lexer *x) {
    while (peek(x) == ' ' || peek(x) == '\t' || peek(x) == '\f') x->pos++;
    if (peek(x) == '#')
        while (peek(x) != END && !is_line_end(peek(x))) x->pos++;
}

static bool take_pending(Lexer *x, Token *out) {
    if (x->pending == 0) return false;
    *out = make_here(x, x->pending > 0 ? T_INDENT : T_DEDENT, x->pos);
    x->pending += x->pending > 0 ? -1 : 1;
    return true;
}

Token lexer_next(Lexer *x) {
    Token t;
    if (x->stop != LEXER_GOING) return make_here(x, x->stop == LEXER_ENDED ? T_END : T_ERROR, x->pos);
    if (x->wrap == 1) {
        x->wrap = 2;
        x->brackets[x->level++] = (Bracket){'(', x->line, x->pos - x->line_start, x->pos};
        return make_here(x, T_LPAR, x->pos);
    }
    for (;;) {
        bool blank = false;
        if (x->at_line_start && !line_start(x, &blank, &t)) return t;
        if (take_pending(x, &t)) return t;
        skip_blanks(x);
        int c = peek(x);
        if (c == END) return at_end(x);
        if (c == '\\') {
            if (!join_line(x, &t)) return t;
            continue;
        }
        if (!is_line_end(c)) return code(x);
        int32_t begin = x->pos, line = x->line, start = x->line_start;
        take_line_end(x);
        x->at_line_start = true;
        if (blank || x->level > 0) continue;
        t = make(x, T_NEWLINE, begin, line, start);
        t.at.end_line = line;
        t.at.end_col = t.at.col + 1;
        return t;
    }
}
