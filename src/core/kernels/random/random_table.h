/* random_table.h: one table of random.h's loops for each instruction set. */
#ifndef CORE_KERNELS_RANDOM_RANDOM_TABLE_H
#define CORE_KERNELS_RANDOM_RANDOM_TABLE_H

#include "random.h"
#include "core/kernels/simd.h"

/* The functions of random.h with the same names, as one instruction set has them. */
typedef struct TsrRandomTable {
    void (*mt_block)(uint32_t *state, uint32_t *words);
    void (*mt_temper)(const uint32_t *state, uint32_t *words);
    void (*uniform_float)(float *dst, const uint32_t *words, int64_t n);
    void (*normal_blocks)(float *data, int64_t n, float mean, float std);
    void (*modulo)(int64_t *dst, const uint32_t *words, int64_t n, uint32_t range, int64_t base);
} TsrRandomTable;

/* Static; made by random.simd.c. */
extern const TsrRandomTable tsr_random_table_base;
#ifdef TSR_HAVE_X86
extern const TsrRandomTable tsr_random_table_avx2, tsr_random_table_avx512;
#endif

#endif
