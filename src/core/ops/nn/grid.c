/* grid_sample: images and volumes read at the points of a grid. */
#include <string.h>

#include "core/engine/device.h"
#include "core/kernels/nn/grid.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

static TsrStatus check_grid(const TsrTensor *input, const TsrTensor *grid) {
    int n = tsr_ndim(input);
    if (n < 1 || tsr_ndim(grid) < 1)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    if (input->sizes[0] != grid->sizes[0])
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid "
            "with sizes %s",
            tsr_sizes_text(input), tsr_sizes_text(grid));
    if (grid->sizes[tsr_ndim(grid) - 1] != n - 2)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "grid_sampler(): expected grid to have size %d in last dimension, but got grid with sizes %s",
                         n - 2, tsr_sizes_text(grid));
    for (int d = 2; d < n; d++)
        if (input->sizes[d] == 0)
            return tsr_error(
                TSR_RUNTIME_ERROR,
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes %s with "
                "dimension %d being empty",
                tsr_sizes_text(input), d);
    return TSR_OK;
}

static TsrStatus check_rank(const TsrTensor *input, const TsrTensor *grid, int rank) {
    if (tsr_ndim(input) == rank && tsr_ndim(grid) == rank) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "grid_sampler(): expected %dD input and grid with same number of dimensions, but got input with sizes %s and "
        "grid with sizes %s",
        rank, tsr_sizes_text(input), tsr_sizes_text(grid));
}

typedef struct Sampling {
    TsrGridFn fn;
    TsrGrid grid;
} Sampling;

static void sample_points(int64_t begin, int64_t end, void *user) {
    const Sampling *s = user;
    s->fn(&s->grid, begin, end);
}

/* Half types are held in float meanwhile. */
static TsrStatus sample_into(TsrTensor *t, const TsrTensor *input, const TsrTensor *grid, TsrGrid g) {
    TsrDtype d = t->dtype == TSR_FLOAT64 ? TSR_FLOAT64 : TSR_FLOAT32;
    TsrTensor *x, *points, *wide;
    TSR_TRY(tsr_dense_new(&x, input, d));
    TsrStatus status = tsr_dense_new(&points, grid, d);
    if (status == TSR_OK) {
        status = tsr_tensor_new_cast(&wide, t, d);
        if (status == TSR_OK) {
            g.input = tsr_data(x);
            g.grid = tsr_data(points);
            g.out = tsr_data(wide);
            TsrGridFn sample = tsr_kernel_grid(t->dtype);
            status = sample == NULL ? tsr_not_implemented("grid_sampler_cpu", t->dtype)
                                    : tsr_parallel_for(input->sizes[0] * g.points, tsr_grain(64), sample_points,
                                                       &(Sampling){sample, g});
            if (status == TSR_OK && wide != t) status = tsr_tensor_copy(t, wide);
            tsr_tensor_free(wide);
        }
        tsr_tensor_free(points);
    }
    tsr_tensor_free(x);
    return status;
}

static TsrStatus sample_there(TsrTensor *t, const TsrTensor *input, const TsrTensor *grid, const TsrGrid *g) {
    TSR_OWNED x = NULL;
    TSR_OWNED points = NULL;
    const TsrDeviceGrid how = {(uint8_t)g->mode, (uint8_t)g->padding, g->align_corners};
    TsrDeviceWork work = {.what = TSR_P_GRID, .params = &how, .nparams = sizeof how};
    TSR_TRY(tsr_tensor_new_contiguous(&x, input, TSR_CONTIGUOUS));
    TSR_TRY(tsr_tensor_new_contiguous(&points, grid, TSR_CONTIGUOUS));
    TSR_TRY(tsr_device_work_add(&work, t, true));
    TSR_TRY(tsr_device_work_add(&work, x, false));
    TSR_TRY(tsr_device_work_add(&work, points, false));
    return tsr_device_work(t->device.type, &work);
}

static TsrStatus check_dtypes(const TsrTensor *input, const TsrTensor *grid, int rank) {
    if (!tsr_in(TSR_BITS_FLOAT, input->dtype))
        return tsr_not_implemented(rank == 4 ? "grid_sampler_2d_cpu_kernel_impl" : "grid_sampler3d_cpu", input->dtype);
    bool channels = rank == 4 || input->sizes[0] == 0 || input->sizes[1] > 0; /* of none PyTorch reads no place */
    if (channels && grid->numel > 0 && grid->dtype != input->dtype)
        return tsr_unexpected_dtype(input->dtype, grid->dtype);
    return TSR_OK;
}

static TsrStatus grid_sample(TsrOpCall *c, int rank, TsrGridMode mode, TsrGridPadding padding, bool align_corners) {
    TsrTensor *input = c->arg[0].t, *grid = c->arg[1].t, *t;
    TSR_TRY(check_grid(input, grid));
    TSR_TRY(check_rank(input, grid, rank));
    /* planes of nothing are made of any dtype */
    bool nothing = input->sizes[0] == 0 || input->sizes[1] == 0 || grid->sizes[1] == 0 || grid->sizes[2] == 0;
    if (rank == 5 || !nothing) TSR_TRY(check_dtypes(input, grid, rank));
    TsrGrid g = {.ndim = rank - 2,
                 .channels = input->sizes[1],
                 .points = 1,
                 .volume = 1,
                 .mode = mode,
                 .padding = padding,
                 .align_corners = align_corners};
    int64_t sizes[5] = {input->sizes[0], input->sizes[1]};
    for (int d = 0; d < g.ndim; d++) {
        g.sizes[d] = input->sizes[2 + d];
        g.volume *= g.sizes[d];
        sizes[2 + d] = grid->sizes[1 + d];
        g.points *= sizes[2 + d];
    }
    TSR_TRY(tsr_tensor_new(&t, rank, sizes, input->dtype, input->device));
    if (t->numel == 0 || tsr_is_meta(t)) return tsr_return_move(c, t);
    if (tsr_on_device(t)) return tsr_finish_move(c, sample_there(t, input, grid, &g), t);
    return tsr_finish_move(c, sample_into(t, input, grid, g), t);
}

/* (input, grid, interpolation_mode, padding_mode, align_corners); unknown modes are the first ones, as in PyTorch. */
static TsrStatus by_number(TsrOpCall *c, int rank) {
    int64_t mode = c->arg[2].i, padding = c->arg[3].i;
    return grid_sample(c, rank, mode == 1 || mode == 2 ? (TsrGridMode)mode : TSR_GRID_LINEAR,
                       padding == 1 || padding == 2 ? (TsrGridPadding)padding : TSR_GRID_ZEROS, c->arg[4].b);
}

TsrStatus op_grid_sampler_2d(TsrOpCall *c) { return by_number(c, 4); }
TsrStatus op_grid_sampler_3d(TsrOpCall *c) { return by_number(c, 5); }

static int rank_for(const TsrOpCall *c) { return tsr_ndim(c->arg[0].t) == 5 ? 5 : 4; }
TsrStatus op_grid_sampler(TsrOpCall *c) { return by_number(c, rank_for(c)); }
