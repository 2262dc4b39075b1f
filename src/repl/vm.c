/* The loop of the evaluator. The quick cases of instructions are here, the rest is in vm_ops.c. */
#include "bind.h"
#include "lazy.h"
#include "num_obj.h"
#include "vm_internal.h"

#include <math.h>

Vm vm;

#define SLOT_A (&R[i->a])
#define SLOT_B (&R[i->b])
#define SLOT_C (&R[i->c])
#define CONST_B (&K[i->b])
#define CONST_C (&K[i->c])
#define JUMP_OFFSET (i->head >> 8)

#define NEXT \
    do { \
        i = pc++; \
        goto *labels[i->op]; \
    } while (0)
#define CASE(name) do_##name:
/* Runs something that may fail or look at the frame. */
#define TRY(expression) \
    do { \
        f->pc = pc; \
        status = (expression); \
        if (TSR_UNLIKELY(status != TSR_OK)) goto error; \
    } while (0)
#define POLL() \
    do { \
        if (TSR_UNLIKELY((tsr_interrupt_flag | vm.turns) != 0)) goto interrupted; \
    } while (0)
/* A slot was often written field by field just before: a load of both fields at once would wait for the stores. */
static inline Value load(const Value *slot) {
    Value v;
    v.tag = slot->tag;
    v.i = slot->i;
    return v;
}

#define SET_INT(slot, value) slot_set_move(slot, value_int(value))
#define SET_FLOAT(slot, value) slot_set_move(slot, value_float(value))

/* Both ints: checked arithmetic; both floats: plain; else, and on overflow, the general way. */
#define ARITHMETIC(name, X, Y, overflows, operator, slow) \
    CASE(name) { \
        const Value *x = X, *y = Y; \
        if (TSR_LIKELY(x->tag == V_INT && y->tag == V_INT)) { \
            int64_t r; \
            if (TSR_LIKELY(!overflows(x->i, y->i, &r))) { \
                SET_INT(SLOT_A, r); \
                NEXT; \
            } \
        } else if (TSR_LIKELY(x->tag == V_FLOAT && y->tag == V_FLOAT)) { \
            SET_FLOAT(SLOT_A, x->f operator y->f); \
            NEXT; \
        } \
        goto slow; \
    }
#define ARITHMETIC3(name, overflows, operator) \
    ARITHMETIC(name##_RR, SLOT_B, SLOT_C, overflows, operator, binary) \
    ARITHMETIC(name##_RK, SLOT_B, CONST_C, overflows, operator, binary) \
    ARITHMETIC(name##_KR, CONST_B, SLOT_C, overflows, operator, binary)
#define ARITHMETIC_INPLACE(name, overflows, operator) \
    ARITHMETIC(I##name##_RR, SLOT_B, SLOT_C, overflows, operator, inplace) \
    ARITHMETIC(I##name##_RK, SLOT_B, CONST_C, overflows, operator, inplace)

/* Ints that are doubles exactly: their quotient then has one rounding. */
#define IS_EXACT(v) ((v)->i <= ((int64_t)1 << 53) && (v)->i >= -((int64_t)1 << 53))
#define DIVISION(name, X, Y) \
    CASE(name) { \
        const Value *x = X, *y = Y; \
        if (x->tag == V_FLOAT && y->tag == V_FLOAT && y->f != 0.0) { \
            SET_FLOAT(SLOT_A, x->f / y->f); \
            NEXT; \
        } \
        if (x->tag == V_INT && y->tag == V_INT && y->i != 0 && IS_EXACT(x) && IS_EXACT(y)) { \
            SET_FLOAT(SLOT_A, (double)x->i / (double)y->i); \
            NEXT; \
        } \
        goto binary; \
    }
#define INT_DIVISION(name, X, Y, expression) \
    CASE(name) { \
        const Value *x = X, *y = Y; \
        if (x->tag == V_INT && y->tag == V_INT && y->i > 0) { \
            int64_t q = x->i / y->i, m = x->i % y->i; \
            (void)q; \
            (void)m; \
            SET_INT(SLOT_A, expression); \
            NEXT; \
        } \
        goto binary; \
    }

#define COMPARE_JUMP(name, Y, operator, sense) \
    CASE(name) { \
        const Value *x = SLOT_B, *y = Y; \
        bool yes; \
        if (TSR_LIKELY(x->tag == V_INT && y->tag == V_INT)) yes = x->i operator y->i; \
        else if (x->tag == V_FLOAT && y->tag == V_FLOAT) yes = x->f operator y->f; \
        else TRY(ins_compare_jump(&yes, f, i)); \
        if (yes == sense) { \
            pc += JUMP_OFFSET; \
            POLL(); \
        } \
        NEXT; \
    }
#define COMPARE_JUMPS(name, operator) \
    COMPARE_JUMP(JT_##name##_RR, SLOT_C, operator, true) \
    COMPARE_JUMP(JT_##name##_RK, CONST_C, operator, true) \
    COMPARE_JUMP(JF_##name##_RR, SLOT_C, operator, false) \
    COMPARE_JUMP(JF_##name##_RK, CONST_C, operator, false)

#define TRUTH(yes, slot) \
    do { \
        const Value *v_ = &R[slot]; \
        if (TSR_LIKELY(v_->tag == V_BOOL)) yes = v_->b; \
        else if (v_->tag == V_INT) yes = v_->i != 0; \
        else TRY(ins_truth(&yes, f, slot)); \
    } while (0)

/* Finds where an error at `pc` of frame f goes. Empties what the code on the way would have. NULL: out of the frame. */
static const Handler *find_handler(Frame *f) {
    const Code *code = f->code;
    int at = (int)(f->pc - code->ins) - 1;
    for (int k = 0; k < code->handler_count; k++) {
        const Handler *h = &code->handlers[k];
        if (at < h->start || at >= h->end) continue;
        if (h->target >= 0) return h;
        slots_clear(&f->base[h->slot], h->count);
    }
    return NULL;
}

/* Slots from `slot` to the end of the frame's temporaries hold nothing that outlives an error. */
static void clear_from(Frame *f, int slot) {
    slots_clear(&f->base[slot], f->code->frame_size - slot);
}

/* The generator in the loop's slot when FORNEXT may enter its frame directly. */
static Generator *loop_generator(const Value *slot) {
    if (!value_is_obj(*slot, &generator_type)) return NULL;
    Generator *g = (Generator *)slot->o;
    return g->state == GEN_NEW || g->state == GEN_SUSPENDED ? g : NULL;
}

TsrStatus vm_loop(Value *out, Frame *entry, TsrStatus raise) {
    static const void *const labels[INS_COUNT] = {
#define OP(name, format, meaning) [INS_##name] = &&do_##name,
#include "opcode.def"
#undef OP
    };
    Frame *f = entry;
    Value *R = f->base;
    const Value *K = f->code->consts;
    const Ins *pc = f->pc, *i = pc;
    TsrStatus status = raise;
    Value exception, value, result = VALUE_UNBOUND;
    if (status != TSR_OK) goto error;
    NEXT;

    /* --- moving --- */
    CASE(MOVE) {
        const Value *v = SLOT_B;
        if (TSR_UNLIKELY(v->tag == V_UNBOUND)) {
            f->pc = pc;
            v = frame_name(f, i->b);
            if (v == NULL) goto failed;
        }
        slot_set_move(SLOT_A, value_retain(load(v)));
        NEXT;
    }
    CASE(COPIED) {
        if (TSR_UNLIKELY(SLOT_A->tag == V_OBJ && SLOT_A->o->type->copied != NULL)) {
            f->pc = pc;
            SLOT_A->o->type->copied(*SLOT_A);
        }
        NEXT;
    }
    CASE(TAKE) {
        Value v = load(SLOT_B);
        SLOT_B->tag = V_UNBOUND;
        slot_set_move(SLOT_A, v);
        NEXT;
    }
    CASE(LOADK) {
        slot_set_move(SLOT_A, value_retain(K[i->k]));
        NEXT;
    }
    CASE(LOADG) {
        const Value *v = &vm.globals[i->k];
        if (TSR_UNLIKELY(v->tag == V_UNBOUND)) {
            f->pc = pc;
            v = globals_builtin(globals_number((int)i->k));
            if (v == NULL) goto failed;
        }
        slot_set_move(SLOT_A, value_retain(load(v)));
        NEXT;
    }
    CASE(LOADCELL) {
        Value v = value_as_cell(*SLOT_B)->value;
        if (TSR_UNLIKELY(v.tag == V_UNBOUND)) goto other;
        slot_set_move(SLOT_A, value_retain(v));
        NEXT;
    }
    CASE(LOADFREE) {
        Value v = f->fn->cells[i->c]->value;
        if (TSR_UNLIKELY(v.tag == V_UNBOUND)) goto other;
        slot_set_move(SLOT_A, value_retain(v));
        NEXT;
    }
    CASE(CLEAR) {
        slots_clear(SLOT_A, i->c);
        NEXT;
    }

    /* --- arithmetic --- */
    ARITHMETIC3(ADD, tsr_add_overflows, +)
    ARITHMETIC3(SUB, tsr_sub_overflows, -)
    ARITHMETIC3(MUL, tsr_mul_overflows, *)
    ARITHMETIC_INPLACE(ADD, tsr_add_overflows, +)
    ARITHMETIC_INPLACE(SUB, tsr_sub_overflows, -)
    ARITHMETIC_INPLACE(MUL, tsr_mul_overflows, *)
    DIVISION(DIV_RR, SLOT_B, SLOT_C)
    DIVISION(DIV_RK, SLOT_B, CONST_C)
    DIVISION(DIV_KR, CONST_B, SLOT_C)
    INT_DIVISION(FLOORDIV_RR, SLOT_B, SLOT_C, q - (m < 0))
    INT_DIVISION(FLOORDIV_RK, SLOT_B, CONST_C, q - (m < 0))
    INT_DIVISION(MOD_RR, SLOT_B, SLOT_C, m < 0 ? m + y->i : m)
    INT_DIVISION(MOD_RK, SLOT_B, CONST_C, m < 0 ? m + y->i : m)
    CASE(BINARY)
binary:
    TRY(ins_binary(f, i, false));
    NEXT;
    CASE(INPLACE)
inplace:
    TRY(ins_binary(f, i, true));
    NEXT;
    CASE(UNARY) {
        TRY(ins_unary(f, i));
        NEXT;
    }
    CASE(COMPARE) {
        const Value *x = i->x & BINARY_KB ? CONST_B : SLOT_B, *y = i->x & BINARY_KC ? CONST_C : SLOT_C;
        if (x->tag == V_INT && y->tag == V_INT && (i->x & 15) <= CMP_GE) {
            bool less = x->i < y->i, equal = x->i == y->i, yes[] = {equal, !equal, less, less || equal, !less && !equal, !less};
            slot_set_move(SLOT_A, value_bool(yes[i->x & 15]));
            NEXT;
        }
        TRY(ins_compare(f, i));
        NEXT;
    }

    COMPARE_JUMPS(EQ, ==)
    COMPARE_JUMPS(NE, !=)
    COMPARE_JUMPS(LT, <)
    COMPARE_JUMPS(LE, <=)
    COMPARE_JUMPS(GT, >)
    COMPARE_JUMPS(GE, >=)

    /* --- jumps --- */
    CASE(JUMP) {
        pc += JUMP_OFFSET;
        NEXT;
    }
    CASE(LOOP) {
        pc += JUMP_OFFSET;
        POLL();
        NEXT;
    }
    CASE(JT) {
        bool yes;
        TRUTH(yes, i->b);
        if (yes) {
            pc += JUMP_OFFSET;
            POLL();
        }
        NEXT;
    }
    CASE(JF) {
        bool yes;
        TRUTH(yes, i->b);
        if (!yes) {
            pc += JUMP_OFFSET;
            POLL();
        }
        NEXT;
    }
    CASE(JKEEPT) {
        bool yes = SLOT_B->i != 0;
        if (SLOT_B->tag != V_BOOL) TRY(value_truth(&yes, *SLOT_B));
        if (yes) pc += JUMP_OFFSET;
        else slot_clear(SLOT_B);
        NEXT;
    }
    CASE(JKEEPF) {
        bool yes = SLOT_B->i != 0;
        if (SLOT_B->tag != V_BOOL) TRY(value_truth(&yes, *SLOT_B));
        if (!yes) pc += JUMP_OFFSET;
        else slot_clear(SLOT_B);
        NEXT;
    }
    CASE(JNONE)
    CASE(JNOTNONE) {
        if (TSR_UNLIKELY(SLOT_B->tag == V_UNBOUND)) {
            f->pc = pc;
            const Value *v = frame_name(f, i->b);
            if (v == NULL) goto failed;
            value = *v;
        } else {
            value = *SLOT_B;
        }
        bool none = value.tag == V_NONE;
        slot_used(f, i->b);
        if (none == (i->op == INS_JNONE)) {
            pc += JUMP_OFFSET;
            POLL();
        }
        NEXT;
    }
    CASE(JSELECT) {
        if (SLOT_B->i == i->c) pc += JUMP_OFFSET;
        NEXT;
    }
    CASE(FORPREP) {
        TRY(ins_for_prepare(f, i->a));
        NEXT;
    }
    CASE(FORNEXT) {
        Value *it = SLOT_B;
        if (it->tag == V_INT) { /* a range: next value, how many are left, step */
            if (it[1].i > 0) {
                it[1].i--;
                SET_INT(SLOT_C, it->i);
                it->i = (int64_t)((uint64_t)it->i + (uint64_t)it[2].i);
                pc += JUMP_OFFSET;
                POLL();
            }
            NEXT;
        }
        if (it[1].tag == V_INT && value_is_list(*it)) {
            const List *list = value_as_list(*it);
            if (TSR_LIKELY(it[1].i < list->count)) {
                slot_set_move(SLOT_C, value_retain(load(&list->items[it[1].i++])));
                pc += JUMP_OFFSET;
                POLL();
            } else {
                slot_clear(it);
            }
            NEXT;
        }
        Generator *g = loop_generator(it);
        if (g != NULL) {
            f->pc = pc;
            status = recursion_enter("");
            if (status != TSR_OK) goto error;
            Frame *inner = &g->frame;
            if (g->state == GEN_SUSPENDED) slot_set_move(generator_sent(g), VALUE_NONE);
            g->state = GEN_RUNNING;
            inner->prev = f;
            inner->flags = FRAME_SPECIAL;
            vm.frame = f = inner;
            goto enter;
        }
        bool more;
        TRY(ins_for_next(&more, f, i));
        if (more) {
            pc += JUMP_OFFSET;
            POLL();
        }
        NEXT;
    }

    /* --- items and attributes --- */
    CASE(GETITEM_RR) {
        const Value *v = SLOT_B, *k = SLOT_C;
        if (TSR_LIKELY(k->tag == V_INT && value_is_list(*v))) {
            const List *list = value_as_list(*v);
            int64_t at = k->i;
            if (at < 0) at += list->count;
            if (TSR_LIKELY((uint64_t)at < (uint64_t)list->count && i->b < f->code->first_temp)) {
                slot_set_move(SLOT_A, value_retain(load(&list->items[at])));
                NEXT;
            }
        }
        TRY(ins_getitem(f, i));
        NEXT;
    }
    CASE(GETITEM_RK) {
        TRY(ins_getitem(f, i));
        NEXT;
    }
    CASE(SETITEM_RR)
    CASE(SETITEM_RK) {
        const Value *v = SLOT_A, *k = SLOT_B;
        if (TSR_LIKELY(k->tag == V_INT && value_is_list(*v) && i->a < f->code->first_temp)) {
            List *list = value_as_list(*v);
            int64_t at = k->i;
            if (at < 0) at += list->count;
            const Value *item = i->op == INS_SETITEM_RK ? CONST_C : SLOT_C;
            if (TSR_LIKELY((uint64_t)at < (uint64_t)list->count && !is_counted(*item) && item->tag != V_UNBOUND)) {
                slot_set_move(&list->items[at], *item);
                NEXT;
            }
        }
        TRY(ins_setitem(f, i));
        NEXT;
    }
    CASE(SETITEM_KR) {
        TRY(ins_setitem(f, i));
        NEXT;
    }
    CASE(GETATTR) {
        pc += 2;
        const Value *v = SLOT_B;
        if (TSR_LIKELY(v->tag >= V_TENSOR && (uintptr_t)value_type(*v) == i[1].word)) {
            TRY(((const Getter *)(uintptr_t)i[2].word)->get(&value, *v));
            slot_used(f, i->b);
            slot_set_move(SLOT_A, value);
            NEXT;
        }
        TRY(ins_getattr(f, i));
        NEXT;
    }
    CASE(METHOD) {
        pc += 2;
        const Value *v = SLOT_B;
        if (TSR_LIKELY(v->tag >= V_TENSOR && (uintptr_t)value_type(*v) == i[1].word)) {
            Value *w = SLOT_A;
            if (i->b >= f->code->first_temp) {
                w[1] = *v;
                SLOT_B->tag = V_UNBOUND;
            } else {
                w[1] = value_retain(*v);
            }
            w[0] = value_obj_move(obj_retain((void *)(uintptr_t)i[2].word));
            NEXT;
        }
        TRY(ins_method(f, i));
        NEXT;
    }

    /* --- calls --- */
    CASE(CALLWAIT) {
        bool done;
        TRY(ins_call_wait(&done, f, i));
        if (done) NEXT;
        goto do_CALL;
    }
    CASE(SUM) {
        TRY(lazy_sum(SLOT_A, i->x));
        NEXT;
    }
    CASE(CALL) {
        Value *w = SLOT_A;
        if (TSR_LIKELY(value_is_function(*w))) {
            Function *fn = value_as_function(*w);
            Code *code = fn->code;
            Value *base = w + 1;
            Frame *inner = vm.free_frame;
            f->pc = pc;
            if (TSR_UNLIKELY((tsr_interrupt_flag | vm.turns) != 0 || !(code->flags & CODE_SIMPLE) || code->positional != i->b || (uintptr_t)(base + code->frame_size) > (uintptr_t)f->limit ||
                             inner == NULL || recursion_depth >= recursion_limit)) {
                goto call_slowly;
            }
            for (int k = i->b; k < code->slot_count; k++) base[k].tag = V_UNBOUND;
            recursion_depth++;
            vm.free_frame = inner->above;
            inner->base = base;
            inner->code = code;
            inner->fn = fn;
            inner->limit = f->limit;
            inner->gen = NULL;
            inner->prev = f;
            inner->ret = SLOT_C;
            inner->flags = 0;
            w->tag = V_UNBOUND; /* the frame owns the function now */
            vm.frame = f = inner;
            R = base;
            K = code->consts;
            pc = code->ins;
            NEXT;
        }
        goto call_native;
    }
call_slowly: {
    CallArgs args = {R + i->a + 1, i->b, 0, NULL, false};
    if (!(value_as_function(R[i->a])->code->flags & CODE_GENERATOR)) {
        Frame *inner = call_frame(value_as_function(R[i->a]), &args);
        if (inner == NULL) goto failed;
        inner->ret = SLOT_C;
        slots_clear(SLOT_A, i->b + 1);
        vm.frame = f = inner;
        goto enter;
    }
}
call_native: {
    Value *w = SLOT_A;
    CallArgs args = {w + 1, i->b, 0, NULL, bind_is_operator(*w)};
    value = VALUE_UNBOUND;
    if (TSR_LIKELY(w->tag == V_OBJ && w->o->type->call != NULL)) TRY(w->o->type->call(&value, *w, &args));
    else TRY(value_call(&value, *w, &args));
    slots_clear(w, i->b + 1);
    slot_set_move(SLOT_C, value);
    NEXT;
}
    CASE(CALLMETHOD) {
        Value *w = SLOT_A;
        bool with_self = w[1].tag != V_UNBOUND;
        CallArgs args = {with_self ? w + 1 : w + 2, i->b + with_self, 0, NULL, bind_is_operator(*w)};
        value = VALUE_UNBOUND;
        if (TSR_LIKELY(with_self && value_is_obj(*w, &method_descriptor_type))) { /* found by the type of its self */
            const Native *n = (const Native *)w->o;
            TRY(native_invoke(&value, n->def, &args, n->owner));
        } else if (TSR_LIKELY(w->tag == V_OBJ && w->o->type->call != NULL)) {
            TRY(w->o->type->call(&value, *w, &args));
        } else {
            TRY(value_call(&value, *w, &args));
        }
        slots_clear(w, i->b + 2);
        slot_set_move(SLOT_C, value);
        NEXT;
    }
    CASE(CALLKW)
    CASE(CALLEX) {
        Frame *inner;
        TRY(i->op == INS_CALLKW ? ins_call_keywords(&value, &inner, f, i) : ins_call_spread(&value, &inner, f, i));
        if (inner != NULL) {
            inner->ret = SLOT_A;
            vm.frame = f = inner;
            goto enter;
        }
        slot_set_move(SLOT_A, value);
        NEXT;
    }
    CASE(RETURNK) {
        result = value_retain(load(CONST_B));
        goto leave;
    }
    CASE(RETURN) {
        Value *v = SLOT_B;
        result = load(v);
        if (TSR_UNLIKELY(result.tag == V_UNBOUND || (f->flags & FRAME_SPECIAL))) {
            const Value *found = v;
            f->pc = pc;
            if (result.tag == V_UNBOUND && (found = frame_name(f, i->b)) == NULL) goto failed;
            result = value_retain(*found);
        } else {
            v->tag = V_UNBOUND;
        }
    }
leave:
    if (TSR_UNLIKELY(f->flags != 0)) goto leave_special;
    {
        Value *p = R, *end = R + f->code->slot_count;
        for (; p < end; p++) {
            if (is_counted(*p)) slot_clear(p);
        }
        if (TSR_UNLIKELY(i->c > 0)) slots_clear(end, i->c);
        Frame *inner = f;
        Function *fn = inner->fn;
        f = inner->prev;
        recursion_depth--;
        vm.free_frame = inner;
        vm.frame = f;
        slot_set_move(inner->ret, result);
        obj_release(fn);
    }
    goto resume;
leave_special: {
    if (f->gen != NULL) goto generator_end;
    frame_clear(f);
    Frame *inner = f;
    Function *fn = inner->fn;
    f = inner->prev;
    recursion_depth--;
    vm.free_frame = inner;
    vm.frame = f;
    if (inner->flags & FRAME_ENTRY) {
        if (fn != NULL) obj_release(fn);
        *out = result;
        return TSR_OK;
    }
    slot_set_move(inner->ret, result);
    obj_release(fn);
}
resume:
    R = f->base;
    K = f->code->consts;
    pc = f->pc;
    NEXT;
enter:
    R = f->base;
    K = f->code->consts;
    pc = f->pc;
    POLL();
    NEXT;

generator_end: {
    Generator *g = f->gen;
    Frame *inner = f;
    f = inner->prev;
    vm.frame = f;
    recursion_depth--;
    if (inner->flags & FRAME_ENTRY) {
        generator_done(g);
        *out = result;
        return TSR_OK;
    }
    value_release(result); /* a for loop does not look at what a generator returns */
    const Ins *loop = f->pc - 1;
    generator_done(g);
    slots_clear(&f->base[loop->b], 3);
    goto resume;
}
    CASE(YIELD) {
        const Value *v = SLOT_B;
        f->pc = pc;
        if (TSR_UNLIKELY(v->tag == V_UNBOUND) && (v = frame_name(f, i->b)) == NULL) goto failed;
        value = value_retain(*v);
        slot_used(f, i->b);
    }
yielded: {
    Frame *inner = f;
    inner->gen->state = GEN_SUSPENDED;
    f = inner->prev;
    vm.frame = f;
    recursion_depth--;
    if (inner->flags & FRAME_ENTRY) {
        *out = value;
        return TSR_OK;
    }
    inner->prev = NULL;
    R = f->base;
    K = f->code->consts;
    i = f->pc - 1;
    slot_set_move(&R[i->c], value);
    pc = f->pc + JUMP_OFFSET;
    POLL();
    NEXT;
}
    CASE(YIELDFROM) {
        Value sent = *SLOT_A, returned = VALUE_UNBOUND;
        SLOT_A->tag = V_UNBOUND;
        f->pc = pc;
        status = delegate_step(&value, &returned, *SLOT_B, sent, TSR_OK);
        value_release(sent);
        if (status != TSR_OK) goto error;
        if (value.tag != V_UNBOUND) {
            f->pc = pc - 1; /* the next step is this instruction again, with what is sent in R[a] */
            goto yielded;
        }
        slot_clear(SLOT_B);
        slot_set_move(SLOT_A, returned);
        NEXT;
    }

    /* --- errors --- */
    CASE(RERAISE) {
        f->pc = pc;
        exception = *SLOT_B;
        SLOT_B->tag = V_UNBOUND;
        goto unwind;
    }
    CASE(RAISE) {
        if (i->x == 0) {
            f->pc = pc;
            exception = frame_handled(f);
            if (exception.tag == V_UNBOUND) {
                status = tsr_error(TSR_RUNTIME_ERROR, "No active exception to reraise");
                goto error;
            }
            value_retain(exception);
            goto unwind;
        }
        goto other;
    }
    CASE(JNOMATCH) {
        bool match;
        const Value *type = SLOT_C;
        f->pc = pc;
        if (type->tag == V_UNBOUND && (type = frame_name(f, i->c)) == NULL) goto failed;
        TRY(exc_match_operand(&match, *SLOT_B, *type));
        slot_used(f, i->c);
        if (!match) pc += JUMP_OFFSET;
        NEXT;
    }

    /* --- what is never in a hurry --- */
    CASE(STOREG) CASE(DELG) CASE(MAKECELL) CASE(STORECELL) CASE(DELCELL) CASE(STOREFREE) CASE(DELFREE)
    CASE(DELLOCAL) CASE(CHECK) CASE(ITER) CASE(LIST) CASE(TUPLE) CASE(SET) CASE(DICT) CASE(APPEND) CASE(EXTEND) CASE(SETADD)
    CASE(SETUPDATE) CASE(DICTADD) CASE(DICTUPDATE) CASE(KWADD) CASE(KWMERGE) CASE(ARGEXTEND) CASE(LISTTUPLE) CASE(SLICE) CASE(UNPACK)
    CASE(UNPACKSTAR) CASE(DELITEM) CASE(SETATTR) CASE(DELATTR) CASE(FUNCTION) CASE(RAISEASSERT) CASE(ENTER) CASE(EXIT) CASE(EXITERROR)
    CASE(FORMAT) CASE(JOIN) CASE(IMPORT) CASE(IMPORTFROM) CASE(IMPORTSTAR) CASE(DISPLAY)
other:
    TRY(ins_other(f, i));
    NEXT;

interrupted:
    f->pc = pc;
    status = tsr_interrupt_flag != 0 ? tsr_interrupt_raise() : vm_end_turn();
    if (status != TSR_OK) goto error;
    i = pc++;
    goto *labels[i->op];
failed: /* the thread's last error says what */
    status = exc_pending().tag != V_UNBOUND ? TSR_RAISED : tsr_error_kind();
error:
    exception = trace_begin(status, f, frame_handled(f));
unwind:
    for (;;) {
        const Handler *h = find_handler(f);
        if (h != NULL) {
            clear_from(f, h->slot);
            f->base[h->slot] = exception;
            f->pc = f->code->ins + h->target;
            goto resume;
        }
        frame_clear(f);
        Frame *inner = f;
        uint32_t flags = inner->flags;
        f = inner->prev;
        vm.frame = f;
        if (inner->gen != NULL) {
            recursion_depth--;
            exception = generator_failed_move(inner->gen, exception);
        } else {
            frame_pop(inner);
        }
        if (flags & FRAME_ENTRY) return exc_raise_move(exception);
        trace_add(exception, f);
    }
}
