/* fft.cuh: Fourier transforms of lines, by passes that each multiply with roots of unity and transform a few numbers
 * (T. G. Stockham, High-speed convolution and correlation, 1966): the order comes out right without a permutation.
 * Short lines go through all passes in a block's memory, long ones pass by pass through the device's. A length with a
 * prime factor above FFT_PRIME is made of three transforms whose length is a power of two (L. I. Bluestein, 1970).
 *
 * Before this text stand, made by fft.c: the type R of a real number, float or double; the walk over lines (walk.cuh),
 * whose Index counts all elements too.
 * Roots are found in double precision and rounded once. */
typedef Complex<R> C;
enum { THREADS = 256, FFT_ROOM = 16384 / sizeof(C) };
enum { C2C, R2C, C2R };

static inline C make(R re, R im) {
    const C z = {re, im};
    return z;
}
static inline C plus(C x, C y) { return make(x.re + y.re, x.im + y.im); }
static inline C minus(C x, C y) { return make(x.re - y.re, x.im - y.im); }
static inline C times(C x, C y) { return make(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re); }
static inline C scaled(C x, R by) { return make(x.re * by, x.im * by); }
static inline C conjugate(C x) { return make(x.re, -x.im); }
/* x times the fourth root of unity that the transform's direction asks for. */
static inline C quarter(C x, bool forward) { return forward ? make(x.im, -x.re) : make(-x.im, x.re); }

/* ---- lines as they lie ---- */

/* Element k of the line: of half a spectrum the conjugate of the one at the other end, real where that is itself. */
static inline C load(const FftArgs &a, uint64_t line, int64_t k) {
    if (a.kind == R2C) return make(*at<R>(line + (uint64_t)(k * a.in_step)), 0);
    if (a.kind == C2C) return *at<C>(line + (uint64_t)(k * a.in_step));
    const bool other = 2 * k > a.n;
    C x = *at<C>(line + (uint64_t)((other ? a.n - k : k) * a.in_step));
    if (k == 0 || 2 * k == a.n) x.im = 0;
    return other ? conjugate(x) : x;
}
static inline void store(const FftArgs &a, uint64_t line, int64_t k, C x) {
    x = scaled(x, (R)a.scale);
    if (a.kind == R2C && 2 * k > a.n) return;
    if (a.kind == R2C && (k == 0 || 2 * k == a.n)) x.im = 0;
    if (a.kind == C2R) *at<R>(line + (uint64_t)(k * a.out_step)) = x.re;
    else *at<C>(line + (uint64_t)(k * a.out_step)) = x;
}
static inline uint64_t line_of(const FftArgs &a, int64_t line, bool out) {
    int64_t offset[2];
    walk_to<NDIM, 2>(a.lines, (Index)line, offset);
    return out ? a.out + (uint64_t)offset[0] : a.in + (uint64_t)offset[1];
}

/* ---- passes ---- */

/* The transform of r numbers; `roots` are so many steps apart in the table. */
template <int r> static inline void butterfly(C *v, const C *table, Index step, bool) {
    C sum[r];
    UNROLL for (int p = 0; p < r; p++) {
        sum[p] = v[0];
        UNROLL for (int q = 1; q < r; q++) sum[p] = plus(sum[p], times(v[q], table[(Index)(p * q % r) * step]));
    }
    UNROLL for (int p = 0; p < r; p++) v[p] = sum[p];
}
template <> inline void butterfly<2>(C *v, const C *, Index, bool) {
    const C x = v[0];
    v[0] = plus(x, v[1]);
    v[1] = minus(x, v[1]);
}
template <> inline void butterfly<4>(C *v, const C *, Index, bool forward) {
    const C a = plus(v[0], v[2]), b = minus(v[0], v[2]), c = plus(v[1], v[3]), d = quarter(minus(v[1], v[3]), forward);
    v[0] = plus(a, c);
    v[1] = plus(b, d);
    v[2] = minus(a, c);
    v[3] = minus(b, d);
}

/* Butterfly number j of a pass over a line of m numbers; `done` is the product of the radices before it. */
template <int r> static inline void step(C *to, const C *from, const FftArgs &a, Index done, Index j) {
    const C *table = at<C>(a.table);
    const Index apart = (Index)a.m / r, k = j % done, turn = apart / done * k;
    C v[r];
    UNROLL for (int q = 0; q < r; q++) v[q] = q == 0 ? from[j] : times(from[j + (Index)q * apart], table[(Index)q * turn]);
    butterfly<r>(v, table, apart, a.forward);
    UNROLL for (int q = 0; q < r; q++) to[(j - k) * r + k + (Index)q * done] = v[q];
}
/* The same for any r, one number after the other. */
static inline void step_any(C *to, const C *from, const FftArgs &a, Index r, Index done, Index j) {
    const C *table = at<C>(a.table);
    const Index apart = (Index)a.m / r, k = j % done, turn = apart / done * k;
    for (Index p = 0; p < r; p++) {
        C sum = from[j];
        for (Index q = 1; q < r; q++) {
            const C x = times(from[j + q * apart], table[q * turn]);
            sum = plus(sum, times(x, table[p * q % r * apart]));
        }
        to[(j - k) * r + k + p * done] = sum;
    }
}
static inline void pass(C *to, const C *from, const FftArgs &a, Index r, Index done, Index j) {
    switch (r) {
    case 2: step<2>(to, from, a, done, j); break;
    case 3: step<3>(to, from, a, done, j); break;
    case 4: step<4>(to, from, a, done, j); break;
    case 5: step<5>(to, from, a, done, j); break;
    case 7: step<7>(to, from, a, done, j); break;
    default: step_any(to, from, a, r, done, j); break;
    }
}

/* Short lines, as many as a block has room for. */
KERNEL_TOGETHER(tsr_fft_lines, FftArgs) {
    SHARED(C, one, FFT_ROOM);
    SHARED(C, other, FFT_ROOM);
    const Index n = (Index)a.n;
    for (int64_t first = (int64_t)block() * a.beside; first < a.batch; first += (int64_t)blocks() * a.beside) {
        const Index count = (Index)(a.batch - first < a.beside ? a.batch - first : a.beside), all = count * n;
        C *from = one, *to = other;
        for (Index i = thread(); i < all; i += THREADS) {
            const Index line = a.across ? i % count : i / n, k = a.across ? i / count : i % n;
            from[line * n + k] = load(a, line_of(a, first + line, false), k);
        }
        barrier();
        Index done = 1;
        for (int p = 0; p < a.passes; p++) {
            const Index r = (Index)a.radix[p], each = n / r;
            for (Index i = thread(); i < count * each; i += THREADS) {
                const Index line = i / each;
                pass(to + line * n, from + line * n, a, r, done, i - line * each);
            }
            barrier();
            C *const was = from;
            from = to;
            to = was;
            done *= r;
        }
        for (Index i = thread(); i < all; i += THREADS) {
            const Index line = a.across ? i % count : i / n, k = a.across ? i / count : i % n;
            store(a, line_of(a, first + line, true), k, from[line * n + k]);
        }
        barrier();
    }
}

/* ---- long lines ---- */

#define EACH(i, count) \
    for (Index i = (Index)block() * threads() + thread(), all_ = (Index)(count); i < all_; \
         i += (Index)threads() * blocks())

KERNEL(tsr_fft_table, FftArgs) {
    EACH(i, a.m) {
        double sine, cosine;
        sincospi(2.0 * (double)i / (double)a.m, &sine, &cosine);
        at<C>(a.table)[i] = make((R)cosine, (R)(a.forward ? -sine : sine));
    }
}
/* exp(-+ pi i k^2 / n), minus where the transform goes forward, and in the line of m at `to` its conjugates around 0. */
KERNEL(tsr_fft_chirp, FftArgs) {
    EACH(i, a.m) {
        const int64_t x = (int64_t)i, k = x < a.n ? x : x > a.m - a.n ? a.m - x : -1;
        C root = make(0, 0);
        if (k >= 0) {
            double sine, cosine;
            sincospi((double)((uint64_t)k * (uint64_t)k % (2 * (uint64_t)a.n)) / (double)a.n, &sine, &cosine);
            root = make((R)cosine, (R)(a.backward ? -sine : sine));
        }
        at<C>(a.to)[i] = root;
        if (x < a.n) at<C>(a.chirp)[i] = conjugate(root);
    }
}
KERNEL(tsr_fft_load, FftArgs) {
    EACH(i, a.batch * a.m) {
        const Index lines = (Index)a.batch, m = (Index)a.m;
        const Index line = a.across ? i % lines : i / m, k = a.across ? i / lines : i % m;
        C x = make(0, 0);
        if (k < a.n) x = load(a, line_of(a, line, false), k);
        if (a.chirp != 0 && k < a.n) x = times(x, at<C>(a.chirp)[k]);
        at<C>(a.to)[line * a.m + k] = x;
    }
}
KERNEL(tsr_fft_pass, FftArgs) {
    const Index r = (Index)a.radix[0], m = (Index)a.m, each = m / r;
    EACH(i, a.batch * each) {
        const Index line = i / each;
        pass(at<C>(a.to) + line * m, at<C>(a.from) + line * m, a, r, (Index)a.done, i - line * each);
    }
}
/* The lines times the one line at `to`, conjugate: a forward transform of that is the inverse one's conjugate. */
KERNEL(tsr_fft_times, FftArgs) {
    EACH(i, a.batch * a.m) {
        C *x = at<C>(a.from) + i;
        *x = conjugate(times(*x, at<C>(a.to)[i % (Index)a.m]));
    }
}
KERNEL(tsr_fft_store, FftArgs) {
    EACH(i, a.batch * a.n) {
        const Index lines = (Index)a.batch, n = (Index)a.n;
        const Index line = a.across ? i % lines : i / n, k = a.across ? i / lines : i % n;
        C x = at<C>(a.from)[line * a.m + k];
        if (a.chirp != 0) x = times(conjugate(x), at<C>(a.chirp)[k]);
        store(a, line_of(a, line, true), k, x);
    }
}
/* What another library has transformed without a scale; `n` are the elements of an output's line. */
KERNEL(tsr_fft_scale, FftArgs) {
    EACH(i, a.batch * a.n) {
        const Index lines = (Index)a.batch, n = (Index)a.n, k = a.across ? i / lines : i % n;
        const uint64_t place = line_of(a, a.across ? i % lines : i / n, true) + (uint64_t)((int64_t)k * a.out_step);
        if (a.kind == C2R) *at<R>(place) *= (R)a.scale;
        else *at<C>(place) = scaled(*at<C>(place), (R)a.scale);
    }
}
