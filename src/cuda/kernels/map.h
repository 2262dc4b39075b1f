/* map.h: pointwise passes on the device: what one is made into before it is launched, alone or in a chain. */
#ifndef CUDA_MAP_H
#define CUDA_MAP_H

#include "formulas.h"
#include "cuda/launch.h"

/* The same struct as the kernel's text has. */
#define alignas _Alignas
#include "cuda/device/map_args.h"
#undef alignas

enum { CUDA_MAP_THREADS = 256, CUDA_PACK_BYTES = 16, CUDA_MOST_IN_PACK = 8 };

/* What a pass's kernel is made for. */
typedef struct CudaMapKey {
    uint16_t kernel;
    uint8_t dtype, common, nout, noperands;
    uint8_t pack; /* elements of a pack; 0: strides */
    uint8_t ndim, wide, params;
    struct {
        uint8_t memory, compute, via, number;
    } operand[TSR_DEVICE_OPERANDS];
} CudaMapKey;

/* A pass that the device has code for. */
typedef struct CudaPass {
    TsrDeviceMap map; /* what is computed; its params are lent */
    CudaMapKey key;
    const CudaFormula *formula; /* NULL: where, or a copy */
} CudaPass;

/* Computes it, or holds it back for a chain (chain.h). */
TsrStatus cuda_map(const TsrDeviceMap *map);
/* The text of the kernel that does it; false: there is none. */
bool cuda_map_source(CudaSource *out, const TsrDeviceMap *map);

/* ---- for chains ---- */

/* The pass that a map is. False: the device has no code for it. */
bool cuda_map_pass(CudaPass *out, const TsrDeviceMap *map);

/* Where a pass's numbers and params, and the number of its launch, stand in the arguments `a` of a kernel. */
typedef struct CudaMapNames {
    const char *args; /* the type of `a` */
    char params[24], launch[24];
    uint8_t number[TSR_DEVICE_OPERANDS]; /* places in a.number */
} CudaMapNames;

/* Writes the types M0, C0 ... of a pass, and `element`, which makes one element from those in memory. */
void cuda_map_write_element(CudaSource *s, const CudaPass *pass, const CudaMapNames *names);
/* What the formulas of a kernel call, which stands before its passes: bits. */
enum { CUDA_CALLS_COMPLEX = 1, CUDA_CALLS_SPECIAL = 2 };
unsigned cuda_map_calls(const CudaMapKey *key);
void cuda_map_write_helpers(CudaSource *s, unsigned calls);
/* Whether a divisor of zero is to be reported. */
bool cuda_map_reports(const CudaMapKey *key);

#endif
