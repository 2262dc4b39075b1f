/* blocks.h: the element types of GGUF: plain ones, and those that pack a block of numbers into few bits. */
#ifndef CORE_IO_GGUF_BLOCKS_H
#define CORE_IO_GGUF_BLOCKS_H

#include "core/dtype.h"

/* Writes the numbers of one block. */
typedef void TsrGgufUnpack(float *out, const uint8_t *block);

typedef struct TsrGgufType {
    uint32_t id;
    const char *name;
    int64_t count, bytes;  /* of a block: its numbers, its size */
    TsrDtype dtype;        /* of plain elements; TSR_DTYPE_NONE: they are packed */
    TsrGgufUnpack *unpack; /* of packed ones */
} TsrGgufType;

const TsrGgufType *tsr_gguf_type(uint32_t id);             /* NULL: unknown */
const TsrGgufType *tsr_gguf_type_of_dtype(TsrDtype dtype); /* NULL: there is none */
/* The numbers of n blocks, one behind the other, on all threads; fails when interrupted. */
TsrStatus tsr_gguf_unpack(float *out, const TsrGgufType *type, const uint8_t *blocks, int64_t n);

#endif
