#include "kernels/simd.h"
#include "kernels/reduce.inc"
