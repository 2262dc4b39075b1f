/* index_args.h: what a kernel that reads or writes elements by positions is given; index.c fills it in. */
typedef struct IndexArgs {
    Walk walk; /* operand 0 is the one that lies as the walk goes, 1 the one that is indexed, then the positions */
    uint64_t data[8];                 /* addresses of the same */
    uint64_t errors, launch;          /* errors.cuh */
    int64_t size[6], step[6], dim[6]; /* of what is indexed, as TsrDevicePlaces has them */
    uint32_t found, wraps;            /* what a bad position is reported as; whether negative ones are none */
    Walk slices;          /* of what is joined in order: `walk` has the indexed dimensions, this the others */
    uint64_t keys, order; /* offsets in the indexed operand, and the numbers of their places in the walk */
    uint64_t most;        /* the key of a bad position, above all others */
} IndexArgs;
