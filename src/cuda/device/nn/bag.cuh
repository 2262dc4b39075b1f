/* bag.cuh: sums, means and maxima of rows of a table that bags of positions pick: a thread has a column of a bag, and
 * takes its rows one after the other, as PyTorch's kernel does. Before this text stand, made by bag.c, the type E in
 * memory, the type Real that is calculated in, and FOLD: 0 for sums, 1 for means, 2 for maxima. */

static inline float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* The next row's element joins what was found so far; `taken` rows are in it. */
static inline void take(const BagArgs &a, Real *found, int64_t *from, int64_t taken, int64_t row, int64_t column,
                        int64_t i) {
    const Real x = convert<Real>(*at<E>(a.table + (uint64_t)(row * a.pitch + column * a.step)));
    if (FOLD == 2) {
        if (taken > 0 && !(x > *found)) return;
        *found = x;
        *from = row;
    } else {
        *found = a.factors != 0 ? fused(convert<Real>(at<E>(a.factors)[i]), x, *found) : *found + x;
    }
}

KERNEL(tsr_bag, BagArgs) {
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t k = (int64_t)block() * threads() + thread(); k < a.bags * a.columns; k += step) {
        const int64_t bag = k / a.columns, column = k % a.columns;
        const int64_t first = at<int64_t>(a.starts)[bag], end = at<int64_t>(a.starts)[bag + 1];
        int64_t taken = 0, from = -1;
        Real found = 0;
        for (int64_t i = first > 0 ? first : 0; i < end && i < a.n; i++) {
            const int64_t row = at<int64_t>(a.positions)[i];
            if (row < 0 || row >= a.rows) {
                report(a.errors, a.launch, (int)a.found, row, 0, a.rows);
                continue;
            }
            if (row == a.padding) continue;
            take(a, &found, &from, taken, row, column, i);
            taken++;
        }
        if (FOLD == 1 && taken > 0) found = found / (Real)taken;
        at<E>(a.out)[k] = convert<E>(found);
        if (FOLD == 2) at<int64_t>(a.from)[k] = from;
    }
}
