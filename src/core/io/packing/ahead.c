/* ahead.c: unpacking beside parsing (ahead.h).
 *
 * The thread fills blocks in turn and waits when all are full; the reader takes them in that order, and an error, with
 * its message, stands behind the last good block. A pipe may be silent for ever: the thread looks at it together with a
 * pipe of its own, through which the end is told. Signals are the other threads' to take, and interrupts the reader's
 * to find. */
#include "ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/thread.h"
#include "core/mem.h"
#include "core/parallel.h"
#include "unpack.h"

enum { BLOCKS = 8, BLOCK = 1 << 20, PACKED_ROOM = 1 << 18, WAIT_MS = 20 };

struct TsrAhead {
    TsrUnpacker *unpacker;
    TsrInput in;
    int fd;
    char *packed; /* PACKED_ROOM bytes, of which [packed_at, packed_n) are to be unpacked */
    size_t packed_at, packed_n;
    bool packed_end;
    _Atomic uint64_t bytes;
    bool beside; /* the thread is there, and has all above to itself */
    pid_t owner;
    pthread_t thread;
    int wake[2];
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t change;
    char *block[BLOCKS];  /* block i % BLOCKS for taken <= i < made are full, with n[i % BLOCKS] bytes each */
    size_t n[BLOCKS], at; /* at: of the first, bytes taken already */
    uint64_t made, taken;
    bool ended, stop;
    TsrStatus failed;
    char message[1024];
};

/* ---- what the thread does ---- */

static bool told_to_stop(TsrAhead *a) {
    pthread_mutex_lock(&a->lock);
    const bool stop = a->stop;
    pthread_mutex_unlock(&a->lock);
    return stop;
}

/* Waits until a read gives something. */
static void await_bytes(TsrAhead *a) {
    struct pollfd sources[2] = {{.fd = a->fd, .events = POLLIN}, {.fd = a->wake[0], .events = POLLIN}};
    if (a->beside) (void)poll(sources, 2, -1);
}

/* Some more packed bytes, or their end. */
static TsrStatus read_packed(TsrAhead *a) {
    for (;;) {
        await_bytes(a);
        if (a->beside && told_to_stop(a)) return TSR_OK;
        const ssize_t n = read(a->fd, a->packed, PACKED_ROOM);
        if (n < 0 && errno != EINTR) return tsr_error_errno(errno, a->in.name);
        if (!a->beside) TSR_TRY(tsr_interrupt_check());
        if (n < 0) continue;
        a->packed_at = 0;
        a->packed_n = (size_t)n;
        a->packed_end = n == 0;
        a->bytes += (uint64_t)n;
        return TSR_OK;
    }
}

/* *got 0: all was unpacked. */
static TsrStatus unpack_some(size_t *got, TsrAhead *a, char *to, size_t room) {
    for (*got = 0; *got == 0;) {
        if (a->packed_at == a->packed_n && !a->packed_end) TSR_TRY(read_packed(a));
        if (a->beside && told_to_stop(a)) return TSR_OK;
        const char *p = a->packed + a->packed_at;
        size_t left = a->packed_n - a->packed_at;
        TSR_TRY(tsr_unpacker_step(got, a->unpacker, &a->in, &p, &left, to, room));
        a->packed_at = a->packed_n - left;
        if (*got == 0 && a->packed_end) return tsr_unpacker_finish(a->unpacker, &a->in);
        if (!a->beside) TSR_TRY(tsr_interrupt_check());
    }
    return TSR_OK;
}

static TsrStatus fill_block(size_t *n, TsrAhead *a, char *block) {
    size_t got = 1;
    TsrStatus status = TSR_OK;
    for (*n = 0; *n < BLOCK && got > 0 && status == TSR_OK; *n += got)
        if ((status = unpack_some(&got, a, block + *n, BLOCK - *n)) != TSR_OK) got = 0;
    return status;
}

/* The block to fill next; NULL: the reader wants no more. */
static char *free_block(TsrAhead *a) {
    pthread_mutex_lock(&a->lock);
    while (a->made - a->taken == BLOCKS && !a->stop) pthread_cond_wait(&a->change, &a->lock);
    char *block = a->stop ? NULL : a->block[a->made % BLOCKS];
    pthread_mutex_unlock(&a->lock);
    return block;
}

static void hand_over(TsrAhead *a, size_t n, TsrStatus status) {
    pthread_mutex_lock(&a->lock);
    if (n > 0) a->n[a->made++ % BLOCKS] = n;
    a->ended = n < BLOCK || status != TSR_OK;
    a->failed = status;
    if (status != TSR_OK) snprintf(a->message, sizeof a->message, "%s", tsr_error_message());
    pthread_cond_broadcast(&a->change);
    pthread_mutex_unlock(&a->lock);
}

static void *work(void *arg) {
    TsrAhead *a = arg;
    char *block;
    while (!a->ended && (block = free_block(a)) != NULL) {
        size_t n;
        const TsrStatus status = fill_block(&n, a, block);
        hand_over(a, n, status);
    }
    tsr_error_clear();
    tsr_thread_drop();
    return NULL;
}

/* ---- beginning and end ---- */

static void init_locks(TsrAhead *a) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->change, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* With the signals of the process blocked. */
static bool start_thread(TsrAhead *a) {
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGSEGV), sigdelset(&others, SIGBUS), sigdelset(&others, SIGFPE), sigdelset(&others, SIGILL);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    const bool started = pthread_create(&a->thread, NULL, work, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static void free_blocks(TsrAhead *a) {
    for (int i = 0; i < BLOCKS; i++) {
        tsr_free(a->block[i]);
        a->block[i] = NULL;
    }
}

/* A failure is no error: the bytes are unpacked as they are asked for. */
static void go_beside(TsrAhead *a) {
    if (tsr_num_threads() < 2 || pipe2(a->wake, O_CLOEXEC) != 0) return;
    bool room = true;
    for (int i = 0; i < BLOCKS; i++) room = (a->block[i] = tsr_malloc(BLOCK)) != NULL && room;
    a->owner = getpid();
    a->beside = room;
    if (room && start_thread(a)) return;
    a->beside = false;
    free_blocks(a);
}

TsrStatus tsr_ahead_new(TsrAhead **out, const TsrInput *in, int fd, const char *begun, size_t n, bool beside) {
    TsrUnpacker *unpacker;
    *out = NULL;
    TSR_TRY(tsr_unpacker_new(&unpacker, begun, n));
    if (unpacker == NULL) return TSR_OK;
    TsrAhead *a = tsr_calloc(1, sizeof *a);
    if (a == NULL) {
        tsr_unpacker_free(unpacker);
        return tsr_error_no_memory(sizeof *a);
    }
    a->unpacker = unpacker;
    a->in = (TsrInput){.name = in->name};
    a->fd = fd;
    a->wake[0] = a->wake[1] = -1;
    init_locks(a);
    a->packed = tsr_malloc(TSR_MAX(n, (size_t)PACKED_ROOM));
    if (a->packed == NULL) {
        tsr_ahead_free(a);
        return tsr_error_no_memory(PACKED_ROOM);
    }
    memcpy(a->packed, begun, n);
    a->packed_n = n;
    if (beside) go_beside(a);
    *out = a;
    return TSR_OK;
}

/* A child of the process has a copy of all but the thread. */
static bool has_thread(const TsrAhead *a) { return a->beside && a->owner == getpid(); }

static void end_thread(TsrAhead *a) {
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->change);
    pthread_mutex_unlock(&a->lock);
    while (write(a->wake[1], "", 1) < 0 && errno == EINTR) continue;
    pthread_join(a->thread, NULL);
}

void tsr_ahead_free(TsrAhead *a) {
    if (a == NULL) return;
    if (has_thread(a)) end_thread(a);
    for (int i = 0; i < 2; i++)
        if (a->wake[i] >= 0) close(a->wake[i]);
    free_blocks(a);
    tsr_unpacker_free(a->unpacker);
    tsr_free(a->packed);
    tsr_free(a);
}

uint64_t tsr_ahead_bytes(const TsrAhead *a) { return a->bytes; }

/* ---- what the reader does ---- */

/* Under the lock: some milliseconds, or until there is something new. */
static void wait_a_little(TsrAhead *a) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MS * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&a->change, &a->lock, &until);
}

/* The first full block; NULL: there is none, and none comes, or an interrupt is pending. */
static const char *full_block(size_t *n, TsrAhead *a) {
    pthread_mutex_lock(&a->lock);
    while (a->taken == a->made && !a->ended && !tsr_interrupt_pending()) wait_a_little(a);
    const char *block = a->taken < a->made ? a->block[a->taken % BLOCKS] : NULL;
    if (block != NULL) *n = a->n[a->taken % BLOCKS];
    pthread_mutex_unlock(&a->lock);
    return block;
}

static void give_back(TsrAhead *a) {
    pthread_mutex_lock(&a->lock);
    a->taken++;
    a->at = 0;
    pthread_cond_broadcast(&a->change);
    pthread_mutex_unlock(&a->lock);
}

static TsrStatus take_block(size_t *got, TsrAhead *a, char *to, size_t room) {
    size_t n;
    const char *block = full_block(&n, a);
    *got = 0;
    TSR_TRY(tsr_interrupt_check());
    if (block == NULL) return a->failed == TSR_OK ? TSR_OK : tsr_error(a->failed, "%s", a->message);
    *got = TSR_MIN(room, n - a->at);
    memcpy(to, block + a->at, *got);
    a->at += *got;
    if (a->at == n) give_back(a);
    return TSR_OK;
}

TsrStatus tsr_ahead_next(size_t *got, TsrAhead *a, char *to, size_t room) {
    if (!a->beside) return unpack_some(got, a, to, room);
    if (!has_thread(a)) return tsr_input_error(&a->in, "it is unpacked in the process that opened it");
    return take_block(got, a, to, room);
}
