/* formats.h: the functions behind the rows of io.c's table; each in its own io_<format>.c. Contracts: TsrFormat. */
#ifndef CORE_IO_FORMATS_H
#define CORE_IO_FORMATS_H

#include "core/io_format.h"

bool tsr_npy_probe(const char *data, size_t size);
TsrStatus tsr_npy_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_npy_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
size_t tsr_npy_expected_size(const char *data, size_t size);
/* What a file of t is: appends its header; *dense, whose bytes follow, is the caller's. ValueError for a dtype that npy
 * has not. */
TsrStatus tsr_npy_new_parts(TsrText *header, TsrTensor **dense, const TsrTensor *t);

/* Of a type code such as "f4", without the mark of the order of bytes; TSR_DTYPE_NONE: no tensor has it. */
TsrDtype tsr_npy_dtype(const char *code, size_t n);

bool tsr_npz_probe(const char *data, size_t size);
TsrStatus tsr_npz_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_npz_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

bool tsr_pt_probe(const char *data, size_t size);
TsrStatus tsr_pt_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pt_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

bool tsr_safetensors_probe(const char *data, size_t size);
TsrStatus tsr_safetensors_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_safetensors_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
size_t tsr_safetensors_expected_size(const char *data, size_t size);

bool tsr_json_probe(const char *data, size_t size);
bool tsr_json_agrees(const char *data, size_t size);
TsrStatus tsr_json_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_json_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_json_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted);
TsrStatus tsr_jsonl_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_jsonl_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

bool tsr_csv_is_text(const char *data,
                     size_t size); /* what is called a table may be one: its first bytes are no binary ones */
bool tsr_csv_probe(const char *data, size_t size);
TsrStatus tsr_csv_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_csv_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted);
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TsrStatus tsr_raw_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_raw_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

TsrStatus tsr_pb_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pb_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

#endif
