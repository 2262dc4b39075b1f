/* picture.h: a picture before it is text or shapes: which elements of a storage are shown, and what stands in each
 * cell.
 */
#ifndef SHOW_DRAW_PICTURE_H
#define SHOW_DRAW_PICTURE_H

#include "canvas.h"
#include "core/layout.h"
#include "core/tensor.h"
#include "lang/object/value.h"
#include "origins.h"

enum {
    MAX_VIEWS = 8,
    MAX_CELLS = 64,
    MAX_WANTED = 256,
    EDGE = 6,
    LABEL_ROOM = 40,
    NAME_ROOM = 64,
    LINE_WIDTH = 79,
    GAP = -1
};

/* One view over the storage being drawn. */
typedef struct View {
    TsrTensor *t; /* lent */
    char name[NAME_ROOM];
    char origin[2 * NAME_ROOM]; /* of one without a name: "t() of a" */
    const Origins *origins;     /* lent, with `result`; NULL: its cells came of t's by broadcasting */
    const TsrTensor *result;    /* lent: t is what this was computed from, and the row says which of t's elements each
                                   cell came of; NULL: t looks at the storage */
} View;

typedef struct Picture {
    TsrStorage *storage;
    TsrDtype dtype;
    int64_t elements; /* of the storage, by the first view's dtype */
    View views[MAX_VIEWS];
    int view_count;
    int64_t cells[MAX_CELLS]; /* which elements are shown; GAP: some are left out */
    int cell_count;
    bool unicode;
    TsrDevice device; /* where the storage is */
} Picture;
/* " on cuda:0", or nothing; returns buffer. */
const char *draw_where(char buffer[24], const Picture *p);

/* Row 0 numbers the elements, row 1 has their values, row 2 + v the index by which view v reaches each. */
typedef struct Grid {
    char labels[MAX_VIEWS + 2][MAX_CELLS][LABEL_ROOM];
    int width[MAX_CELLS]; /* of each column, in characters; all alike where no element is left out */
    int rows;
} Grid;

/* Sets p->cells: all elements of a small storage, else its ends and where each view begins and ends. */
void draw_choose_cells(Picture *p);
void draw_fill_grid(Grid *g, const Picture *p);
int draw_columns(const char *label); /* its width in characters */
/* "shape [2, 3], strides [3, 1], offset 0", and what a flag does to its elements when they are read. Returns buffer. */
char *draw_geometry(char *buffer, size_t room, const View *v);

/* Of a tensor's last dimension (1), the one before it (2), ...: its size and stride; 1 and 0 where it has none. */
int64_t draw_size_from_end(const TsrTensor *t, int k);
int64_t draw_stride_from_end(const TsrTensor *t, int k);
/* Slice number k of the last two dimensions: "[1, 0, :, :]", "" where there is one only. Returns its first element. */
int64_t draw_slice_at(char *label, size_t room, const TsrTensor *t, int64_t k);
/* The grids that the tensors of two and more dimensions show, in element numbers (grids.c); each line ends with one. */
TsrStatus draw_grids_text(TsrText *out, const Picture *p);

/* The picture as text, and as shapes on an empty canvas, whose size is set: text.c, shapes.c. */
TsrStatus draw_text(TsrText *out, const Picture *p);
TsrStatus draw_shapes(Canvas *c, const Picture *p);
/* The storage's cells with its views' rows, without the views' geometry; as shapes at a place, of this size in
 * pixels. */
TsrStatus draw_cells_text(TsrText *out, const Picture *p);
TsrStatus draw_cells_shapes(Canvas *c, const Picture *p, int x, int y);
TsrStatus draw_cells_size(int *width, int *height, const Picture *p);

/* RuntimeError where a tensor has no memory that the host could draw. */
TsrStatus draw_check(TsrTensor *t);
TsrStatus draw_too_many(void);
/* A view by the name of its first holder (graph_finish may give it all of them), else "view 3" and how it came about.
 */
void draw_name_view(View *view, TsrTensor *t, int number);

#endif
