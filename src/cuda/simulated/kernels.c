/* kernels.c: kernels of the simulated device: shared libraries that the simulated compiler (nvrtc.c) made, and their
 * launches. Threads that meet are fibers of one thread of the machine: each runs until it waits, for the block or for
 * its warp, and goes on when all that are still there have come; from one time to the next the first of them are the
 * last, so that one that does not wait for what another one writes finds it missing. What waits for different things at
 * once is an error of the kernel, and ends the program. */
#include "kernels.h"

#include <dlfcn.h>
#include <elf.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#define EXPORT __attribute__((visibility("default")))
enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, UNSUPPORTED_PTX = 222, NOT_FOUND = 500 };
enum { MOST_THREADS = 1024, WARP = 32, STACK = 64 << 10 };

/* As host.cuh has it. */
struct Simulated {
    unsigned threads, blocks, blocks_y;
    unsigned backwards_blocks, backwards_threads;
    unsigned thread, block, block_y;
    void (*meet)(int warp);
    char (*exchange)[16];
    void (*together)(void (*body)(const void *args), const void *args);
};
struct Launch {
    CuFunction function;
    unsigned blocks, blocks_y, threads;
    _Alignas(16) char args[];
};

/* The bytes of a shared library say how long they are: its table of sections is its end, or its last segment is. */
static size_t image_size(const void *image) {
    const Elf64_Ehdr *h = image;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64) return 0;
    return (size_t)h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
}

/* A path of its own for each: the loader takes a library for one that it has by the name. The bits of a count say where
 * a dot stands between slashes. */
static void name_image(char *path, size_t room, int fd) {
    static unsigned count;
    size_t n = (size_t)snprintf(path, room, "/proc/self/fd");
    for (unsigned bits = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); bits != 0 && n + 16 < room; bits >>= 1)
        n += (size_t)snprintf(path + n, room - n, "%s", bits & 1 ? "/." : "/");
    snprintf(path + n, room - n, "/%d", fd);
}

EXPORT int cuModuleLoadData(CuModule *out, const void *image) {
    char path[96];
    if (simulated_fails("module")) return UNSUPPORTED_PTX;
    size_t size = image_size(image);
    int fd = size != 0 ? memfd_create("kernel", MFD_CLOEXEC) : -1;
    if (fd < 0) return INVALID_VALUE;
    name_image(path, sizeof path, fd);
    *out = write(fd, image, size) == (ssize_t)size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    close(fd);
    return *out != NULL ? SUCCESS : INVALID_VALUE;
}

/* What host.cuh says of a kernel. */
static const unsigned long *number_of(CuModule module, const char *kernel, const char *what) {
    char name[256];
    snprintf(name, sizeof name, "%s_%s", kernel, what);
    return dlsym(module, name);
}

EXPORT int cuModuleGetFunction(CuFunction *out, CuModule module, const char *name) {
    void *run = dlsym(module, name);
    const unsigned long *size = number_of(module, name, "args"), *threads = number_of(module, name, "threads");
    if (run == NULL || size == NULL || threads == NULL) return NOT_FOUND;
    CuFunction f = malloc(sizeof *f);
    if (f == NULL) return OUT_OF_MEMORY;
    memcpy(&f->run, &run, sizeof run);
    f->args = *size;
    f->threads = (unsigned)*threads;
    *out = f;
    return SUCCESS;
}

Launch *launch_new(CuFunction function, unsigned blocks, unsigned blocks_y, unsigned threads, const void *args) {
    Launch *l = malloc(sizeof *l + function->args);
    if (l == NULL) return NULL;
    *l = (Launch){function, blocks, blocks_y, threads};
    memcpy(l->args, args, function->args);
    return l;
}

void launch_free(Launch *launch) { free(launch); }

/* ---- threads that meet ---- */

typedef struct Fiber {
    jmp_buf at;
    enum { FRESH, READY, AT_BARRIER, AT_WARP, DONE } state;
    void *hidden; /* the sanitizer's, while another one runs */
    char *stack;
} Fiber;

static Simulated simulated;
static Fiber fibers[MOST_THREADS];
static char exchange[MOST_THREADS][16];
static jmp_buf scheduler;
static void (*fiber_body)(const void *args);
static const void *fiber_args;

/* The address sanitizer has to know which stack runs: it is told before each change, and after it. */
static struct {
    const void *stack;
    size_t size;
    void *hidden;
} outside; /* the scheduler's */

#if defined(__SANITIZE_ADDRESS__)
static void leaves(void **hidden, const void *stack, size_t size) {
    __sanitizer_start_switch_fiber(hidden, stack, size);
}
static void arrives(void *hidden, const void **stack, size_t *size) {
    __sanitizer_finish_switch_fiber(hidden, stack, size);
}
#else
static void leaves(void **hidden, const void *stack, size_t size) { (void)hidden, (void)stack, (void)size; }
static void arrives(void *hidden, const void **stack, size_t *size) { (void)hidden, (void)stack, (void)size; }
#endif

static void go_on_elsewhere(int state) {
    Fiber *own = &fibers[simulated.thread];
    own->state = state;
    leaves(&own->hidden, outside.stack, outside.size);
    if (_setjmp(own->at) == 0) _longjmp(scheduler, 1);
    arrives(own->hidden, NULL, NULL);
}

static void meet(int warp) { go_on_elsewhere(warp ? AT_WARP : AT_BARRIER); }

static void begin_fiber(void) {
    arrives(NULL, &outside.stack, &outside.size);
    fiber_body(fiber_args);
    fibers[simulated.thread].state = DONE;
    leaves(NULL, outside.stack, outside.size); /* for ever */
    _longjmp(scheduler, 1);
}

/* setcontext, since the sanitizer warns of swapcontext; the way back is a jump. `context` is no variable of the stack,
 * around which the sanitizer would keep guards that such a jump leaves behind. */
static void begin(Fiber *f) {
    static ucontext_t context;
    f->state = READY;
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = STACK;
    context.uc_link = NULL;
    makecontext(&context, begin_fiber, 0);
    setcontext(&context);
}

static void run_fiber(unsigned thread) {
    Fiber *f = &fibers[thread];
    simulated.thread = thread;
    leaves(&outside.hidden, f->stack, STACK);
    if (_setjmp(scheduler) == 0) {
        if (f->state == FRESH) begin(f);
        _longjmp(f->at, 1);
    }
    arrives(outside.hidden, NULL, NULL);
}

/* Those of [begin, end) that wait in `state` go on if all that are not done wait so. */
static bool release(unsigned begin, unsigned end, int state) {
    bool any = false;
    for (unsigned i = begin; i < end; i++) {
        if (fibers[i].state != (unsigned)state && fibers[i].state != DONE) return false;
        any = any || fibers[i].state == (unsigned)state;
    }
    for (unsigned i = begin; i < end; i++)
        if (fibers[i].state == (unsigned)state) fibers[i].state = READY;
    return any;
}

static void together(void (*body)(const void *args), const void *args) {
    unsigned n = simulated.threads;
    fiber_body = body;
    fiber_args = args;
    for (unsigned i = 0; i < n; i++) {
        if (fibers[i].stack == NULL) fibers[i].stack = malloc(STACK);
        if (fibers[i].stack == NULL) abort();
        fibers[i].state = FRESH;
    }
    for (bool backwards = simulated.backwards_threads;; backwards = !backwards) {
        bool went = false, left = false;
        for (unsigned k = 0; k < n; k++) {
            const unsigned i = backwards ? n - 1 - k : k;
            if (fibers[i].state != FRESH && fibers[i].state != READY) continue;
            run_fiber(i);
            went = true;
        }
        for (unsigned i = 0; i < n; i += WARP) went = release(i, i + WARP < n ? i + WARP : n, AT_WARP) || went;
        went = release(0, n, AT_BARRIER) || went;
        for (unsigned i = 0; i < n; i++) left = left || fibers[i].state != DONE;
        if (!left) return;
        if (went) continue;
        fputs("simulated device: threads of a block wait for different things\n", stderr);
        abort();
    }
}

void launch_run(const Launch *l, unsigned order) {
    simulated = (Simulated){.threads = l->threads,
                            .blocks = l->blocks,
                            .blocks_y = l->blocks_y,
                            .backwards_blocks = order & 1,
                            .backwards_threads = order >> 1 & 1,
                            .meet = meet,
                            .exchange = exchange,
                            .together = together};
    l->function->run(&simulated, l->args);
}
