/* graphics.h: pictures of a terminal that shows pixels, not only characters. */
#ifndef SHOW_PLOT_GRAPHICS_H
#define SHOW_PLOT_GRAPHICS_H

#include "core/text.h"

typedef enum Graphics {
    GRAPHICS_NONE,
    GRAPHICS_KITTY, /* kitty's protocol (sw.kovidgoyal.net/kitty/graphics-protocol): kitty, ghostty, Konsole */
    GRAPHICS_SIXEL  /* the VT340's bands of six rows: foot, mlterm, WezTerm, contour */
} Graphics;

/* What the terminal shows, as the environment says: $TSR_GRAPHICS ("kitty", "sixel"; any other word, none), else the
 * terminal's own variables. The terminal itself is not asked: its answer would come among what is typed. None within
 * tmux or screen, which pass on no pictures. */
Graphics graphics_here(void);

typedef struct Pixels {
    int width, height;
    const uint8_t *rgb; /* row-major, three bytes a pixel; lent */
} Pixels;

/* Appends the sequence that shows the pixels. `kind` is not GRAPHICS_NONE. */
TsrStatus graphics_append(TsrText *out, Graphics kind, Pixels pixels);

#endif
