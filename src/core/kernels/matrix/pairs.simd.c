/* pairs.simd.c: products of bfloat16 (pairs.h) by AVX512-BF16: a tile of 12 by 32 sums stays in registers while pairs
 * of terms go by, as in chain_tiles.inc. */
#include "pairs.h"

#include <string.h>

#include "core/kernels/simd.h"

enum { LANES = 16 };

/* Pair p of a line. */
static inline uint32_t pair_at(const uint16_t *line, int64_t term, int64_t p, int64_t k) {
    const uint32_t low = line[2 * p * term], high = 2 * p + 1 < k ? line[(2 * p + 1) * term] : 0;
    return low | high << 16;
}

/* One by one: `lines` lines from pair p on, and zeros for the others. */
static void pack_slowly(uint32_t *to, const TsrPairSide *s, const uint16_t *from, int64_t width, int64_t lines,
                        int64_t p) {
    for (; p < (s->k + 1) / 2; p++)
        for (int64_t r = 0; r < width; r++)
            to[p * width + r] = r < lines ? pair_at(from + r * s->line, s->term, p, s->k) : 0;
}

/* Terms are neighbours: 4 lines by 4 pairs are turned at a time. */
static int64_t pack_turned(uint32_t *to, const TsrPairSide *s, const uint16_t *from, int64_t width) {
    int64_t p = 0;
    for (; 2 * p + 8 <= s->k; p += 4)
        for (int64_t r = 0; r < width; r += 4) {
            __m128 x[4];
            for (int i = 0; i < 4; i++)
                x[i] = _mm_loadu_ps((const float *)(const void *)(from + (r + i) * s->line + 2 * p));
            _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]);
            for (int i = 0; i < 4; i++) _mm_storeu_ps((float *)(void *)(to + (p + i) * width + r), x[i]);
        }
    return p;
}

/* Terms that are asked for before they are read, where lines are neighbours: each term lies on a page of its own, which
 * the processor does not foresee. Of 12 weights of 768 by 2304, 768 by 3072 and 3072 by 768 that lie in no cache the
 * products with one row took 2.9, 3.8 and 3.9 ms without it, and take 1.6, 2.4 and 2.1 (two threads, Zen 5). */
enum { AHEAD = 64 };
static inline void ask_for(const uint16_t *from, int64_t term, int64_t p) {
    _mm_prefetch((const char *)(from + (2 * p + AHEAD) * term), _MM_HINT_T0);
    _mm_prefetch((const char *)(from + (2 * p + AHEAD + 1) * term), _MM_HINT_T0);
}

/* Lines are neighbours: two terms of `lines` of them, a multiple of 16, are interleaved at a time, into panels that are
 * `panel` pairs apart. */
static int64_t pack_interleaved(uint32_t *to, const TsrPairSide *s, const uint16_t *from, int64_t width, int64_t lines,
                                int64_t panel) {
    int64_t p = 0;
    for (; 2 * p + 2 <= s->k; p++, from += 2 * s->term)
        for (int64_t i = 0; i < lines; i += width)
            for (int64_t r = 0; r < width; r += 16) {
                const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(from + i + r));
                const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(from + s->term + i + r));
                const __m512i both =
                    _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
                _mm512_storeu_si512(to + i / width * panel + p * width + r, both);
                if (r % 32 == 0) ask_for(from + i + r, s->term, 0);
            }
    return p;
}

static void pack(uint32_t *to, const TsrPairSide *s, int64_t width, int64_t begin, int64_t end) {
    const int64_t size = width * ((s->k + 1) / 2), whole = TSR_MIN(end, s->lines / width);
    int64_t done = 0;
    if (s->line == 1 && width % 16 == 0 && whole > begin)
        done = pack_interleaved(to + begin * size, s, s->data + begin * width, width, (whole - begin) * width, size);
    for (int64_t i = begin; i < end; i++) {
        uint32_t *panel = to + i * size;
        const uint16_t *from = s->data + i * width * s->line;
        const int64_t lines = TSR_MIN(s->lines - i * width, width);
        int64_t p = lines == width ? done : 0;
        if (lines == width && s->term == 1) p = pack_turned(panel, s, from, width);
        pack_slowly(panel, s, from, width, lines, p);
    }
}

/* `most` rows, of which `there` are, by `vectors` vectors of columns. */
static inline __attribute__((always_inline)) void rows_of_tile(float *c, int64_t c_rs, const uint32_t *a,
                                                               const uint32_t *b, int64_t pairs, int there, int most,
                                                               int vectors, uint32_t columns, bool add,
                                                               const TsrPairAhead *ahead) {
    __m512 s[TSR_PAIR_ROWS][2];
    for (int r = 0; r < most; r++) s[r][0] = s[r][1] = _mm512_setzero_ps();
    for (int64_t p = 0; p < pairs; p++, a += TSR_PAIR_ROWS, b += TSR_PAIR_COLS) {
        __m512bh column[2];
        if (ahead != NULL) _mm_prefetch((const char *)(ahead->from + p * ahead->step), _MM_HINT_T1);
        for (int v = 0; v < vectors; v++) column[v] = (__m512bh)_mm512_loadu_si512(b + v * LANES);
        for (int r = 0; r < most; r++) {
            const __m512bh each = (__m512bh)_mm512_set1_epi32((int)a[r]);
            for (int v = 0; v < vectors; v++) s[r][v] = _mm512_dpbf16_ps(s[r][v], each, column[v]);
        }
    }
    for (int r = 0; r < most && r < there; r++)
        for (int v = 0; v < vectors; v++) {
            const __mmask16 mask = (__mmask16)(columns >> v * LANES);
            float *to = c + r * c_rs + v * LANES;
            if (add) s[r][v] = _mm512_add_ps(s[r][v], _mm512_maskz_loadu_ps(mask, to));
            _mm512_mask_storeu_ps(to, mask, s[r][v]);
        }
}

static inline __attribute__((always_inline)) void tile_of(float *c, int64_t c_rs, const uint32_t *a, const uint32_t *b,
                                                          int64_t pairs, int rows, int cols, bool add,
                                                          const TsrPairAhead *ahead) {
    const uint32_t columns = cols == TSR_PAIR_COLS ? ~0u : (1u << cols) - 1;
#define ROWS_OF_TILE(most) \
    do { \
        if (cols <= LANES) rows_of_tile(c, c_rs, a, b, pairs, rows, most, 1, columns, add, ahead); \
        else rows_of_tile(c, c_rs, a, b, pairs, rows, most, 2, columns, add, ahead); \
    } while (0)
    if (rows <= 4) ROWS_OF_TILE(4);
    else if (rows <= 8) ROWS_OF_TILE(8);
    else ROWS_OF_TILE(TSR_PAIR_ROWS);
#undef ROWS_OF_TILE
}

static void tile(float *c, int64_t c_rs, const uint32_t *a, const uint32_t *b, int64_t pairs, int rows, int cols,
                 bool add, const TsrPairAhead *ahead) {
    if (ahead == NULL) tile_of(c, c_rs, a, b, pairs, rows, cols, add, NULL);
    else tile_of(c, c_rs, a, b, pairs, rows, cols, add, ahead);
}

/* ---- without packing ---- */

enum { SIDE = 4, TERMS = 32 }; /* lines of both sides at a time, and terms to a vector */

/* The sums of four vectors. */
static inline __m128 sums_of_four(const __m512 v[4]) {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(v[0], v[1]), _mm512_unpackhi_ps(v[0], v[1]));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(v[2], v[3]), _mm512_unpackhi_ps(v[2], v[3]));
    const __m512d low = _mm512_unpacklo_pd((__m512d)ab, (__m512d)cd),
                  high = _mm512_unpackhi_pd((__m512d)ab, (__m512d)cd);
    const __m512 all = _mm512_add_ps((__m512)low, (__m512)high);
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* `rows` lines of a by four of b, of which `cols` there are; what a[r] and b[c] point to has k terms. The line `ahead`
 * of each of b's, if not 0, is asked for. */
static inline __attribute__((always_inline)) void dots_of(float *c, int64_t c_rs, const uint16_t *const *a,
                                                          const uint16_t *const *b, int64_t k, int64_t ahead, int rows,
                                                          int cols, bool add) {
    __m512 s[SIDE][SIDE];
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < SIDE; j++) s[r][j] = _mm512_setzero_ps();
    for (int64_t p = 0; p < k; p += TERMS) {
        const __mmask32 there = k - p >= TERMS ? ~0u : (1u << (k - p)) - 1;
        __m512bh y[SIDE];
        for (int j = 0; j < SIDE; j++) {
            y[j] = (__m512bh)_mm512_maskz_loadu_epi16(there, b[j] + p);
            if (ahead != 0) _mm_prefetch((const char *)(b[j] + ahead + p), _MM_HINT_T0);
        }
        for (int r = 0; r < rows; r++) {
            const __m512bh x = (__m512bh)_mm512_maskz_loadu_epi16(there, a[r] + p);
            for (int j = 0; j < SIDE; j++) s[r][j] = _mm512_dpbf16_ps(s[r][j], x, y[j]);
        }
    }
    const __mmask8 mask = (__mmask8)((1u << cols) - 1);
    for (int r = 0; r < rows; r++) {
        __m128 sums = sums_of_four(s[r]);
        if (add) sums = _mm_add_ps(sums, _mm_maskz_loadu_ps(mask, c + r * c_rs));
        _mm_mask_storeu_ps(c + r * c_rs, mask, sums);
    }
}

/* Lines [first, last) of a. */
static void dots_of_lines(float *c, int64_t c_rs, const TsrPairSide *a, const TsrPairSide *b, int64_t first,
                          int64_t last, int64_t begin, int64_t end, bool add) {
    for (int64_t j = begin; j < end; j += SIDE)
        for (int64_t i = first; i < last; i += SIDE) {
            const int cols = (int)TSR_MIN(end - j, (int64_t)SIDE), rows = (int)TSR_MIN(last - i, (int64_t)SIDE);
            const uint16_t *x[SIDE], *y[SIDE]; /* lines that are not there repeat the last one */
            float *to = c + i * c_rs + j;
            const int64_t ahead = i == 0 ? SIDE * b->line : 0;
            for (int l = 0; l < SIDE; l++) {
                x[l] = a->data + (i + TSR_MIN(l, rows - 1)) * a->line;
                y[l] = b->data + (j + TSR_MIN(l, cols - 1)) * b->line;
            }
            switch (rows) {
            case 1: dots_of(to, c_rs, x, y, a->k, ahead, 1, cols, add); break;
            case 2: dots_of(to, c_rs, x, y, a->k, ahead, 2, cols, add); break;
            case 3: dots_of(to, c_rs, x, y, a->k, ahead, 3, cols, add); break;
            default: dots_of(to, c_rs, x, y, a->k, ahead, 4, cols, add); break;
            }
        }
}

/* Of a as many lines at a time as stay in the first cache, unless those are few: each meets all columns. One thread on
 * Zen 5, 64 lines of 768 terms with 3072 columns 782 us in one go and 718 so, of 4096 with 4096 5.9 and 8.2 ms. */
enum { TERMS_KEPT = 12288, LINES_LEAST = 8 };

static void dots(float *c, int64_t c_rs, const TsrPairSide *a, const TsrPairSide *b, int64_t begin, int64_t end,
                 bool add) {
    int64_t lines = TERMS_KEPT / TSR_MAX(a->k, (int64_t)1) / SIDE * SIDE;
    if (lines < LINES_LEAST) lines = a->lines;
    for (int64_t i = 0; i < a->lines; i += lines)
        dots_of_lines(c, c_rs, a, b, i, TSR_MIN(a->lines, i + lines), begin, end, add);
}

/* ---- without packing, where the columns of b are neighbours ---- */

/* Pairs of terms at a time, and columns to two vectors of pairs. */
enum { STEP = 4, PART = 32 };

/* Which columns of PART are there. */
static inline __mmask32 columns_there(int64_t columns) { return columns >= PART ? ~0u : (1u << columns) - 1; }

/* What of `sums` is added to for lines a[0] to a[rows - 1]: pairs [p, p + STEP) of `columns` columns. Two terms of 32
 * columns are interleaved within quarters of a vector, and so are the sums. Terms of the next step are asked for. */
static inline __attribute__((always_inline)) void add_pairs(float (*sums)[TSR_PAIR_STRIPE], const TsrPairSide *a,
                                                            const TsrPairSide *b, int64_t line, int64_t column,
                                                            int64_t columns, int64_t p, int rows, bool ask) {
    __m512bh each[STEP][SIDE];
    for (int q = 0; q < STEP; q++)
        for (int r = 0; r < rows; r++)
            each[q][r] = (__m512bh)_mm512_set1_epi32(
                2 * (p + q) < a->k ? (int)pair_at(a->data + (line + r) * a->line, a->term, p + q, a->k) : 0);
    for (int64_t j = 0; j < columns; j += PART) {
        const __mmask32 there = columns_there(columns - j);
        __m512 s[SIDE][2];
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < 2; v++) s[r][v] = _mm512_load_ps(sums[r] + j + v * LANES);
        for (int q = 0; q < STEP; q++) {
            const int64_t term = 2 * (p + q);
            const uint16_t *from = b->data + term * b->term + column + j;
            const __m512i one = _mm512_maskz_loadu_epi16(term < b->k ? there : 0, from),
                          two = _mm512_maskz_loadu_epi16(term + 1 < b->k ? there : 0, from + b->term);
            const __m512bh low = (__m512bh)_mm512_unpacklo_epi16(one, two),
                           high = (__m512bh)_mm512_unpackhi_epi16(one, two);
            if (ask) {
                _mm_prefetch((const char *)(from + 2 * STEP * b->term), _MM_HINT_T0);
                _mm_prefetch((const char *)(from + (2 * STEP + 1) * b->term), _MM_HINT_T0);
            }
            for (int r = 0; r < rows; r++) {
                s[r][0] = _mm512_dpbf16_ps(s[r][0], each[q][r], low);
                s[r][1] = _mm512_dpbf16_ps(s[r][1], each[q][r], high);
            }
        }
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < 2; v++) _mm512_store_ps(sums[r] + j + v * LANES, s[r][v]);
    }
}

/* A line of sums to its place, in order. */
static void store_stripe(float *to, const float *sums, int64_t columns, bool add) {
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23),
                  second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
    for (int64_t j = 0; j < columns; j += PART) {
        const __m512 low = _mm512_load_ps(sums + j), high = _mm512_load_ps(sums + j + LANES);
        const __mmask32 there = columns_there(columns - j);
        for (int v = 0; v < 2; v++) {
            const __mmask16 mask = (__mmask16)(there >> v * LANES);
            __m512 sum = _mm512_permutex2var_ps(low, v == 0 ? first : second, high);
            if (add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, to + j + v * LANES));
            _mm512_mask_storeu_ps(to + j + v * LANES, mask, sum);
        }
    }
}

/* Pairs [p, last) of `rows` lines with the stripe. */
static inline __attribute__((always_inline)) void add_lines(float (*sums)[TSR_PAIR_STRIPE], const TsrPairSide *a,
                                                            const TsrPairSide *b, int64_t line, int64_t column,
                                                            int64_t columns, int64_t p, int64_t last, int rows) {
    for (; p < last; p += STEP) add_pairs(sums, a, b, line, column, columns, p, rows, line == 0);
}

static void stripe(float *c, int64_t c_rs, const TsrPairSide *a, const TsrPairSide *b, int64_t column, int64_t columns,
                   bool add) {
    const int64_t pairs = (a->k + 1) / 2;
    for (int64_t p = 0; p < pairs; p += TSR_PAIR_DEPTH)
        for (int64_t i = 0; i < a->lines; i += SIDE) {
            _Alignas(64) float sums[SIDE][TSR_PAIR_STRIPE] = {{0}};
            const int rows = (int)TSR_MIN(a->lines - i, (int64_t)SIDE);
            const int64_t last = TSR_MIN(pairs, p + TSR_PAIR_DEPTH);
            switch (rows) {
            case 1: add_lines(sums, a, b, i, column, columns, p, last, 1); break;
            case 2: add_lines(sums, a, b, i, column, columns, p, last, 2); break;
            case 3: add_lines(sums, a, b, i, column, columns, p, last, 3); break;
            default: add_lines(sums, a, b, i, column, columns, p, last, SIDE); break;
            }
            for (int r = 0; r < rows; r++) store_stripe(c + (i + r) * c_rs + column, sums[r], columns, p > 0 || add);
        }
}

const TsrPairKernel *tsr_pair_kernel_avx512(void);
const TsrPairKernel *tsr_pair_kernel_avx512(void) {
    static const TsrPairKernel kernel = {pack, tile, dots, stripe};
    return &kernel;
}
