/* verify.c: a lesson is walked through with its own answers; at each step everything that the step lists is tried in a
 * copy of its own. */
#include "verify.h"

#include <stdio.h>
#include <string.h>

#include "copy.h"
#include "judge.h"
#include "take.h"
#include "repl/doctest.h"
#include "lang/modules/builtin.h"
#include "lang/syntax/parser.h"
#include "lang/vm/vm.h"
#include "repl/shell.h"

enum { SHOWN = 60 }; /* bytes of a piece of code in a message */

typedef struct Tally { /* shared with the copies */
    int lessons, steps, pieces, faults;
} Tally;

typedef struct Where { /* of what is being checked */
    const char *lesson;
    int number;
    const Step *step;
    Tally *tally;
} Where;

/* Pieces of code as a learner would type them one after the other, and what became of the last of them. */
typedef struct Play {
    const Step *step;
    Span code[2]; /* the second may be empty; the first need not be right then */
    bool ended, right, spoiled, failed;
    int kept; /* statements that were not undone */
    Span at;  /* the statement that was undone */
    char reason[JUDGE_REASON];
} Play;

/* `code` and `reason` may be empty. */
static void fault(const Where *p, const char *what, Span code, const char *reason) {
    Span line = {code.begin, code.begin};
    if (code.begin != NULL) span_next_line(&code, &line);
    bool cut = span_length(line) > SHOWN || !span_is_empty(code);
    printf("%s, step %d (%.*s): %s", p->lesson, p->number, TSR_MIN(span_length(p->step->heading), SHOWN),
           p->step->heading.begin, what);
    if (!span_is_empty(line)) printf(": %.*s%s", TSR_MIN(span_length(line), SHOWN), line.begin, cut ? " ..." : "");
    if (reason[0] != '\0') printf(" (%s)", reason);
    putchar('\n');
    p->tally->faults++;
}

static const Span none = {NULL, NULL};

/* ---- playing ---- */

/* One statement, tried in a copy first. */
typedef struct Trial {
    Attempt attempt;
    Span statement;
    Judgement judgement;
    bool failed;
} Trial;

static void try_statement(void *context) {
    Trial *t = context;
    t->failed = !judge_run(t->statement, false);
    judge(&t->judgement, &t->attempt, t->statement, t->failed);
}

/* As a learner meets it: what spoils the step is undone. */
static void play_piece(Play *p, Trial *t, Span code) {
    size_t offset = 0;
    p->right = p->spoiled = false;
    while (!p->right && format_next_statement(&t->statement, code, &offset)) {
        if (!copy_run(try_statement, t, true)) t->judgement.verdict = VERDICT_SPOILED;
        p->failed |= t->failed;
        memcpy(p->reason, t->judgement.reason, sizeof p->reason);
        p->right = t->judgement.verdict == VERDICT_RIGHT;
        if (t->judgement.verdict != VERDICT_SPOILED) judge_run(t->statement, false), p->kept++;
        else if (!p->spoiled) p->spoiled = true, p->at = t->statement;
    }
}

static void play_in_copy(void *context) {
    Play *p = context;
    Trial *trial = copy_shared(sizeof *trial);
    if (trial == NULL || !judge_begin(&trial->attempt, p->step)) return;
    play_piece(p, trial, p->code[0]);
    if (!p->right && !span_is_empty(p->code[1])) play_piece(p, trial, p->code[1]);
    p->ended = true;
}

static Play play(const Step *step, Span first, Span second) {
    Play result = {.step = step, .code = {first, second}}, *shared = copy_shared(sizeof *shared);
    if (shared != NULL) {
        *shared = result;
        copy_run(play_in_copy, shared, true);
        result = *shared;
    }
    copy_free(shared, sizeof *shared);
    return result;
}

static void expect_right(const Where *p, Span code, const char *what) {
    char message[120];
    Play played = play(p->step, code, none);
    p->tally->pieces++;
    if (played.right && !played.spoiled) return;
    snprintf(message, sizeof message, "%s is %s", what,
             !played.ended    ? "broken off"
             : played.spoiled ? "undone before its end"
                              : "refused");
    fault(p, message, played.spoiled ? played.at : code, played.reason);
}

/* Not right by itself, and then no obstacle to `answer`, which is. */
static void expect_wrong(const Where *p, Span code, Span answer) {
    Play alone = play(p->step, code, none);
    p->tally->pieces++;
    if (alone.right) {
        fault(p, "a wrong answer is accepted", code, "");
        return;
    }
    if (alone.kept == 0) return; /* all is as it was */
    if (!play(p->step, code, answer).right)
        fault(p, "after a wrong answer that stays, the answer is refused", code, alone.reason);
    Span other;
    for (int i = 0; format_comment(&other, p->step, "right", i); i++)
        if (!play(p->step, code, other).right)
            fault(p, "after a wrong answer that stays, a right one is refused", code, alone.reason);
}

/* ---- hints ---- */

static bool has_dots(Span code) { return memmem(code.begin, (size_t)span_length(code), "...", 3) != NULL; }

/* The code in backquotes runs, unless it says with "..." that something is left out. */
static void check_hint(const Where *p, Span hint) {
    while (hint.begin < hint.end) {
        const char *begin = memchr(hint.begin, '`', (size_t)span_length(hint));
        const char *end = begin != NULL ? memchr(begin + 1, '`', (size_t)(hint.end - begin - 1)) : NULL;
        if (end == NULL) return;
        Span code = {begin + 1, end};
        hint.begin = end + 1;
        p->tally->pieces++;
        if (!has_dots(code) && !span_is_empty(code) && play(p->step, code, none).failed)
            fault(p, "code in a hint fails", code, "");
    }
}

/* ---- a step ---- */

/* A check that is no expression never holds, whatever the answer. */
static void check_expression(const Where *p, Span check) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where;
    TsrStatus status = source_new(&source, "<check>", check.begin, (size_t)span_length(check), 1, NULL);
    if (status == TSR_OK) status = parser_new_expression(&ast, source, &where);
    if (status != TSR_OK) fault(p, "a check is no expression", check, tsr_error_message());
    tsr_error_clear();
    ast_free(ast);
    source_free(source);
}

static void check_step(const Where *p) {
    const Step *s = p->step;
    Attempt a;
    Span text, model = none;
    TsrText answer = {0};
    if (format_odd_key(&text, s)) fault(p, "a comment has an unknown key", text, "");
    if (span_is_empty(s->task)) return;
    if (!format_comment(&text, s, "check", 0)) {
        fault(p, "the task has no check", none, "");
        return;
    }
    for (int i = 0; format_comment(&text, s, "check", i); i++) check_expression(p, text);
    globals_set_last(VALUE_UNBOUND);
    if (judge_begin(&a, s) && a.fulfilled) fault(p, "its check holds before anything is done", none, "");
    if (format_code(&answer, s->answer) == TSR_OK && answer.length > 0)
        expect_right(p, model = (Span){answer.data, answer.data + answer.length}, "the answer");
    else fault(p, "there is no answer", none, "");
    for (int i = 0; format_comment(&text, s, "right", i); i++) expect_right(p, text, "a right answer");
    for (int i = 0; format_comment(&text, s, "wrong", i); i++) expect_wrong(p, text, model);
    if (!format_comment(&text, s, "wrong", 0)) fault(p, "it lists no wrong answer", none, "");
    if (!format_comment(&text, s, "hint", 0)) fault(p, "it has no hint", none, "");
    for (int i = 0; format_comment(&text, s, "hint", i); i++) check_hint(p, text);
    tsr_text_free(&answer);
}

/* A lesson that names a value "again" takes that word away from its learners. Said once: the name stays. */
static void check_words(const Where *p, bool *said) {
    const char *word = take_word_bound();
    if (word != NULL && !*said)
        fault(p, "a word that learners need is a name from here on", (Span){word, word + strlen(word)}, "");
    *said |= word != NULL;
}

/* ---- a lesson ---- */

typedef struct Walk {
    const Lesson *lesson;
    Tally *tally;
} Walk;

static void lesson_fault(const Walk *w, const char *what) {
    printf("%s: %s\n", w->lesson->key, what);
    w->tally->faults++;
}

/* In a copy, so that no lesson sees another's names. */
static void walk_lesson(void *context) {
    const Walk *w = context;
    Span rest;
    Step step;
    bool said = false;
    Where place = {w->lesson->key, 1, &step, w->tally};
    if (!span_starts(w->lesson->text, "# ")) lesson_fault(w, "its first line is no title: # Title");
    if (format_count_steps(w->lesson->text) == 0) lesson_fault(w, "it has no step, which begins with ## Heading");
    judge_run_transcripts(format_introduction(w->lesson->text, &rest));
    for (; format_next_step(&rest, &step); place.number++) {
        judge_run_transcripts(step.body);
        check_step(&place);
        judge_run_transcripts(step.answer);
        check_words(&place, &said);
        w->tally->steps++;
    }
    w->tally->lessons++;
}

/* What the file's transcripts print, in a copy, too. */
static void compare_transcripts(void *context) {
    const Walk *w = context;
    const char *path = w->lesson->path;
    if (doctest_run(&path, 1, false) == 0) return;
    lesson_fault(w, "its transcripts print something else (see the diff above)");
    fflush(stdout);
}

static const char *plural(int n) { return n == 1 ? "" : "s"; }

int verify_course(const Course *course) {
    Tally *tally = copy_shared(sizeof *tally);
    if (tally == NULL) return 1;
    for (int i = 0; i < course->count; i++) {
        Walk walk = {&course->lessons[i], tally};
        fflush(stdout);
        if (copy_run(walk_lesson, &walk, false) &&
            (walk.lesson->path == NULL || copy_run(compare_transcripts, &walk, false)))
            continue;
        printf("%s: the check was broken off\n", walk.lesson->key);
        tally->faults++;
    }
    Tally result = *tally;
    copy_free(tally, sizeof *tally);
    printf("%d lesson%s, %d step%s, %d piece%s of code checked, %d fault%s\n", result.lessons, plural(result.lessons),
           result.steps, plural(result.steps), result.pieces, plural(result.pieces), result.faults,
           plural(result.faults));
    return result.faults;
}
