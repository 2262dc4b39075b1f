/* beside.c: kernels compiled by a thread of their own, one after the other, while the program goes on (compile.h). The
 * thread begins with the first one; a process that ends waits for the one it is at, since NVRTC does not bear being
 * left in the middle of its work. */
#include <pthread.h>
#include <string.h>

#include "compile.h"

struct CudaJob {
    CudaJob *next;
    char *text;
    int index;
    bool done;
    TsrStatus status;
    CudaImage image;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static CudaJob *first, **end = &first;
static bool started, stopping;
static pthread_t thread;

static CudaJob *next_job(void) {
    pthread_mutex_lock(&lock);
    while (first == NULL && !stopping) pthread_cond_wait(&news, &lock);
    CudaJob *job = stopping ? NULL : first;
    if (job != NULL && (first = job->next) == NULL) end = &first;
    pthread_mutex_unlock(&lock);
    return job;
}

static void *work(void *unused) {
    (void)unused;
    for (CudaJob *job = next_job(); job != NULL; job = next_job()) {
        job->status = cuda_compile(&job->image, job->index, job->text);
        __atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* The thread is the parent's, and so is what it was at: the next job begins one here. */
static void child_after_fork(void) {
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&news, NULL);
    started = false;
}

/* The lock is held. */
static void start(void) {
    static bool watched;
    if (!watched) watched = pthread_atfork(NULL, NULL, child_after_fork) == 0;
    started = pthread_create(&thread, NULL, work, NULL) == 0;
}

__attribute__((destructor)) static void stop(void) {
    pthread_mutex_lock(&lock);
    stopping = true;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    if (started) pthread_join(thread, NULL);
}

CudaJob *cuda_job_new(int index, const char *text) {
    size_t n = strlen(text) + 1;
    CudaJob *job = cuda_host->malloc(sizeof *job + n);
    if (job == NULL) return NULL;
    *job = (CudaJob){.text = (char *)(job + 1), .index = index};
    memcpy(job->text, text, n);
    pthread_mutex_lock(&lock);
    if (!started) start();
    bool goes = started;
    if (goes) *end = job, end = &job->next;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&lock);
    if (goes) return job;
    cuda_host->free(job);
    return NULL;
}

bool cuda_job_done(const CudaJob *job) { return __atomic_load_n(&job->done, __ATOMIC_ACQUIRE); }

TsrStatus cuda_job_end(CudaImage *out, CudaJob *job) {
    TsrStatus status = job->status;
    *out = job->image;
    cuda_host->free(job);
    return status;
}
