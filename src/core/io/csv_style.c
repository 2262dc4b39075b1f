/* csv_style.c: how the numbers of a column are written: with as many digits behind the point each, such as prices, or
 * not. The first rows tell. A writer that knows it gives back the text that was read: 2.50, and not 2.5; it never
 * leaves a digit out, so that a number which has more than its column keeps them all. */
#include <string.h>

#include "csv.h"

enum { LOOKED_ROWS = 1000, NOT_SEEN = -1, MOST = 15 };

/* Digits behind the point of a number written the common way; 0: it has no point, or is written otherwise. */
static int8_t decimals_of(const char *p, const char *end) {
    if (p < end && *p == '-') p++;
    const char *whole = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    bool common = p > whole && (*whole != '0' || p == whole + 1);
    if (!common || p == end || *p != '.') return 0;
    const char *point = p++;
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end && end - point - 1 <= MOST ? (int8_t)(end - point - 1) : 0;
}

static void look_at_row(int8_t *decimals, const Table *t, const char *p, const char *end) {
    bool last = false;
    while (p < end && *p == ' ' && t->delimiter == ' ') p++;
    for (int64_t k = 0; k < t->needed && !last; k++) {
        const char *text, *text_end;
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        bool looked = decimals[k] != 0 && text < text_end && (*text == '-' || (*text >= '0' && *text <= '9'));
        int8_t here = looked ? decimals_of(text, text_end) : decimals[k];
        decimals[k] = decimals[k] == NOT_SEEN || decimals[k] == here ? here : 0;
    }
}

void tsr_csv_find_decimals(int8_t *decimals, const Table *t) {
    int64_t lines;
    const char *p = t->body;
    memset(decimals, NOT_SEEN, (size_t)t->columns);
    for (int row = 0; p < t->end && row < LOOKED_ROWS && tsr_interrupt_flag == 0; row++) {
        const char *stop = next_record(t, p, t->end, &lines);
        if (!blank_line(p, stop)) look_at_row(decimals, t, p, stop);
        p = stop + 1;
    }
    for (int64_t k = 0; k < t->columns; k++) decimals[k] = decimals[k] == NOT_SEEN ? 0 : decimals[k];
}
