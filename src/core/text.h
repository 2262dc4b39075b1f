/* text.h: a growing byte string for messages and display. Append functions return TSR_MEMORY_ERROR and leave it
 * unchanged when memory is short, and look for an interrupt now and then as it grows long. */
#ifndef TSR_TEXT_H
#define TSR_TEXT_H

#include "error.h"

TSR_PUBLIC_BEGIN

typedef struct TsrText {
    char *data;
    size_t length, capacity;
} TsrText; /* data is zero-terminated, or NULL when empty */

TsrStatus tsr_text_reserve(
    TsrText *t, size_t more); /* room for `more` bytes, so that a result too large is refused before it is made */
TsrStatus tsr_text_append(TsrText *t, const char *bytes, size_t n);
TsrStatus tsr_text_puts(TsrText *t, const char *s); /* zero-terminated */
TsrStatus tsr_text_putc(TsrText *t, char c);
TsrStatus tsr_text_printf(TsrText *t, const char *format, ...) TSR_PRINTF(2, 3);
TsrStatus tsr_text_pad(TsrText *t, char c, size_t n); /* n times c */
void tsr_text_free(TsrText *t);                       /* frees the bytes, clears *t */
char *tsr_text_move(
    TsrText *t); /* the bytes (tsr_malloc'ed, zero-terminated), the caller's; clears *t; NULL when memory is short */

/* Bytes of the UTF-8 sequence at `s`, of which `left` > 0 bytes are there; 0: none, or an overlong form or a surrogate.
 */
size_t tsr_utf8_sequence(const char *s, size_t left);
int64_t tsr_utf8_invalid(const char *data,
                         int64_t size); /* offset of the first byte that begins no such sequence, or -1 */

/* memcpy and memset that an interrupt ends early where there is more than a MiB to write. */
TsrStatus tsr_copy_long(char *to, const char *from, size_t n);
TsrStatus tsr_fill_long(char *to, char c, size_t n);

TSR_PUBLIC_END

#endif
