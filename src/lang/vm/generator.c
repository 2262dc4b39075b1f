/* Generators: a frame of its own, resumed by for loops (in the evaluator's loop), next(), send(), throw() and close().
 */
#include "frame.h"

static TsrStatus enter(Value *out, Generator *g, TsrStatus raise) {
    TsrStatus room = stack_check();
    if (room == TSR_OK) room = recursion_enter("");
    if (room != TSR_OK) {
        if (raise != TSR_OK) exc_discard(raise); /* the newer error counts */
        return recursion_error("");
    }
    g->state = GEN_RUNNING;
    g->frame.prev = vm.frame;
    g->frame.flags = FRAME_SPECIAL;
    obj_retain(g);
    TsrStatus status = vm_enter(out, &g->frame, raise);
    g->frame.prev = NULL;
    obj_release(g);
    return status;
}

void generator_done(Generator *g) {
    g->state = GEN_DONE;
    frame_clear(&g->frame);
}

Value generator_failed_move(Generator *g, Value exception) {
    generator_done(g);
    if (value_exc(exception)->kind != TSR_STOP_ITERATION) return exception;
    Value text, error;
    TsrStatus status = str_new_c(&text, "generator raised StopIteration");
    if (status == TSR_OK) {
        status = exc_new(&error, TSR_RUNTIME_ERROR, 1, &text);
        value_release(text);
    }
    if (status != TSR_OK) {
        exc_discard(status);
        return exception;
    }
    Exc *e = value_exc(error);
    value_set_move(&e->cause, value_retain(exception));
    value_set_move(&e->context, exception);
    e->suppress_context = true;
    value_set_move(&e->trace, value_retain(value_exc(exception)->trace));
    return error;
}

/* A generator that stands in a `yield from` hands what is sent or raised to the inner one first. *inside: that one
 * yielded. */
static TsrStatus resume_delegate(Value *out, bool *inside, Generator *g, Value sent, TsrStatus raise) {
    const Ins *i = g->frame.pc;
    Value result = VALUE_UNBOUND, inner = value_retain(g->frame.base[i->b]);
    g->state = GEN_RUNNING;
    Frame *saved = vm.frame;
    g->frame.prev = saved;
    TsrStatus status = delegate_step(out, &result, inner, sent, raise);
    g->frame.prev = NULL;
    g->state = GEN_SUSPENDED;
    value_release(inner);
    *inside = status == TSR_OK && out->tag != V_UNBOUND;
    if (*inside) return TSR_OK;
    slot_clear(&g->frame.base[i->b]);
    if (status == TSR_OK) slot_set_move(&g->frame.base[i->a], result);
    g->frame.pc++;
    return status;
}

static TsrStatus close_generator(Generator *g);

/* Goes on with it: *out is what it yields, or V_UNBOUND at its end, *result (may be NULL) then what it returned.
 * `raise` not OK: the error is raised where it stands. */
static TsrStatus resume(Value *out, Value *result, Generator *g, Value sent, TsrStatus raise) {
    *out = VALUE_UNBOUND;
    if (result != NULL) *result = VALUE_UNBOUND;
    if (g->state == GEN_RUNNING) {
        if (raise != TSR_OK) exc_discard(raise);
        return tsr_error(TSR_VALUE_ERROR, "generator already executing");
    }
    if (g->state == GEN_DONE) return raise;
    if (g->state == GEN_NEW && raise == TSR_OK && sent.tag != V_NONE) {
        return tsr_error(TSR_TYPE_ERROR, "can't send non-None value to a just-started generator");
    }
    if (g->state == GEN_NEW && raise != TSR_OK) { g->frame.pc++; /* the place of the error is the first instruction */ }
    if (g->state == GEN_SUSPENDED && g->frame.pc->op == INS_YIELDFROM && raise != TSR_OK) {
        bool inside;
        raise = resume_delegate(out, &inside, g, sent, raise);
        if (inside) return TSR_OK;
    } else if (g->state == GEN_SUSPENDED) {
        slot_set_move(generator_sent(g), value_retain(sent));
    }
    Value v;
    TSR_TRY(enter(&v, g, raise));
    if (g->state == GEN_SUSPENDED) *out = v;
    else if (result != NULL) *result = v;
    else value_release(v);
    return TSR_OK;
}

static bool is_generator(Value v) { return value_is_obj(v, &generator_type); }

/* The value of a StopIteration behind `status`, which is then forgotten. False: it is something else. */
static bool take_stop(Value *result, TsrStatus status) {
    if (!exc_matches(status, TSR_STOP_ITERATION)) return false;
    Value e;
    exc_fetch(&e, status, VALUE_UNBOUND);
    Value v = value_exc(e)->value;
    *result = v.tag == V_UNBOUND ? VALUE_NONE : value_retain(v);
    value_release(e);
    return true;
}

TsrStatus delegate_step(Value *out, Value *result, Value iterator, Value sent, TsrStatus raise) {
    *out = VALUE_UNBOUND;
    *result = VALUE_UNBOUND;
    if (is_generator(iterator)) {
        Generator *g = (Generator *)iterator.o;
        if (raise != TSR_OK && exc_matches(raise, TSR_GENERATOR_EXIT)) { /* close() it, then raise here */
            Value pending;
            exc_fetch(&pending, raise, VALUE_UNBOUND);
            TsrStatus status = close_generator(g);
            if (status != TSR_OK) {
                value_release(pending);
                return status;
            }
            return exc_raise_move(pending);
        }
        TsrStatus status = resume(out, result, g, sent, raise);
        if (status == TSR_OK && out->tag == V_UNBOUND && result->tag == V_UNBOUND) *result = VALUE_NONE;
        if (status == TSR_OK || raise == TSR_OK || !take_stop(result, status)) return status;
        return TSR_OK;
    }
    if (raise != TSR_OK) return raise; /* only a generator could take it */
    TsrStatus status =
        sent.tag == V_NONE ? value_next(out, iterator) : value_call_method(out, iterator, "send", 1, &sent);
    if (status != TSR_OK && take_stop(result, status)) {
        *out = VALUE_UNBOUND;
        return TSR_OK;
    }
    if (status == TSR_OK && out->tag == V_UNBOUND) *result = VALUE_NONE;
    return status;
}

/* --- the type --- */

TsrStatus generator_start(Value *out, Function *fn, const CallArgs *args) {
    Code *code = fn->code;
    size_t size = sizeof(Generator) + (size_t)code->frame_size * sizeof(Value);
    Generator *g = obj_new(&generator_type, size);
    if (g == NULL) return TSR_MEMORY_ERROR;
    g->state = GEN_DONE;
    g->frame = (Frame){.pc = code->ins, .base = g->slots, .code = code_retain(code), .fn = obj_retain(fn), .gen = g};
    for (int k = 0; k < code->frame_size; k++) g->slots[k] = VALUE_UNBOUND;
    TsrStatus status = bind_arguments(fn, g->slots, args);
    if (status != TSR_OK) {
        obj_release(g);
        return status;
    }
    g->state = GEN_NEW;
    *out = value_obj_move(g);
    gc_track(g);
    return TSR_OK;
}

/* Whether leaving it now would run code of the program: a finally, a with, an except. */
static bool in_protected_code(const Generator *g) {
    const Code *code = g->frame.code;
    int at = (int)(g->frame.pc - code->ins) - 1;
    for (int k = 0; k < code->handler_count; k++) {
        const Handler *h = &code->handlers[k];
        if (h->target >= 0 && at >= h->start && at < h->end) return true;
    }
    return false;
}

static TsrStatus close_generator(Generator *g) {
    if (g->state == GEN_NEW) generator_done(g);
    if (g->state == GEN_DONE) return TSR_OK;
    if (g->state == GEN_SUSPENDED && !in_protected_code(g) && g->frame.pc->op != INS_YIELDFROM) {
        generator_done(g);
        return TSR_OK;
    }
    Value v;
    TsrStatus status = resume(&v, NULL, g, VALUE_NONE, tsr_error(TSR_GENERATOR_EXIT, "%s", ""));
    if (status == TSR_OK && v.tag != V_UNBOUND) {
        value_release(v);
        return tsr_error(TSR_RUNTIME_ERROR, "generator ignored GeneratorExit");
    }
    if (status != TSR_OK && (exc_matches(status, TSR_GENERATOR_EXIT) || exc_matches(status, TSR_STOP_ITERATION))) {
        exc_discard(status);
        return TSR_OK;
    }
    return status;
}

/* A suspended generator whose last reference goes still runs its finally blocks; errors there are dropped. */
static void close_dying(Generator *g) {
    if (g->state != GEN_SUSPENDED || (!in_protected_code(g) && g->frame.pc->op != INS_YIELDFROM)) return;
    Value pending = VALUE_UNBOUND;
    TsrStatus kind = exc_status();
    if (kind != TSR_OK) exc_fetch(&pending, kind, VALUE_UNBOUND);
    g->gc.obj.refcount = 1;
    TsrStatus status = close_generator(g);
    if (status != TSR_OK) exc_discard(status);
    g->gc.obj.refcount = 0;
    if (pending.tag != V_UNBOUND) exc_raise_move(pending);
}

static void generator_destroy(Obj *self) {
    Generator *g = (Generator *)self;
    close_dying(g);
    generator_done(g);
    Code *code = g->frame.code;
    size_t size = sizeof(Generator) + (size_t)code->frame_size * sizeof(Value);
    obj_release(g->frame.fn);
    obj_free(g, size);
    code_free(code);
}

static void generator_traverse(Obj *self, GcVisit visit, void *context) {
    Generator *g = (Generator *)self;
    for (int k = 0; k < g->frame.code->frame_size; k++) gc_visit_value(g->slots[k], visit, context);
    gc_visit_obj(g->frame.fn, visit, context);
}

static void generator_clear(Obj *self) {
    Generator *g = (Generator *)self;
    if (g->state != GEN_RUNNING) generator_done(g);
}

static TsrStatus generator_repr(TsrText *out, Value self) {
    return tsr_text_printf(out, "<generator object %s>", ((Generator *)self.o)->frame.code->qualname);
}

static TsrStatus generator_iter(Value *out, Value self) {
    *out = value_retain(self);
    return TSR_OK;
}

static TsrStatus generator_iter_next(Value *out, Value self) {
    return resume(out, NULL, (Generator *)self.o, VALUE_NONE, TSR_OK);
}

/* send and throw: the end of the generator is a StopIteration with its result. */
static TsrStatus step(Value *out, Value self, Value sent, TsrStatus raise) {
    Value result = VALUE_UNBOUND;
    TSR_TRY(resume(out, &result, (Generator *)self.o, sent, raise));
    if (out->tag != V_UNBOUND) return TSR_OK;
    if (result.tag == V_UNBOUND || result.tag == V_NONE) return tsr_error(TSR_STOP_ITERATION, "%s", "");
    TsrStatus status = exc_raise_value(TSR_STOP_ITERATION, result);
    value_release(result);
    return status;
}

static TsrStatus generator_send(Value *out, const CallArgs *args) {
    return step(out, args->values[0], args->values[1], TSR_OK);
}

static TsrStatus generator_next_method(Value *out, const CallArgs *args) {
    return step(out, args->values[0], VALUE_NONE, TSR_OK);
}

static TsrStatus generator_throw(Value *out, const CallArgs *args) {
    Value operand = args->values[1];
    if (args->count > 2 && !value_is_none(args->values[2]) && value_is_obj(operand, &type_type)) {
        Value made;
        TSR_TRY(value_call_n(&made, operand, 1, &args->values[2]));
        TsrStatus raise = exc_raise_operand(made, VALUE_UNBOUND);
        value_release(made);
        return step(out, args->values[0], VALUE_NONE, raise);
    }
    if (!value_is_exc(operand) && !(value_is_obj(operand, &type_type) && type_is_exception((Type *)operand.o))) {
        return tsr_error(TSR_TYPE_ERROR, "exceptions must be classes or instances deriving from BaseException, not %s",
                         value_type_name(operand));
    }
    return step(out, args->values[0], VALUE_NONE, exc_raise_operand(operand, VALUE_UNBOUND));
}

static TsrStatus generator_close_method(Value *out, const CallArgs *args) {
    *out = VALUE_NONE;
    return close_generator((Generator *)args->values[0].o);
}

static const Method generator_methods[] = {
    {"send", generator_send, ARGS_ONE, 1, 1, "(arg)", "Goes on with arg as the value of the yield."},
    {"throw", generator_throw, ARGS_RANGE, 1, 3, "(value)", "Raises value where the generator stands."},
    {"close", generator_close_method, ARGS_NONE, 0, 0, "()", "Raises GeneratorExit where the generator stands."},
    {"__next__", generator_next_method, ARGS_NONE, 0, 0, "()", NULL},
    {0},
};

static TsrStatus get_name(Value *out, Value self) { return str_new_c(out, ((Generator *)self.o)->frame.code->name); }
static TsrStatus get_running(Value *out, Value self) {
    *out = value_bool(((Generator *)self.o)->state == GEN_RUNNING);
    return TSR_OK;
}

static const Getter generator_getters[] = {{"__name__", get_name, NULL, "The name of its function."},
                                           {"gi_running", get_running, NULL, "Whether it runs now."},
                                           {0}};

Type generator_type = {.obj = TYPE_HEADER,
                       .name = "generator",
                       .flags = TYPE_GC,
                       .destroy = generator_destroy,
                       .traverse = generator_traverse,
                       .clear = generator_clear,
                       .repr = generator_repr,
                       .iter = generator_iter,
                       .iter_next = generator_iter_next,
                       .methods = generator_methods,
                       .getters = generator_getters,
                       .next_is_identity_iter = 1};
