/* rows_args.h: what a kernel that goes over lines is given; rows.c fills it in. */
typedef struct RowsArgs {
    uint64_t out, in;    /* addresses */
    uint64_t mean, rstd; /* of NORM: a number a line */
    uint64_t weight, bias;
    int64_t lines, n;     /* lines, and elements of one */
    int64_t inner;        /* lines side by side in memory: as many elements lie between neighbours of one line */
    int64_t groups, span; /* as TsrDeviceNorm has them */
    double eps;
    uint32_t width;  /* threads that share a line: a power of two */
    uint32_t beside; /* lines of a block */
    uint32_t along;  /* whether neighbouring threads are of one line, or of neighbouring ones */
} RowsArgs;
