/* bytes.h: bytes (never changes) and bytearray. */
#ifndef LANG_TYPES_BYTES_H
#define LANG_TYPES_BYTES_H

#include "lang/object/value.h"

typedef struct Bytes {
    Obj obj;
    int64_t size;
    int64_t hash; /* -1: not computed */
    char data[];  /* a zero byte follows */
} Bytes;

typedef struct ByteArray {
    Obj obj;
    char *data;
    int64_t size, capacity;
    int64_t exports; /* storages that borrow the memory: resizing is then a BufferError */
} ByteArray;

extern Type bytes_type, bytearray_type;
static inline bool value_is_bytes(Value v) { return value_is_obj(v, &bytes_type); }
static inline bool value_is_bytearray(Value v) { return value_is_obj(v, &bytearray_type); }
TsrStatus bytes_new(Value *out, const void *data, int64_t size); /* data NULL: zeroed */
TsrStatus bytearray_new(Value *out, const void *data, int64_t size);
/* The memory of bytes or bytearray, lent; false for other values. */
bool value_as_buffer(Value v, char **data, int64_t *size);
/* format % args, in bytes: into an empty text, which stays empty on failure. */
TsrStatus bytes_percent(TsrText *out, const char *format, int64_t size, Value args);
TsrStatus bytes_repr(TsrText *out, const char *data, int64_t size);

#endif
