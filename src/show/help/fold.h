/* fold.h: pages of help in lines that a terminal shows whole. */
#ifndef SHOW_HELP_FOLD_H
#define SHOW_HELP_FOLD_H

#include "core/text.h"

enum { FOLD_LEAST = 36, FOLD_WIDTH = 79 /* for a terminal of 80 columns */ };

/* Appends the zero-terminated `page`, lines of more than `width` (at least FOLD_LEAST) bytes broken: indented ones,
 * which are prose, between words; signatures and the code of examples behind commas inside brackets, the rest standing
 * below the first argument, or behind "...". What an example prints stays as it is. */
TsrStatus fold_page(TsrText *out, const char *page, size_t width);

#endif
