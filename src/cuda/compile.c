/* compile.c: kernels compiled at run time by NVRTC, which is opened when the first one is needed (compile.h). */
#include "compile.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "pack.h"

typedef struct NvrtcProgramBody *NvrtcProgram;
#define FUNCTIONS "cuda/nvrtc.def"
#define TABLE nvrtc
#define LIBRARY cuda_libnvrtc
#define STEM "nvrtc"
#include "cuda/library_table.inc"

static bool usable;
/* Why a compiler that is there is no help; the thread beside compiles, too. */
typedef enum Obstacle { NOTHING, NO_COMPILER, OLD_DEVICE, OLD_DRIVER } Obstacle;
static _Atomic Obstacle obstacle;
static int major, minor;

static void open_nvrtc(void) { usable = cuda_library_has(&cuda_libnvrtc) && nvrtc.version(&major, &minor) == 0; }

static bool has_nvrtc(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvrtc);
    return usable;
}

void cuda_missing(char *text, size_t room) {
    const int driver = cuda_driver_version();
    if (!has_nvrtc())
        snprintf(text, room,
                 "%s need NVIDIA's run-time compiler, libnvrtc.so.%s12, which is neither in $TSR_CUDA_PATH nor "
                 "in /usr/local/cuda* nor in a wheel: scripts/setup --cuda gets it",
                 cuda_pack_exists() ? "kernels that did not come with tsr" : "kernels",
                 driver != 0 && driver < 13000 ? "" : "13 or ");
    else if (obstacle == NO_COMPILER) snprintf(text, room, "kernels of the simulated device need a C++ compiler: g++");
    else if (obstacle == OLD_DEVICE)
        snprintf(text, room, "kernels need an older compiler than NVRTC %d.%d, which has left this GPU behind", major,
                 minor);
    else if (obstacle == OLD_DRIVER)
        snprintf(text, room, "kernels can't be loaded: the driver, for CUDA %d.%d, refuses code of NVRTC %d.%d",
                 driver / 1000, driver % 1000 / 10, major, minor);
}

static TsrStatus hindered_by(Obstacle what) {
    obstacle = what;
    return TSR_NOT_IMPLEMENTED_ERROR;
}

TsrStatus cuda_code_was_refused(void) { return hindered_by(OLD_DRIVER); }

void cuda_image_free(CudaImage *image) {
    cuda_host->free(image->bytes);
    *image = (CudaImage){NULL, 0};
}

/* A chain in one kernel rounds as its steps do. */
#define NO_CONTRACTION "-fmad=false"
#define LANGUAGE "-std=c++17"

static TsrStatus refused(NvrtcProgram program) {
    char log[2048] = "no memory for its words";
    size_t size = 0;
    char *whole = nvrtc.log_size(program, &size) == 0 && size > 0 ? cuda_host->malloc(size) : NULL;
    if (whole != NULL && nvrtc.log(program, whole) == 0)
        snprintf(log, sizeof log, "%.*s", (int)TSR_MIN(size, sizeof log - 1), whole);
    cuda_host->free(whole);
    return cuda_host->error(TSR_SYSTEM_ERROR, "a kernel for the device does not compile: %s", log);
}

/* Code for one architecture, or PTX for "compute_..." and all that came after it. */
static TsrStatus take_image(CudaImage *out, NvrtcProgram program, bool ptx) {
    CudaImage image = {NULL, 0};
    if ((ptx ? nvrtc.ptx_size : nvrtc.image_size)(program, &image.size) != 0 || image.size == 0)
        return cuda_host->error(TSR_SYSTEM_ERROR, "the compiler for the device made no code");
    image.bytes = cuda_host->malloc(image.size);
    if (image.bytes == NULL) return cuda_host->error(TSR_MEMORY_ERROR, "no memory for a kernel's code");
    if ((ptx ? nvrtc.ptx : nvrtc.image)(program, image.bytes) != 0) {
        cuda_image_free(&image);
        return cuda_host->error(TSR_SYSTEM_ERROR, "the compiler for the device does not give its code away");
    }
    *out = image;
    return TSR_OK;
}

TsrStatus cuda_compile_for(CudaImage *out, const char *architecture, const char *text) {
    char option[64];
    if (!has_nvrtc()) return TSR_NOT_IMPLEMENTED_ERROR;
    snprintf(option, sizeof option, "--gpu-architecture=%s", architecture);
    const char *options[] = {option, NO_CONTRACTION, "-default-device", LANGUAGE, "--disable-warnings"};
    NvrtcProgram program = NULL;
    int result = nvrtc.program_new(&program, text, "tsr.cu", 0, NULL, NULL);
    if (result == 2) return hindered_by(NO_COMPILER); /* the simulated one */
    if (result != 0) return cuda_host->error(TSR_SYSTEM_ERROR, "the compiler for the device does not start");
    const bool ptx = strncmp(architecture, "compute_", 8) == 0;
    TsrStatus status =
        nvrtc.compile(program, TSR_COUNTOF(options), options) == 0 ? take_image(out, program, ptx) : refused(program);
    nvrtc.program_free(&program);
    return status;
}

/* $TSR_CUDA_RECORD: a folder that the text of every kernel goes to, for scripts/cuda-pack. */
static void record(const char *text) {
    const char *folder = getenv("TSR_CUDA_RECORD");
    char path[4096];
    if (folder == NULL || *folder == '\0') return;
    CudaHash key = cuda_hash((CudaHash){0, 0}, text, strlen(text));
    snprintf(path, sizeof path, "%s/%016llx%016llx.cu", folder, (unsigned long long)key.high,
             (unsigned long long)key.low);
    FILE *f = fopen(path, "wb");
    if (f == NULL) return;
    (void)fwrite(text, 1, strlen(text), f);
    fclose(f);
}

/* The GPU's own architecture; where the compiler does not know that yet, the last one before it, for which it makes PTX
 * that the driver compiles. False: it knows only later ones. */
static bool choose_architecture(char *out, size_t room, const TsrDeviceFacts *facts) {
    enum { MOST = 128 };
    int list[MOST], n = 0, own = 10 * facts->major + facts->minor, best = 0;
    bool told = nvrtc.architecture_count(&n) == 0 && n > 0 && n <= MOST && nvrtc.architectures(list) == 0;
    for (int i = 0; told && i < n; i++)
        if (list[i] <= own) best = TSR_MAX(best, list[i]);
    if (!told) best = own;
    snprintf(out, room, "%s_%d", best == own ? "sm" : "compute", best);
    return best != 0;
}

TsrStatus cuda_compile(CudaImage *out, int index, const char *text) {
    char made_for[96], architecture[32];
    TsrDeviceFacts facts;
    record(text);
    if (!has_nvrtc()) return cuda_pack_read(out, text) ? TSR_OK : TSR_NOT_IMPLEMENTED_ERROR;
    TSR_TRY(cuda_facts(&facts, index));
    if (!choose_architecture(architecture, sizeof architecture, &facts)) return hindered_by(OLD_DEVICE);
    int n = snprintf(made_for, sizeof made_for, "%s %d.%d " NO_CONTRACTION " " LANGUAGE, architecture, major, minor);
    CudaHash key = cuda_hash(cuda_hash((CudaHash){0, 0}, made_for, (size_t)n + 1), text, strlen(text));
    if (cuda_cache_read(out, key)) return TSR_OK;
    TSR_TRY(cuda_compile_for(out, architecture, text));
    cuda_cache_write(key, out);
    return TSR_OK;
}
