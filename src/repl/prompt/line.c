/* Lines from the terminal. On a terminal readline is loaded with dlopen and given completion, history and indentation;
 * Ctrl-C ends the line that is being typed. Otherwise, or when it cannot be loaded, lines are read plainly from
 * standard input. */
#include "line.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "core/error.h"
#include "core/io_stream.h"
#include "cursor.h"
#include "repl/signals.h"
#include "repl/state.h"
#include "show/help/screen.h"

enum { HISTORY_LINES = 2000 };

char *(*line_completer)(const char *word, int index);
bool (*line_wants_key)(void);
TsrStatus (*line_painter)(TsrText *out, const char *typed, size_t point);

#if defined(TSR_EDIT_NONE)
static const char *const libraries[] = {NULL};
#elif defined(TSR_EDIT_LIBEDIT)
static const char *const libraries[] = {"libedit.so.2", "libedit.so", NULL};
#else
static const char *const libraries[] = {"libreadline.so.8", "libreadline.so", "libedit.so.2", NULL};
#endif

typedef char *Generator(const char *, int);

/* What is used of the library; members may be NULL where libedit has none. */
static struct {
    void *handle;
    void (*install)(const char *, void (*)(char *));
    void (*remove)(void);
    void (*read_char)(void);
    void (*add_history)(const char *);
    int (*read_history)(const char *);
    int (*write_history)(const char *);
    void (*stifle_history)(int);
    void (*free_line_state)(void);
    void (*cleanup_after_signal)(void);
    void (*reset_after_signal)(void);
    void (*resize)(void);
    int (*redisplay)(void);
    void (*leave_search)(void);
    char **(*completion_matches)(const char *, Generator *);
    int *attempted_over, *catch_signals, *append_character, *point;
    const char **break_characters, **quotes;
    char **buffer;
    int (*bind_variable)(const char *, const char *);
    int (*read_key)(FILE *), (**read_key_hook)(FILE *);
    int (*insert)(const char *), (*erase)(int from, int to), (*rubout)(int count, int key);
    int (*bind_key)(int key, int (*)(int count, int key)), (**startup_hook)(void);
    void (*screen_size)(int *rows, int *columns), (*draw)(void), (**draw_hook)(void);
    char **shown_prompt;
    FILE **screen;
} lib;

static const char break_characters[] = " \t\n\"'`@$><=;|&{}()[]+-*/,:~^%!";
static char *received;
static bool have_received;

static void *symbol(const char *name) { return dlsym(lib.handle, name); }

/* dlsym gives object pointers; POSIX has them convert to function pointers. */
#define LOAD(member, name) (*(void **)&lib.member = symbol(name))

const char *line_typed(void) { return lib.buffer != NULL && *lib.buffer != NULL ? *lib.buffer : ""; }

size_t line_point(void) { return lib.point != NULL ? (size_t)*lib.point : strlen(line_typed()); }

char line_before(size_t distance) { return distance <= line_point() ? line_typed()[line_point() - distance] : '\0'; }

/* What is being typed: code; the name of a file, in a text or behind a magic that takes one; or a text that is a key.
 */
typedef enum Wanted { WANTED_CODE, WANTED_FILE, WANTED_KEY } Wanted;

static bool takes_file(const char *typed) {
    static const char *const magics[] = {"%run ", "%cd ", "%ls ", "%save ", "%lesson "};
    for (size_t i = 0; i < TSR_COUNTOF(magics); i++)
        if (strncmp(typed, magics[i], strlen(magics[i])) == 0) return true;
    return false;
}

static Wanted wanted(void) {
    const char *typed = line_typed();
    if (lib.point == NULL) return WANTED_CODE;
    if (takes_file(typed)) return WANTED_FILE;
    if (cursor_find(typed, line_point()).quote == '\0') return WANTED_CODE;
    return line_wants_key != NULL && line_wants_key() ? WANTED_KEY : WANTED_FILE;
}

/* Asked before each completion. The quote before the name of a file is closed behind it, that of 'abc'.up is not. A key
 * may have blanks. */
static const char *word_breaks(void) {
    Wanted what = wanted();
    if (lib.quotes != NULL) *lib.quotes = what == WANTED_FILE ? "\"'" : "";
    return what == WANTED_CODE ? break_characters : what == WANTED_FILE ? " \"'" : "\"'";
}

static char *indentation(const char *word, int number) {
    (void)word;
    return number == 0 ? strdup("    ") : NULL;
}

/* Only blanks stand before what is to be completed. */
static bool begins_line(int start) {
    for (const char *c = line_typed(); start > 0 && *c != '\0'; c++, start--)
        if (*c != ' ' && *c != '\t') return false;
    return true;
}

static char **complete(const char *word, int start, int end) {
    (void)end;
    Wanted what = wanted();
    if (lib.append_character != NULL)
        *lib.append_character = what == WANTED_KEY ? cursor_find(line_typed(), line_point()).quote : 0;
    if (what == WANTED_FILE) return NULL; /* the library knows how */
    if (lib.attempted_over != NULL) *lib.attempted_over = 1;
    if (word[0] == '\0' && begins_line(start) && lib.completion_matches != NULL)
        return lib.completion_matches(word, indentation); /* Tab indents there */
    return line_completer != NULL && lib.completion_matches != NULL ? lib.completion_matches(word, line_completer)
                                                                    : NULL;
}

/* ---- colours ---- */

static const char *prompt_now; /* of the line that is being read */

/* Printed ASCII, a byte a column, that fits the screen. Behind a full row the terminals differ in where the cursor
 * stands, so that one is left as it is until the next key. */
static bool is_paintable(const char *typed, size_t before, int rows, int columns) {
    for (const char *c = typed; *c != '\0'; c++)
        if (*c < ' ' || *c > '~') return false;
    if (*typed == '\0' || columns <= 0 || rows <= 0) return false;
    size_t width = before + strlen(typed), row = (size_t)columns;
    return width / row < (size_t)rows && width % row != 0 && (before + line_point()) % row != 0;
}

/* Writes the line once more over itself, with its colours: the library, which knows nothing of them, finds each
 * character where it put it. */
static void paint_over(const char *typed, size_t before, int columns, size_t point) {
    TsrText text = {0};
    size_t row = (before + line_point()) / (size_t)columns;
    if (line_painter(&text, typed, point) == TSR_OK) {
        fprintf(*lib.screen, "\0337");
        if (row > 0) fprintf(*lib.screen, "\033[%zuA", row);
        fprintf(*lib.screen, "\r\033[%zuC%s\0338", before, text.data);
        fflush(*lib.screen);
    }
    tsr_error_clear();
    tsr_text_free(&text);
}

static void paint(size_t point) {
    int rows = 0, columns = 0;
    const char *typed = line_typed();
    if (prompt_now == NULL || *lib.shown_prompt == NULL || strcmp(*lib.shown_prompt, prompt_now) != 0) return;
    size_t before = strlen(prompt_now);
    lib.screen_size(&rows, &columns);
    if (is_paintable(typed, before, rows, columns)) paint_over(typed, before, columns, point);
}

static void draw(void) {
    lib.draw();
    paint(line_point());
}

/* What stays on the screen has no bracket marked for the cursor. */
static void paint_for_good(void) {
    if (lib.draw_hook != NULL && *lib.draw_hook == draw) paint(LINE_NO_CURSOR);
}

/* ---- indentation ---- */

static struct { int blanks, level; } next_indent;

void line_indent_next(int blanks, int level) {
    next_indent.blanks = blanks;
    next_indent.level = level;
}

/* Backspace: a level at once where only blanks stand before the cursor. */
static int erase_level(int times, int key) {
    int point = (int)line_point();
    if (times != 1 || point < next_indent.level || !begins_line(point)) return lib.rubout(times, key);
    lib.erase(point - next_indent.level, point);
    *lib.point = point - next_indent.level;
    return 0;
}

static void indent(void) {
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    if (next_indent.blanks == 0 || poll(&wait, 1, 0) != 0) return;
    for (int i = 0; i < next_indent.blanks; i++) lib.insert(" ");
    lib.bind_key('\b', erase_level);
    lib.bind_key(0x7f, erase_level);
}

/* ---- what is added when a line begins ---- */

static bool can_indent, can_paint;

/* Called by the library behind its own work: it has looked at the terminal, which it does not where somebody else
 * draws, and has bound Backspace. */
static int begin_line(void) {
    if (can_paint) *lib.draw_hook = draw;
    if (can_indent) indent();
    return 0;
}

static void load_extras(void) {
    LOAD(insert, "rl_insert_text");
    LOAD(erase, "rl_delete_text");
    LOAD(rubout, "rl_rubout");
    LOAD(bind_key, "rl_bind_key");
    LOAD(screen_size, "rl_get_screen_size");
    LOAD(draw, "rl_redisplay");
    LOAD(draw_hook, "rl_redisplay_function");
    LOAD(shown_prompt, "rl_display_prompt");
    LOAD(screen, "rl_outstream");
    LOAD(startup_hook, "rl_startup_hook");
    can_indent =
        lib.insert != NULL && lib.erase != NULL && lib.rubout != NULL && lib.bind_key != NULL && lib.point != NULL;
    can_paint = line_painter != NULL && lib.screen_size != NULL && lib.draw != NULL && lib.draw_hook != NULL &&
                lib.shown_prompt != NULL && lib.screen != NULL;
    if (lib.startup_hook != NULL) *lib.startup_hook = begin_line;
}

/* ---- a terminal that changes under the line ---- */

static volatile sig_atomic_t resized, continued;

static void on_change(int signal) {
    if (signal == SIGCONT) continued = 1;
    else resized = 1;
}

static void watch_terminal(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_change;
    action.sa_flags = SA_RESTART; /* of a read or write of the program's; poll ends all the same */
    sigaction(SIGWINCH, &action, NULL);
    sigaction(SIGCONT, &action, NULL);
}

/* The library, too, draws in another way where it believes that somebody else does. */
static void resize(void) {
    if (can_paint) *lib.draw_hook = lib.draw;
    lib.resize();
    if (can_paint) *lib.draw_hook = draw;
}

/* Behind Ctrl-Z and fg the terminal is as the shell left it, and what was typed is no longer on it; in a window of
 * another width it lies elsewhere. */
static void follow_terminal(void) {
    if (continued && lib.cleanup_after_signal != NULL && lib.reset_after_signal != NULL) {
        lib.cleanup_after_signal();
        lib.reset_after_signal();
    }
    if ((resized || continued) && lib.resize != NULL) resize();
    if (continued && lib.redisplay != NULL) lib.redisplay();
    resized = continued = 0;
}

/* ---- waiting for keys ---- */

/* What ends the process, whoever reads: the terminal is put back and the history kept first. */
static const int endings[] = {SIGHUP, SIGTERM, SIGQUIT};
static volatile sig_atomic_t ended_by;
static struct termios usual; /* the terminal as it was before the library changed it */

static void on_ending(int signal) { ended_by = signal; }
static void restore_terminal(void) { tcsetattr(STDIN_FILENO, TCSANOW, &usual); }
static bool stopped(void) { return ended_by != 0 || tsr_interrupt_flag != TSR_INTERRUPT_NONE; }

/* False when a signal, or an error, came first. Signals are blocked but while ppoll waits: one that came between the
 * look at what it had set and the wait would be slept through. */
static bool key_came(void) {
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    int ready = -1;
    sigset_t all, before;
    sigfillset(&all);
    errno = EINTR;
    pthread_sigmask(SIG_BLOCK, &all, &before);
    while (ready < 0 && errno == EINTR && !stopped()) {
        follow_terminal();
        errno = 0;
        ready = ppoll(&wait, 1, NULL, &before);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ready > 0;
}

/* For the library, which also waits for keys by itself, in the middle of a paste for one: that ends as if its end had
 * come, since the library reads beyond the buffer of one that ends otherwise. */
static int next_key(FILE *stream) {
    static const char paste_end[] = "\033[201~";
    static size_t given;
    if (key_came()) {
        given = 0;
        int key = lib.read_key(stream);
        if (key == '\r' || key == '\n') paint_for_good();
        return key;
    }
    return given + 1 < sizeof paste_end ? paste_end[given++] : EOF;
}

typedef struct Watch {
    struct sigaction before[TSR_COUNTOF(endings)];
} Watch;

static void watch_begin(Watch *w) {
    struct sigaction action = {.sa_handler = on_ending};
    bool known = tcgetattr(STDIN_FILENO, &usual) == 0;
    ended_by = 0;
    signals_before_exit = known ? restore_terminal : NULL;
    for (size_t i = 0; i < TSR_COUNTOF(endings); i++)
        if (sigaction(endings[i], NULL, &w->before[i]) == 0 && w->before[i].sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
}

static void watch_end(const Watch *w) {
    for (size_t i = 0; i < TSR_COUNTOF(endings); i++) sigaction(endings[i], &w->before[i], NULL);
    signals_before_exit = NULL;
    if (ended_by == 0) return;
    line_end();
    raise(ended_by);
}

static bool load(void) {
    for (int i = 0; libraries[i] != NULL && lib.handle == NULL; i++)
        lib.handle = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
    if (lib.handle == NULL) return false;
    LOAD(install, "rl_callback_handler_install");
    LOAD(remove, "rl_callback_handler_remove");
    LOAD(read_char, "rl_callback_read_char");
    LOAD(add_history, "add_history");
    LOAD(read_history, "read_history");
    LOAD(write_history, "write_history");
    LOAD(stifle_history, "stifle_history");
    LOAD(free_line_state, "rl_free_line_state");
    LOAD(cleanup_after_signal, "rl_cleanup_after_signal");
    LOAD(reset_after_signal, "rl_reset_after_signal");
    LOAD(resize, "rl_resize_terminal");
    LOAD(redisplay, "rl_forced_update_display");
    LOAD(leave_search, "rl_callback_sigcleanup");
    LOAD(completion_matches, "rl_completion_matches");
    LOAD(attempted_over, "rl_attempted_completion_over");
    LOAD(append_character, "rl_completion_append_character");
    LOAD(catch_signals, "rl_catch_signals");
    LOAD(break_characters, "rl_completer_word_break_characters");
    LOAD(quotes, "rl_basic_quote_characters");
    LOAD(point, "rl_point");
    LOAD(buffer, "rl_line_buffer");
    LOAD(bind_variable, "rl_variable_bind");
    LOAD(read_key, "rl_getc");
    LOAD(read_key_hook, "rl_getc_function");
    if (lib.install == NULL || lib.remove == NULL || lib.read_char == NULL || lib.add_history == NULL) {
        dlclose(lib.handle);
        lib.handle = NULL;
        return false;
    }
    if (lib.catch_signals != NULL) *lib.catch_signals = 0;
    if (lib.read_key != NULL && lib.read_key_hook != NULL) *lib.read_key_hook = next_key;
    if (lib.break_characters != NULL) *lib.break_characters = break_characters;
    if (lib.bind_variable != NULL)
        lib.bind_variable("show-all-if-ambiguous", "on"); /* ~/.inputrc, which is read later, has the last word */
    const char *(**breaks)(void);
    *(void **)&breaks = symbol("rl_completion_word_break_hook");
    if (breaks != NULL) *breaks = word_breaks;
    char **(**attempted)(const char *, int, int);
    *(void **)&attempted = symbol("rl_attempted_completion_function");
    if (attempted != NULL) *attempted = complete;
    load_extras();
    return true;
}

/* NULL: none is kept. */
static const char *history_path(char *buffer, size_t size) {
    const char *named = getenv("TSR_HISTORY");
    if (tsr_io_in_sandbox()) return NULL;
    if (named != NULL) return named[0] != '\0' ? named : NULL;
    return state_path(buffer, size, "history") ? buffer : NULL;
}

/* The history of before there was a folder for it moves there. */
static void take_over_old_history(const char *path) {
    char old[PATH_MAX];
    const char *home = getenv("HOME");
    if (getenv("TSR_HISTORY") != NULL || home == NULL || access(path, F_OK) == 0) return;
    if ((size_t)snprintf(old, sizeof old, "%s/.tsr_history", home) < sizeof old && access(old, F_OK) == 0)
        rename(old, path);
}

/* Where each entry of the file begins with a time stamp, one of several lines is read back as one. */
static void keep_whole_statements(void) {
    int *stamps = symbol("history_write_timestamps");
    char *mark = symbol("history_comment_char");
    if (stamps == NULL || mark == NULL) return;
    *stamps = 1;
    *mark = '#';
}

void line_start(void) {
    char buffer[PATH_MAX];
    const char *term = getenv("TERM");
    screen_here = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (!screen_here || (term != NULL && strcmp(term, "dumb") == 0) || !load()) return;
    watch_terminal();
    keep_whole_statements();
    if (lib.stifle_history != NULL) lib.stifle_history(HISTORY_LINES);
    const char *path = history_path(buffer, sizeof buffer);
    if (path == NULL || lib.read_history == NULL) return;
    state_make_folder();
    take_over_old_history(path);
    lib.read_history(path);
}

void line_end(void) {
    char buffer[PATH_MAX];
    const char *path = history_path(buffer, sizeof buffer);
    if (lib.handle == NULL) return;
    if (path != NULL && lib.write_history != NULL) {
        mode_t before = umask(077);
        lib.write_history(path);
        umask(before);
    }
    lib.handle = NULL; /* the library stays loaded: its history and keymaps live as long as the process, and only its
                          own data points at them */
}

void line_remember(const char *text) {
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
    if (lib.handle == NULL || length == 0) return;
    char *copy = strndup(text, length);
    if (copy != NULL) lib.add_history(copy);
    free(copy);
}

static bool take_interrupt(void) {
    if (tsr_interrupt_flag != TSR_INTERRUPT_KEYBOARD) return false;
    tsr_interrupt_flag = TSR_INTERRUPT_NONE;
    return true;
}

static void on_line(char *text) {
    received = text;
    have_received = true;
    lib.remove();
}

/* Leaves the line half typed. */
static void leave_line(void) {
    if (lib.free_line_state != NULL) lib.free_line_state();
    if (lib.leave_search != NULL) lib.leave_search(); /* Ctrl-R, and what else waits for a key */
    if (lib.cleanup_after_signal != NULL) lib.cleanup_after_signal();
    lib.remove();
}

static LineEnd read_edited(char **out, const char *prompt) {
    Watch watch;
    bool left = false;
    have_received = false;
    received = NULL;
    watch_begin(&watch);
    continued = 0; /* the library takes the terminal anew */
    lib.install(prompt, on_line);
    while (!have_received && !left) {
        bool came = key_came();
        if (came) lib.read_char();
        left = received == NULL && stopped(); /* the library may also have been told so, as an end of the input */
        if (!came && !left) break;
    }
    if (left) leave_line();
    watch_end(&watch);
    *out = received;
    if (!left) return received != NULL ? LINE_TEXT : LINE_END;
    take_interrupt();
    return LINE_INTERRUPTED;
}

static LineEnd read_plain(char **out, const char *prompt) {
    size_t room = 0;
    fputs(prompt, stdout);
    fflush(stdout);
    ssize_t length = getline(out, &room, stdin);
    if (length < 0) {
        bool interrupted = take_interrupt();
        if (interrupted) clearerr(stdin);
        free(*out);
        *out = NULL;
        return interrupted ? LINE_INTERRUPTED : LINE_END;
    }
    if (length > 0 && (*out)[length - 1] == '\n') (*out)[--length] = '\0';
    if (length > 0 && (*out)[length - 1] == '\r') (*out)[--length] = '\0';
    return LINE_TEXT;
}

LineEnd line_read(char **out, const char *prompt) {
    *out = NULL;
    prompt_now = prompt;
    LineEnd end = lib.handle != NULL ? read_edited(out, prompt) : read_plain(out, prompt);
    line_indent_next(0, 0);
    return end;
}
