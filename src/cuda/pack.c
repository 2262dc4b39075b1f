/* pack.c: kernels that came with tsr, for machines that have NVIDIA's driver and no run-time compiler (compile.h): one
 * file, tsr_cuda.pack beside the plugin, or $TSR_CUDA_PACK, which pack/make_pack.c writes. It is mapped when it is
 * first asked, and believed only if nobody but this user and root can have written it; an image is copied out of it
 * after its hash was compared. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile.h"
#include "library.h"
#include "pack.h"

static const char *bytes; /* NULL: there is none */
static size_t size;

static bool find_file(char *path, size_t room) {
    const char *given = getenv("TSR_CUDA_PACK");
    if (given != NULL && *given != '\0') return snprintf(path, room, "%s", given) < (int)room;
    return cuda_path_beside(path, room, "tsr_cuda.pack");
}

static bool is_trusted(const struct stat *s) {
    return S_ISREG(s->st_mode) && (s->st_uid == geteuid() || s->st_uid == 0) && (s->st_mode & 022) == 0;
}

/* Whether the list of contents lies within the file. */
static bool is_whole(void) {
    const CudaPackHeader *h = (const CudaPackHeader *)(const void *)bytes;
    return size >= sizeof *h && memcmp(h->magic, CUDA_PACK_MAGIC, sizeof h->magic) == 0 &&
           h->count <= (size - sizeof *h) / sizeof(CudaPackEntry);
}

static void open_pack(void) {
    char path[4096];
    struct stat s;
    int fd = find_file(path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    if (fstat(fd, &s) == 0 && is_trusted(&s) && s.st_size > 0) {
        void *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED) bytes = at, size = (size_t)s.st_size;
    }
    close(fd);
    if (bytes == NULL || is_whole()) return;
    munmap((void *)(uintptr_t)bytes, size);
    bytes = NULL;
}

bool cuda_pack_exists(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_pack);
    return bytes != NULL;
}

static const CudaPackEntry *find(CudaHash key) {
    const CudaPackHeader *h = (const CudaPackHeader *)(const void *)bytes;
    const CudaPackEntry *entries = (const CudaPackEntry *)(const void *)(bytes + sizeof *h);
    uint64_t low = 0, high = h->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (cuda_hash_order(entries[middle].key, key) < 0) low = middle + 1;
        else high = middle;
    }
    return low < h->count && cuda_hash_order(entries[low].key, key) == 0 ? &entries[low] : NULL;
}

bool cuda_pack_read(CudaImage *out, const char *text) {
    if (!cuda_pack_exists()) return false;
    const CudaPackEntry *e = find(cuda_hash((CudaHash){0, 0}, text, strlen(text)));
    if (e == NULL || e->offset > size || e->size == 0 || e->size > size - e->offset) return false;
    if (cuda_hash_order(cuda_hash((CudaHash){0, 0}, bytes + e->offset, e->size), e->content) != 0) return false;
    CudaImage image = {cuda_host->malloc(e->size), e->size};
    if (image.bytes == NULL) return false;
    memcpy(image.bytes, bytes + e->offset, e->size);
    *out = image;
    return true;
}
