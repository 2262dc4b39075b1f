/* tensor_impl.h: what the makers of views and of sparse tensors do to the insides of one, and the refusals that those
 * who write into one share. */
#ifndef CORE_TENSOR_TENSOR_IMPL_H
#define CORE_TENSOR_TENSOR_IMPL_H

#include "core/tensor.h"

/* Makes a view a tensor in its own right: `_base` becomes None, the memory stays shared. */
void tsr_tensor_unlink_base(TsrTensor *t);
/* A tensor of a sparse layout, without a storage and with strides of 0; dtype and device are those of its values. Takes
 * `sparse` (by tsr_malloc) and its references over, also on failure. */
TsrStatus tsr_tensor_new_sparse_move(TsrTensor **out, uint8_t layout, int ndim, const int64_t *sizes,
                                     TsrSparse *sparse);
/* Replaces what a sparse tensor holds, and its sizes; takes `sparse` over, also on failure. */
TsrStatus tsr_tensor_set_sparse_move(TsrTensor *t, int ndim, const int64_t *sizes, TsrSparse *sparse);

/* "unsupported operation: more than one element of the written-to tensor refers to a single memory location. ..." */
TsrStatus tsr_refuse_internal_overlap(void);
/* That error for a tensor with elements and a dimension of stride 0, as expand() makes it. */
TsrStatus tsr_check_no_internal_overlap(const TsrTensor *written);
/* "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory
 * location. ..." */
TsrStatus tsr_refuse_overlap(void);
/* TSR_RUNTIME_ERROR of as_strided and of all views whose strides came to be negative. */
TsrStatus tsr_refuse_negative_strides(int ndim, const int64_t *strides) __attribute__((cold));

#endif
