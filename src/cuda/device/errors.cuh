/* errors.cuh: what a kernel finds wrong (src/cuda/errors.h). The first report of all counts; it is whole when `found` is
 * there. */
enum { FOUND_ZERO_DIVISOR = 1, FOUND_CHANCE, FOUND_RATE, FOUND_WEIGHT, FOUND_NO_WEIGHT, FOUND_INDEX };
typedef struct Record {
    uint64_t launch;
    int64_t found, value, dimension, size;
} Record;

static inline void report(uint64_t errors, uint64_t launch, int found, int64_t value, int64_t dimension, int64_t size) {
    Record *r = at<Record>(errors);
    if (atomic_swap_if(&r->launch, (uint64_t)0, launch) != 0) return;
    r->value = value;
    r->dimension = dimension;
    r->size = size;
    written_so_far();
    r->found = found;
}
