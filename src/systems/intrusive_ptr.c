/* c10.intrusive_ptr, c10.raw.intrusive_ptr and the undefined tensor: counting by hand with c10's names. A raw reference
 * is TH's (th_impl.h): a handle that knows how many there are and where each was made; so what is forgotten, given back
 * twice or taken over without a reference is told with its line. */
#include <stdio.h>

#include "caffe2.h"
#include "lang/modules/namespace.h"
#include "lang/object/args.h"
#include "lang/vm/vm.h"
#include "th_impl.h"
#include "torch/bind/bind.h"
#include "torch/holders.h"

static Type ptr_type;

/* An owning pointer; null after release() and reset(). */
typedef struct Pointer {
    Obj obj;
    TsrTensor *t; /* a reference; NULL: null, which is the undefined tensor */
    const char *how;
    int line; /* how and where it became null; 0: it was made so */
} Pointer;

static Pointer *as_ptr(Value v) { return (Pointer *)v.o; }

static void ptr_destroy(Obj *self) {
    tsr_tensor_free(((Pointer *)self)->t);
    obj_free(self, sizeof(Pointer));
}

/* Takes t over, on failure too. */
static TsrStatus ptr_new_move(Value *out, TsrTensor *t) {
    Pointer *p = obj_new(&ptr_type, sizeof *p);
    if (p == NULL) {
        tsr_tensor_free(t);
        return mem_error();
    }
    p->t = t;
    p->how = "made";
    p->line = vm_current_line();
    if (t != NULL) tsr_trace(TSR_TRACE_WRAP, "intrusive_ptr", "owned", 0, t, NULL);
    *out = value_obj_move(p);
    return TSR_OK;
}

static TsrStatus ptr_get(TsrTensor **lent, Value v) {
    const Pointer *p = as_ptr(v);
    *lent = p->t;
    if (p->t != NULL) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "this intrusive_ptr is null: it was %s at line %d", p->how, p->line);
}

static bool ptr_owns(Value v) { return as_ptr(v)->t != NULL; }

static TsrStatus ptr_construct(Value *out, Type *type, const CallArgs *args) {
    TsrTensor *t = NULL;
    (void)type;
    TSR_TRY(args_count(args, 0, 0, 1, "intrusive_ptr"));
    TSR_TRY(args_no_keywords(args, "intrusive_ptr"));
    if (args->count == 1) TSR_TRY(th_tensor_arg(&t, args->values[0], "intrusive_ptr"));
    return ptr_new_move(out, tsr_tensor_retain(t));
}

static TsrStatus ptr_repr(TsrText *out, Value self) {
    const Pointer *p = as_ptr(self);
    if (p->t == NULL) return tsr_text_puts(out, "intrusive_ptr(null)");
    return tsr_text_printf(out, "intrusive_ptr(TensorImpl, use_count %d)", (int)tsr_tensor_refcount(p->t));
}

/* Whoever had the reference has it no longer: null, and since when. */
static TsrTensor *take(Pointer *p, const char *how) {
    TsrTensor *t = p->t;
    p->t = NULL;
    p->how = how;
    p->line = vm_current_line();
    return t;
}

static TsrStatus ptr_release(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(ptr_get(&t, args->values[0]));
    return th_give_tensor_move(out, take(as_ptr(args->values[0]), "released"));
}

static TsrStatus ptr_reset(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    tsr_tensor_free(take(as_ptr(args->values[0]), "reset"));
    return TSR_OK;
}

static TsrStatus use_count(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, args->values[0], "use_count"));
    *out = value_int(holders_refcount(t));
    return TSR_OK;
}

static TsrStatus ptr_use_count(Value *out, const CallArgs *args) {
    const Pointer *p = as_ptr(args->values[0]);
    *out = value_int(p->t != NULL ? (int64_t)tsr_tensor_refcount(p->t) : 0);
    return TSR_OK;
}

static TsrStatus ptr_defined(Value *out, const CallArgs *args) {
    return *out = value_bool(as_ptr(args->values[0])->t != NULL), TSR_OK;
}

/* get(): the tensor, lent in C++; here a value holds what it names. */
static TsrStatus ptr_tensor(Value *out, const CallArgs *args) {
    TsrTensor *t = as_ptr(args->values[0])->t;
    *out = value_tensor_move(t != NULL ? tsr_tensor_retain(t) : tsr_tensor_new_undefined());
    return TSR_OK;
}

/* Takes over a raw reference: the count stays. Of a tensor that has none to give the count would be one too low. */
static TsrStatus ptr_reclaim(Value *out, const CallArgs *args) {
    Value v = args->values[0];
    TsrTensor *t;
    TSR_TRY(th_tensor_arg(&t, v, "reclaim"));
    if (!th_is_handle(v)) {
        th_fail("reclaim: this tensor has no raw reference to take over: its count would be one too low");
        tsr_error_hint(
            "c10.raw.intrusive_ptr.incref(x) and p.release() give one; c10.intrusive_ptr(x) counts one more");
        return TSR_TH_ERROR;
    }
    TSR_TRY(ptr_new_move(out, NULL));
    as_ptr(*out)->t = tsr_tensor_retain(t);
    th_release_raw(th_record(v));
    tsr_trace(TSR_TRACE_WRAP, "intrusive_ptr", "owned", 0, t, NULL);
    return TSR_OK;
}

static const Method ptr_methods[] = {
    {"reclaim", ptr_reclaim, ARGS_ONE | METHOD_STATIC, 1, 1, "(handle)",
     "A pointer that takes over a raw reference: the count stays, and the handle must not be freed."},
    {"release", ptr_release, ARGS_NONE, 0, 0, "()",
     "Gives its reference up as a raw one, and is null: free or reclaim that."},
    {"reset", ptr_reset, ARGS_NONE, 0, 0, "()", "Gives its reference back, and is null."},
    {"get", ptr_tensor, ARGS_NONE, 0, 0, "()", "The tensor; the undefined one where it is null."},
    {"use_count", ptr_use_count, ARGS_NONE, 0, 0, "()", "References to the tensor; 0 where it is null."},
    {"defined", ptr_defined, ARGS_NONE, 0, 0, "()", "Whether it is not null."},
    {0},
};

static Type ptr_type = {.obj = TYPE_HEADER,
                        .name = "intrusive_ptr",
                        .module = "c10",
                        .construct = ptr_construct,
                        .destroy = ptr_destroy,
                        .repr = ptr_repr,
                        .methods = ptr_methods};

/* ---- the namespaces ---- */

static const Method raw_functions[] = {
    {"incref", th_retain, ARGS_RANGE, 1, 1, "(t)", "One raw reference more; decref it."},
    {"decref", th_free, ARGS_RANGE, 1, 1, "(t)", "Gives a raw reference back."},
    {"use_count", use_count, ARGS_RANGE, 1, 1, "(t)", "References to the tensor."},
    {0},
};

static TsrStatus undefined_singleton(Value *out, const CallArgs *args) {
    (void)args;
    *out = value_tensor_move(tsr_tensor_new_undefined());
    return TSR_OK;
}

static const Method undefined_functions[] = {
    {"singleton", undefined_singleton, ARGS_NONE, 0, 0, "()", "The undefined tensor: there is one, and never NULL."},
    {0},
};

static TsrStatus add_module(Module *m, const char *name, const char *doc, const Method *functions) {
    Value inner;
    TSR_TRY(module_new(&inner, name, doc));
    TsrStatus status = module_add_functions(value_as_module(inner), functions);
    if (status == TSR_OK) return module_add_move(m, name, inner);
    value_release(inner);
    return status;
}

static TsrStatus fill_c10(Module *m) {
    Value raw;
    TSR_TRY(module_add(m, "ArrayRef", value_lent(&array_ref_type)));
    TSR_TRY(module_add(m, "IntArrayRef", value_lent(&array_ref_type))); /* the note: a well known synonym */
    TSR_TRY(module_add(m, "intrusive_ptr", value_lent(&ptr_type)));
    TSR_TRY(add_module(m, "UndefinedTensorImpl", "What an undefined tensor points to.", undefined_functions));
    TSR_TRY(module_new(&raw, "raw", "Counting by hand."));
    TsrStatus status = add_module(value_as_module(raw), "intrusive_ptr", "Raw references.", raw_functions);
    if (status == TSR_OK) return module_add_move(m, "raw", raw);
    value_release(raw);
    return status;
}

TsrStatus ns_c10_startup(void) {
    static const WhoWrapper wrapper = {
        .type = &ptr_type, .name = "intrusive_ptr<TensorImpl>", .get = ptr_get, .owns = ptr_owns};
    holders_register_wrapper(&wrapper);
    array_ref_startup();
    return namespace_add(&(Namespace){
        .name = "c10",
        .doc =
            "ArrayRef, a reference to numbers that it does not own; intrusive_ptr, and raw references counted by hand.",
        .fill = fill_c10});
}
