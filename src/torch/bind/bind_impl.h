/* bind_impl.h: what the binding's files share: signature.c makes the signatures of a function, match.c finds
 * the one that fits, convert.c makes a row's arguments of the values, bind.c calls, result.c makes values of
 * the results, error.c words what fits none. Include nothing of this elsewhere. */
#ifndef TORCH_BIND_IMPL_H
#define TORCH_BIND_IMPL_H

#include "bind.h"
#include "core/rng.h"
#include "lang/types/numbers.h"

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
    bool symbolic; /* SymInt there: it sorts differently */
    int fixed;     /* int[N] */
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
    bool drops;  /* some parameters of the schema are not there: they keep their defaults */
    char *text;  /* NULL until bind_sig_text is asked for it: errors alone show it */
    char *order; /* what PyTorch sorts overloads by; NULL for a single one */
} Sig;

struct BindParser {
    Sig *sigs;
    int count;
    bool no_arguments; /* one overload that takes none: CPython checks it, with its own words */
};

/* The signatures of a form, in PyTorch's order. Lives for ever. */
TsrStatus bind_parser_new(BindParser **out, const OpFunction *function);
const char *bind_kind_name(const SigParam *p); /* "tuple of ints" */
/* "(Tensor other, *, Number alpha = 1)"; lent for as long as the signature. */
TsrStatus bind_sig_text(const char **lent, Sig *sig);

/* One call of an operator's function: what was given, and how it fits the signature that is tried. All of it lent. */
typedef struct BindCall {
    const OpFunction *function;
    const CallArgs *args;
    int skip;        /* 1 when args begins with self, else 0 */
    TsrTensor *self; /* then; else NULL */
    const Sig *sig;
    bool varargs;                  /* params[0] takes all positional values */
    Value bound[TSR_MAX_ARGS + 4]; /* the value of params[i], V_UNBOUND where left out or None */
} BindCall;

/* Fills sig, varargs and bound. *ok false: the arguments do not fit; with `raise`, the error instead. */
TsrStatus bind_match(bool *ok, BindCall *b, const Sig *sig, bool raise);
/* For arguments that no signature takes: the error, or what the Python function that PyTorch has around the operator
 * makes of them. */
TsrStatus bind_no_match(Value *out, BindCall *b);

enum { BIND_INTS = 64, BIND_BLOCKS = 8 };

/* What running a row needs besides the values; all on the stack unless lists are long. */
typedef struct BindFrame {
    TsrOpCall call;
    TsrArg arg[TSR_MAX_ARGS];
    const BindCall *from;
    bool pin;                /* pin_memory=True */
    TsrGenerator *generator; /* that was given; NULL: none */
    int nmade, nints, nblocks;
    TsrTensor *made[TSR_MAX_ARGS]; /* wrapped numbers, owned */
    void *blocks[BIND_BLOCKS];     /* arrays on the heap, owned */
    int64_t ints[BIND_INTS];
} BindFrame;

/* Converts the values of a call that fits its signature. Whether it fails or not, bind_frame_end follows. */
TsrStatus bind_frame_begin(BindFrame *fr, const BindCall *b);
void bind_frame_end(BindFrame *fr);

static inline bool bind_is_long(Value v) {
    return v.tag == V_INT || (v.tag == V_OBJ && value_is_bigint(v));
} /* an int of any size */
static inline bool bind_is_index_tensor(Value v) {
    return v.tag == V_TENSOR && v.t->numel == 1 && (tsr_dtype_is_integral(v.t->dtype) || v.t->dtype == TSR_BOOL);
}

#endif
