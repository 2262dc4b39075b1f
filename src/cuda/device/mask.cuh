/* mask.cuh: the true elements of a mask: a block takes a chunk of CHUNK bytes, and counts those in it or lists where
 * they are, in order, from where the chunks before it end. */
enum { EACH_THREAD = CHUNK / BLOCK_THREADS };

/* A thread's bytes as bits. */
static inline uint32_t true_ones(const MaskArgs &a, int64_t first) {
    uint32_t bits = 0;
    if (first + EACH_THREAD <= a.n && a.mask % EACH_THREAD == 0) {
        const Pack<uint8_t, EACH_THREAD> v = *at<Pack<uint8_t, EACH_THREAD>>(a.mask + (uint64_t)first);
        UNROLL for (int j = 0; j < EACH_THREAD; j++) bits |= (uint32_t)(v.e[j] != 0) << j;
        return bits;
    }
    for (int j = 0; j < EACH_THREAD; j++)
        if (first + j < a.n && at<uint8_t>(a.mask)[first + j] != 0) bits |= 1u << j;
    return bits;
}

/* Column by column, as many as the mask has dimensions. */
static inline void put_position(const MaskArgs &a, int64_t row, int64_t position) {
    for (int64_t d = 0; d < a.ndim; d++) {
        const int64_t next = position / a.sizes[d];
        at<int64_t>(a.out)[(a.ndim - 1 - d) * a.count + row] = position - next * a.sizes[d];
        position = next;
    }
}

KERNEL_TOGETHER(tsr_mask_counts, MaskArgs) {
    const int64_t first = (int64_t)block() * CHUNK + (int64_t)thread() * EACH_THREAD;
    int64_t all;
    merged_before<BLOCK_THREADS, Counting<int64_t>>((int64_t)bits_set(true_ones(a, first)), &all);
    if (thread() == 0) at<int64_t>(a.out)[block()] = all;
}

KERNEL_TOGETHER(tsr_mask_positions, MaskArgs) {
    const int64_t first = (int64_t)block() * CHUNK + (int64_t)thread() * EACH_THREAD;
    const uint32_t bits = true_ones(a, first);
    int64_t all, row = merged_before<BLOCK_THREADS, Counting<int64_t>>((int64_t)bits_set(bits), &all);
    if (block() > 0) row += at<int64_t>(a.ends)[block() - 1];
    for (int j = 0; j < EACH_THREAD; j++)
        if (bits >> j & 1) put_position(a, row++, first + j);
}
