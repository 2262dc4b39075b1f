/* slow_reference.h: what pointwise operators and reductions give, element by element in long double (complex: in
 * double), each element found by the plain sum over strides. Obvious rather than quick. */
#ifndef TESTS_CORE_SLOW_REFERENCE_H
#define TESTS_CORE_SLOW_REFERENCE_H

#include "core/op/op_calls.h"

typedef struct SlowOp {
    const char *name;
    enum { SLOW_UNARY, SLOW_BINARY, SLOW_COMPLEX, SLOW_REDUCE } kind;
    union {
        long double (*unary)(long double x);
        long double (*binary)(long double x, long double y);
        void (*pair)(double *re, double *im); /* in place */
        long double (*reduce)(const long double *x, int64_t n);
    };
    double units; /* how many of the result's last places (at the value) the answer may be off */
} SlowOp;

extern const SlowOp slow_ops[];
extern const int slow_op_count;

#endif
