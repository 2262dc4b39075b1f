/* judge.c: every question is put to a copy of the process, which answers through shared memory: do the checks hold; if
 * not, would an answer of the file still fulfil them from here? If none would, the statement has spoiled the step. */
#include "judge.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "copy.h"
#include "lang/syntax/parser.h"
#include "lang/vm/vm.h"
#include "reason.h"
#include "repl/prompt/magic.h"
#include "repl/shell.h"

typedef struct Question { /* shared with the copy */
    const Step *step;
    Span answer;
    Span printed; /* what print() wrote at the end: the learner showed it; empty: nothing */
    bool forgets; /* what was shown last neither counts nor holds: no check asks for it, or it was shown before */
    bool holds, solvable;
    char reason[JUDGE_REASON], wanted[JUDGE_TYPE], shown[JUDGE_TYPE];
} Question;

/* One at a time is open here; a copy that asks has one of its own. */
static Question *new_question(const Step *step) {
    Question *q = copy_shared(sizeof *q);
    if (q != NULL) q->step = step;
    return q;
}

/* ---- in a copy ---- */

bool judge_run(Span code, bool past_errors) {
    Quiet silence;
    Span statement;
    int unused;
    bool fine = quiet_begin(&silence);
    for (size_t offset = 0;
         (fine || past_errors) && format_next_statement(&statement, code, &offset) && !shell_wants_exit(&unused);)
        fine = shell_run_typed("<lesson>", statement.begin, (size_t)span_length(statement), 1) == EXIT_FINE && fine;
    quiet_end(&silence);
    return fine;
}

void judge_run_transcripts(Span text) {
    TsrText code = {0};
    if (format_code(&code, text) == TSR_OK && code.length > 0)
        judge_run((Span){code.data, code.data + code.length}, true);
    tsr_text_free(&code);
}

/* As judge_run, but what raises is passed over: "del y" of an answer may have been done before. */
static void run_all(Span code) {
    Span statement;
    for (size_t offset = 0; format_next_statement(&statement, code, &offset);)
        shell_run_typed("<lesson>", statement.begin, (size_t)span_length(statement), 1);
}

/* Whether all checks of the step hold now, in this process; if not, `reason` (JUDGE_REASON bytes) says which
 * comparison fails. */
static bool step_holds(const Step *step, char *reason) {
    Span check;
    reason[0] = '\0';
    for (int i = 0; format_comment(&check, step, "check", i); i++) {
        if (reason_holds(check)) continue;
        TsrText text = {0};
        if (reason_append(&text, check) != TSR_OK) tsr_error_clear();
        snprintf(reason, JUDGE_REASON, "%s", text.data != NULL ? text.data : "");
        tsr_text_free(&text);
        return false;
    }
    return true;
}

static void note_type(char *name) {
    const Value *last = globals_last();
    if (last != NULL && last->tag != V_UNBOUND) snprintf(name, JUDGE_TYPE, "%s", value_type(*last)->name);
}

static void try_answer(void *context) {
    Question *q = context;
    char reason[JUDGE_REASON];
    globals_set_last(VALUE_UNBOUND); /* the next thing that is shown takes its place */
    run_all(q->answer);
    if (!step_holds(q->step, reason)) return;
    q->solvable = true;
    note_type(q->wanted);
}

/* The whole answer, else what is left of it when its first statements were done already. */
static void try_rests(Question *q, Span answer) {
    Span statement;
    for (size_t offset = 0; !q->solvable && format_next_statement(&statement, answer, &offset);) {
        q->answer = (Span){statement.begin, answer.end};
        copy_run(try_answer, q, true);
    }
}

static bool has_several(Span code) {
    Span statement;
    size_t offset = 0;
    return format_next_statement(&statement, code, &offset) && format_next_statement(&statement, code, &offset);
}

/* Whether the model answer would fulfil the checks, or one of the others that a learner may be in the middle of. Those
 * of one statement don't count: what sets everything anew would make anything before it seem harmless. */
static void try_answers(Question *q) {
    TsrText code = {0};
    Span answer;
    if (format_code(&code, q->step->answer) == TSR_OK && code.length > 0)
        try_rests(q, (Span){code.data, code.data + code.length});
    for (int i = 0; !q->solvable && format_comment(&answer, q->step, "right", i); i++)
        if (has_several(answer)) try_rests(q, answer);
    tsr_text_free(&code);
}

static void answer_question(void *context) {
    Question *q = context;
    if (q->forgets) globals_set_last(VALUE_UNBOUND);
    if (!span_is_empty(q->printed)) judge_run(q->printed, false);
    note_type(q->shown);
    q->holds = step_holds(q->step, q->reason);
    if (!q->holds) try_answers(q);
}

/* ---- the attempt ---- */

static bool asks_last(const Step *step) {
    Span check;
    for (int i = 0; format_comment(&check, step, "check", i); i++)
        if (reason_asks_last(check)) return true;
    return false;
}

bool judge_begin(Attempt *a, const Step *step) {
    *a = (Attempt){.step = step, .shows = asks_last(step)};
    Question *q = new_question(step);
    if (q != NULL) q->forgets = !a->shows;
    if (q == NULL || !copy_run(answer_question, q, true)) return copy_free(q, sizeof *q), false;
    a->solvable = q->solvable;
    a->fulfilled = q->holds;
    memcpy(a->wanted, q->wanted, sizeof a->wanted);
    memcpy(a->reason, q->reason, sizeof a->reason);
    copy_free(q, sizeof *q);
    return true;
}

typedef struct Form { /* of what was typed */
    bool expression;  /* that alone */
    bool name;        /* a name alone */
    bool shows;       /* it ends with an expression, or can't be parsed */
    Span printed;     /* x, where it ends with print(x); else empty */
} Form;

/* The one argument of a call of print(). */
static Span printed_by(const Node *n, const Source *source, Span typed) {
    if (n->kind != AST_CALL || n->call.func->kind != AST_NAME || strcmp(n->call.func->name.id, "print") != 0 ||
        n->call.args.count != 1 || n->call.keyword_count != 0 || n->call.args.items[0]->kind == AST_STARRED)
        return (Span){NULL, NULL};
    const SourceRange at = n->call.args.items[0]->at;
    return (Span){typed.begin + source_line_offset(source, at.line) + (size_t)at.col,
                  typed.begin + source_line_offset(source, at.end_line) + (size_t)at.end_col};
}

static Form form_of(Span typed) {
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where = {0};
    Form form = {.shows = true};
    TsrStatus status = source_new(&source, "<typed>", typed.begin, (size_t)span_length(typed), 1, NULL);
    if (status == TSR_OK) status = parser_new_module(&ast, source, &where);
    if (status == TSR_OK && ast->body.count > 0) {
        const Node *last = ast->body.items[ast->body.count - 1];
        form.shows = last->kind == AST_EXPR;
        form.expression = form.shows && ast->body.count == 1;
        form.name = form.expression && last->value->kind == AST_NAME;
        if (form.shows) form.printed = printed_by(last->value, source, typed);
    }
    if (status != TSR_OK) tsr_error_clear();
    ast_free(ast);
    source_free(source);
    return form;
}

/* Whether two pieces of code are the same but for blanks. */
static bool same_code(Span a, Span b) {
    for (;; a.begin++, b.begin++) {
        while (a.begin < a.end && isspace((unsigned char)*a.begin)) a.begin++;
        while (b.begin < b.end && isspace((unsigned char)*b.begin)) b.begin++;
        if (a.begin == a.end || b.begin == b.end) return a.begin == a.end && b.begin == b.end;
        if (*a.begin != *b.begin) return false;
    }
}

static bool is_listed_wrong(const Step *step, Span typed) {
    Span wrong;
    for (int i = 0; format_comment(&wrong, step, "wrong", i); i++)
        if (same_code(wrong, typed)) return true;
    return false;
}

/* Of an expression: does it only look? What the step lists as wrong does not. Where something is to be shown, what
 * has the type of the answer is an attempt,
 * unless it is a name alone; elsewhere what leaves the failing comparison as it was. */
static bool only_looks(const Attempt *a, const Question *q, Span typed, Form form) {
    if (!form.expression) return magic_is(typed.begin, (size_t)span_length(typed));
    if (is_listed_wrong(a->step, typed)) return false;
    if (form.name || !a->shows) return form.name || strcmp(a->reason, q->reason) == 0;
    return strcmp(a->wanted, q->shown) != 0;
}

void judge(Judgement *out, Attempt *a, Span typed, bool failed) {
    *out = (Judgement){.verdict = VERDICT_OPEN};
    Question *q = new_question(a->step);
    Form form = form_of(typed);
    if (q != NULL) q->forgets = !a->shows || !form.shows;
    if (q != NULL && a->shows && !failed) q->printed = form.printed;
    bool known = q != NULL && copy_run(answer_question, q, true);
    if (known) {
        out->verdict = q->holds ? VERDICT_RIGHT : a->solvable && !q->solvable ? VERDICT_SPOILED : VERDICT_OPEN;
        out->looked = !q->holds && (only_looks(a, q, typed, form) || (failed && strcmp(a->reason, q->reason) == 0));
        snprintf(out->reason, sizeof out->reason, "%s", q->reason);
        if (out->verdict != VERDICT_SPOILED) memcpy(a->reason, q->reason, sizeof a->reason);
    } else if (step_holds(a->step, out->reason)) {
        out->verdict = VERDICT_RIGHT;
    }
    copy_free(q, sizeof *q);
}
