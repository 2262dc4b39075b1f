/* reduce_args.h: what a kernel of reductions is given; reduce.c fills it in, and it is part of the kernel's text.
 *
 * A block has block_x by block_y threads and takes some results; `ctas` blocks (its number is block_y()) share a
 * result. The multipliers say which input, and which result, is a thread's first: by its x, its y and its block. 0: all
 * take the same. */
typedef struct ReduceArgs {
    uint64_t in, out[2]; /* addresses */
    uint64_t parts;      /* of the accumulators of blocks that share a result: ctas rows of one a result */
    int64_t inputs, outputs;
    int64_t step_input, step_output, ctas;
    int64_t input_x, input_y, input_block, output_x, output_y;
    uint32_t block_x, block_y;
    int64_t reduced[12], in_reduced[12], index[12]; /* sizes, strides in bytes, steps of the row-major index */
    int64_t kept[12], in_kept[12], out_kept[2][12];
    double correction;
    uint32_t root;
} ReduceArgs;
