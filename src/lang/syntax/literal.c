/* literal.c: the values of numbers and strings, and what stands in the braces of f-strings.
 *
 * Adjacent strings become one node; each piece is read character by character with its escapes. In an f-string the text
 * up to a brace is a constant; the expression's end is found by a scan that knows quotes and brackets, and its bytes
 * are then parsed by the ordinary rules in place, so that errors in it have their true position. A spec is read the
 * same way and may have fields of its own, two deep. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "core/mem.h"
#include "core/number.h"
#include "rules.h"

enum { MAX_DECIMAL_DIGITS = 4300, MAX_NESTED_FORMATS = 2 };

/* ---- numbers ---- */

static Node *integer(Parser *p, Node *n, char *digits, size_t length) {
    int base = 10;
    if (length > 2 && digits[0] == '0' && isalpha((unsigned char)digits[1])) {
        base = tolower((unsigned char)digits[1]) == 'x' ? 16 : tolower((unsigned char)digits[1]) == 'o' ? 8 : 2;
        digits += 2, length -= 2;
    }
    while (length > 1 && digits[0] == '0') digits++, length--;
    if (base == 10 && length > MAX_DECIMAL_DIGITS) {
        p->in_format = false;
        return parse_raise(
            p, n->at,
            "Exceeds the limit (%d digits) for integer string conversion: value has %zu digits; use "
            "sys.set_int_max_str_digits() to "
            "increase the limit - Consider hexadecimal for huge integer literals to avoid decimal conversion limits.",
            MAX_DECIMAL_DIGITS, length);
    }
    n->constant.kind = CONST_INT;
    n->constant.base = base;
    n->constant.text = digits;
    n->constant.length = length;
    return n;
}

Node *literal_number(Parser *p, const Token *t) {
    const char *text = source_text(p->source, NULL) + t->begin;
    size_t size = (size_t)(t->end - t->begin), length = 0;
    Node *n = parse_node(p, AST_CONSTANT, t->at);
    char *digits = parse_alloc(p, size + 1, 1);
    if (n == NULL || digits == NULL) return NULL;
    for (size_t i = 0; i < size; i++)
        if (text[i] != '_') digits[length++] = text[i];
    bool hexadecimal = length > 1 && (digits[1] == 'x' || digits[1] == 'X');
    bool imaginary = digits[length - 1] == 'j' || digits[length - 1] == 'J';
    if (imaginary) digits[length - 1] = '\0';
    if (!imaginary && (hexadecimal || strpbrk(digits, ".eE") == NULL)) return integer(p, n, digits, length);
    n->constant.kind = imaginary ? CONST_IMAGINARY : CONST_FLOAT;
    (void)tsr_parse_double(&n->constant.number, digits, digits + strlen(digits));
    return n;
}

/* ---- text under construction ---- */

typedef struct Text {
    char *data;
    size_t length, room;
} Text;

static bool put(Parser *p, Text *t, const char *bytes, size_t n) {
    if (t->length + n + 1 > t->room) {
        size_t room = (t->length + n + 1) * 2;
        char *grown = parse_alloc(p, room, 1);
        if (grown == NULL) return false;
        if (t->length > 0) memcpy(grown, t->data, t->length);
        t->data = grown;
        t->room = room;
    }
    memcpy(t->data + t->length, bytes, n);
    t->length += n;
    t->data[t->length] = '\0';
    return true;
}

/* UTF-8, surrogates too (as their three bytes). */
static bool put_code_point(Parser *p, Text *t, uint32_t c) {
    char b[4];
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) b[i] = (char)(0x80 | (c & 0x3F));
    b[0] = (char)(lead[n] | c);
    return put(p, t, b, n);
}

/* ---- escapes ---- */

/* One string token being read. Positions in messages count as CPython does: a character past ASCII is ten. */
typedef struct Piece {
    const char *at, *end, *begin;
    SourceRange where; /* of the token */
    bool raw, bytes, format;
} Piece;

static int position(const Piece *s, const char *to) {
    int n = 0;
    for (const char *c = s->begin; c < to; c++) n += (unsigned char)*c < 0x80 ? 1 : (*c & 0xC0) != 0x80 ? 10 : 0;
    return n;
}

static bool bad_escape(Parser *p, const Piece *s, const char *from, const char *to, const char *why) {
    bool format = p->in_format;
    p->in_format = false;
    int first = position(s, from), last = position(s, to) - 1;
    if (first == last)
        parse_raise(p, s->where, "(unicode error) 'unicodeescape' codec can't decode byte 0x5c in position %d: %s",
                    first, why);
    else
        parse_raise(p, s->where, "(unicode error) 'unicodeescape' codec can't decode bytes in position %d-%d: %s",
                    first, last, why);
    p->in_format = format;
    return false;
}

static int hex_value(char c) { return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10; }

/* `count` hexadecimal digits after the escape that begins at `from`. */
static bool hex_escape(Parser *p, Text *t, Piece *s, const char *from, int count) {
    uint32_t c = 0;
    int n = 0;
    for (; n < count && s->at < s->end && isxdigit((unsigned char)*s->at); n++)
        c = c << 4 | (uint32_t)hex_value(*s->at++);
    if (n < count && s->bytes) {
        parse_raise(p, s->where, "(value error) invalid \\x escape at position %d", (int)(from - s->begin));
        return false;
    }
    if (n < count)
        return bad_escape(p, s, from, s->at,
                          count == 2   ? "truncated \\xXX escape"
                          : count == 4 ? "truncated \\uXXXX escape"
                                       : "truncated \\UXXXXXXXX escape");
    if (c > 0x10FFFF) return bad_escape(p, s, from, s->at, "illegal Unicode character");
    if (s->bytes) return put(p, t, &(char){(char)c}, 1);
    return put_code_point(p, t, c);
}

static bool octal_escape(Parser *p, Text *t, Piece *s, char first) {
    uint32_t c = (uint32_t)(first - '0');
    for (int n = 1; n < 3 && s->at < s->end && *s->at >= '0' && *s->at <= '7'; n++)
        c = c << 3 | (uint32_t)(*s->at++ - '0');
    if (s->bytes) return put(p, t, &(char){(char)c}, 1);
    return put_code_point(p, t, c);
}

/* The few named characters that are used in text about tensors. */
static const struct {
    const char *name;
    uint32_t c;
} named[] = {{"DEGREE SIGN", 0xB0},
             {"MICRO SIGN", 0xB5},
             {"MULTIPLICATION SIGN", 0xD7},
             {"GREEK SMALL LETTER ALPHA", 0x3B1},
             {"GREEK SMALL LETTER BETA", 0x3B2},
             {"GREEK SMALL LETTER PI", 0x3C0},
             {"GREEK SMALL LETTER SIGMA", 0x3C3},
             {"EM DASH", 0x2014},
             {"BULLET", 0x2022},
             {"SNOWMAN", 0x2603},
             {"RIGHTWARDS ARROW", 0x2192},
             {"INFINITY", 0x221E},
             {"GREEK SMALL LETTER MU", 0x3BC},
             {"GREEK SMALL LETTER LAMDA", 0x3BB},
             {"EURO SIGN", 0x20AC},
             {"LEFT CURLY BRACKET", '{'},
             {"NO-BREAK SPACE", 0xA0}};

static bool name_escape(Parser *p, Text *t, Piece *s, const char *from) {
    const char *close = s->at < s->end && *s->at == '{' ? memchr(s->at, '}', (size_t)(s->end - s->at)) : NULL;
    bool braced = s->at < s->end && *s->at == '{';
    if (close == NULL || close == s->at + 1)
        return bad_escape(p, s, from,
                          !braced         ? s->at
                          : close != NULL ? close
                                          : s->end,
                          "malformed \\N character escape");
    size_t n = (size_t)(close - s->at - 1);
    for (size_t i = 0; i < TSR_COUNTOF(named); i++)
        if (strlen(named[i].name) == n && strncasecmp(named[i].name, s->at + 1, n) == 0) {
            s->at = close + 1;
            return put_code_point(p, t, named[i].c);
        }
    return bad_escape(p, s, from, close + 1, "unknown Unicode character name");
}

/* What stands after a backslash. An unknown escape stays as it is written. */
static bool escape(Parser *p, Text *t, Piece *s) {
    static const char plain[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    const char *from = s->at - 1;
    char c = *s->at++;
    if (c == '\n') return true;
    if (c == '\r') {
        if (s->at < s->end && *s->at == '\n') s->at++;
        return true;
    }
    if (c == 'x') return hex_escape(p, t, s, from, 2);
    if (c >= '0' && c <= '7') return octal_escape(p, t, s, c);
    if (!s->bytes && c == 'u') return hex_escape(p, t, s, from, 4);
    if (!s->bytes && c == 'U') return hex_escape(p, t, s, from, 8);
    if (!s->bytes && c == 'N') return name_escape(p, t, s, from);
    for (const char *q = plain; *q != '\0'; q += 2)
        if (q[0] == c) return put(p, t, q + 1, 1);
    s->at--;
    return put(p, t, "\\", 1);
}

/* One character, or escape, of a piece. Line ends become \n. */
static bool put_next(Parser *p, Text *t, Piece *s) {
    char c = *s->at++;
    if (c == '\\' && !s->raw && s->at < s->end) return escape(p, t, s);
    if (c == '\r') {
        if (s->at < s->end && *s->at == '\n') s->at++;
        c = '\n';
    }
    if (s->bytes && (unsigned char)c >= 0x80) {
        parse_raise(p, s->where, "bytes can only contain ASCII literal characters");
        return false;
    }
    return put(p, t, &c, 1);
}

static bool plain_piece(Parser *p, Text *t, Piece *s) {
    while (s->at < s->end)
        if (!put_next(p, t, s)) return false;
    return true;
}

/* ---- f-strings ---- */

/* The parts so far: text not yet closed, and finished nodes on the parser's stack. */
typedef struct Format {
    Text text;
    SourceRange at;
} Format;

static bool flush(Parser *p, Format *f) {
    if (f->text.length == 0) return true;
    Node *n = parse_node(p, AST_CONSTANT, f->at);
    if (n == NULL) return false;
    n->constant.kind = CONST_STR;
    n->constant.text = f->text.data;
    n->constant.length = f->text.length;
    f->text = (Text){0};
    return parse_push(p, n);
}

/* Errors in the shape of an f-string (not in the code inside it). */
static bool shape_error(Parser *p, const Piece *s, const char *why) {
    bool format = p->in_format;
    p->in_format = false;
    parse_raise(p, s->where, "%s", why);
    p->in_format = format;
    return false;
}

static bool unmatched(Parser *p, const Piece *s, char bracket) {
    char why[] = "f-string: unmatched ' '";
    why[sizeof why - 3] = bracket;
    return shape_error(p, s, why);
}

typedef struct Scan {
    char open[LEXER_MAX_BRACKETS];
    int depth;
    char quote;
    int quotes; /* 1 or 3 */
} Scan;

/* Quotes inside an expression. True when the character was one, or stood in a string. */
static bool scan_quote(Piece *s, Scan *x) {
    char c = *s->at;
    bool three = s->at + 2 < s->end && s->at[1] == c && s->at[2] == c;
    if (x->quote != 0) {
        if (c != x->quote) return true;
        if (x->quotes == 3 && !three) return true;
        if (x->quotes == 3) s->at += 2;
        x->quote = 0;
        return true;
    }
    if (c != '\'' && c != '"') return false;
    x->quote = c;
    x->quotes = three ? 3 : 1;
    if (three) s->at += 2;
    return true;
}

static bool scan_bracket(Parser *p, Piece *s, Scan *x) {
    char c = *s->at;
    if (strchr("([{", c) != NULL) {
        if (x->depth >= LEXER_MAX_BRACKETS) return shape_error(p, s, "f-string: too many nested parenthesis");
        x->open[x->depth++] = c;
        return true;
    }
    if (x->depth == 0) return unmatched(p, s, c);
    char open = x->open[--x->depth];
    if ((open == '(' && c == ')') || (open == '[' && c == ']') || (open == '{' && c == '}')) return true;
    char why[100];
    snprintf(why, sizeof why, "f-string: closing parenthesis '%c' does not match opening parenthesis '%c'", c, open);
    return shape_error(p, s, why);
}

/* Whether the character ends the expression: ! : } = outside brackets, save in != == <= >=. */
static bool ends_expression(Piece *s) {
    char c = *s->at;
    if (strchr("!:}=<>", c) == NULL) return false;
    if (s->at + 1 < s->end && s->at[1] == '=' && strchr("!=<>", c) != NULL) {
        s->at++;
        return false;
    }
    return c != '<' && c != '>';
}

/* Moves to the end of the expression that begins at the current place. */
static bool scan_expression(Parser *p, Piece *s) {
    Scan x = {.depth = 0};
    for (; s->at < s->end; s->at++) {
        char c = *s->at;
        if (c == '\\') return shape_error(p, s, "f-string expression part cannot include a backslash");
        if (scan_quote(s, &x)) continue;
        if (c == '#') return shape_error(p, s, "f-string expression part cannot include '#'");
        if (x.depth == 0 && c != '\0' && strchr("!:}=<>", c) != NULL) {
            if (ends_expression(s)) break;
            continue;
        }
        if (strchr("([{)]}", c) != NULL && !scan_bracket(p, s, &x)) return false;
    }
    if (x.quote != 0) return shape_error(p, s, "f-string: unterminated string");
    if (x.depth > 0) return unmatched(p, s, x.open[x.depth - 1]);
    return s->at < s->end || shape_error(p, s, "f-string: expecting '}'");
}

static bool inner_expression(Parser *p) {
    Node *value = parse_star_expressions(p);
    if (value == NULL || !parse_accept(p, T_NEWLINE) || parse_peek(p) != T_END) return false;
    p->stack_count = 0;
    return parse_push(p, value);
}

/* Parses source bytes [begin, end) as an expression in parentheses. */
static Node *parse_inside(Parser *p, const char *begin, const char *end) {
    const char *text = source_text(p->source, NULL);
    Lexer *lexer = tsr_malloc(sizeof *lexer);
    if (lexer == NULL) return parse_no_memory(p);
    int line = source_line_at(p->source, (size_t)(begin - text));
    lexer_init_expression(lexer, p->source, (size_t)(begin - text), (size_t)(end - text), line);
    lexer->first_line = p->lexer->first_line;
    Parser q;
    parse_begin(&q, lexer, p->source, p->arena, p->names);
    q.in_format = true;
    q.depth = p->depth + 1;
    if (!inner_expression(&q)) parse_diagnose(&q, inner_expression);
    Node *value = q.failed ? NULL : q.stack[0];
    if (q.failed) {
        p->failed = true;
        p->status = q.status;
        p->where = q.where;
        p->message = q.message;
    }
    parse_end(&q);
    tsr_free(lexer);
    return value;
}

static bool format_parts(Parser *p, Format *f, Piece *s, int nested);

static Node *format_spec(Parser *p, Piece *s, int nested) {
    Format f = {.at = s->where};
    int list = parse_list(p);
    Node *n = parse_node(p, AST_JOINED, s->where);
    if (n == NULL || !format_parts(p, &f, s, nested) || !flush(p, &f) || !parse_take(p, list, &n->list)) return NULL;
    return parse_adopt_all(p, n, &n->list) ? n : NULL;
}

static bool conversion(Parser *p, Piece *s, Node *n) {
    if (*s->at != '!') return true;
    if (++s->at >= s->end) return shape_error(p, s, "f-string: expecting '}'");
    n->formatted.conversion = (unsigned char)*s->at++;
    if (n->formatted.conversion == 's' || n->formatted.conversion == 'r' || n->formatted.conversion == 'a')
        return s->at < s->end || shape_error(p, s, "f-string: expecting '}'");
    return shape_error(p, s, "f-string: invalid conversion character: expected 's', 'r', or 'a'");
}

static bool is_blank(const char *from, const char *to) {
    while (from < to && isspace((unsigned char)*from)) from++;
    return from == to;
}

/* {value=!r:spec}, from the brace on. */
static bool replacement(Parser *p, Format *f, Piece *s, int nested) {
    if (nested >= MAX_NESTED_FORMATS) return shape_error(p, s, "f-string: expressions nested too deeply");
    const char *begin = ++s->at;
    if (!scan_expression(p, s)) return false;
    const char *end = s->at, *shown = NULL;
    if (is_blank(begin, end) && *end != '}') {
        char why[] = "f-string: expression required before ' '";
        why[sizeof why - 3] = *end;
        return shape_error(p, s, why);
    }
    if (is_blank(begin, end)) return shape_error(p, s, "f-string: empty expression not allowed");
    Node *value = parse_inside(p, begin, end);
    Node *n = value != NULL ? parse_node(p, AST_FORMATTED, value->at) : NULL;
    if (n == NULL || !parse_adopt(p, n, value)) return false;
    n->formatted.value = value;
    if (*s->at == '=') {
        s->at++;
        while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
        if (s->at >= s->end) return shape_error(p, s, "f-string: expecting '}'");
        shown = s->at;
    }
    if (!conversion(p, s, n)) return false;
    if (*s->at == ':') {
        if (++s->at >= s->end) return shape_error(p, s, "f-string: expecting '}'");
        n->formatted.spec = format_spec(p, s, nested + 1);
        if (n->formatted.spec == NULL || !parse_adopt(p, n, n->formatted.spec)) return false;
    }
    if (s->at >= s->end || *s->at != '}') return shape_error(p, s, "f-string: expecting '}'");
    s->at++;
    if (shown != NULL && n->formatted.spec == NULL && n->formatted.conversion == 0) n->formatted.conversion = 'r';
    if (shown != NULL && !put(p, &f->text, begin, (size_t)(shown - begin))) return false;
    return flush(p, f) && parse_push(p, n);
}

/* Text and replacements up to the end, or, in a spec, up to its closing brace. */
static bool format_parts(Parser *p, Format *f, Piece *s, int nested) {
    while (s->at < s->end) {
        char c = *s->at;
        if (c != '{' && c != '}') {
            if (c == '\\' && !s->raw && s->at + 1 < s->end &&
                strchr("{}", s->at[1]) != NULL) { /* an unknown escape: the brace counts */
                if (!put(p, &f->text, "\\", 1)) return false;
                s->at++;
                continue;
            }
            if (!put_next(p, &f->text, s)) return false;
            continue;
        }
        if (nested == 0 && s->at + 1 < s->end && s->at[1] == c) {
            if (!put(p, &f->text, &c, 1)) return false;
            s->at += 2;
            continue;
        }
        if (c == '}') return nested > 0 || shape_error(p, s, "f-string: single '}' is not allowed");
        if (!replacement(p, f, s, nested)) return false;
    }
    return nested == 0 || shape_error(p, s, "f-string: expecting '}'");
}

/* ---- adjacent strings ---- */

static Piece open_piece(const Parser *p, const Token *t) {
    Piece s = {
        .at = source_text(p->source, NULL) + t->begin, .end = source_text(p->source, NULL) + t->end, .where = t->at};
    for (; *s.at != '\'' && *s.at != '"'; s.at++) {
        int c = tolower((unsigned char)*s.at);
        s.raw |= c == 'r';
        s.bytes |= c == 'b';
        s.format |= c == 'f';
    }
    size_t quotes = s.end - s.at >= 6 && s.at[1] == s.at[0] && s.at[2] == s.at[0] ? 3 : 1;
    s.at += quotes;
    s.end -= quotes;
    s.begin = s.at;
    return s;
}

Node *literal_strings(Parser *p, int first, int count) {
    Format f = {.at = parse_span(p, p->tokens[first].at)};
    int list = parse_list(p);
    bool format = false, bytes = open_piece(p, &p->tokens[first]).bytes;
    for (int i = 0; i < count; i++)
        if (open_piece(p, &p->tokens[first + i]).bytes != bytes)
            return parse_raise(p, f.at, "cannot mix bytes and nonbytes literals");
    for (int i = 0; i < count; i++) {
        Piece s = open_piece(p, &p->tokens[first + i]);
        format |= s.format;
        if (!(s.format ? format_parts(p, &f, &s, 0) : plain_piece(p, &f.text, &s))) return NULL;
    }
    Node *n = parse_node(p, format ? AST_JOINED : AST_CONSTANT, f.at);
    if (n == NULL) return NULL;
    if (format) return flush(p, &f) && parse_take(p, list, &n->list) && parse_adopt_all(p, n, &n->list) ? n : NULL;
    n->constant.kind = bytes ? CONST_BYTES : CONST_STR;
    n->constant.text = f.text.data != NULL ? f.text.data : "";
    n->constant.length = f.text.length;
    return n;
}
