/* csv_header.c: whether the first row of a table holds the names of its columns. One pass over the row gathers facts
 * about its cells, and another one over the row below; the guess is made from these alone. Where it may be wrong,
 * tsr_csv_note_header tells what was decided, and which option decides otherwise. */
#include <string.h>

#include "csv.h"
#include "csv_fields.h"
#include "core/error.h"

enum { FIRST_YEAR = 1800, LAST_YEAR = 2200 };

/* What the cells of a row are, but for the first one where that stands above an index. */
typedef struct RowFacts {
    int64_t cells, quoted;
    int64_t texts, values; /* the cells that are not empty, and those of them that a table of numbers could hold */
    bool leading;          /* the first cell is empty, whether or not it counts */
    bool whole;            /* all are whole numbers; what follows is true of them */
    int64_t first, final;  /* the first of them and the last one */
    bool counting, rising; /* each is one more than that before it, or just greater */
} RowFacts;

static bool is_value(const char *text, const char *text_end, const char *na) {
    bool truth;
    return is_number(text, text_end) || parse_truth(&truth, text, text_end) ||
           (na != NULL && is_listed(na, text, text_end));
}

static void see_whole(RowFacts *f, const char *text, const char *text_end) {
    int64_t value;
    f->whole &= text < text_end && tsr_parse_int64(&value, text, text_end) == text_end;
    if (!f->whole) return;
    if (f->cells == 0) f->first = value;
    f->counting &= f->cells == 0 || value - 1 == f->final;
    f->rising &= f->cells == 0 || value > f->final;
    f->final = value;
}

static void see_cell(RowFacts *f, const char *text, const char *text_end, const char *end, const char *na) {
    f->quoted += text_end < end && *text_end == '"';
    f->texts += text < text_end;
    f->values += is_value(text, text_end, na);
    see_whole(f, text, text_end);
    f->cells++;
}

static bool begins_empty(const char *p, const char *end, char delimiter) {
    const char *text, *text_end;
    bool last;
    next_field(&p, end, delimiter, &text, &text_end, &last);
    return text == text_end;
}

/* `behind`: leave the first cell out. */
static RowFacts facts_of(const char *p, const char *end, const Table *t, const char *na, bool behind) {
    RowFacts f = {.whole = true, .counting = true, .rising = true, .leading = begins_empty(p, end, t->delimiter)};
    const char *text, *text_end;
    bool last = false;
    for (int64_t n = 0; !last && !tsr_interrupted_at(n); n++) {
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        if (n > 0 || !behind) see_cell(&f, text, text_end, end, na);
    }
    f.whole &= f.cells > 0;
    return f;
}

static bool are_years(const RowFacts *f) {
    return f->whole && f->rising && f->first >= FIRST_YEAR && f->final <= LAST_YEAR;
}

/* What pandas puts above columns without names: nothing, then 0, 1, 2 and so on, or years. */
static bool are_numbers_above_index(const RowFacts *row, const RowFacts *below) {
    if (!row->leading || !row->whole) return false;
    return (row->counting && row->first == 0) || (are_years(row) && !below->leading && !are_years(below));
}

/* Whether a row of numbers may be names: numbers behind an empty cell with something below it, the only row in quotes,
 * years, or 0, 1, 2 above a row that does not go on so. */
static bool may_be_names(const RowFacts *row, const RowFacts *below) {
    if (below->cells == 0 || row->values == 0 || row->values < row->texts) return false;
    if (row->leading) return !below->leading;
    if (row->quoted == row->cells && below->quoted < below->cells) return true;
    if (are_years(row)) return row->cells > 1 && !are_years(below);
    return row->whole && row->counting && row->first == 0 && row->cells > 2 && !(below->whole && below->counting);
}

void tsr_csv_guess_header(Table *t, const char *row, const char *row_end, const char *na) {
    const char *below = row_end, *stop = row_end;
    do {
        below = TSR_MIN(stop + 1, t->end);
        stop = line_end(below, t->end);
    } while (below < t->end && blank_line(below, stop) && tsr_interrupt_flag == 0);
    bool leading = t->delimiter != ' ' && begins_empty(row, row_end, t->delimiter);
    RowFacts first = facts_of(row, row_end, t, na, leading), second = {0};
    if (below < t->end) second = facts_of(below, stop, t, na, leading);
    if (first.texts > 0 && first.values == 0) t->guess = HEADER_OF_WORDS;
    else if (leading && are_numbers_above_index(&first, &second)) t->guess = HEADER_OF_NUMBERS;
    else t->guess = may_be_names(&first, &second) ? ROW_LIKE_NAMES : ROW_OF_CELLS;
}

/* ---- what is told of it ---- */

/* Whether a cell that is no number begins like one: 1O0, $10, 12:30, -5%. */
static bool begins_like_number(const char *p, const char *end) {
    static const char *const before[] = {"$",
                                         "\xe2\x82\xac" /* the euro sign */,
                                         "\xc2\xa3" /* the pound sign */,
                                         "\xc2\xa5" /* the yen sign */,
                                         "+",
                                         "-",
                                         ".",
                                         "(",
                                         "#"};
    for (size_t i = 0; i < TSR_COUNTOF(before); i++) {
        size_t n = strlen(before[i]);
        if ((size_t)(end - p) <= n || memcmp(p, before[i], n) != 0) continue;
        p += n;
        i = (size_t)-1; /* a sign before a currency */
    }
    return p < end && *p >= '0' && *p <= '9';
}

/* Why a cell among names may belong to a row of numbers; NULL. */
static const char *doubt_of(const char *text, const char *text_end) {
    char cell[16];
    size_t n = (size_t)(text_end - text);
    if (begins_like_number(text, text_end)) return "begins like one";
    if (n == 0 || n >= sizeof cell) return NULL;
    memcpy(cell, text, n);
    cell[n] = '\0';
    return tsr_csv_means_missing(cell) ? "may stand for a missing one" : NULL;
}

static TsrStatus note_words(TsrItems *out, const Table *t) {
    const char *p = t->header, *text, *text_end;
    char shown[440];
    for (bool last = p == NULL; !last;) {
        next_field(&p, t->header_end, t->delimiter, &text, &text_end, &last);
        const char *doubt = doubt_of(text, text_end);
        if (doubt == NULL) continue;
        return tsr_items_note(out, t->in,
                              "line %lld is taken for a header, for no cell of it is a number, though '%s' %s; "
                              "--header no reads it as a row",
                              (long long)t->first_line, tsr_io_quote(shown, text, (size_t)(text_end - text)), doubt);
    }
    return TSR_OK;
}

TsrStatus tsr_csv_note_header(TsrItems *out, const Table *t) {
    switch (t->guess) {
    case HEADER_OF_WORDS: return note_words(out, t);
    case HEADER_OF_NUMBERS:
        return tsr_items_note(out, t->in,
                              "line %lld is taken for a header: it has whole numbers above columns beside an index; "
                              "--header no reads it as numbers",
                              (long long)t->first_line);
    case ROW_LIKE_NAMES:
        return tsr_items_note(out, t->in, "line %lld is read as numbers; if it is a header, --header yes says so",
                              (long long)t->first_line);
    case ROW_OF_CELLS:
    case NOT_GUESSED: break;
    }
    return TSR_OK;
}
