/* image.h: what the formats of pictures share: a picture is a tensor of height, width and channels, uint8 or uint16. */
#ifndef CORE_IO_MEDIA_IMAGE_H
#define CORE_IO_MEDIA_IMAGE_H

#include "core/io_format.h"

/* A picture that is written: `dense` has its elements in order. */
typedef struct TsrImage {
    TsrTensor *dense; /* the caller's */
    int64_t height, width, channels;
    bool bits; /* of bool */
    bool wide; /* of uint16 */
} TsrImage;

/* The one item as a picture of the format: (height, width) or (height, width, channels); TSR_VALUE_ERROR for another
 * shape or dtype. */
TsrStatus tsr_image_new(TsrImage *out, const TsrItems *items, const char *format);

#endif
