/* ops_call.c: the instructions of calls that are not quick: keywords, *args and **kwargs, arguments that may wait; and
 * the making of functions. */
#include "lazy.h"
#include "frame.h"

#include <stdarg.h>
#include <string.h>

/* A callable as messages about its arguments name it: "__main__.f()", "print()". Appended. */
static TsrStatus callee_text(TsrText *out, Value callee) {
    if (value_is_function(callee))
        return tsr_text_printf(out, "__main__.%s()", value_as_function(callee)->code->qualname);
    const Native *native = (Native *)callee.o;
    if (value_is_obj(callee, &native_type))
        return tsr_text_printf(out, "%s%s%s()", native->module ? native->module : "", native->module ? "." : "",
                               native->def->name);
    if (value_is_obj(callee, &bound_native_type)) {
        bool of_type = value_is_obj(native->self, &type_type); /* dict.fromkeys */
        return tsr_text_printf(out, "%s.%s()",
                               type_short_name(of_type ? (Type *)native->self.o : value_type(native->self)),
                               native->def->name);
    }
    if (value_is_obj(callee, &method_descriptor_type))
        return tsr_text_printf(out, "%s.%s()", type_short_name(native->owner), native->def->name);
    if (value_is_obj(callee, &type_type)) return tsr_text_printf(out, "%s()", type_full_name((Type *)callee.o));
    return value_str(out, callee);
}

/* "f() got ...": what is wrong with the arguments of a callable. Always fails. */
static TsrStatus TSR_PRINTF(2, 3) call_error(Value callee, const char *format, ...) {
    TsrText text = {0};
    TsrStatus status = callee_text(&text, callee);
    if (status == TSR_OK) {
        char rest[256];
        va_list args;
        va_start(args, format);
        vsnprintf(rest, sizeof rest, format, args);
        va_end(args);
        status = tsr_error(TSR_TYPE_ERROR, "%s %s", text.data, rest);
    }
    tsr_text_free(&text);
    return status;
}

static TsrStatus twice(Value callee, Value name) {
    TsrText text = {0};
    TsrStatus status = value_str(&text, name);
    if (status == TSR_OK)
        status =
            call_error(callee, "got multiple values for keyword argument '%.200s'", text.length > 0 ? text.data : "");
    tsr_text_free(&text);
    return status;
}

static TsrStatus names_must_be_strings(void) { return tsr_error(TSR_TYPE_ERROR, "keywords must be strings"); }

TsrStatus ins_keyword_add(Frame *f, const Ins *i) {
    Dict *into = value_as_dict(f->base[i->a]);
    Value *pair = &f->base[i->b];
    if (dict_find_str(into, value_as_str(pair[0])) != NULL) return twice(f->base[i->c], pair[0]);
    TSR_TRY(dict_set(into, pair[0], pair[1]));
    slots_clear(pair, 2);
    return TSR_OK;
}

/* Whether the keys are strings is asked by the call, after all of its arguments. */
TsrStatus ins_keyword_merge(Frame *f, const Ins *i) {
    Dict *into = value_as_dict(f->base[i->a]);
    Value v = f->base[i->b], callee = f->base[i->c];
    if (!value_is_dict(v)) return call_error(callee, "argument after ** must be a mapping, not %s", value_type_name(v));
    const DictEntry *entry;
    for (int64_t position = 0; (entry = dict_next(value_as_dict(v), &position)) != NULL;) {
        Value *there = NULL;
        TSR_TRY(dict_find(&there, into, entry->key));
        if (there != NULL) return twice(callee, entry->key);
        TSR_TRY(dict_set(into, entry->key, entry->value));
    }
    slot_used(f, i->b);
    return TSR_OK;
}

TsrStatus ins_argument_extend(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->b));
    TsrStatus status;
    const Type *t = value_type(v);
    if (t->iter == NULL && t->iter_next == NULL && (t->get_item == NULL || t == &type_type)) {
        const char *type = t->name;
        status = i->x ? call_error(f->base[i->c], "argument after * must be an iterable, not %s", type)
                      : tsr_error(TSR_TYPE_ERROR, "Value after * must be an iterable, not %s", type);
    } else {
        status = list_extend(value_as_list(f->base[i->a]), v);
    }
    value_release(v);
    return status;
}

/* Calls, or makes the frame that the evaluator goes on in. */
static TsrStatus start_call(Value *out, Frame **inner, Value callee, const CallArgs *args) {
    *inner = NULL;
    if (!value_is_function(callee) || (value_as_function(callee)->code->flags & CODE_GENERATOR))
        return value_call(out, callee, args);
    *inner = call_frame(value_as_function(callee), args);
    return *inner != NULL ? TSR_OK : exc_status();
}

enum { NAMES_ON_STACK = 12 };

TsrStatus ins_call_keywords(Value *out, Frame **inner, Frame *f, const Ins *i) {
    Value *w = &f->base[i->a];
    bool self = i->x && w[1].tag != V_UNBOUND;
    const Tuple *keywords = value_as_tuple(f->code->consts[i->c]);
    int count = (int)keywords->count;
    Str *few[NAMES_ON_STACK], **names = count <= NAMES_ON_STACK ? few : tsr_malloc((size_t)count * sizeof *names);
    if (names == NULL) return mem_error();
    for (int k = 0; k < count; k++) names[k] = value_as_str(keywords->items[k]);
    CallArgs args = {w + 1 + (i->x && !self), i->b - count + self, count, names, value_is_operator(*w)};
    TsrStatus status = start_call(out, inner, *w, &args);
    if (names != few) tsr_free(names);
    TSR_TRY(status);
    slots_clear(w, i->b + 1 + i->x);
    return TSR_OK;
}

static TsrStatus spread_keywords(Value *values, Str **names, const Dict *dict) {
    const DictEntry *entry;
    int k = 0;
    for (int64_t position = 0; (entry = dict_next(dict, &position)) != NULL; k++) {
        if (!value_is_str(entry->key)) return names_must_be_strings();
        names[k] = str_interned(value_as_str(entry->key));
        if (names[k] == NULL) return TSR_MEMORY_ERROR;
        values[k] = entry->value;
    }
    return TSR_OK;
}

TsrStatus ins_call_spread(Value *out, Frame **inner, Frame *f, const Ins *i) {
    Value *w = &f->base[i->a];
    const List *list = value_as_list(w[1]);
    const Dict *dict = w[2].tag == V_UNBOUND ? NULL : value_as_dict(w[2]);
    int64_t count = list->count, named = dict != NULL ? dict->count : 0;
    Value *values = tsr_malloc((size_t)(count + named + 1) * sizeof *values);
    Str **names = tsr_malloc((size_t)(named + 1) * sizeof *names);
    TsrStatus status = values == NULL || names == NULL ? mem_error() : TSR_OK;
    if (status == TSR_OK && count > 0) memcpy(values, list->items, (size_t)count * sizeof *values);
    if (status == TSR_OK && named > 0) status = spread_keywords(values + count, names, dict);
    if (status == TSR_OK) {
        CallArgs args = {values, (int)count, (int)named, names, false};
        status = start_call(out, inner, *w, &args);
    }
    tsr_free(values);
    tsr_free(names);
    TSR_TRY(status);
    slots_clear(w, 3);
    return TSR_OK;
}

TsrStatus ins_call_wait(bool *done, Frame *f, const Ins *i) {
    Value *w = &f->base[i->a], r = VALUE_UNBOUND;
    const char *name = lazy_name_of(*w); /* NULL: no operator's function */
    bool last = !(i->x & MAY_WAIT);
    if (name != NULL && i->b == 1) TSR_TRY(lazy_call(&r, name, w[1], last));
    if (name != NULL && i->b == 3 && strcmp(name, "where") == 0) TSR_TRY(lazy_where(&r, w[1], w[2], w[3], last));
    *done = r.tag != V_UNBOUND;
    if (*done) {
        slots_clear(w, 1 + i->b);
        slot_set_move(&f->base[i->c], r);
        return TSR_OK;
    }
    for (int k = 1; k <= i->b; k++) TSR_TRY(lazy_force(&w[k]));
    if (name != NULL) return TSR_OK;
    for (int k = f->code->first_temp; k < i->a; k++)
        TSR_TRY(lazy_force(&f->base[k])); /* a function of the user's may change anything */
    return TSR_OK;
}

TsrStatus ins_function(Frame *f, const Ins *i) {
    Value *w = &f->base[i->a], r;
    Tuple *defaults = NULL;
    Dict *kwdefaults = NULL, *annotations = NULL;
    if (i->x & 1) {
        defaults = value_as_tuple(w[0]);
        w[0].tag = V_UNBOUND;
    }
    if (i->x & 2) {
        kwdefaults = value_as_dict(w[1]);
        w[1].tag = V_UNBOUND;
    }
    if (i->x & 4) {
        annotations = value_as_dict(w[2]);
        w[2].tag = V_UNBOUND;
    }
    TSR_TRY(function_new(&r, f->code->children[i->k], defaults, kwdefaults, annotations, f));
    slot_set_move(w, r);
    return TSR_OK;
}
