/* tally.h: the sums of a stretch of the log of events: what memory was taken, kept and given back, what was copied. */
#ifndef SHOW_WATCH_TALLY_H
#define SHOW_WATCH_TALLY_H

#include "events.h"

/* All in bytes but `copies`. Tensors on meta have no memory. */
typedef struct Tally {
    int64_t allocated;  /* all that allocators gave */
    int64_t made;       /* the part of it for storages that were made */
    int64_t moved;      /* the part of it for storages that were there before */
    int64_t given_back; /* memory allocated in this stretch that went back */
    int64_t freed;      /* memory from before that went back */
    int64_t adopted;    /* mappings and borrowed bytes, taken over without a copy */
    int64_t copied, copies;
    const char *adopted_as;  /* "mmap", "borrowed", "shared"; NULL: nothing was adopted */
    const char *copy_reason; /* the last copy's; NULL: none was given */
    const char *made_reason; /* the last block's; NULL: none was given */
} Tally;

/* `last_serial`: the serial of the youngest storage from before the stretch. */
Tally tally_of(const Event *events, int64_t count, int64_t last_serial);

#endif
