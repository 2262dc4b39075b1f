/* The error for arguments that no overload of an operator takes. */
#include <stdio.h>

#include "lang/object/args.h"
#include "args.h"
#include "bind_impl.h"

#include <string.h>

TsrStatus (*bind_refusal)(Value *out, const char *name);

/* What CPython would say before PyTorch's function ran; TSR_OK when its arguments are in order. */
static TsrStatus check_python(const BindCall *b) {
    const BindParser *parser = b->function->parser;
    int skip = b->skip;
    const Sig *sig = &parser->sigs[0]; /* the overload that takes the most stands for the function */
    for (int i = 1; i < parser->count; i++)
        if (parser->sigs[i].count > sig->count) sig = &parser->sigs[i];
    const char *names[TSR_MAX_ARGS + 5];
    Value values[TSR_MAX_ARGS + 5];
    int n = 0, positional = sig->max_positional + skip, required = skip;
    if (skip) names[n++] = "self";
    for (int i = 0; i < sig->count; i++) {
        names[n++] = sig->params[i].text;
        required += !sig->params[i].optional && !sig->params[i].keyword_only;
    }
    if (skip && strcmp(b->function->name, "norm") == 0) required = skip; /* p="fro" */
    char full[160];
    snprintf(full, sizeof full, skip ? "Tensor.%s" : "%s", b->function->name);
    return args_parse_python(values, b->args, &(ArgSpec){full, names, n, 0, positional, required});
}

/* Fails as the Python code around the operator does, where that is known; *out: what it gives if it does not. */
static TsrStatus run_as_python(Value *out, const BindCall *b) {
    char name[160];
    Value callee;
    *out = VALUE_UNBOUND;
    snprintf(name, sizeof name, "%s%s", b->skip ? "Tensor_" : "", b->function->name);
    TSR_TRY(bind_refusal(&callee, name));
    if (callee.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = value_call(out, callee, b->args);
    value_release(callee);
    if (status != TSR_OK || !value_is_none(*out)) return status;
    *out = VALUE_UNBOUND;
    return TSR_OK;
}

TsrStatus bind_no_match(Value *out, BindCall *b) {
    const BindParser *parser = b->function->parser;
    int given = b->args->count - b->skip + b->args->keyword_count, plausible = 0;
    if (b->function->python) {
        if (b->skip) TSR_TRY(check_python(b));
        TSR_TRY(run_as_python(out, b));
        if (out->tag != V_UNBOUND) return TSR_OK;
        if (!b->skip) TSR_TRY(check_python(b));
    }
    const Sig *only = NULL;
    for (int i = 0; i < parser->count; i++) {
        const Sig *sig = &parser->sigs[i];
        if (sig->hidden || given < sig->min_args || given > sig->max_args) continue;
        plausible++;
        only = sig;
    }
    bool ok;
    if (plausible == 1) TSR_TRY(bind_match(&ok, b, only, true));
    const char *options[64];
    int n = 0;
    for (int i = 0; i < parser->count && n < 64; i++)
        if (!parser->sigs[i].hidden) TSR_TRY(bind_sig_text(&options[n++], &parser->sigs[i]));
    return args_fit_none(b->function->name, b->args, b->skip, n, options);
}
