/* sort_args.h: what a kernel that sorts is given; sort.c fills it in. Lines lie one after the other. */
typedef struct SortArgs {
    uint64_t in, values, places; /* addresses: the elements, and the results */
    uint64_t keys[2], order[2];  /* keys and numbers of elements, as they are and as a pass leaves them */
    uint64_t counts;             /* 256 rows of a number a block: of each digit */
    uint64_t n, size, lines;     /* elements in all, of a line, and lines */
    uint32_t shift, by_line;     /* the digit: of the key, or of the number of the element's line, from this bit on */
    uint32_t descending, padded; /* padded: a power of two, `size` or more */
} SortArgs;
