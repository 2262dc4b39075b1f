/* grid.cuh: images and volumes read at points: a thread a point, which it samples in one channel after the other: the
 * host's bits. Before this text stand, made by grid.c: the types E of an element in memory and T it is calculated in;
 * NDIM, 2 or 3; MODE, a TsrGridMode; R(x) and FMA(a, b, c), by which half floats are rounded at every step;
 * core/kernels/nn/grid_places.inc for T. */
enum { CORNERS = 1 << NDIM, IMAGE = NDIM == 2 };

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
/* Along each dimension how far its four places are from the channel's begin, -1 outside: all of them together would be
 * 4 to the power of NDIM, more than a thread has registers for. */
struct Taps {
    int64_t step[NDIM][4];
    T along[NDIM][4];
};
static inline void plan(Taps &t, const TsrGrid *g, const T *p) {
    int64_t unit = 1;
    UNROLL for (int d = 0; d < NDIM; d++) {
        const int64_t size = g->sizes[NDIM - 1 - d];
        const T low = FLOOR(p[d]);
        NAME(cubic_weights)(R(p[d] - low), t.along[d], IMAGE);
        UNROLL for (int k = 0; k < 4; k++) {
            const T place = TRUNC(NAME(settle)(g, R(low + (T)(k - 1)), size));
            t.step[d][k] = place >= 0 && place < (T)size ? (int64_t)place * unit : -1;
        }
        unit *= size;
    }
}
static inline T cubic_along(const T *v, const T *c, int d) {
    if (IMAGE && d == 1) return FMA(v[3], c[3], FMA(v[2], c[2], FMA(v[1], c[1], R(v[0] * c[0]))));
    const T first = IMAGE ? FMA(v[0], c[0], R(v[1] * c[1])) : R(R(v[0] * c[0]) + R(v[1] * c[1]));
    return STEP(v[3], c[3], STEP(v[2], c[2], first));
}
/* The sum over dimension D and those within, at a place of the others. */
template <int D> struct Sum {
    static inline T of(const Taps &t, const E *channel, int64_t place) {
        T v[4];
        UNROLL for (int k = 0; k < 4; k++) {
            const int64_t step = t.step[D][k];
            v[k] = Sum<D - 1>::of(t, channel, place < 0 || step < 0 ? -1 : place + step);
        }
        return cubic_along(v, t.along[D], D);
    }
};
template <> struct Sum<-1> {
    static inline T of(const Taps &, const E *channel, int64_t place) { return element(channel, place); }
};
#if NDIM == 2
static inline T sample(const Taps &t, const E *channel) { return Sum<1>::of(t, channel, 0); }
#else
/* A plane at a time: the 64 elements of all four at once would take all registers. */
static inline T sample(const Taps &t, const E *channel) {
    T sum = 0;
    ROLLED for (int k = 0; k < 4; k++) {
        const T plane = Sum<1>::of(t, channel, t.step[2][k]);
        sum = k == 0 ? R(plane * t.along[2][k]) : STEP(plane, t.along[2][k], sum);
    }
    return sum;
}
#endif
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
