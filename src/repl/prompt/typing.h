/* typing.h: what the prompt does while a statement is typed: where its next line begins, and the colours of a line.
 *
 * Both read what stands there by the lexer of the language, so that they agree with what will run. */
#ifndef REPL_PROMPT_TYPING_H
#define REPL_PROMPT_TYPING_H

#include "core/text.h"

enum {
    TYPING_INDENT = 4,     /* blanks of one level */
    TYPING_MAX_LINE = 1000 /* bytes; a longer line is not coloured */
};

/* How many blanks the next line of a statement begins with, whose `length` bytes so far end in a line end: one level
 * more behind a colon and behind an open bracket, one less behind what leaves a block (return, pass, break, continue,
 * raise); none inside a text of several lines. */
int typing_indent(const char *text, size_t length);

/* Appends the line to `out` with ANSI colours: its keywords, texts, numbers and comments, and the bracket beside the
 * cursor, `point` bytes into the line, with its counterpart; a bracket that closes nothing is red. `before` holds the
 * lines of the statement above it. Colours apart the bytes are the line's. Only mem.h's error. */
TsrStatus typing_paint(TsrText *out, const char *before, size_t before_length, const char *line, size_t point);

/* From now on lines are typed below those of `statement`, lent until the next call: the next line_read gets their
 * indentation, and typing_paint_line, which is a line_painter, their colours. */
void typing_follow(const TsrText *statement);
TsrStatus typing_paint_line(TsrText *out, const char *typed, size_t point);

#endif
