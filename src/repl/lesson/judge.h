/* judge.h: whether a learner's statements fulfil a step, and why not. No terminal: who calls it reads, runs and shows
 * (take.h, verify.h).
 *
 * Contract. judge_begin is called when a step's transcripts have run and its task is put, then judge after each
 * statement that was run. Both look at copies of the process (copy.h), so judging changes nothing: not a count, not
 * `_`, not what a check calls. The caller keeps a way back to where the statement began (snapshot_take), and goes
 * there when the verdict is VERDICT_SPOILED. */
#ifndef REPL_LESSON_JUDGE_H
#define REPL_LESSON_JUDGE_H

#include "format.h"

enum { JUDGE_REASON = 480, JUDGE_TYPE = 64 };

typedef enum Verdict {
    VERDICT_OPEN,   /* not fulfilled, and one of the step's answers still would: what was done may stay */
    VERDICT_RIGHT,  /* every check holds */
    VERDICT_SPOILED /* none of the answers would fulfil it any more */
} Verdict;

typedef struct Attempt { /* what is known of a step while a learner is at it */
    const Step *step;
    bool solvable;             /* by one of its answers, when it began */
    bool fulfilled;            /* before anything was done */
    bool shows;                /* a check asks for `_`, the last value shown */
    char wanted[JUDGE_TYPE];   /* the type of what its answer shows; "": none */
    char reason[JUDGE_REASON]; /* the comparison that fails; "": none is known */
} Attempt;

typedef struct Judgement {
    Verdict verdict;
    bool looked;               /* the statement only looked at something: it was no attempt */
    char reason[JUDGE_REASON]; /* "x._version is 0, not 2"; "" when right */
} Judgement;

/* False when no copy can be made: then nothing is known, and every verdict is by the checks alone. */
bool judge_begin(Attempt *attempt, const Step *step);
/* `typed`: the statement that was run, `failed` whether it raised. Keeps the reason in the attempt for the next call.
 */
void judge(Judgement *out, Attempt *attempt, Span typed, bool failed);

/* Runs code as if it were typed, its output dropped, up to the first statement that raises, or, past_errors, all of it,
 * as a transcript that shows errors is shown. False when a statement raised. */
bool judge_run(Span code, bool past_errors);
/* The same with the code of transcripts, past errors: "del y" of an answer may have been done before. */
void judge_run_transcripts(Span text);

#endif
