/* Plans and transforms: see fft.h. */
#include "fft.h"

#include <math.h>
#include <string.h>

#include "mem.h"

enum { FFT_MAX_RADIX = 31, FFT_MAX_FACTORS = 64, FFT_SHORT = 31, FFT_PIECE = 1 << 13 /* butterflies between two looks for an interrupt */ };

/* For each frequency, the order in which MKL adds the terms of cosines to the first value, and those of sines: see `ordered` in fft.inc. */
#define ALL "123456"
typedef struct TsrFftOrder { const char *cosine[7], *sine[7]; } TsrFftOrder;
static const TsrFftOrder plain_order = {{ALL, ALL, ALL, ALL, ALL, ALL, ALL}, {ALL, ALL, ALL, ALL, ALL, ALL, ALL}};
/* of real signals, of spectra of such ones, and of both when the results are means */
static const TsrFftOrder real5 = {{ALL, "1|2", "1|2"}, {ALL, ALL, ALL}}, real7 = {{"3|12", "3|12", "3|12", "3|12"}, {ALL, "132", "132", "231"}};
static const TsrFftOrder spectrum5 = {{ALL, "2|1", "1|2"}, {ALL, ALL, ALL}}, spectrum7 = {{ALL, "3|12", "3|12", ALL}, {ALL, ALL, "231", ALL}};
static const TsrFftOrder mean_real5 = {{"2|1", "1|2", "1|2"}, {ALL, ALL, ALL}}, mean_real7 = {{"1|23", "1|3|2", "1|23", "1|23"}, {ALL, "132", "132", "132"}};
static const TsrFftOrder mean_spectrum5 = {{"1|2", ALL, ALL}, {ALL, ALL, ALL}}, mean_spectrum7 = {{"12|3", "1|23", "1|23", "1|23"}, {ALL, ALL, "231", ALL}};
#undef ALL

struct TsrFft {
    int64_t n;
    bool wide;
    TsrFftKind kind;
    bool mean;
    int coprime[2];                   /* a short length as a product, the second factor's lines first; {0, 0}: not short */
    unsigned char from[FFT_SHORT], to[FFT_SHORT]; /* where short lines lie in the input and the output */
    const TsrFftOrder *order;         /* of the sums in short lines */
    int factor[FFT_MAX_FACTORS];      /* radices, outermost first */
    int64_t rest[FFT_MAX_FACTORS];    /* product of the radices after each */
    void *roots;                      /* n roots of unity; with Bluestein the chirp */
    void *kernel;                     /* Bluestein: the transformed chirp */
    TsrFft *inner;                    /* Bluestein: the plan for the convolution; else NULL */
};

/* exp(-2 pi i k / n), reduced to the first octant so that the exact values come out exact. */
static void unit_root(int64_t k, int64_t n, double *re, double *im) {
    int64_t octant = 8 * k / n;
    double x, s, c;
    switch (octant) {
    case 0: x = 2 * M_PI * (double)k / (double)n; c = cos(x), s = sin(x); break;
    case 1: case 2: x = 2 * M_PI * (double)(4 * k - n) / (double)(4 * n); c = -sin(x), s = cos(x); break;
    case 3: case 4: x = 2 * M_PI * (double)(2 * k - n) / (double)(2 * n); c = -cos(x), s = -sin(x); break;
    case 5: case 6: x = 2 * M_PI * (double)(4 * k - 3 * n) / (double)(4 * n); c = sin(x), s = -cos(x); break;
    default: x = 2 * M_PI * (double)(k - n) / (double)n; c = cos(x), s = sin(x); break;
    }
    *re = c;
    *im = -s;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#endif

#define R float
#define S float
#define NAME(x) f32_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS static
#define TABLES
#include "kernels/fft.inc"
#define R double
#define S double
#define NAME(x) f64_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS static
#define TABLES
#include "kernels/fft.inc"

typedef float FloatLanes __attribute__((vector_size(4 * TSR_FFT_LANES)));
typedef double DoubleLanes __attribute__((vector_size(8 * TSR_FFT_LANES)));
#define R FloatLanes
#define S float
#define NAME(x) f32_lanes_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS TSR_CLONES static
#include "kernels/fft.inc"
#define R DoubleLanes
#define S double
#define NAME(x) f64_lanes_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS TSR_CLONES static
#include "kernels/fft.inc"

/* NULL for the primes whose sums are two chains. */
static const TsrFftOrder *order_of(int64_t n, TsrFftKind kind, bool mean) {
    static const TsrFftOrder *const orders[2][2][2] = {{{&real5, &mean_real5}, {&spectrum5, &mean_spectrum5}}, {{&real7, &mean_real7}, {&spectrum7, &mean_spectrum7}}};
    if (n > 15) return NULL;
    if (n == 10 && kind == TSR_FFT_TO_REAL && mean) return &mean_spectrum5;
    if ((n != 5 && n != 7) || kind == TSR_FFT_COMPLEX) return &plain_order;
    return orders[n == 7][kind == TSR_FFT_TO_REAL][mean];
}

static bool is_short(int64_t n) { return (n >= 2 && n <= 15 && n != 9) || n == 17 || n == 19 || n == 23 || n == 29 || n == 31; }

bool tsr_fft_is_exact(int64_t n, TsrFftKind kind) {
    if (kind == TSR_FFT_COMPLEX) return is_short(n) || n == 9 || n == 16;
    if (n <= 8 || n == 10 || n == 12) return n > 1;
    return kind == TSR_FFT_FROM_REAL && n > 15 && is_short(n);
}

/* The places of a short length's lines; index k of the output has the remainders of its two places. */
static void plan_short(TsrFft *plan) {
    static const int second[FFT_SHORT + 1] = {[6] = 3, [10] = 5, [12] = 3, [14] = 7, [15] = 5};
    int n = (int)plan->n, b = second[n] != 0 ? second[n] : n, a = n / b;
    plan->coprime[0] = a;
    plan->coprime[1] = b;
    plan->order = order_of(n, plan->kind, plan->mean);
    for (int k = 0; k < n; k++) {
        plan->from[k] = (unsigned char)(a == 1 ? k : (b * (k / b) + a * (k % b)) % n);
        plan->to[k % a * b + k % b] = (unsigned char)k;
    }
}

/* Radices 4, then 2, then odd ones; false when a prime above FFT_MAX_RADIX is left. */
static bool factorize(TsrFft *plan, int64_t n) {
    int count = 0, p = 4;
    if (n == 1) plan->factor[0] = 1, plan->rest[0] = 1;
    while (n > 1) {
        while (n % p != 0) p = p == 4 ? 2 : p == 2 ? 3 : p + 2;
        if (p > FFT_MAX_RADIX) return false;
        n /= p;
        plan->factor[count] = p;
        plan->rest[count++] = n;
        if (n > 1 && p > 5 && (int64_t)p * p > n && n > FFT_MAX_RADIX) return false;
    }
    return true;
}

/* The least length >= n with no prime above 5. */
static int64_t good_length(int64_t n) {
    int64_t best = 1;
    while (best < n) best *= 2;
    for (int64_t five = 1; five < best; five *= 5)
        for (int64_t three = five; three < best; three *= 3) {
            int64_t x = three;
            while (x < n) x *= 2;
            if (x < best) best = x;
        }
    return best;
}

static size_t item_of(const TsrFft *plan) { return plan->wide ? 16 : 8; }

static TsrStatus prepare_bluestein(TsrFft *plan) {
    int64_t m = good_length(2 * plan->n - 1);
    TSR_TRY(tsr_fft_new(&plan->inner, m, plan->wide, TSR_FFT_COMPLEX, false));
    size_t bytes = (size_t)m * item_of(plan);
    void *scratch = tsr_malloc(bytes);
    plan->kernel = tsr_malloc(bytes);
    if (scratch == NULL || plan->kernel == NULL) {
        tsr_free(scratch);
        return tsr_error_no_memory(bytes);
    }
    if (plan->wide) f64_fill_chirp(plan, scratch);
    else f32_fill_chirp(plan, scratch);
    tsr_free(scratch);
    return TSR_OK;
}

TsrStatus tsr_fft_new(TsrFft **out, int64_t n, bool wide, TsrFftKind kind, bool mean) {
    TsrFft *plan = tsr_calloc(1, sizeof *plan);
    if (plan == NULL) return tsr_error_no_memory(sizeof *plan);
    plan->n = n;
    plan->wide = wide;
    plan->kind = kind;
    plan->mean = mean;
    if (is_short(n)) plan_short(plan); /* threes and fours by mixed radix round as MKL does */
    size_t bytes = 0;
    TsrStatus s = TSR_OK;
    if (n > INT64_MAX / 64 || tsr_mul_size_overflows((size_t)n, item_of(plan), &bytes) || (plan->roots = tsr_malloc(bytes)) == NULL) s = tsr_error_no_memory(bytes);
    else if (!factorize(plan, n)) s = prepare_bluestein(plan);
    else if (wide) f64_fill_roots(plan->roots, n);
    else f32_fill_roots(plan->roots, n);
    if (s != TSR_OK) tsr_fft_free(plan);
    else *out = plan;
    return s;
}

void tsr_fft_free(TsrFft *plan) {
    if (plan == NULL) return;
    tsr_fft_free(plan->inner);
    tsr_free(plan->roots);
    tsr_free(plan->kernel);
    tsr_free(plan);
}

size_t tsr_fft_scratch(const TsrFft *plan) { return ((size_t)plan->n + (plan->inner != NULL ? 2 * (size_t)plan->inner->n : 0)) * item_of(plan); }

void tsr_fft_run_lanes(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    if (plan->wide) f64_lanes_run(plan, dst, src, forward, scale, scratch);
    else f32_lanes_run(plan, dst, src, forward, (float)scale, scratch);
}

void tsr_fft_run(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    if (plan->wide) f64_run(plan, dst, src, forward, scale, scratch);
    else f32_run(plan, dst, src, forward, (float)scale, scratch);
}
