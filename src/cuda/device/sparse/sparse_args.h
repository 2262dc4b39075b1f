/* sparse_args.h: what the kernels for sparse tensors are given; sparse.c fills it in. */
typedef struct FlatArgs {
    uint64_t in, out; /* addresses: coordinates, and the numbers they make */
    uint64_t errors, launch;
    int64_t n, ndim, down, across; /* columns; rows of coordinates; bytes from a row, and a column, to the next */
    int64_t sizes[12];             /* the outermost first */
} FlatArgs;
typedef struct PlacesArgs {
    uint64_t in, out, errors, launch;
    int64_t n, size; /* of columns, and how many the matrix has */
} PlacesArgs;
typedef struct SpmmArgs {
    uint64_t starts, places, values, dense, out; /* addresses, as TSR_P_SPMM names them */
    uint64_t errors, launch;
    int64_t rows, columns, depth;
} SpmmArgs;
