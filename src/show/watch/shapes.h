/* shapes.h: what an error about two shapes that do not fit shows besides its message. */
#ifndef SHOW_WATCH_SHAPES_H
#define SHOW_WATCH_SHAPES_H

#include <stddef.h>

/* The two shapes of a matrix product that does not fit, a line each, with the inner dimensions marked, into `buffer`;
 * NULL for another error. */
const char *shapes_of_product(const char *message, char *buffer, size_t size);
/* How it would fit; static; NULL when nothing simple does. */
const char *shapes_hint(const char *message);

#endif
