/* copy.h: a copy of the program is a copy of its memory: there are no processes in a browser, and all that the language
 * knows lies in one block of bytes, which is saved and put back. The frames of C that are under way are above the saved
 * point and stay valid: both calls are made by one function. Files and what was printed stay. */
#ifndef WEB_COPY_H
#define WEB_COPY_H

#include <stdbool.h>

/* Saves all memory, below those saved before. False when there is too little. */
bool copy_save(void);
/* Puts back what was saved last, but for the blocks of copy_shared that there were then. */
void copy_undo(void);
void copy_keep(void); /* forgets what was saved last: what happened since stays */

#endif
