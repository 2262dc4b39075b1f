#define TSR_SIMD_BASE
#include "kernels/simd.h"
#include "kernels/softmax.inc"
