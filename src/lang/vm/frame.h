/* frame.h: frames, the stack of slots, generators: what the files of the evaluator share. */
#ifndef LANG_VM_FRAME_H
#define LANG_VM_FRAME_H

#include "lang/types/dict.h"
#include "lang/object/native.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"
#include "vm.h"

typedef struct Generator Generator;
typedef struct Frame Frame;

enum FrameFlags {
    FRAME_ENTRY = 1,  /* leaving it returns to C */
    FRAME_LENT = 2,   /* eval code: its base is another frame's, whose names it leaves alone */
    FRAME_SPECIAL = 4 /* a module's, eval code's or a generator's: a call's frame has no flags */
};

/* A frame's slots are base[0..code->frame_size). Slots that hold nothing may hold any value that is not counted, save
 * names, which are then V_UNBOUND: so unwinding can release whatever is counted. */
struct Frame {
    const Ins *pc; /* the next instruction; exact while something else runs */
    Value *base;
    Code *code;
    Function *fn; /* owned; NULL for a module */
    Frame *prev;
    Value *ret;     /* where the caller wants the result; NULL for FRAME_ENTRY */
    Value *limit;   /* end of the chunk that base lies in; NULL when it lies elsewhere */
    Frame *above;   /* the next frame of the pool */
    Generator *gen; /* the generator whose frame this is; NULL: a call's */
    uint32_t flags;
    int own_from; /* FRAME_LENT: first slot that is its own */
};

enum GeneratorState { GEN_NEW, GEN_SUSPENDED, GEN_RUNNING, GEN_DONE };
struct Generator {
    GcObj gc;
    Frame frame;
    int state;
    Value slots[];
};

/* A piece of the stack of slots. */
typedef struct Chunk {
    struct Chunk *next, *previous;
    Value *end;
    Value slots[];
} Chunk;

typedef struct Vm {
    Frame *frame;      /* the innermost active frame */
    Frame *free_frame; /* the next of the pool; NULL: make more */
    Frame **frame_blocks;
    int64_t frame_block_count, frame_block_capacity;
    Chunk *first_chunk;
    Value *globals;       /* slots; globals_slot tells which */
    Value *builtin_cache; /* by number of a global: the builtin that it means while it is not set */
    Module *builtins;
    Dict *program;        /* __name__ and __file__ */
    Dict *global_numbers; /* by name */
    Str **global_names;
    int64_t global_count, global_capacity, cache_capacity;
    int turns; /* not 0: two threads take turns (show/two_threads.c), and a backward jump or a call ends one */
    unsigned until_look; /* in a browser: how many jumps and calls until vm_look */
} Vm;
extern Vm vm;

/* In a browser, where no signal comes: finds out whether to interrupt, and sets vm.until_look again. */
extern void (*vm_look)(void);

/* Asked at each backward jump and call: whether an interrupt is wanted or a turn ends. */
static inline bool vm_is_wanted(void) {
#ifdef __EMSCRIPTEN__
    if (TSR_UNLIKELY(--vm.until_look == 0)) vm_look();
#endif
    return TSR_UNLIKELY((tsr_interrupt_flag | vm.turns) != 0);
}

/* What belongs to one thread of the language; the running one's stands in vm and the variables of call.c. */
typedef struct VmThread {
    Frame *frame, *free_frame;
    Chunk *first_chunk;
    uintptr_t stack_floor;
    int recursion_depth;
} VmThread;
void vm_thread_save(VmThread *out);
void vm_thread_load(const VmThread *thread);
/* The running thread is at its end: its frames go to `heir`, its stack of slots is freed. */
void vm_thread_end(VmThread *heir);
/* The thread that waits for its turn; NULL: none. For torch/holders.c. */
extern const VmThread *vm_waiting;
/* Ends a turn: lets the other thread run and comes back when it is this one's turn again. */
extern TsrStatus (*vm_end_turn)(void);

enum { MAX_GLOBALS = 1 << 19, MAX_DIRECT = GLOBAL_SLOTS, FAR_GLOBALS = 65536 };
static inline int globals_slot(int number) { return number < MAX_DIRECT ? number : number - MAX_DIRECT + FAR_GLOBALS; }
static inline int globals_number(int slot) { return slot < MAX_DIRECT ? slot : slot - FAR_GLOBALS + MAX_DIRECT; }

/* --- loop.c --- */
/* Runs `entry`, which has been pushed with FRAME_ENTRY, until it returns or, for a generator's frame, yields (*out is
 * V_UNBOUND at the end of a generator, whose result then waits in *result). `raise`: begin by raising the pending error
 * of that status. */
TsrStatus vm_loop(Value *out, Frame *entry, TsrStatus raise);

/* --- call.c --- */
/* A frame of the pool above vm.frame, at the start of code; fn (may be NULL) is retained. The caller makes it
 * current. NULL with the error set: depth, memory. */
Frame *frame_push(Code *code, Function *fn, Value *base, Value *limit);
void frame_pop(Frame *frame);
/* Free slots above everything in use: at least `count`, all not counted. *limit: the end of their chunk. NULL: memory.
 */
Value *stack_space(int64_t count, Value **limit);
/* Empties what is counted among a frame's own slots. */
void frame_clear(Frame *frame);
/* Binds args to fn's parameters at `base`, copying; all its names are then set or V_UNBOUND. On failure nothing is
 * held. */
TsrStatus bind_arguments(Function *fn, Value *base, const CallArgs *args);
void stack_measure(void);    /* at the start of a thread, in the function that is outermost */
TsrStatus stack_check(void); /* RecursionError when the C stack is nearly used up */
/* Makes `frame` current and runs it to its end, as vm_loop does. */
TsrStatus vm_enter(Value *out, Frame *frame, TsrStatus raise);
/* A frame with the arguments bound (copied), above vm.frame; the caller makes it current. NULL: an error. */
Frame *call_frame(Function *fn, const CallArgs *args);
TsrStatus function_call(Value *out, Value self, const CallArgs *args);
TsrStatus function_new(Value *out, Code *code, Tuple *defaults, Dict *kwdefaults, Dict *annotations,
                       Frame *frame);          /* consumes the tuple and the dicts */
TsrStatus cell_new(Value *out, Value content); /* consumes the content, on failure too */
static inline Cell *value_as_cell(Value v) { return (Cell *)v.o; }
static inline Function *value_as_function(Value v) { return (Function *)v.o; }

/* --- generator.c --- */
/* A generator for a call of fn with the arguments at `args`. */
TsrStatus generator_start(Value *out, Function *fn, const CallArgs *args);
/* One step of `yield from` over any iterator: *out is what it yields, or V_UNBOUND at its end, and *result then what it
 * returned. `raise` not OK: the error is raised where it stands. */
TsrStatus delegate_step(Value *out, Value *result, Value iterator, Value sent, TsrStatus raise);
void generator_done(Generator *g); /* its frame was left: empties it */
/* Its frame was left by this exception; what the caller sees (StopIteration becomes RuntimeError). */
Value generator_failed_move(Generator *g, Value exception);
/* Where a suspended generator's next value goes that is sent. */
static inline Value *generator_sent(Generator *g) {
    const Ins *pc = g->frame.pc;
    return &g->frame.base[pc->op == INS_YIELDFROM ? pc->a : pc[-1].a];
}

/* --- traceback.c --- */
/* Adds frame's place to the record of `exception`. When memory is short the record is shorter. */
void trace_add(Value exception, const Frame *frame);
/* The exception of an error at frame->pc, with its first place: that of a name not set instead, if it was read before.
 */
Value trace_begin(TsrStatus status, const Frame *frame, Value handled);

/* --- globals.c --- */
/* prelude.c: what an empty cell of a function of the prelude is filled with when code reads it, by the code's source
 * and the cell's name. *out is the caller's. */
TsrStatus prelude_fill_cell(Value *out, const Source *source, const char *name);

TsrStatus globals_startup(void);
/* The index in the table of globals of a name, which is added when it is new. */
TsrStatus globals_index(int *out, const char *name);
void globals_shutdown(void);
/* The value of a global that is not set: a builtin, lent; NULL with NameError. */
const Value *globals_builtin(int number);
const Value *globals_named(const char *name); /* a global, or the builtin of that name, likewise */
TsrStatus import_star(Value module);

/* --- ops.c: what instructions do when it is not quick --- */
const Value *frame_name(const Frame *f, int slot); /* an unbound slot: what it means, lent, or NULL with the error */
TsrStatus ins_binary(Frame *f, const Ins *i, bool inplace);
TsrStatus ins_unary(Frame *f, const Ins *i);
TsrStatus ins_compare(Frame *f, const Ins *i);
TsrStatus ins_compare_jump(bool *out, Frame *f, const Ins *i);
TsrStatus ins_truth(bool *out, Frame *f, int slot); /* consumes a temporary */
TsrStatus ins_for_prepare(Frame *f, int slot);
TsrStatus ins_for_next(bool *more, Frame *f, const Ins *i); /* not for generators */
TsrStatus ins_other(Frame *f, const Ins *i);
TsrStatus ins_getitem(Frame *f, const Ins *i);
TsrStatus ins_setitem(Frame *f, const Ins *i);
TsrStatus ins_getattr(Frame *f, const Ins *i);
TsrStatus ins_method(Frame *f, const Ins *i);
/* The value of a slot as the caller's: moved out of a temporary, a new reference of a name. */
TsrStatus slot_take(Value *out, const Frame *f, int slot);
/* The exception that code at frame f is handling, lent. */
Value frame_handled(const Frame *f);

/* --- ops_call.c --- */
TsrStatus ins_keyword_add(Frame *f, const Ins *i);
TsrStatus ins_keyword_merge(Frame *f, const Ins *i);
TsrStatus ins_argument_extend(Frame *f, const Ins *i);
TsrStatus ins_function(Frame *f, const Ins *i);
/* *inner: the new frame of a language function, to go on in; else NULL and *out is the result. The slots of the call
 * are given back. */
TsrStatus ins_call_keywords(Value *out, Frame **inner, Frame *f, const Ins *i);
TsrStatus ins_call_spread(Value *out, Frame **inner, Frame *f, const Ins *i);
/* A call whose argument or result may wait. False in *done: nothing waits any more, make the call. */
TsrStatus ins_call_wait(bool *done, Frame *f, const Ins *i);

static inline bool is_counted(Value v) { return v.tag >= V_TENSOR; }
static inline void slot_set_move(Value *slot, Value v) {
    if (TSR_UNLIKELY(is_counted(*slot))) value_set_move(slot, v);
    else *slot = v;
}
/* Empties a slot. */
static inline void slot_clear(Value *slot) {
    Value old = *slot;
    slot->tag = V_UNBOUND;
    if (is_counted(old)) value_release(old);
}
static inline void slots_clear(Value *slot, int64_t count) {
    for (Value *end = slot + count; slot < end; slot++) slot_clear(slot);
}
/* Gives a temporary back after its use; a name stays. */
static inline void slot_used(const Frame *f, int slot) {
    if (slot >= f->code->first_temp) slot_clear(&f->base[slot]);
}

#endif
