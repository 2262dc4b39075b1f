/* thread.h: what must happen when a thread ends, and a small lock. */
#ifndef CORE_BASE_THREAD_H
#define CORE_BASE_THREAD_H

#include "core/base.h"

/* Calls fn in every thread that ends after having called tsr_thread_watch. Register once. */
void tsr_thread_at_end(void (*fn)(void));
/* Makes the registered functions run when this thread ends. Call it when the thread first keeps something. */
void tsr_thread_watch(void);
/* Runs the same functions now, in this thread: what it keeps for reuse goes back. */
void tsr_thread_drop(void);

/* A spin lock for a few instructions; never held across a call that may block. Starts unlocked when zeroed. */
typedef struct TsrLock {
    _Atomic bool held;
} TsrLock;
/* The contended case of tsr_lock. */
void tsr_lock_wait(TsrLock *lock);
/* Waits for the lock and takes it. */
static inline void tsr_lock(TsrLock *lock) {
    if (TSR_UNLIKELY(__atomic_exchange_n((bool *)&lock->held, true, __ATOMIC_ACQUIRE))) tsr_lock_wait(lock);
}
/* Gives the lock back; only the thread that took it may. */
static inline void tsr_unlock(TsrLock *lock) { __atomic_store_n((bool *)&lock->held, false, __ATOMIC_RELEASE); }

#endif
