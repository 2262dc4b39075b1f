/* ctc_args.h: what the kernel of CTC losses is given; ctc.c fills it in, and it is part of the kernel's text. */
typedef struct CtcArgs {
    uint64_t out, rows, log_probs, spelled, steps, letters; /* addresses; rows: two lines of `width` for each sample */
    uint64_t errors, launch;                                /* see errors.cuh */
    int64_t batch, classes, width, most_steps;
    int64_t found; /* what a letter that is no class is reported as */
} CtcArgs;
