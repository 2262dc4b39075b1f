/* walk.cuh: from an index to the offsets of its place in several operands. Before this text stand NDIM, the number of
 * dimensions of the first walk, and WIDE, whether indices have 64 bits. A walk is a struct with sizes, magic, shift
 * and strides, as walk_args.h has them. */
#if WIDE
typedef uint64_t Index;
template <class W> static inline Index divided(Index n, const W &w, int d) { return n / w.sizes[d]; }
#else
typedef uint32_t Index;
template <class W> static inline Index divided(Index n, const W &w, int d) {
    return (high_product(n, w.magic[d]) + n) >> w.shift[d];
}
#endif

/* offset[k], in bytes, of the i-th place of `ndim` dimensions in operand k, for the first `operands` of them. */
template <int ndim, int operands, class W> static inline void walk_to(const W &w, Index i, int64_t *offset) {
    UNROLL for (int k = 0; k < operands; k++) offset[k] = 0;
    UNROLL for (int d = 0; d < ndim; d++) {
        const Index next = d + 1 < ndim ? divided(i, w, d) : 0, here = i - next * (Index)w.sizes[d];
        UNROLL for (int k = 0; k < operands; k++) offset[k] += (int64_t)here * w.strides[k][d];
        i = next;
    }
}
