/* The error for arguments that no overload of an operator takes. */
#include <stdio.h>

#include "args.h"
#include "args_torch.h"
#include "bind_impl.h"
#include "prelude.h"

/* What CPython would say before PyTorch's function ran; TSR_OK when its arguments are in order. */
static TsrStatus check_python(const OpFunction *f, const BindParser *parser, const CallArgs *args, int skip) {
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
    char full[160];
    snprintf(full, sizeof full, skip ? "Tensor.%s" : "%s", f->name);
    return args_parse_python(values, args, full, names, n, positional, required);
}

/* Fails as the Python code around the operator does, when prelude/refused.tsr has it. */
static TsrStatus refuse_as_python(const OpFunction *f, const CallArgs *args, int skip) {
    char name[160];
    Value callee, result;
    snprintf(name, sizeof name, "%s%s", skip ? "Tensor_" : "", f->name);
    TSR_TRY(prelude_get(&callee, "refused", name));
    if (callee.tag == V_UNBOUND) return TSR_OK;
    TsrStatus status = value_call(&result, callee, args);
    value_release(callee);
    if (status == TSR_OK) value_release(result);
    return status;
}

TsrStatus bind_no_match(const OpFunction *f, const BindParser *parser, const CallArgs *args, int skip) {
    int given = args->count - skip + args->keyword_count, plausible = 0;
    if (f->python) {
        if (skip) TSR_TRY(check_python(f, parser, args, skip));
        TSR_TRY(refuse_as_python(f, args, skip));
        if (!skip) TSR_TRY(check_python(f, parser, args, skip));
    }
    const Sig *only = NULL;
    for (int i = 0; i < parser->count; i++) {
        const Sig *sig = &parser->sigs[i];
        if (sig->hidden || given < sig->min_args || given > sig->max_args) continue;
        plausible++;
        only = sig;
    }
    if (plausible == 1) {
        Value bound[TSR_MAX_ARGS + 4];
        bool ok, varargs;
        TSR_TRY(bind_match(&ok, f, only, args, skip, bound, &varargs, true));
    }
    const char *options[64];
    int n = 0;
    for (int i = 0; i < parser->count && n < 64; i++)
        if (!parser->sigs[i].hidden) options[n++] = parser->sigs[i].text;
    return args_fit_none(f->name, args, skip, n, options);
}
