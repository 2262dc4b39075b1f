/* MaybeOwned<Tensor>: a value with a borrow or a reference of the core (borrow.h). It forwards attributes, operators
 * and indexing to the tensor. Live borrows are listed, so that a tensor's death can be noted in each of them. */
#include "maybe_owned.h"

#include <stdio.h>

#include "lang/object/args.h"
#include "torch/bind/bind.h"
#include "core/borrow.h"
#include "lang/modules/namespace.h"
#include "lang/types/dict.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "tensor.h"
#include "torch/types.h"
#include "lang/vm/vm.h"
#include "torch/holders.h"

static Type maybe_owned_type;

typedef struct Maybe {
    Obj obj;
    TsrTensor *t; /* owned: a reference; borrowed: a weak link */
    bool owned, ended;
    int line;                  /* where it was made */
    int gone_line;             /* where the borrowed tensor's last owner went; 0: it lives */
    bool temporary;            /* the tensor had no owner but the call's own argument */
    struct Maybe *next, *prev; /* all live borrows */
} Maybe;

static Maybe *borrows;
static void (*next_gone_hook)(TsrTensor *t);

static Maybe *as_maybe(Value v) { return (Maybe *)v.o; }

static void note_gone(TsrTensor *t) {
    int line = borrows != NULL ? vm_current_line() : 0;
    for (Maybe *m = borrows; m != NULL; m = m->next)
        if (m->t == t && m->gone_line == 0) m->gone_line = line > 0 ? line : -1;
    if (next_gone_hook != NULL) next_gone_hook(t);
}

static void unlink_borrow(Maybe *m) {
    if (m->prev != NULL) m->prev->next = m->next;
    else if (borrows == m) borrows = m->next;
    if (m->next != NULL) m->next->prev = m->prev;
    m->next = m->prev = NULL;
}

static void maybe_end(Maybe *m) {
    if (m->ended) return;
    m->ended = true;
    if (!m->owned) unlink_borrow(m);
    if (m->owned) tsr_tensor_free(m->t);
    else tsr_tensor_weak_free(m->t);
    m->t = NULL;
}

static void maybe_destroy(Obj *self) {
    maybe_end((Maybe *)self);
    obj_free(self, sizeof(Maybe));
}

/* *t: an owning reference that is taken over (owned), or lent (borrowed). */
static TsrStatus new_maybe(Value *out, TsrTensor *t, bool owned) {
    Maybe *m = obj_new(&maybe_owned_type, sizeof *m);
    if (m == NULL) {
        if (owned) tsr_tensor_free(t);
        return mem_error();
    }
    m->owned = owned;
    m->ended = false;
    m->line = vm_current_line();
    m->gone_line = 0;
    m->temporary = false;
    m->next = m->prev = NULL;
    m->t = owned ? t : tsr_tensor_weak_new(t);
    if (!owned) {
        m->next = borrows;
        if (borrows != NULL) borrows->prev = m;
        borrows = m;
    }
    tsr_trace(TSR_TRACE_WRAP, "MaybeOwned", owned ? "owned" : "borrowed", 0, t, NULL);
    *out = value_obj_move(m);
    return TSR_OK;
}

/* The tensor, lent; BorrowError when the borrow dangles. */
static TsrStatus maybe_get(TsrTensor **lent, Value v) {
    Maybe *m = as_maybe(v);
    *lent = m->t;
    if (m->ended)
        return tsr_error(TSR_BORROW_ERROR, "the %s made at line %d has ended", m->owned ? "MaybeOwned" : "borrow",
                         m->line);
    if (m->owned || tsr_tensor_weak_alive(m->t)) return TSR_OK;
    *lent = NULL;
    if (m->temporary) {
        tsr_error(TSR_BORROW_ERROR,
                  "borrowed at line %d from a temporary, which went with its statement: nothing owned it", m->line);
        tsr_error_hint("give the tensor a name first, or use owned(...)");
        return TSR_BORROW_ERROR;
    }
    if (m->gone_line > 0)
        tsr_error(TSR_BORROW_ERROR, "borrowed at line %d, but the last owner of the tensor went at line %d", m->line,
                  m->gone_line);
    else tsr_error(TSR_BORROW_ERROR, "borrowed at line %d, but the last owner of the tensor is gone", m->line);
    tsr_error_hint("a borrow must not outlive its tensor; owned(x) holds a reference of its own");
    return TSR_BORROW_ERROR;
}

static bool maybe_owns(Value v) { return as_maybe(v)->owned && !as_maybe(v)->ended; }

/* As an operator takes it: what may not cross into torch may not by way of a MaybeOwned either. */
static TsrStatus operand(TsrTensor **lent, Value v, const char *function) {
    TSR_TRY(bind_tensor_of(lent, v));
    return *lent != NULL ? TSR_OK : holders_tensor(lent, v, function);
}

static TsrStatus maybe_borrowed(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(operand(&t, args->values[0], "borrowed"));
    bool temporary = holders_refcount(t) == 0;
    TSR_TRY(new_maybe(out, t, false));
    as_maybe(*out)->temporary = temporary;
    return TSR_OK;
}

static TsrStatus maybe_make_owned(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(operand(&t, args->values[0], "owned"));
    return new_maybe(out, tsr_tensor_retain(t), true);
}

TsrStatus maybe_expect_contiguous(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TsrMaybeOwned m;
    TsrMemoryFormat format = TSR_CONTIGUOUS;
    Value wanted = args->count > 1 ? args->values[1] : args_keyword(args, "memory_format");
    TSR_TRY(holders_tensor(&t, args->values[0], "expect_contiguous"));
    if (wanted.tag > V_NONE) {
        Value last = format_value(TSR_CHANNELS_LAST), last3 = format_value(TSR_CHANNELS_LAST_3D);
        if (value_is_same(wanted, last)) format = TSR_CHANNELS_LAST;
        if (value_is_same(wanted, last3)) format = TSR_CHANNELS_LAST_3D;
        value_release(last);
        value_release(last3);
    }
    TSR_TRY(tsr_maybe_expect_contiguous(&m, t, format));
    TsrStatus status = new_maybe(out, m.tensor, m.owned);
    if (!m.owned) tsr_maybe_end(&m);
    return status;
}

/* ---- as a tensor ---- */

static TsrStatus as_tensor_value(Value *out, Value v) {
    TsrTensor *t;
    if (!value_is_obj(v, &maybe_owned_type)) return *out = v, TSR_OK;
    TSR_TRY(maybe_get(&t, v));
    *out = (Value){.tag = V_TENSOR, {.t = t}};
    return TSR_OK;
}

static TsrStatus maybe_repr(TsrText *out, Value self) {
    Maybe *m = as_maybe(self);
    TsrTensor *t;
    if (m->ended) return tsr_text_printf(out, "MaybeOwned(%s, ended)", m->owned ? "owned" : "borrowed");
    if (maybe_get(&t, self) != TSR_OK) {
        tsr_error_clear();
        return tsr_text_puts(out, "MaybeOwned(borrowed, dangling)");
    }
    TSR_TRY(tsr_text_printf(out, "MaybeOwned(%s, ", m->owned ? "owned" : "borrowed"));
    TSR_TRY(value_repr(out, (Value){.tag = V_TENSOR, {.t = t}}));
    return tsr_text_putc(out, ')');
}

static TsrStatus get_is_owned(Value *out, Value self) { return *out = value_bool(as_maybe(self)->owned), TSR_OK; }
static TsrStatus get_is_borrowed(Value *out, Value self) { return *out = value_bool(!as_maybe(self)->owned), TSR_OK; }

static TsrStatus maybe_enter(Value *out, const CallArgs *args) {
    TsrTensor *t;
    TSR_TRY(maybe_get(&t, args->values[0]));
    *out = value_retain(args->values[0]);
    return TSR_OK;
}

static TsrStatus maybe_exit(Value *out, const CallArgs *args) {
    maybe_end(as_maybe(args->values[0]));
    *out = VALUE_NONE;
    return TSR_OK;
}

/* What is not its own is the tensor's. */
static TsrStatus maybe_attr(Value *out, Value self, Str *name) {
    Value t;
    *out = VALUE_UNBOUND;
    if (str_equal_c(name, "is_owned") || str_equal_c(name, "is_borrowed") ||
        (name->size > 2 && name->data[0] == '_' && name->data[1] == '_'))
        return TSR_OK;
    TSR_TRY(as_tensor_value(&t, self));
    return value_lookup_attr(out, t, name);
}

static TsrStatus maybe_binary(Value *out, BinaryOp op, Value a, Value b) {
    TSR_TRY(as_tensor_value(&a, a));
    TSR_TRY(as_tensor_value(&b, b));
    return tensor_binary(out, op, a, b);
}

/* z += 1 writes into the tensor, and z stays the MaybeOwned. */
static TsrStatus maybe_inplace(Value *out, BinaryOp op, Value self, Value b) {
    Value t, written;
    TSR_TRY(as_tensor_value(&t, self));
    TSR_TRY(as_tensor_value(&b, b));
    TSR_TRY(tensor_inplace(&written, op, t, b));
    *out = written.tag == V_UNBOUND ? written : value_retain(self);
    value_release(written);
    return TSR_OK;
}

static TsrStatus maybe_compare(Value *out, CompareOp op, Value a, Value b) {
    TSR_TRY(as_tensor_value(&a, a));
    TSR_TRY(as_tensor_value(&b, b));
    return tensor_compare(out, op, a, b);
}

static TsrStatus maybe_unary(Value *out, UnaryOp op, Value v) {
    TSR_TRY(as_tensor_value(&v, v));
    return tensor_unary(out, op, v);
}

static TsrStatus maybe_length(int64_t *out, Value v) {
    TSR_TRY(as_tensor_value(&v, v));
    return value_length(out, v);
}

static TsrStatus maybe_get_item(Value *out, Value v, Value index) {
    TSR_TRY(as_tensor_value(&v, v));
    return value_getitem(out, v, index);
}

static TsrStatus maybe_set_item(Value v, Value index, Value value) {
    TSR_TRY(as_tensor_value(&v, v));
    return value_setitem(v, index, value);
}

static TsrStatus maybe_iter(Value *out, Value v) {
    TSR_TRY(as_tensor_value(&v, v));
    return value_iter(out, v);
}

static const Method methods[] = {{"__enter__", maybe_enter, ARGS_NONE | METHOD_DUNDER, 0, 0, "()", NULL},
                                 {"__exit__", maybe_exit, ARGS_RANGE | METHOD_DUNDER, 0, 3, "(*args)", NULL},
                                 {"borrowed", maybe_borrowed, ARGS_ONE | METHOD_STATIC, 1, 1, "(x)",
                                  "borrowed(x) by its name in C++: no reference, and x must outlive it."},
                                 {"owned", maybe_make_owned, ARGS_ONE | METHOD_STATIC, 1, 1, "(x)",
                                  "owned(x) by its name in C++: a reference of its own, which is always safe."},
                                 {0}};
static const Getter getters[] = {{"is_owned", get_is_owned, NULL, "Whether it holds a reference."},
                                 {"is_borrowed", get_is_borrowed, NULL, "Whether it holds none."},
                                 {0}};

static Type maybe_owned_type = {.obj = TYPE_HEADER,
                                .name = "MaybeOwned",
                                .module = "tsr",
                                .destroy = maybe_destroy,
                                .repr = maybe_repr,
                                .get_attr = maybe_attr,
                                .binary = maybe_binary,
                                .inplace = maybe_inplace,
                                .compare = maybe_compare,
                                .unary = maybe_unary,
                                .length = maybe_length,
                                .get_item = maybe_get_item,
                                .set_item = maybe_set_item,
                                .iter = maybe_iter,
                                .methods = methods,
                                .getters = getters};

static TsrStatus list_dangling(List *out) {
    for (Maybe *m = borrows; m != NULL; m = m->next) {
        Value text;
        if (tsr_tensor_weak_alive(m->t)) continue;
        TSR_TRY(str_new_format(&text,
                               m->gone_line > 0 ? "borrow of line %d dangles: its owner went at line %d"
                                                : "borrow of line %d dangles: its owner is gone",
                               m->line, m->gone_line));
        TSR_TRY(list_append_move(out, text));
    }
    return TSR_OK;
}

static const Method functions[] = {
    {"borrowed", maybe_borrowed, ARGS_ONE, 1, 1, "(x)",
     "A MaybeOwned that holds no reference: x must outlive it.\n\n"
     "    >>> x = ones(2)\n    >>> b = borrowed(x)\n    >>> refcount(x)\n    1"},
    {"owned", maybe_make_owned, ARGS_ONE, 1, 1, "(x)",
     "A MaybeOwned that holds a reference of its own.\n\n"
     "    >>> x = ones(2)\n    >>> b = owned(x)\n    >>> refcount(x)\n    2"},
    {0},
};

/* As c10 has it: a flag, and one of two members. */
static TsrStatus maybe_members(Value dict, Value v) {
    const Maybe *m = as_maybe(v);
    TSR_TRY(dict_set_c(value_as_dict(dict), "isBorrowed_", value_bool(!m->owned)));
    return holders_put_text(value_as_dict(dict), m->owned ? "own_" : "borrow_",
                            m->owned ? "one reference of its own" : "a pointer that counts nothing");
}

TsrStatus maybe_owned_startup(void) {
    static const WhoWrapper wrapper = {.type = &maybe_owned_type,
                                       .name = "MaybeOwned<Tensor>",
                                       .get = maybe_get,
                                       .owns = maybe_owns,
                                       .members = maybe_members};
    holders_register_wrapper(&wrapper);
    holders_register_leaks(list_dangling);
    static bool chained; /* a process may start more than once */
    if (!chained) {
        chained = true;
        next_gone_hook = tsr_tensor_gone_hook;
        tsr_tensor_gone_hook = note_gone;
    }
    TSR_TRY(namespace_add_value("tsr", "MaybeOwned", value_lent(&maybe_owned_type), true));
    return namespace_add_functions("tsr", functions, true);
}
