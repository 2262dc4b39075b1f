/* quiet.c: output that leaves the process, or is dropped: what copies do whatever a copy is (copy.h). */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "copy.h"
#include "lang/modules/builtin.h"

void copy_flush(void) {
    fflush(builtin_stdout());
    fflush(stdout);
    fflush(stderr);
}

bool copy_work(void *work) {
    const CopyWork *all = work;
    all->work(all->context);
    return true;
}

bool quiet_begin(Quiet *q) {
    int none = open("/dev/null", O_RDWR | O_CLOEXEC);
    copy_flush();
    for (int fd = 0; fd < 3; fd++) {
        q->saved[fd] = none >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
        if (q->saved[fd] >= 0) dup2(none, fd);
    }
    if (none >= 0) close(none);
    return none >= 0;
}

void quiet_end(const Quiet *q) {
    copy_flush();
    for (int fd = 0; fd < 3; fd++) {
        if (q->saved[fd] < 0) continue;
        dup2(q->saved[fd], fd);
        close(q->saved[fd]);
    }
}
