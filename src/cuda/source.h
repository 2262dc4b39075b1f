/* source.h: the text of a kernel as it grows. */
#ifndef CUDA_SOURCE_H
#define CUDA_SOURCE_H

#include "driver.h"

/* ONE ROW A FILE whose text goes into kernels: PART(name, path from the top). Lines that begin with #include are left
 * out: their order is that of the source. */
#define CUDA_PARTS(PART) \
    PART(prelude, "src/cuda/device/prelude.cuh") \
    PART(types, "src/cuda/device/types.cuh") \
    PART(halffloat, "src/core/element/halffloat.h") \
    PART(convert, "src/cuda/device/convert.cuh") \
    PART(errors, "src/cuda/device/errors.cuh") \
    PART(helpers, "src/core/kernels/pointwise/helpers.inc") \
    PART(functions, "src/cuda/device/functions.cuh") \
    PART(complex, "src/cuda/device/complex.cuh") \
    PART(map_args, "src/cuda/device/map_args.h") \
    PART(map, "src/cuda/device/map.cuh") \
    PART(philox, "src/core/kernels/random/philox.h") \
    PART(random_args, "src/cuda/device/random_args.h") \
    PART(random, "src/cuda/device/random.cuh") \
    PART(shuffle, "src/cuda/device/shuffle.cuh") \
    PART(moments, "src/cuda/device/moments.cuh") \
    PART(rows_args, "src/cuda/device/rows_args.h") \
    PART(rows, "src/cuda/device/rows.cuh") \
    PART(chain_args, "src/cuda/device/chain_args.h") \
    PART(chain, "src/cuda/device/chain.cuh") \
    PART(reduce_args, "src/cuda/device/reduce_args.h") \
    PART(reduce, "src/cuda/device/reduce.cuh") \
    PART(matmul_args, "src/cuda/device/matmul_args.h") \
    PART(matmul, "src/cuda/device/matmul.cuh") \
    PART(walk_args, "src/cuda/device/walk_args.h") \
    PART(walk, "src/cuda/device/walk.cuh") \
    PART(index_args, "src/cuda/device/index_args.h") \
    PART(index, "src/cuda/device/index.cuh") \
    PART(group, "src/cuda/device/group.cuh") \
    PART(scan_args, "src/cuda/device/scan_args.h") \
    PART(scan, "src/cuda/device/scan.cuh") \
    PART(mask_args, "src/cuda/device/mask_args.h") \
    PART(mask, "src/cuda/device/mask.cuh") \
    PART(sort_args, "src/cuda/device/sort_args.h") \
    PART(sort, "src/cuda/device/sort.cuh") \
    PART(search_args, "src/cuda/device/search_args.h") \
    PART(search, "src/cuda/device/search.cuh") \
    PART(triangle_args, "src/cuda/device/triangle_args.h") \
    PART(triangle, "src/cuda/device/triangle.cuh")

typedef enum CudaPart {
#define PART(name, path) CUDA_PART_##name,
    CUDA_PARTS(PART)
#undef PART
        CUDA_PART_COUNT
} CudaPart;

/* {0} is empty; freed by cuda_source_free. Once memory was short `failed` is set and the text is not whole. */
typedef struct CudaSource {
    char *text; /* zero-terminated; NULL while empty */
    size_t size, room;
    bool failed;
} CudaSource;

/* Adds formatted text. */
void cuda_source_add(CudaSource *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds the text of a file. */
void cuda_source_part(CudaSource *s, CudaPart part);
/* Begins a source: the dialect, the dtypes and their conversions, and the numbers TSR_FLOAT16 and so on. `threads`: of
 * a block at most. */
void cuda_source_begin(CudaSource *s, int threads);
void cuda_source_free(CudaSource *s);

/* The name of a dtype's type in memory, as types.cuh has it; NULL for one that is no number. Static. */
const char *cuda_memory_type(TsrDtype dtype);
/* What the machine calculates with in its place: uint8_t for bool. */
const char *cuda_compute_type(TsrDtype dtype);
bool cuda_is_complex(TsrDtype dtype);
size_t cuda_itemsize(TsrDtype dtype); /* bytes; 0 for one that is no number */

#endif
