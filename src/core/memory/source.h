/* source.h: the text that a table was read from, kept for as long as cells of it may be written again: what nobody
 * changed goes out as it stood. It costs no memory where the file is mapped. Which of its rows are in a tensor is told
 * by TsrRows. Both are shared by the columns of a table, counted, and do not change. */
#ifndef CORE_MEMORY_SOURCE_H
#define CORE_MEMORY_SOURCE_H

#include "core/alloc.h"
#include "core/base/thread.h"
#include "core/columns.h"

/* Fields but for `index` are set by whoever reads the table. */
struct TsrSource {
    TSR_ATOMIC(int32_t) refcount;
    TsrDataPtr hold;             /* owns the text */
    const char *begin, *end;     /* the rows: lines of csv, objects of JSON */
    const char *head, *head_end; /* the row of names; NULL: there is none */
    char *own_head;              /* owned: the text of `head` where it is not of `hold`; NULL */
    char *na;                    /* owned: words that mean nothing, as TsrLoadOptions has them; NULL: none */
    int64_t columns;             /* that a row may have */
    char delimiter;              /* between fields; '{': rows are objects of JSON */
    bool quoted;                 /* there are quotes, and so maybe line ends inside of them */
    bool marked;                 /* the text begins with a byte order mark */
    bool returns;                /* its first line ends in a carriage return and a line end */
    TsrLock lock;                /* of what follows */
    struct TsrIndex *index;      /* where rows begin, once somebody looked; owned */
    TsrRows *last;               /* the rows that were taken last; a reference */
};
/* Where each row begins. */
typedef struct TsrIndex {
    int64_t n; /* rows */
    const char *at[];
} TsrIndex;

/* Takes *hold, on failure too, and empties it. */
TsrStatus tsr_source_new_move(TsrSource **out, TsrDataPtr *hold);
TsrSource *tsr_source_retain(TsrSource *source); /* NULL is fine */
void tsr_source_free(TsrSource *source);         /* NULL is fine */
/* Gives it this index, unless another thread was first; the one that it has, lent. */
const TsrIndex *tsr_source_set_index_move(TsrSource *source, TsrIndex *index);

/* To be called once some of its text was read: that its file became shorter meanwhile is no error, as the values are
 * elsewhere. What is read of it then does not say them. */
void tsr_source_forgive(const TsrSource *source);

/* `made_of` says what they were computed from, so that the columns of a table, which are indexed alike, share them. */
struct TsrRows {
    TSR_ATOMIC(int32_t) refcount;
    int64_t made_of[8];
    int64_t n;
    int64_t at[];
};
TsrStatus tsr_rows_new(TsrRows **out, int64_t n); /* `at` undefined */
/* The rows that were taken of the source last, a reference, if they were made of the same; else NULL. */
TsrRows *tsr_rows_last_retain(TsrSource *source, const int64_t made_of[8]);
void tsr_rows_set_last(TsrSource *source, TsrRows *rows); /* takes a reference of its own */
void tsr_rows_free(TsrRows *rows);                        /* NULL is fine */

#endif
