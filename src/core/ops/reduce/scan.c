/* scan.c: running sums, products and extremes: cumsum, cumprod, logcumsumexp, cummax, cummin.
 *
 * A line is a kernel of kernels/reduce/scan.h, lines are spread over threads. One long line of floats is cut into
 * chunks: first the sum of each in parallel, then, with what comes before each known, the running sums of all in
 * parallel. The chunks depend on the length alone, so the digits do not depend on the threads. */
#include "core/op/out.h"
#include "core/engine/device.h"
#include "core/kernels/reduce/scan.h"
#include "core/mem.h"
#include "core/ops/pointwise/pointwise.h"

/* --- one long line: chunk sums first, then the chunks, both in parallel --- */

/* Elements of a chunk, and of a line that is worth splitting: two chunks, since each element is then read twice. The
 * chunks do not depend on the number of threads, nor does the result. cumsum of floats, two threads, least of 100 calls
 * in build/tsr by time.perf_counter() (AMD EPYC, Zen 3): 32768 in 27 us and 41 as one line, 1048576 in 520 and 1250. */
enum { CHUNK = 1 << 14, LONG_LINE = 1 << 15 };

typedef struct LongLine {
    const TsrTensor *out, *in;
    double *start; /* of each chunk */
    int64_t n;
    bool sums;
} LongLine;

static void run_chunks(int64_t begin, int64_t end, void *user) {
    const LongLine *l = user;
    int64_t size = (int64_t)tsr_itemsize(l->in);
    for (int64_t c = begin; c < end; c++) {
        int64_t first = c * CHUNK, n = TSR_MIN(l->n - first, (int64_t)CHUNK);
        const char *x = (const char *)tsr_data(l->in) + first * size;
        if (l->sums) l->start[c] = tsr_scan_total(l->in->dtype, x, n);
        else tsr_scan_chunk(l->in->dtype, (char *)tsr_data(l->out) + first * size, x, n, l->start[c]);
    }
}

static TsrStatus long_cumsum(TsrTensor *out, const TsrTensor *in) {
    int64_t n = in->numel, chunks = (n + CHUNK - 1) / CHUNK;
    LongLine l = {out, in, tsr_malloc_array((size_t)chunks, sizeof(double)), n, true};
    if (l.start == NULL) return tsr_error_no_memory((size_t)chunks * sizeof(double));
    TsrStatus s = tsr_parallel_for(chunks, 1, run_chunks, &l);
    double total = 0;
    for (int64_t c = 0; c < chunks; c++) {
        double sum = l.start[c];
        l.start[c] = total;
        total += sum;
    }
    l.sums = false;
    if (s == TSR_OK) s = tsr_parallel_for(chunks, 1, run_chunks, &l);
    tsr_free(l.start);
    return s;
}

static bool is_long_line(const TsrTensor *in) {
    return tsr_ndim(in) == 1 && in->numel >= LONG_LINE && in->strides[0] == 1 &&
           (in->dtype == TSR_FLOAT32 || in->dtype == TSR_FLOAT64) && !tsr_is_meta(in);
}

/* --- many lines of floats, row-major: side by side, or one behind the other --- */

/* Line by line cumsum(1) of 30000 by 3 floats took 104 us and takes 34, cumsum(0) of 3 by 30000 116 and 8, of 1000 by
 * 1000 1000 and 106 (one thread, Zen 5), cumsum(1) of 1000 by 1000 1230 and 620 (one thread, Zen 3). */

typedef struct ManyLines {
    const TsrScanMany *kernel;
    const TsrTensor *out, *in;
    int64_t n, inner; /* elements of a line, and how many lines lie side by side */
} ManyLines;

static void run_dense(int64_t begin, int64_t end, void *user) {
    const ManyLines *m = user;
    const int64_t line = m->n * (int64_t)tsr_itemsize(m->in);
    m->kernel->dense((char *)tsr_data(m->out) + begin * line, (const char *)tsr_data(m->in) + begin * line, end - begin,
                     m->n);
}

/* Strips of TSR_SCAN_WIDTH lines. */
static void run_beside(int64_t begin, int64_t end, void *user) {
    const ManyLines *m = user;
    const int64_t item = (int64_t)tsr_itemsize(m->in), strips = (m->inner + TSR_SCAN_WIDTH - 1) / TSR_SCAN_WIDTH;
    for (int64_t i = begin; i < end; i++) {
        const int64_t first = i % strips * TSR_SCAN_WIDTH, at = (i / strips * m->n * m->inner + first) * item;
        m->kernel->beside((char *)tsr_data(m->out) + at, (const char *)tsr_data(m->in) + at,
                          TSR_MIN(m->inner - first, (int64_t)TSR_SCAN_WIDTH), m->n, m->inner);
    }
}

/* *done: whether it was one of these. */
static TsrStatus scan_many(bool *done, TsrTensor *out, const TsrTensor *in, int64_t dim, TsrScan scan) {
    enum { FEW = 8 }; /* lines side by side that fill no vectors */
    ManyLines m = {tsr_scan_many(scan, in->dtype), out, in, in->sizes[dim], 1};
    for (int64_t d = dim + 1; d < tsr_ndim(in); d++) m.inner *= in->sizes[d];
    const bool beside = m.inner >= FEW;
    *done = m.kernel != NULL && (beside || m.inner == 1) && tsr_is_contiguous(in, TSR_CONTIGUOUS) &&
            tsr_is_contiguous(out, TSR_CONTIGUOUS);
    if (!*done) return TSR_OK;
    const int64_t outer = in->numel / (m.n * m.inner);
    if (!beside) return tsr_parallel_for(outer, tsr_grain(m.n), run_dense, &m);
    return tsr_parallel_for(outer * ((m.inner + TSR_SCAN_WIDTH - 1) / TSR_SCAN_WIDTH), tsr_grain(m.n * TSR_SCAN_WIDTH),
                            run_beside, &m);
}

/* --- on a device --- */

/* Lines of x, on a device, along dim; `places` is NULL where the scan has none. Both results are row-major. */
static TsrStatus scan_there(TsrTensor *out, TsrTensor *places, const TsrTensor *x, int64_t dim, TsrScan scan) {
    TsrTensor *dense;
    const TsrDeviceScan how = {(uint8_t)scan};
    TsrDeviceWork work = {.what = TSR_P_SCAN, .params = &how, .nparams = sizeof how, .dim = tsr_ndim(x) - 1 - (int)dim};
    TSR_TRY(tsr_tensor_new_contiguous(&dense, x, TSR_CONTIGUOUS));
    TsrStatus s = tsr_device_work_add(&work, out, true);
    if (s == TSR_OK && places != NULL) s = tsr_device_work_add(&work, places, true);
    if (s == TSR_OK) s = tsr_device_work_add(&work, dense, false);
    if (s == TSR_OK) s = tsr_device_work(x->device.type, &work);
    tsr_tensor_free(dense);
    return s;
}

/* --- the common course --- */

static TsrDtype wide_dtype(TsrDtype d) { return tsr_dtype_is_float(d) && tsr_dtype_size(d) < 4 ? TSR_FLOAT32 : d; }

static TsrStatus scan_as(TsrTensor **out, TsrTensor *x, int64_t dim, TsrScan scan, TsrDtype d) {
    TsrTensor *rounded = NULL, *wide = NULL, *result = NULL;
    TSR_TRY(tsr_tensor_new_cast(&rounded, x, d));
    if (tsr_ndim(x) == 0) { /* a scan of one element is that element, in any dtype */
        TsrStatus copied = tsr_tensor_new_clone(out, rounded, TSR_CONTIGUOUS);
        tsr_tensor_free(rounded);
        return copied;
    }
    TsrStatus s = tsr_tensor_new_cast(&wide, rounded, wide_dtype(d));
    tsr_tensor_free(rounded);
    TSR_TRY(s);
    s = tsr_tensor_new_like(&result, wide, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    if (s == TSR_OK && wide->numel > 0) {
        TsrTensor *operands[] = {result, wide};
        bool done = tsr_is_meta(wide) || tsr_on_device(wide);
        if (!done) s = scan_many(&done, result, wide, dim, scan);
        if (tsr_on_device(wide)) s = scan_there(result, NULL, wide, dim, scan);
        else if (scan == TSR_SCAN_SUM && is_long_line(wide)) s = long_cumsum(result, wide);
        else if (!done) s = tsr_lines_run(operands, 2, dim, tsr_scan_kernel(scan, wide->dtype), NULL, false);
    }
    tsr_tensor_free(wide);
    if (s == TSR_OK) s = tsr_tensor_new_cast(out, result, d);
    tsr_tensor_free(result);
    return s;
}

static TsrStatus cumulate(TsrOpCall *c, TsrScan scan, const char *name) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    const TsrArg *dtype = &c->arg[2];
    bool whole = tsr_dtype_is_integral(x->dtype) || x->dtype == TSR_BOOL;
    TsrDtype d = tsr_arg_given(dtype) ? dtype->dtype
                 : c->out[0] != NULL  ? c->out[0]->dtype
                 : whole              ? TSR_INT64
                                      : x->dtype;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(x)));
    if (c->inplace && tsr_arg_given(dtype) && d != x->dtype)
        return tsr_error(TSR_RUNTIME_ERROR,
                         "Bad in-place call: input tensor dtype %s and output tensor dtype %s should match",
                         tsr_dtype_c_name(x->dtype), tsr_dtype_c_name(d));
    if (tsr_arg_given(dtype)) TSR_TRY(tsr_check_out_dtype(c, 0, d));
    if (tsr_ndim(x) > 0 && x->numel > 0 && !tsr_in(D_INT | D_FLOAT | D_COMPLEX, d)) return tsr_not_implemented(name, d);
    TsrStatus s = scan_as(&result, x, dim, scan, d);
    return tsr_finish_move(c, s, result);
}

TsrStatus op_cumsum(TsrOpCall *c) { return cumulate(c, TSR_SCAN_SUM, "cumsum_out_cpu"); }
TsrStatus op_cumprod(TsrOpCall *c) { return cumulate(c, TSR_SCAN_PROD, "cumprod_out_cpu"); }

TsrStatus op_logcumsumexp(TsrOpCall *c) {
    TsrTensor *x = c->arg[0].t, *result = NULL;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_check_out_fits(c, 0, x->dtype));
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(x)));
    if (!tsr_in(D_FLOAT | D_COMPLEX, x->dtype)) return tsr_not_implemented("logcumsumexp_out_cpu", x->dtype);
    TsrStatus s = scan_as(&result, x, dim, TSR_SCAN_LOGSUMEXP, x->dtype);
    return tsr_finish_move(c, s, result);
}

static TsrStatus running_extreme(TsrTensor **values, TsrTensor **indices, TsrTensor *x, int64_t dim, TsrScan scan) {
    TsrTensor *wide = NULL, *found = NULL, *places = NULL;
    TSR_TRY(tsr_tensor_new_cast(&wide, x, wide_dtype(x->dtype)));
    TsrStatus s = tsr_tensor_new_like(&found, wide, TSR_DTYPE_NONE, TSR_CONTIGUOUS);
    if (s == TSR_OK) s = tsr_tensor_new_like(&places, wide, TSR_INT64, TSR_CONTIGUOUS);
    if (s == TSR_OK && wide->numel > 0) {
        TsrTensor *operands[] = {found, places, wide};
        if (tsr_on_device(wide)) s = scan_there(found, places, wide, dim, scan);
        else s = tsr_lines_run(operands, 3, dim, tsr_scan_kernel(scan, wide->dtype), NULL, false);
    }
    tsr_tensor_free(wide);
    if (s == TSR_OK) s = tsr_tensor_new_cast(values, found, x->dtype);
    tsr_tensor_free(found);
    if (s != TSR_OK) tsr_tensor_free(places);
    else *indices = places;
    return s;
}

/* Of a 0-d tensor: itself, at index 0. */
static TsrStatus running_scalar(TsrOpCall *c, TsrTensor *x) {
    TsrTensor *value, *index;
    TSR_TRY(tsr_tensor_new_clone(&value, x, TSR_CONTIGUOUS));
    TsrStatus s = tsr_tensor_new_like(&index, x, TSR_INT64, TSR_CONTIGUOUS);
    if (s == TSR_OK && !tsr_is_meta(index)) s = tsr_tensor_fill(index, tsr_scalar_int(0));
    if (s != TSR_OK) {
        tsr_tensor_free(value);
        return s;
    }
    return tsr_return_move2(c, value, index);
}

static TsrStatus running(TsrOpCall *c, TsrScan scan, const char *name) {
    TsrTensor *x = c->arg[0].t, *values = NULL, *indices = NULL;
    int64_t dim = c->arg[1].i;
    TSR_TRY(tsr_check_out_fits(c, 0, x->dtype));
    TSR_TRY(tsr_check_out_fits(c, 1, TSR_INT64));
    if (tsr_ndim(x) == 0 && (dim < -1 || dim > 0))
        return tsr_error(TSR_INDEX_ERROR, "%s(): Expected reduction dim -1 or 0 for scalar but got %lld",
                         c->schema->base, (long long)dim);
    TSR_TRY(tsr_wrap_dim(&dim, tsr_ndim(x)));
    if (tsr_ndim(x) == 0) return running_scalar(c, x);
    if (x->numel > 0 && !tsr_in(D_INT | D_FLOAT | D_BOOL, x->dtype)) return tsr_not_implemented(name, x->dtype);
    TSR_TRY(running_extreme(&values, &indices, x, dim, scan));
    return tsr_return_move2(c, values, indices);
}

TsrStatus op_cummax(TsrOpCall *c) { return running(c, TSR_SCAN_MAX, "cummax_cpu"); }
TsrStatus op_cummin(TsrOpCall *c) { return running(c, TSR_SCAN_MIN, "cummin_cpu"); }
