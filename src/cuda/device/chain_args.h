/* chain_args.h: what a kernel of several pointwise passes is given; chain.c fills it in, and it is part of the kernel's
 * text. */
typedef struct ChainArgs {
    uint64_t n;                      /* elements */
    uint64_t data[12];               /* addresses of what is read or written */
    uint64_t errors;                 /* address of the device's word for errors, see errors.cuh */
    uint64_t launch[16];             /* the steps' numbers there */
    alignas(16) char number[12][16]; /* operands that are one number */
    alignas(16) char params[4][64];  /* of the steps' formulas */
} ChainArgs;

/* Operands that lie with strides. */
typedef struct ChainStrided {
    ChainArgs chain;
    uint64_t sizes[6];
    uint32_t magic[6], shift[6];
    int64_t strides[12][6]; /* bytes */
} ChainStrided;
