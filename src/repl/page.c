/* Steps through a program: before each statement, and at the end, what the one before it printed and did is put into
 * the page. Standard output and error go to a file meanwhile, so that what a line printed is known. */
#include "page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/mem.h"
#include "lang/modules/builtin.h"
#include "lang/vm/vm.h"
#include "repl/prompt/paste.h"
#include "shell.h"
#include "show/watch/events.h"
#include "show/explain/explain.h"
#include "show/page/page.h"

static struct {
    Page page;
    Source *source;
    Story *story;
    int capture; /* descriptor of what is printed */
    int line;    /* the statement that runs; 0: none yet */
} step;

/* ---- what is printed ---- */

static void flush_all(void) {
    fflush(builtin_stdout());
    fflush(stdout);
    fflush(stderr);
}

/* Moves what was printed since the last time. */
static TsrStatus take_printed(TsrText *out) {
    char buffer[4096];
    ssize_t n;
    flush_all();
    if (lseek(step.capture, 0, SEEK_SET) != 0) return tsr_error(TSR_OS_ERROR, "%s", strerror(errno));
    while ((n = read(step.capture, buffer, sizeof buffer)) > 0) TSR_TRY(tsr_text_append(out, buffer, (size_t)n));
    return ftruncate(step.capture, 0) == 0 && lseek(step.capture, 0, SEEK_SET) == 0
               ? TSR_OK
               : tsr_error(TSR_OS_ERROR, "%s", strerror(errno));
}

/* ---- steps ---- */

/* The statement on step.line has run. */
static TsrStatus end_step(void) {
    TsrText printed = {0}, told = {0};
    if (step.line == 0) return TSR_OK;
    TsrStatus status = story_take(step.story, &told);
    if (!page_wants(&step.page, step.line)) page_skip(&step.page, step.line);
    else {
        if (status == TSR_OK) status = take_printed(&printed);
        events_hush();
        if (status == TSR_OK) status = page_step(&step.page, step.source, step.line, &printed, &told);
        events_listen();
    }
    tsr_text_free(&printed);
    tsr_text_free(&told);
    return status;
}

static TsrStatus begin_step(void) {
    TsrStatus status = end_step();
    step.line = vm_current_line();
    return status;
}

/* ---- the program ---- */

static bool is_session(const char *text) {
    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n'), line += line != NULL)
        if (paste_is_prompt(line + strspn(line, " \t"), ">>>")) return true;
    return false;
}

/* Line by line: code without its prompt, other text as a comment, so that every line keeps its number. */
static TsrStatus without_prompts(TsrText *out, const char *text, size_t length) {
    bool code = false;
    for (size_t i = 0; i < length;) {
        const char *line = text + i, *end = memchr(line, '\n', length - i);
        size_t n = end != NULL ? (size_t)(end - line) : length - i, indent = strspn(line, " \t");
        bool first = indent < n && paste_is_prompt(line + indent, ">>>");
        code = first || (code && indent < n && paste_is_prompt(line + indent, "..."));
        size_t skip = code ? TSR_MIN(indent + 4, n) : 0;
        if (!code && n > indent) TSR_TRY(tsr_text_puts(out, "# "));
        TSR_TRY(tsr_text_append(out, line + skip, n - skip));
        TSR_TRY(tsr_text_putc(out, '\n'));
        i += n + 1;
    }
    return TSR_OK;
}

static TsrStatus make_program(Source **out, const char *name, const char *text, size_t length, bool session) {
    int bad_line;
    TsrText code = {0};
    TsrStatus status = session ? without_prompts(&code, text, length) : tsr_text_append(&code, text, length);
    if (status == TSR_OK) status = source_new(out, name, code.data, code.length, 1, &bad_line);
    tsr_text_free(&code);
    return status;
}

/* Runs it with both streams going to the capture file; *status is the program's. */
static TsrStatus run_captured(int *exit_status, bool session) {
    flush_all();
    int old_out = dup(STDOUT_FILENO), old_err = dup(STDERR_FILENO);
    step.capture = memfd_create("printed", MFD_CLOEXEC);
    bool fine = old_out >= 0 && old_err >= 0 && step.capture >= 0 && dup2(step.capture, STDOUT_FILENO) >= 0 &&
                dup2(step.capture, STDERR_FILENO) >= 0;
    TsrStatus status = fine ? story_new(&step.story) : tsr_error(TSR_OS_ERROR, "%s", strerror(errno));
    if (status == TSR_OK) {
        vm_line = begin_step;
        *exit_status = shell_run_stepping(step.source, session);
        vm_line = NULL;
        status = end_step();
        story_free(step.story);
    }
    flush_all();
    if (old_out >= 0) dup2(old_out, STDOUT_FILENO), close(old_out);
    if (old_err >= 0) dup2(old_err, STDERR_FILENO), close(old_err);
    if (step.capture >= 0) close(step.capture);
    return status;
}

TsrStatus page_make(TsrText *out, int *exit_status, const char *name, const char *text, size_t length, bool typed) {
    bool prompts = is_session(text);
    TsrStatus status = make_program(&step.source, name, text, length, prompts);
    if (status == TSR_OK) status = page_begin(&step.page, step.source);
    if (status == TSR_OK) status = run_captured(exit_status, prompts || typed);
    if (status == TSR_OK) status = page_end(out, &step.page, step.source);
    page_free(&step.page);
    source_free(step.source);
    step.source = NULL;
    step.line = 0;
    return status;
}

int page_command(const char *path) {
    char *text;
    size_t length;
    TsrText html = {0};
    int result = EXIT_FINE;
    TsrStatus status = source_read_file(&text, &length, path);
    if (status != TSR_OK) return shell_report(status, NULL);
    status = page_make(&html, &result, strcmp(path, "-") == 0 ? "<stdin>" : path, text, length, false);
    if (status == TSR_OK) fwrite(html.data, 1, html.length, builtin_stdout());
    tsr_text_free(&html);
    tsr_free(text);
    return status == TSR_OK ? result : shell_report(status, NULL);
}
