/* walk.h: the dimensions of a piece of work, as its kernel walks over them. */
#ifndef CUDA_WALK_H
#define CUDA_WALK_H

#include "cuda/source.h"

/* The same struct as the kernel's text has. */
#include "cuda/device/walk_args.h"

/* What of a walk stands in the kernel's text: dimensions, and whether indices need 64 bits. */
typedef struct WalkKind {
    uint8_t ndim, wide;
} WalkKind;

/* The places of `count` tensors of the same sizes, in row-major order: dimensions of one element are left out,
 * neighbours that continue one another in all tensors are one. At least one dimension. */
WalkKind cuda_walk(Walk *out, const TsrDeviceTensor *tensors, int count);
/* Elements of operands 0 and 1, of *item bytes each, two by two as one as long as it goes, up to 16 bytes: where both
 * are dense along dimension 0 and aligned, and all others have a stride of 0 there. `also`: `nalso` further distances
 * in bytes that the elements have to divide. For work that moves bytes. */
void cuda_walk_widen(Walk *w, WalkKind *kind, int count, const TsrDeviceTensor *tensors, int *item, const int64_t *also,
                     int nalso);
/* n / size = (high half of n * magic, plus n) >> shift, for n below 2**31 (Granlund and Montgomery, Division by
 * Invariant Integers using Multiplication, 1994). Nothing for a size from there on, where indices have 64 bits and the
 * size itself divides. */
void cuda_division(uint32_t *magic, uint32_t *shift, uint64_t size);
/* `#define`s for walk.cuh, and its text: for a Walk, or any struct that has its dimensions. */
void cuda_walk_source(CudaSource *s, WalkKind kind);
/* The type of an element that is only moved: an integer of so many bytes, or two of 8. */
const char *cuda_moved_type(int item);

#endif
