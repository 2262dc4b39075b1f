#include "lesson.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lang/modules/builtin.h"
#include "show/help.h"
#include "core/io_stream.h"
#include "repl/prompt/line.h"
#include "repl/prompt/magic.h"
#include "lang/modules/namespace.h"
#include "lang/syntax/parser.h"
#include "repl/prompt/paste.h"
#include "shell.h"
#include "lang/vm/vm.h"
#include "show/screen.h"

/* One row a file, put into the program by the assembler. */
#define EMBED(symbol, file) \
    __asm__(".section .rodata\n" #symbol ":\n.incbin \"lessons/" file ".md\"\n" #symbol "_end:\n.previous\n"); \
    extern const char symbol[] __attribute__((visibility("hidden"))), symbol##_end[] __attribute__((visibility("hidden")));
#define LESSONS(X) \
    X(lesson_01, "01-tensors") \
    X(lesson_02, "02-strides") \
    X(lesson_03, "03-views") \
    X(lesson_04, "04-reshape") \
    X(lesson_05, "05-contiguous") \
    X(lesson_06, "06-broadcasting") \
    X(lesson_07, "07-indexing") \
    X(lesson_08, "08-versions") \
    X(lesson_09, "09-overlap") \
    X(lesson_10, "10-references") \
    X(lesson_11, "11-borrowing") \
    X(lesson_12, "12-golden-rule") \
    X(lesson_13, "13-storages") \
    X(lesson_14, "14-caffe2") \
    X(lesson_15, "15-tensorflow") \
    X(lesson_16, "16-sparse") \
    X(lesson_17, "17-meta") \
    X(lesson_18, "18-elements") \
    X(lesson_19, "19-moving") \
    X(lesson_20, "20-two-threads")

LESSONS(EMBED)

typedef struct Span { /* text lent from a file */
    const char *begin, *end;
} Span;

#define ROW(symbol, file) {symbol, symbol##_end},
static const Span lessons[] = {LESSONS(ROW)};
enum { LESSON_COUNT = sizeof lessons / sizeof lessons[0] };

typedef struct Step {
    Span body;             /* from its heading to the first comment */
    Span task, check, hint; /* of the comments; empty: none */
    Span answer;           /* what follows the comments */
} Step;

static bool is_empty(Span s) { return s.begin == s.end; }
static int length_of(Span s) { return (int)(s.end - s.begin); }

/* ---- reading a file ---- */

static Span trim(Span s) {
    while (s.begin < s.end && (*s.begin == ' ' || *s.begin == '\n')) s.begin++;
    while (s.begin < s.end && (s.end[-1] == ' ' || s.end[-1] == '\n')) s.end--;
    return s;
}

static const char *find(Span s, const char *what) {
    const char *at = memmem(s.begin, (size_t)(s.end - s.begin), what, strlen(what));
    return at != NULL ? at : s.end;
}

/* Takes the next line off *rest, without its end. */
static bool next_line(Span *rest, Span *line) {
    if (is_empty(*rest)) return false;
    const char *end = find(*rest, "\n");
    *line = (Span){rest->begin, end};
    rest->begin = end < rest->end ? end + 1 : end;
    return true;
}

static bool starts(Span line, const char *what) {
    size_t n = strlen(what);
    return (size_t)(line.end - line.begin) >= n && memcmp(line.begin, what, n) == 0;
}

/* The text of `<!-- key: text -->`; *end moves past it. */
static Span comment(Span step, const char *key, const char **end) {
    char opening[32];
    snprintf(opening, sizeof opening, "<!-- %s:", key);
    const char *begin = find(step, opening);
    if (begin == step.end) return (Span){begin, begin};
    Span text = {begin + strlen(opening), step.end};
    text.end = find(text, "-->");
    if (text.end + 3 > *end) *end = text.end + 3 < step.end ? text.end + 3 : step.end;
    return trim(text);
}

static Step read_step(Span text) {
    Step s;
    const char *end = text.begin;
    s.task = comment(text, "try", &end);
    s.check = comment(text, "check", &end);
    s.hint = comment(text, "hint", &end);
    s.body = trim((Span){text.begin, find(text, "<!-- ")});
    s.answer = trim((Span){end > text.begin ? end : text.end, text.end});
    return s;
}

static Span title_of(Span lesson) {
    Span rest = lesson, line = {0};
    next_line(&rest, &line);
    if (starts(line, "# ")) line.begin += 2;
    return line;
}

/* The text before the first step; *rest are the steps. */
static Span introduction(Span lesson, Span *rest) {
    Span line, text = lesson;
    next_line(&text, &line);
    const char *first = find(text, "\n## ");
    *rest = (Span){first < text.end ? first + 1 : first, text.end};
    return trim((Span){text.begin, first});
}

static bool next_step(Span *rest, Step *step) {
    if (is_empty(*rest)) return false;
    const char *end = find(*rest, "\n## ");
    *step = read_step((Span){rest->begin, end});
    rest->begin = end < rest->end ? end + 1 : end;
    return true;
}

static int count_steps(Span lesson) {
    Span rest;
    Step step;
    int n = 0;
    introduction(lesson, &rest);
    while (next_step(&rest, &step)) n++;
    return n;
}

/* ---- showing ---- */

typedef enum How { SHOW, SHOW_ONLY, RUN_SILENT } How; /* transcripts: shown and run, shown, run */

static void say(const char *style, Span text) {
    FILE *out = builtin_stdout();
    bool coloured = screen_colours() && style[0] != '\0';
    fprintf(out, "%s%.*s%s\n", coloured ? style : "", length_of(text), text.begin, coloured ? "\033[0m" : "");
}

/* How much of the text fits into a line, cut between words; the blank that is cut at belongs to no line. */
static const char *fitting_end(Span text, int width) {
    const char *best = NULL;
    int used = 0;
    for (const char *p = text.begin; p < text.end; p++) {
        used += ((unsigned char)*p & 0xc0) != 0x80;
        if (used > width && best != NULL) return best;
        if (*p == ' ') best = p;
    }
    return text.end;
}

/* Prose, wrapped; without a window, lines are as long as they are. */
static void say_prose(const char *style, Span text) {
    int width = window_line(INT_MAX);
    do {
        const char *end = fitting_end(text, width);
        say(style, (Span){text.begin, end});
        text.begin = end < text.end ? end + 1 : end;
    } while (text.begin < text.end);
}

static void forget_error(TsrStatus status) {
    Value exception;
    if (vm_take_error(&exception, status)) value_release(exception);
    tsr_error_clear();
}

static void run_statement(const TsrText *code, How how) {
    if (how == SHOW) {
        fflush(builtin_stdout());
        shell_run_typed("<lesson>", code->data, code->length, 1);
        fflush(stderr);
    } else if (how == RUN_SILENT && !magic_is(code->data, code->length)) {
        forget_error(vm_run_text_here(NULL, code->data, code->length, "<lesson>"));
    }
}

/* The statement that begins with `line`, its continuation lines taken off *rest. */
static TsrStatus take_statement(TsrText *code, Span line, Span *rest, How how) {
    for (;;) {
        Span plain = {line.begin + (length_of(line) > 3 ? 4 : 3), line.end};
        TSR_TRY(tsr_text_append(code, plain.begin, (size_t)length_of(plain)));
        TSR_TRY(tsr_text_putc(code, '\n'));
        if (how != RUN_SILENT) say("", line);
        if (!starts(*rest, "...")) return TSR_OK;
        next_line(rest, &line);
    }
}

/* Prose and transcripts; what the file says that a statement prints is left out for what it prints now. */
static TsrStatus show(Span text, How how) {
    Span rest = text, line;
    bool fenced = false;
    while (next_line(&rest, &line)) {
        int unused;
        if (starts(line, "```")) {
            fenced = !fenced;
        } else if (fenced && starts(line, ">>>")) {
            TsrText code = {0};
            TsrStatus status = take_statement(&code, line, &rest, how);
            if (status == TSR_OK) run_statement(&code, how);
            tsr_text_free(&code);
            TSR_TRY(status);
            TSR_TRY(tsr_interrupt_check());
            if (shell_wants_exit(&unused)) return TSR_OK;
        } else if (!fenced && how != RUN_SILENT) {
            bool heading = line.begin == text.begin && starts(line, "## ");
            say_prose(heading ? "\033[1m" : "", heading ? (Span){line.begin + 3, line.end} : line);
        }
    }
    return TSR_OK;
}

static TsrStatus holds(Span check, bool *result) {
    Value v = VALUE_UNBOUND;
    *result = false;
    TsrStatus status = vm_run_text_here(&v, check.begin, (size_t)length_of(check), "<check>");
    if (status == TSR_OK) status = value_truth(result, v);
    value_release(v);
    return status;
}

static void say_text(const char *style, const char *text) { say(style, (Span){text, text + strlen(text)}); }

static void say_title(long n) {
    char text[200];
    Span title = title_of(lessons[n - 1]);
    snprintf(text, sizeof text, "Lesson %ld: %.*s", n, length_of(title), title.begin);
    say_text("\033[1m", text);
}

/* ---- the progress: "lesson steps-done" a line, in the user's state folder; without one, none is kept ---- */

static int progress[LESSON_COUNT];

static bool state_path(char *path, size_t size, const char *file) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (tsr_io_in_sandbox()) return false;
    if (state != NULL && state[0] == '/') return (size_t)snprintf(path, size, "%s/tsr%s", state, file) < size;
    return home != NULL && home[0] == '/' && (size_t)snprintf(path, size, "%s/.local/state/tsr%s", home, file) < size;
}

static void load_progress(void) {
    char path[PATH_MAX];
    int lesson, steps;
    memset(progress, 0, sizeof progress);
    FILE *f = state_path(path, sizeof path, "/lessons") ? fopen(path, "re") : NULL;
    if (f == NULL) return;
    while (fscanf(f, "%d %d", &lesson, &steps) == 2)
        if (lesson >= 1 && lesson <= LESSON_COUNT && steps >= 0) progress[lesson - 1] = steps;
    fclose(f);
}

static void make_folders(char *path) {
    for (char *s = path + 1;; s++) {
        if (*s != '/' && *s != '\0') continue;
        char c = *s;
        *s = '\0';
        mkdir(path, 0700); /* fails where it exists; a folder that can't be made shows at the fopen */
        *s = c;
        if (c == '\0') return;
    }
}

static void save_progress(long n, int steps) {
    char path[PATH_MAX];
    progress[n - 1] = TSR_MAX(progress[n - 1], steps);
    if (!state_path(path, sizeof path, "")) return;
    make_folders(path);
    FILE *f = state_path(path, sizeof path, "/lessons") ? fopen(path, "we") : NULL;
    if (f == NULL) return;
    for (int i = 0; i < LESSON_COUNT; i++)
        if (progress[i] > 0) fprintf(f, "%d %d\n", i + 1, progress[i]);
    fclose(f);
}

/* ---- with a learner ---- */

typedef enum Turn { TURN_DONE, TURN_QUIT } Turn;

/* A word of the lesson's own, unless the learner has given the name a meaning. */
static bool is_word(const char *text, const char *word, const char *letter) {
    char typed[8];
    if (sscanf(text, " %7s", typed) != 1 || strlen(text) > strlen(typed) + 4) return false;
    bool same = strcmp(typed, word) == 0 || strcmp(typed, letter) == 0;
    return same && globals_get(typed).tag == V_UNBOUND;
}

/* What is copied from a lesson has its prompts. */
static void drop_prompts(TsrText *statement) {
    TsrText piece = {0}, all = {0};
    Paste paste = paste_begin(statement->data != NULL ? statement->data : "");
    int line;
    bool fine = paste.session;
    while (fine && paste_next(&paste, &piece, &line)) fine = tsr_text_append(&all, piece.data, piece.length) == TSR_OK;
    tsr_text_free(&piece);
    if (fine && all.length > 0) {
        tsr_text_free(statement);
        *statement = all;
    } else {
        tsr_text_free(&all);
    }
}

/* One statement typed; false at the end of the input. Empty after an interrupt. */
static bool read_typed(TsrText *statement) {
    LineEnd end;
    do {
        char *line = NULL;
        end = line_read(&line, statement->length == 0 ? ">>> " : "... ");
        if (end == LINE_TEXT && (tsr_text_puts(statement, line) != TSR_OK || tsr_text_putc(statement, '\n') != TSR_OK)) end = LINE_END;
        free(line);
    } while (end == LINE_TEXT && statement->data[0] != '?' && !magic_is(statement->data, statement->length) &&
             parser_need(statement->data, statement->length) == PARSER_MORE);
    drop_prompts(statement);
    if (end == LINE_INTERRUPTED) {
        tsr_text_free(statement);
        fputc('\n', builtin_stdout());
    }
    return end != LINE_END && tsr_interrupt_flag == TSR_INTERRUPT_NONE; /* the time limit ends it too */
}

static TsrStatus give_answer(const Step *s, How how) {
    if (how == SHOW_ONLY) say_text("\033[2m", "An answer:");
    return show(s->answer, how);
}

/* What was typed, when it is a word to the lesson. */
static bool is_for_lesson(const Step *s, const char *text, bool *over, Turn *turn) {
    bool asks = strcmp(text, "?\n") == 0 || is_word(text, "hint", "h");
    if (asks) {
        say_prose("\033[2m", is_empty(s->hint) ? s->task : s->hint);
    } else if (strcmp(text, "\?\?\n") == 0) {
        forget_error(give_answer(s, SHOW_ONLY));
    } else if (is_word(text, "skip", "s")) {
        forget_error(give_answer(s, SHOW));
        *over = true;
    } else if (is_word(text, "quit", "q") || is_word(text, "exit", "q")) {
        *over = true;
        *turn = TURN_QUIT;
    } else {
        return false;
    }
    return true;
}

static bool is_right(const Step *s) {
    bool right = false;
    TsrStatus status = holds(s->check, &right);
    if (status != TSR_OK) forget_error(status);
    return status == TSR_OK && right;
}

static Turn take_turn(const Step *s) {
    int tries = 0, unused;
    globals_set_last(VALUE_UNBOUND); /* a check of `_` is of what is shown from here on */
    for (;;) {
        TsrText typed = {0};
        Turn turn = TURN_DONE;
        bool over = false;
        fflush(builtin_stdout());
        if (!read_typed(&typed)) over = true, turn = TURN_QUIT;
        else if (typed.length > 1 && !is_for_lesson(s, typed.data, &over, &turn)) {
            line_remember(typed.data);
            shell_run_typed("<stdin>", typed.data, typed.length, 1);
            if (shell_wants_exit(&unused)) over = true, turn = TURN_QUIT;
            else if (is_right(s)) {
                say_text("\033[32m", "Right.");
                over = true;
            } else if (!magic_is(typed.data, typed.length)) { /* who looks at something has not answered */
                say_text("\033[2m", tries++ % 4 == 0 ? "Not yet. ? gives a hint, ?? an answer, skip goes on." : "Not yet.");
            }
        }
        tsr_text_free(&typed);
        if (over) return turn;
    }
}

/* A step that is only read: Enter goes on. */
static Turn wait_for_enter(void) {
    char *line = NULL;
    LineEnd end = line_read(&line, "(Enter) ");
    bool quits = end != LINE_TEXT || line[0] == 'q';
    free(line);
    return quits ? TURN_QUIT : TURN_DONE;
}

/* `number` of `count`: where the learner is. */
static TsrStatus learn_step(const Step *s, int number, int count, Turn *turn) {
    int unused;
    char place[48];
    snprintf(place, sizeof place, "\n%d of %d", number, count);
    say_text("\033[2m", place);
    globals_set_last(VALUE_UNBOUND); /* what was shown before holds nothing in this step */
    TSR_TRY(show(s->body, SHOW));
    fputc('\n', builtin_stdout());
    *turn = TURN_QUIT;
    if (shell_wants_exit(&unused)) return TSR_OK;
    if (is_empty(s->task)) {
        *turn = wait_for_enter();
        return TSR_OK;
    }
    say_prose("\033[36m", s->task);
    *turn = take_turn(s);
    return TSR_OK;
}

static TsrStatus learn(long n) {
    Span rest, intro = introduction(lessons[n - 1], &rest);
    int count = count_steps(lessons[n - 1]), done = progress[n - 1] < count ? progress[n - 1] : 0;
    Turn turn = TURN_DONE;
    Step step;
    say_title(n);
    say_text("\033[2m", "? gives a hint, ?? an answer, skip goes on, quit leaves.");
    fputc('\n', builtin_stdout());
    TSR_TRY(show(intro, SHOW));
    if (done > 0) fprintf(builtin_stdout(), "\nYou have taken %d of its %d steps: their names are there again. It goes on here.\n", done, count);
    for (int i = 0; turn == TURN_DONE && next_step(&rest, &step); i++) {
        if (i < done) { /* taken before: only its names are needed */
            TSR_TRY(show(step.body, RUN_SILENT));
            TSR_TRY(show(step.answer, RUN_SILENT));
            continue;
        }
        TSR_TRY(learn_step(&step, i + 1, count, &turn));
        if (turn == TURN_DONE) save_progress(n, i + 1);
    }
    if (turn == TURN_QUIT) {
        fprintf(builtin_stdout(), "%d of %d steps are taken; %%lesson %ld goes on from there.\n", progress[n - 1] % count, count, n);
        return TSR_OK;
    }
    fprintf(builtin_stdout(), "\nThat was lesson %ld.", n);
    if (n < LESSON_COUNT) fprintf(builtin_stdout(), " The next: %%lesson %ld at the prompt, or tsr --lesson %ld.", n + 1, n + 1);
    fputc('\n', builtin_stdout());
    return TSR_OK;
}

/* ---- without one ---- */

static TsrStatus print_step(const Step *s) {
    bool right = true;
    fputc('\n', builtin_stdout());
    TSR_TRY(show(s->body, SHOW));
    if (is_empty(s->task)) return TSR_OK;
    fputc('\n', builtin_stdout());
    say("", s->task);
    TSR_TRY(show(s->answer, SHOW));
    TSR_TRY(holds(s->check, &right));
    return right ? TSR_OK : tsr_error(TSR_RUNTIME_ERROR, "the answer does not fulfil its check: %.*s", length_of(s->check), s->check.begin);
}

static TsrStatus print_lesson(long n) {
    Span rest, intro = introduction(lessons[n - 1], &rest);
    Step step;
    say_title(n);
    fputc('\n', builtin_stdout());
    TSR_TRY(show(intro, SHOW));
    while (next_step(&rest, &step)) TSR_TRY(print_step(&step));
    return TSR_OK;
}

/* ---- the commands ---- */

enum { LONG_WORD = 4 }; /* may go on, "stride" in "strides" */

static bool mentions(Span text, const char *word) {
    size_t n = strlen(word);
    for (const char *at = text.begin; (size_t)(text.end - at) >= n; at++) {
        bool whole = at + n == text.end || !isalpha((unsigned char)at[n]);
        if ((at == text.begin || !isalpha((unsigned char)at[-1])) && strncasecmp(at, word, n) == 0 && (whole || n >= LONG_WORD)) return true;
    }
    return false;
}

/* By their titles and, where the word is no short one, by what they begin with. */
static TsrStatus append_lessons(TsrText *out, const char *word) {
    for (int i = 0; i < LESSON_COUNT; i++) {
        Span rest, title = title_of(lessons[i]);
        if (!mentions(title, word) && (strlen(word) < LONG_WORD || !mentions(introduction(lessons[i], &rest), word))) continue;
        TSR_TRY(tsr_text_printf(out, "    %%lesson %-3d %.*s\n", i + 1, length_of(title), title.begin));
    }
    return TSR_OK;
}

int lesson_count(void) { return LESSON_COUNT; }

void lesson_print_list(void) {
    FILE *out = builtin_stdout();
    load_progress();
    for (int i = 0; i < LESSON_COUNT; i++) {
        Span title = title_of(lessons[i]);
        int steps = count_steps(lessons[i]);
        fprintf(out, "%3d  %-*.*s", i + 1, progress[i] > 0 ? 52 : 0, length_of(title), title.begin);
        if (progress[i] >= steps) fputs("done", out);
        else if (progress[i] > 0) fprintf(out, "%d of %d steps", progress[i], steps);
        fputc('\n', out);
    }
    fputs("\ntsr --lesson N takes lesson N; at the prompt, %lesson N.\n", out);
}

TsrStatus lesson_run(int64_t n) {
    if (n < 1 || n > LESSON_COUNT) return tsr_error(TSR_VALUE_ERROR, "there is no lesson %lld (they are 1 to %d)", (long long)n, LESSON_COUNT);
    load_progress();
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? learn(n) : print_lesson(n);
}

static TsrStatus run_magic(const char *rest) {
    char *end;
    long n = strtol(rest, &end, 10);
    if (rest[0] == '\0') {
        lesson_print_list();
        return TSR_OK;
    }
    return *end == '\0' ? lesson_run(n) : tsr_error(TSR_TYPE_ERROR, "%%lesson takes the number of a lesson");
}

static TsrStatus call_lesson(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    if (args->count == 0) {
        lesson_print_list();
        return TSR_OK;
    }
    int64_t n;
    TSR_TRY(value_to_index(&n, args->values[0]));
    return lesson_run(n);
}

static const Method functions[] = {
    {"lesson", call_lesson, ARGS_RANGE, 0, 1, "(n=None)", "A lesson by its number, or the list of them."},
    {0},
};

TsrStatus lesson_startup(void) {
    magic_set_show("lesson", run_magic);
    help_lessons = append_lessons;
    return namespace_add_functions("tsr", functions, true);
}
