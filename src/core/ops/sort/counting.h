/* counting.h: how often each integer of a short range occurs; for unique and bincount. */
#ifndef CORE_OPS_SORT_COUNTING_H
#define CORE_OPS_SORT_COUNTING_H

#include "core/error.h"

/* counts[v - base] for the n values of p, all within [base, base + bins). Few bins or not, the result is the same. */
TsrStatus tsr_count_values(int64_t *counts, const int64_t *p, int64_t n, int64_t bins, int64_t base);

#endif
