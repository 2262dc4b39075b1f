/* blas.c: loading BLAS and LAPACK (blas.h).
 *
 * The library is opened when the first routine is needed: $TSR_BLAS, or else OpenBLAS, of which the variant for OpenMP
 * is looked for by path, since the one with threads of its own can't be limited per thread. What it reads from the
 * environment (how long its threads spin, which kernels) is lent to it while it loads and taken back, so that a child
 * sees none of it. Where OpenBLAS is too old to know the processor and took its oldest kernels, it is loaded once more
 * with those that fit. All calls then run on one thread unless a job says otherwise (tsr_blas_limit). */
#include "blas.h"

#include "core/kernels/simd.h"
#include "core/parallel.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TsrBlas blas_table;
static bool blas_loaded;
static char blas_missing[256]; /* what was not found: a symbol, or the library that $TSR_BLAS names */
static char blas_about[256];
static void *blas_handle;
static void (*blas_set_threads)(int); /* of the calling thread where the library uses OpenMP, else of the process */
static pthread_once_t blas_once = PTHREAD_ONCE_INIT;
static _Thread_local int blas_threads; /* what this thread has asked for */

/* ---- what the libraries read from the environment when they are loaded ---- */

/* Sets `name` unless the user has; whether it is to be taken back. The environment is as it was after the library is
 * loaded: a child sees none of it. */
static bool lend_variable(const char *name, const char *value) {
    return getenv(name) == NULL && setenv(name, value, 1) == 0;
}

static void take_back(bool lent, const char *name) {
    if (lent) unsetenv(name);
}

/* The threads of OpenMP wait for work in a loop, for some 15 ms unless told otherwise: beside other programs each wait
 * keeps a processor from the thread that is waited for. So many rounds are some tens of microseconds, what it takes to
 * sleep and be woken. */
#define SPIN_ROUNDS "2000"

static void *open_patiently(const char *path) {
    bool lent = getenv("OMP_WAIT_POLICY") == NULL && lend_variable("GOMP_SPINCOUNT", SPIN_ROUNDS);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    take_back(lent, "GOMP_SPINCOUNT");
    return handle;
}

/* ---- which kernels ---- */

static const char *core_name(void *handle) {
    char *(*name)(void);
    *(void **)&name = dlsym(handle, "openblas_get_corename");
    return name != NULL ? name() : "";
}

/* The kernels for what the processor can do, where OpenBLAS took some of before AVX2: it goes by model numbers, and one
 * that it is too old to know gets the oldest kernels. NULL: it chose well, or the user did. */
static const char *better_kernels(void *handle) {
    static const char *const old[] = {"Katmai",  "Coppermine",   "Northwood",  "Prescott", "Banias",      "Atom",
                                      "Core2",   "Penryn",       "Dunnington", "Nehalem",  "Sandybridge", "Athlon",
                                      "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",   "Nano"};
    TsrIsa isa = tsr_cpu_isa();
    if (isa == TSR_ISA_BASE || getenv("OPENBLAS_CORETYPE") != NULL) return NULL;
    const char *name = core_name(handle);
    for (size_t i = 0; i < TSR_COUNTOF(old); i++)
        if (strcmp(name, old[i]) == 0) return isa == TSR_ISA_AVX512 ? "SkylakeX" : "Haswell";
    return NULL;
}

/* `handle`, or the same library loaded once more with kernels that fit. */
static void *with_kernels(void *handle, const char *path) {
    const char *kernels = handle != NULL ? better_kernels(handle) : NULL;
    if (kernels == NULL) return handle;
    dlclose(handle);
    bool lent = lend_variable("OPENBLAS_CORETYPE", kernels);
    handle = open_patiently(path);
    take_back(lent, "OPENBLAS_CORETYPE");
    return handle;
}

static void *open_with_kernels(const char *path) { return with_kernels(open_patiently(path), path); }

/* ---- which library ---- */

/* The OpenMP variant by path: OpenBLAS answers 2 to openblas_get_parallel() when built for OpenMP. */
static void *open_openmp(void) {
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
        "/usr/lib/aarch64-linux-gnu/openblas-openmp/libopenblas.so.0",
        "/usr/lib64/libopenblaso.so.0",
    };
    for (size_t i = 0; i < TSR_COUNTOF(paths); i++) {
        void *handle = open_with_kernels(paths[i]);
        if (handle == NULL) continue;
        int (*parallel)(void);
        *(void **)&parallel = dlsym(handle, "openblas_get_parallel");
        if (parallel != NULL && parallel() == 2) return handle;
        dlclose(handle);
    }
    return NULL;
}

static void *open_library(void) {
    const char *named = getenv("TSR_BLAS");
    if (named == NULL || named[0] == '\0') {
        void *handle = open_openmp();
        return handle != NULL ? handle : open_with_kernels("libopenblas.so.0");
    }
    void *handle = open_with_kernels(named);
    if (handle == NULL) snprintf(blas_missing, sizeof blas_missing, "TSR_BLAS: %s", dlerror());
    return handle;
}

static bool resolve(void *handle, const char *symbol, void *slot) {
    if (symbol[0] == '\0') return true;
    void *address = dlsym(handle, symbol);
    memcpy(slot, &address, sizeof address);
    if (address != NULL) return true;
    snprintf(blas_missing, sizeof blas_missing, "the library of BLAS that was found has no %s", symbol);
    return false;
}

static bool resolve_all(void *handle) {
    bool ok = true;
#define CBLAS(name, returns, args) ok = ok && resolve(handle, "cblas_" #name, &blas_table.name);
#define LAPACK_ALL(name, s, d, c, z, args) \
    ok = ok && resolve(handle, s, &blas_table.name[TSR_BLAS_S]) && resolve(handle, d, &blas_table.name[TSR_BLAS_D]) && \
         resolve(handle, c, &blas_table.name[TSR_BLAS_C]) && resolve(handle, z, &blas_table.name[TSR_BLAS_Z]);
#include "blas.def"
#undef CBLAS
#undef LAPACK_ALL
    return ok;
}

static void load(void) {
    static const char *const setters[] = {"omp_set_num_threads", "openblas_set_num_threads", "MKL_Set_Num_Threads",
                                          "bli_thread_set_num_threads"};
    blas_handle = open_library();
    blas_loaded = blas_handle != NULL && resolve_all(blas_handle);
    for (size_t i = 0; blas_loaded && blas_set_threads == NULL && i < TSR_COUNTOF(setters); i++)
        *(void **)&blas_set_threads = dlsym(blas_handle, setters[i]);
}

void tsr_blas_limit(int threads) {
    if (threads == blas_threads || blas_set_threads == NULL) return;
    blas_threads = threads;
    blas_set_threads(threads);
}

int tsr_blas_limited(void) { return blas_threads; }

const TsrBlas *tsr_blas_try(void) {
    pthread_once(&blas_once, load);
    if (!blas_loaded) return NULL;
    tsr_blas_limit(tsr_parallel_width());
    return &blas_table;
}

TsrStatus tsr_blas_get(const TsrBlas **lent) {
    *lent = tsr_blas_try();
    if (*lent != NULL) return TSR_OK;
#ifdef __EMSCRIPTEN__
    TsrStatus none = tsr_error(TSR_RUNTIME_ERROR, "this operation needs LAPACK, which the browser's tsr does not have");
    tsr_error_hint("the installed tsr has it");
    return none;
#endif
    TsrStatus s = blas_missing[0]
                      ? tsr_error(TSR_RUNTIME_ERROR, "%s", blas_missing)
                      : tsr_error(TSR_RUNTIME_ERROR,
                                  "this operation needs OpenBLAS with LAPACK, and libopenblas.so.0 was not found");
    if (getenv("TSR_BLAS") != NULL)
        tsr_error_hint(
            "TSR_BLAS names a shared library that has both BLAS and LAPACK; without it OpenBLAS is looked for");
    else tsr_error_hint("install Debian's package libopenblas0-openmp");
    return s;
}

/* Where the library lies, as the loader found it. */
static const char *where(void) {
    Dl_info info;
    void *address = dlsym(blas_handle, "cblas_sgemm");
    return address != NULL && dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

const char *tsr_blas_about(void) {
    const TsrBlas *blas = tsr_blas_try();
    if (blas == NULL) return blas_missing[0] ? blas_missing : "no BLAS";
    char *(*config)(void);
    *(void **)&config = dlsym(blas_handle, "openblas_get_config");
    if (config == NULL) {
        snprintf(blas_about, sizeof blas_about, "%s", where());
        return blas_about;
    }
    char name[64]; /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": the first two words */
    const char *text = config(), *end = strchr(text, ' ');
    if (end != NULL) end = strchr(end + 1, ' ');
    snprintf(name, sizeof name, "%.*s", end != NULL ? (int)(end - text) : (int)strlen(text), text);
    snprintf(blas_about, sizeof blas_about, "%s, %s kernels, %s", name, core_name(blas_handle), where());
    return blas_about;
}

TsrStatus tsr_blas_int(int *out, int64_t n) {
    if (n > INT_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "a matrix dimension of %lld is too large for BLAS, whose limit is %d",
                         (long long)n, INT_MAX);
    *out = (int)n;
    return TSR_OK;
}

bool tsr_blas_type(TsrBlasType *out, TsrDtype d) {
    switch (d) {
    case TSR_FLOAT32: *out = TSR_BLAS_S; return true;
    case TSR_FLOAT64: *out = TSR_BLAS_D; return true;
    case TSR_COMPLEX64: *out = TSR_BLAS_C; return true;
    case TSR_COMPLEX128: *out = TSR_BLAS_Z; return true;
    default: return false;
    }
}
