/* draw.h: draw(x, ...): a storage as cells and the views on it, as text for the terminal or as SVG. */
#ifndef SHOW_DRAW_DRAW_H
#define SHOW_DRAW_DRAW_H

#include "canvas.h"
#include "lang/object/value.h"

TsrStatus draw_startup(void);
/* Whether a picture on standard output may have other characters than ASCII's. */
bool draw_in_unicode(void);
/* The drawing as SVG or PNG, as the path ends; `text` is for those who can't see it. */
TsrStatus draw_write_file(const char *path, const Canvas *canvas, const char *title, const char *text);

#endif
