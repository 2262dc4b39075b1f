/* triangle.cuh: matrices whose other triangle becomes 0; Item is the type of an element that is only moved. */
KERNEL(tsr_triangle, TriangleArgs) {
    const uint64_t step = (uint64_t)threads() * blocks();
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i < a.n; i += step) {
        const uint64_t above = i / (uint64_t)a.columns;
        const int64_t column = (int64_t)(i - above * (uint64_t)a.columns);
        const int64_t edge = (int64_t)(above % (uint64_t)a.rows) + a.diagonal;
        if (a.upper ? column < edge : column > edge) at<Item>(a.data)[i] = Item();
    }
}
