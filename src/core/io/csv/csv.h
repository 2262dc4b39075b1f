/* csv.h: what the readers of text tables share: a table while it is read, in blocks of lines that threads take. */
#ifndef CORE_IO_CSV_CSV_H
#define CORE_IO_CSV_CSV_H

#include "csv_fields.h"
#include "core/io_table.h"
#include "core/memory/source.h"
#include "core/io/elements.h"

/* What the cells of a column are read as. One that does not fit sends its column on to a later kind of its group, and
 * the table is read again: from truth values to numbers, among these from floats to integers where one would be rounded
 * and back (CELL_FLOAT, which is final) where not all are; from times to words. */
typedef enum CellKind {
    CELL_BOOL,
    CELL_NUMBER,
    CELL_INTEGER,
    CELL_UNSIGNED,
    CELL_FLOAT,
    CELL_TIME,
    CELL_TEXT
} CellKind;

/* MAX_BLOCKS: parts of the text that threads parse; each notes its errors for itself. MAX_WANTED: columns that a list
 * of columns may name. */
enum { MAX_BLOCKS = 256, MAX_WANTED = 1024 };

typedef struct Block {
    const char *begin, *end; /* whole lines */
    int64_t lines, rows;     /* all lines; those that are not blank */
    int64_t first_line, first_row;
    int64_t bad_line;   /* where the first error is; 0: none */
    int64_t bad_column; /* its field, counted from 1; 0: the number of fields is wrong */
    int64_t bad_fields;
    int64_t rounded_line, rounded_column; /* where the first whole number was rounded; 0: nowhere */
    bool rounded_fits;                    /* that number fits an integer dtype */
    const char *bad_text;
    size_t bad_length;
} Block;

/* How a column's times are written, once a piece had some. */
typedef struct KeptStyle {
    TsrTimeStyle style;
    bool known;
} KeptStyle;

/* What the first row was taken for. */
typedef enum HeaderGuess {
    NOT_GUESSED, /* header= or --header told */
    ROW_OF_CELLS,
    ROW_LIKE_NAMES,    /* cells, though they may be names */
    HEADER_OF_WORDS,   /* no cell of it is a number */
    HEADER_OF_NUMBERS, /* the numbers of columns, or years, beside an index */
} HeaderGuess;

typedef struct Table {
    const TsrInput *in;
    const char *body, *end;
    int64_t body_line; /* number of the body's first line */
    int64_t columns;
    char delimiter;
    TsrDtype dtype;  /* of the numbers in `cells` */
    TsrDtype result; /* what the tensor gets; integers have to fit it */
    const char *na;  /* a text that means nan, as an empty cell does; NULL: none */
    char *cells;
    TsrPlace *places; /* where each cell stands, if that is asked for; else NULL */
    TsrPlace *picked; /* the same of the cells that are taken */
    Block blocks[MAX_BLOCKS];
    int nblocks;
    TsrDtype keeper; /* a dtype that would have rounded no number; TSR_DTYPE_NONE: there is none */
    bool marked;     /* a byte order mark stood before it */
    const char *header, *header_end;
    int64_t first_line; /* where the first row is, a header or not; 0 in later pieces */
    HeaderGuess guess;
    int64_t wanted[MAX_WANTED]; /* the columns that are named, in that order */
    int nwanted;                /* 0: all are taken */
    bool ragged;                /* rows may be of any length */
    int64_t needed;             /* fields that a row has to have, and that are looked at: up to the last one taken */
    bool quoted;                /* there are quotes, and so maybe line ends inside of them */
    const char **names;         /* of all columns; NULL: the file has no header */
    TsrText text;               /* of the names */
    bool once;                  /* no column may be named twice */
    bool *skipped;              /* for each column whether it is passed over, when some are named; else NULL */
    KeptStyle *styles;          /* one for each column of a table in pieces; else NULL */
    CellKind *kinds;            /* of each column; NULL: all are numbers, and the table is a tensor */
    TsrSource *source;          /* a reference; NULL: the text is not kept */
} Table;

/* How many fields of a row are looked at: all, to count them, unless those behind the last one needed may be any. */
static inline int64_t fields_looked_at(const Table *t) {
    return t->ragged || t->needed < t->columns ? t->needed : INT64_MAX;
}

static inline const char *next_record(const Table *t, const char *p, const char *end, int64_t *lines) {
    *lines = 1;
    return t->quoted ? record_end(p, end, lines) : line_end(p, end);
}

/* Splits the body into blocks, and counts their rows and lines. */
TsrStatus tsr_csv_count(int64_t *rows, Table *t);
/* The error of the first block that has one. */
TsrStatus tsr_csv_check_blocks(const Table *t);
/* A number, a truth value, or nothing, which is nan. Notes one that float64 rounds in the block. False: it is none. */
bool tsr_csv_parse_real(const Table *t, Block *b, int64_t column, const char *begin, const char *end, double *cell);

/* Room for the places of all cells of the rows, where they are asked for: t->places. */
TsrStatus tsr_csv_make_places(Table *t, int64_t rows);
/* Notes where field k of the row stands, as next_field gives it: `before` is where that began. What is empty stands
 * there: behind it may be blanks, or the carriage return of a line end. */
void tsr_csv_put_place(const Table *t, int64_t row, int64_t k, const char *before, const char *text,
                       const char *text_end);
/* Whether other programs write this word where there is nothing. */
bool tsr_csv_means_missing(const char *cell);

/* csv_decimal.c: numbers with a decimal comma. */

/* Whether the text is a number with a comma, or with points between thousands alone. */
bool tsr_csv_has_decimal_comma(const char *text, const char *end);
/* The input becomes a copy whose numbers have a decimal point, and no points between thousands; options->delimiter is
 * what separates its fields. */
TsrStatus tsr_csv_mend_decimals(TsrInput *in, TsrLoadOptions *options);

/* csv_header.c: is the first row one? */

/* Guesses what the first row, [row, row_end), is by its cells and those of the row below: t->guess. `na`, the words
 * that mean nan, or NULL. */
void tsr_csv_guess_header(Table *t, const char *row, const char *row_end, const char *na);
/* Adds what may be wrong about the guess to the notes of `out`, with the option that decides otherwise. */
TsrStatus tsr_csv_note_header(TsrItems *out, const Table *t);

/* csv_columns.c: tables of columns that are not all numbers. */

/* Looks at the first rows for what the columns hold: t->kinds, if they are not all numbers. `text`, a list of columns
 * that are words, or NULL. */
TsrStatus tsr_csv_find_kinds(Table *t, const char *text);
/* Reads the columns by their kinds; numbers are cast to `dtype`, unless that is TSR_DTYPE_NONE. *out is the caller's.
 */
TsrStatus tsr_csv_read_columns(TsrTable **out, Table *t, TsrDtype dtype);

/* The column of that name, else number; -1 when there is none. */
int64_t tsr_csv_find_column(const Table *t, const char *name);
/* The error about a column that is not there. */
TsrStatus tsr_csv_no_column(const Table *t, const char *name);

#endif
