/* The tensors of a picture as the grids that they show, in text: one for each slice of the last two dimensions, every
 * cell with the number of the storage's element that it reaches, side by side where the window has room. What has one
 * dimension, or none, the cells of the storage show already. */
#include "picture.h"
#include "show/help/screen.h"

#include <inttypes.h>
#include <stdio.h>

enum { INDENT = 6, GAP_COLUMNS = 3, ROWS = 8, COLUMNS = 8, SLICES = 4, MOST = MAX_VIEWS * SLICES, TITLE_ROOM = 96 };

/* One slice. */
typedef struct Block {
    const TsrTensor *t;
    char title[TITLE_ROOM];
    int64_t at;        /* the element that it begins with */
    int rows, columns; /* shown, the last one as dots where some are left out */
    bool cut_rows, cut_columns;
    int cell;  /* the width of a cell's number */
    int width; /* of all of it */
} Block;

typedef struct Blocks {
    Block items[MOST];
    int count;
    bool unicode;
} Blocks;

/* The number in row i and column j; of a row or column that stands for those left out, dots. */
static int label_of(char label[24], const Block *b, bool unicode, int i, int j) {
    bool dots = (b->cut_rows && i + 1 == b->rows) || (b->cut_columns && j + 1 == b->columns);
    int64_t element = b->at + i * draw_stride_from_end(b->t, 2) + j * draw_stride_from_end(b->t, 1);
    if (dots) snprintf(label, 24, "%s", unicode ? "\xe2\x80\xa6" : "..");
    else snprintf(label, 24, "%" PRId64, element);
    return draw_columns(label);
}

static int grid_width(const Block *b) { return b->columns * (b->cell + 3) + 1; }

/* One that is wider than the window shows fewer columns. */
static void measure(Block *b, bool unicode) {
    char label[24];
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->columns; j++) b->cell = TSR_MAX(b->cell, label_of(label, b, unicode, i, j));
    for (; b->columns > 2 && INDENT + grid_width(b) > screen_line(LINE_WIDTH); b->columns--) b->cut_columns = true;
    b->width = TSR_MAX(draw_columns(b->title), grid_width(b));
}

static void add_slice(Blocks *all, const View *v, int64_t k, bool more) {
    Block *b = &all->items[all->count++];
    char where[TITLE_ROOM];
    *b = (Block){.t = v->t, .at = draw_slice_at(where, sizeof where, v->t, k)};
    snprintf(b->title, sizeof b->title, "%.40s%.48s%s", v->name, where, more ? " .." : "");
    b->cut_rows = draw_size_from_end(v->t, 2) > ROWS;
    b->cut_columns = draw_size_from_end(v->t, 1) > COLUMNS;
    b->rows = b->cut_rows ? ROWS + 1 : (int)draw_size_from_end(v->t, 2);
    b->columns = b->cut_columns ? COLUMNS + 1 : (int)draw_size_from_end(v->t, 1);
    measure(b, all->unicode);
}

static void add_view(Blocks *all, const View *v) {
    int64_t in_slice = draw_size_from_end(v->t, 1) * draw_size_from_end(v->t, 2);
    if (v->result != NULL || tsr_ndim(v->t) < 2 || v->t->numel == 0) return;
    int64_t slices = v->t->numel / in_slice, shown = TSR_MIN(slices, (int64_t)SLICES);
    for (int64_t k = 0; k < shown; k++) add_slice(all, v, k, k + 1 == shown && slices > shown);
}

/* ---- lines: 0 the title, 1 the upper edge, then the rows, then the lower edge ---- */

static TsrStatus put_edge(TsrText *out, const Block *b, bool top, bool unicode) {
    const char *across = unicode ? "\xe2\x94\x80" : "-",
               *cross = !unicode ? "+"
                        : top    ? "\xe2\x94\xac"
                                 : "\xe2\x94\xb4",
               *left = !unicode ? "+"
                       : top    ? "\xe2\x94\x8c"
                                : "\xe2\x94\x94",
               *right = !unicode ? "+"
                        : top    ? "\xe2\x94\x90"
                                 : "\xe2\x94\x98";
    for (int j = 0; j < b->columns; j++) {
        TSR_TRY(tsr_text_puts(out, j == 0 ? left : cross));
        for (int i = 0; i < b->cell + 2; i++) TSR_TRY(tsr_text_puts(out, across));
    }
    return tsr_text_puts(out, right);
}

static TsrStatus put_numbers(TsrText *out, const Block *b, int row, bool unicode) {
    const char *bar = unicode ? "\xe2\x94\x82" : "|";
    char label[24];
    for (int j = 0; j < b->columns; j++) {
        int columns = label_of(label, b, unicode, row, j);
        TSR_TRY(tsr_text_puts(out, bar));
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(b->cell + 1 - columns)));
        TSR_TRY(tsr_text_printf(out, "%s ", label));
    }
    return tsr_text_puts(out, bar);
}

static TsrStatus put_line(TsrText *out, const Block *b, int line, bool unicode) {
    int used = grid_width(b);
    if (line == 0) {
        TSR_TRY(tsr_text_puts(out, b->title));
        used = draw_columns(b->title);
    } else if (line == 1 || line == b->rows + 2) TSR_TRY(put_edge(out, b, line == 1, unicode));
    else if (line < b->rows + 2) TSR_TRY(put_numbers(out, b, line - 2, unicode));
    else used = 0;
    return tsr_text_pad(out, ' ', (size_t)(b->width - used + GAP_COLUMNS));
}

/* The blocks [from, to) side by side. */
static TsrStatus put_side_by_side(TsrText *out, const Blocks *all, int from, int to) {
    int lines = 0;
    for (int k = from; k < to; k++) lines = TSR_MAX(lines, all->items[k].rows + 3);
    for (int line = 0; line < lines; line++) {
        TSR_TRY(tsr_text_puts(out, line == 0 ? "index " : "      "));
        for (int k = from; k < to; k++) TSR_TRY(put_line(out, &all->items[k], line, all->unicode));
        while (out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
        TSR_TRY(tsr_text_putc(out, '\n'));
    }
    return TSR_OK;
}

static TsrStatus put_all(TsrText *out, const Blocks *all) {
    int room = screen_line(LINE_WIDTH);
    for (int from = 0; from < all->count;) {
        int to = from, width = INDENT;
        while (to < all->count && (to == from || width + all->items[to].width <= room))
            width += all->items[to++].width + GAP_COLUMNS;
        TSR_TRY(put_side_by_side(out, all, from, to));
        from = to;
    }
    return TSR_OK;
}

TsrStatus draw_grids_text(TsrText *out, const Picture *p) {
    Blocks *all = tsr_calloc(1, sizeof *all);
    if (all == NULL) return mem_error();
    all->unicode = p->unicode;
    for (int v = 0; v < p->view_count; v++) add_view(all, &p->views[v]);
    TsrStatus status = put_all(out, all);
    tsr_free(all);
    return status;
}
