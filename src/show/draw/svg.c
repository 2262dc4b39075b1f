/* A picture as SVG: the storage in bands of cells with a row for each view beneath, then each view as the grids that it
 * shows, one for each slice of its last two dimensions, every cell with the number of the element it reaches. */
#include "picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    BAND = 20,
    ROW = 30,
    CELL_HEIGHT = 26,
    TOP = 44,
    CHARACTER = 8,
    MARGIN = 14,
    GRID_SIZE = 8,
    GRID_CELL = 30,
    GRID_GAP = 36
};

typedef struct Paint {
    const char *fill, *stroke; /* NULL: as the page has its boxes */
} Paint;
static const Paint paints[] = {
    /* the views' in turn */
    {"#cfe4ff", "#3a7bd5"}, {"#ffdfc0", "#d9822b"}, {"#d3f2d3", "#3d9a3d"}, {"#f3d4ef", "#b04aa5"},
    {"#fff0a8", "#b59a00"}, {"#dad7ff", "#6a60d0"}, {"#ffd6d6", "#d05050"}, {"#cdf5f0", "#2a9d8f"},
};
static Paint paint_of(int view) { return paints[view % (int)TSR_COUNTOF(paints)]; }

typedef struct Place {
    int x, y;
} Place; /* of an upper left corner */

static TsrStatus put_escaped(TsrText *out, const char *text) {
    for (; *text != '\0'; text++) {
        const char *as = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        TSR_TRY(as != NULL ? tsr_text_puts(out, as) : tsr_text_putc(out, *text));
    }
    return TSR_OK;
}

/* Colours that the reader's page may turn dark: of what lies on the page, not of the views' own cells. */
static const char style[] =
    "<style>.page{fill:#fff}.ink{fill:#111}.dim{fill:#666}.on{fill:#111}.box{fill:#f6f6f6;stroke:#666}"
    ".line{stroke:#444;fill:none}\n"
    "@media (prefers-color-scheme:dark){.page{fill:#16181d}.ink{fill:#eee}.dim{fill:#a0a4ab}"
    ".box{fill:#252931;stroke:#8a8f98}.line{stroke:#c0c4cc}}</style>\n"
    "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
    "orient=\"auto\"><path class=\"line\" d=\"M1 1L7 4L1 7\"/></marker></defs>\n";

TsrStatus draw_svg_begin(TsrText *out, int width, int height, const char *title, const char *description) {
    TSR_TRY(
        tsr_text_printf(out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                        "font-family=\"monospace\" font-size=\"13\" role=\"img\" aria-labelledby=\"title text\">\n",
                        width, height, width, height));
    TSR_TRY(tsr_text_puts(out, "<title id=\"title\">"));
    TSR_TRY(put_escaped(out, title));
    TSR_TRY(tsr_text_puts(out, "</title>\n<desc id=\"text\">"));
    TSR_TRY(put_escaped(out, description));
    TSR_TRY(tsr_text_printf(out, "</desc>\n%s", style));
    return tsr_text_puts(out, "<rect width=\"100%\" height=\"100%\" class=\"page\"/>\n");
}

TsrStatus draw_svg_label(TsrText *out, int x, int y, const char *attributes, const char *text) {
    TSR_TRY(tsr_text_printf(out, "<text x=\"%d\" y=\"%d\" %s>", x, y, attributes));
    TSR_TRY(put_escaped(out, text));
    return tsr_text_puts(out, "</text>\n");
}

static TsrStatus put_cell(TsrText *out, Place at, int width, Paint paint, const char *label) {
    if (paint.fill == NULL)
        TSR_TRY(tsr_text_printf(out, "<rect class=\"box\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", at.x, at.y,
                                width, CELL_HEIGHT));
    else
        TSR_TRY(tsr_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\"/>\n",
                                at.x, at.y, width, CELL_HEIGHT, paint.fill, paint.stroke));
    return draw_svg_label(
        out, at.x + width / 2, at.y + 18,
        paint.fill == NULL ? "class=\"ink\" text-anchor=\"middle\"" : "class=\"on\" text-anchor=\"middle\"", label);
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

static int band_height(const Picture *p) {
    return 20 + ROW
    *(p->view_count + 1) + MARGIN;
}
static int band_count(const Picture *p) { return (p->cell_count + BAND - 1) / BAND; }

/* Cell k of a band that begins at `band`: the element's number, its value, and it in each view. */
static TsrStatus put_band_cell(TsrText *out, const Picture *p, const Grid *g, int k, Place band) {
    const int width = cell_width(g, p), y = band.y, x = band.x + width * (k % BAND);
    if (p->cells[k] == GAP)
        return draw_svg_label(out, x + width / 2, y + 38, "text-anchor=\"middle\" class=\"dim\"", g->labels[1][k]);
    TSR_TRY(draw_svg_label(out, x + width / 2, y + 14, "text-anchor=\"middle\" class=\"dim\" font-size=\"11\"",
                           g->labels[0][k]));
    TSR_TRY(put_cell(out, (Place){x, y + 20}, width, (Paint){NULL, NULL}, g->labels[1][k]));
    for (int v = 0; v < p->view_count; v++) {
        const char *label = g->labels[2 + v][k];
        if (label[0] != '\0')
            TSR_TRY(put_cell(
                out,
                (Place) {
                    x, y + 20 + ROW
                    *(v + 1)
                },
                width, paint_of(v), label));
    }
    return TSR_OK;
}

static TsrStatus put_band(TsrText *out, const Picture *p, const Grid *g, int band, Place at) {
    const int y = at.y, x = at.x;
    TSR_TRY(draw_svg_label(out, x + MARGIN, y + 38, "class=\"dim\"", "value"));
    for (int v = 0; v < p->view_count; v++)
        TSR_TRY(draw_svg_label(out, x + MARGIN, y + 38 + ROW * (v + 1), "class=\"ink\" font-weight=\"bold\"",
                               p->views[v].name));
    for (int k = band * BAND; k < TSR_MIN((band + 1) * BAND, p->cell_count); k++)
        TSR_TRY(put_band_cell(out, p, g, k, (Place){x + left_of(p), y}));
    return TSR_OK;
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

static int64_t size_from_end(const TsrTensor *t, int k) { return tsr_ndim(t) >= k ? t->sizes[tsr_ndim(t) - k] : 1; }
static int64_t stride_from_end(const TsrTensor *t, int k) { return tsr_ndim(t) >= k ? t->strides[tsr_ndim(t) - k] : 0; }

static Slices slices_of(const Picture *p, const TsrTensor *t) {
    int64_t rows = size_from_end(t, 2), columns = size_from_end(t, 1), total = t->numel / TSR_MAX(rows * columns, 1);
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

/* The indices of slice number k into the dimensions before the last two, written as "[1, 0, :, :]". Returns where the
 * slice begins. */
static int64_t slice_at(char *label, size_t room, const TsrTensor *t, int64_t k) {
    int64_t index[TSR_MAX_DIMS] = {0}, at = t->offset;
    int outer = tsr_ndim(t) - 2;
    size_t n = 0;
    for (int d = outer - 1; d >= 0; d--) {
        index[d] = k % t->sizes[d];
        k /= t->sizes[d];
        at += index[d] * t->strides[d];
    }
    label[0] = '\0';
    for (int d = 0; d < outer && n < room; d++)
        n += (size_t)snprintf(label + n, room - n, "%s%lld", d == 0 ? "[" : ", ", (long long)index[d]);
    if (outer > 0 && n < room) snprintf(label + n, room - n, ", :, :]");
    return at;
}

static int line_height(const Slices *s) { return s->label + s->rows * CELL_HEIGHT + (s->lines > 1 ? GRID_GAP / 3 : 0); }

/* Slice k of view v, in the grid that begins at `grid`. */
static TsrStatus put_slice(TsrText *out, const Picture *p, const Slices *s, int v, int k, Place grid) {
    const TsrTensor *t = p->views[v].t;
    const int x = grid.x + k % s->per_line * s->width;
    int y = grid.y + k / s->per_line * line_height(s);
    char label[256];
    int64_t at = slice_at(label, sizeof label, t, k);
    if (s->label > 0) TSR_TRY(draw_svg_label(out, x, y + 12, "class=\"dim\" font-size=\"11\"", label));
    y += s->label;
    for (int i = 0; i < s->rows; i++)
        for (int j = 0; j < s->columns; j++) {
            snprintf(label, sizeof label, "%lld",
                     (long long)(at + i * stride_from_end(t, 2) + j * stride_from_end(t, 1)));
            TSR_TRY(put_cell(out, (Place){x + j * s->cell, y + i * CELL_HEIGHT}, s->cell, paint_of(v), label));
        }
    bool last = k + 1 == s->shown && s->cut_slices;
    return s->cut_rows || s->cut_columns || last
               ? draw_svg_label(out, x + s->columns * s->cell + 4, y + s->rows * CELL_HEIGHT, "class=\"dim\"", "...")
               : TSR_OK;
}

static TsrStatus put_grid(TsrText *out, const Picture *p, int v, Place at) {
    Slices s = slices_of(p, p->views[v].t);
    for (int k = 0; k < s.shown; k++) TSR_TRY(put_slice(out, p, &s, v, k, at));
    return TSR_OK;
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
static TsrStatus put_view(TsrText *out, const Picture *p, int v, int y) {
    const View *view = &p->views[v];
    char geometry[600], line[1000];
    snprintf(line, sizeof line, "%s%s%s: %s%s", view->name, view->origin[0] != '\0' ? " = " : "", view->origin,
             draw_geometry(geometry, sizeof geometry, view), view->t->numel > 0 ? "; element numbers:" : "");
    TSR_TRY(draw_svg_label(out, MARGIN, y + 14, "class=\"ink\"", line));
    return put_grid(out, p, v, (Place){left_of(p), y + 24});
}

/* ---- all of it ---- */

/* The storage's title and its bands. */
static TsrStatus put_cells(TsrText *out, const Picture *p, const Grid *g, Place at) {
    char title[160];
    char where[24];
    snprintf(title, sizeof title, "storage #%lld: %lld x %s, %" PRIu64 " bytes%s",
             (long long)tsr_storage_id(p->storage), (long long)p->elements, tsr_dtype_name(p->dtype),
             p->storage->nbytes, draw_where(where, p));
    TSR_TRY(
        draw_svg_label(out, at.x + MARGIN, at.y + 26, "class=\"ink\" font-weight=\"bold\" font-size=\"15\"", title));
    for (int band = 0; band < band_count(p); band++)
        TSR_TRY(put_band(out, p, g, band, (Place){at.x, at.y + TOP + band * band_height(p)}));
    return TSR_OK;
}

TsrStatus draw_cells_svg(TsrText *out, const Picture *p, int x, int y) {
    Grid *g = tsr_malloc(sizeof *g);
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    TsrStatus status = put_cells(out, p, g, (Place){x, y});
    tsr_free(g);
    return status;
}

void draw_cells_size(int *width, int *height, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    *width = *height = 0;
    if (g == NULL) return;
    draw_fill_grid(g, p);
    *width = TSR_MAX(left_of(p) + cell_width(g, p) * TSR_MIN(p->cell_count, BAND) + 2 * MARGIN, 420);
    *height = TOP + band_count(p) * band_height(p);
    tsr_free(g);
}

static TsrStatus put_all(TsrText *out, const Picture *p, const Grid *g) {
    int y = TOP + band_count(p) * band_height(p);
    TSR_TRY(put_cells(out, p, g, (Place){0, 0}));
    for (int v = 0; v < p->view_count; v++) {
        TSR_TRY(put_view(out, p, v, y));
        y += grid_height(p, p->views[v].t);
    }
    return TSR_OK;
}

static int picture_height(const Picture *p) {
    int height = TOP + band_count(p) * band_height(p) + MARGIN;
    for (int v = 0; v < p->view_count; v++) height += grid_height(p, p->views[v].t);
    return height;
}

TsrStatus draw_svg(TsrText *out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    int width = TSR_MAX(left_of(p) + cell_width(g, p) * TSR_MIN(p->cell_count, BAND) + 2 * MARGIN, 640),
        height = picture_height(p);
    for (int v = 0; v < p->view_count; v++) width = TSR_MAX(width, left_of(p) + grid_width(p, p->views[v].t));
    TsrText said = {0};
    char title[80];
    snprintf(title, sizeof title, "Storage #%lld and the tensors over it", (long long)tsr_storage_id(p->storage));
    TsrStatus status = draw_text(&said, p);
    if (status == TSR_OK) status = draw_svg_begin(out, width, height, title, said.data);
    tsr_text_free(&said);
    if (status == TSR_OK) status = put_all(out, p, g);
    if (status == TSR_OK) status = tsr_text_puts(out, "</svg>\n");
    tsr_free(g);
    return status;
}
