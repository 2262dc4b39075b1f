/* session.h: what a session at the prompt has beside the language: what was typed, the working folder, forgetting all
 * names. */
#ifndef REPL_PROMPT_SESSION_H
#define REPL_PROMPT_SESSION_H

#include "core/error.h"

#include <stdbool.h>

/* Keeps a statement that was typed, with the number of its first line, as %history shows it. `program`: %save writes
 * it, since it is no magic and ended without an error. When memory is short it is not kept. */
void session_add(const char *text, size_t length, int line, bool program);
void session_end(void); /* forgets them all */

/* Magics; `rest` is what stands behind the name. */
TsrStatus session_history(const char *rest);
TsrStatus session_save(const char *path);
TsrStatus session_page(const char *path);
TsrStatus session_pwd(const char *rest);
TsrStatus session_cd(const char *path);
TsrStatus session_ls(const char *path);
TsrStatus session_reset(const char *rest);

#endif
