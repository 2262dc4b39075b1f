/* A snapshot as SVG for a page: names on the left, tensors in the middle, storages on the right, arrows between. Each
 * storage is a block: its tensors stand beside it, each with its names. A bar under a cell says by its colour which
 * tensors reach it. Colours are classes, which the page's style sheet has for light and dark. */
#include <stdio.h>
#include <string.h>

#include "memory.h"

enum {
    NAME_WIDTH = 150,
    TENSOR_X = 200,
    TENSOR_WIDTH = 236,
    TENSOR_HEIGHT = 64,
    STORAGE_X = 490,
    NAME_HEIGHT = 26,
    CELL_HEIGHT = 24,
    BAR_HEIGHT = 4,
    MOST_BARS = 4,
    GAP_Y = 18,
    HEAD = 24,
    LINE_STEP = CELL_HEIGHT + MOST_BARS * BAR_HEIGHT + 6,
    WIDTH = 1080
};

TsrStatus html_puts(TsrText *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *as = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&quot;"
                         : c == '\'' ? "&#39;"
                                     : NULL;
        if (c < ' ' && c != '\n') continue;
        TSR_TRY(as != NULL ? tsr_text_puts(out, as) : tsr_text_putc(out, (char)c));
    }
    return TSR_OK;
}

static TsrStatus put_text(TsrText *out, int x, int y, const char *classes, const char *text) {
    TSR_TRY(tsr_text_printf(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, classes));
    TSR_TRY(html_puts(out, text, strlen(text)));
    return tsr_text_puts(out, "</text>");
}

static TsrStatus put_box(TsrText *out, int x, int y, int width, int height, const char *classes) {
    return tsr_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"%s\"/>", x, y,
                           width, height, classes);
}

static TsrStatus put_arrow(TsrText *out, int x1, int y1, int x2, int y2, int colour) {
    int middle = (x1 + x2) / 2;
    return tsr_text_printf(out, "<path d=\"M%d %dC%d %d %d %d %d %d\" class=\"arrow k%d\"/>", x1, y1, middle, y1,
                           middle, y2, x2 - 2, y2, colour);
}

/* "2 references", "1 \u2192 2 references". */
static const char *count_text(char *buffer, size_t room, int64_t now, int64_t before) {
    char was[32] = "";
    if (before >= 0 && before != now) snprintf(was, sizeof was, "%lld \342\206\222 ", (long long)before);
    snprintf(buffer, room, "%s%lld reference%s", was, (long long)now, now == 1 ? "" : "s");
    return buffer;
}

/* ---- sizes ---- */

static int tensor_height(const Memory *m, int tensor) {
    int names = 0;
    for (int i = 0; i < m->name_count; i++) names += m->names[i].tensor == tensor;
    return TSR_MAX(TENSOR_HEIGHT, names * NAME_HEIGHT) + GAP_Y;
}

static int cell_width(const StorageBox *s) {
    int widest = 2;
    for (int k = 0; k < s->picture.cell_count; k++) widest = TSR_MAX(widest, draw_columns(s->grid.labels[1][k]));
    return TSR_MIN(widest, 10) * CHARACTER + 12;
}

static int cells_a_line(const StorageBox *s) {
    int fit = (WIDTH - STORAGE_X - 24) / cell_width(s);
    return s->row <= fit ? s->row : TSR_MAX(fit, 1);
}

static int storage_height(const StorageBox *s) {
    int per_line = cells_a_line(s), lines = (s->picture.cell_count + per_line - 1) / per_line;
    return 2 * HEAD + lines * LINE_STEP + GAP_Y;
}

/* ---- drawing ---- */

static TsrStatus draw_cell(TsrText *out, const StorageBox *s, const Memory *m, int storage, int k, int x, int y) {
    const char *label = s->grid.labels[1][k];
    int width = cell_width(s), bars = 0;
    if (s->picture.cells[k] == GAP) return put_text(out, x + width / 2, y + 17, "cell", "\342\200\246");
    TSR_TRY(put_box(out, x, y, width - 2, CELL_HEIGHT, s->changed[k] ? "box changed" : "box"));
    TSR_TRY(put_text(out, x + width / 2 - 1, y + 17, s->changed[k] ? "cell bold" : "cell", label));
    for (int i = 0; i < m->tensor_count && bars < MOST_BARS; i++) {
        const TensorBox *t = &m->tensors[i];
        if (t->storage != storage || t->view < 0 || s->grid.labels[2 + t->view][k][0] == '\0') continue;
        TSR_TRY(tsr_text_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"bar k%d\"/>", x + 1,
                                y + CELL_HEIGHT + 1 + bars * BAR_HEIGHT, width - 4, BAR_HEIGHT - 1, t->colour));
        bars++;
    }
    return TSR_OK;
}

static TsrStatus draw_storage(TsrText *out, const Memory *m, int storage, int y) {
    const StorageBox *s = &m->storages[storage];
    char text[MEMORY_TEXT];
    int per_line = cells_a_line(s);
    TSR_TRY(put_box(out, STORAGE_X, y, WIDTH - STORAGE_X - 2, storage_height(s) - GAP_Y,
                    s->before < 0 ? "storage new" : "storage"));
    TSR_TRY(put_text(out, STORAGE_X + 10, y + 17, "bold", s->head));
    count_text(text, sizeof text, s->refcount, s->before);
    TSR_TRY(put_text(out, STORAGE_X + 10, y + 17 + HEAD - 4, s->refcount != s->before ? "count moved" : "count", text));
    for (int k = 0; k < s->picture.cell_count; k++)
        TSR_TRY(draw_cell(out, s, m, storage, k, STORAGE_X + 10 + k % per_line * cell_width(s),
                          y + 2 * HEAD + k / per_line * LINE_STEP));
    return TSR_OK;
}

static TsrStatus draw_names(TsrText *out, const Memory *m, int tensor, int y) {
    int at = y;
    for (int i = 0; i < m->name_count; i++) {
        const NameBox *n = &m->names[i];
        if (n->tensor != tensor) continue;
        TSR_TRY(put_box(out, 2, at, NAME_WIDTH, NAME_HEIGHT - 4, n->is_new ? "name new" : "name"));
        TSR_TRY(put_text(out, 10, at + 16, "", n->text));
        TSR_TRY(put_arrow(out, NAME_WIDTH + 2, at + 11, TENSOR_X, y + 18, m->tensors[tensor].colour));
        at += NAME_HEIGHT;
    }
    return TSR_OK;
}

static TsrStatus draw_tensor(TsrText *out, const Memory *m, int tensor, int y, int storage_y) {
    const TensorBox *t = &m->tensors[tensor];
    char classes[32], text[MEMORY_TEXT];
    snprintf(classes, sizeof classes, "tensor k%d%s", t->colour, t->before < 0 ? " new" : "");
    TSR_TRY(put_box(out, TENSOR_X, y, TENSOR_WIDTH, TENSOR_HEIGHT, classes));
    TSR_TRY(put_text(out, TENSOR_X + 10, y + 18, "bold", t->type));
    TSR_TRY(put_text(out, TENSOR_X + 10, y + 36, "small", t->geometry));
    count_text(text, sizeof text, t->refcount, t->before);
    TSR_TRY(put_text(out, TENSOR_X + 10, y + 54, t->refcount != t->before ? "count moved" : "count", text));
    TSR_TRY(draw_names(out, m, tensor, y));
    if (t->storage < 0) return TSR_OK;
    return put_arrow(out, TENSOR_X + TENSOR_WIDTH, y + 18, STORAGE_X, storage_y + 14, t->colour);
}

/* The tensors over a storage (-1: over none that is shown), then the storage. *y moves below them. */
static TsrStatus draw_block(TsrText *out, const Memory *m, int storage, int *y) {
    int at = *y;
    for (int i = 0; i < m->tensor_count; i++) {
        if (m->tensors[i].storage != storage) continue;
        TSR_TRY(draw_tensor(out, m, i, at, *y));
        at += tensor_height(m, i);
    }
    if (storage >= 0) TSR_TRY(draw_storage(out, m, storage, *y));
    *y = TSR_MAX(at, *y + (storage >= 0 ? storage_height(&m->storages[storage]) : 0));
    return TSR_OK;
}

static TsrStatus draw_values(TsrText *out, const Memory *m, int *y) {
    char text[2 * MEMORY_TEXT + 4];
    int x = 2;
    for (int i = 0; i < m->name_count; i++) {
        const NameBox *n = &m->names[i];
        if (n->tensor >= 0) continue;
        snprintf(text, sizeof text, "%s = %s", n->text, n->value);
        int width = draw_columns(text) * CHARACTER + 18;
        if (x > 2 && x + width > WIDTH) x = 2, *y += NAME_HEIGHT + 2;
        TSR_TRY(put_box(out, x, *y, width, NAME_HEIGHT - 4, n->is_new ? "name new" : "name"));
        TSR_TRY(put_text(out, x + 9, *y + 16, "", text));
        x += width + 8;
    }
    if (x > 2) *y += NAME_HEIGHT + GAP_Y;
    return TSR_OK;
}

static TsrStatus draw_rest(TsrText *out, const Memory *m, int *y) {
    char text[2 * MEMORY_TEXT];
    if (m->more_names + m->more_tensors == 0) return TSR_OK;
    const char *least = m->more_tensors == MEMORY_COUNTED ? "at least " : "";
    snprintf(text, sizeof text, "and %d names and %s%d tensors more", m->more_names, least, m->more_tensors);
    TSR_TRY(put_text(out, 2, *y + 16, "small", text));
    *y += NAME_HEIGHT;
    return TSR_OK;
}

static TsrStatus describe_name(TsrText *out, const Memory *m, const NameBox *n) {
    const TensorBox *t = n->tensor >= 0 ? &m->tensors[n->tensor] : NULL;
    TSR_TRY(html_puts(out, n->text, strlen(n->text)));
    if (t == NULL) {
        TSR_TRY(tsr_text_puts(out, " = "));
        return html_puts(out, n->value, strlen(n->value));
    }
    TSR_TRY(tsr_text_printf(out, ": %s, %s", t->type, t->geometry));
    if (t->storage < 0) return TSR_OK;
    return tsr_text_printf(out, ", in storage #%lld", (long long)m->storages[t->storage].id);
}

/* What the picture shows, for those who can't see it. */
static TsrStatus describe(TsrText *out, const Memory *m) {
    for (int i = 0; i < m->name_count; i++) {
        TSR_TRY(describe_name(out, m, &m->names[i]));
        TSR_TRY(tsr_text_puts(out, ". "));
    }
    return TSR_OK;
}

static TsrStatus draw_all(TsrText *out, const Memory *m, int *y) {
    TSR_TRY(draw_values(out, m, y));
    for (int i = 0; i < m->storage_count; i++) TSR_TRY(draw_block(out, m, i, y));
    TSR_TRY(draw_block(out, m, -1, y));
    return draw_rest(out, m, y);
}

static TsrStatus frame(TsrText *out, const Memory *m, int id, int height, const TsrText *inside) {
    TSR_TRY(tsr_text_printf(
        out,
        "<div class=\"picture\" tabindex=\"0\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t%d "
        "d%d\"><title id=\"t%d\">Names, "
        "tensors and storages</title><desc id=\"d%d\">",
        WIDTH, height, id, id, id, id));
    TSR_TRY(describe(out, m));
    TSR_TRY(tsr_text_puts(out, "</desc>"));
    TSR_TRY(tsr_text_append(out, inside->data, inside->length));
    return tsr_text_puts(out, "</svg></div>\n");
}

TsrStatus memory_svg(TsrText *out, const Memory *m, int id) {
    TsrText inside = {0};
    int y = 2;
    TsrStatus status = draw_all(&inside, m, &y);
    if (status == TSR_OK && inside.length > 0) status = frame(out, m, id, y, &inside);
    tsr_text_free(&inside);
    return status;
}
