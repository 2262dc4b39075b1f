/* The picture: a row of cells for the storage's elements with their values, and under it a row for each view with the index that reaches each cell
 * (beyond six dimensions its place in row-major order); gaps stay empty, a cell that several indices reach (stride 0, overlap) says how many. */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "draw_picture.h"
#include "inspect.h"
#include "io.h"
#include "namespace.h"
#include "options.h"
#include "str_obj.h"
#include "who.h"

/* ---- what to show ---- */

/* The first and the last element that a view reaches. */
static void span_of(const TsrTensor *t, int64_t *first, int64_t *last) {
    *first = *last = t->offset;
    for (int d = 0; d < tsr_ndim(t); d++) *last += (t->sizes[d] - 1) * t->strides[d];
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void add_window(int64_t *wanted, int *count, const Picture *p, int64_t from, int64_t to) {
    for (int64_t i = TSR_MAX(from, 0); i <= TSR_MIN(to, p->elements - 1) && *count < MAX_WANTED; i++) wanted[(*count)++] = i;
}

/* Of a large storage: its ends, and where each view begins and ends. */
static void choose_some_cells(Picture *p) {
    int64_t wanted[MAX_WANTED], first, last;
    int count = 0;
    add_window(wanted, &count, p, 0, 2);
    add_window(wanted, &count, p, p->elements - 2, p->elements - 1);
    for (int v = 0; v < p->view_count; v++) {
        const TsrTensor *t = p->views[v].t;
        if (t->numel == 0) continue;
        span_of(t, &first, &last);
        add_window(wanted, &count, p, first - 1, first + EDGE - 1);
        add_window(wanted, &count, p, last - EDGE / 2, last + 1);
    }
    qsort(wanted, (size_t)count, sizeof wanted[0], by_number);
    int64_t before = -1;
    for (int i = 0; i < count && p->cell_count + 2 < MAX_CELLS; i++) {
        if (wanted[i] == before) continue;
        if (wanted[i] > before + 1) p->cells[p->cell_count++] = GAP;
        p->cells[p->cell_count++] = before = wanted[i];
    }
}

static void choose_cells(Picture *p) {
    if (p->elements > MAX_CELLS) {
        choose_some_cells(p);
        return;
    }
    for (int64_t i = 0; i < p->elements; i++) p->cells[p->cell_count++] = i;
}

/* The search for the indices of a view that reach one cell. Where many dimensions overlap there may be more of them than one can count: it then stops. */
typedef struct Search {
    const TsrTensor *t;
    int64_t cell;
    int64_t index[TSR_MAX_DIMS], first[TSR_MAX_DIMS]; /* the one at hand, and the first of all in row-major order */
    int64_t hits;
    int steps;
} Search;

enum { MAX_STEPS = 20000, MAX_INDEX = 6 /* numbers of an index that a cell has room for */ };

/* With index[0 .. dim) chosen, which come to `offset`, in `times` ways each. Tries only what the dimensions left can make up for. */
static void search_from(Search *s, int dim, int64_t offset, int64_t times) {
    const TsrTensor *t = s->t;
    if (s->steps >= MAX_STEPS) return;
    s->steps++;
    if (dim == tsr_ndim(t)) {
        if (s->hits == 0) memcpy(s->first, s->index, sizeof s->index[0] * (size_t)dim);
        s->hits += times;
        return;
    }
    int64_t rest = 0, stride = t->strides[dim], left = s->cell - offset;
    for (int d = dim + 1; d < tsr_ndim(t); d++) rest += (t->sizes[d] - 1) * t->strides[d];
    if (left < 0 || left > rest + (t->sizes[dim] - 1) * stride) return;
    s->index[dim] = 0;
    if (stride == 0) {
        search_from(s, dim + 1, offset, times * t->sizes[dim]);
        return;
    }
    int64_t from = left <= rest ? 0 : (left - rest + stride - 1) / stride, to = TSR_MIN(left / stride, t->sizes[dim] - 1);
    for (int64_t i = from; i <= to && s->steps < MAX_STEPS; i++) {
        s->index[dim] = i;
        search_from(s, dim + 1, offset + i * stride, times);
    }
}

/* "1,2"; of an index of many numbers its place in row-major order, "#17". */
static int index_label(char *label, size_t room, const TsrTensor *t, const int64_t *index) {
    int64_t place = 0;
    size_t at = 0;
    if (tsr_ndim(t) == 0) return snprintf(label, room, "()");
    for (int d = 0; d < tsr_ndim(t); d++) place = place * t->sizes[d] + index[d];
    if (tsr_ndim(t) > MAX_INDEX) return snprintf(label, room, "#%lld", (long long)place);
    for (int d = 0; d < tsr_ndim(t) && at < room; d++) at += (size_t)snprintf(label + at, room - at, d > 0 ? ",%lld" : "%lld", (long long)index[d]);
    return (int)at;
}

/* "1,2", or "0,0 x3" where three indices reach the cell, "0,0 x999+" where at least that many do; empty where none does. */
static void cell_label(char *label, const TsrTensor *t, int64_t cell, bool unicode) {
    Search s = {.t = t, .cell = cell};
    label[0] = '\0';
    if (t->numel == 0) return;
    search_from(&s, 0, t->offset, 1);
    bool gave_up = s.steps == MAX_STEPS;
    if (s.hits == 0) {
        if (gave_up) snprintf(label, LABEL_ROOM, "?");
        return;
    }
    int at = index_label(label, LABEL_ROOM, t, s.first);
    if ((s.hits > 1 || gave_up) && at < LABEL_ROOM) snprintf(label + at, LABEL_ROOM - (size_t)at, "%s%lld%s", unicode ? " \xc3\x97" : " x", (long long)s.hits, gave_up ? "+" : "");
}

/* The text of a string element, cut to a few characters. */
static void string_label(char *label, const TsrString *s) {
    size_t n = TSR_MIN(s->length, (size_t)10);
    while (n > 0 && n < s->length && ((unsigned char)s->data[n] & 0xc0) == 0x80) n--;
    snprintf(label, LABEL_ROOM, "'%.*s%s'", (int)n, s->data != NULL ? s->data : "", n < s->length ? ".." : "");
    for (char *c = label; *c != '\0'; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
}

static void value_label(char *label, const Picture *p, int64_t cell) {
    const char *data = p->storage->ptr.data;
    if (data == NULL) snprintf(label, LABEL_ROOM, "?");
    else if (p->dtype == TSR_STRING) string_label(label, (const TsrString *)(const void *)data + cell);
    else if (p->dtype == TSR_NESTED) snprintf(label, LABEL_ROOM, "tensor");
    if (data == NULL || !tsr_dtype_is_pod(p->dtype)) return;
    TsrScalar s = tsr_scalar_load(p->dtype, data + cell * (int64_t)tsr_dtype_size(p->dtype));
    if (s.kind == TSR_SCALAR_BOOL) snprintf(label, LABEL_ROOM, "%s", s.b ? "T" : "F");
    else if (s.kind == TSR_SCALAR_INT) snprintf(label, LABEL_ROOM, "%lld", (long long)s.i);
    else if (s.kind == TSR_SCALAR_UINT) snprintf(label, LABEL_ROOM, "%llu", (unsigned long long)s.u);
    else if (s.kind == TSR_SCALAR_COMPLEX) snprintf(label, LABEL_ROOM, "%.3g%+.3gj", s.c.re, s.c.im);
    else snprintf(label, LABEL_ROOM, "%.4g", s.f);
}

/* ---- text ---- */

int draw_columns(const char *label) {
    int n = 0;
    for (; *label != '\0'; label++) n += ((unsigned char)*label & 0xc0) != 0x80;
    return n;
}

void draw_fill_grid(Grid *g, const Picture *p) {
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
            g->width[k] = TSR_MAX(g->width[k], draw_columns(label));
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
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)TSR_MAX(0, indent - draw_columns(name))));
    for (int k = from; k < to; k++) {
        const char *label = g->labels[r][k];
        int space = g->width[k] - draw_columns(label);
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

char *draw_geometry(char *buffer, size_t room, const View *v) {
    snprintf(buffer, room, "shape %s, strides %s, offset %lld", tsr_layout_text(tsr_ndim(v->t), v->t->sizes), tsr_layout_text(tsr_ndim(v->t), v->t->strides),
             (long long)v->t->offset);
    return buffer;
}

static TsrStatus append_geometry(TsrText *out, const View *v) {
    char geometry[600];
    const char *open = v->origin[0] != '\0' ? " (" : "", *close = v->origin[0] != '\0' ? ")" : "";
    return tsr_text_printf(out, "%s%s%s%s: %s\n", v->name, open, v->origin, close, draw_geometry(geometry, sizeof geometry, v));
}

static TsrStatus draw_text(TsrText *out, const Picture *p) {
    Grid *g = tsr_malloc(sizeof *g);
    int indent = 6;
    if (g == NULL) return mem_error();
    draw_fill_grid(g, p);
    for (int v = 0; v < p->view_count; v++) indent = TSR_MAX(indent, draw_columns(p->views[v].name) + 1);
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

/* ---- colour: added where a picture is shown, never part of its text ---- */

static Type picture_type;
enum { PALETTE = 6 };

/* What the next line is. */
typedef struct Painter {
    int row;      /* of a band: views seen since its index line; -1 before */
    int geometry; /* lines after the last band */
    bool over;    /* the bands are */
} Painter;

static const char *colour_of(Painter *s, const char *line, size_t length, int number) {
    static const char *const palette[PALETTE] = {"\033[36m", "\033[33m", "\033[32m", "\033[35m", "\033[34m", "\033[31m"};
    bool index = length >= 5 && memcmp(line, "index", 5) == 0;
    if (number == 0) return "\033[1m";
    if (index) return s->row = -3, "\033[2m"; /* the frame and the values follow */
    if (!s->over && memmem(line, length, ": shape ", 8) != NULL) s->over = true;
    if (s->over) return palette[s->geometry++ % PALETTE];
    return ++s->row > 0 ? palette[(s->row - 1) % PALETTE] : "";
}

static TsrStatus picture_repr(TsrText *out, Value self) {
    const Str *text = value_as_str(self);
    if (shell_options == NULL || !shell_options->colour || !isatty(STDOUT_FILENO)) return tsr_text_append(out, text->data, (size_t)text->size);
    Painter painter = {0};
    int number = 0;
    for (const char *line = text->data; *line != '\0'; number++) {
        size_t n = strcspn(line, "\n");
        const char *colour = colour_of(&painter, line, n, number);
        TSR_TRY(tsr_text_puts(out, colour));
        TSR_TRY(tsr_text_append(out, line, n));
        if (colour[0] != '\0') TSR_TRY(tsr_text_puts(out, "\033[0m"));
        line += n;
        if (*line == '\n') TSR_TRY(tsr_text_putc(out, *line++));
    }
    return TSR_OK;
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
    if (view->name[0] == '\0') {
        snprintf(view->name, sizeof view->name, "view %d", p->view_count);
        if (t->base != NULL && tsr_tensor_weak_alive(t->base)) inspect_origin(view->origin, sizeof view->origin, t);
    }
    p->storage = t->storage;
    p->dtype = t->dtype;
    p->elements = (int64_t)(t->storage->nbytes / tsr_itemsize(t));
    return TSR_OK;
}

static TsrStatus write_file(const char *path, const TsrText *text) {
    if (tsr_io_in_sandbox()) return tsr_error(TSR_PERMISSION_ERROR, "%s: not writable in the sandbox", path);
    FILE *f = fopen(path, "we");
    if (f == NULL) return tsr_error(TSR_OS_ERROR, "%s: can't be written", path);
    bool ok = fwrite(text->data, 1, text->length, f) == text->length;
    return fclose(f) == 0 && ok ? TSR_OK : tsr_error(TSR_OS_ERROR, "%s: can't be written", path);
}

/* By the environment: the program itself runs in the C locale. */
static bool locale_has_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0') return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static TsrStatus draw(Value *out, const CallArgs *args) {
    Picture *p = tsr_calloc(1, sizeof *p);
    Value file = args_keyword(args, "file");
    TsrText text = {0};
    const char *path = NULL;
    if (p == NULL) return mem_error();
    p->unicode = !isatty(STDOUT_FILENO) || locale_has_unicode();
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
        if (status == TSR_OK) out->o->type = &picture_type;
    }
    tsr_text_free(&text);
    tsr_free(p);
    return status;
}

static const Method functions[] = {{"draw", draw, ARGS_ANY, 1, -1, "(x, ..., *, file=None)", "A picture of the storage and of the tensors on it; with file= an SVG."}, {0}};

TsrStatus draw_startup(void) {
    inspect_derive(&picture_type, &str_type, "picture", picture_repr);
    return namespace_add_functions("tsr", functions, true);
}
