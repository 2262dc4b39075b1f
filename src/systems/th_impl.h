/* th_impl.h: what th.c (handles, TH), ths.c (sparse tensors) and th_error.c (THError) share. Include nothing of this
 * elsewhere. */
#ifndef SYSTEMS_TH_IMPL_H
#define SYSTEMS_TH_IMPL_H

#include "core/tensor.h"
#include "lang/object/args.h"
#include "th.h"

/* The record behind handles of one tensor or storage. Lives while a value names it or a raw reference is left. */
typedef struct Record {
    int number;
    TsrTensor *t;        /* NULL for a storage */
    TsrStorage *storage; /* NULL for a tensor */
    TsrDtype element;    /* of a storage: what its elements are */
    TsrTensor *lender;   /* of a lent storage (TH.storage): a weak link to its tensor */
    int raw;             /* raw references: each is one reference of t or storage */
    int *lines;          /* of each */
    int64_t capacity;
    int freed_line;        /* where the last one went */
    struct Handle *handle; /* the value that names it, which is freed before; NULL: none */
    struct Record *next, *prev;
} Record;

typedef struct Handle {
    Obj obj;
    Record *record;
} Handle;

extern Type th_handle_type;
static inline Record *th_record(Value v) { return ((Handle *)v.o)->record; }
static inline bool th_is_handle(Value v) { return value_is_obj(v, &th_handle_type); }
static inline const char *th_name(TsrDtype d) { return tsr_dtypes[d].th_name; }

/* The tensor of a handle, or of a tensor value that is lent. `fn` begins the errors. */
TsrStatus th_tensor_arg(TsrTensor **lent, Value v, const char *fn);
/* As th_tensor_arg, of a tensor that has a storage: not sparse, not undefined. */
TsrStatus th_dense_arg(TsrTensor **lent, Value v, const char *fn);
/* A handle with one raw reference more, taken over from the caller. */
TsrStatus th_give_tensor_move(Value *out, TsrTensor *t);
/* One raw reference less; the record stays. */
void th_release_raw(Record *r);

/* Functions of TH that THS has too. */
TsrStatus th_retain(Value *out, const CallArgs *args);
TsrStatus th_free(Value *out, const CallArgs *args);
TsrStatus th_tensor(Value *out, const CallArgs *args);
extern const Method ths_functions[];

/* The error that TH's functions and TH.error end with: THError, or what the handler that was set makes of it. */
TsrStatus th_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
TsrStatus th_set_error_handler(Value *out, const CallArgs *args);
void th_error_startup(void);
void th_error_shutdown(void);

extern const Method thc_device_functions[]; /* THC's own, beside TH's (thc.c) */

#endif
