/* triangle_args.h: what the kernel that clears a triangle is given; triangle.c fills it in. */
typedef struct TriangleArgs {
    uint64_t data; /* address of row-major matrices */
    uint64_t n;    /* elements in all */
    int64_t rows, columns, diagonal;
    uint32_t upper; /* the upper triangle is kept */
} TriangleArgs;
