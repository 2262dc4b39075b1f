/* host_alone.h: what the plugin's compiler of kernels asks of a host, for programs that are linked without the core:
 * the C library's memory, and errors that are printed. */
#ifndef CUDA_HOST_ALONE_H
#define CUDA_HOST_ALONE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/backend.h"

static TsrStatus error(TsrStatus kind, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return kind;
}

static const TsrHost host = {.version = TSR_BACKEND_VERSION, .error = error, .malloc = malloc, .free = free};

#endif
