/* proto.h: TensorFlow's TensorProto and TensorShapeProto, and caffe2's TensorProtos, as bytes (protocol buffers;
 * wire.h). */
#ifndef CORE_IO_PROTO_H
#define CORE_IO_PROTO_H

#include "core/io_format.h"

/* TensorFlow's DataType numbers: 0 for a dtype it has not, TSR_DTYPE_NONE for a number we have not. */
int tsr_proto_type_of(TsrDtype dtype);
TsrDtype tsr_proto_dtype(int64_t type);

/* Appends a TensorShapeProto. */
TsrStatus tsr_proto_write_shape(TsrText *out, int ndim, const int64_t *sizes);
/* *ndim sizes, at most TSR_MAX_DIMS. ValueError for malformed bytes. */
TsrStatus tsr_proto_read_shape(int *ndim, int64_t *sizes, const char *data, size_t size);
/* Appends a TensorProto: elements in tensor_content, or (not `content`, and always for strings) in the repeated field
 * of their type. */
TsrStatus tsr_proto_write_tensor(TsrText *out, const TsrTensor *t, bool content);
/* *out is the caller's. A single value given for a larger shape fills it, as TensorFlow has it. ValueError says what is
 * wrong and where. */
TsrStatus tsr_proto_new_tensor(TsrTensor **out, const char *data, size_t size);

/* caffe2's TensorProtos: named tensors, one TensorProto each (of caffe2's own kind). Appends; names must not be lost:
 * every item has one. */
TsrStatus tsr_caffe2_write_protos(TsrText *out, const TsrItems *items);
/* *out is the caller's; a tensor without a name is called by its position. ValueError says what is wrong and where. */
TsrStatus tsr_caffe2_read_protos(TsrItems *out, const char *data, size_t size);

#endif
