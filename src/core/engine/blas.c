/* Loading OpenBLAS: see blas.h. */
#include "blas.h"

#include "core/parallel.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

static TsrBlas blas_table;
static bool blas_loaded;
static char blas_missing[128]; /* the first symbol or library that was not found */
static void (*blas_set_threads)(int); /* of the calling thread where the library uses OpenMP, else of the process */
static pthread_once_t blas_once = PTHREAD_ONCE_INIT;

/* The OpenMP variant by path: OpenBLAS answers 2 to openblas_get_parallel() when built for OpenMP. */
static void *open_library(void) {
    static const char *const paths[] = {
        "/usr/lib/x86_64-linux-gnu/openblas-openmp/libopenblas.so.0",
        "/usr/lib/aarch64-linux-gnu/openblas-openmp/libopenblas.so.0",
        "/usr/lib64/libopenblaso.so.0",
    };
    for (size_t i = 0; i < TSR_COUNTOF(paths); i++) {
        void *handle = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        if (handle == NULL) continue;
        int (*parallel)(void);
        *(void **)&parallel = dlsym(handle, "openblas_get_parallel");
        if (parallel != NULL && parallel() == 2) return handle;
        dlclose(handle);
    }
    return dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
}

static bool resolve(void *handle, const char *symbol, void *slot) {
    if (symbol[0] == '\0') return true;
    void *address = dlsym(handle, symbol);
    memcpy(slot, &address, sizeof address);
    if (address != NULL) return true;
    strncpy(blas_missing, symbol, sizeof blas_missing - 1);
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
    void *handle = open_library();
    blas_loaded = handle != NULL && resolve_all(handle);
    if (!blas_loaded) return;
    *(void **)&blas_set_threads = dlsym(handle, "omp_set_num_threads");
    if (blas_set_threads == NULL) *(void **)&blas_set_threads = dlsym(handle, "openblas_set_num_threads");
}

const TsrBlas *tsr_blas_try(void) {
    static _Thread_local int threads;
    pthread_once(&blas_once, load);
    if (!blas_loaded) return NULL;
    if (threads != tsr_parallel_width() && blas_set_threads != NULL) blas_set_threads(threads = tsr_parallel_width());
    return &blas_table;
}

TsrStatus tsr_blas_get(const TsrBlas **lent) {
    *lent = tsr_blas_try();
    if (*lent != NULL) return TSR_OK;
    TsrStatus s = blas_missing[0] ? tsr_error(TSR_RUNTIME_ERROR, "OpenBLAS was found but it has no %s", blas_missing)
                                  : tsr_error(TSR_RUNTIME_ERROR, "this operation needs OpenBLAS with LAPACK, and libopenblas.so.0 was not found");
    tsr_error_hint("install Debian's package libopenblas0-openmp");
    return s;
}

TsrStatus tsr_blas_int(int *out, int64_t n) {
    if (n > INT_MAX) return tsr_error(TSR_RUNTIME_ERROR, "a matrix dimension of %lld is too large for BLAS, whose limit is %d", (long long)n, INT_MAX);
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
