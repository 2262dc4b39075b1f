/* prelude.cuh: the dialect of the device's sources. NVRTC compiles them after this text, the simulated device by the
 * C++ compiler after simulated/host.cuh, which defines the same names; sources use these names, plain C++17 and the
 * functions of math.h, and nothing else that differs.
 *
 *   KERNEL(name, Args) { ... }           a kernel with one argument, `const Args a`; threads do not meet
 *   KERNEL_TOGETHER(name, Args) { ... }  one whose threads meet: barrier(), warp_...(), SHARED
 *   thread(), threads(), block(), blocks()   of one dimension; block_y(), blocks_y() of a second one
 *   at<T>(address), at<T>(address, bytes)   a pointer to what lies at an address of the device, or so far from one: the
 *                                        compiler sees where an argument of the kernel points to, not where a sum does
 *   SHARED(T, name, n)                   n elements that a block's threads share
 *   barrier()                            of a block's threads
 *   warp_read(v, lane), warp_down(v, by), warp_xor(v, mask), warp_votes(bool)   all 32 threads of a warp take part
 *   warp_same(v)                         the lanes whose value is this one's, as bits
 *   warp_meet()                          what the warp's threads wrote before, all of them see after
 *   bits_set(x), first_bit(x)            how many bits of 32 are set; the number of the lowest one
 *   atomic_add, atomic_min, atomic_max(T *, T)   what was there before
 *   atomic_swap_if(uint32_t * or uint64_t *, was, new)   the same
 *   written_so_far()                     the host finds what was written before if it finds what comes after
 *   high_product(x, y)                   the upper 32 bits of a product
 *   quick_exp, quick_log, quick_log1p, quick_tan(x), quick_sincos(x, &sine, &cosine)   of floats: a few units of the
 *                                        last place off, as PyTorch has its numbers; of doubles exact
 *   rough_exp, rough_log, rough_rsqrt, rough_reciprocal(x)   of floats: what one instruction gives, as cuRAND has them
 *   UNROLL                               before a loop of known length
 *   APART                                before a function too long to stand wherever it is called */
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

#define KERNEL(name, Args) \
    extern "C" __global__ void __launch_bounds__(KERNEL_THREADS) name(const __grid_constant__ Args a)
#define KERNEL_TOGETHER KERNEL
#define SHARED(T, name, n) __shared__ T name[n]
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define APART __noinline__
#define barrier __syncthreads

static inline unsigned thread() { return threadIdx.x; }
static inline unsigned threads() { return blockDim.x; }
static inline unsigned block() { return blockIdx.x; }
static inline unsigned blocks() { return gridDim.x; }
static inline unsigned block_y() { return blockIdx.y; }
static inline unsigned blocks_y() { return gridDim.y; }
template <class T> static inline T *at(uint64_t address) { return (T *)address; }
template <class T> static inline T *at(uint64_t address, int64_t bytes) { return (T *)((char *)address + bytes); }

template <class T> static inline T warp_read(T v, int lane) { return __shfl_sync(0xFFFFFFFFu, v, lane); }
template <class T> static inline T warp_down(T v, int by) { return __shfl_down_sync(0xFFFFFFFFu, v, by); }
template <class T> static inline T warp_xor(T v, int mask) { return __shfl_xor_sync(0xFFFFFFFFu, v, mask); }
static inline uint32_t warp_votes(bool yes) { return __ballot_sync(0xFFFFFFFFu, yes); }

template <class T> static inline uint32_t warp_same(T v) { return __match_any_sync(0xFFFFFFFFu, v); }
static inline void warp_meet() { __syncwarp(); }
static inline int bits_set(uint32_t x) { return __popc(x); }
static inline int first_bit(uint32_t x) { return __ffs((int)x) - 1; }

template <class T> static inline T atomic_add(T *p, T v) { return atomicAdd(p, v); }
static inline int64_t atomic_add(int64_t *p, int64_t v) {
    return (int64_t)atomicAdd((unsigned long long *)p, (unsigned long long)v);
}
template <class T> static inline T atomic_min(T *p, T v) { return atomicMin(p, v); }
template <class T> static inline T atomic_max(T *p, T v) { return atomicMax(p, v); }
template <class T> static inline T atomic_swap_if(T *p, T was, T now) { return atomicCAS(p, was, now); }

static inline void written_so_far() { __threadfence_system(); }

static inline uint32_t high_product(uint32_t x, uint32_t y) { return __umulhi(x, y); }

static inline float quick_exp(float x) { return __expf(x); }
static inline float quick_log(float x) { return __logf(x); }
static inline float quick_log1p(float x) { return __logf(1.0f + x); }
static inline float quick_tan(float x) { return __tanf(x); }
static inline void quick_sincos(float x, float *sine, float *cosine) { __sincosf(x, sine, cosine); }
static inline float rough_exp(float x) { return exp2f((float)(x * 1.4426950408889634)); }
static inline float rough_log(float x) { return (float)(__log2f(x) * 0.69314718055994531); }
static inline float rough_rsqrt(float x) { return rsqrtf(x); }
static inline float rough_reciprocal(float x) { return __fdividef(1.0f, x); }
static inline double quick_exp(double x) { return exp(x); }
static inline double quick_log(double x) { return log(x); }
static inline double quick_log1p(double x) { return log1p(x); }
static inline double quick_tan(double x) { return tan(x); }

#define INFINITY __int_as_float(0x7F800000)
#define NAN __int_as_float(0x7FC00000)
#define __builtin_inff() INFINITY
#define __builtin_inf() ((double)INFINITY)
#define __builtin_nanf(text) NAN
#define __builtin_huge_valf() INFINITY
#define __builtin_huge_val() ((double)INFINITY)
#define __builtin_fmaf fmaf
#define __builtin_fma fma
#define __builtin_truncf truncf
#define __builtin_trunc trunc
#define __builtin_ceilf ceilf
#define __builtin_ceil ceil
#define __builtin_floorf floorf
#define __builtin_floor floor
#define __builtin_rintf rintf
#define __builtin_rint rint
#define __builtin_fabsf fabsf
#define __builtin_fabs fabs
#define __builtin_sqrtf sqrtf
#define __builtin_sqrt sqrt
#define __builtin_copysignf copysignf
#define __builtin_copysign copysign
