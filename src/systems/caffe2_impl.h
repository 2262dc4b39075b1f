/* caffe2_impl.h: what caffe2.c (the tensor) and caffe2_operator.c (options, operators, the workspace) share. Include
 * nothing of this elsewhere. */
#ifndef SYSTEMS_CAFFE2_IMPL_H
#define SYSTEMS_CAFFE2_IMPL_H

#include "caffe2.h"
#include "lang/object/args.h"

extern Type caffe2_tensor_type;

/* What UnsafeSharedInstance shares. Partially initialised states are the point: sizes without a dtype, a dtype without
 * memory. */
typedef struct C2Tensor {
    int wrappers;
    TsrTensor *t; /* one reference for each wrapper; NULL until a dtype is known */
    TsrDevice device;
    int ndim; /* sizes asked for, while t is NULL or has no memory for them */
    int64_t sizes[TSR_MAX_DIMS];
    bool no_data;                 /* t's memory does not fit the sizes: mutable_data allocates */
    uint64_t seen;                /* of t's metadata: for caffe2_each_changed */
    struct C2Tensor *next, *prev; /* all there are */
} C2Tensor;

typedef struct C2Wrapper {
    Obj obj;
    C2Tensor *c;
} C2Wrapper;

static inline C2Tensor *as_c2(Value v) { return ((C2Wrapper *)v.o)->c; }

/* Tells holders of the type. */
void caffe2_tensor_startup(void);

/* Takes over t (may be NULL), also on failure. */
TsrStatus c2_new_move(Value *out, TsrTensor *t, TsrDevice device);
/* The tensor behind a caffe2 tensor or a torch one, lent; TSR_TYPE_ERROR "FN(): expected a tensor", and errors of
 * tensors that caffe2 can't take or that have no data yet. */
TsrStatus c2_source_tensor(TsrTensor **lent, Value v, const char *fn);
/* A caffe2 tensor on `device` with a copy of src's data. */
TsrStatus c2_new_copy(Value *out, TsrTensor *src, TsrDevice device);
TsrStatus c2_to_torch(Value *out, const CallArgs *args);
/* Sets the sizes; memory that is large enough stays (also when shrinking), else it is given up until c2_allocate. */
TsrStatus c2_set_sizes(C2Tensor *c, int n, const int64_t *sizes);
/* New memory for the sizes, of this dtype. */
TsrStatus c2_allocate(C2Tensor *c, TsrDtype dtype);
/* Whether c2_allocate has to be called before elements of `dtype` are there. */
static inline bool c2_lacks_memory(const C2Tensor *c, TsrDtype dtype) {
    return c->t == NULL || c->no_data || c->t->dtype != dtype;
}

/* Arguments: sizes as numbers, one list or an ArrayRef, from values[from] on (out: TSR_MAX_DIMS); a device (None: the
 * CPU); a dtype, named `fn` in the TypeError. */
TsrStatus c2_read_sizes(int64_t *out, int *n, const CallArgs *args, int from);
TsrStatus c2_parse_device(TsrDevice *out, Value v);
TsrStatus c2_dtype_argument(TsrDtype *out, Value v, const char *fn);

#endif
