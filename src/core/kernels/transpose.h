/* transpose.h: a block of elements turned over in cache, for copies and loops whose operands run across one another. */
#ifndef TSR_TRANSPOSE_H
#define TSR_TRANSPOSE_H

#include "base.h"

enum { TSR_LINE = 64 /* bytes of a cache line */ };

/* to[j][i] = from[i][j] for i < width and j < height: `width` lines of `height` neighbouring elements of 1, 2, 4, 8 or 16 bytes, which begin
 * `from_stride` bytes apart, become `height` lines of `width` elements, `to_stride` bytes apart. The two do not overlap. */
void tsr_kernel_transpose(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t width, int64_t height, size_t size);

/* Writes a whole cache line past the caches, for results too large to stay there. Both are aligned to the line. */
void tsr_kernel_stream_line(char *to, const char *from);
/* Makes what was streamed by this thread seen by the others. */
void tsr_kernel_stream_end(void);

#endif
