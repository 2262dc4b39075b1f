#include "core/kernels/simd.h"
#include "fast.inc"
