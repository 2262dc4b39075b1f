/* tsr.h: libtsr, whole: the header a C program includes.
 *
 *     cc prog.c $(pkg-config --cflags --libs tsr)
 *
 * One rule of ownership, in the names: a function with `new` or `retain` in its name gives you a reference to free;
 * `move` consumes its argument; everything else lends. Functions that can fail return TsrStatus (0: success) and leave
 * a message in tsr_error_message(); owned results come through a first `**out` parameter.
 *
 * What C's types let through is checked in every build: a number of dimensions, a dtype, a device, a memory format, a
 * count that is none gives an error (where a function returns no status: the answer that its comment names). A pointer
 * is not checked: it is NULL only where a comment says that it may be, and points to as many elements as the count
 * beside it says. Structs of options begin with the function named after them (tsr_load_options()), which writes their
 * size, so that a later library knows which fields a program has.
 *
 * Threads: any of them may make, hold, view, read and free tensors and storages; counts are atomic, errors are each
 * thread's own. Any may call operators (op.h), load and save; operators that draw random numbers take turns. Who writes
 * to memory that another thread uses, elements or geometry, must order the two. Settings of the process (the default
 * dtype, allocators, number of threads, options of printing, hooks, rows and formats that are registered, seeds of the
 * default generator) are made while no other thread calls. Large operations split over a pool of the library's, one at
 * a time: what finds it taken runs in its own thread.
 *
 * Works from C++ too, where a count is a std::atomic. Semantic versioning: names and structs in these headers stay as
 * they are within a major version, and within a minor one while that is 0. */
#ifndef TSR_TSR_H
#define TSR_TSR_H

#include "base.h"
#include "error.h"
#include "mem.h"
#include "text.h"
#include "number.h"
#include "dtype.h"
#include "scalar.h"
#include "device.h"
#include "alloc.h"
#include "columns.h"
#include "storage.h"
#include "layout.h"
#include "tensor.h"
#include "table.h"
#include "view.h"
#include "borrow.h"
#include "promote.h"
#include "loop.h"
#include "parallel.h"
#include "iter.h"
#include "op.h"
#include "indexing.h"
#include "rng.h"
#include "print.h"
#include "io.h"
#include "backend.h"

#endif
