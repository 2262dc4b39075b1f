/* fuse.h: several pointwise operators in one pass over memory.
 *
 * A TsrFused is an expression over tensors of one shape and one dtype (float32 or float64, contiguous, on the CPU) and
 * numbers: steps in the order of evaluation, each with a kernel of the pointwise table. tsr_fuse_run_new goes through
 * the elements by blocks that fit the first cache: every step's inner loop runs on a block before the next block
 * begins, and what is between the steps never reaches memory. Two or three steps are one loop where there is a kernel
 * for them (kernels/pairs.def): what is between them never leaves the registers. The loops compute what those that the
 * operators use one by one do, in the same order, so the results are the same bits. Each input and each step's result
 * is used exactly once. */
#ifndef CORE_ENGINE_FUSE_H
#define CORE_ENGINE_FUSE_H

#include "core/kernels/pointwise/table.h"
#include "core/tensor.h"

/* TSR_FUSE_LEAST: elements from which on it is worth while. a * b + c of so many floats, least of 300 calls in
 * build/tsr by time.perf_counter() (AMD EPYC, Zen 3): fused and apart 1.3 and 1.1 us of 2048, 1.6 and 1.7 of 4096, 2.4
 * and 3.1 of 8192, 14 and 23 of 65536. */
enum { TSR_FUSE_INPUTS = 10, TSR_FUSE_STEPS = 16, TSR_FUSE_LEAST = 8192 };

/* What a step reads: an input (>= 0) or the result of step -1 - n. */
typedef struct TsrFuseStep {
    TsrKernel kernel;
    int nin;
    int in[3];
    bool truth;       /* the result is bool: a comparison, or what joins some */
    bool of_truths;   /* and so are the operands */
    int cost;         /* of an element, in additions */
    const char *name; /* the operator's; static */
} TsrFuseStep;

typedef struct TsrFuseInput {
    TsrTensor *tensor; /* owned; NULL: the number */
    double number;     /* when `whole` is false */
    int64_t integer;
    bool whole;
} TsrFuseInput;

/* An expression: inputs and steps in order; the last step is its value. Owns a reference to each input tensor. */
typedef struct TsrFused {
    int ninputs, nsteps;
    TsrFuseInput input[TSR_FUSE_INPUTS];
    TsrFuseStep step[TSR_FUSE_STEPS];
} TsrFused;

/* Whether a tensor may be an input at all. Never fails. */
bool tsr_fuse_accepts(const TsrTensor *t);
/* Whether two acceptable tensors may be inputs of one expression. */
bool tsr_fuse_alike(const TsrTensor *a, const TsrTensor *b);
/* The first tensor among the inputs; NULL when there are numbers only. Lent. */
const TsrTensor *tsr_fuse_first(const TsrFused *f);

/* Whether the value of the last step is bool. */
static inline bool tsr_fuse_is_truth(const TsrFused *f) { return f->step[f->nsteps - 1].truth; }
/* The value of the last step. *out is the caller's. Errors: memory, interrupts, an input whose storage has shrunk. */
TsrStatus tsr_fuse_run_new(TsrTensor **out, const TsrFused *f);
/* For those who use the elements up as they are made: use(context, fill, plan) may call fill(plan, begin, end, to), in
 * any thread, which writes the elements [begin, end) to `to`. Returns what `use` returns. */
typedef void (*TsrFillFn)(void *plan, int64_t begin, int64_t end, char *to);
TsrStatus tsr_fuse_use(const TsrFused *f, TsrStatus (*use)(void *context, TsrFillFn fill, void *plan), void *context);
/* The sum over all elements, of bools how many are true, or the mean of what is no bools (in
 * core/ops/reduce/reductions.c, where sum is). What is summed never reaches memory. */
TsrStatus tsr_fuse_sum_new(TsrTensor **out, const TsrFused *f, bool mean);
void tsr_fuse_release(TsrFused *f); /* lets the inputs go */

/* False: the evaluator holds nothing back (the results are the same). */
extern bool tsr_fuse_on;

#endif
