/* plot.c: the type Plot, and what plot.tsr asks of the terminal and of the canvas. */
#include "plot.h"

#include <string.h>

#include "core/base/embed.h"
#include "graphics.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/native.h"
#include "lang/types/collections.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "show/draw/draw.h"
#include "show/facts/card.h"
#include "show/help/screen.h"

PRELUDE_EMBED(prelude_plot, "src/show/plot/plot.tsr");

static Type plot_type;

static TsrStatus call_prelude(Value *out, const char *name, const CallArgs *args) {
    Value callee;
    TSR_TRY(prelude_get(&callee, "plot", name));
    TsrStatus status = value_call(out, callee, args);
    value_release(callee);
    return status;
}

static TsrStatus plot_repr(TsrText *out, Value self) {
    Value text;
    TSR_TRY(call_prelude(&text, "shown", &(CallArgs){.values = &self, .count = 1}));
    TsrStatus status = value_str(out, text);
    value_release(text);
    return status;
}

/* ---- for plot.tsr ---- */

/* A dict as a Plot. */
static TsrStatus make(Value *out, const CallArgs *args) {
    int64_t position = 0;
    if (!value_is_dict(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "a plot is made of a dict");
    TSR_TRY(dict_kind_new(out, &plot_type, sizeof(Dict)));
    TsrStatus status = TSR_OK;
    for (DictEntry *e; status == TSR_OK && (e = dict_next(value_as_dict(args->values[0]), &position)) != NULL;)
        status = dict_set(value_as_dict(*out), e->key, e->value);
    return value_end_move(out, status, *out);
}

/* A str without quotes. */
static TsrStatus note(Value *out, const CallArgs *args) {
    if (!value_is_str(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "a note is made of a str");
    const Str *s = value_as_str(args->values[0]);
    TSR_TRY(str_new(out, s->data, s->size));
    note_mark(*out);
    return TSR_OK;
}

/* Characters a line, whether there are colours, and whether there is Unicode. */
static TsrStatus screen(Value *out, const CallArgs *args) {
    (void)args;
    Value parts[3] = {value_int(screen_line(80)), value_bool(screen_colours()), value_bool(draw_in_unicode())};
    return tuple_new(out, parts, 3);
}

/* shows_pixels(): whether the terminal does, and not characters only. */
static TsrStatus shows_pixels(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(graphics_here() != GRAPHICS_NONE);
    return TSR_OK;
}

/* graphics(pixels): uint8 [height, width, 3] as the sequence of a terminal that shows pixels. */
static TsrStatus pixels_of_terminal(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    Graphics kind = graphics_here();
    TsrText text = {0};
    if (kind == GRAPHICS_NONE) return tsr_error(TSR_RUNTIME_ERROR, "this terminal shows no pixels");
    if (v.tag != V_TENSOR || v.t->dtype != TSR_UINT8 || tsr_ndim(v.t) != 3 || v.t->sizes[2] != 3 ||
        !tsr_is_contiguous(v.t, TSR_CONTIGUOUS) || v.t->sizes[0] > 4096 || v.t->sizes[1] > 4096)
        return tsr_error(TSR_TYPE_ERROR, "pixels are bytes of [height, width, 3], at most 4096 a side");
    TsrStatus status = graphics_append(&text, kind, (Pixels){(int)v.t->sizes[1], (int)v.t->sizes[0], tsr_data(v.t)});
    if (status == TSR_OK) status = str_new(out, text.data, (int64_t)text.length);
    tsr_text_free(&text);
    return status;
}

/* One number of a shape. */
static TsrStatus number(double *out, Value shape, int i) {
    const List *list = value_as_list(shape);
    if (i >= list->count) return tsr_error(TSR_VALUE_ERROR, "a shape has more numbers");
    return value_to_double(out, list->items[i]);
}

/* [kind, ink, x, y, ...]: 'box' with width and height, 'line' with x and y of its end, 'dot' with a radius, 'text' with
 * the anchor (0 start, 1 middle, 2 end) and the words. */
static TsrStatus add_shape(Canvas *c, Value shape) {
    double v[5] = {0};
    const char *kind, *words = "";
    if (!value_is_list(shape) || value_as_list(shape)->count < 5) return tsr_error(TSR_TYPE_ERROR, "this is no shape");
    TSR_TRY(value_to_cstring(&kind, value_as_list(shape)->items[0], "a shape"));
    bool text = strcmp(kind, "text") == 0;
    for (int i = 0; i < 5; i++)
        if (i + 1 < value_as_list(shape)->count && !(text && i == 4)) TSR_TRY(number(&v[i], shape, i + 1));
    if (text) TSR_TRY(value_to_cstring(&words, value_as_list(shape)->items[5], "a shape"));
    Ink ink = (Ink)v[0];
    Point at = {(float)v[1], (float)v[2]};
    if (text) canvas_text(c, (int)v[1], (int)v[2], (Lettering){.ink = ink, .anchor = (Anchor)v[3]}, words);
    else if (strcmp(kind, "box") == 0) canvas_box(c, (int)v[1], (int)v[2], (int)v[3], (int)v[4], 0, ink, INK_NONE);
    else if (strcmp(kind, "dot") == 0) canvas_dot(c, at, (float)v[3], ink);
    else canvas_line(c, at, (Point){(float)v[3], (float)v[4]}, ink, false);
    return TSR_OK;
}

/* write(path, title, text, width, height, shapes) */
static TsrStatus write_file(Value *out, const CallArgs *args) {
    const char *path, *title, *text;
    int64_t width, height;
    const Value *v = args->values;
    TSR_TRY(value_to_cstring(&path, v[0], "argument 'file'"));
    TSR_TRY(value_to_cstring(&title, v[1], "a title"));
    TSR_TRY(value_to_cstring(&text, v[2], "a text"));
    TSR_TRY(value_to_index(&width, v[3]));
    TSR_TRY(value_to_index(&height, v[4]));
    if (!value_is_list(v[5])) return tsr_error(TSR_TYPE_ERROR, "shapes come in a list");
    Canvas c = {.width = (int)width, .height = (int)height};
    TsrStatus status = TSR_OK;
    for (int64_t i = 0; i < value_as_list(v[5])->count && status == TSR_OK; i++)
        status = add_shape(&c, value_as_list(v[5])->items[i]);
    if (status == TSR_OK) status = draw_write_file(path, &c, title, text);
    canvas_free(&c);
    *out = VALUE_NONE;
    return status;
}

/* A dict that shows an entry a line. */
static TsrStatus card(Value *out, const CallArgs *args) {
    Value made;
    TSR_TRY(make(&made, args));
    made.o->type = &dict_type;
    card_mark(made);
    *out = made;
    return TSR_OK;
}

static const Method helpers[] = {
    {"card", card, ARGS_ONE, 1, 1, NULL, NULL},          {"graphics", pixels_of_terminal, ARGS_ONE, 1, 1, NULL, NULL},
    {"make", make, ARGS_ONE, 1, 1, NULL, NULL},          {"note", note, ARGS_ONE, 1, 1, NULL, NULL},
    {"screen", screen, ARGS_NONE, 0, 0, NULL, NULL},     {"shows_pixels", shows_pixels, ARGS_NONE, 0, 0, NULL, NULL},
    {"write", write_file, ARGS_RANGE, 6, 6, NULL, NULL}, {0},
};
static TsrStatus fill_helpers(Module *m) { return module_add_functions(m, helpers); }

/* ---- the functions ---- */

#define FUNCTION(name) \
    static TsrStatus name(Value *out, const CallArgs *args) { return call_prelude(out, #name, args); }
FUNCTION(hist)
FUNCTION(plot)
FUNCTION(scatter)
FUNCTION(heatmap)
FUNCTION(imshow)
FUNCTION(spark)
FUNCTION(describe)

static const Method functions[] = {
    {"hist", hist, ARGS_ANY, 1, -1, "(x, bins=10, range=None, *, file=None)",
     "How often the values of x fall into bins of equal width: a bar each. counts and edges are what it holds.\n"
     "file= writes an SVG or a PNG instead."},
    {"plot", plot, ARGS_ANY, 1, -1, "(*y, x=None, points=False, file=None)",
     "Lines through the values of one tensor or of several, over their index or over x; with points=True their\n"
     "dots alone. file= writes an SVG or a PNG instead."},
    {"heatmap", heatmap, ARGS_ANY, 1, -1, "(x, *, range=None, file=None)",
     "A matrix as cells from dark to light, two of them a character; a large one is shown by means of blocks. file=\n"
     "writes an SVG or a PNG instead."},
    {"imshow", imshow, ARGS_ANY, 1, -1, "(x, *, file=None)",
     "A picture: [height, width], [height, width, 3 or 4] or [3, height, width], of uint8 or of fractions from 0 to\n"
     "1. In colour where the terminal has it. file= writes an SVG or a PNG instead."},
    {"spark", spark, ARGS_ANY, 1, -1, "(x, width=40)",
     "The values of x in one line of small bars; more than `width` are shown by means."},
    {"describe", describe, ARGS_ANY, 1, 1, "(x)",
     "What a tensor holds: how many elements, nan, infinite and zero, mean, std, least, quartiles, greatest; of a\n"
     "table a row for each column."},
    {0},
};

static const Method points[] = {
    {"scatter", scatter, ARGS_ANY, 2, -1, "(x, y, *, file=None)",
     "A dot for each pair of values: plot(y, x=x, points=True). file= writes an SVG or a PNG instead."},
    {0},
};

TsrStatus plot_startup(void) {
    static const PreludeSource source = {"plot", "<prelude plot>", prelude_plot, prelude_plot_end,
                                         "torch math tsr P=tsr._plot"};
    static const Namespace space = {.name = "tsr._plot", .fill = fill_helpers};
    prelude_add(&source, 1);
    card_derive(&plot_type, &dict_type, "plot", plot_repr);
    TSR_TRY(namespace_add(&space));
    TSR_TRY(namespace_add_functions("tsr", points, false)); /* as a bare name it is torch's */
    return namespace_add_functions("tsr", functions, true);
}
