/* nvrtc.c: NVIDIA's run-time compiler for the simulated device: what nvrtc.def lists, by the C++ compiler of the
 * machine ($TSR_SIM_CXX, else g++). A program's code is a shared library with its kernels, host.cuh in place of
 * prelude.cuh. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, OUT_OF_MEMORY = 1, NO_COMPILER = 2, INVALID_INPUT = 3, COMPILATION = 6 };
/* What the cache of kernels tells apart, besides host.cuh. */
#if defined(__SANITIZE_ADDRESS__)
enum { FLAVOUR = 1 };
#define SANITIZE "-fsanitize=address"
#else
enum { FLAVOUR = 0 };
#define SANITIZE "-g0"
#endif

extern char **environ;
extern const char simulated_host[], simulated_host_end[];
__asm__(".section .rodata\nsimulated_host:\n.incbin \"src/cuda/simulated/host.cuh\"\nsimulated_host_end:\n.previous\n");

typedef struct NvrtcProgramBody {
    char *text, *image, *log;
    size_t size;
} * NvrtcProgram;

static const char *compiler(void) {
    const char *given = getenv("TSR_SIM_CXX");
    return given != NULL && *given != '\0' ? given : "g++";
}

static int run(char *const *argv, const char *log) {
    posix_spawn_file_actions_t files;
    pid_t pid;
    int status = -1;
    if (posix_spawn_file_actions_init(&files) != 0) return -1;
    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    int error = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (error != 0) return -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool has_compiler(void) {
    static int known; /* 0: not asked; else 1 + whether */
    int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (now == 0) {
        char *argv[] = {(char *)(uintptr_t)compiler(), (char[]){"--version"}, NULL};
        now = 1 + (run(argv, "/dev/null") == 0);
        __atomic_store_n(&known, now, __ATOMIC_RELAXED);
    }
    return now == 2;
}

EXPORT int nvrtcVersion(int *major, int *minor) {
    uint32_t hash = 0;
    for (const char *c = simulated_host; c < simulated_host_end; c++) hash = (hash ^ (unsigned char)*c) * 0x01000193u;
    *major = 0; /* none of NVIDIA's */
    *minor = (int)(hash >> 2 << 1 | FLAVOUR);
    return SUCCESS;
}

/* Of the device that the simulated driver has unless it is told otherwise. */
EXPORT int nvrtcGetNumSupportedArchs(int *count) {
    *count = 1;
    return SUCCESS;
}

EXPORT int nvrtcGetSupportedArchs(int *list) {
    *list = 70;
    return SUCCESS;
}

EXPORT int nvrtcCreateProgram(NvrtcProgram *out, const char *text, const char *name, int headers,
                              const char *const *texts, const char *const *names) {
    (void)name;
    (void)texts;
    (void)names;
    if (headers != 0) return INVALID_INPUT;
    if (!has_compiler()) return NO_COMPILER;
    NvrtcProgram p = calloc(1, sizeof *p);
    if (p != NULL) p->text = strdup(text);
    if (p == NULL || p->text == NULL) {
        free(p);
        return OUT_OF_MEMORY;
    }
    *out = p;
    return SUCCESS;
}

EXPORT int nvrtcDestroyProgram(NvrtcProgram *p) {
    free((*p)->text);
    free((*p)->image);
    free((*p)->log);
    free(*p);
    *p = NULL;
    return SUCCESS;
}

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    struct stat s;
    char *bytes = NULL;
    if (f != NULL && fstat(fileno(f), &s) == 0) bytes = malloc((size_t)s.st_size + 1);
    if (bytes != NULL) {
        *size = fread(bytes, 1, (size_t)s.st_size, f);
        bytes[*size] = '\0';
    }
    if (f != NULL) fclose(f);
    return bytes;
}

/* The line before prelude.cuh, host.cuh, then the text without prelude.cuh, which ends where types.cuh begins. */
static bool write_source(const char *path, const char *text) {
    const char *begin = strstr(text, "/* types.cuh:");
    FILE *f = fopen(path, "w");
    if (f == NULL) return false;
    fwrite(text, 1, strcspn(text, "\n") + 1, f);
    fwrite(simulated_host, 1, (size_t)(simulated_host_end - simulated_host), f);
    fprintf(f, "\n#line 1 \"kernel\"\n%s", begin != NULL ? begin : text);
    return fclose(f) == 0;
}

static int compile_in(NvrtcProgram p, const char *folder) {
    char source[256], library[256], log[256];
    size_t size;
    snprintf(source, sizeof source, "%s/kernel.cc", folder);
    snprintf(library, sizeof library, "%s/kernel.so", folder);
    snprintf(log, sizeof log, "%s/log", folder);
    char *argv[] = {(char *)(uintptr_t)compiler(),
                    (char[]){"-std=c++17"},
                    (char[]){"-O1"},
                    (char[]){"-ffp-contract=off"},
                    (char[]){"-fno-math-errno"},
                    (char[]){"-fwrapv"},
                    (char[]){"-w"},
                    (char[]){"-fPIC"},
                    (char[]){"-shared"},
                    (char[]){"-fvisibility=hidden"},
                    (char[]){"-fno-exceptions"},
                    (char[]){"-nostdinc++"},
                    (char[]){SANITIZE},
                    (char[]){"-fsanitize=alignment"}, /* a GPU refuses what is misaligned */
                    (char[]){"-fsanitize-undefined-trap-on-error"},
                    (char[]){"-o"},
                    library,
                    source,
                    (char[]){"-lm"},
                    NULL};
    int status = write_source(source, p->text) ? run(argv, log) : -1;
    p->log = read_file(log, &size);
    if (status == 0) p->image = read_file(library, &p->size);
    unlink(source);
    unlink(library);
    unlink(log);
    return p->image != NULL ? SUCCESS : COMPILATION;
}

EXPORT int nvrtcCompileProgram(NvrtcProgram p, int count, const char *const *options) {
    const char *temporary = getenv("TMPDIR");
    char folder[200];
    (void)count; /* they are all NVIDIA's */
    (void)options;
    int n = snprintf(folder, sizeof folder, "%s/tsr-kernel-XXXXXX",
                     temporary != NULL && *temporary == '/' ? temporary : "/tmp");
    if (n >= (int)sizeof folder || mkdtemp(folder) == NULL) return COMPILATION;
    int result = compile_in(p, folder);
    rmdir(folder);
    return result;
}

EXPORT int nvrtcGetCUBINSize(NvrtcProgram p, size_t *size) {
    *size = p->size;
    return p->image != NULL ? SUCCESS : INVALID_INPUT;
}

EXPORT int nvrtcGetCUBIN(NvrtcProgram p, char *image) {
    if (p->image == NULL) return INVALID_INPUT;
    memcpy(image, p->image, p->size);
    return SUCCESS;
}

/* What a pack holds: the same code, since there is no device to compile it for. */
EXPORT int nvrtcGetPTXSize(NvrtcProgram p, size_t *size) { return nvrtcGetCUBINSize(p, size); }

EXPORT int nvrtcGetPTX(NvrtcProgram p, char *text) { return nvrtcGetCUBIN(p, text); }

EXPORT int nvrtcGetProgramLogSize(NvrtcProgram p, size_t *size) {
    *size = p->log != NULL ? strlen(p->log) + 1 : 1;
    return SUCCESS;
}

EXPORT int nvrtcGetProgramLog(NvrtcProgram p, char *log) {
    strcpy(log, p->log != NULL ? p->log : "");
    return SUCCESS;
}
