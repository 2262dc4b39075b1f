/* regex_compile.c: patterns to instructions, in one pass: what a + after an atom needs before it is put there by moving
 * the atom's code. Messages and their places are those of Python 3.11's re. */
#include "regex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/object/value_impl.h"
#include "lang/types/dict.h"

enum { MOST_CODE = 1 << 20, MOST_REPEAT = 1 << 16, MOST_GROUPS = 1 << 15 };

/* How many characters a part of a pattern takes; most -1: no limit. */
typedef struct Width {
    int64_t least, most;
} Width;

typedef struct Reader {
    Regex *regex;
    const char *text;
    int64_t size, at;
    int flags;
    bool *open; /* by group: it is being read */
    int64_t open_capacity;
} Reader;

static TsrStatus fail_at(const Reader *r, int64_t at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static TsrStatus fail_at(const Reader *r, int64_t at, const char *format, ...) {
    char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    long long place = (long long)utf8_count(r->text, at);
    const char *newline = memchr(r->text, '\n', (size_t)r->size);
    if (newline == NULL) return tsr_error(TSR_RE_ERROR, "%s at position %lld", text, place);
    long long line = 1, column = place + 1;
    for (int64_t i = 0; i < at; i++)
        if (r->text[i] == '\n') line++, column = place - (long long)utf8_count(r->text, i + 1) + 1;
    return tsr_error(TSR_RE_ERROR, "%s at position %lld (line %lld, column %lld)", text, place, line, column);
}

/* --- code --- */

static TsrStatus emit(Reader *r, RegexOp op, int flags, int32_t x, int32_t y) {
    Regex *g = r->regex;
    if (g->count >= MOST_CODE) return tsr_error(TSR_RE_ERROR, "the pattern is too large");
    TSR_TRY(mem_grow(&g->code, &g->capacity, g->count + 1, sizeof *g->code));
    g->code[g->count++] = (RegexIns){(uint8_t)op, (uint8_t)flags, x, y};
    return TSR_OK;
}

/* Which of x and y are places in the code: bits 1 and 2. */
static int targets(const RegexIns *i) {
    switch (i->op) {
    case RE_SPLIT: return 3;
    case RE_JUMP:
    case RE_LOOK:
    case RE_ATOMIC: return 1;
    case RE_TURN: return 2;
    default: return 0;
    }
}

static void move_targets(RegexIns *code, int64_t count, int64_t by) {
    for (RegexIns *i = code; i < code + count; i++) {
        if (targets(i) & 1) i->x += (int32_t)by;
        if (targets(i) & 2) i->y += (int32_t)by;
    }
}

/* Room for `more` instructions at `at`, before code that ends at the end and that jumps within itself only. */
static TsrStatus make_room(Reader *r, int64_t at, int more) {
    Regex *g = r->regex;
    int64_t count = g->count - at;
    for (int i = 0; i < more; i++) TSR_TRY(emit(r, RE_END, 0, 0, 0));
    memmove(g->code + at + more, g->code + at, sizeof *g->code * (size_t)count);
    move_targets(g->code + at + more, count, more);
    return TSR_OK;
}

/* The code at [from, from + count) once more at the end. */
static TsrStatus copy_code(Reader *r, int64_t from, int64_t count) {
    int64_t at = r->regex->count;
    for (int64_t i = 0; i < count; i++) {
        RegexIns ins = r->regex->code[from + i];
        TSR_TRY(emit(r, ins.op, ins.flags, ins.x, ins.y));
    }
    move_targets(r->regex->code + at, count, at - from);
    return TSR_OK;
}

/* --- characters and sets --- */

static bool more(const Reader *r) { return r->at < r->size; }
static char peek(const Reader *r) { return r->at < r->size ? r->text[r->at] : '\0'; }
static bool accept(Reader *r, const char *text) {
    size_t n = strlen(text);
    if (r->size - r->at < (int64_t)n || memcmp(r->text + r->at, text, n) != 0) return false;
    r->at += (int64_t)n;
    return true;
}

static uint32_t take(Reader *r) {
    int size;
    uint32_t c = utf8_decode(r->text + r->at, &size);
    r->at += size;
    return c;
}

static TsrStatus emit_char(Reader *r, uint32_t c) {
    bool fold = (r->flags & REGEX_I) != 0;
    return emit(r, RE_CHAR, fold ? RE_FOLD : 0, (int32_t)(fold ? regex_lower(c) : c), 0);
}

static TsrStatus new_set(Reader *r, RegexSet **lent) {
    Regex *g = r->regex;
    TSR_TRY(mem_grow(&g->sets, &g->set_capacity, g->set_count + 1, sizeof *g->sets));
    *lent = &g->sets[g->set_count++];
    **lent = (RegexSet){.fold = (r->flags & REGEX_I) != 0};
    return TSR_OK;
}

static TsrStatus add_range(RegexSet *set, uint32_t first, uint32_t last) {
    TSR_TRY(mem_grow(&set->ranges, &set->capacity, set->count + 2, sizeof *set->ranges));
    set->ranges[set->count++] = first;
    set->ranges[set->count++] = last;
    return TSR_OK;
}

static TsrStatus emit_set(Reader *r, RegexSet *set) {
    bool ascii = (r->flags & REGEX_A) != 0;
    for (uint32_t c = 0; c < 128; c++)
        if (regex_set_has(set, c, ascii)) set->ascii[c >> 6] |= UINT64_C(1) << (c & 63);
    return emit(r, RE_SET, ascii ? RE_ASCII : 0, (int32_t)(r->regex->set_count - 1), 0);
}

static TsrStatus emit_class(Reader *r, char letter) {
    RegexSet *set;
    TSR_TRY(new_set(r, &set));
    set->classes = 1u << (strchr(regex_classes, letter) - regex_classes);
    return emit_set(r, set);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* \xhh, \uhhhh, \Uhhhhhhhh: exactly `digits` of them. */
static TsrStatus hex_escape(uint32_t *out, Reader *r, int64_t begin, int digits) {
    *out = 0;
    int n = 0;
    for (; n < digits && hex_digit(peek(r)) >= 0; n++) *out = *out * 16 + (uint32_t)hex_digit(r->text[r->at++]);
    if (n == digits && *out <= 0x10ffff) return TSR_OK;
    return fail_at(r, begin, "incomplete escape %.*s", (int)(r->at - begin), r->text + begin);
}

/* A character that is written by an escape, behind whose backslash the reader is; *known false: it is none. */
static TsrStatus escaped_char(uint32_t *out, bool *known, Reader *r, int64_t begin) {
    static const char letters[] = "abfnrtv\\", values[] = "\a\b\f\n\r\t\v\\";
    char c = peek(r);
    const char *found = c != '\0' ? strchr(letters, c) : NULL;
    *known = true;
    if (found != NULL) {
        r->at++;
        *out = (uint32_t)values[found - letters];
        return TSR_OK;
    }
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits > 0) {
        r->at++;
        return hex_escape(out, r, begin, digits);
    }
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter) return fail_at(r, begin, "bad escape \\%c", c);
    *known = c < '0' || c > '9' || (unsigned char)c >= 128;
    if (*known) *out = take(r);
    return TSR_OK;
}

static TsrStatus octal(uint32_t *out, Reader *r, int64_t begin, int most) {
    *out = 0;
    for (int n = 0; n < most && peek(r) >= '0' && peek(r) <= '7'; n++)
        *out = *out * 8 + (uint32_t)(r->text[r->at++] - '0');
    if (*out <= 0377) return TSR_OK;
    return fail_at(r, begin, "octal escape value %.*s outside of range 0-0o377", (int)(r->at - begin), r->text + begin);
}

/* One part of a set: a character, *class '\0', or a class. */
static TsrStatus set_item(uint32_t *c, char *class, Reader *r) {
    int64_t begin = r->at;
    bool known;
    *class = '\0';
    if (!accept(r, "\\")) {
        *c = take(r);
        return TSR_OK;
    }
    if (!more(r)) return fail_at(r, begin, "bad escape (end of pattern)");
    if (strchr(regex_classes, peek(r)) != NULL) {
        *class = r->text[r->at++];
        return TSR_OK;
    }
    if (accept(r, "b")) {
        *c = '\b';
        return TSR_OK;
    }
    if (peek(r) >= '0' && peek(r) <= '7') return octal(c, r, begin, 3);
    TSR_TRY(escaped_char(c, &known, r, begin));
    return known ? TSR_OK : fail_at(r, begin, "bad escape \\%c", peek(r));
}

static TsrStatus add_item(RegexSet *set, uint32_t c, char class) {
    if (class == '\0') return add_range(set, c, c);
    set->classes |= 1u << (strchr(regex_classes, class) - regex_classes);
    return TSR_OK;
}

/* Behind "[". */
static TsrStatus read_set(Reader *r) {
    int64_t begin = r->at - 1;
    RegexSet *set;
    TSR_TRY(new_set(r, &set));
    set->negated = accept(r, "^");
    for (bool first = true;; first = false) {
        uint32_t low, high;
        char class, other;
        int64_t at = r->at;
        if (!more(r)) return fail_at(r, begin, "unterminated character set");
        if (!first && accept(r, "]")) return emit_set(r, set);
        TSR_TRY(set_item(&low, &class, r));
        if (peek(r) != '-' || r->at + 1 >= r->size || r->text[r->at + 1] == ']') {
            TSR_TRY(add_item(set, low, class));
            continue;
        }
        r->at++;
        TSR_TRY(set_item(&high, &other, r));
        if (class != '\0' || other != '\0' || low > high)
            return fail_at(r, at, "bad character range %.*s", (int)(r->at - at), r->text + at);
        TSR_TRY(add_range(set, low, high));
    }
}

/* --- escapes outside of sets --- */

static TsrStatus emit_back(Reader *r, int64_t begin, int64_t group) {
    if (group > r->regex->groups) return fail_at(r, begin + 1, "invalid group reference %lld", (long long)group);
    if (r->open[group]) return fail_at(r, begin, "cannot refer to an open group");
    return emit(r, RE_BACK, (r->flags & REGEX_I) ? RE_FOLD : 0, (int32_t)group, 0);
}

/* \1 to \99, or an octal character. */
static TsrStatus number_escape(Width *width, Reader *r, int64_t begin) {
    uint32_t c;
    *width = (Width){1, 1};
    const char *p = r->text + r->at;
    int64_t left = r->size - r->at;
    bool three = left > 2 && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7';
    if (p[0] == '0' || three) {
        TSR_TRY(octal(&c, r, begin, 3));
        return emit_char(r, c);
    }
    int64_t group = r->text[r->at++] - '0';
    if (peek(r) >= '0' && peek(r) <= '9') group = group * 10 + (r->text[r->at++] - '0');
    *width = (Width){0, -1};
    return emit_back(r, begin, group);
}

static TsrStatus read_escape(Width *width, Reader *r) {
    static const char letters[] = "AZbB";
    static const Assertion assertions[] = {AT_START, AT_END, AT_BOUNDARY, AT_NO_BOUNDARY};
    int64_t begin = r->at++;
    uint32_t c;
    bool known;
    if (!more(r)) return fail_at(r, begin, "bad escape (end of pattern)");
    char letter = peek(r);
    *width = (Width){0, 0};
    const char *found = strchr(letters, letter);
    if (letter != '\0' && found != NULL) {
        r->at++;
        return emit(r, RE_ASSERT, (r->flags & REGEX_A) ? RE_ASCII : 0, assertions[found - letters], 0);
    }
    *width = (Width){1, 1};
    if (letter != '\0' && strchr(regex_classes, letter) != NULL) return emit_class(r, r->text[r->at++]);
    if (letter >= '0' && letter <= '9') return number_escape(width, r, begin);
    TSR_TRY(escaped_char(&c, &known, r, begin));
    return emit_char(r, c);
}

/* --- groups --- */

static TsrStatus read_either(Width *width, Reader *r);

static TsrStatus close_group(Reader *r, int64_t begin) {
    return accept(r, ")") ? TSR_OK : fail_at(r, begin, "missing ), unterminated subpattern");
}

static TsrStatus open_group(Reader *r, int *group) {
    *group = ++r->regex->groups;
    if (*group >= MOST_GROUPS) return tsr_error(TSR_RE_ERROR, "too many groups");
    TSR_TRY(mem_grow(&r->open, &r->open_capacity, *group + 1, sizeof *r->open));
    r->open[*group] = true;
    return emit(r, RE_SAVE, 0, 2 * *group, 0);
}

static TsrStatus read_group(Width *width, Reader *r, int64_t begin, int group) {
    TSR_TRY(read_either(width, r));
    TSR_TRY(close_group(r, begin));
    r->open[group] = false;
    return emit(r, RE_SAVE, 0, 2 * group + 1, 0);
}

/* A group's name, up to `end`; interned, lent. */
static TsrStatus read_name(Str **lent, Reader *r, char end, const char *what) {
    int64_t begin = r->at;
    Value name, answer;
    while (more(r) && peek(r) != end) r->at++;
    if (r->at == begin) return fail_at(r, begin, "missing %s", what);
    if (!more(r)) return fail_at(r, begin, "missing %c, unterminated name", end);
    *lent = str_intern(r->text + begin, r->at++ - begin);
    if (*lent == NULL) return mem_error();
    name = value_lent(*lent);
    TSR_TRY(value_call_method(&answer, name, "isidentifier", 0, NULL));
    if (answer.b) return TSR_OK;
    return fail_at(r, begin, "bad character in group name '%s'", (*lent)->data);
}

static TsrStatus named_group(Width *width, Reader *r, int64_t begin) {
    Str *name;
    int group;
    int64_t at = r->at;
    TSR_TRY(read_name(&name, r, '>', "group name"));
    TSR_TRY(open_group(r, &group));
    const Value *was = dict_find_str(r->regex->names, name);
    if (was != NULL)
        return fail_at(r, at, "redefinition of group name '%s' as group %d; was group %lld", name->data, group,
                       (long long)was->i);
    TSR_TRY(dict_set_str(r->regex->names, name, value_int(group)));
    return read_group(width, r, begin, group);
}

static TsrStatus named_back(Width *width, Reader *r) {
    Str *name;
    int64_t at = r->at;
    TSR_TRY(read_name(&name, r, ')', "group name"));
    const Value *group = dict_find_str(r->regex->names, name);
    if (group == NULL) return fail_at(r, at, "unknown group name '%s'", name->data);
    *width = (Width){0, -1};
    return emit_back(r, at, group->i);
}

/* (?=, (?!, (?<=, (?<!, (?>: behind these. */
static TsrStatus read_look(Width *width, Reader *r, int64_t begin, RegexOp op, int flags, bool behind) {
    int64_t at = r->regex->count;
    TSR_TRY(emit(r, op, flags, 0, -1));
    TSR_TRY(read_either(width, r));
    TSR_TRY(close_group(r, begin));
    TSR_TRY(emit(r, RE_END, 0, 0, 0));
    if (behind && width->least != width->most)
        return tsr_error(TSR_RE_ERROR, "look-behind requires fixed-width pattern");
    if (width->least > INT32_MAX) return tsr_error(TSR_RE_ERROR, "looks too much behind");
    if (behind) r->regex->code[at].y = (int32_t)width->least;
    r->regex->code[at].x = (int32_t)r->regex->count;
    if (op == RE_LOOK) *width = (Width){0, 0};
    return TSR_OK;
}

static int flag_of(char c) {
    static const char letters[] = "imsxau";
    static const int flags[] = {REGEX_I, REGEX_M, REGEX_S, REGEX_X, REGEX_A, REGEX_U};
    const char *found = c != '\0' ? strchr(letters, c) : NULL;
    return found != NULL ? flags[found - letters] : 0;
}

/* (?i), (?i:...), (?-i:...): behind the question mark. */
static TsrStatus read_flags(Width *width, Reader *r, int64_t begin) {
    int on = 0, off = 0, before = r->flags;
    while (flag_of(peek(r)) != 0) on |= flag_of(r->text[r->at++]);
    if (accept(r, ")")) {
        if (begin > 0) return fail_at(r, begin, "global flags not at the start of the expression");
        r->flags |= on;
        r->regex->flags |= on;
        *width = (Width){0, 0};
        return TSR_OK;
    }
    if (accept(r, "-"))
        while (flag_of(peek(r)) != 0) off |= flag_of(r->text[r->at++]);
    if (!more(r)) return fail_at(r, r->at, "missing -, : or )");
    if (!accept(r, ":")) return fail_at(r, r->at, "unknown flag");
    r->flags = (r->flags | on) & ~off;
    TSR_TRY(read_either(width, r));
    r->flags = before;
    return close_group(r, begin);
}

/* (?: and its kin; the reader is behind the question mark. */
static TsrStatus read_extension(Width *width, Reader *r, int64_t begin) {
    if (accept(r, ":")) {
        TSR_TRY(read_either(width, r));
        return close_group(r, begin);
    }
    if (accept(r, "P<")) return named_group(width, r, begin);
    if (accept(r, "P=")) return named_back(width, r);
    if (accept(r, "=")) return read_look(width, r, begin, RE_LOOK, 0, false);
    if (accept(r, "!")) return read_look(width, r, begin, RE_LOOK, RE_NOT, false);
    if (accept(r, "<=")) return read_look(width, r, begin, RE_LOOK, 0, true);
    if (accept(r, "<!")) return read_look(width, r, begin, RE_LOOK, RE_NOT, true);
    if (accept(r, ">")) return read_look(width, r, begin, RE_ATOMIC, 0, false);
    if (peek(r) == '(') return fail_at(r, begin, "conditional groups are not part of tsr's re");
    if (accept(r, "#")) {
        while (more(r) && peek(r) != ')') r->at++;
        *width = (Width){0, 0};
        return accept(r, ")") ? TSR_OK : fail_at(r, begin, "missing ), unterminated comment");
    }
    if (flag_of(peek(r)) != 0 || peek(r) == '-') return read_flags(width, r, begin);
    if (!more(r)) return fail_at(r, r->at, "unexpected end of pattern");
    if (accept(r, "P"))
        return more(r) ? fail_at(r, begin + 1, "unknown extension ?P%c", peek(r))
                       : fail_at(r, r->at, "unexpected end of pattern");
    if (accept(r, "<"))
        return more(r) ? fail_at(r, begin + 1, "unknown extension ?<%c", peek(r))
                       : fail_at(r, r->at, "unexpected end of pattern");
    return fail_at(r, begin + 1, "unknown extension ?%c", peek(r));
}

static TsrStatus read_bracket(Width *width, Reader *r) {
    int64_t begin = r->at++;
    int group;
    if (accept(r, "?")) return read_extension(width, r, begin);
    TSR_TRY(open_group(r, &group));
    return read_group(width, r, begin, group);
}

/* --- repeats --- */

/* {2}, {2,}, {,3}, {2,3}: false where the brace is a character like others. */
static TsrStatus read_counts(bool *found, int64_t *least, int64_t *most, Reader *r) {
    int64_t begin = r->at, numbers[2] = {0, -1};
    bool given[2] = {false, false}, comma = false;
    *found = false;
    r->at++;
    for (; more(r) && peek(r) != '}'; r->at++) {
        char c = peek(r);
        int64_t *n = &numbers[comma];
        if (c == ',' && !comma) {
            comma = true;
            continue;
        }
        if (c < '0' || c > '9') break;
        *n = given[comma] ? TSR_MIN(*n, INT64_MAX / 16) * 10 + (c - '0') : c - '0';
        given[comma] = true;
    }
    if (peek(r) != '}' || (!given[0] && !comma)) {
        r->at = begin;
        return TSR_OK;
    }
    r->at++;
    *found = true;
    *least = numbers[0];
    *most = comma ? numbers[1] : numbers[0];
    if (*most >= 0 && *least > *most) return fail_at(r, begin + 1, "min repeat greater than max repeat");
    return *least > MOST_REPEAT || *most > MOST_REPEAT
               ? tsr_error(TSR_OVERFLOW_ERROR, "the repetition number is too large")
               : TSR_OK;
}

static TsrStatus read_quantifier(bool *found, int64_t *least, int64_t *most, Reader *r) {
    *found = true;
    *most = -1;
    *least = 0;
    if (accept(r, "*")) return TSR_OK;
    if (accept(r, "?")) return *most = 1, TSR_OK;
    if (accept(r, "+")) return *least = 1, TSR_OK;
    *found = false;
    return peek(r) == '{' ? read_counts(found, least, most, r) : TSR_OK;
}

/* What stands at `at` any number of times more: SPLIT, ENTER, what stands there, TURN, JUMP. */
static TsrStatus loop(Reader *r, int64_t at, bool lazy) {
    int32_t from = (int32_t)at, reg = r->regex->registers++;
    TSR_TRY(make_room(r, at, 2));
    int32_t end = (int32_t)r->regex->count + 2;
    r->regex->code[at] = (RegexIns){RE_SPLIT, 0, lazy ? end : from + 1, lazy ? from + 1 : end};
    r->regex->code[at + 1] = (RegexIns){RE_ENTER, 0, reg, 0};
    TSR_TRY(emit(r, RE_TURN, 0, reg, end));
    return emit(r, RE_JUMP, 0, from, 0);
}

static TsrStatus optional(Reader *r, int64_t at, bool lazy) {
    TSR_TRY(make_room(r, at, 1));
    int32_t end = (int32_t)r->regex->count, next = (int32_t)at + 1;
    r->regex->code[at] = (RegexIns){RE_SPLIT, 0, lazy ? end : next, lazy ? next : end};
    return TSR_OK;
}

/* The atom at `at` least to most times: copies of it, the last ones each within the one before. */
static TsrStatus repeat_code(Reader *r, int64_t at, int64_t least, int64_t most, bool lazy) {
    int64_t size = r->regex->count - at;
    if (most == 0) return r->regex->count = at, TSR_OK;
    if (least == 0 && most < 0) return loop(r, at, lazy);
    if (least == 0 && most == 1) return optional(r, at, lazy);
    if (size * TSR_MAX(least, most) > MOST_CODE) return tsr_error(TSR_RE_ERROR, "the pattern is too large");
    for (int64_t i = 1; i < least; i++) TSR_TRY(copy_code(r, at, size));
    int64_t rest = r->regex->count, inner = least == 0 ? at : rest;
    if (most < 0) {
        TSR_TRY(copy_code(r, at, size));
        return loop(r, rest, lazy);
    }
    for (int64_t i = TSR_MAX(least, 1); i < most; i++) TSR_TRY(copy_code(r, at, size));
    for (int64_t i = most - 1; i >= least; i--) TSR_TRY(optional(r, inner + (i - least) * size, lazy));
    return TSR_OK;
}

static TsrStatus apply_quantifier(Width *width, Reader *r, int64_t at, int64_t least, int64_t most, int flags) {
    bool one = r->regex->count == at + 1 && r->regex->code[at].op <= RE_SET;
    *width = (Width){width->least * least, width->most < 0 || most < 0 ? -1 : width->most * most};
    if (width->least > INT32_MAX || width->most > INT32_MAX) *width = (Width){0, -1};
    if (one && most != 0) {
        TSR_TRY(make_room(r, at, 1));
        r->regex->code[at] = (RegexIns){RE_REPEAT, (uint8_t)flags, (int32_t)least, (int32_t)most};
        return TSR_OK;
    }
    TSR_TRY(repeat_code(r, at, least, most, (flags & RE_LAZY) != 0));
    if (!(flags & RE_POSSESSIVE) || most == 0) return TSR_OK;
    TSR_TRY(make_room(r, at, 1));
    TSR_TRY(emit(r, RE_END, 0, 0, 0));
    r->regex->code[at] = (RegexIns){RE_ATOMIC, 0, (int32_t)r->regex->count, -1};
    return TSR_OK;
}

/* --- sequences and alternatives --- */

static void skip_blanks(Reader *r) {
    if (!(r->flags & REGEX_X)) return;
    while (more(r)) {
        if (strchr(" \t\n\r\v\f", peek(r)) != NULL && peek(r) != '\0') r->at++;
        else if (peek(r) == '#')
            while (more(r) && peek(r) != '\n') r->at++;
        else return;
    }
}

static TsrStatus read_atom(Width *width, Reader *r) {
    *width = (Width){1, 1};
    switch (peek(r)) {
    case '\\': return read_escape(width, r);
    case '(': return read_bracket(width, r);
    case '[': r->at++; return read_set(r);
    case '.': r->at++; return emit(r, RE_ANY, (r->flags & REGEX_S) ? RE_DOTALL : 0, 0, 0);
    case '^':
        r->at++;
        *width = (Width){0, 0};
        return emit(r, RE_ASSERT, 0, (r->flags & REGEX_M) ? AT_LINE_START : AT_START, 0);
    case '$':
        r->at++;
        *width = (Width){0, 0};
        return emit(r, RE_ASSERT, 0, (r->flags & REGEX_M) ? AT_LINE_END : AT_LAST, 0);
    default: return emit_char(r, take(r));
    }
}

static TsrStatus read_piece(Width *width, Reader *r) {
    int64_t code = r->regex->count, least, most, at = r->at;
    bool found;
    TSR_TRY(read_quantifier(&found, &least, &most, r));
    if (found) return fail_at(r, at, "nothing to repeat");
    int64_t begin = r->at;
    TSR_TRY(read_atom(width, r));
    skip_blanks(r);
    at = r->at;
    TSR_TRY(read_quantifier(&found, &least, &most, r));
    if (!found) return TSR_OK;
    bool nothing = r->regex->count == code ||
                   (r->regex->code[code].op == RE_ASSERT && r->regex->count == code + 1 && r->text[begin] != '(');
    if (nothing && r->text[begin] != '(') return fail_at(r, at, "nothing to repeat");
    int flags = accept(r, "?") ? RE_LAZY : accept(r, "+") ? RE_POSSESSIVE : 0;
    TSR_TRY(apply_quantifier(width, r, code, least, most, flags));
    at = r->at;
    TSR_TRY(read_quantifier(&found, &least, &most, r));
    return found ? fail_at(r, at, "multiple repeat") : TSR_OK;
}

static TsrStatus read_sequence(Width *width, Reader *r) {
    *width = (Width){0, 0};
    for (;;) {
        Width one;
        skip_blanks(r);
        if (!more(r) || peek(r) == '|' || peek(r) == ')') return TSR_OK;
        TSR_TRY(read_piece(&one, r));
        width->least = TSR_MIN(width->least + one.least, INT32_MAX);
        width->most = width->most < 0 || one.most < 0 ? -1 : TSR_MIN(width->most + one.most, INT32_MAX);
    }
}

/* Alternatives: SPLIT, the first, JUMP to the end; SPLIT, the second ... */
static TsrStatus read_alternatives(Width *width, Reader *r) {
    int32_t chain = -1;
    Width one;
    int64_t at = r->regex->count;
    TSR_TRY(read_sequence(width, r));
    while (accept(r, "|")) {
        TSR_TRY(make_room(r, at, 1));
        TSR_TRY(emit(r, RE_JUMP, 0, chain, 0));
        chain = (int32_t)r->regex->count - 1;
        r->regex->code[at] = (RegexIns){RE_SPLIT, 0, (int32_t)at + 1, chain + 1};
        at = r->regex->count;
        TSR_TRY(read_sequence(&one, r));
        width->least = TSR_MIN(width->least, one.least);
        width->most = width->most < 0 || one.most < 0 ? -1 : TSR_MAX(width->most, one.most);
    }
    while (chain >= 0) {
        int32_t before = r->regex->code[chain].x;
        r->regex->code[chain].x = (int32_t)r->regex->count;
        chain = before;
    }
    return TSR_OK;
}

static TsrStatus read_either(Width *width, Reader *r) {
    TSR_TRY(recursion_enter(" in a regular expression"));
    TsrStatus status = read_alternatives(width, r);
    recursion_leave();
    return status;
}

static TsrStatus read_pattern(Reader *r) {
    Width width;
    TSR_TRY(mem_grow(&r->open, &r->open_capacity, 1, sizeof *r->open));
    r->open[0] = true;
    TSR_TRY(read_either(&width, r));
    if (more(r)) return fail_at(r, r->at, "unbalanced parenthesis");
    return emit(r, RE_END, 0, 0, 0);
}

TsrStatus regex_new(Regex **out, Str *pattern, int flags) {
    Regex *regex = tsr_calloc(1, sizeof *regex);
    if (regex == NULL) return mem_error();
    regex->flags = flags | ((flags & REGEX_A) ? 0 : REGEX_U);
    regex->names = dict_new_raw();
    Reader r = {.regex = regex, .text = pattern->data, .size = pattern->size, .flags = flags};
    TsrStatus status = regex->names != NULL ? read_pattern(&r) : mem_error();
    tsr_free(r.open);
    if (status == TSR_OK) *out = regex;
    else regex_free(regex);
    return status;
}
