/* Steps through a program: before each statement, and at the end, what the one before it printed and did is put into
 * the page. Standard output and error go to a file meanwhile, so that what a line printed is known. */
#include "page.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/mem.h"
#include "lang/modules/builtin.h"
#include "lang/vm/vm.h"
#include "repl/lesson/course.h"
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

/* What a line of a transcript or of a lesson is. */
typedef enum LineKind { LINE_PROSE, LINE_CODE, LINE_ANSWER, LINE_HIDDEN } LineKind;

/* Where one is in the text. */
typedef struct Reader {
    LineKind before;
    bool comment; /* in one of Markdown that goes on */
} Reader;

/* Answers end at an empty line or a fence; comments of lessons (checks, hints, answers that are wrong) and fences are
 * not for who reads the page. */
static LineKind kind_of(Reader *r, const char *line, size_t n) {
    bool opens = n >= 4 && memcmp(line, "<!--", 4) == 0, closes = memmem(line, n, "-->", 3) != NULL;
    if (r->comment || opens) {
        r->comment = !closes;
        return r->before = LINE_HIDDEN;
    }
    if (paste_is_prompt(line, ">>>")) return r->before = LINE_CODE;
    if (r->before == LINE_CODE && paste_is_prompt(line, "...")) return LINE_CODE;
    if (n == 0 || (n >= 3 && memcmp(line, "```", 3) == 0)) return r->before = LINE_HIDDEN;
    return r->before = r->before == LINE_CODE || r->before == LINE_ANSWER ? LINE_ANSWER : LINE_PROSE;
}

/* "<!-- try: Make x. -->" is the prose "Task: Make x." */
static TsrStatus put_task(TsrText *out, const char *line, size_t n) {
    static const char key[] = "<!-- try: ";
    size_t skip = sizeof key - 1, end = n;
    if (n < skip || memcmp(line, key, skip) != 0) return TSR_OK;
    if (end - skip >= 3 && memcmp(line + end - 3, "-->", 3) == 0) end -= 3;
    TSR_TRY(tsr_text_puts(out, "# Task: "));
    return tsr_text_append(out, line + skip, end - skip);
}

/* Line by line, so that every line keeps its number: code without its prompt, prose as a comment, the rest empty. */
static TsrStatus without_prompts(TsrText *out, const char *text, size_t length) {
    Reader reader = {.before = LINE_PROSE};
    for (size_t i = 0; i < length;) {
        const char *line = text + i, *end = memchr(line, '\n', length - i);
        size_t n = end != NULL ? (size_t)(end - line) : length - i;
        i += n + 1;
        while (n > 0 && (*line == ' ' || *line == '\t')) line++, n--;
        LineKind kind = kind_of(&reader, line, n);
        if (kind == LINE_HIDDEN) TSR_TRY(put_task(out, line, n));
        if (kind == LINE_PROSE) TSR_TRY(tsr_text_puts(out, "# "));
        if (kind == LINE_PROSE) TSR_TRY(tsr_text_append(out, line, n));
        if (kind == LINE_CODE && n > 4) TSR_TRY(tsr_text_append(out, line + 4, n - 4));
        TSR_TRY(tsr_text_putc(out, '\n'));
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
    if (status == TSR_OK) status = page_begin(&step.page, step.source, prompts);
    if (status == TSR_OK) status = run_captured(exit_status, prompts || typed);
    if (status == TSR_OK) status = page_end(out, &step.page, step.source);
    page_free(&step.page);
    source_free(step.source);
    step.source = NULL;
    step.line = 0;
    return status;
}

/* A file is read; what is none may be the number of a lesson or the name of a document: *course is the caller's. */
static TsrStatus open_page(char **text, size_t *length, Course *course, const char *path) {
    char *end;
    unsigned long number = strtoul(path, &end, 10);
    *text = NULL;
    if (strcmp(path, "-") == 0 || access(path, F_OK) == 0) return source_read_file(text, length, path);
    bool numbered = *end == '\0' && end != path;
    if (!numbered && course_open_document(course, path) != TSR_OK) return source_read_file(text, length, path);
    if (numbered) TSR_TRY(course_open(course, NULL));
    if (numbered && (number < 1 || number > (unsigned long)course->count))
        return tsr_error(TSR_VALUE_ERROR, "there is no file and no lesson %s (they are 1 to %d)", path, course->count);
    *length = (size_t)span_length(course->lessons[numbered ? number - 1 : 0].text);
    *text = tsr_malloc(*length + 1);
    if (*text == NULL) return mem_error();
    memcpy(*text, course->lessons[numbered ? number - 1 : 0].text.begin, *length);
    (*text)[*length] = '\0';
    return TSR_OK;
}

/* "Lesson 3: Views", the file's title, or its name. */
static void name_page(char *name, size_t room, const Course *course, const char *path, const char *text,
                      size_t length) {
    size_t n = strlen(path);
    Span title = {NULL, NULL};
    if (course->count > 1) course_heading(name, room, &course->lessons[atoi(path) - 1], atoi(path));
    else if (course->count == 1) course_heading(name, room, &course->lessons[0], 0);
    else {
        if (n > 3 && strcmp(path + n - 3, ".md") == 0 && length > 2 && memcmp(text, "# ", 2) == 0)
            title = format_title((Span){text, text + length});
        if (title.begin != NULL && !span_is_empty(title))
            snprintf(name, room, "%.*s", TSR_MIN(span_length(title), 300), title.begin);
        else snprintf(name, room, "%s", strcmp(path, "-") == 0 ? "<stdin>" : path);
    }
}

int page_command(const char *path) {
    char *text = NULL, name[PATH_MAX];
    size_t length = 0;
    Course course = {0};
    TsrText html = {0};
    int result = EXIT_FINE;
    TsrStatus status = open_page(&text, &length, &course, path);
    if (status == TSR_OK) {
        name_page(name, sizeof name, &course, path, text, length);
        status = page_make(&html, &result, name, text, length, false);
    }
    if (status == TSR_OK) fwrite(html.data, 1, html.length, builtin_stdout());
    tsr_text_free(&html);
    tsr_free(text);
    course_free(&course);
    return status == TSR_OK ? result : shell_report(status, NULL);
}
