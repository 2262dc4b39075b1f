/* op_calls.h: random calls of a row of the operator table, made so that most of them are accepted: the schema says the
 * kinds, the parameters' names and op_hints.def the shapes and values that fit. The first tensor has the dtype and the
 * layout asked for. Everything follows from one seed (calls_seed), so that a failure comes again. */
#ifndef TESTS_CORE_OP_CALLS_H
#define TESTS_CORE_OP_CALLS_H

#include <stdio.h>

#include "core/op.h"

typedef enum CallLayout {
    LAID_CONTIGUOUS,
    LAID_TRANSPOSED,
    LAID_OFFSET,
    LAID_STEPPED,
    LAID_EXPANDED,
    LAID_EMPTY,
    LAID_SCALAR,
    CALL_LAYOUTS
} CallLayout;
extern const char *const call_layout_names[CALL_LAYOUTS];

enum { CALL_TENSORS = 48, CALL_BLOCKS = 24 };

/* A bound call that owns its tensors. */
typedef struct OpCall {
    const TsrOp *op;
    const TsrSchema *schema;
    TsrArg arg[TSR_MAX_ARGS];
    TsrTensor *tensors[CALL_TENSORS];
    int ntensors;
    void *blocks[CALL_BLOCKS]; /* arrays that arguments point into */
    int nblocks;
} OpCall;

/* How the tensors of a copy lie. */
typedef enum CallCopy { COPY_AS_IT_IS, COPY_CONTIGUOUS, COPY_META } CallCopy;

void calls_seed(uint64_t seed);
uint32_t calls_below(uint32_t n); /* in [0, n) */

/* False when the schema has parameters that no argument can be made for. `wild` mixes nan, infinities and extremes in.
 * To be ended. */
bool call_begin(OpCall *call, const TsrOp *op, const TsrSchema *schema, TsrDtype dtype, CallLayout layout, bool wild);
/* As call_begin, for tensors that loops are split over threads for. */
bool call_begin_large(OpCall *call, const TsrOp *op, const TsrSchema *schema, TsrDtype dtype);
/* The same arguments in storages of their own. `from` must outlive it. False when memory is short. */
bool call_copy(OpCall *copy, const OpCall *from, CallCopy how);
void call_end(OpCall *call);

/* Runs it with the generator of random numbers freshly seeded. */
TsrStatus call_run(OpCall *call, TsrOpCall *run);
/* As call_run, writing into `out` (nreturns of them), or in place when `inplace` (out is NULL then). */
TsrStatus call_run_into(OpCall *call, TsrOpCall *run, TsrTensor *const *out, bool inplace);

/* How many of the calls took seconds, and were described and interrupted. One that goes on after that ends the process.
 */
int calls_stopped(void);

/* A tensor of that geometry in one of the layouts, its elements not set, the rest of its storage with a pattern. NULL
 * when memory is short. */
TsrTensor *call_tensor(int ndim, const int64_t *sizes, TsrDtype dtype, CallLayout layout);
/* The address of an element by its row-major number: the plain sum over strides. */
char *call_element(const TsrTensor *t, int64_t number);
/* Another storage with the same bytes under the same geometry. */
TsrTensor *call_tensor_copy(const TsrTensor *t, CallCopy how);
/* A line of JSON: the call as it was `before`, and its results or its error; for tests/oracle/replay.py. */
void call_dump(FILE *f, const OpCall *call, const OpCall *before, const TsrOpCall *run, TsrStatus status);
/* The call in words, on stderr. */
void call_describe(const OpCall *call);
void call_describe_tensor(const TsrTensor *t);

#endif
