/* man.h: manual pages printed from tables: tsr-ops.7, the operators; the ideas of the documents (ideas.h). */
#ifndef REPL_MAN_H
#define REPL_MAN_H

#include <stddef.h>

/* Prints a page in roff: "ops", "ideas"; "schemas", the schema of each row, and
 * "idea-tests", for tests. Returns the exit status. */
int man_print(const char *page);
/* Prints a line of text so that roff shows it as it is. */
void man_put_line(const char *line, size_t length);

#endif
