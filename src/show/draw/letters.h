/* letters.h: the shapes of letters, for pictures of pixels. */
#ifndef SHOW_DRAW_LETTERS_H
#define SHOW_DRAW_LETTERS_H

#include <stdint.h>

/* A letter as strokes: pairs of digits "xy" are points, x 0 to 4 from the left, y 0 to 8 from above (capitals reach
 * from 0 to 6, where they stand); a blank ends a stroke. Of a character that has none an empty frame. */
const char *letter_strokes(uint32_t character);

#endif
