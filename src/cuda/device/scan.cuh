/* scan.cuh: running sums, products and extremes of lines. Before this text stand, made by scan.c: the type E of an
 * element; SCANNER, one of the structs below; GROUP, how many threads share a line (group.cuh), and VEC, whether they
 * read packs of it; WHAT the kernel leaves.
 *
 * A long line is cut into chunks: TOTALS leaves what each comes to, tsr_scan_starts makes of these what comes before
 * each, and EACH begins there. The chunks follow from the sizes alone, and so do the digits. */
enum { EACH = 0, FROM_STARTS = 1, TOTALS = 2, ITEMS = 4 };
typedef decltype(widened(E())) X;

template <class T> struct Sums { typedef uint64_t Type; };
template <> struct Sums<float> { typedef float Type; };
template <> struct Sums<double> { typedef double Type; };
template <class F> struct Sums<Complex<F>> { typedef Complex<F> Type; };
typedef Sums<X>::Type A;
static inline bool is_nan(float x) { return x != x; }
static inline bool is_nan(double x) { return x != x; }
template <class T> static inline bool is_nan(T) { return false; }
template <class F> static inline bool is_nan(Complex<F> x) { return is_nan(x.re) || is_nan(x.im); }
template <class T> static inline T one() { return 1; }
template <> inline TsrC64 one<TsrC64>() { return complex(1.0f, 0.0f); }
template <> inline TsrC128 one<TsrC128>() { return complex(1.0, 0.0); }

struct Sum {
    typedef A Acc;
    static inline Acc start() { return Acc(); }
    static inline Acc of(X x, int64_t) { return (A)x; }
    static inline Acc merge(Acc a, Acc b) { return a + b; }
    static inline E value(Acc a) { return convert<E>(a); }
};
struct Product : Sum {
    static inline Acc start() { return one<Acc>(); }
    static inline Acc merge(Acc a, Acc b) { return a * b; }
};
/* log(exp(a) + exp(b)), of floats. */
template <class F> struct LogSum {
    typedef F Acc;
    static inline F start() { return (F)-INFINITY; }
    static inline F of(X x, int64_t) { return (F)x; }
    static inline F merge(F a, F b) {
        const F low = is_nan(b) || b < a ? b : a, high = is_nan(b) || b > a ? b : a;
        return low != high || low - low == 0 ? log1p(exp(low - high)) + high : a;
    }
    static inline E value(F a) { return convert<E>(a); }
};
template <class F> struct LogSum<Complex<F>> {
    typedef Complex<F> Acc;
    static inline Acc start() { return complex((F)-INFINITY, (F)0); }
    static inline Acc of(X x, int64_t) { return x; }
    static APART Acc merge(Acc a, Acc b) { return logaddexp(b, a); }
    static inline E value(Acc a) { return a; }
};
/* The best so far, a nan before all; of equal ones the last. */
struct Found {
    X value;
    int64_t index; /* -1: none yet */
};
struct AtLeast {
    template <class T> static inline bool wins(T x, T best) { return x >= best; }
};
struct AtMost {
    template <class T> static inline bool wins(T x, T best) { return x <= best; }
};
template <class Order> struct Extreme {
    typedef Found Acc;
    static inline Acc start() {
        const Acc none = {0, -1};
        return none;
    }
    static inline Acc of(X x, int64_t i) {
        const Acc a = {x, i};
        return a;
    }
    static inline Acc merge(const Acc &a, const Acc &b) {
        const bool stays =
            b.index < 0 || (a.index >= 0 && !is_nan(b.value) && (is_nan(a.value) || !Order::wins(b.value, a.value)));
        return stays ? a : b;
    }
    static inline E value(const Acc &a) { return convert<E>(a.value); }
};
typedef SCANNER S;
typedef S::Acc Acc;
static inline void put_place(const ScanArgs &a, int64_t at_element, const Found &f) {
    at<int64_t>(a.places)[at_element] = f.index;
}
template <class T> static inline void put_place(const ScanArgs &, int64_t, const T &) {}

static inline void put(const ScanArgs &a, int64_t at_element, const Acc &acc) {
    at<E>(a.out)[at_element] = S::value(acc);
    put_place(a, at_element, acc);
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A thread takes ITEMS neighbours at once, its group the next ones after that. */
static inline void take_items(const ScanArgs &a, int64_t base, int64_t i, int64_t end, Acc *items) {
#if VEC
    if (i + ITEMS <= end) {
        const Pack<E, ITEMS> v = *(const Pack<E, ITEMS> *)(at<E>(a.in) + base + i);
        UNROLL for (int j = 0; j < ITEMS; j++) items[j] = S::of(widened(v.e[j]), i + j);
        return;
    }
#endif
    UNROLL for (int j = 0; j < ITEMS; j++) items[j] =
        i + j < end ? S::of(widened(at<E>(a.in)[base + i + j]), i + j) : S::start();
}

KERNEL_TOGETHER(tsr_scan_rows, ScanArgs) {
    const int64_t unit = (int64_t)block() * (BLOCK_THREADS / GROUP) + thread() / GROUP, line = unit / a.chunks;
    if (line >= a.lines) return; /* whole warps, if there are several groups */
    const int64_t begin = (unit - line * a.chunks) * a.length, end = least(begin + a.length, a.size);
    Acc carried = WHAT == FROM_STARTS ? at<Acc>(a.starts)[unit] : S::start();
    for (int64_t first = begin; first < end; first += GROUP * ITEMS) {
        const int64_t i = first + (int64_t)(thread() % GROUP) * ITEMS;
        Acc items[ITEMS], own = S::start(), all;
        take_items(a, line * a.size, i, end, items);
        UNROLL for (int j = 0; j < ITEMS; j++) own = S::merge(own, items[j]);
        Acc running = S::merge(carried, merged_before<GROUP, S>(own, &all));
        UNROLL for (int j = 0; j < ITEMS && WHAT != TOTALS; j++) {
            running = S::merge(running, items[j]);
            if (i + j < end) put(a, line * a.size + i + j, running);
        }
        carried = S::merge(carried, all);
    }
    if (WHAT == TOTALS && thread() % GROUP == 0) at<Acc>(a.starts)[unit] = carried;
}

/* Lines that lie across memory: a thread a chunk, neighbours side by side. */
KERNEL(tsr_scan_columns, ScanArgs) {
    const int64_t units = a.lines * a.chunks, step = (int64_t)threads() * blocks();
    for (int64_t k = (int64_t)block() * threads() + thread(); k < units; k += step) {
        const int64_t chunk = k / a.lines, line = k - chunk * a.lines, outer = line / a.inner;
        const int64_t base = outer * (a.size - 1) * a.inner + line, unit = line * a.chunks + chunk;
        const int64_t begin = chunk * a.length, end = least(begin + a.length, a.size);
        Acc running = WHAT == FROM_STARTS ? at<Acc>(a.starts)[unit] : S::start();
        for (int64_t i = begin; i < end; i += ITEMS) {
            Acc items[ITEMS];
            UNROLL for (int j = 0; j < ITEMS; j++) items[j] =
                i + j < end ? S::of(widened(at<E>(a.in)[base + (i + j) * a.inner]), i + j) : S::start();
            UNROLL for (int j = 0; j < ITEMS; j++) {
                running = S::merge(running, items[j]);
                if (WHAT != TOTALS && i + j < end) put(a, base + (i + j) * a.inner, running);
            }
        }
        if (WHAT == TOTALS) at<Acc>(a.starts)[unit] = running;
    }
}

/* A block a line: the totals of its chunks become what comes before each. */
KERNEL_TOGETHER(tsr_scan_starts, ScanArgs) {
    Acc *const starts = at<Acc>(a.starts) + (int64_t)block() * a.chunks;
    Acc carried = S::start();
    for (int64_t first = 0; first < a.chunks; first += BLOCK_THREADS) {
        const int64_t i = first + thread();
        Acc all;
        const Acc own = i < a.chunks ? starts[i] : S::start(), before = merged_before<BLOCK_THREADS, S>(own, &all);
        if (i < a.chunks) starts[i] = S::merge(carried, before);
        carried = S::merge(carried, all);
    }
}
