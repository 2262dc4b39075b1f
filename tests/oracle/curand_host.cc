/* curand_host.cc: the numbers that PyTorch's kernels draw for a seed, by cuRAND's own functions on the host: for
 * tests/data/cuda_random.txt, which tests/repl/cuda_random.sh compares with. A line: the distribution, the number of
 * elements, the offset of the generator, and some of the elements, each after its index. The GPU is the simulated one:
 * 2 multiprocessors of 2048 threads.
 *
 *   g++ -std=c++17 -O2 -mfma -ffp-contract=fast -w -I CUDA/include tests/oracle/curand_host.cc -o /tmp/curand_host &&
 *       /tmp/curand_host
 *
 * A product and a sum are one step, as NVIDIA's compiler makes them. Gamma and binomial numbers, and choices, are not
 * cuRAND's: they are made here by the methods that the papers have, from cuRAND's uniform and normal numbers. The
 * host's sine and cosine stand in normals where a GPU has faster ones: their last digits differ. */
#define QUALIFIERS static inline
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

enum { SEED = 1234, THREADS = 256, MOST_BLOCKS = 2 * 2048 / THREADS };

static uint64_t blocks_of(uint64_t n) {
    uint64_t blocks = (n + THREADS - 1) / THREADS;
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

typedef curandStatePhilox4_32_10_t State;
template <class T> static void four(const T &from, float *to) {
    to[0] = from.x, to[1] = from.y, to[2] = from.z, to[3] = from.w;
}

/* Elements are dealt to threads in turn: `each` of a step, as many apart as there are threads. */
template <class T, int each, class Draw> static std::vector<T> dealt(uint64_t n, uint64_t offset, Draw draw) {
    std::vector<T> out(n);
    const uint64_t streams = blocks_of(n) * THREADS;
    for (uint64_t thread = 0; thread < streams; thread++) {
        State state;
        curand_init(SEED, thread, offset, &state);
        for (uint64_t first = thread; first < n; first += streams * each) {
            T numbers[each];
            draw(&state, numbers);
            for (int k = 0; k < each; k++)
                if (first + k * streams < n) out[first + k * streams] = numbers[k];
        }
    }
    return out;
}

/* A thread takes four neighbours at a time. */
static std::vector<float> in_packs(uint64_t n, uint64_t offset, uint64_t streams, float p) {
    std::vector<float> out(n);
    for (uint64_t thread = 0; thread < streams; thread++) {
        State state;
        curand_init(SEED, thread, offset, &state);
        for (uint64_t first = thread * 4; first < n; first += streams * 4) {
            float numbers[4];
            four(curand_uniform4(&state), numbers);
            for (int k = 0; k < 4 && first + k < n; k++) out[first + k] = numbers[k] < p;
        }
    }
    return out;
}

template <class T> static void show(const char *name, uint64_t n, uint64_t offset, const std::vector<T> &v) {
    const uint64_t some[] = {0, 1, 2, 255, 256, 1000, 4095, 4096, 4097, 8191, 8192, 12288, 16383, 16384, 19999};
    printf("%s %lu %lu", name, n, offset);
    for (uint64_t i : some)
        if (i < n) printf(" %lu %.17g", i, (double)v[i]);
    printf("\n");
}

/* A thread an element; rejection takes what it needs of the thread's stream. */
template <class Draw> static std::vector<float> each(uint64_t n, uint64_t offset, Draw draw) {
    std::vector<float> out(n);
    for (uint64_t i = 0; i < n; i++) {
        State state;
        curand_init(SEED, i, offset, &state);
        out[i] = draw(&state, i % 4);
    }
    return out;
}

/* G. Marsaglia and W. W. Tsang, A simple method for generating gamma variables, 2000. */
static float gamma(State *s, float shape) {
    float scale = 1;
    if (shape < 1) scale = powf(1 - curand_uniform(s), 1 / shape), shape += 1;
    float d = shape - 1.0f / 3, c = 1 / sqrtf(9 * d);
    for (;;) {
        float x = curand_normal(s), root = 1 + c * x;
        if (root <= 0) continue;
        float v = root * root * root, u = 1 - curand_uniform(s);
        if (u < 1 - 0.0331f * (x * x) * (x * x) || logf(u) < 0.5f * (x * x) + d * (1 - v + logf(v)))
            return scale * d * v;
    }
}

static float below_one(State *s) { return (curand(s) % (1 << 24)) / 16777216.0f; }

/* What log k! has beyond Stirling's formula. */
static double beyond_stirling(double k) {
    return k > 9 ? (1 / 12.0 - (1 / 360.0 - 1 / 1260.0 / ((k + 1) * (k + 1))) / ((k + 1) * (k + 1))) / (k + 1)
                 : lgamma(k + 1) - ((k + 0.5) * log(k + 1) - (k + 1) + 0.5 * log(2 * M_PI));
}

/* W. Hormann, The generation of binomial random variates, 1993 (BTRS); gaps between successes where there are few. */
static float binomial(State *s, float n, float p) {
    if (p > 0.5) return n - binomial(s, n, 1 - p);
    if (n * p < 10) {
        float hits = 0, trials = 0;
        while ((trials += ceilf(logf(below_one(s)) / log1pf(-p))) <= n) hits++;
        return hits;
    }
    float deviation = sqrtf(n * p * (1 - p)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p,
          center = n * p + 0.5, height = (2.83 + 5.1 / b) * deviation, inside = 0.92 - 4.2 / b, odds = p / (1 - p),
          mode = floorf((n + 1) * p);
    for (;;) {
        float u = below_one(s) - 0.5, v = below_one(s), edge = 0.5 - fabsf(u),
              k = floorf((2 * a / edge + b) * u + center);
        if (edge >= 0.07 && v <= inside) return k;
        if (k < 0 || k > n) continue;
        double bound = (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) +
                       (n + 1) * log((n - mode + 1) / (n - k + 1)) + (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) +
                       beyond_stirling(mode) + beyond_stirling(n - mode) - beyond_stirling(k) - beyond_stirling(n - k);
        if (logf(v * height / (a / (edge * edge) + b)) <= bound) return k;
    }
}

/* Blocks of 128 threads, each of which has eight elements, 128 apart. */
static std::vector<float> binomials(uint64_t n, uint64_t offset) {
    const float counts[] = {10, 100, 100, 40}, chances[] = {0.3f, 0.4f, 0.9f, 0.8f};
    std::vector<float> out(n);
    for (uint64_t first = 0; first < n; first += 1024)
        for (uint64_t lane = 0; lane < 128; lane++) {
            State state;
            curand_init(SEED, first / 8 + lane, offset, &state);
            for (uint64_t i = first + lane; i < n && i < first + 1024; i += 128)
                out[i] = binomial(&state, counts[i % 4], chances[i % 4]);
        }
    return out;
}

/* Two rows of weights, from which n are drawn; a row's threads are a multiple of 128. */
static std::vector<float> choices(uint64_t n, uint64_t offset) {
    const float weights[2][7] = {{1, 2, 3, 0, 5, 6, 7}, {0, 0, 1, 0, 0, 1, 0}};
    std::vector<float> out(2 * n);
    for (uint64_t i = 0; i < 2 * n; i++) {
        const float *row = weights[i / n];
        float sum = 0, upto = 0;
        int column = -1;
        State state;
        curand_init(SEED, i / n * ((n + 127) / 128 * 128) + i % n, offset, &state);
        float u = curand_uniform4(&state).x;
        for (int k = 0; k < 7; k++) sum += row[k];
        do upto += row[++column] / sum;
        while (column < 6 && upto < u);
        while (row[column] == 0) column--;
        out[i] = column;
    }
    return out;
}

static void ask(uint64_t n, uint64_t offset) {
    show("uniform", n, offset, dealt<float, 4>(n, offset, [](State *s, float *out) { four(curand_uniform4(s), out); }));
    show("normal", n, offset, dealt<float, 4>(n, offset, [](State *s, float *out) { four(curand_normal4(s), out); }));
    show("uniform64", n, offset, dealt<double, 2>(n, offset, [](State *s, double *out) {
             double2 v = curand_uniform2_double(s);
             out[0] = v.x, out[1] = v.y;
         }));
    show("normal64", n, offset, dealt<double, 2>(n, offset, [](State *s, double *out) {
             double2 v = curand_normal2_double(s);
             out[0] = v.x, out[1] = v.y;
         }));
    show("randint", n, offset, dealt<int64_t, 4>(n, offset, [](State *s, int64_t *out) {
             uint4 v = curand4(s);
             out[0] = v.x % 1000, out[1] = v.y % 1000, out[2] = v.z % 1000, out[3] = v.w % 1000;
         }));
    show("randint64", n, offset, dealt<int64_t, 2>(n, offset, [](State *s, int64_t *out) {
             uint4 v = curand4(s);
             out[0] = ((uint64_t)v.x << 32 | v.y) % 1000000007, out[1] = ((uint64_t)v.z << 32 | v.w) % 1000000007;
         }));
    show("bernoulli", n, offset, dealt<float, 4>(n, offset, [](State *s, float *out) {
             four(curand_uniform4(s), out);
             for (int k = 0; k < 4; k++) out[k] = out[k] < 0.3f;
         }));
    show("exponential", n, offset, dealt<float, 4>(n, offset, [](State *s, float *out) {
             four(curand_uniform4(s), out);
             for (int k = 0; k < 4; k++) out[k] = -1.0f / 2.0f * logf(out[k]);
         }));
    show("dropout", n, offset,
         n % 4 != 0 ? dealt<float, 4>(n, offset,
                                      [](State *s, float *out) {
                                          four(curand_uniform4(s), out);
                                          for (int k = 0; k < 4; k++) out[k] = out[k] < 0.75f;
                                      })
                    : in_packs(n, offset, blocks_of(n) * THREADS, 0.75f));
    show("chances", n, offset, in_packs(n, offset, n, 0.5f));
    show("poisson", n, offset, each(n, offset, [](State *s, int k) {
             const double rates[] = {0.5, 30, 500, 5000};
             return (float)curand_poisson(s, rates[k]);
         }));
    show("gamma", n, offset, each(n, offset, [](State *s, int k) {
             const float shapes[] = {0.25f, 1, 4.5f, 80};
             return gamma(s, shapes[k]);
         }));
    show("binomial", n, offset, binomials(n, offset));
    show("choices", n, offset, choices(n, offset));
}

int main() {
    for (uint64_t n : {3, 300, 5000, 19999, 20000}) ask(n, 0);
    ask(20000, 1028);
}
