/* random_args.h: what a kernel of random numbers is given; random.c fills it in, and it is part of the kernel's text.
 */
typedef struct RandomArgs {
    Walk walk;
    uint64_t data[3];      /* addresses, outputs first */
    uint64_t errors;       /* address of the stream's word for errors, see errors.cuh */
    uint64_t launch;       /* the launch's number there */
    uint64_t seed, offset; /* of Philox */
    uint64_t streams;      /* threads that the elements are dealt to */
    double a, b;           /* of the distribution */
    uint64_t range;        /* of words; 0: all */
    int64_t base;
} RandomArgs;
