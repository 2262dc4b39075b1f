/* shell.h: running programs for the command line: where they come from, what is shown, how errors end.
 * One shell per process: startup_begin (startup.h) once, then any of the runs, then startup_finish, whose result is the
 * exit status. */
#ifndef REPL_SHELL_H
#define REPL_SHELL_H

#include "options.h"
#include "lang/syntax/source.h"
#include "lang/object/value.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

/* Shows the value of an expression statement: its repr on stdout, and `_`. */
TsrStatus shell_display(Value v);

/* Each returns the exit status so far. */
int shell_run_code(const char *const *codes, int count); /* -e */
int shell_run_file(const char *path);                    /* a script; "-" standard input */
int shell_run_echo(const char *path);                    /* --echo */
int shell_run_prompt(void);                              /* the prompt, on a terminal or not */
/* --page: vm_line (vm.h) is called before each statement. In a session each statement is run by itself, its value is
 * shown, and errors are part of it. */
int shell_run_stepping(Source *source, bool session);

/* Runs one piece of text as typed at the prompt: plain statements, `%magic`, `name?`. Values are shown, errors
 * reported. `line` is the number of its first line in `name`. The exit status that an error asks for, else EXIT_FINE.
 */
int shell_run_typed(const char *name, const char *text, size_t length, int line);

/* Reports what `status` stands for on stderr (stdout is flushed first) and forgets it. The exit status it asks for:
 * 1, 130 after an interrupt, that of SystemExit. `*exits` (may be NULL): whether it was a SystemExit. */
int shell_report(TsrStatus status, bool *exits);

/* Set when exit() was called at the prompt or in a transcript; then *status is its. */
bool shell_wants_exit(int *status);

/* Called after each statement that was typed and succeeded, its values shown: for notes at the prompt; may be NULL. */
extern void (*shell_after_statement)(void);

#endif
