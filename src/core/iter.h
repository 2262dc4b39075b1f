/* iter.h: the one iterator. Elementwise kernels are inner loops over strided 1-D runs; everything else
 * (broadcasting, type promotion and conversion, output allocation, overlap checks, dimension coalescing
 * and reordering, threads, interrupts) happens here, once.
 *
 *     TsrIter it;
 *     TSR_TRY(tsr_iter_begin(&it, &(TsrIterSpec){.nout = 1, .out = {c->out[0]}, .nin = 2, .in = {a, b}, .flags =
 * TSR_ITER_PROMOTE | ...})); TsrStatus s = tsr_iter_run(&it, loop_for(it.dtype), &params); return
 * tsr_iter_end_move(&it, s, &result);
 */
#ifndef TSR_ITER_H
#define TSR_ITER_H

#include "loop.h"
#include "parallel.h"
#include "promote.h"

TSR_PUBLIC_BEGIN

/* Outputs and inputs of one iteration at most. */
enum { TSR_ITER_MAX_OPERANDS = 8 };

enum TsrIterFlags {
    TSR_ITER_PROMOTE = 1,      /* inputs are converted to the common dtype (result_type) */
    TSR_ITER_INT_TO_FLOAT = 2, /* with PROMOTE: integral and bool common dtype becomes the default dtype */
    TSR_ITER_OUT_BOOL = 4,    /* fresh outputs are bool (comparisons) whatever the common dtype; the loop writes bool */
    TSR_ITER_CHECK_CAST = 8,  /* given outputs: "result type Float can't be cast to the desired output type Long" */
    TSR_ITER_SAME_DTYPE = 16, /* no promotion: "expected ... same dtype" error when inputs differ */
    TSR_ITER_NO_RESIZE = 32,  /* a given output must have the broadcast shape (in-place): "output with shape [3] doesn't
                                 match the broadcast shape [2, 3]" */
    TSR_ITER_NO_OVERLAP_CHECK = 64,
    TSR_ITER_SERIAL = 128, /* one thread: the loop keeps state or draws random numbers in order */
    TSR_ITER_LINEAR = 256, /* keep row-major order of elements (random streams) */
    TSR_ITER_COMPUTE_FLOAT =
        512, /* small floats are handed to the loop as float32 buffers (complex32 as complex64) and rounded back */
    TSR_ITER_OPMATH =
        2048, /* with COMPUTE_FLOAT: 0-d inputs of other dtypes are not rounded to the half type first (h * 0.1) */
    TSR_ITER_IN_ORDER =
        4096, /* set by the iterator: an output overlaps an input in part, so the order of elements shows */
    TSR_ITER_NUMBER_LAST = 8192, /* the last input is a number of the call: it has no say in how fresh outputs lie */
    TSR_ITER_REAL_OUT = 1024     /* complex common dtype: fresh outputs get its real dtype (abs, angle) */
};

typedef struct TsrIterSpec {
    int nout, nin;
    TsrTensor *out[4];                          /* NULL: allocated. Lent */
    const TsrTensor *in[TSR_ITER_MAX_OPERANDS]; /* lent */
    unsigned flags;
    TsrDtype dtype; /* TSR_DTYPE_NONE..: forced common dtype when `has_dtype` */
    bool has_dtype;
    const TsrDtype
        *out_dtype;   /* per output, overrides the common dtype for fresh outputs and for what the loop writes; NULL */
    const char *name; /* operator, for messages: "add" */
    const TsrDtype *in_dtype; /* per input: what the loop reads, instead of the common dtype; TSR_DTYPE_NONE entries:
                                 the common one; NULL */
    int cost;                 /* of one element, in additions; 0 counts as 1: decides from which size on threads help */
} TsrIterSpec;

typedef struct TsrIter {
    TsrDtype dtype;  /* common dtype: what the inner loop computes on */
    TsrDtype common; /* the same before widening by COMPUTE_FLOAT: the operator's dtype, for messages */
    unsigned via;    /* bit k: operand k is rounded to `common` on its way to the loop's dtype, or from it */
    int nout, noperands;
    int ndim; /* after coalescing */
    int64_t numel;
    TsrTensor *operand[TSR_ITER_MAX_OPERANDS];  /* outputs first; each retained by the iterator */
    TsrDtype loop_dtype[TSR_ITER_MAX_OPERANDS]; /* what the loop sees; differs from the operand's own: converted through
                                                   block buffers */
    int64_t sizes[TSR_MAX_DIMS];
    int64_t strides[TSR_ITER_MAX_OPERANDS][TSR_MAX_DIMS]; /* bytes; dimension 0 is the innermost */
    unsigned flags;
    int cost;
    bool meta; /* some operand is on the meta device: run does nothing */
    bool away; /* some operand is not on the host */
    int rank;
    int64_t shape[TSR_MAX_DIMS]; /* the broadcast shape, uncoalesced, row-major order */
} TsrIter;

/* Only the operands and dtypes that the rules demand are touched: an input that is already of the loop's dtype is
 * read where it lies; outputs that the loop writes in another dtype go through a block buffer. */

TsrStatus tsr_iter_begin(TsrIter *it, const TsrIterSpec *spec); /* on failure nothing is held */
/* What tsr_iter_begin would refuse, in its order: memory, shapes, dtypes. Nothing is allocated: for operators that
 * compute with others and look at all their operands first. */
TsrStatus tsr_iter_check(const TsrIterSpec *spec);
/* Refuses (RuntimeError) an output that is known to overlap an input in part; full overlap is an in-place operation. */
TsrStatus tsr_iter_check_partial_overlap(const TsrTensor *out, const TsrTensor *in);
/* Sees a result being allocated that has more elements than each of its `count` inputs, all of them stretched; lends
 * all. NULL by default. */
extern void (*tsr_broadcast_hook)(const TsrTensor *result, const TsrTensor *const *in, int count);
/* Threads for large inputs; polls interrupts. With operands on a device it declines (engine/device.h). */
TsrStatus tsr_iter_run(TsrIter *it, TsrLoop loop, const void *params);
/* The same for a loop that has a number in the table of kernels (kernels/pointwise/table.h), by which a device finds
 * its own: there the kernel runs on the device. `nparams`: bytes of params. */
TsrStatus tsr_iter_run_kernel(TsrIter *it, TsrLoop loop, unsigned kernel, const void *params, size_t nparams);
/* Releases everything. When `status` is TSR_OK, out[0..nout) receive the outputs (the caller's references). Returns
 * `status`. */
TsrStatus tsr_iter_end_move(TsrIter *it, TsrStatus status, TsrTensor **out);

/* Walks over "everything but dim": calls fn for each line along `dim` of the operands, which share all sizes but that
 * one. Threads unless serial. */
TsrStatus tsr_lines_run(TsrTensor *const *operands, int noperands, int64_t dim, TsrLineFn fn, const void *params,
                        bool serial);

TSR_PUBLIC_END

#endif
