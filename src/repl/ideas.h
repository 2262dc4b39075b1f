/* ideas.h: the ideas of the documents that tsr comes from, each with the code that shows it and what that prints, from
 * the table ideas.def. */
#ifndef REPL_IDEAS_H
#define REPL_IDEAS_H

/* As sections of tsr-ownership(7), on stdout. */
void ideas_write_manual(void);
/* As transcripts, each after a line "=== NUMBER IDEA", on stdout: for tests/repl/ideas.sh. */
void ideas_write_transcripts(void);

#endif
