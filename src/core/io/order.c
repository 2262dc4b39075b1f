/* order.c: sorts what readers found in a file, by merging from the bottom up (order.h). */
#include "order.h"

#include <string.h>

#include "core/mem.h"

/* Merges two sorted runs; of equal elements the one of the first run comes first. */
static void merge(const void **to, const void **from, size_t n, size_t middle,
                  int (*compare)(const void *a, const void *b)) {
    for (size_t i = 0, a = 0, b = middle; i < n; i++)
        to[i] = a < middle && (b == n || compare(from[a], from[b]) <= 0) ? from[a++] : from[b++];
}

TsrStatus tsr_sort_pointers(const void **pointers, size_t n, int (*compare)(const void *a, const void *b)) {
    const void **other = tsr_malloc((n + 1) * sizeof *other), **from = pointers, **to = other;
    TsrStatus status = other != NULL ? TSR_OK : tsr_error_no_memory(n * sizeof *other);
    for (size_t run = 1; run < n && status == TSR_OK; run *= 2) { /* merging runs, bottom up */
        for (size_t at = 0; at < n && status == TSR_OK; at += 2 * run) {
            merge(to + at, from + at, TSR_MIN(2 * run, n - at), TSR_MIN(run, n - at), compare);
            status = tsr_interrupt_check();
        }
        const void **swap = from;
        from = to;
        to = swap;
    }
    if (status == TSR_OK && from != pointers) memcpy(pointers, from, n * sizeof *from);
    tsr_free(other);
    return status;
}

TsrStatus tsr_new_sorted(const void ***out, const void *structs, size_t n, size_t size,
                         int (*compare)(const void *a, const void *b)) {
    const void **sorted = tsr_malloc((n + 1) * sizeof *sorted);
    if (sorted == NULL) return tsr_error_no_memory(n * sizeof *sorted);
    for (size_t i = 0; i < n; i++) sorted[i] = (const char *)structs + i * size;
    TsrStatus status = tsr_sort_pointers(sorted, n, compare);
    if (status == TSR_OK) *out = sorted;
    else tsr_free(sorted);
    return status;
}

static const char *name_of(const void *named) { return *(char *const *)named; }
int tsr_by_name(const void *a, const void *b) { return strcmp(name_of(a), name_of(b)); }
