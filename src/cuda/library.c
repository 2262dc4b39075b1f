/* library.c: looks for NVIDIA's libraries where they usually are (library.h). */
#include "library.h"

#include <ctype.h>
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ONE ROW A LIBRARY: its own version in CUDA 13 and in CUDA 12. */
static const struct Library {
    const char *stem, *versions[2];
} libraries[] = {{"nvrtc", {"13", "12"}},
                 {"cublasLt", {"13", "12"}},
                 {"cufft", {"12", "11"}},
                 {"cusparse", {"12", NULL}},
                 {"cusolver", {"12", "11"}}};

/* The last match of a pattern is the newest version. */
static void *open_matching(const char *pattern) {
    glob_t found;
    void *library = NULL;
    if (glob(pattern, 0, NULL, &found) != 0) return NULL;
    for (size_t i = found.gl_pathc; i > 0 && library == NULL; i--)
        library = dlopen(found.gl_pathv[i - 1], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return library;
}

/* In `root` and one of the folders in which libraries lie below it. */
static void *open_below(const char *root, const char *folder, const char *stem, const char *version) {
    char path[1024];
    int n = snprintf(path, sizeof path, "%s/%s/lib%s.so.%s", root, folder, stem, version);
    return n > 0 && (size_t)n < sizeof path ? open_matching(path) : NULL;
}

static void *open_toolkit(const char *root, const char *stem, const char *version) {
    static const char *const folders[] = {"lib64", "lib", "targets/*-linux/lib"};
    void *library = NULL;
    for (size_t i = 0; i < TSR_COUNTOF(folders) && root != NULL && *root != '\0' && library == NULL; i++)
        library = open_below(root, folders[i], stem, version);
    return library;
}

/* Python's wheels: site-packages/nvidia/NAME/lib, or nvidia/cu13/lib. */
static void *open_wheel(const char *root, const char *stem, const char *version) {
    static const char *const folders[] = {"lib/python3*/site-packages/nvidia/*/lib",
                                          "lib/python3*/dist-packages/nvidia/*/lib"};
    void *library = NULL;
    for (size_t i = 0; i < TSR_COUNTOF(folders) && root != NULL && *root != '\0' && library == NULL; i++)
        library = open_below(root, folders[i], stem, version);
    return library;
}

static void *open_version(const char *stem, const char *version) {
    char name[64], local[512] = "", own[512] = "";
    const char *home = getenv("HOME");
    if (home != NULL && strlen(home) < 400) {
        snprintf(local, sizeof local, "%s/.local", home);
        snprintf(own, sizeof own, "%s/.local/share/tsr/cuda", home);
    }
    void *library = open_toolkit(getenv("TSR_CUDA_PATH"), stem, version);
    if (library == NULL) library = open_toolkit(getenv("CUDA_PATH"), stem, version);
    snprintf(name, sizeof name, "lib%s.so.%s", stem, version);
    if (library == NULL) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) library = open_toolkit("/usr/local/cuda*", stem, version);
    const char *roots[] = {getenv("VIRTUAL_ENV"), getenv("CONDA_PREFIX"), local, "/usr", "/usr/local"};
    for (size_t i = 0; i < TSR_COUNTOF(roots) && library == NULL; i++) library = open_wheel(roots[i], stem, version);
    if (library == NULL) library = open_toolkit(getenv("CONDA_PREFIX"), stem, version);
    return library != NULL ? library : open_toolkit(own, stem, version);
}

/* The simulated device has a compiler, and other libraries when they are asked for. */
static bool is_pretended(const char *stem) {
    const char *libraries = getenv("TSR_SIM_LIBRARIES");
    return strcmp(stem, "nvrtc") == 0 || (libraries != NULL && strcmp(libraries, "1") == 0);
}

/* A driver takes no code of a later CUDA than its own. */
static void *open_newest(const char *stem) {
    void *library = NULL;
    const int version = cuda_driver_version();
    const size_t newest = version == 0 || version >= 13000 ? 0 : 1;
    for (size_t k = 0; k < TSR_COUNTOF(libraries); k++) {
        const char *const *versions = libraries[k].versions;
        if (strcmp(libraries[k].stem, stem) != 0) continue;
        if (versions[1] == NULL) return open_version(stem, versions[0]);
        for (size_t i = newest; i < 2 && library == NULL; i++) library = open_version(stem, versions[i]);
    }
    return library;
}

/* NULL: there is none. */
static void *open_library(const char *stem) {
    char variable[64] = "TSR_CUDA_";
    size_t n = strlen(variable);
    for (const char *c = stem; *c != '\0' && n + 1 < sizeof variable; c++) variable[n++] = (char)toupper(*c);
    variable[n] = '\0';
    const char *given = getenv(variable);
    if (given != NULL && *given != '\0') return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (cuda_is_simulated()) return is_pretended(stem) ? cuda_simulated_library() : NULL;
    return open_newest(stem);
}

/* The state that the library is in then. */
static int fill_table(const CudaLibrary *l) {
    void *library = open_library(l->stem), *found[32];
    if (library == NULL || l->n > TSR_COUNTOF(found) || l->size != l->n * sizeof *found) return -1;
    for (size_t i = 0; i < l->n; i++)
        if ((found[i] = dlsym(library, l->symbols[i])) == NULL) return -2;
    memcpy(l->functions, found, l->size); /* ISO C has no cast from object to function pointers */
    return 1;
}

bool cuda_library_has(CudaLibrary *l) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (l->state == 0) l->state = fill_table(l);
    const bool found = l->state > 0;
    pthread_mutex_unlock(&lock);
    return found;
}

bool cuda_path_beside(char *path, size_t room, const char *name) {
    Dl_info here;
    const char *slash = dladdr(&cuda, &here) != 0 && here.dli_fname != NULL ? strrchr(here.dli_fname, '/') : NULL;
    if (slash == NULL) return false;
    int n = snprintf(path, room, "%.*s/%s", (int)(slash - here.dli_fname), here.dli_fname, name);
    return n > 0 && (size_t)n < room;
}
