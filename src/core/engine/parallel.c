/* The caller takes chunks from the front and workers from the back, until together they have taken all: over the same
 * memory again and again, each finds in its own caches what it left there (1e6 floats written: 30 us, and 50 with
 * chunks taken in turns). Then the caller waits only for workers that have joined: one that the system never scheduled
 * costs nothing. Threads start on the first large job; an idle worker spins briefly (jobs come in bursts), then sleeps.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/base/error_impl.h"
#include "core/parallel.h"

/* SPIN_ROUNDS: how often a worker looks for the next job before it sleeps. It trades processor time between jobs
 * against the microseconds that waking a thread takes. */
enum { MAX_THREADS = 64, SPIN_ROUNDS = 4000 };

typedef struct Job {
    TsrRangeFn fn;
    void *user;
    int64_t n, chunk, count; /* numbers, those of a chunk, chunks */
    _Atomic int64_t taken;   /* chunks; may grow beyond `count` */
    int64_t front;           /* of them by the caller: the first ones */
    uint32_t since;          /* the caller's tsr_interrupt_own.since */
    _Atomic int64_t back;    /* by workers: the last ones */
    atomic_bool stop;
    TsrStatus status; /* under lock: of the first range that failed, its text in `message` */
    char message[256];
} Job;

static struct {
    pthread_mutex_t owner; /* held by the thread that runs a job */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Job job;
    bool open;                   /* under lock: the job may be joined */
    atomic_int running;          /* workers inside the job */
    _Atomic uint64_t generation; /* of jobs: spinning workers watch it */
    int sleeping;                /* under lock */
    int started;
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static _Atomic int wanted_threads;     /* 0: not set */
static _Thread_local TsrStatus failed; /* what tsr_parallel_fail said in a range run by this thread alone */
static _Thread_local Job *taking;      /* the shared job this thread works at */

static void pause_cpu(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static int cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

int tsr_num_threads(void) {
    int n = atomic_load_explicit(&wanted_threads, memory_order_relaxed);
    if (TSR_LIKELY(n != 0)) return n;
    const char *text = getenv("OMP_NUM_THREADS");
    n = text != NULL ? atoi(text) : 0;
    n = TSR_MIN(n > 0 ? n : cpu_count(), MAX_THREADS);
    wanted_threads = n;
    return n;
}

void tsr_set_num_threads(int n) { wanted_threads = n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n; }

int tsr_parallel_width(void) { return tsr_in_job ? 1 : tsr_num_threads(); }

/* The first failure of a shared job is kept for the thread that asked for it: errors are thread-local. */
static void fail_shared(Job *job, TsrStatus status) {
    pthread_mutex_lock(&pool.lock);
    if (job->status == TSR_OK) {
        job->status = status;
        snprintf(job->message, sizeof job->message, "%s", tsr_error_message());
    }
    pthread_mutex_unlock(&pool.lock);
    atomic_store(&job->stop, true);
}

void tsr_parallel_fail(TsrStatus status) {
    if (taking != NULL) fail_shared(taking, status);
    else if (failed == TSR_OK) failed = status;
}

static int64_t next_chunk(Job *job, bool caller) {
    return caller ? job->front++ : job->count - 1 - atomic_fetch_add_explicit(&job->back, 1, memory_order_relaxed);
}

/* A worker's fault is the caller's error. */
static void fail_by_fault(Job *job) {
    TsrStatus status = tsr_interrupt_raise_fault();
    if (status != TSR_OK) fail_shared(job, status);
}

/* `caller`: the thread that asked for the job. It watches for an interrupt, which is raised once all have stopped. */
static void take_chunks(Job *job, bool caller) {
    taking = job;
    if (!caller) tsr_interrupt_own.since = job->since;
    while (!atomic_load_explicit(&job->stop, memory_order_relaxed)) {
        if (caller && TSR_UNLIKELY(tsr_interrupt_flag != 0)) {
            atomic_store(&job->stop, true);
            break;
        }
        if (atomic_fetch_add_explicit(&job->taken, 1, memory_order_relaxed) >= job->count) break;
        int64_t begin = job->chunk * next_chunk(job, caller);
        job->fn(begin, TSR_MIN(begin + job->chunk, job->n), job->user);
        if (TSR_UNLIKELY(tsr_interrupt_own.fault != 0) && !caller) fail_by_fault(job);
    }
    taking = NULL;
}

/* Joins the open job, if there is one. */
static void try_job(void) {
    pthread_mutex_lock(&pool.lock);
    bool joined = pool.open;
    if (joined) atomic_fetch_add(&pool.running, 1);
    pthread_mutex_unlock(&pool.lock);
    if (!joined) return;
    take_chunks(&pool.job, false);
    tsr_memory_live(); /* what this worker counted becomes seen before the job ends */
    atomic_fetch_sub_explicit(&pool.running, 1, memory_order_release);
}

/* Returns when there is a newer job than `seen`. */
static uint64_t await_job(uint64_t seen) {
    for (int i = 0; i < SPIN_ROUNDS; i++) {
        uint64_t now = atomic_load_explicit(&pool.generation, memory_order_acquire);
        if (now != seen) return now;
        pause_cpu();
    }
    pthread_mutex_lock(&pool.lock);
    pool.sleeping++;
    while (pool.generation == seen) pthread_cond_wait(&pool.wake, &pool.lock);
    pool.sleeping--;
    uint64_t now = pool.generation;
    pthread_mutex_unlock(&pool.lock);
    return now;
}

static void *worker(void *arg) {
    uint64_t seen = (uint64_t)(uintptr_t)arg;
    tsr_in_job = true;
    for (;;) {
        seen = await_job(seen);
        try_job();
    }
    return NULL;
}

static void child_after_fork(void) {
    pool.started = 0;
    pool.sleeping = 0;
    pool.open = false;
    pool.running = 0;
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
}

/* A failure to start is no error: the work is done by fewer. */
static void start_workers(int n) {
    if (pool.started == 0) pthread_atfork(NULL, NULL, child_after_fork);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    while (pool.started < n) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, worker, (void *)(uintptr_t)pool.generation) != 0) break;
        pool.started++;
    }
    pthread_attr_destroy(&attr);
}

static void open_job(TsrRangeFn fn, void *user, int64_t n, int64_t chunk) {
    pthread_mutex_lock(&pool.lock);
    pool.job.fn = fn;
    pool.job.user = user;
    pool.job.since = tsr_interrupt_own.since;
    pool.job.n = n;
    pool.job.chunk = chunk;
    pool.job.status = TSR_OK;
    pool.job.count = (n + chunk - 1) / chunk;
    pool.job.front = 0;
    atomic_store(&pool.job.taken, 0);
    atomic_store(&pool.job.back, 0);
    atomic_store(&pool.job.stop, false);
    pool.open = true;
    atomic_fetch_add_explicit(&pool.generation, 1, memory_order_release);
    if (pool.sleeping > 0) pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
}

static void close_job(void) {
    pthread_mutex_lock(&pool.lock);
    pool.open = false;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; atomic_load_explicit(&pool.running, memory_order_acquire) != 0; i++) {
        if (i < 20000) pause_cpu();
        else sched_yield();
    }
}

/* A range run here may fail, or call for a job of its own: what belongs to the outer one is put back. */
static TsrStatus run_serial(int64_t n, int64_t chunk, TsrRangeFn fn, void *user) {
    Job *outer = taking;
    TsrStatus outer_failed = failed, status = TSR_OK;
    taking = NULL;
    failed = TSR_OK;
    for (int64_t begin = 0; begin < n && status == TSR_OK; begin += chunk) {
        fn(begin, TSR_MIN(begin + chunk, n), user);
        status = failed != TSR_OK ? failed : tsr_interrupt_check();
    }
    taking = outer;
    failed = outer_failed;
    return status;
}

static TsrStatus run_shared(int64_t n, int64_t chunk, TsrRangeFn fn, void *user) {
    tsr_in_job = true;
    open_job(fn, user, n, chunk);
    take_chunks(&pool.job, true);
    close_job();
    tsr_in_job = false;
    Job *job = &pool.job;
    TSR_TRY(tsr_interrupt_check());
    return job->status == TSR_OK ? TSR_OK : tsr_error(job->status, "%s", job->message);
}

TsrStatus tsr_parallel_for(int64_t n, int64_t grain, TsrRangeFn fn, void *user) {
    if (n <= 0) return TSR_OK;
    int threads = tsr_num_threads();
    if (grain < 1) grain = 1;
    /* At least 16 chunks a thread, so that a slow one holds up little, and none so long that an interrupt must wait. */
    int64_t chunk = TSR_MIN(TSR_MAX(grain, n / ((int64_t)threads * 16) + 1), grain * 32);
    if (chunk > 16384) chunk = (chunk + 1023) / 1024 * 1024; /* whole pages of floats */
    else if (chunk > 1024) chunk = (chunk + 63) / 64 * 64;   /* whole vectors */
    if (threads == 1 || tsr_in_job || n <= grain || pthread_mutex_trylock(&pool.owner) != 0)
        return run_serial(n, chunk, fn, user);
    if (pool.started < threads - 1) start_workers(threads - 1);
    TsrStatus status = run_shared(n, chunk, fn, user);
    pthread_mutex_unlock(&pool.owner);
    return status;
}
