/* Bilinear interpolation of planes. The old lines are spread out first, so that each new line is a loop over
 * neighbours in memory; two spread lines are kept, since the next new line usually lies between the same two. */
#include <string.h>

#include "core/op/shared.h"
#include "core/tensor/owned.h"
#include "resample_there.h"

/* Old planes (old_rows, old_columns) of `inner` values an element, new ones (rows, columns). New row i lies between the
 * old rows row[i] and row[rows + i], whose weights are row_weight[i] and row_weight[rows + i]; columns alike. */
typedef struct Plane {
    const char *x;
    char *out;
    const int64_t *row, *column;
    const void *row_weight, *column_weight;
    int64_t old_rows, old_columns, rows, columns, inner;
    bool wide; /* doubles, not floats */
} Plane;

#define T float
#define NAME(x) x##_float
#define FMA __builtin_fmaf
#include "resample_plane.inc"

#define T double
#define NAME(x) x##_double
#define FMA __builtin_fma
#include "resample_plane.inc"

static void run_lines(int64_t begin, int64_t end, void *user) {
    const Plane *p = user;
    TsrDataPtr room;
    size_t bytes = 6 * (size_t)(p->columns * p->inner) * (p->wide ? sizeof(double) : sizeof(float));
    TsrStatus status = tsr_allocate(&room, TSR_DEVICE_CPU, bytes);
    if (status != TSR_OK) {
        tsr_parallel_fail(status);
        return;
    }
    (p->wide ? lines_double : lines_float)(p, room.data, begin, end);
    tsr_dataptr_release(&room);
}

/* (2, size) places among n old ones and their weights. */
static TsrStatus check_side(const TsrTensor *at, const TsrTensor *weight, int64_t size, int64_t n, TsrDtype dtype) {
    bool shape = tsr_ndim(at) == 2 && at->sizes[0] == 2 && at->sizes[1] == size && tsr_ndim(weight) == 2 &&
                 memcmp(at->sizes, weight->sizes, 2 * sizeof(int64_t)) == 0;
    if (!shape) return tsr_error(TSR_RUNTIME_ERROR, "resample: positions and weights of wrong shapes");
    if (at->dtype != TSR_INT64 || weight->dtype != dtype)
        return tsr_error(TSR_RUNTIME_ERROR, "resample: positions or weights of wrong dtypes");
    if (tsr_on_device(at)) return TSR_OK;
    const int64_t *place = tsr_data(at);
    for (int64_t i = 0; i < at->numel; i++)
        if (place[i] < 0 || place[i] >= n) return tsr_error(TSR_INDEX_ERROR, "index out of range in self");
    return TSR_OK;
}

static TsrStatus run_plane(TsrTensor *out, const TsrTensor *self, TsrTensor *const *sides, Plane p) {
    TSR_OWNED x = NULL;
    TSR_TRY(tsr_tensor_new_contiguous(&x, self, TSR_CONTIGUOUS));
    TSR_TRY(check_side(sides[0], sides[1], p.rows, p.old_rows, self->dtype));
    TSR_TRY(check_side(sides[2], sides[3], p.columns, p.old_columns, self->dtype));
    if (out->numel == 0) return TSR_OK;
    if (tsr_on_device(out)) {
        const TsrTaps taps = {.outside = out->numel / (p.rows * p.columns * p.inner),
                              .volume = p.old_rows * p.old_columns,
                              .places = p.rows * p.columns,
                              .inner = p.inner};
        return tsr_resample_plane_there(out, x, sides, p.old_columns, taps);
    }
    p.x = tsr_data(x);
    p.out = tsr_data(out);
    p.row = tsr_data(sides[0]);
    p.row_weight = tsr_data(sides[1]);
    p.column = tsr_data(sides[2]);
    p.column_weight = tsr_data(sides[3]);
    p.wide = x->dtype == TSR_FLOAT64;
    return tsr_parallel_for(out->numel / (p.columns * p.inner), tsr_grain(p.columns * p.inner), run_lines, &p);
}

/* (input, dim, row, row_weight, column, column_weight): the rows are dimension `dim` */
TsrStatus op_resample_plane(TsrOpCall *c) {
    const TsrTensor *x = c->arg[0].t;
    int64_t sizes[TSR_MAX_DIMS], d = c->arg[1].i, total;
    TSR_OWNED out = NULL;
    TsrTensor *sides[4] = {NULL};
    TsrStatus status = TSR_OK;
    TSR_TRY(tsr_wrap_own_dim(&d, tsr_ndim(x)));
    if (d + 2 > tsr_ndim(x) || tsr_ndim(c->arg[2].t) != 2 || tsr_ndim(c->arg[4].t) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "resample: positions and weights of wrong shapes");
    if (x->dtype != TSR_FLOAT32 && x->dtype != TSR_FLOAT64)
        return tsr_error(TSR_RUNTIME_ERROR, "resample: positions or weights of wrong dtypes");
    Plane p = {.old_rows = x->sizes[d], .old_columns = x->sizes[d + 1], .inner = 1};
    memcpy(sizes, x->sizes, sizeof(int64_t) * (size_t)tsr_ndim(x));
    p.rows = sizes[d] = c->arg[2].t->sizes[1];
    p.columns = sizes[d + 1] = c->arg[4].t->sizes[1];
    for (int k = (int)d + 2; k < tsr_ndim(x); k++) p.inner *= sizes[k];
    TSR_TRY(tsr_layout_numel(&total, tsr_ndim(x), sizes));
    TSR_TRY(tsr_tensor_new(&out, tsr_ndim(x), sizes, x->dtype, x->device));
    if (tsr_is_meta(out)) return tsr_return_move(c, tsr_owned_take(&out));
    for (int i = 0; i < 4 && status == TSR_OK; i++)
        status = tsr_tensor_new_contiguous(&sides[i], c->arg[2 + i].t, TSR_CONTIGUOUS);
    if (status == TSR_OK) status = run_plane(out, x, sides, p);
    for (int i = 0; i < 4; i++) tsr_tensor_free(sides[i]);
    return tsr_finish_move(c, status, tsr_owned_take(&out));
}
