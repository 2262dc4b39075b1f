/* choose_args.h: what the kernels of choose.cuh are given; choose.c fills it in, and it is part of the kernels' text.
 */
typedef struct ChooseArgs {
    uint64_t out, shares, sums; /* addresses; tsr_shares reads its weights from sums */
    uint64_t errors, launch;    /* see errors.cuh */
    uint64_t seed, offset;      /* of Philox */
    uint64_t rows, columns, samples;
} ChooseArgs;
