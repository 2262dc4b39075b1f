/* rows.cuh: lines of which first something is found out, and then each element is made: softmax and normalisation. Some
 * threads share a line, and merge what they found in halves; the line is then read once more, from shared memory where
 * it has room there.
 *
 * Before this text stand, made by rows.c: the types E of an element in memory and A that is calculated in; LINE, one of
 * the structs below; STATISTICS, WEIGHT, BIAS of NORM; BLOCK_THREADS; KEPT, for how many elements of a line there is
 * room, or 0: where a block has one line at a time; moments.cuh. */

/* The greatest element, and the sum of the exponentials of what the others are below it (M. Milakov and N. Gimelshein,
 * Online normalizer calculation for softmax, 2018). -inf adds nothing; the sum of what holds inf is nan. */
template <bool log_of> struct Softmax {
    struct Acc {
        A most, sum;
    };
    static inline Acc start() {
        const Acc none = {-(A)INFINITY, 0};
        return none;
    }
    static inline void take(Acc &a, A x) {
        if (x > a.most) {
            a.sum = a.sum * exp(a.most - x) + (1 + (x - x));
            a.most = x;
        } else if (x != -(A)INFINITY) {
            a.sum += exp(x - a.most);
        }
    }
    static inline void merge(Acc &a, const Acc &b) {
        if (b.sum == 0) return;
        if (a.sum == 0) {
            a = b;
            return;
        }
        const A most = a.most > b.most ? a.most : b.most;
        a.sum = a.most == most ? a.sum : a.sum * exp(a.most - most);
        a.sum += b.most == most ? b.sum : b.sum * exp(b.most - most);
        a.most = most;
    }
    static inline void finish(Acc &a, const RowsArgs &, int64_t, bool) {
        if (log_of) a.sum = log(a.sum);
    }
    static inline A make(const Acc &a, const RowsArgs &, A x, int64_t, int64_t) {
        return log_of ? x - a.most - a.sum : exp(x - a.most) / a.sum;
    }
};

struct Norm : Moments<A> {
    static inline void finish(Acc &a, const RowsArgs &args, int64_t line, bool first) {
        a.squares = 1 / sqrt(a.squares / a.count + (A)args.eps);
#if STATISTICS
        if (first) at<A>(args.mean)[line] = a.mean, at<A>(args.rstd)[line] = a.squares;
#endif
    }
    static inline A make(const Acc &a, const RowsArgs &args, A x, int64_t line, int64_t i) {
        A y = (x - a.mean) * a.squares;
        const int64_t k = line % args.groups * (args.n / args.span) + i / args.span;
        if (WEIGHT) y = y * at<A>(args.weight)[k];
        if (BIAS) y = y + at<A>(args.bias)[k];
        return y;
    }
};

typedef LINE Line;

KERNEL_TOGETHER(tsr_rows, RowsArgs) {
    SHARED(Line::Acc, shared, BLOCK_THREADS);
#if KEPT
    SHARED(E, kept, KEPT);
#endif
    const unsigned t = thread(), lane = a.along ? t % a.width : t / a.beside;
    const unsigned own = a.along ? t / a.width : t % a.beside;
    const unsigned first = a.along ? own * a.width : own, apart = a.along ? 1 : a.beside;
    for (int64_t begin = (int64_t)block() * a.beside; begin < a.lines; begin += (int64_t)blocks() * a.beside) {
        const int64_t line = begin + own, base = line / a.inner * a.n * a.inner + line % a.inner;
        Line::Acc acc = Line::start();
        if (line < a.lines) {
            for (int64_t i = lane; i < a.n; i += a.width) {
                const E x = at<E>(a.in)[base + i * a.inner];
#if KEPT
                kept[i] = x; /* which this thread alone wants again */
#endif
                Line::take(acc, convert<A>(x));
            }
        }
        shared[t] = acc;
        for (unsigned half = a.width / 2; half > 0; half /= 2) {
            barrier();
            if (lane < half) Line::merge(shared[t], shared[t + half * apart]);
        }
        barrier();
        if (line < a.lines) {
            acc = shared[first];
            Line::finish(acc, a, line, lane == 0);
            for (int64_t i = lane; i < a.n; i += a.width) {
                const int64_t place = base + i * a.inner;
#if KEPT
                const E x = kept[i];
#else
                const E x = at<E>(a.in)[place];
#endif
                at<E>(a.out)[place] = convert<E>(Line::make(acc, a, convert<A>(x), line, i));
            }
        }
        barrier();
    }
}
