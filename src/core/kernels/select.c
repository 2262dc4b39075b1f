/* Inner loops over byte masks. Branch-free where a random mask would mispredict. */
#include "kernels/select.h"

#include <string.h>

int64_t tsr_kernel_count_bytes(const uint8_t *mask, int64_t n) {
    int64_t count = 0;
    for (int64_t i = 0; i < n;) {
        int64_t end = TSR_MIN(n, i + 4096);
        int32_t part = 0;
        for (; i < end; i++) part += mask[i] != 0;
        count += part;
    }
    return count;
}

static void positions_1d(const uint8_t *mask, int64_t n, int64_t start, int64_t *out) {
    int64_t k = 0;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t word;
        memcpy(&word, mask + i, 8);
        if (word == 0) continue;
        for (int b = 0; b < 8; b++) /* stores only where a result follows, so never past the end */
            if (mask[i + b]) out[k++] = start + i + b;
    }
    for (; i < n; i++)
        if (mask[i]) out[k++] = start + i;
}

void tsr_kernel_positions(const uint8_t *mask, int64_t n, int64_t start, int64_t *out, int64_t column, int ndim, const int64_t *sizes) {
    if (ndim == 1) {
        positions_1d(mask, n, start, out);
        return;
    }
    int64_t at[64], rest = start, k = 0, inner = sizes[ndim - 1];
    for (int d = ndim - 1; d >= 0; d--) {
        at[d] = rest % sizes[d];
        rest /= sizes[d];
    }
    for (int64_t i = 0; i < n;) {
        int64_t run = TSR_MIN(inner - at[ndim - 1], n - i);
        for (int64_t j = 0; j < run; j++) {
            if (!mask[i + j]) continue;
            for (int d = 0; d < ndim - 1; d++) out[k + d * column] = at[d];
            out[k + (ndim - 1) * column] = at[ndim - 1] + j;
            k++;
        }
        i += run;
        at[ndim - 1] += run;
        for (int d = ndim - 1; d > 0 && at[d] == sizes[d]; d--) {
            at[d] = 0;
            at[d - 1]++;
        }
    }
}

typedef struct Sixteen { uint64_t a, b; } Sixteen;

#define COMPRESS(T) \
    do { \
        const T *s = src; \
        T *d = dst; \
        for (int64_t i = 0; i < n; i++) \
            if (mask[i]) *d++ = s[i]; \
    } while (0)

void tsr_kernel_compress(const uint8_t *mask, int64_t n, const void *src, void *dst, size_t itemsize) {
    switch (itemsize) {
    case 1: COMPRESS(uint8_t); break;
    case 2: COMPRESS(uint16_t); break;
    case 4: COMPRESS(uint32_t); break;
    case 8: COMPRESS(uint64_t); break;
    default: COMPRESS(Sixteen); break;
    }
}

#define FILL(T) \
    do { \
        T *d = dst, v; \
        memcpy(&v, value, sizeof v); \
        for (int64_t i = 0; i < n; i++) d[i] = mask[i] ? v : d[i]; \
    } while (0)

void tsr_kernel_fill_masked(const uint8_t *mask, int64_t n, void *dst, const void *value, size_t itemsize) {
    switch (itemsize) {
    case 1: FILL(uint8_t); break;
    case 2: FILL(uint16_t); break;
    case 4: FILL(uint32_t); break;
    case 8: FILL(uint64_t); break;
    default: FILL(Sixteen); break;
    }
}
