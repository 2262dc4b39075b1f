/* random.c: the functions of random.h, each of which calls the best table of loops for this CPU (random.simd.c). */
#include "random_table.h"

static const TsrRandomTable *table(void) { return TSR_FOR_ISA(tsr_random_table); }

void tsr_kernel_mt_block(uint32_t *state, uint32_t *words) { table()->mt_block(state, words); }
void tsr_kernel_mt_temper(const uint32_t *state, uint32_t *words) { table()->mt_temper(state, words); }
void tsr_kernel_uniform_float(float *dst, const uint32_t *words, int64_t n) { table()->uniform_float(dst, words, n); }
void tsr_kernel_normal_blocks(float *data, int64_t n, float mean, float std) {
    table()->normal_blocks(data, n, mean, std);
}

void tsr_kernel_modulo(int64_t *dst, const uint32_t *words, int64_t n, uint32_t range, int64_t base) {
    if (range == 1)
        for (int64_t i = 0; i < n; i++) dst[i] = base;
    else table()->modulo(dst, words, n, range, base);
}
