/* man.h: manual pages printed from tables: tsr-ops.7, the operators. */
#ifndef REPL_MAN_H
#define REPL_MAN_H

/* Prints a page in roff: "ops"; "schemas": the schema of each row, for tests. Returns the exit status. */
int man_print(const char *page);

#endif
