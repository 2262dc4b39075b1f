/* line.h: lines from whoever types: readline's interface, loaded only on a terminal, or plain input.
 *
 * The history is $TSR_HISTORY, else `history` of the folder of state.h; an empty $TSR_HISTORY keeps none.
 * EDIT=readline|libedit|none at build says which library is asked for; without it (or with TERM=dumb) lines are read
 * plainly. */
#ifndef REPL_PROMPT_LINE_H
#define REPL_PROMPT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

typedef enum LineEnd { LINE_TEXT, LINE_END /* of the input */, LINE_INTERRUPTED } LineEnd;

void line_start(void); /* loads the library and the history */
void line_end(void);   /* saves the history */

/* The next line, without its end. *out is the caller's (free). After LINE_INTERRUPTED the request of Ctrl-C is cleared,
 * that of the time limit stands. A signal that ends the process, as SIGHUP does, finds the terminal as it was, and the
 * history is saved. */
LineEnd line_read(char **out, const char *prompt);
/* Adds a statement to the history (line ends inside are kept as they are). */
void line_remember(const char *text);

/* The whole line that is being typed, while Tab is answered; "" else. */
const char *line_typed(void);

/* The byte that stands `distance` bytes before the cursor of line_typed; a zero byte before its beginning. */
char line_before(size_t distance);

/* How many bytes of line_typed stand before the cursor. */
size_t line_point(void);

/* What Tab offers: the `index`-th completion of `word`, allocated by malloc; NULL after the last. In a text it offers
 * files, unless line_wants_key says that the text is a key. Set before line_start. */
extern char *(*line_completer)(const char *word, int index);
extern bool (*line_wants_key)(void);

/* The next line that is typed begins with so many blanks, which Backspace takes away a level at a time; it does not
 * when keys are waiting already, as in a paste. For one line_read. */
void line_indent_next(int blanks, int level);

#define LINE_NO_CURSOR SIZE_MAX
/* Appends what is being typed, `typed`, to `out` with colours, its bytes unchanged; the cursor is `point` bytes into
 * it, or nowhere (LINE_NO_CURSOR). NULL: lines have no colours. Set before line_start. */
extern TsrStatus (*line_painter)(TsrText *out, const char *typed, size_t point);

#endif
