/* counting.c: counts how often each value of a range of integers occurs (counting.h), for bincount and unique. Where
 * the range is small (at most 65536 values, and a quarter of the input's length) the input is cut into parts, each with
 * counters of its own, which are added up at the end; so threads share no counter. */
#include "counting.h"

#include <string.h>

#include "core/mem.h"
#include "core/parallel.h"

/* Counting over parts of the input, each with counters of its own: two sets in turn, so that runs of one value don't
 * wait for their own store. */
typedef struct Counting {
    const int64_t *p;
    int64_t n, part, bins, base; /* base: the least value, which has counter 0 */
    int64_t *counters;           /* 2 * bins a part */
} Counting;

/* TsrRangeFn over parts [begin, end). */
static void count_parts(int64_t begin, int64_t end, void *user) {
    const Counting *c = user;
    for (int64_t k = begin; k < end; k++) {
        int64_t *a = c->counters + k * 2 * c->bins, *b = a + c->bins, i = k * c->part,
                last = TSR_MIN(i + c->part, c->n);
        const int64_t *p = c->p;
        for (; i + 1 < last && !tsr_interrupted_at(i); i += 2) {
            a[p[i] - c->base]++;
            b[p[i + 1] - c->base]++;
        }
        if (i < last) a[p[i] - c->base]++;
    }
}

TsrStatus tsr_count_values(int64_t *counts, const int64_t *p, int64_t n, int64_t bins, int64_t base) {
    int64_t parts = TSR_MAX(1, TSR_MIN(tsr_num_threads(), n >> 15));
    int64_t *counters =
        bins <= 1 << 16 && n > 4 * bins ? tsr_calloc((size_t)(parts * 2 * bins), sizeof *counters) : NULL;
    memset(counts, 0, sizeof *counts * (size_t)bins);
    if (counters == NULL) {
        for (int64_t i = 0; i < n && !tsr_interrupted_at(i); i++) counts[p[i] - base]++;
        return tsr_interrupt_check();
    }
    Counting c = {p, n, (n + parts - 1) / parts, bins, base, counters};
    TsrStatus status = tsr_parallel_for(parts, 1, count_parts, &c);
    for (int64_t k = 0; k < 2 * parts; k++)
        for (int64_t v = 0; v < bins; v++) counts[v] += counters[k * bins + v];
    tsr_free(counters);
    return status;
}
