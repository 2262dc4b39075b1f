/* Matching arguments to signatures, converting them, running the row, wrapping the results. */
#include "bind_impl.h"
#include "args.h"
#include "core/fast.h"
#include "gc.h"

#include <stdio.h>
#include <string.h>

#include "dict_obj.h"
#include "func_obj.h"
#include "hint.h"
#include "num_obj.h"
#include "seq_obj.h"
#include "str_obj.h"
#include "torch_types.h"

TsrStatus (*bind_tensor_hook)(TsrTensor **lent, Value v);
TsrStatus (*bind_override)(Value *out, bool *handled, OpFunction *f, const CallArgs *args);

TsrStatus bind_refuse_grad(void) { return tsr_error(TSR_RUNTIME_ERROR, "tsr has no autograd: requires_grad=True is not supported"); }

/* ---- what a value can be taken for ---- */

static inline bool is_long(Value v) { return v.tag == V_INT || (v.tag == V_OBJ && value_is_bigint(v)); }
static inline bool is_number(Value v) { return v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL || (v.tag == V_OBJ && (value_is_bigint(v) || value_is_complex(v))); }

static bool is_index_tensor(Value v) {
    return v.tag == V_TENSOR && v.t->numel == 1 && (tsr_dtype_is_integral(v.t->dtype) || v.t->dtype == TSR_BOOL);
}

bool bind_is_index(Value v) { return is_long(v) || is_index_tensor(v); }

static bool is_tensor(Value v) {
    if (v.tag == V_TENSOR) return true;
    if (v.tag != V_OBJ || bind_tensor_hook == NULL) return false;
    TsrTensor *t = NULL;
    return bind_tensor_hook(&t, v) != TSR_OK || t != NULL; /* a failing one fails again, and reports, when converted */
}

static bool is_int_list(Value v, int fixed) {
    const Value *items = NULL;
    int64_t n = 0;
    if (!value_as_array(v, &items, &n)) return fixed > 0 && bind_is_index(v);
    return n == 0 || bind_is_index(items[0]);
}

static TsrStatus check_tensor_list(bool *ok, const SigParam *p, Value v, int argument) {
    const Value *items = NULL;
    int64_t n = 0;
    *ok = value_as_array(v, &items, &n);
    for (int64_t i = 0; *ok && i < n; i++) {
        if (is_tensor(items[i]) || (items[i].tag == V_NONE && p->param != NULL && p->param->optional_elements)) continue;
        return tsr_error(TSR_TYPE_ERROR, "expected Tensor as element %d in argument %d, but got %s", (int)i, argument, value_type_name(items[i]));
    }
    return TSR_OK;
}

static bool all_scalars(Value v) {
    const Value *items = NULL;
    int64_t n = 0;
    if (!value_as_array(v, &items, &n)) return false;
    for (int64_t i = 0; i < n; i++)
        if (!is_number(items[i])) return false;
    return true;
}

static bool is_float_list(Value v) {
    const Value *items = NULL;
    int64_t n = 0;
    if (!value_as_array(v, &items, &n)) return false;
    return n == 0 || items[0].tag == V_FLOAT || items[0].tag == V_BOOL || is_long(items[0]);
}

static inline TsrStatus check_param(bool *ok, const Sig *sig, const SigParam *p, Value v, int argument) {
    switch ((TsrArgKind)p->kind) {
    case TSR_ARG_TENSOR: *ok = is_tensor(v) || (sig->numbers_as_tensors && p->role == SIG_SCHEMA && is_number(v)); return TSR_OK;
    case TSR_ARG_TENSORS: return check_tensor_list(ok, p, v, argument);
    case TSR_ARG_SCALAR: *ok = is_number(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0); return TSR_OK;
    case TSR_ARG_SCALARS: *ok = all_scalars(v); return TSR_OK;
    case TSR_ARG_INT: *ok = is_long(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0 && is_index_tensor(v)); return TSR_OK;
    case TSR_ARG_INTS: *ok = is_int_list(v, p->fixed); return TSR_OK;
    case TSR_ARG_FLOAT: *ok = v.tag == V_FLOAT || v.tag == V_BOOL || is_long(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0); return TSR_OK;
    case TSR_ARG_FLOATS: *ok = is_float_list(v); return TSR_OK;
    case TSR_ARG_BOOL: *ok = v.tag == V_BOOL; return TSR_OK;
    case TSR_ARG_BOOLS: {
        const Value *items;
        int64_t n;
        *ok = value_as_array(v, &items, &n) && (n == 0 || items[0].tag == V_BOOL);
        return TSR_OK;
    }
    case TSR_ARG_STR: *ok = value_is_str(v); return TSR_OK;
    case TSR_ARG_DTYPE: {
        TsrDtype d;
        *ok = dtype_from_value(&d, v);
        return TSR_OK;
    }
    case TSR_ARG_LAYOUT: *ok = value_is_obj(v, &layout_type); return TSR_OK;
    case TSR_ARG_DEVICE: *ok = is_long(v) || value_is_str(v) || value_is_obj(v, &device_type); return TSR_OK;
    case TSR_ARG_MEMORY_FORMAT: *ok = value_is_obj(v, &format_type); return TSR_OK;
    case TSR_ARG_GENERATOR: *ok = value_is_obj(v, &torch_generator_type); return TSR_OK;
    default: *ok = true; return TSR_OK;
    }
}

/* ---- matching one signature ---- */

/* Whether some keyword is none of the signature's. */
static bool has_stray_keyword(const Sig *sig, const CallArgs *args) {
    for (int k = 0; k < args->keyword_count; k++) {
        int i = 0;
        while (i < sig->count && sig->params[i].name != args->names[k]) i++;
        if (i == sig->count) return true;
    }
    return false;
}

/* The arguments from parameter `from` on that are not there; a keyword that nobody knows was likely meant for the first of them. */
static TsrStatus missing(const OpFunction *f, const Sig *sig, const CallArgs *args, int from) {
    TsrText names = {0};
    int n = 0;
    TsrStatus s = TSR_OK;
    for (int i = from; i < sig->count && s == TSR_OK; i++)
        if (!sig->params[i].optional) s = tsr_text_printf(&names, "%s\"%s\"", n++ > 0 ? ", " : "", sig->params[i].text);
    if (s == TSR_OK) s = tsr_error(TSR_TYPE_ERROR, "%s() missing %d required positional argument%s: %s", f->name, n, n == 1 ? "s" : "", names.data);
    if (has_stray_keyword(sig, args)) tsr_error_hint("did you mean %s=?", sig->params[from].text);
    tsr_text_free(&names);
    return s;
}

static TsrStatus unknown_keyword(const OpFunction *f, const Sig *sig, const Str *name) {
    HintSearch search = hint_begin(name->data);
    for (int i = 0; i < sig->count; i++)
        if (sig->params[i].name != NULL) hint_consider(&search, sig->params[i].name->data);
    return hint_unexpected_keyword(f->name, &search);
}

static TsrStatus bad_keyword(const OpFunction *f, const Sig *sig, const CallArgs *args, int positional) {
    for (int k = 0; k < args->keyword_count; k++) {
        int at = -1;
        for (int i = 0; i < sig->count && at < 0; i++)
            if (sig->params[i].name == args->names[k]) at = i;
        if (at < 0) return unknown_keyword(f, sig, args->names[k]);
        if (at < positional) return tsr_error(TSR_TYPE_ERROR, "%s() got multiple values for argument '%s'", f->name, args->names[k]->data);
    }
    return tsr_error(TSR_TYPE_ERROR, "invalid keyword arguments");
}

static TsrStatus wrong_type(const OpFunction *f, const SigParam *p, Value v, bool keyword, int position) {
    if (keyword) return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' must be %s, not %s", f->name, p->text, bind_kind_name(p), value_type_name(v));
    const Value *items;
    int64_t count;
    if (p->kind == TSR_ARG_INTS && value_as_array(v, &items, &count) && count > 0)
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' (position %d) must be %s, but found element of type %s at pos 0", f->name, p->text, position + 1, bind_kind_name(p),
                         value_type_name(items[0]));
    return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' (position %d) must be %s, not %s", f->name, p->text, position + 1, bind_kind_name(p), value_type_name(v));
}

static Value keyword_value(const CallArgs *args, const SigParam *p) {
    for (int k = 0; k < args->keyword_count; k++)
        if (args->names[k] == p->name) return args->values[args->count + k];
    for (int a = 0; a < 3 && p->alias[a] != NULL; a++)
        for (int k = 0; k < args->keyword_count; k++)
            if (args->names[k] == p->alias[a]) return args->values[args->count + k];
    return VALUE_UNBOUND;
}

static bool varargs_fit(const Sig *sig, const CallArgs *args, int skip) {
    return sig->varargs && (args->count == skip || bind_is_index(args->values[skip]));
}

TsrStatus bind_match(bool *ok, const OpFunction *f, const Sig *sig, const CallArgs *args, int skip, Value *bound, bool *varargs, bool raise) {
    int given = args->count - skip, position = 0, keywords_left = args->keyword_count;
    *ok = *varargs = false;
    if (given > sig->max_positional && !sig->varargs) return raise ? args_too_many(f->name, sig->min_args, sig->max_positional, given) : TSR_OK;
    for (int i = 0; i < sig->count; i++) {
        const SigParam *p = &sig->params[i];
        Value v = VALUE_UNBOUND;
        bool keyword = false;
        if (position < given) {
            if (p->keyword_only) return raise ? args_too_many(f->name, sig->min_args, sig->max_positional, given) : TSR_OK;
            v = args->values[skip + position];
        } else if (args->keyword_count > 0) {
            v = keyword_value(args, p);
            keyword = true;
        }
        bound[i] = VALUE_UNBOUND;
        if ((v.tag == V_UNBOUND && p->optional) || (v.tag == V_NONE && p->allow_none)) {
            /* left out, or None */
        } else if (v.tag == V_UNBOUND) {
            return raise ? missing(f, sig, args, i) : TSR_OK;
        } else {
            bool fits = false;
            TSR_TRY(check_param(&fits, sig, p, v, i));
            if (fits) {
                bound[i] = v;
            } else if (position == 0 && !keyword && varargs_fit(sig, args, skip)) {
                *varargs = true;
                position = given;
                continue;
            } else if (raise && sig->varargs && given > sig->max_positional && position == 0) {
                return args_too_many(f->name, sig->min_args, sig->max_positional, given);
            } else {
                return raise ? wrong_type(f, p, v, keyword, position) : TSR_OK;
            }
        }
        if (!keyword) position++;
        else if (v.tag != V_UNBOUND) keywords_left--;
    }
    if (position < given) return raise ? args_too_many(f->name, sig->min_args, sig->max_positional, given) : TSR_OK; /* more beside a list that took the place of all */
    if (keywords_left > 0) return raise ? bad_keyword(f, sig, args, given) : TSR_OK;
    *ok = true;
    return TSR_OK;
}

/* ---- converting ---- */

enum { FRAME_INTS = 64, FRAME_BLOCKS = 8 };

/* What one call needs besides its arguments; all on the stack unless lists are long. */
typedef struct Frame {
    TsrOpCall call;
    TsrArg arg[TSR_MAX_ARGS];
    const OpFunction *function;
    const CallArgs *args;
    int skip;
    int nmade, nints, nblocks;
    TsrTensor *made[TSR_MAX_ARGS]; /* wrapped numbers, owned */
    void *blocks[FRAME_BLOCKS];    /* arrays on the heap, owned */
    int64_t ints[FRAME_INTS];
} Frame;

static TsrStatus frame_block(void **out, Frame *fr, size_t n, size_t size) {
    size_t bytes;
    if (tsr_mul_size_overflows(n, size, &bytes) || fr->nblocks == FRAME_BLOCKS) return mem_error();
    *out = tsr_malloc(bytes);
    if (*out == NULL) return mem_error();
    fr->blocks[fr->nblocks++] = *out;
    return TSR_OK;
}

static void frame_end(Frame *fr) {
    for (int i = 0; i < fr->nmade; i++) tsr_tensor_free(fr->made[i]);
    for (int i = 0; i < fr->nblocks; i++) tsr_free(fr->blocks[i]);
}

TsrStatus bind_scalar(TsrScalar *out, bool *ok, Value v) {
    *ok = true;
    switch (v.tag) {
    case V_BOOL: *out = tsr_scalar_bool(v.b); return TSR_OK;
    case V_INT: *out = tsr_scalar_int(v.i); return TSR_OK;
    case V_FLOAT: *out = tsr_scalar_float(v.f); return TSR_OK;
    case V_TENSOR:
        *ok = tsr_ndim(v.t) == 0;
        return *ok ? tsr_tensor_item(out, v.t) : TSR_OK;
    case V_OBJ:
        if (value_is_complex(v)) {
            *out = tsr_scalar_complex(value_as_complex(v)->re, value_as_complex(v)->im);
            return TSR_OK;
        }
        if (value_is_bigint(v)) {
            uint64_t u;
            if (!int_fits_uint64(v, &u)) return tsr_error(TSR_OVERFLOW_ERROR, int_sign(v) < 0 ? "can't convert negative int to unsigned" : "int too big to convert");
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

static TsrStatus bad_element(const Frame *fr, const SigParam *p, int64_t i, Value v) {
    if (is_long(v))
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' failed to unpack the object at pos %lld with error \"Overflow when unpacking long long\"",
                         fr->function->name, p->text, (long long)i + 1);
    return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' failed to unpack the object at pos %lld with error \"type must be %s,but got %s\"", fr->function->name,
                     p->text, (long long)i + 1, bind_kind_name(p), value_type_name(v));
}

static TsrStatus int_array(int64_t **out, Frame *fr, int64_t n) {
    if (fr->nints + n <= FRAME_INTS) {
        *out = &fr->ints[fr->nints];
        fr->nints += (int)n;
        return TSR_OK;
    }
    if (n > INT32_MAX) return tsr_error(TSR_RUNTIME_ERROR, "too many numbers in a list: %lld", (long long)n);
    return frame_block((void **)out, fr, (size_t)n, sizeof(int64_t));
}

static TsrStatus to_ints(Frame *fr, TsrArg *arg, const SigParam *p, Value v, bool varargs) {
    const Value *items = NULL;
    int64_t n = 0, *ints;
    if (varargs) {
        items = fr->args->values + fr->skip;
        n = fr->args->count - fr->skip;
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
        else if (is_index_tensor(items[i])) TSR_TRY(to_int(&ints[i], items[i]));
        else return bad_element(fr, p, i, items[i]);
    }
    *arg = (TsrArg){.kind = TSR_ARG_INTS, .n = (int)n, .ints = ints};
    return TSR_OK;
}

static TsrStatus to_tensor(Frame *fr, TsrTensor **out, Value v) {
    TSR_TRY(bind_tensor_of(out, v));
    if (*out != NULL) return TSR_OK;
    TsrScalar s;
    bool ok;
    TSR_TRY(bind_scalar(&s, &ok, v));
    TSR_TRY(tsr_tensor_new_wrapped(out, s));
    fr->made[fr->nmade++] = *out;
    return TSR_OK;
}

static TsrStatus to_tensors(Frame *fr, TsrArg *arg, Value v) {
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

static TsrStatus to_number_array(Frame *fr, TsrArg *arg, const SigParam *p, Value v) {
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
    TSR_TRY(bind_scalar(&s, &ok, v));
    if (kind == TSR_ARG_SCALAR) *arg = (TsrArg){.kind = kind, .s = s};
    else if (s.kind == TSR_SCALAR_COMPLEX && s.c.im != 0) return tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow");
    else *arg = (TsrArg){.kind = kind, .f = tsr_scalar_to_double(s)};
    return TSR_OK;
}

static TsrStatus to_device(TsrArg *arg, Value v) {
    bool ok;
    arg->kind = TSR_ARG_DEVICE;
    return device_from_value(&arg->device, &ok, v);
}

static TsrStatus convert(Frame *fr, TsrArg *arg, const SigParam *p, Value v, bool varargs) {
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
    case TSR_ARG_DTYPE: arg->kind = TSR_ARG_DTYPE; (void)dtype_from_value(&arg->dtype, v); return TSR_OK;
    case TSR_ARG_LAYOUT: *arg = (TsrArg){.kind = TSR_ARG_LAYOUT, .layout = ((LayoutObj *)v.o)->layout}; return TSR_OK;
    case TSR_ARG_DEVICE: return to_device(arg, v);
    case TSR_ARG_MEMORY_FORMAT: *arg = (TsrArg){.kind = TSR_ARG_MEMORY_FORMAT, .format = ((FormatObj *)v.o)->format}; return TSR_OK;
    case TSR_ARG_GENERATOR: *arg = (TsrArg){.kind = TSR_ARG_GENERATOR, .any = ((GeneratorObj *)v.o)->rng}; return TSR_OK;
    default: *arg = (TsrArg){.kind = TSR_ARG_ANY, .any = NULL}; return TSR_OK;
    }
}

static TsrStatus take_out(Frame *fr, const SigParam *p, Value v) {
    if (p->kind == TSR_ARG_TENSOR) return bind_tensor_of(&fr->call.out[0], v);
    const Value *items = NULL;
    int64_t n = 0, want = fr->call.schema->nreturns;
    value_as_array(v, &items, &n);
    if (n != want) return tsr_error(TSR_TYPE_ERROR, "expected tuple of %lld elements but got %lld", (long long)want, (long long)n);
    for (int64_t i = 0; i < n; i++) TSR_TRY(bind_tensor_of(&fr->call.out[i], items[i]));
    return TSR_OK;
}

static TsrStatus take_option(const SigParam *p, Value v) {
    if (!v.b) return TSR_OK;
    if (p->role == SIG_REQUIRES_GRAD) return bind_refuse_grad();
    return tsr_error(TSR_RUNTIME_ERROR, "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
                                        "http://www.nvidia.com/Download/index.aspx");
}

static TsrStatus fill_call(Frame *fr, const Sig *sig, const Value *bound, bool varargs) {
    bool filled[TSR_MAX_ARGS] = {false};
    for (int i = 0; i < sig->count; i++) {
        const SigParam *p = &sig->params[i];
        bool all = varargs && i == 0;
        if (bound[i].tag == V_UNBOUND && !all) {
            if (p->role != SIG_SCHEMA) continue;
            filled[p->index] = true;
            if (p->param->has_default) fr->arg[p->index] = p->param->value;
            else fr->arg[p->index].kind = TSR_ARG_NONE;
            continue;
        }
        if (p->role == SIG_OUT) TSR_TRY(take_out(fr, p, bound[i]));
        else if (p->role != SIG_SCHEMA) TSR_TRY(take_option(p, bound[i]));
        else if (p->kind == TSR_ARG_ANY) fr->arg[p->index] = (TsrArg){.kind = TSR_ARG_ANY, .any = (void *)(uintptr_t)&bound[i]};
        else TSR_TRY(convert(fr, &fr->arg[p->index], p, bound[i], all));
        if (p->role == SIG_SCHEMA) filled[p->index] = true;
    }
    if (!sig->hidden && !sig->drops) return TSR_OK;
    for (int i = 0; i < sig->schema->nparams; i++)
        if (!filled[i] && i != sig->self) fr->arg[i] = sig->schema->params[i].value;
    return TSR_OK;
}

/* ---- results ---- */

static TsrStatus tensors_value(Value *out, TsrArg *r) {
    Value v;
    TSR_TRY(tuple_new_raw(&v, r->n));
    Tuple *tuple = value_as_tuple(v);
    for (int i = 0; i < r->n; i++) tuple->items[i] = value_tensor_move(r->tensors[i]);
    tsr_free(r->tensors);
    r->kind = TSR_ARG_NONE;
    gc_track(tuple);
    *out = v;
    return TSR_OK;
}

static TsrStatus ints_value(Value *out, const TsrOpCall *call, const TsrArg *r) {
    if (strcmp(call->schema->base, "stride") != 0) return size_new(out, r->ints, r->n);
    Value v;
    TSR_TRY(tuple_new_raw(&v, r->n));
    for (int i = 0; i < r->n; i++) value_as_tuple(v)->items[i] = value_int(r->ints[i]);
    gc_track(v.o);
    *out = v;
    return TSR_OK;
}

static TsrStatus floats_value(Value *out, const TsrArg *r) {
    TSR_TRY(list_new(out, r->n));
    for (int i = 0; i < r->n; i++) (void)list_append_move(value_as_list(*out), value_float(r->floats[i]));
    return TSR_OK;
}

/* One result; a tensor's reference moves into *out, arrays are left to tsr_op_release_returns. */
static TsrStatus one_result(Value *out, TsrOpCall *call, TsrArg *r) {
    switch (r->kind) {
    case TSR_ARG_TENSOR:
        *out = r->t == NULL ? VALUE_NONE : value_tensor_move(r->t);
        r->kind = TSR_ARG_NONE;
        return TSR_OK;
    case TSR_ARG_TENSORS: return tensors_value(out, r);
    case TSR_ARG_SCALAR: return bind_scalar_value(out, r->s);
    case TSR_ARG_INT: *out = value_int(r->i); return TSR_OK;
    case TSR_ARG_FLOAT: *out = value_float(r->f); return TSR_OK;
    case TSR_ARG_BOOL: *out = value_bool(r->b); return TSR_OK;
    case TSR_ARG_STR: return str_new_c(out, r->str);
    case TSR_ARG_INTS: return ints_value(out, call, r);
    case TSR_ARG_FLOATS: return floats_value(out, r);
    case TSR_ARG_DTYPE: *out = dtype_value(r->dtype); return TSR_OK;
    case TSR_ARG_LAYOUT: *out = layout_value(r->layout); return TSR_OK;
    case TSR_ARG_DEVICE: return device_new(out, r->device);
    default: *out = VALUE_NONE; return TSR_OK;
    }
}

/* torch.return_types.NAME with the schema's field names; NAME_out when written into out=. */
static TsrStatus named_type(Type **out, const TsrSchema *schema, bool written) {
    char name[96];
    const char *fields[TSR_MAX_RETS];
    int module = snprintf(name, sizeof name, "torch.return_types.");
    snprintf(name + module, sizeof name - (size_t)module, "%s%s", schema->name, written ? "_out" : "");
    for (char *c = name + module; *c != '\0'; c++)
        if (*c == '.') *c = '_';
    for (int i = 0; i < schema->nreturns; i++) fields[i] = schema->returns[i].name;
    Str *kept = str_intern_c(name);
    if (kept == NULL) return mem_error();
    *out = structseq_type(kept->data, fields, schema->nreturns);
    return *out == NULL ? mem_error() : TSR_OK;
}

TsrStatus bind_fill_return_types(Module *m) {
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            Type *type;
            TSR_TRY(tsr_op_schema(&schema, set->ops[k]));
            if (!schema->named_returns) continue;
            for (int written = 0; written < 2; written++) {
                if (written && !(set->ops[k]->forms & TSR_OUT)) continue;
                TSR_TRY(named_type(&type, schema, written));
                TSR_TRY(module_add(m, strrchr(type->name, '.') + 1, value_lent(type)));
            }
        }
    }
    return TSR_OK;
}

static TsrStatus many_results(Value *out, TsrOpCall *call) {
    Value items[TSR_MAX_RETS];
    int n = 0;
    TsrStatus s = TSR_OK;
    for (; n < call->nret && s == TSR_OK; n++) {
        items[n] = VALUE_NONE;
        s = one_result(&items[n], call, &call->ret[n]);
    }
    Type *type = NULL;
    if (s == TSR_OK && call->schema->named_returns) s = named_type(&type, call->schema, call->out[0] != NULL && !call->inplace);
    if (s != TSR_OK) {
        values_release(items, n);
        return s;
    }
    return type != NULL ? structseq_new_move(out, type, items) : tuple_new_move(out, items, n);
}

TsrStatus bind_result_move(Value *out, TsrOpCall *call) {
    if (TSR_LIKELY(call->nret == 1 && call->ret[0].kind == TSR_ARG_TENSOR && call->ret[0].t != NULL)) {
        *out = value_tensor_move(call->ret[0].t);
        call->nret = 0;
        return TSR_OK;
    }
    TsrStatus s = TSR_OK;
    if (call->nret == 0) *out = VALUE_NONE;
    else if (call->nret == 1) s = one_result(out, call, &call->ret[0]);
    else s = many_results(out, call);
    tsr_op_release_returns(call);
    return s;
}

/* ---- calling ---- */

/* CPython's words for a method that takes nothing. */
static TsrStatus refuse_arguments(const OpFunction *f, const CallArgs *args, int skip) {
    const char *owner = f->bound ? "Tensor" : "TensorBase";
    if (args->keyword_count > 0) return tsr_error(TSR_TYPE_ERROR, "%s.%s() takes no keyword arguments", owner, f->name);
    return tsr_error(TSR_TYPE_ERROR, "%s.%s() takes no arguments (%d given)", owner, f->name, args->count - skip);
}

static TsrStatus run_sig(Value *out, const OpFunction *f, const Sig *sig, const CallArgs *args, int skip, TsrTensor *self, const Value *bound, bool varargs) {
    Frame fr;
    memset(&fr.call, 0, offsetof(TsrOpCall, ret));
    fr.call.op = sig->op;
    fr.call.schema = sig->schema;
    fr.call.arg = fr.arg;
    fr.call.nargs = sig->schema->nparams;
    fr.call.nret = 0;
    fr.function = f;
    fr.args = args;
    fr.skip = skip;
    fr.nmade = fr.nints = fr.nblocks = 0;
    if (self != NULL) {
        fr.arg[sig->self] = (TsrArg){.kind = TSR_ARG_TENSOR, .t = self};
    }
    TsrStatus s = fill_call(&fr, sig, bound, varargs);
    if (s == TSR_OK && TSR_UNLIKELY(device_default.type != TSR_CPU) && sig->where >= 0 && !tsr_arg_given(&fr.arg[sig->where]))
        fr.arg[sig->where] = (TsrArg){.kind = TSR_ARG_DEVICE, .device = device_default};
    if (s == TSR_OK && (f->form == BIND_INPLACE || f->form == BIND_INPLACE_FUNCTION)) {
        fr.call.inplace = true;
        fr.call.out[0] = fr.arg[sig->self].t;
    }
    bool first = args->spent && args->count > 0 && args->values[0].tag == V_TENSOR && fr.call.nargs > 0; /* what a handle holds lives on */
    fr.call.spent = s == TSR_OK && first && fr.arg[0].kind == TSR_ARG_TENSOR && fr.arg[0].t == args->values[0].t;
    if (s == TSR_OK) s = tsr_op_run(&fr.call);
    if (s == TSR_OK) s = bind_result_move(out, &fr.call);
    frame_end(&fr);
    return s;
}

static TsrStatus call_function(Value *out, OpFunction *f, const CallArgs *args);

static TsrStatus need_parser(OpFunction *f) { return TSR_LIKELY(f->parser != NULL) ? TSR_OK : bind_parser_new(&f->parser, f); }

/* f(x, y) as f((x, y)). */
static TsrStatus call_packed(Value *out, OpFunction *f, const CallArgs *args) {
    Value tuple, few[8], *values = few;
    TSR_TRY(tuple_new(&tuple, args->values, args->count));
    TsrStatus s = TSR_OK;
    if (args->keyword_count >= 8 && (values = tsr_malloc(sizeof(Value) * ((size_t)args->keyword_count + 1))) == NULL) s = mem_error();
    if (s == TSR_OK) {
        values[0] = tuple;
        for (int k = 0; k < args->keyword_count; k++) values[k + 1] = args->values[args->count + k];
        s = call_function(out, f, &(CallArgs){values, 1, args->keyword_count, args->names, false});
    }
    if (values != few) tsr_free(values);
    value_release(tuple);
    return s;
}

static uint8_t quick_operator(const char *name) {
    static const char *const names[] = {[TSR_FAST_ADD] = "add", [TSR_FAST_SUB] = "sub", [TSR_FAST_MUL] = "mul", [TSR_FAST_DIV] = "div"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++)
        if (strcmp(names[i], name) == 0) return (uint8_t)(i + 1);
    return 0;
}

/* a.add(b), a.add_(b) and torch.add(a, b) of plain tensors. False: the long way. */
static bool call_quickly(Value *out, TsrStatus *status, const OpFunction *f, const CallArgs *args) {
    if (args->count != 2 || args->keyword_count != 0 || args->values[0].tag != V_TENSOR || args->values[1].tag != V_TENSOR) return false;
    TsrTensor *a = args->values[0].t, *b = args->values[1].t, *result;
    TsrFastOp op = (TsrFastOp)(f->quick - 1);
    if (f->form == BIND_INPLACE) {
        if (!tsr_fast_inplace(status, op, a, b)) return false;
        if (*status == TSR_OK) *out = value_tensor_move(tsr_tensor_retain(a));
        return true;
    }
    if (f->form == BIND_INPLACE_FUNCTION || !tsr_fast_binary_new(&result, status, op, a, b, 0)) return false;
    if (*status == TSR_OK) *out = value_tensor_move(result);
    return true;
}

/* One argument may be the list itself, except where PyTorch has *tensors and nothing else. */
static bool must_pack(const OpFunction *f, const CallArgs *args) {
    bool packed = false;
    for (int i = 0; i < args->keyword_count; i++) packed |= str_equal_c(args->names[i], "tensors");
    if (packed) return false;
    if (args->count == 0) return true;
    if (args->count > 1 || strcmp(f->set->name, "block_diag") == 0 || strcmp(f->set->name, "cartesian_prod") == 0) return !value_is_tuple(args->values[0]) || args->count > 1;
    const Value *items;
    int64_t n;
    return f->set->n == 1 && !value_as_array(args->values[0], &items, &n);
}

static TsrStatus call_function(Value *out, OpFunction *f, const CallArgs *args) {
    TsrStatus quick;
    if (f->quick != 0 && call_quickly(out, &quick, f, args)) return quick;
    if (TSR_UNLIKELY(bind_override != NULL)) {
        bool handled = false;
        TsrStatus status = bind_override(out, &handled, f, args);
        if (handled || status != TSR_OK) return status;
    }
    TSR_TRY(need_parser(f));
    if (TSR_UNLIKELY(f->packs) && args->keyword_count > 0 && strcmp(f->set->name, "meshgrid") != 0)
        return tsr_error(TSR_TYPE_ERROR, "%s() got an unexpected keyword argument '%s'", f->name, args->names[0]->data);
    if (TSR_UNLIKELY(f->packs) && args->count == 0 && f->set->name[0] == 'a') return tuple_new(out, NULL, 0); /* atleast_1d() */
    if (TSR_UNLIKELY(f->packs) && must_pack(f, args)) return call_packed(out, f, args);
    const BindParser *parser = f->parser;
    int skip = f->form == BIND_METHOD || f->form == BIND_INPLACE ? 1 : 0;
    TsrTensor *self = NULL;
    if (skip) {
        if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "unbound method TensorBase.%s() needs an argument", f->name);
        TSR_TRY(bind_tensor_of(&self, args->values[0]));
        if (self == NULL)
            return tsr_error(TSR_TYPE_ERROR, "descriptor '%s' for 'torch._C.TensorBase' objects doesn't apply to a '%s' object", f->name, value_type_name(args->values[0]));
    }
    if (parser->no_arguments) {
        if (TSR_UNLIKELY(args->count > skip || args->keyword_count > 0)) return refuse_arguments(f, args, skip);
        return run_sig(out, f, &parser->sigs[0], args, skip, self, NULL, false);
    }
    Value bound[TSR_MAX_ARGS + 4];
    bool ok = false, varargs, dunder = f->name[0] == '_' && f->name[1] == '_', raise = parser->count == 1 && !f->python && !dunder;
    for (int i = 0; i < parser->count; i++) {
        TSR_TRY(bind_match(&ok, f, &parser->sigs[i], args, skip, bound, &varargs, raise));
        if (ok) return run_sig(out, f, &parser->sigs[i], args, skip, self, bound, varargs);
    }
    if (dunder) { /* x.__add__('a') */
        *out = value_retain(VALUE_NOT_IMPLEMENTED);
        return TSR_OK;
    }
    return bind_no_match(f, parser, args, skip);
}

TsrStatus bind_sizes(int64_t *out, int *n, int room, const CallArgs *args, int at, const char *function, const char *name) {
    const Value *items = args->values + at;
    int64_t count = args->count - at;
    if (count == 1) value_as_array(args->values[at], &items, &count);
    if (count > room) return tsr_error(TSR_RUNTIME_ERROR, "too many dimensions: %lld", (long long)count);
    for (int64_t i = 0; i < count; i++) {
        if (!bind_is_index(items[i]) && items[i].tag != V_BOOL)
            return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' failed to unpack the object at pos %lld with error \"type must be tuple of ints,but got %s\"", function,
                             name, (long long)i + 1, value_type_name(items[i]));
        TSR_TRY(to_int(&out[i], items[i]));
    }
    *n = (int)count;
    return TSR_OK;
}

/* ---- the function objects ---- */

static TsrStatus op_call(Value *out, Value self, const CallArgs *args) { return call_function(out, (OpFunction *)self.o, args); }

static TsrStatus function_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<built-in method %s of type object>", ((OpFunction *)self.o)->name);
}

static TsrStatus method_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<method '%s' of 'torch._C.TensorBase' objects>", ((OpFunction *)self.o)->name);
}

static TsrStatus get_name(Value *out, Value self) { return str_new_c(out, ((OpFunction *)self.o)->name); }

static TsrStatus get_doc(Value *out, Value self) {
    const TsrOpSet *set = ((OpFunction *)self.o)->set;
    for (int i = 0; i < set->n; i++)
        if (set->ops[i]->summary != NULL) return str_new_c(out, set->ops[i]->summary);
    *out = VALUE_NONE;
    return TSR_OK;
}

static void op_destroy(Obj *self) { obj_free(self, sizeof(OpFunction)); }

/* x.add as a value: the method with its self. */
typedef struct BoundOp { Obj obj; OpFunction *function; Value self; } BoundOp;

static void bound_destroy(Obj *self) {
    obj_release(((BoundOp *)self)->function);
    value_release(((BoundOp *)self)->self);
    obj_free(self, sizeof(BoundOp));
}

static TsrStatus bound_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<built-in method %s of Tensor object>", ((BoundOp *)self.o)->function->name);
}

static TsrStatus bound_call(Value *out, Value self, const CallArgs *args) {
    BoundOp *b = (BoundOp *)self.o;
    int n = args->count + args->keyword_count;
    Value few[16], *values = few;
    if (n + 1 > 16 && (values = tsr_malloc(sizeof(Value) * ((size_t)n + 1))) == NULL) return mem_error();
    values[0] = b->self;
    for (int i = 0; i < n; i++) values[i + 1] = args->values[i];
    CallArgs all = {values, args->count + 1, args->keyword_count, args->names, false};
    b->function->bound = b->obj.refcount > 1; /* else x.name was read to be called at once */
    TsrStatus s = call_function(out, b->function, &all);
    b->function->bound = false;
    if (values != few) tsr_free(values);
    return s;
}

static TsrStatus bound_attr(Value *out, Value self, Str *name) {
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "__self__")) *out = value_retain(((BoundOp *)self.o)->self);
    else if (str_equal_c(name, "__name__") || str_equal_c(name, "__doc__")) return value_lookup_attr(out, value_lent(((BoundOp *)self.o)->function), name);
    return TSR_OK;
}

static TsrStatus bound_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || value_type(a) != value_type(b)) return TSR_OK;
    const BoundOp *x = (BoundOp *)a.o, *y = (BoundOp *)b.o;
    *out = value_bool((x->function == y->function && value_is_same(x->self, y->self)) == (op == CMP_EQ));
    return TSR_OK;
}

static void bound_traverse(Obj *self, GcVisit visit, void *context) { gc_visit_value(((BoundOp *)self)->self, visit, context); }

static Type bound_op_type = {.obj = TYPE_HEADER, .name = "builtin_function_or_method", .destroy = bound_destroy, .traverse = bound_traverse, .repr = bound_repr, .call = bound_call,
                             .get_attr = bound_attr, .compare = bound_compare};

OpFunction *bind_function_of(Value v) {
    if (v.tag != V_OBJ) return NULL;
    if (v.o->type == &bound_op_type) return ((BoundOp *)v.o)->function;
    return bind_is_operator(v) ? (OpFunction *)v.o : NULL;
}

static TsrStatus bind_to(Value *out, Value descriptor, Value self) {
    BoundOp *b = obj_new(&bound_op_type, sizeof *b);
    if (b == NULL) return TSR_MEMORY_ERROR;
    b->function = obj_retain(descriptor.o);
    b->self = value_retain(self);
    *out = value_obj_move(b);
    return TSR_OK;
}

static const Getter op_getters[] = {
    {"__name__", get_name, NULL, "name"},
    {"__qualname__", get_name, NULL, "name"},
    {"__doc__", get_doc, NULL, "what it does"},
    {NULL, NULL, NULL, NULL},
};

Type op_function_type = {.obj = TYPE_HEADER, .name = "builtin_function_or_method", .destroy = op_destroy, .repr = function_repr, .call = op_call, .getters = op_getters};
Type op_method_type = {.obj = TYPE_HEADER, .name = "method_descriptor", .destroy = op_destroy, .flags = TYPE_METHOD, .repr = method_repr, .call = op_call,
                       .descriptor_get = bind_to, .getters = op_getters};

/* Every function object made, by "f:add" or "m:add": they live until the program ends. */
static Dict *made;

static bool has_form(const TsrOpSet *set, unsigned forms) {
    for (int i = 0; set != NULL && i < set->n; i++)
        if ((set->ops[i]->forms & forms) == forms) return true;
    return false;
}

/* What PyTorch defines in Python around its operators. */
static const char python_functions[] =
    " block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique "
    "unique_consecutive unravel_index ";
static const char python_methods[] = " cholesky istft lu norm qr split stft unflatten unique unique_consecutive ";
static const char c_nn_functions[] =
    " adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d "
    "conv_transpose3d cosine_similarity gelu hardshrink linear logsigmoid native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle "
    "pixel_unshuffle prelu scaled_dot_product_attention softplus softshrink ";

/* In-place forms that are functions of torch, too. */
static const char inplace_functions[] =
    " abs_ acos_ acosh_ addmv_ alpha_dropout_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ as_strided_ asin_ asinh_ atan_ atanh_ ceil_ celu_ clamp_ "
    "clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ dropout_ embedding_renorm_ erf_ erfc_ exp2_ exp_ expm1_ feature_alpha_dropout_ "
    "feature_dropout_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_ negative_ rad2deg_ "
    "reciprocal_ relu_ resize_as_ resize_as_sparse_ round_ rrelu_ rsqrt_ selu_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_ tanh_ threshold_ trunc_ xlogy_ "
    "zero_ nn.functional.celu_ nn.functional.elu_ nn.functional.hardtanh_ nn.functional.leaky_relu_ nn.functional.relu_ nn.functional.rrelu_ "
    "nn.functional.selu_ nn.functional.threshold_ _C._nn.elu_ _C._nn.hardsigmoid_ _C._nn.hardswish_ _C._nn.hardtanh_ _C._nn.leaky_relu_ _C._nn.mish_ _C._nn.relu6_ "
    "_C._nn.silu_ ";

static bool listed(const char *list, const char *name) {
    char padded[128];
    snprintf(padded, sizeof padded, " %s ", name);
    return strstr(list, padded) != NULL;
}

/* The row set and form that `name` stands for. */
static const TsrOpSet *resolve(const char *name, bool method, BindForm *form) {
    const TsrOpSet *set = tsr_op_find(name);
    unsigned want = method ? TSR_METHOD : TSR_FN;
    size_t n = strlen(name);
    if (has_form(set, TSR_INPLACE_ONLY) && (method || listed(inplace_functions, name))) {
        *form = method ? BIND_INPLACE : BIND_INPLACE_FUNCTION;
        return set;
    }
    if (has_form(set, want)) {
        *form = method ? BIND_METHOD : BIND_FUNCTION;
        return set;
    }
    char base[128];
    if (n < 2 || n >= sizeof base || name[n - 1] != '_' || name[n - 2] == '_') return NULL;
    memcpy(base, name, n - 1);
    base[n - 1] = '\0';
    set = tsr_op_find(base);
    bool function = !method && listed(inplace_functions, name);
    if (!(has_form(set, TSR_INPLACE) && (method || function)) && !(has_form(set, TSR_INPLACE_FN) && function)) return NULL;
    *form = method ? BIND_INPLACE : BIND_INPLACE_FUNCTION;
    return set;
}

/* As errors call it: linalg_inv, special_zeta, fft_fft; of nn.functional and _C._nn the bare name, or torch's inner one. */
static const char *error_name(const char *name) {
    if (strncmp(name, "nn.functional.", 14) == 0) name += 14;
    else if (strncmp(name, "_C._nn.", 7) == 0) name += 7;
    else if (strncmp(name, "_VF.", 4) == 0) name += 4;
    static const char *const other_names[][2] = {{"logsigmoid", "log_sigmoid"}, {"hsmm", "hspmm"}, {"saddmm", "sspaddmm"}, {"spmm", "mm"}, {"dsmm", "mm"}};
    for (size_t i = 0; i < TSR_COUNTOF(other_names); i++)
        if (strcmp(name, other_names[i][0]) == 0) name = other_names[i][1];
    if (strcmp(name, "_einsum") == 0 || strcmp(name, "_tensordot") == 0) name++;
    char text[128];
    snprintf(text, sizeof text, "%s", name);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '.') *c = '_';
    Str *kept = str_intern_c(text);
    return kept == NULL ? NULL : kept->data;
}

static bool is_python_function(const char *name, bool method) {
    if (method) return listed(python_methods, name);
    if (strncmp(name, "nn.functional.", 14) != 0) return listed(python_functions, name);
    return name[strlen(name) - 1] != '_' && !listed(c_nn_functions, name + 14);
}

/* Functions of PyTorch that are declared with *tensors. */
static bool takes_many_tensors(const char *name) {
    static const char *const names[] = {"meshgrid", "block_diag", "cartesian_prod", "chain_matmul", "atleast_1d", "atleast_2d", "atleast_3d"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static TsrStatus make_function(Value *out, const char *name, bool method) {
    BindForm form = BIND_FUNCTION;
    *out = VALUE_UNBOUND;
    if (made == NULL && (made = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    char key[160];
    snprintf(key, sizeof key, "%c:%s", method ? 'm' : 'f', name);
    Value *found = dict_find_c(made, key);
    if (found != NULL) {
        *out = value_retain(*found);
        return TSR_OK;
    }
    const TsrOpSet *set = resolve(name, method, &form);
    if (set == NULL) return TSR_OK;
    const char *shown = error_name(name);
    if (shown == NULL) return mem_error();
    OpFunction *f = obj_new(method ? &op_method_type : &op_function_type, sizeof *f);
    if (f == NULL) return TSR_MEMORY_ERROR;
    f->set = set;
    f->name = shown;
    f->form = (uint8_t)form;
    f->quick = quick_operator(set->name);
    f->packs = !method && takes_many_tensors(name);
    f->python = is_python_function(name, method);
    f->parser = NULL;
    f->bound = false;
    TsrStatus s = dict_set_c(made, key, value_lent(f));
    if (s != TSR_OK) obj_release(f);
    else *out = value_obj_move(f);
    return s;
}

TsrStatus bind_new_function(Value *out, const char *name) { return make_function(out, name, false); }
TsrStatus bind_new_method(Value *out, const char *name) { return make_function(out, name, true); }

TsrStatus bind_call(Value *out, const char *name, int count, const Value *values) {
    Value f;
    TSR_TRY(bind_new_function(&f, name));
    if (f.tag == V_UNBOUND) TSR_TRY(bind_new_method(&f, name));
    if (f.tag == V_UNBOUND) return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "operator %s is not available", name);
    CallArgs args = {.values = values, .count = count};
    TsrStatus s = call_function(out, (OpFunction *)f.o, &args);
    value_release(f);
    return s;
}
