/* io_impl.h: the functions behind the rows of io.c's table; each in its own io_<format>.c. Contracts: io.h, TsrFormat. */
#ifndef TSR_IO_IMPL_H
#define TSR_IO_IMPL_H

#include "io.h"

bool tsr_npy_probe(const char *data, size_t size);
TsrStatus tsr_npy_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_npy_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
size_t tsr_npy_expected_size(const char *data, size_t size);

bool tsr_json_probe(const char *data, size_t size);
TsrStatus tsr_json_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_json_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_jsonl_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_jsonl_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

bool tsr_csv_probe(const char *data, size_t size);
TsrStatus tsr_csv_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TsrStatus tsr_raw_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_raw_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TsrStatus tsr_pb_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pb_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* Writes t's elements in row-major order as bytes of its dtype. */
TsrStatus tsr_write_elements(TsrSink *sink, const TsrTensor *t);
/* "[1, 2]" checks and totals for shapes read from files: all sizes >= 0, product and bytes without overflow. */
TsrStatus tsr_check_shape(const TsrInput *in, int64_t *numel, size_t *nbytes, int ndim, const int64_t *shape, TsrDtype dtype);
/* The text of one element for csv and json, shortest or with `precision` significant digits; `whole_point` keeps ".0". Returns its length; buffer of 48 bytes. */
size_t tsr_format_element(char *buffer, TsrScalar value, TsrDtype dtype, int precision, bool whole_point);

#endif
