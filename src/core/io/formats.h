/* formats.h: the functions behind the rows of io.c's table, each format's in the file of its name.
 *
 * NAME_probe, NAME_read, NAME_write and NAME_expected_size are TsrFormat's members of those names (io_format.h), which
 * states their contracts. */
#ifndef CORE_IO_FORMATS_H
#define CORE_IO_FORMATS_H

#include "core/io.h"

/* NumPy's .npy (numpy.lib.format). */
bool tsr_npy_probe(const char *data, size_t size);
TsrStatus tsr_npy_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_npy_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
size_t tsr_npy_expected_size(const char *data, size_t size);
/* The two parts of a file of t: appends the header, and gives the caller *dense, a contiguous tensor whose bytes
 * follow. TSR_VALUE_ERROR for a dtype that npy does not have. */
TsrStatus tsr_npy_new_parts(TsrText *header, TsrTensor **dense, const TsrTensor *t);

/* The dtype of an npy type code such as "f4" (n bytes, without the byte order mark); TSR_DTYPE_NONE when there is none.
 */
TsrDtype tsr_npy_dtype(const char *code, size_t n);
const char *tsr_npy_code(TsrDtype dtype); /* the same, backwards; NULL when npy has none */
/* Writes what stands before the data: `literal`, the dict, after its length, filled up to a multiple of 64. */
TsrStatus tsr_npy_put_header(TsrSink *sink, const TsrText *literal);
/* Whether the dtype of a file of npy is one that neither a tensor nor a column nor a table has: objects, texts in two
 * dimensions, records of records; the header must be sound. Its text goes into `what` (440 bytes). */
bool tsr_npy_is_foreign(char *what, const TsrInput *in);

/* A zip file of .npy members. */
bool tsr_npz_probe(const char *data, size_t size);
TsrStatus tsr_npz_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_npz_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* torch.save's zip file with a pickle. */
bool tsr_pt_probe(const char *data, size_t size);
TsrStatus tsr_pt_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pt_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* A JSON header of names, dtypes, shapes and offsets, then the bytes. */
bool tsr_safetensors_probe(const char *data, size_t size);
TsrStatus tsr_safetensors_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_safetensors_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
size_t tsr_safetensors_expected_size(const char *data, size_t size);

/* JSON, nested lists of numbers; jsonl: one value a line. */
bool tsr_json_probe(const char *data, size_t size);
/* Whether the first line is an object without lists and objects in it, and another one begins on the next: rows of a
 * table, more likely than records of JSON. */
bool tsr_jsonl_probe(const char *data, size_t size);
bool tsr_json_agrees(const char *data, size_t size);
TsrStatus tsr_json_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_json_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_json_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted);
TsrStatus tsr_jsonl_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_jsonl_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* CSV and TSV. tsr_csv_is_text: whether the first bytes can be a table's, that is, are not binary. */
bool tsr_csv_is_text(const char *data, size_t size);
bool tsr_csv_probe(const char *data, size_t size);
TsrStatus tsr_csv_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
/* A table that comes in pieces of whole records. new: `in` is its beginning; *body is how many of its bytes stand
 * before the first row. `parsed` is a list of columns as options->columns is, or NULL: the others are left out, yet
 * what the table is goes by all of them. next: the rows of `in`. *out is the caller's. */
typedef struct TsrCsvPieces TsrCsvPieces;
TsrStatus tsr_csv_pieces_new(TsrCsvPieces **out, size_t *body, TsrInput *in, const TsrLoadOptions *options,
                             const char *parsed);
void tsr_csv_pieces_free(TsrCsvPieces *pieces); /* NULL is fine */
TsrStatus tsr_csv_pieces_next(TsrItems *out, TsrCsvPieces *pieces, TsrInput *in, const TsrLoadOptions *options,
                              bool first);
TsrStatus tsr_csv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_csv_put(TsrText *out, TsrScalar value, TsrDtype dtype, const TsrSaveOptions *options, bool quoted);
TsrStatus tsr_tsv_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* Bytes of one dtype without a header. */
TsrStatus tsr_raw_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_raw_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* Markdown: a table as people read it; written only. */
TsrStatus tsr_markdown_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_markdown_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* ggml's models: named tensors, keys with values. */
bool tsr_gguf_probe(const char *data, size_t size);
TsrStatus tsr_gguf_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_gguf_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* Pictures: tensors of height, width and channels. pgm and ppm are read by one function. */
bool tsr_png_probe(const char *data, size_t size);
TsrStatus tsr_png_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_png_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
bool tsr_pgm_probe(const char *data, size_t size);
bool tsr_ppm_probe(const char *data, size_t size);
TsrStatus tsr_netpbm_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pgm_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);
TsrStatus tsr_ppm_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* Sound: a tensor of frames and channels. */
bool tsr_wav_probe(const char *data, size_t size);
TsrStatus tsr_wav_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_wav_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* The files of MNIST. */
bool tsr_idx_probe(const char *data, size_t size);
TsrStatus tsr_idx_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_idx_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* TensorFlow's TensorProto. */
TsrStatus tsr_pb_read(TsrItems *out, TsrInput *in, const TsrLoadOptions *options);
TsrStatus tsr_pb_write(TsrSink *sink, const TsrItems *items, const TsrSaveOptions *options);

/* What was asked for ("dtype columns", or NULL) has a meaning in this format. */
TsrStatus tsr_format_takes(const TsrInput *in, const TsrFormat *format, const char *given);
/* All records of an input, whose hold it releases. *out is the caller's (tsr_records_free). */
TsrStatus tsr_input_records(TsrRecords *out, TsrInput *in, const TsrFormat *format, const TsrLoadOptions *options);

#endif
