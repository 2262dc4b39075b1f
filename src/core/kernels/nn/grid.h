/* grid.h: sampling of images and volumes at points given in [-1, 1]: the inner loops of grid_sample. */
#ifndef CORE_KERNELS_NN_GRID_H
#define CORE_KERNELS_NN_GRID_H

#include "core/dtype.h"

/* grid_sample's `mode`: how a value between elements is found. */
typedef enum TsrGridMode { TSR_GRID_LINEAR, TSR_GRID_NEAREST, TSR_GRID_CUBIC } TsrGridMode;
/* Its `padding_mode`: what stands outside the image. */
typedef enum TsrGridPadding { TSR_GRID_ZEROS, TSR_GRID_BORDER, TSR_GRID_REFLECTION } TsrGridPadding;

/* input (N, C, spatial...), grid (N, points, ndim), out (N, C, points); all dense, of one type. ndim 2 or 3; sizes: of
 * the input's spatial dimensions, outermost first. A point's coordinates are innermost dimension first. */
typedef struct TsrGrid {
    const void *input, *grid;
    void *out;
    int ndim;
    int64_t sizes[3];
    int64_t channels, points, volume; /* volume: product of sizes */
    TsrGridMode mode;
    TsrGridPadding padding;
    bool align_corners;
} TsrGrid;

/* Points [begin, end), counted over all N. */
typedef void (*TsrGridFn)(const TsrGrid *g, int64_t begin, int64_t end);
/* For float32 and float64; for the half types tensors are float32, and every step rounds to the half type. */
TsrGridFn tsr_kernel_grid(TsrDtype d);
TsrGridFn tsr_kernel_grid_base(TsrDtype d);
TsrGridFn tsr_kernel_grid_avx2(TsrDtype d);

#endif
