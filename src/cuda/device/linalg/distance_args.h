/* distance_args.h: what the kernel for distances between rows is given; distance.c fills it in. */
typedef struct DistanceArgs {
    uint64_t out, left, right; /* addresses, dense: (batch, rows, others), and rows of `width` elements */
    int64_t batch, rows, others, width;
    int64_t down, across; /* tiles of a batch */
    double p;
} DistanceArgs;
