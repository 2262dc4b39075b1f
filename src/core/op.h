/* op.h: the one table of operators, and calling them.
 *
 * A row (TsrOp) declares one overload of an operator: its schema in torch's syntax, the function that does
 * it (called op_NAME, those of the column `.sparse` sp_NAME; every other function of the core that is not static begins
 * with tsr_), which forms it has, and its documentation. Rows stand in ops/<family>.def, one macro call each:
 *
 *     OP(op_add, .schema = "add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
 *        .forms = TSR_FN | TSR_METHOD | TSR_INPLACE | TSR_OUT, .category = "pointwise", .alias = TSR_FRESH,
 *        .summary = "Sum of self and alpha times other, element by element, with broadcasting.",
 *        .example = "ones(2) + 1", .output = "tensor([2., 2.])")
 *
 * The name in the schema is torch's, dotted for namespaces ("linalg.qr", "nn.functional.relu", "special.zeta",
 * "fft.fft"). Rows of one name are its overloads, tried in the order of the table. From the row come: argument
 * binding and its errors, the in-place form NAME_, out=, the method, help, completion, the manual and tests.
 *
 * Columns that most rows leave out (the short macros of a family take them after the output): `.sparse` for arguments
 * in sparse layouts, `.out_rule` and `.out_overlap` for what an out= may be.
 *
 * Schema types: Tensor, Tensor?, Tensor[], Tensor?[], Scalar, Scalar?, int, int?, int[], int[N], int[N]?, SymInt as
 * int, float, float?, float[], bool, bool?, bool[], str, str?, ScalarType (dtype), Layout, Device, MemoryFormat,
 * Generator, each with ?; Scalar[]; `Any` for a value of the language handed through. `*` begins keyword-only. Alias
 * marks (Tensor(a), Tensor(a!)) are allowed and document views and writes. In the function form `self` is called
 * `input`. Returns: Tensor, Tensor[], Scalar, int, bool, float, int[], (Tensor values, Tensor indices) = a named tuple
 * torch.return_types.NAME, (Tensor, Tensor) = a plain tuple, () = None.
 *
 * What a function does: reads call->arg[i] (one per schema parameter, in order, defaults filled in; kind TSR_ARG_NONE
 * for None), computes, and stores owned results in call->ret[0..nret). call->out[k] is the tensor to write into (out=
 * or the self of the in-place form) or NULL. A function either honours call->out (iterator-based ones just pass it on)
 * and returns it retained, or ignores it and returns a fresh result: the dispatcher then copies the result into out
 * with PyTorch's resize and cast checks. Version counters are bumped by the dispatcher. Check everything, then
 * allocate, then compute; on a meta device stop after allocating (tsr_is_meta). Tensors arrive checked
 * (tsr_tensor_check), dense and with conj/neg resolved unless .flags says otherwise. */
#ifndef TSR_OP_H
#define TSR_OP_H

#include "iter.h"
#include "view.h"

TSR_PUBLIC_BEGIN

/* Arguments and results of an operator at most. */
enum { TSR_MAX_ARGS = 20, TSR_MAX_RETS = 8 };

/* The type of an argument or a result: which member of a TsrArg holds it. Plurals are arrays of n. */
typedef enum TsrArgKind {
    TSR_ARG_NONE,
    TSR_ARG_TENSOR,
    TSR_ARG_TENSORS,
    TSR_ARG_SCALAR,
    TSR_ARG_SCALARS,
    TSR_ARG_INT,
    TSR_ARG_INTS,
    TSR_ARG_FLOAT,
    TSR_ARG_FLOATS,
    TSR_ARG_BOOL,
    TSR_ARG_BOOLS,
    TSR_ARG_STR,
    TSR_ARG_DTYPE,
    TSR_ARG_LAYOUT,
    TSR_ARG_DEVICE,
    TSR_ARG_MEMORY_FORMAT,
    TSR_ARG_GENERATOR,
    TSR_ARG_ANY
} TsrArgKind;

/* An argument or a result. As an argument everything is lent; as a result tensors (and the arrays of TENSORS and INTS)
 * are owned, and a str is lent until the thread's next call. */
typedef struct TsrArg {
    TsrArgKind kind;
    int n; /* of an array */
    union {
        TsrTensor *t;
        TsrTensor **tensors; /* entries may be NULL for Tensor?[] ; as a result: array by tsr_malloc */
        TsrScalar s;
        TsrScalar *scalars;
        int64_t i;
        int64_t *ints;
        double f;
        double *floats;
        bool b;
        bool *bools;
        const char *str; /* UTF-8, zero-terminated */
        TsrDtype dtype;
        uint8_t layout;
        TsrDevice device;
        TsrMemoryFormat format;
        void *any; /* a generator (rng.h) or a value of the language */
    };
} TsrArg;

/* Under which names a row is found, where its results may go, and how PyTorch declares its function. */
enum TsrOpForms {
    TSR_FN = 1,            /* torch.add(x, y) */
    TSR_METHOD = 2,        /* x.add(y) */
    TSR_INPLACE = 4,       /* x.add_(y) */
    TSR_OUT = 8,           /* torch.add(x, y, out=z) */
    TSR_PROPERTY = 16,     /* x.T */
    TSR_INPLACE_ONLY = 32, /* the schema's own name ends in _: writes self */
    TSR_INPLACE_FN = 64,   /* torch.abs_(x): the in-place form is a function of torch, too */
    /* PyTorch's function or method is written in Python: a call that does not fit is refused in Python's words. */
    TSR_PYTHON_FN = 128,
    TSR_PYTHON_METHOD = 256,
    TSR_STARRED = 512,         /* declared with *tensors: torch.block_diag(x, y) */
    TSR_STARRED_OR_LIST = 1024 /* the same, and one list of all is accepted: torch.meshgrid([x, y]) */
};
/* How the results relate to the arguments' memory: new, a view, one or the other, the argument itself, no tensor. */
typedef enum TsrAlias { TSR_FRESH, TSR_VIEW, TSR_MAYBE_VIEW, TSR_IN_PLACE, TSR_NO_TENSOR } TsrAlias;
/* What the dispatcher does or leaves out for a row. */
enum TsrOpFlags {
    /* --- what its function takes --- */
    TSR_OP_CONJ = 1 << 0,      /* tensors whose conj and neg bits are not resolved (views, copy_) */
    TSR_OP_SPARSE = 1 << 1,    /* sparse tensors */
    TSR_OP_OBJECT = 1 << 2,    /* string and nested tensors */
    TSR_OP_UNCHECKED = 1 << 3, /* tensors whose storage is too small for them: it reads metadata only */
    TSR_OP_ELEMENTS = 1 << 4,  /* none on the meta device: without elements there is no answer */
    /* Pointwise, of one tensor, and refuses a sparse one before it makes an output, unlike the others. */
    TSR_OP_REFUSES_FIRST = 1 << 5,
    /* --- devices --- */
    /* Tensors on different devices (views, copies); every other row refuses them before its function runs. */
    TSR_OP_MIXED_DEVICES = 1 << 6,
    TSR_OP_CPU_NUMBERS = 1 << 7, /* as PyTorch's iterator: a 0-d CPU tensor goes with tensors of any device */
    /* Its function touches elements only by the iterator, tsr_tensor_copy and tsr_tensor_fill, other operators and what
     * asks a device itself (engine/device.h): it runs on tensors of a device as it is, and where one of these declines,
     * by loan after all. */
    TSR_OP_DEVICE = 1 << 8,
    /* --- out= --- */
    TSR_OP_OUT_STRIDES = 1 << 9,  /* one that had to be resized takes over the result's strides (column-major ones) */
    TSR_OP_OUT_COLUMNS = 1 << 10, /* the same, of one that has no elements and the result's dtype */
    /* --- the rest --- */
    TSR_OP_RANDOM = 1 << 11,  /* draws from a generator: two calls differ */
    TSR_OP_NO_BUMP = 1 << 12, /* what it writes is no change: no version goes up */
    TSR_OP_HIDDEN = 1 << 13,  /* not listed in help */
    TSR_OP_COMPOSED = 1 << 14 /* writes in place to its fresh result, whose version tells, as PyTorch's composition */
};

/* What dtypes an out= may have, and the words for others: out_rules.def. */
typedef enum TsrOutRule {
#define RULE(name, fit, says) TSR_RULE_##name,
#include "out_rules.def"
#undef RULE
    TSR_OUT_RULES /* how many */
} TsrOutRule;
/* What memory an out= may share with the inputs, of operators that read them while they write. */
typedef enum TsrOutOverlap {
    TSR_OVERLAP_ANY,
    TSR_OVERLAP_SELF,  /* any, and its own elements may share memory */
    TSR_OVERLAP_WHOLE, /* all of an input's, or none */
    TSR_OVERLAP_NONE
} TsrOutOverlap;

typedef struct TsrOpCall TsrOpCall;
/* An operator's function: reads call->arg, stores owned results (tsr_return_move). */
typedef TsrStatus (*TsrOpFn)(TsrOpCall *call);
/* A row of the table; static. Columns that are left out are zero. */
typedef struct TsrOp {
    const char *schema;
    TsrOpFn fn;
    unsigned forms, flags; /* TsrOpForms, TsrOpFlags */
    TsrAlias alias;
    TsrOutRule out_rule; /* TSR_RULE_CASTABLE, unless given */
    TsrOutOverlap out_overlap;
    TsrOpFn sparse; /* runs in place of fn when an argument is sparse; NULL: fn does with TSR_OP_SPARSE, else none */
    const char *category;                   /* "pointwise": under which help and the manual list it */
    const char *summary, *example, *output; /* a sentence; a line of the language, and what it prints */
    const void *data;                       /* for fn's own use: a kernel table, a prelude body */
} TsrOp;

/* One call of a row: arguments in, results out. */
struct TsrOpCall {
    const TsrOp *op;
    const struct TsrSchema *schema;
    TsrArg *arg; /* nargs of them, lent: one for each parameter of the schema */
    int nargs;
    TsrTensor *out[TSR_MAX_RETS]; /* lent; NULL: the function makes its result */
    bool inplace;                 /* out[0] is self of the in-place form */
    /* The caller lets the first argument go after the call: when nobody else knows of it, it may become the result
     * (tsr_spare). */
    bool spent;
    TsrArg ret[TSR_MAX_RETS]; /* nret of them, owned */
    int nret;
};

/* A parsed schema; made once per row on first use, lives for ever. */
typedef struct TsrParam {
    const char *name;
    TsrArgKind type;        /* the element kinds are TENSORS, INTS, ... */
    bool optional;          /* `?`: None is accepted */
    bool optional_elements; /* Tensor?[] */
    bool keyword_only;
    bool has_default;
    bool written;             /* (a!) */
    int fixed;                /* int[N]: N, and a single int is accepted for it; else 0 */
    const char *type_text;    /* as written */
    const char *default_text; /* as written, NULL */
    TsrArg value;             /* the default */
} TsrParam;
typedef struct TsrReturn {
    const char *name;
    TsrArgKind type;
} TsrReturn;
typedef struct TsrSchema {
    const char *name;                   /* "linalg.qr" */
    const char *base;                   /* "qr" */
    const char *inplace;                /* "qr_"; the name itself when it ends so */
    int nparams, nreturns, npositional; /* positional-or-keyword parameters */
    bool named_returns;
    TsrParam *params;
    TsrReturn returns[TSR_MAX_RETS];
} TsrSchema;

/* All overloads of one name. */
typedef struct TsrOpSet {
    const char *name;
    int n;
    const TsrOp *const *ops;
} TsrOpSet;

const TsrOpSet *tsr_op_find(const char *name);                    /* NULL if none; "add" (not "add_") */
TsrStatus tsr_op_schema(const TsrSchema **lent, const TsrOp *op); /* cached */
int tsr_op_count(void);                                           /* sets of operators with different names */
const TsrOpSet *tsr_op_at(int i);                                 /* in alphabetic order of names; NULL past the last */
/* Adds rows (static lifetime) from outside the core, such as operators written in the language. Before the first
 * lookup. TSR_SYSTEM_ERROR for a row without a function or a schema; none is added then. */
TsrStatus tsr_op_register(const TsrOp *rows, int n);

/* Runs call->op on bound arguments (one for each parameter, of its kind; else TSR_SYSTEM_ERROR): checks, fn, out=,
 * versions, provenance. On success ret[] is the caller's (tsr_op_release_returns). */
TsrStatus tsr_op_run(TsrOpCall *call);
void tsr_op_release_returns(TsrOpCall *call);
/* Sees each operator that has run, inner ones first, while a trace is on (alloc.h): call->ret as it is given back, or
 * `status`. */
extern void (*tsr_op_hook)(const TsrOpCall *call, TsrStatus status);

/* What becomes of an operator that has tensors on a device and no code for it: it runs on the host, its storages lent
 * (tensor/loan.h), or is refused. */
typedef enum TsrFallback { TSR_FALLBACK_NOTE, TSR_FALLBACK_SILENT, TSR_FALLBACK_ERROR } TsrFallback;
extern TsrFallback tsr_op_fallback;
/* Sees each operator that ran on the host by loan, with the bytes that came over and went back; not called when silent.
 * NULL by default. */
extern void (*tsr_op_fallback_hook)(const char *name, int64_t over, int64_t back);

/* Calls an operator by name from C with positional arguments. fmt has a letter an argument: t tensor, i int64_t, f
 * double, s TsrScalar, b int as bool, d TsrDtype (int), c const char * (str), I int n, const int64_t *ints; T int n,
 * TsrTensor *const *; n None; missing ones get defaults; "!t" before the rest gives out[0] (in-place on it). Picks the
 * first overload whose parameter kinds accept the letters, one that takes a number as a tensor only where no other
 * does. Stores the first `nout` results, owned: TSR_SYSTEM_ERROR where there are not so many, or one of them is no
 * tensor. */
TsrStatus tsr_invoke_new(TsrTensor **outs, int nout, const char *name, const char *fmt, ...);

/* Helpers for op functions. */
static inline TsrStatus tsr_return_move(TsrOpCall *c, TsrTensor *t) {
    c->ret[0].kind = TSR_ARG_TENSOR;
    c->ret[0].t = t;
    c->nret = 1;
    return TSR_OK;
}
static inline TsrStatus tsr_return_move2(TsrOpCall *c, TsrTensor *a, TsrTensor *b) {
    tsr_return_move(c, a);
    c->ret[1].kind = TSR_ARG_TENSOR;
    c->ret[1].t = b;
    c->nret = 2;
    return TSR_OK;
}
/* Ends a function that made `t` (NULL: it came to nothing): the call's result on success, freed on failure; returns
 * `status`. A macro, so that `t` is read after `status` has been computed: with t NULL before, tsr_finish_move(c,
 * make(&t), t) is right. */
#define tsr_finish_move(c, status, t) \
    __extension__({ \
        TsrStatus tsr_finish_status_ = (status); \
        TsrTensor *tsr_finish_tensor_ = (t); \
        if (tsr_finish_status_ == TSR_OK) tsr_return_move((c), tsr_finish_tensor_); \
        else tsr_tensor_free(tsr_finish_tensor_); \
        tsr_finish_status_; \
    })
/* A result that is no tensor. */
static inline TsrStatus tsr_return_int(TsrOpCall *c, int64_t i) {
    c->ret[0].kind = TSR_ARG_INT;
    c->ret[0].i = i;
    c->nret = 1;
    return TSR_OK;
}
static inline TsrStatus tsr_return_bool(TsrOpCall *c, bool b) {
    c->ret[0].kind = TSR_ARG_BOOL;
    c->ret[0].b = b;
    c->nret = 1;
    return TSR_OK;
}
static inline bool tsr_arg_given(const TsrArg *a) { return a->kind != TSR_ARG_NONE; }

TSR_PUBLIC_END

#endif
