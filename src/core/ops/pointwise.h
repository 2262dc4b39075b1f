/* pointwise.h: the common course of pointwise operators: iterator, dtype check, kernel, result. For ops/ only. */
#ifndef TSR_OPS_POINTWISE_H
#define TSR_OPS_POINTWISE_H

#include "kernels/kernel.h"
#include "op.h"

/* Sets of dtypes, one bit each. */
#define D(x) (1u << TSR_##x)
#define D_SIGNED (D(INT8) | D(INT16) | D(INT32) | D(INT64))
#define D_INT (D(UINT8) | D_SIGNED)
#define D_BARE (D(UINT16) | D(UINT32) | D(UINT64))
#define D_FLOAT (D(FLOAT16) | D(BFLOAT16) | D(FLOAT32) | D(FLOAT64))
#define D_FLOAT8 (D(FLOAT8_E5M2) | D(FLOAT8_E4M3FN))
#define D_COMPLEX (D(COMPLEX64) | D(COMPLEX128))
#define D_CHALF D(COMPLEX32)
#define D_BOOL D(BOOL)

/* One operator's rules. */
typedef struct TsrPointwise {
    TsrKernel kernel;
    const char *name;          /* in "\"%s\" not implemented for 'Half'" */
    uint32_t dtypes;           /* common dtypes that it computes in */
    unsigned flags;            /* of the iterator, beside PROMOTE and COMPUTE_FLOAT */
    int cost;                  /* of an element, in additions; 0: one */
    TsrStatus complex_kind;    /* with complex_error: raised first of all for a complex operand */
    const char *complex_error;
} TsrPointwise;

/* A call on its way: between begin and end the iterator is ready and `it.common` known. */
typedef struct TsrPw {
    TsrIter it;
    const TsrPointwise *rules;
    TsrOpCall *call;
} TsrPw;

/* Operands from arguments: a Scalar becomes a wrapped number. release frees those. */
typedef struct TsrOperands {
    TsrTensor *t[4];
    bool owned[4];
    int n;
} TsrOperands;
TsrStatus tsr_operands_take(TsrOperands *o, const TsrOpCall *c, int n, const int *which); /* which: argument numbers; NULL: the first n */
void tsr_operands_release(TsrOperands *o);

/* "\"name\" not implemented for 'Half'". */
TsrStatus tsr_not_implemented(const char *name, TsrDtype d);

/* Broadcasts, promotes and allocates for out[0] of the call; checks that the common dtype is among the rules'. On failure nothing is held. */
TsrStatus tsr_pw_begin(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in);
/* As tsr_pw_begin with a forced common dtype. */
TsrStatus tsr_pw_begin_as(TsrPw *pw, TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in, TsrDtype dtype);
/* Runs a kernel and returns the result from the call. */
TsrStatus tsr_pw_finish(TsrPw *pw, TsrKernel kernel, const void *params);
/* The whole course with the rules' own kernel. */
TsrStatus tsr_pw_run(TsrOpCall *c, const TsrPointwise *rules, int n, TsrTensor *const *in);
/* The same from the call's first n arguments, numbers among them. */
TsrStatus tsr_pw_call(TsrOpCall *c, const TsrPointwise *rules, int n);

#endif
