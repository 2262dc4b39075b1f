/* complete.h: what Tab offers at the prompt: names that are visible, keywords, magics, attributes after a dot, modules
 * behind import. */
#ifndef REPL_COMPLETE_H
#define REPL_COMPLETE_H

/* The `index`-th completion of `word` ("x.vi", "aran"), allocated by malloc; NULL after the last. Index 0 collects. Runs
 * no code of the user's. */
char *complete_word(const char *word, int index);

#endif
