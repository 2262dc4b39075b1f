/* shuffle.cuh: elements with equal keys are shuffled among themselves, by the thread of the first one. Before this text
 * stands K, the type of the keys. */
static inline uint32_t word_of_stream(const RandomArgs &a, uint64_t stream, uint64_t n) {
    uint32_t words[4];
    tsr_philox(words, (a.offset + n) / 4, stream, a.seed);
    return words[(a.offset + n) % 4];
}

KERNEL(tsr_shuffle, RandomArgs) {
    const K *keys = at<K>(a.data[1]);
    for (uint64_t i = (uint64_t)block() * threads() + thread(); i + 1 < a.walk.n; i += (uint64_t)threads() * blocks()) {
        if (keys[i] != keys[i + 1] || (i > 0 && keys[i] == keys[i - 1])) continue;
        int64_t *of = at<int64_t>(a.data[0]) + i;
        uint64_t count = 2, drawn = 0;
        while (i + count < a.walk.n && keys[i + count] == keys[i]) count++;
        for (uint32_t k = (uint32_t)count - 1; k > 0; k--, drawn++) {
            const uint32_t other = word_of_stream(a, i, drawn) % (k + 1);
            const int64_t kept = of[k];
            of[k] = of[other];
            of[other] = kept;
        }
    }
}
