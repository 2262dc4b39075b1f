/* ramp.c: numbers in steps by device/ramp.cuh (ramp.h). */
#include "ramp.h"

#include "cuda/launch.h"

#include "cuda/device/ramp_args.h"

enum { THREADS = 256, HOST_VECTOR = 32 /* bytes, of AVX2, by which the host's arange goes */ };

static bool is_whole(TsrDtype d) {
    return d == TSR_UINT8 || d == TSR_INT8 || d == TSR_INT16 || d == TSR_INT32 || d == TSR_INT64;
}

static bool has_kernel(TsrDtype d) {
    return is_whole(d) || d == TSR_FLOAT16 || d == TSR_BFLOAT16 || d == TSR_FLOAT32 || d == TSR_FLOAT64;
}

bool cuda_ramp_source(CudaSource *s, TsrDtype d) {
    if (!has_kernel(d)) return false;
    cuda_source_begin(s, THREADS);
    cuda_source_part(s, CUDA_PART_ramp_args);
    cuda_source_add(s, "typedef %s M;\ntypedef %s F;\nenum { IS_WHOLE = %d, LANES = %d };\n", cuda_memory_type(d),
                    d == TSR_FLOAT64 ? "double" : "float", is_whole(d), HOST_VECTOR / (int)cuda_itemsize(d));
    cuda_source_part(s, CUDA_PART_ramp);
    return true;
}

static void write_ramp(CudaSource *s, const void *what) { (void)cuda_ramp_source(s, *(const TsrDtype *)what); }

TsrStatus cuda_ramp(const TsrDeviceWork *w) {
    const TsrDeviceRamp *p = w->params;
    const TsrDeviceTensor *t = &w->t[0];
    const TsrDtype dtype = t->at.dtype;
    RampArgs a = {t->at.data, t->sizes[0], p->start,  p->step,   p->end,
                  p->base,    p->start_i,  p->step_i, p->step_f, p->kind};
    if (!has_kernel(dtype)) return TSR_NOT_IMPLEMENTED_ERROR;
    return cuda_run(w, (CudaText){&dtype, sizeof dtype, "tsr_ramp", write_ramp}, (uint64_t)a.n, THREADS, &a);
}
