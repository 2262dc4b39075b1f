/* pointwise.h: the common course of pointwise operators: iterator, dtype check, kernel, result. For ops/ only. */
#ifndef CORE_OPS_POINTWISE_POINTWISE_H
#define CORE_OPS_POINTWISE_POINTWISE_H

#include "core/kernels/pointwise/table.h"
#include "core/op/shared.h"

/* core/op/shared.h's sets of dtypes by names short enough for tables. */
#define D(x) TSR_BIT(x)
#define D_INT TSR_BITS_INT
#define D_BARE TSR_BITS_UINT
#define D_FLOAT TSR_BITS_FLOAT
#define D_FLOAT8 TSR_BITS_FLOAT8
#define D_COMPLEX TSR_BITS_COMPLEX
#define D_CHALF D(COMPLEX32)
#define D_BOOL D(BOOL)

/* One operator's rules. */
typedef struct TsrPointwise {
    TsrKernel kernel;
    const char *name;       /* in "\"%s\" not implemented for 'Half'" */
    uint32_t dtypes;        /* common dtypes that it computes in */
    unsigned flags;         /* of the iterator, beside PROMOTE and COMPUTE_FLOAT */
    int cost;               /* of an element, in additions; 0: one */
    TsrStatus complex_kind; /* with complex_error: raised first of all for a complex operand */
    const char *complex_error;
} TsrPointwise;

/* A call on its way: between begin and end the iterator is ready and `it.common` known. */
typedef struct TsrPw {
    TsrIter it;
    const TsrPointwise *rules;
    TsrOpCall *call;
} TsrPw;

/* Operands from arguments: tensors are lent, a Scalar becomes a wrapped number. release frees those. */
typedef struct TsrOperands {
    TsrTensor *t[4];
    bool owned[4];
    int n;
} TsrOperands;
/* n: at most 4. which: argument numbers; NULL: the first n. On failure nothing is held. */
TsrStatus tsr_operands_take(TsrOperands *o, const TsrOpCall *c, int n, const int *which);
void tsr_operands_release(TsrOperands *o);

/* Broadcasts, promotes and allocates for out[0] of the call; checks that the common dtype is among the rules'. On
 * failure nothing is held. */
TsrStatus tsr_pw_begin(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in);
/* As tsr_pw_begin with a forced common dtype. */
TsrStatus tsr_pw_begin_as(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in,
                          TsrDtype dtype);
/* Runs a kernel, whose numbers are `nparams` bytes, and returns the result from the call. */
TsrStatus tsr_pw_finish(TsrPw *pw, TsrKernel kernel, const void *params, size_t nparams);
/* The whole course with the rules' own kernel. */
TsrStatus tsr_pw_run(TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in);
/* The same from the call's first n arguments, numbers among them. */
TsrStatus tsr_pw_call(TsrOpCall *c, const TsrPointwise *rules, int n);
/* The greatest finite value of a floating dtype, or of a complex one's parts. */
double tsr_pw_greatest(TsrDtype d);

#endif
