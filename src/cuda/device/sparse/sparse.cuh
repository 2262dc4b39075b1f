/* sparse.cuh: sparse tensors: places as one number each, and products with dense matrices. Before this text stand, made
 * by sparse.c: the types E of an element in memory and A that products are added up in, and FUSED, whether a product is
 * added without being rounded. */

/* A place that is bad becomes 0, so that what reads it next does not report it once more. */
KERNEL(tsr_flat, FlatArgs) {
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t i = (int64_t)block() * threads() + thread(); i < a.n; i += step) {
        int64_t sum = 0;
        bool good = true;
        for (int d = 0; d < a.ndim && good; d++) {
            const int64_t v = *at<int64_t>(a.in + (uint64_t)(d * a.down + i * a.across));
            good = v >= 0 && v < a.sizes[d];
            if (!good) report(a.errors, a.launch, FOUND_INDEX, v, d, a.sizes[d]);
            sum = sum * a.sizes[d] + v;
        }
        at<int64_t>(a.out)[i] = good ? sum : 0;
    }
}

/* The columns of a matrix's elements, as int64; one outside is reported, and becomes 0. */
KERNEL(tsr_places, PlacesArgs) {
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t i = (int64_t)block() * threads() + thread(); i < a.n; i += step) {
        const int64_t v = at<int64_t>(a.in)[i];
        const bool good = v >= 0 && v < a.size;
        if (!good) report(a.errors, a.launch, FOUND_INDEX, v, 1, a.size);
        at<int64_t>(a.out)[i] = good ? v : 0;
    }
}

static inline A plus_product(A x, A y, A sum) {
#if FUSED
    return fma(x, y, sum);
#else
    return sum + x * y;
#endif
}

/* A thread an element of the result, neighbours in one row: they read the same elements of the sparse matrix, and
 * neighbours of the dense one. */
KERNEL(tsr_spmm, SpmmArgs) {
    const int64_t all = a.rows * a.columns, step = (int64_t)threads() * blocks();
    for (int64_t t = (int64_t)block() * threads() + thread(); t < all; t += step) {
        const int64_t row = t / a.columns, column = t - row * a.columns, end = at<int64_t>(a.starts)[row + 1];
        A sum = convert<A>((uint8_t)0);
        for (int64_t i = at<int64_t>(a.starts)[row]; i < end; i++) {
            const int64_t k = at<int64_t>(a.places)[i];
            if (k < 0 || k >= a.depth) report(a.errors, a.launch, FOUND_INDEX, k, 1, a.depth);
            else
                sum = plus_product(convert<A>(at<E>(a.values)[i]), convert<A>(at<E>(a.dense)[k * a.columns + column]),
                                   sum);
        }
        at<E>(a.out)[t] = convert<E>(sum);
    }
}
