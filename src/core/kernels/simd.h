/* simd.h: kernels compiled for several instruction sets, one table each, chosen once at run time.
 *
 * The same .inc files are compiled in *_base.c, *_avx2.c and *_avx512.c (the Makefile adds the target flags by
 * the file's name). SIMD(name) makes the names distinct. */
#ifndef CORE_KERNELS_SIMD_H
#define CORE_KERNELS_SIMD_H

#include "core/loop.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define TSR_HAVE_X86 1
#endif

/* SIMD(name): `name` with the suffix of the instruction set that this file is compiled for. */
#if defined(TSR_SIMD_AVX512)
#define SIMD(name) name##_avx512
#elif defined(TSR_SIMD_AVX2)
#define SIMD(name) name##_avx2
#else
#define SIMD(name) name##_base
#endif

/* The instruction sets that kernels are compiled for, each including the one before it. */
typedef enum TsrIsa { TSR_ISA_BASE, TSR_ISA_AVX2, TSR_ISA_AVX512, TSR_ISA_COUNT } TsrIsa;

TsrIsa tsr_cpu_isa(void); /* the best one this CPU has */
/* The same as far as it is to be used; TSR_ISA=base|avx2|avx512 in the environment lowers it. */
TsrIsa tsr_isa(void);

/* A table or function chosen at first use; whichever thread comes first chooses the same. */
#define TSR_CHOOSE_ONCE(slot, choice) \
    __extension__({ \
        __typeof__(slot) chosen_ = __atomic_load_n(&(slot), __ATOMIC_RELAXED); \
        if (TSR_UNLIKELY(!chosen_)) __atomic_store_n(&(slot), chosen_ = (choice), __ATOMIC_RELAXED); \
        chosen_; \
    })

/* Converts n elements; strides in bytes. One build of convert.inc for each instruction set; call tsr_convert (loop.h)
 * instead. */
typedef void (*TsrConvertFn)(TsrDtype to, char *dst, int64_t dst_stride, TsrDtype from, const char *src,
                             int64_t src_stride, int64_t n);
void tsr_convert_base(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);
void tsr_convert_avx2(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);
void tsr_convert_avx512(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);

#endif
