/* embedding.c: embedding_bag: the sum, mean or maximum of rows of a table, which bags of indices pick.
 *
 * Bag b is the indices from start[b] to start[b + 1]; two-dimensional indices are bags of one length. Each bag is
 * folded on its own, spread over threads. Half floats are added up in float: the whole table is widened first, or of a
 * large one the rows that are picked. */
#include <stdlib.h>

#include "bag_there.h"
#include "core/element/halffloat.h"
#include "core/kernels/move/bag.h"
#include "core/kernels/move/select.h"
#include "core/mem.h"
#include "core/op/shared.h"
#include "core/tensor/owned.h"

typedef enum BagMode { BAG_SUM, BAG_MEAN, BAG_MAX } BagMode;

/* PyTorch has two ways. The quick one, of float32 and halves whose rows and weights are dense, where no index is left
 * out: products are fused with their sums, sums become bfloat16 with halves rounded away from zero, and where the last
 * offset ends the last bag what is after it is not read. */
typedef struct Bags {
    BagMode mode;
    bool quick, ended;               /* ended: include_last_offset */
    int64_t bags, cols, used;        /* used: indices that are in bags */
    int64_t rows, padding;           /* of the table; the index that is left out, or -1 */
    const TsrTensor *weight, *table; /* table: weight, or rows of it, in `wide` */
    TsrDtype wide;                   /* what is computed in */
    const int64_t *row;              /* of the table, for each index */
    const int64_t *index, *start;    /* bag b is index[start[b]] and on, to start[b + 1] */
    const char *scale;               /* of `wide`; NULL */
    int64_t *size, *where;           /* what the mean divides by; where maxima stand. NULL */
    char *out;
} Bags;

/* ---- checks, in PyTorch's order ---- */

static TsrStatus check_padding(int64_t *padding, const TsrOpCall *c, const TsrTensor *weight) {
    *padding = -1;
    if (c->nargs < 9 || !tsr_arg_given(&c->arg[8])) return TSR_OK;
    if (tsr_ndim(weight) == 0)
        return tsr_error(TSR_INDEX_ERROR, "Dimension specified as 0 but tensor has no dimensions");
    int64_t rows = weight->sizes[0], given = c->arg[8].i;
    if (given < -rows || given >= rows)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "padding_idx must be within the number of embeddings, -%lld through %lld, but got %lld",
                         (long long)rows, (long long)rows - 1, (long long)given);
    *padding = given < 0 ? given + rows : given;
    return TSR_OK;
}

static TsrStatus check_type(const TsrTensor *t, const char *name, unsigned allowed, const char *types) {
    char given[64];
    if (tsr_in(allowed, t->dtype)) return TSR_OK;
    return tsr_error(
        TSR_RUNTIME_ERROR,
        "Expected tensor for argument #1 '%s' to have one of the following scalar types: %s; but got %s instead "
        "(while checking arguments for embedding_bag)",
        name, types, tsr_old_type_text(given, sizeof given, t));
}

static TsrStatus check_shapes(const TsrTensor *weight, const TsrTensor *indices, const TsrTensor *offsets) {
    if (tsr_ndim(indices) != 1 && tsr_ndim(indices) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "input has to be a 1D or 2D Tensor, but got Tensor of dimension %d",
                         tsr_ndim(indices));
    if (tsr_ndim(indices) == 1 && tsr_ndim(offsets) != 1)
        return tsr_error(TSR_RUNTIME_ERROR, "offsets has to be a 1D Tensor, but got Tensor of dimension %d",
                         tsr_ndim(offsets));
    if (tsr_ndim(weight) != 2)
        return tsr_error(TSR_RUNTIME_ERROR, "weight has to be a 2D Tensor, but got Tensor of dimension %d",
                         tsr_ndim(weight));
    return TSR_OK;
}

static TsrStatus check_bags(const TsrTensor *weight, const TsrTensor *indices, const TsrTensor *offsets) {
    TsrDtype dtype;
    TSR_TRY(check_shapes(weight, indices, offsets));
    TSR_TRY(tsr_promote(&dtype, offsets->dtype, indices->dtype));
    const TsrTensor *common = indices->dtype == dtype ? indices : offsets;
    TSR_TRY(check_type(common, "indices", TSR_BIT(INT64) | TSR_BIT(INT32), "Long, Int"));
    return check_type(weight, "weight", TSR_BITS_FLOAT, "Half, BFloat16, Float, Double");
}

static TsrStatus check_ends(const TsrTensor *starts, int64_t length, TsrDtype dtype) {
    const int64_t *start = tsr_data(starts), n = starts->numel;
    if (n == 0) return TSR_OK;
    if (start[0] != 0)
        return tsr_error(
            TSR_RUNTIME_ERROR,
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            "However, got %lld\n[ torch.%sTensor{} ]",
            (long long)start[0], tsr_dtype_scalar_name(dtype));
    if (start[n - 1] <= length) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "offsets[-1] can not be greater than input's length %lld but got offsets[-1] of %lld",
                     (long long)length, (long long)start[n - 1]);
}

static TsrStatus check_scale(const TsrTensor *scale, const TsrTensor *weight, const TsrTensor *indices, BagMode mode) {
    char wanted[64], given[64];
    if (mode != BAG_SUM)
        return tsr_error(TSR_RUNTIME_ERROR, "embedding_bag: per_sample_weights only supported with mode='sum'");
    if (scale->dtype != weight->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                         "'per_sample_weights'; but type %s does not equal %s "
                         "(while checking arguments for embedding_bag)",
                         tsr_old_type_text(wanted, sizeof wanted, weight),
                         tsr_old_type_text(given, sizeof given, scale));
    const char *untrue = tsr_ndim(scale) != 1             ? "per_sample_weights.value().dim() == 1"
                         : scale->numel != indices->numel ? "per_sample_weights.value().numel() == indices.numel()"
                                                          : NULL;
    if (untrue == NULL) return TSR_OK;
    return tsr_untrue(untrue);
}

static TsrStatus check_starts(const Bags *q, int64_t length) {
    for (int64_t b = 0; b < q->bags; b++) {
        if (q->start[b] >= 0 && q->start[b] <= length) continue;
        if (q->start[b] < 0 || !q->quick || q->mode != BAG_SUM)
            return tsr_error(TSR_INDEX_ERROR, "index out of range in self");
        return tsr_untrue("i < index_size");
    }
    return TSR_OK;
}

static TsrStatus check_picks(const Bags *q) {
    if (q->quick && q->bags == 0) return TSR_OK;
    if (tsr_kernel_in_range(q->index, q->used, q->rows)) return TSR_OK;
    int64_t i = 0;
    while (q->index[i] >= 0 && q->index[i] < q->rows) i++;
    if (q->quick)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Index %lld of input takes value %lld which is not in the valid range [0, %lld)", (long long)i,
                         (long long)q->index[i], (long long)q->rows);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be %lld",
                     (long long)q->index[i]);
}

/* ---- the bags ---- */

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Where the bags start, in order, and where the last one ends: one more than there are bags. */
static TsrStatus starts_new(TsrTensor **out, Bags *q, const TsrTensor *offsets, int64_t length) {
    TSR_OWNED r = NULL;
    TSR_TRY(tsr_tensor_new(&r, 1, (int64_t[]){q->bags + 1}, TSR_INT64, offsets->device));
    int64_t *start = tsr_data(r);
    const int64_t *given = tsr_data(offsets);
    bool sorted = true;
    for (int64_t b = 0; b < q->bags; b++) {
        start[b] = given[b];
        sorted = sorted && (b == 0 || given[b] >= given[b - 1]);
    }
    q->used = start[q->bags] = q->ended && q->quick && q->bags > 0 ? given[q->bags] : length;
    if (!sorted) qsort(start, (size_t)q->bags, sizeof *start, ascending);
    q->start = start;
    *out = tsr_owned_take(&r);
    return TSR_OK;
}

/* The bag of each index. */
static void number_indices(int64_t *bag, const Bags *q, int64_t length) {
    int64_t b = -1;
    for (int64_t i = 0; i < length; i++) {
        while (b + 1 < q->bags && q->start[b + 1] <= i) b++;
        bag[i] = b;
    }
}

/* From one offset to the next, however they are ordered; what is left out does not count. */
static void measure_bags(const Bags *q, const int64_t *offset, int64_t length) {
    for (int64_t b = 0; b < q->bags; b++) {
        q->size[b] = (b + 1 < q->bags ? offset[b + 1] : length) - offset[b];
        for (int64_t i = q->start[b]; i < q->start[b + 1] && q->padding >= 0; i++)
            q->size[b] -= q->index[i] == q->padding;
    }
}

static void fill_line(const Bags *q, int64_t b, char *line) {
    const TsrBagKernels *kernels = tsr_bag_kernels(q->wide);
    int64_t from = q->start[b], item = (int64_t)tsr_dtype_size(q->wide);
    const TsrTensor *t = q->table;
    TsrBag bag = {.table = tsr_data(t),
                  .pitch = t->strides[0],
                  .step = t->strides[1],
                  .cols = q->cols,
                  .row = q->row + from,
                  .index = q->index + from,
                  .n = q->start[b + 1] - from,
                  .known = q->used - from,
                  .padding = q->padding,
                  .scale = q->scale == NULL ? NULL : q->scale + from * item,
                  .fused = q->quick};
    memset(line, 0, (size_t)(q->cols * item));
    if (q->mode == BAG_MAX) kernels->keep_larger(line, q->where + b * q->cols, &bag);
    else kernels->add(line, &bag);
}

/* Halves become a sum in float, which is rounded before it is divided, by a count that is a half as well. */
static void half_line(const Bags *q, int64_t b, char *out, float *line) {
    int64_t item = (int64_t)tsr_itemsize(q->weight);
    TsrDtype half = q->weight->dtype;
    fill_line(q, b, (char *)line);
    if (q->quick && half == TSR_BFLOAT16)
        for (int64_t i = 0; i < q->cols; i++)
            line[i] = tsr_bits_float((tsr_float_bits(line[i]) + 0x8000u) & 0xFFFF0000u);
    tsr_convert(half, out, item, q->wide, (const char *)line, sizeof(float), q->cols);
    if (q->mode != BAG_MEAN) return;
    float count = (float)TSR_MAX(q->size[b], 1);
    char cell[2];
    tsr_convert(half, cell, 0, q->wide, (const char *)&count, 0, 1);
    tsr_convert(q->wide, (char *)&count, 0, half, cell, 0, 1);
    tsr_convert(q->wide, (char *)line, sizeof(float), half, out, item, q->cols);
    tsr_bag_kernels(q->wide)->divide(line, q->cols, count);
    tsr_convert(half, out, item, q->wide, (const char *)line, sizeof(float), q->cols);
}

static void fill_bags(int64_t begin, int64_t end, void *user) {
    const Bags *q = user;
    bool half = q->wide != q->weight->dtype;
    size_t bytes = (size_t)q->cols * sizeof(float);
    float *line = half ? tsr_malloc(bytes) : NULL;
    if (half && line == NULL) {
        tsr_parallel_fail(tsr_error_no_memory(bytes));
        return;
    }
    for (int64_t b = begin; b < end && tsr_interrupt_flag == 0; b++) {
        char *out = q->out + b * q->cols * (int64_t)tsr_itemsize(q->weight);
        if (half) half_line(q, b, out, line);
        else fill_line(q, b, out);
        if (!half && q->mode == BAG_MEAN)
            tsr_bag_kernels(q->wide)->divide(out, q->cols, (double)TSR_MAX(q->size[b], 1));
    }
    tsr_free(line);
}

/* Halves are widened first: the whole table, or of a large one the rows that are picked. */
static TsrStatus widen_table(TsrTensor **table, TsrTensor **rows, Bags *q, const TsrTensor *indices) {
    TSR_OWNED used = NULL;
    TSR_OWNED picked = NULL;
    q->table = q->weight, q->row = q->index;
    if (q->wide == q->weight->dtype) return TSR_OK;
    if (q->used < q->rows) {
        TSR_TRY(tsr_tensor_new_reshape(&picked, indices, 1, (int64_t[]){-1}));
        TSR_TRY(tsr_tensor_new_narrow(&used, picked, 0, 0, q->used));
        tsr_owned_put_move(&picked, NULL);
        TSR_TRY(tsr_invoke_new(&picked, 1, "index_select", "tit", q->weight, (int64_t)0, used));
        TSR_TRY(tsr_invoke_new(rows, 1, "arange", "s", tsr_scalar_int(q->used)));
        q->row = tsr_data(*rows);
    }
    TSR_TRY(tsr_tensor_new_cast(table, picked != NULL ? picked : q->weight, q->wide));
    q->table = *table;
    return TSR_OK;
}

/* ---- the operator ---- */

/* What comes back beside the rows. */
typedef struct BagResults {
    TsrTensor *rows, *bag, *size, *where;
} BagResults;

static void bag_results_end(BagResults *r) {
    TsrTensor *all[] = {r->rows, r->bag, r->size, r->where};
    tsr_free_all(all, 4);
}

static TsrStatus results_new(BagResults *r, const Bags *q, const TsrTensor *offsets, int64_t length) {
    TsrDevice device = q->weight->device;
    bool sum = q->mode == BAG_SUM, max = q->mode == BAG_MAX;
    TSR_TRY(tsr_tensor_new(&r->rows, 2, (int64_t[]){q->bags, q->cols}, q->weight->dtype, device));
    TSR_TRY(tsr_tensor_new(&r->bag, 1, (int64_t[]){sum && q->quick ? 0 : length}, TSR_INT64, device));
    if (sum) TSR_TRY(tsr_zeros_new(&r->size, tsr_ndim(offsets), offsets->sizes, TSR_INT64, device));
    else TSR_TRY(tsr_zeros_new(&r->size, 1, &q->bags, TSR_INT64, device));
    if (max) TSR_TRY(tsr_zeros_new(&r->where, 2, (int64_t[]){q->bags, q->cols}, TSR_INT64, device));
    return TSR_OK;
}

/* The numbers as the indices' dtype; where no maximum stands the sizes come once more. */
static TsrStatus return_results(TsrOpCall *c, BagResults *r, TsrDtype dtype) {
    if (r->where == NULL) TSR_TRY(tsr_tensor_new_clone(&r->where, r->size, TSR_CONTIGUOUS));
    TsrTensor **numbers[] = {&r->bag, &r->size, &r->where};
    for (int k = 0; k < 3; k++) {
        TSR_OWNED number = NULL;
        TSR_TRY(tsr_tensor_new_cast(&number, *numbers[k], dtype));
        tsr_owned_put_move(numbers[k], tsr_owned_take(&number));
    }
    tsr_return_move2(c, r->rows, r->bag);
    c->ret[2] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = r->size};
    c->ret[3] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = r->where};
    c->nret = 4;
    *r = (BagResults){0};
    return TSR_OK;
}

static TsrStatus bags_run(Bags *q, BagResults *r, const TsrTensor *offsets, const TsrTensor *indices, int64_t length) {
    TSR_OWNED starts = NULL;
    TSR_OWNED table = NULL;
    TSR_OWNED rows = NULL;
    q->index = tsr_data(indices);
    TSR_TRY(starts_new(&starts, q, offsets, q->quick ? indices->numel : length));
    TSR_TRY(check_starts(q, length));
    TSR_TRY(check_picks(q));
    if (r->bag->numel > 0) number_indices(tsr_data(r->bag), q, length);
    q->out = tsr_data(r->rows);
    q->size = tsr_data(r->size);
    q->where = r->where != NULL ? tsr_data(r->where) : NULL;
    if (q->mode != BAG_SUM) measure_bags(q, tsr_data(offsets), length);
    if (r->rows->numel == 0) return TSR_OK;
    TSR_TRY(widen_table(&table, &rows, q, indices));
    TSR_TRY(tsr_parallel_for(q->bags, tsr_grain((q->used / q->bags + 1) * q->cols), fill_bags, q));
    return tsr_interrupt_check();
}

/* (weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, and perhaps
 * padding_idx) */
TsrStatus op_embedding_bag(TsrOpCall *c) {
    const TsrTensor *weight = c->arg[0].t, *given = c->arg[1].t, *offsets = c->arg[2].t,
                    *scale = tsr_arg_given(&c->arg[6]) ? c->arg[6].t : NULL;
    TSR_OWNED starts = NULL;
    TSR_OWNED indices = NULL;
    TSR_OWNED scales = NULL;
    TSR_OWNED dense_scales = NULL;
    __attribute__((cleanup(bag_results_end))) BagResults r = {0};
    Bags q = {.weight = weight, .ended = c->arg[7].b};
    TSR_TRY(check_padding(&q.padding, c, weight));
    if (tsr_on_device(weight)) {
        TSR_TRY(check_shapes(weight, given, offsets));
        return tsr_embedding_bag_there(c, q.padding);
    }
    TSR_TRY(check_bags(weight, given, offsets));
    TsrDtype dtype = tsr_promote_types(given->dtype, offsets->dtype);
    int64_t length = given->sizes[0];
    bool meta = tsr_is_meta(weight);
    if (!meta) TSR_TRY(tsr_dense_new(&starts, offsets, TSR_INT64));
    if (!meta) TSR_TRY(check_ends(starts, length, dtype));
    if (scale != NULL) TSR_TRY(check_scale(scale, weight, given, (BagMode)c->arg[4].i));
    if (q.ended && offsets->numel < 1)
        return tsr_error(TSR_RUNTIME_ERROR, "include_last_offset: number of offset should be at least 1");
    if (c->arg[4].i < BAG_SUM || c->arg[4].i > BAG_MAX)
        return tsr_error(TSR_RUNTIME_ERROR, "`mode` must be sum, mean, or max.");
    q.mode = (BagMode)c->arg[4].i;
    q.wide = weight->dtype == TSR_FLOAT64 ? TSR_FLOAT64 : TSR_FLOAT32;
    q.rows = weight->sizes[0], q.cols = weight->sizes[1], q.bags = offsets->numel - q.ended;
    q.quick = q.mode != BAG_MAX && q.wide == TSR_FLOAT32 && q.padding < 0 && weight->strides[1] == 1 &&
              (scale == NULL || scale->strides[0] == 1);
    if (!q.quick && length != given->numel)
        return tsr_error(TSR_RUNTIME_ERROR, "select_indices.numel() == add_indices.numel() INTERNAL ASSERT FAILED");
    TSR_TRY(results_new(&r, &q, offsets, length));
    if (!meta) {
        TSR_TRY(tsr_dense_new(&indices, given, TSR_INT64));
        if (scale != NULL) {
            TSR_TRY(tsr_tensor_new_cast(&scales, scale, q.wide));
            TSR_TRY(tsr_tensor_new_contiguous(&dense_scales, scales, TSR_CONTIGUOUS));
            q.scale = tsr_data(dense_scales);
        }
        TSR_TRY(bags_run(&q, &r, starts, indices, length));
    }
    return return_results(c, &r, dtype);
}
