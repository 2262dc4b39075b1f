/* walk_args.h: dimensions that a kernel walks over by one index, for operands that lie with strides; walk.c fills it
 * in, and it is part of the text of the kernels that walk.cuh belongs to. Dimension 0 is the innermost. */
typedef struct Walk {
    uint64_t n; /* places in all */
    uint64_t sizes[12];
    uint32_t magic[12], shift[12]; /* of the division by a size, of indices of 32 bits */
    int64_t strides[8][12];        /* bytes */
} Walk;
