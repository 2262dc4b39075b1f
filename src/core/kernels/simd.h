/* simd.h: kernels compiled for several instruction sets, one table each, chosen once at run time.
 *
 * A file NAME.simd.c is compiled once for each instruction set, into NAME.base.o, NAME.avx2.o and NAME.avx512.o: the
 * Makefile says which, with which flags. SIMD(name) makes the names distinct. */
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

/* The address of name_base, name_avx2 or name_avx512, by tsr_isa(); TSR_FOR_AVX2 of what has no third one. */
#ifdef TSR_HAVE_X86
#define TSR_FOR_AVX2(name) (tsr_isa() >= TSR_ISA_AVX2 ? &name##_avx2 : &name##_base)
#define TSR_FOR_ISA(name) (tsr_isa() == TSR_ISA_AVX512 ? &name##_avx512 : TSR_FOR_AVX2(name))
#define TSR_DECLARE_VECTORS(type, name) type name##_avx2(void), name##_avx512(void);
#else
#define TSR_FOR_AVX2(name) (&name##_base)
#define TSR_FOR_ISA(name) (&name##_base)
#define TSR_DECLARE_VECTORS(type, name)
#endif

/* Defines name(): what name_avx2() or name_avx512() gives, by tsr_isa(); NULL where there is neither. */
#define TSR_CHOOSE_VECTORS(type, name) \
    TSR_DECLARE_VECTORS(type, name) \
    static type name##_base(void) { return NULL; } \
    type name(void) { return TSR_FOR_ISA(name)(); }

/* A product that stays apart from the sum or difference that it is part of: where these alternate, as in products of
 * complex numbers, gcc 12 makes one fused instruction of them, whatever -ffp-contract says. */
#ifdef __has_builtin
#if __has_builtin(__builtin_assoc_barrier)
#define TSR_UNFUSED(product) __builtin_assoc_barrier(product)
#endif
#endif
#ifndef TSR_UNFUSED
#define TSR_UNFUSED(product) (product)
#endif

/* A table or function chosen at first use; whichever thread comes first chooses the same. */
#define TSR_CHOOSE_ONCE(slot, choice) \
    __extension__({ \
        __typeof__(slot) chosen_ = __atomic_load_n(&(slot), __ATOMIC_RELAXED); \
        if (TSR_UNLIKELY(!chosen_)) __atomic_store_n(&(slot), chosen_ = (choice), __ATOMIC_RELAXED); \
        chosen_; \
    })

/* Converts n elements; strides in bytes. One build of convert.simd.c for each instruction set; call tsr_convert
 * (loop.h) instead. */
typedef void (*TsrConvertFn)(TsrDtype to, char *dst, int64_t dst_stride, TsrDtype from, const char *src,
                             int64_t src_stride, int64_t n);
void tsr_convert_base(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);
void tsr_convert_avx2(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);
void tsr_convert_avx512(TsrDtype to, char *dst, int64_t ds, TsrDtype from, const char *src, int64_t ss, int64_t n);

#endif
