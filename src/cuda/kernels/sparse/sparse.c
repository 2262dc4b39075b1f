/* sparse.c: sparse tensors by device/sparse/sparse.cuh (sparse.h). */
#include "sparse.h"

#include "cuda/errors.h"
#include "cuda/launch.h"

#include "cuda/device/sparse/sparse_args.h"

enum { THREADS = 256 };

typedef struct Key {
    uint8_t dtype, fused;
} Key;

/* What products of elements are added up in. */
static const char *sums_type(TsrDtype d) {
    if (d == TSR_FLOAT16 || d == TSR_BFLOAT16) return "float";
    if (d == TSR_FLOAT32 || d == TSR_FLOAT64 || d == TSR_COMPLEX64 || d == TSR_COMPLEX128) return cuda_memory_type(d);
    return d == TSR_UINT8 || d == TSR_INT8 || d == TSR_INT16 || d == TSR_INT32 || d == TSR_INT64 ? "uint64_t" : NULL;
}

static void write_sparse(CudaSource *s, const void *what) {
    const Key *key = what;
    cuda_source_begin(s, THREADS);
    if (cuda_is_complex(key->dtype)) cuda_source_part(s, CUDA_PART_complex);
    cuda_source_part(s, CUDA_PART_sparse_args);
    cuda_source_add(s, "typedef %s E;\ntypedef %s A;\n#define FUSED %d\n", cuda_memory_type(key->dtype),
                    sums_type(key->dtype), key->fused);
    cuda_source_part(s, CUDA_PART_sparse);
}

bool cuda_sparse_source(CudaSource *out, TsrDtype dtype, bool fused) {
    const Key key = {dtype, fused};
    if (sums_type(dtype) == NULL || (fused && dtype != TSR_FLOAT32 && dtype != TSR_FLOAT64)) return false;
    write_sparse(out, &key);
    return true;
}

TsrStatus cuda_flat(const TsrDeviceWork *w) {
    const TsrDeviceShape *shape = w->params;
    const TsrDeviceTensor *in = &w->t[1];
    const Key key = {TSR_FLOAT32, false};
    FlatArgs a = {.in = in->at.data,
                  .out = w->t[0].at.data,
                  .n = in->sizes[0],
                  .ndim = shape->ndim,
                  .down = in->at.strides[1],
                  .across = in->at.strides[0]};
    for (int d = 0; d < shape->ndim; d++) a.sizes[d] = shape->sizes[shape->ndim - 1 - d];
    return cuda_run_reporting(w, (CudaText){&key, sizeof key, "tsr_flat", write_sparse}, (uint64_t)a.n, THREADS, &a,
                              &a.errors, &a.launch);
}

TsrStatus cuda_copy_places(TsrAddress out, const TsrDeviceWork *w) {
    const Key key = {TSR_FLOAT32, false};
    const TsrDeviceTensor *places = &w->t[2];
    CuFunction f;
    PlacesArgs a = {.in = places->at.data, .out = out, .n = places->sizes[0], .size = w->t[4].sizes[1]};
    TSR_TRY(cuda_kernel(&f, w->index, &key, sizeof key, "tsr_places", write_sparse, &key));
    TSR_TRY(cuda_errors_begin(&a.errors, &a.launch, w->index));
    return cuda_launch(f, w->index, cuda_blocks(w->index, (uint64_t)a.n, THREADS), 1, THREADS, &a);
}

static TsrStatus own_kernel(const TsrDeviceWork *w) {
    const TsrDeviceSpmm *how = w->params;
    const TsrDeviceTensor *out = &w->t[0];
    const TsrDtype dtype = out->at.dtype;
    const Key key = {dtype, how->fused && (dtype == TSR_FLOAT32 || dtype == TSR_FLOAT64)};
    SpmmArgs a = {.out = out->at.data,
                  .starts = w->t[1].at.data,
                  .places = w->t[2].at.data,
                  .values = w->t[3].at.data,
                  .dense = w->t[4].at.data,
                  .rows = out->sizes[1],
                  .columns = out->sizes[0],
                  .depth = w->t[4].sizes[1]};
    if (sums_type(dtype) == NULL) return TSR_NOT_IMPLEMENTED_ERROR;
    const uint64_t items = (uint64_t)a.rows * (uint64_t)a.columns;
    return cuda_run_reporting(w, (CudaText){&key, sizeof key, "tsr_spmm", write_sparse}, items, THREADS, &a, &a.errors,
                              &a.launch);
}

TsrStatus cuda_spmm(const TsrDeviceWork *w) {
    if (w->t[0].sizes[0] == 0 || w->t[0].sizes[1] == 0) return TSR_OK;
    TsrStatus status = cuda_cusparse(w);
    if (status == TSR_NOT_IMPLEMENTED_ERROR) return own_kernel(w);
    if (status == TSR_OK) cuda_work_uses(w);
    return status;
}
