/* scan_args.h: what a kernel of running sums is given; scan.c fills it in.
 *
 * Element i of line k lies at k / inner * size * inner + k % inner + i * inner. A line is cut into chunks of `length`
 * elements. */
typedef struct ScanArgs {
    uint64_t in, out, places; /* addresses; places: of the running extremes' */
    uint64_t starts;          /* of what comes before each chunk: `chunks` accumulators a line */
    int64_t lines, size, inner, chunks, length;
} ScanArgs;
