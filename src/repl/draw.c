/* The picture: a row of cells for the storage's elements with their values, and under it a row for each view with the index that reaches each cell;
 * gaps stay empty, a cell that several indices reach (stride 0, overlap) says how many. */
#include "draw.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "core/layout.h"
#include "core/tensor.h"
#include "inspect.h"
#include "namespace.h"
#include "number.h"
#include "str_obj.h"
#include "who.h"

enum { MAX_VIEWS = 8, MAX_CELLS = 64, EDGE = 12, LABEL_ROOM = 40, NAME_ROOM = 64, LINE_WIDTH = 96 };

/* One view over the storage being drawn. */
typedef struct View {
    TsrTensor *t; /* lent */
    char name[NAME_ROOM];
} View;

typedef struct Picture {
    TsrStorage *storage;
    TsrDtype dtype;
    int64_t elements;            /* of the storage, by the first view's dtype */
    View views[MAX_VIEWS];
    int view_count;
    int64_t cells[MAX_CELLS];    /* which elements are shown; -1: a gap in the numbering */
    int cell_count;
    bool unicode;
} Picture;

/* ---- what to show ---- */

static void choose_cells(Picture *p) {
    bool all = p->elements <= MAX_CELLS;
    for (int64_t i = 0; i < p->elements; i++) {
        if (!all && i == EDGE) {
            p->cells[p->cell_count++] = -1;
            i = p->elements - EDGE;
        }
        p->cells[p->cell_count++] = i;
    }
}

/* How many indices of t reach element `cell`, and the first one. Walks only the dimensions that can reach it. */
static int64_t reach(const TsrTensor *t, int64_t cell, int dim, int64_t offset, int64_t *index, int64_t *first) {
    if (dim == tsr_ndim(t)) {
        if (offset != cell) return 0;
        memcpy(first, index, sizeof(int64_t) * (size_t)dim);
        return 1;
    }
    int64_t rest = 0, hits = 0;
    for (int d = dim + 1; d < tsr_ndim(t); d++) rest += (t->sizes[d] - 1) * t->strides[d];
    if (t->strides[dim] == 0) {
        index[dim] = 0;
        hits = reach(t, cell, dim + 1, offset, index, first);
        return hits * t->sizes[dim];
    }
    int64_t low = cell - offset - rest, from = low <= 0 ? 0 : (low + t->strides[dim] - 1) / t->strides[dim], to = (cell - offset) / t->strides[dim];
    int64_t kept[TSR_MAX_DIMS];
    for (int64_t i = TSR_MIN(to, t->sizes[dim] - 1); i >= from && cell >= offset; i--) { /* downwards: the smallest index is found last */
        index[dim] = i;
        int64_t n = reach(t, cell, dim + 1, offset + i * t->strides[dim], index, kept);
        if (n > 0) memcpy(first, kept, sizeof(int64_t) * (size_t)tsr_ndim(t));
        hits += n;
    }
    return hits;
}

/* "1,2", or "0,0 x3" where three indices reach the cell; empty where none does. */
static void cell_label(char *label, const TsrTensor *t, int64_t cell, bool unicode) {
    int64_t index[TSR_MAX_DIMS], first[TSR_MAX_DIMS];
    int n = tsr_ndim(t);
    label[0] = '\0';
    if (t->numel == 0 || n > 6) return;
    int64_t hits = reach(t, cell, 0, t->offset, index, first);
    if (hits == 0) return;
    size_t at = 0;
    for (int d = 0; d < n; d++) at += (size_t)snprintf(label + at, LABEL_ROOM - at, d > 0 ? ",%lld" : "%lld", (long long)first[d]);
    if (n == 0) at += (size_t)snprintf(label + at, LABEL_ROOM - at, "()");
    if (hits > 1) snprintf(label + at, LABEL_ROOM - at, unicode ? " \xc3\x97%lld" : " x%lld", (long long)hits);
}

static void value_label(char *label, const Picture *p, int64_t cell) {
    const char *data = p->storage->ptr.data;
    label[0] = '\0';
    if (data == NULL || !tsr_dtype_is_pod(p->dtype)) {
        snprintf(label, LABEL_ROOM, "?");
        return;
    }
    TsrScalar s = tsr_scalar_load(p->dtype, data + cell * (int64_t)tsr_dtype_size(p->dtype));
    if (s.kind == TSR_SCALAR_BOOL) snprintf(label, LABEL_ROOM, "%s", s.b ? "T" : "F");
    else if (s.kind == TSR_SCALAR_INT) snprintf(label, LABEL_ROOM, "%lld", (long long)s.i);
    else if (s.kind == TSR_SCALAR_UINT) snprintf(label, LABEL_ROOM, "%llu", (unsigned long long)s.u);
    else if (s.kind == TSR_SCALAR_COMPLEX) snprintf(label, LABEL_ROOM, "%.3g%+.3gj", s.c.re, s.c.im);
    else snprintf(label, LABEL_ROOM, "%.4g", s.f);
}

/* ---- text ---- */

typedef struct Grid {
    char labels[MAX_VIEWS + 2][MAX_CELLS][LABEL_ROOM];
    int width[MAX_CELLS];
    int rows;
} Grid;

static int columns_of(const char *label) {
    int n = 0;
    for (; *label != '\0'; label++) n += ((unsigned char)*label & 0xc0) != 0x80;
    return n;
}

static void fill_grid(Grid *g, const Picture *p) {
    g->rows = 2 + p->view_count;
    for (int k = 0; k < p->cell_count; k++) {
        int64_t cell = p->cells[k];
        g->width[k] = 1;
        for (int r = 0; r < g->rows; r++) {
            char *label = g->labels[r][k];
            label[0] = '\0';
            if (cell < 0) snprintf(label, LABEL_ROOM, p->unicode ? "\xe2\x80\xa6" : "...");
            else if (r == 0) snprintf(label, LABEL_ROOM, "%lld", (long long)cell);
            else if (r == 1) value_label(label, p, cell);
            else cell_label(label, p->views[r - 2].t, cell, p->unicode);
            g->width[k] = TSR_MAX(g->width[k], columns_of(label));
        }
    }
}

static TsrStatus append_rule(TsrText *out, const Grid *g, int from, int to, int indent, const char *left, const char *middle, const char *right, const char *line) {
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)indent));
    for (int k = from; k < to; k++) {
        TSR_TRY(tsr_text_puts(out, k == from ? left : middle));
        for (int i = 0; i < g->width[k] + 2; i++) TSR_TRY(tsr_text_puts(out, line));
    }
    TSR_TRY(tsr_text_puts(out, right));
    return tsr_text_putc(out, '\n');
}

/* A line ends at its last visible character, so that pictures survive editors that strip blanks. */
static TsrStatus end_line(TsrText *out) {
    while (out->length > 0 && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    return tsr_text_putc(out, '\n');
}

static TsrStatus append_grid_row(TsrText *out, const Grid *g, int r, int from, int to, int indent, const char *name, const char *bar) {
    TSR_TRY(tsr_text_puts(out, name));
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)TSR_MAX(0, indent - columns_of(name))));
    for (int k = from; k < to; k++) {
        const char *label = g->labels[r][k];
        int space = g->width[k] - columns_of(label);
        TSR_TRY(tsr_text_puts(out, bar));
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(1 + space)));
        TSR_TRY(tsr_text_puts(out, label));
        TSR_TRY(tsr_text_putc(out, ' '));
    }
    TSR_TRY(tsr_text_puts(out, bar));
    return end_line(out);
}

static TsrStatus append_band(TsrText *out, const Picture *p, const Grid *g, int from, int to, int indent) {
    const char *bar = p->unicode ? "\xe2\x94\x82" : "|";
    TSR_TRY(append_grid_row(out, g, 0, from, to, indent, "index", " "));
    if (p->unicode) TSR_TRY(append_rule(out, g, from, to, indent, "\xe2\x94\x8c", "\xe2\x94\xac", "\xe2\x94\x90", "\xe2\x94\x80"));
    else TSR_TRY(append_rule(out, g, from, to, indent, "+", "+", "+", "-"));
    TSR_TRY(append_grid_row(out, g, 1, from, to, indent, "value", bar));
    if (p->unicode) TSR_TRY(append_rule(out, g, from, to, indent, "\xe2\x94\x94", "\xe2\x94\xb4", "\xe2\x94\x98", "\xe2\x94\x80"));
    else TSR_TRY(append_rule(out, g, from, to, indent, "+", "+", "+", "-"));
    for (int v = 0; v < p->view_count; v++) TSR_TRY(append_grid_row(out, g, 2 + v, from, to, indent, p->views[v].name, " "));
    return TSR_OK;
}

static TsrStatus append_geometry(TsrText *out, const View *v) {
    char a[256], b[256];
    return tsr_text_printf(out, "%s: shape %s, strides %s, offset %lld\n", v->name, tsr_layout_format(a, sizeof a, tsr_ndim(v->t), v->t->sizes),
                           tsr_layout_format(b, sizeof b, tsr_ndim(v->t), v->t->strides), (long long)v->t->offset);
}

static TsrStatus draw_text(TsrText *out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    int indent = 6;
    if (g == NULL) return mem_error();
    fill_grid(g, p);
    for (int v = 0; v < p->view_count; v++) indent = TSR_MAX(indent, columns_of(p->views[v].name) + 1);
    TsrStatus status = tsr_text_printf(out, "storage #%lld: %lld x %s, %zu bytes\n", (long long)tsr_storage_id(p->storage), (long long)p->elements, tsr_dtype_name(p->dtype), p->storage->nbytes);
    for (int from = 0; from < p->cell_count && status == TSR_OK;) {
        int to = from, width = indent;
        while (to < p->cell_count && (to == from || width + g->width[to] + 3 <= LINE_WIDTH)) width += g->width[to++] + 3;
        status = append_band(out, p, g, from, to, indent);
        from = to;
    }
    for (int v = 0; v < p->view_count && status == TSR_OK; v++) status = append_geometry(out, &p->views[v]);
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    tsr_free(g);
    return status;
}

/* ---- SVG ---- */

static TsrStatus svg_cell(TsrText *out, int x, int y, int width, const char *fill, const char *label) {
    TSR_TRY(tsr_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"28\" fill=\"%s\" stroke=\"#555\"/>\n", x, y, width, fill));
    TSR_TRY(tsr_text_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x + width / 2, y + 19));
    TSR_TRY(tsr_text_puts(out, label));
    return tsr_text_puts(out, "</text>\n");
}

static TsrStatus draw_svg(TsrText *out, const Picture *p) {
    static const char *const colours[] = {"#cfe8ff", "#ffe0c2", "#d6f5d6", "#f4d6f0", "#fff3b0", "#d9d6ff", "#ffd6d6", "#d6fff6"};
    Grid *g = tsr_malloc(sizeof *g);
    if (g == NULL) return mem_error();
    fill_grid(g, p);
    int widest = 1, left = 110;
    for (int k = 0; k < p->cell_count; k++) widest = TSR_MAX(widest, g->width[k]);
    int cell = 16 + 9 * widest, height = 70 + 34 * (p->view_count + 1);
    TsrStatus status = tsr_text_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"monospace\" font-size=\"14\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
                                       left + cell * p->cell_count + 20, height);
    if (status == TSR_OK) status = tsr_text_printf(out, "<text x=\"10\" y=\"22\">storage #%lld: %lld x %s</text>\n", (long long)tsr_storage_id(p->storage), (long long)p->elements, tsr_dtype_name(p->dtype));
    for (int r = 1; r < g->rows && status == TSR_OK; r++) {
        int y = 40 + 34 * (r - 1);
        status = tsr_text_printf(out, "<text x=\"10\" y=\"%d\">%s</text>\n", y + 19, r == 1 ? "value" : p->views[r - 2].name);
        for (int k = 0; k < p->cell_count && status == TSR_OK; k++) {
            bool reached = g->labels[r][k][0] != '\0';
            status = svg_cell(out, left + cell * k, y, cell, r == 1 ? "#f4f4f4" : reached ? colours[(r - 2) % (int)TSR_COUNTOF(colours)] : "white", g->labels[r][k]);
        }
    }
    if (status == TSR_OK) status = tsr_text_puts(out, "</svg>\n");
    tsr_free(g);
    return status;
}

/* ---- the function ---- */

static TsrStatus add_view(Picture *p, Value v) {
    TsrTensor *t;
    TSR_TRY(who_tensor(&t, v, "draw"));
    if (t->storage == NULL || tsr_is_meta(t)) return tsr_error(TSR_RUNTIME_ERROR, "draw(): this tensor has no memory to draw");
    TSR_TRY(tsr_tensor_check(t, false));
    if (p->view_count == MAX_VIEWS) return tsr_error(TSR_VALUE_ERROR, "draw(): at most %d tensors", MAX_VIEWS);
    if (p->view_count > 0 && (t->storage != p->storage || t->dtype != p->dtype)) return tsr_error(TSR_VALUE_ERROR, "draw(): the tensors must look at one storage, with one dtype");
    View *view = &p->views[p->view_count++];
    view->t = t;
    who_name(view->name, sizeof view->name, t);
    if (view->name[0] == '\0') snprintf(view->name, sizeof view->name, "view %d", p->view_count);
    p->storage = t->storage;
    p->dtype = t->dtype;
    p->elements = (int64_t)(t->storage->nbytes / tsr_itemsize(t));
    return TSR_OK;
}

static TsrStatus write_file(const char *path, const TsrText *text) {
    FILE *f = fopen(path, "we");
    if (f == NULL) return tsr_error(TSR_OS_ERROR, "%s: can't be written", path);
    bool ok = fwrite(text->data, 1, text->length, f) == text->length;
    return fclose(f) == 0 && ok ? TSR_OK : tsr_error(TSR_OS_ERROR, "%s: can't be written", path);
}

static TsrStatus draw(Value *out, const CallArgs *args) {
    Picture *p = tsr_calloc(1, sizeof *p);
    Value file = args_keyword(args, "file");
    TsrText text = {0};
    const char *path = NULL;
    if (p == NULL) return mem_error();
    const char *codeset = nl_langinfo(CODESET);
    const char *lang = getenv("LC_ALL") != NULL && *getenv("LC_ALL") ? getenv("LC_ALL") : getenv("LC_CTYPE") != NULL && *getenv("LC_CTYPE") ? getenv("LC_CTYPE") : getenv("LANG");
    p->unicode = (codeset != NULL && strcmp(codeset, "UTF-8") == 0) || (lang != NULL && (strstr(lang, "UTF-8") != NULL || strstr(lang, "utf8") != NULL));
    TsrStatus status = args->count == 0 ? tsr_error(TSR_TYPE_ERROR, "draw() missing 1 required positional argument: 'x'") : TSR_OK;
    for (int i = 0; i < args->count && status == TSR_OK; i++) status = add_view(p, args->values[i]);
    if (status == TSR_OK && file.tag > V_NONE) status = value_to_cstring(&path, file, "draw(): argument 'file'");
    if (status == TSR_OK) choose_cells(p);
    if (status == TSR_OK) status = path != NULL ? draw_svg(&text, p) : draw_text(&text, p);
    if (status == TSR_OK && path != NULL) {
        status = write_file(path, &text);
        *out = VALUE_NONE;
    } else if (status == TSR_OK) {
        status = str_new_text_move(out, &text);
        if (status == TSR_OK) note_mark(*out);
    }
    tsr_text_free(&text);
    tsr_free(p);
    return status;
}

static const Method functions[] = {{"draw", draw, ARGS_ANY, 1, -1, "(x, ..., *, file=None)", "A picture of the storage and of the tensors on it; with file= an SVG."}, {0}};

TsrStatus draw_startup(void) { return namespace_add_functions("tsr", functions, true); }
