/* segments.h: draw(memory='cuda'): the segments that a device's allocators took from the driver as bars, cut into
 * blocks with the names of the tensors in them. */
#ifndef SHOW_DRAW_SEGMENTS_H
#define SHOW_DRAW_SEGMENTS_H

#include "canvas.h"
#include "core/device.h"

/* As text; `canvas` NULL, or empty: the same as shapes, its size is set. RuntimeError where there is no such device. */
TsrStatus draw_segments(TsrText *out, Canvas *canvas, TsrDevice device, bool unicode);

#endif
