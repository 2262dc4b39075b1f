/* device.h: device types and indices. cpu and meta are built in; cuda is a slot that a plugin fills; the others that
 * PyTorch knows have a name and nothing behind it: their numbers start at TSR_DEVICE_TYPE_COUNT. */
#ifndef TSR_DEVICE_H
#define TSR_DEVICE_H

#include "error.h"

TSR_PUBLIC_BEGIN

/* The device types that can have an allocator. */
typedef enum TsrDeviceType { TSR_CPU = 0, TSR_CUDA = 1, TSR_META = 2, TSR_DEVICE_TYPE_COUNT } TsrDeviceType;
/* A device type (possibly one that is only a name) and an index; two bytes, passed by value. */
typedef struct TsrDevice {
    uint8_t type;
    int8_t index; /* -1: none given */
} TsrDevice;

/* The two built-in devices, without an index. */
#define TSR_DEVICE_CPU ((TsrDevice){TSR_CPU, -1})
#define TSR_DEVICE_META ((TsrDevice){TSR_META, -1})

/* The same type and index; "cuda" and "cuda:0" differ. */
static inline bool tsr_device_equal(TsrDevice a, TsrDevice b) { return a.type == b.type && a.index == b.index; }
/* Whether a plugin serves it (backend.h): its memory is not for the host to read. */
static inline bool tsr_device_has_backend(TsrDevice d) { return TSR_UNLIKELY(d.type == TSR_CUDA); }
const char *tsr_device_type_name(uint8_t type); /* "cpu", "mps"; static */
/* "cpu", "cuda:0" into `buffer` of at least 16 bytes; returns buffer. */
char *tsr_device_format(TsrDevice d, char *buffer);
/* Parses "cpu", "cuda:1", "meta", "mps:0". TSR_RUNTIME_ERROR with PyTorch's text when malformed or unknown. */
TsrStatus tsr_device_parse(TsrDevice *out, const char *text);

TSR_PUBLIC_END

#endif
