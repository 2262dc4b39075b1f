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
#define ALL TSR_FFT_ALL
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

#define S float
#define NAME(x) f32_##x
#include "core/kernels/matrix/fft/fft_tables.inc"
#define S double
#define NAME(x) f64_##x
#include "core/kernels/matrix/fft/fft_tables.inc"

static char *aligned_up(const void *p) { return (char *)(((uintptr_t)p + 63) / 64 * 64); }

/* NULL for the primes whose sums are two chains. */
static const TsrFftOrder *order_of(int64_t n, TsrFftKind kind, bool mean) {
    static const TsrFftOrder *const orders[2][2][2] = {{{&real5, &mean_real5}, {&spectrum5, &mean_spectrum5}},
                                                       {{&real7, &mean_real7}, {&spectrum7, &mean_spectrum7}}};
    if (n > 15) return NULL;
    if (n == 10 && kind == TSR_FFT_TO_REAL && mean) return &mean_spectrum5;
    if ((n != 5 && n != 7) || kind == TSR_FFT_COMPLEX) return &tsr_fft_plain_order;
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
    plan->order = order_of(n, plan->wish.kind, plan->wish.mean);
    plan->in_turn = plan->order == &tsr_fft_plain_order;
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

static size_t item_of(const TsrFft *plan) { return plan->wish.wide ? 16 : 8; }

/* Room for a table of the plan's. */
static TsrStatus new_table(TsrFft *plan, void *slot, size_t bytes) {
    void *table = tsr_malloc(bytes);
    if (table == NULL) return tsr_error_no_memory(bytes);
    memcpy(slot, &table, sizeof table);
    plan->bytes += bytes;
    return TSR_OK;
}

/* A plan within the plan, of complex lines. */
static TsrStatus new_part(TsrFft *plan, TsrFft **slot, int64_t n, int64_t least) {
    TSR_TRY(tsr_fft_new(slot, (TsrFftWish){n, least, TSR_FFT_COMPLEX, plan->wish.wide, false}));
    plan->bytes += (*slot)->bytes;
    return TSR_OK;
}

/* The matrix of a split line, and two vectors of lanes. */
static size_t split_scratch(const TsrFft *plan) {
    if (plan->columns == NULL) return 0;
    return ((size_t)plan->n + 2 * (size_t)plan->code->lanes * (size_t)TSR_MAX(plan->columns->n, plan->rows->n)) *
               item_of(plan) +
           64;
}

static TsrStatus prepare_bluestein(TsrFft *plan) {
    int64_t m = good_length(2 * plan->n - 1);
    TSR_TRY(new_part(plan, &plan->inner, m, TSR_MAX(plan->wish.least, (int64_t)FFT_SPLIT_FEW)));
    size_t bytes = (size_t)m * item_of(plan), room = bytes + tsr_fft_scratch(plan->inner);
    TSR_TRY(new_table(plan, &plan->kernel, bytes));
    void *scratch = tsr_malloc(room);
    if (scratch == NULL) return tsr_error_no_memory(room);
    if (plan->wish.wide) f64_fill_chirp(plan, scratch);
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

/* The roots for tsr_fft_root. */
static TsrStatus prepare_turns(TsrFft *plan) {
    int64_t step = 1;
    while (step * step < plan->n) step *= 2;
    int64_t high = plan->n / step + 1;
    size_t bytes = (size_t)(step + high) * 2 * sizeof(double);
    plan->turn_step = step;
    TSR_TRY(new_table(plan, &plan->turns, bytes));
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
    TSR_TRY(new_part(plan, &plan->columns, a, INT64_MAX));
    TSR_TRY(new_part(plan, &plan->rows, b, INT64_MAX));
    TSR_TRY(prepare_turns(plan));
    TSR_TRY(new_table(plan, &plan->lane_memory, (size_t)a * item_of(plan) * TSR_FFT_LANES + 64));
    plan->lane_turns = aligned_up(plan->lane_memory);
    if (plan->wish.wide) f64_fill_lane_turns(plan);
    else f32_fill_lane_turns(plan);
    return TSR_OK;
}

static TsrStatus prepare_packed(TsrFft *plan) {
    TSR_TRY(new_part(plan, &plan->half, plan->n / 2, plan->wish.least));
    TSR_TRY(prepare_turns(plan));
    TSR_TRY(new_table(plan, &plan->roots, (size_t)(plan->n / 4 + 1) * item_of(plan)));
    if (plan->wish.wide) f64_fill_quarter(plan);
    else f32_fill_quarter(plan);
    return TSR_OK;
}

/* A line in one piece, or by Bluestein's algorithm where it has no factors. */
static TsrStatus prepare_whole(TsrFft *plan, bool factors) {
    size_t bytes;
    if (plan->n > INT64_MAX / 64 || tsr_mul_size_overflows((size_t)plan->n, item_of(plan), &bytes))
        return tsr_error_no_memory(SIZE_MAX);
    TSR_TRY(new_table(plan, &plan->roots, bytes));
    if (!factors) return prepare_bluestein(plan);
    if (plan->wish.wide) f64_fill_roots(plan->roots, plan->n);
    else f32_fill_roots(plan->roots, plan->n);
    return TSR_OK;
}

static TsrStatus prepare(TsrFft *plan) {
    int64_t n = plan->n, least = plan->wish.least;
    bool split = false, packed = plan->wish.kind != TSR_FFT_COMPLEX && n >= FFT_PACKED && n % 2 == 0 &&
                                 (n < least || n / 2 >= least); /* else only the whole line may be split */
    if (is_short(n)) plan_short(plan);                          /* threes and fours by mixed radix round as MKL does */
    if (packed) return prepare_packed(plan);
    bool factors = factorize(plan, n);
    if (factors && n >= least && n < INT32_MAX) TSR_TRY(prepare_split(plan, &split));
    return split ? TSR_OK : prepare_whole(plan, factors);
}

TsrStatus tsr_fft_new(TsrFft **out, TsrFftWish wish) {
    TsrFft *plan = tsr_calloc(1, sizeof *plan);
    if (plan == NULL) return tsr_error_no_memory(sizeof *plan);
    *plan = (TsrFft){.n = wish.n, .wish = wish, .code = tsr_fft_code(wish.wide), .bytes = sizeof *plan};
    TsrStatus s = prepare(plan);
    if (s != TSR_OK) tsr_fft_free(plan);
    else *out = plan;
    return s;
}

int64_t tsr_fft_least_split(int64_t lines) {
    return lines < 3 ? FFT_SPLIT_ONE : lines < FFT_FEW ? FFT_SPLIT_FEW : FFT_SPLIT;
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

static bool goes_apart(const TsrFft *plan) {
    if (plan->half != NULL) return goes_apart(plan->half);
    return plan->columns != NULL || (plan->inner != NULL && plan->inner->columns != NULL);
}
int tsr_fft_lanes(const TsrFft *plan) { return goes_apart(plan) ? 1 : plan->code->lanes; }

void tsr_fft_run_lanes(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    plan->code->run(plan, dst, src, forward, scale, scratch);
}

void tsr_fft_run(const TsrFft *plan, void *dst, const void *src, bool forward, double scale, void *scratch) {
    tsr_fft_line(plan, dst, src, forward, scale, scratch);
}
