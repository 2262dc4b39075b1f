#include "kernels/simd.h"
#include "kernels/convert.inc"
