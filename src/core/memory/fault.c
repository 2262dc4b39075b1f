/* fault.c: memory faults inside watched regions become error reports instead of crashes.
 *
 * The handlers are installed when the program asks for them (tsr_catch_faults in alloc.h). One looks for the region of
 * the address, has it repaired, and notes region and address in thread-local memory, where the thread's next interrupt
 * check finds them. A noted region is held until then, whoever forgets it meanwhile. Any other fault, and a signal that
 * another process sent, goes to the handler from before.
 *
 * The handler takes the lock of the list. That is safe since nothing that may fault runs under it: a thread that faults
 * does not hold it. */
#include "alloc_impl.h"
#include "core/base/error_impl.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static TsrFaultRegion *regions;
static TsrLock lock; /* of the list, and of the holders of each region */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction old_segv, old_bus;
static int failed; /* errno of the installation */
_Atomic int tsr_memory_lost;

/* What this thread has to report: its first fault since the last report, and a message posted. */
static _Thread_local struct {
    TsrFaultRegion *region; /* held */
    char *address;
    char posted[256];
} mine TSR_EARLY_TLS;

/* ---- in the handler ---- */

static void note(TsrFaultRegion *r, char *address) {
    if (r->lost != NULL) tsr_memory_lost = 1;
    tsr_interrupt_own.fault = 1;
    if (mine.region != NULL) return;
    mine.region = r;
    mine.address = address;
    r->holders++;
}

static bool repaired(char *address) {
    bool good = false;
    tsr_lock(&lock);
    for (TsrFaultRegion *r = regions; r != NULL; r = r->next) {
        if (address < r->start || address >= r->start + r->length) continue;
        good = r->repair(r, address);
        if (good) note(r, address);
        break;
    }
    tsr_unlock(&lock);
    return good;
}

/* As the kernel would have called it: with its mask, once only where it asked for that. The kernel puts the mask back
 * when ours returns. */
static void call_old(struct sigaction *old, int number, siginfo_t *info, void *context) {
    struct sigaction was = *old;
    if ((was.sa_flags & SA_NODEFER) == 0) sigaddset(&was.sa_mask, number);
    pthread_sigmask(SIG_BLOCK, &was.sa_mask, NULL);
    if ((was.sa_flags & SA_RESETHAND) != 0) old->sa_handler = SIG_DFL;
    if ((was.sa_flags & SA_SIGINFO) != 0) was.sa_sigaction(number, info, context);
    else was.sa_handler(number);
}

/* A fault ends the process when its instruction runs again; a signal that was sent has to be sent again. */
static void end_by_default(int number, bool sent) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(number, &action, NULL);
    if (sent) raise(number);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    struct sigaction *old = number == SIGSEGV ? &old_segv : &old_bus;
    bool sent = info->si_code <= 0; /* by kill and its like: there is no address */
    int err = errno;
    if (!sent && repaired(info->si_addr)) {
    } else if (old->sa_handler == SIG_DFL || (old->sa_handler == SIG_IGN && !sent)) {
        end_by_default(number, sent); /* a fault cannot be ignored */
    } else if (old->sa_handler != SIG_IGN) {
        call_old(old, number, info, context);
    }
    errno = err;
}

static void install_one(int number, struct sigaction *old) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, old) != 0 || sigaction(number, &action, NULL) != 0) failed = errno;
}

static void install(void) {
    install_one(SIGSEGV, &old_segv);
    install_one(SIGBUS, &old_bus);
}

TsrStatus tsr_catch_faults(void) {
    pthread_once(&once, install);
    return failed == 0 ? TSR_OK : tsr_error_errno(failed, NULL);
}

/* ---- reports ---- */

/* Whoever lets the last one go frees the region. */
static void let_go_move(TsrFaultRegion *region) {
    tsr_lock(&lock);
    bool last = --region->holders == 0;
    tsr_unlock(&lock);
    if (last) region->release(region);
}

static TsrStatus raise_posted(void) {
    char text[sizeof mine.posted];
    memcpy(text, mine.posted, sizeof text);
    mine.posted[0] = '\0';
    return tsr_error(TSR_RUNTIME_ERROR, "%s", text);
}

static TsrStatus raise_own(void) {
    TsrFaultRegion *region = mine.region;
    if (region != NULL && mine.posted[0] != '\0') tsr_interrupt_own.fault = 1; /* the other one comes next */
    if (mine.posted[0] != '\0') return raise_posted();
    if (region == NULL) return TSR_OK;
    mine.region = NULL;
    TsrStatus status = region->report(region, mine.address);
    let_go_move(region);
    return status;
}

static void prepare(void) { tsr_interrupt_fault = raise_own; }

static void be_ready(void) {
    static pthread_once_t ready = PTHREAD_ONCE_INIT;
    pthread_once(&ready, prepare);
}

void tsr_fault_watch(TsrFaultRegion *region) {
    be_ready();
    tsr_lock(&lock);
    region->holders = 1;
    region->prev = NULL;
    region->next = regions;
    if (regions != NULL) regions->prev = region;
    regions = region;
    tsr_unlock(&lock);
}

/* Under the lock. */
static bool any_lost(void) {
    for (const TsrFaultRegion *r = regions; r != NULL; r = r->next)
        if (r->lost != NULL) return true;
    return false;
}

void tsr_fault_forget_move(TsrFaultRegion *region) {
    tsr_lock(&lock);
    if (region->prev != NULL) region->prev->next = region->next;
    else regions = region->next;
    if (region->next != NULL) region->next->prev = region->prev;
    if (region->lost != NULL && !any_lost()) tsr_memory_lost = 0; /* nothing that is left has to be asked about */
    tsr_unlock(&lock);
    let_go_move(region);
}

static bool is_lost(const TsrFaultRegion *r, const char *start, const char *end) {
    return r->lost != NULL && start >= r->start && start < r->start + r->length && end > r->lost;
}

TsrStatus tsr_memory_check(const void *data, size_t bytes) {
    const char *start = data;
    TsrFaultRegion *found = NULL;
    tsr_lock(&lock);
    for (TsrFaultRegion *r = regions; r != NULL && found == NULL; r = r->next)
        if (is_lost(r, start, start + bytes)) found = r;
    if (found != NULL) found->holders++;
    tsr_unlock(&lock);
    if (found == NULL) return TSR_OK;
    TsrStatus status = found->report(found, NULL);
    if (mine.region == found) { /* said once */
        mine.region = NULL;
        let_go_move(found);
    }
    let_go_move(found);
    return status;
}

void tsr_fault_post(const char *message) {
    be_ready();
    snprintf(mine.posted, sizeof mine.posted, "%s", message);
    tsr_interrupt_own.fault = 1;
}
