/* copy.c: a waiting process is the snapshot. The copy holds the writing end of a pipe: a byte in it says that the
 * snapshot is not needed any more, its end that all who went on from it are gone. */
#include "copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/storage.h"

void *copy_shared(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

void copy_free(void *shared, size_t bytes) {
    if (shared != NULL) munmap(shared, bytes);
}

/* fork, where the copy has the time limit too. */
static pid_t copy_process(void) {
    struct itimerval limit = {0};
    copy_flush();
    getitimer(ITIMER_REAL, &limit);
    pid_t child = fork();
    if (child == 0) setitimer(ITIMER_REAL, &limit, NULL);
    return child;
}

/* Ctrl-C is for the copy that runs, not for who waits. */
static void ignore_interrupt(struct sigaction *old) {
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, old);
}

/* ---- what copies share ---- */

static bool is_shared_memory(const TsrStorage *s) { return s->shared && s->path == NULL && s->ptr.data != NULL; }

/* The bytes of all storages in memory that processes share, one behind the other; NULL when there are none, or no
 * memory for them. */
static char *keep_shared(void) {
    size_t bytes = 0;
    for (TsrStorage *s = tsr_storage_first(); s != NULL; s = s->next)
        if (is_shared_memory(s)) bytes += (size_t)s->nbytes;
    char *kept = bytes > 0 ? tsr_malloc(bytes) : NULL, *to = kept;
    for (TsrStorage *s = tsr_storage_first(); s != NULL && kept != NULL; s = s->next) {
        if (!is_shared_memory(s)) continue;
        memcpy(to, s->ptr.data, (size_t)s->nbytes);
        to += s->nbytes;
    }
    return kept;
}

/* Writes them back, with no storage made or freed in between, and frees what was kept. */
static void restore_shared(char *kept) {
    const char *from = kept;
    for (TsrStorage *s = tsr_storage_first(); s != NULL && kept != NULL; s = s->next) {
        if (!is_shared_memory(s)) continue;
        memcpy(s->ptr.data, from, (size_t)s->nbytes);
        from += s->nbytes;
    }
    tsr_free(kept);
}

/* ---- copies ---- */

bool copy_run(void (*work)(void *context), void *context, bool quiet) {
    CopyWork all = {work, context};
    char *kept = keep_shared();
    bool fine = copy_call(copy_work, &all, quiet);
    restore_shared(kept);
    return fine;
}

bool copy_call(bool (*work)(void *context), void *context, bool quiet) {
    struct sigaction old;
    int status = 0;
    pid_t child = copy_process();
    if (child == 0) {
        Quiet silence;
        if (quiet && !quiet_begin(&silence)) _exit(1);
        bool fine = work(context);
        copy_flush();
        _exit(fine ? 0 : 1);
    }
    if (child < 0) return false;
    ignore_interrupt(&old);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &old, NULL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Waits for the copy: whether it asked to be left alone. */
static bool wait_for_word(int fd) {
    char word;
    ssize_t n;
    while ((n = read(fd, &word, 1)) < 0 && errno == EINTR) continue;
    return n == 1;
}

bool snapshot_take(Snapshot *s) {
    int ends[2];
    struct sigaction old;
    s->keeper = -1;
    if (pipe2(ends, O_CLOEXEC) != 0) return true;
    char *kept = keep_shared();
    pid_t child = copy_process();
    if (child <= 0) {
        close(ends[0]);
        if (child == 0) s->keeper = ends[1];
        else close(ends[1]);
        tsr_free(kept);
        return true;
    }
    close(ends[1]);
    ignore_interrupt(&old);
    if (wait_for_word(ends[0])) _exit(0);
    close(ends[0]);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &old, NULL);
    restore_shared(kept);
    return false;
}

void snapshot_keep(Snapshot *s) {
    if (s->keeper < 0) return;
    while (write(s->keeper, "k", 1) < 0 && errno == EINTR) continue;
    close(s->keeper);
    s->keeper = -1;
}

void snapshot_undo(const Snapshot *s) {
    if (s->keeper < 0) return;
    copy_flush();
    _exit(0);
}
