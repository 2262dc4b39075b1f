/* Functions and cells of the language as values. */
#include "frame.h"

#include "lang/object/native.h"

#include <string.h>

/* --- cells --- */

GC_HOLDS(cell, Cell, &it->value)

static TsrStatus cell_contents(Value *out, Value self) {
    Value v = value_as_cell(self)->value;
    if (v.tag == V_UNBOUND) return tsr_error(TSR_VALUE_ERROR, "Cell is empty");
    *out = value_retain(v);
    return TSR_OK;
}

static const Getter cell_getters[] = {{"cell_contents", cell_contents, NULL, "The value in the cell."}, {0}};

Type cell_type = {.obj = TYPE_HEADER,
                  .name = "cell",
                  .flags = TYPE_GC,
                  .destroy = cell_destroy,
                  .traverse = cell_traverse,
                  .clear = cell_clear,
                  .getters = cell_getters};

TsrStatus cell_new(Value *out, Value content) {
    Cell *cell = obj_new(&cell_type, sizeof *cell);
    if (cell == NULL) {
        value_release(content);
        return TSR_MEMORY_ERROR;
    }
    cell->value = content;
    *out = value_obj_move(cell);
    gc_track(cell);
    return TSR_OK;
}

/* --- functions --- */

static size_t function_size(int64_t cells) { return sizeof(Function) + (size_t)cells * sizeof(Cell *); }

static void function_drop(Function *fn) {
    for (int64_t k = 0; k < fn->cell_count; k++) {
        Cell *cell = fn->cells[k];
        fn->cells[k] = NULL;
        obj_xrelease(cell);
    }
    Tuple *defaults = fn->defaults;
    Dict *kwdefaults = fn->kwdefaults, *annotations = fn->annotations, *attributes = fn->attributes;
    fn->defaults = NULL;
    fn->kwdefaults = fn->annotations = fn->attributes = NULL;
    obj_xrelease(defaults);
    obj_xrelease(kwdefaults);
    obj_xrelease(annotations);
    obj_xrelease(attributes);
}

static void function_destroy(Obj *self) {
    Function *fn = (Function *)self;
    int64_t cells = fn->cell_count;
    function_drop(fn);
    value_release(fn->doc);
    obj_xrelease(fn->name);
    obj_xrelease(fn->qualname);
    code_free(fn->code);
    obj_free(fn, function_size(cells));
}

static void function_traverse(Obj *self, GcVisit visit, void *context) {
    Function *fn = (Function *)self;
    for (int64_t k = 0; k < fn->cell_count; k++) gc_visit_obj(fn->cells[k], visit, context);
    gc_visit_obj(fn->defaults, visit, context);
    gc_visit_obj(fn->kwdefaults, visit, context);
    gc_visit_obj(fn->annotations, visit, context);
    gc_visit_obj(fn->attributes, visit, context);
    gc_visit_value(fn->doc, visit, context);
}

/* A cleared function is garbage in a cycle: nothing can call it any more, but its cells must stay valid pointers. */
static void function_gc_clear(Obj *self) {
    Function *fn = (Function *)self;
    for (int64_t k = 0; k < fn->cell_count; k++)
        if (fn->cells[k] != NULL) value_clear(&fn->cells[k]->value);
    Dict *attributes = fn->attributes;
    fn->attributes = NULL;
    obj_xrelease(attributes);
}

static TsrStatus function_repr(TsrText *out, Value self) {
    const Function *fn = value_as_function(self);
    return tsr_text_printf(out, "<function %s>", fn->qualname != NULL ? fn->qualname->data : fn->code->qualname);
}

/* A name that was set, else the code's. */
static TsrStatus give_name(Value *out, Str *set, const char *own) {
    if (set == NULL) return str_new_c(out, own);
    *out = value_obj_move(obj_retain(set));
    return TSR_OK;
}

static TsrStatus get_name(Value *out, Value self) {
    const Function *fn = value_as_function(self);
    return give_name(out, fn->name, fn->code->name);
}

static TsrStatus get_qualname(Value *out, Value self) {
    const Function *fn = value_as_function(self);
    return give_name(out, fn->qualname, fn->code->qualname);
}

static TsrStatus set_a_name(Str **slot, Value v, const char *attribute) {
    if (!value_is_str(v)) return tsr_error(TSR_TYPE_ERROR, "%s must be set to a string object", attribute);
    Str *before = *slot;
    *slot = obj_retain(value_as_str(v));
    obj_xrelease(before);
    return TSR_OK;
}

static TsrStatus set_name(Value self, Value v) { return set_a_name(&value_as_function(self)->name, v, "__name__"); }
static TsrStatus set_qualname(Value self, Value v) {
    return set_a_name(&value_as_function(self)->qualname, v, "__qualname__");
}
static TsrStatus get_module(Value *out, Value self) {
    (void)self;
    return str_new_c(out, "__main__");
}

static TsrStatus get_doc(Value *out, Value self) {
    Value doc = value_as_function(self)->doc;
    *out = doc.tag == V_UNBOUND ? VALUE_NONE : value_retain(doc);
    return TSR_OK;
}

static TsrStatus set_doc(Value self, Value v) {
    value_set_move(&value_as_function(self)->doc, value_retain(v));
    return TSR_OK;
}

static TsrStatus give_object(Value *out, void *object) {
    *out = object == NULL ? VALUE_NONE : value_obj_move(obj_retain(object));
    return TSR_OK;
}

static TsrStatus get_defaults(Value *out, Value self) { return give_object(out, value_as_function(self)->defaults); }
static TsrStatus get_kwdefaults(Value *out, Value self) {
    return give_object(out, value_as_function(self)->kwdefaults);
}

static TsrStatus get_closure(Value *out, Value self) {
    const Function *fn = value_as_function(self);
    if (fn->cell_count == 0) return give_object(out, NULL);
    TSR_TRY(tuple_new_raw(out, fn->cell_count));
    for (int64_t k = 0; k < fn->cell_count; k++)
        value_as_tuple(*out)->items[k] = value_obj_move(obj_retain(fn->cells[k]));
    gc_track(out->o);
    return TSR_OK;
}

static TsrStatus get_annotations(Value *out, Value self) {
    Function *fn = value_as_function(self);
    if (fn->annotations == NULL && (fn->annotations = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    return give_object(out, fn->annotations);
}

static TsrStatus set_annotations(Value self, Value v) {
    Function *fn = value_as_function(self);
    if (v.tag != V_NONE && !value_is_dict(v))
        return tsr_error(TSR_TYPE_ERROR, "__annotations__ must be set to a dict object");
    Dict *before = fn->annotations;
    fn->annotations = v.tag == V_NONE ? NULL : obj_retain(value_as_dict(v));
    obj_xrelease(before);
    return TSR_OK;
}

static TsrStatus attributes_of(Function *fn) {
    if (fn->attributes != NULL) return TSR_OK;
    fn->attributes = dict_new_raw();
    return fn->attributes == NULL ? TSR_MEMORY_ERROR : TSR_OK;
}

static TsrStatus get_dict(Value *out, Value self) {
    TSR_TRY(attributes_of(value_as_function(self)));
    return give_object(out, value_as_function(self)->attributes);
}

static const Getter function_getters[] = {
    {"__name__", get_name, set_name, "The function's name."},
    {"__qualname__", get_qualname, set_qualname, "The name with the functions it was made in."},
    {"__module__", get_module, NULL, NULL},
    {"__doc__", get_doc, set_doc, "The docstring."},
    {"__defaults__", get_defaults, NULL, "Defaults of the last positional parameters."},
    {"__kwdefaults__", get_kwdefaults, NULL, "Defaults of the keyword-only parameters."},
    {"__closure__", get_closure, NULL, "The cells of the names it takes from outside."},
    {"__annotations__", get_annotations, set_annotations,
     "What stands after the colons of its parameters, and after ->."},
    {"__dict__", get_dict, NULL, NULL},
    {0},
};

static TsrStatus function_get_attr(Value *out, Value self, Str *name) {
    const Function *fn = value_as_function(self);
    *out = VALUE_UNBOUND;
    Value *found = fn->attributes == NULL ? NULL : dict_find_str(fn->attributes, name);
    if (found != NULL) *out = value_retain(*found);
    return TSR_OK;
}

static const Getter *getter_of(const Str *name) {
    for (const Getter *g = function_getters; g->name != NULL; g++)
        if (str_equal_c(name, g->name)) return g;
    return NULL;
}

static TsrStatus function_set_attr(Value self, Str *name, Value v) {
    Function *fn = value_as_function(self);
    const Getter *getter = getter_of(name);
    if (getter != NULL && getter->set != NULL && v.tag != V_UNBOUND) return getter->set(self, v);
    if (str_equal_c(name, "__closure__")) return tsr_error(TSR_ATTRIBUTE_ERROR, "readonly attribute");
    if (getter != NULL && !str_equal_c(name, "__module__"))
        return tsr_error(TSR_ATTRIBUTE_ERROR, "attribute '%s' of 'function' objects is not writable", name->data);
    if (v.tag == V_UNBOUND) {
        if (fn->attributes != NULL && dict_remove_str(fn->attributes, name)) return TSR_OK;
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'function' object has no attribute '%s'", name->data);
    }
    TSR_TRY(attributes_of(fn));
    return dict_set_str(fn->attributes, name, v);
}

Type function_type = {.obj = TYPE_HEADER,
                      .name = "function",
                      .flags = TYPE_GC | TYPE_METHOD | TYPE_ATOMIC,
                      .descriptor_get = bound_method_new,
                      .destroy = function_destroy,
                      .traverse = function_traverse,
                      .clear = function_gc_clear,
                      .repr = function_repr,
                      .call = function_call,
                      .get_attr = function_get_attr,
                      .set_attr = function_set_attr,
                      .getters = function_getters};

/* The cell that a new closure takes from the frame it is made in. The caller's reference. */
static TsrStatus take_cell(Cell **out, const Capture *capture, Frame *frame) {
    Value v;
    if (capture->from == CAPTURE_FREE) {
        *out = obj_retain(frame->fn->cells[capture->index]);
        return TSR_OK;
    }
    Value slot = frame->base[capture->index];
    if (capture->from == CAPTURE_CELL && value_is_obj(slot, &cell_type)) {
        *out = obj_retain(slot.o);
        return TSR_OK;
    }
    TSR_TRY(cell_new(&v, value_retain(slot)));
    *out = value_as_cell(v);
    return TSR_OK;
}

TsrStatus function_new(Value *out, Code *code, Tuple *defaults, Dict *kwdefaults, Dict *annotations, Frame *frame) {
    Function *fn = obj_new(&function_type, function_size(code->capture_count));
    if (fn == NULL) {
        obj_xrelease(defaults);
        obj_xrelease(kwdefaults);
        obj_xrelease(annotations);
        return TSR_MEMORY_ERROR;
    }
    fn->code = code_retain(code);
    fn->defaults = defaults;
    fn->kwdefaults = kwdefaults;
    fn->annotations = annotations;
    fn->attributes = NULL;
    fn->name = fn->qualname = NULL;
    fn->doc = code->doc >= 0 ? value_retain(code->consts[code->doc]) : VALUE_UNBOUND;
    fn->cell_count = code->capture_count;
    for (int k = 0; k < code->capture_count; k++) fn->cells[k] = NULL;
    *out = value_obj_move(fn);
    TsrStatus status = TSR_OK;
    for (int k = 0; k < code->capture_count && status == TSR_OK; k++)
        status = take_cell(&fn->cells[k], &code->captures[k], frame);
    if (status != TSR_OK) {
        value_clear(out);
        return status;
    }
    gc_track(fn);
    return TSR_OK;
}
