/* bag_there.c: embedding_bag on a device (bag_there.h): the rows of bags by the primitive BAG; which bag each position
 * is in, and how many a bag has, by operators. */
#include "bag_there.h"

#include "core/engine/device.h"
#include "core/op/compose.h"
#include "core/view.h"

enum { MODE_MEAN = 1, MODE_MAX = 2 };

static TsrStatus check_there(const TsrOpCall *c, TsrDtype positions) {
    const TsrTensor *weight = c->arg[0].t, *indices = c->arg[1].t, *offsets = c->arg[2].t,
                    *scale = tsr_arg_given(&c->arg[6]) ? c->arg[6].t : NULL;
    char given[64];
    const TsrTensor *wrong = indices->dtype == positions ? indices : offsets;
    if (positions != TSR_INT64 && positions != TSR_INT32)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            "%s instead (while checking arguments for embedding_bag_cuda)",
            tsr_old_type_text(given, sizeof given, wrong));
    if (c->arg[7].b && offsets->numel < 1)
        return tsr_error(TSR_RUNTIME_ERROR, "include_last_offset: numBags should be at least 1");
    TSR_TRY(tsr_require(TSR_BITS_FLOAT, weight->dtype, "embedding_bag_cuda"));
    if (scale != NULL && scale->dtype != weight->dtype) return tsr_unexpected_dtype(weight->dtype, scale->dtype);
    bool fits = tsr_ndim(indices) == 1 && (scale == NULL || scale->numel == indices->numel);
    return fits ? TSR_OK : tsr_device_decline();
}

/* Where each of the bags starts, the first one at 0, and where the last one ends: int64. */
static TsrStatus starts_new(TsrTensor **out, const TsrTensor *offsets, int64_t bags, int64_t n) {
    TsrScope s = {0};
    TsrTensor *given = SLICE(&s, offsets, 0, 0, bags), *starts = NULL;
    if (s.status == TSR_OK) {
        s.status = tsr_tensor_new(&s.next, 1, (int64_t[]){bags + 1}, TSR_INT64, offsets->device);
        starts = tsr_scope_keep(&s, s.status);
    }
    TsrTensor *begin = SLICE(&s, starts, 0, 0, bags), *first = SLICE(&s, starts, 0, 0, 1),
              *last = SLICE(&s, starts, 0, bags, bags + 1);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(begin, given);
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(first, tsr_scalar_int(0));
    if (s.status == TSR_OK) s.status = tsr_tensor_fill(last, tsr_scalar_int(n));
    return tsr_scope_end_new(out, &s, starts);
}

/* The bag of each of n positions. */
static TsrStatus numbers_new(TsrTensor **out, const TsrTensor *starts, int64_t n) {
    TsrScope s = {0};
    TsrTensor *bags = SLICE(&s, starts, 0, 0, -1), *zeros = NULL, *places = NULL, *ones = NULL;
    zeros = MAKE(&s, tsr_zeros_new, 1, &n, TSR_INT64, starts->device);
    ones = CALL(&s, "add", "ts", zeros, tsr_scalar_int(1));
    places = CALL(&s, "cumsum", "ti", ones, (int64_t)0);
    TsrTensor *from_0 = CALL(&s, "sub", "tt", places, ones),
              *after = CALL(&s, "searchsorted", "ttbb", bags, from_0, 0, 1),
              *number = CALL(&s, "sub", "ts", after, tsr_scalar_int(1));
    return tsr_scope_end_new(out, &s, number);
}

/* How many positions each bag has but for those that are left out; `room` numbers, 0 at the end. */
static TsrStatus counts_new(TsrTensor **out, const TsrTensor *starts, const TsrTensor *indices, int64_t padding,
                            int64_t room) {
    TsrScope s = {0};
    const int64_t bags = starts->numel - 1, ends = indices->numel + 1;
    TsrTensor *counts = MAKE(&s, tsr_zeros_new, 1, &room, TSR_INT64, starts->device),
              *own = SLICE(&s, counts, 0, 0, bags),
              *upto = MAKE(&s, tsr_zeros_new, 1, &ends, TSR_INT64, starts->device),
              *behind = SLICE(&s, upto, 0, 1, INT64_MAX),
              *counted = CALL(&s, "ne", "ts", indices, tsr_scalar_int(padding)),
              *sums = CALL(&s, "cumsum", "ti", counted, (int64_t)0);
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(behind, sums);
    TsrTensor *kept = CALL(&s, "clamp", "tss", starts, tsr_scalar_int(0), tsr_scalar_int(indices->numel)),
              *at_starts = CALL(&s, "index_select", "tit", upto, (int64_t)0, kept),
              *sizes = CALL(&s, "diff", "t", at_starts), *some = CALL(&s, "clamp", "ts", sizes, tsr_scalar_int(0));
    if (s.status == TSR_OK) s.status = tsr_tensor_copy(own, some);
    return tsr_scope_end_new(out, &s, counts);
}

typedef struct BagWork {
    TsrTensor *rows, *from, *table, *indices, *starts, *scale; /* from, scale: may be NULL */
} BagWork;

static TsrStatus run(const BagWork *b, int64_t mode, int64_t padding) {
    const TsrDeviceBag how = {.fold = mode == MODE_MAX    ? TSR_FOLD_MAX
                                      : mode == MODE_MEAN ? TSR_FOLD_MEAN
                                                          : TSR_FOLD_SUM,
                              .padding = padding};
    TsrDeviceWork w = {.what = TSR_P_BAG, .params = &how, .nparams = sizeof how};
    if (b->rows->numel == 0) return TSR_OK;
    TSR_TRY(tsr_device_work_add(&w, b->rows, true));
    if (b->from != NULL) TSR_TRY(tsr_device_work_add(&w, b->from, true));
    TSR_TRY(tsr_device_work_add(&w, b->table, false));
    TSR_TRY(tsr_device_work_add(&w, b->indices, false));
    TSR_TRY(tsr_device_work_add(&w, b->starts, false));
    if (b->scale != NULL) TSR_TRY(tsr_device_work_add(&w, b->scale, false));
    return tsr_device_work(b->rows->device.type, &w);
}

TsrStatus tsr_embedding_bag_there(TsrOpCall *c, int64_t padding) {
    const TsrTensor *indices = c->arg[1].t, *offsets = c->arg[2].t;
    const TsrDtype dtype = tsr_promote_types(indices->dtype, offsets->dtype);
    const bool max = c->arg[4].i == MODE_MAX;
    TsrTensor *table = c->arg[0].t;
    TsrScope s = {0};
    TSR_TRY(check_there(c, dtype));
    const int64_t n = indices->numel, bags = offsets->numel - c->arg[7].b, sizes[] = {bags, table->sizes[1]},
                  places[] = {max ? bags : 0, max ? sizes[1] : 0};
    BagWork b = {.table = table};
    if (tsr_arg_given(&c->arg[6])) b.scale = MAKE(&s, tsr_tensor_new_contiguous, c->arg[6].t, TSR_CONTIGUOUS);
    b.indices = MAKE(&s, tsr_dense_new, indices, TSR_INT64);
    b.starts = MAKE(&s, starts_new, offsets, bags, n);
    b.rows = MAKE(&s, tsr_tensor_new, 2, sizes, table->dtype, table->device);
    TsrTensor *from = MAKE(&s, tsr_tensor_new, max ? 2 : 1, places, TSR_INT64, table->device);
    b.from = max ? from : NULL;
    if (s.status == TSR_OK) s.status = run(&b, c->arg[4].i, padding);
    TsrTensor *numbers = MAKE(&s, numbers_new, b.starts, n),
              *counts = MAKE(&s, counts_new, b.starts, b.indices, padding, offsets->numel),
              *results[] = {b.rows, MAKE(&s, tsr_tensor_new_cast, numbers, dtype),
                            MAKE(&s, tsr_tensor_new_cast, counts, dtype), MAKE(&s, tsr_tensor_new_cast, from, dtype)};
    for (int k = 0; k < 4 && s.status == TSR_OK; k++) {
        c->ret[k] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = tsr_tensor_retain(results[k])};
        c->nret = k + 1;
    }
    return tsr_scope_end(&s);
}
