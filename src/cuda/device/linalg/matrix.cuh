/* matrix.cuh: factorizations of column-major matrices, each by a block whose threads share it: LU with the largest pivot
 * of a column, Cholesky, triangular systems, and QR by reflectors, as LAPACK's unblocked routines have them (E. Anderson
 * et al., LAPACK Users' Guide, 1999). For small matrices and batches; large ones are better off in a library.
 *
 * Before this text stand, made by matrix.c: the type E of an element and F of its real part; complex.cuh. */
enum { THREADS = 256, WARPS = THREADS / 32 };

static inline float conjugated(float x) { return x; }
static inline double conjugated(double x) { return x; }
static inline float real_of(float x) { return x; }
static inline double real_of(double x) { return x; }
template <class T> static inline T real_of(Complex<T> x) { return x.re; }
static inline float imaginary_of(float) { return 0; }
static inline double imaginary_of(double) { return 0; }
template <class T> static inline T imaginary_of(Complex<T> x) { return x.im; }
static inline E of(F x) { return convert<E>(x); }
static inline F square_of(E x) { return real_of(x) * real_of(x) + imaginary_of(x) * imaginary_of(x); }
/* By which pivots are compared, as BLAS does. */
static inline F size_of(E x) { return fabs(real_of(x)) + fabs(imaginary_of(x)); }
static inline bool is_zero(E x) { return real_of(x) == 0 && imaginary_of(x) == 0; }

static inline F sum_of_warp(F x) {
    UNROLL for (int by = 16; by > 0; by /= 2) x += warp_xor(x, by);
    return x;
}
template <class T> static inline Complex<T> sum_of_warp(Complex<T> x) {
    return complex(sum_of_warp(x.re), sum_of_warp(x.im));
}

/* ---- LU ---- */

struct Best {
    F size;
    int32_t row;
};
/* nan is the largest of all, the first one of equals the larger. */
static inline Best larger(Best a, Best b) {
    const bool second = a.size == a.size && (b.size != b.size || b.size > a.size || (b.size == a.size && b.row < a.row));
    return second ? b : a;
}

KERNEL_TOGETHER(tsr_lu, MatrixArgs) {
    SHARED(Best, best, THREADS);
    const int t = (int)thread(), m = a.rows, n = a.columns, most = m < n ? m : n;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * m * n;
        int32_t *const pivots = at<int32_t>(a.pivots) + matrix * most, failed = 0;
        for (int j = 0; j < most; j++) {
            Best own = {-1, m};
            for (int i = j + t; i < m; i += THREADS) {
                const Best here = {size_of(x[(int64_t)j * m + i]), i};
                own = larger(own, here);
            }
            best[t] = own;
            for (int half = THREADS / 2; half > 0; half /= 2) {
                barrier();
                if (t < half) best[t] = larger(best[t], best[t + half]);
            }
            barrier();
            const int row = best[0].row;
            const E pivot = x[(int64_t)j * m + row];
            const bool zero = is_zero(pivot);
            barrier();
            if (zero && failed == 0) failed = j + 1;
            if (t == 0) pivots[j] = row + 1;
            if (row != j)
                for (int k = t; k < n; k += THREADS) {
                    const E upper = x[(int64_t)k * m + j];
                    x[(int64_t)k * m + j] = x[(int64_t)k * m + row];
                    x[(int64_t)k * m + row] = upper;
                }
            barrier();
            if (!zero)
                for (int i = j + 1 + t; i < m; i += THREADS) x[(int64_t)j * m + i] = x[(int64_t)j * m + i] / pivot;
            barrier();
            const int down = m - j - 1, across = n - j - 1;
            for (int i = t; !zero && i < down * across; i += THREADS) {
                const int row = j + 1 + i % down, column = j + 1 + i / down;
                E *const to = &x[(int64_t)column * m + row];
                *to = *to - x[(int64_t)j * m + row] * x[(int64_t)column * m + j];
            }
            barrier();
        }
        if (t == 0) at<int32_t>(a.info)[matrix] = failed;
    }
}

/* ---- Cholesky ---- */

/* The upper triangle is the lower one of the transposed matrix. The other triangle becomes 0. */
KERNEL_TOGETHER(tsr_cholesky, MatrixArgs) {
    const int t = (int)thread(), n = a.rows;
    const int64_t down = a.upper ? n : 1, across = a.upper ? 1 : n;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * n * n;
        int32_t failed = 0;
        for (int j = 0; j < n && failed == 0; j++) {
            const F pivot = real_of(x[j * (down + across)]);
            if (!(pivot > 0)) failed = j + 1;
            barrier();
            if (failed != 0) break;
            const F root = sqrt(pivot);
            if (t == 0) x[j * (down + across)] = of(root);
            for (int i = j + 1 + t; i < n; i += THREADS) x[i * down + j * across] = x[i * down + j * across] / of(root);
            barrier();
            const int rest = n - j - 1;
            for (int i = t; i < rest * rest; i += THREADS) {
                const int row = j + 1 + i % rest, column = j + 1 + i / rest;
                if (row < column) continue;
                E *const to = &x[row * down + column * across];
                *to = *to - x[row * down + j * across] * conjugated(x[column * down + j * across]);
            }
            barrier();
        }
        for (int i = t; i < n * n; i += THREADS)
            if (i % n < i / n) x[i % n * down + i / n * across] = of(0);
        if (t == 0) at<int32_t>(a.info)[matrix] = failed;
        barrier();
    }
}

/* ---- triangular systems ---- */

/* Columns of x that a block solves for together. */
enum { BESIDE = 32 };

/* op(A) X = B in place, or X op(A) = B, which is the transposed one; block_y are groups of columns. */
KERNEL_TOGETHER(tsr_triangular, MatrixArgs) {
    const int t = (int)thread(), n = a.rows, columns = a.right ? a.x_rows : a.x_columns;
    const bool turned = (a.transposed != 0) != (a.right != 0), lower = (a.upper == 0) != turned;
    const int64_t down = a.right ? a.x_rows : 1, across = a.right ? 1 : a.x_rows;
    const int64_t a_down = turned ? n : 1, a_across = turned ? 1 : n;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        const E *const triangle = at<E>(a.a) + matrix * n * n;
        const int32_t *const pivots = at<int32_t>(a.pivots) + matrix * n;
        for (int first = (int)block_y() * BESIDE; first < columns; first += (int)blocks_y() * BESIDE) {
            const int count = columns - first < BESIDE ? columns - first : BESIDE;
            E *const x = at<E>(a.x) + matrix * a.x_rows * a.x_columns + first * across;
            for (int i = 0; a.pivoted == 1 && t < count && i < n; i++) {
                const E here = x[i * down + t * across];
                x[i * down + t * across] = x[(pivots[i] - 1) * down + t * across];
                x[(pivots[i] - 1) * down + t * across] = here;
            }
            barrier();
            for (int step = 0; step < n; step++) {
                const int k = lower ? step : n - 1 - step, rest = n - 1 - step, from = lower ? k + 1 : 0;
                E pivot = triangle[k * (int64_t)(n + 1)];
                if (a.conjugate) pivot = conjugated(pivot);
                if (!a.unit && t < count) x[k * down + t * across] = x[k * down + t * across] / pivot;
                barrier();
                for (int i = t; i < rest * count; i += THREADS) {
                    const int row = from + i % rest, column = i / rest;
                    E factor = triangle[row * a_down + k * a_across];
                    if (a.conjugate) factor = conjugated(factor);
                    E *const to = &x[row * down + column * across];
                    *to = *to - factor * x[k * down + column * across];
                }
                barrier();
            }
            for (int i = n - 1; a.pivoted == 2 && t < count && i >= 0; i--) {
                const E here = x[i * down + t * across];
                x[i * down + t * across] = x[(pivots[i] - 1) * down + t * across];
                x[(pivots[i] - 1) * down + t * across] = here;
            }
            barrier();
        }
    }
}

/* ---- reflectors ---- */

/* y -= factor v (v^H y), by a warp: v begins with a 1 that is not stored, y has `step` elements between its own, which
 * are read as their conjugates where y is a row. */
static inline void reflect(const E *v, int n, E factor, E *y, int64_t step, bool row) {
    const int lane = (int)(thread() % 32);
    E sum = of(0);
    for (int i = lane; i < n; i += 32) {
        const E have = row ? conjugated(y[i * step]) : y[i * step];
        sum = sum + (i == 0 ? have : conjugated(v[i]) * have);
    }
    sum = factor * sum_of_warp(sum);
    for (int i = lane; i < n; i += 32) {
        const E change = i == 0 ? sum : v[i] * sum;
        y[i * step] = y[i * step] - (row ? conjugated(change) : change);
    }
    warp_meet();
}

/* R in the upper triangle, below it the reflectors whose product is Q. */
KERNEL_TOGETHER(tsr_qr, MatrixArgs) {
    SHARED(F, sums, WARPS);
    const int t = (int)thread(), warp = t / 32, m = a.rows, n = a.columns, most = m < n ? m : n;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * m * n, *const tau = at<E>(a.tau) + matrix * most;
        for (int j = 0; j < most; j++) {
            E *const v = x + (int64_t)j * m + j;
            const int length = m - j;
            F rest = 0;
            for (int i = 1 + t; i < length; i += THREADS) rest += square_of(v[i]);
            rest = sum_of_warp(rest);
            if (t % 32 == 0) sums[warp] = rest;
            barrier();
            rest = 0;
            for (int w = 0; w < WARPS; w++) rest += sums[w];
            const E alpha = v[0];
            const bool none = rest == 0 && imaginary_of(alpha) == 0;
            const F size = sqrt(square_of(alpha) + rest), beta = real_of(alpha) < 0 ? size : -size;
            const E factor = none ? of(0) : (of(beta) - alpha) / of(beta), scale = none ? of(1) : alpha - of(beta);
            barrier();
            for (int i = 1 + t; i < length; i += THREADS) v[i] = v[i] / scale;
            if (t == 0) tau[j] = factor;
            if (t == 0 && !none) v[0] = of(beta);
            barrier();
            for (int k = j + 1 + warp; k < n; k += WARPS)
                if (!none) reflect(v, length, conjugated(factor), x + (int64_t)k * m + j, 1, false);
            barrier();
        }
    }
}

/* The first `columns` columns of the product of the reflectors below the diagonal, in their place. */
KERNEL_TOGETHER(tsr_q, MatrixArgs) {
    const int t = (int)thread(), warp = t / 32, m = a.rows, n = a.columns;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * m * n;
        const E *const tau = at<E>(a.tau) + matrix * a.reflectors;
        for (int i = t; i < m * (n - a.reflectors); i += THREADS) {
            const int row = i % m, column = a.reflectors + i / m;
            x[(int64_t)column * m + row] = of(row == column);
        }
        barrier();
        for (int j = a.reflectors - 1; j >= 0; j--) {
            E *const v = x + (int64_t)j * m + j;
            for (int k = j + 1 + warp; k < n; k += WARPS) reflect(v, m - j, tau[j], x + (int64_t)k * m + j, 1, false);
            barrier();
            for (int i = t; i < m; i += THREADS) {
                E *const to = x + (int64_t)j * m + i;
                *to = i < j ? of(0) : i == j ? of(1) - tau[j] : of(0) - tau[j] * *to;
            }
            barrier();
        }
    }
}

/* x times the product of reflectors, or its conjugate transpose, from the left or the right, in place: a warp takes a
 * column of x, or a row, after another. */
KERNEL_TOGETHER(tsr_reflect, MatrixArgs) {
    const int warp = (int)thread() / 32, m = a.rows, n = a.right ? a.x_rows : a.x_columns;
    const int64_t step = a.right ? a.x_rows : 1, apart = a.right ? 1 : a.x_rows;
    const bool adjoint = (a.transposed != 0) != (a.right != 0);
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        const E *const q = at<E>(a.a) + matrix * m * a.columns, *const tau = at<E>(a.tau) + matrix * a.reflectors;
        for (int k = (int)block_y() * WARPS + warp; k < n; k += (int)blocks_y() * WARPS) {
            E *const y = at<E>(a.x) + matrix * a.x_rows * a.x_columns + k * apart;
            for (int i = 0; i < a.reflectors; i++) {
                const int j = adjoint ? i : a.reflectors - 1 - i;
                reflect(q + (int64_t)j * m + j, m - j, adjoint ? conjugated(tau[j]) : tau[j], y + j * step, step, a.right != 0);
            }
        }
    }
}
