/* str.c: text in memory: UTF-8, interning, hashing, positions. The methods are in str_methods.c.
 *
 * A Str has its bytes behind it and counts its code points; where both numbers are equal it is ASCII and a position is
 * an offset. In other text str_byte_of walks from the place it was asked for last, or from an end, whichever is
 * nearest. Surrogates are three bytes, as if they were characters. Interned strings are in one hash table and compare
 * by address; names of attributes and keywords are. A string with one holder grows where it stands, so that s += t in a
 * loop is linear. */
#include "str.h"

#include "core/base/wide.h"
#include "lang/object/args.h"
#include "sequences.h"
#include "lang/syntax/unichar.h"
#include "lang/object/value_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <malloc.h>
#include <string.h>

/* --- hashing --- */

/* Multiply and fold, 8 bytes at a time (after wyhash's mixing step). */
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t high, low = tsr_mul_wide(a, b, &high);
    return low ^ high;
}

int64_t hash_bytes(const void *data, int64_t size) {
    const unsigned char *p = data;
    uint64_t h = 0x9e3779b97f4a7c15u ^ (uint64_t)size;
    for (; size >= 8; size -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = mix(h ^ word, 0xd6e8feb86659fd93u);
    }
    uint64_t tail = 0;
    memcpy(&tail, p, (size_t)size);
    h = mix(h ^ tail, 0xa0761d6478bd642fu);
    return (int64_t)h == -1 ? -2 : (int64_t)h;
}

int64_t str_hash(Str *s) {
    if (s->hash == -1) s->hash = hash_bytes(s->data, s->size);
    return s->hash;
}

bool str_equal(const Str *a, const Str *b) {
    if (a == b) return true;
    if (a->size != b->size || (a->obj.flags & b->obj.flags & OBJ_INTERNED)) return false;
    return memcmp(a->data, b->data, (size_t)a->size) == 0;
}

bool str_equal_c(const Str *a, const char *text) {
    return strcmp(a->data, text) == 0 && strlen(text) == (size_t)a->size;
}

/* Order of bytes is order of code points in UTF-8. */
int str_compare(const Str *a, const Str *b) {
    int order = memcmp(a->data, b->data, (size_t)TSR_MIN(a->size, b->size));
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

/* --- making --- */

static Str *ascii_chars[128], *empty; /* interned; a character when it is first asked for */

static size_t str_bytes(int64_t size) { return sizeof(Str) + (size_t)size + 1; }

Str *str_new_raw(int64_t size) {
    Str *s = obj_new(&str_type, str_bytes(size));
    if (s == NULL) return NULL;
    s->hash = -1;
    s->size = size;
    s->length = size;
    s->mark_char = s->mark_byte = 0;
    s->data[size] = '\0';
    return s;
}

void str_finish(Str *s) { s->length = utf8_count(s->data, s->size); }

static TsrStatus new_ascii(Value *out, const char *c) {
    Str **known = &ascii_chars[(unsigned char)*c];
    if (*known == NULL && (*known = str_intern(c, 1)) == NULL) return TSR_MEMORY_ERROR;
    *out = value_retain(value_lent(*known));
    return TSR_OK;
}

TsrStatus str_new(Value *out, const char *data, int64_t size) {
    if (size == 1 && (unsigned char)data[0] < 0x80) return new_ascii(out, data);
    if (size == 0) {
        *out = value_retain(value_lent(empty));
        return TSR_OK;
    }
    Str *s = str_new_raw(size);
    if (s == NULL) return TSR_MEMORY_ERROR;
    TsrStatus status = tsr_copy_long(s->data, data, (size_t)size);
    if (TSR_LIKELY(status == TSR_OK)) str_finish(s);
    return value_end_move(out, status, value_obj_move(s));
}

TsrStatus str_new_c(Value *out, const char *text) { return str_new(out, text, (int64_t)strlen(text)); }

TsrStatus str_new_text_move(Value *out, TsrText *text) {
    TsrStatus status = str_new(out, text->data != NULL ? text->data : "", (int64_t)text->length);
    tsr_text_free(text);
    return status;
}

TsrStatus str_new_format(Value *out, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    Str *s = str_new_raw(size);
    if (s == NULL) return TSR_MEMORY_ERROR;
    va_start(args, format);
    vsnprintf(s->data, (size_t)size + 1, format, args);
    va_end(args);
    str_finish(s);
    *out = value_obj_move(s);
    return TSR_OK;
}

TsrStatus str_new_char(Value *out, uint32_t codepoint) {
    char buffer[4];
    return str_new(out, buffer, utf8_encode(buffer, codepoint));
}

TsrStatus str_new_concat(Value *out, const Str *a, const Str *b) {
    int64_t size;
    const Str *whole = b->size == 0 ? a : a->size == 0 ? b : NULL;
    if (whole != NULL && whole->obj.type == &str_type) {
        *out = value_obj_move(obj_retain((void *)whole));
        return TSR_OK;
    }
    if (tsr_add_overflows(a->size, b->size, &size)) return mem_error();
    Str *s = str_new_raw(size);
    if (s == NULL) return TSR_MEMORY_ERROR;
    TsrStatus status = tsr_copy_long(s->data, a->data, (size_t)a->size);
    if (status == TSR_OK) status = tsr_copy_long(s->data + a->size, b->data, (size_t)b->size);
    s->length = a->length + b->length;
    return value_end_move(out, status, value_obj_move(s));
}

/* Small strings live in blocks of whole steps (value.c), large ones in blocks that say themselves how large they are.
 */
static bool has_room(const Str *s, size_t wanted) {
    enum { STEP = 16, LARGEST = 256 };
    size_t now = sizeof *s + (size_t)s->size + 1;
    if (now <= LARGEST) return (now + STEP - 1) / STEP
    == (wanted + STEP - 1) / STEP;
    return wanted <= malloc_usable_size((void *)s);
}

TsrStatus str_append_move(Value *out, Str *a, const Str *b) {
    size_t wanted = sizeof *a + (size_t)a->size + (size_t)b->size + 1;
    if (!has_room(a, wanted)) {
        bool large = sizeof *a + (size_t)a->size + 1 > 256;
        Str *grown = large && wanted < PTRDIFF_MAX / 2 ? tsr_realloc(a, wanted + wanted / 4) : NULL;
        if (large && grown == NULL) grown = tsr_realloc(a, wanted); /* the memory limit is near */
        if (grown == NULL) {
            TSR_TRY(str_new_concat(out, a, b));
            obj_release(a);
            return TSR_OK;
        }
        a = grown;
    }
    memcpy(a->data + a->size, b->data, (size_t)b->size);
    a->size += b->size;
    a->length += b->length;
    a->data[a->size] = '\0';
    a->hash = -1;
    a->obj.type = &str_type; /* it may have been a note */
    *out = value_obj_move(a);
    return TSR_OK;
}

/* --- positions --- */

int64_t str_byte_of(Str *s, int64_t index) {
    if (str_is_ascii(s)) return index;
    int64_t c = s->mark_char, b = s->mark_byte; /* walks from the last place, or an end, whichever is nearest */
    if (index < c / 2) c = b = 0;
    if (s->length - index < index - c) {
        c = s->length;
        b = s->size;
    }
    for (; c > index; c--) {
        b--;
        while (((unsigned char)s->data[b] & 0xc0) == 0x80) b--;
    }
    for (; c < index; c++) {
        b++;
        while (b < s->size && ((unsigned char)s->data[b] & 0xc0) == 0x80) b++;
    }
    s->mark_char = c;
    s->mark_byte = b;
    return b;
}

int64_t str_index_of_byte(const Str *s, int64_t byte) { return str_is_ascii(s) ? byte : utf8_count(s->data, byte); }

TsrStatus str_new_slice(Value *out, Str *s, int64_t start, int64_t stop, int64_t step, int64_t count) {
    (void)stop;
    if (count <= 0) return str_new(out, "", 0);
    if (step == 1) {
        int64_t from = str_byte_of(s, start);
        int64_t to = str_byte_of(s, start + count);
        return str_new(out, s->data + from, to - from);
    }
    TsrText text = {0};
    for (int64_t i = 0; i < count; i++) {
        int64_t at = str_byte_of(s, start + i * step);
        int size;
        utf8_decode(s->data + at, &size);
        TsrStatus status = tsr_text_append(&text, s->data + at, (size_t)size);
        if (status == TSR_OK) status = tsr_interrupt_check();
        if (status != TSR_OK) {
            tsr_text_free(&text);
            return status;
        }
    }
    return str_new_text_move(out, &text);
}

/* --- interning --- */

static Str **interned;
static int64_t interned_count, interned_mask = -1;

static Str **intern_slot(Str **table, int64_t mask, const char *data, int64_t size, int64_t hash) {
    for (uint64_t i = (uint64_t)hash & (uint64_t)mask;; i = (i + 1) & (uint64_t)mask) {
        Str *s = table[i];
        if (s == NULL || (s->hash == hash && s->size == size && memcmp(s->data, data, (size_t)size) == 0))
            return &table[i];
    }
}

static bool intern_grow(void) {
    int64_t mask = interned_mask < 0 ? 511 : interned_mask * 2 + 1;
    Str **table = tsr_calloc((size_t)mask + 1, sizeof *table);
    if (table == NULL) return false;
    for (int64_t i = 0; i <= interned_mask; i++) {
        if (interned[i] != NULL)
            *intern_slot(table, mask, interned[i]->data, interned[i]->size, interned[i]->hash) = interned[i];
    }
    tsr_free(interned);
    interned = table;
    interned_mask = mask;
    return true;
}

static Str *intern_find(const char *data, int64_t size, int64_t hash, Str *candidate) {
    if (interned_count * 2 > interned_mask && !intern_grow()) {
        mem_error();
        return NULL;
    }
    Str **slot = intern_slot(interned, interned_mask, data, size, hash);
    if (*slot != NULL) return *slot;
    Str *s = candidate != NULL ? obj_retain(candidate) : str_new_raw(size);
    if (s == NULL) return NULL;
    if (candidate == NULL) {
        memcpy(s->data, data, (size_t)size);
        str_finish(s);
    }
    s->hash = hash;
    s->obj.flags |= OBJ_INTERNED;
    *slot = s;
    interned_count++;
    return s;
}

Str *str_intern(const char *data, int64_t size) { return intern_find(data, size, hash_bytes(data, size), NULL); }
Str *str_intern_c(const char *text) { return str_intern(text, (int64_t)strlen(text)); }

Str *str_interned(Str *s) {
    if (s->obj.flags & OBJ_INTERNED) return s;
    return intern_find(s->data, s->size, str_hash(s), s);
}

TsrStatus str_startup(void) { return (empty = str_intern("", 0)) != NULL ? TSR_OK : mem_error(); }

void str_shutdown(void) {
    for (int64_t i = 0; i <= interned_mask; i++) {
        Str *s = interned[i];
        if (s == NULL) continue;
        if (s->size == 1) ascii_chars[(unsigned char)s->data[0]] = NULL;
        obj_release(s);
    }
    tsr_free(interned);
    interned = NULL;
    interned_count = 0;
    interned_mask = -1;
}

/* --- repr --- */

static TsrStatus escape_char(TsrText *out, uint32_t c, char quote) {
    switch (c) {
    case '\n': return tsr_text_append(out, "\\n", 2);
    case '\r': return tsr_text_append(out, "\\r", 2);
    case '\t': return tsr_text_append(out, "\\t", 2);
    case '\\': return tsr_text_append(out, "\\\\", 2);
    default: break;
    }
    if (c == (uint32_t)quote) return tsr_text_printf(out, "\\%c", quote);
    return tsr_text_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
}

TsrStatus str_repr(TsrText *out, const char *data, int64_t size) {
    char quote = memchr(data, '\'', (size_t)size) != NULL && memchr(data, '"', (size_t)size) == NULL ? '"' : '\'';
    TSR_TRY(tsr_text_putc(out, quote));
    int64_t plain = 0; /* start of the run not written yet */
    for (int64_t i = 0; i < size;) {
        int n;
        uint32_t c = utf8_decode(data + i, &n);
        bool keep = c != (uint32_t)quote && c != '\\' && unichar_is_printable(c);
        if (!keep) {
            TSR_TRY(tsr_text_append(out, data + plain, (size_t)(i - plain)));
            TSR_TRY(escape_char(out, c, quote));
            plain = i + n;
        }
        i += n;
        TSR_TRY(tsr_interrupt_check_at(i));
    }
    TSR_TRY(tsr_text_append(out, data + plain, (size_t)(size - plain)));
    return tsr_text_putc(out, quote);
}

/* --- as arguments --- */

TsrStatus value_to_cstring(const char **out, Value v, const char *what) {
    if (!value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "%s must be str, not %s", what, value_shown_type(v));
    if ((int64_t)strlen(value_as_str(v)->data) != value_as_str(v)->size)
        return tsr_error(TSR_VALUE_ERROR, "embedded null character");
    *out = value_as_str(v)->data;
    return TSR_OK;
}

TsrStatus value_to_name(Str **out, Value v) {
    if (!value_is_str(v))
        return tsr_error(TSR_TYPE_ERROR, "attribute name must be string, not '%s'", value_type_name(v));
    *out = str_interned(value_as_str(v));
    return *out != NULL ? TSR_OK : TSR_MEMORY_ERROR;
}
