#include "kernels/simd.h"
#include "kernels/fast.inc"
