/* json_text.h: JSON as text (RFC 8259, strictly), token by token: a cursor that never leaves its bytes, for readers
 * that know what they expect. A string, a number or an object may have space before it. */
#ifndef CORE_IO_JSON_JSON_TEXT_H
#define CORE_IO_JSON_JSON_TEXT_H

#include <string.h>

#include "core/io_stream.h"

typedef struct TsrJson {
    const TsrInput *in; /* for messages */
    const char *start, *end;
    const char *p;     /* what is next */
    bool loose;        /* strings may hold NULs and halves of surrogate pairs, as Python's may */
    const char *where; /* "header, ", said before a place in messages; "" when the text is the whole file */
} TsrJson;

/* ValueError "NAME: line 1, column 5: WHAT", of what is next. */
TsrStatus tsr_json_error(const TsrJson *j, const char *what);
static inline void tsr_json_skip_space(TsrJson *j) {
    while (j->p < j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\r' || *j->p == '\t')) j->p++;
}
/* Passes over `word` if it is next. */
static inline bool tsr_json_accept(TsrJson *j, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0) return false;
    j->p += n;
    return true;
}
/* Appends the string that is next, decoded. `what` it is, for the error when there is none: "a key". A NUL is refused,
 * unless the text is read loosely. */
TsrStatus tsr_json_string(TsrJson *j, TsrText *out, const char *what);
/* number := -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?: what a lenient reader would take besides is none.
 * *stop: its end; *whole: it has no fraction and no exponent. */
bool tsr_json_number_shape(const char *p, const char *end, const char **stop, bool *whole);
/* A whole number, not negative: digits alone. */
TsrStatus tsr_json_size(TsrJson *j, int64_t *out);
/* Calls `read` for each member of the object that is next, from behind its colon on. */
typedef TsrStatus TsrJsonMember(TsrJson *j, const char *key, size_t length, void *context);
TsrStatus tsr_json_object(TsrJson *j, TsrJsonMember *read, void *context);

void tsr_json_put_string(TsrSink *sink, const char *text); /* quoted */
/* The same for n bytes of any kind: those that are no UTF-8 become U+FFFD. */
void tsr_json_put_text(TsrSink *sink, const char *text, size_t n);

#endif
