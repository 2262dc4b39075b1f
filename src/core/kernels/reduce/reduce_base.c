#include "core/kernels/simd.h"
#include "reduce.inc"
