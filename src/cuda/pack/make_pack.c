/* make_pack.c: make_pack FOLDER OUT [ARCHITECTURE]: compiles the texts of kernels that $TSR_CUDA_RECORD left in a
 * folder (*.cu) to PTX by NVRTC, for compute_75 when nothing else is said, and writes the file that pack.c reads.
 * scripts/cuda-pack calls it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pack.h"
#include "host_alone.h"

typedef struct Packed {
    CudaPackEntry entry;
    CudaImage image;
} Packed;

static int by_key(const void *a, const void *b) {
    return cuda_hash_order(((const Packed *)a)->entry.key, ((const Packed *)b)->entry.key);
}

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    long n = f != NULL && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (n >= 0 && (text = malloc((size_t)n + 1)) != NULL) {
        rewind(f);
        text[fread(text, 1, (size_t)n, f)] = '\0';
    }
    if (f != NULL) fclose(f);
    return text;
}

static bool compile(Packed *out, const char *path, const char *architecture) {
    char *text = read_text(path);
    if (text == NULL || cuda_compile_for(&out->image, architecture, text) != TSR_OK) {
        fprintf(stderr, "make_pack: %s was not compiled\n", path);
        free(text);
        return false;
    }
    out->entry.key = cuda_hash((CudaHash){0, 0}, text, strlen(text));
    out->entry.content = cuda_hash((CudaHash){0, 0}, out->image.bytes, out->image.size);
    out->entry.size = out->image.size;
    free(text);
    return true;
}

/* Every text of the folder; *list is the caller's. Those that do not compile are told of and left out. */
static size_t compile_all(Packed **list, const char *folder, const char *architecture) {
    DIR *dir = opendir(folder);
    size_t n = 0, room = 0;
    for (struct dirent *d; dir != NULL && (d = readdir(dir)) != NULL;) {
        char path[4096];
        size_t length = strlen(d->d_name);
        if (length < 3 || strcmp(d->d_name + length - 3, ".cu") != 0) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, d->d_name) >= (int)sizeof path) continue;
        if (n == room) {
            Packed *more = realloc(*list, (room = 2 * room + 256) * sizeof *more);
            if (more == NULL) break;
            *list = more;
        }
        memset(&(*list)[n], 0, sizeof **list);
        n += compile(&(*list)[n], path, architecture);
    }
    if (dir != NULL) closedir(dir);
    return n;
}

static bool write_pack(const char *path, Packed *list, size_t n) {
    CudaPackHeader h = {.count = n};
    uint64_t at = sizeof h + n * sizeof(CudaPackEntry);
    FILE *f = fopen(path, "wb");
    if (f == NULL) return false;
    memcpy(h.magic, CUDA_PACK_MAGIC, sizeof h.magic);
    bool good = fwrite(&h, sizeof h, 1, f) == 1;
    for (size_t i = 0; i < n && good; at += list[i++].image.size) {
        list[i].entry.offset = at;
        good = fwrite(&list[i].entry, sizeof list[i].entry, 1, f) == 1;
    }
    for (size_t i = 0; i < n && good; i++) good = fwrite(list[i].image.bytes, list[i].image.size, 1, f) == 1;
    return fclose(f) == 0 && good;
}

int main(int argc, char **argv) {
    Packed *list = NULL;
    if (argc < 3) {
        fputs("usage: make_pack FOLDER OUT [ARCHITECTURE]\n", stderr);
        return 2;
    }
    cuda_host = &host;
    size_t n = compile_all(&list, argv[1], argc > 3 ? argv[3] : "compute_75");
    if (n > 0) qsort(list, n, sizeof *list, by_key);
    bool good = n > 0 && write_pack(argv[2], list, n);
    if (good) printf("%zu kernels in %s\n", n, argv[2]);
    else fputs("make_pack: nothing was written\n", stderr);
    for (size_t i = 0; i < n; i++) cuda_image_free(&list[i].image);
    free(list);
    return !good;
}
