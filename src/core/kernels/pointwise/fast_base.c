/* fast_base.c: the vectorised elementwise loops (fast.inc over fast.def) compiled for any CPU; pointwise/table.c
 * chooses among the three builds. */
#include "core/kernels/simd.h"
#include "fast.inc"
