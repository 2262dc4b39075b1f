/* The size and colours of the terminal, and the pager: a text with more rows than the window goes to $PAGER when
 * standard output is a terminal. */
#include "screen.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io.h"
#include "lang/syntax/unichar.h"

extern char **environ;

bool screen_here, screen_colour, screen_colour_always;

bool screen_colours(void) { return screen_colour && (screen_colour_always || isatty(STDOUT_FILENO)); }

/* Zeros where it is not known. */
static struct winsize size_of_window(void) {
    struct winsize size = {0};
    if (!screen_here || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) memset(&size, 0, sizeof size);
    return size;
}

int screen_line(int longest) {
    int columns = size_of_window().ws_col;
    return columns > 1 && columns <= longest ? columns - 1 : longest;
}

size_t screen_fitting(const char *line, size_t length, int columns) {
    size_t best = length, indent = 0;
    while (indent < length && line[indent] == ' ') indent++;
    int used = 0;
    for (size_t i = 0; i < length; i++) {
        used += ((unsigned char)line[i] & 0xc0) != 0x80;
        if (used > columns && best < length) return best;
        if (line[i] == ' ' && i > indent) best = i;
    }
    return used > columns ? best : length;
}

TsrStatus screen_append_wrapped(TsrText *out, const char *line, size_t length, int columns, int indent) {
    enum { LEAST = 20 };
    size_t n = screen_fitting(line, length, columns);
    TSR_TRY(tsr_text_append(out, line, n));
    while (n < length) {
        line += n + 1;
        length -= n + 1;
        n = screen_fitting(line, length, TSR_MAX(columns - indent, LEAST));
        TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(tsr_text_pad(out, ' ', (size_t)indent));
        TSR_TRY(tsr_text_append(out, line, n));
    }
    return TSR_OK;
}

void screen_note(const TsrText *line, int indent, bool coloured) {
    TsrText lines = {0};
    if (screen_append_wrapped(&lines, line->data, line->length, screen_line(INT_MAX), indent) == TSR_OK)
        fprintf(stderr, "%s%s%s\n", coloured ? "\033[2m" : "", lines.data, coloured ? "\033[0m" : "");
    else tsr_error_clear();
    tsr_text_free(&lines);
}

/* The lines of the window that a text takes, characters counted as one column. */
static int64_t rows_of(const TsrText *text, int64_t columns) {
    int64_t rows = 0;
    for (const char *line = text->data, *end = line + text->length; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        rows += TSR_MAX((utf8_count(line, stop - line) + columns - 1) / columns, (int64_t)1);
        line = stop + 1;
    }
    return rows;
}

static bool is_longer(const TsrText *text) {
    struct winsize size = size_of_window();
    return size.ws_row > 0 && size.ws_col > 0 && rows_of(text, size.ws_col) >= size.ws_row;
}

/* The command for the shell; NULL: none is wanted. less leaves what it showed on the screen, and ends by itself at the
 * end of what fits. */
static const char *pager(void) {
    static char command[1000];
    const char *named = getenv("PAGER"), *term = getenv("TERM");
    if (tsr_io_in_sandbox() || term == NULL || strcmp(term, "dumb") == 0 ||
        (named != NULL && (named[0] == '\0' || strcmp(named, "cat") == 0)))
        return NULL;
    if (named == NULL) return "command -v less >/dev/null || exit 127; LESS=\"${LESS-FRX}\" exec less";
    return (size_t)snprintf(command, sizeof command, "LESS=\"${LESS-FRX}\" %s", named) < sizeof command ? command
                                                                                                        : NULL;
}

/* The child's status as the shell has it; 127 when there is no child. Ctrl-C is the pager's while it runs. */
static int run_command(const char *command, int input) {
    pid_t child;
    int status = 0;
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    sigaction(SIGINT, &ignore, &before);
    bool started = posix_spawn(&child, "/bin/sh", &files, &attributes, arguments, environ) == 0;
    while (started && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return !started ? 127 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Through a file without a name: who leaves the pager early breaks no pipe. Whether it was shown. */
static bool show_paged(const TsrText *text, const char *command) {
    FILE *file = tmpfile();
    if (file == NULL) return false;
    bool shown = fwrite(text->data, 1, text->length, file) == text->length && fflush(file) == 0 &&
                 lseek(fileno(file), 0, SEEK_SET) == 0;
    fflush(stdout);
    shown = shown && run_command(command, fileno(file)) != 127;
    fclose(file);
    return shown;
}

void screen_show(const TsrText *text) {
    if (text->length == 0) return;
    const char *command = is_longer(text) ? pager() : NULL;
    if (command == NULL || !show_paged(text, command)) (void)fwrite(text->data, 1, text->length, stdout);
}
