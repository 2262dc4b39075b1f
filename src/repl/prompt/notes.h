/* notes.h: at an interactive prompt, one dim line on stderr after a statement that did what is easily overlooked: a
 * write that other names see, a write lost in a copy, a write through stride 0, a broadcast that multiplies memory.
 * notes("on") and notes("off"), %notes on and %notes off. Scripts and pipes are silent until they ask; theirs come when
 * the next line writes, and at the end. */
#ifndef REPL_PROMPT_NOTES_H
#define REPL_PROMPT_NOTES_H

#include "lang/object/value.h"

TsrStatus notes_startup(void);
void notes_shutdown(void);

#endif
