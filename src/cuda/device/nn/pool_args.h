/* pool_args.h: what a kernel that pools is given; pool.c fills it in. Spatial dimensions are innermost first, strides
 * count bytes. */
typedef struct PoolArgs {
    uint64_t out, index, in; /* addresses; index 0: none */
    uint64_t n;              /* elements of the output */
    int64_t channels, last;  /* last: threads side by side are of neighbouring channels, not of neighbouring places */
    int64_t out_batch, out_channel, out_at[3], index_batch, index_channel, index_at[3];
    int64_t in_batch, in_channel, in_at[3];
    int64_t out_size[3], in_size[3], kernel[3], stride[3], pad[3], dilation[3];
    int64_t divisor, least;
    uint32_t adaptive, count_pad, rounds;
} PoolArgs;
