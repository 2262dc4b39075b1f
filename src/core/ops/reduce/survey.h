/* survey.h: what a listing tells of all numbers of a tensor, in two readings of it. */
#ifndef CORE_OPS_REDUCE_SURVEY_H
#define CORE_OPS_REDUCE_SURVEY_H

#include "core/kernels/reduce/survey.h"
#include "core/tensor.h"

/* *s and, of the finite numbers, bars[TSR_SURVEY_BARS]: how many lie in each eighth from the least to the greatest, the
 * greatest in the last; zeros when there is no second number. t is contiguous, on the CPU, of real numbers
 * (asserted); those of integers are taken as float64. The same for any number of threads. */
TsrStatus tsr_survey(TsrSurvey *s, int64_t *bars, const TsrTensor *t);

#endif
