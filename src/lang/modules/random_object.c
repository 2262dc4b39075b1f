/* random_object.c: random.Random: a stream of numbers of its own. A method is the module's function of the name, called
 * while it draws from the object's stream. */
#include "random_stream.h"

#ifndef __wasm__ /* the page goes without */

#include <string.h>

#include "lang/object/args.h"
#include "lang/object/native.h"
#include "lang/object/value_impl.h"
#include "lang/types/str.h"

typedef struct RandomObject {
    Obj obj;
    RandomStream stream;
} RandomObject;

typedef struct RandomMethod {
    Obj obj;
    RandomObject *of; /* retained */
    Value function;   /* the module's */
} RandomMethod;

static Type drawing_type;

static TsrStatus call_with_stream(Value *out, RandomObject *o, Value function, const CallArgs *args) {
    RandomStream *before = random_draw_from(&o->stream);
    TsrStatus status = value_call(out, function, args);
    random_draw_from(before);
    return status;
}

/* The module's function of the name; V_UNBOUND: there is none. */
static TsrStatus module_function(Value *out, Str *name) {
    Value module;
    *out = VALUE_UNBOUND;
    if (name->data[0] == '_' || str_equal_c(name, "Random")) return TSR_OK;
    TSR_TRY(module_import(&module, "random"));
    TsrStatus status = module_find(out, value_as_module(module), name);
    value_release(module);
    return status;
}

static TsrStatus object_construct(Value *out, Type *type, const CallArgs *args) {
    static const char *const names[] = {"x"};
    static const ArgSpec spec = {"Random.__init__", names, 1, 0, 1, 0};
    Value given, name, seed = VALUE_UNBOUND, nothing;
    TSR_TRY(args_parse_python(&given, args, &spec));
    RandomObject *o = obj_new(type, sizeof *o);
    if (o == NULL) return mem_error();
    memset(&o->stream, 0, sizeof o->stream);
    Value made = value_obj_move(o);
    TsrStatus status = str_new_c(&name, "seed");
    if (status == TSR_OK) {
        status = module_function(&seed, value_as_str(name));
        value_release(name);
    }
    CallArgs seeds = {&given, given.tag != V_UNBOUND, 0, NULL, false};
    if (status == TSR_OK) status = call_with_stream(&nothing, o, seed, &seeds); /* gives None */
    value_release(seed);
    return value_end_move(out, status, made);
}

static void object_destroy(Obj *self) { obj_free(self, sizeof(RandomObject)); }

static TsrStatus object_get_attr(Value *out, Value self, Str *name) {
    Value function;
    TSR_TRY(module_function(&function, name));
    *out = function;
    if (function.tag == V_UNBOUND) return TSR_OK;
    RandomMethod *m = obj_new(&drawing_type, sizeof *m);
    if (m == NULL) {
        value_release(function);
        return mem_error();
    }
    m->of = obj_retain(self.o);
    m->function = function;
    *out = value_obj_move(m);
    return TSR_OK;
}

static TsrStatus method_call(Value *out, Value self, const CallArgs *args) {
    RandomMethod *m = (RandomMethod *)self.o;
    return call_with_stream(out, m->of, m->function, args);
}

static void method_destroy(Obj *self) {
    RandomMethod *m = (RandomMethod *)self;
    value_release(value_lent(m->of));
    value_release(m->function);
    obj_free(self, sizeof *m);
}

static TsrStatus method_get_attr(Value *out, Value self, Str *name) {
    *out = VALUE_UNBOUND;
    bool shared = str_equal_c(name, "__name__") || str_equal_c(name, "__doc__");
    return shared ? value_getattr(out, ((RandomMethod *)self.o)->function, name) : TSR_OK;
}

Type random_object_type = {.obj = TYPE_HEADER,
                           .name = "Random",
                           .module = "random",
                           .doc = "Random(x=None): a stream of random numbers of its own; the functions of random are "
                                  "its methods.",
                           .construct = object_construct,
                           .destroy = object_destroy,
                           .get_attr = object_get_attr};
static Type drawing_type = {.obj = TYPE_HEADER,
                            .name = "builtin_function_or_method",
                            .destroy = method_destroy,
                            .call = method_call,
                            .get_attr = method_get_attr};
#endif
