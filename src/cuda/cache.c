/* cache.c: compiled kernels on disk (compile.h): a file each, whose name is the hash of what it was made from. A file
 * that is read gets a new time once a day; when a process writes its first one, those whose time is oldest go until the
 * folder is well below its limit. */
#include "compile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a file begins with. */
typedef struct Header {
    char magic[8];
    uint64_t size;
    CudaHash key, content;
} Header;
static const char magic[8] = "tsrcuda1";
enum { MOST_BYTES = 64 << 20 /* of a file that is believed */ };

CudaHash cuda_hash(CudaHash h, const void *bytes, size_t n) {
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) { /* two of FNV-1a's kind, with different primes and turns */
        h.low = (h.low ^ p[i]) * 0x100000001B3u;
        h.high = ((h.high << 5 | h.high >> 59) ^ p[i]) * 0x9E3779B97F4A7C15u;
    }
    return h;
}

static bool is_mine(const struct stat *s) { return s->st_uid == geteuid() && (s->st_mode & 022) == 0; }

/* The folders that are missing on the way are made. */
static bool make_folders(char *path) {
    for (char *slash = path + 1; *slash != '\0'; slash++) {
        if (*slash != '/') continue;
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Room for a folder and the name of a file in it. */
enum { FOLDER = 3800, PATH = FOLDER + 128 };

static bool find_folder(char folder[FOLDER], bool make) {
    const char *given = getenv("TSR_CUDA_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat s;
    int n = -1;
    if (given != NULL && *given == '/') n = snprintf(folder, FOLDER, "%s", given);
    else if (cache != NULL && *cache == '/') n = snprintf(folder, FOLDER, "%s/tsr/cuda", cache);
    else if (home != NULL && *home == '/') n = snprintf(folder, FOLDER, "%s/.cache/tsr/cuda", home);
    if (n <= 0 || n >= FOLDER || (make && !make_folders(folder))) return false;
    return stat(folder, &s) == 0 && S_ISDIR(s.st_mode) && is_mine(&s);
}

static bool read_whole(int fd, void *to, size_t n) {
    for (char *p = to; n > 0;) {
        ssize_t got = read(fd, p, n);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

static bool write_whole(int fd, const void *from, size_t n) {
    for (const char *p = from; n > 0;) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static bool same_hash(CudaHash a, CudaHash b) { return a.high == b.high && a.low == b.low; }

static bool read_image(CudaImage *out, int fd, CudaHash key) {
    struct stat s;
    Header h;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !is_mine(&s) || !read_whole(fd, &h, sizeof h)) return false;
    if (memcmp(h.magic, magic, sizeof magic) != 0 || !same_hash(h.key, key) || h.size == 0 || h.size > MOST_BYTES ||
        (uint64_t)s.st_size != sizeof h + h.size)
        return false;
    CudaImage image = {cuda_host->malloc(h.size), h.size};
    if (image.bytes == NULL) return false;
    if (read_whole(fd, image.bytes, image.size) &&
        same_hash(cuda_hash((CudaHash){0, 0}, image.bytes, image.size), h.content)) {
        *out = image;
        return true;
    }
    cuda_image_free(&image);
    return false;
}

static void name_of(char path[PATH], const char *folder, CudaHash key) {
    snprintf(path, PATH, "%s/%016llx%016llx", folder, (unsigned long long)key.high, (unsigned long long)key.low);
}

/* ---- the folder's size ---- */

enum { MOST_MEGABYTES = 256 /* some ten thousand kernels */, NAME = 32 /* the two halves of a hash */ };

typedef struct Entry {
    char name[NAME + 1];
    time_t time;
    int64_t size;
} Entry;

/* Files of kernels, those of this user alone; *out is the caller's. The rest of a folder that is nobody's cache is left
 * alone. */
static size_t list_files(Entry **out, int folder, DIR *dir) {
    Entry *list = NULL;
    size_t n = 0, room = 0;
    for (struct dirent *d; (d = readdir(dir)) != NULL;) {
        struct stat s;
        if (strlen(d->d_name) != NAME || strspn(d->d_name, "0123456789abcdef") != NAME) continue;
        if (fstatat(folder, d->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s.st_mode) || !is_mine(&s)) continue;
        if (n == room) {
            Entry *more = realloc(list, (room = 2 * room + 256) * sizeof *more);
            if (more == NULL) break;
            list = more;
        }
        list[n] = (Entry){.time = s.st_mtime, .size = s.st_size};
        memcpy(list[n++].name, d->d_name, NAME + 1);
    }
    *out = list;
    return n;
}

static int by_time(const void *a, const void *b) {
    const Entry *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static int64_t most_bytes(void) {
    const char *given = getenv("TSR_CUDA_CACHE_MB");
    int64_t most = given != NULL ? atoll(given) : 0;
    return (most > 0 && most < 1 << 20 ? most : MOST_MEGABYTES) << 20;
}

/* The oldest go until a quarter of the limit is free: then it is not the next kernel's turn again. */
static void trim(const char *path) {
    Entry *list = NULL;
    DIR *dir = opendir(path);
    int64_t total = 0, most = most_bytes();
    if (dir == NULL) return;
    size_t n = list_files(&list, dirfd(dir), dir);
    for (size_t i = 0; i < n; i++) total += list[i].size;
    if (total > most) {
        qsort(list, n, sizeof *list, by_time);
        for (size_t i = 0; i < n && total > most / 4 * 3; i++)
            if (unlinkat(dirfd(dir), list[i].name, 0) == 0) total -= list[i].size;
    }
    free(list);
    closedir(dir);
}

static void trim_once(const char *folder) {
    static int trimmed;
    if (__atomic_exchange_n(&trimmed, 1, __ATOMIC_RELAXED) == 0) trim(folder);
}

/* Tells that the file is in use: once a day is enough. */
static void renew(int fd) {
    struct stat s;
    enum { DAY = 24 * 60 * 60 };
    if (fstat(fd, &s) == 0 && time(NULL) - s.st_mtime > DAY) (void)futimens(fd, NULL);
}

/* ---- reading and writing ---- */

bool cuda_cache_read(CudaImage *out, CudaHash key) {
    char folder[FOLDER], path[PATH];
    if (!find_folder(folder, false)) return false;
    name_of(path, folder, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return false;
    bool whole = read_image(out, fd, key);
    if (whole) renew(fd);
    close(fd);
    return whole;
}

void cuda_cache_write(CudaHash key, const CudaImage *image) {
    char folder[FOLDER], path[PATH], fresh[PATH + 16];
    if (!find_folder(folder, true)) return;
    name_of(path, folder, key);
    snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
    int fd = mkostemp(fresh, O_CLOEXEC); /* readable by this user alone */
    if (fd < 0) return;
    Header h = {.size = image->size, .key = key, .content = cuda_hash((CudaHash){0, 0}, image->bytes, image->size)};
    memcpy(h.magic, magic, sizeof magic);
    bool written = write_whole(fd, &h, sizeof h) && write_whole(fd, image->bytes, image->size);
    written = close(fd) == 0 && written;
    if (!written || rename(fresh, path) != 0) unlink(fresh);
    trim_once(folder);
}
