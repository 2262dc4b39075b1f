/* io_elements.h: what the readers and writers of several formats do with a tensor's elements. */
#ifndef TSR_IO_ELEMENTS_H
#define TSR_IO_ELEMENTS_H

#include "io_format.h"

/* Writes t's elements in row-major order as bytes of its dtype. */
TsrStatus tsr_write_elements(TsrSink *sink, const TsrTensor *t);
/* "[1, 2]" checks and totals for shapes read from files: all sizes >= 0, product and bytes without overflow. */
TsrStatus tsr_check_shape(const TsrInput *in, int64_t *numel, size_t *nbytes, int ndim, const int64_t *shape, TsrDtype dtype);
/* The text of one element for csv and json, shortest or with `precision` significant digits; `whole_point` keeps ".0". Returns its length; buffer of 48 bytes. */
size_t tsr_format_element(char *buffer, TsrScalar value, TsrDtype dtype, int precision, bool whole_point);

#endif
