/* copy.h: what is tried out is tried out on a copy of the process.
 *
 * A copy (fork) has every name, element, count, handle, setting and id of the process, at the cost of a millisecond:
 * whatever a learner's statement writes, frees or binds is undone by going on from where the copy was made. What it
 * did to the world (files written, text printed) stays. */
#ifndef REPL_LESSON_COPY_H
#define REPL_LESSON_COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory that every copy made from here on shares with this process; NULL when there is none. */
void *copy_shared(size_t bytes);
void copy_free(void *shared, size_t bytes); /* what copy_shared gave, for this process; NULL is fine */

/* Runs work(context) in a copy, and waits for its end. What it did is gone then, but for what it wrote into shared
 * memory. `quiet`: it reads nothing and what it prints is dropped. False when there could be no copy, or it ended
 * before `work` did. */
bool copy_run(void (*work)(void *context), void *context, bool quiet);
/* The same, where what it wrote into storages that processes share (share_memory_) stays. False, too, when `work`
 * returned false. */
bool copy_call(bool (*work)(void *context), void *context, bool quiet);

/* Work without a result, as copy_call takes it: copy_work(&(CopyWork){work, context}) is true. */
typedef struct CopyWork {
    void (*work)(void *context);
    void *context;
} CopyWork;
bool copy_work(void *work);

/* A place to come back to. */
typedef struct Snapshot {
    int keeper; /* how the copy tells the process that waits; -1: there is none */
} Snapshot;

/* Goes on in a copy, where it returns true. Should that copy (and those that went on from it) end, by snapshot_undo or
 * by a crash, it returns a second time, false, with everything as it was at the call. When no copy can be made it
 * returns true, and nothing can be undone. */
bool snapshot_take(Snapshot *s);
/* What happened since stays: nobody waits any more. */
void snapshot_keep(Snapshot *s);
/* Ends this copy, so that snapshot_take returns false. Returns only when there is nothing to come back to. */
void snapshot_undo(const Snapshot *s);

/* What was printed so far leaves the process, before a copy of it is made. */
void copy_flush(void);
/* Output of this process is dropped, and its input empty, between the two; they nest. False: it could not be. */
typedef struct Quiet {
    int saved[3];
} Quiet;
bool quiet_begin(Quiet *q);
void quiet_end(const Quiet *q);

#endif
