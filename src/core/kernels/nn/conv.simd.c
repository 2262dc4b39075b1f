/* conv.simd.c: sums of shifted images (conv.h) for one instruction set: tiles of TSR_CONV_FILTERS by some vectors of
 * positions, or of some positions by vectors of filters, whose sums stay in registers while the terms go by. */
#include <string.h>

#include "conv.h"
#include "core/kernels/simd.h"

/* WIDE: vectors of positions of a tile (by TSR_CONV_FILTERS filters); POINTS by VECTORS: positions and vectors of
 * filters of the other one. The most that fit the 32 or 16 vector registers beside weights and image. ALONE: vectors of
 * positions for one filter, whose chains of additions overlap. */
#if defined(TSR_SIMD_AVX512)
typedef __m512 V;
#define EACH(x) _mm512_set1_ps(x)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
enum { WIDE = 6, POINTS = 7, VECTORS = 4 };
#else
typedef __m256 V;
#define EACH(x) _mm256_set1_ps(x)
#define FMA(a, b, c) _mm256_fmadd_ps(a, b, c)
enum { WIDE = 3, POINTS = 6, VECTORS = 2 };
#endif
enum { LANES = sizeof(V) / sizeof(float), ALONE = 8 };

#define INLINE static inline __attribute__((always_inline))

INLINE V load(const float *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}

#include "core/kernels/matrix/four_terms.inc"

INLINE void tile(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, bool onto, int filters,
                 int vectors) {
    V s[TSR_CONV_FILTERS][ALONE], x[ALONE];
    const float *weight = terms->weight;
    for (int f = 0; f < filters; f++)
        for (int v = 0; v < vectors; v++) s[f][v] = EACH(terms->start[f]);
    for (int64_t t = 0; t < terms->n; t++, weight += TSR_CONV_FILTERS) {
        const float *from = image + terms->offset[t];
        for (int v = 0; v < vectors; v++) x[v] = load(from + v * LANES);
        for (int f = 0; f < filters; f++)
            for (int v = 0; v < vectors; v++) s[f][v] = FMA(EACH(weight[f]), x[v], s[f][v]);
    }
    for (int f = 0; f < filters; f++)
        for (int v = 0; v < vectors; v++) {
            float *to = sum + f * pitch + v * LANES;
            V all = onto ? load(to) + s[f][v] : s[f][v] + EACH(terms->bias[f]);
            memcpy(to, &all, sizeof all);
        }
}

/* Filters and vectors are constants, that the sums be registers. */
static void tiles(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n, bool onto) {
    for (int64_t q = 0; q < n; q += WIDE * LANES) switch (TSR_MIN((n - q + LANES - 1) / LANES, (int64_t)WIDE)) {
        case 1: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, 1); break;
        case 2: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, 2); break;
#if defined(TSR_SIMD_AVX512)
        case 3: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, 3); break;
        case 4: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, 4); break;
        case 5: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, 5); break;
#endif
        default: tile(sum + q, pitch, image + q, terms, onto, TSR_CONV_FILTERS, WIDE);
        }
}

static void one_filter(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n, bool onto) {
    int64_t left = (n + LANES - 1) / LANES;
    for (; left >= ALONE; left -= ALONE, sum += ALONE * LANES, image += ALONE * LANES)
        tile(sum, pitch, image, terms, onto, 1, ALONE);
    if (left >= 4) {
        tile(sum, pitch, image, terms, onto, 1, 4);
        left -= 4, sum += 4 * LANES, image += 4 * LANES;
    }
    for (; left > 0; left--, sum += LANES, image += LANES) tile(sum, pitch, image, terms, onto, 1, 1);
}

static void by_positions(float *sum, int64_t pitch, const float *image, const TsrConvTerms *terms, int64_t n,
                         bool onto) {
    (terms->filters == 1 ? one_filter : tiles)(sum, pitch, image, terms, n, onto);
}

/* VECTORS vectors of filters from `first` on. */
INLINE void point_tile(float *sum, const float *image, const int64_t *at, const TsrConvPoints *terms, int64_t first,
                       bool onto, int points) {
    V s[POINTS][VECTORS], w[VECTORS];
    const float *weight = terms->weight + first * terms->n, *from[POINTS];
    for (int p = 0; p < points; p++) {
        from[p] = image + at[p];
        for (int v = 0; v < VECTORS; v++) s[p][v] = EACH(0);
    }
    for (int64_t t = 0; t < terms->n; t++, weight += VECTORS * LANES) {
        int64_t offset = terms->offset[t];
        for (int v = 0; v < VECTORS; v++) w[v] = load(weight + v * LANES);
        for (int p = 0; p < points; p++) {
            V x = EACH(from[p][offset]);
            for (int v = 0; v < VECTORS; v++) s[p][v] = FMA(x, w[v], s[p][v]);
        }
    }
    for (int p = 0; p < points; p++)
        for (int v = 0; v < VECTORS; v++) {
            float *to = sum + p * TSR_CONV_BLOCK + first + v * LANES;
            V all = s[p][v] + load(onto ? to : terms->bias + first + v * LANES);
            memcpy(to, &all, sizeof all);
        }
}

static void by_filters(float *sum, const float *image, const int64_t *at, int64_t points, const TsrConvPoints *terms,
                       bool onto) {
    for (int64_t first = 0; first < TSR_CONV_BLOCK; first += VECTORS * LANES)
        for (int64_t p = 0; p < points; p += POINTS) {
            float *to = sum + p * TSR_CONV_BLOCK;
            switch (TSR_MIN(points - p, (int64_t)POINTS)) {
            case 1: point_tile(to, image, at + p, terms, first, onto, 1); break;
            case 2: point_tile(to, image, at + p, terms, first, onto, 2); break;
            case 3: point_tile(to, image, at + p, terms, first, onto, 3); break;
            case 4: point_tile(to, image, at + p, terms, first, onto, 4); break;
            case 5: point_tile(to, image, at + p, terms, first, onto, 5); break;
#if defined(TSR_SIMD_AVX512)
            case 6: point_tile(to, image, at + p, terms, first, onto, 6); break;
#endif
            default: point_tile(to, image, at + p, terms, first, onto, POINTS);
            }
        }
}

static void turn(float *to, int64_t row, const float *from, int64_t line, const int64_t *at, int64_t n) {
    const float *filter[LANES];
    int64_t i = 0;
    for (int f = 0; f < (int)LANES; f++) filter[f] = from + f * line;
    for (; i + 4 <= n; i += 4) {
        V term[4];
        four_terms(term, filter, i);
        for (int t = 0; t < 4; t++) memcpy(to + at[i + t] * row, &term[t], sizeof(V));
    }
    for (; i < n; i++) {
        const V term = one_term(filter, i);
        memcpy(to + at[i] * row, &term, sizeof term);
    }
}

TsrConvKernels SIMD(tsr_conv_kernels)(void);
TsrConvKernels SIMD(tsr_conv_kernels)(void) {
    return (TsrConvKernels){by_positions, by_filters, VECTORS * LANES, turn, LANES};
}
