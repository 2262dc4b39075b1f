/* keys_table.h: one table of keys.h's loops for each instruction set. */
#ifndef CORE_KERNELS_SORT_KEYS_TABLE_H
#define CORE_KERNELS_SORT_KEYS_TABLE_H

#include "keys.h"
#include "core/kernels/simd.h"

/* The functions of keys.h with the same names, as one instruction set has them. */
typedef struct TsrKeysTable {
    void (*keys32)(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint32_t *keys);
    void (*keys64)(TsrDtype dtype, const char *src, int64_t stride, int64_t n, uint64_t *keys);
    int64_t (*first_below32)(const uint32_t *keys, int64_t n, uint32_t mask, uint32_t limit);
    int64_t (*first_below64)(const uint64_t *keys, int64_t n, uint64_t mask, uint64_t limit);
} TsrKeysTable;

/* Static; made by keys.simd.c. */
extern const TsrKeysTable tsr_keys_table_base;
#ifdef TSR_HAVE_X86
extern const TsrKeysTable tsr_keys_table_avx2, tsr_keys_table_avx512;
#endif

#endif
