/* code.h: compiled code: instructions, constants and the tables beside them.
 *
 * An instruction is one 64-bit word: opcode, x, and three 16-bit fields; opcode.def says what each means. A frame
 * of the code has `frame_size` slots: the names (parameters first), then temporaries from `first_temp`. A
 * module's code has the table of globals as its frame: slots below GLOBAL_SLOTS are globals, its names of
 * comprehensions and its temporaries come after. Code is counted; functions, generators, frames and reports share it.
 */
#ifndef LANG_COMPILE_CODE_H
#define LANG_COMPILE_CODE_H

#include "lang/syntax/scope.h"
#include "lang/object/value.h"

#include <stdio.h>

/* Slots of a module's frame that are globals, and where its other slots begin. */
enum { GLOBAL_SLOTS = 16384 };

typedef enum Opcode {
#define OP(name, format, meaning) INS_##name,
#include "opcode.def"
#undef OP
    INS_COUNT
} Opcode;

typedef union Ins {
    struct {
        uint8_t op, x;
        uint16_t a, b, c;
    };
    struct {
        int32_t head; /* >> 8: the jump, in words from the next instruction */
        uint32_t k;
    };
    uint64_t word;
} Ins;

/* In x. MAY_WAIT: only the next operator sees the result (lazy.h). BINARY_LAST: the name in b is assigned to before it
 * is read again, and nothing in between can fail. */
enum { BINARY_KB = 16, BINARY_KC = 32, BINARY_LAST = 64, MAY_WAIT = 128, FORMAT_SPEC = 128 };

/* Where an error in [start, end) goes. */
typedef struct Handler {
    int32_t start, end, target; /* target -1: only empty the slots [slot, slot + count) and look on */
    uint16_t slot, count;       /* slots from `slot` are emptied, then the exception is put there */
} Handler;

/* In [start, end) the exception in `slot`, if there is one, is the one being handled. */
typedef struct HandledRegion {
    int32_t start, end;
    uint16_t slot;
} HandledRegion;

/* A name that comes before `later` in the order of evaluation, though the instruction that reads its slot comes after
 * the code of `later`, from `start` on. When that code fails and the name is not set, its error at `at` was first. */
typedef struct LentName {
    int32_t start;
    uint16_t slot;
    SourceRange at, later;
} LentName;

enum CodeFlags {
    CODE_MODULE = 1,
    CODE_EVAL = 2,
    CODE_GENERATOR = 4,
    CODE_STAR = 8,         /* has *args */
    CODE_DOUBLE_STAR = 16, /* has **kwargs */
    CODE_SIMPLE = 32 /* positional parameters only, and no generator: a call may bind its arguments where they are */
};

typedef struct Code Code;
struct Code {
    int refs;
    unsigned flags;
    bool whole;     /* one block with its arrays, its texts the program's: code_thaw's */
    char *name;     /* "f", "<lambda>", "<genexpr>", "<module>" */
    char *qualname; /* "f.<locals>.g" */
    Source *source;
    Ins *ins;
    SourceRange *at; /* one for each word of ins; NULL: no places are known */
    int ins_count;
    Value *consts;
    int const_count;
    Code **children; /* code of the functions inside */
    int child_count;
    int slot_count;                         /* names; in a module's code slot i is at first_slot + i */
    int first_slot, first_temp, frame_size; /* frame_size: one past the last slot */
    const char **slot_names;                /* slot_count of them */
    uint8_t *slot_is_cell;
    int positional, positional_only, keyword_only; /* counts of parameters; positional includes positional_only */
    Capture *captures;
    int capture_count;
    Handler *handlers; /* inner ones first */
    int handler_count;
    HandledRegion *handled; /* inner ones first */
    int handled_count;
    LentName *lent; /* in the order of evaluation */
    int lent_count;
    char *names; /* the text of slot_names and captures */
    SourceRange def_at;
    int first_line; /* where the def begins, its decorators included */
    int doc;        /* index of the docstring in consts, or -1 */
};

Code *code_retain(Code *code);
void code_free(Code *code); /* one reference; NULL is fine */

/* The place of the instruction at `pc`. */
SourceRange code_range(const Code *code, const Ins *pc);

/* Writes the instructions as text, one a line, those of inner functions after. */
TsrStatus code_disassemble(const Code *code, FILE *file);

#endif
