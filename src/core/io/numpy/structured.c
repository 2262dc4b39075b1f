/* structured.c: .npy arrays of records as tables (structured.h). A column gathers its field of all records, in our
 * order of bytes; texts, of UCS-4 or bytes, end before the NULs that fill their field. A date that is none (NaT) is
 * missing. */
#include "structured.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/io/elements.h"
#include "core/io/formats.h"
#include "core/mem.h"
#include "core/number.h"
#include "core/table.h"

enum { FIELDS_MOST = 10000, FIELD_MOST = 1 << 24, DAY = 0, MONTHS = -1, YEARS = -12 };
static const int64_t not_a_time = INT64_MIN;
static const int64_t exact_most = INT64_C(1) << 53;

/* ---- the fields ---- */

/* The units of numpy.datetime64, and what they are in ours. */
static const struct {
    const char *name;
    TsrTimeUnit unit;
    int64_t scale;
} units[] = {
    {"Y", DAY, YEARS}, {"M", DAY, MONTHS}, {"W", DAY, 7},   {"D", DAY, 1},      {"h", 1, 3600},
    {"m", 1, 60},      {"s", 1, 1},        {"ms", 1000, 1}, {"us", 1000000, 1}, {"ns", 1000000000, 1},
};

/* "M8[us]". */
static bool read_time(TsrField *f, const char *code, size_t n) {
    if (n < 5 || memcmp(code, "M8[", 3) != 0 || code[n - 1] != ']') return false;
    for (size_t i = 0; i < TSR_COUNTOF(units); i++) {
        if (strlen(units[i].name) != n - 4 || memcmp(units[i].name, code + 3, n - 4) != 0) continue;
        f->kind = TSR_FIELD_TIME;
        f->unit = units[i].unit;
        f->scale = units[i].scale;
        f->size = 8;
        return true;
    }
    return false;
}

/* "m8[us]", "m8[25ns]", "m8": a count of that unit, whichever it is. */
static bool read_span(TsrField *f, const char *code, size_t n) {
    if (n < 2 || memcmp(code, "m8", 2) != 0 || n >= sizeof f->type) return false;
    if (n > 2 && (n < 5 || code[2] != '[' || code[n - 1] != ']')) return false;
    for (size_t i = 3; i + 1 < n; i++)
        if (strchr("YMWDhmsunpfa0123456789", code[i]) == NULL || code[i] == '\0') return false;
    f->kind = TSR_FIELD_SPAN;
    f->scale = 1;
    f->size = 8;
    return true;
}

/* "U7", "S3": a count of characters. */
static bool read_text(TsrField *f, const char *code, size_t n) {
    int64_t count;
    if (n < 2 || (code[0] != 'U' && code[0] != 'S' && code[0] != 'a')) return false;
    if (tsr_parse_int64(&count, code + 1, code + n) != code + n || count < 0 || count > FIELD_MOST) return false;
    f->kind = code[0] == 'U' ? TSR_FIELD_WIDE_TEXT : TSR_FIELD_BYTE_TEXT;
    f->size = (size_t)count * (code[0] == 'U' ? 4 : 1);
    return true;
}

/* "V4": bytes that nothing tells of. */
static bool read_padding(TsrField *f, const char *code, size_t n) {
    int64_t count;
    if (n < 2 || code[0] != 'V' || tsr_parse_int64(&count, code + 1, code + n) != code + n || count < 0 ||
        count > FIELD_MOST)
        return false;
    f->size = (size_t)count;
    return true;
}

TsrStatus tsr_record_add(TsrRecord *record, const TsrInput *in, const char *name, size_t name_length, const char *code,
                         size_t code_length) {
    char shown[440], which[440];
    bool marked = code_length > 0 && memchr("<>=|", code[0], 4) != NULL;
    TsrField f = {.name = name,
                  .name_length = name_length,
                  .dtype = TSR_DTYPE_NONE,
                  .big_endian = marked && code[0] == '>',
                  .offset = record->size,
                  .scale = 1};
    const char *type = code + marked;
    size_t n = code_length - marked;
    f.dtype = tsr_npy_dtype(type, n);
    bool padding = name_length == 0 && read_padding(&f, type, n);
    if (memchr(name, '\0', name_length) != NULL) return tsr_input_error(in, "a NUL in the name of a field");
    if (f.dtype == TSR_BOOL || (f.dtype != TSR_DTYPE_NONE && !tsr_dtype_is_complex(f.dtype)))
        f.size = tsr_dtype_size(f.dtype);
    else if (!padding && !read_time(&f, type, n) && !read_span(&f, type, n) && !read_text(&f, type, n))
        return tsr_input_error(in, "the dtype '%s' of its field '%s' is that of no column",
                               tsr_io_quote(shown, code, code_length), tsr_io_quote(which, name, name_length));
    if (record->n == FIELDS_MOST) return tsr_input_error(in, "records of more than %d fields", FIELDS_MOST);
    record->size += f.size;
    if (padding) return TSR_OK;
    if (f.kind != TSR_FIELD_NUMBER && n < sizeof f.type) memcpy(f.type, type, n);
    TSR_TRY(tsr_mem_grow(&record->fields, &record->room, record->n + 1, sizeof *record->fields));
    record->fields[record->n++] = f;
    return TSR_OK;
}

/* ---- reading ---- */

static void swap_into(char *out, const char *from, size_t n, bool swap) {
    for (size_t i = 0; i < n; i++) out[i] = from[swap ? n - 1 - i : i];
}

static TsrStatus gather_numbers(TsrTableColumn *c, const TsrField *f, const char *data, size_t step, int64_t rows) {
    TSR_TRY(tsr_tensor_new(&c->data, 1, &rows, f->dtype, TSR_DEVICE_CPU));
    char *to = tsr_data(c->data);
    for (int64_t i = 0; i < rows; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        swap_into(to + (size_t)i * f->size, data + (size_t)i * step, f->size, f->big_endian);
        if (f->dtype == TSR_BOOL) to[i] = to[i] != 0;
    }
    return TSR_OK;
}

static TsrTimeStyle style_of(TsrTimeUnit unit) {
    int8_t digits = unit == 1000 ? 3 : unit == 1000000 ? 6 : unit == 1000000000 ? 9 : 0;
    return (TsrTimeStyle){
        .separator = unit == DAY ? 0 : 'T', .seconds = unit != DAY, .point = digits > 0 ? '.' : 0, .digits = digits};
}

/* The mask is made with the first time that is none. */
static TsrStatus mark_missing(TsrTableColumn *c, int64_t row, int64_t rows) {
    if (c->missing == NULL) {
        TSR_TRY(tsr_tensor_new(&c->missing, 1, &rows, TSR_BOOL, TSR_DEVICE_CPU));
        memset(tsr_data(c->missing), 0, (size_t)rows);
    }
    ((bool *)tsr_data(c->missing))[row] = true;
    return TSR_OK;
}

/* The first day of a month that is counted from January 1970 on: by Hinnant's days_from_civil, of years from March. */
static bool first_day(int64_t *out, int64_t months) {
    if (months < -INT32_MAX || months > INT32_MAX) return false;
    int64_t year = 1970 + (months - (months % 12 + 12) % 12) / 12, month = (months % 12 + 12) % 12 + 1;
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400,
            of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;
    *out = era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
    return true;
}

/* A count of the field's unit as one of the column's. */
static bool scaled(int64_t *value, int64_t scale) {
    if (scale > 0) return !tsr_mul_overflows(*value, scale, value);
    return !tsr_mul_overflows(*value, -scale, value) && first_day(value, *value);
}

static TsrStatus gather_times(TsrTableColumn *c, const TsrInput *in, const TsrField *f, const char *data, size_t step,
                              int64_t rows) {
    TSR_TRY(tsr_tensor_new(&c->data, 1, &rows, TSR_INT64, TSR_DEVICE_CPU));
    c->kind = f->kind == TSR_FIELD_TIME ? TSR_COLUMN_TIMES : TSR_COLUMN_NUMBERS;
    c->unit = f->unit;
    c->style = style_of(f->unit);
    int64_t *to = tsr_data(c->data);
    for (int64_t i = 0; i < rows; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        swap_into((char *)&to[i], data + (size_t)i * step, 8, f->big_endian);
        if (to[i] == not_a_time) {
            TSR_TRY(mark_missing(c, i, rows));
            to[i] = 0;
        } else if (!scaled(&to[i], f->scale)) {
            return tsr_input_error(in, "record %" PRId64 ": a time beyond what int64 counts", i);
        }
    }
    return TSR_OK;
}

/* The character as UTF-8; what is none becomes U+FFFD. */
static TsrStatus put_character(TsrText *out, uint32_t c) {
    char bytes[4];
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = 0xfffd;
    if (c < 0x80) return tsr_text_putc(out, (char)c);
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
    bytes[0] = (char)(first[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++) bytes[i] = (char)(0x80 | (c >> 6 * (more - i) & 63));
    return tsr_text_append(out, bytes, (size_t)more + 1);
}

static TsrStatus read_word(TsrText *word, const TsrField *f, const char *at) {
    size_t unit = f->kind == TSR_FIELD_WIDE_TEXT ? 4 : 1, n = f->size;
    static const char nothing[4];
    word->length = 0;
    while (n > 0 && memcmp(at + n - unit, nothing, unit) == 0) n -= unit;
    for (size_t i = 0; i < n; i += unit) {
        uint32_t c = 0;
        swap_into((char *)&c, at + i, unit, f->big_endian);
        if (unit == 1 && c >= 0x80) TSR_TRY(tsr_text_append(word, at + i, 1)); /* UTF-8, as far as bytes tell */
        else TSR_TRY(put_character(word, c == 0 ? 0xfffd : c));
    }
    return TSR_OK;
}

static TsrStatus collect_words(TsrTableColumn *c, TsrWordSet *set, TsrText *word, const TsrField *f, const char *data,
                               size_t step, int64_t rows) {
    int64_t *to = tsr_data(c->data);
    for (int64_t i = 0; i < rows; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        TSR_TRY(read_word(word, f, data + (size_t)i * step));
        const char *bytes = word->data != NULL ? word->data : "";
        TSR_TRY(tsr_word_set_add(&to[i], set, bytes, word->length, tsr_word_hash(bytes, word->length)));
    }
    return tsr_word_set_new_words(&c->words, set);
}

static TsrStatus gather_words(TsrTableColumn *c, const TsrField *f, const char *data, size_t step, int64_t rows) {
    TsrWordSet set = {0};
    TsrText word = {0};
    c->kind = TSR_COLUMN_TEXT;
    TsrStatus status = tsr_tensor_new(&c->data, 1, &rows, TSR_INT64, TSR_DEVICE_CPU);
    if (status == TSR_OK) status = collect_words(c, &set, &word, f, data, step, rows);
    tsr_word_set_free(&set);
    tsr_text_free(&word);
    return status;
}

/* What the file calls the type of a column that is no plain number goes with it. */
static TsrStatus keep_type(TsrTableColumn *c, const TsrField *f) {
    TsrColumns *columns;
    if (f->type[0] == '\0') return TSR_OK;
    TSR_TRY(tsr_columns_new(&columns, NULL, 1, ','));
    memcpy(columns->type, f->type, sizeof f->type);
    tsr_columns_set_move(c->data, columns);
    return TSR_OK;
}

static TsrStatus add_column(TsrTable *table, const TsrInput *in, const TsrField *f, const char *data, size_t step) {
    TsrTableColumn c = {0};
    data += f->offset;
    bool times = f->kind == TSR_FIELD_TIME || f->kind == TSR_FIELD_SPAN;
    TsrStatus status = f->kind == TSR_FIELD_NUMBER ? gather_numbers(&c, f, data, step, table->rows)
                       : times                     ? gather_times(&c, in, f, data, step, table->rows)
                                                   : gather_words(&c, f, data, step, table->rows);
    if (status == TSR_OK) status = keep_type(&c, f);
    if (status == TSR_OK) return tsr_table_add_move(table, f->name, f->name_length, c);
    tsr_table_column_clear(&c);
    return status;
}

/* Whether float64 has all its numbers, and they are no differences of times. */
static bool is_plain(const TsrTableColumn *c) {
    if (c->kind != TSR_COLUMN_NUMBERS || c->missing != NULL || tsr_column_type(c->data)[0] != '\0') return false;
    TsrDtype dtype = c->data->dtype;
    if (dtype != TSR_INT64 && dtype != TSR_UINT64) return true;
    const int64_t *v = tsr_data(c->data);
    for (int64_t i = 0; i < c->data->numel; i++)
        if (v[i] > exact_most || v[i] < (dtype == TSR_INT64 ? -exact_most : 0)) return false;
    return true;
}

/* All columns beside one another, as numbers of float64. */
static TsrStatus new_matrix(TsrTensor **out, const TsrTable *t) {
    const int64_t sizes[] = {t->rows, t->n};
    TSR_TRY(tsr_tensor_new(out, 2, sizes, TSR_FLOAT64, TSR_DEVICE_CPU));
    double *to = tsr_data(*out);
    for (int j = 0; j < t->n; j++) {
        const TsrTensor *from = t->columns[j].data;
        const char *bytes = tsr_data(from);
        for (int64_t i = 0; i < t->rows; i++)
            to[i * t->n + j] =
                tsr_scalar_to_double(tsr_scalar_load(from->dtype, bytes + (size_t)i * tsr_itemsize(from)));
    }
    return TSR_OK;
}

static TsrStatus as_tensor(TsrItems *out, const TsrTable *t) {
    TsrTensor *matrix;
    TsrColumns *columns = NULL;
    const char **names = tsr_malloc((size_t)t->n * sizeof *names);
    if (names == NULL) return tsr_error_no_memory((size_t)t->n * sizeof *names);
    for (int j = 0; j < t->n; j++) names[j] = t->columns[j].name;
    TsrStatus status = new_matrix(&matrix, t);
    if (status == TSR_OK) {
        status = tsr_columns_new(&columns, names, t->n, ',');
        if (status == TSR_OK) tsr_columns_set_move(matrix, columns);
        if (status == TSR_OK) status = tsr_items_single_move(out, matrix);
        else tsr_tensor_free(matrix);
    }
    tsr_free(names);
    return status;
}

TsrStatus tsr_record_read(TsrItems *out, const TsrInput *in, const TsrRecord *record, size_t offset, int64_t rows) {
    TsrTable *table;
    bool plain = true;
    TSR_TRY(tsr_table_new(&table, rows));
    TsrStatus status = TSR_OK;
    for (size_t i = 0; i < record->n && status == TSR_OK; i++)
        status = add_column(table, in, &record->fields[i], in->data + offset, record->size);
    if (status == TSR_OK) status = tsr_check_names(in, table->columns, table->n, sizeof *table->columns);
    for (int i = 0; i < table->n && status == TSR_OK && plain; i++) plain = is_plain(&table->columns[i]);
    if (status == TSR_OK && plain) status = as_tensor(out, table);
    else if (status == TSR_OK) {
        out->table = table;
        return TSR_OK;
    }
    tsr_table_free(table);
    return status;
}

/* The table's only column as the tree's root; takes the table. */
static TsrStatus as_column_move(TsrItems *out, TsrTable *table) {
    TsrNode *node;
    TsrStatus status = tsr_tree_add(&node, &out->tree, TSR_NODE_TABLE);
    if (status != TSR_OK) {
        tsr_table_free(table);
        return status;
    }
    node->table = table;
    node->i = 1;
    out->tree.root = node;
    return TSR_OK;
}

TsrStatus tsr_record_read_column(TsrItems *out, const TsrInput *in, const TsrRecord *record, size_t offset,
                                 int64_t rows) {
    TsrTable *table;
    TSR_TRY(tsr_table_new(&table, rows));
    TsrStatus status = add_column(table, in, &record->fields[0], in->data + offset, record->size);
    const TsrTableColumn *c = status == TSR_OK ? &table->columns[0] : NULL;
    if (status == TSR_OK && (c->kind != TSR_COLUMN_NUMBERS || c->missing != NULL)) return as_column_move(out, table);
    if (status == TSR_OK) status = tsr_items_single_move(out, tsr_tensor_retain(c->data));
    tsr_table_free(table);
    return status;
}

/* ---- writing ---- */

/* The character of a word at byte *k, which moves behind it; U+FFFD for a byte that is not UTF-8. */
static uint32_t next_character(const TsrWords *words, size_t *k, size_t end) {
    const char *p = words->bytes + *k;
    size_t n = tsr_utf8_sequence(p, end - *k);
    *k += TSR_MAX(n, (size_t)1);
    if (n == 0) return 0xfffd;
    uint32_t c = n == 1 ? (unsigned char)*p : (unsigned char)*p & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) c = c << 6 | ((unsigned char)p[i] & 63);
    return c;
}

/* Characters of the longest word, or bytes. */
static int64_t widest(const TsrWords *words, bool bytes) {
    int64_t most = 1;
    for (int64_t i = 0; i < words->n; i++) {
        int64_t n = 0;
        for (size_t k = words->begin[i]; k < words->begin[i + 1]; n++)
            if (bytes) k++;
            else next_character(words, &k, words->begin[i + 1]);
        most = TSR_MAX(most, n);
    }
    return most;
}

/* As bytes where the file had bytes, as wide as there, or as the longest word. */
static void plan_text(TsrField *f, const TsrWords *words) {
    TsrField had = {0};
    bool known = read_text(&had, f->type, strlen(f->type)), bytes = known && had.kind == TSR_FIELD_BYTE_TEXT;
    const size_t unit = bytes ? 1 : 4;
    f->kind = bytes ? TSR_FIELD_BYTE_TEXT : TSR_FIELD_WIDE_TEXT;
    f->size = TSR_MAX((size_t)widest(words, bytes) * unit, known ? had.size : 0);
    snprintf(f->type, sizeof f->type, "%c%zu", bytes ? 'S' : 'U', f->size / unit);
}

/* The count of months since January 1970 of which this is the first day. */
static bool months_of(int64_t *months, int64_t day) {
    const int64_t days = 146097, as_months = 4800; /* of 400 years */
    int64_t first;
    if (day < -INT32_MAX * days / as_months || day > INT32_MAX * days / as_months) return false;
    *months = day * as_months / days;
    while (first_day(&first, *months + 1) && first <= day) ++*months;
    while (first_day(&first, *months) && first > day) --*months;
    return first_day(&first, *months) && first == day;
}

/* A count of the column's unit as one of the field's, where it is a whole one. */
static bool unscaled(int64_t *value, int64_t scale) {
    if (scale < 0 && !months_of(value, *value)) return false;
    if (scale < 0) scale = -scale;
    if (*value % scale != 0) return false;
    *value /= scale;
    return true;
}

static bool is_missing(const TsrTableColumn *c, int64_t row) {
    return c->missing != NULL && ((const bool *)tsr_data(c->missing))[row];
}

/* In the file's unit, where all times are whole ones of it; else in the column's. */
static TsrStatus plan_times(TsrField *f, const TsrTableColumn *c) {
    TsrField had = {0};
    const int64_t *times = tsr_data(c->data);
    bool fits = read_time(&had, f->type, strlen(f->type)) && had.unit == c->unit;
    for (int64_t i = 0; i < c->data->numel && fits; i++) {
        int64_t time = times[i];
        TSR_TRY(tsr_interrupt_check_at(i));
        fits = is_missing(c, i) || unscaled(&time, had.scale);
    }
    f->kind = TSR_FIELD_TIME;
    f->size = 8;
    f->scale = fits ? had.scale : 1;
    if (!fits) snprintf(f->type, sizeof f->type, "M8[%s]", tsr_time_unit_name(c->unit));
    return TSR_OK;
}

/* How a column is written; its name is lent. */
static TsrStatus plan_field(TsrField *f, const TsrTableColumn *c) {
    *f = (TsrField){.name = c->name, .name_length = strlen(c->name), .dtype = c->data->dtype, .scale = 1};
    snprintf(f->type, sizeof f->type, "%s", tsr_column_type(c->from != NULL ? c->from : c->data));
    if (c->kind == TSR_COLUMN_TEXT) return plan_text(f, c->words), TSR_OK;
    if (c->kind == TSR_COLUMN_TIMES) return plan_times(f, c);
    f->size = tsr_dtype_size(f->dtype);
    if (f->dtype == TSR_INT64 && f->type[0] == 'm') f->kind = TSR_FIELD_SPAN;
    for (int64_t i = 0; i < c->data->numel && f->kind == TSR_FIELD_NUMBER; i++)
        if (is_missing(c, i))
            return tsr_error(TSR_VALUE_ERROR, "npy has no number for what is missing in the column '%s'", c->name);
    return TSR_OK;
}

static TsrStatus put_name(TsrText *out, const char *name) {
    TSR_TRY(tsr_text_putc(out, '\''));
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '\'' || *p == '\\') TSR_TRY(tsr_text_putc(out, '\\'));
        if (*p == '\n') TSR_TRY(tsr_text_puts(out, "\\n"));
        else TSR_TRY(tsr_text_putc(out, *p));
    }
    return tsr_text_putc(out, '\'');
}

static TsrStatus put_type(TsrText *out, const TsrField *f) {
    if (f->kind == TSR_FIELD_BYTE_TEXT) return tsr_text_printf(out, "'|%s'", f->type);
    if (f->kind != TSR_FIELD_NUMBER) return tsr_text_printf(out, "'<%s'", f->type);
    const char *code = tsr_npy_code(f->dtype);
    if (code == NULL) return tsr_error(TSR_VALUE_ERROR, "npy has no dtype for torch.%s", tsr_dtype_name(f->dtype));
    return tsr_text_printf(out, "'%c%s'", f->size == 1 ? '|' : '<', code);
}

static TsrStatus put_header(TsrText *out, const TsrField *fields, int n, int64_t rows) {
    TSR_TRY(tsr_text_puts(out, "{'descr': ["));
    for (int i = 0; i < n; i++) {
        TSR_TRY(tsr_text_puts(out, i > 0 ? ", (" : "("));
        TSR_TRY(put_name(out, fields[i].name));
        TSR_TRY(tsr_text_puts(out, ", "));
        TSR_TRY(put_type(out, &fields[i]));
        TSR_TRY(tsr_text_putc(out, ')'));
    }
    return tsr_text_printf(out, "], 'fortran_order': False, 'shape': (%" PRId64 ",), }", rows);
}

/* The words as UCS-4 or as they are, filled up with NULs. */
static TsrStatus put_word(TsrText *out, const TsrField *f, const TsrTableColumn *column, int64_t row) {
    const TsrWords *words = column->words;
    int64_t word = ((const int64_t *)tsr_data(column->data))[row];
    size_t done = 0, k = words->begin[word], end = words->begin[word + 1];
    if (f->kind == TSR_FIELD_BYTE_TEXT) {
        TSR_TRY(tsr_text_append(out, words->bytes + k, done = end - k));
        k = end;
    }
    for (; k < end; done += 4) {
        uint32_t c = next_character(words, &k, end);
        TSR_TRY(tsr_text_append(out, (const char *)&c, 4));
    }
    return tsr_text_pad(out, '\0', f->size - done);
}

static TsrStatus put_number(TsrText *out, const TsrField *f, const TsrTableColumn *c, int64_t row) {
    int64_t time;
    const char *at = (const char *)tsr_data(c->data) + (size_t)row * f->size;
    if (f->kind == TSR_FIELD_NUMBER) return tsr_text_append(out, at, f->size);
    memcpy(&time, at, sizeof time);
    if (is_missing(c, row)) time = not_a_time;
    else (void)unscaled(&time, f->scale);
    return tsr_text_append(out, (const char *)&time, sizeof time);
}

static TsrStatus put_record(TsrText *out, const TsrField *fields, const TsrTable *t, int64_t row) {
    for (int j = 0; j < t->n; j++) {
        const TsrTableColumn *c = &t->columns[j];
        TSR_TRY(c->kind == TSR_COLUMN_TEXT ? put_word(out, &fields[j], c, row) : put_number(out, &fields[j], c, row));
    }
    return TSR_OK;
}

static TsrStatus put_records(TsrSink *sink, TsrText *text, const TsrField *fields, const TsrTable *t) {
    for (int64_t i = 0; i < t->rows; i++) {
        TSR_TRY(tsr_interrupt_check_at(i));
        text->length = 0;
        TSR_TRY(put_record(text, fields, t, i));
        tsr_sink_write(sink, text->data, text->length);
    }
    return sink->status;
}

/* Of an array without fields. */
static TsrStatus put_plain_header(TsrText *out, const TsrField *field, int64_t rows) {
    TSR_TRY(tsr_text_puts(out, "{'descr': "));
    TSR_TRY(put_type(out, field));
    return tsr_text_printf(out, ", 'fortran_order': False, 'shape': (%" PRId64 ",), }", rows);
}

static TsrStatus write_table(TsrSink *sink, TsrText *text, TsrField *fields, const TsrTable *t, bool column) {
    for (int i = 0; i < t->n; i++) TSR_TRY(plan_field(&fields[i], &t->columns[i]));
    TSR_TRY(column ? put_plain_header(text, fields, t->rows) : put_header(text, fields, t->n, t->rows));
    TSR_TRY(tsr_npy_put_header(sink, text));
    return put_records(sink, text, fields, t);
}

TsrStatus tsr_record_write(TsrSink *sink, const TsrTable *table, bool column) {
    TsrText text = {0};
    TsrField *fields = tsr_calloc((size_t)TSR_MAX(table->n, 1), sizeof *fields);
    if (fields == NULL) return tsr_error_no_memory((size_t)table->n * sizeof *fields);
    TsrStatus status = write_table(sink, &text, fields, table, column);
    tsr_free(fields);
    tsr_text_free(&text);
    return status;
}
