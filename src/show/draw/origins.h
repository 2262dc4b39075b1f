/* origins.h: which elements of an operator's operands the cells of its result came of, found by trying: the operator
 * runs again with one element changed (nan, where there is one), and what differs in the result came of that element.
 */
#ifndef SHOW_DRAW_ORIGINS_H
#define SHOW_DRAW_ORIGINS_H

#include "core/op.h"

enum { ORIGIN_CELLS = 64 }; /* the most that operands and results have */

/* Where a result's cells came from in one operand, whose elements are numbered in row-major order. */
typedef struct Origins {
    bool known;
    int16_t first[ORIGIN_CELLS]; /* for each cell of the result the first element that it came from */
    int16_t count[ORIGIN_CELLS]; /* how many elements it came from; 0: none */
} Origins;

/* For the tensors among a call's arguments in their order, `most` of them; `result`: what it returned. Leaves `known`
 * unset of those of which it can't tell: large ones, a result that is a view, operators that draw random numbers or
 * write, dtypes without a nan that the operator does not take as float64. No random number is used up. */
void origins_find(Origins *out, int most, const TsrOpCall *call, const TsrTensor *result);

#endif
