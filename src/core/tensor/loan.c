/* Loans: a storage's device memory is put aside, host memory with the same bytes takes its place, and at the end the
 * device memory comes back, with the bytes if they changed. */
#include "loan.h"

#include <string.h>

#include "core/backend.h"
#include "core/mem.h"

static TsrStatus copy_bytes(TsrLoans *l, TsrStorage *s, const TsrDataPtr *to, const TsrDataPtr *from, int64_t *sum) {
    bool away = tsr_device_has_backend(to->device);
    if (s->nbytes == 0) return TSR_OK;
    tsr_trace(TSR_TRACE_COPY, away ? "to the device" : "to the host", l->what, (int64_t)s->nbytes, s, NULL);
    *sum += (int64_t)s->nbytes;
    return tsr_device_copy_as(to->data, to->device, from->data, from->device, s->nbytes, TSR_COPY_LOAN);
}

/* The bytes of its storage that the tensor spans. The storage's memory is the device's. */
static void tell_use(const TsrTensor *t, bool writes) {
    const TsrStorage *s = t->storage;
    if (s == NULL || t->numel == 0) return;
    int64_t itemsize = (int64_t)tsr_itemsize(t), bytes = itemsize, offset = t->offset * itemsize;
    for (int i = 0; i < tsr_ndim(t); i++) bytes += (t->sizes[i] - 1) * t->strides[i] * itemsize;
    if (offset + bytes > (int64_t)s->nbytes) return;
    tsr_device_uses((const char *)s->ptr.data + offset, s->ptr.device, (size_t)bytes, writes);
}

static TsrStatus lend_storage(TsrLoans *l, TsrStorage *s, bool written) {
    if (s == NULL) return TSR_OK;
    for (int i = 0; i < l->nloans; i++)
        if (l->loans[i].storage == s) return l->loans[i].written |= written, TSR_OK;
    if (!tsr_device_has_backend(s->ptr.device)) return TSR_OK;
    TsrAllocator *host = tsr_allocator_active(TSR_CPU);
    TsrDataPtr block;
    TSR_TRY(tsr_mem_grow(&l->loans, &l->loan_room, (size_t)l->nloans + 1, sizeof *l->loans));
    TSR_TRY(tsr_allocate_from(&block, host, TSR_DEVICE_CPU, s->capacity));
    TsrStatus status = copy_bytes(l, s, &block, &s->ptr, &l->over);
    if (status != TSR_OK) {
        tsr_deallocate(&block, host, s->capacity);
        return status;
    }
    l->loans[l->nloans++] = (TsrLoan){s, s->ptr, s->allocator, s->nbytes, s->capacity, s->version.value, written};
    s->ptr = block;
    s->allocator = host;
    return TSR_OK;
}

static TsrStatus lend_one(TsrLoans *l, TsrTensor *t, bool written, bool part) {
    if (!tsr_on_device(t)) return TSR_OK;
    TSR_TRY(tsr_mem_grow(&l->tensors, &l->tensor_room, (size_t)l->ntensors + 1, sizeof *l->tensors));
    if (t->storage != NULL && tsr_device_has_backend(t->storage->ptr.device)) tell_use(t, false);
    l->tensors[l->ntensors++] = (TsrLent){part ? tsr_tensor_retain(t) : t, t->device, part};
    t->device = TSR_DEVICE_CPU;
    return lend_storage(l, t->storage, written);
}

TsrStatus tsr_lend(TsrLoans *l, TsrTensor *t, bool written) {
    if (t == NULL) return TSR_OK;
    if (!tsr_on_device(t)) { /* lent already, perhaps to be read only */
        for (int i = 0; written && i < l->nloans; i++)
            if (l->loans[i].storage == t->storage) l->loans[i].written = true;
        return TSR_OK;
    }
    TSR_TRY(lend_one(l, t, written, false));
    if (t->sparse == NULL) return TSR_OK;
    TSR_TRY(lend_one(l, t->sparse->indices, written, true));
    if (t->sparse->plain_indices != NULL) TSR_TRY(lend_one(l, t->sparse->plain_indices, written, true));
    return lend_one(l, t->sparse->values, written, true);
}

/* The device memory that the bytes go back to: what was put aside, or other where the size changed. */
static TsrStatus take_away(TsrLoan *x) {
    TsrStorage *s = x->storage;
    TsrDataPtr fresh;
    if (s->capacity == x->capacity) return TSR_OK;
    TSR_TRY(tsr_allocate_from(&fresh, x->allocator, x->away.device, s->capacity));
    tsr_deallocate(&x->away, x->allocator, x->capacity);
    x->away = fresh;
    x->capacity = s->capacity;
    return TSR_OK;
}

/* What was written through: the first tensor that was lent of the storage. */
static void tell_write(const TsrLoans *l, const TsrStorage *s) {
    for (int i = 0; i < l->ntensors; i++)
        if (l->tensors[i].t->storage == s) {
            tell_use(l->tensors[i].t, true);
            return;
        }
}

static TsrStatus end_loan(TsrLoans *l, TsrLoan *x) {
    TsrStorage *s = x->storage;
    TsrDataPtr block = s->ptr;
    TsrAllocator *host = s->allocator;
    size_t capacity = s->capacity;
    bool changed = x->written || s->version.value != x->version || s->nbytes != x->nbytes || s->capacity != x->capacity;
    TsrStatus status = changed ? take_away(x) : TSR_OK;
    if (status == TSR_OK && changed) status = copy_bytes(l, s, &x->away, &block, &l->back);
    if (s->capacity != x->capacity) s->nbytes = x->nbytes; /* no memory for the new size: it keeps the old one */
    s->ptr = x->away;
    s->allocator = x->allocator;
    s->capacity = x->capacity;
    tsr_deallocate(&block, host, capacity);
    if (changed && status == TSR_OK) tell_write(l, s);
    return status;
}

static TsrStatus move_storage(TsrLoans *l, TsrStorage *s, TsrDevice device) {
    if (s == NULL || s->ptr.device.type != TSR_CPU || s->element != TSR_DTYPE_NONE) return TSR_OK;
    TsrAllocator *allocator = tsr_allocator_active(device.type), *host = s->allocator;
    TsrDataPtr fresh, block = s->ptr;
    if (allocator == NULL) return tsr_device_missing(device);
    TSR_TRY(tsr_allocate_from(&fresh, allocator, device, s->nbytes));
    TsrStatus status = copy_bytes(l, s, &fresh, &block, &l->back);
    if (status != TSR_OK) {
        tsr_deallocate(&fresh, allocator, s->nbytes);
        return status;
    }
    if (host != NULL) tsr_deallocate(&block, host, s->capacity);
    else tsr_dataptr_release(&block);
    s->ptr = fresh;
    s->allocator = allocator;
    s->capacity = s->nbytes;
    s->resizable = true;
    s->readonly = s->shared = false;
    s->origin = NULL;
    tsr_device_uses(s->ptr.data, s->ptr.device, s->nbytes, true);
    return TSR_OK;
}

TsrStatus tsr_move_to_device(TsrLoans *l, TsrTensor *t, TsrDevice device) {
    if (t == NULL || !tsr_is_defined(t) || t->device.type != TSR_CPU) return TSR_OK;
    if (t->sparse != NULL) {
        TSR_TRY(tsr_move_to_device(l, t->sparse->indices, device));
        if (t->sparse->plain_indices != NULL) TSR_TRY(tsr_move_to_device(l, t->sparse->plain_indices, device));
        TSR_TRY(tsr_move_to_device(l, t->sparse->values, device));
    }
    TSR_TRY(move_storage(l, t->storage, device));
    t->device = device;
    return TSR_OK;
}

/* A call may have given a tensor another storage, or a sparse one other parts. */
static TsrStatus follow(TsrLoans *l, const TsrLent *x) {
    if (x->t->sparse != NULL) {
        TSR_TRY(tsr_move_to_device(l, x->t->sparse->indices, x->device));
        TSR_TRY(tsr_move_to_device(l, x->t->sparse->plain_indices, x->device));
        TSR_TRY(tsr_move_to_device(l, x->t->sparse->values, x->device));
    }
    return move_storage(l, x->t->storage, x->device);
}

TsrStatus tsr_give_back(TsrLoans *l, TsrStatus status) {
    for (int i = 0; i < l->ntensors; i++) l->tensors[i].t->device = l->tensors[i].device;
    for (int i = l->nloans - 1; i >= 0; i--) {
        TsrStatus s = end_loan(l, &l->loans[i]);
        if (status == TSR_OK) status = s;
    }
    for (int i = 0; i < l->ntensors; i++) {
        TsrStatus s = follow(l, &l->tensors[i]);
        if (status == TSR_OK) status = s;
    }
    for (int i = 0; i < l->ntensors; i++)
        if (l->tensors[i].part) tsr_tensor_free(l->tensors[i].t);
    tsr_free(l->loans);
    tsr_free(l->tensors);
    *l = (TsrLoans){.what = l->what, .over = l->over, .back = l->back};
    return status;
}

TsrStatus tsr_tensor_pin(TsrTensor *t) {
    if (tsr_on_device(t)) return tsr_error(TSR_RUNTIME_ERROR, "Only dense CPU tensors can be pinned");
    if (t->sparse == NULL) return tsr_storage_pin(t->storage);
    TSR_TRY(tsr_storage_pin(t->sparse->indices->storage));
    if (t->sparse->plain_indices != NULL) TSR_TRY(tsr_storage_pin(t->sparse->plain_indices->storage));
    return tsr_storage_pin(t->sparse->values->storage);
}
