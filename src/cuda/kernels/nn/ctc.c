/* ctc.c: CTC losses (ctc.h): a block a sample, by device/nn/ctc.cuh for a dtype. */
#include "ctc.h"

#include "cuda/device/nn/ctc_args.h"
#include "cuda/errors.h"

enum { MOST_THREADS = 256, WARP = 32 };

static void write_ctc(CudaSource *s, const void *what) {
    cuda_source_begin(s, MOST_THREADS);
    cuda_source_part(s, CUDA_PART_ctc_args);
    cuda_source_add(s, "typedef %s E;\n", cuda_memory_type(*(const TsrDtype *)what));
    cuda_source_part(s, CUDA_PART_ctc);
}

static bool has_kernel(const TsrDeviceWork *w) {
    const TsrDtype d = w->t[0].at.dtype;
    return d == TSR_FLOAT32 || d == TSR_FLOAT64;
}

bool cuda_ctc_source(CudaSource *out, const TsrDeviceWork *w) {
    if (has_kernel(w)) write_ctc(out, &w->t[0].at.dtype);
    return has_kernel(w);
}

TsrStatus cuda_ctc(const TsrDeviceWork *w) {
    const TsrDeviceTensor *log_probs = &w->t[2];
    const TsrDtype d = log_probs->at.dtype;
    if (!has_kernel(w)) return TSR_NOT_IMPLEMENTED_ERROR;
    CtcArgs a = {.out = w->t[0].at.data,
                 .rows = w->t[1].at.data,
                 .log_probs = log_probs->at.data,
                 .spelled = w->t[3].at.data,
                 .steps = w->t[4].at.data,
                 .letters = w->t[5].at.data,
                 .batch = log_probs->sizes[1],
                 .classes = log_probs->sizes[0],
                 .width = w->t[3].sizes[0],
                 .most_steps = log_probs->sizes[2],
                 .found = CUDA_FOUND_INDEX + TSR_WRONG_PLACE};
    int64_t threads = TSR_MIN((a.width + WARP - 1) / WARP * WARP, (int64_t)MOST_THREADS);
    return cuda_run_reporting(w, (CudaText){&d, sizeof d, "tsr_ctc", write_ctc}, (uint64_t)(a.batch * threads),
                              (unsigned)threads, &a, &a.errors, &a.launch);
}
