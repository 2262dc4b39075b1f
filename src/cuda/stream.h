/* stream.h: streams and events of a device by PyTorch's numbers, and copies on them. */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include "driver.h"

extern const TsrStreamTable cuda_streams;

/* The driver's stream of this number; 0 is the default one. The device is entered. TSR_RUNTIME_ERROR for a number that
 * is none. */
TsrStatus cuda_stream_handle(CuStream *out, int index, int64_t id);
/* The same for who puts something into it: passes that were held back (chain.h) are there first. */
TsrStatus cuda_stream(CuStream *out, int index, int64_t id);
int64_t cuda_current_stream(int index); /* of this thread */
TsrStatus cuda_copy(TsrAddress dst, TsrDevice to, TsrAddress src, TsrDevice from, size_t bytes, TsrCopyMode mode);
/* What comes in the stream `after` waits for what is in the stream `before`. */
TsrStatus cuda_stream_follow(int index, int64_t before, int64_t after);
void cuda_uses(TsrAddress address, size_t bytes, int index, bool writes);
TsrStatus cuda_synchronize(int index);

/* A mark in a stream, for memory that other streams use: made and recorded; asked, and freed once it has passed. */
TsrStatus cuda_mark_new(CuEvent *out, int index, int64_t id);
bool cuda_mark_passed(CuEvent mark);
void cuda_mark_free(CuEvent mark);

#endif
