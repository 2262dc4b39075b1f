/* convert.c: values of the language as the arguments of a row. */
#include <string.h>

#include "bind_impl.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

TsrStatus bind_refuse_grad(void) {
    return tsr_error(TSR_RUNTIME_ERROR, "tsr has no autograd: requires_grad=True is not supported");
}

static TsrStatus frame_block(void **out, BindFrame *fr, size_t n, size_t size) {
    size_t bytes;
    if (tsr_mul_size_overflows(n, size, &bytes) || fr->nblocks == BIND_BLOCKS) return mem_error();
    *out = tsr_malloc(bytes);
    if (*out == NULL) return mem_error();
    fr->blocks[fr->nblocks++] = *out;
    return TSR_OK;
}

void bind_frame_end(BindFrame *fr) {
    for (int i = 0; i < fr->nmade; i++) tsr_tensor_free(fr->made[i]);
    for (int i = 0; i < fr->nblocks; i++) tsr_free(fr->blocks[i]);
}

TsrStatus bind_scalar(TsrScalar *out, bool *ok, Value v) {
    *ok = true;
    switch (v.tag) {
    case V_BOOL: *out = tsr_scalar_bool(v.b); return TSR_OK;
    case V_INT: *out = tsr_scalar_int(v.i); return TSR_OK;
    case V_FLOAT: *out = tsr_scalar_float(v.f); return TSR_OK;
    case V_TENSOR: *ok = tsr_ndim(v.t) == 0; return *ok ? tsr_tensor_item(out, v.t) : TSR_OK;
    case V_OBJ:
        if (value_is_complex(v)) {
            *out = tsr_scalar_complex(value_as_complex(v)->re, value_as_complex(v)->im);
            return TSR_OK;
        }
        if (value_is_bigint(v)) {
            uint64_t u;
            if (!int_fits_uint64(v, &u))
                return tsr_error(TSR_OVERFLOW_ERROR,
                                 int_sign(v) < 0 ? "can't convert negative int to unsigned" : "int too big to convert");
            *out = (TsrScalar){.kind = TSR_SCALAR_UINT, .u = u};
            return TSR_OK;
        }
    }
    *ok = false;
    return TSR_OK;
}

TsrStatus bind_scalar_value(Value *out, TsrScalar s) {
    switch (s.kind) {
    case TSR_SCALAR_BOOL: *out = value_bool(s.b); return TSR_OK;
    case TSR_SCALAR_INT: *out = value_int(s.i); return TSR_OK;
    case TSR_SCALAR_UINT: return int_new_uint64(out, s.u);
    case TSR_SCALAR_FLOAT: *out = value_float(s.f); return TSR_OK;
    default: return complex_new(out, s.c.re, s.c.im);
    }
}

static TsrStatus to_int(int64_t *out, Value v) {
    if (v.tag == V_INT || v.tag == V_BOOL) {
        *out = v.i;
        return TSR_OK;
    }
    if (v.tag == V_TENSOR) {
        TsrScalar s;
        TSR_TRY(tsr_tensor_item(&s, v.t));
        *out = tsr_scalar_to_int(s);
        return TSR_OK;
    }
    return tsr_error(TSR_VALUE_ERROR, "Overflow when unpacking long long");
}

static TsrStatus bad_element(const BindFrame *fr, const SigParam *p, int64_t i, Value v) {
    if (bind_is_long(v))
        return tsr_error(
            TSR_TYPE_ERROR,
            "%s(): argument '%s' failed to unpack the object at pos %lld with error \"Overflow when unpacking long "
            "long\"",
            fr->from->function->name, p->text, (long long)i + 1);
    return tsr_error(
        TSR_TYPE_ERROR,
        "%s(): argument '%s' failed to unpack the object at pos %lld with error \"type must be %s,but got %s\"",
        fr->from->function->name, p->text, (long long)i + 1, bind_kind_name(p), value_type_name(v));
}

static TsrStatus int_array(int64_t **out, BindFrame *fr, int64_t n) {
    if (fr->nints + n <= BIND_INTS) {
        *out = &fr->ints[fr->nints];
        fr->nints += (int)n;
        return TSR_OK;
    }
    if (n > INT32_MAX) return tsr_error(TSR_RUNTIME_ERROR, "too many numbers in a list: %lld", (long long)n);
    return frame_block((void **)out, fr, (size_t)n, sizeof(int64_t));
}

static TsrStatus to_ints(BindFrame *fr, TsrArg *arg, const SigParam *p, Value v, bool varargs) {
    const Value *items = NULL;
    int64_t n = 0, *ints;
    if (varargs) {
        items = fr->from->args->values + fr->from->skip;
        n = fr->from->args->count - fr->from->skip;
    } else if (!value_as_array(v, &items, &n)) { /* one int for all */
        int64_t one = 0;
        TSR_TRY(to_int(&one, v));
        TSR_TRY(int_array(&ints, fr, p->fixed));
        for (int i = 0; i < p->fixed; i++) ints[i] = one;
        *arg = (TsrArg){.kind = TSR_ARG_INTS, .n = p->fixed, .ints = ints};
        return TSR_OK;
    }
    TSR_TRY(int_array(&ints, fr, n));
    for (int64_t i = 0; i < n; i++) {
        if (items[i].tag == V_INT || items[i].tag == V_BOOL) ints[i] = items[i].i;
        else if (bind_is_index_tensor(items[i])) TSR_TRY(to_int(&ints[i], items[i]));
        else return bad_element(fr, p, i, items[i]);
    }
    *arg = (TsrArg){.kind = TSR_ARG_INTS, .n = (int)n, .ints = ints};
    return TSR_OK;
}

static TsrStatus to_tensor(BindFrame *fr, TsrTensor **out, Value v) {
    TSR_TRY(bind_tensor_of(out, v));
    if (*out != NULL) return TSR_OK;
    TsrScalar s;
    bool ok;
    TSR_TRY(bind_scalar(&s, &ok, v));
    TSR_TRY(tsr_tensor_new_wrapped(out, s));
    fr->made[fr->nmade++] = *out;
    return TSR_OK;
}

static TsrStatus to_tensors(BindFrame *fr, TsrArg *arg, Value v) {
    const Value *items = NULL;
    int64_t n = 0;
    value_as_array(v, &items, &n);
    TsrTensor **list;
    if (n > INT32_MAX) return mem_error();
    TSR_TRY(frame_block((void **)&list, fr, (size_t)n + 1, sizeof *list));
    for (int64_t i = 0; i < n; i++) {
        list[i] = NULL;
        if (items[i].tag != V_NONE) TSR_TRY(bind_tensor_of(&list[i], items[i]));
    }
    *arg = (TsrArg){.kind = TSR_ARG_TENSORS, .n = (int)n, .tensors = list};
    return TSR_OK;
}

static TsrStatus to_number_array(BindFrame *fr, TsrArg *arg, const SigParam *p, Value v) {
    const Value *items = NULL;
    int64_t n = 0;
    void *block;
    value_as_array(v, &items, &n);
    if (n > INT32_MAX) return mem_error();
    TSR_TRY(frame_block(&block, fr, (size_t)n + 1, sizeof(TsrScalar)));
    *arg = (TsrArg){.kind = (TsrArgKind)p->kind, .n = (int)n, .scalars = block};
    for (int64_t i = 0; i < n; i++) {
        TsrScalar s = tsr_scalar_int(0);
        bool ok;
        TSR_TRY(bind_scalar(&s, &ok, items[i]));
        if (!ok) return bad_element(fr, p, i, items[i]);
        if (p->kind == TSR_ARG_SCALARS) arg->scalars[i] = s;
        else if (p->kind == TSR_ARG_FLOATS) arg->floats[i] = tsr_scalar_to_double(s);
        else arg->bools[i] = tsr_scalar_to_bool(s);
    }
    return TSR_OK;
}

static TsrStatus to_scalar(TsrArg *arg, TsrArgKind kind, Value v) {
    TsrScalar s = tsr_scalar_int(0);
    bool ok;
    if (kind == TSR_ARG_FLOAT && value_is_bigint(v)) {
        arg->kind = kind;
        return value_to_double(&arg->f, v);
    }
    TSR_TRY(bind_scalar(&s, &ok, v));
    if (kind == TSR_ARG_SCALAR) *arg = (TsrArg){.kind = kind, .s = s};
    else if (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0)
        return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow");
    else *arg = (TsrArg){.kind = kind, .f = tsr_scalar_to_double(s)};
    return TSR_OK;
}

static TsrStatus to_device(TsrArg *arg, Value v) {
    bool ok;
    arg->kind = TSR_ARG_DEVICE;
    return device_from_value(&arg->device, &ok, v);
}

static TsrStatus convert(BindFrame *fr, TsrArg *arg, const SigParam *p, Value v, bool varargs) {
    switch ((TsrArgKind)p->kind) {
    case TSR_ARG_TENSOR: arg->kind = TSR_ARG_TENSOR; return to_tensor(fr, &arg->t, v);
    case TSR_ARG_TENSORS: return to_tensors(fr, arg, v);
    case TSR_ARG_SCALAR:
    case TSR_ARG_FLOAT: return to_scalar(arg, (TsrArgKind)p->kind, v);
    case TSR_ARG_INT: arg->kind = TSR_ARG_INT; return to_int(&arg->i, v);
    case TSR_ARG_INTS: return to_ints(fr, arg, p, v, varargs);
    case TSR_ARG_FLOATS:
    case TSR_ARG_BOOLS:
    case TSR_ARG_SCALARS: return to_number_array(fr, arg, p, v);
    case TSR_ARG_BOOL: *arg = (TsrArg){.kind = TSR_ARG_BOOL, .b = v.b}; return TSR_OK;
    case TSR_ARG_STR: *arg = (TsrArg){.kind = TSR_ARG_STR, .str = value_as_str(v)->data}; return TSR_OK;
    case TSR_ARG_DTYPE:
        arg->kind = TSR_ARG_DTYPE;
        (void)dtype_from_value(&arg->dtype, v);
        return TSR_OK;
    case TSR_ARG_LAYOUT: *arg = (TsrArg){.kind = TSR_ARG_LAYOUT, .layout = ((LayoutObj *)v.o)->layout}; return TSR_OK;
    case TSR_ARG_DEVICE: return to_device(arg, v);
    case TSR_ARG_MEMORY_FORMAT:
        *arg = (TsrArg){.kind = TSR_ARG_MEMORY_FORMAT, .format = ((FormatObj *)v.o)->format};
        return TSR_OK;
    case TSR_ARG_GENERATOR:
        fr->generator = ((GeneratorObj *)v.o)->rng;
        *arg = (TsrArg){.kind = TSR_ARG_GENERATOR, .any = ((GeneratorObj *)v.o)->rng};
        return TSR_OK;
    default: *arg = (TsrArg){.kind = TSR_ARG_ANY, .any = NULL}; return TSR_OK;
    }
}

static TsrStatus take_out(BindFrame *fr, const SigParam *p, Value v) {
    if (p->kind == TSR_ARG_TENSOR) return bind_tensor_of(&fr->call.out[0], v);
    const Value *items = NULL;
    int64_t n = 0, want = fr->call.schema->nreturns;
    value_as_array(v, &items, &n);
    if (n != want)
        return tsr_error(TSR_TYPE_ERROR, "expected tuple of %lld elements but got %lld", (long long)want, (long long)n);
    for (int64_t i = 0; i < n; i++) TSR_TRY(bind_tensor_of(&fr->call.out[i], items[i]));
    return TSR_OK;
}

static TsrStatus take_option(BindFrame *fr, const SigParam *p, Value v) {
    if (!v.b) return TSR_OK;
    if (p->role == SIG_REQUIRES_GRAD) return bind_refuse_grad();
    fr->pin = true;
    return TSR_OK;
}

/* Moves the values of a call that fits its signature to the places of the schema. */
static TsrStatus fill_arguments(BindFrame *fr) {
    const BindCall *b = fr->from;
    const Sig *sig = b->sig;
    bool filled[TSR_MAX_ARGS] = {false};
    for (int i = 0; i < sig->count; i++) {
        const SigParam *p = &sig->params[i];
        bool all = b->varargs && i == 0;
        if (b->bound[i].tag == V_UNBOUND && !all) {
            if (p->role != SIG_SCHEMA) continue;
            filled[p->index] = true;
            if (p->param->has_default) fr->arg[p->index] = p->param->value;
            else fr->arg[p->index].kind = TSR_ARG_NONE;
            continue;
        }
        if (p->role == SIG_OUT) TSR_TRY(take_out(fr, p, b->bound[i]));
        else if (p->role != SIG_SCHEMA) TSR_TRY(take_option(fr, p, b->bound[i]));
        else if (p->kind == TSR_ARG_ANY)
            fr->arg[p->index] = (TsrArg){.kind = TSR_ARG_ANY, .any = (void *)(uintptr_t)&b->bound[i]};
        else TSR_TRY(convert(fr, &fr->arg[p->index], p, b->bound[i], all));
        if (p->role == SIG_SCHEMA) filled[p->index] = true;
    }
    if (!sig->hidden && !sig->drops) return TSR_OK;
    for (int i = 0; i < sig->schema->nparams; i++)
        if (!filled[i] && i != sig->self) fr->arg[i] = sig->schema->params[i].value;
    return TSR_OK;
}

TsrStatus bind_frame_begin(BindFrame *fr, const BindCall *b) {
    const Sig *sig = b->sig;
    memset(&fr->call, 0, offsetof(TsrOpCall, ret));
    fr->call.op = sig->op;
    fr->call.schema = sig->schema;
    fr->call.arg = fr->arg;
    fr->call.nargs = sig->schema->nparams;
    fr->call.nret = 0;
    fr->from = b;
    fr->pin = false;
    fr->generator = NULL;
    fr->nmade = fr->nints = fr->nblocks = 0;
    if (b->self != NULL) fr->arg[sig->self] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = b->self};
    return fill_arguments(fr);
}

TsrStatus bind_sizes(int64_t *out, int *n, const CallArgs *args, const char *function, const char *name) {
    const Value *items = args->values;
    int64_t count = args->count;
    if (count == 1) value_as_array(args->values[0], &items, &count);
    if (count > TSR_MAX_DIMS) return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %lld", (long long)count);
    for (int64_t i = 0; i < count; i++) {
        if (!bind_is_index(items[i]) && items[i].tag != V_BOOL)
            return tsr_error(
                TSR_TYPE_ERROR,
                "%s(): argument '%s' failed to unpack the object at pos %lld with error \"type must be tuple of "
                "ints,but got %s\"",
                function, name, (long long)i + 1, value_type_name(items[i]));
        TSR_TRY(to_int(&out[i], items[i]));
    }
    *n = (int)count;
    return TSR_OK;
}
