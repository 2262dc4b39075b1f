/* survey.h: what one look at a block of floats tells, and how they spread. */
#ifndef CORE_KERNELS_REDUCE_SURVEY_H
#define CORE_KERNELS_REDUCE_SURVEY_H

#include "core/dtype.h"

/* Of `finite` numbers, when there are any: the least and the greatest, their mean and the sum of squared distances from
 * it. `zeros` counts among them. */
typedef struct TsrSurvey {
    int64_t nan, inf, finite, zeros;
    double low, high, mean, squares;
} TsrSurvey;

/* A histogram has TSR_SURVEY_BARS bars and a bound between each two. */
enum { TSR_SURVEY_BLOCK = 2048, TSR_SURVEY_SLICE = 1 << 16, TSR_SURVEY_BARS = 8, TSR_SURVEY_BOUNDS = 7 };

typedef struct TsrSurveyKernels {
    /* *s: n contiguous floats, 1 to TSR_SURVEY_BLOCK; s->finite is -1, and nothing is known, when one of them is not
     * finite. Squares are taken about an element of the block: the mean is at most the root of n standard deviations
     * from it, which costs no digit that is to be seen. */
    void (*block_f32)(TsrSurvey *s, const float *x, int64_t n);
    void (*block_f64)(TsrSurvey *s, const double *x, int64_t n);
    /* above[k] += how many of n finite elements, at most TSR_SURVEY_SLICE, are at least bound[k]. float16 and bfloat16
     * go by keys: their bits as TSR_SURVEY_KEY has them, which are in their order. */
    void (*above_f32)(int64_t *above, const float *x, int64_t n, const float *bound);
    void (*above_f64)(int64_t *above, const double *x, int64_t n, const double *bound);
    void (*above_half)(int64_t *above, const int16_t *x, int64_t n, const int16_t *bound);
} TsrSurveyKernels;

/* Bits of a half float, as int16_t, to its key, and back. */
#define TSR_SURVEY_KEY(bits) ((bits) ^ ((bits) >> 15 & 0x7FFF))

const TsrSurveyKernels *tsr_survey_kernels(void);
const TsrSurveyKernels *tsr_survey_kernels_base(void);
const TsrSurveyKernels *tsr_survey_kernels_avx2(void);
const TsrSurveyKernels *tsr_survey_kernels_avx512(void);

#endif
