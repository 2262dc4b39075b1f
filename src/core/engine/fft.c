/* Plans and transforms: see fft.h. */
#include "fft.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* Lines from these lengths on are split: when there are one or two, when there are few, and any number. Side by side,
 * several go faster even where no cache holds them all (measured on Zen 4 with 1 MB of second cache). */
enum { FFT_SPLIT_ONE = 512, FFT_SPLIT_FEW = 4096, FFT_SPLIT = 1 << 16, FFT_FEW = TSR_FFT_LANES / 2 };
/* Real lines of even lengths from this one on are transformed as complex ones of half the length: below it the digits
 * are those of the plain way, which PyTorch shows. torch.fft.rfft of 64 float lines, least of 200 calls in build/tsr by
 * time.perf_counter() (AMD EPYC, Zen 3): of 64 in 43 us and 61 the plain way, of 256 in 215 and 349. */
enum { FFT_PACKED = 64 };
enum {
    FFT_MAX_RADIX = 31,
    FFT_MAX_FACTORS = 64,
    FFT_SHORT = 31,
    FFT_PIECE = 1 << 13 /* butterflies between two looks for an interrupt */
};

/* For each frequency, the order in which MKL adds the terms of cosines to the first value, and those of sines: see
 * `ordered` in fft.inc. */
#define ALL "123456"
typedef struct TsrFftOrder {
    const char *cosine[7], *sine[7];
} TsrFftOrder;
static const TsrFftOrder plain_order = {{ALL, ALL, ALL, ALL, ALL, ALL, ALL}, {ALL, ALL, ALL, ALL, ALL, ALL, ALL}};
/* of real signals, of spectra of such ones, and of both when the results are means */
static const TsrFftOrder real5 = {{ALL, "1|2", "1|2"}, {ALL, ALL, ALL}},
                         real7 = {{"3|12", "3|12", "3|12", "3|12"}, {ALL, "132", "132", "231"}};
static const TsrFftOrder spectrum5 = {{ALL, "2|1", "1|2"}, {ALL, ALL, ALL}},
                         spectrum7 = {{ALL, "3|12", "3|12", ALL}, {ALL, ALL, "231", ALL}};
static const TsrFftOrder mean_real5 = {{"2|1", "1|2", "1|2"}, {ALL, ALL, ALL}},
                         mean_real7 = {{"1|23", "1|3|2", "1|23", "1|23"}, {ALL, "132", "132", "132"}};
static const TsrFftOrder mean_spectrum5 = {{"1|2", ALL, ALL}, {ALL, ALL, ALL}},
                         mean_spectrum7 = {{"12|3", "1|23", "1|23", "1|23"}, {ALL, ALL, "231", ALL}};
#undef ALL

struct TsrFft {
    int64_t n;
    bool wide;
    TsrFftKind kind;
    bool mean;
    int coprime[2]; /* a short length as a product, the second factor's lines first; {0, 0}: not short */
    unsigned char from[FFT_SHORT], to[FFT_SHORT]; /* where short lines lie in the input and the output */
    const TsrFftOrder *order;                     /* of the sums in short lines */
    int factor[FFT_MAX_FACTORS];                  /* radices, outermost first */
    int64_t rest[FFT_MAX_FACTORS];                /* product of the radices after each */
    void *roots;                                  /* n roots of unity; with Bluestein the chirp */
    void *kernel;                                 /* Bluestein: the transformed chirp */
    TsrFft *inner;                                /* Bluestein: the plan for the convolution; else NULL */
    TsrFft *columns, *rows;                       /* a split line's: see fft_split.inc; else NULL, and what follows */
    TsrFft *half;  /* a packed real line's: of half the length; else NULL, and what follows but for the turns */
    double *turns; /* a split or packed line's roots of unity, re and im: the first turn_step ones, then every
                      turn_step-th */
    int64_t turn_step;
    void *lane_turns; /* of lane l's value k in the columns, relative to lane 0: aligned */
    void *lane_memory;
};

/* exp(-2 pi i k / n), reduced to the first octant so that the exact values come out exact. */
static void unit_root(int64_t k, int64_t n, double *re, double *im) {
    int64_t octant = 8 * k / n;
    double x, s, c;
    switch (octant) {
    case 0:
        x = 2 * M_PI * (double)k / (double)n;
        c = cos(x), s = sin(x);
        break;
    case 1:
    case 2:
        x = 2 * M_PI * (double)(4 * k - n) / (double)(4 * n);
        c = -sin(x), s = cos(x);
        break;
    case 3:
    case 4:
        x = 2 * M_PI * (double)(2 * k - n) / (double)(2 * n);
        c = -cos(x), s = -sin(x);
        break;
    case 5:
    case 6:
        x = 2 * M_PI * (double)(4 * k - 3 * n) / (double)(4 * n);
        c = sin(x), s = -cos(x);
        break;
    default:
        x = 2 * M_PI * (double)(k - n) / (double)n;
        c = cos(x), s = sin(x);
        break;
    }
    *re = c;
    *im = -s;
}

/* exp(-2 pi i k / n) of a split or packed line, 0 <= k < n. */
static inline void split_root(const TsrFft *plan, int64_t k, double *re, double *im) {
    const double *low = plan->turns + 2 * (k % plan->turn_step),
                 *high = plan->turns + 2 * (plan->turn_step + k / plan->turn_step);
    *re = low[0] * high[0] - low[1] * high[1];
    *im = low[0] * high[1] + low[1] * high[0];
}

/* The transform as `run` sees it: in one piece or split. */
static void f32_whole(const TsrFft *plan, void *dst, const void *src, void *scratch);
static void f64_whole(const TsrFft *plan, void *dst, const void *src, void *scratch);

#define R float
#define S float
#define NAME(x) f32_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS static
#define TABLES
#include "core/kernels/matrix/fft.inc"
#define R double
#define S double
#define NAME(x) f64_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS static
#define TABLES
#include "core/kernels/matrix/fft.inc"

typedef float FloatLanes __attribute__((vector_size(4 * TSR_FFT_LANES)));
typedef double DoubleLanes __attribute__((vector_size(8 * TSR_FFT_LANES)));
#define R FloatLanes
#define S float
#define NAME(x) f32_lanes_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS TSR_CLONES static
#include "core/kernels/matrix/fft.inc"
#define R DoubleLanes
#define S double
#define NAME(x) f64_lanes_##x
#define HELPER static inline __attribute__((always_inline))
#define PASS TSR_CLONES static
#include "core/kernels/matrix/fft.inc"

#define S float
#define NAME(x) f32_##x
#define LANE(x) f32_lanes_##x
#define PASS TSR_CLONES static
#include "core/kernels/matrix/fft_split.inc"
#define S double
#define NAME(x) f64_##x
#define LANE(x) f64_lanes_##x
#define PASS TSR_CLONES static
#include "core/kernels/matrix/fft_split.inc"

static char *aligned_up(const void *p) { return (char *)(((uintptr_t)p + 63) / 64 * 64); }

#define WHOLE(P) \
    static void P##_whole(const TsrFft *plan, void *dst, const void *src, void *scratch) { \
        if (plan->columns == NULL) { \
            P##_pass(plan, dst, src, 1, 0); \
            return; \
        } \
        P##_lanes_C *in = (P##_lanes_C *)aligned_up((P##_C *)scratch + plan->n), \
                    *out = in + TSR_MAX(plan->columns->n, plan->rows->n); \
        P##_split(plan, dst, src, scratch, in, out); \
    }
WHOLE(f32)
WHOLE(f64)

/* NULL for the primes whose sums are two chains. */
static const TsrFftOrder *order_of(int64_t n, TsrFftKind kind, bool mean) {
    static const TsrFftOrder *const orders[2][2][2] = {{{&real5, &mean_real5}, {&spectrum5, &mean_spectrum5}},
                                                       {{&real7, &mean_real7}, {&spectrum7, &mean_spectrum7}}};
    if (n > 15) return NULL;
    if (n == 10 && kind == TSR_FFT_TO_REAL && mean) return &mean_spectrum5;
    if ((n != 5 && n != 7) || kind == TSR_FFT_COMPLEX) return &plain_order;
    return orders[n == 7][kind == TSR_FFT_TO_REAL][mean];
}

static bool is_short(int64_t n) {
    return (n >= 2 && n <= 15 && n != 9) || n == 17 || n == 19 || n == 23 || n == 29 || n == 31;
}

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

static TsrStatus plan_new(TsrFft **out, int64_t n, bool wide, TsrFftKind kind, bool mean, int64_t least);

static size_t item_of(const TsrFft *plan) { return plan->wide ? 16 : 8; }

/* The matrix of a split line, and two vectors of lanes. */
static size_t split_scratch(const TsrFft *plan) {
    if (plan->columns == NULL) return 0;
    return ((size_t)plan->n + 2 * TSR_FFT_LANES * (size_t)TSR_MAX(plan->columns->n, plan->rows->n)) * item_of(plan) +
           64;
}

static TsrStatus prepare_bluestein(TsrFft *plan, int64_t least) {
    int64_t m = good_length(2 * plan->n - 1);
    TSR_TRY(plan_new(&plan->inner, m, plan->wide, TSR_FFT_COMPLEX, false, TSR_MAX(least, (int64_t)FFT_SPLIT_FEW)));
    size_t bytes = (size_t)m * item_of(plan);
    void *scratch = tsr_malloc(bytes + split_scratch(plan->inner));
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

/* The greatest divisor of n up to its root. */
static int64_t middle_divisor(int64_t n) {
    int64_t best = 1;
    for (int64_t d = 1; d <= n / d; d++)
        if (n % d == 0) best = d;
    return best;
}

/* The roots for split_root. */
static TsrStatus prepare_turns(TsrFft *plan) {
    int64_t step = 1;
    while (step * step < plan->n) step *= 2;
    int64_t high = plan->n / step + 1;
    size_t bytes = (size_t)(step + high) * 2 * sizeof(double);
    plan->turn_step = step;
    plan->turns = tsr_malloc(bytes);
    if (plan->turns == NULL) return tsr_error_no_memory(bytes);
    for (int64_t k = 0; k < step; k++) unit_root(k, plan->n, &plan->turns[2 * k], &plan->turns[2 * k + 1]);
    for (int64_t k = 0; k < high; k++)
        unit_root(TSR_MIN(k * step, plan->n - 1), plan->n, &plan->turns[2 * (step + k)],
                  &plan->turns[2 * (step + k) + 1]);
    return TSR_OK;
}

/* What a split line needs; *done: it has it. Lines that are almost prime stay whole. */
static TsrStatus prepare_split(TsrFft *plan, bool *done) {
    int64_t a = middle_divisor(plan->n), b = plan->n / a;
    *done = a >= 16;
    if (!*done) return TSR_OK;
    TSR_TRY(plan_new(&plan->columns, a, plan->wide, TSR_FFT_COMPLEX, false, INT64_MAX));
    TSR_TRY(plan_new(&plan->rows, b, plan->wide, TSR_FFT_COMPLEX, false, INT64_MAX));
    TSR_TRY(prepare_turns(plan));
    size_t lanes = (size_t)a * item_of(plan) * TSR_FFT_LANES + 64;
    plan->lane_memory = tsr_malloc(lanes);
    if (plan->lane_memory == NULL) return tsr_error_no_memory(lanes);
    plan->lane_turns = aligned_up(plan->lane_memory);
    if (plan->wide) f64_fill_lane_turns(plan);
    else f32_fill_lane_turns(plan);
    return TSR_OK;
}

static TsrStatus prepare_packed(TsrFft *plan, int64_t least) {
    TSR_TRY(plan_new(&plan->half, plan->n / 2, plan->wide, TSR_FFT_COMPLEX, false, least));
    return prepare_turns(plan);
}

/* May be split from length `least` on. */
static TsrStatus plan_new(TsrFft **out, int64_t n, bool wide, TsrFftKind kind, bool mean, int64_t least) {
    TsrFft *plan = tsr_calloc(1, sizeof *plan);
    if (plan == NULL) return tsr_error_no_memory(sizeof *plan);
    plan->n = n;
    plan->wide = wide;
    plan->kind = kind;
    plan->mean = mean;
    if (is_short(n)) plan_short(plan); /* threes and fours by mixed radix round as MKL does */
    size_t bytes = 0;
    bool packed = kind != TSR_FFT_COMPLEX && n >= FFT_PACKED && n % 2 == 0 &&
                  (n < least || n / 2 >= least); /* else only the whole line may be split */
    bool whole = !packed && factorize(plan, n), split = false;
    TsrStatus s = packed                                 ? prepare_packed(plan, least)
                  : whole && n >= least && n < INT32_MAX ? prepare_split(plan, &split)
                                                         : TSR_OK;
    if (s != TSR_OK || packed || split) {
        if (s != TSR_OK) tsr_fft_free(plan);
        else *out = plan;
        return s;
    }
    if (n > INT64_MAX / 64 || tsr_mul_size_overflows((size_t)n, item_of(plan), &bytes) ||
        (plan->roots = tsr_malloc(bytes)) == NULL)
        s = tsr_error_no_memory(bytes);
    else if (!whole) s = prepare_bluestein(plan, least);
    else if (wide) f64_fill_roots(plan->roots, n);
    else f32_fill_roots(plan->roots, n);
    if (s != TSR_OK) tsr_fft_free(plan);
    else *out = plan;
    return s;
}

TsrStatus tsr_fft_new(TsrFft **out, int64_t n, bool wide, TsrFftKind kind, bool mean, int64_t lines) {
    return plan_new(out, n, wide, kind, mean, lines < 3 ? FFT_SPLIT_ONE : lines < FFT_FEW ? FFT_SPLIT_FEW : FFT_SPLIT);
}

void tsr_fft_free(TsrFft *plan) {
    if (plan == NULL) return;
    tsr_fft_free(plan->inner);
    tsr_fft_free(plan->columns);
    tsr_fft_free(plan->rows);
    tsr_fft_free(plan->half);
    tsr_free(plan->turns);
    tsr_free(plan->lane_memory);
    tsr_free(plan->roots);
    tsr_free(plan->kernel);
    tsr_free(plan);
}

size_t tsr_fft_scratch(const TsrFft *plan) {
    if (plan->half != NULL) return (size_t)plan->half->n * item_of(plan) + tsr_fft_scratch(plan->half);
    size_t inner = plan->inner != NULL ? 2 * (size_t)plan->inner->n * item_of(plan) + split_scratch(plan->inner) : 0;
    return (size_t)plan->n * item_of(plan) + split_scratch(plan) + inner;
}

bool tsr_fft_is_packed(const TsrFft *plan) { return plan->half != NULL; }

bool tsr_fft_takes_lanes(const TsrFft *plan) {
    if (plan->half != NULL) return tsr_fft_takes_lanes(plan->half);
    return plan->columns == NULL && (plan->inner == NULL || plan->inner->columns == NULL);
}

void tsr_fft_run_lanes(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    bool packed = plan->half != NULL;
    if (plan->wide && packed) f64_lanes_real_run(plan, dst, src, scale, scratch);
    else if (plan->wide) f64_lanes_run(plan, dst, src, forward, scale, scratch);
    else if (packed) f32_lanes_real_run(plan, dst, src, (float)scale, scratch);
    else f32_lanes_run(plan, dst, src, forward, (float)scale, scratch);
}

void tsr_fft_run(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    bool packed = plan->half != NULL;
    if (plan->wide && packed) f64_real_run(plan, dst, src, scale, scratch);
    else if (plan->wide) f64_run(plan, dst, src, forward, scale, scratch);
    else if (packed) f32_real_run(plan, dst, src, (float)scale, scratch);
    else f32_run(plan, dst, src, forward, (float)scale, scratch);
}
