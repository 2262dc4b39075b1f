/* io_tree.h: what a .pt file or an archive holds: tensors within Python's containers, beside numbers and texts. Nodes
 * are shared as the file has it, and may be reached from themselves: they belong to the tree, which frees them one by
 * one. */
#ifndef TSR_IO_TREE_H
#define TSR_IO_TREE_H

#include "io_table.h"

TSR_PUBLIC_BEGIN

/* What a node stands for, mostly a type of Python's. */
typedef enum TsrNodeKind {
    TSR_NODE_NONE,
    TSR_NODE_BOOL,
    TSR_NODE_INT,
    TSR_NODE_FLOAT,
    TSR_NODE_COMPLEX,
    TSR_NODE_STR,
    TSR_NODE_BYTES,
    TSR_NODE_LIST,
    TSR_NODE_TUPLE,
    TSR_NODE_SET,
    TSR_NODE_DICT,
    TSR_NODE_ORDERED_DICT, /* of dicts the children are keys and values in turn */
    TSR_NODE_SIZE,
    TSR_NODE_DTYPE,
    TSR_NODE_DEVICE,
    TSR_NODE_TENSOR,
    TSR_NODE_STORAGE,
    TSR_NODE_SPARSE, /* a sparse tensor: its layout (STR), what torch.sparse_coo_tensor or its like takes, and for COO
                        whether it is coalesced */
    TSR_NODE_OPAQUE, /* something of a class that is not known: its name, and the children are keys and values of what
                        it was made of: attributes by name, items, and what it was called with by number */
    TSR_NODE_TABLE,  /* named columns, or (i is 1) the only one of them: an array of words or times */
    TSR_NODE_GLOBAL, /* only while a file is read: a function or class */
} TsrNodeKind;

/* A value. Which fields count depends on the kind; all that it owns is freed with the tree. */
typedef struct TsrNode {
    TsrNodeKind kind;
    TsrDtype dtype; /* DTYPE, and what a STORAGE counts in; TSR_DTYPE_NONE: bytes */
    int64_t i;      /* BOOL, INT; of OPAQUE how many parts have numbers */
    double re, im;  /* FLOAT (re), COMPLEX */
    char *text; /* STR, BYTES, DEVICE, OPAQUE, GLOBAL; an INT beyond 64 bits: two's complement, lowest byte first; else
                   NULL */
    size_t length; /* of text, which a NUL follows */
    struct TsrNode **children;
    size_t n, room;
    TsrTensor *tensor;     /* owned */
    TsrTable *table;       /* owned */
    TsrStorage *storage;   /* owned */
    struct TsrNode *state; /* of an ORDERED_DICT, a DICT of what was set on it (a module's _metadata); NULL: nothing */
    void *user;            /* for whoever walks the tree */
    struct TsrNode *next;  /* of the tree */
} TsrNode;

/* Owns its nodes. Empty when all zeros. */
typedef struct TsrTree {
    TsrNode *all; /* linked by `next`, the youngest first */
    TsrNode *root;
    int64_t unpacked; /* tensors that are the numbers which quantised ones in the file stand for */
} TsrTree;

enum { TSR_TREE_DEPTH = 500 }; /* what nests deeper is refused */

void tsr_tree_free(TsrTree *tree); /* frees all nodes and empties the tree */
/* A new node of that kind, with text a copy of `length` bytes; *lent belongs to the tree. An error when memory is
 * short.
 */
TsrStatus tsr_tree_add(TsrNode **lent, TsrTree *tree, TsrNodeKind kind);
TsrStatus tsr_tree_add_text(TsrNode **lent, TsrTree *tree, TsrNodeKind kind, const char *text, size_t length);
/* Adds one child at the end; both nodes are of the same tree. An error when memory is short. */
TsrStatus tsr_node_append(TsrNode *parent, TsrNode *child);

TSR_PUBLIC_END

#endif
