/* csv.c: tables of numbers as text: comma, tab, semicolon or runs of spaces between fields.
 * Two passes over blocks of lines, both on all threads: the first counts rows, the second parses every block straight
 * into its place of the result. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "csv.h"
#include "core/io/formats.h"
#include "core/layout.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/parallel.h"
#include "core/table.h"
#include "core/view.h"

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

/* Whether words alone stand there as a table has them: the first two lines have the same number of fields, two or
 * more, between commas, tabs or semicolons. */
static bool begins_with_rows(const char *data, const char *end) {
    const char *stop = line_end(data, end), delimiter = detect_delimiter(data, stop);
    int64_t n = delimiter != ' ' ? count_fields(data, stop, delimiter) : 0;
    if (n < 2 || stop == end) return false;
    const char *below = line_end(stop + 1, end);
    return below < end && count_fields(stop + 1, below, delimiter) == n;
}

bool tsr_csv_probe(const char *data, size_t size) {
    size_t looked = TSR_MIN(size, (size_t)4096), i = 0;
    while (i < looked && (data[i] < '0' || data[i] > '9')) i++;
    bool value =
        i < looked || (size > 0 && (begins_with_value(data, data + looked) || begins_with_rows(data, data + looked)));
    return value && data[0] != '[' && data[0] != '{' && tsr_csv_is_text(data, size);
}

/* ---- blocks ---- */

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

bool tsr_csv_parse_real(const Table *t, Block *b, int64_t column, const char *begin, const char *end, double *cell) {
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

void tsr_csv_put_place(const Table *t, int64_t row, int64_t k, const char *before, const char *text,
                       const char *text_end) {
    bool outside = text == text_end && !(text > before && text[-1] == '"');
    const char *begin = outside ? before : text;
    if (k < t->columns)
        t->places[row * t->columns + k] =
            (TsrPlace){(size_t)(begin - t->in->data), (size_t)((outside ? before : text_end) - t->in->data)};
}

/* Field k of the row whose cells are given, unless it is not taken. False: the block has noted what is wrong. */
static bool parse_field(const Table *t, Block *b, int64_t k, const char *text, const char *text_end, char *cells) {
    void *cell = cells + k * 8;
    if (k >= t->columns || (t->skipped != NULL && t->skipped[k])) return true;
    if (t->dtype == TSR_INT64 ? parse_integer(t, text, text_end, cell)
                              : tsr_csv_parse_real(t, b, k, text, text_end, cell))
        return true;
    b->bad_column = k + 1;
    b->bad_text = text;
    b->bad_length = (size_t)(text_end - text);
    return false;
}

static bool parse_line(const Table *t, Block *b, const char *p, const char *end, char *cells) {
    bool last = false;
    if (t->dtype == TSR_FLOAT64 && t->delimiter != ' ' && t->skipped == NULL && t->na == NULL && t->places == NULL) {
        const char *rest;
        if (parse_plain(t, b, p, end, (double *)(void *)cells, &rest) == t->columns && rest == end) return true;
    }
    int64_t k = 0, most = fields_looked_at(t);
    for (; !last && k < most && !tsr_interrupted_at(k); k++) {
        const char *text, *text_end, *before = p;
        next_field(&p, end, t->delimiter, &text, &text_end, &last);
        if (t->places != NULL) tsr_csv_put_place(t, (cells - t->cells) / (8 * t->columns), k, before, text, text_end);
        if (!parse_field(t, b, k, text, text_end, cells)) return false;
    }
    for (; t->ragged && k < t->needed; k++)
        if (!parse_field(t, b, k, end, end, cells)) return false;
    b->bad_column = 0;
    b->bad_fields = k;
    return k == t->needed;
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

bool tsr_csv_means_missing(const char *cell) {
    static const char *const words[] = {"NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "null", "None", "?", "-", "."};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (strcmp(cell, words[i]) == 0) return true;
    return false;
}

/* Words stand in columns with names: those of a header, or the numbers that --header no asks for. */
static void hint_about_words(const Table *t, const Block *b) {
    if (t->dtype == TSR_INT64 && t->kinds == NULL)
        tsr_error_hint("--columns, or load(path, columns='a,c'), takes the columns that hold whole numbers");
    else if (t->guess != NOT_GUESSED && t->names == NULL && b->bad_line == t->first_line)
        tsr_error_hint("if line %lld is a header, --header yes, or header=True, says so; --header no reads columns of "
                       "words, too",
                       (long long)t->first_line);
    else if (t->names != NULL)
        tsr_error_hint("--text, or load(path, text='a,c'), names columns that are words; --columns takes some");
    else tsr_error_hint("--header no, or header=False, reads columns of words, too; --columns 0,2 takes some");
}

static bool has_byte(const char *p, const char *end, char byte) {
    for (size_t piece; p < end && tsr_interrupt_flag == 0; p += piece) {
        piece = TSR_MIN((size_t)(end - p), (size_t)1 << 24);
        if (memchr(p, byte, piece) != NULL) return true;
    }
    return false;
}

/* Whether the first row is one field with `c` in it, as the cell of block `b` is that is no number. */
static bool may_separate(const Table *t, const Block *b, char c) {
    bool first = t->header != NULL ? has_byte(t->header, t->header_end, c) : b->bad_line == t->first_line;
    return t->columns == 1 && first;
}

/* What to do about a cell that is no number. */
static void hint_about(const Table *t, const Block *b, const char *cell) {
    size_t numeric = strspn(cell, "0123456789,.-");
    const char *separator = strpbrk(cell, "|:");
    if (tsr_csv_means_missing(cell))
        tsr_error_hint("an empty cell is nan, and with --na '%s', or load(path, na='%s'), one that says so", cell,
                       cell);
    else if (cell[0] == '#') tsr_error_hint("grep -v '^#' leaves lines that begin with # out");
    else if (strstr(cell, "\\x0d") != NULL)
        tsr_error_hint("lines that end in a carriage return alone: tr '\\r' '\\n' mends them");
    else if (t->delimiter == ',' && cell[numeric] == ';')
        tsr_error_hint(
            "--delimiter ';' separates fields there; --decimal , or load(path, decimal=','), reads decimal commas");
    else if (t->delimiter == ' ' && cell[numeric] == '\0' && strchr(cell, ',') != NULL)
        tsr_error_hint("the first line, where no comma stands, tells what separates fields: --delimiter , does, too");
    else if (t->delimiter != ',' && tsr_csv_has_decimal_comma(cell, cell + strlen(cell)))
        tsr_error_hint("--decimal , or load(path, decimal=','), reads numbers with a decimal comma");
    else if (separator != NULL && cell[strspn(cell, "0123456789.|:")] == '\0' && may_separate(t, b, *separator))
        tsr_error_hint("--delimiter '%c' separates fields there", *separator);
    else hint_about_words(t, b);
}

static TsrStatus report_length(const Table *t, const Block *b) {
    const char *s = b->bad_fields == 1 ? "" : "s";
    TsrStatus status =
        t->needed < t->columns
            ? tsr_input_error(t->in, "line %lld has %lld field%s, and the columns that are taken reach to field %lld",
                              (long long)b->bad_line, (long long)b->bad_fields, s, (long long)t->needed)
            : tsr_input_error(t->in, "line %lld has %lld field%s, the first row has %lld", (long long)b->bad_line,
                              (long long)b->bad_fields, s, (long long)t->columns);
    tsr_error_hint("--ragged, or load(path, ragged=True), fills short rows with missing cells and cuts long ones");
    return status;
}

static TsrStatus report_bad(const Table *t, const Block *b) {
    char shown[440];
    if (b->bad_column == 0) return report_length(t, b);
    tsr_io_quote(shown, b->bad_text, b->bad_length);
    bool digits = b->bad_length > 0 && shown[shown[0] == '-'] != '\0' &&
                  shown[(shown[0] == '-') + strspn(shown + (shown[0] == '-'), "0123456789")] == '\0';
    TsrStatus status =
        digits ? tsr_input_error(t->in, "line %lld, column %lld: %s does not fit torch.%s", (long long)b->bad_line,
                                 (long long)b->bad_column, shown, tsr_dtype_name(t->result))
               : tsr_input_error(t->in, "line %lld, column %lld: '%s' is not %s", (long long)b->bad_line,
                                 (long long)b->bad_column, shown, t->dtype == TSR_INT64 ? "an integer" : "a number");
    if (!digits) hint_about(t, b, shown);
    return status;
}

/* Whether one of the blanks' fields of a line is no number. */
static bool has_words(const char *p, const char *end) {
    const char *text, *text_end;
    for (bool last = false; !last;) {
        next_field(&p, end, ' ', &text, &text_end, &last);
        if (!is_number(text, text_end) && text < text_end) return true;
    }
    return false;
}

/* Whether blanks stand within fields, "John Smith" or a date and a time below a name alone, and separate none: told by
 * the first of the rows behind `p` that has any. */
static bool are_blanks_inside(const Table *t, const char *p) {
    enum { LOOKED = 1000 };
    int64_t lines;
    for (int i = 0; i < LOOKED && p < t->end; i++) {
        const char *stop = next_record(t, p, t->end, &lines);
        while (p < stop && *p == ' ') p++;
        if (!blank_line(p, stop) && count_fields(p, stop, ' ') > 1) return has_words(p, stop);
        p = stop + 1;
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
    const char told = told_delimiter(p, stop);
    if (told != 0 && stop + 1 < t->end) {
        t->body_line += lines;
        p = stop + 1;
        stop = next_record(t, p, t->end, &lines);
    }
    t->delimiter = options->delimiter != 0                                          ? options->delimiter
                   : told != 0                                                      ? told
                   : options->format != NULL && strcmp(options->format, "tsv") == 0 ? '\t'
                                                                                    : detect_delimiter(p, stop);
    while (p < stop && t->delimiter == ' ' && *p == ' ') p++;
    t->needed = t->columns = count_fields(p, stop, t->delimiter);
    if (t->columns == 1 && t->delimiter == ' ' && options->delimiter == 0 && are_blanks_inside(t, stop + 1))
        t->delimiter = ',';
    const char *returned = memchr(p, '\r', (size_t)(stop - p));
    if (returned != NULL && returned + 1 < stop && !t->quoted) {
        TsrStatus status = tsr_input_error(in, "line %lld has a carriage return inside", (long long)t->body_line);
        tsr_error_hint("lines that end in a carriage return alone: tr '\\r' '\\n' mends them");
        return status;
    }
    if (options->header < 0) tsr_csv_guess_header(t, p, stop, options->na);
    bool header = options->header == 1 || t->guess == HEADER_OF_WORDS || t->guess == HEADER_OF_NUMBERS;
    t->first_line = t->body_line;
    if (header) {
        t->header = p;
        t->header_end = stop;
        t->body_line += lines;
    }
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
        TSR_TRY(tsr_interrupt_check_at(n));
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

int64_t tsr_csv_find_column(const Table *t, const char *name) {
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

TsrStatus tsr_csv_no_column(const Table *t, const char *name) {
    char shown[440];
    TsrStatus status =
        tsr_input_error(t->in, "it has no column '%s' (%lld columns%s)", tsr_io_quote(shown, name, strlen(name)),
                        (long long)t->columns, t->names == NULL ? ", no header" : "");
    hint_about_names(t);
    return status;
}

static TsrStatus want_column(Table *t, const char *name) {
    char shown[440];
    int64_t column = tsr_csv_find_column(t, name);
    if (t->nwanted == MAX_WANTED) return tsr_error(TSR_VALUE_ERROR, "more than %d columns are named", MAX_WANTED);
    if (column < 0) return tsr_csv_no_column(t, name);
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
    while (!t->once && t->needed > 0 && t->skipped[t->needed - 1]) t->needed--;
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

TsrStatus tsr_csv_make_places(Table *t, int64_t rows) {
    if (!t->once) return TSR_OK;
    tsr_free(t->places);
    return new_places(&t->places, rows, t->columns);
}

TsrStatus tsr_csv_count(int64_t *rows, Table *t) {
    int64_t line = t->body_line, cells;
    *rows = 0;
    split_blocks(t);
    TSR_TRY(tsr_interrupt_check());
    TSR_TRY(tsr_parallel_for(t->nblocks, 1, count_blocks, t));
    TSR_TRY(tsr_interrupt_check());
    for (int i = 0; i < t->nblocks; i++) {
        t->blocks[i].first_line = line;
        t->blocks[i].first_row = *rows;
        line += t->blocks[i].lines;
        *rows += t->blocks[i].rows;
    }
    /* No more cells than the file has bytes for: a first row of delimiters cannot ask for more memory than it may fill.
     * Where rows may be short, a byte stands for at most 32. */
    int64_t most = fields_looked_at(t) < INT64_MAX ? 32 : 2;
    if (tsr_mul_overflows(*rows, t->columns, &cells) || (t->columns > 1 && cells / most > t->end - t->body))
        return tsr_input_error(t->in, "%lld columns in the first row, too few in the others", (long long)t->columns);
    return TSR_OK;
}

TsrStatus tsr_csv_check_blocks(const Table *t) {
    TSR_TRY(tsr_interrupt_check());
    for (int i = 0; i < t->nblocks; i++)
        if (t->blocks[i].bad_line != 0) return report_bad(t, &t->blocks[i]);
    return TSR_OK;
}

static TsrStatus parse_table(TsrTensor **out, Table *t) {
    int64_t rows;
    TSR_TRY(tsr_csv_count(&rows, t));
    TSR_TRY(tsr_tensor_new(out, 2, (int64_t[]){rows, t->columns}, t->dtype, TSR_DEVICE_CPU));
    t->cells = tsr_data(*out);
    TSR_TRY(tsr_csv_make_places(t, rows));
    TSR_TRY(tsr_parallel_for(t->nblocks, 1, parse_blocks, t));
    return tsr_csv_check_blocks(t);
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
    columns->source = tsr_source_retain(t->source);
    for (int64_t k = 0; k < columns->n; k++) columns->fields[k] = (int32_t)(t->nwanted > 0 ? t->wanted[k] : k);
    return TSR_OK;
}

/* The places of the cells that are taken, to the caller. */
static TsrStatus give_places(TsrPlaces *out, Table *t, int64_t rows) {
    const int64_t columns = t->nwanted > 0 ? t->nwanted : t->columns;
    if (out == NULL) return TSR_OK;
    if (t->nwanted > 0) TSR_TRY(new_places(&t->picked, rows, t->nwanted));
    TSR_IN_PIECES(r, rows)
    for (int64_t k = 0; k < t->nwanted; k++) t->picked[r * columns + k] = t->places[r * t->columns + t->wanted[k]];
    TsrPlace **given = t->nwanted > 0 ? &t->picked : &t->places;
    out->of = *given;
    out->n = out->room = (size_t)(rows * columns);
    *given = NULL;
    return TSR_OK;
}

static TsrStatus finish_table(TsrTensor **table, Table *t, const TsrLoadOptions *options) {
    int64_t rows = (*table)->sizes[0];
    TSR_TRY(give_places(options->places, t, rows));
    if (t->nwanted > 0) TSR_TRY(pick_columns(table, t));
    TSR_TRY(convert_table(table, t, options->dtype));
    return name_columns(*table, t);
}

static TsrStatus note_rounding(TsrItems *out, const Table *t) {
    for (int i = 0; i < t->nblocks; i++)
        if (t->blocks[i].rounded_line != 0)
            return tsr_note_rounding(out, t->in, t->blocks[i].rounded_line, t->blocks[i].rounded_column, t->keeper);
    return TSR_OK;
}

/* Digits behind a zero that a number does not keep: those of postal codes and accounts. Three may be a plain number. */
static bool is_padded(const char *text, const char *text_end) {
    enum { LEAST = 4 };
    if (text_end - text < LEAST || *text != '0') return false;
    return behind_digits(text, text_end) == text_end;
}

static bool is_number_column(const Table *t, int64_t k) {
    if (k >= t->columns || (t->skipped != NULL && t->skipped[k])) return false;
    return t->kinds == NULL || (t->kinds[k] != CELL_TEXT && t->kinds[k] != CELL_TIME);
}

/* That the first row has such a cell in a column of numbers under a name. */
static TsrStatus note_padding(TsrItems *out, const Table *t) {
    const char *p = t->body, *stop = p, *text, *text_end;
    char shown[440], name[440];
    int64_t lines, line = t->body_line;
    for (; p < t->end && t->names != NULL; p = stop + 1, line += lines) {
        stop = next_record(t, p, t->end, &lines);
        if (!blank_line(p, stop)) break;
    }
    bool last = t->names == NULL || t->result != TSR_DTYPE_NONE || p >= t->end;
    for (int64_t k = 0; !last; k++) {
        next_field(&p, stop, t->delimiter, &text, &text_end, &last);
        if (!is_padded(text, text_end) || !is_number_column(t, k)) continue;
        return tsr_items_note(out, t->in, "line %lld, column %lld: '%s' is read as a number; --text %s reads words",
                              (long long)line, (long long)k + 1, tsr_io_quote(shown, text, (size_t)(text_end - text)),
                              tsr_io_quote(name, t->names[k], strlen(t->names[k])));
    }
    return TSR_OK;
}

/* What the beginning of the text, [begin, t->end), says of the table. */
static TsrStatus begin_table(Table *t, TsrInput *in, const TsrLoadOptions *options, const char *begin) {
    t->marked = t->end - begin >= 3 && memcmp(begin, "\xef\xbb\xbf", 3) == 0;
    if (t->marked) begin += 3;
    if (options->dtype != TSR_DTYPE_NONE && !tsr_dtype_is_pod(options->dtype))
        return tsr_input_error(in, "a table of numbers can't be torch.%s", tsr_dtype_name(options->dtype));
    t->in = in;
    t->result = options->dtype;
    t->keeper = TSR_DTYPE_NONE;
    t->na = options->na;
    t->once = options->places != NULL;
    t->ragged = options->ragged && !t->once;
    t->dtype = options->dtype != TSR_DTYPE_NONE && tsr_dtype_is_integral(options->dtype) ? TSR_INT64 : TSR_FLOAT64;
    TSR_TRY(examine(t, in, options, begin));
    TSR_TRY(read_names(t));
    if (options->columns != NULL) TSR_TRY(want_columns(t, options->columns));
    return tsr_csv_find_kinds(t, options->text);
}

static bool has_rounded(const Table *t) {
    for (int i = 0; i < t->nblocks; i++)
        if (t->blocks[i].rounded_line != 0) return true;
    return false;
}

/* The integer dtype as which the text of all these numbers can be read. */
static TsrDtype keeper_of(const Table *t, const TsrTensor *table) {
    const double *cells = (const double *)tsr_data(table);
    bool negative = false, large = false;
    for (const char *c = ".eE"; *c != '\0'; c++)
        if (has_byte(t->body, t->end, *c)) return TSR_DTYPE_NONE;
    for (int64_t i = 0; i < table->numel; i++) {
        if (!(cells[i] >= -0x1p63 && cells[i] < 0x1p64)) return TSR_DTYPE_NONE;
        negative |= cells[i] < 0;
        large |= cells[i] >= 0x1p63;
    }
    return !large ? TSR_INT64 : negative ? TSR_DTYPE_NONE : TSR_UINT64;
}

/* Whether a column under a name has whole numbers that an integer dtype would keep and float64 has not: ids. Where
 * places are asked for, so is what the elements are to be. */
static bool has_ids(const Table *t, const TsrPlaces *places) {
    bool rounded = false;
    for (int i = 0; i < t->nblocks; i++) rounded |= t->blocks[i].rounded_line != 0 && t->blocks[i].rounded_fits;
    return rounded && t->names != NULL && t->result == TSR_DTYPE_NONE && (places == NULL || places->tables);
}

static TsrStatus read_columns(TsrItems *out, Table *t, const TsrLoadOptions *options) {
    TSR_TRY(tsr_csv_read_columns(&out->table, t, options->dtype));
    return give_places(options->places, t, out->table->rows);
}

/* All columns are numbers, and the table is read again by columns, each of which has a dtype of its own. */
static TsrStatus read_by_columns(TsrItems *out, Table *t, const TsrLoadOptions *options) {
    t->kinds = tsr_malloc_array((size_t)t->columns, sizeof *t->kinds);
    if (t->kinds == NULL) return tsr_error_no_memory((size_t)t->columns * sizeof *t->kinds);
    for (int64_t k = 0; k < t->columns; k++) t->kinds[k] = CELL_NUMBER;
    t->nblocks = 0;
    return read_columns(out, t, options);
}

/* That of a table in pieces, which goes along with the first of them. */
static TsrStatus keep_header(TsrSource *s, const Table *t) {
    const size_t n = (size_t)(t->header_end - t->header);
    s->own_head = tsr_mem_text(t->header, n);
    if (s->own_head == NULL) return tsr_error_no_memory(n + 1);
    s->head = s->own_head;
    s->head_end = s->own_head + n;
    return TSR_OK;
}

/* The text is kept for those who write cells of it again, but not of whoever asks for the places of its numbers. */
static TsrStatus keep_text(Table *t, TsrInput *in) {
    TsrDataPtr hold;
    ptrdiff_t away;
    if (t->once || t->columns > INT32_MAX) return TSR_OK;
    TSR_TRY(tsr_input_keep(&hold, &away, in));
    TSR_TRY(tsr_source_new_move(&t->source, &hold));
    TsrSource *s = t->source;
    s->begin = t->body + away;
    s->end = t->end + away;
    bool head = t->header != NULL && t->header >= in->data && t->header < t->end; /* not in an earlier piece */
    s->head = head ? t->header + away : NULL;
    s->head_end = head ? t->header_end + away : NULL;
    if (t->header != NULL && !head) TSR_TRY(keep_header(s, t));
    s->columns = t->columns;
    s->delimiter = t->delimiter;
    s->quoted = t->quoted;
    s->marked = t->marked;
    const char *first = head ? t->header : t->body, *stop = line_end(first, t->end);
    s->returns = stop < t->end && stop > first && stop[-1] == '\r';
    s->na = t->na != NULL ? tsr_mem_text(t->na, strlen(t->na)) : NULL;
    return t->na != NULL && s->na == NULL ? tsr_error_no_memory(strlen(t->na) + 1) : TSR_OK;
}

/* The rows of the body. `first`: no piece of the table came before. */
static TsrStatus read_body(TsrItems *out, Table *t, TsrInput *in, const TsrLoadOptions *options, bool first) {
    TsrTensor *table = NULL;
    TSR_TRY(keep_text(t, in));
    if (t->kinds != NULL) return read_columns(out, t, options);
    TsrStatus status = parse_table(&table, t);
    if (status == TSR_OK && first && has_ids(t, options->places)) {
        tsr_tensor_free(table);
        return read_by_columns(out, t, options);
    }
    if (status == TSR_OK && has_rounded(t)) t->keeper = keeper_of(t, table);
    if (status == TSR_OK) status = finish_table(&table, t, options);
    if (status == TSR_OK) return tsr_items_single_move(out, table);
    tsr_tensor_free(table);
    return status;
}

static void free_table(Table *t) {
    tsr_free(t->places);
    tsr_free(t->picked);
    tsr_free(t->skipped);
    tsr_free(t->names);
    tsr_free(t->kinds);
    tsr_free(t->styles);
    tsr_source_free(t->source);
    tsr_text_free(&t->text);
    tsr_free(t);
}

TsrStatus tsr_csv_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options) {
    Table *t = tsr_calloc(1, sizeof *t);
    TsrLoadOptions mended = *options;
    if (t == NULL) return tsr_error_no_memory(sizeof *t);
    TsrStatus status = options->decimal_comma ? tsr_csv_mend_decimals(in, &mended) : TSR_OK;
    options = &mended;
    t->end = in->data + in->size;
    if (status == TSR_OK) status = begin_table(t, in, options, in->data);
    if (status == TSR_OK) status = read_body(out, t, in, options, true);
    if (status == TSR_OK) status = note_rounding(out, t);
    if (status == TSR_OK) status = tsr_csv_note_header(out, t);
    if (status == TSR_OK) status = note_padding(out, t);
    free_table(t);
    return status;
}

/* ---- in pieces ---- */

/* `before`: the kinds of the columns in the pieces so far, where the table is no tensor. */
struct TsrCsvPieces {
    Table t;
    CellKind *before;
    char *header; /* a copy: the text that it was read from moves when a piece needs more of it. NULL: there is none */
    bool noted;
};

static TsrStatus copy_header(TsrCsvPieces *p) {
    Table *t = &p->t;
    if (t->header == NULL) return TSR_OK;
    size_t n = (size_t)(t->header_end - t->header);
    p->header = tsr_malloc(n + 1);
    if (p->header == NULL) return tsr_error_no_memory(n + 1);
    memcpy(p->header, t->header, n);
    t->header = p->header;
    t->header_end = p->header + n;
    return TSR_OK;
}

TsrStatus tsr_csv_pieces_new(TsrCsvPieces **out, size_t *body, TsrInput *in, const TsrLoadOptions *options,
                             const char *parsed) {
    TsrCsvPieces *p = tsr_calloc(1, sizeof *p);
    if (p == NULL) return tsr_error_no_memory(sizeof *p);
    Table *t = &p->t;
    t->end = in->data + in->size;
    TsrStatus status = begin_table(t, in, options, in->data);
    if (status == TSR_OK) status = copy_header(p);
    if (status == TSR_OK && parsed != NULL && options->columns == NULL) status = want_columns(t, parsed);
    size_t columns = (size_t)t->columns;
    if (status == TSR_OK) {
        p->before = tsr_malloc_array(columns, sizeof *p->before);
        t->styles = tsr_calloc(columns, sizeof *t->styles);
        if (p->before == NULL || t->styles == NULL) status = tsr_error_no_memory(columns * sizeof *t->styles);
    }
    if (status != TSR_OK) {
        tsr_csv_pieces_free(p);
        return status;
    }
    *body = (size_t)(t->body - in->data);
    *out = p;
    return TSR_OK;
}

void tsr_csv_pieces_free(TsrCsvPieces *p) {
    if (p == NULL) return;
    tsr_free(p->before);
    tsr_free(p->header);
    free_table(&p->t); /* its first member: the whole of it */
}

/* A column is one thing in all pieces. */
static TsrStatus check_kinds(const TsrCsvPieces *p, const TsrInput *in) {
    static const char *const held[] = {[CELL_BOOL] = "truth values",
                                       [CELL_NUMBER] = "numbers",
                                       [CELL_INTEGER] = "whole numbers that float64 has not",
                                       [CELL_UNSIGNED] = "whole numbers beyond int64",
                                       [CELL_FLOAT] = "fractions",
                                       [CELL_TIME] = "times",
                                       [CELL_TEXT] = "words"};
    const Table *t = &p->t;
    char shown[440];
    for (int64_t k = 0; k < t->columns; k++) {
        if (t->kinds[k] == p->before[k]) continue;
        const char *name = t->names != NULL ? t->names[k] : "";
        tsr_input_error(in, "from line %lld on its column '%s' holds %s, before it %s", (long long)t->body_line,
                        tsr_io_quote(shown, name, strlen(name)), held[t->kinds[k]], held[p->before[k]]);
        tsr_error_hint("read in pieces a column is one thing: --text, or text=, names columns that are words; "
                       "load() reads all at once");
        return TSR_VALUE_ERROR;
    }
    return TSR_OK;
}

TsrStatus tsr_csv_pieces_next(TsrItems *out, TsrCsvPieces *p, TsrInput *in, const TsrLoadOptions *options, bool first) {
    Table *t = &p->t;
    if (has_byte(in->data, in->data + in->size, '\0')) return tsr_input_error(in, "it holds a NUL byte: not text");
    t->in = in;
    t->body = in->data;
    t->end = in->data + in->size;
    t->quoted = has_byte(t->body, t->end, '"');
    t->nblocks = 0;
    tsr_source_free(t->source);
    t->source = NULL;
    if (t->kinds != NULL) memcpy(p->before, t->kinds, (size_t)t->columns * sizeof *t->kinds);
    TSR_TRY(read_body(out, t, in, options, first));
    if (t->kinds != NULL && !first) TSR_TRY(check_kinds(p, in));
    if (first) TSR_TRY(tsr_csv_note_header(out, t));
    if (first) TSR_TRY(note_padding(out, t));
    if (!p->noted) TSR_TRY(note_rounding(out, t));
    p->noted |= out->rounded;
    t->header = NULL;
    t->marked = false;
    for (int i = 0; i < t->nblocks; i++) t->body_line += t->blocks[i].lines;
    return TSR_OK;
}
