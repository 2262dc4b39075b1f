/* conv_args.h: what a kernel that convolves is given; conv.c fills it in. Spatial dimensions are innermost first, and
 * strides count bytes but where something else is said. `rows` are the output's channels of a group. */
typedef struct ConvArgs {
    uint64_t out, in, weight, bias;                   /* addresses; bias 0: none */
    uint64_t columns;                                 /* places of the output, over the whole batch */
    int64_t rows, channels, depth;                    /* depth: channels of a group times places of the kernel */
    int64_t tiles;                                    /* of rows */
    int64_t weight_group, weight_row, weight_channel; /* elements; places of the kernel lie side by side */
    int64_t out_batch, out_channel, out_at[3], in_batch, in_channel, in_at[3];
    int32_t out_size[3], in_size[3], kernel[3], stride[3], pad[3], dilation[3];
} ConvArgs;
