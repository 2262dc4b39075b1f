/* survey.simd.c: the loops of surveys for one instruction set. They are written over small arrays, which the compiler
 * keeps in vectors. */
#include <string.h>

#include "core/base.h"
#include "core/kernels/simd.h"
#include "survey.h"

#define PASTED(a, b) a##_##b
#define PASTE(a, b) PASTED(a, b) /* pastes the values of macros, not their names */

#define t f32
#define T float
#define FLAG int32_t
#define LANES 16
#define KEY(x) (x)
#include "survey.inc"

#define t f64
#define T double
#define FLAG int64_t
#define LANES 8
#define KEY(x) (x)
#include "survey.inc"

#define t half
#define T int16_t
#define FLAG int16_t
#define KEY TSR_SURVEY_KEY
#include "survey_above.inc"

const TsrSurveyKernels *SIMD(tsr_survey_kernels)(void) {
    static const TsrSurveyKernels kernels = {block_f32, block_f64, above_f32, above_f64, above_half};
    return &kernels;
}
