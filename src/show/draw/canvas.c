/* Shapes, and how they are written as SVG: colours are classes, which the reader's page may turn dark. */
#include "canvas.h"

#include <string.h>

#include "core/mem.h"
#include "lang/object/value.h"

void canvas_free(Canvas *c) {
    tsr_free(c->shapes);
    tsr_text_free(&c->words);
    *c = (Canvas){0};
}

/* How many of a shape's points are places; the others are sizes. */
static int place_count(ShapeKind kind) { return kind == SHAPE_CURVE ? 4 : 1; }

static void add(Canvas *c, Shape shape) {
    if (c->status != TSR_OK) return;
    for (int i = 0; i < place_count(shape.kind); i++) shape.at[i].y += (float)c->top;
    if (tsr_mem_grow(&c->shapes, &c->room, c->count + 1, sizeof *c->shapes) != TSR_OK) c->status = mem_error();
    else c->shapes[c->count++] = shape;
}

void canvas_box(Canvas *c, int x, int y, int width, int height, int radius, Ink fill, Ink edge) {
    add(c, (Shape){.kind = SHAPE_BOX,
                   .ink = fill,
                   .edge = edge,
                   .at = {{(float)x, (float)y}, {(float)width, (float)height}, {(float)radius, 0}}});
}

void canvas_text(Canvas *c, int x, int y, Lettering lettering, const char *text) {
    size_t length = strlen(text), words = c->words.length;
    if (c->status == TSR_OK) c->status = tsr_text_append(&c->words, text, length);
    if (lettering.size == 0) lettering.size = 13;
    add(c, (Shape){.kind = SHAPE_TEXT,
                   .ink = lettering.ink,
                   .at = {{(float)x, (float)y}},
                   .lettering = lettering,
                   .words = words,
                   .length = length});
}

void canvas_dot(Canvas *c, Point at, float radius, Ink ink) {
    add(c, (Shape){.kind = SHAPE_DOT, .ink = ink, .at = {at, {radius, 0}}});
}

void canvas_line(Canvas *c, Point from, Point to, Ink ink, bool head) {
    add(c, (Shape){.kind = SHAPE_CURVE, .ink = ink, .head = head, .straight = true, .at = {from, from, to, to}});
}

void canvas_curve(Canvas *c, Point from, Point control, Point control_to, Point to, Ink ink, bool head) {
    add(c, (Shape){.kind = SHAPE_CURVE, .ink = ink, .head = head, .at = {from, control, control_to, to}});
}

/* ---- SVG ---- */

static const char style[] =
    "<style>.page{fill:#fff}.ink{fill:#111}.dim{fill:#5c5c5c}.on{fill:#111}.box{fill:#f6f6f6}.edge{stroke:#666}"
    ".line{stroke:#444;fill:none}\n"
    ".f0{fill:#cfe4ff}.f1{fill:#ffdfc0}.f2{fill:#d3f2d3}.f3{fill:#f3d4ef}.f4{fill:#fff0a8}.f5{fill:#dad7ff}"
    ".f6{fill:#ffd6d6}.f7{fill:#cdf5f0}\n"
    ".e0{stroke:#3a7bd5}.e1{stroke:#b35900}.e2{stroke:#2f7d2f}.e3{stroke:#a03c95}.e4{stroke:#7a6a00}"
    ".e5{stroke:#5a50c8}.e6{stroke:#c03a3a}.e7{stroke:#1d7a70}.bare{fill:none}\n"
    "@media (prefers-color-scheme:dark){.page{fill:#16181d}.ink{fill:#eee}.dim{fill:#a0a4ab}"
    ".box{fill:#252931}.edge{stroke:#8a8f98}.line{stroke:#c0c4cc}\n"
    ".e0{stroke:#79aefc}.e1{stroke:#f0a35e}.e2{stroke:#7ed07e}.e3{stroke:#e08ad6}.e4{stroke:#d9c23c}"
    ".e5{stroke:#a9a2ff}.e6{stroke:#ff8f8f}.e7{stroke:#5fd0c2}}</style>\n"
    "<defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
    "orient=\"auto\"><path class=\"bare\" stroke=\"context-stroke\" d=\"M1 1L7 4L1 7\"/></marker></defs>\n";

static const char *class_of(char buffer[8], Ink ink) {
    static const char *const names[INK_FILL] = {"bare", "ink", "dim", "line", "box", "edge", "on"};
    if (ink < INK_FILL) return names[ink];
    buffer[0] = ink < INK_EDGE ? 'f' : 'e';
    buffer[1] = (char)('0' + (ink - (ink < INK_EDGE ? INK_FILL : INK_EDGE)));
    buffer[2] = '\0';
    return buffer;
}

/* Control characters other than \n are not allowed in XML. */
static TsrStatus put_escaped(TsrText *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        const char *as = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : NULL;
        if ((unsigned char)c < ' ' && c != '\n') c = ' ';
        TSR_TRY(as != NULL ? tsr_text_puts(out, as) : tsr_text_putc(out, c));
    }
    return TSR_OK;
}

static TsrStatus put_text(TsrText *out, const Canvas *c, const Shape *s, const char *class) {
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    TSR_TRY(tsr_text_printf(out, "<text x=\"%g\" y=\"%g\" class=\"%s\"%s%s", (double)s->at[0].x, (double)s->at[0].y,
                            class, anchors[s->lettering.anchor], s->lettering.bold ? " font-weight=\"bold\"" : ""));
    if (s->lettering.size != 13) TSR_TRY(tsr_text_printf(out, " font-size=\"%d\"", s->lettering.size));
    TSR_TRY(tsr_text_putc(out, '>'));
    TSR_TRY(put_escaped(out, c->words.data + s->words, s->length));
    return tsr_text_puts(out, "</text>\n");
}

static TsrStatus put_curve(TsrText *out, const Shape *s, const char *class) {
    const Point *at = s->at;
    TSR_TRY(tsr_text_printf(out, "<path class=\"bare %s\" d=\"M%g %g", class, (double)at[0].x, (double)at[0].y));
    if (!s->straight)
        TSR_TRY(tsr_text_printf(out, "C%g %g %g %g %g %g", (double)at[1].x, (double)at[1].y, (double)at[2].x,
                                (double)at[2].y, (double)at[3].x, (double)at[3].y));
    else TSR_TRY(tsr_text_printf(out, "L%g %g", (double)at[3].x, (double)at[3].y));
    return tsr_text_printf(out, "\"%s/>\n", s->head ? " marker-end=\"url(#head)\"" : "");
}

static TsrStatus put_shape(TsrText *out, const Canvas *c, const Shape *s) {
    char first[8], second[8];
    const char *class = class_of(first, s->ink);
    if (s->kind == SHAPE_TEXT) return put_text(out, c, s, class);
    if (s->kind == SHAPE_CURVE) return put_curve(out, s, class);
    if (s->kind == SHAPE_DOT)
        return tsr_text_printf(out, "<circle class=\"%s\" cx=\"%g\" cy=\"%g\" r=\"%g\"/>\n", class, (double)s->at[0].x,
                               (double)s->at[0].y, (double)s->at[1].x);
    TSR_TRY(tsr_text_printf(out, "<rect class=\"%s%s%s\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"", class,
                            s->edge != INK_NONE ? " " : "", s->edge != INK_NONE ? class_of(second, s->edge) : "",
                            (double)s->at[0].x, (double)s->at[0].y, (double)s->at[1].x, (double)s->at[1].y));
    if (s->at[2].x > 0) TSR_TRY(tsr_text_printf(out, " rx=\"%g\"", (double)s->at[2].x));
    return tsr_text_puts(out, "/>\n");
}

TsrStatus canvas_svg(TsrText *out, const Canvas *c, const char *title, const char *description) {
    TSR_TRY(c->status);
    TSR_TRY(
        tsr_text_printf(out,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                        "font-family=\"monospace\" font-size=\"13\" role=\"img\" aria-labelledby=\"title text\">\n",
                        c->width, c->height, c->width, c->height));
    TSR_TRY(tsr_text_puts(out, "<title id=\"title\">"));
    TSR_TRY(put_escaped(out, title, strlen(title)));
    TSR_TRY(tsr_text_puts(out, "</title>\n<desc id=\"text\">"));
    TSR_TRY(put_escaped(out, description, strlen(description)));
    TSR_TRY(tsr_text_printf(out, "</desc>\n%s", style));
    TSR_TRY(tsr_text_puts(out, "<rect width=\"100%\" height=\"100%\" class=\"page\"/>\n"));
    for (size_t i = 0; i < c->count; i++) TSR_TRY(put_shape(out, c, &c->shapes[i]));
    return tsr_text_puts(out, "</svg>\n");
}
