/* format.h: a lesson's text taken apart. Nothing is copied: every Span is lent by the text, which outlives it.
 *
 * A lesson is Markdown: `# Title`, an introduction, and steps. A step is `## Heading`, prose and fenced transcripts,
 * then comments of the form `<!-- KEY: text -->` and a fenced transcript that is the model answer. The keys, in any
 * order: `try` (the task), `check` (an expression; all of them are to hold), `hint` (from a nudge to the form),
 * `wrong` and `right` (code that the checks must refuse and accept). A step without `try` is only read.
 * man/tsr-lessons.7 is the manual of it. Any bytes are fine: what is not of this form is prose. */
#ifndef REPL_LESSON_FORMAT_H
#define REPL_LESSON_FORMAT_H

#include "core/text.h"

#include <stdbool.h>

typedef struct Span {
    const char *begin, *end;
} Span;

static inline bool span_is_empty(Span s) { return s.begin == s.end; }
static inline int span_length(Span s) { return (int)(s.end - s.begin); }
bool span_starts(Span s, const char *what);
/* Takes the next line off *rest, without its end; false at the end. */
bool span_next_line(Span *rest, Span *line);

typedef struct Step {
    Span heading; /* without "## " */
    Span body;    /* from under the heading to the first comment */
    Span comments;
    Span task;   /* of `try`; empty: the step is only read */
    Span answer; /* behind the comments */
} Step;

Span format_title(Span lesson); /* its first line without "# " */
/* The text before the first step; *rest are the steps. */
Span format_introduction(Span lesson, Span *rest);
bool format_next_step(Span *rest, Step *step);
int format_count_steps(Span lesson);
/* The text of the step's `index`-th comment (from 0) with this key; false when there is none. */
bool format_comment(Span *text, const Step *step, const char *key, int index);
/* The key of the first comment that is none of those above; false when all are. */
bool format_odd_key(Span *key, const Step *step);

/* Appends the code of a text's transcripts: what stands behind ">>>" and "...". */
TsrStatus format_code(TsrText *code, Span text);
/* The next statement of code (a logical line or a compound statement) from byte *offset on, which moves behind it;
 * what can't be parsed is one statement up to its line's end. False at the end. */
bool format_next_statement(Span *statement, Span code, size_t *offset);

#endif
