/* take.c: reads, runs and shows; judge.h judges.
 *
 * The lesson goes on in a copy of the process, and so does each statement: one that spoils its step is undone by
 * ending its copy. The process that the lesson began in waits. To begin a step again, or to go back, the copy ends and
 * says in shared memory where the next one is to begin: that runs the steps before it silently, with the answers of
 * the file. */
#include "take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "copy.h"
#include "core/parallel.h"
#include "lang/modules/builtin.h"
#include "lang/syntax/parser.h"
#include "lang/vm/vm.h"
#include "page.h"
#include "progress.h"
#include "repl/prompt/pointers.h"
#include "repl/prompt/line.h"
#include "repl/prompt/magic.h"
#include "repl/prompt/paste.h"
#include "repl/prompt/typing.h"
#include "repl/shell.h"
#include "steps.h"

enum { TYPED_ROOM = 1 << 16, REASON_EVERY = 4 };

typedef enum Turn { TURN_DONE, TURN_QUIT, TURN_AGAIN, TURN_BACK, TURN_REPAIR } Turn;

typedef struct Shared {     /* what outlives a copy */
    int step;               /* where the next copy begins, from 0 */
    Turn turn;              /* how the last one ended; TURN_DONE: the lesson is over */
    size_t typed;           /* bytes of `lines` in use */
    char lines[TYPED_ROOM]; /* what was typed, each with a zero byte behind it: for the history of who goes on */
    bool told;              /* the learner knows what became of the statement */
    Record record;          /* of the step that is being taken */
} Shared;

typedef struct Taking { /* one lesson, with its learner */
    const Lesson *lesson;
    int number, count; /* of the lesson; of its steps */
    Shared *shared;
    size_t remembered; /* of shared->lines, in this process's history */
    bool plain;        /* the names are as the file's answers leave them */
    Steps steps;       /* where the learner is */
} Taking;

/* ---- what is typed ---- */

static void remember(Taking *t, const TsrText *typed) {
    Shared *s = t->shared;
    line_remember(typed->data);
    if (s->typed + typed->length + 1 > TYPED_ROOM) return;
    memcpy(s->lines + s->typed, typed->data, typed->length + 1);
    t->remembered = s->typed += typed->length + 1;
}

/* What was typed in copies that have ended. */
static void remember_others(Taking *t) {
    for (; t->remembered < t->shared->typed; t->remembered += strlen(t->shared->lines + t->remembered) + 1)
        line_remember(t->shared->lines + t->remembered);
}

/* A word of the lesson's own, unless the learner has given the name a meaning. */
static bool is_word(const char *text, const char *word, const char *letter) {
    char typed[8];
    if (sscanf(text, " %7s", typed) != 1 || strlen(text) > strlen(typed) + 4) return false;
    bool same = strcmp(typed, word) == 0 || strcmp(typed, letter) == 0;
    return same && globals_get(typed).tag == V_UNBOUND;
}

const char *take_word_bound(void) {
    static const char *const words[] = {"hint", "answer", "again", "back", "skip", "quit"};
    for (size_t i = 0; i < TSR_COUNTOF(words); i++)
        if (globals_get(words[i]).tag != V_UNBOUND) return words[i];
    return NULL;
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
        typing_follow(statement);
        end = line_read(&line, statement->length == 0 ? ">>> " : "... ");
        if (end == LINE_TEXT && (tsr_text_puts(statement, line) != TSR_OK || tsr_text_putc(statement, '\n') != TSR_OK))
            end = LINE_END;
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

/* ---- hints ---- */

static void show_answer(Taking *t, const Step *s) {
    Record *r = &t->shared->record;
    r->outcome = OUTCOME_SHOWN;
    page_say(STYLE_ASIDE, "An answer:");
    if (page_show(s->answer, false) != TSR_OK) tsr_error_clear();
}

/* The next rung: the hints in their order, then the answer. */
static void give_hint(Taking *t, const Step *s) {
    Span hint;
    Record *r = &t->shared->record;
    bool more = format_comment(&hint, s, "hint", r->hints);
    r->hints++;
    if (!more) {
        show_answer(t, s);
        return;
    }
    page_prose(STYLE_ASIDE, hint);
    page_say(STYLE_ASIDE,
             format_comment(&hint, s, "hint", r->hints) ? "(? says more)" : "(? once more shows the answer)");
}

/* ---- a step ---- */

/* What was typed, when it is a word to the lesson; *over: the step ends by it. */
static bool is_for_lesson(Taking *t, const Step *s, const char *text, bool *over, Turn *turn) {
    *over = true;
    if (is_word(text, "quit", "q") || is_word(text, "exit", "q")) *turn = TURN_QUIT;
    else if (is_word(text, "again", "again")) *turn = TURN_AGAIN;
    else if (is_word(text, "back", "back")) *turn = TURN_BACK;
    else if (is_word(text, "skip", "s")) {
        t->shared->record.outcome = OUTCOME_SKIPPED;
        *turn = TURN_DONE;
        if (page_show(s->answer, true) != TSR_OK) shell_report(tsr_error_kind(), NULL);
    } else {
        *over = false;
        if (strcmp(text, "?\n") == 0 || is_word(text, "hint", "h")) give_hint(t, s);
        else if (strcmp(text, "\?\?\n") == 0 || is_word(text, "answer", "answer")) show_answer(t, s);
        else return false;
    }
    return true;
}

static void say_not_yet(Taking *t, const Judgement *j) {
    TsrText text = {0};
    TsrStatus status = tsr_text_printf(&text, "Not yet%s%s.", j->reason[0] != '\0' ? ": " : "", j->reason);
    if (status == TSR_OK && j->verdict == VERDICT_SPOILED)
        status = tsr_text_puts(&text, " That is undone: all is as it was before.");
    if (status == TSR_OK && t->shared->record.tries++ % REASON_EVERY == 0)
        status = tsr_text_puts(&text, " ? gives a hint, again begins the step again.");
    if (status == TSR_OK) page_prose(STYLE_ASIDE, (Span){text.data, text.data + text.length});
    tsr_text_free(&text);
}

/* Runs what was typed. True when the step is over; when it is spoiled, all of it happened in a copy that has ended. */
static bool attempt(Taking *t, const TsrText *typed, Turn *turn) {
    Snapshot before;
    Judgement j;
    t->shared->told = false;
    if (!snapshot_take(&before)) {
        if (!t->shared->told) page_say(STYLE_ASIDE, "That ended the program: all is as it was before.");
        return false;
    }
    if (!steps_try(&j, &t->steps, (Span){typed->data, typed->data + typed->length})) {
        snapshot_keep(&before);
        *turn = TURN_QUIT;
        return true;
    }
    if (j.verdict == VERDICT_RIGHT) page_say(STYLE_RIGHT, "Right.");
    else if (!j.looked || j.verdict == VERDICT_SPOILED) say_not_yet(t, &j);
    t->shared->told = true;
    if (j.verdict == VERDICT_SPOILED) snapshot_undo(&before);
    snapshot_keep(&before);
    t->plain = false;
    *turn = TURN_DONE;
    return j.verdict == VERDICT_RIGHT;
}

static Turn take_turn(Taking *t) {
    for (;;) {
        TsrText typed = {0};
        Turn turn = TURN_QUIT;
        bool over = true;
        fflush(builtin_stdout());
        if (read_typed(&typed)) {
            over = false;
            if (typed.length > 1 && !is_for_lesson(t, &t->steps.step, typed.data, &over, &turn)) {
                remember(t, &typed);
                over = attempt(t, &typed, &turn);
            }
        }
        tsr_text_free(&typed);
        if (over) return turn;
    }
}

/* A step that is only read: Enter goes on. */
static Turn wait_for_enter(Taking *t) {
    char *line = NULL;
    LineEnd end = line_read(&line, "(Enter) ");
    Turn turn = end != LINE_TEXT || line[0] == 'q' ? TURN_QUIT : strcmp(line, "back") == 0 ? TURN_BACK : TURN_DONE;
    free(line);
    t->shared->record.outcome = OUTCOME_READ;
    return turn;
}

static TsrStatus take_step(Taking *t, Turn *turn) {
    const Step *s = &t->steps.step;
    char place[400];
    int unused;
    snprintf(place, sizeof place, "\n%d of %d: %.*s", t->steps.number, t->count, TSR_MIN(span_length(s->heading), 300),
             s->heading.begin);
    page_say(STYLE_TITLE, place);
    TSR_TRY(steps_show(&t->steps));
    fputc('\n', builtin_stdout());
    *turn = TURN_QUIT;
    if (shell_wants_exit(&unused)) return TSR_OK;
    if (span_is_empty(s->task)) {
        *turn = wait_for_enter(t);
        return TSR_OK;
    }
    page_prose(STYLE_TASK, s->task);
    *turn = take_turn(t);
    return TSR_OK;
}

/* ---- a lesson ---- */

static void record_step(Taking *t, int number) {
    Record *r = &t->shared->record;
    if (r->outcome == OUTCOME_NONE) r->outcome = OUTCOME_DONE;
    snprintf(r->lesson, sizeof r->lesson, "%s", t->lesson->key);
    r->step = number;
    progress_set(r);
}

/* In a copy: the steps from shared->step on with the learner. */
static Turn run_steps(Taking *t) {
    Turn turn = TURN_DONE;
    bool more = steps_begin(&t->steps, t->lesson, t->shared->step + 1);
    t->plain = true;
    for (; turn == TURN_DONE && more; more = steps_next(&t->steps)) {
        t->shared->step = t->steps.number - 1;
        if (!t->plain && !steps_are_ready(&t->steps)) return TURN_REPAIR;
        memset(&t->shared->record, 0, sizeof t->shared->record);
        TsrStatus status = take_step(t, &turn);
        if (status != TSR_OK) {
            shell_report(status, NULL);
            turn = TURN_QUIT;
        }
        if (turn == TURN_DONE) record_step(t, t->steps.number);
    }
    return turn;
}

/* One copy, from shared->step on. */
static TsrStatus run_copy(Taking *t) {
    Snapshot outside;
    t->shared->turn = TURN_QUIT; /* what a crash leaves */
    if (!snapshot_take(&outside)) return TSR_OK;
    if (outside.keeper < 0)
        return tsr_error(TSR_MEMORY_ERROR, "can't make a copy of the process, which the lesson would run in");
    pointers_silent = true;
    t->shared->turn = run_steps(t);
    snapshot_undo(&outside);
    return TSR_OK;
}

/* Where the next copy begins. False: there is none. */
static bool goes_on(Taking *t) {
    Shared *s = t->shared;
    remember_others(t);
    if (s->turn == TURN_REPAIR)
        page_say(
            STYLE_ASIDE,
            "\n(The names are as the lesson leaves them: what else was there would be in the way of what comes now.)");
    if (s->turn == TURN_BACK) s->step = TSR_MAX(s->step - 1, 0);
    return s->turn == TURN_AGAIN || s->turn == TURN_BACK || s->turn == TURN_REPAIR;
}

static void say_title(const Taking *t) {
    char text[400];
    course_heading(text, sizeof text, t->lesson, t->number);
    page_say(STYLE_TITLE, text);
}

static TsrStatus begin(const Taking *t, int taken) {
    static const char words[] = "? gives a hint, then more of one, then the answer; ?? the answer at once; again "
                                "begins a step again; back goes to the one before; "
                                "skip to the next; quit leaves.";
    Span rest, intro = format_introduction(t->lesson->text, &rest);
    say_title(t);
    page_prose(STYLE_ASIDE, (Span){words, words + strlen(words)});
    fputc('\n', builtin_stdout());
    TSR_TRY(page_show(intro, false));
    if (taken > 0)
        fprintf(builtin_stdout(),
                "\nYou have taken %d of its %d steps: their names are there again. It goes on here.\n", taken,
                t->count);
    return TSR_OK;
}

/* The orphans among the copies are given to this process, so that none stays behind. */
static void gather_copies(bool begin) {
    prctl(PR_SET_CHILD_SUBREAPER, begin ? 1 : 0);
    while (!begin && waitpid(-1, NULL, WNOHANG) > 0) continue;
}

TsrStatus take_lesson(const Course *course, int n, bool *finished) {
    const Lesson *lesson = &course->lessons[n - 1];
    Taking t = {.lesson = lesson, .number = n, .count = format_count_steps(lesson->text)};
    int taken = progress_taken(lesson->key, t.count), threads = tsr_num_threads();
    *finished = false;
    if (taken == t.count) taken = 0;
    if ((t.shared = copy_shared(sizeof *t.shared)) == NULL) return tsr_error(TSR_MEMORY_ERROR, "out of memory");
    t.shared->step = taken;
    TsrStatus status = begin(&t, taken);
    tsr_set_num_threads(1); /* a library's threads are not in a copy */
    gather_copies(true);
    if (status == TSR_OK) do
            status = run_copy(&t);
        while (status == TSR_OK && goes_on(&t));
    gather_copies(false);
    tsr_set_num_threads(threads);
    *finished = t.shared->turn == TURN_DONE;
    copy_free(t.shared, sizeof *t.shared);
    return status;
}
