/* check_nn.c: the kernels of convolutions, pools and samplings, for check_kernels.c. */
#include <stdio.h>

#include "check_kernels.h"
#include "cuda/kernels/nn/bag.h"
#include "cuda/kernels/nn/conv.h"
#include "cuda/kernels/nn/ctc.h"
#include "cuda/kernels/nn/grid.h"
#include "cuda/kernels/nn/pool.h"
#include "cuda/kernels/nn/resample.h"

static TsrDeviceTensor images(TsrDtype dtype, int64_t channels) {
    TsrDeviceTensor t = {
        .at = {.data = 4096, .dtype = dtype, .compute = dtype}, .ndim = 5, .sizes = {8, 8, 1, channels, 2}};
    int64_t step = (int64_t)cuda_itemsize(dtype);
    for (int d = 0; d < 5; step *= t.sizes[d++]) t.at.strides[d] = step;
    return t;
}

static void check_conv(TsrDtype dtype, bool transposed, int64_t filters) {
    char what[64];
    CudaSource source = {0};
    const TsrDeviceConv params = {
        .window = {{3, 3, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}}, .groups = 1, .transposed = transposed};
    TsrDeviceWork w = {.what = TSR_P_CONV, .nout = 1, .nin = 2, .params = &params, .nparams = sizeof params};
    w.t[0] = w.t[1] = w.t[2] = images(dtype, filters);
    snprintf(what, sizeof what, "convolution of dtype %u, %d, %d filters", dtype, transposed, (int)filters);
    check_compile(what, cuda_conv_source(&source, &w), &source);
}

static void check_pool(TsrDtype dtype, bool maximum) {
    char what[64];
    CudaSource source = {0};
    const TsrDevicePool params = {.maximum = maximum};
    TsrDeviceWork w = {.what = TSR_P_POOL, .nout = 1, .nin = 1, .params = &params, .nparams = sizeof params};
    w.t[0] = w.t[1] = images(dtype, 4);
    snprintf(what, sizeof what, "pool of dtype %u, %d", dtype, maximum);
    check_compile(what, cuda_pool_source(&source, &w), &source);
}

/* Images and volumes, by each mode. */
static void check_grid(TsrDtype dtype, int ndim, int mode) {
    char what[64];
    CudaSource source = {0};
    const TsrDeviceGrid params = {.mode = (uint8_t)mode};
    TsrDeviceWork w = {.what = TSR_P_GRID, .nout = 1, .nin = 2, .params = &params, .nparams = sizeof params};
    w.t[0] = w.t[1] = w.t[2] = images(dtype, 4);
    w.t[0].ndim = w.t[1].ndim = 2 + ndim;
    snprintf(what, sizeof what, "sampling of dtype %u in %d dimensions, mode %d", dtype, ndim, mode);
    check_compile(what, cuda_grid_source(&source, &w), &source);
}

static void check_resample(TsrDtype dtype) {
    CudaSource source = {0};
    TsrDeviceWork w = {.what = TSR_P_RESAMPLE, .nout = 1, .nin = 3};
    w.t[0] = w.t[1] = w.t[2] = w.t[3] = images(dtype, 4);
    check_compile("resampling", cuda_resample_source(&source, &w), &source);
}

static void check_bag(TsrDtype dtype, TsrDeviceFold fold) {
    char what[64];
    CudaSource source = {0};
    const TsrDeviceBag params = {.fold = fold, .padding = -1};
    TsrDeviceWork w = {.what = TSR_P_BAG, .nout = 1, .nin = 3, .params = &params, .nparams = sizeof params};
    w.t[0] = w.t[1] = images(dtype, 4);
    snprintf(what, sizeof what, "bags of dtype %u, %u", dtype, fold);
    check_compile(what, cuda_bag_source(&source, &w), &source);
}

static void check_ctc(TsrDtype dtype) {
    CudaSource source = {0};
    TsrDeviceWork w = {.what = TSR_P_CTC, .nout = 2, .nin = 4};
    w.t[0] = w.t[1] = w.t[2] = images(dtype, 4);
    check_compile("CTC losses", cuda_ctc_source(&source, &w), &source);
}

void check_nn(void) {
    static const TsrDtype dtypes[] = {TSR_FLOAT32, TSR_FLOAT64, TSR_FLOAT16, TSR_BFLOAT16, TSR_INT64, TSR_UINT8};
    for (size_t i = 0; i < TSR_COUNTOF(dtypes); i++)
        for (int way = 0; way < 2; way++) {
            check_conv(dtypes[i], way == 1, 4);
            check_conv(dtypes[i], way == 1, 64);
            check_pool(dtypes[i], way == 1);
        }
    for (size_t i = 0; i < 4; i++)
        for (int mode = 0; mode < 3; mode++)
            for (int ndim = 2; ndim < 4; ndim++) check_grid(dtypes[i], ndim, mode);
    for (size_t i = 0; i < 4; i++)
        for (TsrDeviceFold fold = TSR_FOLD_SUM; fold <= TSR_FOLD_MAX; fold++) check_bag(dtypes[i], fold);
    check_ctc(TSR_FLOAT32);
    check_ctc(TSR_FLOAT64);
    check_resample(TSR_FLOAT32);
    check_resample(TSR_FLOAT64);
}
