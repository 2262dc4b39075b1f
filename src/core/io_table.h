/* io_table.h: a table whose columns have names and kinds, as a file had it: numbers, words, times.
 *
 * A file of text whose columns are all numbers is one tensor (io_format.h); a table is what has other columns as well.
 * Each column is a tensor of one dimension, of as many elements as there are rows:
 *   numbers   float64 (or what --dtype asked for); int64 or uint64 where a number is whole and float64 has not got it
 *   text      int64: the number of the row's word in the column's list of words, each of them in it once, in the order
 *             in which they first came
 *   times     int64: units since 1970-01-01T00:00 in UTC, and the style that all cells are written in
 * A cell with nothing in it is nan among floats and the empty word among words of csv; else it is marked in `missing`.
 */
#ifndef TSR_IO_TABLE_H
#define TSR_IO_TABLE_H

#include "tensor.h"
#include "text.h"

TSR_PUBLIC_BEGIN

/* Words, each of them once. Shared by all columns that were made of one; never changed once they are. */
typedef struct TsrWords {
    int64_t refcount; /* atomic */
    int64_t n;
    size_t *begin; /* n + 1 offsets into `bytes`; word i is [begin[i], begin[i + 1]) */
    char *bytes;
} TsrWords;
TsrWords *tsr_words_retain(TsrWords *words); /* NULL is fine */
void tsr_words_free(TsrWords *words);        /* NULL is fine */
/* ranks[i]: how many words come before word i when they are sorted by their bytes. */
TsrStatus tsr_words_rank(int64_t *ranks, const TsrWords *words);
/* The number of a word; -1 when it is not there. */
int64_t tsr_words_find(const TsrWords *words, const char *bytes, size_t n);

/* Words while they are collected, found by their hash. All zeros: none. `hash` may be given, so that threads compute
 * it: tsr_word_hash of the same bytes. */
typedef struct TsrWordSet {
    size_t *begin;
    uint64_t *hashes;
    TsrText bytes;
    size_t n, room, hash_room;
    int64_t *slots; /* word + 1, 0 empty */
    size_t mask;
} TsrWordSet;
uint64_t tsr_word_hash(const char *bytes, size_t n);
/* The number of the word, which is added when it is not there yet. */
TsrStatus tsr_word_set_add(int64_t *word, TsrWordSet *set, const char *bytes, size_t n, uint64_t hash);
/* -1 when it is not there. */
int64_t tsr_word_set_find(const TsrWordSet *set, const char *bytes, size_t n, uint64_t hash);
/* The words of the set, which is left empty; the caller's. */
TsrStatus tsr_word_set_new_words(TsrWords **out, TsrWordSet *set);
void tsr_word_set_free(TsrWordSet *set);

/* How all times of a column are written. A style is what a text says besides its numbers, so that the text of a time is
 * the one that it was read from. */
typedef struct TsrTimeStyle {
    char separator;      /* between date and time of day: 'T' or ' '; 0: a date alone */
    bool seconds;        /* hours and minutes, or these and seconds */
    char point;          /* before the fraction: '.' or ','; 0: there is none */
    int8_t digits;       /* of the fraction, at most 9 */
    char zone;           /* 'Z'; '+': an offset, hh:mm; '4': an offset, hhmm; 0: none */
    int16_t zone_offset; /* minutes east of UTC */
} TsrTimeStyle;
enum { TSR_TIME_ROOM = 48 }; /* bytes that hold the text of any time, with a terminator */
/* A second, a day or a fraction of a second: per_second is 1, 1000, 1000000 or 1000000000; 0: days. */
typedef int64_t TsrTimeUnit;
TsrTimeUnit tsr_time_unit(const TsrTimeStyle *style);
const char *tsr_time_unit_name(TsrTimeUnit unit);             /* "D", "s", "ms", "us", "ns" */
bool tsr_time_unit_find(TsrTimeUnit *unit, const char *name); /* false: there is none of that name */
/* Reads all of [begin, end), a date or a time as ISO 8601 writes it (2024-01-31, 2024-01-31T08:30, ...
 * 08:30:15.250+01:00, with T or a blank; years of four digits), which must be written in *style, or, with `first`,
 * tells it. In the unit of the style. False when it is none, or does not fit int64. */
bool tsr_time_parse(int64_t *out, const char *begin, const char *end, TsrTimeStyle *style, bool first);
/* The text of a time of that unit, written in the style; its length. A year beyond 0 to 9999 is written with a sign.
 * `buffer` has TSR_TIME_ROOM bytes. */
size_t tsr_time_format(char *buffer, int64_t value, TsrTimeUnit unit, const TsrTimeStyle *style);

typedef enum TsrColumnKind { TSR_COLUMN_NUMBERS, TSR_COLUMN_TEXT, TSR_COLUMN_TIMES } TsrColumnKind;

/* All owned. */
typedef struct TsrTableColumn {
    char *name;
    TsrColumnKind kind;
    TsrTensor *data;
    TsrTensor *missing; /* bool, of as many elements; NULL: nothing is */
    TsrWords *words;    /* of text; else NULL */
    TsrTimeUnit unit;   /* of times */
    TsrTimeStyle style;
    TsrTensor *from; /* to be written: the tensor that `data` holds the elements of, whose cells may have a text still;
                        NULL: there is none */
} TsrTableColumn;

typedef struct TsrTable {
    TsrTableColumn *columns;
    int n, room;
    int64_t rows;
    char delimiter; /* between the fields of the text that it was read from; 0: that was no text of fields */
} TsrTable;
/* An empty table; the caller's. */
TsrStatus tsr_table_new(TsrTable **out, int64_t rows);
void tsr_table_free(TsrTable *table); /* NULL is fine */
/* Adds a column; takes what it owns, also on failure, but copies its name, of name_length bytes. */
TsrStatus tsr_table_add_move(TsrTable *table, const char *name, size_t name_length, TsrTableColumn column);
/* Releases what a column owns. */
void tsr_table_column_clear(TsrTableColumn *column);

TSR_PUBLIC_END

#endif
