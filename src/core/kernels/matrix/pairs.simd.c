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

/* Lines are neighbours: two terms of 16 lines are interleaved at a time. */
static int64_t pack_interleaved(uint32_t *to, const TsrPairSide *s, const uint16_t *from, int64_t width) {
    int64_t p = 0;
    for (; 2 * p + 2 <= s->k; p++)
        for (int64_t r = 0; r < width; r += 16) {
            const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)(from + 2 * p * s->term + r));
            const __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(from + (2 * p + 1) * s->term + r));
            const __m512i both =
                _mm512_or_si512(_mm512_cvtepu16_epi32(low), _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
            _mm512_storeu_si512(to + p * width + r, both);
        }
    return p;
}

static void pack(uint32_t *to, const TsrPairSide *s, int64_t width, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        uint32_t *panel = to + i * width * ((s->k + 1) / 2);
        const uint16_t *from = s->data + i * width * s->line;
        const int64_t lines = TSR_MIN(s->lines - i * width, width);
        int64_t p = 0;
        if (lines == width && s->term == 1) p = pack_turned(panel, s, from, width);
        else if (lines == width && s->line == 1 && width % 16 == 0) p = pack_interleaved(panel, s, from, width);
        pack_slowly(panel, s, from, width, lines, p);
    }
}

static inline __attribute__((always_inline)) void rows_of_tile(float *c, int64_t c_rs, const uint32_t *a,
                                                               const uint32_t *b, int64_t pairs, int there, int most,
                                                               const __mmask16 mask[2], bool add) {
    __m512 s[TSR_PAIR_ROWS][2];
    for (int r = 0; r < most; r++) s[r][0] = s[r][1] = _mm512_setzero_ps();
    for (int64_t p = 0; p < pairs; p++, a += TSR_PAIR_ROWS, b += TSR_PAIR_COLS) {
        const __m512bh low = (__m512bh)_mm512_loadu_si512(b), high = (__m512bh)_mm512_loadu_si512(b + LANES);
        for (int r = 0; r < most; r++) {
            const __m512bh each = (__m512bh)_mm512_set1_epi32((int)a[r]);
            s[r][0] = _mm512_dpbf16_ps(s[r][0], each, low);
            s[r][1] = _mm512_dpbf16_ps(s[r][1], each, high);
        }
    }
    for (int r = 0; r < most && r < there; r++)
        for (int v = 0; v < 2; v++) {
            float *to = c + r * c_rs + v * LANES;
            if (add) s[r][v] = _mm512_add_ps(s[r][v], _mm512_maskz_loadu_ps(mask[v], to));
            _mm512_mask_storeu_ps(to, mask[v], s[r][v]);
        }
}

static void tile(float *c, int64_t c_rs, const uint32_t *a, const uint32_t *b, int64_t pairs, int rows, int cols,
                 bool add) {
    const uint32_t columns = cols == 32 ? ~0u : (1u << cols) - 1;
    const __mmask16 mask[] = {(__mmask16)columns, (__mmask16)(columns >> 16)};
    if (rows <= 4) rows_of_tile(c, c_rs, a, b, pairs, rows, 4, mask, add);
    else if (rows <= 8) rows_of_tile(c, c_rs, a, b, pairs, rows, 8, mask, add);
    else rows_of_tile(c, c_rs, a, b, pairs, rows, TSR_PAIR_ROWS, mask, add);
}

const TsrPairKernel *tsr_pair_kernel_avx512(void);
const TsrPairKernel *tsr_pair_kernel_avx512(void) {
    static const TsrPairKernel kernel = {pack, tile};
    return &kernel;
}
