/* mmap.c: memory from files and memory shared between processes. */
#include "alloc_impl.h"

#include "core/mem.h"

#include <stdatomic.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Mapping {
    TsrFaultRegion region; /* first: the region is the mapping */
    char *start;           /* page aligned */
    size_t length;
    int64_t bytes; /* asked for */
    char *path;    /* NULL when anonymous */
} Mapping;

static void count(int64_t bytes) {
    TsrAllocator *a = &tsr_allocator_mmap;
    int64_t live = atomic_fetch_add(&a->live, bytes) + bytes;
    if (bytes > 0) a->calls += 1;
    if (live > a->peak) a->peak = live;
}

int64_t tsr_memory_mapped(void) { return tsr_allocator_mmap.live; }

/* A page that the file no longer has becomes a page of zeros, which nobody is to take for the file's: from there on all
 * is lost. */
static bool repair(TsrFaultRegion *region, char *address) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *start = (char *)((uintptr_t)address & ~(uintptr_t)(page - 1));
    if (region->lost == NULL || start < region->lost) region->lost = start;
    return mmap(start, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == start;
}

static TsrStatus report(TsrFaultRegion *region, char *address) {
    (void)address;
    const Mapping *m = (const Mapping *)region;
    return tsr_error(TSR_RUNTIME_ERROR, "%s: the file became shorter while it was mapped",
                     m->path != NULL ? m->path : "shared memory");
}

static void unmap(void *ctx) {
    Mapping *m = ctx;
    char *start = m->start;
    size_t length = m->length;
    count(-m->bytes);
    tsr_fault_forget_move(&m->region);
    munmap(start, length);
}

static void release(TsrFaultRegion *region) {
    Mapping *m = (Mapping *)region;
    tsr_free(m->path);
    tsr_free(m);
}

static TsrStatus new_mapping(Mapping **out, const char *path) {
    Mapping *m = tsr_calloc(1, sizeof *m);
    if (m == NULL) return tsr_error_no_memory(sizeof *m);
    if (path != NULL && (m->path = tsr_mem_text(path, strlen(path))) == NULL) {
        tsr_free(m);
        return tsr_error_no_memory(strlen(path) + 1);
    }
    *out = m;
    return TSR_OK;
}

/* Takes over *m, also on failure. */
static TsrStatus finish_move(TsrDataPtr *out, Mapping *m, char *start, size_t length, size_t skip, size_t bytes) {
    if (start == MAP_FAILED) {
        int err = errno;
        TsrStatus status = err == ENOMEM ? tsr_error_no_memory(bytes) : tsr_error_errno(err, m->path);
        tsr_free(m->path);
        tsr_free(m);
        return status;
    }
    m->start = start;
    m->length = length;
    m->bytes = (int64_t)bytes;
    m->region =
        (TsrFaultRegion){.start = start, .length = length, .repair = repair, .report = report, .release = release};
    tsr_fault_watch(&m->region);
    count(m->bytes);
    *out = (TsrDataPtr){start + skip, m, unmap, TSR_DEVICE_CPU};
    return TSR_OK;
}

static TsrStatus check_file(size_t *bytes, int fd, const char *path, uint64_t offset) {
    struct stat st;
    if (fstat(fd, &st) != 0) return tsr_error_errno(errno, path);
    if (!S_ISREG(st.st_mode)) return tsr_error(TSR_VALUE_ERROR, "%s: not a regular file, so it cannot be mapped", path);
    uint64_t size = (uint64_t)st.st_size;
    if (offset > size || *bytes > size - offset)
        return tsr_error(TSR_VALUE_ERROR, "%s: needs %llu bytes, but the file has %llu", path,
                         (unsigned long long)(offset + *bytes), (unsigned long long)size);
    if (*bytes == 0 && size - offset > SIZE_MAX) return tsr_error_no_memory(size - offset);
    if (*bytes == 0) *bytes = (size_t)(size - offset);
    return TSR_OK;
}

TsrStatus tsr_map_descriptor(TsrDataPtr *out, size_t *mapped, int fd, const char *path, char mode, uint64_t offset,
                             size_t bytes) {
    Mapping *m = NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = (size_t)(offset % page);
    TSR_TRY(check_file(&bytes, fd, path, offset));
    *mapped = bytes;
    if (bytes == 0) {
        *out = (TsrDataPtr){NULL, NULL, NULL, TSR_DEVICE_CPU};
        return TSR_OK;
    }
    TSR_TRY(new_mapping(&m, path));
    int protection = mode == 'r' ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = mode == '+' ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
    char *start = mmap(NULL, bytes + skip, protection, flags, fd, (off_t)(offset - skip));
    return finish_move(out, m, start, bytes + skip, skip, bytes);
}

TsrStatus tsr_map_file(TsrDataPtr *out, size_t *mapped, const char *path, char mode, uint64_t offset, size_t bytes) {
    int fd = open(path, (mode == '+' ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return tsr_error_errno(errno, path);
    TsrStatus status = tsr_map_descriptor(out, mapped, fd, path, mode, offset, bytes);
    close(fd);
    return status;
}

TsrStatus tsr_map_shared(TsrDataPtr *out, size_t bytes) {
    Mapping *m = NULL;
    size_t length = bytes > 0 ? bytes : 1;
    TSR_TRY(new_mapping(&m, NULL));
    char *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return finish_move(out, m, start, length, 0, bytes);
}

static TsrStatus allocate(TsrAllocator *self, TsrDataPtr *out, size_t bytes) {
    (void)self;
    return tsr_map_shared(out, bytes);
}

/* In the registry for its counters; set_allocator refuses it, as it serves files. */
TsrAllocator tsr_allocator_mmap = {.name = "mmap", .device = TSR_CPU, .allocate = allocate};
