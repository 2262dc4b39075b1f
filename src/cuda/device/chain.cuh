/* chain.cuh: several pointwise passes over the same elements. What one makes and another uses stays in registers, in the
 * type that it has in memory; so the results have the bits of passes that run one after the other.
 *
 * Before this text stand, made by chain.c: the passes, each in a namespace of its own, and
 *   VEC                 elements that a thread takes at once; 0: the places lie with strides, and walk.cuh stands above
 *   PLACES              how many places in memory are read or written
 *   READ_PACKS(i)       packs of what is read, from element i on; PACKS: those for what is written
 *   READ_PACKED(j), WRITE_PACKED(j)   single elements from these packs, and into them
 *   READ(at), WRITE(at) the same from and to memory, where at(T, k) is place k
 *   STEPS               the passes, one after the other
 *   WRITE_PACKS(i)      the packs to memory */
#if VEC
KERNEL(tsr_chain, ChainArgs) {
#define AT(T, k) at<T>(a.data[k])[e]
    const uint64_t step = (uint64_t)threads() * blocks() * VEC;
    for (uint64_t i = ((uint64_t)block() * threads() + thread()) * VEC; i < a.n; i += step) {
        if (i + VEC <= a.n) {
            READ_PACKS(i)
            PACKS
            UNROLL for (int j = 0; j < VEC; j++) {
                READ_PACKED(j)
                STEPS
                WRITE_PACKED(j)
            }
            WRITE_PACKS(i)
        } else {
            for (uint64_t e = i; e < a.n; e++) {
                READ(AT)
                STEPS
                WRITE(AT)
            }
        }
    }
}
#else
static inline void one_element(const ChainArgs &a, const int64_t *offset) {
#define AT(T, k) (*at<T>(a.data[k], offset[k]))
    READ(AT)
    STEPS
    WRITE(AT)
}
KERNEL(tsr_chain, ChainStrided) {
    const Index n = (Index)a.chain.n, step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < n; i += step) {
        int64_t offset[PLACES];
        walk_to<NDIM, PLACES>(a, i, offset);
        one_element(a.chain, offset);
    }
}
#endif
