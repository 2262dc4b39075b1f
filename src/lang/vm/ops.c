/* ops.c: what instructions do when the quick case in loop.c's loop does not apply, all but calls.
 *
 * An operand is a slot of the frame or a constant; a temporary one is taken out of its slot (slot_take), a name's is
 * lent. So each function here reads its operands, calls the operation of protocol.c, and releases the temporaries;
 * where a result can take an operand's place (a string that ends here, a list with one holder) it does. Pointwise
 * operators of tensors go to lazy.c first. GETATTR and METHOD fill the two words of cache behind them, which the loop
 * reads the next time. */
#include "lang/object/hint.h"
#include "lazy.h"
#include "lang/types/numbers.h"
#include "lang/object/value_impl.h"
#include "frame.h"

#include <string.h>

unsigned value_dying;

/* --- operands --- */

static const char *slot_name(const Code *code, int slot) {
    int name = slot - code->first_slot;
    return name >= 0 && name < code->slot_count ? code->slot_names[name] : "?";
}

/* Whether the name in the slot is of the function in which this code of an eval or exec runs. */
static bool is_lent_name(const Frame *f, int slot) { return (f->flags & FRAME_LENT) && slot < f->own_from; }

static TsrStatus unbound_local(const Frame *f, int slot) {
    const char *name = slot_name(f->code, slot);
    if (is_lent_name(f, slot)) return tsr_error(TSR_NAME_ERROR, "name '%s' is not defined", name);
    return tsr_error(TSR_UNBOUND_LOCAL_ERROR,
                     "cannot access local variable '%s' where it is not associated with a value", name);
}

/* eval and exec in a function take the global for a name that is not set there, as Python's do. */
const Value *frame_name(const Frame *f, int slot) {
    if ((f->code->flags & CODE_MODULE) && slot < GLOBAL_SLOTS) return globals_builtin(slot);
    if (is_lent_name(f, slot)) return globals_named(slot_name(f->code, slot));
    (void)unbound_local(f, slot);
    return NULL;
}

static const Value *peek(const Frame *f, int slot) {
    const Value *v = &f->base[slot];
    return TSR_LIKELY(v->tag != V_UNBOUND) ? v : frame_name(f, slot);
}

TsrStatus slot_take(Value *out, const Frame *f, int slot) {
    Value *v = &f->base[slot];
    if (slot >= f->code->first_temp) {
        *out = *v;
        v->tag = V_UNBOUND;
        return TSR_OK;
    }
    const Value *found = peek(f, slot);
    if (found == NULL) return exc_status();
    *out = value_retain(*found);
    return TSR_OK;
}

static const Value *operand_b(const Frame *f, const Ins *i) {
    return i->x & BINARY_KB ? &f->code->consts[i->b] : peek(f, i->b);
}
static const Value *operand_c(const Frame *f, const Ins *i) {
    return i->x & BINARY_KC ? &f->code->consts[i->c] : peek(f, i->c);
}

static void operands_used(const Frame *f, const Ins *i) {
    if (!(i->x & BINARY_KC)) slot_used(f, i->c);
    if (!(i->x & BINARY_KB)) slot_used(f, i->b);
}

/* Int with float, for + - * /: the common mixtures. */
static bool mixed(Value *out, BinaryOp op, Value a, Value b) {
    double x, y;
    if (a.tag == V_INT && b.tag == V_FLOAT) x = (double)a.i, y = b.f;
    else if (a.tag == V_FLOAT && b.tag == V_INT) x = a.f, y = (double)b.i;
    else return false;
    switch (op) {
    case OP_ADD: *out = value_float(x + y); return true;
    case OP_SUB: *out = value_float(x - y); return true;
    case OP_MUL: *out = value_float(x * y); return true;
    case OP_DIV:
        if (y == 0.0) return false;
        *out = value_float(x / y);
        return true;
    default: return false;
    }
}

/* Whether the string in slot b ends with this operation, so that it may grow where it is. */
static bool ends_here(const Frame *f, const Ins *i, const Value *a, bool inplace) {
    if ((i->x & BINARY_KB) || a != &f->base[i->b] || a->o->refcount != 1 || str_is_interned(value_as_str(*a)))
        return false;
    return i->b >= f->code->first_temp || (i->x & BINARY_LAST) || (inplace && i->a == i->b);
}

static TsrStatus add_strings(Frame *f, const Ins *i, const Value *a, const Value *b, bool inplace) {
    Value r;
    if (ends_here(f, i, a, inplace) && a->o != b->o) {
        TSR_TRY(str_append_move(&r, value_as_str(*a), value_as_str(*b)));
        f->base[i->b].tag = V_UNBOUND;
    } else {
        TSR_TRY(str_new_concat(&r, value_as_str(*a), value_as_str(*b)));
    }
    operands_used(f, i);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

/* The result of a lazy step takes the place of its operands. */
static TsrStatus finish_lazy_move(Frame *f, const Ins *i, Value r) {
    operands_used(f, i);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

/* Where the step can't wait: its operands are computed now. */
static TsrStatus force_operands(Frame *f, const Ins *i, const Value *a, const Value *b) {
    if (value_is_lazy(*a)) TSR_TRY(lazy_force(&f->base[i->b]));
    return value_is_lazy(*b) ? lazy_force(&f->base[i->c]) : TSR_OK;
}

TsrStatus ins_binary(Frame *f, const Ins *i, bool inplace) {
    const Value *a = operand_b(f, i), *b = a == NULL ? NULL : operand_c(f, i);
    if (a == NULL || b == NULL) return exc_status();
    BinaryOp op = (BinaryOp)(i->x & 15);
    Value r;
    if (op == OP_ADD && value_is_str(*a) && value_is_str(*b)) return add_strings(f, i, a, b, inplace);
    if ((i->x & MAY_WAIT) || value_is_lazy(*a) || value_is_lazy(*b)) {
        TSR_TRY(lazy_binary(&r, op, *a, *b, !(i->x & MAY_WAIT)));
        if (r.tag != V_UNBOUND) return finish_lazy_move(f, i, r);
        TSR_TRY(force_operands(f, i, a, b));
    }
    if (!mixed(&r, op, *a, *b)) {
        TsrStatus status;
        if (inplace) { /* a list that grows by a generator may be let go by the generator's code */
            Value self = value_retain(*a), other = value_retain(*b);
            status = value_inplace(&r, op, self, other);
            value_release(other);
            value_release(self);
        } else {
            int temps = f->code->first_temp;
            value_dying = (!(i->x & BINARY_KB) && i->b >= temps ? DYING_LEFT : 0) |
                          (!(i->x & BINARY_KC) && i->c >= temps ? DYING_RIGHT : 0);
            r = VALUE_UNBOUND;
            status = a->tag == V_TENSOR || b->tag == V_TENSOR ? tensor_type->binary(&r, op, *a, *b) : TSR_OK;
            if (status == TSR_OK && r.tag == V_UNBOUND) status = value_binary(&r, op, *a, *b);
            value_dying = 0;
        }
        TSR_TRY(status);
    }
    operands_used(f, i);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

TsrStatus ins_unary(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->b);
    if (v == NULL) return exc_status();
    Value r;
    UnaryOp op = (UnaryOp)(i->x & ~MAY_WAIT);
    if ((i->x & MAY_WAIT) || value_is_lazy(*v)) {
        TSR_TRY(lazy_unary(&r, op, *v, !(i->x & MAY_WAIT)));
        if (r.tag != V_UNBOUND) {
            slot_used(f, i->b);
            slot_set_move(&f->base[i->a], r);
            return TSR_OK;
        }
        if (value_is_lazy(*v)) TSR_TRY(lazy_force(&f->base[i->b]));
    }
    if (op == OP_NOT) {
        bool truth;
        TSR_TRY(value_truth(&truth, *v));
        r = value_bool(!truth);
    } else {
        value_dying = i->b >= f->code->first_temp ? DYING_LEFT : 0;
        TsrStatus status = value_unary(&r, op, *v);
        value_dying = 0;
        TSR_TRY(status);
    }
    slot_used(f, i->b);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

TsrStatus ins_compare(Frame *f, const Ins *i) {
    const Value *a = operand_b(f, i), *b = a == NULL ? NULL : operand_c(f, i);
    if (a == NULL || b == NULL) return exc_status();
    CompareOp op = (CompareOp)(i->x & 15);
    Value r;
    if ((i->x & MAY_WAIT) || value_is_lazy(*a) || value_is_lazy(*b)) {
        TSR_TRY(lazy_compare(&r, op, *a, *b, !(i->x & MAY_WAIT)));
        if (r.tag != V_UNBOUND) return finish_lazy_move(f, i, r);
        TSR_TRY(force_operands(f, i, a, b));
    }
    Value other = value_retain(*b); /* `in` a generator runs its code */
    TsrStatus status = value_compare(&r, op, *a, other);
    value_release(other);
    TSR_TRY(status);
    operands_used(f, i);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

TsrStatus ins_compare_jump(bool *out, Frame *f, const Ins *i) {
    int row = i->op - INS_JT_EQ_RR;
    bool constant = row & 1;
    const Value *a = peek(f, i->b), *b = a == NULL ? NULL : constant ? &f->code->consts[i->c] : peek(f, i->c);
    if (a == NULL || b == NULL) return exc_status();
    TSR_TRY(value_compare_bool(out, (CompareOp)(row >> 2), *a, *b));
    if (!constant) slot_used(f, i->c);
    slot_used(f, i->b);
    return TSR_OK;
}

TsrStatus ins_truth(bool *out, Frame *f, int slot) {
    const Value *v = peek(f, slot);
    if (v == NULL) return exc_status();
    TSR_TRY(value_truth(out, *v));
    slot_used(f, slot);
    return TSR_OK;
}

/* --- loops --- */

/* The loop's three slots: of a range the next int, how many are left, the step; of a list or tuple itself and the
 * next index; else an iterator. */
TsrStatus ins_for_prepare(Frame *f, int slot) {
    Value *it = &f->base[slot], v = *it;
    it[1] = it[2] = VALUE_UNBOUND;
    if (value_is_obj(v, &range_type) && ((Range *)v.o)->small) {
        const Range *r = (Range *)v.o;
        it[1] = value_int(r->count);
        it[2] = value_int(r->stride);
        it[0] = value_int(r->first);
        value_release(v);
        return TSR_OK;
    }
    if (value_is_list(v) || value_is_obj(v, &tuple_type)) {
        it[1] = value_int(0);
        return TSR_OK;
    }
    Value iterator;
    TSR_TRY(value_iter(&iterator, v));
    it[0] = iterator;
    value_release(v);
    return TSR_OK;
}

TsrStatus ins_for_next(bool *more, Frame *f, const Ins *i) {
    Value *it = &f->base[i->b], item = VALUE_UNBOUND;
    if (it[1].tag == V_INT) {
        const Value *items = NULL;
        int64_t count = 0, at = it[1].i;
        if (value_as_array(it[0], &items, &count) && at < count) {
            item = value_retain(items[at]);
            it[1].i = at + 1;
        }
    } else {
        TSR_TRY(value_next(&item, it[0]));
    }
    *more = item.tag != V_UNBOUND;
    if (*more) slot_set_move(&f->base[i->c], item);
    else slots_clear(it, 3);
    return TSR_OK;
}

static TsrStatus op_iter(Frame *f, const Ins *i) {
    Value *v = &f->base[i->a], iterator;
    bool lazy = i->x == 1 && (value_is_obj(*v, &range_type) || value_is_list(*v) || value_is_obj(*v, &tuple_type));
    if (lazy) return TSR_OK;
    TSR_TRY(value_iter(&iterator, *v));
    value_set_move(v, iterator);
    return TSR_OK;
}

/* --- containers --- */

static void forget(Value *slots, int count) {
    for (int k = 0; k < count; k++) slots[k].tag = V_UNBOUND;
}

static TsrStatus op_display(Frame *f, const Ins *i) {
    Value r, *items = &f->base[i->b];
    TsrStatus status;
    if (i->op == INS_LIST || i->op == INS_TUPLE) {
        status = i->op == INS_LIST ? list_new_move(&r, items, i->c) : tuple_new_move(&r, items, i->c);
        forget(items, i->c);
    } else if (i->op == INS_SET) {
        status = set_new(&r, &set_type);
        for (int k = 0; k < i->c && status == TSR_OK; k++) {
            status = set_add(value_as_set(r), items[k]);
            if (status != TSR_OK) value_release(r);
        }
        if (status == TSR_OK) slots_clear(items, i->c);
    } else {
        status = dict_new(&r);
        for (int k = 0; k < i->c && status == TSR_OK; k++) {
            status = dict_set(value_as_dict(r), items[2 * k], items[2 * k + 1]);
            if (status != TSR_OK) value_release(r);
        }
        if (status == TSR_OK) slots_clear(items, 2 * i->c);
    }
    TSR_TRY(status);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus op_append(Frame *f, const Ins *i) {
    Value item;
    TSR_TRY(slot_take(&item, f, i->b));
    return list_append_move(value_as_list(f->base[i->a]), item);
}

/* Runs `change` of the container in R[a] with R[b], kept alive meanwhile. */
static TsrStatus op_gather(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->b));
    Value into = f->base[i->a];
    TsrStatus status = TSR_OK;
    switch (i->op) {
    case INS_EXTEND: status = list_extend(value_as_list(into), v); break;
    case INS_SETADD: status = set_add(value_as_set(into), v); break;
    case INS_SETUPDATE: status = set_update(value_as_set(into), v); break;
    default:
        if (value_is_dict(v)) status = dict_update(value_as_dict(into), v);
        else status = tsr_error(TSR_TYPE_ERROR, "'%s' object is not a mapping", value_type_name(v));
        break;
    }
    if (i->op == INS_EXTEND && status == TSR_TYPE_ERROR && strstr(tsr_error_message(), "is not iterable") != NULL &&
        value_type(v)->iter == NULL && value_type(v)->iter_next == NULL) {
        status = tsr_error(TSR_TYPE_ERROR, "Value after * must be an iterable, not %s", value_type_name(v));
    }
    value_release(v);
    return status;
}

static TsrStatus op_dict_add(Frame *f, const Ins *i) {
    const Value *key = peek(f, i->b), *v = key == NULL ? NULL : peek(f, i->c);
    if (key == NULL || v == NULL) return exc_status();
    TSR_TRY(dict_set(value_as_dict(f->base[i->a]), *key, *v));
    slot_used(f, i->c);
    slot_used(f, i->b);
    return TSR_OK;
}

static TsrStatus op_list_to_tuple(Frame *f, const Ins *i) {
    Value r;
    const List *list = value_as_list(f->base[i->a]);
    TSR_TRY(tuple_new(&r, list->items, list->count));
    value_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus op_slice(Frame *f, const Ins *i) {
    Value r, *parts = &f->base[i->b];
    TSR_TRY(slice_new(&r, parts[0], parts[1], parts[2]));
    slots_clear(parts, 3);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus op_unpack(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->b));
    TsrStatus status;
    if (i->op == INS_UNPACK) status = value_unpack(&f->base[i->a], v, i->c);
    else status = value_unpack_star(&f->base[i->a], v, i->x, i->c - 1 - i->x);
    if (status != TSR_OK) forget(&f->base[i->a], i->c);
    value_release(v);
    return status;
}

TsrStatus ins_getitem(Frame *f, const Ins *i) {
    bool constant = i->op == INS_GETITEM_RK;
    const Value *v = peek(f, i->b), *index = v == NULL ? NULL : constant ? &f->code->consts[i->c] : peek(f, i->c);
    if (v == NULL || index == NULL) return exc_status();
    Value r;
    TSR_TRY(value_getitem(&r, *v, *index));
    if (!constant) slot_used(f, i->c);
    slot_used(f, i->b);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

TsrStatus ins_setitem(Frame *f, const Ins *i) {
    bool key_constant = i->op == INS_SETITEM_KR, constant = i->op == INS_SETITEM_RK;
    const Value *v = peek(f, i->a), *index = v == NULL ? NULL : key_constant ? &f->code->consts[i->b] : peek(f, i->b);
    const Value *item = constant ? &f->code->consts[i->c] : peek(f, i->c);
    if (v == NULL || index == NULL || item == NULL) return exc_status();
    TSR_TRY(value_setitem(*v, *index, *item));
    if (!constant) slot_used(f, i->c);
    if (!key_constant) slot_used(f, i->b);
    slot_used(f, i->a);
    return TSR_OK;
}

static TsrStatus op_delete_item(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->a), *index = v == NULL ? NULL : peek(f, i->b);
    if (v == NULL || index == NULL) return exc_status();
    TSR_TRY(value_delitem(*v, *index));
    slot_used(f, i->b);
    slot_used(f, i->a);
    return TSR_OK;
}

/* --- attributes --- */

static Str *name_const(const Frame *f, int k) { return value_as_str(f->code->consts[k]); }

/* What stands for the attribute in the type's tables, lent, when nothing else decides. V_UNBOUND: look it up each time.
 * The first look fills the type's tables, which an interrupt may end. */
static TsrStatus cacheable(Value *found, Value v, Str *name) {
    Type *type = value_type(v);
    *found = VALUE_UNBOUND;
    return v.tag < V_TENSOR || type->get_attr != NULL ? TSR_OK : type_lookup(found, type, name);
}

static void remember(const Ins *i, const Type *type, const void *what) {
    Ins *cache = (Ins *)(uintptr_t)(i + 1);
    cache[0].word = (uint64_t)(uintptr_t)type;
    cache[1].word = (uint64_t)(uintptr_t)what;
}

TsrStatus ins_getattr(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->b);
    if (v == NULL) return exc_status();
    Value r, found;
    TSR_TRY(cacheable(&found, *v, name_const(f, i->c)));
    if (value_is_obj(found, &getset_type)) remember(i, value_type(*v), ((GetSet *)found.o)->def);
    TSR_TRY(value_getattr(&r, *v, name_const(f, i->c)));
    slot_used(f, i->b);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

TsrStatus ins_method(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->b);
    if (v == NULL) return exc_status();
    Value callee, self, found;
    TSR_TRY(cacheable(&found, *v, name_const(f, i->c)));
    TSR_TRY(value_load_method(&callee, &self, *v, name_const(f, i->c)));
    if (self.tag != V_UNBOUND && found.tag == V_OBJ && callee.o == found.o) remember(i, value_type(*v), found.o);
    slot_used(f, i->b);
    slot_set_move(&f->base[i->a], callee);
    slot_set_move(&f->base[i->a + 1], self);
    return TSR_OK;
}

static TsrStatus op_set_attr(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->a), *item = peek(f, i->b);
    if (v == NULL || item == NULL) return exc_status();
    TSR_TRY(value_setattr(*v, name_const(f, i->c), *item));
    slot_used(f, i->b);
    slot_used(f, i->a);
    return TSR_OK;
}

static TsrStatus op_delete_attr(Frame *f, const Ins *i) {
    const Value *v = peek(f, i->a);
    if (v == NULL) return exc_status();
    TSR_TRY(value_delattr(*v, name_const(f, i->c)));
    slot_used(f, i->a);
    return TSR_OK;
}

/* --- cells and globals --- */

static TsrStatus op_make_cell(Frame *f, const Ins *i) {
    Value content = f->base[i->a], cell;
    f->base[i->a].tag = V_UNBOUND;
    TSR_TRY(cell_new(&cell, content));
    f->base[i->a] = cell;
    return TSR_OK;
}

static TsrStatus load_global(Frame *f, const Ins *i, const Value *global) {
    if (global == NULL) return exc_status();
    slot_set_move(&f->base[i->a], value_retain(*global));
    return TSR_OK;
}

static TsrStatus unbound_free(const Frame *f, int index) {
    return tsr_error(TSR_NAME_ERROR,
                     "cannot access free variable '%s' where it is not associated with a value in enclosing scope",
                     f->code->flags & CODE_EVAL ? f->fn->code->captures[index].name : f->code->captures[index].name);
}

/* An empty cell is an error, but for one of the prelude's, which is filled when it is first read, and in eval. */
static TsrStatus op_load_empty_free(Frame *f, const Ins *i) {
    Value v;
    if (f->flags & FRAME_LENT) return load_global(f, i, globals_named(f->fn->code->captures[i->c].name));
    if (!source_is_prelude(f->code->source)) return unbound_free(f, i->c);
    TSR_TRY(prelude_fill_cell(&v, f->code->source, f->fn->code->captures[i->c].name));
    slot_set_move(&f->base[i->a], v);
    return TSR_OK;
}

static TsrStatus op_store_cell(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->b));
    value_set_move(&value_as_cell(f->base[i->a])->value, v);
    return TSR_OK;
}

static TsrStatus op_store_free(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->a));
    value_set_move(&f->fn->cells[i->c]->value, v);
    return TSR_OK;
}

static TsrStatus op_delete_cell(Cell *cell) {
    value_clear(&cell->value);
    return TSR_OK;
}

static TsrStatus op_store_global(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->a));
    value_set_move(&vm.globals[i->k], v);
    return TSR_OK;
}

static TsrStatus op_delete_global(const Ins *i) {
    Value *slot = &vm.globals[i->k];
    if (slot->tag == V_UNBOUND) {
        return tsr_error(TSR_NAME_ERROR, "name '%s' is not defined", vm.global_names[globals_number((int)i->k)]->data);
    }
    value_clear(slot);
    return TSR_OK;
}

static TsrStatus op_delete_local(Frame *f, const Ins *i) {
    Value *slot = &f->base[i->a];
    if (slot->tag == V_UNBOUND) return unbound_local(f, i->a);
    slot_clear(slot);
    return TSR_OK;
}

static TsrStatus op_check(const Frame *f, const Ins *i) { return peek(f, i->a) != NULL ? TSR_OK : exc_status(); }

/* --- errors and contexts --- */

Value frame_handled(const Frame *f) {
    for (; f != NULL; f = f->prev) {
        const Code *code = f->code;
        int at = (int)(f->pc - code->ins) - 1;
        for (int k = 0; k < code->handled_count; k++) {
            const HandledRegion *r = &code->handled[k];
            if (at >= r->start && at < r->end && value_is_exc(f->base[r->slot])) return f->base[r->slot];
        }
    }
    return VALUE_UNBOUND;
}

static TsrStatus op_raise(Frame *f, const Ins *i) {
    Value operand, cause = VALUE_UNBOUND;
    TSR_TRY(slot_take(&operand, f, i->b));
    TsrStatus status = i->x & 2 ? slot_take(&cause, f, i->c) : TSR_OK;
    if (status == TSR_OK) status = exc_raise_operand(operand, cause);
    value_release(cause);
    value_release(operand);
    return status;
}

static TsrStatus op_assert(Frame *f, const Ins *i) {
    if (i->x == 0) return tsr_error(TSR_ASSERTION_ERROR, "%s", "");
    Value message;
    TSR_TRY(slot_take(&message, f, i->b));
    TsrStatus status = exc_raise_value(TSR_ASSERTION_ERROR, message);
    value_release(message);
    return status;
}

/* Method `name` of a context manager; the caller's. It is its type's, as Python has it: no_grad itself, which was not
 * called, has none. */
static TsrStatus context_method(Value *out, Value manager, const char *name, const char *complaint) {
    Str *s = str_intern_c(name);
    if (s == NULL) return TSR_MEMORY_ERROR;
    *out = VALUE_UNBOUND;
    if (!value_is_obj(manager, &type_type)) TSR_TRY(value_lookup_attr(out, manager, s));
    if (out->tag != V_UNBOUND) return TSR_OK;
    return tsr_error(TSR_TYPE_ERROR, "'%s' object does not support the context manager protocol%s",
                     value_type_name(manager), complaint);
}

static TsrStatus op_enter(Frame *f, const Ins *i) {
    Value manager = f->base[i->a], enter, exit, r;
    TSR_TRY(context_method(&enter, manager, "__enter__", ""));
    TsrStatus status = context_method(&exit, manager, "__exit__", " (missed __exit__ method)");
    if (status == TSR_OK) {
        value_release(exit);
        status = value_call_n(&r, enter, 0, NULL);
    }
    value_release(enter);
    TSR_TRY(status);
    slot_set_move(&f->base[i->b], r);
    return TSR_OK;
}

static TsrStatus call_exit(Value *out, Value manager, Value exception) {
    Value method, args[3] = {VALUE_NONE, VALUE_NONE, VALUE_NONE};
    TSR_TRY(context_method(&method, manager, "__exit__", ""));
    if (exception.tag != V_UNBOUND) {
        args[0] = value_lent(value_type(exception));
        args[1] = exception;
        args[2] = value_exc(exception)->trace.tag == V_UNBOUND ? VALUE_NONE : value_exc(exception)->trace;
    }
    TsrStatus status = value_call_n(out, method, 3, args);
    value_release(method);
    return status;
}

static TsrStatus op_exit(Frame *f, const Ins *i) {
    Value manager = f->base[i->a], r;
    f->base[i->a].tag = V_UNBOUND;
    TsrStatus status = call_exit(&r, manager, VALUE_UNBOUND);
    value_release(manager);
    if (status == TSR_OK) value_release(r);
    return status;
}

static TsrStatus op_exit_error(Frame *f, const Ins *i) {
    Value manager = f->base[i->a], r;
    bool swallow = false;
    f->base[i->a].tag = V_UNBOUND;
    TsrStatus status = call_exit(&r, manager, f->base[i->b]);
    value_release(manager);
    TSR_TRY(status);
    status = value_truth(&swallow, r);
    value_release(r);
    TSR_TRY(status);
    f->base[i->a] = value_bool(swallow);
    return TSR_OK;
}

/* --- text --- */

static TsrStatus op_format(Frame *f, const Ins *i) {
    bool with_spec = i->x & FORMAT_SPEC;
    const Value *v = peek(f, i->b), *spec = with_spec ? peek(f, i->c) : NULL;
    if (v == NULL || (with_spec && spec == NULL)) return exc_status();
    Value r;
    if (!with_spec && value_is_str(*v) && (i->x == 0 || i->x == 's')) {
        TSR_TRY(slot_take(&r, f, i->b));
        slot_set_move(&f->base[i->a], r);
        return TSR_OK;
    }
    TsrText text = {0};
    const char *chars = with_spec ? value_as_str(*spec)->data : "";
    size_t size = with_spec ? (size_t)value_as_str(*spec)->size : 0;
    TsrStatus status = value_format_field(&text, *v, i->x & 127, chars, size);
    if (status != TSR_OK) {
        tsr_text_free(&text);
        return status;
    }
    TSR_TRY(str_new_text_move(&r, &text));
    if (with_spec) slot_used(f, i->c);
    slot_used(f, i->b);
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus op_join(Frame *f, const Ins *i) {
    Value *parts = &f->base[i->b];
    int64_t size = 0;
    for (int k = 0; k < i->c; k++) {
        if (tsr_add_overflows(size, value_as_str(parts[k])->size, &size)) return mem_error();
    }
    Str *s = str_new_raw(size);
    if (s == NULL) return TSR_MEMORY_ERROR;
    char *p = s->data;
    for (int k = 0; k < i->c; k++) {
        const Str *part = value_as_str(parts[k]);
        memcpy(p, part->data, (size_t)part->size);
        p += part->size;
    }
    str_finish(s);
    slots_clear(parts, i->c);
    slot_set_move(&f->base[i->a], value_obj_move(s));
    return TSR_OK;
}

/* --- modules --- */

static TsrStatus op_import(Frame *f, const Ins *i) {
    const char *name = value_as_str(f->code->consts[i->k])->data;
    Value r;
    TSR_TRY(module_import(&r, name));
    if (i->x) {
        value_release(r);
        char first[128];
        snprintf(first, sizeof first, "%.*s", (int)TSR_MIN(strcspn(name, "."), sizeof first - 1), name);
        TSR_TRY(module_import(&r, first));
    }
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus op_import_from(Frame *f, const Ins *i) {
    Value module = f->base[i->b], r;
    Str *name = name_const(f, i->c);
    TSR_TRY(value_lookup_attr(&r, module, name));
    if (r.tag == V_UNBOUND) {
        const char *owner = value_is_obj(module, &module_type) ? value_as_module(module)->name->data : "?";
        char full[256];
        snprintf(full, sizeof full, "%s.%s", owner, name->data);
        TsrStatus status = module_import(&r, full);
        if (status != TSR_OK) {
            exc_discard(status);
            tsr_error(TSR_IMPORT_ERROR, "cannot import name '%s' from '%s' (unknown location)", name->data, owner);
            hint_attribute(module, name->data);
            return TSR_IMPORT_ERROR;
        }
    }
    slot_set_move(&f->base[i->a], r);
    return TSR_OK;
}

static TsrStatus display_default(Value v) {
    if (value_is_none(v)) return TSR_OK;
    TsrText text = {0};
    TsrStatus status = value_repr(&text, v);
    if (status == TSR_OK) fprintf(stdout, "%s\n", text.data);
    tsr_text_free(&text);
    return status;
}

TsrStatus (*vm_display)(Value v) = display_default;

static TsrStatus op_show(Frame *f, const Ins *i) {
    Value v;
    TSR_TRY(slot_take(&v, f, i->b));
    TsrStatus status = vm_display(v);
    value_release(v);
    return status;
}

TsrStatus (*vm_line)(void);

TsrStatus ins_other(Frame *f, const Ins *i) {
    switch (i->op) {
    case INS_LOADCELL: return load_global(f, i, frame_name(f, i->b));
    case INS_LOADFREE: return op_load_empty_free(f, i);
    case INS_STOREG: return op_store_global(f, i);
    case INS_DELG: return op_delete_global(i);
    case INS_MAKECELL: return op_make_cell(f, i);
    case INS_STORECELL: return op_store_cell(f, i);
    case INS_STOREFREE: return op_store_free(f, i);
    case INS_DELCELL:
        if (value_as_cell(f->base[i->a])->value.tag == V_UNBOUND) return unbound_local(f, i->a);
        return op_delete_cell(value_as_cell(f->base[i->a]));
    case INS_DELFREE:
        if (f->fn->cells[i->c]->value.tag == V_UNBOUND) return unbound_free(f, i->c);
        return op_delete_cell(f->fn->cells[i->c]);
    case INS_DELLOCAL: return op_delete_local(f, i);
    case INS_CHECK: return op_check(f, i);
    case INS_ITER: return op_iter(f, i);
    case INS_LIST:
    case INS_TUPLE:
    case INS_SET:
    case INS_DICT: return op_display(f, i);
    case INS_APPEND: return op_append(f, i);
    case INS_EXTEND:
    case INS_SETADD:
    case INS_SETUPDATE:
    case INS_DICTUPDATE: return op_gather(f, i);
    case INS_DICTADD: return op_dict_add(f, i);
    case INS_KWADD: return ins_keyword_add(f, i);
    case INS_KWMERGE: return ins_keyword_merge(f, i);
    case INS_ARGEXTEND: return ins_argument_extend(f, i);
    case INS_LISTTUPLE: return op_list_to_tuple(f, i);
    case INS_SLICE: return op_slice(f, i);
    case INS_UNPACK:
    case INS_UNPACKSTAR: return op_unpack(f, i);
    case INS_DELITEM: return op_delete_item(f, i);
    case INS_SETATTR: return op_set_attr(f, i);
    case INS_DELATTR: return op_delete_attr(f, i);
    case INS_FUNCTION: return ins_function(f, i);
    case INS_RAISE: return op_raise(f, i);
    case INS_RAISEASSERT: return op_assert(f, i);
    case INS_ENTER: return op_enter(f, i);
    case INS_EXIT: return op_exit(f, i);
    case INS_EXITERROR: return op_exit_error(f, i);
    case INS_FORMAT: return op_format(f, i);
    case INS_JOIN: return op_join(f, i);
    case INS_IMPORT: return op_import(f, i);
    case INS_IMPORTFROM: return op_import_from(f, i);
    case INS_IMPORTSTAR: return import_star(f->base[i->a]);
    case INS_DISPLAY: return op_show(f, i);
    case INS_LINE: return vm_line != NULL ? vm_line() : TSR_OK;
    default: return tsr_error(TSR_SYSTEM_ERROR, "unknown opcode");
    }
}
