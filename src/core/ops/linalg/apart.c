/* Calls of LAPACK that an interrupt leaves behind.
 *
 * A routine of LAPACK cannot be stopped. A long one runs on a thread of its own, and the caller waits for it or for an
 * interrupt, whichever comes first. After an interrupt the caller goes on, and the routine runs to its end over memory
 * that nobody else sees: the storages that it works in, held until then and counted as ever, and a copy of what
 * describes the call. So few may be left behind; a further long call first waits for one of them to end.
 *
 * The process must not end by exit() meanwhile, which would take BLAS's buffers away under the routine: a handler of
 * exit waits, and a program that would rather not uses _exit (tsr_calls_left). */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "la.h"
#include "core/memory/alloc_impl.h"
#include "core/mem.h"
#include "core/parallel.h"

/* WAIT_MS: how often the caller looks for an interrupt. LONG_FROM: multiplications, of the order of the cube of a
 * matrix's size; what takes some 20 ms or less is not worth a thread. MOST_LEFT: each keeps a processor busy. */
enum { WAIT_MS = 5, MOST_LEFT = 2, LONG_FROM = 128 * 128 * 128 };

typedef struct Apart {
    void (*run)(void *context);
    int threads; /* of the library, as tsr_blas_limit takes them */
    bool done, left;
    TsrStorage *held[TSR_LA_TOUCHED]; /* once it is left behind */
    _Alignas(max_align_t) char context[];
} Apart;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `done` and `left` of each, and of `calls_left` */
static pthread_cond_t change;                            /* one is done */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls_left;

int tsr_calls_left(void) {
    pthread_mutex_lock(&lock);
    int n = calls_left;
    pthread_mutex_unlock(&lock);
    return n;
}

static void wait_for_all(void) {
    pthread_mutex_lock(&lock);
    while (calls_left > 0) pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
}

static void make_condition(void) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&change, &attr);
    pthread_condattr_destroy(&attr);
}

static void child_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    make_condition();
    calls_left = 0; /* a child has none of the threads */
}

static void prepare(void) {
    make_condition();
    pthread_atfork(NULL, NULL, child_after_fork);
    atexit(wait_for_all);
}

/* What this thread frees is in nobody's trace: a trace is the list of one thread. */
static void free_left_move(Apart *a) {
    tsr_trace_off = true;
    for (size_t i = 0; i < TSR_LA_TOUCHED; i++) tsr_storage_free(a->held[i]);
    tsr_free(a);
}

static void *work(void *arg) {
    Apart *a = arg;
    tsr_blas_limit(a->threads);
    a->run(a->context);
    pthread_mutex_lock(&lock);
    bool left = a->left;
    a->done = true;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    if (!left) return NULL;
    free_left_move(a);
    tsr_thread_drop(); /* the blocks that were kept for this thread */
    pthread_mutex_lock(&lock);
    calls_left--;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under the lock: some milliseconds, or until one is done. */
static void wait_a_little(void) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MS * 1000000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&change, &lock, &until);
}

/* Until there is room for one more to be left behind. */
static TsrStatus wait_for_room(void) {
    pthread_mutex_lock(&lock);
    while (calls_left >= MOST_LEFT && !tsr_interrupt_pending()) wait_a_little();
    pthread_mutex_unlock(&lock);
    return tsr_interrupt_check();
}

/* With the signals of the process blocked, which are the other threads' to take. */
static bool start(Apart *a) {
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t others, before;
    sigfillset(&others);
    sigdelset(&others, SIGSEGV), sigdelset(&others, SIGBUS), sigdelset(&others, SIGFPE), sigdelset(&others, SIGILL);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    bool started = pthread_create(&thread, &attr, work, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return started;
}

/* Whether it has ended. If not, an interrupt came, and the storages are the thread's now, too. */
static bool wait_for_end(Apart *a, TsrTensor *const *touched, int n) {
    pthread_mutex_lock(&lock);
    while (!a->done && !tsr_interrupt_pending()) wait_a_little();
    bool done = a->done;
    if (!done) {
        bool off = tsr_trace_off;
        tsr_trace_off = true;
        for (int i = 0; i < n; i++) a->held[i] = touched[i] != NULL ? tsr_storage_retain(touched[i]->storage) : NULL;
        tsr_trace_off = off;
        a->left = true;
        calls_left++;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static bool is_long(int64_t m, int64_t n, int64_t k) {
    int64_t mn, steps;
    return tsr_mul_overflows(m, n, &mn) || tsr_mul_overflows(mn, k, &steps) || steps >= LONG_FROM;
}

TsrStatus tsr_la_apart(const int64_t size[3], void (*run)(void *context), void *context, size_t bytes,
                       TsrTensor *const *touched, int n) {
    if (!is_long(size[0], size[1], size[2])) {
        run(context);
        return tsr_interrupt_check();
    }
    pthread_once(&once, prepare);
    TSR_TRY(wait_for_room());
    Apart *a = tsr_calloc(1, sizeof *a + bytes);
    if (a == NULL) return tsr_error_no_memory(sizeof *a + bytes);
    a->run = run;
    a->threads = tsr_blas_limited();
    memcpy(a->context, context, bytes);
    bool started = start(a), done = !started || wait_for_end(a, touched, n);
    if (!started) run(a->context); /* no thread to be had: nothing stops it */
    if (!done) {
        TsrStatus status = tsr_interrupt_check();
        return status != TSR_OK ? status : tsr_error(TSR_KEYBOARD_INTERRUPT, "%s", "");
    }
    memcpy(context, a->context, bytes);
    tsr_free(a);
    return tsr_interrupt_check();
}
