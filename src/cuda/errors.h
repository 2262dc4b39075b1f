/* errors.h: what kernels find wrong (an index, a divisor), found out when the host waits for them. */
#ifndef CUDA_ERRORS_H
#define CUDA_ERRORS_H

#include "driver.h"

/* What a kernel reports by report() of device/errors.cuh, which has the same numbers. */
typedef enum CudaFound {
    CUDA_FOUND_NOTHING,
    CUDA_FOUND_ZERO_DIVISOR, /* an integer was divided by 0 */
    CUDA_FOUND_CHANCE,       /* a probability outside of [0, 1] */
    CUDA_FOUND_RATE,         /* a Poisson distribution's rate below 0 */
    CUDA_FOUND_WEIGHT,       /* a choice with a weight below 0 */
    CUDA_FOUND_NO_WEIGHT,    /* a choice whose weights are all 0 */
    CUDA_FOUND_INDEX,        /* `value` is no index of dimension `dimension`, which has `size` elements. Added to it,
                                the kinds of TsrDeviceWrong say in which words that is reported */
    CUDA_FOUND_KINDS = CUDA_FOUND_INDEX + TSR_WRONGS
} CudaFound;

/* For a launch whose kernel may report: the address of the device's record, and the launch's number, under which the
 * operator that is running is remembered for as long as a few hundred launches. The device is entered. */
TsrStatus cuda_errors_begin(uint64_t *address, uint64_t *launch, int index);
/* After a wait: the first thing that was found since, as PyTorch's exception on the host, whose hint says which
 * operator it was. Forgets it, so that the next wait succeeds. */
TsrStatus cuda_errors_check(int index);

#endif
