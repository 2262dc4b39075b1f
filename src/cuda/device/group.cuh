/* group.cuh: what threads of a block that work together share: the values of those before them. A group has GROUP
 * threads, 32 or all of the block; S is a struct with start(), what is merged without effect, and merge(a, b), where a
 * comes first. */

/* The value of another lane of the warp, word by word. */
template <class T> static inline T from_lane(const T &v, int lane) {
    uint32_t words[(sizeof(T) + 3) / 4] = {0};
    T other;
    memcpy(words, &v, sizeof v);
    UNROLL for (unsigned i = 0; i < sizeof words / 4; i++) words[i] = warp_read(words[i], lane);
    memcpy(&other, words, sizeof other);
    return other;
}

/* The values of the group's threads before this one, merged; *all: those of all threads. */
template <int GROUP, class S, class T> static inline T merged_before(const T &own, T *all) {
    const int lane = (int)(thread() % 32), warp = (int)(thread() / 32);
    T up_to = own;
    UNROLL for (int by = 1; by < 32; by *= 2) {
        const T other = from_lane(up_to, lane >= by ? lane - by : lane);
        if (lane >= by) up_to = S::merge(other, up_to);
    }
    const T neighbour = from_lane(up_to, lane > 0 ? lane - 1 : 0), before = lane > 0 ? neighbour : S::start();
    if (GROUP == 32) {
        *all = from_lane(up_to, 31);
        return before;
    }
    SHARED(T, of_warps, GROUP / 32);
    T below = S::start(), total = S::start();
    if (lane == 31) of_warps[warp] = up_to;
    barrier();
    UNROLL for (int w = 0; w < GROUP / 32; w++) {
        if (w == warp) below = total;
        total = S::merge(total, of_warps[w]);
    }
    barrier();
    *all = total;
    return S::merge(below, before);
}

/* Sums of whole numbers. */
template <class T> struct Counting {
    static inline T start() { return 0; }
    static inline T merge(T a, T b) { return a + b; }
};
