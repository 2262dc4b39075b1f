/* Sentences about the rules that decide a result's shape and dtype: broadcasting and promotion. */
#include "story.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/promote.h"

/* One operand's row of sizes under the result's; a star where it is stretched. */
static void say_aligned(Story *s, const TsrTensor *t, const TsrTensor *r, const char *name, int width) {
    char row[TEXT_ROOM];
    size_t at = 0;
    for (int d = 0; d < tsr_ndim(r) && at + 24 < sizeof row; d++) {
        int own = d - (tsr_ndim(r) - tsr_ndim(t));
        bool stretched = own < 0 || t->sizes[own] != r->sizes[d];
        if (own < 0) at += (size_t)snprintf(row + at, sizeof row - at, "%6s ", "*");
        else
            at +=
                (size_t)snprintf(row + at, sizeof row - at, "%6lld%s", (long long)t->sizes[own], stretched ? "*" : " ");
    }
    say(s, "    %-*s%s%s", width, name, row, t == r ? "" : "  ");
    while (s->text.length > 0 && s->text.data[s->text.length - 1] == ' ') s->text.data[--s->text.length] = '\0';
}

static bool is_row_and_column(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == 1 && tsr_ndim(b) == 2 && b->sizes[1] == 1 && b->sizes[0] == a->sizes[0] && a->sizes[0] > 1;
}

static void say_blow_up(Story *s, const TsrOpCall *c, const TsrTensor *r, int64_t largest) {
    char name[NAME_ROOM];
    TsrTensor *a = argument_tensor(c, 0), *b = c->nargs > 1 ? argument_tensor(c, 1) : NULL;
    if (largest == 0 || r->numel < 2 * largest) return;
    say(s, "  both are stretched: the result has %lld elements, %lld times its larger operand", (long long)r->numel,
        (long long)(r->numel / largest));
    if (a == NULL || b == NULL) return;
    if (is_row_and_column(b, a)) a = b, b = argument_tensor(c, 0);
    if (is_row_and_column(a, b))
        say(s, "  a row against a column gives every pair; to go element by element, drop the 1: %s.squeeze(1)",
            story_name_of(s, name, b));
}

void say_broadcast(Story *s, const TsrOpCall *c, TsrTensor *r) {
    char names[TSR_MAX_ARGS][NAME_ROOM];
    int64_t largest = 0;
    int width = 6;
    bool stretched = false;
    if (strcmp(c->op->category, "pointwise") != 0) return;
    for (int i = 0; i < c->nargs; i++) {
        TsrTensor *t = argument_tensor(c, i);
        if (t == NULL || argument_is_number(t)) continue;
        largest = TSR_MAX(largest, t->numel);
        stretched |= t->numel != r->numel;
        story_name_of(s, names[i], t);
        width = TSR_MAX(width, (int)strlen(names[i]));
    }
    if (!stretched) return;
    say(s,
        "  broadcast: shapes are aligned at the right; where a size is 1 or missing (*) its elements are used again, "
        "not copied");
    for (int i = 0; i < c->nargs; i++)
        if (argument_tensor(c, i) != NULL && !argument_is_number(argument_tensor(c, i)))
            say_aligned(s, argument_tensor(c, i), r, names[i], width);
    say_aligned(s, r, r, "result", width);
    say_blow_up(s, c, r, largest);
}

/* ---- promotion ---- */

/* What is said of two dtypes that differ: which rule gave the common one. */
static const char *rule_of(const TsrTensor *strong, const TsrTensor *weak, TsrDtype common) {
    TsrDtypeKind a = tsr_dtype_kind(strong->dtype), b = tsr_dtype_kind(weak->dtype);
    bool number = argument_is_number(weak), scalar = !number && tsr_ndim(weak) == 0 && tsr_ndim(strong) > 0;
    bool higher =
        (tsr_dtype_is_float(weak->dtype) || tsr_dtype_is_complex(weak->dtype)) && b != a && common != strong->dtype;
    if (number && higher) return "a Python number of a higher kind brings the default dtype of its kind";
    if (number && common == strong->dtype)
        return "a Python number takes the tensor's dtype unless its kind (bool < integer < floating < complex) is "
               "higher";
    if (number) return "a Python number of a higher kind decides";
    if (scalar && common == strong->dtype)
        return "a 0-d tensor counts only when its kind (bool < integer < floating < complex) is higher";
    if (scalar) return "a 0-d tensor counts because its kind is higher";
    if (a != b && !(tsr_dtype_is_integral(strong->dtype) && tsr_dtype_is_integral(weak->dtype)))
        return "the higher kind wins (bool < integer < floating < complex), whatever the sizes";
    if (common == strong->dtype || common == weak->dtype) return "of one kind, the wider one";
    return "neither holds all values of the other: the next that does";
}

static const char *dtype_words(char *buffer, const Story *s, TsrTensor *t) {
    char name[NAME_ROOM];
    if (argument_is_number(t))
        snprintf(buffer, 2 * NAME_ROOM, "a Python %s",
                 tsr_dtype_is_complex(t->dtype) ? "complex"
                 : tsr_dtype_is_float(t->dtype) ? "float"
                 : t->dtype == TSR_BOOL         ? "bool"
                                                : "int");
    else snprintf(buffer, 2 * NAME_ROOM, "%s (%s)", tsr_dtype_name(t->dtype), story_name_of(s, name, t));
    return buffer;
}

static bool has_fractions(TsrDtype d) { return tsr_dtype_is_float(d) || tsr_dtype_is_complex(d); }

static int weight(const TsrTensor *t) { return tsr_ndim(t) > 0 ? 2 : argument_is_number(t) ? 0 : 1; }

/* What an operator's dtype is decided by: its tensors, and its numbers as tensors, `made`, which are the caller's. */
typedef struct Operands {
    TsrTensor *given[TSR_MAX_ARGS], *made[TSR_MAX_ARGS];
    int n, made_count;
} Operands;

static void find_operands(Operands *o, const TsrOpCall *c) {
    *o = (Operands){.n = 0};
    for (int i = strcmp(c->schema->base, "where") == 0; i < c->nargs; i++) { /* a condition is no operand */
        TsrTensor *t = argument_tensor(c, i);
        if (t == NULL && argument_is_operand(c, i)) {
            if (tsr_tensor_new_wrapped(&t, c->arg[i].s) == TSR_OK) o->made[o->made_count++] = t;
            else tsr_error_clear();
        }
        if (t != NULL) o->given[o->n++] = t;
    }
}

/* The two of the operands whose dtypes differ; `weak` is NULL when none does. */
static void find_pair(TsrTensor **strong, TsrTensor **weak, const Operands *o) {
    *strong = o->given[0];
    *weak = NULL;
    for (int i = 1; i < o->n; i++) {
        if (o->given[i]->dtype == (*strong)->dtype) continue;
        *weak = o->given[i];
        if (weight(*weak) > weight(*strong)) *weak = *strong, *strong = o->given[i];
    }
}

static void say_pair(Story *s, const TsrOpCall *c, TsrTensor *strong, TsrTensor *weak, TsrDtype common, bool truth) {
    static const char *const comparing[] = {"eq",         "ne", "not_equal", "lt", "less",          "le",
                                            "less_equal", "gt", "greater",   "ge", "greater_equal", NULL};
    char a[2 * NAME_ROOM], b[2 * NAME_ROOM];
    const char *rule = rule_of(strong, weak, common);
    if (truth && (!is_one_of(c->schema->base, comparing) || (argument_is_number(weak) && common == strong->dtype)))
        return;
    dtype_words(a, s, strong);
    dtype_words(b, s, weak);
    if (truth) say(s, "  dtype: %s and %s are compared as %s: %s", a, b, tsr_dtype_name(common), rule);
    else say(s, "  dtype: %s with %s gives %s: %s", a, b, tsr_dtype_name(common), rule);
}

static void say_common(Story *s, const TsrOpCall *c, Operands *o, const TsrTensor *r) {
    TsrTensor *strong, *weak;
    TsrDtype common;
    if (tsr_result_type(&common, o->given, o->n) != TSR_OK) return tsr_error_clear();
    find_pair(&strong, &weak, o);
    if (weak != NULL) say_pair(s, c, strong, weak, common, r->dtype == TSR_BOOL && common != TSR_BOOL);
    if (!has_fractions(common) && tsr_dtype_is_float(r->dtype))
        say(s, "  dtype: its results have fractions, so %s becomes the default dtype, %s", tsr_dtype_name(common),
            tsr_dtype_name(r->dtype));
}

void say_promotion(Story *s, const TsrOpCall *c, const TsrTensor *r) {
    Operands o;
    if (strcmp(c->op->category, "pointwise") != 0) return;
    find_operands(&o, c);
    if (o.n > 0) say_common(s, c, &o, r);
    for (int i = 0; i < o.made_count; i++) tsr_tensor_free(o.made[i]);
}

void say_written_as(Story *s, TsrDtype from, TsrDtype to) {
    if (from == to) return;
    say(s, "  the dtype changes: %s to %s%s", tsr_dtype_name(from), tsr_dtype_name(to),
        has_fractions(from) && tsr_dtype_is_integral(to) ? ", without what is behind the point" : "");
}

void say_cut(Story *s, const TsrScalar *number, TsrDtype to) {
    if (number->kind == TSR_SCALAR_FLOAT && tsr_dtype_is_integral(to) && trunc(number->f) != number->f)
        say(s, "  %s has no fractions: what is behind the number's point is not written", tsr_dtype_name(to));
}

void say_sum_dtype(Story *s, const TsrOpCall *c, const TsrTensor *r) {
    static const char *const sums[] = {"sum", "nansum", "prod", "cumsum", "cumprod", "trace", NULL};
    const TsrTensor *t = argument_first(c);
    if (!is_one_of(c->schema->base, sums)) return;
    if (t == NULL || t->dtype == r->dtype || r->dtype != TSR_INT64 || c->out[0] != NULL) return;
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_DTYPE) return;
    say(s, "  dtype: integers and truth values are added and multiplied in int64, so %s becomes int64",
        tsr_dtype_name(t->dtype));
}
