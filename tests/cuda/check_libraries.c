/* check_libraries.c: our own kernels for what NVIDIA's libraries do where they are, for check_kernels.c. */
#include <stdio.h>

#include "check_kernels.h"
#include "cuda/kernels/fft/fft.h"
#include "cuda/kernels/linalg/distance.h"
#include "cuda/kernels/linalg/matrix.h"
#include "cuda/kernels/sparse/sparse.h"
#include "cuda/library.h"

static TsrDeviceTensor lines(TsrDtype dtype) {
    const int64_t size = (int64_t)cuda_itemsize(dtype);
    TsrDeviceTensor t = {.at = {.data = 4096, .dtype = dtype, .compute = dtype}, .ndim = 3, .sizes = {64, 4, 4}};
    for (int d = 0; d < 3; d++) t.at.strides[d] = size << 8 * d;
    return t;
}

static void check_functions(CudaLibrary *library) {
    char text[64];
    if (cuda_library_has(library) || library->state == -1) return;
    snprintf(text, sizeof text, "lib%s lacks a function that is called of it", library->stem);
    check_fail(text);
}

void check_libraries(void) {
    CudaLibrary *const libraries[] = {&cuda_libcublaslt, &cuda_libcufft, &cuda_libcusparse, &cuda_libcusolver};
    for (size_t i = 0; i < TSR_COUNTOF(libraries); i++) check_functions(libraries[i]);

    static const TsrDtype dtypes[] = {TSR_COMPLEX64, TSR_COMPLEX128};
    for (int i = 0; i < 2; i++) {
        CudaSource source = {0};
        const TsrDeviceFft how = {.kind = TSR_FFT_C2C, .n = 64, .scale = 1};
        TsrDeviceWork w = {.what = TSR_P_FFT, .nout = 1, .nin = 1, .params = &how, .nparams = sizeof how};
        w.t[0] = w.t[1] = lines(dtypes[i]);
        check_compile("Fourier transforms", cuda_fft_source(&source, &w), &source);
    }
    static const TsrDtype all[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_COMPLEX128};
    for (int i = 0; i < 4; i++) {
        CudaSource source = {0};
        check_compile("factorizations", cuda_matrix_source(&source, all[i]), &source);
    }
    for (int i = 0; i < 10; i++) {
        static const double norms[] = {0, 1, 2, 3, __builtin_inf()};
        CudaSource source = {0};
        check_compile("distances", cuda_distance_source(&source, all[i / 5], norms[i % 5]), &source);
    }
    static const TsrDtype some[] = {TSR_FLOAT16, TSR_FLOAT32, TSR_FLOAT64, TSR_COMPLEX64, TSR_INT8, TSR_INT64};
    for (size_t i = 0; i < TSR_COUNTOF(some); i++) {
        CudaSource source = {0};
        check_compile("sparse matrices", cuda_sparse_source(&source, some[i], some[i] == TSR_FLOAT64), &source);
    }
}
