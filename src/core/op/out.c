/* out.c: results that go into a tensor given as out=: which dtypes and overlaps PyTorch allows, resizing with its
 * warning, and the copy into it (out.h). */
#include "out.h"

#include <stdio.h>
#include <string.h>

#include "shared.h"
#include "op_impl.h"
#include "core/tensor/owned.h"
#include "core/tensor/tensor_impl.h"

/* Which dtypes an out= may have: what the result can be cast to, the result's own, any complex one, any floating one;
 * any floating or complex one; or the first argument's, which is looked at before the operator runs (MODULUS: a complex
 * argument's result may be real; REAL: a complex argument is refused by the operator). */
typedef enum Fit {
    FIT_CASTABLE,
    FIT_SAME,
    FIT_COMPLEX,
    FIT_FLOATING,
    FIT_INEXACT,
    FIT_SELF,
    FIT_MODULUS,
    FIT_REAL
} Fit;

static const struct OutRule {
    Fit fit;
    const char *says;
} rules[TSR_OUT_RULES] = {
#define RULE(name, fit, says) [TSR_RULE_##name] = {FIT_##fit, says},
#include "core/out_rules.def"
#undef RULE
};

static bool fits(Fit fit, TsrDtype want, TsrDtype got) {
    switch (fit) {
    case FIT_SAME:
    case FIT_SELF:
    case FIT_MODULUS:
    case FIT_REAL: return got == want;
    case FIT_COMPLEX: return tsr_dtype_is_complex(got);
    case FIT_FLOATING: return tsr_dtype_is_float(got);
    case FIT_INEXACT: return tsr_dtype_is_float(got) || tsr_dtype_is_complex(got);
    default: return tsr_can_cast(want, got);
    }
}

/* The words for output k: the last ones stand for all that follow. */
static const char *words_of(const char *says, int k) {
    for (const char *bar; k > 0 && (bar = strchr(says, '|')) != NULL; k--) says = bar + 1;
    return says;
}

static TsrStatus refuse(const TsrOpCall *c, int k, TsrOutRule rule, TsrDtype want) {
    TsrDtype got = c->out[k]->dtype;
    const char *name = c->schema->returns[k].name;
    const struct {
        const char *word, *text;
    } fills[] = {
        {"$self", tsr_dtype_scalar_name(c->nargs > 0 && c->arg[0].kind == TSR_ARG_TENSOR ? c->arg[0].t->dtype : want)},
        {"$want", tsr_dtype_scalar_name(want)},
        {"$got", tsr_dtype_scalar_name(got)},
        {"$cwant", tsr_dtype_c_name(want)},
        {"$cgot", tsr_dtype_c_name(got)},
        {"$name", name != NULL ? name : "result"},
        {"$op", c->schema->name},
        {"$base", c->schema->base},
    };
    char message[400];
    size_t n = 0;
    for (const char *p = words_of(rules[rule].says, k); *p != '\0' && *p != '|' && n + 1 < sizeof message;) {
        size_t i = 0;
        while (i < TSR_COUNTOF(fills) && strncmp(p, fills[i].word, strlen(fills[i].word)) != 0) i++;
        if (i == TSR_COUNTOF(fills)) {
            message[n++] = *p++;
            continue;
        }
        p += strlen(fills[i].word);
        n += (size_t)snprintf(message + n, sizeof message - n, "%s", fills[i].text);
    }
    message[TSR_MIN(n, sizeof message - 1)] = '\0';
    return tsr_error(TSR_RUNTIME_ERROR, "%s", message);
}

TsrStatus tsr_check_out_fits(const TsrOpCall *c, int k, TsrDtype want) {
    const TsrTensor *out = c->out[k];
    if (TSR_LIKELY(out == NULL || out->dtype == want)) return TSR_OK;
    TsrOutRule rule = c->inplace ? TSR_RULE_CASTABLE : c->op->out_rule;
    return fits(rules[rule].fit, want, out->dtype) ? TSR_OK : refuse(c, k, rule, want);
}

/* Whether there are inputs, and where: a 0-d one on the CPU goes with any other. */
static bool find_home(TsrDevice *home, const TsrOpCall *c) {
    bool found = false;
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        const TsrTensor *t = a->kind == TSR_ARG_TENSOR                ? a->t
                             : a->kind == TSR_ARG_TENSORS && a->n > 0 ? a->tensors[0]
                                                                      : NULL;
        if (t == NULL || !tsr_is_defined(t) || (found && tsr_ndim(t) == 0 && t->device.type == TSR_CPU)) continue;
        *home = t->device;
        found = true;
        if (tsr_ndim(t) > 0) break;
    }
    return found;
}

TsrStatus tsr_check_out_device(const TsrOpCall *c, int k) {
    const TsrTensor *out = c->out[k];
    TsrDevice home;
    if (out == NULL || !tsr_is_defined(out) || !find_home(&home, c) || out->device.type == home.type) return TSR_OK;
    if (tsr_device_has_backend(out->device) || tsr_device_has_backend(home)) {
        char from[16], to[16];
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                         tsr_device_format(out->device, to), tsr_device_format(home, from));
    }
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Attempting to copy from device %s to device %s, but cross-device copies are not allowed!",
                     tsr_device_type_name(home.type), tsr_device_type_name(out->device.type));
}

TsrStatus tsr_check_out_self(const TsrOpCall *c) {
    Fit fit = rules[c->op->out_rule].fit;
    if (c->out[0] == NULL || c->inplace || c->arg[0].kind != TSR_ARG_TENSOR || fit < FIT_SELF) return TSR_OK;
    TsrDtype self = c->arg[0].t->dtype;
    bool real = fit == FIT_REAL || (fit == FIT_MODULUS && !tsr_dtype_is_complex(c->out[0]->dtype));
    if (real && tsr_dtype_is_complex(self)) return TSR_OK;
    if ((c->out[0]->flags & TSR_FLAG_CONJ) == 0) TSR_TRY(tsr_check_no_internal_overlap(c->out[0]));
    if (c->out[0]->dtype == self) return TSR_OK;
    return refuse(c, 0, c->op->out_rule, self);
}

/* What a given option of a factory says, and what its out= is; false: they agree. */
static bool disagrees(const TsrArg *option, const TsrTensor *out, const char **what, const char **says,
                      const char **is) {
    switch (tsr_arg_given(option) ? option->kind : TSR_ARG_NONE) {
    case TSR_ARG_DTYPE:
        *what = "dtype", *says = tsr_dtype_scalar_name(option->dtype), *is = tsr_dtype_scalar_name(out->dtype);
        return option->dtype != out->dtype;
    case TSR_ARG_LAYOUT:
        *what = "layout", *says = tsr_layout_name(option->layout), *is = tsr_layout_name(out->layout);
        return option->layout != out->layout;
    case TSR_ARG_DEVICE:
        *what = "device type", *says = tsr_device_type_name(option->device.type);
        *is = tsr_device_type_name(out->device.type);
        return option->device.type != out->device.type;
    default: return false;
    }
}

TsrStatus tsr_check_out_options(const TsrOpCall *c) {
    const TsrTensor *out = c->out[0];
    const char *what, *says, *is;
    bool factory = false;
    for (int i = 0; i < c->nargs; i++) factory = factory || c->schema->params[i].type == TSR_ARG_LAYOUT;
    for (int i = 0; i < c->nargs && factory; i++)
        if (disagrees(&c->arg[i], out, &what, &says, &is))
            return tsr_error(TSR_RUNTIME_ERROR, "%s %s does not match %s of out parameter (%s)", what, says, what, is);
    return TSR_OK;
}

TsrStatus tsr_check_out_dtype(const TsrOpCall *c, int k, TsrDtype dtype) {
    if (c->out[k] == NULL || c->inplace || c->out[k]->dtype == dtype) return TSR_OK;
    return refuse(c, k, c->op->out_rule != TSR_RULE_CASTABLE ? c->op->out_rule : TSR_RULE_SAME, dtype);
}

/* `fits`: out is not going to be resized; before that only those that may share nothing look. */
static TsrStatus check_inputs(const TsrOpCall *c, const TsrTensor *out, bool fits) {
    bool none = c->op->out_overlap == TSR_OVERLAP_NONE;
    bool any = c->op->out_overlap == TSR_OVERLAP_ANY || c->op->out_overlap == TSR_OVERLAP_SELF;
    if (any || (!none && !fits)) return TSR_OK;
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        if (a->kind != TSR_ARG_TENSOR) continue;
        TSR_TRY(none ? tsr_check_no_overlap(out, a->t) : tsr_iter_check_partial_overlap(out, a->t));
    }
    return TSR_OK;
}

/* Where elements of out share memory the last one stays, as if they were written in order. */
static TsrStatus write_shared(TsrTensor *out, const TsrTensor *result) {
    TSR_OWNED to = tsr_tensor_retain(out);
    TSR_OWNED from = tsr_tensor_retain((TsrTensor *)result);
    for (int d = 0; d < tsr_ndim(out); d++) {
        if (out->strides[d] != 0 || out->sizes[d] < 2) continue;
        TsrTensor *last_to, *last_from;
        TSR_TRY(tsr_tensor_new_narrow(&last_to, to, d, out->sizes[d] - 1, 1));
        tsr_owned_put_move(&to, last_to);
        TSR_TRY(tsr_tensor_new_narrow(&last_from, from, d, out->sizes[d] - 1, 1));
        tsr_owned_put_move(&from, last_from);
    }
    return tsr_tensor_copy(to, from);
}

/* Whether out becomes lazily conjugated, as the result is: that of solve(left=False), into an out= of its layout. */
static bool keeps_conj(const TsrOpCall *c, const TsrTensor *out, const TsrTensor *result) {
    if (!(c->op->flags & TSR_OP_OUT_STRIDES) || !(result->flags & TSR_FLAG_CONJ)) return false;
    return memcmp(out->strides, result->strides, sizeof *out->strides * (size_t)tsr_ndim(out)) == 0;
}

/* Whether a factorization is written where the outputs are, and not into new matrices that are copied: the first has
 * no elements yet, the others none or their own in a row, all of the results' dtypes. */
static bool fits_as_it_is(const TsrOpCall *c) {
    for (int k = 0; k < c->nret; k++) {
        const TsrTensor *out = c->out[k], *result = c->ret[k].t;
        if (out == NULL) continue;
        if (out->dtype != result->dtype || (k == 0 && out->numel > 0)) return false;
        if (out->numel > 0 && (!tsr_same_sizes(out, result) || !tsr_is_contiguous(out, TSR_CONTIGUOUS))) return false;
    }
    return true;
}

TsrStatus tsr_write_out(TsrOpCall *c, int k) {
    TsrTensor *result = c->ret[k].t, *out = c->out[k];
    TSR_TRY(tsr_check_out_fits(c, k, result->dtype));
    if (!c->inplace) TSR_TRY(check_inputs(c, out, tsr_same_sizes(result, out)));
    if (TSR_UNLIKELY(tsr_is_sparse(result) || tsr_is_sparse(out))) return tsr_sparse_write(c, result, out);
    bool columns = (c->op->flags & TSR_OP_OUT_COLUMNS) && fits_as_it_is(c);
    if (!tsr_same_sizes(result, out) || (columns && out->numel == 0)) {
        if (c->inplace) {
            return tsr_error(TSR_RUNTIME_ERROR, "output with shape %s doesn't match the broadcast shape %s",
                             tsr_sizes_text(out), tsr_sizes_text(result));
        }
        TSR_TRY(tsr_tensor_resize(out, tsr_ndim(result), result->sizes, TSR_CONTIGUOUS));
        if ((c->op->flags & TSR_OP_OUT_STRIDES) || columns)
            TSR_TRY(tsr_tensor_set_geometry(
                out, (TsrGeometry){tsr_ndim(result), result->sizes, result->strides, out->offset}));
    }
    if (c->op->out_overlap == TSR_OVERLAP_SELF) return write_shared(out, result);
    TSR_TRY(tsr_check_no_internal_overlap(out));
    if (keeps_conj(c, out, result)) out->flags |= TSR_FLAG_CONJ;
    return tsr_tensor_copy(out, result);
}
