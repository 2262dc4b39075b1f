/* csv.c: tables of numbers as text: comma, tab, semicolon or runs of spaces between fields.
 * Two passes over blocks of lines, both on all threads: the first counts rows, the second parses every block straight
 * into its place of the result. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "elements.h"
#include "formats.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/parallel.h"
#include "core/table.h"
#include "core/view.h"

/* ---- fields ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static const char *line_end(const char *p, const char *end) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    return newline != NULL ? newline : end;
}

static bool blank_line(const char *p, const char *end) {
    while (p < end && is_blank(*p)) p++;
    return p == end;
}

/* Behind the quote that closes the one at `begin`; "" in between is a quote of the text. `begin` where none does. */
static const char *behind_quotes(const char *begin, const char *end) {
    for (const char *p = begin + 1; p < end; p++) {
        if (*p != '"') continue;
        if (p + 1 == end || p[1] != '"') return p + 1;
        p++;
    }
    return begin;
}

/* Where a field in quotes that opens at p ends, behind them; p when none does: `begin` is its record's. */
static const char *behind_field(const char *begin, const char *p, const char *end) {
    static const char around[] = ",;\t | ";
    if (p > begin && memchr(around, p[-1], sizeof around - 1) == NULL) return p;
    const char *behind = behind_quotes(p, end);
    return behind == end || *behind == '\n' || *behind == '\r' || memchr(around, *behind, sizeof around - 1) != NULL
               ? behind
               : p;
}

/* The end of the record that begins here: of its line, unless that is inside quotes. *lines: how many it has. */
static const char *record_end(const char *begin, const char *end, int64_t *lines) {
    const char *stop = line_end(begin, end), *p = begin;
    *lines = 1;
    while ((p = memchr(p, '"', (size_t)(stop - p))) != NULL) {
        const char *behind = behind_field(begin, p, end);
        p = behind > p ? behind : p + 1;
        for (; stop < p; ++*lines) stop = line_end(stop + 1, end);
    }
    return stop;
}

/* One field from *p on, trimmed and without quotes; *p moves past its delimiter. *last: no field follows. */
static void next_field(const char **p, const char *end, char delimiter, const char **text, const char **text_end,
                       bool *last) {
    const char *begin = *p, *stop;
    while (begin < end && is_blank(*begin) && *begin != delimiter) begin++;
    if (delimiter == ' ') {
        while (begin < end && is_blank(*begin)) begin++;
        stop = begin < end && *begin == '"' ? behind_quotes(begin, end) : begin; /* blanks may stand in them */
        while (stop < end && !is_blank(*stop)) stop++;
        *p = stop;
        while (*p < end && is_blank(**p)) ++*p;
        *last = *p == end;
    } else {
        stop = begin;
        if (begin < end && *begin == '"') stop = behind_quotes(begin, end); /* a delimiter may stand in them */
        while (stop < end && *stop != delimiter) stop++;
        *last = stop == end;
        *p = *last ? end : stop + 1;
    }
    while (stop > begin && is_blank(stop[-1])) stop--;
    if (stop - begin >= 2 && *begin == '"' && stop[-1] == '"') {
        begin++;
        stop--;
    }
    *text = begin;
    *text_end = stop;
}

/* Appends the text of a field of the line that ends at `end`, as next_field gives it: "" in quotes is one quote. */
static TsrStatus append_field(TsrText *out, const char *text, const char *text_end, const char *end) {
    bool quoted = text_end < end && *text_end == '"';
    for (const char *p = text; p < text_end; p++) {
        TSR_TRY(tsr_text_putc(out, *p));
        if (quoted && *p == '"' && p + 1 < text_end && p[1] == '"') p++;
    }
    return TSR_OK;
}

static bool is_number(const char *begin, const char *end) {
    double value;
    return begin < end && tsr_parse_double(&value, begin, end) == end;
}

/* true and false, as csv is written and as other programs spell them. */
static bool parse_truth(bool *out, const char *begin, const char *end) {
    static const char *const words[] = {"false", "true", "False", "True", "FALSE", "TRUE"};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++) {
        if ((size_t)(end - begin) != strlen(words[i]) || memcmp(begin, words[i], (size_t)(end - begin)) != 0) continue;
        *out = i % 2 == 1;
        return true;
    }
    return false;
}

/* Whether a cell is one of a list of words. */
static bool is_listed(const char *list, const char *begin, const char *end) {
    const char *list_end = list + strlen(list), *text, *text_end;
    for (bool last = false; !last;) {
        next_field(&list, list_end, ',', &text, &text_end, &last);
        if (text_end - text == end - begin && memcmp(text, begin, (size_t)(end - begin)) == 0) return true;
    }
    return false;
}

/* What may separate fields: the first of them that stands outside of quotes does, else blanks. */
static const char candidates[] = ",\t;";

static bool has_outside_quotes(const char *line, const char *end, char c) {
    const char *p = line;
    while (p < end && *p != c) {
        const char *behind = *p == '"' ? behind_field(line, p, end) : p;
        p = behind > p ? behind : p + 1;
    }
    return p < end;
}

static char detect_delimiter(const char *line, const char *end) {
    for (const char *c = candidates; *c != '\0'; c++)
        if (has_outside_quotes(line, end, *c)) return *c;
    return ' ';
}

bool tsr_csv_is_text(const char *data, size_t size) {
    size_t looked = TSR_MIN(size, (size_t)4096), i = 0;
    while (i < looked && ((unsigned char)data[i] >= 32 || (data[i] != '\0' && strchr("\n\r\t", data[i]) != NULL))) i++;
    return i == looked;
}

/* Whether the first field of a table without a header can be read: true or nan has no digit that would tell. */
static bool begins_with_value(const char *data, const char *end) {
    const char *stop = line_end(data, end), *text, *text_end;
    bool last, truth;
    next_field(&data, stop, detect_delimiter(data, stop), &text, &text_end, &last);
    return is_number(text, text_end) || parse_truth(&truth, text, text_end);
}

bool tsr_csv_probe(const char *data, size_t size) {
    size_t looked = TSR_MIN(size, (size_t)4096), i = 0;
    while (i < looked && (data[i] < '0' || data[i] > '9')) i++;
    bool value = i < looked || (size > 0 && begins_with_value(data, data + looked));
    return value && data[0] != '[' && data[0] != '{' && tsr_csv_is_text(data, size);
}

/* ---- the table ---- */

/* MAX_BLOCKS: parts of the text that threads parse; each notes its errors for itself. MAX_WANTED: columns that a list
 * of columns may name. */
enum { MAX_BLOCKS = 256, MAX_WANTED = 1024 };

typedef struct Block {
    const char *begin, *end; /* whole lines */
    int64_t lines, rows;     /* all lines; those that are not blank */
    int64_t first_line, first_row;
    int64_t bad_line;   /* of the first error, 0 none */
    int64_t bad_column; /* its field, counted from 1; 0: the number of fields is wrong */
    int64_t bad_fields;
    int64_t rounded_line, rounded_column; /* of the first whole number that became another one; 0 none */
    bool rounded_fits;                    /* an integer dtype has it */
    const char *bad_text;
    size_t bad_length;
} Block;

typedef struct Table {
    const TsrInput *in;
    const char *body, *end;
    int64_t body_line; /* number of the body's first line */
    int64_t columns;
    char delimiter;
    TsrDtype dtype;  /* of `cells` */
    TsrDtype result; /* of the tensor; integers have to fit it */
    const char *na;  /* what means nan besides nothing; NULL */
    char *cells;
    TsrPlace *places; /* of all cells, where they are asked for; else NULL */
    TsrPlace *picked; /* of those that are taken */
    Block blocks[MAX_BLOCKS];
    int nblocks;
    const char *header, *header_end;
    int64_t header_line;
    bool guessed;               /* whether there is a header */
    bool counted;               /* the header is 0, 1, 2 and so on above an index */
    int64_t doubtful;           /* the line of a first row of numbers that may be names; 0 */
    int64_t wanted[MAX_WANTED]; /* the columns that are named, in that order */
    int nwanted;                /* 0: all are taken */
    bool quoted;                /* there are quotes, and so maybe line ends inside of them */
    const char **names;         /* of all columns; NULL: the file has no header */
    TsrText text;               /* of the names */
    bool once;                  /* no column may be named twice */
    bool *skipped;              /* a flag a column when some are named: what stands in it is not looked at; else NULL */
} Table;

static const char *next_record(const Table *t, const char *p, const char *end, int64_t *lines) {
    *lines = 1;
    return t->quoted ? record_end(p, end, lines) : line_end(p, end);
}

/* The first end of a record at or behind `wanted`, in a block that begins at p. Only by looking at each is it known
 * whether a line end is one. */
static const char *block_end(const Table *t, const char *p, const char *wanted) {
    int64_t lines;
    if (!t->quoted) return line_end(wanted, t->end);
    for (;; p++) {
        p = record_end(p, t->end, &lines);
        if (p >= wanted || tsr_interrupt_flag != 0) return p;
    }
}

static void split_blocks(Table *t) {
    size_t size = (size_t)(t->end - t->body), share = TSR_MAX(size / MAX_BLOCKS + 1, (size_t)1 << 16);
    for (const char *p = t->body; p < t->end && t->nblocks < MAX_BLOCKS;) {
        const char *stop = (size_t)(t->end - p) > share ? block_end(t, p, p + share) : t->end;
        if (stop < t->end) stop++;
        t->blocks[t->nblocks++] = (Block){.begin = p, .end = stop};
        p = stop;
    }
}

static void count_block(const Table *t, Block *b) {
    int64_t lines;
    for (const char *p = b->begin; p < b->end && tsr_interrupt_flag == 0;) {
        const char *stop = next_record(t, p, b->end, &lines);
        b->lines += lines;
        b->rows += !blank_line(p, stop);
        p = stop + 1;
    }
}

static void count_blocks(int64_t begin, int64_t end, void *user) {
    for (int64_t i = begin; i < end; i++) count_block(user, &((Table *)user)->blocks[i]);
}

/* An integer that fits the result. */
static bool parse_integer(const Table *t, const char *begin, const char *end, int64_t *cell) {
    bool truth;
    if (parse_truth(&truth, begin, end)) *cell = truth;
    else if (t->result == TSR_UINT64 && tsr_parse_uint64((uint64_t *)cell, begin, end)) return true;
    else if (begin == end || tsr_parse_int64(cell, begin, end) != end) return false;
    return tsr_integer_fits(t->result, *cell);
}

enum { EXACT_DIGITS = 15 }; /* that every double keeps */

static void see_rounding(Block *b, int64_t column, const char *begin, const char *end, double value) {
    bool fits;
    if (b->rounded_column != 0 || !tsr_whole_is_rounded(begin, end, value, &fits)) return;
    b->rounded_column = column + 1;
    b->rounded_fits = fits;
}

static bool parse_real(const Table *t, Block *b, int64_t column, const char *begin, const char *end, double *cell) {
    bool truth;
    if (begin == end || (t->na != NULL && is_listed(t->na, begin, end))) *cell = NAN;
    else if (parse_truth(&truth, begin, end)) *cell = truth;
    else if (tsr_parse_double(cell, begin, end) != end) return false;
    else if (end - begin > EXACT_DIGITS) see_rounding(b, column, begin, end, *cell);
    return true;
}

/* The common line: numbers and delimiters with nothing around them. Returns the cells parsed before anything else. */
static int64_t parse_plain(const Table *t, Block *b, const char *p, const char *end, double *cells, const char **rest) {
    int64_t k = 0;
    while (k < t->columns && !tsr_interrupted_at(k)) {
        const char *stop = tsr_parse_double(&cells[k], p, end);
        if (stop == NULL || (stop < end && *stop != t->delimiter && !(*stop == '\r' && stop + 1 == end))) break;
        if (TSR_UNLIKELY(stop - p > EXACT_DIGITS)) see_rounding(b, k, p, stop, cells[k]);
        k++;
        if (stop >= end || *stop == '\r') {
            *rest = end;
            return k;
        }
        p = stop + 1;
    }
    *rest = p;
    return k;
}

/* What is empty stands where its field begins: behind it may be blanks, or the carriage return of a line end. */
static TsrPlace place_of(const Table *t, const char *before, const char *text, const char *text_end) {
    bool outside = text == text_end && !(text > before && text[-1] == '"');
    const char *begin = outside ? before : text;
    return (TsrPlace){(size_t)(begin - t->in->data), (size_t)((outside ? before : text_end) - t->in->data)};
}

static bool parse_line(const Table *t, Block *b, const char *p, const char *end, char *cells) {
    bool last = false;
    if (t->dtype == TSR_FLOAT64 && t->delimiter != ' ' && t->skipped == NULL && t->na == NULL && t->places == NULL) {
        const char *rest;
        if (parse_plain(t, b, p, end, (double *)(void *)cells, &rest) == t->columns && rest == end) return true;
    }
    int64_t k = 0;
    for (; !last && !tsr_interrupted_at(k); k++) {
        const char *text, *text_end, *before = p;
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        if (t->places != NULL && k < t->columns)
            t->places[(cells - t->cells) / 8 + k] = place_of(t, before, text, text_end);
        bool taken = k < t->columns && (t->skipped == NULL || !t->skipped[k]);
        void *cell = cells + k * 8;
        if (taken && !(t->dtype == TSR_INT64 ? parse_integer(t, text, text_end, cell)
                                             : parse_real(t, b, k, text, text_end, cell))) {
            b->bad_column = k + 1;
            b->bad_text = text;
            b->bad_length = (size_t)(text_end - text);
            return false;
        }
    }
    b->bad_column = 0;
    b->bad_fields = k;
    return k == t->columns;
}

static void parse_block(const Table *t, Block *b) {
    if (b->rows == 0) return; /* maybe no block has any, and there are no cells */
    char *row = t->cells + b->first_row * t->columns * 8;
    int64_t line = b->first_line, lines;
    for (const char *p = b->begin; p < b->end && tsr_interrupt_flag == 0; line += lines) {
        const char *stop = next_record(t, p, b->end, &lines);
        if (!blank_line(p, stop)) {
            while (p < stop && *p == ' ' && t->delimiter == ' ') p++;
            if (!parse_line(t, b, p, stop, row)) {
                if (tsr_interrupt_flag != 0) return; /* in the middle of it */
                b->bad_line = line;
                return;
            }
            if (TSR_UNLIKELY(b->rounded_column != 0) && b->rounded_line == 0) b->rounded_line = line;
            row += t->columns * 8;
        }
        p = stop + 1;
    }
}

static void parse_blocks(int64_t begin, int64_t end, void *user) {
    for (int64_t i = begin; i < end; i++) parse_block(user, &((Table *)user)->blocks[i]);
}

static bool means_missing(const char *cell) {
    static const char *const words[] = {"NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "?", "-", "."};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (strcmp(cell, words[i]) == 0) return true;
    return false;
}

/* What to do about a cell that is no number. */
static void hint_about(const Table *t, const char *cell) {
    size_t numeric = strspn(cell, "0123456789,.-");
    if (means_missing(cell))
        tsr_error_hint("an empty cell is nan, and with --na '%s', or load(path, na='%s'), one that says so", cell,
                       cell);
    else if (cell[0] == '#') tsr_error_hint("grep -v '^#' leaves lines that begin with # out");
    else if (strstr(cell, "\\x0d") != NULL)
        tsr_error_hint("lines that end in a carriage return alone: tr '\\r' '\\n' mends them");
    else if (t->delimiter == ',' && cell[numeric] == ';')
        tsr_error_hint("--delimiter ';' separates fields there; where the decimal mark is a comma, tr , . first");
    else if (t->delimiter == ' ' && cell[numeric] == '\0' && strchr(cell, ',') != NULL)
        tsr_error_hint("the first line, where no comma stands, tells what separates fields: --delimiter , does, too");
    else if (t->delimiter != ',' && cell[numeric] == '\0' && strchr(cell, ',') != NULL)
        tsr_error_hint("numbers are read with a decimal point: tr , . makes points of the commas");
    else if (cell[strspn(cell, "0123456789.|:")] == '\0' && strpbrk(cell, "|:") != NULL)
        tsr_error_hint("--delimiter '%c' separates fields there", *strpbrk(cell, "|:"));
    else
        tsr_error_hint(
            "--columns, or load(path, columns='a,c'), takes the columns that hold numbers; an empty cell is nan");
}

static TsrStatus report_bad(const Table *t, const Block *b) {
    char shown[440];
    if (b->bad_column == 0)
        return tsr_input_error(t->in, "line %lld has %lld field%s, the first row has %lld", (long long)b->bad_line,
                               (long long)b->bad_fields, b->bad_fields == 1 ? "" : "s", (long long)t->columns);
    tsr_io_quote(shown, b->bad_text, b->bad_length);
    bool digits = b->bad_length > 0 && shown[shown[0] == '-'] != '\0' &&
                  shown[(shown[0] == '-') + strspn(shown + (shown[0] == '-'), "0123456789")] == '\0';
    TsrStatus status =
        digits ? tsr_input_error(t->in, "line %lld, column %lld: %s does not fit torch.%s", (long long)b->bad_line,
                                 (long long)b->bad_column, shown, tsr_dtype_name(t->result))
               : tsr_input_error(t->in, "line %lld, column %lld: '%s' is not %s", (long long)b->bad_line,
                                 (long long)b->bad_column, shown, t->dtype == TSR_INT64 ? "an integer" : "a number");
    if (!digits) hint_about(t, shown);
    return status;
}

/* A header has a cell that is not empty, and none that is a number, or else what a cell of numbers may be. */
static bool looks_like_header(const char *p, const char *end, char delimiter, const char *na) {
    bool last = false, any = false, truth;
    for (int64_t n = 0; !last && !tsr_interrupted_at(n); n++) {
        const char *text, *text_end;
        next_field(&p, end, delimiter, &text, &text_end, &last);
        any |= text < text_end;
        if (is_number(text, text_end) || parse_truth(&truth, text, text_end) ||
            (na != NULL && is_listed(na, text, text_end)))
            return false;
    }
    return any;
}

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

/* Whether all cells are whole numbers each one more than that before it: *first. One of no text may come before them
 * (*leading). */
static bool counts_up(const char *p, const char *end, char delimiter, int64_t *first, int64_t *count, bool *leading) {
    bool last = false;
    *count = 0;
    *leading = false;
    for (int64_t n = 0; !last && !tsr_interrupted_at(n); n++) {
        const char *text, *text_end;
        int64_t value;
        next_field(&p, end, delimiter, &text, &text_end, &last);
        if (n == 0 && text == text_end) {
            *leading = true;
            continue;
        }
        if (text == text_end || tsr_parse_int64(&value, text, text_end) != text_end ||
            (*count > 0 && value - *count != *first))
            return false;
        if ((*count)++ == 0) *first = value;
    }
    return *count > 0;
}

/* The row that pandas puts above columns without names: nothing above the index, then 0, 1, 2 and so on. */
static bool is_numbered_header(const char *p, const char *end, char delimiter) {
    int64_t first, count;
    bool leading;
    return delimiter != ' ' && counts_up(p, end, delimiter, &first, &count, &leading) && leading && first == 0;
}

/* Whether a first row of numbers may be names: 0,1,2 or years, above a row that does not go on so. */
static bool may_be_names(const char *p, const char *end, const char *below, const char *below_end, char delimiter) {
    int64_t first, count, other, many;
    bool leading;
    if (below == below_end || !counts_up(p, end, delimiter, &first, &count, &leading) || leading || count < 2)
        return false;
    if (counts_up(below, below_end, delimiter, &other, &many, &leading)) return false;
    return (first == 0 && count > 2) || (first >= 1800 && first + count <= 2200);
}

static int64_t count_fields(const char *p, const char *end, char delimiter) {
    bool last = false;
    int64_t n = 0;
    while (!last && !tsr_interrupted_at(n)) {
        const char *text, *text_end;
        next_field(&p, end, delimiter, &text, &text_end, &last);
        n++;
    }
    return n;
}

static bool has_byte(const char *p, const char *end, char byte) {
    for (size_t piece; p < end && tsr_interrupt_flag == 0; p += piece) {
        piece = TSR_MIN((size_t)(end - p), (size_t)1 << 24);
        if (memchr(p, byte, piece) != NULL) return true;
    }
    return false;
}

/* Finds the first row: its delimiter, whether it is a header, and where the body begins. */
static TsrStatus examine(Table *t, const TsrInput *in, const TsrLoadOptions *options, const char *begin) {
    const char *p = begin, *stop = begin;
    int64_t lines;
    t->body_line = 1;
    if (has_byte(begin, t->end, '\0')) return tsr_input_error(in, "it holds a NUL byte: not text");
    t->quoted = has_byte(begin, t->end, '"');
    TSR_TRY(tsr_interrupt_check());
    for (; p < t->end; p = stop + 1, t->body_line += lines) {
        stop = next_record(t, p, t->end, &lines);
        if (!blank_line(p, stop)) break;
    }
    if (p >= t->end) return tsr_input_error(in, "it holds no rows");
    t->delimiter = options->delimiter != 0                                          ? options->delimiter
                   : options->format != NULL && strcmp(options->format, "tsv") == 0 ? '\t'
                                                                                    : detect_delimiter(p, stop);
    while (p < stop && t->delimiter == ' ' && *p == ' ') p++;
    t->columns = count_fields(p, stop, t->delimiter);
    const char *returned = memchr(p, '\r', (size_t)(stop - p));
    if (returned != NULL && returned + 1 < stop && !t->quoted) {
        TsrStatus status = tsr_input_error(in, "line %lld has a carriage return inside", (long long)t->body_line);
        tsr_error_hint("lines that end in a carriage return alone: tr '\\r' '\\n' mends them");
        return status;
    }
    t->counted = options->header < 0 && is_numbered_header(p, stop, t->delimiter);
    bool header = t->counted || options->header == 1 ||
                  (options->header < 0 && looks_like_header(p, stop, t->delimiter, options->na));
    if (header) {
        t->header = p;
        t->header_end = stop;
        t->header_line = t->body_line;
        t->body_line += lines;
    } else if (options->header < 0 && stop < t->end) {
        const char *below = stop + 1;
        t->doubtful = may_be_names(p, stop, below, line_end(below, t->end), t->delimiter) ? t->body_line : 0;
    }
    t->guessed = options->header < 0;
    t->body = header ? TSR_MIN(stop + 1, t->end) : p;
    return tsr_interrupt_check();
}

/* ---- choosing columns ---- */

/* The names of the columns, behind one another in t->text. */
static TsrStatus read_names(Table *t) {
    const char *p = t->header, *text, *text_end;
    bool last = p == NULL;
    if (last) return TSR_OK;
    for (int64_t n = 0; !last; n++) {
        if ((n & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        next_field(&p, t->header_end, t->delimiter, &text, &text_end, &last);
        TSR_TRY(append_field(&t->text, text, text_end, t->header_end));
        TSR_TRY(tsr_text_putc(&t->text, '\0'));
    }
    t->names = tsr_malloc((size_t)t->columns * sizeof *t->names);
    if (t->names == NULL) return tsr_error_no_memory((size_t)t->columns * sizeof *t->names);
    text = t->text.data;
    for (int64_t k = 0; k < t->columns; text += strlen(text) + 1) t->names[k++] = text;
    return TSR_OK;
}

/* By its name, else its number; -1 when there is none. */
static int64_t find_column(const Table *t, const char *name) {
    const char *end = name + strlen(name);
    int64_t index;
    for (int64_t k = 0; t->names != NULL && k < t->columns; k++)
        if (strcmp(t->names[k], name) == 0) return k;
    if (name == end || tsr_parse_int64(&index, name, end) != end) return -1;
    if (index < 0) index += t->columns;
    return index >= 0 && index < t->columns ? index : -1;
}

/* The names there are, as far as a line holds them. */
static void hint_about_names(const Table *t) {
    char text[100], shown[440];
    size_t n = 0;
    for (int64_t k = 0; t->names != NULL && k < t->columns && n < sizeof text; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k > 0 ? ", " : "",
                              tsr_io_quote(shown, t->names[k], strlen(t->names[k])));
    if (n > 0) tsr_error_hint("its columns are %s%s", text, n >= sizeof text ? "..." : "");
}

static TsrStatus want_column(Table *t, const char *name) {
    char shown[440];
    int64_t column = find_column(t, name);
    if (t->nwanted == MAX_WANTED) return tsr_error(TSR_VALUE_ERROR, "more than %d columns are named", MAX_WANTED);
    if (column < 0) {
        TsrStatus status =
            tsr_input_error(t->in, "it has no column '%s' (%lld columns%s)", tsr_io_quote(shown, name, strlen(name)),
                            (long long)t->columns, t->names == NULL ? ", no header" : "");
        hint_about_names(t);
        return status;
    }
    if (t->once && !t->skipped[column])
        return tsr_input_error(t->in, "its column '%s' is named twice: only one of them could be written back",
                               tsr_io_quote(shown, name, strlen(name)));
    t->wanted[t->nwanted++] = column;
    t->skipped[column] = false;
    return TSR_OK;
}

/* Finds the columns of a list '0,2,name,"a, b"'; all others are skipped. */
static TsrStatus want_columns(Table *t, const char *list) {
    const char *end = list + strlen(list), *text, *text_end;
    TsrStatus status = TSR_OK;
    t->skipped = tsr_malloc((size_t)t->columns);
    if (t->skipped == NULL) return tsr_error_no_memory((size_t)t->columns);
    memset(t->skipped, true, (size_t)t->columns);
    for (bool last = false; !last && status == TSR_OK;) {
        TsrText name = {0};
        next_field(&list, end, ',', &text, &text_end, &last);
        status = append_field(&name, text, text_end, end);
        if (status == TSR_OK) status = want_column(t, name.data != NULL ? name.data : "");
        tsr_text_free(&name);
    }
    return status;
}

static TsrStatus pick_columns(TsrTensor **table, const Table *t) {
    TsrTensor *picked;
    int64_t rows = (*table)->sizes[0];
    TSR_TRY(tsr_tensor_new(&picked, 2, (int64_t[]){rows, t->nwanted}, t->dtype, TSR_DEVICE_CPU));
    const int64_t *from = tsr_data(*table);
    int64_t *to = tsr_data(picked);
    TSR_IN_PIECES(r, rows)
    for (int k = 0; k < t->nwanted; k++) to[r * t->nwanted + k] = from[r * t->columns + t->wanted[k]];
    tsr_tensor_reset(table);
    *table = picked;
    return TSR_OK;
}

/* ---- reading ---- */

static TsrStatus new_places(TsrPlace **out, int64_t rows, int64_t columns) {
    size_t nbytes = (size_t)TSR_MAX(rows * columns, 1) * sizeof **out; /* there are as many cells of 8 bytes */
    *out = tsr_malloc(nbytes);
    return *out != NULL ? TSR_OK : tsr_error_no_memory(nbytes);
}

static TsrStatus parse_table(TsrTensor **out, Table *t) {
    int64_t rows = 0, line = t->body_line, cells;
    split_blocks(t);
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_parallel_for(t->nblocks, 1, count_blocks, t));
    TSR_TRY(tsr_interrupt_check());
    for (int i = 0; i < t->nblocks; i++) {
        t->blocks[i].first_line = line;
        t->blocks[i].first_row = rows;
        line += t->blocks[i].lines;
        rows += t->blocks[i].rows;
    }
    /* No more cells than the file has bytes for: a first row of delimiters cannot ask for more memory than it may fill.
     */
    if (tsr_mul_overflows(rows, t->columns, &cells) || (t->columns > 1 && cells / 2 > t->end - t->body))
        return tsr_input_error(t->in, "%lld columns in the first row, too few in the others", (long long)t->columns);
    TSR_TRY(tsr_tensor_new(out, 2, (int64_t[]){rows, t->columns}, t->dtype, TSR_DEVICE_CPU));
    t->cells = tsr_data(*out);
    if (t->once) TSR_TRY(new_places(&t->places, rows, t->columns));
    TSR_TRY(tsr_parallel_for(t->nblocks, 1, parse_blocks, t));
    TSR_TRY(tsr_interrupt_check());
    for (int i = 0; i < t->nblocks; i++)
        if (t->blocks[i].bad_line != 0) return report_bad(t, &t->blocks[i]);
    return TSR_OK;
}

static TsrStatus convert_table(TsrTensor **table, const Table *t, TsrDtype wanted) {
    TsrTensor *converted;
    if (wanted == TSR_DTYPE_NONE || wanted == t->dtype) return TSR_OK;
    TSR_TRY(tsr_tensor_new_cast(&converted, *table, wanted));
    tsr_tensor_reset(table);
    *table = converted;
    return TSR_OK;
}

static TsrStatus name_columns(TsrTensor *table, Table *t) {
    TsrColumns *columns;
    const char *names[MAX_WANTED];
    for (int k = 0; k < t->nwanted && t->names != NULL; k++) names[k] = t->names[t->wanted[k]];
    bool some = t->nwanted > 0 && t->names != NULL;
    TSR_TRY(tsr_columns_new(&columns, some ? names : t->names, table->sizes[1], t->delimiter));
    tsr_columns_set_move(table, columns);
    return TSR_OK;
}

/* The places of the cells that are taken, to the caller. */
static void give_places(TsrPlaces *out, Table *t, int64_t rows) {
    const int64_t columns = t->nwanted > 0 ? t->nwanted : t->columns;
    TSR_IN_PIECES(r, rows)
    for (int64_t k = 0; k < t->nwanted; k++) t->picked[r * columns + k] = t->places[r * t->columns + t->wanted[k]];
    TsrPlace **given = t->nwanted > 0 ? &t->picked : &t->places;
    *out = (TsrPlaces){*given, (size_t)(rows * columns), (size_t)(rows * columns)};
    *given = NULL;
}

static TsrStatus finish_table(TsrTensor **table, Table *t, const TsrLoadOptions *options) {
    int64_t rows = (*table)->sizes[0];
    if (options->places != NULL && t->nwanted > 0) TSR_TRY(new_places(&t->picked, rows, t->nwanted));
    if (options->places != NULL) give_places(options->places, t, rows);
    if (t->nwanted > 0) TSR_TRY(pick_columns(table, t));
    TSR_TRY(convert_table(table, t, options->dtype));
    return name_columns(*table, t);
}

/* A guess that may be wrong is told: a row of numbers among the names, or of names among the numbers. */
static TsrStatus note_header(TsrItems *out, const Table *t) {
    const char *p = t->header, *text, *text_end;
    char shown[440];
    if (t->doubtful != 0)
        return tsr_items_note(out, t->in, "line %lld is read as numbers; if it is a header, --header yes says so",
                              (long long)t->doubtful);
    if (t->counted)
        return tsr_items_note(
            out, t->in,
            "line %lld is taken for a header: it counts 0, 1, ... above an index; --header no reads it as numbers",
            (long long)t->header_line);
    for (bool last = p == NULL || !t->guessed; !last;) {
        next_field(&p, t->header_end, t->delimiter, &text, &text_end, &last);
        if (!begins_like_number(text, text_end)) continue;
        return tsr_items_note(
            out, t->in,
            "line %lld is taken for a header, for no cell of it is a number, though '%s' begins like one; --header "
            "no reads it as a row",
            (long long)t->header_line, tsr_io_quote(shown, text, (size_t)(text_end - text)));
    }
    return TSR_OK;
}

static TsrStatus note_rounding(TsrItems *out, const Table *t) {
    for (int i = 0; i < t->nblocks; i++)
        if (t->blocks[i].rounded_line != 0)
            return tsr_note_rounding(out, t->in, t->blocks[i].rounded_line, t->blocks[i].rounded_column,
                                     t->blocks[i].rounded_fits);
    return TSR_OK;
}

TsrStatus tsr_csv_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    const char *begin = in->data, *end = in->data + in->size;
    TsrTensor *table = NULL;
    if (in->size >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0) begin += 3;
    if (options->dtype != TSR_DTYPE_NONE && !tsr_dtype_is_pod(options->dtype))
        return tsr_input_error(in, "a table of numbers can't be torch.%s", tsr_dtype_name(options->dtype));
    Table *t = tsr_calloc(1, sizeof *t);
    if (t == NULL) return tsr_error_no_memory(sizeof *t);
    t->in = in;
    t->end = end;
    t->result = options->dtype;
    t->na = options->na;
    t->once = options->places != NULL;
    t->dtype = options->dtype != TSR_DTYPE_NONE && tsr_dtype_is_integral(options->dtype) ? TSR_INT64 : TSR_FLOAT64;
    TsrStatus status = examine(t, in, options, begin);
    if (status == TSR_OK) status = read_names(t);
    if (status == TSR_OK && options->columns != NULL) status = want_columns(t, options->columns);
    if (status == TSR_OK) status = parse_table(&table, t);
    if (status == TSR_OK) status = finish_table(&table, t, options);
    if (status == TSR_OK) status = note_rounding(out, t);
    if (status == TSR_OK) status = note_header(out, t);
    tsr_free(t->places);
    tsr_free(t->picked);
    tsr_free(t->skipped);
    tsr_free(t->names);
    tsr_text_free(&t->text);
    tsr_free(t);
    if (status == TSR_OK) return tsr_items_single_move(out, table);
    tsr_tensor_free(table);
    return status;
}

/* ---- writing ---- */

/* In quotes where it would be read otherwise. */
static void write_name(TsrSink *sink, const char *name, char delimiter, bool alone) {
    size_t n = strlen(name);
    bool plain = strchr(name, delimiter) == NULL && name[strcspn(name, "\"\r\n")] == '\0';
    for (const char *c = candidates; *c != '\0' && (alone || *c != delimiter); c++)
        plain &= strchr(name, *c) == NULL; /* it would be taken for the delimiter */
    if (alone) plain &= strchr(name, ' ') == NULL;
    if (n == 0) plain = !alone && delimiter != ' ';
    else plain &= !is_blank(name[0]) && !is_blank(name[n - 1]);
    if (!plain) tsr_sink_puts(sink, "\"");
    for (const char *p = name; *p != '\0'; p++) tsr_sink_write(sink, *p == '"' ? "\"\"" : p, *p == '"' ? 2 : 1);
    if (!plain) tsr_sink_puts(sink, "\"");
}

/* Cells are made into text by pieces, several of them at a time in as many threads as there are, and written in order.
 */
enum { CELL = 48, PIECE = 2048 /* cells */, PIECES = 16 };

/* How nan is written, in quotes where it needs them. */
typedef struct Word {
    char text[CELL];
    size_t length;
} Word;

static TsrStatus word_for_nan(Word *word, const TsrSaveOptions *options, int64_t columns, char delimiter) {
    TsrSink sink = {.fd = -1};
    write_name(&sink, options->na != NULL ? options->na : "nan", delimiter, columns == 1);
    TsrStatus status = sink.status;
    if (status == TSR_OK && sink.text.length >= CELL)
        status = tsr_error(TSR_VALUE_ERROR, "what nan is written as has at most %d bytes", CELL - 3);
    word->length = status == TSR_OK ? sink.text.length : 0;
    memcpy(word->text, sink.text.data != NULL ? sink.text.data : "", word->length);
    tsr_text_free(&sink.text);
    return status;
}

/* The cell's text, of less than CELL bytes. */
static size_t format_cell(char *text, TsrScalar value, TsrDtype dtype, int precision, const Word *na) {
    size_t n = tsr_format_element(text, value, dtype, precision, false);
    if (n != 3 || memcmp(text, "nan", 3) != 0) return n;
    memcpy(text, na->text, na->length);
    return na->length;
}

TsrStatus tsr_csv_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted) {
    char text[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, 1, options->delimiter != 0 ? options->delimiter : ','));
    size_t n = format_cell(text, value, dtype, options->precision, &na);
    bool twice = quoted && n >= 2 && text[0] == '"';
    return tsr_text_append(out, text + twice, n - 2 * twice);
}

typedef struct Writing {
    const TsrTensor *t;     /* contiguous */
    int64_t columns, first; /* the cell that the first piece begins with */
    char delimiter;
    int precision;
    Word na;
    char *text; /* CELL bytes for each cell of all pieces */
    size_t length[PIECES];
} Writing;

static void write_pieces(int64_t begin, int64_t end, void *user) {
    Writing *w = user;
    const char *data = tsr_data(w->t);
    int64_t item = (int64_t)tsr_itemsize(w->t);
    for (int64_t piece = begin; piece < end; piece++) {
        char *text = w->text + piece * PIECE * CELL, *p = text;
        int64_t cell = w->first + piece * PIECE, stop = TSR_MIN(cell + PIECE, w->t->numel), column = cell % w->columns;
        for (; cell < stop; cell++) {
            bool last = ++column == w->columns;
            p += format_cell(p, tsr_scalar_load(w->t->dtype, data + cell * item), w->t->dtype, w->precision, &w->na);
            *p++ = last ? '\n' : w->delimiter;
            if (last) column = 0;
        }
        w->length[piece] = (size_t)(p - text);
    }
}

static TsrStatus write_table(TsrSink *sink, const TsrTensor *t, char delimiter, const TsrSaveOptions *options) {
    Writing w = {
        .t = t, .columns = tsr_ndim(t) == 2 ? t->sizes[1] : 1, .delimiter = delimiter, .precision = options->precision};
    TsrStatus status = word_for_nan(&w.na, options, w.columns, delimiter);
    size_t room = (size_t)TSR_MIN(t->numel, PIECES * PIECE) * CELL;
    if (status != TSR_OK || t->numel == 0) return status;
    w.text = tsr_malloc(room);
    if (w.text == NULL) return tsr_error_no_memory(room);
    for (; w.first < t->numel && status == TSR_OK; w.first += PIECES * PIECE) {
        int64_t pieces = TSR_MIN((t->numel - w.first + PIECE - 1) / PIECE, PIECES);
        status = tsr_parallel_for(pieces, 1, write_pieces, &w);
        for (int64_t k = 0; k < pieces && status == TSR_OK; k++) {
            tsr_sink_write(sink, w.text + k * PIECE * CELL, w.length[k]);
            status = sink->status;
        }
    }
    tsr_free(w.text);
    return status;
}

/* ---- names ---- */

static TsrStatus write_header(TsrSink *sink, const char *const *names, int64_t n, char delimiter) {
    for (int64_t i = 0; i < n; i++) {
        if ((i & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        write_name(sink, names[i], delimiter, n == 1);
        tsr_sink_write(sink, i + 1 < n ? &delimiter : "\n", 1);
    }
    return sink->status;
}

/* The names that the options give for `columns` columns, if they do. */
static TsrStatus write_given_header(TsrSink *sink, const TsrSaveOptions *options, int64_t columns, char delimiter) {
    if (options->header == NULL || options->no_header) return TSR_OK;
    if (options->header_count != columns)
        return tsr_error(TSR_VALUE_ERROR, "the header has %lld name%s, the table %lld column%s",
                         (long long)options->header_count, options->header_count == 1 ? "" : "s", (long long)columns,
                         columns == 1 ? "" : "s");
    return write_header(sink, options->header, columns, delimiter);
}

/* ---- a table whose columns have names: tensors of one dimension, or single numbers ---- */

typedef struct NamedColumns {
    TsrTensor **columns; /* contiguous */
    int n;
    int64_t rows;
} NamedColumns;

static TsrStatus check_cells(const TsrTensor *t) {
    if (tsr_is_sparse(t)) return tsr_error(TSR_VALUE_ERROR, "csv holds dense tensors; convert with to_dense()");
    if (tsr_dtype_is_pod(t->dtype) && !tsr_dtype_is_complex(t->dtype)) return tsr_tensor_check(t, false);
    return tsr_error(TSR_VALUE_ERROR, "a table holds real numbers, not torch.%s", tsr_dtype_name(t->dtype));
}

static TsrStatus add_named_column(NamedColumns *c, const TsrItem *item) {
    const TsrTensor *t = item->tensor;
    TSR_TRY(check_cells(t));
    if (tsr_ndim(t) > 1)
        return tsr_error(TSR_VALUE_ERROR, "a column with a name has 1 dimension, '%.100s' has %d", item->name,
                         tsr_ndim(t));
    if (c->n > 0 && t->numel != c->rows)
        return tsr_error(TSR_VALUE_ERROR, "'%.100s' has %lld rows, those before it %lld", item->name,
                         (long long)t->numel, (long long)c->rows);
    c->rows = t->numel;
    TSR_TRY(tsr_tensor_new_contiguous(&c->columns[c->n], t, TSR_CONTIGUOUS));
    c->n++;
    return TSR_OK;
}

static TsrStatus write_named_rows(TsrSink *sink, const NamedColumns *c, char delimiter, const TsrSaveOptions *options) {
    char text[CELL];
    Word na;
    TSR_TRY(word_for_nan(&na, options, c->n, delimiter));
    for (int64_t row = 0; row < c->rows; row++) {
        if ((row & 1023) == 0) TSR_TRY(tsr_interrupt_check());
        for (int i = 0; i < c->n; i++) {
            const TsrTensor *t = c->columns[i];
            const char *cell = (const char *)tsr_data(t) + row * (int64_t)tsr_itemsize(t);
            size_t length = format_cell(text, tsr_scalar_load(t->dtype, cell), t->dtype, options->precision, &na);
            text[length] = i + 1 < c->n ? delimiter : '\n';
            tsr_sink_write(sink, text, length + 1);
        }
    }
    return sink->status;
}

static TsrStatus write_keys(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    if (options->no_header) return TSR_OK;
    const char **names = tsr_malloc((size_t)items->n * sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)items->n * sizeof *names);
    for (int i = 0; i < items->n; i++) names[i] = items->items[i].name;
    TsrStatus status = write_header(sink, names, items->n, delimiter);
    tsr_free(names);
    return status;
}

static TsrStatus write_named(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    NamedColumns c = {.columns = tsr_calloc((size_t)items->n, sizeof *c.columns)};
    TsrStatus status = c.columns != NULL ? TSR_OK : tsr_error_no_memory((size_t)items->n * sizeof *c.columns);
    for (int i = 0; i < items->n && status == TSR_OK; i++) status = add_named_column(&c, &items->items[i]);
    if (status == TSR_OK)
        status = options->header != NULL ? write_given_header(sink, options, items->n, delimiter)
                                         : write_keys(sink, items, options, delimiter);
    if (status == TSR_OK) status = write_named_rows(sink, &c, delimiter, options);
    for (int i = 0; i < c.n; i++) tsr_tensor_free(c.columns[i]);
    tsr_free(c.columns);
    return status;
}

static TsrStatus write_delimited(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options, char delimiter) {
    TsrTensor *t, *dense;
    if (options->delimiter != 0) delimiter = options->delimiter;
    if (!items->single && items->n > 0) return write_named(sink, items, options, delimiter);
    TSR_TRY(tsr_items_only(&t, items, "csv"));
    if (tsr_ndim(t) > 2)
        return tsr_error(TSR_VALUE_ERROR, "a table has at most 2 dimensions, this tensor has %d", tsr_ndim(t));
    TSR_TRY(check_cells(t));
    TSR_TRY(write_given_header(sink, options, tsr_ndim(t) == 2 ? t->sizes[1] : 1, delimiter));
    TSR_TRY(tsr_tensor_new_contiguous(&dense, t, TSR_CONTIGUOUS));
    TsrStatus status = write_table(sink, dense, delimiter, options);
    tsr_tensor_free(dense);
    return status;
}

TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, ',');
}
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options) {
    return write_delimited(sink, items, options, '\t');
}
