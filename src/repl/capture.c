/* Output captured: both streams of the process point at a file in memory while the work is done. */
#include "capture.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lang/modules/builtin.h"

int capture_new(void) { return memfd_create("captured", MFD_CLOEXEC); }

static void flush_all(void) {
    fflush(builtin_stdout());
    fflush(stdout);
    fflush(stderr);
}

static void point_back(int stream, int saved) {
    if (saved < 0) return;
    dup2(saved, stream);
    close(saved);
}

static bool read_all(TsrText *out, int fd) {
    char buffer[4096];
    ssize_t n;
    if (lseek(fd, 0, SEEK_SET) != 0) return false;
    while ((n = read(fd, buffer, sizeof buffer)) > 0)
        if (tsr_text_append(out, buffer, (size_t)n) != TSR_OK) return false;
    return n == 0;
}

bool capture_run(TsrText *out, int fd, void (*work)(void *context), void *context) {
    flush_all();
    int out_before = dup(STDOUT_FILENO), err_before = dup(STDERR_FILENO);
    bool fine = out_before >= 0 && err_before >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
                dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0;
    if (fine) {
        work(context);
        flush_all();
    }
    point_back(STDOUT_FILENO, out_before);
    point_back(STDERR_FILENO, err_before);
    return fine && read_all(out, fd);
}
