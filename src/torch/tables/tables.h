/* tables.h: tables in the language: dicts of named columns, and the columns that are no plain tensors.
 *
 * A Table is a kind of dict whose values are its columns, all of them of one length: tensors of one dimension, or
 * Columns, which are tensors with a meaning: words, times, numbers some of which are missing (core/io_table.h). What is
 * done with them is written in the language (prelude/table.tsr, prelude/column.tsr); here are their memory and slots.
 */
#ifndef TORCH_TABLES_TABLES_H
#define TORCH_TABLES_TABLES_H

#include "core/io_table.h"
#include "lang/object/value.h"
#include "lang/types/dict.h"

/* All owned. */
typedef struct Column {
    Obj obj;
    TsrColumnKind kind;
    Value data;    /* a tensor of one dimension: numbers, numbers of words, times */
    Value missing; /* a bool tensor of as many elements, or None */
    TsrWords *words;
    Value list; /* the words as a list, once they were asked for */
    TsrTimeUnit unit;
    TsrTimeStyle style;
} Column;

extern Type table_type, column_type, groups_type;
static inline Column *value_as_column(Value v) { return (Column *)v.o; }
static inline bool value_is_column(Value v) { return value_is_obj(v, &column_type); }
static inline bool value_is_table(Value v) { return value_is_obj(v, &table_type); }

TsrStatus tables_startup(void); /* adds table, times and the types to tsr */
/* The table that a file held; its columns move into the value. */
TsrStatus table_from_columns(Value *out, TsrTable *table);
/* Its first column alone, a tensor or a Column; it moves into the value. */
TsrStatus table_first_column(Value *out, TsrTable *table);
/* The Table that v is or can be made into: of a dict of columns, a list of dicts, a tensor of two dimensions. */
TsrStatus table_of(Value *out, Value v);
/* The columns of a table for writing: *out is the caller's (tsr_table_free). */
TsrStatus table_new_columns(TsrTable **out, Value table);
/* The same of one Column, under the name that its file had for it, if any. */
TsrStatus table_new_column(TsrTable **out, Value column);

#endif
