#include "kernels/simd.h"
#include "kernels/softmax.inc"
