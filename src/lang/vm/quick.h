/* quick.h: the quick halves of instructions, for loop.c alone.
 *
 * A quick half does an instruction for the values that programs mostly have: numbers, lists, plain functions. It is
 * inline, so that what vm_loop keeps in registers stays there, and cannot fail. It says whether it did the instruction:
 * if not, nothing has changed, and the slow half (ins_... in ops.c) does the whole of it. */
#ifndef LANG_VM_QUICK_H
#define LANG_VM_QUICK_H

#include "frame.h"

/* A slot was often written field by field just before: a load of more fields at once would wait for the stores. */
static inline Value slot_load(const Value *slot) {
    Value v;
    v.nan = slot->nan;
    v.tag = slot->tag;
    v.i = slot->i;
    return v;
}

/* --- operators --- */

static inline bool quick_compare(Value *dst, CompareOp op, const Value *x, const Value *y) {
    if (x->tag != V_INT || y->tag != V_INT || op > CMP_GE) return false;
    bool less = x->i < y->i, equal = x->i == y->i, yes[] = {equal, !equal, less, less || equal, !less && !equal, !less};
    slot_set_move(dst, value_bool(yes[op]));
    return true;
}

/* Ints that are doubles exactly: their quotient then has one rounding. */
static inline bool is_exact(int64_t i) { return i <= ((int64_t)1 << 53) && i >= -((int64_t)1 << 53); }

static inline bool quick_divide(Value *dst, const Value *x, const Value *y) {
    if (x->tag == V_FLOAT && y->tag == V_FLOAT && y->f != 0.0) {
        slot_set_move(dst, value_float(x->f / y->f));
        return true;
    }
    if (x->tag != V_INT || y->tag != V_INT || y->i == 0 || !is_exact(x->i) || !is_exact(y->i)) return false;
    slot_set_move(dst, value_float((double)x->i / (double)y->i));
    return true;
}

/* x // y and x % y of ints, downwards; `remainder` is a constant. */
static inline bool quick_int_divide(Value *dst, const Value *x, const Value *y, bool remainder) {
    if (x->tag != V_INT || y->tag != V_INT || y->i <= 0) return false;
    int64_t q = x->i / y->i, m = x->i % y->i;
    slot_set_move(dst, value_int(remainder ? (m < 0 ? m + y->i : m) : q - (m < 0)));
    return true;
}

/* --- items --- */

/* The item of a list at an int, or NULL. */
static inline Value *quick_item(const Value *list, const Value *key) {
    if (TSR_UNLIKELY(key->tag != V_INT || !value_is_list(*list))) return NULL;
    List *l = value_as_list(*list);
    int64_t at = key->i;
    if (at < 0) at += l->count;
    return TSR_LIKELY((uint64_t)at < (uint64_t)l->count) ? &l->items[at] : NULL;
}

/* The next turn of a loop over a range or a list, whose three slots are at `it` (ins_for_prepare). */
typedef enum Turn { TURN_END, TURN_NEXT, TURN_OTHER } Turn;
static inline Turn quick_for_next(Value *it, Value *item) {
    if (it->tag == V_INT) { /* a range: next value, how many are left, step */
        if (it[1].i <= 0) return TURN_END;
        it[1].i--;
        slot_set_move(item, value_int(it->i));
        it->i = (int64_t)((uint64_t)it->i + (uint64_t)it[2].i);
        return TURN_NEXT;
    }
    if (it[1].tag != V_INT || !value_is_list(*it)) return TURN_OTHER;
    const List *list = value_as_list(*it);
    if (TSR_UNLIKELY(it[1].i >= list->count)) {
        slot_clear(it);
        return TURN_END;
    }
    slot_set_move(item, value_retain(slot_load(&list->items[it[1].i++])));
    return TURN_NEXT;
}

/* --- calls --- */

/* Whether a GETATTR or METHOD at i knows the type of `v` from last time: the word after it says so. */
static inline bool quick_knows(const Ins *i, const Value *v) {
    return TSR_LIKELY(v->tag >= V_TENSOR && (uintptr_t)value_type(*v) == i[1].word);
}

/* The two slots of a method call at w: what the word after METHOD i knows, and its self, moved out of a temporary. */
static inline void quick_method(Frame *f, const Ins *i, Value *w, Value *self) {
    w[1] = *self;
    if (i->b >= f->code->first_temp) self->tag = V_UNBOUND;
    else value_retain(w[1]);
    w[0] = value_obj_move(obj_retain((void *)(uintptr_t)i[2].word));
}

/* Enters the frame of the function at w, whose arguments stand behind it: nothing is copied. NULL when there is more to
 * it than positional arguments that are all given, or no room, or somebody waits. */
static inline Frame *quick_call(Frame *f, Value *w, int count) {
    Function *fn = value_as_function(*w);
    Code *code = fn->code;
    Value *base = w + 1;
    Frame *inner = vm.free_frame;
    if (TSR_UNLIKELY(vm_is_wanted() || !(code->flags & CODE_SIMPLE) || code->positional != count ||
                     (uintptr_t)(base + code->frame_size) > (uintptr_t)f->limit || inner == NULL ||
                     recursion_depth >= recursion_limit))
        return NULL;
    for (int k = count; k < code->slot_count; k++) base[k].tag = V_UNBOUND;
    recursion_depth++;
    vm.free_frame = inner->above;
    inner->pc = code->ins; /* who asks where the program is may come before the first instruction stores it */
    inner->base = base;
    inner->code = code;
    inner->fn = fn;
    inner->limit = f->limit;
    inner->gen = NULL;
    inner->prev = f;
    inner->flags = 0;
    w->tag = V_UNBOUND; /* the frame owns the function now */
    return vm.frame = inner;
}

/* Gives a frame back to the pool and makes the one below it current, which is returned. What it held is the caller's to
 * release. */
static inline Frame *quick_pop(Frame *inner) {
    recursion_depth--;
    vm.free_frame = inner;
    return vm.frame = inner->prev;
}

/* Calls anything that is no function of the language. *out is V_UNBOUND when it failed. */
static inline TsrStatus quick_call_value(Value *out, Value callee, const CallArgs *args) {
    *out = VALUE_UNBOUND;
    if (TSR_LIKELY(callee.tag == V_OBJ && callee.o->type->call != NULL)) return callee.o->type->call(out, callee, args);
    return value_call(out, callee, args);
}

/* Calls what METHOD left at w: a method and its self, or something to call and nothing. */
static inline TsrStatus quick_call_method(Value *out, Value *w, int count) {
    bool with_self = w[1].tag != V_UNBOUND;
    CallArgs args = {with_self ? w + 1 : w + 2, count + with_self, 0, NULL, value_is_operator(*w)};
    if (TSR_UNLIKELY(!with_self || !value_is_obj(*w, &method_descriptor_type))) return quick_call_value(out, *w, &args);
    const Native *n = (const Native *)w->o; /* found by the type of its self */
    *out = VALUE_UNBOUND;
    return native_invoke(out, n->def, &args, n->owner);
}

#endif
