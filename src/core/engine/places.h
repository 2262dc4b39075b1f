/* places.h: elements of tensors of a device that are read and written by their positions, as its backend takes it: the
 * primitives PICK and PLACE (backend.h). For the operators with indices, whose tensors lie on one device; each returns
 * what engine/device.h says. A position that is bad is found when the device is waited for. */
#ifndef CORE_ENGINE_PLACES_H
#define CORE_ENGINE_PLACES_H

#include "core/kernels/move/combine.h"
#include "device.h"

/* Positions along one dimension of a tensor, int64. */
typedef struct TsrAlong {
    const TsrTensor *index;
    int64_t dim;
    bool rows; /* index is a vector or a number: positions of whole slices; else it has as many dimensions as the tensor
                  that is indexed, and a position for each element */
    bool wraps; /* negative ones count from the end */
    TsrDeviceWrong wrong;
} TsrAlong;

/* out[..., i, ...] = self[..., index, ...]. out has the sizes of the index or, of rows, self's with as many slices as
 * there are positions. A tensor without dimensions counts as one of one element. */
TsrStatus tsr_pick_along(TsrTensor *out, const TsrTensor *self, const TsrAlong *along);
/* to[..., index, ...] = what is there combined with from[..., i, ...]; from is at least as large as the index, or has
 * no dimensions: one number for all. */
TsrStatus tsr_place_along(TsrTensor *to, const TsrTensor *from, const TsrAlong *along, TsrCombine how);

/* A tensor of positions, int64, in one of several dimensions: its sizes are those of the view beside it, or 1. */
typedef struct TsrPlace {
    const TsrTensor *index;
    int64_t size, step, dim; /* of what is indexed: elements, their distance in elements, its name in the error */
} TsrPlace;

/* out = the elements of `view`, which has out's sizes and strides of 0 along what is indexed, at n positions each. */
TsrStatus tsr_pick(TsrTensor *out, const TsrTensor *view, const TsrPlace *places, int n, TsrDeviceWrong wrong);
/* The other way; `from` has view's sizes. */
TsrStatus tsr_place(TsrTensor *view, const TsrTensor *from, const TsrPlace *places, int n, TsrDeviceWrong wrong,
                    TsrCombine how);

/* t = value, an element of t's dtype, where the mask, a bool tensor of t's sizes, is true. */
TsrStatus tsr_fill_where(TsrTensor *t, const TsrTensor *mask, const void *value);

/* Elements of `t`, whose dtype stays, on `device`: t itself, retained, or a copy. *out is the caller's. */
TsrStatus tsr_new_there(TsrTensor **out, const TsrTensor *t, TsrDevice device);

#endif
