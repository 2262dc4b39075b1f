/* A picture as shapes: the storage in bands of cells with a row for each view beneath and its strides as arrows, then
 * each view as the grids that it shows, one for each slice of its last two dimensions, every cell with the number of
 * the element it reaches. */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BAND = 20,
    ROW = 30,
    CELL_HEIGHT = 26,
    TOP = 44,
    MARGIN = 14,
    GRID_SIZE = 8,
    GRID_CELL = 30,
    GRID_GAP = 36,
    HOPS = 3, /* arrows of strides under a view */
    HOP = 14
};

typedef struct Place {
    int x, y;
} Place; /* of an upper left corner */

/* A cell; of a view (0 and up) in its colour, of the storage itself (-1) as a plain box. */
static void put_cell(Canvas *c, Place at, int width, int view, const char *label) {
    int colour = view % CANVAS_PALETTE;
    canvas_box(c, at.x, at.y, width, CELL_HEIGHT, 0, view < 0 ? INK_BOX : (Ink)(INK_FILL + colour),
               view < 0 ? INK_BOX_EDGE : (Ink)(INK_EDGE + colour));
    canvas_text(c, at.x + width / 2, at.y + 18,
                (Lettering){.ink = view < 0 ? INK_TEXT : INK_ON, .anchor = ANCHOR_MIDDLE}, label);
}

/* ---- bands ---- */

static int cell_width(const Grid *g, const Picture *p) {
    int widest = 2;
    for (int k = 0; k < p->cell_count; k++) widest = TSR_MAX(widest, g->width[k]);
    return 12 + CHARACTER * widest;
}

/* Where the cells begin: right of the longest name. */
static int left_of(const Picture *p) {
    int longest = 10;
    for (int v = 0; v < p->view_count; v++) longest = TSR_MAX(longest, draw_columns(p->views[v].name));
    return 2 * MARGIN + CHARACTER * longest;
}

static int band_count(const Picture *p) { return (p->cell_count + BAND - 1) / BAND; }

/* How far a stride goes: from a view's first element to the next one of a dimension. */
typedef struct Hop {
    int dim, from, to; /* places in Picture.cells */
} Hop;

static int place_of(const Picture *p, int64_t cell, int band) {
    for (int k = band * BAND; k < TSR_MIN((band + 1) * BAND, p->cell_count); k++)
        if (p->cells[k] == cell) return k;
    return -1;
}

/* Of view v, those that begin and end in this band, the shortest first. Returns how many. */
static int find_hops(Hop hops[HOPS], const Picture *p, int v, int band) {
    const TsrTensor *t = p->views[v].t;
    int count = 0;
    if (p->views[v].result != NULL || t->numel == 0) return 0;
    for (int d = tsr_ndim(t) - 1; d >= 0 && count < HOPS; d--) {
        if (t->sizes[d] < 2 || t->strides[d] == 0) continue;
        Hop hop = {d, place_of(p, t->offset, band), place_of(p, t->offset + t->strides[d], band)};
        if (hop.from >= 0 && hop.to >= 0) hops[count++] = hop;
    }
    for (int i = 1; i < count; i++)
        for (int k = i; k > 0 && hops[k].to < hops[k - 1].to; k--) {
            Hop swap = hops[k];
            hops[k] = hops[k - 1];
            hops[k - 1] = swap;
        }
    return count;
}

/* From the upper edge of a view's cells to the next view's. */
static int row_height(const Picture *p, int v, int band) {
    Hop hops[HOPS];
    int count = find_hops(hops, p, v, band);
    return count > 0 ? CELL_HEIGHT + HOP * count + 8 : ROW;
}

static int band_height(const Picture *p, int band) {
    int height = 20 + MARGIN + ROW;
    for (int v = 0; v < p->view_count; v++) height += row_height(p, v, band);
    return height;
}

static int bands_height(const Picture *p) {
    int height = 0;
    for (int band = 0; band < band_count(p); band++) height += band_height(p, band);
    return height;
}

/* The strides of view v as arrows under its cells, which lie from x on and end at y. */
static void put_hops(Canvas *c, const Picture *p, int v, int band, int width, Place at) {
    Hop hops[HOPS];
    char label[48];
    Ink ink = (Ink)(INK_EDGE + v % CANVAS_PALETTE);
    int count = find_hops(hops, p, v, band), left = left_of(p);
    for (int i = 0; i < count; i++) {
        float from = (float)(at.x + width * (hops[i].from % BAND) + width / 2 + 5 * i),
              to = (float)(at.x + width * (hops[i].to % BAND) + width / 2), top = (float)(at.y + 1),
              y = (float)(at.y + HOP * (i + 1));
        canvas_line(c, (Point){from, top}, (Point){from, y}, ink, false);
        canvas_line(c, (Point){from, y}, (Point){to, y}, ink, false);
        canvas_line(c, (Point){to, y}, (Point){to, top}, ink, true);
        snprintf(label, sizeof label, "stride[%d] = %lld", hops[i].dim, (long long)p->views[v].t->strides[hops[i].dim]);
        canvas_text(c, at.x - left + MARGIN, at.y + HOP * (i + 1) + 4, (Lettering){.ink = INK_DIM, .size = 11}, label);
    }
}

/* Cell k of a band that begins at `at`: the element's number, its value, and it in each view. */
static void put_band_cell(Canvas *c, const Picture *p, const Grid *g, int k, Place at) {
    const Lettering number = {.ink = INK_DIM, .size = 11, .anchor = ANCHOR_MIDDLE},
                    gap = {.ink = INK_DIM, .anchor = ANCHOR_MIDDLE};
    const int width = cell_width(g, p), x = at.x + width * (k % BAND);
    int y = at.y + 20;
    if (p->cells[k] == GAP) {
        canvas_text(c, x + width / 2, y + 18, gap, g->labels[1][k]);
        return;
    }
    canvas_text(c, x + width / 2, y - 6, number, g->labels[0][k]);
    put_cell(c, (Place){x, y}, width, -1, g->labels[1][k]);
    y += ROW;
    for (int v = 0; v < p->view_count; v++) {
        const char *label = g->labels[2 + v][k];
        if (label[0] != '\0') put_cell(c, (Place){x, y}, width, v, label);
        y += row_height(p, v, k / BAND);
    }
}

static void put_band(Canvas *c, const Picture *p, const Grid *g, int band, Place at) {
    const Lettering bold = {.ink = INK_TEXT, .bold = true};
    int y = at.y + 20, left = at.x + left_of(p);
    canvas_text(c, at.x + MARGIN, y + 18, (Lettering){.ink = INK_DIM}, "value");
    y += ROW;
    for (int v = 0; v < p->view_count; v++) {
        canvas_text(c, at.x + MARGIN, y + 18, bold, p->views[v].name);
        put_hops(c, p, v, band, cell_width(g, p), (Place){left, y + CELL_HEIGHT});
        y += row_height(p, v, band);
    }
    for (int k = band * BAND; k < TSR_MIN((band + 1) * BAND, p->cell_count); k++)
        put_band_cell(c, p, g, k, (Place){left, at.y});
}

/* ---- grids: what each view shows, as slices of its last two dimensions ---- */

enum { PAGE_WIDTH = 900, SLICES = 12, SLICE_GAP = 24, SLICE_LABEL = 18 };

typedef struct Slices {
    int rows, columns; /* of a slice; cut at GRID_SIZE */
    int shown, lines, per_line;
    bool cut_rows, cut_columns, cut_slices;
    int label;       /* height of the line that says which slice it is; 0 where there is one only */
    int cell, width; /* of a cell; of a slice with the room beside it */
} Slices;

static int grid_cell_width(const Picture *p) {
    char number[24];
    return TSR_MAX(GRID_CELL, 12 + CHARACTER * snprintf(number, sizeof number, "%lld", (long long)p->elements));
}

static Slices slices_of(const Picture *p, const TsrTensor *t) {
    int64_t rows = draw_size_from_end(t, 2), columns = draw_size_from_end(t, 1),
            total = t->numel / TSR_MAX(rows * columns, 1);
    Slices s = {.rows = (int)TSR_MIN(rows, (int64_t)GRID_SIZE),
                .columns = (int)TSR_MIN(columns, (int64_t)GRID_SIZE),
                .shown = (int)TSR_MIN(total, (int64_t)SLICES)};
    s.cut_rows = rows > s.rows;
    s.cut_columns = columns > s.columns;
    s.cut_slices = total > s.shown;
    s.label = tsr_ndim(t) > 2 ? SLICE_LABEL : 0;
    s.cell = grid_cell_width(p);
    s.width = s.columns * s.cell + SLICE_GAP;
    s.per_line = TSR_MAX(1, (PAGE_WIDTH - left_of(p)) / s.width);
    s.lines = (s.shown + s.per_line - 1) / s.per_line;
    return s;
}

static int line_height(const Slices *s) { return s->label + s->rows * CELL_HEIGHT + (s->lines > 1 ? GRID_GAP / 3 : 0); }

/* Slice k of view v, in the grid that begins at `grid`. */
static void put_slice(Canvas *c, const Picture *p, const Slices *s, int v, int k, Place grid) {
    const TsrTensor *t = p->views[v].t;
    const int x = grid.x + k % s->per_line * s->width;
    int y = grid.y + k / s->per_line * line_height(s);
    char label[256];
    int64_t at = draw_slice_at(label, sizeof label, t, k);
    if (s->label > 0) canvas_text(c, x, y + 12, (Lettering){.ink = INK_DIM, .size = 11}, label);
    y += s->label;
    for (int i = 0; i < s->rows; i++)
        for (int j = 0; j < s->columns; j++) {
            snprintf(label, sizeof label, "%lld",
                     (long long)(at + i * draw_stride_from_end(t, 2) + j * draw_stride_from_end(t, 1)));
            put_cell(c, (Place){x + j * s->cell, y + i * CELL_HEIGHT}, s->cell, v, label);
        }
    bool last = k + 1 == s->shown && s->cut_slices;
    if (s->cut_rows || s->cut_columns || last)
        canvas_text(c, x + s->columns * s->cell + 4, y + s->rows * CELL_HEIGHT, (Lettering){.ink = INK_DIM}, "...");
}

static int grid_width(const Picture *p, const TsrTensor *t) {
    Slices s = slices_of(p, t);
    return TSR_MIN(s.shown, s.per_line) * s.width;
}

static int grid_height(const Picture *p, const TsrTensor *t) {
    Slices s = slices_of(p, t);
    return 24 + s.lines * line_height(&s) + GRID_GAP / 2;
}

/* The view's name and geometry, and its grid beneath. */
static void put_view(Canvas *c, const Picture *p, int v, int y) {
    const View *view = &p->views[v];
    char geometry[600], line[1000];
    Slices s = slices_of(p, view->t);
    snprintf(line, sizeof line, "%s%s%s: %s%s", view->name, view->origin[0] != '\0' ? " = " : "", view->origin,
             draw_geometry(geometry, sizeof geometry, view), view->t->numel > 0 ? "; element numbers:" : "");
    canvas_text(c, MARGIN, y + 14, (Lettering){.ink = INK_TEXT}, line);
    for (int k = 0; k < s.shown; k++) put_slice(c, p, &s, v, k, (Place){left_of(p), y + 24});
    c->width = TSR_MAX(c->width, 2 * MARGIN + CHARACTER * draw_columns(line));
    c->width = TSR_MAX(c->width, left_of(p) + grid_width(p, view->t));
}

/* ---- all of it ---- */

static int cells_width(const Picture *p, const Grid *g) {
    return left_of(p) + cell_width(g, p) * TSR_MIN(p->cell_count, BAND) + 2 * MARGIN;
}

/* The storage's title and its bands. */
static void put_cells(Canvas *c, const Picture *p, const Grid *g, Place at) {
    char title[160], where[24];
    int y = at.y + TOP;
    snprintf(title, sizeof title, "storage #%lld: %lld x %s, %" PRIu64 " bytes%s",
             (long long)tsr_storage_id(p->storage), (long long)p->elements, tsr_dtype_name(p->dtype),
             p->storage->nbytes, draw_where(where, p));
    canvas_text(c, at.x + MARGIN, at.y + 26, (Lettering){.ink = INK_TEXT, .size = 15, .bold = true}, title);
    for (int band = 0; band < band_count(p); band++) {
        put_band(c, p, g, band, (Place){at.x, y});
        y += band_height(p, band);
    }
}

static TsrStatus grid_new(Grid **out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    *out = g;
    return TSR_OK;
}

TsrStatus draw_cells_shapes(Canvas *c, const Picture *p, int x, int y) {
    Grid *g;
    TSR_TRY(grid_new(&g, p));
    put_cells(c, p, g, (Place){x, y});
    tsr_free(g);
    return c->status;
}

TsrStatus draw_cells_size(int *width, int *height, const Picture *p) {
    Grid *g;
    TSR_TRY(grid_new(&g, p));
    *width = TSR_MAX(cells_width(p, g), 420);
    *height = TOP + bands_height(p);
    tsr_free(g);
    return TSR_OK;
}

TsrStatus draw_shapes(Canvas *c, const Picture *p) {
    int y = TOP + bands_height(p);
    TSR_TRY(draw_cells_size(&c->width, &c->height, p));
    c->width = TSR_MAX(c->width, 640);
    TSR_TRY(draw_cells_shapes(c, p, 0, 0));
    for (int v = 0; v < p->view_count; v++) {
        put_view(c, p, v, y);
        y += grid_height(p, p->views[v].t);
    }
    c->height = y + MARGIN;
    return c->status;
}
