/* bag_args.h: what the kernel of bags is given; bag.c fills it in, and it is part of the kernel's text. */
typedef struct BagArgs {
    uint64_t out, from, table, positions, starts, factors; /* addresses; from, of maxima, and factors may be 0 */
    uint64_t errors, launch;                               /* see errors.cuh */
    int64_t bags, columns, rows, n;                        /* rows of the table, n positions */
    int64_t pitch, step;                                   /* bytes from row to row and from column to column */
    int64_t padding, found;                                /* found: what a bad position is reported as */
} BagArgs;
