/* map_args.h: what a pointwise kernel is given; map.c fills it in, and it is part of the kernel's text. */
typedef struct MapArgs {
    uint64_t n;                     /* elements */
    uint64_t data[8];               /* addresses; outputs first */
    uint64_t errors;                /* address of the stream's word for errors, see errors.cuh */
    uint64_t launch;                /* the launch's number there */
    alignas(16) char number[8][16]; /* operands that are one number */
    alignas(16) char params[64];    /* of the kernel's formula */
} MapArgs;

/* Operands that lie with strides. An index is divided by sizes: by magic numbers where it has 32 bits. */
typedef struct MapStrided {
    MapArgs map;
    uint64_t sizes[12];
    uint32_t magic[12], shift[12];
    int64_t strides[8][12]; /* bytes */
} MapStrided;
