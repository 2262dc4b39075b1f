/* How much memory this process may have: the least of what the machine has, what its control groups allow and what
 * RLIMIT_AS leaves it. Read once. A group is limited by its own file and by those of all groups around it:
 * memory.max below /sys/fs/cgroup (version 2), memory.limit_in_bytes below /sys/fs/cgroup/memory (version 1). The names
 * of the groups are in /proc/self/cgroup; inside a container they may be names of the host, of which only the root is
 * there, hence the walk up to it. */
#include "alloc_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static size_t least(size_t a, size_t b) { return b > 0 && b < a ? b : a; }

/* Reads at most room - 1 bytes, and ends them with a null byte; false when the file can't be read. */
static bool read_small_file(const char *path, char *text, size_t room) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t n = read(file, text, room - 1);
    close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* SIZE_MAX where there is no file, or no number in it: "max" is no limit. */
static size_t read_limit(const char *path) {
    char text[64], *end;
    if (!read_small_file(path, text, sizeof text)) return SIZE_MAX;
    errno = 0;
    unsigned long long bytes = strtoull(text, &end, 10);
    return errno != 0 || end == text ? SIZE_MAX : (size_t)TSR_MIN(bytes, SIZE_MAX);
}

/* `group` begins with a slash; it is cut from its end until the root is reached. */
static size_t limit_of_groups(const char *mount, const char *below, char *group, const char *file) {
    char path[PATH_MAX];
    size_t most = SIZE_MAX;
    for (;;) {
        int n = snprintf(path, sizeof path, "%s%s%s/%s", mount, below, group[1] == '\0' ? "" : group, file);
        if (n > 0 && (size_t)n < sizeof path) most = least(most, read_limit(path));
        if (group[1] == '\0') return most;
        char *slash = strrchr(group, '/');
        slash[slash == group] = '\0';
    }
}

/* A line is NUMBER:CONTROLLERS:GROUP, with no controllers for version 2. */
static size_t limit_of_line(const char *mount, char *line) {
    char *controllers = strchr(line, ':'), *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
    if (group == NULL || group[1] != '/') return SIZE_MAX;
    *group++ = '\0';
    if (controllers[1] == '\0') return limit_of_groups(mount, "", group, "memory.max");
    for (char *rest, *name = strtok_r(controllers + 1, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest))
        if (strcmp(name, "memory") == 0) return limit_of_groups(mount, "/memory", group, "memory.limit_in_bytes");
    return SIZE_MAX;
}

size_t tsr_group_memory(const char *mount, const char *names) {
    char groups[8192], *rest;
    size_t most = SIZE_MAX;
    if (!read_small_file(names, groups, sizeof groups)) return most;
    for (char *line = strtok_r(groups, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        most = least(most, limit_of_line(mount, line));
    return most;
}

static size_t machine;

static void ask(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct rlimit space;
    machine = tsr_group_memory("/sys/fs/cgroup", "/proc/self/cgroup");
    if (pages > 0 && page > 0) machine = least(machine, (size_t)TSR_MIN((uint64_t)pages * (uint64_t)page, SIZE_MAX));
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        machine = least(machine, (size_t)space.rlim_cur);
}

size_t tsr_machine_memory(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask);
    return machine;
}
