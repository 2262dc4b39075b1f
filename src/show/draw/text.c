/* A picture as text. */
#include "picture.h"

#include "core/mem.h"
#include "show/help/screen.h"

#include <inttypes.h>

/* The cells [from, to) of the grid, which fit a line after `indent` columns of names. */
typedef struct Band {
    const Grid *grid;
    int from, to, indent;
} Band;

typedef struct Rule {
    const char *left, *middle, *right, *line;
} Rule;

static TsrStatus append_rule(TsrText *out, const Band *b, const Rule *rule) {
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)b->indent));
    for (int k = b->from; k < b->to; k++) {
        TSR_TRY(tsr_text_puts(out, k == b->from ? rule->left : rule->middle));
        for (int i = 0; i < b->grid->width[k] + 2; i++) TSR_TRY(tsr_text_puts(out, rule->line));
    }
    TSR_TRY(tsr_text_puts(out, rule->right));
    return tsr_text_putc(out, '\n');
}

/* A line ends at its last visible character, so that pictures survive editors that strip blanks. */
static TsrStatus end_line(TsrText *out) {
    while (out->length > 0 && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    return tsr_text_putc(out, '\n');
}

/* Row r of the grid under its name, with `bar` between the cells. */
static TsrStatus append_row(TsrText *out, const Band *b, int r, const char *name, const char *bar) {
    TSR_TRY(tsr_text_puts(out, name));
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)TSR_MAX(0, b->indent - draw_columns(name))));
    for (int k = b->from; k < b->to; k++) {
        const char *label = b->grid->labels[r][k];
        TSR_TRY(tsr_text_puts(out, bar));
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(1 + b->grid->width[k] - draw_columns(label))));
        TSR_TRY(tsr_text_puts(out, label));
        TSR_TRY(tsr_text_putc(out, ' '));
    }
    TSR_TRY(tsr_text_puts(out, bar));
    return end_line(out);
}

static TsrStatus append_band(TsrText *out, const Picture *p, const Band *b) {
    static const Rule plain = {"+", "+", "+", "-"};
    static const Rule top = {"\xe2\x94\x8c", "\xe2\x94\xac", "\xe2\x94\x90", "\xe2\x94\x80"},
                      bottom = {"\xe2\x94\x94", "\xe2\x94\xb4", "\xe2\x94\x98", "\xe2\x94\x80"};
    TSR_TRY(append_row(out, b, 0, "index", " "));
    TSR_TRY(append_rule(out, b, p->unicode ? &top : &plain));
    TSR_TRY(append_row(out, b, 1, "value", p->unicode ? "\xe2\x94\x82" : "|"));
    TSR_TRY(append_rule(out, b, p->unicode ? &bottom : &plain));
    for (int v = 0; v < p->view_count; v++) TSR_TRY(append_row(out, b, 2 + v, p->views[v].name, " "));
    return TSR_OK;
}

static TsrStatus append_geometry(TsrText *out, const View *v) {
    char geometry[600];
    const char *open = v->origin[0] != '\0' ? " (" : "", *close = v->origin[0] != '\0' ? ")" : "";
    return tsr_text_printf(out, "%s%s%s%s: %s\n", v->name, open, v->origin, close,
                           draw_geometry(geometry, sizeof geometry, v));
}

/* The elements of a row of the first view, where all of a storage is shown and the view has it row by row; else 1. */
static int row_length(const Picture *p) {
    const TsrTensor *t = p->views[0].t;
    int last = tsr_ndim(t) - 1;
    return p->cell_count == p->elements && last >= 0 && t->offset == 0 && t->strides[last] == 1 &&
                   tsr_is_contiguous(t, TSR_CONTIGUOUS)
               ? (int)t->sizes[last]
               : 1;
}

/* Where the line of cells that begins with `from` ends: where it is full, or rather with the last row in it, so that
 * columns stand below each other. */
static int band_end(const Picture *p, const Grid *g, int from, int indent) {
    int to = from, width = indent + 1, row = row_length(p);
    while (to < p->cell_count && (to == from || width + g->width[to] + 3 <= screen_line(LINE_WIDTH)))
        width += g->width[to++] + 3;
    return to < p->cell_count && to - from > row && row > 0 ? to - (to - from) % row : to;
}

TsrStatus draw_cells_text(TsrText *out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    int indent = 6;
    char where[24];
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    for (int v = 0; v < p->view_count; v++) indent = TSR_MAX(indent, draw_columns(p->views[v].name) + 1);
    TsrStatus status =
        tsr_text_printf(out, "storage #%lld: %lld x %s, %" PRIu64 " bytes%s\n", (long long)tsr_storage_id(p->storage),
                        (long long)p->elements, tsr_dtype_name(p->dtype), p->storage->nbytes, draw_where(where, p));
    for (int from = 0; from < p->cell_count && status == TSR_OK;) {
        int to = band_end(p, g, from, indent);
        status = append_band(out, p, &(Band){g, from, to, indent});
        from = to;
    }
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    tsr_free(g);
    return status;
}

TsrStatus draw_text(TsrText *out, const Picture *p) {
    TSR_TRY(draw_cells_text(out, p));
    TSR_TRY(tsr_text_putc(out, '\n'));
    for (int v = 0; v < p->view_count; v++) TSR_TRY(append_geometry(out, &p->views[v]));
    TSR_TRY(draw_grids_text(out, p));
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    return TSR_OK;
}
