/* grad_mode.h: torch.no_grad and its kin, which set what torch.is_grad_enabled() answers. */
#ifndef TORCH_GRAD_MODE_H
#define TORCH_GRAD_MODE_H

#include "lang/object/native.h"

extern Type no_grad_type, enable_grad_type, inference_mode_type, set_grad_enabled_type;
extern const Method torch_grad_mode_functions[]; /* the questions */

#endif
