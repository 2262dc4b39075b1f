/* Where the program keeps what it remembers: the folders of the XDG base directory specification. */
#include "state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/io_stream.h"

bool state_path(char *path, size_t size, const char *file) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (tsr_io_in_sandbox()) return false;
    if (state != NULL && state[0] == '/') return (size_t)snprintf(path, size, "%s/tsr/%s", state, file) < size;
    return home != NULL && home[0] == '/' && (size_t)snprintf(path, size, "%s/.local/state/tsr/%s", home, file) < size;
}

void state_make_folder(void) {
    char path[PATH_MAX];
    if (!state_path(path, sizeof path, "")) return;
    for (char *s = path + 1; *s != '\0'; s++) {
        if (*s != '/') continue;
        *s = '\0';
        mkdir(path, 0700); /* fails where it exists */
        *s = '/';
    }
}
