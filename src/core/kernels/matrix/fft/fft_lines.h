/* fft_lines.h: lines of floats to rows of floats or doubles and back, four lines at a time: what transforms of lines
 * side by side read and write. Row i has a real of each line; rows are `pitch` reals apart. */
#ifndef CORE_KERNELS_MATRIX_FFT_LINES_H
#define CORE_KERNELS_MATRIX_FFT_LINES_H

#include "core/base.h"

enum { TSR_FFT_FOUR = 4 };

/* Four dense lines: real k of line l is line[l][k], for k < n, and goes to row k; back to the first `lines` of them. */
void tsr_fft_read_dense(float *rows, int64_t pitch, const float *const *line, int64_t n);
void tsr_fft_widen_dense(double *rows, int64_t pitch, const float *const *line, int64_t n);
void tsr_fft_write_dense(float *const *line, int lines, const float *rows, int64_t pitch, int64_t n);
void tsr_fft_round_dense(float *const *line, int lines, const double *rows, int64_t pitch, int64_t n);

/* Four lines side by side, of `parts` reals a value, 1 or 2: part q of value k of line l is at[k * step + l * parts +
 * q], for k < n, and goes to row k * parts + q. */
void tsr_fft_widen_beside(double *rows, int64_t pitch, const float *at, int64_t step, int64_t parts, int64_t n);
void tsr_fft_round_beside(float *at, int64_t step, int64_t parts, const double *rows, int64_t pitch, int64_t n);

#endif
