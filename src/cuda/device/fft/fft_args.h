/* fft_args.h: what the kernels of Fourier transforms are given; fft.c fills it in. */
enum { FFT_PASSES = 40 };
typedef struct FftArgs {
    Walk lines;                /* operand 0 is the output, 1 the input; the walk goes from line to line */
    uint64_t out, in;          /* addresses */
    uint64_t from, to;         /* of a pass: `batch` dense lines of m complex numbers each */
    uint64_t table, chirp;     /* m roots of unity; the n numbers that Bluestein's algorithm multiplies with, or 0 */
    int64_t out_step, in_step; /* bytes from one element of a line to the next */
    int64_t n, m;              /* the transform's length, and that of the passes: of Bluestein's algorithm another */
    int64_t batch, done;       /* lines; of a pass: the product of the radices before it */
    double scale;
    int32_t radix[FFT_PASSES], passes; /* of a pass its own is the first */
    int32_t kind;                      /* a TsrFftLine */
    int32_t forward, backward; /* which way the passes go; of Bluestein's algorithm, whose passes all go forward,
                                 whether the transform goes backward */
    int32_t beside, across;    /* lines that a block makes together; whether neighbouring threads are of neighbouring
                                  lines rather than of one */
} FftArgs;
