/* reduce.cuh: reductions, in the order in which PyTorch's kernel adds up (aten/src/ATen/native/cuda/Reduce.cuh): a
 * thread keeps four accumulators that take its inputs in turn; those of a block are merged in halves, first along y,
 * then along x, the last 32 from lane to lane; blocks that share a result leave their accumulators in memory, and
 * tsr_reduce_parts merges them the same way.
 *
 * Before this text stand, made by reduce.c: the types E of an element in memory, O0 and O1 of the results; REDUCER, one
 * of the structs below; NREDUCED, NKEPT, the numbers of dimensions; VEC, how many neighbouring inputs of one line a
 * thread reads at once, and OUT, how many neighbouring results it makes; SECOND, whether there is a second result;
 * CHAINED, whether inputs are not read but made by the passes of a chain (chain.cuh): then also PLACES, how many places
 * these read, and RESULT, the value that is reduced. */
typedef decltype(widened(E())) X;

/* What floats are added up in, and what integers are. */
template <class T> struct Sums { typedef uint64_t Type; };
template <> struct Sums<float> { typedef float Type; };
template <> struct Sums<double> { typedef double Type; };
template <class F> struct Sums<Complex<F> > { typedef Complex<F> Type; };
typedef Sums<X>::Type A;
static inline bool is_nan(float x) { return x != x; }
static inline bool is_nan(double x) { return x != x; }
template <class T> static inline bool is_nan(T) { return false; }
template <class F> static inline bool is_nan(Complex<F> x) { return x != x; }
template <class T> static inline bool is_true(T x) { return x != 0; }
template <class T> static inline T number(int n) { return convert<T>((int8_t)n); }

struct Adding {
    typedef A Acc;
    static inline Acc start() { return number<A>(0); }
    static inline void take(Acc &a, X x, int64_t) { a = a + (A)x; }
    static inline void merge(Acc &a, const Acc &b) { a = a + b; }
    static inline O0 first(const Acc &a, const ReduceArgs &) { return convert<O0>(a); }
    static inline O1 second(const Acc &, const ReduceArgs &) { return O1(); }
};
struct AddingNumbers : Adding {
    static inline void take(Acc &a, X x, int64_t) { a = is_nan(x) ? a : a + (A)x; }
};
struct Multiplying : Adding {
    static inline Acc start() { return number<A>(1); }
    static inline void take(Acc &a, X x, int64_t) { a = a * (A)x; }
    static inline void merge(Acc &a, const Acc &b) { a = a * b; }
};
struct Counting : Adding {
    typedef uint64_t Acc;
    static inline Acc start() { return 0; }
    static inline void take(Acc &a, X x, int64_t) { a += is_true(x); }
    static inline void merge(Acc &a, const Acc &b) { a += b; }
    static inline O0 first(const Acc &a, const ReduceArgs &) { return convert<O0>(a); }
};
struct Any : Adding {
    typedef uint32_t Acc;
    static inline Acc start() { return 0; }
    static inline void take(Acc &a, X x, int64_t) { a |= is_true(x); }
    static inline void merge(Acc &a, const Acc &b) { a |= b; }
    static inline O0 first(const Acc &a, const ReduceArgs &) { return convert<O0>(a); }
};
struct All : Any {
    static inline Acc start() { return 1; }
    static inline void take(Acc &a, X x, int64_t) { a &= is_true(x); }
    static inline void merge(Acc &a, const Acc &b) { a &= b; }
};

/* The best by `better`, a nan before all; of equal ones the first. */
struct Found {
    X value;
    int64_t index; /* -1: none yet */
};
struct Greater {
    template <class T> static inline bool better(T x, T y) { return x > y; }
};
struct Less {
    template <class T> static inline bool better(T x, T y) { return x < y; }
};
template <class Order> struct Best {
    typedef Found Acc;
    static inline Acc start() {
        const Acc none = {0, -1};
        return none;
    }
    static inline void take(Acc &a, X x, int64_t index) {
        const bool held = is_nan(a.value), nan = is_nan(x);
        const bool wins = a.index < 0 || (!held && (nan || Order::better(x, a.value)));
        const bool ties = index < a.index && (x == a.value || (held && nan));
        if (wins || ties) {
            a.value = x;
            a.index = index;
        }
    }
    static inline void merge(Acc &a, const Acc &b) {
        if (b.index >= 0) take(a, b.value, b.index);
    }
    static inline O0 first(const Acc &a, const ReduceArgs &) { return convert<O0>(a.value); }
    static inline O1 second(const Acc &a, const ReduceArgs &) { return convert<O1>(a.index); }
};
/* Both; the least comes first. */
template <class> struct Both {
    struct Acc {
        Found least, most;
    };
    static inline Acc start() {
        const Acc none = {{0, -1}, {0, -1}};
        return none;
    }
    static inline void take(Acc &a, X x, int64_t index) {
        Best<Less>::take(a.least, x, index);
        Best<Greater>::take(a.most, x, index);
    }
    static inline void merge(Acc &a, const Acc &b) {
        Best<Less>::merge(a.least, b.least);
        Best<Greater>::merge(a.most, b.most);
    }
    static inline O0 first(const Acc &a, const ReduceArgs &) { return convert<O0>(a.least.value); }
    static inline O1 second(const Acc &a, const ReduceArgs &) { return convert<O1>(a.most.value); }
};
template <class F> struct MeanAndVariance : Moments<F> {
    typedef typename Moments<F>::Acc Acc;
    static inline void take(Acc &a, X x, int64_t) { Moments<F>::take(a, (F)x); }
    static inline O0 first(const Acc &a, const ReduceArgs &args) {
        const F left = a.count - (F)args.correction;
        const F variance = a.count == 0 ? (F)NAN : a.squares / (left > 0 ? left : 0);
        return convert<O0>(args.root ? sqrt(variance) : variance);
    }
    static inline O1 second(const Acc &a, const ReduceArgs &) { return convert<O1>(a.count == 0 ? (F)NAN : a.mean); }
};

typedef REDUCER Reducer;
typedef Reducer::Acc Acc;
static inline Acc from_lane(const Acc &acc, int by) { /* word by word */
    uint32_t words[(sizeof(Acc) + 3) / 4] = {0};
    Acc other;
    memcpy(words, &acc, sizeof acc);
    UNROLL for (unsigned i = 0; i < sizeof words / 4; i++) words[i] = warp_down(words[i], by);
    memcpy(&other, words, sizeof other);
    return other;
}

static inline unsigned x_of(const ReduceArgs &a) { return thread() % a.block_x; }
static inline unsigned y_of(const ReduceArgs &a) { return thread() / a.block_x; }

/* Of the i-th place of `ndim` dimensions. */
template <int ndim> static inline int64_t offset_of(int64_t i, const int64_t *sizes, const int64_t *strides) {
    int64_t offset = 0;
    UNROLL for (int d = 0; d < ndim; d++) {
        const int64_t next = d + 1 < ndim ? i / sizes[d] : 0;
        offset += (i - next * sizes[d]) * strides[d];
        i = next;
    }
    return offset;
}

/* Where inputs come from: the i-th ones of OUT neighbouring results from `output` on, and VEC neighbours of one line. */
#if CHAINED
typedef ChainEndArgs Args;
static inline const ReduceArgs &shape(const Args &a) { return a.reduce; }
typedef int64_t Line; /* the first result */
static inline Line line_of(const Args &, int64_t output) { return output; }
static inline E made_from(const ChainArgs &a, const int64_t *offset) {
#define AT(T, k) (*at<T>(a.data[k], offset[k]))
    READ(AT)
    STEPS
    return same_bits<E>(RESULT);
}
static inline E input(const Args &a, int64_t output, int64_t i) {
    int64_t offset[PLACES];
    UNROLL for (int k = 0; k < PLACES; k++)
        offset[k] = offset_of<NKEPT>(output, a.reduce.kept, a.kept[k]) +
                    offset_of<NREDUCED>(i, a.reduce.reduced, a.reduced[k]);
    return made_from(a.chain, offset);
}
static inline Pack<E, OUT> side_by_side(const Args &a, Line line, int64_t i) {
    Pack<E, OUT> v;
    UNROLL for (int j = 0; j < OUT; j++) v.e[j] = input(a, line + j, i);
    return v;
}
static inline Pack<E, VEC> in_a_row(const Args &a, Line line, int64_t i) {
    Pack<E, VEC> v;
    UNROLL for (int k = 0; k < VEC; k++) v.e[k] = input(a, line, i * VEC + k);
    return v;
}
#else
typedef ReduceArgs Args;
static inline const ReduceArgs &shape(const Args &a) { return a; }
typedef int64_t Line; /* where its first input lies, from the first of all on */
static inline Line line_of(const Args &a, int64_t output) { return offset_of<NKEPT>(output, a.kept, a.in_kept); }
static inline E input(const Args &a, Line line, int64_t i) { return at<E>(a.in, line)[i]; } /* of a line without gaps */
static inline Pack<E, OUT> side_by_side(const Args &a, Line line, int64_t i) {
    return *at<Pack<E, OUT>>(a.in, line + offset_of<NREDUCED>(i, a.reduced, a.in_reduced));
}
static inline Pack<E, VEC> in_a_row(const Args &a, Line line, int64_t i) { return at<Pack<E, VEC>>(a.in, line)[i]; }
#endif

static inline void take_at(const Args &a, Acc *acc, Line line, int64_t i) {
    const Pack<E, OUT> v = side_by_side(a, line, i);
    const int64_t index = offset_of<NREDUCED>(i, shape(a).reduced, shape(a).index);
    UNROLL for (int j = 0; j < OUT; j++) Reducer::take(acc[j], widened(v.e[j]), index);
}

enum { KEPT = 4 }; /* accumulators of a thread */
static inline void take_inputs(const Args &a, Acc kept[KEPT][OUT], Line line, int64_t i) {
    const int64_t end = shape(a).inputs, step = shape(a).step_input;
    for (; i + (KEPT - 1) * step < end; i += KEPT * step) {
        UNROLL for (int k = 0; k < KEPT; k++) take_at(a, kept[k], line, i + k * step);
    }
    UNROLL for (int k = 0; k < KEPT; k++) {
        if (i + k * step < end) take_at(a, kept[k], line, i + k * step);
    }
}

/* Of one line without gaps: VEC neighbours go into as many accumulators. */
#if VEC > 1
static inline void take_packs(const Args &a, Acc kept[KEPT][OUT], Line line, int64_t i) {
    const ReduceArgs &r = shape(a);
    const int64_t end = r.inputs, whole = end - end % VEC;
    for (; i * VEC + VEC <= end; i += r.step_input) {
        const Pack<E, VEC> v = in_a_row(a, line, i);
        UNROLL for (int k = 0; k < VEC; k++) Reducer::take(kept[k][0], widened(v.e[k]), i * VEC + k);
    }
    const bool first = (r.input_y == 0 || y_of(r) == 0) && (r.input_block == 0 || block_y() == 0);
    if (first && whole + x_of(r) < end)
        Reducer::take(kept[0][0], widened(input(a, line, whole + x_of(r))), whole + x_of(r));
}
#endif

/* Of threads whose numbers are `place`, `apart` threads apart, the lower half takes the upper one's, until `least` are
 * left. */
static inline void merge_halves(Acc *acc, Acc *shared, unsigned place, unsigned half, unsigned least, unsigned apart) {
    const unsigned t = thread();
    UNROLL for (int j = 0; j < OUT; j++) shared[t * OUT + j] = acc[j];
    for (; half >= least; half /= 2) {
        barrier();
        if (place < half) {
            UNROLL for (int j = 0; j < OUT; j++) {
                Reducer::merge(acc[j], shared[(t + half * apart) * OUT + j]);
                shared[t * OUT + j] = acc[j];
            }
        }
    }
    barrier();
}

/* The accumulators of a block's threads that share results, into those of the first. */
static inline void merge_block(const ReduceArgs &a, Acc *acc) {
    SHARED(Acc, shared, BLOCK_THREADS * OUT);
    if (a.input_y != 0) merge_halves(acc, shared, y_of(a), a.block_y / 2, 1, a.block_x);
    if (a.input_x == 0) return;
    if (a.block_x > 32) merge_halves(acc, shared, x_of(a), a.block_x / 2, 32, 1);
    for (unsigned by = 1; by < (a.block_x < 32 ? a.block_x : 32); by *= 2) {
        UNROLL for (int j = 0; j < OUT; j++) Reducer::merge(acc[j], from_lane(acc[j], (int)by));
    }
}

static inline int64_t first_output(const ReduceArgs &a) {
    return (x_of(a) * a.output_x + y_of(a) * a.output_y + (int64_t)block() * a.step_output) * OUT;
}

static inline bool writes(const ReduceArgs &a, int64_t output) {
    return output < a.outputs && (a.input_x == 0 || x_of(a) == 0) && (a.input_y == 0 || y_of(a) == 0);
}

static inline void write_results(const ReduceArgs &a, const Acc *acc, int64_t output) {
    UNROLL for (int j = 0; j < OUT; j++) {
#if FIRST
        *at<O0>(a.out[0], offset_of<NKEPT>(output + j, a.kept, a.out_kept[0])) = Reducer::first(acc[j], a);
#endif
#if SECOND
        *at<O1>(a.out[1], offset_of<NKEPT>(output + j, a.kept, a.out_kept[1])) = Reducer::second(acc[j], a);
#endif
    }
}

#if !PARTS
KERNEL_TOGETHER(tsr_reduce, Args) {
    Acc kept[KEPT][OUT];
    const ReduceArgs &r = shape(a);
    const int64_t output = first_output(r);
    const int64_t i = x_of(r) * r.input_x + y_of(r) * r.input_y + block_y() * r.input_block;
    UNROLL for (int k = 0; k < KEPT; k++) {
        UNROLL for (int j = 0; j < OUT; j++) kept[k][j] = Reducer::start();
    }
    if (output < r.outputs) {
        const Line line = line_of(a, output);
#if VEC > 1
        take_packs(a, kept, line, i);
#else
        take_inputs(a, kept, line, i);
#endif
    }
    UNROLL for (int k = 1; k < KEPT; k++) {
        UNROLL for (int j = 0; j < OUT; j++) Reducer::merge(kept[0][j], kept[k][j]);
    }
    merge_block(r, kept[0]);
    if (!writes(r, output)) return;
    if (r.input_block == 0) {
        write_results(r, kept[0], output);
        return;
    }
    UNROLL for (int j = 0; j < OUT; j++) at<Acc>(r.parts)[block_y() * r.outputs + output + j] = kept[0][j];
}
#else
/* The accumulators that the blocks of tsr_reduce left, of a block of the same size. */
KERNEL_TOGETHER(tsr_reduce_parts, ReduceArgs) {
    Acc acc[OUT];
    const int64_t output = first_output(a);
    const bool by_x = a.input_x != 0;
    const int64_t first = by_x ? (int64_t)thread() : (int64_t)y_of(a), step = by_x ? a.block_x * a.block_y : a.block_y;
    UNROLL for (int j = 0; j < OUT; j++) acc[j] = Reducer::start();
    for (int64_t i = first; i < a.ctas && output < a.outputs; i += step) {
        UNROLL for (int j = 0; j < OUT; j++) Reducer::merge(acc[j], at<Acc>(a.parts)[i * a.outputs + output + j]);
    }
    merge_block(a, acc);
    if (writes(a, output)) write_results(a, acc, output);
}
#endif
