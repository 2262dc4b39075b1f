/* tally.h: the sums of a stretch of the log of events: what memory was taken, kept and given back, what was copied. */
#ifndef SHOW_WATCH_TALLY_H
#define SHOW_WATCH_TALLY_H

#include "events.h"

/* In bytes, but for the counts. Memory on meta is none. */
typedef struct Tally {
    int64_t allocated;  /* by allocators, all of it */
    int64_t made;       /* of that, for storages that were made */
    int64_t moved;      /* of that, for storages that were there before */
    int64_t given_back; /* of what was allocated in this stretch */
    int64_t freed;      /* of memory from before */
    int64_t adopted;    /* mappings and borrowed bytes, taken over without a copy */
    int64_t copied, copies;
    const char *adopted_as;  /* "mmap", "borrowed", "shared"; NULL: nothing was adopted */
    const char *copy_reason; /* of the last copy; NULL: none was given */
    const char *made_reason; /* of the last block; NULL: none was given */
} Tally;

/* `last_serial`: of the youngest storage before the stretch. */
Tally tally_of(const Event *events, int64_t count, int64_t last_serial);

#endif
