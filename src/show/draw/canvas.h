/* canvas.h: a drawing as a list of shapes, before it is SVG or the pixels of a PNG. Lengths are pixels of the SVG, from
 * the upper left corner; a PNG has `scale` times as many. Shapes that come later lie over the earlier ones.
 *
 * What fails while shapes are added is kept, and returned when the drawing is written: no call in between has to be
 * looked at. */
#ifndef SHOW_DRAW_CANVAS_H
#define SHOW_DRAW_CANVAS_H

#include "core/tensor.h"
#include "core/text.h"

/* What something is drawn with. The first ones are light or dark as the reader of an SVG has it (a PNG is light); each
 * of the CANVAS_PALETTE colours has a fill, on which INK_ON can be read, and a stronger edge. */
enum { CANVAS_PALETTE = 8 };
typedef enum Ink {
    INK_NONE,
    INK_TEXT,
    INK_DIM,
    INK_LINE,
    INK_BOX,
    INK_BOX_EDGE,
    INK_ON,
    INK_FILL,                            /* INK_FILL + k: the fill of colour k */
    INK_EDGE = INK_FILL + CANVAS_PALETTE /* INK_EDGE + k: its edge */
} Ink;

typedef enum Anchor { ANCHOR_START, ANCHOR_MIDDLE, ANCHOR_END } Anchor;

typedef struct Lettering {
    Ink ink;
    int size; /* of the font; 0: 13 */
    bool bold;
    Anchor anchor; /* where x is */
} Lettering;

typedef struct Point {
    float x, y;
} Point;

typedef struct Shape Shape;
typedef struct Canvas {
    int width, height;
    int top; /* what is added from now on lies this much lower than it says */
    Shape *shapes;
    size_t count, room;
    TsrText words; /* of all texts, one behind the other */
    TsrStatus status;
} Canvas;

enum { CHARACTER = 8 }; /* a little more than the width of a character of size 13 */

void canvas_free(Canvas *c); /* of all zeros too */
/* A box with corners of this radius. */
void canvas_box(Canvas *c, int x, int y, int width, int height, int radius, Ink fill, Ink edge);
/* A line of text; y is the line that letters stand on. */
void canvas_text(Canvas *c, int x, int y, Lettering lettering, const char *text);
void canvas_dot(Canvas *c, Point at, float radius, Ink ink);
/* A straight line, and a Bezier curve with two control points; `head`: with an arrow's head at the end. */
void canvas_line(Canvas *c, Point from, Point to, Ink ink, bool head);
void canvas_curve(Canvas *c, Point from, Point control, Point control_to, Point to, Ink ink, bool head);

/* The title and the description are what those are told who can't see it. */
TsrStatus canvas_svg(TsrText *out, const Canvas *c, const char *title, const char *description);
/* uint8 [height, width, 3]; ValueError for one of more pixels than a picture should have. */
TsrStatus canvas_new_image(TsrTensor **out, const Canvas *c, int scale);

/* Of canvas.c and raster.c. */
typedef enum ShapeKind { SHAPE_BOX, SHAPE_TEXT, SHAPE_DOT, SHAPE_CURVE } ShapeKind;
struct Shape {
    ShapeKind kind;
    Ink ink, edge;
    bool head, straight;
    Point at[4]; /* a box: its corner, its size, {radius, 0}; a text: its place; a dot: {radius, 0} second; a curve */
    Lettering lettering;
    size_t words, length; /* of the text in Canvas.words */
};

#endif
