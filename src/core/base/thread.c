/* thread.c: functions to run when a thread ends, and the slow way of the small lock (thread.h).
 *
 * One pthread key with a destructor serves all hooks. A thread is watched once its value of the key is set; its
 * destructor then calls every registered function in the ending thread, where that function finds its thread-local free
 * list or counters. */
#include "thread.h"

#include <pthread.h>
#include <sched.h>

/* Modules that keep something for each thread: a handful. What does not fit is not called, which costs its free list.
 */
enum { MAX_HOOKS = 8 };
static void (*hooks[MAX_HOOKS])(void);
static int nhooks;
static TsrLock hooks_lock;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool have_key;

/* The owner holds the lock for a few instructions: give it the processor rather than sleep. */
void tsr_lock_wait(TsrLock *lock) {
    while (__atomic_exchange_n((bool *)&lock->held, true, __ATOMIC_ACQUIRE)) sched_yield();
}

static void thread_ends(void *unused) {
    (void)unused;
    for (int i = 0; i < nhooks; i++) hooks[i]();
}

void tsr_thread_drop(void) { thread_ends(NULL); }

static void make_key(void) { have_key = pthread_key_create(&key, thread_ends) == 0; }

void tsr_thread_at_end(void (*fn)(void)) {
    tsr_lock(&hooks_lock);
    bool known = false;
    for (int i = 0; i < nhooks; i++) known |= hooks[i] == fn;
    if (!known && nhooks < MAX_HOOKS) hooks[nhooks++] = fn;
    tsr_unlock(&hooks_lock);
}

void tsr_thread_watch(void) {
    static _Thread_local bool watched;
    if (watched) return;
    watched = true;
    pthread_once(&once, make_key);
    if (have_key && pthread_getspecific(key) == NULL) pthread_setspecific(key, hooks);
}
