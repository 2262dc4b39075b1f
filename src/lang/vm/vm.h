/* vm.h: the evaluator: running programs, calling functions, names, frames and errors.
 *
 * One interpreter per process. A program is parsed (parser.h), then run by vm_run; an error comes back as
 * TSR_RAISED with the exception pending (exc.h), its record of frames in exc->trace (a trace_type object, below).
 * Whatever happens, counts are balanced and the globals stay usable. */
#ifndef LANG_VM_VM_H
#define LANG_VM_VM_H

#include "lang/compile/compile.h"
#include "lang/object/exc.h"
#include "lang/object/native.h"

/* After value_startup. `fill_builtins` adds every builtin to the module it is given. */
TsrStatus vm_startup(TsrStatus (*fill_builtins)(Module *builtins));
void vm_shutdown(void); /* releases every global; before value_shutdown */

/* --- running --- */

typedef struct RunOptions {
    CompileShow show; /* which expression statements go to vm_display */
    bool result;      /* the value of the last statement, if it is an expression, is the result */
    bool lines;       /* vm_line is called before each statement, those of functions too */
} RunOptions;

/* Called before each statement of a program that is run with `lines` (vm_current_line says which); an error ends the
 * program there. NULL: nobody steps. */
extern TsrStatus (*vm_line)(void);

/* Compiles and runs a parsed program at the top level. *result (may be NULL) is the caller's: None, or what
 * options->result asks for. A SyntaxError of the compiler is pending like other errors, with its place as the trace. */
TsrStatus vm_run(Value *result, const Ast *ast, const RunOptions *options);

/* Parses and runs `text` in the scope of the code that is running (the locals and globals of the innermost active
 * function, or the top level): for explain("...") and trace("..."). *result: the value of a last expression
 * statement, else None. `name`: the source's name in reports. Names it binds in a function last as long as the text. */
TsrStatus vm_run_text_here(Value *result, const char *text, size_t length, const char *name);
/* The same for text that was typed at the prompt, on this line of it. */
TsrStatus vm_run_typed_here(Value *result, const char *text, int line);

/* Shows the value of an expression statement (None too). Set by the shell; the default prints repr on stdout. */
extern TsrStatus (*vm_display)(Value v);

/* Prints a pending SyntaxError's place etc. is the shell's (repl/report.h); this gives the pending error away:
 * *exception is the caller's. False when nothing is pending. `status` is what failed. */
bool vm_take_error(Value *exception, TsrStatus status);

/* --- frames of an error --- */

typedef struct TraceEntry {
    Code *code;     /* owned; NULL for the place of a SyntaxError */
    Source *source; /* owned */
    SourceRange at;
} TraceEntry;

typedef struct Trace { /* innermost first */
    Obj obj;
    TraceEntry *entries;
    int64_t count, capacity;
} Trace;
extern Type trace_type;
/* The record in exc->trace, or NULL. */
static inline Trace *value_as_trace(Value v) {
    return v.tag == V_OBJ && v.o->type == &trace_type ? (Trace *)v.o : NULL;
}
/* Adds the place of a SyntaxError to the pending exception (made from `status` if need be); returns TSR_RAISED. */
TsrStatus vm_raise_at(TsrStatus status, Source *source, SourceRange at);

/* --- names --- */

/* A global by name, lent; V_UNBOUND when it is not set. */
Value globals_get(const char *name);
/* What a bare name means at the top level: user global, builtin, torch name. Lent; V_UNBOUND when nothing. No error is
 * set. */
Value globals_resolve(const char *name);
TsrStatus globals_set(const char *name, Value v); /* retains */
void globals_delete(const char *name);            /* fine when not set */
/* `_`, the last value shown: what the name means where the user has bound none. Retains. */
TsrStatus globals_set_last(Value v);
const Value *globals_last(void); /* lent; NULL or V_UNBOUND: none yet */
/* Globals in the order their names were first seen; *name NULL at the end. */
int globals_count(void);
Value globals_at(int i, Str **name); /* lent; V_UNBOUND when not set now */
/* Bare names beyond builtins (torch's): set by the binding, kept alive by the giver for ever; V_UNBOUND: none. */
extern TsrStatus (*vm_bare_name)(Value *lent, Str *name);
/* Calls visit for each of them (for completion and hints). NULL: none. */
extern void (*vm_bare_names)(void (*visit)(const char *name, void *context), void *context);
/* The module builtins, lent. Additions must come before the name is first used. */
Module *vm_builtins(void);
/* The builtin of the name, made where it was not yet; V_UNBOUND: there is none. */
TsrStatus vm_find_builtin(Value *out, const char *name);
bool vm_is_builtin(const char *name);
void vm_each_builtin(void (*visit)(const char *name, void *context), void *context);
/* What the program's own module says of itself beside its globals: __file__. */
TsrStatus vm_describe_program_move(const char *name, Value v);
/* For completion and hints: calls visit for every name visible from where the code stands. */
void vm_each_visible_name(void (*visit)(const char *name, void *context), void *context);

/* --- who holds a value --- */

typedef enum RootKind {
    ROOT_GLOBAL,    /* name */
    ROOT_LOCAL,     /* function, name: a local of an active call, perhaps in a cell */
    ROOT_ITERATOR,  /* the iterable of a running for loop or its iterator */
    ROOT_TEMPORARY, /* between two operations of one expression */
    ROOT_ARGUMENT   /* an argument of the native call in progress: refcount() does not count it */
} RootKind;

typedef struct Root {
    RootKind kind;
    const char *function; /* of ROOT_LOCAL: "f" */
    const char *name;     /* of ROOT_GLOBAL and ROOT_LOCAL */
    const Value *value;   /* never V_UNBOUND, a cell is looked through */
    const void *cell;     /* the cell that it is in, which closures may hold too; NULL: none */
} Root;

/* Visits every place of the evaluator that holds a value: globals in order, then active calls from the outermost,
 * then what suspended generators are not (they are objects: traverse them). Stops when visit returns false. */
void scope_visit_roots(bool (*visit)(const Root *root, void *context), void *context);

/* --- functions --- */

typedef struct Cell {
    GcObj gc;
    Value value;
} Cell;

typedef struct Function {
    GcObj gc;
    Code *code;                     /* owned */
    Tuple *defaults;                /* those of the last positional parameters; NULL: none */
    Dict *kwdefaults;               /* NULL: none */
    Dict *annotations, *attributes; /* f.x = 1; NULL: none */
    Value doc;
    Str *name, *qualname; /* as set by f.__name__ = and the like, owned; NULL: the code's */
    int64_t cell_count;   /* code->captures[i].name is the name of cells[i] */
    Cell *cells[];
} Function;

extern Type function_type, cell_type, generator_type;
static inline bool value_is_function(Value v) { return value_is_obj(v, &function_type); }

/* The line that the innermost running code of the user's has reached; 0 when nothing runs. */
int vm_current_line(void);
/* The line that the `level`th call of the user's own code has reached, from the innermost, which is 1; beyond the
 * outermost, and where nothing runs, *line is 0. *file and *text are lent, the text (of *length bytes) is NULL where
 * there is none. */
void vm_caller(int64_t level, const char **file, int *line, const char **text, size_t *length);
/* The text of the expression being evaluated, outside of the prelude, in one line and cut to fit; "" when nothing runs.
 * Returns buffer. */
char *vm_current_text(char *buffer, size_t room);
/* Whether the call being made there is part of something that goes on with its value: not a statement of its own, the
 * value of which is shown or dropped. */
bool vm_current_is_used(void);

/* The variables of the running scope as a dict, for locals(). */
TsrStatus vm_new_locals(Value *out);
TsrStatus vm_new_globals(Value *out);

#endif
