/* clock.h: the time that passes, for what measures and what waits. */
#ifndef REPL_CLOCK_H
#define REPL_CLOCK_H

#include <time.h>

/* Seconds since some moment before the program began; nobody sets this clock. Async-signal-safe. */
static inline double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
