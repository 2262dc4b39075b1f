/* host.cuh: the dialect of prelude.cuh for the simulated device: kernels become functions that run a grid's threads one
 * after the other; threads that meet are fibers, which take turns. */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;

/* What the simulated driver hands to a kernel (kernels.c has the same). backwards: blocks, or threads, run from the last
 * to the first: no order of theirs may be counted on. meet: 0 for all threads of the block, 1 for those of the warp;
 * lasts until they have. exchange: the warp's 32 places for a value of up to 16 bytes. */
typedef struct Simulated {
    unsigned threads, blocks, blocks_y;
    unsigned backwards_blocks, backwards_threads;
    unsigned thread, block, block_y;
    void (*meet)(int warp);
    char (*exchange)[16];
    void (*together)(void (*body)(const void *args), const void *args);
} Simulated;
static Simulated *simulated;

/* Arrays that a block's threads share: nobody has filled them when a block begins. */
extern "C" void *memset(void *to, int byte, size_t n), abort();
enum { MOST_ARRAYS = 16, SHARED_BYTES = 49152, NOBODY_FILLED = 0xAB };
static struct {
    void *at;
    size_t bytes;
} shared_arrays[MOST_ARRAYS];
static int shared_count;
static inline int is_shared(void *at, size_t bytes) {
    size_t all = bytes;
    for (int i = 0; i < shared_count; i++) all += shared_arrays[i].bytes;
    if (all > SHARED_BYTES || shared_count == MOST_ARRAYS) abort(); /* more than a block has */
    shared_arrays[shared_count].at = at;
    shared_arrays[shared_count++].bytes = bytes;
    memset(at, NOBODY_FILLED, bytes);
    return 0;
}
static inline void forget_shared() {
    for (int i = 0; i < shared_count; i++) memset(shared_arrays[i].at, NOBODY_FILLED, shared_arrays[i].bytes);
}
#define SHARED(T, name, n) \
    static T name[n]; \
    static const int name##_shared = is_shared(name, sizeof name)

static inline unsigned turned(unsigned i, unsigned n, unsigned backwards) { return backwards ? n - 1 - i : i; }
/* `code` for each block, whose number is in the struct. */
#define EACH_BLOCK(code) \
    for (s->block_y = 0; s->block_y < s->blocks_y; s->block_y++) \
        for (unsigned k = 0; k < s->blocks; k++) { \
            s->block = turned(k, s->blocks, s->backwards_blocks); \
            code; \
        }
#define EXPORTED extern "C" __attribute__((visibility("default")))
#define KERNEL_BODY(name, Args) \
    static void name##_body(const Args &a); \
    EXPORTED const unsigned long name##_args = sizeof(Args), name##_threads = KERNEL_THREADS; \
    static void name##_thread(const void *args) { name##_body(*(const Args *)args); }
static inline void run_threads(Simulated *s, void (*body)(const void *args), const void *args) {
    for (unsigned i = 0; i < s->threads; i++) {
        s->thread = turned(i, s->threads, s->backwards_threads);
        body(args);
    }
}
#define KERNEL(name, Args) \
    KERNEL_BODY(name, Args) \
    EXPORTED void name(Simulated *s, const void *args) { \
        simulated = s; \
        EACH_BLOCK(run_threads(s, name##_thread, args)) \
    } \
    static void name##_body(const Args &a)
#define KERNEL_TOGETHER(name, Args) \
    KERNEL_BODY(name, Args) \
    EXPORTED void name(Simulated *s, const void *args) { \
        simulated = s; \
        EACH_BLOCK(forget_shared(); s->together(name##_thread, args)) \
    } \
    static void name##_body(const Args &a)
#define UNROLL
#define ROLLED
#define APART __attribute__((noinline))

static inline unsigned thread() { return simulated->thread; }
static inline unsigned threads() { return simulated->threads; }
static inline unsigned block() { return simulated->block; }
static inline unsigned blocks() { return simulated->blocks; }
static inline unsigned block_y() { return simulated->block_y; }
static inline unsigned blocks_y() { return simulated->blocks_y; }
template <class T> static inline T *at(uint64_t address) { return (T *)(address - 0x600000000000ul); }
template <class T> static inline T *at(uint64_t address, int64_t bytes) { return at<T>(address + (uint64_t)bytes); }

static inline void barrier() { simulated->meet(0); }
template <class T> static inline T warp_read(T v, int lane) {
    static_assert(sizeof(T) <= 16, "a place has 16 bytes");
    const unsigned own = thread() % 32;
    __builtin_memcpy(simulated->exchange[thread() / 32 * 32 + own], &v, sizeof v);
    simulated->meet(1);
    __builtin_memcpy(&v, simulated->exchange[thread() / 32 * 32 + lane % 32], sizeof v);
    simulated->meet(1);
    return v;
}
template <class T> static inline T warp_down(T v, int by) {
    const int lane = (int)(thread() % 32);
    return warp_read(v, lane + by < 32 ? lane + by : lane);
}
template <class T> static inline T warp_xor(T v, int mask) { return warp_read(v, (int)(thread() % 32) ^ mask); }
static inline void warp_meet() { simulated->meet(1); }
/* The lanes whose bytes at their place are those of this one. */
template <class T> static inline uint32_t warp_same(T v) {
    const unsigned first = thread() / 32 * 32;
    uint32_t lanes = 0;
    __builtin_memcpy(simulated->exchange[thread()], &v, sizeof v);
    simulated->meet(1);
    for (unsigned lane = 0; lane < 32 && first + lane < threads(); lane++)
        lanes |= (uint32_t)(__builtin_memcmp(simulated->exchange[first + lane], &v, sizeof v) == 0) << lane;
    simulated->meet(1);
    return lanes;
}
static inline uint32_t warp_votes(bool yes) {
    const uint32_t same = warp_same(yes);
    return yes ? same : ~same;
}
static inline int bits_set(uint32_t x) { return __builtin_popcount(x); }
static inline int first_bit(uint32_t x) { return x != 0 ? __builtin_ctz(x) : -1; }

template <class T> static inline T atomic_add(T *p, T v) {
    T was = *p;
    *p = was + v;
    return was;
}
template <class T> static inline T atomic_min(T *p, T v) {
    T was = *p;
    if (v < was) *p = v;
    return was;
}
template <class T> static inline T atomic_max(T *p, T v) {
    T was = *p;
    if (v > was) *p = v;
    return was;
}
template <class T> static inline T atomic_swap_if(T *p, T was, T now) {
    T found = *p;
    if (found == was) *p = now;
    return found;
}

static inline void written_so_far() {}

static inline uint32_t high_product(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }

extern "C" void *memcpy(void *to, const void *from, size_t n);
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
extern "C" double fma(double, double, double), modf(double, double *);
extern "C" float fmaf(float, float, float), frexpf(float, int *);
extern "C" double frexp(double, int *);
static inline float frexp(float x, int *e) { return frexpf(x, e); }

/* The functions of math.h, overloaded by type as NVRTC has them. */
#define REAL1(name) \
    extern "C" double name(double); \
    extern "C" float name##f(float); \
    static inline float name(float x) { return name##f(x); }
#define REAL2(name) \
    extern "C" double name(double, double); \
    extern "C" float name##f(float, float); \
    static inline float name(float x, float y) { return name##f(x, y); }
/* clang-format off */
REAL1(exp) REAL1(exp2) REAL1(expm1) REAL1(log) REAL1(log2) REAL1(log10) REAL1(log1p) REAL1(sin) REAL1(cos) REAL1(tan)
REAL1(asin) REAL1(acos) REAL1(atan) REAL1(sinh) REAL1(cosh) REAL1(tanh) REAL1(asinh) REAL1(acosh) REAL1(atanh)
REAL1(erf) REAL1(erfc) REAL1(lgamma) REAL1(sqrt) REAL1(floor) REAL1(ceil) REAL1(trunc) REAL1(rint) REAL1(fabs)
REAL2(pow) REAL2(atan2) REAL2(hypot) REAL2(nextafter) REAL2(fmod) REAL2(copysign) REAL2(fmax) REAL2(fmin)
template <class T> static inline T quick_exp(T x) { return exp(x); }
/* clang-format on */
template <class T> static inline T quick_log(T x) { return log(x); }
template <class T> static inline T quick_log1p(T x) { return log1p(x); }
template <class T> static inline T quick_tan(T x) { return tan(x); }
static inline float rough_exp(float x) { return exp(x); }
static inline float rough_log(float x) { return log(x); }
static inline float rough_rsqrt(float x) { return 1.0f / sqrt(x); }
static inline float rough_reciprocal(float x) { return 1.0f / x; }
static inline void quick_sincos(float x, float *sine, float *cosine) {
    *sine = sin(x);
    *cosine = cos(x);
}
static inline void sincospi(double x, double *sine, double *cosine) {
    *sine = sin(x * 3.14159265358979323846);
    *cosine = cos(x * 3.14159265358979323846);
}

/* The inverse of erf: Newton's steps from an approximation (S. Winitzki, 2008); CUDA has the function. */
static inline double erfinv(double x) {
    if (!(x > -1 && x < 1)) return x == 1 ? INFINITY : x == -1 ? -INFINITY : NAN;
    double w = log((1 - x) * (1 + x)), u = 2 / (3.14159265358979323846 * 0.147) + w / 2,
           y = copysign(sqrt(sqrt(u * u - w / 0.147) - u), x);
    for (int i = 0; i < 4 && x != 0; i++) {
        const double rest = x > 0 ? erfc(y) - (1 - x) : (1 + x) - erfc(-y);
        const double step = -rest / (1.12837916709551257390 * exp(-y * y));
        y -= step / (1 + y * step);
    }
    return y;
}
static inline float erfinv(float x) { return (float)erfinv((double)x); }
