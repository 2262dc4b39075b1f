/* doctest.h: checking transcripts: `>>> ` and `... ` lines and what they print, in text, Markdown and man pages. */
#ifndef REPL_DOCTEST_H
#define REPL_DOCTEST_H

#include <stdbool.h>

/* Runs the transcripts of each file and compares. A difference is printed on stdout as a unified diff; with `sum` how
 * many statements there were, and how many differed. Returns the exit status: 1 when something differed. */
int doctest_run(const char *const *paths, int count, bool sum);

#endif
