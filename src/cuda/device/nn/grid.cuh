/* grid.cuh: images and volumes read at points: a thread a point, which it samples in one channel after the other: the
 * host's bits. Before this text stand, made by grid.c: the types E of an element in memory and T it is calculated in;
 * NDIM, 2 or 3; MODE, a TsrGridMode; R(x) and FMA(a, b, c), by which half floats are rounded at every step;
 * core/kernels/nn/grid_places.inc for T. */
enum { CORNERS = 1 << NDIM, CUBIC = 1 << 2 * NDIM, IMAGE = NDIM == 2 };

static inline T element(const E *channel, int64_t place) { return place < 0 ? (T)0 : convert<T>(channel[place]); }

/* What a point's value is made of: where the elements lie in a channel, -1 outside, and their weights. */
#if MODE == 1
struct Taps {
    int64_t at;
};
static inline void plan(Taps &t, const TsrGrid *g, const T *p) {
    T k[3] = {0, 0, 0};
    UNROLL for (int d = 0; d < NDIM; d++) k[d] = RINT(p[d]);
    t.at = NAME(place_of)(g, k);
}
static inline T sample(const Taps &t, const E *channel) { return element(channel, t.at); }
#elif MODE == 0
struct Taps {
    int64_t at[CORNERS];
    T weight[CORNERS];
};
static inline void plan(Taps &t, const TsrGrid *g, const T *p) {
    T low[NDIM];
    UNROLL for (int d = 0; d < NDIM; d++) low[d] = FLOOR(p[d]);
    UNROLL for (int corner = 0; corner < CORNERS; corner++) {
        T k[3] = {0, 0, 0}, part[NDIM];
        UNROLL for (int d = 0; d < NDIM; d++) {
            const bool far = corner >> d & 1;
            k[d] = low[d] + (T)far;
            if (IMAGE) part[d] = far ? R(p[d] - low[d]) : R(1 - R(p[d] - low[d]));
            else part[d] = far ? R(p[d] - low[d]) : R(low[d] + 1 - p[d]);
        }
        T weight = part[0];
        UNROLL for (int d = 1; d < NDIM; d++) weight = R(weight * part[d]);
        t.at[corner] = NAME(place_of)(g, k);
        t.weight[corner] = weight;
    }
}
static inline T sample(const Taps &t, const E *channel) {
    T sum = IMAGE ? R(element(channel, t.at[0]) * t.weight[0]) : (T)0;
    UNROLL for (int corner = IMAGE; corner < CORNERS; corner++) {
        const T x = element(channel, t.at[corner]);
        if (IMAGE) sum = FMA(x, t.weight[corner], sum);
        else if (t.at[corner] >= 0) sum = STEP(x, t.weight[corner], sum);
    }
    return sum;
}
#else
struct Taps {
    int64_t at[CUBIC];
    T along[NDIM][4];
};
static inline void plan(Taps &t, const TsrGrid *g, const T *p) {
    T place[3][4] = {{0}, {0}, {0}};
    for (int d = 0; d < NDIM; d++) {
        const T low = FLOOR(p[d]);
        NAME(cubic_weights)(R(p[d] - low), t.along[d], IMAGE);
        for (int k = 0; k < 4; k++)
            place[d][k] = TRUNC(NAME(settle)(g, R(low + (T)(k - 1)), g->sizes[NDIM - 1 - d]));
    }
    for (int k = 0; k < CUBIC; k++) {
        const T at[3] = {place[0][k & 3], place[1][k >> 2 & 3], place[2][k >> 4]};
        t.at[k] = NAME(place_of)(g, at);
    }
}
static inline T cubic_along(const T *v, const T *c, int d) {
    if (IMAGE && d == 1) return FMA(v[3], c[3], FMA(v[2], c[2], FMA(v[1], c[1], R(v[0] * c[0]))));
    const T first = IMAGE ? FMA(v[0], c[0], R(v[1] * c[1])) : R(R(v[0] * c[0]) + R(v[1] * c[1]));
    return STEP(v[3], c[3], STEP(v[2], c[2], first));
}
static inline T sample(const Taps &t, const E *channel) {
    T v[CUBIC];
    for (int k = 0; k < CUBIC; k++) v[k] = element(channel, t.at[k]);
    for (int d = 0, n = CUBIC / 4; d < NDIM; d++, n /= 4)
        for (int k = 0; k < n; k++) v[k] = cubic_along(v + 4 * k, t.along[d], d);
    return v[0];
}
#endif

KERNEL(tsr_grid, GridArgs) {
    const TsrGrid *g = &a.g;
    const int64_t step = (int64_t)threads() * blocks();
    for (int64_t i = (int64_t)block() * threads() + thread(); i < a.n; i += step) {
        const int64_t first = i / g->points * g->channels, point = i % g->points;
        T p[3] = {0, 0, 0};
        Taps taps;
        UNROLL for (int d = 0; d < NDIM; d++) {
            const int64_t size = g->sizes[NDIM - 1 - d];
            p[d] = NAME(place)(g, convert<T>(at<E>(a.grid)[i * NDIM + d]), size);
            if (MODE != 2) p[d] = NAME(settle)(g, p[d], size);
        }
        plan(taps, g, p);
        for (int64_t c = first; c < first + g->channels; c++)
            at<E>(a.out)[c * g->points + point] = convert<E>(sample(taps, at<E>(a.input) + c * g->volume));
    }
}
