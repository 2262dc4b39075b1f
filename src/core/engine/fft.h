/* fft.h: discrete Fourier transforms of any length on contiguous lines, in float or double.
 *
 * Short lengths by sums in MKL's order; mixed radix (4, 2, 3, 5 and small primes) by decimation in time, a long line as
 * a matrix whose columns and rows are transformed several at a time (kernels/matrix/fft/fft_split.inc), Bluestein's
 * algorithm where a large prime divides the length. A plan is read-only once made and may be used by several threads,
 * each with its own scratch. */
#ifndef CORE_ENGINE_FFT_H
#define CORE_ENGINE_FFT_H

#include "core/error.h"
#include "core/kernels/matrix/fft/fft.h"

/* From which length on lines are split, when there are so many of them. */
int64_t tsr_fft_least_split(int64_t lines);
/* A plan for lines of length wish.n >= 1. *out is the caller's. */
TsrStatus tsr_fft_new(TsrFft **out, TsrFftWish wish);
void tsr_fft_free(TsrFft *plan);
/* The same from what this thread keeps; and given back to be kept, unless it is too large. Not after an interrupt,
 * which leaves tables half filled. */
TsrStatus tsr_fft_take_new(TsrFft **out, TsrFftWish wish);
void tsr_fft_keep_move(TsrFft *plan);
/* Whether lines of length n in float have every rounding of MKL's, which PyTorch calls. */
bool tsr_fft_is_exact(int64_t n, TsrFftKind kind);
/* Bytes of scratch that one run needs. */
size_t tsr_fft_scratch(const TsrFft *plan);
/* dst[k] = scale * sum over j of src[j] exp(-+ 2 pi i j k / n), minus sign when forward. n complex values each,
 * interleaved; dst must not overlap src. */
void tsr_fft_run(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

/* Whether a real signal is n reals one after the other, its spectrum the first n / 2 + 1 values; else both are n
 * complex values as all lines are. Parts of a spectrum that have to be zero are not read. */
bool tsr_fft_is_packed(const TsrFft *plan);

/* How many lines go side by side, TSR_FFT_LANES at most; 1 where lines are so long that they are faster one by one.
 * Above 1: the same for as many lines. Value k of line l is {re[k][l], im[k][l]}, where re[k] and im[k] are one real of
 * each line; real k of a packed signal is re[k / 2][l] or im[k / 2][l]. Memory and the scratch are so many times as
 * large, and aligned to 64 bytes. */
int tsr_fft_lanes(const TsrFft *plan);
void tsr_fft_run_lanes(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

#endif
