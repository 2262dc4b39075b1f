/* search_args.h: what a kernel that searches in sorted lines is given; search.c fills it in. */
typedef struct SearchArgs {
    uint64_t bounds, values, sorter, out; /* addresses; sorter: 0, or of the order that the bounds are sorted by */
    uint64_t n, size, each;               /* values; bounds of a line; values of a line, or 0: one line for all */
    uint32_t right;                       /* whether a value goes after those that it equals */
} SearchArgs;
