/* random.cuh: random numbers by Philox4x32-10 (core/kernels/random/philox.h), dealt to threads as PyTorch's kernels do.
 * Before this text stand numbers.cuh and
 *   M0, M1, M2      types in memory, outputs first; Real: what the numbers are drawn in, float or double
 *   OPERANDS        how many of them; and walk.cuh
 *   EACH            elements that four words are for: 4, or 2 where an element takes two of them
 *   RUN             elements in a row that are one thread's; 1: each thread takes EACH of them, as many apart as there
 *                   are threads
 *   PUT             the statement that writes the element at P0, P1 ... from the k-th of EACH numbers of the words w */
#define P0 at<M0>(a.data[0], offset[0])
#define P1 at<M1>(a.data[1], offset[1])
#define P2 at<M2>(a.data[2], offset[2])

typedef struct Words {
    uint32_t of[4];
} Words;

static inline float uniform(const Words &w, int k, float) { return uniform_of_word(w.of[k]); }
static inline double uniform(const Words &w, int k, double) { return uniform_of_words(w.of[2 * k], w.of[2 * k + 1]); }

/* The k-th of those that the words are for. */
static inline float normal(const Words &w, int k, float) {
    const Normals pair = normals_of_words(w.of[k & 2], w.of[(k & 2) + 1]);
    return k & 1 ? pair.cosine : pair.sine;
}
static inline double normal(const Words &w, int k, double) {
    const WideNormals pair = normals_of_words(w.of);
    return k & 1 ? pair.cosine : pair.sine;
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
    const M0 from = convert<M0>((Real)a.a), to = convert<M0>((Real)a.b);
    const Real low = convert<Real>(from), high = convert<Real>(to),
               range = convert<Real>(convert<M0>((Real)(high - low)));
    const M0 value = convert<M0>(multiplied(uniform(w, k, Real()), range, low));
    return convert<Real>(value) == high ? from : value;
}
static inline Real normal_of(const RandomArgs &a, const Words &w, int k) {
    return multiplied(normal(w, k, Real()), (Real)a.b, (Real)a.a);
}
static inline Real log_normal_of(const RandomArgs &a, const Words &w, int k) { return quick_exp(normal_of(a, w, k)); }
/* The logarithm of 1, and of what is next to it, is no 0. */
static inline Real exponential_of(const RandomArgs &a, const Words &w, int k) {
    const Real u = uniform(w, k, Real()), near = epsilon(Real()) / 2;
    return (Real)-1 / (Real)a.a * (u >= (Real)1 - near ? -near : quick_log(u));
}
static inline float off_ends(float u) {
    const float e = epsilon(0.0f);
    return u > 1 - e ? 1 - e : u < e ? e : u;
}
static inline double off_ends(double u) { return u; }
static inline Real cauchy_of(const RandomArgs &a, const Words &w, int k) {
    return multiplied((Real)a.b, quick_tan((Real)M_PI * (off_ends(uniform(w, k, Real())) - (Real)0.5)), (Real)a.a);
}
static inline Real geometric_of(const RandomArgs &a, const Words &w, int k) {
    return ceil(quick_log(uniform(w, k, Real())) / quick_log1p(-(Real)a.a));
}
static inline bool below(const RandomArgs &a, const Words &w, int k) { return uniform(w, k, Real()) < (Real)a.a; }
/* Even of doubles, which are compared with floats drawn. */
static inline bool has_chance(const RandomArgs &a, const Words &w, int k, Real p) {
    if (!(p >= 0 && p <= 1)) report(a.errors, a.launch, FOUND_CHANCE, 0, 0, 0);
    return uniform(w, k, 0.0f) <= p;
}
static inline bool is_kept(const RandomArgs &a, const Words &w, int k) { return uniform(w, k, 0.0f) < (Real)a.a; }
static inline Real dropped(const RandomArgs &a, Real x, bool kept) { return x * (Real)kept * ((Real)1 / (Real)a.a); }
static inline Real sloped(const RandomArgs &a, const Words &w, int k, Real x) {
    return x <= 0 ? x * multiplied(uniform(w, k, Real()), (Real)(a.b - a.a), (Real)a.a) : x;
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
