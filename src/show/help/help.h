/* help.h: what help(x) and x? print about functions, types, modules and operators by name. */
#ifndef SHOW_HELP_HELP_H
#define SHOW_HELP_HELP_H

#include "core/text.h"
#include "lang/object/value.h"

/* Appends the signature and the docstring of a function of the language. */
TsrStatus help_write_function(TsrText *out, Value function);
/* Appends the page that help() prints about a value, its lines not folded yet: those that begin without a blank are
 * signatures and headings. */
TsrStatus help_write_page(TsrText *out, Value subject);
/* The same with its lines folded to the window's width: what help() shows. */
TsrStatus help_write(TsrText *out, Value subject);
/* Appends the names in a value that fit `pattern`, in which * stands for any characters. */
TsrStatus help_write_matching(TsrText *out, Value subject, const char *pattern);
/* Appends a line, indented by 4, for each lesson about a word. NULL by default; the lessons, which stand above, set it.
 */
extern TsrStatus (*help_lessons)(TsrText *out, const char *word);
/* Makes help() print the page about a value. */
void help_startup(void);

#endif
