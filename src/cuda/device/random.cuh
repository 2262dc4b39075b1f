/* random.cuh: random numbers by Philox4x32-10 (core/kernels/random/philox.h), dealt to threads as PyTorch's kernels do, with
 * cuRAND's ways from words to numbers. Before this text stand
 *   M0, M1, M2      types in memory, outputs first; C: what the numbers are drawn in, float or double
 *   OPERANDS        how many of them; and walk.cuh
 *   EACH            elements that four words are for: 4, or 2 where an element takes two of them
 *   RUN             elements in a row that are one thread's; 1: each thread takes EACH of them, as many apart as there
 *                   are threads
 *   PUT             the statement that writes the element at P0, P1 ... from the k-th of EACH numbers of the words w */
#define P0 at<M0>(a.data[0] + offset[0])
#define P1 at<M1>(a.data[1] + offset[1])
#define P2 at<M2>(a.data[2] + offset[2])

typedef struct Words {
    uint32_t of[4];
} Words;

/* (0, 1]: the middle of one of 2^32 or 2^53 parts. */
static inline float uniform(const Words &w, int k, float) {
    return __builtin_fmaf((float)w.of[k], 2.3283064365386963e-10f, 1.1641532182693481e-10f);
}
static inline double uniform(const Words &w, int k, double) {
    const uint64_t bits = w.of[2 * k] ^ (uint64_t)w.of[2 * k + 1] << 21;
    return __builtin_fma((double)bits, 1.1102230246251565e-16, 5.5511151231257827e-17);
}

/* Box and Muller's: a pair of numbers is the sine and the cosine of one angle. */
static inline float normal(const Words &w, int k, float) {
    const uint32_t x = w.of[k & 2], y = w.of[(k & 2) + 1];
    const float u = __builtin_fmaf((float)x, 2.3283064365386963e-10f, 1.1641532182693481e-10f);
    const float v = __builtin_fmaf((float)y, 1.4629180792671596e-9f, 7.3145903963357981e-10f);
    float sine, cosine;
    quick_sincos(v, &sine, &cosine);
    return sqrt(-2.0f * log(u)) * (k & 1 ? cosine : sine);
}
static inline double normal(const Words &w, int k, double) {
    const uint64_t x = w.of[0] ^ (uint64_t)w.of[1] << 21, y = w.of[2] ^ (uint64_t)w.of[3] << 21;
    const double u = __builtin_fma((double)x, 1.1102230246251565e-16, 5.5511151231257827e-17);
    const double v = __builtin_fma((double)y, 2.2204460492503131e-16, 1.1102230246251565e-16);
    double sine, cosine;
    sincospi(v, &sine, &cosine);
    return sqrt(-2.0 * log(u)) * (k & 1 ? cosine : sine);
}

static inline float multiplied(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline double multiplied(double x, double y, double z) { return __builtin_fma(x, y, z); }
static inline float epsilon(float) { return 1.1920928955078125e-7f; }
static inline double epsilon(double) { return 2.220446049250313e-16; }

static inline int64_t word_of(const RandomArgs &a, const Words &w, int k) {
    const uint64_t word = EACH == 4 ? w.of[k] : (uint64_t)w.of[2 * k] << 32 | w.of[2 * k + 1];
    return (int64_t)(a.range != 0 ? word % a.range + (uint64_t)a.base : word);
}

/* The ends are rounded to what is drawn, and the upper one, which is none of the numbers, becomes the lower. */
static inline M0 uniform_of(const RandomArgs &a, const Words &w, int k) {
    const M0 from = convert<M0>((C)a.a), to = convert<M0>((C)a.b);
    const C low = convert<C>(from), high = convert<C>(to), range = convert<C>(convert<M0>((C)(high - low)));
    const M0 value = convert<M0>(multiplied(uniform(w, k, C()), range, low));
    return convert<C>(value) == high ? from : value;
}
static inline C normal_of(const RandomArgs &a, const Words &w, int k) {
    return multiplied(normal(w, k, C()), (C)a.b, (C)a.a);
}
static inline C log_normal_of(const RandomArgs &a, const Words &w, int k) { return quick_exp(normal_of(a, w, k)); }
/* The logarithm of 1, and of what is next to it, is no 0. */
static inline C exponential_of(const RandomArgs &a, const Words &w, int k) {
    const C u = uniform(w, k, C()), near = epsilon(C()) / 2;
    return (C)-1 / (C)a.a * (u >= (C)1 - near ? -near : quick_log(u));
}
static inline float off_ends(float u) {
    const float e = epsilon(0.0f);
    return u > 1 - e ? 1 - e : u < e ? e : u;
}
static inline double off_ends(double u) { return u; }
static inline C cauchy_of(const RandomArgs &a, const Words &w, int k) {
    return multiplied((C)a.b, quick_tan((C)M_PI * (off_ends(uniform(w, k, C())) - (C)0.5)), (C)a.a);
}
static inline C geometric_of(const RandomArgs &a, const Words &w, int k) {
    return ceil(quick_log(uniform(w, k, C())) / quick_log1p(-(C)a.a));
}
static inline bool below(const RandomArgs &a, const Words &w, int k) { return uniform(w, k, C()) < (C)a.a; }
/* Even of doubles, which are compared with floats drawn. */
static inline bool has_chance(const RandomArgs &a, const Words &w, int k, C p) {
    if (!(p >= 0 && p <= 1)) report(a.errors, a.launch, FOUND_CHANCE, 0, 0, 0);
    return uniform(w, k, 0.0f) <= p;
}
static inline bool is_kept(const RandomArgs &a, const Words &w, int k) { return uniform(w, k, 0.0f) < (C)a.a; }
static inline C dropped(const RandomArgs &a, C x, bool kept) { return x * (C)kept * ((C)1 / (C)a.a); }
static inline C sloped(const RandomArgs &a, const Words &w, int k, C x) {
    return x <= 0 ? x * multiplied(uniform(w, k, C()), (C)(a.b - a.a), (C)a.a) : x;
}

KERNEL(tsr_random, RandomArgs) {
    enum { TAKES = RUN == 1 ? EACH : RUN }; /* elements at a time */
    const uint64_t stream = (uint64_t)block() * threads() + thread();
    uint64_t counter = a.offset / 4;
    for (uint64_t first = stream * RUN; first < a.walk.n; first += a.streams * TAKES) {
        for (int n = 0; n < TAKES; n += EACH, counter++) {
            Words w;
            tsr_philox(w.of, counter, stream, a.seed);
            UNROLL for (int k = 0; k < EACH && n + k < TAKES; k++) {
                const uint64_t i = first + (RUN == 1 ? k * a.streams : n + k);
                if (i >= a.walk.n) continue;
                int64_t offset[OPERANDS];
                walk_to<NDIM, OPERANDS>(a.walk, (Index)i, offset);
                PUT
            }
        }
    }
}
