/* str.h: text: UTF-8 with a zero byte after it, counted in code points; ASCII is indexed in O(1).
 *
 * Lone surrogates are kept as their three bytes. Strings never change. Interned ones live until shutdown, and
 * the same text is then the same pointer. */
#ifndef LANG_TYPES_STR_H
#define LANG_TYPES_STR_H

#include "lang/syntax/unichar.h"
#include "lang/object/value.h"

struct Str {
    Obj obj;
    int64_t hash;                 /* -1: not computed yet */
    int64_t size;                 /* bytes */
    int64_t length;               /* code points; == size exactly when it is ASCII */
    int64_t mark_char, mark_byte; /* last position looked up in non-ASCII text */
    char data[];                  /* size bytes and a zero byte */
};

extern Type str_type;
static inline bool value_is_str(Value v) {
    return v.tag == V_OBJ && (v.o->type == &str_type || v.o->type->base == &str_type);
} /* notes and pictures too */
static inline Str *value_as_str(Value v) { return (Str *)v.o; }
static inline bool str_is_ascii(const Str *s) { return s->length == s->size; }

/* From valid UTF-8 (surrogates allowed). One-character ASCII strings and "" are shared. */
TsrStatus str_new(Value *out, const char *data, int64_t size);
TsrStatus str_new_c(Value *out, const char *text); /* zero-terminated */
/* Text as a str; frees the text, on failure too. */
TsrStatus str_new_text_move(Value *out, TsrText *text);
/* Ends a function that wrote `text`: as str_new_text_move when `status` is TSR_OK, else the text is freed. Returns what
 * became of it. */
static inline TsrStatus str_end_text_move(Value *out, TsrStatus status, TsrText *text) {
    if (status == TSR_OK) return str_new_text_move(out, text);
    tsr_text_free(text);
    return status;
}
TsrStatus str_new_format(Value *out, const char *format, ...) TSR_PRINTF(2, 3);
TsrStatus str_new_char(Value *out, uint32_t codepoint);
/* Uninitialised: the caller fills data[0..size) and then calls str_finish, which counts code points. */
Str *str_new_raw(int64_t size);
void str_finish(Str *s);
/* One of them itself when the other is empty, as in CPython. */
TsrStatus str_new_concat(Value *out, const Str *a, const Str *b);
/* a + b in a's own memory, which may move: a has one reference, which *out takes over (on failure it stays the
 * caller's), is not interned and is not b. */
TsrStatus str_append_move(Value *out, Str *a, const Str *b);
TsrStatus str_new_slice(Value *out, Str *s, int64_t start, int64_t stop, int64_t step, int64_t count);

/* The one Str of this text; lent (interned strings are not freed before shutdown). NULL when memory is short. */
Str *str_intern(const char *data, int64_t size);
Str *str_intern_c(const char *text);
/* `s` itself, interned now, or its interned twin; lent. NULL when memory is short. */
Str *str_interned(Str *s);
static inline bool str_is_interned(const Str *s) { return (s->obj.flags & OBJ_INTERNED) != 0; }

int64_t str_hash(Str *s); /* computed once, and kept */
int64_t hash_bytes(const void *data, int64_t size);
bool str_equal(const Str *a, const Str *b);
bool str_equal_c(const Str *a, const char *text);
int str_compare(const Str *a, const Str *b); /* by code points: below 0, 0 or above */

int64_t str_byte_of(Str *s, int64_t index);            /* byte offset of a code point, 0 <= index <= length */
int64_t str_index_of_byte(const Str *s, int64_t byte); /* the reverse */
/* repr as CPython: quotes chosen, escapes, printable text kept. Appends. */
TsrStatus str_repr(TsrText *out, const char *data, int64_t size);

/* The text of a str argument, lent; TypeError "`what` must be str, not int" otherwise. */
TsrStatus value_to_cstring(const char **out, Value v, const char *what);
/* As an attribute name or keyword: interned, lent. */
TsrStatus value_to_name(Str **out, Value v);

/* str % args; spec text of str.format with positional and keyword arguments: appended. */
TsrStatus str_percent(Value *out, Str *format, Value args);
TsrStatus str_format_method(TsrText *out, Str *format, const CallArgs *args, int skip);
TsrStatus str_format_map(TsrText *out, Str *format, Value mapping);

#endif
