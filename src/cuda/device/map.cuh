/* map.cuh: one pointwise pass. Before this text stand, made by map.c: the types M0, M1 ... of the operands in memory and
 *   VEC             elements that a thread takes at once; 0: the operands lie with strides, and walk.cuh stands above
 *   LOAD            statements that read VEC elements of each operand that is no number from element i on
 *   ELEMENT(a, ...) the result of one element, whose operands stand in __VA_ARGS__
 *   OF_PACK(j)      those operands from what LOAD read; OF_MEMORY(i): from memory, element i; OF_STRIDES: at offsets */
#if VEC
KERNEL(tsr_map, MapArgs) {
    const uint64_t step = (uint64_t)threads() * blocks() * VEC;
    for (uint64_t i = ((uint64_t)block() * threads() + thread()) * VEC; i < a.n; i += step) {
        if (i + VEC <= a.n) {
            LOAD
            Pack<M0, VEC> result;
            UNROLL for (int j = 0; j < VEC; j++) result.e[j] = ELEMENT(a, i + j, OF_PACK(j));
            *(Pack<M0, VEC> *)(at<M0>(a.data[0]) + i) = result;
        } else {
            for (uint64_t j = i; j < a.n; j++) at<M0>(a.data[0])[j] = ELEMENT(a, j, OF_MEMORY(j));
        }
    }
}
#else
/* The result of element i; *to: how far from the first one it goes. */
static inline M0 result_of(const MapStrided &a, Index i, int64_t *to) {
    int64_t offset[OPERANDS];
    walk_to<NDIM, OPERANDS>(a, i, offset);
    *to = offset[0];
    return ELEMENT(a.map, i, OF_STRIDES);
}
enum { EACH = 4 }; /* elements of a thread whose reads are on their way together */
KERNEL(tsr_map, MapStrided) {
    const Index n = (Index)a.map.n, step = (Index)threads() * blocks();
    Index i = (Index)block() * threads() + thread();
    for (; i + (EACH - 1) * step < n; i += EACH * step) {
        M0 result[EACH];
        int64_t to[EACH];
        UNROLL for (int k = 0; k < EACH; k++) result[k] = result_of(a, i + k * step, &to[k]);
        UNROLL for (int k = 0; k < EACH; k++) *at<M0>(a.map.data[0], to[k]) = result[k];
    }
    for (; i < n; i += step) {
        int64_t to;
        const M0 result = result_of(a, i, &to);
        *at<M0>(a.map.data[0], to) = result;
    }
}
#endif
