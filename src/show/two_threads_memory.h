/* two_threads_memory.h: what one of two threads changes while the other uses it (for parallel). */
#ifndef SHOW_TWO_THREADS_MEMORY_H
#define SHOW_TWO_THREADS_MEMORY_H

/* Watches accesses from now on; `side` says which of the two threads, 0 or 1, is running. Hooks of others go on. */
void memory_watch_begin(int (*side)(void));
void memory_watch_end(void);
/* After memory_watch_end: a UserWarning on stderr for each storage of which one side wrote bytes that the other wrote
 * or used. `names`: of the two functions. */
void memory_watch_tell(const char *const *names);

#endif
