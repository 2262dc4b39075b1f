/* inference.h: inference tensors. What is made in inference mode keeps no version by which a write could be noticed, so
 * outside the mode it may be read but not written.
 *
 * A tensor made anew takes the flags of the mode (tsr_fresh_flags), a view those of the tensor it is taken of.
 * x.data and x.detach() of an inference tensor, made outside the mode, keep a version and may be written; their own
 * views may not. */
#ifndef CORE_TENSOR_INFERENCE_H
#define CORE_TENSOR_INFERENCE_H

#include "core/tensor.h"

/* They stand beside TsrTensorFlags in a tensor's flags. */
enum {
    TSR_FLAG_INFERENCE = 32, /* made in the mode, or a view of such a tensor: is_inference() */
    TSR_FLAG_UNCOUNTED = 64, /* writes to it count in no version: an error outside the mode */
    TSR_FLAGS_OF_INFERENCE = TSR_FLAG_INFERENCE | TSR_FLAG_UNCOUNTED
};

extern uint8_t tsr_fresh_flags; /* 0, or TSR_FLAGS_OF_INFERENCE in inference mode */
void tsr_set_inference_mode(bool on);
static inline bool tsr_is_inference_mode(void) { return tsr_fresh_flags != 0; }

/* Counts a write that the program asked for (tsr_tensor_bump), at its end. As in PyTorch t is written by then, and
 * TSR_RUNTIME_ERROR "Inplace update to inference tensor outside InferenceMode is not allowed..." says that it should
 * not have been. */
TsrStatus tsr_tensor_written(TsrTensor *t, const char *what);
/* Gives t, a view, a version counter of its own, which starts at 0: then it may be written. */
TsrStatus tsr_tensor_start_version(TsrTensor *t);
/* Makes t, a view, an inference tensor or none by the mode in force, whatever it is a view of. */
TsrStatus tsr_tensor_follow_mode(TsrTensor *t);

#endif
