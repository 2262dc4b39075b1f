/* chain_end_args.h: what a kernel is given that reduces what a chain of passes makes; chain_end.c fills it in. Strides
 * of the places that the passes read, in bytes, along the dimensions of `reduce`: those of results, and those of
 * inputs. */
typedef struct ChainEndArgs {
    ReduceArgs reduce;
    ChainArgs chain;
    int64_t kept[8][12], reduced[8][12];
} ChainEndArgs;
