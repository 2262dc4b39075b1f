/* sort.h: sorting lines, TSR_P_SORT, and keys for other families. */
#ifndef CUDA_SORT_H
#define CUDA_SORT_H

#include "cuda/launch.h"

/* TsrBackend.work for the primitive. */
TsrStatus cuda_sort(const TsrDeviceWork *work);
/* The text of the kernels for elements of that dtype; false: there are none. */
bool cuda_sort_source(CudaSource *out, TsrDtype dtype);

/* Sorting n < 2**32 keys, of 8 bytes, with the numbers of what they belong to: memory for the length of some launches,
 * into which the caller puts keys and numbers at keys[0] and order[0]. */
typedef struct CudaKeys {
    TsrDataPtr scratch;
    uint64_t n, keys[2], order[2], counts;
    CuFunction count, pass;
    int index;
} CudaKeys;

/* TSR_NOT_IMPLEMENTED_ERROR where nothing can compile it, TSR_OUT_OF_MEMORY_ERROR. cuda_keys_end is due after TSR_OK.
 */
TsrStatus cuda_keys_begin(CudaKeys *out, int index, uint64_t n);
/* Sorts by the keys' lower `bytes` bytes; the results lie at keys[0] and order[0]. */
TsrStatus cuda_keys_sort(CudaKeys *keys, int bytes);
void cuda_keys_end(CudaKeys *keys);

#endif
