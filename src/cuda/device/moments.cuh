/* moments.cuh: mean and variance in one pass (B. P. Welford, Technometrics 4, 1962; merged as T. F. Chan, G. H. Golub
 * and R. J. LeVeque have it, 1979), in F. The variance is squares over count. */
template <class F> struct Moments {
    struct Acc {
        F mean, squares, count;
    };
    static inline Acc start() {
        const Acc none = {0, 0, 0};
        return none;
    }
    static inline void take(Acc &a, F x) {
        const F delta = x - a.mean;
        a.count += 1;
        a.mean += delta / a.count;
        a.squares += delta * (x - a.mean);
    }
    static inline void merge(Acc &a, const Acc &b) {
        if (b.count == 0) return;
        if (a.count == 0) {
            a = b;
            return;
        }
        const F delta = b.mean - a.mean, count = a.count + b.count, part = b.count / count;
        a.squares += b.squares + delta * delta * a.count * part;
        a.mean += delta * part;
        a.count = count;
    }
};
