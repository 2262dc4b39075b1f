/* resample.c: weighted sums of elements (resample.h): the text of the kernel, device/nn/resample.cuh for a dtype. */
#include "resample.h"

#include <string.h>

#include "cuda/device/nn/resample_args.h"
#include "cuda/errors.h"

enum { THREADS = 256 };

static void write_resample(CudaSource *s, const void *what) {
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_resample_args);
    cuda_source_add(s, "typedef %s E;\n", cuda_memory_type(*(const TsrDtype *)what));
    cuda_source_part(s, CUDA_PART_resample);
}

static bool has_kernel(const TsrDeviceWork *w) {
    const TsrDtype d = w->t[1].at.dtype;
    return d == TSR_FLOAT32 || d == TSR_FLOAT64;
}

bool cuda_resample_source(CudaSource *out, const TsrDeviceWork *w) {
    if (has_kernel(w)) write_resample(out, &w->t[1].at.dtype);
    return has_kernel(w);
}

TsrStatus cuda_resample(const TsrDeviceWork *w) {
    const TsrDeviceTensor *out = &w->t[0], *in = &w->t[1], *places = &w->t[2];
    const TsrDtype d = in->at.dtype;
    ResampleArgs a;
    if (!has_kernel(w)) return TSR_NOT_IMPLEMENTED_ERROR;
    memset(&a, 0, sizeof a);
    a.out = out->at.data, a.in = in->at.data, a.places = places->at.data, a.weights = w->t[3].at.data;
    a.inner = out->sizes[0], a.size = out->sizes[1], a.volume = in->sizes[1], a.taps = places->sizes[1];
    a.n = a.inner * a.size * out->sizes[2];
    a.found = CUDA_FOUND_INDEX + TSR_WRONG_ROW;
    return cuda_run_reporting(w, (CudaText){&d, sizeof d, "tsr_resample", write_resample}, (uint64_t)a.n, THREADS, &a,
                              &a.errors, &a.launch);
}
