/* match.c: which signature the arguments of a call fit, as PyTorch's FunctionSignature::parse finds it, and what
 * is wrong when they do not. */
#include "lang/object/args.h"
#include "bind_impl.h"
#include "lang/object/hint.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

TsrStatus (*bind_tensor_hook)(TsrTensor **lent, Value v);

/* ---- what a value can be taken for ---- */

static inline bool is_number(Value v) {
    return v.tag == V_INT || v.tag == V_FLOAT || v.tag == V_BOOL ||
           (v.tag == V_OBJ && (value_is_bigint(v) || value_is_complex(v)));
}

bool bind_is_index(Value v) { return bind_is_long(v) || bind_is_index_tensor(v); }

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

static TsrStatus check_tensor_list(bool *ok, Value v, int argument) {
    const Value *items = NULL;
    int64_t n = 0;
    *ok = value_as_array(v, &items, &n);
    for (int64_t i = 0; *ok && i < n; i++) {
        if (is_tensor(items[i])) continue;
        return tsr_error(TSR_TYPE_ERROR, "expected Tensor as element %d in argument %d, but got %s", (int)i, argument,
                         value_type_name(items[i]));
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
    return n == 0 || items[0].tag == V_FLOAT || items[0].tag == V_BOOL || bind_is_long(items[0]);
}

static inline TsrStatus check_param(bool *ok, const Sig *sig, const SigParam *p, Value v, int argument) {
    switch ((TsrArgKind)p->kind) {
    case TSR_ARG_TENSOR:
        *ok = is_tensor(v) || (sig->numbers_as_tensors && p->role == SIG_SCHEMA && is_number(v));
        return TSR_OK;
    case TSR_ARG_TENSORS: return check_tensor_list(ok, v, argument);
    case TSR_ARG_SCALAR: *ok = is_number(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0); return TSR_OK;
    case TSR_ARG_SCALARS: *ok = all_scalars(v); return TSR_OK;
    case TSR_ARG_INT:
        *ok = bind_is_long(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0 && bind_is_index_tensor(v) &&
                                  (p->symbolic || v.t->dtype != TSR_BOOL));
        return TSR_OK;
    case TSR_ARG_INTS: *ok = is_int_list(v, p->fixed); return TSR_OK;
    case TSR_ARG_FLOAT:
        *ok = v.tag == V_FLOAT || v.tag == V_BOOL || bind_is_long(v) || (v.tag == V_TENSOR && tsr_ndim(v.t) == 0);
        return TSR_OK;
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
    case TSR_ARG_DEVICE: *ok = bind_is_long(v) || value_is_str(v) || value_is_obj(v, &device_type); return TSR_OK;
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

/* The arguments from parameter `from` on that are not there; a keyword that nobody knows was likely meant for the first
 * of them. */
static TsrStatus missing(const BindCall *b, int from) {
    const Sig *sig = b->sig;
    TsrText names = {0};
    int n = 0;
    TsrStatus s = TSR_OK;
    for (int i = from; i < sig->count && s == TSR_OK; i++)
        if (!sig->params[i].optional) s = tsr_text_printf(&names, "%s\"%s\"", n++ > 0 ? ", " : "", sig->params[i].text);
    if (s == TSR_OK)
        s = tsr_error(TSR_TYPE_ERROR, "%s() missing %d required positional argument%s: %s", b->function->name, n,
                      n == 1 ? "s" : "", names.data);
    if (has_stray_keyword(sig, b->args)) tsr_error_hint("did you mean %s=?", sig->params[from].text);
    tsr_text_free(&names);
    return s;
}

static TsrStatus unknown_keyword(const BindCall *b, const Str *name) {
    HintSearch search = hint_begin(name->data);
    for (int i = 0; i < b->sig->count; i++)
        if (b->sig->params[i].name != NULL) hint_consider(&search, b->sig->params[i].name->data);
    return hint_unexpected_keyword(b->function->name, &search);
}

static TsrStatus bad_keyword(const BindCall *b, int positional) {
    const Sig *sig = b->sig;
    const CallArgs *args = b->args;
    for (int k = 0; k < args->keyword_count; k++) {
        int at = -1;
        for (int i = 0; i < sig->count && at < 0; i++)
            if (sig->params[i].name == args->names[k]) at = i;
        if (at < 0) return unknown_keyword(b, args->names[k]);
        if (at < positional)
            return tsr_error(TSR_TYPE_ERROR, "%s() got multiple values for argument '%s'", b->function->name,
                             args->names[k]->data);
    }
    return tsr_error(TSR_TYPE_ERROR, "invalid keyword arguments");
}

static TsrStatus wrong_type(const char *function, const SigParam *p, Value v, bool keyword, int position) {
    if (keyword)
        return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' must be %s, not %s", function, p->text, bind_kind_name(p),
                         value_type_name(v));
    const Value *items;
    int64_t count;
    if (p->kind == TSR_ARG_INTS && value_as_array(v, &items, &count) && count > 0)
        return tsr_error(TSR_TYPE_ERROR,
                         "%s(): argument '%s' (position %d) must be %s, but found element of type %s at pos 0",
                         function, p->text, position + 1, bind_kind_name(p), value_type_name(items[0]));
    return tsr_error(TSR_TYPE_ERROR, "%s(): argument '%s' (position %d) must be %s, not %s", function, p->text,
                     position + 1, bind_kind_name(p), value_type_name(v));
}

static Value keyword_value(const CallArgs *args, const SigParam *p) {
    for (int k = 0; k < args->keyword_count; k++)
        if (args->names[k] == p->name) return args->values[args->count + k];
    for (int a = 0; a < 3 && p->alias[a] != NULL; a++)
        for (int k = 0; k < args->keyword_count; k++)
            if (args->names[k] == p->alias[a]) return args->values[args->count + k];
    return VALUE_UNBOUND;
}

static bool varargs_fit(const BindCall *b) {
    return b->sig->varargs && (b->args->count == b->skip || bind_is_index(b->args->values[b->skip]));
}

static TsrStatus too_many(const BindCall *b) {
    return args_too_many(b->function->name, b->sig->min_args, b->sig->max_positional, b->args->count - b->skip);
}

TsrStatus bind_match(bool *ok, BindCall *b, const Sig *sig, bool raise) {
    const CallArgs *args = b->args;
    int given = args->count - b->skip, position = 0, keywords_left = args->keyword_count;
    *ok = b->varargs = false;
    b->sig = sig;
    if (given > sig->max_positional && !sig->varargs) return raise ? too_many(b) : TSR_OK;
    for (int i = 0; i < sig->count; i++) {
        const SigParam *p = &sig->params[i];
        Value v = VALUE_UNBOUND;
        bool keyword = false;
        if (position < given) {
            if (p->keyword_only) return raise ? too_many(b) : TSR_OK;
            v = args->values[b->skip + position];
        } else if (args->keyword_count > 0) {
            v = keyword_value(args, p);
            keyword = true;
        }
        b->bound[i] = VALUE_UNBOUND;
        if ((v.tag == V_UNBOUND && p->optional) || (v.tag == V_NONE && p->allow_none)) {
            /* left out, or None */
        } else if (v.tag == V_UNBOUND) {
            return raise ? missing(b, i) : TSR_OK;
        } else {
            bool fits = false;
            TSR_TRY(check_param(&fits, sig, p, v, i));
            if (fits) {
                b->bound[i] = v;
            } else if (position == 0 && !keyword && varargs_fit(b)) {
                b->varargs = true;
                position = given;
                continue;
            } else if (raise && sig->varargs && given > sig->max_positional && position == 0) {
                return too_many(b);
            } else {
                bool by_name =
                    keyword && (p->keyword_only || !b->function->python); /* Python passes others on by position */
                return raise ? wrong_type(b->function->name, p, v, by_name, keyword ? i : position) : TSR_OK;
            }
        }
        if (!keyword) position++;
        else if (v.tag != V_UNBOUND) keywords_left--;
    }
    if (position < given) return raise ? too_many(b) : TSR_OK; /* more beside a list that took the place of all */
    if (keywords_left > 0) return raise ? bad_keyword(b, given) : TSR_OK;
    *ok = true;
    return TSR_OK;
}
