/* str_methods.c: the type str: slots and methods.
 *
 * Positions are code points outside, bytes inside. What needs no knowledge of characters (find, split, strip, replace)
 * is text_methods.c's, shared with bytes; here are cases, classes of characters, padding, translation and encoding.
 * ASCII goes byte by byte; other text by the tables of syntax/unichar.h. The size of a result is computed before it is
 * made where it can be large. */
#include "lang/object/args.h"
#include "bytes.h"
#include "codec.h"
#include "dict.h"
#include "lang/object/exc.h"
#include "format.h"
#include "lang/object/native.h"
#include "numbers.h"
#include "sequences.h"
#include "indices.h"
#include "str.h"
#include "text_methods.h"
#include "lang/syntax/unichar.h"
#include "lang/object/value_impl.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static Str *self_str(const CallArgs *args) { return value_as_str(args->values[0]); }

/* --- case --- */

typedef enum CaseMode { LOWER, UPPER, SWAP, CAPITAL, TITLE } CaseMode;

/* Whether the sigma at byte `at` ends a word: a cased letter before it, none after, marks aside. */
static bool is_final_sigma(const Str *s, int64_t at) {
    int n;
    int64_t before = at, after = at + 2;
    uint32_t c = 0;
    while (before > 0) {
        do before--;
        while (before > 0 && ((unsigned char)s->data[before] & 0xc0) == 0x80);
        c = utf8_decode(s->data + before, &n);
        if (!unichar_is_case_ignorable(c)) break;
    }
    if (!unichar_is_cased(c) || unichar_is_case_ignorable(c)) return false;
    for (; after < s->size; after += n) {
        c = utf8_decode(s->data + after, &n);
        if (!unichar_is_case_ignorable(c)) return !unichar_is_cased(c);
    }
    return true;
}

/* The character c at byte `at`, in the case that the mode wants there; how many bytes. */
static int write_case(char *out, const Str *s, int64_t at, uint32_t c, CaseMode mode, bool after_letter) {
    bool upper = mode == UPPER || (mode == SWAP && unichar_is_lower(c));
    bool title = (mode == CAPITAL && at == 0) || (mode == TITLE && !after_letter);
    if (upper) return unichar_upper(out, c);
    if (title) return unichar_title(out, c);
    if (mode == SWAP && !unichar_is_upper(c)) return utf8_encode(out, c);
    if (c == 0x3a3 && is_final_sigma(s, at)) return utf8_encode(out, 0x3c2);
    return unichar_lower(out, c);
}

/* ASCII only: lower or upper, byte by byte. */
static TsrStatus change_ascii(Value *out, const Str *s, bool to_upper) {
    Str *r = str_new_raw(s->size);
    if (r == NULL) return TSR_MEMORY_ERROR;
    for (int64_t i = 0; i < s->size && !tsr_interrupted_at(i); i++) {
        unsigned char c = (unsigned char)s->data[i];
        unsigned first = to_upper ? 'a' : 'A';
        r->data[i] = (char)(c - first < 26u ? c ^ 0x20 : c);
    }
    *out = value_obj_move(r);
    return TSR_OK;
}

static TsrStatus change_case(Value *out, const Str *s, CaseMode mode) {
    if (mode <= UPPER && str_is_ascii(s) && s->size > 1) return change_ascii(out, s, mode == UPPER);
    TsrText text = {0};
    bool after_letter = false;
    for (int64_t i = 0; i < s->size;) {
        int n;
        uint32_t c = utf8_decode(s->data + i, &n);
        char buffer[UNICHAR_CASE_BYTES];
        TsrStatus status = tsr_text_append(&text, buffer, (size_t)write_case(buffer, s, i, c, mode, after_letter));
        if (status == TSR_OK) status = tsr_interrupt_check();
        if (status != TSR_OK) {
            tsr_text_free(&text);
            return status;
        }
        after_letter = unichar_is_cased(c);
        i += n;
    }
    return str_new_text_move(out, &text);
}

static TsrStatus method_lower(Value *out, const CallArgs *args) { return change_case(out, self_str(args), LOWER); }
static TsrStatus method_upper(Value *out, const CallArgs *args) { return change_case(out, self_str(args), UPPER); }
static TsrStatus method_swapcase(Value *out, const CallArgs *args) { return change_case(out, self_str(args), SWAP); }
static TsrStatus method_capitalize(Value *out, const CallArgs *args) {
    return change_case(out, self_str(args), CAPITAL);
}
static TsrStatus method_title(Value *out, const CallArgs *args) { return change_case(out, self_str(args), TITLE); }

static TsrStatus method_casefold(Value *out, const CallArgs *args) {
    const Str *s = self_str(args);
    if (str_is_ascii(s)) return change_case(out, s, LOWER);
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < s->size && status == TSR_OK;) {
        utf8proc_int32_t folded[8];
        char buffer[4];
        int n, last;
        uint32_t c = utf8_decode(s->data + i, &n);
        utf8proc_ssize_t count =
            utf8proc_decompose_char((utf8proc_int32_t)c, folded, TSR_COUNTOF(folded), UTF8PROC_CASEFOLD, &last);
        if (count < 0 || count > (int)TSR_COUNTOF(folded)) folded[0] = (utf8proc_int32_t)c, count = 1; /* a surrogate */
        for (int k = 0; k < count && status == TSR_OK; k++)
            status = tsr_text_append(&text, buffer, (size_t)utf8_encode(buffer, (uint32_t)folded[k]));
        i += n;
    }
    if (status == TSR_OK) return str_new_text_move(out, &text);
    tsr_text_free(&text);
    return status;
}

/* --- classes of characters --- */

static bool every(const Str *s, bool (*test)(uint32_t), bool of_empty) {
    for (int64_t i = 0; i < s->size && tsr_interrupt_flag == 0;) {
        int n;
        if (!test(utf8_decode(s->data + i, &n))) return false;
        i += n;
    }
    return s->size > 0 || of_empty;
}

#define CLASS_METHOD(name, test, of_empty) \
    static TsrStatus method_##name(Value *out, const CallArgs *args) { \
        *out = value_bool(every(self_str(args), test, of_empty)); \
        return TSR_OK; \
    }
CLASS_METHOD(isalpha, unichar_is_alpha, false)
CLASS_METHOD(isdecimal, unichar_is_decimal, false)
CLASS_METHOD(isdigit, unichar_is_digit, false)
CLASS_METHOD(isnumeric, unichar_is_numeric, false)
CLASS_METHOD(isalnum, unichar_is_alnum, false)
CLASS_METHOD(isspace, unichar_is_space, false)
CLASS_METHOD(isprintable, unichar_is_printable, true)
#undef CLASS_METHOD

static TsrStatus method_isascii(Value *out, const CallArgs *args) {
    *out = value_bool(str_is_ascii(self_str(args)));
    return TSR_OK;
}

static TsrStatus one_case(Value *out, const Str *s, bool (*wanted)(uint32_t), bool (*other)(uint32_t)) {
    bool some = false;
    for (int64_t i = 0; i < s->size && tsr_interrupt_flag == 0;) {
        int n;
        uint32_t c = utf8_decode(s->data + i, &n);
        if (other(c) || unichar_is_title(c)) {
            some = false;
            break;
        }
        some = some || wanted(c);
        i += n;
    }
    *out = value_bool(some);
    return TSR_OK;
}
static TsrStatus method_isupper(Value *out, const CallArgs *args) {
    return one_case(out, self_str(args), unichar_is_upper, unichar_is_lower);
}
static TsrStatus method_islower(Value *out, const CallArgs *args) {
    return one_case(out, self_str(args), unichar_is_lower, unichar_is_upper);
}

static TsrStatus method_istitle(Value *out, const CallArgs *args) {
    const Str *s = self_str(args);
    bool cased = false, after = false, good = true;
    for (int64_t i = 0; i < s->size && good && tsr_interrupt_flag == 0;) {
        int n;
        uint32_t c = utf8_decode(s->data + i, &n);
        if (unichar_is_upper(c) || unichar_is_title(c)) good = !after;
        else if (unichar_is_lower(c)) good = after;
        after = unichar_is_cased(c);
        cased = cased || after;
        i += n;
    }
    *out = value_bool(good && cased);
    return TSR_OK;
}

static TsrStatus method_isidentifier(Value *out, const CallArgs *args) {
    const Str *s = self_str(args);
    bool good = s->size > 0;
    for (int64_t i = 0; i < s->size && good && tsr_interrupt_flag == 0;) {
        int n;
        uint32_t c = utf8_decode(s->data + i, &n);
        good = i == 0 ? unichar_starts_name(c) : unichar_continues_name(c);
        i += n;
    }
    *out = value_bool(good);
    return TSR_OK;
}

/* --- padding --- */

static TsrStatus pad_text(Value *out, Value self, int64_t left, int64_t right, const char *fill, int fill_size) {
    const Str *s = value_as_str(self);
    int64_t size, pads;
    if (left <= 0 && right <= 0) {
        *out = value_retain(self);
        return TSR_OK;
    }
    if (tsr_add_overflows(left, right, &pads) || tsr_mul_overflows(pads, fill_size, &pads) ||
        tsr_add_overflows(pads, s->size, &size))
        return mem_error();
    Str *r = str_new_raw(size);
    if (r == NULL) return TSR_MEMORY_ERROR;
    char *p = r->data;
    *out = value_obj_move(r);
    TsrStatus status = repeat_bytes(p, fill, fill_size, left);
    p += left * fill_size;
    if (status == TSR_OK) status = tsr_copy_long(p, s->data, (size_t)s->size);
    if (status == TSR_OK) status = repeat_bytes(p + s->size, fill, fill_size, right);
    r->length = left + s->length + right;
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus justify(Value *out, const CallArgs *args, int mode) {
    int64_t width;
    const char *fill = " ";
    int fill_size = 1;
    TSR_TRY(value_to_index(&width, args->values[1]));
    if (args->count > 2) {
        if (!value_is_str(args->values[2]))
            return tsr_error(TSR_TYPE_ERROR, "The fill character must be a unicode character, not %s",
                             value_type_name(args->values[2]));
        const Str *f = value_as_str(args->values[2]);
        if (f->length != 1) return tsr_error(TSR_TYPE_ERROR, "The fill character must be exactly one character long");
        fill = f->data;
        fill_size = (int)f->size;
    }
    int64_t pad = width - self_str(args)->length;
    if (pad <= 0) pad = 0;
    int64_t left = mode < 0 ? 0 : mode > 0 ? pad : pad / 2 + (pad & width & 1);
    return pad_text(out, args->values[0], left, pad - left, fill, fill_size);
}
static TsrStatus method_ljust(Value *out, const CallArgs *args) { return justify(out, args, -1); }
static TsrStatus method_rjust(Value *out, const CallArgs *args) { return justify(out, args, 1); }
static TsrStatus method_center(Value *out, const CallArgs *args) { return justify(out, args, 0); }

static TsrStatus method_zfill(Value *out, const CallArgs *args) {
    int64_t width;
    TSR_TRY(value_to_index(&width, args->values[1]));
    const Str *s = self_str(args);
    TSR_TRY(pad_text(out, args->values[0], TSR_MAX(width - s->length, 0), 0, "0", 1));
    Str *r = value_as_str(*out);
    if (width > s->length && s->size > 0 && (s->data[0] == '-' || s->data[0] == '+')) {
        r->data[0] = s->data[0];
        r->data[r->size - s->size] = '0';
    }
    return TSR_OK;
}

/* --- joining --- */

static TsrStatus join_items(Value *out, const Str *glue, const Value *items, int64_t count) {
    int64_t size = 0;
    for (int64_t i = 0; i < count; i++) {
        if (tsr_interrupted_at(i)) return tsr_interrupt_check();
        if (!value_is_str(items[i])) {
            return tsr_error(TSR_TYPE_ERROR, "sequence item %lld: expected str instance, %s found", (long long)i,
                             value_type_name(items[i]));
        }
        if (tsr_add_overflows(size, value_as_str(items[i])->size, &size) ||
            (i > 0 && tsr_add_overflows(size, glue->size, &size)))
            return mem_error();
    }
    if (count == 1) {
        *out = value_retain(items[0]);
        return TSR_OK;
    }
    Str *r = str_new_raw(size);
    if (r == NULL) return TSR_MEMORY_ERROR;
    char *p = r->data;
    int64_t length = 0;
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < count && status == TSR_OK; i++) {
        if (i > 0) {
            status = tsr_copy_long(p, glue->data, (size_t)glue->size);
            p += glue->size;
            length += glue->length;
        }
        const Str *s = value_as_str(items[i]);
        if (status == TSR_OK && tsr_interrupted_at(i)) status = tsr_interrupt_check();
        if (status == TSR_OK) status = tsr_copy_long(p, s->data, (size_t)s->size);
        p += s->size;
        length += s->length;
    }
    r->length = length;
    return value_end_move(out, status, value_obj_move(r));
}

static TsrStatus method_join(Value *out, const CallArgs *args) {
    const Value *items;
    int64_t count;
    if (value_as_array(args->values[1], &items, &count)) return join_items(out, self_str(args), items, count);
    Value list;
    TSR_TRY(text_list_to_join(&list, args->values[1]));
    TsrStatus status = join_items(out, self_str(args), value_as_list(list)->items, value_as_list(list)->count);
    value_release(list);
    return status;
}

/* --- translation --- */

static TsrStatus map_characters(Dict *table, const Str *from, const Str *to) {
    if (from->length != to->length)
        return tsr_error(TSR_VALUE_ERROR, "the first two maketrans arguments must have equal length");
    for (int64_t i = 0, j = 0; i < from->size;) {
        int n, m;
        uint32_t a = utf8_decode(from->data + i, &n), b = utf8_decode(to->data + j, &m);
        TSR_TRY(dict_set(table, value_int(a), value_int(b)));
        TSR_TRY(tsr_interrupt_check());
        i += n;
        j += m;
    }
    return TSR_OK;
}

static TsrStatus fill_table(Dict *table, const CallArgs *args) {
    int n;
    if (args->count > 1) {
        for (int k = 0; k < args->count; k++) {
            int i = (k + 1) % args->count; /* the first is looked at last */
            if (value_is_str(args->values[i])) continue;
            if (i == 0)
                return tsr_error(TSR_TYPE_ERROR,
                                 "first maketrans argument must be a string if there is a second argument");
            return tsr_error(TSR_TYPE_ERROR, "maketrans() argument %d must be str, not %s", i + 1,
                             value_shown_type(args->values[i]));
        }
        TSR_TRY(map_characters(table, value_as_str(args->values[0]), value_as_str(args->values[1])));
        const Str *drop = args->count > 2 ? value_as_str(args->values[2]) : NULL;
        for (int64_t i = 0; drop != NULL && i < drop->size; i += n)
            TSR_TRY(dict_set(table, value_int(utf8_decode(drop->data + i, &n)), VALUE_NONE));
        return TSR_OK;
    }
    if (!value_is_dict(args->values[0]))
        return tsr_error(TSR_TYPE_ERROR, "if you give only one argument to maketrans it must be a dict");
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(args->values[0]), &position)) != NULL;) {
        bool text = value_is_str(e->key);
        if (!text && !value_is_int(e->key))
            return tsr_error(TSR_TYPE_ERROR, "keys in translate table must be strings or integers");
        if (text && value_as_str(e->key)->length != 1)
            return tsr_error(TSR_VALUE_ERROR, "string keys in translate table must be of length 1");
        TSR_TRY(dict_set(table, text ? value_int(utf8_decode(value_as_str(e->key)->data, &n)) : e->key, e->value));
    }
    return TSR_OK;
}

static TsrStatus method_maketrans(Value *out, const CallArgs *args) {
    Value table;
    TSR_TRY(dict_new(&table));
    TsrStatus status = fill_table(value_as_dict(table), args);
    return value_end_move(out, status, table);
}

static TsrStatus put_char(TsrText *text, uint32_t c) {
    char buffer[4];
    return tsr_text_append(text, buffer, (size_t)utf8_encode(buffer, c));
}

/* A table, and what it gives for the characters that were asked for before, if they are ASCII. */
typedef struct Translation {
    Value table;
    Value known[128]; /* owned; V_UNBOUND: not asked for yet */
    Value other;      /* the last that is not ASCII; owned */
} Translation;

static void translation_free(Translation *t) {
    values_release(t->known, 128);
    value_release(t->other);
}

/* What the table has for c: None, a str or a code point; c itself where it has nothing. */
static TsrStatus look_up(Value *out, Value table, uint32_t c) {
    TsrStatus status = value_getitem(out, table, value_int(c));
    if (exc_matches(status, TSR_LOOKUP_ERROR)) {
        exc_discard(status);
        *out = value_int(c);
        return TSR_OK;
    }
    TSR_TRY(status);
    if (value_is_none(*out) || value_is_str(*out)) return TSR_OK;
    if (out->tag != V_INT) {
        value_release(*out);
        return tsr_error(TSR_TYPE_ERROR, "character mapping must return integer, None or str");
    }
    return out->i >= 0 && out->i <= 0x10ffff
               ? TSR_OK
               : tsr_error(TSR_VALUE_ERROR, "character mapping must be in range(0x110000)");
}

/* *lent: until the next call. */
static TsrStatus translation_of(const Value **lent, Translation *t, uint32_t c) {
    Value *to = c < 128 ? &t->known[c] : &t->other, found;
    *lent = to;
    if (c < 128 && to->tag != V_UNBOUND) return TSR_OK;
    TSR_TRY(look_up(&found, t->table, c));
    value_set_move(to, found);
    return TSR_OK;
}

static TsrStatus put_translation(TsrText *text, Value by) {
    if (value_is_none(by)) return TSR_OK;
    if (value_is_str(by)) return tsr_text_append(text, value_as_str(by)->data, (size_t)value_as_str(by)->size);
    return put_char(text, (uint32_t)by.i);
}

static int64_t size_of_translation(Value by) {
    char buffer[4];
    return value_is_none(by) ? 0 : value_is_str(by) ? value_as_str(by)->size : utf8_encode(buffer, (uint32_t)by.i);
}

/* The translated text, or with text NULL its size. */
static TsrStatus translate_all(TsrText *text, int64_t *size, Translation *t, const Str *s) {
    int n;
    for (int64_t i = 0; i < s->size; i += n) {
        const Value *by;
        TSR_TRY(translation_of(&by, t, utf8_decode(s->data + i, &n)));
        if (text != NULL) TSR_TRY(put_translation(text, *by));
        else if (__builtin_add_overflow(*size, size_of_translation(*by), size)) return mem_error();
        if (tsr_interrupted_at(i)) TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus method_translate(Value *out, const CallArgs *args) {
    const Str *s = self_str(args);
    TsrText text = {0};
    Translation t = {.table = args->values[1], .other = VALUE_UNBOUND};
    for (int c = 0; c < 128; c++) t.known[c] = VALUE_UNBOUND;
    int64_t size = 0;
    TsrStatus status = translate_all(NULL, &size, &t, s);
    if (status == TSR_OK) status = tsr_text_reserve(&text, (size_t)size);
    if (status == TSR_OK) status = translate_all(&text, NULL, &t, s);
    translation_free(&t);
    return str_end_text_move(out, status, &text);
}

/* --- encoding --- */

static TsrStatus method_encode(Value *out, const CallArgs *args) {
    CodecChoice how;
    TSR_TRY(codec_arguments(&how, args, "encode"));
    TsrText text = {0};
    TsrStatus status = codec_encode(&text, self_str(args), how);
    if (status == TSR_OK) status = bytes_new(out, text.data != NULL ? text.data : "", (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

static TsrStatus method_format(Value *out, const CallArgs *args) {
    TsrText text = {0};
    TsrStatus status = str_format_method(&text, self_str(args), args, 1);
    return str_end_text_move(out, status, &text);
}

static TsrStatus method_format_map(Value *out, const CallArgs *args) {
    TsrText text = {0};
    TsrStatus status = str_format_map(&text, self_str(args), args->values[1]);
    return str_end_text_move(out, status, &text);
}

/* --- slots --- */

static void str_destroy(Obj *self) { obj_free(self, sizeof(Str) + (size_t)((Str *)self)->size + 1); }
static TsrStatus repr_slot(TsrText *out, Value self) {
    return str_repr(out, value_as_str(self)->data, value_as_str(self)->size);
}
static TsrStatus str_slot(TsrText *out, Value self) {
    return tsr_text_append(out, value_as_str(self)->data, (size_t)value_as_str(self)->size);
}
static TsrStatus format_slot(TsrText *out, Value self, const char *spec, size_t size) {
    return format_str(out, value_as_str(self)->data, (size_t)value_as_str(self)->size, spec, size);
}
static TsrStatus hash_slot(int64_t *out, Value self) {
    *out = str_hash(value_as_str(self));
    return TSR_OK;
}

static TsrStatus compare_slot(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (!value_is_str(a) || !value_is_str(b)) return TSR_OK;
    const Str *s = value_as_str(a), *t = value_as_str(b);
    if (op == CMP_EQ || op == CMP_NE) {
        *out = value_bool(str_equal(s, t) == (op == CMP_EQ));
        return TSR_OK;
    }
    *out = value_bool(compare_order(op, str_compare(s, t)));
    return TSR_OK;
}

static TsrStatus length_slot(int64_t *out, Value self) {
    *out = value_as_str(self)->length;
    return TSR_OK;
}

static TsrStatus get_item_slot(Value *out, Value self, Value index) {
    Str *s = value_as_str(self);
    int64_t i, stop, step, count;
    if (value_is_obj(index, &slice_type)) {
        TSR_TRY(slice_resolve((Slice *)index.o, s->length, &i, &stop, &step, &count));
        if (count == s->length && step == 1 && self.o->type == &str_type) {
            *out = value_retain(self);
            return TSR_OK;
        }
        return str_new_slice(out, s, i, stop, step, count);
    }
    TSR_TRY(sequence_index(&i, index, "string"));
    if (!index_wrap(&i, s->length)) return tsr_error(TSR_INDEX_ERROR, "string index out of range");
    int n;
    int64_t at = str_byte_of(s, i);
    utf8_decode(s->data + at, &n);
    return str_new(out, s->data + at, n);
}

static TsrStatus contains_slot(bool *out, Value self, Value item) {
    if (!value_is_str(item))
        return tsr_error(TSR_TYPE_ERROR, "'in <string>' requires string as left operand, not %s",
                         value_type_name(item));
    *out = text_search(text_bytes(self), text_bytes(item), false) >= 0;
    return tsr_interrupt_check();
}

typedef struct StrIter {
    Obj obj;
    Str *str; /* NULL when exhausted */
    int64_t byte;
} StrIter;

static void iter_destroy(Obj *self) {
    obj_xrelease(((StrIter *)self)->str);
    obj_free(self, sizeof(StrIter));
}

static TsrStatus iter_next(Value *out, Value self) {
    StrIter *it = (StrIter *)self.o;
    if (it->str == NULL) return TSR_OK;
    if (it->byte >= it->str->size) {
        Str *s = it->str;
        it->str = NULL;
        obj_release(s);
        return TSR_OK;
    }
    int n;
    const char *p = it->str->data + it->byte;
    utf8_decode(p, &n);
    it->byte += n;
    return str_new(out, p, n);
}

static Type str_iter_type = {
    .obj = TYPE_HEADER, .name = "str_iterator", .destroy = iter_destroy, .iter_next = iter_next};
static Type ascii_iter_type = {
    .obj = TYPE_HEADER, .name = "str_ascii_iterator", .destroy = iter_destroy, .iter_next = iter_next};

static TsrStatus iter_slot(Value *out, Value self) {
    StrIter *it = obj_new(str_is_ascii(value_as_str(self)) ? &ascii_iter_type : &str_iter_type, sizeof *it);
    if (it == NULL) return TSR_MEMORY_ERROR;
    it->str = obj_retain(self.o);
    it->byte = 0;
    *out = value_obj_move(it);
    return TSR_OK;
}

static TsrStatus repeat(Value *out, const Str *s, int64_t times) {
    int64_t size;
    if (tsr_mul_overflows(s->size, times, &size) || size > PTRDIFF_MAX / 2) return mem_error();
    if (size == 0) return str_new(out, "", 0);
    Str *r = str_new_raw(size);
    if (r == NULL) return TSR_MEMORY_ERROR;
    r->length = s->length * times;
    *out = value_obj_move(r);
    TsrStatus status = repeat_bytes(r->data, s->data, s->size, times);
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus binary_slot(Value *out, BinaryOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if (op == OP_ADD)
        return value_is_str(a) && value_is_str(b) ? str_new_concat(out, value_as_str(a), value_as_str(b)) : TSR_OK;
    if (op == OP_MOD) return value_is_str(a) ? str_percent(out, value_as_str(a), b) : TSR_OK;
    if (op != OP_MUL) return TSR_OK;
    Value text = value_is_str(a) ? a : b;
    int64_t times;
    bool handled;
    TSR_TRY(repeat_count(&times, value_is_str(a) ? b : a, value_as_str(text)->size, &handled));
    if (!handled) return TSR_OK;
    if (times != 1 || text.o->type != &str_type) return repeat(out, value_as_str(text), times);
    *out = value_retain(text);
    return TSR_OK;
}

/* a += b with no other holder of a: grows it where it stands. */
static TsrStatus inplace_slot(Value *out, BinaryOp op, Value self, Value b) {
    *out = VALUE_UNBOUND;
    return op == OP_ADD ? binary_slot(out, op, self, b) : TSR_OK;
}

static TsrStatus decode_bytes(Value *out, Value bytes, CodecChoice how) {
    char *data;
    int64_t size;
    TsrText text = {0};
    if (!value_as_buffer(bytes, &data, &size)) {
        return tsr_error(TSR_TYPE_ERROR,
                         value_is_str(bytes) ? "decoding str is not supported"
                                             : "decoding to str: need a bytes-like object, %s found",
                         value_type_name(bytes));
    }
    return str_end_text_move(out, codec_decode(&text, data, size, how), &text);
}

static TsrStatus construct_slot(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"object", "encoding", "errors"};
    static const ArgSpec spec = {"str", names, 3, 0, 3, 0};
    Value given[3];
    (void)type;
    if (args->count == 1 && args->keyword_count == 0) return value_new_str(out, args->values[0]);
    TSR_TRY(args_parse(given, args, 0, &spec));
    CodecChoice how;
    TSR_TRY(codec_choose(&how, given[1], given[2], "str"));
    if (given[0].tag != V_UNBOUND && (given[1].tag != V_UNBOUND || given[2].tag != V_UNBOUND))
        return decode_bytes(out, given[0], how);
    return given[0].tag == V_UNBOUND ? str_new(out, "", 0) : value_new_str(out, given[0]);
}

static const Method str_methods[] = {
    {"capitalize", method_capitalize, ARGS_NONE, 0, 0, "()", "First letter upper case, the rest lower."},
    {"casefold", method_casefold, ARGS_NONE, 0, 0, "()", "For comparing without case."},
    {"center", method_center, ARGS_RANGE, 1, 2, "(width, fillchar=' ', /)", "Padded on both sides."},
    {"count", text_count, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])",
     "How often the part occurs, without overlap."},
    {"encode", method_encode, ARGS_ANY, 0, 0, "(encoding='utf-8', errors='strict')", "As bytes."},
    {"endswith", text_endswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(suffix[, start[, end]])", "Whether it ends so."},
    {"expandtabs", text_expandtabs, ARGS_ANY, 0, 0, "(tabsize=8)", "Tabs as spaces."},
    {"find", text_find, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part, or -1."},
    {"format", method_format, ARGS_ANY, 0, 0, "(*args, **kwargs)", "Fills the {} fields."},
    {"format_map", method_format_map, ARGS_ONE, 0, 0, "(mapping)", "Fills the {} fields from a mapping."},
    {"index", text_index, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The first index of the part."},
    {"isalnum", method_isalnum, ARGS_NONE, 0, 0, "()", NULL},
    {"isalpha", method_isalpha, ARGS_NONE, 0, 0, "()", NULL},
    {"isascii", method_isascii, ARGS_NONE, 0, 0, "()", NULL},
    {"isdecimal", method_isdecimal, ARGS_NONE, 0, 0, "()", NULL},
    {"isdigit", method_isdigit, ARGS_NONE, 0, 0, "()", NULL},
    {"isidentifier", method_isidentifier, ARGS_NONE, 0, 0, "()", NULL},
    {"islower", method_islower, ARGS_NONE, 0, 0, "()", NULL},
    {"isnumeric", method_isnumeric, ARGS_NONE, 0, 0, "()", NULL},
    {"isprintable", method_isprintable, ARGS_NONE, 0, 0, "()", NULL},
    {"isspace", method_isspace, ARGS_NONE, 0, 0, "()", NULL},
    {"istitle", method_istitle, ARGS_NONE, 0, 0, "()", NULL},
    {"isupper", method_isupper, ARGS_NONE, 0, 0, "()", NULL},
    {"join", method_join, ARGS_ONE, 0, 0, "(iterable, /)", "The strings of the iterable with this one between them."},
    {"ljust", method_ljust, ARGS_RANGE, 1, 2, "(width, fillchar=' ', /)", "Padded on the right."},
    {"lower", method_lower, ARGS_NONE, 0, 0, "()", "In lower case."},
    {"lstrip", text_lstrip, ARGS_RANGE, 0, 1, "(chars=None, /)", "Without spaces (or the characters) at the start."},
    {"maketrans", method_maketrans, ARGS_RANGE | METHOD_STATIC, 1, 3, "(x, y=None, z=None, /)",
     "A table for translate."},
    {"partition", text_partition, ARGS_ONE, 0, 0, "(sep, /)", "(before, sep, after) at the first sep."},
    {"removeprefix", text_removeprefix, ARGS_ONE, 0, 0, "(prefix, /)", "Without the prefix."},
    {"removesuffix", text_removesuffix, ARGS_ONE, 0, 0, "(suffix, /)", "Without the suffix."},
    {"replace", text_replace, ARGS_RANGE, 2, 3, "(old, new, count=-1, /)", "With the part replaced."},
    {"rfind", text_rfind, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part, or -1."},
    {"rindex", text_rindex, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(sub[, start[, end]])", "The last index of the part."},
    {"rjust", method_rjust, ARGS_RANGE, 1, 2, "(width, fillchar=' ', /)", "Padded on the left."},
    {"rpartition", text_rpartition, ARGS_ONE, 0, 0, "(sep, /)", "(before, sep, after) at the last sep."},
    {"rsplit", text_rsplit, ARGS_ANY, 0, 0, "(sep=None, maxsplit=-1)", "The parts, split from the right."},
    {"rstrip", text_rstrip, ARGS_RANGE, 0, 1, "(chars=None, /)", "Without spaces (or the characters) at the end."},
    {"split", text_split, ARGS_ANY, 0, 0, "(sep=None, maxsplit=-1)", "The parts between separators."},
    {"splitlines", text_splitlines, ARGS_ANY, 0, 0, "(keepends=False)", "The lines."},
    {"startswith", text_startswith, ARGS_RANGE | ARGS_TUPLE, 1, 3, "(prefix[, start[, end]])", "Whether it starts so."},
    {"strip", text_strip, ARGS_RANGE, 0, 1, "(chars=None, /)", "Without spaces (or the characters) at both ends."},
    {"swapcase", method_swapcase, ARGS_NONE, 0, 0, "()", "Upper case lower and lower case upper."},
    {"title", method_title, ARGS_NONE, 0, 0, "()", "Each word with a capital."},
    {"translate", method_translate, ARGS_ONE, 0, 0, "(table, /)", "Each character by the table."},
    {"upper", method_upper, ARGS_NONE, 0, 0, "()", "In upper case."},
    {"zfill", method_zfill, ARGS_ONE, 0, 0, "(width, /)", "Zeros between sign and number."},
    {0},
};

Type str_type = {.obj = TYPE_HEADER,
                 .name = "str",
                 .doc = "str(object='') or str(bytes, encoding): text.",
                 .flags = TYPE_SEQUENCE | TYPE_ATOMIC,
                 .construct = construct_slot,
                 .destroy = str_destroy,
                 .repr = repr_slot,
                 .str = str_slot,
                 .format = format_slot,
                 .hash = hash_slot,
                 .compare = compare_slot,
                 .length = length_slot,
                 .get_item = get_item_slot,
                 .contains = contains_slot,
                 .iter = iter_slot,
                 .binary = binary_slot,
                 .inplace = inplace_slot,
                 .methods = str_methods};
