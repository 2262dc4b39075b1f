/* draw(). The picture: a row of cells for the storage's elements with their values, and under it a row for each view
 * with the index that reaches each cell (beyond six dimensions its place in row-major order); gaps stay empty, a cell
 * that several indices reach (stride 0, overlap) says how many. */
#include "draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lang/object/args.h"
#include "boxes.h"
#include "graph.h"
#include "picture.h"
#include "segments.h"
#include "show/facts/anatomy.h"
#include "show/facts/card.h"
#include "core/tensor/loan.h"
#include "core/io.h"
#include "lang/modules/namespace.h"
#include "show/help/screen.h"
#include "lang/types/dict.h"
#include "lang/types/str.h"
#include "torch/holders.h"
#include "torch/types.h"

/* ---- colour: added where a picture is shown, never part of its text ---- */

static Type picture_type;
enum { PALETTE = 6 };

/* What the next line is. */
typedef struct Painter {
    int row;      /* of a band: views seen since its index line; -1 before */
    int geometry; /* lines after the last band */
    bool over;    /* the bands are */
    bool grids;   /* and the geometry: each tensor's rows in element numbers follow, which stand side by side */
} Painter;

static const char *colour_of(Painter *s, const char *line, size_t length, int number) {
    static const char *const palette[PALETTE] = {"\033[36m", "\033[33m", "\033[32m",
                                                 "\033[35m", "\033[34m", "\033[31m"};
    bool index = length >= 5 && memcmp(line, "index", 5) == 0;
    if (number == 0) return "\033[1m";
    s->grids |= index && s->over;
    if (index) return s->row = -3, "\033[2m"; /* the frame and the values follow */
    if (s->grids) return "";
    if (!s->over && memmem(line, length, ": shape ", 8) != NULL) s->over = true;
    if (s->over) return palette[s->geometry++ % PALETTE];
    return ++s->row > 0 ? palette[(s->row - 1) % PALETTE] : "";
}

static TsrStatus picture_repr(TsrText *out, Value self) {
    const Str *text = value_as_str(self);
    if (!screen_colours()) return tsr_text_append(out, text->data, (size_t)text->size);
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

/* By the environment: the program itself runs in the C locale. */
static bool locale_has_unicode(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

/* What a call draws: always the text, which is also what those are told who can't see the shapes; and these where it
 * goes to a file. */
typedef struct Drawing {
    TsrText text;
    Canvas canvas;
    const char *title; /* lent */
    bool shapes;
} Drawing;

enum { PNG_SCALE = 2 };

/* A name that promises another format is refused. */
static TsrStatus check_name(bool *png, const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash != NULL ? slash : path, '.');
    *png = dot != NULL && strcmp(dot, ".png") == 0;
    if (dot == NULL || *png || strcmp(dot, ".svg") == 0) return TSR_OK;
    return tsr_error(TSR_VALUE_ERROR, "draw(): '%s' ends in '%s': a name that ends in .svg or .png is expected", path,
                     dot);
}

static TsrStatus write_svg(const char *path, const Canvas *c, const char *title, const char *description) {
    TsrText text = {0};
    TsrStatus status = canvas_svg(&text, c, title, description);
    if (status == TSR_OK) status = tsr_io_check_writable(path);
    FILE *f = status == TSR_OK ? fopen(path, "we") : NULL;
    bool ok = f != NULL && fwrite(text.data, 1, text.length, f) == text.length;
    if (f != NULL) ok = fclose(f) == 0 && ok;
    tsr_text_free(&text);
    return status != TSR_OK || ok ? status : tsr_error(TSR_OS_ERROR, "%s: can't be written", path);
}

static TsrStatus write_png(const char *path, const Canvas *c) {
    TsrItems items = {0};
    TsrTensor *image;
    TsrSaveOptions options = tsr_save_options();
    TSR_TRY(canvas_new_image(&image, c, PNG_SCALE));
    TsrStatus status = tsr_items_single_move(&items, image);
    options.format = "png";
    if (status == TSR_OK) status = tsr_save(&items, path, &options);
    tsr_items_free(&items);
    return status;
}

TsrStatus draw_write_file(const char *path, const Canvas *canvas, const char *title, const char *text) {
    bool png;
    TSR_TRY(check_name(&png, path));
    return png ? write_png(path, canvas) : write_svg(path, canvas, title, text);
}

bool draw_in_unicode(void) { return !isatty(STDOUT_FILENO) || locale_has_unicode(); }

static TsrStatus append_pictures(Drawing *d, const Graph *g) {
    bool several = g->picture_count > 1;
    TSR_TRY(several ? draw_graph_text(&d->text, g) : draw_text(&d->text, &g->pictures[0]));
    if (!d->shapes) return TSR_OK;
    return several ? draw_graph_shapes(&d->canvas, g) : draw_shapes(&d->canvas, &g->pictures[0]);
}

/* One storage and the views over it, or several; of a device what is shown is copied. */
static TsrStatus append_graph(Drawing *d, const Graph *g) {
    TsrLoans loans = {.what = "draw"};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < g->row_count && status == TSR_OK; i++) status = tsr_lend(&loans, g->rows[i].t, false);
    if (status == TSR_OK) status = append_pictures(d, g);
    return tsr_give_back(&loans, status);
}

/* Which cell came of which is found by trying, on the host. */
static TsrStatus refuse_devices(const Graph *g) {
    for (int i = 0; i < g->picture_count; i++)
        if (tsr_device_has_backend(g->pictures[i].device))
            return tsr_error(TSR_RUNTIME_ERROR,
                             "draw(): an expression is drawn on the host, of tensors that are there");
    return TSR_OK;
}

/* What an expression was computed from, and its result. */
static TsrStatus draw_expression(Drawing *d, const Str *code) {
    Graph *g = tsr_calloc(1, sizeof *g);
    Step step;
    if (g == NULL) return mem_error();
    TsrStatus status = step_run(&step, code->data, (size_t)code->size);
    if (status == TSR_OK) {
        status = graph_add_step(g, &step, draw_in_unicode());
        if (status == TSR_OK) status = refuse_devices(g);
        if (status == TSR_OK) status = graph_finish(g);
        d->title = code->data;
        if (status == TSR_OK) status = append_graph(d, g);
        step_free(&step);
    }
    tsr_free(g);
    return status;
}

/* Whether a caffe2 tensor was resized past its memory: cells would show sizes that it has no longer. */
static TsrStatus is_outgrown(bool *out, Value v) {
    const WhoWrapper *wrapper = holders_wrapper(v);
    Value members;
    *out = false;
    if (wrapper == NULL || wrapper->members == NULL) return TSR_OK;
    TSR_TRY(dict_new(&members));
    TsrStatus status = wrapper->members(members, v);
    *out = status == TSR_OK && dict_find_c(value_as_dict(members), "resized_to") != NULL;
    value_release(members);
    return status;
}

/* Whether cells show what v is: it has memory that its sizes fit. What has not is drawn as its structures. */
static TsrStatus has_cells(bool *out, Value v) {
    TSR_TRY(is_outgrown(out, v));
    bool bare = v.tag == V_TENSOR && (!tsr_is_defined(v.t) || tsr_is_meta(v.t) || v.t->storage == NULL);
    *out = !*out && !bare && !anatomy_is(v) && holders_shell(v) == NULL;
    return TSR_OK;
}

/* The structures that a tensor, or an anatomy's one, is made of: below what is drawn already. */
static TsrStatus draw_structures(Drawing *d, Value v) {
    Value whole = VALUE_NONE;
    if (!anatomy_is(v)) TSR_TRY(anatomy_new(&whole, v));
    Value shown = anatomy_is(v) ? v : whole;
    d->canvas.top = d->canvas.height;
    TsrStatus status = d->text.length > 0 ? tsr_text_putc(&d->text, '\n') : TSR_OK;
    if (status == TSR_OK) status = draw_boxes_text(&d->text, shown, draw_in_unicode());
    if (status == TSR_OK && d->shapes) status = draw_boxes_shapes(&d->canvas, shown);
    value_release(whole);
    return status;
}

/* Those of the values that have cells, over their storages. */
static TsrStatus draw_cells(Drawing *d, int count, const Value *values) {
    Graph *g = tsr_calloc(1, sizeof *g);
    TsrTensor *t;
    bool cells;
    if (g == NULL) return mem_error();
    TsrStatus status = TSR_OK;
    for (int i = 0; i < count && status == TSR_OK; i++) {
        status = has_cells(&cells, values[i]);
        if (status != TSR_OK || !cells) continue;
        status = holders_tensor(&t, values[i], "draw");
        if (status == TSR_OK) status = graph_add(g, t, 0, draw_in_unicode());
    }
    if (g->row_count > 0) d->title = "Tensors and their storages";
    if (status == TSR_OK && g->row_count > 0) status = graph_finish(g);
    if (status == TSR_OK && g->row_count > 0) status = append_graph(d, g);
    tsr_free(g);
    return status;
}

static TsrStatus draw_values(Drawing *d, int count, const Value *values) {
    bool cells;
    d->title = "The structures of a tensor";
    TSR_TRY(draw_cells(d, count, values));
    for (int i = 0; i < count; i++) {
        TSR_TRY(has_cells(&cells, values[i]));
        if (!cells) TSR_TRY(draw_structures(d, values[i]));
    }
    return TSR_OK;
}

/* The text as a value; of one storage with lines that are painted by their kind. */
static TsrStatus text_value(Value *out, TsrText *text) {
    bool cells = strncmp(text->data, "storage #", 9) == 0;
    TSR_TRY(str_new_text_move(out, text));
    if (cells) out->o->type = &picture_type;
    else note_mark(*out);
    return TSR_OK;
}

/* Which device memory= names; None: it was not given. */
static TsrStatus draw_memory(Drawing *d, Value device) {
    bool ok;
    TsrDevice named;
    TSR_TRY(device_from_value(&named, &ok, device));
    if (!ok || !tsr_device_has_backend(named))
        return tsr_error(TSR_VALUE_ERROR,
                         "draw(): memory= is a device whose memory allocators cut into blocks: 'cuda'");
    d->title = "The segments of a device's memory";
    return draw_segments(&d->text, d->shapes ? &d->canvas : NULL, named, draw_in_unicode());
}

static TsrStatus draw_value(Drawing *d, const CallArgs *args) {
    Value memory = args_keyword(args, "memory");
    if (memory.tag > V_NONE) {
        if (args->count > 0) return tsr_error(TSR_TYPE_ERROR, "draw(): tensors, or memory=, not both");
        return draw_memory(d, memory);
    }
    if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "draw() missing 1 required positional argument: 'x'");
    if (args->count == 1 && value_is_str(args->values[0])) return draw_expression(d, value_as_str(args->values[0]));
    return draw_values(d, args->count, args->values);
}

static TsrStatus draw(Value *out, const CallArgs *args) {
    Value file = args_keyword(args, "file");
    Drawing d = {0};
    const char *path = NULL;
    bool png = false;
    TSR_TRY(args_only_keywords(args, "draw", (const char *const[]){"file", "memory"}, 2));
    if (file.tag > V_NONE) TSR_TRY(value_to_cstring(&path, file, "draw(): argument 'file'"));
    if (path != NULL) TSR_TRY(check_name(&png, path));
    d.shapes = path != NULL;
    TsrStatus status = draw_value(&d, args);
    if (status == TSR_OK && path == NULL) status = text_value(out, &d.text);
    else if (status == TSR_OK) {
        status = draw_write_file(path, &d.canvas, d.title, d.text.data);
        *out = VALUE_NONE;
    }
    tsr_text_free(&d.text);
    canvas_free(&d.canvas);
    return status;
}

static const Method functions[] = {{"draw", draw, ARGS_ANY, 0, -1, "(x, ..., *, file=None, memory=None)",
                                    "A picture of the storage and of the tensors on it, or of several storages\n"
                                    "with the names, tensors and counts over them; of code, draw(\"a + b\"), its\n"
                                    "operands and its result, and which cell came of which. With file= an SVG\n"
                                    "or a PNG.\n"
                                    "draw(anatomy(x)) draws the structures that x is made of, as boxes and counted\n"
                                    "pointers, which is also how a tensor without memory is drawn;\n"
                                    "draw(memory='cuda') the segments of a GPU's memory and the tensors in them."},
                                   {0}};

TsrStatus draw_startup(void) {
    card_derive(&picture_type, &str_type, "picture", picture_repr);
    return namespace_add_functions("tsr", functions, true);
}
