/* stream_plan.h: which parts of a program over `_`, a table, can be found while the table comes in pieces.
 *
 * Such a part is a sum, a mean, a count and the like (stream_plan.c has the list) of what is made of `_` row by row: of
 * columns, of arithmetic and comparisons of columns, of the rows that a mask picks, of groups. Where `_` stands in such
 * parts alone, all in one statement, the program can run over pieces: each part is replaced by its result. A program
 * whose value is rows and columns of `_`, row by row, is one part, where these may be written as they come; statements
 * `_["name"] = ...` before it, row by row too, then become part of it. */
#ifndef TORCH_FILES_STREAM_PLAN_H
#define TORCH_FILES_STREAM_PLAN_H

#include "core/io_chunks.h"
#include "core/text.h"
#include "lang/object/value.h"
#include "lang/syntax/ast.h"

enum { STREAM_MOST_PARTS = 64 };

typedef struct StreamPlan {
    bool streams, writes;           /* writes: its one part is rows that are written as they come */
    Node *nodes[STREAM_MOST_PARTS]; /* of the tree, lent: the parts */
    int count;
    Node *assignments[STREAM_MOST_PARTS]; /* of the tree, lent: statements that the one part has taken up */
    int assignment_count;
    TsrText parts;   /* a list of (kind, function of a piece, function that calls with the part's arguments) */
    TsrText columns; /* those that are read, as load's columns=; empty: all */
    TsrText words;   /* for people: the parts, or why there are none */
} StreamPlan;

/* *out is to be cleared, on failure too. `writer`: the name of a function that writes the rows of a piece; NULL: rows
 * can't be written as they come. */
TsrStatus stream_plan_find(StreamPlan *out, const Ast *program, const char *writer);
void stream_plan_clear(StreamPlan *plan);
/* Each part of the program becomes `function()[i]`, where it stands. */
TsrStatus stream_plan_replace(const StreamPlan *plan, Ast *program, const char *function);
/* The results of the parts: a list. `chunks` is taken, on failure too. */
TsrStatus stream_plan_run_move(Value *out, const StreamPlan *plan, TsrChunks *chunks);

#endif
