/* stream_plan.c: finds the parts (stream_plan.h). A walk down the syntax tree from the statement with `_`: where a node
 * is a call of the list below, what it is called on is checked to be made row by row, and its text becomes a function
 * of a piece; else the walk goes on into the node's children. The columns that are asked for are gathered on the way.
 */
#include "stream_plan.h"

#include <stdio.h>
#include <string.h>

#include "lang/vm/prelude.h"
#include "lang/vm/vm.h"
#include "stream.h"

enum { MAX_COLUMNS = 256 };

typedef struct Finder {
    StreamPlan *plan;
    Source *source;
    const char *text;
    const Node *columns[MAX_COLUMNS]; /* constants */
    int column_count;
    bool all_columns;
    const Node *mask; /* which picks the rows that are looked at; NULL: all */
    const char *writer;
    TsrStatus status;
} Finder;

/* ---- text ---- */

static size_t begin_of(const Finder *f, const Node *n) {
    return source_line_offset(f->source, n->at.line) + (size_t)n->at.col;
}
static size_t end_of(const Finder *f, const Node *n) {
    return source_line_offset(f->source, n->at.end_line) + (size_t)n->at.end_col;
}

static bool is_word_byte(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* Whether `_` stands in [begin, end) by itself: as a name, or in a text. */
static bool mentions(const char *text, size_t begin, size_t end) {
    for (size_t i = begin; i < end; i++)
        if (text[i] == '_' && (i == 0 || !is_word_byte(text[i - 1])) && !is_word_byte(text[i + 1])) return true;
    return false;
}

static bool has_input(const Finder *f, const Node *n) { return mentions(f->text, begin_of(f, n), end_of(f, n)); }

static bool same_text(const Finder *f, const Node *a, const Node *b) {
    size_t n = end_of(f, a) - begin_of(f, a);
    return end_of(f, b) - begin_of(f, b) == n && memcmp(f->text + begin_of(f, a), f->text + begin_of(f, b), n) == 0;
}

/* ---- what is made row by row ---- */

static bool in_list(const char *word, const char *const *words) {
    for (; *words != NULL; words++)
        if (strcmp(*words, word) == 0) return true;
    return false;
}

static const char *const row_methods[] = {
    "abs",       "neg",         "sqrt",       "exp",         "expm1", "log",  "log2",    "log10", "log1p",
    "sin",       "cos",         "tan",        "tanh",        "floor", "ceil", "round",   "trunc", "sign",
    "square",    "reciprocal",  "double",     "float",       "long",  "int",  "bool",    "isnan", "isinf",
    "isfinite",  "nan_to_num",  "clamp",      "pow",         "add",   "sub",  "mul",     "div",   "eq",
    "ne",        "lt",          "le",         "gt",          "ge",    "isin", "sigmoid", "relu",  "fmod",
    "remainder", "logical_and", "logical_or", "logical_not", NULL};
static const char *const row_attributes[] = {"year", "month", "day", "hour", "minute", "second", "weekday", NULL};

static bool is_input(const Node *n) { return n->kind == AST_NAME && strcmp(n->name.id, "_") == 0; }
static bool is_text(const Node *n) { return n->kind == AST_CONSTANT && n->constant.kind == CONST_STR; }

/* One value, the same for all pieces. */
static bool is_fixed(const Finder *f, const Node *n) {
    if (has_input(f, n)) return false;
    if (n->kind == AST_UNARY) return is_fixed(f, n->unary.operand);
    if (n->kind == AST_ATTRIBUTE) return is_fixed(f, n->attribute.value);
    if (n->kind == AST_TUPLE || n->kind == AST_LIST) {
        for (int i = 0; i < n->list.count; i++)
            if (!is_fixed(f, n->list.items[i])) return false;
        return true;
    }
    return n->kind == AST_CONSTANT || n->kind == AST_NAME;
}

static void want(Finder *f, const Node *name) {
    if (f->column_count < MAX_COLUMNS) f->columns[f->column_count++] = name;
    else f->all_columns = true;
}

/* A text, or a list of some. */
static bool are_names(const Node *n) {
    if (is_text(n)) return true;
    if (n->kind != AST_LIST || n->list.count == 0) return false;
    for (int i = 0; i < n->list.count; i++)
        if (!is_text(n->list.items[i])) return false;
    return true;
}

static void want_names(Finder *f, const Node *n) {
    if (is_text(n)) return want(f, n);
    for (int i = 0; i < n->list.count; i++) want(f, n->list.items[i]);
}

/* [:, 2] or [:, 1:3] of a table of numbers. */
static bool is_column_index(const Finder *f, const Node *n) {
    if (n->kind != AST_TUPLE || n->list.count != 2) return false;
    const Node *rows = n->list.items[0], *columns = n->list.items[1];
    bool all =
        rows->kind == AST_SLICE && rows->slice.lower == NULL && rows->slice.upper == NULL && rows->slice.step == NULL;
    return all && !has_input(f, columns) && (columns->kind == AST_SLICE || is_fixed(f, columns));
}

static bool by_rows(Finder *f, const Node *n, bool asked);

/* Rows that a mask picks, `asked`: their columns are known already. */
static bool picked_rows(Finder *f, const Node *n, bool asked) {
    const Node *mask = n->subscript.index, *before = f->mask;
    if (!has_input(f, mask) || (before != NULL && !same_text(f, before, mask))) return false;
    f->mask = NULL;
    bool fine = by_rows(f, n->subscript.value, asked) && f->mask == NULL && by_rows(f, mask, false) && f->mask == NULL;
    f->mask = mask;
    return fine;
}

static bool rows_of_subscript(Finder *f, const Node *n, bool asked) {
    const Node *index = n->subscript.index;
    if (are_names(index)) {
        if (!asked) want_names(f, index);
        return by_rows(f, n->subscript.value, true);
    }
    if (is_column_index(f, index)) {
        f->all_columns = true;
        return by_rows(f, n->subscript.value, true);
    }
    return picked_rows(f, n, asked);
}

static bool same_mask(const Finder *f, const Node *a, const Node *b) {
    return a == b || (a != NULL && b != NULL && same_text(f, a, b));
}

/* Two sides: of the same rows, or one of them is fixed. */
static bool rows_of_two(Finder *f, const Node *a, const Node *b) {
    const Node *before = f->mask;
    if (is_fixed(f, a)) return by_rows(f, b, false);
    if (!by_rows(f, a, false)) return false;
    if (is_fixed(f, b)) return true;
    const Node *first = f->mask;
    f->mask = before;
    if (!by_rows(f, b, false)) return false;
    return same_mask(f, first, f->mask);
}

static bool rows_of_call(Finder *f, const Node *n) {
    const Node *method = n->call.func;
    if (method->kind != AST_ATTRIBUTE || !in_list(method->attribute.name, row_methods)) return false;
    for (int i = 0; i < n->call.keyword_count; i++)
        if (!is_fixed(f, n->call.keywords[i].value)) return false;
    for (int i = 0; i < n->call.args.count; i++)
        if (!is_fixed(f, n->call.args.items[i]) && !rows_of_two(f, method->attribute.value, n->call.args.items[i]))
            return false;
    return by_rows(f, method->attribute.value, false);
}

/* Whether an item for each row that f->mask picks comes of a row alone; `asked`: its columns are gathered already. */
static bool by_rows(Finder *f, const Node *n, bool asked) {
    switch ((NodeKind)n->kind) {
    case AST_NAME: f->all_columns |= !asked; return is_input(n);
    case AST_SUBSCRIPT: return rows_of_subscript(f, n, asked);
    case AST_CALL: return rows_of_call(f, n);
    case AST_UNARY: return n->unary.op != OP_NOT && by_rows(f, n->unary.operand, false);
    case AST_BINARY: return rows_of_two(f, n->binary.left, n->binary.right);
    case AST_COMPARE:
        return n->compare.comparators.count == 1 && n->compare.ops[0] <= CMP_GE &&
               rows_of_two(f, n->compare.left, n->compare.comparators.items[0]);
    case AST_ATTRIBUTE: return in_list(n->attribute.name, row_attributes) && by_rows(f, n->attribute.value, false);
    default: return false;
    }
}

/* ---- the parts ---- */

typedef enum Takes { NOTHING, MAYBE_ROWS, QUANTILE, HISTC, BINCOUNT, HEAD } Takes;

static const struct {
    const char *name;
    Takes takes;
} kinds[] = {
    {"sum", MAYBE_ROWS},    {"mean", MAYBE_ROWS},       {"std", MAYBE_ROWS}, {"var", MAYBE_ROWS},
    {"amin", MAYBE_ROWS},   {"amax", MAYBE_ROWS},       {"any", NOTHING},    {"all", NOTHING},
    {"min", NOTHING},       {"max", NOTHING},           {"argmin", NOTHING}, {"argmax", NOTHING},
    {"count", NOTHING},     {"numel", NOTHING},         {"median", NOTHING}, {"unique", NOTHING},
    {"quantile", QUANTILE}, {"count_nonzero", NOTHING}, {"histc", HISTC},    {"bincount", BINCOUNT},
    {"head", HEAD},
};

static bool is_keyword(const Keyword *k, const char *name) { return k->name != NULL && strcmp(k->name, name) == 0; }

static bool is_zero(const Node *n) {
    return n->kind == AST_CONSTANT && n->constant.kind == CONST_INT && strcmp(n->constant.text, "0") == 0;
}

/* Whether a call of that kind can be put together from pieces. */
static bool takes(const Finder *f, Takes kind, const Node *call) {
    int args = call->call.args.count, keywords = call->call.keyword_count;
    const Keyword *first = keywords > 0 ? &call->call.keywords[0] : NULL;
    for (int i = 0; i < args; i++)
        if (!is_fixed(f, call->call.args.items[i])) return false;
    for (int i = 0; i < keywords; i++)
        if (call->call.keywords[i].name == NULL || !is_fixed(f, call->call.keywords[i].value)) return false;
    switch (kind) {
    case NOTHING: return args + keywords == 0;
    case MAYBE_ROWS:
        if (args + keywords == 0) return true;
        if (args == 1 && keywords == 0) return is_zero(call->call.args.items[0]);
        return args == 0 && keywords == 1 && (is_keyword(first, "dim") || is_keyword(first, "axis")) &&
               is_zero(first->value);
    case QUANTILE: return args == 1 && keywords == 0;
    case HISTC: return args + keywords == 3;
    case BINCOUNT: return args == 0 && (keywords == 0 || (keywords == 1 && is_keyword(first, "minlength")));
    case HEAD: return args <= 1 && keywords == 0;
    }
    return false;
}

static TsrStatus append(TsrText *out, const Finder *f, const Node *n) {
    return tsr_text_append(out, f->text + begin_of(f, n), end_of(f, n) - begin_of(f, n));
}

/* `_["name"] = value` as an item of a tuple, which is worked out before what stands behind it. */
static TsrStatus append_assignments(Finder *f) {
    StreamPlan *p = f->plan;
    for (int i = 0; i < p->assignment_count; i++) {
        const Node *n = p->assignments[i];
        TSR_TRY(tsr_text_puts(&p->parts, "_.__setitem__("));
        TSR_TRY(append(&p->parts, f, n->assign.targets.items[0]->subscript.index));
        TSR_TRY(tsr_text_puts(&p->parts, ", ("));
        TSR_TRY(append(&p->parts, f, n->assign.value));
        TSR_TRY(tsr_text_puts(&p->parts, ")), "));
    }
    return TSR_OK;
}

/* `whole` is a part: `of` is what a piece gives, and behind it stands the call's text. */
static TsrStatus add_part(Finder *f, const char *kind, const Node *whole, const Node *of, const char *call, size_t n) {
    StreamPlan *p = f->plan;
    if (p->count == STREAM_MOST_PARTS) return tsr_error(TSR_VALUE_ERROR, "more than %d parts", STREAM_MOST_PARTS);
    p->nodes[p->count++] = (Node *)(uintptr_t)whole;
    TSR_TRY(tsr_text_printf(&p->parts, "('%s', (lambda _: (", kind));
    TSR_TRY(append_assignments(f));
    TSR_TRY(tsr_text_printf(&p->parts, "%s(", strcmp(kind, "rows") == 0 ? f->writer : ""));
    TSR_TRY(append(&p->parts, f, of));
    TSR_TRY(tsr_text_puts(&p->parts, p->assignment_count > 0 ? "))[-1]), (lambda f: f" : "))), (lambda f: f"));
    TSR_TRY(tsr_text_append(&p->parts, call, n));
    TSR_TRY(tsr_text_puts(&p->parts, ")),\n"));
    TSR_TRY(tsr_text_puts(&p->words, p->words.length > 0 ? ", " : ""));
    return append(&p->words, f, whole);
}

/* x.by('a')['b'], x.by('a') */
static const Node *groups_of(const Node *n, const Node **chosen) {
    *chosen = NULL;
    if (n->kind == AST_SUBSCRIPT && are_names(n->subscript.index)) {
        *chosen = n->subscript.index;
        n = n->subscript.value;
    }
    bool by = n->kind == AST_CALL && n->call.func->kind == AST_ATTRIBUTE &&
              strcmp(n->call.func->attribute.name, "by") == 0 && n->call.keyword_count == 0 && n->call.args.count > 0;
    return by ? n : NULL;
}

static bool group_rows(Finder *f, const Node *groups, const Node *chosen, bool counting) {
    const NodeList *keys = &groups->call.args;
    for (int i = 0; i < keys->count; i++) {
        if (!are_names(keys->items[i])) return false;
        want_names(f, keys->items[i]);
    }
    if (chosen != NULL) want_names(f, chosen);
    return by_rows(f, groups->call.func->attribute.value, chosen != NULL || counting);
}

/* Tries a node as a part: 1 it is one, 0 it is none. */
static bool part_of_groups(Finder *f, const Node *n) {
    static const char *const methods[] = {"sum", "mean", "std", "var", "min", "max", "count", NULL};
    const Node *chosen, *method = n->call.func;
    const Node *groups = groups_of(method->attribute.value, &chosen);
    char kind[16] = "by.";
    const char *name = method->attribute.name;
    if (groups == NULL || !in_list(name, methods) || !takes(f, NOTHING, n)) return false;
    if (!group_rows(f, groups, chosen, strcmp(name, "count") == 0)) return false;
    strcat(kind, name);
    f->status = add_part(f, kind, n, method->attribute.value, "()", 2);
    return true;
}

static bool part_of_method(Finder *f, const Node *n) {
    const Node *method = n->call.func;
    for (size_t i = 0; i < TSR_COUNTOF(kinds); i++) {
        if (strcmp(kinds[i].name, method->attribute.name) != 0 || !takes(f, kinds[i].takes, n)) continue;
        if (!by_rows(f, method->attribute.value, false)) return false;
        f->status = add_part(f, kinds[i].name, n, method->attribute.value, f->text + end_of(f, method),
                             end_of(f, n) - end_of(f, method));
        return true;
    }
    return false;
}

static bool part_of_length(Finder *f, const Node *n) {
    bool len = n->call.func->kind == AST_NAME && strcmp(n->call.func->name.id, "len") == 0;
    if (!len || n->call.args.count != 1 || n->call.keyword_count != 0) return false;
    const Node *x = n->call.args.items[0];
    if (!by_rows(f, x, is_input(x) || x->kind == AST_SUBSCRIPT)) return false;
    f->status = add_part(f, "len", n, x, "()", 2);
    return true;
}

/* _[:5]: as head(5). */
static bool part_of_slice(Finder *f, const Node *n) {
    const Node *index = n->subscript.index;
    if (index->kind != AST_SLICE || index->slice.step != NULL || index->slice.upper == NULL ||
        (index->slice.lower != NULL && !is_zero(index->slice.lower)))
        return false;
    const Node *upper = index->slice.upper;
    bool few = upper->kind == AST_CONSTANT && upper->constant.kind == CONST_INT && upper->constant.base == 10 &&
               strlen(upper->constant.text) <= 3;
    if (!few || !by_rows(f, n->subscript.value, false)) return false;
    TsrText call = {0};
    f->status = tsr_text_printf(&call, "(%s)", upper->constant.text);
    if (f->status == TSR_OK) f->status = add_part(f, "head", n, n->subscript.value, call.data, call.length);
    tsr_text_free(&call);
    return true;
}

static bool part(Finder *f, const Node *n) {
    int columns = f->column_count;
    bool all = f->all_columns, found = false;
    f->mask = NULL;
    if (n->kind == AST_SUBSCRIPT) found = part_of_slice(f, n);
    if (n->kind == AST_CALL && n->call.func->kind == AST_ATTRIBUTE)
        found = part_of_groups(f, n) || part_of_method(f, n);
    if (n->kind == AST_CALL && !found) found = part_of_length(f, n);
    if (!found) {
        f->column_count = columns;
        f->all_columns = all;
    }
    return found;
}

/* ---- the rest of the program ---- */

static bool walk(Finder *f, const Node *n);

static bool walk_all(Finder *f, const NodeList *list) {
    for (int i = 0; i < list->count; i++)
        if (list->items[i] != NULL && !walk(f, list->items[i])) return false;
    return true;
}

static bool walk_call(Finder *f, const Node *n) {
    if (!walk(f, n->call.func) || !walk_all(f, &n->call.args)) return false;
    for (int i = 0; i < n->call.keyword_count; i++)
        if (!walk(f, n->call.keywords[i].value)) return false;
    return true;
}

static void say_why(Finder *f, const Node *n) {
    const TsrText *said = &f->plan->words;
    if (said->length > 0 && f->plan->count == 0 && strcmp(said->data, "_") != 0) return;
    f->plan->words.length = 0;
    f->status = append(&f->plan->words, f, n);
}

/* Whether `_` is in parts alone. Children in the order of the text, so that the parts are, too. */
static bool walk(Finder *f, const Node *n) {
    bool fine = false;
    if (f->status != TSR_OK) return false;
    if (!has_input(f, n)) return true;
    if (part(f, n)) return f->status == TSR_OK;
    switch ((NodeKind)n->kind) {
    case AST_CALL: fine = walk_call(f, n); break;
    case AST_ATTRIBUTE: fine = walk(f, n->attribute.value); break;
    case AST_SUBSCRIPT: fine = walk(f, n->subscript.value) && walk(f, n->subscript.index); break;
    case AST_UNARY: fine = walk(f, n->unary.operand); break;
    case AST_BINARY: fine = walk(f, n->binary.left) && walk(f, n->binary.right); break;
    case AST_COMPARE: fine = walk(f, n->compare.left) && walk_all(f, &n->compare.comparators); break;
    case AST_TUPLE:
    case AST_LIST: fine = walk_all(f, &n->list); break;
    case AST_DICT:
        fine = true;
        for (int i = 0; i < n->dict.values.count && fine; i++)
            fine =
                (n->dict.keys.items[i] == NULL || walk(f, n->dict.keys.items[i])) && walk(f, n->dict.values.items[i]);
        break;
    default: break;
    }
    if (!fine && f->status == TSR_OK) say_why(f, n);
    return fine;
}

/* `_`, or rows and columns of it: as they stand. */
static bool is_choice(const Node *n) {
    while (n->kind == AST_SUBSCRIPT) n = n->subscript.value;
    return is_input(n);
}

/* {**_, 'total': _['n'] * _['price'], 'kind': 'x'}: columns of the same rows, and single values. */
static bool are_columns(Finder *f, const Node *n) {
    const Node *mask = NULL;
    int found = 0;
    for (int i = 0; n->kind == AST_DICT && i < n->dict.values.count; i++) {
        const Node *key = n->dict.keys.items[i], *value = n->dict.values.items[i];
        if (key == NULL ? !is_choice(value) : !is_text(key)) return false;
        if (is_fixed(f, value)) continue;
        f->mask = NULL;
        if (!by_rows(f, value, false)) return false;
        if (found++ > 0 && !same_mask(f, mask, f->mask)) return false;
        mask = f->mask;
    }
    return found > 0;
}

/* Whether a statement gives rows that are written as they come. */
static bool is_written(Finder *f, const Node *n) {
    const int columns = f->column_count;
    const bool all = f->all_columns;
    f->mask = NULL;
    if (f->writer != NULL && n->kind == AST_EXPR &&
        (is_choice(n->value) ? by_rows(f, n->value, false) : are_columns(f, n->value))) {
        f->plan->writes = true;
        f->status = add_part(f, "rows", n->value, n->value, "()", 2);
        return true;
    }
    f->column_count = columns;
    f->all_columns = all;
    return false;
}

/* `_["total"] = _["n"] * _["price"]`: a column of the same rows, or of one value in each of them. */
static bool is_assignment(Finder *f, const Node *n) {
    if (n->kind != AST_ASSIGN || n->assign.targets.count != 1) return false;
    const Node *target = n->assign.targets.items[0];
    if (target->kind != AST_SUBSCRIPT || !is_input(target->subscript.value) || !is_text(target->subscript.index))
        return false;
    f->mask = NULL;
    return n->assign.value->kind == AST_CONSTANT || (by_rows(f, n->assign.value, false) && f->mask == NULL);
}

/* The assignments with which the program begins to use `_`, if it ends with rows that are written; else none: what is
 * asked for of an assigned column would have to wait for it. */
static bool take_assignments(Finder *f, const Ast *ast) {
    StreamPlan *p = f->plan;
    for (int i = 0; i + 1 < ast->body.count && f->writer != NULL; i++) {
        Node *n = ast->body.items[i];
        if (!has_input(f, n)) continue;
        if (p->assignment_count == STREAM_MOST_PARTS || !is_assignment(f, n)) break;
        p->assignments[p->assignment_count++] = n;
    }
    if (p->assignment_count == 0) return false;
    f->all_columns = true;
    return true;
}

static bool is_taken(const StreamPlan *p, const Node *n) {
    for (int i = 0; i < p->assignment_count; i++)
        if (p->assignments[i] == n) return true;
    return false;
}

static bool walk_program(Finder *f, const Ast *ast) {
    const Node *with = NULL;
    bool assigns = take_assignments(f, ast);
    for (int i = 0; i < ast->body.count; i++) {
        const Node *n = ast->body.items[i];
        if (!has_input(f, n) || is_taken(f->plan, n)) continue;
        if (with != NULL || (n->kind != AST_EXPR && n->kind != AST_ASSIGN)) return false;
        with = n;
        if (i + 1 == ast->body.count && is_written(f, n)) continue;
        if (assigns) return false;
        if (n->kind == AST_ASSIGN)
            for (int k = 0; k < n->assign.targets.count; k++)
                if (has_input(f, n->assign.targets.items[k])) return false;
        if (!walk(f, n->kind == AST_EXPR ? n->value : n->assign.value)) return false;
    }
    return with != NULL && f->plan->count > 0;
}

static TsrStatus write_columns(Finder *f) {
    for (int i = 0; i < f->column_count && !f->all_columns; i++) {
        const Node *n = f->columns[i];
        bool known = false;
        for (int k = 0; k < i && !known; k++)
            known = f->columns[k]->constant.length == n->constant.length &&
                    memcmp(f->columns[k]->constant.text, n->constant.text, n->constant.length) == 0;
        if (known) continue;
        TsrText *out = &f->plan->columns;
        TSR_TRY(tsr_text_puts(out, out->length > 0 ? ",\"" : "\""));
        for (size_t k = 0; k < n->constant.length; k++)
            TSR_TRY(tsr_text_puts(out, n->constant.text[k] == '"' ? "\"\"" : (char[]){n->constant.text[k], '\0'}));
        TSR_TRY(tsr_text_putc(out, '"'));
    }
    return TSR_OK;
}

TsrStatus stream_plan_find(StreamPlan *out, const Ast *program, const char *writer) {
    size_t length;
    *out = (StreamPlan){0};
    Finder f = {
        .plan = out, .source = program->source, .text = source_text(program->source, &length), .writer = writer};
    if (!mentions(f.text, 0, length)) return TSR_OK;
    out->streams = walk_program(&f, program) && f.status == TSR_OK;
    return f.status == TSR_OK && out->streams ? write_columns(&f) : f.status;
}

/* A node of the tree at the place of another. */
static TsrStatus new_node(Node **out, Ast *program, NodeKind kind, const Node *at) {
    *out = arena_alloc(program->arena, sizeof **out);
    if (*out == NULL) return tsr_error_no_memory(sizeof **out);
    **out = (Node){.kind = (uint8_t)kind, .height = 1, .at = at->at};
    return TSR_OK;
}

static TsrStatus replace_node(Node *n, Ast *program, const char *name, int i) {
    Node *function, *call, *index;
    TSR_TRY(new_node(&function, program, AST_NAME, n));
    TSR_TRY(new_node(&call, program, AST_CALL, n));
    TSR_TRY(new_node(&index, program, AST_CONSTANT, n));
    char digits[16];
    snprintf(digits, sizeof digits, "%d", i);
    function->name.id = name;
    call->height = 2;
    call->call.func = function;
    index->constant.kind = CONST_INT;
    index->constant.base = 10;
    index->constant.length = strlen(digits);
    index->constant.text = arena_copy(program->arena, digits, index->constant.length);
    if (index->constant.text == NULL) return tsr_error_no_memory(sizeof digits);
    *n = (Node){.kind = AST_SUBSCRIPT, .height = n->height, .parens = n->parens, .at = n->at};
    n->subscript.value = call;
    n->subscript.index = index;
    return TSR_OK;
}

TsrStatus stream_plan_replace(const StreamPlan *plan, Ast *program, const char *function) {
    const char *name = arena_copy(program->arena, function, strlen(function));
    if (name == NULL) return tsr_error_no_memory(strlen(function));
    for (int i = 0; i < plan->count; i++) TSR_TRY(replace_node(plan->nodes[i], program, name, i));
    for (int i = 0; i < plan->assignment_count; i++) {
        Node *n = plan->assignments[i];
        *n = (Node){.kind = AST_PASS, .height = 1, .at = n->at};
    }
    return TSR_OK;
}

void stream_plan_clear(StreamPlan *plan) {
    tsr_text_free(&plan->parts);
    tsr_text_free(&plan->columns);
    tsr_text_free(&plan->words);
    *plan = (StreamPlan){0};
}

/* ---- running ---- */

static TsrStatus run_parts(Value *out, const StreamPlan *plan) {
    TsrText text = {0};
    TsrStatus status = tsr_text_printf(&text, "[%s]", plan->parts.data);
    if (status == TSR_OK) status = vm_run_text_here(out, text.data, text.length, "<prelude parts>");
    tsr_text_free(&text);
    return status;
}

TsrStatus stream_plan_run_move(Value *out, const StreamPlan *plan, TsrChunks *chunks) {
    Value arguments[2], callee = VALUE_UNBOUND;
    TSR_TRY(stream_new_move(&arguments[0], chunks, 0));
    TsrStatus status = run_parts(&arguments[1], plan);
    if (status == TSR_OK) {
        status = prelude_get(&callee, "stream", "run");
        if (status == TSR_OK) status = value_call_n(out, callee, 2, arguments);
        value_release(callee);
        value_release(arguments[1]);
    }
    value_release(arguments[0]);
    return status;
}
