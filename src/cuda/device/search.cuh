/* search.cuh: where values go in sorted lines: a thread a value, by halves. Before this text stand T, the type of bounds
 * and values, and Place, that of the results. The comparisons are the host's, by which nan goes after all. */
KERNEL(tsr_search, SearchArgs) {
    const uint64_t step = (uint64_t)threads() * blocks();
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i < a.n; i += step) {
        const uint64_t line = a.each != 0 ? i / a.each * a.size : 0;
        const T v = at<T>(a.values)[i];
        uint64_t low = 0, high = a.size;
        while (low < high) {
            const uint64_t middle = low + (high - low) / 2;
            const uint64_t place = a.sorter != 0 ? (uint64_t)at<int64_t>(a.sorter)[line + middle] : middle;
            const T x = at<T>(a.bounds)[line + (place < a.size ? place : 0)];
            if (a.right ? !(x > v) : !(x >= v)) low = middle + 1;
            else high = middle;
        }
        at<Place>(a.out)[i] = (Place)low;
    }
}
