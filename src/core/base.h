/* base.h: fixed-width types, attributes and overflow-checked integer arithmetic.
 *
 * The bottom of the core: includes nothing of ours. Sizes and strides are int64_t, counted in
 * elements unless a name says bytes; a `size_t` is always bytes. */
#ifndef TSR_BASE_H
#define TSR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The program's version, and the PyTorch release whose values, texts and errors it reproduces. */
#define TSR_VERSION "0.1.0"
#define TSR_TORCH_VERSION "2.15.0"
#define TSR_TORCH_CUDA_VERSION "13.2" /* that it is built for */

/* clang has complex numbers, but glibc gives these to gcc alone. */
#if defined(__clang__) && !defined(__cplusplus)
#undef CMPLX
#undef CMPLXF
#define CMPLX(re, im) __builtin_complex((double)(re), (double)(im))
#define CMPLXF(re, im) __builtin_complex((float)(re), (float)(im))
#endif

/* Around the declarations of a public header: exported from the shared library, and of C linkage to a C++ program. */
#ifdef __cplusplus
#include <atomic>
#define TSR_PUBLIC_BEGIN \
    extern "C" { \
    _Pragma("GCC visibility push(default)")
#define TSR_PUBLIC_END \
    _Pragma("GCC visibility pop") \
    }
#define TSR_ATOMIC(type) std::atomic<type>
#define TSR_THREAD_LOCAL __thread /* as C's: without the constructors of C++'s thread_local */
#else
#define TSR_PUBLIC_BEGIN _Pragma("GCC visibility push(default)")
#define TSR_PUBLIC_END _Pragma("GCC visibility pop")
#define TSR_ATOMIC(type) _Atomic type
#define TSR_THREAD_LOCAL _Thread_local
#endif

/* Of a thread-local variable that signal handlers and hot loops read: it lies where the thread's block begins, and no
 * function has to be called for its address. */
#define TSR_EARLY_TLS __attribute__((tls_model("initial-exec")))

/* Tells the compiler which way a branch usually goes. */
#define TSR_LIKELY(x) __builtin_expect(!!(x), 1)
#define TSR_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Has the compiler check arguments against a printf format: the positions, from 1, of the format and the first
 * argument. */
#define TSR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* No warning when a static function or a variable is not used in some build. */
#define TSR_UNUSED __attribute__((unused))
/* A loop compiled for several instruction sets, the best chosen when the program starts: for loops too few to have a
 * table of their own. TSR_CLONES_FUSED allows fused multiplications and additions: only where they change no bit. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_THREAD__) /* whose runtime is not there yet when they are resolved */
#define TSR_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), optimize("O3")))
#define TSR_CLONES_FUSED \
    __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"), optimize("O3", "fp-contract=fast")))
#else
#define TSR_CLONES
#define TSR_CLONES_FUSED
#endif
/* Elements of an array; not for pointers. */
#define TSR_COUNTOF(a) (sizeof(a) / sizeof((a)[0]))
/* The lesser and the greater of two values. Both arguments may be evaluated twice. */
#define TSR_MIN(a, b) ((a) < (b) ? (a) : (b))
#define TSR_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Checked arithmetic: true, with *out unspecified, when the exact result does not fit; else *out is the result. */
static inline bool tsr_mul_overflows(int64_t a, int64_t b, int64_t *out) { return __builtin_mul_overflow(a, b, out); }
static inline bool tsr_add_overflows(int64_t a, int64_t b, int64_t *out) { return __builtin_add_overflow(a, b, out); }
static inline bool tsr_sub_overflows(int64_t a, int64_t b, int64_t *out) { return __builtin_sub_overflow(a, b, out); }
static inline bool tsr_mul_size_overflows(size_t a, size_t b, size_t *out) { return __builtin_mul_overflow(a, b, out); }
static inline bool tsr_add_size_overflows(size_t a, size_t b, size_t *out) { return __builtin_add_overflow(a, b, out); }

#endif
