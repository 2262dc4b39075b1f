/* curand_host.cc: the numbers that PyTorch's kernels draw for a seed, by cuRAND's own functions on the host: for
 * tests/data/cuda_random.txt, which tests/repl/cuda_random.sh compares with. A line: the distribution, the number of
 * elements, the offset of the generator, and some of the elements, each after its index. The GPU is the simulated one:
 * 2 multiprocessors of 2048 threads.
 *
 *   g++ -std=c++17 -w -I CUDA/include tests/oracle/curand_host.cc -o /tmp/curand_host && /tmp/curand_host
 *
 * The host's sine and cosine stand in normals where a GPU has faster ones: their last digits differ. */
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
}

int main() {
    for (uint64_t n : {3, 300, 5000, 19999, 20000}) ask(n, 0);
    ask(20000, 1028);
}
