/* pool.cuh: maxima and means of windows: a thread an element of the output, whose window it walks in row-major order:
 * the host's bits. Before this text stand, made by pool.c: the types E of an element in memory, A that is compared or
 * added up, and S that sums of A are divided in; Index, which counts elements; MAXIMUM; pool_spans.h. */
static inline Span span_of(const PoolArgs &a, int d, int64_t at) {
    return a.adaptive ? shared_span(at, a.out_size[d], a.in_size[d])
                      : even_span(at, a.kernel[d], a.stride[d], a.pad[d], a.dilation[d], a.in_size[d]);
}

/* Where an element of the output lies, innermost first: three places, the channel, the image. */
struct Place {
    int64_t at[3], channel, image;
};
static inline Place place_of(const PoolArgs &a, Index i) {
    Place p;
    const Index channels = (Index)a.channels;
    if (a.last) p.channel = (int64_t)(i % channels), i /= channels;
    UNROLL for (int d = 0; d < 3; d++) {
        const Index size = (Index)a.out_size[d];
        p.at[d] = (int64_t)(i % size);
        i /= size;
    }
    if (!a.last) p.channel = (int64_t)(i % channels), i /= channels;
    p.image = (int64_t)i;
    return p;
}
static inline uint64_t offset_of(const Place &p, int64_t image, int64_t channel, const int64_t *at) {
    return (uint64_t)(p.image * image + p.channel * channel + p.at[0] * at[0] + p.at[1] * at[1] + p.at[2] * at[2]);
}

#if MAXIMUM
static inline bool beats(float x, float best) { return x > best || x != x; }
static inline bool beats(double x, double best) { return x > best || x != x; }
static inline bool beats(int64_t x, int64_t best) { return x > best; }
static inline void start(float &best, const PoolArgs &) { best = -INFINITY; }
static inline void start(double &best, const PoolArgs &) { best = -(double)INFINITY; }
static inline void start(int64_t &best, const PoolArgs &a) { best = a.least; }

static inline void pool(const PoolArgs &a, const Place &p, uint64_t from, const Span *s) {
    int64_t best_at = (s[2].begin * a.in_size[1] + s[1].begin) * a.in_size[0] + s[0].begin;
    A best;
    start(best, a);
    for (int64_t z = s[2].begin; z < s[2].end; z += s[2].step) {
        for (int64_t y = s[1].begin; y < s[1].end; y += s[1].step) {
            const uint64_t row = from + (uint64_t)(z * a.in_at[2] + y * a.in_at[1]);
            for (int64_t x = s[0].begin; x < s[0].end; x += s[0].step) {
                const A value = convert<A>(*at<E>(row + (uint64_t)(x * a.in_at[0])));
                if (beats(value, best)) best = value, best_at = (z * a.in_size[1] + y) * a.in_size[0] + x;
            }
        }
    }
    *at<E>(a.out + offset_of(p, a.out_batch, a.out_channel, a.out_at)) = convert<E>(best);
    if (a.index != 0) *at<int64_t>(a.index + offset_of(p, a.index_batch, a.index_channel, a.index_at)) = best_at;
}
#else
static inline int64_t count_of(const PoolArgs &a, const Place &p, const Span *s) {
    uint64_t padded = 1;
    if (a.divisor != 0) return a.divisor;
    if (a.adaptive || !a.count_pad) return (s[2].end - s[2].begin) * (s[1].end - s[1].begin) * (s[0].end - s[0].begin);
    for (int d = 0; d < 3; d++) padded *= padded_span(p.at[d], a.kernel[d], a.stride[d], a.pad[d], a.in_size[d]);
    return (int64_t)padded;
}
static inline float quotient(float sum, int64_t by) { return sum / (float)by; }
static inline double quotient(double sum, int64_t by) { return sum / (double)by; }
static inline int64_t quotient(int64_t sum, int64_t by) {
    return by == 0 ? 0 : by == -1 ? (int64_t)(0 - (uint64_t)sum) : sum / by;
}
static inline A rounded(A x) { return convert<A>(convert<E>(x)); }

static inline void pool(const PoolArgs &a, const Place &p, uint64_t from, const Span *s) {
    S sum = 0;
    for (int64_t z = s[2].begin; z < s[2].end; z++) {
        for (int64_t y = s[1].begin; y < s[1].end; y++) {
            const uint64_t row = from + (uint64_t)(z * a.in_at[2] + y * a.in_at[1]);
            for (int64_t x = s[0].begin; x < s[0].end; x++) {
                sum += (S)convert<A>(*at<E>(row + (uint64_t)(x * a.in_at[0])));
                if (a.rounds) sum = (S)rounded((A)sum);
            }
        }
    }
    A mean = (A)sum;
    if (a.rounds) {
        for (int d = 2; d >= 0; d--) mean = rounded(quotient(mean, s[d].end - s[d].begin));
    } else if (is_empty(s[0]) || is_empty(s[1]) || is_empty(s[2])) {
        mean = 0;
    } else if (a.adaptive) { /* by one side of the window after another, as on the host */
        for (int d = 2; d >= 0; d--) mean = quotient(mean, s[d].end - s[d].begin);
    } else {
        mean = quotient(mean, count_of(a, p, s));
    }
    *at<E>(a.out + offset_of(p, a.out_batch, a.out_channel, a.out_at)) = convert<E>(mean);
}
#endif

KERNEL(tsr_pool, PoolArgs) {
    const Index step = (Index)threads() * blocks();
    for (Index i = (Index)block() * threads() + thread(); i < a.n; i += step) {
        const Place p = place_of(a, i);
        const Span spans[3] = {span_of(a, 0, p.at[0]), span_of(a, 1, p.at[1]), span_of(a, 2, p.at[2])};
        pool(a, p, a.in + (uint64_t)(p.image * a.in_batch + p.channel * a.in_channel), spans);
    }
}
