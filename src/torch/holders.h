/* holders.h: who holds a tensor: every reference in the program, by name.
 *
 * Walks from the roots (globals, locals of active calls, what other modules register) through containers, closures and
 * generators. Nothing is recorded while programs run: the answer is computed when it is asked for. */
#ifndef TORCH_HOLDERS_H
#define TORCH_HOLDERS_H

#include "core/tensor.h"
#include "lang/object/value.h"

/* One reference to a tensor. `path`: how to reach it ("a", "pair[0]", "d[\"w\"]", "f.<closure>.k", "f.x", "_"), lent.
 * `argument`: it is an argument of the native call in progress, which refcount() leaves out. Returns false to stop. */
typedef bool (*WhoVisit)(const char *path, TsrTensor *t, bool argument, void *context);

/* Calls visit for every reference that the language holds; each once. Collects dead cycles first. */
TsrStatus holders_each(WhoVisit visit, void *context);

/* One reference to a storage that no tensor holds: a storage as a value, a part of one, a raw handle. */
typedef void (*WhoVisitStorage)(const char *path, const TsrStorage *s, void *context);
/* Calls visit for each of those; once for a value, however many names it has. */
TsrStatus holders_each_storage(WhoVisitStorage visit, void *context);

/* Modules that hold tensors and storages outside of values (raw handles, workspaces) register how to walk theirs. */
typedef void (*WhoSource)(WhoVisit visit, WhoVisitStorage visit_storage, void *context);
void holders_register_source(WhoSource source);
/* A value that a module holds for ever, walked as if it had that name (a workspace's dict). Both static. */
void holders_register_root(const char *path, const Value *slot);
/* A type whose values stand for a tensor: wrappers, handles, MaybeOwned. Static. */
typedef TsrStatus (*WhoGet)(TsrTensor **lent, Value v);
typedef struct WhoWrapper {
    const Type *type;
    const char *name;      /* as its document spells it: "caffe2::Tensor" */
    WhoGet get;            /* the tensor, lent; an error where there is none */
    WhoGet operand;        /* what an operator gets, where more is refused to it; NULL: get */
    bool (*owns)(Value v); /* whether the value holds one reference of its own */
    /* What stands in the tensor's place until there is one; values that share it are equal. NULL: there is a tensor.
     * The member may be NULL: such a value always has one. */
    const void *(*shell)(Value v);
    /* Puts its own members into a dict, in its document's words; of one without a tensor under "TensorImpl" what is
     * known of it. May be NULL. */
    TsrStatus (*members)(Value dict, Value v);
} WhoWrapper;
void holders_register_wrapper(const WhoWrapper *wrapper);
TsrStatus holders_put_text(Dict *dict, const char *key, const char *text);
/* A type of values that hold no tensor and have an anatomy all the same: a row of type, name and members; with `shell`
 * holders_each_path tells where its values are. */
void holders_register_anatomy(const WhoWrapper *row);
/* The row of a value's type; NULL: it is no wrapper. */
const WhoWrapper *holders_wrapper(Value v);
/* The same, of wrappers and of what has an anatomy. */
const WhoWrapper *holders_anatomy(Value v);
/* What stands in a tensor's place in a wrapper that has none yet; NULL: all other values. */
const void *holders_shell(Value v);

/* What leaks() reports: appends strs to a list. Registered by the modules that hand out raw references and borrows. */
typedef TsrStatus (*WhoLeaks)(List *out);
void holders_register_leaks(WhoLeaks leaks);
/* All of it; collects dead cycles first. */
TsrStatus holders_leaks(Value *out);

/* The tensor behind a tensor value or a wrapper, lent; TypeError "NAME(): argument 'x' must be a tensor, not int". */
TsrStatus holders_tensor(TsrTensor **lent, Value v, const char *function);
/* The same, NULL where there is none: a number, a handle that was freed, a borrow that dangles. */
TsrTensor *holders_tensor_if_any(Value v);

int64_t holders_refcount(TsrTensor *t); /* references that a user can account for: arguments of calls are none */
/* A list of str, exactly holders_refcount long: one a reference. A wrapper that several names lead to is one reference:
 * "c (also d)". */
TsrStatus holders_list(Value *out, TsrTensor *t);
/* The same of the values that share a wrapper's shell. */
TsrStatus holders_list_of_shell(Value *out, Value v);

/* One way to reach a tensor, or a shell. */
typedef struct WhoPath {
    const char *path;   /* lent, as in WhoVisit */
    const TsrTensor *t; /* NULL: of a shell */
    const void *shell;
    const void *wrapper;  /* the object around t; NULL: t is itself what the place holds */
    const char *function; /* of a local of an active call: whose; else NULL */
    bool argument;        /* as in WhoVisit */
    bool again;           /* of holders_each only: one more name of a wrapper that was told already */
} WhoPath;
typedef bool (*WhoVisitPath)(const WhoPath *path, void *context);
/* Calls visit for every way to every tensor: through each name of a tuple, a wrapper, a function or an iterator that
 * has several; a list or dict whose items can be deleted is looked into once. */
TsrStatus holders_each_path(WhoVisitPath visit, void *context);
/* The first name of each tensor over a storage (NULL: of none) but for `except`. */
TsrStatus holders_names_over(Value *out, const TsrStorage *storage, const TsrTensor *except);
/* The names of what holds a storage (NULL: none) by itself, without a tensor over it. */
TsrStatus holders_keepers(Value *out, const TsrStorage *storage);
/* The name to call a tensor by: its first holder's path into `buffer` (truncated), or "" when nothing named holds it.
 * Returns buffer. */
char *holders_name(char *buffer, size_t room, TsrTensor *t);
/* From now on the core's messages name tensors as holders_name does. */
void holders_name_for_core(void);

#endif
