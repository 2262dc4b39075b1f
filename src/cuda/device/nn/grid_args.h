/* grid_args.h: what a kernel that samples at points is given; grid.c fills it in. */
typedef struct GridArgs {
    uint64_t out, input, grid; /* addresses: g's pointers are not used */
    int64_t n;                 /* points of the whole batch */
    TsrGrid g;
} GridArgs;
