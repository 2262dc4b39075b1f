/* reason.c: a check's tree says where its operands stand in the text; each is evaluated by itself and written as its
 * repr. */
#include "reason.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lang/syntax/parser.h"
#include "lang/types/str.h"
#include "lang/vm/vm.h"

enum { LONGEST = 170 }; /* bytes of a value that are shown: what golden() finds is a sentence */

static void forget(TsrStatus status) {
    Value exception;
    if (vm_take_error(&exception, status)) value_release(exception);
    tsr_error_clear();
}

bool reason_holds(Span expression) {
    Value v = VALUE_UNBOUND;
    bool result = false;
    TsrStatus status = vm_run_text_here(&v, expression.begin, (size_t)span_length(expression), "<check>");
    if (status == TSR_OK) status = value_truth(&result, v);
    value_release(v);
    if (status != TSR_OK) forget(status);
    return status == TSR_OK && result;
}

static bool goes_on(const char *at, Span s) {
    return at >= s.begin && at < s.end && (isalnum((unsigned char)*at) || *at == '_' || *at == '.');
}

/* Whether it can't be evaluated for want of a name: what a check says in words is about the value then missing. */
static bool lacks_name(Span expression) {
    Value v = VALUE_UNBOUND, exception;
    TsrStatus status = vm_run_text_here(&v, expression.begin, (size_t)span_length(expression), "<check>");
    value_release(v);
    if (status == TSR_OK || !vm_take_error(&exception, status)) return false;
    bool lacks = value_exc(exception)->kind == TSR_NAME_ERROR;
    value_release(exception);
    tsr_error_clear();
    return lacks;
}

bool reason_asks_last(Span s) {
    for (const char *c = s.begin; c < s.end; c++)
        if (*c == '_' && !goes_on(c - 1, s) && (c + 1 == s.end || c[1] == '.' || !goes_on(c + 1, s))) return true;
    return false;
}

/* ---- pieces of the text ---- */

typedef struct Check { /* a check that was parsed */
    const Source *source;
    TsrText *out;
} Check;

/* Where the node stands; its brackets, if it had some, are not in it. */
static Span text_of(const Check *c, const Node *node) {
    size_t length;
    const char *text = source_text(c->source, &length);
    size_t begin = source_line_offset(c->source, node->at.line) + (size_t)node->at.col;
    size_t end = source_line_offset(c->source, node->at.end_line) + (size_t)node->at.end_col;
    return (Span){text + begin, text + end};
}

static TsrStatus say(TsrText *out, Span s) { return tsr_text_append(out, s.begin, (size_t)span_length(s)); }

/* In one line, of bounded length; cut between code points. */
static TsrStatus say_short(TsrText *out, const char *text) {
    size_t n = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || (*c == ' ' && c > text && (c[-1] == ' ' || c[-1] == '\n'))) {
            if (*c == '\n') TSR_TRY(tsr_text_putc(out, ' '));
            continue;
        }
        if (++n > LONGEST && ((unsigned char)*c & 0xc0) != 0x80) return tsr_text_puts(out, "...");
        TSR_TRY(tsr_text_putc(out, *c));
    }
    return TSR_OK;
}

/* "TypeError: what it says"; a missing name without its type. */
static TsrStatus say_exception(TsrText *out, Value exception) {
    TsrText message = {0};
    TsrStatus status = value_str(&message, exception);
    bool plain = value_exc(exception)->kind == TSR_NAME_ERROR;
    if (status == TSR_OK && !plain) status = tsr_text_printf(out, "%s: ", value_exc(exception)->gc.obj.type->name);
    if (status == TSR_OK) status = say_short(out, message.data != NULL ? message.data : "");
    tsr_text_free(&message);
    return status;
}

/* The name whose attribute `h.tolist()` asks for; empty when it begins with none. */
static Span name_asked(Span expression) {
    Span name = {expression.begin, expression.begin};
    while (name.end < expression.end && (isalnum((unsigned char)*name.end) || *name.end == '_')) name.end++;
    return name.end < expression.end && *name.end == '.' ? name : (Span){name.begin, name.begin};
}

static TsrStatus say_type(TsrText *out, Span name, Value v) {
    bool last = span_length(name) == 1 && *name.begin == '_', function = strstr(value_type_name(v), "function") != NULL;
    TsrText whole = {0};
    if (last) TSR_TRY(tsr_text_puts(out, "what was shown"));
    else TSR_TRY(tsr_text_append(out, name.begin, (size_t)span_length(name)));
    if (function) return tsr_text_puts(out, " is a function that was not called: () is missing");
    TSR_TRY(tsr_text_printf(out, " is of type %s: ", value_type_name(v)));
    TsrStatus status = value_repr(&whole, v);
    if (status == TSR_OK) status = say_short(out, whole.data != NULL ? whole.data : "");
    tsr_text_free(&whole);
    return status;
}

/* Of an attribute that is missing: what its owner is, when that is no tensor ("h is of type list: [0.5, 1.5]"). */
static TsrStatus say_owner(TsrText *out, Span expression, bool *said) {
    Value v = VALUE_UNBOUND;
    Span name = name_asked(expression);
    if (span_is_empty(name)) return TSR_OK;
    TsrStatus status = vm_run_text_here(&v, name.begin, (size_t)span_length(name), "<check>");
    if (status != TSR_OK) return forget(status), TSR_OK;
    *said = v.tag != V_TENSOR;
    if (*said) status = say_type(out, name, v);
    value_release(v);
    return status;
}

/* Why the expression has no value. */
static TsrStatus say_failure(TsrText *out, Span expression, TsrStatus failed) {
    Value exception;
    bool said = false;
    TsrStatus status = TSR_OK;
    if (!vm_take_error(&exception, failed)) return tsr_text_puts(out, "an error");
    if (strcmp(value_exc(exception)->gc.obj.type->name, "AttributeError") == 0)
        status = say_owner(out, expression, &said);
    if (status == TSR_OK && !said) status = say_exception(out, exception);
    value_release(exception);
    tsr_error_clear();
    return status;
}

/* The value's repr into `value`; false when it can't be computed: then `value` says why. */
static bool evaluate(TsrText *value, Span expression) {
    Value v = VALUE_UNBOUND;
    TsrText whole = {0};
    TsrStatus status = vm_run_text_here(&v, expression.begin, (size_t)span_length(expression), "<check>");
    if (status == TSR_OK) status = value_repr(&whole, v);
    value_release(v);
    bool fine = status == TSR_OK && say_short(value, whole.data != NULL ? whole.data : "") == TSR_OK;
    if (status != TSR_OK) forget(say_failure(value, expression, status));
    tsr_text_free(&whole);
    return fine;
}

static const char *text_or_empty(const TsrText *t) { return t->data != NULL ? t->data : ""; }

/* ---- the reasons ---- */

static bool is_last(Span s) { return span_length(s) == 1 && *s.begin == '_'; }

static TsrStatus say_name(TsrText *out, Span expression) {
    return is_last(expression) ? tsr_text_puts(out, "what was shown") : say(out, expression);
}

/* "EXPRESSION is VALUE", or why it has none. *fine: it has one. */
static TsrStatus say_value(const Check *c, Span expression, bool *fine) {
    TsrText value = {0};
    *fine = evaluate(&value, expression);
    TsrStatus status = TSR_OK;
    if (*fine) {
        status = say_name(c->out, expression);
        if (status == TSR_OK) status = tsr_text_puts(c->out, " is ");
    }
    if (status == TSR_OK) status = tsr_text_puts(c->out, text_or_empty(&value));
    tsr_text_free(&value);
    return status;
}

static TsrStatus say_operand(const Check *c, const char *before, Span expression) {
    TsrText value = {0};
    evaluate(&value, expression);
    TsrStatus status = tsr_text_printf(c->out, "%s%s", before, text_or_empty(&value));
    tsr_text_free(&value);
    return status;
}

/* "a is 4, not 3", "x is 0, not > 2", "'col' is not in sharing(a): ['row']". */
static TsrStatus reason_of_compare(const Check *c, const Node *node) {
    Span left = text_of(c, node->compare.left), right = text_of(c, node->compare.comparators.items[0]);
    CompareOp op = (CompareOp)node->compare.ops[0];
    bool fine;
    if (op == CMP_IN || op == CMP_NOT_IN) {
        TSR_TRY(say_name(c->out, left));
        TSR_TRY(tsr_text_puts(c->out, op == CMP_IN ? " is not in " : " is in "));
        TSR_TRY(say(c->out, right));
        return say_operand(c, ": ", right);
    }
    TSR_TRY(say_value(c, left, &fine));
    if (!fine || reason_asks_last(left)) return TSR_OK;
    if (op == CMP_EQ) return say_operand(c, ", not ", right);
    if (op == CMP_NE && node->compare.comparators.items[0]->kind == AST_CONSTANT) return TSR_OK;
    return say_operand(c,
                       op == CMP_NE   ? ", as is "
                       : op == CMP_LT ? ", not < "
                       : op == CMP_LE ? ", not <= "
                       : op == CMP_GT ? ", not > "
                                      : ", not >= ",
                       right);
}

/* "old is not x". */
static TsrStatus reason_of_identity(const Check *c, const Node *node) {
    TSR_TRY(say_name(c->out, text_of(c, node->compare.left)));
    TSR_TRY(tsr_text_puts(c->out, node->compare.ops[0] == CMP_IS ? " is not " : " is "));
    return say(c->out, text_of(c, node->compare.comparators.items[0]));
}

/* Whether both sides have values: a name may be missing. */
static bool has_values(const Check *c, const Node *node) {
    TsrText unused = {0};
    bool fine = evaluate(&unused, text_of(c, node->compare.left)) &&
                evaluate(&unused, text_of(c, node->compare.comparators.items[0]));
    tsr_text_free(&unused);
    return fine;
}

static TsrStatus reason_of(const Check *c, const Node *node);

/* Of `and` the first operand that is false, of `or` the first of all. */
static TsrStatus reason_of_bool(const Check *c, const Node *node) {
    const NodeList *values = &node->boolean.values;
    for (int i = 0; i < values->count; i++)
        if (node->boolean.is_or || !reason_holds(text_of(c, values->items[i]))) return reason_of(c, values->items[i]);
    return TSR_OK;
}

static bool is_plain_compare(const Node *node) {
    return node->kind == AST_COMPARE && node->compare.comparators.count == 1;
}
static bool is_identity(const Node *node) {
    return is_plain_compare(node) && (node->compare.ops[0] == CMP_IS || node->compare.ops[0] == CMP_IS_NOT);
}

/* isinstance(NAME, ...), whose value says less than what NAME is. */
static bool asks_type(const Check *c, const Node *node) {
    if (node->kind != AST_CALL || node->call.args.count != 2) return false;
    Span name = text_of(c, node->call.func);
    return span_length(name) == 10 && memcmp(name.begin, "isinstance", 10) == 0 &&
           node->call.args.items[0]->kind == AST_NAME;
}

/* "what was shown is of type tuple: (3, 1)". */
static TsrStatus reason_of_type(const Check *c, Span name) {
    Value v = VALUE_UNBOUND;
    bool fine;
    TsrStatus status = vm_run_text_here(&v, name.begin, (size_t)span_length(name), "<check>");
    if (status != TSR_OK) return forget(status), say_value(c, name, &fine);
    status = say_type(c->out, name, v);
    value_release(v);
    return status;
}

static TsrStatus reason_of(const Check *c, const Node *node) {
    bool fine;
    if (node->kind == AST_BOOL) return reason_of_bool(c, node);
    if (is_identity(node) && has_values(c, node)) return reason_of_identity(c, node);
    if (is_plain_compare(node) && !is_identity(node)) return reason_of_compare(c, node);
    if (asks_type(c, node)) return reason_of_type(c, text_of(c, node->call.args.items[0]));
    if (node->kind == AST_UNARY && node->unary.op == OP_NOT) node = node->unary.operand;
    return say_value(c, text_of(c, node), &fine);
}

/* What stands behind the expression as a comment. */
static Span words_of(Span whole, size_t end) {
    const char *hash = memchr(whole.begin + end, '#', (size_t)span_length(whole) - end);
    if (hash == NULL) return (Span){whole.end, whole.end};
    hash++;
    while (hash < whole.end && *hash == ' ') hash++;
    return (Span){hash, whole.end};
}

static bool is_nothing_shown(void) {
    const Value *last = globals_last();
    return (last == NULL || last->tag == V_UNBOUND) && globals_get("_").tag == V_UNBOUND;
}

TsrStatus reason_append(TsrText *out, Span check) {
    if (reason_asks_last(check) && is_nothing_shown()) return tsr_text_puts(out, "nothing was shown");
    Source *source = NULL;
    Ast *ast = NULL;
    SourceRange where = {0};
    TsrStatus status = source_new(&source, "<check>", check.begin, (size_t)span_length(check), 1, NULL);
    if (status == TSR_OK) status = parser_new_expression(&ast, source, &where);
    if (status == TSR_OK) {
        Check c = {source, out};
        const Node *node = ast->body.items[0]->value;
        status = reason_of(&c, node);
        size_t end = source_line_offset(source, node->at.end_line) + (size_t)node->at.end_col;
        Span words = words_of(check, TSR_MIN(end, (size_t)span_length(check)));
        if (status == TSR_OK && !span_is_empty(words) && !lacks_name((Span){check.begin, words.begin}))
            status = tsr_text_printf(out, ": %.*s", span_length(words), words.begin);
    }
    ast_free(ast);
    source_free(source);
    return status;
}
