/* move.c: copying of elements between strided lines and blocks, and transposition (move.h). Inner loops for copies:
 * they move bytes of a given element size and know no dtype. A transposition goes by blocks that fit the cache, within
 * a block by registers: four lines of four words or two lines of two. */
#include "move.h"

#include <string.h>

#include "core/kernels/simd.h"
#include "core/dtype.h"

#define TRANSPOSE(type) \
    for (int64_t i = 0; i < width; i++) \
        for (int64_t j = 0; j < height; j++) \
    memcpy(to + j * to_stride + i * (int64_t)sizeof(type), from + i * from_stride + j * (int64_t)sizeof(type), \
           sizeof(type))

/* Four lines of four elements at a time. */
static void transpose_words(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width,
                            int64_t height) {
    typedef int32_t V __attribute__((vector_size(16)));
    for (int64_t i = 0; i + 4 <= width; i += 4) {
        for (int64_t j = 0; j + 4 <= height; j += 4) {
            V a[4];
            for (int k = 0; k < 4; k++) {
                memcpy(&a[k], from + (i + k) * from_stride + j * 4, sizeof a[k]);
                if (j == 0) __builtin_prefetch(from + (i + k) * from_stride + TSR_LINE); /* of the block that follows */
            }
            V low1 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5),
              high1 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
            V low2 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5),
              high2 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
            V row[4] = {
                __builtin_shufflevector(low1, low2, 0, 1, 4, 5), __builtin_shufflevector(low1, low2, 2, 3, 6, 7),
                __builtin_shufflevector(high1, high2, 0, 1, 4, 5), __builtin_shufflevector(high1, high2, 2, 3, 6, 7)};
            for (int k = 0; k < 4; k++) memcpy(to + (j + k) * to_stride + i * 4, &row[k], sizeof row[k]);
        }
    }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = i < width / 4 * 4 ? height / 4 * 4 : 0; j < height; j++)
            memcpy(to + j * to_stride + i * 4, from + i * from_stride + j * 4, 4);
}

/* Two lines of two elements at a time. */
static void transpose_pairs(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width,
                            int64_t height) {
    typedef int64_t V __attribute__((vector_size(16)));
    for (int64_t i = 0; i + 2 <= width; i += 2) {
        for (int64_t j = 0; j + 2 <= height; j += 2) {
            V a, b;
            memcpy(&a, from + i * from_stride + j * 8, sizeof a);
            memcpy(&b, from + (i + 1) * from_stride + j * 8, sizeof b);
            V low = __builtin_shufflevector(a, b, 0, 2), high = __builtin_shufflevector(a, b, 1, 3);
            memcpy(to + j * to_stride + i * 8, &low, sizeof low);
            memcpy(to + (j + 1) * to_stride + i * 8, &high, sizeof high);
        }
    }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = i < width / 2 * 2 ? height / 2 * 2 : 0; j < height; j++)
            memcpy(to + j * to_stride + i * 8, from + i * from_stride + j * 8, 8);
}

void tsr_kernel_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width,
                          int64_t height, size_t size) {
    switch (size) {
    case 1: TRANSPOSE(uint8_t); break;
    case 2: TRANSPOSE(uint16_t); break;
    case 4: transpose_words(to, to_stride, from, from_stride, width, height); break;
    case 8: transpose_pairs(to, to_stride, from, from_stride, width, height); break;
    default: TRANSPOSE(TsrComplexDouble); break;
    }
}

/* --- over and over --- */

enum { VECTOR = 32 }; /* bytes */

#define FILL_VECTOR(type) \
    for (size_t at = 0; at < VECTOR; at += sizeof(type)) memcpy(vector + at, element, sizeof(type))

#ifdef TSR_HAVE_X86
/* Of 4 MB, quarters of a line at a time take half as long again (measured on Zen 4). */
__attribute__((target("avx"))) static void repeat_vector_avx(char *to, const char *vector, int64_t bytes) {
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)vector);
    for (int64_t at = 0; at < bytes; at += VECTOR) _mm256_storeu_si256((__m256i *)(void *)(to + at), v);
}
#endif

static void repeat_vector(char *to, const char *vector, int64_t bytes) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) {
        repeat_vector_avx(to, vector, bytes);
        return;
    }
#endif
    for (int64_t at = 0; at < bytes; at += VECTOR) memcpy(to + at, vector, VECTOR);
}

void tsr_kernel_repeat(char *to, const char *element, size_t size, int64_t n) {
    char vector[VECTOR];
    int64_t bytes = n * (int64_t)size, whole = bytes / VECTOR * VECTOR;
    switch (size) {
    case 1: FILL_VECTOR(uint8_t); break;
    case 2: FILL_VECTOR(uint16_t); break;
    case 4: FILL_VECTOR(uint32_t); break;
    case 8: FILL_VECTOR(uint64_t); break;
    default: FILL_VECTOR(TsrComplexDouble); break;
    }
    repeat_vector(to, vector, whole);
    memcpy(to + whole, vector, (size_t)(bytes - whole));
}

/* --- from the end --- */

#define LAST_TO_FIRST_2 1, 0
#define LAST_TO_FIRST_4 3, 2, 1, 0
#define LAST_TO_FIRST_8 7, 6, 5, 4, 3, 2, 1, 0

/* Vectors of `bytes`, as lanes of `type` that `WITHIN` turns over in themselves, then one by one. Four vectors are read
 * before one is written: a load waits for a store just before it at the same place in another page. Of 1e6 floats in
 * lines of 32 that takes 164 to 194 us, vector by vector 207 to 329 (one thread, Zen 3, busy). */
#define REVERSE(T, bytes, type, lanes, WITHIN) \
    do { \
        typedef type V __attribute__((vector_size(bytes))); \
        V first, second, third, fourth; \
        for (; n >= 4 * (bytes) / (int64_t)sizeof(T); n -= 4 * (bytes) / (int64_t)sizeof(T), to += 4 * (bytes)) { \
            const char *end = from + n * (int64_t)sizeof(T); \
            memcpy(&first, end - (bytes), sizeof first); \
            memcpy(&second, end - 2 * (bytes), sizeof second); \
            memcpy(&third, end - 3 * (bytes), sizeof third); \
            memcpy(&fourth, end - 4 * (bytes), sizeof fourth); \
            REVERSED(to, first, lanes, WITHIN); \
            REVERSED(to + (bytes), second, lanes, WITHIN); \
            REVERSED(to + 2 * (bytes), third, lanes, WITHIN); \
            REVERSED(to + 3 * (bytes), fourth, lanes, WITHIN); \
        } \
        for (; n >= (bytes) / (int64_t)sizeof(T); n -= (bytes) / (int64_t)sizeof(T), to += (bytes)) { \
            memcpy(&first, from + n * (int64_t)sizeof(T) - (bytes), sizeof first); \
            REVERSED(to, first, lanes, WITHIN); \
        } \
        for (; n > 0; n--, to += sizeof(T)) memcpy(to, from + (n - 1) * (int64_t)sizeof(T), sizeof(T)); \
    } while (0)
#define REVERSED(to, vector, lanes, WITHIN) \
    do { \
        V v = __builtin_shufflevector(vector, vector, LAST_TO_FIRST_##lanes); \
        v = WITHIN; \
        memcpy(to, &v, sizeof v); \
    } while (0)

#define REVERSE_BYTES REVERSE(uint8_t, 16, uint32_t, 4, v << 24 | (v << 8 & 0xff0000) | (v >> 8 & 0xff00) | v >> 24)
static void reverse_bytes_base(char *to, const char *from, int64_t n) { REVERSE_BYTES; }
#ifdef TSR_HAVE_X86
/* Thirty-two bytes at a time. */
__attribute__((target("avx2"))) static inline void reverse_bytes_avx2(char *to, const char *from, int64_t n) {
    const __m256i last_to_first = _mm256_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12,
                                                   11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (; n >= 32; n -= 32, to += 32) {
        __m256i v =
            _mm256_shuffle_epi8(_mm256_loadu_si256((const __m256i *)(const void *)(from + n - 32)), last_to_first);
        _mm256_storeu_si256((__m256i *)(void *)to, _mm256_permute2x128_si256(v, v, 1));
    }
    REVERSE_BYTES;
}
#endif

/* The lines of elements of one size. */
#define REVERSE_EACH(...) \
    for (int64_t i = 0; i < lines; i++) { \
        char *to = to_line + i * to_stride; \
        const char *from = from_line + i * from_stride; \
        int64_t n = length; \
        __VA_ARGS__; \
    } \
    break

/* Elements of 1, 2, 4, 8 or 16 bytes. */
#define REVERSALS(suffix, TARGET, bytes, words, pairs) \
    TARGET static void reverse_##suffix(char *to_line, int64_t to_stride, const char *from_line, int64_t from_stride, \
                                        int64_t length, int64_t lines, size_t size) { \
        switch (size) { \
        case 1: REVERSE_EACH(reverse_bytes_##suffix(to, from, n)); \
        case 2: REVERSE_EACH(REVERSE(uint16_t, bytes, uint32_t, words, v << 16 | v >> 16)); \
        case 4: REVERSE_EACH(REVERSE(uint32_t, bytes, uint32_t, words, v)); \
        case 8: REVERSE_EACH(REVERSE(uint64_t, bytes, uint64_t, pairs, v)); \
        default: REVERSE_EACH(for (; n > 0; n--, to += 16) memcpy(to, from + (n - 1) * 16, 16)); \
        } \
    }
REVERSALS(base, , 16, 4, 2)
#ifdef TSR_HAVE_X86
REVERSALS(avx2, __attribute__((target("avx2"))), 32, 8, 4)
#endif

typedef void (*ReverseFn)(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, int64_t lines,
                          size_t size);
static ReverseFn best_reverse(void) {
#ifdef TSR_HAVE_X86
    if (tsr_isa() >= TSR_ISA_AVX2) return reverse_avx2;
#endif
    return reverse_base;
}

void tsr_kernel_reverse_lines(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
                              int64_t lines, size_t size) {
    static ReverseFn known;
    TSR_CHOOSE_ONCE(known, best_reverse())(to, to_stride, from, from_stride, n, lines, size);
}

/* --- at any distance --- */

/* One of two, three or four neighbours, and the other way about: told to the compiler, which loads whole vectors and
 * shuffles what they hold together. */
#define GATHER(type, by) \
    do { \
        for (int64_t i = 0; i < n; i++) \
            memcpy(to + i * (int64_t)sizeof(type), from + i * (by) * (int64_t)sizeof(type), sizeof(type)); \
    } while (0)
#define GATHER_BY(type) \
    do { \
        if (by == 2) GATHER(type, 2); \
        else if (by == 3) GATHER(type, 3); \
        else GATHER(type, 4); \
    } while (0)
#define INTERLEAVE(type, lines) \
    do { \
        for (int64_t i = 0; i < n; i++) \
            for (int64_t k = 0; k < (lines); k++) \
                memcpy(to + (i * (lines) + k) * (int64_t)sizeof(type), \
                       from + k * from_stride + i * (int64_t)sizeof(type), sizeof(type)); \
    } while (0)
#define INTERLEAVE_LINES(type) \
    do { \
        if (lines == 2) INTERLEAVE(type, 2); \
        else INTERLEAVE(type, 3); \
    } while (0)
#define BY_SIZE(WHAT) \
    switch (size) { \
    case 1: WHAT(uint8_t); break; \
    case 2: WHAT(uint16_t); break; \
    case 4: WHAT(uint32_t); break; \
    case 8: WHAT(uint64_t); break; \
    default: WHAT(TsrComplexDouble); break; \
    }
#define SHUFFLES(suffix, TARGET) \
    TARGET static void gather_##suffix(char *restrict to, const char *restrict from, int64_t by, int64_t n, \
                                       size_t size){ \
        BY_SIZE(GATHER_BY)} TARGET static void interleave_##suffix(char *restrict to, const char *restrict from, \
                                                                   int64_t from_stride, int64_t lines, int64_t n, \
                                                                   size_t size) { \
        BY_SIZE(INTERLEAVE_LINES) \
    }
SHUFFLES(base, )
#ifdef TSR_HAVE_X86
/* One byte of three takes a tenth of the time, three of three half. */
SHUFFLES(avx2, __attribute__((target("avx2"))))
#define SHUFFLE(name, ...) (tsr_isa() >= TSR_ISA_AVX2 ? name##_avx2 : name##_base)(__VA_ARGS__)
#else
#define SHUFFLE(name, ...) name##_base(__VA_ARGS__)
#endif

void tsr_kernel_interleave(char *to, const char *from, int64_t from_stride, int64_t lines, int64_t n, size_t size) {
    SHUFFLE(interleave, to, from, from_stride, lines, n, size);
}

#define MOVE(type) \
    for (int64_t i = 0; i < n; i++, to += to_stride, from += from_stride) memcpy(to, from, sizeof(type))

void tsr_kernel_move(char *restrict to, int64_t to_stride, const char *restrict from, int64_t from_stride, int64_t n,
                     size_t size) {
    bool dense = to_stride == (int64_t)size && size <= 16;
    if (dense && from_stride == 0) {
        tsr_kernel_repeat(to, from, size, n);
        return;
    }
    if (dense && from_stride == -to_stride) {
        tsr_kernel_reverse_lines(to, 0, from - (n - 1) * to_stride, 0, n, 1, size);
        return;
    }
    if (dense && (from_stride == 2 * to_stride || from_stride == 3 * to_stride || from_stride == 4 * to_stride)) {
        SHUFFLE(gather, to, from, from_stride / to_stride, n, size);
        return;
    }
    switch (size) {
    case 1: MOVE(uint8_t); break;
    case 2: MOVE(uint16_t); break;
    case 4: MOVE(uint32_t); break;
    case 8: MOVE(uint64_t); break;
    case 16: MOVE(TsrComplexDouble); break;
    case 32: MOVE(TsrComplexDouble[2]); break;
    case 64: MOVE(TsrComplexDouble[4]); break;
    default:
        for (int64_t i = 0; i < n; i++, to += to_stride, from += from_stride) memcpy(to, from, size);
    }
}

/* --- signs --- */

void tsr_kernel_xor(char *p, const char *pattern, int64_t bytes) {
    typedef uint64_t V __attribute__((vector_size(TSR_XOR_PATTERN)));
    V flip, v;
    memcpy(&flip, pattern, sizeof flip);
    for (; bytes >= TSR_XOR_PATTERN; bytes -= TSR_XOR_PATTERN, p += TSR_XOR_PATTERN) {
        memcpy(&v, p, sizeof v);
        v ^= flip;
        memcpy(p, &v, sizeof v);
    }
    for (int64_t i = 0; i < bytes; i++) p[i] ^= pattern[i];
}

/* --- dense --- */

#ifdef TSR_HAVE_X86
enum { AT_ONCE = 4 * VECTOR }; /* bytes that are loaded before any is stored */

__attribute__((target("avx"))) static inline void copy_vectors_avx(char *to, const char *from) {
    __m256i v[AT_ONCE / VECTOR];
    for (int k = 0; k < AT_ONCE / VECTOR; k++)
        v[k] = _mm256_loadu_si256((const __m256i *)(const void *)(from + k * VECTOR));
    for (int k = 0; k < AT_ONCE / VECTOR; k++) _mm256_storeu_si256((__m256i *)(void *)(to + k * VECTOR), v[k]);
}

/* Fewer than AT_ONCE bytes, with VECTOR or more before them that are copied already: the last vector takes some of
 * those with it. */
__attribute__((target("avx"))) static inline void copy_rest_avx(char *to, const char *from, int64_t bytes) {
    for (; bytes > 0; bytes -= VECTOR, to += VECTOR, from += VECTOR) {
        const int64_t back = bytes < VECTOR ? VECTOR - bytes : 0;
        _mm256_storeu_si256((__m256i *)(void *)(to - back),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from - back)));
    }
}

__attribute__((target("avx"))) static inline void copy_forwards_avx(char *to, const char *from, int64_t bytes) {
    int64_t at = 0;
    for (; at + AT_ONCE <= bytes; at += AT_ONCE) copy_vectors_avx(to + at, from + at);
    copy_rest_avx(to + at, from + at, bytes - at);
}

__attribute__((target("avx"))) static void copy_backwards_avx(char *to, const char *from, int64_t bytes) {
    for (; bytes >= AT_ONCE; bytes -= AT_ONCE) copy_vectors_avx(to + bytes - AT_ONCE, from + bytes - AT_ONCE);
    memcpy(to, from, (size_t)bytes);
}

__attribute__((target("avx"))) static void copy_avx(char *to, const char *from, int64_t bytes) {
    enum { PAGE = 4096, NEAR = 512, LONG = 1 << 14 };
    const uintptr_t ahead = ((uintptr_t)to - (uintptr_t)from) % PAGE; /* CPUs compare the low 12 bits first */
    const bool meets = ahead != 0 && ahead < NEAR && bytes > NEAR;
    if (bytes < AT_ONCE || (bytes > LONG && !meets)) memcpy(to, from, (size_t)bytes);
    else if (meets) copy_backwards_avx(to, from, bytes);
    else copy_forwards_avx(to, from, bytes);
}

static void copy_by_library(char *to, const char *from, int64_t bytes) { memcpy(to, from, (size_t)bytes); }

void tsr_kernel_copy(char *to, const char *from, int64_t bytes) {
    static void (*known)(char *, const char *, int64_t);
    TSR_CHOOSE_ONCE(known, tsr_isa() >= TSR_ISA_AVX2 ? copy_avx : copy_by_library)(to, from, bytes);
}

/* Lines of a vector or more. */
__attribute__((target("avx"))) static void copy_lines_avx(char *to, int64_t to_stride, const char *from,
                                                          int64_t from_stride, int64_t bytes, int64_t lines) {
    for (int64_t i = 0; i < lines; i++, to += to_stride, from += from_stride) {
        int64_t at = 0;
        for (; at + VECTOR <= bytes; at += VECTOR)
            _mm256_storeu_si256((__m256i *)(void *)(to + at),
                                _mm256_loadu_si256((const __m256i *)(const void *)(from + at)));
        copy_rest_avx(to + at, from + at, bytes - at);
    }
}
#else
void tsr_kernel_copy(char *to, const char *from, int64_t bytes) { memcpy(to, from, (size_t)bytes); }
#endif

/* Lines of two to thirty-two bytes by two words each, which may overlap. */
#define COPY_LINES_BY(T) \
    for (int64_t i = 0; i < lines; i++, to += to_stride, from += from_stride) { \
        T first, last; \
        memcpy(&first, from, sizeof first); \
        memcpy(&last, from + bytes - (int64_t)sizeof last, sizeof last); \
        memcpy(to, &first, sizeof first); \
        memcpy(to + bytes - (int64_t)sizeof last, &last, sizeof last); \
    }

void tsr_kernel_copy_lines(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t bytes,
                           int64_t lines) {
    if (bytes >= 2 && bytes <= 32) {
        if (bytes >= 16) COPY_LINES_BY(TsrComplexDouble)
        else if (bytes >= 8) COPY_LINES_BY(uint64_t)
        else if (bytes >= 4) COPY_LINES_BY(uint32_t)
        else COPY_LINES_BY(uint16_t)
        return;
    }
#ifdef TSR_HAVE_X86
    if (bytes >= VECTOR && tsr_isa() >= TSR_ISA_AVX2) {
        copy_lines_avx(to, to_stride, from, from_stride, bytes, lines);
        return;
    }
#endif
    for (int64_t i = 0; i < lines; i++) tsr_kernel_copy(to + i * to_stride, from + i * from_stride, bytes);
}

/* --- past the caches --- */

#ifdef TSR_HAVE_X86
/* Whole lines. Halves of a line in one store each go half as fast again as quarters (measured on Zen 4). */
__attribute__((target("avx"))) static void stream_lines_avx(char *to, const char *from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 32)
        _mm256_stream_si256((__m256i *)(void *)(to + at),
                            _mm256_loadu_si256((const __m256i *)(const void *)(from + at)));
}

static void stream_lines_sse(char *to, const char *from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += 16)
        _mm_stream_si128((__m128i *)(void *)(to + at), _mm_loadu_si128((const __m128i *)(const void *)(from + at)));
}

void tsr_kernel_stream(char *to, const char *from, int64_t bytes) {
    int64_t head = TSR_MIN((int64_t)(-(uintptr_t)to % TSR_LINE), bytes), lines = (bytes - head) / TSR_LINE * TSR_LINE;
    memcpy(to, from, (size_t)head);
    if (tsr_isa() >= TSR_ISA_AVX2) stream_lines_avx(to + head, from + head, lines);
    else stream_lines_sse(to + head, from + head, lines);
    memcpy(to + head + lines, from + head + lines, (size_t)(bytes - head - lines));
}

void tsr_kernel_stream_end(void) { _mm_sfence(); }
#else
void tsr_kernel_stream(char *to, const char *from, int64_t bytes) { memcpy(to, from, (size_t)bytes); }
void tsr_kernel_stream_end(void) {}
#endif
