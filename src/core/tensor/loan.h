/* loan.h: storages of a device lent to the host for the length of a call, so that what has no code for the device runs
 * on the host.
 *
 * A lent storage keeps its identity: the same struct, counts, views and versions, only its bytes lie in host memory
 * until they are given back. The tensors that were lent say that they are on the cpu meanwhile. */
#ifndef CORE_TENSOR_LOAN_H
#define CORE_TENSOR_LOAN_H

#include "core/backend.h"
#include "core/tensor.h"

typedef struct TsrLoan {
    TsrStorage *storage;
    TsrDataPtr away; /* its device memory meanwhile */
    TsrAllocator *allocator;
    uint64_t nbytes, capacity;
    int64_t version; /* when it was lent */
    bool written;    /* goes back even if nobody says that it was written */
} TsrLoan;

typedef struct TsrLent {
    TsrTensor *t; /* retained where it is a part of a sparse one */
    TsrDevice device;
    bool part;
} TsrLent;

/* All loans of one call; {.what = name} is the empty set. `what` is static and stands in the trace. */
typedef struct TsrLoans {
    const char *what;
    int nloans, ntensors;
    size_t loan_room, tensor_room; /* of these arrays */
    TsrLoan *loans;
    TsrLent *tensors;
    int64_t over, back; /* bytes that were copied to the host, and to the device */
} TsrLoans;

static inline bool tsr_on_device(const TsrTensor *t) { return t != NULL && tsr_device_has_backend(t->device); }

/* Lends the storage (storages, of a sparse tensor) behind t; nothing happens for one on the host, or one lent already.
 * `written`: the call may write to it without counting a version. On an error tsr_give_back is due all the same. */
TsrStatus tsr_lend(TsrLoans *loans, TsrTensor *t, bool written);
/* Ends all loans: storages that were written, or changed their size, are copied back. Returns `status`, or what failed
 * here when that is TSR_OK; the tensors are on their device in any case, and after a failed copy hold their old
 * elements. */
TsrStatus tsr_give_back(TsrLoans *loans, TsrStatus status);
/* A tensor of the host that a call has made goes to `device`, in place: its storage gets memory there. Views of one
 * storage follow each other; a tensor that is not on the cpu stays where it is. */
TsrStatus tsr_move_to_device(TsrLoans *loans, TsrTensor *t, TsrDevice device);

/* A fresh tensor's storage, or storages, go to pinned memory in place (backend.h). TSR_RUNTIME_ERROR for one of a
 * device. */
TsrStatus tsr_tensor_pin(TsrTensor *t);

/* Runs `body`, an expression of type TsrStatus, with t on the host, for reading. */
#define tsr_on_host(reason, t, body) \
    __extension__({ \
        TsrTensor *tsr_host_tensor_ = (TsrTensor *)(uintptr_t)(t); \
        TsrStatus tsr_host_status_; \
        if (!tsr_on_device(tsr_host_tensor_)) { \
            tsr_host_status_ = (body); \
        } else { \
            TsrLoans tsr_host_loans_ = {.what = (reason)}; \
            tsr_host_status_ = tsr_device_will_wait(); \
            if (tsr_host_status_ == TSR_OK) tsr_host_status_ = tsr_lend(&tsr_host_loans_, tsr_host_tensor_, false); \
            if (tsr_host_status_ == TSR_OK) tsr_host_status_ = (body); \
            tsr_host_status_ = tsr_give_back(&tsr_host_loans_, tsr_host_status_); \
        } \
        tsr_host_status_; \
    })

#endif
