/* pickle_impl.h: what the two halves of reading a pickle share: the machine that runs its opcodes (pickle.c), and the
 * nodes that its calls and states make (pickle_make.c). */
#ifndef CORE_IO_TORCH_PICKLE_IMPL_H
#define CORE_IO_TORCH_PICKLE_IMPL_H

#include "pickle.h"

/* What a pickle may name, as a node of kind TSR_NODE_GLOBAL has it in `i`. */
typedef enum PickleName {
    NAME_TENSOR_V2,
    NAME_TENSOR_V3,
    NAME_PARAMETER,
    NAME_ORDERED_DICT,
    NAME_SIZE,
    NAME_DEVICE,
    NAME_SET,
    NAME_COMPLEX,
    NAME_ENCODE,
    NAME_STORAGE,
    NAME_PARAMETER_STATE,
    NAME_FROM_TYPE,
    NAME_SPARSE,
    NAME_QUANTISED,
    NAME_LAYOUT,
    NAME_NUMPY_ARRAY,
    NAME_NUMPY_SCALAR,
    NAME_NUMPY_DTYPE,
    NAME_BYTES,
    NAME_CLASS /* only named, not called */
} PickleName;

/* The machine: where it reads, and its stack. */
typedef struct PickleReader {
    const TsrInput *in;
    const char *p, *end;
    const TsrPickleHost *host;
    bool opaque, stopped;
    uint64_t spent, budget; /* values and bytes copied, and how many may be */
    TsrTree *tree;
    TsrNode stack, memo; /* lists: their children are what is on the stack, and what has been put aside */
    size_t *marks;       /* heights of the stack */
    size_t nmarks, room;
} PickleReader;

/* The error for a damaged pickle; names the byte. */
static inline TsrStatus bad(const PickleReader *r, const char *what) {
    return tsr_input_error(r->in, "byte %zu: %s", (size_t)(r->p - r->in->data), what);
}

/* Counts n copied values or bytes against the budget. */
static inline TsrStatus spend(PickleReader *r, uint64_t n) {
    r->spent += n;
    return r->spent <= r->budget ? TSR_OK : bad(r, "the same values are copied too often");
}

/* Whether a tuple has the kinds that the letters name: i int, b bool, f float, s str, t tuple, l list, S storage, T
 * tensor, d dtype, . any. */
bool tsr_pickle_has_kinds(const TsrNode *tuple, const char *letters);
/* Whether it may be a key of a dict or an item of a set. */
bool tsr_pickle_is_key(const TsrNode *key);
/* Adds a value to an opaque node under the next number. */
TsrStatus tsr_pickle_add_numbered(PickleReader *r, TsrNode *opaque, TsrNode *value);
/* *out, which the tree owns, is what a call of `callee` with these arguments makes. ValueError for calls that mean
 * nothing known, unless r->opaque. */
TsrStatus tsr_pickle_make(PickleReader *r, TsrNode **out, const TsrNode *callee, const TsrNode *args);
/* Gives an opaque object its state: an array of NumPy's becomes a tensor, of others it becomes parts. */
TsrStatus tsr_pickle_build(PickleReader *r, TsrNode *object, TsrNode *state);

#endif
