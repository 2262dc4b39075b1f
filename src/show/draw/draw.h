/* draw.h: draw(x, ...): a storage as cells and the views on it, as text for the terminal or as SVG. */
#ifndef SHOW_DRAW_DRAW_H
#define SHOW_DRAW_DRAW_H

#include "lang/object/value.h"

TsrStatus draw_startup(void);

#endif
