/* cells.h: the text of cells as the file had them from which a table was read, so that what nobody changed is written
 * as it stood: 007, 1e5, +3, needless quotes, blanks, escapes. A text is used only where it says the value that is to
 * be written: then it cannot matter whether the column was changed since, or the file. */
#ifndef CORE_IO_CELLS_H
#define CORE_IO_CELLS_H

#include "core/io_table.h"
#include "core/tensor/origin.h"

/* Bytes of the source. */
typedef struct TsrCellText {
    const char *raw, *raw_end;   /* all between the delimiters, or the value of JSON */
    const char *text, *text_end; /* without blanks around it, and without quotes around these */
    const char *line_end;        /* of csv */
} TsrCellText;

/* A place in the text, from which the next cells are found; all zeros at first. */
typedef struct TsrCells {
    const TsrSource *source; /* NULL: nothing was looked for yet */
    int64_t row;             /* at which it stands; -1: at none */
    const char *begin, *end; /* of that row */
    int64_t field;           /* that stands next at p */
    const char *p;
    bool last;
} TsrCells;

/* Where rows begin, found once; NULL: memory is short, and there are no texts. Checks for interrupts. */
TsrStatus tsr_cells_index(const TsrIndex **lent, TsrSource *source);
/* The text of row i's cell of the column. False: it is not known. Quick where cells are asked for in the order of the
 * text. The source has an index. */
bool tsr_cells_find(TsrCellText *out, TsrCells *cells, const TsrOrigin *column, int64_t i);
/* The text of the column's name; false: there is none. */
bool tsr_cells_name(TsrCellText *out, const TsrOrigin *column);

/* csv_cells.c and json_cells.c: what is different between the two. */

/* Where the row ends that begins at p. */
const char *tsr_csv_row_end(const TsrSource *source, const char *p);
const char *tsr_json_row_end(const TsrSource *source, const char *p);
/* The beginning of the first row at p or behind it; NULL: there is none. */
const char *tsr_csv_row(const TsrSource *source, const char *p);
const char *tsr_json_row(const TsrSource *source, const char *p);
bool tsr_csv_find_cell(TsrCellText *out, TsrCells *cells, int64_t field);
bool tsr_json_find_cell(TsrCellText *out, TsrCells *cells, const char *name);

/* What a cell is, for the question whether a text says it. */
typedef struct TsrCellValue {
    TsrColumnKind kind;
    TsrDtype dtype;
    TsrScalar value;
    bool nothing; /* missing, or nan */
    const TsrWords *words;
    const TsrTimeStyle *style;
} TsrCellValue;
bool tsr_csv_cell_says(const TsrCellText *cell, const TsrCellValue *value, const TsrSource *source);
bool tsr_json_cell_says(const TsrCellText *cell, const TsrCellValue *value);
/* Whether a number's text says it. */
bool tsr_number_says(const char *text, const char *end, TsrScalar value, TsrDtype dtype);

/* How objects of the source have colons and commas: ": " and ", ", or without blanks. */
void tsr_json_style(const char **colon, const char **comma, const TsrSource *source);
/* How many members the object has in which `cells` stands; -1: it is none. */
int64_t tsr_json_members(const TsrCells *cells);

#endif
