/* graph.h: several tensors in one picture: their names, their geometry and counts, the storages, arrows between, and
 * the cells of each storage; and an expression: its operands, its result, and which cell came from which. */
#ifndef SHOW_DRAW_GRAPH_H
#define SHOW_DRAW_GRAPH_H

#include "picture.h"

typedef struct GraphRow {
    TsrTensor *t; /* lent */
    int picture;
    int64_t count; /* references */
    bool gone;     /* only this picture still holds it */
    char names[NAME_ROOM];
} GraphRow;

/* Tensors in the order of their storages, each storage (of one dtype) with its picture. */
typedef struct Graph {
    Picture pictures[MAX_VIEWS];
    GraphRow rows[MAX_VIEWS];
    int picture_count, row_count;
} Graph;

/* Adds a tensor; `own`: references to it that are the caller's own, and not counted. Errors of what can't be drawn. */
TsrStatus graph_add(Graph *g, TsrTensor *t, int64_t own, bool unicode);
/* After the last tensor: chooses names, counts and cells. */
TsrStatus graph_finish(Graph *g);

TsrStatus draw_graph_text(TsrText *out, const Graph *g);
TsrStatus draw_graph_shapes(Canvas *c, const Graph *g); /* on an empty canvas, whose size is set */

/* What an expression did last: the tensors that went in, and what came out. */
typedef struct Step {
    TsrTensor *operands[MAX_VIEWS - 1]; /* a reference each */
    int count;
    TsrTensor *result;              /* a reference; NULL: nothing ran */
    const char *op;                 /* static */
    Origins origins[MAX_VIEWS - 1]; /* of each operand */
    int tried;                      /* calls whose origins were looked for; of long code not all are */
    bool by_broadcast;              /* each cell of the result came of those of the operands at its index, broadcast */
} Step;
/* Runs `code` as if typed where draw() was, and notes its last operator. */
TsrStatus step_run(Step *step, const char *code, size_t length);
void step_free(Step *step);
/* Adds the operands and the result, with rows of where its cells came from. */
TsrStatus graph_add_step(Graph *g, const Step *step, bool unicode);

#endif
