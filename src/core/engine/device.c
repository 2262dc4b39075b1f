/* device.c: work of tensors on a device, as its backend takes it (device.h). */
#include "device.h"

#include <string.h>

#include "core/tensor/loan.h"

static _Thread_local bool declined;

TsrStatus tsr_device_decline(void) {
    declined = true;
    return TSR_NOT_IMPLEMENTED_ERROR;
}

bool tsr_device_declined(void) {
    bool was = declined;
    declined = false;
    return was;
}

static TsrStatus answer(TsrStatus status) {
    return status == TSR_NOT_IMPLEMENTED_ERROR ? tsr_device_decline() : status;
}

TsrStatus tsr_device_map(uint8_t type, const TsrDeviceMap *map) {
    const TsrBackend *b;
    TSR_TRY(tsr_backend_get(&b, type));
    return answer(b->map(map));
}

TsrStatus tsr_device_reduce(uint8_t type, const TsrDeviceReduce *reduce) {
    const TsrBackend *b;
    TSR_TRY(tsr_backend_get(&b, type));
    return answer(b->reduce(reduce));
}

TsrStatus tsr_device_work(uint8_t type, const TsrDeviceWork *work) {
    const TsrBackend *b;
    TSR_TRY(tsr_backend_get(&b, type));
    return answer(b->work(work));
}

/* A number of the host, as the kernel reads it. */
static void number_operand(TsrDeviceOperand *to, const TsrIter *it, int k) {
    char rounded[16];
    const TsrTensor *t = it->operand[k];
    const char *from = tsr_data(t);
    TsrDtype dtype = t->dtype;
    if (it->via >> k & 1) {
        tsr_convert(it->common, rounded, 0, dtype, from, 0, 1);
        from = rounded;
        dtype = it->common;
    }
    tsr_convert(it->loop_dtype[k], to->value, 0, dtype, from, 0, 1);
    to->dtype = to->compute = it->loop_dtype[k];
    to->number = true;
}

static void tensor_operand(TsrDeviceOperand *to, const TsrIter *it, int k) {
    const TsrTensor *t = it->operand[k];
    to->data = (TsrAddress)(uintptr_t)tsr_data(t);
    to->dtype = t->dtype;
    to->compute = it->loop_dtype[k];
    to->via = (it->via >> k & 1) != 0;
    memcpy(to->strides, it->strides[k], (size_t)it->ndim * sizeof *to->strides);
}

TsrStatus tsr_device_map_of(TsrDeviceMap *out, TsrDevice *device, const TsrIter *it) {
    bool found = false;
    if (it->ndim > TSR_DEVICE_DIMS || it->flags & TSR_ITER_IN_ORDER) return tsr_device_decline();
    memset(out, 0, sizeof *out);
    for (int k = 0; k < it->noperands; k++) {
        const TsrTensor *t = it->operand[k];
        if (tsr_on_device(t)) {
            if (found && (t->device.type != device->type || t->device.index != device->index))
                return tsr_device_decline();
            found = true;
            *device = t->device;
            tensor_operand(&out->operand[k], it, k);
        } else if (k >= it->nout && tsr_ndim(t) == 0) {
            number_operand(&out->operand[k], it, k);
        } else {
            return tsr_device_decline();
        }
    }
    if (!found) return tsr_device_decline();
    out->index = device->index;
    out->dtype = it->dtype;
    out->common = it->common;
    out->nout = it->nout;
    out->noperands = it->noperands;
    out->ndim = it->ndim;
    out->numel = it->numel;
    memcpy(out->sizes, it->sizes, (size_t)it->ndim * sizeof *out->sizes);
    return TSR_OK;
}

TsrStatus tsr_device_work_add_as(TsrDeviceWork *work, const TsrTensor *t, TsrGeometry g, bool out) {
    int k = work->nout + work->nin;
    int64_t item = (int64_t)tsr_itemsize(t);
    if (k == TSR_DEVICE_OPERANDS || g.ndim > TSR_DEVICE_DIMS || !tsr_on_device(t)) return tsr_device_decline();
    if (k > 0 && t->device.index != work->index) return tsr_device_decline();
    TsrDeviceTensor *to = &work->t[k];
    memset(to, 0, sizeof *to);
    to->at.data = (TsrAddress)(uintptr_t)tsr_data(t) + (TsrAddress)((g.offset - t->offset) * item);
    to->at.dtype = to->at.compute = t->dtype;
    to->ndim = g.ndim;
    for (int d = 0; d < g.ndim; d++) {
        to->sizes[d] = g.sizes[g.ndim - 1 - d];
        to->at.strides[d] = g.strides[g.ndim - 1 - d] * item;
    }
    work->index = t->device.index;
    if (out) work->nout++;
    else work->nin++;
    return TSR_OK;
}

TsrStatus tsr_device_work_add(TsrDeviceWork *work, const TsrTensor *t, bool out) {
    return tsr_device_work_add_as(work, t, tsr_tensor_geometry(t), out);
}

/* ---- products of matrices ---- */

static TsrDeviceMatrix matrix_of(const TsrMat *m, TsrDtype dtype, int64_t step) {
    int64_t size = (int64_t)tsr_dtype_size(dtype);
    return (TsrDeviceMatrix){(TsrAddress)(uintptr_t)m->data, m->rs * size, m->cs * size, step, m->conj};
}

/* What the products of a dtype's elements are added up in. */
static TsrDtype sums_of(TsrDtype d) {
    if (d == TSR_FLOAT64 || tsr_dtype_is_complex(d)) return d;
    return tsr_dtype_is_float(d) ? TSR_FLOAT32 : TSR_INT64;
}

TsrStatus tsr_device_gemm(TsrDevice device, const TsrGemm *g, int64_t batch, const int64_t step[3]) {
    const TsrBackend *b;
    TsrDeviceMatmul m = {.index = device.index,
                         .dtype = g->dtype,
                         .sums = sums_of(g->dtype),
                         .rows = g->c.rows,
                         .columns = g->c.cols,
                         .depth = g->a.cols,
                         .batch = batch,
                         .a = matrix_of(&g->a, g->dtype, step[0]),
                         .b = matrix_of(&g->b, g->dtype, step[1]),
                         .out = matrix_of(&g->c, g->dtype, step[2]),
                         .adds = tsr_scalar_to_bool(g->beta)};
    tsr_scalar_store(g->alpha, m.sums, m.alpha);
    tsr_scalar_store(g->beta, m.sums, m.beta);
    TSR_TRY(tsr_backend_get(&b, device.type));
    return answer(b->matmul(&m));
}
