/* call.c: frames, the stack of slots, and binding the arguments of language functions.
 *
 * A frame's slots are names first, then temporaries; they stand in chunks of CHUNK_SLOTS, and a call's arguments are
 * already where the callee's first slots will be, so that binding moves nothing unless there are defaults, keywords or
 * *args. Frames come from a chain that is kept, in the order of the stack. A thread that is put aside takes its chain,
 * chunks and depth with it (VmThread). Where C calls back into the language the C stack is measured, and a call too
 * deep is a RecursionError. */
#include "lang/object/hint.h"
#include "frame.h"

#include <string.h>
#include <sys/resource.h>

enum { FRAMES_AT_ONCE = 32, CHUNK_SLOTS = 8192 };

/* --- the C stack, which calls use that go through C: a key function of sorted, a generator in sum --- */

static uintptr_t stack_floor;

#ifdef __EMSCRIPTEN__
#include <emscripten/stack.h>
/* The linear memory's stack, which is as large as the link said, and grows down. */
void stack_measure(void) { stack_floor = emscripten_stack_get_end() + 65536; }
#else
void stack_measure(void) {
    struct rlimit limit;
    char here;
    uintptr_t size = 8u << 20, largest = (uintptr_t)64 << 20;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) size = (uintptr_t)limit.rlim_cur;
    if (size > largest) size = largest;
    stack_floor = (uintptr_t)&here > size ? (uintptr_t)&here - size / 4 * 3 : size / 4;
}
#endif

TsrStatus stack_check(void) {
    char here;
    if (TSR_LIKELY((uintptr_t)&here > stack_floor)) return TSR_OK;
    return recursion_error(" while calling a Python object");
}

/* --- threads --- */

const VmThread *vm_waiting;
TsrStatus (*vm_end_turn)(void);

static void look_nowhere(void) {}
void (*vm_look)(void) = look_nowhere;

void vm_thread_save(VmThread *out) {
    *out = (VmThread){vm.frame, vm.free_frame, vm.first_chunk, stack_floor, recursion_depth};
}

void vm_thread_load(const VmThread *thread) {
    vm.frame = thread->frame;
    vm.free_frame = thread->free_frame;
    vm.first_chunk = thread->first_chunk;
    stack_floor = thread->stack_floor;
    recursion_depth = thread->recursion_depth;
}

/* The pool of a thread is one chain in the order of its stack: more frames come after the last, which is in use when
 * none is free. */
static void append_to_pool(Frame **pool, Frame *top, Frame *more) {
    Frame *last = *pool;
    while (last != NULL && last->above != NULL) last = last->above;
    if (*pool == NULL) {
        *pool = more;
        for (last = top; last != NULL && (last->gen != NULL || last->above != NULL);) last = last->prev;
    }
    if (last != NULL) last->above = more;
}

void vm_thread_end(VmThread *heir) {
    append_to_pool(&heir->free_frame, heir->frame, vm.free_frame);
    for (Chunk *chunk = vm.first_chunk, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        tsr_free(chunk);
    }
}

/* --- frames --- */

static TsrStatus more_frames(void) {
    TSR_TRY(mem_grow(&vm.frame_blocks, &vm.frame_block_capacity, vm.frame_block_count + 1, sizeof *vm.frame_blocks));
    Frame *block = tsr_calloc(FRAMES_AT_ONCE, sizeof *block);
    if (block == NULL) return mem_error();
    vm.frame_blocks[vm.frame_block_count++] = block;
    for (int i = 0; i + 1 < FRAMES_AT_ONCE; i++) block[i].above = &block[i + 1];
    append_to_pool(&vm.free_frame, vm.frame, block);
    return TSR_OK;
}

Frame *frame_push(Code *code, Function *fn, Value *base, Value *limit) {
    if (recursion_enter("") != TSR_OK) return NULL;
    if (vm.free_frame == NULL && more_frames() != TSR_OK) {
        recursion_leave();
        return NULL;
    }
    Frame *frame = vm.free_frame, *above = frame->above;
    vm.free_frame = above;
    *frame = (Frame){
        .pc = code->ins, .base = base, .code = code, .fn = fn, .prev = vm.frame, .limit = limit, .above = above};
    if (code->flags & (CODE_MODULE | CODE_EVAL)) frame->flags = FRAME_SPECIAL;
    if (fn != NULL) obj_retain(fn);
    return frame;
}

void frame_pop(Frame *frame) {
    recursion_leave();
    vm.free_frame = frame;
    if (frame->fn != NULL) obj_release(frame->fn);
}

void frame_clear(Frame *frame) {
    const Code *code = frame->code;
    int first = code->flags & CODE_MODULE ? code->first_slot : frame->flags & FRAME_LENT ? frame->own_from : 0;
    slots_clear(frame->base + first, code->frame_size - first);
}

static Chunk *chunk_new(int64_t count, Chunk *previous) {
    if (count < CHUNK_SLOTS) count = CHUNK_SLOTS;
    Chunk *chunk = tsr_calloc(1, sizeof *chunk + (size_t)count * sizeof(Value));
    if (chunk == NULL) {
        mem_error();
        return NULL;
    }
    chunk->previous = previous;
    chunk->end = chunk->slots + count;
    if (previous != NULL) previous->next = chunk;
    else vm.first_chunk = chunk;
    return chunk;
}

/* The next chunk after `chunk` with room for `count`; ones that are too small are replaced. */
static Chunk *chunk_after(Chunk *chunk, int64_t count) {
    Chunk *next = chunk == NULL ? vm.first_chunk : chunk->next;
    if (next != NULL && next->end - next->slots >= count) return next;
    while (next != NULL) { /* nothing above is in use */
        Chunk *dead = next;
        next = next->next;
        tsr_free(dead);
    }
    if (chunk != NULL) chunk->next = NULL;
    else vm.first_chunk = NULL;
    return chunk_new(count, chunk);
}

Value *stack_space(int64_t count, Value **limit) {
    const Frame *f = vm.frame;
    while (f != NULL && f->limit == NULL) f = f->prev;
    Chunk *chunk = NULL;
    if (f != NULL) {
        Value *top = f->base + f->code->frame_size;
        *limit = f->limit;
        if (f->limit - top >= count) return top;
        for (chunk = vm.first_chunk; chunk->end != f->limit;) chunk = chunk->next;
    }
    chunk = chunk_after(chunk, count);
    if (chunk == NULL) return NULL;
    *limit = chunk->end;
    return chunk->slots;
}

/* --- arguments --- */

static const char *plural(int64_t n) { return n == 1 ? "" : "s"; }

/* 'a', 'b', and 'c' */
static TsrStatus missing(const Code *code, const int *slots, int count, const char *kind) {
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int k = 0; k < count && status == TSR_OK; k++) {
        if (k > 0) status = tsr_text_puts(&text, k + 1 == count ? (count == 2 ? " and " : ", and ") : ", ");
        if (status == TSR_OK) status = tsr_text_printf(&text, "'%s'", code->slot_names[slots[k]]);
    }
    if (status == TSR_OK) {
        status = tsr_error(TSR_TYPE_ERROR, "%s() missing %d required %s argument%s: %s", code->qualname, count, kind,
                           plural(count), text.data);
    }
    tsr_text_free(&text);
    return status;
}

/* Fills what is absent from the defaults; complains about what has none. */
static TsrStatus fill_positional(const Function *fn, Value *base) {
    const Code *code = fn->code;
    int defaults = fn->defaults != NULL ? (int)fn->defaults->count : 0, first = code->positional - defaults;
    int absent[16], count = 0, total = 0;
    for (int k = 0; k < code->positional; k++) {
        if (base[k].tag != V_UNBOUND) continue;
        if (k >= first) {
            base[k] = value_retain(fn->defaults->items[k - first]);
        } else {
            if (count < 16) absent[count++] = k;
            total++;
        }
    }
    return total > 0 ? missing(code, absent, count, "positional") : TSR_OK;
}

static TsrStatus fill_keyword_only(const Function *fn, Value *base) {
    const Code *code = fn->code;
    int absent[16], count = 0;
    for (int k = code->positional; k < code->positional + code->keyword_only; k++) {
        if (base[k].tag != V_UNBOUND) continue;
        Value *found = fn->kwdefaults != NULL ? dict_find_c(fn->kwdefaults, code->slot_names[k]) : NULL;
        if (found != NULL) base[k] = value_retain(*found);
        else if (count < 16) absent[count++] = k;
    }
    return count > 0 ? missing(code, absent, count, "keyword-only") : TSR_OK;
}

static TsrStatus too_many(const Function *fn, const Value *base, int given) {
    const Code *code = fn->code;
    int defaults = fn->defaults != NULL ? (int)fn->defaults->count : 0, named = 0;
    for (int k = code->positional; k < code->positional + code->keyword_only; k++) named += base[k].tag != V_UNBOUND;
    char takes[64], gave[96];
    if (defaults > 0) snprintf(takes, sizeof takes, "from %d to %d", code->positional - defaults, code->positional);
    else snprintf(takes, sizeof takes, "%d", code->positional);
    bool many = defaults > 0 || code->positional != 1;
    if (named > 0) {
        snprintf(gave, sizeof gave, "%d positional argument%s (and %d keyword-only argument%s) were", given,
                 plural(given), named, plural(named));
    } else {
        snprintf(gave, sizeof gave, "%d %s", given, given == 1 ? "was" : "were");
    }
    return tsr_error(TSR_TYPE_ERROR, "%s() takes %s positional argument%s but %s given", code->qualname, takes,
                     many ? "s" : "", gave);
}

static int parameter_named(const Code *code, const Str *name) {
    for (int k = 0; k < code->positional + code->keyword_only; k++)
        if (strcmp(code->slot_names[k], name->data) == 0) return k;
    return -1;
}

static TsrStatus unexpected_keyword(const Code *code, const Str *name) {
    HintSearch search = hint_begin(name->data);
    for (int k = code->positional_only; k < code->positional + code->keyword_only; k++)
        hint_consider(&search, code->slot_names[k]);
    return hint_unexpected_keyword(code->qualname, &search);
}

/* `name` has no parameter; if any keywords name positional-only ones, these are what the message is about. */
static TsrStatus keyword_error(const Code *code, const CallArgs *args, const Str *name) {
    TsrText text = {0};
    TsrStatus status = TSR_OK;
    for (int k = 0; k < code->positional_only && status == TSR_OK; k++) {
        for (int i = 0; i < args->keyword_count && status == TSR_OK; i++) {
            if (strcmp(code->slot_names[k], args->names[i]->data) != 0) continue;
            if (text.length > 0) status = tsr_text_puts(&text, ", ");
            if (status == TSR_OK) status = tsr_text_puts(&text, code->slot_names[k]);
        }
    }
    if (status == TSR_OK && text.length == 0) {
        status = unexpected_keyword(code, name);
    } else if (status == TSR_OK) {
        status = tsr_error(TSR_TYPE_ERROR, "%s() got some positional-only arguments passed as keyword arguments: '%s'",
                           code->qualname, text.data);
    }
    tsr_text_free(&text);
    return status;
}

static TsrStatus bind_keyword(Function *fn, Value *base, const CallArgs *args, int i, Dict *rest) {
    const Code *code = fn->code;
    Str *name = args->names[i];
    Value v = args->values[args->count + i];
    int k = parameter_named(code, name);
    if (k >= code->positional_only) {
        if (base[k].tag != V_UNBOUND) {
            return tsr_error(TSR_TYPE_ERROR, "%s() got multiple values for argument '%s'", code->qualname, name->data);
        }
        base[k] = value_retain(v);
        return TSR_OK;
    }
    if (rest != NULL) return dict_set_str(rest, name, v);
    return keyword_error(code, args, name);
}

static TsrStatus bind(Function *fn, Value *base, const CallArgs *args) {
    const Code *code = fn->code;
    int plain = TSR_MIN(args->count, code->positional), after = code->positional + code->keyword_only;
    for (int k = 0; k < plain; k++) base[k] = value_retain(args->values[k]);
    Dict *rest = NULL;
    if (code->flags & CODE_STAR) { TSR_TRY(tuple_new(&base[after++], args->values + plain, args->count - plain)); }
    if (code->flags & CODE_DOUBLE_STAR) {
        TSR_TRY(dict_new(&base[after]));
        rest = value_as_dict(base[after]);
    }
    for (int i = 0; i < args->keyword_count; i++) TSR_TRY(bind_keyword(fn, base, args, i, rest));
    if (args->count > code->positional && !(code->flags & CODE_STAR)) return too_many(fn, base, args->count);
    TSR_TRY(fill_positional(fn, base));
    return fill_keyword_only(fn, base);
}

TsrStatus bind_arguments(Function *fn, Value *base, const CallArgs *args) {
    const Code *code = fn->code;
    for (int k = 0; k < code->slot_count; k++) base[k].tag = V_UNBOUND;
    TsrStatus status = bind(fn, base, args);
    if (status != TSR_OK) slots_clear(base, code->slot_count);
    return status;
}

Frame *call_frame(Function *fn, const CallArgs *args) {
    Value *limit, *base = stack_space(fn->code->frame_size, &limit);
    if (base == NULL || bind_arguments(fn, base, args) != TSR_OK) return NULL;
    Frame *frame = frame_push(fn->code, fn, base, limit);
    if (frame == NULL) slots_clear(base, fn->code->slot_count);
    return frame;
}

TsrStatus vm_enter(Value *out, Frame *frame, TsrStatus raise) {
    frame->flags |= FRAME_ENTRY;
    vm.frame = frame;
    return vm_loop(out, frame, raise);
}

TsrStatus function_call(Value *out, Value self, const CallArgs *args) {
    Function *fn = value_as_function(self);
    if (fn->code->flags & CODE_GENERATOR) return generator_start(out, fn, args);
    TSR_TRY(stack_check());
    TSR_TRY(tsr_interrupt_check());
    Frame *frame = call_frame(fn, args);
    if (frame == NULL) return exc_status();
    return vm_enter(out, frame, TSR_OK);
}
