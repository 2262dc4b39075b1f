/* mask_args.h: what a kernel that counts or lists the true ones of a mask is given; mask.c fills it in. */
typedef struct MaskArgs {
    uint64_t mask, out, ends; /* addresses: bytes; counts, or positions; how many there are up to each chunk's end */
    int64_t n, count;         /* of bytes, and of positions in all */
    int64_t ndim, sizes[12];  /* of the mask, the innermost first */
} MaskArgs;
