/* conv.cuh: convolutions as products of matrices whose second factor is never made. A row is a channel of the output, a
 * column one of its places in one image of the batch; what they share, the depth, are the channels of the input in
 * their order, and of each channel the places of the kernel in row-major order. A result is the chain of fused products
 * and sums over the depth, one after the other from 0 on, and then the bias: the same for both kernels below.
 *
 * Before this text stand, made by conv.c: the types E of the input and the weight, O of the output, A that products are
 * added up in, B of the bias, and Index that counts columns; TRANSPOSED, whether element i of the input is added to the
 * output's i * stride - pad + k * dilation rather than made of those; DIRECT, whether each thread makes an element. */
static inline float plus_product(float x, float y, float sum) { return __builtin_fmaf(x, y, sum); }
static inline double plus_product(double x, double y, double sum) { return __builtin_fma(x, y, sum); }
static inline uint64_t plus_product(uint64_t x, uint64_t y, uint64_t sum) { return x * y + sum; }

enum { THREADS = 256 };

/* Where a column begins: the first byte of its image's first channel in this group, and its own coordinates. */
struct Column {
    uint64_t in, out; /* in: 0 beyond the last column */
    int32_t at[3];
};
static inline Column column_of(const ConvArgs &a, Index i, unsigned group) {
    Column c = {0, 0, {0, 0, 0}};
    if (i >= a.columns) return c;
    c.out = a.out + (uint64_t)((int64_t)group * a.rows * a.out_channel);
    UNROLL for (int d = 0; d < 3; d++) {
        const Index above = i / (Index)a.out_size[d];
        const int32_t here = (int32_t)(i - above * (Index)a.out_size[d]);
        c.out += (uint64_t)(here * a.out_at[d]);
        c.at[d] = TRANSPOSED ? here + a.pad[d] : here * a.stride[d] - a.pad[d];
        i = above;
    }
    c.out += (uint64_t)((int64_t)i * a.out_batch);
    c.in = a.in + (uint64_t)((int64_t)i * a.in_batch + (int64_t)group * a.channels * a.in_channel);
    return c;
}

/* A place of the kernel, as distances from a column's coordinates, in one channel. */
struct Tap {
    int64_t channel; /* of the input: bytes; -1 beyond the depth */
    int64_t weight;  /* elements */
    int32_t at[3];
};
static inline Tap tap_of(const ConvArgs &a, int64_t deep) {
    Tap tap = {-1, 0, {0, 0, 0}};
    if (deep >= a.depth) return tap;
    uint32_t rest = (uint32_t)deep, places = 1;
    UNROLL for (int d = 0; d < 3; d++) {
        const uint32_t above = rest / (uint32_t)a.kernel[d];
        tap.at[d] = (int32_t)(rest - above * (uint32_t)a.kernel[d]) * a.dilation[d];
        places *= (uint32_t)a.kernel[d];
        rest = above;
    }
    tap.channel = (int64_t)rest * a.in_channel;
    tap.weight = (int64_t)rest * a.weight_channel + (int64_t)((uint32_t)deep - rest * places);
    return tap;
}

/* The input's element there; outside it is 0. */
static inline A element(const ConvArgs &a, const Column &c, const Tap &tap) {
    uint64_t from = c.in + (uint64_t)tap.channel;
    bool inside = c.in != 0 && tap.channel >= 0;
    UNROLL for (int d = 0; d < 3; d++) {
#if TRANSPOSED
        const int32_t x = c.at[d] - tap.at[d], at = a.stride[d] == 1 ? x : x / a.stride[d];
        inside = inside && x >= 0 && at * a.stride[d] == x && at < a.in_size[d];
#else
        const int32_t at = c.at[d] + tap.at[d];
        inside = inside && (uint32_t)at < (uint32_t)a.in_size[d];
#endif
        from += (uint64_t)(at * a.in_at[d]);
    }
    return inside ? convert<A>(*at<E>(from)) : (A)0;
}

static inline void write(const ConvArgs &a, const Column &c, unsigned group, int64_t row, A sum) {
    if (a.bias != 0) sum = sum + (A)at<B>(a.bias)[group * a.rows + row];
    *at<O>(c.out + (uint64_t)(row * a.out_channel)) = convert<O>(sum);
}

#if DIRECT
/* Of few rows: a thread makes all of a column's, one after the other. */
KERNEL(tsr_conv, ConvArgs) {
    const Index step = (Index)threads() * blocks();
    const unsigned group = block_y();
    for (Index i = (Index)block() * threads() + thread(); i < a.columns; i += step) {
        const Column c = column_of(a, i, group);
        for (int64_t row = 0; row < a.rows; row++) {
            const E *weight = at<E>(a.weight) + group * a.weight_group + row * a.weight_row;
            A sum = 0;
            Tap tap = {0, 0, {0, 0, 0}};
            for (int64_t channel = 0; channel < a.channels; channel++, tap.channel += a.in_channel) {
                const E *next = weight + channel * a.weight_channel;
                for (int32_t z = 0; z < a.kernel[2]; z++) {
                    tap.at[2] = z * a.dilation[2];
                    for (int32_t y = 0; y < a.kernel[1]; y++) {
                        tap.at[1] = y * a.dilation[1];
                        for (int32_t x = 0; x < a.kernel[0]; x++) {
                            tap.at[0] = x * a.dilation[0];
                            sum = plus_product(convert<A>(*next++), element(a, c, tap), sum);
                        }
                    }
                }
            }
            write(a, c, group, row, sum);
        }
    }
}
#else
/* A block makes TILE x TILE elements, each of its SIDE x SIDE threads EACH x EACH of them, SIDE apart, DEPTH deep at a
 * time: as matmul.cuh has it. What is found out about the next places of the kernel is shared too. */
enum { SIDE = 16, EACH = 4, TILE = SIDE * EACH, DEPTH = 16 };

KERNEL_TOGETHER(tsr_conv, ConvArgs) {
    SHARED(A, left, DEPTH * (TILE + 1));
    SHARED(A, right, DEPTH * (TILE + 1));
    SHARED(Tap, taps, DEPTH);
    const unsigned t = thread(), x = t % SIDE, y = t / SIDE, group = block_y();
    const int64_t row = (int64_t)block() % a.tiles * TILE;
    const Index first = (Index)((int64_t)block() / a.tiles) * TILE;
    const Column own = column_of(a, first + t % TILE, group);
    A sum[EACH][EACH];
    UNROLL for (int i = 0; i < EACH; i++) {
        UNROLL for (int j = 0; j < EACH; j++) sum[i][j] = 0;
    }
    if (t < DEPTH) taps[t] = tap_of(a, t);
    barrier();
    for (int64_t k = 0; k < a.depth; k += DEPTH) {
        for (unsigned i = t; i < TILE * DEPTH; i += THREADS) {
            const unsigned deep = i % DEPTH, down = i / DEPTH;
            const bool in = row + down < a.rows && k + deep < a.depth;
            const int64_t from = group * a.weight_group + (row + down) * a.weight_row + taps[deep].weight;
            left[deep * (TILE + 1) + down] = in ? convert<A>(at<E>(a.weight)[from]) : (A)0;
            right[i / TILE * (TILE + 1) + t % TILE] = element(a, own, taps[i / TILE]);
        }
        barrier();
        if (t < DEPTH) taps[t] = tap_of(a, k + DEPTH + t);
        for (int deep = 0; deep < DEPTH && k + deep < a.depth; deep++) {
            UNROLL for (int i = 0; i < EACH; i++) {
                const A weight = left[deep * (TILE + 1) + y + i * SIDE];
                UNROLL for (int j = 0; j < EACH; j++)
                    sum[i][j] = plus_product(weight, right[deep * (TILE + 1) + x + j * SIDE], sum[i][j]);
            }
        }
        barrier();
    }
    UNROLL for (int j = 0; j < EACH; j++) {
        const Column c = column_of(a, first + x + j * SIDE, group);
        UNROLL for (int i = 0; i < EACH; i++) {
            const int64_t down = row + y + i * SIDE;
            if (c.in != 0 && down < a.rows) write(a, c, group, down, sum[i][j]);
        }
    }
}
#endif
