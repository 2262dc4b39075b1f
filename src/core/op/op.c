/* op.c: running a bound call of an operator (op.h).
 *
 * A run goes one of three ways, the quickest that fits. run_plain: dense tensors of the host without lazy bits and a
 * fresh result go straight to the row's function. run_in_full: arguments that are conjugate or negative views are
 * resolved into copies, an out= that is such a view gets a stand-in, and the versions of what was written are bumped.
 * run_with_device: where a tensor lies on a device, the row's own kernel there, or the host by loan (tensor/loan.h).
 * tsr_invoke_new at the end binds C arguments by a string of letters and takes the same ways. */
#include "core/op.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "shared.h"
#include "op_impl.h"
#include "out.h"
#include "cast.h"
#include "core/backend.h"
#include "core/rng.h"
#include "core/engine/device.h"
#include "core/engine/turn.h"
#include "core/tensor/loan.h"
#include "core/tensor/inference.h"
#include "core/tensor/tensor_impl.h"

/* ---- running ---- */

/* What a run holds until it ends: arguments replaced by resolved copies, and outputs that stand in for conj or neg
 * views. */
typedef struct Run {
    TsrOpCall *call;
    TsrOpFn sparse; /* the row's, when an argument is sparse */
    TsrTensor *temporaries[TSR_MAX_ARGS + TSR_MAX_RETS];
    int ntemporaries;
    TsrTensor *real_out[TSR_MAX_RETS]; /* the caller's, where call->out holds a stand-in; lent */
    bool again;                        /* a device declined it before */
    struct {
        TsrArg *arg;
        TsrTensor **before;
    } lists[TSR_MAX_ARGS]; /* Tensor[] arguments that hold resolved copies, of which each entry is owned */
    int nlists;
} Run;

static bool is_lazy(const TsrTensor *t) { return t != NULL && (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG)) != 0; }

static TsrStatus check_meta(const TsrOpCall *c) {
    if (!(c->op->flags & TSR_OP_ELEMENTS)) return TSR_OK;
    return tsr_error(
        TSR_NOT_IMPLEMENTED_ERROR,
        "aten::%s: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
        "registered. You may have run into this message while using "
        "an operator with PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with "
        "those APIs you'll need to add a fake impl. Please see the "
        "following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html",
        c->schema->base);
}

/* Functions of one tensor, element by element, get as far as an output of its layout. */
static bool makes_output_first(const TsrOpCall *c) {
    return c->nargs == 1 && !(c->op->flags & TSR_OP_REFUSES_FIRST) && strcmp(c->op->category, "pointwise") == 0;
}

static TsrStatus not_for_sparse(const TsrOpCall *c, const TsrTensor *t) {
    if (t->layout != TSR_SPARSE_COO && makes_output_first(c))
        return tsr_error(TSR_RUNTIME_ERROR, "unsupported tensor layout: %s", tsr_layout_name(t->layout));
    return tsr_refuse_backend(c->schema->base, t);
}

static TsrStatus check_tensor(const Run *run, const TsrTensor *t) {
    const TsrOpCall *c = run->call;
    unsigned flags = c->op->flags;
    if (!tsr_is_defined(t)) return TSR_OK; /* of an optional parameter */
    if (TSR_UNLIKELY(tsr_is_meta(t))) TSR_TRY(check_meta(c));
    if (TSR_UNLIKELY(tsr_is_sparse(t))) {
        return flags & TSR_OP_SPARSE || run->sparse != NULL ? tsr_tensor_check(t, false) : not_for_sparse(c, t);
    }
    if (TSR_UNLIKELY(!tsr_dtype_is_pod(t->dtype)) && !(flags & TSR_OP_OBJECT))
        return tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "\"%s\" not implemented for '%s'", c->schema->base,
                         tsr_dtype_scalar_name(t->dtype));
    return flags & TSR_OP_UNCHECKED ? TSR_OK : tsr_tensor_check(t, false);
}

static TsrStatus resolve_into(Run *run, TsrTensor **slot) {
    TsrTensor *resolved;
    TSR_TRY(tsr_tensor_new_resolved(&resolved, *slot));
    run->temporaries[run->ntemporaries++] = resolved;
    *slot = resolved;
    return TSR_OK;
}

static TsrStatus resolve_list(Run *run, TsrArg *arg) {
    bool lazy = false;
    for (int i = 0; i < arg->n; i++) lazy |= is_lazy(arg->tensors[i]);
    if (!lazy) return TSR_OK;
    TsrTensor **before = arg->tensors, **copy = tsr_calloc((size_t)arg->n, sizeof *copy);
    if (copy == NULL) return tsr_error_no_memory(sizeof *copy * (size_t)arg->n);
    run->lists[run->nlists].arg = arg;
    run->lists[run->nlists++].before = before;
    arg->tensors = copy;
    for (int i = 0; i < arg->n; i++) {
        if (is_lazy(before[i])) TSR_TRY(tsr_tensor_new_resolved(&copy[i], before[i]));
        else copy[i] = tsr_tensor_retain(before[i]);
    }
    return TSR_OK;
}

/* The parameter's name of argument i; of an element of a list PyTorch says only "tensors". */
static const char *argument_name(const TsrOpCall *c, int i) {
    return c->arg[i].kind == TSR_ARG_TENSORS ? "tensors" : c->schema->params[i].name;
}

/* In which words PyTorch refuses, where they are not made of the row's own names. */
typedef struct Words {
    const char *name, *method, *argument;
} Words;

static Words words_for(const TsrOpCall *c, int i) {
    static const Words rows[] = {
#define WORDS(name, method, argument) {name, method, argument},
#include "device_words.def"
#undef WORDS
    };
    for (size_t k = 0; k < TSR_COUNTOF(rows); k++)
        if (strcmp(rows[k].name, c->schema->base) == 0)
            return (Words){NULL, rows[k].method, rows[k].argument != NULL ? rows[k].argument : argument_name(c, i)};
    bool both = c->op->flags & TSR_OP_CPU_NUMBERS;
    return (Words){NULL, both ? NULL : c->schema->base, argument_name(c, i)};
}

/* The function of PyTorch's that asks for one device by itself, in words of its own; index_fill is index_copy there.
 * NULL: another row. */
static const char *copier_of_rows(const char *name) {
    static const char *const rows[][2] = {
        {"index_add", "index_add"}, {"index_copy", "index_copy"}, {"index_fill", "index_copy"}};
    for (size_t i = 0; i < TSR_COUNTOF(rows); i++)
        if (strcmp(rows[i][0], name) == 0) return rows[i][1];
    return NULL;
}

/* Of (self, dim, index, source or a number) with a tensor on the meta device. */
static TsrStatus refuse_rows(const TsrOpCall *c, const char *copier) {
    const TsrTensor *self = c->arg[0].t, *source = c->arg[3].kind == TSR_ARG_TENSOR ? c->arg[3].t : self;
    return tsr_error(TSR_RUNTIME_ERROR,
                     "%s(): self, index and source expected to be in the same device, but got (self) %s, (index) %s, "
                     "and (source) %s",
                     copier, tsr_device_type_name(self->device.type), tsr_device_type_name(c->arg[2].t->device.type),
                     tsr_device_type_name(source->device.type));
}

static TsrStatus refuse_mixture(const TsrOpCall *c, int i, const TsrTensor *first, const TsrTensor *t) {
    char one[16], other[16];
    const char *copier = copier_of_rows(c->schema->base);
    bool meta = !tsr_device_has_backend(t->device) && !tsr_device_has_backend(first->device);
    if (meta && copier != NULL) return refuse_rows(c, copier);
    if (meta)
        return tsr_error(TSR_RUNTIME_ERROR, "Tensor on device %s is not on the expected device %s!",
                         tsr_device_type_name(t->device.type), tsr_device_type_name(first->device.type));
    tsr_device_format(t->device, one);
    tsr_device_format(first->device, other);
    Words words = words_for(c, i);
    if (words.method == NULL)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                         other[0] == 'c' && other[1] == 'u' ? other : one,
                         other[0] == 'c' && other[1] == 'u' ? one : other);
    return tsr_error(TSR_RUNTIME_ERROR,
                     "Expected all tensors to be on the same device, but got %s is on %s, different from other tensors "
                     "on %s (when checking argument in method wrapper_CUDA_%s)",
                     words.argument, one, other, words.method);
}

/* Whether t lies elsewhere than `*first`, the first tensor seen. */
static TsrStatus check_device(const TsrOpCall *c, int i, const TsrTensor **first, const TsrTensor *t) {
    if (t == NULL || !tsr_is_defined(t)) return TSR_OK;
    if (c->op->flags & TSR_OP_CPU_NUMBERS && tsr_ndim(t) == 0 && t->device.type == TSR_CPU) return TSR_OK;
    if (*first == NULL) *first = t;
    bool same = t->device.type == (*first)->device.type &&
                (t->device.index == (*first)->device.index || !tsr_device_has_backend(t->device));
    return same ? TSR_OK : refuse_mixture(c, i, *first, t);
}

TsrStatus tsr_check_index_devices(const TsrTensor *self, int n, TsrTensor *const *indices) {
    char name[16];
    for (int i = 0; i < n; i++) {
        const TsrTensor *t = indices[i];
        if (t == NULL || !tsr_is_defined(t) || t->device.type == TSR_CPU) continue;
        if (t->device.type == self->device.type && t->device.index == self->device.index) continue;
        return tsr_error(TSR_RUNTIME_ERROR,
                         "indices should be either on cpu or on the same device as the indexed tensor (%s)",
                         tsr_device_format(self->device, name));
    }
    return TSR_OK;
}

/* The tensors of a list; those that index may lie on the host whatever they index. */
static TsrStatus check_list(const TsrOpCall *c, int i, const TsrTensor **first) {
    const TsrArg *arg = &c->arg[i];
    if (c->schema->params[i].optional_elements && tsr_on_device(*first))
        return tsr_check_index_devices(*first, arg->n, arg->tensors);
    for (int k = 0; k < arg->n; k++) TSR_TRY(check_device(c, i, first, arg->tensors[k]));
    return TSR_OK;
}

static TsrStatus check_devices(const TsrOpCall *c) {
    const TsrTensor *first = NULL;
    if (c->op->flags & TSR_OP_MIXED_DEVICES) return TSR_OK;
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *arg = &c->arg[i];
        if (arg->kind == TSR_ARG_TENSOR) TSR_TRY(check_device(c, i, &first, arg->t));
        if (arg->kind == TSR_ARG_TENSORS) TSR_TRY(check_list(c, i, &first));
    }
    for (int k = 0; k < TSR_MAX_RETS && !c->inplace; k++) TSR_TRY(tsr_check_out_device(c, k));
    return TSR_OK;
}

static const char improper[] = "Expected a proper Tensor but got None (or an undefined tensor in C++)";

/* The undefined tensor has no kernels. */
static TsrStatus check_defined(const TsrOpCall *c, int i) {
    const TsrArg *arg = &c->arg[i];
    const TsrParam *param = &c->schema->params[i];
    if (arg->kind == TSR_ARG_TENSOR && !tsr_is_defined(arg->t) && !param->optional)
        return tsr_error(TSR_RUNTIME_ERROR, "%s for argument #%d '%s'", improper, i, param->name);
    for (int k = 0; arg->kind == TSR_ARG_TENSORS && !param->optional_elements && k < arg->n; k++)
        if (arg->tensors[k] != NULL && !tsr_is_defined(arg->tensors[k]))
            return tsr_error(TSR_RUNTIME_ERROR, "%s at position #%d for iterable argument #%d '%s'", improper, k, i,
                             param->name);
    return TSR_OK;
}

static TsrStatus prepare_arguments(Run *run) {
    TsrOpCall *c = run->call;
    TSR_TRY(check_devices(c));
    bool resolve = (c->op->flags & TSR_OP_CONJ) == 0;
    for (int i = 0; i < c->nargs; i++) {
        TsrArg *arg = &c->arg[i];
        TSR_TRY(check_defined(c, i));
        if (arg->kind == TSR_ARG_TENSOR) {
            TSR_TRY(check_tensor(run, arg->t));
            if (TSR_UNLIKELY(is_lazy(arg->t)) && resolve) TSR_TRY(resolve_into(run, &arg->t));
        } else if (arg->kind == TSR_ARG_TENSORS) {
            for (int k = 0; k < arg->n; k++)
                if (arg->tensors[k] != NULL) TSR_TRY(check_tensor(run, arg->tensors[k]));
            if (resolve) TSR_TRY(resolve_list(run, arg));
        }
    }
    return TSR_OK;
}

/* At most one of the outputs may be a conjugate view. */
static TsrStatus check_conjugate_outs(const TsrOpCall *c) {
    int n = 0;
    for (int k = 0; k < TSR_MAX_RETS; k++) n += c->out[k] != NULL && (c->out[k]->flags & TSR_FLAG_CONJ) != 0;
    if (n <= 1) return TSR_OK;
    return tsr_error(TSR_RUNTIME_ERROR, "conjugate fallback does not support operators with more than one mutable "
                                        "tensors with conjugatebit set to true.");
}

static TsrStatus prepare_outputs(Run *run) {
    TsrOpCall *c = run->call;
    if (c->out[1] != NULL) TSR_TRY(check_conjugate_outs(c));
    if (c->out[0] != NULL && !c->inplace) TSR_TRY(tsr_check_out_options(c));
    TSR_TRY(tsr_check_out_self(c));
    for (int k = 0; k < TSR_MAX_RETS; k++) {
        if (c->out[k] == NULL) continue;
        if (tsr_is_sparse(c->out[k])) {
            if (run->sparse == NULL && !(c->op->flags & TSR_OP_SPARSE)) return not_for_sparse(c, c->out[k]);
            continue;
        }
        if ((c->op->flags & TSR_OP_UNCHECKED) == 0) TSR_TRY(tsr_tensor_check(c->out[k], true));
        if (!is_lazy(c->out[k]) || (c->op->flags & TSR_OP_CONJ)) continue;
        run->real_out[k] = c->out[k];
        TSR_TRY(resolve_into(run, &c->out[k]));
        if (c->inplace && k == 0 && c->nargs > 0) c->arg[0].t = c->out[0];
    }
    return TSR_OK;
}

static TsrStatus finish_output(Run *run, int k) {
    TsrOpCall *c = run->call;
    if (k >= c->nret || c->ret[k].kind != TSR_ARG_TENSOR) return TSR_OK;
    TsrTensor *target = run->real_out[k] != NULL ? run->real_out[k] : c->out[k];
    if (c->ret[k].t != c->out[k]) TSR_TRY(tsr_write_out(c, k));
    if (run->real_out[k] != NULL && !tsr_same_sizes(target, c->out[k]))
        TSR_TRY(tsr_tensor_resize(target, tsr_ndim(c->out[k]), c->out[k]->sizes, TSR_CONTIGUOUS));
    if (run->real_out[k] != NULL) TSR_TRY(tsr_tensor_copy(target, c->out[k]));
    tsr_tensor_retain(target);
    tsr_tensor_free(c->ret[k].t);
    c->ret[k].t = target;
    if ((c->op->flags & TSR_OP_NO_BUMP) == 0)
        return tsr_tensor_written(target, c->inplace ? c->schema->inplace : c->schema->base);
    return TSR_OK;
}

/* A fresh result that was written over an argument. */
static bool is_spare(const TsrOpCall *c, const TsrTensor *t) {
    return c->spent && c->out[0] == NULL && c->op->alias == TSR_FRESH && c->arg[0].kind == TSR_ARG_TENSOR &&
           c->arg[0].t == t;
}

/* A fresh result, held by nothing else, starts at version 0, however often the operator wrote to it while it made it.
 */
static void forget_writes(const TsrOpCall *c, TsrTensor *t) {
    if (c->op->alias != TSR_FRESH || (c->op->flags & TSR_OP_COMPOSED) != 0) return;
    if (t->storage != NULL && t->storage->refcount == 1) t->storage->version.value = 0;
}

static void note_origin(TsrOpCall *c) {
    if (c->nret == 1 && c->ret[0].kind == TSR_ARG_TENSOR && is_spare(c, c->ret[0].t))
        c->ret[0].t->origin = c->schema->base;
    for (int k = 0; k < c->nret; k++) {
        TsrTensor *t = c->ret[k].kind == TSR_ARG_TENSOR && c->out[k] == NULL ? c->ret[k].t : NULL;
        if (t == NULL || tsr_tensor_refcount(t) != 1) continue;
        forget_writes(c, t);
        if (t->origin == NULL && tsr_is_defined(t)) t->origin = c->schema->base;
    }
}

static void end_run(Run *run) {
    for (int i = 0; i < run->ntemporaries; i++) tsr_tensor_free(run->temporaries[i]);
    for (int k = 0; k < TSR_MAX_RETS; k++)
        if (run->real_out[k] != NULL) run->call->out[k] = run->real_out[k];
    for (int i = 0; i < run->nlists; i++) {
        TsrArg *arg = run->lists[i].arg;
        tsr_free_all(arg->tensors, arg->n);
        tsr_free(arg->tensors);
        arg->tensors = run->lists[i].before;
    }
}

static bool has_sparse_argument(const TsrOpCall *c) {
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        if (a->kind == TSR_ARG_TENSOR && tsr_is_sparse(a->t)) return true;
        for (int k = 0; a->kind == TSR_ARG_TENSORS && k < a->n; k++)
            if (a->tensors[k] != NULL && tsr_is_sparse(a->tensors[k])) return true;
    }
    return false;
}

static TsrStatus run_prepared(Run *run) {
    TsrOpCall *c = run->call;
    if (!run->again) tsr_trace(TSR_TRACE_OP, c->schema->name, NULL, 0, c, NULL);
    run->sparse = c->op->sparse != NULL && has_sparse_argument(c) ? c->op->sparse : NULL;
    TSR_TRY(prepare_arguments(run));
    TSR_TRY(prepare_outputs(run));
    TSR_TRY((run->sparse != NULL ? run->sparse : c->op->fn)(c));
    TsrStatus status = TSR_OK;
    for (int k = 0; k < TSR_MAX_RETS && status == TSR_OK; k++)
        if (c->out[k] != NULL) status = finish_output(run, k);
    if (status != TSR_OK) tsr_op_release_returns(c);
    else note_origin(c);
    return status;
}

/* A dense CPU tensor of numbers without lazy bits: nothing to prepare but the check that its storage is still large
 * enough. */
static inline bool is_plain(const TsrTensor *t) {
    return (t->flags & (TSR_FLAG_CONJ | TSR_FLAG_NEG | TSR_FLAG_UNDEFINED)) == 0 && t->layout == TSR_STRIDED &&
           t->device.type == TSR_CPU && tsr_dtype_is_pod(t->dtype);
}

static inline bool all_plain(const TsrOpCall *c) {
    if (c->out[0] != NULL) return false;
    for (int i = 0; i < c->nargs; i++) {
        if (c->arg[i].kind == TSR_ARG_TENSORS) return false;
        if (c->arg[i].kind == TSR_ARG_TENSOR && !is_plain(c->arg[i].t)) return false;
        if (c->arg[i].kind == TSR_ARG_DEVICE && tsr_device_has_backend(c->arg[i].device)) return false;
    }
    return true;
}

/* The usual call: plain tensors, a fresh result. */
static TsrStatus run_plain(TsrOpCall *c) {
    if ((c->op->flags & TSR_OP_UNCHECKED) == 0)
        for (int i = 0; i < c->nargs; i++)
            if (c->arg[i].kind == TSR_ARG_TENSOR) TSR_TRY(tsr_tensor_check(c->arg[i].t, false));
    tsr_trace(TSR_TRACE_OP, c->schema->name, NULL, 0, c, NULL);
    TSR_TRY(c->op->fn(c));
    note_origin(c);
    return TSR_OK;
}

void (*tsr_op_hook)(const TsrOpCall *call, TsrStatus status);

/* A kernel that an interrupt ended early says nothing: what it left is dropped here. */
static TsrStatus whole(TsrOpCall *c, TsrStatus status) {
    if (TSR_LIKELY(!tsr_interrupt_pending()) || status != TSR_OK) return status;
    status = tsr_interrupt_raise();
    if (status != TSR_OK) tsr_op_release_returns(c);
    return status;
}

static TsrStatus no_such_call(const TsrOpCall *c) {
    if (c->op == NULL || c->schema == NULL) return tsr_error(TSR_SYSTEM_ERROR, "a call of no operator");
    return tsr_error(TSR_SYSTEM_ERROR, "%s: the %d arguments are not those of its schema", c->schema->name, c->nargs);
}

/* Whether the arguments are what the schema says: a binding makes them so, a program in C may have made any. */
static inline bool is_bound(const TsrOpCall *c) {
    if (c->op == NULL || c->schema == NULL || c->nargs != c->schema->nparams) return false;
    bool good = true;
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        const TsrParam *p = &c->schema->params[i];
        if (a->kind == TSR_ARG_NONE) good = good && (p->optional || p->has_default);
        else good = good && a->kind == p->type && (a->kind != TSR_ARG_TENSOR || a->t != NULL);
    }
    return good;
}

static void tell_end(const TsrOpCall *call, TsrStatus status) {
    if (TSR_UNLIKELY(tsr_op_hook != NULL)) tsr_op_hook(call, status);
}

/* `again`: a device has declined the call, which was told of already. */
static TsrStatus run_prepared_call(TsrOpCall *call, bool again) {
    Run run;
    call->nret = 0;
    run.call = call;
    run.ntemporaries = 0;
    run.nlists = 0;
    run.again = again;
    memset(run.real_out, 0, sizeof run.real_out);
    TsrStatus status = whole(call, run_prepared(&run));
    end_run(&run);
    return status;
}

static TsrStatus run_in_full(TsrOpCall *call) {
    TsrStatus status = run_prepared_call(call, false);
    tell_end(call, status);
    return status;
}

/* ---- with a device ---- */

TsrFallback tsr_op_fallback = TSR_FALLBACK_NOTE;
void (*tsr_op_fallback_hook)(const char *name, int64_t over, int64_t back);

/* What a call with a device among its tensors or options is about. */
typedef struct Where {
    bool any;          /* is there one? */
    bool told, sparse; /* by an option; some tensor of it is sparse */
    TsrDevice tensors, results;
} Where;

static void look_at(Where *w, const TsrTensor *t) {
    if (!tsr_on_device(t)) return;
    if (!w->any || !tsr_device_has_backend(w->tensors)) w->tensors = t->device;
    w->any = true;
    w->sparse |= tsr_is_sparse(t);
}

static Where find_device(const TsrOpCall *c) {
    Where w = {.tensors = TSR_DEVICE_CPU, .results = TSR_DEVICE_CPU};
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        if (a->kind == TSR_ARG_TENSOR) look_at(&w, a->t);
        for (int k = 0; a->kind == TSR_ARG_TENSORS && k < a->n; k++) look_at(&w, a->tensors[k]);
        if (a->kind == TSR_ARG_DEVICE) w.told = true, w.results = a->device;
    }
    for (int k = 0; k < TSR_MAX_RETS; k++) look_at(&w, c->out[k]);
    w.any |= tsr_device_has_backend(w.results);
    if (!w.told) w.results = w.tensors;
    return w;
}

/* Whether the row copes with tensors of a device as it is. */
static bool runs_there(const TsrOpCall *c, const Where *w) {
    const bool facts = c->op->alias == TSR_VIEW || c->op->alias == TSR_NO_TENSOR;
    if (w->sparse && !facts && c->op->sparse == NULL && (c->op->flags & TSR_OP_SPARSE) == 0) return false;
    return c->op->alias == TSR_VIEW || (c->op->flags & (TSR_OP_MIXED_DEVICES | TSR_OP_DEVICE)) != 0;
}

static TsrStatus lend_arguments(TsrLoans *l, const TsrOpCall *c) {
    for (int k = 0; k < TSR_MAX_RETS; k++) TSR_TRY(tsr_lend(l, c->out[k], true));
    for (int i = 0; i < c->nargs; i++) {
        const TsrArg *a = &c->arg[i];
        if (a->kind == TSR_ARG_TENSOR) TSR_TRY(tsr_lend(l, a->t, c->schema->params[i].written));
        for (int k = 0; a->kind == TSR_ARG_TENSORS && k < a->n; k++)
            TSR_TRY(tsr_lend(l, a->tensors[k], c->schema->params[i].written));
    }
    return TSR_OK;
}

static TsrStatus move_results(TsrLoans *l, const TsrOpCall *c, TsrDevice to) {
    if (!tsr_device_has_backend(to)) return TSR_OK;
    for (int k = 0; k < c->nret; k++) {
        const TsrArg *r = &c->ret[k];
        if (r->kind == TSR_ARG_TENSOR) TSR_TRY(tsr_move_to_device(l, r->t, to));
        for (int i = 0; r->kind == TSR_ARG_TENSORS && i < r->n; i++) TSR_TRY(tsr_move_to_device(l, r->tensors[i], to));
    }
    return TSR_OK;
}

TsrStatus tsr_op_fallback_begin(const char *name) {
    if (tsr_op_fallback != TSR_FALLBACK_ERROR) return TSR_OK;
    tsr_error(TSR_NOT_IMPLEMENTED_ERROR, "Could not run 'aten::%s' with arguments from the 'CUDA' backend.", name);
    tsr_error_hint("it would run on the host: tsr.cuda_fallback('note') lets it");
    return TSR_NOT_IMPLEMENTED_ERROR;
}

void tsr_op_fallback_end(const char *name, const TsrLoans *loans) {
    if (tsr_op_fallback_hook != NULL && tsr_op_fallback == TSR_FALLBACK_NOTE)
        tsr_op_fallback_hook(name, loans->over, loans->back);
}

/* What operators on the device of a call draw from. */
static TsrGenerator *generator_there(const Where *w) {
    return tsr_rng_of_device(tsr_device_has_backend(w->results) ? w->results.index : w->tensors.index);
}

static TsrStatus run_by_loan(TsrOpCall *c, const Where *w, bool again) {
    TsrLoans loans = {.what = c->schema->base};
    TSR_TRY(tsr_op_fallback_begin(c->schema->name));
    TSR_TRY(check_devices(c));
    for (int i = 0; i < c->nargs; i++)
        if (c->arg[i].kind == TSR_ARG_DEVICE && tsr_device_has_backend(c->arg[i].device))
            c->arg[i].device = TSR_DEVICE_CPU;
    bool spent = c->spent;
    c->spent = false; /* what is lent is no memory to build a result in */
    TsrGenerator *before = tsr_rng_use(generator_there(w));
    TsrStatus status = lend_arguments(&loans, c);
    bool ran = status == TSR_OK;
    if (ran) status = run_prepared_call(c, again);
    if (ran) tell_end(c, status);
    bool made = ran && status == TSR_OK;
    tsr_rng_use(before);
    c->spent = spent;
    status = tsr_give_back(&loans, status);
    if (status == TSR_OK) status = move_results(&loans, c, w->results);
    if (made && status != TSR_OK) tsr_op_release_returns(c);
    if (status == TSR_OK) tsr_op_fallback_end(c->schema->name, &loans);
    return status;
}

/* On the device, or by loan after all where it declines. */
static TsrStatus run_there(TsrOpCall *c, const Where *w) {
    const char *outer = tsr_device_work_of;
    const bool draws = (c->op->flags & TSR_OP_RANDOM) != 0;
    TsrGenerator *before = draws ? tsr_rng_use(generator_there(w)) : NULL;
    (void)tsr_device_declined();
    tsr_device_work_of = c->schema->name;
    TsrStatus status = run_prepared_call(c, false);
    tsr_device_work_of = outer;
    if (draws) tsr_rng_use(before);
    if (status == TSR_NOT_IMPLEMENTED_ERROR && tsr_device_declined()) return run_by_loan(c, w, true);
    tell_end(c, status);
    return status;
}

/* The options that name a device say which one while the call runs. */
static TsrStatus run_with_device(TsrOpCall *c, Where *w) {
    TsrArg given[TSR_MAX_ARGS];
    TsrStatus status = c->out[0] != NULL && !c->inplace ? tsr_check_out_options(c) : TSR_OK;
    memcpy(given, c->arg, sizeof *given * (size_t)c->nargs);
    for (int i = 0; i < c->nargs && status == TSR_OK; i++) {
        if (c->arg[i].kind != TSR_ARG_DEVICE) continue;
        status = tsr_device_resolve(&c->arg[i].device);
        w->results = c->arg[i].device;
    }
    if (status == TSR_OK) status = runs_there(c, w) ? run_there(c, w) : run_by_loan(c, w, false);
    memcpy(c->arg, given, sizeof *given * (size_t)c->nargs);
    return status;
}

TsrStatus (*tsr_op_cast_hook)(TsrOpCall *call);

TsrStatus tsr_op_run_as_it_is(TsrOpCall *call) {
    if (TSR_LIKELY(all_plain(call)) && TSR_LIKELY(tsr_trace_hook == NULL)) return whole(call, run_plain(call));
    Where w = find_device(call);
    return TSR_UNLIKELY(w.any) ? run_with_device(call, &w) : run_in_full(call);
}

TsrStatus tsr_op_run(TsrOpCall *call) {
    call->nret = 0;
    if (TSR_UNLIKELY(!is_bound(call))) return no_such_call(call);
    uint32_t outer = tsr_interrupt_enter();
    TsrStatus status = TSR_UNLIKELY(tsr_op_cast_hook != NULL) ? tsr_op_cast_hook(call) : tsr_op_run_as_it_is(call);
    tsr_interrupt_leave(outer);
    if (outer == 0) tsr_turn_end();
    return status;
}

void tsr_op_release_returns(TsrOpCall *call) {
    for (int k = 0; k < call->nret; k++) {
        TsrArg *r = &call->ret[k];
        if (r->kind == TSR_ARG_TENSOR) tsr_tensor_free(r->t);
        if (r->kind == TSR_ARG_TENSORS)
            for (int i = 0; i < r->n; i++) tsr_tensor_free(r->tensors[i]);
        if (r->kind == TSR_ARG_TENSORS || r->kind == TSR_ARG_INTS || r->kind == TSR_ARG_FLOATS) tsr_free(r->tensors);
        *r = (TsrArg){.kind = TSR_ARG_NONE};
    }
    call->nret = 0;
}

/* ---- calling from C ---- */

/* Whether `given` can be bound to `param` as it stands or after convert_argument; a number to a tensor only if `wrap`.
 */
static bool accepts(const TsrParam *param, const TsrArg *given, bool wrap) {
    if (given->kind == TSR_ARG_NONE) return param->optional || param->has_default;
    if (given->kind == param->type) return true;
    bool number = given->kind == TSR_ARG_INT || given->kind == TSR_ARG_FLOAT || given->kind == TSR_ARG_SCALAR ||
                  given->kind == TSR_ARG_BOOL;
    switch (param->type) {
    case TSR_ARG_TENSOR: return number && wrap;
    case TSR_ARG_SCALAR: return number;
    case TSR_ARG_FLOAT: return given->kind == TSR_ARG_INT;
    case TSR_ARG_INTS: return given->kind == TSR_ARG_INT && param->fixed > 0;
    default: return false;
    }
}

static TsrScalar scalar_of(const TsrArg *a) {
    switch (a->kind) {
    case TSR_ARG_INT: return tsr_scalar_int(a->i);
    case TSR_ARG_FLOAT: return tsr_scalar_float(a->f);
    case TSR_ARG_BOOL: return tsr_scalar_bool(a->b);
    default: return a->s;
    }
}

/* *made receives a tensor to free after the call when a number was wrapped. `single` keeps a lone int for an int[]. */
static TsrStatus convert_argument(const TsrParam *param, TsrArg *a, TsrTensor **made, int64_t *single) {
    if (a->kind == TSR_ARG_NONE) {
        if (param->has_default) *a = param->value;
        return TSR_OK;
    }
    if (a->kind == param->type) return TSR_OK;
    if (param->type == TSR_ARG_TENSOR) {
        TSR_TRY(tsr_tensor_new_wrapped(made, scalar_of(a)));
        *a = (TsrArg){.kind = TSR_ARG_TENSOR, .t = *made};
    } else if (param->type == TSR_ARG_SCALAR) {
        *a = (TsrArg){.kind = TSR_ARG_SCALAR, .s = scalar_of(a)};
    } else if (param->type == TSR_ARG_FLOAT) {
        *a = (TsrArg){.kind = TSR_ARG_FLOAT, .f = (double)a->i};
    } else {
        *single = a->i;
        *a = (TsrArg){.kind = TSR_ARG_INTS, .n = 1, .ints = single};
    }
    return TSR_OK;
}

/* What C's types let through. */
static TsrStatus check_arguments(const TsrArg *args, int nargs) {
    for (int i = 0; i < nargs; i++) {
        const TsrArg *a = &args[i];
        if ((unsigned)a->kind > TSR_ARG_ANY)
            return tsr_error(TSR_SYSTEM_ERROR, "argument %d is of no kind: %d", i, (int)a->kind);
        bool list = a->kind == TSR_ARG_TENSORS || a->kind == TSR_ARG_INTS || a->kind == TSR_ARG_FLOATS ||
                    a->kind == TSR_ARG_BOOLS || a->kind == TSR_ARG_SCALARS;
        if (list && a->n < 0) return tsr_error(TSR_SYSTEM_ERROR, "argument %d has a negative length: %d", i, a->n);
        if (a->kind == TSR_ARG_DTYPE) TSR_TRY(tsr_dtype_check(a->dtype));
        if (a->kind == TSR_ARG_TENSOR && a->t == NULL)
            return tsr_error(TSR_SYSTEM_ERROR, "argument %d has no tensor", i);
    }
    return TSR_OK;
}

static TsrStatus read_varargs(TsrArg *args, int *nargs, TsrTensor **out0, const char *fmt, va_list list) {
    *out0 = NULL;
    *nargs = 0;
    if (fmt[0] == '!') {
        *out0 = va_arg(list, TsrTensor *);
        fmt += 2;
    }
    for (; *fmt != '\0'; fmt++) {
        if (*nargs == TSR_MAX_ARGS) return tsr_error(TSR_SYSTEM_ERROR, "too many arguments in a call by name");
        TsrArg *a = &args[(*nargs)++];
        *a = (TsrArg){.kind = TSR_ARG_NONE};
        switch (*fmt) {
        case 't':
            a->t = va_arg(list, TsrTensor *);
            a->kind = a->t != NULL ? TSR_ARG_TENSOR : TSR_ARG_NONE;
            break;
        case 'i':
            a->kind = TSR_ARG_INT;
            a->i = va_arg(list, int64_t);
            break;
        case 'f':
            a->kind = TSR_ARG_FLOAT;
            a->f = va_arg(list, double);
            break;
        case 's':
            a->kind = TSR_ARG_SCALAR;
            a->s = va_arg(list, TsrScalar);
            break;
        case 'b':
            a->kind = TSR_ARG_BOOL;
            a->b = va_arg(list, int) != 0;
            break;
        case 'd':
            a->dtype = (TsrDtype)va_arg(list, int);
            a->kind = a->dtype == TSR_DTYPE_NONE ? TSR_ARG_NONE : TSR_ARG_DTYPE;
            break;
        case 'c':
            a->kind = TSR_ARG_STR;
            a->str = va_arg(list, const char *);
            break;
        case 'I':
            a->kind = TSR_ARG_INTS; /* negative counts are refused below */
            a->n = va_arg(list, int);
            a->ints = va_arg(list, int64_t *);
            break;
        case 'T':
            a->kind = TSR_ARG_TENSORS;
            a->n = va_arg(list, int);
            a->tensors = va_arg(list, TsrTensor **);
            break;
        case 'n': break;
        default: return tsr_error(TSR_SYSTEM_ERROR, "unknown letter '%c' in a call by name", *fmt);
        }
    }
    return TSR_OK;
}

static bool matches(const TsrSchema *schema, const TsrArg *args, int nargs, bool wrap) {
    if (nargs > schema->nparams) return false;
    for (int i = 0; i < schema->nparams; i++) {
        if (i < nargs ? !accepts(&schema->params[i], &args[i], wrap)
                      : !schema->params[i].has_default && !schema->params[i].optional)
            return false;
    }
    return true;
}

/* Runs a call whose first nargs arguments are there; the others are not given. */
static TsrStatus run_by_name(TsrTensor **outs, int nout, TsrOpCall *call) {
    const TsrSchema *schema = call->schema;
    TsrTensor *made[TSR_MAX_ARGS] = {NULL};
    int64_t singles[TSR_MAX_ARGS];
    while (call->nargs < schema->nparams) call->arg[call->nargs++] = (TsrArg){.kind = TSR_ARG_NONE};
    TsrStatus status = TSR_OK;
    for (int i = 0; i < schema->nparams && status == TSR_OK; i++)
        status = convert_argument(&schema->params[i], &call->arg[i], &made[i], &singles[i]);
    if (status == TSR_OK) status = tsr_op_run(call);
    for (int i = 0; i < schema->nparams; i++) tsr_tensor_free(made[i]);
    if (status != TSR_OK) return status;
    for (int k = 0; k < nout && status == TSR_OK; k++)
        if (k >= call->nret || call->ret[k].kind != TSR_ARG_TENSOR)
            status = tsr_error(TSR_SYSTEM_ERROR, "%s() has %d results, and %d tensors were asked for", schema->name,
                               call->nret, nout);
    if (status != TSR_OK) {
        tsr_op_release_returns(call);
        return status;
    }
    for (int k = 0; k < nout; k++) {
        outs[k] = call->ret[k].t;
        call->ret[k] = (TsrArg){.kind = TSR_ARG_NONE};
    }
    tsr_op_release_returns(call);
    return TSR_OK;
}

TsrStatus tsr_invoke_new(TsrTensor **outs, int nout, const char *name, const char *fmt, ...) {
    if (nout < 0 || nout > TSR_MAX_RETS)
        return tsr_error(TSR_SYSTEM_ERROR, "%d results: a call has 0 to %d", nout, TSR_MAX_RETS);
    const TsrOpSet *set = tsr_op_find(name);
    if (set == NULL) {
        tsr_error(TSR_SYSTEM_ERROR, "no operator is named '%s'", name);
        if (name[0] != '\0' && name[strlen(name) - 1] == '_')
            tsr_error_hint("in place, '!t' begins the letters of the name without _");
        return TSR_SYSTEM_ERROR;
    }
    TsrArg args[TSR_MAX_ARGS];
    TsrTensor *out0;
    int nargs;
    va_list list;
    va_start(list, fmt);
    TsrStatus status = read_varargs(args, &nargs, &out0, fmt, list);
    va_end(list);
    TSR_TRY(status);
    TSR_TRY(check_arguments(args, nargs));
    for (int wrap = 0; wrap < 2; wrap++)
        for (int k = 0; k < set->n; k++) {
            const TsrSchema *schema;
            TSR_TRY(tsr_op_schema(&schema, set->ops[k]));
            if (!matches(schema, args, nargs, wrap != 0)) continue;
            TsrOpCall call = {.op = set->ops[k],
                              .schema = schema,
                              .arg = args,
                              .nargs = nargs,
                              .out = {out0},
                              .inplace = out0 != NULL};
            return run_by_name(outs, nout, &call);
        }
    return tsr_error(TSR_SYSTEM_ERROR, "no overload of '%s' takes \"%s\"", name, fmt);
}
