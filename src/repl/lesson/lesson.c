/* lesson.c: which lesson is meant, and whether there is a learner: at a terminal it is taken, elsewhere printed with
 * its answers.
 *
 * From the prompt or a program a lesson runs in a process of its own, a new one: it has names, ids, handles and
 * settings of its own, and the caller's are untouched. */
#include "lesson.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/io_stream.h"
#include "course.h"
#include "judge.h"
#include "lang/modules/builtin.h"
#include "lang/modules/namespace.h"
#include "lang/types/str.h"
#include "page.h"
#include "progress.h"
#include "repl/prompt/complete.h"
#include "repl/prompt/line.h"
#include "repl/prompt/magic.h"
#include "repl/prompt/typing.h"
#include "repl/shell.h"
#include "show/help/help.h"
#include "take.h"
#include "verify.h"

/* ---- the list ---- */

static void print_entry(FILE *out, const Lesson *lesson, int number) {
    Span title = format_title(lesson->text);
    int steps = format_count_steps(lesson->text), taken = progress_taken(lesson->key, steps), own = 0;
    for (int i = 1; i <= taken; i++) {
        Outcome o = progress_of(lesson->key, i).outcome;
        own += o == OUTCOME_DONE || o == OUTCOME_READ;
    }
    const char *document = course_document(lesson);
    if (document != NULL)
        fprintf(out, "     %-12s  %-*.*s", document, taken > 0 ? 38 : 0, span_length(title), title.begin);
    else fprintf(out, "%3d  %-*.*s", number, taken > 0 ? 52 : 0, span_length(title), title.begin);
    if (taken > 0 && own == steps) fputs("done", out);
    else if (taken == steps) fprintf(out, "done, %d of %d steps by yourself", own, steps);
    else if (taken > 0) fprintf(out, "%d of %d steps", taken, steps);
    fputc('\n', out);
}

static void print_entries(const Course *c) {
    for (int i = 0; i < c->count; i++) print_entry(builtin_stdout(), &c->lessons[i], i + 1);
}

static TsrStatus print_documents(void) {
    Course c;
    TsrStatus status = course_open_document(&c, NULL);
    fputs("\nWalks through the documents that tsr comes from:\n", builtin_stdout());
    if (status == TSR_OK) print_entries(&c);
    course_free(&c);
    return status;
}

static TsrStatus print_list(const Course *c) {
    print_entries(c);
    if (c->path != NULL) {
        fprintf(builtin_stdout(), "\ntsr --lesson %s N takes lesson N.\n", c->path);
        return TSR_OK;
    }
    TSR_TRY(print_documents());
    fputs("\ntsr --lesson N takes lesson N, tsr --lesson --document NAME a walk; at the prompt, %lesson N or NAME.\n",
          builtin_stdout());
    return TSR_OK;
}

/* ---- printing one ---- */

static TsrStatus print_step(const Step *s, int number) {
    Attempt a; /* of one who has done all: its checks are looked at in a copy, so that what they call changes nothing */
    fprintf(builtin_stdout(), "\n%.*s\n", span_length(s->heading), s->heading.begin);
    TSR_TRY(page_show(s->body, true));
    if (span_is_empty(s->task)) return TSR_OK;
    fputc('\n', builtin_stdout());
    page_prose("", s->task);
    TSR_TRY(page_show(s->answer, true));
    if (!judge_begin(&a, s) || a.fulfilled) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "the answer to step %d does not fulfil its check: %s", number, a.reason);
}

static TsrStatus print_lesson(const Lesson *lesson, int n) {
    Span rest, intro = format_introduction(lesson->text, &rest);
    Step step;
    char heading[400];
    course_heading(heading, sizeof heading, lesson, n);
    fprintf(builtin_stdout(), "%s\n\n", heading);
    TSR_TRY(page_show(intro, true));
    for (int i = 1; format_next_step(&rest, &step); i++) TSR_TRY(print_step(&step, i));
    return TSR_OK;
}

/* ---- taking one ---- */

static void say_end(const Course *c, int n, bool finished) {
    FILE *out = builtin_stdout();
    const Lesson *lesson = &c->lessons[n - 1];
    int steps = format_count_steps(lesson->text);
    char again[PATH_MAX];
    const char *document = course_document(lesson);
    if (document != NULL) snprintf(again, sizeof again, "%%lesson %s", document);
    else if (c->path == NULL) snprintf(again, sizeof again, "%%lesson %d", finished ? n + 1 : n);
    else
        snprintf(again, sizeof again, c->count > 1 ? "tsr --lesson %s %d" : "tsr --lesson %s", c->path,
                 finished ? n + 1 : n);
    if (!finished)
        fprintf(out, "%d of %d steps are taken; %s goes on from there.\n", progress_taken(lesson->key, steps), steps,
                again);
    else if (document != NULL) fprintf(out, "\nThat was the document %s.\n", document);
    else if (n == c->count) fprintf(out, "\nThat was lesson %d.\n", n);
    else fprintf(out, "\nThat was lesson %d. The next: %s\n", n, again);
}

static int take_or_print(const Course *c, int n, bool *finished) {
    *finished = false;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return shell_report(print_lesson(&c->lessons[n - 1], n), NULL);
    line_completer = complete_word;
    line_painter = shell_options->colour ? typing_paint_line : NULL;
    line_start();
    TsrStatus status = take_lesson(c, n, finished);
    if (status == TSR_OK) say_end(c, n, *finished);
    line_end();
    if (status == TSR_OK && tsr_interrupt_flag == TSR_INTERRUPT_TIMEOUT) return EXIT_FAILED; /* the copy has said so */
    return shell_report(status, NULL);
}

/* ---- the command line ---- */

static bool to_number(const char *text, int *n) {
    char *end;
    long value = strtol(text, &end, 10);
    *n = value < 0 || value > INT_MAX ? 0 : (int)value;
    return end != text && *end == '\0';
}

static int cannot_open(TsrStatus status) {
    if (status == TSR_MEMORY_ERROR || status == TSR_RAISED) return shell_report(status, NULL);
    fprintf(stderr, "tsr: %s\n", tsr_error_message());
    tsr_error_clear();
    return EXIT_USAGE;
}

static int run_course(const Course *c, const char *number, const LessonOptions *o, bool *prompt) {
    int n = c->is_file ? 1 : 0, status = EXIT_FINE;
    bool finished = false;
    if (number != NULL && (!to_number(number, &n) || n < 1 || n > c->count)) {
        fprintf(stderr, "tsr: there is no lesson '%s' (they are 1 to %d)\n", number, c->count);
        return EXIT_USAGE;
    }
    if (o->check) return verify_course(c) > 0 ? EXIT_FAILED : EXIT_FINE;
    if (n > 0) status = take_or_print(c, n, &finished);
    else if (o->report == NULL) status = shell_report(print_list(c), NULL);
    *prompt = finished && o->stay;
    if (o->report == NULL) return status;
    Course one = {c->path, c->is_file, n > 0 ? 1 : c->count, c->lessons + (n > 0 ? n - 1 : 0)};
    int reported = shell_report(progress_report(o->report, &one), NULL);
    return status != EXIT_FINE ? status : reported;
}

int lesson_command(const LessonOptions *o, bool *prompt) {
    Course course;
    const char *path = o->argument_count > 0 ? o->arguments[0] : NULL,
               *number = o->argument_count > 1 ? o->arguments[1] : NULL;
    int unused;
    *prompt = false;
    if (path != NULL && number == NULL && to_number(path, &unused)) number = path, path = NULL;
    progress_load();
    TsrStatus status = o->document != NULL                  ? course_open_document(&course, o->document)
                       : o->check && o->argument_count == 0 ? course_open_all(&course)
                                                            : course_open(&course, path);
    int result = status == TSR_OK ? run_course(&course, number, o, prompt) : cannot_open(status);
    course_free(&course);
    return result;
}

/* ---- from the prompt and from programs ---- */

static _Noreturn void become_lesson(const char *const *arguments, int count) {
    const char *line[16] = {"tsr", "--lesson", "--no-prompt"};
    char memory[48], time[48];
    int n = 3;
    if (!shell_options->colour) line[n++] = "--no-color";
    if (shell_options->sandbox) line[n++] = "--sandbox";
    if (shell_options->max_memory > 0)
        snprintf(memory, sizeof memory, "--max-memory=%zu", shell_options->max_memory), line[n++] = memory;
    if (shell_options->max_time > 0)
        snprintf(time, sizeof time, "--max-time=%g", shell_options->max_time), line[n++] = time;
    if (strcmp(arguments[0], "--document") != 0) line[n++] = "--";
    for (int i = 0; i < count; i++) line[n++] = arguments[i];
    execv("/proc/self/exe", (char *const *)line);
    fprintf(stderr, "tsr: the lesson can't begin: %s\n", strerror(errno));
    _exit(EXIT_FAILED);
}

/* The lesson as a process of its own, in the foreground. */
static TsrStatus run_apart(const char *const *arguments, int count) {
    int status = 0;
    fflush(builtin_stdout());
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return tsr_error_errno(errno, NULL);
    if (child == 0) become_lesson(arguments, count);
    void (*old)(int) = signal(SIGINT, SIG_IGN);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        if (tsr_interrupt_flag != TSR_INTERRUPT_NONE) kill(child, SIGTERM);
    struct sigaction action = {0};
    action.sa_handler = old;
    sigaction(SIGINT, &action, NULL);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "the lesson ended with an error");
}

static bool is_document(const char *name) {
    Course course;
    bool found = course_open_document(&course, name) == TSR_OK;
    course_free(&course);
    if (!found) tsr_error_clear();
    return found;
}

/* One of the program's own, or a file or folder. */
static TsrStatus run_named(const char *name) {
    Course course;
    char *number = strchr(name, ' ') != NULL ? strrchr(name, ' ') : NULL, path[PATH_MAX];
    int n;
    const char *arguments[2] = {name, NULL};
    if (to_number(name, &n)) {
        TSR_TRY(course_open(&course, NULL));
        int count = course.count;
        course_free(&course);
        if (n < 1 || n > count)
            return tsr_error(TSR_VALUE_ERROR, "there is no lesson %s (they are 1 to %d)", name, count);
        return run_apart(arguments, 1);
    }
    if (number != NULL && to_number(number + 1, &n) && strlen(name) < sizeof path) { /* FOLDER N */
        snprintf(path, sizeof path, "%.*s", (int)(number - name), name);
        arguments[0] = path;
        arguments[1] = number + 1;
    }
    if (is_document(name)) {
        const char *walk[2] = {"--document", name};
        return run_apart(walk, 2);
    }
    TSR_TRY(tsr_io_check_readable(arguments[0]));
    if (access(arguments[0], R_OK) != 0) return tsr_error_errno(errno, arguments[0]);
    return run_apart(arguments, arguments[1] != NULL ? 2 : 1);
}

static TsrStatus list_own(void) {
    Course course;
    TSR_TRY(course_open(&course, NULL));
    progress_load();
    TsrStatus status = print_list(&course);
    course_free(&course);
    return status;
}

static TsrStatus run_magic(const char *rest) { return rest[0] == '\0' ? list_own() : run_named(rest); }

static TsrStatus call_lesson(Value *out, const CallArgs *args) {
    int64_t n;
    char number[32];
    *out = VALUE_NONE;
    if (args->count == 0) return list_own();
    if (value_is_str(args->values[0])) return run_named(value_as_str(args->values[0])->data);
    TSR_TRY(value_to_index(&n, args->values[0]));
    snprintf(number, sizeof number, "%lld", (long long)n);
    return run_named(number);
}

static const Method functions[] = {
    {"lesson", call_lesson, ARGS_RANGE, 0, 1, "(n=None)",
     "A lesson by its number, a walk through a document by its name, one in a file or a folder, or the list of them."},
    {0},
};

/* ---- help about a word ---- */

enum { LONG_WORD = 4 }; /* may go on, "stride" in "strides" */

static bool mentions(Span text, const char *word) {
    size_t n = strlen(word);
    for (const char *at = text.begin; (size_t)(text.end - at) >= n; at++) {
        bool whole = at + n == text.end || !isalpha((unsigned char)at[n]);
        if ((at == text.begin || !isalpha((unsigned char)at[-1])) && strncasecmp(at, word, n) == 0 &&
            (whole || n >= LONG_WORD))
            return true;
    }
    return false;
}

/* By their titles and, where the word is no short one, by what they begin with. */
static TsrStatus append_lessons(TsrText *out, const char *word) {
    Course c;
    TsrStatus status = course_open_all(&c);
    for (int i = 0; i < c.count && status == TSR_OK; i++) {
        Span rest, title = format_title(c.lessons[i].text);
        if (!mentions(title, word) &&
            (strlen(word) < LONG_WORD || !mentions(format_introduction(c.lessons[i].text, &rest), word)))
            continue;
        const char *document = course_document(&c.lessons[i]);
        if (document != NULL)
            status = tsr_text_printf(out, "    %%lesson %s  %.*s\n", document, span_length(title), title.begin);
        else status = tsr_text_printf(out, "    %%lesson %-3d %.*s\n", i + 1, span_length(title), title.begin);
    }
    course_free(&c);
    return status;
}

TsrStatus lesson_startup(void) {
    magic_set_show("lesson", run_magic);
    help_lessons = append_lessons;
    return namespace_add_functions("tsr", functions, true);
}
