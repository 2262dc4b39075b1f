/* survey.c: the loops of surveys for this CPU (survey.simd.c). */
#include "survey.h"

#include "core/kernels/simd.h"

const TsrSurveyKernels *tsr_survey_kernels(void) {
    static const TsrSurveyKernels *known;
    return TSR_CHOOSE_ONCE(known, TSR_FOR_ISA(tsr_survey_kernels)());
}
