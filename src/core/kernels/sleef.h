/* sleef.h: SLEEF's functions of whole vectors, for the instruction set that a file NAME.simd.c is compiled for.
 *
 * VF and VD are its vectors of float and of double (one number each where there are no vectors); VF_CALL(exp, u10)(x)
 * and VD_CALL(exp, u10)(x) call SLEEF's exp of that accuracy, of the functions in sleef.def. The library is opened at
 * the first call: linked, its nine hundred addresses would cost each start 0.4 ms, a fifth of it (a Xeon of 2023, the
 * least of 200 runs of `tsr -e 1`). A function is a pointer that begins at one which looks for SLEEF's and puts it
 * there; where the library is missing it puts one there that calls the C library's for each element. */
#ifndef CORE_KERNELS_SLEEF_H
#define CORE_KERNELS_SLEEF_H

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "simd.h"

/* The function of SLEEF's with this name, or NULL. Any thread may ask. */
typedef void (*TsrSleefFn)(void);
TsrSleefFn tsr_sleef_find(const char *name);

#if defined(TSR_SIMD_AVX512)
typedef __m512 VF;
typedef __m512d VD;
#define SLEEF_VF "f16_"
#define SLEEF_VD "d8_"
#elif defined(TSR_SIMD_AVX2)
typedef __m256 VF;
typedef __m256d VD;
#define SLEEF_VF "f8_"
#define SLEEF_VD "d4_"
#elif defined(TSR_HAVE_X86)
typedef __m128 VF;
typedef __m128d VD;
#define SLEEF_VF "f4_"
#define SLEEF_VD "d2_"
#else
typedef float VF;
typedef double VD;
#define SLEEF_VF "f_"
#define SLEEF_VD "_"
#endif

#define VF_CALL(fn, accuracy) atomic_load_explicit(&sleef_##fn##_##accuracy##_f, memory_order_relaxed)
#define VD_CALL(fn, accuracy) atomic_load_explicit(&sleef_##fn##_##accuracy##_d, memory_order_relaxed)

/* A function `name` of vectors V of T: `each` is the C library's, `symbol` SLEEF's. */
#define SLEEF_SLOT_1(V, T, name, each, symbol) \
    __attribute__((unused)) static V name##_each(V x) { \
        T part[sizeof(V) / sizeof(T)]; \
        memcpy(part, &x, sizeof x); \
        for (size_t i = 0; i < sizeof(V) / sizeof(T); i++) part[i] = each(part[i]); \
        memcpy(&x, part, sizeof x); \
        return x; \
    } \
    static V name##_first(V x); \
    __attribute__((unused)) static V (*_Atomic name)(V) = name##_first; \
    static V name##_first(V x) { \
        V (*found)(V) = (V(*)(V))tsr_sleef_find(symbol); \
        if (found == NULL) found = name##_each; \
        atomic_store_explicit(&name, found, memory_order_relaxed); \
        return found(x); \
    }
#define SLEEF_SLOT_2(V, T, name, each, symbol) \
    __attribute__((unused)) static V name##_each(V x, V y) { \
        T part[sizeof(V) / sizeof(T)], other[sizeof(V) / sizeof(T)]; \
        memcpy(part, &x, sizeof x); \
        memcpy(other, &y, sizeof y); \
        for (size_t i = 0; i < sizeof(V) / sizeof(T); i++) part[i] = each(part[i], other[i]); \
        memcpy(&x, part, sizeof x); \
        return x; \
    } \
    static V name##_first(V x, V y); \
    __attribute__((unused)) static V (*_Atomic name)(V, V) = name##_first; \
    static V name##_first(V x, V y) { \
        V (*found)(V, V) = (V(*)(V, V))tsr_sleef_find(symbol); \
        if (found == NULL) found = name##_each; \
        atomic_store_explicit(&name, found, memory_order_relaxed); \
        return found(x, y); \
    }
#define SLEEF_BOTH(n, fn, accuracy) \
    SLEEF_SLOT_##n(VF, float, sleef_##fn##_##accuracy##_f, fn##f, "Sleef_" #fn SLEEF_VF #accuracy) \
        SLEEF_SLOT_##n(VD, double, sleef_##fn##_##accuracy##_d, fn, "Sleef_" #fn SLEEF_VD #accuracy)
#define SLEEF_1(fn, accuracy) SLEEF_BOTH(1, fn, accuracy)
#define SLEEF_2(fn, accuracy) SLEEF_BOTH(2, fn, accuracy)
#include "sleef.def"
#undef SLEEF_1
#undef SLEEF_2

#endif
