/* select.c: the functions of select.h, each of which calls the best table of loops for this CPU (select.simd.c).
 * Positions in several dimensions are counted here once for all: the last dimension as a run, the others by carrying.
 */
#include "select_table.h"

static const TsrSelectTable *table(void) { return TSR_FOR_ISA(tsr_select_table); }

int64_t tsr_kernel_count_bytes(const uint8_t *mask, int64_t n) { return table()->count_bytes(mask, n); }

void tsr_kernel_compress(const uint8_t *mask, int64_t n, int64_t total, const void *src, void *dst, size_t itemsize) {
    (void)n;
    table()->compress(mask, total, src, dst, itemsize);
}

void tsr_kernel_fill_masked(const uint8_t *mask, int64_t n, void *dst, const void *value, size_t itemsize) {
    table()->fill_masked(mask, n, dst, value, itemsize);
}
bool tsr_kernel_in_range(const int64_t *index, int64_t n, int64_t size) { return table()->in_range(index, n, size); }
void tsr_kernel_pick(void *dst, const void *src, const int64_t *index, int64_t n, size_t itemsize) {
    table()->pick(dst, src, index, n, itemsize);
}
void tsr_kernel_range(const int64_t *p, int64_t n, int64_t *least, int64_t *most) { table()->range(p, n, least, most); }

/* The positions of the set bytes of a mask of shape `sizes`, from element `start` on: position i of dimension d goes to
 * out[i + d * column]. */
static void positions_nd(const uint8_t *mask, int64_t n, int64_t start, int64_t *out, int64_t column, int ndim,
                         const int64_t *sizes) {
    int64_t at[TSR_KERNEL_DIMS], rest = start, k = 0, inner = sizes[ndim - 1];
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

void tsr_kernel_positions(const uint8_t *mask, int64_t n, int64_t total, int64_t start, int64_t *out, int64_t column,
                          int ndim, const int64_t *sizes) {
    if (ndim == 1) table()->positions(mask, total, start, out);
    else positions_nd(mask, n, start, out, column, ndim, sizes);
}
