/* along.c: what the operators with positions along one dimension share. */
#include "along.h"

#include <string.h>

#include "core/kernels/move/select.h"

TsrStatus tsr_along_out_of_bounds(TsrStatus kind, int64_t index, int64_t dim, int64_t size) {
    return tsr_error(kind, "index %lld is out of bounds for dimension %lld with size %lld", (long long)index,
                     (long long)dim, (long long)size);
}

TsrStatus tsr_along_cut_new(TsrTensor **out, const TsrTensor *t, const TsrTensor *index, int64_t dim, bool cut_dim) {
    int64_t sizes[TSR_MAX_DIMS];
    for (int d = 0; d < tsr_ndim(t); d++) sizes[d] = d == dim && !cut_dim ? t->sizes[d] : index->sizes[d];
    return tsr_tensor_new_view(out, t, &(TsrGeometry){tsr_ndim(t), sizes, t->strides, t->offset}, NULL);
}

bool tsr_along_across(const TsrTensor *t, const TsrTensor *index, int64_t dim) {
    if ((index->sizes[dim] != 1 && t->strides[dim] == 1) || !tsr_is_contiguous(t, TSR_CONTIGUOUS) ||
        !tsr_is_contiguous(index, TSR_CONTIGUOUS))
        return false;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (d != dim && t->sizes[d] != index->sizes[d]) return false;
    return true;
}

int64_t tsr_along_inner(const TsrTensor *index, int64_t dim) {
    int64_t inner = 1;
    for (int d = (int)dim + 1; d < tsr_ndim(index); d++) inner *= index->sizes[d];
    return inner;
}

bool tsr_along_valid(const int64_t *index, int64_t step, int64_t n, const AlongLine *q) {
    if (TSR_LIKELY(step == 1 && tsr_kernel_in_range(index, n, q->size))) return true;
    for (int64_t i = 0; i < n; i++) {
        int64_t v = index[i * step];
        if (TSR_LIKELY(v >= 0 && v < q->size)) continue;
        if (!atomic_exchange(&q->bad->found, true)) q->bad->position = v;
        return false;
    }
    return true;
}

TsrStatus tsr_along_run(TsrTensor *const *operands, int64_t dim, TsrLineFn fn, const AlongLine *q) {
    TSR_TRY(tsr_lines_run(operands, 3, dim, fn, q, false));
    return q->bad->found ? tsr_along_out_of_bounds(TSR_RUNTIME_ERROR, q->bad->position, dim, q->size) : TSR_OK;
}

bool tsr_along_reduction(AlongReduction *r, const char *name, bool with_sum) {
    static const struct {
        const char *name;
        AlongReduction r;
    } rows[] = {
        {"sum", {TSR_COMBINE_ADD, false}},  {"prod", {TSR_COMBINE_MUL, false}}, {"mean", {TSR_COMBINE_ADD, true}},
        {"amax", {TSR_COMBINE_MAX, false}}, {"amin", {TSR_COMBINE_MIN, false}},
    };
    for (size_t i = with_sum ? 0 : 1; i < TSR_COUNTOF(rows); i++)
        if (strcmp(name, rows[i].name) == 0) {
            *r = rows[i].r;
            return true;
        }
    return false;
}

void tsr_along_neutral_store(TsrCombine op, TsrDtype d, void *cell) {
    TsrScalar s = tsr_scalar_int(op == TSR_COMBINE_MUL);
    if (op == TSR_COMBINE_MAX || op == TSR_COMBINE_MIN) {
        bool top = op == TSR_COMBINE_MIN;
        int bits = (int)tsr_dtype_size(d) * 8;
        if (tsr_dtype_is_float(d)) s = tsr_scalar_float(top ? __builtin_inf() : -__builtin_inf());
        else if (d == TSR_BOOL) s = tsr_scalar_bool(top);
        else if (tsr_dtype_kind(d) == TSR_KIND_UINT)
            s = top ? (bits == 64 ? tsr_scalar_int(-1) : tsr_scalar_int((int64_t)((1ull << bits) - 1)))
                    : tsr_scalar_int(0);
        else s = tsr_scalar_int(top ? (int64_t)((1ull << (bits - 1)) - 1) : -(int64_t)((1ull << (bits - 1)) - 1) - 1);
    }
    tsr_scalar_store(s, d, cell);
}

TsrStatus tsr_along_divide_by_counts(TsrTensor *t, TsrTensor *counts) {
    TSR_OWNED clamped = NULL;
    TSR_OWNED done = NULL;
    TSR_TRY(tsr_invoke_new(&clamped, 1, "clamp_min", "ts", counts, tsr_scalar_int(1)));
    bool exact = tsr_dtype_is_float(t->dtype) || tsr_dtype_is_complex(t->dtype);
    if (exact) TSR_TRY(tsr_invoke_new(&done, 1, "div", "tt", t, clamped));
    else TSR_TRY(tsr_invoke_new(&done, 1, "div", "ttc", t, clamped, "floor"));
    return tsr_tensor_copy(t, done); /* not in place: the write is counted once, by the caller's operator */
}

#define PICK(T) \
    for (int64_t i = 0; i < n; i++) \
    *(T *)(void *)(line.to + i * line.to_stride) = \
        *(const T *)(const void *)(line.from + line.index[i * line.step] * line.from_stride)

void tsr_along_pick(const AlongPick *p, int64_t n, int64_t item) {
    const AlongPick line = *p;
    if (TSR_LIKELY(line.to_stride == item && line.from_stride == item && line.step == 1)) {
        tsr_kernel_pick(line.to, line.from, line.index, n, (size_t)item);
        return;
    }
    switch (item) {
    case 1: PICK(uint8_t); break;
    case 2: PICK(uint16_t); break;
    case 4: PICK(uint32_t); break;
    case 8: PICK(uint64_t); break;
    default: PICK(TsrSixteen); break;
    }
}
#undef PICK
