/* state.h: where the program keeps what it remembers between runs: the history of the prompt and the progress of
 * lessons, in $XDG_STATE_HOME/tsr, else ~/.local/state/tsr. */
#ifndef REPL_STATE_H
#define REPL_STATE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file of that folder, into `size` bytes at `path`. False, with nothing to keep, in the sandbox, without
 * a home, and where the path is longer than that. */
bool state_path(char *path, size_t size, const char *file);
/* Makes the folder, for its owner alone. That it can't be made shows where a file in it is opened. */
void state_make_folder(void);

#endif
