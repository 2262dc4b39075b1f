/* bind.c: calling a row from the language, and the function objects that do. */
#include "bind_impl.h"

#include "core/tensor/loan.h"
#include "core/engine/fast.h"

#include <string.h>

#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "torch/types.h"

/* ---- calling ---- */

/* CPython's words for a method that takes nothing. */
static TsrStatus refuse_arguments(const BindCall *b) {
    const OpFunction *f = b->function;
    const char *owner = f->bound ? "Tensor" : "TensorBase";
    if (b->args->keyword_count > 0)
        return tsr_error(TSR_TYPE_ERROR, "%s.%s() takes no keyword arguments", owner, f->name);
    return tsr_error(TSR_TYPE_ERROR, "%s.%s() takes no arguments (%d given)", owner, f->name, b->args->count - b->skip);
}

/* pin_memory=True: what was made on the host lies in pinned memory; the meta device has none. */
static TsrStatus pin_results(const TsrOpCall *c) {
    for (int k = 0; k < c->nret; k++) {
        TsrTensor *t = c->ret[k].kind == TSR_ARG_TENSOR ? c->ret[k].t : NULL;
        if (t == NULL || tsr_is_meta(t)) continue;
        TSR_TRY(tsr_tensor_pin(t));
    }
    return TSR_OK;
}

/* Numbers are drawn where they are used. */
static TsrStatus check_generator(const BindFrame *fr, const Sig *sig) {
    const TsrArg *where = sig->where >= 0 ? &fr->arg[sig->where] : NULL;
    TsrDevice device = where != NULL && tsr_arg_given(where) ? where->device : TSR_DEVICE_CPU;
    for (int i = 0; i < fr->call.nargs; i++)
        if (fr->arg[i].kind == TSR_ARG_TENSOR && fr->arg[i].t != NULL) device = fr->arg[i].t->device;
    bool on_cuda = tsr_rng_device(fr->generator) >= 0;
    if (device.type == TSR_META || on_cuda == (device.type == TSR_CUDA)) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "Expected a '%s' device type for generator but found '%s'",
                     on_cuda ? "cpu" : "cuda", on_cuda ? "cuda" : "cpu");
}

/* Runs the row of a call that fits its signature. */
static TsrStatus run(Value *out, const BindCall *b) {
    BindFrame fr;
    TsrStatus s = bind_frame_begin(&fr, b);
    const Sig *sig = b->sig;
    if (s == TSR_OK && TSR_UNLIKELY(device_default.type != TSR_CPU) && sig->where >= 0 &&
        !tsr_arg_given(&fr.arg[sig->where]))
        fr.arg[sig->where] = (TsrArg){.kind = TSR_ARG_DEVICE, .device = device_default};
    if (s == TSR_OK && TSR_UNLIKELY(fr.generator != NULL)) s = check_generator(&fr, sig);
    if (s == TSR_OK && (b->function->form == BIND_INPLACE || b->function->form == BIND_INPLACE_FUNCTION)) {
        fr.call.inplace = true;
        fr.call.out[0] = fr.arg[sig->self].t;
    }
    bool first = b->args->spent && b->args->count > 0 && b->args->values[0].tag == V_TENSOR &&
                 fr.call.nargs > 0; /* what a handle holds lives on */
    fr.call.spent = s == TSR_OK && first && fr.arg[0].kind == TSR_ARG_TENSOR && fr.arg[0].t == b->args->values[0].t;
    if (s == TSR_OK) s = tsr_op_run(&fr.call);
    if (s == TSR_OK && TSR_UNLIKELY(fr.pin) && (s = pin_results(&fr.call)) != TSR_OK) tsr_op_release_returns(&fr.call);
    if (s == TSR_OK) s = bind_result_move(out, &fr.call);
    bind_frame_end(&fr);
    return s;
}

static TsrStatus call_function(Value *out, OpFunction *f, const CallArgs *args);

static TsrStatus need_parser(OpFunction *f) {
    return TSR_LIKELY(f->parser != NULL) ? TSR_OK : bind_parser_new(&f->parser, f);
}

/* f(x, y) as f((x, y)). */
static TsrStatus call_packed(Value *out, OpFunction *f, const CallArgs *args) {
    Value tuple, few[8], *values = few;
    TSR_TRY(tuple_new(&tuple, args->values, args->count));
    TsrStatus s = TSR_OK;
    if (args->keyword_count >= 8 && (values = tsr_malloc(sizeof(Value) * ((size_t)args->keyword_count + 1))) == NULL)
        s = mem_error();
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
    static const char *const names[] = {
        [TSR_FAST_ADD] = "add", [TSR_FAST_SUB] = "sub", [TSR_FAST_MUL] = "mul", [TSR_FAST_DIV] = "div"};
    for (size_t i = 0; i < TSR_COUNTOF(names); i++)
        if (strcmp(names[i], name) == 0) return (uint8_t)(i + 1);
    return 0;
}

/* a.add(b), a.add_(b) and torch.add(a, b) of plain tensors. False: the long way. */
static bool call_quickly(Value *out, TsrStatus *status, const OpFunction *f, const CallArgs *args) {
    if (args->count != 2 || args->keyword_count != 0 || args->values[0].tag != V_TENSOR ||
        args->values[1].tag != V_TENSOR)
        return false;
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

static bool has_form(const TsrOpSet *set, unsigned forms) {
    for (int i = 0; set != NULL && i < set->n; i++)
        if ((set->ops[i]->forms & forms) == forms) return true;
    return false;
}

/* Whether a starred function's arguments are its tensors, not one list or tuple of them. */
static bool must_pack(const OpFunction *f, const CallArgs *args) {
    if (args->count != 1) return true;
    if (has_form(f->set, TSR_STARRED)) return !value_is_tuple(args->values[0]);
    const Value *items;
    int64_t n;
    return f->set->n == 1 && !value_as_array(args->values[0], &items, &n);
}

/* Of a starred function's parameters only those behind the star have names. */
static bool takes_keyword(const BindParser *parser, const Str *name) {
    for (int i = 0; i < parser->count; i++)
        for (int k = 0; k < parser->sigs[i].count; k++) {
            const SigParam *p = &parser->sigs[i].params[k];
            if (p->keyword_only && p->name == name) return true;
        }
    return false;
}

static TsrStatus refuse_keywords(const OpFunction *f, const CallArgs *args) {
    for (int i = 0; i < args->keyword_count; i++)
        if (!takes_keyword(f->parser, args->names[i]))
            return tsr_error(TSR_TYPE_ERROR, "%s() got an unexpected keyword argument '%s'", f->name,
                             args->names[i]->data);
    return TSR_OK;
}

/* Begins *b; a method's first argument is its self. */
static TsrStatus take_self(BindCall *b, const OpFunction *f, const CallArgs *args) {
    b->function = f;
    b->args = args;
    b->skip = f->form == BIND_METHOD || f->form == BIND_INPLACE ? 1 : 0;
    b->self = NULL;
    if (b->skip == 0) return TSR_OK;
    if (args->count == 0) return tsr_error(TSR_TYPE_ERROR, "unbound method TensorBase.%s() needs an argument", f->name);
    TSR_TRY(bind_tensor_of(&b->self, args->values[0]));
    if (b->self != NULL) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "descriptor '%s' for 'torch._C.TensorBase' objects doesn't apply to a '%s' object",
                     f->name, value_type_name(args->values[0]));
}

/* Runs the first overload that the arguments fit. */
static TsrStatus call_overload(Value *out, BindCall *b) {
    const OpFunction *f = b->function;
    const BindParser *parser = f->parser;
    if (parser->no_arguments) {
        if (TSR_UNLIKELY(b->args->count > b->skip || b->args->keyword_count > 0))
            return f->python ? bind_no_match(out, b) : refuse_arguments(b);
        b->sig = &parser->sigs[0];
        b->varargs = false;
        return run(out, b);
    }
    bool ok = false, dunder = f->name[0] == '_' && f->name[1] == '_',
         raise = parser->count == 1 && !f->python && !dunder;
    for (int i = 0; i < parser->count; i++) {
        TSR_TRY(bind_match(&ok, b, &parser->sigs[i], raise));
        if (ok) return run(out, b);
    }
    if (dunder) { /* x.__add__('a') */
        *out = value_retain(VALUE_NOT_IMPLEMENTED);
        return TSR_OK;
    }
    return bind_no_match(out, b);
}

static TsrStatus call_function(Value *out, OpFunction *f, const CallArgs *args) {
    TsrStatus quick;
    if (f->quick != 0 && call_quickly(out, &quick, f, args)) return quick;
    TSR_TRY(need_parser(f));
    if (TSR_UNLIKELY(f->starred)) {
        TSR_TRY(refuse_keywords(f, args));
        /* atleast_1d(), which gives one tensor for one, gives nothing for nothing. */
        if (args->count == 0 && f->set->n > 1) return tuple_new(out, NULL, 0);
        if (must_pack(f, args)) return call_packed(out, f, args);
    }
    BindCall b;
    TSR_TRY(take_self(&b, f, args));
    return call_overload(out, &b);
}

/* ---- the function objects ---- */

static TsrStatus op_call(Value *out, Value self, const CallArgs *args) {
    return call_function(out, (OpFunction *)self.o, args);
}

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
typedef struct BoundOp {
    Obj obj;
    OpFunction *function;
    Value self;
} BoundOp;

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
    else if (str_equal_c(name, "__name__") || str_equal_c(name, "__doc__"))
        return value_lookup_attr(out, value_lent(((BoundOp *)self.o)->function), name);
    return TSR_OK;
}

static TsrStatus bound_compare(Value *out, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    if ((op != CMP_EQ && op != CMP_NE) || value_type(a) != value_type(b)) return TSR_OK;
    const BoundOp *x = (BoundOp *)a.o, *y = (BoundOp *)b.o;
    *out = value_bool((x->function == y->function && value_is_same(x->self, y->self)) == (op == CMP_EQ));
    return TSR_OK;
}

static void bound_traverse(Obj *self, GcVisit visit, void *context) {
    gc_visit_value(((BoundOp *)self)->self, visit, context);
}

static Type bound_op_type = {.obj = TYPE_HEADER,
                             .name = "builtin_function_or_method",
                             .destroy = bound_destroy,
                             .traverse = bound_traverse,
                             .repr = bound_repr,
                             .call = bound_call,
                             .get_attr = bound_attr,
                             .compare = bound_compare};

OpFunction *bind_function_of(Value v) {
    if (v.tag != V_OBJ) return NULL;
    if (v.o->type == &bound_op_type) return ((BoundOp *)v.o)->function;
    return value_is_operator(v) ? (OpFunction *)v.o : NULL;
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

Type op_function_type = {.obj = TYPE_HEADER,
                         .name = "builtin_function_or_method",
                         .flags = TYPE_ATOMIC | TYPE_OPERATOR,
                         .destroy = op_destroy,
                         .repr = function_repr,
                         .call = op_call,
                         .getters = op_getters};
static Type op_method_type = {.obj = TYPE_HEADER,
                              .name = "method_descriptor",
                              .destroy = op_destroy,
                              .flags = TYPE_METHOD | TYPE_ATOMIC | TYPE_OPERATOR,
                              .repr = method_repr,
                              .call = op_call,
                              .descriptor_get = bind_to,
                              .getters = op_getters};

/* Every function object made, by name, functions and methods apart: they live until the program ends. */
static Dict *made[2];

/* The row set and form that `name` stands for. */
static const TsrOpSet *resolve(const char *name, bool method, BindForm *form) {
    const TsrOpSet *set = tsr_op_find(name);
    unsigned want = method ? TSR_METHOD : TSR_FN;
    size_t n = strlen(name);
    if (has_form(set, method ? TSR_INPLACE_ONLY : TSR_INPLACE_ONLY | TSR_FN)) {
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
    if (!has_form(set, method ? TSR_INPLACE : TSR_INPLACE_FN)) return NULL;
    *form = method ? BIND_INPLACE : BIND_INPLACE_FUNCTION;
    return set;
}

/* As errors call it: linalg_inv, special_zeta, fft_fft; of nn.functional and _C._nn the bare name, or torch's inner
 * one. */
static const char *error_name(const char *name) {
    if (strncmp(name, "nn.functional.", 14) == 0) name += 14;
    else if (strncmp(name, "_C._nn.", 7) == 0) name += 7;
    else if (strncmp(name, "_VF.", 4) == 0) name += 4;
    static const char *const other_names[][2] = {
        {"logsigmoid", "log_sigmoid"}, {"hsmm", "hspmm"}, {"saddmm", "sspaddmm"}, {"spmm", "mm"}, {"dsmm", "mm"}};
    for (size_t i = 0; i < TSR_COUNTOF(other_names); i++)
        if (strcmp(name, other_names[i][0]) == 0) name = other_names[i][1];
    if (strcmp(name, "_einsum") == 0 || strcmp(name, "_tensordot") == 0) name++;
    char text[128];
    size_t n = 0;
    for (; n < sizeof text && name[n] != '\0'; n++) text[n] = name[n] == '.' ? '_' : name[n];
    Str *kept = str_intern(text, (int64_t)n);
    return kept == NULL ? NULL : kept->data;
}

static TsrStatus make_function(Value *out, const char *name, bool method) {
    BindForm form = BIND_FUNCTION;
    Dict **known = &made[method];
    *out = VALUE_UNBOUND;
    if (*known == NULL && (*known = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    Value *found = dict_find_c(*known, name);
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
    f->starred = !method && (has_form(set, TSR_STARRED) || has_form(set, TSR_STARRED_OR_LIST));
    f->python = has_form(set, method ? TSR_PYTHON_METHOD : TSR_PYTHON_FN);
    f->parser = NULL;
    f->bound = false;
    TsrStatus s = dict_set_c(*known, name, value_lent(f));
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
