/* commands.h: the commands of the command line: -l, --diff, --lesson. */
#ifndef REPL_COMMANDS_H
#define REPL_COMMANDS_H

/* Each prints and returns the exit status. command_diff: 1 when the files differ. command_lesson: EXIT_USAGE when there is none of that number. */
int command_list(const char *const *paths, int count);
int command_diff(const char *a, const char *b);
int command_lesson(const char *number); /* NULL: the list of lessons */

#endif
