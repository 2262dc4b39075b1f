/* fft.h: discrete Fourier transforms of any length on contiguous lines, in float or double.
 *
 * Short lengths by sums in MKL's order; mixed radix (4, 2, 3, 5 and small primes) by decimation in time, a long line as
 * a matrix whose columns and rows are transformed several at a time (kernels/fft_split.inc), Bluestein's algorithm
 * where a large prime divides the length. A plan is read-only once made and may be used by several threads, each with
 * its own scratch. */
#ifndef CORE_ENGINE_FFT_H
#define CORE_ENGINE_FFT_H

#include "core/error.h"

typedef struct TsrFft TsrFft;

/* What is known of the lines: signals without imaginary parts (transformed forward), or spectra of such ones (then
 * transformed backward). */
typedef enum TsrFftKind { TSR_FFT_COMPLEX, TSR_FFT_FROM_REAL, TSR_FFT_TO_REAL } TsrFftKind;

/* A plan for `lines` lines of length n >= 1; `wide` for double; `mean` where runs will have the scale 1 / n. *out is
 * the caller's. */
TsrStatus tsr_fft_new(TsrFft **out, int64_t n, bool wide, TsrFftKind kind, bool mean, int64_t lines);
/* Whether lines of length n in float have every rounding of MKL's, which PyTorch calls. */
bool tsr_fft_is_exact(int64_t n, TsrFftKind kind);
void tsr_fft_free(TsrFft *plan);
/* Bytes of scratch that one run needs. */
size_t tsr_fft_scratch(const TsrFft *plan);
/* dst[k] = scale * sum over j of src[j] exp(-+ 2 pi i j k / n), minus sign when forward. n complex values each,
 * interleaved; dst must not overlap src. */
void tsr_fft_run(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

/* Whether a real signal is n reals one after the other, its spectrum the first n / 2 + 1 values; else both are n
 * complex values as all lines are. Parts of a spectrum that have to be zero are not read. */
bool tsr_fft_is_packed(const TsrFft *plan);

/* Whether lines side by side are faster than one by one: long ones are not, and refuse the following. */
bool tsr_fft_takes_lanes(const TsrFft *plan);
/* The same for TSR_FFT_LANES lines side by side: value k of line l is {re[k][l], im[k][l]}, where re[k] and im[k] are
 * TSR_FFT_LANES reals each, one after the other; real k of a packed signal is re[k / 2][l] or im[k / 2][l]. Memory, and
 * the scratch, are TSR_FFT_LANES times as large and aligned to 64 bytes. */
enum { TSR_FFT_LANES = 8 };
void tsr_fft_run_lanes(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch);

#endif
