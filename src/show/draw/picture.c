/* Which elements of a storage are shown, what stands in each cell (the index by which each view reaches it), and what
 * each view is called. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show/facts/inspect.h"
#include "torch/holders.h"

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
    for (int64_t i = TSR_MAX(from, 0); i <= TSR_MIN(to, p->elements - 1) && *count < MAX_WANTED; i++)
        wanted[(*count)++] = i;
}

/* Of a large storage: its ends, and where each view begins and ends. */
static void choose_some_cells(Picture *p) {
    int64_t wanted[MAX_WANTED], first, last;
    int count = 0;
    add_window(wanted, &count, p, 0, 2);
    add_window(wanted, &count, p, p->elements - 2, p->elements - 1);
    for (int v = 0; v < p->view_count; v++) {
        const TsrTensor *t = p->views[v].t;
        if (t->numel == 0 || p->views[v].result != NULL) continue;
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

void draw_choose_cells(Picture *p) {
    if (p->elements > MAX_CELLS) {
        choose_some_cells(p);
        return;
    }
    for (int64_t i = 0; i < p->elements; i++) p->cells[p->cell_count++] = i;
}

/* The search for the indices of a view that reach one cell. Where many dimensions overlap there may be more of them
 * than one can count: it then stops. */
typedef struct Search {
    const TsrTensor *t;
    int64_t cell;
    int64_t index[TSR_MAX_DIMS], first[TSR_MAX_DIMS]; /* the one at hand, and the first of all in row-major order */
    int64_t hits;
    int steps;
} Search;

enum { MAX_STEPS = 20000, MAX_INDEX = 6 /* numbers of an index that a cell has room for */ };

/* With index[0 .. dim) chosen, which come to `offset`, in `times` ways each. Tries only what the dimensions left can
 * make up for. */
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
    int64_t from = left <= rest ? 0 : (left - rest + stride - 1) / stride,
            to = TSR_MIN(left / stride, t->sizes[dim] - 1);
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
    for (int d = 0; d < tsr_ndim(t) && at < room; d++)
        at += (size_t)snprintf(label + at, room - at, d > 0 ? ",%lld" : "%lld", (long long)index[d]);
    return (int)at;
}

/* "1,2", or "0,0 x3" where three indices reach the cell, "0,0 x999+" where at least that many do; empty where none
 * does. */
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
    if ((s.hits > 1 || gave_up) && at < LABEL_ROOM)
        snprintf(label + at, LABEL_ROOM - (size_t)at, "%s%lld%s", unicode ? " \xc3\x97" : " x", (long long)s.hits,
                 gave_up ? "+" : "");
}

/* "1,0", or "0,0 x3" where three elements went into the cell. */
static void origin_label(char *label, const TsrTensor *t, int first, int count, bool unicode) {
    int64_t index[TSR_MAX_DIMS];
    if (count == 0) return;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) {
        index[d] = first % t->sizes[d];
        first /= (int)t->sizes[d];
    }
    int at = index_label(label, LABEL_ROOM, t, index);
    if (count > 1 && at < LABEL_ROOM)
        snprintf(label + at, LABEL_ROOM - (size_t)at, unicode ? " \xc3\x97%d" : " x%d", count);
}

/* The index of the operand's element that the result's at this cell came of: as was tried, or by broadcasting. */
static void source_label(char *label, const View *v, int64_t cell, bool unicode) {
    Search s = {.t = v->result, .cell = cell};
    int64_t index[TSR_MAX_DIMS], place = 0;
    int shift = tsr_ndim(v->result) - tsr_ndim(v->t);
    label[0] = '\0';
    if (v->result->numel == 0) return;
    search_from(&s, 0, v->result->offset, 1);
    if (s.hits == 0) return;
    if (v->origins != NULL) {
        for (int d = 0; d < tsr_ndim(v->result); d++) place = place * v->result->sizes[d] + s.first[d];
        origin_label(label, v->t, v->origins->first[place], v->origins->count[place], unicode);
        return;
    }
    for (int d = 0; d < tsr_ndim(v->t); d++) index[d] = v->t->sizes[d] == 1 ? 0 : s.first[d + shift];
    index_label(label, LABEL_ROOM, v->t, index);
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

int draw_columns(const char *label) {
    int n = 0;
    for (; *label != '\0'; label++) n += ((unsigned char)*label & 0xc0) != 0x80;
    return n;
}

void draw_fill_grid(Grid *g, const Picture *p) {
    int widest = 1;
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
            else if (p->views[r - 2].result != NULL) source_label(label, &p->views[r - 2], cell, p->unicode);
            else cell_label(label, p->views[r - 2].t, cell, p->unicode);
            g->width[k] = TSR_MAX(g->width[k], draw_columns(label));
        }
        widest = TSR_MAX(widest, g->width[k]);
    }
    for (int k = 0; k < p->cell_count && p->cell_count == p->elements; k++) g->width[k] = widest;
}

char *draw_geometry(char *buffer, size_t room, const View *v) {
    const char *flag = (v->t->flags & TSR_FLAG_CONJ) != 0  ? ", conjugated when read"
                       : (v->t->flags & TSR_FLAG_NEG) != 0 ? ", negated when read"
                                                           : "";
    snprintf(buffer, room, "shape %s, strides %s, offset %lld%s", tsr_layout_text(tsr_ndim(v->t), v->t->sizes),
             tsr_layout_text(tsr_ndim(v->t), v->t->strides), (long long)v->t->offset, flag);
    return buffer;
}

/* ---- slices ---- */

int64_t draw_size_from_end(const TsrTensor *t, int k) { return tsr_ndim(t) >= k ? t->sizes[tsr_ndim(t) - k] : 1; }
int64_t draw_stride_from_end(const TsrTensor *t, int k) { return tsr_ndim(t) >= k ? t->strides[tsr_ndim(t) - k] : 0; }

int64_t draw_slice_at(char *label, size_t room, const TsrTensor *t, int64_t k) {
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

const char *draw_where(char buffer[24], const Picture *p) {
    char name[16];
    snprintf(buffer, 24, "%s%s", tsr_device_has_backend(p->device) ? " on " : "",
             tsr_device_has_backend(p->device) ? tsr_device_format(p->device, name) : "");
    return buffer;
}

TsrStatus draw_check(TsrTensor *t) {
    if (t->storage == NULL || tsr_is_meta(t) || !tsr_is_defined(t))
        return tsr_error(TSR_RUNTIME_ERROR, "draw(): this tensor has no memory to draw");
    return tsr_tensor_check(t, false);
}

TsrStatus draw_too_many(void) { return tsr_error(TSR_VALUE_ERROR, "draw(): at most %d tensors", MAX_VIEWS); }

void draw_name_view(View *view, TsrTensor *t, int number) {
    *view = (View){.t = t};
    holders_name(view->name, sizeof view->name, t);
    if (view->name[0] != '\0') return;
    snprintf(view->name, sizeof view->name, "view %d", number);
    if (t->base != NULL && tsr_tensor_weak_alive(t->base)) inspect_origin(view->origin, sizeof view->origin, t);
}
