/* indices.h: what the builtin sequences (str, bytes, list, tuple) do alike: indices, repeating; and what lists and
 * tuples do alike. */
#ifndef LANG_TYPES_INDICES_H
#define LANG_TYPES_INDICES_H

#include "lang/object/value.h"

/* An index into a sequence of `type_name`: "list indices must be integers or slices, not str". */
TsrStatus sequence_index(int64_t *out, Value index, const char *type_name);
/* A start or stop argument of find, index and the like, clamped; None leaves *out when `none_too`. "slice indices must
 * be integers or None or have an __index__ method". */
TsrStatus bound_argument(int64_t *out, Value v, bool none_too);

/* The count of `v * n`, checked against the `size` of what is repeated; or not handled. */
TsrStatus repeat_count(int64_t *out, Value v, int64_t size, bool *handled);
/* `times` copies of n bytes, into room for them; an interrupt ends it. */
TsrStatus repeat_bytes(char *to, const char *bytes, int64_t n, int64_t times);

/* Lexicographic comparison of two lists or two tuples. */
TsrStatus sequence_compare(Value *out, CompareOp op, Value a, Value b);
/* The index of the first equal item in [start, stop) of a list or tuple, or -1. */
TsrStatus sequence_find_item(int64_t *out, Value sequence, Value item, int64_t start, int64_t stop);
/* Their methods index (as the position, or -1) and count. */
TsrStatus sequence_find(int64_t *out, const CallArgs *args);
TsrStatus sequence_count(Value *out, const CallArgs *args);

#endif
