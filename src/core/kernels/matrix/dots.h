/* dots.h: dot products of a few dozen numbers, added up in the order of MKL's kernels without fused operations, which
 * PyTorch's digits show: by vectors of 16 bytes, four of them side by side, once y begins one. */
#ifndef CORE_KERNELS_MATRIX_DOTS_H
#define CORE_KERNELS_MATRIX_DOTS_H

#include "core/base.h"

/* The sum of x[i * xs] * y[i * ys], i < n. Strides in elements. */
float tsr_dots_f32(const float *x, int64_t xs, const float *y, int64_t ys, int64_t n);
double tsr_dots_f64(const double *x, int64_t xs, const double *y, int64_t ys, int64_t n);
/* The same of complex numbers, pairs of a real and an imaginary part, into out[2]; signs[0] and signs[1], 1 or -1,
 * multiply the imaginary parts of x and y. */
void tsr_dots_c64(float *out, const float *x, int64_t xs, const float *y, int64_t ys, int64_t n, const float *signs);
void tsr_dots_c128(double *out, const double *x, int64_t xs, const double *y, int64_t ys, int64_t n,
                   const double *signs);

#endif
