/* text_methods.h: the methods that str, bytes and bytearray have in common: searching, splitting, stripping, replacing.
 *
 * One implementation works on bytes; UTF-8 finds itself in them. What differs is how far one character reaches, which
 * characters are spaces, how positions count (code points or bytes), what a part may be, and the words of errors. */
#ifndef LANG_TYPES_TEXT_METHODS_H
#define LANG_TYPES_TEXT_METHODS_H

#include "lang/object/value.h"

typedef struct Bytestring {
    const char *data;
    int64_t size;
} Bytestring; /* lent */

/* The bytes of str, bytes or bytearray. */
Bytestring text_bytes(Value self);
/* "a bytes-like object is required, not 'int'" */
TsrStatus text_buffer_argument(Bytestring *out, Value v);
/* A text of the type of `self` with the bytes of `text`, which is freed, on failure too. */
TsrStatus text_new_like_move(Value *out, Value self, TsrText *text);

/* join()'s argument as a list; "can only join an iterable" */
TsrStatus text_list_to_join(Value *out, Value given);

/* Where a part begins in a text, in bytes: the first or the last place; -1: nowhere. */
int64_t text_search(Bytestring s, Bytestring part, bool last);

/* The methods of that name: args->values[0] is the text, *out the caller's. */
TsrStatus text_find(Value *out, const CallArgs *args);
TsrStatus text_rfind(Value *out, const CallArgs *args);
TsrStatus text_index(Value *out, const CallArgs *args);
TsrStatus text_rindex(Value *out, const CallArgs *args);
TsrStatus text_count(Value *out, const CallArgs *args);
TsrStatus text_startswith(Value *out, const CallArgs *args);
TsrStatus text_endswith(Value *out, const CallArgs *args);
TsrStatus text_removeprefix(Value *out, const CallArgs *args);
TsrStatus text_removesuffix(Value *out, const CallArgs *args);
TsrStatus text_strip(Value *out, const CallArgs *args);
TsrStatus text_lstrip(Value *out, const CallArgs *args);
TsrStatus text_rstrip(Value *out, const CallArgs *args);
TsrStatus text_split(Value *out, const CallArgs *args);
TsrStatus text_rsplit(Value *out, const CallArgs *args);
TsrStatus text_splitlines(Value *out, const CallArgs *args);
TsrStatus text_partition(Value *out, const CallArgs *args);
TsrStatus text_rpartition(Value *out, const CallArgs *args);
TsrStatus text_replace(Value *out, const CallArgs *args);
TsrStatus text_expandtabs(Value *out, const CallArgs *args);

#endif
