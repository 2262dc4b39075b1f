/* A picture as SVG: the storage in bands of cells with a row for each view beneath, then each view of one or two dimensions as the grid that it shows, every
 * cell with the number of the element it reaches. */
#include "draw_picture.h"

#include <stdio.h>
#include <string.h>

enum { BAND = 20, ROW = 30, CELL_HEIGHT = 26, TOP = 44, CHARACTER = 8, MARGIN = 14, GRID_SIZE = 8, GRID_CELL = 30, GRID_GAP = 36 };

static const char *const fills[] = {"#cfe4ff", "#ffdfc0", "#d3f2d3", "#f3d4ef", "#fff0a8", "#dad7ff", "#ffd6d6", "#cdf5f0"};
static const char *const strokes[] = {"#3a7bd5", "#d9822b", "#3d9a3d", "#b04aa5", "#b59a00", "#6a60d0", "#d05050", "#2a9d8f"};

static TsrStatus put_escaped(TsrText *out, const char *text) {
    for (; *text != '\0'; text++) {
        const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '"' ? "&quot;" : NULL;
        TSR_TRY(as != NULL ? tsr_text_puts(out, as) : tsr_text_putc(out, *text));
    }
    return TSR_OK;
}

static TsrStatus put_text(TsrText *out, int x, int y, const char *attributes, const char *text) {
    TSR_TRY(tsr_text_printf(out, "<text x=\"%d\" y=\"%d\" %s>", x, y, attributes));
    TSR_TRY(put_escaped(out, text));
    return tsr_text_puts(out, "</text>\n");
}

static TsrStatus put_cell(TsrText *out, int x, int y, int width, const char *fill, const char *stroke, const char *label) {
    TSR_TRY(tsr_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\"/>\n", x, y, width, CELL_HEIGHT, fill, stroke));
    return put_text(out, x + width / 2, y + 18, "text-anchor=\"middle\"", label);
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

static int band_height(const Picture *p) { return 20 + ROW * (p->view_count + 1) + MARGIN; }
static int band_count(const Picture *p) { return (p->cell_count + BAND - 1) / BAND; }

static TsrStatus put_band_cell(TsrText *out, const Picture *p, const Grid *g, int k, int x, int y, int width) {
    if (p->cells[k] == GAP) return put_text(out, x + width / 2, y + 38, "text-anchor=\"middle\" fill=\"#888\"", g->labels[1][k]);
    TSR_TRY(put_text(out, x + width / 2, y + 14, "text-anchor=\"middle\" fill=\"#888\" font-size=\"11\"", g->labels[0][k]));
    TSR_TRY(put_cell(out, x, y + 20, width, "#f6f6f6", "#666", g->labels[1][k]));
    for (int v = 0; v < p->view_count; v++) {
        const char *label = g->labels[2 + v][k];
        int c = v % (int)TSR_COUNTOF(fills);
        if (label[0] != '\0') TSR_TRY(put_cell(out, x, y + 20 + ROW * (v + 1), width, fills[c], strokes[c], label));
    }
    return TSR_OK;
}

static TsrStatus put_band(TsrText *out, const Picture *p, const Grid *g, int band, int y) {
    int width = cell_width(g, p);
    TSR_TRY(put_text(out, MARGIN, y + 38, "fill=\"#444\"", "value"));
    for (int v = 0; v < p->view_count; v++) TSR_TRY(put_text(out, MARGIN, y + 38 + ROW * (v + 1), "font-weight=\"bold\"", p->views[v].name));
    for (int k = band * BAND; k < TSR_MIN((band + 1) * BAND, p->cell_count); k++) TSR_TRY(put_band_cell(out, p, g, k, left_of(p) + width * (k - band * BAND), y, width));
    return TSR_OK;
}

/* ---- grids: what each view shows ---- */

static bool has_grid(const TsrTensor *t) { return tsr_ndim(t) >= 1 && tsr_ndim(t) <= 2 && t->numel > 0; }

static void grid_sizes(const TsrTensor *t, int *rows, int *columns) {
    int n = tsr_ndim(t);
    *rows = n == 2 ? (int)TSR_MIN(t->sizes[0], (int64_t)GRID_SIZE) : 1;
    *columns = (int)TSR_MIN(t->sizes[n - 1], (int64_t)GRID_SIZE);
}

static int grid_cell_width(const Picture *p) {
    char number[24];
    return TSR_MAX(GRID_CELL, 12 + CHARACTER * snprintf(number, sizeof number, "%lld", (long long)p->elements));
}

static TsrStatus put_grid(TsrText *out, const Picture *p, int v, int x, int y) {
    const TsrTensor *t = p->views[v].t;
    int rows, columns, n = tsr_ndim(t), width = grid_cell_width(p), c = v % (int)TSR_COUNTOF(fills);
    char label[64];
    grid_sizes(t, &rows, &columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            snprintf(label, sizeof label, "%lld", (long long)(t->offset + (n == 2 ? i * t->strides[0] : 0) + j * t->strides[n - 1]));
            TSR_TRY(put_cell(out, x + j * width, y + i * CELL_HEIGHT, width, fills[c], strokes[c], label));
        }
    bool cut = t->sizes[n - 1] > columns || (n == 2 && t->sizes[0] > rows);
    return cut ? put_text(out, x + columns * width + 6, y + rows * CELL_HEIGHT, "fill=\"#888\"", "...") : TSR_OK;
}

static int grid_height(const TsrTensor *t) {
    int rows = 0, columns = 0;
    if (has_grid(t)) grid_sizes(t, &rows, &columns);
    return 24 + rows * CELL_HEIGHT + GRID_GAP / 2;
}

/* The view's name and geometry, and its grid beneath. */
static TsrStatus put_view(TsrText *out, const Picture *p, int v, int y) {
    const View *view = &p->views[v];
    char geometry[600], line[1000];
    snprintf(line, sizeof line, "%s%s%s: %s%s", view->name, view->origin[0] != '\0' ? " = " : "", view->origin, draw_geometry(geometry, sizeof geometry, view),
             has_grid(view->t) ? "; element numbers:" : "");
    TSR_TRY(put_text(out, MARGIN, y + 14, "", line));
    return has_grid(view->t) ? put_grid(out, p, v, left_of(p), y + 24) : TSR_OK;
}

/* ---- all of it ---- */

static TsrStatus put_all(TsrText *out, const Picture *p, const Grid *g) {
    char title[160];
    int y = TOP;
    snprintf(title, sizeof title, "storage #%lld: %lld x %s, %zu bytes", (long long)tsr_storage_id(p->storage), (long long)p->elements, tsr_dtype_name(p->dtype), p->storage->nbytes);
    TSR_TRY(put_text(out, MARGIN, 26, "font-weight=\"bold\" font-size=\"15\"", title));
    for (int band = 0; band < band_count(p); band++, y += band_height(p)) TSR_TRY(put_band(out, p, g, band, y));
    for (int v = 0; v < p->view_count; v++) {
        TSR_TRY(put_view(out, p, v, y));
        y += grid_height(p->views[v].t);
    }
    return TSR_OK;
}

static int picture_height(const Picture *p) {
    int height = TOP + band_count(p) * band_height(p) + MARGIN;
    for (int v = 0; v < p->view_count; v++) height += grid_height(p->views[v].t);
    return height;
}

TsrStatus draw_svg(TsrText *out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    int width = TSR_MAX(left_of(p) + cell_width(g, p) * TSR_MIN(p->cell_count, BAND) + 2 * MARGIN, 640), height = picture_height(p);
    TsrStatus status = tsr_text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"monospace\" font-size=\"13\">\n", width, height, width, height);
    if (status == TSR_OK) status = tsr_text_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    if (status == TSR_OK) status = put_all(out, p, g);
    if (status == TSR_OK) status = tsr_text_puts(out, "</svg>\n");
    tsr_free(g);
    return status;
}
