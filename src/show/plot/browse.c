/* browse.c: the terminal for browse.tsr: one key at a time without echo, and a screen of its own, which is given back
 * at the end and when the process is ended by a signal that it handles. */
#include "browse.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "lang/modules/builtin.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "show/help/screen.h"

PRELUDE_EMBED(prelude_browse, "src/show/plot/browse.tsr");

static struct termios before;
static bool entered;

static TsrStatus enter(Value *out, const CallArgs *args) {
    struct termios raw;
    (void)args;
    *out = VALUE_NONE;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before) != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "browse() needs a terminal for input and output");
    raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) return tsr_error_errno(errno, "<stdin>");
    entered = true;
    fputs("\033[?1049h\033[?25l", builtin_stdout());
    fflush(builtin_stdout());
    return TSR_OK;
}

static TsrStatus leave(Value *out, const CallArgs *args) {
    (void)args;
    *out = VALUE_NONE;
    if (!entered) return TSR_OK;
    entered = false;
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
    fputs("\033[?25h\033[?1049l", builtin_stdout());
    fflush(builtin_stdout());
    return TSR_OK;
}

/* A byte, waiting so many milliseconds (-1: as long as it takes); -1: none came. */
static TsrStatus next_byte(int *byte, int wait) {
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    unsigned char c;
    *byte = -1;
    for (;;) {
        TSR_TRY(tsr_interrupt_check());
        int ready = poll(&fd, 1, wait < 0 ? 200 : wait);
        if (ready < 0 && errno != EINTR) return tsr_error_errno(errno, "<stdin>");
        if (ready <= 0 && wait >= 0) return TSR_OK;
        if (ready <= 0) continue;
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR) continue;
        if (n > 0) *byte = c;
        return TSR_OK;
    }
}

/* What an escape sequence means; "" of another. */
static const char *sequence_name(const char *s) {
    static const struct {
        const char *sequence, *name;
    } keys[] = {{"[A", "up"},   {"[B", "down"},    {"[C", "right"}, {"[D", "left"},     {"OA", "up"},
                {"OB", "down"}, {"OC", "right"},   {"OD", "left"},  {"[5~", "page up"}, {"[6~", "page down"},
                {"[H", "home"}, {"[F", "end"},     {"[1~", "home"}, {"[4~", "end"},     {"OH", "home"},
                {"OF", "end"},  {"[Z", "back tab"}};
    for (size_t i = 0; i < TSR_COUNTOF(keys); i++)
        if (strcmp(keys[i].sequence, s) == 0) return keys[i].name;
    return "";
}

/* The next key: a character, or the name of a key that has none; "q" at the end of the input. */
static TsrStatus key(Value *out, const CallArgs *args) {
    char text[16] = {0};
    int byte, n = 0;
    (void)args;
    TSR_TRY(next_byte(&byte, -1));
    if (byte < 0 || byte == 4) return str_new_c(out, "q");
    if (byte != 27) {
        text[0] = byte >= 32 && byte < 127 ? (char)byte : '\0';
        return str_new_c(out, byte == '\t'                   ? "tab"
                              : byte == '\r' || byte == '\n' ? "enter"
                              : byte == 127 || byte == 8     ? "back"
                                                             : text);
    }
    for (bool more = true; more && n + 1 < (int)sizeof text;) {
        TSR_TRY(next_byte(&byte, 50));
        more = byte >= 0;
        if (more) text[n++] = (char)byte;
        if (n > 1 && more) more = !(byte == '~' || (byte >= 'A' && byte <= 'Z'));
    }
    return str_new_c(out, n == 0 ? "escape" : sequence_name(text));
}

static TsrStatus size(Value *out, const CallArgs *args) {
    struct winsize w;
    (void)args;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row > 0 && w.ws_col > 0;
    Value parts[3] = {value_int(known ? w.ws_row : 24), value_int(known ? w.ws_col : 80), value_bool(screen_colours())};
    return tuple_new(out, parts, 3);
}

/* The whole screen, in one piece. */
static TsrStatus put(Value *out, const CallArgs *args) {
    if (!value_is_str(args->values[0])) return tsr_error(TSR_TYPE_ERROR, "a screen is a str");
    const Str *s = value_as_str(args->values[0]);
    fputs("\033[H", builtin_stdout());
    fwrite(s->data, 1, (size_t)s->size, builtin_stdout());
    fputs("\033[J", builtin_stdout());
    fflush(builtin_stdout());
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method helpers[] = {
    {"enter", enter, ARGS_NONE, 0, 0, NULL, NULL}, {"leave", leave, ARGS_NONE, 0, 0, NULL, NULL},
    {"key", key, ARGS_NONE, 0, 0, NULL, NULL},     {"size", size, ARGS_NONE, 0, 0, NULL, NULL},
    {"put", put, ARGS_ONE, 1, 1, NULL, NULL},      {0},
};
static TsrStatus fill_helpers(Module *m) { return module_add_functions(m, helpers); }

static TsrStatus browse(Value *out, const CallArgs *args) {
    Value callee;
    TSR_TRY(prelude_get(&callee, "browse", "browse"));
    TsrStatus status = value_call(out, callee, args);
    value_release(callee);
    return status;
}

TsrStatus browse_startup(void) {
    static const PreludeSource source = {"browse", "<prelude browse>", prelude_browse, prelude_browse_end,
                                         "torch math tsr S=tsr._screen"};
    static const Namespace space = {.name = "tsr._screen", .fill = fill_helpers};
    static const Method functions[] = {
        {"browse", browse, ARGS_ONE, 1, 1, "(x)",
         "A tensor or a table in the window. Arrows, Page Up and Down, Home and End\n"
         "move; Tab chooses one of the dimensions before the last two, < and > go\n"
         "along it; m and n go to the greatest and the least; / searches a value,\n"
         "and again with Enter alone; q leaves."},
        {0},
    };
    prelude_add(&source, 1);
    TSR_TRY(namespace_add(&space));
    return namespace_add_functions("tsr", functions, true);
}
