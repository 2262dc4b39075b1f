/* boxes.h: a nested dict, an anatomy, as boxes below each other: a dict with a "refcount" has a box of its own, with
 * its count in the title, and an arrow from the line that points to it; other dicts are lines of the box they stand in.
 */
#ifndef SHOW_DRAW_BOXES_H
#define SHOW_DRAW_BOXES_H

#include "canvas.h"
#include "lang/object/value.h"

/* The picture of a dict as text (ASCII unless `unicode`), and on a canvas below its `top`; the canvas grows to hold it.
 * RuntimeError for a dict of too many lines. */
TsrStatus draw_boxes_text(TsrText *out, Value dict, bool unicode);
TsrStatus draw_boxes_shapes(Canvas *c, Value dict);

#endif
