/* Help pages of operators. */
#include "op_doc.h"

#include <string.h>

#include "bind.h"

static const TsrOpSet *find_set(const char *name, bool *inplace) {
    const TsrOpSet *set = tsr_op_find(name);
    *inplace = false;
    size_t n = strlen(name);
    char base[128];
    if (set != NULL || n < 2 || n >= sizeof base || name[n - 1] != '_') return set;
    memcpy(base, name, n - 1);
    base[n - 1] = '\0';
    *inplace = true;
    return tsr_op_find(base);
}

const char *op_doc_summary(const char *name) {
    bool inplace;
    const TsrOpSet *set = find_set(name, &inplace);
    for (int i = 0; set != NULL && i < set->n; i++)
        if (set->ops[i]->summary != NULL) return set->ops[i]->summary;
    return NULL;
}

static TsrStatus write_param(TsrText *out, const TsrParam *p, const char *name, bool *first, bool *starred) {
    if (p->keyword_only && !*starred) {
        TSR_TRY(tsr_text_printf(out, "%s*", *first ? "" : ", "));
        *starred = true;
        *first = false;
    }
    TSR_TRY(tsr_text_printf(out, "%s%s", *first ? "" : ", ", name));
    *first = false;
    return p->has_default ? tsr_text_printf(out, "=%s", p->default_text) : TSR_OK;
}

static TsrStatus write_returns(TsrText *out, const TsrOp *op) {
    const char *p = strstr(op->schema, "->");
    TSR_TRY(tsr_text_putc(out, ' '));
    for (; p != NULL && *p != '\0'; p++) { /* without the marks of what aliases what: Tensor(a) */
        if (*p == '(' && p[1] != '\0' && (p[2] == ')' || (p[2] == '!' && p[3] == ')'))) p += p[2] == ')' ? 2 : 3;
        else TSR_TRY(tsr_text_putc(out, *p));
    }
    return tsr_text_putc(out, '\n');
}

static TsrStatus write_form(TsrText *out, const TsrOp *op, const TsrSchema *s, const char *prefix, const char *suffix, bool method) {
    bool first = true, starred = false;
    TSR_TRY(tsr_text_printf(out, "%s%s%s(", prefix, method ? s->base : s->name, suffix));
    for (int i = 0; i < s->nparams; i++) {
        bool is_self = s->params[i].type == TSR_ARG_TENSOR && strcmp(s->params[i].name, "self") == 0;
        if (is_self && method) continue;
        TSR_TRY(write_param(out, &s->params[i], is_self ? "input" : s->params[i].name, &first, &starred));
    }
    if (!method && (op->forms & TSR_OUT)) TSR_TRY(tsr_text_printf(out, "%s%sout=None", first ? "" : ", ", starred ? "" : "*, "));
    TSR_TRY(tsr_text_putc(out, ')'));
    return write_returns(out, op);
}

static TsrStatus write_row(TsrText *out, const TsrOp *op) {
    const TsrSchema *s;
    TSR_TRY(tsr_op_schema(&s, op));
    if (op->forms & TSR_FN) TSR_TRY(write_form(out, op, s, "torch.", "", false));
    bool writes = (op->forms & TSR_INPLACE_ONLY) != 0, qualified = strchr(s->name, '.') != NULL;
    if (writes && qualified) TSR_TRY(write_form(out, op, s, "torch.", "", false));
    else if (writes || (op->forms & TSR_METHOD)) TSR_TRY(write_form(out, op, s, "Tensor.", "", true));
    if (op->forms & TSR_INPLACE_FN) TSR_TRY(write_form(out, op, s, "torch.", "_", false));
    if (op->forms & TSR_INPLACE) TSR_TRY(write_form(out, op, s, "Tensor.", "_", true));
    return op->forms & TSR_PROPERTY ? tsr_text_printf(out, "Tensor.%s\n", s->base) : TSR_OK;
}

static const char *alias_note(TsrAlias alias) {
    switch (alias) {
    case TSR_VIEW: return "A view: it shares the memory of its input.";
    case TSR_MAYBE_VIEW: return "A view, or the input itself, where that can be; else a copy.";
    case TSR_IN_PLACE: return "Writes into its input.";
    default: return NULL;
    }
}

static TsrStatus indent_lines(TsrText *out, const char *text) {
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        TSR_TRY(tsr_text_printf(out, "    %.*s\n", (int)n, text));
        text += n + (text[n] == '\n');
    }
    return TSR_OK;
}

static TsrStatus write_set(TsrText *out, const TsrOpSet *set) {
    for (int i = 0; i < set->n; i++) TSR_TRY(write_row(out, set->ops[i]));
    const TsrOp *op = set->ops[0];
    for (int i = 0; i < set->n && op->summary == NULL; i++) op = set->ops[i];
    if (op->summary != NULL) TSR_TRY(tsr_text_printf(out, "\n    %s\n", op->summary));
    const char *note = alias_note(op->alias);
    if (note != NULL) TSR_TRY(tsr_text_printf(out, "    %s\n", note));
    for (int i = 0; i < set->n; i++) {
        if (set->ops[i]->example == NULL) continue;
        TSR_TRY(tsr_text_printf(out, "\n    >>> %s\n", set->ops[i]->example));
        if (set->ops[i]->output != NULL) TSR_TRY(indent_lines(out, set->ops[i]->output));
        break;
    }
    return TSR_OK;
}

TsrStatus op_doc_write(TsrText *out, bool *found, const char *name) {
    bool inplace;
    const TsrOpSet *set = find_set(name, &inplace);
    *found = set != NULL;
    return set == NULL ? TSR_OK : write_set(out, set);
}

TsrStatus op_doc_write_value(TsrText *out, bool *found, Value v) {
    const OpFunction *f = bind_function_of(v);
    *found = f != NULL;
    return f == NULL ? TSR_OK : write_set(out, f->set);
}
