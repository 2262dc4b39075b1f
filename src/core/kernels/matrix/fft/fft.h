/* fft.h: what a plan for Fourier transforms holds (engine/fft.h makes them), and the loops that run one. */
#ifndef CORE_KERNELS_MATRIX_FFT_H
#define CORE_KERNELS_MATRIX_FFT_H

#include "core/base.h"

enum { FFT_MAX_RADIX = 31, FFT_MAX_FACTORS = 64, FFT_SHORT = 31, TSR_FFT_LANES = 8 /* side by side at most */ };

/* What is known of the lines: signals without imaginary parts (transformed forward), or spectra of such ones (then
 * transformed backward). */
typedef enum TsrFftKind { TSR_FFT_COMPLEX, TSR_FFT_FROM_REAL, TSR_FFT_TO_REAL } TsrFftKind;

/* For each frequency, the order in which MKL adds the terms of cosines to the first value, and those of sines: see
 * `ordered` in fft.inc. */
typedef struct TsrFftOrder {
    const char *cosine[7], *sine[7];
} TsrFftOrder;
#define TSR_FFT_ALL "123456"
static const TsrFftOrder tsr_fft_plain_order = {
    {TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL},
    {TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL, TSR_FFT_ALL}};

typedef struct TsrFft TsrFft;

/* dst and src do not overlap; what scratch holds is told by engine/fft.h. */
typedef void (*TsrFftRun)(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

/* The loops of one precision for `lanes` lines that are transformed together: value k is `lanes` real parts and then as
 * many imaginary ones, aligned to their size. `split` transforms one line forward: see fft_split.inc. */
typedef struct TsrFftCode {
    int lanes;
    TsrFftRun run;
    void (*split)(const TsrFft *plan, void *dst, const void *src, void *scratch);
} TsrFftCode;
const TsrFftCode *tsr_fft_code(bool wide);

/* The same for one line, n complex values, re and im side by side. */
void tsr_fft_line(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

enum { FFT_PIECE = 1 << 13 /* butterflies between two looks for an interrupt */ };

/* What a plan is for: lines of n values, in doubles if `wide`; `mean` where runs will have the scale 1 / n; lines of
 * `least` values and more may be split. */
typedef struct TsrFftWish {
    int64_t n, least;
    TsrFftKind kind;
    bool wide, mean;
} TsrFftWish;

/* Tables are of the plan's own precision but for `turns`. */
struct TsrFft {
    int64_t n;
    TsrFftWish wish;
    const TsrFftCode *code;
    int coprime[2]; /* a short length as a product, the second factor's lines first; {0, 0}: not short */
    unsigned char from[FFT_SHORT], to[FFT_SHORT]; /* where short lines lie in the input and the output */
    const TsrFftOrder *order;                     /* of the sums in short lines */
    bool in_turn;                                 /* `order` says what tsr_fft_plain_order does */
    int factor[FFT_MAX_FACTORS];                  /* radices, outermost first */
    int64_t rest[FFT_MAX_FACTORS];                /* product of the radices after each */
    void *roots;                                  /* n roots of unity; with Bluestein the chirp; a packed line's first
                                                     quarter of them */
    void *kernel;                                 /* Bluestein: the transformed chirp */
    TsrFft *inner;                                /* Bluestein: the plan for the convolution; else NULL */
    TsrFft *columns, *rows;                       /* a split line's: see fft_split.inc; else NULL, and what follows */
    TsrFft *half;                                 /* a packed real line's: of half the length; else NULL */
    double *turns; /* a split line's roots of unity, re and im: the first turn_step ones, then every turn_step-th */
    int64_t turn_step;
    void *lane_turns; /* of lane l's value k in the columns, relative to lane 0: aligned */
    void *lane_memory;
    size_t bytes; /* that the plan holds, with those in it */
};

/* exp(-2 pi i k / n), 0 <= k < n, from `turns`. */
static inline void tsr_fft_root(const TsrFft *plan, int64_t k, double *re, double *im) {
    const double *low = plan->turns + 2 * (k % plan->turn_step),
                 *high = plan->turns + 2 * (plan->turn_step + k / plan->turn_step);
    *re = low[0] * high[0] - low[1] * high[1];
    *im = low[0] * high[1] + low[1] * high[0];
}

#endif
