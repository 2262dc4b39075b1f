/* complete.h: what Tab offers at the prompt: names that are visible, keywords, magics, attributes after a dot, modules
 * behind import and what is in them behind from, the arguments of a call by their names, the keys of a dict. */
#ifndef REPL_PROMPT_COMPLETE_H
#define REPL_PROMPT_COMPLETE_H

#include <stdbool.h>

/* The `index`-th completion of `word` ("x.vi", "aran"), allocated by malloc; NULL after the last. Index 0 collects.
 * Runs no code of the user's. */
char *complete_word(const char *word, int index);

/* Whether the text that is being typed is a key of a dict that has a name. */
bool complete_wants_key(void);

#endif
