/* create.h: what the operators that make tensors share. */
#ifndef CORE_OPS_CREATE_CREATE_H
#define CORE_OPS_CREATE_CREATE_H

#include "core/op.h"

/* The options of a factory, resolved from its arguments and a given out. */
typedef struct TsrOptions {
    TsrDtype dtype; /* TSR_DTYPE_NONE: none given */
    TsrDevice device;
} TsrOptions;

/* Reads dtype, layout, device from call->arg[at .. at + 3). `device`: where none is given. A given out decides the
 * dtype. A sparse layout is TSR_NOT_IMPLEMENTED_ERROR or TSR_RUNTIME_ERROR, in PyTorch's words. */
TsrStatus tsr_create_options(TsrOptions *out, const TsrOpCall *call, int at, TsrDevice device);

/* Writes start + i * step, i from 0, with PyTorch's rounding; t is dense. */
TsrStatus tsr_create_fill_arange(TsrTensor *t, TsrScalar start, TsrScalar step);
/* t[i] between start and end, ends exact; t is dense, of one dimension. */
TsrStatus tsr_create_fill_linspace(TsrTensor *t, TsrScalar start, TsrScalar end);
TsrStatus tsr_create_fill_logspace(TsrTensor *t, TsrScalar start, TsrScalar end, double base);

#endif
