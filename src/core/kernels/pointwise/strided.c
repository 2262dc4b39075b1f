/* strided.c: runs a loop that takes contiguous operands only over operands of any stride (table.h): operands are
 * gathered into buffers block by block, and a result is scattered from one. An operand with stride 0 is repeated once
 * for all blocks. */
#include "table.h"
#include "core/kernels/move/move.h"

/* Elements of a block. Four buffers of 16-byte elements are 64 KiB of stack; a larger block would no longer stay in
 * cache between gather and loop. */
enum { BLOCK = 1024 };

void tsr_kernel_strided(TsrLoop loop, char *const *data, const int64_t *strides, int64_t n, const void *params,
                        int noperands, const uint8_t *size) {
    _Alignas(64) char buffer[4][BLOCK * 16];
    char *at[4];
    int64_t step[4];
    for (int k = 0; k < noperands; k++) {
        step[k] = size[k];
        if (k > 0 && strides[k] == 0)
            tsr_kernel_move(buffer[k], size[k], data[k], 0, TSR_MIN(n, (int64_t)BLOCK), size[k]);
    }
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t m = TSR_MIN(n - done, (int64_t)BLOCK);
        for (int k = 0; k < noperands; k++) {
            at[k] = strides[k] == size[k] ? data[k] + done * size[k] : buffer[k];
            if (k > 0 && strides[k] != 0 && strides[k] != size[k])
                tsr_kernel_move(at[k], size[k], data[k] + done * strides[k], strides[k], m, size[k]);
        }
        loop(at, step, m, params);
        if (at[0] == buffer[0])
            tsr_kernel_move(data[0] + done * strides[0], strides[0], buffer[0], size[0], m, size[0]);
    }
}
