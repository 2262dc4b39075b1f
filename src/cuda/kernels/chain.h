/* chain.h: pointwise passes that follow each other become one kernel.
 *
 * A pass is held back until something else goes to the device, or looks at it: then all that were held back are
 * launched, as one kernel if that is at hand, else one by one, in their order. What a pass wrote, another one read, and
 * was freed before the launch, never reaches memory. Values between passes have the dtype that they would have in
 * memory, and no operation is contracted, so the bits are the same either way.
 *
 * The one kernel is compiled beside, by a thread of its own, when a chain is met for the second time; until it is there
 * the passes run one by one. $TSR_CUDA_CHAINS is "off" (nothing is held back, nor is while a trace is written), "now"
 * (compiled at once, for tests) or unset. */
#ifndef CUDA_CHAIN_H
#define CUDA_CHAIN_H

#include "map.h"
#include "reduce.h"

/* A launch of one pass: its kernel, and its arguments, which are copied. */
typedef struct CudaLaunch {
    CuFunction function;
    unsigned blocks;
    const void *args; /* a MapArgs, or a MapStrided that begins with one */
    size_t size;
} CudaLaunch;

/* Holds a pass back, for the current stream of its device; first launches what was held back where the pass can't go
 * with it. TSR_ACCELERATOR_ERROR of such a launch. */
TsrStatus cuda_chain_add(const CudaPass *pass, const CudaLaunch *launch);
/* Holds a reduction back that reads what a chain makes, which is held back too. The two become one kernel in which each
 * input is made where it is read, in the order in which the reduction alone would read it, so that the sums have the
 * same bits. false: it is to be launched. */
bool cuda_chain_take_end(const CudaReduction *end, const TsrDeviceReduce *reduce);
/* Launches what is held back. Due before anything is put into a stream, and before memory goes back to the driver. */
TsrStatus cuda_chain_flush(void);
/* These bytes belong to no tensor any more. */
void cuda_chain_freed(TsrAddress address, size_t bytes);
/* The text of the kernel that does n passes together, of which all but the last one's results are freed; with `end`,
 * which may be NULL, that is reduced and freed too. false: they don't go together. */
bool cuda_chain_source(CudaSource *out, const TsrDeviceMap *maps, int n, const TsrDeviceReduce *end);

#endif
