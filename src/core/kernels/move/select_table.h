/* select_table.h: one table of select.h's loops for each instruction set. */
#ifndef CORE_KERNELS_MOVE_SELECT_TABLE_H
#define CORE_KERNELS_MOVE_SELECT_TABLE_H

#include "select.h"
#include "core/kernels/simd.h"

/* The functions of select.h with the same names, as one instruction set has them. `positions` is for one dimension. */
typedef struct TsrSelectTable {
    int64_t (*count_bytes)(const uint8_t *mask, int64_t n);
    void (*positions)(const uint8_t *mask, int64_t total, int64_t start, int64_t *out);
    void (*compress)(const uint8_t *mask, int64_t total, const void *src, void *dst, size_t itemsize);
    void (*fill_masked)(const uint8_t *mask, int64_t n, void *dst, const void *value, size_t itemsize);
    bool (*in_range)(const int64_t *index, int64_t n, int64_t size);
    void (*pick)(void *dst, const void *src, const int64_t *index, int64_t n, size_t itemsize);
    void (*range)(const int64_t *p, int64_t n, int64_t *least, int64_t *most);
} TsrSelectTable;

/* Static; made by select.simd.c. */
extern const TsrSelectTable tsr_select_table_base;
#ifdef TSR_HAVE_X86
extern const TsrSelectTable tsr_select_table_avx2, tsr_select_table_avx512;
#endif

#endif
