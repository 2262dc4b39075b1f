/* platform.c: what the C library of the browser lacks, in place of those of its functions that would end the program:
 * no shared library is found, there is one processor, and files in memory lie in /tmp of the worker. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

void *dlopen(const char *path, int flags) {
    (void)path;
    (void)flags;
    return NULL;
}

void *dlsym(void *restrict library, const char *restrict name) {
    (void)library;
    (void)name;
    return NULL;
}

int dlclose(void *library) {
    (void)library;
    return 0;
}

char *dlerror(void) {
    static char none[] = "the browser has no shared libraries";
    return none;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set) {
    (void)pid;
    (void)size;
    (void)set;
    errno = ENOSYS;
    return -1;
}

ssize_t getrandom(void *out, size_t size, unsigned flags) {
    (void)flags;
    return getentropy(out, size) == 0 ? (ssize_t)size : -1;
}

int memfd_create(const char *name, unsigned flags) {
    char path[] = "/tmp/tsr-XXXXXX";
    (void)name;
    (void)flags;
    /* It keeps its name, by which the system is asked what an open file is; two streams that go there write behind each
     * other. */
    return mkostemp(path, O_APPEND);
}

int __sched_cpucount(size_t size, const cpu_set_t *set) {
    (void)size;
    (void)set;
    return 1;
}

/* Nothing is waited for: what is asked about is never ready. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask) {
    (void)timeout;
    (void)mask;
    return poll(fds, count, 0);
}

int prctl(int option, ...) {
    (void)option;
    errno = ENOSYS;
    return -1;
}
