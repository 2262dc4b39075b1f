/* page.c: line by line, as the file stands. */
#include "page.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lang/modules/builtin.h"
#include "repl/shell.h"
#include "show/help/screen.h"

static void say(const char *style, Span text) {
    bool coloured = screen_colours() && style[0] != '\0';
    fprintf(builtin_stdout(), "%s%.*s%s\n", coloured ? style : "", span_length(text), text.begin,
            coloured ? "\033[0m" : "");
}

void page_say(const char *style, const char *text) { say(style, (Span){text, text + strlen(text)}); }

/* Without a window, lines are as long as they are. */
static void say_wrapped(const char *style, Span line) {
    int width = screen_line(INT_MAX);
    do {
        const char *end = line.begin + screen_fitting(line.begin, (size_t)(line.end - line.begin), width);
        say(style, (Span){line.begin, end});
        line.begin = end < line.end ? end + 1 : end;
    } while (line.begin < line.end);
}

void page_prose(const char *style, Span text) {
    Span line;
    while (span_next_line(&text, &line)) say_wrapped(style, line);
}

/* Shows the statement that begins with `line`, and adds its code, with its continuation lines taken off *rest. */
static TsrStatus take_statement(TsrText *code, Span line, Span *rest) {
    for (;;) {
        TSR_TRY(format_code(code, line));
        say("", line);
        if (!span_starts(*rest, "...")) return TSR_OK;
        span_next_line(rest, &line);
    }
}

static TsrStatus show_statement(Span line, Span *rest) {
    TsrText code = {0};
    TsrStatus status = take_statement(&code, line, rest);
    if (status == TSR_OK) {
        fflush(builtin_stdout());
        shell_run_typed("<lesson>", code.data, code.length, 1);
        status = tsr_interrupt_check();
    }
    tsr_text_free(&code);
    return status;
}

TsrStatus page_show(Span text, bool run) {
    Span line;
    bool fenced = false;
    int unused;
    while (span_next_line(&text, &line)) {
        if (span_starts(line, "```")) fenced = !fenced;
        else if (run && fenced && span_starts(line, ">>>")) TSR_TRY(show_statement(line, &text));
        else if (fenced && !run) say("", line);
        else if (!fenced) say_wrapped("", line);
        if (shell_wants_exit(&unused)) return TSR_OK;
    }
    return TSR_OK;
}
