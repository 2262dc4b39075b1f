/* The builtin functions. Types are filled in from their own files. */
#include "builtin.h"
#include "abc.h"
#include "modules.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "lang/object/args.h"
#include "lang/types/bytes.h"
#include "lang/types/codec.h"
#include "lang/types/dict.h"
#include "lang/object/exc.h"
#include "file.h"
#include "lang/object/native.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/object/value_impl.h"
#include "lang/vm/kind.h"
#include "lang/vm/vm.h"

BuiltinHooks builtin_hooks;

FILE *builtin_stdout(void) { return stdout; }

/* The special method `name` of v, called; *handled is false when v has none. */
static TsrStatus call_special(Value *out, Value v, const char *name, int count, const Value *args, bool *handled) {
    Value method;
    Str *interned = str_intern_c(name);
    *handled = false;
    if (interned == NULL) return mem_error();
    if (value_is_obj(v, &type_type)) return TSR_OK; /* what a type has is for its instances */
    TSR_TRY(value_lookup_attr(&method, v, interned));
    *handled = method.tag != V_UNBOUND;
    if (!*handled) return TSR_OK;
    TsrStatus status = value_call_n(out, method, count, args);
    value_release(method);
    return status;
}

/* ---- output and input ---- */

static TsrStatus text_option(const char **text, size_t *size, Value v, const char *name, const char *fallback) {
    *text = fallback;
    *size = strlen(fallback);
    if (v.tag == V_UNBOUND || v.tag == V_NONE) return TSR_OK;
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "%s must be None or a string, not %s", name, value_type_name(v));
    *text = value_as_str(v)->data;
    *size = (size_t)value_as_str(v)->size;
    return TSR_OK;
}

static TsrStatus check_print_keywords(const CallArgs *args) {
    for (int i = 0; i < args->keyword_count; i++) {
        const char *name = args->names[i]->data;
        if (strcmp(name, "sep") != 0 && strcmp(name, "end") != 0 && strcmp(name, "file") != 0 &&
            strcmp(name, "flush") != 0)
            return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for print()", name);
    }
    return TSR_OK;
}

static bool is_given(Value file) { return file.tag != V_UNBOUND && file.tag != V_NONE; }

/* Anything with a write method will do as a file. */
static TsrStatus write_text_move(TsrText *text, Value file) {
    FILE *stream = is_given(file) ? file_stream(file) : stdout;
    Value line, ignored;
    if (stream == stdout || stream == stderr) {
        TsrStatus status = file_write(stream, text->data != NULL ? text->data : "", text->length, NULL);
        tsr_text_free(text);
        return status;
    }
    TSR_TRY(str_new_text_move(&line, text));
    TsrStatus status = value_call_method(&ignored, file, "write", 1, &line);
    if (status == TSR_OK) value_release(ignored);
    value_release(line);
    return status;
}

static TsrStatus flush_file(Value file) {
    Value ignored;
    if (!is_given(file)) return fflush(stdout) == 0 ? TSR_OK : tsr_error_errno(errno, NULL);
    TSR_TRY(value_call_method(&ignored, file, "flush", 0, NULL));
    value_release(ignored);
    return TSR_OK;
}

static TsrStatus builtin_print(Value *out, const CallArgs *args) {
    const char *sep, *end;
    size_t sep_size, end_size;
    TsrText text = {0};
    bool flush = false;
    Value file = args_keyword(args, "file"), flush_value = args_keyword(args, "flush");
    TSR_TRY(check_print_keywords(args));
    *out = VALUE_NONE;
    if (!is_given(file)) file = sys_stdout();
    if (file.tag == V_NONE && !is_given(args_keyword(args, "file"))) return TSR_OK; /* sys.stdout is None */
    TSR_TRY(text_option(&sep, &sep_size, args_keyword(args, "sep"), "sep", " "));
    TSR_TRY(text_option(&end, &end_size, args_keyword(args, "end"), "end", "\n"));
    if (flush_value.tag != V_UNBOUND) TSR_TRY(value_truth(&flush, flush_value));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->count && status == TSR_OK; i++) {
        if (i > 0) status = tsr_text_append(&text, sep, sep_size);
        if (status == TSR_OK) status = value_str(&text, args->values[i]);
    }
    if (status == TSR_OK) status = tsr_text_append(&text, end, end_size);
    if (status == TSR_OK) status = write_text_move(&text, file);
    tsr_text_free(&text);
    if (status == TSR_OK && flush) status = flush_file(file);
    *out = VALUE_NONE;
    return status;
}

static TsrStatus builtin_input(Value *out, const CallArgs *args) {
    TsrText text = {0};
    if (builtin_hooks.before_input != NULL) TSR_TRY(builtin_hooks.before_input());
    if (args->count > 0) {
        TsrStatus status = value_str(&text, args->values[0]);
        if (status == TSR_OK) status = write_text_move(&text, VALUE_NONE);
        tsr_text_free(&text);
        TSR_TRY(status);
    }
    fflush(stdout);
    TsrStatus status = file_read_line(&text, stdin);
    if (status == TSR_OK && text.length == 0) status = tsr_error(TSR_EOF_ERROR, "EOF when reading a line");
    if (text.length > 0 && text.data[text.length - 1] == '\n') text.data[--text.length] = '\0';
    return str_end_text_move(out, status, &text);
}

/* An argument of open() that is a str or None; NULL: None. */
static TsrStatus open_option(const char **lent, Value v, const char *name) {
    char what[48];
    *lent = NULL;
    if (v.tag == V_UNBOUND || v.tag == V_NONE) return TSR_OK;
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "open() argument '%s' must be str or None, not %s", name, value_type_name(v));
    snprintf(what, sizeof what, "open() argument '%s'", name);
    return value_to_cstring(lent, v, what);
}

static TsrStatus builtin_open(Value *out, const CallArgs *args) {
    static const char *const names[] = {"file", "mode", "buffering", "encoding", "errors", "newline"};
    static const ArgSpec spec = {"open", names, 6, 0, 6, 1};
    Value v[6];
    const char *path, *mode = "r";
    TSR_TRY(args_parse(v, args, 0, &spec));
    v[0] = kind_path(v[0]);
    if (!value_is_str(v[0]))
        return tsr_error(TSR_TYPE_ERROR, "expected str, bytes or os.PathLike object, not %s", value_type_name(v[0]));
    if (v[1].tag != V_UNBOUND) TSR_TRY(value_to_cstring(&mode, v[1], "open() argument 'mode'"));
    const char *text[3];
    for (int i = 0; i < 3; i++) TSR_TRY(open_option(&text[i], v[3 + i], names[3 + i]));
    int64_t buffering = -1;
    if (v[2].tag != V_UNBOUND) TSR_TRY(value_to_index(&buffering, v[2]));
    if (buffering == 0 && strchr(mode, 'b') == NULL)
        return tsr_error(TSR_VALUE_ERROR, "can't have unbuffered text I/O");
    TsrText room = {0};
    TsrStatus status = codec_system_bytes(&path, &room, v[0]);
    if (status == TSR_OK) status = file_open(out, path, mode, (FileText){text[0], text[1], text[2]});
    tsr_text_free(&room);
    return status;
}

/* ---- length, text, identity ---- */

static TsrStatus builtin_len(Value *out, const CallArgs *args) {
    int64_t n;
    TSR_TRY(value_length(&n, args->values[0]));
    *out = value_int(n);
    return TSR_OK;
}

static TsrStatus builtin_repr(Value *out, const CallArgs *args) { return value_new_repr(out, args->values[0]); }

static TsrStatus builtin_ascii(Value *out, const CallArgs *args) {
    TsrText text = {0};
    TsrStatus status = value_ascii(&text, args->values[0]);
    return str_end_text_move(out, status, &text);
}

static TsrStatus builtin_format(Value *out, const CallArgs *args) {
    TsrText text = {0};
    const char *spec = "";
    size_t size = 0;
    if (args->count > 1) {
        if (!value_is_str(args->values[1]))
            return tsr_error(TSR_TYPE_ERROR, "format() argument 2 must be str, not %s",
                             value_shown_type(args->values[1]));
        spec = value_as_str(args->values[1])->data;
        size = (size_t)value_as_str(args->values[1])->size;
    }
    TsrStatus status = value_format(&text, args->values[0], spec, size);
    return str_end_text_move(out, status, &text);
}

static TsrStatus builtin_hash(Value *out, const CallArgs *args) {
    int64_t hash;
    TSR_TRY(value_hash(&hash, args->values[0]));
    *out = value_int(hash);
    return TSR_OK;
}

/* A number per object, by its address; equal small values are one object, as `is` has it. */
static TsrStatus builtin_id(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    uint64_t bits = value_bits(v);
    *out = value_int(v.tag >= V_TENSOR ? (int64_t)bits : (int64_t)((bits * 32 + v.tag * 8) & INT64_MAX));
    return TSR_OK;
}

static TsrStatus builtin_callable(Value *out, const CallArgs *args) {
    *out = value_bool(value_is_callable(args->values[0]));
    return TSR_OK;
}

/* ---- numbers ---- */

TsrStatus builtin_abs(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    bool handled;
    if (v.tag == V_INT && v.i != INT64_MIN) *out = value_int(v.i < 0 ? -v.i : v.i);
    else if (v.tag == V_BOOL) *out = value_int(v.b);
    else if (v.tag == V_FLOAT) *out = value_float(fabs(v.f));
    else if (value_is_int(v)) {
        if (int_sign(v) < 0) return int_negate(out, v);
        *out = value_retain(v);
    } else if (value_is_complex(v)) {
        const Complex *z = value_as_complex(v);
        double length = hypot(z->re, z->im);
        if (isinf(length) && isfinite(z->re) && isfinite(z->im))
            return tsr_error(TSR_OVERFLOW_ERROR, "absolute value too large");
        *out = value_float(length);
    } else {
        TSR_TRY(call_special(out, v, "__abs__", 0, NULL, &handled));
        if (!handled) return tsr_error(TSR_TYPE_ERROR, "bad operand type for abs(): '%s'", value_type_name(v));
    }
    return TSR_OK;
}

/* An int rounded to a power of ten, halves to even. */
static TsrStatus round_int(Value *out, Value v, int64_t digits) {
    Value power, quotient, rest, doubled, result;
    bool up;
    if (digits >= 0) {
        *out = v.tag == V_BOOL ? value_int(v.b) : value_retain(v);
        return TSR_OK;
    }
    if (digits < -100000) return *out = value_int(0), TSR_OK;
    TSR_TRY(value_binary(&power, OP_POW, value_int(10), value_int(-digits)));
    TsrStatus status = int_divmod(&quotient, &rest, v, power);
    if (status != TSR_OK) {
        value_release(power);
        return status;
    }
    status = value_binary(&doubled, OP_ADD, rest, rest);
    value_release(rest);
    if (status == TSR_OK) {
        int order = int_compare(doubled, power);
        int64_t low;
        Value odd = VALUE_UNBOUND;
        value_release(doubled);
        status = value_binary(&odd, OP_AND, quotient, value_int(1));
        up = order > 0 || (order == 0 && status == TSR_OK && int_fits_int64(odd, &low) && low == 1);
        if (status == TSR_OK && up) {
            status = value_binary(&result, OP_ADD, quotient, value_int(1));
            if (status == TSR_OK) value_set_move(&quotient, result);
        }
        if (status == TSR_OK) status = value_binary(out, OP_MUL, quotient, power);
    }
    value_release(quotient);
    value_release(power);
    return status;
}

static TsrStatus builtin_round(Value *out, const CallArgs *args) {
    static const char *const names[] = {"number", "ndigits"};
    static const ArgSpec spec = {"round", names, 2, 0, 2, 1};
    Value v[2];
    int64_t digits = 0;
    bool handled;
    TSR_TRY(args_parse(v, args, 0, &spec));
    bool given = v[1].tag != V_UNBOUND && v[1].tag != V_NONE;
    if (value_is_int(v[0]) || v[0].tag == V_FLOAT) {
        if (given) TSR_TRY(value_to_index_clamped(&digits, v[1]));
        if (v[0].tag != V_FLOAT) return round_int(out, v[0], digits);
        return given ? float_round(out, v[0].f, digits) : int_new_double(out, rint(v[0].f));
    }
    if (value_is_obj(v[0], &type_type))
        return tsr_error(TSR_TYPE_ERROR,
                         "type type doesn't define __round__ method"); /* float.__round__ is for floats */
    TSR_TRY(call_special(out, v[0], "__round__", given ? 1 : 0, &v[1], &handled));
    return handled ? TSR_OK
                   : tsr_error(TSR_TYPE_ERROR, "type %s doesn't define __round__ method", value_type_name(v[0]));
}

static TsrStatus builtin_divmod(Value *out, const CallArgs *args) {
    Value a = args->values[0], b = args->values[1], pair[2];
    if (value_is_int(a) && value_is_int(b)) {
        if (int_sign(b) == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "integer division or modulo by zero");
        TSR_TRY(int_divmod(&pair[0], &pair[1], a, b));
        return tuple_new_move(out, pair, 2);
    }
    bool numbers = (value_is_int(a) || a.tag == V_FLOAT) && (value_is_int(b) || b.tag == V_FLOAT);
    if (numbers) {
        double x, y;
        TSR_TRY(value_to_double(&x, a));
        TSR_TRY(value_to_double(&y, b));
        if (y == 0) return tsr_error(TSR_ZERO_DIVISION_ERROR, "float divmod()");
        return tuple_new_move(out, (Value[]){value_float(float_floordiv(x, y)), value_float(float_mod(x, y))}, 2);
    }
    return tsr_error(TSR_TYPE_ERROR, "unsupported operand type(s) for divmod(): '%s' and '%s'", value_type_name(a),
                     value_type_name(b));
}

/* Three arguments that are not all ints: the first of them that is a float or complex words the error. */
static TsrStatus refused_pow(const Value v[3]) {
    for (int i = 0; i < 3; i++) {
        if (v[i].tag == V_FLOAT)
            return tsr_error(TSR_TYPE_ERROR, "pow() 3rd argument not allowed unless all arguments are integers");
        if (value_is_complex(v[i])) return tsr_error(TSR_VALUE_ERROR, "complex modulo");
    }
    return tsr_error(TSR_TYPE_ERROR, "unsupported operand type(s) for ** or pow(): '%s', '%s', '%s'",
                     value_type_name(v[0]), value_type_name(v[1]), value_type_name(v[2]));
}

static TsrStatus builtin_pow(Value *out, const CallArgs *args) {
    static const char *const names[] = {"base", "exp", "mod"};
    static const ArgSpec spec = {"pow", names, 3, 0, 3, 2};
    Value v[3];
    TSR_TRY(args_parse(v, args, 0, &spec));
    if (v[2].tag == V_UNBOUND || v[2].tag == V_NONE) return value_binary(out, OP_POW, v[0], v[1]);
    if (!value_is_int(v[0]) || !value_is_int(v[1]) || !value_is_int(v[2])) return refused_pow(v);
    if (int_sign(v[2]) == 0) return tsr_error(TSR_VALUE_ERROR, "pow() 3rd argument cannot be 0");
    return int_pow_mod(out, v[0], v[1], v[2]);
}

static TsrStatus digits_with_prefix(Value *out, Value v, const char *prefix, int base) {
    TsrText text = {0}, digits = {0};
    Value index = VALUE_UNBOUND;
    TsrStatus status = TSR_OK;
    if (!value_is_int(v)) {
        int64_t i;
        TSR_TRY(value_to_index(&i, v));
        index = value_int(i);
    } else {
        index = value_retain(v);
    }
    status = int_digits(&digits, index, base);
    bool negative = status == TSR_OK && digits.data[0] == '-';
    if (status == TSR_OK)
        status = tsr_text_printf(&text, "%s%s%s", negative ? "-" : "", prefix, digits.data + negative);
    tsr_text_free(&digits);
    value_release(index);
    return str_end_text_move(out, status, &text);
}

static TsrStatus builtin_hex(Value *out, const CallArgs *args) {
    return digits_with_prefix(out, args->values[0], "0x", 16);
}
static TsrStatus builtin_oct(Value *out, const CallArgs *args) {
    return digits_with_prefix(out, args->values[0], "0o", 8);
}
static TsrStatus builtin_bin(Value *out, const CallArgs *args) {
    return digits_with_prefix(out, args->values[0], "0b", 2);
}

static TsrStatus builtin_chr(Value *out, const CallArgs *args) {
    int c;
    TSR_TRY(value_to_c_int(&c, args->values[0]));
    if (c < 0 || c > 0x10ffff) return tsr_error(TSR_VALUE_ERROR, "chr() arg not in range(0x110000)");
    return str_new_char(out, (uint32_t)c);
}

static TsrStatus builtin_ord(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    char *data;
    int64_t size;
    int step;
    if (value_is_str(v)) {
        if (value_as_str(v)->length != 1)
            return tsr_error(TSR_TYPE_ERROR, "ord() expected a character, but string of length %lld found",
                             (long long)value_as_str(v)->length);
        *out = value_int(utf8_decode(value_as_str(v)->data, &step));
        return TSR_OK;
    }
    if (!value_as_buffer(v, &data, &size))
        return tsr_error(TSR_TYPE_ERROR, "ord() expected string of length 1, but %s found", value_type_name(v));
    if (size != 1)
        return tsr_error(TSR_TYPE_ERROR, "ord() expected a character, but string of length %lld found",
                         (long long)size);
    *out = value_int((unsigned char)data[0]);
    return TSR_OK;
}

/* ---- over iterables ---- */

static TsrStatus add_item(Value item, void *context) {
    Value *total = context, next;
    int64_t sum;
    if (total->tag == V_INT && item.tag == V_INT && !tsr_add_overflows(total->i, item.i, &sum)) {
        total->i = sum;
        return TSR_OK;
    }
    if (total->tag == V_FLOAT && item.tag == V_FLOAT) {
        total->f += item.f;
        return TSR_OK;
    }
    TSR_TRY(value_binary(&next, OP_ADD, *total, item));
    value_set_move(total, next);
    return TSR_OK;
}

static TsrStatus builtin_sum(Value *out, const CallArgs *args) {
    static const char *const names[] = {"iterable", "start"};
    static const ArgSpec spec = {"sum", names, 2, 1, 2, 1};
    Value v[2];
    TSR_TRY(args_parse(v, args, 0, &spec));
    bool iterable =
        value_type(v[0])->iter != NULL || value_type(v[0])->iter_next != NULL; /* what is not has its own error first */
    if (iterable && value_is_str(v[1]))
        return tsr_error(TSR_TYPE_ERROR, "sum() can't sum strings [use ''.join(seq) instead]");
    if (iterable && value_is_bytes(v[1]))
        return tsr_error(TSR_TYPE_ERROR, "sum() can't sum bytes [use b''.join(seq) instead]");
    Value total = v[1].tag != V_UNBOUND ? value_retain(v[1]) : value_int(0);
    TsrStatus status = value_each(v[0], add_item, &total, NULL);
    return value_end_move(out, status, total);
}

typedef struct Truths {
    bool wanted, found;
} Truths;

static TsrStatus test_item(Value item, void *context) {
    Truths *t = context;
    bool truth;
    TSR_TRY(value_truth(&truth, item));
    if (truth == t->wanted) t->found = true;
    return TSR_OK;
}

static TsrStatus builtin_any(Value *out, const CallArgs *args) {
    Truths t = {true, false};
    TSR_TRY(value_each(args->values[0], test_item, &t, &t.found));
    *out = value_bool(t.found);
    return TSR_OK;
}

static TsrStatus builtin_all(Value *out, const CallArgs *args) {
    Truths t = {false, false};
    TSR_TRY(value_each(args->values[0], test_item, &t, &t.found));
    *out = value_bool(!t.found);
    return TSR_OK;
}

typedef struct Best {
    CompareOp order;
    Value key_function, item, key; /* item and key owned */
} Best;

static TsrStatus consider(Value item, void *context) {
    Best *b = context;
    Value key = VALUE_UNBOUND;
    bool better = true;
    if (b->key_function.tag != V_UNBOUND) TSR_TRY(value_call_n(&key, b->key_function, 1, &item));
    else key = value_retain(item);
    TsrStatus status = b->item.tag == V_UNBOUND ? TSR_OK : value_compare_bool(&better, b->order, key, b->key);
    if (status == TSR_OK && better) {
        value_set_move(&b->item, value_retain(item));
        value_set_move(&b->key, key);
    } else {
        value_release(key);
    }
    return status;
}

static TsrStatus best_of(Value *out, const CallArgs *args, const char *name, CompareOp order) {
    Value key = args_keyword(args, "key"), fallback = args_keyword(args, "default");
    Best best = {.order = order, .key_function = value_is_none(key) ? VALUE_UNBOUND : key};
    if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "%s expected at least 1 argument, got 0", name);
    for (int i = 0; i < args->keyword_count; i++)
        if (strcmp(args->names[i]->data, "key") != 0 && strcmp(args->names[i]->data, "default") != 0)
            return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for %s()", args->names[i]->data,
                             name);
    if (args->count > 1 && fallback.tag != V_UNBOUND)
        return tsr_error(TSR_TYPE_ERROR, "Cannot specify a default for %s() with multiple positional arguments", name);
    TsrStatus status = TSR_OK;
    if (args->count == 1) status = value_each(args->values[0], consider, &best, NULL);
    for (int i = 0; args->count > 1 && i < args->count && status == TSR_OK; i++)
        status = consider(args->values[i], &best);
    value_release(best.key);
    if (status == TSR_OK && best.item.tag == V_UNBOUND) {
        if (fallback.tag == V_UNBOUND) return tsr_error(TSR_VALUE_ERROR, "%s() arg is an empty sequence", name);
        best.item = value_retain(fallback);
    }
    if (status == TSR_OK) *out = best.item;
    else value_release(best.item);
    return status;
}

static TsrStatus builtin_max(Value *out, const CallArgs *args) { return best_of(out, args, "max", CMP_GT); }
static TsrStatus builtin_min(Value *out, const CallArgs *args) { return best_of(out, args, "min", CMP_LT); }

/* sorted()'s arguments by name are looked at by sort(), when the list is made. */
static TsrStatus sort_by_keywords(List *list, const CallArgs *args) {
    Value key = args_keyword(args, "key"), reverse_value = args_keyword(args, "reverse");
    int64_t reverse = 0;
    for (int i = 0; i < args->keyword_count; i++)
        if (strcmp(args->names[i]->data, "key") != 0 && strcmp(args->names[i]->data, "reverse") != 0)
            return tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for sort()", args->names[i]->data);
    if (reverse_value.tag != V_UNBOUND) TSR_TRY(value_to_index_clamped(&reverse, reverse_value));
    return list_sort(list, key, reverse != 0);
}

static TsrStatus builtin_sorted_function(Value *out, const CallArgs *args) {
    Value list;
    if (args->count != 1) return tsr_error(TSR_TYPE_ERROR, "sorted expected 1 argument, got %d", args->count);
    TSR_TRY(list_new_iterable(&list, args->values[0]));
    return value_end_move(out, sort_by_keywords(value_as_list(list), args), list);
}

static TsrStatus builtin_iter(Value *out, const CallArgs *args) {
    if (args->count == 1) return value_iter(out, args->values[0]);
    if (!value_is_callable(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "iter(v, w): v must be callable");
    return sentinel_iter_new(out, args->values[0], args->values[1]);
}

static TsrStatus builtin_next(Value *out, const CallArgs *args) {
    if (value_type(args->values[0])->iter_next == NULL)
        return tsr_error(TSR_TYPE_ERROR, "'%s' object is not an iterator", value_type_name(args->values[0]));
    if (args->count == 1 && value_is_obj(args->values[0], &generator_type))
        return value_call_method(out, args->values[0], "__next__", 0, NULL);
    TsrStatus status = value_next(out, args->values[0]);
    if (status != TSR_OK && args->count > 1 && exc_matches(status, TSR_STOP_ITERATION)) {
        exc_discard(status);
        *out = VALUE_UNBOUND;
        status = TSR_OK;
    }
    if (status != TSR_OK || out->tag != V_UNBOUND) return status;
    if (args->count == 1) return tsr_error(TSR_STOP_ITERATION, "%s", "");
    *out = value_retain(args->values[1]);
    return TSR_OK;
}

/* ---- types and attributes ---- */

/* Whether `wanted` is a type that v (or a type, for issubclass) is one of; tuples are looked into, to a depth. */
static TsrStatus matches_type(bool *out, Value subject, bool subject_is_type, Value wanted, const char *function,
                              int depth) {
    TSR_TRY(typing_origin(&wanted, wanted));
    if (value_is_tuple(wanted) && depth < 64) {
        *out = false;
        for (int64_t i = 0; i < value_as_tuple(wanted)->count && !*out; i++)
            TSR_TRY(matches_type(out, subject, subject_is_type, value_as_tuple(wanted)->items[i], function, depth + 1));
        return TSR_OK;
    }
    Value parts = type_union_parts(wanted);
    if (parts.tag != V_UNBOUND) {
        *out = false;
        for (int64_t i = 0; i < value_as_tuple(parts)->count && !*out; i++) {
            Value part = value_as_tuple(parts)->items[i];
            TSR_TRY(matches_type(out, subject, subject_is_type, part, function, depth + 1));
        }
        return TSR_OK;
    }
    if (!value_is_a(wanted, &type_type))
        return tsr_error(TSR_TYPE_ERROR,
                         subject_is_type ? "%s() arg 2 must be a class, a tuple of classes, or a union"
                                         : "%s() arg 2 must be a type, a tuple of types, or a union",
                         function);
    Type *asked = (Type *)wanted.o;
    if (!subject_is_type && asked->instance_check != NULL) return asked->instance_check(out, asked, subject);
    const Type *type = subject_is_type ? (const Type *)subject.o : value_type(subject);
    *out = type_is_subtype(type, asked);
    return subject_is_type ? abc_subclass(out, type, asked) : TSR_OK;
}

static TsrStatus builtin_isinstance_function(Value *out, const CallArgs *args) {
    bool is;
    TSR_TRY(matches_type(&is, args->values[0], false, args->values[1], "isinstance", 0));
    *out = value_bool(is);
    return TSR_OK;
}

static TsrStatus builtin_issubclass(Value *out, const CallArgs *args) {
    bool is;
    if (!value_is_a(args->values[0], &type_type))
        return tsr_error(TSR_TYPE_ERROR, "issubclass() arg 1 must be a class");
    TSR_TRY(matches_type(&is, args->values[0], true, args->values[1], "issubclass", 0));
    *out = value_bool(is);
    return TSR_OK;
}

static TsrStatus attribute_name(Str **out, Value v) {
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "attribute name must be string, not '%s'", value_type_name(v));
    return value_to_name(out, v);
}

static TsrStatus builtin_getattr(Value *out, const CallArgs *args) {
    Str *name;
    TSR_TRY(attribute_name(&name, args->values[1]));
    if (args->count == 2) return value_getattr(out, args->values[0], name);
    TSR_TRY(value_lookup_attr(out, args->values[0], name));
    if (out->tag == V_UNBOUND) *out = value_retain(args->values[2]);
    return TSR_OK;
}

static TsrStatus builtin_hasattr(Value *out, const CallArgs *args) {
    Str *name;
    Value v;
    TSR_TRY(attribute_name(&name, args->values[1]));
    TSR_TRY(value_lookup_attr(&v, args->values[0], name));
    *out = value_bool(v.tag != V_UNBOUND);
    value_release(v);
    return TSR_OK;
}

static TsrStatus builtin_setattr(Value *out, const CallArgs *args) {
    Str *name;
    TSR_TRY(attribute_name(&name, args->values[1]));
    *out = VALUE_NONE;
    return value_setattr(args->values[0], name, args->values[2]);
}

static TsrStatus builtin_delattr(Value *out, const CallArgs *args) {
    Str *name;
    TSR_TRY(attribute_name(&name, args->values[1]));
    *out = VALUE_NONE;
    return value_delattr(args->values[0], name);
}

static TsrStatus builtin_globals(Value *out, const CallArgs *args) {
    (void)args;
    return vm_new_globals(out);
}

static TsrStatus builtin_locals(Value *out, const CallArgs *args) {
    (void)args;
    return vm_new_locals(out);
}

static TsrStatus builtin_vars(Value *out, const CallArgs *args) {
    if (args->count == 0) return vm_new_locals(out);
    Str *name = str_intern_c("__dict__");
    if (name == NULL) return mem_error();
    TSR_TRY(value_lookup_attr(out, args->values[0], name));
    if (out->tag != V_UNBOUND) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "vars() argument must have __dict__ attribute");
}

static TsrStatus builtin_dir(Value *out, const CallArgs *args) {
    Value scope;
    if (args->count == 1) return value_dir(out, args->values[0]);
    TSR_TRY(vm_new_locals(&scope));
    TsrStatus status = list_new_iterable(out, scope);
    value_release(scope);
    TSR_TRY(status);
    Value names = *out;
    return value_end_move(out, list_sort(value_as_list(names), VALUE_UNBOUND, false), names);
}

static TsrStatus builtin_help(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    if (builtin_hooks.help == NULL) return tsr_error(TSR_RUNTIME_ERROR, "help() is not available here");
    return builtin_hooks.help(args->count > 0 ? args->values[0] : VALUE_UNBOUND);
}

/* ---- the table ---- */

static const Method functions[] = {
    {"abs", builtin_abs, ARGS_ONE, 1, 1, "(x, /)", "Absolute value."},
    {"all", builtin_all, ARGS_ONE, 1, 1, "(iterable, /)", "Whether every item is true."},
    {"any", builtin_any, ARGS_ONE, 1, 1, "(iterable, /)", "Whether some item is true."},
    {"ascii", builtin_ascii, ARGS_ONE, 1, 1, "(obj, /)", "repr with escapes for all but ASCII."},
    {"bin", builtin_bin, ARGS_ONE, 1, 1, "(number, /)", "'0b...' of an int."},
    {"callable", builtin_callable, ARGS_ONE, 1, 1, "(obj, /)", "Whether it can be called."},
    {"chr", builtin_chr, ARGS_ONE, 1, 1, "(i, /)", "The character of a code point."},
    {"delattr", builtin_delattr, ARGS_RANGE, 2, 2, "(obj, name, /)", "Deletes an attribute."},
    {"dir", builtin_dir, ARGS_RANGE, 0, 1, "([object])", "Names in scope, or attributes of an object."},
    {"divmod", builtin_divmod, ARGS_RANGE, 2, 2, "(x, y, /)", "(x // y, x % y)."},
    {"format", builtin_format, ARGS_RANGE, 1, 2, "(value, format_spec='', /)", "Text by a format specifier."},
    {"getattr", builtin_getattr, ARGS_RANGE, 2, 3, "(object, name[, default])", "An attribute by name."},
    {"globals", builtin_globals, ARGS_NONE, 0, 0, "()", "The global names as a dict, whose changes become theirs."},
    {"hasattr", builtin_hasattr, ARGS_RANGE, 2, 2, "(obj, name, /)", "Whether it has an attribute."},
    {"hash", builtin_hash, ARGS_ONE, 1, 1, "(obj, /)", "Hash value."},
    {"help", builtin_help, ARGS_RANGE, 0, 1, "([object])", "What it is and how to use it."},
    {"hex", builtin_hex, ARGS_ONE, 1, 1, "(number, /)", "'0x...' of an int."},
    {"id", builtin_id, ARGS_ONE, 1, 1, "(obj, /)", "A number that tells objects apart."},
    {"input", builtin_input, ARGS_RANGE, 0, 1, "(prompt='', /)", "Reads a line from standard input."},
    {"isinstance", builtin_isinstance_function, ARGS_RANGE, 2, 2, "(obj, class_or_tuple, /)",
     "Whether it is of a type."},
    {"issubclass", builtin_issubclass, ARGS_RANGE, 2, 2, "(cls, class_or_tuple, /)",
     "Whether a type derives from another."},
    {"iter", builtin_iter, ARGS_RANGE, 1, 2, "(iterable)", "An iterator."},
    {"len", builtin_len, ARGS_ONE, 1, 1, "(obj, /)", "How many items."},
    {"locals", builtin_locals, ARGS_NONE, 0, 0, "()", "The local names as a dict."},
    {"max", builtin_max, ARGS_ANY, 1, -1, "(iterable, *[, default=obj, key=func])", "The largest."},
    {"min", builtin_min, ARGS_ANY, 1, -1, "(iterable, *[, default=obj, key=func])", "The smallest."},
    {"next", builtin_next, ARGS_RANGE, 1, 2, "(iterator[, default])", "The next item."},
    {"oct", builtin_oct, ARGS_ONE, 1, 1, "(number, /)", "'0o...' of an int."},
    {"open", builtin_open, ARGS_ANY, 1, -1, "(file, mode='r')", "Opens a file."},
    {"ord", builtin_ord, ARGS_ONE, 1, 1, "(c, /)", "The code point of a character."},
    {"pow", builtin_pow, ARGS_ANY, 2, 3, "(base, exp, mod=None)", "base ** exp, modulo mod."},
    {"print", builtin_print, ARGS_ANY, 0, -1, "(*args, sep=' ', end='\\n', file=None, flush=False)",
     "Writes to standard output."},
    {"repr", builtin_repr, ARGS_ONE, 1, 1, "(obj, /)", "Text as it would be typed."},
    {"round", builtin_round, ARGS_ANY, 1, 2, "(number, ndigits=None)", "Rounds, halves to even."},
    {"setattr", builtin_setattr, ARGS_RANGE, 3, 3, "(obj, name, value, /)", "Sets an attribute."},
    {"sorted", builtin_sorted_function, ARGS_ANY, 1, 1, "(iterable, /, *, key=None, reverse=False)", "A sorted list."},
    {"sum", builtin_sum, ARGS_ANY, 1, 2, "(iterable, /, start=0)", "Sum of the items."},
    {"vars", builtin_vars, ARGS_RANGE, 0, 1, "([object])", "Names in scope, or of a namespace."},
    {0},
};

static Type *const types[] = {
    &object_type, &type_type,      &bool_type,      &int_type,   &float_type, &complex_type, &str_type,
    &bytes_type,  &bytearray_type, &list_type,      &tuple_type, &dict_type,  &set_type,     &frozenset_type,
    &range_type,  &slice_type,     &enumerate_type, &zip_type,   &map_type,   &filter_type,  &reversed_type};

/* Exceptions of modules have dots in their names. */
static bool is_builtin_exception(int kind) { return strchr(tsr_status_name((TsrStatus)kind), '.') == NULL; }

/* A type or a constant, lent; V_UNBOUND: none. */
static Value other_builtin(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(types); i++)
        if (strcmp(types[i]->name, name) == 0) return value_lent(types[i]);
    for (int kind = TSR_OK + 1; kind < TSR_STATUS_COUNT; kind++)
        if (strcmp(tsr_status_name((TsrStatus)kind), name) == 0 && is_builtin_exception(kind))
            return value_lent(EXC_TYPE(kind));
    if (strcmp(name, "IOError") == 0 || strcmp(name, "EnvironmentError") == 0)
        return value_lent(EXC_TYPE(TSR_OS_ERROR));
    if (strcmp(name, "Ellipsis") == 0) return VALUE_ELLIPSIS;
    if (strcmp(name, "__debug__") == 0) return VALUE_TRUE;
    return strcmp(name, "NotImplemented") == 0 ? VALUE_NOT_IMPLEMENTED : VALUE_UNBOUND;
}

static TsrStatus missing_builtin(Value *out, Module *module, Str *name) {
    (void)module;
    *out = value_retain(other_builtin(name->data));
    return TSR_OK;
}

static TsrStatus other_names(List *names, Module *module) {
    static const char *const more[] = {"IOError", "EnvironmentError", "Ellipsis", "NotImplemented", "__debug__"};
    (void)module;
    for (size_t i = 0; i < TSR_COUNTOF(types); i++) TSR_TRY(list_append_c(names, types[i]->name));
    for (int kind = TSR_OK + 1; kind < TSR_STATUS_COUNT; kind++)
        if (is_builtin_exception(kind)) TSR_TRY(list_append_c(names, tsr_status_name((TsrStatus)kind)));
    for (size_t i = 0; i < TSR_COUNTOF(more); i++) TSR_TRY(list_append_c(names, more[i]));
    return TSR_OK;
}

TsrStatus builtin_fill(Module *builtins) {
    builtins->missing = missing_builtin;
    builtins->names = other_names;
    return module_add_functions(builtins, functions);
}
