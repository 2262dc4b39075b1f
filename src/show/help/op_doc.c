/* Help pages of operators. */
#include "op_doc.h"

#include <stdio.h>
#include <string.h>

#include "torch/bind/bind.h"

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

static TsrStatus write_form(TsrText *out, const TsrOp *op, const TsrSchema *s, const char *prefix, const char *suffix,
                            bool method) {
    bool first = true, starred = false;
    TSR_TRY(tsr_text_printf(out, "%s%s%s(", prefix, method ? s->base : s->name, suffix));
    for (int i = 0; i < s->nparams; i++) {
        bool is_self = s->params[i].type == TSR_ARG_TENSOR && strcmp(s->params[i].name, "self") == 0;
        if (is_self && method) continue;
        TSR_TRY(write_param(out, &s->params[i], is_self ? "input" : s->params[i].name, &first, &starred));
    }
    if (!method && suffix[0] == '\0' && (op->forms & TSR_OUT))
        TSR_TRY(tsr_text_printf(out, "%s%sout=None", first ? "" : ", ", starred ? "" : "*, "));
    TSR_TRY(tsr_text_putc(out, ')'));
    return write_returns(out, op);
}

static TsrStatus write_row(TsrText *out, const TsrOp *op) {
    const TsrSchema *s;
    TSR_TRY(tsr_op_schema(&s, op));
    if (op->forms & TSR_FN) TSR_TRY(write_form(out, op, s, "torch.", "", false));
    bool writes = (op->forms & TSR_INPLACE_ONLY) != 0 && strchr(s->name, '.') == NULL;
    if (writes || (op->forms & TSR_METHOD)) TSR_TRY(write_form(out, op, s, "Tensor.", "", true));
    if (op->forms & TSR_INPLACE_FN) TSR_TRY(write_form(out, op, s, "torch.", "_", false));
    if (op->forms & TSR_INPLACE) TSR_TRY(write_form(out, op, s, "Tensor.", "_", true));
    return op->forms & TSR_PROPERTY ? tsr_text_printf(out, "Tensor.%s\n", s->base) : TSR_OK;
}

/* NULL for what returns no tensor. */
static const char *alias_note(const TsrOp *op) {
    const TsrSchema *s;
    if (tsr_op_schema(&s, op) != TSR_OK || s->nreturns == 0 ||
        (s->returns[0].type != TSR_ARG_TENSOR && s->returns[0].type != TSR_ARG_TENSORS))
        return NULL;
    bool only_writes = (op->forms & (TSR_FN | TSR_METHOD | TSR_PROPERTY)) == 0;
    switch (only_writes ? TSR_IN_PLACE : op->alias) {
    case TSR_VIEW: return "A view: it shares the memory of its input.";
    case TSR_MAYBE_VIEW: return "A view, or the input itself, where that can be; else a copy.";
    case TSR_IN_PLACE: return "Writes into its input.";
    case TSR_FRESH: return "A copy: its memory is its own.";
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

/* A row's lines, save those that stand there from `start` on: overloads that differ in types alone look the same. */
static TsrStatus write_new_lines(TsrText *out, size_t start, const TsrOp *op) {
    TsrText row = {0};
    TsrStatus status = write_row(&row, op);
    char line[1024];
    for (const char *p = row.data; status == TSR_OK && p != NULL && *p != '\0';) {
        size_t n = strcspn(p, "\n") + 1;
        snprintf(line, sizeof line, "%.*s", (int)TSR_MIN(n, sizeof line - 1), p);
        if (out->data == NULL || strstr(out->data + start, line) == NULL) status = tsr_text_append(out, p, n);
        p += n;
    }
    tsr_text_free(&row);
    return status;
}

/* The overload that rows [first, end) are shown by: the first with an example, else the first with a summary. */
static const TsrOp *main_overload(const TsrOpSet *set, int first, int end) {
    const TsrOp *op = NULL;
    for (int i = first; i < end && (op == NULL || op->example == NULL); i++)
        if (set->ops[i]->summary != NULL && (op == NULL || set->ops[i]->example != NULL)) op = set->ops[i];
    return op != NULL ? op : set->ops[first];
}

static bool is_another_summary(const TsrOp *op, const char *summary) {
    return op->summary != NULL && summary != NULL && strcmp(op->summary, summary) != 0;
}

/* The rows from `first` on that say they do the same: one that says nothing does as those before it. */
static int end_of_group(const TsrOpSet *set, int first) {
    const char *summary = set->ops[first]->summary;
    int end = first + 1;
    for (; end < set->n && !is_another_summary(set->ops[end], summary); end++)
        if (summary == NULL) summary = set->ops[end]->summary;
    return end;
}

static TsrStatus write_description(TsrText *out, const TsrOp *op) {
    if (op->summary != NULL) TSR_TRY(tsr_text_printf(out, "\n    %s\n", op->summary));
    const char *note = alias_note(op);
    if (note != NULL) TSR_TRY(tsr_text_printf(out, "    %s\n", note));
    if (op->example == NULL) return TSR_OK;
    TSR_TRY(tsr_text_printf(out, "\n    >>> %s\n", op->example));
    return op->output != NULL ? indent_lines(out, op->output) : TSR_OK;
}

static TsrStatus write_set(TsrText *out, const TsrOpSet *set) {
    size_t start = out->length;
    for (int first = 0, end; first < set->n; first = end) {
        end = end_of_group(set, first);
        if (first > 0) TSR_TRY(tsr_text_putc(out, '\n'));
        for (int i = first; i < end; i++) TSR_TRY(write_new_lines(out, start, set->ops[i]));
        TSR_TRY(write_description(out, main_overload(set, first, end)));
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
