/* Segments as bars: a cell a block, as wide as its words at least; what is left of the line goes to the blocks by their
 * bytes. A segment of more blocks than a line has room for goes on in the next bar. */
#include "segments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/mem.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "picture.h"
#include "show/facts/device_memory.h"

enum { WORDS_ROOM = 40, BAR_TOP = 44, BAR_HEIGHT = 44, BAR_LEFT = 14, HEAD = 24, BETWEEN = 14, SIDES = 3 };

typedef struct Cell {
    char words[WORDS_ROOM], bytes_text[24];
    int64_t bytes, segment, stream;
    int width; /* in characters, without the bars beside it */
    bool used;
} Cell;

typedef struct Cells {
    Cell *items;
    int count;
    int64_t taken, given; /* bytes of all, and of those in use */
} Cells;

/* ---- what the cells say ---- */

static Value field(Value row, const char *name) {
    const Value *v = dict_find_c(value_as_dict(row), name);
    return v != NULL ? *v : VALUE_NONE;
}

/* "x, y"; cut where it is long. */
static void join_names(char *out, Value names) {
    const List *list = value_as_list(names);
    size_t at = 0;
    for (int64_t i = 0; i < list->count && at < WORDS_ROOM; i++) {
        int n = snprintf(out + at, WORDS_ROOM - at, "%s%s", i > 0 ? ", " : "", value_as_str(list->items[i])->data);
        at += (size_t)TSR_MAX(n, 0);
    }
    if (at >= WORDS_ROOM) memcpy(out + WORDS_ROOM - 4, "...", 4);
}

static void fill_cell(Cell *c, Value row) {
    const char *state = value_as_str(field(row, "state"))->data;
    *c = (Cell){.bytes = field(row, "bytes").i, .segment = field(row, "segment").i, .stream = field(row, "stream").i};
    c->used = strcmp(state, "kept") != 0;
    join_names(c->words, field(row, "tensors"));
    if (c->words[0] == '\0') snprintf(c->words, sizeof c->words, "%s", state);
    snprintf(c->bytes_text, sizeof c->bytes_text, "%" PRId64, c->bytes);
    c->width = TSR_MAX(draw_columns(c->words), (int)strlen(c->bytes_text));
}

static TsrStatus read_cells(Cells *cells, TsrDevice device) {
    Value table;
    *cells = (Cells){0};
    TSR_TRY(device_memory_table(&table, device));
    const List *rows = value_as_list(table);
    TsrStatus status = TSR_OK;
    cells->items = tsr_malloc(sizeof *cells->items * (size_t)(rows->count + 1));
    if (cells->items == NULL) status = tsr_error_no_memory(sizeof *cells->items * (size_t)rows->count);
    for (; status == TSR_OK && cells->count < rows->count; cells->count++) {
        Cell *c = &cells->items[cells->count];
        fill_cell(c, rows->items[cells->count]);
        cells->taken += c->bytes;
        if (c->used) cells->given += c->bytes;
    }
    value_release(table);
    return status;
}

/* ---- bars ---- */

/* Cells [from, to) of one segment, which fit a line; `whole`: all of them. */
typedef struct Bar {
    int from, to;
    bool first, whole;
} Bar;

static Bar next_bar(const Cells *cells, int from) {
    int to = from, width = 1;
    int64_t segment = cells->items[from].segment;
    while (to < cells->count && cells->items[to].segment == segment) {
        int more = cells->items[to].width + SIDES;
        if (to > from && width + more > LINE_WIDTH) break;
        width += more;
        to++;
    }
    bool first = from == 0 || cells->items[from - 1].segment != segment;
    return (Bar){from, to, first, first && (to == cells->count || cells->items[to].segment != segment)};
}

/* What is left of the line is dealt out by bytes. */
static void widen(Cells *cells, const Bar *b) {
    int width = 1;
    double bytes = 0;
    for (int i = b->from; i < b->to; i++) {
        width += cells->items[i].width + SIDES;
        bytes += (double)cells->items[i].bytes;
    }
    if (!b->whole || bytes == 0) return;
    for (int i = b->from; i < b->to; i++)
        cells->items[i].width += (int)((LINE_WIDTH - width) * ((double)cells->items[i].bytes / bytes));
}

static const char *head_of(char buffer[96], const Cells *cells, const Bar *b) {
    const Cell *c = &cells->items[b->from];
    int64_t bytes = 0;
    if (!b->first) return snprintf(buffer, 96, "segment %" PRId64 ", further on", c->segment), buffer;
    for (int i = b->from; i < cells->count && cells->items[i].segment == c->segment; i++)
        bytes += cells->items[i].bytes;
    snprintf(buffer, 96, "segment %" PRId64 ": %" PRId64 " bytes, stream %" PRId64, c->segment, bytes, c->stream);
    return buffer;
}

/* ---- as text ---- */

typedef struct Corners {
    const char *left, *middle, *right, *line;
} Corners;

static void put_rule(TsrText *out, const Cells *cells, const Bar *b, const Corners *rule) {
    for (int i = b->from; i < b->to; i++) {
        (void)tsr_text_puts(out, i == b->from ? rule->left : rule->middle);
        for (int k = 0; k < cells->items[i].width + 2; k++) (void)tsr_text_puts(out, rule->line);
    }
    (void)tsr_text_puts(out, rule->right);
    (void)tsr_text_putc(out, '\n');
}

static void put_words(TsrText *out, const Cells *cells, const Bar *b, bool words, const char *side) {
    for (int i = b->from; i < b->to; i++) {
        const Cell *c = &cells->items[i];
        const char *text = words ? c->words : c->bytes_text;
        (void)tsr_text_printf(out, "%s %s", side, text);
        (void)tsr_text_pad(out, ' ', (size_t)(c->width - draw_columns(text) + 1));
    }
    (void)tsr_text_printf(out, "%s\n", side);
}

static void put_bar(TsrText *out, const Cells *cells, const Bar *b, bool unicode) {
    static const Corners plain = {"+", "+", "+", "-"};
    static const Corners top = {"\xe2\x94\x8c", "\xe2\x94\xac", "\xe2\x94\x90", "\xe2\x94\x80"},
                         bottom = {"\xe2\x94\x94", "\xe2\x94\xb4", "\xe2\x94\x98", "\xe2\x94\x80"};
    const char *side = unicode ? "\xe2\x94\x82" : "|";
    char head[96];
    (void)tsr_text_printf(out, "%s\n", head_of(head, cells, b));
    put_rule(out, cells, b, unicode ? &top : &plain);
    put_words(out, cells, b, true, side);
    put_words(out, cells, b, false, side);
    put_rule(out, cells, b, unicode ? &bottom : &plain);
}

/* ---- as shapes ---- */

static void draw_bar(Canvas *c, const Cells *cells, const Bar *b, int y) {
    int x = BAR_LEFT;
    char head[96];
    canvas_text(c, x, y + 14, (Lettering){.ink = INK_DIM}, head_of(head, cells, b));
    for (int i = b->from; i < b->to; i++) {
        const Cell *cell = &cells->items[i];
        int width = (cell->width + SIDES) * CHARACTER;
        Ink edge = cell->used ? INK_EDGE : INK_BOX_EDGE;
        Lettering words = {.ink = cell->used ? INK_ON : INK_DIM, .anchor = ANCHOR_MIDDLE};
        canvas_box(c, x, y + HEAD, width, BAR_HEIGHT, 0, cell->used ? INK_FILL : INK_BOX, edge);
        canvas_text(c, x + width / 2, y + HEAD + 18, words, cell->words);
        canvas_text(c, x + width / 2, y + HEAD + 36, words, cell->bytes_text);
        x += width;
    }
}

TsrStatus draw_segments(TsrText *out, Canvas *canvas, TsrDevice device, bool unicode) {
    Cells cells;
    char title[128], name[16];
    TSR_TRY(tsr_device_resolve(&device));
    TsrStatus status = read_cells(&cells, device);
    int y = BAR_TOP;
    if (status == TSR_OK) {
        snprintf(title, sizeof title, "%s: %" PRId64 " bytes from the driver, %" PRId64 " in use",
                 tsr_device_format(device, name), cells.taken, cells.given);
        status = tsr_text_puts(out, title);
        (void)tsr_text_putc(out, '\n');
        if (canvas != NULL) canvas_text(canvas, BAR_LEFT, 24, (Lettering){.ink = INK_TEXT, .bold = true}, title);
    }
    for (int from = 0; status == TSR_OK && from < cells.count;) {
        Bar b = next_bar(&cells, from);
        widen(&cells, &b);
        put_bar(out, &cells, &b, unicode);
        if (canvas != NULL) draw_bar(canvas, &cells, &b, y);
        y += HEAD + BAR_HEIGHT + BETWEEN;
        from = b.to;
    }
    if (canvas != NULL) {
        canvas->width = 2 * BAR_LEFT + LINE_WIDTH * CHARACTER;
        canvas->height = y + BAR_LEFT;
    }
    tsr_free(cells.items);
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    return status == TSR_OK && canvas != NULL ? canvas->status : status;
}
