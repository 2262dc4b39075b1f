/* compile_impl.h: what compile.c (code, slots, constants, functions), statement.c and, for expressions, the other
 * compile_*.c share. */
#ifndef LANG_COMPILE_COMPILE_IMPL_H
#define LANG_COMPILE_COMPILE_IMPL_H

#include "compile.h"
#include "lang/object/exc.h"
#include "lang/types/sequences.h"
#include "lang/types/str.h"

typedef enum OperandKind {
    OPERAND_SLOT, /* slot `index`, which somebody else gives back */
    OPERAND_TEMP, /* the topmost temporary: operand_free gives its slot back */
    OPERAND_CONST /* constant `index`, below 65536 */
} OperandKind;

typedef struct Operand {
    OperandKind kind;
    int index;
} Operand;

/* A place to jump to: known (at >= 0), or the jumps that wait for it, chained through their own fields. */
typedef struct Label {
    int at, chain;
} Label;
#define LABEL_NEW ((Label){-1, -1})

typedef enum BlockKind {
    BLOCK_LOOP,
    BLOCK_TRY,
    BLOCK_HANDLER,
    BLOCK_WITH,
    BLOCK_FINALLY_TRY,
    BLOCK_FINALLY_BODY
} BlockKind;
typedef enum ExitKind { EXIT_RETURN, EXIT_BREAK, EXIT_CONTINUE } ExitKind;

enum { MAX_BLOCKS = 20 }; /* CPython's limit of nested blocks */

/* A statement around the one being compiled that break, continue and return have to know. */
typedef struct Block {
    BlockKind kind;
    struct Block *outer;
    int slot; /* loop: the iterator's three slots, -1 for while; handler: exception; with: manager; finally: selector,
                 exception, value */
    const char *name; /* handler: the name to forget */
    Label *on_break, *on_continue, *finally;
    unsigned exits;     /* finally: bit ExitKind: somebody leaves through it so */
    int protected_from; /* start of the open stretch whose errors go to `handler_label`; -1: none */
    int handler_slot;
} Block;

/* What went wrong first; shared by the compilers of a program. */
typedef struct Failure {
    TsrStatus status;
    SourceRange *where;
    char message[160];
} Failure;

typedef struct Compiler {
    struct Compiler *outer;
    const CompileOptions *options;
    Scope *scope; /* innermost, perhaps a comprehension's */
    Code *code;
    int64_t ins_capacity, at_capacity, const_capacity, child_capacity, handler_capacity, handled_capacity,
        lent_capacity;
    int names_from;       /* next index below 65536 kept for names once there are many constants; 0: there are not */
    int32_t *const_table; /* hash table of constants, -1 empty */
    int const_table_size;
    int temps; /* temporaries in use */
    int block_depth;
    Block *block;
    const Node *last_use; /* the + after which the name on its left is assigned to: see find_last_use */
    const Node *may_wait; /* the operand about to be compiled whose result may wait for its operator */
    SourceRange at;       /* of the code being emitted */
    bool module_level;    /* not inside a def, lambda or generator expression */
    Failure *failure;
} Compiler;

/* `from __future__ import annotations` was compiled: from then on annotations are the texts that they are written as,
 * to the end of the program, as at Python's prompt. */
extern bool annotations_are_text;

/* --- compile.c --- */
/* The first failure is kept, and after it emitting does nothing: only who looks at what was emitted has to ask. */
static inline bool compile_failed(const Compiler *c) { return c->failure->status != TSR_OK; }
void compile_fail(Compiler *c, TsrStatus status); /* with the thread's last error, at c->at */
void compile_temp_lost(
    Compiler *c); /* an error of the compiler's own: somebody kept a temporary; nothing after another failure */
/* An instruction, blamed on c->at: its index, or -1 when it failed. emit_k: with one wide operand. */
int emit(Compiler *c, Opcode op, int x, int a, int b, int k);
int emit_k(Compiler *c, Opcode op, int x, int a, uint32_t k);
void emit_jump(Compiler *c, Opcode op, int b, int k, Label *label); /* the label may come later */
void label_here(Compiler *c, Label *label);                         /* and the jumps that waited for it come here */
int code_here(const Compiler *c);                                   /* the index of the next instruction */
void add_lent(Compiler *c, int slot, SourceRange at, const Node *later); /* see LentName */
/* Where errors in [start, end) go, as Handler has it; an empty stretch needs none. */
void add_handler(Compiler *c, int start, int end, int target, int slot, int count);
void add_handled(Compiler *c, int start, int slot); /* from `start` to here the exception in `slot` is being handled */

int temp_new(Compiler *c);                 /* its slot */
int temps_new(Compiler *c, int count);     /* consecutive; the first */
void temps_free(Compiler *c, int count);   /* the topmost */
void operand_free(Compiler *c, Operand o); /* gives a temporary's slot back, the last taken first */
static inline Operand operand_slot(int index) { return (Operand){OPERAND_SLOT, index}; }
bool slot_is_temp(const Compiler *c, int slot); /* not a name's */
int slot_of(const Compiler *c, int index);      /* of the scope's slot number */

/* v as a constant, or, past the numbers that fit, loaded into a temporary. */
Operand const_operand_move(Compiler *c, Value v);
int const_low_move(Compiler *c, Value v);      /* its index, below 65536 */
int const_name(Compiler *c, const char *name); /* an interned str, index below 65536 */

void function_value(Compiler *c, const Node *node, int dst); /* makes the function in slot dst */

/* --- statement.c --- */
void compile_statements(Compiler *c, const NodeList *list);
void compile_statement(Compiler *c, const Node *node,
                       bool last); /* `last` of a program: its value may be shown, or be the result */
void emit_exit(Compiler *c, ExitKind kind,
               Operand value); /* leaves the blocks that are open, by way of their finally bodies */

/* --- expression.c --- */
/* Compiles `node`. want >= 0: the result is best put in that slot, as the last thing the code does. */
Operand expr(Compiler *c, const Node *node, int want);

/* --- operand.c --- */
void expr_to(Compiler *c, const Node *node, int dst); /* dst owns the value */
Operand expr_in_slot(Compiler *c, const Node *node);  /* not a constant */
void operand_to(Compiler *c, Operand o, int dst);     /* moves or copies; gives a temporary's slot back */
Operand operand_in_slot(Compiler *c, Operand o);      /* a constant is loaded into a temporary */
/* Keeps o as it is now, by a copy if evaluating `later` may change it. `at`: what is blamed when o is a name that is
 * not set. */
Operand operand_protect(Compiler *c, Operand o, SourceRange at, const Node *later);
bool operand_may_change(const Compiler *c, Operand o,
                        const Node *later);   /* a name that evaluating `later` may bind anew */
Operand operand_copy(Compiler *c, Operand o); /* a temporary with a slot's value */
Operand result_slot(Compiler *c, int want);   /* the slot for a result: the one wanted, or a new temporary */
Operand early_result_slot(Compiler *c,
                          int want); /* as result_slot, for code that writes the slot before its last instruction */

/* --- target.c --- */
Operand load_name(Compiler *c, const char *name, int want); /* as expr */
void store_name(Compiler *c, const char *name, Operand v);  /* as store */
void delete_name(Compiler *c, const char *name);
void store(Compiler *c, const Node *target, Operand v); /* consumes the value, not the operand's slot */
int direct_slot(Compiler *c, const Node *target);       /* the slot a target can be computed into, or -1 */

/* --- fold.c --- */
/* The value of a constant expression, the caller's. False when it is none, or when it failed. */
bool fold(Compiler *c, Value *out, const Node *node);
bool fold_items(Compiler *c, Value *out, const NodeList *list); /* a tuple of constant items, likewise */

/* --- wait.c --- */
bool is_pointwise_call(
    const Node *node);                /* it has a pointwise function's name; what that names shows when it is called */
bool is_where_call(const Node *node); /* where(condition, x, y), likewise */
bool is_sum_call(const Node *node);   /* (a - b).sum(): a method without arguments that may take what waits */
bool is_harmless(
    const Node *node); /* evaluating it leaves all tensors as they are, so that a result computed before it may wait */
int take_may_wait(
    Compiler *c,
    const Node *node); /* the flag of an operator whose result may wait; asked once, at the start of its compilation */

/* --- operator.c, display.c, comprehension.c, call.c --- */
/* Each compiles its kinds of node as expr does, and is called by it alone. */
Operand expr_binary(Compiler *c, const Node *node, int want);
Operand expr_unary(Compiler *c, const Node *node, int want);
Operand expr_boolean(Compiler *c, const Node *node, int want);
Operand expr_compare(Compiler *c, const Node *node, int want);
Operand expr_conditional(Compiler *c, const Node *node, int want);
Operand expr_sequence(Compiler *c, const Node *node, int want); /* a list, tuple or set */
Operand expr_dict(Compiler *c, const Node *node, int want);
Operand expr_slice(Compiler *c, const Node *node, int want);
Operand expr_joined(Compiler *c, const Node *node, int want); /* an f-string */
Operand expr_comprehension(Compiler *c, const Node *node, int want);
Operand expr_generator(Compiler *c, const Node *node, int want);
Operand expr_attribute(Compiler *c, const Node *node, int want);
Operand expr_subscript(Compiler *c, const Node *node, int want);
Operand expr_call(Compiler *c, const Node *node, int want);

bool has_star(const NodeList *list); /* one of them is *value */
/* Jumps if the truth of node is `sense`; the code of `and`, `or` and `not` inside jumps by itself. */
void jump_if(Compiler *c, const Node *node, bool sense, Label *label);
/* The loops of a comprehension. `it`: the first of three slots, with the iterable; `into`: what is filled. */
void comprehension_body(Compiler *c, const Node *node, int it, int into);
/* R[dst] = l op r, or, inplace, what l is after l op= r. */
void emit_binary(Compiler *c, BinaryOp op, bool inplace, int dst, Operand l, Operand r);
void emit_getattr(Compiler *c, int dst, Operand object, const char *name);

#endif
