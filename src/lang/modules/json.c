/* json.c: Python's json: dumps, loads, dump, load. Text and strictness are Python's (NaN and Infinity are read and
 * written as tokens), so that a page of Python behaves alike; files of tensors have their own strict reader (core's
 * core/io/json/json.c). */
#include "modules.h"

#include <math.h>
#include <string.h>

#include "lang/object/args.h"
#include "lang/types/bytes.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "lang/types/numbers.h"
#include "core/number.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* ---- writing ---- */

typedef struct Writer {
    TsrText *out;
    const char *indent;     /* text of one level, NULL: on one line */
    const char *item, *key; /* separators */
    bool sort_keys, ascii, allow_nan, check_circular;
    Value fallback; /* default=; V_UNBOUND none */
} Writer;

/* A value being written, and those around it. */
typedef struct Level {
    Value value;
    const struct Level *outer; /* NULL: nothing is */
    int depth, inner;          /* how far it is indented, and what it holds */
} Level;

static TsrStatus write_string(const Writer *w, const char *data, int64_t size) {
    TSR_TRY(tsr_text_putc(w->out, '"'));
    for (const char *p = data, *end = data + size; p < end;) {
        int step;
        uint32_t c = utf8_decode(p, &step);
        const char *escape = c == '"'    ? "\\\""
                             : c == '\\' ? "\\\\"
                             : c == '\n' ? "\\n"
                             : c == '\r' ? "\\r"
                             : c == '\t' ? "\\t"
                             : c == '\f' ? "\\f"
                             : c == '\b' ? "\\b"
                                         : NULL;
        if (escape != NULL) TSR_TRY(tsr_text_puts(w->out, escape));
        else if (c < 32 || (c > 126 && w->ascii && c < 0x10000)) TSR_TRY(tsr_text_printf(w->out, "\\u%04x", c));
        else if (c >= 0x10000 && w->ascii)
            TSR_TRY(tsr_text_printf(w->out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                                    0xdc00 + ((c - 0x10000) & 0x3ff)));
        else TSR_TRY(tsr_text_append(w->out, p, (size_t)step));
        p += step;
    }
    return tsr_text_putc(w->out, '"');
}

static TsrStatus write_float(const Writer *w, double d) {
    char text[TSR_NUMBER_ROOM];
    if (!isfinite(d)) {
        if (!w->allow_nan) return tsr_error(TSR_VALUE_ERROR, "Out of range float values are not JSON compliant");
        return tsr_text_puts(w->out, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
    }
    return tsr_text_append(w->out, text, tsr_format_double(text, d));
}

static TsrStatus new_line(const Writer *w, int depth) {
    if (w->indent == NULL) return TSR_OK;
    TSR_TRY(tsr_text_putc(w->out, '\n'));
    for (int i = 0; i < depth; i++) TSR_TRY(tsr_text_puts(w->out, w->indent));
    return TSR_OK;
}

static TsrStatus write_value(const Writer *w, Value v, const Level *outer);

/* An item of a container: held, as default= may take it out of there. */
static TsrStatus write_item(const Writer *w, Value v, const Level *outer) {
    value_retain(v);
    TsrStatus status = write_value(w, v, outer);
    value_release(v);
    return status;
}

static TsrStatus write_sequence(const Writer *w, const Level *level) {
    const Value *items;
    int64_t count, i = 0;
    for (; value_as_array(level->value, &items, &count) && i < count; i++) {
        Value item = items[i];
        TSR_TRY(tsr_text_puts(w->out, i == 0 ? "[" : w->item));
        TSR_TRY(new_line(w, level->inner));
        TSR_TRY(write_item(w, item, level));
    }
    if (i == 0) return tsr_text_puts(w->out, "[]");
    TSR_TRY(new_line(w, level->depth));
    return tsr_text_putc(w->out, ']');
}

static TsrStatus write_key(const Writer *w, Value key) {
    if (value_is_str(key)) return write_string(w, value_as_str(key)->data, value_as_str(key)->size);
    bool plain = key.tag == V_NONE || key.tag == V_BOOL || value_is_int(key) || key.tag == V_FLOAT;
    if (!plain)
        return tsr_error(TSR_TYPE_ERROR, "keys must be str, int, float, bool or None, not %s", value_type_name(key));
    TSR_TRY(tsr_text_putc(w->out, '"'));
    TSR_TRY(write_value(w, key, NULL));
    return tsr_text_putc(w->out, '"');
}

static TsrStatus write_entry(const Writer *w, Value key, Value value, bool first, const Level *level) {
    TSR_TRY(tsr_text_puts(w->out, first ? "{" : w->item));
    TSR_TRY(new_line(w, level->inner));
    TSR_TRY(write_key(w, key));
    TSR_TRY(tsr_text_puts(w->out, w->key));
    return write_item(w, value, level);
}

static TsrStatus write_sorted(const Writer *w, const Level *level) {
    const Dict *dict = value_as_dict(level->value);
    Value keys;
    TSR_TRY(list_new_iterable(&keys, level->value));
    TsrStatus status = list_sort(value_as_list(keys), VALUE_NONE, false);
    for (int64_t i = 0; i < value_as_list(keys)->count && status == TSR_OK; i++) {
        Value *value = NULL, key = value_as_list(keys)->items[i];
        status = dict_find(&value, dict, key);
        if (status == TSR_OK && value != NULL) status = write_entry(w, key, *value, i == 0, level);
    }
    value_release(keys);
    return status;
}

static TsrStatus write_dict(const Writer *w, const Level *level) {
    const Dict *dict = value_as_dict(level->value);
    int64_t position = 0;
    bool first = true;
    if (dict->count == 0) return tsr_text_puts(w->out, "{}");
    if (w->sort_keys) {
        TSR_TRY(write_sorted(w, level));
    } else {
        DictEntry *e; /* counted: default= may add to them */
        for (int64_t left = dict->count; left > 0 && (e = dict_next(dict, &position)) != NULL; left--, first = false)
            TSR_TRY(write_entry(w, e->key, e->value, first, level));
    }
    TSR_TRY(new_line(w, level->depth));
    return tsr_text_putc(w->out, '}');
}

static TsrStatus write_fallback(const Writer *w, const Level *level) {
    Value other;
    if (w->fallback.tag <= V_NONE)
        return tsr_error(TSR_TYPE_ERROR, "Object of type %s is not JSON serializable",
                         type_short_name(value_type(level->value)));
    TSR_TRY(value_call_n(&other, w->fallback, 1, &level->value));
    TsrStatus status = write_value(w, other, level);
    value_release(other);
    return status;
}

/* What is no leaf: a container, or what default= is asked about. */
static TsrStatus write_nested(const Writer *w, Value v, const Level *outer) {
    const Value *items;
    int64_t count;
    const bool sequence = value_as_array(v, &items, &count), plain = sequence || value_is_dict(v);
    const int depth = outer == NULL ? 0 : outer->inner;
    const Level level = {v, outer, depth, depth + plain};
    for (const Level *l = w->check_circular ? outer : NULL; l != NULL; l = l->outer)
        if (value_is_same(l->value, v)) return tsr_error(TSR_VALUE_ERROR, "Circular reference detected");
    TSR_TRY(recursion_enter(" while encoding a JSON object"));
    TsrStatus status = sequence ? write_sequence(w, &level) : plain ? write_dict(w, &level) : write_fallback(w, &level);
    recursion_leave();
    return status;
}

static TsrStatus write_value(const Writer *w, Value v, const Level *outer) {
    TSR_TRY(tsr_interrupt_check());
    if (v.tag == V_NONE) return tsr_text_puts(w->out, "null");
    if (v.tag == V_BOOL) return tsr_text_puts(w->out, v.b ? "true" : "false");
    if (value_is_int(v)) return int_digits(w->out, v, 10);
    if (v.tag == V_FLOAT) return write_float(w, v.f);
    if (value_is_str(v)) return write_string(w, value_as_str(v)->data, value_as_str(v)->size);
    return write_nested(w, v, outer);
}

static TsrStatus flag(bool *out, Value v) { return v.tag == V_UNBOUND ? TSR_OK : value_truth(out, v); }

/* The options of dumps and dump; the last two are taken, but only as what they are without. */
#define OPTIONS \
    "indent", "separators", "sort_keys", "ensure_ascii", "allow_nan", "default", "check_circular", "skipkeys", "cls"
enum { INDENT, SEPARATORS, SORT_KEYS, ENSURE_ASCII, ALLOW_NAN, DEFAULT, CHECK_CIRCULAR, SKIPKEYS, CLS, OPTION_COUNT };

static TsrStatus read_separators(Writer *w, Value v) {
    const Value *pair;
    int64_t n;
    if (v.tag <= V_NONE) return TSR_OK;
    if (!value_as_array(v, &pair, &n) || n != 2 || !value_is_str(pair[0]) || !value_is_str(pair[1]))
        return tsr_error(TSR_TYPE_ERROR, "separators must be two strings");
    w->item = value_as_str(pair[0])->data;
    w->key = value_as_str(pair[1])->data;
    return TSR_OK;
}

static TsrStatus dumps_value(Value *out, Value v, const Value *options) {
    TsrText text = {0};
    Writer w = {.out = &text,
                .item = ", ",
                .key = ": ",
                .ascii = true,
                .allow_nan = true,
                .check_circular = true,
                .fallback = options[DEFAULT]};
    char spaces[65] = "";
    int64_t width;
    bool skip = false;
    TSR_TRY(flag(&w.sort_keys, options[SORT_KEYS]));
    TSR_TRY(flag(&w.ascii, options[ENSURE_ASCII]));
    TSR_TRY(flag(&w.allow_nan, options[ALLOW_NAN]));
    TSR_TRY(flag(&w.check_circular, options[CHECK_CIRCULAR]));
    TSR_TRY(flag(&skip, options[SKIPKEYS]));
    if (skip || options[CLS].tag > V_NONE)
        return tsr_error(TSR_TYPE_ERROR, "json: %s is not part of tsr", skip ? "skipkeys" : "cls");
    if (value_is_str(options[INDENT])) w.indent = value_as_str(options[INDENT])->data;
    else if (options[INDENT].tag > V_NONE) {
        TSR_TRY(value_to_index(&width, options[INDENT]));
        memset(spaces, ' ', (size_t)TSR_MAX(0, TSR_MIN(width, 64)));
        w.indent = spaces;
    }
    if (w.indent != NULL) w.item = ",";
    TSR_TRY(read_separators(&w, options[SEPARATORS]));
    TsrStatus status = write_value(&w, v, NULL);
    return str_end_text_move(out, status, &text);
}

static TsrStatus json_dumps(Value *out, const CallArgs *args) {
    static const char *const names[] = {"obj", OPTIONS};
    Value v[1 + OPTION_COUNT];
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"dumps", names, 1 + OPTION_COUNT, 0, 1, 1}));
    return dumps_value(out, v[0], v + 1);
}

static TsrStatus json_dump(Value *out, const CallArgs *args) {
    static const char *const names[] = {"obj", "fp", OPTIONS};
    Value v[2 + OPTION_COUNT], text, written;
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"dump", names, 2 + OPTION_COUNT, 0, 2, 2}));
    TSR_TRY(dumps_value(&text, v[0], v + 2));
    TsrStatus status = value_call_method(&written, v[1], "write", 1, &text);
    value_release(text);
    if (status == TSR_OK) value_release(written);
    *out = VALUE_NONE;
    return status;
}

/* ---- reading ---- */

typedef struct Reader {
    const char *start, *p, *end;
} Reader;

static TsrStatus bad_at(const Reader *r, const char *what, const char *at) {
    int64_t line = 1, column = 1;
    for (const char *q = r->start; q < at; q++) {
        bool newline = *q == '\n';
        line += newline;
        column = newline ? 1 : column + ((*q & 0xc0) != 0x80);
    }
    return tsr_error(TSR_JSON_DECODE_ERROR, "%s: line %lld column %lld (char %lld)", what, (long long)line,
                     (long long)column, (long long)utf8_count(r->start, at - r->start));
}

static void skip_space(Reader *r) {
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')) r->p++;
}

static int hex_quad(const Reader *r, const char *p) {
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p + i < r->end ? p[i] : 0;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static TsrStatus read_escape(Reader *r, TsrText *text) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char bytes[4];
    const char *at = r->p - 1;
    char c = r->p < r->end ? *r->p++ : 0;
    const char *simple = c != 0 ? strchr(from, c) : NULL;
    if (simple != NULL) return tsr_text_putc(text, to[simple - from]);
    if (c != 'u')
        return c == 0 ? bad_at(r, "Unterminated string starting at", r->start) : bad_at(r, "Invalid \\escape", at);
    int unit = hex_quad(r, r->p);
    if (unit < 0) return bad_at(r, "Invalid \\uXXXX escape", at + 1);
    r->p += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
        int low = hex_quad(r, r->p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            r->p += 6;
        }
    }
    return tsr_text_append(text, bytes, (size_t)utf8_encode(bytes, (uint32_t)unit));
}

static TsrStatus read_text(Reader *r, TsrText *text) {
    const char *open = r->p++;
    for (;;) {
        const char *run = r->p;
        while (r->p < r->end && *r->p != '"' && *r->p != '\\' && (unsigned char)*r->p >= 32) r->p++;
        if (r->p > run) TSR_TRY(tsr_text_append(text, run, (size_t)(r->p - run)));
        if (r->p == r->end) return bad_at(r, "Unterminated string starting at", open);
        if (*r->p == '"') return r->p++, TSR_OK;
        if (*r->p != '\\') return bad_at(r, "Invalid control character at", r->p);
        r->p++;
        TSR_TRY(read_escape(r, text));
    }
}

static TsrStatus read_string(Value *out, Reader *r) {
    TsrText text = {0};
    TsrStatus status = read_text(r, &text);
    if (status == TSR_OK) status = str_new(out, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus read_number(Value *out, Reader *r) {
    const char *p = r->p;
    bool whole = true;
    double d;
    if (p < r->end && *p == '-') p++;
    const char *digits = p;
    if (p < r->end && *p == '0') p++;
    else
        while (p < r->end && *p >= '0' && *p <= '9') p++;
    if (p == digits) return bad_at(r, "Expecting value", r->p);
    if (p + 1 < r->end && *p == '.' && p[1] >= '0' && p[1] <= '9') {
        whole = false;
        for (p++; p < r->end && *p >= '0' && *p <= '9'; p++) {}
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        const char *e = p + 1;
        if (e < r->end && (*e == '+' || *e == '-')) e++;
        if (e < r->end && *e >= '0' && *e <= '9') {
            whole = false;
            for (p = e; p < r->end && *p >= '0' && *p <= '9'; p++) {}
        }
    }
    const char *begin = r->p;
    r->p = p;
    if (whole) return int_new_text(out, begin, p - begin, 10);
    tsr_parse_double(&d, begin, p);
    *out = value_float(d);
    return TSR_OK;
}

static TsrStatus read_value(Value *out, Reader *r);

static TsrStatus read_list(Value *out, Reader *r) {
    Value list, item;
    TSR_TRY(list_new(&list, 0));
    TsrStatus status = TSR_OK;
    r->p++;
    skip_space(r);
    if (r->p < r->end && *r->p == ']') r->p++;
    else
        for (;;) {
            if ((status = read_value(&item, r)) != TSR_OK) break;
            if ((status = list_append_move(value_as_list(list), item)) != TSR_OK) break;
            skip_space(r);
            if (r->p < r->end && *r->p == ']' && r->p++) break;
            if (r->p == r->end || *r->p != ',') {
                status = bad_at(r, "Expecting ',' delimiter", r->p);
                break;
            }
            r->p++;
        }
    return value_end_move(out, status, list);
}

static TsrStatus read_pair(Dict *dict, Reader *r) {
    Value key, value;
    skip_space(r);
    if (r->p == r->end || *r->p != '"') return bad_at(r, "Expecting property name enclosed in double quotes", r->p);
    TSR_TRY(read_string(&key, r));
    skip_space(r);
    TsrStatus status = r->p < r->end && *r->p == ':' ? TSR_OK : bad_at(r, "Expecting ':' delimiter", r->p);
    if (status == TSR_OK) {
        r->p++;
        status = read_value(&value, r);
    }
    if (status == TSR_OK) {
        status = dict_set(dict, key, value);
        value_release(value);
    }
    value_release(key);
    return status;
}

static TsrStatus read_object(Value *out, Reader *r) {
    Value dict;
    TSR_TRY(dict_new(&dict));
    TsrStatus status = TSR_OK;
    r->p++;
    skip_space(r);
    if (r->p < r->end && *r->p == '}') r->p++;
    else
        for (;;) {
            if ((status = read_pair(value_as_dict(dict), r)) != TSR_OK) break;
            skip_space(r);
            if (r->p < r->end && *r->p == '}' && r->p++) break;
            if (r->p == r->end || *r->p != ',') {
                status = bad_at(r, "Expecting ',' delimiter", r->p);
                break;
            }
            r->p++;
        }
    return value_end_move(out, status, dict);
}

static TsrStatus read_nested(Value *out, Reader *r) {
    const bool list = *r->p == '[';
    TSR_TRY(recursion_enter(list ? " while decoding a JSON array from a unicode string"
                                 : " while decoding a JSON object from a unicode string"));
    TsrStatus status = list ? read_list(out, r) : read_object(out, r);
    recursion_leave();
    return status;
}

static TsrStatus read_value(Value *out, Reader *r) {
    static const struct {
        const char *word;
        Value value;
    } words[] = {{"null", {.tag = V_NONE}},
                 {"true", {.tag = V_BOOL, {.i = 1}}},
                 {"false", {.tag = V_BOOL}},
                 {"NaN", {.tag = V_FLOAT, {.f = NAN}}},
                 {"Infinity", {.tag = V_FLOAT, {.f = INFINITY}}},
                 {"-Infinity", {.tag = V_FLOAT, {.f = -INFINITY}}}};
    TSR_TRY(tsr_interrupt_check());
    skip_space(r);
    for (size_t i = 0; i < TSR_COUNTOF(words); i++) {
        size_t n = strlen(words[i].word);
        if ((size_t)(r->end - r->p) < n || memcmp(r->p, words[i].word, n) != 0) continue;
        r->p += n;
        *out = words[i].value;
        return TSR_OK;
    }
    if (r->p == r->end) return bad_at(r, "Expecting value", r->p);
    if (*r->p == '"') return read_string(out, r);
    if (*r->p == '[' || *r->p == '{') return read_nested(out, r);
    return read_number(out, r);
}

static TsrStatus loads_value(Value *out, Value v) {
    char *bytes;
    int64_t size;
    if (value_as_buffer(v, &bytes, &size)) {
        Value text;
        TSR_TRY(value_call_method(&text, v, "decode", 0, NULL));
        TsrStatus status = loads_value(out, text);
        value_release(text);
        return status;
    }
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "the JSON object must be str, bytes or bytearray, not %s", value_type_name(v));
    Reader r = {value_as_str(v)->data, value_as_str(v)->data, value_as_str(v)->data + value_as_str(v)->size};
    TSR_TRY(read_value(out, &r));
    skip_space(&r);
    if (r.p == r.end) return TSR_OK;
    value_clear(out);
    return bad_at(&r, "Extra data", r.p);
}

static TsrStatus json_loads(Value *out, const CallArgs *args) {
    static const char *const names[] = {"s"};
    Value v[1];
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"loads", names, 1, 0, 1, 1}));
    return loads_value(out, v[0]);
}

static TsrStatus json_load(Value *out, const CallArgs *args) {
    static const char *const names[] = {"fp"};
    Value v[1], text;
    TSR_TRY(args_parse_python(v, args, &(ArgSpec){"load", names, 1, 0, 1, 1}));
    TSR_TRY(value_call_method(&text, v[0], "read", 0, NULL));
    TsrStatus status = loads_value(out, text);
    value_release(text);
    return status;
}

static const Method functions[] = {
    {"dumps", json_dumps, ARGS_ANY, 1, 1,
     "(obj, *, indent=None, separators=None, sort_keys=False, ensure_ascii=True, allow_nan=True, default=None)",
     "JSON text of a value."},
    {"dump", json_dump, ARGS_ANY, 2, 2, "(obj, fp, *, ...)", "Writes JSON text to a file."},
    {"loads", json_loads, ARGS_ANY, 1, 1, "(s)", "The value of a JSON text."},
    {"load", json_load, ARGS_ANY, 1, 1, "(fp)", "The value of a JSON file."},
    {0},
};

static TsrStatus fill(Module *module) {
    return module_add(module, "JSONDecodeError", value_lent(EXC_TYPE(TSR_JSON_DECODE_ERROR)));
}

const NsModule ns_json = {"json", "JSON text from and to values.", functions, fill, NULL};
