/* What must hold for every row of the operator table, whatever it computes: the answer does not depend on how its
 * arguments lie in memory, the forms agree, results alias what the row says, arguments stay as they were, counts come
 * back, the meta device gives the same geometry, wrong arguments are refused, nothing takes seconds. Calls are random
 * and accepted ones (op_calls.h).
 *
 * TSR_TEST_OP=NAME picks one operator, TSR_TEST_SEED another stream, TSR_TEST_ROUNDS how often each combination of
 * dtype and layout is tried (unset: a sample), TSR_TEST_VERBOSE names each row on the way and those whose calls are
 * never accepted, TSR_TEST_DUMP=FILE writes each call with its outcome, for tests/oracle/replay.py. */
#include "core/mem.h"
#include "core/op/op_calls.h"
#include "suite.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const TsrDtype all_dtypes[] = {TSR_FLOAT32, TSR_INT64,       TSR_FLOAT64,      TSR_BOOL,   TSR_COMPLEX64,
                                      TSR_UINT8,   TSR_FLOAT16,     TSR_BFLOAT16,     TSR_INT32,  TSR_INT8,
                                      TSR_INT16,   TSR_COMPLEX128,  TSR_COMPLEX32,    TSR_UINT16, TSR_UINT32,
                                      TSR_UINT64,  TSR_FLOAT8_E5M2, TSR_FLOAT8_E4M3FN};

/* ---- failures: all are listed, each property once a row ---- */

static int failures;
static const char *reported[16]; /* properties that the row under test has been found to break */
static int nreported;

static void broken(const OpCall *call, const char *property, const char *format, ...) TSR_PRINTF(3, 4);
static void broken(const OpCall *call, const char *property, const char *format, ...) {
    failures++;
    for (int i = 0; i < nreported; i++)
        if (strcmp(reported[i], property) == 0) return;
    if (nreported < (int)TSR_COUNTOF(reported)) reported[nreported++] = property;
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s: %s: ", call->schema->name, property);
    vfprintf(stderr, format, list);
    fprintf(stderr, "\n");
    va_end(list);
    call_describe(call);
}

/* ---- what some rows are exempt from, and why ---- */

enum {
    NO_VALUES = 1,         /* elements are not set, or are addresses */
    BY_LAYOUT = 2,         /* asks about the layout itself, or writes one place twice in the order of memory */
    REFUSED_BY_LAYOUT = 4, /* takes another way for contiguous input, which asks for more */
    SHARED_SELF = 8,    /* in place, all elements of self that share memory get the same value, so PyTorch allows it */
    OUT_UNTOUCHED = 16, /* PyTorch leaves out= as it was */
    DIM_UNREAD = 32,    /* PyTorch does not look at `dim` for vectors, or where all there is to join is empty lists */
    SET = 64,           /* points self at another storage */
    ROUNDED_ON_THE_WAY = 128, /* half floats that PyTorch's plain loops round on the way, and its vectors do not */
    REFUSED_OUT = 256,        /* takes another way with out=, which asks for more */
    REAL_OUT = 1024,          /* PyTorch writes the real part of a complex answer into a real out= */
    ANY_OUT = 4096,    /* PyTorch writes powers of the number 1, and sums of no products, into an out= of any dtype */
    META_OTHER = 2048, /* another geometry on meta, as in PyTorch: the size is output_size, which the repeats of nothing
                          do not reach; exponentials of 1x1 matrices are row-major */
    BY_BLOCKS = 8192,  /* by vectors where whole blocks lie in line, else by the C library (fast.def), as PyTorch */
    HALF_PRODUCT = 512 /* a product of float16 that overflows on the way in one order, and meets a zero, is nan in that
                          order only, as PyTorch's */
};
typedef struct Exempt {
    const char *op;
    unsigned from;
} Exempt;
static const Exempt exempt[] = {
    {"empty", NO_VALUES},
    {"empty_like", NO_VALUES | BY_LAYOUT},
    {"new_empty", NO_VALUES},
    {"empty_strided", NO_VALUES},
    {"new_empty_strided", NO_VALUES},
    {"empty_permuted", NO_VALUES},
    {"embedding_bag", BY_LAYOUT}, /* what it keeps for the backward pass, which differs as in PyTorch */
    {"resize_", NO_VALUES | BY_LAYOUT},
    {"resize_as_", NO_VALUES | BY_LAYOUT},
    {"data_ptr", NO_VALUES},
    {"stride", BY_LAYOUT},
    {"storage_offset", BY_LAYOUT},
    {"is_contiguous", BY_LAYOUT},
    {"as_strided", BY_LAYOUT},
    {"as_strided_", BY_LAYOUT},
    {"as_strided_copy", BY_LAYOUT},
    {"as_strided_scatter", BY_LAYOUT},
    {"view", BY_LAYOUT},
    {"view_as", BY_LAYOUT},
    {"view_copy", BY_LAYOUT},
    {"is_set_to", BY_LAYOUT},
    {"index_put", BY_LAYOUT | SHARED_SELF},
    {"put", BY_LAYOUT},
    {"set_", SET | NO_VALUES},
    {"nan_to_num", SHARED_SELF}, /* of integers, which it leaves as they are */
    {"fill", SHARED_SELF},
    {"zero", SHARED_SELF},
    {"index_fill", SHARED_SELF},
    {"masked_fill", SHARED_SELF},
    {"conj_physical", SHARED_SELF | REFUSED_OUT},
    {"tril", SHARED_SELF}, /* PyTorch never asks whether self overlaps: it sets zeros in the order of memory */
    {"triu", SHARED_SELF},
    {"linalg.vecdot", DIM_UNREAD},
    {"cat", DIM_UNREAD},
    {"concat", DIM_UNREAD},
    {"concatenate", DIM_UNREAD},
    {"nn.functional.linear", REFUSED_BY_LAYOUT | REFUSED_OUT},
    {"diff", REFUSED_OUT | DIM_UNREAD}, /* along a dimension without elements; for n = 0 */
    {"flip", REFUSED_BY_LAYOUT},
    {"fliplr", REFUSED_BY_LAYOUT},
    {"flipud", REFUSED_BY_LAYOUT},
    {"rot90", REFUSED_BY_LAYOUT},
    {"fft.ihfft2", OUT_UNTOUCHED},
    {"fft.ihfftn", OUT_UNTOUCHED},
    {"rsqrt", ROUNDED_ON_THE_WAY},
    {"add", ROUNDED_ON_THE_WAY},
    {"sub", ROUNDED_ON_THE_WAY},
    {"subtract", ROUNDED_ON_THE_WAY},
    {"rsub", ROUNDED_ON_THE_WAY},
    {"atan2", BY_BLOCKS},
    {"arctan2", BY_BLOCKS},
    {"atanh", BY_BLOCKS},
    {"arctanh", BY_BLOCKS},
    {"cosh", BY_BLOCKS},
    {"exp2", BY_BLOCKS},
    {"special.exp2", BY_BLOCKS},
    {"float_power", BY_BLOCKS},
    {"hypot", BY_BLOCKS},
    {"ldexp", BY_BLOCKS},
    {"logaddexp", BY_BLOCKS},
    {"logaddexp2", BY_BLOCKS},
    {"pow", ANY_OUT | BY_BLOCKS},
    {"addbmm", ANY_OUT},
    {"__pow__", BY_BLOCKS},
    {"__rpow__", BY_BLOCKS},
    {"sigmoid", BY_BLOCKS},
    {"special.expit", BY_BLOCKS},
    {"sinh", BY_BLOCKS},
    {"prod", HALF_PRODUCT},
    {"sum", REFUSED_BY_LAYOUT}, /* float8 */
    {"logsumexp", REAL_OUT},
    {"special.logsumexp", REAL_OUT},
    {"repeat_interleave", META_OTHER},
    {"matrix_exp", META_OTHER},
    {"linalg.matrix_exp", META_OTHER},
    {"sort", REFUSED_BY_LAYOUT}, /* float8: an element that is repeated need not be sorted */
    {"argsort", REFUSED_BY_LAYOUT},
    {"msort", REFUSED_BY_LAYOUT},
    {"inner", REFUSED_BY_LAYOUT}, /* truth values: products that are summed up, not a dot product */
    {"_tensordot", REFUSED_BY_LAYOUT},
};

static bool is_exempt(const OpCall *call, unsigned from) {
    for (size_t i = 0; i < TSR_COUNTOF(exempt); i++)
        if (strcmp(exempt[i].op, call->schema->name) == 0) return (exempt[i].from & from) != 0;
    return false;
}

/* ---- comparing ---- */

static double real_part(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX ? s.c.re : tsr_scalar_to_double(s); }
static double imag_part(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX ? s.c.im : 0; }

/* `room`: 0 for the same number. */
static bool close_numbers(double a, double b, double room) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= room;
}

static bool is_finite(TsrScalar s) { return isfinite(real_part(s)) && isfinite(imag_part(s)); }

/* A complex number of which a part is nan: PyTorch's vectors and its plain loops differ in the other part (sgn(inf -
 * 9j): nan-0j and nan+nanj). */
static bool is_no_number(TsrScalar s) { return s.kind == TSR_SCALAR_COMPLEX && (isnan(s.c.re) || isnan(s.c.im)); }

/* Where sums may differ, what is not finite may be so in another way: inf - inf in another order, a complex inf times
 * the 1 + 0j of BLAS. */
static bool same_numbers(TsrScalar x, TsrScalar y, double room) {
    if (x.kind == TSR_SCALAR_INT && y.kind == TSR_SCALAR_INT) return x.i == y.i;
    if ((is_no_number(x) && is_no_number(y)) || (room > 0 && !is_finite(x) && !is_finite(y))) return true;
    return close_numbers(real_part(x), real_part(y), room) && close_numbers(imag_part(x), imag_part(y), room);
}

/* The distance of neighbouring numbers near 1. */
static double unit_of(TsrDtype dtype) {
    switch (tsr_dtype_real_of(dtype)) {
    case TSR_FLOAT64: return 0x1p-52;
    case TSR_FLOAT32: return 0x1p-23;
    case TSR_FLOAT16: return 0x1p-10;
    case TSR_BFLOAT16: return 0x1p-7;
    case TSR_FLOAT8_E4M3FN: return 0x1p-3;
    case TSR_FLOAT8_E5M2: return 0x1p-2;
    default: return 0;
    }
}

static double largest(const TsrTensor *t) {
    double most = 0;
    for (int64_t i = 0; i < t->numel; i++) {
        TsrScalar s = tsr_tensor_get(t, i);
        double size = hypot(real_part(s), imag_part(s));
        if (isfinite(size)) most = fmax(most, size);
    }
    return most;
}

static bool same_shape(const TsrTensor *a, const TsrTensor *b) {
    return tsr_ndim(a) == tsr_ndim(b) && memcmp(a->sizes, b->sizes, sizeof *a->sizes * (size_t)tsr_ndim(a)) == 0;
}

/* `units`: how far elements may be apart, in the dtype's distance at the largest element. */
static bool same_tensors(const TsrTensor *a, const TsrTensor *b, double units) {
    if (a == NULL || b == NULL || !tsr_is_defined(a) || !tsr_is_defined(b))
        return a == b || (a != NULL && b != NULL && tsr_is_defined(a) == tsr_is_defined(b));
    if (tsr_is_sparse(a) || tsr_is_sparse(b))
        return tsr_is_sparse(a) && tsr_is_sparse(b) && a->dtype == b->dtype && same_shape(a, b);
    if (a->dtype != b->dtype || !same_shape(a, b)) return false;
    double room = units == 0 ? 0 : units * unit_of(a->dtype) * fmax(largest(a), 1);
    for (int64_t i = 0; i < a->numel; i++)
        if (!same_numbers(tsr_tensor_get(a, i), tsr_tensor_get(b, i), room)) return false;
    return true;
}

static bool same_result(const TsrArg *a, const TsrArg *b, double units) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case TSR_ARG_TENSOR: return same_tensors(a->t, b->t, units);
    case TSR_ARG_TENSORS:
        if (a->n != b->n) return false;
        for (int i = 0; i < a->n; i++)
            if (!same_tensors(a->tensors[i], b->tensors[i], units)) return false;
        return true;
    case TSR_ARG_INT: return a->i == b->i;
    case TSR_ARG_BOOL: return a->b == b->b;
    case TSR_ARG_FLOAT: return close_numbers(a->f, b->f, 0);
    case TSR_ARG_INTS: return a->n == b->n && memcmp(a->ints, b->ints, sizeof *a->ints * (size_t)a->n) == 0;
    default: return true;
    }
}

static void show_results(const TsrOpCall *run, const char *title) {
    fprintf(stderr, "    %s:", title);
    for (int k = 0; k < run->nret; k++) {
        fprintf(stderr, " ");
        if (run->ret[k].kind == TSR_ARG_TENSOR) call_describe_tensor(run->ret[k].t);
        for (int i = 0; run->ret[k].kind == TSR_ARG_TENSORS && i < run->ret[k].n; i++) {
            fprintf(stderr, "; ");
            call_describe_tensor(run->ret[k].tensors[i]);
        }
    }
    fprintf(stderr, "\n");
}

static bool same_results(const TsrOpCall *a, const TsrOpCall *b, double units) {
    if (a->nret != b->nret) return false;
    for (int k = 0; k < a->nret; k++)
        if (!same_result(&a->ret[k], &b->ret[k], units)) return false;
    return true;
}

/* The last places of a sum; where wild numbers cancel, places of those numbers: PyTorch's batch_norm too answers -7.5
 * or -5 by layout. */
static double units_of_sums(const OpCall *call, bool wild) {
    double most = 1;
    for (int i = 0; wild && i < call->ntensors; i++) most = fmax(most, largest(call->tensors[i]));
    return 64 * most;
}

/* Most pointwise operators of real numbers and those that move elements give the same bits however their arguments lie
 * (where `wild` numbers make a vector function reduce its whole vector another way: but for the last place). Sums in
 * another order and products through BLAS, which blocks by layout, may differ in the last places. */
static double units_of(const OpCall *call, const TsrOpCall *plain, bool wild) {
    bool complex =
             plain->nret > 0 && plain->ret[0].kind == TSR_ARG_TENSOR && tsr_dtype_is_complex(plain->ret[0].t->dtype),
         half = false;
    for (int i = 0; i < call->ntensors; i++) {
        complex = complex || tsr_dtype_is_complex(call->tensors[i]->dtype);
        half = half || call->tensors[i]->dtype == TSR_FLOAT16 || call->tensors[i]->dtype == TSR_BFLOAT16;
    }
    for (int i = 0; i < call->schema->nparams; i++)
        if (strcmp(call->schema->params[i].name, "dim") == 0 && strcmp(call->op->category, "view") != 0)
            return units_of_sums(call, wild);
    if (strcmp(call->op->category, "pointwise") == 0 || strcmp(call->op->category, "special") == 0)
        return complex || is_exempt(call, BY_BLOCKS) || (half && is_exempt(call, ROUNDED_ON_THE_WAY)) ? 4
               : wild                                                                                 ? 1
                                                                                                      : 0;
    return strcmp(call->op->category, "view") == 0 ? 0 : units_of_sums(call, wild);
}

/* ---- counts ---- */

typedef struct Counts {
    int32_t tensor[CALL_TENSORS], storage[CALL_TENSORS];
    int64_t version[CALL_TENSORS];
} Counts;

static void counts_take(Counts *c, const OpCall *call) {
    for (int i = 0; i < call->ntensors; i++) {
        c->tensor[i] = tsr_tensor_refcount(call->tensors[i]);
        c->storage[i] = tsr_storage_refcount(call->tensors[i]->storage);
        c->version[i] = tsr_tensor_version(call->tensors[i]);
    }
}

static void counts_check(const Counts *before, const OpCall *call, const char *when) {
    Counts now;
    counts_take(&now, call);
    for (int i = 0; i < call->ntensors; i++) {
        if (now.tensor[i] != before->tensor[i])
            broken(call, "counts", "%s, argument tensor %d has %d references, had %d", when, i, now.tensor[i],
                   before->tensor[i]);
        if (now.storage[i] != before->storage[i] && (call->op->forms & TSR_INPLACE_ONLY) == 0)
            broken(call, "counts", "%s, the storage of argument tensor %d has %d references, had %d", when, i,
                   now.storage[i], before->storage[i]);
    }
}

/* ---- arguments unchanged ---- */

static bool same_memory(const TsrTensor *a, const TsrTensor *b) {
    return a->offset == b->offset && same_shape(a, b) &&
           memcmp(a->strides, b->strides, sizeof *a->strides * (size_t)tsr_ndim(a)) == 0 &&
           a->storage->nbytes == b->storage->nbytes &&
           (a->storage->nbytes == 0 || memcmp(a->storage->ptr.data, b->storage->ptr.data, a->storage->nbytes) == 0);
}

static bool inplace_wanted(const OpCall *call) {
    for (int i = 0; i < call->schema->nparams; i++)
        if (strcmp(call->schema->params[i].name, "inplace") == 0 && call->arg[i].b) return true;
    return false;
}

/* batch_norm and its like write running statistics, as their schemas in PyTorch say. */
static bool is_written(const OpCall *call, const TsrTensor *t) {
    for (int i = 0; i < call->schema->nparams; i++) {
        const TsrParam *p = &call->schema->params[i];
        for (int k = 0; call->arg[i].kind == TSR_ARG_TENSORS && k < call->arg[i].n; k++)
            if (call->arg[i].tensors[k] == t) return p->written;
        if (call->arg[i].kind == TSR_ARG_TENSOR && call->arg[i].t == t)
            return p->written || strncmp(p->name, "running_", 8) == 0 || (i == 0 && inplace_wanted(call));
    }
    return false;
}

static void check_unchanged(const OpCall *call, const OpCall *before, const char *when) {
    for (int i = 0; i < call->ntensors && !is_exempt(call, SET); i++)
        if (!is_written(call, call->tensors[i]) && !same_memory(call->tensors[i], before->tensors[i]))
            broken(call, "arguments unchanged", "%s, tensor %d was written", when, i);
}

/* ---- the alias promise ---- */

static bool shares_with_arguments(const OpCall *call, const TsrTensor *t) {
    for (int i = 0; i < call->ntensors; i++)
        if (call->tensors[i]->storage == t->storage) return true;
    return false;
}

static void check_alias_of(const OpCall *call, const TsrTensor *t) {
    if (t == NULL || !tsr_is_defined(t) || tsr_is_sparse(t)) return;
    bool shares = shares_with_arguments(call, t);
    if (call->op->alias == TSR_FRESH && shares && t->numel > 0)
        broken(call, "alias promise", "the row says fresh, the result shares an argument's storage");
    if (call->op->alias == TSR_VIEW && !shares && call->ntensors > 0)
        broken(call, "alias promise", "the row says view, the result has a storage of its own");
    if (call->op->alias == TSR_NO_TENSOR) broken(call, "alias promise", "the row says no tensor, there is one");
    if (call->op->alias == TSR_IN_PLACE && t != call->arg[0].t)
        broken(call, "alias promise", "the row says in place, the result is another tensor");
    if (tsr_tensor_check(t, false) != TSR_OK) broken(call, "storage", "the result reaches past its storage");
}

static void check_alias(const OpCall *call, const TsrOpCall *run) {
    for (int k = 0; k < run->nret; k++) {
        if (run->ret[k].kind == TSR_ARG_TENSOR) check_alias_of(call, run->ret[k].t);
        for (int i = 0; run->ret[k].kind == TSR_ARG_TENSORS && i < run->ret[k].n; i++)
            check_alias_of(call, run->ret[k].tensors[i]);
    }
}

/* ---- the forms ---- */

static bool only_tensors(const TsrOpCall *run) {
    for (int k = 0; k < run->nret; k++)
        if (run->ret[k].kind != TSR_ARG_TENSOR || !tsr_is_defined(run->ret[k].t) || tsr_is_sparse(run->ret[k].t))
            return false;
    return run->nret > 0;
}

static bool writable(const TsrTensor *t) {
    for (int d = 0; d < tsr_ndim(t); d++)
        if (t->sizes[d] > 1 && t->strides[d] == 0) return false;
    return true;
}

/* `plain` has the answer. The in-place form must give it where it has a place for it, and refuse where it has none. */
static void check_inplace(const OpCall *call, const TsrOpCall *plain, double units) {
    if ((call->op->forms & TSR_INPLACE) == 0 || call->arg[0].kind != TSR_ARG_TENSOR || !only_tensors(plain)) return;
    OpCall copy;
    TsrOpCall run;
    const TsrTensor *answer = plain->ret[0].t;
    if (!call_copy(&copy, call, COPY_AS_IT_IS)) return;
    TsrTensor *self = copy.arg[0].t;
    bool fits = same_shape(self, answer) && tsr_can_cast(answer->dtype, self->dtype),
         same_dtype = self->dtype == answer->dtype;
    bool possible = fits && (writable(self) || self->numel == 0),
         tolerated = is_exempt(call, SHARED_SELF) && !writable(self);
    int64_t version = tsr_tensor_version(self);
    TsrStorage *storage = self->storage;
    Counts before;
    counts_take(&before, &copy);
    TsrStatus status = call_run_into(&copy, &run, NULL, true);
    if (status == TSR_OK) {
        if (!fits && self->numel > 0 && tsr_ndim(self) > 0)
            broken(call, "in place", "accepted, where the result does not fit self");
        else if (run.ret[0].t != self) broken(call, "in place", "the result is not self");
        else if (fits && !possible && !tolerated)
            broken(call, "in place", "accepted, where elements of self share memory");
        else if (fits && same_dtype && !tolerated && !same_tensors(self, answer, units)) {
            broken(call, "in place", "differs from the plain form");
            show_results(plain, "plain");
            show_results(&run, "in place");
        }
        if (self->storage != storage) broken(call, "in place", "self has another storage");
        if (tsr_tensor_version(self) != version + 1)
            broken(call, "in place", "the version went from %lld to %lld", (long long)version,
                   (long long)tsr_tensor_version(self));
        tsr_op_release_returns(&run);
    } else {
        if (possible && same_dtype && !tolerated) broken(call, "in place", "refused: %s", tsr_error_message());
        if (!same_memory(self, call->arg[0].t))
            broken(call, "in place", "self was written, then refused: %s", tsr_error_message());
    }
    counts_check(&before, &copy, "in place");
    call_end(&copy);
}

static void free_outs(TsrTensor **outs, int n) {
    for (int k = 0; k < n; k++) tsr_tensor_free(outs[k]);
}

/* Outputs of the plain answers' dtypes, of their shapes or of none, in a layout. */
static bool make_outs(TsrTensor **outs, const TsrOpCall *plain, CallLayout layout, bool resize) {
    int64_t none[1] = {0};
    for (int k = 0; k < plain->nret; k++) {
        const TsrTensor *t = plain->ret[k].t;
        outs[k] = resize ? call_tensor(1, none, t->dtype, LAID_CONTIGUOUS)
                         : call_tensor(tsr_ndim(t), t->sizes, t->dtype, layout);
        if (outs[k] == NULL) return false;
    }
    return true;
}

static void check_out_with(const OpCall *call, const TsrOpCall *plain, double units, CallLayout layout, bool resize) {
    TsrTensor *outs[TSR_MAX_RETS] = {NULL};
    OpCall copy;
    TsrOpCall run;
    if (!call_copy(&copy, call, COPY_AS_IT_IS)) return;
    if (make_outs(outs, plain, layout, resize)) {
        const char *what = resize ? "out= to resize" : call_layout_names[layout];
        if (call_run_into(&copy, &run, outs, false) != TSR_OK) {
            if (!is_exempt(call, REFUSED_OUT)) broken(call, "out=", "%s: refused: %s", what, tsr_error_message());
        } else {
            for (int k = 0; k < run.nret; k++)
                if (run.ret[k].kind != TSR_ARG_TENSOR || run.ret[k].t != outs[k])
                    broken(call, "out=", "%s: result %d is not the tensor given", what, k);
            if (!same_results(plain, &run, units)) {
                broken(call, "out=", "%s: differs from the plain form", what);
                show_results(plain, "plain");
                show_results(&run, "out=");
            }
            tsr_op_release_returns(&run);
        }
        for (int k = 0; k < plain->nret; k++)
            if (tsr_tensor_refcount(outs[k]) != 1)
                broken(call, "out=", "%s: output %d has %d references afterwards", what, k,
                       tsr_tensor_refcount(outs[k]));
    }
    free_outs(outs, plain->nret);
    call_end(&copy);
}

/* Where no dtype is given, the dtype of out= is the one that operators with a `dtype` compute in. */
static bool takes_dtype_of_out(const OpCall *call) {
    for (int i = 0; i < call->schema->nparams; i++)
        if (call->schema->params[i].type == TSR_ARG_DTYPE)
            return call->arg[i].kind == TSR_ARG_NONE || call->arg[i].dtype == TSR_DTYPE_NONE;
    return false;
}

/* A dtype that the answer cannot be cast to is refused. */
static void check_out_of_wrong_dtype(const OpCall *call, const TsrOpCall *plain) {
    const TsrTensor *answer = plain->ret[0].t;
    TsrTensor *outs[TSR_MAX_RETS] = {NULL};
    OpCall copy;
    TsrOpCall run;
    TsrDtype narrower = tsr_dtype_is_complex(answer->dtype) ? TSR_FLOAT64
                        : tsr_dtype_is_float(answer->dtype) ? TSR_INT64
                                                            : TSR_BOOL;
    if (answer->dtype == TSR_BOOL || takes_dtype_of_out(call) || !call_copy(&copy, call, COPY_AS_IT_IS)) return;
    if (make_outs(outs, plain, LAID_CONTIGUOUS, false)) {
        tsr_tensor_free(outs[0]);
        outs[0] = call_tensor(tsr_ndim(answer), answer->sizes, narrower, LAID_CONTIGUOUS);
        if (call_run_into(&copy, &run, outs, false) == TSR_OK) {
            if (narrower != TSR_BOOL && !(narrower == TSR_FLOAT64 && is_exempt(call, REAL_OUT)) &&
                !is_exempt(call, ANY_OUT))
                broken(call, "out=", "a %s answer was taken into %s", tsr_dtype_name(answer->dtype),
                       tsr_dtype_name(narrower));
            tsr_op_release_returns(&run);
        }
    }
    free_outs(outs, plain->nret);
    call_end(&copy);
}

static void check_out(const OpCall *call, const TsrOpCall *plain, double units) {
    if ((call->op->forms & TSR_OUT) == 0 || !only_tensors(plain) || is_exempt(call, OUT_UNTOUCHED)) return;
    check_out_with(call, plain, units, LAID_CONTIGUOUS, false);
    check_out_with(call, plain, units, LAID_TRANSPOSED, false);
    check_out_with(call, plain, units, LAID_STEPPED, false);
    check_out_with(call, plain, units, LAID_CONTIGUOUS, true);
    check_out_of_wrong_dtype(call, plain);
}

/* ---- the meta device ---- */

static bool same_geometry(const TsrTensor *a, const TsrTensor *b) {
    if (a == NULL || b == NULL || !tsr_is_defined(a) || !tsr_is_defined(b) || tsr_is_sparse(a)) return true;
    return a->dtype == b->dtype && same_shape(a, b) &&
           memcmp(a->strides, b->strides, sizeof *a->strides * (size_t)tsr_ndim(a)) == 0;
}

static void check_meta(const OpCall *call, const TsrOpCall *plain) {
    OpCall copy;
    TsrOpCall run;
    if (call->ntensors == 0 || is_exempt(call, SET) || !call_copy(&copy, call, COPY_META)) return;
    if (call_run(&copy, &run) == TSR_OK) {
        for (int k = 0; k < run.nret && k < plain->nret; k++) {
            bool same = true;
            if (run.ret[k].kind == TSR_ARG_TENSOR && plain->ret[k].kind == TSR_ARG_TENSOR)
                same = same_geometry(run.ret[k].t, plain->ret[k].t);
            if (run.ret[k].kind == TSR_ARG_TENSORS && plain->ret[k].kind == TSR_ARG_TENSORS)
                for (int i = 0; i < run.ret[k].n && i < plain->ret[k].n; i++)
                    same = same && same_geometry(run.ret[k].tensors[i], plain->ret[k].tensors[i]);
            if (same || is_exempt(call, META_OTHER)) continue;
            broken(call, "meta", "result %d has another geometry", k);
            show_results(plain, "plain");
            show_results(&run, "meta");
        }
        tsr_op_release_returns(&run);
    } else if (tsr_error_kind() != TSR_NOT_IMPLEMENTED_ERROR && strstr(tsr_error_message(), "meta") == NULL) {
        broken(call, "meta", "refused: %s", tsr_error_message());
    }
    call_end(&copy);
}

/* ---- wrong arguments ---- */

/* Makes one argument wrong; *must: whether it has to be refused. False when this argument has no such way. */
static bool spoil(OpCall *call, int i, TsrTensor **made, bool *must) {
    TsrArg *a = &call->arg[i];
    const char *name = call->schema->params[i].name;
    static const int64_t odd_sizes[3] = {7, 1, 5};
    *must = false;
    switch (a->kind) {
    case TSR_ARG_INT:
        *must = strcmp(name, "dim") == 0;
        a->i = *must ? 9 : calls_below(2) ? INT64_MAX : INT64_MIN;
        return true;
    case TSR_ARG_TENSOR:
        *made = call_tensor((int)calls_below(4), odd_sizes, all_dtypes[calls_below(TSR_COUNTOF(all_dtypes))],
                            LAID_CONTIGUOUS);
        if (*made != NULL) a->t = *made;
        return *made != NULL;
    case TSR_ARG_INTS:
        if (a->n == 0) return false;
        a->ints[calls_below((uint32_t)a->n)] = calls_below(2) ? INT64_MAX : -9;
        return true;
    case TSR_ARG_STR: a->str = "nonsense"; return true;
    case TSR_ARG_FLOAT: a->f = calls_below(2) ? NAN : -1e300; return true;
    case TSR_ARG_SCALAR: a->s = calls_below(2) ? tsr_scalar_complex(1, 1) : tsr_scalar_int(INT64_MIN); return true;
    case TSR_ARG_DTYPE: a->dtype = TSR_STRING; return true;
    default: return false;
    }
}

static void check_wrong(OpCall *call) {
    OpCall copy;
    TsrOpCall run;
    bool must;
    if (call->schema->nparams == 0 || !call_copy(&copy, call, COPY_AS_IT_IS)) return;
    int which = (int)calls_below((uint32_t)call->schema->nparams);
    int64_t kept[TSR_MAX_DIMS];
    TsrArg *original = &call->arg[which];
    if (original->kind == TSR_ARG_INTS) memcpy(kept, original->ints, sizeof *kept * (size_t)original->n);
    TsrTensor *made = NULL;
    if (spoil(&copy, which, &made, &must)) {
        Counts before;
        counts_take(&before, &copy);
        TsrStatus status = call_run(&copy, &run);
        if (status == TSR_OK) {
            if (must && !is_exempt(call, DIM_UNREAD))
                broken(call, "wrong arguments", "accepted with %s = 9", call->schema->params[which].name);
            tsr_op_release_returns(&run);
        } else if (tsr_error_kind() != status || tsr_error_message()[0] == '\0') {
            broken(call, "wrong arguments", "failed without an error set");
        }
        counts_check(&before, &copy, status == TSR_OK ? "after odd arguments" : "after an error");
    }
    if (original->kind == TSR_ARG_INTS) memcpy(original->ints, kept, sizeof *kept * (size_t)original->n);
    tsr_tensor_free(made);
    call_end(&copy);
}

/* ---- one call ---- */

static void check_layouts(const OpCall *call, const TsrOpCall *plain, double units) {
    OpCall copy;
    TsrOpCall run;
    bool half = call->ntensors > 0 && call->tensors[0]->dtype == TSR_FLOAT16;
    if (is_exempt(call, BY_LAYOUT) || (half && is_exempt(call, HALF_PRODUCT)) ||
        !call_copy(&copy, call, COPY_CONTIGUOUS))
        return;
    if (call_run(&copy, &run) != TSR_OK) {
        if (!is_exempt(call, REFUSED_BY_LAYOUT))
            broken(call, "layout independence", "refused when contiguous: %s", tsr_error_message());
    } else {
        if (!same_results(plain, &run, units)) {
            broken(call, "layout independence", "another answer");
            show_results(plain, "as it lies");
            show_results(&run, "contiguous");
        }
        tsr_op_release_returns(&run);
    }
    call_end(&copy);
}

/* ---- the promise of balance when memory is short ---- */

/* The call again and again, each time with a later allocation failing; a few are passed over at each step. */
static void check_short_of_memory(OpCall *call) {
    enum { MOST = 80 };
    int64_t tried = MOST;
    for (int64_t n = 1 + calls_below(3); n <= MOST && n <= tried; n += 1 + calls_below(4)) {
        Counts counts;
        TsrOpCall run;
        int64_t live = tsr_memory_live();
        counts_take(&counts, call);
        tsr_mem_fail_at(n);
        TsrStatus status = call_run(call, &run);
        tried = tsr_mem_fail_at(0);
        if (status == TSR_OK) tsr_op_release_returns(&run);
        else if (tsr_error_kind() != status)
            broken(call, "short of memory", "gave status %d without its error", status);
        counts_check(&counts, call, "after an allocation failed");
        if (tsr_memory_live() != live && (call->op->forms & TSR_INPLACE_ONLY) == 0)
            broken(call, "short of memory", "%lld bytes are left behind when allocation %lld fails",
                   (long long)(tsr_memory_live() - live), (long long)n);
    }
}

static FILE *dump;        /* TSR_TEST_DUMP */
static bool wants_lapack; /* a call of the row under test was refused as there is none, where there need be none */

/* Whether the call was accepted. */
static bool check_call(const TsrOp *op, const TsrSchema *schema, TsrDtype dtype, CallLayout layout, bool wild) {
    OpCall call, before;
    TsrOpCall run;
    Counts counts;
    bool accepted = false, delicate = strcmp(op->category, "linalg") == 0;
    if (delicate && layout == LAID_EXPANDED)
        layout = LAID_OFFSET; /* equal rows make a singular matrix, about which LAPACK says this or that */
    if (delicate) wild = false;
    if (call_begin(&call, op, schema, dtype, layout, wild) && call_copy(&before, &call, COPY_AS_IT_IS)) {
        counts_take(&counts, &call);
        TsrStatus status = call_run(&call, &run);
        accepted = status == TSR_OK;
        if (dump != NULL) call_dump(dump, &call, &before, &run, status);
        if (accepted) {
            bool fixed = (op->flags & TSR_OP_RANDOM) == 0 && !is_exempt(&call, NO_VALUES),
                 writes = (op->forms & TSR_INPLACE_ONLY) != 0;
            double units = units_of(&call, &run, wild);
            check_alias(&call, &run);
            if (fixed && !writes) check_layouts(&call, &run, units);
            if (fixed) check_inplace(&call, &run, units);
            if (fixed) check_out(&call, &run, units);
            check_meta(&before, &run);
            tsr_op_release_returns(&run);
            counts_check(&counts, &call, "after the call");
            check_unchanged(&call, &before, "after the call");
            check_wrong(&before);
            if (calls_below(8) == 0) check_short_of_memory(&before);
        } else {
            if (test_lacks_lapack() && strstr(tsr_error_message(), "LAPACK") != NULL) wants_lapack = true;
            if (tsr_error_kind() != status)
                broken(&call, "errors", "gave status %d, with the error %d set: %s", (int)status, (int)tsr_error_kind(),
                       tsr_error_message());
            counts_check(&counts, &call, "after an error");
            check_unchanged(&call, &before, "after an error");
        }
        call_end(&before);
    }
    call_end(&call);
    return accepted;
}

/* Rows that these calls never reach beyond their checks, by name, and why: any other row has to accept one. */
static const struct {
    const char *why, *names[20];
} unreached[] = {
    {"of sparse tensors, which no call here has (tests/repl/any_call.tsr does)",
     {"_coalesced_", "_indices", "_nnz", "_values", "ccol_indices", "coalesce", "col_indices", "crow_indices",
      "indices", "is_coalesced", "resize_as_sparse_", "row_indices", "sparse.log_softmax", "sparse.softmax",
      "sparse.sum", "sparse_mask", "sparse_resize_", "sparse_resize_and_clear_", "values"}},
    {"needs a driver of NVIDIA (tests/repl/cuda.sh)", {"cuda", "pin_memory"}},
    {"refuses views, and every tensor here is one", {"detach_"}},
};

static bool is_unreached(const char *name) {
    for (size_t i = 0; i < TSR_COUNTOF(unreached); i++)
        for (size_t k = 0; k < TSR_COUNTOF(unreached[i].names) && unreached[i].names[k] != NULL; k++)
            if (strcmp(unreached[i].names[k], name) == 0) return true;
    return false;
}

enum { TRIES = 12 };

/* Up to TRIES random calls until one is accepted. */
static bool check_until_accepted(const TsrOp *op, const TsrSchema *schema, TsrDtype dtype, CallLayout layout,
                                 int round) {
    for (int i = 0; i < TRIES; i++)
        if (check_call(op, schema, dtype, layout, round % 3 == 2)) return true;
    return false;
}

static void check_row(const TsrOp *op, int rounds) {
    const TsrSchema *schema;
    bool verbose = getenv("TSR_TEST_VERBOSE") != NULL;
    int accepted = 0;
    nreported = 0;
    wants_lapack = false;
    ck_assert_int_eq(tsr_op_schema(&schema, op), TSR_OK);
    if (verbose) fprintf(stderr, "%s\n", op->schema);
    int64_t live = tsr_memory_live();
    int ndtypes = TSR_COUNTOF(all_dtypes);
    for (int d = 0; d < ndtypes; d++)
        for (int l = 0; l < CALL_LAYOUTS; l++)
            for (int r = 0; r < TSR_MAX(rounds, 1); r++)
                if (rounds > 0 || (d < 5 ? (d + l) % 2 == 0 : calls_below(12) == 0))
                    accepted += check_until_accepted(op, schema, all_dtypes[d], (CallLayout)l,
                                                     rounds > 0 ? r : (int)calls_below(3));
    if (tsr_memory_live() != live) {
        failures++;
        fprintf(stderr, "%s: leaves %lld bytes behind\n", op->schema, (long long)(tsr_memory_live() - live));
    }
    if (accepted == 0 && wants_lapack) return;
    if ((accepted == 0) == is_unreached(schema->name)) return;
    failures++;
    fprintf(stderr, "%s: %s: %s\n", op->schema, accepted > 0 ? "listed as unreached, and accepted" : "never accepted",
            tsr_error_message());
}

START_TEST(every_operator_keeps_its_promises) {
    const char *only = getenv("TSR_TEST_OP"), *rounds = getenv("TSR_TEST_ROUNDS"), *seed = getenv("TSR_TEST_SEED");
    if (getenv("TSR_TEST_DUMP") != NULL) dump = fopen(getenv("TSR_TEST_DUMP"), "w");
    calls_seed(seed != NULL ? (uint64_t)atoll(seed) : 0);
    tsr_set_memory_limit((size_t)256 << 20);
    tsr_set_num_threads(1); /* small tensors */
    for (int i = 0; i < tsr_op_count(); i++) {
        const TsrOpSet *set = tsr_op_at(i);
        if (only != NULL ? strcmp(only, set->name) != 0 : !test_is_sampled(i)) continue;
        for (int k = 0; k < set->n; k++) check_row(set->ops[k], rounds != NULL ? atoi(rounds) : 0);
    }
    if (dump != NULL) fclose(dump);
    ck_assert_msg(calls_stopped() == 0, "%d calls took long, described above", calls_stopped());
    ck_assert_msg(failures == 0, "%d broken promises, listed above", failures);
}
END_TEST

TEST_SUITE(ops_properties, every_operator_keeps_its_promises)
