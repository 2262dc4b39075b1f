/* resample.cuh: elements that are weighted sums of old ones, whose places and weights are given: the first product is
 * fused with the second one's rounded value, and the sum goes on fused: the host's bits. Before this text stands, made
 * by resample.c, the type E of an element: float or double. */
static inline float fused(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double fused(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* Old element number k of new one `place`, and its weight; 0 where there is none at the place given. */
struct Tap {
    E value, weight;
};
static inline Tap tap_of(const ResampleArgs &a, const E *x, int64_t place, int64_t k) {
    const int64_t from = at<int64_t>(a.places)[k * a.size + place];
    Tap tap = {0, at<E>(a.weights)[k * a.size + place]};
    if (from >= 0 && from < a.volume) tap.value = x[from * a.inner];
    else report(a.errors, a.launch, (int)a.found, from, 0, a.volume);
    return tap;
}

KERNEL(tsr_resample, ResampleArgs) {
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t i = (int64_t)block() * threads() + thread(); i < a.n; i += step) {
        const int64_t line = i / a.inner, place = line % a.size;
        const E *x = at<E>(a.in) + line / a.size * a.volume * a.inner + i % a.inner;
        const Tap first = tap_of(a, x, place, 0), second = tap_of(a, x, place, 1);
        E sum = fused(first.value, first.weight, second.value * second.weight);
        for (int64_t k = 2; k < a.taps; k++) {
            const Tap tap = tap_of(a, x, place, k);
            sum = fused(tap.value, tap.weight, sum);
        }
        at<E>(a.out)[i] = sum;
    }
}
