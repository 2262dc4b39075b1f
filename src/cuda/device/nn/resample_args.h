/* resample_args.h: what the kernel of weighted sums is given; resample.c fills it in. */
typedef struct ResampleArgs {
    uint64_t out, in, places, weights; /* addresses */
    uint64_t errors, launch;           /* errors.cuh */
    int64_t n;                         /* elements of the output */
    int64_t size, volume, inner, taps; /* new and old elements, values of one, old ones that make a new one */
    int64_t found;                     /* what a bad place is reported as */
} ResampleArgs;
