/* table.h: the table of pointwise inner loops: by kernel and dtype, for the CPU at hand. */
#ifndef CORE_KERNELS_POINTWISE_TABLE_H
#define CORE_KERNELS_POINTWISE_TABLE_H

#include "core/loop.h"

typedef enum TsrKernel {
    TSR_K_NONE,
#define K1(name, ...) TSR_K_##name,
#define K2(name, ...) TSR_K_##name,
#define K2N(name, ...) TSR_K_##name,
#define K2B(name, ...) TSR_K_##name,
#define K3(name, ...) TSR_K_##name,
#define K3B(name, ...) TSR_K_##name,
#define C1(name, ...) TSR_K_##name,
#define C1S(name, ...) TSR_K_##name,
#define C2(name, ...) TSR_K_##name,
#define V1(name, ...) TSR_K_##name,
#define V1D(name, ...) TSR_K_##name,
#define V1S(name, ...) TSR_K_##name,
#define V1SD(name, ...) TSR_K_##name,
#define V2(name, ...) TSR_K_##name,
#define V1R V1
#define V1DR V1
#define V1SDR V1
#define V2R V2
#define C2R V2
#define MASKED(name, ...) \
    TSR_K_##name##_and, TSR_K_##name##_or, TSR_K_##name##_where, TSR_K_##name##_and_where, TSR_K_##name##_or_where,
#define MORE(...)
#define HALVES_TOO(kind, ...) kind(__VA_ARGS__)
#define HALVES_BY(...)
#define BESSEL(name) TSR_K_##name,
#define POLYNOMIAL(name, ...) TSR_K_##name,
#include "fast.def"
#include "plain.def"
    TSR_K_SPECIAL, /* the rows of special.def stand between this and TSR_K_SPECIAL_END */
#include "special.def"
    TSR_K_SPECIAL_END,
#include "forget_rows.inc"
    TSR_K_conj,
    TSR_K_sgn,
    TSR_K_isreal,       /* complex only */
    TSR_K_where,        /* condition (bool), then two operands; every dtype */
    TSR_K_times_number, /* half floats only, where vectors widen them: by a float, plus one, with one as weight */
    TSR_K_plus_number,
    TSR_K_lerp_number,
    TSR_K_complex, /* these have no loop in the table, but a device's formula: of two real operands */
    TSR_K_polar,
    TSR_K_frexp_mantissa,
    TSR_K_frexp_exponent, /* int32 */
    TSR_K_COUNT
} TsrKernel;

/* The loop of kernel `k` on dtype `d` as the loop sees it (float32 for the small floats); NULL if there is none. */
TsrLoop tsr_kernel(TsrKernel k, TsrDtype d);
/* The kernel that does `first` and then `then`, whose operand of that number is the result of `first` (pairs.def);
 * TSR_K_NONE if there is none. */
TsrKernel tsr_kernel_pair(TsrKernel first, TsrKernel then, int operand);

/* What axpy of half floats takes: the factor, already rounded to their dtype, and whether the loop sees the elements in
 * one line, from its begin. */
typedef struct TsrHalfFactor {
    float factor;
    bool by_vectors;
} TsrHalfFactor;

/* Runs `loop`, which copes with contiguous operands only, over operands of any stride: through block buffers for those
 * that are not contiguous. size[k]: bytes of an element of operand k; operand 0 is the output. */
void tsr_kernel_strided(TsrLoop loop, char *const *data, const int64_t *strides, int64_t n, const void *params,
                        int noperands, const uint8_t *size);

/* The loops of one build, by kernel and dtype; NULL where it has none. Each build returns its own, static; call
 * tsr_kernel instead. */
typedef const TsrLoop (*TsrKernelTable)[TSR_DTYPE_COUNT];
TsrKernelTable tsr_kernels_base(void);
TsrKernelTable tsr_kernels_avx2(void);
TsrKernelTable tsr_kernels_avx512(void);
TsrKernelTable tsr_kernels_plain(void);
TsrKernelTable tsr_kernels_complex_base(void);
TsrKernelTable tsr_kernels_complex_avx2(void);

#endif
