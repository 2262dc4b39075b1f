/* matmul.cuh: products of matrices of any dtype and strides: a plain tiled kernel, for what cuBLASLt does not take or
 * where it is not; and one for products with a vector, in which the threads of a block share one sum.
 *
 * Before this text stand, made by matmul.c: the types E of an element in memory and A that products are added up in;
 * CONJ_A and CONJ_B, whether a factor is read as its conjugate; VECTORS, whether this is the kernel of sums. */
static inline float plus_product(float x, float y, float sum) { return __builtin_fmaf(x, y, sum); }
static inline double plus_product(double x, double y, double sum) { return __builtin_fma(x, y, sum); }
static inline uint64_t plus_product(uint64_t x, uint64_t y, uint64_t sum) { return x * y + sum; }
template <class F> static inline Complex<F> plus_product(Complex<F> x, Complex<F> y, Complex<F> sum) {
    const Complex<F> z = {plus_product(-x.im, y.im, plus_product(x.re, y.re, sum.re)),
                          plus_product(x.im, y.re, plus_product(x.re, y.im, sum.im))};
    return z;
}
static inline void add_to(Complex<float> &sum, Complex<float> x) { sum.re += x.re, sum.im += x.im; }
static inline void add_to(Complex<double> &sum, Complex<double> x) { sum.re += x.re, sum.im += x.im; }
template <class T> static inline void add_to(T &sum, T x) { sum += x; }
template <class T> static inline T conjugate(T x) { return x; }
template <class F> static inline Complex<F> conjugate(Complex<F> x) {
    x.im = -x.im;
    return x;
}
static inline A nothing() { return convert<A>((uint8_t)0); }

static inline A a_at(const MatmulArgs &a, int64_t from, int64_t row, int64_t k) {
    const A x = convert<A>(*at<E>(a.a.data, from + row * a.a.row + k * a.a.column));
    return CONJ_A ? conjugate(x) : x;
}
static inline A b_at(const MatmulArgs &a, int64_t from, int64_t k, int64_t column) {
    const A x = convert<A>(*at<E>(a.b.data, from + k * a.b.row + column * a.b.column));
    return CONJ_B ? conjugate(x) : x;
}
static inline void write(const MatmulArgs &a, int64_t batch, int64_t row, int64_t column, A sum) {
    E *to = at<E>(a.out.data, batch * a.out.batch + row * a.out.row + column * a.out.column);
    A result = plus_product(*(const A *)a.alpha, sum, nothing());
    if (a.adds) result = plus_product(*(const A *)a.beta, convert<A>(*to), result);
    *to = convert<E>(result);
}

enum { THREADS = 256 };
#if !VECTORS
/* A block makes TILE x TILE elements, each of its SIDE x SIDE threads EACH x EACH of them, SIDE apart; both factors
 * come into shared memory DEPTH deep at a time. The row of a tile in shared memory has a place more than it needs:
 * threads that walk down a column meet different banks. */
enum { SIDE = 16, EACH = 4, TILE = SIDE * EACH, DEPTH = 16 };

KERNEL_TOGETHER(tsr_matmul, MatmulArgs) {
    SHARED(A, left, DEPTH * (TILE + 1));
    SHARED(A, right, DEPTH * (TILE + 1));
    const unsigned t = thread(), x = t % SIDE, y = t / SIDE;
    const int64_t row = (int64_t)block() / a.across * TILE, column = (int64_t)block() % a.across * TILE;
    for (int64_t batch = block_y(); batch < a.batch; batch += blocks_y()) {
        const int64_t from_a = batch * a.a.batch, from_b = batch * a.b.batch;
        A sum[EACH][EACH];
        UNROLL for (int i = 0; i < EACH; i++) {
            UNROLL for (int j = 0; j < EACH; j++) sum[i][j] = nothing();
        }
        for (int64_t k = 0; k < a.depth; k += DEPTH) {
            for (unsigned i = t; i < TILE * DEPTH; i += THREADS) {
                const unsigned deep = i % DEPTH, down = i / DEPTH, across = i % TILE, deep_b = i / TILE;
                const bool in_a = row + down < a.rows && k + deep < a.depth;
                const bool in_b = column + across < a.columns && k + deep_b < a.depth;
                left[deep * (TILE + 1) + down] = in_a ? a_at(a, from_a, row + down, k + deep) : nothing();
                right[deep_b * (TILE + 1) + across] = in_b ? b_at(a, from_b, k + deep_b, column + across) : nothing();
            }
            barrier();
            for (int deep = 0; deep < DEPTH && k + deep < a.depth; deep++) {
                UNROLL for (int i = 0; i < EACH; i++) {
                    const A of_a = left[deep * (TILE + 1) + y + i * SIDE];
                    UNROLL for (int j = 0; j < EACH; j++)
                        sum[i][j] = plus_product(of_a, right[deep * (TILE + 1) + x + j * SIDE], sum[i][j]);
                }
            }
            barrier();
        }
        UNROLL for (int i = 0; i < EACH; i++) {
            UNROLL for (int j = 0; j < EACH; j++) {
                const int64_t down = row + y + i * SIDE, across = column + x + j * SIDE;
                if (down < a.rows && across < a.columns) write(a, batch, down, across, sum[i][j]);
            }
        }
    }
}
#else
/* A block makes one element after another: its threads take products in turn, and the sums are added in halves. */
KERNEL_TOGETHER(tsr_matmul, MatmulArgs) {
    SHARED(A, sums, THREADS);
    const unsigned t = thread();
    const int64_t elements = a.rows * a.columns;
    for (int64_t batch = block_y(); batch < a.batch; batch += blocks_y()) {
        const int64_t from_a = batch * a.a.batch, from_b = batch * a.b.batch;
        for (int64_t i = block(); i < elements; i += blocks()) {
            const int64_t row = i / a.columns, column = i % a.columns;
            A sum = nothing();
            for (int64_t k = t; k < a.depth; k += THREADS)
                sum = plus_product(a_at(a, from_a, row, k), b_at(a, from_b, k, column), sum);
            sums[t] = sum;
            for (unsigned half = THREADS / 2; half > 0; half /= 2) {
                barrier();
                if (t < half) add_to(sums[t], sums[t + half]);
            }
            if (t == 0) write(a, batch, row, column, sums[0]);
            barrier();
        }
    }
}
#endif
