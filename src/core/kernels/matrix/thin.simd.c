/* thin.simd.c: products of a few rows with a large matrix (thin.h) for one instruction set. A block of TSR_THIN_DEPTH
 * rows by TSR_THIN_COLS columns of the large side is packed into the second cache, in panels as wide as a tile
 * (chain_tiles.inc), widened and turned on the way; then all rows of the left side meet it. */
#include <string.h>

#include "chain.h"
#include "core/kernels/simd.h"
#include "thin.h"

#include "chain_tiles.inc"

/* Eight elements as floats. */
INLINE __m256 widen(const uint16_t *b, bool bfloat) {
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)b);
    return bfloat ? _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)) : _mm256_cvtph_ps(x);
}

INLINE float widen_one(uint16_t bits, bool bfloat) {
    return bfloat ? _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128((int)((uint32_t)bits << 16)))) : _cvtsh_ss(bits);
}

/* Eight rows of eight become columns. */
INLINE void turn(__m256 x[8]) {
    __m256 pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm256_unpacklo_ps(x[i], x[i + 1]);
        pairs[i + 1] = _mm256_unpackhi_ps(x[i], x[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            fours[i + 2 * k] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0x44);
            fours[i + 2 * k + 1] = _mm256_shuffle_ps(pairs[i + k], pairs[i + k + 2], 0xEE);
        }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
        x[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
    }
}

/* A block of the large side: `depth` rows from row p on by `cols` columns from column j on. */
typedef struct Block {
    int64_t p, j, depth, cols;
} Block;

/* How far before they are packed elements are asked for: the processor sees no stream in rows or columns that are read
 * a piece each. */
enum { ROWS_AHEAD = 8, COLUMN_AHEAD = 256 };
/* Columns whose products with one row are summed beside each other. */
enum { DOTS = 8 };

/* Rows of neighbours: the block's first `cols` columns, a multiple of WIDTH. */
INLINE void pack_rows(float *to, const TsrThin *t, const Block *b, int64_t cols) {
    for (int64_t i = 0; i < b->depth; i++) {
        const uint16_t *from = t->b + (b->p + i) * t->b_rs + b->j;
        for (int64_t c = 0; c < cols; c += 32) __builtin_prefetch(from + ROWS_AHEAD * t->b_rs + c);
        for (int64_t c = 0; c < cols; c += WIDTH)
            for (int64_t e = 0; e < WIDTH; e += 8)
                _mm256_storeu_ps(to + c * b->depth + i * WIDTH + e, widen(from + c + e, t->bfloat));
    }
}

/* Eight rows of eight columns, in which neighbours are rows. */
INLINE void pack_turned(float *to, const TsrThin *t, const uint16_t *from) {
    __m256 x[8];
    for (int c = 0; c < 8; c++) {
        x[c] = widen(from + c * t->b_cs, t->bfloat);
        __builtin_prefetch(from + c * t->b_cs + COLUMN_AHEAD);
    }
    turn(x);
    for (int r = 0; r < 8; r++) _mm256_storeu_ps(to + r * WIDTH, x[r]);
}

/* All rows of eight columns from column j on, of which `there` are; the others are zeros. */
INLINE void pack_eight(float *to, const TsrThin *t, const Block *b, int64_t j, int64_t there) {
    const uint16_t *from = t->b + b->p * t->b_rs + j * t->b_cs;
    int64_t i = 0;
    for (; there >= 8 && t->b_rs == 1 && i + 8 <= b->depth; i += 8) pack_turned(to + i * WIDTH, t, from + i);
    for (; i < b->depth; i++)
        for (int64_t c = 0; c < 8; c++)
            to[i * WIDTH + c] = c < there ? widen_one(from[i * t->b_rs + c * t->b_cs], t->bfloat) : 0;
}

/* Panels of WIDTH columns, one after the other. */
static void pack_block(float *to, const TsrThin *t, const Block *b) {
    int64_t c = t->b_cs == 1 ? b->cols / WIDTH * WIDTH : 0;
    if (c > 0) pack_rows(to, t, b, c);
    for (; c < b->cols; c += WIDTH)
        for (int64_t e = 0; e < WIDTH; e += 8) pack_eight(to + c * b->depth + e, t, b, b->j + c + e, b->cols - c - e);
}

/* All rows of a with the block, which is packed. */
static void meet_block(const TsrThin *t, const float *packed, const Block *b) {
    const TsrChain g = {.m = t->m,
                        .k = b->depth,
                        .a = t->a + b->p * t->m,
                        .a_rs = b->depth,
                        .a_cs = 1,
                        .c = t->c,
                        .c_rs = t->c_rs,
                        .begin = b->p > 0 || t->add ? TSR_CHAIN_ADDED : TSR_CHAIN_NEW};
    for (int64_t c = 0; c < b->cols; c += WIDTH)
        panel(&g, b->j + c, packed + c * b->depth, WIDTH, TSR_MIN(b->cols - c, (int64_t)WIDTH), VECTORS);
}

INLINE float sum_lanes(__m256 x) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1)),
           two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/* One row of a with `many` columns of b in which neighbours are rows: a sum in each of eight lanes. a's parts follow
 * each other as if it were not packed. */
INLINE void dots(const TsrThin *t, int64_t j, int many) {
    __m256 sum[DOTS];
    const uint16_t *from = t->b + j * t->b_cs;
    int64_t p = 0;
    for (int c = 0; c < many; c++) sum[c] = _mm256_setzero_ps();
    for (; p + 8 <= t->k; p += 8) {
        __m256 x = _mm256_loadu_ps(t->a + p);
        for (int c = 0; c < many; c++) sum[c] = _mm256_fmadd_ps(x, widen(from + c * t->b_cs + p, t->bfloat), sum[c]);
    }
    for (int c = 0; c < many; c++) {
        float total = sum_lanes(sum[c]);
        for (int64_t q = p; q < t->k; q++) total += t->a[q] * widen_one(from[c * t->b_cs + q], t->bfloat);
        t->c[j + c] = t->add ? t->c[j + c] + total : total;
    }
}

static void one_row(const TsrThin *t, int64_t begin, int64_t end) {
    int64_t j = begin;
    for (; j + DOTS <= end && tsr_interrupt_flag == 0; j += DOTS) dots(t, j, DOTS);
    for (; j < end && tsr_interrupt_flag == 0; j++) dots(t, j, 1);
}

static void thin(const TsrThin *t, int64_t begin, int64_t end) {
    if (t->m == 1 && t->b_rs == 1) {
        one_row(t, begin, end);
        return;
    }
    float packed[TSR_THIN_DEPTH * (TSR_THIN_COLS + WIDTH)];
    for (int64_t j = begin; j < end; j += TSR_THIN_COLS)
        for (int64_t p = 0; p < t->k && tsr_interrupt_flag == 0; p += TSR_THIN_DEPTH) {
            Block b = {p, j, TSR_MIN(t->k - p, (int64_t)TSR_THIN_DEPTH), TSR_MIN(end - j, (int64_t)TSR_THIN_COLS)};
            pack_block(packed, t, &b);
            meet_block(t, packed, &b);
        }
}

TsrThinFn SIMD(tsr_thin_kernel)(void);
TsrThinFn SIMD(tsr_thin_kernel)(void) { return thin; }

/* ---- dot products ---- */

/* A vector of elements as floats. */
INLINE V widen_all(const uint16_t *b, bool bfloat) {
#if defined(TSR_SIMD_AVX512)
    const __m256i x = _mm256_loadu_si256((const __m256i *)(const void *)b);
    return bfloat ? _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)) : _mm512_cvtph_ps(x);
#else
    return widen(b, bfloat);
#endif
}

INLINE void add_lanes(float *lanes, const uint16_t *x, const uint16_t *y, int64_t n, bool bfloat) {
    enum { PARTS = TSR_HALF_LANES / LANES }; /* 8 at most */
    V sum[PARTS];
    memcpy(sum, lanes, sizeof sum);
    for (int64_t i = 0; i < n; i += TSR_HALF_LANES) {
#pragma GCC unroll 8
        for (int v = 0; v < PARTS; v++)
            sum[v] += widen_all(x + i + v * LANES, bfloat) * widen_all(y + i + v * LANES, bfloat);
    }
    memcpy(lanes, sum, sizeof sum);
}

static void half_lanes(float *lanes, const uint16_t *x, const uint16_t *y, int64_t n, bool bfloat) {
    if (bfloat) add_lanes(lanes, x, y, n, true);
    else add_lanes(lanes, x, y, n, false);
}

TsrHalfLanesFn SIMD(tsr_half_lanes_kernel)(void);
TsrHalfLanesFn SIMD(tsr_half_lanes_kernel)(void) { return half_lanes; }
