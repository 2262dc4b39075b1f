/* bind_impl.h: what the binding's files share: bind_sig.c makes the signatures of a function, bind.c fills them and calls, bind_error.c words what fits none.
 * Include nothing of this elsewhere. */
#ifndef REPL_BIND_IMPL_H
#define REPL_BIND_IMPL_H

#include "bind.h"

typedef enum SigRole { SIG_SCHEMA, SIG_OUT, SIG_PIN_MEMORY, SIG_REQUIRES_GRAD } SigRole;

typedef struct SigParam {
    const char *text; /* its name */
    Str *name;        /* interned */
    Str *alias[3];    /* NumPy's names for it, interned; NULL when there is none */
    uint8_t kind;     /* TsrArgKind */
    uint8_t role;     /* SigRole */
    int8_t index;     /* of the schema's parameter, for SIG_SCHEMA */
    bool optional;    /* may be left out */
    bool allow_none;
    bool keyword_only;
    bool symbolic;    /* SymInt there: it sorts differently */
    int fixed;        /* int[N] */
    const TsrParam *param;
} SigParam;

typedef struct Sig {
    const TsrOp *op;
    const TsrSchema *schema;
    SigParam *params;
    int count, min_args, max_args, max_positional;
    int self;  /* index in the schema of the method's self; -1: none */
    int where; /* index of the device of what a function makes from no tensor, for which there is a default; -1: none */
    bool hidden, numbers_as_tensors, varargs;
    bool drops; /* some parameters of the schema are not there: they keep their defaults */
    char *text;  /* "(Tensor other, *, Number alpha = 1)" */
    char *order; /* what PyTorch sorts overloads by */
} Sig;

struct BindParser {
    Sig *sigs;
    int count;
    bool no_arguments; /* one overload that takes none: CPython checks it, with its own words */
};

/* The signatures of a form, in PyTorch's order. Lives for ever. */
TsrStatus bind_parser_new(BindParser **out, const OpFunction *function);
const char *bind_kind_name(const SigParam *p); /* "tuple of ints" */
/* The error for arguments that no signature takes; always fails. */
TsrStatus bind_no_match(const OpFunction *f, const BindParser *parser, const CallArgs *args, int skip);
/* As PyTorch's FunctionSignature::parse: bound[i] is the value of params[i], V_UNBOUND where left out or None, or `*varargs`
 * true when params[0] takes all positional values. *ok false: it does not fit; with `raise`, the error instead. */
TsrStatus bind_match(bool *ok, const OpFunction *f, const Sig *sig, const CallArgs *args, int skip, Value *bound, bool *varargs, bool raise);

#endif
