/* parallel.h: a range of numbers split over the pool of threads. Results must not depend on how: a chunk never sees
 * another. */
#ifndef TSR_PARALLEL_H
#define TSR_PARALLEL_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* How much a chunk should be worth. To hand one to another thread costs a microsecond or two, so each is meant to take
 * some ten: that is TSR_CHUNK_WORK steps, a step being what a simple operation such as an addition does for one element
 * out of the cache, about a nanosecond; or TSR_CHUNK_BYTES copied in order; or TSR_CHUNK_PRODUCTS multiplications and
 * additions of a matrix product, which vectors do ten at a time. The grain changes how long a job takes, never what it
 * gives. */
enum { TSR_CHUNK_WORK = 1 << 14, TSR_CHUNK_BYTES = 1 << 17, TSR_CHUNK_PRODUCTS = 100000 };
/* The grain of a range whose numbers stand for `steps` steps each. */
static inline int64_t tsr_grain(int64_t steps) {
    if (steps <= 1) return TSR_CHUNK_WORK;
    return steps < TSR_CHUNK_WORK ? TSR_CHUNK_WORK / steps : 1;
}

/* Works on the numbers [begin, end); called by several threads at once. */
typedef void (*TsrRangeFn)(int64_t begin, int64_t end, void *user);
/* Calls fn for chunks of [0, n), which threads take as they come; in this thread alone when n is not above `grain`, the
 * least size of a chunk, inside another such call, and while another thread makes one. Looks for interrupts between
 * chunks. The status is the first failure's. */
TsrStatus tsr_parallel_for(int64_t n, int64_t grain, TsrRangeFn fn, void *user);
/* Inside `fn`, on whatever thread: this range failed with `status`, whose error this thread has set. No further chunk
 * is taken, and tsr_parallel_for fails with the first such error, set in the thread that called it. */
void tsr_parallel_fail(TsrStatus status);
int tsr_parallel_width(void); /* threads that the calling thread may still use: 1 inside a job of tsr_parallel_for */
/* Threads of the pool, the calling one included: as many as the process may use processors, until it is set. */
int tsr_num_threads(void);
void tsr_set_num_threads(int n);

/* How many routines of LAPACK run on that an interrupt left behind, each on a thread of its own over memory of its own.
 * exit() waits for their end; where it is not to, end by _exit(). */
int tsr_calls_left(void);

TSR_PUBLIC_END

#endif
