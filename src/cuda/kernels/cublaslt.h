/* cublaslt.h: our declarations of what the plugin uses of cuBLASLt, from its documented interface; the pretended
 * library of the simulated device has the same. Matrices are column-major. */
#ifndef CUDA_CUBLASLT_H
#define CUDA_CUBLASLT_H

#include <stddef.h>
#include <stdint.h>

typedef struct LtHandleBody *LtHandle;
typedef struct LtProductBody *LtProduct;
typedef struct LtLayoutBody *LtLayout;
typedef struct LtWishBody *LtWish;
typedef struct LtAlgorithm {
    uint64_t words[8];
} LtAlgorithm;
typedef struct LtChoice {
    LtAlgorithm algorithm;
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
} LtChoice;

/* Types of elements (cudaDataType), and in what products are computed (cublasComputeType_t). */
enum { LT_F32 = 0, LT_F64 = 1, LT_F16 = 2, LT_C32 = 4, LT_C64 = 5, LT_BF16 = 14 };
enum { LT_COMPUTE_F32 = 68, LT_COMPUTE_F64 = 70 };
/* How a factor is read: as it lies, transposed, conjugate and transposed. */
enum { LT_AS_IS = 0, LT_TRANSPOSED = 1, LT_CONJUGATE = 2 };
/* Attributes: of a product how a and b are read, of a layout its batch, of a wish its memory and
 * to how many bytes the matrices are aligned. */
enum { LT_READS_A = 3, LT_READS_B = 4 };
enum { LT_BATCH = 5, LT_BATCH_STEP = 6 };
enum { LT_MOST_WORKSPACE = 1, LT_ALIGNED_A = 5, LT_ALIGNED_B = 6, LT_ALIGNED_C = 7, LT_ALIGNED_D = 8 };

#endif
