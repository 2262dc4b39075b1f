/* move.h: elements moved as they are: turned over in cache, for copies and loops whose operands run across one another;
 * over and over; or past the caches. */
#ifndef CORE_KERNELS_MOVE_MOVE_H
#define CORE_KERNELS_MOVE_MOVE_H

#include "core/base.h"

enum {
    TSR_LINE = 64,           /* bytes of a cache line */
    TSR_STREAMED = 16 << 20, /* bytes from which on no cache is expected to keep a copy until it is read */
};

/* to[j][i] = from[i][j] for i < width and j < height: `width` lines of `height` neighbouring elements of 1, 2, 4, 8 or
 * 16 bytes, which begin `from_stride` bytes apart, become `height` lines of `width` elements, `to_stride` bytes apart.
 * The two do not overlap. */
void tsr_kernel_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width,
                          int64_t height, size_t size);

/* n times the element of 1, 2, 4, 8 or 16 bytes, densely. */
void tsr_kernel_repeat(char *to, const char *element, size_t size, int64_t n);

/* to[i] = from[n - 1 - i] for n neighbouring elements of 1, 2, 4, 8 or 16 bytes, in each of the lines. The two do not
 * overlap. */
void tsr_kernel_reverse_lines(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n,
                              int64_t lines, size_t size);

/* memcpy for the lines of a copy. The C library's is slow in two ways that lines meet, and this one is not: from 2 KiB
 * on it moves a string of bytes by one instruction (rep movsb), which takes several times as long where the two begin
 * at different offsets in a line of the cache; and a load waits for a store just before it at the same place in another
 * page, so that this one goes from the end there. Measured on Zen 3 (AMD EPYC), one thread, 1000x1000 floats, by
 * time.process_time(), memcpy and this: roll(3, 1) 1580 and 170 us, hstack([x, x]) 1020 and 330. */
void tsr_kernel_copy(char *to, const char *from, int64_t bytes);

/* The same for `lines` of at most TSR_COPIED_LINE bytes: a call a line takes as long as the line does. cat([x, x], -1)
 * of 6144 lines of 32 floats 42 us and 34 (one thread, Zen 5). */
enum { TSR_COPIED_LINE = 512 };
void tsr_kernel_copy_lines(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t bytes,
                           int64_t lines);

/* n elements of `size` bytes, `to_stride` and `from_stride` bytes apart. The two do not overlap. */
void tsr_kernel_move(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, size_t size);

/* to[i * lines + k] = from[k][i] for i < n and k < lines, two or three: densely, of lines `from_stride` bytes apart.
 * The two do not overlap. */
void tsr_kernel_interleave(char *to, const char *from, int64_t from_stride, int64_t lines, int64_t n, size_t size);

/* p[i] ^= pattern[i % TSR_XOR_PATTERN] for `bytes` bytes. */
enum { TSR_XOR_PATTERN = 32 };
void tsr_kernel_xor(char *p, const char *pattern, int64_t bytes);

/* A copy whose result goes past the caches: what it overwrites needn't be read first. The two do not overlap. */
void tsr_kernel_stream(char *to, const char *from, int64_t bytes);
/* Makes what this thread has streamed seen by the others; to be called before they are told of it. */
void tsr_kernel_stream_end(void);

#endif
