/* source.h: the text of a kernel as it grows. */
#ifndef CUDA_SOURCE_H
#define CUDA_SOURCE_H

#include "driver.h"

/* The files whose text goes into kernels (parts.def). */
typedef enum CudaPart {
#define PART(name, path) CUDA_PART_##name,
#include "parts.def"
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
bool cuda_is_float8(TsrDtype d);      /* one of the formats of a byte */
size_t cuda_itemsize(TsrDtype dtype); /* bytes; 0 for one that is no number */

#endif
