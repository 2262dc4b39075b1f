/* tree.h: what .pt files hold (core/io_tree.h) as values of the language, and back. */
#ifndef TORCH_FILES_TREE_H
#define TORCH_FILES_TREE_H

#include "core/io_tree.h"
#include "lang/object/value.h"

/* One node is one value, however often it is reached. Uses the nodes' `user`. */
TsrStatus tree_to_value(Value *out, TsrTree *tree);
/* The tree is the caller's, on failure too; it holds the tensors. TypeError for what a pickle of PyTorch's can't hold.
 * With `arrays` columns, and tables within v, are nodes of their own, for NumPy's files. */
TsrStatus tree_from_value(TsrTree *out, Value v, bool arrays);

#endif
