/* Signatures: what each overload of an operator takes in one form, in PyTorch's order and words. */
#include <stdlib.h>
#include <string.h>

#include "bind_impl.h"
#include "lang/types/str.h"

/* The name of each kind in messages, and in PyTorch's generated code, by whose text overloads are sorted. */
static const struct {
    const char *shown, *sorted;
} kind_names[] = {
    [TSR_ARG_TENSOR] = {"Tensor", "Tensor"},
    [TSR_ARG_TENSORS] = {"tuple of Tensors", "TensorList"},
    [TSR_ARG_SCALAR] = {"Number", "Scalar"},
    [TSR_ARG_SCALARS] = {"tuple of Scalars", "ScalarList"},
    [TSR_ARG_INT] = {"int", "int64_t"},
    [TSR_ARG_INTS] = {"tuple of ints", "IntArrayRef"},
    [TSR_ARG_FLOAT] = {"float", "double"},
    [TSR_ARG_FLOATS] = {"tuple of floats", "ArrayRef<double>"},
    [TSR_ARG_BOOL] = {"bool", "bool"},
    [TSR_ARG_BOOLS] = {"tuple of bools", "PyObject*"},
    [TSR_ARG_STR] = {"str", "c10::string_view"},
    [TSR_ARG_DTYPE] = {"torch.dtype", "ScalarType"},
    [TSR_ARG_LAYOUT] = {"torch.layout", "Layout"},
    [TSR_ARG_DEVICE] = {"torch.device", "Device"},
    [TSR_ARG_MEMORY_FORMAT] = {"torch.memory_format", "MemoryFormat"},
    [TSR_ARG_GENERATOR] = {"torch.Generator", "Generator"},
};

static bool is_named(size_t kind) { return kind < TSR_COUNTOF(kind_names) && kind_names[kind].shown != NULL; }

const char *bind_kind_name(const SigParam *p) { return is_named(p->kind) ? kind_names[p->kind].shown : "object"; }

static const char *sort_name(const SigParam *p) { return is_named(p->kind) ? kind_names[p->kind].sorted : "PyObject*"; }

/* Told from most others by the first letter: a start makes dozens of signatures. */
static inline bool same_text(const char *a, const char *b) { return a[0] == b[0] && strcmp(a, b) == 0; }

/* Sizes are SymInt there, dimensions int. */
static bool is_symbolic_name(const TsrSchema *schema, const TsrParam *p) {
    static const char *const names[] = {"size",       "sizes",       "shape",   "stride", "strides", "output_size",
                                        "split_size", "split_sizes", "repeats", "pad",    "padding", "shifts"};
    static const char *const numbers[] = {"low",    "high",           "n",         "m", "k", "index", "start",
                                          "length", "storage_offset", "split_size"};
    if (same_text(schema->base, "polygamma")) return false; /* its n is a degree */
    if (same_text(schema->base, "tensor_split")) return strcmp(p->name, "indices") == 0;
    for (size_t i = 0; i < TSR_COUNTOF(names) && p->type == TSR_ARG_INTS; i++)
        if (same_text(p->name, names[i])) return true;
    for (size_t i = 0; i < TSR_COUNTOF(numbers) && p->type == TSR_ARG_INT; i++)
        if (same_text(p->name, numbers[i])) return true;
    return false;
}

/* ---- building one signature ---- */

/* Overloads that PyTorch deprecated but still takes; they also decide which words an error has. */
static const struct {
    const char *name, *order;
} deprecated[] = {
    {"add", "self alpha other"},
    {"sub", "self alpha other"},
    {"addbmm", "beta self alpha batch1 batch2"},
    {"addbmm", "beta self batch1 batch2"},
    {"baddbmm", "beta self alpha batch1 batch2"},
    {"baddbmm", "beta self batch1 batch2"},
    {"addcdiv", "self value tensor1 tensor2"},
    {"addcmul", "self value tensor1 tensor2"},
    {"addmm", "beta self alpha mat1 mat2"},
    {"addmm", "beta self mat1 mat2"},
    {"addmv", "beta self alpha mat vec"},
    {"addmv", "beta self mat vec"},
    {"addr", "beta self alpha vec1 vec2"},
    {"addr", "beta self vec1 vec2"},
    {"sspaddmm", "beta self alpha mat1 mat2"},
    {"sspaddmm", "beta self mat1 mat2"},
    {"saddmm", "beta self alpha mat1 mat2"},
    {"saddmm", "beta self mat1 mat2"},
    {"copy_", "other non_blocking"}, /* whose second name was `async` */
};

static bool takes_numbers_as_tensors(const char *name) {
    static const char *const names[] = {"add",      "div",         "divide",       "mul", "multiply", "sub",
                                        "subtract", "true_divide", "floor_divide", "to",  "copy_",    NULL};
    size_t n = strlen(name);
    if (n > 0 && name[n - 1] == '_') n--;
    for (int i = 0; names[i] != NULL; i++)
        if (names[i][0] == name[0] &&
            ((strlen(names[i]) == n && strncmp(names[i], name, n) == 0) || strcmp(names[i], name) == 0))
            return true;
    return false;
}

static TsrStatus name_param(SigParam *p, const char *text) {
    static const char *const numpy[][4] = {
        {"dim", "axis"}, {"keepdim", "keepdims"}, {"input", "x", "a", "x1"}, {"other", "x2"}};
    p->text = text;
    p->name = str_intern_c(text);
    if (p->name == NULL) return mem_error();
    for (size_t i = 0; i < TSR_COUNTOF(numpy); i++) {
        if (!same_text(numpy[i][0], text)) continue;
        for (int k = 1; k < 4 && numpy[i][k] != NULL; k++)
            if ((p->alias[k - 1] = str_intern_c(numpy[i][k])) == NULL) return mem_error();
    }
    return TSR_OK;
}

static TsrStatus add_special(Sig *sig, SigRole role, const char *name, TsrArgKind kind) {
    SigParam *p = &sig->params[sig->count++];
    *p = (SigParam){.kind = (uint8_t)kind,
                    .role = (uint8_t)role,
                    .index = -1,
                    .optional = true,
                    .allow_none = true,
                    .keyword_only = true};
    return name_param(p, name);
}

/* int[] x=[]: None stands for the default. */
static bool is_empty_list(const TsrParam *param) {
    return param->has_default && param->default_text != NULL && same_text(param->default_text, "[]");
}

static TsrStatus add_schema_param(Sig *sig, const OpFunction *f, int i) {
    const TsrParam *param = &sig->schema->params[i];
    SigParam *p = &sig->params[sig->count++];
    *p = (SigParam){.kind = (uint8_t)param->type,
                    .role = SIG_SCHEMA,
                    .index = (int8_t)i,
                    .optional = param->has_default,
                    .allow_none = param->optional || is_empty_list(param),
                    .keyword_only = param->keyword_only,
                    .fixed = param->fixed,
                    .param = param};
    bool function = f->form == BIND_FUNCTION || f->form == BIND_INPLACE_FUNCTION;
    p->symbolic = is_symbolic_name(sig->schema, param);
    bool is_self = function && param->type == TSR_ARG_TENSOR && same_text(param->name, "self");
    return name_param(p, is_self ? "input" : param->name);
}

static bool is_option(const TsrSchema *schema, int i, bool has_options) {
    TsrArgKind k = schema->params[i].type;
    return has_options && schema->params[i].keyword_only &&
           (k == TSR_ARG_DTYPE || k == TSR_ARG_LAYOUT || k == TSR_ARG_DEVICE);
}

/* Whether PyTorch wrote the parser by hand, and the overloads' and options' order with it. */
static bool is_handwritten(const TsrSchema *schema) {
    return schema->nparams > 0 && schema->params[0].type == TSR_ARG_ANY;
}

static bool has_tensor_options(const TsrSchema *schema) {
    if (is_handwritten(schema)) return false;
    for (int i = 0; i < schema->nparams; i++)
        if (schema->params[i].type == TSR_ARG_LAYOUT && schema->params[i].keyword_only) return true;
    return false;
}

static int find_self(const TsrSchema *schema) {
    for (int i = 0; i < schema->nparams; i++)
        if (same_text(schema->params[i].name, "self")) return i;
    return 0;
}

static int find_where(const TsrSchema *schema) {
    int where = -1;
    for (int i = 0; i < schema->nparams; i++) {
        TsrArgKind k = schema->params[i].type;
        if (k == TSR_ARG_TENSOR || k == TSR_ARG_TENSORS) return -1;
        if (k == TSR_ARG_DEVICE) where = i;
    }
    return where;
}

/* PyTorch wrote range's parser by hand: its layout and requires_grad are no options that None leaves out. */
static void refuse_none_by_range(Sig *sig) {
    for (int i = 0; i < sig->count; i++)
        if (sig->params[i].kind == TSR_ARG_LAYOUT || sig->params[i].role == SIG_REQUIRES_GRAD)
            sig->params[i].allow_none = false;
}

/* The parameters of the form: out= comes before the tensor options and after all else. */
static TsrStatus fill_params(Sig *sig, const OpFunction *f) {
    const TsrSchema *schema = sig->schema;
    bool options = has_tensor_options(schema), method = f->form == BIND_METHOD || f->form == BIND_INPLACE;
    sig->self = method || f->form == BIND_INPLACE_FUNCTION ? find_self(schema) : -1;
    sig->where = find_where(schema);
    for (int i = 0; i < schema->nparams; i++)
        if (!(method && i == sig->self) && !is_option(schema, i, options)) TSR_TRY(add_schema_param(sig, f, i));
    if (f->form == BIND_FUNCTION && (sig->op->forms & TSR_OUT))
        TSR_TRY(add_special(sig, SIG_OUT, "out", schema->nreturns > 1 ? TSR_ARG_TENSORS : TSR_ARG_TENSOR));
    for (int i = 0; i < schema->nparams; i++)
        if (is_option(schema, i, options)) TSR_TRY(add_schema_param(sig, f, i));
    if (!options || strncmp(schema->base, "to_sparse", 9) == 0) return TSR_OK;
    if (strcmp(schema->base, "range") != 0) TSR_TRY(add_special(sig, SIG_PIN_MEMORY, "pin_memory", TSR_ARG_BOOL));
    TSR_TRY(add_special(sig, SIG_REQUIRES_GRAD, "requires_grad", TSR_ARG_BOOL));
    if (same_text(schema->base, "range")) refuse_none_by_range(sig);
    return TSR_OK;
}

static void count_params(Sig *sig) {
    sig->min_args = sig->max_positional = 0;
    sig->max_args = sig->count;
    for (int i = 0; i < sig->count; i++) {
        sig->min_args += !sig->params[i].optional;
        sig->max_positional += !sig->params[i].keyword_only;
    }
    sig->varargs = sig->max_positional == 1 && sig->params[0].kind == TSR_ARG_INTS;
}

static TsrStatus append_default(TsrText *text, const SigParam *p) {
    if (p->role == SIG_OUT) return tsr_text_puts(text, " = None");
    if (p->role != SIG_SCHEMA) return tsr_text_puts(text, " = False");
    if (p->kind == TSR_ARG_INTS && p->param->default_text[0] == '[') { /* [0, 1] reads {0,1} there */
        TSR_TRY(tsr_text_puts(text, " = {"));
        for (const char *c = p->param->default_text + 1; *c != '\0' && *c != ']'; c++)
            if (*c != ' ') TSR_TRY(tsr_text_putc(text, *c));
        return tsr_text_putc(text, '}');
    }
    if (strcmp(p->param->default_text, "Mean") == 0) return tsr_text_puts(text, " = at::Reduction::Mean");
    if (p->kind == TSR_ARG_STR && p->param->default_text[0] == '\'')
        return tsr_text_printf(text, " = \"%.*s\"", (int)strlen(p->param->default_text) - 2,
                               p->param->default_text + 1);
    return tsr_text_printf(text, " = %s", p->param->default_text);
}

/* *out = `begin`, `part` of each parameter, "*" before the first that is a keyword, and ")"; the caller's. */
static TsrStatus write_params(char **out, const Sig *sig, const char *begin,
                              TsrStatus (*part)(TsrText *text, const SigParam *p)) {
    TsrText text = {0};
    TsrStatus s = tsr_text_puts(&text, begin);
    bool starred = false;
    for (int i = 0; i < sig->count && s == TSR_OK; i++) {
        const SigParam *p = &sig->params[i];
        if (i > 0) s = tsr_text_puts(&text, ", ");
        if (s == TSR_OK && p->keyword_only && !starred) s = tsr_text_puts(&text, "*, ");
        starred |= p->keyword_only;
        if (s == TSR_OK) s = part(&text, p);
    }
    if (s == TSR_OK) s = tsr_text_putc(&text, ')');
    if (s == TSR_OK && (*out = tsr_text_move(&text)) == NULL) s = mem_error();
    tsr_text_free(&text);
    return s;
}

/* "Number alpha = 1" */
static TsrStatus write_shown(TsrText *text, const SigParam *p) {
    TSR_TRY(tsr_text_puts(text, bind_kind_name(p)));
    TSR_TRY(tsr_text_putc(text, ' '));
    TSR_TRY(tsr_text_puts(text, p->text));
    return p->optional ? append_default(text, p) : TSR_OK;
}

/* "Scalar alpha=": what PyTorch sorts overloads by. */
static TsrStatus write_sorted(TsrText *text, const SigParam *p) {
    TSR_TRY(tsr_text_puts(text, !p->symbolic ? sort_name(p) : p->kind == TSR_ARG_INT ? "SymInt" : "SymIntArrayRef"));
    if (p->fixed > 0) TSR_TRY(tsr_text_printf(text, "[%d]", p->fixed));
    TSR_TRY(tsr_text_puts(text, p->role == SIG_SCHEMA && p->param->optional ? "? " : " "));
    TSR_TRY(tsr_text_puts(text, p->text));
    return p->optional ? tsr_text_putc(text, '=') : TSR_OK;
}

TsrStatus bind_sig_text(const char **lent, Sig *sig) {
    if (sig->text == NULL) TSR_TRY(write_params(&sig->text, sig, "(", write_shown));
    *lent = sig->text;
    return TSR_OK;
}

enum { KEEP_GENERATOR, NEED_GENERATOR, DROP_GENERATOR };

/* Random factories are two overloads each in PyTorch: with a generator, which then must be there, and without. */
static void choose_generator(Sig *sig, int mode) {
    for (int i = 0; i < sig->count && mode != KEEP_GENERATOR; i++) {
        if (sig->params[i].kind != TSR_ARG_GENERATOR) continue;
        if (mode == NEED_GENERATOR) {
            sig->params[i].optional = false;
            return;
        }
        sig->count--;
        memmove(&sig->params[i], &sig->params[i + 1], sizeof *sig->params * (size_t)(sig->count - i));
        sig->drops = true;
        return;
    }
}

static bool splits_generator(const TsrSchema *schema) {
    bool has = false;
    for (int i = 0; i < schema->nparams; i++) has |= schema->params[i].type == TSR_ARG_GENERATOR;
    return has && has_tensor_options(schema) && strcmp(schema->name, "normal") != 0;
}

static TsrStatus build_sig(Sig *sig, const OpFunction *f, const TsrOp *op, int generator) {
    *sig = (Sig){.op = op, .self = -1};
    TSR_TRY(tsr_op_schema(&sig->schema, op));
    sig->params = tsr_calloc((size_t)sig->schema->nparams + 3, sizeof *sig->params);
    if (sig->params == NULL) return mem_error();
    TSR_TRY(fill_params(sig, f));
    choose_generator(sig, generator);
    count_params(sig);
    return TSR_OK;
}

/* A deprecated order of the same parameters, all of them required. */
static TsrStatus build_hidden(Sig *sig, const OpFunction *f, const TsrOp *op, const char *order) {
    TSR_TRY(build_sig(sig, f, op, KEEP_GENERATOR));
    SigParam *sorted = tsr_calloc((size_t)sig->count + 1, sizeof *sorted);
    if (sorted == NULL) return mem_error();
    int n = 0;
    while (*order != '\0') {
        size_t length = strcspn(order, " ");
        for (int i = 0; i < sig->count; i++) {
            SigParam *p = &sig->params[i];
            if (p->param == NULL || strlen(p->param->name) != length || strncmp(p->param->name, order, length) != 0)
                continue;
            sorted[n] = *p;
            sorted[n].optional = sorted[n].keyword_only = false;
            n++;
        }
        order += length + (order[length] == ' ');
    }
    for (int i = 0; i < sig->count; i++)
        if (sig->params[i].role == SIG_OUT) sorted[n++] = sig->params[i];
    tsr_free(sig->params);
    sig->params = sorted;
    sig->count = n;
    sig->hidden = true;
    count_params(sig);
    sig->varargs = false;
    return TSR_OK;
}

/* ---- PyTorch's order of overloads ---- */

static int compare_texts(const void *a, const void *b) {
    return strcmp(((const Sig *)a)->order, ((const Sig *)b)->order);
}

static bool same_type(const SigParam *a, const SigParam *b) {
    return a->kind == b->kind && a->allow_none == b->allow_none && a->fixed == b->fixed;
}

static bool is_list(TsrArgKind k) {
    return k == TSR_ARG_TENSORS || k == TSR_ARG_SCALARS || k == TSR_ARG_INTS || k == TSR_ARG_FLOATS ||
           k == TSR_ARG_BOOLS;
}

static bool type_smaller(const SigParam *a, const SigParam *b) {
    if (a->kind == TSR_ARG_SCALAR && b->kind == TSR_ARG_TENSOR) return a->allow_none == b->allow_none;
    if (a->kind == TSR_ARG_INTS && !a->symbolic && a->fixed == 0 && !a->allow_none && b->kind == TSR_ARG_INT)
        return true;
    if (a->kind == TSR_ARG_TENSORS && !a->allow_none && is_list((TsrArgKind)b->kind)) return true;
    return a->kind == TSR_ARG_INT && !a->allow_none && b->kind == TSR_ARG_TENSOR && !b->allow_none;
}

static int without_out(const Sig *s, const SigParam **list) {
    int n = 0;
    for (int i = 0; i < s->count && n < TSR_MAX_ARGS; i++)
        if (s->params[i].role != SIG_OUT) list[n++] = &s->params[i];
    return n;
}

static bool sig_smaller(const Sig *a, const Sig *b) {
    const SigParam *x[TSR_MAX_ARGS], *y[TSR_MAX_ARGS];
    int n = without_out(a, x);
    if (n != without_out(b, y)) return false;
    bool equal = true;
    for (int i = 0; i < n; i++) {
        bool same = same_type(x[i], y[i]);
        if (!same && !type_smaller(x[i], y[i])) return false;
        equal &= same;
    }
    return !equal;
}

/* By text first, then what is smaller (Scalar before Tensor would shadow it) after what is larger. */
static TsrStatus sort_sigs(Sig *sigs, int n) {
    if (n < 2 || is_handwritten(sigs[0].schema)) return TSR_OK;
    for (int i = 0; i < n; i++) TSR_TRY(write_params(&sigs[i].order, &sigs[i], "", write_sorted));
    qsort(sigs, (size_t)n, sizeof *sigs, compare_texts);
    if (n > 32) return TSR_OK;
    uint32_t larger[32] = {0}; /* those that must come before i */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (i != j && sig_smaller(&sigs[i], &sigs[j])) larger[i] |= 1u << j;
    int order[32], done = 0;
    bool placed[32] = {false};
    for (int i = 0; i < n; i++)
        if (larger[i] == 0) order[done++] = i, placed[i] = true;
    for (int k = 0; k < done; k++)
        for (int j = 0; j < n; j++) {
            larger[j] &= ~(1u << order[k]);
            if (larger[j] == 0 && !placed[j]) order[done++] = j, placed[j] = true;
        }
    if (done != n) return TSR_OK;
    Sig *copy = tsr_malloc(sizeof *sigs * (size_t)n);
    if (copy == NULL) return mem_error();
    for (int i = 0; i < n; i++) copy[i] = sigs[order[i]];
    memcpy(sigs, copy, sizeof *sigs * (size_t)n);
    tsr_free(copy);
    return TSR_OK;
}

static bool row_has_form(const TsrOp *op, BindForm form) {
    bool only = (op->forms & TSR_INPLACE_ONLY) != 0;
    switch (form) {
    case BIND_FUNCTION: return (op->forms & TSR_FN) != 0;
    case BIND_METHOD: return (op->forms & TSR_METHOD) != 0;
    case BIND_INPLACE: return (op->forms & TSR_INPLACE) != 0 || only;
    default: return (op->forms & (TSR_INPLACE | TSR_INPLACE_FN)) != 0 || only;
    }
}

static void free_parser(BindParser *parser) {
    for (int i = 0; parser->sigs != NULL && i < parser->count; i++) {
        tsr_free(parser->sigs[i].params);
        tsr_free(parser->sigs[i].text);
        tsr_free(parser->sigs[i].order);
    }
    tsr_free(parser->sigs);
    tsr_free(parser);
}

static TsrStatus fill_parser(BindParser *parser, const OpFunction *f) {
    Sig *sigs = parser->sigs;
    const TsrOp *first = NULL;
    for (int i = 0; i < f->set->n; i++) {
        if (!row_has_form(f->set->ops[i], (BindForm)f->form)) continue;
        if (first == NULL) first = f->set->ops[i];
        const TsrSchema *schema;
        TSR_TRY(tsr_op_schema(&schema, f->set->ops[i]));
        bool split = splits_generator(schema);
        TSR_TRY(build_sig(&sigs[parser->count++], f, f->set->ops[i], split ? NEED_GENERATOR : KEEP_GENERATOR));
        if (split) TSR_TRY(build_sig(&sigs[parser->count++], f, f->set->ops[i], DROP_GENERATOR));
    }
    TSR_TRY(sort_sigs(sigs, parser->count));
    for (size_t i = 0; i < TSR_COUNTOF(deprecated) && first != NULL; i++)
        if (same_text(deprecated[i].name, f->set->name))
            TSR_TRY(build_hidden(&sigs[parser->count++], f, first, deprecated[i].order));
    const bool numbers = takes_numbers_as_tensors(f->name);
    for (int i = 0; i < parser->count; i++) sigs[i].numbers_as_tensors = numbers;
    parser->no_arguments = parser->count == 1 && sigs[0].count == 0 && sigs[0].self >= 0;
    return TSR_OK;
}

TsrStatus bind_parser_new(BindParser **out, const OpFunction *f) {
    BindParser *parser = tsr_calloc(1, sizeof *parser);
    if (parser == NULL) return mem_error();
    parser->sigs = tsr_calloc((size_t)f->set->n * 2 + 2, sizeof *parser->sigs);
    TsrStatus status = parser->sigs == NULL ? mem_error() : fill_parser(parser, f);
    if (status == TSR_OK) *out = parser;
    else free_parser(parser);
    return status;
}
