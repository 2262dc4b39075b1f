/* args.h: PyTorch's message for arguments that fit none of a function's overloads. */
#ifndef TORCH_ARGS_H
#define TORCH_ARGS_H

#include "lang/object/value.h"

/* TypeError "function() received an invalid combination of arguments - got (int, str), but expected ...": what was
 * given after the first `skip` values (self), beside the options, each as PyTorch prints it: "(Tensor input, *, int dim
 * = 0)". Always fails. */
TsrStatus args_fit_none(const char *function, const CallArgs *args, int skip, int count, const char *const *options);

#endif
