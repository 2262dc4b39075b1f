/* fft_lines.c: see fft_lines.h. Four floats of a line, or of four lines, are a vector, which is turned over with three
 * others or parted into real and imaginary parts in registers. */
#include "fft_lines.h"

#include <string.h>

typedef float Floats __attribute__((vector_size(16)));
typedef double Doubles __attribute__((vector_size(32)));
#define INLINE static inline __attribute__((always_inline))
#define SHUFFLED(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)

INLINE Floats get_float(const float *p) {
    Floats v;
    memcpy(&v, p, sizeof v);
    return v;
}

INLINE void put_float(float *p, Floats v) { memcpy(p, &v, sizeof v); }

INLINE void put_double(double *row, Floats v) {
    Doubles wide = __builtin_convertvector(v, Doubles);
    memcpy(row, &wide, sizeof wide);
}

INLINE Floats get_double(const double *row) {
    Doubles wide;
    memcpy(&wide, row, sizeof wide);
    return __builtin_convertvector(wide, Floats);
}

INLINE void turn_over(Floats *a) {
    Floats low1 = SHUFFLED(a[0], a[1], 0, 4, 1, 5), high1 = SHUFFLED(a[0], a[1], 2, 6, 3, 7),
           low2 = SHUFFLED(a[2], a[3], 0, 4, 1, 5), high2 = SHUFFLED(a[2], a[3], 2, 6, 3, 7);
    a[0] = SHUFFLED(low1, low2, 0, 1, 4, 5);
    a[1] = SHUFFLED(low1, low2, 2, 3, 6, 7);
    a[2] = SHUFFLED(high1, high2, 0, 1, 4, 5);
    a[3] = SHUFFLED(high1, high2, 2, 3, 6, 7);
}

#define READ_DENSE(NAME, R, PUT) \
    TSR_CLONES void NAME(R *rows, int64_t pitch, const float *const *line, int64_t n) { \
        int64_t k = 0; \
        for (; k + 4 <= n; k += 4) { \
            Floats a[4] = {get_float(line[0] + k), get_float(line[1] + k), get_float(line[2] + k), \
                           get_float(line[3] + k)}; \
            turn_over(a); \
            for (int i = 0; i < 4; i++) PUT(rows + (k + i) * pitch, a[i]); \
        } \
        for (; k < n; k++) \
            for (int l = 0; l < TSR_FFT_FOUR; l++) rows[k * pitch + l] = line[l][k]; \
    }
READ_DENSE(tsr_fft_read_dense, float, put_float)
READ_DENSE(tsr_fft_widen_dense, double, put_double)

#define WRITE_DENSE(NAME, R, GET) \
    TSR_CLONES void NAME(float *const *line, int lines, const R *rows, int64_t pitch, int64_t n) { \
        int64_t k = 0; \
        for (; k + 4 <= n; k += 4) { \
            const R *row = rows + k * pitch; \
            Floats a[4] = {GET(row), GET(row + pitch), GET(row + 2 * pitch), GET(row + 3 * pitch)}; \
            turn_over(a); \
            for (int l = 0; l < lines; l++) put_float(line[l] + k, a[l]); \
        } \
        for (; k < n; k++) \
            for (int l = 0; l < lines; l++) line[l][k] = (float)rows[k * pitch + l]; \
    }
WRITE_DENSE(tsr_fft_write_dense, float, get_float)
WRITE_DENSE(tsr_fft_round_dense, double, get_double)

TSR_CLONES void tsr_fft_widen_beside(double *rows, int64_t pitch, const float *at, int64_t step, int64_t parts,
                                     int64_t n) {
    if (parts == 1)
        for (int64_t k = 0; k < n; k++) put_double(rows + k * pitch, get_float(at + k * step));
    else
        for (int64_t k = 0; k < n; k++, rows += 2 * pitch) {
            Floats a = get_float(at + k * step), b = get_float(at + k * step + 4);
            put_double(rows, SHUFFLED(a, b, 0, 2, 4, 6));
            put_double(rows + pitch, SHUFFLED(a, b, 1, 3, 5, 7));
        }
}

TSR_CLONES void tsr_fft_round_beside(float *at, int64_t step, int64_t parts, const double *rows, int64_t pitch,
                                     int64_t n) {
    if (parts == 1)
        for (int64_t k = 0; k < n; k++) put_float(at + k * step, get_double(rows + k * pitch));
    else
        for (int64_t k = 0; k < n; k++, rows += 2 * pitch) {
            Floats re = get_double(rows), im = get_double(rows + pitch);
            put_float(at + k * step, SHUFFLED(re, im, 0, 4, 1, 5));
            put_float(at + k * step + 4, SHUFFLED(re, im, 2, 6, 3, 7));
        }
}
