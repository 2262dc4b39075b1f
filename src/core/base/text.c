/* text.c: a byte string that grows by half when it is full (text.h), and the recognition of UTF-8.
 *
 * Every append reserves first and writes afterwards, so a failure leaves the text as it was. Long copies and long texts
 * look for an interrupt, because a program may build gigabytes by `s * n`. */
#include "core/text.h"

#include "core/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bytes copied between two looks for an interrupt. It trades the delay of an interrupt against the number of looks. */
enum { COPY_PIECE = 1 << 20 };

TsrStatus tsr_copy_long(char *to, const char *from, size_t n) {
    for (; n > COPY_PIECE; n -= COPY_PIECE, to += COPY_PIECE, from += COPY_PIECE) {
        memcpy(to, from, COPY_PIECE);
        TSR_TRY(tsr_interrupt_check());
    }
    memcpy(to, from, n);
    return TSR_OK;
}

TsrStatus tsr_fill_long(char *to, char c, size_t n) {
    for (; n > COPY_PIECE; n -= COPY_PIECE, to += COPY_PIECE) {
        memset(to, c, COPY_PIECE);
        TSR_TRY(tsr_interrupt_check());
    }
    memset(to, c, n);
    return TSR_OK;
}

/* Room for `more` bytes and the terminating zero. */
static TsrStatus reserve(TsrText *t, size_t more) {
    size_t need;
    if (tsr_add_size_overflows(t->length, more, &need) || tsr_add_size_overflows(need, 1, &need))
        return tsr_error(TSR_MEMORY_ERROR, "%s", "");
    if (need <= t->capacity) return TSR_OK;
    size_t capacity = t->capacity < 64 ? 64 : t->capacity + t->capacity / 2;
    if (capacity < need) capacity = need;
    char *data = tsr_realloc(t->data, capacity);
    if (data == NULL) return tsr_error(TSR_MEMORY_ERROR, "%s", "");
    t->data = data;
    t->capacity = capacity;
    return TSR_OK;
}

TsrStatus tsr_text_reserve(TsrText *t, size_t more) {
    TSR_TRY(reserve(t, more));
    t->data[t->length] = '\0';
    return TSR_OK;
}

/* Counts n bytes that were written past the end. Looks for an interrupt each time the length passes a multiple of 64
 * KiB, so that a loop of short appends can be stopped. */
static TsrStatus lengthen(TsrText *t, size_t n) {
    size_t before = t->length;
    t->length += n;
    t->data[t->length] = '\0';
    return TSR_LIKELY(before >> 16 == t->length >> 16) ? TSR_OK : tsr_interrupt_check();
}

TsrStatus tsr_text_append(TsrText *t, const char *bytes, size_t n) {
    TSR_TRY(reserve(t, n));
    if (n > 0) TSR_TRY(tsr_copy_long(t->data + t->length, bytes, n));
    return lengthen(t, n);
}

TsrStatus tsr_text_puts(TsrText *t, const char *s) { return tsr_text_append(t, s, strlen(s)); }
TsrStatus tsr_text_putc(TsrText *t, char c) { return tsr_text_append(t, &c, 1); }

TsrStatus tsr_text_printf(TsrText *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) return tsr_error(TSR_MEMORY_ERROR, "%s", "");
    TSR_TRY(reserve(t, (size_t)n));
    va_start(args, format);
    vsnprintf(t->data + t->length, (size_t)n + 1, format, args);
    va_end(args);
    return lengthen(t, (size_t)n);
}

TsrStatus tsr_text_pad(TsrText *t, char c, size_t n) {
    TSR_TRY(reserve(t, n));
    for (size_t piece; n > 0; n -= piece) {
        piece = TSR_MIN(n, (size_t)1 << 20);
        memset(t->data + t->length, c, piece);
        TSR_TRY(lengthen(t, piece));
    }
    return TSR_OK;
}

void tsr_text_free(TsrText *t) {
    tsr_free(t->data);
    *t = (TsrText){NULL, 0, 0};
}

char *tsr_text_move(TsrText *t) {
    if (t->data == NULL && tsr_text_append(t, "", 0) != TSR_OK) return NULL;
    char *data = t->data;
    *t = (TsrText){NULL, 0, 0};
    return data;
}

/* --- UTF-8 --- */

size_t tsr_utf8_sequence(const char *text, size_t left) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    size_t need = s[0] >= 0xC2 && s[0] <= 0xDF ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4 : 0;
    if (need == 0 || need > left) return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (s[0] == 0xE0 && s[1] < 0xA0) return 0;
    if (s[0] == 0xED && s[1] > 0x9F) return 0;
    if (s[0] == 0xF0 && s[1] < 0x90) return 0;
    if (s[0] == 0xF4 && s[1] > 0x8F) return 0;
    return need;
}

int64_t tsr_utf8_invalid(const char *data, int64_t size) {
    for (int64_t i = 0; i < size;) {
        size_t n = tsr_utf8_sequence(data + i, (size_t)(size - i));
        if (n == 0) return i;
        i += (int64_t)n;
    }
    return -1;
}
