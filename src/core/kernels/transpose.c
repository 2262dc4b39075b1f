#include "kernels/transpose.h"

#include <string.h>

#include "kernels/simd.h"
#include "dtype.h"

#define TRANSPOSE(type) \
    for (int64_t i = 0; i < width; i++) \
        for (int64_t j = 0; j < height; j++) memcpy(to + j * to_stride + i * (int64_t)sizeof(type), from + i * from_stride + j * (int64_t)sizeof(type), sizeof(type))

/* Four lines of four elements at a time. */
static void transpose_words(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width, int64_t height) {
    typedef int32_t V __attribute__((vector_size(16)));
    for (int64_t i = 0; i + 4 <= width; i += 4) {
        for (int64_t j = 0; j + 4 <= height; j += 4) {
            V a[4];
            for (int k = 0; k < 4; k++) {
                memcpy(&a[k], from + (i + k) * from_stride + j * 4, sizeof a[k]);
                if (j == 0) __builtin_prefetch(from + (i + k) * from_stride + TSR_LINE); /* of the block that follows */
            }
            V low1 = __builtin_shufflevector(a[0], a[1], 0, 4, 1, 5), high1 = __builtin_shufflevector(a[0], a[1], 2, 6, 3, 7);
            V low2 = __builtin_shufflevector(a[2], a[3], 0, 4, 1, 5), high2 = __builtin_shufflevector(a[2], a[3], 2, 6, 3, 7);
            V row[4] = {__builtin_shufflevector(low1, low2, 0, 1, 4, 5), __builtin_shufflevector(low1, low2, 2, 3, 6, 7),
                        __builtin_shufflevector(high1, high2, 0, 1, 4, 5), __builtin_shufflevector(high1, high2, 2, 3, 6, 7)};
            for (int k = 0; k < 4; k++) memcpy(to + (j + k) * to_stride + i * 4, &row[k], sizeof row[k]);
        }
    }
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = i < width / 4 * 4 ? height / 4 * 4 : 0; j < height; j++) memcpy(to + j * to_stride + i * 4, from + i * from_stride + j * 4, 4);
}

void tsr_kernel_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width, int64_t height, size_t size) {
    switch (size) {
    case 1: TRANSPOSE(uint8_t); break;
    case 2: TRANSPOSE(uint16_t); break;
    case 4: transpose_words(to, to_stride, from, from_stride, width, height); break;
    case 8: TRANSPOSE(uint64_t); break;
    default: TRANSPOSE(TsrComplexDouble); break;
    }
}

#ifdef TSR_HAVE_X86
void tsr_kernel_stream_line(char *to, const char *from) {
    for (int at = 0; at < TSR_LINE; at += (int)sizeof(__m128i)) _mm_stream_si128((__m128i *)(void *)(to + at), _mm_load_si128((const __m128i *)(const void *)(from + at)));
}
void tsr_kernel_stream_end(void) { _mm_sfence(); }
#else
void tsr_kernel_stream_line(char *to, const char *from) { memcpy(to, from, TSR_LINE); }
void tsr_kernel_stream_end(void) {}
#endif
