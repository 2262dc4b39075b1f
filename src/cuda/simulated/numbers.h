/* numbers.h: what the pretended libraries of the simulated device share: elements by NVIDIA's numbers of their types,
 * memory of the device as the host sees it, and launches. */
#ifndef CUDA_SIMULATED_NUMBERS_H
#define CUDA_SIMULATED_NUMBERS_H

#include <complex.h>
#include <stdint.h>

#include "core/element/halffloat.h"
#include "kernels.h"

typedef struct CuStreamBody *CuStream;
int cuLaunchKernel(CuFunction function, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared, CuStream stream, void **arguments,
                   void **extra);

/* cudaDataType. */
enum { NUMBER_F32 = 0, NUMBER_F64 = 1, NUMBER_F16 = 2, NUMBER_C32 = 4, NUMBER_C64 = 5, NUMBER_BF16 = 14 };

/* Addresses of the device are the host's plus this. */
#define DEVICE_BIAS 0x600000000000ull
static inline void *here(const void *address) { return (void *)((uintptr_t)address - DEVICE_BIAS); }

static inline double complex read_number(int type, const void *data, int64_t i) {
    switch (type) {
    case NUMBER_F32: return ((const float *)data)[i];
    case NUMBER_F64: return ((const double *)data)[i];
    case NUMBER_F16: return (double)tsr_half_widen(((const TsrHalf *)data)[i]);
    case NUMBER_BF16: return (double)tsr_bfloat16_widen(((const TsrBfloat16 *)data)[i]);
    case NUMBER_C32: return ((const float complex *)data)[i];
    default: return ((const double complex *)data)[i];
    }
}

static inline void write_number(int type, void *data, int64_t i, double complex value) {
    switch (type) {
    case NUMBER_F32: ((float *)data)[i] = (float)creal(value); break;
    case NUMBER_F64: ((double *)data)[i] = creal(value); break;
    case NUMBER_F16: ((TsrHalf *)data)[i] = tsr_half_round((float)creal(value)); break;
    case NUMBER_BF16: ((TsrBfloat16 *)data)[i] = tsr_bfloat16_round((float)creal(value)); break;
    case NUMBER_C32: ((float complex *)data)[i] = (float complex)value; break;
    default: ((double complex *)data)[i] = value;
    }
}

#endif
