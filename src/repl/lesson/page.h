/* page.h: a lesson's text on the terminal: prose wrapped at its width, transcripts run as they are shown. */
#ifndef REPL_LESSON_PAGE_H
#define REPL_LESSON_PAGE_H

#include "format.h"

/* Escape sequences; nothing where there are no colours. */
#define STYLE_TITLE "\033[1m"
#define STYLE_ASIDE "\033[2m"
#define STYLE_TASK "\033[36m"
#define STYLE_RIGHT "\033[32m"

void page_say(const char *style, const char *text); /* one line */
void page_prose(const char *style, Span text);      /* wrapped at the terminal's width */
/* Prose and transcripts: statements are shown and run, and what they print now stands for what the file says. With
 * `run` false the file is shown as it is. Stops when exit() was called; KeyboardInterrupt and TimeoutError. */
TsrStatus page_show(Span text, bool run);

#endif
