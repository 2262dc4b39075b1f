/* types.h: the small values of torch: dtype, device, layout, memory_format, Generator, finfo and iinfo. */
#ifndef TORCH_TYPES_H
#define TORCH_TYPES_H

#include "core/op.h"
#include "core/rng.h"
#include "lang/object/native.h"

typedef struct DtypeObj {
    Obj obj;
    TsrDtype dtype;
} DtypeObj; /* static, one a dtype */
typedef struct LayoutObj {
    Obj obj;
    uint8_t layout;
} LayoutObj; /* static */
typedef struct FormatObj {
    Obj obj;
    TsrMemoryFormat format;
} FormatObj; /* static */
typedef struct DeviceObj {
    Obj obj;
    TsrDevice device;
} DeviceObj;
typedef struct GeneratorObj {
    Obj obj;
    TsrGenerator *rng;
} GeneratorObj; /* rng retained */

extern Type dtype_type, layout_type, format_type, device_type, torch_generator_type;

Value dtype_value(TsrDtype d);         /* a reference, the caller's; None for TSR_DTYPE_NONE */
Value layout_value(uint8_t layout);    /* as dtype_value */
Value format_value(TsrMemoryFormat f); /* as dtype_value */
TsrStatus device_new(Value *out, TsrDevice d);
/* Where functions that take no tensor make one when they aren't told: the cpu, or set_default_device()'s, or that of
 * `with torch.device(...):`. */
extern TsrDevice device_default;
TsrStatus generator_default(Value *out); /* torch.default_generator, the same object each time */

/* A generator's state as a uint8 tensor, and back. */
TsrStatus torch_generator_new(Value *out, TsrGenerator *rng); /* a Generator; rng is retained */
TsrStatus rng_state_value(Value *out, const TsrGenerator *g);
TsrStatus rng_state_set(TsrGenerator *g, Value state);

/* A dtype object, or Python's float, int, bool, complex, or what dtype_hook knows; false: something else. */
bool dtype_from_value(TsrDtype *out, Value v);
/* Values of other systems that stand for a dtype; false: no such value. NULL: there are none. */
extern bool (*dtype_hook)(TsrDtype *out, Value v);
/* The dtype object that such a value stands for, lent; any other value as it is. */
Value dtype_object(Value v);
/* A device object, a str ("cuda:1"), or an int (a CUDA index). *ok false: none of these. */
TsrStatus device_from_value(TsrDevice *out, bool *ok, Value v);

extern const Method torch_dtype_names[]; /* of torch._C: what errors call a dtype */
/* torch.strided, torch.float32, torch.Size, ...: visits each name with its value, lent. */
typedef void (*TorchTypeVisit)(const char *name, Value v, void *context);
void torch_types_each(TorchTypeVisit visit, void *context);

#endif
