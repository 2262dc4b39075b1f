/* csv_decimal.c: tables whose numbers have a decimal comma, 1.234,5: before it is read the text gets them as others
 * have them, 1234.5, with blanks for what is left of their room, so that all lines and fields stay where they are. */
#include <string.h>

#include "csv.h"

#ifdef TSR_LEAN
/* The page goes without: its readers pay for each byte of it. */
bool tsr_csv_has_decimal_comma(const char *text, const char *end) {
    (void)text, (void)end;
    return false;
}
TsrStatus tsr_csv_mend_decimals(TsrInput *in, TsrLoadOptions *options) {
    (void)options;
    return tsr_input_error(in, "this program reads no decimal commas");
}
#else

/* Digits, or groups of three of them behind points. *points: how many of those there are. */
static const char *behind_whole(const char *p, const char *end, int *points) {
    enum { GROUP = 3 };
    const char *stop = behind_digits(p, end);
    *points = 0;
    if (stop == p || stop - p > GROUP) return stop;
    while (stop < end && *stop == '.' && behind_digits(stop + 1, end) == stop + 1 + GROUP) {
        stop += 1 + GROUP;
        ++*points;
    }
    return stop;
}

static const char *behind_exponent(const char *p, const char *end) {
    const char *digits = p + 1;
    if (p == end || (*p | 32) != 'e') return p;
    if (digits < end && (*digits == '+' || *digits == '-')) digits++;
    const char *stop = behind_digits(digits, end);
    return stop > digits ? stop : p;
}

bool tsr_csv_has_decimal_comma(const char *text, const char *end) {
    int points;
    const char *whole = text < end && (*text == '-' || *text == '+') ? text + 1 : text;
    const char *p = behind_whole(whole, end, &points);
    const bool comma = (p < end) && (*p == ',');
    bool digits = p > whole;
    if (comma) {
        const char *stop = behind_digits(p + 1, end);
        if (stop == p + 1) return false;
        digits = true;
        p = behind_exponent(stop, end);
    }
    return digits && p == end && (comma || points > 0);
}

/* The room of a field, [begin, end), gets the number in its text, at the right, and blanks. */
static void put_number(char *begin, char *end, const char *text_end) {
    char *to = end;
    for (const char *from = text_end; from > begin;)
        if (*--from != '.' && *from != '"') *--to = *from == ',' ? '.' : *from;
    while (to > begin) *--to = ' ';
}

static TsrStatus refuse_point(const TsrInput *in, const char *text, const char *end) {
    char shown[440];
    int64_t line = 1;
    for (const char *p = in->data; (p = memchr(p, '\n', (size_t)(text - p))) != NULL; p++) line++;
    TsrStatus status = tsr_input_error(in, "line %lld: '%s' has a point, and numbers have a decimal comma",
                                       (long long)line, tsr_io_quote(shown, text, (size_t)(end - text)));
    tsr_error_hint(
        "points may stand between thousands, 1.234,5; without --decimal ',', or decimal=',', they are decimal");
    return status;
}

/* The numbers of a record, whose bytes are `in`'s. */
static TsrStatus mend_record(const TsrInput *in, char *p, const char *stop, char delimiter) {
    const char *next = p, *text, *text_end;
    for (bool last = false; !last;) {
        next_field(&next, stop, delimiter, &text, &text_end, &last);
        const size_t quote = text_end < stop && *text_end == '"' && text > p && text[-1] == '"';
        char *begin = (char *)in->data + (text - quote - in->data), *end = begin + (text_end - text) + 2 * quote;
        if (tsr_csv_has_decimal_comma(text, text_end)) put_number(begin, end, text_end);
        else if (memchr(text, '.', (size_t)(text_end - text)) != NULL && is_number(text, text_end))
            return refuse_point(in, text, text_end);
    }
    return TSR_OK;
}

/* Whether all fields between blanks are numbers. */
static bool are_blanks_between(const char *p, const char *stop) {
    const char *text, *text_end;
    for (bool last = false; !last;) {
        next_field(&p, stop, ' ', &text, &text_end, &last);
        if (!tsr_csv_has_decimal_comma(text, text_end) && !is_number(text, text_end)) return false;
    }
    return true;
}

/* What separates fields, told by the first row: a comma only where it can't be in a number. */
static char choose_delimiter(const char *p, const char *stop, const TsrLoadOptions *options) {
    if (options->delimiter != 0) return options->delimiter;
    const char told = told_delimiter(p, stop);
    if (told != 0) return told;
    if (options->format != NULL && strcmp(options->format, "tsv") == 0) return '\t';
    if (has_outside_quotes(p, stop, ';')) return ';';
    if (has_outside_quotes(p, stop, '\t')) return '\t';
    return has_outside_quotes(p, stop, ',') && !are_blanks_between(p, stop) ? ',' : ' ';
}

TsrStatus tsr_csv_mend_decimals(TsrInput *in, TsrLoadOptions *options) {
    TsrDataPtr copy;
    TSR_TRY(tsr_allocate(&copy, TSR_DEVICE_CPU, in->size));
    if (in->size > 0) memcpy(copy.data, in->data, in->size);
    tsr_dataptr_release(&in->hold);
    in->hold = copy;
    in->data = copy.data;
    in->mapped = false;
    const char *end = in->data + in->size;
    bool begun = false;
    int64_t lines, n = 0;
    const size_t mark = in->size >= 3 && memcmp(in->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* of the byte order */
    for (char *p = (char *)copy.data + mark; p < end; n++) {
        const char *stop = record_end(p, end, &lines);
        TSR_TRY(tsr_interrupt_check_at(n));
        if (!begun && !blank_line(p, stop)) {
            begun = true;
            options->delimiter = choose_delimiter(p, stop, options);
        }
        if (begun) TSR_TRY(mend_record(in, p, stop, options->delimiter));
        p += TSR_MIN(stop + 1, end) - p;
    }
    return TSR_OK;
}
#endif
