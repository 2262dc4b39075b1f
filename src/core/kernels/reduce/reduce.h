/* reduce.h: reductions as accumulators: what a driver (ops/reduce.c) needs to fold lines of elements, in any number of
 * chunks, into one result.
 *
 * An accumulator starts by init, takes lines by `line` (or many accumulators take rows by `rows`), absorbs a later one
 * by `merge`, and gives its value by `finish`. Chunks are merged in order, so results never depend on the threads. */
#ifndef CORE_KERNELS_REDUCE_REDUCE_H
#define CORE_KERNELS_REDUCE_REDUCE_H

#include "core/base.h"
#include "core/dtype.h"

typedef enum TsrReduceKind {
    TSR_R_SUM,
    TSR_R_NANSUM,
    TSR_R_PROD,
    TSR_R_AMAX,
    TSR_R_AMIN,
    TSR_R_ARGMAX,
    TSR_R_ARGMIN, /* the latter two: value and index */
    TSR_R_AMINMAX,
    TSR_R_ANY,
    TSR_R_ALL,
    TSR_R_COUNT,
    TSR_R_MOMENTS,
    TSR_R_SQUARES, /* the sum of (x - mean)^2 in double, then as MOMENTS */
    TSR_R_LOGSUMEXP,
    TSR_R_COUNT_KINDS
} TsrReduceKind;

typedef struct TsrReducer {
    size_t size; /* bytes of an accumulator, at most TSR_REDUCE_ROOM, aligned to 16 */
    void (*init)(void *acc);
    /* n elements, `stride` bytes apart; the first is number `index` of the reduced ones, the next index + index_step.
     */
    void (*line)(void *acc, const char *data, int64_t stride, int64_t n, int64_t index, int64_t index_step,
                 const void *params);
    /* nout accumulators side by side; accumulator j takes n elements `stride` bytes apart from data + j * next. The
     * first `chain` ones are summed in one chain, as PyTorch does for sums along an outer dimension. Indices are as for
     * `line`. NULL: by line. */
    void (*rows)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n, int64_t stride, int64_t chain,
                 int64_t index, int64_t index_step);
    void (*merge)(void *acc, const void *later);
    /* Writes the results of n accumulators side by side from out[0] and out[1] on (NULL: not wanted), step[k] bytes
     * apart: `count` elements were reduced to each. */
    void (*finish)(char *const *out, const int64_t *step, const void *accs, int64_t n, int64_t count,
                   const void *params);
    /* nout accumulators side by side; accumulator j takes n contiguous elements, fewer than lines_below, from data +
     * j * next: the same as `line`, faster. */
    void (*lines)(void *accs, const char *data, int64_t nout, int64_t next, int64_t n);
    int64_t lines_below; /* 0: there are no `lines` */
    bool abreast;        /* `rows` is the faster way whatever the strides, and has no order of its own */
} TsrReducer;

/* Lines of up to 31 numbers pay: 100000 lines of 10 float32, one thread, 1.7 ms by line (Xeon, model 207;
 * bench/sweep/sweep.py --only 'x.sum(1)'); on Zen 5 0.17 and, turned (turn.inc), 0.11 ms with AVX-512, 0.38 and 0.21
 * with AVX2. */
enum { TSR_REDUCE_ROOM = 64, TSR_SHORT_LINE = 32 };
/* Sums, the greatest and the least of longer lines gain by it too: sum(1) of 6144 lines of 32 float32 57 us by line and
 * 11, of 1000 of 100 9.3 and 3.8, amin(1) of these 23 and 10 (one thread, Zen 5). */
enum { TSR_FOLDED_LINE = 256 };

/* The parameters of those that have any. */
typedef struct TsrReduceParams {
    double correction;
    bool root;   /* MOMENTS, SQUARES: std, not var */
    double mean; /* SQUARES */
} TsrReduceParams;

/* NULL when the dtype has none. */
const TsrReducer *tsr_reducer(TsrReduceKind kind, TsrDtype d);

typedef const TsrReducer (*TsrReducerTable)[TSR_DTYPE_COUNT];
TsrReducerTable tsr_reducers_base(void);
TsrReducerTable tsr_reducers_avx2(void);
TsrReducerTable tsr_reducers_avx512(void);

#endif
