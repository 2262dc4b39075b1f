/* line.h: lines from whoever types: readline's interface, loaded only on a terminal, or plain input.
 *
 * The history is $TSR_HISTORY, else `history` of the folder of state.h; an empty $TSR_HISTORY keeps none.
 * EDIT=readline|libedit|none at build says which library is asked for; without it (or with TERM=dumb) lines are read
 * plainly. */
#ifndef REPL_PROMPT_LINE_H
#define REPL_PROMPT_LINE_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
