/* matmul_args.h: what a kernel of products of matrices is given; matmul.c fills it in, and it is part of the kernel's
 * text. */
typedef struct MatmulArgs {
    int64_t rows, columns, depth, batch;
    struct {
        uint64_t data;
        int64_t row, column, batch; /* strides, in bytes */
    } out, a, b;
    int64_t across; /* tiles side by side in a result */
    alignas(16) char alpha[16], beta[16];
    uint32_t adds; /* beta times what is in `out` */
} MatmulArgs;
