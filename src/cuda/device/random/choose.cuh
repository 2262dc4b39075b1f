/* choose.cuh: columns drawn with the weights of a row, with replacement, in the steps of PyTorch's kernels: shares of
 * the row's sum, whose running sums (scan.cuh) are searched for uniform numbers. Before this text stand numbers.cuh,
 * the type E in memory and the type Real that is calculated in. */
enum { BESIDE = 128, ROWS_AT_A_TIME = 65535 }; /* a row's streams are a multiple of BESIDE */

/* Rounded to the dtype, as each step of PyTorch's small floats is. */
static inline Real held(Real x) { return convert<Real>(convert<E>(x)); }

static inline Real warp_sum(Real v) {
    UNROLL for (int by = 16; by > 0; by /= 2) v = held(v + warp_down(v, by));
    return v;
}

/* A block a row; it has a multiple of 32 threads. */
KERNEL_TOGETHER(tsr_shares, ChooseArgs) {
    SHARED(Real, of_warps, 32);
    const unsigned lane = thread() % 32, warp = thread() / 32;
    for (uint64_t row = block(); row < a.rows; row += blocks()) {
        const E *weights = at<E>(a.sums) + row * a.columns;
        Real sum = 0;
        for (uint64_t i = thread(); i < a.columns; i += threads()) {
            const Real weight = convert<Real>(weights[i]);
            if (weight < 0) report(a.errors, a.launch, FOUND_WEIGHT, 0, 0, 0);
            sum = held(sum + weight);
        }
        sum = warp_sum(sum);
        if (lane == 0) of_warps[warp] = sum;
        barrier();
        sum = lane < threads() / 32 ? of_warps[lane] : (Real)0;
        if (warp == 0) sum = warp_sum(sum);
        barrier();
        if (thread() == 0) of_warps[0] = sum;
        barrier();
        sum = of_warps[0];
        for (uint64_t i = thread(); i < a.columns; i += threads()) {
            const Real weight = convert<Real>(weights[i]);
            at<E>(a.shares)[row * a.columns + i] = convert<E>(sum > 0 ? weight / sum : weight);
        }
        barrier();
    }
}

/* The first column whose running sum is u or more, which has a share. */
static inline int64_t column_of(const E *sums, const E *shares, int64_t columns, Real u) {
    int64_t from = 0, to = columns;
    while (from < to) {
        const int64_t middle = from + (to - from) / 2;
        if (convert<Real>(sums[middle]) < u) from = middle + 1;
        else to = middle;
    }
    if (from == columns) from--;
    while (from > 0 && convert<Real>(shares[from]) == 0) from--;
    return from;
}

KERNEL(tsr_choose, ChooseArgs) {
    const uint64_t wide = (a.samples + BESIDE - 1) / BESIDE * BESIDE, step = (uint64_t)blocks() * threads();
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i < a.rows * a.samples; i += step) {
        const uint64_t row = i / a.samples, first = row * a.columns;
        uint32_t words[4];
        tsr_philox(words, a.offset / 4 + row / ROWS_AT_A_TIME, row % ROWS_AT_A_TIME * wide + i % a.samples, a.seed);
        const E *sums = at<E>(a.sums) + first;
        if (!(convert<Real>(sums[a.columns - 1]) > 0)) report(a.errors, a.launch, FOUND_NO_WEIGHT, 0, 0, 0);
        at<int64_t>(a.out)[i] =
            column_of(sums, at<E>(a.shares) + first, (int64_t)a.columns, held((Real)uniform_of_word(words[0])));
    }
}
