/* fault.c: memory faults inside watched regions become error reports instead of crashes. */
#include "alloc_impl.h"
#include "core/base/error_impl.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static TsrFaultRegion *regions;
static TsrLock lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction old_segv, old_bus;
static TsrFaultRegion *volatile pending;
static char posted[256];
volatile sig_atomic_t tsr_memory_lost;

static TsrStatus raise_pending(void) {
    if (posted[0] != '\0') {
        char text[sizeof posted];
        memcpy(text, posted, sizeof text);
        posted[0] = '\0';
        return tsr_error(TSR_RUNTIME_ERROR, "%s", text);
    }
    TsrFaultRegion *region = pending;
    pending = NULL;
    return region != NULL ? region->report(region) : TSR_OK;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    char *address = info->si_addr;
    (void)context;
    for (TsrFaultRegion *r = regions; r != NULL; r = r->next) {
        if (address < r->start || address >= r->start + r->length) continue;
        if (!r->repair(r, address)) break;
        pending = r;
        if (r->lost != NULL) tsr_memory_lost = 1;
        tsr_interrupt_flag = TSR_INTERRUPT_FAULT;
        return;
    }
    /* Not ours: the handler from before takes it when the instruction runs again. */
    sigaction(number, number == SIGSEGV ? &old_segv : &old_bus, NULL);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    tsr_interrupt_fault = raise_pending;
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
}

void tsr_fault_watch(TsrFaultRegion *region) {
    pthread_once(&once, install);
    tsr_lock(&lock);
    region->prev = NULL;
    region->next = regions;
    if (regions != NULL) regions->prev = region;
    regions = region;
    tsr_unlock(&lock);
}

void tsr_fault_forget(TsrFaultRegion *region) {
    tsr_lock(&lock);
    if (region->prev != NULL) region->prev->next = region->next;
    else regions = region->next;
    if (region->next != NULL) region->next->prev = region->prev;
    bool lost = false;
    for (const TsrFaultRegion *r = regions; r != NULL && region->lost != NULL && !lost; r = r->next)
        lost = r->lost != NULL;
    if (region->lost != NULL && !lost) tsr_memory_lost = 0; /* nothing that is left has to be asked about */
    tsr_unlock(&lock);
    if (pending == region) {
        region->report(region); /* its owner goes before anyone asked: keep the words */
        tsr_fault_post(tsr_error_message());
        pending = NULL;
    }
}

static bool is_lost(const TsrFaultRegion *r, const char *start, const char *end) {
    return r->lost != NULL && start >= r->start && start < r->start + r->length && end > r->lost;
}

TsrStatus tsr_memory_check(const void *data, size_t bytes) {
    const char *start = data;
    TsrStatus status = TSR_OK;
    tsr_lock(&lock);
    for (TsrFaultRegion *r = regions; r != NULL && status == TSR_OK; r = r->next)
        if (is_lost(r, start, start + bytes)) {
            status = r->report(r);
            if (pending == r) pending = NULL; /* said once */
        }
    tsr_unlock(&lock);
    return status;
}

void tsr_fault_post(const char *message) {
    pthread_once(&once, install);
    snprintf(posted, sizeof posted, "%s", message);
    tsr_interrupt_flag = TSR_INTERRUPT_FAULT;
}
