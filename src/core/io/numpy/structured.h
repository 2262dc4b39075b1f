/* structured.h: .npy arrays of records: the fields of a structured dtype are the columns of a table. */
#ifndef CORE_IO_NUMPY_STRUCTURED_H
#define CORE_IO_NUMPY_STRUCTURED_H

#include "core/io_format.h"

/* What one field of a record holds. */
typedef enum TsrFieldKind {
    TSR_FIELD_NUMBER,
    TSR_FIELD_WIDE_TEXT,
    TSR_FIELD_BYTE_TEXT,
    TSR_FIELD_TIME,
    TSR_FIELD_SPAN /* a difference of times (timedelta64): a count of its unit */
} TsrFieldKind;

/* One field; the name is lent of the file. */
typedef struct TsrField {
    const char *name;
    size_t name_length;
    TsrFieldKind kind;
    TsrDtype dtype; /* of numbers */
    bool big_endian;
    size_t offset, size;        /* in a record, bytes */
    char type[TSR_COLUMN_TYPE]; /* of texts, times and spans: NumPy's code, without the order of bytes */
    TsrTimeUnit unit;           /* of times */
    int64_t scale;              /* of times: the unit counts for as many of `unit`; MONTHS, YEARS: calendars tell */
} TsrField;

typedef struct TsrRecord {
    TsrField *fields; /* owned (tsr_free) */
    size_t n, room;
    size_t size; /* bytes of a record */
} TsrRecord;

/* Adds the field of that name and type code ("<f8", "|S3", "<M8[us]"); one without a name is padding. ValueError for
 * a code that no column has. */
TsrStatus tsr_record_add(TsrRecord *record, const TsrInput *in, const char *name, size_t name_length, const char *code,
                         size_t code_length);
/* The table of `rows` records that begin at byte `offset` of the input, which the caller has checked to be there: one
 * tensor of float64 with names where all columns are numbers that float64 has. */
TsrStatus tsr_record_read(TsrItems *out, const TsrInput *in, const TsrRecord *record, size_t offset, int64_t rows);
/* The same of an array without fields that is no tensor: of texts, times or differences of them, which `record` has as
 * its only field, of any name. It is the only column of a table, and the root of out->tree, but a tensor where that is
 * all it is. */
TsrStatus tsr_record_read_column(TsrItems *out, const TsrInput *in, const TsrRecord *record, size_t offset,
                                 int64_t rows);
/* Writes a table as an array of records, or its only column as an array. ValueError where a number is missing. */
TsrStatus tsr_record_write(TsrSink *sink, const TsrTable *table, bool column);

#endif
