/* page.h: --page: runs a program and writes the page that steps through it (show/page/page.h). */
#ifndef REPL_PAGE_H
#define REPL_PAGE_H

#include "core/text.h"

/* Runs `text` (zero-terminated, `length` bytes), and appends the page; `typed`: as at the prompt, where values are
 * shown and an error does not end it, as it is too of a text with prompts. *exit_status is the program's. */
TsrStatus page_make(TsrText *out, int *exit_status, const char *name, const char *text, size_t length, bool typed);

/* A script, or a transcript, Markdown page or lesson, of which the lines behind a prompt are run and prose stands
 * between them; or one of the program's lessons by its number, a walk by its document's name. The page goes to standard
 * output; what the program prints stands in it. The exit status is the script's; errors of a transcript are part of it.
 */
int page_command(const char *path);

#endif
