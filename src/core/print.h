/* print.h: a tensor as text, byte for byte as PyTorch prints it. */
#ifndef TSR_PRINT_H
#define TSR_PRINT_H

#include "tensor.h"
#include "number.h"
#include "text.h"

TSR_PUBLIC_BEGIN

/* torch.set_printoptions' values. */
typedef struct TsrPrintOptions {
    int precision;
    double threshold;
    int64_t edgeitems;
    int64_t linewidth;
    int sci_mode; /* -1 auto, 0, 1 */
} TsrPrintOptions;
TsrPrintOptions *tsr_print_options(void); /* the process's; torch.set_printoptions writes it */
/* Appends repr(t): "tensor([1., 2.])" with suffixes. `indent`: columns already on the line, for containers. Conj/neg,
 * sparse, string, nested and meta tensors too. */
TsrStatus tsr_print_tensor(TsrText *text, const TsrTensor *t, int indent);

TSR_PUBLIC_END

#endif
