/* texts.h: what writers of tables ask of cells.h: the texts of the cells of some columns that may go out as they stood,
 * for one thread. */
#ifndef CORE_IO_TEXTS_H
#define CORE_IO_TEXTS_H

#include "cells.h"
#include "core/io_format.h"

typedef struct TsrTexts {
    int64_t n; /* columns that are written */
    TsrOrigin *of;
    TsrCells *cells;
    int64_t *cells_of; /* of each column, its place in `cells`: columns of one source share one */
    char delimiter;    /* that is written; '{': JSON, '|': Markdown */
    const TsrSaveOptions *options;
} TsrTexts;
/* For n columns, whose origins the caller fills in. tsr_texts_free, on failure too. */
TsrStatus tsr_texts_new(TsrTexts *texts, int64_t n, char delimiter, const TsrSaveOptions *options);
/* Finds the rows of all sources. */
TsrStatus tsr_texts_begin(TsrTexts *texts);
void tsr_texts_free(TsrTexts *texts);
/* The same for another thread: *out has cursors of its own; tsr_texts_free. */
TsrStatus tsr_texts_new_alike(TsrTexts *out, const TsrTexts *texts);

/* The text of the cell in row i of column j, where it may be written as it stands and says that value. */
bool tsr_texts_get(const char **text, size_t *n, TsrTexts *texts, int64_t j, int64_t i, const TsrCellValue *value);
/* Row i of `rows` is about to be written, and those behind it follow: fetches what will be looked at, which lies
 * anywhere once a table was sorted. Where a row begins is fetched TSR_TEXTS_FAR rows ahead, its text TSR_TEXTS_NEAR. */
enum { TSR_TEXTS_NEAR = 16, TSR_TEXTS_FAR = 32 };
void tsr_texts_expect(const TsrTexts *texts, int64_t i, int64_t rows);
/* The same for the words of a column with these codes. */
void tsr_texts_expect_word(const TsrWords *words, const int64_t *codes, int64_t i, int64_t rows);
/* The text of the column's name, if it says `name`. */
bool tsr_texts_name(const char **text, size_t *n, const TsrTexts *texts, int64_t j, const char *name);
/* The whole object of JSON in row i, if that is what all columns say. `values`: of each column. */
bool tsr_texts_object(const char **text, size_t *n, TsrTexts *texts, int64_t i, const TsrCellValue *values);
/* Whether the object in row i lacks the key of column j altogether. */
bool tsr_texts_lack(TsrTexts *texts, int64_t j, int64_t i);
/* The source whose manners (line ends, a mark, blanks) the file gets; NULL: none has been read. */
const TsrSource *tsr_texts_manners(const TsrTexts *texts);

#endif
