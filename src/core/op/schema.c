/* Parses a row's schema string into a TsrSchema. The strings are ours: a mistake in one is a bug, so it is
 * reported as TSR_SYSTEM_ERROR with the schema quoted, and a test parses every row.
 *
 * A schema is one block: the struct, its parameters, a copy of the string, out of which names, types and defaults are
 * cut by zeros where they end, and room for what does not stand in the string as it is. Only lists that are defaults
 * are blocks of their own. */
#include "op_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/number.h"

typedef struct Parser {
    const char *schema, *p;
    char *copy, *room; /* of the schema; for three times its length, the copy included */
} Parser;

static TsrStatus malformed(const Parser *ps, const char *what) {
    return tsr_error(TSR_SYSTEM_ERROR, "schema \"%s\": %s at column %d", ps->schema, what, (int)(ps->p - ps->schema));
}

static void skip_space(Parser *ps) {
    while (*ps->p == ' ' || *ps->p == '\n') ps->p++;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

static void skip_name(Parser *ps) {
    while (is_letter(*ps->p) || *ps->p == '_') ps->p++;
}

static bool accept(Parser *ps, const char *text) {
    skip_space(ps);
    const char *p = ps->p;
    while (*text != '\0' && *p == *text) p++, text++;
    if (*text != '\0') return false;
    ps->p = p;
    return true;
}

/* The schema's text from `begin` up to `end`, cut out of the copy. What follows it there is lost: a delimiter. */
static const char *cut_text(const Parser *ps, const char *begin, const char *end) {
    while (end > begin && end[-1] == ' ') end--;
    char *text = ps->copy + (begin - ps->schema);
    text[end - begin] = '\0';
    return text;
}

/* n bytes of text and what comes behind them, in the room beside the copy. */
static const char *put_text(Parser *ps, const char *text, size_t n, const char *behind) {
    char *put = ps->room;
    memcpy(put, text, n);
    ps->room = stpcpy(put + n, behind) + 1;
    return put;
}

/* One row a type name: its kind alone and as an array. */
static const struct {
    const char *name;
    TsrArgKind kind, array;
} types[] = {
    {"Tensor", TSR_ARG_TENSOR, TSR_ARG_TENSORS},
    {"Scalar", TSR_ARG_SCALAR, TSR_ARG_SCALARS},
    {"int", TSR_ARG_INT, TSR_ARG_INTS},
    {"SymInt", TSR_ARG_INT, TSR_ARG_INTS},
    {"float", TSR_ARG_FLOAT, TSR_ARG_FLOATS},
    {"bool", TSR_ARG_BOOL, TSR_ARG_BOOLS},
    {"str", TSR_ARG_STR, TSR_ARG_STR},
    {"ScalarType", TSR_ARG_DTYPE, TSR_ARG_DTYPE},
    {"Layout", TSR_ARG_LAYOUT, TSR_ARG_LAYOUT},
    {"Device", TSR_ARG_DEVICE, TSR_ARG_DEVICE},
    {"MemoryFormat", TSR_ARG_MEMORY_FORMAT, TSR_ARG_MEMORY_FORMAT},
    {"Generator", TSR_ARG_GENERATOR, TSR_ARG_GENERATOR},
    {"Any", TSR_ARG_ANY, TSR_ARG_ANY},
    {"None", TSR_ARG_NONE, TSR_ARG_NONE},
};

/* type := NAME ['(' marks ')'] ['?'] ['[' [INT] ']'] ['?'] */
static TsrStatus parse_type(Parser *ps, TsrParam *param) {
    skip_space(ps);
    const char *begin = ps->p;
    while (is_letter(*ps->p)) ps->p++;
    size_t length = (size_t)(ps->p - begin), row = 0;
    while (row < TSR_COUNTOF(types) && (types[row].name[0] != *begin || strlen(types[row].name) != length ||
                                        memcmp(types[row].name, begin, length) != 0))
        row++;
    if (row == TSR_COUNTOF(types)) return malformed(ps, "unknown type");
    param->type = types[row].kind;
    if (*ps->p == '(') {
        while (*ps->p != ')' && *ps->p != '\0') param->written |= *ps->p++ == '!';
        if (*ps->p == ')') ps->p++;
    }
    if (*ps->p == '?') {
        param->optional = true;
        ps->p++;
    }
    if (*ps->p == '[') {
        ps->p++;
        param->optional_elements = param->optional;
        param->optional = false;
        param->type = types[row].array;
        param->fixed = (int)strtol(ps->p, (char **)&ps->p, 10);
        if (*ps->p++ != ']') return malformed(ps, "expected ]");
        if (*ps->p == '?') {
            param->optional = true;
            ps->p++;
        }
    }
    param->type_text = cut_text(ps, begin, ps->p);
    return TSR_OK;
}

static TsrScalar parse_number(const char *text) {
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0) return tsr_scalar_bool(text[0] == 'T');
    double number = 0;
    if (strpbrk(text, ".einf") != NULL)
        return (void)tsr_parse_double(&number, text, text + strlen(text)), tsr_scalar_float(number);
    return tsr_scalar_int(strtoll(text, NULL, 10));
}

static int count_items(const char *text) { /* of "[1, 2]" or a lone "0" */
    if (text[0] != '[') return 1;
    if (text[1 + strspn(text + 1, " ")] == ']') return 0;
    int n = 1;
    for (const char *p = text; *p != '\0'; p++) n += *p == ',';
    return n;
}

static TsrStatus parse_default_array(TsrParam *param, const char *text) {
    int written = count_items(text), n = text[0] != '[' && param->fixed > 1 ? param->fixed : written;
    size_t item = param->type == TSR_ARG_INTS     ? sizeof(int64_t)
                  : param->type == TSR_ARG_FLOATS ? sizeof(double)
                                                  : sizeof(bool);
    void *items = tsr_malloc(item * (size_t)(n + 1));
    if (items == NULL) return tsr_error_no_memory(item);
    param->value.n = n;
    param->value.ints = items;
    const char *p = text;
    for (int i = 0; i < n; i++) {
        if (i == 0 || n > written) p = text + (text[0] == '['); /* a lone number stands for each of them */
        while (*p == ' ' || *p == ',') p++;
        if (param->type == TSR_ARG_BOOLS) {
            ((bool *)items)[i] = *p == 'T';
            p += strcspn(p, ",]");
        } else if (param->type == TSR_ARG_FLOATS) {
            const char *end = tsr_parse_double(&((double *)items)[i], p, text + strlen(text));
            if (end == NULL) return tsr_error(TSR_SYSTEM_ERROR, "\"%s\" is no default of a float[]", text);
            p = end;
        } else {
            ((int64_t *)items)[i] = strtoll(p, (char **)&p, 10);
        }
    }
    return TSR_OK;
}

static TsrStatus parse_default_value(Parser *ps, TsrParam *param) {
    const char *text = param->default_text;
    param->value.kind = param->type;
    if (strcmp(text, "None") == 0) {
        param->value.kind = TSR_ARG_NONE;
        param->optional = true;
        return TSR_OK;
    }
    TsrScalar number = parse_number(text);
    switch (param->type) {
    case TSR_ARG_INT:
        /* "Mean", of ctc_loss's reduction: PyTorch shows the name, and its parser reads the number 0, no reduction. */
        param->value.i = strcmp(text, "Mean") == 0 ? 0 : tsr_scalar_to_int(number);
        return TSR_OK;
    case TSR_ARG_FLOAT: param->value.f = tsr_scalar_to_double(number); return TSR_OK;
    case TSR_ARG_BOOL: param->value.b = text[0] == 'T'; return TSR_OK;
    case TSR_ARG_SCALAR: param->value.s = number; return TSR_OK;
    case TSR_ARG_INTS:
    case TSR_ARG_FLOATS:
    case TSR_ARG_BOOLS: return parse_default_array(param, text);
    case TSR_ARG_STR:
        if (strlen(text) < 2) return malformed(ps, "expected a quoted default");
        param->value.str = put_text(ps, text + 1, strlen(text) - 2, "");
        return TSR_OK;
    case TSR_ARG_DTYPE: param->value.dtype = tsr_dtype_from_name(text); return TSR_OK;
    case TSR_ARG_LAYOUT: param->value.layout = TSR_STRIDED; return TSR_OK;
    case TSR_ARG_DEVICE: param->value.device = TSR_DEVICE_CPU; return TSR_OK;
    case TSR_ARG_MEMORY_FORMAT:
        param->value.format = strncmp(text, "preserve", 8) == 0 ? TSR_PRESERVE : TSR_CONTIGUOUS;
        return TSR_OK;
    case TSR_ARG_TENSORS:
        param->value.n = 0;
        param->value.tensors = NULL;
        return TSR_OK;
    default: return malformed(ps, "a default this type cannot have");
    }
}

static TsrStatus parse_param(Parser *ps, TsrParam *param) {
    TSR_TRY(parse_type(ps, param));
    skip_space(ps);
    const char *begin = ps->p;
    skip_name(ps);
    if (ps->p == begin) return malformed(ps, "expected a parameter's name");
    param->name = cut_text(ps, begin, ps->p);
    if (!accept(ps, "=")) return TSR_OK;
    skip_space(ps);
    begin = ps->p;
    bool quoted = false, bracket = false;
    for (; *ps->p != '\0' && (quoted || bracket || (*ps->p != ',' && *ps->p != ')')); ps->p++) {
        if (*ps->p == '\'' || *ps->p == '"') quoted = !quoted;
        if (*ps->p == '[') bracket = true;
        if (*ps->p == ']') bracket = false;
    }
    param->has_default = true;
    param->default_text = cut_text(ps, begin, ps->p);
    return parse_default_value(ps, param);
}

static TsrStatus parse_params(Parser *ps, TsrSchema *schema) {
    bool keyword_only = false;
    if (accept(ps, ")")) return TSR_OK;
    do {
        skip_space(ps);
        if (*ps->p == '*') {
            ps->p++;
            keyword_only = true;
            continue;
        }
        if (schema->nparams == TSR_MAX_ARGS) return malformed(ps, "too many parameters");
        TsrParam *param = &schema->params[schema->nparams];
        param->keyword_only = keyword_only;
        TSR_TRY(parse_param(ps, param));
        schema->nparams++;
        schema->npositional += !keyword_only;
    } while (accept(ps, ","));
    return accept(ps, ")") ? TSR_OK : malformed(ps, "expected , or )");
}

static TsrStatus parse_return(Parser *ps, TsrSchema *schema) {
    if (schema->nreturns == TSR_MAX_RETS) return malformed(ps, "too many returns");
    TsrParam type = {0};
    TSR_TRY(parse_type(ps, &type));
    TsrReturn *ret = &schema->returns[schema->nreturns++];
    ret->type = type.type;
    skip_space(ps);
    const char *begin = ps->p;
    skip_name(ps);
    if (ps->p == begin) return TSR_OK;
    schema->named_returns = true;
    ret->name = cut_text(ps, begin, ps->p);
    return TSR_OK;
}

static TsrStatus parse_returns(Parser *ps, TsrSchema *schema) {
    if (!accept(ps, "->")) return malformed(ps, "expected ->");
    if (!accept(ps, "(")) return parse_return(ps, schema);
    if (accept(ps, ")")) return TSR_OK;
    do { TSR_TRY(parse_return(ps, schema)); } while (accept(ps, ","));
    return accept(ps, ")") ? TSR_OK : malformed(ps, "expected , or )");
}

static bool is_array(TsrArgKind kind) {
    return kind == TSR_ARG_INTS || kind == TSR_ARG_FLOATS || kind == TSR_ARG_BOOLS;
}

/* What was made of a schema that could not be finished: only then are schemas freed. */
static void free_partial(TsrSchema *schema) {
    for (int i = 0; i <= schema->nparams && i < TSR_MAX_ARGS; i++)
        if (is_array(schema->params[i].value.kind)) tsr_free(schema->params[i].value.ints);
    tsr_free(schema);
}

static TsrStatus parse_schema(TsrSchema *schema, Parser *ps) {
    const char *open = strchr(ps->schema, '(');
    if (open == NULL) return malformed(ps, "expected (");
    schema->name = cut_text(ps, ps->schema, open);
    const char *dot = strrchr(schema->name, '.');
    schema->base = dot != NULL ? dot + 1 : schema->name;
    const size_t length = strlen(schema->base);
    const bool is_inplace = length > 0 && schema->base[length - 1] == '_';
    schema->inplace = is_inplace ? schema->base : put_text(ps, schema->base, length, "_");
    ps->p = open + 1;
    TSR_TRY(parse_params(ps, schema));
    return parse_returns(ps, schema);
}

/* Parameters are at most one more than the commas. */
static size_t count_parameters(const char *text) {
    size_t n = 1;
    for (const char *p = text; (p = strchr(p, ',')) != NULL; p++) n++;
    return n;
}

TsrStatus tsr_schema_new(TsrSchema **out, const char *text) {
    const size_t n = count_parameters(text), length = strlen(text) + 1;
    const size_t bytes = sizeof(TsrSchema) + (n + 1) * sizeof(TsrParam) + 3 * length;
    TsrSchema *schema = tsr_calloc(1, bytes);
    if (schema == NULL) return tsr_error_no_memory(bytes);
    schema->params = (TsrParam *)(schema + 1);
    Parser ps = {.schema = text, .p = text, .copy = (char *)(schema->params + n + 1)};
    ps.room = stpcpy(ps.copy, text) + 1;
    TsrStatus status = parse_schema(schema, &ps);
    if (status == TSR_OK) *out = schema;
    else free_partial(schema);
    return status;
}
