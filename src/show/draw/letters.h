/* letters.h: the shapes of letters, for pictures of pixels. */
#ifndef SHOW_DRAW_LETTERS_H
#define SHOW_DRAW_LETTERS_H

#include <stdint.h>

enum { LETTER_LOWERED = 15, LETTER_LOW = 20, LETTER_MARKS = 3 }; /* tenths */

/* A letter as strokes: pairs of digits "xy" are points, x 0 to 4 from the left, y 0 to 8 from above (capitals reach
 * from 0 to 6, where they stand); a blank ends a stroke. */
typedef struct Letter {
    const char *strokes;
    const char *marks[LETTER_MARKS]; /* strokes, too; NULL: no more */
    int top;                         /* tenths: where y 0 of `strokes` lies, y 6 staying; the marks stay, too */
} Letter;

/* An unknown character is an empty frame. */
Letter letter_of(uint32_t character);

#endif
