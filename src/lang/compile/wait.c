/* wait.c: which tensors may be left uncomputed for a moment, because the operator around them takes them in (lazy.h).
 */
#include "compile_impl.h"

#include <string.h>

/* The name in exp(x) and in torch.exp(x) when `count` positional arguments are all there are; else NULL. */
static const char *called_name(const Node *node, int count) {
    if (node->kind != AST_CALL || node->call.args.count != count || node->call.keyword_count > 0) return NULL;
    for (int i = 0; i < count; i++)
        if (node->call.args.items[i]->kind == AST_STARRED) return NULL;
    const Node *f = node->call.func;
    if (f->kind == AST_NAME) return f->name.id;
    return f->kind == AST_ATTRIBUTE && f->attribute.value->kind == AST_NAME ? f->attribute.name : NULL;
}

bool is_pointwise_call(const Node *node) {
    const char *name = called_name(node, 1);
    return name != NULL && compile_names.may_wait(name);
}

bool is_where_call(const Node *node) {
    const char *name = called_name(node, 3);
    return name != NULL && strcmp(name, "where") == 0;
}

bool is_harmless(const Node *node) {
    switch (node->kind) {
    case AST_NAME:
    case AST_CONSTANT: return true;
    case AST_UNARY: return is_harmless(node->unary.operand);
    case AST_BINARY: return is_harmless(node->binary.left) && is_harmless(node->binary.right);
    case AST_COMPARE:
        return node->compare.comparators.count == 1 && is_harmless(node->compare.left) &&
               is_harmless(node->compare.comparators.items[0]);
    case AST_CALL:
        for (int i = 0; i < node->call.args.count; i++)
            if (!is_harmless(node->call.args.items[i])) return false;
        return is_pointwise_call(node) || is_where_call(node);
    default: return false;
    }
}

int take_may_wait(Compiler *c, const Node *node) {
    bool yes = c->may_wait == node;
    c->may_wait = NULL;
    return yes ? MAY_WAIT : 0;
}

bool is_sum_call(const Node *node) {
    const Node *f = node->call.func;
    if (node->call.args.count > 0 || node->call.keyword_count > 0 || f->kind != AST_ATTRIBUTE) return false;
    const Node *x = f->attribute.value;
    bool computed = x->kind == AST_BINARY || x->kind == AST_UNARY || is_pointwise_call(x) || is_where_call(x);
    return computed && (strcmp(f->attribute.name, "sum") == 0 || strcmp(f->attribute.name, "mean") == 0);
}
