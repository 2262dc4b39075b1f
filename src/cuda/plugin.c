/* plugin.c: libtsr_cuda.so's one export: opens the driver and fills core/backend.h's table. */
#include "compile.h"
#include "cuda/kernels/fft/fft.h"
#include "cuda/kernels/index.h"
#include "cuda/kernels/linalg/distance.h"
#include "cuda/kernels/linalg/matrix.h"
#include "cuda/kernels/map.h"
#include "cuda/kernels/mask.h"
#include "cuda/kernels/matmul.h"
#include "cuda/kernels/nn/bag.h"
#include "cuda/kernels/nn/conv.h"
#include "cuda/kernels/nn/ctc.h"
#include "cuda/kernels/nn/grid.h"
#include "cuda/kernels/nn/pool.h"
#include "cuda/kernels/nn/resample.h"
#include "memory.h"
#include "cuda/kernels/ramp.h"
#include "cuda/kernels/random/choose.h"
#include "cuda/kernels/random/random.h"
#include "cuda/kernels/reduce.h"
#include "cuda/kernels/rows.h"
#include "cuda/kernels/scan.h"
#include "cuda/kernels/search.h"
#include "cuda/kernels/sort.h"
#include "cuda/kernels/sparse/sparse.h"
#include "stream.h"
#include "cuda/kernels/triangle.h"

__attribute__((visibility("default"))) TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out);

/* Primitives by their number; NULL: over the host. */
typedef TsrStatus (*PrimitiveFn)(const TsrDeviceWork *work);
static const PrimitiveFn primitives[TSR_PRIMITIVES + 1] = {
    [TSR_P_RANDOM] = cuda_random,
    [TSR_P_SHUFFLE] = cuda_shuffle,
    [TSR_P_SHARES] = cuda_shares,
    [TSR_P_CHOOSE] = cuda_choose,
    [TSR_P_PICK] = cuda_pick,
    [TSR_P_PLACE] = cuda_place,
    [TSR_P_BAG] = cuda_bag,
    [TSR_P_SCAN] = cuda_scan,
    [TSR_P_TRUE_COUNTS] = cuda_true_counts,
    [TSR_P_TRUE_PLACES] = cuda_true_places,
    [TSR_P_SORT] = cuda_sort,
    [TSR_P_SOFTMAX] = cuda_rows,
    [TSR_P_NORM] = cuda_rows,
    [TSR_P_SEARCH] = cuda_search,
    [TSR_P_RAMP] = cuda_ramp,
    [TSR_P_TRIANGLE] = cuda_triangle,
    [TSR_P_CTC] = cuda_ctc,
    [TSR_P_CONV] = cuda_conv,
    [TSR_P_POOL] = cuda_pool,
    [TSR_P_FFT] = cuda_fft,
    [TSR_P_LU] = cuda_matrix,
    [TSR_P_CHOLESKY] = cuda_matrix,
    [TSR_P_TRIANGULAR] = cuda_matrix,
    [TSR_P_QR] = cuda_matrix,
    [TSR_P_Q] = cuda_matrix,
    [TSR_P_REFLECT] = cuda_matrix,
    [TSR_P_SVD] = cuda_matrix,
    [TSR_P_EIGH] = cuda_matrix,
    [TSR_P_GRID] = cuda_grid,
    [TSR_P_RESAMPLE] = cuda_resample,
    [TSR_P_FLAT] = cuda_flat,
    [TSR_P_SPMM] = cuda_spmm,
    [TSR_P_DISTANCE] = cuda_distance,
};

static TsrStatus work(const TsrDeviceWork *w) {
    PrimitiveFn fn = w->what < TSR_PRIMITIVES ? primitives[w->what] : NULL;
    return fn != NULL ? fn(w) : TSR_NOT_IMPLEMENTED_ERROR;
}

TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out) {
    cuda_host = host;
    *out = (TsrBackend){.version = TSR_BACKEND_VERSION,
                        .name = "cuda",
                        .device_type = TSR_CUDA,
                        .device_count = cuda_device_count,
                        .current = cuda_current,
                        .set_current = cuda_set_current,
                        .copy = cuda_copy,
                        .uses = cuda_uses,
                        .record_stream = cuda_record_stream,
                        .map = cuda_map,
                        .reduce = cuda_reduce,
                        .matmul = cuda_matmul,
                        .work = work,
                        .missing = cuda_missing,
                        .synchronize = cuda_synchronize,
                        .facts = cuda_facts,
                        .free_memory = cuda_free_memory,
                        .can_access_peer = cuda_can_access_peer,
                        .used = cuda_memory_used,
                        .memory = cuda_memory,
                        .pinned = cuda_pinned_memory,
                        .reset_stats = cuda_reset_stats,
                        .reset_pinned_stats = cuda_pinned_reset,
                        .fraction = cuda_fraction,
                        .set_fraction = cuda_set_fraction,
                        .each_block = cuda_each_block,
                        .streams = &cuda_streams};
    if (host->version != TSR_BACKEND_VERSION) return TSR_OK; /* which the core refuses by `version` */
    TSR_TRY(cuda_driver_open());
    host->register_allocator(&cuda_caching);
    host->register_allocator(&cuda_direct);
    host->register_allocator(&cuda_bfc);
    host->register_allocator(&cuda_pinned);
    return TSR_OK;
}
