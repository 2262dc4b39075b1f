/* philox.h: Philox4x32-10, numbers from a counter and a key (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as
 * easy as 1, 2, 3, 2011). The host's generators of devices and the kernels of src/cuda share this text: plain C that is
 * C++ too. */
#ifndef CORE_KERNELS_RANDOM_PHILOX_H
#define CORE_KERNELS_RANDOM_PHILOX_H

/* Four words from the counter `low` of the stream `high`: together 128 bits. */
static inline void tsr_philox(uint32_t out[4], uint64_t low, uint64_t high, uint64_t key) {
    uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32), c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)b;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

#endif
