/* commands.h: the commands of the command line that are functions of the language: -l, --diff, --lesson. */
#ifndef REPL_COMMANDS_H
#define REPL_COMMANDS_H

/* Each returns the exit status. They call tsr.list_file(path), tsr.diff_files(a, b) and tsr.lesson(n). */
int command_list(const char *const *paths, int count);
int command_diff(const char *a, const char *b);
int command_lesson(const char *number); /* NULL: the list of lessons */

#endif
