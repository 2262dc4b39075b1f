/* tsr.h: libtsr, whole: the header a C program includes.
 *
 *     cc prog.c $(pkg-config --cflags --libs tsr)
 *
 * One rule of ownership, in the names: a function with `new` or `retain` in its name gives you a reference to free;
 * `move` consumes its argument; everything else lends. Functions that can fail return TsrStatus (0: success) and leave a
 * message in tsr_error_message(); owned results come through a first `**out` parameter. Semantic versioning: names in
 * these headers stay as they are within a major version. */
#ifndef TSR_H
#define TSR_H

#ifdef __cplusplus
#error "libtsr's headers are C; wrap what you need"
#endif

#include "base.h"
#include "error.h"
#include "mem.h"
#include "text.h"
#include "number.h"
#include "dtype.h"
#include "scalar.h"
#include "device.h"
#include "alloc.h"
#include "storage.h"
#include "layout.h"
#include "tensor.h"
#include "view.h"
#include "borrow.h"
#include "promote.h"
#include "iter.h"
#include "op.h"
#include "indexing.h"
#include "rng.h"
#include "print.h"
#include "io.h"
#include "backend.h"

#endif
