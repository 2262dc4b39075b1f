/* print.h: a tensor as text, byte for byte as PyTorch prints it. */
#ifndef TSR_PRINT_H
#define TSR_PRINT_H

#include "tensor.h"
#include "text.h"

typedef struct TsrPrintOptions { int precision; double threshold; int64_t edgeitems; int64_t linewidth; int sci_mode; /* -1 auto, 0, 1 */ } TsrPrintOptions;
TsrPrintOptions *tsr_print_options(void); /* the process's; torch.set_printoptions writes it */
/* Appends repr(t): "tensor([1., 2.])" with suffixes. `indent`: columns already on the line, for containers. Conj/neg, sparse, string, nested and meta tensors too. */
TsrStatus tsr_print_tensor(TsrText *text, const TsrTensor *t, int indent);
/* Shortest digits that read back as the same double, in Python's repr form ("0.1", "1e+16", "inf"). buffer of at least 32 bytes; returns its length. */
size_t tsr_format_double(char *buffer, double value);

#endif
