/* screen.h: the window in which the prompt stands: its width, and the pager for texts that are longer than it. */
#ifndef SHOW_HELP_SCREEN_H
#define SHOW_HELP_SCREEN_H

#include <stdbool.h>

#include "core/text.h"

/* Whether the prompt stands at a terminal. False by default. */
extern bool screen_here;

/* Whether colours are wanted, and whether they are where standard output is no terminal. False by default. */
extern bool screen_colour, screen_colour_always;
/* Whether what goes to standard output may have colours: they are wanted always, or it is a terminal. */
bool screen_colours(void);

/* How long a line may be: `longest`, or what a window that is narrower shows in one. */
int screen_line(int longest);

/* How many bytes of a line fit into so many columns, cut at a blank behind its indentation; all of one that has none
 * there. */
size_t screen_fitting(const char *line, size_t length, int columns);
/* Appends the line, broken at blanks, which go; what goes on is indented by `indent`. */
TsrStatus screen_append_wrapped(TsrText *out, const char *line, size_t length, int columns, int indent);

/* Writes a line to standard error, broken at blanks for the window, what goes on indented; dim where `coloured`. */
void screen_note(const TsrText *line, int indent, bool coloured);

/* Writes a text to standard output, one that is longer than the window through $PAGER (by default less), as git does:
 * not when that is empty or cat, nor on a dumb terminal, nor in the sandbox. */
void screen_show(const TsrText *text);

#endif
