/* races.h: which pieces of work on a device are in an order, and which touch the same bytes without one. */
#ifndef CUDA_RACES_H
#define CUDA_RACES_H

#include "driver.h"

enum { RACE_STREAMS = 256 };
/* How far each stream has come that something waits for: a vector clock. */
typedef struct RaceClock {
    uint32_t at[RACE_STREAMS];
} RaceClock;

/* Work of a stream on bytes. Tells of a race with the last work on them. */
void races_use(int index, int64_t id, TsrAddress address, size_t bytes, bool writes);
void races_host_waits(int index, int64_t id);                   /* for all work of a stream */
void races_host_waits_all(int index);                           /* for all work of a device */
void races_record(RaceClock *clock, int index, int64_t id);     /* all that the stream has done and waited for */
void races_wait(const RaceClock *clock, int index, int64_t id); /* the stream waits for that */
void races_host_waits_for(const RaceClock *clock);
void races_forget(TsrAddress address, size_t bytes); /* the driver took the memory back */

#endif
