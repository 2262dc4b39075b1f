/* loop.c: the loop of the evaluator.
 *
 * It is one long function, because that is what makes it quick: the program counter, the slots and the constants stay
 * in registers from one instruction to the next, and each instruction ends with a jump of its own to the one after it,
 * which the processor learns to predict by what follows what. So that it can be read all the same, an instruction here
 * is a line or two: try the quick half (quick.h), else do the slow half (ops.c), go on. What stands here in full is
 * control: jumps, frames entered and left, errors. */
#include "lazy.h"
#include "lang/types/numbers.h"
#include "quick.h"

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
        if (vm_is_wanted()) goto interrupted; \
    } while (0)
/* Jumps when `yes`; backward, perhaps, so it looks whether somebody wants to interrupt. */
#define JUMP_IF(yes) \
    do { \
        if (yes) { \
            pc += JUMP_OFFSET; \
            POLL(); \
        } \
    } while (0)
/* The value of a slot that may be an unset name, which then means a builtin: sets v, a `const Value *`. */
#define NAME(v, slot) \
    do { \
        v = &R[slot]; \
        if (TSR_UNLIKELY(v->tag == V_UNBOUND)) { \
            f->pc = pc; \
            v = frame_name(f, slot); \
            if (v == NULL) goto failed; \
        } \
    } while (0)
/* Goes on in frame f at f->pc. */
#define LOAD_FRAME() (R = f->base, K = f->code->consts, pc = f->pc)
/* The quick half of an instruction, else its slow half. */
#define QUICK_OR(quick, slow) \
    do { \
        if (!(quick)) TRY(slow); \
        NEXT; \
    } while (0)

/* Both ints: checked arithmetic; both floats: plain; else, and on overflow, the general way. */
#define ARITHMETIC(name, X, Y, overflows, operator, slow) \
    CASE(name) \
    { \
        const Value *x = X, *y = Y; \
        if (TSR_LIKELY(x->tag == V_INT && y->tag == V_INT)) { \
            int64_t r; \
            if (TSR_LIKELY(!overflows(x->i, y->i, &r))) { \
                slot_set_move(SLOT_A, value_int(r)); \
                NEXT; \
            } \
        } else if (TSR_LIKELY(x->tag == V_FLOAT && y->tag == V_FLOAT)) { \
            slot_set_move(SLOT_A, value_float(x->f operator y->f)); \
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

#define DIVISION(name, X, Y, quick, ...) \
    CASE(name) \
    { \
        if (quick(SLOT_A, X, Y __VA_OPT__(, ) __VA_ARGS__)) NEXT; \
        goto binary; \
    }

#define COMPARE_JUMP(name, Y, operator, sense) \
    CASE(name) \
    { \
        const Value *x = SLOT_B, *y = Y; \
        bool yes; \
        if (TSR_LIKELY(x->tag == V_INT && y->tag == V_INT)) yes = x->i operator y->i; \
        else if (x->tag == V_FLOAT && y->tag == V_FLOAT) yes = x->f operator y->f; \
        else TRY(ins_compare_jump(&yes, f, i)); \
        JUMP_IF(yes == sense); \
        NEXT; \
    }
#define COMPARE_JUMPS(name, operator) \
    COMPARE_JUMP(JT_##name##_RR, SLOT_C, operator, true) \
    COMPARE_JUMP(JT_##name##_RK, CONST_C, operator, true) \
    COMPARE_JUMP(JF_##name##_RR, SLOT_C, operator, false) \
    COMPARE_JUMP(JF_##name##_RK, CONST_C, operator, false)

#define JUMP_ON(sense) \
    do { \
        const Value *v = SLOT_B; \
        bool yes; \
        if (TSR_LIKELY(v->tag == V_BOOL)) yes = v->b; \
        else if (v->tag == V_INT) yes = v->i != 0; \
        else TRY(ins_truth(&yes, f, i->b)); \
        JUMP_IF(yes == sense); \
        NEXT; \
    } while (0)
/* Jumps and leaves the value where it is, or gives it up and goes on. */
#define JUMP_KEEPING(sense) \
    do { \
        bool yes = SLOT_B->i != 0; \
        if (SLOT_B->tag != V_BOOL) TRY(value_truth(&yes, *SLOT_B)); \
        if (yes == sense) pc += JUMP_OFFSET; \
        else slot_clear(SLOT_B); \
        NEXT; \
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
static void clear_from(Frame *f, int slot) { slots_clear(&f->base[slot], f->code->frame_size - slot); }

/* The generator in the loop's slot when FORNEXT may enter its frame directly. */
static Generator *loop_generator(const Value *slot) {
    if (!value_is_obj(*slot, &generator_type)) return NULL;
    Generator *g = (Generator *)slot->o;
    return g->state == GEN_NEW || g->state == GEN_SUSPENDED ? g : NULL;
}

/* Goes on in the frame of a generator that a loop of frame f runs over. */
static Frame *generator_enter(Generator *g, Frame *f) {
    Frame *inner = &g->frame;
    if (g->state == GEN_SUSPENDED) slot_set_move(generator_sent(g), VALUE_NONE);
    g->state = GEN_RUNNING;
    inner->prev = f;
    inner->flags = FRAME_SPECIAL;
    return vm.frame = inner;
}

/* Takes an exception raised in f to whoever catches it, over frames that do not: the frame to go on in, or NULL when
 * the entry frame was left, and *exception is what its caller sees. */
static Frame *unwind(Frame *f, Value *exception) {
    for (;;) {
        const Handler *h = find_handler(f);
        if (h != NULL) {
            clear_from(f, h->slot);
            f->base[h->slot] = *exception;
            f->pc = f->code->ins + h->target;
            return f;
        }
        frame_clear(f);
        Frame *inner = f;
        uint32_t flags = inner->flags;
        vm.frame = f = inner->prev;
        if (inner->gen != NULL) {
            recursion_depth--;
            *exception = generator_failed_move(inner->gen, *exception);
        } else {
            frame_pop(inner);
        }
        if (flags & FRAME_ENTRY) return NULL;
        trace_add(*exception, f);
    }
}

TsrStatus vm_loop(Value *out, Frame *entry, TsrStatus raise) {
    static const void *const labels[INS_COUNT] = {
#define OP(name, format, meaning) [INS_##name] = &&do_##name,
#include "lang/compile/opcode.def"
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
    CASE(MOVE)
    {
        const Value *v;
        NAME(v, i->b);
        slot_set_move(SLOT_A, value_retain(slot_load(v)));
        NEXT;
    }
    CASE(COPIED)
    {
        if (TSR_LIKELY(SLOT_A->tag != V_OBJ || SLOT_A->o->type->copied == NULL)) NEXT;
        f->pc = pc;
        SLOT_A->o->type->copied(*SLOT_A);
        NEXT;
    }
    CASE(TAKE)
    {
        Value v = slot_load(SLOT_B);
        SLOT_B->tag = V_UNBOUND;
        slot_set_move(SLOT_A, v);
        NEXT;
    }
    CASE(LOADK)
    {
        slot_set_move(SLOT_A, value_retain(K[i->k]));
        NEXT;
    }
    CASE(LOADG)
    {
        const Value *v = &vm.globals[i->k];
        if (TSR_UNLIKELY(v->tag == V_UNBOUND)) {
            f->pc = pc;
            v = globals_builtin(globals_number((int)i->k));
            if (v == NULL) goto failed;
        }
        slot_set_move(SLOT_A, value_retain(slot_load(v)));
        NEXT;
    }
    CASE(LOADCELL)
    {
        Value v = value_as_cell(*SLOT_B)->value;
        if (TSR_UNLIKELY(v.tag == V_UNBOUND)) goto other;
        slot_set_move(SLOT_A, value_retain(v));
        NEXT;
    }
    CASE(LOADFREE)
    {
        Value v = f->fn->cells[i->c]->value;
        if (TSR_UNLIKELY(v.tag == V_UNBOUND)) goto other;
        slot_set_move(SLOT_A, value_retain(v));
        NEXT;
    }
    CASE(CLEAR)
    {
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
    DIVISION(DIV_RR, SLOT_B, SLOT_C, quick_divide)
    DIVISION(DIV_RK, SLOT_B, CONST_C, quick_divide)
    DIVISION(DIV_KR, CONST_B, SLOT_C, quick_divide)
    DIVISION(FLOORDIV_RR, SLOT_B, SLOT_C, quick_int_divide, false)
    DIVISION(FLOORDIV_RK, SLOT_B, CONST_C, quick_int_divide, false)
    DIVISION(MOD_RR, SLOT_B, SLOT_C, quick_int_divide, true)
    DIVISION(MOD_RK, SLOT_B, CONST_C, quick_int_divide, true)
    CASE(BINARY)
binary:
    TRY(ins_binary(f, i, false));
    NEXT;
    CASE(INPLACE)
inplace:
    TRY(ins_binary(f, i, true));
    NEXT;
    CASE(UNARY)
    QUICK_OR(false, ins_unary(f, i));
    CASE(COMPARE)
    {
        const Value *x = i->x & BINARY_KB ? CONST_B : SLOT_B, *y = i->x & BINARY_KC ? CONST_C : SLOT_C;
        QUICK_OR(quick_compare(SLOT_A, (CompareOp)(i->x & 15), x, y), ins_compare(f, i));
    }

    COMPARE_JUMPS(EQ, ==)
    COMPARE_JUMPS(NE, !=)
    COMPARE_JUMPS(LT, <)
    COMPARE_JUMPS(LE, <=)
    COMPARE_JUMPS(GT, >)
    COMPARE_JUMPS(GE, >=)

    /* --- jumps --- */
    CASE(JUMP)
    {
        pc += JUMP_OFFSET;
        NEXT;
    }
    CASE(LOOP)
    {
        JUMP_IF(true);
        NEXT;
    }
    CASE(JT)
    JUMP_ON(true);
    CASE(JF)
    JUMP_ON(false);
    CASE(JKEEPT)
    JUMP_KEEPING(true);
    CASE(JKEEPF)
    JUMP_KEEPING(false);
    CASE(JNONE)
    CASE(JNOTNONE)
    {
        const Value *v;
        NAME(v, i->b);
        bool none = v->tag == V_NONE;
        slot_used(f, i->b);
        JUMP_IF(none == (i->op == INS_JNONE));
        NEXT;
    }
    CASE(JSELECT)
    {
        if (SLOT_B->i == i->c) pc += JUMP_OFFSET;
        NEXT;
    }
    CASE(FORPREP)
    QUICK_OR(false, ins_for_prepare(f, i->a));
    CASE(FORNEXT)
    {
        Turn turn = quick_for_next(SLOT_B, SLOT_C);
        if (TSR_UNLIKELY(turn == TURN_OTHER)) goto for_slowly;
        JUMP_IF(turn == TURN_NEXT);
        NEXT;
    }
for_slowly : {
    Generator *g = loop_generator(SLOT_B);
    if (g != NULL) {
        TRY(recursion_enter(""));
        f = generator_enter(g, f);
        goto enter;
    }
    bool more;
    TRY(ins_for_next(&more, f, i));
    JUMP_IF(more);
    NEXT;
}

    /* --- items and attributes --- */
    CASE(GETITEM_RR)
    {
        const Value *item = quick_item(SLOT_B, SLOT_C);
        if (TSR_UNLIKELY(item == NULL || i->b >= f->code->first_temp)) goto getitem;
        slot_set_move(SLOT_A, value_retain(slot_load(item)));
        NEXT;
    }
    CASE(GETITEM_RK)
getitem:
    TRY(ins_getitem(f, i));
    NEXT;
    CASE(SETITEM_RR)
    CASE(SETITEM_RK)
    {
        Value *item = quick_item(SLOT_A, SLOT_B);
        const Value *v = i->op == INS_SETITEM_RK ? CONST_C : SLOT_C;
        if (TSR_UNLIKELY(item == NULL || i->a >= f->code->first_temp || is_counted(*v) || v->tag == V_UNBOUND))
            goto setitem;
        slot_set_move(item, *v);
        NEXT;
    }
    CASE(SETITEM_KR)
setitem:
    TRY(ins_setitem(f, i));
    NEXT;
    CASE(GETATTR)
    {
        pc += 2;
        if (!quick_knows(i, SLOT_B)) goto getattr;
        TRY(((const Getter *)(uintptr_t)i[2].word)->get(&value, *SLOT_B));
        slot_used(f, i->b);
        slot_set_move(SLOT_A, value);
        NEXT;
    }
getattr:
    TRY(ins_getattr(f, i));
    NEXT;
    CASE(METHOD)
    {
        pc += 2;
        if (quick_knows(i, SLOT_B)) quick_method(f, i, SLOT_A, SLOT_B);
        else TRY(ins_method(f, i));
        NEXT;
    }

    /* --- calls --- */
    CASE(CALLWAIT)
    {
        bool done;
        TRY(ins_call_wait(&done, f, i));
        if (done) NEXT;
        goto do_CALL;
    }
    CASE(SUM)
    QUICK_OR(false, lazy_sum(SLOT_A, i->x));
    CASE(CALL)
    {
        if (!value_is_function(*SLOT_A)) goto call_native;
        f->pc = pc;
        Frame *inner = quick_call(f, SLOT_A, i->b);
        if (TSR_UNLIKELY(inner == NULL)) goto call_slowly;
        inner->ret = SLOT_C;
        f = inner;
        R = f->base;
        K = f->code->consts;
        pc = f->code->ins;
        NEXT;
    }
call_slowly: /* a call that makes a generator enters no frame: it is like a native one */
    if (!(value_as_function(*SLOT_A)->code->flags & CODE_GENERATOR)) {
        CallArgs args = {SLOT_A + 1, i->b, 0, NULL, false};
        Frame *inner = call_frame(value_as_function(*SLOT_A), &args);
        if (inner == NULL) goto failed;
        inner->ret = SLOT_C;
        slots_clear(SLOT_A, i->b + 1);
        vm.frame = f = inner;
        goto enter;
    }
call_native : {
    CallArgs args = {SLOT_A + 1, i->b, 0, NULL, value_is_operator(*SLOT_A)};
    TRY(quick_call_value(&value, *SLOT_A, &args));
    slots_clear(SLOT_A, i->b + 1);
    slot_set_move(SLOT_C, value);
    NEXT;
}
    CASE(CALLMETHOD)
    {
        TRY(quick_call_method(&value, SLOT_A, i->b));
        slots_clear(SLOT_A, i->b + 2);
        slot_set_move(SLOT_C, value);
        NEXT;
    }
    CASE(CALLKW)
    CASE(CALLEX)
    {
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
enter:
    LOAD_FRAME();
    POLL();
    NEXT;

    /* --- the ways out of a frame --- */
    CASE(RETURNK)
    {
        result = value_retain(slot_load(CONST_B));
        goto leave;
    }
    CASE(RETURN)
    {
        const Value *v;
        NAME(v, i->b);
        result = slot_load(v);
        if (TSR_UNLIKELY(v != SLOT_B || (f->flags & FRAME_SPECIAL)))
            value_retain(result); /* a builtin, or a name that outlives the frame */
        else SLOT_B->tag = V_UNBOUND;
    }
leave:
    if (TSR_UNLIKELY(f->flags != 0)) goto leave_special;
    {
        slots_clear(R, f->code->slot_count);
        if (TSR_UNLIKELY(i->c > 0)) slots_clear(R + f->code->slot_count, i->c);
        Frame *inner = f;
        Function *fn = inner->fn;
        f = quick_pop(inner);
        slot_set_move(inner->ret, result);
        obj_release(fn);
    }
resume:
    LOAD_FRAME();
    NEXT;
leave_special : {
    if (f->gen != NULL) goto generator_end;
    frame_clear(f);
    Frame *inner = f;
    Function *fn = inner->fn;
    f = quick_pop(inner);
    if (inner->flags & FRAME_ENTRY) *out = result;
    else slot_set_move(inner->ret, result);
    if (fn != NULL) obj_release(fn);
    if (inner->flags & FRAME_ENTRY) return TSR_OK;
    goto resume;
}
generator_end : {
    Generator *g = f->gen;
    Frame *inner = f;
    vm.frame = f = inner->prev;
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
    CASE(YIELD)
    {
        const Value *v;
        NAME(v, i->b);
        f->pc = pc;
        value = value_retain(*v);
        slot_used(f, i->b);
    }
yielded : {
    Frame *inner = f;
    inner->gen->state = GEN_SUSPENDED;
    vm.frame = f = inner->prev;
    recursion_depth--;
    if (inner->flags & FRAME_ENTRY) {
        *out = value;
        return TSR_OK;
    }
    inner->prev = NULL;
    LOAD_FRAME();
    i = pc - 1; /* the loop's FORNEXT has its item */
    slot_set_move(SLOT_C, value);
    JUMP_IF(true);
    NEXT;
}
    CASE(YIELDFROM)
    {
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
    CASE(RERAISE)
    {
        f->pc = pc;
        exception = *SLOT_B;
        SLOT_B->tag = V_UNBOUND;
        goto unwind;
    }
    CASE(RAISE)
    {
        if (i->x != 0) goto other;
        f->pc = pc;
        exception = value_retain(frame_handled(f));
        if (exception.tag != V_UNBOUND) goto unwind;
        status = tsr_error(TSR_RUNTIME_ERROR, "No active exception to reraise");
        goto error;
    }
    CASE(JNOMATCH)
    {
        bool match;
        const Value *type;
        NAME(type, i->c);
        TRY(exc_match_operand(&match, *SLOT_B, *type));
        slot_used(f, i->c);
        if (!match) pc += JUMP_OFFSET;
        NEXT;
    }

    /* --- what is never in a hurry --- */
    CASE(STOREG)
    CASE(DELG)
    CASE(MAKECELL)
    CASE(STORECELL)
    CASE(DELCELL)
    CASE(STOREFREE)
    CASE(DELFREE)
    CASE(DELLOCAL)
    CASE(CHECK)
    CASE(ITER)
    CASE(LIST)
    CASE(TUPLE)
    CASE(SET)
    CASE(DICT)
    CASE(APPEND)
    CASE(EXTEND)
    CASE(SETADD)
    CASE(SETUPDATE)
    CASE(DICTADD)
    CASE(DICTUPDATE)
    CASE(KWADD)
    CASE(KWMERGE)
    CASE(ARGEXTEND)
    CASE(LISTTUPLE)
    CASE(SLICE)
    CASE(UNPACK)
    CASE(UNPACKSTAR)
    CASE(DELITEM)
    CASE(SETATTR)
    CASE(DELATTR)
    CASE(FUNCTION)
    CASE(RAISEASSERT)
    CASE(ENTER)
    CASE(EXIT)
    CASE(EXITERROR)
    CASE(FORMAT)
    CASE(JOIN)
    CASE(IMPORT)
    CASE(IMPORTFROM)
    CASE(IMPORTSTAR)
    CASE(DISPLAY)
    CASE(LINE)
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
    status = exc_status();
error:
    exception = trace_begin(status, f, frame_handled(f));
unwind:
    f = unwind(f, &exception);
    if (f == NULL) return exc_raise_move(exception);
    goto resume;
}
