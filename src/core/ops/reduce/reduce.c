/* reduce.c: the engine of reductions (reduce.h): which dimensions are reduced, the shape of the result, and how the
 * input is walked.
 *
 * The dimensions are split into reduced ones, in the order of their strides, and kept ones, in the output's order;
 * neighbours that lie back to back are merged. A reducer of kernels/reduce then runs along lines or rows. Large inputs
 * are split over threads in a way that does not change the result. */
#include "reduce.h"

#include <string.h>

#include "core/mem.h"
#include "core/engine/device.h"
#include "core/tensor/loan.h"
#include "core/parallel.h"

/* BLOCK: accumulators on the stack at a time, if they are large. PARALLEL: elements from which several outputs are
 * split over threads. CHUNK: the least part of a line that a thread reduces, MAX_CHUNKS the most parts; both depend on
 * the line alone, so the result does not depend on the number of threads. */
enum { BLOCK = 256, PARALLEL = 4 * TSR_CHUNK_WORK, CHUNK = 1 << 16, MAX_CHUNKS = 256 };
enum {
    PIECE = 1 << 25 /* of a line, between two looks for an interrupt: lines in memory are mostly shorter, expanded ones
                       may be of any length */
    ,
    ROWS_PIECE = 1 << 22 /* elements of rows where that changes no digits; sums look for themselves */
};

/* --- arguments --- */

uint64_t tsr_all_dims(int ndim) { return ndim >= TSR_DIM_SET ? ~0ull : (1ull << ndim) - 1; }

bool tsr_dims_have(uint64_t dims, int d) { return d < TSR_DIM_SET ? dims >> d & 1 : dims == ~0ull; }

TsrStatus tsr_check_dim_set(int ndim) {
    return ndim <= TSR_DIM_SET
               ? TSR_OK
               : tsr_error(TSR_RUNTIME_ERROR, "only tensors with up to %d dims are supported", TSR_DIM_SET);
}

TsrStatus tsr_dim_set(uint64_t *set, int n, const int64_t *dims, int ndim) {
    *set = 0;
    TSR_TRY(tsr_check_dim_set(ndim));
    for (int i = 0; i < n; i++) {
        int64_t d = dims[i];
        TSR_TRY(tsr_wrap_dim(&d, ndim));
        if (*set >> d & 1)
            return tsr_error(TSR_RUNTIME_ERROR, "dim %lld appears multiple times in the list of dims", (long long)d);
        *set |= 1ull << d;
    }
    return TSR_OK;
}

TsrStatus tsr_dims_mask(uint64_t *mask, const TsrArg *dim, int ndim, bool empty_is_all) {
    bool listed = dim->kind != TSR_ARG_NONE && dim->kind != TSR_ARG_INT && dim->n > 0;
    if (listed) TSR_TRY(tsr_check_dim_set(ndim));
    for (int i = 0; listed && i < dim->n; i++) TSR_TRY(tsr_wrap_dim(&(int64_t){dim->ints[i]}, ndim));
    return tsr_dims_mask_in_turn(mask, dim, ndim, empty_is_all);
}

TsrStatus tsr_dims_mask_in_turn(uint64_t *mask, const TsrArg *dim, int ndim, bool empty_is_all) {
    bool one = dim->kind == TSR_ARG_INT;
    if (dim->kind == TSR_ARG_NONE || (!one && dim->n == 0 && empty_is_all)) {
        *mask = tsr_all_dims(ndim);
        return TSR_OK;
    }
    TSR_TRY(tsr_dim_set(mask, one ? 1 : dim->n, one ? &dim->i : dim->ints, ndim));
    if (ndim == 0) *mask = 0;
    return TSR_OK;
}

int64_t tsr_reduced_count(const TsrTensor *t, uint64_t dims) {
    int64_t n = 1;
    for (int d = 0; d < tsr_ndim(t); d++)
        if (tsr_dims_have(dims, d)) n *= t->sizes[d];
    return n;
}

TsrStatus tsr_check_nonempty(const char *name, const TsrTensor *t, uint64_t dims) {
    for (int d = 0; d < tsr_ndim(t); d++)
        if (tsr_dims_have(dims, d) && t->sizes[d] == 0)
            return tsr_error(TSR_INDEX_ERROR, "%s: Expected reduction dim %d to have non-zero size.", name, d);
    return TSR_OK;
}

/* --- the plan: reduced and kept dimensions, innermost first, merged where they can be --- */

typedef struct Dim {
    int64_t size, stride; /* of the input, bytes */
    int64_t other;        /* reduced: step of the row-major index; kept: elements of the output */
} Dim;

/* A reduction made ready: what is reduced, in which order, and where results go. */
typedef struct Plan {
    const TsrReducer *reducer;
    const void *params;
    Dim red[TSR_MAX_DIMS], kept[TSR_MAX_DIMS];
    int nred, nkept;
    int64_t count, nout;
    const char *in;
    char *out[2];
    int64_t out_size[2]; /* bytes of an element */
    int64_t itemsize;
    bool cascades;      /* sums of floats: their digits tell the order */
    int64_t rows_below; /* lines shorter than that may go by the reducer's rows: in turn, or in an order that nothing
                           tells */
} Plan;

static int compare_dims(const void *user, int inner, int outer) {
    const Dim *dims = user;
    return tsr_layout_compare_dims(dims[inner].size, dims[inner].stride, dims[outer].size, dims[outer].stride);
}

/* The `n` reduced dimensions, given from the last to the first, in PyTorch's order. Those of size 1 only tell where
 * others lie. */
static void take_reduced(Plan *p, const Dim *dims, int n) {
    int perm[TSR_MAX_DIMS];
    for (int i = 0; i < n; i++) perm[i] = i;
    tsr_layout_order_dims(perm, n, compare_dims, dims);
    for (int i = 0; i < n; i++)
        if (dims[perm[i]].size != 1) p->red[p->nred++] = dims[perm[i]];
}

/* Merges neighbours that lie back to back, in the input and by `other`; returns how many dimensions are left. */
static int merge_dims(Dim *dims, int n) {
    int last = 0;
    for (int i = 1; i < n; i++) {
        Dim *a = &dims[last];
        if (dims[i].stride == tsr_layout_times(a->size, a->stride) && dims[i].other == a->size * a->other)
            a->size *= dims[i].size;
        else dims[++last] = dims[i];
    }
    return n == 0 ? 0 : last + 1;
}

/* Fills in the dimensions of the plan. */
static void plan_dims(Plan *p, const TsrReduction *r) {
    const TsrTensor *t = r->in;
    bool indexed = r->kind == TSR_R_ARGMAX || r->kind == TSR_R_ARGMIN; /* the others need no index and merge more */
    int64_t index = 1, place = 1;
    Dim red[TSR_MAX_DIMS];
    int nred = 0;
    p->count = tsr_reduced_count(t, r->dims);
    p->nout = 1;
    p->nred = p->nkept = 0;
    for (int d = tsr_ndim(t) - 1; d >= 0; d--) { /* from the last dimension: row-major is in order already */
        bool reduced = tsr_dims_have(r->dims, d);
        Dim dim = {t->sizes[d], tsr_layout_times(t->strides[d], p->itemsize), reduced ? (indexed ? index : 0) : place};
        if (reduced) index *= dim.size;
        else p->nout *= dim.size, place *= dim.size;
        if (reduced) red[nred++] = dim;
        else if (dim.size != 1) p->kept[p->nkept++] = dim;
    }
    take_reduced(p, red, nred);
    /* The kept ones stay in the output's order, as PyTorch walks them. */
    p->nred = merge_dims(p->red, p->nred);
    p->nkept = merge_dims(p->kept, p->nkept);
    if (p->nred == 0) p->red[p->nred++] = (Dim){1, p->itemsize, 1};
    if (p->nkept == 0) p->kept[p->nkept++] = (Dim){1, 0, 1};
}

/* --- folding --- */

/* n elements along the innermost reduced dimension, the first of which is number `index`. */
static void fold_line(const Plan *p, void *acc, const char *data, int64_t n, int64_t index) {
    const Dim *d = &p->red[0];
    for (int64_t i = 0; i < n && tsr_interrupt_flag == 0; i += PIECE)
        p->reducer->line(acc, data + i * d->stride, d->stride, TSR_MIN(n - i, (int64_t)PIECE), index + i * d->other,
                         d->other, p->params);
}

/* To the next position of the reduced dimensions but the `inner` innermost; false, at the first again, after the last.
 */
static inline bool next_line(const Plan *p, int inner, int64_t *at, const char **base, int64_t *index) {
    for (int d = inner; d < p->nred; d++) {
        *base += p->red[d].stride;
        *index += p->red[d].other;
        if (++at[d] < p->red[d].size) return true;
        *base -= at[d] * p->red[d].stride;
        *index -= at[d] * p->red[d].other;
        at[d] = 0;
    }
    return false;
}

/* Elements [begin, end) of the reduced ones, in the plan's order, into one accumulator. */
static void fold_range(const Plan *p, void *acc, const char *base, int64_t begin, int64_t end) {
    int64_t at[TSR_MAX_DIMS], rest = begin, index = 0;
    for (int d = 0; d < p->nred; d++) {
        at[d] = rest % p->red[d].size;
        rest /= p->red[d].size;
        base += at[d] * p->red[d].stride;
        index += at[d] * p->red[d].other;
    }
    while (begin < end && tsr_interrupt_flag == 0) {
        int64_t n = TSR_MIN(p->red[0].size - at[0], end - begin);
        fold_line(p, acc, base, n, index);
        begin += n;
        base -= at[0] * p->red[0].stride;
        index -= at[0] * p->red[0].other;
        at[0] = 0;
        next_line(p, 1, at, &base, &index);
    }
}

/* n accumulators side by side, each as new. */
static void init(const Plan *p, char *accs, int64_t n) {
    int64_t size = (int64_t)p->reducer->size;
    p->reducer->init(accs);
    for (int64_t have = 1; have < n; have *= 2)
        memcpy(accs + have * size, accs, (size_t)(TSR_MIN(have, n - have) * size));
}

/* Writes n results, from number `place` on, `next` apart. */
static void finish(const Plan *p, const char *accs, int64_t n, int64_t place, int64_t next) {
    char *out[2];
    int64_t step[2];
    for (int k = 0; k < 2; k++) {
        out[k] = p->out[k] == NULL ? NULL : p->out[k] + place * p->out_size[k];
        step[k] = next * p->out_size[k];
    }
    p->reducer->finish(out, step, accs, n, p->count, p->params);
}

static int64_t lanes(const Plan *p) { return TSR_MAX(32 / p->itemsize, 1); }

/* Whether columns along the first reduced dimension that lie side by side along `beside` are folded row by row. */
static bool better_by_rows(const Plan *p, const Dim *beside) {
    const Dim *red = &p->red[0];
    if (red->stride == p->itemsize && red->size >= lanes(p)) return false;
    return (beside->stride == p->itemsize && beside->size >= lanes(p)) || red->stride >= beside->stride;
}

/* Whether PyTorch sums the two innermost reduced dimensions column by column: so it does with expanded ones. */
static bool sums_crosswise(const Plan *p) { return p->cascades && p->nred > 1 && better_by_rows(p, &p->red[1]); }

/* Whether many outputs side by side are folded row by row. */
static bool takes_rows(const Plan *p) {
    enum { FEW_COLUMNS = 8, DEEP = 64 }; /* columns that go faster one by one: amax(0) of 30000 by 3 74 us and 40 */
    if (p->reducer->rows == NULL || p->kept[0].size == 1 || p->count == 0 || sums_crosswise(p)) return false;
    if (p->rows_below > 0 && p->kept[0].size < FEW_COLUMNS && p->count > DEEP) return false;
    return p->reducer->abreast || better_by_rows(p, &p->kept[0]);
}

/* How many of a line's outputs PyTorch sums in one chain each. */
static int64_t chain_length(const Plan *p) {
    int64_t summed = TSR_MIN(lanes(p), 8) /* half floats are summed as floats */, n = p->kept[0].size;
    if (p->nred > 1) return 0;
    return p->kept[0].stride == p->itemsize && n >= lanes(p) ? n / (4 * summed) * (4 * summed) : n / 4 * 4;
}

/* `n` outputs along the innermost kept dimension, from number `first` of it, row by row. */
static void fold_rows(const Plan *p, char *accs, const char *base, int64_t first, int64_t n) {
    const Dim *row = &p->red[0];
    int64_t at[TSR_MAX_DIMS] = {0}, index = 0, chain = TSR_MIN(TSR_MAX(chain_length(p) - first, 0), n),
            piece = p->cascades ? PIECE : ROWS_PIECE / n;
    for (;;) {
        for (int64_t i = 0; i < row->size && tsr_interrupt_flag == 0; i += piece)
            p->reducer->rows(accs, base + i * row->stride, n, p->kept[0].stride, TSR_MIN(row->size - i, piece),
                             row->stride, chain, index + i * row->other, row->other);
        if (!next_line(p, 1, at, &base, &index) || tsr_interrupt_flag != 0) break;
    }
}

/* All reduced elements into one accumulator: sums of columns side by side along the second reduced dimension, added up
 * one by one. */
static void fold_crosswise(const Plan *p, char *acc, const char *base) {
    _Alignas(16) char accs[BLOCK * TSR_REDUCE_ROOM];
    int64_t at[TSR_MAX_DIMS] = {0}, index = 0;
    Plan columns = {.reducer = p->reducer,
                    .params = p->params,
                    .red = {p->red[0]},
                    .kept = {p->red[1]},
                    .nred = 1,
                    .nkept = 1,
                    .itemsize = p->itemsize};
    do {
        for (int64_t j = 0; j < p->red[1].size && tsr_interrupt_flag == 0; j += BLOCK) {
            int64_t n = TSR_MIN(p->red[1].size - j, (int64_t)BLOCK);
            init(p, accs, n);
            fold_rows(&columns, accs, base + j * p->red[1].stride, j, n);
            for (int64_t k = 0; k < n; k++) p->reducer->merge(acc, accs + k * (int64_t)p->reducer->size);
        }
    } while (next_line(p, 2, at, &base, &index) && tsr_interrupt_flag == 0);
}

/* `n` outputs along the innermost kept dimension, one after the other. */
static void fold_lines(const Plan *p, char *accs, const char *base, int64_t n) {
    bool crosswise = sums_crosswise(p);
    if (!crosswise && p->nred == 1 && p->red[0].stride == p->itemsize) {
        if (p->count < p->reducer->lines_below) {
            p->reducer->lines(accs, base, n, p->kept[0].stride, p->count);
            return;
        }
        if (p->count > 0 && p->count < p->rows_below) {
            p->reducer->rows(accs, base, n, p->kept[0].stride, p->count, p->itemsize, 0, 0, p->red[0].other);
            return;
        }
    }
    for (int64_t j = 0; j < n; j++, accs += p->reducer->size, base += p->kept[0].stride) {
        if (crosswise) fold_crosswise(p, accs, base);
        else if (p->nred == 1) fold_line(p, accs, base, p->count, 0);
        else fold_range(p, accs, base, 0, p->count);
    }
}

/* How many accumulators have room on the stack. */
static int64_t accumulators_at_once(const Plan *p) {
    return (int64_t)BLOCK * TSR_REDUCE_ROOM / (int64_t)p->reducer->size;
}

/* Outputs [begin, end) in the order of the kept dimensions. */
static void fold_outputs(int64_t begin, int64_t end, void *user) {
    _Alignas(16) char accs[BLOCK * TSR_REDUCE_ROOM];
    const Plan *p = user;
    const int64_t room = accumulators_at_once(p);
    bool rows = takes_rows(p);
    while (begin < end) {
        int64_t rest = begin, place = 0, first = begin % p->kept[0].size;
        const char *base = p->in;
        for (int d = 0; d < p->nkept; d++) {
            int64_t at = rest % p->kept[d].size;
            rest /= p->kept[d].size;
            base += at * p->kept[d].stride;
            place += at * p->kept[d].other;
        }
        int64_t n = TSR_MIN(TSR_MIN(p->kept[0].size - first, end - begin), room);
        init(p, accs, n);
        if (rows) fold_rows(p, accs, base, first, n);
        else fold_lines(p, accs, base, n);
        finish(p, accs, n, place, p->kept[0].other);
        begin += n;
    }
}

/* --- one output over much: chunks of a fixed size, merged in order --- */

typedef struct Chunks {
    const Plan *plan;
    int64_t chunk;
    char (*acc)[TSR_REDUCE_ROOM];
    TsrFillFn fill; /* NULL: the elements are in memory */
    void *user;
} Chunks;

static void fold_chunks(int64_t begin, int64_t end, void *user) {
    const Chunks *c = user;
    for (int64_t i = begin; i < end; i++) {
        c->plan->reducer->init(c->acc[i]);
        fold_range(c->plan, c->acc[i], c->plan->in, i * c->chunk, TSR_MIN((i + 1) * c->chunk, c->plan->count));
    }
}

/* A chunk is made in a buffer that stays in the second cache. */
static void fold_made_chunks(int64_t begin, int64_t end, void *user) {
    const Chunks *c = user;
    const Plan *p = c->plan;
    TsrDataPtr buffer; /* from the tensors' allocator: it keeps pages that have been touched */
    TsrStatus status = tsr_allocate(&buffer, TSR_DEVICE_CPU, (size_t)(c->chunk * p->itemsize));
    if (status != TSR_OK) {
        tsr_parallel_fail(status);
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i * c->chunk, to = TSR_MIN(from + c->chunk, p->count);
        p->reducer->init(c->acc[i]);
        c->fill(c->user, from, to, buffer.data);
        p->reducer->line(c->acc[i], buffer.data, p->itemsize, to - from, from, 1, p->params);
    }
    tsr_dataptr_release(&buffer);
}

static TsrStatus fold_single(const Plan *p, TsrFillFn fill, void *user) {
    int64_t chunk = TSR_MAX((int64_t)CHUNK, (p->count / MAX_CHUNKS + CHUNK) / CHUNK * CHUNK),
            n = (p->count + chunk - 1) / chunk;
    Chunks c = {p, chunk, tsr_malloc((size_t)n * TSR_REDUCE_ROOM), fill, user};
    if (c.acc == NULL) return tsr_error_no_memory((size_t)n * TSR_REDUCE_ROOM);
    TsrStatus s = tsr_parallel_for(n, 1, fill != NULL ? fold_made_chunks : fold_chunks, &c);
    if (s == TSR_OK) {
        for (int64_t i = 1; i < n; i++) p->reducer->merge(c.acc[0], c.acc[i]);
        finish(p, c.acc[0], 1, 0, 0);
    }
    tsr_free(c.acc);
    return s;
}

/* How many columns a thread takes at a time: wide strips read whole lines of memory, and the widest go along whole
 * rows, in the order in which they lie there (Zen 3, 1000 by 1000 at once and by 256: sum 86 and 102 us, prod 61 and
 * 74). */
static int64_t strip_width(const Plan *p) {
    const int threads = tsr_num_threads();
    const int64_t share = threads == 1 ? p->nout : p->nout / (2 * threads), width = (share + 31) / 32 * 32;
    return TSR_MAX(tsr_grain(p->count), TSR_MIN(width, accumulators_at_once(p)));
}

static TsrStatus run(Plan *p) {
    if (p->nout == 0) return TSR_OK;
    if (p->count == 0) { /* every result is that of nothing */
        _Alignas(16) char acc[TSR_REDUCE_ROOM];
        for (int64_t i = 0; i < p->nout; i++) {
            p->reducer->init(acc);
            finish(p, acc, 1, i, 0);
        }
        return TSR_OK;
    }
    if (p->nout == 1 && p->count >= 2 * CHUNK) return fold_single(p, NULL, NULL);
    if (p->nout > 1 && p->nout * p->count > PARALLEL) {
        const int64_t grain = takes_rows(p) ? strip_width(p) : tsr_grain(p->count);
        return tsr_parallel_for(p->nout, grain, fold_outputs, p);
    }
    fold_outputs(0, p->nout, p);
    return tsr_interrupt_check();
}

static const TsrReduceParams no_params;

TsrStatus tsr_reduce_made(TsrTensor *out, TsrReduceKind kind, TsrDtype dtype, int64_t count, TsrFillFn fill,
                          void *user) {
    Plan p = {.reducer = tsr_reducer(kind, dtype),
              .params = &no_params,
              .count = count,
              .nout = 1,
              .out = {tsr_data(out)},
              .out_size = {(int64_t)tsr_itemsize(out)},
              .itemsize = (int64_t)tsr_dtype_size(dtype)};
    return fold_single(&p, fill, user);
}

static int result_shape(int64_t *sizes, const TsrReduction *r) {
    int n = 0;
    for (int d = 0; d < tsr_ndim(r->in); d++) {
        bool reduced = tsr_dims_have(r->dims, d);
        if (!reduced || r->keepdim) sizes[n++] = reduced ? 1 : r->in->sizes[d];
    }
    return n;
}

/* Products of doubles are taken in turn up to 15 of them. */
static int64_t rows_below(const Plan *p, TsrReduceKind kind) {
    enum { IN_TURN = 16 };
    if (p->reducer == NULL || p->reducer->rows == NULL || p->reducer->abreast) return 0;
    if (kind == TSR_R_SUM || kind == TSR_R_NANSUM) return 0;
    return kind == TSR_R_PROD ? IN_TURN : TSR_SHORT_LINE;
}

/* Field by field: zeros for all the dimensions there could be are a tenth of the time that a sum of three numbers
 * takes. */
static void plan(Plan *p, const TsrReduction *r, TsrTensor *const out[2]) {
    p->reducer = tsr_reducer(r->kind, r->in->dtype);
    p->params = r->params != NULL ? r->params : &no_params;
    p->in = tsr_data(r->in);
    p->itemsize = (int64_t)tsr_itemsize(r->in);
    p->cascades = (r->kind == TSR_R_SUM || r->kind == TSR_R_NANSUM) &&
                  (tsr_dtype_is_float(r->in->dtype) || tsr_dtype_is_complex(r->in->dtype));
    p->rows_below = rows_below(p, r->kind);
    for (int k = 0; k < 2; k++) {
        p->out[k] = out[k] != NULL ? tsr_data(out[k]) : NULL;
        p->out_size[k] = out[k] != NULL ? (int64_t)tsr_itemsize(out[k]) : 0;
    }
    plan_dims(p, r);
}

/* --- on a device --- */

static void describe_result(TsrDeviceReduce *d, const Plan *p, const TsrTensor *out, int k) {
    d->out[k].data = (TsrAddress)(uintptr_t)p->out[k];
    d->out[k].dtype = d->out[k].compute = out != NULL ? out->dtype : TSR_DTYPE_NONE;
    for (int i = 0; i < p->nkept; i++) d->out_kept[k][i] = p->kept[i].other * p->out_size[k];
}

/* The plan as the device's backend takes it. */
static TsrStatus run_on_device(const Plan *p, const TsrReduction *r, TsrTensor *const out[2]) {
    TsrDeviceReduce d = {.index = r->in->device.index,
                         .kind = (uint8_t)r->kind,
                         .dtype = r->in->dtype,
                         .nkept = p->nkept,
                         .nreduced = p->nred,
                         .nout = 2,
                         .count = p->count,
                         .results = p->nout,
                         .params = p->params,
                         .nparams = sizeof(TsrReduceParams)};
    if (p->nkept > TSR_DEVICE_DIMS || p->nred > TSR_DEVICE_DIMS) return tsr_device_decline();
    d.in.data = (TsrAddress)(uintptr_t)p->in;
    d.in.dtype = d.in.compute = r->in->dtype;
    for (int i = 0; i < p->nred; i++) {
        d.reduced[i] = p->red[i].size;
        d.in_reduced[i] = p->red[i].stride;
        d.index_reduced[i] = p->red[i].other;
    }
    for (int i = 0; i < p->nkept; i++) {
        d.kept[i] = p->kept[i].size;
        d.in_kept[i] = p->kept[i].stride;
    }
    for (int k = 0; k < 2; k++) describe_result(&d, p, out[k], k);
    return tsr_device_reduce(r->in->device.type, &d);
}

TsrStatus tsr_reduce_new(TsrTensor **values, TsrTensor **more, const TsrReduction *r) {
    int64_t sizes[TSR_MAX_DIMS];
    TsrTensor *out[2] = {NULL, NULL};
    int ndim = result_shape(sizes, r);
    TsrStatus s = TSR_OK;
    for (int k = 0; k < 2 && s == TSR_OK; k++)
        if (r->out[k] != TSR_DTYPE_NONE) s = tsr_tensor_new(&out[k], ndim, sizes, r->out[k], r->in->device);
    if (s == TSR_OK && !tsr_is_meta(r->in)) {
        Plan p;
        plan(&p, r, out);
        s = tsr_on_device(r->in) ? run_on_device(&p, r, out) : run(&p);
    }
    if (s != TSR_OK) {
        tsr_tensor_free(out[0]);
        tsr_tensor_free(out[1]);
        return s;
    }
    if (values != NULL) *values = out[0];
    if (more != NULL) *more = out[1];
    return TSR_OK;
}
