/* map.cuh: one pointwise pass. Before this text stand, made by map.c: the types M0, M1 ... of the operands in memory and
 *   VEC             elements that a thread takes at once; 0: the operands lie with strides, NDIM of them
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
#if WIDE
typedef uint64_t Index;
static inline Index divided(Index n, const MapStrided &a, int d) { return n / a.sizes[d]; }
#else
typedef uint32_t Index;
static inline Index divided(Index n, const MapStrided &a, int d) {
    return (high_product(n, a.magic[d]) + n) >> a.shift[d];
}
#endif
KERNEL(tsr_map, MapStrided) {
    const Index n = (Index)a.map.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[OPERANDS] = {0};
        Index rest = i;
        UNROLL for (int d = 0; d < NDIM; d++) {
            const Index next = d + 1 < NDIM ? divided(rest, a, d) : 0, here = rest - next * (Index)a.sizes[d];
            UNROLL for (int k = 0; k < OPERANDS; k++) offset[k] += (int64_t)here * a.strides[k][d];
            rest = next;
        }
        *at<M0>(a.map.data[0] + offset[0]) = ELEMENT(a.map, i, OF_STRIDES);
    }
}
#endif
