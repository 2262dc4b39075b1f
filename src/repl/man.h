/* man.h: manual pages printed from tables: tsr-ops.7, the operators; the ideas of the documents (ideas.h). */
#ifndef REPL_MAN_H
#define REPL_MAN_H

/* Prints a page in roff: "ops", "ideas"; "schemas", the schema of each row, and
 * "idea-tests", for tests. Returns the exit status. */
int man_print(const char *page);

#endif
