/* text.h: a growing byte string for messages and display. Append functions return TSR_MEMORY_ERROR and leave it
 * unchanged when memory is short, and look for an interrupt now and then as it grows long. */
#ifndef TSR_TEXT_H
#define TSR_TEXT_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* Owned bytes, or all zeros for the empty text. `length` counts neither the terminator nor unused room; data[length] is
 * always 0 when data is not NULL. The bytes may hold zeros. */
typedef struct TsrText {
    char *data;
    size_t length, capacity;
} TsrText;

/* Makes room for `more` bytes, so that a result that is too large is refused before any of it is made. */
TsrStatus tsr_text_reserve(TsrText *t, size_t more);
/* Each appends to the end: n bytes, a zero-terminated string, one byte, formatted text, n times the byte c. */
TsrStatus tsr_text_append(TsrText *t, const char *bytes, size_t n);
TsrStatus tsr_text_puts(TsrText *t, const char *s);
TsrStatus tsr_text_putc(TsrText *t, char c);
TsrStatus tsr_text_printf(TsrText *t, const char *format, ...) TSR_PRINTF(2, 3);
TsrStatus tsr_text_pad(TsrText *t, char c, size_t n);
void tsr_text_free(TsrText *t); /* frees the bytes, clears *t */
/* Gives the bytes (zero-terminated, to be freed with tsr_free) to the caller and clears *t. NULL when memory is short.
 */
char *tsr_text_move(TsrText *t);

/* Length in bytes of the UTF-8 sequence that begins at `s`; `left` > 0 bytes can be read there. 0 when the bytes are no
 * sequence of RFC 3629: incomplete, overlong, a surrogate, or above U+10FFFF. */
size_t tsr_utf8_sequence(const char *s, size_t left);
/* Offset of the first byte that begins no such sequence, or -1 when all `size` bytes are UTF-8. */
int64_t tsr_utf8_invalid(const char *data, int64_t size);

/* memcpy and memset of n bytes that look for an interrupt after each MiB: its status, with a part written. */
TsrStatus tsr_copy_long(char *to, const char *from, size_t n);
TsrStatus tsr_fill_long(char *to, char c, size_t n);

TSR_PUBLIC_END

#endif
