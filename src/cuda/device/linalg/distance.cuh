/* distance.cuh: distances between all rows of two matrices. A block makes TILE x TILE of them, each of its SIDE x SIDE
 * threads EACH x EACH, SIDE apart; both matrices come into shared memory DEPTH columns at a time. Differences are added
 * up one after the other, as the host does it.
 *
 * Before this text stand, made by distance.c: the type T of an element, and KIND, one of the numbers below. */
enum { UNEQUAL, ABSOLUTE, SQUARE, LARGEST, POWER };
enum { SIDE = 16, EACH = 2, TILE = SIDE * EACH, DEPTH = 16, THREADS = SIDE * SIDE };

/* nan is no number that is larger than another. */
static inline T with(T sum, T d, T p) {
    if (KIND == UNEQUAL) return sum + (T)(d != 0);
    if (KIND == SQUARE) return sum + d * d;
    if (KIND == ABSOLUTE) return sum + fabs(d);
    if (KIND == LARGEST) return fabs(d) > sum ? fabs(d) : sum;
    return sum + pow(fabs(d), p);
}
static inline T ended(T sum, T p) { return KIND == SQUARE ? sqrt(sum) : KIND == POWER ? pow(sum, 1 / p) : sum; }

/* Rows [first, first + TILE) of a matrix, from column k on, column by column; 0 where there is nothing: it adds nothing
 * to any distance that is kept. A line has a place more than it needs, so that threads meet different banks. */
static inline void bring(T *to, const T *from, int64_t first, int64_t rows, int64_t k, int64_t width) {
    for (int i = (int)thread(); i < TILE * DEPTH; i += THREADS) {
        const int deep = i % DEPTH, down = i / DEPTH;
        const bool inside = first + down < rows && k + deep < width;
        to[deep * (TILE + 1) + down] = inside ? from[(first + down) * width + k + deep] : (T)0;
    }
}

KERNEL_TOGETHER(tsr_distance, DistanceArgs) {
    SHARED(T, left, DEPTH * (TILE + 1));
    SHARED(T, right, DEPTH * (TILE + 1));
    const int x = (int)thread() % SIDE, y = (int)thread() / SIDE;
    const int64_t tiles = a.batch * a.down * a.across;
    const T p = (T)a.p;
    for (int64_t tile = block(); tile < tiles; tile += blocks()) {
        const int64_t batch = tile / (a.down * a.across), within = tile % (a.down * a.across);
        const int64_t row = within / a.across * TILE, column = within % a.across * TILE;
        T sum[EACH][EACH];
        UNROLL for (int i = 0; i < EACH; i++) { UNROLL for (int j = 0; j < EACH; j++) sum[i][j] = 0; }
        for (int64_t k = 0; k < a.width; k += DEPTH) {
            bring(left, at<T>(a.left) + batch * a.rows * a.width, row, a.rows, k, a.width);
            bring(right, at<T>(a.right) + batch * a.others * a.width, column, a.others, k, a.width);
            barrier();
            for (int d = 0; d < DEPTH; d++) {
                UNROLL for (int i = 0; i < EACH; i++) {
                    UNROLL for (int j = 0; j < EACH; j++) sum[i][j] =
                        with(sum[i][j], left[d * (TILE + 1) + y + SIDE * i] - right[d * (TILE + 1) + x + SIDE * j], p);
                }
            }
            barrier();
        }
        for (int i = 0; i < EACH; i++)
            for (int j = 0; j < EACH; j++) {
                const int64_t r = row + y + SIDE * i, c = column + x + SIDE * j;
                if (r < a.rows && c < a.others) at<T>(a.out)[(batch * a.rows + r) * a.others + c] = ended(sum[i][j], p);
            }
    }
}
