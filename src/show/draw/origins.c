/* Runs an operator again and again with one element of one operand changed. Elements that are whole numbers become
 * float64, so that they can be nan: of all operands, or of the one alone, whichever the operator takes; bools are
 * turned round. */
#include "origins.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/rng.h"
#include "core/view.h"

typedef enum Widen { WIDEN_NONE, WIDEN_ALL, WIDEN_ONE, WIDENS } Widen;

/* The call with arguments of its own, which may be replaced. */
typedef struct Trial {
    const TsrOpCall *call;
    TsrArg args[TSR_MAX_ARGS];
    TsrTensor **slots[TSR_MAX_ARGS + ORIGIN_CELLS]; /* each tensor among the arguments, in order */
    TsrTensor *given[TSR_MAX_ARGS + ORIGIN_CELLS];  /* lent: what stood there */
    TsrTensor *lists[ORIGIN_CELLS];                 /* copies of lists */
    int slot_count, list_count;
} Trial;

static bool is_small(const TsrTensor *t) {
    return tsr_is_defined(t) && t->layout == TSR_STRIDED && t->device.type == TSR_CPU && tsr_dtype_is_pod(t->dtype) &&
           t->numel <= ORIGIN_CELLS;
}

static bool add_slot(Trial *t, TsrTensor **slot) {
    if (*slot == NULL || !is_small(*slot)) return *slot == NULL;
    t->slots[t->slot_count] = slot;
    t->given[t->slot_count++] = *slot;
    return true;
}

/* False: the call can't be tried. */
static bool prepare(Trial *t, const TsrOpCall *c) {
    *t = (Trial){.call = c};
    memcpy(t->args, c->arg, sizeof *c->arg * (size_t)c->nargs);
    for (int i = 0; i < c->nargs; i++) {
        TsrArg *a = &t->args[i];
        if (a->kind == TSR_ARG_GENERATOR) return false;
        if (a->kind == TSR_ARG_TENSOR && !add_slot(t, &a->t)) return false;
        if (a->kind != TSR_ARG_TENSORS) continue;
        if (a->n > ORIGIN_CELLS - t->list_count) return false;
        TsrTensor **copy = t->lists + t->list_count;
        t->list_count += a->n;
        if (a->n > 0) memcpy(copy, a->tensors, sizeof *copy * (size_t)a->n);
        a->tensors = copy;
        for (int k = 0; k < a->n; k++)
            if (!add_slot(t, &copy[k])) return false;
    }
    return true;
}

/* The result is the caller's; NULL: the operator refuses. */
static TsrTensor *run_again(Trial *t) {
    TsrArg args[TSR_MAX_ARGS];
    TsrOpCall again = {.op = t->call->op, .schema = t->call->schema, .arg = args, .nargs = t->call->nargs};
    memcpy(args, t->args, sizeof *args * (size_t)again.nargs);
    TsrStatus status = tsr_op_run(&again);
    if (status != TSR_OK) {
        tsr_error_clear();
        if (status == TSR_KEYBOARD_INTERRUPT) tsr_interrupt_request(); /* whoever runs the code raises it */
        if (status == TSR_TIMEOUT_ERROR) tsr_interrupt_request_timeout();
        return NULL;
    }
    bool tensor = again.nret > 0 && again.ret[0].kind == TSR_ARG_TENSOR && is_small(again.ret[0].t);
    TsrTensor *result = tensor ? tsr_tensor_retain(again.ret[0].t) : NULL;
    tsr_op_release_returns(&again);
    return result;
}

static bool is_whole(const TsrTensor *t) { return tsr_dtype_is_integral(t->dtype) && t->dtype != TSR_BOOL; }

/* Puts widened copies in place of what was given; slots that hold a copy are freed by put_back. */
static bool widen(Trial *t, int tried, Widen how) {
    for (int i = 0; i < t->slot_count; i++) {
        TsrTensor *copy;
        bool wide = is_whole(t->given[i]) && (how == WIDEN_ALL || (how == WIDEN_ONE && i == tried));
        if (!wide && i != tried) continue;
        TsrStatus status = wide ? tsr_tensor_new_cast(&copy, t->given[i], TSR_FLOAT64)
                                : tsr_tensor_new_clone(&copy, t->given[i], TSR_CONTIGUOUS);
        if (status != TSR_OK) return false;
        *t->slots[i] = copy;
    }
    return true;
}

static void put_back(Trial *t) {
    for (int i = 0; i < t->slot_count; i++) {
        if (*t->slots[i] != t->given[i]) tsr_tensor_free(*t->slots[i]);
        *t->slots[i] = t->given[i];
    }
}

static bool same_value(const TsrTensor *a, const TsrTensor *b, int64_t i) {
    char one[16] = {0}, other[16] = {0};
    tsr_scalar_store(tsr_tensor_get(a, i), a->dtype, one);
    tsr_scalar_store(tsr_tensor_get(b, i), b->dtype, other);
    return memcmp(one, other, sizeof one) == 0;
}

static bool same_shape(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == tsr_ndim(b) && memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)tsr_ndim(a)) == 0;
}

static bool same_tensor(const TsrTensor *a, const TsrTensor *b) {
    bool same = same_shape(a, b) && a->dtype == b->dtype;
    for (int64_t i = 0; same && i < a->numel; i++) same = same_value(a, b, i);
    return same;
}

/* Element i of a contiguous tensor becomes what it was not. */
static void change(TsrTensor *t, int64_t i) {
    char *at = (char *)tsr_data(t) + (size_t)i * tsr_itemsize(t);
    bool flag = t->dtype == TSR_BOOL;
    tsr_scalar_store(flag ? tsr_scalar_bool(!tsr_tensor_get(t, i).b) : tsr_scalar_float((double)NAN), t->dtype, at);
}

/* With the operand in slot `tried` widened and in place: each element changed in turn. */
static bool try_elements(Origins *out, Trial *t, int tried, const TsrTensor *base) {
    TsrTensor *operand = *t->slots[tried];
    for (int64_t i = 0; i < operand->numel; i++) {
        char was[16];
        char *at = (char *)tsr_data(operand) + (size_t)i * tsr_itemsize(operand);
        memcpy(was, at, tsr_itemsize(operand));
        change(operand, i);
        TsrTensor *result = run_again(t);
        memcpy(at, was, tsr_itemsize(operand));
        bool comparable = result != NULL && same_shape(result, base) && result->dtype == base->dtype;
        for (int64_t k = 0; comparable && k < base->numel; k++)
            if (!same_value(result, base, k) && out->count[k]++ == 0) out->first[k] = (int16_t)i;
        tsr_tensor_free(result);
        if (!comparable) return false;
    }
    return true;
}

/* What the widened call returns must be as large as the result, and, when nothing was widened, equal to it. */
static bool try_operand(Origins *out, Trial *t, int tried, Widen how, const TsrTensor *result) {
    bool has_nan = tsr_dtype_is_float(t->given[tried]->dtype) || tsr_dtype_is_complex(t->given[tried]->dtype) ||
                   t->given[tried]->dtype == TSR_BOOL;
    if (how == WIDEN_NONE && !has_nan) return false;
    TsrTensor *base = widen(t, tried, how) ? run_again(t) : NULL;
    bool fits = base != NULL && (how == WIDEN_NONE ? same_tensor(base, result) : same_shape(base, result));
    *out = (Origins){0};
    out->known = fits && try_elements(out, t, tried, base);
    tsr_tensor_free(base);
    put_back(t);
    return out->known;
}

static bool can_be_tried(const TsrOpCall *c, const TsrTensor *result) {
    bool writes = c->inplace || c->out[0] != NULL || c->op->alias == TSR_IN_PLACE || c->op->alias == TSR_NO_TENSOR;
    return !writes && (c->op->flags & TSR_OP_RANDOM) == 0 && is_small(result);
}

void origins_find(Origins *out, int most, const TsrOpCall *call, const TsrTensor *result) {
    uint8_t state[TSR_RNG_STATE_BYTES];
    Trial *t = tsr_malloc(sizeof *t);
    for (int i = 0; i < most; i++) out[i].known = false;
    if (t != NULL && can_be_tried(call, result) && prepare(t, call)) {
        bool fresh = true;
        tsr_rng_get_state(tsr_rng_default(), state);
        for (int i = 0; i < t->slot_count; i++) fresh = fresh && t->given[i]->storage != result->storage;
        for (int i = 0; i < t->slot_count && i < most && fresh; i++)
            for (Widen how = WIDEN_NONE; how < WIDENS && !try_operand(&out[i], t, i, how, result);) how++;
        if (tsr_rng_set_state(tsr_rng_default(), state, sizeof state) != TSR_OK) tsr_error_clear();
    }
    tsr_free(t);
}
