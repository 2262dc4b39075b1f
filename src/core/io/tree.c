/* tree.c: the nodes of what a .pt file holds (io_tree.h). All nodes of a tree are in one list, through which they are
 * freed: nodes may be shared or reach themselves, so a walk over the children could not free them. */
#include "core/io_tree.h"

#include <string.h>

#include "core/mem.h"

void tsr_tree_free(TsrTree *tree) {
    for (TsrNode *node = tree->all, *next; node != NULL; node = next) {
        next = node->next;
        tsr_tensor_free(node->tensor);
        tsr_table_free(node->table);
        tsr_storage_free(node->storage);
        tsr_free(node->text);
        tsr_free(node->children);
        tsr_free(node);
    }
    *tree = (TsrTree){0};
}

TsrStatus tsr_tree_add(TsrNode **lent, TsrTree *tree, TsrNodeKind kind) {
    if ((unsigned)kind > TSR_NODE_GLOBAL) return tsr_error(TSR_SYSTEM_ERROR, "a node of no kind: %d", (int)kind);
    TsrNode *node = tsr_calloc(1, sizeof *node);
    if (node == NULL) return tsr_error_no_memory(sizeof *node);
    node->kind = kind;
    node->dtype = TSR_DTYPE_NONE;
    node->next = tree->all;
    tree->all = node;
    *lent = node;
    return TSR_OK;
}

TsrStatus tsr_tree_add_text(TsrNode **lent, TsrTree *tree, TsrNodeKind kind, const char *text, size_t length) {
    char *copy = tsr_mem_text(text, length);
    if (copy == NULL) return tsr_error_no_memory(length);
    TsrStatus status = tsr_tree_add(lent, tree, kind);
    if (status != TSR_OK) {
        tsr_free(copy);
        return status;
    }
    (*lent)->text = copy;
    (*lent)->length = length;
    return TSR_OK;
}

TsrStatus tsr_node_append(TsrNode *parent, TsrNode *child) {
    TSR_TRY(tsr_mem_grow(&parent->children, &parent->room, parent->n + 1, sizeof *parent->children));
    parent->children[parent->n++] = child;
    return TSR_OK;
}
