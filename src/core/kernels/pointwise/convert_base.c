#include "core/kernels/simd.h"
#include "convert.inc"
