/* Several storages in one picture. A table has a line for each tensor (names, an arrow, geometry and count, an arrow to
 * its storage); the storages' own pictures follow it, as text below, as SVG at the right. */
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "core/op.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"
#include "show/help/screen.h"
#include "show/watch/events.h"
#include "torch/holders.h"

/* ---- what it is made of ---- */

static TsrStatus find_picture(int *out, Graph *g, const TsrTensor *t, bool unicode) {
    for (*out = 0; *out < g->picture_count; ++*out)
        if (g->pictures[*out].storage == t->storage && g->pictures[*out].dtype == t->dtype) return TSR_OK;
    g->pictures[g->picture_count++] = (Picture){.storage = t->storage,
                                                .device = t->storage->ptr.device,
                                                .dtype = t->dtype,
                                                .elements = (int64_t)(t->storage->nbytes / tsr_itemsize(t)),
                                                .unicode = unicode};
    return TSR_OK;
}

TsrStatus graph_add(Graph *g, TsrTensor *t, int64_t own, bool unicode) {
    GraphRow *row;
    int picture;
    TSR_TRY(draw_check(t));
    for (int i = 0; i < g->row_count; i++)
        if (g->rows[i].t == t) {
            g->rows[i].count -= own;
            g->rows[i].gone = own > 0 && g->rows[i].count == 0;
            return TSR_OK;
        }
    if (g->row_count == MAX_VIEWS) return draw_too_many();
    TSR_TRY(find_picture(&picture, g, t, unicode));
    Picture *p = &g->pictures[picture];
    row = &g->rows[g->row_count++];
    *row = (GraphRow){.t = t, .picture = picture, .count = holders_refcount(t) - own};
    row->gone = own > 0 && row->count == 0;
    p->view_count++;
    draw_name_view(&p->views[p->view_count - 1], t, g->row_count);
    return TSR_OK;
}

/* "x, pair[0]", of `list`, as much as there is room for; nothing of what no name holds. `plain`: names alone, without
 * places inside something else. */
static void join_names(char *out, size_t room, const List *list, bool plain) {
    size_t at = 0;
    out[0] = '\0';
    for (int64_t i = 0; i < list->count; i++) {
        const char *name = value_as_str(list->items[i])->data;
        if (name[0] == '<' || strcmp(name, "_") == 0 || (plain && strpbrk(name, "[.#<") != NULL)) continue;
        if (at + strlen(name) + 6 > 24 && at > 0) {
            snprintf(out + at, room - at, ", ..");
            break;
        }
        at += (size_t)snprintf(out + at, room - at, "%s%s", at > 0 ? ", " : "", name);
        at = TSR_MIN(at, room - 8);
    }
}

/* The names of the table of tensors; of one that nothing names what the view is called. Where there is one storage,
 * and so no table, the view itself has the names that are more than one. */
static TsrStatus name_row(GraphRow *row, View *view, bool table) {
    Value names;
    char plain[NAME_ROOM];
    TSR_TRY(holders_list(&names, row->t));
    join_names(row->names, sizeof row->names, value_as_list(names), false);
    join_names(plain, sizeof plain, value_as_list(names), true);
    value_release(names);
    if (row->names[0] == '\0') memcpy(row->names, view->name, sizeof row->names);
    if (!table && plain[0] != '\0') memcpy(view->name, plain, sizeof view->name);
    return TSR_OK;
}

static View *view_of(Graph *g, const GraphRow *row) {
    Picture *p = &g->pictures[row->picture];
    int v = 0;
    while (p->views[v].t != row->t || p->views[v].result != NULL) v++;
    return &p->views[v];
}

static void sort_rows(Graph *g) {
    GraphRow sorted[MAX_VIEWS];
    int n = 0;
    for (int p = 0; p < g->picture_count; p++)
        for (int i = 0; i < g->row_count; i++)
            if (g->rows[i].picture == p) sorted[n++] = g->rows[i];
    memcpy(g->rows, sorted, sizeof sorted[0] * (size_t)n);
}

TsrStatus graph_finish(Graph *g) {
    sort_rows(g);
    for (int i = 0; i < g->row_count; i++)
        TSR_TRY(name_row(&g->rows[i], view_of(g, &g->rows[i]), g->picture_count > 1));
    for (int p = 0; p < g->picture_count; p++) draw_choose_cells(&g->pictures[p]);
    return TSR_OK;
}

/* ---- an expression ---- */

static void note_call(const TsrOpCall *c, TsrStatus status);
static Step *noting; /* while its code runs */
static void (*next_hook)(const TsrOpCall *call, TsrStatus status);

static void forget(Step *s) {
    for (int i = 0; i < s->count; i++) tsr_tensor_free(s->operands[i]);
    tsr_tensor_free(s->result);
    s->count = 0;
    s->result = NULL;
    s->by_broadcast = false;
    memset(s->origins, 0, sizeof s->origins);
}

static void note_operand(Step *s, TsrTensor *t) {
    if (t != NULL && s->count < MAX_VIEWS - 1) s->operands[s->count++] = tsr_tensor_retain(t);
}

static bool broadcasts_to(const TsrTensor *from, const TsrTensor *to) {
    int shift = tsr_ndim(to) - tsr_ndim(from);
    for (int d = 0; d < tsr_ndim(from); d++)
        if (shift < 0 || (from->sizes[d] != 1 && from->sizes[d] != to->sizes[d + shift])) return false;
    return true;
}

enum { MOST_TRIED = 1000 };

/* While the call is tried again nobody is told of it. */
static void try_call(const TsrOpCall *c) {
    Step *step = noting;
    if (step->tried >= MOST_TRIED) return;
    step->tried++;
    noting = NULL;
    tsr_op_hook = NULL;
    origins_find(step->origins, step->count, c, step->result);
    tsr_op_hook = note_call;
    noting = step;
}

/* Inner calls end before the outer one: the last to end is the expression's own. */
static void note_call(const TsrOpCall *c, TsrStatus status) {
    if (next_hook != NULL) next_hook(c, status);
    if (noting == NULL || status != TSR_OK || c->nret == 0 || c->ret[0].kind != TSR_ARG_TENSOR) return;
    events_hush();
    forget(noting);
    for (int i = 0; i < c->nargs; i++) {
        if (c->arg[i].kind == TSR_ARG_TENSOR) note_operand(noting, c->arg[i].t);
        for (int k = 0; c->arg[i].kind == TSR_ARG_TENSORS && k < c->arg[i].n; k++)
            note_operand(noting, c->arg[i].tensors[k]);
    }
    noting->result = tsr_tensor_retain(c->ret[0].t);
    noting->by_broadcast = strcmp(c->op->category, "pointwise") == 0;
    for (int i = 0; i < noting->count; i++)
        noting->by_broadcast = noting->by_broadcast && broadcasts_to(noting->operands[i], noting->result);
    if (!noting->by_broadcast) try_call(c);
    events_listen();
}

TsrStatus step_run(Step *step, const char *code, size_t length) {
    EventLog log;
    Value v;
    Step *outer = noting;
    *step = (Step){0};
    if (outer == NULL) next_hook = tsr_op_hook;
    noting = step;
    tsr_op_hook = note_call;
    events_begin(&log, NULL, NULL); /* with a log operators run one by one */
    TsrStatus status = vm_run_text_here(&v, code, length, "<draw>");
    events_end(&log);
    events_free(&log);
    noting = outer;
    if (outer == NULL) tsr_op_hook = next_hook;
    if (status != TSR_OK) return forget(step), status;
    TsrTensor *t = holders_tensor_if_any(v);
    bool same = t != NULL && step->result == t;
    if (t != NULL && !same) { /* a name, or what no operator made */
        forget(step);
        step->result = tsr_tensor_retain(t);
    }
    value_release(v);
    if (t == NULL) {
        forget(step);
        return tsr_error(TSR_TYPE_ERROR, "draw(): the code gives no tensor to draw");
    }
    return TSR_OK;
}

void step_free(Step *step) { forget(step); }

/* What an operator made on the way has no name but the operator's. */
static void name_step(View *v, const TsrTensor *result) {
    if (strncmp(v->name, "view ", 5) != 0) return;
    if (v->t == result) snprintf(v->name, sizeof v->name, "result");
    else if (v->t->origin != NULL) snprintf(v->name, sizeof v->name, "%s()", v->t->origin);
}

/* Under the result's cells, a row for each operand. */
static void add_sources(Graph *g, const Step *step) {
    Picture *p = NULL;
    for (int i = 0; i < g->row_count; i++)
        if (g->rows[i].t == step->result) p = &g->pictures[g->rows[i].picture];
    for (int i = 0; i < step->count && p->view_count < MAX_VIEWS; i++) {
        if (!step->by_broadcast && !step->origins[i].known) continue;
        View *v = &p->views[p->view_count++], from;
        draw_name_view(&from, step->operands[i], i + 1);
        name_step(&from, step->result);
        *v = (View){
            .t = step->operands[i], .result = step->result, .origins = step->by_broadcast ? NULL : &step->origins[i]};
        snprintf(v->name, sizeof v->name, "of %.*s", NAME_ROOM - 8, from.name);
    }
}

static void name_steps(Graph *g, const TsrTensor *result) {
    for (int p = 0; p < g->picture_count; p++)
        for (int v = 0; v < g->pictures[p].view_count; v++) name_step(&g->pictures[p].views[v], result);
}

TsrStatus graph_add_step(Graph *g, const Step *step, bool unicode) {
    for (int i = 0; i < step->count; i++)
        if (step->operands[i]->storage != NULL) TSR_TRY(graph_add(g, step->operands[i], 1, unicode));
    TSR_TRY(graph_add(g, step->result, 0, unicode)); /* the step's reference stands for the value of the code */
    name_steps(g, step->result);
    bool fresh = true; /* where a view's cells came from its own row says */
    for (int i = 0; i < step->count; i++) fresh = fresh && step->operands[i]->storage != step->result->storage;
    if (fresh) add_sources(g, step);
    return TSR_OK;
}

/* ---- as text ---- */

enum { COLUMNS = 5, CELL = 64 };
typedef struct Table {
    char cells[MAX_VIEWS + 1][COLUMNS][CELL];
    int width[COLUMNS];
    bool narrow; /* the window is: strides and offset stand on a line of their own */
    int right;   /* where the lines to the storages begin */
} Table;
enum { SHAPE = 1, STRIDES = 2, OFFSET = 3, COUNT = 4, NAME_ARROW = 4, BETWEEN = 2, TO_STORAGE = 20 };

static void cut_text(char *to, const char *text) {
    if (strlen(text) < 28) snprintf(to, CELL, "%s", text);
    else snprintf(to, CELL, "%.24s..", text);
}

static void fill_cells(Table *table, const Graph *g) {
    static const char *const heads[COLUMNS] = {"names", "shape", "strides", "offset", "count"};
    for (int c = 0; c < COLUMNS; c++) snprintf(table->cells[0][c], CELL, "%s", heads[c]);
    for (int i = 0; i < g->row_count; i++) {
        const GraphRow *row = &g->rows[i];
        char(*cells)[CELL] = table->cells[i + 1];
        snprintf(cells[0], CELL, "%s", row->names);
        cut_text(cells[SHAPE], tsr_layout_text(tsr_ndim(row->t), row->t->sizes));
        cut_text(cells[STRIDES], tsr_layout_text(tsr_ndim(row->t), row->t->strides));
        snprintf(cells[OFFSET], CELL, "%lld", (long long)row->t->offset);
        snprintf(cells[COUNT], CELL, "%lld", (long long)row->count);
    }
}

/* "strides [3, 1], offset 0" */
static int geometry_width(const Table *table, int i) {
    return draw_columns("strides ") + draw_columns(table->cells[i][STRIDES]) + draw_columns(", offset ") +
           draw_columns(table->cells[i][OFFSET]);
}

static void fill_table(Table *table, const Graph *g) {
    fill_cells(table, g);
    for (int i = 0; i <= g->row_count; i++)
        for (int c = 0; c < COLUMNS; c++) table->width[c] = TSR_MAX(table->width[c], draw_columns(table->cells[i][c]));
    int left = table->width[0] + NAME_ARROW, middle = table->width[SHAPE] + BETWEEN + table->width[COUNT];
    table->right = left + middle + table->width[STRIDES] + table->width[OFFSET] + 2 * BETWEEN;
    table->narrow = table->right + TO_STORAGE > screen_line(LINE_WIDTH);
    if (!table->narrow) return;
    for (int i = 1; i <= g->row_count; i++) middle = TSR_MAX(middle, geometry_width(table, i));
    table->right = left + middle;
}

/* The line from a tensor to its storage: straight, or joining that of the tensor above. */
static const char *joint(const Graph *g, int i, bool unicode) {
    bool above = i > 0 && g->rows[i - 1].picture == g->rows[i].picture,
         below = i + 1 < g->row_count && g->rows[i + 1].picture == g->rows[i].picture;
    if (!unicode) return above ? (below ? "-+ " : "-+ ") : below ? "-+>" : "-->";
    return above   ? (below ? "\xe2\x94\x80\xe2\x94\xa4 " : "\xe2\x94\x80\xe2\x94\x98 ")
           : below ? "\xe2\x94\x80\xe2\x94\xac\xe2\x96\xb6"
                   : "\xe2\x94\x80\xe2\x94\x80\xe2\x96\xb6";
}

static TsrStatus put_table_row(TsrText *out, const Table *table, int i, const char *arrow) {
    int at = 0;
    for (int c = 0; c < COLUMNS; c++) {
        if (table->narrow && (c == STRIDES || c == OFFSET)) continue;
        TSR_TRY(tsr_text_puts(out, table->cells[i][c]));
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(table->width[c] - draw_columns(table->cells[i][c]))));
        TSR_TRY(tsr_text_puts(out, c == 0 ? arrow : c + 1 < COLUMNS ? "  " : ""));
        at += table->width[c] + (c == 0 ? NAME_ARROW : c + 1 < COLUMNS ? BETWEEN : 0);
    }
    return tsr_text_pad(out, ' ', (size_t)(table->right - at));
}

/* In a narrow window the second line of row i; `joined`: the line to the storage goes on past it. */
static TsrStatus put_geometry(TsrText *out, const Table *table, int i, bool joined, bool unicode) {
    if (!table->narrow) return TSR_OK;
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)(table->width[0] + NAME_ARROW)));
    TSR_TRY(tsr_text_printf(out, "strides %s, offset %s", table->cells[i][STRIDES], table->cells[i][OFFSET]));
    if (joined) {
        int used = table->width[0] + NAME_ARROW + geometry_width(table, i);
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(table->right - used + BETWEEN)));
        TSR_TRY(tsr_text_puts(out, unicode ? "\xe2\x94\x82" : "|"));
    }
    return tsr_text_putc(out, '\n');
}

/* Of the storage of row i, without what only this picture holds. */
static int64_t storage_count(const Graph *g, int i) {
    int64_t count = tsr_storage_refcount(g->rows[i].t->storage);
    for (int k = 0; k < g->row_count; k++) count -= g->rows[k].gone && g->rows[k].t->storage == g->rows[i].t->storage;
    return count;
}

static TsrStatus put_table(TsrText *out, const Graph *g) {
    bool unicode = g->pictures[0].unicode;
    Table table = {0};
    fill_table(&table, g);
    TSR_TRY(put_table_row(out, &table, 0, "    "));
    while (table.narrow && out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
    TSR_TRY(tsr_text_puts(out, table.narrow ? "\n" : "     storage\n"));
    for (int i = 0; i < g->row_count; i++) {
        const GraphRow *row = &g->rows[i];
        bool first = i == 0 || g->rows[i - 1].picture != row->picture;
        TSR_TRY(put_table_row(out, &table, i + 1, unicode ? " \xe2\x94\x80\xe2\x96\xb6 " : " -> "));
        TSR_TRY(tsr_text_printf(out, " %s", joint(g, i, unicode)));
        if (first)
            TSR_TRY(tsr_text_printf(out, " #%lld, count %lld", (long long)tsr_storage_id(row->t->storage),
                                    (long long)storage_count(g, i)));
        else
            while (out->data[out->length - 1] == ' ') out->data[--out->length] = '\0';
        TSR_TRY(tsr_text_putc(out, '\n'));
        bool joined = i + 1 < g->row_count && g->rows[i + 1].picture == row->picture;
        TSR_TRY(put_geometry(out, &table, i + 1, joined, unicode));
    }
    return TSR_OK;
}

TsrStatus draw_graph_text(TsrText *out, const Graph *g) {
    TSR_TRY(put_table(out, g));
    for (int p = 0; p < g->picture_count; p++) {
        TSR_TRY(draw_cells_text(out, &g->pictures[p]));
        TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(draw_grids_text(out, &g->pictures[p]));
    }
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    return TSR_OK;
}

/* ---- as shapes ---- */

enum { MARGIN = 14, BOX_HEIGHT = 58, GAP_HEIGHT = 16, ARROW_ROOM = 44 };

/* Where things are, in pixels. */
typedef struct Places {
    int tensor_x, tensor_width, storage_x, width, height;
    int row_y[MAX_VIEWS], storage_y[MAX_VIEWS];
} Places;

static TsrStatus find_places(Places *at, const Graph *g) {
    int names = 4, texts = 20, y = MARGIN;
    *at = (Places){0};
    for (int i = 0; i < g->row_count; i++) {
        const TsrTensor *t = g->rows[i].t;
        names = TSR_MAX(names, draw_columns(g->rows[i].names));
        texts = TSR_MAX(texts, 10 + (int)strlen(tsr_layout_text(tsr_ndim(t), t->sizes)));
        texts = TSR_MAX(texts, 20 + (int)strlen(tsr_layout_text(tsr_ndim(t), t->strides)));
    }
    at->tensor_x = MARGIN + CHARACTER * names + ARROW_ROOM;
    at->tensor_width = CHARACTER * (TSR_MIN(texts, 60) + 2);
    at->storage_x = at->tensor_x + at->tensor_width + ARROW_ROOM;
    for (int p = 0, i = 0; p < g->picture_count; p++) {
        int width, height, top = y;
        TSR_TRY(draw_cells_size(&width, &height, &g->pictures[p]));
        at->storage_y[p] = y;
        at->width = TSR_MAX(at->width, at->storage_x + width + MARGIN);
        for (; i < g->row_count && g->rows[i].picture == p; i++, top += BOX_HEIGHT + GAP_HEIGHT) at->row_y[i] = top;
        y = TSR_MAX(y + height, top) + GAP_HEIGHT;
    }
    at->height = y + MARGIN;
    return TSR_OK;
}

static void put_arrow(Canvas *c, int x, int y, int to_x, int to_y) {
    float middle = (float)(x + to_x) / 2;
    canvas_curve(c, (Point){(float)x, (float)y}, (Point){middle, (float)y}, (Point){middle, (float)to_y},
                 (Point){(float)to_x - 2, (float)to_y}, INK_LINE, true);
}

static void put_tensor(Canvas *c, const Graph *g, const Places *at, int i) {
    const Lettering ink = {.ink = INK_TEXT}, dim = {.ink = INK_DIM}, bold = {.ink = INK_TEXT, .bold = true};
    const GraphRow *row = &g->rows[i];
    const TsrTensor *t = row->t;
    char text[320];
    int x = at->tensor_x, y = at->row_y[i];
    canvas_text(c, MARGIN, y + 22, bold, row->names);
    put_arrow(c, MARGIN + CHARACTER * draw_columns(row->names) + 6, y + 18, x, y + 18);
    canvas_box(c, x, y, at->tensor_width, BOX_HEIGHT, 4, INK_BOX, INK_BOX_EDGE);
    snprintf(text, sizeof text, "%s %s", tsr_dtype_name(t->dtype), tsr_layout_text(tsr_ndim(t), t->sizes));
    canvas_text(c, x + 8, y + 18, ink, text);
    snprintf(text, sizeof text, "strides %s, offset %lld", tsr_layout_text(tsr_ndim(t), t->strides),
             (long long)t->offset);
    canvas_text(c, x + 8, y + 34, dim, text);
    snprintf(text, sizeof text, "count %lld", (long long)row->count);
    canvas_text(c, x + 8, y + 50, dim, text);
    bool first = i == 0 || g->rows[i - 1].picture != row->picture;
    snprintf(text, sizeof text, "count %lld", (long long)storage_count(g, i));
    if (first) canvas_text(c, at->storage_x + MARGIN, at->storage_y[row->picture] + 44, dim, text);
    put_arrow(c, x + at->tensor_width, y + 18, at->storage_x + MARGIN - 4, at->storage_y[row->picture] + 22);
}

TsrStatus draw_graph_shapes(Canvas *c, const Graph *g) {
    Places at;
    TSR_TRY(find_places(&at, g));
    c->width = at.width;
    c->height = at.height;
    for (int i = 0; i < g->row_count; i++) put_tensor(c, g, &at, i);
    for (int p = 0; p < g->picture_count; p++)
        TSR_TRY(draw_cells_shapes(c, &g->pictures[p], at.storage_x, at.storage_y[p]));
    return c->status;
}
