/* dtype, layout, memory_format, device, Generator, finfo and iinfo as values. */
#include "torch/tensor/copying.h"
#include "types.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "torch/cuda/cuda.h"
#include "lang/object/args.h"
#include "torch/bind/args.h"
#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

/* ---- dtype ---- */

#define DTYPE(suffix, ...) {.obj = {{{0x40000000u, 0}}, &dtype_type}, .dtype = TSR_##suffix},
static DtypeObj dtypes[TSR_DTYPE_COUNT] = {
#include "core/dtype.def"
};
#undef DTYPE

static inline TsrDtype dtype_of(Value v) { return ((DtypeObj *)v.o)->dtype; }

Value dtype_value(TsrDtype d) { return d < TSR_DTYPE_COUNT ? value_retain(value_lent(&dtypes[d])) : VALUE_NONE; }

bool (*dtype_hook)(TsrDtype *out, Value v);

Value dtype_object(Value v) {
    TsrDtype d;
    return v.tag == V_OBJ && dtype_hook != NULL && dtype_hook(&d, v) ? value_lent(&dtypes[d]) : v;
}

bool dtype_from_value(TsrDtype *out, Value v) {
    if (v.tag != V_OBJ) return false;
    if (v.o->type == &dtype_type) *out = dtype_of(v);
    else if (v.o == &float_type.obj) *out = TSR_FLOAT64;
    else if (v.o == &int_type.obj) *out = TSR_INT64;
    else if (v.o == &bool_type.obj) *out = TSR_BOOL;
    else if (v.o == &complex_type.obj) *out = TSR_COMPLEX128;
    else return dtype_hook != NULL && dtype_hook(out, v);
    return true;
}

static TsrStatus dtype_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "torch.%s", tsr_dtype_name(dtype_of(self)));
}

/* An attribute of self. */
#define GET(name, value) \
    static TsrStatus name(Value *out, Value self) { \
        *out = value; \
        return TSR_OK; \
    }

GET(dtype_floating, value_bool(tsr_dtype_is_float(dtype_of(self))))
GET(dtype_complex, value_bool(tsr_dtype_is_complex(dtype_of(self))))
GET(dtype_signed, value_bool(tsr_dtype_is_signed(dtype_of(self))))
GET(dtype_itemsize, value_int((int64_t)tsr_dtype_size(dtype_of(self))))

static TsrStatus to_real(Value *out, const CallArgs *args) {
    *out = dtype_value(tsr_dtype_real_of(dtype_of(args->values[0])));
    return TSR_OK;
}
static TsrStatus to_complex(Value *out, const CallArgs *args) {
    TsrDtype d = dtype_of(args->values[0]);
    bool known = tsr_dtype_is_complex(d) || (tsr_dtype_is_float(d) && tsr_dtype_size(d) > 1);
    if (!known) return tsr_error(TSR_RUNTIME_ERROR, "Unknown Complex ScalarType for %s", tsr_dtype_scalar_name(d));
    *out = dtype_value(tsr_dtype_complex_of(d));
    return TSR_OK;
}

/* bool is b8, of the others the kind's letters and what follows it, without an underscore: bf16, i64, f8e5m2. */
static TsrStatus dtype_abbr(Value *out, Value self) {
    static const struct {
        const char *kind, *letters;
    } kinds[] = {{"bfloat", "bf"}, {"float", "f"},     {"uint", "u"}, {"int", "i"},
                 {"complex", "c"}, {"bcomplex", "bc"}, {"bool", "b8"}};
    const char *name = tsr_dtype_name(dtype_of(self));
    for (size_t i = 0; i < TSR_COUNTOF(kinds); i++) {
        size_t n = strlen(kinds[i].kind), digits;
        if (strncmp(name, kinds[i].kind, n) != 0) continue;
        name += n;
        digits = strcspn(name, "_");
        return str_new_format(out, "%s%.*s%s", kinds[i].letters, (int)digits, name,
                              name[digits] == '_' ? name + digits + 1 : "");
    }
    return str_new_c(out, name);
}

static const Getter dtype_getters[] = {
    {"is_floating_point", dtype_floating, NULL, "whether its elements are real floats"},
    {"is_complex", dtype_complex, NULL, "whether its elements are complex"},
    {"is_signed", dtype_signed, NULL, "whether its elements have a sign"},
    {"itemsize", dtype_itemsize, NULL, "bytes of an element"},
    {"abbr", dtype_abbr, NULL, "a short name"},
    {NULL, NULL, NULL, NULL},
};
static const Method dtype_methods[] = {
    {"to_real", to_real, ARGS_NONE, 0, 0, "()", "The real dtype of the same precision."},
    {"to_complex", to_complex, ARGS_NONE, 0, 0, "()", "The complex dtype of the same precision."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};
Type dtype_type = {.obj = TYPE_HEADER,
                   .name = "torch.dtype",
                   .flags = TYPE_ATOMIC,
                   .repr = dtype_repr,
                   .getters = dtype_getters,
                   .methods = dtype_methods};

/* What messages call a dtype: in ATen's words, and in C++'s. */
static TsrStatus name_in_messages(Value *out, Value v, const char *(*name_of)(TsrDtype d)) {
    TsrDtype d;
    if (!dtype_from_value(&d, v)) return tsr_error(TSR_TYPE_ERROR, "a dtype is wanted, not %s", value_type_name(v));
    return str_new_c(out, name_of(d));
}
static TsrStatus fn_kind(Value *out, const CallArgs *args) {
    return name_in_messages(out, args->values[0], tsr_dtype_scalar_name);
}
static TsrStatus fn_c_name(Value *out, const CallArgs *args) {
    return name_in_messages(out, args->values[0], tsr_dtype_c_name);
}
const Method torch_dtype_names[] = {
    {"_kind", fn_kind, ARGS_ONE, 1, 1, "(dtype)", "A dtype's name in errors: 'Float', 'Long'."},
    {"_c_name", fn_c_name, ARGS_ONE, 1, 1, "(dtype)", "Its name in C++: 'float', 'c10::Half'."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};

/* ---- layout and memory_format ---- */

static const char *const layout_names[] = {"strided",    "sparse_coo", "sparse_csr",
                                           "sparse_csc", "sparse_bsr", "sparse_bsc"};
static const char *const format_names[] = {"contiguous_format", "preserve_format", "channels_last", "channels_last_3d"};
#define LAYOUT(n) \
    { .obj = {{{0x40000000u, 0}}, &layout_type}, .layout = n }
#define FORMAT(n) \
    { .obj = {{{0x40000000u, 0}}, &format_type}, .format = n }
static LayoutObj layouts[] = {LAYOUT(0), LAYOUT(1), LAYOUT(2), LAYOUT(3), LAYOUT(4), LAYOUT(5)};
static FormatObj formats[] = {FORMAT(TSR_CONTIGUOUS), FORMAT(TSR_PRESERVE), FORMAT(TSR_CHANNELS_LAST),
                              FORMAT(TSR_CHANNELS_LAST_3D)};

Value layout_value(uint8_t layout) { return value_retain(value_lent(&layouts[layout])); }
Value format_value(TsrMemoryFormat f) { return value_retain(value_lent(&formats[f])); }
static TsrStatus layout_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "torch.%s", layout_names[((LayoutObj *)self.o)->layout]);
}
static TsrStatus format_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "torch.%s", format_names[((FormatObj *)self.o)->format]);
}

Type layout_type = {.obj = TYPE_HEADER, .name = "torch.layout", .flags = TYPE_ATOMIC, .repr = layout_repr};
Type format_type = {.obj = TYPE_HEADER, .name = "torch.memory_format", .flags = TYPE_ATOMIC, .repr = format_repr};

/* ---- device ---- */

TsrStatus device_new(Value *out, TsrDevice d) {
    DeviceObj *o = obj_new(&device_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->device = d;
    *out = value_obj_move(o);
    return TSR_OK;
}

TsrStatus device_from_value(TsrDevice *out, bool *ok, Value v) {
    *ok = true;
    if (value_is_obj(v, &device_type)) {
        *out = ((DeviceObj *)v.o)->device;
        return TSR_OK;
    }
    if (value_is_str(v)) return tsr_device_parse(out, value_as_str(v)->data);
    if (v.tag == V_INT) {
        if (v.i < 0 || v.i > 127) return tsr_error(TSR_RUNTIME_ERROR, "Device index must not be negative");
        *out = (TsrDevice){TSR_CUDA, (int8_t)v.i};
        return TSR_OK;
    }
    *ok = false;
    return TSR_OK;
}

static inline TsrDevice device_of(Value v) { return ((DeviceObj *)v.o)->device; }

static TsrStatus device_repr(TsrText *out, Value self) {
    TsrDevice d = device_of(self);
    if (d.index < 0) return tsr_text_printf(out, "device(type='%s')", tsr_device_type_name(d.type));
    return tsr_text_printf(out, "device(type='%s', index=%d)", tsr_device_type_name(d.type), d.index);
}

static TsrStatus device_str(TsrText *out, Value self) {
    char buffer[16];
    return tsr_text_puts(out, tsr_device_format(device_of(self), buffer));
}

static TsrStatus device_hash(int64_t *out, Value self) {
    *out = device_of(self).type * 1000 + device_of(self).index + 7;
    return TSR_OK;
}

static TsrStatus device_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op == CMP_EQ || op == CMP_NE) && value_is_obj(a, &device_type) && value_is_obj(b, &device_type))
        *out = value_bool(tsr_device_equal(device_of(a), device_of(b)) == (op == CMP_EQ));
    return TSR_OK;
}

static const char *const device_options[] = {"(torch.device device)", "(str type, int index = -1)"};

static TsrStatus device_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    Value kind = arg_at(args, 0), index = arg_at(args, 1);
    for (int k = 0; k < args->keyword_count; k++) {
        if (str_equal_c(args->names[k], "type") || str_equal_c(args->names[k], "device"))
            kind = args->values[args->count + k];
        if (str_equal_c(args->names[k], "index")) index = args->values[args->count + k];
    }
    TsrDevice d;
    bool ok = false;
    bool fits = args->count <= 2 && (index.tag == V_UNBOUND || (index.tag == V_INT && value_is_str(kind)));
    if (fits && kind.tag != V_UNBOUND) TSR_TRY(device_from_value(&d, &ok, kind));
    if (!ok) return args_fit_none("device", args, 0, 2, device_options);
    if (index.tag == V_INT) {
        if (d.index >= 0)
            return tsr_error(TSR_RUNTIME_ERROR,
                             "type (string) must not include an index because index was passed explicitly: %s",
                             value_as_str(kind)->data);
        if (index.i < 0 || index.i > 127) return tsr_error(TSR_RUNTIME_ERROR, "Device index must not be negative");
        d.index = (int8_t)index.i;
    }
    return device_new(out, d);
}

static TsrStatus device_get_type(Value *out, Value self) {
    return str_new_c(out, tsr_device_type_name(device_of(self).type));
}

GET(device_get_index, device_of(self).index < 0 ? VALUE_NONE : value_int(device_of(self).index))

/* `with device:` makes it the default. The ones before wait in a list, since one device may be entered twice. */
TsrDevice device_default = TSR_DEVICE_CPU;
static struct {
    TsrDevice *before;
    size_t count, room;
} entered;

static TsrStatus device_enter(Value *out, const CallArgs *args) {
    TSR_TRY(tsr_mem_grow(&entered.before, &entered.room, entered.count + 1, sizeof *entered.before));
    entered.before[entered.count++] = device_default;
    device_default = device_of(args->values[0]);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus device_exit(Value *out, const CallArgs *args) {
    (void)args;
    if (entered.count > 0) device_default = entered.before[--entered.count];
    *out = VALUE_NONE;
    return TSR_OK;
}

static const Method device_methods[] = {
    {"__enter__", device_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Makes it the default device."},
    {"__exit__", device_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Gives the one before back."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};

static void device_destroy(Obj *self) { obj_free(self, sizeof(DeviceObj)); }

static const Getter device_getters[] = {{"type", device_get_type, NULL, "'cpu', 'cuda' or 'meta'"},
                                        {"index", device_get_index, NULL, "its number, or None"},
                                        {NULL, NULL, NULL, NULL}};
Type device_type = {.obj = TYPE_HEADER,
                    .name = "torch.device",
                    .flags = TYPE_ATOMIC,
                    .construct = device_construct,
                    .destroy = device_destroy,
                    .repr = device_repr,
                    .str = device_str,
                    .hash = device_hash,
                    .compare = device_compare,
                    .methods = device_methods,
                    .getters = device_getters};

/* ---- Generator ---- */

TsrStatus torch_generator_new(Value *out, TsrGenerator *rng) {
    GeneratorObj *o = obj_new(&torch_generator_type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->rng = tsr_rng_retain(rng);
    *out = value_obj_move(o);
    return TSR_OK;
}

TsrStatus generator_default(Value *out) {
    static Value kept;
    if (kept.tag == V_UNBOUND) TSR_TRY(torch_generator_new(&kept, tsr_rng_default()));
    *out = value_retain(kept);
    return TSR_OK;
}

static inline TsrGenerator *rng_of(Value v) { return ((GeneratorObj *)v.o)->rng; }

/* Generators draw on the host and on CUDA devices. *d gets the device's index. */
static TsrStatus check_generator_device(TsrDevice *d) {
    char name[16];
    if (d->type == TSR_CPU) return TSR_OK;
    snprintf(name, sizeof name, "%s", tsr_device_type_name(d->type));
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    if (d->type != TSR_CUDA)
        return d->type == TSR_META
                   ? tsr_error(TSR_RUNTIME_ERROR, "%s device type not an accelerator.", name)
                   : tsr_error(TSR_RUNTIME_ERROR, "Cannot execute getNewGenerator() without %s backend.", name);
    const TsrBackend *b;
    if (tsr_backend_get(&b, TSR_CUDA) != TSR_OK) return torch_cuda_no_driver();
    return tsr_device_resolve(d);
}

static TsrStatus generator_construct(Value *out, Type *type, const CallArgs *args) {
    (void)type;
    TsrGenerator *rng;
    Value given = args->count > 0 ? args->values[0] : args_keyword(args, "device");
    TsrDevice d = TSR_DEVICE_CPU;
    if (given.tag != V_UNBOUND) {
        bool ok;
        TSR_TRY(device_from_value(&d, &ok, given));
        if (!ok)
            return tsr_error(TSR_TYPE_ERROR, "Generator(): argument 'device' (position 1) must be torch.device, not %s",
                             value_type_name(given));
        TSR_TRY(check_generator_device(&d));
    }
    TSR_TRY(d.type == TSR_CUDA ? tsr_rng_new_philox(&rng, d.index) : tsr_rng_new(&rng));
    TsrStatus s = torch_generator_new(out, rng);
    tsr_rng_free(rng);
    return s;
}

static void generator_destroy(Obj *self) {
    tsr_rng_free(((GeneratorObj *)self)->rng);
    obj_free(self, sizeof(GeneratorObj));
}

static TsrStatus generator_repr(TsrText *out, Value self) {
    (void)self;
    return tsr_text_puts(out, "<torch._C.Generator object>");
}

/* A whole number of 64 bits, for the C++ function `name`. */
static TsrStatus long_of(uint64_t *out, Value v, const char *name) {
    int64_t small;
    if (value_small_int(v, &small)) {
        *out = (uint64_t)small;
        return TSR_OK;
    }
    if (value_is_bigint(v) && int_fits_uint64(v, out)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "%s expected a long, but got %s", name, value_type_name(v));
}

static TsrStatus generator_seed_with(Value *out, const CallArgs *args) {
    uint64_t seed;
    TSR_TRY(long_of(&seed, args->values[1], "manual_seed"));
    tsr_rng_seed(rng_of(args->values[0]), seed);
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus generator_initial(Value *out, const CallArgs *args) {
    return int_new_uint64(out, tsr_rng_initial_seed(rng_of(args->values[0])));
}

TsrStatus rng_state_value(Value *out, const TsrGenerator *g) {
    TsrTensor *t;
    TSR_TRY(tsr_tensor_new(&t, 1, (int64_t[]){(int64_t)tsr_rng_state_bytes(g)}, TSR_UINT8, TSR_DEVICE_CPU));
    tsr_rng_get_state(g, tsr_data(t));
    *out = value_tensor_move(t);
    return TSR_OK;
}

TsrStatus rng_state_set(TsrGenerator *g, Value state) {
    if (state.tag != V_TENSOR || state.t->dtype != TSR_UINT8 || state.t->device.type != TSR_CPU)
        return tsr_error(TSR_TYPE_ERROR, "RNG state must be a torch.ByteTensor");
    TsrTensor *dense;
    TSR_TRY(tsr_tensor_new_contiguous(&dense, state.t, TSR_CONTIGUOUS));
    TsrStatus s = tsr_rng_set_state(g, tsr_data(dense), (size_t)dense->numel);
    tsr_tensor_free(dense);
    return s;
}

static TsrStatus generator_get_state(Value *out, const CallArgs *args) {
    return rng_state_value(out, rng_of(args->values[0]));
}

static TsrStatus generator_set_state(Value *out, const CallArgs *args) {
    TSR_TRY(rng_state_set(rng_of(args->values[0]), args->values[1]));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus generator_get_offset(Value *out, const CallArgs *args) {
    uint64_t offset;
    TSR_TRY(tsr_rng_get_offset(&offset, rng_of(args->values[0])));
    return int_new_uint64(out, offset);
}

static TsrStatus generator_set_offset(Value *out, const CallArgs *args) {
    uint64_t offset;
    TSR_TRY(long_of(&offset, args->values[1], "manual_offset"));
    TSR_TRY(tsr_rng_set_offset(rng_of(args->values[0]), offset));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus generator_clone(Value *out, const CallArgs *args) {
    uint8_t state[TSR_RNG_STATE_BYTES];
    TsrGenerator *rng, *from = rng_of(args->values[0]);
    int index = tsr_rng_device(from);
    TSR_TRY(index >= 0 ? tsr_rng_new_philox(&rng, index) : tsr_rng_new(&rng));
    tsr_rng_get_state(from, state);
    TsrStatus status = tsr_rng_set_state(rng, state, tsr_rng_state_bytes(from));
    if (status == TSR_OK) status = torch_generator_new(out, rng);
    tsr_rng_free(rng);
    return status;
}

static TsrStatus generator_seed(Value *out, const CallArgs *args) {
    return int_new_uint64(out, tsr_rng_seed_from_system(rng_of(args->values[0])));
}

static TsrStatus generator_device(Value *out, Value self) {
    int index = tsr_rng_device(rng_of(self));
    return device_new(out, index >= 0 ? (TsrDevice){TSR_CUDA, (int8_t)index} : TSR_DEVICE_CPU);
}

static const Method generator_methods[] = {
    {"manual_seed", generator_seed_with, ARGS_ONE, 1, 1, "(seed)", "Starts the stream that belongs to the seed."},
    {"initial_seed", generator_initial, ARGS_NONE, 0, 0, "()", "The seed that the stream started with."},
    {"seed", generator_seed, ARGS_NONE, 0, 0, "()", "Starts a stream that nobody can foresee; returns its seed."},
    {"get_state", generator_get_state, ARGS_NONE, 0, 0, "()", "Its state, a uint8 tensor."},
    {"get_offset", generator_get_offset, ARGS_NONE, 0, 0, "()", "Where the words of a device's threads go on."},
    {"set_offset", generator_set_offset, ARGS_ONE, 1, 1, "(offset)", "Goes on there; a multiple of 4."},
    {"clone_state", generator_clone, ARGS_NONE, 0, 0, "()", "Another generator, in the same state."},
    {"set_state", generator_set_state, ARGS_ONE, 1, 1, "(new_state)", "Goes back to a state that get_state gave."},
    {NULL, NULL, 0, 0, 0, NULL, NULL},
};
static const Getter generator_getters[] = {{"device", generator_device, NULL, "where it draws"},
                                           {NULL, NULL, NULL, NULL}};
Type torch_generator_type = {.obj = TYPE_HEADER,
                             .name = "torch._C.Generator",
                             .construct = generator_construct,
                             .destroy = generator_destroy,
                             .repr = generator_repr,
                             .copy = copy_generator,
                             .methods = generator_methods,
                             .getters = generator_getters};

/* ---- finfo and iinfo ---- */

typedef struct InfoObj {
    Obj obj;
    TsrDtype dtype;
} InfoObj;
static const TsrLimits *limits_of(Value info) { return &tsr_dtypes[((InfoObj *)info.o)->dtype].limits; }

static TsrStatus info_new(Value *out, Type *type, TsrDtype d) {
    InfoObj *o = obj_new(type, sizeof *o);
    if (o == NULL) return TSR_MEMORY_ERROR;
    o->dtype = d;
    *out = value_obj_move(o);
    return TSR_OK;
}

static TsrStatus info_argument(Value *v, const CallArgs *args, const char *name, bool required) {
    *v = arg_at(args, 0);
    if (v->tag == V_UNBOUND) *v = args_keyword(args, "type");
    if (v->tag == V_UNBOUND)
        return required ? tsr_error(TSR_TYPE_ERROR, "%s() missing 1 required positional arguments: \"type\"", name)
                        : TSR_OK;
    *v = dtype_object(*v);
    if (value_is_obj(*v, &dtype_type)) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "%s(): argument 'type' (position 1) must be torch.dtype, not %s", name,
                     value_type_name(*v));
}

static TsrStatus finfo_construct(Value *out, Type *type, const CallArgs *args) {
    Value v;
    TSR_TRY(info_argument(&v, args, "finfo", false));
    TsrDtype d = v.tag == V_UNBOUND ? tsr_default_dtype() : tsr_dtype_real_of(dtype_of(v));
    if (!tsr_dtype_is_float(d))
        return tsr_error(TSR_TYPE_ERROR,
                         "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'");
    return info_new(out, type, d);
}

static TsrStatus iinfo_construct(Value *out, Type *type, const CallArgs *args) {
    Value v;
    TSR_TRY(info_argument(&v, args, "iinfo", true));
    TsrDtype d = dtype_of(v);
    if (d == TSR_BOOL) return tsr_error(TSR_TYPE_ERROR, "torch.bool is not supported by torch.iinfo");
    if (!tsr_dtype_is_integral(d))
        return tsr_error(TSR_TYPE_ERROR,
                         "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'");
    return info_new(out, type, d);
}

static TsrStatus finfo_repr(TsrText *out, Value self) {
    const TsrLimits *l = limits_of(self);
    return tsr_text_printf(out, "finfo(resolution=%g, min=%g, max=%g, eps=%g, smallest_normal=%g, tiny=%g, dtype=%s)",
                           l->resolution, l->low, l->high, l->eps, l->tiny, l->tiny,
                           tsr_dtype_name(((InfoObj *)self.o)->dtype));
}

static void iinfo_limits(TsrDtype d, int64_t *min, uint64_t *max) {
    int bits = (int)tsr_dtype_size(d) * 8;
    bool is_signed = tsr_dtype_kind(d) == TSR_KIND_INT;
    *max = is_signed ? (uint64_t)INT64_MAX >> (64 - bits) : UINT64_MAX >> (64 - bits);
    *min = is_signed ? -(int64_t)*max - 1 : 0;
}

static TsrStatus iinfo_repr(TsrText *out, Value self) {
    int64_t min;
    uint64_t max;
    TsrDtype d = ((InfoObj *)self.o)->dtype;
    iinfo_limits(d, &min, &max);
    return tsr_text_printf(out, "iinfo(min=%g, max=%g, dtype=%s)", (double)min, (double)max, tsr_dtype_name(d));
}

static TsrStatus info_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op == CMP_EQ || op == CMP_NE) && value_type(a) == value_type(b))
        *out = value_bool((((InfoObj *)a.o)->dtype == ((InfoObj *)b.o)->dtype) == (op == CMP_EQ));
    return TSR_OK;
}

static TsrStatus info_hash(int64_t *out, Value self) {
    *out = ((InfoObj *)self.o)->dtype;
    return TSR_OK;
}
static void info_destroy(Obj *self) { obj_free(self, sizeof(InfoObj)); }

static TsrStatus info_dtype(Value *out, Value self) {
    return str_new_c(out, tsr_dtype_name(((InfoObj *)self.o)->dtype));
}

GET(info_bits, value_int((int64_t)tsr_dtype_size(((InfoObj *)self.o)->dtype) * 8))
GET(finfo_max, value_float(limits_of(self)->high))
GET(finfo_min, value_float(limits_of(self)->low))
GET(finfo_eps, value_float(limits_of(self)->eps))
GET(finfo_tiny, value_float(limits_of(self)->tiny))
GET(finfo_resolution, value_float(limits_of(self)->resolution))

static TsrStatus iinfo_max(Value *out, Value self) {
    int64_t min;
    uint64_t max;
    iinfo_limits(((InfoObj *)self.o)->dtype, &min, &max);
    return int_new_uint64(out, max);
}
static TsrStatus iinfo_min(Value *out, Value self) {
    int64_t min;
    uint64_t max;
    iinfo_limits(((InfoObj *)self.o)->dtype, &min, &max);
    *out = value_int(min);
    return TSR_OK;
}

static const Getter finfo_getters[] = {{"max", finfo_max, NULL, "the largest number"},
                                       {"min", finfo_min, NULL, "the smallest number"},
                                       {"eps", finfo_eps, NULL, "1 + eps is the next number after 1"},
                                       {"tiny", finfo_tiny, NULL, "the smallest normal number"},
                                       {"smallest_normal", finfo_tiny, NULL, "the smallest normal number"},
                                       {"resolution", finfo_resolution, NULL, "the decimal resolution"},
                                       {"bits", info_bits, NULL, "bits of an element"},
                                       {"dtype", info_dtype, NULL, "its name"},
                                       {NULL, NULL, NULL, NULL}};
static const Getter iinfo_getters[] = {{"max", iinfo_max, NULL, "the largest number"},
                                       {"min", iinfo_min, NULL, "the smallest number"},
                                       {"bits", info_bits, NULL, "bits of an element"},
                                       {"dtype", info_dtype, NULL, "its name"},
                                       {NULL, NULL, NULL, NULL}};
static Type finfo_type = {.obj = TYPE_HEADER,
                          .name = "torch.finfo",
                          .construct = finfo_construct,
                          .destroy = info_destroy,
                          .repr = finfo_repr,
                          .compare = info_compare,
                          .hash = info_hash,
                          .getters = finfo_getters};
static Type iinfo_type = {.obj = TYPE_HEADER,
                          .name = "torch.iinfo",
                          .construct = iinfo_construct,
                          .destroy = info_destroy,
                          .repr = iinfo_repr,
                          .compare = info_compare,
                          .hash = info_hash,
                          .getters = iinfo_getters};

/* ---- into the namespace ---- */

static const struct {
    const char *name;
    TsrDtype dtype;
} dtype_aliases[] = {
    {"float", TSR_FLOAT32},    {"double", TSR_FLOAT64},     {"half", TSR_FLOAT16},
    {"long", TSR_INT64},       {"int", TSR_INT32},          {"short", TSR_INT16},
    {"cfloat", TSR_COMPLEX64}, {"cdouble", TSR_COMPLEX128}, {"chalf", TSR_COMPLEX32},
};

static const struct {
    const char *name;
    Type *type;
} types[] = {
    {"dtype", &dtype_type},
    {"layout", &layout_type},
    {"memory_format", &format_type},
    {"device", &device_type},
    {"Generator", &torch_generator_type},
    {"finfo", &finfo_type},
    {"iinfo", &iinfo_type},
    {"Size", &size_type},
};

void torch_types_each(TorchTypeVisit visit, void *context) {
    for (int d = 0; d < TSR_DTYPE_COUNT; d++) visit(tsr_dtype_name((TsrDtype)d), value_lent(&dtypes[d]), context);
    for (size_t i = 0; i < TSR_COUNTOF(dtype_aliases); i++)
        visit(dtype_aliases[i].name, value_lent(&dtypes[dtype_aliases[i].dtype]), context);
    for (size_t i = 0; i < TSR_COUNTOF(layouts); i++) visit(layout_names[i], value_lent(&layouts[i]), context);
    for (size_t i = 0; i < TSR_COUNTOF(formats); i++) visit(format_names[i], value_lent(&formats[i]), context);
    for (size_t i = 0; i < TSR_COUNTOF(types); i++) visit(types[i].name, value_lent(types[i].type), context);
}
