/* protocol.c: the operations of the language over any value: text, comparison, operators, items, attributes, calls.
 *
 * Each looks at the tag, then at a slot of the value's type, and has CPython's words for a slot that is missing.
 * Operators ask both sides: the left operand's slot first, unless the right one's type is a kind of the left's; a slot
 * that answers V_UNBOUND passes. Comparison falls back on identity for == and !=, containment and iteration on
 * get_item. The evaluator's quick paths stand before these and give the same. */
#include "args.h"
#include "lang/types/dict.h"
#include "exc.h"
#include "native.h"
#include "hint.h"
#include "lang/types/numbers.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "value_impl.h"

#include <string.h>

/* --- text --- */

TsrStatus value_repr(TsrText *out, Value v) {
    const Type *type = value_type(v);
    for (const Type *t = type; t != NULL; t = type_base(t)) {
        if (t->repr != NULL) return t->repr(out, v);
    }
    return tsr_text_printf(out, "<%s object>", type_full_name(type));
}

TsrStatus value_str(TsrText *out, Value v) {
    if (value_is_str(v)) return tsr_text_append(out, value_as_str(v)->data, (size_t)value_as_str(v)->size);
    const Type *type = value_type(v);
    if (type->str != NULL) return type->str(out, v);
    return value_repr(out, v);
}

TsrStatus value_ascii(TsrText *out, Value v) {
    TsrText text = {0};
    TsrStatus status = value_repr(&text, v);
    for (size_t i = 0; status == TSR_OK && i < text.length;) {
        int size;
        uint32_t c = utf8_decode(text.data + i, &size);
        i += (size_t)size;
        if (c < 0x80) status = tsr_text_putc(out, (char)c);
        else status = tsr_text_printf(out, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    }
    tsr_text_free(&text);
    return status;
}

static TsrStatus to_str(Value *out, Value v, TsrStatus (*write)(TsrText *, Value)) {
    TsrText text = {0};
    TsrStatus status = write(&text, v);
    return str_end_text_move(out, status, &text);
}

TsrStatus value_new_repr(Value *out, Value v) { return to_str(out, v, value_repr); }

TsrStatus value_new_str(Value *out, Value v) {
    if (value_is_obj(v, &str_type)) { /* of a note or a picture its plain text */
        *out = value_retain(v);
        return TSR_OK;
    }
    if (v.tag == V_INT) {
        char digits[24], *p = digits + sizeof digits;
        uint64_t u = v.i < 0 ? -(uint64_t)v.i : (uint64_t)v.i;
        do *--p = (char)('0' + u % 10);
        while ((u /= 10) != 0);
        if (v.i < 0) *--p = '-';
        return str_new(out, p, digits + sizeof digits - p);
    }
    return to_str(out, v, value_str);
}

TsrStatus value_format(TsrText *out, Value v, const char *spec, size_t size) {
    if (size == 0 && v.tag <= V_FLOAT) return value_str(out, v);
    const Type *type = value_type(v);
    for (const Type *t = type; t != NULL; t = type_base(t)) {
        if (t->format != NULL) return t->format(out, v, spec, size);
    }
    if (size == 0) return value_str(out, v);
    return tsr_error(TSR_TYPE_ERROR, "unsupported format string passed to %s.__format__", type->name);
}

TsrStatus value_format_field(TsrText *out, Value v, int conversion, const char *spec, size_t size) {
    if (conversion == 0) return value_format(out, v, spec, size);
    if (size == 0)
        return conversion == 'r' ? value_repr(out, v) : conversion == 's' ? value_str(out, v) : value_ascii(out, v);
    Value s;
    TSR_TRY(to_str(&s, v, conversion == 'r' ? value_repr : conversion == 's' ? value_str : value_ascii));
    TsrStatus status = value_format(out, s, spec, size);
    value_release(s);
    return status;
}

/* --- hash, truth, comparison --- */

TsrStatus hash_refused(int64_t *out, Value self) {
    (void)out;
    return tsr_error(TSR_TYPE_ERROR, "unhashable type: '%s'", value_type_name(self));
}

TsrStatus value_hash(int64_t *out, Value v) {
    if (value_is_str(v)) {
        *out = str_hash(value_as_str(v));
        return TSR_OK;
    }
    for (const Type *t = value_type(v); t != NULL; t = type_base(t)) {
        if (t->hash == NULL) continue;
        TSR_TRY(recursion_enter(""));
        TsrStatus status = t->hash(out, v);
        recursion_leave();
        return status;
    }
    uint64_t p = value_bits(v);
    *out = (int64_t)((p >> 4) | (p << 60));
    if (*out == -1) *out = -2;
    return TSR_OK;
}

TsrStatus value_truth(bool *out, Value v) {
    switch (v.tag) {
    case V_UNBOUND:
    case V_NONE: *out = false; return TSR_OK;
    case V_BOOL: *out = v.b; return TSR_OK;
    case V_INT: *out = v.i != 0; return TSR_OK;
    case V_FLOAT: *out = v.f != 0; return TSR_OK;
    default: break;
    }
    int64_t n;
    for (const Type *t = value_type(v); t != NULL; t = type_base(t)) {
        if (t->truth != NULL) return t->truth(out, v);
        if (t->length == NULL) continue;
        TSR_TRY(t->length(&n, v));
        *out = n != 0;
        return TSR_OK;
    }
    *out = true;
    return TSR_OK;
}

TsrStatus value_equal(bool *out, Value a, Value b) {
    if (value_is_same(a, b)) {
        *out = true;
        return TSR_OK;
    }
    if (value_is_str(a) && value_is_str(b)) {
        *out = str_equal(value_as_str(a), value_as_str(b));
        return TSR_OK;
    }
    return value_compare_bool(out, CMP_EQ, a, b);
}

#define SIGN_OF(op, name, sign) sign,
static const char *const compare_names[] = {COMPARE_OPERATORS(SIGN_OF) "is", "is not", "in", "not in"};
#undef SIGN_OF
static const CompareOp swapped[] = {CMP_EQ, CMP_NE, CMP_GT, CMP_GE, CMP_LT, CMP_LE};

static TsrStatus compare_slot(Value *out, const Type *type, CompareOp op, Value a, Value b) {
    *out = VALUE_UNBOUND;
    for (const Type *t = type; t != NULL; t = type_base(t)) {
        if (t->compare == NULL) continue;
        TSR_TRY(recursion_enter(" in comparison"));
        TsrStatus status = t->compare(out, op, a, b);
        recursion_leave();
        return status;
    }
    return TSR_OK;
}

static TsrStatus rich_compare(Value *out, CompareOp op, Value a, Value b) {
    if (a.tag <= V_INT && a.tag >= V_BOOL && b.tag <= V_INT && b.tag >= V_BOOL) {
        *out = value_bool(compare_order(op, (a.i > b.i) - (a.i < b.i)));
        return TSR_OK;
    }
    const Type *ta = value_type(a), *tb = value_type(b);
    bool right_first = ta != tb && type_is_subtype(tb, ta) && tb->compare != NULL;
    if (right_first) {
        TSR_TRY(compare_slot(out, tb, swapped[op], b, a));
        if (out->tag != V_UNBOUND) return TSR_OK;
    }
    TSR_TRY(compare_slot(out, ta, op, a, b));
    if (out->tag != V_UNBOUND) return TSR_OK;
    if (!right_first) {
        TSR_TRY(compare_slot(out, tb, swapped[op], b, a));
        if (out->tag != V_UNBOUND) return TSR_OK;
    }
    if (op == CMP_EQ || op == CMP_NE) {
        *out = value_bool(value_is_same(a, b) == (op == CMP_EQ));
        return TSR_OK;
    }
    return tsr_error(TSR_TYPE_ERROR, "'%s' not supported between instances of '%s' and '%s'", compare_names[op],
                     ta->name, tb->name);
}

TsrStatus value_compare(Value *out, CompareOp op, Value a, Value b) {
    bool truth;
    switch (op) {
    case CMP_IS:
    case CMP_IS_NOT: truth = value_is_same(a, b) == (op == CMP_IS); break;
    case CMP_IN:
    case CMP_NOT_IN:
        TSR_TRY(value_contains(&truth, b, a));
        truth = truth == (op == CMP_IN);
        break;
    default: return rich_compare(out, op, a, b);
    }
    *out = value_bool(truth);
    return TSR_OK;
}

TsrStatus value_compare_by(Value *out, CompareOp op, TsrStatus (*key)(Value *out, Value v), Value a, Value b) {
    Value x, y;
    TSR_TRY(key(&x, a));
    TsrStatus status = key(&y, b);
    if (status == TSR_OK) {
        status = value_compare(out, op, x, y);
        value_release(y);
    }
    value_release(x);
    return status;
}

TsrStatus value_compare_bool(bool *out, CompareOp op, Value a, Value b) {
    Value v;
    TSR_TRY(value_compare(&v, op, a, b));
    TsrStatus status = value_truth(out, v);
    value_release(v);
    return status;
}

/* --- operators --- */

#define SIGN_OF(op, method, function, sign) sign,
static const char *const signs[] = {BINARY_OPERATORS(SIGN_OF)};
#undef SIGN_OF

static TsrStatus binary_slots(Value *out, BinaryOp op, Value a, Value b) {
    const Type *ta = value_type(a), *tb = value_type(b);
    while (ta != NULL && ta->binary == NULL) ta = type_base(ta);
    while (tb != NULL && tb->binary == NULL) tb = type_base(tb);
    *out = VALUE_UNBOUND;
    if (ta != NULL && tb != NULL && ta != tb && type_is_subtype(tb, ta)) {
        TSR_TRY(tb->binary(out, op, a, b));
        if (out->tag != V_UNBOUND) return TSR_OK;
        tb = NULL;
    }
    if (ta != NULL) {
        TSR_TRY(ta->binary(out, op, a, b));
        if (out->tag != V_UNBOUND) return TSR_OK;
    }
    if (tb != NULL && (ta == NULL || tb->binary != ta->binary)) TSR_TRY(tb->binary(out, op, a, b));
    return TSR_OK;
}

static bool is_sequence(Value v) {
    for (const Type *t = value_type(v); t != NULL; t = type_base(t)) {
        if (t->flags & TYPE_SEQUENCE) return true;
    }
    return false;
}

static const char *sequence_name(Value v) { return value_type_name(v); }

static TsrStatus unsupported(BinaryOp op, Value a, Value b, bool inplace) {
    const char *more = inplace ? "=" : op == OP_POW ? " or pow()" : "";
    return tsr_error(TSR_TYPE_ERROR, "unsupported operand type(s) for %s%s: '%s' and '%s'", signs[op], more,
                     value_type_name(a), value_type_name(b));
}

static TsrStatus binary_refused(BinaryOp op, Value a, Value b, bool inplace) {
    if (op == OP_ADD && is_sequence(a)) {
        const char *name = sequence_name(a);
        if (strncmp(name, "byte", 4) == 0)
            return tsr_error(TSR_TYPE_ERROR, "can't concat %s to %s", value_type_name(b), name);
        const char *base = value_is_tuple(a) ? "tuple" : name;
        return tsr_error(TSR_TYPE_ERROR, "can only concatenate %s (not \"%s\") to %s", base, value_type_name(b), base);
    }
    if (op == OP_MUL && (is_sequence(a) || is_sequence(b))) {
        Value count = is_sequence(a) ? b : a;
        if (count.tag == V_TENSOR)
            return tsr_error(TSR_TYPE_ERROR, "only integer tensors of a single element can be converted to an index");
        return tsr_error(TSR_TYPE_ERROR, "can't multiply sequence by non-int of type '%s'", value_type_name(count));
    }
    return unsupported(op, a, b, inplace);
}

TsrStatus value_binary(Value *out, BinaryOp op, Value a, Value b) {
    Value result;
    TSR_TRY(binary_slots(&result, op, a, b));
    if (TSR_UNLIKELY(result.tag == V_UNBOUND)) return binary_refused(op, a, b, false);
    *out = result;
    return TSR_OK;
}

TsrStatus value_inplace(Value *out, BinaryOp op, Value a, Value b) {
    Value result = VALUE_UNBOUND;
    for (const Type *t = value_type(a); t != NULL; t = type_base(t)) {
        if (t->inplace == NULL) continue;
        TSR_TRY(t->inplace(&result, op, a, b));
        break;
    }
    /* `container *= sequence` does not repeat the sequence, as `container * sequence` would try to. */
    const Type *left = value_type(a);
    bool container = left->length != NULL || left->contains != NULL || left->get_item != NULL;
    if (op == OP_MUL && result.tag == V_UNBOUND && container && !is_sequence(a) && is_sequence(b))
        return unsupported(op, a, b, true);
    if (result.tag == V_UNBOUND) TSR_TRY(binary_slots(&result, op, a, b));
    if (result.tag == V_UNBOUND) return binary_refused(op, a, b, true);
    *out = result;
    return TSR_OK;
}

TsrStatus value_unary(Value *out, UnaryOp op, Value v) {
    static const char *const names[] = {"not", "unary -", "unary +", "unary ~"};
    if (op == OP_NOT) {
        bool truth;
        TSR_TRY(value_truth(&truth, v));
        *out = value_bool(!truth);
        return TSR_OK;
    }
    Value result = VALUE_UNBOUND;
    for (const Type *t = value_type(v); t != NULL; t = type_base(t)) {
        if (t->unary == NULL) continue;
        TSR_TRY(t->unary(&result, op, v));
        break;
    }
    if (result.tag == V_UNBOUND)
        return tsr_error(TSR_TYPE_ERROR, "bad operand type for %s: '%s'", names[op], value_type_name(v));
    *out = result;
    return TSR_OK;
}

/* --- containers --- */

#define FIND_SLOT(type_, value_, slot_) \
    const Type *type_ = value_type(value_); \
    while (type_ != NULL && type_->slot_ == NULL) type_ = type_base(type_)

TsrStatus value_length(int64_t *out, Value v) {
    FIND_SLOT(t, v, length);
    if (t != NULL) return t->length(out, v);
    return tsr_error(TSR_TYPE_ERROR, "object of type '%s' has no len()", value_type_name(v));
}

int64_t value_length_hint(Value v, int64_t fallback) {
    if (v.tag == V_TENSOR) return fallback;
    FIND_SLOT(t, v, length);
    int64_t n;
    if (t == NULL) return fallback;
    TsrStatus status = t->length(&n, v);
    if (status == TSR_OK) return n;
    exc_discard(status);
    return fallback;
}

TsrStatus value_getitem(Value *out, Value v, Value index) {
    FIND_SLOT(t, v, get_item);
    if (t != NULL) return t->get_item(out, v, index);
    return tsr_error(TSR_TYPE_ERROR, "'%s' object is not subscriptable", value_type_name(v));
}

TsrStatus value_setitem(Value v, Value index, Value value) {
    FIND_SLOT(t, v, set_item);
    if (t != NULL) return t->set_item(v, index, value);
    return tsr_error(TSR_TYPE_ERROR, "'%s' object does not support item assignment", value_type_name(v));
}

TsrStatus value_delitem(Value v, Value index) {
    FIND_SLOT(t, v, del_item);
    if (t != NULL) return t->del_item(v, index);
    bool counted = value_type(v)->contains != NULL && value_is_int(index); /* CPython asks a sequence in other words */
    return tsr_error(TSR_TYPE_ERROR,
                     counted ? "'%s' object doesn't support item deletion"
                             : "'%s' object does not support item deletion",
                     value_type_name(v));
}

static TsrStatus contains_by_iteration(bool *out, Value container, Value item) {
    Value iterator, element;
    TSR_TRY(value_iter(&iterator, container));
    TsrStatus status;
    bool found = false;
    while (!found && (status = value_next(&element, iterator)) == TSR_OK && element.tag != V_UNBOUND) {
        status = value_equal(&found, element, item);
        value_release(element);
        if (status == TSR_OK && !found) status = tsr_interrupt_check();
        if (status != TSR_OK) break;
    }
    value_release(iterator);
    *out = found;
    return found ? TSR_OK : status;
}

TsrStatus value_contains(bool *out, Value container, Value item) {
    FIND_SLOT(t, container, contains);
    if (t != NULL) return t->contains(out, container, item);
    const Type *type = value_type(container);
    if ((type->iter == NULL && type->iter_next == NULL && type->get_item == NULL) || type == &type_type) {
        return tsr_error(TSR_TYPE_ERROR, "argument of type '%s' is not iterable", type->name);
    }
    return contains_by_iteration(out, container, item);
}

TsrStatus value_iter(Value *out, Value v) {
    FIND_SLOT(t, v, iter);
    if (t != NULL) return t->iter(out, v);
    if (value_type(v)->iter_next != NULL) {
        *out = value_retain(v);
        return TSR_OK;
    }
    return tsr_error(TSR_TYPE_ERROR, "'%s' object is not iterable", value_type_name(v));
}

TsrStatus value_next(Value *out, Value iterator) {
    const Type *t = value_type(iterator);
    if (TSR_LIKELY(t->iter_next != NULL)) {
        *out = VALUE_UNBOUND;
        if ((t->flags & TYPE_GC) == 0) return t->iter_next(out, iterator);
        TSR_TRY(recursion_enter("")); /* it may hold another iterator, and that one another */
        TsrStatus status = t->iter_next(out, iterator);
        recursion_leave();
        return status;
    }
    return tsr_error(TSR_TYPE_ERROR, "'%s' object is not an iterator", t->name);
}

TsrStatus value_each(Value iterable, ItemVisit visit, void *context, const bool *stop) {
    Value iterator, item;
    TSR_TRY(value_iter(&iterator, iterable));
    TsrStatus status;
    while ((status = value_next(&item, iterator)) == TSR_OK && item.tag != V_UNBOUND) {
        status = visit(item, context);
        value_release(item);
        if (status == TSR_OK) status = tsr_interrupt_check();
        if (status != TSR_OK || (stop != NULL && *stop)) break;
    }
    value_release(iterator);
    return status;
}

/* --- attributes --- */

static TsrStatus bind_descriptor(Value *out, Value found, Value v) {
    if (found.tag != V_OBJ) {
        *out = value_retain(found);
        return TSR_OK;
    }
    if (found.o->type == &getset_type) return ((GetSet *)found.o)->def->get(out, v);
    if (found.o->type == &method_descriptor_type) {
        const Native *n = (Native *)found.o;
        if (n->def->flags & METHOD_STATIC) {
            *out = value_retain(found);
            return TSR_OK;
        }
        if (n->def->flags & METHOD_CLASS) return native_new_method(out, n->def, n->owner, value_lent(value_type(v)));
        return native_new_method(out, n->def, n->owner, v);
    }
    if (value_type(found)->descriptor_get != NULL) return value_type(found)->descriptor_get(out, found, v);
    *out = value_retain(found);
    return TSR_OK;
}

TsrStatus value_lookup_attr(Value *out, Value v, Str *name) {
    Type *type = value_type(v);
    *out = VALUE_UNBOUND;
    for (const Type *t = type; t != NULL; t = type_base(t)) {
        if (t->get_attr == NULL) continue;
        TSR_TRY(t->get_attr(out, v, name));
        if (out->tag != V_UNBOUND) return TSR_OK;
        break;
    }
    Value found;
    TSR_TRY(type_lookup(&found, type, name));
    if (found.tag != V_UNBOUND) return bind_descriptor(out, found, v);
    const Method *dunder = dunder_lookup(type, name);
    return dunder != NULL ? native_new_method(out, dunder, type, v) : TSR_OK;
}

static TsrStatus no_attribute(Value v, const Str *name) {
    TsrStatus status;
    if (value_is_obj(v, &type_type)) {
        status =
            tsr_error(TSR_ATTRIBUTE_ERROR, "type object '%s' has no attribute '%s'", ((Type *)v.o)->name, name->data);
    } else if (value_is_obj(v, &module_type)) {
        status = tsr_error(TSR_ATTRIBUTE_ERROR, "module '%s' has no attribute '%s'", ((Module *)v.o)->name->data,
                           name->data);
    } else {
        status = tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", value_type_name(v), name->data);
    }
    hint_attribute(v, name->data);
    return status;
}

TsrStatus value_getattr(Value *out, Value v, Str *name) {
    TSR_TRY(value_lookup_attr(out, v, name));
    return out->tag != V_UNBOUND ? TSR_OK : no_attribute(v, name);
}

static bool is_method(const Obj *found) {
    if (found->type->flags & TYPE_METHOD) return true;
    return found->type == &method_descriptor_type &&
           !(((const Native *)found)->def->flags & (METHOD_STATIC | METHOD_CLASS));
}

TsrStatus value_load_method(Value *callee, Value *self, Value v, Str *name) {
    Type *type = value_type(v);
    if (type->get_attr == NULL) {
        Value found;
        TSR_TRY(type_lookup(&found, type, name));
        if (found.tag == V_OBJ && is_method(found.o)) {
            *callee = value_retain(found);
            *self = value_retain(v);
            return TSR_OK;
        }
    }
    *self = VALUE_UNBOUND;
    return value_getattr(callee, v, name);
}

static TsrStatus set_refused(Value v, Str *name) {
    Value found;
    TSR_TRY(type_lookup(&found, value_type(v), name));
    if (found.tag == V_OBJ && strcmp(found.o->type->name, getset_type.name) == 0) {
        return tsr_error(TSR_ATTRIBUTE_ERROR, "attribute '%s' of '%s' objects is not writable", name->data,
                         v.tag == V_TENSOR ? "torch._C.TensorBase" : value_type_name(v));
    }
    if (found.tag != V_UNBOUND || dunder_lookup(value_type(v), name) != NULL) {
        return tsr_error(TSR_ATTRIBUTE_ERROR, "'%s' object attribute '%s' is read-only", value_type_name(v),
                         name->data);
    }
    TsrStatus status = no_attribute(v, name);
    if (v.tag == V_TENSOR && tsr_error_hint_text() == NULL)
        tsr_error_hint("a tensor holds no attributes of one's own; a dict can hold it and what belongs to it");
    return status;
}

TsrStatus value_setattr(Value v, Str *name, Value value) {
    FIND_SLOT(t, v, set_attr);
    if (t != NULL) return t->set_attr(v, name, value);
    Value found;
    TSR_TRY(type_lookup(&found, value_type(v), name));
    if (value.tag != V_UNBOUND && value_is_obj(found, &getset_type) && ((GetSet *)found.o)->def->set != NULL) {
        return ((GetSet *)found.o)->def->set(v, value);
    }
    return set_refused(v, name);
}

TsrStatus value_delattr(Value v, Str *name) { return value_setattr(v, name, VALUE_UNBOUND); }

/* --- calls --- */

bool value_is_callable(Value v) {
    FIND_SLOT(t, v, call);
    return t != NULL;
}

TsrStatus value_call(Value *out, Value callee, const CallArgs *args) {
    FIND_SLOT(t, callee, call);
    if (TSR_UNLIKELY(t == NULL))
        return tsr_error(TSR_TYPE_ERROR, "'%s' object is not callable", value_type_name(callee));
    TSR_TRY(recursion_enter(" while calling a Python object"));
    *out = VALUE_UNBOUND;
    TsrStatus status = t->call(out, callee, args);
    recursion_leave();
    return status;
}

TsrStatus value_call_n(Value *out, Value callee, int count, const Value *values) {
    CallArgs args = {values, count, 0, NULL, false};
    return value_call(out, callee, &args);
}

TsrStatus value_holds(bool *out, Value predicate, Value item) {
    Value result;
    if (value_is_none(predicate)) return value_truth(out, item);
    TSR_TRY(value_call_n(&result, predicate, 1, &item));
    TsrStatus status = value_truth(out, result);
    value_release(result);
    return status;
}

TsrStatus value_call_method(Value *out, Value v, const char *name, int count, const Value *values) {
    Str *s = str_intern_c(name);
    if (s == NULL) return mem_error();
    Value callee;
    TSR_TRY(value_getattr(&callee, v, s));
    TsrStatus status = value_call_n(out, callee, count, values);
    value_release(callee);
    return status;
}

/* --- numbers --- */

TsrStatus value_new_index(Value *out, Value v) {
    if (value_is_int(v)) {
        *out = value_retain(v);
        return TSR_OK;
    }
    if (v.tag == V_TENSOR && tensor_hooks.to_index != NULL) return tensor_hooks.to_index(out, v);
    return tsr_error(TSR_TYPE_ERROR, "'%s' object cannot be interpreted as an integer", value_type_name(v));
}

TsrStatus value_to_index(int64_t *out, Value v) {
    if (v.tag == V_INT || v.tag == V_BOOL) {
        *out = v.i;
        return TSR_OK;
    }
    Value i;
    TSR_TRY(value_new_index(&i, v));
    bool fits = int_fits_int64(i, out);
    value_release(i);
    return fits ? TSR_OK : tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C ssize_t");
}

TsrStatus value_to_c_int(int *out, Value v) {
    int64_t i;
    TSR_TRY(value_to_index_clamped(&i, v));
    *out = (int)i;
    return i == *out ? TSR_OK : tsr_error(TSR_OVERFLOW_ERROR, "Python int too large to convert to C int");
}

TsrStatus value_to_index_clamped(int64_t *out, Value v) {
    Value i;
    TSR_TRY(value_new_index(&i, v));
    if (!int_fits_int64(i, out)) *out = int_sign(i) < 0 ? INT64_MIN : INT64_MAX;
    value_release(i);
    return TSR_OK;
}

TsrStatus value_to_double(double *out, Value v) {
    switch (v.tag) {
    case V_FLOAT: *out = v.f; return TSR_OK;
    case V_INT:
    case V_BOOL: *out = (double)v.i; return TSR_OK;
    default: break;
    }
    if (value_is_bigint(v)) return int_to_double(out, v);
    if (v.tag != V_TENSOR || tensor_hooks.to_number == NULL)
        return tsr_error(TSR_TYPE_ERROR, "must be real number, not %s", value_type_name(v));
    Value n;
    TSR_TRY(tensor_hooks.to_number(&n, v));
    TsrStatus status = n.tag == V_TENSOR ? tsr_error(TSR_TYPE_ERROR, "must be real number, not Tensor")
                       : value_is_complex(n) && value_as_complex(n)->im == 0 ? (*out = value_as_complex(n)->re, TSR_OK)
                       : value_is_complex(n)
                           ? tsr_error(TSR_RUNTIME_ERROR, "value cannot be converted to type double without overflow")
                           : value_to_double(out, n);
    value_release(n);
    return status;
}
