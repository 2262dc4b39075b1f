/* plugin.c: libtsr_cuda.so's one export: opens the driver and fills core/backend.h's table. */
#include "memory.h"

__attribute__((visibility("default"))) TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out);

TsrStatus tsr_backend_init(const TsrHost *host, TsrBackend *out) {
    cuda_host = host;
    *out = (TsrBackend){.version = TSR_BACKEND_VERSION,
                        .name = "cuda",
                        .device_type = TSR_CUDA,
                        .device_count = cuda_device_count,
                        .current = cuda_current,
                        .set_current = cuda_set_current,
                        .copy = cuda_copy,
                        .synchronize = cuda_synchronize,
                        .facts = cuda_facts,
                        .free_memory = cuda_free_memory,
                        .memory = cuda_memory,
                        .reset_peaks = cuda_reset_peaks};
    if (host->version != TSR_BACKEND_VERSION) return TSR_OK; /* which the core refuses by `version` */
    TSR_TRY(cuda_driver_open());
    host->register_allocator(&cuda_caching);
    host->register_allocator(&cuda_direct);
    return TSR_OK;
}
