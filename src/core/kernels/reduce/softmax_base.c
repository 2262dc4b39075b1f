#include "core/kernels/simd.h"
#include "softmax.inc"
