/* chain_impl.h: what chain.c and chain_end.c share: a chain that is held back, and the text of its passes. */
#ifndef CUDA_CHAIN_IMPL_H
#define CUDA_CHAIN_IMPL_H

#include "chain.h"
#include "cuda/compile.h"

#define alignas _Alignas
#include "cuda/device/chain_args.h"
#undef alignas

enum { STEPS = 16, PLACES = 24, DIMS = 6, MOST_IN_MEMORY = 12, NUMBERS = 12, PARAMS = 4 };

typedef struct Place {
    TsrAddress data, begin, end; /* the first element, and the ends of all bytes */
    TsrDtype dtype;
    int64_t strides[DIMS];
    int value;  /* the step that wrote it last; -1: none */
    bool read;  /* from memory, by the first step that wants it */
    bool used;  /* the value was read by a later step */
    bool freed; /* since it was written */
    int8_t at;  /* in the kernel's arguments; -1: not in memory at all */
} Place;

/* An operand of a step: a number, a place in memory as it was before, or the value of a step before. */
typedef struct Source {
    enum { NUMBER, PLACE, VALUE } kind;
    int which;
} Source;

typedef struct Step {
    CudaPass pass;
    Source in[TSR_DEVICE_OPERANDS];
    CuFunction function;
    unsigned blocks;
    uint64_t errors, launch;
    char params[TSR_DEVICE_PARAMS];
    MapStrided args;
} Step;

typedef struct Chain {
    int index;
    int64_t id; /* of the stream */
    CuStream stream;
    int nsteps, nplaces, nnumbers, nparams, ndim;
    int64_t numel, sizes[DIMS];
    Step step[STEPS];
    Place place[PLACES];
    bool has_end; /* a reduction of one of its values comes after it, and nothing else can */
    CudaReduction end;
    int end_place; /* of the value */
} Chain;

/* What the kernel is made from: the chain, and how its places in memory are counted. */
typedef struct Written {
    const Chain *chain;
    int nplaces; /* in memory */
    int place[MOST_IN_MEMORY];
    int pack;
    bool wide;
} Written;

/* Counts the places in memory: where each stands in the kernel's arguments. */
void cuda_chain_describe(Written *w, Chain *c);
/* The hash of all that the kernel's text is made from. */
CudaHash cuda_chain_hash(const Written *w);
/* What the formulas of its passes call (map.h). */
unsigned cuda_chain_calls(const Chain *c);
/* The passes, then `#define`s of READ(at), STEPS and WRITE(at), which chain.cuh explains. */
void cuda_chain_write_steps(CudaSource *s, const Written *w);
/* The arguments, but for dimensions and strides. */
void cuda_chain_fill(ChainArgs *a, const Written *w);
TsrStatus cuda_chain_launch(const Chain *c, CuFunction function, unsigned blocks, unsigned blocks_y, unsigned threads,
                            const void *args);
/* Whether a value is in memory, or will be: whoever reads it there has not come yet. */
bool cuda_chain_is_stored(const Place *p);
/* Whether the chain's one kernel is to be compiled at once. */
bool cuda_chain_now(void);

/* Launches the chain's passes and the reduction at its end as one kernel, where no value is wanted in memory and the
 * kernel is at hand: *done. (chain_end.c) */
TsrStatus cuda_chain_end_together(bool *done, Chain *c);
/* The text of that kernel; false: there is none. (chain_end.c) */
bool cuda_chain_end_write(CudaSource *out, Chain *c);
/* Launches the reduction alone, which reads what the chain has written. (chain_end.c) */
TsrStatus cuda_chain_end_alone(const Chain *c);

#endif
