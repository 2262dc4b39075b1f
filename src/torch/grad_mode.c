/* grad_mode.c: no_grad, enable_grad, inference_mode and set_grad_enabled: blocks, and decorators that make functions
 * run in a mode (prelude/grad_mode.tsr). There is no autograd: a mode is what torch.is_grad_enabled() and
 * is_inference_mode_enabled() answer, and whether new tensors are inference tensors. */
#include "grad_mode.h"

#include <string.h>

#include "core/tensor/inference.h"
#include "lang/compile/code.h"
#include "lang/object/args.h"
#include "lang/types/str.h"
#include "lang/vm/prelude.h"
#include "lang/vm/vm.h"

typedef struct Mode {
    bool grad, inference;
} Mode;

static bool grad_enabled = true;

static Mode current_mode(void) { return (Mode){grad_enabled, tsr_is_inference_mode()}; }

static void set_mode(bool grad, bool inference) {
    grad_enabled = grad;
    tsr_set_inference_mode(inference);
}

typedef struct ModeObj {
    Obj obj;
    Mode mode, before;
} ModeObj;

static TsrStatus mode_new(Value *out, Type *type, Mode mode) {
    ModeObj *m = obj_new(type, sizeof *m);
    if (m == NULL) return TSR_MEMORY_ERROR;
    m->mode = mode;
    m->before = current_mode();
    if (type == &set_grad_enabled_type)
        set_mode(mode.grad, mode.inference); /* it holds from here on, with or without a block */
    *out = value_obj_move(m);
    return TSR_OK;
}

/* A function that does what this one does, in the mode. */
static TsrStatus decorate(Value *out, Value mode, Value function) {
    Value decorator;
    bool yields = value_is_function(function) && (((Function *)function.o)->code->flags & CODE_GENERATOR) != 0;
    TSR_TRY(prelude_get(&decorator, "grad_mode", yields ? "generator" : "function"));
    TsrStatus status = value_call_n(out, decorator, 2, (Value[]){mode, function});
    value_release(decorator);
    return status;
}

/* As the mode's decorator. */
static TsrStatus decorate_by_new(Value *out, Type *type, Mode mode, Value function) {
    Value made;
    TSR_TRY(mode_new(&made, type, mode));
    TsrStatus status = decorate(out, made, function);
    value_release(made);
    return status;
}

/* no_grad() and enable_grad(), or their function as a decorator without brackets. */
static TsrStatus plain_construct(Value *out, Type *type, const CallArgs *args) {
    Mode mode = {.grad = type == &enable_grad_type, .inference = tsr_is_inference_mode()};
    const char *new = "_NoParamDecoratorContextManager.__new__()";
    Value function = args->count > 0 ? args->values[0] : args_keyword(args, "orig_func");
    int given = args->count + (args->count == 0 && function.tag != V_UNBOUND);
    if (args->count > 1)
        return tsr_error(TSR_TYPE_ERROR, "%s takes from 1 to 2 positional arguments but %d were given", new,
                         args->count + 1);
    if (given < args->count + args->keyword_count)
        return tsr_error(TSR_TYPE_ERROR, "%s got an unexpected keyword argument '%s'", new, args->names[0]->data);
    if (function.tag == V_UNBOUND || function.tag == V_NONE) return mode_new(out, type, mode);
    return decorate_by_new(out, type, mode, function);
}

static TsrStatus inference_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"mode"};
    Value v;
    TSR_TRY(args_parse_python(&v, args, &(ArgSpec){"inference_mode.__new__", names, 1, 0, 1, 0}));
    bool decorates = v.tag != V_UNBOUND && v.tag != V_BOOL, inference = v.tag != V_BOOL || v.b;
    Mode mode = {.grad = !inference, .inference = inference};
    return decorates ? decorate_by_new(out, type, mode, v) : mode_new(out, type, mode);
}

static TsrStatus set_grad_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"mode"};
    Value v;
    TSR_TRY(args_parse_python(&v, args, &(ArgSpec){"set_grad_enabled.__init__", names, 1, 0, 1, 1}));
    if (v.tag != V_BOOL)
        return tsr_error(TSR_TYPE_ERROR, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not %s",
                         value_type_name(v));
    return mode_new(out, type, (Mode){.grad = v.b, .inference = tsr_is_inference_mode()});
}

static TsrStatus mode_clone(Value *out, const CallArgs *args) {
    const ModeObj *m = (ModeObj *)args->values[0].o;
    Mode mode = m->mode;
    if (m->obj.type != &inference_mode_type) mode.inference = tsr_is_inference_mode();
    return mode_new(out, m->obj.type, mode);
}

static TsrStatus mode_enter(Value *out, const CallArgs *args) {
    ModeObj *m = (ModeObj *)args->values[0].o;
    if (m->obj.type != &set_grad_enabled_type) m->before.grad = grad_enabled;
    m->before.inference = tsr_is_inference_mode();
    set_mode(m->mode.grad, m->obj.type == &inference_mode_type ? m->mode.inference : tsr_is_inference_mode());
    *out = VALUE_NONE;
    return TSR_OK;
}

static TsrStatus mode_exit(Value *out, const CallArgs *args) {
    const ModeObj *m = (ModeObj *)args->values[0].o;
    set_mode(m->before.grad, m->obj.type == &inference_mode_type ? m->before.inference : tsr_is_inference_mode());
    *out = VALUE_NONE;
    return TSR_OK;
}

/* set_grad_enabled as a decorator holds for the function alone: what its construction set is put back. */
static TsrStatus mode_call(Value *out, Value self, const CallArgs *args) {
    static const char *const names[] = {"orig_func"};
    const ModeObj *m = (ModeObj *)self.o;
    Value v;
    bool sets = m->obj.type == &set_grad_enabled_type;
    const char *name = sets ? "set_grad_enabled.__call__" : "_DecoratorContextManager.__call__";
    TSR_TRY(args_parse_python(&v, args, &(ArgSpec){name, names, 1, 0, 1, 1}));
    if (sets) grad_enabled = m->before.grad;
    return decorate(out, self, v);
}

static TsrStatus mode_repr(TsrText *out, Value self) {
    const ModeObj *m = (ModeObj *)self.o;
    if (m->obj.type == &set_grad_enabled_type)
        return tsr_text_printf(out, "torch.autograd.grad_mode.set_grad_enabled(mode=%s)",
                               m->mode.grad ? "True" : "False");
    return tsr_text_printf(out, "<torch.autograd.grad_mode.%s object>", m->obj.type->name);
}

static void mode_destroy(Obj *self) { obj_free(self, sizeof(ModeObj)); }

static const Method mode_methods[] = {
    {"__enter__", mode_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", "Enters the mode."},
    {"__exit__", mode_exit, ARGS_ANY | METHOD_DUNDER, 0, 0, "(type, value, traceback)", "Leaves the mode."},
    {"clone", mode_clone, ARGS_NONE, 0, 0, "()", "A mode of the same kind, not entered."},
    {0},
};

#define MODE_TYPE(shown, make) \
    { \
        .obj = TYPE_HEADER, .name = shown, .module = "torch.autograd.grad_mode", .construct = make, \
        .destroy = mode_destroy, .repr = mode_repr, .call = mode_call, .methods = mode_methods \
    }
Type no_grad_type = MODE_TYPE("no_grad", plain_construct);
Type enable_grad_type = MODE_TYPE("enable_grad", plain_construct);
Type inference_mode_type = MODE_TYPE("inference_mode", inference_construct);
Type set_grad_enabled_type = MODE_TYPE("set_grad_enabled", set_grad_construct);

static TsrStatus is_grad_enabled(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(grad_enabled);
    return TSR_OK;
}

static TsrStatus is_inference_mode_enabled(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_bool(tsr_is_inference_mode());
    return TSR_OK;
}

const Method torch_grad_mode_functions[] = {
    {"is_grad_enabled", is_grad_enabled, ARGS_NONE, 0, 0, "()",
     "Whether no_grad() is not in force; there is no autograd either way."},
    {"is_inference_mode_enabled", is_inference_mode_enabled, ARGS_NONE, 0, 0, "()",
     "Whether inference_mode() is in force."},
    {0},
};
