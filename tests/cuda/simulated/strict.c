/* strict.c CASE: what the simulated device does with kernels that a GPU would refuse, or run otherwise than they count
 * on: prints what came of one of the cases below. tests/repl/cuda_strict.sh compiles and runs it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct CuFunctionBody *CuFunction;
typedef struct NvrtcProgramBody *NvrtcProgram;
int cuInit(unsigned flags), cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *address, size_t bytes), cuCtxSynchronize(void);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *stream);
int cuModuleLoadData(void **module, const void *image);
int cuModuleGetFunction(CuFunction *function, void *module, const char *name);
int cuLaunchKernel(CuFunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty, unsigned tz,
                   unsigned shared, void *stream, void **arguments, void **extra);
int nvrtcCreateProgram(NvrtcProgram *program, const char *source, const char *name, int headers,
                       const char *const *texts, const char *const *names);
int nvrtcCompileProgram(NvrtcProgram program, int count, const char *const *options);
int nvrtcGetCUBINSize(NvrtcProgram program, size_t *size), nvrtcGetCUBIN(NvrtcProgram program, char *image);

enum { THREADS = 64 };
typedef struct Args {
    uint64_t out;
    uint32_t ahead;
} Args;

/* Each thread leaves its number in shared memory and takes a neighbour's, without waiting for it. */
#define HURRIED \
    "KERNEL_TOGETHER(one, Args) { SHARED(uint32_t, kept, 64); kept[thread()] = thread();" \
    " at<uint32_t>(a.out)[thread()] = kept[(thread() + a.ahead) % 64]; }"
#define UNFILLED "KERNEL_TOGETHER(one, Args) { SHARED(uint32_t, kept, 64); at<uint32_t>(a.out)[thread()] = kept[0]; }"
#define LAST "KERNEL(one, Args) { at<uint32_t>(a.out)[0] = thread(); }"
#define CROOKED "KERNEL(one, Args) { *at<Pack<uint32_t, 4>>(a.out + 4 * a.ahead) = Pack<uint32_t, 4>(); }"

static void must(int result) {
    if (result == 0) return;
    printf("error %d\n", result);
    exit(1);
}

static CuFunction compiled(const char *kernel) {
    char text[2048];
    NvrtcProgram program;
    CuFunction f;
    void *module;
    size_t size;
    snprintf(text, sizeof text,
             "#define KERNEL_THREADS %d\n/* types.cuh: */\n"
             "template <class T, int n> struct alignas(sizeof(T) * n) Pack { T e[n]; };\n"
             "struct Args { uint64_t out; uint32_t ahead; };\n%s\n",
             THREADS, kernel);
    must(nvrtcCreateProgram(&program, text, "", 0, NULL, NULL));
    must(nvrtcCompileProgram(program, 0, NULL));
    must(nvrtcGetCUBINSize(program, &size));
    char *image = malloc(size);
    must(nvrtcGetCUBIN(program, image));
    must(cuModuleLoadData(&module, image));
    must(cuModuleGetFunction(&f, module, "one"));
    free(image);
    return f;
}

static int launch(CuFunction f, unsigned blocks_y, unsigned threads, const Args *args) {
    return cuLaunchKernel(f, 1, blocks_y, 1, threads, 1, 1, 0, NULL, (void *[]){(void *)(uintptr_t)args}, NULL);
}

/* How many different results the kernel has in some launches. */
static int results_of(CuFunction f, Args args) {
    enum { TIMES = 16 };
    uint32_t got[TIMES][THREADS];
    int different = 0;
    for (int i = 0; i < TIMES; i++) {
        must(launch(f, 1, THREADS, &args));
        must(cuMemcpyDtoHAsync_v2(got[i], args.out, sizeof got[i], NULL));
        must(cuCtxSynchronize());
        int k = 0;
        while (k < i && memcmp(got[k], got[i], sizeof got[i]) != 0) k++;
        different += k == i;
    }
    return different;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    Args args = {.ahead = 1};
    uint32_t first;
    void *context;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
    must(cuMemAlloc_v2(&args.out, 4096));
    if (strcmp(what, "order") == 0) printf("%d\n", results_of(compiled(LAST), args));
    if (strcmp(what, "hurried") == 0) printf("%d\n", results_of(compiled(HURRIED), args));
    if (strcmp(what, "threads") == 0) printf("%d\n", launch(compiled(LAST), 1, 2 * THREADS, &args));
    if (strcmp(what, "grid") == 0) printf("%d\n", launch(compiled(LAST), 65536, THREADS, &args));
    if (strcmp(what, "unfilled") == 0) {
        must(launch(compiled(UNFILLED), 1, THREADS, &args));
        must(cuMemcpyDtoHAsync_v2(&first, args.out, sizeof first, NULL));
        must(cuCtxSynchronize());
        printf("%x\n", first);
    }
    if (strcmp(what, "crooked") == 0) {
        must(launch(compiled(CROOKED), 1, 1, &args));
        must(cuCtxSynchronize());
        puts("done");
    }
    return 0;
}
