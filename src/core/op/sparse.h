/* sparse.h: what the columns `.sparse` of the rows name: what an ordinary operator does when one of its arguments is
 * sparse. Each takes the row's call, as op.h says of a row's function. */
#ifndef CORE_OP_SPARSE_H
#define CORE_OP_SPARSE_H

#include "core/op.h"

/* core/ops/sparse/math.c: element by element, and sums */
TsrStatus sp_unary(TsrOpCall *c);  /* zero stays zero: the row's operator on the stored values, coalesced */
TsrStatus sp_linear(TsrOpCall *c); /* the same of values as they are: f(a) + f(b) is f(a + b) */
TsrStatus sp_pow(TsrOpCall *c);
TsrStatus sp_add(TsrOpCall *c);
TsrStatus sp_sub(TsrOpCall *c);
TsrStatus sp_rsub(TsrOpCall *c);
TsrStatus sp_mul(TsrOpCall *c);
TsrStatus sp_div(TsrOpCall *c);
TsrStatus sp_floor_divide(TsrOpCall *c);
TsrStatus sp_sum(TsrOpCall *c);
TsrStatus sp_sum_dims(TsrOpCall *c);
TsrStatus sp_any(TsrOpCall *c);
TsrStatus sp_norm(TsrOpCall *c); /* of all elements */

/* core/ops/sparse/shape.c: copies, conversions, shapes and parts; no_: what PyTorch refuses in words of its own */
TsrStatus sp_clone(TsrOpCall *c);
TsrStatus sp_pin_memory(TsrOpCall *c);
TsrStatus sp_detach(TsrOpCall *c);
TsrStatus sp_itself(TsrOpCall *c); /* self */
TsrStatus sp_real(TsrOpCall *c);   /* of a real tensor */
TsrStatus sp_conj(TsrOpCall *c);
TsrStatus sp_to(TsrOpCall *c); /* to, in its three forms */
TsrStatus sp_cpu(TsrOpCall *c);
TsrStatus sp_cuda(TsrOpCall *c);
TsrStatus sp_type_as(TsrOpCall *c);
TsrStatus sp_convert(TsrOpCall *c);
TsrStatus sp_type(TsrOpCall *c);
TsrStatus sp_zeros_like(TsrOpCall *c);
TsrStatus sp_new_zeros(TsrOpCall *c);
TsrStatus sp_zero(TsrOpCall *c);
TsrStatus sp_copy(TsrOpCall *c);
TsrStatus sp_transpose(TsrOpCall *c);
TsrStatus sp_t(TsrOpCall *c);
TsrStatus sp_T(TsrOpCall *c);
TsrStatus sp_permute(TsrOpCall *c);
TsrStatus sp_unsqueeze(TsrOpCall *c);
TsrStatus sp_select(TsrOpCall *c);
TsrStatus sp_narrow_copy(TsrOpCall *c);
TsrStatus sp_unbind(TsrOpCall *c);
TsrStatus sp_index_select(TsrOpCall *c);
TsrStatus sp_cat(TsrOpCall *c);
TsrStatus sp_stack(TsrOpCall *c);
TsrStatus sp_no_expand(TsrOpCall *c);
TsrStatus sp_no_reshape(TsrOpCall *c);
TsrStatus sp_no_contiguous(TsrOpCall *c);
TsrStatus sp_no_strides(TsrOpCall *c); /* views that PyTorch would make by as_strided */
TsrStatus sp_no_same_memory(TsrOpCall *c);
TsrStatus sp_no_address(TsrOpCall *c);
TsrStatus sp_is_contiguous(TsrOpCall *c);
TsrStatus sp_stride(TsrOpCall *c);

/* core/ops/sparse/matmul.c: products */
TsrStatus sp_mm(TsrOpCall *c); /* also torch.sparse.mm */
TsrStatus sp_mv(TsrOpCall *c);
TsrStatus sp_matmul(TsrOpCall *c);
TsrStatus sp_bmm(TsrOpCall *c);
TsrStatus sp_rmatmul(TsrOpCall *c);
TsrStatus sp_addmm(TsrOpCall *c);

#endif
