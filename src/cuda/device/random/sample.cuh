/* sample.cuh: random numbers of which each takes words from its thread's stream until one is accepted, by the methods
 * and in the precision of PyTorch's kernels. Before this text stand numbers.cuh, what stands before random.cuh, and
 *   LANES, RUN   a thread has RUN elements, one after the other, which lie LANES apart; LANES threads side by side have
 *                RUN times as many elements side by side
 *   LEAST        of gamma numbers
 *   PUT          the statement that writes the element at P0 from the stream w and what is at P1 and P2 */
#define P0 at<M0>(a.data[0], offset[0])
#define P1 at<M1>(a.data[1], offset[1])
#define P2 at<M2>(a.data[2], offset[2])

/* The words of a stream, one by one. They move up, for an index would put them into memory. */
typedef struct Stream {
    uint64_t seed, number, counter;
    uint32_t words[4];
    int left;
} Stream;

static inline uint32_t word_of(Stream &w) {
    if (w.left == 0) {
        tsr_philox(w.words, w.counter++, w.number, w.seed);
        w.left = 4;
    }
    const uint32_t word = w.words[0];
    w.words[0] = w.words[1], w.words[1] = w.words[2], w.words[2] = w.words[3];
    w.left--;
    return word;
}
static inline float uniform(Stream &w) { return uniform_of_word(word_of(w)); }

/* Rounded to the dtype, as each step of PyTorch's small floats is. */
static inline Real held(Real x) { return convert<Real>(convert<M0>(x)); }
static inline float times_plus(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double times_plus(double x, double y, double z) { return __builtin_fma(x, y, z); }

/* ---- Poisson: cuRAND's ---- */

/* A whole number of 32 bits; the nearest one for what has none. */
static inline uint32_t whole(double x) { return x >= 4294967295.0 ? 4294967295u : x > 0 ? (uint32_t)x : 0; }

/* D. E. Knuth, The Art of Computer Programming, volume 2: how many uniform numbers have a product above exp(-rate). */
static inline uint32_t poisson_of_product(Stream &w, float rate) {
    float product = exp(rate) * uniform(w);
    uint32_t k = 0;
    for (; product > 1; k++) product *= uniform(w);
    return k;
}

/* log (k - 1)!, by Stirling's series with the coefficients of J. Hart and others, Computer Approximations (1968),
 * number 5404. */
static inline double log_factorial_before(double k) {
    if (k <= 8) {
        double product = 1;
        for (double i = 2; i < k; i++) product *= i;
        return log(product);
    }
    const double s = 1 / k, t = s * s;
    double sum = times_plus(-0.1633436431e-2, t, 0.83645878922e-3);
    sum = times_plus(sum, t, -0.5951896861197e-3);
    sum = times_plus(sum, t, 0.793650576493454e-3);
    sum = times_plus(sum, t, -0.277777777735865004e-2);
    sum = times_plus(sum, t, 0.833333333333331018375e-1);
    const double half = 0.5 * log(k) * (k - 0.5);
    return (half - k) + (half + times_plus(sum, s, 0.918938533204672));
}

/* An approximation of the distribution with the rate a, whose inverse proposes numbers. */
typedef struct Proposal {
    float a, slope, shift;
} Proposal;
static inline Proposal proposal_of(float a) {
    Proposal p = {a, times_plus(1.43248035075540910f, rough_rsqrt(a - 0.12400979329415655f), 0.00025361074907033f),
                  times_plus(0.21096734870196546f, rough_rsqrt(a - 1.97381164089999420f), 0.94201734077887530f)};
    return p;
}
static inline float part_below(const Proposal &p, float x) {
    const float t = 1 + rough_exp(times_plus(p.slope, p.a - x, -p.shift));
    return rough_reciprocal(t * t);
}
static inline float place_of_part(const Proposal &p, float y) {
    return times_plus(-(p.shift + rough_log(rough_rsqrt(y) - 1)), rough_reciprocal(p.slope), p.a);
}

/* Accepted where it lies below the distribution itself. */
static inline uint32_t poisson_of_proposals(Stream &w, float rate) {
    const Proposal p = proposal_of(rate);
    const float log_rate = rough_log(rate);
    for (;;) {
        const float x = floor(place_of_part(p, uniform(w)));
        const float density = (part_below(p, x + 1) - part_below(p, x)) * 1.3f, height = uniform(w) * density;
        const float wanted = rough_exp(times_plus(x, log_rate, -rate) - (float)log_factorial_before(1 + x));
        if (height < wanted && density >= 1e-20) return whole(x);
    }
}

static inline uint32_t poisson_of(const RandomArgs &a, Stream &w, double rate) {
    if (!(rate >= 0)) {
        report(a.errors, a.launch, FOUND_RATE, 0, 0, 0);
        return 0;
    }
    if (rate < 64) return poisson_of_product(w, (float)rate);
    if (rate <= 4000) return poisson_of_proposals(w, (float)rate);
    uint32_t words[4];
    for (int k = 0; k < 4; k++) words[k] = word_of(w);
    return whole(times_plus(sqrt(rate), normals_of_words(words).sine, rate) + 0.5);
}

/* ---- gamma: G. Marsaglia and W. W. Tsang (2000) ---- */

/* Numbers of a pair, one after the other. */
static inline float normal_of(Stream &w, Normals &pair, bool &second) {
    second = !second;
    if (!second) return pair.cosine;
    const uint32_t x = word_of(w), y = word_of(w);
    pair = normals_of_words(x, y);
    return pair.sine;
}

/* A shape below 1 is drawn as one more and scaled. */
static inline Real gamma_of(Stream &w, Real shape) {
    Normals pair = {0, 0};
    bool second = false;
    Real scale = 1;
    if (shape == 0) return 0;
    if (shape < 1) {
        scale = pow((Real)(1 - (Real)uniform(w)), (Real)1 / shape);
        shape = held(shape + 1);
    }
    const Real d = shape - (Real)(1.0f / 3.0f), c = 1 / sqrt(9 * d);
    for (;;) {
        Real x, y;
        do {
            x = normal_of(w, pair, second);
            y = times_plus(c, x, (Real)1);
        } while (y <= 0);
        const Real v = y * y * y, u = 1 - (Real)uniform(w), square = x * x;
        if (u < times_plus(-(Real)0.0331f * square, square, (Real)1)) return scale * d * v;
        if (log(u) < times_plus((Real)0.5, square, d * (1 - v + log(v)))) return scale * d * v;
    }
}
static inline M0 gamma_at_least(Real x) {
    const M0 drawn = convert<M0>(x), least = convert<M0>((Real)LEAST);
    return convert<Real>(least) > convert<Real>(drawn) ? least : drawn;
}

/* ---- binomial: W. Hormann (1993); PyTorch rounds to the dtype what is held() ---- */

/* [0, 1) from 24 bits of a word. */
static inline Real part_of(Stream &w) { return (Real)((float)(word_of(w) & 0xFFFFFF) * 5.9604644775390625e-8f); }

/* Gaps between successes, for few of them. */
static inline Real binomial_of_gaps(Stream &w, Real count, Real p) {
    const Real log_failure = log1p(-p);
    Real sum = 0, n = 0;
    for (;;) {
        sum += ceil(log(part_of(w)) / log_failure);
        if (!(sum <= count)) return n;
        n = held(n + 1);
    }
}

/* What Stirling's formula leaves of log k!. */
static inline Real stirling_rest(Real k) {
    const double rests[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                            0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                            0.00925546218271273, 0.00833056343336287};
    if (k <= 9) return (Real)rests[k > 0 ? (int)k : 0];
    const Real square = (k + 1) * (k + 1);
    return (Real)((1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1));
}

static inline Real binomial_of_proposals(Stream &w, Real count, Real p) {
    const Real mean = held(count * p), failure = held(1 - p), deviation = sqrt(held(mean * failure));
    const Real b = (Real)times_plus(2.53, (double)deviation, 1.15);
    const Real a = (Real)times_plus(0.01, (double)p, times_plus(0.0248, (double)b, -0.0873));
    const Real center = (Real)(mean + 0.5), inside = (Real)(0.92 - 4.2 / b), odds = held(p / failure),
               height = (Real)((2.83 + 5.1 / b) * deviation), mode = floor(held(held(count + 1) * p));
    for (;;) {
        const Real u = part_of(w) - (Real)0.5, v = part_of(w), edge = (Real)0.5 - fabs(u);
        const Real k = held(floor(times_plus(2 * a / edge + b, u, center)));
        if (edge >= 0.07 && v <= inside) return k;
        if (k < 0 || k > count) continue;
        const Real fails = held(held(count - k) + 1), above = held(k + 1);
        const Real at_mode = log((mode + 1) / (odds * (count - mode + 1)));
        const Real of_fails = held(count + 1) * log((count - mode + 1) / fails);
        double bound = times_plus(mode + 0.5, (double)at_mode, (double)of_fails);
        bound = times_plus(k + 0.5, (double)log(odds * fails / above), bound);
        bound = bound + stirling_rest(mode) + stirling_rest(count - mode) - stirling_rest(k);
        bound -= stirling_rest(held(count - k));
        if (log(v * height / (a / (edge * edge) + b)) <= (Real)bound) return k;
    }
}

static inline Real binomial_of_few(Stream &w, Real count, Real p) {
    return held(count * p) >= 10 ? binomial_of_proposals(w, count, p) : binomial_of_gaps(w, count, p);
}
static inline Real binomial_of(Stream &w, Real count, Real p) {
    if (count <= 0 || p <= 0) return 0;
    if (p >= 1) return count;
    if (p <= 0.5) return binomial_of_few(w, count, p);
    return p > 0.5 ? count - binomial_of_few(w, count, held(1 - p)) : (Real)NAN;
}

KERNEL(tsr_random, RandomArgs) {
    const uint64_t step = (uint64_t)blocks() * threads();
    for (uint64_t stream = (uint64_t)block() * threads() + thread(); stream < a.streams; stream += step) {
        Stream w = {a.seed, stream, a.offset / 4, {0, 0, 0, 0}, 0};
        for (int k = 0; k < RUN; k++) {
            const uint64_t i = (stream / LANES * RUN + (uint64_t)k) * LANES + stream % LANES;
            if (i >= a.walk.n) break;
            int64_t offset[OPERANDS];
            walk_to<NDIM, OPERANDS>(a.walk, (Index)i, offset);
            PUT
        }
    }
}
