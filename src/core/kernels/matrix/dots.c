/* dots.c: short dot products in MKL's order. Which element is added to which lane was read off PyTorch's results for
 * numbers of which two cancel. */
#include "dots.h"

/* Elements before y's first address of 16 bytes. */
static int64_t before_vector(const void *y, int64_t item, int64_t n) {
    return TSR_MIN(n, (int64_t)(-(uintptr_t)y % 16) / item);
}

static bool begins_vector(const void *x) { return (uintptr_t)x % 16 == 0; }

/* What is before a vector of y, and what is left after the last vector, goes to the first lane. Where x then begins no
 * vector of its own, a single vector is taken. */
float tsr_dots_f32(const float *x, int64_t xs, const float *y, int64_t ys, int64_t n) {
    float lane[16] = {0};
    bool dense = xs == 1 && ys == 1;
    int64_t i = 0, first = dense ? before_vector(y, sizeof *y, n) : n;
    for (; i < first; i++) lane[0] += x[i * xs] * y[i * ys];
    bool wide = begins_vector(x + i);
    for (int64_t width = wide ? 16 : 4; width >= 4; width /= 2)
        for (int64_t end = wide ? n : TSR_MIN(n, i + width); i + width <= end; i += width)
            for (int64_t l = 0; l < width; l++) lane[l] += x[i + l] * y[i + l];
    for (; i < n; i++) lane[0] += x[i] * y[i];
    for (int l = 4; l < 16; l++) lane[l % 4] += lane[l];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

/* As floats; x may begin anywhere, and numbers with gaps between them fill two lanes in turn. */
double tsr_dots_f64(const double *x, int64_t xs, const double *y, int64_t ys, int64_t n) {
    double lane[8] = {0};
    bool dense = xs == 1 && ys == 1;
    int64_t i = 0;
    for (int64_t first = dense ? before_vector(y, sizeof *y, n) : 0; i < first; i++) lane[0] += x[i] * y[i];
    for (; dense && i + 8 <= n; i += 8)
        for (int64_t l = 0; l < 8; l++) lane[l] += x[i + l] * y[i + l];
    for (int64_t l = 0; i < n; i++, l ^= 1) lane[l] += x[i * xs] * y[i * ys];
    for (int l = 2; l < 8; l++) lane[l % 2] += lane[l];
    return lane[0] + lane[1];
}

/* Four lanes of the products of real and of imaginary parts, of real with imaginary, and of imaginary with real ones.
 * How many elements go to the first lane, and how many after these to all four: what is left takes the first two. */
#define LANES(T) \
    T rr[4] = {0}, ii[4] = {0}, ri[4] = {0}, ir[4] = {0}; \
    for (int64_t i = 0; i < n; i++, x += 2 * xs, y += 2 * ys) { \
        const int64_t l = i < first ? 0 : i - first < wide ? (i - first) % 4 : (i - first) % 2; \
        const T x_im = signs[0] * x[1], y_im = signs[1] * y[1]; \
        rr[l] += x[0] * y[0]; \
        ii[l] += x_im * y_im; \
        ri[l] += x[0] * y_im; \
        ir[l] += x_im * y[0]; \
    }

void tsr_dots_c64(float *out, const float *x, int64_t xs, const float *y, int64_t ys, int64_t n, const float *signs) {
    const bool dense = xs == 1 && ys == 1;
    const int64_t first = dense ? before_vector(y, 2 * sizeof *y, n) : n,
                  wide = begins_vector(x + 2 * first) ? (n - first) / 8 * 8 : 0;
    LANES(float)
    out[0] = ((rr[0] + rr[2]) - (ii[0] + ii[2])) + ((rr[1] + rr[3]) - (ii[1] + ii[3]));
    out[1] = ((ri[0] + ri[2]) + (ir[0] + ir[2])) + ((ri[1] + ri[3]) + (ir[1] + ir[3]));
}

void tsr_dots_c128(double *out, const double *x, int64_t xs, const double *y, int64_t ys, int64_t n,
                   const double *signs) {
    const int64_t first = xs == 1 && ys == 1 ? 0 : n, wide = 0;
    LANES(double)
    out[0] = (rr[0] + rr[1]) - (ii[0] + ii[1]);
    out[1] = (ri[0] + ri[1]) + (ir[0] + ir[1]);
}
