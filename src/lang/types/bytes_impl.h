/* bytes_impl.h: what bytes.c and bytes_methods.c share. */
#ifndef LANG_TYPES_BYTES_IMPL_H
#define LANG_TYPES_BYTES_IMPL_H

#include "bytes.h"

extern const Method bytes_methods[], bytearray_methods[];

/* A value of the type `like`, bytes or bytearray; data NULL: zeroed. */
TsrStatus bytes_new_like(Value *out, const Type *like, const void *data, int64_t size);
/* An int of 0 to 255: "byte must be in range(0, 256)", for `type` "bytes" "bytes must be in range(0, 256)". */
TsrStatus byte_from_value(char *out, Value v, const char *type);
/* Replaces [start, start + removed) by `count` bytes, which may be its own; BufferError when it is exported. */
TsrStatus bytearray_splice(ByteArray *b, int64_t start, int64_t removed, const char *data, int64_t count);

#endif
