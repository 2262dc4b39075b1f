/* Boxes and the pointers between them. First the dict becomes lines (a box is a run of lines) and arrows from line to
 * line; then the arrows get lanes at the right of the boxes, so that none lies on another; then both are written. */
#include "boxes.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "picture.h"
#include "show/facts/card.h"
#include "show/help/screen.h"

enum { MAX_LINES = 400, MAX_ARROWS = 40, MAX_KEY = 48, MAX_VALUE = 54, MAX_INDENT = 12, LANE = 3, MIN_WIDTH = 28 };

typedef enum LineKind { LINE_TOP, LINE_ENTRY, LINE_BOTTOM } LineKind;

typedef struct Line {
    LineKind kind;
    int indent, arrow; /* arrow: the one that begins or ends here; -1: none */
    char key[MAX_KEY], value[MAX_VALUE];
} Line;

typedef struct Arrow {
    int from, to, lane; /* lines */
} Arrow;

typedef struct Boxes {
    Line lines[MAX_LINES];
    Arrow arrows[MAX_ARROWS];
    int line_count, arrow_count, lanes;
    int key_width, width; /* in characters, inside the border */
} Boxes;

/* ---- from the dict ---- */

static TsrStatus too_many(void) { return tsr_error(TSR_RUNTIME_ERROR, "draw(): too many structures for one picture"); }

static TsrStatus add_line(Line **line, Boxes *b, LineKind kind, int indent) {
    if (b->line_count == MAX_LINES || indent > MAX_INDENT) return too_many();
    *line = &b->lines[b->line_count++];
    **line = (Line){.kind = kind, .indent = indent, .arrow = -1};
    return TSR_OK;
}

/* Cut to the room there is, at a whole character. */
static void put_cut(char *to, size_t room, const char *text) {
    size_t n = strlen(text);
    if (n >= room) {
        n = room - 3;
        while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) n--;
        snprintf(to, room, "%.*s..", (int)n, text);
    } else {
        memcpy(to, text, n + 1);
    }
}

/* Members that are pointers to memory, of which an anatomy says whether there is any. */
static bool is_pointer(const char *key) {
    return strcmp(key, "data") == 0 || strcmp(key, "data_") == 0 || strcmp(key, "ctx") == 0;
}

static TsrStatus put_value(char *to, const char *key, Value v) {
    TsrText text = {0};
    if (v.tag == V_BOOL && is_pointer(key)) return put_cut(to, MAX_VALUE, v.b ? "not null" : "null"), TSR_OK;
    TsrStatus status = card_append_cell(&text, v);
    if (status == TSR_OK) put_cut(to, MAX_VALUE, text.data != NULL ? text.data : "");
    tsr_text_free(&text);
    return status;
}

static bool is_object(Value v) { return value_is_dict(v) && dict_find_c(value_as_dict(v), "refcount") != NULL; }

static TsrStatus add_entries(Boxes *b, Value dict, int indent) {
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(dict), &position)) != NULL;) {
        Line *line;
        if (!value_is_str(e->key) || (indent == 0 && str_equal_c(value_as_str(e->key), "refcount"))) continue;
        TSR_TRY(add_line(&line, b, LINE_ENTRY, indent));
        put_cut(line->key, MAX_KEY, value_as_str(e->key)->data);
        if (is_object(e->value)) {
            if (b->arrow_count == MAX_ARROWS) return too_many();
            line->arrow = b->arrow_count;
            b->arrows[b->arrow_count++] = (Arrow){.from = b->line_count - 1, .to = -1};
        } else if (value_is_dict(e->value)) {
            TSR_TRY(add_entries(b, e->value, indent + 1));
        } else {
            TSR_TRY(put_value(line->value, line->key, e->value));
        }
    }
    return TSR_OK;
}

static TsrStatus add_box(Boxes *b, Value title, Value dict, int arrow, int depth);

/* The boxes of the objects that a dict points to, in the order of its lines, which arrow `*next` begins. */
static TsrStatus add_targets(Boxes *b, Value dict, int *next, int depth) {
    int64_t position = 0;
    for (DictEntry *e; (e = dict_next(value_as_dict(dict), &position)) != NULL;) {
        if (is_object(e->value)) TSR_TRY(add_box(b, e->key, e->value, (*next)++, depth + 1));
        else if (value_is_dict(e->value)) TSR_TRY(add_targets(b, e->value, next, depth));
    }
    return TSR_OK;
}

static TsrStatus add_box(Boxes *b, Value title, Value dict, int arrow, int depth) {
    Value *count = dict_find_c(value_as_dict(dict), "refcount");
    Line *line;
    int next = b->arrow_count;
    if (depth > MAX_INDENT) return too_many();
    TSR_TRY(add_line(&line, b, LINE_TOP, 0));
    line->arrow = arrow;
    if (arrow >= 0) b->arrows[arrow].to = b->line_count - 1;
    put_cut(line->key, MAX_KEY, value_is_str(title) ? value_as_str(title)->data : "");
    if (count != NULL && count->tag == V_INT) snprintf(line->value, MAX_VALUE, "count %lld", (long long)count->i);
    TSR_TRY(add_entries(b, dict, 0));
    TSR_TRY(add_line(&line, b, LINE_BOTTOM, 0));
    return add_targets(b, dict, &next, depth);
}

/* ---- where things are ---- */

static bool lane_is_free(const Boxes *b, const Arrow *arrow, int lane) {
    for (const Arrow *other = b->arrows; other < arrow; other++)
        if (other->lane == lane && other->from <= arrow->to && arrow->from <= other->to) return false;
    return true;
}

static void choose_lanes(Boxes *b) {
    for (int i = 0; i < b->arrow_count; i++) {
        Arrow *arrow = &b->arrows[i];
        while (!lane_is_free(b, arrow, arrow->lane)) arrow->lane++;
        b->lanes = TSR_MAX(b->lanes, arrow->lane + 1);
    }
}

static int key_end(const Line *line) { return 2 * line->indent + draw_columns(line->key); }

static void measure(Boxes *b) {
    for (int i = 0; i < b->line_count; i++)
        if (b->lines[i].value[0] != '\0' && b->lines[i].kind == LINE_ENTRY)
            b->key_width = TSR_MAX(b->key_width, key_end(&b->lines[i]) + 2);
    b->width = MIN_WIDTH;
    for (int i = 0; i < b->line_count; i++) {
        const Line *line = &b->lines[i];
        int value = draw_columns(line->value), key = key_end(line);
        if (line->kind == LINE_TOP) b->width = TSR_MAX(b->width, key + value + 6);
        else b->width = TSR_MAX(b->width, TSR_MAX(key + 3, value > 0 ? b->key_width + value : 0));
    }
}

static TsrStatus boxes_new(Boxes **out, Value dict) {
    Boxes *b = tsr_calloc(1, sizeof *b);
    int64_t position = 0;
    if (b == NULL) return mem_error();
    TsrStatus status = TSR_OK;
    for (DictEntry *e; status == TSR_OK && (e = dict_next(value_as_dict(dict), &position)) != NULL;)
        if (value_is_dict(e->value)) status = add_box(b, e->key, e->value, -1, 0);
    if (status != TSR_OK) {
        tsr_free(b);
        return status;
    }
    choose_lanes(b);
    measure(b);
    *out = b;
    return TSR_OK;
}

/* ---- as text ---- */

typedef enum Stroke { S_NONE, S_ACROSS, S_DOWN, S_TURN_DOWN, S_TURN_BACK, S_CROSS, S_HEAD, STROKES } Stroke;

static const char *const unicode_strokes[STROKES] = {
    " ", "\xe2\x94\x80", "\xe2\x94\x82", "\xe2\x94\x90", "\xe2\x94\x98", "\xe2\x94\xbc", "\xe2\x97\x80"};
static const char *const plain_strokes[STROKES] = {" ", "-", "|", "+", "+", "+", "<"};

/* The stroke of one arrow at a place right of the boxes. */
static Stroke stroke_of(const Arrow *arrow, int row, int column) {
    int end = LANE * arrow->lane + LANE - 1;
    if (row < arrow->from || row > arrow->to || column > end) return S_NONE;
    if (column == end) return row == arrow->from ? S_TURN_DOWN : row == arrow->to ? S_TURN_BACK : S_DOWN;
    if (row == arrow->to) return column == 0 ? S_HEAD : S_ACROSS;
    return row == arrow->from ? S_ACROSS : S_NONE;
}

static Stroke stroke_at(const Boxes *b, int row, int column) {
    Stroke seen = S_NONE;
    for (int i = 0; i < b->arrow_count; i++) {
        Stroke s = stroke_of(&b->arrows[i], row, column);
        if (s != S_NONE) seen = seen == S_NONE ? s : S_CROSS;
    }
    return seen;
}

static TsrStatus put_lanes(TsrText *out, const Boxes *b, int row, const char *const *strokes) {
    int last = -1;
    for (int c = 0; c < LANE * b->lanes; c++)
        if (stroke_at(b, row, c) != S_NONE) last = c;
    for (int c = 0; c <= last; c++) TSR_TRY(tsr_text_puts(out, strokes[stroke_at(b, row, c)]));
    return tsr_text_putc(out, '\n');
}

static TsrStatus put_times(TsrText *out, const char *text, int times) {
    for (int i = 0; i < times; i++) TSR_TRY(tsr_text_puts(out, text));
    return TSR_OK;
}

static TsrStatus put_border(TsrText *out, const Boxes *b, const Line *line, bool unicode) {
    bool top = line->kind == LINE_TOP;
    const char *across = unicode ? "\xe2\x94\x80" : "-", *left = top ? "\xe2\x94\x8c" : "\xe2\x94\x94",
               *right = top ? "\xe2\x94\x90" : "\xe2\x94\x98";
    TSR_TRY(tsr_text_puts(out, unicode ? left : "+"));
    if (!top) {
        TSR_TRY(put_times(out, across, b->width + 2));
        return tsr_text_puts(out, unicode ? right : "+");
    }
    int used = draw_columns(line->key) + draw_columns(line->value) + (line->value[0] != '\0' ? 5 : 2);
    TSR_TRY(tsr_text_printf(out, " %s ", line->key));
    TSR_TRY(put_times(out, across, b->width + 2 - used));
    if (line->value[0] != '\0') TSR_TRY(tsr_text_printf(out, " %s %s", line->value, across));
    return tsr_text_puts(out, unicode ? right : "+");
}

static TsrStatus put_entry(TsrText *out, const Boxes *b, const Line *line, bool unicode) {
    const char *bar = unicode ? "\xe2\x94\x82" : "|";
    int at = key_end(line);
    TSR_TRY(tsr_text_puts(out, bar));
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)(1 + 2 * line->indent)));
    TSR_TRY(tsr_text_puts(out, line->key));
    if (line->value[0] != '\0') {
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(b->key_width - at)));
        TSR_TRY(tsr_text_puts(out, line->value));
        at = b->key_width + draw_columns(line->value);
    }
    if (line->arrow < 0) {
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)(b->width + 1 - at)));
        return tsr_text_puts(out, bar);
    }
    TSR_TRY(tsr_text_pad(out, ' ', (size_t)(b->width - at)));
    return tsr_text_puts(out, unicode ? "\xe2\x97\x8f\xe2\x94\xbc" : "o+");
}

/* In a narrow window values are cut, which makes the boxes narrower. */
static void fit_window(Boxes *b) {
    int room = screen_line(LINE_WIDTH) - LANE * b->lanes - (b->width + 4);
    int longest = b->width + room - b->key_width;
    if (room >= 0 || longest < 8) return;
    for (int i = 0; i < b->line_count; i++) {
        char whole[MAX_VALUE];
        memcpy(whole, b->lines[i].value, sizeof whole);
        if (draw_columns(whole) > longest) put_cut(b->lines[i].value, (size_t)longest + 1, whole);
    }
    measure(b);
}

TsrStatus draw_boxes_text(TsrText *out, Value dict, bool unicode) {
    Boxes *b;
    TSR_TRY(boxes_new(&b, dict));
    fit_window(b);
    TsrStatus status = TSR_OK;
    for (int row = 0; row < b->line_count && status == TSR_OK; row++) {
        const Line *line = &b->lines[row];
        status = line->kind == LINE_ENTRY ? put_entry(out, b, line, unicode) : put_border(out, b, line, unicode);
        if (status == TSR_OK) status = put_lanes(out, b, row, unicode ? unicode_strokes : plain_strokes);
    }
    while (out->length > 0 && out->data[out->length - 1] == '\n') out->data[--out->length] = '\0';
    tsr_free(b);
    return status;
}

/* ---- as shapes ---- */

enum { ROW = 19, MARGIN = 14, PADDING = 4, LANE_WIDTH = 16 };

static int right_edge(const Boxes *b) { return MARGIN + CHARACTER * (b->width + 3); }

static int middle_of(int row) {
    return MARGIN + (2 * row + 1) * ROW
    / 2;
}

static void put_line_shapes(Canvas *c, const Boxes *b, int row) {
    const Line *line = &b->lines[row];
    int y = middle_of(row) + 4, x = MARGIN + CHARACTER * (1 + 2 * line->indent);
    bool top = line->kind == LINE_TOP;
    if (line->kind == LINE_BOTTOM) return;
    canvas_text(c, x, y, (Lettering){.ink = top ? INK_TEXT : INK_DIM, .bold = top}, line->key);
    if (line->value[0] == '\0') return;
    if (top)
        canvas_text(c, right_edge(b) - CHARACTER, y, (Lettering){.ink = INK_TEXT, .anchor = ANCHOR_END}, line->value);
    else canvas_text(c, MARGIN + CHARACTER * (1 + b->key_width), y, (Lettering){.ink = INK_TEXT}, line->value);
}

static void put_box_shapes(Canvas *c, const Boxes *b) {
    for (int row = 0, top = 0; row < b->line_count; row++) {
        if (b->lines[row].kind == LINE_TOP) top = row;
        if (b->lines[row].kind == LINE_BOTTOM)
            canvas_box(c, MARGIN, middle_of(top) - ROW / 2 - PADDING, right_edge(b) - MARGIN,
                       (row - top) * ROW + 2 * PADDING, 4, INK_BOX, INK_BOX_EDGE);
    }
}

static void put_arrow_shapes(Canvas *c, const Boxes *b, const Arrow *arrow) {
    float edge = (float)right_edge(b), x = edge - CHARACTER, turn = edge + (float)(LANE_WIDTH * (arrow->lane + 1)),
          from = (float)middle_of(arrow->from), to = (float)middle_of(arrow->to);
    canvas_dot(c, (Point){x, from}, 3.5F, INK_TEXT);
    canvas_line(c, (Point){x, from}, (Point){turn, from}, INK_LINE, false);
    canvas_line(c, (Point){turn, from}, (Point){turn, to}, INK_LINE, false);
    canvas_line(c, (Point){turn, to}, (Point){edge + 1, to}, INK_LINE, true);
}

TsrStatus draw_boxes_shapes(Canvas *c, Value dict) {
    Boxes *b;
    TSR_TRY(boxes_new(&b, dict));
    c->width = TSR_MAX(c->width, right_edge(b) + LANE_WIDTH * (b->lanes + 1) + MARGIN);
    c->height = c->top + 2 * MARGIN + b->line_count * ROW;
    put_box_shapes(c, b);
    for (int row = 0; row < b->line_count; row++) put_line_shapes(c, b, row);
    for (int i = 0; i < b->arrow_count; i++) put_arrow_shapes(c, b, &b->arrows[i]);
    tsr_free(b);
    return c->status;
}
