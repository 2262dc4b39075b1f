/* lines.h: the lines of a tensor along one dimension, taken to the buffers that a transform works on and back. */
#ifndef CORE_OPS_FFT_LINES_H
#define CORE_OPS_FFT_LINES_H

#include "core/backend.h"
#include "core/engine/fft.h"
#include "core/tensor.h"

/* `plan` transforms lines of length n, of doubles if `wide`; in and out may then be float tensors all the same. They
 * are of one size but along `dim`, and may be one tensor if complex. */
typedef struct TsrFftLines {
    const TsrFft *plan;
    const TsrTensor *in, *out;
    int dim;
    TsrFftLine kind;
    bool forward, wide;
    double scale;
    int64_t n;
} TsrFftLines;

/* Transforms all lines, split over threads. Errors: memory, an interrupt. */
TsrStatus tsr_fft_lines_run(const TsrFftLines *lines);

/* Completes a real signal's spectrum over the n dimensions `dims`, of which the first half along the last one is there.
 */
TsrStatus tsr_fft_lines_mirror(TsrTensor *t, const int64_t *dims, int n);

#endif
