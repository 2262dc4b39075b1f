/* caffe2.h: caffe2.Tensor and c10.ArrayRef around the one implementation, caffe2.Operator, and the workspace.
 *
 * A caffe2 tensor is a wrapper around the same TensorImpl as a torch tensor: converting is one reference more and no
 * copy; a tensor that is not contiguous, or whose elements have constructors, is refused at that boundary. Until
 * mutable_data is called there is no memory. */
#ifndef SYSTEMS_CAFFE2_H
#define SYSTEMS_CAFFE2_H

#include "core/tensor.h"
#include "lang/object/value.h"

extern Type array_ref_type;
/* Calls `changed` for each tensor that a caffe2 wrapper and something of torch both hold, and whose sizes, strides or
 * dtype are not what they were at the last call; NULL: forgets what changed. */
void caffe2_each_changed(void (*changed)(TsrTensor *t));
TsrStatus ns_caffe2_startup(void);
void ns_caffe2_shutdown(void);

/* The sizes (or strides) of a tensor as an ArrayRef that holds nothing. */
TsrStatus array_ref_new(Value *out, TsrTensor *t, bool strides);
/* The numbers in a block of `owner`, who says when they are no longer what they were, and how ("went"). */
TsrStatus array_ref_new_block(Value *out, const void *owner, const int64_t *block, int count);
void array_ref_owner_changed(const void *owner, const char *how);
void array_ref_startup(void);
TsrStatus ns_c10_startup(void); /* the namespace c10: intrusive_ptr.c */

#endif
