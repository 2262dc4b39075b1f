/* Exception objects: construction, attributes, matching in `except`, and the one that is pending. An error that the
 * core worded becomes an object only when somebody catches or reports it (exc_fetch). OSError takes its parts from
 * errno, and the object keeps its cause, context, notes and traceback. */
#include "exc.h"

#include "args.h"
#include "lang/types/dict.h"
#include "native.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "lang/syntax/unichar.h"
#include "value_impl.h"

#include <stdlib.h>
#include <string.h>

static Value pending;   /* V_UNBOUND: none */
static Value no_memory; /* preallocated, so that running out can always be reported */

static void exc_destroy(Obj *self) {
    Exc *e = (Exc *)self;
    obj_xrelease(e->args);
    obj_xrelease(e->attributes);
    value_release(e->cause);
    value_release(e->context);
    value_release(e->value);
    value_release(e->trace);
    value_release(e->notes);
    tsr_free(e->hint);
    obj_free(e, sizeof *e);
}

static void exc_traverse(Obj *self, GcVisit visit, void *context) {
    Exc *e = (Exc *)self;
    gc_visit_obj(e->args, visit, context);
    gc_visit_obj(e->attributes, visit, context);
    gc_visit_value(e->cause, visit, context);
    gc_visit_value(e->context, visit, context);
    gc_visit_value(e->value, visit, context);
    gc_visit_value(e->trace, visit, context);
    gc_visit_value(e->notes, visit, context);
}

static void exc_clear(Obj *self) {
    Exc *e = (Exc *)self;
    value_clear(&e->cause);
    value_clear(&e->context);
    value_clear(&e->value);
    value_clear(&e->trace);
    value_clear(&e->notes);
}

static TsrStatus exc_repr(TsrText *out, Value self) {
    const Exc *e = value_exc(self);
    TSR_TRY(tsr_text_puts(out, value_type_name(self)));
    if (e->args->count == 1) {
        TSR_TRY(tsr_text_putc(out, '('));
        TSR_TRY(value_repr(out, e->args->items[0]));
        return tsr_text_putc(out, ')');
    }
    return value_repr(out, value_lent(e->args));
}

/* OSError(errno, text, path): "[Errno 2] text: 'path'". */
static TsrStatus os_error_str(TsrText *out, const Exc *e) {
    TSR_TRY(tsr_text_puts(out, "[Errno "));
    TSR_TRY(value_str(out, e->args->items[0]));
    TSR_TRY(tsr_text_puts(out, "] "));
    TSR_TRY(value_str(out, e->args->items[1]));
    if (e->value.tag == V_UNBOUND) return TSR_OK;
    TSR_TRY(tsr_text_puts(out, ": "));
    return value_repr(out, e->value);
}

static TsrStatus exc_str(TsrText *out, Value self) {
    const Exc *e = value_exc(self);
    if (e->args->count == 0) return TSR_OK;
    if (e->args->count == 1) {
        return e->kind == TSR_KEY_ERROR ? value_repr(out, e->args->items[0]) : value_str(out, e->args->items[0]);
    }
    if (tsr_status_is_a(e->kind, TSR_OS_ERROR) && e->args->count == 2) return os_error_str(out, e);
    return value_repr(out, value_lent(e->args));
}

static TsrStatus exc_make(Value *out, Type *type, Tuple *args_move) {
    Exc *e = obj_new(type, sizeof *e);
    if (e == NULL) {
        obj_release(args_move);
        return TSR_MEMORY_ERROR;
    }
    e->kind = (TsrStatus)(type - exc_types);
    e->args = args_move;
    if ((e->kind == TSR_STOP_ITERATION || e->kind == TSR_SYSTEM_EXIT) && e->args->count > 0) {
        e->value = e->args->count == 1 || e->kind == TSR_STOP_ITERATION ? value_retain(e->args->items[0])
                                                                        : value_retain(value_lent(e->args));
    }
    gc_track(e);
    *out = value_obj_move(e);
    return TSR_OK;
}

/* OSError(errno, text[, filename]): the filename is no part of args, and errno chooses the type. */
static TsrStatus os_error_construct(Value *out, Type *type, const CallArgs *args) {
    int64_t number;
    Value tuple;
    if (type == EXC_TYPE(TSR_OS_ERROR) && value_is_int(args->values[0]) && int_fits_int64(args->values[0], &number) &&
        number > 0 && number < 4096) {
        type = EXC_TYPE(tsr_error_errno((int)number, NULL));
        tsr_error_clear();
    }
    TSR_TRY(tuple_new(&tuple, args->values, 2));
    TSR_TRY(exc_make(out, type, value_as_tuple(tuple)));
    if (args->count > 2) value_set_move(&value_exc(*out)->value, value_retain(args->values[2]));
    return TSR_OK;
}

static TsrStatus exc_set_attr(Value self, Str *name, Value v);

/* The keywords that a kind of exception takes, up to the NULL; the first is kept in `value`, others among the
 * attributes. */
static const char *const *keywords_of(const Type *type) {
    static const char *const name_error[] = {"name", NULL}, *const attribute_error[] = {"name", "obj", NULL},
                             *const import_error[] = {"name", "path", NULL};
    if (type_is_subtype(type, EXC_TYPE(TSR_NAME_ERROR))) return name_error;
    if (type_is_subtype(type, EXC_TYPE(TSR_ATTRIBUTE_ERROR))) return attribute_error;
    return type_is_subtype(type, EXC_TYPE(TSR_IMPORT_ERROR)) ? import_error : NULL;
}

/* NameError("text", name="x"): what is named is no part of args. */
static TsrStatus construct_named(Value *out, Type *type, const CallArgs *args) {
    const char *const *known = keywords_of(type);
    if (known == NULL) return tsr_error(TSR_TYPE_ERROR, "%s() takes no keyword arguments", type->name);
    Value tuple;
    TSR_TRY(tuple_new(&tuple, args->values, args->count));
    TSR_TRY(exc_make(out, type, value_as_tuple(tuple)));
    TsrStatus status = TSR_OK;
    for (int i = 0; i < args->keyword_count && status == TSR_OK; i++) {
        Value given = args->values[args->count + i];
        const char *const *k = known;
        while (*k != NULL && !str_equal_c(args->names[i], *k)) k++;
        const char *owner = tsr_status_is_a((TsrStatus)(type - exc_types), TSR_IMPORT_ERROR) ? "ImportError"
                            : type_is_subtype(type, EXC_TYPE(TSR_NAME_ERROR))                ? "NameError"
                                                                                             : "AttributeError";
        if (*k == NULL)
            status =
                tsr_error(TSR_TYPE_ERROR, "'%s' is an invalid keyword argument for %s()", args->names[i]->data, owner);
        else if (k == known) value_set_move(&value_exc(*out)->value, value_retain(given));
        else status = exc_set_attr(*out, args->names[i], given);
    }
    if (status != TSR_OK) value_release(*out);
    return status;
}

static TsrStatus exc_construct(Value *out, Type *type, const CallArgs *args) {
    if (args->keyword_count > 0) return construct_named(out, type, args);
    if ((args->count == 2 || args->count == 3) && type_is_subtype(type, EXC_TYPE(TSR_OS_ERROR)))
        return os_error_construct(out, type, args);
    Value tuple;
    TSR_TRY(tuple_new(&tuple, args->values, args->count));
    return exc_make(out, type, value_as_tuple(tuple));
}

TsrStatus exc_new(Value *out, TsrStatus kind, int count, const Value *args) {
    Value tuple;
    TSR_TRY(tuple_new(&tuple, args, count));
    return exc_make(out, EXC_TYPE(kind), value_as_tuple(tuple));
}

/* --- attributes --- */

static TsrStatus get_args(Value *out, Value self) {
    *out = value_retain(value_lent(value_exc(self)->args));
    return TSR_OK;
}

static TsrStatus set_args(Value self, Value v) {
    Value tuple;
    TSR_TRY(tuple_new_iterable(&tuple, v));
    Tuple *old = value_exc(self)->args;
    value_exc(self)->args = value_as_tuple(tuple);
    obj_release(old);
    return TSR_OK;
}

static TsrStatus give(Value *out, Value v) {
    *out = v.tag == V_UNBOUND ? VALUE_NONE : value_retain(v);
    return TSR_OK;
}

static TsrStatus get_cause(Value *out, Value self) { return give(out, value_exc(self)->cause); }
static TsrStatus get_context(Value *out, Value self) { return give(out, value_exc(self)->context); }
static TsrStatus get_traceback(Value *out, Value self) { return give(out, value_exc(self)->trace); }
static TsrStatus get_suppress(Value *out, Value self) {
    *out = value_bool(value_exc(self)->suppress_context);
    return TSR_OK;
}

static TsrStatus set_link(Value *slot, Value v, const char *what) {
    if (!value_is_none(v) && !value_is_exc(v))
        return tsr_error(TSR_TYPE_ERROR, "exception %s must be None or derive from BaseException", what);
    value_set_move(slot, value_retain(v));
    return TSR_OK;
}

static TsrStatus set_cause(Value self, Value v) {
    TSR_TRY(set_link(&value_exc(self)->cause, v, "cause"));
    value_exc(self)->suppress_context = true;
    return TSR_OK;
}
static TsrStatus set_context(Value self, Value v) { return set_link(&value_exc(self)->context, v, "context"); }
static TsrStatus set_traceback(Value self, Value v) {
    value_set_move(&value_exc(self)->trace, value_retain(v));
    return TSR_OK;
}
static TsrStatus set_suppress(Value self, Value v) { return value_truth(&value_exc(self)->suppress_context, v); }

static TsrStatus with_traceback(Value *out, const CallArgs *args) {
    TSR_TRY(set_traceback(args->values[0], args->values[1]));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus add_note(Value *out, const CallArgs *args) {
    Exc *e = value_exc(args->values[0]);
    if (!value_is_str(args->values[1]))
        return tsr_error(TSR_TYPE_ERROR, "note must be a str, not '%s'", value_type_name(args->values[1]));
    if (e->notes.tag == V_UNBOUND) TSR_TRY(list_new(&e->notes, 1));
    TSR_TRY(list_append(value_as_list(e->notes), args->values[1]));
    *out = VALUE_NONE;
    return TSR_OK;
}

/* msg, lineno, colno and pos of a JSONDecodeError stand in its text: "msg: line 1 column 2 (char 1)". */
static TsrStatus json_attribute(Value *out, const Exc *e, Str *name) {
    if (e->args->count != 1 || !value_is_str(e->args->items[0])) return TSR_OK;
    const Str *text = value_as_str(e->args->items[0]);
    const char *line = strstr(text->data, ": line "), *column = line != NULL ? strstr(line, " column ") : NULL;
    const char *at = column != NULL ? strstr(column, "(char ") : NULL;
    if (at == NULL) return TSR_OK;
    if (str_equal_c(name, "msg")) return str_new(out, text->data, line - text->data);
    if (str_equal_c(name, "lineno")) *out = value_int(atoll(line + 7));
    if (str_equal_c(name, "colno")) *out = value_int(atoll(column + 8));
    if (str_equal_c(name, "pos")) *out = value_int(atoll(at + 6));
    return TSR_OK;
}

/* Attributes that some kinds have: .value, .code, .errno, .strerror, .filename, .name, .__notes__. */
static TsrStatus exc_get_attr(Value *out, Value self, Str *name) {
    const Exc *e = value_exc(self);
    const Value *items = e->args->items;
    int64_t n = e->args->count;
    *out = VALUE_UNBOUND;
    if (e->kind == TSR_STOP_ITERATION && str_equal_c(name, "value")) return give(out, e->value);
    if (e->kind == TSR_SYSTEM_EXIT && str_equal_c(name, "code")) return give(out, e->value);
    if (str_equal_c(name, "__notes__") && e->notes.tag != V_UNBOUND) return give(out, e->notes);
    if (e->attributes != NULL && dict_find_str(e->attributes, name) != NULL)
        return give(out, *dict_find_str(e->attributes, name));
    if (str_equal_c(name, "__dict__"))
        return e->attributes != NULL ? give(out, value_lent(e->attributes)) : dict_new(out);
    if (tsr_status_is_a(e->kind, TSR_OS_ERROR)) {
        if (str_equal_c(name, "errno")) return give(out, n == 2 ? items[0] : VALUE_NONE);
        if (str_equal_c(name, "strerror")) return give(out, n == 2 ? items[1] : VALUE_NONE);
        if (str_equal_c(name, "filename")) return give(out, e->value);
    }
    if (e->kind == TSR_JSON_DECODE_ERROR) return json_attribute(out, e, name);
    bool named = tsr_status_is_a(e->kind, TSR_NAME_ERROR) || e->kind == TSR_ATTRIBUTE_ERROR ||
                 tsr_status_is_a(e->kind, TSR_IMPORT_ERROR);
    if (named && str_equal_c(name, "name")) return give(out, e->value);
    bool unset = (e->kind == TSR_ATTRIBUTE_ERROR && str_equal_c(name, "obj")) ||
                 (tsr_status_is_a(e->kind, TSR_IMPORT_ERROR) && str_equal_c(name, "path"));
    if (unset) return give(out, VALUE_UNBOUND);
    if (tsr_status_is_a(e->kind, TSR_SYNTAX_ERROR) && str_equal_c(name, "msg"))
        return give(out, n > 0 ? items[0] : VALUE_NONE);
    return TSR_OK;
}

static TsrStatus exc_set_attr(Value self, Str *name, Value v) {
    Value found;
    TSR_TRY(type_lookup(&found, value_type(self), name));
    Exc *e = value_exc(self);
    if (value_is_obj(found, &getset_type) && v.tag != V_UNBOUND) return ((GetSet *)found.o)->def->set(self, v);
    if (v.tag == V_UNBOUND) {
        if (e->attributes != NULL && dict_remove_str(e->attributes, name)) return TSR_OK;
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", value_type_name(self), name->data);
    }
    if (e->attributes == NULL && (e->attributes = dict_new_raw()) == NULL) return TSR_MEMORY_ERROR;
    return dict_set_str(e->attributes, name, v);
}

static const Getter exc_getters[] = {
    {"args", get_args, set_args, "What it was made with."},
    {"__cause__", get_cause, set_cause, "The exception of `raise ... from`."},
    {"__context__", get_context, set_context, "The exception that was being handled."},
    {"__suppress_context__", get_suppress, set_suppress, NULL},
    {"__traceback__", get_traceback, set_traceback, NULL},
    {0},
};

static const Method exc_methods[] = {
    {"with_traceback", with_traceback, ARGS_ONE, 1, 1, "(tb, /)", "Sets __traceback__ and gives the exception."},
    {"add_note", add_note, ARGS_ONE, 1, 1, "(note, /)", "Adds a line that a report prints after the message."},
    {0},
};

Type exc_types[TSR_STATUS_COUNT] = {
#define ERROR(suffix, name_, base_) \
    [TSR_##suffix] = {.obj = TYPE_HEADER, \
                      .name = name_, \
                      .base = &exc_types[TSR_##base_], \
                      .flags = TYPE_GC | TYPE_EXCEPTION, \
                      .construct = exc_construct, \
                      .destroy = exc_destroy, \
                      .traverse = exc_traverse, \
                      .clear = exc_clear, \
                      .repr = exc_repr, \
                      .str = exc_str, \
                      .get_attr = exc_get_attr, \
                      .set_attr = exc_set_attr},
#include "core/error.def"
#undef ERROR
};

/* "torch.OutOfMemoryError" is the name OutOfMemoryError in the module torch. */
TsrStatus exc_startup(void) {
    static char modules[256];
    size_t used = 0;
    for (int i = TSR_OK + 1; i < TSR_STATUS_COUNT; i++) {
        const char *dot = strrchr(exc_types[i].name, '.');
        if (dot == NULL) continue;
        size_t length = (size_t)(dot - exc_types[i].name);
        if (used + length + 1 > sizeof modules) return mem_error();
        memcpy(modules + used, exc_types[i].name, length);
        exc_types[i].module = modules + used;
        exc_types[i].name = dot + 1;
        used += length + 1;
    }
    exc_types[TSR_BASE_EXCEPTION].base = &object_type;
    exc_types[TSR_BASE_EXCEPTION].methods = exc_methods;
    exc_types[TSR_BASE_EXCEPTION].getters = exc_getters;
    pending = VALUE_UNBOUND;
    return exc_new(&no_memory, TSR_MEMORY_ERROR, 0, NULL);
}

void exc_shutdown(void) {
    value_clear(&pending);
    value_clear(&no_memory);
}

bool type_is_exception(const Type *type) { return (type->flags & TYPE_EXCEPTION) != 0; }

/* --- raising and catching --- */

Value exc_pending(void) { return pending; }

TsrStatus exc_status(void) { return pending.tag != V_UNBOUND ? TSR_RAISED : tsr_error_kind(); }

TsrStatus exc_raise_move(Value exception) {
    tsr_error_clear();
    value_set_move(&pending, exception);
    return TSR_RAISED;
}

TsrStatus exc_raise_value(TsrStatus kind, Value arg) {
    Value e;
    TSR_TRY(exc_new(&e, kind, 1, &arg));
    return exc_raise_move(e);
}

/* Makes an exception object from the operand of `raise`: an object, or a class that is called. */
static TsrStatus operand_exception(Value *out, Value operand, const char *complaint) {
    if (value_is_exc(operand)) {
        *out = value_retain(operand);
        return TSR_OK;
    }
    if (value_is_obj(operand, &type_type) && type_is_exception((Type *)operand.o))
        return value_call_n(out, operand, 0, NULL);
    return tsr_error(TSR_TYPE_ERROR, "%s", complaint);
}

TsrStatus exc_raise_operand(Value operand, Value cause) {
    Value e, c = VALUE_UNBOUND;
    TSR_TRY(operand_exception(&e, operand, "exceptions must derive from BaseException"));
    if (cause.tag != V_UNBOUND) {
        TsrStatus status = value_is_none(cause)
                               ? TSR_OK
                               : operand_exception(&c, cause, "exception causes must derive from BaseException");
        if (status != TSR_OK) {
            value_release(e);
            return status;
        }
        value_set_move(&value_exc(e)->cause, value_is_none(cause) ? VALUE_NONE : c);
        value_exc(e)->suppress_context = true;
    }
    return exc_raise_move(e);
}

/* "[Errno 2] No such file or directory: 'x'" taken apart, as OSError's arguments. */
static TsrStatus os_error_parts(Value *out, TsrStatus status, const char *text) {
    char *end;
    long number = strtol(text + 7, &end, 10);
    if (strncmp(end, "] ", 2) != 0) return TSR_OK;
    const char *message = end + 2, *path = strstr(message, ": '");
    size_t size = strlen(text);
    bool named = path != NULL && text[size - 1] == '\'';
    Value parts[3] = {value_int(number), VALUE_UNBOUND, VALUE_UNBOUND};
    TsrStatus failed = str_new(&parts[1], message, named ? path - message : (int64_t)strlen(message));
    if (failed == TSR_OK && named) failed = str_new(&parts[2], path + 3, text + size - 1 - (path + 3));
    if (failed == TSR_OK) failed = exc_new(out, status, 2, parts);
    if (failed == TSR_OK) value_set_move(&value_exc(*out)->value, value_retain(parts[2]));
    values_release(parts, 3);
    return failed;
}

/* The name that an error of ours is about, which its message quotes last: name 'x' is not defined. When memory is short
 * there is none. */
static void set_name(Exc *e, const char *message) {
    bool named =
        e->kind == TSR_NAME_ERROR || e->kind == TSR_ATTRIBUTE_ERROR || tsr_status_is_a(e->kind, TSR_IMPORT_ERROR);
    const char *end = named ? strrchr(message, '\'') : NULL;
    if (end == NULL) return;
    const char *begin = end;
    while (begin > message && begin[-1] != '\'') begin--;
    Value name;
    if (str_new(&name, begin, end - begin) == TSR_OK) e->value = name;
}

/* Appends a message; bytes in it that are no UTF-8, as a file's name may have them, are surrogates (PEP 383). */
static TsrStatus put_message(TsrText *out, const char *text) {
    for (int64_t bad; (bad = tsr_utf8_invalid(text, (int64_t)strlen(text))) >= 0; text += bad + 1) {
        TSR_TRY(tsr_text_append(out, text, (size_t)bad));
        char surrogate[4];
        TSR_TRY(tsr_text_append(out, surrogate, (size_t)utf8_encode(surrogate, 0xdc00u + (unsigned char)text[bad])));
    }
    return tsr_text_puts(out, text);
}

/* The last error as an object. The hint goes along. */
static TsrStatus materialise(Value *out, TsrStatus status) {
    TsrText hint = {0}, message = {0};
    TsrStatus failed = put_message(&message, tsr_error_message());
    if (failed == TSR_OK && tsr_error_hint_text() != NULL) failed = tsr_text_puts(&hint, tsr_error_hint_text());
    Value s = VALUE_UNBOUND;
    int count = message.length > 0;
    *out = VALUE_UNBOUND;
    bool numbered = count && tsr_status_is_a(status, TSR_OS_ERROR) && strncmp(message.data, "[Errno ", 7) == 0;
    if (failed == TSR_OK && numbered) failed = os_error_parts(out, status, message.data);
    if (failed == TSR_OK && count) failed = str_new(&s, message.data, (int64_t)message.length);
    if (failed == TSR_OK && out->tag == V_UNBOUND) failed = exc_new(out, status, count, &s);
    if (failed == TSR_OK) value_exc(*out)->hint = tsr_text_move(&hint);
    if (failed == TSR_OK && count) set_name(value_exc(*out), message.data);
    value_release(s);
    tsr_text_free(&hint);
    tsr_text_free(&message);
    return failed;
}

void exc_fetch(Value *out, TsrStatus status, Value context) {
    if (status == TSR_RAISED) {
        *out = pending;
        pending = VALUE_UNBOUND;
    } else if (status <= TSR_OK || status >= TSR_STATUS_COUNT || materialise(out, status) != TSR_OK) {
        *out = value_retain(no_memory);
    }
    tsr_error_clear();
    if (out->tag == V_UNBOUND) *out = value_retain(no_memory);
    if (out->o == no_memory.o) { /* the one object for every such error: what the last one left does not stay */
        value_clear(&value_exc(no_memory)->trace);
        value_clear(&value_exc(no_memory)->context);
    }
    Exc *e = value_exc(*out);
    if (value_is_exc(context) && context.o != out->o && e->context.tag == V_UNBOUND && out->o != no_memory.o)
        e->context = value_retain(context);
}

void exc_discard(TsrStatus status) {
    if (status == TSR_RAISED) value_clear(&pending);
    tsr_error_clear();
}

bool exc_matches(TsrStatus status, TsrStatus kind) {
    if (status == TSR_RAISED) return value_is_exc(pending) && tsr_status_is_a(value_exc(pending)->kind, kind);
    return status != TSR_OK && tsr_status_is_a(status, kind);
}

static TsrStatus match_one(bool *out, Value exception, Value type) {
    if (!value_is_obj(type, &type_type) || !type_is_exception((Type *)type.o)) {
        return tsr_error(TSR_TYPE_ERROR, "catching classes that do not inherit from BaseException is not allowed");
    }
    *out = type_is_subtype(value_type(exception), (Type *)type.o);
    return TSR_OK;
}

TsrStatus exc_match_operand(bool *out, Value exception, Value type) {
    if (!value_is_tuple(type)) return match_one(out, exception, type);
    bool any = false;
    for (int64_t i = 0; i < value_as_tuple(type)->count; i++) {
        bool one;
        TSR_TRY(match_one(&one, exception, value_as_tuple(type)->items[i]));
        any = any || one;
    }
    *out = any;
    return TSR_OK;
}

/* --- reports --- */

TsrStatus exc_message(TsrText *out, Value exception) { return exc_str(out, exception); }

TsrStatus exc_write_line(TsrText *out, Value exception) {
    const Type *type = value_type(exception);
    if (type->module != NULL) {
        TSR_TRY(tsr_text_puts(out, type->module));
        TSR_TRY(tsr_text_putc(out, '.'));
    }
    TSR_TRY(tsr_text_puts(out, type->name));
    size_t before = out->length;
    TSR_TRY(tsr_text_puts(out, ": "));
    TSR_TRY(exc_message(out, exception));
    if (out->length == before + 2) {
        out->length = before;
        out->data[before] = '\0';
    }
    while (out->length > before && out->data[out->length - 1] == '\n')
        out->data[--out->length] = '\0'; /* lists of overloads end so */
    const Exc *e = value_exc(exception);
    for (int64_t i = 0; e->notes.tag == V_OBJ && i < value_as_list(e->notes)->count; i++) {
        TSR_TRY(tsr_text_putc(out, '\n'));
        TSR_TRY(value_str(out, value_as_list(e->notes)->items[i]));
    }
    return TSR_OK;
}

int exc_exit_status(Value exception, Value *message) {
    Value code = value_exc(exception)->value;
    *message = VALUE_UNBOUND;
    if (code.tag == V_UNBOUND || code.tag == V_NONE) return 0;
    if (code.tag == V_INT || code.tag == V_BOOL) return (int)(code.i & 0xff);
    *message = code;
    return 1;
}
