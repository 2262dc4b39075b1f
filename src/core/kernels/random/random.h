/* random.h: inner loops of the generator and of the distributions that are drawn in bulk. */
#ifndef CORE_KERNELS_RANDOM_RANDOM_H
#define CORE_KERNELS_RANDOM_RANDOM_H

#include "core/base.h"

/* Words of state of mt19937, and outputs of a block (M. Matsumoto and T. Nishimura, 1998). */
enum { TSR_MT_WORDS = 624 };
/* The next block: state is advanced, words receives the tempered outputs. */
void tsr_kernel_mt_block(uint32_t *state, uint32_t *words);
/* The outputs of a state as it is: TSR_MT_WORDS tempered words. */
void tsr_kernel_mt_temper(const uint32_t *state, uint32_t *words);
/* dst[i] = the low 24 bits of words[i] scaled to [0, 1); dst may be words. */
void tsr_kernel_uniform_float(float *dst, const uint32_t *words, int64_t n);
/* Box-Muller on blocks of 16 uniforms (first 8: radius, last 8: angle), in place; n a multiple of 16. With the
 * polynomials of Cephes' logf, sinf and cosf, as PyTorch's vector path has them. */
void tsr_kernel_normal_blocks(float *data, int64_t n, float mean, float std);
/* dst[i] = words[i] % range + base; 0 < range < 2^28. */
void tsr_kernel_modulo(int64_t *dst, const uint32_t *words, int64_t n, uint32_t range, int64_t base);

#endif
