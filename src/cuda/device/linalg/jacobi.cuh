/* jacobi.cuh: singular values and eigenvalues by rotations of two columns at a time (C. G. J. Jacobi, 1846; one-sided:
 * M. R. Hestenes, 1958), a block a matrix. In a round every column meets one other, so that the pairs are independent;
 * after as many rounds as there are columns, less one, each has met all others: a sweep. Part of matrix.cuh's text. */
enum { JACOBI_MOST = 256, SWEEPS = 40 };

/* The pair number i of a round of n columns, the smaller one first (the circle method); false: it has no second. */
static inline bool pair_of(int n, int round, int i, int &p, int &q) {
    const int even = n + n % 2, turn = even - 1;
    p = i == 0 ? turn : (round + i) % turn;
    q = (round + turn - i) % turn;
    if (p > q) {
        const int other = p;
        p = q;
        q = other;
    }
    return q < n;
}

/* x becomes c x - s y, y becomes s x + c y, for y turned by the conjugate of a unit number e. */
struct Rotation {
    F c, s;
    E e;
};
/* What makes the elements x, g e and y of a Hermitian matrix of 2 by 2 diagonal; g > 0. */
static inline Rotation rotation_of(F x, E off, F g, F y) {
    const F ratio = (y - x) / (2 * g), t = (ratio < 0 ? -1 : 1) / (fabs(ratio) + sqrt(1 + ratio * ratio));
    Rotation r;
    r.c = 1 / sqrt(1 + t * t);
    r.s = r.c * t;
    r.e = off / of(g);
    return r;
}
static inline void rotate(const Rotation &r, E &x, E &y, E turn) {
    const E p = x, q = y * turn;
    x = of(r.c) * p - of(r.s) * q;
    y = of(r.s) * p + of(r.c) * q;
}
static inline F epsilon() { return sizeof(F) == 4 ? (F)1.1920929e-7 : (F)2.220446049250313e-16; }
static inline F sum_of_block(F x, F *sums) {
    x = sum_of_warp(x);
    barrier();
    if (thread() % 32 == 0) sums[thread() / 32] = x;
    barrier();
    F all = 0;
    for (int w = 0; w < WARPS; w++) all += sums[w];
    return all;
}

/* Columns of `a` (m by n) become those of U, each times its value; `tau` are those of V. In order U goes to `x`, V to
 * `pivots`, the values to `info`. Columns that are rounding errors of the matrix are left as they are: they would turn
 * for ever. */
KERNEL_TOGETHER(tsr_svd, MatrixArgs) {
    SHARED(int32_t, turned, 1);
    SHARED(F, sums, WARPS);
    SHARED(F, size, JACOBI_MOST);
    const int t = (int)thread(), warp = t / 32, lane = t % 32, m = a.rows, n = a.columns;
    const F least = epsilon() * sqrt((F)m);
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * m * n, *const v = at<E>(a.tau) + matrix * n * n;
        F whole = 0;
        for (int i = t; i < m * n; i += THREADS) whole += square_of(x[i]);
        const F noise = epsilon() * epsilon() * sum_of_block(whole, sums);
        for (int i = t; a.vectors && i < n * n; i += THREADS) v[i] = of(i % n == i / n);
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            barrier();
            if (t == 0) turned[0] = 0;
            barrier();
            for (int round = 0; round < n + n % 2 - 1; round++) {
                for (int i = warp; i < (n + 1) / 2; i += WARPS) {
                    int p, q;
                    if (!pair_of(n, round, i, p, q)) continue;
                    E *const one = x + (int64_t)p * m, *const two = x + (int64_t)q * m, off = of(0);
                    F alpha = 0, beta = 0;
                    for (int k = lane; k < m; k += 32) {
                        alpha += square_of(one[k]);
                        beta += square_of(two[k]);
                        off = off + conjugated(one[k]) * two[k];
                    }
                    alpha = sum_of_warp(alpha);
                    beta = sum_of_warp(beta);
                    off = sum_of_warp(off);
                    const F g = sqrt(square_of(off));
                    if (!(g > noise && g > least * sqrt(alpha) * sqrt(beta))) continue;
                    const Rotation r = rotation_of(alpha, off, g, beta);
                    for (int k = lane; k < m; k += 32) rotate(r, one[k], two[k], conjugated(r.e));
                    for (int k = lane; a.vectors && k < n; k += 32) rotate(r, v[p * n + k], v[q * n + k], conjugated(r.e));
                    if (lane == 0) turned[0] = 1;
                }
                barrier();
            }
            const int any = turned[0];
            barrier();
            if (any == 0) break;
        }
        for (int j = warp; j < n; j += WARPS) {
            F squares = 0;
            for (int k = lane; k < m; k += 32) squares += square_of(x[(int64_t)j * m + k]);
            squares = sum_of_warp(squares);
            if (lane == 0) size[j] = sqrt(squares);
        }
        barrier();
        for (int j = warp; j < n; j += WARPS) {
            const F own = size[j];
            int place = 0;
            for (int k = 0; k < n; k++) place += size[k] > own || (size[k] == own && k < j);
            if (lane == 0) at<F>(a.info)[matrix * n + place] = own;
            E *const u = at<E>(a.x) + matrix * m * n + (int64_t)place * m;
            E *const to = at<E>(a.pivots) + matrix * n * n + (int64_t)place * n;
            for (int k = lane; a.vectors && k < m; k += 32)
                u[k] = own > 0 ? x[(int64_t)j * m + k] / of(own) : of(0);
            for (int k = lane; a.vectors && k < n; k += 32) to[k] = v[j * n + k];
        }
        barrier();
    }
}

/* `a` is the matrix, of which one triangle counts, `tau` its vectors, `x` where they go in order, `info` the values. */
KERNEL_TOGETHER(tsr_eigh, MatrixArgs) {
    SHARED(int32_t, turned, 1);
    SHARED(F, sums, WARPS);
    SHARED(Rotation, rotations, JACOBI_MOST / 2);
    const int t = (int)thread(), warp = t / 32, lane = t % 32, n = a.rows, pairs = (n + 1) / 2;
    for (int64_t matrix = block(); matrix < a.batch; matrix += blocks()) {
        E *const x = at<E>(a.a) + matrix * n * n, *const v = at<E>(a.tau) + matrix * n * n;
        F squares = 0;
        for (int i = t; i < n * n; i += THREADS) {
            const int row = i % n, column = i / n;
            if (a.vectors) v[i] = of(row == column);
            if (row == column) x[i] = of(real_of(x[i]));
            else if ((row < column) == (a.upper != 0)) x[row * n + column] = conjugated(x[i]);
        }
        barrier();
        for (int i = t; i < n * n; i += THREADS) squares += square_of(x[i]);
        const F least = epsilon() * sqrt(sum_of_block(squares, sums)) / (F)n;
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            barrier();
            if (t == 0) turned[0] = 0;
            barrier();
            for (int round = 0; round < n + n % 2 - 1; round++) {
                for (int i = t; i < pairs; i += THREADS) {
                    Rotation r = {1, 0, of(1)};
                    int p, q;
                    if (pair_of(n, round, i, p, q)) {
                        const E off = x[q * n + p];
                        const F g = sqrt(square_of(off));
                        if (g > least) {
                            r = rotation_of(real_of(x[p * n + p]), off, g, real_of(x[q * n + q]));
                            turned[0] = 1;
                        }
                    }
                    rotations[i] = r;
                }
                barrier();
                for (int i = t; i < pairs * n; i += THREADS) {
                    const Rotation r = rotations[i / n];
                    const int k = i % n;
                    int p, q;
                    if (!pair_of(n, round, i / n, p, q) || r.s == 0) continue;
                    rotate(r, x[p * n + k], x[q * n + k], conjugated(r.e));
                    if (a.vectors) rotate(r, v[p * n + k], v[q * n + k], conjugated(r.e));
                }
                barrier();
                for (int i = t; i < pairs * n; i += THREADS) {
                    const Rotation r = rotations[i / n];
                    const int k = i % n;
                    int p, q;
                    if (!pair_of(n, round, i / n, p, q) || r.s == 0) continue;
                    rotate(r, x[k * n + p], x[k * n + q], r.e);
                    if (k == p) x[k * n + q] = of(0), x[k * n + p] = of(real_of(x[k * n + p]));
                    if (k == q) x[k * n + p] = of(0), x[k * n + q] = of(real_of(x[k * n + q]));
                }
                barrier();
            }
            const int any = turned[0];
            barrier();
            if (any == 0) break;
        }
        for (int j = warp; j < n; j += WARPS) {
            const F own = real_of(x[j * (n + 1)]);
            int place = 0;
            for (int k = 0; k < n; k++) {
                const F other = real_of(x[k * (n + 1)]);
                place += other < own || (other == own && k < j);
            }
            if (lane == 0) at<F>(a.info)[matrix * n + place] = own;
            E *const to = at<E>(a.x) + matrix * n * n + (int64_t)place * n;
            for (int k = lane; a.vectors && k < n; k += 32) to[k] = v[j * n + k];
        }
        barrier();
    }
}
