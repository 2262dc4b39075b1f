#include "ast_dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dump {
    FILE *to;
    bool positions;
} Dump;

static void dump_node(Dump *d, const Node *n);

static void dump_text(Dump *d, const char *text, size_t length) {
    fputc('\'', d->to);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c >= 0x7F || c == '\'' || c == '\\') fprintf(d->to, "\\x%02x", c);
        else fputc(c, d->to);
    }
    fputc('\'', d->to);
}

static void dump_list(Dump *d, const char *name, const NodeList *list) {
    fprintf(d->to, " %s=[", name);
    for (int i = 0; i < list->count; i++) {
        if (i > 0) fputs(", ", d->to);
        dump_node(d, list->items[i]);
    }
    fputc(']', d->to);
}

static void dump_field(Dump *d, const char *name, const Node *n) {
    if (n == NULL) return;
    fprintf(d->to, " %s=", name);
    dump_node(d, n);
}

static void dump_constant(Dump *d, const Node *n) {
    static const char *const fixed[] = {"None", "True", "False", "Ellipsis"};
    switch (n->constant.kind) {
    case CONST_INT: fprintf(d->to, " int%d:%s", n->constant.base, n->constant.text); break;
    case CONST_FLOAT: fprintf(d->to, " float:%.17g", n->constant.number); break;
    case CONST_IMAGINARY: fprintf(d->to, " imag:%.17g", n->constant.number); break;
    case CONST_STR:
    case CONST_BYTES:
        fputs(n->constant.kind == CONST_STR ? " " : " b", d->to);
        dump_text(d, n->constant.text, n->constant.length);
        break;
    default: fprintf(d->to, " %s", fixed[n->constant.kind]);
    }
}

static void dump_params(Dump *d, const Node *n) {
    static const char *const kinds[] = {"pos", "arg", "star", "kwonly", "kwargs"};
    fputs(" params=[", d->to);
    for (int i = 0; i < n->function.param_count; i++) {
        const Param *p = &n->function.params[i];
        fprintf(d->to, "%s%s:%s", i > 0 ? ", " : "", kinds[p->kind], p->name);
        dump_field(d, "annotation", p->annotation);
        dump_field(d, "default", p->default_value);
    }
    fputc(']', d->to);
}

static void dump_generators(Dump *d, const Node *n) {
    for (int i = 0; i < n->comprehension.generator_count; i++) {
        const Comprehension *g = &n->comprehension.generators[i];
        dump_field(d, "for", g->target);
        dump_field(d, "in", g->iterable);
        dump_list(d, "ifs", &g->conditions);
    }
}

static void dump_expression(Dump *d, const Node *n) {
    static const char *const unary[] = {"Not", "USub", "UAdd", "Invert"};
    switch ((NodeKind)n->kind) {
    case AST_CONSTANT: dump_constant(d, n); break;
    case AST_NAME: fprintf(d->to, " %s", n->name.id); break;
    case AST_TUPLE:
    case AST_LIST:
    case AST_SET:
    case AST_JOINED: dump_list(d, "elts", &n->list); break;
    case AST_DICT:
        for (int i = 0; i < n->dict.values.count; i++) {
            dump_field(d, "key", n->dict.keys.items[i]);
            dump_field(d, "value", n->dict.values.items[i]);
        }
        break;
    case AST_UNARY:
        fprintf(d->to, " %s", unary[n->unary.op]);
        dump_field(d, "operand", n->unary.operand);
        break;
    case AST_BINARY:
        dump_field(d, "left", n->binary.left);
        fprintf(d->to, " op=%d", n->binary.op);
        dump_field(d, "right", n->binary.right);
        break;
    case AST_BOOL:
        fputs(n->boolean.is_or ? " Or" : " And", d->to);
        dump_list(d, "values", &n->boolean.values);
        break;
    case AST_COMPARE:
        dump_field(d, "left", n->compare.left);
        for (int i = 0; i < n->compare.comparators.count; i++) fprintf(d->to, " op=%d", n->compare.ops[i]);
        dump_list(d, "comparators", &n->compare.comparators);
        break;
    case AST_CONDITIONAL:
        dump_field(d, "test", n->conditional.test);
        dump_field(d, "body", n->conditional.body);
        dump_field(d, "orelse", n->conditional.orelse);
        break;
    case AST_CALL:
        dump_field(d, "func", n->call.func);
        dump_list(d, "args", &n->call.args);
        for (int i = 0; i < n->call.keyword_count; i++)
            dump_field(d, n->call.keywords[i].name != NULL ? n->call.keywords[i].name : "**",
                       n->call.keywords[i].value);
        break;
    case AST_ATTRIBUTE:
        dump_field(d, "value", n->attribute.value);
        fprintf(d->to, " attr=%s", n->attribute.name);
        break;
    case AST_SUBSCRIPT:
        dump_field(d, "value", n->subscript.value);
        dump_field(d, "slice", n->subscript.index);
        break;
    case AST_SLICE:
        dump_field(d, "lower", n->slice.lower);
        dump_field(d, "upper", n->slice.upper);
        dump_field(d, "step", n->slice.step);
        break;
    case AST_LAMBDA:
        dump_params(d, n);
        dump_field(d, "body", n->function.value);
        break;
    case AST_LIST_COMP:
    case AST_SET_COMP:
    case AST_DICT_COMP:
    case AST_GENERATOR:
        dump_field(d, "key", n->comprehension.key);
        dump_field(d, "elt", n->comprehension.element);
        dump_generators(d, n);
        break;
    case AST_NAMED:
        dump_field(d, "target", n->named.target);
        dump_field(d, "value", n->named.value);
        break;
    case AST_FORMATTED:
        dump_field(d, "value", n->formatted.value);
        if (n->formatted.conversion != 0) fprintf(d->to, " !%c", n->formatted.conversion);
        dump_field(d, "spec", n->formatted.spec);
        break;
    default: dump_field(d, "value", n->value);
    }
}

static void dump_import(Dump *d, const Node *n) {
    fprintf(d->to, " module=%s level=%d", n->import.module != NULL ? n->import.module : "", n->import.level);
    for (int i = 0; i < n->import.count; i++) {
        const Alias *a = &n->import.names[i];
        fprintf(d->to, " %s%s%s", a->name, a->asname != NULL ? " as " : "", a->asname != NULL ? a->asname : "");
    }
}

static void dump_with(Dump *d, const Node *n) {
    for (int i = 0; i < n->with.count; i++) {
        dump_field(d, "context", n->with.items[i].context);
        dump_field(d, "as", n->with.items[i].target);
    }
    dump_list(d, "body", &n->with.body);
}

static void dump_statement(Dump *d, const Node *n) {
    switch ((NodeKind)n->kind) {
    case AST_ASSIGN:
        dump_list(d, "targets", &n->assign.targets);
        dump_field(d, "value", n->assign.value);
        break;
    case AST_AUG_ASSIGN:
        dump_field(d, "target", n->augmented.target);
        fprintf(d->to, " op=%d", n->augmented.op);
        dump_field(d, "value", n->augmented.value);
        break;
    case AST_ANN_ASSIGN:
        dump_field(d, "target", n->annotated.target);
        dump_field(d, "annotation", n->annotated.annotation);
        dump_field(d, "value", n->annotated.value);
        fprintf(d->to, " simple=%d", n->annotated.simple);
        break;
    case AST_IF:
    case AST_WHILE:
        dump_field(d, "test", n->branch.test);
        dump_list(d, "body", &n->branch.body);
        dump_list(d, "orelse", &n->branch.orelse);
        break;
    case AST_FOR:
        dump_field(d, "target", n->loop.target);
        dump_field(d, "iter", n->loop.iterable);
        dump_list(d, "body", &n->loop.body);
        dump_list(d, "orelse", &n->loop.orelse);
        break;
    case AST_DEF:
        fprintf(d->to, " name=%s generator=%d", n->function.name, n->function.is_generator);
        dump_params(d, n);
        dump_field(d, "returns", n->function.returns);
        if (n->function.decorators.count > 0) dump_list(d, "decorators", &n->function.decorators);
        dump_list(d, "body", &n->function.body);
        break;
    case AST_DELETE: dump_list(d, "targets", &n->list); break;
    case AST_GLOBAL:
    case AST_NONLOCAL:
        for (int i = 0; i < n->names.count; i++) fprintf(d->to, " %s", n->names.items[i].name);
        break;
    case AST_ASSERT:
        dump_field(d, "test", n->assertion.test);
        dump_field(d, "msg", n->assertion.message);
        break;
    case AST_RAISE:
        dump_field(d, "exc", n->raise.exception);
        dump_field(d, "cause", n->raise.cause);
        break;
    case AST_TRY:
        dump_list(d, "body", &n->attempt.body);
        dump_list(d, "handlers", &n->attempt.handlers);
        dump_list(d, "orelse", &n->attempt.orelse);
        dump_list(d, "finalbody", &n->attempt.finally);
        break;
    case AST_HANDLER:
        dump_field(d, "type", n->handler.type);
        if (n->handler.name != NULL) fprintf(d->to, " name=%s", n->handler.name);
        dump_list(d, "body", &n->handler.body);
        break;
    case AST_WITH: dump_with(d, n); break;
    case AST_IMPORT:
    case AST_IMPORT_FROM: dump_import(d, n); break;
    case AST_PASS:
    case AST_BREAK:
    case AST_CONTINUE: break;
    default: dump_field(d, "value", n->value);
    }
}

static void dump_node(Dump *d, const Node *n) {
    static const char *const names[AST_KIND_COUNT] = {
        "Constant",  "Name",           "Tuple",   "List",     "Set",           "Dict",      "UnaryOp",  "BinOp",
        "BoolOp",    "Compare",        "IfExp",   "Call",     "Attribute",     "Subscript", "Slice",    "Starred",
        "Lambda",    "ListComp",       "SetComp", "DictComp", "GeneratorExp",  "NamedExpr", "Yield",    "YieldFrom",
        "JoinedStr", "FormattedValue", "Expr",    "Assign",   "AugAssign",     "AnnAssign", "If",       "While",
        "For",       "FunctionDef",    "Return",  "Delete",   "Pass",          "Break",     "Continue", "Global",
        "Nonlocal",  "Assert",         "Raise",   "Try",      "ExceptHandler", "With",      "Import",   "ImportFrom"};
    fprintf(d->to, "(%s", names[n->kind]);
    if (d->positions) fprintf(d->to, "@%d:%d-%d:%d", n->at.line, n->at.col, n->at.end_line, n->at.end_col);
    if (n->ctx != CTX_LOAD) fputs(n->ctx == CTX_STORE ? " Store" : " Del", d->to);
    if (n->kind < AST_EXPR) dump_expression(d, n);
    else dump_statement(d, n);
    fputc(')', d->to);
}

TsrStatus ast_dump_new(char **out, const Ast *ast, bool positions) {
    size_t size = 0;
    *out = NULL;
    Dump d = {open_memstream(out, &size), positions};
    if (d.to == NULL) return tsr_error_no_memory(1);
    for (int i = 0; i < ast->body.count; i++) {
        dump_node(&d, ast->body.items[i]);
        fputc('\n', d.to);
    }
    if (fclose(d.to) != 0) {
        free(*out);
        *out = NULL;
        return tsr_error_no_memory(size);
    }
    return TSR_OK;
}
